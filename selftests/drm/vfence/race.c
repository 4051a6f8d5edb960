// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lost wake-ups, on two real CPUs. The GPU signals as fast as the engine can, while waits
 * are added, time out and are cancelled. A wait whose value was reached must return. A
 * wait that does not return runs into its deadline.
 */

#include <stdatomic.h>
#include <sys/prctl.h>

#include "vfence_test.h"

#define TRACING		"/sys/kernel/tracing/"
#define CONTENTION	TRACING "events/lock/contention_begin/"

#define SIGNALS_WANTED	wanted(1000000)
#define WAITS_WANTED	wanted(100000)
#define SECOND_WANTED	wanted(1000)

FIXTURE(race) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	struct vf_fence *back;
};

static void pin_thread(const char *name, int cpu)
{
	char comm[32];

	snprintf(comm, sizeof(comm), "vfence%u-%s", first_adapter(), name);
	pin_kthread(comm, cpu);
}

FIXTURE_SETUP(race)
{
	VFENCE_SETUP(first_adapter());
	/*
	 * Put the two engines on different processors, and the CMP not on that of the
	 * first engine.
	 */
	pin_thread("engine0", 0);
	pin_thread("engine2", 1);
	pin_thread("cmp", 1);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->back));
}

FIXTURE_TEARDOWN(race)
{
	vf_fence_destroy(self->fence);
	vf_fence_destroy(self->back);
	VFENCE_TEARDOWN();
}

#define WAITERS	2
#define BURST	16

struct race {
	struct vf_adapter *adapter;
	struct vf_queue *queue;
	struct vf_fence *fence;
	/*
	 * The last value of the burst in the ring. Each waiter that has seen it
	 * acknowledges it.
	 */
	_Atomic uint64_t published;
	_Atomic unsigned int acks;
	_Atomic bool stop;
	_Atomic uint64_t waits, lost, wrong;
	_Atomic int next_cpu;
};

/*
 * Signal bursts as fast as the engine can. Then send nothing until every waiter has seen
 * the last value, because a later signal would hide a lost wake-up.
 */
static void *signaller(void *arg)
{
	struct race *r = arg;
	uint64_t value = 0;

	while (!atomic_load(&r->stop)) {
		unsigned int i;

		for (i = 0; i < BURST; i++)
			vf_cmd_signal(r->queue, r->fence, ++value);
		atomic_store(&r->acks, 0);
		atomic_store(&r->published, value);
		if (vf_queue_publish(r->queue))
			atomic_fetch_add(&r->wrong, 1);
		while (atomic_load(&r->acks) < WAITERS && !atomic_load(&r->stop))
			sched_yield();
	}
	/* Let the waiters leave. */
	atomic_store(&r->published, UINT64_MAX);
	return NULL;
}

/* Print the lost value and the state of fence and queue. */
static void lose(struct race *r, const char *what, uint64_t value, int ret)
{
	struct drm_vfence_fence_info q = { 0 };
	struct drm_vfence_queue_info k = { 0 };

	vf_fence_query(r->fence, &q);
	vf_queue_query(r->queue, &k);
	fprintf(stderr, "# lost: %s of %llu: %d; current %llu monitored %llx waiters %llu\n", what,
		(unsigned long long)value, ret, (unsigned long long)q.current_value,
		(unsigned long long)q.monitored_value, (unsigned long long)q.waiters);
	fprintf(stderr, "# lost: queue state %u packets %llu fault %u\n", k.state,
		(unsigned long long)k.packets, k.fault);
	atomic_fetch_add(&r->lost, 1);
}

/* Wait with a deadline that may pass first. */
static void try_wait(struct race *r, uint64_t value, unsigned int *seed)
{
	int ret = vf_fence_wait(r->fence, value, vf_deadline(rand_r(seed) % 20000));

	if (ret && ret != -ETIME)
		atomic_fetch_add(&r->wrong, 1);
	if (!ret && vf_fence_current(r->fence) < value)
		atomic_fetch_add(&r->wrong, 1);
}

/* Arm an event, which fires or is cancelled. */
static void try_event(struct race *r, uint64_t value, int efd)
{
	struct vf_point point = { r->fence, value };
	uint32_t event;
	int ret = vf_event_arm(r->adapter, &point, 1, 0, efd, &event);

	if (!ret)
		ret = vf_event_cancel(r->adapter, event);
	if (ret == -ENOENT && !EVENTUALLY(fired(efd)))
		lose(r, "an event", value, ret);
	if (ret < 0 && ret != -ENOENT)
		atomic_fetch_add(&r->wrong, 1);
	if (fired(efd) && read(efd, &(uint64_t){ 0 }, 8) != 8)
		atomic_fetch_add(&r->wrong, 1);
}

/*
 * Arm an entry, and replace it while the engine may satisfy it: what the set returns was
 * reached, and is returned once.
 */
static void try_set(struct race *r, uint64_t value, struct vf_wait_set *set)
{
	struct vf_wait_set_entry update[] = { { 1, r->fence, value }, { 1, r->fence, value + 1 } };
	struct drm_vfence_wait_set_ready ready[2];
	unsigned int count = 2;
	int ret;

	ret = vf_wait_set_wait(set, update, 2, NULL, 0, 0, ready, &count);
	if (ret && ret != -ETIME)
		atomic_fetch_add(&r->wrong, 1);
	if (!ret && (count != 1 || ready[0].index != 1 || vf_fence_current(r->fence) < value + 1))
		atomic_fetch_add(&r->wrong, 1);
	update[0].fence = NULL;
	if (vf_wait_set_update(set, update, 1))
		atomic_fetch_add(&r->wrong, 1);
}

/* Wait for @value by an entry that stays on the fence while the other one comes and goes. */
static int wait_by_set(struct race *r, uint64_t value, struct vf_wait_set *set)
{
	struct vf_wait_set_entry update = { 0, r->fence, value };
	struct drm_vfence_wait_set_ready ready[2] = { { 0 } };
	unsigned int count = 2;
	int ret = vf_wait_set_wait(set, &update, 1, NULL, 0, DEADLINE, ready, &count);

	if (!ret && (count != 1 || ready[0].index || ready[0].error))
		atomic_fetch_add(&r->wrong, 1);
	return ret;
}

static void *waiter(void *arg)
{
	struct race *r = arg;
	struct vf_wait_set *set = NULL;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	unsigned int seed = (unsigned int)(uintptr_t)&seed;
	uint64_t seen = 0, last;
	int ret;

	if (vf_wait_set_create(r->adapter, 2, &set)) {
		atomic_fetch_add(&r->wrong, 1);
		atomic_store(&r->stop, true);
		return NULL;
	}
	/* One of the waiters runs on another processor than the engine. */
	pin(0, atomic_fetch_add(&r->next_cpu, 1) % 2);
	for (;;) {
		while ((last = atomic_load(&r->published)) == seen)
			sched_yield();
		if (last == UINT64_MAX)
			break;
		seen = last;
		switch (rand_r(&seed) % 4) {
		case 0:
			try_wait(r, last - rand_r(&seed) % BURST, &seed);
			atomic_fetch_add(&r->waits, 1);
			break;
		case 1:
			try_event(r, last - rand_r(&seed) % BURST, efd);
			atomic_fetch_add(&r->waits, 1);
			break;
		case 2:
			try_set(r, last - rand_r(&seed) % BURST, set);
			break;
		default:
			break;
		}
		/* This wait must end, and no later signal can satisfy it. */
		ret = rand_r(&seed) % 2 ? vf_fence_wait(r->fence, last, DEADLINE) :
					  wait_by_set(r, last, set);
		if (ret) {
			lose(r, "a wait", last, ret);
			atomic_store(&r->stop, true);
		}
		atomic_fetch_add(&r->waits, 1);
		atomic_fetch_add(&r->acks, 1);
	}
	vf_wait_set_destroy(set);
	close(efd);
	return NULL;
}

static bool enough(struct race *r, const struct vf_counters *before)
{
	struct vf_counters now = counters(r->adapter);

	return now.signals - before->signals >= SIGNALS_WANTED &&
	       atomic_load(&r->waits) >= WAITS_WANTED &&
	       now.second_sample - before->second_sample >= SECOND_WANTED;
}

TEST_F_TIMEOUT(race, WDDM_14_16_17_no_lost_wakeup, 600)
{
	struct race r = { .adapter = self->adapter, .queue = self->gfx, .fence = self->fence };
	struct vf_counters before, after;
	pthread_t thread[WAITERS + 1];
	unsigned int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	ASSERT_TRUE(settled(self->adapter, &before));
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, signaller, &r));
	for (i = 1; i <= WAITERS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, waiter, &r));
	while (!atomic_load(&r.stop)) {
		struct timespec pause = { .tv_nsec = 50000000 };

		/* This is only the pace at which this thread checks the counters. */
		nanosleep(&pause, NULL);
		if (enough(&r, &before))
			atomic_store(&r.stop, true);
	}
	for (i = 0; i <= WAITERS; i++)
		pthread_join(thread[i], NULL);
	EXPECT_EQ(0, r.lost);
	EXPECT_EQ(0, r.wrong);
	ASSERT_TRUE(settled(self->adapter, &after));
	if (r.lost || r.wrong)
		return;
	EXPECT_LE(SIGNALS_WANTED, after.signals - before.signals);
	EXPECT_LE(WAITS_WANTED, r.waits);
	EXPECT_LE(SECOND_WANTED, after.second_sample - before.second_sample);
	EXPECT_EQ(after.waits_begun, after.waits_satisfied + after.waits_timed_out +
				     after.waits_cancelled);
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
	TH_LOG("signals %llu waits %llu second sample %llu timed out %llu cancelled %llu interrupts %llu spurious %llu",
	       (unsigned long long)(after.signals - before.signals), (unsigned long long)r.waits,
	       (unsigned long long)(after.second_sample - before.second_sample),
	       (unsigned long long)(after.waits_timed_out - before.waits_timed_out),
	       (unsigned long long)(after.waits_cancelled - before.waits_cancelled),
	       (unsigned long long)(after.handler_runs - before.handler_runs),
	       (unsigned long long)(after.records_spurious - before.records_spurious));
}

TEST_F_TIMEOUT(race, WDDM_18_gpu_to_gpu_ping_pong, 300)
{
	uint64_t i, sent = 0;

	/* Handshakes (b) and (c): each queue blocks on the other all the time. */
	for (i = 1; i <= wanted(20000); i++) {
		vf_cmd_signal(self->gfx, self->fence, i);
		vf_cmd_wait(self->gfx, self->back, i);
		vf_cmd_wait(self->copy, self->fence, i);
		vf_cmd_signal(self->copy, self->back, i);
		if (i % 50)
			continue;
		ASSERT_EQ(0, vf_queue_publish(self->gfx));
		ASSERT_EQ(0, vf_queue_publish(self->copy));
		sent = i;
		ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->back) == sent)) {
			TH_LOG("stuck at %llu of %llu",
			       (unsigned long long)vf_fence_current(self->back),
			       (unsigned long long)sent);
		}
	}
}

struct signaller {
	struct vf_fence *fence;
	unsigned int cpu;
	uint64_t count;
	_Atomic unsigned int *ready;
	int ret;
};

/* Begin at the same time as the other one, and signal an own fence again and again. */
static void *signal_on(void *arg)
{
	struct signaller *s = arg;
	uint64_t i;

	pin(0, s->cpu);
	prctl(PR_SET_NAME, "vf-signaller");
	atomic_fetch_add(s->ready, 1);
	while (atomic_load(s->ready) < 2)
		sched_yield();
	for (i = 1; !s->ret && i <= s->count; i++)
		s->ret = vf_fence_signal(s->fence, i);
	return NULL;
}

/* Return: how often the two threads had to wait for a lock in this driver. Prints the places. */
static unsigned int contended(void)
{
	FILE *f = fopen(TRACING "trace", "re");
	unsigned int count = 0;
	bool ours = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		/* The stack of an event follows it. */
		if (strstr(line, " contention_begin: "))
			ours = strstr(line, "vf-signaller");
		if (!ours || !strstr(line, "=> vfence_"))
			continue;
		if (!count++)
			fprintf(stderr, "# waited for a lock in%s", strchr(line, '>') + 1);
		ours = false;
	}
	if (f)
		fclose(f);
	return count;
}

/* No lock is shared by fences, neither a spinning nor a sleeping one. */
TEST_F_TIMEOUT(race, signals_of_different_fences_share_no_lock, 300)
{
	_Atomic unsigned int ready = 0;
	struct signaller s[2] = {
		{ .fence = self->fence, .cpu = 0, .count = 100000, .ready = &ready },
		{ .fence = self->back, .cpu = 1, .count = 100000, .ready = &ready },
	};
	pthread_t thread[2];
	unsigned int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (write_text(CONTENTION "trigger", "stacktrace"))
		SKIP(return, "needs the tracepoint lock:contention_begin");
	ASSERT_EQ(0, write_text(TRACING "trace", ""));
	ASSERT_EQ(0, write_text(CONTENTION "enable", "1"));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, signal_on, &s[i]));
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, s[i].ret);
	}
	EXPECT_EQ(0, write_text(CONTENTION "enable", "0"));
	EXPECT_EQ(0, write_text(CONTENTION "trigger", "!stacktrace"));
	EXPECT_EQ(0, contended());
}

/* Handshake (b) with the CPU as the signaller: it signals about when the queue blocks. */
TEST_F_TIMEOUT(race, WDDM_18_62_cpu_signals_meet_queues_that_block, 300)
{
	unsigned int seed = 1;
	uint64_t i;

	for (i = 1; i <= wanted(10000); i++) {
		volatile unsigned int turns = rand_r(&seed) % 5000;

		vf_cmd_draw(self->copy, 1, rand_r(&seed) % 20000);
		vf_cmd_wait(self->copy, self->fence, i);
		ASSERT_EQ(0, vf_queue_submit(self->copy));
		while (turns)
			turns--;
		ASSERT_EQ(0, vf_fence_signal(self->fence, i));
		ASSERT_TRUE(drained(self->copy)) {
			TH_LOG("a queue stayed blocked on %llu", (unsigned long long)i);
		}
	}
}

TEST_F_TIMEOUT(race, WDDM_187_rings_are_not_lost, 300)
{
	uint64_t i;

	/* Handshake (c): submit each time the queue is about to become idle. */
	for (i = 1; i <= wanted(20000); i++) {
		vf_cmd_nop(self->gfx, 8);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(drained(self->gfx));
	}
}

struct log_reader {
	struct vf_queue *queue;
	uint32_t fence;
	int cpu;
	_Atomic bool *stop;
	_Atomic uint64_t read, wrong;
};

static void *read_log(void *arg)
{
	struct log_reader *l = arg;
	struct drm_vfence_log_entry e[64];
	uint64_t last = 0;

	pin(0, l->cpu);
	while (!atomic_load(l->stop)) {
		unsigned int i, n = 64;

		if (vf_queue_read_log(l->queue, DRM_VFENCE_LOG_SIGNALS, e, &n, NULL))
			l->wrong++;
		for (i = 0; i < n; i++) {
			l->wrong += e[i].fence_value <= last || e[i].fence != l->fence ||
				    !e[i].end_gpu_timestamp;
			last = e[i].fence_value;
		}
		l->read += n;
		sched_yield();
	}
	return NULL;
}

TEST_F_TIMEOUT(race, WDDM_89_entries_are_never_seen_half_written, 120)
{
	_Atomic bool stop = false;
	struct log_reader l[2] = {
		{ self->gfx, vf_fence_handle(self->fence), 0, &stop, 0, 0 },
		{ self->gfx, vf_fence_handle(self->fence), 1, &stop, 0, 0 },
	};
	pthread_t thread[2];
	uint64_t value = 0;
	unsigned int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	/* There is a reader on each processor. One of them is not the engine's. */
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, read_log, &l[i]));
	while (value < wanted(20000) && !l[0].wrong && !l[1].wrong) {
		for (i = 0; i < 50; i++)
			vf_cmd_signal(self->gfx, self->fence, ++value);
		ASSERT_EQ(0, vf_queue_publish(self->gfx));
		ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == value));
	}
	/* On a loaded machine the readers may run only now. */
	EXPECT_TRUE(EVENTUALLY(l[0].read + l[1].read));
	atomic_store(&stop, true);
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, l[i].wrong);
	}
}

struct mover {
	struct vf_adapter *adapter;
	int error;
};

/*
 * There are more queues than physical doorbells, and each submission rings, so doorbells
 * move all the time.
 */
static void *move_doorbells(void *arg)
{
	struct mover *m = arg;
	struct vf_device *device;
	struct vf_queue *queue[12];
	unsigned int i, round;

	m->error = vf_device_create(m->adapter, &device);
	for (i = 0; !m->error && i < 12; i++)
		m->error = vf_queue_create(device, i % 4, 4096, &queue[i]);
	for (round = 0; !m->error && round < wanted(500); round++) {
		for (i = 0; !m->error && i < 12; i++) {
			vf_cmd_nop(queue[i], 8);
			m->error = vf_queue_submit(queue[i]);
			/* A full ring refuses the submission. Wait and try again. */
			if (m->error == -ENOSPC)
				m->error = drained(queue[i]) ? 0 : -ETIME;
		}
	}
	for (i = 0; !m->error && i < 12; i++)
		m->error = drained(queue[i]) ? 0 : -ETIME;
	if (!m->error && vf_device_state(device) != DRM_VFENCE_DEVICE_ACTIVE)
		m->error = -EIO;
	for (i = 0; !m->error && i < 12; i++)
		vf_queue_destroy(queue[i]);
	vf_device_destroy(device);
	return NULL;
}

TEST_F_TIMEOUT(race, WDDM_186_187_doorbells_taken_from_busy_queues, 120)
{
	struct mover m[2] = { { .adapter = self->adapter }, { .adapter = self->adapter } };
	pthread_t thread[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, move_doorbells, &m[i]));
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, m[i].error);
	}
}

TEST_F_TIMEOUT(race, a_doorbell_destroyed_while_its_queue_drains, 120)
{
	unsigned int i;

	for (i = 0; i < wanted(500); i++) {
		struct vf_queue *queue;
		uint32_t handle, context;

		ASSERT_EQ(0, vf_queue_create(self->device, 0, 4096, &queue));
		vf_cmd_nop(queue, 8);
		ASSERT_EQ(0, vf_queue_submit(queue));
		vf_cmd_nop(queue, 8);
		vf_queue_submit(queue);
		handle = vf_queue_handle(queue);
		context = vf_queue_info(queue)->context;
		ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_DOORBELL, handle));
		ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_QUEUE, handle));
		ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_CONTEXT, context));
		/* Free what the library has; the kernel's objects are gone. */
		vf_queue_destroy(queue);
	}
}

static void *signal_shared(void *arg)
{
	struct race *r = arg;
	uint64_t value = 0;

	while (!atomic_load(&r->stop))
		vf_fence_signal(r->fence, ++value);
	return NULL;
}

TEST_F_TIMEOUT(race, files_close_while_their_events_fire, 120)
{
	struct race r = { .adapter = self->adapter };
	struct vf_fence *shared;
	pthread_t thread;
	unsigned int i, k;
	int fd;

	/*
	 * Another file signals. The files of this loop open the fence, arm events, and
	 * close with events in flight.
	 */
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &shared));
	fd = vf_fence_export(shared);
	r.fence = shared;
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_shared, &r));
	for (i = 0; i < wanted(500); i++) {
		int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		struct vf_adapter *adapter;
		struct vf_device *device;
		struct vf_fence *fence;

		ASSERT_EQ(0, vf_adapter_open(first_adapter(), &adapter));
		ASSERT_EQ(0, vf_device_create(adapter, &device));
		ASSERT_EQ(0, vf_fence_open(device, fd, &fence));
		for (k = 0; k < 8; k++) {
			struct vf_point point = { fence, vf_fence_current(fence) + 2 + k };

			ASSERT_LE(0, vf_event_arm(adapter, &point, 1, 0, efd, NULL));
		}
		vf_fence_destroy(fence);
		vf_device_destroy(device);
		vf_adapter_close(adapter);
		close(efd);
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	vf_fence_destroy(shared);
	close(fd);
}

/* Take video memory and release it, all the time. */
static void *squeeze(void *arg)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct race *r = arg;

	pin(0, 1);
	while (!atomic_load(&r->stop)) {
		struct vf_adapter *adapter[3];
		struct vf_device *device[3];
		struct vf_fence *fence[3];
		unsigned int i;

		for (i = 0; i < 3; i++)
			if (vf_adapter_open(2, &adapter[i]) ||
			    vf_device_create(adapter[i], &device[i]) ||
			    vf_fence_create_desc(device[i], &desc, &fence[i]))
				exit(1);
		for (i = 0; i < 3; i++) {
			vf_fence_destroy(fence[i]);
			vf_device_destroy(device[i]);
			vf_adapter_close(adapter[i]);
		}
		atomic_fetch_add(&r->waits, 1);
	}
	return NULL;
}

/* Two queues exchange signals on fences whose pages move meanwhile. */
static bool ping_pong_once(struct vf_adapter *adapter)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_device *device;
	struct vf_fence *there, *back;
	struct vf_queue *gfx, *copy;
	uint64_t i;
	bool good;

	if (vf_device_create(adapter, &device) ||
	    vf_queue_create(device, DRM_VFENCE_NODE_GFX, 65536, &gfx) ||
	    vf_queue_create(device, DRM_VFENCE_NODE_COPY, 65536, &copy) ||
	    vf_fence_create_desc(device, &desc, &there) ||
	    vf_fence_create_desc(device, &desc, &back))
		return false;
	for (i = 1; i <= wanted(100); i++) {
		vf_cmd_signal(gfx, there, i);
		vf_cmd_wait(gfx, back, i);
		vf_cmd_wait(copy, there, i);
		vf_cmd_signal(copy, back, i);
	}
	good = !vf_queue_submit(gfx) && !vf_queue_submit(copy) && drained(gfx) && drained(copy);
	vf_queue_abort(gfx);
	vf_queue_abort(copy);
	vf_queue_destroy(gfx);
	vf_queue_destroy(copy);
	vf_fence_destroy(there);
	vf_fence_destroy(back);
	vf_device_destroy(device);
	return good;
}

TEST_F_TIMEOUT(race, WDDM_28_pages_move_under_running_queues, 300)
{
	struct vf_counters before, after;
	struct race r = { 0 };
	struct vf_adapter *adapter;
	pthread_t thread;
	unsigned int i;

	if (vf_adapter_open(2, &adapter))
		SKIP(return, "needs the adapters of the guests");
	before = counters(adapter);
	ASSERT_EQ(0, pthread_create(&thread, NULL, squeeze, &r));
	/* Go on until the other thread has moved enough pages. The test has a time limit. */
	for (i = 0; i < wanted(200) ||
		    counters(adapter).evictions <= before.evictions + wanted(200); i++) {
		struct vf_adapter *mine;

		/* The values of a new file are in video memory again. */
		ASSERT_EQ(0, vf_adapter_open(2, &mine));
		ASSERT_TRUE(ping_pong_once(mine));
		vf_adapter_close(mine);
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	after = counters(adapter);
	TH_LOG("%llu pages moved", (unsigned long long)(after.evictions - before.evictions));
	vf_adapter_close(adapter);
}

static void *change_level(void *arg)
{
	struct race *r = arg;

	while (!atomic_load(&r->stop)) {
		if (debugfs_write(first_adapter(), "logging_level",
				  atomic_fetch_add(&r->waits, 1) % 2 ? "1" : "0"))
			atomic_fetch_add(&r->wrong, 1);
	}
	return NULL;
}

TEST_F_TIMEOUT(race, WDDM_97_queues_are_made_while_logs_are_replaced, 300)
{
	struct drm_vfence_log_entry e[8];
	struct race r = { 0 };
	unsigned int i, n;
	pthread_t thread;
	uint64_t lost;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_level, &r));
	/* Go on until the other thread has had its turns. The test has a time limit. */
	for (i = 0; i < wanted(500) || atomic_load(&r.waits) <= wanted(100); i++) {
		struct vf_queue *queue;

		ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
		/* The client counts entries with the size that the connect returned. */
		vf_cmd_signal(queue, self->fence, i);
		vf_cmd_wait(queue, self->fence, i);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_TRUE(logged(queue));
		/*
		 * The log has two entries, in whichever buffer: the signal and that of
		 * the progress fence.
		 */
		n = 8;
		ASSERT_EQ(0, vf_queue_read_log(queue, DRM_VFENCE_LOG_SIGNALS, e, &n, &lost));
		ASSERT_EQ(2, n);
		EXPECT_EQ(i, e[0].fence_value);
		EXPECT_EQ(1, e[1].fence_value);
		EXPECT_EQ(0, lost);
		vf_queue_destroy(queue);
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, r.wrong);
	EXPECT_EQ(0, debugfs_write(first_adapter(), "logging_level", "0"));
}

TEST_F_TIMEOUT(race, WDDM_105_a_notification_is_no_news_to_later_waits, 300)
{
	uint32_t flags = DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER;
	struct vf_fence *fence, *there, *last, *last_there;
	struct vf_point point;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	int fd, efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t value = 10, count;
	unsigned int i;

	if (first_adapter() || vf_adapter_open(2, &adapter))
		SKIP(return, "needs the adapters of the guests, and to be on the first");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 65536, &queue));
	ASSERT_EQ(0, vf_fence_create(self->device, flags, 0, &fence));
	ASSERT_EQ(0, vf_fence_create(self->device, flags, 0, &last));
	fd = vf_fence_export(fence);
	ASSERT_EQ(0, vf_fence_open(device, fd, &there));
	close(fd);
	fd = vf_fence_export(last);
	ASSERT_EQ(0, vf_fence_open(device, fd, &last_there));
	/*
	 * This adapter signals a value and rewinds it. Only then does a queue of the
	 * other adapter begin to wait for the value. The notification of the first signal
	 * arrives last, and must not release the queue.
	 */
	for (i = 1; i <= wanted(500); i++, value += 10) {
		vf_cmd_signal(self->gfx, fence, value);
		vf_cmd_signal(self->gfx, fence, value - 1);
		vf_cmd_signal(self->gfx, last, i);
		vf_cmd_wait(queue, there, value);
		point = (struct vf_point){ last_there, i };
		ASSERT_EQ(0, vf_event_arm(adapter, &point, 1, 0, efd, NULL));
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(AT_ONCE(vf_fence_current(last) == i));
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_BLOCKED));
		/* Notifications come in order: that of the last signal is the last. */
		ASSERT_TRUE(EVENTUALLY(fired(efd)));
		ASSERT_EQ(sizeof(count), read(efd, &count, sizeof(count)));
		ASSERT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(queue));
		ASSERT_EQ(0, vf_fence_signal(fence, value));
		ASSERT_TRUE(drained(queue));
	}
	vf_queue_destroy(queue);
	vf_fence_destroy(there);
	vf_fence_destroy(fence);
	vf_fence_destroy(last);
	vf_fence_destroy(last_there);
	close(efd);
	close(fd);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F_TIMEOUT(race, WDDM_105_waits_that_begin_when_the_signal_comes, 300)
{
	uint32_t flags = DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER;
	struct vf_fence *fence, *there;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	unsigned int i;
	int fd;

	if (first_adapter() || vf_adapter_open(2, &adapter))
		SKIP(return, "needs the adapters of the guests, and to be on the first");
	pin_kthread("vfence2-engine0", 1);
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 65536, &queue));
	ASSERT_EQ(0, vf_fence_create(self->device, flags, 0, &fence));
	fd = vf_fence_export(fence);
	ASSERT_EQ(0, vf_fence_open(device, fd, &there));
	close(fd);
	/* One signal meets one wait, and no later signal hides a lost wake-up. */
	for (i = 1; i <= wanted(2000); i++) {
		vf_cmd_draw(queue, 1, 100000);
		vf_cmd_wait(queue, there, i);
		vf_cmd_draw(self->gfx, 1, 60000 + i % 80 * 1000);
		vf_cmd_signal(self->gfx, fence, i);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(drained(self->gfx));
		ASSERT_TRUE(drained(queue));
	}
	vf_queue_destroy(queue);
	vf_fence_destroy(there);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

static void *tear_reader(void *arg)
{
	struct race *r = arg;

	/* Do not run on the processor of the engine. */
	pin(0, 1);
	while (!atomic_load(&r->stop)) {
		uint64_t value = vf_fence_current(r->fence);

		if (value && value != UINT64_C(0xffffffff) &&
		    value != UINT64_C(0xffffffff00000000))
			atomic_fetch_add(&r->wrong, 1);
	}
	return NULL;
}

TEST_F(race, WDDM_2_values_are_never_torn)
{
	struct race r = { .adapter = self->adapter, .queue = self->gfx, .fence = self->fence };
	pthread_t thread;
	unsigned int i;

	ASSERT_EQ(0, pthread_create(&thread, NULL, tear_reader, &r));
	for (i = 0; i < wanted(200); i++) {
		unsigned int k;

		for (k = 0; k < 100; k++)
			vf_cmd_signal(self->gfx, self->fence, k % 2 ? UINT64_C(0xffffffff) :
				      UINT64_C(0xffffffff00000000));
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		/* Also signal from the CPU. */
		ASSERT_EQ(0, vf_fence_signal(self->fence, UINT64_C(0xffffffff)));
		ASSERT_TRUE(drained(self->gfx));
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, r.wrong);
}

TEST_HARNESS_MAIN
