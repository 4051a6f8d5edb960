// SPDX-License-Identifier: GPL-2.0-only
/* Reads adapters, and clients with what each of them has. */

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "reader.h"
#include "text.h"
#include "vfence.h"

/* ----------------------------------------------- labels, before the steps */

static bool add_label(struct reader *r, const struct place *at, struct json_object *json,
		      const struct script *client)
{
	struct scenario *s = r->scenario;
	const char *name;
	char full[128];

	if (!field_name(&r->error, at, json, &name))
		return false;
	snprintf(full, sizeof(full), "%s.%s", client->name, name);
	if (reader_find_label(s, NULL, full) != NO_INDEX)
		return field_fail(&r->error, at, "two steps of the client have this label");
	s->labels[s->label_count++] = reader_text(r, full);
	return true;
}

/* Count the steps of a client; those that are repeated have no labels. */
static bool add_labels(struct reader *r, const struct place *at, struct json_object *steps,
		       const struct script *client, unsigned int *total)
{
	size_t i, count;

	if (!field_array(&r->error, at, steps, &count))
		return false;
	for (i = 0; i < count; i++) {
		struct json_object *step = json_object_array_get_idx(steps, i), *value;
		const struct place here = { at, NULL, i };

		if (!json_object_is_type(step, json_type_object))
			return field_fail(&r->error, &here, "not an object");
		++*total;
		if (json_object_object_get_ex(step, "label", &value) &&
		    !add_label(r, &here, value, client))
			return false;
		value = json_object_object_get(step, "steps");
		if (json_object_is_type(value, json_type_array))
			*total += (unsigned int)json_object_array_length(value);
	}
	return true;
}

/* Return: the number of the labels in a file, or more. */
static size_t count_labels(struct json_object *clients)
{
	size_t n = 1;

	json_object_object_foreach(clients, name, client) {
		struct json_object *steps = json_object_object_get(client, "steps");

		(void)name;
		if (json_object_is_type(steps, json_type_array))
			n += json_object_array_length(steps);
	}
	return n;
}

/* ----------------------------------------------------------------- clients */

static bool read_adapter(struct reader *r, const struct place *at, struct json_object *json,
			 struct scripted_adapter *adapter)
{
	unsigned int n = 0;

	adapter->parameters = reader_array(r, (size_t)json_object_object_length(json),
					 sizeof(*adapter->parameters));
	json_object_object_foreach(json, name, value) {
		const struct place here = { at, name, 0 };

		if (!field_is_name(name))
			return field_fail(&r->error, &here, "not a name");
		if (!field_is_plain(value))
			return field_fail(&r->error, &here, "neither a number nor a text");
		adapter->parameters[n].name = reader_text(r, name);
		adapter->parameters[n].value = reader_text(r,
							   json_object_get_string(value));
		adapter->parameter_count = ++n;
	}
	return true;
}

bool reader_adapters(struct reader *r, const struct place *at, struct json_object *json)
{
	struct scenario *s = r->scenario;

	if (!json)
		return true;
	if (!field_object(&r->error, at, json))
		return false;
	s->adapters = reader_array(r, (size_t)json_object_object_length(json), sizeof(*s->adapters));
	json_object_object_foreach(json, name, value) {
		struct scripted_adapter *adapter = &s->adapters[s->adapter_count++];
		const struct place here = { at, name, 0 };

		if (!field_is_name(name))
			return field_fail(&r->error, &here, "not a name");
		adapter->name = reader_text(r, name);
		if (!field_object(&r->error, &here, value) ||
		    !read_adapter(r, &here, value, adapter))
			return false;
	}
	return true;
}

static bool read_fence(struct reader *r, const struct place *at, struct json_object *json,
		       struct scripted_fence *fence)
{
	const struct place type_at = { at, "type", 0 }, value_at = { at, "value", 0 };
	struct json_object *value;
	const char *type = "native";

	if (!field_object(&r->error, at, json) || !field_keys(&r->error, at, json, "", "type value"))
		return false;
	if (json_object_object_get_ex(json, "type", &value) &&
	    !field_text(&r->error, &type_at, value, &type))
		return false;
	fence->monitored = !strcmp(type, "monitored");
	if (!fence->monitored && strcmp(type, "native"))
		return field_fail(&r->error, &type_at, "neither \"native\" nor \"monitored\"");
	return !json_object_object_get_ex(json, "value", &value) ||
	       field_uint(&r->error, &value_at, value, 0, UINT64_MAX, &fence->value);
}

static bool read_fences(struct reader *r, const struct place *at, struct json_object *json)
{
	struct scenario *s = r->scenario;

	if (!json)
		return true;
	if (!field_object(&r->error, at, json))
		return false;
	json_object_object_foreach(json, name, value) {
		const struct place here = { at, name, 0 };
		struct scripted_fence *fence;

		if (!field_is_name(name))
			return field_fail(&r->error, &here, "not a name");
		if (reader_find_fence(s, name) != NO_INDEX)
			return field_fail(&r->error, &here, "two clients create this fence");
		fence = &s->fences[s->fence_count++];
		fence->name = reader_text(r, name);
		fence->owner = r->client_index;
		fence->users = UINT64_C(1) << r->client_index;
		if (!read_fence(r, &here, value, fence))
			return false;
	}
	return true;
}

static bool read_queue(struct reader *r, const struct place *at, struct json_object *json,
		       struct scripted_queue *queue)
{
	const struct place node_at = { at, "node", 0 }, kernel_at = { at, "kernel", 0 };
	struct json_object *value;
	const char *node = queue->name;

	if (!field_object(&r->error, at, json) || !field_keys(&r->error, at, json, "", "node kernel"))
		return false;
	if (json_object_object_get_ex(json, "node", &value) &&
	    !field_text(&r->error, &node_at, value, &node))
		return false;
	while (queue->node_class < DRM_VFENCE_NODE_PAGING &&
	       strcasecmp(text_node_class(queue->node_class), node))
		queue->node_class++;
	if (queue->node_class == DRM_VFENCE_NODE_PAGING)
		return field_fail(&r->error, &node_at, "none of gfx, compute, copy and mm");
	if (!json_object_object_get_ex(json, "kernel", &value))
		return true;
	queue->kernel = true;
	return field_true(&r->error, &kernel_at, value);
}

static bool read_queues(struct reader *r, const struct place *at, struct json_object *json)
{
	struct script *client = r->client;

	if (!json)
		return true;
	if (!field_object(&r->error, at, json))
		return false;
	client->queues = reader_array(r, (size_t)json_object_object_length(json),
				    sizeof(*client->queues));
	json_object_object_foreach(json, name, value) {
		struct scripted_queue *queue = &client->queues[client->queue_count++];
		const struct place here = { at, name, 0 };

		if (!field_is_name(name))
			return field_fail(&r->error, &here, "not a name");
		queue->name = reader_text(r, name);
		if (!read_queue(r, &here, value, queue))
			return false;
	}
	return true;
}

static bool read_place(struct reader *r, const struct place *at, struct json_object *json)
{
	const struct place adapter_at = { at, "adapter", 0 }, function_at = { at, "function", 0 };
	struct json_object *value;
	uint64_t function = 0;
	const char *name;

	r->client->adapter = NO_INDEX;
	if (json_object_object_get_ex(json, "adapter", &value)) {
		if (!field_text(&r->error, &adapter_at, value, &name))
			return false;
		r->client->adapter = reader_find_adapter(r->scenario, name);
		if (r->client->adapter == NO_INDEX)
			return field_fail(&r->error, &adapter_at, "\"adapters\" has no such name");
	}
	if (json_object_object_get_ex(json, "function", &value) &&
	    !field_uint(&r->error, &function_at, value, 0, 16, &function))
		return false;
	r->client->function = (unsigned int)function;
	return true;
}

/* All but the steps, which may name what other clients have. */
static bool read_client(struct reader *r, const struct place *at, struct json_object *json)
{
	const struct place fences = { at, "fences", 0 }, queues = { at, "queues", 0 },
			   steps = { at, "steps", 0 };
	unsigned int total = 0;

	if (!field_object(&r->error, at, json) ||
	    !field_keys(&r->error, at, json, "", "adapter function fences queues steps"))
		return false;
	if (!read_place(r, at, json) ||
	    !read_fences(r, &fences, json_object_object_get(json, "fences")) ||
	    !read_queues(r, &queues, json_object_object_get(json, "queues")) ||
	    !add_labels(r, &steps, json_object_object_get(json, "steps"), r->client, &total))
		return false;
	r->client->events = reader_array(r, total, sizeof(*r->client->events));
	return true;
}

static size_t count_fences(struct json_object *clients)
{
	size_t n = 0;

	json_object_object_foreach(clients, name, client) {
		struct json_object *fences = json_object_object_get(client, "fences");

		(void)name;
		if (json_object_is_type(fences, json_type_object))
			n += (size_t)json_object_object_length(fences);
	}
	return n;
}

static bool read_all_steps(struct reader *r, const struct place *at, struct json_object *json)
{
	json_object_object_foreach(json, name, client) {
		const struct place here = { at, name, 0 }, steps = { &here, "steps", 0 };

		r->client_index = reader_find_client(r->scenario, name);
		r->client = &r->scenario->clients[r->client_index];
		if (!reader_steps(r, &steps, json_object_object_get(client, "steps"),
				&r->client->steps, &r->client->step_count))
			return false;
	}
	return true;
}

bool reader_clients(struct reader *r, const struct place *at, struct json_object *json)
{
	struct scenario *s = r->scenario;
	int count;

	if (!field_object(&r->error, at, json))
		return false;
	count = json_object_object_length(json);
	if (count < 1 || count > SCENARIO_CLIENTS)
		return field_fail(&r->error, at, "not 1 to %d clients", SCENARIO_CLIENTS);
	s->clients = reader_array(r, (size_t)count, sizeof(*s->clients));
	s->fences = reader_array(r, count_fences(json), sizeof(*s->fences));
	s->labels = reader_array(r, count_labels(json), sizeof(*s->labels));
	json_object_object_foreach(json, name, client) {
		const struct place here = { at, name, 0 };

		if (!field_is_name(name))
			return field_fail(&r->error, &here, "not a name");
		r->client_index = s->client_count;
		r->client = &s->clients[s->client_count++];
		r->client->name = reader_text(r, name);
		if (!read_client(r, &here, client))
			return false;
	}
	return read_all_steps(r, at, json);
}
