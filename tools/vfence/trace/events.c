// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of a trace: what trace-cmd has recorded, as an array of events. All views of a trace
 * are made from it.
 */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <trace-cmd/trace-cmd.h>

#include "../text.h"
#include "events.h"

static const struct {
	const char *system, *name;
} kinds[EVENT_KINDS] = {
	[EVENT_DOORBELL] = { "vgpu", "vgpu_doorbell" },
	[EVENT_TURN] = { "vgpu", "vgpu_turn" },
	[EVENT_WAIT] = { "vgpu", "vgpu_wait" },
	[EVENT_SIGNAL] = { "vgpu", "vgpu_signal" },
	[EVENT_DECIDE] = { "vgpu", "vgpu_decide" },
	[EVENT_WRITE] = { "vgpu", "vgpu_write" },
	[EVENT_LOG] = { "vgpu", "vgpu_log" },
	[EVENT_RECHECK] = { "vgpu", "vgpu_recheck" },
	[EVENT_INTERRUPT] = { "vgpu", "vgpu_interrupt" },
	[EVENT_HANDLE] = { "vfence", "vfence_handle" },
	[EVENT_CPU_SIGNAL] = { "vfence", "vfence_signal" },
	[EVENT_MONITORED] = { "vfence", "vfence_monitored" },
	[EVENT_WAITER] = { "vfence", "vfence_waiter" },
	[EVENT_CPU_WAIT] = { "vfence", "vfence_wait" },
	[EVENT_EVENT] = { "vfence", "vfence_event" },
	[EVENT_HANDLED] = { "vfence", "vfence_interrupt" },
	[EVENT_CROSS] = { "vfence", "vfence_cross_adapter" },
	[EVENT_QUEUE] = { "vfence", "vfence_queue" },
	[EVENT_CONNECT] = { "vfence", "vfence_connect" },
	[EVENT_SUBMISSION] = { "vfence", "vfence_submission" },
	[EVENT_SUSPENSION] = { "vfence", "vfence_suspension" },
	[EVENT_SIGNAL_LOGGED] = { "vfence", "vfence_signal_executed" },
	[EVENT_WAIT_LOGGED] = { "vfence", "vfence_wait_unblocked" },
	[EVENT_MARKER] = { "vfence", "vfence_marker" },
	[EVENT_LOG_LOST] = { "vfence", "vfence_log_lost" },
	[EVENT_CLOCK] = { "vfence", "vfence_clock" },
	[EVENT_RECOVERY] = { "vfence", "vfence_recovery" },
	[EVENT_WORLD] = { "vfence", "vfence_vf_switch" },
	[EVENT_RESET] = { "vfence", "vfence_adapter_reset" },
	[EVENT_DEVICE] = { "vfence", "vfence_device" },
	[EVENT_LOST] = { "tracer", "lost_events" },
};

/* Where a field of an event goes. Fields of one meaning go to one member. */
static const struct {
	const char *name;
	size_t offset, size;
} fields[] = {
#define FIELD(name, member) \
	{ #name, offsetof(struct event, member), sizeof(((struct event *)0)->member) }
	FIELD(adapter, adapter), FIELD(function, function), FIELD(node, node), FIELD(queue, queue),
	FIELD(fence, fence), FIELD(context, context), FIELD(handle, handle), FIELD(value, value),
	FIELD(counter_value, value), FIELD(by, by), FIELD(monitored, monitored),
	FIELD(wait, wait), FIELD(event, step), FIELD(step, step), FIELD(state, step),
	FIELD(result, result), FIELD(error, result), FIELD(progress, progress),
	FIELD(turn, turn), FIELD(observed, observed), FIELD(ns, ns), FIELD(lost, lost),
	FIELD(from, from), FIELD(log, log), FIELD(interrupts, interrupts), FIELD(opened, opened),
	FIELD(native, native), FIELD(cross, cross), FIELD(kernel, kernel), FIELD(created, created),
	FIELD(to_adapter, to_adapter), FIELD(to_function, to_function),
	FIELD(to_fence, to_fence), FIELD(points, points), FIELD(completed, completed),
	FIELD(group, group), FIELD(command, command), FIELD(physical, physical),
	FIELD(status, status), FIELD(posts, posts), FIELD(any, any),
	FIELD(track_event_type, type),
#undef FIELD
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

/* The fields of one kind of event, as the trace describes them. */
struct format {
	enum event_kind kind;
	struct tep_format_field *field[N_FIELDS];
	/* A field of this name is a time in most events, and a flag of points. */
	struct tep_format_field *gpu, *pid;
};

struct loader {
	struct events *events;
	unsigned int room;
	/* The formats, by the id of the event; kind is EVENT_KINDS for all other events. */
	struct format *format;
	int ids;
	/* The id of what programs have written to trace_marker, and its field. */
	int mark_id;
	struct tep_format_field *mark;
	/* The time of the last event of each processor, where a gap begins. */
	uint64_t *last;
	int cpus;
	int error;
};

/* Return: a new event at the end, or NULL without memory. */
static struct event *loader_add(struct loader *loader)
{
	struct events *events = loader->events;

	if (events->count == loader->room) {
		unsigned int room = loader->room ? 2 * loader->room : 1024;
		void *more = realloc(events->list, room * sizeof(*events->list));

		if (!more) {
			loader->error = -ENOMEM;
			return NULL;
		}
		events->list = more;
		loader->room = room;
	}
	memset(&events->list[events->count], 0, sizeof(*events->list));
	return &events->list[events->count++];
}

static void loader_store(struct event *to, size_t offset, size_t size, unsigned long long value)
{
	/* The machine is little endian, so that the low bytes come first. */
	memcpy((char *)to + offset, &value, size);
}

/* Read a number. A file may say of a field what it likes: one outside of the record is none. */
static bool loader_number(const struct tep_format_field *field, const struct tep_record *record,
			  unsigned long long *value)
{
	if (!field || field->offset < 0 || field->size < 1 || field->size > 8 ||
	    field->offset > record->size || field->size > record->size - field->offset)
		return false;
	return !tep_read_number_field((struct tep_format_field *)field, record->data, value);
}

static void loader_fill(struct event *to, const struct format *format, struct tep_record *record)
{
	unsigned long long value;
	size_t i;

	for (i = 0; i < N_FIELDS; i++)
		if (loader_number(format->field[i], record, &value))
			loader_store(to, fields[i].offset, fields[i].size, value);
	if (loader_number(format->pid, record, &value))
		to->pid = (int)value;
	if (!loader_number(format->gpu, record, &value))
		return;
	if (to->kind == EVENT_WAITER)
		to->gpu_wait = (uint32_t)value;
	else
		to->gpu = value;
}

/* Keep a line of trace_marker that has one of our letters. */
static void loader_mark(struct loader *loader, const struct tep_record *record)
{
	struct events *events = loader->events;
	int offset = loader->mark->offset, size;
	char line[sizeof(((struct trace_mark *)0)->text)];
	struct trace_mark *more;
	const char *text;

	if (offset < 0 || offset > record->size - 3)
		return;
	size = record->size - offset;
	text = (const char *)record->data + offset;
	if (!*text || !strchr("BEW", *text) || text[1] != '|')
		return;
	more = realloc(events->marks, (events->mark_count + 1) * sizeof(*more));
	if (!more) {
		loader->error = -ENOMEM;
		return;
	}
	events->marks = more;
	more += events->mark_count++;
	more->time = record->ts;
	snprintf(line, sizeof(line), "%.*s", size, text);
	line[strcspn(line, "\n")] = 0;
	text_clean(more->text, sizeof(more->text), line);
}

/* Return: the time of the last event of a processor before this one, or 0. */
static uint64_t loader_time(struct loader *loader, int cpu, uint64_t time)
{
	uint64_t before;

	if (cpu < 0)
		return 0;
	if (cpu >= loader->cpus) {
		uint64_t *more = realloc(loader->last, (size_t)(cpu + 1) * sizeof(*more));

		if (!more)
			return 0;
		memset(more + loader->cpus, 0,
		       (size_t)(cpu + 1 - loader->cpus) * sizeof(*more));
		loader->last = more;
		loader->cpus = cpu + 1;
	}
	before = loader->last[cpu];
	loader->last[cpu] = time;
	return before;
}

static int loader_record(struct tracecmd_input *input, struct tep_record *record, int cpu,
			 void *context)
{
	struct loader *loader = context;
	struct tep_event *event = tep_find_event_by_record(tracecmd_get_tep(input), record);
	uint64_t before = loader_time(loader, cpu, record->ts);
	struct format *format;
	struct event *to;

	if (record->missed_events) {
		to = loader_add(loader);
		if (!to)
			return -1;
		to->kind = EVENT_LOST;
		to->time = record->ts;
		to->from = before;
		to->cpu = cpu;
		/* The ring buffer may have lost the count, too. */
		to->lost = record->missed_events > 0 ? (uint64_t)record->missed_events : 1;
		loader->events->missed += to->lost;
	}
	if (event && loader->mark && event->id == loader->mark_id)
		loader_mark(loader, record);
	if (!event || event->id < 0 || event->id >= loader->ids)
		return 0;
	format = &loader->format[event->id];
	if (format->kind == EVENT_KINDS)
		return 0;
	to = loader_add(loader);
	if (!to)
		return -1;
	to->kind = format->kind;
	to->time = record->ts;
	to->cpu = cpu;
	loader_fill(to, format, record);
	return 0;
}

static int loader_add_format(struct loader *loader, enum event_kind kind, struct tep_event *event)
{
	struct format *format;
	size_t k;
	int i;

	if (event->id < 0)
		return -EINVAL;
	if (event->id >= loader->ids) {
		format = realloc(loader->format, (size_t)(event->id + 1) * sizeof(*format));
		if (!format)
			return -ENOMEM;
		for (i = loader->ids; i <= event->id; i++)
			format[i] = (struct format){ .kind = EVENT_KINDS };
		loader->format = format;
		loader->ids = event->id + 1;
	}
	format = &loader->format[event->id];
	format->kind = kind;
	for (k = 0; k < N_FIELDS; k++)
		format->field[k] = tep_find_field(event, fields[k].name);
	format->gpu = tep_find_field(event, "gpu");
	format->pid = tep_find_common_field(event, "common_pid");
	return 0;
}

/* Look kinds and fields up once, and not for each record. */
static int loader_prepare(struct loader *loader, struct tep_handle *tep)
{
	struct tep_event *print = tep_find_event_by_name(tep, "ftrace", "print");
	enum event_kind kind;
	int ret = -ENOMSG;

	loader->mark = print ? tep_find_field(print, "buf") : NULL;
	loader->mark_id = print ? print->id : -1;

	for (kind = 0; kind < EVENT_LOST; kind++) {
		struct tep_event *event = tep_find_event_by_name(tep, kinds[kind].system,
								 kinds[kind].name);

		if (!event)
			continue;
		ret = loader_add_format(loader, kind, event);
		if (ret)
			break;
	}
	return ret;
}

static int by_mark_time(const void *a, const void *b)
{
	const struct trace_mark *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	/* Those of one processor are in order already. */
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Read the instances of the tracer, in one of which vfence trace records. */
static int loader_read_instances(struct loader *loader, struct tracecmd_input *input)
{
	int i, ret, n = tracecmd_buffer_instances(input);

	for (i = 0; i < n; i++) {
		struct tracecmd_input *buffer = tracecmd_buffer_instance_handle(input, i);

		if (!buffer)
			continue;
		loader->cpus = 0;
		ret = tracecmd_iterate_events(buffer, NULL, 0, loader_record, loader);
		tracecmd_close(buffer);
		if (ret)
			return loader->error ? loader->error : -EINVAL;
	}
	return 0;
}

/* What is in an instance may be in the buffer of the tracer once more: read one of them. */
static int loader_read(struct loader *loader, struct tracecmd_input *input)
{
	struct events *events = loader->events;
	int ret = loader_read_instances(loader, input);
	unsigned int k;

	loader->cpus = 0;
	if (!ret && !events->count &&
	    tracecmd_iterate_events(input, NULL, 0, loader_record, loader))
		ret = loader->error ? loader->error : -EINVAL;
	if (!ret && !events->count)
		ret = -ENOMSG;
	if (ret)
		return ret;
	for (k = 0; k < events->count; k++)
		events->list[k].order = k;
	qsort(events->list, events->count, sizeof(*events->list), by_time);
	if (events->mark_count)
		qsort(events->marks, events->mark_count, sizeof(*events->marks), by_mark_time);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct trace_name *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Keep the names of the threads that have made events. */
static int loader_names(struct events *events, struct tep_handle *tep)
{
	struct trace_name *names = calloc(events->count + 1, sizeof(*names));
	unsigned int i, n = 0;

	if (!names)
		return -ENOMEM;
	for (i = 0; i < events->count; i++)
		names[i].pid = events->list[i].pid;
	qsort(names, events->count, sizeof(*names), by_pid);
	for (i = 0; i < events->count; i++) {
		const char *comm;

		if (n && names[n - 1].pid == names[i].pid)
			continue;
		names[n].pid = names[i].pid;
		comm = tep_data_comm_from_pid(tep, names[n].pid);
		text_clean(names[n++].comm, sizeof(names->comm), comm ? comm : "");
	}
	events->names = names;
	events->name_count = n;
	return 0;
}

/*
 * Load a trace that trace-cmd has recorded. Return: 0, or a negative error: -ENOMSG if it has no
 * event of the driver.
 */
int events_load(const char *path, struct events *events)
{
	struct loader loader = { .events = events };
	struct tracecmd_input *input;

	memset(events, 0, sizeof(*events));
	tracecmd_set_loglevel(TEP_LOG_CRITICAL);
	input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!input)
		return errno == ENOENT || errno == EACCES ? -errno : -EINVAL;
	loader.error = loader_prepare(&loader, tracecmd_get_tep(input));
	if (!loader.error)
		loader.error = loader_read(&loader, input);
	if (!loader.error)
		loader.error = loader_names(events, tracecmd_get_tep(input));
	tracecmd_close(input);
	free(loader.format);
	free(loader.last);
	if (loader.error)
		events_free(events);
	return loader.error;
}

void events_free(struct events *events)
{
	free(events->list);
	free(events->names);
	free(events->marks);
	memset(events, 0, sizeof(*events));
}

const char *events_kind_name(enum event_kind kind)
{
	return kinds[kind].name;
}

/* Return: the name of a thread, or an empty one. */
const char *events_comm(const struct events *events, int pid)
{
	const struct trace_name key = { .pid = pid };
	const struct trace_name *name = bsearch(&key, events->names, events->name_count,
						sizeof(key), by_pid);

	return name ? name->comm : "";
}

/* The name of the field that is in the member @step. */
static const char *step_name(enum event_kind kind)
{
	switch (kind) {
	case EVENT_WAITER:
		return "event";
	case EVENT_TURN:
	case EVENT_DOORBELL:
	case EVENT_DEVICE:
		return "state";
	default:
		return "step";
	}
}

/* Return: true if a line has the field: one of those of each member. */
static bool is_printed(const char *name)
{
	static const char *const others[] = {
		"track_event_type", "counter_value", "step", "state", "result", "error",
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

/* Print an event in one line, with the fields that are not 0. */
void events_print(const struct events *events, const struct event *event, FILE *to)
{
	uint64_t time = event->time - events->list[0].time;
	size_t i;

	fprintf(to, "%9llu.%03llu us  %-22s", (unsigned long long)(time / 1000),
		(unsigned long long)(time % 1000), kinds[event->kind].name);
	if (event->type)
		fprintf(to, " %c", event->type);
	for (i = 0; i < N_FIELDS; i++) {
		const char *name = fields[i].offset == offsetof(struct event, step) ?
				   step_name(event->kind) : fields[i].name;
		uint64_t value = 0;

		if (!is_printed(fields[i].name))
			continue;
		memcpy(&value, (const char *)event + fields[i].offset, fields[i].size);
		if (value == UINT64_MAX)
			fprintf(to, " %s=max", name);
		else if (value && fields[i].offset == offsetof(struct event, wait))
			fprintf(to, " %s=%llx", name, (unsigned long long)value);
		else if (value)
			fprintf(to, " %s=%llu", name, (unsigned long long)value);
	}
	if (event->result)
		fprintf(to, " result=%d", event->result);
	fprintf(to, "  [%s]\n", events_comm(events, event->pid));
}
