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
#include "fence/vfence_signal.h"
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
		vfence_cross_adapter_note_locked(fence, value, time);
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

/*
 * Propagate the missed signal and the current value to the other adapters. A queue there
 * that began to wait after the time of a signal has read the value by itself.
 */
static void fence_irq_propagate(struct vfence_fence *fence, const struct vgpu_missed *missed)
{
	u64 now = vgpu_clock_now(fence->adapter->gpu);

	/*
	 * Read the clock before the value: a value that was rewound before then must not
	 * release a queue that began to wait after the rewind.
	 * Partner: the lock in vgpu_fence_block().
	 */
	smp_mb();
	if (missed->value)
		vfence_cross_adapter_propagate(fence, missed->value, missed->time);

	vfence_cross_adapter_propagate(fence, vfence_fence_current(fence), now);
}

/*
 * Remember the 64-bit value of a narrow fence, as the GPU writes 32 bits only. If a CPU
 * signal changes fence->wide meanwhile, keep it: it is newer than the value read here.
 */
static void fence_irq_update_wide(struct vfence_fence *fence)
{
	s64 anchor = atomic64_read(&fence->wide);

	atomic64_try_cmpxchg(&fence->wide, &anchor,
			     vfence_widen(anchor, READ_ONCE(*(u32 *)fence->current_value)));
}

/*
 * Take the highest value that no record named, if the hardware remembers one: it may have been
 * rewound since.
 */
static void fence_irq_take_missed_locked(struct vfence_fence *fence, struct vgpu_missed *missed)
{
	bool signaled = false;

	lockdep_assert_held(&fence->rescan_lock);
	if (fence->hw)
		vgpu_fence_take_missed(fence->hw, missed);
	else if (fence->word)
		signaled = vgpu_word_take(fence->word, missed);
	if (fence->narrow) {
		fence_irq_update_wide(fence);
		if (signaled)
			missed->value = vfence_widen(vfence_fence_current(fence), missed->value);
	}
}

/* Take the value up to which interrupts have left waiters: it must end no wait of a later round. */
static u64 fence_irq_take_deferred(struct vfence_fence *fence)
{
	unsigned long flags;
	u64 value;

	spin_lock_irqsave(&fence->lock, flags);
	value = fence->deferred_value;
	fence->deferred_value = 0;
	spin_unlock_irqrestore(&fence->lock, flags);
	return value;
}

static void fence_irq_put_deferred(struct vfence_fence *fence, u64 value)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	fence->deferred_value = max(fence->deferred_value, value);
	spin_unlock_irqrestore(&fence->lock, flags);
}

/*
 * Complete a batch of the waiters up to @missed, up to what interrupts have left, and up to the
 * current value. The rest is left to the thread of the interrupt, and to who calls this again.
 */
static bool fence_irq_portion_locked(struct vfence_fence *fence, u64 missed,
				     unsigned int *completed)
{
	u64 value = max(fence_irq_take_deferred(fence), missed);
	unsigned int taken = vfence_waiter_complete_batch(fence, value);

	lockdep_assert_held(&fence->rescan_lock);
	*completed += taken;
	if (taken < VFENCE_WAITER_BATCH)
		return false;
	if (!vfence_waiter_leave(fence, value))
		fence_irq_put_deferred(fence, value);
	return true;
}

/*
 * Complete a batch of the waiters that interrupts have deferred. The lock serialises callers: on
 * return each earlier caller has completed its batch. It is a spinlock, so that a thread that holds
 * it is not preempted: clients take it that get a processor rarely, and the interrupt's thread
 * waits for it. Return true if waiters may remain, which the interrupt's thread completes, too.
 */
static bool fence_irq_portion(struct vfence_fence *fence, unsigned int *completed)
{
	bool more;

	spin_lock(&fence->rescan_lock);
	more = fence_irq_portion_locked(fence, 0, completed);
	spin_unlock(&fence->rescan_lock);
	return more;
}

/**
 * vfence_fence_irq_look - complete a batch of waiters when no record names the signaled values
 * @fence: the fence
 * @completed: the number of waiters is added to it
 *
 * Otherwise as vfence_fence_irq_rescan().
 *
 * Return: true if there may be more, which the thread of the interrupt completes.
 */
bool vfence_fence_irq_look(struct vfence_fence *fence, unsigned int *completed)
{
	struct vgpu_missed missed = {};
	bool linked = READ_ONCE(fence->linked);
	bool more;

	/* An INTRA_GPU fence has no CPU waiters. */
	if (!fence->current_value)
		return false;

	if (linked)
		mutex_lock(&fence->propagate_lock);
	spin_lock(&fence->rescan_lock);
	if (!linked && fence->linked) {
		/* Another adapter has joined it meanwhile: what is taken must be propagated. */
		spin_unlock(&fence->rescan_lock);
		mutex_lock(&fence->propagate_lock);
		spin_lock(&fence->rescan_lock);
		linked = true;
	}
	fence_irq_take_missed_locked(fence, &missed);
	more = fence_irq_portion_locked(fence, missed.value, completed);
	spin_unlock(&fence->rescan_lock);
	if (!linked)
		return more;

	vfence_cross_adapter_propagate_noted(fence);
	fence_irq_propagate(fence, &missed);
	mutex_unlock(&fence->propagate_lock);
	return more;
}

/**
 * vfence_fence_irq_rescan - complete waiters when no record says which values were signaled
 * @fence: the fence
 *
 * Completes the waiters that the current value satisfies, and those that a value satisfied
 * which was rewound since, if the hardware remembers it. Propagates both to the other
 * adapters of a cross-adapter fence. Serialised: on return each missed signal from before
 * the call is handled, even if another thread took it. Process context.
 *
 * Return: number of waiters that this call completed.
 */
unsigned int vfence_fence_irq_rescan(struct vfence_fence *fence)
{
	unsigned int completed = 0;
	bool more = vfence_fence_irq_look(fence, &completed);

	while (more) {
		cond_resched();
		more = fence_irq_portion(fence, &completed);
	}
	return completed;
}

/* Complete a portion of what interrupts have left of a fence. Return true if there may be more. */
static bool fence_irq_complete_deferred(struct vfence_fence *fence)
{
	unsigned int completed = 0;
	bool more;

	if (!READ_ONCE(fence->linked))
		return fence_irq_portion(fence, &completed);

	mutex_lock(&fence->propagate_lock);
	more = fence_irq_portion(fence, &completed);
	vfence_cross_adapter_propagate_noted(fence);
	mutex_unlock(&fence->propagate_lock);
	return more;
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
		if (!fence_irq_complete_deferred(fence) && fence_irq_end_deferred(fence))
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
		vfence_fence_scan(adapter);
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

static void fence_irq_look_at(struct vfence_adapter *adapter, u32 global)
{
	struct vfence_fence *fence = vfence_fence_find(adapter, global);
	unsigned int completed = 0;

	/* Nobody waits for a fence without references. */
	if (!fence)
		return;
	/* What exceeds a portion is left to fence_irq_native_thread(). */
	vfence_fence_irq_look(fence, &completed);
	vfence_fence_put(fence);
}

/*
 * Look at the fences that were written: a pass has few of them, as threads of other clients wait
 * for the runs of the threaded half.
 */
static void fence_irq_look_at_written(struct vfence_adapter *adapter)
{
	unsigned int left = FENCE_IRQ_PASS;
	u32 global;

	vfence_count(adapter, VFENCE_COUNT_LEGACY_SCANS);
	while (left && vgpu_word_next_written(adapter->gpu, &global)) {
		fence_irq_look_at(adapter, global);
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

/**
 * vfence_fence_irq_complete - complete what the interrupts of a fence have left
 * @fence: the fence, all signals of which are handled by vfence_irq_catch_up()
 *
 * This does not wait for the waiters of other fences, which the threaded half completes in
 * portions. Process context.
 */
void vfence_fence_irq_complete(struct vfence_fence *fence)
{
	while (fence_irq_complete_deferred(fence))
		cond_resched();
}

/* Handle the records that name the fence. */
static void fence_irq_settle_records(struct vfence_fence *fence)
{
	vgpu_cmp_flush(fence->adapter->gpu);
	vfence_irq_flush(fence->adapter);
}

/**
 * vfence_fence_irq_settle - handle all signals of a fence that are pending
 * @fence: the fence
 *
 * On return each signal before the call, by the CPU or on this adapter, has completed
 * the waits it satisfies, even if its value was rewound since. Process context.
 */
void vfence_fence_irq_settle(struct vfence_fence *fence)
{
	struct vfence_adapter *adapter = fence->adapter;

	vfence_signal_settle(fence);
	if (adapter->optimized)
		vfence_irq_catch_up(adapter);
	else
		fence_irq_settle_records(fence);

	/* What records have left, and up to the highest value that none named. */
	vfence_fence_irq_rescan(fence);
}

/**
 * vfence_fence_irq_settle_rewinds - handle the signals before a rewind
 * @fence: the fence, which is about to get a waiter
 *
 * Call this before a wait is put on a fence. Interrupts and logs carry values, so that a
 * value that was rewound completes the waits that were on the fence. It must not complete
 * a wait that begins after the rewind. If the fence was not rewound since the last call
 * the cost is one comparison. Process context, no lock held.
 */
void vfence_fence_irq_settle_rewinds(struct vfence_fence *fence)
{
	u64 rewinds;

	if (fence->cross) {
		vfence_cross_adapter_settle_rewinds(fence->cross);
		return;
	}

	rewinds = vfence_fence_rewinds(fence);
	if (READ_ONCE(fence->settled) == rewinds)
		return;
	vfence_fence_irq_settle(fence);

	/* Store the count only now, as others skip the settlement by it. Later rewinds differ. */
	WRITE_ONCE(fence->settled, rewinds);
}
