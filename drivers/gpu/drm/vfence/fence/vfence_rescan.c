// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rescans: complete the waiters of fences when no interrupt record says which values were
 * signaled, and those that an interrupt has left to its threaded half.
 */

#include <linux/sched.h>

#include "fence/vfence_fence.h"
#include "fence/vfence_propagate.h"
#include "fence/vfence_rescan.h"
#include "fence/vfence_waiter.h"
#include "irq/vfence_irq.h"

/* Most fences that a scan skips in one section with interrupts off. */
#define RESCAN_VISITS	16

/*
 * Propagate the missed signal and the current value to the other adapters. A queue there
 * that began to wait after the time of a signal has read the value by itself.
 */
static void rescan_propagate(struct vfence_fence *fence, const struct vgpu_missed *missed)
{
	u64 now = vgpu_clock_now(fence->adapter->gpu);

	/*
	 * Read the clock before the value: a value that was rewound before then must not
	 * release a queue that began to wait after the rewind.
	 * Partner: the lock in vgpu_fence_block().
	 */
	smp_mb();
	if (missed->value)
		vfence_propagate_signal(fence, missed->value, missed->time);

	vfence_propagate_signal(fence, vfence_fence_current(fence), now);
}

/*
 * Remember the 64-bit value of a 32-bit fence, as the GPU writes 32 bits only. If a CPU
 * signal changes fence->value64 meanwhile, keep it: it is newer than the value read here.
 */
static void rescan_update_wide(struct vfence_fence *fence)
{
	s64 anchor = atomic64_read(&fence->value64);

	atomic64_try_cmpxchg(&fence->value64, &anchor,
			     vfence_widen(anchor, READ_ONCE(*(u32 *)fence->current_value)));
}

/*
 * Take the highest value that no record named, if the hardware remembers one: it may have been
 * rewound since.
 */
static void rescan_take_missed_locked(struct vfence_fence *fence, struct vgpu_missed *missed)
{
	bool signaled = false;

	lockdep_assert_held(&fence->rescan_lock);
	if (fence->hw)
		vgpu_fence_take_missed(fence->hw, missed);
	else if (fence->word)
		signaled = vgpu_word_take(fence->word, missed);
	if (fence->is_32bit) {
		rescan_update_wide(fence);
		if (signaled)
			missed->value = vfence_widen(vfence_fence_current(fence), missed->value);
	}
}

/* Take the value up to which interrupts have left waiters: it must end no wait of a later round. */
static u64 rescan_take_deferred(struct vfence_fence *fence)
{
	unsigned long flags;
	u64 value;

	spin_lock_irqsave(&fence->lock, flags);
	value = fence->deferred_value;
	fence->deferred_value = 0;
	spin_unlock_irqrestore(&fence->lock, flags);
	return value;
}

static void rescan_put_deferred(struct vfence_fence *fence, u64 value)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	fence->deferred_value = max(fence->deferred_value, value);
	spin_unlock_irqrestore(&fence->lock, flags);
}

/*
 * Complete a batch of the waiters up to @missed, up to what interrupts have left, and up to the
 * current value. The thread of the interrupt and the next call complete the rest.
 */
static bool rescan_batch_locked(struct vfence_fence *fence, u64 missed,
				unsigned int *completed)
{
	u64 value = max(rescan_take_deferred(fence), missed);
	unsigned int taken = vfence_waiter_complete_batch(fence, value);

	lockdep_assert_held(&fence->rescan_lock);
	*completed += taken;
	if (taken < VFENCE_WAITER_BATCH)
		return false;
	if (!vfence_waiter_leave(fence, value))
		rescan_put_deferred(fence, value);
	return true;
}

/*
 * Complete a batch of the waiters that interrupts have deferred. The lock serialises callers: on
 * return each earlier caller has completed its batch. It is a spinlock, so that a thread that holds
 * it is not preempted: clients take it that get a processor rarely, and the interrupt's thread
 * waits for it. Return true if waiters may remain, which the interrupt's thread completes, too.
 */
static bool rescan_one_batch(struct vfence_fence *fence, unsigned int *completed)
{
	bool more;

	spin_lock(&fence->rescan_lock);
	more = rescan_batch_locked(fence, 0, completed);
	spin_unlock(&fence->rescan_lock);
	return more;
}

/**
 * vfence_rescan_batch - complete a batch of waiters when no record names the signaled values
 * @fence: the fence
 * @completed: the number of waiters is added to it
 *
 * Otherwise as vfence_rescan_fence().
 *
 * Return: true if there may be more, which the thread of the interrupt completes.
 */
bool vfence_rescan_batch(struct vfence_fence *fence, unsigned int *completed)
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
	rescan_take_missed_locked(fence, &missed);
	more = rescan_batch_locked(fence, missed.value, completed);
	spin_unlock(&fence->rescan_lock);
	if (!linked)
		return more;

	vfence_propagate_noted(fence);
	rescan_propagate(fence, &missed);
	mutex_unlock(&fence->propagate_lock);
	return more;
}

/**
 * vfence_rescan_fence - complete waiters when no record says which values were signaled
 * @fence: the fence
 *
 * Completes the waiters that the current value satisfies, and those that a value satisfied
 * which was rewound since, if the hardware remembers it. Propagates both to the other
 * adapters of a cross-adapter fence. Serialised: on return each missed signal from before
 * the call is handled, even if another thread took it. Process context.
 *
 * Return: number of waiters that this call completed.
 */
unsigned int vfence_rescan_fence(struct vfence_fence *fence)
{
	unsigned int completed = 0;
	bool more = vfence_rescan_batch(fence, &completed);

	while (more) {
		cond_resched();
		more = rescan_one_batch(fence, &completed);
	}
	return completed;
}

/** vfence_rescan_deferred_batch - complete a batch of what interrupts have left; true if more */
bool vfence_rescan_deferred_batch(struct vfence_fence *fence)
{
	unsigned int completed = 0;
	bool more;

	if (!READ_ONCE(fence->linked))
		return rescan_one_batch(fence, &completed);

	mutex_lock(&fence->propagate_lock);
	more = rescan_one_batch(fence, &completed);
	vfence_propagate_noted(fence);
	mutex_unlock(&fence->propagate_lock);
	return more;
}

/**
 * vfence_rescan_deferred - complete what the interrupts of a fence have left
 * @fence: the fence, all signals of which are handled by vfence_irq_catch_up()
 *
 * This does not wait for the waiters of other fences, which the threaded half completes in
 * portions. Process context.
 */
void vfence_rescan_deferred(struct vfence_fence *fence)
{
	while (vfence_rescan_deferred_batch(fence))
		cond_resched();
}

static void rescan_unlist(struct vfence_fence *fence)
{
	struct vfence_fences *fences = &fence->adapter->fences;
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	if (fence->scanned && !vfence_fence_needs_scan(fence)) {
		fence->scanned = false;
		spin_lock(&fences->scan_lock);
		list_del_init(&fence->scan_link);
		spin_unlock(&fences->scan_lock);
	}
	spin_unlock_irqrestore(&fence->lock, flags);
}

/* Take the first fence of @pass back to its list. Return it with a reference, or NULL. */
static struct vfence_fence *rescan_next(struct vfence_adapter *adapter,
					struct list_head *pass)
{
	struct vfence_fences *fences = &adapter->fences;
	struct vfence_fence *fence, *found = NULL;
	unsigned int visits = RESCAN_VISITS;
	unsigned long flags;

	spin_lock_irqsave(&fences->scan_lock, flags);
	while (!found && visits-- && !list_empty(pass)) {
		fence = list_first_entry(pass, struct vfence_fence, scan_link);
		list_move_tail(&fence->scan_link, &fences->scan);
		if (kref_get_unless_zero(&fence->ref))
			found = fence;
	}
	spin_unlock_irqrestore(&fences->scan_lock, flags);

	return found;
}

/* Only the scanning thread adds to @pass; other threads take fences off it under the lock. */
static bool rescan_is_over(struct vfence_adapter *adapter, const struct list_head *pass)
{
	unsigned long flags;
	bool over;

	spin_lock_irqsave(&adapter->fences.scan_lock, flags);
	over = list_empty(pass);
	spin_unlock_irqrestore(&adapter->fences.scan_lock, flags);
	return over;
}

/**
 * vfence_rescan_all - rescan the native fences for which vfence_fence_needs_scan() holds
 * @adapter: the adapter
 *
 * A record was lost, or named none (WDDM-72).
 *
 * A waiter that is added meanwhile either lowers the monitored value, and samples the current
 * value itself, or finds its fence on the list, with a waiter that monitors as low. Both happen
 * under the lock that the rescan takes after the signal: a waiter that comes later sees the value.
 * Called with &vfence_irq.drain_lock held.
 */
void vfence_rescan_all(struct vfence_adapter *adapter)
{
	struct vfence_fences *fences = &adapter->fences;
	struct vfence_fence *fence;
	unsigned int completed = 0;
	unsigned long flags;
	LIST_HEAD(pass);

	lockdep_assert_held(&adapter->irq.drain_lock);

	vfence_count(adapter, VFENCE_COUNT_SCANS);
	spin_lock_irqsave(&fences->scan_lock, flags);
	list_splice_init(&fences->scan, &pass);
	spin_unlock_irqrestore(&fences->scan_lock, flags);

	while (!rescan_is_over(adapter, &pass)) {
		fence = rescan_next(adapter, &pass);
		if (fence) {
			/* What exceeds a portion is left to fence_irq_native_thread(). */
			vfence_rescan_batch(fence, &completed);
			rescan_unlist(fence);
			vfence_fence_put(fence);
		}
		cond_resched();
	}
}
