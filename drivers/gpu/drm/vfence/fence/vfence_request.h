/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_REQUEST_H_
#define _VFENCE_REQUEST_H_

#include <linux/types.h>

#include "fence/vfence_points.h"

struct drm_device;
struct drm_file;
struct drm_vfence_obj_array;
struct drm_vfence_submit_op;
struct vfence_file;
struct vfence_wait;

/**
 * struct vfence_request - checked wait, with the signals to perform before it
 */
struct vfence_request {
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

/** VFENCE_REQUEST_FLAGS: flags that WAIT and EVENT_ARM take */
#define VFENCE_REQUEST_FLAGS	(DRM_VFENCE_WAIT_ANY | DRM_VFENCE_WAIT_ALLOW_REWIND)

struct vfence_fence *vfence_request_look_up(struct vfence_file *file, u32 handle, u32 need,
					    u64 *value);
int vfence_request_resolve(struct vfence_file *file, const struct drm_vfence_obj_array *array,
			   u32 need, struct vfence_points *points);
int vfence_request_resolve_ops(struct vfence_file *file, const struct drm_vfence_submit_op *ops,
			       u32 count, u32 need, struct vfence_points *points);
int vfence_request_signal(struct vfence_file *file, struct vfence_points *signals, u32 flags);
int vfence_request_init(struct vfence_request *request, struct vfence_file *file, u32 flags,
			const struct drm_vfence_obj_array *array,
			const struct drm_vfence_obj_array *signals);
void vfence_request_end(struct vfence_request *request);
int vfence_request_reserve(struct vfence_request *request);
struct vfence_wait *vfence_request_take_wait(struct vfence_request *request);
int vfence_request_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_request_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
