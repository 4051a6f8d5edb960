/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_EVENTS_H
#define VFENCE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The events of the driver and of the virtual GPU, as in Documentation/gpu/vfence/tracing.rst. */
enum event_kind {
	EVENT_DOORBELL, EVENT_TURN, EVENT_WAIT, EVENT_SIGNAL, EVENT_DECIDE, EVENT_WRITE,
	EVENT_LOG, EVENT_RECHECK, EVENT_INTERRUPT,
	EVENT_HANDLE, EVENT_CPU_SIGNAL, EVENT_MONITORED, EVENT_WAITER, EVENT_CPU_WAIT, EVENT_EVENT,
	EVENT_HANDLED, EVENT_CROSS,
	EVENT_QUEUE, EVENT_CONNECT, EVENT_SUBMISSION, EVENT_SUSPENSION, EVENT_SIGNAL_LOGGED,
	EVENT_WAIT_LOGGED, EVENT_MARKER, EVENT_LOG_LOST, EVENT_CLOCK,
	EVENT_RECOVERY, EVENT_WORLD, EVENT_RESET, EVENT_DEVICE,
	/* The tracer has lost events before this one. */
	EVENT_LOST,
	EVENT_KINDS
};

/* What the field "event" of vfence_waiter says, and "step" of the events below. */
enum { POINT_ARMED, POINT_REACHED, POINT_ENDED, POINT_DISARMED };
enum { SUBMISSION_QUEUED, SUBMISSION_READY, SUBMISSION_ON_RING, SUBMISSION_FETCHED,
       SUBMISSION_DONE };

/* One event. Members that its kind does not have are 0. */
struct event {
	/* Time in ns, of CLOCK_MONOTONIC if the trace was made so. */
	uint64_t time;
	enum event_kind kind;
	/* Its place before events were sorted by time. */
	uint32_t order;
	int cpu, pid;
	/* 'B', 'E', 'I' or 0: track_event_type. */
	char type;
	uint32_t adapter, function, node;
	uint32_t queue, fence, context, handle;
	/* value or counter_value; the value that has reached it; what engines compare it with. */
	uint64_t value, by, monitored;
	/* The wait of a point. */
	uint64_t wait;
	/* The fields "event", "step" and "state", of which no event has two. */
	uint32_t step;
	/* result or error. */
	int result;
	/* The other flags and numbers of some kinds. */
	uint64_t progress, turn, gpu, observed, ns, lost, from, log;
	uint32_t interrupts, opened, native, cross, kernel, created, to_adapter, to_function, to_fence;
	uint32_t points, completed, group, command, physical, status, gpu_wait, posts, any;
};

struct trace_name {
	int pid;
	char comm[16];
};

/*
 * A line that a program has written to trace_marker: "B|TEXT" where a part of its work begins,
 * "E|TEXT" with what is to be said of it where it ends, and "W|TEXT" with what is recorded.
 */
struct trace_mark {
	uint64_t time;
	char text[120];
};

/* A trace in the order of the times. */
struct events {
	struct event *list;
	unsigned int count;
	/* Events that the tracer has lost. */
	uint64_t missed;
	/* The names of the threads, by pid. */
	struct trace_name *names;
	unsigned int name_count;
	/* In the order of the times. */
	struct trace_mark *marks;
	unsigned int mark_count;
};

int events_load(const char *path, struct events *events);
void events_free(struct events *events);
const char *events_kind_name(enum event_kind kind);
const char *events_comm(const struct events *events, int pid);
void events_print(const struct events *events, const struct event *event, FILE *to);

#endif
