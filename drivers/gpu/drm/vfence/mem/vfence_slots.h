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

/** VFENCE_SLOTS_MAX: most slots of one page */
#define VFENCE_SLOTS_MAX	(PAGE_SIZE / VGPU_STRIDE_MIN)

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
	/** @shared_page: page of the current value that another adapter has, too, or NULL */
	struct page *shared_page;
	/** @current_value: of a DEFAULT fence clients map it read only */
	struct vfence_storage current_value;
	/** @monitored_value: never mapped by clients */
	struct vfence_storage monitored_value;
	/** @fences: &struct vfence_fence with values in it; adapter->mem.segment.lock */
	struct list_head fences;
	/** @used: slots taken; atomic bits */
	DECLARE_BITMAP(used, VFENCE_SLOTS_MAX);
};

/**
 * struct vfence_slots_args - what the values of a new fence need
 */
struct vfence_slots_args {
	/** @type: &enum drm_vfence_fence_type */
	enum drm_vfence_fence_type type;
	/** @no_gpu_access: no GPU address */
	bool no_gpu_access;
	/** @shareable: pages of its own */
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
