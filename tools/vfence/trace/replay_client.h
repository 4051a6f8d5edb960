/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_REPLAY_CLIENT_H
#define VFENCE_REPLAY_CLIENT_H

#include <json-c/json.h>

#include "events.h"
#include "table.h"

/* A step, and where it belongs among those of its client. */
struct replay_step {
	uint64_t time;
	/* Of two with the same time a submission is first, and then the one that was seen first. */
	unsigned int rank, order;
	struct json_object *step;
};

/* A thread with what it has on one function. */
struct replay_client {
	int pid;
	uint32_t adapter, function;
	char name[32];
	struct json_object *fences, *queues;
	/* Points that the next submission of a kernel-mode queue waits for, or NULL. */
	struct json_object *waits;
	/* Since when it sleeps in a wait, or 0. */
	uint64_t sleeps_since;
	struct replay_step *steps;
	unsigned int step_count;
};

struct clients {
	struct replay_client **list;
	unsigned int count;
};

struct replay_client *clients_get(struct clients *clients, const struct events *events,
				  const struct event *e, int pid);
bool clients_is_kernel(const struct events *events, int pid);
const char *clients_node(uint32_t node);
void clients_finish(struct clients *clients, struct json_object *file);
void clients_free(struct clients *clients);

struct json_object *client_step(struct replay_client *client, const char *key,
				struct json_object *value, uint64_t time);
struct json_object *client_submit(struct replay_client *client, const char *queue, uint64_t time,
				  struct json_object ***open, unsigned int *open_count);

#endif
