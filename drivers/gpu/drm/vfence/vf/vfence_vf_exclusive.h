/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VF_EXCLUSIVE_H_
#define _VFENCE_VF_EXCLUSIVE_H_

#include <linux/types.h>

#include "vfence_guard.h"

struct vfence_vf_exclusive;
struct vfence_vf_sched;
struct vgpu;

struct vfence_vf_exclusive *vfence_vf_exclusive_create(struct vfence_vf_sched *sched,
						       struct vgpu *physical, const char *name);
void vfence_vf_exclusive_destroy(struct vfence_vf_exclusive *exclusive);
void vfence_vf_exclusive_join(struct vfence_vf_exclusive *exclusive, struct vgpu *gpu);
void vfence_vf_exclusive_leave(struct vfence_vf_exclusive *exclusive, struct vgpu *gpu);
void vfence_vf_exclusive_resumed(struct vfence_vf_exclusive *exclusive);
void vfence_vf_exclusive_get_guard(struct vfence_vf_exclusive *exclusive, unsigned int function,
				   enum vfence_guard_kind kind, struct vfence_guard *guard);
void vfence_vf_exclusive_set_limit(struct vfence_vf_exclusive *exclusive, unsigned int function,
				   enum vfence_guard_kind kind, const struct vfence_guard_limit
				   *limit);

#endif
