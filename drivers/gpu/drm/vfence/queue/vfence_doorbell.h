/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_DOORBELL_H_
#define _VFENCE_DOORBELL_H_

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "mem/vfence_bo.h"
#include "queue/vfence_physical.h"

struct drm_device;
struct drm_file;
struct vfence_adapter;
struct vfence_page;
struct vfence_queue;

/**
 * struct vfence_doorbell - a queue's doorbell object
 *
 * ::
 *
 *                 connect                 any access: fault, map, ring
 *   DISCONNECTED ---------> CONNECTED, ------------------------------> CONNECTED,
 *       ^  ^                unmapped   <------------------------------ mapped
 *       |  |  victim: RETRY    |         queue idle: zap, read again       |
 *       |  +-------------------+-------------------------------------------+
 *       |   ABORT from any state is permanent
 */
struct vfence_doorbell {
	/** @ref: held by the queue and by each doorbell page, which clients may still map */
	struct kref ref;
	/** @queue: parent; valid while the doorbell is connected or @arm may run */
	struct vfence_queue *queue;
	/** @doorbell_page: any access to it is a ring while the doorbell is connected */
	struct vfence_page *doorbell_page;
	/** @secondary_page: second doorbell page with the same effect, or NULL */
	struct vfence_page *secondary_page;
	/** @status_page: holds the status word, and behind it the logging level */
	struct vfence_page *status_page;
	/** @last_queued_page: holds the client's last queued value */
	struct vfence_page *last_queued_page;

	/** @ring: the ring buffer, resident */
	struct vfence_vmapped ring;
	/** @control: read and write pointer, resident */
	struct vfence_vmapped control;

	/**
	 * @lock: Serialises faults, zaps and changes of the connection of this doorbell.
	 * Faults and zaps of different doorbells do not wait for each other.
	 */
	struct mutex lock;
	/** @physical: index of the physical doorbell that faults map, or -1; @lock */
	int physical;
	/** @mapped: A mapping may exist that does not fault. @lock. */
	bool mapped;

	/** @aborted: The doorbell never connects again. vfence_queues.doorbell_lock. */
	bool aborted;
	/**
	 * @state: whether it has a physical doorbell; written under vfence_queues.doorbell_lock
	 */
	enum vfence_physical_state state;
	/** @coming: another doorbell gives its physical one for this one; as @state */
	bool coming;
	/** @granted: index of its physical doorbell, if @state says that it has one */
	unsigned int granted;
	/**
	 * @granted_at: vfence_queues.doorbell_clock when it was granted, by which a victim is
	 * chosen; vfence_queues.doorbell_lock
	 */
	u64 granted_at;
	/** @connections: number of times it was connected; as @state */
	u64 connections;
	/** @line: link in vfence_queues.line, if @state says that it is there */
	struct list_head line;
	/** @wait: threads that wait for it to be connected, each with a reference */
	wait_queue_head_t wait;
	/** @change_work: connects or disconnects it in a doorbell thread, as @state says */
	struct work_struct change_work;

	/** @ring_write_ptr: write pointer at the last ring; @lock */
	u64 ring_write_ptr;
	/**
	 * @ring_retries: Number of rings in succession that brought no work, as by a store
	 * that faulted again. Written under @lock, read without.
	 */
	unsigned int ring_retries;
	/** @arm_timer: queues @arm after rings without work */
	struct hrtimer arm_timer;
	/** @arm: work that arms the doorbell pages in a doorbell thread */
	struct work_struct arm;
};

void vfence_doorbell_init(struct vfence_adapter *adapter);
void vfence_doorbell_fini(struct vfence_adapter *adapter);
void vfence_doorbell_arm(void *host, void *doorbell);
void vfence_doorbell_abort(struct vfence_queue *queue);
void vfence_doorbell_force_reconnect(struct vfence_queue *queue);
void vfence_doorbell_force_reconnect_all(struct vfence_adapter *adapter);
void vfence_doorbell_disconnect_node(struct vfence_adapter *adapter, unsigned int node);
bool vfence_doorbell_destroy(struct vfence_queue *queue);
u64 vfence_doorbell_last_queued(struct vfence_queue *queue);
int vfence_doorbell_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_doorbell_connect_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_doorbell_notify_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
