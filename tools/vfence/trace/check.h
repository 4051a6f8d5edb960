/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_CHECK_H
#define VFENCE_CHECK_H

#include "events.h"
#include "joins.h"
#include "table.h"

#define CHECK_TEXT	120

/*
 * The checks of one trace. Each violation is printed with the events that prove it. A checker gets
 * one event after another, and is called once more at the end of the trace. After a gap in the
 * trace each checker begins again, without state.
 */
struct check {
	const struct events *events;
	FILE *to;
	unsigned int found;
	/* A violation after this number is counted and not printed. */
	unsigned int limit;
	bool no_memory;
	/* The first violation: times of its proof, the rule, and what is printed of it. */
	struct {
		uint64_t from, until;
		const char *rule;
		char text[CHECK_TEXT];
	} first;
};

void check_found(struct check *check, const char *rule, const uint32_t *proof, unsigned int count,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The time in which a wake-up that is due comes, and in which a submission ends, in ns. */
#define CHECK_WAKE_NS		UINT64_C(50000000)
#define CHECK_SUBMISSION_NS	UINT64_C(10000000000)

/* One of the checks below, from the beginning of a trace or from a gap in it. */
struct checker {
	void *(*begin)(void);
	void (*event)(struct check *check, void *state, const struct event *e, uint32_t at);
	/* @last: the trace ends, and not only its part before a gap. */
	void (*end)(struct check *check, void *state, bool last);
};

int check_list(const struct events *events, const char **rule, char first[CHECK_TEXT]);
int check_trace(const char *path, const char **rule, char first[CHECK_TEXT]);

extern const struct checker check_waits, check_monitored, check_engines, check_steps;

#endif
