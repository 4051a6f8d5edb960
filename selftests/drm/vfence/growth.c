// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that are older or newer than the driver: elements of arrays that are shorter or
 * longer than the driver's, and structures that are passed again as the kernel left them.
 */

#include "vfence_test.h"

FIXTURE(growth) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
};

FIXTURE_SETUP(growth)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
}

FIXTURE_TEARDOWN(growth)
{
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
}

/* An element without its last member: the value is zero for the driver. */
struct old_point {
	uint32_t fence;
	uint32_t flags;
};

TEST_F(growth, members_that_an_old_program_does_not_have_are_zero)
{
	struct old_point points[3] = {
		{ .fence = vf_fence_handle(self->fence) },
		{ .fence = vf_fence_handle(self->fence) },
		{ .fence = UINT32_MAX },
	};
	struct drm_vfence_fence_signal args = { .points = DRM_VFENCE_OBJ_ARRAY(2, points) };

	ASSERT_EQ(0, vf_fence_signal(self->fence, 7));
	EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_FENCE_SIGNAL, &args));
	/* Both points were signaled with the value 0. The third is behind the array. */
	EXPECT_EQ(0, vf_fence_current(self->fence));
	args.points.count = 3;
	EXPECT_EQ(-ENOENT, raw(self->fd, DRM_IOCTL_VFENCE_FENCE_SIGNAL, &args));
}

TEST_F(growth, outputs_that_an_old_program_does_not_have_are_not_written)
{
	/* As an old structure: the first 16 bytes of an entry. */
	struct { uint64_t fence_value; uint32_t fence; uint32_t operation; } old[4];
	struct drm_vfence_log_read args = {
		.queue = vf_queue_handle(self->gfx), .log = DRM_VFENCE_LOG_SIGNALS,
		.entries = DRM_VFENCE_OBJ_ARRAY(3, old),
	};

	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_cmd_signal(self->gfx, self->fence, 2);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	memset(old, POISON, sizeof(old));
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_LOG_READ, &args));
	/* Two signals and the one of the progress fence. */
	ASSERT_EQ(3, args.returned);
	EXPECT_EQ(1, old[0].fence_value);
	EXPECT_EQ(2, old[1].fence_value);
	EXPECT_EQ(vf_fence_handle(self->fence), old[1].fence);
	EXPECT_EQ((char)POISON, *(char *)&old[3]);
}

TEST_F(growth, the_answer_of_a_query_comes_in_the_elements_of_the_program)
{
	struct { uint32_t class_id, flags; } old[8];
	struct { struct drm_vfence_node_info info; uint64_t newer; } fresh[8];
	struct drm_vfence_node_info node[8];
	struct drm_vfence_query args = { .type = DRM_VFENCE_QUERY_NODES, .stride = sizeof(old[0]) };
	unsigned int i, count = 8;

	ASSERT_EQ(0, vf_adapter_nodes(self->adapter, node, &count));
	ASSERT_LT(1, count);
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &args));
	EXPECT_EQ(count * sizeof(old[0]), args.size);
	args.data = (uintptr_t)old;
	args.size = sizeof(old);
	memset(old, POISON, sizeof(old));
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &args));
	for (i = 0; i < count; i++) {
		EXPECT_EQ(node[i].class_id, old[i].class_id);
		EXPECT_EQ(node[i].flags, old[i].flags);
	}

	args.stride = sizeof(fresh[0]);
	args.data = (uintptr_t)fresh;
	args.size = sizeof(fresh);
	memset(fresh, POISON, sizeof(fresh));
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &args));
	EXPECT_EQ(count * sizeof(fresh[0]), args.size);
	for (i = 0; i < count; i++) {
		EXPECT_EQ(node[i].class_id, fresh[i].info.class_id);
		/* What the driver does not know yet is zero. */
		EXPECT_EQ(0, fresh[i].newer);
	}
	/* A program that knows no stride gets the driver's elements. */
	args.stride = 0;
	args.data = 0;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUERY, &args));
	EXPECT_EQ(count * sizeof(node[0]), args.size);
}

/* TWICE(ret, IOCTL, type, args): call with @args, then again with what the kernel left. */
#define TWICE(want, NAME, type, ...) do {					\
	struct drm_vfence_##type a = __VA_ARGS__;				\
	EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_##NAME, &a));		\
	EXPECT_EQ(want, raw(self->fd, DRM_IOCTL_VFENCE_##NAME, &a)) {		\
		TH_LOG("%s", #NAME);						\
	}									\
} while (0)

TEST_F(growth, a_structure_can_be_passed_again)
{
	struct drm_vfence_fence_point point = { .fence = vf_fence_handle(self->fence) };
	struct drm_vfence_queue_info info;
	struct drm_vfence_clock_info clock;
	uint32_t device = vf_device_handle(self->device);
	struct drm_vfence_context_create context = { .device = device };
	struct drm_vfence_wait_set_create set = { .entries = 4 };
	int efd = eventfd(0, EFD_CLOEXEC);

	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context));
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &set));
	TWICE(0, QUERY, query, { .type = DRM_VFENCE_QUERY_CLOCK, .size = sizeof(clock),
				 .data = (uintptr_t)&clock });
	TWICE(0, DEVICE_CREATE, device_create, { 0 });
	TWICE(0, CONTEXT_CREATE, context_create, { .device = device });
	TWICE(0, CONTEXT_SUSPEND, context_suspend, { .context = context.handle });
	TWICE(0, BO_CREATE, bo_create, { .size = 100 });
	TWICE(0, FENCE_CREATE, fence_create, { .device = device });
	TWICE(0, WAIT, wait, { .points = DRM_VFENCE_OBJ_ARRAY(1, &point), .flags = 1 });
	TWICE(0, WAIT_SET_CREATE, wait_set_create, { .entries = 4 });
	TWICE(0, WAIT_SET_WAIT, wait_set_wait, { .set = set.handle });
	TWICE(0, EVENT_ARM, event_arm, { .points = DRM_VFENCE_OBJ_ARRAY(1, &point),
					 .eventfd = efd });
	TWICE(0, QUEUE_CREATE, queue_create, { .context = context.handle });
	TWICE(0, QUEUE_CREATE, queue_create, { .context = context.handle,
					       .flags = DRM_VFENCE_QUEUE_USER_MODE });
	TWICE(0, QUERY, query, { .type = DRM_VFENCE_QUERY_QUEUE, .size = sizeof(info),
				 .data = (uintptr_t)&info,
				 .handle = vf_queue_handle(self->gfx) });
	TWICE(0, DOORBELL_CONNECT, doorbell_connect, { .queue = vf_queue_handle(self->gfx) });
	close(efd);
}

TEST_HARNESS_MAIN
