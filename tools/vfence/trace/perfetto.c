// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace in the format of Perfetto. Each engine, each queue that waits, each thread and the
 * interrupts of each function are a track; each fence has counters of its current and of its
 * awaited value; an arrow leads from a signal to what goes on because of it.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "perfetto.h"
#include "perfetto.pb-c.h"
#include "table.h"

/* One sequence of packets, whose tracks are all described in it. */
#define SEQUENCE	1
#define FLOWS		16

/* Kinds of tracks: the top of their numbers. */
enum track {
	TRACK_FUNCTION = 1, TRACK_ENGINE, TRACK_WAITS, TRACK_CURRENT, TRACK_AWAITED,
	TRACK_INTERRUPTS, TRACK_SUBMISSIONS, TRACK_RESETS, TRACK_THREADS, TRACK_THREAD,
	TRACK_TRACER,
};

/* The flows that begin and end at an event. */
struct flows {
	uint64_t key;
	uint64_t out[FLOWS], in[FLOWS];
	unsigned int outs, ins;
};

struct writer {
	const struct events *events;
	FILE *file;
	/* The tracks that are described, and the flows of events. */
	struct table tracks, flows;
	bool failed;
};

static void writer_packet(struct writer *w, Vfence__TracePacket *packet)
{
	Vfence__Trace trace = VFENCE__TRACE__INIT;
	uint8_t *bytes;
	size_t size;

	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = SEQUENCE;
	/* A trace is its packets, one behind the other: each may be written by itself. */
	trace.n_packet = 1;
	trace.packet = &packet;
	size = vfence__trace__get_packed_size(&trace);
	bytes = malloc(size);
	if (!bytes || vfence__trace__pack(&trace, bytes) != size ||
	    fwrite(bytes, 1, size, w->file) != size)
		w->failed = true;
	free(bytes);
}

static uint64_t track_uuid(enum track track, const struct event *e, uint32_t object)
{
	return (uint64_t)track << 56 | event_key(e, object);
}

/* Describe a track, unless it was. Return: its number. */
static uint64_t writer_track(struct writer *w, uint64_t uuid, uint64_t parent, bool counter,
			     const char *format, ...) __attribute__((format(printf, 5, 6)));

static uint64_t writer_track(struct writer *w, uint64_t uuid, uint64_t parent, bool counter,
			     const char *format, ...)
{
	Vfence__TrackDescriptor track = VFENCE__TRACK_DESCRIPTOR__INIT;
	Vfence__CounterDescriptor value = VFENCE__COUNTER_DESCRIPTOR__INIT;
	Vfence__TracePacket packet = VFENCE__TRACE_PACKET__INIT;
	char name[80];
	va_list args;

	if (table_find(&w->tracks, uuid))
		return uuid;
	if (!table_get(&w->tracks, uuid))
		w->failed = true;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	track.has_uuid = 1;
	track.uuid = uuid;
	track.name = name;
	track.has_parent_uuid = !!parent;
	track.parent_uuid = parent;
	track.counter = counter ? &value : NULL;
	packet.track_descriptor = &track;
	writer_packet(w, &packet);
	return uuid;
}

static uint64_t writer_function(struct writer *w, const struct event *e)
{
	return writer_track(w, track_uuid(TRACK_FUNCTION, e, 0), 0, false,
			    e->function ? "adapter %u, function %u" : "adapter %u", e->adapter,
			    e->function);
}

static uint64_t writer_engine(struct writer *w, const struct event *e)
{
	return writer_track(w, track_uuid(TRACK_ENGINE, e, e->node), writer_function(w, e), false,
			    "engine %u %s", e->node, text_node_class(e->node));
}

static uint64_t writer_thread(struct writer *w, const struct event *e)
{
	static const struct event none;
	uint64_t all = writer_track(w, track_uuid(TRACK_THREADS, &none, 0), 0, false, "threads");

	return writer_track(w, track_uuid(TRACK_THREAD, &none, (uint32_t)e->pid), all, false,
			    "%s (%d)", events_comm(w->events, e->pid), e->pid);
}

/* An event on a track: with a name, unless it ends a slice. */
static void writer_event(struct writer *w, const struct event *e, uint64_t track,
			 Vfence__TrackEvent__Type type, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void writer_event(struct writer *w, const struct event *e, uint64_t track,
			 Vfence__TrackEvent__Type type, const char *format, ...)
{
	struct flows *flows = table_find(&w->flows, (uint64_t)(e - w->events->list));
	Vfence__TracePacket packet = VFENCE__TRACE_PACKET__INIT;
	Vfence__TrackEvent event = VFENCE__TRACK_EVENT__INIT;
	char name[80];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	packet.has_timestamp = 1;
	packet.timestamp = e->time;
	packet.track_event = &event;
	event.has_type = 1;
	event.type = type;
	event.has_track_uuid = 1;
	event.track_uuid = track;
	event.name = *name ? name : NULL;
	/* An arrow leads to what begins, and not to what ends. */
	if (flows && type != VFENCE__TRACK_EVENT__TYPE__TYPE_SLICE_END) {
		event.n_flow_ids = flows->outs;
		event.flow_ids = flows->out;
		event.n_terminating_flow_ids = flows->ins;
		event.terminating_flow_ids = flows->in;
	}
	writer_packet(w, &packet);
}

static void writer_counter(struct writer *w, const struct event *e, enum track track,
			   uint64_t value)
{
	uint64_t uuid = writer_track(w, track_uuid(track, e, e->fence), writer_function(w, e),
				     true, track == TRACK_CURRENT ? "fence %u: current value" :
				     "fence %u: least awaited value, 0: none", e->fence);
	Vfence__TracePacket packet = VFENCE__TRACE_PACKET__INIT;
	Vfence__TrackEvent event = VFENCE__TRACK_EVENT__INIT;

	packet.has_timestamp = 1;
	packet.timestamp = e->time;
	packet.track_event = &event;
	event.has_type = 1;
	event.type = VFENCE__TRACK_EVENT__TYPE__TYPE_COUNTER;
	event.has_track_uuid = 1;
	event.track_uuid = uuid;
	event.has_counter_value = 1;
	/* Values above the range of Perfetto's counters are those of the end of a fence. */
	event.counter_value = value > INT64_MAX ? INT64_MAX : (int64_t)value;
	writer_packet(w, &packet);
}

#define BEGIN		VFENCE__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
#define INSTANT		VFENCE__TRACK_EVENT__TYPE__TYPE_INSTANT

/* End the slice that began last on a track. */
static void writer_end(struct writer *w, const struct event *e, uint64_t track)
{
	writer_event(w, e, track, VFENCE__TRACK_EVENT__TYPE__TYPE_SLICE_END, "%s", "");
}

static void write_point(struct writer *w, const struct event *e)
{
	static const char *const what[] = { "awaits", "reached", "ended", "no longer awaits" };

	/* The thread that reaches a point is the one that signals, or an interrupt. */
	writer_event(w, e, writer_thread(w, e), INSTANT, "%s fence %u >= %llu",
		     what[e->step % 4], e->fence, (unsigned long long)e->value);
}

static void write_submission(struct writer *w, const struct event *e)
{
	static const char *const steps[] = { "queued", "ready", "on the ring", "fetched", "done" };
	uint64_t track = writer_track(w, track_uuid(TRACK_SUBMISSIONS, e, e->queue),
				      writer_function(w, e), false, "queue %u: submissions",
				      e->queue);

	writer_event(w, e, track, INSTANT, "%llu %s%s", (unsigned long long)e->progress,
		     steps[e->step % 5], e->result ? " (lost)" : "");
}

static void write_turn(struct writer *w, const struct event *e)
{
	if (e->type == 'B')
		writer_event(w, e, writer_engine(w, e), BEGIN, "queue %u", e->queue);
	else
		writer_end(w, e, writer_engine(w, e));
}

static void write_wait(struct writer *w, const struct event *e)
{
	uint64_t track = writer_track(w, track_uuid(TRACK_WAITS, e, e->queue),
				      writer_function(w, e), false, "queue %u: waits", e->queue);

	if (e->type == 'B')
		writer_event(w, e, track, BEGIN, "fence %u >= %llu", e->fence,
			     (unsigned long long)e->value);
	else
		writer_end(w, e, track);
}

static void write_cpu_wait(struct writer *w, const struct event *e)
{
	if (e->type == 'B') {
		writer_event(w, e, writer_thread(w, e), BEGIN, "waits for %s of %u points",
			     e->any ? "one" : "all", e->points);
		return;
	}
	writer_end(w, e, writer_thread(w, e));
	writer_event(w, e, writer_thread(w, e), INSTANT, "goes on");
}

static void write_reset(struct writer *w, const struct event *e)
{
	uint64_t track = writer_track(w, track_uuid(TRACK_RESETS, e, 0), writer_function(w, e),
				      false, "resets");

	if (e->kind == EVENT_RECOVERY)
		writer_event(w, e, track, INSTANT, "node %u, step %u", e->node, e->step);
	else if (e->type == 'B')
		writer_event(w, e, track, BEGIN, "the whole GPU");
	else
		writer_end(w, e, track);
}

static void write_signal(struct writer *w, const struct event *e, uint64_t track)
{
	writer_event(w, e, track, INSTANT, "signal: fence %u = %llu", e->fence,
		     (unsigned long long)e->value);
	writer_counter(w, e, TRACK_CURRENT, e->value);
}

static void write_gpu(struct writer *w, const struct event *e)
{
	switch (e->kind) {
	case EVENT_TURN:
		write_turn(w, e);
		break;
	case EVENT_WAIT:
		write_wait(w, e);
		break;
	case EVENT_SIGNAL:
		write_signal(w, e, writer_engine(w, e));
		break;
	case EVENT_DOORBELL:
		writer_event(w, e, writer_thread(w, e), INSTANT, "doorbell of queue %u", e->queue);
		break;
	case EVENT_INTERRUPT:
		writer_event(w, e, writer_track(w, track_uuid(TRACK_INTERRUPTS, e, 0),
						writer_function(w, e), false, "interrupts"),
			     INSTANT, "%u signals, node %u", e->posts, e->node);
		break;
	default:
		break;
	}
}

static void write_driver(struct writer *w, const struct event *e)
{
	switch (e->kind) {
	case EVENT_CPU_SIGNAL:
		write_signal(w, e, writer_thread(w, e));
		break;
	case EVENT_MONITORED:
		/* The monitored value of a fence that nobody waits for is the maximum. */
		writer_counter(w, e, TRACK_AWAITED, e->value + 1);
		break;
	case EVENT_WAITER:
		write_point(w, e);
		break;
	case EVENT_CPU_WAIT:
		write_cpu_wait(w, e);
		break;
	case EVENT_EVENT:
		if (e->step == 2)
			writer_event(w, e, writer_thread(w, e), INSTANT, "eventfd of event %u",
				     e->handle);
		break;
	case EVENT_CROSS:
		writer_event(w, e, writer_thread(w, e), INSTANT, "passed on: fence %u = %llu",
			     e->fence, (unsigned long long)e->value);
		break;
	case EVENT_SUBMISSION:
		write_submission(w, e);
		break;
	case EVENT_RECOVERY:
	case EVENT_RESET:
		write_reset(w, e);
		break;
	default:
		break;
	}
}

/* A gap in the trace: what is between is not known. */
static void write_gap(struct writer *w, const struct event *e)
{
	static const struct event none;
	uint64_t track = writer_track(w, track_uuid(TRACK_TRACER, &none, 0), 0, false, "tracer");

	writer_event(w, e, track, INSTANT, "%llu events lost on processor %d",
		     (unsigned long long)e->lost, e->cpu);
}

static void writer_add_flow(struct writer *w, uint32_t from, uint32_t to, uint64_t id)
{
	struct flows *source = table_get(&w->flows, from), *end = table_get(&w->flows, to);

	if (!source || !end) {
		w->failed = true;
		return;
	}
	/* One signal may release thousands of waits: draw no more arrows than can be seen. */
	if (source->outs == FLOWS || end->ins == FLOWS)
		return;
	source->out[source->outs++] = id;
	end->in[end->ins++] = id;
}

/* Find out where arrows begin and end, before the events are written. */
static void writer_add_flows(struct writer *w, const struct joins *joins)
{
	unsigned int i;

	for (i = 0; i < joins->count; i++) {
		const struct join *join = &joins->list[i];
		uint32_t to = join->effect == NO_EVENT ? join->end : join->effect;

		/* The end of a slice is no place where an arrow can end. */
		if (join->cause == NO_EVENT || w->events->list[to].kind == EVENT_WAIT)
			continue;
		writer_add_flow(w, join->cause, to, i + 1);
	}
}

/* Write a trace to a file. Return: 0 or a negative error. */
int perfetto_write(const struct events *events, const struct joins *joins, const char *path)
{
	struct writer w = {
		.events = events, .file = fopen(path, "we"), .tracks.size = sizeof(uint64_t),
		.flows.size = sizeof(struct flows),
	};
	unsigned int i;
	int ret;

	if (!w.file)
		return -errno;
	writer_add_flows(&w, joins);
	for (i = 0; i < events->count && !w.failed; i++) {
		const struct event *e = &events->list[i];

		if (e->kind == EVENT_LOST)
			write_gap(&w, e);
		else if (e->kind < EVENT_HANDLE)
			write_gpu(&w, e);
		else
			write_driver(&w, e);
	}
	table_free(&w.tracks, NULL);
	table_free(&w.flows, NULL);
	ret = w.failed ? -EIO : 0;
	return fclose(w.file) && !ret ? -errno : ret;
}
