// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Waiters and the monitored value
 *
 * A waiter that is not reached is in a tree of its fence, ordered by value. The monitored
 * value is the least value in the trees minus one.
 *
 * A waiter that comes may lower the monitored value. The store of the lower value is followed by
 * a full barrier and another sample of the current value. An engine stores the current value,
 * passes a full barrier and loads the monitored value. At least one of the two sees the store of
 * the other, so that no wake-up is lost: this is handshake (a) of ordering.rst. A CPU signal does
 * as an engine does, and then completes the waiters by itself instead of sending an interrupt.
 *
 * If the waiter leaves the monitored value as it is, each signal that satisfies it interrupts
 * anyway. If waiters leave, the value rises, but stays below what each remaining waiter waits for.
 * Neither needs another sample.
 *
 * Waiters leave the tree under the fence's lock and are finished without it.
 */

#include <linux/slab.h>

#include "core/vfence_wake.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_waiter.h"
#include "irq/vfence_irq.h"
#include "vfence_race_point.h"

static struct rb_root_cached *waiter_tree(struct vfence_waiter *waiter)
{
	return waiter->wait->gpu ? &waiter->fence->gpu_waiters : &waiter->fence->waiters;
}

static struct vfence_waiter *waiter_first_in_tree(struct rb_root_cached *tree)
{
	return rb_entry_safe(rb_first_cached(tree), struct vfence_waiter, node);
}

/* The least waiter of both trees, or NULL. */
static struct vfence_waiter *waiter_first(struct vfence_fence *fence)
{
	struct vfence_waiter *cpu = waiter_first_in_tree(&fence->waiters);
	struct vfence_waiter *gpu = waiter_first_in_tree(&fence->gpu_waiters);

	if (!cpu || !gpu)
		return cpu ? cpu : gpu;
	return gpu->value < cpu->value ? gpu : cpu;
}

static bool waiter_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vfence_waiter, node)->value <
	       rb_entry(b, struct vfence_waiter, node)->value;
}

/* The monitored value for the waiters that the fence has. */
static u64 waiter_monitored(struct vfence_fence *fence)
{
	struct vfence_waiter *first;

	/* Each signal of a linked fence must reach the other adapters (WDDM-104). */
	if (fence->linked)
		return 0;
	first = waiter_first(fence);
	return first ? vfence_monitored(first->value) : VFENCE_NOT_MONITORED;
}

/*
 * The waiter's side of handshake (a): the virtual GPU stores the monitored value and passes
 * a full barrier, then the caller samples the current value if it has a new waiter. Partners:
 * exec_signal_fence() in hw/vgpu_exec.c loads the value that the GPU stores; signal_batch() loads
 * fence->monitored. The interrupt handler takes fence->lock, too (WDDM-17).
 */
static void waiter_store_monitored_locked(struct vfence_fence *fence, u64 value)
{
	struct vgpu_value_update update = {
		.fence = fence->hw,
		.kernel_va = fence->monitored_value,
		.value = value,
	};

	lockdep_assert_held(&fence->lock);

	trace_vfence_monitored(fence, value);
	WRITE_ONCE(fence->monitored, value);
	if (vgpu_fence_update_monitored_values(fence->adapter->gpu, &update, 1))
		vfence_adapter_lose(fence->adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x12);
}

/*
 * Update the monitored value after a change of a tree. Return true if a signal may have missed
 * a waiter that is new: then sample the current value.
 */
static bool waiter_update_monitored_locked(struct vfence_fence *fence)
{
	u64 before = fence->monitored, value;

	lockdep_assert_held(&fence->lock);

	/*
	 * A monitored fence has no monitored value. Whoever has stored one takes @fence->lock
	 * afterwards, to look at the waiters: who comes later finds the value.
	 */
	if (vfence_fence_is_monitored(fence))
		return true;

	value = waiter_monitored(fence);
	/* fence_destroy() has taken @hw away. */
	if (value == before || !fence->hw)
		return false;

	waiter_store_monitored_locked(fence, value);
	return value < before;
}

static void waiter_unlink_locked(struct vfence_waiter *waiter)
{
	struct vfence_fence *fence = waiter->fence;

	lockdep_assert_held(&fence->lock);

	rb_erase_cached(&waiter->node, waiter_tree(waiter));
	WRITE_ONCE(fence->waiter_count, fence->waiter_count - 1);
	waiter->queued = false;
}

/*
 * Count waiters that were taken off their fence and are not finished. A thread that handles a
 * signal meanwhile does not find them. Partner: event_may_be_late().
 */
static void waiter_count_taken_locked(struct vfence_fence *fence, unsigned int taken)
{
	lockdep_assert_held(&fence->lock);
	if (taken)
		atomic_add(taken, &fence->adapter->fences.taken);
}

/*
 * Move up to @budget waiters that @value satisfies to @done. Return their number: if it is @budget,
 * there may be more, and the monitored value stays as low as it was.
 */
static unsigned int waiter_take_locked(struct vfence_fence *fence, u64 value, unsigned int budget,
				       struct list_head *done)
{
	struct vfence_waiter *waiter;
	unsigned int taken = 0;

	lockdep_assert_held(&fence->lock);

	while (taken < budget && (waiter = waiter_first(fence)) &&
	       vfence_reached(value, waiter->value)) {
		trace_vfence_waiter(waiter, VFENCE_WAITER_REACHED, value);
		waiter_unlink_locked(waiter);
		list_add_tail(&waiter->link, done);
		taken++;
	}
	fence->woken += taken;
	waiter_count_taken_locked(fence, taken);
	if (taken < budget)
		waiter_update_monitored_locked(fence);
	return taken;
}

/*
 * A queue's wait for a fence that no client can signal any more counts as reached. It
 * fails after an unplug.
 */
static bool waiter_error_satisfies(const struct vfence_wait *wait, int error)
{
	return wait->gpu && error != -ENODEV;
}

/** vfence_waiter_is_due_locked - true if a signal of @value satisfies a waiter of the fence */
bool vfence_waiter_is_due_locked(struct vfence_fence *fence, u64 value)
{
	struct vfence_waiter *first = waiter_first(fence);

	lockdep_assert_held(&fence->lock);

	return first && vfence_reached(max(value, vfence_fence_current(fence)), first->value);
}

/* Count a taken waiter for its wait, with @error or as reached, and put its reference. */
static void waiter_finish(struct vfence_waiter *waiter, int error)
{
	struct vfence_wait *wait = waiter->wait;

	if (error && waiter_error_satisfies(wait, error))
		error = 0;

	if (wait->finish) {
		wait->finish(waiter, error);
	} else if (error) {
		WRITE_ONCE(wait->error, error);
		vfence_wait_finish(wait, VFENCE_WAIT_FAILED);
	} else {
		atomic_cmpxchg(&wait->first, -1, waiter - wait->waiters);
		if (atomic_dec_return(&wait->pending) == 0)
			vfence_wait_finish(wait, VFENCE_WAIT_REACHED);
	}
	vfence_wait_put(wait);
}

/**
 * vfence_waiter_finish_all - finish waiters that were taken
 * @done: list of the waiters, from vfence_waiter_take()
 * @error: 0 if the waiters are reached, or the error of their waits
 *
 * Any context, no lock held, between vfence_wake_begin() and vfence_wake_end().
 */
void vfence_waiter_finish_all(struct list_head *done, int error)
{
	struct vfence_adapter *adapter = NULL;
	struct vfence_waiter *waiter, *next;
	unsigned int finished = 0;

	vfence_wake_assert();
	list_for_each_entry_safe(waiter, next, done, link) {
		adapter = waiter->wait->adapter;
		waiter_finish(waiter, error);
		finished++;
	}
	/* Release: their waits know. */
	if (finished)
		(void)atomic_sub_return_release(finished, &adapter->fences.taken);
}

/**
 * vfence_waiter_take - take the waiters that a signaled value satisfies
 * @fence: the fence
 * @value: the signaled value, which may have been rewound meanwhile
 * @budget: maximal number of waiters to take, at least 1
 * @done: list to which the waiters are added, for vfence_waiter_finish_all()
 *
 * Any context, after vfence_wake_begin().
 *
 * Return: number of waiters taken; if it is @budget, there may be more.
 */
unsigned int vfence_waiter_take(struct vfence_fence *fence, u64 value, unsigned int budget,
				struct list_head *done)
{
	unsigned long flags;
	unsigned int taken;

	spin_lock_irqsave(&fence->lock, flags);
	taken = waiter_take_locked(fence, max(value, vfence_fence_current(fence)), budget, done);
	spin_unlock_irqrestore(&fence->lock, flags);

	return taken;
}

/**
 * vfence_waiter_complete_batch - complete a batch of the waiters that a signaled value satisfies
 * @fence: the fence
 * @value: the signaled value, which may have been rewound meanwhile
 *
 * Process context.
 *
 * Return: number of waiters completed; if it is %VFENCE_WAITER_BATCH, there may be more.
 */
unsigned int vfence_waiter_complete_batch(struct vfence_fence *fence, u64 value)
{
	unsigned int taken;
	LIST_HEAD(done);

	vfence_wake_begin();
	taken = vfence_waiter_take(fence, value, VFENCE_WAITER_BATCH, &done);
	vfence_waiter_finish_all(&done, 0);
	vfence_wake_end();
	return taken;
}

/**
 * vfence_waiter_complete - complete all waiters that a signaled value satisfies
 * @fence: the fence
 * @value: the signaled value
 *
 * Works in batches, so that interrupts are not off for long. Process context.
 *
 * Return: number of waiters completed.
 */
unsigned int vfence_waiter_complete(struct vfence_fence *fence, u64 value)
{
	unsigned int taken, total = 0;

	do {
		taken = vfence_waiter_complete_batch(fence, value);
		total += taken;
		cond_resched();
	} while (taken == VFENCE_WAITER_BATCH);

	return total;
}

/**
 * vfence_waiter_defer_locked - leave the waiters of a fence to the threaded half of the interrupt
 * @fence: the fence, locked; the adapter's &vfence_irq.lock is held, too
 * @value: the value up to which they are complete
 *
 * The threaded half has a reference until then. Its caller lets it run.
 */
void vfence_waiter_defer_locked(struct vfence_fence *fence, u64 value)
{
	struct vfence_adapter *adapter = fence->adapter;

	lockdep_assert_held(&fence->lock);
	lockdep_assert_held(&adapter->irq.lock);

	fence->deferred_value = max(fence->deferred_value, value);
	/* A fence without references is being destroyed, which ends its waits. */
	if (!fence->deferred && kref_get_unless_zero(&fence->ref)) {
		fence->deferred = true;
		llist_add(&fence->deferred_node, &adapter->fences.deferred);
	}
}

/* What a signal has satisfied beyond the first portion. */
struct waiter_rest {
	struct vfence_fence *fence;
	u64 value;
};

static void waiter_leave_rest(const void *arg)
{
	const struct waiter_rest *rest = arg;
	unsigned long flags;

	spin_lock_irqsave(&rest->fence->lock, flags);
	vfence_waiter_defer_locked(rest->fence, rest->value);
	spin_unlock_irqrestore(&rest->fence->lock, flags);
}

/**
 * vfence_waiter_leave - leave waiters to the thread of the interrupt
 * @fence: the fence
 * @value: the value up to which they are complete
 *
 * Process context.
 *
 * Return: false if there is no such thread any more.
 */
bool vfence_waiter_leave(struct vfence_fence *fence, u64 value)
{
	const struct waiter_rest rest = { .fence = fence, .value = value };

	return vfence_irq_leave(fence->adapter, waiter_leave_rest, &rest);
}

static bool waiter_list_has(const struct list_head *done, const struct vfence_file *client)
{
	const struct vfence_waiter *waiter;

	list_for_each_entry(waiter, done, link)
		if (waiter->wait->client == client)
			return true;
	return false;
}

/**
 * vfence_waiter_signaled - complete the first waiters that the signal of a call satisfies
 * @fence: the fence
 * @value: the signaled value
 * @caller: client that signals
 *
 * Anybody who may wait for a fence can add waiters to it, which must not take the signaler's time.
 * A caller completes one portion, and goes on while there are waits of its own in it. The thread of
 * the interrupt completes the rest. Process context.
 */
void vfence_waiter_signaled(struct vfence_fence *fence, u64 value, const struct vfence_file *caller)
{
	unsigned int taken;
	bool ended;

	do {
		LIST_HEAD(done);

		vfence_wake_begin();
		taken = vfence_waiter_take(fence, value, VFENCE_WAITER_BATCH, &done);
		ended = taken < VFENCE_WAITER_BATCH ||
			(!waiter_list_has(&done, caller) && vfence_waiter_leave(fence, value));
		vfence_hold_in_wake(TAKEN);
		vfence_waiter_finish_all(&done, 0);
		vfence_wake_end();
		cond_resched();
	} while (!ended);
}

/* Move up to a batch of waiters to @done: all waiters, or CPU waits only if not @gpu. */
static unsigned int waiter_take_ended_locked(struct vfence_fence *fence, bool gpu,
					     struct list_head *done)
{
	struct vfence_waiter *waiter;
	unsigned int taken = 0;

	lockdep_assert_held(&fence->lock);

	while (taken < VFENCE_WAITER_BATCH &&
	       (waiter = gpu ? waiter_first(fence) : waiter_first_in_tree(&fence->waiters))) {
		trace_vfence_waiter(waiter, VFENCE_WAITER_ENDED, 0);
		waiter_unlink_locked(waiter);
		list_add_tail(&waiter->link, done);
		taken++;
	}
	fence->woken += taken;
	waiter_count_taken_locked(fence, taken);
	return taken;
}

/*
 * Take a batch of the waiters that end. While waiters remain, new CPU waits fail with ECANCELED, so
 * that clients that add waits cannot keep the caller busy. Return true if waiters may remain.
 */
static bool waiter_take_ending(struct vfence_fence *fence, bool gpu, int new_error, bool ending,
			       struct list_head *done)
{
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&fence->lock, flags);
	if (new_error && !fence->error)
		WRITE_ONCE(fence->error, new_error);
	more = waiter_take_ended_locked(fence, gpu, done) == VFENCE_WAITER_BATCH;
	waiter_update_monitored_locked(fence);
	fence->ending += more;
	fence->ending -= ending;
	spin_unlock_irqrestore(&fence->lock, flags);

	return more;
}

/*
 * End all waits with @error, or CPU waits only if not @gpu. If @new_error is not 0, new
 * waits return it, or the first such error. Complete reached waiters first, so that they do not
 * fail.
 */
static void waiter_end_waits(struct vfence_fence *fence, int error, int new_error, bool gpu)
{
	bool more = false;

	if (fence->current_value)
		vfence_waiter_complete(fence, READ_ONCE(fence->deferred_value));

	do {
		LIST_HEAD(done);

		vfence_wake_begin();
		more = waiter_take_ending(fence, gpu, new_error, more, &done);
		vfence_waiter_finish_all(&done, error);
		vfence_wake_end();
		if (more)
			vfence_hold(ENDING);
		cond_resched();
	} while (more);
}

/**
 * vfence_waiter_fail_all - fail all waits of a fence, and refuse new ones
 * @fence: the fence
 * @error: error that present and new waits return
 */
void vfence_waiter_fail_all(struct vfence_fence *fence, int error)
{
	waiter_end_waits(fence, error, error, true);
}

/** vfence_waiter_cancel_all - end the present CPU waits with ECANCELED; process context */
void vfence_waiter_cancel_all(struct vfence_fence *fence)
{
	waiter_end_waits(fence, -ECANCELED, 0, false);
}

/*
 * Take the waiters that a signal has reached before it could see their monitored value. No
 * interrupt has reported them. Return their number, for waiter_finish_sampled().
 */
static unsigned int waiter_sample_locked(struct vfence_fence *fence, struct list_head *done)
{
	vfence_race_point(SECOND_SAMPLE);
	return waiter_take_locked(fence, vfence_fence_current(fence), VFENCE_WAITER_BATCH, done);
}

/*
 * Finish the waiters that waiter_sample_locked() has taken after vfence_wake_begin(), which ends
 * here, and all that it has not.
 */
static unsigned int waiter_finish_sampled(struct vfence_fence *fence, unsigned int taken,
					  struct list_head *done)
{
	vfence_waiter_finish_all(done, 0);
	vfence_wake_end();
	if (taken < VFENCE_WAITER_BATCH)
		return taken;
	cond_resched();
	return taken + vfence_waiter_complete(fence, 0);
}

/**
 * vfence_waiter_link - let each signal of a fence interrupt from now on (WDDM-104)
 * @fence: the first member of a cross-adapter fence that another adapter joins
 *
 * The caller returns the new member to its client afterwards. Handshake (a): store the
 * monitored value, then sample the current value. A signal that compared with the old
 * monitored value is found by this sample, and by each wait on the new member, as both members
 * share the current value. A later signal interrupts and is propagated. Process context.
 */
void vfence_waiter_link(struct vfence_fence *fence)
{
	unsigned int taken = 0;
	unsigned long flags;
	LIST_HEAD(done);

	/* Who takes a value that no record named finds it linked: then it propagates the value. */
	spin_lock(&fence->rescan_lock);
	spin_lock_irqsave(&fence->lock, flags);
	WRITE_ONCE(fence->linked, true);
	vfence_fence_list_for_scan_locked(fence);
	if (waiter_update_monitored_locked(fence))
		taken = waiter_sample_locked(fence, &done);
	/* The locks have kept the processor so far. */
	vfence_wake_begin();
	spin_unlock_irqrestore(&fence->lock, flags);
	spin_unlock(&fence->rescan_lock);

	waiter_finish_sampled(fence, taken, &done);
}

/*
 * Put a waiter on its fence, unless it is reached or the fence has failed. Return 1 if the
 * waiter is on its fence, 0 if it was reached, or a negative error.
 */
static int waiter_queue_locked(struct vfence_waiter *waiter)
{
	struct vfence_fence *fence = waiter->fence;

	lockdep_assert_held(&fence->lock);
	if (vfence_reached(vfence_fence_current(fence), waiter->value))
		return 0;
	if (fence->error)
		return fence->error;
	if (fence->ending && !waiter->wait->gpu)
		return -ECANCELED;
	if (READ_ONCE(fence->adapter->lost))
		return -EIO;
	vfence_race_point(WAITER_INSERT);

	/* The tree has a reference; waiter_finish() or vfence_waiter_disarm() puts it. */
	kref_get(&waiter->wait->ref);
	rb_add_cached(&waiter->node, waiter_tree(waiter), waiter_less);
	waiter->queued = true;
	WRITE_ONCE(fence->waiter_count, fence->waiter_count + 1);
	vfence_fence_list_for_scan_locked(fence);
	trace_vfence_waiter(waiter, VFENCE_WAITER_ARMED, 0);
	return 1;
}

/**
 * vfence_waiter_arm - put a waiter on its fence
 * @waiter: the waiter, which is on no fence
 *
 * A waiter that is reached is finished at once. An unplug fails all fences, so that a waiter that
 * comes later finds the error of its fence. A value that was rewound before must not complete the
 * waiter: see vfence_drain_and_arm(). Process context.
 *
 * Return: 0, or the error of a fence that takes no waiters: then the waiter is not finished.
 */
int vfence_waiter_arm(struct vfence_waiter *waiter)
{
	struct vfence_fence *fence = waiter->fence;
	unsigned int taken = 0;
	unsigned long flags;
	LIST_HEAD(done);
	int ret;

	spin_lock_irqsave(&fence->lock, flags);
	ret = waiter_queue_locked(waiter);
	/* Handshake (a): store the monitored value, sample the current value. */
	if (ret > 0 && waiter_update_monitored_locked(fence))
		taken = waiter_sample_locked(fence, &done);
	/* The lock has kept the processor so far. Most waiters find none. */
	if (taken)
		vfence_wake_begin();
	spin_unlock_irqrestore(&fence->lock, flags);

	if (ret < 0 && !waiter_error_satisfies(waiter->wait, ret))
		return ret;

	if (ret <= 0) {
		kref_get(&waiter->wait->ref);
		waiter_finish(waiter, 0);
		return 0;
	}

	/* The waiter may be among them, and its wait may end. */
	if (taken) {
		taken = waiter_finish_sampled(fence, taken, &done);
		vfence_count_add(fence->adapter, VFENCE_COUNT_SECOND_SAMPLE, taken);
	}
	return 0;
}

/**
 * vfence_waiter_disarm - take a waiter off its fence
 * @waiter: the waiter
 *
 * Return: true if the waiter was on its fence; else it has been taken, and is finished or will be
 * finished by the thread that has taken it.
 */
bool vfence_waiter_disarm(struct vfence_waiter *waiter)
{
	struct vfence_fence *fence = waiter->fence;
	unsigned long flags;
	bool queued;

	vfence_race_point(WAITER_REMOVE);
	spin_lock_irqsave(&fence->lock, flags);
	queued = waiter->queued;
	if (queued) {
		trace_vfence_waiter(waiter, VFENCE_WAITER_DISARMED, 0);
		waiter_unlink_locked(waiter);
		waiter_update_monitored_locked(fence);
	}
	spin_unlock_irqrestore(&fence->lock, flags);

	if (queued)
		vfence_wait_put(waiter->wait);
	return queued;
}

/**
 * vfence_waiter_disarm_all - take a wait's waiters off their fences
 * @wait: the decided wait: waiters that are finished meanwhile do not change it
 */
void vfence_waiter_disarm_all(struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++) {
		vfence_waiter_disarm(&wait->waiters[i]);
		cond_resched();
	}
}
