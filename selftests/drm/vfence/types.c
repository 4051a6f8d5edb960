// SPDX-License-Identifier: GPL-2.0-only
/*
 * Types of fences and the places of their values. The adapters differ: adapter 0 is
 * plain. Adapter 1 has no INTRA_GPU fences. Adapter 2 has six pages of video memory, two
 * of them visible, and keeps monitored values of DEFAULT fences in the visible ones.
 */

#include "vfence_test.h"

FIXTURE(types) {
	struct client c[8];
	struct vf_queue *gfx;
	struct vf_queue *copy;
};

FIXTURE_SETUP(types)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		if (vf_adapter_open(2, &self->c[i].adapter))
			SKIP(return, "needs the adapters of the guests");
		ASSERT_EQ(0, vf_device_create(self->c[i].adapter, &self->c[i].device));
	}
	ASSERT_EQ(0, vf_queue_create(self->c[0].device, DRM_VFENCE_NODE_GFX, 65536, &self->gfx));
	ASSERT_EQ(0, vf_queue_create(self->c[0].device, DRM_VFENCE_NODE_COPY, 65536,
				     &self->copy));
}

FIXTURE_TEARDOWN(types)
{
	unsigned int i;

	vf_queue_abort(self->gfx);
	vf_queue_abort(self->copy);
	vf_queue_destroy(self->gfx);
	vf_queue_destroy(self->copy);
	for (i = 0; i < 8; i++) {
		vf_device_destroy(self->c[i].device);
		vf_adapter_close(self->c[i].adapter);
	}
}

static int intra_gpu(struct client *c, struct vf_fence **fence)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };

	return vf_fence_create_desc(c->device, &desc, fence);
}

/* Return: true if @fence has reached @value, by a wait of @queue and without any CPU wait. */
static bool reached(struct vf_queue *queue, struct vf_fence *fence, uint64_t value)
{
	vf_cmd_wait(queue, fence, value);
	return !vf_queue_submit(queue) && drained(queue);
}

/* Make other clients take video memory until @evictions more pages have moved. */
static bool squeeze(struct client *c, uint32_t type, uint64_t evictions)
{
	struct vf_fence_desc desc = { .type = type };
	uint64_t before = counters(c->adapter).evictions;
	struct vf_fence *fence;
	unsigned int i;

	for (i = 0; i < 7; i++) {
		if (vf_fence_create_desc(c[1 + i].device, &desc, &fence))
			return false;
		if (counters(c->adapter).evictions >= before + evictions)
			return true;
	}
	return false;
}

TEST_F(types, WDDM_31_32_intra_gpu_is_not_for_the_cpu)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct drm_vfence_fence_info query;
	struct vf_fence *fence;
	struct vf_point point;

	ASSERT_EQ(0, intra_gpu(&self->c[0], &fence));
	point = (struct vf_point){ fence, 1 };
	EXPECT_EQ(0, vf_fence_mapping(fence)->current_offset);
	EXPECT_EQ(0, vf_fence_mapping(fence)->current_page_offset);
	EXPECT_NE(0, vf_fence_mapping(fence)->current_va);
	EXPECT_NE(0, vf_fence_mapping(fence)->monitored_va);
	EXPECT_EQ(-EOPNOTSUPP, vf_fence_wait(fence, 1, 0));
	EXPECT_EQ(-EOPNOTSUPP, vf_fence_wait(fence, 0, DEADLINE));
	EXPECT_EQ(-EOPNOTSUPP, vf_fence_signal(fence, 1));
	EXPECT_EQ(-EOPNOTSUPP, vf_event_arm(self->c[0].adapter, &point, 1, 0, efd, NULL));
	/* The whole list is refused, even if only one of several fences is INTRA_GPU. */
	EXPECT_EQ(-EOPNOTSUPP, vf_signal(self->c[0].adapter,
			(struct vf_point[]){ { vf_queue_progress(self->gfx), 9 }, point }, 2));
	EXPECT_EQ(0, vf_fence_current(vf_queue_progress(self->gfx)));
	ASSERT_EQ(0, vf_fence_query(fence, &query));
	EXPECT_EQ(DRM_VFENCE_FENCE_INTRA_GPU, query.type);
	EXPECT_EQ(0, query.current_value);
	EXPECT_EQ(NOT_MONITORED, query.monitored_value);
	vf_fence_destroy(fence);
	close(efd);
}

TEST_F(types, WDDM_33_intra_gpu_starts_with_what_a_packet_stores)
{
	struct vf_fence *fence, *done;

	ASSERT_EQ(0, intra_gpu(&self->c[0], &fence));
	ASSERT_EQ(0, vf_fence_create(self->c[0].device, 0, 0, &done));
	vf_cmd_signal(self->gfx, fence, UINT64_C(1) << 40);
	vf_cmd_signal(self->gfx, done, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, vf_fence_wait(done, 1, DEADLINE));
	EXPECT_TRUE(reached(self->copy, fence, UINT64_C(1) << 40));
	/* The next value is not reached: the queue blocks, and the GPU releases it. */
	vf_cmd_wait(self->copy, fence, (UINT64_C(1) << 40) + 1);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	vf_cmd_signal(self->gfx, fence, (UINT64_C(1) << 40) + 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->copy));
	vf_fence_destroy(fence);
	vf_fence_destroy(done);
}

TEST_F(types, WDDM_25_shared_fences_are_in_system_memory)
{
	struct vf_fence_desc desc = { .flags = DRM_VFENCE_FENCE_SHAREABLE };
	uint64_t before = counters(self->c[0].adapter).local_pages;
	struct vf_fence *shared, *intra, *opened;
	int fd;

	ASSERT_EQ(0, vf_fence_create_desc(self->c[0].device, &desc, &shared));
	desc.type = DRM_VFENCE_FENCE_INTRA_GPU;
	ASSERT_EQ(0, vf_fence_create_desc(self->c[0].device, &desc, &intra));
	EXPECT_EQ(before, counters(self->c[0].adapter).local_pages);
	/* INTRA_GPU fences are shared between processes, too. */
	fd = vf_fence_export(intra);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, vf_fence_open(self->c[1].device, fd, &opened));
	EXPECT_EQ(0, vf_fence_mapping(opened)->current_offset);
	EXPECT_EQ(-EOPNOTSUPP, vf_fence_signal(opened, 1));
	vf_cmd_signal(self->gfx, intra, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_TRUE(reached(self->copy, intra, 5));
	close(fd);
	vf_fence_destroy(opened);
	vf_fence_destroy(shared);
	vf_fence_destroy(intra);
}

TEST_F(types, WDDM_26_27_35_optimised_is_placed_locally_and_looks_the_same)
{
	struct vf_counters before = counters(self->c[0].adapter);
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_adapter *plain;
	struct vf_device *device;
	struct drm_vfence_fence_info query[2];
	struct vf_fence *here, *there, *intra;
	struct vf_point point;

	/* The progress fences of the queues use one visible page. */
	EXPECT_LE(1, before.local_pages);
	ASSERT_EQ(0, vf_fence_create(self->c[1].device, 0, 7, &here));
	EXPECT_EQ(before.local_pages + 1, counters(self->c[0].adapter).local_pages);
	/* The kernel updates the value in video memory, and the GPU compares with it. */
	point = (struct vf_point){ here, 9 };
	ASSERT_EQ(0, vf_event_arm(self->c[1].adapter, &point, 1, 0, efd, NULL));
	EXPECT_EQ(8, monitored(here));
	ASSERT_EQ(0, vf_fence_signal(here, 9));
	EXPECT_TRUE(fired(efd));
	EXPECT_EQ(NOT_MONITORED, monitored(here));
	/* An INTRA_GPU fence is in invisible memory: it takes no visible page. */
	ASSERT_EQ(0, intra_gpu(&self->c[0], &intra));
	EXPECT_EQ(before.local_pages + 3, counters(self->c[0].adapter).local_pages);
	EXPECT_EQ(before.evictions, counters(self->c[0].adapter).evictions);
	vf_fence_destroy(intra);
	/*
	 * A client cannot observe a difference from a fence of an adapter without the
	 * variant.
	 */
	ASSERT_EQ(0, vf_adapter_open(0, &plain));
	ASSERT_EQ(0, vf_device_create(plain, &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 7, &there));
	EXPECT_EQ(vf_fence_mapping(here)->current_offset != 0,
		  vf_fence_mapping(there)->current_offset != 0);
	EXPECT_EQ(0, counters(plain).local_pages);
	ASSERT_EQ(0, vf_fence_query(here, &query[0]));
	ASSERT_EQ(0, vf_fence_query(there, &query[1]));
	EXPECT_EQ(query[1].type, query[0].type);
	EXPECT_EQ(query[1].rights, query[0].rights);
	vf_fence_destroy(there);
	vf_device_destroy(device);
	vf_adapter_close(plain);
	vf_fence_destroy(here);
	close(efd);
}

TEST_F(types, WDDM_36_both_are_gated)
{
	struct drm_vfence_fence_caps caps;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;
	struct client c;

	ASSERT_EQ(0, vf_adapter_fence_caps(self->c[0].adapter, &caps));
	EXPECT_TRUE(caps.flags & DRM_VFENCE_CAP_OPTIMIZED);
	EXPECT_TRUE(caps.flags & DRM_VFENCE_CAP_INTRA_GPU);
	ASSERT_EQ(0, vf_adapter_open(1, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_adapter_fence_caps(adapter, &caps));
	EXPECT_FALSE(caps.flags & DRM_VFENCE_CAP_OPTIMIZED);
	EXPECT_FALSE(caps.flags & DRM_VFENCE_CAP_INTRA_GPU);
	c = (struct client){ adapter, device };
	EXPECT_EQ(-EOPNOTSUPP, intra_gpu(&c, &fence));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence));
	EXPECT_EQ(0, counters(adapter).local_pages);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(types, a_kernel_mode_queue_signals_an_intra_gpu_fence)
{
	struct vf_queue *queue;
	struct vf_fence *fence;

	ASSERT_EQ(0, intra_gpu(&self->c[0], &fence));
	ASSERT_EQ(0, vf_kernel_queue_create(self->c[0].device, DRM_VFENCE_NODE_GFX, &queue));
	vf_cmd_signal(queue, fence, 5);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
	EXPECT_TRUE(reached(self->copy, fence, 5));
	vf_queue_destroy(queue);
	vf_fence_destroy(fence);
}

TEST_F(types, WDDM_28_an_evicted_intra_gpu_fence_goes_on)
{
	struct vf_fence *fence, *gate;

	ASSERT_EQ(0, intra_gpu(&self->c[0], &fence));
	ASSERT_EQ(0, intra_gpu(&self->c[0], &gate));
	vf_cmd_signal(self->gfx, fence, 77);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	vf_cmd_wait(self->copy, gate, 5);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	/* The two pages of the fence are the oldest of the four invisible pages. */
	ASSERT_TRUE(squeeze(self->c, DRM_VFENCE_FENCE_INTRA_GPU, 2));
	/*
	 * The stored value has moved with its page, and the signal releases the blocked
	 * queue.
	 */
	EXPECT_TRUE(reached(self->gfx, fence, 77));
	vf_cmd_signal(self->gfx, gate, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->copy));
	vf_fence_destroy(fence);
	vf_fence_destroy(gate);
}

TEST_F(types, WDDM_28_64_an_evicted_monitored_value_goes_on)
{
	int early = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int late = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_fence *fence;
	struct vf_point point;

	/* The fence is in the page of the progress fences, which is the oldest visible page. */
	ASSERT_EQ(0, vf_fence_create(self->c[0].device, 0, 0, &fence));
	point = (struct vf_point){ fence, 20 };
	ASSERT_EQ(0, vf_event_arm(self->c[0].adapter, &point, 1, 0, early, NULL));
	ASSERT_TRUE(squeeze(self->c, DRM_VFENCE_FENCE_DEFAULT, 1));
	/* The value that the kernel wrote has moved, and later updates find the new place. */
	EXPECT_EQ(19, monitored(fence));
	point.value = 10;
	ASSERT_EQ(0, vf_event_arm(self->c[0].adapter, &point, 1, 0, late, NULL));
	EXPECT_EQ(9, monitored(fence));
	vf_cmd_signal(self->gfx, fence, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(late)));
	EXPECT_FALSE(fired(early));
	EXPECT_EQ(19, monitored(fence));
	vf_cmd_signal(self->gfx, fence, 20);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(early)));
	EXPECT_EQ(NOT_MONITORED, monitored(fence));
	vf_fence_destroy(fence);
	close(early);
	close(late);
}

TEST_F(types, freed_video_memory_is_cleared_before_somebody_else_gets_it)
{
	struct vf_fence *fence[4];
	struct vf_queue *queue;
	unsigned int i;

	/* Client 1 fills the invisible pages and closes. */
	ASSERT_EQ(0, vf_queue_create(self->c[1].device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, intra_gpu(&self->c[1], &fence[i]));
		vf_cmd_signal(queue, fence[i], UINT64_MAX);
	}
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	vf_queue_destroy(queue);
	for (i = 0; i < 4; i++)
		vf_fence_destroy(fence[i]);
	vf_device_destroy(self->c[1].device);
	vf_adapter_close(self->c[1].adapter);
	ASSERT_EQ(0, vf_adapter_open(2, &self->c[1].adapter));
	ASSERT_EQ(0, vf_device_create(self->c[1].adapter, &self->c[1].device));
	/* Client 0 reads zeroes, so its queue blocks. */
	ASSERT_EQ(0, intra_gpu(&self->c[0], &fence[0]));
	vf_cmd_wait(self->gfx, fence[0], 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	vf_fence_destroy(fence[0]);
}

TEST_F(types, video_memory_comes_back)
{
	struct vf_counters before = counters(self->c[0].adapter), after;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;
	struct client c;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, vf_adapter_open(2, &adapter));
		ASSERT_EQ(0, vf_device_create(adapter, &device));
		c = (struct client){ adapter, device };
		ASSERT_EQ(0, intra_gpu(&c, &fence));
		/* Let the closing file clean up. */
		vf_adapter_close(adapter);
		free(device);
		free(fence);
	}
	after = counters(self->c[0].adapter);
	EXPECT_EQ(before.local_pages, after.local_pages);
	EXPECT_EQ(before.evictions, after.evictions);
}

TEST(WDDM_82_a_kernel_mode_queue_has_no_logs)
{
	struct drm_vfence_node_info nodes[8];
	struct vf_node_totals totals[8];
	struct vf_counters c;
	unsigned int n = 8;
	struct vf_fence *fence;
	struct client client;

	if (geteuid() || access("/sys/bus/platform/devices/vfence.2/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	/* Use the counters of a new adapter, whose only queue so far is the paging queue. */
	ASSERT_EQ(0, driver("unbind", 2));
	ASSERT_EQ(0, driver("bind", 2));
	ASSERT_EQ(0, vf_adapter_open(2, &client.adapter));
	ASSERT_EQ(0, vf_device_create(client.adapter, &client.device));
	ASSERT_EQ(0, intra_gpu(&client, &fence));
	ASSERT_EQ(0, vf_adapter_nodes(client.adapter, nodes, &n));
	/* The paging queue has executed packets, and was never given a log. */
	EXPECT_EQ(DRM_VFENCE_NODE_PAGING, nodes[n - 1].class_id);
	ASSERT_EQ(0, vf_adapter_node_totals(client.adapter, totals, &n));
	EXPECT_LT(0, totals[n - 1].packets);
	c = counters(client.adapter);
	EXPECT_EQ(0, c.log_buffers_set);
	EXPECT_EQ(0, c.log_packets);
	vf_fence_destroy(fence);
	vf_device_destroy(client.device);
	vf_adapter_close(client.adapter);
}

TEST_HARNESS_MAIN
