/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_REQUEST_H_
#define _VFENCE_REQUEST_H_

#include <linux/types.h>

#include "fence/vfence_wait.h"

struct drm_device;
struct drm_file;
struct drm_vfence_obj_array;
struct vfence_file;
struct vfence_wait;

/**
 * struct vfence_request - checked wait, with the signals to perform before it
 */
struct vfence_request {
	/** @wait: Points to wait for; in @room until vfence_wait_settle() if it is one. */
	struct vfence_wait *wait;
	/** @signals: Points to signal first, or NULL; in @signal_room if it is one. */
	struct vfence_wait *signals;
	/** @room: room for @wait */
	struct vfence_wait_room room;
	/** @signal_room: room for @signals */
	struct vfence_wait_room signal_room;
	/** @signal_flags: DRM_VFENCE_SIGNAL_* for @signals. */
	u32 signal_flags;
};

/** VFENCE_REQUEST_FLAGS: flags that WAIT and EVENT_ARM take */
#define VFENCE_REQUEST_FLAGS	(DRM_VFENCE_WAIT_ANY | DRM_VFENCE_WAIT_ALLOW_REWIND)

struct vfence_fence *vfence_request_look_up(struct vfence_file *file, u32 handle, u32 need,
					    u64 *value);
struct vfence_wait *vfence_request_resolve(struct vfence_file *file,
					   const struct drm_vfence_obj_array *points, u32 need,
					   bool any, struct vfence_wait_room *room);
int vfence_request_signal_points(struct vfence_file *file, struct vfence_wait *signals, u32 flags);
int vfence_request_init(struct vfence_request *request, struct vfence_file *file, u32 flags,
			const struct drm_vfence_obj_array *points,
			const struct drm_vfence_obj_array *signals);
int vfence_request_signal(struct vfence_request *request);
int vfence_request_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_request_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
