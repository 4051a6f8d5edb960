/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_DEMO_HANG_H
#define VFENCE_DEMO_HANG_H

#include "tool.h"

#define HANG_FRAMES	100
#define HANG_STEPS	9

/* The culprit and what it does with a new device, a client beside it, and one on COPY. */
enum hang_player_id { HANG_CULPRIT, HANG_BESIDE, HANG_COPY, HANG_AGAIN, HANG_PLAYERS };

/* CLOCK_MONOTONIC times; 0: not executed. */
struct hang_frame {
	int64_t begin, end;
};

struct hang_result {
	/* What was submitted, and what the engines have written into it. */
	unsigned int frames[HANG_PLAYERS];
	struct hang_frame frame[HANG_PLAYERS][HANG_FRAMES];
	/* When the packet began that does not end. */
	int64_t hang;
	/* When the culprit's client saw that its device is lost, and what it saw. */
	int64_t seen;
	uint32_t state;
	/* Number of steps that were traced, the step of each, and its time. */
	unsigned int steps;
	unsigned int step[HANG_STEPS];
	int64_t at[HANG_STEPS];
};

/* Names of the steps, from 1. */
extern const char *const hang_step_names[HANG_STEPS + 1];

int demo_hang_svg(const struct hang_result *result, const char *path);

#endif
