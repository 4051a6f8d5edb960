// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rewinds and edges: promises about values that decrease, pulse, or are as large as
 * possible, in every form of the interrupt.
 */

#include "vfence_test.h"

FIXTURE(rewind) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	struct vf_fence *other;
	int efd, late;
};

FIXTURE_VARIANT(rewind) {
	unsigned int index;
};

FIXTURE_VARIANT_ADD(rewind, array) {
	.index = 0,
};

FIXTURE_VARIANT_ADD(rewind, null) {
	.index = 1,
};

FIXTURE_VARIANT_ADD(rewind, shadow) {
	.index = 2,
};

FIXTURE_VARIANT_ADD(rewind, queue) {
	.index = 8,
};

FIXTURE_VARIANT_ADD(rewind, queue_null) {
	.index = 9,
};

FIXTURE_SETUP(rewind)
{
	if (access("/sys/bus/platform/devices/vfence.10/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	VFENCE_SETUP(variant->index);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->other));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	self->late = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(rewind)
{
	inject(variant->index, "hold_posts", "0");
	close(self->efd);
	close(self->late);
	vf_fence_destroy(self->fence);
	vf_fence_destroy(self->other);
	VFENCE_TEARDOWN();
}

static void clear(int efd)
{
	uint64_t count;

	while (read(efd, &count, sizeof(count)) > 0)
		;
}

TEST_F(rewind, a_lower_value_from_cpu_and_gpu_is_what_everybody_sees)
{
	ASSERT_EQ(0, vf_fence_signal(self->fence, 100));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 5));
	EXPECT_EQ(5, vf_fence_current(self->fence));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->fence, 6, 0));
	vf_cmd_signal(self->gfx, self->fence, 3);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_EQ(3, vf_fence_current(self->fence));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->fence, 4, 0));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 3, 0));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 0));
	EXPECT_EQ(0, vf_fence_current(self->fence));
}

TEST_F(rewind, a_pulse_releases_cpu_waiter_and_queue_that_were_blocked)
{
	ASSERT_EQ(0, arm(self->adapter, self->fence, 10, self->efd));
	vf_cmd_wait(self->copy, self->fence, 10);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	vf_cmd_signal(self->gfx, self->fence, 10);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(drained(self->copy));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_EQ(1, vf_fence_current(self->fence));
	/* A rewind by the CPU has this effect, too. */
	clear(self->efd);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 20, self->efd));
	vf_cmd_wait(self->copy, self->fence, 20);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_signal(self->adapter, (struct vf_point[]){ { self->fence, 20 },
			       { self->fence, 2 } }, 2));
	EXPECT_TRUE(fired(self->efd));
	EXPECT_TRUE(drained(self->copy));
	EXPECT_EQ(2, vf_fence_current(self->fence));
}

TEST_F(rewind, a_gpu_wait_reached_after_the_rewind_stalls)
{
	vf_cmd_signal(self->gfx, self->fence, 10);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	vf_cmd_wait(self->copy, self->fence, 10);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	vf_cmd_signal(self->gfx, self->fence, 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->copy));
}

TEST_F(rewind, a_waiter_that_comes_after_the_rewind_waits)
{
	struct vf_counters c;
	uint64_t base;

	for (base = 0; base < 2000; base += 20) {
		/* A waiter makes the signal post a record, which is still in flight. */
		ASSERT_EQ(0, arm(self->adapter, self->fence, base + 8, self->efd));
		vf_cmd_signal(self->gfx, self->fence, base + 10);
		vf_cmd_signal(self->gfx, self->fence, base + 3);
		vf_cmd_signal(self->gfx, self->other, base + 1);
		ASSERT_EQ(0, vf_queue_publish(self->gfx));
		ASSERT_TRUE(AT_ONCE((sched_yield(), vf_fence_current(self->other) == base + 1)));
		ASSERT_EQ(0, arm(self->adapter, self->fence, base + 5, self->late));
		ASSERT_TRUE(EVENTUALLY(fired(self->efd)));
		ASSERT_TRUE(settled(self->adapter, &c));
		ASSERT_FALSE(fired(self->late));
		ASSERT_EQ(base + 4, monitored(self->fence));
		ASSERT_EQ(0, vf_fence_signal(self->fence, base + 5));
		/* The interrupt thread may see the value, too, and leave the event to a work. */
		ASSERT_TRUE(EVENTUALLY(fired(self->late)));
		clear(self->efd);
		clear(self->late);
	}
}

struct slow_signal {
	struct vf_adapter *adapter;
	struct vf_point point[2];
	int ret;
};

static void *signal_slowly(void *arg)
{
	struct slow_signal *slow = arg;

	slow->ret = vf_signal(slow->adapter, slow->point, 2);
	return NULL;
}

/* More waiters than the interrupt handler and a portion of its thread complete. */
#define MANY	300

TEST_F(rewind, all_waiters_of_a_rewound_value_end_and_no_later_one)
{
	unsigned int i, k;

	for (i = 0; i < 10; i++) {
		for (k = 0; k < MANY; k++)
			ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->efd));
		vf_cmd_signal(self->gfx, self->fence, 5);
		vf_cmd_signal(self->gfx, self->fence, 0);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(drained(self->gfx));
		ASSERT_EQ(0, arm(self->adapter, self->fence, 3, self->late));
		ASSERT_TRUE(fires(self->efd, MANY));
		EXPECT_FALSE(fired(self->late));
		ASSERT_EQ(0, vf_fence_signal(self->fence, 3));
		EXPECT_TRUE(fired(self->late));
		clear(self->late);
		ASSERT_EQ(0, vf_fence_signal(self->fence, 0));
	}
}

/* The handler leaves both signals to its thread, which must know of the larger one. */
TEST_F(rewind, a_smaller_signal_that_follows_hides_no_larger_one)
{
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, arm(self->adapter, self->fence, 1, self->efd));
		ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->late));
	}
	vf_cmd_signal(self->gfx, self->fence, 5);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(fires(self->efd, MANY));
	EXPECT_TRUE(fires(self->late, MANY));
	EXPECT_EQ(1, vf_fence_current(self->fence));
}

/* One record may name several fences. If it has no room, none of their values is lost. */
TEST_F(rewind, values_of_several_fences_that_are_rewound_before_the_interrupt)
{
	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, arm(self->adapter, self->fence, 10, self->efd));
	ASSERT_EQ(0, arm(self->adapter, self->other, 10, self->late));
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "1"));
	vf_cmd_signal(self->gfx, self->fence, 10);
	vf_cmd_signal(self->gfx, self->other, 10);
	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_cmd_signal(self->gfx, self->other, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_FALSE(fired(self->efd));
	EXPECT_FALSE(fired(self->late));
	ASSERT_EQ(0, release_posts(variant->index));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(EVENTUALLY(fired(self->late)));
}

TEST_F(rewind, a_waiter_that_comes_while_a_rewound_cpu_signal_completes_waits)
{
	struct slow_signal slow = {
		.adapter = self->adapter,
		.point = { { self->other, 1 }, { self->fence, 10 } },
	};
	struct vf_point crowd[1024];
	struct vf_counters c;
	pthread_t thread;
	unsigned int i;

	/* Many waiters for the first value of the call delay its second value. */
	for (i = 0; i < 1024; i++)
		crowd[i] = slow.point[0];
	for (i = 0; i < 40; i++)
		ASSERT_EQ(0, vf_event_arm(self->adapter, crowd, 1024, 0, self->efd, NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_slowly, &slow));
	ASSERT_TRUE(AT_ONCE((sched_yield(), vf_fence_current(self->fence) == 10)));
	vf_cmd_signal(self->gfx, self->fence, 3);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(AT_ONCE((sched_yield(), vf_fence_current(self->fence) == 3)));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->late));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, slow.ret);
	EXPECT_TRUE(fired(self->efd));
	ASSERT_TRUE(settled(self->adapter, &c));
	EXPECT_FALSE(fired(self->late));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 5));
	EXPECT_TRUE(fired(self->late));
}

TEST_F(rewind, an_entry_of_the_log_that_was_rewound_wakes_nobody)
{
	struct vf_counters c;

	/*
	 * Without a waiter the signals are logged, raise no interrupt, and the log is not
	 * read.
	 */
	vf_cmd_signal(self->gfx, self->fence, 10);
	vf_cmd_signal(self->gfx, self->fence, 3);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->late));
	ASSERT_EQ(0, arm(self->adapter, self->other, 1, self->efd));
	vf_cmd_signal(self->gfx, self->other, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_TRUE(settled(self->adapter, &c));
	EXPECT_FALSE(fired(self->late));
	vf_cmd_signal(self->gfx, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->late)));
}

TEST_F(rewind, values_around_the_edges_of_32_and_64_bits)
{
	static const uint64_t edge[] = {
		1, INT32_MAX, (uint64_t)INT32_MAX + 1, UINT32_MAX - 1, UINT32_MAX,
		(uint64_t)UINT32_MAX + 1, (uint64_t)UINT32_MAX + 2, INT64_MAX,
		(uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX,
	};
	unsigned int i;

	for (i = 0; i < sizeof(edge) / sizeof(*edge); i++) {
		uint64_t v = edge[i];

		ASSERT_EQ(0, vf_fence_signal(self->fence, v - 1));
		ASSERT_EQ(0, arm(self->adapter, self->fence, v, self->efd));
		EXPECT_EQ(v - 1, monitored(self->fence));
		vf_cmd_wait(self->copy, self->fence, v);
		ASSERT_EQ(0, vf_queue_submit(self->copy));
		ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
		EXPECT_FALSE(fired(self->efd));
		vf_cmd_signal(self->gfx, self->fence, v);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
		EXPECT_TRUE(drained(self->copy));
		EXPECT_EQ(v, vf_fence_current(self->fence));
		EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
		EXPECT_EQ(0, vf_fence_wait(self->fence, v, 0));
		clear(self->efd);
	}
}

TEST_F(rewind, zero_is_always_reached_and_the_maximum_can_be)
{
	struct vf_point point = { self->fence, 0 };
	eventfd_t n;

	EXPECT_EQ(0, vf_fence_wait(self->fence, 0, 0));
	EXPECT_EQ(1, vf_event_arm(self->adapter, &point, 1, 0, self->efd, NULL));
	EXPECT_EQ(0, eventfd_read(self->efd, &n));
	vf_cmd_wait(self->copy, self->fence, 0);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_TRUE(drained(self->copy));
	ASSERT_EQ(0, arm(self->adapter, self->fence, UINT64_MAX, self->efd));
	EXPECT_EQ(UINT64_MAX - 1, monitored(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->fence, UINT64_MAX - 1));
	EXPECT_FALSE(fired(self->efd));
	vf_cmd_signal(self->gfx, self->fence, UINT64_MAX);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
}

TEST_F(rewind, several_waits_on_one_value_and_duplicates_in_one)
{
	struct vf_point twice[2] = { { self->fence, 7 }, { self->fence, 7 } };
	struct vf_point both[2] = { { self->fence, 5 }, { self->fence, 7 } };
	unsigned int i;
	int efd[16];

	for (i = 0; i < 16; i++) {
		efd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		ASSERT_EQ(0, vf_event_arm(self->adapter, i % 2 ? twice : both, 2,
					  i % 4 < 2 ? 0 : DRM_VFENCE_WAIT_ANY, efd[i], NULL));
	}
	EXPECT_EQ(4, monitored(self->fence));
	vf_cmd_signal(self->gfx, self->fence, 7);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	for (i = 0; i < 16; i++) {
		uint64_t count = 0;

		EXPECT_TRUE(EVENTUALLY(fired(efd[i])));
		/* Each event fires once. */
		ASSERT_EQ(sizeof(count), read(efd[i], &count, sizeof(count)));
		EXPECT_EQ(1, count);
		close(efd[i]);
	}
	EXPECT_EQ(NOT_MONITORED, monitored(self->fence));
}

/* D3D12: a Wait() may be queued before the Signal(), and one event may serve several fences. */
TEST_F(rewind, d3d12_order_is_free_and_one_event_serves_several_fences)
{
	struct vf_point all[2] = { { self->fence, 4 }, { self->other, 9 } };

	vf_cmd_wait(self->copy, self->fence, 4);
	vf_cmd_wait(self->copy, self->other, 9);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	/* This is SetEventOnMultipleFenceCompletion with both flags, without a thread. */
	ASSERT_EQ(0, vf_event_arm(self->adapter, all, 2, 0, self->efd, NULL));
	ASSERT_EQ(0, vf_event_arm(self->adapter, all, 2, DRM_VFENCE_WAIT_ANY, self->late, NULL));
	vf_cmd_signal(self->gfx, self->other, 9);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->late)));
	EXPECT_FALSE(fired(self->efd));
	/*
	 * Rewind the fence that was reached first: for ALL, a point that was reached
	 * stays reached.
	 */
	ASSERT_EQ(0, vf_fence_signal(self->other, 1));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 4));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	/*
	 * A queue executes its waits one after the other. It comes to the second wait
	 * after the rewind, so the wait stalls until 9 is signaled again.
	 */
	EXPECT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_fence_signal(self->other, 9));
	EXPECT_TRUE(drained(self->copy));
}

struct waiter {
	struct vf_fence *fence;
	int ret;
};

static void *wait_thread(void *arg)
{
	struct waiter *w = arg;

	w->ret = vf_fence_wait(w->fence, 100, DEADLINE);
	return NULL;
}

TEST_F(rewind, a_fence_destroyed_meanwhile_lets_go_whoever_waits)
{
	struct waiter w = { .fence = self->other };
	pthread_t thread;

	ASSERT_EQ(0, arm(self->adapter, self->other, 100, self->efd));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_thread, &w));
	ASSERT_TRUE(EVENTUALLY(({ struct drm_vfence_fence_info q;
				  !vf_fence_query(self->other, &q) && q.waiters == 2; })));
	vf_cmd_wait(self->copy, self->other, 100);
	vf_cmd_signal(self->copy, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE,
				    vf_fence_handle(self->other)));
	EXPECT_TRUE(fired(self->efd));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, w.ret);
	/* The queue executes the packets behind the wait. */
	EXPECT_TRUE(drained(self->copy));
	EXPECT_EQ(1, vf_fence_current(self->fence));
}

TEST_HARNESS_MAIN
