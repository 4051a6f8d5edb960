// SPDX-License-Identifier: GPL-2.0-only
/* What happens in a run of vfence bench functions: the commands of world switches, from a tracepoint. */

#include <stdlib.h>

#include "bench_functions.h"
#include "tool.h"
#include "trace/live.h"

#define WORLD	"vfence_vf_switch"
/* Events for which memory is allocated at once. */
#define MORE	4096

/* A recording gets the commands that one adapter's host gives its graphics engines. */
struct tracing {
	struct recording *recording;
	unsigned int adapter;
	unsigned int room;
};

static int record_command(struct tep_event *event, struct tep_record *record, int cpu,
			  void *context)
{
	struct tracing *t = context;
	struct recording *r = t->recording;
	unsigned long long adapter, group, command, function, result;
	struct world_event *more;

	(void)cpu;
	if (tep_get_field_val(NULL, event, "adapter", record, &adapter, 0) ||
	    tep_get_field_val(NULL, event, "group", record, &group, 0) ||
	    tep_get_field_val(NULL, event, "command", record, &command, 0) ||
	    tep_get_field_val(NULL, event, "function", record, &function, 0) ||
	    tep_get_field_val(NULL, event, "result", record, &result, 0))
		return 0;
	if (adapter != t->adapter || group || result)
		return 0;
	if (r->events == t->room) {
		t->room += MORE;
		more = realloc(r->event, t->room * sizeof(*more));
		if (!more)
			return -1;
		r->event = more;
	}
	r->event[r->events++] = (struct world_event){
		.at = (int64_t)record->ts - r->begin,
		.command = (unsigned int)command,
		.function = (unsigned int)function,
	};
	return 0;
}

bool recording_start(void)
{
	return !trace_start(WORLD);
}

int recording_stop(struct recording *r, unsigned int adapter)
{
	struct tracing tracing = { r, adapter, 0 };

	return trace_stop(WORLD, record_command, &tracing) ? -EIO : 0;
}

void recording_forget(struct recording *r)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		free(r->submitted[i]);
		free(r->done[i]);
	}
	free(r->event);
	memset(r, 0, sizeof(*r));
}
