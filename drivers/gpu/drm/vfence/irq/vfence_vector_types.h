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
	/** @domain: interrupt domain of the vector's controller */
	struct irq_domain *domain;
	/** @fwnode: firmware node that names @domain */
	struct fwnode_handle *fwnode;
	/** @irq: Linux interrupt number; 0 if there is none */
	unsigned int irq;

	/** @cpu: CPU of the affinity, on which the interrupt is delivered; WRITE_ONCE() */
	unsigned int cpu;
	/** @state: VECTOR_PENDING, VECTOR_MASKED, VECTOR_CALLED; atomic bits */
	unsigned long state;
	/** @work: delivery on the CPU that raises */
	struct irq_work work;
	/** @csd: delivery on another CPU */
	call_single_data_t csd;

	/** @raised: number of raises since probe */
	atomic64_t raised;
	/** @coalesced: number of raises that found the latch set */
	atomic64_t coalesced;
};

#endif
