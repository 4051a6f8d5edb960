/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_LIVE_H
#define VFENCE_LIVE_H

#include <tracefs.h>

/* Called for each event; @context is that of trace_stop(). */
typedef int trace_record(struct tep_event *event, struct tep_record *record, int cpu,
			 void *context);

int trace_start(const char *event);
int trace_stop(const char *event, trace_record *record, void *context);
void trace_mark(const char *text);

#endif
