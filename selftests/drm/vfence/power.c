// SPDX-License-Identifier: GPL-2.0-only
/* Power: engines enter F1, the adapter enters D3, and both return. */

#include "vfence_test.h"

FIXTURE(f1) {
	VFENCE_MEMBERS;
};

FIXTURE_SETUP(f1)
{
	if (access("/sys/bus/platform/devices/vfence.10/drm", F_OK))
		SKIP(return, "needs an adapter whose engines ask for F1 (f1_idle_us)");
	VFENCE_SETUP(10);
}

FIXTURE_TEARDOWN(f1)
{
	VFENCE_TEARDOWN();
}

TEST_F(f1, WDDM_196_f1_disconnects_and_a_connect_restores_f0)
{
	struct vf_counters c0, c;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(drained(self->gfx));
		/*
		 * The engine has been idle for a while: it asks for F1, and the driver
		 * disconnects its doorbells first.
		 */
		ASSERT_TRUE(EVENTUALLY(vf_queue_status(self->gfx) ==
				       DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY));
		ASSERT_TRUE(EVENTUALLY((c = counters(self->adapter), c.engines_in_f1 == 5)));
	}
	EXPECT_LE(5, c.f1_transitions);
	/* A connect wakes the engine even without work. */
	c0 = c;
	{
		struct drm_vfence_doorbell_connect connect = {
			.queue = vf_queue_handle(self->gfx),
		};

		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &connect));
	}
	ASSERT_TRUE(EVENTUALLY((c = counters(self->adapter),
				c.f1_transitions > c0.f1_transitions)));
}

/* A client connects while the driver handles the request of an engine, which asks again. */
TEST_F(f1, WDDM_196_no_engine_is_in_f1_with_a_connected_doorbell)
{
	struct vf_counters c;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(AT_ONCE(vf_queue_status(self->gfx) ==
				    DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY));
	}
	ASSERT_TRUE(EVENTUALLY((c = counters(self->adapter), c.engines_in_f1 == 5)));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(self->gfx));
}

TEST_F(f1, an_engine_with_blocked_work_stays)
{
	struct vf_counters c0, c;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	ASSERT_TRUE(EVENTUALLY((c = counters(self->adapter), c.engines_in_f1 == 5)));
	vf_cmd_wait(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	c0 = counters(self->adapter);
	EXPECT_EQ(4, c0.engines_in_f1);
	/* Meanwhile the other engine leaves F1 and enters it again. */
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	/*
	 * The driver counts a transition after it has made it, so the count may be that of
	 * an earlier one.
	 */
	ASSERT_TRUE(EVENTUALLY((c = counters(self->adapter),
				c.f1_transitions > c0.f1_transitions && c.engines_in_f1 >= 4)));
	EXPECT_EQ(4, c.engines_in_f1);
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(self->gfx));
	ASSERT_EQ(0, vf_fence_signal(fence, 1));
	EXPECT_TRUE(drained(self->gfx));
	vf_fence_destroy(fence);
}

#define POWER "/sys/bus/platform/devices/vfence.2/power/"

FIXTURE(d3) {
	VFENCE_MEMBERS;
	struct vf_fence *intra;
	struct vf_fence *fence;
};

FIXTURE_SETUP(d3)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };

	if (geteuid() || access(POWER, F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	VFENCE_SETUP(2);
	ASSERT_EQ(0, vf_fence_create_desc(self->device, &desc, &self->intra));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, write_text(POWER "autosuspend_delay_ms", "1"));
	ASSERT_EQ(0, write_text(POWER "control", "auto"));
}

FIXTURE_TEARDOWN(d3)
{
	EXPECT_EQ(0, write_text(POWER "control", "on"));
	vf_fence_destroy(self->intra);
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

static bool status_is(const char *want)
{
	char text[32] = "";
	FILE *f = fopen(POWER "runtime_status", "re");

	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return !strncmp(text, want, strlen(want));
}

TEST_F(d3, WDDM_197_d3_takes_everything_off_and_a_connect_brings_it_back)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_counters c;
	struct vf_point point = { self->fence, 9 };
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_adapter *another;
	struct vf_device *device;
	struct vf_queue *kernel;
	struct vf_fence *more;
	unsigned int i;

	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &kernel));
	vf_cmd_signal(self->gfx, self->intra, 77);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(EVENTUALLY(status_is("suspended")));
		c = counters(self->adapter);
		EXPECT_LE(i + 1, c.d3_transitions);
		/*
		 * The doorbells are disconnected, and no value is left in the memory that
		 * loses its power.
		 */
		EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(self->gfx));
		EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(self->copy));
		EXPECT_EQ(0, c.local_pages);
		/* Waits and CPU signals do not need power. */
		point.value = 9 + 10 * i;
		ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, NULL));
		EXPECT_EQ(point.value - 1, monitored(self->fence));
		EXPECT_TRUE(status_is("suspended"));
		/* A submission connects, and finds the values that were in video memory. */
		vf_cmd_wait(self->copy, self->intra, 77);
		vf_cmd_signal(self->copy, self->fence, point.value);
		ASSERT_EQ(0, vf_queue_submit(self->copy));
		EXPECT_TRUE(drained(self->copy));
		EXPECT_TRUE(EVENTUALLY(fired(efd)));
		ASSERT_EQ(8, read(efd, &(uint64_t){ 0 }, 8));
	}
	/* A submission to a kernel-mode queue wakes the adapter, too. */
	ASSERT_TRUE(EVENTUALLY(status_is("suspended")));
	ASSERT_EQ(0, vf_queue_submit(kernel));
	EXPECT_EQ(0, vf_queue_wait_idle(kernel, DEADLINE));
	/* While the adapter has power, values are placed in video memory as before. */
	vf_cmd_wait(self->gfx, self->fence, 100);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_adapter_open(2, &another));
	ASSERT_EQ(0, vf_device_create(another, &device));
	ASSERT_EQ(0, vf_fence_create_desc(device, &desc, &more));
	EXPECT_LT(0, counters(self->adapter).local_pages);
	vf_fence_destroy(more);
	vf_device_destroy(device);
	vf_adapter_close(another);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 100));
	vf_queue_destroy(kernel);
	close(efd);
}

TEST_F(d3, WDDM_193_197_d3_does_not_end_a_suspension)
{
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	ASSERT_TRUE(EVENTUALLY(status_is("suspended")));
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_TRUE(drained(self->copy));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(1, vf_fence_current(self->fence));
}

TEST_F(d3, WDDM_197_a_connect_that_is_refused_does_not_keep_it_awake)
{
	struct drm_vfence_context_create context = { .device = vf_device_handle(self->device) };
	struct drm_vfence_queue_create queue = { .flags = DRM_VFENCE_QUEUE_USER_MODE };
	struct drm_vfence_doorbell_connect connect = { 0 };

	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context));
	queue.context = context.handle;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &queue));
	/* A queue without a doorbell. */
	connect.queue = queue.handle;
	EXPECT_EQ(-ENOENT, raw(self->fd, DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &connect));
	EXPECT_TRUE(EVENTUALLY(status_is("suspended")));
}

TEST_F(d3, work_keeps_it_awake)
{
	uint64_t before;

	vf_cmd_wait(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	before = counters(self->adapter).d3_transitions;
	/* A draw of the other queue ends long after the delay, and the adapter stays awake. */
	vf_cmd_draw(self->copy, 1, 20000000);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(drained(self->copy));
	EXPECT_EQ(before, counters(self->adapter).d3_transitions);
	/* The status is "suspending" while the kernel tries and the driver refuses. */
	EXPECT_TRUE(EVENTUALLY(status_is("active")));
	EXPECT_EQ(before, counters(self->adapter).d3_transitions);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_TRUE(EVENTUALLY(status_is("suspended")));
}

TEST_F(d3, unbind_and_bind_while_suspended)
{
	struct vf_adapter *adapter;

	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_TRUE(EVENTUALLY(status_is("suspended")));
	ASSERT_EQ(0, driver("unbind", 2));
	EXPECT_EQ(-EIO, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, driver("bind", 2));
	ASSERT_EQ(0, vf_adapter_open(2, &adapter));
	vf_adapter_close(adapter);
}

TEST_HARNESS_MAIN
