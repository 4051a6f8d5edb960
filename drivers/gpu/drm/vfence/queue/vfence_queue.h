/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_QUEUE_H_
#define _VFENCE_QUEUE_H_

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/workqueue.h>

#include "core/vfence_file_types.h"
#include "hw/vgpu.h"
#include "queue/vfence_context.h"
#include "queue/vfence_log.h"

struct drm_vfence_queue_create;
struct drm_vfence_queue_info;
struct vfence_device;
struct vfence_doorbell;
struct vfence_fence;

/**
 * struct vfence_queue_ops - a kind of queues: user-mode or kernel-mode
 *
 * @describe, @flush, @retime, @destroy and @drain may be NULL: then the kind has nothing to do.
 */
struct vfence_queue_ops {
	/** @user_mode: True if the client fills the ring and rings the doorbell. */
	bool user_mode;

	/** @alloc: Allocate a zeroed queue of the kind, or return NULL. */
	struct vfence_queue *(*alloc)(void);
	/**
	 * @create: Create what the kind has; the queue has its hardware object and its progress
	 * fence. @drain and @free follow if it fails, and also if it was never called.
	 */
	int (*create)(struct vfence_queue *queue, const struct drm_vfence_queue_create *args);
	/** @describe: Write the outputs of QUEUE_CREATE that are not zero for this kind. */
	void (*describe)(struct vfence_queue *queue, struct drm_vfence_queue_create *args);
	/** @stop: As vfence_queue_stop(). */
	void (*stop)(struct vfence_queue *queue, int error);
	/** @flush: Wait until the signals of completed work are performed; clients delay it. */
	void (*flush)(struct vfence_queue *queue);
	/** @retime: The time that submissions may take has changed. */
	void (*retime)(struct vfence_queue *queue);
	/** @query: Write the kind's part of the state to @info. */
	void (*query)(struct vfence_queue *queue, struct drm_vfence_queue_info *info);
	/** @destroy: Free what the client has of a stopped queue; the file is locked. */
	void (*destroy)(struct vfence_queue *queue);
	/**
	 * @drain: Wait until no submission of a stopped queue is left. No lock, unless the queue
	 * was never published: then there is none to wait for.
	 */
	void (*drain)(struct vfence_queue *queue);
	/** @free: Free the queue with its last reference, after a grace period. */
	void (*free)(struct vfence_queue *queue);
};

/**
 * struct vfence_queue - a hardware queue: what user-mode and kernel-mode queues have in common
 *
 * &struct vfence_kernel_queue embeds it. A user-mode queue has nothing else.
 */
struct vfence_queue {
	/** @ops: kind of the queue; constant */
	const struct vfence_queue_ops *ops;
	/** @ref: held by the file's table, its works, and interrupts and scans while they use it */
	struct kref ref;
	/** @rcu: delays freeing, as interrupts and scans look queues up without a lock */
	struct rcu_head rcu;

	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @file: the owner's file, which exists longer than the queue */
	struct vfence_file *file;
	/** @client: number of this file, which fdinfo has as drm-client-id; constant */
	u64 client;
	/** @device: unit of error, with a reference */
	struct vfence_device *device;
	/** @device_link: entry of &vfence_device.queues until the queue is freed; device's lock */
	struct list_head device_link;
	/** @handle: its handle in &vfence_file.queues; under the file's lock */
	u32 handle;
	/** @context: parent, with a reference */
	struct vfence_context *context;
	/** @charged_ns: GPU time in &vfence_file.busy_ns; under &vfence_file.usage_lock */
	u64 charged_ns;
	/** @node: node ordinal */
	unsigned int node;
	/** @id: handle in interrupt records */
	u32 id;
	/** @hw: the virtual GPU's object */
	struct vgpu_queue *hw;

	/** @progress: handle of the progress fence, or 0 */
	u32 progress;
	/** @progress_fence: the progress fence, with a reference */
	struct vfence_fence *progress_fence;

	/** @log: the wait log and the signal log; see vfence_queue_log() */
	struct vfence_log log[2];

	/**
	 * @aborted: Reason for which the driver has aborted submissions, written by
	 * vfence_job_halt() once the GPU executes nothing of the ring any more. 0 for a user-mode
	 * queue. Read without a lock.
	 */
	int aborted;
	/** @doorbell: or NULL; changes under vfence_file.lock and vfence_queues.doorbell_lock */
	struct vfence_doorbell *doorbell;

	/** @signaled: posts of interrupt records that name the queue, not yet counted */
	atomic_t signaled;
	/** @unlogged: A signal had no LOG packet, so the current values must be read. */
	atomic_t unlogged;
	/** @signaled_link: in vfence_queues.signaled while @signaled is not 0 */
	struct llist_node signaled_link;

	/** @dead_link: among the queues that a thread destroys; of that thread alone */
	struct list_head dead_link;

	/** @fault_reported: @fault_work has been queued; set once */
	atomic_t fault_reported;
	/** @fault_work: work that puts the device in error */
	struct work_struct fault_work;
	/** @free_work: frees the queue if a visit has dropped the last reference */
	struct work_struct free_work;
};

static inline struct vfence_log *vfence_queue_log(struct vfence_queue *queue,
						  enum drm_vfence_log_type type)
{
	return &queue->log[type == DRM_VFENCE_LOG_SIGNALS];
}

/*
 * Freeing may wait for the paging ring, when video memory is given back. That ring may wait for a
 * reset, and resets visit queues, as do works that dma_fences depend on.
 */
static inline void vfence_queue_release_later(struct kref *ref)
{
	struct vfence_queue *queue = container_of(ref, struct vfence_queue, ref);

	queue_work(queue->adapter->work_wq, &queue->free_work);
}

/** vfence_queue_put_later - drop a reference; if it is the last one, a work frees; any context */
static inline void vfence_queue_put_later(struct vfence_queue *queue)
{
	kref_put(&queue->ref, vfence_queue_release_later);
}

/**
 * vfence_queue_work - queue a work of a queue, with a reference that the work drops at its end
 * @queue: the queue, which is referenced or found in an RCU section
 * @wq: where the work runs
 * @work: a work that ends with vfence_queue_put_later(), or with vfence_queue_put()
 *
 * A queue without references has nothing left to do. Any context.
 */
static inline void vfence_queue_work(struct vfence_queue *queue, struct workqueue_struct *wq,
				     struct work_struct *work)
{
	if (!kref_get_unless_zero(&queue->ref))
		return;
	/* A work that is pending already has a reference of its own. */
	if (!queue_work(wq, work))
		vfence_queue_put_later(queue);
}

void vfence_queue_init(struct vfence_adapter *adapter);
void vfence_queue_fini(struct vfence_adapter *adapter);
void vfence_queue_setup(struct vfence_queue *queue, struct vfence_file *file,
			struct vfence_context *context, const struct vfence_queue_ops *ops);
void vfence_queue_put(struct vfence_queue *queue);
struct vfence_queue *vfence_queue_lookup(struct vfence_file *file, u32 handle);
u64 vfence_queue_busy_ns(struct vfence_queue *queue);
void vfence_queue_abort_hw(struct vfence_queue *queue);
void vfence_queue_stop(struct vfence_queue *queue, int error);
int vfence_queue_state_of_fault(const struct vgpu_queue_status *status);
int vfence_queue_fault_state(struct vfence_queue *queue);
bool vfence_queue_status_is_guilty(const struct vfence_queue *queue,
				   const struct vgpu_queue_status *status);
bool vfence_queue_is_guilty(struct vfence_queue *queue);
void vfence_queue_visit_of(struct vfence_device *device,
			   void (*fn)(struct vfence_queue *queue, void *arg), void *arg);
void vfence_queue_for_each(struct vfence_adapter *adapter,
			   void (*fn)(struct vfence_queue *queue, void *arg), void *arg);

#endif
