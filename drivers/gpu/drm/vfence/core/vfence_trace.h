/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vfence

#if !defined(_VFENCE_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _VFENCE_TRACE_H_

#include <linux/tracepoint.h>

TRACE_EVENT(vfence_signal_executed,
	TP_PROTO(u32 queue, u32 fence, u64 value, u64 end),
	TP_ARGS(queue, fence, value, end),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u32, fence)
		__field(u64, value)
		__field(u64, end)
	),
	TP_fast_assign(
		__entry->queue = queue;
		__entry->fence = fence;
		__entry->value = value;
		__entry->end = end;
	),
	TP_printk("queue=%u fence=%u value=%llu gpu=%llu", __entry->queue, __entry->fence,
		  __entry->value, __entry->end)
);

TRACE_EVENT(vfence_wait_unblocked,
	TP_PROTO(u32 queue, u32 fence, u64 value, u64 observed, u64 end),
	TP_ARGS(queue, fence, value, observed, end),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u32, fence)
		__field(u64, value)
		__field(u64, observed)
		__field(u64, end)
	),
	TP_fast_assign(
		__entry->queue = queue;
		__entry->fence = fence;
		__entry->value = value;
		__entry->observed = observed;
		__entry->end = end;
	),
	TP_printk("queue=%u fence=%u value=%llu observed=%llu gpu=%llu", __entry->queue,
		  __entry->fence, __entry->value, __entry->observed, __entry->end)
);

TRACE_EVENT(vfence_marker,
	TP_PROTO(u32 queue, u64 value, u64 end),
	TP_ARGS(queue, value, end),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u64, value)
		__field(u64, end)
	),
	TP_fast_assign(
		__entry->queue = queue;
		__entry->value = value;
		__entry->end = end;
	),
	TP_printk("queue=%u value=%llu gpu=%llu", __entry->queue, __entry->value, __entry->end)
);

TRACE_EVENT(vfence_interrupt,
	TP_PROTO(u32 node, u32 fence, u64 value, unsigned int completed),
	TP_ARGS(node, fence, value, completed),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, fence)
		__field(u64, value)
		__field(unsigned int, completed)
	),
	TP_fast_assign(
		__entry->node = node;
		__entry->fence = fence;
		__entry->value = value;
		__entry->completed = completed;
	),
	TP_printk("node=%u fence=%u value=%llu completed=%u", __entry->node, __entry->fence,
		  __entry->value, __entry->completed)
);

TRACE_EVENT(vfence_monitored,
	TP_PROTO(u32 fence, u64 from, u64 to),
	TP_ARGS(fence, from, to),
	TP_STRUCT__entry(
		__field(u32, fence)
		__field(u64, from)
		__field(u64, to)
	),
	TP_fast_assign(
		__entry->fence = fence;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("fence=%u from=%llu to=%llu", __entry->fence, __entry->from, __entry->to)
);

/* The steps are those of reset/vfence_recovery.c. */
TRACE_EVENT(vfence_recovery,
	TP_PROTO(u32 adapter, unsigned int node, unsigned int step, u64 submitted, u64 completed,
		 u64 aborted),
	TP_ARGS(adapter, node, step, submitted, completed, aborted),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(unsigned int, node)
		__field(unsigned int, step)
		__field(u64, submitted)
		__field(u64, completed)
		__field(u64, aborted)
	),
	TP_fast_assign(
		__entry->adapter = adapter;
		__entry->node = node;
		__entry->step = step;
		__entry->submitted = submitted;
		__entry->completed = completed;
		__entry->aborted = aborted;
	),
	TP_printk("adapter=%u node=%u step=%u submitted=%llu completed=%llu aborted=%llu",
		  __entry->adapter, __entry->node, __entry->step, __entry->submitted,
		  __entry->completed, __entry->aborted)
);

/* The commands are those of include/vgpu_world.h. */
TRACE_EVENT(vfence_world,
	TP_PROTO(u32 adapter, unsigned int group, unsigned int command, unsigned int function,
		 int result),
	TP_ARGS(adapter, group, command, function, result),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(unsigned int, group)
		__field(unsigned int, command)
		__field(unsigned int, function)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->adapter = adapter;
		__entry->group = group;
		__entry->command = command;
		__entry->function = function;
		__entry->result = result;
	),
	TP_printk("adapter=%u group=%u command=0x%x function=%u result=%d", __entry->adapter,
		  __entry->group, __entry->command, __entry->function, __entry->result)
);

TRACE_EVENT(vfence_adapter_reset,
	TP_PROTO(u32 adapter, unsigned int type, bool begins),
	TP_ARGS(adapter, type, begins),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(unsigned int, type)
		__field(bool, begins)
	),
	TP_fast_assign(
		__entry->adapter = adapter;
		__entry->type = type;
		__entry->begins = begins;
	),
	TP_printk("adapter=%u type=%u begins=%d", __entry->adapter, __entry->type,
		  __entry->begins)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE vfence_trace
#include <trace/define_trace.h>
