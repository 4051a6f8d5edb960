// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU signals: values are stored in the order of the calls, then their waits complete.
 */

#include <linux/slab.h>

#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_point.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_wait.h"

/* Value updates handed to the virtual GPU at once. */
#define BATCH	16

/**
 * vfence_signal_create - a list for vfence_signal_perform() of one point
 * @fence: the fence, of which a reference is taken
 * @value: the value
 *
 * Return: the list, for vfence_wait_destroy(), or NULL.
 */
struct vfence_wait *vfence_signal_create(struct vfence_fence *fence, u64 value)
{
	struct vfence_wait *wait = vfence_wait_alloc(fence->adapter, 1);

	if (!wait)
		return NULL;
	wait->count = 1;
	wait->points[0] = (struct vfence_point) {
		.fence = vfence_fence_get(fence),
		.wait = wait,
		.value = value,
	};
	return wait;
}

/**
 * vfence_signal_split - take the points of some fences out of a list
 * @signals: the list
 * @fence_flags: DRM_VFENCE_MONITORED_* of these fences, any
 *
 * Return: a list of these in their order, NULL if there are none, or an ERR_PTR.
 */
struct vfence_wait *vfence_signal_split(struct vfence_wait *signals, u32 fence_flags)
{
	struct vfence_wait *split;
	unsigned int i, left = 0;

	for (i = 0; i < signals->count; i++)
		left += !(signals->points[i].fence->flags & fence_flags);
	if (left == signals->count)
		return NULL;
	split = vfence_wait_alloc(signals->adapter, signals->count - left);
	if (!split)
		return ERR_PTR(-ENOMEM);
	for (left = 0, i = 0; i < signals->count; i++) {
		if (signals->points[i].fence->flags & fence_flags)
			split->points[split->count++] = signals->points[i];
		else
			signals->points[left++] = signals->points[i];
	}
	signals->count = left;
	return split;
}

/* What the hardware does for a native fence (WDDM-62). */
static void store_monitored(struct vfence_fence *fence, u64 value)
{
	/* Counted before it is stored: who sees the value sees the count. */
	if (value < vfence_fence_current(fence))
		atomic64_inc(&fence->rewinds);
	if (!fence->narrow) {
		/* Release: what the caller did. Partners: clients; vfence_fence_current(). */
		smp_store_release(fence->current_value, value);
		return;
	}
	/* In this order a reader in between finds the value before. */
	atomic64_set(&fence->wide, value);
	/* Release: as above. */
	smp_store_release((u32 *)fence->current_value, (u32)value);
}

/* In order: natives in a row make one update. */
static int store_points(struct vfence_adapter *adapter, struct vfence_point *points,
			unsigned int count)
{
	struct vgpu_value_update update[BATCH];
	unsigned int i, n = 0;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		struct vfence_fence *fence = points[i].fence;
		bool native = !vfence_fence_is_monitored(fence);

		if (native)
			update[n++] = (struct vgpu_value_update) {
				.fence = fence->hw,
				.kernel_va = fence->current_value,
				.value = points[i].value,
			};
		if (n && (!native || i + 1 == count)) {
			ret = vgpu_fence_update_current_values(adapter->gpu, update, n, 0);
			n = 0;
		}
		if (!native && !ret)
			store_monitored(fence, points[i].value);
	}
	return ret;
}

/* Store up to BATCH values, then complete their CPU waits. */
static int signal_batch(struct vfence_adapter *adapter, struct vfence_point *points,
			unsigned int count)
{
	unsigned int i;
	u64 time;

	lockdep_assert_held(&adapter->fences.signal_lock);
	if (store_points(adapter, points, count)) {
		vfence_adapter_lose(adapter, 0x13);
		return -EIO;
	}
	/*
	 * The values before the clock: a queue of another adapter that began to wait
	 * later has seen them. Partner: the lock in vgpu_fence_block().
	 */
	smp_mb();
	time = vgpu_clock_now(adapter->gpu);
	vfence_count_add(adapter, VFENCE_COUNT_CPU_SIGNALS, count);
	for (i = 0; i < count; i++) {
		vfence_point_complete(points[i].fence, points[i].value);
		if (points[i].fence->cross)
			vfence_cross_propagate(points[i].fence, points[i].value, time);
	}
	return 0;
}

/* CPU signals of fences that several adapters have: one at a time of all. */
static DEFINE_MUTEX(cross_signal_lock);

static bool any_cross(const struct vfence_wait *signals)
{
	unsigned int i;

	for (i = 0; i < signals->count; i++)
		if (signals->points[i].fence->cross)
			return true;
	return false;
}

/* What @points[@i] is signaled from: an earlier point of the list may raise it. */
static u64 value_before(const struct vfence_point *points, unsigned int i)
{
	unsigned int k = i;

	while (k--)
		if (points[k].fence == points[i].fence)
			return points[k].value;
	return vfence_fence_current(points[i].fence);
}

/*
 * What the values of narrow fences mean, and whether a monitored fence is rewound.
 * Nobody else signals from the CPU meanwhile.
 */
static bool rewinds_locked(struct vfence_wait *signals, u32 flags)
{
	bool rewinds = false;
	unsigned int i;

	lockdep_assert_held(&signals->adapter->fences.signal_lock);
	for (i = 0; i < signals->count; i++) {
		struct vfence_point *point = &signals->points[i];
		u64 before;

		if (!vfence_fence_is_monitored(point->fence))
			continue;
		before = value_before(signals->points, i);
		if (point->fence->narrow)
			point->value = vfence_widen(before, point->value);
		if (flags & VFENCE_SIGNAL_KEEP)
			point->value = max(point->value, before);
		/* The farthest of those that wrap: all who wait are nearer. */
		if (flags & VFENCE_SIGNAL_MAX)
			point->value = point->fence->narrow ? before + S32_MAX : U64_MAX;
		rewinds |= point->value < before;
	}
	return rewinds;
}

/* A call may be interrupted and come again; what a reset signals comes once. */
static int lock(struct mutex *mutex, u32 flags)
{
	if (!(flags & VFENCE_SIGNAL_MAX))
		return mutex_lock_interruptible(mutex);
	mutex_lock(mutex);
	return 0;
}

static int signal_all(struct vfence_wait *signals, u32 flags)
{
	struct vfence_adapter *adapter = signals->adapter;
	bool rewinds;
	unsigned int i;
	int ret = 0;

	if (lock(&adapter->fences.signal_lock, flags))
		return -ERESTARTSYS;
	rewinds = rewinds_locked(signals, flags);
	if (READ_ONCE(adapter->lost))
		ret = -EIO;
	else if (vfence_reject(&adapter->drm,
			       rewinds && !(flags & DRM_VFENCE_SIGNAL_ALLOW_REWIND)))
		ret = -EINVAL;
	for (i = 0; !ret && i < signals->count; i += BATCH)
		ret = signal_batch(adapter, &signals->points[i], min(signals->count - i, BATCH));
	mutex_unlock(&adapter->fences.signal_lock);
	return ret;
}

/**
 * vfence_signal_perform - signal from the CPU
 * @signals: a list of points, resolved; stays the caller's
 * @flags: DRM_VFENCE_SIGNAL_*, VFENCE_SIGNAL_*
 *
 * In order, and one call at a time: the newest value wins.
 */
int vfence_signal_perform(struct vfence_wait *signals, u32 flags)
{
	int ret;

	if (!any_cross(signals))
		return signal_all(signals, flags);
	if (lock(&cross_signal_lock, flags))
		return -ERESTARTSYS;
	ret = signal_all(signals, flags);
	mutex_unlock(&cross_signal_lock);
	return ret;
}
