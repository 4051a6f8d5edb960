// SPDX-License-Identifier: GPL-2.0-only
/* Of a trace to a scenario: what threads do are the other steps of clients. */

#include <errno.h>
#include <string.h>

#include "replay_objects.h"

/* Of a step of a scenario. */
#define DEFAULT_TIMEOUT_MS	10000
#define MOST_TIMEOUT_MS		600000

/*
 * A step of a client names a fence. If another client has signaled the fence from the CPU before,
 * keep this order: nothing else would. Orders are those of the trace, so they are no circles.
 */
static void replay_order(struct replay *r, uint64_t key, const struct replay_client *client,
			 struct json_object **after)
{
	const struct replay_fence *f = replay_fence(r, key);
	struct json_object *label;
	char text[64];

	if (!f || !f->signal || f->signaler == client)
		return;
	if (!json_object_object_get_ex(f->signal, "label", &label)) {
		snprintf(text, sizeof(text), "signal%u", ++r->label_count);
		label = json_object_new_string(text);
		json_object_object_add(f->signal, "label", label);
	}
	snprintf(text, sizeof(text), "%s.%s", f->signaler->name, json_object_get_string(label));
	if (!*after)
		*after = json_object_new_array();
	json_object_array_add(*after, json_object_new_string(text));
}

static void replay_add_order(struct json_object *step, struct json_object **after)
{
	if (*after)
		json_object_object_add(step, "after", *after);
	*after = NULL;
}

void replay_points_armed(struct replay *r, const struct event *e)
{
	struct replay_client *client;
	struct replay_points *w;
	struct json_object **points, *point;

	if (e->step != POINT_ARMED || clients_is_kernel(r->events, e->pid))
		return;
	client = replay_client(r, e, e->pid);
	w = e->gpu_wait ? NULL : replay_get(r, &r->waits, e->wait);
	if (!client || (!w && !e->gpu_wait))
		return;
	points = e->gpu_wait ? &client->waits : &w->points;
	if (w)
		replay_order(r, event_key(e, e->fence), client, &w->after);
	point = replay_point(r, event_key(e, e->fence), e->value, client);
	if (!point)
		return;
	if (!*points)
		*points = json_object_new_object();
	json_object_object_foreach(point, name, value)
		json_object_object_add(*points, name, json_object_get(value));
	json_object_put(point);
}

/* Take the points of a wait. Return: NULL if it has none. */
static struct json_object *replay_take_points(struct replay_points *w)
{
	struct json_object *points = w ? w->points : NULL;

	if (w)
		w->points = NULL;
	return points;
}

static void replay_sleep(struct replay *r, const struct event *e, struct replay_client *client)
{
	struct replay_points *w = table_find(&r->waits, e->wait);
	struct json_object *points = replay_take_points(w);

	if (w)
		w->step = NULL;
	if (!points)
		return;
	w->step = client_step(client, "wait", points, e->time);
	if (!w->step) {
		r->no_memory = true;
		return;
	}
	if (e->any)
		json_object_object_add(w->step, "any", json_object_new_boolean(1));
	replay_add_order(w->step, &w->after);
	client->sleeps_since = e->time;
}

static void replay_wake(struct replay *r, const struct event *e, struct replay_client *client)
{
	struct replay_points *w = table_find(&r->waits, e->wait);
	uint64_t ms = (e->time - client->sleeps_since) / 1000000;

	/* A wait that was long may be as long again. */
	if (!e->result)
		ms *= 2;
	ms = ms < MOST_TIMEOUT_MS ? ms : MOST_TIMEOUT_MS;
	if (w && w->step && (e->result == -ETIME || ms > DEFAULT_TIMEOUT_MS))
		json_object_object_add(w->step, "timeout_ms", json_object_new_uint64(ms));
	if (w && w->step && e->result == -ETIME) {
		json_object_object_add(w->step, "expect", json_object_new_string("ETIME"));
	}
	if (w)
		w->step = NULL;
	client->sleeps_since = 0;
}

void replay_cpu_wait(struct replay *r, const struct event *e)
{
	struct replay_client *client = replay_client(r, e, e->pid);

	if (!client)
		return;
	if (e->type == 'B')
		replay_sleep(r, e, client);
	else
		replay_wake(r, e, client);
}

void replay_event(struct replay *r, const struct event *e)
{
	struct replay_points *w = table_find(&r->waits, e->wait);
	struct json_object *points = NULL, *step;
	struct replay_client *client;
	char name[24];

	snprintf(name, sizeof(name), "event%u", e->handle);
	/* Who arms an event is in its thread; who signals its eventfd may be in any. */
	if (e->step == 0)
		points = replay_take_points(w);
	if (points) {
		client = replay_client(r, e, e->pid);
		step = client ? client_step(client, "arm", json_object_new_string(name), e->time) :
				NULL;
		if (!step) {
			json_object_put(points);
			r->no_memory = true;
			return;
		}
		json_object_object_add(step, "for", points);
		replay_add_order(step, &w->after);
		replay_link(r, &r->armed, e->wait, (uint64_t)(uintptr_t)client);
	} else if (e->step == 2) {
		/* Without step 0 the values were reached before, and are not known. */
		client = (void *)(uintptr_t)replay_linked(&r->armed, e->wait);
		if (!client)
			return;
		if (!client_step(client, "collect", json_object_new_string(name), e->time))
			r->no_memory = true;
		replay_link(r, &r->armed, e->wait, 0);
	}
}

void replay_cpu_signal(struct replay *r, const struct event *e)
{
	struct json_object *point, *step, *after = NULL;
	struct replay_client *client;
	struct replay_fence *f;

	if (clients_is_kernel(r->events, e->pid))
		return;
	client = replay_client(r, e, e->pid);
	point = client ? replay_point(r, event_key(e, e->fence), e->value, client) : NULL;
	if (!point)
		return;
	step = client_step(client, "signal", point, e->time);
	f = replay_fence(r, event_key(e, e->fence));
	if (!step || !f) {
		r->no_memory = true;
		return;
	}
	replay_order(r, event_key(e, e->fence), client, &after);
	replay_add_order(step, &after);
	f->signal = step;
	f->signaler = client;
}

void replay_suspension(struct replay *r, const struct event *e)
{
	uint64_t key = replay_linked(&r->contexts, event_key(e, e->context));
	struct replay_queue *q = key ? table_find(&r->queues, key) : NULL;

	if (!q || e->type == 'I' || clients_is_kernel(r->events, e->pid))
		return;
	if (!client_step(q->client, e->type == 'B' ? "suspend" : "resume",
			 json_object_new_string(q->name), e->time))
		r->no_memory = true;
}
