/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SCENARIO_H
#define VFENCE_SCENARIO_H

#include <json-c/json.h>
#include <obstack.h>
#include <stdbool.h>
#include <stdint.h>

/* What a scenario file says, as in Documentation/gpu/vfence/scenarios.rst. */

/* A number that may depend on the round of a repetition: @factor * round + @plus. */
struct number {
	uint64_t factor, plus;
};

#define NO_INDEX	UINT32_MAX

/* A fence, or the progress fence of a queue of the same client, and a value. */
struct point {
	/* Index in struct scenario, or NO_INDEX for a progress fence. */
	uint32_t fence;
	/* Index in struct script. */
	uint32_t queue;
	struct number value;
};

struct points {
	struct point *list;
	unsigned int count;
};

enum packet_kind {
	PACKET_WAIT, PACKET_KEPT_WAIT, PACKET_SIGNAL, PACKET_DRAW, PACKET_FILL, PACKET_COPY,
	PACKET_MARKER, PACKET_HANG, PACKET_INVALID, PACKET_KINDS
};

struct packet {
	enum packet_kind kind;
	struct points points;
	/* DRAW: ns of one; FILL and COPY: bytes. */
	uint64_t size;
	/* DRAW: number of draws. */
	unsigned int count;
	struct number marker;
};

enum step_kind {
	STEP_SUBMIT, STEP_WAIT, STEP_SIGNAL, STEP_ARM, STEP_COLLECT, STEP_IDLE, STEP_SUSPEND,
	STEP_RESUME, STEP_ABORT, STEP_SLEEP, STEP_FAULT, STEP_EXIT, STEP_REPEAT, STEP_KINDS
};

/* Labels of steps, by their index; the steps may be of other clients. */
struct labels {
	uint32_t *list;
	unsigned int count;
};

struct step {
	enum step_kind kind;
	/* Its place among the steps of the client, from 1, with those that are repeated. */
	unsigned int number;
	/* Index of its own label, or NO_INDEX. */
	uint32_t label;
	/* It begins after these have ended. */
	struct labels after;
	/* The queue, or the event, by its index. */
	uint32_t object;
	/* SUBMIT: waits and signals of a kernel-mode queue; WAIT, SIGNAL and ARM: the points. */
	struct points waits, signals;
	struct packet *packets;
	unsigned int packet_count;
	/* WAIT and ARM: one point is enough. */
	bool any;
	/* The result: 0 or a negative errno. */
	int expect;
	int64_t timeout_ns;
	/* How long the step may and must take. */
	uint64_t least_ns, most_ns;
	/* SLEEP: ns; REPEAT: rounds. */
	uint64_t amount;
	/* FAULT: an injection, and its value. */
	char *fault, *text;
	/* REPEAT. */
	struct step *steps;
	unsigned int step_count;
};

struct scripted_queue {
	char *name;
	unsigned int node_class;
	bool kernel;
};

/* A client: one process. */
struct script {
	char *name;
	/* Index in struct scenario, or NO_INDEX for the adapter of the command line. */
	uint32_t adapter;
	/* 0: the physical function. */
	unsigned int function;
	struct scripted_queue *queues;
	unsigned int queue_count;
	char **events;
	unsigned int event_count;
	struct step *steps;
	unsigned int step_count;
	/* All steps, with those that are repeated. */
	unsigned int total;
	/* The largest FILL or COPY. */
	uint64_t buffer;
	/* EXIT is among the steps. */
	bool exits;
};

struct scripted_fence {
	char *name;
	/* The client that creates it. */
	uint32_t owner;
	bool monitored;
	uint64_t value;
	/* Mask of the clients that name it. */
	uint64_t users;
};

/* An adapter that is made for the scenario. */
struct scripted_adapter {
	char *name;
	/* Its parameters, as configfs takes them. */
	struct parameter {
		char *name, *value;
	} *parameters;
	unsigned int parameter_count;
};

/* Numbers of a fence that must be within bounds at the end. */
enum fence_number {
	FENCE_VALUE, FENCE_MONITORED, FENCE_INTERRUPTS, FENCE_SPURIOUS, FENCE_WOKEN, FENCE_SIGNALS,
	FENCE_NUMBERS
};

struct fence_claim {
	uint32_t fence;
	enum fence_number number;
	uint64_t least, most;
};

struct device_claim {
	uint32_t client;
	unsigned int state;
};

/* The first step ends before the second one. */
struct order_claim {
	uint32_t first, second;
};

struct scenario {
	/* All that the pointers below lead to. */
	struct obstack memory;
	char *title;
	struct scripted_adapter *adapters;
	unsigned int adapter_count;
	struct scripted_fence *fences;
	unsigned int fence_count;
	struct script *clients;
	unsigned int client_count;
	/* Names of the labelled steps: CLIENT.LABEL. */
	char **labels;
	unsigned int label_count;
	struct fence_claim *fence_claims;
	unsigned int fence_claim_count;
	struct device_claim *device_claims;
	unsigned int device_claim_count;
	struct order_claim *orders;
	unsigned int order_count;
};

#define SCENARIO_CLIENTS	64
#define SCENARIO_ERROR		240

/* The longest wait, repetition and buffer that a scenario may ask for. */
#define SCENARIO_TIMEOUT_MS	600000
#define SCENARIO_ROUNDS		100000
#define SCENARIO_BUFFER		(1u << 24)

int scenario_read(struct json_object *file, struct scenario *scenario, char error[SCENARIO_ERROR]);
void scenario_free(struct scenario *scenario);

const char *scenario_step_name(enum step_kind kind);
const char *scenario_fence_number(enum fence_number number);
uint64_t scenario_number(const struct number *number, uint64_t round);

/* What has happened: the first thing that was not as expected, or an empty text. */
struct verdict {
	char text[SCENARIO_ERROR];
	/* The same without numbers that differ from run to run. */
	char kind[SCENARIO_ERROR];
};

int scenario_run(const struct scenario *scenario, unsigned int adapter, bool quiet,
		 struct verdict *verdict);
/* The verdict of scenario_run_checked() if all that is wrong is what vfence run says. */
#define SCENARIO_NO_RULE	"not as expected"

int scenario_run_checked(const char *path, unsigned int adapter, bool quiet,
			 struct verdict *verdict);

#endif
