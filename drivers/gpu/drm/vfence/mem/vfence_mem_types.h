/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_MEM_TYPES_H_
#define _VFENCE_MEM_TYPES_H_

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/drm_mm.h>

#include "core/vfence_deadline.h"
#include "hw/vgpu.h"

struct vfence_slots;
struct vfence_storage;

/**
 * struct vfence_segment - video memory for fence values
 *
 * A packet of the paging queue moves or clears a page, and whoever waits for it holds @mover. No
 * client's thread does, as it may have to wait for a processor, too: it leaves a request to
 * @move_work, and waits for that alone.
 */
struct vfence_segment {
	/** @mover: one thread moves pages; held over the packets, outside @lock */
	struct mutex mover;
	/** @move_work: places the pages of @requests; each requester waits for its own page */
	struct work_struct move_work;
	/** @move_wq: workqueue of @move_work */
	struct workqueue_struct *move_wq;

	/** @lock: protects what follows and the place of every &struct vfence_storage */
	spinlock_t lock;
	/** @requests: pages that are to be placed, in their order */
	struct list_head requests;

	/** @space: pages in use, in units of a page */
	struct drm_mm space;
	/**
	 * @resident: &struct vfence_storage in video memory, oldest first: those that the CPU
	 * reaches, and those that it does not reach
	 */
	struct list_head resident[2];
	/** @pages: number of entries of @resident */
	u64 pages;
	/** @evictions: number of pages moved to system memory since probe */
	u64 evictions;

	/** @unpowered: the adapter is in D3, and no page may be placed in video memory */
	bool unpowered;

	/**
	 * @moved: callback of fence/ after @storage of @slots has moved; called with @lock
	 * held, and set before the first storage exists
	 */
	void (*moved)(struct vfence_slots *slots, struct vfence_storage *storage);
};

/**
 * struct vfence_paging - the kernel's queue that moves pages of values
 *
 * It runs on an engine of its own, so that no client's work delays it.
 */
struct vfence_paging {
	/** @queue: the hardware queue */
	struct vgpu_queue *queue;
	/** @ring: ring of @queue, one page */
	void *ring;
	/** @control: read and write pointers of @queue, one page */
	struct drm_vfence_ring_control *control;

	/**
	 * @failed: the GPU was reset, and @queue is dead; cleared under &vfence_segment.mover, set
	 * and read without it
	 */
	bool failed;
	/** @deadline: until @submitted is completed; see core/vfence_deadline.c */
	struct vfence_deadline deadline;
	/** @submitted: last submitted fence id; under &vfence_segment.mover */
	u64 submitted;
	/** @done: the submitting thread sleeps here until the interrupt wakes it */
	wait_queue_head_t done;
};

/**
 * struct vfence_mem - an adapter's memory; the part of the adapter that mem/ owns
 */
struct vfence_mem {
	/** @segment: video memory */
	struct vfence_segment segment;
	/** @paging: paging queue, which moves pages out of @segment */
	struct vfence_paging paging;

	/** @system_lock: protects @system_space */
	struct mutex system_lock;
	/** @system_space: addresses in use of the GPU's system process */
	struct drm_mm system_space;

	/** @dummy_fence: page of U64_MAX that fence mappings read after unplug */
	struct page *dummy_fence;
	/** @faults: page faults that map values; unplug waits for them */
	struct srcu_struct faults;
};

#endif
