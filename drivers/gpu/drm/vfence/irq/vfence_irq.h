/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_IRQ_H_
#define _VFENCE_IRQ_H_

#include <linux/interrupt.h>
#include <linux/list.h>

#include "hw/vgpu.h"

struct vfence_adapter;

/**
 * struct vfence_irq_batch - budget and result of the hard halves of one drain
 */
struct vfence_irq_batch {
	/**
	 * @budget: number of waiters that the hard halves may still complete; each hard half
	 * lowers it under &vfence_irq.lock, and the threaded half completes the rest
	 */
	unsigned int budget;

	/**
	 * @work: number of records and of fences that the drain may still take; a hard half
	 * lowers it by the number of fences. The record that uses it up is the last one
	 */
	int work;

	/** @done: completed waiters; @finish gets them after &vfence_irq.lock is dropped */
	struct list_head done;
	/**
	 * @finish: set by the hard half that adds to @done; it is called in any context with
	 * no lock held
	 */
	void (*finish)(struct list_head *done);
};

/**
 * struct vfence_irq_source - handlers of one type of interrupt record
 *
 * The folders above irq/ add their sources at probe. Any function may be NULL. To handle
 * a new kind of interrupt of the virtual GPU, add a source.
 */
struct vfence_irq_source {
	/** @type: type of the records that @hard gets */
	enum vgpu_irq_type type;

	/**
	 * @hard: hard half for one record; it is called in any context with &vfence_irq.lock
	 * held, and its work is bounded
	 */
	void (*hard)(struct vfence_adapter *adapter, const struct vgpu_irq_record *record,
		     struct vfence_irq_batch *batch);
	/**
	 * @overflow: records of this type may be missing; it is called in any context with
	 * no lock held. Use it for wake-ups that must not wait for the threaded half: a
	 * thread may sleep until this wake-up while it holds a lock that the threaded half
	 * takes
	 */
	void (*overflow)(struct vfence_adapter *adapter, u32 overflow);

	/**
	 * @due: has the hard half left work to @thread? Called in any context with no lock held. A
	 * source with @thread needs it
	 */
	bool (*due)(struct vfence_adapter *adapter);
	/** @thread: threaded half; called with &vfence_irq.drain_lock held */
	void (*thread)(struct vfence_adapter *adapter);
	/**
	 * @scan: records of @nodes may be missing; find the objects that these records would
	 * have named. Called with &vfence_irq.drain_lock held
	 */
	void (*scan)(struct vfence_adapter *adapter, u32 nodes);
	/**
	 * @catch_up: handle events that no record has named yet. Called with
	 * &vfence_irq.drain_lock held
	 */
	void (*catch_up)(struct vfence_adapter *adapter);
};

void vfence_irq_init(struct vfence_adapter *adapter);
void vfence_irq_add(struct vfence_adapter *adapter, const struct vfence_irq_source *source);
int vfence_irq_start(struct vfence_adapter *adapter);
void vfence_irq_stop(struct vfence_adapter *adapter);
void vfence_irq_fini(struct vfence_adapter *adapter);
void vfence_irq_scan_later(struct vfence_adapter *adapter, u32 nodes);
bool vfence_irq_backlog(struct vfence_adapter *adapter, u32 *runs);
bool vfence_irq_is_quiet(struct vfence_adapter *adapter);
void vfence_irq_mask_locked(struct vfence_adapter *adapter, unsigned int node);
void vfence_irq_expect_silence(struct vfence_adapter *adapter, u32 nodes);
void vfence_irq_unmask(struct vfence_adapter *adapter, u32 nodes);
void vfence_irq_flush(struct vfence_adapter *adapter);
void vfence_irq_run_again(struct vfence_adapter *adapter);
bool vfence_irq_leave(struct vfence_adapter *adapter, void (*note)(const void *arg),
		      const void *arg);
void vfence_irq_drain(struct vfence_adapter *adapter);
void vfence_irq_catch_up(struct vfence_adapter *adapter);

#endif
