/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCE_FD_H_
#define _VFENCE_FENCE_FD_H_

struct drm_device;
struct drm_file;

int vfence_fence_fd_export_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_fence_fd_open_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
