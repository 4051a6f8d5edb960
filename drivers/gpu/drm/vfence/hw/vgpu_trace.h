/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the virtual GPU does, when it does it. Documentation/gpu/vfence/tracing.rst has each event
 * and each field: they are an interface, as those of vfence_trace.h are.
 *
 * Perfetto draws tracks from track_event_type, slice_name, track_name, counter_value and scope_*,
 * without knowing the events.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vgpu

#if !defined(_VGPU_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _VGPU_TRACE_H_

#include <linux/tracepoint.h>

#include "vgpu_types.h"

#ifndef VGPU_TRACE_NAME
/* Size of the names of slices and tracks. */
#define VGPU_TRACE_NAME	48
/* One number for an object of a function, to group events by it. */
#define VGPU_TRACE_SCOPE(adapter, function, object)				\
	((u64)(adapter) << 40 | (u64)(function) << 32 | (object))
/* Text of a track_event_type: trace-cmd knows no characters. */
#define VGPU_TRACE_TYPE(type) __print_symbolic(type, { 66, "B" }, { 69, "E" }, { 73, "I" })
#endif

/* The hardware notices a ring: by the fault of a client, or by a call of the driver. */
TRACE_EVENT(vgpu_doorbell,
	TP_PROTO(const struct vgpu_queue *queue),
	TP_ARGS(queue),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u64, read_ptr)
		__field(u64, write_ptr)
		__field(u32, state)
	),
	TP_fast_assign(
		__entry->adapter = queue->gpu->config.adapter;
		__entry->function = queue->gpu->config.function;
		__entry->node = queue->engine->node;
		__entry->queue = queue->os_handle;
		__entry->read_ptr = READ_ONCE(queue->read_ptr);
		__entry->write_ptr = queue->control ? READ_ONCE(queue->control->write_ptr) : 0;
		__entry->state = READ_ONCE(queue->state);
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u read_ptr=%llu write_ptr=%llu state=%u",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->read_ptr, __entry->write_ptr, __entry->state)
);

/* A turn begins ('B') when an engine picks a queue, and ends ('E') when the queue leaves. */
TRACE_EVENT(vgpu_turn,
	TP_PROTO(const struct vgpu_queue *queue, u32 state),
	TP_ARGS(queue, state),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u64, turn)
		__field(u32, state)
		__dynamic_array(char, slice_name, VGPU_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = state == DRM_VFENCE_QUEUE_RUNNING ? 'B' : 'E';
		__entry->adapter = queue->gpu->config.adapter;
		__entry->function = queue->gpu->config.function;
		__entry->node = queue->engine->node;
		__entry->queue = queue->os_handle;
		__entry->turn = queue->turn;
		__entry->state = state;
		snprintf(__get_str(slice_name), VGPU_TRACE_NAME, "adapter %u.%u, queue %u",
			 __entry->adapter, __entry->function, __entry->queue);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u node=%u queue=%u turn=%llu state=%u",
		  VGPU_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->node, __entry->queue, __entry->turn, __entry->state)
);

/* A wait of a queue begins ('B') when the fence blocks it, and ends ('E') with its release. */
TRACE_EVENT(vgpu_wait,
	TP_PROTO(const struct vgpu_queue *queue, char type, u64 by),
	TP_ARGS(queue, type, by),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, fence)
		__field(u64, value)
		__field(u64, by)
		__field(u64, scope_queue)
		__dynamic_array(char, slice_name, VGPU_TRACE_NAME)
		__dynamic_array(char, track_name, VGPU_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = type;
		__entry->adapter = queue->gpu->config.adapter;
		__entry->function = queue->gpu->config.function;
		__entry->node = queue->engine->node;
		__entry->queue = queue->os_handle;
		__entry->fence = queue->block_fence->os_handle;
		__entry->value = queue->block_value;
		__entry->by = by;
		__entry->scope_queue = VGPU_TRACE_SCOPE(__entry->adapter, __entry->function,
							queue->os_handle);
		snprintf(__get_str(slice_name), VGPU_TRACE_NAME, "wait: fence %u >= %llu",
			 __entry->fence, __entry->value);
		snprintf(__get_str(track_name), VGPU_TRACE_NAME, "adapter %u.%u, queue %u waits",
			 __entry->adapter, __entry->function, __entry->queue);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u node=%u queue=%u fence=%u value=%llu by=%llu",
		  VGPU_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->node, __entry->queue, __entry->fence,
		  __entry->value, __entry->by)
);

/* An engine is about to store the current value of a native fence. */
TRACE_EVENT(vgpu_signal,
	TP_PROTO(const struct vgpu_queue *queue, const struct vgpu_fence *fence, u64 value),
	TP_ARGS(queue, fence, value),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, fence)
		__field(u64, counter_value)
		__field(u64, scope_fence)
		__dynamic_array(char, track_name, VGPU_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->adapter = queue->gpu->config.adapter;
		__entry->function = queue->gpu->config.function;
		__entry->node = queue->engine->node;
		__entry->queue = queue->os_handle;
		__entry->fence = fence->os_handle;
		__entry->counter_value = value;
		__entry->scope_fence = VGPU_TRACE_SCOPE(__entry->adapter, __entry->function,
							fence->os_handle);
		snprintf(__get_str(track_name), VGPU_TRACE_NAME, "adapter %u.%u, fence %u",
			 __entry->adapter, __entry->function, __entry->fence);
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u fence=%u value=%llu", __entry->adapter,
		  __entry->function, __entry->node, __entry->queue, __entry->fence,
		  __entry->counter_value)
);

/* The engine has compared the value with the monitored value: an interrupt is due, or not. */
TRACE_EVENT(vgpu_decide,
	TP_PROTO(const struct vgpu_queue *queue, const struct vgpu_fence *fence, u64 value,
		 u64 monitored, bool interrupts),
	TP_ARGS(queue, fence, value, monitored, interrupts),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, fence)
		__field(u64, value)
		__field(u64, monitored)
		__field(bool, interrupts)
	),
	TP_fast_assign(
		__entry->adapter = queue->gpu->config.adapter;
		__entry->function = queue->gpu->config.function;
		__entry->node = queue->engine->node;
		__entry->queue = queue->os_handle;
		__entry->fence = fence->os_handle;
		__entry->value = value;
		__entry->monitored = monitored;
		__entry->interrupts = interrupts;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u fence=%u value=%llu monitored=%llu interrupts=%d",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->fence, __entry->value, __entry->monitored, __entry->interrupts)
);

/* An engine is about to write a monitored fence, which to the hardware is memory. */
TRACE_EVENT(vgpu_write,
	TP_PROTO(const struct vgpu_queue *queue, u64 va, u64 value),
	TP_ARGS(queue, va, value),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u64, va)
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->adapter = queue->gpu->config.adapter;
		__entry->function = queue->gpu->config.function;
		__entry->node = queue->engine->node;
		__entry->queue = queue->os_handle;
		__entry->va = va;
		__entry->value = value;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u va=0x%llx value=%llu",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->va, __entry->value)
);

/* An engine is about to write an entry of a log. */
TRACE_EVENT(vgpu_log,
	TP_PROTO(const struct vgpu_queue *queue, const struct drm_vfence_log_entry *what),
	TP_ARGS(queue, what),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, log)
		__field(u64, value)
		__field(u64, gpu)
	),
	TP_fast_assign(
		__entry->adapter = queue->gpu->config.adapter;
		__entry->function = queue->gpu->config.function;
		__entry->node = queue->engine->node;
		__entry->queue = queue->os_handle;
		__entry->log = what->operation == DRM_VFENCE_LOG_WAIT_UNBLOCKED ?
			       DRM_VFENCE_LOG_WAITS : DRM_VFENCE_LOG_SIGNALS;
		__entry->value = what->fence_value;
		__entry->gpu = what->end_gpu_timestamp;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u log=%u value=%llu gpu=%llu",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->log, __entry->value, __entry->gpu)
);

/* The CMP compares once more: the monitored value has risen since, and no interrupt is due. */
TRACE_EVENT(vgpu_recheck,
	TP_PROTO(const struct vgpu_fence *fence, u64 value, u64 monitored),
	TP_ARGS(fence, value, monitored),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, fence)
		__field(u64, value)
		__field(u64, monitored)
	),
	TP_fast_assign(
		__entry->adapter = fence->gpu->config.adapter;
		__entry->function = fence->gpu->config.function;
		__entry->fence = fence->os_handle;
		__entry->value = value;
		__entry->monitored = monitored;
	),
	TP_printk("adapter=%u function=%u fence=%u value=%llu monitored=%llu", __entry->adapter,
		  __entry->function, __entry->fence, __entry->value, __entry->monitored)
);

/* The CMP raises the vector; the record of @posts posts is in the ring, unless it was full. */
TRACE_EVENT(vgpu_interrupt,
	TP_PROTO(const struct vgpu *gpu, u32 type, u32 node, u32 posts, u32 lost),
	TP_ARGS(gpu, type, node, posts, lost),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, type)
		__field(u32, posts)
		__field(u32, lost)
		__dynamic_array(char, slice_name, VGPU_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = 'I';
		__entry->adapter = gpu->config.adapter;
		__entry->function = gpu->config.function;
		__entry->node = node;
		__entry->type = type;
		__entry->posts = posts;
		__entry->lost = lost;
		snprintf(__get_str(slice_name), VGPU_TRACE_NAME, "interrupt, type %u, node %u",
			 type, node);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u node=%u type=%u posts=%u lost=0x%x",
		  VGPU_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->node, __entry->type, __entry->posts, __entry->lost)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE vgpu_trace
#include <trace/define_trace.h>
