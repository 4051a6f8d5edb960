/* SPDX-License-Identifier: MIT */
#ifndef _VFENCE_GPU_H_
#define _VFENCE_GPU_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Formats of the virtual GPU
 *
 * What the virtual GPU and its clients read and write in memory: rings with packets, the words of a
 * doorbell, and logs. The ioctls, and the rules of the whole interface, are in vfence_drm.h, which
 * includes this header.
 */

/* ---------------------------------------------------------- rings and doorbells */

/** DRM_VFENCE_RING_MIN: Size of the smallest ring in bytes. */
#define DRM_VFENCE_RING_MIN		4096
/** DRM_VFENCE_RING_MAX: Size of the largest ring in bytes. */
#define DRM_VFENCE_RING_MAX		(16 * 1024 * 1024)

/**
 * struct drm_vfence_ring_control - pointers of a queue, at the start of the control buffer
 *
 * Both pointers count bytes since DOORBELL_CREATE; they never wrap and are multiples of 8. The
 * position in the ring is the pointer modulo the size of the ring. write_ptr - read_ptr must
 * not exceed the size of the ring. A violation stops the queue with
 * %DRM_VFENCE_FAULT_WRITE_POINTER.
 */
struct drm_vfence_ring_control {
	/** @read_ptr: Bytes consumed. The GPU writes it after each packet. */
	__u64 read_ptr;
	/** @pad0: Unused; it keeps the two pointers in separate cache lines. */
	__u64 pad0[7];
	/** @write_ptr: Bytes published. The client writes it with release order. */
	__u64 write_ptr;
	/** @pad1: Unused; it fills the cache line of @write_ptr. */
	__u64 pad1[7];
};

/**
 * enum drm_vfence_doorbell_status - values of the status word of a doorbell
 *
 * The word has 64 bits. Only the kernel writes it; clients map it read only.
 */
enum drm_vfence_doorbell_status {
	/** @DRM_VFENCE_DOORBELL_CONNECTED: The doorbell is connected; the client rings it. */
	DRM_VFENCE_DOORBELL_CONNECTED = 0,
	/**
	 * @DRM_VFENCE_DOORBELL_CONNECTED_NOTIFY: The doorbell is connected. After each ring
	 * the client also calls DRM_IOCTL_VFENCE_NOTIFY_WORK_SUBMISSION.
	 */
	DRM_VFENCE_DOORBELL_CONNECTED_NOTIFY = 1,
	/**
	 * @DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY: The doorbell is disconnected. The client
	 * connects it again, then rings.
	 */
	DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY = 2,
	/** @DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT: The queue is lost and stays lost. */
	DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT = 3,
};

/* -------------------------------------------------------------------- logs */

/** DRM_VFENCE_LOG_SIZE: Size of one log buffer in bytes. */
#define DRM_VFENCE_LOG_SIZE		4096
/** DRM_VFENCE_LOG_SIZE_VERBOSE: Size of one log buffer in bytes at logging level ALL. */
#define DRM_VFENCE_LOG_SIZE_VERBOSE	65536

/**
 * enum drm_vfence_log_type - the two logs of a queue
 */
enum drm_vfence_log_type {
	/** @DRM_VFENCE_LOG_WAITS: Log of the waits that were satisfied. */
	DRM_VFENCE_LOG_WAITS = 1,
	/** @DRM_VFENCE_LOG_SIGNALS: Log of the signals that were executed. */
	DRM_VFENCE_LOG_SIGNALS = 2,
};

/**
 * enum drm_vfence_log_operation - operation that a log entry reports
 */
enum drm_vfence_log_operation {
	/** @DRM_VFENCE_LOG_SIGNAL_EXECUTED: The engine stored the value of a signal. */
	DRM_VFENCE_LOG_SIGNAL_EXECUTED = 0,
	/** @DRM_VFENCE_LOG_WAIT_UNBLOCKED: The wait was satisfied and the queue continued. */
	DRM_VFENCE_LOG_WAIT_UNBLOCKED = 1,
	/**
	 * @DRM_VFENCE_LOG_MARKER: The engine reached this LOG packet. The entry goes to the
	 * signal log, and only while the logging level is ALL. The packet counts
	 * in the index of the log at every level.
	 */
	DRM_VFENCE_LOG_MARKER = 2,
};

/**
 * enum drm_vfence_logging_level - amount of logging
 *
 * The level is a u32 behind the status word of a doorbell. The kernel writes it; clients
 * map it read only.
 */
enum drm_vfence_logging_level {
	/** @DRM_VFENCE_LOGGING_DEFAULT: Engines log waits and signals. */
	DRM_VFENCE_LOGGING_DEFAULT = 0,
	/** @DRM_VFENCE_LOGGING_ALL: Engines also log markers, and the logs are larger. */
	DRM_VFENCE_LOGGING_ALL = 1,
};

/**
 * struct drm_vfence_log_header - head of a log buffer
 *
 * Only the GPU writes log buffers. Clients cannot map them and read entries with
 * DRM_IOCTL_VFENCE_LOG_READ.
 */
struct drm_vfence_log_header {
	/**
	 * @first_free_entry_index: Index of the next entry that the GPU writes. It is the low
	 * half of one u64, which the GPU writes at once.
	 */
	__u32 first_free_entry_index;
	/** @wraparound_count: Number of times the index returned to 0; the high half. */
	__u32 wraparound_count;
	/** @type: &enum drm_vfence_log_type. */
	__u32 type;
	/** @pad: Zero. */
	__u32 pad;
	/** @number_of_entries: Number of entries behind the header. */
	__u64 number_of_entries;
	/** @reserved: Zero. */
	__u64 reserved[2];
};

/**
 * struct drm_vfence_log_entry - one executed signal or satisfied wait
 */
struct drm_vfence_log_entry {
	/** @fence_value: Value that was signaled or waited for, copied from the LOG packet. */
	__u64 fence_value;
	/** @fence: The client's handle of the fence, copied from the LOG packet. */
	__u32 fence;
	/** @operation: &enum drm_vfence_log_operation, copied from the LOG packet. */
	__u32 operation;
	/** @reserved0: Zero. */
	__u64 reserved0;
	/**
	 * @observed_gpu_timestamp: Time in GPU ticks at which the engine found the wait
	 * satisfied. It is for waits only.
	 */
	__u64 observed_gpu_timestamp;
	/** @reserved1: Zero. */
	__u64 reserved1;
	/** @end_gpu_timestamp: Time in GPU ticks at which the operation completed. */
	__u64 end_gpu_timestamp;
};

/* ----------------------------------------------------------------- packets */

/**
 * enum drm_vfence_opcode - operation of a packet
 */
enum drm_vfence_opcode {
	/** @DRM_VFENCE_OP_NOP: No operation; it can have any legal length. */
	DRM_VFENCE_OP_NOP = 0,
	/** @DRM_VFENCE_OP_FENCE_WAIT: &struct drm_vfence_packet_wait. */
	DRM_VFENCE_OP_FENCE_WAIT = 1,
	/** @DRM_VFENCE_OP_FENCE_SIGNAL: &struct drm_vfence_packet_signal. */
	DRM_VFENCE_OP_FENCE_SIGNAL = 2,
	/** @DRM_VFENCE_OP_LOG: &struct drm_vfence_packet_log. */
	DRM_VFENCE_OP_LOG = 3,
	/** @DRM_VFENCE_OP_DRAW: &struct drm_vfence_packet_draw. */
	DRM_VFENCE_OP_DRAW = 4,
	/** @DRM_VFENCE_OP_COPY: &struct drm_vfence_packet_copy. */
	DRM_VFENCE_OP_COPY = 5,
	/** @DRM_VFENCE_OP_FILL: &struct drm_vfence_packet_fill. */
	DRM_VFENCE_OP_FILL = 6,
	/** @DRM_VFENCE_OP_TIMESTAMP: &struct drm_vfence_packet_timestamp. */
	DRM_VFENCE_OP_TIMESTAMP = 7,
	/**
	 * @DRM_VFENCE_OP_HANG: The packet is a header only. It does not end until the queue
	 * is aborted.
	 */
	DRM_VFENCE_OP_HANG = 8,
	/** @DRM_VFENCE_OP_MONITORED_SIGNAL: &struct drm_vfence_packet_monitored. */
	DRM_VFENCE_OP_MONITORED_SIGNAL = 9,
	/** @DRM_VFENCE_OP_SET_REGISTER: &struct drm_vfence_packet_register. */
	DRM_VFENCE_OP_SET_REGISTER = 10,
	/** @DRM_VFENCE_OP_READ_REGISTER: &struct drm_vfence_packet_register. */
	DRM_VFENCE_OP_READ_REGISTER = 11,
};

/**
 * enum drm_vfence_fault - reasons for which a queue stops itself
 */
enum drm_vfence_fault {
	/** @DRM_VFENCE_FAULT_NONE: The queue has no fault. */
	DRM_VFENCE_FAULT_NONE = 0,
	/** @DRM_VFENCE_FAULT_WRITE_POINTER: The write pointer is not legal. */
	DRM_VFENCE_FAULT_WRITE_POINTER = 1,
	/** @DRM_VFENCE_FAULT_OPCODE: The opcode is unknown. */
	DRM_VFENCE_FAULT_OPCODE = 2,
	/** @DRM_VFENCE_FAULT_LENGTH: The length is not legal or goes beyond write_ptr. */
	DRM_VFENCE_FAULT_LENGTH = 3,
	/** @DRM_VFENCE_FAULT_OPERAND: A flag, a pad, a count or a size is not legal. */
	DRM_VFENCE_FAULT_OPERAND = 4,
	/** @DRM_VFENCE_FAULT_ALIGNMENT: An address is not aligned. */
	DRM_VFENCE_FAULT_ALIGNMENT = 5,
	/** @DRM_VFENCE_FAULT_UNMAPPED: Nothing is mapped at an address. */
	DRM_VFENCE_FAULT_UNMAPPED = 6,
	/** @DRM_VFENCE_FAULT_ACCESS: The mapping at an address does not allow the access. */
	DRM_VFENCE_FAULT_ACCESS = 7,
	/**
	 * @DRM_VFENCE_FAULT_LOG: The log is not one of the queue's, or the index is not the
	 * first free one.
	 */
	DRM_VFENCE_FAULT_LOG = 8,
	/**
	 * @DRM_VFENCE_FAULT_PREEMPTION: Another client waited for the engine, and the queue did
	 * not come to a point where it can be preempted within the time that the adapter allows,
	 * 100 ms unless an administrator has changed it. Its device is HUNG.
	 */
	DRM_VFENCE_FAULT_PREEMPTION = 9,
};

/**
 * DRM_VFENCE_REGISTERS: Registers of a queue. They start at 0; only SET_REGISTER changes them.
 */
#define DRM_VFENCE_REGISTERS		16

/** DRM_VFENCE_PACKET_MAX: Length of the longest packet in bytes, with its header. */
#define DRM_VFENCE_PACKET_MAX		64

/**
 * struct drm_vfence_packet_header - first eight bytes of every packet
 *
 * The client writes packets; the GPU reads them.
 */
struct drm_vfence_packet_header {
	/** @opcode: &enum drm_vfence_opcode. */
	__u16 opcode;
	/** @length: Length of the whole packet in bytes, a multiple of 8 from 8 to 64. */
	__u16 length;
	/** @flags: Zero. */
	__u32 flags;
};

/**
 * struct drm_vfence_packet_wait - stall the queue until a fence reaches a value
 */
struct drm_vfence_packet_wait {
	/** @header: The length is 24. */
	struct drm_vfence_packet_header header;
	/** @current_va: GPU address of the fence's current value. */
	__u64 current_va;
	/** @value: Value to wait for. 0 never stalls. */
	__u64 value;
};

/**
 * struct drm_vfence_packet_signal - store a fence's current value
 *
 * The GPU interrupts the CPU only if the value exceeds the monitored value. It compares after a
 * LOG packet that follows directly.
 */
struct drm_vfence_packet_signal {
	/** @header: The length is 32. */
	struct drm_vfence_packet_header header;
	/** @current_va: GPU address of the fence's current value. */
	__u64 current_va;
	/** @monitored_va: GPU address of the monitored value of that fence. */
	__u64 monitored_va;
	/** @value: New value. A value below the current one is a rewind, which is legal. */
	__u64 value;
};

/**
 * struct drm_vfence_packet_log - log the wait or signal in front of this packet
 */
struct drm_vfence_packet_log {
	/** @header: The length is 40. */
	struct drm_vfence_packet_header header;
	/** @log_va: GPU address of this queue's wait log or signal log, as @operation demands. */
	__u64 log_va;
	/**
	 * @index: Index of the entry: one more than in the previous LOG packet for this log,
	 * modulo the number of entries. That number is the one that QUEUE_CREATE returned, or
	 * the last DOORBELL_CONNECT that adopted a new geometry. The first packet after either
	 * has index 0.
	 */
	__u32 index;
	/** @fence: Handle that the engine copies into the entry. */
	__u32 fence;
	/** @value: Value that the engine copies into the entry. */
	__u64 value;
	/** @operation: &enum drm_vfence_log_operation. */
	__u32 operation;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_vfence_packet_draw - keep the engine busy
 *
 * The engine can preempt the queue between two draws.
 */
struct drm_vfence_packet_draw {
	/** @header: The length is 24. */
	struct drm_vfence_packet_header header;
	/** @count: Number of draws, at least 1. */
	__u32 count;
	/** @pad: Zero. */
	__u32 pad;
	/** @duration_ns: GPU time of one draw in nanoseconds, at most 10^10. */
	__u64 duration_ns;
};

/**
 * struct drm_vfence_packet_copy - copy between data buffers
 */
struct drm_vfence_packet_copy {
	/** @header: The length is 32. */
	struct drm_vfence_packet_header header;
	/** @src_va: GPU address of the source, a multiple of 4. */
	__u64 src_va;
	/** @dst_va: GPU address of the destination, a multiple of 4. */
	__u64 dst_va;
	/** @size: Number of bytes, a multiple of 4 that is not zero. */
	__u64 size;
};

/**
 * struct drm_vfence_packet_fill - fill a data buffer with a 32-bit word
 */
struct drm_vfence_packet_fill {
	/** @header: The length is 32. */
	struct drm_vfence_packet_header header;
	/** @dst_va: GPU address of the destination, a multiple of 4. */
	__u64 dst_va;
	/** @size: Number of bytes, a multiple of 4 that is not zero. */
	__u64 size;
	/** @value: Word to store. */
	__u32 value;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_vfence_packet_timestamp - store the GPU clock in a data buffer
 *
 * The value is the time at which the packets before it were done. The emulation leaves out
 * wake-up delays of up to 50 us, except in waits.
 */
struct drm_vfence_packet_timestamp {
	/** @header: The length is 16. */
	struct drm_vfence_packet_header header;
	/**
	 * @dst_va: GPU address of the destination, a multiple of 8. The engine stores a u64 of
	 * GPU ticks there.
	 */
	__u64 dst_va;
};

/**
 * struct drm_vfence_packet_register - set or read a register of the queue
 */
struct drm_vfence_packet_register {
	/** @header: The length is 24. */
	struct drm_vfence_packet_header header;
	/** @index: Number of the register, below %DRM_VFENCE_REGISTERS. */
	__u32 index;
	/** @pad: Zero. */
	__u32 pad;
	/** @value: SET_REGISTER: the value. READ_REGISTER: GPU address where the GPU writes it. */
	__u64 value;
};

/**
 * struct drm_vfence_packet_monitored - store the value of a monitored fence
 *
 * The packet is for kernel-mode queues of adapters with
 * %DRM_VFENCE_ADAPTER_MONITORED_SIGNAL. User-mode queues have no such opcode.
 */
struct drm_vfence_packet_monitored {
	/** @header: The length is 24. */
	struct drm_vfence_packet_header header;
	/** @current_va: GPU address of the fence's value. */
	__u64 current_va;
	/** @value: New value. A value below the current one is a rewind, which is legal. */
	__u64 value;
};

#if defined(__cplusplus)
}
#endif

#endif /* _VFENCE_GPU_H_ */
