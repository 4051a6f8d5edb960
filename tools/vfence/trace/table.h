/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_HANDLE_TABLE_H
#define VFENCE_HANDLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of places in a trace, in the order in which they were added. */
struct places {
	uint32_t *at;
	unsigned int count, room;
};

bool places_add(struct places *places, uint32_t at);

/* Entries by number. Each begins with its key, and is zeroed when it is made. */
struct table {
	void *root;
	size_t size;
};

/*
 * One number for several, by a mixing function: two lists of numbers have the same one only by an
 * accident that does not happen.
 */
static inline uint64_t table_mix(uint64_t key, uint64_t word)
{
	/* Multiply before the second word comes in: small numbers must not cancel out. */
	key = (key * UINT64_C(0x9e3779b97f4a7c15) ^ word) * UINT64_C(0xff51afd7ed558ccd);
	key = (key ^ key >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return key ^ key >> 29;
}

void *table_get(struct table *table, uint64_t key);
void *table_find(const struct table *table, uint64_t key);
void table_remove(struct table *table, void *entry);
void table_each(const struct table *table, void (*fn)(void *entry, void *context), void *context);
void table_free(struct table *table, void (*release)(void *entry));

#endif
