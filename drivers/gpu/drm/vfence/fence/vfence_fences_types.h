/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCES_TYPES_H_
#define _VFENCE_FENCES_TYPES_H_

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

struct workqueue_struct;

/**
 * struct vfence_fences - the state of fence/ for one adapter
 */
struct vfence_fences {
	/** @table: &struct vfence_fence by global handle; readers hold RCU or irq.lock. */
	struct xarray table;
	/** @next: Allocation hint of @table, so that a handle is reused as late as possible. */
	u32 next;

	/** @scan_lock: Protects @scan; irqsave, taken inside vfence_fence.lock. */
	spinlock_t scan_lock;
	/** @scan: Native fences for which vfence_fence_needs_scan() holds. */
	struct list_head scan;

	/** @deferred: Fences whose waiters the threaded half of the interrupt completes. */
	struct llist_head deferred;
	/** @written_due: 1 if the threaded half must look at monitored fences that were written. */
	atomic_t written_due;

	/**
	 * @writing: Number of submissions on a ring whose packets may store values, and whose waits
	 * the driver completes when they have ended.
	 */
	atomic_t writing;
	/** @taken: Number of waiters that were taken off their fences and are not finished. */
	atomic_t taken;
	/** @signaling: Number of CPU signals that have stored some values of several. */
	atomic_t signaling;

	/** @import_wq: Workqueue of &vfence_file.import_chore; its works may wait for fences. */
	struct workqueue_struct *import_wq;
	/** @foreign_wq: Workqueue of &vfence_foreigns.work, on which dma_fences depend. */
	struct workqueue_struct *foreign_wq;
};

#endif
