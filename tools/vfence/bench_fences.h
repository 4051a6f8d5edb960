/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BENCH_FENCES_H
#define BENCH_FENCES_H

#include "tool.h"

/* How fences are signaled: what the columns compare. */
enum fence_kind {
	/* Native, on user-mode queues. */
	FENCES_NATIVE,
	/* Monitored, on kernel-mode queues: by packets with an interrupt for each... */
	FENCES_INTERRUPT,
	/* ... or without any, ... */
	FENCES_BASIC,
	/* ... or by software, as engines cannot. */
	FENCES_SOFTWARE,
	FENCE_KINDS,
};

/* What the CPU has to do with a piece of work. */
struct fence_cost {
	uint64_t interrupts;
	/* Looks at all who wait for monitored fences. */
	uint64_t scans;
	/* Calls and faults of the client. */
	uint64_t entries;
	/* Threads switched to, but those of the virtual GPU. */
	uint64_t switches;
	/* Nanoseconds of these threads and of the interrupt handler. */
	uint64_t cpu_ns;
	/* From one signal to what it releases. */
	uint64_t latency_ns;
};

/* Shares of signals that a CPU thread waits for, in percent, and numbers of waiters. */
#define FENCE_SHARES	4
#define FENCE_FANS	4
extern const unsigned int fence_shares[FENCE_SHARES];
extern const unsigned int fence_fans[FENCE_FANS];

struct fence_results {
	/* False without such an adapter. */
	bool have[FENCE_KINDS];
	struct fence_cost chain[FENCE_KINDS][FENCE_SHARES];
	struct fence_cost fan[FENCE_KINDS][FENCE_FANS];
};

extern const char *const fence_kind_names[FENCE_KINDS];

int bench_fences_svg(const struct fence_results *r, const char *path);

#endif
