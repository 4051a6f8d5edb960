/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCE_VA_H_
#define _VFENCE_FENCE_VA_H_

#include <linux/types.h>

struct vfence_fence;
struct vfence_file;

int vfence_fence_va_add(struct vfence_file *file, u64 va, struct vfence_fence *fence);
void vfence_fence_va_remove(struct vfence_file *file, u64 va);
struct vfence_fence *vfence_fence_va_lookup(struct vfence_file *file, u64 va);

#endif
