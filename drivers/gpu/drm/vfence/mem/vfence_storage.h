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
 *    created local --- pressure: paging packet ---> system memory
 *    created in system memory, for good
 */
struct vfence_storage {
	/** @adapter: whose it is */
	struct vfence_adapter *adapter;
	/** @slots: what it is part of */
	struct vfence_slots *slots;
	/** @user: its memory, if clients map it */
	struct vfence_page *user;
	/** @system: its memory, if clients do not and it is not local */
	struct page *system;
	/** @local: its page of video memory, while it is there */
	struct drm_mm_node local;
	/** @resident: in segment.resident, while local */
	struct list_head resident;
	/** @kva: where the CPU finds it, or NULL; segment.lock */
	void *kva;
	/** @hw: the virtual GPU's object */
	struct vgpu_storage *hw;
	/** @system_va: in the system process's space, if the GPU wants that */
	struct drm_mm_node system_va;
};

void vfence_storage_init(struct vfence_storage *storage, struct vfence_slots *slots);
int vfence_storage_alloc(struct vfence_storage *storage, enum vgpu_fence_value value);
void vfence_storage_fini(struct vfence_storage *storage);
#endif
