/* SPDX-License-Identifier: GPL-2.0-only */
/* A model of functions that share a GPU, with the policies of the module. */
#ifndef SIMULATE_H
#define SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#define SIMULATE_FRAMES	65536

/* What the client of one function does. Times are in ns. */
struct workload {
	/* GPU time of a frame, and of one of its draws, after which it can be preempted */
	uint64_t gpu_ns, draw_ns;
	/* CPU time between the submissions of two frames */
	uint64_t cpu_ns;
	/* most frames that are submitted and not done */
	unsigned int depth;
	/* with a lock: time between two frames; 0: as fast as it can */
	uint64_t lock_ns;
	/* the first frame is submitted at this time */
	uint64_t start_ns;
	/* the client does nothing */
	bool idle;
};

struct simulation {
	/* the policy, response and cost of a switch */
	unsigned int kind;
	uint64_t response_ns, switch_ns, slice_ns;
	unsigned int functions;
	struct workload workload[16];
	/* end of the simulation; frames before @warmup_ns do not count */
	uint64_t warmup_ns, end_ns;
};

/* What came of it. */
struct outcome {
	/* frames per second, time of the first frame, and 99th percentile of frame times in ms */
	double fps[16], first_ms[16], p99_ms[16], worst_ms[16];
	double total_fps, jain;
	/* the worst of p99_ms */
	double p99;
	/* parts of the time in which engines worked, switched, and did nothing though there was work */
	double busy, switching, idle_with_work;
	uint64_t switches, preemptions;
};

void simulate_run(const struct simulation *sim, struct outcome *out);
/* Fill in what follows from the times at which frames were done. */
void simulate_frames(struct outcome *out, unsigned int function, const uint64_t *done,
		     unsigned int count, uint64_t start_ns, uint64_t cpu_ns, uint64_t warmup_ns,
		     uint64_t end_ns);
void simulate_sum(struct outcome *out, unsigned int functions);
/* The reference workload R4: four functions, each a CPU-bound game with two frames in flight. */
void simulate_r4(struct simulation *sim, unsigned int kind, uint64_t slice_ns);

#endif
