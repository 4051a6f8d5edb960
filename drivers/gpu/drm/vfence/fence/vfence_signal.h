/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SIGNAL_H_
#define _VFENCE_SIGNAL_H_

#include <linux/bits.h>
#include <linux/types.h>

struct vfence_fence;
struct ww_mutex;
struct vfence_wait;

/** VFENCE_SIGNAL_KEEP: a monitored fence above the value keeps its own, without error */
#define VFENCE_SIGNAL_KEEP	BIT(31)
/** VFENCE_SIGNAL_MAX: signal the highest value instead of the values in the list */
#define VFENCE_SIGNAL_MAX	BIT(30)

struct vfence_wait *vfence_signal_create(struct vfence_fence *fence, u64 value);
struct vfence_wait *vfence_signal_split(struct vfence_wait *signals, u32 fence_flags);
void vfence_signal_init_lock(struct ww_mutex *lock);
void vfence_signal_settle(struct vfence_fence *fence);
int vfence_signal_perform(struct vfence_wait *signals, u32 flags);

#endif
