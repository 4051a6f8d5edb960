// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ABI is frozen: this checks the sizes and offsets of everything in its two headers. It
 * is compiled and run for 64 and 32 bits and compiled as C++. A change here is a change
 * of the ABI.
 */

#ifdef __cplusplus
#define FROZEN(cond) static_assert(cond, #cond)
#else
#include <assert.h>
#define FROZEN(cond) _Static_assert(cond, #cond)
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <drm/vfence_drm.h>

#define SIZE(type, n)		FROZEN(sizeof(struct drm_vfence_##type) == (n))
#define AT(type, member, n)	FROZEN(offsetof(struct drm_vfence_##type, member) == (n))
#define NUMBER(name, n)		FROZEN(DRM_VFENCE_##name == (n))

SIZE(ring_control, 128);
AT(ring_control, read_ptr, 0);
AT(ring_control, pad0, 8);
AT(ring_control, write_ptr, 64);
AT(ring_control, pad1, 72);

SIZE(log_header, 40);
AT(log_header, first_free_entry_index, 0);
AT(log_header, wraparound_count, 4);
AT(log_header, type, 8);
AT(log_header, pad, 12);
AT(log_header, number_of_entries, 16);
AT(log_header, reserved, 24);

SIZE(log_entry, 48);
AT(log_entry, fence_value, 0);
AT(log_entry, fence, 8);
AT(log_entry, operation, 12);
AT(log_entry, reserved0, 16);
AT(log_entry, observed_gpu_timestamp, 24);
AT(log_entry, reserved1, 32);
AT(log_entry, end_gpu_timestamp, 40);

SIZE(packet_header, 8);
AT(packet_header, opcode, 0);
AT(packet_header, length, 2);
AT(packet_header, flags, 4);

SIZE(packet_wait, 24);
AT(packet_wait, header, 0);
AT(packet_wait, current_va, 8);
AT(packet_wait, value, 16);

SIZE(packet_signal, 32);
AT(packet_signal, header, 0);
AT(packet_signal, current_va, 8);
AT(packet_signal, monitored_va, 16);
AT(packet_signal, value, 24);

SIZE(packet_log, 40);
AT(packet_log, header, 0);
AT(packet_log, log_va, 8);
AT(packet_log, index, 16);
AT(packet_log, fence, 20);
AT(packet_log, value, 24);
AT(packet_log, operation, 32);
AT(packet_log, pad, 36);

SIZE(packet_draw, 24);
AT(packet_draw, header, 0);
AT(packet_draw, count, 8);
AT(packet_draw, pad, 12);
AT(packet_draw, duration_ns, 16);

SIZE(packet_copy, 32);
AT(packet_copy, header, 0);
AT(packet_copy, src_va, 8);
AT(packet_copy, dst_va, 16);
AT(packet_copy, size, 24);

SIZE(packet_fill, 32);
AT(packet_fill, header, 0);
AT(packet_fill, dst_va, 8);
AT(packet_fill, size, 16);
AT(packet_fill, value, 24);
AT(packet_fill, pad, 28);

SIZE(packet_timestamp, 16);
AT(packet_timestamp, header, 0);
AT(packet_timestamp, dst_va, 8);

SIZE(packet_register, 24);
AT(packet_register, index, 8);
AT(packet_register, value, 16);
SIZE(packet_monitored, 24);
AT(packet_monitored, header, 0);
AT(packet_monitored, current_va, 8);
AT(packet_monitored, value, 16);

SIZE(obj_array, 16);
AT(obj_array, stride, 0);
AT(obj_array, count, 4);
AT(obj_array, array, 8);

SIZE(destroy, 8);
AT(destroy, type, 0);
AT(destroy, handle, 4);

SIZE(query, 24);
AT(query, type, 0);
AT(query, size, 4);
AT(query, data, 8);
AT(query, stride, 16);
AT(query, handle, 20);

SIZE(adapter_info, 48);
AT(adapter_info, nodes, 0);
AT(adapter_info, fence_stride, 4);
AT(adapter_info, physical_doorbells, 8);
AT(adapter_info, log_entries, 12);
AT(adapter_info, va_start, 16);
AT(adapter_info, va_end, 24);
AT(adapter_info, doorbell_size, 32);
AT(adapter_info, secondary_doorbell_size, 36);
AT(adapter_info, flags, 40);
AT(adapter_info, pad, 44);

SIZE(node_info, 8);
AT(node_info, class_id, 0);
AT(node_info, flags, 4);

SIZE(clock_info, 24);
AT(clock_info, frequency_hz, 0);
AT(clock_info, gpu_ticks, 8);
AT(clock_info, cpu_ns, 16);

SIZE(device_create, 8);
AT(device_create, flags, 0);
AT(device_create, handle, 4);

SIZE(device_info, 8);
AT(device_info, state, 0);
AT(device_info, pad, 4);

SIZE(context_create, 16);
AT(context_create, device, 0);
AT(context_create, node, 4);
AT(context_create, flags, 8);
AT(context_create, handle, 12);

SIZE(bo_create, 24);
AT(bo_create, size, 0);
AT(bo_create, flags, 8);
AT(bo_create, handle, 12);
AT(bo_create, mmap_offset, 16);

SIZE(vm_bind, 40);
AT(vm_bind, op, 0);
AT(vm_bind, handle, 4);
AT(vm_bind, flags, 8);
AT(vm_bind, pad, 12);
AT(vm_bind, offset, 16);
AT(vm_bind, size, 24);
AT(vm_bind, va, 32);

SIZE(feature_info, 16);
AT(feature_info, id, 0);
AT(feature_info, flags, 4);
AT(feature_info, version, 8);
AT(feature_info, pad, 12);

SIZE(fence_caps, 24);
AT(fence_caps, flags, 0);
AT(fence_caps, stride, 4);
AT(fence_caps, minimum_address, 8);
AT(fence_caps, maximum_address, 16);

SIZE(fence_mapping, 32);
AT(fence_mapping, current_offset, 0);
AT(fence_mapping, current_va, 8);
AT(fence_mapping, monitored_va, 16);
AT(fence_mapping, current_page_offset, 24);
AT(fence_mapping, pad, 28);

SIZE(fence_create, 128);
AT(fence_create, device, 0);
AT(fence_create, type, 4);
AT(fence_create, flags, 8);
AT(fence_create, handle, 12);
AT(fence_create, initial_value, 16);
AT(fence_create, mapping, 24);
AT(fence_create, engine_affinity, 56);
AT(fence_create, pad, 60);
AT(fence_create, private_data, 64);

SIZE(fence_export, 16);
AT(fence_export, handle, 0);
AT(fence_export, flags, 4);
AT(fence_export, fd, 8);
AT(fence_export, pad, 12);

SIZE(fence_import, 32);
AT(fence_import, fence, 0);
AT(fence_import, flags, 4);
AT(fence_import, source, 8);
AT(fence_import, pad, 12);
AT(fence_import, point, 16);
AT(fence_import, value, 24);

SIZE(fence_open, 120);
AT(fence_open, device, 0);
AT(fence_open, fd, 4);
AT(fence_open, flags, 8);
AT(fence_open, handle, 12);
AT(fence_open, mapping, 16);
AT(fence_open, engine_affinity, 48);
AT(fence_open, pad, 52);
AT(fence_open, private_data, 56);

SIZE(fence_point, 16);
AT(fence_point, fence, 0);
AT(fence_point, flags, 4);
AT(fence_point, value, 8);

SIZE(fence_signal, 24);
AT(fence_signal, flags, 0);
AT(fence_signal, pad, 4);
AT(fence_signal, points, 8);

SIZE(fence_info, 64);
AT(fence_info, current_value, 0);
AT(fence_info, monitored_value, 8);
AT(fence_info, waiters, 16);
AT(fence_info, interrupts, 24);
AT(fence_info, spurious, 32);
AT(fence_info, woken, 40);
AT(fence_info, signals, 48);
AT(fence_info, rights, 56);
AT(fence_info, type, 60);

SIZE(wait, 56);
AT(wait, flags, 0);
AT(wait, first, 4);
AT(wait, timeout_ns, 8);
AT(wait, points, 16);
AT(wait, signals, 32);
AT(wait, restart, 48);
AT(wait, pad, 52);

SIZE(wait_set_create, 16);
AT(wait_set_create, flags, 0);
AT(wait_set_create, entries, 4);
AT(wait_set_create, handle, 8);
AT(wait_set_create, pad, 12);

SIZE(wait_set_update, 16);
AT(wait_set_update, index, 0);
AT(wait_set_update, fence, 4);
AT(wait_set_update, value, 8);

SIZE(wait_set_ready, 8);
AT(wait_set_ready, index, 0);
AT(wait_set_ready, error, 4);

SIZE(wait_set_wait, 72);
AT(wait_set_wait, set, 0);
AT(wait_set_wait, flags, 4);
AT(wait_set_wait, timeout_ns, 8);
AT(wait_set_wait, updates, 16);
AT(wait_set_wait, signals, 32);
AT(wait_set_wait, ready, 48);
AT(wait_set_wait, returned, 64);
AT(wait_set_wait, performed, 68);

SIZE(event_arm, 48);
AT(event_arm, flags, 0);
AT(event_arm, eventfd, 4);
AT(event_arm, points, 8);
AT(event_arm, signals, 24);
AT(event_arm, event, 40);
AT(event_arm, pad, 44);

SIZE(queue_create, 72);
AT(queue_create, context, 0);
AT(queue_create, flags, 4);
AT(queue_create, handle, 8);
AT(queue_create, progress_fence, 12);
AT(queue_create, progress, 16);
AT(queue_create, wait_log_va, 48);
AT(queue_create, signal_log_va, 56);
AT(queue_create, wait_log_entries, 64);
AT(queue_create, signal_log_entries, 68);

SIZE(doorbell_create, 56);
AT(doorbell_create, queue, 0);
AT(doorbell_create, flags, 4);
AT(doorbell_create, ring, 8);
AT(doorbell_create, control, 12);
AT(doorbell_create, ring_size, 16);
AT(doorbell_create, pad, 20);
AT(doorbell_create, doorbell_offset, 24);
AT(doorbell_create, status_offset, 32);
AT(doorbell_create, last_queued_offset, 40);
AT(doorbell_create, secondary_offset, 48);

SIZE(doorbell_connect, 24);
AT(doorbell_connect, queue, 0);
AT(doorbell_connect, flags, 4);
AT(doorbell_connect, wait_log_entries, 8);
AT(doorbell_connect, signal_log_entries, 12);
AT(doorbell_connect, log_restart, 16);
AT(doorbell_connect, logging_level, 20);

SIZE(context_suspend, 16);
AT(context_suspend, context, 0);
AT(context_suspend, flags, 4);
AT(context_suspend, fence, 8);

SIZE(context_resume, 8);
AT(context_resume, context, 0);
AT(context_resume, flags, 4);

SIZE(context_info, 24);
AT(context_info, state, 0);
AT(context_info, verdict, 4);
AT(context_info, fence, 8);
AT(context_info, suspended_ns, 16);

SIZE(notify_work_submission, 8);
AT(notify_work_submission, queue, 0);
AT(notify_work_submission, flags, 4);

SIZE(queue_info, 96);
AT(queue_info, state, 0);
AT(queue_info, verdict, 4);
AT(queue_info, fault, 8);
AT(queue_info, fault_opcode, 12);
AT(queue_info, fault_ring_ptr, 16);
AT(queue_info, fault_va, 24);
AT(queue_info, last_queued, 32);
AT(queue_info, progress, 40);
AT(queue_info, held, 48);
AT(queue_info, queued, 52);
AT(queue_info, packets, 56);
AT(queue_info, log_packets, 64);
AT(queue_info, log_read, 72);
AT(queue_info, log_lost, 80);
AT(queue_info, notifications, 88);

SIZE(queue_abort, 8);
AT(queue_abort, queue, 0);
AT(queue_abort, flags, 4);

SIZE(submit_queue, 16);
AT(submit_queue, queue, 0);
AT(submit_queue, pad, 4);
AT(submit_queue, progress, 8);

SIZE(submit_op, 16);
AT(submit_op, type, 0);
AT(submit_op, handle, 4);
AT(submit_op, value, 8);

SIZE(submit, 56);
AT(submit, flags, 0);
AT(submit, eventfd, 4);
AT(submit, queues, 8);
AT(submit, ops, 24);
AT(submit, commands, 40);
AT(submit, commands_size, 48);
AT(submit, pad, 52);

SIZE(log_read, 48);
AT(log_read, queue, 0);
AT(log_read, log, 4);
AT(log_read, entries, 8);
AT(log_read, returned, 24);
AT(log_read, pad, 28);
AT(log_read, lost, 32);
AT(log_read, dropped, 40);

NUMBER(DOORBELL_CONNECTED, 0);
NUMBER(DOORBELL_CONNECTED_NOTIFY, 1);
NUMBER(DOORBELL_DISCONNECTED_RETRY, 2);
NUMBER(DOORBELL_DISCONNECTED_ABORT, 3);
NUMBER(LOG_WAITS, 1);
NUMBER(LOG_SIGNALS, 2);
NUMBER(LOG_SIGNAL_EXECUTED, 0);
NUMBER(LOG_WAIT_UNBLOCKED, 1);
NUMBER(LOG_MARKER, 2);
NUMBER(LOGGING_DEFAULT, 0);
NUMBER(LOGGING_ALL, 1);
NUMBER(OP_NOP, 0);
NUMBER(OP_FENCE_WAIT, 1);
NUMBER(OP_FENCE_SIGNAL, 2);
NUMBER(OP_LOG, 3);
NUMBER(OP_DRAW, 4);
NUMBER(OP_COPY, 5);
NUMBER(OP_FILL, 6);
NUMBER(OP_TIMESTAMP, 7);
NUMBER(OP_HANG, 8);
NUMBER(OP_MONITORED_SIGNAL, 9);
NUMBER(OP_SET_REGISTER, 10);
NUMBER(OP_READ_REGISTER, 11);
NUMBER(REGISTERS, 16);
NUMBER(SUBMIT_WAIT_FENCE, 0);
NUMBER(SUBMIT_SIGNAL_FENCE, 1);
NUMBER(SUBMIT_WAIT_SYNCOBJ, 2);
NUMBER(SUBMIT_SIGNAL_SYNCOBJ, 3);
NUMBER(SUBMIT_ALLOW_REWIND, 1);
NUMBER(SUBMIT_SIGNAL_AT_SUBMISSION, 2);
NUMBER(SUBMIT_ENQUEUE_CPU_EVENT, 4);
NUMBER(SUBMIT_WAIT_FOR_ROOM, 8);
NUMBER(OBJECT_DEVICE, 1);
NUMBER(OBJECT_CONTEXT, 2);
NUMBER(OBJECT_QUEUE, 3);
NUMBER(OBJECT_DOORBELL, 4);
NUMBER(OBJECT_FENCE, 5);
NUMBER(OBJECT_EVENT, 6);
NUMBER(OBJECT_WAIT_SET, 7);

NUMBER(QUERY_ADAPTER, 0);
NUMBER(QUERY_NODES, 1);
NUMBER(QUERY_CLOCK, 2);
NUMBER(QUERY_FEATURES, 3);
NUMBER(QUERY_FENCE_CAPS, 4);
NUMBER(QUERY_LIMITS, 5);
NUMBER(QUERY_DEVICE, 6);
NUMBER(QUERY_CONTEXT, 7);
NUMBER(QUERY_QUEUE, 8);
NUMBER(QUERY_FENCE, 9);
NUMBER(LIMIT_DEVICES, 1);
NUMBER(LIMIT_CONTEXTS, 2);
NUMBER(LIMIT_QUEUES, 3);
NUMBER(LIMIT_FENCES, 4);
NUMBER(LIMIT_EVENTS, 5);
NUMBER(LIMIT_EVENT_POINTS, 6);
NUMBER(LIMIT_RESTARTS, 7);
NUMBER(LIMIT_RESTART_POINTS, 8);
NUMBER(LIMIT_IMPORTS, 9);
NUMBER(LIMIT_MAPPINGS, 10);
NUMBER(LIMIT_SUBMIT_POINTS, 11);
NUMBER(LIMIT_WAIT_SETS, 12);
NUMBER(LIMIT_WAIT_SET_ENTRIES, 13);
NUMBER(LIMIT_USER_MEMORY, 14);
SIZE(limit, 24);
AT(limit, id, 0);
AT(limit, pad, 4);
AT(limit, limit, 8);
AT(limit, used, 16);
NUMBER(NODE_USER_MODE_SUBMISSION, 1);
NUMBER(FEATURE_HWSCH, 0);
NUMBER(FEATURE_USER_MODE_SUBMISSION, 4);
NUMBER(FEATURE_NATIVE_FENCE, 37);
NUMBER(NODE_GFX, 0);
NUMBER(NODE_COMPUTE, 1);
NUMBER(NODE_COPY, 2);
NUMBER(NODE_MM, 3);
NUMBER(NODE_PAGING, 4);
NUMBER(DEVICE_ACTIVE, 1);
NUMBER(DEVICE_RESET, 2);
NUMBER(DEVICE_HUNG, 3);
NUMBER(DEVICE_STOPPED, 4);
NUMBER(DEVICE_ERROR_DMAFAULT, 6);
NUMBER(DEVICE_ERROR_DMAPAGEFAULT, 7);
NUMBER(EXPORT_SAME_RIGHTS, 8);
NUMBER(FENCE_SHAREABLE, 1);
NUMBER(FENCE_CROSS_ADAPTER, 2);
NUMBER(FENCE_NO_SIGNAL, 4);
NUMBER(FENCE_NO_WAIT, 8);
NUMBER(FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR, 16);
NUMBER(FENCE_NO_GPU_ACCESS, 32);
NUMBER(FENCE_TOP_OF_PIPELINE, 64);
NUMBER(FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY, 128);
NUMBER(WAIT_ANY, 1);
NUMBER(WAIT_ALLOW_REWIND, 2);
NUMBER(FENCE_DEFAULT, 0);
NUMBER(FENCE_INTRA_GPU, 1);
NUMBER(FENCE_MONITORED, 2);
NUMBER(VM_MAP, 0);
NUMBER(VM_UNMAP, 1);
NUMBER(QUEUE_USER_MODE, 1);
NUMBER(QUEUE_DISABLE_GPU_TIMEOUT, 2);
NUMBER(QUEUE_IDLE, 0);
NUMBER(QUEUE_READY, 1);
NUMBER(QUEUE_RUNNING, 2);
NUMBER(QUEUE_BLOCKED, 3);
NUMBER(QUEUE_FAULTED, 4);
NUMBER(QUEUE_ABORTED, 5);
NUMBER(FAULT_NONE, 0);
NUMBER(FAULT_WRITE_POINTER, 1);
NUMBER(FAULT_OPCODE, 2);
NUMBER(FAULT_LENGTH, 3);
NUMBER(FAULT_OPERAND, 4);
NUMBER(FAULT_ALIGNMENT, 5);
NUMBER(FAULT_UNMAPPED, 6);
NUMBER(FAULT_ACCESS, 7);
NUMBER(FAULT_LOG, 8);
NUMBER(MAX_STRIDE, 4096);
NUMBER(QUERY, 0);
NUMBER(DESTROY, 1);
NUMBER(DEVICE_CREATE, 2);
NUMBER(CONTEXT_CREATE, 3);
NUMBER(BO_CREATE, 4);
NUMBER(VM_BIND, 5);
NUMBER(FENCE_CREATE, 6);
NUMBER(FENCE_EXPORT, 7);
NUMBER(FENCE_OPEN, 8);
NUMBER(FENCE_SIGNAL, 9);
NUMBER(WAIT, 10);
NUMBER(EVENT_ARM, 11);
NUMBER(QUEUE_CREATE, 12);
NUMBER(QUEUE_ABORT, 13);
NUMBER(DOORBELL_CREATE, 14);
NUMBER(DOORBELL_CONNECT, 15);
NUMBER(LOG_READ, 16);
NUMBER(NOTIFY_WORK_SUBMISSION, 17);
NUMBER(CONTEXT_SUSPEND, 18);
NUMBER(CONTEXT_RESUME, 19);
NUMBER(FENCE_IMPORT, 20);
NUMBER(SUBMIT, 21);
NUMBER(WAIT_SET_CREATE, 22);
NUMBER(WAIT_SET_WAIT, 23);

int main(void)
{
	/* The compiler has checked everything. Report the result. */
	puts("TAP version 13\n1..1\nok 1 abi.layout_is_frozen");
	return 0;
}
