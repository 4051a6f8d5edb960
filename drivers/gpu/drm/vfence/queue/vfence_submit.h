/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SUBMIT_H_
#define _VFENCE_SUBMIT_H_

struct drm_device;
struct drm_file;

int vfence_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
