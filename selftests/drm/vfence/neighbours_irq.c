// SPDX-License-Identifier: GPL-2.0-only
/*
 * Neighbours: what the interrupt path of one client costs the others. Each test has a client
 * that attacks and a client that measures itself, without the attack and with it.
 *
 * Durations are exact on the deterministic clock, where a nanosecond is an instruction, and
 * the bounds hold there.
 */

#include <sys/syscall.h>

#include "vfence_test.h"

#define ROUNDS		61
/* Which of the rounds counts, from the cheapest one on. */
#define RANK		2
#define MAX_THREADS	64
#define MAX_CROWD	32

/* A client with one queue and one fence, which measures itself. */
struct victim {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_fence *fence;
	uint64_t value;
};

/* The module's interrupt threads, and the files with their times, which stay open. */
static int thread_files[MAX_THREADS];
static pid_t threads[MAX_THREADS];
static unsigned int thread_count;

static void open_thread(pid_t task, int unused)
{
	char path[64];

	(void)unused;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", task);
	if (thread_count == MAX_THREADS)
		return;
	threads[thread_count] = task;
	thread_files[thread_count++] = open(path, O_RDONLY | O_CLOEXEC);
}

/* Who fetches entries of a log has the interrupt's thread run at each signal. */
static int victim_open(struct victim *v, unsigned int index)
{
	int ret = vf_adapter_open(index, &v->adapter);
	unsigned int none = 0;

	/* Keep all on one processor, so that durations do not depend on the scheduler. */
	pin(0, 0);
	pin_kthread("vfence", 0);
	pin_kthread("irq/", 0);
	if (!thread_count)
		each_kthread("irq/", open_thread, 0);
	v->value = 0;
	ret = ret ? ret : vf_device_create(v->adapter, &v->device);
	ret = ret ? ret : vf_queue_create(v->device, DRM_VFENCE_NODE_COPY, 65536, &v->queue);
	ret = ret ? ret : vf_queue_read_log(v->queue, DRM_VFENCE_LOG_SIGNALS, NULL, &none, NULL);
	return ret ? ret : vf_fence_create(v->device, 0, 0, &v->fence);
}

static void victim_close(struct victim *v)
{
	vf_queue_destroy(v->queue);
	vf_fence_destroy(v->fence);
	vf_device_destroy(v->device);
	vf_adapter_close(v->adapter);
}

/* One GPU signal that interrupts, as an event waits for it, after some packets. */
static int victim_round(struct victim *v, unsigned int packets)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int ret = arm(v->adapter, v->fence, ++v->value, efd);

	while (packets--)
		vf_cmd_nop(v->queue, 8);
	vf_cmd_signal(v->queue, v->fence, v->value);
	ret = ret ? ret : vf_queue_submit(v->queue);
	if (!ret && poll(&(struct pollfd){ efd, POLLIN, 0 }, 1, 10000) != 1)
		ret = -ETIME;
	close(efd);
	return ret;
}

/* Return: time in ns that the interrupt threads have taken so far. */
static uint64_t threads_ns(void)
{
	uint64_t ns = 0;
	unsigned int i;

	for (i = 0; i < thread_count; i++) {
		char text[64] = "";

		if (pread(thread_files[i], text, sizeof(text) - 1, 0) > 0)
			ns += strtoull(text, NULL, 10);
	}
	return ns;
}

static int compare_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* Have interrupt threads preempt the engines as soon as they are woken, or no longer. */
static void threads_preempt(bool on)
{
	unsigned int i;

	for (i = 0; i < thread_count; i++)
		hurry(threads[i], on);
}

/*
 * Return: time of both halves of the interrupt for one round in ns; 0 on an error. A packet may
 * interrupt twice: a thread that preempts the engine has two runs in each round, where one of
 * normal priority has two in some and one, for half the time, in others. In some rounds a timer
 * interrupts the thread: a low rank leaves these out. A round is shorter than an engine needs to
 * fall asleep, which would interrupt, too.
 */
static uint64_t victim_measure(struct victim *v)
{
	/* Where figures are not exact, and are not checked, a few rounds are enough. */
	unsigned int rounds = deterministic() ? ROUNDS : 10, i;
	uint64_t cost[ROUNDS], hard = counters(v->adapter).handler_ns;

	/* A thread changes its own priority when it runs for the first time. */
	if (victim_round(v, 0))
		return 0;
	nap();
	threads_preempt(true);
	for (i = 0; i < rounds; i++) {
		long length = 100000 + i * 37 % ROUNDS * 1000;
		uint64_t before = threads_ns();

		if (victim_round(v, i % 8))
			break;
		/* The thread sleeps before the next round: each round has one run of it. */
		nanosleep(&(struct timespec){ .tv_nsec = length }, NULL);
		cost[i] = threads_ns() - before;
	}
	threads_preempt(false);
	if (i < rounds)
		return 0;
	hard = counters(v->adapter).handler_ns - hard;
	qsort(cost, rounds, sizeof(*cost), compare_ns);
	return cost[RANK] ? cost[RANK] + hard / rounds : 0;
}

/* Clients that own many objects. */
struct crowd {
	struct vf_adapter *adapter[MAX_CROWD];
	unsigned int count;
};

static struct vf_device *crowd_add(struct crowd *crowd, unsigned int index)
{
	struct vf_device *device;

	if (vf_adapter_open(index, &crowd->adapter[crowd->count]))
		return NULL;
	if (vf_device_create(crowd->adapter[crowd->count++], &device))
		return NULL;
	return device;
}

static bool crowd_of_queues(struct crowd *crowd, unsigned int index, unsigned int queues)
{
	struct vf_device *device = NULL;
	struct vf_queue *queue;
	unsigned int i;

	for (i = 0; i < queues; i++) {
		if (i % 64 == 0)
			device = crowd_add(crowd, index);
		if (!device || vf_queue_create(device, DRM_VFENCE_NODE_COPY, 4096, &queue))
			return false;
	}
	return true;
}

/* Wait for the fence until a time that has passed: it has a waiter for a moment. */
static bool wait_in_vain(int fd, uint32_t handle)
{
	struct drm_vfence_fence_point point = { .fence = handle, .value = 1 };
	struct drm_vfence_wait args = {
		.points = { .array = (uintptr_t)&point, .count = 1, .stride = sizeof(point) },
		.timeout_ns = 1,
	};

	return raw(fd, DRM_IOCTL_VFENCE_WAIT, &args) == -ETIME;
}

/* @had_waiters: each of the fences has had a waiter. */
static bool crowd_of_fences(struct crowd *crowd, unsigned int index, unsigned int fences,
			    bool had_waiters)
{
	struct drm_vfence_fence_create args = { 0 };
	struct vf_device *device = NULL;
	unsigned int i;
	int fd;

	for (i = 0; i < fences; i++) {
		if (i % 4096 == 0)
			device = crowd_add(crowd, index);
		if (!device)
			return false;
		args.device = vf_device_handle(device);
		/* The library would map each fence, and a process has 65,530 mappings at most. */
		fd = vf_adapter_fd(crowd->adapter[crowd->count - 1]);
		if (drmIoctl(fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &args) ||
		    (had_waiters && !wait_in_vain(fd, args.handle)))
			return false;
	}
	return true;
}

#define EXPECT_WITHIN(percent, alone, beside) do {						\
	TH_LOG("%llu alone, %llu beside the others", (unsigned long long)(alone),		\
	       (unsigned long long)(beside));							\
	if (deterministic()) {									\
		EXPECT_LT(0, (alone));								\
		EXPECT_LE((beside) * 100, (alone) * (100 + (percent)));				\
	}											\
} while (0)

FIXTURE(crowd) {
	struct victim victim;
	struct crowd crowd;
};

/*
 * The scheduler of 6.12 keeps some threads that sleep among those that run: to wake such a worker
 * takes the interrupt's thread 1,450 instructions more (requeue_delayed_entity()). Older kernels
 * know no such feature.
 */
static void scheduler_keeps_sleepers(bool on)
{
	write_text("/sys/kernel/debug/sched/features", on ? "DELAY_DEQUEUE" : "NO_DELAY_DEQUEUE");
}

/* One adapter for each form of the interrupt: fences, NULL events, queues, nothing. */
FIXTURE_VARIANT(crowd) { unsigned int index; };
FIXTURE_VARIANT_ADD(crowd, array) { .index = 0, };
FIXTURE_VARIANT_ADD(crowd, null) { .index = 1, };
FIXTURE_VARIANT_ADD(crowd, queue) { .index = 8, };
FIXTURE_VARIANT_ADD(crowd, indistinct) { .index = 10, };

FIXTURE_SETUP(crowd)
{
	memset(self, 0, sizeof(*self));
	NEEDS_PROCESSOR_TIME();
	if (access("/sys/bus/platform/devices/vfence.10/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, victim_open(&self->victim, variant->index));
	scheduler_keeps_sleepers(false);
}

FIXTURE_TEARDOWN(crowd)
{
	scheduler_keeps_sleepers(true);
	/* The process of the test ends here, and with it the objects of the crowd. */
	victim_close(&self->victim);
}

/* The adapter whose engines interrupt for monitored fences. */
#define MONITORED	6

FIXTURE(crowd_alone) {
	struct vf_adapter *adapter;
};

FIXTURE_SETUP(crowd_alone)
{
	NEEDS_PROCESSOR_TIME();
	if (access("/sys/bus/platform/devices/vfence.6/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_adapter_open(MONITORED, &self->adapter));
	if (!thread_count)
		each_kthread("irq/", open_thread, 0);
	scheduler_keeps_sleepers(false);
}

FIXTURE_TEARDOWN(crowd_alone)
{
	scheduler_keeps_sleepers(true);
	/* The process of the test ends here, and with it the objects of the other client. */
	vf_adapter_close(self->adapter);
}

TEST_F_TIMEOUT(crowd, idle_queues_of_others_cost_a_signal_nothing, 300)
{
	uint64_t alone = victim_measure(&self->victim), beside;

	ASSERT_TRUE(crowd_of_queues(&self->crowd, variant->index, deterministic() ? 2000 : 64));
	beside = victim_measure(&self->victim);
	EXPECT_WITHIN(5, alone, beside);
}

TEST_F_TIMEOUT(crowd, fences_of_others_without_waiters_cost_a_signal_nothing, 300)
{
	uint64_t alone = victim_measure(&self->victim), beside;

	ASSERT_TRUE(crowd_of_fences(&self->crowd, variant->index, deterministic() ? 100000 : 500,
				    false));
	beside = victim_measure(&self->victim);
	EXPECT_WITHIN(5, alone, beside);
}

/* The first scan finds that they need none: what is measured are the signals after it. */
TEST_F_TIMEOUT(crowd, fences_of_others_that_had_waiters_cost_a_signal_nothing, 300)
{
	uint64_t alone = victim_measure(&self->victim), beside;

	ASSERT_TRUE(crowd_of_fences(&self->crowd, variant->index, deterministic() ? 10000 : 500,
				    true));
	beside = victim_measure(&self->victim);
	EXPECT_WITHIN(5, alone, beside);
}

/* Return: time of the interrupt for a signal of a monitored fence, which its record does not name. */
static uint64_t monitored_measure(struct vf_adapter *adapter)
{
	struct victim v = { .adapter = adapter };
	uint64_t ns = 0;

	if (!vf_device_create(adapter, &v.device) &&
	    !vf_kernel_queue_create(v.device, DRM_VFENCE_NODE_COPY, &v.queue) &&
	    !vf_monitored_fence_create(v.device, 0, 0, &v.fence))
		ns = victim_measure(&v);
	vf_queue_destroy(v.queue);
	vf_fence_destroy(v.fence);
	vf_device_destroy(v.device);
	return ns;
}

/* A client that sleeps, and waits for @count monitored fences. */
static int await_monitored(unsigned int count, int efd)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		if (i % 500 == 0) {
			ret = vf_adapter_open(MONITORED, &adapter);
			ret = ret ? ret : vf_device_create(adapter, &device);
		}
		ret = ret ? ret : vf_monitored_fence_create(device, 0, 0, &fence);
		ret = ret ? ret : arm(adapter, fence, 1, efd);
	}
	return ret;
}

TEST_F_TIMEOUT(crowd_alone, WDDM_130_monitored_fences_of_others_cost_a_signal_nothing, 300)
{
	unsigned int count = deterministic() ? 10000 : 500;
	uint64_t alone, beside;

	alone = monitored_measure(self->adapter);
	ASSERT_EQ(0, await_monitored(count, eventfd(0, EFD_CLOEXEC)));
	beside = monitored_measure(self->adapter);
	EXPECT_WITHIN(5, alone, beside);
}

static unsigned int threads_seen, threads_realtime;

/* Count the interrupt threads of the module, and those that are not SCHED_OTHER. */
static void check_thread(pid_t task, int unused)
{
	char path[64], comm[32] = "";
	FILE *f;

	(void)unused;
	snprintf(path, sizeof(path), "/proc/%d/comm", task);
	f = fopen(path, "re");
	if (f && !fgets(comm, sizeof(comm), f))
		comm[0] = 0;
	if (f)
		fclose(f);
	/* The name is cut after 15 characters. */
	if (!strstr(comm, "-vfence"))
		return;
	threads_seen++;
	threads_realtime += sched_getscheduler(task) != SCHED_OTHER;
}

TEST(the_interrupt_thread_runs_at_normal_priority)
{
	struct victim v;

	ASSERT_EQ(0, victim_open(&v, 0));
	ASSERT_EQ(0, victim_round(&v, 0));
	/* The thread changes its priority when it runs for the first time. */
	EXPECT_TRUE(EVENTUALLY((threads_seen = threads_realtime = 0,
				each_kthread("irq/", check_thread, 0),
				threads_seen > threads_realtime)));
	victim_close(&v);
}

/* Return: how often a thread has gone to sleep, or -1. */
static int64_t runs_of(pid_t task)
{
	char path[64], line[200];
	long long runs = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", task);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "voluntary_ctxt_switches: %lld", &runs) != 1)
		;
	if (f)
		fclose(f);
	return runs;
}

/* Return: how often the interrupts' threads have run so far; less than 0 if that is not known. */
static int64_t thread_runs(void)
{
	int64_t sum = 0, runs = -1;
	unsigned int i;

	for (i = 0; i < thread_count; i++) {
		runs = runs_of(threads[i]);
		if (runs < 0)
			break;
		sum += runs;
	}
	return runs < 0 ? runs : sum;
}

/* Return: how often the interrupts' threads run in 10 rounds; less than 0 on an error. */
static int64_t runs_in_rounds(struct victim *v)
{
	int64_t before = thread_runs();
	unsigned int i;

	for (i = 0; i < 10; i++) {
		if (before < 0 || victim_round(v, 0))
			return -1;
		/* The thread sleeps again before the next round. */
		nap();
	}
	return thread_runs() - before;
}

/* Adapter 0 has interrupts that name fences. */
TEST(a_signal_wakes_the_interrupt_thread_only_if_somebody_reads_its_log)
{
	struct vf_queue *idle;
	unsigned int none = 0;
	struct victim v;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, victim_open(&v, 0));
	EXPECT_LE(10, runs_in_rounds(&v));
	/* Another queue takes its place, whose log nobody reads. */
	vf_queue_destroy(v.queue);
	ASSERT_EQ(0, vf_queue_create(v.device, DRM_VFENCE_NODE_COPY, 65536, &v.queue));
	EXPECT_EQ(0, runs_in_rounds(&v));
	/* Nor is it read because somebody reads that of a queue without news. */
	ASSERT_EQ(0, vf_queue_create(v.device, DRM_VFENCE_NODE_COPY, 4096, &idle));
	ASSERT_EQ(0, vf_queue_read_log(idle, DRM_VFENCE_LOG_SIGNALS, NULL, &none, NULL));
	EXPECT_EQ(0, runs_in_rounds(&v));
	vf_queue_destroy(idle);
	/* Nor because its entries were kept when its buffer was replaced. */
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "1"));
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "0"));
	EXPECT_EQ(0, runs_in_rounds(&v));
	/* These are read, and so are the next ones. */
	ASSERT_EQ(0, vf_queue_read_log(v.queue, DRM_VFENCE_LOG_WAITS, NULL, &none, NULL));
	EXPECT_LE(10, runs_in_rounds(&v));
	victim_close(&v);
}

FIXTURE(alone) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	int efd;
};

FIXTURE_SETUP(alone)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE |
				     DRM_VFENCE_FENCE_CROSS_ADAPTER, 0, &self->fence));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(alone)
{
	close(self->efd);
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

TEST_F(alone, a_cross_adapter_fence_of_one_adapter_interrupts_for_waiters_only)
{
	struct vf_counters before, after;
	unsigned int i;

	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
	ASSERT_TRUE(settled(self->adapter, &before));
	for (i = 1; i <= 50; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.posts, after.posts);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 60, self->efd));
	EXPECT_EQ(59, monitored(self->fence));
	vf_cmd_signal(self->gfx, self->fence, 60);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
}

TEST_F(alone, a_second_adapter_that_joins_misses_no_signal)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *there;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), fd;
	uint64_t value = 100;
	int ret;

	if (vf_adapter_open(2, &adapter))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	fd = vf_fence_export(self->fence);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1000, self->efd));
	EXPECT_EQ(999, monitored(self->fence));

	/* The signal is executed at some point of the join. */
	vf_cmd_draw(self->gfx, 1, 20000);
	vf_cmd_signal(self->gfx, self->fence, value);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_EQ(0, vf_fence_open(device, fd, &there));
	EXPECT_EQ(0, monitored(self->fence));
	EXPECT_EQ(0, monitored(there));
	ret = arm(adapter, there, value, efd);
	ASSERT_LE(0, ret);
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_EQ(8, read(efd, &(uint64_t){ 0 }, 8));

	/* The first member monitors for the second now. */
	ASSERT_EQ(0, arm(adapter, there, value + 1, efd));
	vf_cmd_signal(self->gfx, self->fence, value + 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_EQ(0, fired_on(self->adapter, self->efd));
	ASSERT_EQ(0, vf_fence_signal(there, 1000));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	close(efd);
	vf_fence_destroy(there);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
	close(fd);
}

FIXTURE(flood) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	struct vf_adapter *far;
	struct vf_device *far_device;
	struct vf_fence *there;
	int shared;
};

/* A fence that two adapters have open interrupts for each of its signals. */
FIXTURE_SETUP(flood)
{
	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_adapter_open(2, &self->far));
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE |
				     DRM_VFENCE_FENCE_CROSS_ADAPTER, 0, &self->fence));
	self->shared = vf_fence_export(self->fence);
	ASSERT_EQ(0, vf_device_create(self->far, &self->far_device));
	ASSERT_EQ(0, vf_fence_open(self->far_device, self->shared, &self->there));
}

FIXTURE_TEARDOWN(flood)
{
	inject(0, "hold_posts", "0");
	vf_fence_destroy(self->there);
	vf_device_destroy(self->far_device);
	vf_adapter_close(self->far);
	close(self->shared);
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

/* More signals than a client's share of the FIFO of the CMP. They fit into a ring. */
#define FLOOD	600

TEST_F(flood, a_flood_of_signals_stalls_the_queue_that_floods)
{
	struct vf_counters before, held, after;
	struct victim victim;
	unsigned int i;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_EQ(0, victim_open(&victim, 0));
	ASSERT_TRUE(settled(self->adapter, &before));
	/* A CMP that handles nothing stands for one that is slower than the engines. */
	ASSERT_EQ(0, inject(0, "hold_posts", "1"));
	for (i = 1; i <= FLOOD; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	for (i = 1; i <= FLOOD; i++)
		vf_cmd_signal(self->copy, self->fence, i);
	ASSERT_EQ(0, vf_queue_publish(self->copy));
	ASSERT_TRUE(EVENTUALLY(counters(self->adapter).posts >= before.posts + 200));

	/* The signal of the other client takes its place in the FIFO, also after a while. */
	ASSERT_EQ(0, arm(victim.adapter, victim.fence, 1, efd));
	vf_cmd_draw(victim.queue, 1, SECOND / 10);
	vf_cmd_signal(victim.queue, victim.fence, 1);
	ASSERT_EQ(0, vf_queue_submit(victim.queue));
	EXPECT_TRUE(drained(victim.queue));
	held = counters(self->adapter);
	EXPECT_EQ(before.cmp_overflowed, held.cmp_overflowed);
	EXPECT_LT(held.posts - before.posts, FLOOD);
	EXPECT_GT(FLOOD, vf_fence_current(self->fence));

	ASSERT_EQ(0, inject(0, "hold_posts", "0"));
	/* The next flush wakes the CMP. */
	vf_queue_destroy(victim.queue);
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_IDLE));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.scans, after.scans);
	EXPECT_EQ(before.cmp_overflowed, after.cmp_overflowed);
	ASSERT_EQ(0, vf_queue_create(victim.device, DRM_VFENCE_NODE_COPY, 4096, &victim.queue));
	victim_close(&victim);
	close(efd);
}

/* A signal that waits for room has not begun, so its queue can leave every engine. */
TEST_F(flood, a_queue_that_stalls_keeps_nobody_off_and_is_not_stopped)
{
	struct vf_counters before = counters(self->adapter);
	struct vf_queue *mm, *beside;
	struct victim victim;
	unsigned int i;

	ASSERT_EQ(0, victim_open(&victim, 0));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_MM, 65536, &mm));
	ASSERT_EQ(0, vf_queue_create(victim.device, DRM_VFENCE_NODE_MM, 4096, &beside));
	ASSERT_EQ(0, inject(0, "hold_posts", "1"));
	for (i = 1; i <= FLOOD; i++)
		vf_cmd_signal(mm, self->fence, i);
	ASSERT_EQ(0, vf_queue_publish(mm));
	ASSERT_TRUE(EVENTUALLY(counters(self->adapter).posts >= before.posts + 200));

	/* Longer than the preemption time-out, in jobs that leave the engine in between. */
	for (i = 0; i < 30; i++)
		vf_cmd_draw(beside, 1, SECOND / 100);
	ASSERT_EQ(0, vf_queue_submit(beside));
	EXPECT_TRUE(drained(beside));
	EXPECT_EQ(DRM_VFENCE_FAULT_NONE, queue_fault(mm));
	EXPECT_GT(FLOOD, vf_fence_current(self->fence));

	ASSERT_EQ(0, inject(0, "hold_posts", "0"));
	/* The next flush wakes the CMP. */
	vf_queue_destroy(beside);
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == FLOOD));
	vf_queue_destroy(mm);
	victim_close(&victim);
}

/* What the FIFO of the CMP takes of one client, and of a client that has few posts in it. */
#define SHARE	224
#define FEW	8
#define FILLERS	(4 + 16)

/*
 * Fill the FIFO: four clients reach their share, which leaves a reserve, and the others take that.
 * A waiter for the first value makes each signal post. Return: true if the FIFO is full.
 */
static bool fill_fifo(struct victim *filler, int efd)
{
	unsigned int i, k;
	uint64_t posts;

	for (i = 0; i < FILLERS; i++)
		if (victim_open(&filler[i], 0) || arm(filler[i].adapter, filler[i].fence, 1, efd))
			return false;
	posts = counters(filler[0].adapter).posts;
	if (inject(0, "hold_posts", "1"))
		return false;
	for (i = 0; i < FILLERS; i++) {
		posts += i < 4 ? SHARE : FEW;
		for (k = 1; k <= FLOOD; k++)
			vf_cmd_signal(filler[i].queue, filler[i].fence, k);
		if (vf_queue_publish(filler[i].queue) ||
		    !EVENTUALLY(counters(filler[0].adapter).posts >= posts))
			return false;
	}
	return true;
}

/* The next post wakes the CMP: a signal of a fence of two adapters. */
static int empty_fifo(FIXTURE_DATA(flood) *self)
{
	int ret = inject(0, "hold_posts", "0");

	vf_cmd_signal(self->copy, self->fence, 1);
	return ret ? ret : vf_queue_submit(self->copy);
}

TEST_F_TIMEOUT(flood, a_full_fifo_loses_no_value_that_is_rewound, 120)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), other = eventfd(0, EFD_CLOEXEC);
	uint64_t overflowed = counters(self->adapter).cmp_overflowed;
	struct victim victim, filler[FILLERS];
	unsigned int i;

	ASSERT_EQ(0, victim_open(&victim, 0));
	ASSERT_EQ(0, arm(victim.adapter, victim.fence, 10, efd));
	ASSERT_TRUE(fill_fifo(filler, other));
	EXPECT_EQ(overflowed, counters(self->adapter).cmp_overflowed);
	vf_cmd_signal(victim.queue, victim.fence, 10);
	vf_cmd_signal(victim.queue, victim.fence, 1);
	ASSERT_EQ(0, vf_queue_submit(victim.queue));
	ASSERT_TRUE(drained(victim.queue));
	EXPECT_LT(overflowed, counters(self->adapter).cmp_overflowed);
	EXPECT_FALSE(fired(efd));
	ASSERT_EQ(0, empty_fifo(self));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	for (i = 0; i < FILLERS; i++)
		victim_close(&filler[i]);
	victim_close(&victim);
	close(other);
	close(efd);
}

TEST_F_TIMEOUT(flood, a_full_fifo_loses_no_fault, 120)
{
	const struct drm_vfence_packet_header bad = { .opcode = 50, .length = sizeof(bad) };
	int other = eventfd(0, EFD_CLOEXEC);
	struct victim victim, filler[FILLERS];
	unsigned int i;

	ASSERT_EQ(0, victim_open(&victim, 0));
	ASSERT_TRUE(fill_fifo(filler, other));
	vf_cmd_raw(victim.queue, &bad, sizeof(bad));
	ASSERT_EQ(0, vf_queue_publish(victim.queue));
	ASSERT_TRUE(EVENTUALLY(queue_fault(victim.queue) != DRM_VFENCE_FAULT_NONE));
	ASSERT_EQ(0, empty_fifo(self));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(victim.device) ==
			       DRM_VFENCE_DEVICE_ERROR_DMAFAULT));
	for (i = 0; i < FILLERS; i++)
		victim_close(&filler[i]);
	victim_close(&victim);
	close(other);
}

#define BURST	300

static pid_t cmp;

static void find_cmp(pid_t task, int unused)
{
	(void)unused;
	cmp = task;
}

/*
 * The thread of an engine writes the record of a single signal itself. It leaves signals that come one
 * after the other to the thread of the CMP: then several share a record.
 */
TEST(a_burst_of_signals_is_left_to_the_cmp)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_counters before, after;
	struct victim v;
	unsigned int i;
	int64_t runs;

	ASSERT_EQ(0, victim_open(&v, 0));
	each_kthread("vfence0-cmp", find_cmp, 0);
	/* One by one they have a record each, and the thread of the CMP sleeps. */
	ASSERT_TRUE(settled(v.adapter, &before));
	ASSERT_TRUE(EVENTUALLY((runs = runs_of(cmp), nap(), runs == runs_of(cmp))));
	ASSERT_LE(0, runs);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, victim_round(&v, 0));
		nap();
	}
	EXPECT_EQ(runs, runs_of(cmp));
	ASSERT_TRUE(settled(v.adapter, &after));
	EXPECT_EQ(before.records_array + 10, after.records_array);

	for (i = 1; i <= BURST; i++) {
		ASSERT_EQ(0, arm(v.adapter, v.fence, v.value + i, efd));
		vf_cmd_signal(v.queue, v.fence, v.value + i);
	}
	ASSERT_TRUE(settled(v.adapter, &before));
	ASSERT_EQ(0, vf_queue_submit(v.queue));
	ASSERT_TRUE(EVENTUALLY((after = counters(v.adapter),
				after.waits_satisfied == before.waits_satisfied + BURST)));
	TH_LOG("%llu records of %u signals",
	       (unsigned long long)(after.records_array - before.records_array), BURST);
	/* Posts come one after the other only where what the CMP does for one takes time. */
	if (counts_instructions())
		EXPECT_GT(BURST / 2, after.records_array - before.records_array);
	victim_close(&v);
	close(efd);
}

/* Return: GPU time that a signal costs its queue while @waiters events of others wait for it, in ns. */
static uint64_t ns_of_a_signal(struct victim *v, unsigned int waiters, int efd)
{
	uint64_t busy = node_busy_ns(v->adapter, DRM_VFENCE_NODE_COPY);
	unsigned int i, k;

	for (i = 0; i < 100; i++) {
		for (k = 0; k < waiters; k++)
			if (arm(v->adapter, v->fence, v->value + 1, efd))
				return 0;
		if (victim_round(v, 0))
			return 0;
		/* The next one is reported by the engine again. */
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	}
	return (node_busy_ns(v->adapter, DRM_VFENCE_NODE_COPY) - busy) / 100;
}

/* The interrupt comes on the processor of the engine that raises it. */
TEST(who_waits_for_a_signal_does_not_cost_its_queue_gpu_time)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t alone, beside;
	struct victim v;

	ASSERT_EQ(0, victim_open(&v, 0));
	alone = ns_of_a_signal(&v, 0, efd);
	beside = ns_of_a_signal(&v, 3, efd);
	EXPECT_WITHIN(5, alone, beside);
	victim_close(&v);
	close(efd);
}

FIXTURE(waiters) {
	struct victim victim;
	struct victim attacker;
	int efd;
};

FIXTURE_SETUP(waiters)
{
	ASSERT_EQ(0, victim_open(&self->victim, 0));
	ASSERT_EQ(0, victim_open(&self->attacker, 0));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(waiters)
{
	close(self->efd);
	victim_close(&self->attacker);
	victim_close(&self->victim);
}

TEST_F(waiters, the_interrupt_handler_is_short_whatever_clients_wait_for)
{
	struct vf_counters c;
	int set[200];
	unsigned int i;

	/* Many events that one interrupt satisfies, and an eventfd with long wake-ups. */
	ASSERT_TRUE(slow_down(self->efd, set, 200));
	for (i = 0; i < 600; i++)
		ASSERT_EQ(0, arm(self->attacker.adapter, self->attacker.fence, 1 + i % 3,
				 self->efd));
	for (i = 1; i <= 3; i++)
		vf_cmd_signal(self->attacker.queue, self->attacker.fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->attacker.queue));
	ASSERT_EQ(0, vf_fence_wait(self->attacker.fence, 3, DEADLINE));
	ASSERT_TRUE(settled(self->attacker.adapter, &c));
	EXPECT_TRUE(EVENTUALLY(monitored(self->attacker.fence) == NOT_MONITORED));
	c = counters(self->attacker.adapter);
	TH_LOG("longest run of the handler: %llu ns", (unsigned long long)c.handler_max_ns);
	if (deterministic())
		EXPECT_GE(20000, c.handler_max_ns);
	for (i = 0; i < 200; i++)
		close(set[i]);
}

/* Threads that sleep in SUBMIT: the dma_fence of their submission must not wait for a fence. */
#define SLEEPERS	400

struct sleeper {
	struct victim *client;
	uint32_t queue, syncobj;
	pid_t tid;
	int ret;
};

static void *sleep_in_submit(void *arg)
{
	struct sleeper *s = arg;
	struct drm_vfence_submit_queue queue = { .queue = s->queue };
	struct drm_vfence_submit_op ops[] = {
		{ DRM_VFENCE_SUBMIT_WAIT_FENCE, vf_fence_handle(s->client->fence), 1 },
		{ DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ, s->syncobj, 0 },
	};
	struct drm_vfence_submit submit = {
		.queues = { .array = (uintptr_t)&queue, .count = 1, .stride = sizeof(queue) },
		.ops = DRM_VFENCE_OBJ_ARRAY(2, ops),
	};

	__atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
	/* There is room for 256 submissions of a queue. */
	do {
		s->ret = raw(vf_adapter_fd(s->client->adapter), DRM_IOCTL_VFENCE_SUBMIT, &submit);
	} while (s->ret == -ENOSPC);
	return NULL;
}

TEST_F_TIMEOUT(waiters, threads_that_sleep_in_submit_do_not_lengthen_the_handler, 120)
{
	static struct sleeper sleeper[SLEEPERS];
	static pthread_t thread[SLEEPERS];
	struct vf_queue *kernel;
	pthread_attr_t attr;
	struct vf_counters c;
	unsigned int i;

	ASSERT_EQ(0, vf_kernel_queue_create(self->attacker.device, DRM_VFENCE_NODE_GFX, &kernel));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < SLEEPERS; i++) {
		sleeper[i] = (struct sleeper){
			.client = &self->attacker, .queue = vf_queue_handle(kernel), .ret = -EBUSY,
		};
		ASSERT_EQ(0, drmSyncobjCreate(vf_adapter_fd(self->attacker.adapter), 0,
					      &sleeper[i].syncobj));
		ASSERT_EQ(0, pthread_create(&thread[i], &attr, sleep_in_submit, &sleeper[i]));
	}
	for (i = 0; i < SLEEPERS; i++)
		ASSERT_TRUE(EVENTUALLY(sleeps_in(&sleeper[i].tid, SYS_ioctl)));
	vf_cmd_signal(self->attacker.queue, self->attacker.fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->attacker.queue));
	for (i = 0; i < SLEEPERS; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, sleeper[i].ret);
		drmSyncobjDestroy(vf_adapter_fd(self->attacker.adapter), sleeper[i].syncobj);
	}
	c = counters(self->attacker.adapter);
	TH_LOG("longest run of the handler: %llu ns", (unsigned long long)c.handler_max_ns);
	if (deterministic())
		EXPECT_GE(20000, c.handler_max_ns);
	pthread_attr_destroy(&attr);
	vf_queue_destroy(kernel);
}

TEST_F(waiters, an_event_is_set_before_a_later_wait_of_its_client_ends)
{
	unsigned int i;

	for (i = 1; i <= 100; i++) {
		ASSERT_EQ(0, arm(self->victim.adapter, self->victim.fence, i, self->efd));
		/* The wait begins before the signals, so that interrupts end both. */
		vf_cmd_draw(self->victim.queue, 1, 300000);
		vf_cmd_signal(self->victim.queue, self->victim.fence, i);
		ASSERT_EQ(0, vf_queue_submit(self->victim.queue));
		ASSERT_EQ(0, vf_fence_wait(vf_queue_progress(self->victim.queue),
					   vf_queue_last_queued(self->victim.queue), DEADLINE));
		/* A slow machine may begin the wait too late: memory ends it then. */
		EXPECT_TRUE(deterministic() ? fired(self->efd) : EVENTUALLY(fired(self->efd)));
		EXPECT_EQ(8, read(self->efd, &(uint64_t){ 0 }, 8));
	}
}

static bool arm_many(struct victim *v, unsigned int events, uint64_t value, int efd)
{
	while (events && !arm(v->adapter, v->fence, value, efd))
		events--;
	return !events;
}

TEST_F(waiters, a_signal_returns_after_the_eventfds_of_its_own_client)
{
	uint64_t events = 0;
	unsigned int i;
	int set[200];

	ASSERT_TRUE(arm_many(&self->victim, 2000, 1, self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->victim.fence, 1));
	EXPECT_EQ(8, read(self->efd, &events, 8));
	EXPECT_EQ(2000, events);
	/* It takes more than one time slice to signal them, so no other thread does it by luck. */
	ASSERT_TRUE(slow_down(self->efd, set, 200));
	ASSERT_TRUE(arm_many(&self->victim, 2000, 2, self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->victim.fence, 2));
	EXPECT_EQ(8, read(self->efd, &events, 8));
	EXPECT_EQ(2000, events);
	for (i = 0; i < 200; i++)
		close(set[i]);
}

TEST_F(waiters, a_signal_releases_all_queues_that_it_satisfies_and_no_other)
{
	struct vf_queue *queue[60];
	unsigned int i;

	for (i = 0; i < 60; i++) {
		ASSERT_EQ(0, vf_queue_create(self->attacker.device, DRM_VFENCE_NODE_COPY, 4096,
					     &queue[i]));
		/* Two queues wait for each value. */
		vf_cmd_wait(queue[i], self->attacker.fence, 1 + i / 2);
		ASSERT_EQ(0, vf_queue_submit(queue[i]));
		ASSERT_TRUE(EVENTUALLY(queue_state(queue[i]) == DRM_VFENCE_QUEUE_BLOCKED));
	}
	ASSERT_EQ(0, vf_fence_signal(self->attacker.fence, 29));
	for (i = 0; i < 58; i++)
		EXPECT_TRUE(drained(queue[i]));
	EXPECT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(queue[58]));
	EXPECT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(queue[59]));
	vf_cmd_signal(self->attacker.queue, self->attacker.fence, 30);
	ASSERT_EQ(0, vf_queue_submit(self->attacker.queue));
	EXPECT_TRUE(drained(queue[58]));
	EXPECT_TRUE(drained(queue[59]));
	for (i = 0; i < 60; i++)
		vf_queue_destroy(queue[i]);
}

/* Queues of other clients that wait for fences of the victim, half of them for each fence. */
#define WAITING		320

FIXTURE(waiting) {
	struct victim victim;
	struct victim other[WAITING / 64];
	struct vf_fence *fence[2];
	struct vf_fence *opened[WAITING / 64][2];
	struct vf_queue *queue[WAITING];
};

/* Create a fence of the victim, and open it for the others. */
static int share_fence(FIXTURE_DATA(waiting) *self, unsigned int k)
{
	int ret = vf_fence_create(self->victim.device, DRM_VFENCE_FENCE_SHAREABLE, 0,
				  &self->fence[k]);
	int fd = ret ? ret : vf_fence_export(self->fence[k]);
	unsigned int i;

	ret = fd < 0 ? fd : 0;
	for (i = 0; !ret && i < WAITING / 64; i++)
		ret = vf_fence_open(self->other[i].device, fd, &self->opened[i][k]);
	close(fd);
	return ret;
}

FIXTURE_SETUP(waiting)
{
	unsigned int i;

	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, victim_open(&self->victim, 0));
	for (i = 0; i < WAITING / 64; i++) {
		ASSERT_EQ(0, victim_open(&self->other[i], 0));
		/* The queue that a victim has is one of the 64 that a file may have. */
		vf_queue_destroy(self->other[i].queue);
	}
	ASSERT_EQ(0, share_fence(self, 0));
	ASSERT_EQ(0, share_fence(self, 1));
	for (i = 0; i < WAITING; i++)
		ASSERT_EQ(0, vf_queue_create(self->other[i / 64].device, DRM_VFENCE_NODE_COPY,
					     4096, &self->queue[i]));
}

FIXTURE_TEARDOWN(waiting)
{
	/* The process of the test ends here, and with it the objects of the others. */
	vf_fence_destroy(self->fence[1]);
	vf_fence_destroy(self->fence[0]);
	victim_close(&self->victim);
}

/* Have queues @from to @to wait for a value of both fences in turn, or of the first alone. */
static bool wait_from_to(FIXTURE_DATA(waiting) *self, unsigned int from, unsigned int to,
			 unsigned int fences, uint64_t value)
{
	unsigned int i;

	for (i = from; i < to; i++) {
		vf_cmd_wait(self->queue[i], self->opened[i / 64][i % fences], value);
		if (vf_queue_submit(self->queue[i]) ||
		    !EVENTUALLY(queue_state(self->queue[i]) == DRM_VFENCE_QUEUE_BLOCKED))
			return false;
	}
	return true;
}

static bool all_drained(FIXTURE_DATA(waiting) *self)
{
	unsigned int i;

	for (i = 0; i < WAITING; i++)
		if (!drained(self->queue[i]))
			return false;
	return true;
}

/*
 * Return: ticks of the GPU's clock from a signal of the victim's engine to the next one, that of the
 * progress, or 0 on an error. The log has the times at which the values were stored, with all that
 * the engine has done between.
 */
static uint64_t signal_ticks(FIXTURE_DATA(waiting) *self, uint64_t value)
{
	struct drm_vfence_log_entry entry[2];
	unsigned int count = 2;
	uint64_t lost;

	vf_cmd_signal(self->victim.queue, self->fence[0], value);
	if (vf_queue_submit(self->victim.queue) || !logged(self->victim.queue) ||
	    vf_queue_read_log(self->victim.queue, DRM_VFENCE_LOG_SIGNALS, entry, &count, &lost) ||
	    count != 2)
		return 0;
	return entry[1].end_gpu_timestamp - entry[0].end_gpu_timestamp;
}

TEST_F_TIMEOUT(waiting, queues_of_others_that_wait_cost_a_signal_nothing, 120)
{
	uint64_t few, many;

	ASSERT_TRUE(wait_from_to(self, 0, 64, 1, 1));
	few = signal_ticks(self, 1);
	EXPECT_TRUE(all_drained(self));
	ASSERT_TRUE(wait_from_to(self, 0, WAITING, 1, 2));
	many = signal_ticks(self, 2);
	EXPECT_TRUE(all_drained(self));
	EXPECT_LT(0, few);
	EXPECT_WITHIN(25, few, many);
}

#define SIGNALS_AT_ONCE	5

/* Whoever signals several times at once pays for what each signal takes the engine. */
TEST_F_TIMEOUT(waiting, signals_that_release_queues_are_paid_each, 120)
{
	struct vf_queue *queue;
	uint64_t apart, together;
	unsigned int i;

	if (!counts_instructions())
		SKIP(return, "needs exact times of short work");
	ASSERT_EQ(0, vf_queue_create(self->victim.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	for (i = 0; i < SIGNALS_AT_ONCE; i++)
		ASSERT_TRUE(wait_from_to(self, 64 * i, 64 * i + 64, 1, i + 1));
	apart = node_busy_ns(self->victim.adapter, DRM_VFENCE_NODE_GFX);
	for (i = 0; i < SIGNALS_AT_ONCE; i++) {
		vf_cmd_signal(queue, self->fence[0], i + 1);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_TRUE(logged(queue));
	}
	apart = node_busy_ns(self->victim.adapter, DRM_VFENCE_NODE_GFX) - apart;
	ASSERT_TRUE(all_drained(self));

	for (i = 0; i < SIGNALS_AT_ONCE; i++)
		ASSERT_TRUE(wait_from_to(self, 64 * i, 64 * i + 64, 1, i + 11));
	together = node_busy_ns(self->victim.adapter, DRM_VFENCE_NODE_GFX);
	vf_cmd_nop(queue, 8);
	for (i = 0; i < SIGNALS_AT_ONCE; i++)
		vf_cmd_signal(queue, self->fence[0], i + 11);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(logged(queue));
	together = node_busy_ns(self->victim.adapter, DRM_VFENCE_NODE_GFX) - together;
	ASSERT_TRUE(all_drained(self));
	TH_LOG("%u signals take %.3f ms apart, and %.3f ms together", SIGNALS_AT_ONCE, apart / 1e6,
	       together / 1e6);
	EXPECT_LT(0, apart);
	EXPECT_LE(apart * 3 / 4, together);
	vf_queue_destroy(queue);
}

TEST_F_TIMEOUT(waiting, signals_in_succession_leave_no_queue_behind, 120)
{
	struct vf_queue *queue = self->victim.queue;

	/* Each signal finds that its engine has not released all queues of the one before. */
	ASSERT_TRUE(wait_from_to(self, 0, WAITING / 2, 2, 3));
	ASSERT_TRUE(wait_from_to(self, WAITING / 2, WAITING, 2, 4));
	vf_cmd_signal(queue, self->fence[0], 3);
	vf_cmd_signal(queue, self->fence[0], 4);
	vf_cmd_signal(queue, self->fence[0], 1);
	vf_cmd_signal(queue, self->fence[1], 4);
	vf_cmd_signal(queue, self->fence[1], 1);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	EXPECT_TRUE(all_drained(self));

	/* And none is released that waits for more. */
	ASSERT_TRUE(wait_from_to(self, 0, WAITING - 1, 2, 5));
	ASSERT_TRUE(wait_from_to(self, WAITING - 1, WAITING, 2, 6));
	vf_cmd_signal(queue, self->fence[1], 5);
	vf_cmd_signal(queue, self->fence[0], 5);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(self->queue[0]));
	EXPECT_TRUE(drained(self->queue[WAITING - 3]));
	EXPECT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(self->queue[WAITING - 1]));
	ASSERT_EQ(0, vf_fence_signal(self->fence[1], 6));
	EXPECT_TRUE(all_drained(self));
}

TEST_F_TIMEOUT(waiting, a_fence_may_go_while_its_queues_are_released, 120)
{
	unsigned int i, round;

	for (round = 0; round < 3; round++) {
		ASSERT_TRUE(wait_from_to(self, 0, WAITING, 1, 1));
		vf_cmd_signal(self->victim.queue, self->fence[0], 1);
		ASSERT_EQ(0, vf_queue_publish(self->victim.queue));
		/* Engines run with this priority, the work that goes on with the release does not. */
		hurry(0, 1);
		while (vf_fence_current(self->fence[0]) != 1)
			sched_yield();
		for (i = 0; i < WAITING / 64; i++)
			vf_fence_destroy_now(self->opened[i][0]);
		vf_fence_destroy_now(self->fence[0]);
		hurry(0, 0);
		EXPECT_TRUE(all_drained(self));
		ASSERT_EQ(0, share_fence(self, 0));
	}
}

/* Points of the attacker's events: each event has many points of the same fence. */
#define EVENTS	1000
#define POINTS	64

static bool arm_many_points(struct victim *attacker, unsigned int events, int efd, uint64_t value)
{
	struct vf_point point[POINTS];
	unsigned int i;

	for (i = 0; i < POINTS; i++)
		point[i] = (struct vf_point){ attacker->fence, value };
	for (i = 0; i < events; i++)
		if (vf_event_arm(attacker->adapter, point, POINTS, 0, efd, NULL))
			return false;
	return true;
}

static void *signal_for_long(void *arg)
{
	struct victim *attacker = arg;

	attacker->value = vf_fence_signal(attacker->fence, 1000) ? 2 : 1;
	return NULL;
}

/* Return: how often this thread has gone to sleep, and not for others of the processor. */
static long own_sleeps(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
}

TEST_F_TIMEOUT(waiters, signals_of_another_client_do_not_delay_those_of_a_private_fence, 120)
{
	volatile uint64_t *done = &self->attacker.value;
	long slept;
	pthread_t thread;
	unsigned int i;

	ASSERT_TRUE(arm_many_points(&self->attacker, EVENTS, self->efd, 1000));
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_for_long, &self->attacker));
	slept = own_sleeps();
	for (i = 1; !*done; i++)
		ASSERT_EQ(0, vf_fence_signal(self->victim.fence, i));
	slept = own_sleeps() - slept;
	pthread_join(thread, NULL);
	TH_LOG("%u signals, %ld sleeps", i, slept);
	EXPECT_EQ(1, *done);
	EXPECT_TRUE(fired(self->efd));
	/* The victim may lose the processor to the attacker, but never waits for a lock. */
	EXPECT_EQ(0, slept);
	if (counts_instructions())
		EXPECT_LT(10, i);
}

/* Signal a fence by the import of a syncobj that has signaled. */
static int import(struct victim *v, uint64_t value)
{
	int fd = vf_adapter_fd(v->adapter);
	uint32_t syncobj;
	int ret = drmSyncobjCreate(fd, DRM_SYNCOBJ_CREATE_SIGNALED, &syncobj);

	ret = ret ? ret : vf_fence_import_syncobj(v->fence, syncobj, 0, value);
	drmSyncobjDestroy(fd, syncobj);
	return ret;
}

TEST_F_TIMEOUT(waiters, imports_of_another_client_do_not_delay_those_of_a_private_fence, 120)
{
	uint64_t events, more, round;
	bool before = false;
	int64_t begin, took, all;

	/* On one processor the victim waits for time slices of the attacker, seldom for all. */
	for (round = 1; round <= 10 && !before; round++) {
		ASSERT_TRUE(arm_many_points(&self->attacker, EVENTS, self->efd, 1000 * round));
		events = 0;
		begin = vf_deadline(0);
		ASSERT_EQ(0, import(&self->attacker, 1000 * round));
		ASSERT_EQ(0, import(&self->victim, round));
		EXPECT_EQ(0, vf_fence_wait(self->victim.fence, round, DEADLINE));
		took = vf_deadline(0) - begin;
		EXPECT_TRUE(EVENTUALLY((events += read(self->efd, &more, 8) == 8 ? more : 0) ==
				       EVENTS));
		all = vf_deadline(0) - begin;
		TH_LOG("import %lld ns, the other client's %lld ns", (long long)took,
		       (long long)all);
		before |= 2 * all > 3 * took;
	}
	if (counts_instructions())
		EXPECT_TRUE(before);
}

static uint64_t own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Return: processor time in ns of a signal that other clients' events wait for; 0: an error. */
static uint64_t signal_ns(struct vf_fence *fence, uint64_t value, struct victim *events, int efd)
{
	uint64_t begin;
	unsigned int i;

	for (i = 0; i < 500; i++)
		if (arm(events->adapter, events->fence, value, efd))
			return 0;
	begin = own_ns();
	return vf_fence_signal(fence, value) ? 0 : own_ns() - begin;
}

/* Return: a new fence of the victim, which the attacker opens as its own, or NULL. */
static struct vf_fence *share_fence_with(FIXTURE_DATA(waiters) *self, uint32_t rights)
{
	struct vf_fence *shared;
	int fd, ret;

	if (vf_fence_create(self->victim.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &shared))
		return NULL;
	fd = vf_fence_export_rights(shared, rights);
	ret = vf_fence_open(self->attacker.device, fd, &self->attacker.fence);
	close(fd);
	return ret ? NULL : shared;
}

/* Return: processor time in ns of a signal; 0: an error. */
static uint64_t signal_along(FIXTURE_DATA(waiters) *self, struct vf_fence *shared, uint64_t value,
			     unsigned int events)
{
	uint64_t begin, more, seen = 0, ns;

	if (!arm_many_points(&self->attacker, events, self->efd, value))
		return 0;
	begin = own_ns();
	if (vf_fence_signal(shared, value))
		return 0;
	ns = own_ns() - begin;
	/* All of them are set, by whomever. */
	return EVENTUALLY((seen += read(self->efd, &more, 8) == 8 ? more : 0) == events) ? ns : 0;
}

/* Waits of others beyond the first portion are the interrupt's work, and not the signaler's. */
TEST_F(waiters, who_may_only_wait_does_not_cost_the_signaler_time)
{
	struct vf_fence *shared, *own = self->attacker.fence;
	uint64_t few, many, value, again = 0;
	int mine = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	shared = share_fence_with(self, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_NE(NULL, shared);
	few = signal_along(self, shared, 1, 2);
	many = signal_along(self, shared, 2, EVENTS);
	TH_LOG("beside 128 waits %llu ns, beside 64,000 %llu ns", (unsigned long long)few,
	       (unsigned long long)many);
	ASSERT_LT(0, few);
	ASSERT_LT(0, many);
	if (counts_instructions())
		EXPECT_LE(many, 2 * few);

	/* A wait that begins after a rewind is not ended by what is left of a signal before it. */
	ASSERT_TRUE(arm_many_points(&self->attacker, EVENTS, self->efd, 10));
	ASSERT_EQ(0, vf_fence_signal(shared, 10));
	ASSERT_EQ(0, vf_fence_signal(shared, 3));
	ASSERT_EQ(0, arm(self->victim.adapter, shared, 5, mine));
	value = 0;
	EXPECT_TRUE(EVENTUALLY((value += read(self->efd, &again, 8) == 8 ? again : 0) == EVENTS));
	EXPECT_FALSE(fired(mine));
	ASSERT_EQ(0, vf_fence_signal(shared, 5));
	EXPECT_TRUE(EVENTUALLY(fired(mine)));
	close(mine);
	vf_fence_destroy(self->attacker.fence);
	self->attacker.fence = own;
	vf_fence_destroy(shared);
}

TEST_F(waiters, wake_ups_of_an_eventfd_cost_nobody_who_signals_its_fence)
{
	struct vf_fence *shared, *own = self->attacker.fence;
	uint64_t events = 0, more, plain, slow;
	int set[200];
	unsigned int i;

	shared = share_fence_with(self, DRM_VFENCE_RIGHTS_ALL);
	ASSERT_NE(NULL, shared);
	plain = signal_ns(shared, 1, &self->attacker, self->efd);
	ASSERT_TRUE(slow_down(self->efd, set, 200));
	slow = signal_ns(shared, 2, &self->attacker, self->efd);
	TH_LOG("%llu ns, with slow wake-ups %llu ns", (unsigned long long)plain,
	       (unsigned long long)slow);
	ASSERT_LT(0, plain);
	ASSERT_LT(0, slow);
	/* On that clock a worker and this thread take turns, which doubles the time. */
	if (deterministic())
		EXPECT_LE(slow, 3 * plain);
	/* The events fire all the same. */
	EXPECT_TRUE(EVENTUALLY((events += read(self->efd, &more, 8) == 8 ? more : 0) == 1000));
	for (i = 0; i < 200; i++)
		close(set[i]);
	vf_fence_destroy(self->attacker.fence);
	self->attacker.fence = own;
	vf_fence_destroy(shared);
}

/* Native fences and queues of one file. */
static bool hoard(unsigned int index, unsigned int fences, unsigned int queues)
{
	struct crowd crowd = { .count = 0 };
	struct vf_device *device = crowd_add(&crowd, index);
	struct drm_vfence_fence_create args = { 0 };
	struct vf_queue *queue;

	if (!device)
		return false;
	args.device = vf_device_handle(device);
	while (fences--)
		if (drmIoctl(vf_adapter_fd(crowd.adapter[0]), DRM_IOCTL_VFENCE_FENCE_CREATE, &args))
			return false;
	while (queues--)
		if (vf_queue_create(device, DRM_VFENCE_NODE_COPY, 4096, &queue))
			return false;
	return true;
}

/* A child that owns objects, and ends when it is told to. */
struct owner {
	pid_t child;
	int told, tell;
};

static bool owner_start(struct owner *o, unsigned int index, unsigned int fences,
			unsigned int queues)
{
	int to_parent[2], to_child[2];
	char c;

	if (pipe(to_parent) || pipe(to_child))
		return false;
	o->told = to_parent[0];
	o->tell = to_child[1];
	o->child = fork();
	if (!o->child) {
		bool ready;

		/* Without its own copy of this end it ends with its parent. */
		close(to_child[1]);
		/* One file has room for 64 queues. */
		ready = hoard(index, fences, queues % 64);

		for (; ready && queues >= 64; queues -= 64)
			ready = hoard(index, 0, 64);
		_exit(!(ready && write(to_parent[1], "r", 1) == 1 &&
			read(to_child[0], &c, 1) == 1));
	}
	close(to_parent[1]);
	close(to_child[0]);
	return o->child > 0 && read(o->told, &c, 1) == 1;
}

/* Return: time in ns until it has ended. */
static int64_t owner_end(struct owner *o)
{
	int64_t begin = vf_deadline(0);

	if (write(o->tell, "e", 1) != 1)
		return 0;
	waitpid(o->child, NULL, 0);
	begin = vf_deadline(0) - begin;
	close(o->told);
	close(o->tell);
	return begin;
}

/* Return: time in ns until a process with so many objects has ended; 0 on an error. */
static int64_t end_with(unsigned int index, unsigned int fences, unsigned int queues)
{
	struct owner owner;

	return owner_start(&owner, index, fences, queues) ? owner_end(&owner) : 0;
}

TEST_F_TIMEOUT(crowd, closing_a_file_costs_no_visit_of_the_queues_of_others, 300)
{
	int64_t alone, beside;
	struct owner crowd;

	ASSERT_LT(0, end_with(variant->index, 300, 0));
	alone = end_with(variant->index, 300, 0);
	ASSERT_TRUE(owner_start(&crowd, variant->index, 0, deterministic() ? 31 * 64 : 64));
	beside = end_with(variant->index, 300, 0);
	EXPECT_WITHIN(20, alone, beside);
	EXPECT_LT(0, owner_end(&crowd));
}

/* Twice as much takes twice as long, and not four times. */
TEST_F_TIMEOUT(crowd, closing_a_file_takes_time_for_what_it_has, 300)
{
	int64_t half, whole;

	ASSERT_LT(0, end_with(variant->index, 600, 63));
	half = end_with(variant->index, 300, 31);
	whole = end_with(variant->index, 600, 63);
	EXPECT_WITHIN(25, 2 * half, whole);
}

TEST_HARNESS_MAIN
