// SPDX-License-Identifier: GPL-2.0-only
/* The bodies of the virtual GPU's tracepoints. */

#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "vgpu_trace.h"
