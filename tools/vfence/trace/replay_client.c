// SPDX-License-Identifier: GPL-2.0-only
/* The clients of a scenario that is made from a trace, and their steps in the order of time. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "replay_client.h"

/* Return: true for a thread of the kernel, whose events follow from those of others. */
bool clients_is_kernel(const struct events *events, int pid)
{
	static const char *const names[] = { "vfence", "kworker", "irq_", "ksoftirqd", "swapper" };
	const char *comm = events_comm(events, pid);
	size_t i, length;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		length = strlen(names[i]);
		/*
		 * The threads of an adapter have its number in their names; the command has none.
		 */
		if (!strncmp(comm, names[i], length) && comm[length] && comm[length] != '-')
			return true;
		if (i && !strncmp(comm, names[i], length))
			return true;
	}
	return !pid;
}

/* Return: the name of a node, which user-mode queues are created on. */
const char *clients_node(uint32_t node)
{
	static const char *const names[] = { "gfx", "compute", "copy", "mm" };

	return names[node < 4 ? node : 0];
}

/* Name a client after its thread. Two of one name are told apart by a number. */
static void client_name(struct clients *clients, struct replay_client *client, const char *comm)
{
	unsigned int i, same = 1;
	char base[20];
	size_t n = 0;

	for (; *comm && n < sizeof(base) - 1; comm++)
		base[n++] = isalnum((unsigned char)*comm) || *comm == '-' ? *comm : '_';
	base[n] = 0;
	if (!n)
		strcpy(base, "earlier");
	for (i = 0; i < clients->count; i++) {
		const char *name = clients->list[i]->name;
		size_t length = strlen(base);

		same += !strncmp(name, base, length) && (!name[length] || name[length] == '-');
	}
	if (same > 1)
		snprintf(client->name, sizeof(client->name), "%s-%u", base, same);
	else
		snprintf(client->name, sizeof(client->name), "%s", base);
}

/* Return: the client of a thread on the function of an event; NULL without memory. */
struct replay_client *clients_get(struct clients *clients, const struct events *events,
				  const struct event *e, int pid)
{
	struct replay_client *client, **more;
	unsigned int i;

	for (i = 0; i < clients->count; i++) {
		client = clients->list[i];
		if (client->pid == pid && client->adapter == e->adapter &&
		    client->function == e->function)
			return client;
	}
	more = realloc(clients->list, (clients->count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	clients->list = more;
	client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->pid = pid;
	client->adapter = e->adapter;
	client->function = e->function;
	client_name(clients, client, pid ? events_comm(events, pid) : "");
	client->fences = json_object_new_object();
	client->queues = json_object_new_object();
	clients->list[clients->count++] = client;
	return client;
}

static struct json_object *client_add(struct replay_client *client, uint64_t time,
				      unsigned int rank)
{
	unsigned int count = client->step_count;
	struct replay_step *more = client->steps;

	/* The room is a power of two. */
	if (!(count & (count - 1)))
		more = realloc(more, (count ? 2 * (size_t)count : 1) * sizeof(*more));
	if (!more)
		return NULL;
	client->steps = more;
	more += count;
	*more = (struct replay_step){ time, rank, client->step_count, json_object_new_object() };
	client->step_count++;
	return more->step;
}

/* Add a step. @value is the step's from now on, also without memory, where NULL is returned. */
struct json_object *client_step(struct replay_client *client, const char *key,
				struct json_object *value, uint64_t time)
{
	struct json_object *step = client_add(client, time, 1);

	if (step)
		json_object_object_add(step, key, value);
	else
		json_object_put(value);
	return step;
}

/*
 * Add a submission that was seen at a time, and its packets to those of the open ones. A client
 * that sleeps then has submitted before.
 */
struct json_object *client_submit(struct replay_client *client, const char *queue, uint64_t time,
				  struct json_object ***open, unsigned int *open_count)
{
	struct json_object **more = realloc(*open, (*open_count + 1) * sizeof(*more)), *step;

	if (!more)
		return NULL;
	*open = more;
	step = client_add(client, client->sleeps_since ? client->sleeps_since : time, 0);
	if (!step)
		return NULL;
	json_object_object_add(step, "submit", json_object_new_string(queue));
	more[*open_count] = json_object_new_array();
	json_object_object_add(step, "packets", more[*open_count]);
	++*open_count;
	return step;
}

static int by_place(const void *a, const void *b)
{
	const struct replay_step *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The name of an adapter of the file, as traces number them. */
static void adapter_name(char text[16], uint32_t adapter)
{
	snprintf(text, 16, "adapter%u", adapter);
}

/* One adapter without functions may be any that there is. Others are made for the scenario. */
static bool clients_need_adapters(const struct clients *clients)
{
	unsigned int i;

	for (i = 0; i < clients->count; i++)
		if (clients->list[i]->function ||
		    clients->list[i]->adapter != clients->list[0]->adapter)
			return true;
	return false;
}

static void clients_add_adapters(const struct clients *clients, struct json_object *file)
{
	struct json_object *adapters = json_object_new_object(), *adapter, *vfs;
	unsigned int i;
	char name[16];

	for (i = 0; i < clients->count; i++) {
		const struct replay_client *client = clients->list[i];

		adapter_name(name, client->adapter);
		if (!json_object_object_get_ex(adapters, name, &adapter)) {
			adapter = json_object_new_object();
			json_object_object_add(adapters, name, adapter);
		}
		vfs = json_object_object_get(adapter, "vfs");
		if (client->function > (uint32_t)json_object_get_int(vfs))
			json_object_object_add(adapter, "vfs",
					       json_object_new_int((int)client->function));
	}
	json_object_object_add(file, "adapters", adapters);
}

static struct json_object *client_finish(struct replay_client *client, bool names_adapter)
{
	struct json_object *object = json_object_new_object(), *steps = json_object_new_array();
	char name[16];
	unsigned int i;

	if (names_adapter) {
		adapter_name(name, client->adapter);
		json_object_object_add(object, "adapter", json_object_new_string(name));
		if (client->function)
			json_object_object_add(object, "function",
					       json_object_new_int((int)client->function));
	}
	json_object_object_add(object, "fences", client->fences);
	json_object_object_add(object, "queues", client->queues);
	if (client->step_count)
		qsort(client->steps, client->step_count, sizeof(*client->steps), by_place);
	for (i = 0; i < client->step_count; i++)
		json_object_array_add(steps, client->steps[i].step);
	json_object_object_add(object, "steps", steps);
	client->fences = NULL;
	client->queues = NULL;
	client->step_count = 0;
	return object;
}

static bool client_does_something(const struct replay_client *client)
{
	return client->step_count || json_object_object_length(client->fences) ||
	       json_object_object_length(client->queues);
}

/* Move all clients into a file. */
void clients_finish(struct clients *clients, struct json_object *file)
{
	struct json_object *all = json_object_new_object();
	bool adapters = clients_need_adapters(clients);
	unsigned int i;

	if (adapters)
		clients_add_adapters(clients, file);
	for (i = 0; i < clients->count; i++)
		if (client_does_something(clients->list[i]))
			json_object_object_add(all, clients->list[i]->name,
					       client_finish(clients->list[i], adapters));
	json_object_object_add(file, "clients", all);
}

void clients_free(struct clients *clients)
{
	unsigned int i, k;

	for (i = 0; i < clients->count; i++) {
		struct replay_client *client = clients->list[i];

		json_object_put(client->fences);
		json_object_put(client->queues);
		json_object_put(client->waits);
		for (k = 0; k < client->step_count; k++)
			json_object_put(client->steps[k].step);
		free(client->steps);
		free(client);
	}
	free(clients->list);
}
