// SPDX-License-Identifier: GPL-2.0-only
/* Contexts that leave the GPU and return. */

#include <sys/time.h>

#include "vfence_test.h"

FIXTURE(suspend) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
};

FIXTURE_VARIANT(suspend) {
	unsigned int index;
};

FIXTURE_VARIANT_ADD(suspend, plain) {
	.index = 0,
};

/* The interrupt ring has no room for the acknowledgment. */
FIXTURE_VARIANT_ADD(suspend, null) {
	.index = 1,
};

FIXTURE_SETUP(suspend)
{
	VFENCE_SETUP(variant->index);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
}

FIXTURE_TEARDOWN(suspend)
{
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

/* There are more queues than physical doorbells: the adapter has two. */
FIXTURE(scarce) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
};

FIXTURE_SETUP(scarce)
{
	if (access("/sys/bus/platform/devices/vfence.1/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	VFENCE_SETUP(1);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
}

FIXTURE_TEARDOWN(scarce)
{
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

static uint64_t packets(struct vf_queue *queue)
{
	struct drm_vfence_queue_info query;

	return vf_queue_query(queue, &query) ? 0 : query.packets;
}

static void hang(struct vf_queue *queue)
{
	cmd_hang(queue);
	vf_queue_publish(queue);
}

TEST_F(suspend, WDDM_193_submissions_wait_for_the_resume)
{
	uint64_t before;

	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	/* The queue is connected and resident. The submission is accepted and not executed. */
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(self->gfx));
	before = packets(self->gfx);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(self->gfx));
	/* A queue of another context on this node continues. */
	{
		struct vf_queue *other;

		ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &other));
		ASSERT_EQ(0, vf_queue_submit(other));
		EXPECT_TRUE(drained(other));
		vf_queue_destroy(other);
	}
	EXPECT_EQ(before, packets(self->gfx));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(1, vf_fence_current(self->fence));
}

TEST_F(scarce, WDDM_193_a_victim_of_a_suspended_context_reconnects)
{
	struct vf_queue *more[3];
	unsigned int i;

	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	/*
	 * Wait until the queue is idle, because victims are taken from the idle queues
	 * first. Its work is done before it is idle.
	 */
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &more[i]));
		ASSERT_EQ(0, vf_queue_submit(more[i]));
		ASSERT_TRUE(drained(more[i]));
	}
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(self->gfx));
	vf_cmd_signal(self->gfx, self->fence, 3);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(3, vf_fence_current(self->fence));
	for (i = 0; i < 3; i++)
		vf_queue_destroy(more[i]);
}

TEST_F(suspend, WDDM_194_suspensions_are_numbered_and_acknowledged_while_work_runs)
{
	uint64_t first, second, third;

	/* A hang never ends by itself: only preemption takes the queue off the engine. */
	hang(self->gfx);
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, &first));
	EXPECT_EQ(DRM_VFENCE_QUEUE_READY, queue_state(self->gfx));
	/* A second suspend returns the first suspension. */
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, &second));
	EXPECT_EQ(first, second);
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, &second));
	EXPECT_LT(first, second);
	EXPECT_EQ(DRM_VFENCE_QUEUE_READY, queue_state(self->gfx));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, &third));
	EXPECT_LT(second, third);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
}

TEST_F(suspend, WDDM_194_each_context_has_its_own_numbers)
{
	uint64_t number, i;

	hang(self->copy);
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_RUNNING));
	hang(self->gfx);
	for (i = 1; i <= 3; i++) {
		ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
		number = POISON;
		ASSERT_EQ(0, vf_queue_suspend(self->gfx, &number));
		EXPECT_EQ(i, number);
		/* Only this context has left. */
		EXPECT_EQ(DRM_VFENCE_QUEUE_READY, queue_state(self->gfx));
		EXPECT_EQ(DRM_VFENCE_QUEUE_RUNNING, queue_state(self->copy));
		ASSERT_EQ(0, vf_queue_resume(self->gfx));
	}
	number = POISON;
	ASSERT_EQ(0, vf_queue_suspend(self->copy, &number));
	EXPECT_EQ(1, number);
	EXPECT_EQ(DRM_VFENCE_QUEUE_READY, queue_state(self->copy));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
}

TEST_F(suspend, WDDM_194_a_stale_acknowledgment_is_none)
{
	if (geteuid())
		SKIP(return, "needs root");
	hang(self->gfx);
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	/* The acknowledgment of this suspension is lost. */
	ASSERT_EQ(0, inject(variant->index, "lose_suspend", "1"));
	EXPECT_EQ(-ETIME, vf_queue_suspend(self->gfx, NULL));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
}

static struct drm_vfence_context_info context_state(struct vf_queue *queue)
{
	struct drm_vfence_context_info query;

	if (vf_queue_query_context(queue, &query))
		query.state = UINT32_MAX;
	return query;
}

TEST_F(suspend, WDDM_194_a_query_tells_state_number_and_time)
{
	struct drm_vfence_context_info query = context_state(self->gfx), later;
	uint64_t number;

	EXPECT_EQ(DRM_VFENCE_CONTEXT_RESUMED, query.state);
	EXPECT_EQ(0, query.fence);
	EXPECT_EQ(0, query.suspended_ns);
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, &number));
	query = context_state(self->gfx);
	EXPECT_EQ(DRM_VFENCE_CONTEXT_SUSPENDED, query.state);
	EXPECT_EQ(number, query.fence);
	EXPECT_TRUE(EVENTUALLY(context_state(self->gfx).suspended_ns > query.suspended_ns));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	later = context_state(self->gfx);
	EXPECT_EQ(DRM_VFENCE_CONTEXT_RESUMED, later.state);
	EXPECT_EQ(number, later.fence);
	EXPECT_LT(query.suspended_ns, later.suspended_ns);
	/* To resume it again suspends nothing. */
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	EXPECT_EQ(later.suspended_ns, context_state(self->gfx).suspended_ns);
	EXPECT_EQ(DRM_VFENCE_QUEUE_OK, later.verdict);
}

static void *suspend_thread(void *queue)
{
	return (void *)(intptr_t)vf_queue_suspend(queue, NULL);
}

TEST_F(suspend, WDDM_194_a_query_does_not_wait_for_the_acknowledgment)
{
	pthread_t thread;
	void *ret;

	if (geteuid())
		SKIP(return, "needs root");
	hang(self->gfx);
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(variant->index, "lose_suspend", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, suspend_thread, self->gfx));
	EXPECT_TRUE(EVENTUALLY(context_state(self->gfx).state == DRM_VFENCE_CONTEXT_SUSPENDING));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(-ETIME, (int)(intptr_t)ret);
}

static void on_alarm(int sig)
{
}

/* The library calls again after a signal. The time-out counts from the first call on. */
TEST_F(suspend, WDDM_195_signals_do_not_extend_the_time_out)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = {};
	int64_t begun;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, tdr_configure(variant->index, "delay_ms", "200"));
	hang(self->gfx);
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(variant->index, "lose_suspend", "1"));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	begun = vf_deadline(0);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(-ETIME, vf_queue_suspend(self->gfx, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_EQ(0, tdr_configure(variant->index, "delay_ms", "2000"));
	EXPECT_LE(SECOND / 5, vf_deadline(0) - begun);
	if (deterministic())
		EXPECT_GT(SECOND / 4, vf_deadline(0) - begun);
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
}

TEST_F(suspend, what_was_in_flight_takes_no_less_time)
{
	struct drm_vfence_clock_info clock;
	struct vf_node_totals nodes[8];
	struct drm_vfence_log_entry e[4];
	unsigned int n = 4, count = 8, i;
	int64_t begun;
	uint64_t busy;

	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, nodes, &count));
	busy = nodes[0].busy_ns;
	begun = vf_deadline(0);
	vf_cmd_draw(self->gfx, 1, 60000000);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	/* On a loaded machine the draw may be done before it was suspended five times. */
	for (i = 0; i < 5; i++) {
		ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING ||
				       vf_fence_current(self->fence) == 1));
		EXPECT_NOT_YET(vf_fence_current(self->fence) == 1);
		ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
		ASSERT_EQ(0, vf_queue_resume(self->gfx));
	}
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, DRM_VFENCE_LOG_SIGNALS, e, &n, NULL));
	ASSERT_EQ(2, n);
	EXPECT_LE(begun + 60000000, vf_clock_to_cpu(&clock, e[0].end_gpu_timestamp));
	/* The engine counts the time once: this queue was the only one on the node. */
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, nodes, &count));
	EXPECT_LE(60000000, nodes[0].busy_ns - busy);
	if (deterministic())
		EXPECT_GT(61000000, nodes[0].busy_ns - busy);
}

TEST_F(suspend, a_queue_released_while_suspended_waits_for_the_resume)
{
	vf_cmd_wait(self->copy, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_queue_suspend(self->copy, NULL));
	EXPECT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(self->copy));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 5));
	EXPECT_EQ(DRM_VFENCE_QUEUE_READY, queue_state(self->copy));
	/* The rewind has no effect: the wait has been satisfied before. */
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_EQ(0, vf_fence_current(vf_queue_progress(self->copy)));
	ASSERT_EQ(0, vf_queue_resume(self->copy));
	EXPECT_TRUE(drained(self->copy));
}

/* Check that this device is lost and no other one. */
static void expect_hung(struct __test_metadata *_metadata, FIXTURE_DATA(suspend) *self,
			const struct vf_counters *before)
{
	struct vf_counters after = counters(self->adapter);

	EXPECT_EQ(before->engine_resets + 1, after.engine_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	EXPECT_EQ(DRM_VFENCE_QUEUE_ABORTED, queue_state(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT, vf_queue_status(self->gfx));
	/* The device fails as a whole (WDDM-205). */
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT, vf_queue_status(self->copy));
}

TEST_F(suspend, WDDM_195_without_acknowledgment_the_engine_is_reset)
{
	struct vf_counters before = counters(self->adapter);

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(drained(self->copy));
	hang(self->gfx);
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, tdr_configure(variant->index, "limit_count", "1"));
	ASSERT_EQ(0, inject(variant->index, "lose_suspend", "1"));
	EXPECT_EQ(-ETIME, vf_queue_suspend(self->gfx, NULL));
	expect_hung(_metadata, self, &before);
	/* It is a hang of the process (WDDM-164). */
	EXPECT_EQ(before.processes_blocked + 1, counters(self->adapter).processes_blocked);
	ASSERT_EQ(0, tdr_configure(variant->index, "limit_count", "5"));
}

TEST_F(suspend, WDDM_195_what_does_not_leave_is_reset_and_others_go_on)
{
	struct vf_counters before = counters(self->adapter);
	struct vf_device *device;
	struct vf_queue *other;
	struct vf_fence *fence;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &other));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence));
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(drained(self->copy));
	hang(self->gfx);
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(variant->index, "ignore_suspend", "1"));
	/* Work of another device waits for the engine. */
	vf_cmd_signal(other, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(other));
	EXPECT_EQ(-ETIME, vf_queue_suspend(self->gfx, NULL));
	ASSERT_EQ(0, inject(variant->index, "ignore_suspend", "0"));
	expect_hung(_metadata, self, &before);
	EXPECT_TRUE(drained(other));
	EXPECT_EQ(1, vf_fence_current(fence));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(device));
	vf_fence_destroy(fence);
	vf_queue_abort(other);
	vf_queue_destroy(other);
	vf_device_destroy(device);
}

TEST_F(suspend, WDDM_123_195_who_is_reset_by_accident_is_told_so)
{
	struct vf_counters before = counters(self->adapter);
	struct vf_fence *mine, *theirs, *others;
	struct vf_device *device, *third;
	struct vf_queue *other;
	unsigned int i;
	int ret = 0;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_device_create(self->adapter, &third));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &mine));
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &theirs));
	ASSERT_EQ(0, vf_monitored_fence_create(third, 0, 0, &others));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &other));
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(drained(self->copy));
	hang(self->gfx);
	hang(other);
	/*
	 * The context leaves and makes room. Only the acknowledgment is lost. The queues
	 * take turns of a second: on a loaded machine it may be the other one's turn when
	 * the suspension comes, which then needs no acknowledgment. Try again.
	 */
	ASSERT_EQ(0, inject(variant->index, "lose_suspend", "1"));
	for (i = 0; !ret && i < 5; i++) {
		ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
		ret = vf_queue_suspend(self->gfx, NULL);
		if (!ret)
			ASSERT_EQ(0, vf_queue_resume(self->gfx));
	}
	EXPECT_EQ(-ETIME, ret);
	expect_hung(_metadata, self, &before);
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(device));
	/* Both devices are affected, and no other one. Their fences follow in a work. */
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(mine) == UINT64_MAX));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(theirs) == UINT64_MAX));
	EXPECT_EQ(DRM_VFENCE_QUEUE_ABORTED, queue_state(other));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT, vf_queue_status(other));
	EXPECT_EQ(0, vf_fence_current(others));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(third));
	vf_fence_destroy(mine);
	vf_fence_destroy(theirs);
	vf_fence_destroy(others);
	vf_queue_destroy(other);
	vf_device_destroy(third);
	vf_device_destroy(device);
}

TEST_F(suspend, suspended_queues_are_aborted_and_closed_like_others)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	EXPECT_EQ(DRM_VFENCE_QUEUE_ABORTED, queue_state(self->gfx));
	EXPECT_EQ(0, vf_queue_resume(self->gfx));
	EXPECT_EQ(DRM_VFENCE_QUEUE_ABORTED, queue_state(self->gfx));
	/* Closing the file with a suspended context frees all of it. */
	ASSERT_EQ(0, vf_adapter_open(variant->index, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	ASSERT_EQ(0, vf_queue_suspend(queue, NULL));
	vf_cmd_draw(queue, 1, 1000000000);
	ASSERT_EQ(0, vf_queue_submit(queue));
	close(vf_adapter_fd(adapter));
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_TRUE(drained(self->copy));
}

TEST_HARNESS_MAIN
