/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_IRQ_H_
#define _VFENCE_IRQ_H_

#include <linux/interrupt.h>
#include <linux/list.h>

#include "hw/vgpu.h"

struct vfence_adapter;

/**
 * struct vfence_irq_batch - what the hard halves of one drain may still do
 */
struct vfence_irq_batch {
	/** @budget: waiters that may still be completed; the rest is for the threaded half */
	unsigned int budget;
	/** @done: what @finish gets, once the lock is dropped */
	struct list_head done;
	/** @finish: set by the hard half that adds to @done; any context, no lock held */
	void (*finish)(struct list_head *done);
};

/**
 * struct vfence_irq_source - what one type of interrupt record means to a room
 *
 * The rooms above add their sources at probe. Any function may be NULL. To make the
 * virtual GPU's next kind of interrupt known, add a source.
 */
struct vfence_irq_source {
	/** @type: type of the records that @hard gets */
	enum vgpu_irq_type type;
	/** @hard: takes one record; vfence_irq.lock held, any context, bounded */
	void (*hard)(struct vfence_adapter *adapter, const struct vgpu_irq_record *record,
		     struct vfence_irq_batch *batch);
	/**
	 * @overflow: records of this type may be missing; any context, no lock held.
	 * For what must not wait for the threaded half: a thread that holds a lock
	 * which that half takes may be asleep until it is woken from here
	 */
	void (*overflow)(struct vfence_adapter *adapter, u32 overflow);
	/** @thread: the threaded half; vfence_irq.settle_lock held */
	void (*thread)(struct vfence_adapter *adapter);
	/**
	 * @scan: records of some nodes may be missing: look for what they would have
	 * named; vfence_irq.settle_lock held
	 */
	void (*scan)(struct vfence_adapter *adapter, u32 nodes);
	/** @catch_up: take in what no record has named yet; process context */
	void (*catch_up)(struct vfence_adapter *adapter);
};

void vfence_irq_init(struct vfence_adapter *adapter);
void vfence_irq_add(struct vfence_adapter *adapter, const struct vfence_irq_source *source);
int vfence_irq_start(struct vfence_adapter *adapter);
void vfence_irq_stop(struct vfence_adapter *adapter);
void vfence_irq_fini(struct vfence_adapter *adapter);
void vfence_irq_scan_later(struct vfence_adapter *adapter, u32 nodes);
void vfence_irq_flush(struct vfence_adapter *adapter);
void vfence_irq_settle(struct vfence_adapter *adapter);
void vfence_irq_catch_up(struct vfence_adapter *adapter);

#endif
