/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_NOTIFY_H_
#define _VFENCE_NOTIFY_H_

struct vfence_adapter;
struct vfence_fence;

void vfence_notify_add_sources(struct vfence_adapter *adapter);
bool vfence_notify_look(struct vfence_fence *fence, unsigned int *completed);
unsigned int vfence_notify_rescan(struct vfence_fence *fence);
void vfence_notify_complete(struct vfence_fence *fence);
void vfence_notify_settle(struct vfence_fence *fence);
void vfence_notify_settle_rewinds(struct vfence_fence *fence);

#endif
