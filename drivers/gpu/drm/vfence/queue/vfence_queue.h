/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_QUEUE_H_
#define _VFENCE_QUEUE_H_

#include <linux/kref.h>

#include "hw/vgpu.h"
#include "vfence_file.h"
#include "vfence_pages.h"

/* ----------------------------------------------------------------- devices */

/**
 * struct vfence_device - unit of error: owns contexts, queues and fences
 */
struct vfence_device {
	/** @ref: the file's table, contexts, local fences */
	struct kref ref;
	/** @file: parent */
	struct vfence_file *file;
	/** @state: &enum drm_vfence_device_state; first error wins */
	atomic_t state;
	/** @lock: protects @max_signals */
	spinlock_t lock;
	/** @max_signals: &struct vfence_local that jump to the maximum on TDR */
	struct list_head max_signals;
};

/**
 * struct vfence_context - a device on a node
 */
struct vfence_context {
	/** @ref: the file's table; its queues; who suspends it */
	struct kref ref;
	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @hw: the virtual GPU's object */
	struct vgpu_context *hw;
	/** @global: handle in interrupt records */
	u32 global;
	/** @suspend_lock: one suspension or resume at a time */
	struct mutex suspend_lock;
	/** @suspended: asked for; suspend_lock */
	bool suspended;
	/** @pending: and not acknowledged yet; suspend_lock */
	bool pending;
	/** @suspend_fence: number of the last suspension; read by the interrupt */
	u64 suspend_fence;
	/** @device: parent, with a reference */
	struct vfence_device *device;
	/** @node: node ordinal */
	unsigned int node;
	/** @queues: that use it; vfence_file.lock */
	unsigned int queues;
};

void vfence_context_get(struct vfence_context *context);
void vfence_context_put(struct vfence_context *context);
struct vfence_context *vfence_context_find(struct vfence_adapter *adapter, u32 global);
void vfence_context_destroy_all(struct vfence_file *file, struct vfence_device *device);
void vfence_device_get(struct vfence_device *device);
void vfence_device_put(struct vfence_device *device);
bool vfence_device_active(struct vfence_device *device);
bool vfence_device_was_reset(struct vfence_device *device);
void vfence_device_destroy_all(struct vfence_file *file);
int vfence_device_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_device_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_device_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_context_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void vfence_context_acknowledged(struct vfence_adapter *adapter, u32 global, u64 fence);
int vfence_context_suspend_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_context_resume_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_context_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* -------------------------------------------------------------------- logs */

/** VFENCE_LOG_KEPT: entries kept per log until the owner fetches them */
#define VFENCE_LOG_KEPT		1024

/**
 * struct vfence_log - one log of a queue, the reader's side
 */
struct vfence_log {
	/** @lock: serialises readers */
	struct mutex lock;
	/** @owner: whose GPU address space and handles it goes by; NULL once gone */
	struct vfence_file *owner;
	/** @header: the buffer, written by the GPU */
	struct drm_vfence_log_header *header;
	/** @replaced: times it was replaced by another */
	u32 replaced;
	/** @entries: entries it has room for */
	u32 entries;
	/** @node: its GPU addresses */
	struct drm_mm_node node;
	/** @read: position read up to */
	u64 read;
	/** @taken: entries read */
	u64 taken;
	/** @lost: entries overwritten before */
	u64 lost;
	/** @kept: entries for the owner; place is the count modulo KEPT */
	struct drm_vfence_log_entry *kept;
	/** @put: entries kept, ever */
	u64 put;
	/** @fetched: entries fetched or dropped, ever */
	u64 fetched;
	/** @dropped: of these, dropped */
	u64 dropped;
};

struct vfence_queue;
struct vfence_kqueue;

void vfence_log_setup(struct vfence_queue *queue);
int vfence_log_create(struct vfence_queue *queue);
void vfence_log_create_none(struct vfence_queue *queue);
void vfence_log_unmap(struct vfence_queue *queue);
int vfence_log_set_level(struct vfence_adapter *adapter, u32 level);
void vfence_log_free(struct vfence_queue *queue);
void vfence_log_query(struct vfence_queue *queue, u64 *taken, u64 *lost);
unsigned int vfence_log_read(struct vfence_queue *queue);
unsigned int vfence_log_look_live(struct vfence_queue *queue);
void vfence_log_read_all(struct vfence_adapter *adapter);
void vfence_log_read_nodes(struct vfence_adapter *adapter, u32 nodes);
u64 vfence_log_unread(struct vfence_queue *queue);
int vfence_log_read_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* --------------------------------------------------------------- doorbells */

/**
 * struct vfence_doorbell - a queue's doorbell object
 *
 * ::
 *
 *                 connect                 any access: fault, map, ring
 *   DISCONNECTED ---------> CONNECTED, ------------------------------> CONNECTED,
 *       ^  ^                unmapped   <------------------------------ mapped
 *       |  |  victim: RETRY    |         queue idle: zap, look again       |
 *       |  +-------------------+-------------------------------------------+
 *       |   ABORT from any state is for good
 */
struct vfence_doorbell {
	/** @queue: parent */
	struct vfence_queue *queue;
	/** @doorbell_page: any access rings while connected */
	struct vfence_page *doorbell_page;
	/** @secondary_page: the same at a second address, or NULL */
	struct vfence_page *secondary_page;
	/** @status_page: the status word */
	struct vfence_page *status_page;
	/** @last_queued_page: the client's last queued value */
	struct vfence_page *last_queued_page;
	/** @ring: the ring, resident */
	struct vfence_vmapped ring;
	/** @control: read and write pointer, resident */
	struct vfence_vmapped control;
	/** @physical: index of its physical doorbell, -1; adapter->doorbell_lock */
	int physical;
	/** @mapped: some mapping may not fault; adapter->doorbell_lock */
	bool mapped;
	/** @aborted: for good; adapter->doorbell_lock */
	bool aborted;
	/** @connected_at: for the choice of victims; adapter->doorbell_lock */
	u64 connected_at;
	/** @rung_at: write pointer at the last ring; adapter->doorbell_lock */
	u64 rung_at;
	/** @again: the last ring brought no work: a store that is tried again */
	bool again;
	/** @arm: runs in the doorbell thread */
	struct work_struct arm;
};

void vfence_doorbell_arm(void *host, void *doorbell);
struct page *vfence_doorbell_ring(struct vfence_page *page);
void vfence_doorbell_abort(struct vfence_queue *queue);
void vfence_doorbell_relearn(struct vfence_queue *queue);
void vfence_doorbell_relearn_all(struct vfence_adapter *adapter);
void vfence_doorbell_destroy(struct vfence_queue *queue);
void vfence_doorbell_query(struct vfence_queue *queue, struct drm_vfence_queue_query *args);
unsigned int vfence_doorbell_connected(struct vfence_adapter *adapter);
int vfence_doorbell_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_doorbell_connect_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_notify_work_submission_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_doorbell_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* ----------------------------------------------------------------- engines */

void vfence_engine_init(struct vfence_adapter *adapter);
void vfence_engine_changed(struct vfence_adapter *adapter);
void vfence_engine_reset(struct vfence_adapter *adapter, unsigned int node, bool force);
void vfence_engine_invalidated(void *host, u32 global, bool collateral);

/* ------------------------------------------------------------------ queues */

/**
 * struct vfence_queue - a hardware queue
 */
struct vfence_queue {
	/** @ref: the file's table; interrupt and scans while they use it */
	struct kref ref;
	/** @rcu: scans look it up without a lock */
	struct rcu_head rcu;
	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @file: the owner's file; valid until the handle is gone */
	struct vfence_file *file;
	/** @device: unit of error, with a reference */
	struct vfence_device *device;
	/** @context: parent, with a reference */
	struct vfence_context *context;
	/** @node: node ordinal */
	unsigned int node;
	/** @global: handle in interrupt records */
	u32 global;
	/** @hw: the virtual GPU's object */
	struct vgpu_queue *hw;
	/** @progress: local handle of the progress fence */
	u32 progress;
	/** @progress_fence: the fence itself, with a reference */
	struct vfence_fence *progress_fence;
	/** @log: wait log, signal log */
	struct vfence_log log[2];
	/** @kernel: its kernel-mode part; NULL for a user-mode queue */
	struct vfence_kqueue *kernel;
	/** @doorbell: or NULL; changes under vfence_file.lock and doorbell_lock */
	struct vfence_doorbell *doorbell;
	/** @signaled: posts of interrupt records that name it, not accounted for */
	atomic_t signaled;
	/** @unlogged: a signal had no LOG packet: live values are due */
	atomic_t unlogged;
	/** @signaled_link: in adapter->signaled, while @signaled is not 0 */
	struct llist_node signaled_link;
	/** @fault_reported: fault_work has been queued, once */
	atomic_t fault_reported;
	/** @fault_work: puts the device in error */
	struct work_struct fault_work;
};

static inline struct vfence_log *vfence_queue_log(struct vfence_queue *queue,
						  enum drm_vfence_log_type type)
{
	return &queue->log[type == DRM_VFENCE_LOG_SIGNALS];
}

void vfence_queue_put(struct vfence_queue *queue);
struct vfence_queue *vfence_queue_lookup(struct vfence_file *file, u32 handle);
bool vfence_queue_owns_fence(struct vfence_file *file, u32 handle);
u64 vfence_queue_busy_ns(struct vfence_queue *queue);
void vfence_queue_faulted(struct vfence_adapter *adapter, u32 global);
void vfence_queue_progressed(struct vfence_adapter *adapter, u32 global);
void vfence_queue_signaled(struct vfence_adapter *adapter, u32 global, unsigned int posts,
			   bool unlogged);
void vfence_queue_run_signaled(struct vfence_adapter *adapter);
void vfence_queue_scan(struct vfence_adapter *adapter);
void vfence_queue_abort_all(struct vfence_adapter *adapter);
void vfence_queue_fail_device(struct vfence_adapter *adapter, struct vfence_device *device,
			      enum drm_vfence_device_state state);
void vfence_queue_destroy_all(struct vfence_file *file, struct vfence_device *device);
void vfence_queue_for_each(struct vfence_adapter *adapter,
			   void (*fn)(struct vfence_queue *queue, void *arg), void *arg);
int vfence_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_queue_abort_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
