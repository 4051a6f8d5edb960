/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_QUEUE_IRQ_H_
#define _VFENCE_QUEUE_IRQ_H_

struct vfence_adapter;
struct vfence_queue;

void vfence_queue_irq_init(struct vfence_adapter *adapter);
void vfence_queue_irq_add_sources(struct vfence_adapter *adapter);
void vfence_queue_irq_setup(struct vfence_queue *queue);

#endif
