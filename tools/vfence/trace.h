/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_DEMO_TRACE_H
#define VFENCE_DEMO_TRACE_H

#include <tracefs.h>

/* Called for each event; @context is that of demo_trace_stop(). */
typedef int demo_trace_record(struct tep_event *event, struct tep_record *record, int cpu,
			      void *context);

int demo_trace_start(const char *event);
int demo_trace_stop(const char *event, demo_trace_record *record, void *context);

#endif
