/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SLOTS_H_
#define _VFENCE_SLOTS_H_

#include <linux/bitmap.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>

#include "hw/vgpu.h"
#include "mem/vfence_storage.h"

struct vfence_adapter;
struct vfence_file;

/** VFENCE_SLOTS_MAX: maximum number of slots in one page */
#define VFENCE_SLOTS_MAX	(PAGE_SIZE / VGPU_STRIDE_MIN)

/**
 * struct vfence_slots - a page of current values and one of monitored values
 *
 * Private fences of one file share these pages. A shareable fence has pages of its own
 * (WDDM-20..23).
 */
struct vfence_slots {
	/** @ref: references of the file (for private fences) and of each fence */
	struct kref ref;
	/** @link: entry of &vfence_file.slots, for private fences; under &vfence_file.lock */
	struct list_head link;

	/** @adapter: adapter of the pages; constant */
	struct vfence_adapter *adapter;
	/** @type: type of the fences in the pages; constant */
	enum drm_vfence_fence_type type;
	/** @no_gpu_access: the pages have no GPU addresses; constant */
	bool no_gpu_access;
	/** @shareable: the pages are for one fence that may be exported; constant */
	bool shareable;
	/** @shared_page: memory of @current_value that another adapter shares, or NULL; constant */
	struct page *shared_page;

	/** @current_value: page of current values; clients map that of DEFAULT fences read-only */
	struct vfence_storage current_value;
	/** @monitored_value: page of monitored values; clients never map it */
	struct vfence_storage monitored_value;

	/** @fences: &struct vfence_fence with values in the pages; under &vfence_segment.lock */
	struct list_head fences;
	/** @used: slots in use; atomic bits */
	DECLARE_BITMAP(used, VFENCE_SLOTS_MAX);
	/** @next: slot to try next; under &vfence_file.lock */
	unsigned int next;
};

/**
 * struct vfence_slots_args - requirements for the values of a new fence
 */
struct vfence_slots_args {
	/** @type: &enum drm_vfence_fence_type */
	enum drm_vfence_fence_type type;
	/** @no_gpu_access: the fence has no GPU address */
	bool no_gpu_access;
	/** @shareable: the fence gets pages of its own */
	bool shareable;
	/** @shared_page: see &vfence_slots.shared_page */
	struct page *shared_page;
};

u32 vfence_slots_offset(const struct vfence_slots *slots, unsigned int index);
u64 vfence_slots_va(const struct drm_mm_node *node, const struct vfence_slots *slots,
		    unsigned int index);
struct vfence_slots *vfence_slots_get(struct vfence_file *file,
				      const struct vfence_slots_args *args, unsigned int *index);
void vfence_slots_put(struct vfence_slots *slots);
void vfence_slots_destroy_all(struct vfence_file *file);

#endif
