/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver does with queues, their logs and their submissions, when it does it. An
 * interface: see Documentation/gpu/vfence/tracing.rst, and hw/vgpu_trace.h for the fields that
 * Perfetto knows.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vfence

#if !defined(_VFENCE_QUEUE_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _VFENCE_QUEUE_TRACE_H_

#include <linux/tracepoint.h>

#include "core/vfence_trace_name.h"
#include "fence/vfence_fence.h"
#include "queue/vfence_context.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_submission.h"

/* A client creates a queue, or it ends. */
TRACE_EVENT(vfence_queue,
	TP_PROTO(const struct vfence_queue *queue, u32 handle, bool created),
	TP_ARGS(queue, handle, created),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, handle)
		__field(u32, context)
		__field(u32, progress)
		__field(bool, kernel)
		__field(bool, created)
	),
	TP_fast_assign(
		__entry->adapter = queue->adapter->config.gpu.adapter;
		__entry->function = queue->adapter->config.vf;
		__entry->node = queue->node;
		__entry->queue = queue->id;
		__entry->handle = handle;
		__entry->context = queue->context->id;
		__entry->progress = queue->progress_fence ? queue->progress_fence->id : 0;
		__entry->kernel = !queue->ops->user_mode;
		__entry->created = created;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u handle=%u context=%u progress=%u kernel=%d created=%d",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->handle, __entry->context, __entry->progress, __entry->kernel,
		  __entry->created)
);

/* A doorbell is connected or disconnected: enum drm_vfence_doorbell_status. */
TRACE_EVENT(vfence_connect,
	TP_PROTO(const struct vfence_queue *queue, int physical, u32 status),
	TP_ARGS(queue, physical, status),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(int, physical)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->adapter = queue->adapter->config.gpu.adapter;
		__entry->function = queue->adapter->config.vf;
		__entry->node = queue->node;
		__entry->queue = queue->id;
		__entry->physical = physical;
		__entry->status = status;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u physical=%d status=%u",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->physical, __entry->status)
);

/* A submission of a kernel-mode queue has come to a step. */
TRACE_EVENT(vfence_submission,
	TP_PROTO(const struct vfence_queue *queue, u64 progress, enum vfence_submission_step step,
		     int error),
	TP_ARGS(queue, progress, step, error),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u64, progress)
		__field(u32, step)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->adapter = queue->adapter->config.gpu.adapter;
		__entry->function = queue->adapter->config.vf;
		__entry->node = queue->node;
		__entry->queue = queue->id;
		__entry->progress = progress;
		__entry->step = step;
		__entry->error = error;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u progress=%llu step=%u error=%d",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->progress, __entry->step, __entry->error)
);

/* A suspension begins ('B'), has taken the context off its engine ('I'), and ends ('E'). */
TRACE_EVENT(vfence_suspension,
	TP_PROTO(const struct vfence_context *context, char type, int result),
	TP_ARGS(context, type, result),
	TP_STRUCT__entry(
		__field(char, track_event_type)
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, context)
		__field(u64, number)
		__field(int, result)
		__field(u64, scope_context)
		__dynamic_array(char, slice_name, VFENCE_TRACE_NAME)
		__dynamic_array(char, track_name, VFENCE_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->track_event_type = type;
		__entry->adapter = context->adapter->config.gpu.adapter;
		__entry->function = context->adapter->config.vf;
		__entry->node = context->node;
		__entry->context = context->id;
		__entry->number = context->suspend_fence;
		__entry->result = result;
		__entry->scope_context =
			VFENCE_TRACE_SCOPE(__entry->adapter, __entry->function, __entry->context);
		snprintf(__get_str(slice_name), VFENCE_TRACE_NAME, "suspended: context %u",
			 __entry->context);
		snprintf(__get_str(track_name), VFENCE_TRACE_NAME, "adapter %u.%u suspends",
			 __entry->adapter, __entry->function);
	),
	TP_printk("track_event_type=%s adapter=%u function=%u node=%u context=%u number=%llu result=%d",
		  VFENCE_TRACE_TYPE(__entry->track_event_type), __entry->adapter,
		  __entry->function, __entry->node, __entry->context, __entry->number,
		  __entry->result)
);

/* An entry of a log of signals. */
TRACE_EVENT(vfence_signal_executed,
	TP_PROTO(const struct vfence_queue *queue, u32 fence, u64 value, u64 gpu),
	TP_ARGS(queue, fence, value, gpu),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, fence)
		__field(u64, value)
		__field(u64, gpu)
	),
	TP_fast_assign(
		__entry->adapter = queue->adapter->config.gpu.adapter;
		__entry->function = queue->adapter->config.vf;
		__entry->node = queue->node;
		__entry->queue = queue->id;
		__entry->fence = fence;
		__entry->value = value;
		__entry->gpu = gpu;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u fence=%u value=%llu gpu=%llu",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->fence, __entry->value, __entry->gpu)
);

/* An entry of a log of waits. */
TRACE_EVENT(vfence_wait_unblocked,
	TP_PROTO(const struct vfence_queue *queue, u32 fence, u64 value, u64 observed, u64 gpu),
	TP_ARGS(queue, fence, value, observed, gpu),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, fence)
		__field(u64, value)
		__field(u64, observed)
		__field(u64, gpu)
	),
	TP_fast_assign(
		__entry->adapter = queue->adapter->config.gpu.adapter;
		__entry->function = queue->adapter->config.vf;
		__entry->node = queue->node;
		__entry->queue = queue->id;
		__entry->fence = fence;
		__entry->value = value;
		__entry->observed = observed;
		__entry->gpu = gpu;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u fence=%u value=%llu observed=%llu gpu=%llu",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->fence, __entry->value, __entry->observed, __entry->gpu)
);

/* An entry of a log that names no fence. */
TRACE_EVENT(vfence_marker,
	TP_PROTO(const struct vfence_queue *queue, u64 value, u64 gpu),
	TP_ARGS(queue, value, gpu),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u64, value)
		__field(u64, gpu)
	),
	TP_fast_assign(
		__entry->adapter = queue->adapter->config.gpu.adapter;
		__entry->function = queue->adapter->config.vf;
		__entry->node = queue->node;
		__entry->queue = queue->id;
		__entry->value = value;
		__entry->gpu = gpu;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u value=%llu gpu=%llu",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue,
		  __entry->value, __entry->gpu)
);

/* The GPU has overwritten entries of a log before they were read. */
TRACE_EVENT(vfence_log_lost,
	TP_PROTO(const struct vfence_queue *queue, u32 log, u64 lost),
	TP_ARGS(queue, log, lost),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, log)
		__field(u64, lost)
	),
	TP_fast_assign(
		__entry->adapter = queue->adapter->config.gpu.adapter;
		__entry->function = queue->adapter->config.vf;
		__entry->node = queue->node;
		__entry->queue = queue->id;
		__entry->log = log;
		__entry->lost = lost;
	),
	TP_printk("adapter=%u function=%u node=%u queue=%u log=%u lost=%llu",
		  __entry->adapter, __entry->function, __entry->node, __entry->queue, __entry->log,
		  __entry->lost)
);

/* The two clocks at one moment: entries of logs have times of the GPU's clock. */
TRACE_EVENT(vfence_clock,
	TP_PROTO(const struct vfence_adapter *adapter, u64 gpu, u64 ns),
	TP_ARGS(adapter, gpu, ns),
	TP_STRUCT__entry(
		__field(u32, adapter)
		__field(u32, function)
		__field(u64, gpu)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->adapter = adapter->config.gpu.adapter;
		__entry->function = adapter->config.vf;
		__entry->gpu = gpu;
		__entry->ns = ns;
	),
	TP_printk("adapter=%u function=%u gpu=%llu ns=%llu",
		  __entry->adapter, __entry->function, __entry->gpu, __entry->ns)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE vfence_queue_trace
#include <trace/define_trace.h>
