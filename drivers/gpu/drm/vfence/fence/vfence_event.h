/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_EVENT_H_
#define _VFENCE_EVENT_H_

struct drm_device;
struct drm_file;
struct vfence_file;

int vfence_event_arm_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_event_cancel_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void vfence_event_init(struct vfence_file *file);
void vfence_event_flush(struct vfence_file *file);
void vfence_event_cancel_all(struct vfence_file *file);

#endif
