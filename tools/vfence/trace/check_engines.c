// SPDX-License-Identifier: GPL-2.0-only
/*
 * An engine executes one queue at a time. A queue does nothing while it waits, while its context
 * is suspended, or while it is not on an engine.
 */

#include <stdlib.h>

#include "check.h"

/* The state of a queue that stops, as in the header of the interface. */
#define QUEUE_BLOCKED	3

struct engine {
	uint64_t key;
	/* The turn that has not ended, or NO_EVENT; and whether it is known if there is one. */
	uint32_t turn;
	bool known;
};

struct queue {
	uint64_t key;
	/* Where it was blocked, picked, or created; NO_EVENT if it is not, or it is not known. */
	uint32_t blocked, turn;
	uint64_t context;
};

struct context {
	uint64_t key;
	uint32_t suspended;
};

struct state {
	struct table engines, queues, contexts;
};

static void *engines_begin(void)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s) {
		s->engines.size = sizeof(struct engine);
		s->queues.size = sizeof(struct queue);
		s->contexts.size = sizeof(struct context);
	}
	return s;
}

static struct queue *engines_queue(struct check *check, struct state *s, const struct event *e)
{
	struct queue *q = table_find(&s->queues, event_key(e, e->queue));

	if (q)
		return q;
	q = table_get(&s->queues, event_key(e, e->queue));
	if (q)
		q->blocked = q->turn = NO_EVENT;
	else
		check->no_memory = true;
	return q;
}

/* Functions share the engines of their adapter. */
static struct engine *engines_engine(struct check *check, struct state *s, const struct event *e)
{
	const struct event physical = { .adapter = e->adapter };
	uint64_t key = event_key(&physical, e->node);
	struct engine *engine = table_find(&s->engines, key);

	if (engine)
		return engine;
	engine = table_get(&s->engines, key);
	if (engine)
		engine->turn = NO_EVENT;
	else
		check->no_memory = true;
	return engine;
}

static void engines_pick(struct check *check, struct state *s, struct engine *engine,
			 struct queue *q, const struct event *e, uint32_t at)
{
	const struct context *context = table_find(&s->contexts, q->context);
	uint32_t proof[] = { NO_EVENT, at };

	if (engine->turn != NO_EVENT) {
		proof[0] = engine->turn;
		check_found(check, "two queues on an engine", proof, 2,
			    "engine %u picks queue %u before the one on it has left", e->node,
			    e->queue);
	}
	if (q->blocked != NO_EVENT) {
		proof[0] = q->blocked;
		check_found(check, "turn of a queue that waits", proof, 2,
			    "queue %u waits for a fence, and gets an engine", e->queue);
	}
	if (context && context->suspended != NO_EVENT) {
		proof[0] = context->suspended;
		check_found(check, "turn of a suspended queue", proof, 2,
			    "queue %u has left its engine for its suspension, and gets it",
			    e->queue);
	}
	engine->turn = at;
	q->turn = at;
}

static void engines_leave(struct check *check, struct engine *engine, struct queue *q,
			  const struct event *e, uint32_t at)
{
	uint32_t proof[] = { engine->turn, at };

	if (engine->known && (engine->turn == NO_EVENT || engine->turn != q->turn))
		check_found(check, "end of a turn that is none", proof, 2,
			    "queue %u leaves engine %u, on which it is not", e->queue, e->node);
	if (e->step == QUEUE_BLOCKED && q->blocked == NO_EVENT && q->turn != NO_EVENT)
		check_found(check, "blocked by nothing", proof, 2,
			    "queue %u leaves its engine to wait, and no fence has blocked it",
			    e->queue);
	engine->turn = NO_EVENT;
	q->turn = NO_EVENT;
}

static void engines_turn(struct check *check, struct state *s, const struct event *e, uint32_t at)
{
	struct engine *engine = engines_engine(check, s, e);
	struct queue *q = engines_queue(check, s, e);

	if (!engine || !q)
		return;
	if (e->type == 'B')
		engines_pick(check, s, engine, q, e, at);
	else
		engines_leave(check, engine, q, e, at);
	engine->known = true;
}

static void engines_wait(struct check *check, struct state *s, const struct event *e, uint32_t at)
{
	struct queue *q = engines_queue(check, s, e);
	uint32_t proof[] = { q ? q->blocked : NO_EVENT, at };

	if (!q)
		return;
	if (e->type == 'B' && q->blocked != NO_EVENT)
		check_found(check, "two waits of a queue", proof, 2,
			    "queue %u begins to wait while it waits", e->queue);
	if (e->type == 'E' && e->by && e->by < e->value)
		check_found(check, "released too early", proof, 2,
			    "queue %u waits for %llu and is released by %llu", e->queue,
			    (unsigned long long)e->value, (unsigned long long)e->by);
	q->blocked = e->type == 'B' ? at : NO_EVENT;
}

/* A queue signals, and is not on an engine. */
static void engines_signal(struct check *check, struct state *s, const struct event *e,
			   uint32_t at)
{
	struct engine *engine = engines_engine(check, s, e);
	struct queue *q = engines_queue(check, s, e);
	uint32_t proof[] = { engine ? engine->turn : NO_EVENT, at };

	if (engine && q && engine->known && q->turn == NO_EVENT)
		check_found(check, "signal without a turn", proof, 2,
			    "queue %u signals fence %u and is not on engine %u", e->queue,
			    e->fence, e->node);
}

static void engines_suspend(struct check *check, struct state *s, const struct event *e,
			    uint32_t at)
{
	uint64_t key = event_key(e, e->context);
	struct context *context = table_find(&s->contexts, key);

	if (!context) {
		context = table_get(&s->contexts, key);
		if (!context) {
			check->no_memory = true;
			return;
		}
		context->suspended = NO_EVENT;
	}
	if (e->type == 'I' && !e->result)
		context->suspended = at;
	else if (e->type == 'E')
		context->suspended = NO_EVENT;
}

static void engines_event(struct check *check, void *state, const struct event *e, uint32_t at)
{
	struct queue *q;

	switch (e->kind) {
	case EVENT_QUEUE:
		q = engines_queue(check, state, e);
		if (q)
			q->context = event_key(e, e->context);
		break;
	case EVENT_TURN:
		engines_turn(check, state, e, at);
		break;
	case EVENT_WAIT:
		engines_wait(check, state, e, at);
		break;
	case EVENT_SIGNAL:
	case EVENT_WRITE:
		engines_signal(check, state, e, at);
		break;
	case EVENT_SUSPENSION:
		engines_suspend(check, state, e, at);
		break;
	default:
		break;
	}
}

static void engines_end(struct check *check, void *state, bool last)
{
	struct state *s = state;

	(void)check;
	(void)last;
	table_free(&s->engines, NULL);
	table_free(&s->queues, NULL);
	table_free(&s->contexts, NULL);
	free(s);
}

const struct checker check_engines = { engines_begin, engines_event, engines_end };
