/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SAMPLE_H
#define VFENCE_SAMPLE_H

#include "tool.h"

#define SAMPLE_NODES	8
#define SAMPLE_TEXT	24
/* A physical function and 16 virtual ones. */
#define SAMPLE_FUNCTIONS	17

/* What one moment of an adapter is. Times are in ns. */

struct sample_engine {
	char name[SAMPLE_TEXT];
	uint64_t busy_ns;
};

/* A line of the file "state" in debugfs: a queue, or a fence that is awaited. */
struct sample_queue {
	uint32_t queue, node, context, fence;
	uint64_t client, packets, busy_ns, value;
	char kind[SAMPLE_TEXT], state[SAMPLE_TEXT];
	bool suspended;
};

struct sample_fence {
	uint32_t fence;
	uint64_t current, monitored, waiters, value;
	char kind[SAMPLE_TEXT];
};

/* An open file of a process, from its fdinfo. */
struct sample_client {
	uint64_t id, engine_ns[SAMPLE_NODES], memory, hung, reset;
	int pid;
	char comm[SAMPLE_TEXT];
};

/* A virtual function: the time it has had of the graphics group. */
struct sample_function {
	uint64_t run_ns, turns;
};

struct sample {
	uint64_t time;
	unsigned int adapter;
	struct sample_engine engines[SAMPLE_NODES];
	unsigned int engine_count;
	/* Each in the order of the numbers. */
	struct sample_queue *queues;
	struct sample_fence *fences;
	struct sample_client *clients;
	struct sample_function functions[SAMPLE_FUNCTIONS];
	unsigned int queue_count, fence_count, client_count, function_count;
	struct vf_counters counters;
	/* False for users other than root, and without debugfs. */
	bool counted, has_state;
};

int sample_take(struct vf_adapter *adapter, unsigned int index, struct sample *sample);
void sample_free(struct sample *sample);
const struct sample_fence *sample_find_fence(const struct sample *sample, uint32_t fence);
const struct sample_client *sample_find_client(const struct sample *sample, uint64_t id);
const struct sample_queue *sample_find_queue(const struct sample *sample, uint32_t queue);

#endif
