/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SCENARIO_STAGE_H
#define VFENCE_SCENARIO_STAGE_H

#include "scenario.h"

/* What the processes of a scenario share: memory, in which each client tells what it has done. */

struct label_report {
	/* 1 once the step has ended; a futex. */
	uint32_t ended;
	/* CLOCK_MONOTONIC, in ns. */
	uint64_t at;
};

struct client_report {
	/* The first thing that was not as expected, or empty. */
	struct verdict verdict;
	uint64_t failed_at;
	/* It could not begin: a negative errno. */
	int error;
	/* Steps that it has done, each round for itself, and the ns that they took. */
	uint64_t steps, ns;
	/* At the end: enum drm_vfence_device_state. */
	int device_state;
};

struct fence_report {
	bool known;
	uint64_t number[FENCE_NUMBERS];
};

struct stage {
	const struct scenario *scenario;
	/* Numbers of the adapters of the scenario, and of that of the command line. */
	unsigned int *adapters, adapter;
	struct label_report *labels;
	struct client_report *clients;
	struct fence_report *fences;
	void *memory;
	size_t size;
};

/* A byte that the parent sends to each client, or the other way round. */
enum { STAGE_READY = 'r', STAGE_GO = 'g', STAGE_DONE = 'd', STAGE_REPORT = 'q', STAGE_REPORTED = 'p',
       STAGE_LEAVE = 'x' };

int stage_make(struct stage *stage, const struct scenario *scenario, unsigned int adapter);
void stage_free(struct stage *stage);
unsigned int stage_adapter(const struct stage *stage, const struct script *client);
void stage_end_label(struct stage *stage, uint32_t label);
int stage_await_label(struct stage *stage, uint32_t label, int64_t deadline);
bool stage_tell(int sock, char what);
bool stage_hear(int sock, char what);
uint64_t stage_now(void);

/* True if a fence has to be shared with this client, which did not create it. */
static inline bool stage_shares(const struct scripted_fence *fence, uint32_t client)
{
	return fence->owner != client && fence->users >> client & 1;
}

/* True if other clients have the fence, too. */
static inline bool stage_is_shared(const struct scripted_fence *fence)
{
	return fence->users & (fence->users - 1);
}

void client_main(struct stage *stage, uint32_t index, int sock) __attribute__((noreturn));

#endif
