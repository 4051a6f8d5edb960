/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_WAIT_RESTART_H_
#define _VFENCE_WAIT_RESTART_H_

#include "core/vfence_file_types.h"

/* A number that names no wait, because handles have 31 bits. */
#define VFENCE_WAIT_RESTART_NONE	U32_MAX

struct vfence_wait;

bool vfence_wait_restart_keep(struct vfence_file *file, struct vfence_wait *wait, u32 *number);
struct vfence_wait *vfence_wait_restart_take(struct vfence_file *file, u32 number,
					     const struct drm_vfence_obj_array *array);
void vfence_wait_restart_drop_all(struct vfence_file *file);

#endif
