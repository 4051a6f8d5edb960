/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCE_HANDLE_H_
#define _VFENCE_FENCE_HANDLE_H_

#include <linux/list.h>
#include <linux/types.h>

#include "drm/vfence_drm.h"

struct drm_device;
struct drm_file;
struct drm_vfence_fence_info;
struct vfence_device;
struct vfence_fence;
struct vfence_file;
struct vfence_map;

/**
 * struct vfence_fence_handle - handle of a fence, which one device owns
 */
struct vfence_fence_handle {
	/** @device: Device that owns the handle. */
	struct vfence_device *device;
	/** @fence: Global part of the fence. */
	struct vfence_fence *fence;
	/** @map: Addresses of the fence's values in the file's GPU address space. */
	struct vfence_map *map;
	/** @rights: DRM_VFENCE_RIGHT_* of the handle. */
	u32 rights;
	/** @handle: The handle; 0 for a moment after it can be looked up. */
	u32 handle;

	/**
	 * @kernel_owned: True for the progress fence of a queue: only the queue destroys the
	 * handle. Protected by file->lock.
	 */
	bool kernel_owned;

	/** @parent: The device has created the fence. */
	bool parent;

	/** @device_link: Entry in device->fence_handles; file->lock. */
	struct list_head device_link;
	/** @loss_link: Entry in device->losses until the loss is performed; device->lock. */
	struct list_head loss_link;
};

/** VFENCE_FENCE_NOTHING: flags that a handle must not combine: it could do nothing */
#define VFENCE_FENCE_NOTHING \
	(DRM_VFENCE_FENCE_NO_SIGNAL | DRM_VFENCE_FENCE_NO_WAIT)

int vfence_fence_handle_init(struct vfence_file *file);
void vfence_fence_handle_fini(struct vfence_file *file);
u32 vfence_fence_handle_rights_without(u32 rights, u32 flags);
int vfence_fence_handle_add(struct vfence_file *file, struct vfence_device *device,
			    struct vfence_fence *fence, u32 rights, bool parent, u32 *handle,
		     struct drm_vfence_fence_mapping *mapping);
void vfence_fence_handle_own(struct vfence_file *file, u32 handle);
int vfence_fence_handle_destroy(struct vfence_file *file, u32 handle);
void vfence_fence_handle_device_lost(struct vfence_device *device);
void vfence_fence_handle_destroy_all(struct vfence_file *file, struct vfence_device *device);
struct vfence_fence *vfence_fence_handle_lookup(struct vfence_file *file, u32 handle, u32 need,
						u32 *rights);
int vfence_fence_handle_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_fence_handle_destroy_by_client(struct vfence_file *file, u32 handle);
int vfence_fence_handle_query(struct vfence_file *file, u32 handle,
			      struct drm_vfence_fence_info *info);

#endif
