// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence bench peers: the operations of fences beside what else there is for them, in one run. On
 * the deterministic clock a nanosecond is an instruction, and the figures repeat to the digit.
 */

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <json-c/json.h>
#include <xf86drm.h>

#include "ntsync.h"
#include "peers.h"

#define CALLS		200
#define WARM_UP		20

/* ------------------------------------------------------------------- output */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add_number(json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_int64((int64_t)value));
}

static void add_cell(json_object *cells, const char *who, struct samples *s)
{
	json_object *cell = json_object_new_object();

	qsort(s->ns, s->count, sizeof(s->ns[0]), by_size);
	add_number(cell, "min", s->ns[0]);
	/* What `make bench-check` compares: a lucky sample does not count, nor who else runs. */
	add_number(cell, "low", s->ns[s->count / 10]);
	add_number(cell, "median", s->ns[s->count / 2]);
	add_number(cell, "p90", s->ns[s->count * 9 / 10]);
	add_number(cell, "p99", s->ns[s->count * 99 / 100]);
	json_object_object_add(cells, who, cell);
}

/* Add a row to the table. Return its cells. */
static json_object *add_row(json_object *rows, const char *key)
{
	json_object *cells = json_object_new_object();

	json_object_object_add(rows, key, cells);
	return cells;
}

/* -------------------------------------------------------------- single calls */

/* What the calls of one thread work with. */
struct calls {
	struct bench_world *world;
	uint32_t syncobj, timeline;
	uint64_t point;
	int event, efd, counter;
	_Atomic uint32_t futex;
};

static int signal_vfence(struct calls *c)
{
	return vf_fence_signal(c->world->fence, ++c->world->value);
}

static int signal_syncobj(struct calls *c)
{
	c->point++;
	return drmSyncobjTimelineSignal(c->world->fd, &c->timeline, &c->point, 1);
}

static int signal_ntsync(struct calls *c)
{
	return ntsync_set(c->event);
}

static int signal_eventfd(struct calls *c)
{
	uint64_t one = 1;

	return write(c->counter, &one, sizeof(one)) == sizeof(one) ? 0 : -errno;
}

static int signal_futex(struct calls *c)
{
	c->futex++;
	return syscall(SYS_futex, &c->futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) < 0 ? -errno : 0;
}

static int no_op(struct calls *c)
{
	struct drm_get_cap cap = { .capability = DRM_CAP_PRIME };

	return drmIoctl(c->world->fd, DRM_IOCTL_GET_CAP, &cap);
}

static int wait_vfence(struct calls *c)
{
	return vf_fence_wait(c->world->fence, c->world->value, VF_FOREVER);
}

static int wait_mapped(struct calls *c)
{
	return vf_fence_current(c->world->fence) < c->world->value;
}

static int wait_syncobj(struct calls *c)
{
	return drmSyncobjTimelineWait(c->world->fd, &c->timeline, &c->point, 1, INT64_MAX, 0, NULL);
}

static int wait_ntsync(struct calls *c)
{
	return ntsync_wait_any(c->world->ntsync, &c->event, 1);
}

static int read_event(struct calls *c)
{
	uint64_t count;

	return read(c->efd, &count, sizeof(count)) == sizeof(count) ? 0 : -errno;
}

static int event_vfence(struct calls *c)
{
	struct vf_point point = { c->world->fence, ++c->world->value };
	int ret = vf_event_arm(c->world->adapter, &point, 1, 0, c->efd, NULL);

	ret = ret < 0 ? ret : vf_fence_signal(c->world->fence, point.value);
	return ret ? ret : read_event(c);
}

/* The C library of Debian 12 has no name for it. */
struct syncobj_eventfd {
	uint32_t handle;
	uint32_t flags;
	uint64_t point;
	int32_t fd;
	uint32_t pad;
};

static int event_syncobj(struct calls *c)
{
	struct syncobj_eventfd args = {
		.handle = c->timeline, .point = ++c->point, .fd = c->efd,
	};
	int ret = drmIoctl(c->world->fd, DRM_IOWR(0xCF, struct syncobj_eventfd), &args);

	ret = ret ? -errno : drmSyncobjTimelineSignal(c->world->fd, &c->timeline, &c->point, 1);
	return ret ? ret : read_event(c);
}

static const struct call {
	const char *row;
	enum peer peer;
	int (*call)(struct calls *c);
} calls[] = {
	{ "signal", PEER_VFENCE, signal_vfence },
	{ "signal", PEER_SYNCOBJ, signal_syncobj },
	{ "signal", PEER_NTSYNC, signal_ntsync },
	{ "signal", PEER_EVENTFD, signal_eventfd },
	{ "signal", PEER_FUTEX, signal_futex },
	{ "signal", PEER_NOOP, no_op },
	{ "wait_reached", PEER_VFENCE, wait_vfence },
	{ "wait_reached", PEER_VFENCE_MAPPED, wait_mapped },
	{ "wait_reached", PEER_SYNCOBJ, wait_syncobj },
	{ "wait_reached", PEER_NTSYNC, wait_ntsync },
	{ "wait_reached", PEER_NOOP, no_op },
	{ "eventfd", PEER_VFENCE, event_vfence },
	{ "eventfd", PEER_SYNCOBJ, event_syncobj },
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

/* The profile of a row is that of the way which its goal is for. */
static bool is_wanted(const struct bench_world *world, const char *row, enum peer peer)
{
	enum peer ours = strncmp(row, "any_", 4) ? PEER_VFENCE : PEER_VFENCE_SET;

	if (world->row)
		return !strcmp(row, world->row) && peer == ours;
	return peer != PEER_NTSYNC || world->ntsync >= 0;
}

/* Return: what it takes to read the clock, at least. */
static uint64_t clock_overhead(void)
{
	uint64_t least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < WARM_UP; i++) {
		uint64_t begun = bench_now(), ns = bench_now() - begun;

		if (ns < least)
			least = ns;
	}
	return least;
}

static int measure_call(struct calls *c, int (*call)(struct calls *c), struct samples *s)
{
	uint64_t overhead = clock_overhead();
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < WARM_UP; i++)
		ret = call(c);
	for (i = 0; !ret && i < CALLS; i++) {
		uint64_t begun = bench_now();

		ret = call(c);
		begun = bench_now() - begun;
		/* Where the clock is that of the host, reading it may take less than before. */
		s->ns[s->count++] = begun > overhead ? begun - overhead : 0;
	}
	return ret;
}

static int run_calls(struct bench_world *world, json_object *rows)
{
	struct calls c = { .world = world, .event = -1 };
	json_object *cells = NULL;
	const char *row = "";
	unsigned int i;
	int ret = 0;

	c.efd = eventfd(0, EFD_CLOEXEC);
	c.counter = eventfd(0, EFD_CLOEXEC);
	if (world->ntsync >= 0)
		c.event = ntsync_event(world->ntsync, true, true);
	if (c.efd < 0 || c.counter < 0 || drmSyncobjCreate(world->fd, 0, &c.timeline))
		return -errno;
	for (i = 0; !ret && i < N_CALLS; i++) {
		struct samples s = { .count = 0 };

		if (strcmp(row, calls[i].row))
			cells = add_row(rows, calls[i].row);
		row = calls[i].row;
		if (!is_wanted(world, row, calls[i].peer))
			continue;
		ret = measure_call(&c, calls[i].call, &s);
		if (!ret)
			add_cell(cells, peer_names[calls[i].peer], &s);
	}
	drmSyncobjDestroy(world->fd, c.timeline);
	close(c.efd);
	close(c.counter);
	if (c.event >= 0)
		close(c.event);
	return ret;
}

/* ----------------------------------------------------------------- hand-off */

struct partner {
	struct link *link;
	unsigned int processor;
	int ret;
};

static void use_processor(unsigned int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	/* Without a second processor the threads share the first one. */
	sched_setaffinity(0, sizeof(set), &set);
}

static void *partner_thread(void *arg)
{
	struct partner *p = arg;
	unsigned int i;

	use_processor(p->processor);
	p->ret = link_wait(p->link, 1);
	for (i = 1; !p->ret && i < WARM_UP + CALLS; i++)
		p->ret = link_pass(p->link, 1);
	p->ret = p->ret ? p->ret : link_signal(p->link, 1);
	return NULL;
}

/* A sample is half a round trip. */
static int measure_link(struct link *link, struct samples *s)
{
	struct partner partner = { .link = link, .processor = 1 };
	pthread_t thread;
	unsigned int i;
	int ret = 0;

	use_processor(0);
	if (pthread_create(&thread, NULL, partner_thread, &partner))
		return -EAGAIN;
	for (i = 0; !ret && i < WARM_UP + CALLS; i++) {
		uint64_t begun = bench_now();

		ret = link_pass(link, 0);
		if (i >= WARM_UP)
			s->ns[s->count++] = (bench_now() - begun) / 2;
	}
	/* If this side has failed, the other one waits for ever: end it with the process. */
	if (!ret)
		pthread_join(thread, NULL);
	return ret ? ret : partner.ret;
}

static int run_links(struct bench_world *world, json_object *rows, const char *row, unsigned int n)
{
	static const enum peer peers[] = {
		PEER_VFENCE, PEER_VFENCE_APART, PEER_VFENCE_SET, PEER_SYNCOBJ, PEER_NTSYNC,
		PEER_EVENTFD, PEER_FUTEX, PEER_PIPE,
	};
	json_object *cells = add_row(rows, row);
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < sizeof(peers) / sizeof(peers[0]); i++) {
		struct samples s = { .count = 0 };
		struct link *link;

		if (!is_wanted(world, row, peers[i]))
			continue;
		link = link_open(world, peers[i], n);
		if (!link && errno == EOPNOTSUPP)
			continue;
		if (!link)
			return -errno;
		ret = measure_link(link, &s);
		if (!ret)
			add_cell(cells, peer_names[peers[i]], &s);
		link_close(link);
	}
	return ret;
}

/* --------------------------------------------------------- waiters elsewhere */

/* A client may have no more than some thousand events. */
#define EVENTS	1000

/* A signal below the values that others wait for. */
static int run_waiters(struct bench_world *world, json_object *rows, const char *row,
		       unsigned int waiters)
{
	struct vf_point points[64];
	struct calls c = { .world = world };
	struct samples s = { .count = 0 };
	int efd = eventfd(0, EFD_CLOEXEC);
	uint32_t event[EVENTS] = { 0 };
	/* Each event has up to 64 points, and as many waiters. */
	unsigned int events = waiters < EVENTS ? waiters : EVENTS, each = waiters / events, i;
	int ret = efd >= 0 ? 0 : -errno;

	for (i = 0; i < each; i++)
		points[i] = (struct vf_point) { world->fence, UINT64_MAX - 1 };
	if (!is_wanted(world, row, PEER_VFENCE))
		events = 0;
	for (i = 0; !ret && i < events; i++)
		ret = vf_event_arm(world->adapter, points, each, 0, efd, &event[i]);
	if (!ret && events)
		ret = measure_call(&c, signal_vfence, &s);
	if (!ret && events)
		add_cell(add_row(rows, row), peer_names[PEER_VFENCE], &s);
	for (i = 0; i < events; i++)
		vf_event_cancel(world->adapter, event[i]);
	close(efd);
	return ret;
}

/* ---------------------------------------------------------------- GPU's side */

static int run_gpu_row(struct bench_world *world, json_object *rows, const char *row)
{
	struct samples s = { .count = 0 };
	int ret = 0;

	if (!is_wanted(world, row, PEER_VFENCE))
		return 0;
	/* Where the clock is the host's, the kernel places them, as it does for any client. */
	if (!world->wall)
		ret = gpu_place_engines(!strcmp(row, "submit_idle_apart"));
	if (ret)
		return ret;
	if (!strcmp(row, "gpu_signal"))
		ret = gpu_packet(world, &s, true);
	else if (!strcmp(row, "gpu_nop"))
		ret = gpu_packet(world, &s, false);
	else if (!strcmp(row, "gpu_release"))
		ret = gpu_release(world, &s);
	else if (!strcmp(row, "submit_busy"))
		ret = gpu_submit_busy(world, &s);
	else if (!strcmp(row, "submit_idle") || !strcmp(row, "submit_idle_apart"))
		ret = gpu_submit_idle(world, &s);
	else if (!strcmp(row, "wake"))
		ret = gpu_wake(world, &s, 0, 0);
	else if (!strcmp(row, "wake_60_queues"))
		ret = gpu_wake(world, &s, 60, 0);
	else if (!strcmp(row, "wake_1000_waiters"))
		ret = gpu_wake(world, &s, 0, 1000);
	else if (!strcmp(row, "draw_25us"))
		ret = gpu_draws(world, &s, 25000);
	else
		ret = gpu_draws(world, &s, 100000);
	if (!ret)
		add_cell(add_row(rows, row), peer_names[PEER_VFENCE], &s);
	return ret;
}

static int run_gpu(struct bench_world *world, json_object *rows)
{
	static const char *const names[] = {
		"gpu_signal", "gpu_nop", "gpu_release", "submit_busy", "submit_idle",
		"submit_idle_apart", "wake", "wake_60_queues", "wake_1000_waiters", "draw_25us",
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < sizeof(names) / sizeof(names[0]); i++)
		ret = run_gpu_row(world, rows, names[i]);
	return ret;
}

/* ---------------------------------------------------------------------- all */

static int set_up(struct bench_world *w)
{
	int ret = vf_adapter_open(0, &w->adapter);

	ret = ret ? ret : vf_device_create(w->adapter, &w->device);
	ret = ret ? ret : vf_queue_create(w->device, 0, 1 << 20, &w->gfx);
	ret = ret ? ret : vf_queue_create(w->device, 2, 1 << 20, &w->copy);
	ret = ret ? ret : vf_fence_create(w->device, 0, 0, &w->fence);
	ret = ret ? ret : vf_fence_create(w->device, 0, 0, &w->gate);
	ret = ret ? ret : vf_fence_create(w->device, 0, 0, &w->back);
	ret = ret ? ret : vf_buffer_create(w->adapter, 4096, &w->buffer);
	if (ret)
		return ret;
	w->fd = vf_adapter_fd(w->adapter);
	w->ntsync = open("/dev/ntsync", O_RDWR | O_CLOEXEC);
	return 0;
}

static void tear_down(struct bench_world *w)
{
	if (w->ntsync >= 0)
		close(w->ntsync);
	vf_buffer_destroy(w->buffer);
	vf_fence_destroy(w->back);
	vf_fence_destroy(w->gate);
	vf_fence_destroy(w->fence);
	vf_queue_destroy(w->copy);
	vf_queue_destroy(w->gfx);
	vf_device_destroy(w->device);
	vf_adapter_close(w->adapter);
}

static int run_all(struct bench_world *world, json_object *rows)
{
	int ret = run_calls(world, rows);

	ret = ret ? ret : run_links(world, rows, "hand_off", 1);
	/* What the engines execute is measured on the other clock: there it is exact. */
	if (world->wall)
		return ret ? ret : run_gpu_row(world, rows, "draw_100us");
	ret = ret ? ret : run_links(world, rows, "any_64", 64);
	ret = ret ? ret : run_links(world, rows, "any_512", 512);
	ret = ret ? ret : run_waiters(world, rows, "signal_below_1", 1);
	ret = ret ? ret : run_waiters(world, rows, "signal_below_1000", 1000);
	ret = ret ? ret : run_waiters(world, rows, "signal_below_64000", 64000);
	return ret ? ret : run_gpu(world, rows);
}

int bench_peers_main(const struct options *options)
{
	struct bench_world world = { .ntsync = -1, .row = options->row,
				     .wall = options->wall };
	/* make bench-profile compares runs of different lengths. */
	const char *rounds = getenv("VFENCE_BENCH_ROUNDS");
	unsigned long left = rounds ? strtoul(rounds, NULL, 10) : 1;
	json_object *o = json_object_new_object(), *rows = json_object_new_object();
	struct utsname kernel;
	int ret = set_up(&world);

	if (ret)
		return tool_fail("bench peers", ret);
	uname(&kernel);
	json_object_object_add(o, "kernel", json_object_new_string(kernel.release));
	json_object_object_add(o, "clock", json_object_new_string(world.wall ? "wall" :
								   "instructions"));
	json_object_object_add(o, "rows", rows);
	while (!ret && left--)
		ret = run_all(&world, rows);
	if (ret)
		tool_fail("bench peers", ret);
	else
		puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	tear_down(&world);
	return ret;
}
