/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_IRQ_TYPES_H_
#define _VFENCE_IRQ_TYPES_H_

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "irq/vfence_vector_types.h"

struct vfence_irq_source;

/** VFENCE_IRQ_SOURCES: most sources an adapter can have */
#define VFENCE_IRQ_SOURCES	8

/**
 * struct vfence_irq - an adapter's interrupt: what irq/ keeps for it
 */
struct vfence_irq {
	/** @vector: the interrupt vector */
	struct vfence_vector vector;
	/** @lock: serialises drains of the interrupt ring; irqsave */
	spinlock_t lock;
	/** @settle_lock: serialises threaded halves */
	struct mutex settle_lock;

	/** @source: sources in the order in which they were added, before the first interrupt */
	const struct vfence_irq_source *source[VFENCE_IRQ_SOURCES];
	/** @sources: number of entries of @source */
	unsigned int sources;

	/**
	 * @scan_due: nodes of which records may be missing, and VGPU_OVERFLOW_*; set
	 * by any half, taken by the threaded half
	 */
	atomic_t scan_due;
	/** @handler_max_ns: longest run of the hard half in ns; written by it alone */
	u64 handler_max_ns;
};

#endif
