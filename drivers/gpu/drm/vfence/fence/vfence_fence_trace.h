/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver does with fences and waits, when it does it. An interface: see
 * Documentation/gpu/vfence/tracing.rst, and hw/vgpu_trace.h for the fields that Perfetto knows.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vfence

#if !defined(_VFENCE_FENCE_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _VFENCE_FENCE_TRACE_H_

#include <linux/tracepoint.h>

#include "core/vfence_trace_name.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_wait.h"

/* A client gets a handle of a fence, maybe of a new one, or puts it. */
TRACE_EVENT(vfence_handle,
	TP_PROTO(const struct vfence_fence *fence, u32 handle, u32 rights, bool created,
		 bool opened),
	TP_ARGS(fence, handle, rights, created, opened),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, fence)
		__field(u32, handle)
		__field(u32, rights)
		__field(bool, native)
		__field(bool, cross)
		__field(bool, created)
		__field(bool, opened)
	),
	TP_fast_assign(
		__entry->adapter = fence->adapter->config.gpu.adapter;
		__entry->function = fence->adapter->config.vf;
		__entry->fence = fence->id;
		__entry->handle = handle;
		__entry->rights = rights;
		__entry->native = !vfence_fence_is_monitored(fence);
		__entry->cross = fence->cross;
		__entry->created = created;
		__entry->opened = opened;
	),
	TP_printk("adapter=%u function=%u fence=%u handle=%u rights=0x%x native=%d cross=%d created=%d opened=%d",
		  __entry->adapter, __entry->function, __entry->fence, __entry->handle,
		  __entry->rights, __entry->native, __entry->cross, __entry->created,
		  __entry->opened)
);

/* The CPU is about to store the current value of a fence. */
TRACE_EVENT(vfence_signal,
	TP_PROTO(const struct vfence_fence *fence, u64 value),
	TP_ARGS(fence, value),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, fence)
		__field(u64, counter_value)
		__field(u64, scope_fence)
		__dynamic_array(char, track_name, VFENCE_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->adapter = fence->adapter->config.gpu.adapter;
		__entry->function = fence->adapter->config.vf;
		__entry->fence = fence->id;
		__entry->counter_value = value;
		__entry->scope_fence =
			VFENCE_TRACE_SCOPE(__entry->adapter, __entry->function, __entry->fence);
		snprintf(__get_str(track_name), VFENCE_TRACE_NAME, "adapter %u.%u, fence %u",
			 __entry->adapter, __entry->function, __entry->fence);
	),
	TP_printk("adapter=%u function=%u fence=%u value=%llu",
		  __entry->adapter, __entry->function, __entry->fence, __entry->counter_value)
);

/* The driver is about to store a monitored value. */
TRACE_EVENT(vfence_monitored,
	TP_PROTO(const struct vfence_fence *fence, u64 value),
	TP_ARGS(fence, value),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, fence)
		__field(u64, from)
		__field(u64, counter_value)
		__field(u64, scope_fence)
		__dynamic_array(char, track_name, VFENCE_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->adapter = fence->adapter->config.gpu.adapter;
		__entry->function = fence->adapter->config.vf;
		__entry->fence = fence->id;
		__entry->from = fence->monitored;
		__entry->counter_value = value;
		__entry->scope_fence =
			VFENCE_TRACE_SCOPE(__entry->adapter, __entry->function, __entry->fence);
		snprintf(__get_str(track_name), VFENCE_TRACE_NAME, "adapter %u.%u, fence %u, monitored",
			 __entry->adapter, __entry->function, __entry->fence);
	),
	TP_printk("adapter=%u function=%u fence=%u from=%llu to=%llu",
		  __entry->adapter, __entry->function, __entry->fence, __entry->from,
		  __entry->counter_value)
);

/* A thread sleeps ('B'), and its call goes on ('E'). */
TRACE_EVENT(vfence_wait,
	TP_PROTO(const struct vfence_wait *wait, char type, int result),
	TP_ARGS(wait, type, result),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(const void *, wait)
		__field(u32, points)
		__field(bool, any)
		__field(int, result)
		__dynamic_array(char, slice_name, VFENCE_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = type;
		__entry->adapter = wait->adapter->config.gpu.adapter;
		__entry->function = wait->adapter->config.vf;
		__entry->wait = wait;
		__entry->points = wait->count;
		__entry->any = wait->any;
		__entry->result = result;
		snprintf(__get_str(slice_name), VFENCE_TRACE_NAME, "wait: %u points",
			 __entry->points);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u wait=%p points=%u any=%d result=%d",
		  VFENCE_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->wait, __entry->points, __entry->any, __entry->result)
);

/* A waiter enters its fence or leaves it. */
TRACE_EVENT(vfence_waiter,
	TP_PROTO(const struct vfence_waiter *waiter, enum vfence_waiter_event event, u64 by),
	TP_ARGS(waiter, event, by),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, fence)
		__field(u64, value)
		__field(const void *, wait)
		__field(bool, gpu)
		__field(u32, event)
		__field(u64, by)
		__dynamic_array(char, slice_name, VFENCE_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = 'I';
		__entry->adapter = waiter->fence->adapter->config.gpu.adapter;
		__entry->function = waiter->fence->adapter->config.vf;
		__entry->fence = waiter->fence->id;
		__entry->value = waiter->value;
		__entry->wait = waiter->wait;
		__entry->gpu = waiter->wait->gpu;
		__entry->event = event;
		__entry->by = by;
		snprintf(__get_str(slice_name), VFENCE_TRACE_NAME, "fence %u >= %llu",
			 __entry->fence, __entry->value);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u fence=%u value=%llu wait=%p gpu=%d event=%u by=%llu",
		  VFENCE_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->fence, __entry->value, __entry->wait, __entry->gpu,
		  __entry->event, __entry->by)
);

/* An eventfd is armed, fires, is signaled, or is cancelled. */
TRACE_EVENT(vfence_event,
	TP_PROTO(const struct vfence_wait *wait, u32 handle, enum vfence_event_step step),
	TP_ARGS(wait, handle, step),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, handle)
		__field(const void *, wait)
		__field(u32, step)
		__dynamic_array(char, slice_name, VFENCE_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = 'I';
		__entry->adapter = wait->adapter->config.gpu.adapter;
		__entry->function = wait->adapter->config.vf;
		__entry->handle = handle;
		__entry->wait = wait;
		__entry->step = step;
		snprintf(__get_str(slice_name), VFENCE_TRACE_NAME, "event %u, step %u",
			 handle, step);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u handle=%u wait=%p step=%u",
		  VFENCE_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->handle, __entry->wait, __entry->step)
);

/* The handler has taken a signal from the interrupt ring. */
TRACE_EVENT(vfence_interrupt,
	TP_PROTO(const struct vfence_fence *fence, u32 node, u64 value, u32 completed),
	TP_ARGS(fence, node, value, completed),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, fence)
		__field(u64, value)
		__field(u32, completed)
		__dynamic_array(char, slice_name, VFENCE_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = 'I';
		__entry->adapter = fence->adapter->config.gpu.adapter;
		__entry->function = fence->adapter->config.vf;
		__entry->node = node;
		__entry->fence = fence->id;
		__entry->value = value;
		__entry->completed = completed;
		snprintf(__get_str(slice_name), VFENCE_TRACE_NAME, "fence %u = %llu",
			 __entry->fence, value);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u node=%u fence=%u value=%llu completed=%u",
		  VFENCE_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->node, __entry->fence, __entry->value,
		  __entry->completed)
);

/* A signal is passed on to the member of another adapter. */
TRACE_EVENT(vfence_cross_adapter,
	TP_PROTO(const struct vfence_fence *fence, const struct vfence_fence *member, u64 value,
		 u64 gpu),
	TP_ARGS(fence, member, value, gpu),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, fence)
		__field(u32, to_adapter)
		__field(u32, to_function)
		__field(u32, to_fence)
		__field(u64, value)
		__field(u64, gpu)
	),
	TP_fast_assign(
		__entry->adapter = fence->adapter->config.gpu.adapter;
		__entry->function = fence->adapter->config.vf;
		__entry->fence = fence->id;
		__entry->to_adapter = member->adapter->config.gpu.adapter;
		__entry->to_function = member->adapter->config.vf;
		__entry->to_fence = member->id;
		__entry->value = value;
		__entry->gpu = gpu;
	),
	TP_printk("adapter=%u function=%u fence=%u to_adapter=%u to_function=%u to_fence=%u value=%llu gpu=%llu",
		  __entry->adapter, __entry->function, __entry->fence, __entry->to_adapter,
		  __entry->to_function, __entry->to_fence, __entry->value, __entry->gpu)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE vfence_fence_trace
#include <trace/define_trace.h>
