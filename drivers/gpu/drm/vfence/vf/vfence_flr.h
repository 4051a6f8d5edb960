/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FLR_H_
#define _VFENCE_FLR_H_

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/wait.h>

struct vgpu;

/**
 * struct vfence_flr - resets of functions by the host
 */
struct vfence_flr {
	/** @ready: mask of the functions that have answered a notice */
	atomic_t ready;
	/** @wait: the host sleeps here until drivers have answered */
	wait_queue_head_t wait;
};

void vfence_flr_init(struct vfence_flr *flr);
void vfence_flr_answered(struct vfence_flr *flr, unsigned int function);
bool vfence_flr_function(struct vfence_flr *flr, struct vgpu *gpu);
void vfence_flr_chip(struct vfence_flr *flr, struct vgpu *const *gpu, unsigned int count,
		     const struct vgpu *suspect);

#endif
