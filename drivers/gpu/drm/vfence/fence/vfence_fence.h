/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCE_H_
#define _VFENCE_FENCE_H_

#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/rbtree.h>
#include <linux/wait.h>

#include "hw/vgpu.h"
#include "vfence_cross.h"
#include "vfence_file.h"
#include "vfence_pages.h"
#include "vfence_storage.h"

struct vfence_device;

/** VFENCE_PHYSICAL_ADAPTERS: mask of those an adapter consists of; never linked */
#define VFENCE_PHYSICAL_ADAPTERS	BIT(0)
/** VFENCE_SLOTS_MAX: most slots of one page */
#define VFENCE_SLOTS_MAX	(PAGE_SIZE / VGPU_STRIDE_MIN)

/* ----------------------------------------------------------------- storage */

/**
 * struct vfence_slots - a page of current values and one of monitored values
 *
 * Private fences of one file share it; a shareable fence has one of its own
 * (WDDM-20..23).
 */
struct vfence_slots {
	/** @ref: the file (private fences) and each fence */
	struct kref ref;
	/** @link: in vfence_file.slots, for private fences */
	struct list_head link;
	/** @adapter: whose they are */
	struct vfence_adapter *adapter;
	/** @type: &enum drm_vfence_fence_type of the fences in it */
	enum drm_vfence_fence_type type;
	/** @no_gpu_access: has no GPU addresses */
	bool no_gpu_access;
	/** @shareable: for one fence that may be exported */
	bool shareable;
	/** @shared_page: of the current value, if it is another adapter's, too */
	struct page *shared_page;
	/** @current_value: of a DEFAULT fence clients map it read only */
	struct vfence_storage current_value;
	/** @monitored_value: never mapped by clients */
	struct vfence_storage monitored_value;
	/** @fences: &struct vfence_fence in it; adapter->segment.lock */
	struct list_head fences;
	/** @used: slots taken; atomic bits */
	DECLARE_BITMAP(used, VFENCE_SLOTS_MAX);
};

/**
 * struct vfence_map - a &struct vfence_slots in one file's GPU address space
 */
struct vfence_map {
	/** @link: in vfence_file.maps */
	struct list_head link;
	/** @slots: what is mapped */
	struct vfence_slots *slots;
	/** @current_node: addresses of the current values */
	struct drm_mm_node current_node;
	/** @monitored_node: addresses of the monitored values */
	struct drm_mm_node monitored_node;
	/** @users: local fences on it */
	unsigned int users;
};

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

u32 vfence_slots_offset(const struct vfence_slots *slots, unsigned int index);
void vfence_slots_moved(struct vfence_slots *slots, struct vfence_storage *storage);
u64 vfence_slots_va(const struct drm_mm_node *node, const struct vfence_slots *slots,
		    unsigned int index);
struct vfence_slots *vfence_slots_get(struct vfence_file *file,
				      const struct vfence_fence_args *args, unsigned int *index);
void vfence_slots_put(struct vfence_slots *slots);
void vfence_slots_destroy_all(struct vfence_file *file);
struct vfence_map *vfence_map_get(struct vfence_file *file, struct vfence_slots *slots);
void vfence_map_put(struct vfence_file *file, struct vfence_map *map);

/* ------------------------------------------------------------------ fences */

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
	/** @slot_link: in slots->fences; adapter->segment.lock */
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
	/** @deferred: on adapter->deferred */
	bool deferred;
	/** @deferred_node: link */
	struct llist_node deferred_node;
};

struct vfence_fence *vfence_fence_create(struct vfence_file *file,
					 const struct vfence_fence_args *args);
void vfence_fence_monitored_moved(struct vfence_fence *fence, u64 *monitored_value);
void vfence_fence_put(struct vfence_fence *fence);
bool vfence_fence_hold(struct vfence_fence *fence);
void vfence_fence_unhold(struct vfence_fence *fence);
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

u64 vfence_fence_widened(const struct vfence_fence *fence);

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
		return vfence_fence_widened(fence);
	/* Acquire: what the signaller did before. Partner: the engine's order. */
	return smp_load_acquire(fence->current_value);
}

/**
 * struct vfence_local - a fence as one holder sees it: a handle
 */
struct vfence_local {
	/** @device: parent */
	struct vfence_device *device;
	/** @fence: the global part */
	struct vfence_fence *fence;
	/** @map: its addresses */
	struct vfence_map *map;
	/** @rights: DRM_VFENCE_RIGHT_* */
	u32 rights;
	/** @max_link: in device->max_signals, while @max_signal is; device->lock */
	struct list_head max_link;
	/** @max_signal: what to signal on TDR, or NULL; device->lock */
	struct vfence_wait *max_signal;
};

/** VFENCE_MONITORED_NOTHING: what no handle may have both of */
#define VFENCE_MONITORED_NOTHING \
	(DRM_VFENCE_MONITORED_NO_SIGNAL | DRM_VFENCE_MONITORED_NO_WAIT)

u32 vfence_monitored_rights(u32 rights, u32 flags);
int vfence_local_add(struct vfence_file *file, struct vfence_device *device,
		     struct vfence_fence *fence, u32 rights, u32 *handle,
		     struct drm_vfence_fence_mapping *mapping);
int vfence_local_destroy(struct vfence_file *file, u32 handle);
void vfence_local_signal_max(struct vfence_device *device);
void vfence_local_destroy_all(struct vfence_file *file, struct vfence_device *device);
struct vfence_fence *vfence_local_lookup(struct vfence_file *file, u32 handle, u32 need,
					 u32 *rights);
int vfence_fence_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_monitored_fence_create_ioctl(struct drm_device *drm, void *data,
					struct drm_file *file);
int vfence_fence_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_fence_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_fence_export_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_fence_open_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* ----------------------------------------------------------------- waiters */

struct vfence_wait;

/**
 * struct vfence_point - a value of a fence that a wait needs
 */
struct vfence_point {
	union {
		/** @node: in one of the fence's trees, while queued */
		struct rb_node node;
		/** @link: on the way out, once completed */
		struct list_head link;
	};
	/** @fence: the fence; the wait's owner holds the reference */
	struct vfence_fence *fence;
	/** @wait: the wait */
	struct vfence_wait *wait;
	/** @value: awaited */
	u64 value;
	/** @queued: in the tree; vfence_fence.lock */
	bool queued;
};

/**
 * enum vfence_wait_state - how far a wait is
 *
 * ::
 *
 *    ARMING ----> ARMED ----> TIMED_OUT, CANCELLED   (by its owner)
 *       |           |
 *       +-----------+-------> REACHED, FAILED        (by whoever completes it)
 *
 * Each arrow is one compare-and-swap, so that there is one winner.
 */
enum vfence_wait_state {
	VFENCE_WAIT_ARMING,
	VFENCE_WAIT_ARMED,
	VFENCE_WAIT_REACHED,
	VFENCE_WAIT_FAILED,
	VFENCE_WAIT_TIMED_OUT,
	VFENCE_WAIT_CANCELLED,
};

/**
 * struct vfence_wait - one CPU wait or event, on any number of points
 */
struct vfence_wait {
	/** @ref: the owner and each queued point */
	struct kref ref;
	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @state: &enum vfence_wait_state */
	atomic_t state;
	/** @pending: points still needed */
	atomic_t pending;
	/** @first: index of the first point reached, or -1 */
	atomic_t first;
	/** @error: why it FAILED */
	int error;
	/** @sleepers: the owner, if it is a thread */
	wait_queue_head_t sleepers;
	/** @fire: the owner, if it is no thread: ARMED became REACHED or FAILED; under RCU */
	void (*fire)(struct vfence_wait *wait);
	/** @owner: the event, or the queue that holds a submission back for it */
	void *owner;
	/**
	 * @gpu: such a queue: handles that go do not end it (WDDM-127), and a point that
	 * nobody can signal any more counts as reached (WDDM-66)
	 */
	bool gpu;
	/** @rcu: frees it from any context */
	struct rcu_head rcu;
	/** @count: number of points */
	unsigned int count;
	/** @points: the points */
	struct vfence_point points[];
};

struct vfence_wait *vfence_wait_create(struct vfence_file *file,
				       const struct drm_vfence_obj_array *points, u32 need,
				       bool any);
void vfence_wait_destroy(struct vfence_wait *wait);
bool vfence_wait_poll(struct vfence_wait *wait, bool any);
int vfence_wait_begin(struct vfence_wait *wait);
void vfence_wait_disarm(struct vfence_wait *wait);
bool vfence_wait_move(struct vfence_wait *wait, enum vfence_wait_state from,
		      enum vfence_wait_state to);
void vfence_wait_put(struct vfence_wait *wait);
int vfence_wait_account(struct vfence_wait *wait);

/** VFENCE_PORTION: points completed at once, with interrupts off meanwhile */
#define VFENCE_PORTION		64

unsigned int vfence_fence_take(struct vfence_fence *fence, u64 value, unsigned int budget,
			       struct list_head *done);
void vfence_points_complete(struct list_head *done, int error);
unsigned int vfence_fence_complete(struct vfence_fence *fence, u64 value);
unsigned int vfence_fence_look(struct vfence_fence *fence);
void vfence_fence_fail(struct vfence_fence *fence, int error);
void vfence_fence_unwait(struct vfence_fence *fence);

/* vfence_wait.c */
/**
 * struct vfence_request - a wait with the signals to perform first, checked
 */
struct vfence_request {
	/** @wait: what to wait for */
	struct vfence_wait *wait;
	/** @signals: what to signal, or NULL */
	struct vfence_wait *signals;
};

/** VFENCE_SIGNAL_KEEP: monitored fences keep what is above the value, and that is fine */
#define VFENCE_SIGNAL_KEEP	BIT(31)
/** VFENCE_SIGNAL_MAX: whatever the value says, the highest there is */
#define VFENCE_SIGNAL_MAX	BIT(30)

struct vfence_wait *vfence_signal_create(struct vfence_fence *fence, u64 value);
struct vfence_wait *vfence_signal_split(struct vfence_wait *signals, u32 fence_flags);
int vfence_signal(struct vfence_wait *signals, u32 flags);
int vfence_request_init(struct vfence_request *request, struct vfence_file *file, u32 flags,
			const struct drm_vfence_obj_array *points,
			const struct drm_vfence_obj_array *signals);
int vfence_request_signal(struct vfence_request *request);
int vfence_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_fence_signal_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* vfence_event.c */
int vfence_event_arm_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_event_cancel_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void vfence_event_cancel_all(struct vfence_file *file);

/* vfence_sync.c */
int vfence_fence_import_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void vfence_sync_forget_all(struct vfence_file *file);

/* vfence_notify.c */
void vfence_notify_settle(struct vfence_fence *fence);
void vfence_notify_settle_rewinds(struct vfence_fence *fence);
irqreturn_t vfence_irq_handler(int irq, void *data);
irqreturn_t vfence_irq_thread(int irq, void *data);
void vfence_irq_flush(struct vfence_adapter *adapter);
void vfence_irq_settle(struct vfence_adapter *adapter);

#endif
