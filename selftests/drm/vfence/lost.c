// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware that fails: a failure that WDDM answers with a bug check loses the adapter,
 * and only that one. Each test ends with a new adapter.
 */

#include "recovery_test.h"

FIXTURE(lost) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	int efd;
	int log;
};

FIXTURE_SETUP(lost)
{
	if (geteuid())
		SKIP(return, "needs root");
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	self->log = kernel_log();
	ASSERT_LE(0, self->log);
}

FIXTURE_TEARDOWN(lost)
{
	close(self->log);
	close(self->efd);
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
	EXPECT_EQ(0, driver("unbind", 0));
	EXPECT_EQ(0, driver("bind", 0));
	/* The adapter works after it was bound again. */
	VFENCE_SETUP(0);
	EXPECT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	VFENCE_TEARDOWN();
}

/* Check all that holds once the adapter is lost. */
static void expect_lost(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self)
{
	struct vf_point point = { self->fence, 100 };
	struct vf_device *device;
	struct vf_fence *fence;
	struct vf_queue *queue;

	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->gfx) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->copy) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_EQ(DRM_VFENCE_DEVICE_STOPPED, vf_device_state(self->device));
	EXPECT_EQ(-EIO, vf_queue_submit(self->gfx));
	EXPECT_EQ(-EIO, vf_fence_wait(self->fence, 100, DEADLINE));
	EXPECT_EQ(-EIO, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
	EXPECT_EQ(-EIO, vf_fence_signal(self->fence, 200));
	EXPECT_EQ(-EIO, vf_device_create(self->adapter, &device));
	EXPECT_EQ(-EIO, vf_fence_create(self->device, 0, 0, &fence));
	EXPECT_EQ(-EIO, vf_queue_create(self->device, 0, 4096, &queue));
}

/* Return: the result of a try to recover adapter 0. */
static int recover(void)
{
	return tdr_configure(0, "recover", "1");
}

TEST_F(lost, TDR_15_an_administrator_recovers_a_lost_adapter)
{
	int events = uevents();

	EXPECT_EQ(-EALREADY, recover());
	EXPECT_EQ(-EINVAL, tdr_configure(0, "recover", "0"));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, self->efd));
	ASSERT_EQ(0, inject(0, "wrong_fence", "1"));
	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_queue_publish(self->gfx);
	expect_lost(_metadata, self);

	ASSERT_EQ(0, inject(0, "fail_restart", "1"));
	EXPECT_EQ(-EIO, recover());
	EXPECT_FALSE(working(self->adapter));
	ASSERT_EQ(0, inject(0, "fail_restart", "0"));
	EXPECT_EQ(0, recover());
	EXPECT_LE(1, told(events, "WEDGED=none", "SUBSYSTEM=drm", "ACTION=change"));
	EXPECT_EQ(-EALREADY, recover());
	/* New devices work, and those of before stay in error. */
	EXPECT_TRUE(working(self->adapter));
	EXPECT_EQ(DRM_VFENCE_DEVICE_STOPPED, vf_device_state(self->device));
	EXPECT_EQ(-EIO, vf_queue_submit(self->gfx));
	close(events);
}

/* A loss is over with the recovery, for those that have no queue which it has stopped. */
TEST_F(lost, TDR_15_a_recovery_resets_a_device_without_queues)
{
	struct vf_device *alone;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_device_create(self->adapter, &alone));
	ASSERT_EQ(0, vf_fence_create(alone, 0, 0, &fence));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, self->efd));
	ASSERT_EQ(0, inject(0, "wrong_fence", "1"));
	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_queue_publish(self->gfx);
	expect_lost(_metadata, self);
	EXPECT_EQ(DRM_VFENCE_DEVICE_STOPPED, vf_device_state(alone));
	EXPECT_EQ(0, vf_fence_current(fence));

	EXPECT_EQ(0, recover());
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(alone));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(fence) == UINT64_MAX));
	vf_fence_destroy(fence);
	vf_device_destroy(alone);
}

/* Open a new fence by a handle that may only wait. */
static int open_reader(struct vf_device *device, struct vf_fence **fence, struct vf_fence **reader)
{
	int ret = vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, fence);
	int fd = ret ? ret : vf_fence_export_rights(*fence, DRM_VFENCE_RIGHT_READ |
						    DRM_VFENCE_RIGHT_WAIT);

	ret = fd < 0 ? fd : vf_fence_open(device, fd, reader);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The adapter was lost before the last holder that may signal went, or after that. */
TEST_F(lost, TDR_15_a_fence_of_a_lost_adapter_fails_for_that_reason)
{
	struct vf_fence *fence[2], *reader[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, open_reader(self->device, &fence[i], &reader[i]));
	vf_fence_destroy(fence[1]);
	EXPECT_EQ(-ECANCELED, vf_fence_wait(reader[1], 1, DEADLINE));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, self->efd));
	ASSERT_EQ(0, inject(0, "wrong_fence", "1"));
	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_queue_publish(self->gfx);
	expect_lost(_metadata, self);

	EXPECT_EQ(-EIO, vf_fence_wait(reader[0], 1, DEADLINE));
	vf_fence_destroy(fence[0]);
	EXPECT_EQ(-EIO, vf_fence_wait(reader[0], 1, DEADLINE));
	/* The first reason stays. */
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(reader[1], 1, DEADLINE));
	for (i = 0; i < 2; i++)
		vf_fence_destroy(reader[i]);
}

TEST_F(lost, WDDM_75_a_record_that_names_no_fence_loses_the_adapter)
{
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, self->efd));
	ASSERT_EQ(0, inject(0, "wrong_fence", "1"));
	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_queue_publish(self->gfx);
	/* The lost record does not lose the wait. */
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	expect_lost(_metadata, self);
}

TEST_F(lost, WDDM_68_a_failed_update_of_a_monitored_value_loses_the_adapter)
{
	struct vf_point point = { self->fence, 50 };

	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
	ASSERT_EQ(0, inject(0, "fail_monitored_update", "1"));
	/* No waiter stays: the armed event fires, and the new wait ends. */
	EXPECT_EQ(-EIO, vf_fence_wait(self->fence, 40, DEADLINE));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0x12)")));
	expect_lost(_metadata, self);
}

TEST_F(lost, WDDM_68_a_failed_update_of_a_current_value_loses_the_adapter)
{
	struct vf_point point = { self->fence, 50 };

	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
	vf_cmd_wait(self->gfx, self->fence, 60);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, inject(0, "fail_current_update", "1"));
	EXPECT_EQ(-EIO, vf_fence_signal(self->fence, 70));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0x13)")));
	expect_lost(_metadata, self);
}

TEST_F(lost, WDDM_68_a_fence_that_cannot_be_let_go_loses_the_adapter)
{
	struct vf_fence *fence;

	/*
	 * The last handle is closed: the hardware must make the fence always signaled,
	 * and fails.
	 */
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	ASSERT_EQ(0, inject(0, "fail_current_update", "1"));
	vf_fence_destroy(fence);
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0x13)")));
	expect_lost(_metadata, self);
}

TEST_F(lost, WDDM_68_a_failed_notification_loses_the_adapter_notified)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *there, *here;
	int fd;

	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs two adapters");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE |
				     DRM_VFENCE_FENCE_CROSS_ADAPTER, 0, &there));
	fd = vf_fence_export(there);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &here));
	ASSERT_EQ(0, inject(0, "fail_current_update", "1"));
	/* The adapter that signals continues to work. */
	EXPECT_EQ(0, vf_fence_signal(there, 5));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0x13)")));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(device));
	EXPECT_EQ(0, vf_fence_signal(there, 6));
	EXPECT_EQ(6, vf_fence_current(there));
	expect_lost(_metadata, self);
	vf_fence_destroy(here);
	vf_fence_destroy(there);
	close(fd);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(lost, WDDM_68_a_monitored_value_that_cannot_move_loses_the_adapter)
{
	struct vf_adapter *adapter[3];
	struct vf_device *device[3];
	struct vf_fence *fence[3];
	unsigned int i;

	if (access("/sys/bus/platform/devices/vfence.2/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, vf_adapter_open(2, &adapter[i]));
		ASSERT_EQ(0, vf_device_create(adapter[i], &device[i]));
	}
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_fence_create(device[i], 0, 0, &fence[i]));
	ASSERT_EQ(0, arm(adapter[0], fence[0], 9, self->efd));
	/* Video memory has two pages for monitored values, so the oldest one must move. */
	ASSERT_EQ(0, inject(2, "fail_monitored_update", "1"));
	if (vf_fence_create(device[2], 0, 0, &fence[2]))
		fence[2] = NULL;
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0x12)")));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_STOPPED, vf_device_state(device[0]));
	for (i = 0; i < 3; i++) {
		vf_fence_destroy(fence[i]);
		vf_device_destroy(device[i]);
		vf_adapter_close(adapter[i]);
	}
	EXPECT_EQ(0, driver("unbind", 2));
	EXPECT_EQ(0, driver("bind", 2));
}

TEST_F(lost, WDDM_195_an_unknown_suspend_fence_loses_the_adapter)
{
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(0, "wrong_suspend", "1"));
	EXPECT_EQ(-EIO, vf_queue_suspend(self->gfx, NULL));
	expect_lost(_metadata, self);
}

TEST_F(lost, WDDM_68_another_adapter_does_not_notice)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;

	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs two adapters");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence));
	ASSERT_EQ(0, inject(0, "fail_current_update", "1"));
	EXPECT_EQ(-EIO, vf_fence_signal(self->fence, 1));
	EXPECT_EQ(0, vf_fence_signal(fence, 1));
	EXPECT_EQ(0, vf_fence_wait(fence, 1, 0));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(device));
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(lost, WDDM_165_at_level_1_a_time_out_loses_the_adapter)
{

	/* A new adapter has the default configuration. */
	ASSERT_EQ(0, tdr_configure(0, "level", "1"));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "100"));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(0, "ignore_suspend", "1"));
	EXPECT_EQ(-EIO, vf_queue_suspend(self->gfx, NULL));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "adapter lost (0x116")));
	expect_lost(_metadata, self);
}

TEST_HARNESS_MAIN
