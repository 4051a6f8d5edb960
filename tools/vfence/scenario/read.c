// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a scenario from JSON. All that is wrong is refused, with the place in the file: an unknown
 * key, a name that does not exist, a number out of its range.
 */

#include <errno.h>
#include <obstack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define obstack_chunk_alloc	reader_chunk
#define obstack_chunk_free	free

/* Without memory for a file of some kilobytes the command cannot go on. */
static void *reader_chunk(size_t size)
{
	void *chunk = malloc(size);

	if (!chunk)
		abort();
	return chunk;
}

/* Return: zeroed memory that lives as long as the scenario. */
void *reader_array(struct reader *r, size_t count, size_t size)
{
	void *array = obstack_alloc(&r->scenario->memory, (count ? count : 1) * size);

	memset(array, 0, (count ? count : 1) * size);
	return array;
}

/* Return: a copy that lives as long as the scenario; NULL for NULL. */
char *reader_text(struct reader *r, const char *text)
{
	return text ? obstack_copy(&r->scenario->memory, text, strlen(text) + 1) : NULL;
}

uint32_t reader_find_fence(const struct scenario *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->fence_count && strcmp(s->fences[i].name, name); i++)
		;
	return i < s->fence_count ? i : NO_INDEX;
}

uint32_t reader_find_client(const struct scenario *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->client_count && strcmp(s->clients[i].name, name); i++)
		;
	return i < s->client_count ? i : NO_INDEX;
}

uint32_t reader_find_adapter(const struct scenario *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->adapter_count && strcmp(s->adapters[i].name, name); i++)
		;
	return i < s->adapter_count ? i : NO_INDEX;
}

uint32_t reader_find_queue(const struct script *client, const char *name)
{
	uint32_t i;

	for (i = 0; i < client->queue_count && strcmp(client->queues[i].name, name); i++)
		;
	return i < client->queue_count ? i : NO_INDEX;
}

/* @name: CLIENT.LABEL, or LABEL alone for one of @client, which may be NULL. */
uint32_t reader_find_label(const struct scenario *s, const struct script *client, const char *name)
{
	char full[128];
	uint32_t i;

	if (client && !strchr(name, '.'))
		snprintf(full, sizeof(full), "%s.%s", client->name, name);
	else
		snprintf(full, sizeof(full), "%s", name);
	for (i = 0; i < s->label_count && strcmp(s->labels[i], full); i++)
		;
	return i < s->label_count ? i : NO_INDEX;
}

uint32_t reader_find_event(const struct script *client, const char *name)
{
	uint32_t i;

	for (i = 0; i < client->event_count && strcmp(client->events[i], name); i++)
		;
	return i < client->event_count ? i : NO_INDEX;
}

static bool read_file(struct reader *r, struct json_object *file)
{
	const struct place adapters = { NULL, "adapters", 0 }, clients = { NULL, "clients", 0 },
			   expect = { NULL, "expect", 0 }, title_at = { NULL, "title", 0 };
	struct json_object *value;
	const char *title = "a scenario";

	if (!field_object(&r->error, NULL, file) ||
	    !field_keys(&r->error, NULL, file, "", "title text adapters clients expect"))
		return false;
	if (json_object_object_get_ex(file, "title", &value) &&
	    !field_text(&r->error, &title_at, value, &title))
		return false;
	r->scenario->title = reader_text(r, title);
	return reader_adapters(r, &adapters, json_object_object_get(file, "adapters")) &&
	       reader_clients(r, &clients, json_object_object_get(file, "clients")) &&
	       reader_claims(r, &expect, json_object_object_get(file, "expect"));
}

/*
 * Read a scenario. Return: 0; or -EINVAL, and @error says what is wrong and where. Call
 * scenario_free() also after an error.
 */
int scenario_read(struct json_object *file, struct scenario *scenario, char error[SCENARIO_ERROR])
{
	struct reader r = { .scenario = scenario, .error = { .text = error } };

	memset(scenario, 0, sizeof(*scenario));
	obstack_init(&scenario->memory);
	*error = 0;
	return read_file(&r, file) ? 0 : -EINVAL;
}

void scenario_free(struct scenario *scenario)
{
	obstack_free(&scenario->memory, NULL);
}
