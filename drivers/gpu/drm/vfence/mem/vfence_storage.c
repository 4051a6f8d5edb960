// SPDX-License-Identifier: GPL-2.0-only
/*
 * Storage of fence values: the memory of a page of values.
 */

#include <linux/mm.h>

#include "core/vfence_adapter.h"
#include "mem/vfence_page.h"
#include "mem/vfence_paging.h"
#include "mem/vfence_segment.h"
#include "mem/vfence_slots.h"
#include "mem/vfence_storage.h"

static int storage_map_system(struct vfence_storage *storage)
{
	struct vfence_adapter *adapter = storage->adapter;
	const struct vgpu_fence_caps *caps = vfence_fence_caps(adapter);
	struct drm_mm_node *node = &storage->system_va;
	int ret;

	if (!caps->map_to_system || storage->slots->type == DRM_VFENCE_FENCE_MONITORED)
		return 0;

	mutex_lock(&adapter->mem.system_lock);
	/* The address bounds hold for the system process, too (WDDM-29). */
	ret = drm_mm_insert_node_in_range(&adapter->mem.system_space, node, PAGE_SIZE, PAGE_SIZE, 0,
					  caps->minimum_address,
					  caps->maximum_address ?: DRM_VFENCE_VA_LIMIT,
					  DRM_MM_INSERT_LOW);
	if (!ret) {
		ret = vgpu_vm_map_storage(vgpu_device_system_vm(adapter->gpu), node->start,
					  storage->hw, VGPU_VM_READ | VGPU_VM_WRITE);
		if (ret)
			drm_mm_remove_node(node);
	}
	mutex_unlock(&adapter->mem.system_lock);
	return ret;
}

static void storage_unmap_system(struct vfence_storage *storage)
{
	struct vfence_adapter *adapter = storage->adapter;

	if (!drm_mm_node_allocated(&storage->system_va))
		return;
	mutex_lock(&adapter->mem.system_lock);
	vgpu_vm_unmap(vgpu_device_system_vm(adapter->gpu), storage->system_va.start, PAGE_SIZE);
	drm_mm_remove_node(&storage->system_va);
	mutex_unlock(&adapter->mem.system_lock);
}

static int storage_alloc_system(struct vfence_storage *storage)
{
	storage->system = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	return storage->system ? 0 : -ENOMEM;
}

static void storage_free_system(struct vfence_storage *storage)
{
	if (storage->system)
		put_page(storage->system);
	storage->system = NULL;
}

/*
 * Place a page in video memory. The owner pays for the system memory of an eviction now, as another
 * client may cause the eviction.
 */
static int storage_place_local(struct vfence_storage *storage, bool visible)
{
	struct vfence_adapter *adapter = storage->adapter;
	int ret;

	ret = storage_alloc_system(storage);
	if (ret)
		return ret;
	storage->hw = vgpu_storage_create_local(adapter->gpu);
	ret = PTR_ERR_OR_ZERO(storage->hw);
	if (!ret)
		ret = vfence_segment_place(storage, visible);
	if (!ret)
		return 0;

	if (!IS_ERR(storage->hw))
		vgpu_storage_destroy(storage->hw);
	storage->hw = NULL;
	storage_free_system(storage);
	return ret;
}

static int storage_place_system(struct vfence_storage *storage, bool user, bool cpu)
{
	void *kva;
	int ret;

	if (user) {
		storage->user = vfence_page_create(storage->adapter, VFENCE_PAGE_FENCE,
						   storage->slots->shared_page);
		if (IS_ERR(storage->user))
			return PTR_ERR(storage->user);
		kva = vfence_page_kva(storage->user);
	} else {
		ret = storage_alloc_system(storage);
		if (ret)
			return ret;
		kva = page_address(storage->system);
	}

	if (cpu)
		storage->kva = kva;
	storage->hw = vgpu_storage_create_system(storage->adapter->gpu, kva);
	return PTR_ERR_OR_ZERO(storage->hw);
}

/*
 * Place values in video memory only if the hardware prefers and supports it, and if it lets the
 * values be evicted to system memory, the one destination of evictions (WDDM-27).
 */
static bool storage_may_be_local(const struct vgpu_placement *placement)
{
	return placement->preferred != VGPU_SEGMENT_SYSTEM &&
	       placement->preferred & placement->supported &&
	       placement->eviction & VGPU_SEGMENT_SYSTEM;
}

static int storage_place(struct vfence_storage *storage, enum vgpu_fence_value value)
{
	struct vfence_slots *slots = storage->slots;
	bool cpu = slots->type != DRM_VFENCE_FENCE_INTRA_GPU;
	struct vgpu_placement placement;

	/* The hardware chooses the placement of native fences only. */
	if (slots->type == DRM_VFENCE_FENCE_MONITORED)
		return storage_place_system(storage, true, true);
	vgpu_storage_query_placement(storage->adapter->gpu, slots->type, value, &placement);

	/*
	 * Place shared storage in system memory (WDDM-25). Use system memory also when video
	 * memory has no room: the values would be there after an eviction, too.
	 */
	if (!slots->shareable && storage_may_be_local(&placement) &&
	    !storage_place_local(storage, placement.preferred == VGPU_SEGMENT_LOCAL_VISIBLE))
		return 0;
	if (!(placement.supported & VGPU_SEGMENT_SYSTEM))
		return -ENOSPC;

	return storage_place_system(storage, cpu && value == VGPU_CURRENT_VALUE, cpu);
}

/**
 * vfence_storage_init - initialise a storage, so that vfence_storage_fini() may be called
 * @storage: zeroed storage, a member of @slots
 * @slots: their type and sharing decide where the storage may be placed
 */
void vfence_storage_init(struct vfence_storage *storage, struct vfence_slots *slots)
{
	storage->adapter = slots->adapter;
	storage->slots = slots;
	INIT_LIST_HEAD(&storage->resident);
}

/**
 * vfence_storage_alloc - allocate the memory of a page of values
 * @storage: the page
 * @value: kind of values: current or monitored
 */
int vfence_storage_alloc(struct vfence_storage *storage, enum vgpu_fence_value value)
{
	int ret;

	ret = storage_place(storage, value);
	return ret ? ret : storage_map_system(storage);
}

/** vfence_storage_fini - free a storage that no fence and no mapping uses any more */
void vfence_storage_fini(struct vfence_storage *storage)
{
	storage_unmap_system(storage);
	/* Nothing moves the page now: whoever does has a reference to the slots. */
	vfence_segment_leave(storage);

	if (!IS_ERR_OR_NULL(storage->hw))
		vgpu_storage_destroy(storage->hw);
	vfence_page_put(storage->user);
	storage_free_system(storage);
}
