/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PROPAGATE_H_
#define _VFENCE_PROPAGATE_H_

#include <linux/types.h>

struct vfence_fence;

void vfence_propagate_signal(struct vfence_fence *fence, u64 value, u64 time);
void vfence_propagate_note_locked(struct vfence_fence *fence, u64 value, u64 time);
void vfence_propagate_noted(struct vfence_fence *fence);

#endif
