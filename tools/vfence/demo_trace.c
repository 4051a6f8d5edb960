// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupts of the demo, from the driver's tracepoint. They are traced in a separate
 * trace instance on the monotonic clock, which other users of tracing do not disturb.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracefs.h>

#include "demo.h"

#define INSTANCE "vfence-demo"

static struct tracefs_instance *instance;

int demo_trace_start(void)
{
	instance = tracefs_instance_create(INSTANCE);
	if (!instance)
		return -errno;
	if (tracefs_instance_file_write(instance, "trace_clock", "mono") < 0 ||
	    tracefs_event_enable(instance, "vfence", "vfence_interrupt") < 0) {
		tracefs_instance_destroy(instance);
		tracefs_instance_free(instance);
		instance = NULL;
		return -ENOENT;
	}
	return 0;
}

static int record(struct tep_event *event, struct tep_record *rec, int cpu, void *context)
{
	struct demo_result *result = context;
	unsigned int n = result->interrupt_count;
	unsigned long long node, value, completed;

	(void)cpu;
	if (!(n & (n - 1))) {
		void *more = realloc(result->interrupt,
				     sizeof(*result->interrupt) * (n ? 2 * n : 1));

		if (!more)
			return -ENOMEM;
		result->interrupt = more;
	}
	if (tep_get_field_val(NULL, event, "node", rec, &node, 0) ||
	    tep_get_field_val(NULL, event, "value", rec, &value, 0) ||
	    tep_get_field_val(NULL, event, "completed", rec, &completed, 0))
		return 0;
	result->interrupt[n] = (struct demo_interrupt){
		.time = (int64_t)rec->ts, .value = value, .node = (unsigned int)node,
		.completed = (unsigned int)completed,
	};
	result->interrupt_count++;
	return 0;
}

/*
 * Read the formats that decoding one event needs. Do not use tracefs_local_events_system():
 * it reads the names of all functions of the kernel first.
 */
static struct tep_handle *event_format(void)
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
		format = tracefs_event_file_read(NULL, "vfence", "vfence_interrupt", "format",
						 &length);
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

int demo_trace_stop(struct demo_result *result)
{
	struct tep_handle *tep;
	int ret = -ENOMEM;

	tracefs_event_disable(instance, "vfence", "vfence_interrupt");
	tep = event_format();
	if (tep)
		ret = tracefs_iterate_raw_events(tep, instance, NULL, 0, record, result);
	tep_free(tep);
	tracefs_instance_destroy(instance);
	tracefs_instance_free(instance);
	instance = NULL;
	return ret;
}
