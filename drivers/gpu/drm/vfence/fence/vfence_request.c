// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait and signal ioctls: look up a client's points, signal, sleep, return the result.
 */

#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_obj_array.h"
#include "core/vfence_wake.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_local.h"
#include "fence/vfence_point.h"
#include "fence/vfence_request.h"
#include "fence/vfence_restart.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_wait.h"
#include "vfence_step.h"

/* Lists of at most so many points are copied to the stack. */
#define REQUEST_SHORT	4

/**
 * vfence_request_signal_points - signal the points that a call of a client names
 * @file: the file of the client
 * @signals: the points, from vfence_request_resolve()
 * @flags: DRM_VFENCE_SIGNAL_*
 *
 * Return: as vfence_signal_perform().
 */
int vfence_request_signal_points(struct vfence_file *file, struct vfence_wait *signals, u32 flags)
{
	int ret = vfence_signal_perform(signals, flags);

	if (!ret)
		vfence_client_count(file, VFENCE_COUNT_CPU_SIGNALS, signals->count);
	return ret;
}

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
	struct vfence_fence *fence = vfence_local_lookup(file, handle, need, NULL);

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

/* Fill in @wait from the client's points. On error wait->count points have a reference. */
static int request_resolve_points(struct vfence_file *file, struct vfence_wait *wait, u32 need,
				  const struct drm_vfence_fence_point *in, unsigned int count)
{
	for (; wait->count < count; wait->count++) {
		struct vfence_point *point = &wait->points[wait->count];

		if (vfence_reject(&file->adapter->drm, in[wait->count].flags))
			return -EINVAL;
		point->wait = wait;
		point->value = in[wait->count].value;
		point->fence = vfence_request_look_up(file, in[wait->count].fence, need,
						      &point->value);
		if (IS_ERR(point->fence))
			return PTR_ERR(point->fence);
	}
	return 0;
}

/**
 * vfence_request_resolve - create a wait from a client's list of points
 * @file: the file of the client
 * @points: list of points in user memory; must not be empty
 * @need: DRM_VFENCE_RIGHT_* that each handle must have
 * @any: true if one reached point satisfies the wait
 * @room: room of the caller for a wait of one point, see vfence_wait_borrow(), or NULL
 *
 * Return: a wait that is ARMING without armed points, or an ERR_PTR.
 */
struct vfence_wait *vfence_request_resolve(struct vfence_file *file,
					   const struct drm_vfence_obj_array *points, u32 need,
					   bool any, struct vfence_wait_room *room)
{
	struct drm_vfence_fence_point list[REQUEST_SHORT], *in;
	struct vfence_wait *wait;
	int ret;

	if (vfence_reject(&file->adapter->drm, !points->count))
		return ERR_PTR(-EINVAL);
	in = vfence_obj_array_get(points, sizeof(*in), DRM_VFENCE_MAX_POINTS, list, sizeof(list));
	if (IS_ERR(in))
		return ERR_CAST(in);

	wait = room && points->count == 1 ? vfence_wait_borrow(file->adapter, room) :
					    vfence_wait_alloc(file->adapter, points->count);
	if (!wait) {
		vfence_obj_array_free(in, list);
		return ERR_PTR(-ENOMEM);
	}

	wait->any = any;
	wait->array = points->array;
	atomic_set(&wait->pending, any ? 1 : points->count);
	atomic_set(&wait->first, -1);
	ret = request_resolve_points(file, wait, need, in, points->count);
	vfence_obj_array_free(in, list);
	if (ret) {
		vfence_wait_destroy(wait);
		return ERR_PTR(ret);
	}

	return wait;
}

int vfence_request_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_signal *args = data;
	struct vfence_wait_room room;
	struct vfence_wait *signals;
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_SIGNAL_ALLOW_REWIND || args->pad))
		return -EINVAL;

	signals = vfence_request_resolve(file, &args->points, DRM_VFENCE_RIGHT_SIGNAL, false,
					 &room);
	if (IS_ERR(signals))
		return PTR_ERR(signals);

	ret = vfence_request_signal_points(file, signals, args->flags);
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
	request->signal_flags = flags & DRM_VFENCE_WAIT_ALLOW_REWIND ?
				DRM_VFENCE_SIGNAL_ALLOW_REWIND : 0;
	request->wait = vfence_request_resolve(file, points, DRM_VFENCE_RIGHT_WAIT,
					       flags & DRM_VFENCE_WAIT_ANY, &request->room);
	if (IS_ERR(request->wait))
		return PTR_ERR(request->wait);
	request->wait->client = file;
	if (!signals->count)
		return 0;

	request->signals = vfence_request_resolve(file, signals, DRM_VFENCE_RIGHT_SIGNAL, false,
						  &request->signal_room);
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

	ret = vfence_request_signal_points(request->wait->client, request->signals,
					   request->signal_flags);
	vfence_wait_destroy(request->signals);
	request->signals = NULL;

	return ret;
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
	int ret = vfence_sleep(&wait->sleepers, request_is_decided, wait, args->timeout_ns);

	if (ret == -ETIME)
		vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_TIMED_OUT);

	/* Then the wait is still ARMED, or another thread decides it. */
	if (ret == -EINTR) {
		vfence_step(WAIT_INTERRUPTED);
		if (!fatal_signal_pending(current) &&
		    vfence_restart_keep(file, wait, &args->restart))
			return -ERESTARTSYS;
		vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED);
	}

	vfence_point_disarm_all(wait);
	ret = vfence_wait_account(wait);
	if (!ret)
		args->first = wait->any ? atomic_read(&wait->first) : 0;
	if (ret != -ERESTARTSYS)
		args->restart = 0;

	vfence_wait_destroy(wait);
	return ret;
}

/* Give the wait memory that others may access. Returns 0, or -ENOMEM, and nothing has changed. */
static int request_settle(struct vfence_request *request)
{
	struct vfence_wait *wait = vfence_wait_settle(request->wait);

	if (!wait)
		return -ENOMEM;
	request->wait = wait;
	return 0;
}

/* Perform the signals, then wait. Takes over the request. */
static int request_begin(struct vfence_file *file, struct vfence_request *request,
			 struct drm_vfence_wait *args)
{
	struct vfence_wait *wait;
	int ret = 0;

	/* Before the signals: this can fail, and signals cannot be undone. */
	if (request->signals && args->timeout_ns)
		ret = request_settle(request);
	wait = request->wait;
	ret = ret ? ret : vfence_request_signal(request);
	if (ret)
		goto destroy;

	if (vfence_wait_poll(wait, wait->any)) {
		args->first = wait->any ? atomic_read(&wait->first) : 0;
		goto destroy;
	}

	ret = args->timeout_ns ? request_settle(request) : -ETIME;
	wait = request->wait;
	ret = ret ? ret : vfence_point_arm_all(wait);
	if (ret)
		goto destroy;

	vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED);
	return request_sleep_armed(file, wait, args);

destroy:
	if (request->signals)
		vfence_wait_destroy(request->signals);
	vfence_wait_destroy(wait);
	return ret;
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

	wait = vfence_restart_take(file, args->restart, &args->points);
	if (vfence_reject(drm, IS_ERR(wait)))
		return PTR_ERR(wait);
	if (wait) {
		ret = request_sleep_armed(file, wait, args);
	} else {
		/* The interrupted call has performed the signals. */
		ret = vfence_request_init(&request, file, args->flags, &args->points,
					  args->restart ? &none : &args->signals);
		if (!ret)
			ret = request_begin(file, &request, args);
		if (ret != -ERESTARTSYS)
			args->restart = 0;
	}

	return ret;
}
