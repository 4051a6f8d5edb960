/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCE_IRQ_H_
#define _VFENCE_FENCE_IRQ_H_

struct vfence_adapter;
struct vfence_fence;

void vfence_fence_irq_add_sources(struct vfence_adapter *adapter);
bool vfence_fence_irq_look(struct vfence_fence *fence, unsigned int *completed);
unsigned int vfence_fence_irq_rescan(struct vfence_fence *fence);
void vfence_fence_irq_complete(struct vfence_fence *fence);
void vfence_fence_irq_settle(struct vfence_fence *fence);
void vfence_fence_irq_settle_rewinds(struct vfence_fence *fence);

#endif
