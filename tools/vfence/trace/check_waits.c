// SPDX-License-Identifier: GPL-2.0-only
/*
 * No wake-up is lost, and none comes without a cause. Queues wait, and points of threads, events
 * and submissions. Who waits is due once a signal reaches what it waits for; the value may have
 * been rewound since.
 */

#include <stdlib.h>

#include "check.h"

/* A wait that is not over. */
struct waiting {
	uint64_t key;
	uint32_t begin;
	uint64_t fence;
};

/* A fence, and its signals so far. */
struct fence {
	uint64_t key;
	/* The trace has its creation, and so all its signals. */
	bool known;
	/* Adapters share it: a signal of one is late for the others, or not at all if rewound. */
	bool crosses;
	struct places signals;
	/* The highest value that was signaled. */
	uint64_t highest;
	/* The key of the last queue that has signaled it, and whether anyone else has. */
	uint64_t signaler;
	bool others;
};

struct waits {
	struct table fences, waiting;
};

static void *waits_begin(void)
{
	struct waits *w = calloc(1, sizeof(*w));

	if (w) {
		w->fences.size = sizeof(struct fence);
		w->waiting.size = sizeof(struct waiting);
	}
	return w;
}

static struct fence *waits_fence(struct check *check, struct waits *w, uint64_t key)
{
	struct fence *f = table_get(&w->fences, key);

	if (!f)
		check->no_memory = true;
	return f;
}

static void waits_signal(struct check *check, struct waits *w, uint64_t key, uint64_t value,
			 uint32_t at, uint64_t signaler)
{
	struct fence *f = waits_fence(check, w, key);

	if (!f || !places_add(&f->signals, at)) {
		check->no_memory = true;
		return;
	}
	f->highest = value > f->highest ? value : f->highest;
	f->others |= !signaler || (f->signaler && f->signaler != signaler);
	f->signaler = signaler;
}

static void waits_add(struct check *check, struct waits *w, uint64_t key, const struct event *e,
		      uint32_t at)
{
	struct waiting *wait = table_get(&w->waiting, key);

	if (!wait) {
		check->no_memory = true;
		return;
	}
	wait->begin = at;
	wait->fence = event_key(e, e->fence);
}

/* Return: the first signal that has reached what the wait waits for since it began, or NO_EVENT. */
static uint32_t waits_due(const struct check *check, const struct waits *w,
			  const struct waiting *wait)
{
	const struct fence *f = table_find(&w->fences, wait->fence);
	uint64_t value = check->events->list[wait->begin].value;
	uint32_t due = NO_EVENT;
	unsigned int i;

	if (!f || f->crosses)
		return NO_EVENT;
	for (i = f->signals.count; i-- && f->signals.at[i] > wait->begin;)
		if (check->events->list[f->signals.at[i]].value >= value)
			due = f->signals.at[i];
	return due;
}

/* A wait is not over, or has ended otherwise, long after it was due. */
static void waits_check_due(struct check *check, const struct waits *w,
			    const struct waiting *wait, uint32_t at)
{
	const struct event *e = &check->events->list[wait->begin];
	uint32_t proof[] = { wait->begin, waits_due(check, w, wait), at };
	uint64_t late;

	if (proof[1] == NO_EVENT)
		return;
	late = check->events->list[at].time - check->events->list[proof[1]].time;
	if (late < CHECK_WAKE_NS)
		return;
	check_found(check, "lost wake-up", proof, 3,
		    "%s %u waits for fence %u to reach %llu, and goes on waiting %llu us after a signal has reached it",
		    e->kind == EVENT_WAIT ? "queue" : "thread", e->kind == EVENT_WAIT ?
		    e->queue : (uint32_t)e->pid, e->fence, (unsigned long long)e->value,
		    (unsigned long long)(late / 1000));
}

static void waits_over(struct check *check, struct waits *w, uint64_t key, const struct event *e,
		       uint32_t at, bool reached)
{
	struct waiting *wait = table_find(&w->waiting, key);
	const struct fence *f = table_find(&w->fences, event_key(e, e->fence));
	uint32_t proof[] = { wait ? wait->begin : NO_EVENT, at };

	if (!wait)
		return;
	if (!reached)
		waits_check_due(check, w, wait, at);
	else if (e->by < e->value)
		check_found(check, "wake-up by too small a value", proof, 2,
			    "fence %u has %llu, and the wait is for %llu", e->fence,
			    (unsigned long long)e->by, (unsigned long long)e->value);
	else if (f && f->known && f->highest < e->value)
		check_found(check, "wake-up without a cause", proof, 2,
			    "no signal of fence %u has reached %llu", e->fence,
			    (unsigned long long)e->value);
	table_remove(&w->waiting, wait);
}

static void waits_open(struct check *check, struct waits *w, const struct event *e)
{
	struct fence *f = waits_fence(check, w, event_key(e, e->fence));

	if (!f || !e->opened)
		return;
	/* The number may be that of another fence before, on an adapter that was bound again. */
	if (e->created || e->cross)
		f->signals.count = 0;
	f->crosses |= e->cross;
	f->known = e->created && e->native && !e->cross;
	if (f->known) {
		f->highest = f->signaler = 0;
		f->others = false;
	}
}

static void waits_cross(struct check *check, struct waits *w, uint64_t key)
{
	struct fence *f = waits_fence(check, w, key);

	if (f)
		f->crosses = true;
}

static void waits_event(struct check *check, void *state, const struct event *e, uint32_t at)
{
	const struct event to = { .adapter = e->to_adapter, .function = e->to_function };
	struct waits *w = state;

	switch (e->kind) {
	case EVENT_HANDLE:
		waits_open(check, w, e);
		break;
	case EVENT_SIGNAL:
		waits_signal(check, w, event_key(e, e->fence), e->value, at,
			     event_key(e, e->queue));
		break;
	case EVENT_CPU_SIGNAL:
		waits_signal(check, w, event_key(e, e->fence), e->value, at, 0);
		break;
	case EVENT_CROSS:
		waits_cross(check, w, event_key(e, e->fence));
		waits_cross(check, w, event_key(&to, e->to_fence));
		waits_signal(check, w, event_key(&to, e->to_fence), e->value, at, 0);
		break;
	case EVENT_WAIT:
		if (e->type == 'B')
			waits_add(check, w, event_key(e, e->queue), e, at);
		else
			waits_over(check, w, event_key(e, e->queue), e, at,
				   e->by && e->by != UINT64_MAX);
		break;
	case EVENT_WAITER:
		if (e->step == POINT_ARMED)
			waits_add(check, w, point_key(e), e, at);
		else
			waits_over(check, w, point_key(e), e, at, e->step == POINT_REACHED);
		break;
	default:
		break;
	}
}

struct ending {
	struct check *check;
	struct waits *waits;
};

static void waits_lost(void *entry, void *context)
{
	const struct ending *ending = context;

	waits_check_due(ending->check, ending->waits, entry, ending->check->events->count - 1);
}

/* A wait of a queue that is old enough, and whose fence only one queue has ever signaled. */
static const struct fence *waits_link(const struct ending *ending, const struct waiting *wait)
{
	const struct events *events = ending->check->events;
	const struct fence *f = table_find(&ending->waits->fences, wait->fence);

	if (!f || !f->known || f->others || !f->signaler)
		return NULL;
	if (events->list[wait->begin].time + CHECK_WAKE_NS >
	    events->list[events->count - 1].time)
		return NULL;
	return waits_due(ending->check, ending->waits, wait) == NO_EVENT ? f : NULL;
}

/*
 * Follow a blocked queue to the only queue that has ever signaled what it waits for, and so on. If
 * the way comes back, none of them can go on, unless a thread signals that never has so far.
 */
static void waits_circle(void *entry, void *context)
{
	const struct ending *ending = context;
	const struct waiting *wait = entry, *first = entry;
	const struct fence *f;
	uint32_t proof[16];
	unsigned int n = 0;

	while (wait && !(wait->key & POINT_KEY) && n < 16) {
		f = waits_link(ending, wait);
		/* Each circle once: at the wait that began first. */
		if (!f || wait->begin < first->begin)
			return;
		proof[n++] = wait->begin;
		wait = table_find(&ending->waits->waiting, f->signaler);
		if (wait == first) {
			check_found(ending->check, "circle of waits", proof, n,
				    "%u queues wait for each other, and no other thread or queue has ever signaled these fences",
				    n);
			return;
		}
	}
}

static void fence_free(void *entry)
{
	free(((struct fence *)entry)->signals.at);
	free(entry);
}

static void waits_end(struct check *check, void *state, bool last)
{
	struct ending ending = { check, state };
	struct waits *w = state;

	if (last) {
		table_each(&w->waiting, waits_lost, &ending);
		table_each(&w->waiting, waits_circle, &ending);
	}
	table_free(&w->waiting, NULL);
	table_free(&w->fences, fence_free);
	free(w);
}

const struct checker check_waits = { waits_begin, waits_event, waits_end };
