// SPDX-License-Identifier: GPL-2.0
/* The bodies of the virtual GPU's tracepoints. */

#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "vgpu_trace.h"
