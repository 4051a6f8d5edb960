/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_DEMO_H
#define VFENCE_DEMO_H

#include "tool.h"

#define DEMO_ACTS	3
#define DEMO_FRAMES	1000
/* Acts 2 and 3 have a CPU waiter every so many frames. */
#define DEMO_WAIT_EVERY	10
/* The first frames of an act touch pages and connect doorbells. */
#define DEMO_WARM_UP	10

enum demo_client_id { DEMO_A, DEMO_B, DEMO_CLIENTS };

struct demo_act {
	/* In the steady state: kernel entries of the submitting thread, and submissions. */
	uint64_t syscalls, faults, submissions;
	/* Ioctls of this client in the whole act, by its own count. */
	uint64_t ioctls;
	uint64_t log_entries, log_lost;
	uint64_t cpu_waits;
	bool counted;
};

struct demo_report {
	struct demo_act act[DEMO_ACTS];
	uint64_t bad_slots;
	int error;
};

/* Memory that parent and clients share. */
struct demo_shared {
	unsigned int adapter;
	unsigned int frames;
	struct demo_report report[DEMO_CLIENTS];
};

struct demo_result {
	unsigned int frames;
	struct demo_shared *shared;
	/* Adapter counters before each act, before its final wait, and after the act. */
	struct vf_counters before[DEMO_ACTS], final[DEMO_ACTS], after[DEMO_ACTS];
	uint64_t proc_before[DEMO_ACTS], proc_after[DEMO_ACTS];
	int64_t begin[DEMO_ACTS], end[DEMO_ACTS];
};

void demo_client(enum demo_client_id id, int sock, struct demo_shared *shared);

int demo_summary(const struct demo_result *result, FILE *to, bool json);

#endif
