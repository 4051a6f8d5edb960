/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VECTOR_TYPES_H_
#define _VFENCE_VECTOR_TYPES_H_

#include <linux/irq_work.h>
#include <linux/smp.h>

struct irq_domain;

/**
 * struct vfence_vector - one interrupt vector of an adapter, in the manner of
 * MSI-X: a pending latch that also holds while the vector is masked
 */
struct vfence_vector {
	/** @domain: our interrupt controller */
	struct irq_domain *domain;
	/** @fwnode: its name */
	struct fwnode_handle *fwnode;
	/** @irq: Linux interrupt number */
	unsigned int irq;
	/** @cpu: where it is delivered: the affinity */
	unsigned int cpu;
	/** @state: VECTOR_PENDING, VECTOR_MASKED */
	unsigned long state;
	/** @work: delivery on this CPU */
	struct irq_work work;
	/** @csd: delivery on another CPU */
	call_single_data_t csd;
	/** @raised: raises */
	atomic64_t raised;
	/** @coalesced: raises that found the latch set */
	atomic64_t coalesced;
};

#endif
