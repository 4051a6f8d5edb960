/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_LOG_H_
#define _VFENCE_LOG_H_

#include <linux/mutex.h>
#include <linux/types.h>

#include <drm/drm_mm.h>

struct drm_device;
struct drm_file;
struct vfence_adapter;
struct vfence_file;
struct vfence_queue;

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

void vfence_log_init(struct vfence_adapter *adapter);
void vfence_log_fini(struct vfence_adapter *adapter);
void vfence_log_add_source(struct vfence_adapter *adapter);
void vfence_log_setup(struct vfence_queue *queue);
int vfence_log_create(struct vfence_queue *queue);
void vfence_log_create_none(struct vfence_queue *queue);
void vfence_log_unmap(struct vfence_queue *queue);
int vfence_log_set_level(struct vfence_adapter *adapter, u32 level);
void vfence_log_free(struct vfence_queue *queue);
void vfence_log_query(struct vfence_queue *queue, u64 *taken, u64 *lost);
unsigned int vfence_log_read(struct vfence_queue *queue);
u64 vfence_log_unread(struct vfence_queue *queue);
int vfence_log_read_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
