// SPDX-License-Identifier: GPL-2.0-only
/*
 * The monitored value is the least value that is awaited, minus one, and engines interrupt the CPU
 * for a signal above it and for no other. Only fences are checked whose creation the trace has,
 * and that are not shared with another adapter, where each signal interrupts.
 */

#include <stdlib.h>

#include "check.h"

/* How many values are remembered that a fence had. */
#define VALUES	16

/* A value that points of the CPU and of submissions await. */
struct awaited {
	uint64_t key;
	unsigned int points;
};

struct monitored {
	uint64_t key;
	bool known;
	/* The values that are awaited; and those that were, as a heap, the least one first. */
	struct table awaited;
	uint64_t *heap;
	unsigned int heaped, room;
	/* The monitored values that the driver has announced: a ring, and their number. */
	uint64_t value[VALUES];
	uint64_t count;
	uint32_t at;
	/* The event that has changed what is awaited. */
	uint32_t changed;
	/* Handles of clients: the GPU forgets a fence when the last one is put. */
	unsigned int handles;
};

/* What an engine has signaled and not decided yet, and how many values were announced then. */
struct undecided {
	uint64_t key;
	uint32_t signal;
	uint64_t fence, count;
};

struct state {
	struct table fences, engines;
};

static void *monitored_begin(void)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s) {
		s->fences.size = sizeof(struct monitored);
		s->engines.size = sizeof(struct undecided);
	}
	return s;
}

/* Add a value to the heap. Return: false without memory. */
static bool heap_add(struct monitored *m, uint64_t value)
{
	unsigned int i, up;

	if (m->heaped == m->room) {
		unsigned int room = m->room ? 2 * m->room : 16;
		void *more = realloc(m->heap, room * sizeof(*m->heap));

		if (!more)
			return false;
		m->heap = more;
		m->room = room;
	}
	for (i = m->heaped++; i; i = up) {
		up = (i - 1) / 2;
		if (m->heap[up] <= value)
			break;
		m->heap[i] = m->heap[up];
	}
	m->heap[i] = value;
	return true;
}

static void heap_drop_first(struct monitored *m)
{
	uint64_t last = m->heap[--m->heaped];
	unsigned int i = 0, down;

	while ((down = 2 * i + 1) < m->heaped) {
		if (down + 1 < m->heaped && m->heap[down + 1] < m->heap[down])
			down++;
		if (last <= m->heap[down])
			break;
		m->heap[i] = m->heap[down];
		i = down;
	}
	m->heap[i] = last;
}

/* Return: the correct monitored value. Removes values from the heap that no point awaits. */
static uint64_t monitored_right(struct monitored *m)
{
	while (m->heaped && !table_find(&m->awaited, m->heap[0]))
		heap_drop_first(m);
	return m->heaped ? m->heap[0] - 1 : UINT64_MAX;
}

/* Return: the monitored value that was announced last, or before it. */
static uint64_t monitored_last(const struct monitored *m)
{
	return m->value[(m->count - 1) % VALUES];
}

/*
 * The driver changes points and monitored value under one lock, so before the next change they
 * agree. Only where many points are reached, or end, at once does it leave the value too low, until
 * it has taken the next portion.
 */
static void monitored_check_agrees(struct check *check, struct monitored *m,
				   const struct event *e, uint32_t at)
{
	unsigned int step = m->changed == NO_EVENT ? POINT_ARMED :
			    check->events->list[m->changed].step;
	bool portion = step == POINT_REACHED || step == POINT_ENDED;
	uint64_t right = monitored_right(m), last = monitored_last(m);
	uint32_t proof[] = { m->at, m->changed, at };

	if (last > right || (last < right && !portion && m->handles))
		check_found(check, "monitored value not updated", proof, 3,
			    "fence %u has the monitored value %llu instead of %llu", e->fence,
			    (unsigned long long)last, (unsigned long long)right);
}

static void monitored_point(struct check *check, struct monitored *m, const struct event *e,
			    uint32_t at)
{
	struct awaited *a;

	monitored_check_agrees(check, m, e, at);
	m->changed = at;
	if (e->step == POINT_ARMED) {
		a = table_get(&m->awaited, e->value);
		if (!a || (!a->points && !heap_add(m, e->value)))
			check->no_memory = true;
		else
			a->points++;
		return;
	}
	a = table_find(&m->awaited, e->value);
	if (a && !--a->points)
		table_remove(&m->awaited, a);
}

static void monitored_stored(struct check *check, struct monitored *m, const struct event *e,
			     uint32_t at)
{
	uint64_t right = monitored_right(m);
	uint32_t proof[] = { m->changed, at };

	if (e->value != right)
		check_found(check, "wrong monitored value", proof, 2,
			    "fence %u gets the monitored value %llu instead of %llu: the least awaited value, minus one, or the maximum",
			    e->fence, (unsigned long long)e->value, (unsigned long long)right);
	m->value[m->count++ % VALUES] = e->value;
	m->at = at;
}

static uint64_t engine_key(const struct event *e)
{
	return event_key(e, e->node);
}

static void monitored_signal(struct check *check, struct state *s, const struct monitored *m,
			     const struct event *e, uint32_t at)
{
	struct undecided *u = table_get(&s->engines, engine_key(e));

	if (!u) {
		check->no_memory = true;
		return;
	}
	u->signal = at;
	u->fence = m->key;
	u->count = m->count;
}

/*
 * Could the engine have loaded this monitored value? It does between its two events. A value is
 * announced before it is stored, so the one before the first may have been in place, too.
 */
static bool monitored_was_there(const struct monitored *m, const struct undecided *u,
				uint64_t value)
{
	uint64_t i;

	if (!u || u->fence != m->key || m->count - u->count > VALUES - 2)
		return true;
	for (i = u->count > 2 ? u->count - 2 : 0; i < m->count; i++)
		if (m->value[i % VALUES] == value)
			return true;
	return false;
}

static void monitored_decision(struct check *check, struct state *s, const struct monitored *m,
			       const struct event *e, uint32_t at)
{
	const struct undecided *u = table_find(&s->engines, engine_key(e));
	uint32_t proof[] = { m && m->known ? m->at : NO_EVENT, u ? u->signal : NO_EVENT, at };

	if (!e->interrupts != !(e->value > e->monitored))
		check_found(check, "interrupt", proof, 3,
			    "%s for the value %llu of fence %u, whose monitored value is %llu",
			    e->interrupts ? "one" : "none", (unsigned long long)e->value, e->fence,
			    (unsigned long long)e->monitored);
	if (m && m->known && !monitored_was_there(m, u, e->monitored))
		check_found(check, "stale monitored value", proof, 3,
			    "the engine compares with %llu, which is not the monitored value of fence %u",
			    (unsigned long long)e->monitored, e->fence);
}

static void monitored_open(struct check *check, struct state *s, const struct event *e)
{
	struct monitored *m = table_find(&s->fences, event_key(e, e->fence));

	/* The number was that of another fence before, on an adapter that was bound again. */
	if (m && e->opened && (e->cross || !e->native))
		m->known = false;
	if (m && !e->created)
		m->handles += e->opened ? 1 : -1U;
	if (!e->created || !e->native || e->cross)
		return;
	m = table_get(&s->fences, event_key(e, e->fence));
	if (!m) {
		check->no_memory = true;
		return;
	}
	table_free(&m->awaited, NULL);
	m->heaped = 0;
	m->known = true;
	m->handles = 1;
	m->awaited.size = sizeof(struct awaited);
	m->value[0] = UINT64_MAX;
	m->count = 1;
	m->at = m->changed = NO_EVENT;
}

static void monitored_event(struct check *check, void *state, const struct event *e, uint32_t at)
{
	struct state *s = state;
	struct monitored *m = table_find(&s->fences, event_key(e, e->fence));

	if (e->kind == EVENT_HANDLE)
		monitored_open(check, s, e);
	else if (e->kind == EVENT_DECIDE)
		monitored_decision(check, s, m, e, at);
	else if (m && m->known && e->kind == EVENT_WAITER)
		monitored_point(check, m, e, at);
	else if (m && m->known && e->kind == EVENT_MONITORED)
		monitored_stored(check, m, e, at);
	else if (m && m->known && e->kind == EVENT_SIGNAL)
		monitored_signal(check, s, m, e, at);
}

/* The trace ends long after the last change. */
static void monitored_settled(void *entry, void *context)
{
	struct monitored *m = entry;
	struct check *check = context;
	const struct event *last;

	if (!m->known || !m->handles || m->changed == NO_EVENT)
		return;
	last = &check->events->list[m->changed];
	if (last->time + CHECK_WAKE_NS < check->events->list[check->events->count - 1].time)
		monitored_check_agrees(check, m, last, check->events->count - 1);
}

static void monitored_free(void *entry)
{
	struct monitored *m = entry;

	table_free(&m->awaited, NULL);
	free(m->heap);
	free(m);
}

static void monitored_end(struct check *check, void *state, bool last)
{
	struct state *s = state;

	if (last)
		table_each(&s->fences, monitored_settled, check);
	table_free(&s->fences, monitored_free);
	table_free(&s->engines, NULL);
	free(s);
}

const struct checker check_monitored = { monitored_begin, monitored_event, monitored_end };
