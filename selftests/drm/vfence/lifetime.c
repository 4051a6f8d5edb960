// SPDX-License-Identifier: GPL-2.0-only
/* The library keeps a fence that was destroyed for the packets that name it. */

#include "vfence_test.h"

FIXTURE(lifetime) {
	VFENCE_MEMBERS;
	struct vf_fence *gate, *fence;
	uint32_t handle;
};

FIXTURE_SETUP(lifetime)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->gate));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	self->handle = vf_fence_handle(self->fence);
}

FIXTURE_TEARDOWN(lifetime)
{
	vf_fence_destroy(self->gate);
	VFENCE_TEARDOWN();
}

static bool exists(int fd, uint32_t handle)
{
	struct drm_vfence_fence_info info;

	return !query_object(fd, DRM_VFENCE_QUERY_FENCE, handle, &info, sizeof(info));
}

/* The library looks for fences that no packet needs when it creates one. */
static void let_it_look(struct vf_device *device)
{
	struct vf_fence *fence;

	if (!vf_fence_create(device, 0, 0, &fence))
		vf_fence_destroy(fence);
}

TEST_F(lifetime, a_fence_without_packets_is_destroyed_at_once)
{
	(vf_fence_destroy)(self->fence);
	EXPECT_FALSE(exists(self->fd, self->handle));
}

TEST_F(lifetime, a_packet_keeps_its_fence)
{
	struct vf_fence *later;

	vf_cmd_wait(self->gfx, self->gate, 1);
	vf_cmd_signal(self->gfx, self->fence, 7);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	(vf_fence_destroy)(self->fence);
	EXPECT_TRUE(exists(self->fd, self->handle));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &later));
	EXPECT_TRUE(exists(self->fd, self->handle));

	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_EQ(DRM_VFENCE_FAULT_NONE, queue_fault(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	EXPECT_EQ(0, vf_fence_current(later));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));
	vf_fence_destroy(later);
}

TEST_F(lifetime, a_packet_that_is_not_published_yet_keeps_its_fence)
{
	vf_cmd_signal(self->gfx, self->fence, 7);
	(vf_fence_destroy)(self->fence);
	let_it_look(self->device);
	EXPECT_TRUE(exists(self->fd, self->handle));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	EXPECT_EQ(DRM_VFENCE_FAULT_NONE, queue_fault(self->gfx));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));
}

TEST_F(lifetime, each_queue_counts)
{
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	vf_cmd_wait(self->copy, self->gate, 1);
	vf_cmd_wait(self->copy, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(logged(self->gfx));
	(vf_fence_destroy)(self->fence);
	EXPECT_TRUE(exists(self->fd, self->handle));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(logged(self->copy));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));
}

TEST_F(lifetime, a_queue_that_is_lost_or_gone_keeps_nothing)
{
	struct vf_fence *second;
	uint32_t handle;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &second));
	handle = vf_fence_handle(second);
	vf_cmd_wait(self->gfx, self->gate, 1);
	vf_cmd_signal(self->gfx, self->fence, 7);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	(vf_fence_destroy)(self->fence);
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));

	/* These packets are never published. The end of the queue ends them. */
	vf_cmd_signal(self->copy, second, 7);
	(vf_fence_destroy)(second);
	EXPECT_TRUE(exists(self->fd, handle));
	vf_queue_destroy(self->copy);
	EXPECT_FALSE(exists(self->fd, handle));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COPY, 65536, &self->copy));
}

TEST_F(lifetime, a_submission_of_a_kernel_mode_queue_keeps_its_fence)
{
	struct vf_submit submit = { .waits = &(struct vf_point){ self->gate, 1 }, .wait_count = 1 };
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
	vf_cmd_signal(queue, self->fence, 7);
	(vf_fence_destroy)(self->fence);
	EXPECT_TRUE(exists(self->fd, self->handle));
	ASSERT_EQ(0, vf_submit(&queue, 1, &submit));
	let_it_look(self->device);
	EXPECT_TRUE(exists(self->fd, self->handle));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(drained(queue));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));
	vf_queue_destroy(queue);
}

TEST_F(lifetime, a_packet_keeps_a_monitored_fence)
{
	struct drm_vfence_adapter_info info;
	struct vf_fence *memory;
	struct vf_queue *queue;
	uint32_t handle;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	if (!(info.flags & DRM_VFENCE_ADAPTER_MONITORED_SIGNAL))
		SKIP(return, "needs packets that signal monitored fences");
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &memory));
	handle = vf_fence_handle(memory);
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
	vf_cmd_signal(queue, memory, 7);
	(vf_fence_destroy)(memory);
	EXPECT_TRUE(exists(self->fd, handle));
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, handle));
	vf_queue_destroy(queue);
}

TEST_F(lifetime, commands_that_were_dropped_keep_no_fence)
{
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	vf_cmd_signal(self->gfx, self->fence, 7);
	(vf_fence_destroy)(self->fence);
	EXPECT_TRUE(exists(self->fd, self->handle));
	vf_cmd_nop(self->gfx, 7);
	EXPECT_EQ(-EINVAL, vf_queue_submit(self->gfx));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));
}

/* An open file may have so many queues. The fixture has two. */
#define QUEUES	64

static uint64_t handles(struct vf_adapter *adapter)
{
	struct vf_counters c;

	return vf_client_counters(adapter, &c) ? UINT64_MAX : c.fences_opened - c.fences_closed;
}

TEST_F(lifetime, a_packet_of_the_last_of_all_queues_keeps_its_fence)
{
	struct vf_point point = { self->gate, 1 };
	struct vf_queue *queue[QUEUES - 2], *last = NULL;
	unsigned int i;
	uint64_t before;

	for (i = 0; i < QUEUES - 3; i++)
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, i % 4, &queue[i]));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue[i]));
	EXPECT_EQ(-ENOSPC, vf_kernel_queue_create(self->device, 0, &last));
	/* A kept wait needs a queue, and leaves nothing behind if there is none. */
	before = handles(self->adapter);
	vf_cmd_wait_kept(self->gfx, &point, 1);
	EXPECT_EQ(-ENOSPC, vf_queue_submit(self->gfx));
	EXPECT_EQ(before, handles(self->adapter));

	last = queue[i];
	vf_cmd_wait(last, self->gate, 1);
	vf_cmd_signal(last, self->fence, 7);
	ASSERT_EQ(0, vf_queue_submit(last));
	(vf_fence_destroy)(self->fence);
	EXPECT_TRUE(exists(self->fd, self->handle));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(logged(last));
	EXPECT_EQ(DRM_VFENCE_FAULT_NONE, queue_fault(last));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));
	for (i = 0; i < QUEUES - 2; i++)
		vf_queue_destroy(queue[i]);
}

TEST_F(lifetime, submissions_do_not_pay_for_it)
{
	struct vf_counters before, after;
	struct vf_fence *second;
	unsigned int i;

	/* A destroyed fence is pending all the time. */
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &second));
	vf_cmd_draw(self->gfx, 1, 100000000);
	vf_cmd_signal(self->gfx, second, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	(vf_fence_destroy)(second);
	ASSERT_EQ(0, vf_client_counters(self->adapter, &before));
	for (i = 1; i <= 100; i++) {
		vf_cmd_signal(self->gfx, self->fence, i);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
	}
	ASSERT_EQ(0, vf_client_counters(self->adapter, &after));
	EXPECT_EQ(before.ioctls, after.ioctls);
	ASSERT_TRUE(drained(self->gfx));
	vf_fence_destroy(self->fence);
}

TEST_F(lifetime, a_fence_of_another_file_is_not_mistaken)
{
	struct vf_adapter *other;
	struct vf_device *device;
	struct vf_point point[2] = { { self->gate, 0 }, { NULL, 0 } };
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_EQ(0, vf_adapter_open(0, &other));
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &point[1].fence));
	EXPECT_EQ(-EXDEV, vf_wait(self->adapter, point, 2, 0, 0, NULL));
	EXPECT_EQ(-EXDEV, vf_signal(self->adapter, point, 2));
	EXPECT_EQ(-EXDEV, vf_event_arm(self->adapter, point, 2, 0, efd, NULL));
	EXPECT_EQ(-EXDEV, vf_wait(other, point, 1, 0, 0, NULL));
	vf_fence_destroy(point[1].fence);
	vf_fence_destroy(self->fence);
	vf_device_destroy(device);
	vf_adapter_close(other);
	close(efd);
}

/* The address of another file's fence is that of some fence of the queue's, as all are given alike. */
TEST_F(lifetime, a_recorded_command_names_no_fence_of_another_file)
{
	struct vf_submit foreign_wait = { .wait_count = 1 }, nothing = {};
	struct vf_queue *kernel, *both[2];
	struct vf_adapter *other;
	struct vf_device *device;
	struct vf_fence *foreign;
	struct vf_point point;
	unsigned int i;

	ASSERT_EQ(0, vf_adapter_open(0, &other));
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &both[1]));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &kernel));
	both[0] = kernel;
	/* One of them has the address of a fence here. */
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, vf_fence_create(device, 0, 0, &foreign));
		vf_cmd_signal(self->gfx, foreign, 77);
		EXPECT_EQ(-EXDEV, vf_queue_submit(self->gfx));
		vf_cmd_wait(self->gfx, foreign, 77);
		EXPECT_EQ(-EXDEV, vf_queue_publish(self->gfx));
		vf_cmd_signal(kernel, foreign, 77);
		EXPECT_EQ(-EXDEV, vf_submit(&kernel, 1, &nothing));
	}
	point = (struct vf_point){ foreign, 1 };
	foreign_wait.waits = &point;
	vf_cmd_signal(kernel, self->fence, 66);
	EXPECT_EQ(-EXDEV, vf_submit(&kernel, 1, &foreign_wait));
	EXPECT_EQ(-EXDEV, vf_submit(both, 2, &nothing));
	EXPECT_EQ(0, vf_queue_last_queued(both[1]));

	/* Nothing of that is left in the queues. */
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_submit(&kernel, 1, &nothing));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_TRUE(drained(kernel));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	EXPECT_EQ(0, vf_fence_current(self->gate));
	vf_queue_destroy(kernel);
	vf_queue_destroy(both[1]);
	vf_device_destroy(device);
	vf_adapter_close(other);
	vf_fence_destroy(self->fence);
}

TEST_F(lifetime, one_call_arms_an_event_for_fences_of_several_adapters)
{
	struct vf_point point[3] = { { self->gate, 1 }, { NULL, 1 }, { self->fence, 1 } };
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_event events[2];
	unsigned int count = 2;
	struct vf_adapter *other;
	struct vf_device *device;
	eventfd_t n;

	if (vf_adapter_open(8, &other))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &point[1].fence));
	ASSERT_EQ(0, vf_event_arm_across(point, 3, 0, efd, events, &count));
	EXPECT_EQ(2, count);
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	EXPECT_FALSE(fired(efd));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_EQ(0, eventfd_read(efd, &n));
	EXPECT_EQ(1, n);
	ASSERT_EQ(0, vf_fence_signal(point[1].fence, 1));
	ASSERT_EQ(0, eventfd_read(efd, &n));
	EXPECT_EQ(1, n);
	/* What is reached already counts as well. */
	ASSERT_EQ(0, vf_event_arm_across(point, 3, 0, efd, events, &count));
	ASSERT_EQ(0, eventfd_read(efd, &n));
	EXPECT_EQ(2, n);
	/* Without room for all adapters nothing stays armed. */
	point[0].value = 9;
	count = 1;
	EXPECT_EQ(-ENOSPC, vf_event_arm_across(point, 3, 0, efd, events, &count));
	EXPECT_EQ(NOT_MONITORED, monitored(self->gate));
	vf_fence_destroy(point[1].fence);
	vf_fence_destroy(self->fence);
	vf_device_destroy(device);
	vf_adapter_close(other);
	close(efd);
}

/* Signal after a while what another thread waits for. */
static void *signal_both(void *arg)
{
	struct vf_point *point = arg;

	while (!waiters(point[0].fence) || !waiters(point[1].fence))
		sched_yield();
	vf_fence_signal(point[0].fence, 1);
	/* What was reached stays reached. */
	vf_fence_signal(point[0].fence, 0);
	vf_fence_signal(point[1].fence, 1);
	return NULL;
}

TEST_F(lifetime, one_call_waits_for_fences_of_several_adapters)
{
	struct vf_point point[2] = { { self->gate, 1 }, { NULL, 1 } };
	struct vf_adapter *other;
	struct vf_device *device;
	unsigned int first = 9;
	pthread_t thread;

	if (vf_adapter_open(8, &other))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &point[1].fence));
	EXPECT_EQ(-EINVAL, vf_wait_across(point, 0, 0, DEADLINE, NULL));
	EXPECT_EQ(-EINVAL, vf_wait_across(point, 2, 8, DEADLINE, NULL));
	EXPECT_EQ(-EINVAL, vf_wait_across(point, 2, 0, -1, NULL));
	EXPECT_EQ(-ETIME, vf_wait_across(point, 2, 0, 0, NULL));
	EXPECT_EQ(-ETIME, vf_wait_across(point, 2, DRM_VFENCE_WAIT_ANY, vf_deadline(1000000),
					 &first));
	EXPECT_EQ(9, first);

	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_both, point));
	EXPECT_EQ(0, vf_wait_across(point, 2, 0, DEADLINE, NULL));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, vf_wait_across(point, 2, DRM_VFENCE_WAIT_ANY, DEADLINE, &first));
	EXPECT_EQ(1, first);
	EXPECT_EQ(-ETIME, vf_wait_across(point, 2, 0, vf_deadline(1000000), NULL));
	/* Nothing stays armed. */
	EXPECT_EQ(NOT_MONITORED, monitored(self->gate));
	vf_fence_destroy(point[1].fence);
	vf_fence_destroy(self->fence);
	vf_device_destroy(device);
	vf_adapter_close(other);
}

TEST_F(lifetime, a_wait_for_fences_of_several_adapters_ends_with_an_adapter)
{
	struct vf_point point[2] = { { self->gate, 0 }, { NULL, 1 } };
	struct vf_adapter *other;
	struct vf_device *device;

	if (geteuid() || vf_adapter_open(8, &other))
		SKIP(return, "needs root and the adapters of the guests");
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &point[1].fence));
	ASSERT_EQ(0, driver("unbind", 8));
	EXPECT_EQ(-ENODEV, vf_wait_across(point, 2, 0, DEADLINE, NULL));
	EXPECT_EQ(-ENODEV, vf_wait_across(&point[1], 1, DRM_VFENCE_WAIT_ANY, DEADLINE, NULL));
	ASSERT_EQ(0, driver("bind", 8));
	vf_fence_destroy(point[1].fence);
	vf_fence_destroy(self->fence);
	vf_device_destroy(device);
	vf_adapter_close(other);
}

/* Queues have few places: a fence waits for the queue that had the place when it was destroyed. */
TEST_F(lifetime, a_queue_in_the_place_of_another_keeps_nothing)
{
	struct vf_queue *gone, *later;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COPY, 4096, &gone));
	vf_cmd_wait(self->gfx, self->gate, 1);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	vf_cmd_wait(gone, self->gate, 1);
	vf_cmd_signal(gone, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(gone));
	(vf_fence_destroy)(self->fence);
	EXPECT_TRUE(exists(self->fd, self->handle));

	ASSERT_EQ(0, vf_queue_abort(gone));
	vf_queue_destroy(gone);
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COPY, 4096, &later));
	vf_cmd_wait(later, self->gate, 2);
	ASSERT_EQ(0, vf_queue_submit(later));
	EXPECT_TRUE(exists(self->fd, self->handle));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(logged(self->gfx));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 2));
	ASSERT_TRUE(drained(later));
	vf_queue_destroy(later);
}

#define KEPT	500

static int64_t time_to_create(struct vf_device *device)
{
	int64_t begun = vf_deadline(0);
	unsigned int i;

	for (i = 0; i < 20; i++)
		let_it_look(device);
	return (vf_deadline(0) - begun) / 20;
}

/* Fences that wait for a queue cost those nothing that are created and destroyed meanwhile. */
TEST_F(lifetime, fences_that_are_kept_cost_no_other_fence_time)
{
	int64_t before, beside;
	struct vf_fence *fence;
	unsigned int i;

	NEEDS_PROCESSOR_TIME();
	vf_cmd_wait(self->copy, self->gate, 1);
	vf_cmd_signal(self->copy, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	(vf_fence_destroy)(self->fence);
	before = time_to_create(self->device);
	for (i = 0; i < KEPT; i++) {
		ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
		vf_cmd_signal(self->copy, fence, 1);
		(vf_fence_destroy)(fence);
	}
	beside = time_to_create(self->device);
	TH_LOG("%.1f us, and %.1f us beside %u fences", (double)before / 1e3, (double)beside / 1e3, KEPT);
	if (counts_instructions())
		EXPECT_GT(before * 3 / 2, beside);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(drained(self->copy));
	let_it_look(self->device);
	EXPECT_FALSE(exists(self->fd, self->handle));
}

TEST_HARNESS_MAIN
