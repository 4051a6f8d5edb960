// SPDX-License-Identifier: GPL-2.0-only
/*
 * Video memory: which pages of values are there, and which are to be. vfence_mover.c moves them.
 */

#include <linux/completion.h>
#include <linux/mm.h>

#include "core/vfence_adapter.h"
#include "mem/vfence_segment.h"
#include "mem/vfence_storage.h"

static void segment_leave_locked(struct vfence_storage *storage)
{
	struct vfence_segment *segment = &storage->adapter->mem.segment;

	lockdep_assert_held(&segment->lock);
	list_del_init(&storage->resident);
	drm_mm_remove_node(&storage->local);
	segment->pages--;
}

/** vfence_segment_leave - free the page of video memory of a storage, if it has one */
void vfence_segment_leave(struct vfence_storage *storage)
{
	struct vfence_segment *segment = &storage->adapter->mem.segment;

	spin_lock(&segment->lock);
	if (!list_empty(&storage->resident))
		segment_leave_locked(storage);
	spin_unlock(&segment->lock);
}

/**
 * vfence_segment_moved - the values of a page are in system memory from now on
 * @storage: the page; the caller has a reference of its slots
 * @kva: where they are
 */
void vfence_segment_moved(struct vfence_storage *storage, void *kva)
{
	struct vfence_segment *segment = &storage->adapter->mem.segment;

	spin_lock(&segment->lock);
	if (storage->kva)
		storage->kva = kva;
	segment_leave_locked(storage);
	segment->evictions++;
	segment->moved(storage->slots, storage);
	spin_unlock(&segment->lock);
}

/** vfence_segment_reserve - reserve a page of video memory; -ENOSPC if none is free */
int vfence_segment_reserve(struct vfence_segment *segment, struct vfence_segment_request *request)
{
	const struct vgpu_config *gpu = &request->storage->adapter->config.gpu;
	int ret = -ENOSPC;

	spin_lock(&segment->lock);
	if (!segment->unpowered)
		ret = drm_mm_insert_node_in_range(&segment->space, &request->storage->local, 1, 1,
						  0, request->visible ? 0 : gpu->visible_pages,
						  request->visible ? gpu->visible_pages :
								     gpu->local_pages,
						  DRM_MM_INSERT_BEST);
	spin_unlock(&segment->lock);
	return ret;
}

/** vfence_segment_publish - the page of a request is clear: from now on it may be evicted */
void vfence_segment_publish(struct vfence_segment *segment, struct vfence_segment_request *request)
{
	struct vfence_storage *storage = request->storage;

	spin_lock(&segment->lock);
	if (request->visible)
		storage->kva = vgpu_storage_aperture(storage->adapter->gpu, storage->local.start);
	list_add_tail(&storage->resident, &segment->resident[!request->visible]);
	segment->pages++;
	spin_unlock(&segment->lock);
}

/**
 * vfence_segment_place - place a new page of values in video memory, cleared
 * @storage: the page, with its system memory and its &vfence_storage.hw
 * @visible: in the part of video memory that the CPU reaches
 *
 * Sleeps until the GPU has moved what is in the way. Holds nothing meanwhile that others need: the
 * thread may not get a processor for long after the GPU is done.
 *
 * Return: 0, -ENOSPC or -EIO when there is no page.
 */
int vfence_segment_place(struct vfence_storage *storage, bool visible)
{
	struct vfence_segment *segment = &storage->adapter->mem.segment;
	struct vfence_segment_request request = { .storage = storage, .visible = visible };

	init_completion(&request.done);
	spin_lock(&segment->lock);
	list_add_tail(&request.link, &segment->requests);
	spin_unlock(&segment->lock);
	queue_work(segment->move_wq, &segment->move_work);
	wait_for_completion(&request.done);
	return request.ret;
}

/** vfence_segment_power_on - allow pages in video memory again */
void vfence_segment_power_on(struct vfence_adapter *adapter)
{
	spin_lock(&adapter->mem.segment.lock);
	adapter->mem.segment.unpowered = false;
	spin_unlock(&adapter->mem.segment.lock);
}

void vfence_segment_init(struct vfence_adapter *adapter)
{
	struct vfence_segment *segment = &adapter->mem.segment;

	mutex_init(&segment->mover);
	spin_lock_init(&segment->lock);
	INIT_LIST_HEAD(&segment->requests);
	/* drm_mm does not accept an empty range. */
	drm_mm_init(&segment->space, 0, adapter->config.gpu.local_pages ?: 1);
	INIT_LIST_HEAD(&segment->resident[0]);
	INIT_LIST_HEAD(&segment->resident[1]);

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
	mutex_destroy(&adapter->mem.segment.mover);
}
