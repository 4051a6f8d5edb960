/* SPDX-License-Identifier: MIT */
#ifndef _VFENCE_DRM_H_
#define _VFENCE_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Rules of this interface
 *
 * - Structures hold fixed-size integers and names of fixed size only, every member is
 *   aligned to its size, holes are explicit and the layout is the same for 32 and 64 bits.
 * - Flags nobody defined and padding must be zero, else EINVAL.
 * - New members go to the end or into padding; zero means the old behaviour.
 * - Numbers are never reordered or used again.
 * - Arrays travel as &struct drm_vfence_obj_array: stride, count, address.
 * - Outputs are written on success only, unless a member says otherwise.
 * - Every addition raises the driver's minor version and adds a line to the
 *   history below. Programs ask DRM_IOCTL_VERSION and never guess by trying.
 *
 * Errors that every ioctl can return: EINVAL for an unknown flag, non-zero
 * padding or an impossible combination; ENOENT for a handle that does not
 * exist; EFAULT for a bad address; ENOMEM; ENODEV once the device is gone; EIO
 * where something is to be made in, or connected for, a device object in error;
 * E2BIG for array elements longer than known with a non-zero tail. An adapter
 * whose hardware failed is lost until it is bound again: its devices are STOPPED,
 * its queues aborted, and EIO is what waits, signals and creations return. What a
 * single ioctl adds stands beside it.
 *
 * Handles are 32-bit, non-zero and private to one open file. Fences are shared
 * by file descriptor only.
 */

/**
 * DOC: Version history
 *
 * - 1.0: devices, contexts, buffers, GPU address space, native fences of type
 *   DEFAULT, waits and events, user-mode hardware queues, doorbells, logs.
 * - 1.1: rights of a shared fence: flags of &struct drm_vfence_fence_export,
 *   rights in &struct drm_vfence_fence_query.
 * - 1.2: engine_affinity and private_data in &struct drm_vfence_fence_create and
 *   &struct drm_vfence_fence_open.
 * - 1.3: %DRM_VFENCE_QUERY_FEATURES, %DRM_VFENCE_QUERY_FENCE_CAPS; addresses for
 *   the system process in &struct drm_vfence_fence_query; counters of updates.
 * - 1.4: %DRM_VFENCE_FENCE_INTRA_GPU; the paging node; counters of video memory.
 * - 1.5: %DRM_VFENCE_FENCE_CROSS_ADAPTER.
 * - 1.6: logs that grow: %DRM_VFENCE_CONNECT_LOGS and the geometry in &struct
 *   drm_vfence_doorbell_connect, %DRM_VFENCE_LOG_MARKER, the logging level in the
 *   status page, counters of log buffers.
 * - 1.7: forms of the interrupt: %DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT and counters.
 * - 1.8: NOTIFY_WORK_SUBMISSION, secondary doorbell addresses, sizes of doorbells in
 *   &struct drm_vfence_adapter_info.
 * - 1.9: CONTEXT_SUSPEND, CONTEXT_RESUME.
 * - 1.10: counters of power transitions.
 * - 1.11: %DRM_VFENCE_DEVICE_RESET, counter of engine resets.
 * - 1.12: MONITORED_FENCE_CREATE, %DRM_VFENCE_FENCE_MONITORED, flags of &struct
 *   drm_vfence_fence_open, %DRM_VFENCE_SIGNAL_ALLOW_REWIND.
 * - 1.13: cross-adapter fences where native fences are not supported:
 *   %DRM_VFENCE_MONITORED_CROSS_ADAPTER.
 * - 1.14: flags of &struct drm_vfence_adapter_info.
 * - 1.15: FENCE_IMPORT.
 * - 1.16: kernel-mode queues: QUEUE_CREATE without USER_MODE, SUBMIT, submissions in
 *   &struct drm_vfence_queue_query and counters of them, %DRM_VFENCE_OP_MONITORED_SIGNAL,
 *   %DRM_VFENCE_MONITORED_TOP_OF_PIPELINE,
 *   %DRM_VFENCE_MONITORED_NO_SIGNAL_MAX_VALUE_ON_TDR.
 * - 1.17: counters of the time in the interrupt handler; dma-bufs of other devices in
 *   the GPU address space.
 * - 1.18: counters by id: %DRM_VFENCE_QUERY_COUNTER_VALUES and
 *   %DRM_VFENCE_QUERY_COUNTER_INFOS. Removed: query 3, QUERY_COUNTERS, with its structure;
 *   the ids 1 to 60 are its members in their order.
 */

/* ------------------------------------------------------------------ limits */

/** DRM_VFENCE_MAX_POINTS: most entries of one wait, event or signal list */
#define DRM_VFENCE_MAX_POINTS		1024
/** DRM_VFENCE_RING_MIN: smallest ring, in bytes */
#define DRM_VFENCE_RING_MIN		4096
/** DRM_VFENCE_RING_MAX: largest ring, in bytes */
#define DRM_VFENCE_RING_MAX		(16 * 1024 * 1024)
/** DRM_VFENCE_LOG_SIZE: bytes of one log buffer (WDDM-81) */
#define DRM_VFENCE_LOG_SIZE		4096
/** DRM_VFENCE_LOG_SIZE_VERBOSE: the same while everything is logged */
#define DRM_VFENCE_LOG_SIZE_VERBOSE	65536
/** DRM_VFENCE_PRIVATE_DATA: bytes that travel along with a fence (WDDM-39) */
#define DRM_VFENCE_PRIVATE_DATA		64
/** DRM_VFENCE_MAX_BO_SIZE: largest buffer object, in bytes */
#define DRM_VFENCE_MAX_BO_SIZE		(256ull * 1024 * 1024)
/** DRM_VFENCE_VA_LIMIT: first byte above the GPU address space */
#define DRM_VFENCE_VA_LIMIT		(1ull << 47)

/* ------------------------------------------------------------ shared memory */

/**
 * struct drm_vfence_ring_control - a queue's pointers, first bytes of the
 * control buffer
 *
 * Both count bytes since the doorbell object was created and never wrap; the
 * place in the ring is the pointer modulo the ring's size. Both are multiples
 * of 8 and write_ptr - read_ptr never exceeds the ring's size; a client that
 * breaks this stops its queue with &DRM_VFENCE_FAULT_WRITE_POINTER.
 */
struct drm_vfence_ring_control {
	/** @read_ptr: bytes consumed; written by the GPU after each packet */
	__u64 read_ptr;
	/** @pad0: keeps the two writers in cache lines of their own */
	__u64 pad0[7];
	/** @write_ptr: bytes published; written by the client (release order) */
	__u64 write_ptr;
	/** @pad1: as pad0 */
	__u64 pad1[7];
};

/**
 * enum drm_vfence_doorbell_status - the status word of a doorbell (WDDM-183:
 * 64 bits, only the kernel writes it)
 */
enum drm_vfence_doorbell_status {
	/** @DRM_VFENCE_DOORBELL_CONNECTED: ready, ring it */
	DRM_VFENCE_DOORBELL_CONNECTED = 0,
	/**
	 * @DRM_VFENCE_DOORBELL_CONNECTED_NOTIFY: ready; after each ring the client
	 * calls DRM_IOCTL_VFENCE_NOTIFY_WORK_SUBMISSION as well (WDDM-189)
	 */
	DRM_VFENCE_DOORBELL_CONNECTED_NOTIFY = 1,
	/** @DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY: connect again, then ring */
	DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY = 2,
	/** @DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT: the queue is lost for good */
	DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT = 3,
};

/* -------------------------------------------------------------------- logs */

/**
 * enum drm_vfence_log_type - which log of a queue (WDDM-85)
 */
enum drm_vfence_log_type {
	/** @DRM_VFENCE_LOG_WAITS: waits that were satisfied */
	DRM_VFENCE_LOG_WAITS = 1,
	/** @DRM_VFENCE_LOG_SIGNALS: signals that were executed */
	DRM_VFENCE_LOG_SIGNALS = 2,
};

/**
 * enum drm_vfence_log_operation - what an entry reports (WDDM-85)
 */
enum drm_vfence_log_operation {
	/** @DRM_VFENCE_LOG_SIGNAL_EXECUTED: the value was stored */
	DRM_VFENCE_LOG_SIGNAL_EXECUTED = 0,
	/** @DRM_VFENCE_LOG_WAIT_UNBLOCKED: the queue went on */
	DRM_VFENCE_LOG_WAIT_UNBLOCKED = 1,
	/**
	 * @DRM_VFENCE_LOG_MARKER: a point of the commands was passed, nothing
	 * else; goes to the signal log, and only while the logging level is ALL
	 * (WDDM-100). Its packet counts in the log's index whatever the level is
	 */
	DRM_VFENCE_LOG_MARKER = 2,
};

/**
 * enum drm_vfence_logging_level - how much is logged; a u32 behind the status
 * word, read only
 */
enum drm_vfence_logging_level {
	/** @DRM_VFENCE_LOGGING_DEFAULT: waits and signals */
	DRM_VFENCE_LOGGING_DEFAULT = 0,
	/** @DRM_VFENCE_LOGGING_ALL: markers, too; and the logs are larger */
	DRM_VFENCE_LOGGING_ALL = 1,
};

/**
 * struct drm_vfence_log_header - head of a log buffer (WDDM-83)
 */
struct drm_vfence_log_header {
	/** @first_free_entry_index: next entry to write; low half of one u64 */
	__u32 first_free_entry_index;
	/** @wraparound_count: times the index went back to 0; high half */
	__u32 wraparound_count;
	/** @type: &enum drm_vfence_log_type */
	__u32 type;
	/** @pad: zero */
	__u32 pad;
	/** @number_of_entries: entries behind the header */
	__u64 number_of_entries;
	/** @reserved: zero */
	__u64 reserved[2];
};

/**
 * struct drm_vfence_log_entry - one executed signal or satisfied wait (WDDM-84)
 */
struct drm_vfence_log_entry {
	/** @fence_value: value signaled or waited for; from the LOG packet */
	__u64 fence_value;
	/** @fence: the client's own handle (WDDM-86); from the LOG packet */
	__u32 fence;
	/** @operation: &enum drm_vfence_log_operation; from the LOG packet */
	__u32 operation;
	/** @reserved0: zero */
	__u64 reserved0;
	/** @observed_gpu_timestamp: waits only: GPU ticks when the wait was met */
	__u64 observed_gpu_timestamp;
	/** @reserved1: zero */
	__u64 reserved1;
	/** @end_gpu_timestamp: GPU ticks when the operation completed */
	__u64 end_gpu_timestamp;
};

/* ----------------------------------------------------------------- packets */

/**
 * enum drm_vfence_opcode - what a packet does
 */
enum drm_vfence_opcode {
	/** @DRM_VFENCE_OP_NOP: nothing; any legal length */
	DRM_VFENCE_OP_NOP = 0,
	/** @DRM_VFENCE_OP_FENCE_WAIT: &struct drm_vfence_packet_wait */
	DRM_VFENCE_OP_FENCE_WAIT = 1,
	/** @DRM_VFENCE_OP_FENCE_SIGNAL: &struct drm_vfence_packet_signal */
	DRM_VFENCE_OP_FENCE_SIGNAL = 2,
	/** @DRM_VFENCE_OP_LOG: &struct drm_vfence_packet_log */
	DRM_VFENCE_OP_LOG = 3,
	/** @DRM_VFENCE_OP_DRAW: &struct drm_vfence_packet_draw */
	DRM_VFENCE_OP_DRAW = 4,
	/** @DRM_VFENCE_OP_COPY: &struct drm_vfence_packet_copy */
	DRM_VFENCE_OP_COPY = 5,
	/** @DRM_VFENCE_OP_FILL: &struct drm_vfence_packet_fill */
	DRM_VFENCE_OP_FILL = 6,
	/** @DRM_VFENCE_OP_TIMESTAMP: &struct drm_vfence_packet_timestamp */
	DRM_VFENCE_OP_TIMESTAMP = 7,
	/** @DRM_VFENCE_OP_HANG: header only; never ends until the queue is aborted */
	DRM_VFENCE_OP_HANG = 8,
	/** @DRM_VFENCE_OP_MONITORED_SIGNAL: &struct drm_vfence_packet_monitored */
	DRM_VFENCE_OP_MONITORED_SIGNAL = 9,
};

/** DRM_VFENCE_PACKET_MAX: longest packet, in bytes, header included */
#define DRM_VFENCE_PACKET_MAX		64

/**
 * struct drm_vfence_packet_header - first eight bytes of every packet
 */
struct drm_vfence_packet_header {
	/** @opcode: &enum drm_vfence_opcode */
	__u16 opcode;
	/** @length: bytes of the whole packet: a multiple of 8, 8 to 64 */
	__u16 length;
	/** @flags: zero */
	__u32 flags;
};

/**
 * struct drm_vfence_packet_wait - stall the queue until current >= value
 */
struct drm_vfence_packet_wait {
	/** @header: length 24 */
	struct drm_vfence_packet_header header;
	/** @current_va: GPU address of a fence's current value */
	__u64 current_va;
	/** @value: value to wait for; 0 never stalls */
	__u64 value;
};

/**
 * struct drm_vfence_packet_signal - store a fence's current value; the CPU is
 * interrupted only if the value exceeds the monitored value (WDDM-9, WDDM-10).
 * The comparison follows the LOG packet behind this one, if there is one.
 */
struct drm_vfence_packet_signal {
	/** @header: length 32 */
	struct drm_vfence_packet_header header;
	/** @current_va: GPU address of the fence's current value */
	__u64 current_va;
	/** @monitored_va: GPU address of the same fence's monitored value */
	__u64 monitored_va;
	/** @value: the new value; a smaller one than before is a rewind, allowed */
	__u64 value;
};

/**
 * struct drm_vfence_packet_log - write an entry for the wait or signal before
 */
struct drm_vfence_packet_log {
	/** @header: length 40 */
	struct drm_vfence_packet_header header;
	/** @log_va: address of this queue's wait or signal log, by @operation */
	__u64 log_va;
	/**
	 * @index: one more than in the LOG packet before for this log, modulo the
	 * entries told at creation, or at the last connect that took a new
	 * geometry over; 0 in the first packet after either
	 */
	__u32 index;
	/** @fence: handle copied into the entry */
	__u32 fence;
	/** @value: value copied into the entry */
	__u64 value;
	/** @operation: &enum drm_vfence_log_operation */
	__u32 operation;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_vfence_packet_draw - keep the engine busy; a preemption point lies
 * between two draws
 */
struct drm_vfence_packet_draw {
	/** @header: length 24 */
	struct drm_vfence_packet_header header;
	/** @count: number of draws, at least 1 */
	__u32 count;
	/** @pad: zero */
	__u32 pad;
	/** @duration_ns: GPU time of one draw in nanoseconds, 10^10 at most */
	__u64 duration_ns;
};

/**
 * struct drm_vfence_packet_copy - copy between data buffers
 */
struct drm_vfence_packet_copy {
	/** @header: length 32 */
	struct drm_vfence_packet_header header;
	/** @src_va: source, multiple of 4 */
	__u64 src_va;
	/** @dst_va: destination, multiple of 4 */
	__u64 dst_va;
	/** @size: bytes, a non-zero multiple of 4 */
	__u64 size;
};

/**
 * struct drm_vfence_packet_fill - fill a data buffer with a 32-bit word
 */
struct drm_vfence_packet_fill {
	/** @header: length 32 */
	struct drm_vfence_packet_header header;
	/** @dst_va: destination, multiple of 4 */
	__u64 dst_va;
	/** @size: bytes, a non-zero multiple of 4 */
	__u64 size;
	/** @value: the word */
	__u32 value;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_vfence_packet_timestamp - store the GPU clock in a data buffer
 */
struct drm_vfence_packet_timestamp {
	/** @header: length 16 */
	struct drm_vfence_packet_header header;
	/** @dst_va: destination, multiple of 8; receives a u64 of GPU ticks */
	__u64 dst_va;
};

/**
 * struct drm_vfence_packet_monitored - write a monitored fence's value (WDDM-116)
 *
 * For kernel-mode queues of adapters with %DRM_VFENCE_ADAPTER_MONITORED_SIGNAL; in
 * others the opcode does not exist (WDDM-113).
 */
struct drm_vfence_packet_monitored {
	/** @header: length 24 */
	struct drm_vfence_packet_header header;
	/** @current_va: GPU address of the fence's value */
	__u64 current_va;
	/** @value: the new value; a smaller one than before is a rewind, allowed */
	__u64 value;
};

/* ----------------------------------------------------------------- objects */

/**
 * struct drm_vfence_obj_array - an array of structures in user memory
 */
struct drm_vfence_obj_array {
	/** @stride: bytes from one element to the next, a multiple of 8 */
	__u32 stride;
	/** @count: number of elements */
	__u32 count;
	/** @array: address of the first element */
	__u64 array;
};

/**
 * DRM_VFENCE_OBJ_ARRAY - fill a &struct drm_vfence_obj_array
 * @n: number of elements
 * @p: pointer to the first
 */
#define DRM_VFENCE_OBJ_ARRAY(n, p) \
	{ .stride = sizeof((p)[0]), .count = (n), .array = (__u64)(uintptr_t)(p) }

/**
 * struct drm_vfence_destroy - argument of the ioctls that destroy a handle
 */
struct drm_vfence_destroy {
	/** @handle: what to destroy */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
};

/**
 * enum drm_vfence_query_type - what DRM_IOCTL_VFENCE_QUERY answers
 */
enum drm_vfence_query_type {
	/** @DRM_VFENCE_QUERY_ADAPTER: &struct drm_vfence_adapter_info */
	DRM_VFENCE_QUERY_ADAPTER = 0,
	/** @DRM_VFENCE_QUERY_NODES: array of &struct drm_vfence_node_info */
	DRM_VFENCE_QUERY_NODES = 1,
	/** @DRM_VFENCE_QUERY_CLOCK: &struct drm_vfence_clock_info */
	DRM_VFENCE_QUERY_CLOCK = 2,
	/* 3 was DRM_VFENCE_QUERY_COUNTERS in versions 1.0 to 1.17; it returns EINVAL now. */
	/** @DRM_VFENCE_QUERY_FEATURES: array of &struct drm_vfence_feature_info */
	DRM_VFENCE_QUERY_FEATURES = 4,
	/** @DRM_VFENCE_QUERY_FENCE_CAPS: &struct drm_vfence_fence_caps */
	DRM_VFENCE_QUERY_FENCE_CAPS = 5,
	/** @DRM_VFENCE_QUERY_COUNTER_VALUES: Array of &struct drm_vfence_counter. */
	DRM_VFENCE_QUERY_COUNTER_VALUES = 6,
	/** @DRM_VFENCE_QUERY_COUNTER_INFOS: Array of &struct drm_vfence_counter_info. */
	DRM_VFENCE_QUERY_COUNTER_INFOS = 7,
};

/**
 * struct drm_vfence_query - ask the adapter something, in two calls
 *
 * With data 0 the call writes the size of the answer. Otherwise min(size,
 * answer) bytes are copied, the rest of the client's buffer is cleared and size
 * becomes the answer's full size.
 */
struct drm_vfence_query {
	/** @type: &enum drm_vfence_query_type */
	__u32 type;
	/** @size: in: bytes at @data, at most 65536; out: size of the answer */
	__u32 size;
	/** @data: address of the answer, or 0 */
	__u64 data;
};

/**
 * DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS: the GPU writes 32 bits at once. There are no
 * native fences, and of a monitored one, unless it has NO_GPU_ACCESS, 32 bits: of the
 * values given the low halves count, which wrap (WDDM-128)
 */
#define DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS	(1 << 0)

/**
 * DRM_VFENCE_ADAPTER_MONITORED_SIGNAL: engines write monitored fences by a packet.
 * Without it software does, when a submission is done
 */
#define DRM_VFENCE_ADAPTER_MONITORED_SIGNAL	(1 << 1)
/**
 * DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT: and interrupt for it (WDDM-130). Without it
 * the CPU looks when a submission is done (WDDM-129)
 */
#define DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT	(1 << 2)

/**
 * struct drm_vfence_adapter_info - what the adapter is
 */
struct drm_vfence_adapter_info {
	/** @nodes: number of nodes (engines) */
	__u32 nodes;
	/** @fence_stride: bytes between the slots of fences in one page */
	__u32 fence_stride;
	/** @physical_doorbells: how many queues can be connected at one time */
	__u32 physical_doorbells;
	/** @log_entries: entries of one log buffer */
	__u32 log_entries;
	/** @va_start: lowest GPU address */
	__u64 va_start;
	/** @va_end: first GPU address above the space */
	__u64 va_end;
	/** @doorbell_size: bytes of a doorbell, from the start of its page */
	__u32 doorbell_size;
	/** @secondary_doorbell_size: of a secondary one; 0: not supported */
	__u32 secondary_doorbell_size;
	/** @flags: DRM_VFENCE_ADAPTER_* */
	__u32 flags;
	/** @pad: zero */
	__u32 pad;
};

/**
 * enum drm_vfence_feature_id - features that are negotiated; WDDM's numbers
 */
enum drm_vfence_feature_id {
	/** @DRM_VFENCE_FEATURE_HWSCH: the GPU schedules its queues */
	DRM_VFENCE_FEATURE_HWSCH = 0,
	/** @DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION: queues filled by clients */
	DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION = 4,
	/** @DRM_VFENCE_FEATURE_NATIVE_FENCE: native fences */
	DRM_VFENCE_FEATURE_NATIVE_FENCE = 37,
};

/** DRM_VFENCE_FEATURE_ENABLED: both sides and all dependencies agree (WDDM-48) */
#define DRM_VFENCE_FEATURE_ENABLED		(1 << 0)
/** DRM_VFENCE_FEATURE_SUPPORTED: the hardware supports it */
#define DRM_VFENCE_FEATURE_SUPPORTED		(1 << 1)
/** DRM_VFENCE_FEATURE_ON_CURRENT_CONFIG: and it works as it is set up */
#define DRM_VFENCE_FEATURE_ON_CURRENT_CONFIG	(1 << 2)

/**
 * struct drm_vfence_feature_info - state of one feature (WDDM-51)
 */
struct drm_vfence_feature_info {
	/** @id: &enum drm_vfence_feature_id */
	__u32 id;
	/** @flags: DRM_VFENCE_FEATURE_* */
	__u32 flags;
	/** @version: the negotiated version, 0 unless enabled */
	__u32 version;
	/** @pad: zero */
	__u32 pad;
};

/** DRM_VFENCE_CAP_NATIVE_FENCE: native fences can be created (WDDM-51) */
#define DRM_VFENCE_CAP_NATIVE_FENCE		(1 << 0)
/** DRM_VFENCE_CAP_MAP_TO_SYSTEM: values are mapped for the system process, too */
#define DRM_VFENCE_CAP_MAP_TO_SYSTEM		(1 << 1)
/** DRM_VFENCE_CAP_OPTIMIZED: monitored values may be in video memory (WDDM-36) */
#define DRM_VFENCE_CAP_OPTIMIZED		(1 << 2)
/** DRM_VFENCE_CAP_INTRA_GPU: fences of type INTRA_GPU can be created (WDDM-36) */
#define DRM_VFENCE_CAP_INTRA_GPU		(1 << 3)
/**
 * DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT: the interrupt names the queue that signaled,
 * and its signal log tells which fences (WDDM-76). A signal without its LOG packet
 * costs a look at all fences of the file
 */
#define DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT	(1 << 4)

/**
 * struct drm_vfence_fence_caps - what native fences are like here (WDDM-53)
 *
 * All zero where the feature is not enabled.
 */
struct drm_vfence_fence_caps {
	/** @flags: DRM_VFENCE_CAP_* */
	__u32 flags;
	/** @stride: bytes between slots of fences in one page */
	__u32 stride;
	/** @minimum_address: lowest GPU address of a fence page; 0: no bound */
	__u64 minimum_address;
	/** @maximum_address: first address above them; 0: no bound (WDDM-29) */
	__u64 maximum_address;
};

/**
 * enum drm_vfence_node_class - what an engine is for
 */
enum drm_vfence_node_class {
	/** @DRM_VFENCE_NODE_GFX: preempted between draws */
	DRM_VFENCE_NODE_GFX = 0,
	/** @DRM_VFENCE_NODE_COMPUTE: preempted between dispatches */
	DRM_VFENCE_NODE_COMPUTE = 1,
	/** @DRM_VFENCE_NODE_COPY: preempted at once */
	DRM_VFENCE_NODE_COPY = 2,
	/** @DRM_VFENCE_NODE_MM: preempted between jobs */
	DRM_VFENCE_NODE_MM = 3,
	/** @DRM_VFENCE_NODE_PAGING: the kernel's own, moves memory; no client queues */
	DRM_VFENCE_NODE_PAGING = 4,
};

/** DRM_VFENCE_NODE_USER_MODE_SUBMISSION: queues with doorbells are allowed */
#define DRM_VFENCE_NODE_USER_MODE_SUBMISSION	(1 << 0)

/**
 * struct drm_vfence_node_info - one node
 */
struct drm_vfence_node_info {
	/** @class_id: &enum drm_vfence_node_class */
	__u32 class_id;
	/** @flags: DRM_VFENCE_NODE_* */
	__u32 flags;
	/** @packets: packets completed */
	__u64 packets;
	/** @signals: fence signals executed */
	__u64 signals;
	/** @suppressed: signals that needed no interrupt */
	__u64 suppressed;
	/** @log_packets: LOG packets executed */
	__u64 log_packets;
	/** @waits_stalled: fence waits that found the value not reached */
	__u64 waits_stalled;
	/** @busy_ns: GPU time charged to packets */
	__u64 busy_ns;
};

/**
 * struct drm_vfence_clock_info - the GPU clock and a calibration pair
 *
 * cpu time of tick t = cpu_ns + (t - gpu_ticks) * 10^9 / frequency_hz.
 */
struct drm_vfence_clock_info {
	/** @frequency_hz: ticks per second */
	__u64 frequency_hz;
	/** @gpu_ticks: the GPU clock now */
	__u64 gpu_ticks;
	/** @cpu_ns: CLOCK_MONOTONIC at the same moment */
	__u64 cpu_ns;
};

/** DRM_VFENCE_COUNTER_NAME_SIZE: Bytes of a counter's name, with its terminating zero. */
#define DRM_VFENCE_COUNTER_NAME_SIZE	32

/**
 * enum drm_vfence_counter_id - ids of the counters that this version of the header knows
 *
 * An id keeps its meaning forever and is never used again. 0 is not an id, so the cleared
 * end of a buffer that is longer than the answer holds no counter. A driver may have
 * counters that are not listed here; a program skips the ids that it does not know.
 *
 * All counters are exact and start at 0 when the adapter is probed. A counter is a total
 * of events unless its line says otherwise. While nothing is in flight these sums hold:
 *
 * - SIGNALS + SHADOW_POSTS = SUPPRESSED + POSTS
 * - POSTS = CMP_RECHECKED_OUT + CMP_RECORDED + CMP_OVERFLOWED
 * - CMP_RECORDED = RECORDS_USEFUL + RECORDS_SPURIOUS, where a record that stands for several
 *   posts counts as many
 * - HANDLER_RUNS = INTERRUPTS_RAISED - INTERRUPTS_COALESCED
 * - WAITS_BEGUN = WAITS_SATISFIED + WAITS_TIMED_OUT + WAITS_CANCELLED
 * - LOG_PACKETS = LOG_ENTRIES_READ + LOG_ENTRIES_LOST + LOG_ENTRIES_UNREAD
 * - SUBMISSIONS = SUBMISSIONS_DONE + SUBMISSIONS_LOST
 */
enum drm_vfence_counter_id {
	/** @DRM_VFENCE_COUNTER_SIGNALS: Fence signals that engines executed. */
	DRM_VFENCE_COUNTER_SIGNALS = 1,
	/**
	 * @DRM_VFENCE_COUNTER_SUPPRESSED: Signals that needed no interrupt: the value did
	 * not exceed the monitored value.
	 */
	DRM_VFENCE_COUNTER_SUPPRESSED = 2,
	/** @DRM_VFENCE_COUNTER_POSTS: Signals that engines handed to the CMP. */
	DRM_VFENCE_COUNTER_POSTS = 3,
	/**
	 * @DRM_VFENCE_COUNTER_CMP_RECHECKED_OUT: Posts that the CMP dropped after it had
	 * compared the value again.
	 */
	DRM_VFENCE_COUNTER_CMP_RECHECKED_OUT = 4,
	/**
	 * @DRM_VFENCE_COUNTER_CMP_RECORDED: Posts that the CMP named in an interrupt
	 * record.
	 */
	DRM_VFENCE_COUNTER_CMP_RECORDED = 5,
	/**
	 * @DRM_VFENCE_COUNTER_CMP_OVERFLOWED: Posts that became a NULL event, for which
	 * the driver scans all fences.
	 */
	DRM_VFENCE_COUNTER_CMP_OVERFLOWED = 6,
	/**
	 * @DRM_VFENCE_COUNTER_INTERRUPTS_RAISED: Times the virtual GPU raised its
	 * interrupt vector.
	 */
	DRM_VFENCE_COUNTER_INTERRUPTS_RAISED = 7,
	/**
	 * @DRM_VFENCE_COUNTER_INTERRUPTS_COALESCED: Raises that found the vector already
	 * pending.
	 */
	DRM_VFENCE_COUNTER_INTERRUPTS_COALESCED = 8,
	/**
	 * @DRM_VFENCE_COUNTER_HANDLER_RUNS: Runs of the interrupt handler, as
	 * /proc/interrupts counts them.
	 */
	DRM_VFENCE_COUNTER_HANDLER_RUNS = 9,
	/**
	 * @DRM_VFENCE_COUNTER_RECORDS_USEFUL: Recorded fences that completed at least one
	 * waiter.
	 */
	DRM_VFENCE_COUNTER_RECORDS_USEFUL = 10,
	/**
	 * @DRM_VFENCE_COUNTER_RECORDS_SPURIOUS: Recorded fences that completed no waiter,
	 * which is legal.
	 */
	DRM_VFENCE_COUNTER_RECORDS_SPURIOUS = 11,
	/**
	 * @DRM_VFENCE_COUNTER_SCANS: NULL events, for each of which the driver scanned
	 * every fence with waiters.
	 */
	DRM_VFENCE_COUNTER_SCANS = 12,
	/** @DRM_VFENCE_COUNTER_CPU_SIGNALS: Fence points that the CPU signaled. */
	DRM_VFENCE_COUNTER_CPU_SIGNALS = 13,
	/**
	 * @DRM_VFENCE_COUNTER_WAITS_BEGUN: CPU waits and events that the driver queued on
	 * a fence.
	 */
	DRM_VFENCE_COUNTER_WAITS_BEGUN = 14,
	/**
	 * @DRM_VFENCE_COUNTER_WAITS_SATISFIED: Begun waits that ended because their values
	 * were reached.
	 */
	DRM_VFENCE_COUNTER_WAITS_SATISFIED = 15,
	/** @DRM_VFENCE_COUNTER_WAITS_TIMED_OUT: Begun waits that their deadline ended. */
	DRM_VFENCE_COUNTER_WAITS_TIMED_OUT = 16,
	/**
	 * @DRM_VFENCE_COUNTER_WAITS_CANCELLED: Begun waits that a signal, a cancellation,
	 * a close or an error ended.
	 */
	DRM_VFENCE_COUNTER_WAITS_CANCELLED = 17,
	/**
	 * @DRM_VFENCE_COUNTER_SECOND_SAMPLE: Waits that the second sample, after arming,
	 * found satisfied (WDDM-13).
	 */
	DRM_VFENCE_COUNTER_SECOND_SAMPLE = 18,
	/** @DRM_VFENCE_COUNTER_LOG_ENTRIES_READ: Log entries that the driver read. */
	DRM_VFENCE_COUNTER_LOG_ENTRIES_READ = 19,
	/**
	 * @DRM_VFENCE_COUNTER_LOG_ENTRIES_LOST: Log entries that the GPU overwrote before
	 * the driver read them.
	 */
	DRM_VFENCE_COUNTER_LOG_ENTRIES_LOST = 20,
	/**
	 * @DRM_VFENCE_COUNTER_LOG_ENTRIES_UNREAD: Level: log entries of live queues that
	 * the driver has not read yet.
	 */
	DRM_VFENCE_COUNTER_LOG_ENTRIES_UNREAD = 21,
	/** @DRM_VFENCE_COUNTER_LOG_PACKETS: LOG packets that engines executed. */
	DRM_VFENCE_COUNTER_LOG_PACKETS = 22,
	/** @DRM_VFENCE_COUNTER_IOCTLS: Ioctls of the driver that it served. */
	DRM_VFENCE_COUNTER_IOCTLS = 23,
	/** @DRM_VFENCE_COUNTER_DOORBELL_FAULTS: Page faults on doorbell pages. */
	DRM_VFENCE_COUNTER_DOORBELL_FAULTS = 24,
	/**
	 * @DRM_VFENCE_COUNTER_PAGE_FAULTS: Page faults on all other pages that the driver
	 * maps.
	 */
	DRM_VFENCE_COUNTER_PAGE_FAULTS = 25,
	/**
	 * @DRM_VFENCE_COUNTER_FENCES_CREATED: Create calls to the virtual GPU (WDDM-55).
	 */
	DRM_VFENCE_COUNTER_FENCES_CREATED = 26,
	/**
	 * @DRM_VFENCE_COUNTER_FENCES_OPENED: Open calls to the virtual GPU, one for each
	 * holder (WDDM-56).
	 */
	DRM_VFENCE_COUNTER_FENCES_OPENED = 27,
	/** @DRM_VFENCE_COUNTER_FENCES_CLOSED: Close calls to the virtual GPU (WDDM-57). */
	DRM_VFENCE_COUNTER_FENCES_CLOSED = 28,
	/**
	 * @DRM_VFENCE_COUNTER_FENCES_DESTROYED: Destroy calls to the virtual GPU, after
	 * the last close (WDDM-58).
	 */
	DRM_VFENCE_COUNTER_FENCES_DESTROYED = 29,
	/** @DRM_VFENCE_COUNTER_QUEUES: Level: hardware queues that exist. */
	DRM_VFENCE_COUNTER_QUEUES = 30,
	/** @DRM_VFENCE_COUNTER_DOORBELLS_CONNECTED: Level: physical doorbells in use. */
	DRM_VFENCE_COUNTER_DOORBELLS_CONNECTED = 31,
	/**
	 * @DRM_VFENCE_COUNTER_VICTIMISATIONS: Doorbells that one queue lost to another.
	 */
	DRM_VFENCE_COUNTER_VICTIMISATIONS = 32,
	/** @DRM_VFENCE_COUNTER_MONITORED_UPDATES: Updates of monitored values. */
	DRM_VFENCE_COUNTER_MONITORED_UPDATES = 33,
	/**
	 * @DRM_VFENCE_COUNTER_MONITORED_UPDATES_IRQ: Updates of monitored values from a
	 * hard interrupt (WDDM-61).
	 */
	DRM_VFENCE_COUNTER_MONITORED_UPDATES_IRQ = 34,
	/**
	 * @DRM_VFENCE_COUNTER_SHADOW_POSTS: Posts that the CMP made itself, when an update
	 * met a value already due.
	 */
	DRM_VFENCE_COUNTER_SHADOW_POSTS = 35,
	/**
	 * @DRM_VFENCE_COUNTER_LOCAL_PAGES: Level: pages of fence values that are in video
	 * memory.
	 */
	DRM_VFENCE_COUNTER_LOCAL_PAGES = 36,
	/**
	 * @DRM_VFENCE_COUNTER_EVICTIONS: Pages of fence values that the driver moved to
	 * system memory.
	 */
	DRM_VFENCE_COUNTER_EVICTIONS = 37,
	/**
	 * @DRM_VFENCE_COUNTER_LOG_BUFFERS_SET: Log buffers handed to the virtual GPU
	 * (WDDM-97).
	 */
	DRM_VFENCE_COUNTER_LOG_BUFFERS_SET = 38,
	/**
	 * @DRM_VFENCE_COUNTER_LOG_FLUSHES: Batches of logs that the driver committed
	 * (WDDM-92).
	 */
	DRM_VFENCE_COUNTER_LOG_FLUSHES = 39,
	/**
	 * @DRM_VFENCE_COUNTER_LOG_QUEUES_FLUSHED: Queues in the batches of logs committed
	 * (WDDM-93).
	 */
	DRM_VFENCE_COUNTER_LOG_QUEUES_FLUSHED = 40,
	/** @DRM_VFENCE_COUNTER_LOG_MARKERS: Markers that were logged. */
	DRM_VFENCE_COUNTER_LOG_MARKERS = 41,
	/**
	 * @DRM_VFENCE_COUNTER_RECORDS_ARRAY: Interrupt records with an exact array of
	 * fences.
	 */
	DRM_VFENCE_COUNTER_RECORDS_ARRAY = 42,
	/**
	 * @DRM_VFENCE_COUNTER_RECORDS_NULL: Interrupt records with a NULL array, which
	 * make the driver scan all fences.
	 */
	DRM_VFENCE_COUNTER_RECORDS_NULL = 43,
	/**
	 * @DRM_VFENCE_COUNTER_RECORDS_QUEUE: Interrupt records that name a queue (the
	 * optimised form).
	 */
	DRM_VFENCE_COUNTER_RECORDS_QUEUE = 44,
	/**
	 * @DRM_VFENCE_COUNTER_RECORDS_QUEUE_NULL: Interrupt records with a NULL queue, for
	 * which the driver reads all logs of a node.
	 */
	DRM_VFENCE_COUNTER_RECORDS_QUEUE_NULL = 45,
	/**
	 * @DRM_VFENCE_COUNTER_LOG_SCANS: Times the driver read the logs of all queues of a
	 * node for such a record.
	 */
	DRM_VFENCE_COUNTER_LOG_SCANS = 46,
	/**
	 * @DRM_VFENCE_COUNTER_LIVE_READS: Fences whose value the driver read, because no
	 * log entry named it (WDDM-80).
	 */
	DRM_VFENCE_COUNTER_LIVE_READS = 47,
	/**
	 * @DRM_VFENCE_COUNTER_LEGACY_SCANS: Scans of all waiters of monitored fences, or
	 * of one file's.
	 */
	DRM_VFENCE_COUNTER_LEGACY_SCANS = 48,
	/**
	 * @DRM_VFENCE_COUNTER_F1_TRANSITIONS: Transitions of an engine from F0 to F1
	 * (WDDM-196).
	 */
	DRM_VFENCE_COUNTER_F1_TRANSITIONS = 49,
	/** @DRM_VFENCE_COUNTER_ENGINES_IN_F1: Level: engines that are in F1. */
	DRM_VFENCE_COUNTER_ENGINES_IN_F1 = 50,
	/**
	 * @DRM_VFENCE_COUNTER_D3_TRANSITIONS: Transitions of the adapter from D0 to D3
	 * (WDDM-197).
	 */
	DRM_VFENCE_COUNTER_D3_TRANSITIONS = 51,
	/** @DRM_VFENCE_COUNTER_ENGINE_RESETS: Resets of an engine (WDDM-195, WDDM-204). */
	DRM_VFENCE_COUNTER_ENGINE_RESETS = 52,
	/**
	 * @DRM_VFENCE_COUNTER_RECORDS_MONITORED: Interrupt records for a write to a
	 * monitored fence (WDDM-130).
	 */
	DRM_VFENCE_COUNTER_RECORDS_MONITORED = 53,
	/**
	 * @DRM_VFENCE_COUNTER_SUBMISSIONS: Submissions that kernel-mode queues accepted,
	 * one for each queue.
	 */
	DRM_VFENCE_COUNTER_SUBMISSIONS = 54,
	/**
	 * @DRM_VFENCE_COUNTER_SUBMISSIONS_HELD: Submissions that waited for a fence before
	 * they went to the GPU.
	 */
	DRM_VFENCE_COUNTER_SUBMISSIONS_HELD = 55,
	/** @DRM_VFENCE_COUNTER_SUBMISSIONS_DONE: Submissions that completed. */
	DRM_VFENCE_COUNTER_SUBMISSIONS_DONE = 56,
	/**
	 * @DRM_VFENCE_COUNTER_SUBMISSIONS_LOST: Submissions that ended because their queue
	 * was lost.
	 */
	DRM_VFENCE_COUNTER_SUBMISSIONS_LOST = 57,
	/**
	 * @DRM_VFENCE_COUNTER_SUBMISSIONS_TIMED_OUT: Lost submissions that took longer
	 * than two seconds.
	 */
	DRM_VFENCE_COUNTER_SUBMISSIONS_TIMED_OUT = 58,
	/**
	 * @DRM_VFENCE_COUNTER_HANDLER_NS: Nanoseconds: time in the hard half of the
	 * interrupt handler, with interrupts off.
	 */
	DRM_VFENCE_COUNTER_HANDLER_NS = 59,
	/**
	 * @DRM_VFENCE_COUNTER_HANDLER_MAX_NS: Maximum in nanoseconds: longest run of the
	 * hard half of the interrupt handler.
	 */
	DRM_VFENCE_COUNTER_HANDLER_MAX_NS = 60,
};

/**
 * struct drm_vfence_counter - value of one counter
 *
 * The answer to %DRM_VFENCE_QUERY_COUNTER_VALUES is an array with one element for each
 * counter of the driver, in ascending order of id. The structure keeps its size.
 */
struct drm_vfence_counter {
	/** @id: &enum drm_vfence_counter_id, or an id that only a newer header lists. */
	__u32 id;
	/** @pad: Zero. */
	__u32 pad;
	/** @value: Value of the counter, in &drm_vfence_counter_info.unit. */
	__u64 value;
};

/**
 * enum drm_vfence_counter_kind - how the values of a counter relate over time
 */
enum drm_vfence_counter_kind {
	/**
	 * @DRM_VFENCE_COUNTER_KIND_TOTAL: The value only grows. The difference of two
	 * values is what happened between them.
	 */
	DRM_VFENCE_COUNTER_KIND_TOTAL = 0,
	/** @DRM_VFENCE_COUNTER_KIND_LEVEL: The value is what exists now. It can fall. */
	DRM_VFENCE_COUNTER_KIND_LEVEL = 1,
	/** @DRM_VFENCE_COUNTER_KIND_MAXIMUM: The value is the largest one since the probe. */
	DRM_VFENCE_COUNTER_KIND_MAXIMUM = 2,
};

/**
 * enum drm_vfence_counter_unit - unit of a counter's value
 */
enum drm_vfence_counter_unit {
	/** @DRM_VFENCE_COUNTER_UNIT_COUNT: Events or objects. */
	DRM_VFENCE_COUNTER_UNIT_COUNT = 0,
	/** @DRM_VFENCE_COUNTER_UNIT_NS: Nanoseconds. */
	DRM_VFENCE_COUNTER_UNIT_NS = 1,
};

/**
 * struct drm_vfence_counter_info - description of one counter
 *
 * The answer to %DRM_VFENCE_QUERY_COUNTER_INFOS is an array with the ids of
 * %DRM_VFENCE_QUERY_COUNTER_VALUES, in the order of that array. It does not change while
 * the adapter is bound. The structure keeps its size.
 */
struct drm_vfence_counter_info {
	/** @id: &enum drm_vfence_counter_id, or an id that only a newer header lists. */
	__u32 id;
	/** @kind: &enum drm_vfence_counter_kind. */
	__u32 kind;
	/** @unit: &enum drm_vfence_counter_unit. */
	__u32 unit;
	/** @pad: Zero. */
	__u32 pad;
	/**
	 * @name: Name of the counter for people and tools: lower-case letters, digits and
	 * underscores, then zeroes up to the end. No two counters have one name, and a name
	 * is as permanent as its id. %DRM_VFENCE_COUNTER_SIGNALS is "signals".
	 */
	char name[DRM_VFENCE_COUNTER_NAME_SIZE];
};

/**
 * struct drm_vfence_device_create - create a device, the unit of error
 *
 * Errors: ENOSPC beyond 64 devices of a file.
 */
struct drm_vfence_device_create {
	/** @flags: zero */
	__u32 flags;
	/** @handle: out */
	__u32 handle;
};

/**
 * enum drm_vfence_device_state - execution state; WDDM's numbers
 */
enum drm_vfence_device_state {
	/** @DRM_VFENCE_DEVICE_ACTIVE: works */
	DRM_VFENCE_DEVICE_ACTIVE = 1,
	/** @DRM_VFENCE_DEVICE_RESET: lost by the reset of an engine another had hung */
	DRM_VFENCE_DEVICE_RESET = 2,
	/**
	 * @DRM_VFENCE_DEVICE_HUNG: a queue of it got nowhere, or a context did not
	 * leave when it was suspended: its engine was reset; or a submission took more
	 * than two seconds: its queue was aborted
	 */
	DRM_VFENCE_DEVICE_HUNG = 3,
	/** @DRM_VFENCE_DEVICE_STOPPED: the adapter is gone */
	DRM_VFENCE_DEVICE_STOPPED = 4,
	/** @DRM_VFENCE_DEVICE_ERROR_DMAFAULT: a queue met a bad packet */
	DRM_VFENCE_DEVICE_ERROR_DMAFAULT = 6,
	/** @DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT: a queue met a bad address */
	DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT = 7,
};

/**
 * struct drm_vfence_device_query - state of a device; works in error, too
 */
struct drm_vfence_device_query {
	/** @handle: the device */
	__u32 handle;
	/** @state: out: &enum drm_vfence_device_state */
	__u32 state;
};

/**
 * struct drm_vfence_context_create - create a context on a node
 *
 * Errors: EINVAL for a node that does not exist; ENOSPC beyond 64 contexts.
 */
struct drm_vfence_context_create {
	/** @device: the parent */
	__u32 device;
	/** @node: index of the node */
	__u32 node;
	/** @flags: zero */
	__u32 flags;
	/** @handle: out */
	__u32 handle;
};

/**
 * struct drm_vfence_context_suspend - stop a context's queues, with all they have
 * in flight, until it is resumed (WDDM-193)
 *
 * Doorbells stay connected, rings resident; what is submitted meanwhile is done
 * after the resume. Kernel-mode queues still have two seconds for each submission.
 * Returns when the GPU has let go of all queues. A context that is suspended already
 * stays so.
 *
 * Errors: ETIME where the GPU did not acknowledge within two seconds: the engine was
 * reset and the device is %DRM_VFENCE_DEVICE_HUNG; EINTR, after which it is suspended or will be.
 */
struct drm_vfence_context_suspend {
	/** @context: the context */
	__u32 context;
	/** @flags: zero */
	__u32 flags;
	/** @fence: out: number of this suspension, increasing (WDDM-194) */
	__u64 fence;
};

/**
 * struct drm_vfence_context_resume - let a context's queues go on
 *
 * One that is not suspended stays as it is.
 */
struct drm_vfence_context_resume {
	/** @context: the context */
	__u32 context;
	/** @flags: zero */
	__u32 flags;
};

/**
 * struct drm_vfence_bo_create - create a data buffer (a GEM object)
 *
 * Errors: EINVAL for a size of 0 or above %DRM_VFENCE_MAX_BO_SIZE.
 */
struct drm_vfence_bo_create {
	/** @size: bytes; rounded up to pages */
	__u64 size;
	/** @flags: zero */
	__u32 flags;
	/** @handle: out: GEM handle */
	__u32 handle;
	/** @mmap_offset: out: where to mmap() it */
	__u64 mmap_offset;
};

/** DRM_VFENCE_VM_READ: the GPU may read */
#define DRM_VFENCE_VM_READ		(1 << 0)
/** DRM_VFENCE_VM_WRITE: the GPU may write */
#define DRM_VFENCE_VM_WRITE		(1 << 1)

/**
 * struct drm_vfence_vm_bind - map a buffer into the file's GPU address space
 *
 * Errors: EEXIST where the range is taken; ENOSPC when no room is left, or
 * beyond 1024 mappings; EOPNOTSUPP for a dma-buf that is not plain memory.
 */
struct drm_vfence_vm_bind {
	/** @handle: GEM handle */
	__u32 handle;
	/** @flags: DRM_VFENCE_VM_*, at least one */
	__u32 flags;
	/** @offset: first byte of the buffer, a multiple of 4096 */
	__u64 offset;
	/** @size: bytes, a non-zero multiple of 4096 */
	__u64 size;
	/** @va: in: address (multiple of 4096) or 0 to choose; out: address */
	__u64 va;
};

/**
 * struct drm_vfence_vm_unbind - remove a mapping; the GPU has stopped using it
 * when the call returns
 *
 * Errors: ENOENT where no mapping of a buffer starts.
 */
struct drm_vfence_vm_unbind {
	/** @va: where the mapping starts */
	__u64 va;
};

/* ------------------------------------------------------------------ fences */

/**
 * enum drm_vfence_fence_type - WDDM's native fence types
 */
enum drm_vfence_fence_type {
	/** @DRM_VFENCE_FENCE_DEFAULT: all waits and signals (WDDM-30) */
	DRM_VFENCE_FENCE_DEFAULT = 0,
	/**
	 * @DRM_VFENCE_FENCE_INTRA_GPU: for queues of one GPU alone: the values may
	 * be in video memory the CPU cannot see, so that there is no mapping, no
	 * CPU wait and no CPU signal (EOPNOTSUPP), and the first value is whatever
	 * a packet of the client stores (WDDM-31..33)
	 */
	DRM_VFENCE_FENCE_INTRA_GPU = 1,
	/**
	 * @DRM_VFENCE_FENCE_MONITORED: no native fence but a monitored one, of
	 * MONITORED_FENCE_CREATE; what a query tells, and not for FENCE_CREATE
	 */
	DRM_VFENCE_FENCE_MONITORED = 2,
};

/**
 * struct drm_vfence_fence_mapping - where a fence's values are
 */
struct drm_vfence_fence_mapping {
	/** @current_offset: mmap() offset of the page of the current value, or 0 */
	__u64 current_offset;
	/** @current_va: GPU address of the current value: read and write; or 0 */
	__u64 current_va;
	/** @monitored_va: GPU address of the monitored value: read only; or 0 */
	__u64 monitored_va;
	/** @current_page_offset: the value's place in that page, in bytes */
	__u32 current_page_offset;
	/** @pad: zero */
	__u32 pad;
};

/** DRM_VFENCE_FENCE_SHAREABLE: pages of its own; may be exported */
#define DRM_VFENCE_FENCE_SHAREABLE	(1 << 0)
/**
 * DRM_VFENCE_FENCE_CROSS_ADAPTER: may be opened on other adapters, too; needs
 * SHAREABLE and type DEFAULT (WDDM-45). There is one current value for all, and
 * every signal other than 0 interrupts the CPU, which tells the other adapters.
 * Where native fences are not supported it is a monitored one (WDDM-109)
 */
#define DRM_VFENCE_FENCE_CROSS_ADAPTER	(1 << 1)

/**
 * struct drm_vfence_fence_create - create a native fence (WDDM-37)
 *
 * Errors: EINVAL for a bit of engine_affinity without a physical adapter, or
 * CROSS_ADAPTER with INTRA_GPU or without SHAREABLE; EOPNOTSUPP for a type not
 * supported, or without the feature; ENOSPC beyond 4096 fences.
 */
struct drm_vfence_fence_create {
	/** @device: the parent */
	__u32 device;
	/** @type: &enum drm_vfence_fence_type */
	__u32 type;
	/** @flags: DRM_VFENCE_FENCE_* */
	__u32 flags;
	/** @handle: out */
	__u32 handle;
	/** @initial_value: first current value; zero for INTRA_GPU */
	__u64 initial_value;
	/** @mapping: out */
	struct drm_vfence_fence_mapping mapping;
	/**
	 * @engine_affinity: physical adapters on which the addresses are mapped,
	 * a bit for each; 0: all. Adapters are not linked: there is one (WDDM-40)
	 */
	__u32 engine_affinity;
	/** @pad: zero */
	__u32 pad;
	/**
	 * @private_data: in: anything, handed to the virtual GPU, which keeps it
	 * with the fence; out: what it kept
	 */
	__u8 private_data[DRM_VFENCE_PRIVATE_DATA];
};

/**
 * DRM_VFENCE_MONITORED_SHARED: may be exported; needs NT_SECURITY_SHARING. These
 * flags have WDDM's values
 */
#define DRM_VFENCE_MONITORED_SHARED		(1 << 0)
/** DRM_VFENCE_MONITORED_NT_SECURITY_SHARING: and only so; needs SHARED (WDDM-120) */
#define DRM_VFENCE_MONITORED_NT_SECURITY_SHARING (1 << 1)
/**
 * DRM_VFENCE_MONITORED_CROSS_ADAPTER: may be opened on other adapters, too, and is
 * a native fence where these are supported (WDDM-110); needs SHARED and GPU access
 */
#define DRM_VFENCE_MONITORED_CROSS_ADAPTER	(1 << 2)
/**
 * DRM_VFENCE_MONITORED_TOP_OF_PIPELINE: signals of submissions come when what was before
 * them has been fetched by the GPU, done or not (WDDM-122)
 */
#define DRM_VFENCE_MONITORED_TOP_OF_PIPELINE	(1 << 3)
/** DRM_VFENCE_MONITORED_NO_SIGNAL: this handle may not signal (WDDM-117) */
#define DRM_VFENCE_MONITORED_NO_SIGNAL		(1 << 4)
/** DRM_VFENCE_MONITORED_NO_WAIT: this handle may not wait (WDDM-118) */
#define DRM_VFENCE_MONITORED_NO_WAIT		(1 << 5)
/**
 * DRM_VFENCE_MONITORED_NO_SIGNAL_MAX_VALUE_ON_TDR: without it the fence jumps to its
 * maximum when a reset, or a submission that took too long, costs a device with a
 * handle that may signal it, where it is a monitored one (WDDM-123, WDDM-124)
 */
#define DRM_VFENCE_MONITORED_NO_SIGNAL_MAX_VALUE_ON_TDR (1 << 6)
/** DRM_VFENCE_MONITORED_NO_GPU_ACCESS: it has no GPU address (WDDM-121) */
#define DRM_VFENCE_MONITORED_NO_GPU_ACCESS	(1 << 7)
/**
 * DRM_VFENCE_MONITORED_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY: CPU waits end with the
 * last handle and descriptor; without it those on an adapter end, whoever's they
 * are, each time one handle is destroyed there (WDDM-125, WDDM-126)
 */
#define DRM_VFENCE_MONITORED_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY (1 << 10)

/**
 * struct drm_vfence_monitored_fence_create - create a monitored fence (WDDM-114)
 *
 * A value in memory that the hardware knows nothing of: there is no monitored
 * value, and the CPU looks whenever something may have changed it. The handle is
 * one like those of native fences: waits, events, signals and exports take both
 * kinds, side by side. User-mode queues cannot use it (WDDM-113). It needs no
 * feature, and is there where native fences are not. Where it has 32 bits a value
 * means the one nearest to the current value, so that waits work across the wrap
 * as long as they and signals stay within 2^31 of the last signal.
 *
 * Errors: EINVAL for NO_SIGNAL with NO_WAIT (WDDM-119), for one of SHARED and
 * NT_SECURITY_SHARING without the other, for CROSS_ADAPTER without SHARED or with
 * NO_GPU_ACCESS, or a bit of engine_affinity without a physical adapter;
 * EOPNOTSUPP for CROSS_ADAPTER where fences have 32 bits; ENOSPC beyond 4096 fences
 * of both kinds.
 */
struct drm_vfence_monitored_fence_create {
	/** @device: the parent */
	__u32 device;
	/** @flags: DRM_VFENCE_MONITORED_* */
	__u32 flags;
	/** @handle: out */
	__u32 handle;
	/** @engine_affinity: as in &struct drm_vfence_fence_create */
	__u32 engine_affinity;
	/** @initial_value: first current value */
	__u64 initial_value;
	/** @mapping: out: the value alone; the CPU reads it (WDDM-115) */
	struct drm_vfence_fence_mapping mapping;
};

/** DRM_VFENCE_RIGHT_READ: open it at all, map and query it */
#define DRM_VFENCE_RIGHT_READ		(1 << 0)
/** DRM_VFENCE_RIGHT_WAIT: wait for it, on the CPU and on the GPU */
#define DRM_VFENCE_RIGHT_WAIT		(1 << 1)
/** DRM_VFENCE_RIGHT_SIGNAL: signal it, from the CPU and from the GPU */
#define DRM_VFENCE_RIGHT_SIGNAL		(1 << 2)
/** DRM_VFENCE_RIGHTS_ALL: what the creator has */
#define DRM_VFENCE_RIGHTS_ALL \
	(DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT | DRM_VFENCE_RIGHT_SIGNAL)

/**
 * struct drm_vfence_fence_export - get a file descriptor (O_CLOEXEC)
 *
 * The descriptor carries rights, and so do the handles opened from it. Calls are
 * checked by the handle they name; packets by what the handles of their file
 * allow together, as these share their addresses. It cannot be polled: there is no value
 * to poll for (EVENT_ARM).
 *
 * Errors: EPERM where the fence is not shareable (WDDM-41); EACCES for a right
 * the handle does not have; EMFILE.
 */
struct drm_vfence_fence_export {
	/** @handle: the fence */
	__u32 handle;
	/** @flags: DRM_VFENCE_RIGHT_*; 0: all that the handle has */
	__u32 flags;
	/** @fd: out */
	__s32 fd;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_vfence_fence_open - open a shared fence
 *
 * Within one file the addresses are those of the first holder (WDDM-42). Opened on
 * another adapter than its creator's a fence is of the kind that adapter supports;
 * DRM_IOCTL_VFENCE_FENCE_QUERY tells which.
 *
 * Errors: EINVAL for a bit of engine_affinity without a physical adapter, both
 * flags, or a flag with what is a native fence here; EBADF for a closed descriptor;
 * EINVAL for one that is no fence, or a fence of another adapter that is not
 * CROSS_ADAPTER; EACCES for one without %DRM_VFENCE_RIGHT_READ; EOPNOTSUPP for one
 * of another adapter where fences have 32 bits; ENOSPC beyond 4096 fences.
 */
struct drm_vfence_fence_open {
	/** @device: the parent */
	__u32 device;
	/** @fd: from DRM_IOCTL_VFENCE_FENCE_EXPORT */
	__s32 fd;
	/**
	 * @flags: of what is a monitored fence here: %DRM_VFENCE_MONITORED_NO_SIGNAL
	 * or %DRM_VFENCE_MONITORED_NO_WAIT, on top of what the descriptor allows;
	 * zero for a native one
	 */
	__u32 flags;
	/** @handle: out */
	__u32 handle;
	/** @mapping: out */
	struct drm_vfence_fence_mapping mapping;
	/** @engine_affinity: as in &struct drm_vfence_fence_create */
	__u32 engine_affinity;
	/** @pad: zero */
	__u32 pad;
	/** @private_data: out: what the creator gave along */
	__u8 private_data[DRM_VFENCE_PRIVATE_DATA];
};

/**
 * struct drm_vfence_fence_point - a fence and a value
 */
struct drm_vfence_fence_point {
	/** @fence: handle */
	__u32 fence;
	/** @flags: zero */
	__u32 flags;
	/** @value: value to wait for or to signal */
	__u64 value;
};

/**
 * DRM_VFENCE_SIGNAL_ALLOW_REWIND: monitored fences may be given a value below the
 * one they have (WDDM-135); native ones always may
 */
#define DRM_VFENCE_SIGNAL_ALLOW_REWIND	(1 << 0)

/**
 * struct drm_vfence_fence_signal - signal fences from the CPU, in order
 *
 * Everything is checked before the first value is stored. Calls are serialised;
 * the newest value wins (WDDM-69). Errors: EINVAL for a count of 0 or above
 * %DRM_VFENCE_MAX_POINTS, or for a smaller value of a monitored fence without
 * ALLOW_REWIND; EACCES for a handle without %DRM_VFENCE_RIGHT_SIGNAL; EOPNOTSUPP
 * for a fence of type INTRA_GPU.
 */
struct drm_vfence_fence_signal {
	/** @flags: DRM_VFENCE_SIGNAL_* */
	__u32 flags;
	/** @pad: zero */
	__u32 pad;
	/** @points: array of &struct drm_vfence_fence_point */
	struct drm_vfence_obj_array points;
};

/** DRM_VFENCE_IMPORT_SYNCOBJ: the source is a syncobj, not a sync_file */
#define DRM_VFENCE_IMPORT_SYNCOBJ	(1 << 0)

/**
 * struct drm_vfence_fence_import - signal a fence when a dma_fence has signaled
 *
 * What a sync_file or a syncobj's point stands for at the time of the call becomes a
 * signal of a fence of either kind, as FENCE_SIGNAL with ALLOW_REWIND would perform
 * it. If the dma_fence failed, the fence fails, on all adapters: CPU waits for it, now
 * and later, end with EIO, and queues that wait for it go on (WDDM-66). Closing the file
 * forgets what has not signaled. Nothing leads the other way: no fence of this
 * driver is behind a dma_fence.
 *
 * Errors: EINVAL for a descriptor that is no sync_file; ENOENT for a syncobj
 * that does not exist, EINVAL for one without a fence or a point nobody has submitted;
 * EACCES for a handle without %DRM_VFENCE_RIGHT_SIGNAL; EOPNOTSUPP for a fence of type
 * INTRA_GPU; ENOSPC beyond 1024 imports of a file that wait.
 */
struct drm_vfence_fence_import {
	/** @fence: the fence to signal */
	__u32 fence;
	/** @flags: DRM_VFENCE_IMPORT_* */
	__u32 flags;
	/** @source: a sync_file's descriptor, or a syncobj's handle */
	__u32 source;
	/** @pad: zero */
	__u32 pad;
	/** @point: of a timeline syncobj; zero for a binary one and a sync_file */
	__u64 point;
	/** @value: to signal */
	__u64 value;
};

/**
 * struct drm_vfence_fence_query - look at a fence
 */
struct drm_vfence_fence_query {
	/** @handle: the fence */
	__u32 handle;
	/** @flags: zero */
	__u32 flags;
	/** @current_value: out: CurrentValue; 0 for INTRA_GPU */
	__u64 current_value;
	/** @monitored_value: out: MonitoredValue (WDDM-5, WDDM-6), or U64_MAX */
	__u64 monitored_value;
	/** @waiters: out: CPU waits and events on it */
	__u64 waiters;
	/** @interrupts: out: records that named it */
	__u64 interrupts;
	/** @spurious: out: of these, those that completed nobody */
	__u64 spurious;
	/** @woken: out: waits it satisfied after they had been put on it */
	__u64 woken;
	/** @signals: out: GPU signals executed on it; 0 for a monitored fence */
	__u64 signals;
	/** @rights: out: DRM_VFENCE_RIGHT_* of the handle */
	__u32 rights;
	/** @type: out: &enum drm_vfence_fence_type */
	__u32 type;
	/** @current_system_va: out: in the system process's space, or 0 (WDDM-60) */
	__u64 current_system_va;
	/** @monitored_system_va: out: likewise */
	__u64 monitored_system_va;
};

/** DRM_VFENCE_WAIT_ANY: one point is enough; without it all are needed */
#define DRM_VFENCE_WAIT_ANY		(1 << 0)

/**
 * struct drm_vfence_wait - sleep until fences have reached values
 *
 * Reached beats interrupted beats timed out. A point that was once reached
 * stays reached, though the fence be rewound. The optional signals are
 * performed first, once everything has been checked, without ALLOW_REWIND; if the
 * wait is interrupted after that, signals.count is set to 0, so that the restarted
 * call does not signal again. In all other cases it stays.
 *
 * Errors: ETIME; EINTR; ECANCELED where a fence was destroyed by its last
 * holder, or a monitored one by any; EIO where it is the progress fence of a queue
 * that is lost; ENODEV where the device went; EINVAL for a negative timeout, no
 * points, or more than %DRM_VFENCE_MAX_POINTS of either kind; EACCES for a handle without the right
 * to wait, or to signal; EOPNOTSUPP for a fence of type INTRA_GPU.
 */
struct drm_vfence_wait {
	/** @flags: DRM_VFENCE_WAIT_* */
	__u32 flags;
	/** @first: out: with ANY the index of a reached point */
	__u32 first;
	/** @timeout_ns: CLOCK_MONOTONIC, absolute; 0 polls; INT64_MAX: no limit */
	__s64 timeout_ns;
	/** @points: array of &struct drm_vfence_fence_point */
	struct drm_vfence_obj_array points;
	/** @signals: array of &struct drm_vfence_fence_point, may be empty */
	struct drm_vfence_obj_array signals;
};

/**
 * struct drm_vfence_event_arm - signal an eventfd when fences reach values
 *
 * One shot. If the points are reached already nothing is armed, the eventfd is
 * left alone and @reached is 1. A device that goes, or a fence that is
 * destroyed, signals the eventfd as well.
 *
 * Errors: as &struct drm_vfence_wait; EBADF or EINVAL for a descriptor that is
 * no eventfd; ENOSPC beyond 4096 armed events of a file, or 65536 points of
 * them, before anything is signaled. Interrupted (EINTR) before that, too.
 */
struct drm_vfence_event_arm {
	/** @flags: DRM_VFENCE_WAIT_* */
	__u32 flags;
	/** @eventfd: an eventfd */
	__s32 eventfd;
	/** @points: array of &struct drm_vfence_fence_point */
	struct drm_vfence_obj_array points;
	/** @signals: performed first, may be empty */
	struct drm_vfence_obj_array signals;
	/** @event: out: handle for cancelling, 0 if reached */
	__u32 event;
	/** @reached: out: 1 if there was nothing to wait for */
	__u32 reached;
};

/* ------------------------------------------------------------------ queues */

/** DRM_VFENCE_QUEUE_USER_MODE: filled by the client, started by a doorbell */
#define DRM_VFENCE_QUEUE_USER_MODE	(1 << 0)
/**
 * DRM_VFENCE_QUEUE_NATIVE_PROGRESS: out: the progress fence is a native one. That of a
 * kernel-mode queue is a monitored one where these are not supported (WDDM-200)
 */
#define DRM_VFENCE_QUEUE_NATIVE_PROGRESS (1 << 1)

/**
 * struct drm_vfence_queue_create - create a hardware queue with its progress fence
 *
 * Without USER_MODE it is a kernel-mode queue: DRM_IOCTL_VFENCE_SUBMIT fills it, and
 * it has no logs (WDDM-82) and no doorbell.
 *
 * Errors: EOPNOTSUPP for USER_MODE on a node that lacks it (WDDM-178) or without the
 * feature, and without it on a node for the kernel's own work; ENOSPC beyond 64 queues.
 */
struct drm_vfence_queue_create {
	/** @context: the parent */
	__u32 context;
	/** @flags: in: %DRM_VFENCE_QUEUE_USER_MODE or 0; out: DRM_VFENCE_QUEUE_* */
	__u32 flags;
	/** @handle: out */
	__u32 handle;
	/** @progress_fence: out: handle of the progress fence (WDDM-200) */
	__u32 progress_fence;
	/** @progress: out: where the progress fence's values are */
	struct drm_vfence_fence_mapping progress;
	/** @wait_log_va: out: GPU address of the wait log (WDDM-99); 0: no logs */
	__u64 wait_log_va;
	/** @signal_log_va: out: GPU address of the signal log */
	__u64 signal_log_va;
	/** @wait_log_entries: out */
	__u32 wait_log_entries;
	/** @signal_log_entries: out */
	__u32 signal_log_entries;
};

/** DRM_VFENCE_DOORBELL_SECONDARY: wants a second address that rings as well */
#define DRM_VFENCE_DOORBELL_SECONDARY	(1 << 0)

/**
 * struct drm_vfence_doorbell_create - give a queue its ring and its doorbell
 *
 * The doorbell is disconnected and takes no physical doorbell (WDDM-181). The
 * buffers cannot be destroyed while it lives (WDDM-191).
 *
 * Errors: EEXIST if the queue has one; EINVAL for a bad ring size or buffers
 * that are too small or the same; EOPNOTSUPP for a kernel-mode queue, or a second
 * address where there are none (WDDM-190).
 */
struct drm_vfence_doorbell_create {
	/** @queue: the queue */
	__u32 queue;
	/** @flags: DRM_VFENCE_DOORBELL_* */
	__u32 flags;
	/** @ring: GEM handle of the ring */
	__u32 ring;
	/** @control: GEM handle; starts with &struct drm_vfence_ring_control */
	__u32 control;
	/** @ring_size: bytes: a power of two, RING_MIN to RING_MAX */
	__u32 ring_size;
	/** @pad: zero */
	__u32 pad;
	/** @doorbell_offset: out: mmap() offset of the doorbell page */
	__u64 doorbell_offset;
	/**
	 * @status_offset: out: of the status page, read only: a u64 of &enum
	 * drm_vfence_doorbell_status at 0, a u32 of &enum
	 * drm_vfence_logging_level at 8
	 */
	__u64 status_offset;
	/** @last_queued_offset: out: of the last-queued page: a u64 at 0 */
	__u64 last_queued_offset;
	/** @secondary_offset: out: of the second doorbell page; 0 if not asked for */
	__u64 secondary_offset;
};

/**
 * DRM_VFENCE_CONNECT_LOGS: the caller will go by the geometry of logs that the
 * call returns. Without it the one that is known stays in force for the caller,
 * whatever size the logs have
 */
#define DRM_VFENCE_CONNECT_LOGS		(1 << 0)

/**
 * struct drm_vfence_doorbell_connect - get a physical doorbell
 *
 * May take it from another queue, whose status becomes RETRY (WDDM-186). When the
 * logging level changes all doorbells are disconnected, so that clients connect
 * again and learn it.
 *
 * Errors: ENOENT without a doorbell object; EIO when the queue is lost.
 */
struct drm_vfence_doorbell_connect {
	/** @queue: the queue */
	__u32 queue;
	/** @flags: DRM_VFENCE_CONNECT_* */
	__u32 flags;
	/** @wait_log_entries: out: entries to count with from now on */
	__u32 wait_log_entries;
	/** @signal_log_entries: out: likewise */
	__u32 signal_log_entries;
	/**
	 * @log_restart: out: 1 if the LOG packets published from now on start at
	 * index 0 again, those published before being as they were
	 */
	__u32 log_restart;
	/** @logging_level: out: &enum drm_vfence_logging_level */
	__u32 logging_level;
};

/**
 * struct drm_vfence_notify_work_submission - tell the driver of a submission
 *
 * Due after each ring while the status is CONNECTED_NOTIFY, harmless otherwise.
 * Errors: ENOENT without a doorbell object.
 */
struct drm_vfence_notify_work_submission {
	/** @queue: the queue */
	__u32 queue;
	/** @flags: zero */
	__u32 flags;
};

/**
 * enum drm_vfence_queue_state - of a hardware queue
 */
enum drm_vfence_queue_state {
	/** @DRM_VFENCE_QUEUE_IDLE: nothing to do */
	DRM_VFENCE_QUEUE_IDLE = 0,
	/** @DRM_VFENCE_QUEUE_READY: waits for its engine, or for a resume */
	DRM_VFENCE_QUEUE_READY = 1,
	/** @DRM_VFENCE_QUEUE_RUNNING: on its engine */
	DRM_VFENCE_QUEUE_RUNNING = 2,
	/** @DRM_VFENCE_QUEUE_BLOCKED: in a fence wait */
	DRM_VFENCE_QUEUE_BLOCKED = 3,
	/** @DRM_VFENCE_QUEUE_FAULTED: stopped by its own packet */
	DRM_VFENCE_QUEUE_FAULTED = 4,
	/** @DRM_VFENCE_QUEUE_ABORTED: stopped from outside */
	DRM_VFENCE_QUEUE_ABORTED = 5,
};

/**
 * enum drm_vfence_fault - why a queue stopped
 */
enum drm_vfence_fault {
	/** @DRM_VFENCE_FAULT_NONE: it did not */
	DRM_VFENCE_FAULT_NONE = 0,
	/** @DRM_VFENCE_FAULT_WRITE_POINTER: impossible write pointer */
	DRM_VFENCE_FAULT_WRITE_POINTER = 1,
	/** @DRM_VFENCE_FAULT_OPCODE: unknown opcode */
	DRM_VFENCE_FAULT_OPCODE = 2,
	/** @DRM_VFENCE_FAULT_LENGTH: wrong length, or cut off by write_ptr */
	DRM_VFENCE_FAULT_LENGTH = 3,
	/** @DRM_VFENCE_FAULT_OPERAND: a flag, pad, count or size out of range */
	DRM_VFENCE_FAULT_OPERAND = 4,
	/** @DRM_VFENCE_FAULT_ALIGNMENT: misaligned address */
	DRM_VFENCE_FAULT_ALIGNMENT = 5,
	/** @DRM_VFENCE_FAULT_UNMAPPED: nothing is mapped at the address */
	DRM_VFENCE_FAULT_UNMAPPED = 6,
	/** @DRM_VFENCE_FAULT_ACCESS: something is, without the right */
	DRM_VFENCE_FAULT_ACCESS = 7,
	/** @DRM_VFENCE_FAULT_LOG: foreign log or an index that is not first free */
	DRM_VFENCE_FAULT_LOG = 8,
};

/**
 * struct drm_vfence_queue_query - state of a queue; works in error, too
 */
struct drm_vfence_queue_query {
	/** @queue: the queue */
	__u32 queue;
	/** @flags: zero */
	__u32 flags;
	/** @state: out: &enum drm_vfence_queue_state */
	__u32 state;
	/** @fault: out: &enum drm_vfence_fault */
	__u32 fault;
	/** @fault_ring_ptr: out: where in the ring the bad packet starts */
	__u64 fault_ring_ptr;
	/** @fault_va: out: the address it used, where one is to blame */
	__u64 fault_va;
	/** @fault_opcode: out: its opcode as read */
	__u32 fault_opcode;
	/** @doorbell_status: out: &enum drm_vfence_doorbell_status */
	__u32 doorbell_status;
	/**
	 * @last_queued: out: what the client published (WDDM-198), or the progress
	 * value of the last submission
	 */
	__u64 last_queued;
	/** @progress: out: current value of the progress fence */
	__u64 progress;
	/** @pending: out: 1 if last_queued > progress (WDDM-198) */
	__u64 pending;
	/** @packets: out: packets completed */
	__u64 packets;
	/** @log_packets: out: LOG packets executed */
	__u64 log_packets;
	/** @log_read: out: log entries the driver has read */
	__u64 log_read;
	/** @log_lost: out: log entries overwritten before */
	__u64 log_lost;
	/** @notifications: out: NOTIFY_WORK_SUBMISSION calls that reached the GPU */
	__u64 notifications;
	/** @held: out: submissions that wait for fences, or behind such */
	__u32 held;
	/** @queued: out: submissions that are on their way to or from the GPU */
	__u32 queued;
};

/* ------------------------------------------------------------- submissions */

/** DRM_VFENCE_MAX_COMMANDS: bytes of one submission's packets */
#define DRM_VFENCE_MAX_COMMANDS		16384
/** DRM_VFENCE_MAX_SUBMISSIONS: of one queue, held and queued */
#define DRM_VFENCE_MAX_SUBMISSIONS	256
/** DRM_VFENCE_MAX_BROADCAST: queues of one submission */
#define DRM_VFENCE_MAX_BROADCAST	64
/** DRM_VFENCE_MAX_SYNCOBJS: entries of a list of syncobjs */
#define DRM_VFENCE_MAX_SYNCOBJS		64

/**
 * DRM_VFENCE_SUBMIT_ALLOW_REWIND: monitored fences take values below those they have
 * by then; without it they stay as they are. Native ones always take them
 */
#define DRM_VFENCE_SUBMIT_ALLOW_REWIND		(1 << 0)
/**
 * DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION: signal when what was submitted before has been
 * given to the GPU, done or not; not with commands
 */
#define DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION	(1 << 1)
/**
 * DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT: signal @eventfd when all queues have come to the
 * submission; not with signals, nor with commands (WDDM-134). A queue that is lost counts
 */
#define DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT	(1 << 2)

/**
 * struct drm_vfence_submit_queue - a queue that takes part in a submission
 */
struct drm_vfence_submit_queue {
	/** @queue: a kernel-mode queue */
	__u32 queue;
	/** @pad: zero */
	__u32 pad;
	/** @progress: out: its progress fence has this value once the submission is done */
	__u64 progress;
};

/**
 * struct drm_vfence_syncobj - a syncobj of the file
 */
struct drm_vfence_syncobj {
	/** @handle: the syncobj */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
	/** @point: of a timeline; 0: binary */
	__u64 point;
};

/**
 * struct drm_vfence_submit - queue waits, commands and signals, in this order
 *
 * What is queued is done queue by queue in the order of the calls. A submission
 * that waits is held back with all behind it, and other queues go on; so without
 * @signal_syncobjs the call never waits (WDDM-131). It waits for all points
 * (WDDM-132); one that nobody can signal any more counts as reached, and destroying one
 * of several handles changes nothing (WDDM-127). Syncobjs stand for what they stand for at
 * the time of the call; whether that failed makes no difference. Commands are packets,
 * without padding and copied: no FENCE_WAIT and no LOG, as waits go by list and there
 * are no logs.
 *
 * Fences of either kind are signaled from the CPU once all of the queues have done what
 * was queued before (WDDM-133) and, with one queue, the commands; those with
 * %DRM_VFENCE_MONITORED_TOP_OF_PIPELINE when the GPU has fetched it all. If a queue is
 * lost before, they are not.
 *
 * A syncobj's fence promises to signal, so that a submission that gives one waits for
 * nothing a client decides: with @signal_syncobjs the call itself waits, once all has
 * been checked, until its fence points are reached and nothing in front waits for any,
 * or until the queue is lost. It signals when the
 * commands are done, with an error if they never will be: ETIME where they took longer
 * than two seconds, for which the queue is aborted and its device
 * %DRM_VFENCE_DEVICE_HUNG; ECANCELED for what was behind them, or the
 * queue was aborted; EIO where a packet was bad; ENODEV where the device went.
 *
 * Errors: EINVAL for no queue, one twice, or more than %DRM_VFENCE_MAX_BROADCAST;
 * commands, or @signal_syncobjs, and more than one queue; commands of a bad length or
 * with a packet that cannot be right or is not for these queues; flags without what
 * they go with; EOPNOTSUPP for a user-mode queue (WDDM-179), a
 * MONITORED_SIGNAL packet where engines have none, a fence of type INTRA_GPU; ENOENT for a
 * syncobj that does not exist, EINVAL for a wait for one without a fence or a point
 * nobody has submitted; EACCES for a handle without the right to wait, or to signal;
 * EBADF or EINVAL for a descriptor that is no eventfd; EINVAL for lists longer than
 * %DRM_VFENCE_MAX_POINTS or %DRM_VFENCE_MAX_SYNCOBJS; ENOSPC beyond
 * %DRM_VFENCE_MAX_SUBMISSIONS of a queue; EIO where a queue is lost; EINTR.
 */
struct drm_vfence_submit {
	/** @flags: DRM_VFENCE_SUBMIT_* */
	__u32 flags;
	/** @eventfd: with ENQUEUE_CPU_EVENT an eventfd; else zero */
	__s32 eventfd;
	/** @queues: array of &struct drm_vfence_submit_queue */
	struct drm_vfence_obj_array queues;
	/** @waits: array of &struct drm_vfence_fence_point, may be empty */
	struct drm_vfence_obj_array waits;
	/** @wait_syncobjs: array of &struct drm_vfence_syncobj, may be empty */
	struct drm_vfence_obj_array wait_syncobjs;
	/** @commands: address of packets */
	__u64 commands;
	/** @commands_size: bytes of them, a multiple of 8; may be 0 */
	__u32 commands_size;
	/** @pad: zero */
	__u32 pad;
	/** @signals: array of &struct drm_vfence_fence_point, may be empty */
	struct drm_vfence_obj_array signals;
	/** @signal_syncobjs: array of &struct drm_vfence_syncobj, may be empty */
	struct drm_vfence_obj_array signal_syncobjs;
};

/**
 * struct drm_vfence_log_read - fetch log entries of one's own queue
 *
 * The driver reads the log first, then hands out, oldest first, what has not
 * been fetched. It keeps 1024 entries per log; older ones count as dropped.
 */
struct drm_vfence_log_read {
	/** @queue: the queue */
	__u32 queue;
	/** @log: &enum drm_vfence_log_type */
	__u32 log;
	/** @entries: array of &struct drm_vfence_log_entry; count <= 1024 */
	struct drm_vfence_obj_array entries;
	/** @returned: out: entries written */
	__u32 returned;
	/** @pad: zero */
	__u32 pad;
	/** @lost: out: entries overwritten before the driver read them, so far */
	__u64 lost;
	/** @dropped: out: entries read but not fetched in time, so far */
	__u64 dropped;
};

/* ------------------------------------------------------------------ ioctls */

/**
 * enum drm_vfence_ioctl_id - numbers of the ioctls
 */
enum drm_vfence_ioctl_id {
	/** @DRM_VFENCE_QUERY: &struct drm_vfence_query */
	DRM_VFENCE_QUERY = 0x00,
	/** @DRM_VFENCE_DEVICE_CREATE: &struct drm_vfence_device_create */
	DRM_VFENCE_DEVICE_CREATE = 0x01,
	/** @DRM_VFENCE_DEVICE_DESTROY: &struct drm_vfence_destroy */
	DRM_VFENCE_DEVICE_DESTROY = 0x02,
	/** @DRM_VFENCE_DEVICE_QUERY: &struct drm_vfence_device_query */
	DRM_VFENCE_DEVICE_QUERY = 0x03,
	/** @DRM_VFENCE_CONTEXT_CREATE: &struct drm_vfence_context_create */
	DRM_VFENCE_CONTEXT_CREATE = 0x04,
	/** @DRM_VFENCE_CONTEXT_DESTROY: &struct drm_vfence_destroy */
	DRM_VFENCE_CONTEXT_DESTROY = 0x05,
	/** @DRM_VFENCE_BO_CREATE: &struct drm_vfence_bo_create */
	DRM_VFENCE_BO_CREATE = 0x06,
	/** @DRM_VFENCE_VM_BIND: &struct drm_vfence_vm_bind */
	DRM_VFENCE_VM_BIND = 0x07,
	/** @DRM_VFENCE_VM_UNBIND: &struct drm_vfence_vm_unbind */
	DRM_VFENCE_VM_UNBIND = 0x08,
	/** @DRM_VFENCE_FENCE_CREATE: &struct drm_vfence_fence_create */
	DRM_VFENCE_FENCE_CREATE = 0x09,
	/** @DRM_VFENCE_FENCE_DESTROY: &struct drm_vfence_destroy (WDDM-44) */
	DRM_VFENCE_FENCE_DESTROY = 0x0a,
	/** @DRM_VFENCE_FENCE_EXPORT: &struct drm_vfence_fence_export */
	DRM_VFENCE_FENCE_EXPORT = 0x0b,
	/** @DRM_VFENCE_FENCE_OPEN: &struct drm_vfence_fence_open */
	DRM_VFENCE_FENCE_OPEN = 0x0c,
	/** @DRM_VFENCE_FENCE_SIGNAL: &struct drm_vfence_fence_signal */
	DRM_VFENCE_FENCE_SIGNAL = 0x0d,
	/** @DRM_VFENCE_FENCE_QUERY: &struct drm_vfence_fence_query */
	DRM_VFENCE_FENCE_QUERY = 0x0e,
	/** @DRM_VFENCE_WAIT: &struct drm_vfence_wait */
	DRM_VFENCE_WAIT = 0x0f,
	/** @DRM_VFENCE_EVENT_ARM: &struct drm_vfence_event_arm */
	DRM_VFENCE_EVENT_ARM = 0x10,
	/** @DRM_VFENCE_EVENT_CANCEL: &struct drm_vfence_destroy; ENOENT: it fired */
	DRM_VFENCE_EVENT_CANCEL = 0x11,
	/** @DRM_VFENCE_QUEUE_CREATE: &struct drm_vfence_queue_create */
	DRM_VFENCE_QUEUE_CREATE = 0x12,
	/** @DRM_VFENCE_QUEUE_DESTROY: &struct drm_vfence_destroy; EBUSY: doorbell */
	DRM_VFENCE_QUEUE_DESTROY = 0x13,
	/** @DRM_VFENCE_QUEUE_QUERY: &struct drm_vfence_queue_query */
	DRM_VFENCE_QUEUE_QUERY = 0x14,
	/** @DRM_VFENCE_QUEUE_ABORT: &struct drm_vfence_destroy; stops the queue */
	DRM_VFENCE_QUEUE_ABORT = 0x15,
	/** @DRM_VFENCE_DOORBELL_CREATE: &struct drm_vfence_doorbell_create */
	DRM_VFENCE_DOORBELL_CREATE = 0x16,
	/** @DRM_VFENCE_DOORBELL_CONNECT: &struct drm_vfence_doorbell_connect */
	DRM_VFENCE_DOORBELL_CONNECT = 0x17,
	/** @DRM_VFENCE_DOORBELL_DESTROY: &struct drm_vfence_destroy of the queue */
	DRM_VFENCE_DOORBELL_DESTROY = 0x18,
	/** @DRM_VFENCE_LOG_READ: &struct drm_vfence_log_read */
	DRM_VFENCE_LOG_READ = 0x19,
	/** @DRM_VFENCE_NOTIFY_WORK_SUBMISSION: &struct drm_vfence_notify_work_submission */
	DRM_VFENCE_NOTIFY_WORK_SUBMISSION = 0x1a,
	/** @DRM_VFENCE_CONTEXT_SUSPEND: &struct drm_vfence_context_suspend */
	DRM_VFENCE_CONTEXT_SUSPEND = 0x1b,
	/** @DRM_VFENCE_CONTEXT_RESUME: &struct drm_vfence_context_resume */
	DRM_VFENCE_CONTEXT_RESUME = 0x1c,
	/** @DRM_VFENCE_MONITORED_FENCE_CREATE: &struct drm_vfence_monitored_fence_create */
	DRM_VFENCE_MONITORED_FENCE_CREATE = 0x1d,
	/** @DRM_VFENCE_FENCE_IMPORT: &struct drm_vfence_fence_import */
	DRM_VFENCE_FENCE_IMPORT = 0x1e,
	/** @DRM_VFENCE_SUBMIT: &struct drm_vfence_submit */
	DRM_VFENCE_SUBMIT = 0x1f,
};

#define DRM_IOCTL_VFENCE(dir, id, type) \
	DRM_IO##dir(DRM_COMMAND_BASE + DRM_VFENCE_##id, struct drm_vfence_##type)

#define DRM_IOCTL_VFENCE_QUERY \
	DRM_IOCTL_VFENCE(WR, QUERY, query)
#define DRM_IOCTL_VFENCE_DEVICE_CREATE \
	DRM_IOCTL_VFENCE(WR, DEVICE_CREATE, device_create)
#define DRM_IOCTL_VFENCE_DEVICE_DESTROY \
	DRM_IOCTL_VFENCE(W, DEVICE_DESTROY, destroy)
#define DRM_IOCTL_VFENCE_DEVICE_QUERY \
	DRM_IOCTL_VFENCE(WR, DEVICE_QUERY, device_query)
#define DRM_IOCTL_VFENCE_CONTEXT_CREATE \
	DRM_IOCTL_VFENCE(WR, CONTEXT_CREATE, context_create)
#define DRM_IOCTL_VFENCE_CONTEXT_DESTROY \
	DRM_IOCTL_VFENCE(W, CONTEXT_DESTROY, destroy)
#define DRM_IOCTL_VFENCE_BO_CREATE \
	DRM_IOCTL_VFENCE(WR, BO_CREATE, bo_create)
#define DRM_IOCTL_VFENCE_VM_BIND \
	DRM_IOCTL_VFENCE(WR, VM_BIND, vm_bind)
#define DRM_IOCTL_VFENCE_VM_UNBIND \
	DRM_IOCTL_VFENCE(W, VM_UNBIND, vm_unbind)
#define DRM_IOCTL_VFENCE_FENCE_CREATE \
	DRM_IOCTL_VFENCE(WR, FENCE_CREATE, fence_create)
#define DRM_IOCTL_VFENCE_FENCE_DESTROY \
	DRM_IOCTL_VFENCE(W, FENCE_DESTROY, destroy)
#define DRM_IOCTL_VFENCE_FENCE_EXPORT \
	DRM_IOCTL_VFENCE(WR, FENCE_EXPORT, fence_export)
#define DRM_IOCTL_VFENCE_FENCE_OPEN \
	DRM_IOCTL_VFENCE(WR, FENCE_OPEN, fence_open)
#define DRM_IOCTL_VFENCE_FENCE_SIGNAL \
	DRM_IOCTL_VFENCE(W, FENCE_SIGNAL, fence_signal)
#define DRM_IOCTL_VFENCE_FENCE_QUERY \
	DRM_IOCTL_VFENCE(WR, FENCE_QUERY, fence_query)
#define DRM_IOCTL_VFENCE_WAIT \
	DRM_IOCTL_VFENCE(WR, WAIT, wait)
#define DRM_IOCTL_VFENCE_EVENT_ARM \
	DRM_IOCTL_VFENCE(WR, EVENT_ARM, event_arm)
#define DRM_IOCTL_VFENCE_EVENT_CANCEL \
	DRM_IOCTL_VFENCE(W, EVENT_CANCEL, destroy)
#define DRM_IOCTL_VFENCE_QUEUE_CREATE \
	DRM_IOCTL_VFENCE(WR, QUEUE_CREATE, queue_create)
#define DRM_IOCTL_VFENCE_QUEUE_DESTROY \
	DRM_IOCTL_VFENCE(W, QUEUE_DESTROY, destroy)
#define DRM_IOCTL_VFENCE_QUEUE_QUERY \
	DRM_IOCTL_VFENCE(WR, QUEUE_QUERY, queue_query)
#define DRM_IOCTL_VFENCE_QUEUE_ABORT \
	DRM_IOCTL_VFENCE(W, QUEUE_ABORT, destroy)
#define DRM_IOCTL_VFENCE_DOORBELL_CREATE \
	DRM_IOCTL_VFENCE(WR, DOORBELL_CREATE, doorbell_create)
#define DRM_IOCTL_VFENCE_DOORBELL_CONNECT \
	DRM_IOCTL_VFENCE(WR, DOORBELL_CONNECT, doorbell_connect)
#define DRM_IOCTL_VFENCE_DOORBELL_DESTROY \
	DRM_IOCTL_VFENCE(W, DOORBELL_DESTROY, destroy)
#define DRM_IOCTL_VFENCE_LOG_READ \
	DRM_IOCTL_VFENCE(WR, LOG_READ, log_read)
#define DRM_IOCTL_VFENCE_NOTIFY_WORK_SUBMISSION \
	DRM_IOCTL_VFENCE(W, NOTIFY_WORK_SUBMISSION, notify_work_submission)
#define DRM_IOCTL_VFENCE_CONTEXT_SUSPEND \
	DRM_IOCTL_VFENCE(WR, CONTEXT_SUSPEND, context_suspend)
#define DRM_IOCTL_VFENCE_CONTEXT_RESUME \
	DRM_IOCTL_VFENCE(W, CONTEXT_RESUME, context_resume)
#define DRM_IOCTL_VFENCE_MONITORED_FENCE_CREATE \
	DRM_IOCTL_VFENCE(WR, MONITORED_FENCE_CREATE, monitored_fence_create)
#define DRM_IOCTL_VFENCE_FENCE_IMPORT \
	DRM_IOCTL_VFENCE(W, FENCE_IMPORT, fence_import)
#define DRM_IOCTL_VFENCE_SUBMIT \
	DRM_IOCTL_VFENCE(W, SUBMIT, submit)

#if defined(__cplusplus)
}
#endif

#endif /* _VFENCE_DRM_H_ */
