// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a picture of a trace shows: rows of engines, of queues and threads that wait, and of
 * interrupts; what each of them does from when to when; and which signal has released which wait.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "scene.h"

/* The place of a row: its adapter and function, then engines with their queues, then the others. */
#define ROW_KEY(e, kind, node, object) \
	((uint64_t)(e)->adapter << 56 | (uint64_t)((e)->function & 255) << 48 | \
	 (uint64_t)((kind) == ROW_QUEUE ? ROW_ENGINE : (kind)) << 44 | \
	 (uint64_t)((node) & 255) << 36 | (uint64_t)(object))

/* A row, by its key, until all rows have their order. */
struct row_entry {
	uint64_t key;
	struct row row;
	uint32_t index;
};

/* What has begun and not ended: the work of an engine, or the wait of a queue or of a thread. */
struct open_shape {
	uint64_t key, row, begin, value;
	uint32_t fence, queue;
	enum shape_kind kind;
	bool begun;
};

/* The row in which an event is drawn, by the place of the event, and the shape of a signal. */
struct event_row {
	uint64_t key, row;
	uint32_t shape;
};

struct builder {
	const struct events *events;
	struct scene *scene;
	struct table rows, open, event_rows, fences;
	unsigned int room;
	bool no_memory;
};

/* Keys of open shapes: those of rows are below 2^63 as there are 64 adapters. */
#define WAIT_KEY(wait)	(table_mix(wait, 1) | UINT64_C(1) << 63)

static uint64_t builder_row(struct builder *b, uint64_t key, enum row_kind kind, const char *name)
{
	struct row_entry *entry = table_get(&b->rows, key);

	if (!entry) {
		b->no_memory = true;
	} else if (!*entry->row.name) {
		entry->row.key = key;
		entry->row.kind = kind;
		snprintf(entry->row.name, sizeof(entry->row.name), "%s", name);
	}
	return key;
}

/* The beginning of a name: which function it is on, unless that is the first one. */
static const char *builder_function(const struct event *e, char *text, size_t size)
{
	*text = 0;
	if (e->function)
		snprintf(text, size, "%u.vf%u ", e->adapter, e->function);
	else if (e->adapter)
		snprintf(text, size, "%u ", e->adapter);
	return text;
}

static uint64_t builder_engine(struct builder *b, const struct event *e)
{
	char name[40], on[24];

	snprintf(name, sizeof(name), "%s%s engine", builder_function(e, on, sizeof(on)),
		 text_node_class(e->node));
	return builder_row(b, ROW_KEY(e, ROW_ENGINE, e->node, 0), ROW_ENGINE, name);
}

static uint64_t builder_queue(struct builder *b, const struct event *e)
{
	char name[40], on[24];

	builder_engine(b, e);
	snprintf(name, sizeof(name), "%squeue %u waits", builder_function(e, on, sizeof(on)),
		 e->queue);
	return builder_row(b, ROW_KEY(e, ROW_QUEUE, e->node, (uint64_t)e->queue + 1), ROW_QUEUE,
			   name);
}

static uint64_t builder_thread(struct builder *b, const struct event *e)
{
	const char *comm = events_comm(b->events, e->pid);
	char name[40];

	snprintf(name, sizeof(name), "%s %d", *comm ? comm : "thread", e->pid);
	return builder_row(b, ROW_KEY(e, ROW_THREAD, 0, (uint32_t)e->pid), ROW_THREAD, name);
}

/* Remember in which row an event is, where arrows begin or end, and which shape comes next. */
static void builder_place(struct builder *b, uint32_t at, uint64_t row)
{
	struct event_row *place = table_get(&b->event_rows, at);

	if (!place) {
		b->no_memory = true;
		return;
	}
	place->row = row;
	place->shape = b->scene->shape_count;
}

/* Return: the index of a fence. */
static uint32_t builder_fence(struct builder *b, const struct event *e, uint32_t number)
{
	struct scene_fence *fence = table_get(&b->fences, event_key(e, number));

	if (!fence) {
		b->no_memory = true;
		return 0;
	}
	if (!fence->index) {
		fence->number = number;
		fence->index = ++b->scene->fence_count;
	}
	return fence->index - 1;
}

static void builder_add(struct builder *b, const struct shape *shape, uint64_t row)
{
	struct row_entry *entry = table_find(&b->rows, row);
	struct scene *scene = b->scene;

	if (scene->shape_count == b->room) {
		unsigned int room = b->room ? 2 * b->room : 1024;
		void *more = realloc(scene->shapes, room * sizeof(*scene->shapes));

		if (!more) {
			b->no_memory = true;
			return;
		}
		scene->shapes = more;
		b->room = room;
	}
	if (!entry)
		return;
	/* Rows have an order at the end: until then a shape has the number of its row here. */
	if (!entry->index)
		entry->index = ++scene->row_count;
	scene->shapes[scene->shape_count] = *shape;
	scene->shapes[scene->shape_count++].row = entry->index;
}

static struct open_shape *builder_open(struct builder *b, uint64_t key)
{
	struct open_shape *open = table_get(&b->open, key);

	if (!open)
		b->no_memory = true;
	return open;
}

/* Add what has been open until @end. */
static void builder_add_open(struct builder *b, const struct open_shape *open, uint64_t end)
{
	const struct shape shape = {
		.kind = open->kind, .begin = open->begin, .end = end, .value = open->value,
		.fence = open->fence, .queue = open->queue,
	};

	if (open->begun)
		builder_add(b, &shape, open->row);
}

static void builder_close(struct builder *b, struct open_shape *open, uint64_t end)
{
	builder_add_open(b, open, end);
	table_remove(&b->open, open);
}

/*
 * A row begins what it does (B), or ends it. Return: the open shape of a beginning, whose other
 * members the caller fills, or NULL.
 */
static struct open_shape *builder_span(struct builder *b, const struct event *e, uint64_t row,
				       enum shape_kind kind)
{
	struct open_shape *open;

	if (e->type != 'B') {
		open = table_find(&b->open, row);
		if (open)
			builder_close(b, open, e->time);
		return NULL;
	}
	open = builder_open(b, row);
	if (!open)
		return NULL;
	open->row = row;
	open->begin = e->time;
	open->kind = kind;
	open->begun = true;
	return open;
}

static void build_turn(struct builder *b, const struct event *e)
{
	struct open_shape *open = builder_span(b, e, builder_engine(b, e), SHAPE_WORK);

	if (open)
		open->queue = e->queue;
}

static void build_wait(struct builder *b, const struct event *e, uint32_t at)
{
	uint64_t row = builder_queue(b, e);
	struct open_shape *open = builder_span(b, e, row, SHAPE_WAIT);

	if (e->type == 'E')
		builder_place(b, at, row);
	if (!open)
		return;
	open->fence = builder_fence(b, e, e->fence);
	open->value = e->value;
}

/* A picture shows the first point of a wait alone. */
static void build_point(struct builder *b, const struct event *e)
{
	struct open_shape *open;

	if (e->step != POINT_ARMED || e->gpu_wait || table_find(&b->open, WAIT_KEY(e->wait)))
		return;
	open = builder_open(b, WAIT_KEY(e->wait));
	if (!open)
		return;
	open->fence = builder_fence(b, e, e->fence);
	open->value = e->value;
}

/* A thread or an event waits from here on. */
static void build_sleep(struct builder *b, const struct event *e)
{
	struct open_shape *open = table_find(&b->open, WAIT_KEY(e->wait));

	if (!open || open->begun)
		return;
	open->row = builder_thread(b, e);
	open->begin = e->time;
	open->kind = SHAPE_WAIT;
	open->begun = true;
}

static void build_wake(struct builder *b, const struct event *e, uint32_t at)
{
	struct open_shape *open = table_find(&b->open, WAIT_KEY(e->wait));

	if (!open)
		return;
	if (open->begun)
		builder_place(b, at, open->row);
	builder_close(b, open, e->time);
}

static void build_signal(struct builder *b, const struct event *e, uint32_t at, uint64_t row)
{
	const struct shape shape = {
		.kind = SHAPE_SIGNAL, .begin = e->time, .end = e->time, .value = e->value,
		.fence = builder_fence(b, e, e->fence), .queue = e->queue,
	};

	builder_place(b, at, row);
	builder_add(b, &shape, row);
}

static void build_interrupt(struct builder *b, const struct event *e)
{
	const struct shape shape = { .kind = SHAPE_INTERRUPT, .begin = e->time, .end = e->time };
	char name[40], on[24];

	snprintf(name, sizeof(name), "%sinterrupts", builder_function(e, on, sizeof(on)));
	builder_add(b, &shape, builder_row(b, ROW_KEY(e, ROW_INTERRUPTS, 0, 0), ROW_INTERRUPTS,
					   name));
}

static void build_progress(struct builder *b, const struct event *e)
{
	struct scene_fence *fence;

	if (!e->created || !e->progress)
		return;
	builder_fence(b, e, (uint32_t)e->progress);
	fence = table_find(&b->fences, event_key(e, (uint32_t)e->progress));
	if (fence)
		fence->progress = true;
}

static void build_event(struct builder *b, const struct event *e, uint32_t at)
{
	switch (e->kind) {
	case EVENT_TURN:
		build_turn(b, e);
		break;
	case EVENT_WAIT:
		build_wait(b, e, at);
		break;
	case EVENT_SIGNAL:
		build_signal(b, e, at, builder_engine(b, e));
		break;
	case EVENT_CPU_SIGNAL:
		build_signal(b, e, at, builder_thread(b, e));
		break;
	case EVENT_WAITER:
		build_point(b, e);
		break;
	case EVENT_CPU_WAIT:
		if (e->type == 'B')
			build_sleep(b, e);
		else
			build_wake(b, e, at);
		break;
	case EVENT_EVENT:
		if (e->step == 0)
			build_sleep(b, e);
		else if (e->step >= 2)
			build_wake(b, e, at);
		break;
	case EVENT_INTERRUPT:
		build_interrupt(b, e);
		break;
	case EVENT_QUEUE:
		build_progress(b, e);
		break;
	default:
		break;
	}
}

/* What is open at the end of the trace lasts until then. */
static void build_rest(void *entry, void *context)
{
	struct builder *b = context;

	builder_add_open(b, entry, b->events->list[b->events->count - 1].time);
}

/* The end of the arrow of a join: where the wait is over, or the eventfd is signaled. */
static const struct event_row *builder_target(const struct builder *b, const struct join *join,
					      uint32_t *at)
{
	*at = b->events->list[join->end].kind == EVENT_WAIT ? join->end : join->effect;
	return *at == NO_EVENT ? NULL : table_find(&b->event_rows, *at);
}

static void build_arrows(struct builder *b, const struct joins *joins)
{
	struct scene *scene = b->scene;
	unsigned int i;
	uint32_t at;

	scene->arrows = calloc(joins->count + 1, sizeof(*scene->arrows));
	if (!scene->arrows) {
		b->no_memory = true;
		return;
	}
	for (i = 0; i < joins->count; i++) {
		const struct join *join = &joins->list[i];
		const struct event_row *to = builder_target(b, join, &at), *from;
		const struct row_entry *from_row, *to_row;

		from = join->cause == NO_EVENT ? NULL : table_find(&b->event_rows, join->cause);
		from_row = from ? table_find(&b->rows, from->row) : NULL;
		to_row = to ? table_find(&b->rows, to->row) : NULL;
		if (!from_row || !to_row || !from_row->index || !to_row->index)
			continue;
		scene->arrows[scene->arrow_count++] = (struct arrow){
			.from = b->events->list[join->cause].time, .to = b->events->list[at].time,
			.from_row = from_row->index, .to_row = to_row->index,
		};
		scene->shapes[from->shape].releases = true;
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_end(const void *a, const void *b)
{
	const struct arrow *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_row(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void list_row(void *entry, void *context)
{
	const struct row_entry *row = entry;
	struct scene *scene = context;

	if (row->index)
		scene->rows[row->index - 1] = row->row;
}

static void list_fence(void *entry, void *context)
{
	const struct scene_fence *fence = entry;
	struct scene *scene = context;

	if (fence->index)
		scene->fences[fence->index - 1] = *fence;
}

static void build_colours(struct scene *scene)
{
	unsigned int i, colour = 0;

	for (i = 0; i < scene->fence_count; i++)
		scene->fences[i].colour = scene->fences[i].progress ? SCENE_COLOURS - 1 :
					  colour++ % (SCENE_COLOURS - 1);
}

/* Give rows and shapes their order. */
static void build_order(struct builder *b)
{
	struct scene *scene = b->scene;
	uint32_t *place = calloc(scene->row_count + 1, sizeof(*place));
	unsigned int i, k;

	scene->rows = calloc(scene->row_count + 1, sizeof(*scene->rows));
	scene->fences = calloc(scene->fence_count + 1, sizeof(*scene->fences));
	if (!place || !scene->rows || !scene->fences) {
		b->no_memory = true;
		free(place);
		return;
	}
	table_each(&b->rows, list_row, scene);
	table_each(&b->fences, list_fence, scene);
	build_colours(scene);
	qsort(scene->rows, scene->row_count, sizeof(*scene->rows), by_row);
	for (k = 0; k < scene->row_count; k++) {
		const struct row_entry *entry = table_find(&b->rows, scene->rows[k].key);

		if (entry)
			place[entry->index - 1] = k;
	}
	for (i = 0; i < scene->shape_count; i++)
		scene->shapes[i].row = place[scene->shapes[i].row - 1];
	for (i = 0; i < scene->arrow_count; i++) {
		scene->arrows[i].from_row = place[scene->arrows[i].from_row - 1];
		scene->arrows[i].to_row = place[scene->arrows[i].to_row - 1];
	}
	qsort(scene->shapes, scene->shape_count, sizeof(*scene->shapes), by_begin);
	qsort(scene->arrows, scene->arrow_count, sizeof(*scene->arrows), by_end);
	free(place);
}

/* Return: 0 or -ENOMEM. */
int scene_make(const struct events *events, const struct joins *joins, struct scene *scene)
{
	struct builder b = {
		.events = events, .scene = scene, .rows.size = sizeof(struct row_entry),
		.open.size = sizeof(struct open_shape), .fences.size = sizeof(struct scene_fence),
		.event_rows.size = sizeof(struct event_row),
	};
	uint32_t i;

	memset(scene, 0, sizeof(*scene));
	for (i = 0; i < events->count && !b.no_memory; i++)
		build_event(&b, &events->list[i], i);
	if (!b.no_memory)
		table_each(&b.open, build_rest, &b);
	if (!b.no_memory)
		build_arrows(&b, joins);
	if (!b.no_memory)
		build_order(&b);
	table_free(&b.rows, NULL);
	table_free(&b.open, NULL);
	table_free(&b.event_rows, NULL);
	table_free(&b.fences, NULL);
	if (!b.no_memory)
		return 0;
	scene_free(scene);
	return -ENOMEM;
}

void scene_free(struct scene *scene)
{
	free(scene->rows);
	free(scene->shapes);
	free(scene->arrows);
	free(scene->fences);
	memset(scene, 0, sizeof(*scene));
}
