/* SPDX-License-Identifier: MIT */
#ifndef _VFENCE_DRM_H_
#define _VFENCE_DRM_H_

#include "drm.h"
#include "vfence_gpu.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Rules of this interface
 *
 * - Structures hold fixed-size integers and names of fixed size only. Every member is
 *   aligned to its size, holes are explicit members, and the layout is the same for 32 and
 *   64 bits.
 * - The driver returns EINVAL for a flag that this header does not define and for padding
 *   that is not zero.
 * - New members go to the end of a structure or into padding. Zero in a new member selects
 *   the behaviour that the ioctl had before.
 * - A number keeps its meaning and is never used again.
 * - Arrays travel as &struct drm_vfence_obj_array: stride, count and address. A stride below
 *   the driver's size of an element is legal: the members that are missing are zero, and the
 *   driver writes only those that are there.
 * - The kernel writes outputs on success only, unless a member says otherwise. It ignores what
 *   a member for output holds before.
 * - Every change raises the driver's minor version and adds a line to the version history.
 *   Programs ask DRM_IOCTL_VERSION; they do not find out by trying.
 *
 * The client writes the members of an ioctl's argument, except those whose line begins with
 * "Out:", which the kernel writes, and "In/out:", which both write.
 *
 * Every ioctl can return these errors; an ioctl documents only the errors beyond them:
 *
 * - EINVAL: a flag is unknown, padding is not zero, the arguments contradict each other, or
 *   the stride or the count of an array is not legal.
 * - ENOENT: a handle does not exist.
 * - EFAULT: an address is not accessible.
 * - ENOMEM: the kernel is out of memory.
 * - ENODEV: the device is gone.
 * - EIO: the ioctl creates an object in a device that is in error, or connects one there.
 * - E2BIG: an array element is longer than the driver knows, and its tail is not zero.
 *
 * An adapter whose hardware fails is lost until it is bound again. Its devices are STOPPED,
 * its queues are aborted, and waits, signals and creations return EIO.
 *
 * Handles are 32-bit, not zero, and private to one open file. They are given out in a cycle:
 * a handle that is free is used again after 2^31 others of its kind. (Handles of GEM objects
 * and syncobjs are DRM's, which uses the lowest free one.) Fences are shared by file
 * descriptor only.
 */

/**
 * DOC: Version history
 *
 * - 2.0: the first version.
 */

/* ------------------------------------------------------------------ limits */

/** DRM_VFENCE_MAX_POINTS: Most entries of one list of waits, events or signals. */
#define DRM_VFENCE_MAX_POINTS		1024
/** DRM_VFENCE_MAX_WAIT_SET_ENTRIES: Most entries of a wait set. */
#define DRM_VFENCE_MAX_WAIT_SET_ENTRIES	4096
/** DRM_VFENCE_MAX_STRIDE: Largest stride of an array in bytes. */
#define DRM_VFENCE_MAX_STRIDE		4096
/** DRM_VFENCE_PRIVATE_DATA: Bytes of private data of a fence. */
#define DRM_VFENCE_PRIVATE_DATA		64
/** DRM_VFENCE_MAX_BO_SIZE: Size of the largest buffer object in bytes. */
#define DRM_VFENCE_MAX_BO_SIZE		(256ull * 1024 * 1024)
/** DRM_VFENCE_VA_LIMIT: First address above the GPU address space. */
#define DRM_VFENCE_VA_LIMIT		(1ull << 47)

/* ----------------------------------------------------------------- objects */

/**
 * struct drm_vfence_obj_array - an array of structures in user memory
 */
struct drm_vfence_obj_array {
	/**
	 * @stride: Bytes from one element to the next, normally the size of the structure in the
	 * client's header: a multiple of 8 from 8 to %DRM_VFENCE_MAX_STRIDE.
	 */
	__u32 stride;
	/** @count: Number of elements. */
	__u32 count;
	/** @array: Address of the first element. */
	__u64 array;
};

/**
 * DRM_VFENCE_OBJ_ARRAY - initialise a &struct drm_vfence_obj_array
 * @n: Number of elements.
 * @p: Pointer to the first element.
 */
#define DRM_VFENCE_OBJ_ARRAY(n, p) \
	{ (__u32)sizeof((p)[0]), (__u32)(n), (__u64)(unsigned long)(p) }

/**
 * enum drm_vfence_object - types of objects that DESTROY destroys
 */
enum drm_vfence_object {
	/** @DRM_VFENCE_OBJECT_DEVICE: A device, with all its objects. */
	DRM_VFENCE_OBJECT_DEVICE = 1,
	/** @DRM_VFENCE_OBJECT_CONTEXT: A context; EBUSY if it has queues. */
	DRM_VFENCE_OBJECT_CONTEXT = 2,
	/** @DRM_VFENCE_OBJECT_QUEUE: A queue; EBUSY if it has a doorbell. */
	DRM_VFENCE_OBJECT_QUEUE = 3,
	/**
	 * @DRM_VFENCE_OBJECT_DOORBELL: The doorbell of a queue; the handle is that of the queue.
	 * ENOENT if it has none. A queue with work is aborted. A status page that is still mapped
	 * reads as %DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT.
	 */
	DRM_VFENCE_OBJECT_DOORBELL = 4,
	/** @DRM_VFENCE_OBJECT_FENCE: A handle of a fence; EBUSY for that of a progress fence. */
	DRM_VFENCE_OBJECT_FENCE = 5,
	/** @DRM_VFENCE_OBJECT_EVENT: An event, which is cancelled; ENOENT if it has fired. */
	DRM_VFENCE_OBJECT_EVENT = 6,
	/** @DRM_VFENCE_OBJECT_WAIT_SET: A wait set; the call that waits returns ECANCELED. */
	DRM_VFENCE_OBJECT_WAIT_SET = 7,
};

/**
 * struct drm_vfence_destroy - destroy an object
 *
 * Errors: EINVAL for an unknown @type; EBUSY as @type says.
 */
struct drm_vfence_destroy {
	/** @type: &enum drm_vfence_object. */
	__u32 type;
	/** @handle: Handle of the object. */
	__u32 handle;
};

/**
 * enum drm_vfence_query_type - answers of DRM_IOCTL_VFENCE_QUERY
 */
enum drm_vfence_query_type {
	/** @DRM_VFENCE_QUERY_ADAPTER: &struct drm_vfence_adapter_info. */
	DRM_VFENCE_QUERY_ADAPTER = 0,
	/** @DRM_VFENCE_QUERY_NODES: Array of &struct drm_vfence_node_info. */
	DRM_VFENCE_QUERY_NODES = 1,
	/** @DRM_VFENCE_QUERY_CLOCK: &struct drm_vfence_clock_info. */
	DRM_VFENCE_QUERY_CLOCK = 2,
	/** @DRM_VFENCE_QUERY_FEATURES: Array of &struct drm_vfence_feature_info. */
	DRM_VFENCE_QUERY_FEATURES = 3,
	/** @DRM_VFENCE_QUERY_FENCE_CAPS: &struct drm_vfence_fence_caps. */
	DRM_VFENCE_QUERY_FENCE_CAPS = 4,
	/** @DRM_VFENCE_QUERY_LIMITS: Array of &struct drm_vfence_limit. */
	DRM_VFENCE_QUERY_LIMITS = 5,
	/** @DRM_VFENCE_QUERY_DEVICE: &struct drm_vfence_device_info. */
	DRM_VFENCE_QUERY_DEVICE = 6,
	/** @DRM_VFENCE_QUERY_CONTEXT: &struct drm_vfence_context_info. */
	DRM_VFENCE_QUERY_CONTEXT = 7,
	/** @DRM_VFENCE_QUERY_QUEUE: &struct drm_vfence_queue_info. */
	DRM_VFENCE_QUERY_QUEUE = 8,
	/** @DRM_VFENCE_QUERY_FENCE: &struct drm_vfence_fence_info. */
	DRM_VFENCE_QUERY_FENCE = 9,
};

/**
 * struct drm_vfence_query - query the adapter or an object
 *
 * With @data 0 the kernel only writes @size. Otherwise it copies as much of the answer as fits
 * and clears the rest of the buffer. It writes all members of an answer. Devices in error, and
 * their contexts and queues, can be queried too.
 *
 * Errors: EINVAL for an unknown @type, an illegal @stride, a buffer of more than 65536 bytes or
 * a @handle with a @type that is not for an object; ENOENT for an object that does not exist.
 */
struct drm_vfence_query {
	/** @type: &enum drm_vfence_query_type. */
	__u32 type;
	/**
	 * @size: In/out: The client writes the size of the buffer in bytes, at most 65536. The
	 * kernel writes the size of the whole answer in bytes.
	 */
	__u32 size;
	/** @data: Address of the buffer, or 0. */
	__u64 data;
	/**
	 * @stride: Bytes from one element of the answer to the next, normally the size of the
	 * structure in the client's header: a multiple of 8 up to %DRM_VFENCE_MAX_STRIDE. 0: the
	 * driver's size. An answer that is no array has one element.
	 */
	__u32 stride;
	/** @handle: Handle of the device, context, queue or fence; zero for other types. */
	__u32 handle;
};

/**
 * DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS: The GPU stores 32 bits at once. Native fences are not
 * supported. A monitored fence without NO_GPU_ACCESS has 32 bits, which wrap: only the low
 * half of a value counts.
 */
#define DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS	(1 << 0)

/**
 * DRM_VFENCE_ADAPTER_MONITORED_SIGNAL: Engines signal monitored fences by a packet. Without
 * the flag the CPU signals them when a submission is done.
 */
#define DRM_VFENCE_ADAPTER_MONITORED_SIGNAL	(1 << 1)
/**
 * DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT: Such a packet also interrupts the CPU.
 * Without the flag the CPU rescans the waiters when a submission is done.
 */
#define DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT	(1 << 2)

/**
 * struct drm_vfence_adapter_info - properties of the adapter
 *
 * The kernel writes all members. They do not change while the adapter is bound.
 */
struct drm_vfence_adapter_info {
	/** @nodes: Number of nodes (engines). */
	__u32 nodes;
	/** @fence_stride: Bytes from one fence slot to the next within a page. */
	__u32 fence_stride;
	/** @physical_doorbells: Number of queues that can be connected at a time. */
	__u32 physical_doorbells;
	/** @log_entries: Number of entries of a log buffer at logging level DEFAULT. */
	__u32 log_entries;
	/** @va_start: Lowest GPU address. */
	__u64 va_start;
	/** @va_end: First address above the GPU address space. */
	__u64 va_end;
	/** @doorbell_size: Size of a doorbell in bytes, from the start of its page. */
	__u32 doorbell_size;
	/** @secondary_doorbell_size: Size of a secondary doorbell in bytes; 0: not supported. */
	__u32 secondary_doorbell_size;
	/** @flags: DRM_VFENCE_ADAPTER_*. */
	__u32 flags;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * enum drm_vfence_feature_id - negotiated features, with WDDM's numbers
 */
enum drm_vfence_feature_id {
	/** @DRM_VFENCE_FEATURE_HWSCH: The GPU schedules its queues. */
	DRM_VFENCE_FEATURE_HWSCH = 0,
	/** @DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION: Clients fill queues themselves. */
	DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION = 4,
	/** @DRM_VFENCE_FEATURE_NATIVE_FENCE: Native fences. */
	DRM_VFENCE_FEATURE_NATIVE_FENCE = 37,
};

/**
 * DRM_VFENCE_FEATURE_ENABLED: Driver and hardware agree on the feature and on all features
 * that it depends on.
 */
#define DRM_VFENCE_FEATURE_ENABLED		(1 << 0)
/** DRM_VFENCE_FEATURE_SUPPORTED: The hardware supports the feature. */
#define DRM_VFENCE_FEATURE_SUPPORTED		(1 << 1)
/** DRM_VFENCE_FEATURE_ON_CURRENT_CONFIG: The feature works in the present configuration. */
#define DRM_VFENCE_FEATURE_ON_CURRENT_CONFIG	(1 << 2)

/**
 * struct drm_vfence_feature_info - state of one feature
 *
 * The kernel writes all members.
 */
struct drm_vfence_feature_info {
	/** @id: &enum drm_vfence_feature_id. */
	__u32 id;
	/** @flags: DRM_VFENCE_FEATURE_*. */
	__u32 flags;
	/** @version: Negotiated version; 0 unless the feature is enabled. */
	__u32 version;
	/** @pad: Zero. */
	__u32 pad;
};

/** DRM_VFENCE_CAP_NATIVE_FENCE: Clients can create native fences. */
#define DRM_VFENCE_CAP_NATIVE_FENCE		(1 << 0)
/** DRM_VFENCE_CAP_MAP_TO_SYSTEM: The values are also mapped for the system process. */
#define DRM_VFENCE_CAP_MAP_TO_SYSTEM		(1 << 1)
/** DRM_VFENCE_CAP_OPTIMIZED: Monitored values can be in video memory. */
#define DRM_VFENCE_CAP_OPTIMIZED		(1 << 2)
/** DRM_VFENCE_CAP_INTRA_GPU: Clients can create fences of type INTRA_GPU. */
#define DRM_VFENCE_CAP_INTRA_GPU		(1 << 3)
/**
 * DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT: The interrupt names the queue that signaled, and the
 * queue's signal log names the fences. A signal without a LOG packet costs a scan
 * of all fences of the file.
 */
#define DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT	(1 << 4)

/**
 * struct drm_vfence_fence_caps - capabilities of native fences
 *
 * The kernel writes all members. They are zero if the feature is not enabled.
 */
struct drm_vfence_fence_caps {
	/** @flags: DRM_VFENCE_CAP_*. */
	__u32 flags;
	/** @stride: Bytes from one fence slot to the next within a page. */
	__u32 stride;
	/** @minimum_address: Lowest GPU address of a fence page; 0: no limit. */
	__u64 minimum_address;
	/** @maximum_address: First GPU address above all fence pages; 0: no limit. */
	__u64 maximum_address;
};

/**
 * enum drm_vfence_node_class - kinds of engines
 */
enum drm_vfence_node_class {
	/** @DRM_VFENCE_NODE_GFX: Graphics; the engine can be preempted between draws. */
	DRM_VFENCE_NODE_GFX = 0,
	/** @DRM_VFENCE_NODE_COMPUTE: Compute; it can be preempted between dispatches. */
	DRM_VFENCE_NODE_COMPUTE = 1,
	/** @DRM_VFENCE_NODE_COPY: Copies; it can be preempted at once. */
	DRM_VFENCE_NODE_COPY = 2,
	/** @DRM_VFENCE_NODE_MM: Multimedia; it can be preempted between jobs. */
	DRM_VFENCE_NODE_MM = 3,
	/** @DRM_VFENCE_NODE_PAGING: The kernel moves memory on it. Clients get no queues. */
	DRM_VFENCE_NODE_PAGING = 4,
};

/** DRM_VFENCE_NODE_USER_MODE_SUBMISSION: The node takes user-mode queues. */
#define DRM_VFENCE_NODE_USER_MODE_SUBMISSION	(1 << 0)

/**
 * struct drm_vfence_node_info - properties of one node
 *
 * The kernel writes all members.
 */
struct drm_vfence_node_info {
	/** @class_id: &enum drm_vfence_node_class. */
	__u32 class_id;
	/** @flags: DRM_VFENCE_NODE_*. */
	__u32 flags;
};

/**
 * struct drm_vfence_clock_info - the GPU clock and one calibration pair
 *
 * The kernel writes all members. The CPU time of GPU tick t in nanoseconds is cpu_ns +
 * (t - gpu_ticks) * 10^9 / frequency_hz.
 */
struct drm_vfence_clock_info {
	/** @frequency_hz: Frequency of the GPU clock in ticks per second. */
	__u64 frequency_hz;
	/** @gpu_ticks: The GPU clock, in ticks. */
	__u64 gpu_ticks;
	/** @cpu_ns: The caller's CLOCK_MONOTONIC at @gpu_ticks, in nanoseconds. */
	__u64 cpu_ns;
};

/**
 * enum drm_vfence_limit_id - of what an open file may own a limited number
 */
enum drm_vfence_limit_id {
	/** @DRM_VFENCE_LIMIT_DEVICES: Devices. */
	DRM_VFENCE_LIMIT_DEVICES = 1,
	/** @DRM_VFENCE_LIMIT_CONTEXTS: Contexts. */
	DRM_VFENCE_LIMIT_CONTEXTS = 2,
	/** @DRM_VFENCE_LIMIT_QUEUES: Queues of both kinds. */
	DRM_VFENCE_LIMIT_QUEUES = 3,
	/** @DRM_VFENCE_LIMIT_FENCES: Fences of both kinds, also the progress fences of queues. */
	DRM_VFENCE_LIMIT_FENCES = 4,
	/** @DRM_VFENCE_LIMIT_EVENTS: Armed events. */
	DRM_VFENCE_LIMIT_EVENTS = 5,
	/** @DRM_VFENCE_LIMIT_EVENT_POINTS: Points of armed events. */
	DRM_VFENCE_LIMIT_EVENT_POINTS = 6,
	/**
	 * @DRM_VFENCE_LIMIT_RESTARTS: Waits of interrupted calls. At the limit the oldest one is
	 * dropped, see &drm_vfence_wait.restart.
	 */
	DRM_VFENCE_LIMIT_RESTARTS = 7,
	/** @DRM_VFENCE_LIMIT_RESTART_POINTS: Points of such waits, as well. */
	DRM_VFENCE_LIMIT_RESTART_POINTS = 8,
	/** @DRM_VFENCE_LIMIT_IMPORTS: Imports that wait for their dma_fence. */
	DRM_VFENCE_LIMIT_IMPORTS = 9,
	/** @DRM_VFENCE_LIMIT_MAPPINGS: Mappings of VM_BIND. */
	DRM_VFENCE_LIMIT_MAPPINGS = 10,
	/**
	 * @DRM_VFENCE_LIMIT_SUBMIT_POINTS: Points of submissions that have not ended: those that
	 * they wait for, and those that they signal.
	 */
	DRM_VFENCE_LIMIT_SUBMIT_POINTS = 11,
	/** @DRM_VFENCE_LIMIT_WAIT_SETS: Wait sets. */
	DRM_VFENCE_LIMIT_WAIT_SETS = 12,
	/** @DRM_VFENCE_LIMIT_WAIT_SET_ENTRIES: Entries of all wait sets, also those not in use. */
	DRM_VFENCE_LIMIT_WAIT_SET_ENTRIES = 13,
	/**
	 * @DRM_VFENCE_LIMIT_USER_MEMORY: Bytes of kernel memory for handles of fences,
	 * submissions that have not ended, and handles of buffers. Unlike the others this limit is
	 * one for all files of the adapter that processes of a user have opened, and so is the
	 * number that is in use. An administrator sets it.
	 */
	DRM_VFENCE_LIMIT_USER_MEMORY = 14,
};

/**
 * struct drm_vfence_limit - a limit, and what the caller's open file has
 *
 * %DRM_VFENCE_QUERY_LIMITS has one element for each limit, by ascending id. A call that would
 * exceed a limit fails with ENOSPC, except for %DRM_VFENCE_LIMIT_RESTARTS and
 * %DRM_VFENCE_LIMIT_RESTART_POINTS.
 */
struct drm_vfence_limit {
	/** @id: &enum drm_vfence_limit_id, or an id that only a newer header lists. */
	__u32 id;
	/** @pad: Zero. */
	__u32 pad;
	/** @limit: Largest number that one open file may have, or one user. */
	__u64 limit;
	/** @used: Number that the caller's open file has, or its user. */
	__u64 used;
};

/**
 * struct drm_vfence_device_create - create a device, the unit of error
 *
 * A hang of the device counts for the process that opened the file if that process is an
 * ancestor of the caller, else for the caller. It also counts for the parent of that process if
 * the parent uses the adapter and the child has not executed a program since it was forked.
 * Processes of other users are never charged.
 *
 * Errors: ENOSPC at %DRM_VFENCE_LIMIT_DEVICES; EACCES if the process is blocked: five hangs
 * within a minute count for it, unless an administrator has changed these limits.
 */
struct drm_vfence_device_create {
	/** @flags: Zero. */
	__u32 flags;
	/** @handle: Out: Handle of the device. */
	__u32 handle;
};

/**
 * enum drm_vfence_device_state - execution state of a device, with WDDM's numbers
 */
enum drm_vfence_device_state {
	/** @DRM_VFENCE_DEVICE_ACTIVE: The device works. */
	DRM_VFENCE_DEVICE_ACTIVE = 1,
	/**
	 * @DRM_VFENCE_DEVICE_RESET: The device was lost in the reset of an engine that another
	 * device had hung.
	 */
	DRM_VFENCE_DEVICE_RESET = 2,
	/**
	 * @DRM_VFENCE_DEVICE_HUNG: A queue of the device hung, or a context did not leave its
	 * engine when it was suspended, and the engine was reset; or a submission used its
	 * engine for more than TdrDelay, and its queue was aborted; or a queue kept other
	 * clients off its engine, see %DRM_VFENCE_FAULT_PREEMPTION.
	 */
	DRM_VFENCE_DEVICE_HUNG = 3,
	/** @DRM_VFENCE_DEVICE_STOPPED: The adapter is gone or lost, or the process is blocked. */
	DRM_VFENCE_DEVICE_STOPPED = 4,
	/** @DRM_VFENCE_DEVICE_ERROR_DMAFAULT: A queue stopped at an illegal packet. */
	DRM_VFENCE_DEVICE_ERROR_DMAFAULT = 6,
	/** @DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT: A queue stopped at an illegal address. */
	DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT = 7,
};

/**
 * struct drm_vfence_device_info - state of a device
 */
struct drm_vfence_device_info {
	/** @state: &enum drm_vfence_device_state. */
	__u32 state;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_vfence_context_create - create a context on a node
 *
 * Errors: EINVAL for a node that does not exist; ENOSPC if the file has 64 contexts.
 */
struct drm_vfence_context_create {
	/** @device: Handle of the parent. */
	__u32 device;
	/** @node: Index of the node in %DRM_VFENCE_QUERY_NODES. */
	__u32 node;
	/** @flags: Zero. */
	__u32 flags;
	/** @handle: Out: Handle of the context. */
	__u32 handle;
};

/**
 * struct drm_vfence_context_suspend - take the queues of a context off the GPU
 *
 * The queues stop, with all work in flight, and the call returns when the GPU has released
 * them. Doorbells stay connected; work that is submitted meanwhile runs after the resume.
 * Suspended time counts towards the time-out of a submission, TdrDelay, which is two seconds
 * unless an administrator has changed it. Suspending a suspended context has no further effect.
 *
 * Errors: ETIME if the GPU did not acknowledge within TdrDelay: the engine was reset and the
 * device is %DRM_VFENCE_DEVICE_HUNG. EINTR if a signal interrupted the call: the context is
 * suspended, or will be.
 */
struct drm_vfence_context_suspend {
	/** @context: Handle of the context. */
	__u32 context;
	/** @flags: Zero. */
	__u32 flags;
	/** @fence: Out: Number of this suspension; the numbers increase. */
	__u64 fence;
};

/**
 * struct drm_vfence_context_resume - let the queues of a context run again
 *
 * The call does nothing for a context that is not suspended.
 *
 * Errors: EINTR if a signal interrupted the call, which has done nothing.
 */
struct drm_vfence_context_resume {
	/** @context: Handle of the context. */
	__u32 context;
	/** @flags: Zero. */
	__u32 flags;
};

/**
 * struct drm_vfence_bo_create - create a data buffer, which is a GEM object
 *
 * Errors: EINVAL for a size of 0 or above %DRM_VFENCE_MAX_BO_SIZE; ENOSPC at
 * %DRM_VFENCE_LIMIT_USER_MEMORY, as for each handle of a buffer.
 */
struct drm_vfence_bo_create {
	/** @size: Size in bytes. The kernel rounds it up to whole pages. */
	__u64 size;
	/** @flags: Zero. */
	__u32 flags;
	/** @handle: Out: GEM handle of the buffer. */
	__u32 handle;
	/** @mmap_offset: Out: Offset for mmap(). */
	__u64 mmap_offset;
};

/** DRM_VFENCE_VM_READ: The GPU can read the mapping. */
#define DRM_VFENCE_VM_READ		(1 << 0)
/** DRM_VFENCE_VM_WRITE: The GPU can write the mapping. */
#define DRM_VFENCE_VM_WRITE		(1 << 1)

/**
 * enum drm_vfence_vm_op - what VM_BIND does
 */
enum drm_vfence_vm_op {
	/** @DRM_VFENCE_VM_MAP: Map a part of a buffer. */
	DRM_VFENCE_VM_MAP = 0,
	/** @DRM_VFENCE_VM_UNMAP: Remove a mapping. The GPU no longer uses it on return. */
	DRM_VFENCE_VM_UNMAP = 1,
};

/**
 * struct drm_vfence_vm_bind - change the GPU address space of the file
 *
 * Errors of MAP: EINVAL for a range outside the buffer or the address space, or that is not
 * aligned; EEXIST if the range of addresses is in use; ENOSPC if no room is left, or if the
 * file has 1024 mappings; EOPNOTSUPP for a dma-buf that is not plain memory.
 *
 * Errors of UNMAP: EINVAL for an address that is not a multiple of the page size or not in the
 * address space; ENOENT if no mapping of a buffer starts there.
 */
struct drm_vfence_vm_bind {
	/** @op: &enum drm_vfence_vm_op. */
	__u32 op;
	/** @handle: GEM handle of the buffer; zero for UNMAP. */
	__u32 handle;
	/** @flags: DRM_VFENCE_VM_READ, DRM_VFENCE_VM_WRITE or both; zero for UNMAP. */
	__u32 flags;
	/** @pad: Zero. */
	__u32 pad;
	/**
	 * @offset: First byte of the buffer to map, a multiple of the CPU's page size; zero for
	 * UNMAP.
	 */
	__u64 offset;
	/**
	 * @size: Number of bytes to map, a multiple of the page size that is not zero; zero for
	 * UNMAP, which removes the whole mapping.
	 */
	__u64 size;
	/**
	 * @va: In/out: The client writes the GPU address, a multiple of the page size. For MAP it
	 * can be 0 for any address, and the kernel writes the address.
	 */
	__u64 va;
};

/* ------------------------------------------------------------------ fences */

/**
 * enum drm_vfence_fence_type - types of fences
 */
enum drm_vfence_fence_type {
	/** @DRM_VFENCE_FENCE_DEFAULT: Native fence for all waits and signals. */
	DRM_VFENCE_FENCE_DEFAULT = 0,
	/**
	 * @DRM_VFENCE_FENCE_INTRA_GPU: Native fence for queues of one GPU only. Its values can
	 * be in video memory that the CPU cannot access: there is no mapping, and CPU waits and
	 * CPU signals return EOPNOTSUPP. The first value is the first one that a packet of the
	 * client stores.
	 */
	DRM_VFENCE_FENCE_INTRA_GPU = 1,
	/**
	 * @DRM_VFENCE_FENCE_MONITORED: Monitored fence, a value in memory. The hardware has no
	 * monitored value for it, so the CPU rescans the waiters whenever the value may have
	 * changed. Waits, events, signals and exports take handles of monitored and of native
	 * fences, also in one list. User-mode queues cannot use a monitored fence. Monitored
	 * fences need no feature and exist on all adapters.
	 *
	 * A fence of 32 bits takes a given value for the nearest value, up or down from the
	 * current one, with that low half. So waits work across the wrap as long as waits and
	 * signals stay within 2^31 of the last signal.
	 */
	DRM_VFENCE_FENCE_MONITORED = 2,
};

/**
 * struct drm_vfence_fence_mapping - places of a fence's values
 *
 * The kernel writes all members.
 */
struct drm_vfence_fence_mapping {
	/** @current_offset: Offset for mmap() of the current value's page; 0: no mapping. */
	__u64 current_offset;
	/** @current_va: GPU address of the current value, for read and write; 0: none. */
	__u64 current_va;
	/** @monitored_va: GPU address of the monitored value, for read only; 0: none. */
	__u64 monitored_va;
	/** @current_page_offset: Offset of the current value within its page, in bytes. */
	__u32 current_page_offset;
	/** @pad: Zero. */
	__u32 pad;
};

/** DRM_VFENCE_FENCE_SHAREABLE: The fence can be exported. It has pages of its own. */
#define DRM_VFENCE_FENCE_SHAREABLE	(1 << 0)
/**
 * DRM_VFENCE_FENCE_CROSS_ADAPTER: Other adapters can open the fence too. The flag needs
 * SHAREABLE, and is not for type INTRA_GPU. All adapters share one current value. An adapter that
 * opens the fence gets a native fence if it has native fences, else a monitored one. Every GPU
 * signal other than 0 interrupts the CPU, which notifies the other adapters.
 */
#define DRM_VFENCE_FENCE_CROSS_ADAPTER	(1 << 1)
/**
 * DRM_VFENCE_FENCE_NO_SIGNAL: This handle cannot signal, nor can those that are opened from it,
 * so the fence keeps its first value.
 */
#define DRM_VFENCE_FENCE_NO_SIGNAL	(1 << 2)
/** DRM_VFENCE_FENCE_NO_WAIT: This handle cannot wait. */
#define DRM_VFENCE_FENCE_NO_WAIT	(1 << 3)
/**
 * DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR: The fence keeps its value when a device is
 * lost. Without the flag a fence whose value the CPU can access gets its maximum when a device
 * that has a handle with the right to signal it is lost and the adapter is not, so that no wait
 * for it hangs. If that device has created the fence, and may signal it, and the fence is a
 * native one, every wait of a queue for it passes from then on and signals have no effect,
 * unless it is a cross-adapter fence.
 */
#define DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR (1 << 4)
/** DRM_VFENCE_FENCE_NO_GPU_ACCESS: The fence has no GPU address; type MONITORED only. */
#define DRM_VFENCE_FENCE_NO_GPU_ACCESS	(1 << 5)
/**
 * DRM_VFENCE_FENCE_TOP_OF_PIPELINE: A submission signals the fence when the GPU has fetched all
 * work in front of the signal, even if that work is not done. Type MONITORED only.
 */
#define DRM_VFENCE_FENCE_TOP_OF_PIPELINE (1 << 6)
/**
 * DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY: CPU waits end when nobody can signal the
 * fence any more, as those of native fences do; see &struct drm_vfence_wait. Type MONITORED
 * only. Without the flag the destruction of any handle with the right to signal ends all CPU
 * waits of all processes on that adapter.
 */
#define DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY (1 << 7)

/**
 * struct drm_vfence_fence_create - create a fence
 *
 * Errors: EINVAL for an unknown @type, for a flag that is not for @type, for CROSS_ADAPTER
 * without SHAREABLE or with NO_GPU_ACCESS, for NO_SIGNAL with NO_WAIT, for a bit of
 * @engine_affinity without a physical adapter, for an @initial_value of an INTRA_GPU fence, or
 * for @private_data of a MONITORED one; EOPNOTSUPP if the adapter does not support @type, or
 * for CROSS_ADAPTER with type MONITORED if its fences have 32 bits; ENOSPC at
 * %DRM_VFENCE_LIMIT_FENCES or %DRM_VFENCE_LIMIT_USER_MEMORY.
 */
struct drm_vfence_fence_create {
	/** @device: Handle of the parent. */
	__u32 device;
	/** @type: &enum drm_vfence_fence_type. */
	__u32 type;
	/** @flags: DRM_VFENCE_FENCE_*. */
	__u32 flags;
	/** @handle: Out: Handle of the fence. */
	__u32 handle;
	/** @initial_value: First current value; zero for INTRA_GPU. */
	__u64 initial_value;
	/** @mapping: Out: Places of the values. The CPU maps the current value read only. */
	struct drm_vfence_fence_mapping mapping;
	/**
	 * @engine_affinity: Mask of the physical adapters on which the addresses are mapped;
	 * 0: all. An adapter has one physical adapter, bit 0, because adapters are not linked.
	 * The member is here because WDDM has it: a runtime passes on what it gets.
	 */
	__u32 engine_affinity;
	/** @pad: Zero. */
	__u32 pad;
	/**
	 * @private_data: In/out: The client writes any bytes, zero for MONITORED. The virtual GPU
	 * keeps them with the fence, and the kernel writes what it keeps.
	 */
	__u8 private_data[DRM_VFENCE_PRIVATE_DATA];
};

/** DRM_VFENCE_RIGHT_READ: Right to open, map and query the fence. */
#define DRM_VFENCE_RIGHT_READ		(1 << 0)
/** DRM_VFENCE_RIGHT_WAIT: Right to wait for the fence, on the CPU and on the GPU. */
#define DRM_VFENCE_RIGHT_WAIT		(1 << 1)
/** DRM_VFENCE_RIGHT_SIGNAL: Right to signal the fence, from the CPU and from the GPU. */
#define DRM_VFENCE_RIGHT_SIGNAL		(1 << 2)
/** DRM_VFENCE_RIGHTS_ALL: Rights of the creator. */
#define DRM_VFENCE_RIGHTS_ALL \
	(DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT | DRM_VFENCE_RIGHT_SIGNAL)

/** DRM_VFENCE_EXPORT_SAME_RIGHTS: The descriptor gets all rights of the handle. */
#define DRM_VFENCE_EXPORT_SAME_RIGHTS	(1 << 3)

/**
 * struct drm_vfence_fence_export - get a file descriptor of a fence
 *
 * The descriptor has O_CLOEXEC set and carries rights; handles that are opened from it have
 * these rights. The driver checks an ioctl by the rights of its handle, and a packet by those
 * of all handles of the file for the fence, because they share an address. poll() of the
 * descriptor returns POLLERR; use EVENT_ARM.
 *
 * Errors: EINVAL without a right; EPERM for a fence that is not shareable; EACCES for a right
 * that the handle does not have; EMFILE if the process has too many descriptors.
 */
struct drm_vfence_fence_export {
	/** @handle: Handle of the fence. */
	__u32 handle;
	/** @flags: DRM_VFENCE_RIGHT_*, at least one, or %DRM_VFENCE_EXPORT_SAME_RIGHTS alone. */
	__u32 flags;
	/** @fd: Out: The descriptor. */
	__s32 fd;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_vfence_fence_open - open a shared fence
 *
 * All handles of one file for a fence have the addresses of the first one. A fence of another
 * adapter becomes the kind of fence that this adapter supports; %DRM_VFENCE_QUERY_FENCE returns
 * its type.
 *
 * Errors: EBADF for a closed descriptor; EINVAL for a descriptor that is not a fence, for a
 * fence of another adapter without CROSS_ADAPTER, for a bit of @engine_affinity without a
 * physical adapter, for both flags, or for a flag with a native fence; EACCES for a descriptor
 * without %DRM_VFENCE_RIGHT_READ; EOPNOTSUPP for a fence of another adapter if the fences of
 * this one have 32 bits; ENOSPC at %DRM_VFENCE_LIMIT_FENCES or %DRM_VFENCE_LIMIT_USER_MEMORY,
 * or without room for its addresses.
 */
struct drm_vfence_fence_open {
	/** @device: Handle of the parent. */
	__u32 device;
	/** @fd: Descriptor of DRM_IOCTL_VFENCE_FENCE_EXPORT. */
	__s32 fd;
	/**
	 * @flags: For a fence that is monitored on this adapter
	 * %DRM_VFENCE_FENCE_NO_SIGNAL, %DRM_VFENCE_FENCE_NO_WAIT or zero; the flag
	 * takes a right from the handle. Zero for a native fence.
	 */
	__u32 flags;
	/** @handle: Out: Handle of the fence. */
	__u32 handle;
	/** @mapping: Out: Places of the values. */
	struct drm_vfence_fence_mapping mapping;
	/** @engine_affinity: As in &struct drm_vfence_fence_create. */
	__u32 engine_affinity;
	/** @pad: Zero. */
	__u32 pad;
	/** @private_data: Out: Bytes that the creator gave with the fence. */
	__u8 private_data[DRM_VFENCE_PRIVATE_DATA];
};

/**
 * struct drm_vfence_fence_point - a fence and a value
 */
struct drm_vfence_fence_point {
	/** @fence: Handle of the fence. */
	__u32 fence;
	/** @flags: Zero. */
	__u32 flags;
	/** @value: Value to wait for or to signal. */
	__u64 value;
};

/**
 * DRM_VFENCE_SIGNAL_ALLOW_REWIND: A monitored fence accepts a value below its current value.
 * A native fence accepts it without the flag.
 */
#define DRM_VFENCE_SIGNAL_ALLOW_REWIND	(1 << 0)

/**
 * struct drm_vfence_fence_signal - signal fences from the CPU, in order
 *
 * The driver checks all points before it stores the first value. Concurrent calls are
 * serialised.
 *
 * Errors: EINVAL for no points or more than %DRM_VFENCE_MAX_POINTS, or for a smaller value of a
 * monitored fence without ALLOW_REWIND; EACCES for a handle without %DRM_VFENCE_RIGHT_SIGNAL;
 * EOPNOTSUPP for a fence of type INTRA_GPU; EINTR if a signal interrupted the call; EIO for a
 * fence that ended with its device or its queue. No value is stored then. If the adapter is
 * lost during the call, EIO may follow after some values. The same holds for the signals of
 * WAIT, EVENT_ARM and WAIT_SET_WAIT.
 */
struct drm_vfence_fence_signal {
	/** @flags: DRM_VFENCE_SIGNAL_*. */
	__u32 flags;
	/** @pad: Zero. */
	__u32 pad;
	/** @points: Array of &struct drm_vfence_fence_point. */
	struct drm_vfence_obj_array points;
};

/** DRM_VFENCE_IMPORT_SYNCOBJ: The source is a syncobj. Without the flag it is a sync_file. */
#define DRM_VFENCE_IMPORT_SYNCOBJ	(1 << 0)

/**
 * struct drm_vfence_fence_import - signal a fence when a dma_fence signals
 *
 * The driver signals the fence, as FENCE_SIGNAL with ALLOW_REWIND does, when the dma_fence
 * signals that the sync_file, or the point of the syncobj, has at the time of the call. If the
 * dma_fence fails the fence gets its maximum on all adapters, unless it has
 * NO_SIGNAL_MAX_VALUE_ON_TDR. Until then the import counts as a signaler of the fence, also if
 * all handles are closed; closing the file cancels it. There is no export, because a client can
 * delay a fence without limit, and a dma_fence must signal.
 *
 * Errors: EINVAL for a descriptor that is not a sync_file, for a syncobj without a fence or for
 * a point that is not submitted yet; ENOENT for a syncobj that does not exist; EACCES for a
 * handle without %DRM_VFENCE_RIGHT_SIGNAL; EOPNOTSUPP for a fence of type INTRA_GPU; ENOSPC at
 * %DRM_VFENCE_LIMIT_IMPORTS.
 */
struct drm_vfence_fence_import {
	/** @fence: Handle of the fence to signal. */
	__u32 fence;
	/** @flags: DRM_VFENCE_IMPORT_*. */
	__u32 flags;
	/** @source: Descriptor of a sync_file, or handle of a syncobj. */
	__u32 source;
	/** @pad: Zero. */
	__u32 pad;
	/** @point: Point of a timeline syncobj; zero for a binary syncobj and a sync_file. */
	__u64 point;
	/** @value: Value to signal. */
	__u64 value;
};

/**
 * struct drm_vfence_fence_info - values and totals of a fence
 */
struct drm_vfence_fence_info {
	/** @current_value: Current value; 0 for INTRA_GPU. */
	__u64 current_value;
	/** @monitored_value: Monitored value; U64_MAX: none. */
	__u64 monitored_value;
	/** @waiters: Points of CPU waits, events and wait sets that are on the fence. */
	__u64 waiters;
	/** @interrupts: Number of interrupt records that named the fence. */
	__u64 interrupts;
	/** @spurious: Number of these records that completed no waiter. */
	__u64 spurious;
	/** @woken: Number of queued waits that the fence completed. */
	__u64 woken;
	/** @signals: Number of GPU signals executed; 0 for a monitored fence. */
	__u64 signals;
	/** @rights: DRM_VFENCE_RIGHT_* of the handle. */
	__u32 rights;
	/** @type: &enum drm_vfence_fence_type. */
	__u32 type;
};

/** DRM_VFENCE_WAIT_ANY: One reached point is enough. Without the flag all are needed. */
#define DRM_VFENCE_WAIT_ANY		(1 << 0)
/**
 * DRM_VFENCE_WAIT_ALLOW_REWIND: The signals of the call may lower monitored fences, as with
 * %DRM_VFENCE_SIGNAL_ALLOW_REWIND.
 */
#define DRM_VFENCE_WAIT_ALLOW_REWIND	(1 << 1)

/**
 * struct drm_vfence_wait - sleep until fences reach values
 *
 * The driver checks all arguments, performs @signals, then waits. A point that was reached
 * stays reached, even if its fence is rewound. If several outcomes are possible, reached
 * precedes interrupted, and interrupted precedes timed out.
 *
 * If a signal interrupts the call while it waits, the wait stays armed and @restart gets its
 * number. The kernel (SA_RESTART, a stop, a debugger, the freezer), or a loop on EINTR as in
 * drmIoctl(), passes the structure again as it is: the call performs no signals and continues
 * the wait. A file keeps up to %DRM_VFENCE_LIMIT_RESTARTS such waits and drops the oldest
 * first; a call for a dropped one begins a new wait, without signals.
 *
 * When the call returns 0, the eventfds of the file are signaled whose points were reached by
 * earlier signals of the same queue, unless their values were rewound since. The same holds for
 * WAIT_SET_WAIT that returns entries.
 *
 * Waits for a fence end with ECANCELED when it has no signaler left. Signalers are handles and
 * descriptors with %DRM_VFENCE_RIGHT_SIGNAL in any process, imports that have not signaled, and
 * submissions with signals that have not ended. Queues that wait go on. A signaler cannot come
 * back, because rights never grow.
 *
 * Errors: ETIME when the timeout expires; EINTR if a signal interrupted the call; ECANCELED if
 * a fence has no signaler left, or if a handle of a monitored fence was destroyed that could
 * signal it; EIO for the progress fence of a lost queue, or if the adapter is lost; ENODEV if
 * the device is removed; EINVAL for a negative timeout, for no points, for more than
 * %DRM_VFENCE_MAX_POINTS points or signals, for a smaller value of a monitored fence without
 * %DRM_VFENCE_WAIT_ALLOW_REWIND, or for a @restart whose wait has another address or count of
 * @points; EACCES for a handle without the right to wait or to signal; EOPNOTSUPP for a fence
 * of type INTRA_GPU.
 */
struct drm_vfence_wait {
	/** @flags: DRM_VFENCE_WAIT_*. */
	__u32 flags;
	/** @first: Out: Index of a reached point, with %DRM_VFENCE_WAIT_ANY. */
	__u32 first;
	/**
	 * @timeout_ns: Deadline in nanoseconds of the caller's CLOCK_MONOTONIC. 0: do not sleep;
	 * INT64_MAX: no limit.
	 */
	__s64 timeout_ns;
	/** @points: Array of &struct drm_vfence_fence_point to wait for. */
	struct drm_vfence_obj_array points;
	/** @signals: Array of &struct drm_vfence_fence_point to signal; can be empty. */
	struct drm_vfence_obj_array signals;
	/**
	 * @restart: In/out: The client writes 0 for a new wait. The kernel writes the number of
	 * the wait if the call returns EINTR or is restarted after @signals were performed. It
	 * writes 0 when the wait has ended, also with an error.
	 */
	__u32 restart;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_vfence_event_arm - signal an eventfd when fences reach values
 *
 * The driver signals the eventfd once when the points are reached, and at once if they already
 * are. It also signals the eventfd when the device is removed or a wait for these points would
 * fail. A call that fails does not signal the eventfd.
 *
 * Errors: those of &struct drm_vfence_wait, except ETIME and those of @timeout_ns and @restart;
 * EBADF or EINVAL for a descriptor that is not an eventfd; ENOSPC at %DRM_VFENCE_LIMIT_EVENTS
 * or %DRM_VFENCE_LIMIT_EVENT_POINTS. On ENOSPC and on EINTR the driver has signaled nothing.
 */
struct drm_vfence_event_arm {
	/** @flags: DRM_VFENCE_WAIT_*. */
	__u32 flags;
	/** @eventfd: Descriptor of the eventfd. */
	__s32 eventfd;
	/** @points: Array of &struct drm_vfence_fence_point to wait for. */
	struct drm_vfence_obj_array points;
	/** @signals: Array of &struct drm_vfence_fence_point to signal first; can be empty. */
	struct drm_vfence_obj_array signals;
	/** @event: Out: Handle of the event; 0 if the points are already reached. */
	__u32 event;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_vfence_wait_set_create - create a set of points that outlives a call
 *
 * An entry of a wait set stays on its fence from one WAIT_SET_WAIT to the next, so that a thread
 * that waits again and again for one of many fences need not pass them all with each call::
 *
 *    not in use ----> armed            (the client updates it)
 *    armed ---------> ready            (its value is reached, or its fence fails)
 *    ready ---------> not in use       (WAIT_SET_WAIT returns it, once)
 *
 * An update of an entry that is armed or ready replaces it.
 *
 * Errors: EINVAL for no entries or more than %DRM_VFENCE_MAX_WAIT_SET_ENTRIES; ENOSPC at
 * %DRM_VFENCE_LIMIT_WAIT_SETS or %DRM_VFENCE_LIMIT_WAIT_SET_ENTRIES.
 */
struct drm_vfence_wait_set_create {
	/** @flags: Zero. */
	__u32 flags;
	/** @entries: Number of entries, 1 to %DRM_VFENCE_MAX_WAIT_SET_ENTRIES; none is in use. */
	__u32 entries;
	/** @handle: Out: Handle of the wait set. */
	__u32 handle;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_vfence_wait_set_update - what an entry of a wait set waits for from now on
 */
struct drm_vfence_wait_set_update {
	/** @index: Index of the entry, below the number of entries of the set. */
	__u32 index;
	/** @fence: Handle of the fence; 0: the entry is not in use any more. */
	__u32 fence;
	/** @value: Value that makes the entry ready; it is if the fence has it already. */
	__u64 value;
};

/**
 * struct drm_vfence_wait_set_ready - an entry of a wait set that is ready
 */
struct drm_vfence_wait_set_ready {
	/** @index: Out: Index of the entry, which is not in use any more. */
	__u32 index;
	/**
	 * @error: Out: 0 if the value was reached, even if the fence was rewound since. Otherwise
	 * the negative error that WAIT would return for the fence, such as -ECANCELED.
	 */
	__s32 error;
};

/**
 * struct drm_vfence_wait_set_wait - update entries of a wait set, and sleep until one is ready
 *
 * The driver checks all arguments, performs @signals, then @updates in their order, then waits
 * until an entry is ready. It returns ready entries, oldest first, up to the count of @ready;
 * the next call returns the rest. With a count of 0 the call does not wait. Any thread may
 * update a set at any time; one thread at a time may wait.
 *
 * Reached precedes interrupted, and interrupted precedes timed out. If a signal interrupts the
 * call while it waits, @performed is 1. The kernel, or a loop on EINTR as in drmIoctl(), passes
 * the structure again as it is: the call repeats neither signals nor updates.
 *
 * Errors: ETIME when the timeout expires; EINTR if a signal interrupted the call; EBUSY if
 * another thread waits; ENODATA if the call would sleep and no entry is armed; ECANCELED if the
 * set is destroyed meanwhile; EINVAL for an index beyond the entries of the set, for a negative
 * timeout, for a smaller value of a monitored fence without %DRM_VFENCE_WAIT_ALLOW_REWIND, or
 * for more than %DRM_VFENCE_MAX_POINTS elements of a list; EACCES for a handle without the
 * right to wait or to signal; EOPNOTSUPP for a fence of type INTRA_GPU; EIO if the adapter is
 * lost, possibly after some of the signals. After ETIME, ENODATA, ECANCELED and an EFAULT of
 * @ready the signals and updates are performed, and no entry is lost, and so after any error of
 * a call with @performed. After the others, except EINTR and EIO, nothing has changed.
 */
struct drm_vfence_wait_set_wait {
	/** @set: Handle of the wait set. */
	__u32 set;
	/** @flags: %DRM_VFENCE_WAIT_ALLOW_REWIND or 0. */
	__u32 flags;
	/**
	 * @timeout_ns: Deadline in nanoseconds of the caller's CLOCK_MONOTONIC. 0: do not sleep;
	 * INT64_MAX: no limit.
	 */
	__s64 timeout_ns;
	/** @updates: Array of &struct drm_vfence_wait_set_update; can be empty. */
	struct drm_vfence_obj_array updates;
	/** @signals: Array of &struct drm_vfence_fence_point to signal first; can be empty. */
	struct drm_vfence_obj_array signals;
	/** @ready: Array of &struct drm_vfence_wait_set_ready to fill; can be empty. */
	struct drm_vfence_obj_array ready;
	/** @returned: Out: Number of elements written to @ready. */
	__u32 returned;
	/**
	 * @performed: In/out: The client writes 0 for a new call. The kernel writes 1 if the call
	 * is interrupted after the signals and updates were performed. It writes 0 when the call
	 * has ended, also with an error.
	 */
	__u32 performed;
};

/* ------------------------------------------------------------------ queues */

/** DRM_VFENCE_QUEUE_USER_MODE: The client fills the queue and rings its doorbell. */
#define DRM_VFENCE_QUEUE_USER_MODE	(1 << 0)
/**
 * DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT: Submissions may use their engine for longer than
 * TdrDelay. SUBMIT refuses out-syncs, because a dma_fence must signal. The queue must
 * still leave its engine when another client wants it or its context is suspended. The flag has
 * no effect on a user-mode queue, which has no such limit.
 */
#define DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT (1 << 1)

/**
 * struct drm_vfence_queue_create - create a hardware queue with its progress fence
 *
 * Without USER_MODE it is a kernel-mode queue: SUBMIT fills it, and it has no logs and no
 * doorbell.
 *
 * Errors: EOPNOTSUPP for USER_MODE on a node that does not take user-mode queues or on an
 * adapter without user-mode submission, and for a kernel-mode queue on a node for the work of
 * the kernel; ENOSPC at %DRM_VFENCE_LIMIT_QUEUES, without room for the addresses of its logs,
 * or for its progress fence as for FENCE_CREATE.
 */
struct drm_vfence_queue_create {
	/** @context: Handle of the parent. */
	__u32 context;
	/** @flags: DRM_VFENCE_QUEUE_*. */
	__u32 flags;
	/** @handle: Out: Handle of the queue. */
	__u32 handle;
	/**
	 * @progress_fence: Out: Handle of the progress fence. It is a native fence, and a
	 * monitored one on an adapter without native fences; %DRM_VFENCE_QUERY_FENCE returns its
	 * type.
	 */
	__u32 progress_fence;
	/** @progress: Out: Places of the progress fence's values. */
	struct drm_vfence_fence_mapping progress;
	/** @wait_log_va: Out: GPU address of the wait log; 0: no logs. */
	__u64 wait_log_va;
	/** @signal_log_va: Out: GPU address of the signal log; 0: no logs. */
	__u64 signal_log_va;
	/** @wait_log_entries: Out: Number of entries of the wait log. */
	__u32 wait_log_entries;
	/** @signal_log_entries: Out: Number of entries of the signal log. */
	__u32 signal_log_entries;
};

/**
 * struct drm_vfence_queue_abort - stop a queue, which is lost
 *
 * The device stays ACTIVE.
 */
struct drm_vfence_queue_abort {
	/** @queue: Handle of the queue. */
	__u32 queue;
	/** @flags: Zero. */
	__u32 flags;
};

/** DRM_VFENCE_DOORBELL_SECONDARY: The client wants a second address that also rings. */
#define DRM_VFENCE_DOORBELL_SECONDARY	(1 << 0)

/**
 * DRM_VFENCE_DOORBELL_MAPPINGS: Most mappings of a doorbell page, in all processes together. To
 * take a doorbell away costs time for each of them.
 */
#define DRM_VFENCE_DOORBELL_MAPPINGS	4

/**
 * struct drm_vfence_doorbell_create - give a user-mode queue its ring and its doorbell
 *
 * The doorbell is disconnected and takes no physical doorbell. The two buffers stay alive as
 * long as the doorbell.
 *
 * Errors: EEXIST if the queue has a doorbell; EINVAL for an illegal ring size, for a @ring that
 * is smaller, or if both buffers are one; EOPNOTSUPP for a kernel-mode queue, for a dma-buf of
 * another device, or for a second address if the adapter has none; EIO if the queue is lost.
 */
struct drm_vfence_doorbell_create {
	/** @queue: Handle of the queue. */
	__u32 queue;
	/** @flags: DRM_VFENCE_DOORBELL_*. */
	__u32 flags;
	/** @ring: GEM handle of the ring. */
	__u32 ring;
	/** @control: GEM handle of the buffer that starts with &struct drm_vfence_ring_control. */
	__u32 control;
	/**
	 * @ring_size: Size of the ring in bytes, a power of two from %DRM_VFENCE_RING_MIN to
	 * %DRM_VFENCE_RING_MAX.
	 */
	__u32 ring_size;
	/** @pad: Zero. */
	__u32 pad;
	/**
	 * @doorbell_offset: Out: Offset for mmap() of the doorbell page. mmap() returns ENOSPC if
	 * the page has %DRM_VFENCE_DOORBELL_MAPPINGS mappings.
	 */
	__u64 doorbell_offset;
	/**
	 * @status_offset: Out: Offset for mmap() of the status page, which is read only. It has
	 * a u64 of &enum drm_vfence_doorbell_status at 0 and a u32 of
	 * &enum drm_vfence_logging_level at 8.
	 */
	__u64 status_offset;
	/** @last_queued_offset: Out: Offset for mmap() of the last-queued page, a u64 at 0. */
	__u64 last_queued_offset;
	/**
	 * @secondary_offset: Out: Offset for mmap() of the second doorbell page; 0: none. The page
	 * has as many mappings of its own.
	 */
	__u64 secondary_offset;
};

/**
 * DRM_VFENCE_CONNECT_LOGS: The client adopts the geometry of the logs that the call returns.
 * Without the flag the client's geometry does not change, whatever size the logs have.
 */
#define DRM_VFENCE_CONNECT_LOGS		(1 << 0)

/**
 * struct drm_vfence_doorbell_connect - connect a doorbell to a physical doorbell
 *
 * The driver may take the physical doorbell from another queue, whose status becomes RETRY.
 * A change of the logging level disconnects all doorbells, so that clients
 * connect again and read the new level.
 *
 * Errors: ENOENT if the queue has no doorbell; EIO if the queue is lost.
 */
struct drm_vfence_doorbell_connect {
	/** @queue: Handle of the queue. */
	__u32 queue;
	/** @flags: DRM_VFENCE_CONNECT_*. */
	__u32 flags;
	/** @wait_log_entries: Out: Number of entries of the wait log in the client's geometry. */
	__u32 wait_log_entries;
	/** @signal_log_entries: Out: Number of entries of the signal log in that geometry. */
	__u32 signal_log_entries;
	/**
	 * @log_restart: Out: 1 if LOG packets that the client publishes from now on start at
	 * index 0 again, else 0. Packets that are already published keep their indices.
	 */
	__u32 log_restart;
	/** @logging_level: Out: &enum drm_vfence_logging_level. */
	__u32 logging_level;
};

/**
 * struct drm_vfence_notify_work_submission - notify the driver of a submission
 *
 * The client calls it after each ring while the status is CONNECTED_NOTIFY. The call is
 * harmless at any other time.
 *
 * Errors: ENOENT if the queue has no doorbell.
 */
struct drm_vfence_notify_work_submission {
	/** @queue: Handle of the queue. */
	__u32 queue;
	/** @flags: Zero. */
	__u32 flags;
};

/**
 * enum drm_vfence_queue_state - states of a hardware queue
 */
enum drm_vfence_queue_state {
	/** @DRM_VFENCE_QUEUE_IDLE: The queue has no work. */
	DRM_VFENCE_QUEUE_IDLE = 0,
	/** @DRM_VFENCE_QUEUE_READY: The queue waits for its engine or for a resume. */
	DRM_VFENCE_QUEUE_READY = 1,
	/** @DRM_VFENCE_QUEUE_RUNNING: The queue is on its engine. */
	DRM_VFENCE_QUEUE_RUNNING = 2,
	/** @DRM_VFENCE_QUEUE_BLOCKED: The queue stalls in a fence wait. */
	DRM_VFENCE_QUEUE_BLOCKED = 3,
	/** @DRM_VFENCE_QUEUE_FAULTED: A packet of the queue stopped it. */
	DRM_VFENCE_QUEUE_FAULTED = 4,
	/** @DRM_VFENCE_QUEUE_ABORTED: The client, the driver or a reset stopped the queue. */
	DRM_VFENCE_QUEUE_ABORTED = 5,
};

/**
 * enum drm_vfence_queue_verdict - part of a queue in the loss of its device
 */
enum drm_vfence_queue_verdict {
	/** @DRM_VFENCE_QUEUE_OK: The device is not lost. */
	DRM_VFENCE_QUEUE_OK = 0,
	/**
	 * @DRM_VFENCE_QUEUE_GUILTY: It executed what was not legal or did not end: the packet or
	 * the submission on the engine was its own.
	 */
	DRM_VFENCE_QUEUE_GUILTY = 1,
	/** @DRM_VFENCE_QUEUE_INNOCENT: The device was lost for another reason. */
	DRM_VFENCE_QUEUE_INNOCENT = 2,
};

/**
 * struct drm_vfence_queue_info - state of a queue
 */
struct drm_vfence_queue_info {
	/** @state: &enum drm_vfence_queue_state. */
	__u32 state;
	/** @verdict: &enum drm_vfence_queue_verdict. */
	__u32 verdict;
	/** @fault: &enum drm_vfence_fault. */
	__u32 fault;
	/** @fault_opcode: Opcode of the faulting packet as the engine read it. */
	__u32 fault_opcode;
	/** @fault_ring_ptr: Pointer into the ring at which the faulting packet starts. */
	__u64 fault_ring_ptr;
	/** @fault_va: GPU address that caused the fault, if one did. */
	__u64 fault_va;
	/**
	 * @last_queued: Last-queued value that the client published; for a kernel-mode queue the
	 * progress value of the last submission. The queue has work if it exceeds @progress.
	 */
	__u64 last_queued;
	/** @progress: Current value of the progress fence. */
	__u64 progress;
	/** @held: Number of submissions that wait for fences, or behind one that does. */
	__u32 held;
	/** @queued: Number of submissions on their way to the GPU, on it or back from it. */
	__u32 queued;
	/** @packets: Number of packets that completed. */
	__u64 packets;
	/** @log_packets: Number of LOG packets executed. */
	__u64 log_packets;
	/** @log_read: Number of log entries that the driver read. */
	__u64 log_read;
	/** @log_lost: Number of log entries that the GPU overwrote before that. */
	__u64 log_lost;
	/** @notifications: Number of NOTIFY_WORK_SUBMISSION calls that reached the GPU. */
	__u64 notifications;
};

/**
 * enum drm_vfence_context_state - what a suspension has brought about
 */
enum drm_vfence_context_state {
	/** @DRM_VFENCE_CONTEXT_RESUMED: It is not suspended: its queues may run. */
	DRM_VFENCE_CONTEXT_RESUMED = 0,
	/** @DRM_VFENCE_CONTEXT_SUSPENDING: The GPU has not released its queues yet. */
	DRM_VFENCE_CONTEXT_SUSPENDING = 1,
	/** @DRM_VFENCE_CONTEXT_SUSPENDED: The GPU has released its queues. */
	DRM_VFENCE_CONTEXT_SUSPENDED = 2,
};

/**
 * struct drm_vfence_context_info - state of a context
 */
struct drm_vfence_context_info {
	/** @state: &enum drm_vfence_context_state. */
	__u32 state;
	/**
	 * @verdict: &enum drm_vfence_queue_verdict: GUILTY if one of its queues is, also one
	 * that is destroyed.
	 */
	__u32 verdict;
	/** @fence: Number of its last suspension, or 0. */
	__u64 fence;
	/**
	 * @suspended_ns: How long it was suspended so far, in ns. Less than a second between
	 * two suspensions counts as well, as in the timeout of a submission.
	 */
	__u64 suspended_ns;
};

/* ------------------------------------------------------------- submissions */

/** DRM_VFENCE_MAX_COMMANDS: Most bytes of packets in one submission. */
#define DRM_VFENCE_MAX_COMMANDS		16384
/**
 * DRM_VFENCE_MAX_SUBMISSIONS: Most submissions of one queue, held and queued. Submissions that
 * have ended, and whose signals and events the CPU has yet to perform, are limited to as many.
 */
#define DRM_VFENCE_MAX_SUBMISSIONS	8192
/** DRM_VFENCE_MAX_BROADCAST: Most queues of one submission. */
#define DRM_VFENCE_MAX_BROADCAST	64
/** DRM_VFENCE_MAX_OPS: Most operations of one submission. */
#define DRM_VFENCE_MAX_OPS		2048
/** DRM_VFENCE_MAX_SYNCOBJS: Most operations of one type that are for syncobjs. */
#define DRM_VFENCE_MAX_SYNCOBJS		64

/**
 * DRM_VFENCE_SUBMIT_ALLOW_REWIND: A monitored fence accepts a value below the value that it
 * has when the signal is performed. Without the flag it keeps its value then. A native fence
 * always accepts the value. The flag needs a SIGNAL_FENCE.
 */
#define DRM_VFENCE_SUBMIT_ALLOW_REWIND		(1 << 0)
/**
 * DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION: The driver signals the fences when all earlier
 * submissions have been given to the GPU, even if they are not done. The flag needs a
 * SIGNAL_FENCE and excludes commands.
 */
#define DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION	(1 << 1)
/**
 * DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT: The driver signals @eventfd when all queues have
 * reached the submission; a queue that is lost counts as one that has. The flag excludes
 * SIGNAL_FENCE and commands.
 */
#define DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT	(1 << 2)
/**
 * DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM: If a queue has %DRM_VFENCE_MAX_SUBMISSIONS, the call sleeps
 * until it has less of them or is lost. Without the flag the call fails with ENOSPC.
 */
#define DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM		(1 << 3)

/**
 * struct drm_vfence_submit_queue - a queue that takes part in a submission
 */
struct drm_vfence_submit_queue {
	/** @queue: Handle of a kernel-mode queue. */
	__u32 queue;
	/** @pad: Zero. */
	__u32 pad;
	/** @progress: Out: Value of the progress fence when the submission is done. */
	__u64 progress;
};

/**
 * enum drm_vfence_submit_op_type - what an operation of a submission does
 */
enum drm_vfence_submit_op_type {
	/** @DRM_VFENCE_SUBMIT_WAIT_FENCE: Hold the submission back until a fence has a value. */
	DRM_VFENCE_SUBMIT_WAIT_FENCE = 0,
	/** @DRM_VFENCE_SUBMIT_SIGNAL_FENCE: Signal a fence when the submission is done. */
	DRM_VFENCE_SUBMIT_SIGNAL_FENCE = 1,
	/**
	 * @DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ: In-sync: hold the submission back until the dma_fence
	 * has signaled that the syncobj has at the time of the call; ignore whether it fails.
	 */
	DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ = 2,
	/** @DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ: Out-sync: give the syncobj a dma_fence. */
	DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ = 3,
};

/**
 * struct drm_vfence_submit_op - an operation of a submission on a fence or a syncobj
 */
struct drm_vfence_submit_op {
	/** @type: &enum drm_vfence_submit_op_type. */
	__u32 type;
	/** @handle: Handle of the fence or the syncobj. */
	__u32 handle;
	/**
	 * @value: Value to wait for or to signal; point of a timeline syncobj, 0 for a binary
	 * one.
	 */
	__u64 value;
};

/**
 * struct drm_vfence_submit - queue waits, commands and signals
 *
 * The operations that wait come before the commands, those that signal after them, whatever the
 * order in @ops; operations of one type keep theirs.
 *
 * A queue executes its submissions in the order of the calls; one that waits holds back its own
 * queue only. A point that was reached after the call stays reached, even if the value is
 * rewound before the submission is the first of its queue. A fence that cannot be signaled any
 * more counts as reached. The call does not sleep for any of that, unless it has an out-sync or
 * asks for %DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM.
 *
 * Commands are packets without padding between them, which the kernel copies. They contain no
 * FENCE_WAIT, because waits are operations, and no LOG, because the queue has no logs.
 *
 * The CPU signals the fences when all queues have executed what was queued before
 * and, with one queue, the commands; a fence with %DRM_VFENCE_FENCE_TOP_OF_PIPELINE when the
 * GPU has fetched all that. If a queue is lost before, the CPU does not signal them. Until then
 * the submission counts as a signaler of these fences.
 *
 * The dma_fence that a submission gives to its out-syncs must signal in bounded time, so the
 * submission must not depend on what a client decides. A call with an out-sync therefore
 * sleeps until its fence points are reached and no submission in front waits for any, or until
 * the queue is lost. It also sleeps while its function is paused. The dma_fence signals when
 * the commands are done. If they are not, it fails:
 *
 * - ETIME: the commands used their engine for more than TdrDelay, or kept other clients off it.
 *   The queue is aborted and its device is %DRM_VFENCE_DEVICE_HUNG.
 * - ECANCELED: the submission was behind such commands, or the queue was aborted.
 * - EIO: a packet was not legal.
 * - ENODEV: the device is removed.
 *
 * Errors: EINVAL for no queue, a queue that occurs twice, or more than
 * %DRM_VFENCE_MAX_BROADCAST; EINVAL for commands or an out-sync with more than one queue;
 * EINVAL for commands of an illegal length, or with a packet that is not legal or not for
 * kernel-mode queues; EINVAL for a flag without what it needs, or with what it excludes;
 * EOPNOTSUPP for a user-mode queue, for an out-sync with a queue without
 * a time-out, for a MONITORED_SIGNAL packet if engines have none, or for a fence of type
 * INTRA_GPU; ENOENT for a syncobj that does not exist; EINVAL for a wait for a syncobj without
 * a fence or for a point that is not submitted yet; EACCES for a handle without the right to
 * wait or to signal; EBADF or EINVAL for a descriptor that is not an eventfd; EINVAL for more than
 * %DRM_VFENCE_MAX_OPS operations, or %DRM_VFENCE_MAX_SYNCOBJS of a type; ENOSPC if a queue has
 * %DRM_VFENCE_MAX_SUBMISSIONS and @flags does not say to wait, or beyond
 * %DRM_VFENCE_LIMIT_SUBMIT_POINTS or %DRM_VFENCE_LIMIT_USER_MEMORY; EIO if a queue is lost;
 * EINTR if a signal interrupted the call.
 */
struct drm_vfence_submit {
	/** @flags: DRM_VFENCE_SUBMIT_*. */
	__u32 flags;
	/** @eventfd: Descriptor of an eventfd with ENQUEUE_CPU_EVENT, else zero. */
	__s32 eventfd;
	/** @queues: Array of &struct drm_vfence_submit_queue. */
	struct drm_vfence_obj_array queues;
	/** @ops: Array of &struct drm_vfence_submit_op; can be empty. */
	struct drm_vfence_obj_array ops;
	/** @commands: Address of the packets; 0 without commands. */
	__u64 commands;
	/** @commands_size: Length of the packets in bytes, a multiple of 8; 0: no commands. */
	__u32 commands_size;
	/** @pad: Zero. */
	__u32 pad;
};

/**
 * struct drm_vfence_log_read - fetch log entries of a user-mode queue
 *
 * The call returns the entries that the client has not fetched, oldest first. From the first
 * call for a log on, the driver keeps its last 1024 entries; older ones count in @dropped, and
 * entries that the GPU overwrote before the driver read them in @lost. To miss none, call it
 * with a count of 0 before the first submission.
 *
 * Errors: EINVAL for an unknown @log or more than 1024 entries; EOPNOTSUPP for a kernel-mode
 * queue.
 */
struct drm_vfence_log_read {
	/** @queue: Handle of the queue. */
	__u32 queue;
	/** @log: &enum drm_vfence_log_type. */
	__u32 log;
	/** @entries: Array of &struct drm_vfence_log_entry to fill, at most 1024 elements. */
	struct drm_vfence_obj_array entries;
	/** @returned: Out: Number of entries written to @entries. */
	__u32 returned;
	/** @pad: Zero. */
	__u32 pad;
	/** @lost: Out: Total of entries that the GPU overwrote before the driver read them. */
	__u64 lost;
	/** @dropped: Out: Total of entries that the driver read and the client did not fetch. */
	__u64 dropped;
};

/* ------------------------------------------------------------------ ioctls */

/* Numbers of the ioctls. */
#define DRM_VFENCE_QUERY			0x00
#define DRM_VFENCE_DESTROY			0x01
#define DRM_VFENCE_DEVICE_CREATE		0x02
#define DRM_VFENCE_CONTEXT_CREATE		0x03
#define DRM_VFENCE_BO_CREATE			0x04
#define DRM_VFENCE_VM_BIND			0x05
#define DRM_VFENCE_FENCE_CREATE			0x06
#define DRM_VFENCE_FENCE_EXPORT			0x07
#define DRM_VFENCE_FENCE_OPEN			0x08
#define DRM_VFENCE_FENCE_SIGNAL			0x09
#define DRM_VFENCE_WAIT				0x0a
#define DRM_VFENCE_EVENT_ARM			0x0b
#define DRM_VFENCE_QUEUE_CREATE			0x0c
#define DRM_VFENCE_QUEUE_ABORT			0x0d
#define DRM_VFENCE_DOORBELL_CREATE		0x0e
#define DRM_VFENCE_DOORBELL_CONNECT		0x0f
#define DRM_VFENCE_LOG_READ			0x10
#define DRM_VFENCE_NOTIFY_WORK_SUBMISSION	0x11
#define DRM_VFENCE_CONTEXT_SUSPEND		0x12
#define DRM_VFENCE_CONTEXT_RESUME		0x13
#define DRM_VFENCE_FENCE_IMPORT			0x14
#define DRM_VFENCE_SUBMIT			0x15
#define DRM_VFENCE_WAIT_SET_CREATE		0x16
#define DRM_VFENCE_WAIT_SET_WAIT		0x17

#define DRM_IOCTL_VFENCE(dir, id, type) \
	DRM_IO##dir(DRM_COMMAND_BASE + DRM_VFENCE_##id, struct drm_vfence_##type)

#define DRM_IOCTL_VFENCE_QUERY DRM_IOCTL_VFENCE(WR, QUERY, query)
#define DRM_IOCTL_VFENCE_DESTROY DRM_IOCTL_VFENCE(W, DESTROY, destroy)
#define DRM_IOCTL_VFENCE_DEVICE_CREATE DRM_IOCTL_VFENCE(WR, DEVICE_CREATE, device_create)
#define DRM_IOCTL_VFENCE_CONTEXT_CREATE DRM_IOCTL_VFENCE(WR, CONTEXT_CREATE, context_create)
#define DRM_IOCTL_VFENCE_BO_CREATE DRM_IOCTL_VFENCE(WR, BO_CREATE, bo_create)
#define DRM_IOCTL_VFENCE_VM_BIND DRM_IOCTL_VFENCE(WR, VM_BIND, vm_bind)
#define DRM_IOCTL_VFENCE_FENCE_CREATE DRM_IOCTL_VFENCE(WR, FENCE_CREATE, fence_create)
#define DRM_IOCTL_VFENCE_FENCE_EXPORT DRM_IOCTL_VFENCE(WR, FENCE_EXPORT, fence_export)
#define DRM_IOCTL_VFENCE_FENCE_OPEN DRM_IOCTL_VFENCE(WR, FENCE_OPEN, fence_open)
#define DRM_IOCTL_VFENCE_FENCE_SIGNAL DRM_IOCTL_VFENCE(W, FENCE_SIGNAL, fence_signal)
#define DRM_IOCTL_VFENCE_WAIT DRM_IOCTL_VFENCE(WR, WAIT, wait)
#define DRM_IOCTL_VFENCE_EVENT_ARM DRM_IOCTL_VFENCE(WR, EVENT_ARM, event_arm)
#define DRM_IOCTL_VFENCE_QUEUE_CREATE DRM_IOCTL_VFENCE(WR, QUEUE_CREATE, queue_create)
#define DRM_IOCTL_VFENCE_QUEUE_ABORT DRM_IOCTL_VFENCE(W, QUEUE_ABORT, queue_abort)
#define DRM_IOCTL_VFENCE_DOORBELL_CREATE DRM_IOCTL_VFENCE(WR, DOORBELL_CREATE, doorbell_create)
#define DRM_IOCTL_VFENCE_DOORBELL_CONNECT DRM_IOCTL_VFENCE(WR, DOORBELL_CONNECT, doorbell_connect)
#define DRM_IOCTL_VFENCE_LOG_READ DRM_IOCTL_VFENCE(WR, LOG_READ, log_read)
#define DRM_IOCTL_VFENCE_NOTIFY_WORK_SUBMISSION \
	DRM_IOCTL_VFENCE(W, NOTIFY_WORK_SUBMISSION, notify_work_submission)
#define DRM_IOCTL_VFENCE_CONTEXT_SUSPEND DRM_IOCTL_VFENCE(WR, CONTEXT_SUSPEND, context_suspend)
#define DRM_IOCTL_VFENCE_CONTEXT_RESUME DRM_IOCTL_VFENCE(W, CONTEXT_RESUME, context_resume)
#define DRM_IOCTL_VFENCE_FENCE_IMPORT DRM_IOCTL_VFENCE(W, FENCE_IMPORT, fence_import)
#define DRM_IOCTL_VFENCE_SUBMIT DRM_IOCTL_VFENCE(W, SUBMIT, submit)
#define DRM_IOCTL_VFENCE_WAIT_SET_CREATE DRM_IOCTL_VFENCE(WR, WAIT_SET_CREATE, wait_set_create)
#define DRM_IOCTL_VFENCE_WAIT_SET_WAIT DRM_IOCTL_VFENCE(WR, WAIT_SET_WAIT, wait_set_wait)

#if defined(__cplusplus)
}
#endif

#endif /* _VFENCE_DRM_H_ */
