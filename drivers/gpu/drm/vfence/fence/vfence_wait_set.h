/* SPDX-License-Identifier: GPL-2.0-only */
/* Wait sets: points that outlive the call that waits for them; see vfence_wait_set.c. */
#ifndef _VFENCE_WAIT_SET_H_
#define _VFENCE_WAIT_SET_H_

struct drm_device;
struct drm_file;
struct vfence_file;

void vfence_wait_set_destroy_all(struct vfence_file *file);
int vfence_wait_set_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_wait_set_destroy(struct vfence_file *file, u32 handle);
int vfence_wait_set_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
