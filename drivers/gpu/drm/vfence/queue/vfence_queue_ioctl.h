/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_QUEUE_IOCTL_H_
#define _VFENCE_QUEUE_IOCTL_H_

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct drm_vfence_context_info;
struct drm_vfence_queue_info;
struct vfence_file;

int vfence_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_queue_abort_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_queue_destroy_doorbell(struct vfence_file *file, u32 handle);
int vfence_queue_query(struct vfence_file *file, u32 handle, struct drm_vfence_queue_info *info);
int vfence_queue_query_context(struct vfence_file *file, u32 handle,
			       struct drm_vfence_context_info *info);

#endif
