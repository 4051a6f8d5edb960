// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait and signal ioctls: look up a client's points, signal, sleep, return the result.
 */

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_obj_array.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_local.h"
#include "fence/vfence_point.h"
#include "fence/vfence_request.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_wait.h"

/* Fill in @wait from the client's points. On error wait->count points have a reference. */
static int request_resolve_points(struct vfence_file *file, struct vfence_wait *wait, u32 need,
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

		/* The CPU cannot reach the values of an INTRA_GPU fence (WDDM-31). */
		if (vfence_reject(&file->adapter->drm, !point->fence->current_value)) {
			wait->count++;
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

/**
 * vfence_request_resolve - create a wait from a client's list of points
 * @file: the file of the client
 * @points: list of points in user memory; must not be empty
 * @need: DRM_VFENCE_RIGHT_* that each handle must have
 * @any: true if one reached point satisfies the wait
 *
 * Return: a wait that is ARMING without armed points, or an ERR_PTR.
 */
struct vfence_wait *vfence_request_resolve(struct vfence_file *file,
					   const struct drm_vfence_obj_array *points, u32 need,
					   bool any)
{
	struct drm_vfence_fence_point *in;
	struct vfence_wait *wait;
	int ret;

	if (vfence_reject(&file->adapter->drm, !points->count))
		return ERR_PTR(-EINVAL);
	in = vfence_obj_array_get(points, sizeof(*in), DRM_VFENCE_MAX_POINTS);
	if (IS_ERR(in))
		return ERR_CAST(in);

	wait = vfence_wait_alloc(file->adapter, points->count);
	if (!wait) {
		kvfree(in);
		return ERR_PTR(-ENOMEM);
	}

	atomic_set(&wait->pending, any ? 1 : points->count);
	atomic_set(&wait->first, -1);
	ret = request_resolve_points(file, wait, need, in, points->count);
	kvfree(in);
	if (ret) {
		vfence_wait_destroy(wait);
		return ERR_PTR(ret);
	}

	return wait;
}

int vfence_request_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vfence_fence_signal *args = data;
	struct vfence_wait *signals;
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_SIGNAL_ALLOW_REWIND || args->pad))
		return -EINVAL;

	signals = vfence_request_resolve(drm_file->driver_priv, &args->points,
					 DRM_VFENCE_RIGHT_SIGNAL, false);
	if (IS_ERR(signals))
		return PTR_ERR(signals);

	ret = vfence_signal_perform(signals, args->flags);
	vfence_wait_destroy(signals);

	return ret;
}

/**
 * vfence_request_init - check a wait and the signals to perform before it
 * @request: output: the request
 * @file: the file of the client
 * @flags: DRM_VFENCE_WAIT_*
 * @points: points to wait for
 * @signals: points to signal first; may be empty
 *
 * On success all arguments of the client are valid. The caller destroys request->wait. It
 * also calls vfence_request_signal(), which frees request->signals, or destroys
 * request->signals itself.
 *
 * Return: 0 or a negative error.
 */
int vfence_request_init(struct vfence_request *request, struct vfence_file *file, u32 flags,
			const struct drm_vfence_obj_array *points,
			const struct drm_vfence_obj_array *signals)
{
	request->signals = NULL;
	request->wait = vfence_request_resolve(file, points, DRM_VFENCE_RIGHT_WAIT,
					       flags & DRM_VFENCE_WAIT_ANY);
	if (IS_ERR(request->wait))
		return PTR_ERR(request->wait);
	if (!signals->count)
		return 0;

	request->signals = vfence_request_resolve(file, signals, DRM_VFENCE_RIGHT_SIGNAL, false);
	if (IS_ERR(request->signals)) {
		vfence_wait_destroy(request->wait);
		return PTR_ERR(request->signals);
	}

	return 0;
}

/**
 * vfence_request_signal - perform the signals of a request, and free them
 * @request: the request
 *
 * Return: 0; -ERESTARTSYS or -EINVAL if nothing was signaled; -EIO if the adapter is lost.
 */
int vfence_request_signal(struct vfence_request *request)
{
	int ret;

	if (!request->signals)
		return 0;

	ret = vfence_signal_perform(request->signals, 0);
	vfence_wait_destroy(request->signals);
	request->signals = NULL;

	return ret;
}

/* Sleep until the wait is decided. Decide it on a timeout or a signal to the thread. */
static void request_sleep(struct vfence_wait *wait, s64 timeout_ns)
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

static int request_wait(struct vfence_wait *wait, s64 timeout_ns)
{
	int ret = vfence_point_arm_all(wait);

	if (ret)
		return ret;

	request_sleep(wait, timeout_ns);
	vfence_point_disarm_all(wait);

	return vfence_wait_account(wait);
}

int vfence_request_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
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
		ret = args->timeout_ns ? request_wait(request.wait, args->timeout_ns) : -ETIME;
	if (!ret)
		args->first = any ? atomic_read(&request.wait->first) : 0;

	/* The restarted ioctl must not signal again. */
	if (ret == -ERESTARTSYS)
		args->signals.count = 0;
destroy:
	vfence_wait_destroy(request.wait);
	return ret;
}
