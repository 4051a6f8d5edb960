/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SCENE_H
#define VFENCE_SCENE_H

#include "joins.h"

/* What a picture of a trace shows, without a place on the paper. */

/* Rows of a function stand together, and those of the queues of a node below their engine. */
enum row_kind { ROW_ENGINE, ROW_QUEUE, ROW_THREAD, ROW_INTERRUPTS };

struct row {
	uint64_t key;
	enum row_kind kind;
	char name[40];
};

/*
 * SHAPE_WORK: an engine executes a queue. SHAPE_WAIT: a queue or a thread waits for a value of a
 * fence. SHAPE_SIGNAL: a fence gets a value. SHAPE_INTERRUPT: the GPU interrupts a processor.
 */
enum shape_kind { SHAPE_WORK, SHAPE_WAIT, SHAPE_SIGNAL, SHAPE_INTERRUPT, SHAPE_KINDS };

struct shape {
	/* Times in ns; those of a signal and of an interrupt are the same. */
	uint64_t begin, end;
	/* The value of a wait or of a signal, and its fence as an index of scene.fences. */
	uint64_t value;
	uint32_t fence;
	/* Index of scene.rows. */
	uint32_t row;
	/* The queue that is executed. */
	uint32_t queue;
	enum shape_kind kind;
	/* A signal that releases a wait of the trace. */
	bool releases;
};

/* From a signal to what it has released. */
struct arrow {
	uint64_t from, to;
	uint32_t from_row, to_row;
};

struct scene_fence {
	uint64_t key;
	uint32_t number, index;
	/* Fences have colours 0, 1, 2 and so on; the progress fences of queues share the last one. */
	unsigned int colour;
	bool progress;
};

#define SCENE_COLOURS	6

struct scene {
	struct row *rows;
	/* In the order of their begin. */
	struct shape *shapes;
	/* In the order of their ends. */
	struct arrow *arrows;
	/* In the order in which they are seen first. */
	struct scene_fence *fences;
	unsigned int row_count, shape_count, arrow_count, fence_count;
};

int scene_make(const struct events *events, const struct joins *joins, struct scene *scene);
void scene_free(struct scene *scene);

#endif
