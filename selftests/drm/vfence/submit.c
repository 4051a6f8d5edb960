// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel-mode queues: what the kernel submits on behalf of clients. The tests run on
 * adapters whose engines write monitored fences, write them and interrupt, or cannot
 * write them.
 */

#include <sys/syscall.h>

#include "vfence_test.h"

#define LONG	(SECOND / 2)
#define TOP	DRM_VFENCE_FENCE_TOP_OF_PIPELINE

#define SUBMIT_MEMBERS				\
	struct vf_adapter *adapter;		\
	struct vf_device *device;		\
	struct vf_queue *gfx, *copy;		\
	struct vf_fence *fence, *other;		\
	struct vf_buffer *buffer;		\
	volatile uint32_t *word;		\
	uint64_t va;				\
	uint32_t can;				\
	int fd, efd

#define SUBMIT_SETUP() do {								\
	struct drm_vfence_adapter_info info;						\
											\
	if (vf_adapter_open(variant->adapter, &self->adapter))				\
		SKIP(return, "needs the adapters of the guests");			\
	self->fd = vf_adapter_fd(self->adapter);					\
	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));				\
	self->can = info.flags;								\
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));			\
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX,		\
					    &self->gfx));				\
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COPY,		\
					    &self->copy));				\
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &self->fence));	\
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &self->other));	\
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &self->buffer));		\
	self->word = vf_buffer_map(self->buffer);					\
	self->va = vf_buffer_va(self->buffer);						\
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);				\
} while (0)

#define SUBMIT_TEARDOWN() do {				\
	close(self->efd);				\
	vf_queue_abort(self->gfx);			\
	vf_queue_abort(self->copy);			\
	vf_queue_destroy(self->gfx);			\
	vf_queue_destroy(self->copy);			\
	vf_fence_destroy(self->fence);			\
	vf_fence_destroy(self->other);			\
	vf_buffer_destroy(self->buffer);		\
	vf_device_destroy(self->device);		\
	vf_adapter_close(self->adapter);		\
} while (0)

/*
 * A test needs adapters that have the ability that it tests. There is a fixture for each
 * ability and a variant for each adapter that has it.
 */
#define SUBMIT_FIXTURE(name)						\
	FIXTURE(name) { SUBMIT_MEMBERS; };				\
	FIXTURE_VARIANT(name) { unsigned int adapter; };		\
	FIXTURE_SETUP(name) { SUBMIT_SETUP(); }				\
	FIXTURE_TEARDOWN(name) { SUBMIT_TEARDOWN(); }

#define ON(fixture, name, index)					\
	FIXTURE_VARIANT_ADD(fixture, name) { .adapter = (index), }

SUBMIT_FIXTURE(submit)
ON(submit, written_by_packets, 0);
ON(submit, written_with_interrupts, 1);
ON(submit, written_by_software, 2);
ON(submit, without_native_ones, 3);
ON(submit, written_with_interrupts_that_say_so, 6);
ON(submit, interrupts_that_name_queues, 8);
ON(submit, interrupts_that_name_nothing, 10);
ON(submit, of_32_bits, 12);
ON(submit, of_32_bits_with_interrupts, 13);

/* The result on one adapter holds for all adapters. */
SUBMIT_FIXTURE(any)
ON(any, adapter, 0);

/* Engines write monitored fences. */
SUBMIT_FIXTURE(written)
ON(written, by_packets, 0);
ON(written, with_interrupts, 1);
ON(written, with_interrupts_that_say_so, 6);
ON(written, interrupts_that_name_queues, 8);
ON(written, interrupts_that_name_nothing, 10);
ON(written, of_32_bits, 12);
ON(written, of_32_bits_with_interrupts, 13);

/* Engines write monitored fences and raise no interrupt for it. */
SUBMIT_FIXTURE(basic)
ON(basic, by_packets, 0);
ON(basic, interrupts_that_name_queues, 8);
ON(basic, of_32_bits, 12);

/* Engines write monitored fences and interrupt. */
SUBMIT_FIXTURE(advanced)
ON(advanced, no_room_for_records, 1);
ON(advanced, interrupts_that_say_so, 6);
ON(advanced, interrupts_that_name_nothing, 10);
ON(advanced, of_32_bits, 13);

/* Interrupts name nothing. */
SUBMIT_FIXTURE(indistinct)
ON(indistinct, with_both_kinds, 10);

/* Engines cannot write monitored fences. */
SUBMIT_FIXTURE(software)
ON(software, beside_native_ones, 2);
ON(software, without_native_ones, 3);

SUBMIT_FIXTURE(narrow)
ON(narrow, by_packets, 12);
ON(narrow, with_interrupts, 13);

/* The adapter has native fences and user-mode queues, too. */
SUBMIT_FIXTURE(both_kinds)
ON(both_kinds, by_packets, 0);
ON(both_kinds, with_interrupts, 1);
ON(both_kinds, by_software, 2);
ON(both_kinds, interrupts_that_name_queues, 8);
ON(both_kinds, interrupts_that_name_nothing, 10);

static struct drm_vfence_queue_info look(struct vf_queue *queue)
{
	struct drm_vfence_queue_info query = { 0 };

	vf_queue_query(queue, &query);
	return query;
}

/* Submit the commands with a wait for @fence at @value. */
static int submit_behind(struct vf_queue *queue, struct vf_fence *fence, uint64_t value)
{
	struct vf_point wait = { fence, value };
	struct vf_submit what = { .waits = &wait, .wait_count = 1 };

	return vf_submit(&queue, 1, &what);
}

/* Submit the commands with a software signal. */
static int submit_before(struct vf_queue *queue, struct vf_fence *fence, uint64_t value,
			 uint32_t flags)
{
	struct vf_point signal = { fence, value };
	struct vf_submit what = { .flags = flags, .signals = &signal, .signal_count = 1 };

	return vf_submit(&queue, 1, &what);
}

static bool reached(struct vf_queue *queue, uint64_t progress)
{
	return vf_fence_current(vf_queue_progress(queue)) >= progress;
}

TEST_F(submit, WDDM_198_199_commands_are_done_and_progress_tells)
{
	struct drm_vfence_queue_info before = look(self->gfx);
	unsigned int i;

	EXPECT_EQ(0, before.last_queued);
	EXPECT_EQ(0, before.progress);
	for (i = 1; i <= 20; i++) {
		/* The last submission takes long: its progress must come after the work. */
		if (i == 20)
			vf_cmd_draw(self->gfx, 1, LONG);
		vf_cmd_fill(self->gfx, self->va, 4096, i);
		vf_cmd_copy(self->gfx, self->va + 2048, self->va, 1024);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		EXPECT_EQ(i, vf_queue_last_queued(self->gfx));
	}
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(20, self->word[0]);
	EXPECT_EQ(20, self->word[1023]);
	EXPECT_EQ(20, vf_fence_current(vf_queue_progress(self->gfx)));
	EXPECT_TRUE(EVENTUALLY(!look(self->gfx).queued));
	EXPECT_EQ(20, look(self->gfx).last_queued);
	EXPECT_EQ(20, look(self->gfx).progress);
	/* An empty submission counts, too. */
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
}

TEST_F(submit, WDDM_200_the_progress_fence_is_native_if_the_adapter_has_native_fences)
{
	struct drm_vfence_fence_info query;
	struct drm_vfence_fence_caps caps;

	ASSERT_EQ(0, vf_adapter_fence_caps(self->adapter, &caps));
	ASSERT_EQ(0, vf_fence_query(vf_queue_progress(self->gfx), &query));
	EXPECT_EQ(caps.flags & DRM_VFENCE_CAP_NATIVE_FENCE ? DRM_VFENCE_FENCE_DEFAULT :
							     DRM_VFENCE_FENCE_MONITORED,
		  query.type);
}

/* What engines do with monitored fences: nothing, write them, or write them and interrupt. */
TEST(WDDM_116_130_an_adapter_says_what_its_packets_do)
{
	static const struct {
		unsigned int adapter;
		uint32_t flags;
	} says[] = {
		{ 0, DRM_VFENCE_ADAPTER_MONITORED_SIGNAL },
		{ 1, DRM_VFENCE_ADAPTER_MONITORED_SIGNAL | DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT },
		{ 2, 0 },
	};
	struct drm_vfence_adapter_info info;
	struct vf_adapter *adapter;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(says); i++) {
		if (vf_adapter_open(says[i].adapter, &adapter))
			SKIP(return, "needs the adapters of the guests");
		ASSERT_EQ(0, vf_adapter_info(adapter, &info));
		EXPECT_EQ(says[i].flags, info.flags & (DRM_VFENCE_ADAPTER_MONITORED_SIGNAL |
						       DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT));
		vf_adapter_close(adapter);
	}
}

TEST_F(submit, WDDM_116_a_packet_that_engines_do_not_have_is_refused)
{
	const struct drm_vfence_packet_monitored signal = {
		.header = { .opcode = DRM_VFENCE_OP_MONITORED_SIGNAL, .length = sizeof(signal) },
		.current_va = vf_fence_mapping(self->fence)->current_va,
		.value = 1,
	};

	vf_cmd_raw(self->gfx, &signal, sizeof(signal));
	if (!(self->can & DRM_VFENCE_ADAPTER_MONITORED_SIGNAL)) {
		EXPECT_EQ(-EOPNOTSUPP, vf_queue_submit(self->gfx));
		return;
	}
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(1, vf_fence_current(self->fence));
}

TEST_F(submit, WDDM_82_kernel_mode_queues_have_no_logs)
{
	const struct drm_vfence_queue_create *info = vf_queue_info(self->gfx);
	struct drm_vfence_doorbell_create doorbell = {
		.queue = vf_queue_handle(self->gfx), .ring_size = 4096,
		.ring = vf_buffer_handle(self->buffer),
	};
	uint64_t before = counters(self->adapter).log_buffers_set;
	struct vf_buffer *control;
	struct drm_vfence_log_entry entry;
	unsigned int count = 1;
	struct vf_queue *queue;

	/* The driver sets no log in the hardware and returns none to the client. */
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
	EXPECT_EQ(before, counters(self->adapter).log_buffers_set);
	vf_queue_destroy(queue);
	EXPECT_EQ(0, info->wait_log_va | info->signal_log_va);
	EXPECT_EQ(0, info->wait_log_entries | info->signal_log_entries);
	EXPECT_EQ(-EOPNOTSUPP, vf_queue_read_log(self->gfx, DRM_VFENCE_LOG_SIGNALS, &entry,
						 &count, NULL));
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &control));
	doorbell.control = vf_buffer_handle(control);
	EXPECT_EQ(-EOPNOTSUPP, raw(self->fd, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &doorbell));
	vf_buffer_destroy(control);
}

TEST_F(submit, WDDM_131_a_gpu_wait_returns_at_once_and_holds_back_its_queue_alone)
{
	struct vf_counters before = counters(self->adapter);

	vf_cmd_fill(self->gfx, self->va, 4, 1);
	ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 5));
	vf_cmd_fill(self->gfx, self->va + 4, 4, 2);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	/* Other queues continue, even those of this device. */
	vf_cmd_fill(self->copy, self->va + 8, 4, 3);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	EXPECT_EQ(3, self->word[2]);
	EXPECT_EQ(2, look(self->gfx).held);
	EXPECT_EQ(0, look(self->gfx).queued);
	EXPECT_EQ(0, self->word[0]);
	EXPECT_EQ(0, self->word[1]);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 4));
	EXPECT_EQ(2, look(self->gfx).held);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 5));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(1, self->word[0]);
	EXPECT_EQ(2, self->word[1]);
	EXPECT_EQ(0, look(self->gfx).held);
	EXPECT_EQ(before.submissions + 3, counters(self->adapter).submissions);
	EXPECT_EQ(before.submissions_held + 1, counters(self->adapter).submissions_held);
	/* A wait whose value is reached does not hold a submission back. */
	ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 5));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(before.submissions_held + 1, counters(self->adapter).submissions_held);
}

TEST_F(submit, WDDM_132_a_gpu_wait_needs_all_points)
{
	struct vf_point wait[2] = { { self->fence, 1 }, { self->other, 1 } };
	struct vf_submit what = { .waits = wait, .wait_count = 2 };

	vf_cmd_fill(self->gfx, self->va, 4, 1);
	ASSERT_EQ(0, vf_submit(&self->gfx, 1, &what));
	ASSERT_EQ(0, vf_fence_signal(self->other, 1));
	EXPECT_EQ(1, look(self->gfx).held);
	EXPECT_EQ(0, self->word[0]);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(1, self->word[0]);
	/* The waits are satisfied in any order. */
	wait[0].value = wait[1].value = 2;
	vf_cmd_fill(self->gfx, self->va, 4, 2);
	ASSERT_EQ(0, vf_submit(&self->gfx, 1, &what));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 2));
	EXPECT_EQ(1, look(self->gfx).held);
	EXPECT_EQ(1, self->word[0]);
	ASSERT_EQ(0, vf_fence_signal(self->other, 2));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(2, self->word[0]);
	/* A point that is reached at the submission does not stand for those behind it. */
	wait[1].value = 3;
	vf_cmd_fill(self->gfx, self->va, 4, 3);
	ASSERT_EQ(0, vf_submit(&self->gfx, 1, &what));
	EXPECT_EQ(1, look(self->gfx).held);
	EXPECT_EQ(2, self->word[0]);
	ASSERT_EQ(0, vf_fence_signal(self->other, 3));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(3, self->word[0]);
}

/* Each goes on when its own value is reached, whether the other one waits for less or for more. */
TEST_F(submit, WDDM_131_submissions_and_threads_wait_for_one_fence)
{
	ASSERT_EQ(0, arm(self->adapter, self->fence, 10, self->efd));
	ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 5));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 5));
	EXPECT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(0, fired_on(self->adapter, self->efd));
	ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 20));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 10));
	EXPECT_EQ(1, fired_on(self->adapter, self->efd));
	EXPECT_EQ(1, look(self->gfx).held);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 20));
	EXPECT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
}

/*
 * A point that cannot be signaled any more counts as satisfied. The other points of the
 * wait do not.
 */
TEST_F(submit, a_point_that_fails_is_not_the_end_of_the_wait)
{
	struct vf_fence *gone;
	struct vf_point wait[2];
	struct vf_submit what = { .waits = wait, .wait_count = 2 };

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &gone));
	wait[0] = (struct vf_point){ gone, 1 };
	wait[1] = (struct vf_point){ self->fence, 1 };
	vf_cmd_fill(self->gfx, self->va, 4, 1);
	ASSERT_EQ(0, vf_submit(&self->gfx, 1, &what));
	ASSERT_EQ(0, vf_submit(&self->copy, 1, &what));
	vf_fence_destroy(gone);
	EXPECT_EQ(1, look(self->gfx).held);
	EXPECT_EQ(0, self->word[0]);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(1, self->word[0]);
	ASSERT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
}

TEST_F(submit, WDDM_127_a_handle_that_goes_ends_no_gpu_wait)
{
	struct vf_fence *one, *two;
	int fd;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &one));
	fd = vf_fence_export(one);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &two));
	close(fd);
	ASSERT_EQ(0, submit_behind(self->gfx, one, 1));
	ASSERT_EQ(0, arm(self->adapter, two, 1, self->efd));
	vf_fence_destroy(one);
	/* A CPU wait ends when any handle is closed. This GPU wait does not. */
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(1, look(self->gfx).held);
	ASSERT_EQ(0, vf_fence_signal(two, 1));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	/*
	 * Closing the last handle releases the submission, because no signal is possible
	 * any more.
	 */
	ASSERT_EQ(0, submit_behind(self->gfx, two, 2));
	EXPECT_EQ(1, look(self->gfx).held);
	vf_fence_destroy(two);
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
}

TEST_F(submit, WDDM_133_a_broadcast_counts_when_all_queues_have_come)
{
	struct vf_queue *both[2] = { self->gfx, self->copy };
	struct vf_point signal[2] = { { self->fence, 7 } };
	struct vf_submit what = { .signals = signal, .signal_count = 2 };
	struct vf_fence *next;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &next));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &signal[1].fence));
	signal[1].value = 8;
	ASSERT_EQ(0, submit_behind(self->copy, self->other, 1));
	ASSERT_EQ(0, vf_submit(both, 2, &what));
	/*
	 * Software signals of a queue come in order. A broadcast that did not wait for
	 * all queues would signal before this one.
	 */
	ASSERT_EQ(0, submit_before(self->gfx, next, 1, 0));
	ASSERT_EQ(0, vf_fence_wait(next, 1, DEADLINE));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	EXPECT_EQ(0, vf_fence_current(signal[1].fence));
	ASSERT_EQ(0, vf_fence_signal(self->other, 1));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 7, DEADLINE));
	EXPECT_EQ(0, vf_fence_wait(signal[1].fence, 8, DEADLINE));
	vf_fence_destroy(signal[1].fence);
	vf_fence_destroy(next);
}

/* Stages before completion need all queues, too: the top of the pipeline, and submission. */
TEST_F(submit, WDDM_122_133_each_stage_of_a_broadcast_needs_all_queues)
{
	struct vf_queue *both[2] = { self->gfx, self->copy };
	struct vf_point fetched = { NULL, 7 }, submitted = { self->fence, 7 };
	struct vf_submit top = { .signals = &fetched, .signal_count = 1 };
	struct vf_submit early = { .signals = &submitted, .signal_count = 1,
				   .flags = DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION };
	struct vf_fence *next;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, TOP, 0, &fetched.fence));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &next));
	ASSERT_EQ(0, submit_behind(self->copy, self->other, 1));
	ASSERT_EQ(0, vf_submit(both, 2, &top));
	ASSERT_EQ(0, vf_submit(both, 2, &early));
	/*
	 * Signals come in order. Stages that did not wait for all queues would signal
	 * before this one.
	 */
	ASSERT_EQ(0, submit_before(self->gfx, next, 1, 0));
	ASSERT_EQ(0, vf_fence_wait(next, 1, DEADLINE));
	EXPECT_EQ(0, vf_fence_current(fetched.fence));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->other, 1));
	EXPECT_EQ(0, vf_fence_wait(fetched.fence, 7, DEADLINE));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 7, DEADLINE));
	vf_fence_destroy(fetched.fence);
	vf_fence_destroy(next);
}

TEST_F(submit, WDDM_134_a_cpu_event_comes_when_all_queues_have_come)
{
	struct vf_queue *both[2] = { self->gfx, self->copy };
	struct vf_submit what = {
		.flags = DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT, .eventfd = self->efd,
	};

	vf_cmd_draw(self->copy, 1, LONG);
	ASSERT_EQ(0, submit_behind(self->copy, self->other, 1));
	ASSERT_EQ(0, vf_submit(both, 2, &what));
	ASSERT_EQ(0, submit_before(self->gfx, self->fence, 1, 0));
	ASSERT_EQ(0, vf_fence_wait(self->fence, 1, DEADLINE));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->other, 1));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	/*
	 * The work in front of the event is done, and not only submitted. If both submissions
	 * end at once, the driver signals the progress after the event.
	 */
	EXPECT_TRUE(deterministic() ? reached(self->copy, 1) :
				      EVENTUALLY(reached(self->copy, 1)));
}

TEST_F(submit, an_event_comes_though_a_queue_be_lost)
{
	struct vf_submit what = {
		.flags = DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT, .eventfd = self->efd,
	};

	ASSERT_EQ(0, submit_behind(self->gfx, self->other, 1));
	ASSERT_EQ(0, vf_submit(&self->gfx, 1, &what));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
}

TEST_F(written, WDDM_116_a_packet_signals_without_kernel_entry)
{
	uint64_t value = self->can & DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS ? 9 : UINT64_C(9) << 32;
	struct vf_counters before, after;

	vf_cmd_signal(self->gfx, self->fence, value);
	vf_cmd_draw(self->gfx, 1, LONG);
	before = counters(self->adapter);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	/* A thread that polls sees the value long before the submission is done. */
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == value));
	EXPECT_NOT_YET(reached(self->gfx, 1));
	after = counters(self->adapter);
	EXPECT_EQ(before.cpu_signals, after.cpu_signals);
	/* The one ioctl is the submission. */
	EXPECT_EQ(before.ioctls + 1, after.ioctls);
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
}

TEST_F(basic, WDDM_129_basic_engines_waiters_are_looked_at_at_completion)
{
	ASSERT_EQ(0, arm(self->adapter, self->fence, 9, self->efd));
	vf_cmd_signal(self->gfx, self->fence, 9);
	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == 9));
	EXPECT_NOT_YET(fired(self->efd));
	EXPECT_NOT_YET(reached(self->gfx, 1));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(EVENTUALLY(reached(self->gfx, 1)));
}

/*
 * The driver rescans for a value that a packet has written, even if the submission is
 * aborted.
 */
TEST_F(written, WDDM_129_nor_is_a_value_lost_with_its_submission)
{
	struct vf_device *device;
	struct vf_fence *kept;

	/* Use a fence of another device, which the abort does not take to its maximum. */
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &kept));
	ASSERT_EQ(0, arm(self->adapter, kept, 9, self->efd));
	vf_cmd_signal(self->gfx, kept, 9);
	vf_cmd_draw(self->gfx, 1, 10 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(kept) == 9));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	vf_fence_destroy(kept);
	vf_device_destroy(device);
}

TEST_F(written, a_value_is_not_lost_with_the_handle_of_who_wrote_it)
{
	uint32_t flags = DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *mine, *theirs;
	int fd;

	ASSERT_EQ(0, vf_adapter_open(variant->adapter, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, flags, 0, &mine));
	fd = vf_fence_export(mine);
	ASSERT_EQ(0, vf_fence_open(device, fd, &theirs));
	close(fd);
	ASSERT_EQ(0, arm(adapter, theirs, 9, self->efd));
	vf_cmd_signal(self->gfx, mine, 9);
	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(theirs) == 9));
	/* Close the handle before the submission is done. */
	vf_fence_destroy(mine);
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	vf_fence_destroy(theirs);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(advanced, WDDM_130_advanced_engines_interrupt_and_all_waiters_are_looked_at)
{
	struct vf_counters before, after;
	bool named = variant->adapter != 10;

	ASSERT_EQ(0, arm(self->adapter, self->fence, 9, self->efd));
	before = counters(self->adapter);
	vf_cmd_signal(self->gfx, self->fence, 9);
	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_NOT_YET(reached(self->gfx, 1));
	after = counters(self->adapter);
	/*
	 * This needs records that can report it. Adapter 1 has no room for records. The
	 * progress fence may be a monitored one, too, and on a loaded machine the GPU may
	 * have written it before the counters were read.
	 */
	if (named && variant->adapter != 1) {
		EXPECT_LE(before.records_monitored + 1, after.records_monitored);
		EXPECT_GE(before.records_monitored + 1 + reached(self->gfx, 1),
			  after.records_monitored);
	}
	EXPECT_LT(before.legacy_scans, after.legacy_scans);
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
}

TEST_F(advanced, WDDM_130_monitored_fences_that_are_written_again_are_looked_at_again)
{
	uint64_t i;

	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(0, arm(self->adapter, self->fence, i, self->efd));
		vf_cmd_signal(self->gfx, self->fence, i);
		vf_cmd_draw(self->gfx, 1, LONG);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
		EXPECT_NOT_YET(reached(self->gfx, i));
		EXPECT_EQ(8, read(self->efd, &(uint64_t){ 0 }, 8));
		ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	}
}

/* One run of the interrupt's thread looks at some of them, and the next one at others. */
TEST_F(advanced, WDDM_130_all_monitored_fences_that_are_written_at_once_are_looked_at)
{
	enum { FENCES = 40 };
	struct vf_fence *fence[FENCES];
	uint64_t count, seen = 0;
	struct vf_queue *other;
	unsigned int i;

	if (geteuid())
		SKIP(return, "needs root");
	for (i = 0; i < FENCES; i++) {
		ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &fence[i]));
		ASSERT_EQ(0, arm(self->adapter, fence[i], 1, self->efd));
		vf_cmd_signal(self->gfx, fence[i], 1);
	}
	vf_cmd_draw(self->gfx, 3, LONG);
	ASSERT_EQ(0, inject(variant->adapter, "hold_posts", "1"));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(fence[FENCES - 1]) == 1));
	ASSERT_EQ(0, inject(variant->adapter, "hold_posts", "0"));
	/* The injection wakes nobody: another post does. */
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COPY, &other));
	vf_cmd_signal(other, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(other));
	while (seen < FENCES && EVENTUALLY(fired(self->efd)) &&
	       read(self->efd, &count, 8) == 8)
		seen += count;
	EXPECT_EQ(FENCES, seen);
	EXPECT_NOT_YET(reached(self->gfx, 1));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	for (i = 0; i < FENCES; i++)
		vf_fence_destroy(fence[i]);
	vf_queue_destroy(other);
}

/* The interrupt comes late, and the fence has gone. */
TEST_F(advanced, a_monitored_fence_is_destroyed_that_nobody_has_looked_at)
{
	struct vf_fence *fence;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &fence));
	ASSERT_EQ(0, inject(variant->adapter, "hold_posts", "1"));
	vf_cmd_signal(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(fence) == 1));
	/* The library would wait until the queue has passed the packet. */
	ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE, vf_fence_handle(fence)));
	ASSERT_EQ(0, inject(variant->adapter, "hold_posts", "0"));

	/* The next one that is written stands alone on the list. */
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, self->efd));
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
}

TEST_F(indistinct, WDDM_74_an_array_that_is_not_there_may_mean_both_kinds)
{
	struct vf_counters before, after;

	ASSERT_EQ(0, arm(self->adapter, self->fence, 1, self->efd));
	before = counters(self->adapter);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	after = counters(self->adapter);
	EXPECT_LT(before.records_null, after.records_null);
	EXPECT_EQ(before.records_monitored, after.records_monitored);
	/* The work that retires the packet scans, too. */
	EXPECT_TRUE(EVENTUALLY(before.legacy_scans + 2 <= counters(self->adapter).legacy_scans));
	/* Native fences are scanned after the monitored ones, of which the event came. */
	EXPECT_TRUE(EVENTUALLY(before.scans < counters(self->adapter).scans));
}

TEST_F(software, software_signals_where_engines_cannot)
{
	vf_cmd_signal(self->gfx, self->fence, 9);
	EXPECT_EQ(-EOPNOTSUPP, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, look(self->gfx).last_queued);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 9, self->efd));
	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, submit_before(self->gfx, self->fence, 9, 0));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(9, vf_fence_current(self->fence));
}

/* A GPU wait is satisfied by a packet, a software signal, or the CPU. */
TEST_F(submit, a_queue_waits_for_another)
{
	unsigned int i;

	for (i = 1; i <= 10; i++) {
		vf_cmd_copy(self->copy, self->va + 4, self->va, 4);
		ASSERT_EQ(0, submit_behind(self->copy, self->fence, i));
		vf_cmd_fill(self->gfx, self->va, 4, i);
		if (self->can & DRM_VFENCE_ADAPTER_MONITORED_SIGNAL && i % 2) {
			vf_cmd_signal(self->gfx, self->fence, i);
			ASSERT_EQ(0, vf_queue_submit(self->gfx));
		} else {
			ASSERT_EQ(0, submit_before(self->gfx, self->fence, i, 0));
		}
		ASSERT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
		EXPECT_EQ(i, self->word[1]);
	}
}

TEST_F(submit, WDDM_122_top_of_pipeline_signals_when_all_has_been_fetched)
{
	struct vf_fence *top;
	struct vf_point signal[2];
	struct vf_submit what = { .signals = signal, .signal_count = 2 };
	int64_t fetched;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, TOP, 0, &top));
	signal[0] = (struct vf_point){ top, 3 };
	signal[1] = (struct vf_point){ self->fence, 3 };
	/*
	 * The signal must wait until the commands are fetched, and they are fetched when
	 * the first draw is done.
	 */
	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	vf_cmd_fill(self->gfx, self->va, 4, 1);
	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, vf_submit(&self->gfx, 1, &what));
	EXPECT_EQ(0, vf_fence_wait(top, 3, DEADLINE));
	fetched = vf_deadline(0);
	EXPECT_EQ(1, self->word[0]);
	/* The CPU may signal the progress value of the first submission a moment later. */
	EXPECT_TRUE(EVENTUALLY(reached(self->gfx, 1)));
	EXPECT_NOT_YET(reached(self->gfx, 2));
	EXPECT_NOT_YET(vf_fence_current(self->fence));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 3, DEADLINE));
	/* At the time of the signal the draw was not done. */
	EXPECT_NOT_YET(vf_deadline(0) - fetched < LONG / 2);
	EXPECT_TRUE(EVENTUALLY(reached(self->gfx, 2)));
	vf_fence_destroy(top);
}

TEST_F(submit, signals_at_submission_do_not_wait_for_completion)
{
	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, submit_before(self->gfx, self->other, 1, 0));
	ASSERT_EQ(0, submit_before(self->gfx, self->fence, 1,
				   DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, DEADLINE));
	EXPECT_NOT_YET(reached(self->gfx, 1));
	EXPECT_NOT_YET(vf_fence_current(self->other));
	EXPECT_EQ(0, vf_fence_wait(self->other, 1, DEADLINE));
	/* A submission that is held back does not make its signals at submission. */
	ASSERT_EQ(0, submit_behind(self->gfx, self->other, 2));
	ASSERT_EQ(0, submit_before(self->gfx, self->fence, 2,
				   DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION));
	EXPECT_EQ(2, look(self->gfx).held);
	EXPECT_EQ(1, vf_fence_current(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->other, 2));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 2, DEADLINE));
}

TEST_F(submit, WDDM_121_no_gpu_access_leaves_the_lists)
{
	struct vf_fence *plain;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device,
					       DRM_VFENCE_FENCE_NO_GPU_ACCESS, 0, &plain));
	EXPECT_EQ(0, vf_fence_mapping(plain)->current_va);
	ASSERT_EQ(0, submit_behind(self->copy, plain, UINT64_C(1) << 40));
	EXPECT_EQ(1, look(self->copy).held);
	ASSERT_EQ(0, submit_before(self->gfx, plain, UINT64_C(1) << 40, 0));
	ASSERT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	/* A fence without GPU access has 64 bits, whatever the GPU supports. */
	EXPECT_EQ(UINT64_C(1) << 40, vf_fence_current(plain));
	vf_fence_destroy(plain);
}

TEST_F(submit, WDDM_135_a_submission_rewinds_if_it_says_so)
{
	ASSERT_EQ(0, vf_fence_signal(self->fence, 10));
	ASSERT_EQ(0, submit_before(self->gfx, self->fence, 5, 0));
	ASSERT_EQ(0, submit_before(self->gfx, self->other, 1, 0));
	ASSERT_EQ(0, vf_fence_wait(self->other, 1, DEADLINE));
	EXPECT_EQ(10, vf_fence_current(self->fence));
	ASSERT_EQ(0, submit_before(self->gfx, self->fence, 5, DRM_VFENCE_SUBMIT_ALLOW_REWIND));
	ASSERT_EQ(0, submit_before(self->gfx, self->other, 2, 0));
	ASSERT_EQ(0, vf_fence_wait(self->other, 2, DEADLINE));
	EXPECT_EQ(5, vf_fence_current(self->fence));
}

TEST_F(narrow, WDDM_128_packets_write_across_the_wrap)
{
	struct vf_fence *fence;
	uint64_t near = UINT32_MAX - 1;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, near, &fence));
	ASSERT_EQ(0, arm(self->adapter, fence, 3, self->efd));
	ASSERT_EQ(0, submit_behind(self->copy, fence, 3));
	vf_cmd_signal(self->gfx, fence, UINT32_MAX);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_TRUE(EVENTUALLY(!look(self->gfx).queued));
	EXPECT_EQ(1, look(self->copy).held);
	EXPECT_FALSE(fired(self->efd));
	vf_cmd_signal(self->gfx, fence, 3);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	/* Wait for the value that is as far ahead as possible. */
	ASSERT_EQ(8, read(self->efd, &(uint64_t){ 0 }, 8));
	ASSERT_EQ(0, arm(self->adapter, fence, 3 + UINT32_MAX / 2, self->efd));
	ASSERT_EQ(0, submit_behind(self->copy, fence, 3 + UINT32_MAX / 2));
	EXPECT_FALSE(fired(self->efd));
	EXPECT_EQ(1, look(self->copy).held);
	vf_cmd_signal(self->gfx, fence, 3 + UINT32_MAX / 2);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	vf_fence_destroy(fence);
}

/* The rewind comes before the driver has looked: the GPU has noted the value behind the wrap. */
TEST_F(narrow, WDDM_128_a_pulse_across_the_wrap_ends_the_waits_it_met)
{
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, UINT32_MAX - 5, &fence));
	ASSERT_EQ(0, arm(self->adapter, fence, 3, self->efd));
	ASSERT_EQ(0, submit_behind(self->copy, fence, 2));
	vf_cmd_signal(self->gfx, fence, 3);
	vf_cmd_signal(self->gfx, fence, UINT32_MAX - 3);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	EXPECT_EQ(UINT32_MAX - 3, vf_fence_current(fence));
	vf_fence_destroy(fence);
}

/* The farthest value is half the range ahead of the last one, here behind the wrap. */
TEST_F(narrow, WDDM_123_128_the_maximum_is_ahead_of_all_waits)
{
	const uint32_t last = 0xa0000000, most = last + INT32_MAX;

	ASSERT_EQ(0, vf_fence_signal(self->fence, last / 2));
	ASSERT_EQ(0, vf_fence_signal(self->fence, last));
	ASSERT_EQ(0, arm(self->adapter, self->fence, most, self->efd));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	EXPECT_EQ(most, vf_fence_current(self->fence));
	EXPECT_EQ(0, vf_fence_wait(self->fence, most, 0));
	EXPECT_EQ(0, vf_fence_wait(self->fence, last, 0));
}

/* Each step is less than half the range, and no thread waits before the end. */
TEST_F(narrow, WDDM_128_the_driver_follows_values_that_nobody_waits_for)
{
	const uint32_t step = 0x30000000;
	unsigned int i;

	for (i = 1; i <= 7; i++) {
		uint64_t scans = counters(self->adapter).legacy_scans;

		vf_cmd_signal(self->gfx, self->fence, i * step);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
		ASSERT_TRUE(EVENTUALLY(counters(self->adapter).legacy_scans > scans));
	}
	/* The GPU is at 0x150000000: it has passed the first value, and not yet the second. */
	EXPECT_EQ(0, vf_fence_wait(self->fence, 0xe0000000, DEADLINE));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->fence, 0x60000000, vf_deadline(SECOND / 100)));
}

TEST_F(written, packets_signal_what_their_file_may)
{
	struct vf_device *device;
	struct vf_fence *mine, *theirs;
	struct vf_queue *queue;
	int fd;

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &mine));
	fd = vf_fence_export_rights(mine, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, vf_fence_open(device, fd, &theirs));
	close(fd);
	/* Handles of one file share the address, so close the handle with the right first. */
	fd = vf_fence_export(mine);
	vf_fence_destroy(mine);
	vf_cmd_signal(queue, theirs, 1);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(EVENTUALLY(queue_fault(queue) == DRM_VFENCE_FAULT_ACCESS));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT));
	EXPECT_EQ(0, vf_fence_current(theirs));
	EXPECT_EQ(-EIO, vf_queue_submit(queue));
	close(fd);
	vf_fence_destroy(theirs);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
}

TEST_F(both_kinds, native_waits_and_signals_work)
{
	struct vf_point wait, signal;
	struct vf_submit what = { .waits = &wait, .wait_count = 1,
				  .signals = &signal, .signal_count = 1 };
	struct vf_fence *native, *back;
	struct vf_queue *user;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &native));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &back));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 65536, &user));
	/*
	 * Hold the submission back until a user-mode queue signals. That queue then waits
	 * for the answer.
	 */
	wait = (struct vf_point){ native, 1 };
	signal = (struct vf_point){ back, 1 };
	ASSERT_EQ(0, vf_submit(&self->gfx, 1, &what));
	EXPECT_EQ(1, look(self->gfx).held);
	vf_cmd_signal(user, native, 1);
	vf_cmd_wait(user, back, 1);
	ASSERT_EQ(0, vf_queue_submit(user));
	EXPECT_TRUE(drained(user));
	/* Wait for a packet's signal and for the progress fence, which the GPU both signals. */
	vf_cmd_signal(self->gfx, native, 2);
	vf_cmd_wait(user, native, 2);
	vf_cmd_wait(user, vf_queue_progress(self->gfx), 2);
	ASSERT_EQ(0, vf_queue_submit(user));
	EXPECT_TRUE(EVENTUALLY(queue_state(user) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(user));
	EXPECT_EQ(0, vf_fence_wait(native, 2, DEADLINE));
	vf_queue_destroy(user);
	vf_fence_destroy(native);
	vf_fence_destroy(back);
}

/*
 * A runtime queues thousands of operations behind a wait that its thread satisfies afterwards, and would
 * sleep for ever if one of them waited for room.
 */
TEST_F_TIMEOUT(submit, a_queue_takes_thousands_behind_a_wait_and_no_more, 120)
{
	struct drm_vfence_queue_info query;
	unsigned int i;

	for (i = 0; i < DRM_VFENCE_MAX_SUBMISSIONS; i++)
		ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 1));
	EXPECT_EQ(-ENOSPC, submit_behind(self->gfx, self->fence, 1));
	query = look(self->gfx);
	EXPECT_EQ(DRM_VFENCE_MAX_SUBMISSIONS, query.held);
	EXPECT_EQ(DRM_VFENCE_MAX_SUBMISSIONS, query.last_queued);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_TRUE(EVENTUALLY(!look(self->gfx).queued));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
}

TEST_F(submit, an_abort_ends_what_is_held_queued_and_running)
{
	struct vf_counters before = counters(self->adapter), after;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		vf_cmd_draw(self->gfx, 1, 10 * SECOND);
		ASSERT_EQ(0, submit_before(self->gfx, self->other, i + 1, 0));
	}
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 1));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	EXPECT_EQ(8, look(self->gfx).held);
	ASSERT_EQ(0, arm(self->adapter, vf_queue_progress(self->gfx), 3, self->efd));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	EXPECT_EQ(0, look(self->gfx).held);
	EXPECT_TRUE(EVENTUALLY(!look(self->gfx).queued));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(-EIO, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(-EIO, vf_queue_submit(self->gfx));
	/* What the client asks for costs no device. */
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(before.submissions + 16, after.submissions);
	EXPECT_EQ(before.submissions_lost + 16, after.submissions_lost);
	/* Each wait has ended: that of the event, and those of the submissions that were held. */
	EXPECT_LT(before.waits_begun + 1, after.waits_begun);
	EXPECT_EQ(0, waits_now(self->adapter));
	/* The lost submissions signal nothing, and the other queue continues. */
	EXPECT_EQ(0, vf_fence_current(self->other));
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
}

/* ------------------------------------------------------------------ syncobjs */

static struct vf_syncobj syncobj_of(int fd, uint64_t point)
{
	struct vf_syncobj syncobj = { .point = point };

	drmSyncobjCreate(fd, 0, &syncobj.handle);
	return syncobj;
}

/* Submit the commands with a syncobj as out-sync. */
static int submit_told(struct vf_queue *queue, const struct vf_syncobj *syncobj)
{
	struct vf_submit what = { .signal_syncobjs = syncobj, .signal_syncobj_count = 1 };

	return vf_submit(&queue, 1, &what);
}

static int wait_syncobj(int fd, const struct vf_syncobj *syncobj, int64_t until)
{
	uint64_t point = syncobj->point;
	uint32_t handle = syncobj->handle;

	if (point)
		return drmSyncobjTimelineWait(fd, &handle, &point, 1, until, 0, NULL);
	return drmSyncobjWait(fd, &handle, 1, until, 0, NULL);
}

TEST_F(submit, a_syncobj_tells_when_a_submission_is_done)
{
	struct vf_syncobj binary = syncobj_of(self->fd, 0);
	struct vf_syncobj timeline = syncobj_of(self->fd, 4);

	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, submit_told(self->gfx, &binary));
	vf_cmd_fill(self->gfx, self->va, 4, 1);
	ASSERT_EQ(0, submit_told(self->gfx, &timeline));
	EXPECT_NOT_YET(wait_syncobj(self->fd, &binary, 0) != -ETIME);
	EXPECT_NOT_YET(syncobj_status(self->fd, binary.handle));
	EXPECT_EQ(0, wait_syncobj(self->fd, &timeline, DEADLINE));
	EXPECT_EQ(1, self->word[0]);
	EXPECT_EQ(1, syncobj_status(self->fd, binary.handle));
	drmSyncobjDestroy(self->fd, binary.handle);
	drmSyncobjDestroy(self->fd, timeline.handle);
}

TEST_F(submit, submissions_that_are_told_of_wait_for_each_other_in_the_kernel)
{
	struct vf_syncobj link[10];
	unsigned int i;

	/*
	 * Chain submissions across two queues, and queue all of them before the first is
	 * done.
	 */
	for (i = 0; i < 10; i++) {
		struct vf_submit what = {
			.wait_syncobjs = &link[i - !!i], .wait_syncobj_count = !!i,
			.signal_syncobjs = &link[i], .signal_syncobj_count = 1,
		};
		struct vf_queue *queue = i % 2 ? self->copy : self->gfx;

		link[i] = syncobj_of(self->fd, i % 3);
		if (i) {
			vf_cmd_copy(queue, self->va + 4 * i, self->va + 4 * (i - 1), 4);
		} else {
			vf_cmd_draw(queue, 1, LONG);
			vf_cmd_fill(queue, self->va, 4, 77);
		}
		ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	}
	EXPECT_NOT_YET(reached(self->gfx, 1));
	EXPECT_EQ(0, wait_syncobj(self->fd, &link[9], DEADLINE));
	EXPECT_EQ(77, self->word[9]);
	for (i = 0; i < 10; i++)
		drmSyncobjDestroy(self->fd, link[i].handle);
}

TEST_F(submit, all_of_several_syncobjs_count)
{
	struct vf_syncobj first[2] = { syncobj_of(self->fd, 0), syncobj_of(self->fd, 1) };
	struct vf_syncobj last[2] = { syncobj_of(self->fd, 0), first[1] };
	struct vf_syncobj either[2][2] = { { first[0], last[0] }, { last[0], first[0] } };
	struct vf_submit tell = { .signal_syncobjs = first, .signal_syncobj_count = 2 };
	struct vf_submit wait = { .wait_syncobjs = &first[1], .wait_syncobj_count = 1 };
	struct vf_queue *queue[2] = { self->gfx };
	unsigned int i;

	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, &queue[1]));
	last[1].point = 2;
	vf_cmd_draw(self->copy, 1, LONG);
	ASSERT_EQ(0, vf_submit(&self->copy, 1, &tell));
	vf_cmd_draw(self->copy, 1, LONG);
	vf_cmd_fill(self->copy, self->va, 4, 7);
	tell.signal_syncobjs = last;
	ASSERT_EQ(0, vf_submit(&self->copy, 1, &tell));
	/* Wait for the earlier point of the timeline, then for both points, in either order. */
	ASSERT_EQ(0, vf_submit(&self->gfx, 1, &wait));
	wait.wait_syncobj_count = 2;
	for (i = 0; i < 2; i++) {
		wait.wait_syncobjs = either[i];
		vf_cmd_copy(queue[i], self->va + 4 + 4 * i, self->va, 4);
		ASSERT_EQ(0, vf_submit(&queue[i], 1, &wait));
	}
	EXPECT_TRUE(EVENTUALLY(reached(self->gfx, 1)));
	EXPECT_EQ(1, syncobj_status(self->fd, first[0].handle));
	EXPECT_NOT_YET(syncobj_status(self->fd, last[0].handle));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, vf_queue_wait_idle(queue[i], DEADLINE));
		EXPECT_EQ(7, self->word[1 + i]);
	}
	EXPECT_EQ(0, wait_syncobj(self->fd, &last[1], DEADLINE));
	vf_queue_destroy(queue[1]);
	drmSyncobjDestroy(self->fd, first[0].handle);
	drmSyncobjDestroy(self->fd, first[1].handle);
	drmSyncobjDestroy(self->fd, last[0].handle);
}

struct told {
	pid_t tid;
	struct vf_queue *queue;
	const struct vf_syncobj *syncobj;
	struct vf_fence *fence;
	uint64_t value;
	uint32_t flags;
	int ret, returned;
};

static void *submit_thread(void *arg)
{
	struct told *told = arg;
	struct vf_point wait = { told->fence, told->value };
	struct vf_submit what = {
		.flags = told->flags, .waits = &wait, .wait_count = told->fence ? 1 : 0,
		.signal_syncobjs = told->syncobj, .signal_syncobj_count = told->syncobj ? 1 : 0,
	};

	__atomic_store_n(&told->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	told->ret = vf_submit(&told->queue, 1, &what);
	__atomic_store_n(&told->returned, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool returned(struct told *told)
{
	return __atomic_load_n(&told->returned, __ATOMIC_ACQUIRE);
}

static bool asleep(struct told *told)
{
	return sleeps_in(&told->tid, SYS_ioctl);
}

/* A submission that a client can block must not publish a dma_fence. */
TEST_F(submit, nobody_is_told_of_what_is_not_bounded)
{
	struct vf_syncobj syncobj = syncobj_of(self->fd, 0);
	struct told behind = { .queue = self->gfx, .syncobj = &syncobj };
	struct told waits = { .queue = self->copy, .syncobj = &syncobj,
			      .fence = self->fence, .value = 2 };
	pthread_t thread[2];

	/*
	 * One call is behind a submission that waits for a fence, and the other one waits
	 * for a fence itself.
	 */
	ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 1));
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, submit_thread, &behind));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, submit_thread, &waits));
	EXPECT_TRUE(EVENTUALLY(asleep(&behind) && asleep(&waits)));
	EXPECT_EQ(-EBADF, syncobj_status(self->fd, syncobj.handle));
	EXPECT_FALSE(returned(&behind));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_EQ(0, pthread_join(thread[0], NULL));
	EXPECT_EQ(0, behind.ret);
	EXPECT_EQ(0, wait_syncobj(self->fd, &syncobj, DEADLINE));
	EXPECT_FALSE(returned(&waits));
	EXPECT_EQ(0, look(self->copy).last_queued);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 2));
	ASSERT_EQ(0, pthread_join(thread[1], NULL));
	EXPECT_EQ(0, waits.ret);
	EXPECT_EQ(0, wait_syncobj(self->fd, &syncobj, DEADLINE));
	/* The abort of the queue ends the call, wherever it sleeps. */
	behind = (struct told){ .queue = self->gfx, .syncobj = &syncobj };
	waits = (struct told){ .queue = self->copy, .syncobj = &syncobj,
			       .fence = self->fence, .value = 3 };
	ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 3));
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, submit_thread, &behind));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, submit_thread, &waits));
	EXPECT_TRUE(EVENTUALLY(asleep(&behind) && asleep(&waits)));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	ASSERT_EQ(0, vf_queue_abort(self->copy));
	ASSERT_EQ(0, pthread_join(thread[0], NULL));
	ASSERT_EQ(0, pthread_join(thread[1], NULL));
	EXPECT_EQ(-EIO, behind.ret);
	EXPECT_EQ(-EIO, waits.ret);
	drmSyncobjDestroy(self->fd, syncobj.handle);
}

TEST_F(any, a_call_that_asks_for_it_waits_for_room)
{
	struct vf_syncobj syncobj = syncobj_of(self->fd, 0);
	struct told more[2] = {
		{ .queue = self->gfx, .flags = DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM },
		{ .queue = self->gfx, .flags = DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM, .syncobj = &syncobj },
	};
	pthread_t thread[2];
	unsigned int i;

	ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 1));
	for (i = 1; i < DRM_VFENCE_MAX_SUBMISSIONS; i++)
		ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 2));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, submit_thread, &more[i]));
	EXPECT_TRUE(EVENTUALLY(asleep(&more[0]) && asleep(&more[1])));
	EXPECT_EQ(DRM_VFENCE_MAX_SUBMISSIONS, look(self->gfx).last_queued);
	/*
	 * The first submission ends, and its place is for the first call. The second call
	 * publishes a dma_fence, so it comes behind all that waits.
	 */
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_TRUE(EVENTUALLY(returned(&more[0])));
	EXPECT_FALSE(returned(&more[1]));
	EXPECT_EQ(DRM_VFENCE_MAX_SUBMISSIONS + 1, look(self->gfx).last_queued);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 2));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
		EXPECT_EQ(0, more[i].ret);
	}
	EXPECT_EQ(0, wait_syncobj(self->fd, &syncobj, DEADLINE));
	EXPECT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_MAX_SUBMISSIONS + 2, look(self->gfx).last_queued);
	drmSyncobjDestroy(self->fd, syncobj.handle);
}

TEST_F(any, a_queue_that_is_lost_ends_the_wait_for_room)
{
	struct told more = { .queue = self->gfx, .flags = DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM };
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < DRM_VFENCE_MAX_SUBMISSIONS; i++)
		ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, submit_thread, &more));
	EXPECT_TRUE(EVENTUALLY(asleep(&more)));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-EIO, more.ret);
}

static void *submit_to_both(void *arg)
{
	struct told *told = arg;
	struct vf_queue *both[2] = { told[0].queue, told[1].queue };
	struct vf_submit what = { .flags = DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM };

	__atomic_store_n(&told->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	told->ret = vf_submit(both, 2, &what);
	__atomic_store_n(&told->returned, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* A call that sleeps has no place in the queues that have room. */
TEST_F(any, a_broadcast_that_waits_for_room_takes_no_place_elsewhere)
{
	struct told told[2] = { { .queue = self->copy }, { .queue = self->gfx } };
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < DRM_VFENCE_MAX_SUBMISSIONS; i++)
		ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, submit_to_both, told));
	EXPECT_TRUE(EVENTUALLY(asleep(&told[0])));
	for (i = 0; i < DRM_VFENCE_MAX_SUBMISSIONS; i++)
		EXPECT_EQ(0, submit_behind(self->copy, self->fence, 1));
	EXPECT_FALSE(returned(&told[0]));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, told[0].ret);
	EXPECT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	EXPECT_EQ(0, vf_queue_wait_idle(self->copy, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_MAX_SUBMISSIONS + 1, look(self->gfx).last_queued);
	EXPECT_EQ(DRM_VFENCE_MAX_SUBMISSIONS + 1, look(self->copy).last_queued);
}

/*
 * A place wakes one call. If another queue of that call is full, the call cannot use the place, and
 * must wake the next call that waits for it.
 */
TEST_F(any, a_place_that_a_broadcast_cannot_take_is_for_the_next_call)
{
	struct told both[2] = { { .queue = self->copy }, { .queue = self->gfx } };
	struct told next = { .queue = self->gfx, .flags = DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM };
	pthread_t thread[2];
	unsigned int i;

	ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 1));
	for (i = 1; i < DRM_VFENCE_MAX_SUBMISSIONS; i++)
		ASSERT_EQ(0, submit_behind(self->gfx, self->fence, 2));
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, submit_to_both, both));
	EXPECT_TRUE(EVENTUALLY(asleep(&both[0])));
	for (i = 0; i < DRM_VFENCE_MAX_SUBMISSIONS; i++)
		ASSERT_EQ(0, submit_behind(self->copy, self->fence, 2));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, submit_thread, &next));
	EXPECT_TRUE(EVENTUALLY(asleep(&next)));

	/* One submission of GFX ends: the first call that is woken finds COPY full. */
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_TRUE(EVENTUALLY(returned(&next)));
	EXPECT_FALSE(returned(&both[0]));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 2));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	EXPECT_EQ(0, both[0].ret);
	EXPECT_EQ(0, next.ret);
}

TEST_F(submit, what_takes_too_long_is_aborted)
{
	struct vf_counters before = counters(self->adapter);
	struct vf_syncobj first = syncobj_of(self->fd, 0), next = syncobj_of(self->fd, 0);
	struct vf_device *device;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, submit_told(self->gfx, &first));
	ASSERT_EQ(0, submit_told(self->gfx, &next));
	EXPECT_EQ(0, wait_syncobj(self->fd, &next, DEADLINE));
	EXPECT_EQ(-ETIME, syncobj_status(self->fd, first.handle));
	EXPECT_EQ(-ECANCELED, syncobj_status(self->fd, next.handle));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(DRM_VFENCE_QUEUE_ABORTED, queue_state(self->gfx));
	EXPECT_EQ(before.submissions_timed_out + 1, counters(self->adapter).submissions_timed_out);
	EXPECT_EQ(-EIO, vf_queue_submit(self->gfx));
	EXPECT_EQ(-EIO, vf_queue_submit(self->copy));
	/* Other queues on the engine continue. */
	vf_cmd_fill(queue, self->va, 4, 8);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
	EXPECT_EQ(8, self->word[0]);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	drmSyncobjDestroy(self->fd, first.handle);
	drmSyncobjDestroy(self->fd, next.handle);
}

/* A late interrupt must not make the driver abort a submission. */
TEST_F(submit, a_time_out_sees_what_nobody_has_told)
{
	struct vf_counters before = counters(self->adapter);
	struct vf_syncobj first = syncobj_of(self->fd, 0), next = syncobj_of(self->fd, 0);

	if (inject(variant->adapter, "hold_posts", "1"))
		SKIP(return, "needs root and debugfs");
	/*
	 * The first submission is done when its timeout expires. The second runs at that
	 * time, and has a timeout of its own. It uses its engine for less, so that it is not
	 * timed out either if the machine is slow.
	 */
	vf_cmd_fill(self->gfx, self->va, 4, 1);
	vf_cmd_draw(self->gfx, 1, 9 * SECOND / 10);
	EXPECT_EQ(0, submit_told(self->gfx, &first));
	vf_cmd_draw(self->gfx, 3, 6 * SECOND / 10);
	vf_cmd_fill(self->gfx, self->va + 4, 4, 2);
	EXPECT_EQ(0, submit_told(self->gfx, &next));
	EXPECT_EQ(0, wait_syncobj(self->fd, &first, DEADLINE));
	EXPECT_EQ(1, syncobj_status(self->fd, first.handle));
	EXPECT_EQ(1, self->word[0]);
	EXPECT_NOT_YET(self->word[1]);
	EXPECT_NOT_YET(syncobj_status(self->fd, next.handle));
	EXPECT_EQ(0, wait_syncobj(self->fd, &next, DEADLINE));
	EXPECT_EQ(0, inject(variant->adapter, "hold_posts", "0"));
	EXPECT_EQ(1, syncobj_status(self->fd, next.handle));
	EXPECT_EQ(2, self->word[1]);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	EXPECT_EQ(before.submissions_timed_out, counters(self->adapter).submissions_timed_out);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	drmSyncobjDestroy(self->fd, first.handle);
	drmSyncobjDestroy(self->fd, next.handle);
}

/* Aborted submissions signal their out-syncs in order, with an error. */
TEST_F(submit, an_abort_cancels_what_was_told_of)
{
	struct vf_syncobj syncobj[8];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		syncobj[i] = syncobj_of(self->fd, 0);
		vf_cmd_draw(self->gfx, 1, 10 * SECOND);
		ASSERT_EQ(0, submit_told(self->gfx, &syncobj[i]));
	}
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	EXPECT_EQ(0, wait_syncobj(self->fd, &syncobj[7], DEADLINE));
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(-ECANCELED, syncobj_status(self->fd, syncobj[i].handle));
		drmSyncobjDestroy(self->fd, syncobj[i].handle);
	}
}

/* A suspension does not stop the timeout of a submission with out-syncs. */
TEST_F(submit, what_is_suspended_has_to_end_in_time)
{
	struct vf_syncobj syncobj = syncobj_of(self->fd, 0);
	int64_t begun = vf_deadline(0);

	/* The draw takes longer than the timeout, so it is not done before the suspension. */
	vf_cmd_draw(self->gfx, 1, 10 * SECOND);
	ASSERT_EQ(0, submit_told(self->gfx, &syncobj));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	/* The submission is on the ring and not on the engine. */
	EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) != DRM_VFENCE_QUEUE_IDLE));
	EXPECT_NOT_YET(queue_state(self->gfx) != DRM_VFENCE_QUEUE_READY);
	EXPECT_EQ(0, wait_syncobj(self->fd, &syncobj, DEADLINE));
	if (deterministic())
		EXPECT_GT(3 * SECOND, vf_deadline(0) - begun);
	EXPECT_EQ(-ETIME, syncobj_status(self->fd, syncobj.handle));
	drmSyncobjDestroy(self->fd, syncobj.handle);
}

/* Nor does a client that resumes its context whenever the timeout is due. */
TEST_F(any, what_is_suspended_again_and_again_has_to_end_in_time)
{
	struct vf_syncobj syncobj = syncobj_of(self->fd, 0);
	int64_t begun = vf_deadline(0), due;
	unsigned int i;

	vf_cmd_draw(self->gfx, 100, SECOND / 10);
	ASSERT_EQ(0, submit_told(self->gfx, &syncobj));
	for (i = 1; i <= 10 && wait_syncobj(self->fd, &syncobj, 0); i++) {
		ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
		due = begun + i * 2 * SECOND;
		wait_syncobj(self->fd, &syncobj, due - SECOND / 10);
		ASSERT_EQ(0, vf_queue_resume(self->gfx));
		wait_syncobj(self->fd, &syncobj, due + SECOND / 10);
	}
	EXPECT_EQ(0, wait_syncobj(self->fd, &syncobj, DEADLINE));
	TH_LOG("ended after %lld ms", (long long)(vf_deadline(0) - begun) / 1000000);
	/* Used and suspended together: two seconds, which the second expiry finds. */
	EXPECT_GT((deterministic() ? 5 : 15) * SECOND, vf_deadline(0) - begun);
	EXPECT_EQ(-ETIME, syncobj_status(self->fd, syncobj.handle));
	drmSyncobjDestroy(self->fd, syncobj.handle);
}

/* Nor does one that lets its queue wait for the engine between suspensions, and no more. */
TEST_F(any, what_gets_no_time_between_suspensions_has_to_end_in_time)
{
	struct vf_syncobj syncobj = syncobj_of(self->fd, 0);
	struct vf_submit what = { 0 };
	struct client neighbour;
	struct vf_queue *queue;
	int64_t begun;
	unsigned int i;

	ASSERT_EQ(0, client_open(&neighbour));
	ASSERT_EQ(0, vf_kernel_queue_create(neighbour.device, DRM_VFENCE_NODE_GFX, &queue));
	for (i = 0; i < 10; i++) {
		vf_cmd_draw(queue, 15, 90000000);
		ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	}
	vf_cmd_draw(self->gfx, 100, SECOND / 10);
	ASSERT_EQ(0, submit_told(self->gfx, &syncobj));
	begun = vf_deadline(0);
	while (vf_deadline(0) - begun < 12 * SECOND && wait_syncobj(self->fd, &syncobj, 0)) {
		ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
		ASSERT_EQ(0, vf_queue_resume(self->gfx));
		EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING ||
				       !wait_syncobj(self->fd, &syncobj, 0)));
	}
	TH_LOG("ended after %lld ms", (long long)(vf_deadline(0) - begun) / 1000000);
	EXPECT_GT((deterministic() ? 5 : 10) * SECOND, vf_deadline(0) - begun);
	EXPECT_EQ(0, wait_syncobj(self->fd, &syncobj, DEADLINE));
	EXPECT_EQ(-ETIME, syncobj_status(self->fd, syncobj.handle));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(neighbour.device));
	vf_queue_abort(queue);
	vf_queue_destroy(queue);
	client_close(&neighbour);
	drmSyncobjDestroy(self->fd, syncobj.handle);
}

/* The submission that was suspended pays for it, and not the next one. */
TEST_F(any, a_suspension_counts_for_its_submission_alone)
{
	struct vf_syncobj first = syncobj_of(self->fd, 0), next = syncobj_of(self->fd, 0);
	struct vf_submit what = { 0 };
	/* Leave room for a machine that resumes late: there the test is weaker. */
	const int64_t suspended = (deterministic() ? 14 : 7) * (SECOND / 10);
	struct client neighbour;
	struct vf_queue *queue;
	int64_t begun;

	ASSERT_EQ(0, client_open(&neighbour));
	ASSERT_EQ(0, vf_kernel_queue_create(neighbour.device, DRM_VFENCE_NODE_GFX, &queue));
	vf_cmd_draw(self->gfx, 3, SECOND / 10);
	ASSERT_EQ(0, submit_told(self->gfx, &first));
	vf_cmd_draw(self->gfx, 14, SECOND / 10);
	ASSERT_EQ(0, submit_told(self->gfx, &next));
	begun = vf_deadline(0);
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	wait_syncobj(self->fd, &first, begun + suspended);
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	EXPECT_EQ(0, wait_syncobj(self->fd, &first, DEADLINE));

	/* Half of the engine: the next one is there when the timer expires. */
	vf_cmd_draw(queue, 14, SECOND / 10);
	ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	EXPECT_EQ(0, wait_syncobj(self->fd, &next, DEADLINE));
	EXPECT_EQ(1, syncobj_status(self->fd, next.handle));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	vf_queue_destroy(queue);
	client_close(&neighbour);
	drmSyncobjDestroy(self->fd, first.handle);
	drmSyncobjDestroy(self->fd, next.handle);
}

/*
 * Nor does a submission pay for what its queue did before: for the time of a submission that is
 * done, and for a suspension while there was none.
 */
TEST_F(any, a_submission_pays_for_nothing_before_it)
{
	struct vf_syncobj first = syncobj_of(self->fd, 0), next = syncobj_of(self->fd, 0);
	struct vf_submit what = { 0 };
	struct client neighbour;
	struct vf_queue *queue;

	ASSERT_EQ(0, client_open(&neighbour));
	ASSERT_EQ(0, vf_kernel_queue_create(neighbour.device, DRM_VFENCE_NODE_GFX, &queue));
	vf_cmd_draw(self->gfx, 14, SECOND / 10);
	ASSERT_EQ(0, submit_told(self->gfx, &first));
	EXPECT_EQ(0, wait_syncobj(self->fd, &first, DEADLINE));
	EXPECT_EQ(1, syncobj_status(self->fd, first.handle));
	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->fence, 1, vf_deadline(14 * (SECOND / 10))));
	ASSERT_EQ(0, vf_queue_resume(self->gfx));

	/* Half of the engine: the next one is there when the timer expires. */
	vf_cmd_draw(self->gfx, 14, SECOND / 10);
	vf_cmd_draw(queue, 14, SECOND / 10);
	ASSERT_EQ(0, submit_told(self->gfx, &next));
	ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	EXPECT_EQ(0, wait_syncobj(self->fd, &next, DEADLINE));
	EXPECT_EQ(1, syncobj_status(self->fd, next.handle));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	vf_queue_destroy(queue);
	client_close(&neighbour);
	drmSyncobjDestroy(self->fd, first.handle);
	drmSyncobjDestroy(self->fd, next.handle);
}

TEST_F(submit, a_bad_address_fails_its_submission)
{
	struct vf_syncobj first = syncobj_of(self->fd, 0), next = syncobj_of(self->fd, 0);
	int ret;

	vf_cmd_draw(self->gfx, 1, LONG);
	vf_cmd_fill(self->gfx, 0x7000, 4, 1);
	ASSERT_EQ(0, submit_told(self->gfx, &first));
	/* On a loaded machine the fault may come before this call, which then reports it. */
	ret = submit_told(self->gfx, &next);
	EXPECT_NOT_YET(ret);
	EXPECT_TRUE(ret == 0 || ret == -EIO);
	EXPECT_EQ(0, wait_syncobj(self->fd, ret ? &first : &next, DEADLINE));
	EXPECT_EQ(-EIO, syncobj_status(self->fd, first.handle));
	if (!ret)
		EXPECT_EQ(-ECANCELED, syncobj_status(self->fd, next.handle));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(self->device));
	drmSyncobjDestroy(self->fd, first.handle);
	drmSyncobjDestroy(self->fd, next.handle);
}

#define FOLLOWERS	16

/*
 * As many in-syncs of one dma_fence as one file can have on 16 queues, and imports. The end of the
 * submission in front is one callback for all of them (measured by irqs_off).
 */
TEST_F_TIMEOUT(any, many_submissions_follow_one_dma_fence, 120)
{
	struct vf_syncobj told = syncobj_of(self->fd, 0), many[DRM_VFENCE_MAX_SYNCOBJS];
	struct vf_submit what = {
		.wait_syncobjs = many, .wait_syncobj_count = DRM_VFENCE_MAX_SYNCOBJS,
	};
	struct vf_queue *queue[FOLLOWERS];
	unsigned int i, k;

	ASSERT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, submit_told(self->gfx, &told));
	for (i = 0; i < DRM_VFENCE_MAX_SYNCOBJS; i++)
		many[i] = told;
	for (i = 0; i < FOLLOWERS; i++) {
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COPY, &queue[i]));
		for (k = 0; k < 60; k++)
			ASSERT_EQ(0, vf_submit(&queue[i], 1, &what));
	}
	/* In this order: the last one leaves 7. */
	for (i = 0; i <= 1000; i++)
		ASSERT_EQ(0, vf_fence_import_syncobj(self->fence, told.handle, 0, 1 + i % 7));
	for (i = 0; i < FOLLOWERS; i++)
		EXPECT_EQ(0, look(queue[i]).progress);

	/* A queue that goes while it follows leaves the others alone. */
	vf_queue_abort(queue[0]);
	ASSERT_EQ(0, vf_queue_resume(self->gfx));
	for (i = 1; i < FOLLOWERS; i++)
		EXPECT_EQ(0, vf_queue_wait_idle(queue[i], DEADLINE));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 7, DEADLINE));
	for (i = 0; i < FOLLOWERS; i++)
		vf_queue_destroy(queue[i]);
	drmSyncobjDestroy(self->fd, told.handle);
}

/* Our own dma_fence signals our own import callback, also when it failed. */
TEST_F(submit, a_submission_signals_a_fence_by_import)
{
	struct vf_syncobj binary = syncobj_of(self->fd, 0);
	struct vf_syncobj timeline = syncobj_of(self->fd, 2);
	uint64_t maximum = self->can & DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS ? INT32_MAX : UINT64_MAX;
	struct vf_point back = { .value = 1 };
	struct vf_device *device;
	struct vf_fence *good, *bad[2], *stays;

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &good));
	ASSERT_EQ(0, vf_monitored_fence_create(device,
			DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR, 0, &stays));
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &bad[0]));
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &bad[1]));
	vf_cmd_draw(self->gfx, 1, LONG);
	ASSERT_EQ(0, submit_told(self->gfx, &binary));
	ASSERT_EQ(0, vf_fence_import_syncobj(good, binary.handle, 0, 6));
	EXPECT_EQ(0, vf_fence_wait(good, 6, DEADLINE));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, submit_told(self->gfx, &binary));
	ASSERT_EQ(0, submit_told(self->gfx, &timeline));
	ASSERT_EQ(0, vf_fence_import_syncobj(bad[0], binary.handle, 0, 6));
	ASSERT_EQ(0, vf_fence_import_syncobj(bad[1], timeline.handle, 2, 6));
	EXPECT_EQ(0, vf_fence_wait(bad[0], maximum, DEADLINE));
	EXPECT_EQ(0, vf_fence_wait(bad[1], maximum, DEADLINE));
	EXPECT_EQ(maximum, vf_fence_current(bad[0]));

	/* The owner takes it back, and waits begin anew. */
	back.fence = bad[0];
	ASSERT_EQ(0, vf_signal_flags(self->adapter, &back, 1, DRM_VFENCE_SIGNAL_ALLOW_REWIND));
	EXPECT_EQ(1, vf_fence_current(bad[0]));
	EXPECT_EQ(-ETIME, vf_fence_wait(bad[0], 2, 0));
	ASSERT_EQ(0, vf_fence_signal(bad[0], 2));
	EXPECT_EQ(0, vf_fence_wait(bad[0], 2, DEADLINE));

	/* The next import of this fence ends after the one that has no effect. */
	ASSERT_EQ(0, vf_fence_import_syncobj(stays, binary.handle, 0, 6));
	ASSERT_EQ(0, vf_fence_import_syncobj(bad[0], binary.handle, 0, 6));
	EXPECT_EQ(0, vf_fence_wait(bad[0], maximum, DEADLINE));
	EXPECT_EQ(0, vf_fence_current(stays));
	vf_fence_destroy(stays);
	vf_fence_destroy(good);
	vf_fence_destroy(bad[0]);
	vf_fence_destroy(bad[1]);
	vf_device_destroy(device);
	drmSyncobjDestroy(self->fd, binary.handle);
	drmSyncobjDestroy(self->fd, timeline.handle);
}

TEST_F(submit, WDDM_123_124_monitored_fences_of_a_hung_device_jump_to_the_maximum)
{
	struct vf_fence *stays, *theirs, *mine, *more[8];
	struct vf_device *device;
	size_t i;
	int fd;

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	for (i = 0; i < ARRAY_SIZE(more); i++)
		ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &more[i]));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device,
			DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR, 0, &stays));
	/* A fence that the device may only wait for keeps its value, too. */
	ASSERT_EQ(0, vf_monitored_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, &theirs));
	fd = vf_fence_export_rights(theirs, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &mine));
	close(fd);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1000, self->efd));
	cmd_hang(self->gfx);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	if (self->can & DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS) {
		EXPECT_EQ(INT32_MAX, vf_fence_current(self->fence));
	} else {
		EXPECT_EQ(UINT64_MAX, vf_fence_current(self->fence));
	}
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->other) >= INT32_MAX));
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		EXPECT_TRUE(EVENTUALLY(vf_fence_current(more[i]) >= INT32_MAX));
		vf_fence_destroy(more[i]);
	}
	EXPECT_EQ(0, vf_fence_current(stays));
	EXPECT_EQ(0, vf_fence_current(theirs));
	vf_fence_destroy(stays);
	vf_fence_destroy(mine);
	vf_fence_destroy(theirs);
	vf_device_destroy(device);
}

/* ------------------------------------------------------------------- the rest */

TEST_F(any, stock_viewers_see_jobs)
{
	const char *on = "/sys/kernel/tracing/events/gpu_scheduler/enable";
	const char *trace = "/sys/kernel/tracing/trace";
	bool seen = false;
	char line[1000];
	FILE *f;

	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (write_text(trace, "") || write_text(on, "1"))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	write_text(on, "0");
	f = fopen(trace, "re");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f))
		seen |= strstr(line, "drm_run_job") || strstr(line, "drm_sched_job_run");
	fclose(f);
	EXPECT_TRUE(seen);
}

#define OPS(op_type, n) (op.type = DRM_VFENCE_SUBMIT_##op_type,			\
			 a.ops = (struct drm_vfence_obj_array){ sizeof(op), n, (uintptr_t)&op })
#define COMMANDS(p, size) a.commands = (uintptr_t)(p), a.commands_size = (size)
#define SUBMIT_ARGS(...) ({							\
	struct drm_vfence_submit_queue _q[65] = { { .queue = handle } };	\
	struct drm_vfence_submit a = {						\
		.queues = { .stride = sizeof(_q[0]), .count = 1,		\
			    .array = (uintptr_t)_q },				\
	};									\
	__VA_ARGS__;								\
	raw(self->fd, DRM_IOCTL_VFENCE_SUBMIT, &a); })

/* What waits comes first, and signals of one fence are performed in the client's order. */
TEST_F(submit, operations_can_be_in_any_order)
{
	struct vf_syncobj in = syncobj_of(self->fd, 0);
	uint32_t fence = vf_fence_handle(self->fence), handle = vf_queue_handle(self->gfx);
	uint32_t gate = vf_fence_handle(self->other);
	static struct drm_vfence_submit_op most[DRM_VFENCE_MAX_OPS];
	unsigned int i;
	/* More than the driver sorts without an allocation. */
	struct drm_vfence_submit_op op[] = {
		{ DRM_VFENCE_SUBMIT_SIGNAL_FENCE, fence, 5 },
		{ DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ, in.handle, 0 },
		{ DRM_VFENCE_SUBMIT_SIGNAL_FENCE, fence, 6 },
		{ DRM_VFENCE_SUBMIT_WAIT_FENCE, gate, 1 },
		{ DRM_VFENCE_SUBMIT_SIGNAL_FENCE, fence, 4 },
		{ DRM_VFENCE_SUBMIT_WAIT_FENCE, gate, 2 },
		{ DRM_VFENCE_SUBMIT_SIGNAL_FENCE, fence, 8 },
		{ DRM_VFENCE_SUBMIT_WAIT_FENCE, gate, 3 },
		{ DRM_VFENCE_SUBMIT_SIGNAL_FENCE, fence, 7 },
		{ DRM_VFENCE_SUBMIT_WAIT_FENCE, gate, 1 },
	};

	ASSERT_EQ(0, drmSyncobjSignal(self->fd, &in.handle, 1));
	ASSERT_EQ(0, SUBMIT_ARGS(a.flags = DRM_VFENCE_SUBMIT_ALLOW_REWIND,
				 a.ops = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(10, op)));
	EXPECT_EQ(1, look(self->gfx).held);
	ASSERT_EQ(0, vf_fence_signal(self->other, 2));
	EXPECT_EQ(1, look(self->gfx).held);
	EXPECT_EQ(0, vf_fence_current(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->other, 3));
	EXPECT_TRUE(EVENTUALLY(!look(self->gfx).queued && !look(self->gfx).held));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == 7));
	for (i = 0; i < DRM_VFENCE_MAX_OPS; i++)
		most[i] = (struct drm_vfence_submit_op){
			.type = i % 2 ? DRM_VFENCE_SUBMIT_WAIT_FENCE :
					DRM_VFENCE_SUBMIT_SIGNAL_FENCE,
			.handle = i % 2 ? gate : fence, .value = i,
		};
	ASSERT_EQ(0, vf_fence_signal(self->other, DRM_VFENCE_MAX_OPS));
	ASSERT_EQ(0, SUBMIT_ARGS(a.ops = (struct drm_vfence_obj_array)
					 DRM_VFENCE_OBJ_ARRAY(DRM_VFENCE_MAX_OPS, most)));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == DRM_VFENCE_MAX_OPS - 2));
	drmSyncobjDestroy(self->fd, in.handle);
}

TEST_F(submit, one_wrong_thing_at_a_time)
{
	struct drm_vfence_submit_op op = { .handle = vf_fence_handle(self->fence), .value = 1 };
	uint32_t fence = op.handle, empty = syncobj_of(self->fd, 0).handle, n, k;
	static struct drm_vfence_submit_op many[DRM_VFENCE_MAX_OPS + 1];
	uint32_t handle = vf_queue_handle(self->gfx);
	uint64_t nop[2] = { 8 << 16, 8 << 16 };
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_fence *deaf, *mute, *intra;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_NO_WAIT, 0, &deaf));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_NO_SIGNAL, 0,
					       &mute));
	if (!vf_fence_create_desc(self->device, &desc, &intra)) {
		op.handle = vf_fence_handle(intra);
		EXPECT_EQ(-EOPNOTSUPP, SUBMIT_ARGS(OPS(WAIT_FENCE, 1)));
		EXPECT_EQ(-EOPNOTSUPP, SUBMIT_ARGS(OPS(SIGNAL_FENCE, 1)));
		vf_fence_destroy(intra);
	}
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.flags = 16));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.pad = 1));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.eventfd = self->efd));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.queues.count = 0));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.queues.count = 65));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.queues.stride = 4));
	EXPECT_EQ(-EFAULT, SUBMIT_ARGS(a.queues.array = 8));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(_q[0].pad = 1));
	EXPECT_EQ(-ENOENT, SUBMIT_ARGS(_q[0].queue = 0x7fffffff));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.queues.count = 2, _q[1].queue = handle));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.queues.count = 2,
				       _q[1].queue = vf_queue_handle(self->copy),
				       COMMANDS(nop, 8)));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.queues.count = 2,
				       _q[1].queue = vf_queue_handle(self->copy),
				       OPS(SIGNAL_SYNCOBJ, 1)));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.commands = (uintptr_t)nop));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(COMMANDS(nop, 4)));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(COMMANDS(nop, DRM_VFENCE_MAX_COMMANDS + 8)));
	EXPECT_EQ(-EFAULT, SUBMIT_ARGS(COMMANDS(8, 8)));
	EXPECT_EQ(-ENOENT, SUBMIT_ARGS(op.handle = 0x7fffffff, OPS(WAIT_FENCE, 1)));
	EXPECT_EQ(-ENOENT, SUBMIT_ARGS(OPS(SIGNAL_FENCE, 1)));
	EXPECT_EQ(-EACCES, SUBMIT_ARGS(op.handle = vf_fence_handle(deaf), OPS(WAIT_FENCE, 1)));
	EXPECT_EQ(-EACCES, SUBMIT_ARGS(op.handle = vf_fence_handle(mute),
				       OPS(SIGNAL_FENCE, 1)));
	op.value = 0;
	EXPECT_EQ(-ENOENT, SUBMIT_ARGS(op.handle = empty + 100, OPS(WAIT_SYNCOBJ, 1)));
	EXPECT_EQ(-ENOENT, SUBMIT_ARGS(OPS(SIGNAL_SYNCOBJ, 1)));
	op.handle = empty;
	/* The syncobj has no dma_fence, and the timeline has no such point. */
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(op.value = 3, OPS(WAIT_SYNCOBJ, 1)));
	op.value = 0;
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(OPS(WAIT_SYNCOBJ, 1)));
	for (n = 0; n <= DRM_VFENCE_MAX_OPS; n++)
		many[n] = (struct drm_vfence_submit_op){
			.type = n % 2 ? DRM_VFENCE_SUBMIT_WAIT_FENCE : DRM_VFENCE_SUBMIT_SIGNAL_FENCE,
			.handle = fence,
		};
#define MANY(n) a.ops = (struct drm_vfence_obj_array){ sizeof(many[0]), n, (uintptr_t)many }
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(MANY(DRM_VFENCE_MAX_OPS + 1)));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(MANY(1), a.ops.stride = 12));
	EXPECT_EQ(-EFAULT, SUBMIT_ARGS(MANY(1), a.ops.array = 8));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(MANY(2), many[1].type = 4));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(MANY(2), many[1].type = UINT32_MAX));
	for (k = DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ; k <= DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ; k++) {
		for (n = 0; n <= DRM_VFENCE_MAX_SYNCOBJS; n++)
			many[n] = (struct drm_vfence_submit_op){ .type = k, .handle = 0x7fffffff };
		EXPECT_EQ(-EINVAL, SUBMIT_ARGS(MANY(DRM_VFENCE_MAX_SYNCOBJS + 1)));
		EXPECT_EQ(-ENOENT, SUBMIT_ARGS(MANY(DRM_VFENCE_MAX_SYNCOBJS)));
	}
#define EVENT(f) a.flags = DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT, a.eventfd = (f)
	EXPECT_EQ(-EBADF, SUBMIT_ARGS(EVENT(1000)));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(EVENT(self->fd)));
	op.handle = fence;
	op.value = 1;
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(EVENT(self->efd), OPS(SIGNAL_FENCE, 1)));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(EVENT(self->efd), COMMANDS(nop, 8)));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.flags = DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.flags = DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION,
				       OPS(SIGNAL_FENCE, 1), COMMANDS(nop, 8)));
	EXPECT_EQ(-EINVAL, SUBMIT_ARGS(a.flags = DRM_VFENCE_SUBMIT_ALLOW_REWIND));
	/* None of these calls has queued anything, and a valid call succeeds. */
	EXPECT_EQ(0, look(self->gfx).last_queued);
	EXPECT_EQ(0, look(self->copy).last_queued);
	EXPECT_EQ(0, SUBMIT_ARGS(COMMANDS(nop, 16), OPS(SIGNAL_FENCE, 1)));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, DEADLINE));
	drmSyncobjDestroy(self->fd, empty);
	vf_fence_destroy(deaf);
	vf_fence_destroy(mute);
}

TEST_F(submit, packets_that_cannot_be_right_are_refused)
{
	static const struct {
		uint16_t opcode, length;
		uint32_t flags;
		int error;
	} packet[] = {
		{ DRM_VFENCE_OP_NOP, 0, 0, EINVAL },
		{ DRM_VFENCE_OP_NOP, 12, 0, EINVAL },
		{ DRM_VFENCE_OP_NOP, 72, 0, EINVAL },
		{ DRM_VFENCE_OP_NOP, 8, 1, EINVAL },
		{ DRM_VFENCE_OP_FENCE_WAIT, 24, 0, EINVAL },
		{ DRM_VFENCE_OP_LOG, 40, 0, EINVAL },
		{ DRM_VFENCE_OP_DRAW, 32, 0, EINVAL },
		{ DRM_VFENCE_OP_TIMESTAMP, 16, 2, EINVAL },
		{ DRM_VFENCE_OP_READ_REGISTER + 1, 8, 0, EINVAL },
		{ DRM_VFENCE_OP_SET_REGISTER, 16, 0, EINVAL },
		{ DRM_VFENCE_OP_MONITORED_SIGNAL, 16, 0, EINVAL },
		{ 0x8000, 24, 0, EINVAL },
		{ 0x8001, 24, 0, EINVAL },
		{ 0x8002, 16, 0, EINVAL },
		{ 0x8003, 16, 0, EINVAL },
		{ 0xffff, 8, 0, EINVAL },
	};
	uint32_t handle = vf_queue_handle(self->gfx);
	unsigned int i;

	for (i = 0; i < sizeof(packet) / sizeof(packet[0]); i++) {
		uint64_t words[16];
		unsigned int k;

		/* NOPs stand before and behind the packet. They are valid as operands, too. */
		for (k = 0; k < 16; k++)
			words[k] = 8 << 16;
		memcpy(&words[1], &packet[i], 8);
		EXPECT_EQ(-packet[i].error, SUBMIT_ARGS(COMMANDS(words, 80))) {
			TH_LOG("packet %u", i);
		}
	}
	EXPECT_EQ(0, look(self->gfx).last_queued);
	/* The driver refuses the packets because of their contents. */
	{
		uint64_t words[2] = { 8 << 16, 8 << 16 };
		uint64_t draw[3] = { DRM_VFENCE_OP_DRAW | 24 << 16, 0, 100 };

		EXPECT_EQ(0, SUBMIT_ARGS(COMMANDS(words, 16)));
		EXPECT_EQ(-EINVAL, SUBMIT_ARGS(COMMANDS(draw, 24)));
		draw[1] = 1;
		EXPECT_EQ(0, SUBMIT_ARGS(COMMANDS(draw, 24)));
	}
}

TEST_F(both_kinds, WDDM_179_a_user_mode_queue_takes_no_submissions)
{
	struct vf_queue *user;
	uint32_t handle;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &user));
	handle = vf_queue_handle(user);
	EXPECT_EQ(-EOPNOTSUPP, SUBMIT_ARGS());
	vf_queue_destroy(user);
}

TEST_HARNESS_MAIN
