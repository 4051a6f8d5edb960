/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CROSS_ADAPTER_H_
#define _VFENCE_CROSS_ADAPTER_H_

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ww_mutex.h>

struct page;
struct vfence_fence;
struct vfence_file;
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
	/** @signal_lock: Serialises the CPU signals of all members. */
	struct ww_mutex signal_lock;
	/** @members: &struct vfence_fence; the list has a reference to each, see @holders. */
	struct list_head members;

	/** @flags: DRM_VFENCE_FENCE_* for members that are monitored fences. */
	u32 flags;
	/** @settled: Sum of the members' vfence_fence_rewinds() at the last settlement. */
	u64 settled;
	/** @page: Page that holds the current value. */
	struct page *page;
	/** @word: What the members that are monitored fences share of it. */
	struct vgpu_word *word;

	/** @holders: Number of holders of all members; the last one to go empties the list. */
	atomic_t holders;
	/** @signalers: Number of holders that may signal; the last one to go ends all members. */
	atomic_t signalers;
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
void vfence_cross_adapter_use(struct vfence_cross_adapter *cross, struct vfence_fence *fence);
void vfence_cross_adapter_leave(struct vfence_fence *fence);
void vfence_cross_adapter_put(struct vfence_cross_adapter *cross);
struct vfence_fence *vfence_cross_adapter_member(struct vfence_fence *fence, struct vfence_file *file);
void vfence_cross_adapter_note_locked(struct vfence_fence *fence, u64 value, u64 time);
void vfence_cross_adapter_propagate(struct vfence_fence *fence, u64 value, u64 time);
void vfence_cross_adapter_propagate_noted(struct vfence_fence *fence);
void vfence_cross_adapter_settle_rewinds(struct vfence_cross_adapter *cross);
void vfence_cross_adapter_end(struct vfence_cross_adapter *cross);
bool vfence_cross_adapter_get_holder(struct vfence_cross_adapter *cross);
void vfence_cross_adapter_put_holder(struct vfence_cross_adapter *cross);

#endif
