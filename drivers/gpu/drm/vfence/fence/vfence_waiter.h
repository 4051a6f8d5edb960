/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_WAITER_H_
#define _VFENCE_WAITER_H_

#include <linux/types.h>

struct list_head;
struct vfence_fence;
struct vfence_file;
struct vfence_waiter;
struct vfence_wait;

/** VFENCE_WAITER_BATCH: most waiters taken in one section with interrupts off */
#define VFENCE_WAITER_BATCH	56

unsigned int vfence_waiter_take(struct vfence_fence *fence, u64 value, unsigned int budget,
				struct list_head *done);
bool vfence_waiter_is_due_locked(struct vfence_fence *fence, u64 value);
void vfence_waiter_finish_all(struct list_head *done, int error);
unsigned int vfence_waiter_complete_batch(struct vfence_fence *fence, u64 value);
unsigned int vfence_waiter_complete(struct vfence_fence *fence, u64 value);
void vfence_waiter_signaled(struct vfence_fence *fence, u64 value,
			    const struct vfence_file *caller);
void vfence_waiter_defer_locked(struct vfence_fence *fence, u64 value);
bool vfence_waiter_leave(struct vfence_fence *fence, u64 value);
void vfence_waiter_fail_all(struct vfence_fence *fence, int error);
void vfence_waiter_cancel_all(struct vfence_fence *fence);
void vfence_waiter_link(struct vfence_fence *fence);
int vfence_waiter_arm(struct vfence_waiter *waiter);
bool vfence_waiter_disarm(struct vfence_waiter *waiter);
void vfence_waiter_disarm_all(struct vfence_wait *wait);

#endif
