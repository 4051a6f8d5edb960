// SPDX-License-Identifier: GPL-2.0-only
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

#include "core/vfence_trace.h"
#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_notify.h"
#include "fence/vfence_point.h"
#include "fence/vfence_wait.h"
#include "vfence_step.h"

static struct rb_root_cached *tree_of(struct vfence_point *point)
{
	return point->wait->gpu ? &point->fence->gpu_waiters : &point->fence->waiters;
}

static struct vfence_point *first_in(struct rb_root_cached *tree)
{
	return rb_entry_safe(rb_first_cached(tree), struct vfence_point, node);
}

static struct vfence_point *first_point(struct vfence_fence *fence)
{
	struct vfence_point *cpu = first_in(&fence->waiters);
	struct vfence_point *gpu = first_in(&fence->gpu_waiters);

	if (!cpu || !gpu)
		return cpu ? cpu : gpu;
	return gpu->value < cpu->value ? gpu : cpu;
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
	/* There is none: who signals it, or hears of it, looks, if there are waiters. */
	if (vfence_fence_is_monitored(fence)) {
		/* Their count, before the value is sampled. Partner: vfence_irq_settle(). */
		smp_mb();
		return;
	}
	/* Stays 0 for life: the others must hear of every signal (WDDM-104). */
	if (fence->cross || update.value == fence->monitored)
		return;
	trace_vfence_monitored(fence->global, fence->monitored, update.value);
	fence->monitored = update.value;
	if (vgpu_fence_update_monitored_values(fence->adapter->gpu, &update, 1))
		vfence_adapter_lose(fence->adapter, 0x12);
}

static void unlink_locked(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;

	rb_erase_cached(&point->node, tree_of(point));
	WRITE_ONCE(fence->waiter_count, fence->waiter_count - 1);
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
		update_monitored_locked(fence);
		vfence_step(SECOND_SAMPLE);
		first = first_point(fence);
		value = vfence_fence_current(fence);
		if (!first || !vfence_reached(value, first->value))
			return taken;
		taken += take_locked(fence, value, budget - taken, done);
	}
}

/* What nobody will signal holds no queue back; what has gone does not come back. */
static bool counts_as_reached(const struct vfence_wait *wait, int error)
{
	return wait->gpu && error != -ENODEV;
}

static void complete_point(struct vfence_point *point, int error)
{
	struct vfence_wait *wait = point->wait;

	if (error && counts_as_reached(wait, error))
		error = 0;

	if (error) {
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
 * vfence_point_finish_all - complete points that were taken
 * @done: from vfence_point_take()
 * @error: 0, or why they failed
 *
 * Any context, no lock held.
 */
void vfence_point_finish_all(struct list_head *done, int error)
{
	struct vfence_point *point, *next;

	list_for_each_entry_safe(point, next, done, link)
		complete_point(point, error);
}

/**
 * vfence_point_take - a value was signaled: take the points it satisfies
 * @fence: the fence
 * @value: the value, which a rewind may have replaced already
 * @budget: most points to take, at least 1
 * @done: they are added here, for vfence_point_finish_all()
 *
 * Any context. Return: how many; if all of @budget, there may be more.
 */
unsigned int vfence_point_take(struct vfence_fence *fence, u64 value, unsigned int budget,
			       struct list_head *done)
{
	unsigned long flags;
	unsigned int taken;

	spin_lock_irqsave(&fence->lock, flags);
	taken = settle_locked(fence, max(value, vfence_fence_current(fence)), budget, done);
	spin_unlock_irqrestore(&fence->lock, flags);
	return taken;
}

/**
 * vfence_point_complete - a value was signaled: complete all waits it satisfies
 * @fence: the fence
 * @value: the value
 *
 * Process context: in portions, so that interrupts are never off for long.
 *
 * Return: how many.
 */
unsigned int vfence_point_complete(struct vfence_fence *fence, u64 value)
{
	unsigned int taken, total = 0;

	do {
		LIST_HEAD(done);

		taken = vfence_point_take(fence, value, VFENCE_POINT_BATCH, &done);
		vfence_point_finish_all(&done, 0);
		total += taken;
		cond_resched();
	} while (taken == VFENCE_POINT_BATCH);
	return total;
}

/*
 * The others, with what was seen when. A queue there that began to wait after @now
 * has looked by itself.
 */
static void tell_others(struct vfence_fence *fence, const struct vgpu_missed *missed)
{
	u64 now = vgpu_clock_now(fence->adapter->gpu);

	/* The clock before the value: what is rewound by @now is no news then. */
	smp_mb();
	if (missed->value)
		vfence_cross_propagate(fence, missed->value, missed->time);
	vfence_cross_propagate(fence, vfence_fence_current(fence), now);
}

/*
 * The GPU writes 32 bits: remember how far it has come, for the next look. A CPU signal
 * that comes between is newer than what was read.
 */
static void move_anchor(struct vfence_fence *fence)
{
	s64 anchor = atomic64_read(&fence->wide);

	atomic64_try_cmpxchg(&fence->wide, &anchor,
			     vfence_widen(anchor, READ_ONCE(*(u32 *)fence->current_value)));
}

/**
 * vfence_point_rescan - nothing tells which values were signaled: look
 * @fence: the fence
 *
 * Waiters that the current value satisfies complete, and those that a value did
 * which was rewound since, as far as the hardware remembers. The other adapters of
 * a cross-adapter fence are told. One at a time: on return all that was remembered
 * before has arrived, whoever took it. Process context.
 *
 * Return: how many completed here.
 */
unsigned int vfence_point_rescan(struct vfence_fence *fence)
{
	struct vgpu_missed missed = {};
	unsigned int completed;

	/* Nobody waits for an INTRA_GPU fence. */
	if (!fence->current_value)
		return 0;
	mutex_lock(&fence->look_lock);
	if (fence->hw)
		vgpu_fence_take_missed(fence->hw, &missed);
	if (fence->narrow)
		move_anchor(fence);
	completed = vfence_point_complete(fence, missed.value);
	if (fence->cross)
		tell_others(fence, &missed);
	mutex_unlock(&fence->look_lock);
	return completed;
}

/* Take what is to be ended: all, or those of the CPU. */
static unsigned int take_ended_locked(struct vfence_fence *fence, bool gpu,
				      struct list_head *done)
{
	struct vfence_point *point;
	unsigned int taken = 0;

	while (taken < VFENCE_POINT_BATCH &&
	       (point = gpu ? first_point(fence) : first_in(&fence->waiters))) {
		unlink_locked(point);
		list_add_tail(&point->link, done);
		taken++;
	}
	fence->woken += taken;
	return taken;
}

/*
 * End all waits, or those of the CPU; new ones return @later, if that is not 0. What
 * has been reached by now is, whatever comes.
 */
static void end_waits(struct vfence_fence *fence, int error, int later, bool gpu)
{
	unsigned long flags;
	unsigned int taken;

	if (fence->current_value)
		vfence_point_complete(fence, 0);
	do {
		LIST_HEAD(done);

		spin_lock_irqsave(&fence->lock, flags);
		if (later)
			fence->error = later;
		taken = take_ended_locked(fence, gpu, &done);
		update_monitored_locked(fence);
		spin_unlock_irqrestore(&fence->lock, flags);
		vfence_point_finish_all(&done, error);
		cond_resched();
	} while (taken == VFENCE_POINT_BATCH);
}

/**
 * vfence_point_fail_all - end all waits, and refuse new ones
 * @fence: the fence
 * @error: what they return
 */
void vfence_point_fail_all(struct vfence_fence *fence, int error)
{
	end_waits(fence, error, error, true);
}

/** vfence_point_cancel_all - end all CPU waits of now with ECANCELED; process context */
void vfence_point_cancel_all(struct vfence_fence *fence)
{
	end_waits(fence, -ECANCELED, 0, false);
}

/*
 * After a change of the tree: bring monitored up to date, sample, complete. What
 * is completed here was reached although no interrupt said so. Returns how many.
 */
static unsigned int settle(struct vfence_fence *fence)
{
	unsigned int taken, total = 0;
	unsigned long flags;

	do {
		LIST_HEAD(done);

		spin_lock_irqsave(&fence->lock, flags);
		/* Nothing is taken by value 0: what this takes, the sample took. */
		taken = settle_locked(fence, 0, VFENCE_POINT_BATCH, &done);
		spin_unlock_irqrestore(&fence->lock, flags);
		vfence_point_finish_all(&done, 0);
		total += taken;
		cond_resched();
	} while (taken == VFENCE_POINT_BATCH);
	return total;
}

/*
 * Put a point on its fence, unless it is reached or cannot be any more. 1 if it
 * is on it, 0 if it was reached.
 */
static int queue_point(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&fence->lock, flags);
	if (vfence_reached(vfence_fence_current(fence), point->value)) {
		ret = 0;
	} else if (fence->error) {
		ret = fence->error;
	} else if (READ_ONCE(fence->adapter->lost)) {
		ret = -EIO;
	} else {
		vfence_step(WAITER_INSERT);
		/* The tree has a reference; whoever takes the point out puts it. */
		kref_get(&point->wait->ref);
		rb_add_cached(&point->node, tree_of(point), awaits_less);
		point->queued = true;
		WRITE_ONCE(fence->waiter_count, fence->waiter_count + 1);
		ret = 1;
	}
	spin_unlock_irqrestore(&fence->lock, flags);
	return ret;
}

static int arm_point(struct vfence_point *point)
{
	unsigned int taken;
	int ret;

	vfence_notify_settle_rewinds(point->fence);
	ret = queue_point(point);
	if (ret < 0 && !counts_as_reached(point->wait, ret))
		return ret;
	if (ret <= 0) {
		kref_get(&point->wait->ref);
		complete_point(point, 0);
		return 0;
	}
	/* Store monitored, sample current: handshake (a). */
	taken = settle(point->fence);
	vfence_count_add(point->fence->adapter, VFENCE_COUNT_SECOND_SAMPLE, taken);
	return 0;
}

static void disarm_point(struct vfence_point *point)
{
	struct vfence_fence *fence = point->fence;
	unsigned long flags;
	bool queued;

	vfence_step(WAITER_REMOVE);
	spin_lock_irqsave(&fence->lock, flags);
	queued = point->queued;
	if (queued)
		unlink_locked(point);
	spin_unlock_irqrestore(&fence->lock, flags);
	if (!queued)
		return;
	settle(fence);
	vfence_wait_put(point->wait);
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
 * vfence_point_arm_all - put all points of a wait on their fences
 * @wait: ARMING; may be decided on return
 *
 * The caller moves it to ARMED, unless it is decided, sees how it ends, disarms
 * and accounts for it.
 *
 * Return: 0, or -ENODEV, after which there is nothing to account for.
 */
int vfence_point_arm_all(struct vfence_wait *wait)
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
 * vfence_point_disarm_all - take a wait's points off their fences
 * @wait: decided, so that it does not matter who completes meanwhile
 */
void vfence_point_disarm_all(struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++) {
		disarm_point(&wait->points[i]);
		cond_resched();
	}
}

