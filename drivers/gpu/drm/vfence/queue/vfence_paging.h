/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PAGING_H_
#define _VFENCE_PAGING_H_

#include <linux/wait.h>

#include "hw/vgpu.h"

struct vfence_adapter;

/**
 * struct vfence_paging - the kernel ring that moves memory
 *
 * On an engine of its own, so that no client's work stands in its way.
 */
struct vfence_paging {
	/** @queue: the hardware queue */
	struct vgpu_queue *queue;
	/** @ring: its ring, a page */
	void *ring;
	/** @control: its pointers */
	struct drm_vfence_ring_control *control;
	/** @submitted: last submitted fence id; segment.lock */
	u64 submitted;
	/** @done: who waits for a fence id; woken by the interrupt */
	wait_queue_head_t done;
};

int vfence_paging_init(struct vfence_adapter *adapter);
void vfence_paging_fini(struct vfence_adapter *adapter);
int vfence_paging_run(struct vfence_adapter *adapter, enum vgpu_kernel_opcode opcode,
		      struct vgpu_storage *storage, void *kva);

#endif
