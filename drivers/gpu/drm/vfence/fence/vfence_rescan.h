/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RESCAN_H_
#define _VFENCE_RESCAN_H_

#include <linux/types.h>

struct vfence_adapter;
struct vfence_fence;

bool vfence_rescan_batch(struct vfence_fence *fence, unsigned int *completed);
unsigned int vfence_rescan_fence(struct vfence_fence *fence);
bool vfence_rescan_deferred_batch(struct vfence_fence *fence);
void vfence_rescan_deferred(struct vfence_fence *fence);
void vfence_rescan_all(struct vfence_adapter *adapter);

#endif
