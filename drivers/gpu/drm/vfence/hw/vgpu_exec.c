// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets: fetch, decode, execute, one step at a time.
 *
 * A step reads shared words once into locals, checks the copies and keeps all
 * it must remember in queue->exec, so that a queue can leave its engine between
 * any two steps.
 */

#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "vgpu_trace.h"
#include "vgpu_types.h"

/* What went wrong and where; vgpu_sched_put() reports it. */
static enum vgpu_step stop(struct vgpu_queue *queue, enum drm_vfence_fault fault, u64 va)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	queue->fault = fault;
	queue->fault_opcode = queue->exec.packet.header.opcode;
	queue->fault_va = va;
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
	return VGPU_STEP_FAULT;
}

static void copy_from_ring(struct vgpu_queue *queue, u64 pos, void *to, size_t size)
{
	size_t at = pos & (queue->ring_size - 1);
	size_t first = min_t(size_t, size, queue->ring_size - at);

	memcpy(to, queue->ring + at, first);
	memcpy(to + first, queue->ring, size - first);
}

static bool is_kernel_packet(const struct vgpu_queue *queue, const union vgpu_packet *packet)
{
	return queue->kernel && packet->header.opcode >= VGPU_OP_KERNEL;
}

/* Copy the packet at @pos, if one is complete, then check the copy. */
static enum drm_vfence_fault fetch_at(struct vgpu_queue *queue, u64 pos, u64 write_ptr,
				      union vgpu_packet *packet, u64 *va)
{
	enum drm_vfence_fault fault;

	memset(packet, 0, sizeof(*packet));
	*va = 0;
	copy_from_ring(queue, pos, &packet->header, sizeof(packet->header));
	if (is_kernel_packet(queue, packet))
		fault = vgpu_kernel_check(&packet->header, write_ptr - pos);
	else
		fault = vgpu_packet_check_header(&packet->header, write_ptr - pos, !queue->kernel);
	if (fault)
		return fault;
	copy_from_ring(queue, pos + sizeof(packet->header), &packet->words[1],
		       packet->header.length - sizeof(packet->header));
	if (is_kernel_packet(queue, packet))
		return DRM_VFENCE_FAULT_NONE;
	return vgpu_packet_check_body(packet, va);
}

/*
 * The front end of a kernel ring goes on to what tells that it has come so far, while
 * the packet before is still to be done.
 */
static void look_ahead(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 write_ptr)
{
	u64 pos = queue->read_ptr + queue->exec.packet.header.length;
	const struct vgpu_packet_complete *fetched;
	union vgpu_packet packet;
	u64 va;

	if (!queue->kernel)
		return;
	while (pos != write_ptr && !fetch_at(queue, pos, write_ptr, &packet, &va) &&
	       packet.header.opcode == VGPU_OP_FETCHED) {
		fetched = (const void *)&packet;
		pos += packet.header.length;
		queue->ahead = pos;
		vgpu_kernel_fetched(engine, queue, fetched->fence_id);
	}
}

static enum vgpu_step fetch(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	enum drm_vfence_fault fault;
	u64 write_ptr, va;

	if (!vgpu_sched_sane_write_ptr(queue, &write_ptr))
		return stop(queue, DRM_VFENCE_FAULT_WRITE_POINTER, 0);
	if (write_ptr == queue->read_ptr)
		return VGPU_STEP_IDLE;
	fault = fetch_at(queue, queue->read_ptr, write_ptr, &queue->exec.packet, &va);
	if (fault)
		return stop(queue, fault, va);
	queue->exec.in_flight = true;
	queue->exec.released = false;
	queue->exec.cursor = 0;
	queue->exec.draws_left = queue->exec.packet.header.opcode == DRM_VFENCE_OP_DRAW ?
				 queue->exec.packet.draw.count : 0;
	look_ahead(engine, queue, write_ptr);
	return VGPU_STEP_MORE;
}

static enum vgpu_step complete_packet(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	queue->exec.in_flight = false;
	WRITE_ONCE(queue->read_ptr, queue->read_ptr + queue->exec.packet.header.length);
	/* Release: what the packet did. Partner: the client's acquire of read_ptr. */
	smp_store_release(&queue->control->read_ptr, queue->read_ptr);
	WRITE_ONCE(queue->packets, queue->packets + 1);
	WRITE_ONCE(queue->node->counters.packets, queue->node->counters.packets + 1);
	return VGPU_STEP_MORE;
}

static enum drm_vfence_fault no_slot(struct vgpu_vm *vm, u64 va)
{
	void *kva;

	if (vgpu_vm_translate(vm, va, 0, &kva) == DRM_VFENCE_FAULT_NONE)
		return DRM_VFENCE_FAULT_ACCESS;
	return DRM_VFENCE_FAULT_UNMAPPED;
}

static enum vgpu_step wait_fence(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	const struct drm_vfence_packet_wait *packet = &queue->exec.packet.wait;
	struct vgpu_slot *slot;

	if (queue->exec.released)
		return complete_packet(engine, queue);
	slot = vgpu_vm_slot(queue->vm, packet->current_va);
	/* No queue waits for a monitored fence (WDDM-113). */
	if (!slot || !slot->fence)
		return stop(queue, no_slot(queue->vm, packet->current_va), packet->current_va);
	if (!READ_ONCE(slot->waits))
		return stop(queue, DRM_VFENCE_FAULT_ACCESS, packet->current_va);
	queue->wait_observed = vgpu_clock_now(queue->gpu);
	queue->wait_end = queue->wait_observed;
	if (vgpu_value_reached(slot->fence, packet->value))
		return complete_packet(engine, queue);
	WRITE_ONCE(queue->node->counters.waits_stalled, queue->node->counters.waits_stalled + 1);
	if (vgpu_fence_block(slot->fence, queue, packet->value))
		return VGPU_STEP_BLOCKED;
	queue->wait_end = vgpu_clock_now(queue->gpu);
	return complete_packet(engine, queue);
}

static enum vgpu_step write_log(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	u64 before = queue->log_packets;
	enum drm_vfence_fault fault = vgpu_log_write(queue, &queue->exec.packet.log);

	if (fault)
		return stop(queue, fault, queue->exec.packet.log.log_va);
	/* A marker that is not logged is none. */
	WRITE_ONCE(queue->node->counters.log_packets,
		   queue->node->counters.log_packets + queue->log_packets - before);
	return complete_packet(engine, queue);
}

/*
 * The LOG packet of a signal, if it is next in the ring, belongs to the same
 * step: value, entry, index, and only then the interrupt (WDDM-90).
 */
static enum vgpu_step log_of_signal(struct vgpu_engine *engine, struct vgpu_queue *queue,
				    u64 *cost)
{
	union vgpu_packet next;
	u64 write_ptr, va;

	if (!vgpu_sched_sane_write_ptr(queue, &write_ptr) || write_ptr == queue->read_ptr)
		return VGPU_STEP_MORE;
	if (fetch_at(queue, queue->read_ptr, write_ptr, &next, &va) ||
	    next.header.opcode != DRM_VFENCE_OP_LOG ||
	    next.log.operation != DRM_VFENCE_LOG_SIGNAL_EXECUTED)
		return VGPU_STEP_MORE;
	queue->exec.packet = next;
	*cost += VGPU_PACKET_NS;
	return write_log(engine, queue);
}

static void notify(struct vgpu_engine *engine, struct vgpu_queue *queue, struct vgpu_fence *fence,
		   u64 value, u64 monitored, bool logged)
{
	struct vgpu_post post = {
		.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
		.fence = fence,
		.value = value,
		.time = queue->signal_end,
		.queue = queue->os_handle,
		.unlogged = !logged,
		.node = engine->node,
	};

	vfence_step(MONITORED_READ);
	vgpu_fence_notify(fence, value, VGPU_ANY_TIME);
	if (vfence_must_interrupt(value, monitored)) {
		trace_vgpu_interrupt_due(engine->node, fence->os_handle, value, monitored);
		vgpu_cmp_post(queue->gpu, &post);
		vfence_step(POSTED);
	} else {
		trace_vgpu_interrupt_suppressed(engine->node, fence->os_handle, value, monitored);
		WRITE_ONCE(queue->node->counters.suppressed, queue->node->counters.suppressed + 1);
	}
}

static void store_current(struct vgpu_fence *fence, u64 value)
{
	u64 *slot = vgpu_value_slot(fence, fence->current_value);

	vgpu_value_count_rewind(fence, READ_ONCE(*slot), value);
	/*
	 * One store of 64 bits: never torn (WDDM-2). Release: what the queue did
	 * before. Partners: vgpu_value_reached() and vfence_fence_current().
	 */
	smp_store_release(slot, value);
}

/*
 * Store the value, then read the clock: the time that other adapters are told is
 * one when everybody could see the value. A queue there that began to wait later
 * has looked later, and need not be told: wait_fence() reads the clock, then
 * loads the value. Partner: the lock in vgpu_fence_block(), before the last look.
 */
static void store_and_time(struct vgpu_queue *queue, struct vgpu_fence *fence, u64 value)
{
	store_current(fence, value);
	/* The value before the clock; partner: see above. */
	smp_mb();
	queue->signal_end = vgpu_clock_now(queue->gpu);
}

static enum vgpu_step signal_fence(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	const struct drm_vfence_packet_signal packet = queue->exec.packet.signal;
	struct vgpu_slot *slot = vgpu_vm_slot(queue->vm, packet.current_va);
	u64 log_packets = queue->log_packets;
	struct vgpu_fence *fence;
	enum vgpu_step step;

	if (!slot || !slot->fence)
		return stop(queue, no_slot(queue->vm, packet.current_va), packet.current_va);
	if (slot->monitored_va != packet.monitored_va)
		return stop(queue, no_slot(queue->vm, packet.monitored_va), packet.monitored_va);
	if (!READ_ONCE(slot->signals))
		return stop(queue, DRM_VFENCE_FAULT_ACCESS, packet.current_va);
	fence = slot->fence;
	if (READ_ONCE(fence->always_signaled)) {
		queue->signal_end = vgpu_clock_now(queue->gpu);
		return complete_packet(engine, queue);
	}
	store_and_time(queue, fence, packet.value);
	atomic64_inc(&fence->signals);
	WRITE_ONCE(queue->node->counters.signals, queue->node->counters.signals + 1);
	complete_packet(engine, queue);
	vfence_step(VALUE_STORED);
	step = log_of_signal(engine, queue, cost);
	vfence_step(VALUE_LOGGED);
	/*
	 * Handshakes (a) and (b), engine's side: current (and the log's index)
	 * are stored, then monitored and the count of blocked queues are loaded.
	 * Partners: vgpu_fence_update_monitored_values() and vgpu_fence_block().
	 */
	smp_mb();
	notify(engine, queue, fence, packet.value, vgpu_value_monitored(fence),
	       queue->log_packets != log_packets);
	return step;
}

/* Tell that one of the monitored fences was written; nobody knows which (WDDM-130). */
static void notify_monitored(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	struct vgpu_post post = {
		.type = VGPU_IRQ_MONITORED_FENCE_SIGNALED,
		.node = engine->node,
	};

	if (queue->gpu->config.monitored_signal == VGPU_MONITORED_SIGNAL_ADVANCED)
		vgpu_cmp_post(queue->gpu, &post);
}

/* A write to memory, as wide as the GPU can (WDDM-116, WDDM-128). */
static enum vgpu_step signal_monitored(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	const struct drm_vfence_packet_monitored *packet = &queue->exec.packet.monitored;
	struct vgpu_slot *slot = vgpu_vm_slot(queue->vm, packet->current_va);
	void *value;

	if (!slot || vgpu_vm_translate(queue->vm, packet->current_va, 0, &value))
		return stop(queue, no_slot(queue->vm, packet->current_va), packet->current_va);
	if (slot->fence || !READ_ONCE(slot->signals))
		return stop(queue, DRM_VFENCE_FAULT_ACCESS, packet->current_va);
	if (queue->gpu->config.no_64bit_atomics)
		/* Release: what the queue did before. Partner: vfence_fence_current(). */
		smp_store_release((u32 *)value, (u32)packet->value);
	else
		/* Release: as above. */
		smp_store_release((u64 *)value, packet->value);
	complete_packet(engine, queue);
	notify_monitored(engine, queue);
	return VGPU_STEP_MORE;
}

static enum vgpu_step draw(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	*cost = max_t(u64, queue->exec.packet.draw.duration_ns, VGPU_PACKET_NS);
	queue->exec.draws_left--;
	return VGPU_STEP_MORE;
}

static u64 chunk_of(u64 va, u64 left)
{
	return min_t(u64, left, VGPU_CHUNK - offset_in_page(va));
}

static enum vgpu_step copy(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	const struct drm_vfence_packet_copy *packet = &queue->exec.packet.copy;
	u64 src_va = packet->src_va + queue->exec.cursor;
	u64 dst_va = packet->dst_va + queue->exec.cursor;
	u64 chunk = chunk_of(dst_va, chunk_of(src_va, packet->size - queue->exec.cursor));
	enum drm_vfence_fault fault;
	void *src, *dst;

	fault = vgpu_vm_translate(queue->vm, src_va, VGPU_VM_DATA | VGPU_VM_READ, &src);
	if (fault)
		return stop(queue, fault, src_va);
	fault = vgpu_vm_translate(queue->vm, dst_va, VGPU_VM_DATA | VGPU_VM_WRITE, &dst);
	if (fault)
		return stop(queue, fault, dst_va);
	memmove(dst, src, chunk);
	*cost = max_t(u64, chunk / VGPU_BYTES_PER_NS, VGPU_PACKET_NS);
	queue->exec.cursor += chunk;
	return queue->exec.cursor == packet->size ? complete_packet(engine, queue) : VGPU_STEP_MORE;
}

static enum vgpu_step fill(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	const struct drm_vfence_packet_fill *packet = &queue->exec.packet.fill;
	u64 dst_va = packet->dst_va + queue->exec.cursor;
	u64 chunk = chunk_of(dst_va, packet->size - queue->exec.cursor);
	enum drm_vfence_fault fault;
	void *dst;

	fault = vgpu_vm_translate(queue->vm, dst_va, VGPU_VM_DATA | VGPU_VM_WRITE, &dst);
	if (fault)
		return stop(queue, fault, dst_va);
	memset32(dst, packet->value, chunk / sizeof(u32));
	*cost = max_t(u64, chunk / VGPU_BYTES_PER_NS, VGPU_PACKET_NS);
	queue->exec.cursor += chunk;
	return queue->exec.cursor == packet->size ? complete_packet(engine, queue) : VGPU_STEP_MORE;
}

static enum vgpu_step timestamp(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	u64 dst_va = queue->exec.packet.timestamp.dst_va;
	enum drm_vfence_fault fault;
	void *dst;

	fault = vgpu_vm_translate(queue->vm, dst_va, VGPU_VM_DATA | VGPU_VM_WRITE, &dst);
	if (fault)
		return stop(queue, fault, dst_va);
	WRITE_ONCE(*(u64 *)dst, vgpu_clock_now(queue->gpu));
	return complete_packet(engine, queue);
}

static enum vgpu_step execute(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	*cost = VGPU_PACKET_NS;
	switch (queue->exec.packet.header.opcode) {
	case DRM_VFENCE_OP_FENCE_WAIT:
		return wait_fence(engine, queue);
	case DRM_VFENCE_OP_FENCE_SIGNAL:
		return signal_fence(engine, queue, cost);
	case DRM_VFENCE_OP_LOG:
		return write_log(engine, queue);
	case DRM_VFENCE_OP_MONITORED_SIGNAL:
		return signal_monitored(engine, queue);
	case DRM_VFENCE_OP_DRAW:
		return draw(engine, queue, cost);
	case DRM_VFENCE_OP_COPY:
		return copy(engine, queue, cost);
	case DRM_VFENCE_OP_FILL:
		return fill(engine, queue, cost);
	case DRM_VFENCE_OP_TIMESTAMP:
		return timestamp(engine, queue);
	case DRM_VFENCE_OP_HANG:
		/* Never completes; a slice is as long as the engine bears that. */
		*cost = (u64)engine->chip->hung_us * NSEC_PER_USEC ?: NSEC_PER_SEC;
		return VGPU_STEP_STALLED;
	default:
		return complete_packet(engine, queue);
	}
}

/*
 * One step of a RUNNING queue. @cost is the GPU time it takes. A draw completes
 * after its time has passed, so the step behind the last draw finishes it.
 */
enum vgpu_step vgpu_exec_step(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	enum vgpu_step step = VGPU_STEP_MORE;
	struct vgpu_vm *vm = queue->vm;

	if (!queue->exec.in_flight)
		step = fetch(engine, queue);
	else if (queue->exec.packet.header.opcode == DRM_VFENCE_OP_DRAW &&
		 !queue->exec.draws_left)
		return complete_packet(engine, queue);
	if (step != VGPU_STEP_MORE)
		return step;
	if (is_kernel_packet(queue, &queue->exec.packet)) {
		*cost = VGPU_PACKET_NS;
		vgpu_kernel_execute(engine, queue, &queue->exec.packet);
		return complete_packet(engine, queue);
	}
	read_lock(&engine->chip->residency);
	read_lock(&vm->tlb);
	step = execute(engine, queue, cost);
	/* A queue that blocked may be gone already; vm waits for this unlock. */
	read_unlock(&vm->tlb);
	read_unlock(&engine->chip->residency);
	return step;
}
