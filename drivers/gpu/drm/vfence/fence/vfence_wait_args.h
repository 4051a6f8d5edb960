/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_WAIT_ARGS_H_
#define _VFENCE_WAIT_ARGS_H_

#include <linux/types.h>

#include "core/vfence_file_types.h"
#include "fence/vfence_points.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_wait.h"

struct drm_vfence_obj_array;

/**
 * struct vfence_wait_args - checked arguments of a wait, with the signals to perform before it
 */
struct vfence_wait_args {
	/** @file: File of the client. */
	struct vfence_file *file;
	/** @waits: Points to wait for. */
	struct vfence_points waits;
	/** @signals: Points to signal first; may be empty. */
	struct vfence_points signals;
	/** @wait: Memory for a wait for @waits, or NULL. */
	struct vfence_wait *wait;
	/** @signal_flags: DRM_VFENCE_SIGNAL_* for @signals. */
	u32 signal_flags;
	/** @any: True if one reached point satisfies the wait. */
	bool any;
};

/** VFENCE_WAIT_ARGS_FLAGS: flags that WAIT and EVENT_ARM take */
#define VFENCE_WAIT_ARGS_FLAGS	(DRM_VFENCE_WAIT_ANY | DRM_VFENCE_WAIT_ALLOW_REWIND)

int vfence_wait_args_init(struct vfence_wait_args *wait_args, struct vfence_file *file, u32 flags,
			  const struct drm_vfence_obj_array *array,
			  const struct drm_vfence_obj_array *signals);
int vfence_wait_args_reserve(struct vfence_wait_args *wait_args);
struct vfence_wait *vfence_wait_args_take_wait(struct vfence_wait_args *wait_args);

/** vfence_wait_args_end - free what checked arguments still have */
static inline void vfence_wait_args_end(struct vfence_wait_args *wait_args)
{
	vfence_points_free(&wait_args->signals);
	vfence_points_free(&wait_args->waits);
	if (wait_args->wait)
		vfence_wait_destroy(wait_args->wait);
}

/**
 * vfence_wait_args_signal - signal the points that a call of a client names
 * @file: the file of the client
 * @signals: the points, from vfence_points_resolve(), or an empty list
 * @flags: DRM_VFENCE_SIGNAL_*
 *
 * Return: as vfence_signal_perform().
 */
static inline int vfence_wait_args_signal(struct vfence_file *file, struct vfence_points *signals,
					  u32 flags)
{
	int ret;

	signals->caller = file;
	ret = vfence_signal_perform(signals, flags);
	if (!ret)
		vfence_client_count(file, VFENCE_COUNT_CPU_SIGNALS, signals->count);
	return ret;
}

#endif
