// SPDX-License-Identifier: GPL-2.0-only
/*
 * Monitored fences that are used again: the CPU lowers the value, and a new round begins. What
 * packets of kernel-mode queues have signaled in the round before ends no wait of the next one,
 * however late the driver completes it. The tests need two processors: the work that completes
 * waits runs beside the client.
 */

#include "vfence_test.h"

#define ROUNDS	wanted(300)
#define STEPS	4
#define SETS	400

FIXTURE(rounds) {
	struct client client;
	struct vf_queue *a, *b;
	struct vf_fence *f, *g;
	int efd;
};

FIXTURE_VARIANT(rounds) {
	unsigned int adapter;
};

FIXTURE_VARIANT_ADD(rounds, by_packets) { .adapter = 0 };
FIXTURE_VARIANT_ADD(rounds, with_interrupts) { .adapter = 1 };
FIXTURE_VARIANT_ADD(rounds, of_32_bits) { .adapter = 12 };
FIXTURE_VARIANT_ADD(rounds, of_32_bits_with_interrupts) { .adapter = 13 };

FIXTURE_SETUP(rounds)
{
	struct drm_vfence_adapter_info info;

	if (vf_adapter_open(variant->adapter, &self->client.adapter))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_adapter_info(self->client.adapter, &info));
	if (!(info.flags & DRM_VFENCE_ADAPTER_MONITORED_SIGNAL))
		SKIP(return, "needs packets that signal monitored fences");
	ASSERT_EQ(0, vf_device_create(self->client.adapter, &self->client.device));
	ASSERT_EQ(0, vf_kernel_queue_create(self->client.device, DRM_VFENCE_NODE_GFX, &self->a));
	ASSERT_EQ(0, vf_kernel_queue_create(self->client.device, DRM_VFENCE_NODE_COPY, &self->b));
	ASSERT_EQ(0, vf_monitored_fence_create(self->client.device, 0, 0, &self->f));
	ASSERT_EQ(0, vf_monitored_fence_create(self->client.device, 0, 0, &self->g));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(rounds)
{
	close(self->efd);
	vf_queue_abort(self->a);
	vf_queue_abort(self->b);
	vf_queue_destroy(self->a);
	vf_queue_destroy(self->b);
	vf_fence_destroy(self->f);
	vf_fence_destroy(self->g);
	client_close(&self->client);
}

static int signal_by_packet(struct vf_queue *queue, struct vf_fence *wait, uint64_t wait_value,
			    struct vf_fence *signal, uint64_t value)
{
	struct vf_point point = { wait, wait_value };
	struct vf_submit what = { .waits = &point, .wait_count = !!wait };

	vf_cmd_signal(queue, signal, value);
	return vf_submit(&queue, 1, &what);
}

static int rewind_to_zero(struct vf_adapter *adapter, struct vf_fence *fence)
{
	struct vf_point zero = { fence, 0 };

	return vf_signal_flags(adapter, &zero, 1, DRM_VFENCE_SIGNAL_ALLOW_REWIND);
}

/* Find the value in memory as soon as the engine has stored it. */
static bool is_stored(struct vf_fence *fence, uint64_t value)
{
	return AT_ONCE(vf_fence_current(fence) >= value);
}

/*
 * The event of a submission in front keeps the work that completes waits, so that it is late for the
 * signal. Meanwhile the CPU has seen the value and begins the next round.
 */
TEST_F_TIMEOUT(rounds, a_late_completion_ends_no_wait_of_the_next_round, 120)
{
	int slow = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), set[SETS], ret;
	struct vf_submit tell = { .flags = DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT, .eventfd = slow };
	struct vf_point later = { self->f, 9 };
	unsigned int round, i;
	uint32_t event;

	ASSERT_TRUE(slow_down(slow, set, SETS));
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, vf_submit(&self->a, 1, &tell));
		ASSERT_EQ(0, signal_by_packet(self->a, NULL, 0, self->f, 9));
		ASSERT_TRUE(is_stored(self->f, 9));
		ASSERT_EQ(0, rewind_to_zero(self->client.adapter, self->f));
		ASSERT_EQ(0, vf_event_arm(self->client.adapter, &later, 1, 0, self->efd, &event));
		/* A queue, too, which signals if it is released. */
		ASSERT_EQ(0, signal_by_packet(self->b, self->f, 9, self->g, round + 1));

		ASSERT_EQ(0, vf_queue_wait_idle(self->a, DEADLINE));
		ret = vf_fence_wait(self->f, 9, 0);
		EXPECT_EQ(-ETIME, ret);
		EXPECT_EQ(0, fired_on(self->client.adapter, self->efd));
		EXPECT_EQ(round, vf_fence_current(self->g));

		/* The signal of this round ends both. */
		ASSERT_EQ(0, vf_fence_signal(self->f, 9));
		EXPECT_EQ(1, fired_on(self->client.adapter, self->efd));
		ASSERT_EQ(0, vf_queue_wait_idle(self->b, DEADLINE));
		ASSERT_EQ(round + 1, vf_fence_current(self->g));
		ASSERT_EQ(8, read(self->efd, &(uint64_t){ 0 }, 8));
		ASSERT_EQ(0, rewind_to_zero(self->client.adapter, self->f));
		if (ret != -ETIME)
			break;
	}
	for (i = 0; i < SETS; i++)
		close(set[i]);
	close(slow);
}

/* Two queues wait for each other, step by step, and do so anew in each round. */
TEST_F_TIMEOUT(rounds, a_chain_begins_anew_in_each_round, 120)
{
	unsigned int round, step;

	for (round = 0; round < ROUNDS; round++) {
		for (step = 1; step <= STEPS; step++) {
			ASSERT_EQ(0, signal_by_packet(self->a, step > 1 ? self->g : NULL, step - 1,
						      self->f, step));
			ASSERT_EQ(0, signal_by_packet(self->b, self->f, step, self->g, step));
		}
		ASSERT_EQ(0, vf_fence_wait(self->g, STEPS, DEADLINE));
		EXPECT_EQ(STEPS, vf_fence_current(self->f));
		EXPECT_EQ(STEPS, vf_fence_current(self->g));
		ASSERT_EQ(0, rewind_to_zero(self->client.adapter, self->f));
		ASSERT_EQ(0, rewind_to_zero(self->client.adapter, self->g));
	}
	EXPECT_EQ(0, vf_queue_wait_idle(self->b, DEADLINE));
}

/* A value that was there while a wait was armed ends the wait, though no one has looked meanwhile. */
TEST_F_TIMEOUT(rounds, a_value_that_was_there_is_not_lost, 120)
{
	struct vf_point later = { self->f, 9 };
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, vf_event_arm(self->client.adapter, &later, 1, 0, self->efd, NULL));
		ASSERT_EQ(0, signal_by_packet(self->a, NULL, 0, self->f, 9));
		ASSERT_EQ(0, signal_by_packet(self->a, NULL, 0, self->f, 3));
		/* The rewind meets the signals at any moment. */
		ASSERT_EQ(0, rewind_to_zero(self->client.adapter, self->f));
		ASSERT_EQ(0, vf_queue_wait_idle(self->a, DEADLINE));
		EXPECT_EQ(1, fired_on(self->client.adapter, self->efd));
		ASSERT_EQ(8, read(self->efd, &(uint64_t){ 0 }, 8));
		ASSERT_EQ(0, rewind_to_zero(self->client.adapter, self->f));
	}
}

TEST_HARNESS_MAIN
