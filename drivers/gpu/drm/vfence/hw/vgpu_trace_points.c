// SPDX-License-Identifier: GPL-2.0-only
/* Tracepoints of the virtual GPU. */

#include <linux/types.h>

#define CREATE_TRACE_POINTS
#include "vgpu_trace.h"
