/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_WAIT_IOCTL_H_
#define _VFENCE_WAIT_IOCTL_H_

struct drm_device;
struct drm_file;

int vfence_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
