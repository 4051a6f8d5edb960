/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ADDRESS_H_
#define _VFENCE_ADDRESS_H_

#include <linux/types.h>

struct vfence_fence;
struct vfence_file;

int vfence_address_add(struct vfence_file *file, u64 va, struct vfence_fence *fence);
void vfence_address_remove(struct vfence_file *file, u64 va);
struct vfence_fence *vfence_address_lookup(struct vfence_file *file, u64 va);

#endif
