/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_UOBJ_H_
#define _VFENCE_UOBJ_H_

#include <linux/types.h>

struct drm_vfence_obj_array;

/**
 * vfence_reject - evaluates to @cond; logs it at debug level when true
 * @drm: the DRM device
 * @cond: what is wrong with the client's call
 */
#define vfence_reject(drm, cond) \
	((cond) ? (drm_dbg_driver((drm), "rejected: %s\n", #cond), true) : false)

void *vfence_uobj_get(const struct drm_vfence_obj_array *in, size_t size, u32 max);
int vfence_uobj_put(const struct drm_vfence_obj_array *out, u32 index, const void *obj,
		    size_t size);

#endif
