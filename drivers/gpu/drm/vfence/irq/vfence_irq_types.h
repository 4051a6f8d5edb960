/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_IRQ_TYPES_H_
#define _VFENCE_IRQ_TYPES_H_

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "irq/vfence_vector_types.h"

struct vfence_irq_source;

/** VFENCE_IRQ_SOURCES: maximum number of sources of an adapter */
#define VFENCE_IRQ_SOURCES	16

/**
 * struct vfence_irq - an adapter's interrupt; the part of the adapter that irq/ owns
 */
struct vfence_irq {
	/** @vector: the interrupt vector */
	struct vfence_vector vector;

	/** @lock: serialises drains of the interrupt ring; irqsave */
	spinlock_t lock;
	/**
	 * @finishing: number of drains that may have taken records and not completed their
	 * waiters yet; incremented under @lock
	 */
	atomic_t finishing;
	/** @drain_lock: held over a run of the threaded half, by its thread until @stopped */
	struct mutex drain_lock;

	/** @source: sources in the order of vfence_irq_add(); constant once interrupts can come */
	const struct vfence_irq_source *source[VFENCE_IRQ_SOURCES];
	/** @sources: number of entries of @source */
	unsigned int sources;

	/** @masked: mask of the nodes whose progress records are ignored; @lock */
	u32 masked;
	/** @silent: mask of the nodes that are expected to post no progress records; @lock */
	u32 silent;

	/**
	 * @scan_due: mask of nodes whose records may be missing, and VGPU_OVERFLOW_*; either
	 * half sets bits, the threaded half takes them
	 */
	atomic_t scan_due;

	/** @runs: number of runs of the threaded half; written under @drain_lock */
	u32 runs;
	/** @begun: the same, with the run that has begun and not ended; @lock */
	u32 begun;
	/** @ran: threads sleep here until a run has ended, see vfence_irq_drain() */
	wait_queue_head_t ran;
	/** @catch_up_due: the next run handles what no record has named yet */
	atomic_t catch_up_due;

	/** @thread_normal: the threaded half has left SCHED_FIFO; used by its thread alone */
	bool thread_normal;

	/**
	 * @stopped: the vector is about to be freed, and its thread with it; written under
	 * @drain_lock and @lock
	 */
	bool stopped;

	/** @handler_max_ns: longest run of the hard half in ns; written by the hard half alone */
	u64 handler_max_ns;
};

#endif
