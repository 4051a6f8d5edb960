/* SPDX-License-Identifier: MIT */
#ifndef VFENCE_H
#define VFENCE_H

/**
 * DOC: libvfence
 *
 * The user-mode half of a driver for the vfence virtual GPU.
 *
 * Functions return 0 or a negative errno unless their description says otherwise.
 * Objects have no locks: one thread at a time may use an object. Any number of
 * threads may poll a fence, wait for it and signal it.
 *
 * After fork() the child has the objects of its parent, of the same open file. One
 * process at a time may use a queue, and one of them destroys an object. A child that
 * outlives the adapter finds every fence at %UINT64_MAX and every queue lost.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/vfence_drm.h>

#ifdef __cplusplus
extern "C" {
#endif

/** VF_FOREVER: timeout of a wait without limit */
#define VF_FOREVER	INT64_MAX

struct vf_adapter;
struct vf_device;
struct vf_buffer;
struct vf_fence;
struct vf_wait_set;
struct vf_queue;

/* ----------------------------------------------------------------- adapter */

/**
 * vf_adapter_open - open a vfence adapter of the machine
 * @index: number of the adapter, from 0
 * @adapter: out: the adapter
 *
 * -ENODEV if there is no such adapter, -EACCES if the caller may not open it.
 */
int vf_adapter_open(unsigned int index, struct vf_adapter **adapter);
/** vf_adapter_close - close an adapter; destroy all its objects before */
void vf_adapter_close(struct vf_adapter *adapter);
/** vf_adapter_fd - file descriptor of an adapter, for raw ioctls */
int vf_adapter_fd(struct vf_adapter *adapter);
/** vf_adapter_info - describe an adapter */
int vf_adapter_info(struct vf_adapter *adapter, struct drm_vfence_adapter_info *info);
/** vf_adapter_nodes - nodes of an adapter; @count: in: room, out: number of nodes */
int vf_adapter_nodes(struct vf_adapter *adapter, struct drm_vfence_node_info *nodes,
		     unsigned int *count);
/** vf_adapter_features - features of an adapter; @count: in: room, out: number of features */
int vf_adapter_features(struct vf_adapter *adapter, struct drm_vfence_feature_info *features,
			unsigned int *count);
/** vf_adapter_fence_caps - capabilities of an adapter's native fences */
int vf_adapter_fence_caps(struct vf_adapter *adapter, struct drm_vfence_fence_caps *caps);
/** vf_adapter_find_node - first node of a class that takes user-mode queues, or -ENOENT */
int vf_adapter_find_node(struct vf_adapter *adapter, enum drm_vfence_node_class class_id);
/**
 * vf_adapter_limits - what this open file may have, and what it has
 * @adapter: the adapter
 * @limits: out: limits by &enum drm_vfence_limit_id; an id may be one of a newer driver
 * @count: in: room, out: number of limits
 *
 * Return: 0 or a negative error.
 */
int vf_adapter_limits(struct vf_adapter *adapter, struct drm_vfence_limit *limits,
		      unsigned int *count);
/** vf_adapter_clock - GPU clock with a calibration pair */
int vf_adapter_clock(struct vf_adapter *adapter, struct drm_vfence_clock_info *clock);

/**
 * struct vf_counters - the counters that this library knows, by name
 *
 * A member has the name of its counter in the file "counters" of debugfs. The structure grows only with the major version of the library;
 * vf_adapter_counter_list() returns all counters.
 */
struct vf_counters {
	/** @signals: fence signals that engines executed */
	uint64_t signals;
	/**
	 * @suppressed: signals that needed no interrupt: the value did not exceed the monitored
	 * value
	 */
	uint64_t suppressed;
	/** @posts: signals that engines handed to the CMP */
	uint64_t posts;
	/** @cmp_rechecked_out: posts that the CMP dropped after it had compared the value again */
	uint64_t cmp_rechecked_out;
	/** @cmp_recorded: posts that the CMP named in an interrupt record */
	uint64_t cmp_recorded;
	/**
	 * @cmp_overflowed: posts that became a NULL event, for which the driver scans all fences
	 */
	uint64_t cmp_overflowed;
	/** @interrupts_raised: times the virtual GPU raised its interrupt vector */
	uint64_t interrupts_raised;
	/** @interrupts_coalesced: raises that found the vector already pending */
	uint64_t interrupts_coalesced;
	/** @handler_runs: runs of the interrupt handler, as /proc/interrupts counts them */
	uint64_t handler_runs;
	/** @records_useful: recorded fences that completed at least one waiter */
	uint64_t records_useful;
	/** @records_spurious: recorded fences that completed no waiter, which is legal */
	uint64_t records_spurious;
	/** @scans: NULL events, for each of which the driver scanned every fence with waiters */
	uint64_t scans;
	/** @cpu_signals: fence points that the CPU signaled */
	uint64_t cpu_signals;
	/** @waits_begun: CPU waits and events that the driver queued on a fence */
	uint64_t waits_begun;
	/** @waits_satisfied: begun waits that ended because their values were reached */
	uint64_t waits_satisfied;
	/** @waits_timed_out: begun waits that their deadline ended */
	uint64_t waits_timed_out;
	/**
	 * @waits_cancelled: begun waits that a signal, a cancellation, a close or an error ended
	 */
	uint64_t waits_cancelled;
	/** @second_sample: waits that the second sample, after arming, found satisfied */
	uint64_t second_sample;
	/** @log_entries_read: log entries that the driver read */
	uint64_t log_entries_read;
	/** @log_entries_lost: log entries that the GPU overwrote before the driver read them */
	uint64_t log_entries_lost;
	/** @log_entries_unread: log entries of live queues that the driver has not read yet */
	uint64_t log_entries_unread;
	/** @log_packets: LOG packets that engines executed */
	uint64_t log_packets;
	/** @ioctls: ioctls of the driver that it served */
	uint64_t ioctls;
	/** @doorbell_faults: page faults on doorbell pages */
	uint64_t doorbell_faults;
	/** @page_faults: page faults on all other pages that the driver maps */
	uint64_t page_faults;
	/** @fences_created: create calls to the virtual GPU */
	uint64_t fences_created;
	/** @fences_opened: open calls to the virtual GPU, one for each holder */
	uint64_t fences_opened;
	/** @fences_closed: close calls to the virtual GPU */
	uint64_t fences_closed;
	/** @fences_destroyed: destroy calls to the virtual GPU, after the last close */
	uint64_t fences_destroyed;
	/** @queues: hardware queues that exist */
	uint64_t queues;
	/** @doorbells_connected: physical doorbells in use */
	uint64_t doorbells_connected;
	/** @victimisations: doorbells that one queue lost to another */
	uint64_t victimisations;
	/** @monitored_updates: updates of monitored values */
	uint64_t monitored_updates;
	/** @monitored_updates_irq: updates of monitored values from a hard interrupt */
	uint64_t monitored_updates_irq;
	/** @shadow_posts: posts that the CMP made itself, when an update met a value already due */
	uint64_t shadow_posts;
	/** @local_pages: pages of fence values that are in video memory */
	uint64_t local_pages;
	/** @evictions: pages of fence values that the driver moved to system memory */
	uint64_t evictions;
	/** @log_buffers_set: log buffers handed to the virtual GPU */
	uint64_t log_buffers_set;
	/** @log_flushes: batches of logs that the driver committed */
	uint64_t log_flushes;
	/** @log_queues_flushed: queues in the batches of logs committed */
	uint64_t log_queues_flushed;
	/** @log_markers: markers that were logged */
	uint64_t log_markers;
	/** @records_array: interrupt records with an exact array of fences */
	uint64_t records_array;
	/**
	 * @records_null: interrupt records with a NULL array, which make the driver scan all
	 * fences
	 */
	uint64_t records_null;
	/** @records_queue: interrupt records that name a queue (the optimised form) */
	uint64_t records_queue;
	/**
	 * @records_queue_null: interrupt records with a NULL queue, for which the driver reads
	 * all logs of a node
	 */
	uint64_t records_queue_null;
	/** @log_scans: times the driver read the logs of all queues of a node for such a record */
	uint64_t log_scans;
	/** @live_reads: fences whose value the driver read, because no log entry named it */
	uint64_t live_reads;
	/** @legacy_scans: scans of all waiters of monitored fences, or of one file's */
	uint64_t legacy_scans;
	/** @f1_transitions: transitions of an engine from F0 to F1 */
	uint64_t f1_transitions;
	/** @engines_in_f1: engines that are in F1 */
	uint64_t engines_in_f1;
	/** @d3_transitions: transitions of the adapter from D0 to D3 */
	uint64_t d3_transitions;
	/** @engine_resets: resets of an engine */
	uint64_t engine_resets;
	/** @records_monitored: interrupt records for a write to a monitored fence */
	uint64_t records_monitored;
	/** @submissions: submissions that kernel-mode queues accepted, one for each queue */
	uint64_t submissions;
	/** @submissions_held: submissions that waited for a fence before they went to the GPU */
	uint64_t submissions_held;
	/** @submissions_done: submissions that completed */
	uint64_t submissions_done;
	/** @submissions_lost: submissions that ended because their queue was lost */
	uint64_t submissions_lost;
	/**
	 * @submissions_timed_out: lost submissions that used their engine for longer than
	 * TdrDelay
	 */
	uint64_t submissions_timed_out;
	/** @handler_ns: time in the hard half of the interrupt handler, with interrupts off */
	uint64_t handler_ns;
	/** @handler_max_ns: longest run of the hard half of the interrupt handler */
	uint64_t handler_max_ns;
	/** @processes_blocked: processes that were blocked because they hung engines too often */
	uint64_t processes_blocked;
	/** @adapter_resets: resets of the whole adapter that began */
	uint64_t adapter_resets;
	/**
	 * @false_alarms: resets of an engine that were called off, because its work had ended by
	 * itself
	 */
	uint64_t false_alarms;
};

/**
 * vf_adapter_counters - read the counters that this library knows
 * @adapter: the adapter
 * @counters: out: values; a counter that the driver does not have is 0
 *
 * The values are those of all clients, so the kernel shows them to root alone, in debugfs:
 * -EACCES for other users, -ENOENT if debugfs is not mounted, and -ENODEV if the device is gone.
 */
int vf_adapter_counters(struct vf_adapter *adapter, struct vf_counters *counters);
/**
 * vf_client_counters - read what this open file did itself
 * @adapter: the adapter
 * @counters: out: values; a counter that the driver does not have for a client is 0
 *
 * The caller needs no privilege: the values are in the fdinfo of the file. -ENODEV if the device is
 * gone; -ENOENT without /proc; -EACCES for a process that was root's when it opened the adapter and
 * has given that up, until it calls prctl(PR_SET_DUMPABLE, 1).
 */
int vf_client_counters(struct vf_adapter *adapter, struct vf_counters *counters);

/** VF_COUNTER_NAME_SIZE - bytes of a counter's name, with its terminating zero */
#define VF_COUNTER_NAME_SIZE	32

/**
 * enum vf_counter_kind - how the values of a counter relate over time
 */
enum vf_counter_kind {
	/** @VF_COUNTER_TOTAL: the difference of two values is what happened between them */
	VF_COUNTER_TOTAL = 0,
	/** @VF_COUNTER_LEVEL: the value is what exists now */
	VF_COUNTER_LEVEL = 1,
	/** @VF_COUNTER_MAXIMUM: the value is the largest one since the probe */
	VF_COUNTER_MAXIMUM = 2,
};

/**
 * struct vf_counter - one counter as the driver describes it
 */
struct vf_counter {
	/** @name: name; that of a time ends with its unit, "_ns" */
	char name[VF_COUNTER_NAME_SIZE];
	/** @kind: how its values relate over time */
	enum vf_counter_kind kind;
	/** @value: value */
	uint64_t value;
};

/**
 * vf_adapter_counter_list - read all counters of the driver, with their names
 * @adapter: the adapter
 * @list: out: counters in the order of the driver, as many as there is room for
 * @count: in: room in @list, may be 0; out: number of counters the driver has
 *
 * The list includes counters that this library does not know. Errors: as vf_adapter_counters().
 */
int vf_adapter_counter_list(struct vf_adapter *adapter, struct vf_counter *list,
			    unsigned int *count);

/**
 * struct vf_node_totals - what an engine did for all clients since the adapter was probed
 */
struct vf_node_totals {
	/** @packets: packets that completed */
	uint64_t packets;
	/** @signals: fence signals executed */
	uint64_t signals;
	/** @suppressed: signals that needed no interrupt */
	uint64_t suppressed;
	/** @log_packets: LOG packets executed */
	uint64_t log_packets;
	/** @waits_stalled: fence waits that stalled their queue */
	uint64_t waits_stalled;
	/** @busy_ns: GPU time that packets cost, in ns */
	uint64_t busy_ns;
};

/**
 * vf_adapter_node_totals - read the totals of the nodes of an adapter
 * @adapter: the adapter
 * @totals: out: by the index of the node, as many as there is room for
 * @count: in: room in @totals; out: number of nodes
 *
 * Errors: as vf_adapter_counters().
 */
int vf_adapter_node_totals(struct vf_adapter *adapter, struct vf_node_totals *totals,
			   unsigned int *count);
/**
 * vf_adapter_counter - read one counter by the name that the driver gives it
 * @adapter: the adapter
 * @name: name of the counter
 * @value: out: its value
 *
 * -ENOENT if the driver has no counter of that name, else errors as vf_adapter_counters().
 */
int vf_adapter_counter(struct vf_adapter *adapter, const char *name, uint64_t *value);
/**
 * vf_counters_settled - check whether all balances of the counters hold
 * @counters: as vf_adapter_counters() returns them
 *
 * All balances hold whenever no signal, interrupt or log entry is on its way.
 */
bool vf_counters_settled(const struct vf_counters *counters);
/** vf_clock_to_cpu - CLOCK_MONOTONIC nanoseconds of a GPU time stamp */
int64_t vf_clock_to_cpu(const struct drm_vfence_clock_info *clock, uint64_t gpu_ticks);

/* ------------------------------------------------------------------ device */

/** vf_device_create - create a device, which owns queues and fences and fails as one */
int vf_device_create(struct vf_adapter *adapter, struct vf_device **device);
/** vf_device_destroy - destroy a device and, in the kernel, all objects that it owns */
void vf_device_destroy(struct vf_device *device);
/** vf_device_handle - handle of a device, for raw ioctls */
uint32_t vf_device_handle(struct vf_device *device);
/** vf_device_state - &enum drm_vfence_device_state, or a negative errno */
int vf_device_state(struct vf_device *device);

/* ------------------------------------------------------------------ buffer */

/** vf_buffer_create - create a buffer and map it for the CPU and for the GPU */
int vf_buffer_create(struct vf_adapter *adapter, uint64_t size, struct vf_buffer **buffer);
/** vf_buffer_import - import a buffer, of any process, from its dma-buf descriptor */
int vf_buffer_import(struct vf_adapter *adapter, int fd, struct vf_buffer **buffer);
/** vf_buffer_export - return a dma-buf descriptor (O_CLOEXEC) of a buffer, or a negative errno */
int vf_buffer_export(struct vf_buffer *buffer);
/** vf_buffer_destroy - unmap and free a buffer; other holders keep its memory */
void vf_buffer_destroy(struct vf_buffer *buffer);
/** vf_buffer_map - memory of a buffer for the CPU; NULL for an imported buffer */
void *vf_buffer_map(struct vf_buffer *buffer);
/** vf_buffer_va - GPU address of a buffer */
uint64_t vf_buffer_va(struct vf_buffer *buffer);
/** vf_buffer_handle - GEM handle of a buffer */
uint32_t vf_buffer_handle(struct vf_buffer *buffer);
/** vf_buffer_size - size of a buffer in bytes */
uint64_t vf_buffer_size(struct vf_buffer *buffer);

/* ------------------------------------------------------------------- fence */

/**
 * vf_fence_create - create a native fence of type DEFAULT
 * @device: parent
 * @flags: DRM_VFENCE_FENCE_*
 * @initial_value: first current value
 * @fence: out: the fence
 */
int vf_fence_create(struct vf_device *device, uint32_t flags, uint64_t initial_value,
		    struct vf_fence **fence);
/**
 * struct vf_fence_desc - description of a new fence
 */
struct vf_fence_desc {
	/** @type: &enum drm_vfence_fence_type */
	uint32_t type;
	/** @flags: DRM_VFENCE_FENCE_* */
	uint32_t flags;
	/** @initial_value: first current value */
	uint64_t initial_value;
	/**
	 * @private_data: DRM_VFENCE_PRIVATE_DATA bytes that each opener of a native fence
	 * receives, or NULL
	 */
	const void *private_data;
};

/** vf_fence_create_desc - create a fence of any type */
int vf_fence_create_desc(struct vf_device *device, const struct vf_fence_desc *desc,
			 struct vf_fence **fence);
/** vf_fence_private_data - private data that the creator of a fence supplied */
const void *vf_fence_private_data(struct vf_fence *fence);
/**
 * vf_monitored_fence_create - create a monitored fence
 * @device: parent
 * @flags: DRM_VFENCE_FENCE_*
 * @initial_value: first current value
 * @fence: out: the fence; it is used like a native fence, but not by user-mode queues
 */
int vf_monitored_fence_create(struct vf_device *device, uint32_t flags, uint64_t initial_value,
			      struct vf_fence **fence);
/** vf_fence_open - open a shared fence; the caller keeps the descriptor */
int vf_fence_open(struct vf_device *device, int fd, struct vf_fence **fence);
/** vf_fence_open_flags - open a monitored fence with DRM_VFENCE_FENCE_NO_SIGNAL or NO_WAIT */
int vf_fence_open_flags(struct vf_device *device, int fd, uint32_t flags,
			struct vf_fence **fence);
/**
 * vf_fence_export - return a descriptor (O_CLOEXEC) that shares a fence, or a negative errno
 * @fence: the fence
 *
 * The descriptor has all rights of the handle; vf_fence_export_rights() gives away fewer.
 */
int vf_fence_export(struct vf_fence *fence);
/** vf_fence_export_rights - export with DRM_VFENCE_RIGHT_* only; -EACCES if @fence lacks one */
int vf_fence_export_rights(struct vf_fence *fence, uint32_t rights);
/**
 * vf_fence_destroy - destroy this handle of the fence when no packet needs it any more
 * @fence: the fence, which the caller may not use any more
 *
 * The handle stays until all queues of this adapter whose packets name the fence have passed
 * the packets that they have now, published or not. The library looks when it creates or
 * destroys a fence or destroys a queue; submissions cost nothing. A queue that is blocked on
 * this very fence keeps it: signal it first, or abort the queue. Packets that the client builds
 * itself (vf_cmd_raw()) do not count.
 */
void vf_fence_destroy(struct vf_fence *fence);
/**
 * vf_fence_destroy_now - destroy this handle of the fence at once
 * @fence: the fence
 *
 * A queue that comes to a packet that names the fence stops with a fault. If the handle was the
 * last one, waits for the fence end.
 */
void vf_fence_destroy_now(struct vf_fence *fence);
/** vf_fence_handle - handle of a fence, for raw ioctls */
uint32_t vf_fence_handle(struct vf_fence *fence);
/** vf_fence_mapping - offsets and addresses of the values of a fence */
const struct drm_vfence_fence_mapping *vf_fence_mapping(struct vf_fence *fence);
/** vf_fence_current - current value of a fence, read without a system call; 0 for INTRA_GPU */
uint64_t vf_fence_current(struct vf_fence *fence);
/** vf_fence_query - read values, counters and rights of a fence from the kernel */
int vf_fence_query(struct vf_fence *fence, struct drm_vfence_fence_info *info);
/** vf_fence_signal - signal a fence from the CPU */
int vf_fence_signal(struct vf_fence *fence, uint64_t value);

/**
 * struct vf_point - a fence and a value
 */
struct vf_point {
	/** @fence: the fence; a call for one adapter refuses those of others with -EXDEV */
	struct vf_fence *fence;
	/** @value: value to wait for or to signal */
	uint64_t value;
};

/** vf_signal - signal several fences at once, in order */
int vf_signal(struct vf_adapter *adapter, const struct vf_point *points, unsigned int count);
/** vf_signal_flags - as vf_signal(), with DRM_VFENCE_SIGNAL_* */
int vf_signal_flags(struct vf_adapter *adapter, const struct vf_point *points,
		    unsigned int count, uint32_t flags);
/** vf_fence_import_sync_file - signal @value when a sync_file has signaled */
int vf_fence_import_sync_file(struct vf_fence *fence, int fd, uint64_t value);
/** vf_fence_import_syncobj - signal @value when a syncobj has signaled; @point 0: a binary one */
int vf_fence_import_syncobj(struct vf_fence *fence, uint32_t syncobj, uint64_t point,
			    uint64_t value);
/**
 * vf_wait - sleep until points are reached
 * @adapter: the adapter of the fences
 * @points: up to DRM_VFENCE_MAX_POINTS
 * @count: number of points
 * @flags: DRM_VFENCE_WAIT_*
 * @timeout_ns: absolute CLOCK_MONOTONIC time; 0 polls; %VF_FOREVER
 * @first: out, may be NULL: index of a reached point, with %DRM_VFENCE_WAIT_ANY
 *
 * If it returns 0, events of this handle for earlier signals of the same queue are set, too.
 * -ETIME, -ECANCELED or -ENODEV. A Unix signal does not end the wait.
 */
int vf_wait(struct vf_adapter *adapter, const struct vf_point *points, unsigned int count,
	    uint32_t flags, int64_t timeout_ns, unsigned int *first);
/** vf_signal_and_wait - signal, then wait, in one call */
int vf_signal_and_wait(struct vf_adapter *adapter, const struct vf_point *signals,
		       unsigned int signal_count, const struct vf_point *points,
		       unsigned int count, uint32_t flags, int64_t timeout_ns,
		       unsigned int *first);
/** vf_fence_wait - wait for one fence */
int vf_fence_wait(struct vf_fence *fence, uint64_t value, int64_t timeout_ns);
/**
 * vf_event_arm - have an eventfd signaled when points are reached
 * @adapter: the adapter of the fences
 * @points: up to DRM_VFENCE_MAX_POINTS
 * @count: number of points
 * @flags: DRM_VFENCE_WAIT_*
 * @eventfd: descriptor of the eventfd; the caller keeps it
 * @event: out, may be NULL: handle for vf_event_cancel()
 *
 * Return: 1 if the points are already reached, and the eventfd is signaled; 0 if the
 * event is armed; or a negative errno.
 */
int vf_event_arm(struct vf_adapter *adapter, const struct vf_point *points, unsigned int count,
		 uint32_t flags, int eventfd, uint32_t *event);
/**
 * struct vf_event - event of one adapter
 */
struct vf_event {
	/** @adapter: the adapter */
	struct vf_adapter *adapter;
	/** @event: handle of the event; 0 if its points were reached already */
	uint32_t event;
};

/**
 * vf_event_arm_across - have an eventfd signaled for fences of several adapters
 * @points: points, of any adapters
 * @count: number of points
 * @flags: DRM_VFENCE_WAIT_*
 * @eventfd: descriptor of the eventfd
 * @events: out: one event for each adapter, for vf_event_cancel_across()
 * @event_count: in: room in @events; out: number of adapters
 *
 * Each adapter signals the eventfd once, when its part of the points is reached. So all points
 * are reached when the eventfd has counted @event_count, and with %DRM_VFENCE_WAIT_ANY one point
 * is when it has counted 1; cancel the other events then.
 *
 * -ENOSPC if there are more adapters than room. On an error nothing stays armed, but the eventfd
 * may have been signaled.
 */
int vf_event_arm_across(const struct vf_point *points, unsigned int count, uint32_t flags,
			int eventfd, struct vf_event *events, unsigned int *event_count);
/** vf_event_cancel_across - cancel those events that have not fired */
void vf_event_cancel_across(const struct vf_event *events, unsigned int count);
/**
 * vf_wait_across - as vf_wait(), for points of any adapters
 * @points: up to DRM_VFENCE_MAX_POINTS
 * @count: number of points
 * @flags: 0 or %DRM_VFENCE_WAIT_ANY
 * @timeout_ns: absolute CLOCK_MONOTONIC time; 0 polls; %VF_FOREVER
 * @first: out, may be NULL: index of a reached point, with %DRM_VFENCE_WAIT_ANY
 *
 * It opens an eventfd for each adapter, with %DRM_VFENCE_WAIT_ANY for each point, and costs about
 * as many system calls. -EMFILE if there are too many.
 *
 * Return: 0 or a negative errno, as vf_wait(). A value that is reached before another one stays
 * reached. A fence that is destroyed or an adapter that is removed ends the wait.
 */
int vf_wait_across(const struct vf_point *points, unsigned int count, uint32_t flags,
		   int64_t timeout_ns, unsigned int *first);
/** vf_event_cancel - cancel an event; -ENOENT if it has fired */
int vf_event_cancel(struct vf_adapter *adapter, uint32_t event);

/**
 * struct vf_wait_set_entry - what an entry of a wait set waits for from now on
 */
struct vf_wait_set_entry {
	/** @index: index of the entry */
	unsigned int index;
	/** @fence: the fence, or NULL: the entry waits for nothing */
	struct vf_fence *fence;
	/** @value: value that makes the entry ready */
	uint64_t value;
};

/**
 * vf_wait_set_create - create a set of points that stay on their fences between calls
 * @adapter: the adapter of the fences
 * @entries: number of entries, 1 to DRM_VFENCE_MAX_WAIT_SET_ENTRIES; none waits for anything yet
 * @set: out: the set
 *
 * For threads that wait again and again for one of many fences: a call names those entries only
 * that change. -ENOSPC if the open file has too many sets or entries.
 */
int vf_wait_set_create(struct vf_adapter *adapter, unsigned int entries, struct vf_wait_set **set);
/** vf_wait_set_destroy - destroy a set; no other thread may use it */
void vf_wait_set_destroy(struct vf_wait_set *set);
/** vf_wait_set_handle - handle for the ioctls of a wait set */
uint32_t vf_wait_set_handle(const struct vf_wait_set *set);
/** vf_wait_set_update - change what entries wait for; another thread may wait meanwhile */
int vf_wait_set_update(struct vf_wait_set *set, const struct vf_wait_set_entry *updates,
		       unsigned int count);
/**
 * vf_wait_set_wait - signal, update entries, and sleep until an entry is ready, in one call
 * @set: the set
 * @updates: updates, up to DRM_VFENCE_MAX_POINTS
 * @update_count: number of updates
 * @signals: points to signal first, up to DRM_VFENCE_MAX_POINTS
 * @signal_count: number of points
 * @timeout_ns: absolute CLOCK_MONOTONIC time; 0 polls; %VF_FOREVER
 * @ready: out: entries that are ready; each waits for nothing until it is updated again
 * @ready_count: in: room in @ready, up to DRM_VFENCE_MAX_POINTS; out: number of entries
 *
 * The errors are those of &struct drm_vfence_wait_set_wait. A Unix signal does not end the wait.
 */
int vf_wait_set_wait(struct vf_wait_set *set, const struct vf_wait_set_entry *updates,
		     unsigned int update_count, const struct vf_point *signals,
		     unsigned int signal_count, int64_t timeout_ns,
		     struct drm_vfence_wait_set_ready *ready, unsigned int *ready_count);
/** vf_deadline - absolute timeout @ns from now; %VF_FOREVER if that is beyond all time */
int64_t vf_deadline(int64_t ns);

/** vf_send_fd - pass a descriptor to the other end of a Unix socket */
int vf_send_fd(int sock, int fd);
/** vf_recv_fd - receive a descriptor (O_CLOEXEC) and return it, or a negative errno */
int vf_recv_fd(int sock);

/* ------------------------------------------------------------------- queue */

/**
 * vf_queue_create - create a user-mode hardware queue with ring, doorbell and logs
 * @device: parent
 * @node: node ordinal
 * @ring_size: bytes, a power of two, DRM_VFENCE_RING_MIN to DRM_VFENCE_RING_MAX
 * @queue: out: the queue
 */
int vf_queue_create(struct vf_device *device, unsigned int node, uint32_t ring_size,
		    struct vf_queue **queue);
/**
 * vf_kernel_queue_create - create a kernel-mode queue
 * @device: parent
 * @node: node ordinal
 * @queue: out: the queue
 *
 * The queue takes the commands of a user-mode queue except vf_cmd_wait(). vf_submit() queues
 * waits. Signals of monitored fences need %DRM_VFENCE_ADAPTER_MONITORED_SIGNAL.
 */
int vf_kernel_queue_create(struct vf_device *device, unsigned int node,
			   struct vf_queue **queue);
/**
 * vf_kernel_queue_create_flags - create a kernel-mode queue with flags
 * @device: parent
 * @node: node ordinal
 * @flags: 0 or %DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT
 * @queue: out: the queue
 *
 * Return: as vf_kernel_queue_create(); -EINVAL for %DRM_VFENCE_QUEUE_USER_MODE.
 */
int vf_kernel_queue_create_flags(struct vf_device *device, unsigned int node, uint32_t flags,
				 struct vf_queue **queue);
/**
 * vf_queue_destroy - wait for all submissions, then destroy the queue (WDDM-201)
 * @queue: the queue
 *
 * A queue that is blocked on a fence for a second, and executes nothing, is aborted. Call
 * vf_queue_abort() first for a queue whose commands never end.
 */
void vf_queue_destroy(struct vf_queue *queue);
/** vf_queue_handle - handle of a queue, for raw ioctls */
uint32_t vf_queue_handle(struct vf_queue *queue);
/** vf_queue_progress - progress fence of a queue; vf_queue_destroy() destroys it */
struct vf_fence *vf_queue_progress(struct vf_queue *queue);
/** vf_queue_last_queued - value that the last submission signals on the progress fence */
uint64_t vf_queue_last_queued(struct vf_queue *queue);
/** vf_queue_query - read state, fault and pointers of a queue from the kernel */
int vf_queue_query(struct vf_queue *queue, struct drm_vfence_queue_info *info);
/** vf_queue_query_context - read suspension and verdict of the context of a queue */
int vf_queue_query_context(struct vf_queue *queue, struct drm_vfence_context_info *info);
/** vf_queue_abort - drop all queued work; the queue is lost then */
int vf_queue_abort(struct vf_queue *queue);
/**
 * vf_queue_suspend - stop a queue, with its work in flight, until vf_queue_resume()
 * @queue: the queue; its context is suspended
 * @fence: out, may be NULL: number of the suspension
 */
int vf_queue_suspend(struct vf_queue *queue, uint64_t *fence);
/** vf_queue_resume - resume a suspended queue and its context */
int vf_queue_resume(struct vf_queue *queue);
/** vf_queue_status - &enum drm_vfence_doorbell_status, read from the mapping */
uint64_t vf_queue_status(struct vf_queue *queue);
/** vf_queue_info - addresses of a queue, and geometry of its logs as of the last connect */
const struct drm_vfence_queue_create *vf_queue_info(struct vf_queue *queue);
/** vf_queue_wait_idle - wait until all submissions are done */
int vf_queue_wait_idle(struct vf_queue *queue, int64_t timeout_ns);
/**
 * vf_queue_read_log - fetch entries of one log of a queue
 * @queue: the queue
 * @type: the log
 * @entries: out
 * @count: in: room, at most 1024; out: entries written
 * @lost: out, may be NULL: entries overwritten or dropped so far
 *
 * The driver keeps 1024 entries from the first call for a log on. Before, there are those that the
 * log has still. To get all entries, call it with no room before the first submission.
 */
int vf_queue_read_log(struct vf_queue *queue, enum drm_vfence_log_type type,
		      struct drm_vfence_log_entry *entries, unsigned int *count,
		      uint64_t *lost);

/*
 * Commands are appended to the ring and become visible with vf_queue_submit().
 * The queue keeps the error of a command. The next vf_queue_submit() returns it
 * and drops all commands since the last submission. -ENOSPC means that the ring
 * is full of work that is not done yet, -EXDEV that a command names a fence that
 * belongs to another adapter handle than the queue.
 */

/** vf_cmd_nop - append @length bytes without effect, a multiple of 8 from 8 to 64 */
void vf_cmd_nop(struct vf_queue *queue, unsigned int length);
/** vf_cmd_wait - block the queue until @fence reaches @value, and log the wait */
void vf_cmd_wait(struct vf_queue *queue, struct vf_fence *fence, uint64_t value);
/**
 * vf_cmd_wait_kept - block a user-mode queue until all points were reached, each at any time
 * @queue: the queue
 * @points: points, also of monitored fences
 * @count: number of points, at least one
 *
 * The waits begin now and not when the engine gets there: a point that is reached before, and
 * rewound, stays reached. The price is a system call, and at the first call a fence and a
 * kernel-mode queue of the same node, which does the waiting and takes 256 waits at once. After
 * commands with kept waits were dropped, because of an error, the next call creates them anew.
 */
void vf_cmd_wait_kept(struct vf_queue *queue, const struct vf_point *points, unsigned int count);
/** vf_cmd_signal - signal @fence: value, then log, then an interrupt if one is due */
void vf_cmd_signal(struct vf_queue *queue, struct vf_fence *fence, uint64_t value);
/** vf_cmd_marker - log that the engine passes this packet, while the logging level is ALL */
void vf_cmd_marker(struct vf_queue *queue, uint64_t value);
/** vf_cmd_draw - @count draws of @duration_ns each */
void vf_cmd_draw(struct vf_queue *queue, unsigned int count, uint64_t duration_ns);
/** vf_cmd_copy - copy @size bytes; both addresses and @size are multiples of 4 */
void vf_cmd_copy(struct vf_queue *queue, uint64_t dst_va, uint64_t src_va, uint64_t size);
/** vf_cmd_fill - fill @size bytes with the word @value */
void vf_cmd_fill(struct vf_queue *queue, uint64_t dst_va, uint64_t size, uint32_t value);
/** vf_cmd_timestamp - store the GPU clock, 64 bits, at @dst_va */
void vf_cmd_timestamp(struct vf_queue *queue, uint64_t dst_va);
/** vf_cmd_set_register - set a register of the queue, below %DRM_VFENCE_REGISTERS */
void vf_cmd_set_register(struct vf_queue *queue, unsigned int index, uint64_t value);
/** vf_cmd_read_register - store a register of the queue, 64 bits, at @dst_va */
void vf_cmd_read_register(struct vf_queue *queue, unsigned int index, uint64_t dst_va);
/** vf_cmd_raw - append any bytes, a multiple of 8, without a check */
void vf_cmd_raw(struct vf_queue *queue, const void *packet, size_t size);
/**
 * vf_queue_submit - the five steps of a submission (WDDM-198, WDDM-199)
 * @queue: the queue
 *
 * The function chooses the next progress value, ends the commands with its signal,
 * publishes it as last queued, publishes the write pointer and rings the doorbell.
 * It connects a doorbell that is disconnected. In the steady state it makes no
 * system call.
 *
 * For a kernel-mode queue it makes one system call; there is no doorbell.
 *
 * -EIO: the queue is lost. -ENOSPC: a kernel-mode queue is full, see vf_submit().
 */
int vf_queue_submit(struct vf_queue *queue);

/**
 * struct vf_syncobj - a point of a syncobj
 */
struct vf_syncobj {
	/** @handle: handle of the syncobj in the adapter's open file */
	uint32_t handle;
	/** @point: point of a timeline syncobj; 0 for a binary one */
	uint64_t point;
};

/**
 * struct vf_submit - waits and signals of a submission to kernel-mode queues
 */
struct vf_submit {
	/** @flags: DRM_VFENCE_SUBMIT_* */
	uint32_t flags;
	/** @eventfd: descriptor of an eventfd, with %DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT */
	int eventfd;
	/** @waits: points to wait for before the commands, or NULL */
	const struct vf_point *waits;
	/** @wait_count: number of @waits */
	unsigned int wait_count;
	/** @signals: points to signal after the commands, or NULL */
	const struct vf_point *signals;
	/** @signal_count: number of @signals */
	unsigned int signal_count;
	/** @wait_syncobjs: in-syncs to wait for before the commands, or NULL */
	const struct vf_syncobj *wait_syncobjs;
	/** @wait_syncobj_count: number of @wait_syncobjs */
	unsigned int wait_syncobj_count;
	/** @signal_syncobjs: out-syncs that receive the submission's dma_fence, or NULL */
	const struct vf_syncobj *signal_syncobjs;
	/** @signal_syncobj_count: number of @signal_syncobjs */
	unsigned int signal_syncobj_count;
};

/**
 * vf_submit - queue waits, the commands of the first queue, and signals
 * @queues: kernel-mode queues
 * @count: number of queues; a submission with commands takes one
 * @what: waits and signals
 *
 * The queue has no commands afterwards, even if the submission fails.
 *
 * -ENOSPC: a queue has DRM_VFENCE_MAX_SUBMISSIONS; with %DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM the call
 * waits for room instead. Or %DRM_VFENCE_LIMIT_USER_MEMORY is reached. -EIO: a queue is lost.
 * -EXDEV: a queue or a fence belongs to another adapter handle than the first queue. -EINVAL: the
 * four lists of @what have more than DRM_VFENCE_MAX_OPS elements together, or one of syncobjs more
 * than DRM_VFENCE_MAX_SYNCOBJS; or as &struct drm_vfence_submit says.
 */
int vf_submit(struct vf_queue **queues, unsigned int count, const struct vf_submit *what);
/** vf_queue_publish - as vf_queue_submit(), but without a progress signal */
int vf_queue_publish(struct vf_queue *queue);

/* ------------------------------------------------------------------ events */

/**
 * enum vf_queued_op - operation of a queued event
 */
enum vf_queued_op {
	/** @VF_QUEUED_SIGNAL: a signal */
	VF_QUEUED_SIGNAL = 0,
	/** @VF_QUEUED_WAIT: a wait */
	VF_QUEUED_WAIT = 1,
	/** @VF_CPU_WAIT_BEGIN: a thread begins to wait */
	VF_CPU_WAIT_BEGIN = 2,
	/** @VF_CPU_WAIT_END: the thread has ended its wait */
	VF_CPU_WAIT_END = 3,
};

/**
 * struct vf_queued - CPU time at which an operation was queued; only the client
 * sees this event (WDDM-101)
 */
struct vf_queued {
	/** @cpu_ns: CLOCK_MONOTONIC time in nanoseconds */
	uint64_t cpu_ns;
	/** @value: fence value */
	uint64_t value;
	/** @fence: handle of the fence */
	uint32_t fence;
	/** @queue: handle of the queue, 0 for a CPU wait */
	uint32_t queue;
	/** @op: &enum vf_queued_op */
	uint32_t op;
	/** @pad: zero */
	uint32_t pad;
};

/** vf_events_enable - keep the last @capacity queued events in memory */
int vf_events_enable(struct vf_adapter *adapter, unsigned int capacity);
/** vf_events_take - move up to @max events to @events, oldest first; return their number */
unsigned int vf_events_take(struct vf_adapter *adapter, struct vf_queued *events,
			    unsigned int max);

#ifdef __cplusplus
}
#endif

#endif
