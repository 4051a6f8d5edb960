/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_LOCAL_H_
#define _VFENCE_LOCAL_H_

#include <linux/list.h>
#include <linux/types.h>

#include "drm/vfence_drm.h"

struct drm_device;
struct drm_file;
struct vfence_device;
struct vfence_fence;
struct vfence_file;
struct vfence_map;
struct vfence_wait;

/**
 * struct vfence_local - a fence as one holder sees it: a handle
 */
struct vfence_local {
	/** @device: parent */
	struct vfence_device *device;
	/** @fence: the global part */
	struct vfence_fence *fence;
	/** @map: its addresses */
	struct vfence_map *map;
	/** @rights: DRM_VFENCE_RIGHT_* */
	u32 rights;
	/** @kept: of the progress fence of a queue, which alone destroys it; file->lock */
	bool kept;
	/** @max_link: in device->max_signals, while @max_signal is; device->lock */
	struct list_head max_link;
	/** @max_signal: what to signal on TDR, or NULL; device->lock */
	struct vfence_wait *max_signal;
};

/** VFENCE_MONITORED_NOTHING: what no handle may have both of */
#define VFENCE_MONITORED_NOTHING \
	(DRM_VFENCE_MONITORED_NO_SIGNAL | DRM_VFENCE_MONITORED_NO_WAIT)

u32 vfence_local_monitored_rights(u32 rights, u32 flags);
int vfence_local_add(struct vfence_file *file, struct vfence_device *device,
		     struct vfence_fence *fence, u32 rights, u32 *handle,
		     struct drm_vfence_fence_mapping *mapping);
void vfence_local_keep(struct vfence_file *file, u32 handle);
int vfence_local_destroy(struct vfence_file *file, u32 handle);
void vfence_local_signal_max(struct vfence_device *device);
void vfence_local_destroy_all(struct vfence_file *file, struct vfence_device *device);
struct vfence_fence *vfence_local_lookup(struct vfence_file *file, u32 handle, u32 need,
					 u32 *rights);
int vfence_local_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_local_create_monitored_ioctl(struct drm_device *drm, void *data,
					struct drm_file *file);
int vfence_local_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_local_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
