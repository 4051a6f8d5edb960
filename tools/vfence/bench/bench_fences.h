/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BENCH_FENCES_H
#define BENCH_FENCES_H

#include "tool.h"

/* The columns of the table: the kind of the fences and how they are signaled. */
enum fence_kind {
	/* Native fences on user-mode queues. */
	FENCES_NATIVE,
	/* Monitored fences on kernel-mode queues; an engine signals and interrupts. */
	FENCES_INTERRUPT,
	/* Monitored fences on kernel-mode queues; an engine signals and does not interrupt. */
	FENCES_BASIC,
	/* Monitored fences on kernel-mode queues; engines cannot signal, the CPU does. */
	FENCES_SOFTWARE,
	FENCE_KINDS,
};

/* The CPU's part in a piece of work. */
struct fence_cost {
	uint64_t interrupts;
	/* Rescans of all fences, native or monitored. */
	uint64_t scans;
	/* Ioctls and doorbell faults of the client. */
	uint64_t entries;
	/* Switches to threads other than those of the virtual GPU. */
	uint64_t switches;
	/* Nanoseconds of all threads but the virtual GPU's, and of the interrupt handler. */
	uint64_t cpu_ns;
	/* Nanoseconds from a signal to the work that it releases. */
	uint64_t latency_ns;
};

/* Percentages of the signals that a CPU thread waits for; numbers of waiters of a fan. */
#define FENCE_SHARES	4
#define FENCE_FANS	4
extern const unsigned int fence_shares[FENCE_SHARES];
extern const unsigned int fence_fans[FENCE_FANS];

struct fence_results {
	/* True if there is an adapter for the kind. */
	bool have[FENCE_KINDS];
	struct fence_cost chain[FENCE_KINDS][FENCE_SHARES];
	struct fence_cost fan[FENCE_KINDS][FENCE_FANS];
};

extern const char *const fence_kind_names[FENCE_KINDS];

int bench_fences_svg(const struct fence_results *r, const char *path);

#endif
