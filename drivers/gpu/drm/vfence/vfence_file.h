/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FILE_H_
#define _VFENCE_FILE_H_

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct drm_printer;
struct vfence_file;

int vfence_file_open(struct drm_device *drm, struct drm_file *file);
void vfence_file_close(struct drm_device *drm, struct drm_file *file);
u64 vfence_file_id(struct drm_file *file);
void vfence_file_show(struct vfence_file *file, struct drm_printer *p);
int vfence_file_destroy_device(struct vfence_file *file, u32 handle);

#endif
