/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FENCES_TYPES_H_
#define _VFENCE_FENCES_TYPES_H_

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/xarray.h>

struct workqueue_struct;

/**
 * struct vfence_fences - an adapter's fences: what fence/ keeps for it
 */
struct vfence_fences {
	/** @table: global handle to &struct vfence_fence; read under RCU or irq.lock */
	struct xarray table;
	/** @next: allocation hint, so that a handle is reused as late as possible */
	u32 next;

	/** @signal_lock: serialises CPU signals */
	struct mutex signal_lock;
	/** @deferred: fences whose completion goes on in the threaded half */
	struct llist_head deferred;
	/** @monitored_scan_due: the threaded half must rescan all monitored fences */
	atomic_t monitored_scan_due;
	/** @import_wq: performs the signals of imported dma_fences, in their order */
	struct workqueue_struct *import_wq;
};

#endif
