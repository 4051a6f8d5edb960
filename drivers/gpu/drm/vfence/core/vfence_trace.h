/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver does with adapters and devices, when it does it. An interface: see
 * Documentation/gpu/vfence/tracing.rst, and hw/vgpu_trace.h for the fields that Perfetto knows.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vfence

#if !defined(_VFENCE_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _VFENCE_TRACE_H_

#include <linux/tracepoint.h>

#include "core/vfence_adapter.h"
#include "core/vfence_trace_name.h"

/* The steps are those of reset/vfence_recovery.c. */
TRACE_EVENT(vfence_recovery,
	TP_PROTO(const struct vfence_adapter *adapter, u32 node, u32 step, u64 submitted,
		     u64 completed, u64 aborted),
	TP_ARGS(adapter, node, step, submitted, completed, aborted),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, step)
		__field(u64, submitted)
		__field(u64, completed)
		__field(u64, aborted)
	),
	TP_fast_assign(
		__entry->adapter = adapter->config.gpu.adapter;
		__entry->function = adapter->config.vf;
		__entry->node = node;
		__entry->step = step;
		__entry->submitted = submitted;
		__entry->completed = completed;
		__entry->aborted = aborted;
	),
	TP_printk("adapter=%u function=%u node=%u step=%u submitted=%llu completed=%llu aborted=%llu",
		  __entry->adapter, __entry->function, __entry->node, __entry->step,
		  __entry->submitted, __entry->completed, __entry->aborted)
);

/* The commands are those of include/vgpu_vf_switch.h, for @function, which may be another one. */
TRACE_EVENT(vfence_vf_switch,
	TP_PROTO(const struct vfence_adapter *adapter, u32 function, u32 group, u32 command,
		     int result),
	TP_ARGS(adapter, function, group, command, result),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, group)
		__field(u32, command)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->adapter = adapter->config.gpu.adapter;
		__entry->function = function;
		__entry->group = group;
		__entry->command = command;
		__entry->result = result;
	),
	TP_printk("adapter=%u function=%u group=%u command=0x%x result=%d",
		  __entry->adapter, __entry->function, __entry->group, __entry->command,
		  __entry->result)
);

/* A reset of the whole GPU begins ('B') or ends ('E'). */
TRACE_EVENT(vfence_adapter_reset,
	TP_PROTO(const struct vfence_adapter *adapter, u32 type, char event, int result),
	TP_ARGS(adapter, type, event, result),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, type)
		__field(int, result)
		__field(u32, scope_adapter)
		__dynamic_array(char, slice_name, VFENCE_TRACE_NAME)
		__dynamic_array(char, track_name, VFENCE_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = event;
		__entry->adapter = adapter->config.gpu.adapter;
		__entry->function = adapter->config.vf;
		__entry->type = type;
		__entry->result = result;
		__entry->scope_adapter = __entry->adapter << 8 | __entry->function;
		snprintf(__get_str(slice_name), VFENCE_TRACE_NAME, "reset, type %u", type);
		snprintf(__get_str(track_name), VFENCE_TRACE_NAME, "adapter %u.%u resets",
			 __entry->adapter, __entry->function);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u type=%u result=%d",
		  VFENCE_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->type, __entry->result)
);

/* A device is lost. The states are those of enum drm_vfence_device_state. */
TRACE_EVENT(vfence_device,
	TP_PROTO(const struct vfence_adapter *adapter, const void *device, u32 state),
	TP_ARGS(adapter, device, state),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(const void *, device)
		__field(u32, state)
	),
	TP_fast_assign(
		__entry->adapter = adapter->config.gpu.adapter;
		__entry->function = adapter->config.vf;
		__entry->device = device;
		__entry->state = state;
	),
	TP_printk("adapter=%u function=%u device=%p state=%u",
		  __entry->adapter, __entry->function, __entry->device, __entry->state)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE vfence_trace
#include <trace/define_trace.h>
