// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts about fences: complete the waiters of fences that the records name, and
 * rescan fences when a record names none.
 */

#include "core/vfence_adapter.h"
#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_irq.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_propagate.h"
#include "fence/vfence_rescan.h"
#include "fence/vfence_waiter.h"
#include "irq/vfence_irq.h"
#include "vfence_race_point.h"

/* Most fences that one pass of the threaded half visits. */
#define FENCE_IRQ_PASS	16

/*
 * Leave the fence to the threaded half, with a reference until then. Return true if the threaded
 * half will complete a waiter for this record.
 */
static bool fence_irq_defer_locked(struct vfence_adapter *adapter, struct vfence_fence *fence,
				   u64 value, u64 time)
{
	unsigned long flags;
	bool useful;

	lockdep_assert_held(&adapter->irq.lock);

	spin_lock_irqsave(&fence->lock, flags);
	useful = !fence->deferred && vfence_waiter_is_due_locked(fence, value);
	if (fence->linked)
		vfence_propagate_note_locked(fence, value, time);
	vfence_waiter_defer_locked(fence, value);
	spin_unlock_irqrestore(&fence->lock, flags);

	return useful;
}

/* Complete the waiters of a signaled fence, as many as the budget allows. */
static void fence_irq_signaled_locked(struct vfence_adapter *adapter,
				      const struct vgpu_irq_record *record,
				      const struct vgpu_irq_fence *signaled,
				      struct vfence_irq_batch *batch)
{
	struct vfence_fence *fence;
	unsigned int completed = 0;
	unsigned long flags;
	bool useful;

	lockdep_assert_held(&adapter->irq.lock);

	/*
	 * A record that names no fence is an error of the hardware, and fatal (WDDM-75): a
	 * fence leaves the table only after fence_destroy() has drained the ring under this
	 * lock.
	 */
	fence = xa_load(&adapter->fences.table, signaled->handle);
	if (!fence) {
		vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x1);
		return;
	}

	if (batch->budget)
		completed = vfence_waiter_take(fence, signaled->value, batch->budget,
					       &batch->done);
	batch->budget -= completed;

	useful = completed;
	if (READ_ONCE(fence->linked) || !batch->budget)
		useful |= fence_irq_defer_locked(adapter, fence, signaled->value, signaled->time);

	spin_lock_irqsave(&fence->lock, flags);
	fence->interrupts++;
	fence->spurious += !useful;
	spin_unlock_irqrestore(&fence->lock, flags);

	vfence_count(adapter, useful ? VFENCE_COUNT_USEFUL : VFENCE_COUNT_SPURIOUS);
	trace_vfence_interrupt(fence, record->node, signaled->value, completed);
}

/*
 * A record without an array: rescan all native fences (WDDM-72), and look at monitored fences only
 * if the record asks for it (WDDM-73, WDDM-74).
 */
static void fence_irq_null_record(struct vfence_adapter *adapter,
				  const struct vgpu_irq_record *record)
{
	vfence_count(adapter, VFENCE_COUNT_RECORDS_NULL);
	vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, record->posts);
	vfence_irq_scan_later(adapter, BIT(record->node));
	if (record->flags & VGPU_IRQ_EVALUATE_LEGACY)
		atomic_set(&adapter->fences.written_due, 1);
}

/* Finish the waiters of a batch after the interrupt lock was dropped. */
static void fence_irq_finish(struct list_head *done)
{
	vfence_waiter_finish_all(done, 0);
}

/* A NATIVE_FENCE_SIGNALED record in the form that names fences. */
static void fence_irq_native_hard(struct vfence_adapter *adapter,
				  const struct vgpu_irq_record *record,
				  struct vfence_irq_batch *batch)
{
	unsigned int i;

	if (!record->count) {
		fence_irq_null_record(adapter, record);
		return;
	}

	batch->finish = fence_irq_finish;
	batch->work -= record->count;
	vfence_count(adapter, VFENCE_COUNT_RECORDS_ARRAY);
	for (i = 0; i < record->count; i++)
		fence_irq_signaled_locked(adapter, record, &record->fence[i], batch);
}

/* Return true if the fence needs no other pass: no signal was deferred meanwhile. */
static bool fence_irq_end_deferred(struct vfence_fence *fence)
{
	unsigned long flags;
	bool ended;

	spin_lock_irqsave(&fence->lock, flags);
	ended = !fence->deferred_value && !fence->signaled_count;
	if (ended)
		fence->deferred = false;
	spin_unlock_irqrestore(&fence->lock, flags);

	return ended;
}

/* Defer fences again, in the order of the list. */
static void fence_irq_defer_again(struct vfence_adapter *adapter, struct llist_node *list)
{
	struct vfence_fence *fence, *next;

	llist_for_each_entry_safe(fence, next, list, deferred_node)
		llist_add(&fence->deferred_node, &adapter->fences.deferred);
}

static bool fence_irq_native_due(struct vfence_adapter *adapter)
{
	return !llist_empty(&adapter->fences.deferred);
}

/*
 * Complete the waiters that exceeded the budget, and propagate signals to other adapters. Each
 * fence gets one portion, so that a fence with many waiters does not hold up the others, and a
 * pass has few fences, because threads of other clients may wait for the lock of the threaded
 * half. Then it runs again.
 */
static void fence_irq_native_thread(struct vfence_adapter *adapter)
{
	/* In the order in which the interrupts deferred the fences. */
	struct llist_node *list = llist_reverse_order(llist_del_all(&adapter->fences.deferred));
	unsigned int left = FENCE_IRQ_PASS;
	LLIST_HEAD(again);

	if (list)
		vfence_hold(DEFERRED);
	while (list && left--) {
		struct vfence_fence *fence = llist_entry(list, struct vfence_fence, deferred_node);

		list = list->next;
		if (!vfence_rescan_deferred_batch(fence) && fence_irq_end_deferred(fence))
			vfence_fence_put(fence);
		else
			__llist_add(&fence->deferred_node, &again);
		cond_resched();
	}
	/* Those that had no portion yet come first. */
	fence_irq_defer_again(adapter, list);
	if (list || !llist_empty(&again)) {
		fence_irq_defer_again(adapter, llist_reverse_order(__llist_del_all(&again)));
		vfence_irq_run_again(adapter);
	}
}

/* If interrupts name queues, the logs name the fences of all signals that have an entry. */
static void fence_irq_native_scan(struct vfence_adapter *adapter, u32 nodes)
{
	if (!adapter->optimized || nodes & VGPU_OVERFLOW_UNLOGGED)
		vfence_rescan_all(adapter);
}

static const struct vfence_irq_source fence_irq_native_source = {
	.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
	.hard = fence_irq_native_hard,
	.due = fence_irq_native_due,
	.thread = fence_irq_native_thread,
	.scan = fence_irq_native_scan,
};

/* In the optimised form queue/ handles the records, and leaves what exceeds a portion. */
static const struct vfence_irq_source fence_irq_optimized_source = {
	.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
	.due = fence_irq_native_due,
	.thread = fence_irq_native_thread,
	.scan = fence_irq_native_scan,
};

/* The GPU wrote monitored fences, of which the record names none (WDDM-130). */
static void fence_irq_monitored_hard(struct vfence_adapter *adapter,
				     const struct vgpu_irq_record *record,
				     struct vfence_irq_batch *batch)
{
	vfence_count(adapter, VFENCE_COUNT_RECORDS_MONITORED);
	atomic_set(&adapter->fences.written_due, 1);
}

static bool fence_irq_monitored_due(struct vfence_adapter *adapter)
{
	return atomic_read(&adapter->fences.written_due);
}

static void fence_irq_look_at(struct vfence_adapter *adapter, u32 fence_id)
{
	struct vfence_fence *fence = vfence_fence_find(adapter, fence_id);
	unsigned int completed = 0;

	/* Nobody waits for a fence without references. */
	if (!fence)
		return;
	/* What exceeds a portion is left to fence_irq_native_thread(). */
	vfence_rescan_batch(fence, &completed);
	vfence_fence_put(fence);
}

/*
 * Look at the fences that were written: a pass has few of them, as threads of other clients wait
 * for the runs of the threaded half.
 */
static void fence_irq_look_at_written(struct vfence_adapter *adapter)
{
	unsigned int left = FENCE_IRQ_PASS;
	u32 fence_id;

	vfence_count(adapter, VFENCE_COUNT_LEGACY_SCANS);
	while (left && vgpu_word_next_written(adapter->gpu, &fence_id)) {
		fence_irq_look_at(adapter, fence_id);
		left--;
		cond_resched();
	}
	if (!left) {
		atomic_set(&adapter->fences.written_due, 1);
		vfence_irq_run_again(adapter);
	}
}

static void fence_irq_monitored_thread(struct vfence_adapter *adapter)
{
	if (atomic_xchg(&adapter->fences.written_due, 0))
		fence_irq_look_at_written(adapter);
}

static void fence_irq_monitored_scan(struct vfence_adapter *adapter, u32 nodes)
{
	if (nodes & VGPU_OVERFLOW_MONITORED)
		fence_irq_look_at_written(adapter);
}

static const struct vfence_irq_source fence_irq_monitored_source = {
	.type = VGPU_IRQ_MONITORED_FENCE_SIGNALED,
	.hard = fence_irq_monitored_hard,
	.due = fence_irq_monitored_due,
	.thread = fence_irq_monitored_thread,
	.scan = fence_irq_monitored_scan,
};

/** vfence_fence_irq_add_sources - register for fence interrupts, after feature negotiation */
void vfence_fence_irq_add_sources(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, adapter->optimized ? &fence_irq_optimized_source :
						     &fence_irq_native_source);
	vfence_irq_add(adapter, &fence_irq_monitored_source);
}
