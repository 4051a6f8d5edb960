// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait and signal ioctls: look up a client's points, signal, sleep, return the result.
 */

#include <linux/sched/signal.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>

#include "core/vfence_adapter.h"
#include "core/vfence_wake.h"
#include "fence/vfence_drain.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_points.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_wait_args.h"
#include "fence/vfence_wait_ioctl.h"
#include "fence/vfence_wait_restart.h"
#include "fence/vfence_waiter.h"
#include "vfence_race_point.h"

int vfence_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_signal *args = data;
	struct vfence_points signals = {};
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_SIGNAL_ALLOW_REWIND || args->pad))
		return -EINVAL;

	ret = vfence_points_resolve(file, &args->points, DRM_VFENCE_RIGHT_SIGNAL, &signals);
	if (ret)
		return ret;
	vfence_event_begin_signals(file);
	ret = vfence_wait_args_signal(file, &signals, args->flags);
	vfence_points_free(&signals);

	return ret;
}

static bool wait_ioctl_is_decided(const void *wait)
{
	return atomic_read(&((const struct vfence_wait *)wait)->state) != VFENCE_WAIT_ARMED;
}

/*
 * Sleep on a wait whose points are armed, then end it. If a signal interrupts the thread the
 * wait stays armed for the restarted call. A thread that is killed makes no more calls.
 */
static int wait_ioctl_sleep(struct vfence_file *file, struct vfence_wait *wait,
			    struct drm_vfence_wait *args)
{
	int ret;

	trace_vfence_wait(wait, 'B', 0);
	ret = vfence_sleep(&wait->sleepers, wait_ioctl_is_decided, wait, args->timeout_ns);
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
static int wait_ioctl_begin(struct vfence_wait_args *wait_args, struct drm_vfence_wait *args)
{
	struct vfence_wait *wait;
	int ret = 0;

	if (wait_args->signals.count && args->timeout_ns)
		ret = vfence_wait_args_reserve(wait_args);
	if (!ret)
		ret = vfence_wait_args_signal(wait_args->file, &wait_args->signals,
					      wait_args->signal_flags);
	if (ret)
		return ret;

	ret = vfence_points_find_reached(&wait_args->waits, wait_args->any);
	if (ret >= 0) {
		args->first = ret;
		return 0;
	}

	ret = args->timeout_ns ? vfence_wait_args_reserve(wait_args) : -ETIME;
	if (ret)
		return ret;

	wait = vfence_wait_args_take_wait(wait_args);
	wait->array = args->points.array;
	vfence_drain_and_arm_all(wait);
	vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED);
	return wait_ioctl_sleep(wait_args->file, wait, args);
}

int vfence_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	static const struct drm_vfence_obj_array none;
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_wait *args = data;
	struct vfence_wait_args wait_args;
	struct vfence_wait *wait;
	int ret;

	if (vfence_reject(drm, args->flags & ~VFENCE_WAIT_ARGS_FLAGS || args->pad) ||
	    vfence_reject(drm, args->timeout_ns < 0))
		return -EINVAL;

	wait = vfence_wait_restart_take(file, args->restart, &args->points);
	if (vfence_reject(drm, IS_ERR(wait)))
		return PTR_ERR(wait);
	if (wait) {
		ret = wait_ioctl_sleep(file, wait, args);
	} else {
		/* The interrupted call has performed the signals. */
		ret = vfence_wait_args_init(&wait_args, file, args->flags, &args->points,
					    args->restart ? &none : &args->signals);
		if (!ret) {
			ret = wait_ioctl_begin(&wait_args, args);
			vfence_wait_args_end(&wait_args);
		}
		if (ret != -ERESTARTSYS)
			args->restart = 0;
	}

	if (!ret)
		vfence_event_fire_reached(file);
	return ret;
}
