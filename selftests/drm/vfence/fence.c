// SPDX-License-Identifier: GPL-2.0-only
/* Native fences: values, waits, the conditional interrupt. */

#include "vfence_test.h"

FIXTURE(fence) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	struct vf_fence *gate;
	int efd;
};

FIXTURE_SETUP(fence)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->gate));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, self->efd);
}

FIXTURE_TEARDOWN(fence)
{
	close(self->efd);
	vf_fence_destroy(self->fence);
	vf_fence_destroy(self->gate);
	VFENCE_TEARDOWN();
}

static int arm_event(struct vf_adapter *adapter, struct vf_fence *fence, uint64_t value, int efd,
		     uint32_t *event)
{
	struct vf_point point = { fence, value };

	return vf_event_arm(adapter, &point, 1, 0, efd, event);
}

static int gpu_signal(struct vf_queue *queue, struct vf_fence *fence, uint64_t value)
{
	vf_cmd_signal(queue, fence, value);
	return vf_queue_submit(queue);
}

TEST_F(fence, WDDM_37_creation_returns_handle_and_addresses)
{
	const struct drm_vfence_fence_mapping *m;
	uint64_t initial = UINT64_C(0xfedcba9876543210);
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, initial, &fence));
	m = vf_fence_mapping(fence);
	EXPECT_NE(0, vf_fence_handle(fence));
	EXPECT_NE(0, m->current_va);
	EXPECT_NE(0, m->monitored_va);
	EXPECT_EQ(0, m->current_va % 8);
	EXPECT_EQ(0, m->monitored_va % 8);
	EXPECT_EQ(initial, vf_fence_current(fence));
	vf_fence_destroy(fence);
}

TEST_F(fence, WDDM_1_wait_is_satisfied_iff_current_reaches_value)
{
	static const struct { uint64_t current, awaited; int ret; } table[] = {
		{ 0, 0, 0 }, { 0, 1, -ETIME }, { 1, 1, 0 }, { 2, 1, 0 },
		{ UINT32_MAX, (uint64_t)UINT32_MAX + 1, -ETIME },
		{ (uint64_t)UINT32_MAX + 1, UINT32_MAX, 0 },
		{ INT64_MAX, (uint64_t)INT64_MAX + 1, -ETIME },
		{ (uint64_t)INT64_MAX + 1, INT64_MAX, 0 },
		{ UINT64_MAX - 1, UINT64_MAX, -ETIME }, { UINT64_MAX, UINT64_MAX, 0 },
		{ UINT64_MAX, 1, 0 }, { 0, UINT64_MAX, -ETIME },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		ASSERT_EQ(0, vf_fence_signal(self->fence, table[i].current));
		EXPECT_EQ(table[i].current, vf_fence_current(self->fence));
		/* Try it by polling, and by a wait whose deadline has passed. */
		EXPECT_EQ(table[i].ret, vf_fence_wait(self->fence, table[i].awaited, 0));
		EXPECT_EQ(table[i].ret, vf_fence_wait(self->fence, table[i].awaited, 1));
	}
}

TEST_F(fence, WDDM_5_6_7_8_monitored_follows_the_waiters)
{
	uint32_t e42, e50, e10, e42b;

	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 42, self->efd, &e42));
	EXPECT_EQ(41, monitored(self->fence));
	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 50, self->efd, &e50));
	EXPECT_EQ(41, monitored(self->fence));
	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 10, self->efd, &e10));
	EXPECT_EQ(9, monitored(self->fence));
	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 42, self->efd, &e42b));
	/* Cancel the waiter for 10 and one of the two for 42. */
	ASSERT_EQ(0, vf_event_cancel(self->adapter, e10));
	EXPECT_EQ(41, monitored(self->fence));
	ASSERT_EQ(0, vf_event_cancel(self->adapter, e42));
	EXPECT_EQ(41, monitored(self->fence));
	/* Satisfy the other waiter for 42. */
	ASSERT_EQ(0, vf_fence_signal(self->fence, 42));
	EXPECT_EQ(49, monitored(self->fence));
	ASSERT_EQ(0, vf_event_cancel(self->adapter, e50));
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
	/* Let a waiter time out. */
	EXPECT_EQ(-ETIME, vf_fence_wait(self->fence, 100, vf_deadline(1000)));
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
}

TEST_F(fence, WDDM_5_value_one_and_maximum)
{
	uint32_t event;

	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 1, self->efd, &event));
	EXPECT_EQ(0, monitored(self->fence));
	ASSERT_EQ(0, vf_event_cancel(self->adapter, event));
	ASSERT_EQ(0, arm_event(self->adapter, self->fence, UINT64_MAX, self->efd, &event));
	EXPECT_EQ(UINT64_MAX - 1, monitored(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->fence, UINT64_MAX));
	EXPECT_TRUE(fired(self->efd));
}

TEST_F(fence, WDDM_10_signals_nobody_waits_for_raise_no_interrupt)
{
	struct vf_counters before, after;
	unsigned int i;

	ASSERT_TRUE(settled(self->adapter, &before));
	for (i = 1; i <= 100; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	/* The engine stores a value before it counts the signal: wait until it is idle. */
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.signals + 101, after.signals);
	EXPECT_EQ(before.suppressed + 101, after.suppressed);
	EXPECT_EQ(before.interrupts_raised, after.interrupts_raised);
	EXPECT_EQ(before.handler_runs, after.handler_runs);
}

TEST_F(fence, WDDM_9_10_11_12_the_worked_example)
{
	struct vf_counters before, after;
	int other = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint32_t event;

	/* With waiters for 42 and 43 the monitored value is 41. */
	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 42, self->efd, NULL));
	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 43, other, &event));
	ASSERT_TRUE(settled(self->adapter, &before));
	EXPECT_EQ(41, monitored(self->fence));
	/* Signals up to 41 raise no interrupt. */
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 40));
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 41));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.interrupts_raised, after.interrupts_raised);
	EXPECT_FALSE(fired(self->efd));
	/* 42 > 41 raises one interrupt, which completes the waiter for 42 and no other. */
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 42));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.interrupts_raised + 1, after.interrupts_raised);
	EXPECT_EQ(before.records_useful + 1, after.records_useful);
	EXPECT_FALSE(fired(other));
	/* The monitored value has moved on. */
	EXPECT_EQ(42, monitored(self->fence));
	ASSERT_EQ(0, vf_event_cancel(self->adapter, event));
	close(other);
}

TEST_F(fence, WDDM_11_all_reached_waiters_complete_in_one_interrupt)
{
	struct vf_counters before, after;
	struct drm_vfence_fence_info query;
	int efd[200];
	unsigned int i;

	/* There are more events than the budget of the hard interrupt handler. */
	for (i = 0; i < ARRAY_SIZE(efd); i++) {
		efd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		ASSERT_EQ(0, arm_event(self->adapter, self->fence, i + 1, efd[i], NULL));
	}
	ASSERT_TRUE(settled(self->adapter, &before));
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 150));
	for (i = 0; i < ARRAY_SIZE(efd); i++) {
		if (i < 150)
			EXPECT_TRUE(EVENTUALLY(fired(efd[i])));
	}
	ASSERT_TRUE(settled(self->adapter, &after));
	for (i = 150; i < ARRAY_SIZE(efd); i++)
		EXPECT_FALSE(fired(efd[i]));
	EXPECT_EQ(before.interrupts_raised + 1, after.interrupts_raised);
	ASSERT_EQ(0, vf_fence_query(self->fence, &query));
	EXPECT_EQ(150, query.monitored_value);
	EXPECT_EQ(50, query.waiters);
	EXPECT_EQ(150, query.woken);
	for (i = 0; i < ARRAY_SIZE(efd); i++)
		close(efd[i]);
}

TEST_F(fence, WDDM_13_value_already_there_completes_without_interrupt)
{
	struct vf_counters before, after;

	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 7));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_TRUE(settled(self->adapter, &before));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 7, VF_FOREVER));
	EXPECT_EQ(1, arm_event(self->adapter, self->fence, 7, self->efd, NULL));
	/* The eventfd has one rule, whenever the value is reached. */
	EXPECT_TRUE(fired(self->efd));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.interrupts_raised, after.interrupts_raised);
	EXPECT_EQ(before.waits_begun, after.waits_begun);
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
}

TEST_F(fence, WDDM_15_spurious_interrupts_are_tolerated)
{
	struct vf_counters before, after;
	unsigned int i;

	if (geteuid())
		SKIP(return, "needs root");
	/* The CMP puts four values into one record, and the first one has the only waiter. */
	ASSERT_TRUE(settled(self->adapter, &before));
	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 1, self->efd, NULL));
	ASSERT_EQ(0, inject(0, "hold_posts", "1"));
	for (i = 1; i <= 4; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, inject(0, "hold_posts", "0"));
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 5));
	ASSERT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_LE(before.records_spurious + 3, after.records_spurious);
	EXPECT_EQ(before.waits_satisfied + 1, after.waits_satisfied);
	EXPECT_TRUE(working(self->adapter));
}

TEST_F(fence, WDDM_18_gpu_wait_is_released_by_the_gpu_alone)
{
	struct vf_counters before, after;

	vf_cmd_wait(self->copy, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	/*
	 * The queue that signals waits for the gate first, so that its submission is
	 * complete before the counters are read.
	 */
	vf_cmd_wait(self->gfx, self->gate, 1);
	vf_cmd_signal(self->gfx, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(settled(self->adapter, &before));
	ASSERT_TRUE(drained(self->copy));
	ASSERT_TRUE(settled(self->adapter, &after));
	EXPECT_EQ(before.interrupts_raised, after.interrupts_raised);
	EXPECT_EQ(before.handler_runs, after.handler_runs);
}

TEST_F(fence, WDDM_18_gpu_waits_are_released_in_any_order)
{
	unsigned int i;

	/* Signals come before or after their waits, and their values are exact or too high. */
	for (i = 1; i <= 1000; i++) {
		if (i % 2)
			ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 10 * i));
		vf_cmd_wait(self->copy, self->fence, 10 * i - i % 5);
		ASSERT_EQ(0, vf_queue_submit(self->copy));
		if (!(i % 2))
			ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 10 * i));
		ASSERT_TRUE(drained(self->copy));
	}
}

TEST_F(fence, WDDM_19_wait_for_reached_value_does_not_stall)
{
	struct vf_node_totals before[8], after[8];
	unsigned int n = 8;

	ASSERT_EQ(0, vf_fence_signal(self->fence, 9));
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, before, &n));
	vf_cmd_wait(self->copy, self->fence, 9);
	vf_cmd_wait(self->copy, self->fence, 0);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(drained(self->copy));
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, after, &n));
	EXPECT_EQ(before[DRM_VFENCE_NODE_COPY].waits_stalled,
		  after[DRM_VFENCE_NODE_COPY].waits_stalled);
	/* A wait for a value that is not reached stalls the queue. */
	vf_cmd_wait(self->copy, self->fence, 10);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, after, &n));
	EXPECT_EQ(before[DRM_VFENCE_NODE_COPY].waits_stalled + 1,
		  after[DRM_VFENCE_NODE_COPY].waits_stalled);
}

TEST_F(fence, WDDM_20_21_values_are_apart_and_private_fences_packed)
{
	const struct drm_vfence_fence_mapping *a = vf_fence_mapping(self->fence);
	const struct drm_vfence_fence_mapping *b = vf_fence_mapping(self->gate);
	struct drm_vfence_adapter_info info;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	EXPECT_NE(a->current_va / 4096, a->monitored_va / 4096);
	EXPECT_EQ(a->current_offset, b->current_offset);
	EXPECT_EQ(info.fence_stride, b->current_page_offset - a->current_page_offset);
	EXPECT_EQ(info.fence_stride, b->current_va - a->current_va);
	EXPECT_EQ(info.fence_stride, b->monitored_va - a->monitored_va);
	/* A store to one of the four places must not change the others. */
	ASSERT_EQ(0, arm(self->adapter, self->fence, 42, self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 7));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	EXPECT_EQ(41, monitored(self->fence));
	EXPECT_EQ(7, vf_fence_current(self->gate));
	EXPECT_EQ(NOT_MONITORED, monitored(self->gate));
}

/* Return how many mappings of the adapter this process has. */
static unsigned int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned int n = 0;
	char line[400];

	while (f && fgets(line, sizeof(line), f))
		n += !!strstr(line, "/dev/dri/renderD");
	if (f)
		fclose(f);
	return n;
}

/* A process may have some 65,000 mappings: fences must not use them up. */
TEST_F(fence, private_fences_share_a_mapping)
{
	struct drm_vfence_adapter_info info;
	struct vf_fence *fence[200];
	unsigned int before, i, k;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	before = mappings();
	ASSERT_LT(0, before);
	for (i = 0; i < 200; i++)
		ASSERT_EQ(0, vf_fence_create(self->device, 0, i, &fence[i]));
	EXPECT_LE(mappings(), before + 200 * info.fence_stride / 4096 + 1);
	/* Each shows its own value, and those of a page are destroyed one by one. */
	for (i = 0; i < 200; i += 2)
		vf_fence_destroy(fence[i]);
	for (i = 1; i < 200; i += 2) {
		EXPECT_EQ(i, vf_fence_current(fence[i]));
		ASSERT_EQ(0, vf_fence_signal(fence[i], i + 1000));
		for (k = i; k < 200; k += 2)
			EXPECT_EQ(k == i ? i + 1000 : k, vf_fence_current(fence[k]));
		vf_fence_destroy(fence[i]);
	}
	EXPECT_EQ(before, mappings());
}

/* A child inherits the open file, and none of the mappings. */
TEST_F(fence, a_child_maps_the_fences_that_it_makes)
{
	int status = -1;
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		struct vf_fence *fence[2];
		bool right = true;
		unsigned int i;

		for (i = 0; i < 2; i++)
			right = right && !vf_fence_create(self->device, 0, i + 7, &fence[i]) &&
				vf_fence_current(fence[i]) == i + 7;
		for (i = 0; right && i < 2; i++)
			vf_fence_destroy(fence[i]);
		_exit(right ? 0 : 1);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, vf_fence_current(self->fence));
}

TEST_F(fence, WDDM_23_shareable_fences_have_pages_of_their_own)
{
	struct vf_fence *s, *t, *later;

	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &s));
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &t));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &later));
	EXPECT_NE(vf_fence_mapping(s)->current_offset, vf_fence_mapping(t)->current_offset);
	EXPECT_NE(vf_fence_mapping(s)->current_offset,
		  vf_fence_mapping(self->fence)->current_offset);
	EXPECT_NE(vf_fence_mapping(s)->monitored_va / 4096,
		  vf_fence_mapping(t)->monitored_va / 4096);
	EXPECT_NE(vf_fence_mapping(s)->monitored_va / 4096,
		  vf_fence_mapping(self->fence)->monitored_va / 4096);
	/* A private fence does not join the shareable fences' pages later. */
	EXPECT_EQ(vf_fence_mapping(self->fence)->current_offset,
		  vf_fence_mapping(later)->current_offset);
	EXPECT_EQ(vf_fence_mapping(self->fence)->monitored_va / 4096,
		  vf_fence_mapping(later)->monitored_va / 4096);
	vf_fence_destroy(s);
	vf_fence_destroy(t);
	vf_fence_destroy(later);
}

TEST_F(fence, WDDM_22_private_fences_of_two_files_share_no_page)
{
	struct vf_adapter *other;
	struct vf_device *device;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_adapter_open(0, &other));
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence));
	EXPECT_NE(vf_fence_mapping(self->fence)->current_offset,
		  vf_fence_mapping(fence)->current_offset);
	/* A file must not map the page of the other file. */
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, vf_adapter_fd(other),
				   vf_fence_mapping(self->fence)->current_offset));
	EXPECT_EQ(EACCES, errno);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(other);
}

TEST_F(fence, WDDM_30_default_takes_every_kind_of_wait_and_signal)
{
	struct vf_point point = { self->fence, 4 };

	/* Signal from CPU to CPU, GPU to CPU, CPU to GPU, and GPU to GPU. */
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, 0));
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 2));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 2, DEADLINE));
	vf_cmd_wait(self->copy, self->fence, 3);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 3));
	EXPECT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	vf_cmd_wait(self->copy, self->fence, 4);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 4));
	EXPECT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	EXPECT_EQ(1, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
}

TEST_F(fence, WDDM_44_the_ordinary_destroy_destroys)
{
	uint32_t handle = vf_fence_handle(self->fence);
	struct drm_vfence_fence_info info;

	EXPECT_EQ(0, query_object(self->fd, DRM_VFENCE_QUERY_FENCE, handle, &info, sizeof(info)));
	EXPECT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE, handle));
	EXPECT_EQ(-ENOENT, query_object(self->fd, DRM_VFENCE_QUERY_FENCE, handle, &info,
					sizeof(info)));
	EXPECT_EQ(-ENOENT, destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE, handle));
}

TEST_F(fence, WDDM_62_63_cpu_signal_of_several_releases_their_queues)
{
	struct vf_fence *third;
	struct vf_point points[3];

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &third));
	points[0] = (struct vf_point){ self->fence, 11 };
	points[1] = (struct vf_point){ self->gate, 22 };
	points[2] = (struct vf_point){ third, 33 };
	vf_cmd_wait(self->gfx, self->fence, 11);
	vf_cmd_wait(self->gfx, self->gate, 22);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	vf_cmd_wait(self->copy, third, 33);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_signal(self->adapter, points, 3));
	EXPECT_EQ(11, vf_fence_current(self->fence));
	EXPECT_EQ(22, vf_fence_current(self->gate));
	EXPECT_EQ(33, vf_fence_current(third));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_TRUE(drained(self->copy));
	vf_fence_destroy(third);
}

TEST_F(fence, WDDM_62_a_cpu_signal_of_several_is_one_update)
{
	struct vf_node_totals before[8], after[8];
	struct vf_point points[16];
	unsigned int n = 8, i, k;

	points[0].fence = self->fence;
	for (k = 1; k < 16; k++)
		ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &points[k].fence));
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, before, &n));
	/*
	 * The call stores all values before it releases a queue: a queue that waits for
	 * two fences stalls once.
	 */
	for (i = 1; i <= 200; i++) {
		for (k = 0; k < 16; k++)
			points[k].value = i;
		vf_cmd_wait(self->copy, points[0].fence, i);
		vf_cmd_wait(self->copy, points[15].fence, i);
		ASSERT_EQ(0, vf_queue_submit(self->copy));
		ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
		ASSERT_EQ(0, vf_signal(self->adapter, points, 16));
		ASSERT_TRUE(drained(self->copy));
		ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, after, &n));
		ASSERT_EQ(before[DRM_VFENCE_NODE_COPY].waits_stalled + i,
			  after[DRM_VFENCE_NODE_COPY].waits_stalled);
	}
	for (k = 1; k < 16; k++)
		vf_fence_destroy(points[k].fence);
}

TEST_F(fence, WDDM_69_the_newest_cpu_value_wins)
{
	struct vf_point points[4] = {
		{ self->fence, 100 }, { self->fence, 7 }, { self->fence, 50 }, { self->fence, 3 },
	};

	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 60, self->efd, NULL));
	ASSERT_EQ(0, vf_signal(self->adapter, points, 4));
	EXPECT_EQ(3, vf_fence_current(self->fence));
	/* The value that was overwritten at once has released its waiter. */
	EXPECT_TRUE(fired(self->efd));
}

struct signals {
	struct vf_adapter *adapter;
	struct vf_fence *first, *last;
	uint64_t value;
	pthread_barrier_t *barrier;
};

/* Signal two fences in one call, in one order or in the other. */
static void *signal_many(void *arg)
{
	struct signals *s = arg;
	struct vf_point points[32];
	unsigned int i, k;

	for (i = 0; i < 1000; i++) {
		for (k = 0; k < 32; k++)
			points[k] = (struct vf_point){ k < 16 ? s->first : s->last, s->value };
		pthread_barrier_wait(s->barrier);
		vf_signal(s->adapter, points, 32);
		pthread_barrier_wait(s->barrier);
	}
	return NULL;
}

TEST_F_TIMEOUT(fence, WDDM_69_cpu_signals_of_two_threads_are_serialised, 300)
{
	pthread_barrier_t barrier;
	struct signals s[2] = {
		{ self->adapter, self->fence, self->gate, 1, &barrier },
		{ self->adapter, self->gate, self->fence, 2, &barrier },
	};
	unsigned int i, mixed = 0;
	pthread_t thread[2];

	ASSERT_EQ(0, pthread_barrier_init(&barrier, NULL, 3));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, signal_many, &s[i]));
	/* Both values come from the same call, whichever call was last. */
	for (i = 0; i < 1000; i++) {
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		mixed += vf_fence_current(self->fence) != vf_fence_current(self->gate);
	}
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
	EXPECT_EQ(0, mixed);
}

TEST_F(fence, a_pulse_releases_who_was_blocked)
{
	const uint64_t high = UINT64_C(0x900000009);
	uint64_t i;

	/* Signal a high value and then 1 before the CPU can read it. All 64 bits count. */
	for (i = 0; i < 20; i++) {
		vf_cmd_wait(self->copy, self->fence, high + i);
		ASSERT_EQ(0, vf_queue_submit(self->copy));
		ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
		ASSERT_EQ(0, arm_event(self->adapter, self->fence, high + i, self->efd, NULL));
		vf_cmd_signal(self->gfx, self->fence, high + i);
		vf_cmd_signal(self->gfx, self->fence, 1);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(drained(self->copy));
		ASSERT_TRUE(EVENTUALLY(fired(self->efd)));
		ASSERT_EQ(8, read(self->efd, &(uint64_t){ 0 }, 8));
		ASSERT_TRUE(drained(self->gfx));
		ASSERT_EQ(1, vf_fence_current(self->fence));
	}
}

TEST_F(fence, wait_any_and_all)
{
	struct vf_point points[3] = { { self->fence, 5 }, { self->gate, 1 }, { self->fence, 2 } };
	unsigned int first = 99;

	ASSERT_EQ(0, vf_fence_signal(self->fence, 2));
	EXPECT_EQ(0, vf_wait(self->adapter, points, 3, DRM_VFENCE_WAIT_ANY, VF_FOREVER, &first));
	EXPECT_EQ(2, first);
	EXPECT_EQ(-ETIME, vf_wait(self->adapter, points, 3, 0, vf_deadline(1000), NULL));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	first = 99;
	EXPECT_EQ(0, vf_wait(self->adapter, points, 2, DRM_VFENCE_WAIT_ANY, VF_FOREVER, &first));
	EXPECT_EQ(1, first);
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 5));
	EXPECT_EQ(0, vf_wait(self->adapter, points, 3, 0, DEADLINE, NULL));
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
	EXPECT_EQ(NOT_MONITORED, monitored(self->gate));
}

static int three_points(struct vf_device *device, struct vf_point *points)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 3 && !ret; i++) {
		points[i].value = 1;
		ret = vf_fence_create(device, 0, 0, &points[i].fence);
	}
	return ret;
}

static void three_fences_destroy(const struct vf_point *points)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		vf_fence_destroy(points[i].fence);
}

TEST_F(fence, a_wait_for_any_names_the_point_that_is_reached)
{
	struct vf_point points[3];
	unsigned int first, i;

	ASSERT_EQ(0, three_points(self->device, points));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, vf_fence_signal(points[i].fence, 1));
		first = POISON;
		EXPECT_EQ(0, vf_wait(self->adapter, points, 3, DRM_VFENCE_WAIT_ANY, 0, &first));
		EXPECT_EQ(i, first);
		ASSERT_EQ(0, vf_fence_signal(points[i].fence, 0));
	}
	three_fences_destroy(points);
}

struct any_wait {
	struct vf_adapter *adapter;
	struct vf_point points[3];
	unsigned int first;
	int ret;
};

static void *wait_for_any(void *arg)
{
	struct any_wait *w = arg;

	w->ret = vf_wait(w->adapter, w->points, 3, DRM_VFENCE_WAIT_ANY, DEADLINE, &w->first);
	return NULL;
}

/* A signal reaches all points at once: the least value is reached first, wherever it is. */
TEST_F(fence, a_wait_for_any_names_the_point_that_was_reached_first)
{
	struct any_wait w = { .adapter = self->adapter };
	pthread_t thread;
	unsigned int i, k;

	for (i = 0; i < 3; i++) {
		w.first = POISON;
		for (k = 0; k < 3; k++)
			w.points[(i + k) % 3] = (struct vf_point){ self->fence, 1 + k };
		ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_any, &w));
		ASSERT_TRUE(EVENTUALLY(waiters(self->fence) == 3));
		/* The thread that is woken runs after the call, where a test may have priority. */
		hurry(0, 1);
		ASSERT_EQ(0, vf_fence_signal(self->fence, 3));
		hurry(0, 0);
		pthread_join(thread, NULL);
		EXPECT_EQ(0, w.ret);
		EXPECT_EQ(i, w.first);
		ASSERT_EQ(0, vf_fence_signal(self->fence, 0));
	}
}

TEST_F(fence, all_keeps_what_was_reached_once)
{
	struct vf_point points[2] = { { self->fence, 5 }, { self->gate, 5 } };

	ASSERT_EQ(0, vf_event_arm(self->adapter, points, 2, 0, self->efd, NULL));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 5));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 0));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 5));
	EXPECT_TRUE(fired(self->efd));
}

TEST_F(fence, duplicates_in_one_wait)
{
	struct vf_point points[1024];
	unsigned int i;

	for (i = 0; i < 1024; i++)
		points[i] = (struct vf_point){ self->fence, 1 + i % 3 };
	ASSERT_EQ(0, vf_event_arm(self->adapter, points, 1024, 0, self->efd, NULL));
	EXPECT_EQ(0, monitored(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 2));
	EXPECT_FALSE(fired(self->efd));
	EXPECT_EQ(2, monitored(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 3));
	EXPECT_TRUE(fired(self->efd));
}

TEST_F(fence, one_event_for_several_fences)
{
	uint64_t n = 0;

	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 1, self->efd, NULL));
	ASSERT_EQ(0, arm_event(self->adapter, self->gate, 1, self->efd, NULL));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_EQ(0, gpu_signal(self->gfx, self->fence, 1));
	while (n < 2) {
		uint64_t more = 0;

		ASSERT_TRUE(EVENTUALLY(fired(self->efd)));
		ASSERT_EQ(8, read(self->efd, &more, 8));
		n += more;
	}
	EXPECT_EQ(2, n);
}

TEST_F(fence, signal_and_wait_in_one_call)
{
	struct vf_point signal = { self->gate, 3 }, point = { self->fence, 8 };

	/* The GPU answers the signal, so the wait ends only if the signal was sent. */
	vf_cmd_wait(self->gfx, self->gate, 3);
	vf_cmd_signal(self->gfx, self->fence, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, vf_signal_and_wait(self->adapter, &signal, 1, &point, 1, 0, DEADLINE, NULL));
	EXPECT_EQ(3, vf_fence_current(self->gate));
	EXPECT_EQ(8, vf_fence_current(self->fence));
}

static void on_signal(int signo)
{
}

struct interrupted {
	struct vf_adapter *adapter;
	struct vf_fence *fence, *gate;
	int ret, again;
};

static void *wait_interrupted(void *arg)
{
	struct interrupted *w = arg;
	struct drm_vfence_fence_point signal = { .fence = vf_fence_handle(w->gate), .value = 5 };
	struct drm_vfence_fence_point point = { .fence = vf_fence_handle(w->fence), .value = 1 };
	struct drm_vfence_wait args = {
		.timeout_ns = INT64_MAX,
		.points = DRM_VFENCE_OBJ_ARRAY(1, &point),
		.signals = DRM_VFENCE_OBJ_ARRAY(1, &signal),
	};

	/* SA_RESTART is off, so the call returns EINTR and is not restarted. */
	w->ret = ioctl(vf_adapter_fd(w->adapter), DRM_IOCTL_VFENCE_WAIT, &args) ? -errno : 0;
	if (w->ret != -EINTR)
		return NULL;
	/* The wait that goes on does not signal again. */
	args.timeout_ns = 1;
	w->again = ioctl(vf_adapter_fd(w->adapter), DRM_IOCTL_VFENCE_WAIT, &args) ? -errno : 0;
	return NULL;
}

TEST_F(fence, interrupted_wait_signals_only_once)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct interrupted w = { self->adapter, self->fence, self->gate, 0, 0 };
	struct vf_counters before, after;
	struct drm_vfence_fence_info query;
	pthread_t thread;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	before = counters(self->adapter);
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_interrupted, &w));
	ASSERT_TRUE(EVENTUALLY(!vf_fence_query(self->fence, &query) && query.waiters == 1));
	ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	pthread_join(thread, NULL);
	EXPECT_EQ(-EINTR, w.ret);
	EXPECT_EQ(-ETIME, w.again);
	after = counters(self->adapter);
	EXPECT_EQ(before.cpu_signals + 1, after.cpu_signals);
	EXPECT_EQ(before.waits_timed_out + 1, after.waits_timed_out);
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
}

TEST_F(fence, the_handle_of_an_event_that_fired_is_nobody_elses)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_point point = { self->fence, 1 }, other = { self->fence, 100 };
	uint32_t first, second;

	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, &first));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_TRUE(EVENTUALLY(vf_event_cancel(self->adapter, first) == -ENOENT));
	/*
	 * Another thread arms an event. The owner of the first one learns late that it
	 * fired.
	 */
	ASSERT_EQ(0, vf_event_arm(self->adapter, &other, 1, 0, efd, &second));
	EXPECT_EQ(-ENOENT, vf_event_cancel(self->adapter, first));
	EXPECT_EQ(0, vf_event_cancel(self->adapter, second));
	close(efd);
}

TEST_F(fence, a_deadline_beyond_all_time_is_for_ever)
{
	EXPECT_EQ(VF_FOREVER, vf_deadline(INT64_MAX));
	EXPECT_EQ(VF_FOREVER, vf_deadline(INT64_MAX - 1));
	EXPECT_LT(0, vf_deadline(INT64_MAX / 2));
	EXPECT_EQ(0, vf_deadline(INT64_MIN));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, vf_deadline(INT64_MAX)));
}

TEST_F(fence, a_stale_handle_names_no_later_object)
{
	uint32_t device = vf_device_handle(self->device);
	struct drm_vfence_context_create context[2] = { { .device = device }, { .device = device } };
	struct drm_vfence_fence_create fence[2] = { { .device = device }, { .device = device } };
	struct drm_vfence_queue_create queue[2] = { };
	struct drm_vfence_device_create other[2] = { };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_DEVICE_CREATE, &other[i]));
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context[i]));
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &fence[i]));
		queue[i].context = context[i].handle;
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &queue[i]));
		destroy_object(self->fd, DRM_VFENCE_OBJECT_QUEUE, queue[i].handle);
		destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE, fence[i].handle);
		destroy_object(self->fd, DRM_VFENCE_OBJECT_CONTEXT, context[i].handle);
		destroy_object(self->fd, DRM_VFENCE_OBJECT_DEVICE, other[i].handle);
	}
	EXPECT_NE(other[0].handle, other[1].handle);
	EXPECT_NE(context[0].handle, context[1].handle);
	EXPECT_NE(fence[0].handle, fence[1].handle);
	EXPECT_NE(queue[0].handle, queue[1].handle);
	EXPECT_NE(queue[0].progress_fence, queue[1].progress_fence);
}

TEST_F(fence, a_slot_is_used_again_last)
{
	struct drm_vfence_adapter_info info;
	struct vf_fence *fence;
	unsigned int i, slots;
	uint64_t stale;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	slots = (unsigned int)sysconf(_SC_PAGESIZE) / info.fence_stride;
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	stale = vf_fence_mapping(fence)->current_va;
	vf_fence_destroy(fence);
	/* Some slots of the page are in use, by fences of the fixture. */
	for (i = 0; i < slots / 2; i++) {
		ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
		EXPECT_NE(stale, vf_fence_mapping(fence)->current_va);
		vf_fence_destroy(fence);
	}
}

/* The fence that @va is the address of now, or NULL. */
static struct vf_fence *create_fence_at(struct vf_device *device, uint64_t va)
{
	struct vf_fence *others[1024], *fence = NULL;
	unsigned int n = 0;

	while (!fence && n < ARRAY_SIZE(others) && !vf_fence_create(device, 0, 0, &others[n])) {
		if (vf_fence_mapping(others[n])->current_va == va)
			fence = others[n];
		else
			n++;
	}
	while (n)
		vf_fence_destroy(others[--n]);
	return fence;
}

/* What a queue remembers of the addresses in its packets ends with the handle. */
TEST_F(fence, a_queue_signals_the_fence_that_an_address_belongs_to_now)
{
	struct vf_fence *first, *second;
	uint64_t va;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &first));
	va = vf_fence_mapping(first)->current_va;
	vf_cmd_signal(self->gfx, first, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	vf_fence_destroy(first);
	second = create_fence_at(self->device, va);
	ASSERT_NE(NULL, second);
	vf_cmd_wait(self->gfx, self->gate, 1);
	vf_cmd_signal(self->gfx, second, 7);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(7, vf_fence_current(second));
	vf_fence_destroy(second);
}

TEST_F(fence, event_that_fired_cannot_be_cancelled)
{
	uint32_t event;

	ASSERT_EQ(0, arm_event(self->adapter, self->fence, 1, self->efd, &event));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_EQ(-ENOENT, vf_event_cancel(self->adapter, event));
	EXPECT_TRUE(fired(self->efd));
}

TEST_HARNESS_MAIN
