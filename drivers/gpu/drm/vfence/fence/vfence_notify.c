// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the interrupt to the waiters: drain the ring, complete what the records
 * name, and leave long work to the threaded half.
 */

#include <linux/interrupt.h>
#include <linux/timekeeping.h>

#include "queue/vfence_queue.h"
#include "vfence_fence.h"
#include "vfence_power.h"
#include "vfence_step.h"
#include "vfence_trace.h"

/* Records the hard half takes before it leaves the rest to the thread. */
#define HARD_RECORDS		(2 * VGPU_IRQ_RECORDS)

/* The threaded half goes on; the fence is kept until then. */
static void defer_locked(struct vfence_adapter *adapter, struct vfence_fence *fence, u64 value,
			 u64 time)
{
	unsigned long flags;

	lockdep_assert_held(&adapter->irq_lock);
	spin_lock_irqsave(&fence->lock, flags);
	fence->deferred_value = max(fence->deferred ? fence->deferred_value : 0, value);
	/* A fence that cannot be kept is being destroyed, and tells by itself. */
	if (fence->cross)
		vfence_cross_note_locked(fence, value, time);
	if (!fence->deferred && kref_get_unless_zero(&fence->ref)) {
		fence->deferred = true;
		llist_add(&fence->deferred_node, &adapter->deferred);
	}
	spin_unlock_irqrestore(&fence->lock, flags);
}

static unsigned int signaled_locked(struct vfence_adapter *adapter,
				    const struct vgpu_irq_record *record,
				    const struct vgpu_irq_fence *signaled, unsigned int budget,
				    struct list_head *done)
{
	struct vfence_fence *fence;
	unsigned int completed;
	unsigned long flags;

	lockdep_assert_held(&adapter->irq_lock);
	/*
	 * A fence leaves the table only after its destroyer has drained the ring
	 * under this lock, so a record that names none is the hardware's failure, and
	 * fatal (WDDM-75).
	 */
	fence = xa_load(&adapter->fences, signaled->handle);
	if (!fence) {
		vfence_adapter_lose(adapter, 0x1);
		return 0;
	}
	completed = vfence_fence_take(fence, signaled->value, budget, done);
	if (fence->cross || completed == budget)
		defer_locked(adapter, fence, signaled->value, signaled->time);
	spin_lock_irqsave(&fence->lock, flags);
	fence->interrupts++;
	fence->spurious += !completed;
	spin_unlock_irqrestore(&fence->lock, flags);
	vfence_count(adapter, completed ? VFENCE_COUNT_USEFUL : VFENCE_COUNT_SPURIOUS);
	trace_vfence_interrupt(record->node, signaled->handle, signaled->value, completed);
	return completed;
}

/* The optimised form: the queue's log tells which fences (WDDM-76, WDDM-79). */
static void queue_record(struct vfence_adapter *adapter, const struct vgpu_irq_record *record)
{
	if (record->queue) {
		vfence_count(adapter, VFENCE_COUNT_RECORDS_QUEUE);
		vfence_queue_signaled(adapter, record->queue, record->posts,
				      record->flags & VGPU_IRQ_UNLOGGED);
		return;
	}
	vfence_count(adapter, VFENCE_COUNT_RECORDS_QUEUE_NULL);
	vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, record->posts);
	atomic_or(BIT(record->node), &adapter->scan_due);
}

/* No array: all native waiters, and the others only if asked (WDDM-72, WDDM-73). */
static void null_record(struct vfence_adapter *adapter, const struct vgpu_irq_record *record)
{
	vfence_count(adapter, VFENCE_COUNT_RECORDS_NULL);
	vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, record->posts);
	atomic_or(BIT(record->node), &adapter->scan_due);
	if (record->flags & VGPU_IRQ_EVALUATE_LEGACY)
		atomic_set(&adapter->legacy_scan_due, 1);
}

/* Some monitored fence was written: all who wait for such are looked at (WDDM-130). */
static void monitored_record(struct vfence_adapter *adapter)
{
	vfence_count(adapter, VFENCE_COUNT_RECORDS_MONITORED);
	atomic_set(&adapter->legacy_scan_due, 1);
}

static void record_locked(struct vfence_adapter *adapter, const struct vgpu_irq_record *record,
			  unsigned int *budget, struct list_head *done)
{
	unsigned int i;

	if (record->type == VGPU_IRQ_HWQUEUE_FAULTED) {
		vfence_queue_faulted(adapter, record->queue);
		return;
	}
	if (record->type == VGPU_IRQ_DMA_COMPLETED && record->queue) {
		vfence_queue_progressed(adapter, record->queue);
		return;
	}
	if (record->type == VGPU_IRQ_DMA_COMPLETED) {
		wake_up_all(&adapter->paging.done);
		return;
	}
	if (record->type == VGPU_IRQ_MONITORED_FENCE_SIGNALED)
		monitored_record(adapter);
	if (record->type == VGPU_IRQ_CONTEXT_SUSPENDED)
		vfence_context_acknowledged(adapter, record->queue, record->suspend_fence);
	if (record->type == VGPU_IRQ_GPU_ENGINE_STATE_CHANGE)
		vfence_engine_changed(adapter);
	if (record->type != VGPU_IRQ_NATIVE_FENCE_SIGNALED)
		return;
	if (adapter->optimized) {
		queue_record(adapter, record);
		return;
	}
	if (!record->count) {
		null_record(adapter, record);
		return;
	}
	vfence_count(adapter, VFENCE_COUNT_RECORDS_ARRAY);
	for (i = 0; i < record->count; i++) {
		unsigned int completed = signaled_locked(adapter, record, &record->fence[i],
							 max(*budget, 1u), done);

		*budget -= min(*budget, completed);
	}
}

/*
 * Handshake (d), handler's side: the vector's latch was cleared (a full barrier)
 * before we came here; then ring and overflow flag are looked at. Partner: the
 * CMP stores record or flag, then sets the latch. Whatever it stores after our
 * look finds the latch clear and runs us again.
 *
 * Returns whether the threaded half must go on.
 */
static bool vfence_irq_drain(struct vfence_adapter *adapter)
{
	struct vgpu_irq_ring *ring = vgpu_device_irq_ring(adapter->gpu);
	unsigned int budget = VFENCE_PORTION;
	unsigned int left = HARD_RECORDS;
	unsigned long flags;
	LIST_HEAD(done);
	u32 overflow;
	u32 read;

	vfence_step(HANDLER_ENTRY);
	spin_lock_irqsave(&adapter->irq_lock, flags);
	overflow = atomic_xchg(&ring->overflow, 0);
	atomic_or(overflow, &adapter->scan_due);
	if (overflow & VGPU_OVERFLOW_MONITORED)
		atomic_set(&adapter->legacy_scan_due, 1);
	read = ring->read;
	/* Acquire: the records. Partner: publish() in hw/vgpu_cmp.c. */
	while (left && read != smp_load_acquire(&ring->write)) {
		struct vgpu_irq_record record = ring->record[read % VGPU_IRQ_RECORDS];

		/* Release: the slot is the CMP's again. */
		smp_store_release(&ring->read, ++read);
		record_locked(adapter, &record, &budget, &done);
		left--;
	}
	spin_unlock_irqrestore(&adapter->irq_lock, flags);
	vfence_step(DRAINED);
	/*
	 * What is missing may be paging, a suspension, or the state of an engine. Told at
	 * once: who waits for it may hold a lock that the threaded half needs.
	 */
	if (overflow) {
		wake_up_all(&adapter->paging.done);
		wake_up_all(&adapter->suspend_wait);
		vfence_engine_changed(adapter);
	}
	/* Wake-ups, eventfds and puts: with no lock held. */
	vfence_points_complete(&done, 0);
	return !left;
}

/** vfence_irq_flush - take every record that is in the ring now; may sleep */
void vfence_irq_flush(struct vfence_adapter *adapter)
{
	while (vfence_irq_drain(adapter))
		cond_resched();
}

irqreturn_t vfence_irq_handler(int irq, void *data)
{
	struct vfence_adapter *adapter = data;
	u64 ns = ktime_get_mono_fast_ns();

	vfence_count(adapter, VFENCE_COUNT_HANDLER_RUNS);
	vfence_irq_drain(adapter);
	ns = ktime_get_mono_fast_ns() - ns;
	vfence_count_add(adapter, VFENCE_COUNT_HANDLER_NS, ns);
	if (ns > adapter->handler_max_ns)
		WRITE_ONCE(adapter->handler_max_ns, ns);
	/* Logs are read after every signal (WDDM-92), and not in hard context. */
	return IRQ_WAKE_THREAD;
}

static void run_deferred(struct vfence_adapter *adapter)
{
	/* First come, first served. */
	struct llist_node *list = llist_reverse_order(llist_del_all(&adapter->deferred));
	struct vfence_fence *fence, *next;

	llist_for_each_entry_safe(fence, next, list, deferred_node) {
		unsigned long flags;
		u64 value;

		spin_lock_irqsave(&fence->lock, flags);
		value = fence->deferred_value;
		fence->deferred = false;
		spin_unlock_irqrestore(&fence->lock, flags);
		vfence_fence_complete(fence, value);
		if (fence->cross)
			vfence_cross_propagate_noted(fence);
		vfence_fence_put(fence);
	}
}

/*
 * Look at every fence of one kind: the native ones for a NULL array (WDDM-72), the
 * others only if asked (WDDM-73, WDDM-74).
 */
static void scan_fences(struct vfence_adapter *adapter, bool is_monitored)
{
	struct vfence_fence *fence;
	unsigned long index;

	vfence_count(adapter, is_monitored ? VFENCE_COUNT_LEGACY_SCANS : VFENCE_COUNT_SCANS);
	rcu_read_lock();
	xa_for_each(&adapter->fences, index, fence) {
		if (vfence_fence_is_monitored(fence) != is_monitored ||
		    !vfence_fence_needs_scan(fence) ||
		    !kref_get_unless_zero(&fence->ref))
			continue;
		rcu_read_unlock();
		vfence_fence_look(fence);
		vfence_fence_put(fence);
		rcu_read_lock();
	}
	rcu_read_unlock();
}

/* What a NULL event of @nodes stands for; faults and submissions may be among it. */
static void scan(struct vfence_adapter *adapter, u32 nodes)
{
	if (adapter->optimized) {
		vfence_count(adapter, VFENCE_COUNT_LOG_SCANS);
		vfence_log_read_nodes(adapter, nodes);
		if (nodes & VGPU_OVERFLOW_UNLOGGED)
			scan_fences(adapter, false);
	} else {
		scan_fences(adapter, false);
	}
	vfence_queue_scan(adapter);
}

/** vfence_irq_settle - all that interrupts leave to be done; process context */
void vfence_irq_settle(struct vfence_adapter *adapter)
{
	u32 nodes;

	/* Who returns from here knows that nothing of it is going on elsewhere. */
	mutex_lock(&adapter->settle_lock);
	vfence_irq_flush(adapter);
	run_deferred(adapter);
	vfence_queue_run_signaled(adapter);
	nodes = atomic_xchg(&adapter->scan_due, 0);
	if (nodes)
		scan(adapter, nodes);
	/* Full barrier, before waiters are counted. Partner: update_monitored_locked(). */
	if (atomic_xchg(&adapter->legacy_scan_due, 0))
		scan_fences(adapter, true);
	/* The optimised form reads one stream of entries: that of who signaled. */
	if (!adapter->optimized)
		vfence_log_read_all(adapter);
	mutex_unlock(&adapter->settle_lock);
}

/**
 * vfence_notify_settle - all that is known of a fence has arrived
 * @fence: the fence
 *
 * Whatever was signaled before the call, by the CPU or on this adapter, and may
 * have been rewound since, has completed whom it concerns. Process context.
 */
void vfence_notify_settle(struct vfence_fence *fence)
{
	struct vfence_adapter *adapter = fence->adapter;

	/* Who signals from the CPU stores first, and completes under this lock. */
	mutex_lock(&adapter->signal_lock);
	mutex_unlock(&adapter->signal_lock);
	vgpu_cmp_flush(adapter->gpu);
	vfence_irq_settle(adapter);
	if (adapter->optimized)
		vfence_log_read_all(adapter);
	/* What the fence remembers for those who wait already. */
	vfence_fence_look(fence);
}

/**
 * vfence_notify_settle_rewinds - let what came before a rewind arrive
 * @fence: the fence, about to get a waiter
 *
 * Interrupts and logs carry values, so that a pulse completes those who waited for
 * it. They must not complete who comes after the rewind: before such a waiter is
 * put on the fence, all that was signaled before is handled. A fence that was not
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

irqreturn_t vfence_irq_thread(int irq, void *data)
{
	vfence_irq_settle(data);
	return IRQ_HANDLED;
}
