/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SEGMENT_H_
#define _VFENCE_SEGMENT_H_

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/types.h>

struct vfence_adapter;
struct vfence_segment;
struct vfence_storage;

/**
 * struct vfence_segment_request - a page that is to be placed in video memory
 */
struct vfence_segment_request {
	/** @link: entry of &vfence_segment.requests, until it is taken */
	struct list_head link;
	/** @storage: the page; its owner sleeps until @done */
	struct vfence_storage *storage;
	/** @visible: in the part of video memory that the CPU reaches */
	bool visible;
	/** @ret: the result; valid after @done */
	int ret;
	/** @done: completed last: the request is on the stack of a thread that waits for it */
	struct completion done;
};

void vfence_segment_init(struct vfence_adapter *adapter);
int vfence_segment_alloc_dummy(struct vfence_adapter *adapter);
void vfence_segment_fini(struct vfence_adapter *adapter);
int vfence_segment_place(struct vfence_storage *storage, bool visible);
void vfence_segment_leave(struct vfence_storage *storage);
int vfence_segment_reserve(struct vfence_segment *segment, struct vfence_segment_request *request);
void vfence_segment_publish(struct vfence_segment *segment, struct vfence_segment_request *request);
void vfence_segment_moved(struct vfence_storage *storage, void *kva);
void vfence_segment_power_on(struct vfence_adapter *adapter);

#endif
