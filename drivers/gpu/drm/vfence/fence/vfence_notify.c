// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts about fences: complete the waiters of fences that the records name, and
 * rescan fences when a record names none.
 */

#include "core/vfence_adapter.h"
#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_notify.h"
#include "fence/vfence_point.h"
#include "fence/vfence_signal.h"
#include "irq/vfence_irq.h"
#include "vfence_step.h"

/* Most fences that one pass of the threaded half visits. */
#define NOTIFY_PASS	16

/*
 * Leave the fence to the threaded half, with a reference until then. Return true if the threaded
 * half will complete a waiter for this record.
 */
static bool notify_defer_locked(struct vfence_adapter *adapter, struct vfence_fence *fence,
				u64 value, u64 time)
{
	unsigned long flags;
	bool useful;

	lockdep_assert_held(&adapter->irq.lock);

	spin_lock_irqsave(&fence->lock, flags);
	useful = !fence->deferred && vfence_point_is_due_locked(fence, value);
	if (fence->linked)
		vfence_cross_note_locked(fence, value, time);
	vfence_point_defer_locked(fence, value);
	spin_unlock_irqrestore(&fence->lock, flags);

	return useful;
}

/* Complete the points of a signaled fence, as many as the budget allows. */
static void notify_signaled_locked(struct vfence_adapter *adapter,
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
		completed = vfence_point_take(fence, signaled->value, batch->budget,
					      &batch->done);
	batch->budget -= completed;

	useful = completed;
	if (READ_ONCE(fence->linked) || !batch->budget)
		useful |= notify_defer_locked(adapter, fence, signaled->value, signaled->time);

	spin_lock_irqsave(&fence->lock, flags);
	fence->interrupts++;
	fence->spurious += !useful;
	spin_unlock_irqrestore(&fence->lock, flags);

	vfence_count(adapter, useful ? VFENCE_COUNT_USEFUL : VFENCE_COUNT_SPURIOUS);
	trace_vfence_interrupt(fence, record->node, signaled->value, completed);
}

/*
 * A record without an array: rescan all native fences (WDDM-72), and monitored fences only
 * if the record asks for it (WDDM-73).
 */
static void notify_null_record(struct vfence_adapter *adapter,
			       const struct vgpu_irq_record *record)
{
	vfence_count(adapter, VFENCE_COUNT_RECORDS_NULL);
	vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, record->posts);
	vfence_irq_scan_later(adapter, BIT(record->node));
	if (record->flags & VGPU_IRQ_EVALUATE_LEGACY)
		atomic_set(&adapter->fences.monitored_scan_due, 1);
}

/* Finish the points of a batch after the interrupt lock was dropped. */
static void notify_finish(struct list_head *done)
{
	vfence_point_finish_all(done, 0);
}

/* A NATIVE_FENCE_SIGNALED record in the form that names fences. */
static void notify_native_hard(struct vfence_adapter *adapter,
			       const struct vgpu_irq_record *record,
			       struct vfence_irq_batch *batch)
{
	unsigned int i;

	if (!record->count) {
		notify_null_record(adapter, record);
		return;
	}

	batch->finish = notify_finish;
	batch->work -= record->count;
	vfence_count(adapter, VFENCE_COUNT_RECORDS_ARRAY);
	for (i = 0; i < record->count; i++)
		notify_signaled_locked(adapter, record, &record->fence[i], batch);
}

/*
 * Complete a portion of the points that the hard half has left on a fence. The lock keeps a
 * thread that settles the fence out meanwhile. Return true if there may be more.
 */
static bool notify_complete_deferred(struct vfence_fence *fence)
{
	unsigned long flags;
	u64 value;
	bool more;

	mutex_lock(&fence->rescan_lock);
	/* Take the value, so that it cannot complete a wait that begins after a rewind. */
	spin_lock_irqsave(&fence->lock, flags);
	value = fence->deferred_value;
	fence->deferred_value = 0;
	spin_unlock_irqrestore(&fence->lock, flags);

	more = vfence_point_complete_batch(fence, value) == VFENCE_POINT_BATCH;
	if (more) {
		/* There may be more points for the next portion. */
		spin_lock_irqsave(&fence->lock, flags);
		fence->deferred_value = max(fence->deferred_value, value);
		spin_unlock_irqrestore(&fence->lock, flags);
	}
	if (READ_ONCE(fence->linked))
		vfence_cross_propagate_noted(fence);
	mutex_unlock(&fence->rescan_lock);

	return more;
}

/* Return true if the fence needs no other pass: no signal was deferred meanwhile. */
static bool notify_end_deferred(struct vfence_fence *fence)
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
static void notify_defer_again(struct vfence_adapter *adapter, struct llist_node *list)
{
	struct vfence_fence *fence, *next;

	llist_for_each_entry_safe(fence, next, list, deferred_node)
		llist_add(&fence->deferred_node, &adapter->fences.deferred);
}

static bool notify_native_due(struct vfence_adapter *adapter)
{
	return !llist_empty(&adapter->fences.deferred);
}

/*
 * Complete the points that exceeded the budget, and propagate signals to other adapters. Each
 * fence gets one portion, so that a fence with many waiters does not hold up the others, and a
 * pass has few fences, because threads of other clients may wait for the lock of the threaded
 * half. Then it runs again.
 */
static void notify_native_thread(struct vfence_adapter *adapter)
{
	/* In the order in which the interrupts deferred the fences. */
	struct llist_node *list = llist_reverse_order(llist_del_all(&adapter->fences.deferred));
	unsigned int left = NOTIFY_PASS;
	LLIST_HEAD(again);

	if (list)
		vfence_hold(DEFERRED);
	while (list && left--) {
		struct vfence_fence *fence = llist_entry(list, struct vfence_fence, deferred_node);

		list = list->next;
		if (!notify_complete_deferred(fence) && notify_end_deferred(fence))
			vfence_fence_put(fence);
		else
			__llist_add(&fence->deferred_node, &again);
		cond_resched();
	}
	/* Those that had no portion yet come first. */
	notify_defer_again(adapter, list);
	if (list || !llist_empty(&again)) {
		notify_defer_again(adapter, llist_reverse_order(__llist_del_all(&again)));
		vfence_irq_run_again(adapter);
	}
}

/*
 * Rescan the fences of one kind that have waiters: native fences after a record without an array
 * (WDDM-72), monitored fences only if a record asks for it (WDDM-73, WDDM-74).
 */
static void notify_scan(struct vfence_adapter *adapter, bool is_monitored)
{
	vfence_count(adapter, is_monitored ? VFENCE_COUNT_LEGACY_SCANS : VFENCE_COUNT_SCANS);
	vfence_fence_scan(adapter, is_monitored);
}

/* If interrupts name queues, the logs name the fences of all signals that have an entry. */
static void notify_native_scan(struct vfence_adapter *adapter, u32 nodes)
{
	if (!adapter->optimized || nodes & VGPU_OVERFLOW_UNLOGGED)
		notify_scan(adapter, false);
}

static const struct vfence_irq_source notify_native_source = {
	.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
	.hard = notify_native_hard,
	.due = notify_native_due,
	.thread = notify_native_thread,
	.scan = notify_native_scan,
};

/* In the optimised form queue/ handles the records, and leaves what exceeds a portion. */
static const struct vfence_irq_source notify_optimized_source = {
	.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
	.due = notify_native_due,
	.thread = notify_native_thread,
	.scan = notify_native_scan,
};

/* The GPU wrote a monitored fence: rescan all that have waiters (WDDM-130). */
static void notify_monitored_hard(struct vfence_adapter *adapter,
				  const struct vgpu_irq_record *record,
				  struct vfence_irq_batch *batch)
{
	vfence_count(adapter, VFENCE_COUNT_RECORDS_MONITORED);
	atomic_set(&adapter->fences.monitored_scan_due, 1);
}

static bool notify_monitored_due(struct vfence_adapter *adapter)
{
	return atomic_read(&adapter->fences.monitored_scan_due);
}

static void notify_monitored_thread(struct vfence_adapter *adapter)
{
	/* Full barrier before the list is read. Partner: point_update_monitored_locked(). */
	if (atomic_xchg(&adapter->fences.monitored_scan_due, 0))
		notify_scan(adapter, true);
}

/* Full barrier: vfence_irq_settle() has taken @nodes by an atomic_xchg(). */
static void notify_monitored_scan(struct vfence_adapter *adapter, u32 nodes)
{
	if (nodes & VGPU_OVERFLOW_MONITORED)
		notify_scan(adapter, true);
}

static const struct vfence_irq_source notify_monitored_source = {
	.type = VGPU_IRQ_MONITORED_FENCE_SIGNALED,
	.hard = notify_monitored_hard,
	.due = notify_monitored_due,
	.thread = notify_monitored_thread,
	.scan = notify_monitored_scan,
};

/** vfence_notify_add_sources - register for fence interrupts, after feature negotiation */
void vfence_notify_add_sources(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, adapter->optimized ? &notify_optimized_source :
						     &notify_native_source);
	vfence_irq_add(adapter, &notify_monitored_source);
}

/**
 * vfence_notify_complete - complete what the interrupts of a fence have left
 * @fence: the fence, all signals of which are handled by vfence_irq_catch_up()
 *
 * This does not wait for the waiters of other fences, which the threaded half completes in
 * portions. Process context.
 */
void vfence_notify_complete(struct vfence_fence *fence)
{
	while (notify_complete_deferred(fence))
		cond_resched();
}

/* Handle the records that name the fence. */
static void notify_settle_records(struct vfence_fence *fence)
{
	vgpu_cmp_flush(fence->adapter->gpu);
	vfence_irq_flush(fence->adapter);
}

/**
 * vfence_notify_settle - handle all signals of a fence that are pending
 * @fence: the fence
 *
 * On return each signal before the call, by the CPU or on this adapter, has completed
 * the waits it satisfies, even if its value was rewound since. Process context.
 */
void vfence_notify_settle(struct vfence_fence *fence)
{
	struct vfence_adapter *adapter = fence->adapter;

	vfence_signal_settle(fence);
	if (adapter->optimized)
		vfence_irq_catch_up(adapter);
	else
		notify_settle_records(fence);
	vfence_notify_complete(fence);

	/* Complete up to the highest value that no record named. */
	vfence_point_rescan(fence);
}

/**
 * vfence_notify_settle_rewinds - handle the signals before a rewind
 * @fence: the fence, which is about to get a waiter
 *
 * Call this before a wait is put on a fence. Interrupts and logs carry values, so that a
 * value that was rewound completes the waits that were on the fence. It must not complete
 * a wait that begins after the rewind. If the fence was not rewound since the last call
 * the cost is one comparison. Process context, no lock held.
 */
void vfence_notify_settle_rewinds(struct vfence_fence *fence)
{
	u64 rewinds;

	if (fence->cross) {
		vfence_cross_settle_rewinds(fence->cross);
		return;
	}

	rewinds = vfence_fence_rewinds(fence);
	if (READ_ONCE(fence->settled) == rewinds)
		return;
	vfence_notify_settle(fence);

	/* Store the count only now, as others skip the settlement by it. Later rewinds differ. */
	WRITE_ONCE(fence->settled, rewinds);
}
