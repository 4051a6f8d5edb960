// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait and signal ioctls: look up a client's points, signal, sleep, return the result.
 */

#include <linux/sched/signal.h>

#include <drm/drm_file.h>

#include "core/vfence_user_array.h"
#include "core/vfence_wake.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_points.h"
#include "fence/vfence_request.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_wait_restart.h"
#include "fence/vfence_waiter.h"
#include "vfence_race_point.h"

/* Lists of at most so many points are copied to the stack. */
#define REQUEST_SHORT	4

/**
 * vfence_request_look_up - get the fence that a point of a client names
 * @file: the file of the client
 * @handle: handle of the fence
 * @need: DRM_VFENCE_RIGHT_* that the handle must have
 * @value: value of the point; for a narrow fence widened to 64 bits
 *
 * Return: the fence with a reference, or an ERR_PTR.
 */
struct vfence_fence *vfence_request_look_up(struct vfence_file *file, u32 handle, u32 need,
					    u64 *value)
{
	struct vfence_fence *fence = vfence_fence_handle_lookup(file, handle, need, NULL);

	if (vfence_reject(&file->adapter->drm, IS_ERR(fence)))
		return fence;

	/* The CPU cannot reach the values of an INTRA_GPU fence (WDDM-31). */
	if (vfence_reject(&file->adapter->drm, !fence->current_value)) {
		vfence_fence_put(fence);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (fence->narrow)
		*value = vfence_widen(vfence_fence_current(fence), *value);
	return fence;
}

static int request_resolve_point(struct vfence_file *file, struct vfence_point *point, u32 need,
				 const struct drm_vfence_fence_point *in)
{
	if (vfence_reject(&file->adapter->drm, in->flags))
		return -EINVAL;
	point->value = in->value;
	point->locked = false;
	point->pledged = false;
	point->fence = vfence_request_look_up(file, in->fence, need, &point->value);
	return PTR_ERR_OR_ZERO(point->fence);
}

/* Append the client's points to @points. On error those that are counted have a reference. */
static int request_resolve_points(struct vfence_file *file, struct vfence_points *points,
				  u32 need, const struct drm_vfence_fence_point *in,
				  unsigned int count)
{
	struct vfence_point *list = vfence_points_list(points);
	int ret = 0;

	for (; points->count < count; points->count++, list++, in++) {
		ret = request_resolve_point(file, list, need, in);
		if (ret)
			break;
	}
	return ret;
}

/* Not inline: calls with one point need no room for more on the stack, which is cleared. */
static noinline int request_resolve_many(struct vfence_file *file,
					 const struct drm_vfence_obj_array *array, u32 need,
					 struct vfence_points *points)
{
	struct drm_vfence_fence_point list[REQUEST_SHORT], *in;
	int ret;

	in = vfence_user_array_get(array, sizeof(*in), DRM_VFENCE_MAX_POINTS, list, sizeof(list));
	if (IS_ERR(in))
		return PTR_ERR(in);

	ret = vfence_points_alloc(points, array->count);
	if (!ret)
		ret = request_resolve_points(file, points, need, in, array->count);
	vfence_user_array_free(in, list);
	if (ret)
		vfence_points_free(points);
	return ret;
}

/**
 * vfence_request_resolve - find the fences of a client's list of points
 * @file: the file of the client
 * @array: list of points in user memory; must not be empty
 * @need: DRM_VFENCE_RIGHT_* that each handle must have
 * @points: an empty list; output: the points; on error empty
 *
 * Return: 0 or a negative error.
 */
int vfence_request_resolve(struct vfence_file *file, const struct drm_vfence_obj_array *array,
			   u32 need, struct vfence_points *points)
{
	struct drm_vfence_fence_point in;
	int ret;

	BUILD_BUG_ON(sizeof(in) % sizeof(u64));
	if (vfence_reject(&file->adapter->drm, !array->count))
		return -EINVAL;
	/* Most lists have one point, in the form of this driver. */
	if (array->count != 1 || array->stride != sizeof(in))
		return request_resolve_many(file, array, need, points);

	ret = vfence_user_array_copy_words(&in, u64_to_user_ptr(array->array), sizeof(in));
	if (!ret)
		ret = request_resolve_point(file, &points->one, need, &in);
	points->count = !ret;
	return ret;
}

/**
 * vfence_request_resolve_ops - find the fences of operations of a submission
 * @file: the file of the client
 * @ops: operations on fences
 * @count: their number, not zero
 * @need: DRM_VFENCE_RIGHT_* that each handle must have
 * @points: an empty list; output: the points; on error empty
 *
 * Return: 0 or a negative error.
 */
int vfence_request_resolve_ops(struct vfence_file *file, const struct drm_vfence_submit_op *ops,
			       u32 count, u32 need, struct vfence_points *points)
{
	int ret = vfence_points_alloc(points, count);

	while (!ret && points->count < count) {
		struct vfence_point *point = &vfence_points_list(points)[points->count];
		struct drm_vfence_fence_point in = { .fence = ops->handle, .value = ops->value };

		ret = request_resolve_point(file, point, need, &in);
		points->count += !ret;
		ops++;
	}
	if (ret)
		vfence_points_free(points);
	return ret;
}

/**
 * vfence_request_signal - signal the points that a call of a client names
 * @file: the file of the client
 * @signals: the points, from vfence_request_resolve(), or an empty list
 * @flags: DRM_VFENCE_SIGNAL_*
 *
 * Return: as vfence_signal_perform().
 */
int vfence_request_signal(struct vfence_file *file, struct vfence_points *signals, u32 flags)
{
	int ret;

	signals->caller = file;
	ret = vfence_signal_perform(signals, flags);
	if (!ret)
		vfence_client_count(file, VFENCE_COUNT_CPU_SIGNALS, signals->count);
	return ret;
}

int vfence_request_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_signal *args = data;
	struct vfence_points signals = {};
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_SIGNAL_ALLOW_REWIND || args->pad))
		return -EINVAL;

	ret = vfence_request_resolve(file, &args->points, DRM_VFENCE_RIGHT_SIGNAL, &signals);
	if (ret)
		return ret;
	vfence_event_begin_signals(file);
	ret = vfence_request_signal(file, &signals, args->flags);
	vfence_points_free(&signals);

	return ret;
}

/**
 * vfence_request_init - check a wait and the signals to perform before it
 * @request: output: the request, to be ended with vfence_request_end() if this succeeds
 * @file: the file of the client
 * @flags: DRM_VFENCE_WAIT_*
 * @array: points to wait for
 * @signals: points to signal first; may be empty
 *
 * On success all arguments of the client are valid.
 *
 * Return: 0 or a negative error.
 */
int vfence_request_init(struct vfence_request *request, struct vfence_file *file, u32 flags,
			const struct drm_vfence_obj_array *array,
			const struct drm_vfence_obj_array *signals)
{
	int ret;

	*request = (struct vfence_request) {
		.file = file,
		.any = flags & DRM_VFENCE_WAIT_ANY,
		.signal_flags = flags & DRM_VFENCE_WAIT_ALLOW_REWIND ?
				DRM_VFENCE_SIGNAL_ALLOW_REWIND : 0,
	};
	ret = vfence_request_resolve(file, array, DRM_VFENCE_RIGHT_WAIT, &request->waits);
	if (ret || !signals->count)
		return ret;

	ret = vfence_request_resolve(file, signals, DRM_VFENCE_RIGHT_SIGNAL, &request->signals);
	if (ret)
		vfence_points_free(&request->waits);
	return ret;
}

/** vfence_request_end - free what a request still has */
void vfence_request_end(struct vfence_request *request)
{
	vfence_points_free(&request->signals);
	vfence_points_free(&request->waits);
	if (request->wait)
		vfence_wait_destroy(request->wait);
}

/**
 * vfence_request_reserve - allocate the wait of a request, unless it has one
 * @request: the request
 *
 * Call it before the signals: it can fail, and signals cannot be undone.
 *
 * Return: 0 or -ENOMEM.
 */
int vfence_request_reserve(struct vfence_request *request)
{
	if (request->wait)
		return 0;
	request->wait = vfence_wait_alloc(request->file->adapter, request->waits.count);
	if (!request->wait)
		return -ENOMEM;
	request->wait->client = request->file;
	return 0;
}

/** vfence_request_take_wait - fill in the wait of a request; the caller owns it now */
struct vfence_wait *vfence_request_take_wait(struct vfence_request *request)
{
	struct vfence_wait *wait = request->wait;

	vfence_points_move(&request->waits, wait, request->any);
	request->wait = NULL;
	return wait;
}

static bool request_is_decided(const void *wait)
{
	return atomic_read(&((const struct vfence_wait *)wait)->state) != VFENCE_WAIT_ARMED;
}

/*
 * Sleep on a wait whose points are armed, then end it. If a signal interrupts the thread the
 * wait stays armed for the restarted call. A thread that is killed makes no more calls.
 */
static int request_sleep_armed(struct vfence_file *file, struct vfence_wait *wait,
			       struct drm_vfence_wait *args)
{
	int ret;

	trace_vfence_wait(wait, 'B', 0);
	ret = vfence_sleep(&wait->sleepers, request_is_decided, wait, args->timeout_ns);
	trace_vfence_wait(wait, 'E', ret);
	if (ret == -ETIME)
		vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_TIMED_OUT);

	/* Then the wait is still ARMED, or another thread decides it. */
	if (ret == -EINTR) {
		vfence_race_point(WAIT_INTERRUPTED);
		if (!fatal_signal_pending(current) &&
		    vfence_wait_restart_keep(file, wait, &args->restart))
			return -ERESTARTSYS;
		vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED);
	}

	vfence_waiter_disarm_all(wait);
	ret = vfence_wait_account(wait);
	if (!ret)
		args->first = wait->any ? atomic_read(&wait->first) : 0;
	if (ret != -ERESTARTSYS)
		args->restart = 0;

	vfence_wait_destroy(wait);
	return ret;
}

/* Perform the signals, then wait. */
static int request_begin(struct vfence_request *request, struct drm_vfence_wait *args)
{
	struct vfence_wait *wait;
	int ret = 0;

	if (request->signals.count && args->timeout_ns)
		ret = vfence_request_reserve(request);
	if (!ret)
		ret = vfence_request_signal(request->file, &request->signals,
					    request->signal_flags);
	if (ret)
		return ret;

	ret = vfence_points_find_reached(&request->waits, request->any);
	if (ret >= 0) {
		args->first = ret;
		return 0;
	}

	ret = args->timeout_ns ? vfence_request_reserve(request) : -ETIME;
	if (ret)
		return ret;

	wait = vfence_request_take_wait(request);
	wait->array = args->points.array;
	vfence_waiter_arm_all(wait);
	vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED);
	return request_sleep_armed(request->file, wait, args);
}

int vfence_request_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	static const struct drm_vfence_obj_array none;
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_wait *args = data;
	struct vfence_request request;
	struct vfence_wait *wait;
	int ret;

	if (vfence_reject(drm, args->flags & ~VFENCE_REQUEST_FLAGS || args->pad) ||
	    vfence_reject(drm, args->timeout_ns < 0))
		return -EINVAL;

	wait = vfence_wait_restart_take(file, args->restart, &args->points);
	if (vfence_reject(drm, IS_ERR(wait)))
		return PTR_ERR(wait);
	if (wait) {
		ret = request_sleep_armed(file, wait, args);
	} else {
		/* The interrupted call has performed the signals. */
		ret = vfence_request_init(&request, file, args->flags, &args->points,
					  args->restart ? &none : &args->signals);
		if (!ret) {
			ret = request_begin(&request, args);
			vfence_request_end(&request);
		}
		if (ret != -ERESTARTSYS)
			args->restart = 0;
	}

	if (!ret)
		vfence_event_settle(file);
	return ret;
}
