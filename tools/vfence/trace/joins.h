/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_JOINS_H
#define VFENCE_JOINS_H

#include "events.h"
#include "table.h"

#define NO_EVENT	UINT32_MAX

/*
 * A wait, the signal that has ended it, and what goes on because of that: indices of events.
 * @begin is NO_EVENT if the wait is older than the trace, and so is @cause if the signal is.
 * @effect is NO_EVENT if the trace ends before.
 */
struct join {
	uint32_t cause, begin, end, effect;
};

struct joins {
	struct join *list;
	unsigned int count;
};

int joins_make(const struct events *events, struct joins *joins);
void joins_free(struct joins *joins);

/* The number of an object of a function, unique in the trace. */
static inline uint64_t event_key(const struct event *event, uint32_t object)
{
	return (uint64_t)event->adapter << 40 | (uint64_t)event->function << 32 | object;
}

#define POINT_KEY	(UINT64_C(1) << 63)

/*
 * A point has no number, so its key is made of the address of its wait, its fence and its value.
 * The highest bit tells it from the key of a queue.
 */
static inline uint64_t point_key(const struct event *point)
{
	return table_mix(table_mix(point->wait, event_key(point, point->fence)), point->value) |
	       POINT_KEY;
}

#endif
