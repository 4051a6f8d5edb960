/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SIGNAL_H_
#define _VFENCE_SIGNAL_H_

#include <linux/bits.h>
#include <linux/types.h>

struct vfence_fence;
struct vfence_points;

/** VFENCE_SIGNAL_KEEP: a monitored fence above the value keeps its own, without error */
#define VFENCE_SIGNAL_KEEP	BIT(31)
/** VFENCE_SIGNAL_MAX: signal the highest value instead of the values in the list */
#define VFENCE_SIGNAL_MAX	BIT(30)
/** VFENCE_SIGNAL_LATE: for what a client has asked before: nothing interrupts it */
#define VFENCE_SIGNAL_LATE	BIT(29)

int vfence_signal_perform(struct vfence_points *signals, u32 flags);
int vfence_signal_one(struct vfence_fence *fence, u64 value, u32 flags);

#endif
