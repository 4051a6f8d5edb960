// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz [-s SEED] [-t SECONDS] [-n EPISODES] [-w WORKERS] [-j THREADS] [-a ADAPTERS] [-l MS] [-f]:
 * random calls that follow the grammar of the interface: ioctls with fields that are mostly valid,
 * packets in rings, doorbells, mappings, descriptors passed from one process to another, forks and
 * kills. It ends after SECONDS, or after EPISODES if these are over first.
 * fuzz [-k CALLS] [-v] -r EPISODE: repeat one episode, or only some of its calls.
 * fuzz [-k CALLS] [-c CHUNK] -m EPISODE: repeat it with fewer calls each time, until it
 * breaks.
 *
 * An episode is a few hundred calls of one process on up to three files. One, two or three threads
 * (at most THREADS) play them at once, with the same files and the same handles. An episode's name
 * lists its segments and says how many threads there are: SEED:CALLS,SEED:CALLS/THREADS. The calls
 * are dealt to the threads in turn, and each call draws from a generator of its own. The name is
 * therefore enough to repeat the calls of each thread, and leaving out a call does not change the
 * others. The interleaving of the threads repeats only where the clock is virtual.
 *
 * With KCOV the fuzzer keeps each episode that reached new code, and later episodes begin
 * like a kept one. KCOV follows one thread, so each thread has a buffer of its own: new code
 * is mostly reached by a call that meets the calls of other threads. The fuzzer writes the name of
 * each episode to the second serial port before the episode begins, so that the host knows after a
 * crash which episodes were running. Without that port and without KCOV it works all the same.
 *
 * On a test build of the module each episode chooses a seed of the steps, and now and then holds a
 * thread for up to 40 ms, see fuzz_delays.h. This is short for the client of -l, whose bound is
 * seconds, so that holds are used beside it as well.
 *
 * The fuzzer detects failures of the kernel only: a splat, a leak, a process that was killed and
 * does not end. A call that sleeps may wait for anything, so wake-ups that are lost are for the
 * races and the pairs. With -l one more client works meanwhile, in peace: it must not lose
 * anything, and none of its submissions may take more than MS milliseconds. With -f the hardware
 * of all adapters but that client's fails as well: engines and CMPs stop, interrupts are lost,
 * resets fail, and adapters that are lost are recovered.
 */

#include <inttypes.h>
#include <linux/kcov.h>
#include <pthread.h>
#include <stdatomic.h>

#include "fuzz_delays.h"

#define CLIENTS		3
#define THREADS		3
#define POOL		12
#define CALLS		300
#define SEGMENTS	4
#define KEPT		512
#define PCS		65536
#define COVER		(64 << 10)
/* A thread whose call has not returned for so long sleeps, or as good as that. */
#define QUIET		(300 * SECOND / 1000)
/* A process that was killed, or that has no calls left, ends within so long. */
#define STUCK		(120 * SECOND)
/* Begins and ends of calls during a hold. */
#define HELD		200

/*
 * Threads share what follows and take no lock, because a lock would keep their calls apart. An
 * index is read once and never exceeds its array; of two handles that are stored at once one
 * may be lost.
 */
struct pool {
	_Atomic uint32_t handle[POOL];
	_Atomic unsigned int count;
};

/* The objects of one open file. */
struct attacker {
	_Atomic int fd;
	struct pool device, context, queue, fence, bo, event, set;
	_Atomic uint64_t va[POOL];
	_Atomic unsigned int vas;
};

/* A ring of this process that a queue may run. */
struct ring {
	_Atomic(uint8_t *) base;
	_Atomic(struct drm_vfence_ring_control *) control;
	_Atomic uint64_t put, fence_va, monitored_va, log_va;
	_Atomic(volatile uint64_t *) doorbell;
};

struct episode {
	uint64_t seed[SEGMENTS];
	unsigned int calls[SEGMENTS];
	unsigned int segments, threads;
};

/* A thread that plays its part of an episode. */
struct player {
	pthread_t thread;
	const struct episode *episode;
	unsigned int number;
	/* Begins and ends of its calls. */
	_Atomic unsigned int turns;
	/* Where the kernel writes arrays: a wrong count must not reach the stack of the thread. */
	uint8_t *area;
	_Atomic bool done;
};

/* The memory that all workers share. */
struct shared {
	_Atomic uint64_t pc[PCS];
	_Atomic uint64_t pcs, calls, episodes, kills, succeeded;
	_Atomic uint64_t kept;
	struct episode episode[KEPT];
	struct delays delays;
	/* The first failure that the kernel does not report itself. */
	_Atomic bool failed;
	char failure[512];
};

static struct shared *shared;
static struct attacker clients[CLIENTS];
static struct ring ring;
static _Atomic int fence_fd[POOL], event_fd[POOL];
static int sockets[2];
static __thread uint64_t state;
static bool verbose, faults;
static unsigned int adapters = 12, most_threads = THREADS;
/* The calls of the episode that are played, by position. If none is named, all are played. */
static bool chosen[SEGMENTS * CALLS];
static __thread unsigned int place;
static __thread uint64_t *cover;
static struct player players[THREADS];
static __thread struct player *self;

/* ------------------------------------------------------------------- dice */

static uint64_t next(void)
{
	uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t dice(uint64_t sides)
{
	return next() % sides;
}

static uint64_t edge(void)
{
	static const uint64_t edges[] = {
		0, 1, 2, 7, 8, 63, 64, 4095, 4096, 4097, 65535, 65536, INT32_MAX,
		UINT64_C(0x80000000), UINT32_MAX, UINT64_C(0x100000000),
		UINT64_C(0x1000000000), UINT64_C(0xfffffffff000), INT64_MAX,
		UINT64_C(0x8000000000000000), UINT64_MAX - 4095, UINT64_MAX - 1, UINT64_MAX,
	};

	return edges[dice(sizeof(edges) / sizeof(*edges))];
}

/* Values are mostly small, so that they meet. */
static uint64_t value(void)
{
	return dice(8) ? dice(12) : edge();
}

static uint32_t pick(const struct pool *pool)
{
	unsigned int n = pool->count;

	if (!n || !dice(40))
		return (uint32_t)edge();
	/* Half of the calls use the newest object: there threads meet. */
	return pool->handle[dice(2) ? n - 1 : dice(n)];
}

static void put(struct pool *pool, uint32_t handle)
{
	unsigned int n = pool->count;

	if (n < POOL) {
		pool->handle[n] = handle;
		pool->count = n + 1;
	} else {
		pool->handle[dice(POOL)] = handle;
	}
}

static uint64_t pick_va(const struct attacker *c)
{
	unsigned int n = c->vas;

	return n ? c->va[dice(n)] : 0;
}

static void put_va(struct attacker *c, uint64_t va)
{
	unsigned int n = c->vas;

	if (n < POOL) {
		c->va[n] = va;
		c->vas = n + 1;
	}
}

/* Each descriptor is closed once, whichever threads replace it. */
static void put_fd(_Atomic int *slot, int fd)
{
	int old = atomic_exchange(slot, fd);

	if (old >= 0)
		close(old);
}

/* Sometimes replace one field. */
static void mutate(void *arg, size_t size)
{
	uint64_t v = edge();

	if (dice(10))
		return;
	if (dice(2))
		memcpy((uint8_t *)arg + dice(size / 8) * 8, &v, 8);
	else
		memcpy((uint8_t *)arg + dice(size / 4) * 4, &v, 4);
}

/* -------------------------------------------------------------------- calls */

#define AREAS		4
#define AREA		(64 << 10)

/* Behind each part of the area the kernel finds no memory. */
static void area_map(void)
{
	uint8_t *area = mmap(NULL, AREAS * AREA, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	if (area == MAP_FAILED)
		_exit(1);
	for (i = 1; i <= AREAS; i++)
		mprotect(area + i * AREA - 4096, 4096, PROT_NONE);
	self->area = area;
}

/* Print the call before it is made, because it may be the last one. */
static void announce(const char *name, const void *arg, size_t size)
{
	const uint64_t *word = arg;
	size_t i;

	if (!verbose)
		return;
	flockfile(stdout);
	printf("#   %u %s(", place, name);
	for (i = 0; i < size / 8; i++)
		printf("%s%" PRIx64, i ? " " : "", word[i]);
	/* Other threads may print before this call returns. */
	printf(")\n");
	fflush(stdout);
	funlockfile(stdout);
}

static void say(const char *name, int ret)
{
	if (verbose)
		printf("#   %u %s: %d\n", place, name, ret);
	atomic_fetch_add(&shared->calls, 1);
	if (!ret)
		atomic_fetch_add(&shared->succeeded, 1);
}

/* Rarely make a call again and again, up to 8192 times, until it fails: lists have bounds. */
static unsigned int draw_times(void)
{
	return dice(1000) ? 1 : 1u << dice(14);
}

static int call(struct attacker *c, const char *name, unsigned long request, void *arg, size_t size)
{
	unsigned int times = draw_times(), n = 0;
	uint8_t input[512];
	int ret;

	mutate(arg, size);
	announce(name, arg, size);
	times = size > sizeof(input) ? 1 : times;
	memcpy(input, arg, times > 1 ? size : 0);
	do {
		if (n)
			memcpy(arg, input, size);
		self->turns++;
		/* Do not repeat an interrupted call: it is as useful as any other. */
		ret = ioctl(c->fd, request, arg) ? -errno : 0;
		self->turns++;
	} while (!ret && ++n < times);
	say(name, ret);
	return ret;
}

#define CALL(c, NAME, arg) call(c, #NAME, DRM_IOCTL_VFENCE_##NAME, &(arg), sizeof(arg))

static void forget(struct attacker *c)
{
	struct pool *const pool[] = { &c->device, &c->context, &c->queue, &c->fence, &c->bo,
				      &c->event, &c->set };
	unsigned int i;

	for (i = 0; i < sizeof(pool) / sizeof(*pool); i++)
		pool[i]->count = 0;
	c->vas = 0;
}

static void open_client(struct attacker *c)
{
	char path[32];
	int fd;

	put_fd(&c->fd, -1);
	forget(c);
	snprintf(path, sizeof(path), "/dev/dri/renderD%" PRIu64, 128 + dice(adapters));
	fd = open(path, O_RDWR | O_CLOEXEC);
	say("open", fd < 0 ? -errno : 0);
	/* Another thread may have opened the client meanwhile. */
	put_fd(&c->fd, fd);
}

static void query_object_of(struct attacker *c, uint32_t type, uint32_t handle)
{
	uint8_t *answer = self->area + 2 * AREA;
	struct drm_vfence_query query = {
		.type = dice(8) ? type : (uint32_t)dice(11), .handle = handle,
		.size = dice(3) ? (uint32_t)dice(4097) : 128,
		.data = dice(3) ? (uintptr_t)answer : 0,
	};

	CALL(c, QUERY, query);
}

static void destroy_object_of(struct attacker *c, enum drm_vfence_object type, uint32_t handle)
{
	struct drm_vfence_destroy destroy = {
		.type = dice(16) ? (uint32_t)type : (uint32_t)dice(9), .handle = handle,
	};

	CALL(c, DESTROY, destroy);
}

static void do_device(struct attacker *c)
{
	struct drm_vfence_device_create create = { 0 };

	if (dice(12) == 0)
		destroy_object_of(c, DRM_VFENCE_OBJECT_DEVICE, pick(&c->device));
	else if (dice(3) == 0)
		query_object_of(c, DRM_VFENCE_QUERY_DEVICE, pick(&c->device));
	else if (!CALL(c, DEVICE_CREATE, create))
		put(&c->device, create.handle);
}

static void do_context(struct attacker *c)
{
	struct drm_vfence_context_create create = { .device = pick(&c->device),
						    .node = (uint32_t)dice(6) };
	struct drm_vfence_context_suspend suspend = { .context = pick(&c->context) };
	struct drm_vfence_context_resume resume = { .context = pick(&c->context) };

	switch (dice(7)) {
	case 0:
		CALL(c, CONTEXT_SUSPEND, suspend);
		break;
	case 1:
	case 2:
		CALL(c, CONTEXT_RESUME, resume);
		break;
	case 3:
		destroy_object_of(c, DRM_VFENCE_OBJECT_CONTEXT, pick(&c->context));
		break;
	case 4:
		query_object_of(c, DRM_VFENCE_QUERY_CONTEXT, pick(&c->context));
		break;
	default:
		if (!CALL(c, CONTEXT_CREATE, create))
			put(&c->context, create.handle);
	}
}

static void do_buffer(struct attacker *c)
{
	struct drm_vfence_bo_create create = { .size = 4096 << dice(6) };
	struct drm_vfence_vm_bind bind = { .handle = pick(&c->bo), .size = 4096 << dice(4),
					   .flags = (uint32_t)dice(4) };
	struct drm_vfence_vm_bind unbind = { .op = DRM_VFENCE_VM_UNMAP, .va = pick_va(c) };
	void *map;

	switch (dice(5)) {
	case 0:
		CALL(c, VM_BIND, unbind);
		break;
	case 1:
		say("GEM_CLOSE", drmCloseBufferHandle(c->fd, pick(&c->bo)));
		break;
	case 2:
	case 3:
		if (!CALL(c, VM_BIND, bind))
			put_va(c, bind.va);
		break;
	default:
		if (CALL(c, BO_CREATE, create))
			break;
		put(&c->bo, create.handle);
		map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
			   (off_t)create.mmap_offset);
		if (map != MAP_FAILED) {
			memset(map, (int)dice(256), 64);
			munmap(map, 4096);
		}
	}
}

static void do_fence(struct attacker *c)
{
	/* Mostly use flags that are valid together. */
	static const uint32_t flags[] = { 0, 1, 1, 3, 4, 8, 0x10, 0x20, 0x40, 0x83 };
	static const uint32_t types[] = { 0, 0, 0, 0, 1, 2, 2, 2 };
	struct drm_vfence_fence_create create = {
		.device = pick(&c->device), .type = types[dice(8)], .flags = flags[dice(10)],
		.initial_value = dice(3) ? 0 : value(),
	};
	struct drm_vfence_fence_export export = { .handle = pick(&c->fence),
						  .flags = (uint32_t)(dice(2) ? 8 : dice(8)) };
	struct drm_vfence_fence_open open = { .device = pick(&c->device),
					      .fd = fence_fd[dice(POOL)] };

	if (!dice(6))
		open.flags = DRM_VFENCE_FENCE_NO_SIGNAL;
	switch (dice(10)) {
	case 0:
	case 1:
		if (!CALL(c, FENCE_EXPORT, export))
			put_fd(&fence_fd[dice(POOL)], export.fd);
		break;
	case 2:
	case 3:
		if (!CALL(c, FENCE_OPEN, open))
			put(&c->fence, open.handle);
		break;
	case 4:
		destroy_object_of(c, DRM_VFENCE_OBJECT_FENCE, pick(&c->fence));
		break;
	case 5:
		query_object_of(c, DRM_VFENCE_QUERY_FENCE, pick(&c->fence));
		break;
	default:
		if (CALL(c, FENCE_CREATE, create))
			break;
		put(&c->fence, create.handle);
		ring.fence_va = create.mapping.current_va;
		ring.monitored_va = create.mapping.monitored_va;
	}
}

static unsigned int points(struct attacker *c, struct drm_vfence_fence_point *point,
			   struct drm_vfence_obj_array *array)
{
	unsigned int n = (unsigned int)dice(dice(20) ? 4 : 64), i;

	for (i = 0; i < n; i++) {
		point[i] = (struct drm_vfence_fence_point){ pick(&c->fence), 0, value() };
		mutate(&point[i], sizeof(point[i]));
	}
	*array = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(n, point);
	return n;
}

static int64_t soon(void)
{
	/* One of several threads may well sleep until another one wakes it. */
	if (!dice(self->episode->threads > 1 ? 30 : 200))
		return INT64_MAX;
	return dice(3) ? vf_deadline((int64_t)dice(2000000)) : 0;
}

static void do_wait(struct attacker *c)
{
	struct drm_vfence_fence_point p[64], s[64];
	struct drm_vfence_fence_signal signal = { .flags = (uint32_t)dice(2) };
	struct drm_vfence_event_arm arm = { .eventfd = event_fd[dice(POOL)],
					    .flags = (uint32_t)dice(2) };
	struct drm_vfence_wait wait = { .flags = (uint32_t)dice(2), .timeout_ns = soon() };
	uint64_t count;

	points(c, p, &signal.points);
	wait.points = arm.points = signal.points;
	if (!dice(6))
		points(c, s, &wait.signals);
	arm.signals = wait.signals;
	switch (dice(5)) {
	case 0:
		CALL(c, WAIT, wait);
		break;
	case 1:
		if (!CALL(c, EVENT_ARM, arm))
			put(&c->event, arm.event);
		break;
	case 2:
		destroy_object_of(c, DRM_VFENCE_OBJECT_EVENT, pick(&c->event));
		if (read(event_fd[dice(POOL)], &count, 8) < 0 && errno == EBADF)
			event_fd[dice(POOL)] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		break;
	default:
		CALL(c, FENCE_SIGNAL, signal);
	}
}

static void do_wait_set(struct attacker *c)
{
	struct drm_vfence_wait_set_create create = { .entries = 1 << dice(dice(8) ? 4 : 13) };
	struct drm_vfence_wait_set_update update[64];
	struct drm_vfence_wait_set_ready *ready = (void *)self->area;
	struct drm_vfence_fence_point signal[64];
	struct drm_vfence_wait_set_wait wait = {
		.set = pick(&c->set), .timeout_ns = soon(), .performed = !dice(20),
		.updates = DRM_VFENCE_OBJ_ARRAY((uint32_t)dice(dice(20) ? 4 : 64), update),
		.ready = DRM_VFENCE_OBJ_ARRAY((uint32_t)dice(dice(20) ? 3 : 16), ready),
	};
	unsigned int i;

	for (i = 0; i < wait.updates.count; i++) {
		update[i] = (struct drm_vfence_wait_set_update){
			.index = (uint32_t)dice(8), .fence = pick(&c->fence), .value = value(),
		};
		mutate(&update[i], sizeof(update[i]));
	}
	if (!dice(6))
		points(c, signal, &wait.signals);
	switch (dice(8)) {
	case 0:
		destroy_object_of(c, DRM_VFENCE_OBJECT_WAIT_SET, pick(&c->set));
		break;
	case 1:
		if (!CALL(c, WAIT_SET_CREATE, create))
			put(&c->set, create.handle);
		break;
	default:
		CALL(c, WAIT_SET_WAIT, wait);
	}
}

static void *map_at(struct attacker *c, uint64_t offset, int prot)
{
	void *map = mmap(NULL, 4096, prot, MAP_SHARED, c->fd, (off_t)offset);

	return map == MAP_FAILED ? NULL : map;
}

/* Create a queue with ring and doorbell, and map them as clients do. */
static void make_queue(struct attacker *c)
{
	struct drm_vfence_queue_create create = { .context = pick(&c->context),
						  .flags = (uint32_t)(dice(2) | (dice(4) ? 0 : 4)) };
	struct drm_vfence_bo_create bo = { .size = 4096 }, control = { .size = 4096 };
	struct drm_vfence_doorbell_create doorbell = { .ring_size = 4096,
						       .flags = (uint32_t)(dice(4) == 0) };
	struct drm_vfence_doorbell_connect connect = { 0 };

	if (CALL(c, QUEUE_CREATE, create))
		return;
	put(&c->queue, create.handle);
	put(&c->fence, create.progress_fence);
	if (!(create.flags & DRM_VFENCE_QUEUE_USER_MODE) && dice(20))
		return;
	if (CALL(c, BO_CREATE, bo) || CALL(c, BO_CREATE, control))
		return;
	doorbell.queue = create.handle;
	doorbell.ring = bo.handle;
	doorbell.control = control.handle;
	if (CALL(c, DOORBELL_CREATE, doorbell))
		return;
	/* Earlier rings stay mapped, because the process is short-lived. */
	ring.base = map_at(c, bo.mmap_offset, PROT_READ | PROT_WRITE);
	ring.control = map_at(c, control.mmap_offset, PROT_READ | PROT_WRITE);
	ring.doorbell = map_at(c, dice(4) ? doorbell.doorbell_offset : doorbell.secondary_offset,
			       PROT_READ | PROT_WRITE);
	ring.put = 0;
	ring.log_va = create.signal_log_va;
	connect.queue = create.handle;
	CALL(c, DOORBELL_CONNECT, connect);
}

static void do_queue(struct attacker *c)
{
	struct drm_vfence_queue_abort abort = { .queue = pick(&c->queue) };
	struct drm_vfence_doorbell_connect connect = { .queue = pick(&c->queue),
						       .flags = (uint32_t)dice(2) };
	struct drm_vfence_notify_work_submission notify = { .queue = pick(&c->queue) };
	struct drm_vfence_log_entry *entry = (void *)(self->area + AREA);
	struct drm_vfence_log_read read = {
		.queue = pick(&c->queue), .log = (uint32_t)dice(3),
		.entries = DRM_VFENCE_OBJ_ARRAY((uint32_t)dice(17), entry),
	};

	switch (dice(9)) {
	case 0:
		destroy_object_of(c, DRM_VFENCE_OBJECT_QUEUE, pick(&c->queue));
		break;
	case 1:
		CALL(c, QUEUE_ABORT, abort);
		break;
	case 2:
		query_object_of(c, DRM_VFENCE_QUERY_QUEUE, pick(&c->queue));
		break;
	case 3:
		CALL(c, DOORBELL_CONNECT, connect);
		break;
	case 4:
		CALL(c, NOTIFY_WORK_SUBMISSION, notify);
		break;
	case 5:
		CALL(c, LOG_READ, read);
		break;
	case 6:
		destroy_object_of(c, DRM_VFENCE_OBJECT_DOORBELL, pick(&c->queue));
		break;
	default:
		make_queue(c);
	}
}

static void query_something(struct attacker *c)
{
	query_object_of(c, (uint32_t)dice(6), 0);
}

static uint64_t address(struct attacker *c)
{
	if (c->vas && dice(3))
		return pick_va(c) + dice(2) * 8 * dice(600);
	return dice(6) ? ring.fence_va : edge();
}

union packet {
	struct drm_vfence_packet_header header;
	struct drm_vfence_packet_wait wait;
	struct drm_vfence_packet_signal signal;
	struct drm_vfence_packet_log log;
	struct drm_vfence_packet_draw draw;
	struct drm_vfence_packet_copy copy;
	struct drm_vfence_packet_fill fill;
	uint64_t words[8];
};

static union packet make_packet(struct attacker *c)
{
	union packet packet = { 0 };
	static const uint8_t length[] = { 8, sizeof(packet.wait), sizeof(packet.signal),
					  sizeof(packet.log), sizeof(packet.draw),
					  sizeof(packet.copy), sizeof(packet.fill), 16, 8, 24, 24, 24,
					  8 };

	packet.header.opcode = (uint16_t)dice(13);
	packet.header.length = length[packet.header.opcode];
	switch (packet.header.opcode) {
	case DRM_VFENCE_OP_FENCE_WAIT:
	case DRM_VFENCE_OP_FENCE_SIGNAL:
		packet.signal.current_va = dice(10) ? ring.fence_va : address(c);
		packet.words[2] = packet.header.opcode == DRM_VFENCE_OP_FENCE_WAIT ? value() :
				  ring.monitored_va;
		packet.words[3] = value();
		break;
	case DRM_VFENCE_OP_LOG:
		packet.log.log_va = ring.log_va;
		packet.log.fence = pick(&c->fence);
		packet.log.value = value();
		packet.log.operation = (uint32_t)dice(4);
		break;
	case DRM_VFENCE_OP_MONITORED_SIGNAL:
		packet.words[1] = dice(10) ? ring.fence_va : address(c);
		packet.words[2] = value();
		break;
	case DRM_VFENCE_OP_SET_REGISTER:
	case DRM_VFENCE_OP_READ_REGISTER:
		packet.words[1] = dice(DRM_VFENCE_REGISTERS + 1);
		packet.words[2] = address(c);
		break;
	case DRM_VFENCE_OP_DRAW:
		packet.draw.count = (uint32_t)dice(3) + 1;
		packet.draw.duration_ns = dice(200000);
		break;
	default:
		packet.words[1] = address(c);
		packet.words[2] = dice(2) ? address(c) : dice(9000);
		packet.words[3] = dice(9000) & ~7ull;
	}
	mutate(&packet, packet.header.length & ~7u ? packet.header.length & ~7u : 8);
	return packet;
}

/*
 * Write a packet to a ring, which a queue may or may not run, and sometimes ring the
 * doorbell.
 */
static void do_packet(struct attacker *c)
{
	union packet packet = make_packet(c);
	struct drm_vfence_ring_control *control = ring.control;
	volatile uint64_t *doorbell = ring.doorbell;
	uint64_t end, at = atomic_fetch_add(&ring.put, packet.header.length);
	uint8_t *base = ring.base;
	unsigned int i;

	if (!base || !control)
		return;
	for (i = 0; i < packet.header.length / 8u && i < 8; i++)
		memcpy(base + ((at + i * 8) % 4096 & ~7ull), &packet.words[i], 8);
	end = at + packet.header.length;
	__atomic_store_n(&control->write_ptr, dice(100) ? end : edge(), __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (doorbell)
		*doorbell = end;
	say("packet", 0);
}

static void do_mapping(struct attacker *c)
{
	void *map = mmap(NULL, 4096 << dice(2), dice(2) ? PROT_READ : PROT_READ | PROT_WRITE,
			 dice(8) ? MAP_SHARED : MAP_PRIVATE, c->fd,
			 (off_t)(UINT64_C(0x100000000) + dice(64) * 4096));

	say("mmap", map == MAP_FAILED ? -errno : 0);
	if (map == MAP_FAILED)
		return;
	if (dice(2))
		mprotect(map, 4096, PROT_READ | PROT_WRITE);
	munmap(map, 4096);
}

static void pass(int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	say("sendmsg", sendmsg(sockets[0], &msg, MSG_DONTWAIT) < 0 ? -errno : 0);
}

static void take(_Atomic int *slot)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(sockets[1], &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0 || !CMSG_FIRSTHDR(&msg))
		return;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	put_fd(slot, fd);
	say("recvmsg", 0);
}

/* Import mostly a syncobj that has signaled, or any descriptor. */
static void do_import(struct attacker *c)
{
	struct drm_vfence_fence_import import = {
		.fence = pick(&c->fence), .flags = (uint32_t)(dice(6) != 0),
		.source = (uint32_t)fence_fd[dice(POOL)], .value = value(),
	};
	uint64_t point = dice(4);
	uint32_t syncobj;

	if (drmSyncobjCreate(c->fd, dice(3) ? DRM_SYNCOBJ_CREATE_SIGNALED : 0, &syncobj))
		return;
	if (!dice(3)) {
		drmSyncobjTimelineSignal(c->fd, &syncobj, &point, 1);
		import.point = dice(4);
	}
	if (import.flags)
		import.source = syncobj;
	CALL(c, FENCE_IMPORT, import);
	drmSyncobjDestroy(c->fd, syncobj);
}

/* Add up to 64 operations on fences, now and then of another type than @type. */
static void add_ops(struct attacker *c, enum drm_vfence_submit_op_type type,
		    struct drm_vfence_submit_op *ops, uint32_t *count)
{
	struct drm_vfence_fence_point point[64];
	struct drm_vfence_obj_array array;
	uint32_t i;

	points(c, point, &array);
	for (i = 0; i < array.count && i < 64; i++)
		ops[(*count)++] = (struct drm_vfence_submit_op){
			.type = dice(50) ? (uint32_t)type : (uint32_t)dice(5),
			.handle = point[i].fence, .value = point[i].value,
		};
}

/* Submit to a queue of either kind. Each submission ends in bounded time. */
static void do_submit(struct attacker *c)
{
	struct drm_vfence_submit_op ops[130];
	struct drm_vfence_submit_queue *queue = (void *)(self->area + 3 * AREA);
	uint32_t syncobj[2] = { 0 };
	struct drm_vfence_submit submit = { .flags = (uint32_t)(dice(4) ? 0 : dice(16)) };
	uint32_t waits;
	uint64_t words[64];
	unsigned int i, n = (unsigned int)dice(4);

	for (i = 0; i < 3; i++)
		queue[i] = (struct drm_vfence_submit_queue){ .queue = pick(&c->queue) };
	submit.queues = (struct drm_vfence_obj_array)
		DRM_VFENCE_OBJ_ARRAY((uint32_t)(dice(6) ? 1 : dice(4)), queue);
	for (i = 0; i < n && submit.queues.count == 1; i++) {
		union packet packet = make_packet(c);
		uint32_t length = packet.header.length > 64 ? 8 : packet.header.length & ~7u;

		/* Each hang takes two seconds until the reset, so most hangs are left out. */
		if (packet.header.opcode == DRM_VFENCE_OP_HANG && dice(40))
			continue;
		memcpy((uint8_t *)words + submit.commands_size, &packet, length);
		submit.commands_size += length;
	}
	submit.commands = submit.commands_size ? (uintptr_t)words : 0;
	submit.ops = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(0, ops);
	if (!dice(3))
		add_ops(c, DRM_VFENCE_SUBMIT_WAIT_FENCE, ops, &submit.ops.count);
	waits = submit.ops.count;
	if (!dice(2))
		add_ops(c, DRM_VFENCE_SUBMIT_SIGNAL_FENCE, ops, &submit.ops.count);
	if (submit.flags & DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT)
		submit.eventfd = event_fd[dice(POOL)];
	/* With in-syncs the call may sleep, and only a signal wakes it. */
	for (i = 0; !waits && !dice(3) && i < 2; i++) {
		if (drmSyncobjCreate(c->fd, i ? 0 : DRM_SYNCOBJ_CREATE_SIGNALED,
				     &syncobj[i]))
			break;
		ops[submit.ops.count++] = (struct drm_vfence_submit_op){
			.type = i ? DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ :
				    DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ,
			.handle = syncobj[i],
		};
	}
	mutate(queue, 3 * sizeof(*queue));
	mutate(syncobj, sizeof(syncobj));
	CALL(c, SUBMIT, submit);
	for (i = 0; i < 2; i++)
		drmSyncobjDestroy(c->fd, syncobj[i]);
}

static void do_descriptor(struct attacker *c)
{
	int fd = fence_fd[dice(POOL)];

	if (dice(8) == 0)
		open_client(c);
	else if (dice(2))
		take(&fence_fd[dice(POOL)]);
	else if (fd >= 0)
		pass(fd);
}

/* What can be made to fail, and the values below which an administrator chooses. */
static const struct {
	const char *name;
	uint32_t values;
} fault[] = {
	{ "finish_before_snapshot", 2 }, { "finish_before_reset", 2 }, { "wrong_last_aborted", 2 },
	{ "fail_engine_reset", 2 }, { "survive_reset", 2 }, { "interrupt_after_reset", 2 },
	{ "fail_engine_resume", 2 }, { "fail_adapter_reset", 2 }, { "fail_restart", 2 },
	{ "fail_monitored_update", 2 }, { "fail_current_update", 2 }, { "wrong_fence", 2 },
	{ "lose_suspend", 2 }, { "wrong_suspend", 2 }, { "ignore_suspend", 2 },
	{ "ignore_limit", 2 }, { "hold_posts", 2 },
	{ "stop_engines", 32 }, { "stop_cmp", 2 }, { "lose_interrupt", 2 },
	{ "wrong_dependents", 2 }, { "hang_paging", 2 }, { "hang_copies", 2 },
	{ "slow_reset", 2 }, { "page_fault_flags", 8 },
	{ "logging_level", 4 }, { "notify_work", 2 }, { "reset_engine", 6 }, { "reset_adapter", 2 },
};

/* Let the hardware of an adapter fail, or work again. */
static void do_fault(void)
{
	unsigned int n = (unsigned int)dice(sizeof(fault) / sizeof(*fault));
	unsigned int adapter = 1 + (unsigned int)dice(adapters - 1);
	char value[16];

	snprintf(value, sizeof(value), "%" PRIu64, dice(2) ? 0 : dice(fault[n].values));
	if (!strcmp(fault[n].name, "logging_level"))
		say(fault[n].name, debugfs_write(adapter, fault[n].name, value));
	else if (dice(3))
		say(fault[n].name, inject(adapter, fault[n].name, value));
	else
		/* What is lost for good reaches no more code. */
		say("recover", tdr_configure(adapter, "recover", "1"));
}

/* Most clients begin with what the other calls need, as those of real programs do. */
static void equip_client(struct attacker *c)
{
	struct drm_vfence_device_create device = { 0 };
	struct drm_vfence_context_create context = { .node = (uint32_t)dice(6) };
	struct drm_vfence_fence_create fence = { .flags = (uint32_t)dice(4) };

	if (CALL(c, DEVICE_CREATE, device))
		return;
	put(&c->device, device.handle);
	context.device = device.handle;
	fence.device = device.handle;
	if (!CALL(c, FENCE_CREATE, fence)) {
		put(&c->fence, fence.handle);
		ring.fence_va = fence.mapping.current_va;
		ring.monitored_va = fence.mapping.monitored_va;
	}
	if (CALL(c, CONTEXT_CREATE, context))
		return;
	put(&c->context, context.handle);
	make_queue(c);
	make_queue(c);
}

static void one_call(void)
{
	const struct episode *e = self->episode;
	/* Threads meet more often on fewer files. */
	uint64_t files = e->threads > 1 ? 1 + e->seed[e->segments - 1] % CLIENTS : CLIENTS;
	struct attacker *c = &clients[dice(files)];
	uint64_t n = dice(100);

	if (c->fd < 0) {
		open_client(c);
		if (dice(4))
			equip_client(c);
	}
	if (faults && !dice(200))
		do_fault();
	if (n < 8)
		do_device(c);
	else if (n < 18)
		do_context(c);
	else if (n < 28)
		do_buffer(c);
	else if (n < 44)
		do_fence(c);
	else if (n < 56)
		do_wait(c);
	else if (n < 60)
		do_wait_set(c);
	else if (n < 74)
		do_queue(c);
	else if (n < 82)
		do_submit(c);
	else if (n < 92)
		do_packet(c);
	else if (n < 94)
		query_something(c);
	else if (n < 95)
		do_import(c);
	else if (n < 98)
		do_mapping(c);
	else
		do_descriptor(c);
}

/* ----------------------------------------------------------------- coverage */

static void cover_start(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);

	cover = NULL;
	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, COVER))
		return;
	cover = mmap(NULL, COVER * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (cover == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		cover = NULL;
}

/* Return: true if @pc is new. */
static bool add_pc(uint64_t pc)
{
	unsigned int at = (unsigned int)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 48) % PCS, i;

	for (i = 0; i < 64; i++, at = (at + 1) % PCS) {
		uint64_t was = 0;

		if (atomic_load(&shared->pc[at]) == pc)
			return false;
		if (atomic_compare_exchange_strong(&shared->pc[at], &was, pc)) {
			atomic_fetch_add(&shared->pcs, 1);
			return true;
		}
		if (was == pc)
			return false;
	}
	return false;
}

static bool new_code(void)
{
	uint64_t n = cover ? __atomic_load_n(cover, __ATOMIC_RELAXED) : 0, i;
	bool news = false;

	for (i = 0; i < n && i < COVER - 1; i++)
		news |= add_pc(cover[i + 1]);
	if (cover)
		__atomic_store_n(cover, 0, __ATOMIC_RELAXED);
	return news;
}

/* ----------------------------------------------------------------- episodes */

static void name(const struct episode *e, char *text, size_t size)
{
	size_t n = 0;
	unsigned int i;

	for (i = 0; i < e->segments; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%" PRIx64 ":%u", i ? "," : "",
				      e->seed[i], e->calls[i]);
	snprintf(text + n, size - n, "/%u", e->threads);
}

/* Only the first failure is kept: others may follow from it. */
static void fail(const struct episode *e, const char *what)
{
	char text[128] = "";

	if (atomic_exchange(&shared->failed, true))
		return;
	if (e)
		name(e, text, sizeof(text));
	snprintf(shared->failure, sizeof(shared->failure), "%s %s", what, text);
}

static void keep(const struct episode *e, unsigned int segment, unsigned int calls)
{
	uint64_t at = atomic_fetch_add(&shared->kept, 1) % KEPT;
	struct episode copy = *e;

	copy.segments = segment + 1;
	copy.calls[segment] = calls;
	shared->episode[at] = copy;
}

static unsigned int length(const struct episode *e)
{
	unsigned int s, n = 0;

	for (s = 0; s < e->segments; s++)
		n += e->calls[s];
	return n;
}

static void prepare(void)
{
	unsigned int i;

	for (i = 0; i < POOL; i++) {
		fence_fd[i] = -1;
		event_fd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	}
	for (i = 0; i < CLIENTS; i++)
		clients[i].fd = -1;
}

/* Play the calls that are dealt to this thread. */
static void *player_run(void *arg)
{
	const struct episode *e;
	unsigned int s, i;

	self = arg;
	e = self->episode;
	cover_start();
	area_map();
	for (s = 0; s < e->segments; s++)
		for (i = 0; i < e->calls[s]; i++, place++) {
			if (!chosen[place] || place % e->threads != self->number)
				continue;
			state = e->seed[s] * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)i << 32);
			one_call();
			if (new_code())
				keep(e, s, i + 1);
		}
	self->done = true;
	return NULL;
}

/* Return: true if all threads have ended; *@turns counts calls. */
static bool all_done(const struct episode *e, unsigned int *turns)
{
	bool done = true;
	unsigned int i;

	*turns = 0;
	for (i = 0; i < e->threads; i++) {
		done &= players[i].done;
		*turns += players[i].turns;
	}
	return done;
}

/*
 * Return when all threads have ended, or those that have not sleep. Meanwhile hold some, for a
 * number of calls or until the time of the hold is over.
 */
static bool attend(const struct episode *e)
{
	int64_t since = vf_deadline(0);
	unsigned int turns, seen = 0, next_turn = (unsigned int)dice(HELD);
	bool done;

	while (!(done = all_done(e, &turns)) && vf_deadline(0) - since < QUIET) {
		if (turns != seen)
			since = vf_deadline(0);
		seen = turns;
		if (turns >= next_turn || delays_over(&shared->delays)) {
			delays_turn(&shared->delays, next());
			next_turn = turns + (unsigned int)dice(HELD);
		}
		/* Where calculating takes no time, 300 calls take 2 ms. */
		usleep(calculates_in_no_time() ? 100 : 1000);
	}
	return done;
}

/*
 * The threads are left behind that sleep in a call: they end with the process, which ends when this
 * returns. The files are closed then, beside a work that is still held.
 */
static void play(const struct episode *e)
{
	unsigned int i;

	prepare();
	state = e->seed[e->segments - 1];
	delays_begin(next());
	for (i = 0; i < e->threads; i++) {
		players[i].episode = e;
		players[i].number = i;
		if (pthread_create(&players[i].thread, NULL, player_run, &players[i]))
			players[i].done = true;
	}
	if (!attend(e))
		delays_end(&shared->delays);
	atomic_fetch_add(&shared->episodes, 1);
}

/* Begin like a kept episode, or with new calls only. */
static void invent(struct episode *e, uint64_t seed)
{
	uint64_t kept = atomic_load(&shared->kept);

	state = seed;
	*e = (struct episode){ 0 };
	if (kept && dice(3)) {
		*e = shared->episode[dice(kept < KEPT ? kept : KEPT)];
		e->segments %= SEGMENTS;
	}
	e->seed[e->segments] = next() & 0xffffffff;
	e->calls[e->segments++] = CALLS;
	e->threads = 1 + (unsigned int)dice(most_threads);
}

/*
 * Run one episode in one process. When the process ends, the kernel must free all its
 * objects.
 */
static pid_t begin(const struct episode *e, FILE *told, unsigned int worker)
{
	char text[128];
	pid_t pid;

	name(e, text, sizeof(text));
	if (told) {
		fprintf(told, "worker %u episode %s\n", worker, text);
		fflush(told);
	}
	pid = fork();
	if (pid)
		return pid;
	play(e);
	_exit(0);
}

/* The process of one episode. */
struct worker {
	pid_t pid;
	int64_t begun, killed;
	struct episode episode;
};

/* A thread that is held cannot be killed. */
static void worker_kill(struct worker *w)
{
	if (!w->pid || w->killed || kill(w->pid, SIGKILL))
		return;
	w->killed = vf_deadline(0);
	delays_disown(&shared->delays, w->pid);
}

/* Return: true if the worker plays no episode any more. */
static bool worker_ended(struct worker *w)
{
	int64_t now = vf_deadline(0);

	if (!w->pid || waitpid(w->pid, NULL, WNOHANG) == w->pid) {
		delays_disown(&shared->delays, w->pid);
		w->pid = 0;
		return true;
	}
	if (now - w->begun > STUCK)
		worker_kill(w);
	if (w->killed && now - w->killed > STUCK)
		fail(&w->episode, "a process does not end that was killed:");
	return false;
}

static void worker_wait(struct worker *w)
{
	while (!worker_ended(w) && !shared->failed) {
		delays_limit(&shared->delays);
		usleep(5000);
	}
}

/* Play one episode until its process has ended. */
static void replay_one(const struct episode *e)
{
	struct worker w = { .begun = vf_deadline(0), .episode = *e, .pid = begin(e, NULL, 0) };

	worker_wait(&w);
}

static int parse(struct episode *e, char *text)
{
	char *part;

	*e = (struct episode){ .threads = 1 };
	part = strchr(text, '/');
	if (part && (sscanf(part, "/%u", &e->threads) != 1 || !e->threads || e->threads > THREADS))
		return -1;
	if (part)
		*part = '\0';
	for (part = strtok(text, ","); part && e->segments < SEGMENTS; part = strtok(NULL, ",")) {
		unsigned int *calls = &e->calls[e->segments];

		if (sscanf(part, "%" SCNx64 ":%u", &e->seed[e->segments], calls) != 2 ||
		    *calls > CALLS)
			return -1;
		e->segments++;
	}
	return e->segments ? 0 : -1;
}

static int choose(char *text)
{
	char *part;

	memset(chosen, !text, sizeof(chosen));
	for (part = text ? strtok(text, ",") : NULL; part; part = strtok(NULL, ",")) {
		unsigned int at = (unsigned int)strtoul(part, NULL, 10);

		if (at >= SEGMENTS * CALLS)
			return -1;
		chosen[at] = true;
	}
	return 0;
}

static void tell_chosen(FILE *told, const char *what, unsigned int chunk, unsigned int n)
{
	const char *comma = " ";
	unsigned int i;

	fprintf(told, "%s %u", what, chunk);
	for (i = 0; i < n; i++)
		if (chosen[i]) {
			fprintf(told, "%s%u", comma, i);
			comma = ",";
		}
	fprintf(told, "\n");
	fflush(told);
}

/*
 * Leave out @chunk of the chosen calls, beginning with the @from-th. Return: how many
 * calls were chosen.
 */
static unsigned int leave_out(unsigned int from, unsigned int chunk, unsigned int n)
{
	unsigned int i, k = 0, left = 0;

	for (i = 0; i < n; i++) {
		if (!chosen[i])
			continue;
		if (k >= from && k < from + chunk) {
			chosen[i] = false;
			left++;
		}
		k++;
	}
	return left;
}

/*
 * Run an episode with fewer and fewer calls. If fewer calls are enough to break the
 * kernel, it breaks here, and the list that was written last names them. Chunks of calls
 * are left out from the end of the episode, because the last calls are the least likely
 * to be needed. Chunks become smaller.
 */
static void minimise(const struct episode *e, unsigned int chunk)
{
	FILE *told = fopen("/dev/ttyS1", "w");
	unsigned int n = length(e);

	for (chunk = chunk ? chunk : (n + 1) / 2; told && chunk && !shared->failed; chunk /= 2) {
		unsigned int i, count = 0, from;

		for (i = 0; i < n; i++)
			count += chosen[i];
		for (from = (count - 1) / chunk * chunk; count && !shared->failed; from -= chunk) {
			bool before[SEGMENTS * CALLS];

			memcpy(before, chosen, sizeof(before));
			if (leave_out(from, chunk, n) < count) {
				tell_chosen(told, "try", chunk, n);
				replay_one(e);
			}
			memcpy(chosen, before, sizeof(before));
			if (!from)
				break;
		}
	}
}

/* Start and reap workers, and kill some of them in the middle of an episode. */
static void explore(uint64_t seed, int64_t until, uint64_t episodes, unsigned int workers)
{
	FILE *told = fopen("/dev/ttyS1", "w");
	struct worker worker[16] = { 0 };
	unsigned int i;

	while (vf_deadline(0) < until && !shared->failed && episodes) {
		for (i = 0; i < workers && episodes; i++) {
			struct worker *w = &worker[i];

			if (!worker_ended(w))
				continue;
			*w = (struct worker){ .begun = vf_deadline(0) };
			invent(&w->episode, ++seed * UINT64_C(0xd1342543de82ef95));
			w->pid = begin(&w->episode, told, i);
			episodes--;
		}
		usleep(5000);
		delays_limit(&shared->delays);
		state = ++seed;
		i = (unsigned int)dice(workers);
		if (dice(100) == 0 && worker[i].pid) {
			worker_kill(&worker[i]);
			atomic_fetch_add(&shared->kills, 1);
		}
	}
	for (i = 0; i < workers; i++) {
		worker_kill(&worker[i]);
		worker_wait(&worker[i]);
	}
	delays_begin(0);
}

/* What a client in peace measures, in ns. */
struct peace {
	int64_t gpu, cpu;
	uint64_t rounds;
};

/* Use engine and CPU signals once. Return: 0 or a negative errno. */
static int peace_round(struct vf_queue *queue, struct vf_fence *fence, struct peace *longest)
{
	int64_t begin = vf_deadline(0), took;
	int ret;

	longest->rounds++;
	vf_cmd_draw(queue, 1, 100000);
	vf_cmd_signal(queue, fence, 2 * longest->rounds);
	ret = vf_queue_submit(queue);
	ret = ret ? ret : vf_fence_wait(fence, 2 * longest->rounds, DEADLINE);
	took = vf_deadline(0) - begin;
	longest->gpu = took > longest->gpu ? took : longest->gpu;

	begin = vf_deadline(0);
	ret = ret ? ret : vf_fence_signal(fence, 2 * longest->rounds + 1);
	took = vf_deadline(0) - begin;
	longest->cpu = took > longest->cpu ? took : longest->cpu;
	return ret;
}

/* The client in peace: a process that works until @until. Its exit code is 0 if all went well. */
static pid_t watch(int64_t until, int64_t limit_ns)
{
	struct peace longest = { 0 };
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_fence *fence;
	pid_t pid = fork();
	int ret;

	if (pid)
		return pid;
	ret = vf_adapter_open(0, &adapter);
	ret = ret ? ret : vf_device_create(adapter, &device);
	ret = ret ? ret : vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue);
	ret = ret ? ret : vf_fence_create(device, 0, 0, &fence);
	while (!ret && vf_deadline(0) < until) {
		ret = peace_round(queue, fence, &longest);
		/* The client in peace leaves most of the processor to the fuzzer. */
		usleep(1000);
	}
	printf("# in peace: %" PRIu64 " rounds, result %d; longest: submission %.1f ms, signal "
	       "%.1f ms\n", longest.rounds, ret, (double)longest.gpu / 1e6,
	       (double)longest.cpu / 1e6);
	fflush(stdout);
	_exit(ret || longest.gpu > limit_ns || longest.cpu > limit_ns);
}

static void report(void)
{
	FILE *f = fopen("/out/pcs", "w");
	unsigned int i;

	printf("# %" PRIu64 " calls, %" PRIu64 " of them succeeded, %" PRIu64 " episodes, %" PRIu64
	       " kills\n", shared->calls, shared->succeeded, shared->episodes, shared->kills);
	printf("# %" PRIu64 " places of code reached, %" PRIu64 " episodes kept, %" PRIu64
	       " holds, %" PRIu64 " of them held a thread\n", shared->pcs, shared->kept,
	       shared->delays.set, shared->delays.met);
	if (shared->failed)
		printf("# %s\n", shared->failure);
	for (i = 0; f && i < PCS; i++)
		if (shared->pc[i])
			fprintf(f, "%" PRIx64 "\n", shared->pc[i]);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	unsigned int workers = 3;
	int64_t seconds = 10;
	uint64_t seed = 1, episodes = UINT64_MAX;
	char *replay = NULL, *calls = NULL;
	bool fewer = false;
	unsigned int chunk = 0;
	int64_t limit_ms = 0;
	int c, status = 0;

	while ((c = getopt(argc, argv, "s:t:n:w:j:a:l:r:m:k:c:vf")) != -1)
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			seconds = atoi(optarg);
			break;
		case 'n':
			episodes = strtoull(optarg, NULL, 0);
			break;
		case 'j':
			most_threads = (unsigned int)atoi(optarg);
			break;
		case 'w':
			workers = (unsigned int)atoi(optarg) % 16;
			break;
		case 'a':
			adapters = (unsigned int)atoi(optarg);
			break;
		case 'l':
			limit_ms = atoi(optarg);
			break;
		case 'r':
			replay = optarg;
			break;
		case 'm':
			replay = optarg;
			fewer = true;
			break;
		case 'k':
			calls = optarg;
			break;
		case 'c':
			chunk = (unsigned int)atoi(optarg);
			break;
		case 'v':
			verbose = true;
			break;
		case 'f':
			faults = true;
			break;
		default:
			return 2;
		}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (!most_threads || most_threads > THREADS || shared == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets))
		return 2;
	signal(SIGBUS, SIG_DFL);
	delays_open(&shared->delays);
	if (choose(calls))
		return 2;
	if (replay) {
		struct episode e;

		if (parse(&e, replay))
			return 2;
		setvbuf(stdout, NULL, _IOLBF, 0);
		if (fewer)
			minimise(&e, chunk);
		else
			replay_one(&e);
	} else {
		int64_t until = vf_deadline(seconds * SECOND);
		pid_t peace = limit_ms ? watch(until, limit_ms * 1000000) : 0;

		/* The episodes of neighbouring seeds are others. */
		explore(seed << 20, until, episodes, workers ? workers : 1);
		if (peace && waitpid(peace, &status, 0) != peace)
			status = 1;
	}
	report();
	printf("1..1\n%sok 1 fuzz.nothing_broke\n", status || shared->failed ? "not " : "");
	return status || shared->failed;
}
