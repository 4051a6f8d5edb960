/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCE_IRQ_H_
#define _VFENCE_FENCE_IRQ_H_

struct vfence_adapter;

void vfence_fence_irq_add_sources(struct vfence_adapter *adapter);

#endif
