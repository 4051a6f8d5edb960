/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_POINT_H_
#define _VFENCE_POINT_H_

#include <linux/types.h>

struct list_head;
struct vfence_fence;
struct vfence_file;
struct vfence_point;
struct vfence_wait;

/** VFENCE_POINT_BATCH: most points taken in one section with interrupts off */
#define VFENCE_POINT_BATCH	56

unsigned int vfence_point_take(struct vfence_fence *fence, u64 value, unsigned int budget,
			       struct list_head *done);
bool vfence_point_is_due_locked(struct vfence_fence *fence, u64 value);
void vfence_point_finish_all(struct list_head *done, int error);
unsigned int vfence_point_complete_batch(struct vfence_fence *fence, u64 value);
unsigned int vfence_point_complete(struct vfence_fence *fence, u64 value);
void vfence_point_signaled(struct vfence_fence *fence, u64 value, const struct vfence_file *caller);
void vfence_point_defer_locked(struct vfence_fence *fence, u64 value);
bool vfence_point_leave(struct vfence_fence *fence, u64 value);
void vfence_point_fail_all(struct vfence_fence *fence, int error);
void vfence_point_cancel_all(struct vfence_fence *fence);
void vfence_point_link(struct vfence_fence *fence);
int vfence_point_arm(struct vfence_point *point);
bool vfence_point_disarm(struct vfence_point *point);
void vfence_point_arm_all(struct vfence_wait *wait);
void vfence_point_disarm_all(struct vfence_wait *wait);

#endif
