// SPDX-License-Identifier: GPL-2.0-only
/*
 * An engine whose thread gets its processor too late makes up for the delay. It begins no work
 * before that work was submitted, and none before the wait in front of it ended.
 */

#include <pthread.h>

#include "vfence_test.h"

#define US	1000
#define MS	1000000

/* The engine may begin work by so much earlier than its thread has found it. */
#define FOUND_US	50

FIXTURE(late) {
	VFENCE_MEMBERS;
	struct vf_buffer *buffer;
	struct vf_fence *fence;
	volatile uint64_t *stamp;
	uint64_t va;
	uint64_t tick_ns;
};

FIXTURE_SETUP(late)
{
	struct drm_vfence_clock_info clock;

	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &self->buffer));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
	self->stamp = vf_buffer_map(self->buffer);
	self->va = vf_buffer_va(self->buffer);
	self->tick_ns = 1000000000 / clock.frequency_hz;
	/* The engine of the queue shares a processor with this thread, which goes first. */
	pin_kthread("vfence0-engine0", 0);
	vf_cmd_timestamp(self->gfx, self->va);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	pin(0, 0);
	hurry(0, 2);
}

FIXTURE_TEARDOWN(late)
{
	hurry(0, 0);
	vf_fence_destroy(self->fence);
	vf_buffer_destroy(self->buffer);
	VFENCE_TEARDOWN();
}

static void keep_processor(int64_t ns)
{
	int64_t end = vf_deadline(ns);

	while (vf_deadline(0) < end)
		;
}

/* Let the engine have its processor. */
static void lend_processor(int64_t ns)
{
	struct timespec nap = { .tv_nsec = ns };

	nanosleep(&nap, NULL);
}

/* Return: the time of the GPU, in its ticks. */
static uint64_t gpu_time(struct vf_adapter *adapter)
{
	struct drm_vfence_clock_info clock;

	return vf_adapter_clock(adapter, &clock) ? UINT64_MAX : clock.gpu_ticks;
}

/*
 * The engine begins a draw of 100 us, and is late at its end. Work that comes meanwhile, @then,
 * comes 800 us after it has begun. Return: the time of the GPU before it comes.
 */
#define WHILE_ENGINE_IS_LATE(then) ({						\
	uint64_t before;							\
										\
	lend_processor(60 * US);						\
	keep_processor(740 * US);						\
	before = gpu_time(self->adapter);					\
	ASSERT_NE(UINT64_MAX, before);						\
	ASSERT_EQ(0, then);							\
	keep_processor(400 * US);						\
	hurry(0, 0);								\
	before;									\
})

/*
 * Expect that work of @us_after, which ended at @stamped, began no earlier than at @before. The
 * engine may be wrong by @tolerance_us.
 */
#define EXPECT_BEGUN_SINCE(before, us_after, stamped, tolerance_us)		\
	EXPECT_LE((before) + (us_after) * US / self->tick_ns,			\
		  (stamped) + (tolerance_us) * US / self->tick_ns + 1)

TEST_F(late, a_packet_begins_when_it_is_submitted)
{
	uint64_t before;

	vf_cmd_draw(self->gfx, 1, 100 * US);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	vf_cmd_draw(self->gfx, 1, MS);
	vf_cmd_timestamp(self->gfx, self->va);
	before = WHILE_ENGINE_IS_LATE(vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_BEGUN_SINCE(before, 1000, self->stamp[0], FOUND_US);
}

TEST_F(late, work_behind_a_wait_begins_when_the_fence_is_signaled)
{
	uint64_t before;

	vf_cmd_draw(self->gfx, 1, 100 * US);
	vf_cmd_wait(self->gfx, self->fence, 1);
	vf_cmd_draw(self->gfx, 1, MS);
	vf_cmd_timestamp(self->gfx, self->va);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	before = WHILE_ENGINE_IS_LATE(vf_fence_signal(self->fence, 1));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_BEGUN_SINCE(before, 1000, self->stamp[0], FOUND_US);
}

/*
 * Return: the time of the first entry of an operation in the log of signals, which names @fence; or
 * the latest time if there is none.
 */
static uint64_t logged_at(struct vf_queue *queue, uint32_t operation, uint32_t fence)
{
	struct drm_vfence_log_entry entry;
	unsigned int count = 1;
	uint64_t lost;

	while (!vf_queue_read_log(queue, DRM_VFENCE_LOG_SIGNALS, &entry, &count, &lost) && count)
		if (entry.operation == operation && entry.fence == fence)
			return entry.end_gpu_timestamp;
	return UINT64_MAX;
}

TEST_F(late, a_time_stamp_is_no_earlier_than_the_signal_before)
{
	vf_cmd_draw(self->gfx, 1, 100 * US);
	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_cmd_timestamp(self->gfx, self->va);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	WHILE_ENGINE_IS_LATE(0);
	ASSERT_TRUE(logged(self->gfx));
	EXPECT_LE(logged_at(self->gfx, DRM_VFENCE_LOG_SIGNAL_EXECUTED, vf_fence_handle(self->fence)),
		  self->stamp[0]);
}

/* Time stamps behind what the clock of the machine times: a signal, a wait, a marker. */
TEST_F(late, a_draw_between_time_stamps_takes_its_time)
{
	vf_cmd_draw(self->gfx, 1, 100 * US);
	vf_cmd_signal(self->gfx, self->fence, 1);
	vf_cmd_timestamp(self->gfx, self->va);
	vf_cmd_draw(self->gfx, 1, 300 * US);
	vf_cmd_timestamp(self->gfx, self->va + 8);
	vf_cmd_draw(self->gfx, 1, 2 * MS);
	vf_cmd_timestamp(self->gfx, self->va + 16);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	WHILE_ENGINE_IS_LATE(0);
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_LE(300 * US / self->tick_ns, self->stamp[1] - self->stamp[0]);
	EXPECT_LE(2 * MS / self->tick_ns, self->stamp[2] - self->stamp[1]);

	vf_cmd_draw(self->gfx, 1, 100 * US);
	vf_cmd_wait(self->gfx, self->fence, 2);
	vf_cmd_timestamp(self->gfx, self->va);
	vf_cmd_draw(self->gfx, 1, 40 * US);
	vf_cmd_timestamp(self->gfx, self->va + 8);
	hurry(0, 2);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	WHILE_ENGINE_IS_LATE(vf_fence_signal(self->fence, 2));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_LE(40 * US / self->tick_ns, self->stamp[1] - self->stamp[0]);
}

TEST_F(late, a_time_stamp_is_no_earlier_than_the_marker_before)
{
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "1"));
	/* Read what the log has before the level is switched. */
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	vf_cmd_draw(self->gfx, 1, 100 * US);
	vf_cmd_marker(self->gfx, 5);
	vf_cmd_timestamp(self->gfx, self->va);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	WHILE_ENGINE_IS_LATE(0);
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "0"));
	EXPECT_LE(logged_at(self->gfx, DRM_VFENCE_LOG_MARKER, 0), self->stamp[0]);
}

/* The engine sees the first word of a packet before it is late, and the others afterwards. */
TEST_F(late, a_packet_begins_when_all_of_it_is_submitted)
{
	struct drm_vfence_packet_header nop = { .opcode = DRM_VFENCE_OP_NOP, .length = 64 };
	const uint64_t rest[7] = { 0 };
	uint64_t before;

	/* If the engine looks again before it is late, the packet is bad. */
	if (!deterministic())
		SKIP(return, "needs exact times");
	vf_cmd_draw(self->gfx, 1, 400 * US);
	vf_cmd_raw(self->gfx, &nop, sizeof(nop));
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	vf_cmd_raw(self->gfx, rest, sizeof(rest));
	vf_cmd_timestamp(self->gfx, self->va);
	before = WHILE_ENGINE_IS_LATE(vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_BEGUN_SINCE(before, 0, self->stamp[0], FOUND_US);
}

/* A signal executes the LOG packet behind it, which is the first one that is new. */
TEST_F(late, a_packet_behind_a_new_log_packet_begins_when_it_is_submitted)
{
	const struct drm_vfence_fence_mapping *map = vf_fence_mapping(self->fence);
	struct drm_vfence_packet_log log = {
		.header = { .opcode = DRM_VFENCE_OP_LOG, .length = sizeof(log) },
		.log_va = vf_queue_info(self->gfx)->signal_log_va, .index = 1,
		.fence = vf_fence_handle(self->fence), .value = 1,
		.operation = DRM_VFENCE_LOG_SIGNAL_EXECUTED,
	};
	struct drm_vfence_packet_signal signal = {
		.header = { .opcode = DRM_VFENCE_OP_FENCE_SIGNAL, .length = sizeof(signal) },
		.current_va = map->current_va, .monitored_va = map->monitored_va, .value = 1,
	};
	uint64_t before;

	vf_cmd_draw(self->gfx, 1, 100 * US);
	vf_cmd_raw(self->gfx, &signal, sizeof(signal));
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	vf_cmd_raw(self->gfx, &log, sizeof(log));
	vf_cmd_draw(self->gfx, 1, 700 * US);
	vf_cmd_timestamp(self->gfx, self->va);
	self->stamp[0] = 0;
	before = WHILE_ENGINE_IS_LATE(vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(self->stamp[0]));
	EXPECT_BEGUN_SINCE(before, 700, self->stamp[0], FOUND_US);
}

TEST_F(late, a_queue_begins_when_it_gets_work)
{
	struct vf_queue *other;
	uint64_t before;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &other));
	vf_cmd_draw(self->gfx, 1, 100 * US);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	vf_cmd_timestamp(other, self->va);
	vf_cmd_draw(other, 1, MS);
	vf_cmd_timestamp(other, self->va + 8);
	before = WHILE_ENGINE_IS_LATE(vf_queue_submit(other));
	ASSERT_TRUE(drained(other));
	EXPECT_BEGUN_SINCE(before, 0, self->stamp[0], 0);
	EXPECT_BEGUN_SINCE(before, 1000, self->stamp[1], 0);
	vf_queue_destroy(other);
}

struct hog {
	pthread_t thread;
	int end;
};

/* Take the processor of the engine for 200 of each 430 us. */
static void *take_turns(void *arg)
{
	struct hog *hog = arg;

	pin(0, 0);
	hurry(0, 2);
	while (!__atomic_load_n(&hog->end, __ATOMIC_RELAXED)) {
		keep_processor(200 * US);
		lend_processor(230 * US);
	}
	return NULL;
}

/* The clock of the GPU and that of the host agree that 1,000 draws of 100 us take 100 ms. */
TEST_F(late, draws_take_no_longer_if_their_engine_wakes_up_late)
{
	struct hog hog = { .end = 0 };
	uint64_t ns;
	int64_t begun;

	if (!deterministic())
		SKIP(return, "needs exact times");
	/* This thread reads the clock of the host, and waits for no processor. */
	hurry(0, 0);
	pin(0, 1);
	ASSERT_EQ(0, pthread_create(&hog.thread, NULL, take_turns, &hog));
	vf_cmd_timestamp(self->gfx, self->va);
	vf_cmd_draw(self->gfx, 1000, 100 * US);
	vf_cmd_timestamp(self->gfx, self->va + 8);
	begun = vf_deadline(0);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(AT_ONCE(self->stamp[1]));
	begun = vf_deadline(0) - begun;
	__atomic_store_n(&hog.end, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(hog.thread, NULL));

	ns = (self->stamp[1] - self->stamp[0]) * self->tick_ns;
	TH_LOG("1,000 draws of 100 us: %.3f ms of the GPU, %.3f of the host", ns / 1e6,
	       begun / 1e6);
	EXPECT_LE(100 * MS - 100 * US, ns);
	EXPECT_GE(102 * MS, ns);
	EXPECT_LE(100 * MS, begun);
	EXPECT_GE(102 * MS, begun);
}

TEST_HARNESS_MAIN
