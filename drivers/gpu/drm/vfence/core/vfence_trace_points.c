// SPDX-License-Identifier: GPL-2.0-only
/* Definitions of the driver's tracepoints. */

#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "vfence_trace.h"
