// SPDX-License-Identifier: GPL-2.0
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
	/* Two logs of 4 KiB each: 84 entries behind the header. */
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
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_TRUE(drained(self->copy));

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
	/* It stalled before the signal, and went on after it. */
	EXPECT_LT(e[0].observed_gpu_timestamp, signal_end);
	EXPECT_LE(signal_end, e[0].end_gpu_timestamp);
	/* Consumed entries are gone. */
	n = 8;
	ASSERT_EQ(0, vf_queue_read_log(self->copy, WAITS, e, &n, NULL));
	EXPECT_EQ(0, n);
}

TEST_F(log, WDDM_96_timestamps_never_decrease)
{
	struct drm_vfence_log_entry e[84];
	unsigned int i, n = 84;

	for (i = 1; i <= 80; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
	ASSERT_EQ(81, n);
	for (i = 1; i < n; i++)
		EXPECT_LE(e[i - 1].end_gpu_timestamp, e[i].end_gpu_timestamp);
}

TEST_F(log, WDDM_94_overrun_overwrites_the_oldest_and_is_counted)
{
	struct drm_vfence_log_entry e[200];
	struct drm_vfence_counters c;
	unsigned int i, n = 200;
	uint64_t lost = POISON;

	for (i = 1; i <= 500; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	memset(e, POISON, sizeof(e));
	ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, &lost));
	/* 501 entries were written, a turn is 84, of which one may be torn. */
	EXPECT_EQ(501, lost + n);
	EXPECT_LE(83, n);
	EXPECT_GE(84, n);
	for (i = 0; i + 1 < n; i++)
		EXPECT_EQ(500 - (n - 2) + i, e[i].fence_value);
	ASSERT_TRUE(settled(self->adapter, &c));
	EXPECT_LE(500 - 84, c.log_entries_lost);
}

TEST_F(log, WDDM_89_entries_are_complete_when_the_index_says_so)
{
	struct drm_vfence_log_entry e[64];
	uint64_t next = 1, lost = 0, n_read = 0;
	unsigned int i, n, batch;

	/* Read while the GPU writes: values without gaps but for lost ones. */
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
	n = 64;
	do {
		ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, &lost));
		n_read += n;
	} while (n);
	EXPECT_EQ(6000, n_read + lost);
}

TEST_F(log, WDDM_90_value_then_log_then_interrupt)
{
	struct drm_vfence_log_entry e[4];
	unsigned int n;
	uint64_t i;

	/* Whoever is woken shall not have to wait for the engine's processor. */
	pin_kthread("vfence0-engine0", 0);
	pin_kthread("vfence0-cmp", 1);
	pin(0, 1);
	for (i = 1; i <= 300; i++) {
		vf_cmd_signal(self->gfx, self->fence, i);
		ASSERT_EQ(0, vf_queue_publish(self->gfx));
		/* Woken by the interrupt: value and entry are there. */
		ASSERT_EQ(0, vf_fence_wait(self->fence, i, DEADLINE));
		EXPECT_EQ(i, vf_fence_current(self->fence));
		n = 4;
		ASSERT_EQ(0, vf_queue_read_log(self->gfx, SIGNALS, e, &n, NULL));
		ASSERT_EQ(1, n);
		EXPECT_EQ(i, e[0].fence_value);
	}
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
	const struct drm_vfence_queue_create *info = vf_queue_info(self->gfx);

	/* Its address and size are known, and no mmap offset leads there. */
	EXPECT_NE(0, info->wait_log_va);
	EXPECT_NE(0, info->wait_log_entries);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd,
				   (off_t)info->wait_log_va));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd,
				   (off_t)info->signal_log_va));
	/* Packets reach it as little: see packet.forbidden_accesses_*. */
}

TEST_HARNESS_MAIN
