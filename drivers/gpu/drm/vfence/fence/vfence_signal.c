// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU signals. A call stores its values in order, then completes the waits they satisfy.
 */

#include "fence/vfence_fence.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_points.h"
#include "fence/vfence_propagate.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_waiter.h"
#include "vfence_race_point.h"

/* Maximal number of values in one update of the virtual GPU. */
#define SIGNAL_BATCH	16

/* Store the value of a monitored fence. The virtual GPU does it for native ones (WDDM-62). */
static void signal_store_monitored(struct vfence_fence *fence, u64 value)
{
	/* Store wide first: a reader between the two stores widens to the previous value. */
	if (fence->is_32bit)
		atomic64_set(&fence->value64, value);
	/*
	 * What packets have stored before is noted in the word: it completes the waits that are
	 * armed now, and none that begins after a rewind.
	 */
	vgpu_word_store(fence->word, fence->current_value, value);
}

static struct vgpu_value_update signal_update(const struct vfence_point *point)
{
	return (struct vgpu_value_update) {
		.fence = point->fence->hw,
		.kernel_va = point->fence->current_value,
		.value = point->value,
	};
}

/*
 * Store the values in order. Consecutive native fences share one update. All are stored before the
 * waits for the first one are completed: until then the signal counts in &vfence_fences.signaling.
 */
static int signal_store_many(struct vfence_adapter *adapter, const struct vfence_point *list,
			     unsigned int count)
{
	struct vgpu_value_update update[SIGNAL_BATCH];
	unsigned int i, n = 0;
	int ret = 0;

	/*
	 * Full barrier: count, then store. Who finds one of the values finds the count, too, unless
	 * the waits are completed. Partner: event_may_be_late().
	 */
	atomic_inc_return(&adapter->fences.signaling);
	for (i = 0; !ret && i < count; i++) {
		bool native = !vfence_fence_is_monitored(list[i].fence);

		if (native)
			update[n++] = signal_update(&list[i]);

		if (n && (!native || i + 1 == count)) {
			ret = vgpu_fence_update_current_values(adapter->gpu, update, n, 0);
			n = 0;
		}
		if (!native && !ret)
			signal_store_monitored(list[i].fence, list[i].value);
	}

	if (ret)
		atomic_dec(&adapter->fences.signaling);
	return ret;
}

/* Most signals are of one fence, and need no room for more on the stack, which is cleared. */
static int signal_store_one(struct vfence_adapter *adapter, const struct vfence_point *point)
{
	struct vgpu_value_update update;

	if (vfence_fence_is_monitored(point->fence)) {
		signal_store_monitored(point->fence, point->value);
		return 0;
	}
	update = signal_update(point);
	return vgpu_fence_update_current_values(adapter->gpu, &update, 1, 0);
}

/* Return true if other adapters must be told of a signal. */
static bool signal_crosses(const struct vfence_point *list, unsigned int count)
{
	while (count--)
		if (list[count].fence->cross)
			return true;
	return false;
}

static void signal_trace(const struct vfence_point *list, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		trace_vfence_signal(list[i].fence, list[i].value);
}

/* A queue whose signals are performed in a work has delivered them all when it is idle. */
static void signal_complete(struct vfence_fence *fence, u64 value,
			    const struct vfence_file *caller)
{
	if (caller)
		vfence_waiter_signaled(fence, value, caller);
	else
		vfence_waiter_complete(fence, value);
}

/* Store up to SIGNAL_BATCH values, then complete the CPU waits they satisfy. */
static int signal_batch(struct vfence_adapter *adapter, const struct vfence_point *list,
			unsigned int count, const struct vfence_file *caller)
{
	unsigned int i;
	u64 time = 0;

	lockdep_assert_held(&list->fence->shared->signal_lock.base);

	/* Trace it first: whoever sees the values comes later. */
	if (trace_vfence_signal_enabled())
		signal_trace(list, count);
	if (count == 1 ? signal_store_one(adapter, list) :
			 signal_store_many(adapter, list, count)) {
		vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x13);
		return -EIO;
	}

	vfence_race_point(SIGNAL_STORED);
	vfence_hold(SIGNALED);
	/*
	 * Store the values before the monitored values are loaded: handshake (a), in the place of
	 * an engine. Partner: vgpu_fence_update_monitored_values(). And before the clock is read: a
	 * queue of another adapter that began to wait later has seen them. Partner: the lock in
	 * vgpu_fence_block().
	 */
	smp_mb();
	if (signal_crosses(list, count))
		time = vgpu_clock_now(adapter->gpu);

	vfence_count_add(adapter, VFENCE_COUNT_CPU_SIGNALS, count);
	for (i = 0; i < count; i++) {
		if (vfence_fence_is_awaited(list[i].fence, list[i].value))
			signal_complete(list[i].fence, list[i].value, caller);
		if (list[i].fence->cross)
			vfence_propagate_signal(list[i].fence, list[i].value, time);
	}

	/* Release: the waits are completed. */
	if (count > 1)
		(void)atomic_dec_return_release(&adapter->fences.signaling);
	return 0;
}

/*
 * Replace the values in the list by those that will be stored. Return true if one of them
 * rewinds a monitored fence. The lock keeps other CPU signals out.
 */
static bool signal_resolve_values_locked(struct vfence_point *list, unsigned int count, u32 flags)
{
	bool rewinds = false;
	unsigned int i;

	lockdep_assert_held(&list->fence->shared->signal_lock.base);

	for (i = 0; i < count; i++)
		if (vfence_fence_is_monitored(list[i].fence))
			list[i].fence->signaling = vfence_fence_current(list[i].fence);

	for (i = 0; i < count; i++) {
		struct vfence_point *point = &list[i];
		u64 before;

		if (!vfence_fence_is_monitored(point->fence))
			continue;

		before = point->fence->signaling;
		if (point->fence->is_32bit)
			point->value = vfence_widen(before, point->value);
		if (flags & VFENCE_SIGNAL_KEEP)
			point->value = max(point->value, before);

		/* A 32-bit fence's values wrap: signal the farthest value, above all waits. */
		if (flags & VFENCE_SIGNAL_MAX)
			point->value = point->fence->is_32bit ? before + S32_MAX : U64_MAX;
		rewinds |= point->value < before;
		/* The next point of the same fence replaces it. */
		point->fence->signaling = point->value;
	}

	return rewinds;
}

/* Lock for an ioctl, which a signal may interrupt and restart, or for a reset or a chore. */
static int signal_lock_one(struct ww_mutex *lock, struct ww_acquire_ctx *ctx, u32 flags, bool slow)
{
	if (flags & (VFENCE_SIGNAL_MAX | VFENCE_SIGNAL_LATE)) {
		if (!slow)
			return ww_mutex_lock(lock, ctx);
		ww_mutex_lock_slow(lock, ctx);
		return 0;
	}

	return slow ? ww_mutex_lock_slow_interruptible(lock, ctx) :
		      ww_mutex_lock_interruptible(lock, ctx);
}

static void signal_unlock_many(struct vfence_point *list, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (list[i].locked)
			ww_mutex_unlock(&list[i].fence->shared->signal_lock);
		list[i].locked = false;
	}
}

/* Lock the fences of the list. On -EDEADLK none is locked, and @at is the one to begin with. */
static int signal_lock_many(struct vfence_point *list, unsigned int count,
			    struct ww_acquire_ctx *ctx, u32 flags, int *at)
{
	unsigned int i;
	int ret = 0;

	if (*at >= 0) {
		ret = signal_lock_one(&list[*at].fence->shared->signal_lock, ctx, flags, true);
		list[*at].locked = !ret;
	}

	for (i = 0; !ret && i < count; i++) {
		ret = signal_lock_one(&list[i].fence->shared->signal_lock, ctx, flags, false);
		if (ret == -EALREADY) {
			/* Another point of the list names the same fence. */
			ret = 0;
		} else {
			list[i].locked = !ret;
			*at = i;
		}
	}

	if (ret)
		signal_unlock_many(list, count);
	return ret;
}

/*
 * Lock all fences of the list, and nothing that other fences need. Two calls may name the same
 * fences in different orders: the one that came later gives way. One fence has no order.
 */
static int signal_lock_all(struct vfence_point *list, unsigned int count,
			   struct ww_acquire_ctx *ctx, u32 flags)
{
	int at = -1, ret;

	if (count == 1)
		return signal_lock_one(&list->fence->shared->signal_lock, NULL, flags, false) ?
		       -ERESTARTSYS : 0;

	ww_acquire_init(ctx, &vfence_shared_class);
	do {
		ret = signal_lock_many(list, count, ctx, flags, &at);
	} while (ret == -EDEADLK);

	if (ret) {
		ww_acquire_fini(ctx);
		return -ERESTARTSYS;
	}

	ww_acquire_done(ctx);
	return 0;
}

static void signal_unlock_all(struct vfence_point *list, unsigned int count,
			      struct ww_acquire_ctx *ctx)
{
	if (count == 1) {
		ww_mutex_unlock(&list->fence->shared->signal_lock);
		return;
	}
	signal_unlock_many(list, count);
	ww_acquire_fini(ctx);
}

/* Return true if a signal of the list would have no effect. */
static bool signal_finds_ended(const struct vfence_point *list, unsigned int count)
{
	while (count--)
		if (vfence_fence_has_ended(list[count].fence))
			return true;
	return false;
}

/* Signal points, of which there is at least one. Their references stay with the caller. */
static int signal_perform(struct vfence_point *list, unsigned int count, u32 flags,
			  const struct vfence_file *caller)
{
	struct vfence_adapter *adapter = list->fence->adapter;
	struct ww_acquire_ctx ctx;
	bool rewinds;
	unsigned int i;
	int ret;

	ret = signal_lock_all(list, count, &ctx, flags);
	if (ret)
		return ret;

	rewinds = signal_resolve_values_locked(list, count, flags);
	if (READ_ONCE(adapter->lost) ||
	    (caller && signal_finds_ended(list, count)))
		ret = -EIO;
	else if (vfence_reject(&adapter->drm,
			       rewinds && !(flags & DRM_VFENCE_SIGNAL_ALLOW_REWIND)))
		ret = -EINVAL;

	for (i = 0; !ret && i < count; i += SIGNAL_BATCH)
		ret = signal_batch(adapter, &list[i], min(count - i, SIGNAL_BATCH), caller);
	signal_unlock_all(list, count, &ctx);

	return ret;
}

/**
 * vfence_signal_perform - perform CPU signals
 * @signals: the fences and their values; the caller still owns them
 * @flags: DRM_VFENCE_SIGNAL_*, VFENCE_SIGNAL_*
 *
 * Signals in the order of the list. Calls that name the same fence are serialised, so that the
 * newest value wins.
 *
 * Return: 0; -ERESTARTSYS or -EINVAL if nothing was signaled; -EIO if the adapter is lost, or if
 * nothing was signaled because a fence has ended and a client calls.
 */
int vfence_signal_perform(struct vfence_points *signals, u32 flags)
{
	/* vfence_points_split() may have left an empty list. */
	if (!signals->count)
		return 0;
	return signal_perform(vfence_points_list(signals), signals->count, flags,
			      signals->caller);
}

/**
 * vfence_signal_one - perform the CPU signal of one fence
 * @fence: the fence, with a reference of the caller
 * @value: the value
 * @flags: DRM_VFENCE_SIGNAL_*, VFENCE_SIGNAL_*
 *
 * Return: as vfence_signal_perform().
 */
int vfence_signal_one(struct vfence_fence *fence, u64 value, u32 flags)
{
	struct vfence_point point = { .fence = fence, .value = value };

	return signal_perform(&point, 1, flags, NULL);
}
