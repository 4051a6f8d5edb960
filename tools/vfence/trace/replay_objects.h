/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_REPLAY_OBJECTS_H
#define VFENCE_REPLAY_OBJECTS_H

#include "joins.h"
#include "replay_client.h"

/* What the parts of the way from a trace to a scenario share. */

/* A fence; members of one cross-adapter fence are one. */
struct replay_fence {
	uint64_t key;
	/* The key of the member that stands for all, or 0 if it is this one. */
	uint64_t same;
	char name[24];
	bool monitored;
	/* It is in the file. */
	bool placed;
	/* Of a progress fence: the key of its queue. */
	uint64_t queue;
	/* The last signal of the CPU, and its client. */
	struct json_object *signal;
	const struct replay_client *signaler;
};

struct replay_queue {
	uint64_t key;
	char name[24];
	struct replay_client *client;
	bool kernel;
	uint64_t progress;
	/* The packets of the submissions that have not ended; user-mode queues have one at most. */
	struct json_object **open;
	unsigned int open_count;
	/* The fence for which it is blocked. */
	uint64_t waits_for;
	/* Since when it works on its engine, or 0, and the work before that in this packet. */
	uint64_t since, worked;
	/* The turns that this work has had. */
	unsigned int turns;
};

/* Points of a wait, by its address. */
struct replay_points {
	uint64_t key;
	struct json_object *points;
	/* Labels of steps of other clients that come before, or NULL. */
	struct json_object *after;
	/* The step that sleeps. */
	struct json_object *step;
};

/* A number by another one. */
struct replay_link {
	uint64_t key, to;
};

struct replay {
	const struct events *events;
	struct clients clients;
	struct table fences, queues, waits, contexts, running;
	/* The client that has armed an event, by its wait. */
	struct table armed;
	/* The fence of an entry of a log of waits. */
	struct table logged;
	unsigned int fence_count, queue_count, label_count;
	/* What the trace shows and the scenario does not have. */
	unsigned int waits_left_out, writes_left_out;
	bool no_memory;
};

/* The number of an entry of a log: the value and the time tell it from others of the queue. */
static inline uint64_t replay_entry_key(const struct event *e)
{
	return table_mix(table_mix(event_key(e, e->queue), e->value), e->gpu);
}

void *replay_get(struct replay *r, struct table *table, uint64_t key);
void replay_link(struct replay *r, struct table *table, uint64_t key, uint64_t to);
uint64_t replay_linked(const struct table *table, uint64_t key);
struct replay_fence *replay_fence(struct replay *r, uint64_t key);
struct json_object *replay_point(struct replay *r, uint64_t key, uint64_t value,
				 struct replay_client *client);
struct replay_client *replay_client(struct replay *r, const struct event *e, int pid);
struct replay_queue *replay_queue(struct replay *r, const struct event *e);

/* What each kind of event means: of objects, of queues, and of threads. */
void replay_handle(struct replay *r, const struct event *e);
void replay_queue_created(struct replay *r, const struct event *e);
void replay_turn(struct replay *r, const struct event *e);
void replay_blocked(struct replay *r, const struct event *e);
void replay_logged(struct replay *r, const struct event *e);
void replay_decided(struct replay *r, const struct event *e);
void replay_signal(struct replay *r, const struct event *e);
void replay_submission(struct replay *r, const struct event *e);
void replay_recovery(struct replay *r, const struct event *e);
void replay_points_armed(struct replay *r, const struct event *e);
void replay_cpu_wait(struct replay *r, const struct event *e);
void replay_event(struct replay *r, const struct event *e);
void replay_cpu_signal(struct replay *r, const struct event *e);
void replay_suspension(struct replay *r, const struct event *e);

#endif
