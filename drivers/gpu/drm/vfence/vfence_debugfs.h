/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_DEBUGFS_H_
#define _VFENCE_DEBUGFS_H_

struct drm_minor;

void vfence_debugfs_init(struct drm_minor *minor);

#endif
