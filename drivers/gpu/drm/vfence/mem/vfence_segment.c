// SPDX-License-Identifier: GPL-2.0-only
/*
 * Video memory: placement of the pages of values, eviction, and loss of power.
 */

#include <linux/completion.h>
#include <linux/mm.h>

#include "core/vfence_adapter.h"
#include "mem/vfence_paging.h"
#include "mem/vfence_segment.h"
#include "mem/vfence_slots.h"
#include "mem/vfence_storage.h"
#include "vfence_race_point.h"

/**
 * struct segment_request - a page that is to be placed in video memory
 */
struct segment_request {
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

/* The values of a page are in system memory from now on. */
static void segment_moved_locked(struct vfence_storage *storage, void *kva)
{
	struct vfence_segment *segment = &storage->adapter->mem.segment;

	lockdep_assert_held(&segment->lock);
	if (storage->kva)
		storage->kva = kva;
	segment_leave_locked(storage);
	segment->evictions++;
	segment->moved(storage->slots, storage);
}

/*
 * The page that has been in video memory for the longest time, with a reference of its slots, or
 * NULL. A page without references is about to leave by itself.
 */
static struct vfence_storage *segment_oldest(struct vfence_segment *segment, bool visible)
{
	struct vfence_storage *storage, *oldest = NULL;

	lockdep_assert_held(&segment->mover);
	spin_lock(&segment->lock);
	list_for_each_entry(storage, &segment->resident[!visible], resident) {
		if (kref_get_unless_zero(&storage->slots->ref)) {
			oldest = storage;
			break;
		}
	}
	spin_unlock(&segment->lock);
	return oldest;
}

/* The same, in either part of video memory. */
static struct vfence_storage *segment_any(struct vfence_segment *segment)
{
	return segment_oldest(segment, true) ?: segment_oldest(segment, false);
}

/*
 * Move a page of values to its system memory, by a packet of the paging queue, and drop the
 * reference of segment_oldest(). The engines access the values either at the old place or at the
 * new one, so that the fences stay in use meanwhile.
 */
static int segment_evict(struct vfence_storage *storage)
{
	struct vfence_adapter *adapter = storage->adapter;
	struct vfence_segment *segment = &adapter->mem.segment;
	void *kva = page_address(storage->system);
	int ret;

	lockdep_assert_held(&segment->mover);
	vfence_hold(EVICT);
	ret = vfence_paging_run(adapter, VGPU_OP_EVICT_STORAGE, storage->hw, kva);
	if (!ret) {
		spin_lock(&segment->lock);
		segment_moved_locked(storage, kva);
		spin_unlock(&segment->lock);
	}
	vfence_slots_put(storage->slots);
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
	struct vfence_storage *storage;

	mutex_lock(&segment->mover);
	while ((storage = segment_any(segment))) {
		void *kva = page_address(storage->system);

		vgpu_storage_evicted(adapter->gpu, storage->hw, kva);
		spin_lock(&segment->lock);
		segment_moved_locked(storage, kva);
		spin_unlock(&segment->lock);
		vfence_slots_put(storage->slots);
		cond_resched();
	}
	mutex_unlock(&segment->mover);
}

/* Reserve a page of video memory that is free; returns -ENOSPC if there is none. */
static int segment_reserve(struct vfence_segment *segment, struct segment_request *request)
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

/* If all pages of the range are in use, move the oldest one to system memory. */
static int segment_take(struct vfence_segment *segment, struct segment_request *request)
{
	struct vfence_storage *victim;
	int ret;

	ret = segment_reserve(segment, request);
	if (ret != -ENOSPC)
		return ret;

	victim = segment_oldest(segment, request->visible);
	if (!victim)
		return ret;
	ret = segment_evict(victim);
	return ret ? ret : segment_reserve(segment, request);
}

/* The page is clear: from now on it may be evicted. */
static void segment_publish(struct vfence_segment *segment, struct segment_request *request)
{
	struct vfence_storage *storage = request->storage;

	spin_lock(&segment->lock);
	if (request->visible)
		storage->kva = vgpu_storage_aperture(storage->adapter->gpu, storage->local.start);
	list_add_tail(&storage->resident, &segment->resident[!request->visible]);
	segment->pages++;
	spin_unlock(&segment->lock);
}

/* The GPU clears the page, so that no client sees the values of an earlier owner. */
static int segment_fill(struct vfence_segment *segment, struct segment_request *request)
{
	struct vfence_storage *storage = request->storage;
	struct vfence_adapter *adapter = storage->adapter;
	int ret;

	lockdep_assert_held(&segment->mover);
	ret = segment_take(segment, request);
	if (ret)
		return ret;

	vgpu_storage_place(adapter->gpu, storage->hw, storage->local.start);
	ret = vfence_paging_run(adapter, VGPU_OP_CLEAR_STORAGE, storage->hw, NULL);
	if (!ret) {
		segment_publish(segment, request);
		return 0;
	}

	spin_lock(&segment->lock);
	drm_mm_remove_node(&storage->local);
	spin_unlock(&segment->lock);
	return ret;
}

static struct segment_request *segment_next_request(struct vfence_segment *segment)
{
	struct segment_request *request;

	spin_lock(&segment->lock);
	request = list_first_entry_or_null(&segment->requests, struct segment_request, link);
	if (request)
		list_del(&request->link);
	spin_unlock(&segment->lock);
	return request;
}

static void segment_move_work(struct work_struct *work)
{
	struct vfence_segment *segment = container_of(work, struct vfence_segment, move_work);
	struct segment_request *request;

	mutex_lock(&segment->mover);
	vfence_hold(MOVE);
	while ((request = segment_next_request(segment))) {
		request->ret = segment_fill(segment, request);
		/* The last access: the thread goes on with its stack. */
		complete(&request->done);
		cond_resched();
	}
	mutex_unlock(&segment->mover);
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
	struct segment_request request = { .storage = storage, .visible = visible };

	init_completion(&request.done);
	spin_lock(&segment->lock);
	list_add_tail(&request.link, &segment->requests);
	spin_unlock(&segment->lock);
	queue_work(segment->move_wq, &segment->move_work);
	wait_for_completion(&request.done);
	return request.ret;
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
	struct vfence_storage *storage;
	int ret = 0;

	mutex_lock(&segment->mover);
	while (!ret && (storage = segment_any(segment)))
		ret = segment_evict(storage);

	spin_lock(&segment->lock);
	segment->unpowered = !ret;
	spin_unlock(&segment->lock);
	mutex_unlock(&segment->mover);
	return ret;
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
	INIT_WORK(&segment->move_work, segment_move_work);
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
