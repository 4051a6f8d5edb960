/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CROSS_H_
#define _VFENCE_CROSS_H_

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>

struct page;
struct vfence_fence;
struct vfence_file;

/** VFENCE_CROSS_PENDING: signals of one fence waiting to be told to others */
#define VFENCE_CROSS_PENDING	8

/**
 * struct vfence_cross - what the fences of several adapters have in common
 *
 * One member on each adapter that has opened it: its own waiters and monitored
 * value, and all of them one current value (WDDM-102, WDDM-103).
 */
struct vfence_cross {
	/** @ref: the members */
	struct kref ref;
	/** @lock: protects @members; inside vfence_file.lock */
	struct mutex lock;
	/** @members: &struct vfence_fence, each with a reference until the last holder goes */
	struct list_head members;
	/** @flags: DRM_VFENCE_MONITORED_* of members that are monitored fences */
	u32 flags;
	/** @settled: rewinds, of all members, of which nothing is on its way */
	u64 settled;
	/** @page: of the current value */
	struct page *page;
	/** @holders: handles and descriptors on all adapters */
	atomic_t holders;
};

/**
 * struct vfence_signaled - a signal that the other adapters do not know of
 */
struct vfence_signaled {
	/** @value: the value */
	u64 value;
	/** @time: GPU ticks when it had been stored */
	u64 time;
};

int vfence_cross_create(struct vfence_fence *fence);
void vfence_cross_join(struct vfence_cross *cross, struct vfence_fence *fence);
void vfence_cross_leave_locked(struct vfence_fence *fence);
void vfence_cross_leave(struct vfence_fence *fence);
void vfence_cross_put(struct vfence_cross *cross);
struct vfence_fence *vfence_cross_member(struct vfence_fence *fence, struct vfence_file *file);
void vfence_cross_note_locked(struct vfence_fence *fence, u64 value, u64 time);
void vfence_cross_fail(struct vfence_cross *cross, int error);
void vfence_cross_propagate(struct vfence_fence *fence, u64 value, u64 time);
void vfence_cross_propagate_noted(struct vfence_fence *fence);
void vfence_cross_settle_rewinds(struct vfence_cross *cross);
void vfence_cross_end(struct vfence_cross *cross);

#endif
