// SPDX-License-Identifier: GPL-2.0-only
/* The fences and queues of a trace, and their names in the scenario. */

#include "replay_objects.h"

void *replay_get(struct replay *r, struct table *table, uint64_t key)
{
	void *entry = table_get(table, key);

	if (!entry)
		r->no_memory = true;
	return entry;
}

void replay_link(struct replay *r, struct table *table, uint64_t key, uint64_t to)
{
	struct replay_link *link = replay_get(r, table, key);

	if (link)
		link->to = to;
}

uint64_t replay_linked(const struct table *table, uint64_t key)
{
	const struct replay_link *link = table_find(table, key);

	return link ? link->to : 0;
}

/* Return: the fence, or the member that stands for it; NULL without memory. */
struct replay_fence *replay_fence(struct replay *r, uint64_t key)
{
	struct replay_fence *f = replay_get(r, &r->fences, key);

	while (f && f->same)
		f = replay_get(r, &r->fences, f->same);
	return f;
}

/*
 * The creator of a fence has it in the file; of one that is older than the trace, its first user.
 */
static void replay_place_fence(struct replay *r, struct replay_fence *f,
			       struct replay_client *client)
{
	struct json_object *fence = json_object_new_object();

	snprintf(f->name, sizeof(f->name), "fence%u", ++r->fence_count);
	if (f->monitored)
		json_object_object_add(fence, "type", json_object_new_string("monitored"));
	json_object_object_add(client->fences, f->name, fence);
	f->placed = true;
}

/* The name of a fence in the steps of a client; NULL if the client cannot name it. */
static const char *replay_name(struct replay *r, uint64_t key, struct replay_client *client,
			       char text[32])
{
	struct replay_fence *f = replay_fence(r, key);
	const struct replay_queue *q;

	if (!f)
		return NULL;
	if (f->queue) {
		q = table_find(&r->queues, f->queue);
		if (!q || q->client != client)
			return NULL;
		snprintf(text, 32, "@%s", q->name);
		return text;
	}
	if (!f->placed)
		replay_place_fence(r, f, client);
	return f->name;
}

/* One fence and a value. Return: NULL if the client cannot name the fence. */
struct json_object *replay_point(struct replay *r, uint64_t key, uint64_t value,
					struct replay_client *client)
{
	struct json_object *point;
	char text[32];
	const char *name = replay_name(r, key, client, text);

	if (!name)
		return NULL;
	point = json_object_new_object();
	json_object_object_add(point, name, json_object_new_uint64(value));
	return point;
}

struct replay_client *replay_client(struct replay *r, const struct event *e, int pid)
{
	struct replay_client *client = clients_get(&r->clients, r->events, e, pid);

	if (!client)
		r->no_memory = true;
	return client;
}

void replay_handle(struct replay *r, const struct event *e)
{
	struct replay_client *client;
	struct replay_fence *f;

	if (!e->created || clients_is_kernel(r->events, e->pid))
		return;
	f = replay_fence(r, event_key(e, e->fence));
	/* Other members of a cross-adapter fence are created later. */
	if (!f || f->queue || f->placed)
		return;
	f->monitored = !e->native;
	client = replay_client(r, e, e->pid);
	if (client)
		replay_place_fence(r, f, client);
}

struct replay_queue *replay_queue(struct replay *r, const struct event *e)
{
	struct replay_queue *q = replay_get(r, &r->queues, event_key(e, e->queue));
	struct json_object *queue;

	if (!q || q->client)
		return q;
	/* It is older than the trace, if this is not its creation. */
	q->client = replay_client(r, e, e->kind == EVENT_QUEUE ? e->pid : 0);
	if (!q->client)
		return NULL;
	snprintf(q->name, sizeof(q->name), "queue%u", ++r->queue_count);
	q->kernel = e->kernel;
	queue = json_object_new_object();
	json_object_object_add(queue, "node", json_object_new_string(clients_node(e->node)));
	if (q->kernel)
		json_object_object_add(queue, "kernel", json_object_new_boolean(1));
	json_object_object_add(q->client->queues, q->name, queue);
	return q;
}

void replay_queue_created(struct replay *r, const struct event *e)
{
	struct replay_queue *q = e->created ? replay_queue(r, e) : NULL;

	if (!q)
		return;
	q->progress = event_key(e, (uint32_t)e->progress);
	replay_link(r, &r->contexts, event_key(e, e->context), q->key);
}
