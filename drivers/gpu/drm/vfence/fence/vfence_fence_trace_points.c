// SPDX-License-Identifier: GPL-2.0-only
/* Definitions of the tracepoints of fences. */

#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "vfence_fence_trace.h"
