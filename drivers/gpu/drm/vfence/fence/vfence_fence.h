/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCE_H_
#define _VFENCE_FENCE_H_

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>

#include "core/vfence_file_types.h"
#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_shared.h"
#include "hw/vgpu.h"
#include "mem/vfence_slots.h"

/** VFENCE_PHYSICAL_ADAPTERS: mask of an adapter's physical adapters; there is always one */
#define VFENCE_PHYSICAL_ADAPTERS	BIT(0)

struct vfence_fence;

/**
 * struct vfence_fence_args - properties of a new fence
 */
struct vfence_fence_args {
	/** @type: Type of the fence. */
	enum drm_vfence_fence_type type;
	/** @shareable: True if the fence may be exported. */
	bool shareable;
	/** @flags: DRM_VFENCE_FENCE_*. */
	u32 flags;

	/** @cross_adapter: True if other adapters may open the fence. */
	bool cross_adapter;
	/** @cross: Cross-adapter fence that the new fence joins, locked, or NULL. */
	struct vfence_cross_adapter *cross;

	/** @initial_value: First current value; ignored if @cross is set. */
	u64 initial_value;
	/** @private_data: Private data of the creator. */
	u8 private_data[DRM_VFENCE_PRIVATE_DATA];
};

/**
 * struct vfence_fence - global part of a fence
 *
 * A fence is a native fence or a monitored fence. The hardware has no object for a
 * monitored fence.
 */
struct vfence_fence {
	/**
	 * @ref: Reference count: holders, waits and @cross. The last reference is put in process
	 * context.
	 */
	struct kref ref;
	/** @rcu: Frees the fence after a grace period, as scans look it up under RCU. */
	struct rcu_head rcu;

	/** @adapter: Adapter of the fence. */
	struct vfence_adapter *adapter;
	/** @id: Global handle, by which interrupt records name the fence. */
	u32 id;
	/** @shareable: True if the fence may be exported. */
	bool shareable;

	/** @shared: What the members of a cross-adapter fence share: that of @cross, or @own. */
	struct vfence_shared *shared;
	/** @own: Shared part of a fence of one adapter; of a member of @cross only @signalers. */
	struct vfence_shared own;
	/** @signaling: Value before the next point of the call that holds the signal lock. */
	u64 signaling;

	/** @cross: Cross-adapter fence of which this fence is a member, or NULL. */
	struct vfence_cross_adapter *cross;
	/** @cross_link: Entry in cross->members; protected by cross->lock. */
	struct list_head cross_link;

	/** @hw: Object of the virtual GPU; NULL for a monitored fence. */
	struct vgpu_fence *hw;
	/** @word: Value of a monitored fence, that of @cross if it is a member; else NULL. */
	struct vgpu_word *word;

	/** @flags: DRM_VFENCE_FENCE_*. */
	u32 flags;
	/** @is_32bit: True if the GPU writes 32 bits; all values below are widened to 64. */
	bool is_32bit;
	/** @value64: Recent 64-bit value of a 32-bit fence, from which others are widened. */
	atomic64_t value64;

	/** @slots: Storage that holds the values of this fence. */
	struct vfence_slots *slots;
	/** @index: Index of this fence's slot in @slots. */
	unsigned int index;
	/** @slot_link: Entry in slots->fences; protected by adapter->mem.segment.lock. */
	struct list_head slot_link;

	/** @type: Type of the fence. */
	enum drm_vfence_fence_type type;

	/** @current_value: CPU address of the current value; NULL if the CPU cannot reach it. */
	u64 *current_value;
	/**
	 * @monitored_value: CPU address of the monitored value, or NULL. Only the virtual
	 * GPU writes the value after the fence was created. The address changes under
	 * @lock when the storage moves.
	 */
	u64 *monitored_value;

	/**
	 * @rescan_lock: Who takes a value that no record named, or that interrupts have left, holds
	 * it until a batch of the waiters is completed and the rest is left.
	 */
	spinlock_t rescan_lock;
	/** @propagate_lock: The same for members of a cross-adapter fence, with propagation. */
	struct mutex propagate_lock;

	/** @lock: Protects all members below. */
	spinlock_t lock;

	/** @waiters: &struct vfence_waiter of CPU waits, ordered by value. */
	struct rb_root_cached waiters;
	/** @gpu_waiters: &struct vfence_waiter of queues that hold submissions back. */
	struct rb_root_cached gpu_waiters;
	/** @monitored: Monitored value that was last stored; CPU signals read it without @lock. */
	u64 monitored;
	/** @error: Error that new waits return, or 0; read without @lock by CPU signals. */
	int error;
	/** @ending: Number of threads that end all CPU waits. New ones return ECANCELED then. */
	unsigned int ending;
	/** @always_signaled: No signal has an effect any more (WDDM-66); set once, unlocked. */
	bool always_signaled;

	/** @waiter_count: Number of waiters in @waiters and @gpu_waiters. */
	u64 waiter_count;
	/**
	 * @linked: @cross has another member, so that each signal interrupts and is propagated
	 * (WDDM-104). Set once, under @rescan_lock, too; read without a lock.
	 */
	bool linked;
	/**
	 * @scanned: True while the fence is on a list of vfence_rescan_all(), which takes it off if
	 * it need not be there; under @lock.
	 */
	bool scanned;
	/** @scan_link: Entry in that list, or empty; under vfence_fences.scan_lock. */
	struct list_head scan_link;
	/** @interrupts: Number of interrupt records that named the fence. */
	u64 interrupts;
	/** @spurious: Number of interrupt records that named it and completed no waiter. */
	u64 spurious;
	/** @woken: Number of waiters completed. */
	u64 woken;

	/** @deferred_value: Highest value up to which the threaded half completes waiters. */
	u64 deferred_value;
	/** @signaled: Signals of a cross-adapter fence that other adapters do not have yet. */
	struct vfence_signaled signaled[VFENCE_CROSS_ADAPTER_PENDING];
	/** @signaled_count: Number of entries in @signaled. */
	unsigned int signaled_count;
	/** @deferred: True while the fence is on adapter->fences.deferred. */
	bool deferred;
	/** @deferred_node: Entry in adapter->fences.deferred. */
	struct llist_node deferred_node;
};

void vfence_fence_init(struct vfence_adapter *adapter);
void vfence_fence_fini(struct vfence_adapter *adapter);
struct vfence_fence *vfence_fence_create(struct vfence_file *file,
					 const struct vfence_fence_args *args);
void vfence_fence_put(struct vfence_fence *fence);
void vfence_fence_list_for_scan_locked(struct vfence_fence *fence);
struct vfence_fence *vfence_fence_find(struct vfence_adapter *adapter, u32 fence_id);
void vfence_fence_private_data(struct vfence_fence *fence, u8 *data);
void vfence_fence_set_always_signaled(struct vfence_fence *fence);
void vfence_fence_for_each(struct vfence_adapter *adapter,
			   void (*fn)(struct vfence_fence *fence, void *arg), void *arg);

static inline bool vfence_fence_is_monitored(const struct vfence_fence *fence)
{
	return fence->type == DRM_VFENCE_FENCE_MONITORED;
}

/* How often a signal lowered the current value of the fence. */
static inline u64 vfence_fence_rewinds(struct vfence_fence *fence)
{
	return fence->word ? vgpu_word_rewinds(fence->word) : vgpu_fence_rewinds(fence->hw);
}

static inline struct vfence_fence *vfence_fence_get(struct vfence_fence *fence)
{
	kref_get(&fence->ref);
	return fence;
}

u64 vfence_fence_widen(const struct vfence_fence *fence);

/*
 * A scan includes each native fence that has waiters. It includes each linked fence, as members on
 * other adapters may have waiters.
 */
static inline bool vfence_fence_needs_scan(const struct vfence_fence *fence)
{
	return READ_ONCE(fence->waiter_count) || READ_ONCE(fence->linked);
}

static inline u64 vfence_fence_current(const struct vfence_fence *fence)
{
	if (fence->is_32bit)
		return vfence_fence_widen(fence);

	/* Acquire: see all that the signaller stored before. Partner: the engine's order. */
	return smp_load_acquire(fence->current_value);
}

/* Return true if signals of the fence have no effect any more, and stay without one. */
static inline bool vfence_fence_has_ended(const struct vfence_fence *fence)
{
	return READ_ONCE(fence->error) || READ_ONCE(fence->always_signaled);
}

/*
 * Return true if a CPU signal of @value may satisfy a wait. The caller has stored the value and
 * passed a full barrier. A monitored fence has no monitored value.
 */
static inline bool vfence_fence_is_awaited(const struct vfence_fence *fence, u64 value)
{
	return vfence_fence_is_monitored(fence) ||
	       vfence_must_interrupt(value, READ_ONCE(fence->monitored));
}

#endif
