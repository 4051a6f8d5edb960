// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts about fences: complete what the records name, rescan what they do not.
 */

#include "core/vfence_adapter.h"
#include "core/vfence_trace.h"
#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_notify.h"
#include "fence/vfence_point.h"
#include "irq/vfence_irq.h"

/* The threaded half goes on; the fence is kept until then. */
static void notify_defer_locked(struct vfence_adapter *adapter, struct vfence_fence *fence,
				u64 value, u64 time)
{
	unsigned long flags;

	lockdep_assert_held(&adapter->irq.lock);
	spin_lock_irqsave(&fence->lock, flags);
	fence->deferred_value = max(fence->deferred ? fence->deferred_value : 0, value);
	/* A fence that cannot be kept is being destroyed, which ends its waits. */
	if (fence->cross)
		vfence_cross_note_locked(fence, value, time);
	if (!fence->deferred && kref_get_unless_zero(&fence->ref)) {
		fence->deferred = true;
		llist_add(&fence->deferred_node, &adapter->fences.deferred);
	}
	spin_unlock_irqrestore(&fence->lock, flags);
}

static unsigned int notify_signaled_locked(struct vfence_adapter *adapter,
					   const struct vgpu_irq_record *record,
					   const struct vgpu_irq_fence *signaled,
					   unsigned int budget, struct list_head *done)
{
	struct vfence_fence *fence;
	unsigned int completed;
	unsigned long flags;

	lockdep_assert_held(&adapter->irq.lock);
	/*
	 * A fence leaves the table only after its destroyer has drained the ring
	 * under this lock, so a record that names none is the hardware's failure, and
	 * fatal (WDDM-75).
	 */
	fence = xa_load(&adapter->fences.table, signaled->handle);
	if (!fence) {
		vfence_adapter_lose(adapter, 0x1);
		return 0;
	}
	completed = vfence_point_take(fence, signaled->value, budget, done);
	if (fence->cross || completed == budget)
		notify_defer_locked(adapter, fence, signaled->value, signaled->time);
	spin_lock_irqsave(&fence->lock, flags);
	fence->interrupts++;
	fence->spurious += !completed;
	spin_unlock_irqrestore(&fence->lock, flags);
	vfence_count(adapter, completed ? VFENCE_COUNT_USEFUL : VFENCE_COUNT_SPURIOUS);
	trace_vfence_interrupt(record->node, signaled->handle, signaled->value, completed);
	return completed;
}

/* No array: all native waiters, and the others only if asked (WDDM-72, WDDM-73). */
static void notify_null_record(struct vfence_adapter *adapter,
			       const struct vgpu_irq_record *record)
{
	vfence_count(adapter, VFENCE_COUNT_RECORDS_NULL);
	vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, record->posts);
	vfence_irq_scan_later(adapter, BIT(record->node));
	if (record->flags & VGPU_IRQ_EVALUATE_LEGACY)
		atomic_set(&adapter->fences.monitored_scan_due, 1);
}

static void notify_finish(struct list_head *done)
{
	vfence_point_finish_all(done, 0);
}

/* NATIVE_FENCE_SIGNALED in the form that names fences. */
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
	vfence_count(adapter, VFENCE_COUNT_RECORDS_ARRAY);
	for (i = 0; i < record->count; i++) {
		unsigned int completed =
			notify_signaled_locked(adapter, record, &record->fence[i],
					       max(batch->budget, 1u), &batch->done);

		batch->budget -= min(batch->budget, completed);
	}
}

static void notify_native_thread(struct vfence_adapter *adapter)
{
	/* First come, first served. */
	struct llist_node *list = llist_reverse_order(llist_del_all(&adapter->fences.deferred));
	struct vfence_fence *fence, *next;

	llist_for_each_entry_safe(fence, next, list, deferred_node) {
		unsigned long flags;
		u64 value;

		spin_lock_irqsave(&fence->lock, flags);
		value = fence->deferred_value;
		fence->deferred = false;
		spin_unlock_irqrestore(&fence->lock, flags);
		vfence_point_complete(fence, value);
		if (fence->cross)
			vfence_cross_propagate_noted(fence);
		vfence_fence_put(fence);
	}
}

/*
 * Rescan every fence of one kind: the native ones for a NULL array (WDDM-72), the
 * monitored ones only if asked (WDDM-73, WDDM-74).
 */
static void notify_scan(struct vfence_adapter *adapter, bool is_monitored)
{
	struct vfence_fence *fence;
	unsigned long index;

	vfence_count(adapter, is_monitored ? VFENCE_COUNT_LEGACY_SCANS : VFENCE_COUNT_SCANS);
	rcu_read_lock();
	xa_for_each(&adapter->fences.table, index, fence) {
		if (vfence_fence_is_monitored(fence) != is_monitored ||
		    !vfence_fence_needs_scan(fence) ||
		    !kref_get_unless_zero(&fence->ref))
			continue;
		rcu_read_unlock();
		vfence_point_rescan(fence);
		vfence_fence_put(fence);
		rcu_read_lock();
	}
	rcu_read_unlock();
}

/* Where interrupts name queues, the logs name the fences, but for signals without an entry. */
static void notify_native_scan(struct vfence_adapter *adapter, u32 nodes)
{
	if (!adapter->optimized || nodes & VGPU_OVERFLOW_UNLOGGED)
		notify_scan(adapter, false);
}

static const struct vfence_irq_source notify_native_source = {
	.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
	.hard = notify_native_hard,
	.thread = notify_native_thread,
	.scan = notify_native_scan,
};

/* In the optimised form queue/ takes the records. */
static const struct vfence_irq_source notify_optimized_source = {
	.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
	.scan = notify_native_scan,
};

/* Some monitored fence was written: rescan all that have waiters (WDDM-130). */
static void notify_monitored_hard(struct vfence_adapter *adapter,
				  const struct vgpu_irq_record *record,
				  struct vfence_irq_batch *batch)
{
	vfence_count(adapter, VFENCE_COUNT_RECORDS_MONITORED);
	atomic_set(&adapter->fences.monitored_scan_due, 1);
}

static void notify_monitored_overflow(struct vfence_adapter *adapter, u32 overflow)
{
	if (overflow & VGPU_OVERFLOW_MONITORED)
		atomic_set(&adapter->fences.monitored_scan_due, 1);
}

static void notify_monitored_thread(struct vfence_adapter *adapter)
{
	/* Full barrier, before waiters are counted. Partner: update_monitored_locked(). */
	if (atomic_xchg(&adapter->fences.monitored_scan_due, 0))
		notify_scan(adapter, true);
}

static const struct vfence_irq_source notify_monitored_source = {
	.type = VGPU_IRQ_MONITORED_FENCE_SIGNALED,
	.hard = notify_monitored_hard,
	.overflow = notify_monitored_overflow,
	.thread = notify_monitored_thread,
};

/** vfence_notify_add_sources - have the interrupts of fences handled; features are negotiated */
void vfence_notify_add_sources(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, adapter->optimized ? &notify_optimized_source :
						     &notify_native_source);
	vfence_irq_add(adapter, &notify_monitored_source);
}

/**
 * vfence_notify_settle - all that is known of a fence has arrived
 * @fence: the fence
 *
 * Whatever was signaled before the call, by the CPU or on this adapter, and may
 * have been rewound since, has completed the waits it satisfies. Process context.
 */
void vfence_notify_settle(struct vfence_fence *fence)
{
	struct vfence_adapter *adapter = fence->adapter;

	/* A CPU signal stores first, and completes under this lock. */
	mutex_lock(&adapter->fences.signal_lock);
	mutex_unlock(&adapter->fences.signal_lock);
	vfence_irq_catch_up(adapter);
	/* What the fence remembers for the waits it has already. */
	vfence_point_rescan(fence);
}

/**
 * vfence_notify_settle_rewinds - let what came before a rewind arrive
 * @fence: the fence, about to get a waiter
 *
 * Interrupts and logs carry values, so that a pulse completes the waits that were on
 * the fence. They must not complete a wait that begins after the rewind: before such a
 * wait is put on the fence, all that was signaled before is handled. A fence that was not
 * rewound since costs one comparison. Process context, no lock held.
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
	/* Others may rely on it only now; a rewind since then is another one. */
	WRITE_ONCE(fence->settled, rewinds);
}
