// SPDX-License-Identifier: GPL-2.0-only
/* Entries by number, in a tree of the C library, and lists of places. */

#include <search.h>
#include <stdlib.h>

#include "table.h"

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Return: the entry of a key, which is made if there is none, or NULL without memory. */
void *table_get(struct table *table, uint64_t key)
{
	void **node = tfind(&key, &table->root, by_key);
	uint64_t *entry;

	if (node)
		return *node;
	entry = calloc(1, table->size);
	if (!entry)
		return NULL;
	*entry = key;
	if (tsearch(entry, &table->root, by_key))
		return entry;
	free(entry);
	return NULL;
}

/* Return: the entry of a key, or NULL. */
void *table_find(const struct table *table, uint64_t key)
{
	void **node = tfind(&key, &table->root, by_key);

	return node ? *node : NULL;
}

void table_remove(struct table *table, void *entry)
{
	tdelete(entry, &table->root, by_key);
	free(entry);
}

struct visit {
	void (*fn)(void *entry, void *context);
	void *context;
};

static void visit_node(const void *node, VISIT which, void *closure)
{
	struct visit *visit = closure;

	/* Each node once, in the order of the keys. */
	if (which == postorder || which == leaf)
		visit->fn(*(void *const *)node, visit->context);
}

void table_each(const struct table *table, void (*fn)(void *entry, void *context), void *context)
{
	struct visit visit = { fn, context };

	twalk_r(table->root, visit_node, &visit);
}

void table_free(struct table *table, void (*release)(void *entry))
{
	tdestroy(table->root, release ? release : free);
	table->root = NULL;
}

/* Add a place at the end. Return: false without memory. */
bool places_add(struct places *places, uint32_t at)
{
	if (places->count == places->room) {
		unsigned int room = places->room ? 2 * places->room : 16;
		void *more = realloc(places->at, room * sizeof(*places->at));

		if (!more)
			return false;
		places->at = more;
		places->room = room;
	}
	places->at[places->count++] = at;
	return true;
}
