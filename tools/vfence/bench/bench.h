/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BENCH_H
#define BENCH_H

#include "tool.h"

/* The cost of 1,000 GPU signals. */
struct interrupt_cost {
	unsigned int waiters;
	uint64_t interrupts;
	/* Interrupt records, whatever they name. */
	uint64_t records;
	/* Rescans of all fences, or of all logs of a node. */
	uint64_t scans;
	/* Log entries that the driver read. */
	uint64_t entries;
	uint64_t woken;
};

int bench_interrupts(struct vf_adapter *adapter, struct vf_queue *queue, struct vf_fence *fence,
		     unsigned int waiters, struct interrupt_cost *cost);

#endif
