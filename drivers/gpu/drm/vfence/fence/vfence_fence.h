/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCE_H_
#define _VFENCE_FENCE_H_

#include <linux/kref.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>

#include "core/vfence_file_types.h"
#include "fence/vfence_cross.h"
#include "hw/vgpu.h"
#include "mem/vfence_slots.h"

/** VFENCE_PHYSICAL_ADAPTERS: mask of those an adapter consists of; never linked */
#define VFENCE_PHYSICAL_ADAPTERS	BIT(0)

struct vfence_fence;

/**
 * struct vfence_fence_args - what a new fence shall be
 */
struct vfence_fence_args {
	/** @type: &enum drm_vfence_fence_type */
	enum drm_vfence_fence_type type;
	/** @shareable: may be exported */
	bool shareable;
	/** @flags: DRM_VFENCE_MONITORED_*, for type MONITORED */
	u32 flags;
	/** @cross_adapter: may be opened on other adapters */
	bool cross_adapter;
	/** @cross: what it becomes a member of, locked, if there is one already */
	struct vfence_cross *cross;
	/** @initial_value: first current value, of a DEFAULT fence that is no member */
	u64 initial_value;
	/** @private_data: DRM_VFENCE_PRIVATE_DATA bytes */
	u8 private_data[DRM_VFENCE_PRIVATE_DATA];
};

/**
 * struct vfence_fence - global part of a fence
 *
 * Of a native fence, or of a monitored one, of which the hardware knows nothing.
 */
struct vfence_fence {
	/** @ref: locals, descriptors, waits, @cross; last put in process context */
	struct kref ref;
	/** @rcu: scans look it up without a lock */
	struct rcu_head rcu;
	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @global: handle in interrupt records */
	u32 global;
	/** @shareable: may be exported */
	bool shareable;
	/** @holders: locals and descriptors; of a cross-adapter fence see @cross */
	atomic_t holders;
	/** @cross: what it has in common with other adapters' fences, or NULL */
	struct vfence_cross *cross;
	/** @cross_link: in cross->members; cross->lock */
	struct list_head cross_link;
	/** @hw: the virtual GPU's object; a monitored fence has none */
	struct vgpu_fence *hw;
	/** @flags: DRM_VFENCE_MONITORED_* of a monitored fence */
	u32 flags;
	/** @narrow: a monitored fence of 32 bits; all values below are widened */
	bool narrow;
	/** @wide: of a narrow fence: a recent value with its upper half */
	atomic64_t wide;
	/** @rewinds: of a monitored fence: times a smaller value was stored */
	atomic64_t rewinds;
	/** @slots: where its values are */
	struct vfence_slots *slots;
	/** @index: which slot */
	unsigned int index;
	/** @slot_link: in slots->fences; adapter->mem.segment.lock */
	struct list_head slot_link;
	/** @type: &enum drm_vfence_fence_type */
	enum drm_vfence_fence_type type;
	/** @current_value: its slot; NULL where the CPU has no business */
	u64 *current_value;
	/**
	 * @monitored_value: its slot, or NULL; written through the virtual GPU
	 * only; changes under @lock when the storage moves
	 */
	u64 *monitored_value;
	/** @look_lock: who looks at it tells what he found before the next looks */
	struct mutex look_lock;
	/** @lock: protects all below */
	spinlock_t lock;
	/** @waiters: &struct vfence_point by value */
	struct rb_root_cached waiters;
	/** @gpu_waiters: those of queues that hold submissions back */
	struct rb_root_cached gpu_waiters;
	/** @monitored: what the slot says */
	u64 monitored;
	/** @error: why no wait can be put on it any more, or 0 */
	int error;
	/** @waiter_count: of the trees */
	u64 waiter_count;
	/** @interrupts: records that named it */
	u64 interrupts;
	/** @spurious: of these, those that completed nobody */
	u64 spurious;
	/** @woken: points completed */
	u64 woken;
	/** @settled: rewinds of which nothing is on its way; of a member see @cross */
	u64 settled;
	/** @deferred_value: what the threaded half shall complete */
	u64 deferred_value;
	/** @signaled: of a cross-adapter fence: what it shall tell the others */
	struct vfence_signaled signaled[VFENCE_CROSS_PENDING];
	/** @signaled_count: of these */
	unsigned int signaled_count;
	/** @deferred: on adapter->fences.deferred */
	bool deferred;
	/** @deferred_node: link */
	struct llist_node deferred_node;
};

void vfence_fence_init(struct vfence_adapter *adapter);
void vfence_fence_fini(struct vfence_adapter *adapter);
struct vfence_fence *vfence_fence_create(struct vfence_file *file,
					 const struct vfence_fence_args *args);
void vfence_fence_put(struct vfence_fence *fence);
bool vfence_fence_get_handle(struct vfence_fence *fence);
void vfence_fence_put_handle(struct vfence_fence *fence);
void vfence_fence_end(struct vfence_fence *fence);
void vfence_fence_set_always_signaled(struct vfence_fence *fence);
void vfence_fence_private_data(struct vfence_fence *fence, u8 *data);
void vfence_fence_fail_all(struct vfence_adapter *adapter, int error);

static inline bool vfence_fence_is_monitored(const struct vfence_fence *fence)
{
	return fence->type == DRM_VFENCE_FENCE_MONITORED;
}

/* Times a value was stored that is below the one before. */
static inline u64 vfence_fence_rewinds(struct vfence_fence *fence)
{
	return vfence_fence_is_monitored(fence) ? atomic64_read(&fence->rewinds) :
						  vgpu_fence_rewinds(fence->hw);
}

static inline struct vfence_fence *vfence_fence_get(struct vfence_fence *fence)
{
	kref_get(&fence->ref);
	return fence;
}

u64 vfence_fence_widen(const struct vfence_fence *fence);

/*
 * A scan looks at a fence that has waiters, or members on other adapters that may have
 * some. It looks at a narrow fence in any case, to remember how far the GPU has come:
 * a value of 32 bits means the nearest to the last one seen (WDDM-128).
 */
static inline bool vfence_fence_needs_scan(const struct vfence_fence *fence)
{
	return READ_ONCE(fence->waiter_count) || fence->cross || fence->narrow;
}

static inline u64 vfence_fence_current(const struct vfence_fence *fence)
{
	if (fence->narrow)
		return vfence_fence_widen(fence);
	/* Acquire: what the signaller did before. Partner: the engine's order. */
	return smp_load_acquire(fence->current_value);
}

#endif
