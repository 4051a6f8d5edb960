// SPDX-License-Identifier: GPL-2.0-only
/*
 * A scenario that does what a trace shows, for vfence run: each thread that has called the driver
 * is a client, with the fences and queues that it has created. A queue's packets are what its
 * engine has executed: waits, signals, and work as draws of the same length.
 *
 * The trace does not say when a client has submitted. A submission is placed where its first
 * packet is seen, or before the wait in which the client sleeps then. So each step comes no later
 * than what it has caused, and clients do not wait for each other in a circle.
 */

#include <errno.h>
#include <stdlib.h>

#include "replay.h"
#include "replay_objects.h"

static void replay_one(struct replay *r, const struct event *e)
{
	static void (*const functions[EVENT_KINDS])(struct replay *r, const struct event *e) = {
		[EVENT_HANDLE] = replay_handle, [EVENT_QUEUE] = replay_queue_created,
		[EVENT_TURN] = replay_turn, [EVENT_WAIT] = replay_blocked, [EVENT_LOG] = replay_logged,
		[EVENT_SIGNAL] = replay_signal, [EVENT_DECIDE] = replay_decided,
		[EVENT_SUBMISSION] = replay_submission, [EVENT_RECOVERY] = replay_recovery,
		[EVENT_WAITER] = replay_points_armed,
		[EVENT_CPU_WAIT] = replay_cpu_wait, [EVENT_EVENT] = replay_event,
		[EVENT_CPU_SIGNAL] = replay_cpu_signal, [EVENT_SUSPENSION] = replay_suspension,
	};

	if (e->kind == EVENT_WRITE)
		r->writes_left_out++;
	if (functions[e->kind])
		functions[e->kind](r, e);
}

/* Members of one cross-adapter fence are one fence. */
static void replay_join_members(struct replay *r, const struct event *e)
{
	const struct event to = { .adapter = e->to_adapter, .function = e->to_function };
	struct replay_fence *from = replay_fence(r, event_key(e, e->fence));
	struct replay_fence *member = replay_fence(r, event_key(&to, e->to_fence));

	if (from && member && from != member)
		member->same = from->key;
}

/* A fence is created before its queue. */
static void replay_mark_progress(struct replay *r, const struct event *e)
{
	struct replay_fence *f = replay_get(r, &r->fences, event_key(e, (uint32_t)e->progress));

	if (f)
		f->queue = event_key(e, e->queue);
}

/* What is known later than it is needed. */
static void replay_look_ahead(struct replay *r)
{
	uint32_t i;

	for (i = 0; i < r->events->count && !r->no_memory; i++) {
		const struct event *e = &r->events->list[i];

		if (e->kind == EVENT_WAIT_LOGGED && e->fence)
			replay_link(r, &r->logged, replay_entry_key(e), event_key(e, e->fence));
		else if (e->kind == EVENT_CROSS)
			replay_join_members(r, e);
		else if (e->kind == EVENT_QUEUE && e->created)
			replay_mark_progress(r, e);
	}
}

static struct json_object *replay_text(const struct replay *r)
{
	struct json_object *text = json_object_new_array();
	char line[160];

	snprintf(line, sizeof(line), "Made from a trace of %u events.", r->events->count);
	json_object_array_add(text, json_object_new_string(line));
	if (r->waits_left_out) {
		snprintf(line, sizeof(line),
			 "%u waits are left out, as the trace does not show their fences.",
			 r->waits_left_out);
		json_object_array_add(text, json_object_new_string(line));
	}
	if (r->writes_left_out) {
		snprintf(line, sizeof(line),
			 "%u signals of monitored fences by engines are left out.",
			 r->writes_left_out);
		json_object_array_add(text, json_object_new_string(line));
	}
	if (r->events->missed)
		json_object_array_add(text, json_object_new_string(
			"The tracer has lost events, so that steps may be missing."));
	return text;
}

static int replay_save(struct replay *r, const char *path)
{
	struct json_object *file = json_object_new_object();
	const char *title = "a trace";
	unsigned int i;
	int ret;

	for (i = 0; i < r->events->mark_count; i++)
		if (r->events->marks[i].text[0] == 'W')
			title = r->events->marks[i].text + 2;
	json_object_object_add(file, "title", json_object_new_string(title));
	json_object_object_add(file, "text", replay_text(r));
	clients_finish(&r->clients, file);
	ret = json_object_to_file_ext(path, file, JSON_C_TO_STRING_PRETTY |
				      JSON_C_TO_STRING_NOSLASHESCAPE) ? -EIO : 0;
	json_object_put(file);
	return ret;
}

static void queue_free(void *entry)
{
	struct replay_queue *q = entry;

	free(q->open);
	free(q);
}

static void points_free(void *entry)
{
	struct replay_points *w = entry;

	json_object_put(w->points);
	json_object_put(w->after);
	free(w);
}

/* Return: 0 or a negative error. */
int replay_write(const struct events *events, const struct joins *joins, const char *path)
{
	struct replay r = {
		.events = events, .fences.size = sizeof(struct replay_fence),
		.queues.size = sizeof(struct replay_queue), .waits.size = sizeof(struct replay_points),
		.contexts.size = sizeof(struct replay_link), .running.size = sizeof(struct replay_link),
		.armed.size = sizeof(struct replay_link),
		.logged.size = sizeof(struct replay_link),
	};
	uint32_t i;
	int ret;

	(void)joins;
	replay_look_ahead(&r);
	for (i = 0; i < events->count && !r.no_memory; i++)
		replay_one(&r, &events->list[i]);
	ret = r.no_memory ? -ENOMEM : replay_save(&r, path);
	clients_free(&r.clients);
	table_free(&r.fences, NULL);
	table_free(&r.queues, queue_free);
	table_free(&r.waits, points_free);
	table_free(&r.contexts, NULL);
	table_free(&r.running, NULL);
	table_free(&r.armed, NULL);
	table_free(&r.logged, NULL);
	return ret;
}
