/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_LOG_H_
#define _VFENCE_LOG_H_

#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/drm_mm.h>

struct drm_device;
struct drm_file;
struct drm_vfence_log_entry;
struct vfence_adapter;
struct vfence_file;
struct vfence_queue;

/** VFENCE_LOG_KEPT: number of entries kept per log until the owner fetches them */
#define VFENCE_LOG_KEPT		1024

/**
 * struct vfence_log - one log of a queue, as the driver reads it
 */
struct vfence_log {
	/** @lock: serialises readers and protects all fields below that change */
	struct mutex lock;
	/**
	 * @owner: The file whose GPU address space holds the buffer and whose handles the
	 * entries name. NULL once the queue is destroyed.
	 */
	struct vfence_file *owner;

	/** @header: the buffer, written by the GPU */
	struct drm_vfence_log_header *header;
	/** @replaced: number of times the buffer was replaced */
	u32 replaced;
	/** @entries: capacity of the buffer, in entries */
	u32 entries;
	/** @node: GPU addresses of the buffer */
	struct drm_mm_node node;

	/** @read: position up to which the buffer has been read */
	u64 read;
	/** @taken: number of entries read */
	u64 taken;
	/** @lost: number of entries overwritten before they were read */
	u64 lost;

	/**
	 * @kept: entries kept for the owner, indexed by count modulo VFENCE_LOG_KEPT; NULL until
	 * the owner fetches some, or the buffer is replaced
	 */
	struct drm_vfence_log_entry *kept;
	/** @put: number of entries ever kept, or dropped without @kept */
	u64 put;
	/** @fetched: number of entries ever fetched or dropped */
	u64 fetched;
	/** @dropped: number of entries dropped before the owner fetched them */
	u64 dropped;
};

void vfence_log_init(struct vfence_adapter *adapter);
void vfence_log_fini(struct vfence_adapter *adapter);
void vfence_log_add_source(struct vfence_adapter *adapter);
void vfence_log_setup(struct vfence_queue *queue);
void vfence_log_unmap(struct vfence_queue *queue);
void vfence_log_free(struct vfence_queue *queue);
void vfence_log_query(struct vfence_queue *queue, u64 *taken, u64 *lost);
u64 vfence_log_first_free(struct vfence_log *log);
unsigned int vfence_log_read_locked(struct vfence_queue *queue, struct vfence_log *log, u64 end);
struct drm_vfence_log_entry *vfence_log_alloc_kept(void);
void vfence_log_begin_to_keep_locked(struct vfence_log *log, struct drm_vfence_log_entry *kept);
unsigned int vfence_log_read(struct vfence_queue *queue);
u64 vfence_log_unread(struct vfence_queue *queue);
int vfence_log_read_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
