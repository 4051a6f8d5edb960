// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets: fetch, decode and execute them, one step at a time.
 *
 * A step loads each shared word once and checks the copy. It keeps its state in queue->exec,
 * so that a queue can leave its engine between any two steps.
 */

#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "vgpu_trace.h"
#include "vgpu_types.h"

/* Save the fault and its address; vgpu_sched_put() reports the fault. */
static enum vgpu_step exec_fault(struct vgpu_queue *queue, enum drm_vfence_fault fault, u64 va)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	queue->fault = fault;
	queue->fault_opcode = queue->exec.packet.header.opcode;
	queue->fault_va = va;
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
	return VGPU_STEP_FAULT;
}

/*
 * Return what the engine does for the queue between two steps. A packet in flight that is not
 * named here has not begun: it is a signal that waits for room.
 */
enum vgpu_work vgpu_exec_work(const struct vgpu_queue *queue)
{
	if (!queue->exec.in_flight)
		return VGPU_WORK_NONE;

	switch (queue->exec.packet.header.opcode) {
	case DRM_VFENCE_OP_DRAW:
	case DRM_VFENCE_OP_COPY:
	case DRM_VFENCE_OP_FILL:
		return VGPU_WORK_BETWEEN;
	case DRM_VFENCE_OP_HANG:
		return VGPU_WORK_STUCK;
	default:
		return VGPU_WORK_NONE;
	}
}

/* The queue has kept other clients off the engine for too long. */
enum vgpu_step vgpu_exec_overstayed(struct vgpu_queue *queue)
{
	return exec_fault(queue, DRM_VFENCE_FAULT_PREEMPTION, 0);
}

/* Load a word once. Positions and the size of the ring are multiples of 8, so no word wraps. */
static u64 exec_ring_word(const struct vgpu_queue *queue, u64 pos)
{
	return READ_ONCE(*(const u64 *)(queue->ring + (pos & (queue->ring_size - 1))));
}

static bool exec_is_kernel_packet(const struct vgpu_queue *queue, const union vgpu_packet *packet)
{
	return queue->kernel && packet->header.opcode >= VGPU_OP_KERNEL;
}

/*
 * @packet has the first word of the packet at @pos. If that packet is complete, copy its other
 * words, and check the copy.
 */
static enum drm_vfence_fault exec_fetch_rest(struct vgpu_queue *queue, u64 pos, u64 write_ptr,
					     union vgpu_packet *packet, u64 *va)
{
	enum drm_vfence_fault fault;
	unsigned int i;

	*va = 0;
	if (exec_is_kernel_packet(queue, packet))
		fault = vgpu_kernel_check(&packet->header, write_ptr - pos);
	else
		fault = vgpu_packet_check_header(&packet->header, write_ptr - pos, !queue->kernel);
	if (fault)
		return fault;

	for (i = 1; i < packet->header.length / sizeof(u64); i++)
		packet->words[i] = exec_ring_word(queue, pos + i * sizeof(u64));
	if (exec_is_kernel_packet(queue, packet))
		return DRM_VFENCE_FAULT_NONE;
	return vgpu_packet_check_body(packet, va);
}

/* If the packet at @pos is complete, copy it and check the copy. */
static enum drm_vfence_fault exec_fetch_at(struct vgpu_queue *queue, u64 pos, u64 write_ptr,
					   union vgpu_packet *packet, u64 *va)
{
	packet->words[0] = exec_ring_word(queue, pos);
	return exec_fetch_rest(queue, pos, write_ptr, packet, va);
}

/*
 * The front end of a kernel ring executes the FETCHED packets behind the packet in flight at
 * once, before that packet is completed. Not inline: other rings need no packet on the stack, which
 * the kernel clears with each step.
 */
static noinline void exec_fetch_ahead(struct vgpu_engine *engine, struct vgpu_queue *queue,
				      u64 write_ptr)
{
	u64 pos = queue->read_ptr + queue->exec.packet.header.length;
	const struct vgpu_packet_complete *fetched;
	union vgpu_packet packet;
	u64 va;

	while (pos != write_ptr && !exec_fetch_at(queue, pos, write_ptr, &packet, &va) &&
	       packet.header.opcode == VGPU_OP_FETCHED) {
		fetched = (const void *)&packet;
		pos += packet.header.length;
		queue->fetch_ptr = pos;
		vgpu_kernel_fetched(engine, queue, fetched->fence_id);
	}
}

/* The packet at the read pointer has been fetched, and is in flight from now on. */
static void exec_begin(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 write_ptr)
{
	if ((s64)(queue->read_ptr + queue->exec.packet.header.length - queue->seen_ptr) > 0) {
		vgpu_time_found(engine, ktime_get_ns());
		queue->seen_ptr = write_ptr;
	}
	queue->exec.in_flight = true;
	queue->exec.begun_ns = queue->busy_ns;
	queue->exec.released = false;
	queue->exec.notified = false;
}

static enum vgpu_step exec_fetch(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	enum drm_vfence_fault fault;
	u64 write_ptr, va;

	if (!vgpu_sched_sane_write_ptr(queue, &write_ptr))
		return exec_fault(queue, DRM_VFENCE_FAULT_WRITE_POINTER, 0);
	if (write_ptr == queue->read_ptr)
		return VGPU_STEP_IDLE;

	fault = exec_fetch_at(queue, queue->read_ptr, write_ptr, &queue->exec.packet, &va);
	if (fault)
		return vgpu_time_works(engine) ? VGPU_STEP_EARLY : exec_fault(queue, fault, va);

	exec_begin(engine, queue, write_ptr);
	queue->exec.cursor = 0;
	queue->exec.draws_left = queue->exec.packet.header.opcode == DRM_VFENCE_OP_DRAW ?
				 queue->exec.packet.draw.count : 0;

	if (queue->kernel)
		exec_fetch_ahead(engine, queue, write_ptr);

	return VGPU_STEP_MORE;
}

/* Return true for packets that take no time but their least, and cannot block their queue. */
static bool exec_is_short(const union vgpu_packet *packet)
{
	switch (packet->header.opcode) {
	case DRM_VFENCE_OP_NOP:
	case DRM_VFENCE_OP_FENCE_SIGNAL:
	case DRM_VFENCE_OP_LOG:
	case DRM_VFENCE_OP_SET_REGISTER:
		return true;
	default:
		return false;
	}
}

/*
 * Fetch the next packet, if it is a short one in front of @write_ptr, and return true. All else is
 * left to a step of its own: that the ring is empty, and packets that are not legal, too.
 */
static bool exec_fetch_short(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 write_ptr)
{
	union vgpu_packet *packet = &queue->exec.packet;
	u64 va;

	/* A signal may have executed a LOG packet that came after @write_ptr was loaded. */
	if ((s64)(write_ptr - queue->read_ptr) <= 0)
		return false;
	/* The packet before is complete: it is not needed any more. */
	packet->words[0] = exec_ring_word(queue, queue->read_ptr);
	if (!exec_is_short(packet) ||
	    exec_fetch_rest(queue, queue->read_ptr, write_ptr, packet, &va))
		return false;
	exec_begin(engine, queue, write_ptr);
	return true;
}

static enum vgpu_step exec_complete(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	queue->exec.in_flight = false;
	WRITE_ONCE(queue->read_ptr, queue->read_ptr + queue->exec.packet.header.length);
	/* Release: the effects of the packet. Partner: the client's acquire of read_ptr. */
	smp_store_release(&queue->control->read_ptr, queue->read_ptr);
	WRITE_ONCE(queue->packets, queue->packets + 1);
	WRITE_ONCE(queue->node->counters.packets, queue->node->counters.packets + 1);
	return VGPU_STEP_MORE;
}

/* Find the fence whose current value is at @current_va. A flush drops what the queue has found. */
static struct vgpu_slot *exec_slot(struct vgpu_queue *queue, u64 current_va)
{
	struct vgpu_slot_cache *cache = &queue->slots;
	unsigned int i = hash_64(current_va, ilog2(VGPU_CACHED_SLOTS));

	if (cache->flushes != queue->vm->flushes) {
		memset(cache->slot, 0, sizeof(cache->slot));
		cache->flushes = queue->vm->flushes;
	}
	if (!cache->slot[i] || cache->va[i] != current_va) {
		cache->slot[i] = vgpu_vm_slot(queue->vm, current_va);
		cache->va[i] = current_va;
	}
	return cache->slot[i];
}

static enum drm_vfence_fault exec_slot_fault(struct vgpu_vm *vm, u64 va)
{
	void *kva;

	if (vgpu_vm_translate(vm, va, 0, &kva) == DRM_VFENCE_FAULT_NONE)
		return DRM_VFENCE_FAULT_ACCESS;
	return DRM_VFENCE_FAULT_UNMAPPED;
}

/* The fence of a wait has reached the value. The engine does not know since when. */
static enum vgpu_step exec_find(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	vgpu_time_found(engine, vgpu_clock_ns(queue->wait_end));
	return exec_complete(engine, queue);
}

/* There is no room for what the packet reports. Look again after some time. */
static enum vgpu_step exec_stall_for_room(struct vgpu_engine *engine, u64 *cost)
{
	vgpu_time_found(engine, ktime_get_ns());
	*cost = VGPU_STALL_NS;
	return VGPU_STEP_MORE;
}

static enum vgpu_step exec_wait_fence(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	const struct drm_vfence_packet_wait *packet = &queue->exec.packet.wait;
	struct vgpu_slot *slot;

	if (queue->exec.released)
		return exec_complete(engine, queue);

	slot = exec_slot(queue, packet->current_va);
	/* A queue cannot wait for a monitored fence (WDDM-113). */
	if (!slot || !slot->fence)
		return exec_fault(queue, exec_slot_fault(queue->vm, packet->current_va),
				  packet->current_va);
	if (!READ_ONCE(slot->waits))
		return exec_fault(queue, DRM_VFENCE_FAULT_ACCESS, packet->current_va);

	queue->wait_observed = vgpu_clock_now(queue->gpu);
	queue->wait_end = queue->wait_observed;
	if (vgpu_value_reached(slot->fence, packet->value))
		return exec_find(engine, queue);

	WRITE_ONCE(queue->node->counters.waits_stalled, queue->node->counters.waits_stalled + 1);
	if (vgpu_fence_block(slot->fence, queue, packet->value))
		return VGPU_STEP_BLOCKED;
	queue->wait_end = vgpu_clock_now(queue->gpu);

	return exec_find(engine, queue);
}

static enum vgpu_step exec_write_log(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	u64 before = queue->log_packets;
	enum drm_vfence_fault fault = vgpu_log_write(queue, &queue->exec.packet.log);

	if (fault)
		return exec_fault(queue, fault, queue->exec.packet.log.log_va);
	/* vgpu_log_write() does not count a marker that the logging level drops. */
	WRITE_ONCE(queue->node->counters.log_packets,
		   queue->node->counters.log_packets + queue->log_packets - before);
	return exec_complete(engine, queue);
}

/*
 * If the LOG packet of a signal is next in the ring, execute it in the step of the signal:
 * the interrupt must come after value, entry and index (WDDM-90).
 */
static enum vgpu_step exec_log_of_signal(struct vgpu_engine *engine, struct vgpu_queue *queue,
					 u64 *cost)
{
	union vgpu_packet *next = &queue->exec.packet;
	u64 write_ptr, va;

	if (!vgpu_sched_sane_write_ptr(queue, &write_ptr) || write_ptr == queue->read_ptr)
		return VGPU_STEP_MORE;

	/* The signal is complete: its packet is not needed any more. */
	next->words[0] = exec_ring_word(queue, queue->read_ptr);
	if (next->header.opcode != DRM_VFENCE_OP_LOG ||
	    exec_fetch_rest(queue, queue->read_ptr, write_ptr, next, &va) ||
	    next->log.operation != DRM_VFENCE_LOG_SIGNAL_EXECUTED)
		return VGPU_STEP_MORE;

	*cost += VGPU_PACKET_NS;

	return exec_write_log(engine, queue);
}

/*
 * Not inline: most signals interrupt nobody, and need no post on the stack, which the kernel clears
 * with each step.
 */
static noinline void exec_post_signal(struct vgpu_engine *engine, struct vgpu_queue *queue,
				      struct vgpu_fence *fence, u64 value, bool logged)
{
	struct vgpu_cmp_post post = {
		.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
		.fence = fence,
		.value = value,
		.time = queue->signal_end,
		.queue = queue->os_handle,
		.vm = queue->vm,
		.unlogged = !logged,
		.node = engine->node,
	};

	vgpu_cmp_post_in_step(queue->gpu, engine, &post);
	vfence_race_point(POSTED);
}

static void exec_notify_signal(struct vgpu_engine *engine, struct vgpu_queue *queue,
			       struct vgpu_fence *fence, u64 value, u64 monitored, bool logged)
{
	vfence_race_point(MONITORED_READ);
	queue->exec.notified = vgpu_fence_notify(engine, fence, value);
	if (vfence_must_interrupt(value, monitored)) {
		queue->exec.notified = true;
		trace_vgpu_decide(queue, fence, value, monitored, true);
		exec_post_signal(engine, queue, fence, value, logged);
	} else {
		trace_vgpu_decide(queue, fence, value, monitored, false);
		WRITE_ONCE(queue->node->counters.suppressed, queue->node->counters.suppressed + 1);
	}
}

static void exec_store_current(struct vgpu_fence *fence, u64 value)
{
	u64 *slot = vgpu_value_slot(fence, fence->current_value);

	vgpu_value_count_rewind(fence, READ_ONCE(*slot), value);
	/*
	 * One store of 64 bits, so that it cannot be torn (WDDM-2). Release: the earlier
	 * effects of the queue. Partners: vgpu_value_reached() and vfence_fence_current().
	 */
	smp_store_release(slot, value);
}

/*
 * Store the value before reading the clock: at the time that other adapters get, the value is
 * visible. A queue of another adapter that began to wait later needs no release, because
 * exec_wait_fence() reads the clock before it loads the value for the last time. Partner: the
 * lock in vgpu_fence_block(), before the last load of the value.
 */
static void exec_store_and_time(struct vgpu_queue *queue, struct vgpu_fence *fence, u64 value)
{
	exec_store_current(fence, value);
	/* Store the value before reading the clock. Partner: see above. */
	smp_mb();
	queue->signal_end = vgpu_clock_now(queue->gpu);
}

static enum vgpu_step exec_signal_fence(struct vgpu_engine *engine, struct vgpu_queue *queue,
					u64 *cost)
{
	const struct drm_vfence_packet_signal *packet = &queue->exec.packet.signal;
	struct vgpu_slot *slot = exec_slot(queue, packet->current_va);
	u64 log_packets = queue->log_packets;
	/* The LOG packet behind this one takes its place. */
	u64 value = packet->value;
	struct vgpu_fence *fence;
	enum vgpu_step step;

	if (!slot || !slot->fence)
		return exec_fault(queue, exec_slot_fault(queue->vm, packet->current_va),
				  packet->current_va);
	if (slot->monitored_va != packet->monitored_va)
		return exec_fault(queue, exec_slot_fault(queue->vm, packet->monitored_va),
				  packet->monitored_va);
	if (!READ_ONCE(slot->signals))
		return exec_fault(queue, DRM_VFENCE_FAULT_ACCESS, packet->current_va);

	fence = slot->fence;
	if (!vgpu_cmp_has_room(queue->gpu, queue->vm) ||
	    !vgpu_fence_has_room(engine, fence, value))
		return exec_stall_for_room(engine, cost);
	if (READ_ONCE(fence->always_signaled)) {
		queue->signal_end = vgpu_clock_now(queue->gpu);
		return exec_complete(engine, queue);
	}

	/* Trace it first: whoever sees the value comes later. */
	trace_vgpu_signal(queue, fence, value);
	exec_store_and_time(queue, fence, value);
	atomic64_inc(&fence->signals);
	WRITE_ONCE(queue->node->counters.signals, queue->node->counters.signals + 1);
	exec_complete(engine, queue);
	vfence_race_point(VALUE_STORED);
	step = exec_log_of_signal(engine, queue, cost);
	vfence_race_point(VALUE_LOGGED);

	/*
	 * Handshakes (a) and (b), side of the engine: store the current value and the index of
	 * the log before loading the monitored value and the number of blocked queues.
	 * Partners: vgpu_fence_update_monitored_values(), vgpu_cmp_update_shadow() and
	 * vgpu_fence_block().
	 */
	smp_mb();
	exec_notify_signal(engine, queue, fence, value, vgpu_value_monitored(fence),
			   queue->log_packets != log_packets);
	return step;
}

/* Report that a monitored fence was written. The post does not name the fence (WDDM-130). */
static void exec_notify_monitored(struct vgpu_engine *engine, struct vgpu_queue *queue,
				  struct vgpu_slot *slot)
{
	struct vgpu_cmp_post post = {
		.type = VGPU_IRQ_MONITORED_FENCE_SIGNALED,
		.vm = queue->vm,
		.node = engine->node,
	};

	if (queue->gpu->config.monitored_signal != VGPU_MONITORED_SIGNAL_ADVANCED)
		return;
	vgpu_word_list_written(queue->gpu, slot);
	vgpu_cmp_post_in_step(queue->gpu, engine, &post);
}

/* Store 32 or 64 bits to memory, as the GPU supports (WDDM-116, WDDM-128). */
static enum vgpu_step exec_signal_monitored(struct vgpu_engine *engine, struct vgpu_queue *queue,
					    u64 *cost)
{
	const struct drm_vfence_packet_monitored *packet = &queue->exec.packet.monitored;
	struct vgpu_slot *slot = exec_slot(queue, packet->current_va);
	void *value;

	if (!slot || vgpu_vm_translate(queue->vm, packet->current_va, 0, &value))
		return exec_fault(queue, exec_slot_fault(queue->vm, packet->current_va),
				  packet->current_va);
	if (!slot->word || !READ_ONCE(slot->signals))
		return exec_fault(queue, DRM_VFENCE_FAULT_ACCESS, packet->current_va);
	if (!vgpu_cmp_has_room(queue->gpu, queue->vm))
		return exec_stall_for_room(engine, cost);
	trace_vgpu_write(queue, packet->current_va, packet->value);
	vgpu_word_signal(queue->gpu, slot->word, value, packet->value);
	exec_complete(engine, queue);
	exec_notify_monitored(engine, queue, slot);

	return VGPU_STEP_MORE;
}

static enum vgpu_step exec_draw(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	*cost = max_t(u64, queue->exec.packet.draw.duration_ns, VGPU_PACKET_NS);
	queue->exec.draws_left--;
	engine->works = true;
	return VGPU_STEP_MORE;
}

static u64 exec_chunk_size(u64 va, u64 left)
{
	return min_t(u64, left, VGPU_CHUNK - offset_in_page(va));
}

static enum vgpu_step exec_copy(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	const struct drm_vfence_packet_copy *packet = &queue->exec.packet.copy;
	u64 src_va = packet->src_va + queue->exec.cursor;
	u64 dst_va = packet->dst_va + queue->exec.cursor;
	u64 left = packet->size - queue->exec.cursor;
	u64 chunk = exec_chunk_size(dst_va, exec_chunk_size(src_va, left));
	enum drm_vfence_fault fault;
	void *src, *dst;

	fault = vgpu_vm_translate(queue->vm, src_va, VGPU_VM_DATA | VGPU_VM_READ, &src);
	if (fault)
		return exec_fault(queue, fault, src_va);
	fault = vgpu_vm_translate(queue->vm, dst_va, VGPU_VM_DATA | VGPU_VM_WRITE, &dst);
	if (fault)
		return exec_fault(queue, fault, dst_va);

	memmove(dst, src, chunk);
	*cost = max_t(u64, chunk / VGPU_BYTES_PER_NS, VGPU_PACKET_NS);
	queue->exec.cursor += chunk;
	engine->works = true;

	return VGPU_STEP_MORE;
}

static enum vgpu_step exec_fill(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	const struct drm_vfence_packet_fill *packet = &queue->exec.packet.fill;
	u64 dst_va = packet->dst_va + queue->exec.cursor;
	u64 chunk = exec_chunk_size(dst_va, packet->size - queue->exec.cursor);
	enum drm_vfence_fault fault;
	void *dst;

	fault = vgpu_vm_translate(queue->vm, dst_va, VGPU_VM_DATA | VGPU_VM_WRITE, &dst);
	if (fault)
		return exec_fault(queue, fault, dst_va);

	memset32(dst, packet->value, chunk / sizeof(u32));
	*cost = max_t(u64, chunk / VGPU_BYTES_PER_NS, VGPU_PACKET_NS);
	queue->exec.cursor += chunk;
	engine->works = true;

	return VGPU_STEP_MORE;
}

/*
 * Return the time at which the GPU has done all that is before the packet. It does not contain the
 * time by which the engine's thread has woken up late. It is no less than the times of the wait,
 * the signal and the marker before, which a client finds in its logs. The packet behind begins no
 * earlier, so that the work between two time stamps takes its time.
 */
static u64 exec_time(struct vgpu_engine *engine, const struct vgpu_queue *queue)
{
	u64 logged = max3(queue->wait_end, queue->signal_end, queue->marker_end);
	u64 ticks = max(vgpu_clock_at(vgpu_time_end(engine)), logged);

	vgpu_time_not_before(engine, vgpu_clock_ns(ticks));
	return ticks;
}

static enum vgpu_step exec_timestamp(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	u64 dst_va = queue->exec.packet.timestamp.dst_va;
	enum drm_vfence_fault fault;
	void *dst;

	fault = vgpu_vm_translate(queue->vm, dst_va, VGPU_VM_DATA | VGPU_VM_WRITE, &dst);
	if (fault)
		return exec_fault(queue, fault, dst_va);
	WRITE_ONCE(*(u64 *)dst, exec_time(engine, queue));
	return exec_complete(engine, queue);
}

static enum vgpu_step exec_set_register(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	const struct drm_vfence_packet_register *packet = &queue->exec.packet.reg;

	engine->registers.value[packet->index] = packet->value;
	return exec_complete(engine, queue);
}

static enum vgpu_step exec_read_register(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	const struct drm_vfence_packet_register *packet = &queue->exec.packet.reg;
	enum drm_vfence_fault fault;
	void *dst;

	fault = vgpu_vm_translate(queue->vm, packet->value, VGPU_VM_DATA | VGPU_VM_WRITE, &dst);
	if (fault)
		return exec_fault(queue, fault, packet->value);
	WRITE_ONCE(*(u64 *)dst, engine->registers.value[packet->index]);
	return exec_complete(engine, queue);
}

/* The packet makes no progress; each step takes hung_us. */
static enum vgpu_step exec_stall(const struct vgpu_engine *engine, u64 *cost)
{
	*cost = (u64)engine->chip->hung_us * NSEC_PER_USEC ?: NSEC_PER_SEC;
	return VGPU_STEP_STALLED;
}

/* Return true if an injection lets copies make no progress. */
static bool exec_copy_hangs(const struct vgpu *gpu)
{
	return vgpu_injected(&gpu->injections, VGPU_INJECT_HANG_COPIES) &&
	       !vgpu_injected(&gpu->injections, VGPU_INJECT_END_HANGS);
}

static enum vgpu_step exec_packet(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	*cost = VGPU_PACKET_NS;
	switch (queue->exec.packet.header.opcode) {
	case DRM_VFENCE_OP_FENCE_WAIT:
		return exec_wait_fence(engine, queue);
	case DRM_VFENCE_OP_FENCE_SIGNAL:
		return exec_signal_fence(engine, queue, cost);
	case DRM_VFENCE_OP_LOG:
		return exec_write_log(engine, queue);
	case DRM_VFENCE_OP_MONITORED_SIGNAL:
		return exec_signal_monitored(engine, queue, cost);
	case DRM_VFENCE_OP_DRAW:
		return exec_draw(engine, queue, cost);
	case DRM_VFENCE_OP_COPY:
		return exec_copy_hangs(queue->gpu) ? exec_stall(engine, cost) :
						     exec_copy(engine, queue, cost);
	case DRM_VFENCE_OP_FILL:
		return exec_fill(engine, queue, cost);
	case DRM_VFENCE_OP_TIMESTAMP:
		return exec_timestamp(engine, queue);
	case DRM_VFENCE_OP_SET_REGISTER:
		return exec_set_register(engine, queue);
	case DRM_VFENCE_OP_READ_REGISTER:
		return exec_read_register(engine, queue);
	case DRM_VFENCE_OP_HANG:
		if (vgpu_injected(&queue->gpu->injections, VGPU_INJECT_END_HANGS))
			return exec_complete(engine, queue);
		return exec_stall(engine, cost);
	default:
		return exec_complete(engine, queue);
	}
}

/* Return true if all of the packet in flight is executed. Its time may not have passed. */
static bool exec_is_done(const struct vgpu_exec *exec)
{
	switch (exec->packet.header.opcode) {
	case DRM_VFENCE_OP_DRAW:
		return !exec->draws_left;
	case DRM_VFENCE_OP_COPY:
		return exec->cursor == exec->packet.copy.size;
	case DRM_VFENCE_OP_FILL:
		return exec->cursor == exec->packet.fill.size;
	default:
		return false;
	}
}

/* Return true if the packet in flight is the last one of its ring. */
static bool exec_is_last(struct vgpu_queue *queue)
{
	u64 write_ptr;

	/* A doorbell that is disconnected meanwhile may have latched what came before. */
	return !vgpu_sched_sane_write_ptr(queue, &write_ptr) ||
	       write_ptr - queue->read_ptr <= queue->exec.packet.header.length;
}

/* Return true if others can see when the packet goes on: it stores, waits, or is the last one. */
static bool exec_is_seen(struct vgpu_queue *queue)
{
	switch (queue->exec.packet.header.opcode) {
	case DRM_VFENCE_OP_DRAW:
	case DRM_VFENCE_OP_COPY:
	case DRM_VFENCE_OP_FILL:
		return exec_is_done(&queue->exec) && exec_is_last(queue);
	case DRM_VFENCE_OP_NOP:
	case DRM_VFENCE_OP_SET_REGISTER:
		return exec_is_last(queue);
	case DRM_VFENCE_OP_HANG:
		return false;
	default:
		return true;
	}
}

/*
 * Have the CMP handle what the step has posted. A queue that has posted since the last report is
 * not blocked, so it still exists.
 */
static void exec_report(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	if (engine->posts)
		vgpu_cmp_run(queue->gpu, engine);
}

/*
 * Execute one step of a RUNNING queue. The output @cost is its GPU time in ns. A draw, a copy or a
 * fill is complete when its time has passed, so the step after the last one completes the packet.
 */
enum vgpu_step vgpu_exec_step(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	enum vgpu_step step = VGPU_STEP_MORE;
	struct vgpu_vm *vm = queue->vm;

	if (!queue->exec.in_flight)
		step = exec_fetch(engine, queue);
	exec_report(engine, queue);
	if (step != VGPU_STEP_MORE)
		return step;

	if (vgpu_time_works(engine) && exec_is_seen(queue))
		return VGPU_STEP_EARLY;
	if (exec_is_done(&queue->exec))
		return exec_complete(engine, queue);

	if (exec_is_kernel_packet(queue, &queue->exec.packet)) {
		if (vgpu_kernel_hangs(queue, &queue->exec.packet))
			return exec_stall(engine, cost);
		*cost = VGPU_PACKET_NS;
		vgpu_kernel_execute(engine, queue, &queue->exec.packet);
		step = exec_complete(engine, queue);
		exec_report(engine, queue);
		return step;
	}

	read_lock(&engine->chip->residency);
	read_lock(&vm->tlb);
	step = exec_packet(engine, queue, cost);
	/* A blocked queue may be freed already. Its vm is not: vgpu_vm_destroy() takes tlb. */
	read_unlock(&vm->tlb);
	read_unlock(&engine->chip->residency);
	exec_report(engine, queue);

	return step;
}

/* A signal takes the thread of the engine as long as several packets that do nothing. */
static int exec_weight(const union vgpu_packet *packet)
{
	return packet->header.opcode == DRM_VFENCE_OP_FENCE_SIGNAL ? 2 : 1;
}

/*
 * Execute short packets behind a step that has completed a packet, and add their GPU time to @cost.
 * What the thread of the engine does between two steps takes it longer than a short packet does. If
 * work has not ended, a packet that others can see has to wait for it, in a step of its own. A
 * signal that interrupts, or of a fence that queues wait for, takes the thread longer: it is the
 * last of its step.
 */
enum vgpu_step vgpu_exec_short(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost)
{
	struct vgpu_vm *vm = queue->vm;
	int left = VGPU_SHORT_PACKETS;
	enum vgpu_step step;
	u64 write_ptr, own;

	if (queue->kernel || queue->exec.in_flight || queue->exec.notified ||
	    vgpu_time_works(engine) || !vgpu_sched_sane_write_ptr(queue, &write_ptr) ||
	    !exec_fetch_short(engine, queue, write_ptr))
		return VGPU_STEP_MORE;

	read_lock(&engine->chip->residency);
	read_lock(&vm->tlb);
	do {
		left -= exec_weight(&queue->exec.packet);
		step = exec_packet(engine, queue, &own);
		*cost += own;
	} while (step == VGPU_STEP_MORE && !queue->exec.in_flight && !queue->exec.notified &&
		 left > 0 && exec_fetch_short(engine, queue, write_ptr));
	read_unlock(&vm->tlb);
	read_unlock(&engine->chip->residency);
	exec_report(engine, queue);

	return step;
}
