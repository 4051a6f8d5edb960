/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_STORAGE_H_
#define _VFENCE_STORAGE_H_

#include <linux/list.h>

#include <drm/drm_mm.h>

#include "hw/vgpu.h"

struct vfence_adapter;
struct vfence_page;
struct vfence_slots;
struct page;

/**
 * struct vfence_storage - a page of current or of monitored values
 *
 * ::
 *
 *    created in video memory --- eviction: paging packet ---> system memory
 *    created in system memory, where it stays
 */
struct vfence_storage {
	/** @adapter: adapter of the storage; constant */
	struct vfence_adapter *adapter;
	/** @slots: slots that contain the storage; constant */
	struct vfence_slots *slots;

	/** @user: memory that clients map, or NULL; constant */
	struct vfence_page *user;
	/**
	 * @system: System memory that clients do not map, or NULL. A page in video memory has it
	 * for its eviction.
	 */
	struct page *system;
	/** @local: page of video memory, while allocated; under &vfence_segment.lock */
	struct drm_mm_node local;
	/** @resident: entry of &vfence_segment.resident while @local is allocated */
	struct list_head resident;
	/** @kva: kernel address of the values, or NULL; under &vfence_segment.lock */
	void *kva;

	/** @hw: the virtual GPU's object; constant */
	struct vgpu_storage *hw;
	/** @system_va: addresses in the GPU's system process, if the GPU requires them */
	struct drm_mm_node system_va;
};

void vfence_storage_init(struct vfence_storage *storage, struct vfence_slots *slots);
int vfence_storage_alloc(struct vfence_storage *storage, enum vgpu_fence_value value);
void vfence_storage_fini(struct vfence_storage *storage);
#endif
