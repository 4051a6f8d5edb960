/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vgpu

#if !defined(_VGPU_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _VGPU_TRACE_H_

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(vgpu_decision,
	TP_PROTO(unsigned int node, u32 fence, u64 value, u64 monitored),
	TP_ARGS(node, fence, value, monitored),
	TP_STRUCT__entry(
		__field(unsigned int, node)
		__field(u32, fence)
		__field(u64, value)
		__field(u64, monitored)
	),
	TP_fast_assign(
		__entry->node = node;
		__entry->fence = fence;
		__entry->value = value;
		__entry->monitored = monitored;
	),
	TP_printk("node=%u fence=%u value=%llu monitored=%llu", __entry->node, __entry->fence,
		  __entry->value, __entry->monitored)
);

DEFINE_EVENT(vgpu_decision, vgpu_interrupt_due,
	TP_PROTO(unsigned int node, u32 fence, u64 value, u64 monitored),
	TP_ARGS(node, fence, value, monitored)
);

DEFINE_EVENT(vgpu_decision, vgpu_interrupt_suppressed,
	TP_PROTO(unsigned int node, u32 fence, u64 value, u64 monitored),
	TP_ARGS(node, fence, value, monitored)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE vgpu_trace
#include <trace/define_trace.h>
