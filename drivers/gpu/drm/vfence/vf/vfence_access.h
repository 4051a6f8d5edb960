/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ACCESS_H_
#define _VFENCE_ACCESS_H_

#include <linux/types.h>

#include "vfence_guard.h"

struct vfence_access;
struct vfence_world;
struct vgpu;

struct vfence_access *vfence_access_create(struct vfence_world *world, struct vgpu *physical,
					   const char *name);
void vfence_access_destroy(struct vfence_access *access);
void vfence_access_join(struct vfence_access *access, struct vgpu *gpu);
void vfence_access_leave(struct vfence_access *access, struct vgpu *gpu);
void vfence_access_resumed(struct vfence_access *access);
void vfence_access_get_guard(struct vfence_access *access, unsigned int function,
			     enum vfence_guard_kind kind, struct vfence_guard *guard);
void vfence_access_set_limit(struct vfence_access *access, unsigned int function,
			     enum vfence_guard_kind kind, const struct vfence_guard_limit *limit);

#endif
