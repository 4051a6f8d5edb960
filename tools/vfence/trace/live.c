// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the driver's tracepoints. They are traced in a separate trace instance on the
 * monotonic clock, which other users of tracing do not disturb.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "record.h"

#define INSTANCE "vfence-demo"
#define MARKER	RECORD_INSTANCE "/trace_marker"

static struct tracefs_instance *instance;

/* Return 0, or an error: then do not call trace_stop(). */
int trace_start(const char *event)
{
	instance = tracefs_instance_create(INSTANCE);
	if (!instance)
		return -errno;
	if (tracefs_instance_file_write(instance, "trace_clock", "mono") < 0 ||
	    tracefs_event_enable(instance, "vfence", event) < 0) {
		tracefs_instance_destroy(instance);
		tracefs_instance_free(instance);
		instance = NULL;
		return -ENOENT;
	}
	return 0;
}

/*
 * Read the formats that decoding one event needs. Do not use tracefs_local_events_system():
 * it reads the names of all functions of the kernel first.
 */
static struct tep_handle *event_format(const char *event)
{
	struct tep_handle *tep = tep_alloc();
	char *header, *format;
	int length, ret = -1;

	if (!tep)
		return NULL;
	tep_set_page_size(tep, getpagesize());
	tep_set_file_bigendian(tep, tep_is_local_bigendian(tep) ? TEP_BIG_ENDIAN :
								  TEP_LITTLE_ENDIAN);
	header = tracefs_instance_file_read(NULL, "events/header_page", &length);
	if (header && !tep_parse_header_page(tep, header, (unsigned long)length, sizeof(long))) {
		format = tracefs_event_file_read(NULL, "vfence", event, "format", &length);
		if (format)
			ret = tep_parse_event(tep, format, (unsigned long)length, "vfence");
		free(format);
	}
	free(header);
	if (!ret)
		return tep;
	tep_free(tep);
	return NULL;
}

int trace_stop(const char *event, trace_record *record, void *context)
{
	struct tep_handle *tep;
	int ret = -ENOMEM;

	tracefs_event_disable(instance, "vfence", event);
	tep = event_format(event);
	if (tep)
		ret = tracefs_iterate_raw_events(tep, instance, NULL, 0, record, context);
	tep_free(tep);
	tracefs_instance_destroy(instance);
	tracefs_instance_free(instance);
	instance = NULL;
	return ret;
}

/* Write a mark into the trace, if vfence trace records: see struct trace_mark. */
void trace_mark(const char *text)
{
	int fd = open(MARKER, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	/* Without the mark the trace is as good. */
	if (write(fd, text, strlen(text)) < 0)
		errno = 0;
	close(fd);
}
