/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_DRAIN_H_
#define _VFENCE_DRAIN_H_

struct vfence_fence;
struct vfence_wait;
struct vfence_waiter;

void vfence_drain_rewinds(struct vfence_fence *fence);
int vfence_drain_and_arm(struct vfence_waiter *waiter);
void vfence_drain_and_arm_all(struct vfence_wait *wait);

#endif
