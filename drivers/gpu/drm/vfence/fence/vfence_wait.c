// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU waits and CPU signals: from a client's list of points to sleep and back.
 */

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "vfence_fence.h"

/* Value updates handed to the virtual GPU at once. */
#define BATCH	16

static struct vfence_wait *alloc_wait(struct vfence_adapter *adapter, unsigned int points)
{
	struct vfence_wait *wait = kvzalloc(struct_size(wait, points, points), GFP_KERNEL_ACCOUNT);

	if (!vfence_object_made(WAIT, wait))
		return NULL;
	kref_init(&wait->ref);
	wait->adapter = adapter;
	init_waitqueue_head(&wait->sleepers);
	return wait;
}

static int resolve(struct vfence_file *file, struct vfence_wait *wait, u32 need,
		   const struct drm_vfence_fence_point *in, unsigned int count)
{
	for (; wait->count < count; wait->count++) {
		struct vfence_point *point = &wait->points[wait->count];

		if (vfence_reject(&file->adapter->drm, in[wait->count].flags))
			return -EINVAL;
		point->fence = vfence_local_lookup(file, in[wait->count].fence, need, NULL);
		if (vfence_reject(&file->adapter->drm, IS_ERR(point->fence)))
			return PTR_ERR(point->fence);
		point->wait = wait;
		point->value = in[wait->count].value;
		if (point->fence->narrow)
			point->value = vfence_widen(vfence_fence_current(point->fence),
						    point->value);
		/* The CPU cannot reach its values (WDDM-31). */
		if (vfence_reject(&file->adapter->drm, !point->fence->current_value)) {
			wait->count++;
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

/**
 * vfence_wait_create - a list of points, resolved
 * @file: the client
 * @points: in user memory, not empty
 * @need: DRM_VFENCE_RIGHT_* each handle must have
 * @any: one point is enough
 *
 * Return: a wait that is ARMING with nothing armed, or an ERR_PTR.
 */
struct vfence_wait *vfence_wait_create(struct vfence_file *file,
				       const struct drm_vfence_obj_array *points, u32 need,
				       bool any)
{
	struct drm_vfence_fence_point *in;
	struct vfence_wait *wait;
	int ret;

	if (vfence_reject(&file->adapter->drm, !points->count))
		return ERR_PTR(-EINVAL);
	in = vfence_uobj_get(points, sizeof(*in), DRM_VFENCE_MAX_POINTS);
	if (IS_ERR(in))
		return ERR_CAST(in);
	wait = alloc_wait(file->adapter, points->count);
	if (!wait) {
		kvfree(in);
		return ERR_PTR(-ENOMEM);
	}
	atomic_set(&wait->pending, any ? 1 : points->count);
	atomic_set(&wait->first, -1);
	ret = resolve(file, wait, need, in, points->count);
	kvfree(in);
	if (ret) {
		vfence_wait_destroy(wait);
		return ERR_PTR(ret);
	}
	return wait;
}

/**
 * vfence_signal_create - a list for vfence_signal() of one point
 * @fence: the fence, of which a reference is taken
 * @value: the value
 *
 * Return: the list, for vfence_wait_destroy(), or NULL.
 */
struct vfence_wait *vfence_signal_create(struct vfence_fence *fence, u64 value)
{
	struct vfence_wait *wait = alloc_wait(fence->adapter, 1);

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
	split = alloc_wait(signals->adapter, signals->count - left);
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

/** vfence_wait_destroy - the owner is done; nothing is armed */
void vfence_wait_destroy(struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++)
		vfence_fence_put(wait->points[i].fence);
	vfence_wait_put(wait);
}

/**
 * vfence_wait_poll - are the points reached, without arming anything
 * @wait: nothing armed; first is set with @any
 * @any: one is enough
 */
bool vfence_wait_poll(struct vfence_wait *wait, bool any)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++) {
		struct vfence_point *point = &wait->points[i];
		bool reached = vfence_reached(vfence_fence_current(point->fence), point->value);

		if (reached && any)
			atomic_set(&wait->first, i);
		if (reached == any)
			return any;
	}
	return !any;
}

/**
 * vfence_fence_widened - current value of a narrow fence, with its upper half
 * @fence: the fence
 *
 * Of the memory 32 bits are known, and a value of not long ago: the one nearest to
 * that is meant. The two are of one moment, or it is tried again. Any context.
 */
u64 vfence_fence_widened(const struct vfence_fence *fence)
{
	u64 anchor, value;

	do {
		/* Acquire: the low half of that moment, or a later one. */
		anchor = atomic64_read_acquire(&fence->wide);
		/* Acquire: what the signaller did before. Partner: who stores it. */
		value = vfence_widen(anchor, smp_load_acquire((u32 *)fence->current_value));
	} while (atomic64_read(&fence->wide) != anchor);
	return value;
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

	lockdep_assert_held(&adapter->signal_lock);
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
		vfence_fence_complete(points[i].fence, points[i].value);
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

	lockdep_assert_held(&signals->adapter->signal_lock);
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

	if (lock(&adapter->signal_lock, flags))
		return -ERESTARTSYS;
	rewinds = rewinds_locked(signals, flags);
	if (READ_ONCE(adapter->lost))
		ret = -EIO;
	else if (vfence_reject(&adapter->drm,
			       rewinds && !(flags & DRM_VFENCE_SIGNAL_ALLOW_REWIND)))
		ret = -EINVAL;
	for (i = 0; !ret && i < signals->count; i += BATCH)
		ret = signal_batch(adapter, &signals->points[i], min(signals->count - i, BATCH));
	mutex_unlock(&adapter->signal_lock);
	return ret;
}

/**
 * vfence_signal - signal from the CPU
 * @signals: a list of points, resolved; stays the caller's
 * @flags: DRM_VFENCE_SIGNAL_*, VFENCE_SIGNAL_*
 *
 * In order, and one call at a time: the newest value wins.
 */
int vfence_signal(struct vfence_wait *signals, u32 flags)
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

int vfence_fence_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vfence_fence_signal *args = data;
	struct vfence_wait *signals;
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_SIGNAL_ALLOW_REWIND || args->pad))
		return -EINVAL;
	signals = vfence_wait_create(drm_file->driver_priv, &args->points,
				     DRM_VFENCE_RIGHT_SIGNAL, false);
	if (IS_ERR(signals))
		return PTR_ERR(signals);
	ret = vfence_signal(signals, args->flags);
	vfence_wait_destroy(signals);
	return ret;
}

/**
 * vfence_request_init - check a wait with the signals to perform first
 * @request: filled
 * @file: the client
 * @flags: DRM_VFENCE_WAIT_*
 * @points: what to wait for
 * @signals: what to signal first, may be empty
 *
 * Afterwards nothing is wrong with the call any more. The caller destroys
 * request->wait, and signals with vfence_request_signal(), which also frees the
 * signals, or drops the request before that.
 */
int vfence_request_init(struct vfence_request *request, struct vfence_file *file, u32 flags,
			const struct drm_vfence_obj_array *points,
			const struct drm_vfence_obj_array *signals)
{
	request->signals = NULL;
	request->wait = vfence_wait_create(file, points, DRM_VFENCE_RIGHT_WAIT,
					   flags & DRM_VFENCE_WAIT_ANY);
	if (IS_ERR(request->wait))
		return PTR_ERR(request->wait);
	if (!signals->count)
		return 0;
	request->signals = vfence_wait_create(file, signals, DRM_VFENCE_RIGHT_SIGNAL, false);
	if (IS_ERR(request->signals)) {
		vfence_wait_destroy(request->wait);
		return PTR_ERR(request->signals);
	}
	return 0;
}

/**
 * vfence_request_signal - perform the signals of a request, once
 * @request: the request
 *
 * Return: 0, -ERESTARTSYS or -EINVAL before anything was signaled, -EIO when the
 * adapter is lost.
 */
int vfence_request_signal(struct vfence_request *request)
{
	int ret;

	if (!request->signals)
		return 0;
	ret = vfence_signal(request->signals, 0);
	vfence_wait_destroy(request->signals);
	request->signals = NULL;
	return ret;
}

/* Sleep until the wait is decided; decide it if time or patience ends. */
static void sleep(struct vfence_wait *wait, s64 timeout_ns)
{
	ktime_t deadline = ns_to_ktime(timeout_ns);
	DEFINE_WAIT(entry);

	lockdep_assert_none_held_once();
	vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED);
	for (;;) {
		int left = -EINTR;

		prepare_to_wait(&wait->sleepers, &entry, TASK_INTERRUPTIBLE);
		if (atomic_read(&wait->state) != VFENCE_WAIT_ARMED)
			break;
		if (signal_pending(current)) {
			vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED);
			break;
		}
		if (timeout_ns == S64_MAX)
			schedule();
		else
			left = schedule_hrtimeout_range(&deadline, current->timer_slack_ns,
							HRTIMER_MODE_ABS);
		if (!left) {
			vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_TIMED_OUT);
			break;
		}
	}
	finish_wait(&wait->sleepers, &entry);
}

static int wait_for(struct vfence_wait *wait, s64 timeout_ns)
{
	int ret = vfence_wait_begin(wait);

	if (ret)
		return ret;
	sleep(wait, timeout_ns);
	vfence_wait_disarm(wait);
	return vfence_wait_account(wait);
}

int vfence_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_wait *args = data;
	bool any = args->flags & DRM_VFENCE_WAIT_ANY;
	struct vfence_request request;
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_WAIT_ANY) ||
	    vfence_reject(drm, args->timeout_ns < 0))
		return -EINVAL;
	ret = vfence_request_init(&request, file, args->flags, &args->points, &args->signals);
	if (ret)
		return ret;
	ret = vfence_request_signal(&request);
	if (ret)
		goto destroy;
	if (!vfence_wait_poll(request.wait, any))
		ret = args->timeout_ns ? wait_for(request.wait, args->timeout_ns) : -ETIME;
	if (!ret)
		args->first = any ? atomic_read(&request.wait->first) : 0;
	/* The restarted call must not signal again. */
	if (ret == -ERESTARTSYS)
		args->signals.count = 0;
destroy:
	vfence_wait_destroy(request.wait);
	return ret;
}
