/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SEGMENT_H_
#define _VFENCE_SEGMENT_H_

#include <linux/types.h>

struct vfence_adapter;
struct vfence_storage;

void vfence_segment_init(struct vfence_adapter *adapter);
int vfence_segment_alloc_dummy(struct vfence_adapter *adapter);
void vfence_segment_fini(struct vfence_adapter *adapter);
int vfence_segment_place(struct vfence_storage *storage, bool visible);
void vfence_segment_leave(struct vfence_storage *storage);
void vfence_segment_purge(struct vfence_adapter *adapter);
int vfence_segment_power_off(struct vfence_adapter *adapter);
void vfence_segment_power_on(struct vfence_adapter *adapter);

#endif
