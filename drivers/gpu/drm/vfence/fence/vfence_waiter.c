// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Waiters and the monitored value
 *
 * A point that is not reached sits in its fence's tree, ordered by value. The
 * monitored value is the least of them minus one. Whoever changes the tree
 * stores the monitored value, passes a full barrier and samples the current
 * value again; an engine stores the current value, passes a full barrier and
 * loads the monitored value. So one of the two sees the other: that is handshake
 * (a), and the reason why no wake-up is lost.
 *
 * Points leave the tree under the fence's lock and complete without it.
 */

#include <linux/slab.h>

#include "vfence_fence.h"
#include "vfence_trace.h"

static struct vfence_point *first_point(struct vfence_fence *fence)
{
	return rb_entry_safe(rb_first_cached(&fence->waiters), struct vfence_point, node);
}

static bool awaits_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vfence_point, node)->value <
	       rb_entry(b, struct vfence_point, node)->value;
}

/*
 * Handshake (a), CPU's side: store monitored, full barrier (both inside the
 * DDI), then the caller samples current. Partner: signal_fence() in hw/vgpu_exec.c.
 * Under the lock that the interrupt handler takes, too (WDDM-17).
 */
static void update_monitored_locked(struct vfence_fence *fence)
{
	struct vfence_point *first = first_point(fence);
	struct vgpu_value_update update = {
		.fence = fence->hw,
		.kernel_va = fence->monitored_value,
		.value = first ? vfence_monitored(first->value) : VFENCE_NOT_MONITORED,
	};

	lockdep_assert_held(&fence->lock);
	if (update.value == fence->monitored)
		return;
	trace_vfence_monitored(fence->global, fence->monitored, update.value);
	fence->monitored = update.value;
	vgpu_update_monitored_values(fence->adapter->gpu, &update, 1);
}

static void unlink_locked(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;

	rb_erase_cached(&point->node, &fence->waiters);
	fence->waiter_count--;
	point->queued = false;
}

/* Move up to @budget points that @value reaches to @done. */
static unsigned int take_locked(struct vfence_fence *fence, u64 value, unsigned int budget,
				struct list_head *done)
{
	struct vfence_point *point;
	unsigned int taken = 0;

	while (taken < budget && (point = first_point(fence)) &&
	       vfence_reached(value, point->value)) {
		unlink_locked(point);
		list_add_tail(&point->link, done);
		taken++;
	}
	fence->woken += taken;
	return taken;
}

/*
 * Complete what @value reaches; then update monitored and sample again until a
 * sample completes nobody. Ends: each round takes at least one point away.
 */
static unsigned int settle_locked(struct vfence_fence *fence, u64 value, unsigned int budget,
				  struct list_head *done)
{
	unsigned int taken = take_locked(fence, value, budget, done);

	for (;;) {
		struct vfence_point *first;

		if (taken == budget)
			return taken;
		if (!vfence_mutant_is(NO_RECOMPUTE) || first_point(fence))
			update_monitored_locked(fence);
		first = first_point(fence);
		value = vfence_fence_current(fence);
		if (vfence_mutant_is(A_NO_RESAMPLE) || !first ||
		    !vfence_reached(value, first->value))
			return taken;
		taken += take_locked(fence, value, budget - taken, done);
	}
}

/* The wait is over, in one way or another; only the winner tells its owner. */
static void finish(struct vfence_wait *wait, enum vfence_wait_state to)
{
	/* Still arming: its owner looks at the state before it relies on us. */
	if (vfence_wait_move(wait, VFENCE_WAIT_ARMING, to) ||
	    !vfence_wait_move(wait, VFENCE_WAIT_ARMED, to))
		return;
	if (wait->fire)
		wait->fire(wait);
	else
		wake_up_all(&wait->sleepers);
}

static void complete_point(struct vfence_point *point, int error)
{
	struct vfence_wait *wait = point->wait;

	if (error) {
		WRITE_ONCE(wait->error, error);
		finish(wait, VFENCE_WAIT_FAILED);
	} else {
		atomic_cmpxchg(&wait->first, -1, point - wait->points);
		if (atomic_dec_return(&wait->pending) == 0)
			finish(wait, VFENCE_WAIT_REACHED);
	}
	vfence_wait_put(wait);
}

static void complete_list(struct list_head *done, int error)
{
	struct vfence_point *point, *next;

	list_for_each_entry_safe(point, next, done, link)
		complete_point(point, error);
}

/**
 * vfence_fence_complete - a value was signaled: complete the waits it satisfies
 * @fence: the fence
 * @value: the value, which a rewind may have replaced already
 * @budget: most points to complete, at least 1
 * @more: out: the budget ran out; call again
 *
 * Any context. Return: points completed.
 */
unsigned int vfence_fence_complete(struct vfence_fence *fence, u64 value, unsigned int budget,
				   bool *more)
{
	unsigned long flags;
	unsigned int taken;
	LIST_HEAD(done);

	spin_lock_irqsave(&fence->lock, flags);
	taken = settle_locked(fence, max(value, vfence_fence_current(fence)), budget, &done);
	*more = taken == budget;
	spin_unlock_irqrestore(&fence->lock, flags);
	complete_list(&done, 0);
	return taken;
}

/**
 * vfence_fence_fail - end all waits, and refuse new ones
 * @fence: the fence
 * @error: what they return
 */
void vfence_fence_fail(struct vfence_fence *fence, int error)
{
	unsigned long flags;
	LIST_HEAD(done);

	spin_lock_irqsave(&fence->lock, flags);
	fence->error = error;
	take_locked(fence, ~(u64)0, UINT_MAX, &done);
	update_monitored_locked(fence);
	spin_unlock_irqrestore(&fence->lock, flags);
	complete_list(&done, error);
}

/*
 * Put a point on its fence, unless it is reached. A point the second sample
 * reaches completes like any other.
 */
static int arm_point(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;
	unsigned int taken = 0;
	unsigned long flags;
	LIST_HEAD(done);
	int ret = 0;

	kref_get(&point->wait->ref);
	spin_lock_irqsave(&fence->lock, flags);
	if (fence->error) {
		ret = fence->error;
	} else if (vfence_reached(vfence_fence_current(fence), point->value)) {
		list_add_tail(&point->link, &done);
	} else {
		vfence_mutant_pause(A_NO_RESAMPLE, 20);
		rb_add_cached(&point->node, &fence->waiters, awaits_less);
		point->queued = true;
		fence->waiter_count++;
		/* Nothing is taken by value 0: what this takes, the sample took. */
		taken = settle_locked(fence, 0, UINT_MAX, &done);
	}
	spin_unlock_irqrestore(&fence->lock, flags);
	if (ret)
		vfence_wait_put(point->wait);
	if (taken)
		vfence_count_add(fence->adapter, VFENCE_COUNT_SECOND_SAMPLE, taken);
	complete_list(&done, 0);
	return ret;
}

static void disarm_point(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;
	unsigned long flags;
	LIST_HEAD(done);
	bool queued;

	spin_lock_irqsave(&fence->lock, flags);
	queued = point->queued;
	if (queued) {
		unlink_locked(point);
		settle_locked(fence, 0, UINT_MAX, &done);
	}
	spin_unlock_irqrestore(&fence->lock, flags);
	if (queued)
		vfence_wait_put(point->wait);
	complete_list(&done, 0);
}

static void arm_points(struct vfence_wait *wait)
{
	unsigned int i;
	int ret = 0;

	/* Once it is decided, be it by the first point of ANY, spare the others. */
	for (i = 0; i < wait->count && atomic_read(&wait->state) == VFENCE_WAIT_ARMING; i++) {
		ret = arm_point(&wait->points[i]);
		if (ret) {
			WRITE_ONCE(wait->error, ret);
			vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_FAILED);
		}
		cond_resched();
	}
}

/**
 * vfence_wait_begin - put all points of a wait on their fences
 * @wait: ARMING; may be decided on return
 *
 * The caller moves it to ARMED, unless it is decided, sees how it ends, disarms
 * and accounts for it.
 *
 * Return: 0, or -ENODEV, after which there is nothing to account for.
 */
int vfence_wait_begin(struct vfence_wait *wait)
{
	int idx;

	/* Unplug waits for this section, then fails what it finds armed. */
	if (!drm_dev_enter(&wait->adapter->drm, &idx))
		return -ENODEV;
	vfence_count(wait->adapter, VFENCE_COUNT_WAITS_BEGUN);
	arm_points(wait);
	drm_dev_exit(idx);
	return 0;
}

/**
 * vfence_wait_disarm - take a wait's points off their fences
 * @wait: decided, so that it does not matter who completes meanwhile
 */
void vfence_wait_disarm(struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++) {
		disarm_point(&wait->points[i]);
		cond_resched();
	}
}

bool vfence_wait_move(struct vfence_wait *wait, enum vfence_wait_state from,
		      enum vfence_wait_state to)
{
	return atomic_cmpxchg(&wait->state, from, to) == from;
}

static void free_wait(struct kref *ref)
{
	kvfree(container_of(ref, struct vfence_wait, ref));
}

/** vfence_wait_put - drop a reference; any context */
void vfence_wait_put(struct vfence_wait *wait)
{
	kref_put(&wait->ref, free_wait);
}

/**
 * vfence_wait_account - count how an armed wait ended
 * @wait: decided
 *
 * Return: 0 or the error the owner returns.
 */
int vfence_wait_account(struct vfence_wait *wait)
{
	switch (atomic_read(&wait->state)) {
	case VFENCE_WAIT_REACHED:
		vfence_count(wait->adapter, VFENCE_COUNT_WAITS_SATISFIED);
		return 0;
	case VFENCE_WAIT_TIMED_OUT:
		vfence_count(wait->adapter, VFENCE_COUNT_WAITS_TIMED_OUT);
		return -ETIME;
	case VFENCE_WAIT_FAILED:
		vfence_count(wait->adapter, VFENCE_COUNT_WAITS_CANCELLED);
		return READ_ONCE(wait->error);
	default:
		vfence_count(wait->adapter, VFENCE_COUNT_WAITS_CANCELLED);
		return -ERESTARTSYS;
	}
}
