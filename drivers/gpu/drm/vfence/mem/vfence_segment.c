// SPDX-License-Identifier: GPL-2.0-only
/*
 * Video memory: placement of the pages of values, eviction, and loss of power.
 */

#include <linux/mm.h>

#include "core/vfence_adapter.h"
#include "mem/vfence_paging.h"
#include "mem/vfence_segment.h"
#include "mem/vfence_storage.h"

/** vfence_segment_leave_locked - free the page of video memory of a storage */
void vfence_segment_leave_locked(struct vfence_storage *storage)
{
	struct vfence_segment *segment = &storage->adapter->mem.segment;

	lockdep_assert_held(&segment->lock);
	list_del_init(&storage->resident);
	drm_mm_remove_node(&storage->local);
	segment->pages--;
}

/* The values of a page are in system memory from now on. */
static void segment_moved_locked(struct vfence_storage *storage, void *kva)
{
	struct vfence_segment *segment = &storage->adapter->mem.segment;

	lockdep_assert_held(&segment->lock);
	if (storage->kva)
		storage->kva = kva;
	vfence_segment_leave_locked(storage);
	segment->evictions++;
	segment->moved(storage->slots, storage);
}

/*
 * Move a page of values to its system memory, by a packet of the paging queue. The engines
 * access the values either at the old place or at the new one, so that the fences stay in
 * use meanwhile.
 */
static int segment_evict_locked(struct vfence_storage *storage)
{
	struct vfence_adapter *adapter = storage->adapter;
	void *kva = page_address(storage->system);
	int ret;

	lockdep_assert_held(&adapter->mem.segment.lock);

	ret = vfence_paging_run(adapter, VGPU_OP_EVICT_STORAGE, storage->hw, kva);
	if (!ret)
		segment_moved_locked(storage, kva);
	return ret;
}

/**
 * vfence_segment_purge - the contents of video memory are lost (WDDM-160)
 * @adapter: the adapter, after vgpu_reset_adapter()
 *
 * All pages are in system memory on return. Monitored values are stored again; values that only
 * the GPU has written are 0.
 */
void vfence_segment_purge(struct vfence_adapter *adapter)
{
	struct vfence_segment *segment = &adapter->mem.segment;
	struct vfence_storage *storage, *next;

	mutex_lock(&segment->lock);
	list_for_each_entry_safe(storage, next, &segment->resident, resident) {
		void *kva = page_address(storage->system);

		vgpu_storage_evicted(adapter->gpu, storage->hw, kva);
		segment_moved_locked(storage, kva);
		cond_resched();
	}
	mutex_unlock(&segment->lock);
}

/* The page between @start and @end that has been in video memory for the longest time. */
static struct vfence_storage *segment_victim_locked(struct vfence_segment *segment, u64 start,
						    u64 end)
{
	struct vfence_storage *storage;

	lockdep_assert_held(&segment->lock);
	list_for_each_entry(storage, &segment->resident, resident)
		if (storage->local.start >= start && storage->local.start < end)
			return storage;
	return NULL;
}

/**
 * vfence_segment_take_locked - allocate a page of video memory
 * @adapter: the adapter, its segment locked
 * @node: zeroed node; output
 * @start: number of the lowest page
 * @end: number of the first page above the range
 *
 * If all pages of the range are in use, the oldest one moves to system memory.
 *
 * Return: 0, -ENOSPC or -EIO when there is no page.
 */
int vfence_segment_take_locked(struct vfence_adapter *adapter, struct drm_mm_node *node,
			       u64 start, u64 end)
{
	struct vfence_segment *segment = &adapter->mem.segment;
	struct vfence_storage *victim;
	int ret;

	lockdep_assert_held(&segment->lock);
	if (segment->unpowered)
		return -ENOSPC;
	ret = drm_mm_insert_node_in_range(&segment->space, node, 1, 1, 0, start, end,
					  DRM_MM_INSERT_BEST);
	if (ret != -ENOSPC)
		return ret;

	victim = segment_victim_locked(segment, start, end);
	if (!victim)
		return ret;
	ret = segment_evict_locked(victim);
	if (ret)
		return ret;

	return drm_mm_insert_node_in_range(&segment->space, node, 1, 1, 0, start, end,
					   DRM_MM_INSERT_BEST);
}

/**
 * vfence_segment_power_off - move all pages out of video memory before it loses its power
 * @adapter: the adapter, powered
 *
 * Return: 0 or the error of an eviction. After 0 no page is placed in video memory until
 * vfence_segment_power_on().
 */
int vfence_segment_power_off(struct vfence_adapter *adapter)
{
	struct vfence_segment *segment = &adapter->mem.segment;
	struct vfence_storage *storage, *next;
	int ret = 0;

	mutex_lock(&segment->lock);
	list_for_each_entry_safe(storage, next, &segment->resident, resident) {
		ret = segment_evict_locked(storage);
		if (ret)
			break;
	}
	segment->unpowered = !ret;
	mutex_unlock(&segment->lock);
	return ret;
}

/** vfence_segment_power_on - allow pages in video memory again */
void vfence_segment_power_on(struct vfence_adapter *adapter)
{
	mutex_lock(&adapter->mem.segment.lock);
	adapter->mem.segment.unpowered = false;
	mutex_unlock(&adapter->mem.segment.lock);
}

void vfence_segment_init(struct vfence_adapter *adapter)
{
	struct vfence_segment *segment = &adapter->mem.segment;

	mutex_init(&segment->lock);
	/* drm_mm does not accept an empty range. */
	drm_mm_init(&segment->space, 0, adapter->config.gpu.local_pages ?: 1);
	INIT_LIST_HEAD(&segment->resident);

	mutex_init(&adapter->mem.system_lock);
	drm_mm_init(&adapter->mem.system_space, PAGE_SIZE, DRM_VFENCE_VA_LIMIT - PAGE_SIZE);
}

/** vfence_segment_alloc_dummy - allocate the page that fence mappings read after unplug */
int vfence_segment_alloc_dummy(struct vfence_adapter *adapter)
{
	struct page *page = alloc_page(GFP_KERNEL);

	if (!page)
		return -ENOMEM;
	memset(page_address(page), 0xff, PAGE_SIZE);
	adapter->mem.dummy_fence = page;
	return 0;
}

void vfence_segment_fini(struct vfence_adapter *adapter)
{
	if (adapter->mem.dummy_fence)
		put_page(adapter->mem.dummy_fence);
	drm_mm_takedown(&adapter->mem.system_space);
	mutex_destroy(&adapter->mem.system_lock);
	drm_mm_takedown(&adapter->mem.segment.space);
	mutex_destroy(&adapter->mem.segment.lock);
}
