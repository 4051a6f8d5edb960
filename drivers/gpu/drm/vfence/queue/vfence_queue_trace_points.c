// SPDX-License-Identifier: GPL-2.0-only
/* Definitions of the tracepoints of queues. */

#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "vfence_queue_trace.h"
