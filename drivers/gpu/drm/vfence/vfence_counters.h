/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_COUNTERS_H_
#define _VFENCE_COUNTERS_H_

#include <linux/types.h>

#include <drm/vfence_drm.h>

struct vfence_adapter;
struct vfence_file;

unsigned int vfence_counters_values(struct vfence_adapter *adapter, struct drm_vfence_counter *to);
unsigned int vfence_counters_client(struct vfence_file *file, struct drm_vfence_counter *to);
unsigned int vfence_counters_infos(struct drm_vfence_counter_info *to);

#endif
