/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_INJECT_H_
#define _VFENCE_INJECT_H_

#include <linux/kconfig.h>

struct drm_minor;

#if IS_ENABLED(CONFIG_DRM_VFENCE_INJECTION)
void vfence_inject_init(struct drm_minor *minor);
#else
static inline void vfence_inject_init(struct drm_minor *minor)
{
}
#endif

#endif
