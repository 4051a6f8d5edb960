/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CROSS_ADAPTER_H_
#define _VFENCE_CROSS_ADAPTER_H_

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>

#include "fence/vfence_shared.h"

struct page;
struct vfence_fence;
struct vgpu_word;

/** VFENCE_CROSS_ADAPTER_PENDING: most signals of one member that await their propagation */
#define VFENCE_CROSS_ADAPTER_PENDING	8

/**
 * struct vfence_cross_adapter - cross-adapter fence: the common part of its members
 *
 * There is one member on each adapter that has opened the fence. Each member has its own
 * waiters and its own monitored value; all members share one current value (WDDM-102,
 * WDDM-103).
 */
struct vfence_cross_adapter {
	/** @ref: Reference count: one for each member. */
	struct kref ref;
	/** @lock: Protects @members; taken inside vfence_file.lock. */
	struct mutex lock;
	/** @shared: What all members use instead of their own shared part. */
	struct vfence_shared shared;
	/** @members: &struct vfence_fence; the list has a reference to each, see @holders. */
	struct list_head members;

	/** @flags: DRM_VFENCE_FENCE_* for members that are monitored fences. */
	u32 flags;
	/** @page: Page that holds the current value. */
	struct page *page;
	/** @word: What the members that are monitored fences share of it. */
	struct vgpu_word *word;

	/** @holders: Number of holders of all members; the last one to go empties the list. */
	atomic_t holders;
};

/**
 * struct vfence_signaled - signal that the other adapters do not have yet
 */
struct vfence_signaled {
	/** @value: Value of the signal. */
	u64 value;
	/** @time: Time in GPU ticks, read after the value was stored. */
	u64 time;
};

int vfence_cross_adapter_create(struct vfence_fence *fence);
void vfence_cross_adapter_add_locked(struct vfence_cross_adapter *cross,
				     struct vfence_fence *fence);
void vfence_cross_adapter_use(struct vfence_cross_adapter *cross, struct vfence_fence *fence);
void vfence_cross_adapter_leave(struct vfence_fence *fence);
void vfence_cross_adapter_put(struct vfence_cross_adapter *cross);

#endif
