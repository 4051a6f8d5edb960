// SPDX-License-Identifier: GPL-2.0-only
/* Engines that hang, and the devices that fail for it. */

#include <sys/resource.h>

#include "vfence_test.h"

FIXTURE(hung) {
	VFENCE_MEMBERS;
	struct vf_counters before;
	struct vf_device *other_device;
	struct vf_queue *other;
	struct vf_fence *fence;
};

FIXTURE_VARIANT(hung) {
	unsigned int index;
};

FIXTURE_VARIANT_ADD(hung, told) {
	.index = 11,
};

/* The record of the interrupt finds no room. */
FIXTURE_VARIANT_ADD(hung, missed) {
	.index = 9,
};

FIXTURE_SETUP(hung)
{
	if (access("/sys/bus/platform/devices/vfence.11/drm", F_OK))
		SKIP(return, "needs an adapter whose engines say that they hang (hung_us)");
	VFENCE_SETUP(variant->index);
	self->before = counters(self->adapter);
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->other_device));
	ASSERT_EQ(0, vf_queue_create(self->other_device, DRM_VFENCE_NODE_GFX, 4096, &self->other));
	ASSERT_EQ(0, vf_fence_create(self->other_device, 0, 0, &self->fence));
	/* Connect the queues that have nothing to wait for, too. */
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(drained(self->copy));
}

FIXTURE_TEARDOWN(hung)
{
	vf_fence_destroy(self->fence);
	vf_queue_abort(self->other);
	vf_queue_destroy(self->other);
	vf_device_destroy(self->other_device);
	VFENCE_TEARDOWN();
}

static int hang(struct vf_queue *queue)
{
	cmd_hang(queue);
	return vf_queue_publish(queue);
}

/*
 * A reset changes the fences of the device that hung its engine, and not those of other
 * devices.
 */
TEST_F(hung, WDDM_123_a_reset_takes_monitored_fences_to_the_maximum)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_fence *mine, *stays, *theirs, *ours, *opened;
	int fd;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &mine));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device,
			DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR, 0, &stays));
	ASSERT_EQ(0, vf_monitored_fence_create(self->other_device, 0, 0, &theirs));
	/* The device takes an opened fence to the maximum, whichever device created it. */
	ASSERT_EQ(0, vf_monitored_fence_create(self->other_device, DRM_VFENCE_FENCE_SHAREABLE, 0, &ours));
	fd = vf_fence_export(ours);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &opened));
	close(fd);
	ASSERT_EQ(0, arm(self->adapter, mine, 5, efd));
	ASSERT_EQ(0, hang(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_EQ(UINT64_MAX, vf_fence_current(mine));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	EXPECT_EQ(0, vf_fence_current(stays));
	EXPECT_EQ(0, vf_fence_current(theirs));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(ours) == UINT64_MAX));
	vf_fence_destroy(opened);
	vf_fence_destroy(ours);
	vf_fence_destroy(mine);
	vf_fence_destroy(stays);
	vf_fence_destroy(theirs);
	close(efd);
}

TEST_F(hung, WDDM_123_124_a_reset_takes_native_fences_to_the_maximum)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_fence *mine, *stays, *deaf, *watched, *theirs;
	int fd;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &mine));
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR, 0,
				     &stays));
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_NO_SIGNAL, 0, &deaf));
	ASSERT_EQ(0, vf_fence_create(self->other_device, DRM_VFENCE_FENCE_SHAREABLE, 0, &theirs));
	fd = vf_fence_export_rights(theirs, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &watched));
	close(fd);
	ASSERT_EQ(0, arm(self->adapter, mine, 5, efd));
	/* A queue of another device goes on as well. */
	vf_cmd_wait(self->other, mine, 5);
	ASSERT_EQ(0, vf_queue_submit(self->other));
	ASSERT_EQ(0, hang(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_EQ(UINT64_MAX, vf_fence_current(mine));
	EXPECT_EQ(0, vf_fence_wait(mine, UINT64_MAX, DEADLINE));
	EXPECT_TRUE(drained(self->other));
	EXPECT_EQ(0, vf_fence_current(stays));
	/* The device could not have signaled these. */
	EXPECT_EQ(0, vf_fence_current(deaf));
	EXPECT_EQ(0, vf_fence_current(theirs));
	/* Progress is what the queue has done. */
	EXPECT_EQ(0, vf_fence_current(vf_queue_progress(self->gfx)));
	vf_fence_destroy(watched);
	vf_fence_destroy(theirs);
	vf_fence_destroy(deaf);
	vf_fence_destroy(stays);
	vf_fence_destroy(mine);
	close(efd);
}

/*
 * Progress is what the queue has done. Without native fences it is a monitored fence, which could
 * be taken to its maximum; a native one has ended by then.
 */
TEST(WDDM_123_the_progress_of_a_lost_queue_stays)
{
	struct vf_submit nothing = { 0 };
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_fence *mine;

	if (geteuid() || tdr_configure(3, "delay_ms", "500"))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, vf_adapter_open(3, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	/* The newest fence is the first to get its maximum: this one is after the progress. */
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &mine));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue));
	cmd_hang(queue);
	ASSERT_EQ(0, vf_submit(&queue, 1, &nothing));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(mine) == UINT64_MAX));
	EXPECT_EQ(0, vf_fence_current(vf_queue_progress(queue)));
	EXPECT_EQ(-EIO, vf_queue_wait_idle(queue, DEADLINE));
	vf_queue_destroy(queue);
	vf_fence_destroy(mine);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
	EXPECT_EQ(0, tdr_configure(3, "delay_ms", "2000"));
}

/*
 * The device has created these fences, and no signal of others makes a wait for them hang again. A
 * fence that it has opened goes on with those who are left.
 */
TEST_F(hung, WDDM_66_67_123_native_fences_of_a_lost_device_are_always_signaled)
{
	struct vf_fence_desc intra = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_fence *mine, *inner, *ours, *opened;
	struct vf_point lower = { .value = 8 };
	struct vf_submit signal = {
		.signals = &lower, .signal_count = 1, .flags = DRM_VFENCE_SUBMIT_ALLOW_REWIND,
	};
	struct vf_queue *copy, *kernel;
	int fd;

	ASSERT_EQ(0, vf_queue_create(self->other_device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &mine));
	ASSERT_EQ(0, vf_fence_create_desc(self->device, &intra, &inner));
	ASSERT_EQ(0, vf_fence_create(self->other_device, DRM_VFENCE_FENCE_SHAREABLE, 0, &ours));
	fd = vf_fence_export(ours);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &opened));
	close(fd);
	vf_cmd_wait(copy, inner, 5);
	ASSERT_EQ(0, vf_queue_submit(copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, hang(self->gfx));
	EXPECT_TRUE(drained(copy));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(mine) == UINT64_MAX));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(ours) == UINT64_MAX));

	vf_cmd_signal(copy, mine, 7);
	vf_cmd_wait(copy, mine, UINT64_MAX);
	vf_cmd_wait(copy, inner, UINT64_MAX);
	vf_cmd_signal(copy, ours, 7);
	ASSERT_EQ(0, vf_queue_submit(copy));
	EXPECT_TRUE(drained(copy));
	EXPECT_EQ(UINT64_MAX, vf_fence_current(mine));
	EXPECT_EQ(7, vf_fence_current(ours));
	/* Nor does a signal of the CPU lower the value that waits of the CPU read, and it says so. */
	EXPECT_EQ(-EIO, vf_fence_signal(mine, 8));
	ASSERT_EQ(0, vf_kernel_queue_create(self->other_device, DRM_VFENCE_NODE_COPY, &kernel));
	lower.fence = mine;
	ASSERT_EQ(0, vf_submit(&kernel, 1, &signal));
	EXPECT_EQ(0, vf_queue_wait_idle(kernel, DEADLINE));
	EXPECT_EQ(0, vf_fence_wait(mine, UINT64_MAX, DEADLINE));
	EXPECT_EQ(UINT64_MAX, vf_fence_current(mine));
	/* Nothing of a list is signaled if one signal would have no effect. */
	EXPECT_EQ(-EIO, vf_signal(self->adapter, (struct vf_point[]){ { ours, 9 }, { mine, 9 } }, 2));
	EXPECT_EQ(7, vf_fence_current(ours));
	vf_queue_destroy(kernel);
	vf_queue_destroy(copy);
	vf_fence_destroy(opened);
	vf_fence_destroy(ours);
	vf_fence_destroy(inner);
	vf_fence_destroy(mine);
}

TEST_F(hung, WDDM_204_an_engine_that_hangs_is_reset_and_others_go_on)
{
	struct vf_counters after;

	ASSERT_EQ(0, hang(self->gfx));
	vf_cmd_signal(self->other, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->other));
	/* The driver acts by itself: the test does not suspend, abort or query. */
	ASSERT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	ASSERT_TRUE(EVENTUALLY(vf_queue_status(self->gfx) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_EQ(DRM_VFENCE_QUEUE_ABORTED, queue_state(self->gfx));
	/* The device fails as a whole (WDDM-205). */
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->copy) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	/* A wait for a value that cannot be reached any more fails. */
	EXPECT_EQ(-EIO, vf_fence_wait(vf_queue_progress(self->gfx), 1, DEADLINE));
	EXPECT_EQ(-EIO, vf_fence_signal(vf_queue_progress(self->gfx), 1));
	EXPECT_TRUE(drained(self->other));
	EXPECT_EQ(1, vf_fence_current(self->fence));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other_device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets + 1, after.engine_resets);
}

/* How long a client's eventfds take, nobody but that client waits for. */
TEST_F(hung, WDDM_204_eventfds_of_the_cause_do_not_keep_the_engine)
{
	const struct rlimit files = { 2000, 2000 };
	struct vf_point done = { .value = 1 };
	struct gate gate;
	struct vf_submit what = {
		.waits = &gate.opened, .wait_count = 1,
		.signals = &done, .signal_count = 1,
	};
	/* Where time is not exact, and not checked, fewer events are enough. */
	const unsigned int armed = deterministic() ? 4000 : 400;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), set[900];
	uint64_t events = 0, more;
	struct vf_queue *kernel;
	struct client victim;
	struct vf_queue *queue;
	unsigned int i;
	int64_t begin, took;
	int ret;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_EQ(0, vf_adapter_open(variant->index, &victim.adapter));
	ASSERT_EQ(0, vf_device_create(victim.adapter, &victim.device));
	ASSERT_EQ(0, vf_queue_create(victim.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COPY, &kernel));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &done.fence));
	ASSERT_TRUE(slow_down(efd, set, 900));
	for (i = 0; i < armed; i++)
		ASSERT_EQ(0, arm(self->adapter, done.fence, 1, efd));

	ASSERT_EQ(0, gate_create(&gate, self->device, variant->index));
	begin = vf_deadline(0);
	ASSERT_EQ(0, hang(self->gfx));
	ret = vf_submit(&kernel, 1, &what);
	/* On a slow machine the reset may come before this call. */
	EXPECT_TRUE(ret == 0 || (ret == -EIO && !deterministic()));
	ASSERT_EQ(0, gate_open(&gate));
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	took = vf_deadline(0) - begin;
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	if (!ret)
		EXPECT_TRUE(EVENTUALLY((events += read(efd, &more, 8) == 8 ? more : 0) == armed));
	TH_LOG("the engine was back after %lld ns, all events were set after %lld ns",
	       (long long)took, (long long)(vf_deadline(0) - begin));
	/* What setting the events takes is processor time. */
	if (counts_instructions())
		EXPECT_LE(2 * took, vf_deadline(0) - begin);

	for (i = 0; i < 900; i++)
		close(set[i]);
	close(efd);
	vf_queue_destroy(kernel);
	vf_queue_destroy(queue);
	gate_destroy(&gate);
	vf_fence_destroy(done.fence);
	client_close(&victim);
}

TEST_F(hung, WDDM_204_the_process_can_go_on_with_a_new_device)
{
	struct vf_device *device;
	struct vf_queue *queue;

	ASSERT_EQ(0, hang(self->gfx));
	ASSERT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(-EIO, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(device));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
}

TEST_F(hung, an_engine_that_has_gone_on_is_not_reset)
{
	struct vf_counters after;

	if (geteuid())
		SKIP(return, "needs root");
	/* The engine reports the hang, and the report is held back. */
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "1"));
	ASSERT_EQ(0, hang(self->gfx));
	vf_cmd_draw(self->copy, 1, 60000000);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(drained(self->copy));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	/*
	 * Another queue is on the engine when the driver handles the report with the next
	 * interrupt.
	 */
	vf_cmd_draw(self->other, 1, 200000000);
	ASSERT_EQ(0, vf_queue_submit(self->other));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->other) == DRM_VFENCE_QUEUE_RUNNING ||
			       vf_fence_current(vf_queue_progress(self->other)) == 1));
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "0"));
	vf_cmd_draw(self->copy, 1, 5000000);
	vf_cmd_signal(self->copy, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, DEADLINE));
	EXPECT_NOT_YET(queue_state(self->other) != DRM_VFENCE_QUEUE_RUNNING);
	EXPECT_TRUE(drained(self->other));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other_device));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
}

TEST_F(hung, many_who_hang_are_reset_one_by_one)
{
	struct vf_counters after;
	struct vf_device *device[8];
	struct vf_queue *queue[8];
	unsigned int i;

	/* All eight are of one process, which is not to be blocked. */
	if (tdr_configure(variant->index, "limit_count", "32"))
		SKIP(return, "needs root");
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, vf_device_create(self->adapter, &device[i]));
		ASSERT_EQ(0, vf_queue_create(device[i], i % 2 ? DRM_VFENCE_NODE_GFX :
					     DRM_VFENCE_NODE_COPY, 4096, &queue[i]));
		ASSERT_EQ(0, hang(queue[i]));
	}
	vf_cmd_signal(self->other, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->other));
	for (i = 0; i < 8; i++)
		EXPECT_TRUE(EVENTUALLY(vf_device_state(device[i]) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(drained(self->other));
	/* The driver fails the device before the reset is complete and counted. */
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 8)));
	for (i = 0; i < 8; i++) {
		vf_queue_abort(queue[i]);
		vf_queue_destroy(queue[i]);
		vf_device_destroy(device[i]);
	}
	EXPECT_EQ(0, tdr_configure(variant->index, "limit_count", "5"));
}

TEST_HARNESS_MAIN
