/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VM_H_
#define _VFENCE_VM_H_

#include <linux/mm.h>
#include <linux/types.h>

struct drm_device;
struct drm_file;
struct drm_mm_node;
struct vfence_file;

/** VFENCE_VA_START: lowest GPU address; 0 stays invalid, as a forgotten initialisation gives it */
#define VFENCE_VA_START	PAGE_SIZE

int vfence_vm_reserve(struct vfence_file *file, struct drm_mm_node *node, u64 size,
		      u64 start, u64 end);
void vfence_vm_unbind_all(struct vfence_file *file);
int vfence_vm_bind_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
