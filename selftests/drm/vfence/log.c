// SPDX-License-Identifier: GPL-2.0-only
/* Native fence logs: layout, order, overrun, reading. */

#include "vfence_test.h"

FIXTURE(log) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	struct vf_fence *gate;
};

FIXTURE_SETUP(log)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->gate));
}

FIXTURE_TEARDOWN(log)
{
	vf_fence_destroy(self->fence);
	vf_fence_destroy(self->gate);
	VFENCE_TEARDOWN();
}

#define SIGNALS DRM_VFENCE_LOG_SIGNALS
#define WAITS DRM_VFENCE_LOG_WAITS

TEST_F(log, WDDM_81_83_84_85_layout)
{
	const struct drm_vfence_queue_create *info = vf_queue_info(self->gfx);

	EXPECT_EQ(0, offsetof(struct drm_vfence_log_header, first_free_entry_index));
	EXPECT_EQ(4, offsetof(struct drm_vfence_log_header, wraparound_count));
	EXPECT_EQ(8, offsetof(struct drm_vfence_log_header, type));
	EXPECT_EQ(16, offsetof(struct drm_vfence_log_header, number_of_entries));
	EXPECT_EQ(40, sizeof(struct drm_vfence_log_header));
	EXPECT_EQ(0, offsetof(struct drm_vfence_log_entry, fence_value));
	EXPECT_EQ(8, offsetof(struct drm_vfence_log_entry, fence));
	EXPECT_EQ(12, offsetof(struct drm_vfence_log_entry, operation));
	EXPECT_EQ(24, offsetof(struct drm_vfence_log_entry, observed_gpu_timestamp));
	EXPECT_EQ(40, offsetof(struct drm_vfence_log_entry, end_gpu_timestamp));
	EXPECT_EQ(48, sizeof(struct drm_vfence_log_entry));
	EXPECT_EQ(1, DRM_VFENCE_LOG_WAITS);
	EXPECT_EQ(2, DRM_VFENCE_LOG_SIGNALS);
	EXPECT_EQ(0, DRM_VFENCE_LOG_SIGNAL_EXECUTED);
	EXPECT_EQ(1, DRM_VFENCE_LOG_WAIT_UNBLOCKED);
	/* A queue has two logs of 4 KiB, each with 84 entries behind the header. */
	EXPECT_NE(info->wait_log_va, info->signal_log_va);
	EXPECT_EQ((4096 - 40) / 48, info->wait_log_entries);
	EXPECT_EQ((4096 - 40) / 48, info->signal_log_entries);
}

TEST_F(log, WDDM_86_87_88_96_entries_tell_what_happened)
{
	struct drm_vfence_log_entry e[8];
	struct drm_vfence_clock_info clock;
	uint64_t signal_end;
	unsigned int n = 8;

	ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
	vf_cmd_wait(self->copy, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_BLOCKED));
	vf_cmd_draw(self->gfx, 1, 500000);
	vf_cmd_signal(self->gfx, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_TRUE(logged(self->copy));

	memset(e, POISON, sizeof(e));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
	ASSERT_EQ(2, n);
	EXPECT_EQ(5, e[0].fence_value);
	EXPECT_EQ(vf_fence_handle(self->fence), e[0].fence);
	EXPECT_EQ(DRM_VFENCE_LOG_SIGNAL_EXECUTED, e[0].operation);
	EXPECT_EQ(0, e[0].observed_gpu_timestamp);
	EXPECT_LT(clock.gpu_ticks, e[0].end_gpu_timestamp);
	EXPECT_EQ(1, e[1].fence_value);
	EXPECT_EQ(vf_queue_info(self->gfx)->progress_fence, e[1].fence);
	EXPECT_LE(e[0].end_gpu_timestamp, e[1].end_gpu_timestamp);
	signal_end = e[0].end_gpu_timestamp;

	n = 8;
	ASSERT_EQ(0, vf_queue_read_log(self->copy, WAITS, e, &n, NULL));
	ASSERT_EQ(1, n);
	EXPECT_EQ(5, e[0].fence_value);
	EXPECT_EQ(vf_fence_handle(self->fence), e[0].fence);
	EXPECT_EQ(DRM_VFENCE_LOG_WAIT_UNBLOCKED, e[0].operation);
	EXPECT_LT(0, e[0].observed_gpu_timestamp);
	EXPECT_LE(e[0].observed_gpu_timestamp, e[0].end_gpu_timestamp);
	/* The queue stalled before the signal and continued after it. */
	EXPECT_LT(e[0].observed_gpu_timestamp, signal_end);
	EXPECT_LE(signal_end, e[0].end_gpu_timestamp);
	/* Reading consumes the entries. */
	n = 8;
	ASSERT_EQ(0, vf_queue_read_log(self->copy, WAITS, e, &n, NULL));
	EXPECT_EQ(0, n);
}

#define SHORT_DRAWS	16

/* Draws that are too short for a timer take their time all the same. */
/* What a client reads of both logs is what the driver says of the queue, and so is the rest. */
TEST_F(log, entries_of_both_logs_count)
{
	struct drm_vfence_log_entry e[8];
	struct drm_vfence_queue_info q;
	unsigned int i, waits = 8, signals = 8;
	struct vf_counters c;

	for (i = 0; i < 3; i++)
		vf_cmd_wait(self->gfx, self->fence, 0);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_TRUE(settled(self->adapter, &c));
	EXPECT_EQ(c.log_packets, c.log_entries_read + c.log_entries_lost + c.log_entries_unread);

	ASSERT_EQ(0, vf_queue_read_log(self->gfx, WAITS, e, &waits, NULL));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &signals, NULL));
	EXPECT_EQ(3, waits);
	EXPECT_EQ(1, signals);
	ASSERT_EQ(0, vf_queue_query(self->gfx, &q));
	EXPECT_EQ(waits + signals, q.log_read);
}

TEST_F(log, WDDM_90_a_signal_is_not_earlier_than_the_work_before_it)
{
	static const uint32_t draw_ns[] = { 1000, 2000, 5000, 10000, 15000, 20000, 50000 };
	struct drm_vfence_log_entry e[SHORT_DRAWS + 2];
	struct drm_vfence_clock_info clock;
	struct vf_buffer *buffer;
	unsigned int i, k, n;
	uint64_t value = 0;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	for (i = 0; i < sizeof(draw_ns) / sizeof(draw_ns[0]); i++) {
		vf_cmd_signal(self->gfx, self->fence, ++value);
		vf_cmd_timestamp(self->gfx, vf_buffer_va(buffer));
		for (k = 0; k < SHORT_DRAWS; k++) {
			vf_cmd_draw(self->gfx, 1, draw_ns[i]);
			vf_cmd_signal(self->gfx, self->fence, ++value);
		}
		ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(logged(self->gfx));
		n = SHORT_DRAWS + 2;
		memset(e, POISON, sizeof(e));
		ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
		ASSERT_EQ(SHORT_DRAWS + 2, n);
		for (k = 0; k <= SHORT_DRAWS; k++) {
			uint64_t at = e[k].end_gpu_timestamp, tick_ns = SECOND / clock.frequency_hz;
			uint64_t work_ns = (uint64_t)k * draw_ns[i];

			EXPECT_LE(work_ns, (at - clock.gpu_ticks + 1) * tick_ns);
			/* The draws begin at the time stamp, also if the engine woke up late. */
			if (k)
				EXPECT_LE(work_ns, (at - *(uint64_t *)vf_buffer_map(buffer) + 1) *
						   tick_ns);
		}
		TH_LOG("%u draws of %u ns end after %llu ns", SHORT_DRAWS, draw_ns[i],
		       (unsigned long long)((e[SHORT_DRAWS].end_gpu_timestamp - clock.gpu_ticks) *
					    (SECOND / clock.frequency_hz)));
	}
	vf_buffer_destroy(buffer);
}

/* From the first LOG_READ on the driver reads all logs at interrupts if those of the queue have news. */
static int read_at_interrupts(struct vf_queue *queue)
{
	unsigned int none = 0;

	return vf_queue_read_log(queue, WAITS, NULL, &none, NULL);
}

TEST_F(log, WDDM_92_93_logs_are_committed_in_batches_before_they_are_read)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_point point = { self->gate, 1 };
	struct vf_counters before, after;
	struct drm_vfence_log_entry e[8];
	unsigned int i, n = 8;

	ASSERT_EQ(0, read_at_interrupts(self->copy));
	/* Write log entries on two queues, and then raise one interrupt. */
	for (i = 1; i <= 3; i++) {
		vf_cmd_signal(self->gfx, self->fence, i);
		vf_cmd_wait(self->copy, self->fence, i);
	}
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_TRUE(logged(self->copy));
	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, NULL));
	before = counters(self->adapter);
	vf_cmd_signal(self->gfx, self->gate, 1);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(fired(efd)));
	ASSERT_TRUE(EVENTUALLY(!counters(self->adapter).log_entries_unread));
	/*
	 * Read the counters again: one query reads the flushes first and the unread
	 * entries last, so it may miss the last flush.
	 */
	after = counters(self->adapter);
	EXPECT_LT(before.log_flushes, after.log_flushes);
	EXPECT_LT(after.log_flushes - before.log_flushes,
		  after.log_queues_flushed - before.log_queues_flushed);
	/* Both logs of each queue have all entries that the index counted. */
	memset(e, POISON, sizeof(e));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
	ASSERT_EQ(5, n);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(i + 1, e[i].fence_value);
	n = 8;
	ASSERT_EQ(0, vf_queue_read_log(self->copy, WAITS, e, &n, NULL));
	ASSERT_EQ(3, n);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(i + 1, e[i].fence_value);
	close(efd);
}

TEST_F(log, WDDM_97_98_logs_grow_while_packets_of_the_old_size_are_in_the_ring)
{
	struct vf_counters before, after;
	static struct drm_vfence_log_entry e[1024];
	unsigned int i, n = 1024;
	struct vf_queue *queue;
	uint64_t lost = POISON;

	if (geteuid())
		SKIP(return, "needs root");
	before = counters(self->adapter);
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 65536, &queue));
	/* The driver makes the set call once for each log. */
	EXPECT_EQ(before.log_buffers_set + 2, counters(self->adapter).log_buffers_set);
	for (i = 1; i <= 30; i++)
		vf_cmd_signal(queue, self->fence, i);
	vf_cmd_wait(queue, self->gate, 1);
	for (; i <= 150; i++)
		vf_cmd_signal(queue, self->fence, i);
	ASSERT_EQ(0, vf_queue_publish(queue));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_BLOCKED));
	before = counters(self->adapter);
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "1"));
	after = counters(self->adapter);
	/* The counter has the logs of this queue and of the fixture's queues. */
	EXPECT_EQ(before.log_buffers_set + 6, after.log_buffers_set);
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(queue));
	EXPECT_EQ((4096 - 40) / 48, vf_queue_info(queue)->signal_log_entries);
	/*
	 * Publish before the client knows of the new buffer, in the old geometry, then in
	 * the new one.
	 */
	for (; i <= 160; i++)
		vf_cmd_signal(queue, self->fence, i);
	ASSERT_EQ(0, vf_queue_publish(queue));
	EXPECT_EQ((65536 - 40) / 48, vf_queue_info(queue)->signal_log_entries);
	for (; i <= 700; i++)
		vf_cmd_signal(queue, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(logged(queue));
	ASSERT_EQ(0, vf_queue_read_log(queue, SIGNALS, e, &n, &lost));
	/* Neither the old nor the new buffer has lost an entry. */
	EXPECT_EQ(0, lost);
	ASSERT_EQ(701, n);
	for (i = 0; i < 700; i++)
		ASSERT_EQ(i + 1, e[i].fence_value);
	/* Return to the small buffer. A client without submissions learns of it later. */
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "0"));
	for (i = 1; i <= 60; i++)
		vf_cmd_signal(queue, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(logged(queue));
	EXPECT_EQ((4096 - 40) / 48, vf_queue_info(queue)->signal_log_entries);
	n = 1024;
	ASSERT_EQ(0, vf_queue_read_log(queue, SIGNALS, e, &n, &lost));
	EXPECT_EQ(0, lost);
	ASSERT_EQ(61, n);
	for (i = 0; i < 60; i++)
		ASSERT_EQ(i + 1, e[i].fence_value);
	EXPECT_EQ(0, queue_fault(queue));
	vf_queue_destroy(queue);
}

/* Signal, drop another signal, and signal again. The log must have the two, one after the other. */
static int drop_between(struct vf_queue *queue, struct vf_fence *fence, uint64_t value)
{
	int ret;

	vf_cmd_signal(queue, fence, value);
	ret = vf_queue_publish(queue);
	vf_cmd_signal(queue, fence, value + 9);
	vf_cmd_nop(queue, 7);
	if (!ret && vf_queue_publish(queue) != -EINVAL)
		ret = -ENOMSG;
	vf_cmd_signal(queue, fence, value + 1);
	return ret ? ret : vf_queue_publish(queue);
}

TEST_F(log, commands_that_were_dropped_leave_no_gap)
{
	struct drm_vfence_log_entry e[16];
	unsigned int n = 16;

	ASSERT_EQ(0, drop_between(self->gfx, self->fence, 1));
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == 2));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	EXPECT_EQ(DRM_VFENCE_FAULT_NONE, queue_fault(self->gfx));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
	ASSERT_EQ(2, n);
	EXPECT_EQ(1, e[0].fence_value);
	EXPECT_EQ(2, e[1].fence_value);
}

TEST_F(log, commands_that_were_dropped_leave_no_gap_in_a_log_that_has_begun_anew)
{
	unsigned int i;

	if (geteuid())
		SKIP(return, "needs root");
	for (i = 1; i <= 30; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	/* The next submission connects, and takes over the new size. */
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "1"));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ((65536 - 40) / 48, vf_queue_info(self->gfx)->signal_log_entries);
	vf_cmd_nop(self->gfx, 7);
	EXPECT_EQ(-EINVAL, vf_queue_submit(self->gfx));
	vf_cmd_signal(self->gfx, self->fence, 31);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(logged(self->gfx));
	EXPECT_EQ(31, vf_fence_current(self->fence));
	EXPECT_EQ(DRM_VFENCE_FAULT_NONE, queue_fault(self->gfx));
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "0"));
}

TEST_F(log, a_client_that_does_not_take_the_new_size_over_goes_on)
{
	struct drm_vfence_doorbell_connect connect = { .queue = vf_queue_handle(self->gfx) };
	unsigned int i;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "1"));
	/* Connect without the library, as any client can. */
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &connect));
	EXPECT_EQ((4096 - 40) / 48, connect.signal_log_entries);
	EXPECT_EQ(0, connect.log_restart);
	EXPECT_EQ(DRM_VFENCE_LOGGING_ALL, connect.logging_level);
	for (i = 1; i <= 200; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(logged(self->gfx));
	EXPECT_EQ(0, queue_fault(self->gfx));
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "0"));
}

TEST_F(log, WDDM_100_markers_are_logged_under_verbose_tracing_only)
{
	struct drm_vfence_packet_log marker = {
		.header = { .opcode = DRM_VFENCE_OP_LOG, .length = sizeof(marker) },
		.log_va = vf_queue_info(self->gfx)->signal_log_va,
		.operation = DRM_VFENCE_LOG_MARKER, .value = 77,
	};
	struct drm_vfence_log_entry e[8];
	unsigned int n = 8;

	if (geteuid())
		SKIP(return, "needs root");
	/* The GPU executes the marker and counts it in the index, but does not log it. */
	vf_cmd_raw(self->gfx, &marker, sizeof(marker));
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	EXPECT_EQ(0, queue_fault(self->gfx));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
	EXPECT_EQ(0, n);
	/* The library leaves markers out, because it knows the level. */
	vf_cmd_marker(self->copy, 1);
	vf_cmd_signal(self->copy, self->fence, 1);
	vf_cmd_wait(self->copy, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(logged(self->copy));
	n = 8;
	ASSERT_EQ(0, vf_queue_read_log(self->copy, WAITS, e, &n, NULL));
	EXPECT_EQ(1, n);
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "1"));
	/* The library learns the level with this submission. */
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	vf_cmd_marker(self->copy, 2);
	vf_cmd_signal(self->copy, self->fence, 3);
	vf_cmd_marker(self->copy, 4);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(logged(self->copy));
	n = 8;
	ASSERT_EQ(0, vf_queue_read_log(self->copy, SIGNALS, e, &n, NULL));
	/* The GPU logs signals at either level: 1, two of progress, 3 and one more. */
	ASSERT_EQ(7, n);
	EXPECT_EQ(DRM_VFENCE_LOG_SIGNAL_EXECUTED, e[0].operation);
	EXPECT_EQ(DRM_VFENCE_LOG_MARKER, e[3].operation);
	EXPECT_EQ(2, e[3].fence_value);
	EXPECT_EQ(DRM_VFENCE_LOG_SIGNAL_EXECUTED, e[4].operation);
	EXPECT_EQ(DRM_VFENCE_LOG_MARKER, e[5].operation);
	EXPECT_LE(e[3].end_gpu_timestamp, e[5].end_gpu_timestamp);
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "0"));
}

TEST_F(log, WDDM_101_queue_times_come_from_the_client_not_from_the_log)
{
	struct drm_vfence_clock_info clock;
	struct drm_vfence_log_entry e[4];
	struct vf_queued queued[8];
	unsigned int n = 4, i, found = 0;
	int64_t before = vf_deadline(0), after;

	ASSERT_EQ(0, vf_events_enable(self->adapter, 64));
	vf_cmd_wait(self->gfx, self->gate, 1);
	vf_cmd_signal(self->gfx, self->fence, 9);
	after = vf_deadline(0);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(logged(self->gfx));
	n = vf_events_take(self->adapter, queued, 8);
	for (i = 0; i < n; i++) {
		if (queued[i].value != 9 || queued[i].op != VF_QUEUED_SIGNAL)
			continue;
		found++;
		EXPECT_LE(before, (int64_t)queued[i].cpu_ns);
		EXPECT_GE(after, (int64_t)queued[i].cpu_ns);
	}
	EXPECT_EQ(1, found);
	/* The log has the time of execution, which is later than the submission. */
	n = 4;
	ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
	ASSERT_LE(1, n);
	EXPECT_EQ(9, e[0].fence_value);
	EXPECT_LT(after, vf_clock_to_cpu(&clock, e[0].end_gpu_timestamp));
	EXPECT_EQ(0, e[0].reserved0);
	EXPECT_EQ(0, e[0].reserved1);
}

TEST_F(log, WDDM_96_timestamps_never_decrease)
{
	struct drm_vfence_log_entry e[84];
	unsigned int i, n = 84;

	for (i = 1; i <= 80; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
	ASSERT_EQ(81, n);
	for (i = 1; i < n; i++)
		EXPECT_LE(e[i - 1].end_gpu_timestamp, e[i].end_gpu_timestamp);
}

TEST_F(log, WDDM_96_no_time_and_the_same_time_are_accepted)
{
	const struct drm_vfence_queue_create *info = vf_queue_info(self->gfx);
	const struct drm_vfence_fence_mapping *m = vf_fence_mapping(self->fence);
	struct drm_vfence_packet_log log = {
		.header = { .opcode = DRM_VFENCE_OP_LOG, .length = sizeof(log) },
		.log_va = info->signal_log_va, .fence = vf_fence_handle(self->fence), .value = 5,
		.operation = DRM_VFENCE_LOG_SIGNAL_EXECUTED,
	};
	struct drm_vfence_packet_signal signal = {
		.header = { .opcode = DRM_VFENCE_OP_FENCE_SIGNAL, .length = sizeof(signal) },
		.current_va = m->current_va, .monitored_va = m->monitored_va, .value = 5,
	};
	struct drm_vfence_log_entry e[8];
	unsigned int n = 8;

	/* The first two LOG packets follow no signal, and the other two follow one signal. */
	for (log.index = 0; log.index < 4; log.index++) {
		if (log.index == 2)
			vf_cmd_raw(self->gfx, &signal, sizeof(signal));
		vf_cmd_raw(self->gfx, &log, sizeof(log));
	}
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	memset(e, POISON, sizeof(e));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
	ASSERT_EQ(4, n);
	EXPECT_EQ(0, e[0].end_gpu_timestamp);
	EXPECT_EQ(0, e[1].end_gpu_timestamp);
	EXPECT_LT(0, e[2].end_gpu_timestamp);
	EXPECT_EQ(e[2].end_gpu_timestamp, e[3].end_gpu_timestamp);
}

TEST_F(log, WDDM_94_overrun_overwrites_the_oldest_and_is_counted)
{
	struct drm_vfence_log_entry e[200];
	struct vf_counters c;
	unsigned int i, n = 200;
	uint64_t lost = POISON;

	for (i = 1; i <= 500; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	memset(e, POISON, sizeof(e));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, &lost));
	/*
	 * 501 entries were written. The buffer holds 84 of them, and one of these may be
	 * torn.
	 */
	EXPECT_EQ(501, lost + n);
	EXPECT_LE(83, n);
	EXPECT_GE(84, n);
	for (i = 0; i + 1 < n; i++)
		EXPECT_EQ(500 - (n - 2) + i, e[i].fence_value);
	ASSERT_TRUE(settled(self->adapter, &c));
	EXPECT_LE(500 - 84, c.log_entries_lost);
}

/*
 * Submit @count signals from @value on. An event waits for the last one, so that its interrupt makes
 * the driver read the log. Return: true when it has.
 */
static bool log_signals(struct vf_adapter *adapter, struct vf_queue *queue, struct vf_fence *fence,
			uint64_t value, unsigned int count)
{
	struct drm_vfence_queue_info query;
	int efd = eventfd(0, EFD_CLOEXEC);
	uint64_t wanted;
	unsigned int i;
	bool done;

	if (vf_queue_query(queue, &query) ||
	    arm(adapter, fence, value + count - 1, efd))
		return false;
	wanted = query.log_read + count;
	for (i = 0; i < count; i++)
		vf_cmd_signal(queue, fence, value + i);
	done = !vf_queue_publish(queue) &&
	       EVENTUALLY(!vf_queue_query(queue, &query) && query.log_read == wanted);
	close(efd);
	return done;
}

TEST_F(log, entries_are_kept_from_the_first_read_on)
{
	static struct drm_vfence_log_entry e[1024];
	struct drm_vfence_log_read args = {
		.queue = vf_queue_handle(self->gfx), .log = SIGNALS,
		.entries = { .array = (uintptr_t)e, .count = 1024, .stride = sizeof(e[0]) },
	};
	int fd = vf_adapter_fd(self->adapter);
	unsigned int i, none = 0;
	uint64_t lost = POISON;

	/*
	 * 100 entries that the driver has read for another queue: the log has 83 that the GPU is not
	 * about to write.
	 */
	ASSERT_EQ(0, read_at_interrupts(self->copy));
	for (i = 0; i < 2; i++) {
		vf_cmd_signal(self->copy, self->gate, 1 + i);
		ASSERT_EQ(0, vf_queue_submit(self->copy));
		ASSERT_TRUE(logged(self->copy));
		ASSERT_TRUE(log_signals(self->adapter, self->gfx, self->fence, 1 + 50 * i, 50));
	}
	ASSERT_EQ(0, drmIoctl(fd, DRM_IOCTL_VFENCE_LOG_READ, &args));
	EXPECT_EQ(0, args.lost);
	EXPECT_EQ(100 - 83, args.dropped);
	ASSERT_EQ(83, args.returned);
	for (i = 0; i < 83; i++)
		EXPECT_EQ(18 + i, e[i].fence_value);

	/* From now on the driver keeps 1,024, here of 1,050. */
	for (i = 0; i < 21; i++)
		ASSERT_TRUE(log_signals(self->adapter, self->gfx, self->fence, 101 + 50 * i, 50));
	ASSERT_EQ(0, drmIoctl(fd, DRM_IOCTL_VFENCE_LOG_READ, &args));
	EXPECT_EQ(0, args.lost);
	EXPECT_EQ(100 - 83 + 1050 - 1024, args.dropped);
	ASSERT_EQ(1024, args.returned);
	for (i = 0; i < 1024; i++)
		EXPECT_EQ(127 + i, e[i].fence_value);
	/* For a client of the library the ones and the others are lost. */
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, NULL, &none, &lost));
	EXPECT_EQ(args.dropped, lost);

	/* The entries of the other log are not kept by that. */
	args.log = WAITS;
	ASSERT_EQ(0, drmIoctl(fd, DRM_IOCTL_VFENCE_LOG_READ, &args));
	EXPECT_EQ(0, args.returned);
	EXPECT_EQ(0, args.dropped);
}

/* Nothing but the mark of a node says that there are entries. */
TEST(entries_are_kept_without_interrupt_records)
{
	static struct drm_vfence_log_entry e[1024];
	unsigned int i, n = 0;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_fence *fence;
	uint64_t lost;

	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs an adapter without interrupt records (irq_records=64,0)");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, 0, 65536, &queue));
	ASSERT_EQ(0, vf_fence_create(device, 0, 0, &fence));
	ASSERT_EQ(0, vf_queue_read_log(queue, SIGNALS, NULL, &n, NULL));
	for (i = 0; i < 4; i++)
		ASSERT_TRUE(log_signals(adapter, queue, fence, 1 + 50 * i, 50));
	n = 1024;
	ASSERT_EQ(0, vf_queue_read_log(queue, SIGNALS, e, &n, &lost));
	EXPECT_EQ(0, lost);
	ASSERT_EQ(200, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(1 + i, e[i].fence_value);
	vf_fence_destroy(fence);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(log, WDDM_89_entries_are_complete_when_the_index_says_so)
{
	struct drm_vfence_log_entry e[64];
	uint64_t next = 1, lost = 0, n_read = 0;
	unsigned int i, n, batch;

	/* Read while the GPU writes: values must have no gaps except for lost entries. */
	for (batch = 0; batch < 300; batch++) {
		for (i = 0; i < 20; i++)
			vf_cmd_signal(self->gfx, self->fence, batch * 20 + i + 1);
		ASSERT_EQ(0, vf_queue_publish(self->gfx));
		n = 64;
		ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, &lost));
		for (i = 0; i < n; i++, n_read++) {
			EXPECT_LE(next, e[i].fence_value);
			EXPECT_EQ(vf_fence_handle(self->fence), e[i].fence);
			EXPECT_NE(0, e[i].end_gpu_timestamp);
			next = e[i].fence_value + 1;
		}
		ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->fence) + 400 >
				       (uint64_t)batch * 20));
	}
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(self->fence) == 6000));
	/* The engine logs a signal after it has stored the value. */
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_IDLE));
	n = 64;
	do {
		ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, &lost));
		n_read += n;
	} while (n);
	EXPECT_EQ(6000, n_read + lost);
}

TEST_F(log, WDDM_90_91_value_then_log_then_interrupt)
{
	int efd = eventfd(0, EFD_CLOEXEC);
	struct drm_vfence_log_entry e[4];
	uint64_t i, count;
	unsigned int n;

	/* The thread that is woken must not wait for the engine's processor. */
	pin_kthread("vfence0-engine0", 0);
	pin_kthread("vfence0-cmp", 1);
	pin(0, 1);
	for (i = 1; i <= 300; i++) {
		struct pollfd p = { .fd = efd, .events = POLLIN };

		/*
		 * The event is armed before the signal, so only the interrupt can
		 * complete it.
		 */
		ASSERT_EQ(0, arm(self->adapter, self->fence, i, efd));
		vf_cmd_signal(self->gfx, self->fence, i);
		ASSERT_EQ(0, vf_queue_publish(self->gfx));
		ASSERT_EQ(1, poll(&p, 1, (int)(patience() / 1000000)));
		ASSERT_EQ(sizeof(count), read(efd, &count, sizeof(count)));
		/* When the interrupt wakes the thread, the value and the entry are visible. */
		EXPECT_EQ(i, vf_fence_current(self->fence));
		n = 4;
		ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
		ASSERT_EQ(1, n);
		EXPECT_EQ(i, e[0].fence_value);
	}
	close(efd);
}

TEST_F(log, foreign_or_out_of_order_entries_stop_the_queue)
{
	const struct drm_vfence_queue_create *gfx = vf_queue_info(self->gfx);
	const struct drm_vfence_queue_create *copy = vf_queue_info(self->copy);
	struct drm_vfence_packet_log p = {
		.header = { .opcode = DRM_VFENCE_OP_LOG, .length = sizeof(p) },
		.log_va = gfx->signal_log_va,
		.operation = DRM_VFENCE_LOG_SIGNAL_EXECUTED,
	}, wrong[5] = { p, p, p, p, p };
	unsigned int i;

	wrong[0].index = 1;
	wrong[1].index = UINT32_MAX;
	wrong[2].log_va = copy->signal_log_va;
	wrong[3].log_va = gfx->wait_log_va;
	wrong[4].log_va = 0;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct vf_device *device;
		struct vf_queue *queue;

		ASSERT_EQ(0, vf_device_create(self->adapter, &device));
		ASSERT_EQ(0, vf_queue_create(device, 0, 4096, &queue));
		if (i < 2)
			wrong[i].log_va = vf_queue_info(queue)->signal_log_va;
		if (i == 3)
			wrong[i].log_va = vf_queue_info(queue)->wait_log_va;
		vf_cmd_raw(queue, &wrong[i], sizeof(wrong[i]));
		vf_queue_publish(queue);
		ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_FAULTED));
		EXPECT_EQ(DRM_VFENCE_FAULT_LOG, queue_fault(queue));
		vf_queue_abort(queue);
		vf_queue_destroy(queue);
		vf_device_destroy(device);
	}
}

TEST_F(log, WDDM_99_user_space_never_maps_a_log)
{
	const uint64_t last = vf_fence_mapping(self->gate)->current_offset + 256 * 4096;
	const uint64_t pattern = UINT64_C(0x123456789abcdef0);
	const struct drm_vfence_queue_create *info = vf_queue_info(self->gfx);
	struct vf_buffer *buffer;
	unsigned int mapped = 0;
	uint64_t off;

	/* The client knows the address and the size of both logs. */
	EXPECT_NE(0, info->wait_log_va);
	EXPECT_NE(0, info->signal_log_va);
	EXPECT_EQ((4096 - 40) / 48, info->wait_log_entries);
	EXPECT_EQ((4096 - 40) / 48, info->signal_log_entries);
	vf_cmd_signal(self->gfx, self->fence, pattern);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(logged(self->gfx));
	/* The GPU has written all entries that the library has not read. */
	ASSERT_EQ(0, vf_fence_wait(self->fence, pattern, 0));
	/* No page that the client can map is a log with this entry. */
	for (off = UINT64_C(1) << 32; off < last; off += 4096) {
		volatile uint64_t *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd,
					    (off_t)off);

		if (p == MAP_FAILED)
			continue;
		mapped++;
		EXPECT_FALSE(p[2] == info->signal_log_entries && p[5] == pattern);
		munmap((void *)p, 4096);
	}
	/* The mappings include at least the pages of the queues and of the fences. */
	EXPECT_LE(7, mapped);
	/* Packets cannot reach a log either; packet.forbidden_accesses_* tests that, too. */
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	vf_cmd_copy(self->gfx, vf_buffer_va(buffer), info->signal_log_va, 64);
	vf_queue_publish(self->gfx);
	EXPECT_TRUE(EVENTUALLY(queue_fault(self->gfx) == DRM_VFENCE_FAULT_ACCESS));
	vf_buffer_destroy(buffer);
}

TEST_HARNESS_MAIN
