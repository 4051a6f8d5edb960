// SPDX-License-Identifier: MIT
/*
 * What a runtime of D3D12 or Vulkan above the library relies on, with kernel-mode queues:
 * waits that were satisfied stay satisfied, signals arrive by value, and a queue that is idle
 * has delivered its signals.
 */

#include "vfence_test.h"

FIXTURE(runtime)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue[3];
	struct vf_fence *fence[4];
	int fd, efd;
};

FIXTURE_VARIANT(runtime)
{
	unsigned int adapter;
	/* The fences are native ones. */
	bool native;
};

FIXTURE_SETUP(runtime)
{
	unsigned int i;

	if (vf_adapter_open(variant->adapter, &self->adapter))
		SKIP(return, "needs the adapters of the guests");
	self->fd = vf_adapter_fd(self->adapter);
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX,
						    &self->queue[i]));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, variant->native ?
			     vf_fence_create(self->device, 0, 0, &self->fence[i]) :
			     vf_monitored_fence_create(self->device, 0, 0, &self->fence[i]));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(runtime)
{
	unsigned int i;

	if (!self->adapter)
		return;
	close(self->efd);
	for (i = 0; i < 3; i++) {
		if (self->queue[i])
			vf_queue_abort(self->queue[i]);
		vf_queue_destroy(self->queue[i]);
	}
	for (i = 0; i < 4; i++)
		vf_fence_destroy(self->fence[i]);
	vf_device_destroy(self->device);
	vf_adapter_close(self->adapter);
}

FIXTURE_VARIANT_ADD(runtime, native) { .adapter = 0, .native = true, };
FIXTURE_VARIANT_ADD(runtime, written_by_packets) { .adapter = 0, };
FIXTURE_VARIANT_ADD(runtime, written_with_interrupts) { .adapter = 1, };
FIXTURE_VARIANT_ADD(runtime, written_by_software) { .adapter = 2, };
FIXTURE_VARIANT_ADD(runtime, interrupts_that_name_queues) { .adapter = 8, };
FIXTURE_VARIANT_ADD(runtime, interrupts_that_name_nothing) { .adapter = 10, };
FIXTURE_VARIANT_ADD(runtime, of_32_bits) { .adapter = 12, };

/* Queue a wait of @queue for @fence, then a signal of @then if it is not NULL, to @value. */
static int wait_then(struct vf_queue *queue, struct vf_fence *fence, struct vf_fence *then,
		     uint64_t value)
{
	struct vf_point wait = { fence, value }, signal = { then, value };
	struct vf_submit what = {
		.flags = then ? DRM_VFENCE_SUBMIT_ALLOW_REWIND : 0,
		.waits = &wait, .wait_count = 1,
		.signals = &signal, .signal_count = then ? 1 : 0,
	};

	return vf_submit(&queue, 1, &what);
}

/* Signal a value by the CPU, also a lower one. */
static int set(struct vf_adapter *adapter, struct vf_fence *fence, uint64_t value)
{
	struct vf_point point = { fence, value };

	return vf_signal_flags(adapter, &point, 1, DRM_VFENCE_SIGNAL_ALLOW_REWIND);
}

/* Signal a value and rewind it. */
static int pulse(struct vf_adapter *adapter, struct vf_fence *fence, uint64_t value)
{
	int ret = set(adapter, fence, value);

	return ret ? ret : set(adapter, fence, 0);
}

static bool idle(struct vf_queue *queue)
{
	return !vf_queue_wait_idle(queue, DEADLINE);
}

TEST_F(runtime, a_wait_behind_an_unmet_one_stays_satisfied)
{
	struct vf_fence *gate = self->fence[0], *early = self->fence[1];

	ASSERT_EQ(0, wait_then(self->queue[0], gate, NULL, 1));
	ASSERT_EQ(0, wait_then(self->queue[0], early, NULL, 1));
	ASSERT_EQ(0, pulse(self->adapter, early, 1));
	ASSERT_EQ(0, set(self->adapter, gate, 1));
	EXPECT_TRUE(idle(self->queue[0]));
}

TEST_F(runtime, a_wait_that_is_satisfied_when_queued_stays_satisfied)
{
	struct vf_fence *gate = self->fence[0], *early = self->fence[1];

	ASSERT_EQ(0, set(self->adapter, early, 1));
	ASSERT_EQ(0, wait_then(self->queue[0], gate, NULL, 1));
	ASSERT_EQ(0, wait_then(self->queue[0], early, NULL, 1));
	ASSERT_EQ(0, set(self->adapter, early, 0));
	ASSERT_EQ(0, set(self->adapter, gate, 1));
	EXPECT_TRUE(idle(self->queue[0]));
}

#define ROUNDS	8

TEST_F(runtime, two_queues_play_ping_pong_while_the_cpu_rewinds)
{
	struct vf_fence *gate = self->fence[0], *ping = self->fence[1], *pong = self->fence[2];
	uint64_t i;

	/* The first queue is held up while its first ball comes and goes. */
	ASSERT_EQ(0, wait_then(self->queue[0], gate, NULL, 1));
	for (i = 1; i <= ROUNDS; i++)
		ASSERT_EQ(0, wait_then(self->queue[0], ping, pong, i));
	ASSERT_EQ(0, pulse(self->adapter, ping, 1));
	for (i = 1; i < ROUNDS; i++) {
		struct vf_point wait = { pong, i }, signal = { ping, i + 1 };
		struct vf_submit what = {
			.flags = DRM_VFENCE_SUBMIT_ALLOW_REWIND,
			.waits = &wait, .wait_count = 1,
			.signals = &signal, .signal_count = 1,
		};

		ASSERT_EQ(0, vf_submit(&self->queue[1], 1, &what));
	}
	ASSERT_EQ(0, set(self->adapter, gate, 1));
	EXPECT_TRUE(idle(self->queue[0]));
	EXPECT_TRUE(idle(self->queue[1]));
}

TEST_F(runtime, a_chain_of_three_queues_passes_while_the_cpu_rewinds)
{
	struct vf_fence *gate = self->fence[0];
	uint64_t i;

	/* Each queue is held up by the gate until its input has come and gone. */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, wait_then(self->queue[i], gate, NULL, i + 1));
		ASSERT_EQ(0, wait_then(self->queue[i], self->fence[1 + i],
				       i < 2 ? self->fence[2 + i] : NULL, 7));
	}
	ASSERT_EQ(0, pulse(self->adapter, self->fence[1], 7));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, set(self->adapter, gate, i + 1));
		ASSERT_TRUE(idle(self->queue[i]));
		if (i < 2)
			ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->fence[2 + i]) == 7));
		if (i < 2)
			ASSERT_EQ(0, set(self->adapter, self->fence[2 + i], 0));
	}
}

TEST_HARNESS_MAIN
