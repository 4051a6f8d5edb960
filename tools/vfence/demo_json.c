// SPDX-License-Identifier: GPL-2.0-only
/* The timeline as a Chrome trace: opens in Perfetto and about:tracing. */

#include <stdlib.h>

#include <json-c/json.h>

#include "demo.h"

/* Track numbers within a process. */
enum track { TRACK_QUEUE = 1, TRACK_QUEUED, TRACK_CPU, TRACK_IRQ };

static const char *const fence_names[] = { "drawn", "copied", "progress", "?" };

static json_object *event(json_object *events, const char *phase, const char *name, int pid,
			  int tid, int64_t ns)
{
	json_object *e = json_object_new_object();

	json_object_object_add(e, "ph", json_object_new_string(phase));
	json_object_object_add(e, "name", json_object_new_string(name));
	json_object_object_add(e, "pid", json_object_new_int(pid));
	json_object_object_add(e, "tid", json_object_new_int(tid));
	json_object_object_add(e, "ts", json_object_new_double((double)ns / 1000.0));
	json_object_array_add(events, e);
	return e;
}

static void add_value(json_object *e, const char *fence, uint64_t value)
{
	json_object *args = json_object_new_object();
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	json_object_object_add(args, "fence", json_object_new_string(fence));
	json_object_object_add(args, "value", json_object_new_string(text));
	json_object_object_add(e, "args", args);
}

static void name_track(json_object *events, int pid, int tid, const char *name)
{
	json_object *e = event(events, "M", tid ? "thread_name" : "process_name", pid, tid, 0);
	json_object *args = json_object_new_object();

	json_object_object_add(args, "name", json_object_new_string(name));
	json_object_object_add(e, "args", args);
}

static void name_tracks(json_object *events)
{
	name_track(events, 1, 0, "client A");
	name_track(events, 1, TRACK_QUEUE, "GFX hardware queue");
	name_track(events, 1, TRACK_QUEUED, "queued by A");
	name_track(events, 1, TRACK_CPU, "CPU waits of A");
	name_track(events, 2, 0, "client B");
	name_track(events, 2, TRACK_QUEUE, "COPY hardware queue");
	name_track(events, 2, TRACK_QUEUED, "queued by B");
	name_track(events, 2, TRACK_CPU, "CPU waits of B");
	name_track(events, 3, 0, "adapter");
	name_track(events, 3, TRACK_IRQ, "fence-signaled interrupts");
}

static void add_entry(json_object *events, const struct demo_entry *entry, int64_t origin)
{
	const char *fence = fence_names[entry->fence];
	int pid = entry->client + 1;
	char name[64];
	json_object *e;

	switch (entry->op) {
	case DEMO_WAIT:
	case DEMO_CPU_WAIT:
		snprintf(name, sizeof(name), "wait %s %llu", fence,
			 (unsigned long long)entry->value);
		e = event(events, "X", name, pid,
			  entry->op == DEMO_WAIT ? TRACK_QUEUE : TRACK_CPU,
			  entry->begin - origin);
		json_object_object_add(e, "dur", json_object_new_double(
			(double)(entry->end - entry->begin) / 1000.0));
		break;
	case DEMO_SIGNAL:
		snprintf(name, sizeof(name), "signal %s %llu", fence,
			 (unsigned long long)entry->value);
		e = event(events, "X", name, pid, TRACK_QUEUE, entry->end - origin);
		json_object_object_add(e, "dur", json_object_new_double(0.2));
		break;
	default:
		snprintf(name, sizeof(name), "%s queued",
			 entry->op == DEMO_WAIT_QUEUED ? "wait" : "signal");
		e = event(events, "i", name, pid, TRACK_QUEUED, entry->begin - origin);
		json_object_object_add(e, "s", json_object_new_string("t"));
		break;
	}
	add_value(e, fence, entry->value);
}

static void add_flow(json_object *events, const struct demo_join *join, int id, int64_t origin)
{
	json_object *e;

	e = event(events, "s", "release", join->signal->client + 1, TRACK_QUEUE,
		  join->signal->end - origin);
	json_object_object_add(e, "cat", json_object_new_string("fence"));
	json_object_object_add(e, "id", json_object_new_int(id));
	e = event(events, "f", "release", join->wait->client + 1, TRACK_QUEUE,
		  join->wait->end - origin);
	json_object_object_add(e, "cat", json_object_new_string("fence"));
	json_object_object_add(e, "id", json_object_new_int(id));
	json_object_object_add(e, "bp", json_object_new_string("e"));
}

int demo_write_json(const struct demo_result *result, const char *path)
{
	json_object *o = json_object_new_object(), *events = json_object_new_array();
	struct demo_join *join = calloc(2 * DEMO_ENTRIES, sizeof(*join));
	int64_t origin = result->begin[0];
	unsigned int i, k, n;
	int ret;

	name_tracks(events);
	for (k = 0; k < DEMO_CLIENTS; k++)
		for (i = 0; i < result->shared->report[k].entry_count; i++)
			add_entry(events, &result->shared->report[k].entry[i], origin);
	n = join ? demo_join(result, join, 2 * DEMO_ENTRIES) : 0;
	for (i = 0; i < n; i++)
		add_flow(events, &join[i], (int)i + 1, origin);
	for (i = 0; i < result->interrupt_count; i++) {
		const struct demo_interrupt *irq = &result->interrupt[i];
		json_object *e = event(events, "i", "interrupt", 3, TRACK_IRQ,
				       irq->time - origin);

		json_object_object_add(e, "s", json_object_new_string("t"));
		add_value(e, irq->node ? "copied" : "drawn", irq->value);
	}
	json_object_object_add(o, "displayTimeUnit", json_object_new_string("ns"));
	json_object_object_add(o, "traceEvents", events);
	ret = json_object_to_file_ext(path, o, JSON_C_TO_STRING_PLAIN) ? -EIO : 0;
	json_object_put(o);
	free(join);
	return ret;
}
