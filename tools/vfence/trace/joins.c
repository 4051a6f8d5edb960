// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which signal has ended which wait, and what went on then. Queues and points of threads, events
 * and submissions wait; engines, the CPU and other adapters signal.
 */

#include <errno.h>
#include <stdlib.h>

#include "joins.h"

/* The signals of a fence so far. */
struct signals {
	uint64_t key;
	struct places places;
};

/* A wait that has begun: of a queue, by its number, or a point, by its wait and its fence. */
struct begun {
	uint64_t key;
	uint32_t begin;
};

/* The last join whose effect is not known yet, of a queue or of a wait. */
struct open_join {
	uint64_t key;
	uint32_t join;
};

struct joiner {
	const struct events *events;
	struct joins *joins;
	unsigned int room;
	struct table signals, begun, queues, waits;
	bool no_memory;
};

static void joiner_add_signal(struct joiner *j, uint64_t fence, uint32_t at)
{
	struct signals *s = table_get(&j->signals, fence);

	if (!s || !places_add(&s->places, at))
		j->no_memory = true;
}

/*
 * Return: the last signal of the fence that has reached @value, and has the value @by if there is
 * one; or NO_EVENT.
 */
static uint32_t joiner_cause(const struct joiner *j, uint64_t fence, uint64_t value, uint64_t by)
{
	const struct signals *s = table_find(&j->signals, fence);
	uint32_t reached = NO_EVENT;
	unsigned int i;

	for (i = s ? s->places.count : 0; i--;) {
		uint64_t signaled = j->events->list[s->places.at[i]].value;

		if (signaled == by && signaled >= value)
			return s->places.at[i];
		if (signaled >= value && reached == NO_EVENT)
			reached = s->places.at[i];
		/* Do not look at a long history for a value that came before the trace. */
		if (s->places.count - i == 64)
			break;
	}
	return reached;
}

static uint32_t joiner_add(struct joiner *j, const struct join *join)
{
	struct joins *joins = j->joins;

	if (joins->count == j->room) {
		unsigned int room = j->room ? 2 * j->room : 256;
		void *more = realloc(joins->list, room * sizeof(*joins->list));

		if (!more) {
			j->no_memory = true;
			return NO_EVENT;
		}
		joins->list = more;
		j->room = room;
	}
	joins->list[joins->count] = *join;
	return joins->count++;
}

/* Remember where a wait began. */
static void joiner_begin(struct joiner *j, uint64_t key, uint32_t at)
{
	struct begun *begun = table_get(&j->begun, key);

	if (begun)
		begun->begin = at;
	else
		j->no_memory = true;
}

/* Return: where the wait began, or NO_EVENT. It is over. */
static uint32_t joiner_end(struct joiner *j, uint64_t key)
{
	struct begun *begun = table_find(&j->begun, key);
	uint32_t begin = begun ? begun->begin : NO_EVENT;

	if (begun)
		table_remove(&j->begun, begun);
	return begin;
}

/* The next event of the queue or wait shows the effect of a join. */
static void joiner_open(struct joiner *j, struct table *table, uint64_t key, uint32_t join)
{
	struct open_join *open = table_get(table, key);

	if (open)
		open->join = join;
	else
		j->no_memory = true;
}

static void joiner_effect(struct joiner *j, struct table *table, uint64_t key, uint32_t at)
{
	struct open_join *open = table_find(table, key);

	if (!open)
		return;
	if (open->join != NO_EVENT)
		j->joins->list[open->join].effect = at;
	table_remove(table, open);
}

static uint64_t queue_key(const struct event *e)
{
	return event_key(e, e->queue);
}

static void join_queue(struct joiner *j, const struct event *e, uint32_t at)
{
	struct join join = { .end = at, .effect = NO_EVENT };

	if (e->type == 'B') {
		joiner_begin(j, queue_key(e), at);
		return;
	}
	join.begin = joiner_end(j, queue_key(e));
	if (!e->by)
		return;
	join.cause = joiner_cause(j, event_key(e, e->fence), e->value, e->by);
	joiner_open(j, &j->queues, queue_key(e), joiner_add(j, &join));
}

static void join_point(struct joiner *j, const struct event *e, uint32_t at)
{
	struct join join = { .end = at, .effect = NO_EVENT };

	if (e->step == POINT_ARMED) {
		joiner_begin(j, point_key(e), at);
		return;
	}
	join.begin = joiner_end(j, point_key(e));
	if (e->step != POINT_REACHED)
		return;
	join.cause = joiner_cause(j, event_key(e, e->fence), e->value, e->by);
	joiner_open(j, &j->waits, e->wait, joiner_add(j, &join));
}

static void join_event(struct joiner *j, const struct event *e, uint32_t at)
{
	switch (e->kind) {
	case EVENT_SIGNAL:
	case EVENT_CPU_SIGNAL:
		joiner_add_signal(j, event_key(e, e->fence), at);
		break;
	case EVENT_CROSS: {
		const struct event to = { .adapter = e->to_adapter, .function = e->to_function };

		joiner_add_signal(j, event_key(&to, e->to_fence), at);
		break;
	}
	case EVENT_WAIT:
		join_queue(j, e, at);
		break;
	case EVENT_WAITER:
		join_point(j, e, at);
		break;
	case EVENT_TURN:
		if (e->type == 'B')
			joiner_effect(j, &j->queues, queue_key(e), at);
		break;
	case EVENT_CPU_WAIT:
		if (e->type == 'E')
			joiner_effect(j, &j->waits, e->wait, at);
		break;
	case EVENT_EVENT:
		/* The eventfd is signaled. */
		if (e->step == 2)
			joiner_effect(j, &j->waits, e->wait, at);
		break;
	default:
		break;
	}
}

static void signals_free(void *entry)
{
	free(((struct signals *)entry)->places.at);
	free(entry);
}

/* Return: 0 or -ENOMEM. */
int joins_make(const struct events *events, struct joins *joins)
{
	struct joiner j = {
		.events = events, .joins = joins,
		.signals.size = sizeof(struct signals), .begun.size = sizeof(struct begun),
		.queues.size = sizeof(struct open_join), .waits.size = sizeof(struct open_join),
	};
	uint32_t i;

	*joins = (struct joins){ 0 };
	for (i = 0; i < events->count && !j.no_memory; i++)
		join_event(&j, &events->list[i], i);
	table_free(&j.signals, signals_free);
	table_free(&j.begun, NULL);
	table_free(&j.queues, NULL);
	table_free(&j.waits, NULL);
	if (!j.no_memory)
		return 0;
	joins_free(joins);
	return -ENOMEM;
}

void joins_free(struct joins *joins)
{
	free(joins->list);
	*joins = (struct joins){ 0 };
}
