/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_TRACE_NAME_H_
#define _VFENCE_TRACE_NAME_H_

/** VFENCE_TRACE_NAME: size of the names of slices and tracks in trace events */
#define VFENCE_TRACE_NAME	48

/** VFENCE_TRACE_SCOPE: one number for an object of a function, to group events by it */
#define VFENCE_TRACE_SCOPE(adapter, function, object)				\
	((u64)(adapter) << 40 | (u64)(function) << 32 | (object))

/** VFENCE_TRACE_TYPE: text of a track_event_type; trace-cmd knows no characters */
#define VFENCE_TRACE_TYPE(type) __print_symbolic(type, { 66, "B" }, { 69, "E" }, { 73, "I" })

#endif
