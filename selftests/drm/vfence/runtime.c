// SPDX-License-Identifier: MIT
/*
 * What a runtime of D3D12 or Vulkan above the library relies on, with kernel-mode queues:
 * waits that were satisfied stay satisfied, signals arrive by value, and a queue that is idle
 * has delivered its signals.
 */

#include "vfence_test.h"

FIXTURE(runtime)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue[3];
	struct vf_fence *fence[4];
	int fd, efd;
};

FIXTURE_VARIANT(runtime)
{
	unsigned int adapter;
	/* The fences are native ones. */
	bool native;
};

FIXTURE_SETUP(runtime)
{
	unsigned int i;

	if (vf_adapter_open(variant->adapter, &self->adapter))
		SKIP(return, "needs the adapters of the guests");
	self->fd = vf_adapter_fd(self->adapter);
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX,
						    &self->queue[i]));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, variant->native ?
			     vf_fence_create(self->device, 0, 0, &self->fence[i]) :
			     vf_monitored_fence_create(self->device, 0, 0, &self->fence[i]));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(runtime)
{
	unsigned int i;

	if (!self->adapter)
		return;
	close(self->efd);
	for (i = 0; i < 3; i++) {
		if (self->queue[i])
			vf_queue_abort(self->queue[i]);
		vf_queue_destroy(self->queue[i]);
	}
	for (i = 0; i < 4; i++)
		vf_fence_destroy(self->fence[i]);
	vf_device_destroy(self->device);
	vf_adapter_close(self->adapter);
}

FIXTURE_VARIANT_ADD(runtime, native) { .adapter = 0, .native = true, };
FIXTURE_VARIANT_ADD(runtime, written_by_packets) { .adapter = 0, };
FIXTURE_VARIANT_ADD(runtime, written_with_interrupts) { .adapter = 1, };
FIXTURE_VARIANT_ADD(runtime, written_by_software) { .adapter = 2, };
FIXTURE_VARIANT_ADD(runtime, interrupts_that_name_queues) { .adapter = 8, };
FIXTURE_VARIANT_ADD(runtime, interrupts_that_name_nothing) { .adapter = 10, };
FIXTURE_VARIANT_ADD(runtime, of_32_bits) { .adapter = 12, };

/* Queue a wait of @queue for @fence, then a signal of @then if it is not NULL, to @value. */
static int wait_then(struct vf_queue *queue, struct vf_fence *fence, struct vf_fence *then,
		     uint64_t value)
{
	struct vf_point wait = { fence, value }, signal = { then, value };
	struct vf_submit what = {
		.flags = then ? DRM_VFENCE_SUBMIT_ALLOW_REWIND : 0,
		.waits = &wait, .wait_count = 1,
		.signals = &signal, .signal_count = then ? 1 : 0,
	};

	return vf_submit(&queue, 1, &what);
}

/* Signal a value by the CPU, also a lower one. */
static int set(struct vf_adapter *adapter, struct vf_fence *fence, uint64_t value)
{
	struct vf_point point = { fence, value };

	return vf_signal_flags(adapter, &point, 1, DRM_VFENCE_SIGNAL_ALLOW_REWIND);
}

/* Signal a value and rewind it. */
static int pulse(struct vf_adapter *adapter, struct vf_fence *fence, uint64_t value)
{
	int ret = set(adapter, fence, value);

	return ret ? ret : set(adapter, fence, 0);
}

static bool idle(struct vf_queue *queue)
{
	return !vf_queue_wait_idle(queue, DEADLINE);
}

TEST_F(runtime, a_wait_behind_an_unmet_one_stays_satisfied)
{
	struct vf_fence *gate = self->fence[0], *early = self->fence[1];

	ASSERT_EQ(0, wait_then(self->queue[0], gate, NULL, 1));
	ASSERT_EQ(0, wait_then(self->queue[0], early, NULL, 1));
	ASSERT_EQ(0, pulse(self->adapter, early, 1));
	ASSERT_EQ(0, set(self->adapter, gate, 1));
	EXPECT_TRUE(idle(self->queue[0]));
}

TEST_F(runtime, a_wait_that_is_satisfied_when_queued_stays_satisfied)
{
	struct vf_fence *gate = self->fence[0], *early = self->fence[1];

	ASSERT_EQ(0, set(self->adapter, early, 1));
	ASSERT_EQ(0, wait_then(self->queue[0], gate, NULL, 1));
	ASSERT_EQ(0, wait_then(self->queue[0], early, NULL, 1));
	ASSERT_EQ(0, set(self->adapter, early, 0));
	ASSERT_EQ(0, set(self->adapter, gate, 1));
	EXPECT_TRUE(idle(self->queue[0]));
}

/* The engine gets to the waits of a user-mode queue when their values are gone. */
TEST_F(runtime, a_kept_wait_of_a_user_mode_queue_stays_satisfied)
{
	struct vf_point points[2] = { { self->fence[0], 1 }, { self->fence[1], 1 } };
	struct vf_fence *gate;
	struct vf_queue *queue;
	unsigned int i;

	if (vf_fence_create(self->device, 0, 0, &gate))
		SKIP(return, "needs native fences");
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COPY, 4096, &queue));
	for (i = 1; i <= 3; i++) {
		vf_cmd_wait(queue, gate, i);
		vf_cmd_wait_kept(queue, points, 2);
		vf_cmd_wait_kept(queue, &points[1], 1);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_EQ(0, pulse(self->adapter, self->fence[0], 1));
		ASSERT_EQ(0, vf_fence_signal(gate, i));
		EXPECT_EQ(-ETIME, vf_queue_wait_idle(queue, vf_deadline(SECOND / 100)));
		ASSERT_EQ(0, pulse(self->adapter, self->fence[1], 1));
		EXPECT_TRUE(idle(queue));
	}
	/* A wrong list fails the next submission, which the queue survives. */
	vf_cmd_wait_kept(queue, points, 0);
	EXPECT_EQ(-EINVAL, vf_queue_submit(queue));
	vf_cmd_wait_kept(self->queue[0], points, 1);
	EXPECT_EQ(-EOPNOTSUPP, vf_queue_submit(self->queue[0]));
	/* A wait that was dropped holds nothing up. */
	vf_cmd_wait_kept(queue, points, 2);
	vf_cmd_nop(queue, 7);
	EXPECT_EQ(-EINVAL, vf_queue_submit(queue));
	vf_cmd_wait_kept(queue, &points[1], 1);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_EQ(0, pulse(self->adapter, self->fence[1], 1));
	EXPECT_TRUE(idle(queue));
	/* A wait that is never satisfied does not keep the queue from being destroyed. */
	vf_cmd_wait_kept(queue, points, 2);
	ASSERT_EQ(0, vf_queue_submit(queue));
	vf_queue_destroy(queue);
	vf_fence_destroy(gate);
}

#define ROUNDS	8

TEST_F(runtime, two_queues_play_ping_pong_while_the_cpu_rewinds)
{
	struct vf_fence *gate = self->fence[0], *ping = self->fence[1], *pong = self->fence[2];
	uint64_t i;

	/* The first queue is held up while its first ball comes and goes. */
	ASSERT_EQ(0, wait_then(self->queue[0], gate, NULL, 1));
	for (i = 1; i <= ROUNDS; i++)
		ASSERT_EQ(0, wait_then(self->queue[0], ping, pong, i));
	ASSERT_EQ(0, pulse(self->adapter, ping, 1));
	for (i = 1; i < ROUNDS; i++) {
		struct vf_point wait = { pong, i }, signal = { ping, i + 1 };
		struct vf_submit what = {
			.flags = DRM_VFENCE_SUBMIT_ALLOW_REWIND,
			.waits = &wait, .wait_count = 1,
			.signals = &signal, .signal_count = 1,
		};

		ASSERT_EQ(0, vf_submit(&self->queue[1], 1, &what));
	}
	ASSERT_EQ(0, set(self->adapter, gate, 1));
	EXPECT_TRUE(idle(self->queue[0]));
	EXPECT_TRUE(idle(self->queue[1]));
}

TEST_F(runtime, a_chain_of_three_queues_passes_while_the_cpu_rewinds)
{
	struct vf_fence *gate = self->fence[0];
	uint64_t i;

	/* Each queue is held up by the gate until its input has come and gone. */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, wait_then(self->queue[i], gate, NULL, i + 1));
		ASSERT_EQ(0, wait_then(self->queue[i], self->fence[1 + i],
				       i < 2 ? self->fence[2 + i] : NULL, 7));
	}
	ASSERT_EQ(0, pulse(self->adapter, self->fence[1], 7));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, set(self->adapter, gate, i + 1));
		ASSERT_TRUE(idle(self->queue[i]));
		if (i < 2)
			ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->fence[2 + i]) == 7));
		if (i < 2)
			ASSERT_EQ(0, set(self->adapter, self->fence[2 + i], 0));
	}
}

/* Submit a signal: by a packet if engines can write the fence, else by software. */
static int submit_signal(struct vf_adapter *adapter, struct vf_queue *queue,
			 struct vf_fence *fence, uint64_t value,
			 const struct vf_syncobj *done)
{
	struct vf_point signal = { fence, value };
	struct vf_submit what = { .signal_syncobjs = done, .signal_syncobj_count = !!done };
	struct drm_vfence_adapter_info info;
	int ret = vf_adapter_info(adapter, &info);

	if (ret)
		return ret;
	if (info.flags & DRM_VFENCE_ADAPTER_MONITORED_SIGNAL) {
		vf_cmd_signal(queue, fence, value);
	} else {
		what.signals = &signal;
		what.signal_count = 1;
	}
	return vf_submit(&queue, 1, &what);
}

/* Submit a signal of 1 and a rewind to 0, back to back. */
static int submit_pulse(struct vf_adapter *adapter, struct vf_queue *queue,
			struct vf_fence *fence)
{
	struct vf_point signals[2] = { { fence, 1 }, { fence, 0 } };
	struct vf_submit what = { 0 };
	struct drm_vfence_adapter_info info;
	int ret = vf_adapter_info(adapter, &info);

	if (ret)
		return ret;
	if (info.flags & DRM_VFENCE_ADAPTER_MONITORED_SIGNAL) {
		vf_cmd_signal(queue, fence, 1);
		vf_cmd_signal(queue, fence, 0);
	} else {
		what.flags = DRM_VFENCE_SUBMIT_ALLOW_REWIND;
		what.signals = signals;
		what.signal_count = 2;
	}
	return vf_submit(&queue, 1, &what);
}

#define ENDS	100

TEST_F(runtime, a_signal_that_the_gpu_rewinds_at_once_fires_each_event)
{
	unsigned int i, events = 0;
	uint64_t count;

	for (i = 0; i < ENDS; i++) {
		ASSERT_EQ(0, arm(self->adapter, self->fence[0], 1, self->efd));
		ASSERT_EQ(0, submit_pulse(self->adapter, self->queue[0], self->fence[0]));
		ASSERT_TRUE(idle(self->queue[0]));
		events += read(self->efd, &count, sizeof(count)) == sizeof(count);
	}
	EXPECT_EQ(ENDS, events);
}

TEST_F(runtime, a_signal_that_the_gpu_rewinds_at_once_releases_a_queue)
{
	unsigned int i;

	for (i = 0; i < ENDS; i++) {
		ASSERT_EQ(0, wait_then(self->queue[1], self->fence[0], NULL, 1));
		ASSERT_EQ(0, submit_pulse(self->adapter, self->queue[0], self->fence[0]));
		ASSERT_TRUE(idle(self->queue[0]));
		ASSERT_TRUE(idle(self->queue[1]));
	}
}

TEST_F(runtime, a_signal_of_the_gpu_that_the_cpu_rewinds_fires_each_event)
{
	unsigned int i;
	uint64_t count;

	for (i = 0; i < ENDS; i++) {
		ASSERT_EQ(0, arm(self->adapter, self->fence[0], 1, self->efd));
		ASSERT_EQ(0, submit_signal(self->adapter, self->queue[0], self->fence[0], 1, NULL));
		ASSERT_TRUE(AT_ONCE(vf_fence_current(self->fence[0]) == 1));
		ASSERT_EQ(0, set(self->adapter, self->fence[0], 0));
		ASSERT_TRUE(EVENTUALLY(fired(self->efd)));
		ASSERT_EQ(sizeof(count), (size_t)read(self->efd, &count, sizeof(count)));
		ASSERT_TRUE(idle(self->queue[0]));
	}
}

TEST_F(runtime, a_queue_that_is_idle_has_delivered_its_signals)
{
	struct vf_fence *packet = self->fence[0], *software = self->fence[1];
	struct vf_point signal = { software, 0 };
	struct vf_submit what = { .signals = &signal, .signal_count = 1 };
	unsigned int i, events = 0, values = 0;
	uint64_t count;

	/* The interrupt comes on another processor, if there is one. */
	pin_kthread("vfence", 1);
	for (i = 1; i <= ENDS; i++) {
		signal.value = i;
		ASSERT_EQ(0, arm(self->adapter, packet, i, self->efd));
		ASSERT_EQ(0, vf_submit(&self->queue[0], 1, &what));
		ASSERT_EQ(0, submit_signal(self->adapter, self->queue[0], packet, i, NULL));
		/* Sleep meanwhile: the queue's work needs the processor. */
		ASSERT_TRUE(EVENTUALLY(vf_fence_current(vf_queue_progress(self->queue[0])) == 2 * i));
		values += vf_fence_current(software) == i;
		if (fired(self->efd))
			events++;
		else
			ASSERT_TRUE(EVENTUALLY(fired(self->efd)));
		ASSERT_EQ(sizeof(count), (size_t)read(self->efd, &count, sizeof(count)));
	}
	EXPECT_EQ(ENDS, events);
	EXPECT_EQ(ENDS, values);
}

/* What the thread that destroys fences needs. */
struct destroyer {
	struct vf_device *device;
	pthread_t thread;
	bool stop;
	int ret;
};

/* The destruction of a fence takes all records of interrupts, and completes the waits that they end. */
static void *destroy_fences(void *arg)
{
	struct destroyer *d = arg;
	struct vf_fence *fence;

	while (!__atomic_load_n(&d->stop, __ATOMIC_RELAXED) && !d->ret) {
		d->ret = vf_fence_create(d->device, 0, 0, &fence);
		vf_fence_destroy(fence);
	}
	return NULL;
}

TEST_F(runtime, a_queue_that_is_idle_has_delivered_what_another_thread_completes)
{
	struct destroyer d = { .device = self->device };
	unsigned int i, events = 0;
	struct vf_fence *native;
	uint64_t count;

	if (vf_fence_create(self->device, 0, 0, &native) == -EOPNOTSUPP)
		SKIP(return, "needs native fences");
	vf_fence_destroy(native);
	pin_kthread("vfence", 1);
	ASSERT_EQ(0, pthread_create(&d.thread, NULL, destroy_fences, &d));
	for (i = 1; i <= ENDS; i++) {
		ASSERT_EQ(0, arm(self->adapter, self->fence[0], i, self->efd));
		ASSERT_EQ(0, submit_signal(self->adapter, self->queue[0], self->fence[0], i, NULL));
		ASSERT_TRUE(EVENTUALLY(vf_fence_current(vf_queue_progress(self->queue[0])) == i));
		if (fired(self->efd))
			events++;
		else
			ASSERT_TRUE(EVENTUALLY(fired(self->efd)));
		ASSERT_EQ(sizeof(count), (size_t)read(self->efd, &count, sizeof(count)));
	}
	__atomic_store_n(&d.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(d.thread, NULL));
	EXPECT_EQ(0, d.ret);
	EXPECT_EQ(ENDS, events);
}

/* More waiters than the interrupt handler and its thread complete in a portion. */
#define MANY	4000

TEST_F(runtime, a_queue_that_is_idle_has_delivered_its_signals_to_many_waiters)
{
	struct vf_fence *packet = self->fence[0];
	unsigned int i, k;
	uint64_t events;

	for (i = 1; i <= 3; i++) {
		for (k = 0; k < MANY; k++)
			ASSERT_EQ(0, arm(self->adapter, packet, i, self->efd));
		ASSERT_EQ(0, submit_signal(self->adapter, self->queue[0], packet, i, NULL));
		ASSERT_TRUE(AT_ONCE(vf_fence_current(vf_queue_progress(self->queue[0])) == i));
		ASSERT_EQ(sizeof(events), (size_t)read(self->efd, &events, sizeof(events)));
		EXPECT_EQ(MANY, events);
		while (events < MANY) {
			uint64_t more = 0;

			ASSERT_TRUE(EVENTUALLY(fired(self->efd)));
			ASSERT_EQ(8, read(self->efd, &more, sizeof(more)));
			events += more;
		}
	}
}

TEST_F(runtime, destroying_an_idle_queue_loses_none_of_its_signals)
{
	struct vf_fence *packet = self->fence[0], *software = self->fence[1];
	struct vf_point signal = { software, 0 };
	struct vf_submit what = { .signals = &signal, .signal_count = 1 };
	unsigned int i;
	uint64_t count;

	for (i = 1; i <= ENDS; i++) {
		struct vf_syncobj done = { 0 };
		struct vf_queue *queue;

		ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &done.handle));
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
		ASSERT_EQ(0, arm(self->adapter, packet, i, self->efd));
		signal.value = i;
		ASSERT_EQ(0, vf_submit(&queue, 1, &what));
		ASSERT_EQ(0, submit_signal(self->adapter, queue, packet, i, &done));
		ASSERT_TRUE(AT_ONCE(vf_fence_current(vf_queue_progress(queue)) == 2));
		vf_queue_destroy(queue);
		EXPECT_EQ(sizeof(count), (size_t)read(self->efd, &count, sizeof(count)));
		EXPECT_EQ(i, vf_fence_current(software));
		EXPECT_EQ(1, syncobj_status(self->fd, done.handle));
		drmSyncobjDestroy(self->fd, done.handle);
	}
}

TEST_F(runtime, destroying_a_blocked_queue_ends)
{
	int64_t start = vf_deadline(0);

	ASSERT_EQ(0, wait_then(self->queue[0], self->fence[0], self->fence[1], 1));
	ASSERT_EQ(0, vf_queue_submit(self->queue[0]));
	vf_queue_destroy(self->queue[0]);
	self->queue[0] = NULL;
	if (deterministic())
		EXPECT_GT(2 * SECOND, vf_deadline(0) - start);
	EXPECT_EQ(0, vf_fence_current(self->fence[1]));
}

/* ------------------------------------------------------------------ order of events */

/* How a queue signals a fence and then another one. */
enum order { IN_ONE_SUBMISSION, IN_TWO, BY_PACKETS, BY_A_USER_MODE_QUEUE, ORDERS };

static int signal_behind(FIXTURE_DATA(runtime) *self, enum order order, struct vf_queue *user,
			 uint64_t value)
{
	struct vf_point signals[2] = { { self->fence[0], value }, { self->fence[1], value } };
	struct vf_submit both = { .signals = signals, .signal_count = 2 },
			 one = { .signals = signals, .signal_count = 1 };
	struct vf_queue *queue = order == BY_A_USER_MODE_QUEUE ? user : self->queue[0];
	int ret;

	if (order == IN_ONE_SUBMISSION)
		return vf_submit(&queue, 1, &both);
	if (order == IN_TWO) {
		ret = vf_submit(&queue, 1, &one);
		one.signals = &signals[1];
		return ret ? ret : vf_submit(&queue, 1, &one);
	}
	vf_cmd_signal(queue, self->fence[0], value);
	vf_cmd_signal(queue, self->fence[1], value);
	return vf_queue_submit(queue);
}

/* How a client waits for the second signal. */
static int wait_once(FIXTURE_DATA(runtime) *self, struct vf_wait_set *set, uint64_t value)
{
	struct vf_wait_set_entry update = { .fence = self->fence[1], .value = value };
	struct drm_vfence_wait_set_ready ready;
	unsigned int count = 1;

	return set ? vf_wait_set_wait(set, &update, 1, NULL, 0, DEADLINE, &ready, &count) :
		     vf_fence_wait(self->fence[1], value, DEADLINE);
}

static bool can_order(FIXTURE_DATA(runtime) *self, const FIXTURE_VARIANT(runtime) *variant,
		      enum order order)
{
	struct drm_vfence_adapter_info info = { 0 };

	if (order == BY_A_USER_MODE_QUEUE)
		return variant->native;
	if (order != BY_PACKETS || variant->native)
		return true;
	return !vf_adapter_info(self->adapter, &info) &&
	       info.flags & DRM_VFENCE_ADAPTER_MONITORED_SIGNAL;
}

/*
 * Runtimes wait until a queue is idle and then look at events without waiting. The signals that the queue
 * has performed before are in memory then, and so are their events: whatever tells the driver of a signal
 * may come later.
 */
TEST_F_TIMEOUT(runtime, events_of_earlier_signals_are_set_when_a_wait_returns, 120)
{
	unsigned int missing[ORDERS][2] = { 0 }, i, sets;
	struct vf_point point = { self->fence[0], 0 };
	struct vf_wait_set *set = NULL;
	struct vf_queue *user = NULL;
	enum order order;
	uint64_t count;

	if (variant->native)
		ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &user));
	for (sets = 0; sets < 2; sets++) {
		if (sets)
			ASSERT_EQ(0, vf_wait_set_create(self->adapter, 1, &set));
		for (order = 0; order < ORDERS; order++)
			for (i = 0; i < 100 && can_order(self, variant, order); i++) {
				point.value++;
				ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
				ASSERT_EQ(0, signal_behind(self, order, user, point.value));
				ASSERT_EQ(0, wait_once(self, set, point.value));
				missing[order][sets] += read(self->efd, &count, 8) != 8;
				ASSERT_EQ(0, vf_queue_wait_idle(self->queue[0], DEADLINE));
				(void)EVENTUALLY(!limit_of(self->adapter, DRM_VFENCE_LIMIT_EVENTS).used);
				(void)!read(self->efd, &count, 8);
			}
	}
	for (order = 0; order < ORDERS; order++)
		for (sets = 0; sets < 2; sets++)
			EXPECT_EQ(0, missing[order][sets]) TH_LOG("order %u, sets %u", order, sets);
	vf_wait_set_destroy(set);
	vf_queue_destroy(user);
}

/* More points than one portion has. */
#define EARLIER	100

static int arm_earlier(FIXTURE_DATA(runtime) *self, uint64_t value, int none)
{
	struct vf_point both[2] = { { self->fence[0], value }, { self->fence[1], value } };
	struct vf_point half[2] = { { self->fence[0], value }, { self->fence[2], value } };
	unsigned int i;
	int ret = 0;

	for (i = 0; i < EARLIER && !ret; i++)
		ret = vf_event_arm(self->adapter, both, 1, 0, self->efd, NULL);
	ret = ret ? ret : vf_event_arm(self->adapter, both, 2, 0, self->efd, NULL);
	ret = ret ? ret : vf_event_arm(self->adapter, half, 2, DRM_VFENCE_WAIT_ANY, self->efd, NULL);
	return ret ? ret : vf_event_arm(self->adapter, half, 2, 0, none, NULL);
}

/* What the driver hears of late is in memory: a wait finds it, as often as it happened, and no more. */
TEST_F(runtime, a_wait_sets_the_events_that_are_reached_without_an_interrupt)
{
	static const char *const late[][2] = { { "hold_posts", "1" }, { "lose_interrupt", "9" } };
	int none = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_queue *user;
	uint64_t count = 0;
	unsigned int i;

	if (!variant->native || geteuid())
		SKIP(return, "needs root, and native fences");
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &user));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, arm_earlier(self, i + 1, none));
		ASSERT_EQ(0, inject(0, late[i][0], late[i][1]));
		vf_cmd_signal(user, self->fence[0], i + 1);
		vf_cmd_signal(user, self->fence[1], i + 1);
		ASSERT_EQ(0, vf_queue_publish(user));
		ASSERT_TRUE(AT_ONCE(vf_fence_current(self->fence[1]) == i + 1));
		/* The signal itself tells nobody. */
		EXPECT_NE(8, read(self->efd, &count, 8));

		ASSERT_EQ(0, vf_fence_wait(self->fence[1], i + 1, DEADLINE));
		EXPECT_EQ(8, read(self->efd, &count, 8));
		EXPECT_EQ(EARLIER + 2, count);
		EXPECT_NE(8, read(none, &count, 8));
		EXPECT_EQ(1, limit_of(self->adapter, DRM_VFENCE_LIMIT_EVENTS).used);

		/* What comes later changes nothing. */
		ASSERT_EQ(0, inject(0, "lose_interrupt", "0"));
		ASSERT_EQ(0, release_posts(0));
		ASSERT_EQ(0, vf_fence_signal(self->fence[2], i + 1));
		EXPECT_TRUE(EVENTUALLY(fired_on(self->adapter, none) == 1));
		EXPECT_EQ(8, read(none, &count, 8));
		EXPECT_NE(8, read(self->efd, &count, 8));
	}
	vf_queue_destroy(user);
	close(none);
}

TEST_HARNESS_MAIN
