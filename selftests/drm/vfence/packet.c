// SPDX-License-Identifier: GPL-2.0-only
/* Packets: their effects. A bad packet stops its own queue and no other. */

#include "vfence_test.h"

FIXTURE(packet) {
	VFENCE_MEMBERS;
	struct vf_device *other;
	struct vf_queue *bystander;
	struct vf_fence *fence;
	struct vf_buffer *buffer;
};

FIXTURE_SETUP(packet)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->other));
	ASSERT_EQ(0, vf_queue_create(self->other, DRM_VFENCE_NODE_COPY, 4096,
				     &self->bystander));
	ASSERT_EQ(0, vf_fence_create(self->other, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 65536, &self->buffer));
}

FIXTURE_TEARDOWN(packet)
{
	vf_buffer_destroy(self->buffer);
	vf_fence_destroy(self->fence);
	vf_queue_destroy(self->bystander);
	vf_device_destroy(self->other);
	VFENCE_TEARDOWN();
}

TEST_F(packet, fill_copy_and_timestamp_reach_memory)
{
	uint32_t *words = vf_buffer_map(self->buffer);
	uint64_t va = vf_buffer_va(self->buffer);
	struct drm_vfence_clock_info clock;
	unsigned int i;

	memset(words, POISON, 65536);
	ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
	/* Use odd addresses and sizes that cross pages. */
	vf_cmd_fill(self->copy, va + 4, 12000, 0x12345678);
	vf_cmd_copy(self->copy, va + 32768 + 8, va + 4, 12000);
	vf_cmd_timestamp(self->copy, va + 65528);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(drained(self->copy));
	EXPECT_EQ(0xcccccccc, words[0]);
	for (i = 0; i < 3000; i++) {
		ASSERT_EQ(0x12345678, words[1 + i]);
		ASSERT_EQ(0x12345678, words[8192 + 2 + i]);
	}
	EXPECT_EQ(0xcccccccc, words[3001]);
	EXPECT_EQ(0xcccccccc, words[8192 + 1]);
	EXPECT_EQ(0xcccccccc, words[8192 + 3002]);
	EXPECT_LE(clock.gpu_ticks, *(uint64_t *)&words[16382]);
	EXPECT_LT(0, clock.frequency_hz);
}

TEST_F(packet, draws_take_their_time)
{
	uint64_t va = vf_buffer_va(self->buffer), *stamp = vf_buffer_map(self->buffer);
	struct drm_vfence_clock_info clock;

	ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
	vf_cmd_timestamp(self->gfx, va);
	vf_cmd_draw(self->gfx, 10, 300000);
	vf_cmd_timestamp(self->gfx, va + 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_LE(3000000, (stamp[1] - stamp[0] + 1) * 1000000000 / clock.frequency_hz);
}

/* Submit one packet to a new queue. The queue must stop with fault @want at @want_va. */
#define STOPS(want, want_va, packet) do {					\
	struct drm_vfence_queue_info _q;					\
	__typeof__(packet) _p = (packet);					\
	ASSERT_EQ(0, vf_queue_create(self->device, 0, 4096, &queue));		\
	vf_cmd_nop(queue, 24);							\
	vf_cmd_raw(queue, &_p, sizeof(_p));					\
	vf_queue_publish(queue);						\
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_FAULTED));\
	ASSERT_EQ(0, vf_queue_query(queue, &_q));				\
	EXPECT_EQ(want, _q.fault);						\
	EXPECT_EQ(24, _q.fault_ring_ptr);					\
	EXPECT_EQ(want_va, _q.fault_va);					\
	ASSERT_TRUE(EVENTUALLY(vf_device_state(self->device) !=			\
			       DRM_VFENCE_DEVICE_ACTIVE));			\
	ASSERT_TRUE(EVENTUALLY(vf_queue_status(queue) ==			\
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));	\
	/* Other queues continue. */						\
	vf_cmd_nop(self->bystander, 8);						\
	ASSERT_EQ(0, vf_queue_submit(self->bystander));				\
	ASSERT_TRUE(drained(self->bystander));					\
	vf_queue_destroy(queue);						\
	vf_queue_destroy(self->gfx);						\
	vf_queue_destroy(self->copy);						\
	vf_device_destroy(self->device);					\
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));		\
	ASSERT_EQ(0, vf_queue_create(self->device, 0, 4096, &self->gfx));	\
	ASSERT_EQ(0, vf_queue_create(self->device, 2, 4096, &self->copy));	\
} while (0)

#define HDR(op, len)	{ .opcode = DRM_VFENCE_OP_##op, .length = len }

TEST_F(packet, malformed_packets_stop_their_queue)
{
	struct vf_queue *queue;
	unsigned int op;

	STOPS(DRM_VFENCE_FAULT_OPCODE, 0, ((struct drm_vfence_packet_header){
		.opcode = DRM_VFENCE_OP_MONITORED_SIGNAL, .length = 8 }));
	STOPS(DRM_VFENCE_FAULT_OPCODE, 0, ((struct drm_vfence_packet_header){
		.opcode = DRM_VFENCE_OP_READ_REGISTER + 1, .length = 8 }));
	STOPS(DRM_VFENCE_FAULT_OPCODE, 0, ((struct drm_vfence_packet_header){
		.opcode = UINT16_MAX, .length = 8 }));
	/*
	 * The length is zero, not a multiple of 8, longer than any packet, cut off, or
	 * wrong by 8.
	 */
	STOPS(DRM_VFENCE_FAULT_LENGTH, 0, ((struct drm_vfence_packet_header)HDR(NOP, 0)));
	STOPS(DRM_VFENCE_FAULT_LENGTH, 0, ((struct drm_vfence_packet_header)HDR(NOP, 12)));
	STOPS(DRM_VFENCE_FAULT_LENGTH, 0, ((struct drm_vfence_packet_header)HDR(NOP, 72)));
	STOPS(DRM_VFENCE_FAULT_LENGTH, 0, ((struct drm_vfence_packet_header)HDR(NOP, 16)));
	for (op = DRM_VFENCE_OP_FENCE_WAIT; op <= DRM_VFENCE_OP_TIMESTAMP; op++)
		STOPS(DRM_VFENCE_FAULT_LENGTH, 0, ((struct drm_vfence_packet_copy){
			.header = { .opcode = op, .length = 8 } }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_header){
		.opcode = DRM_VFENCE_OP_NOP, .length = 8, .flags = 1 }));
}

TEST_F(packet, operands_out_of_range_stop_their_queue)
{
	uint64_t va = vf_buffer_va(self->buffer);
	struct vf_queue *queue;

	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_draw){
		.header = HDR(DRAW, 24), .count = 0 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_draw){
		.header = HDR(DRAW, 24), .count = 1, .pad = 1 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_draw){
		.header = HDR(DRAW, 24), .count = 1, .duration_ns = 10000000001 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, va, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = va, .size = 0 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, va, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = va, .size = 6 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, va, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = va, .size = UINT64_MAX - 3 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = va, .size = 4, .pad = 1 }));
	STOPS(DRM_VFENCE_FAULT_ALIGNMENT, va + 2, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = va + 2, .size = 4 }));
	STOPS(DRM_VFENCE_FAULT_ALIGNMENT, va + 1, ((struct drm_vfence_packet_copy){
		.header = HDR(COPY, 32), .src_va = va + 1, .dst_va = va, .size = 4 }));
	STOPS(DRM_VFENCE_FAULT_ALIGNMENT, va + 4, ((struct drm_vfence_packet_timestamp){
		.header = HDR(TIMESTAMP, 16), .dst_va = va + 4 }));
	STOPS(DRM_VFENCE_FAULT_ALIGNMENT, 4, ((struct drm_vfence_packet_wait){
		.header = HDR(FENCE_WAIT, 24), .current_va = 4 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_log){
		.header = HDR(LOG, 40), .operation = 3 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_register){
		.header = HDR(SET_REGISTER, 24), .index = DRM_VFENCE_REGISTERS }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_register){
		.header = HDR(SET_REGISTER, 24), .pad = 1 }));
	STOPS(DRM_VFENCE_FAULT_OPERAND, 0, ((struct drm_vfence_packet_register){
		.header = HDR(READ_REGISTER, 24), .index = UINT32_MAX, .value = va }));
	STOPS(DRM_VFENCE_FAULT_ALIGNMENT, va + 4, ((struct drm_vfence_packet_register){
		.header = HDR(READ_REGISTER, 24), .value = va + 4 }));
}

/* On the deterministic clock, draws take what they name within a percent, and no wake-ups. */
TEST_F(packet, draws_in_succession_take_the_time_that_they_name)
{
	uint64_t *words = vf_buffer_map(self->buffer), va = vf_buffer_va(self->buffer);
	static const uint32_t draw_ns[] = { 10000, 25000 };
	struct drm_vfence_clock_info clock;
	struct vf_queue *queue;
	uint64_t ns, named;
	unsigned int i;

	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	for (i = 0; i < 2; i++) {
		vf_cmd_draw(queue, 1, 1000);
		vf_cmd_timestamp(queue, va);
		vf_cmd_draw(queue, 1000, draw_ns[i]);
		vf_cmd_timestamp(queue, va + 8);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_TRUE(drained(queue));
		ns = (words[1] - words[0]) * (1000000000 / clock.frequency_hz);
		named = 1000ull * draw_ns[i];
		TH_LOG("1000 draws of %u ns: %.3f ms", draw_ns[i], (double)ns / 1e6);
		EXPECT_LE(named - named / 1000, ns);
		EXPECT_GE(named + named / 100, ns);
	}
	vf_queue_destroy(queue);
}

static uint64_t packets_of(struct vf_queue *queue)
{
	struct drm_vfence_queue_info q = { .packets = 0 };

	return vf_queue_query(queue, &q) ? 0 : q.packets;
}

/* An engine executes several short packets at once. Each takes 100 ns of the GPU all the same. */
TEST_F(packet, short_packets_take_their_time)
{
	uint64_t *words = vf_buffer_map(self->buffer), va = vf_buffer_va(self->buffer), ns;
	struct drm_vfence_clock_info clock;
	struct vf_queue *queue;
	unsigned int i;

	if (!counts_instructions())
		SKIP(return, "needs exact times of short work");
	ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	vf_cmd_timestamp(queue, va);
	for (i = 0; i < 400; i++)
		vf_cmd_nop(queue, 8);
	vf_cmd_timestamp(queue, va + 8);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	ns = (words[1] - words[0]) * (1000000000 / clock.frequency_hz);
	TH_LOG("400 packets without effect: %.3f us", (double)ns / 1e3);
	EXPECT_LE(400 * 100, ns);
	vf_queue_destroy(queue);
}

/* It does not execute so many at once that the queue cannot leave. */
TEST_F(packet, a_queue_leaves_between_short_packets)
{
	struct drm_vfence_queue_info q = { .packets = 0 };
	struct vf_queue *queue;
	unsigned int i;

	/* All packets may be executed while this thread has no processor. */
	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 65536, &queue));
	for (i = 0; i < 8000; i++)
		vf_cmd_nop(queue, 8);
	ASSERT_EQ(0, vf_queue_publish(queue));
	ASSERT_TRUE(AT_ONCE(!vf_queue_query(queue, &q) && q.packets));
	ASSERT_EQ(0, vf_queue_abort(queue));
	ASSERT_EQ(0, vf_queue_query(queue, &q));
	TH_LOG("the queue leaves after %llu packets", (unsigned long long)q.packets);
	EXPECT_GT(2000, q.packets);
	vf_queue_destroy(queue);
}

/* A client may publish the LOG packet of a signal while the engine executes the signal. */
TEST_F(packet, a_log_packet_may_come_after_its_signal)
{
	const struct drm_vfence_fence_mapping *map = vf_fence_mapping(self->fence);
	struct drm_vfence_packet_signal signal = {
		.header = { .opcode = DRM_VFENCE_OP_FENCE_SIGNAL, .length = sizeof(signal) },
		.current_va = map->current_va, .monitored_va = map->monitored_va,
	};
	struct drm_vfence_packet_log log = {
		.header = { .opcode = DRM_VFENCE_OP_LOG, .length = sizeof(log) },
		.operation = DRM_VFENCE_LOG_SIGNAL_EXECUTED,
	};
	/* All rounds are of one length, so that old packets are where the ring ends. */
	unsigned int rest = 128 - 8 - sizeof(signal) - sizeof(log), rounds = 200, i;
	struct drm_vfence_queue_info q;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	log.log_va = vf_queue_info(queue)->signal_log_va;
	for (i = 0; i < rounds; i++) {
		vf_cmd_nop(queue, 8);
		vf_cmd_nop(queue, rest);
		signal.value = i + 1;
		vf_cmd_raw(queue, &signal, sizeof(signal));
		ASSERT_EQ(0, vf_queue_publish(queue));
		log.index = i % vf_queue_info(queue)->signal_log_entries;
		vf_cmd_raw(queue, &log, sizeof(log));
		ASSERT_TRUE(AT_ONCE(vf_fence_current(self->fence) > i));
		ASSERT_EQ(0, vf_queue_publish(queue));
		ASSERT_TRUE(EVENTUALLY(packets_of(queue) >= 4 * (i + 1)));
	}
	ASSERT_EQ(0, vf_queue_query(queue, &q));
	EXPECT_EQ(4 * rounds, q.packets);
	EXPECT_EQ(DRM_VFENCE_FAULT_NONE, q.fault);
	vf_queue_destroy(queue);
}

/* A client that sees that a ring is empty knows that its work has ended, however short it was. */
TEST_F(packet, a_ring_is_empty_when_its_work_has_ended)
{
	volatile uint64_t *stamp = vf_buffer_map(self->buffer);
	struct drm_vfence_clock_info clock;
	struct vf_queue *queue;
	unsigned int i;
	uint64_t ns;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	for (i = 1; i <= 10; i++) {
		/* Behind a wait, also an engine that woke up late begins the draw now. */
		vf_cmd_wait(queue, self->fence, 0);
		vf_cmd_timestamp(queue, vf_buffer_va(self->buffer));
		vf_cmd_draw(queue, 1, 19000);
		ASSERT_EQ(0, vf_queue_publish(queue));
		while (packets_of(queue) < 4 * i)
			ASSERT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
		ASSERT_EQ(0, vf_adapter_clock(self->adapter, &clock));
		ns = (clock.gpu_ticks - *stamp + 1) * (1000000000 / clock.frequency_hz);
		EXPECT_LE(19000, ns);
		ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_IDLE));
	}
	TH_LOG("a draw of 19000 ns ends after %llu ns", (unsigned long long)ns);
	vf_queue_destroy(queue);
}

/* The registers of a queue are its own, also beside another one on the same engine. */
TEST_F(packet, registers_belong_to_their_queue)
{
	struct vf_queue *queue[2];
	uint64_t *words = vf_buffer_map(self->buffer), va = vf_buffer_va(self->buffer);
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue[i]));
		for (k = 0; k < DRM_VFENCE_REGISTERS; k++)
			vf_cmd_set_register(queue[i], k, 100 * (i + 1) + k);
		ASSERT_EQ(0, vf_queue_submit(queue[i]));
		ASSERT_TRUE(drained(queue[i]));
	}
	for (i = 0; i < 2; i++) {
		for (k = 0; k < DRM_VFENCE_REGISTERS; k++)
			vf_cmd_read_register(queue[i], k, va + 8 * (DRM_VFENCE_REGISTERS * i + k));
		ASSERT_EQ(0, vf_queue_submit(queue[i]));
		ASSERT_TRUE(drained(queue[i]));
	}
	for (i = 0; i < 2; i++)
		for (k = 0; k < DRM_VFENCE_REGISTERS; k++)
			EXPECT_EQ(100 * (i + 1) + k, words[DRM_VFENCE_REGISTERS * i + k]);
	for (i = 0; i < 2; i++)
		vf_queue_destroy(queue[i]);
}

TEST_F(packet, forbidden_accesses_stop_their_queue)
{
	const struct drm_vfence_fence_mapping *m = vf_fence_mapping(self->fence);
	uint64_t va = vf_buffer_va(self->buffer);
	uint64_t log = vf_queue_info(self->bystander)->signal_log_va;
	struct vf_queue *queue;

	/* The address is not mapped, beyond the end, or beyond the address space. */
	STOPS(DRM_VFENCE_FAULT_UNMAPPED, 0, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = 0, .size = 4 }));
	STOPS(DRM_VFENCE_FAULT_UNMAPPED, DRM_VFENCE_VA_LIMIT, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = DRM_VFENCE_VA_LIMIT, .size = 4 }));
	STOPS(DRM_VFENCE_FAULT_UNMAPPED, 0xfffffffffffffff8, ((struct drm_vfence_packet_wait){
		.header = HDR(FENCE_WAIT, 24), .current_va = 0xfffffffffffffff8, .value = 1 }));
	/* Packets must not access value slots and logs as data. */
	STOPS(DRM_VFENCE_FAULT_ACCESS, m->current_va, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = m->current_va, .size = 4, .value = 99 }));
	STOPS(DRM_VFENCE_FAULT_ACCESS, m->monitored_va, ((struct drm_vfence_packet_copy){
		.header = HDR(COPY, 32), .src_va = m->monitored_va, .dst_va = va, .size = 8 }));
	STOPS(DRM_VFENCE_FAULT_ACCESS, log, ((struct drm_vfence_packet_copy){
		.header = HDR(COPY, 32), .src_va = log, .dst_va = va, .size = 8 }));
	STOPS(DRM_VFENCE_FAULT_ACCESS, log, ((struct drm_vfence_packet_timestamp){
		.header = HDR(TIMESTAMP, 16), .dst_va = log }));
	/* Data is not a fence, and the two values must belong to one fence. */
	STOPS(DRM_VFENCE_FAULT_ACCESS, va, ((struct drm_vfence_packet_wait){
		.header = HDR(FENCE_WAIT, 24), .current_va = va, .value = 1 }));
	STOPS(DRM_VFENCE_FAULT_ACCESS, va, ((struct drm_vfence_packet_signal){
		.header = HDR(FENCE_SIGNAL, 32), .current_va = va, .monitored_va = va }));
	STOPS(DRM_VFENCE_FAULT_ACCESS, m->monitored_va + 64, ((struct drm_vfence_packet_signal){
		.header = HDR(FENCE_SIGNAL, 32), .current_va = m->current_va,
		.monitored_va = m->monitored_va + 64, .value = 5 }));
	/* An address inside a slot names no fence. */
	STOPS(DRM_VFENCE_FAULT_ACCESS, m->current_va + 8, ((struct drm_vfence_packet_signal){
		.header = HDR(FENCE_SIGNAL, 32), .current_va = m->current_va + 8,
		.monitored_va = m->monitored_va, .value = 5 }));
	EXPECT_EQ(0, vf_fence_current(self->fence));
}

TEST_F(packet, a_span_that_leaves_its_buffer_faults_at_the_border)
{
	struct drm_vfence_vm_bind bind = {
		.handle = vf_buffer_handle(self->buffer), .flags = DRM_VFENCE_VM_WRITE,
		.size = 8192, .va = 0x100000,
	};
	uint32_t *words = vf_buffer_map(self->buffer);
	struct vf_queue *queue;

	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &bind));
	STOPS(DRM_VFENCE_FAULT_UNMAPPED, 0x102000, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = 0x101ff0, .size = 64, .value = 7 }));
	EXPECT_EQ(7, words[8192 / 4 - 1]);
	EXPECT_EQ(0, words[8192 / 4]);
	/* The rights of the mapping count: this mapping must not be read. */
	STOPS(DRM_VFENCE_FAULT_ACCESS, 0x100000, ((struct drm_vfence_packet_copy){
		.header = HDR(COPY, 32), .src_va = 0x100000, .dst_va = 0x101000, .size = 4 }));
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND,
			 &(struct drm_vfence_vm_bind){ .op = DRM_VFENCE_VM_UNMAP, .va = 0x100000 }));
	STOPS(DRM_VFENCE_FAULT_UNMAPPED, 0x100000, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = 0x100000, .size = 4 }));
}

TEST_F(packet, a_mapping_without_write_is_read_only_for_the_gpu)
{
	struct drm_vfence_vm_bind bind = {
		.handle = vf_buffer_handle(self->buffer), .flags = DRM_VFENCE_VM_READ,
		.size = 4096, .va = 0x200000,
	};
	struct vf_queue *queue;

	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &bind));
	STOPS(DRM_VFENCE_FAULT_ACCESS, 0x200000, ((struct drm_vfence_packet_fill){
		.header = HDR(FILL, 32), .dst_va = 0x200000, .size = 4 }));
}

TEST_F(packet, impossible_write_pointers_stop_the_queue)
{
	static const int64_t wrong[] = { 4, 8192, -8, INT64_MIN };
	struct drm_vfence_queue_info query;
	struct vf_queue *queue;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct drm_vfence_bo_create bo = { .size = 4096 }, control = { .size = 4096 };
		struct drm_vfence_doorbell_create args = { .ring_size = 4096 };
		struct drm_vfence_ring_control *c;
		struct vf_device *device;

		ASSERT_EQ(0, vf_device_create(self->adapter, &device));
		ASSERT_EQ(0, vf_queue_create(device, 0, 4096, &queue));
		/* Create our own doorbell in place of the library's. */
		ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_DOORBELL,
					    vf_queue_handle(queue)));
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &bo));
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &control));
		args.queue = vf_queue_handle(queue);
		args.ring = bo.handle;
		args.control = control.handle;
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &args));
		c = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
			 control.mmap_offset);
		ASSERT_NE(MAP_FAILED, c);
		c->write_ptr = (uint64_t)wrong[i];
		ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_DOORBELL_CONNECT,
				 &(struct drm_vfence_doorbell_connect){ .queue = args.queue }));
		ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_FAULTED));
		ASSERT_EQ(0, vf_queue_query(queue, &query));
		EXPECT_EQ(DRM_VFENCE_FAULT_WRITE_POINTER, query.fault);
		vf_device_destroy(device);
		munmap(c, 4096);
	}
}

static void *wait_idle(void *arg)
{
	return (void *)(intptr_t)vf_queue_wait_idle(arg, VF_FOREVER);
}

TEST_F(packet, waits_for_a_lost_queue_end)
{
	struct drm_vfence_fence_info query;
	pthread_t thread;
	void *ret;

	vf_cmd_wait(self->gfx, self->fence, 1);
	vf_cmd_raw(self->gfx, &(struct drm_vfence_packet_header){ .opcode = 77, .length = 8 }, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_idle, self->gfx));
	ASSERT_TRUE(EVENTUALLY(!vf_fence_query(vf_queue_progress(self->gfx), &query) &&
			       query.waiters == 1));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	pthread_join(thread, &ret);
	EXPECT_EQ(-EIO, (int)(intptr_t)ret);
	EXPECT_EQ(-EIO, vf_queue_wait_idle(self->gfx, VF_FOREVER));
	/* Values that were reached stay reached, alone and in a list. */
	{
		struct vf_point points[2] = {
			{ vf_queue_progress(self->gfx), 0 }, { self->fence, 9 },
		};

		EXPECT_EQ(-ETIME, vf_wait(self->adapter, points, 2, 0, vf_deadline(1000), NULL));
	}
	EXPECT_EQ(0, vf_fence_wait(vf_queue_progress(self->gfx), 0, VF_FOREVER));
}

/* Whoever waits for what the device was to signal must not wait for ever. */
TEST_F(packet, WDDM_173_the_fences_of_a_device_that_faults_get_their_maximum)
{
	struct vf_fence *native, *monitored, *stays, *theirs;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &native));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &monitored));
	ASSERT_EQ(0, vf_fence_create(self->device,
				     DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR, 0, &stays));
	ASSERT_EQ(0, vf_fence_create(self->other, 0, 0, &theirs));
	ASSERT_EQ(0, arm(self->adapter, native, 5, efd));
	vf_cmd_fill(self->gfx, NOWHERE, 64, 0);
	vf_queue_publish(self->gfx);
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_EQ(UINT64_MAX, vf_fence_current(native));
	EXPECT_EQ(0, vf_fence_wait(monitored, 7, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(self->device));
	EXPECT_EQ(0, vf_fence_current(stays));
	EXPECT_EQ(0, vf_fence_current(theirs));
	vf_fence_destroy(theirs);
	vf_fence_destroy(stays);
	vf_fence_destroy(monitored);
	vf_fence_destroy(native);
	close(efd);
}

TEST_F(packet, a_fault_takes_its_device_along_and_no_other)
{
	struct vf_device *device;
	struct vf_fence *fence;
	struct vf_queue *queue;

	vf_cmd_raw(self->gfx, &(struct drm_vfence_packet_header){ .opcode = 77, .length = 8 }, 8);
	vf_queue_publish(self->gfx);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) ==
			       DRM_VFENCE_DEVICE_ERROR_DMAFAULT));
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->copy) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_EQ(-EIO, vf_queue_submit(self->copy));
	EXPECT_EQ(-EIO, vf_fence_create(self->device, 0, 0, &fence));
	EXPECT_EQ(-EIO, vf_queue_create(self->device, 0, 4096, &queue));
	/* The other device and new devices work. */
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other));
	vf_cmd_signal(self->bystander, self->fence, 3);
	ASSERT_EQ(0, vf_queue_submit(self->bystander));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 3, DEADLINE));
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, 0, 4096, &queue));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
}

TEST_HARNESS_MAIN
