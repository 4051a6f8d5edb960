// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Waiters and the monitored value
 *
 * A point that is not reached is in a tree of its fence, ordered by value. The monitored
 * value is the least value in the trees minus one.
 *
 * A point that comes may lower the monitored value. The store of the lower value is followed by
 * a full barrier and another sample of the current value. An engine stores the current value,
 * passes a full barrier and loads the monitored value. At least one of the two sees the store of
 * the other, so that no wake-up is lost: this is handshake (a) of ordering.rst. A CPU signal does
 * as an engine does, and then completes the points by itself instead of sending an interrupt.
 *
 * If the point leaves the monitored value as it is, each signal that satisfies it interrupts
 * anyway. If points leave, the value rises, but stays below what each remaining point waits for.
 * Neither needs another sample.
 *
 * Points leave the tree under the fence's lock and are finished without it.
 */

#include <linux/slab.h>

#include "core/vfence_wake.h"
#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_irq.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_point.h"
#include "fence/vfence_wait.h"
#include "irq/vfence_irq.h"
#include "vfence_race_point.h"

static struct rb_root_cached *point_tree(struct vfence_point *point)
{
	return point->wait->gpu ? &point->fence->gpu_waiters : &point->fence->waiters;
}

static struct vfence_point *point_first_in_tree(struct rb_root_cached *tree)
{
	return rb_entry_safe(rb_first_cached(tree), struct vfence_point, node);
}

/* The least point of both trees, or NULL. */
static struct vfence_point *point_first(struct vfence_fence *fence)
{
	struct vfence_point *cpu = point_first_in_tree(&fence->waiters);
	struct vfence_point *gpu = point_first_in_tree(&fence->gpu_waiters);

	if (!cpu || !gpu)
		return cpu ? cpu : gpu;
	return gpu->value < cpu->value ? gpu : cpu;
}

static bool point_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vfence_point, node)->value <
	       rb_entry(b, struct vfence_point, node)->value;
}

/* The monitored value for the points that the fence has. */
static u64 point_monitored(struct vfence_fence *fence)
{
	struct vfence_point *first;

	/* Each signal of a linked fence must reach the other adapters (WDDM-104). */
	if (fence->linked)
		return 0;
	first = point_first(fence);
	return first ? vfence_monitored(first->value) : VFENCE_NOT_MONITORED;
}

/*
 * The waiter's side of handshake (a): the virtual GPU stores the monitored value and passes
 * a full barrier, then the caller samples the current value if it has a new point. Partners:
 * exec_signal_fence() in hw/vgpu_exec.c loads the value that the GPU stores; signal_batch() loads
 * fence->monitored. The interrupt handler takes fence->lock, too (WDDM-17).
 */
static void point_store_monitored_locked(struct vfence_fence *fence, u64 value)
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
 * a point that is new: then sample the current value.
 */
static bool point_update_monitored_locked(struct vfence_fence *fence)
{
	u64 before = fence->monitored, value;

	lockdep_assert_held(&fence->lock);

	/*
	 * A monitored fence has no monitored value. Whoever has stored one takes @fence->lock
	 * afterwards, to look at the waiters: who comes later finds the value.
	 */
	if (vfence_fence_is_monitored(fence))
		return true;

	value = point_monitored(fence);
	/* fence_destroy() has taken @hw away. */
	if (value == before || !fence->hw)
		return false;

	point_store_monitored_locked(fence, value);
	return value < before;
}

static void point_unlink_locked(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;

	lockdep_assert_held(&fence->lock);

	rb_erase_cached(&point->node, point_tree(point));
	WRITE_ONCE(fence->waiter_count, fence->waiter_count - 1);
	point->queued = false;
}

/*
 * Points are on no fence any more, and their waits do not know yet. Whoever handles a signal after
 * that finds none of them. Partner: event_may_be_late().
 */
static void point_count_taken_locked(struct vfence_fence *fence, unsigned int taken)
{
	lockdep_assert_held(&fence->lock);
	if (taken)
		atomic_add(taken, &fence->adapter->fences.taken);
}

/*
 * Move up to @budget points that @value satisfies to @done. Return their number: if it is @budget,
 * there may be more, and the monitored value stays as low as it was.
 */
static unsigned int point_take_locked(struct vfence_fence *fence, u64 value, unsigned int budget,
				      struct list_head *done)
{
	struct vfence_point *point;
	unsigned int taken = 0;

	lockdep_assert_held(&fence->lock);

	while (taken < budget && (point = point_first(fence)) &&
	       vfence_reached(value, point->value)) {
		trace_vfence_point(point, VFENCE_POINT_REACHED, value);
		point_unlink_locked(point);
		list_add_tail(&point->link, done);
		taken++;
	}
	fence->woken += taken;
	point_count_taken_locked(fence, taken);
	if (taken < budget)
		point_update_monitored_locked(fence);
	return taken;
}

/*
 * A queue's wait for a fence that no client can signal any more counts as reached. It
 * fails after an unplug.
 */
static bool point_error_satisfies(const struct vfence_wait *wait, int error)
{
	return wait->gpu && error != -ENODEV;
}

/** vfence_point_is_due_locked - true if a signal of @value satisfies a point of the fence */
bool vfence_point_is_due_locked(struct vfence_fence *fence, u64 value)
{
	struct vfence_point *first = point_first(fence);

	lockdep_assert_held(&fence->lock);

	return first && vfence_reached(max(value, vfence_fence_current(fence)), first->value);
}

/* Count a taken point for its wait, with @error or as reached, and put its reference. */
static void point_finish(struct vfence_point *point, int error)
{
	struct vfence_wait *wait = point->wait;

	if (error && point_error_satisfies(wait, error))
		error = 0;

	if (wait->finish) {
		wait->finish(point, error);
	} else if (error) {
		WRITE_ONCE(wait->error, error);
		vfence_wait_finish(wait, VFENCE_WAIT_FAILED);
	} else {
		atomic_cmpxchg(&wait->first, -1, point - wait->points);
		if (atomic_dec_return(&wait->pending) == 0)
			vfence_wait_finish(wait, VFENCE_WAIT_REACHED);
	}
	vfence_wait_put(wait);
}

/**
 * vfence_point_finish_all - finish points that were taken
 * @done: list of the points, from vfence_point_take()
 * @error: 0 if the points are reached, or the error of their waits
 *
 * Any context, no lock held, between vfence_wake_begin() and vfence_wake_end().
 */
void vfence_point_finish_all(struct list_head *done, int error)
{
	struct vfence_adapter *adapter = NULL;
	struct vfence_point *point, *next;
	unsigned int finished = 0;

	vfence_wake_assert();
	list_for_each_entry_safe(point, next, done, link) {
		adapter = point->wait->adapter;
		point_finish(point, error);
		finished++;
	}
	/* Release: their waits know. */
	if (finished)
		(void)atomic_sub_return_release(finished, &adapter->fences.taken);
}

/**
 * vfence_point_take - take the points that a signaled value satisfies
 * @fence: the fence
 * @value: the signaled value, which may have been rewound meanwhile
 * @budget: maximal number of points to take, at least 1
 * @done: list to which the points are added, for vfence_point_finish_all()
 *
 * Any context, after vfence_wake_begin().
 *
 * Return: number of points taken; if it is @budget, there may be more.
 */
unsigned int vfence_point_take(struct vfence_fence *fence, u64 value, unsigned int budget,
			       struct list_head *done)
{
	unsigned long flags;
	unsigned int taken;

	spin_lock_irqsave(&fence->lock, flags);
	taken = point_take_locked(fence, max(value, vfence_fence_current(fence)), budget, done);
	spin_unlock_irqrestore(&fence->lock, flags);

	return taken;
}

/**
 * vfence_point_complete_batch - complete a batch of the points that a signaled value satisfies
 * @fence: the fence
 * @value: the signaled value, which may have been rewound meanwhile
 *
 * Process context.
 *
 * Return: number of points completed; if it is %VFENCE_POINT_BATCH, there may be more.
 */
unsigned int vfence_point_complete_batch(struct vfence_fence *fence, u64 value)
{
	unsigned int taken;
	LIST_HEAD(done);

	vfence_wake_begin();
	taken = vfence_point_take(fence, value, VFENCE_POINT_BATCH, &done);
	vfence_point_finish_all(&done, 0);
	vfence_wake_end();
	return taken;
}

/**
 * vfence_point_complete - complete all points that a signaled value satisfies
 * @fence: the fence
 * @value: the signaled value
 *
 * Works in batches, so that interrupts are not off for long. Process context.
 *
 * Return: number of points completed.
 */
unsigned int vfence_point_complete(struct vfence_fence *fence, u64 value)
{
	unsigned int taken, total = 0;

	do {
		taken = vfence_point_complete_batch(fence, value);
		total += taken;
		cond_resched();
	} while (taken == VFENCE_POINT_BATCH);

	return total;
}

/**
 * vfence_point_defer_locked - leave the points of a fence to the threaded half of the interrupt
 * @fence: the fence, locked; the adapter's &vfence_irq.lock is held, too
 * @value: the value up to which they are complete
 *
 * The threaded half has a reference until then. Its caller lets it run.
 */
void vfence_point_defer_locked(struct vfence_fence *fence, u64 value)
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
struct point_rest {
	struct vfence_fence *fence;
	u64 value;
};

static void point_leave_rest(const void *arg)
{
	const struct point_rest *rest = arg;
	unsigned long flags;

	spin_lock_irqsave(&rest->fence->lock, flags);
	vfence_point_defer_locked(rest->fence, rest->value);
	spin_unlock_irqrestore(&rest->fence->lock, flags);
}

/**
 * vfence_point_leave - leave points to the thread of the interrupt
 * @fence: the fence
 * @value: the value up to which they are complete
 *
 * Process context.
 *
 * Return: false if there is no such thread any more.
 */
bool vfence_point_leave(struct vfence_fence *fence, u64 value)
{
	const struct point_rest rest = { .fence = fence, .value = value };

	return vfence_irq_leave(fence->adapter, point_leave_rest, &rest);
}

static bool point_list_has(const struct list_head *done, const struct vfence_file *client)
{
	const struct vfence_point *point;

	list_for_each_entry(point, done, link)
		if (point->wait->client == client)
			return true;
	return false;
}

/**
 * vfence_point_signaled - complete the first points that the signal of a call satisfies
 * @fence: the fence
 * @value: the signaled value
 * @caller: client that signals
 *
 * Anybody who may wait for a fence can add points to it, which must not take the signaler's time.
 * A caller completes one portion, and goes on while there are waits of its own in it. The thread of
 * the interrupt completes the rest. Process context.
 */
void vfence_point_signaled(struct vfence_fence *fence, u64 value, const struct vfence_file *caller)
{
	unsigned int taken;
	bool ended;

	do {
		LIST_HEAD(done);

		vfence_wake_begin();
		taken = vfence_point_take(fence, value, VFENCE_POINT_BATCH, &done);
		ended = taken < VFENCE_POINT_BATCH ||
			(!point_list_has(&done, caller) && vfence_point_leave(fence, value));
		vfence_hold_in_wake(TAKEN);
		vfence_point_finish_all(&done, 0);
		vfence_wake_end();
		cond_resched();
	} while (!ended);
}

/* Move up to a batch of points to @done: all points, or CPU waits only if not @gpu. */
static unsigned int point_take_ended_locked(struct vfence_fence *fence, bool gpu,
					    struct list_head *done)
{
	struct vfence_point *point;
	unsigned int taken = 0;

	lockdep_assert_held(&fence->lock);

	while (taken < VFENCE_POINT_BATCH &&
	       (point = gpu ? point_first(fence) : point_first_in_tree(&fence->waiters))) {
		trace_vfence_point(point, VFENCE_POINT_ENDED, 0);
		point_unlink_locked(point);
		list_add_tail(&point->link, done);
		taken++;
	}
	fence->woken += taken;
	point_count_taken_locked(fence, taken);
	return taken;
}

/*
 * Take a batch of the points that end. While points remain, new CPU waits fail with ECANCELED, so
 * that clients that add waits cannot keep the caller busy. Return true if points may remain.
 */
static bool point_take_ending(struct vfence_fence *fence, bool gpu, int new_error, bool ending,
			      struct list_head *done)
{
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&fence->lock, flags);
	if (new_error && !fence->error)
		WRITE_ONCE(fence->error, new_error);
	more = point_take_ended_locked(fence, gpu, done) == VFENCE_POINT_BATCH;
	point_update_monitored_locked(fence);
	fence->ending += more;
	fence->ending -= ending;
	spin_unlock_irqrestore(&fence->lock, flags);

	return more;
}

/*
 * End all waits with @error, or CPU waits only if not @gpu. If @new_error is not 0, new
 * waits return it, or the first such error. Complete reached points first, so that they do not
 * fail.
 */
static void point_end_waits(struct vfence_fence *fence, int error, int new_error, bool gpu)
{
	bool more = false;

	if (fence->current_value)
		vfence_point_complete(fence, READ_ONCE(fence->deferred_value));

	do {
		LIST_HEAD(done);

		vfence_wake_begin();
		more = point_take_ending(fence, gpu, new_error, more, &done);
		vfence_point_finish_all(&done, error);
		vfence_wake_end();
		if (more)
			vfence_hold(ENDING);
		cond_resched();
	} while (more);
}

/**
 * vfence_point_fail_all - fail all waits of a fence, and refuse new ones
 * @fence: the fence
 * @error: error that present and new waits return
 */
void vfence_point_fail_all(struct vfence_fence *fence, int error)
{
	point_end_waits(fence, error, error, true);
}

/** vfence_point_cancel_all - end the present CPU waits with ECANCELED; process context */
void vfence_point_cancel_all(struct vfence_fence *fence)
{
	point_end_waits(fence, -ECANCELED, 0, false);
}

/*
 * Take the points that a signal has reached before it could see their monitored value. No
 * interrupt has reported them. Return their number, for point_finish_sampled().
 */
static unsigned int point_sample_locked(struct vfence_fence *fence, struct list_head *done)
{
	vfence_race_point(SECOND_SAMPLE);
	return point_take_locked(fence, vfence_fence_current(fence), VFENCE_POINT_BATCH, done);
}

/*
 * Finish the points that point_sample_locked() has taken after vfence_wake_begin(), which ends
 * here, and all that it has not.
 */
static unsigned int point_finish_sampled(struct vfence_fence *fence, unsigned int taken,
					 struct list_head *done)
{
	vfence_point_finish_all(done, 0);
	vfence_wake_end();
	if (taken < VFENCE_POINT_BATCH)
		return taken;
	cond_resched();
	return taken + vfence_point_complete(fence, 0);
}

/**
 * vfence_point_link - let each signal of a fence interrupt from now on (WDDM-104)
 * @fence: the first member of a cross-adapter fence that another adapter joins
 *
 * The caller returns the new member to its client afterwards. Handshake (a): store the
 * monitored value, then sample the current value. A signal that compared with the old
 * monitored value is found by this sample, and by each wait on the new member, as both members
 * share the current value. A later signal interrupts and is propagated. Process context.
 */
void vfence_point_link(struct vfence_fence *fence)
{
	unsigned int taken = 0;
	unsigned long flags;
	LIST_HEAD(done);

	/* Who takes a value that no record named finds it linked: then it propagates the value. */
	spin_lock(&fence->rescan_lock);
	spin_lock_irqsave(&fence->lock, flags);
	WRITE_ONCE(fence->linked, true);
	vfence_fence_list_for_scan_locked(fence);
	if (point_update_monitored_locked(fence))
		taken = point_sample_locked(fence, &done);
	/* The locks have kept the processor so far. */
	vfence_wake_begin();
	spin_unlock_irqrestore(&fence->lock, flags);
	spin_unlock(&fence->rescan_lock);

	point_finish_sampled(fence, taken, &done);
}

/*
 * Put a point on its fence, unless it is reached or the fence has failed. Return 1 if the
 * point is on its fence, 0 if it was reached, or a negative error.
 */
static int point_queue_locked(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;

	lockdep_assert_held(&fence->lock);
	if (vfence_reached(vfence_fence_current(fence), point->value))
		return 0;
	if (fence->error)
		return fence->error;
	if (fence->ending && !point->wait->gpu)
		return -ECANCELED;
	if (READ_ONCE(fence->adapter->lost))
		return -EIO;
	vfence_race_point(WAITER_INSERT);

	/* The tree has a reference; point_finish() or vfence_point_disarm() puts it. */
	kref_get(&point->wait->ref);
	rb_add_cached(&point->node, point_tree(point), point_less);
	point->queued = true;
	WRITE_ONCE(fence->waiter_count, fence->waiter_count + 1);
	vfence_fence_list_for_scan_locked(fence);
	trace_vfence_point(point, VFENCE_POINT_ARMED, 0);
	return 1;
}

/**
 * vfence_point_arm - put a point on its fence
 * @point: the point, which is on no fence
 *
 * A point that is reached is finished at once. An unplug fails all fences, so that a point that
 * comes later finds the error of its fence. Process context.
 *
 * Return: 0, or the error of a fence that takes no points: then the point is not finished.
 */
int vfence_point_arm(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;
	unsigned int taken = 0;
	unsigned long flags;
	LIST_HEAD(done);
	int ret;

	vfence_fence_irq_settle_rewinds(fence);
	spin_lock_irqsave(&fence->lock, flags);
	ret = point_queue_locked(point);
	/* Handshake (a): store the monitored value, sample the current value. */
	if (ret > 0 && point_update_monitored_locked(fence))
		taken = point_sample_locked(fence, &done);
	/* The lock has kept the processor so far. Most points find none. */
	if (taken)
		vfence_wake_begin();
	spin_unlock_irqrestore(&fence->lock, flags);

	if (ret < 0 && !point_error_satisfies(point->wait, ret))
		return ret;

	if (ret <= 0) {
		kref_get(&point->wait->ref);
		point_finish(point, 0);
		return 0;
	}

	/* The point may be among them, and its wait may end. */
	if (taken) {
		taken = point_finish_sampled(fence, taken, &done);
		vfence_count_add(fence->adapter, VFENCE_COUNT_SECOND_SAMPLE, taken);
	}
	return 0;
}

/**
 * vfence_point_disarm - take a point off its fence
 * @point: the point
 *
 * Return: true if the point was on its fence; else it has been taken, and is finished or will be
 * finished by the thread that has taken it.
 */
bool vfence_point_disarm(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;
	unsigned long flags;
	bool queued;

	vfence_race_point(WAITER_REMOVE);
	spin_lock_irqsave(&fence->lock, flags);
	queued = point->queued;
	if (queued) {
		trace_vfence_point(point, VFENCE_POINT_DISARMED, 0);
		point_unlink_locked(point);
		point_update_monitored_locked(fence);
	}
	spin_unlock_irqrestore(&fence->lock, flags);

	if (queued)
		vfence_wait_put(point->wait);
	return queued;
}

static void point_arm_until_decided(struct vfence_wait *wait)
{
	unsigned int i;
	int ret = 0;

	/* Stop once the wait is decided: one reached point decides a wait for any. */
	for (i = 0; i < wait->count && atomic_read(&wait->state) == VFENCE_WAIT_ARMING; i++) {
		ret = vfence_point_arm(&wait->points[i]);
		if (ret) {
			WRITE_ONCE(wait->error, ret);
			vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_FAILED);
		}
		cond_resched();
	}
}

/**
 * vfence_point_arm_all - put all points of a wait on their fences
 * @wait: the wait, which is ARMING; it may be decided on return
 *
 * If the wait is not decided the caller moves it to ARMED and waits for its end. The
 * caller then disarms the wait and accounts for it.
 */
void vfence_point_arm_all(struct vfence_wait *wait)
{
	vfence_wait_count(wait, VFENCE_COUNT_WAITS_BEGUN);
	point_arm_until_decided(wait);
}

/**
 * vfence_point_disarm_all - take a wait's points off their fences
 * @wait: the decided wait: points that are finished meanwhile do not change it
 */
void vfence_point_disarm_all(struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++) {
		vfence_point_disarm(&wait->points[i]);
		cond_resched();
	}
}

