/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_OBJ_ARRAY_H_
#define _VFENCE_OBJ_ARRAY_H_

#include <linux/types.h>

struct drm_vfence_obj_array;

bool vfence_obj_array_stride_valid(u32 stride);
void *vfence_obj_array_get(const struct drm_vfence_obj_array *in, size_t size, u32 max, void *room,
			   size_t room_size);
void vfence_obj_array_free(void *array, const void *room);
int vfence_obj_array_put(const struct drm_vfence_obj_array *out, u32 index, const void *obj,
			 size_t size);

#endif
