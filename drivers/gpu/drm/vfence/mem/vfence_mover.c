// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mover: places pages of values in video memory, and moves the oldest ones to system memory.
 */

#include <linux/mm.h>

#include "core/vfence_adapter.h"
#include "mem/vfence_mover.h"
#include "mem/vfence_paging.h"
#include "mem/vfence_segment.h"
#include "mem/vfence_slots.h"
#include "mem/vfence_storage.h"
#include "vfence_race_point.h"

/*
 * The page that has been in video memory for the longest time, with a reference of its slots, or
 * NULL. A page without references is about to leave by itself.
 */
static struct vfence_storage *mover_oldest(struct vfence_segment *segment, bool visible)
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
static struct vfence_storage *mover_any(struct vfence_segment *segment)
{
	return mover_oldest(segment, true) ?: mover_oldest(segment, false);
}

/*
 * Move a page of values to its system memory, by a packet of the paging queue, and drop the
 * reference of mover_oldest(). The engines access the values either at the old place or at the
 * new one, so that the fences stay in use meanwhile.
 */
static int mover_evict(struct vfence_storage *storage)
{
	struct vfence_adapter *adapter = storage->adapter;
	void *kva = page_address(storage->system);
	int ret;

	lockdep_assert_held(&adapter->mem.segment.mover);
	vfence_hold(EVICT);
	ret = vfence_paging_run(adapter, VGPU_OP_EVICT_STORAGE, storage->hw, kva);
	if (!ret)
		vfence_segment_moved(storage, kva);
	vfence_slots_put(storage->slots);
	return ret;
}

/* If all pages of the range are in use, move the oldest one to system memory. */
static int mover_take(struct vfence_segment *segment, struct vfence_segment_request *request)
{
	struct vfence_storage *victim;
	int ret;

	ret = vfence_segment_reserve(segment, request);
	if (ret != -ENOSPC)
		return ret;

	victim = mover_oldest(segment, request->visible);
	if (!victim)
		return ret;
	ret = mover_evict(victim);
	return ret ? ret : vfence_segment_reserve(segment, request);
}

/* The GPU clears the page, so that no client sees the values of an earlier owner. */
static int mover_fill(struct vfence_segment *segment, struct vfence_segment_request *request)
{
	struct vfence_storage *storage = request->storage;
	struct vfence_adapter *adapter = storage->adapter;
	int ret;

	lockdep_assert_held(&segment->mover);
	ret = mover_take(segment, request);
	if (ret)
		return ret;

	vgpu_storage_place(adapter->gpu, storage->hw, storage->local.start);
	ret = vfence_paging_run(adapter, VGPU_OP_CLEAR_STORAGE, storage->hw, NULL);
	if (!ret) {
		vfence_segment_publish(segment, request);
		return 0;
	}

	spin_lock(&segment->lock);
	drm_mm_remove_node(&storage->local);
	spin_unlock(&segment->lock);
	return ret;
}

static struct vfence_segment_request *mover_next_request(struct vfence_segment *segment)
{
	struct vfence_segment_request *request;

	spin_lock(&segment->lock);
	request = list_first_entry_or_null(&segment->requests, struct vfence_segment_request, link);
	if (request)
		list_del(&request->link);
	spin_unlock(&segment->lock);
	return request;
}

static void mover_work(struct work_struct *work)
{
	struct vfence_segment *segment = container_of(work, struct vfence_segment, move_work);
	struct vfence_segment_request *request;

	mutex_lock(&segment->mover);
	vfence_hold(MOVE);
	while ((request = mover_next_request(segment))) {
		request->ret = mover_fill(segment, request);
		/* The last access: the thread goes on with its stack. */
		complete(&request->done);
		cond_resched();
	}
	mutex_unlock(&segment->mover);
}

/**
 * vfence_mover_purge - the contents of video memory are lost (WDDM-160)
 * @adapter: the adapter, after vgpu_reset_adapter()
 *
 * All pages are in system memory on return. Monitored values are stored again; values that only
 * the GPU has written are 0.
 */
void vfence_mover_purge(struct vfence_adapter *adapter)
{
	struct vfence_segment *segment = &adapter->mem.segment;
	struct vfence_storage *storage;

	mutex_lock(&segment->mover);
	while ((storage = mover_any(segment))) {
		void *kva = page_address(storage->system);

		vgpu_storage_evicted(adapter->gpu, storage->hw, kva);
		vfence_segment_moved(storage, kva);
		vfence_slots_put(storage->slots);
		cond_resched();
	}
	mutex_unlock(&segment->mover);
}

/**
 * vfence_mover_power_off - move all pages out of video memory before it loses its power
 * @adapter: the adapter, powered
 *
 * Return: 0 or the error of an eviction. After 0 no page is placed in video memory until
 * vfence_segment_power_on().
 */
int vfence_mover_power_off(struct vfence_adapter *adapter)
{
	struct vfence_segment *segment = &adapter->mem.segment;
	struct vfence_storage *storage;
	int ret = 0;

	mutex_lock(&segment->mover);
	while (!ret && (storage = mover_any(segment)))
		ret = mover_evict(storage);

	spin_lock(&segment->lock);
	segment->unpowered = !ret;
	spin_unlock(&segment->lock);
	mutex_unlock(&segment->mover);
	return ret;
}

/** vfence_mover_init - prepare an adapter for moves, before its first page; cannot fail */
void vfence_mover_init(struct vfence_adapter *adapter)
{
	INIT_WORK(&adapter->mem.segment.move_work, mover_work);
}
