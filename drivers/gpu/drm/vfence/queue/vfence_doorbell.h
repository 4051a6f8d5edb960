/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_DOORBELL_H_
#define _VFENCE_DOORBELL_H_

#include <linux/types.h>
#include <linux/workqueue.h>

#include "mem/vfence_bo.h"

struct drm_device;
struct drm_file;
struct drm_vfence_queue_query;
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
	/** @physical: index of its physical doorbell, -1; adapter->queues.doorbell_lock */
	int physical;
	/** @mapped: some mapping may not fault; adapter->queues.doorbell_lock */
	bool mapped;
	/** @aborted: for good; adapter->queues.doorbell_lock */
	bool aborted;
	/** @connected_at: for the choice of victims; adapter->queues.doorbell_lock */
	u64 connected_at;
	/** @rung_at: write pointer at the last ring; adapter->queues.doorbell_lock */
	u64 rung_at;
	/** @again: the last ring brought no work: a store that is tried again */
	bool again;
	/** @arm: runs in the doorbell thread */
	struct work_struct arm;
};

void vfence_doorbell_init(struct vfence_adapter *adapter);
void vfence_doorbell_fini(struct vfence_adapter *adapter);
void vfence_doorbell_arm(void *host, void *doorbell);
void vfence_doorbell_abort(struct vfence_queue *queue);
void vfence_doorbell_force_reconnect(struct vfence_queue *queue);
void vfence_doorbell_force_reconnect_all(struct vfence_adapter *adapter);
void vfence_doorbell_destroy(struct vfence_queue *queue);
void vfence_doorbell_query(struct vfence_queue *queue, struct drm_vfence_queue_query *args);
unsigned int vfence_doorbell_connected(struct vfence_adapter *adapter);
int vfence_doorbell_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_doorbell_connect_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_doorbell_notify_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_doorbell_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
