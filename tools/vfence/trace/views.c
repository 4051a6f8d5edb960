// SPDX-License-Identifier: GPL-2.0-only
/* vfence trace: records a workload, and writes views of what the driver and the GPU have done. */

#include <sys/stat.h>
#include <unistd.h>

#include "joins.h"
#include "perfetto.h"
#include "record.h"
#include "replay.h"
#include "timeline.h"
#include "tool.h"

#define EVENTS	"/sys/kernel/tracing/events/vfence"

/* Say what a user can do about an error. Return the error. */
static int fail(int error)
{
	switch (error) {
	case -ENOPKG:
		fputs("vfence: trace: install trace-cmd, which records\n", stderr);
		break;
	case -ENOMSG:
		fputs("vfence: trace: it has no events of vfence or vgpu\n", stderr);
		break;
	case -ENODATA:
		fputs("vfence: trace: no section has this text in its title\n", stderr);
		break;
	case -EBUSY:
		fputs("vfence: trace: another recording runs, or was killed: then remove it by rmdir "
		      RECORD_INSTANCE "\n", stderr);
		break;
	case -EIO:
		fputs("vfence: trace: trace-cmd has failed (it needs root)\n", stderr);
		break;
	default:
		fprintf(stderr, "vfence: trace: %s\n", strerror(-error));
	}
	return error;
}

static void print_summary(const struct events *events, const struct joins *joins)
{
	unsigned int counts[EVENT_KINDS] = { 0 }, i, joined = 0;

	for (i = 0; i < events->count; i++)
		counts[events->list[i].kind]++;
	for (i = 0; i < joins->count; i++)
		joined += joins->list[i].cause != NO_EVENT;
	for (i = 0; i < EVENT_KINDS; i++)
		if (counts[i])
			printf("%10u %s\n", counts[i], events_kind_name(i));
	printf("%10u waits that a signal has ended, %u of them by a signal in the trace\n",
	       joins->count, joined);
	if (events->missed)
		printf("%10llu events were lost by the tracer\n",
		       (unsigned long long)events->missed);
}

/* Write one view into a directory. */
static int write_view(const struct events *events, const struct joins *joins, const char *dir,
		      const char *name,
		      int (*write)(const struct events *, const struct joins *, const char *))
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return write(events, joins, path);
}

static int write_views(const char *file, const char *dir, const char *section)
{
	struct events events;
	struct joins joins;
	char path[4096];
	int ret = events_load(file, &events);

	if (ret)
		return ret;
	ret = joins_make(&events, &joins);
	if (!ret) {
		print_summary(&events, &joins);
		snprintf(path, sizeof(path), "%s/timeline.svg", dir);
		ret = timeline_write_svg(&events, &joins, path, section);
		ret = ret ? ret : write_view(&events, &joins, dir, "timeline.html",
					     timeline_write_html);
		ret = ret ? ret : write_view(&events, &joins, dir, "trace.pftrace", perfetto_write);
		ret = ret ? ret : write_view(&events, &joins, dir, "scenario.json", replay_write);
		joins_free(&joins);
	}
	events_free(&events);
	return ret;
}

int trace_main(const struct options *options)
{
	const char *dir = options->output ? options->output : ".";
	char file[4096];
	int ret, code = 0;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return fail(-errno);
	if (options->input)
		ret = write_views(options->input, dir, options->section);
	else if (!options->file_count && !options->watch)
		return fputs("vfence: trace: give a command, --watch S or --input FILE\n", stderr),
		       -EINVAL;
	else if (access(EVENTS, F_OK))
		return fputs("vfence: trace: no trace events; load the module, mount tracefs\n",
			     stderr), -ENOENT;
	else {
		snprintf(file, sizeof(file), "%s/trace.dat", dir);
		code = record(file, options->files, options->file_count, options->watch);
		ret = code < 0 ? code : write_views(file, dir, options->section);
	}
	if (ret)
		return fail(ret);
	if (code)
		fprintf(stderr, "vfence: trace: the command has failed, with code %d\n", code);
	return code;
}
