/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_BO_H_
#define _VFENCE_BO_H_

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct drm_gem_object;
struct vfence_file;

/**
 * struct vfence_vmapped - a buffer kept resident and mapped for the kernel
 */
struct vfence_vmapped {
	/** @obj: the buffer, with a reference; NULL if the mapping is empty */
	struct drm_gem_object *obj;
	/** @kva: kernel address of the buffer's memory */
	void *kva;
};

int vfence_bo_vmap(struct vfence_file *file, u32 handle, struct vfence_vmapped *mapped);
void vfence_bo_vunmap(struct vfence_vmapped *mapped);
struct drm_gem_object *vfence_bo_alloc(struct drm_device *drm, size_t size);
int vfence_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
