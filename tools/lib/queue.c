// SPDX-License-Identifier: MIT
/* Queues of both kinds: ring and doorbell, commands, submission. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vf_private.h"

#define PAGE	4096
/* Time that a queue which is destroyed may wait for a fence. */
#define BLOCKED_NS	INT64_C(1000000000)

/* vf_cmd_wait_kept(): a kernel-mode queue that waits, and the fence that it signals then. */
struct keeper {
	struct vf_queue *queue;
	struct vf_fence *ticket;
	uint64_t tickets;
	struct keeper *next;
};

struct vf_queue {
	struct vf_adapter *adapter;
	uint32_t context;
	struct drm_vfence_queue_create info;
	/* Kernel-mode queue: @ring is plain memory, and each submission empties it. */
	bool kernel;
	struct vf_fence progress;
	struct vf_buffer *ring_buffer;
	struct vf_buffer *control_buffer;
	char *ring;
	uint32_t ring_size;
	struct drm_vfence_ring_control *control;
	bool has_doorbell;
	/* A u64 in each. */
	struct vf_mapping doorbell, status, last_queued_slot;
	/* Positions in bytes: end of the published commands, of all commands, of the room. */
	uint64_t published;
	uint64_t build;
	uint64_t limit;
	uint64_t last_queued;
	int error;
	/* Next entry of the wait log and of the signal log. */
	uint32_t log_index[2];
	uint32_t published_log_index[2];
	/* As of the last connect. */
	uint32_t logging_level;
	/* In the adapter's list of queues; -1: not there yet. */
	int slot;
	struct vf_device *device;
	unsigned int node;
	/* The newest one keeps the waits, unless waits that were dropped are in front of them. */
	struct keeper *keepers;
	bool keeper_spoiled;
	/* Commands that are not published have kept waits. */
	bool kept;
};

static int create_context(struct vf_device *device, unsigned int node, uint32_t *handle)
{
	struct drm_vfence_context_create args = { .device = device->handle, .node = node };
	int ret = vf_ioctl(device->adapter, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &args);

	*handle = args.handle;
	return ret;
}

static int create_doorbell(struct vf_queue *q)
{
	struct drm_vfence_doorbell_create args = {
		.queue = q->info.handle,
		.ring = vf_buffer_handle(q->ring_buffer),
		.control = vf_buffer_handle(q->control_buffer),
		.ring_size = q->ring_size,
	};
	int ret = vf_ioctl(q->adapter, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &args);

	if (ret)
		return ret;
	q->has_doorbell = true;
	ret = vf_mapping_init(q->adapter, &q->doorbell, args.doorbell_offset,
			      PROT_READ | PROT_WRITE, 0);
	if (!ret)
		ret = vf_mapping_init(q->adapter, &q->status, args.status_offset, PROT_READ,
				      DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT);
	if (!ret)
		ret = vf_mapping_init(q->adapter, &q->last_queued_slot, args.last_queued_offset,
				      PROT_READ | PROT_WRITE, 0);
	return ret;
}

static int create_parts(struct vf_device *device, unsigned int node, struct vf_queue *q)
{
	int ret = create_context(device, node, &q->context);

	if (ret)
		return ret;
	q->info.context = q->context;
	ret = vf_ioctl(q->adapter, DRM_IOCTL_VFENCE_QUEUE_CREATE, &q->info);
	if (!ret)
		ret = vf_fence_init(q->adapter, q->info.progress_fence, &q->info.progress,
				    &q->progress);
	if (!ret && q->kernel) {
		q->ring = calloc(1, q->ring_size);
		return q->ring ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = vf_buffer_create(q->adapter, q->ring_size, &q->ring_buffer);
	if (!ret)
		ret = vf_buffer_create(q->adapter, PAGE, &q->control_buffer);
	if (ret)
		return ret;
	q->ring = vf_buffer_map(q->ring_buffer);
	/* Write the ring now, so that submissions cause no page faults later. */
	memset(q->ring, 0, q->ring_size);
	q->control = vf_buffer_map(q->control_buffer);
	return create_doorbell(q);
}

static void destroy_keepers(struct vf_queue *q)
{
	while (q->keepers) {
		struct keeper *keeper = q->keepers;

		q->keepers = keeper->next;
		vf_queue_destroy(keeper->queue);
		vf_fence_destroy_now(keeper->ticket);
		free(keeper);
	}
}

static void release(struct vf_queue *q)
{
	if (q->has_doorbell)
		vf_destroy(q->adapter, DRM_VFENCE_OBJECT_DOORBELL, q->info.handle);
	if (q->info.handle)
		vf_destroy(q->adapter, DRM_VFENCE_OBJECT_QUEUE, q->info.handle);
	if (q->context)
		vf_destroy(q->adapter, DRM_VFENCE_OBJECT_CONTEXT, q->context);
	vf_mapping_fini(&q->doorbell);
	vf_mapping_fini(&q->status);
	vf_mapping_fini(&q->last_queued_slot);
	if (q->slot >= 0)
		vf_lifetime_remove_queue(q->adapter, q->slot);
	destroy_keepers(q);
	vf_fence_fini(&q->progress);
	vf_buffer_destroy(q->control_buffer);
	vf_buffer_destroy(q->ring_buffer);
	if (q->kernel)
		free(q->ring);
	free(q);
}

static int create(struct vf_device *device, unsigned int node, uint32_t ring_size, uint32_t flags,
		  struct vf_queue **queue)
{
	struct vf_queue *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return -ENOMEM;
	q->adapter = device->adapter;
	q->device = device;
	q->node = node;
	q->ring_size = ring_size;
	q->info.flags = flags;
	q->kernel = !(flags & DRM_VFENCE_QUEUE_USER_MODE);
	q->slot = vf_lifetime_add_queue(q->adapter, q);
	ret = q->slot < 0 ? q->slot : create_parts(device, node, q);
	if (ret) {
		release(q);
		return ret;
	}
	*queue = q;
	return 0;
}

VF_EXPORT int vf_queue_create(struct vf_device *device, unsigned int node, uint32_t ring_size,
			      struct vf_queue **queue)
{
	return create(device, node, ring_size, DRM_VFENCE_QUEUE_USER_MODE, queue);
}

VF_EXPORT int vf_kernel_queue_create(struct vf_device *device, unsigned int node,
				     struct vf_queue **queue)
{
	return vf_kernel_queue_create_flags(device, node, 0, queue);
}

VF_EXPORT int vf_kernel_queue_create_flags(struct vf_device *device, unsigned int node,
					   uint32_t flags, struct vf_queue **queue)
{
	if (flags & DRM_VFENCE_QUEUE_USER_MODE)
		return -EINVAL;
	return create(device, node, DRM_VFENCE_MAX_COMMANDS, flags, queue);
}

/*
 * True if nothing of the queue executes, because it waits for a fence, and if nothing has since
 * the last call, which @packets is for.
 */
static bool is_blocked(struct vf_queue *queue, uint64_t *packets)
{
	struct drm_vfence_queue_info query;
	uint64_t before = *packets;

	if (vf_queue_query(queue, &query))
		return true;
	*packets = query.packets;
	return query.packets == before &&
	       (queue->kernel ? query.held && !query.queued :
				query.state == DRM_VFENCE_QUEUE_BLOCKED);
}

VF_EXPORT void vf_queue_destroy(struct vf_queue *queue)
{
	uint64_t packets = 0;

	if (!queue)
		return;
	is_blocked(queue, &packets);
	/*
	 * Normal exit (WDDM-201): free the ring after the last value is signaled. The fence
	 * that a blocked queue waits for may never be signaled.
	 */
	while (vf_queue_status(queue) != DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT &&
	       vf_queue_wait_idle(queue, vf_deadline(BLOCKED_NS)) == -ETIME &&
	       !is_blocked(queue, &packets))
		;
	release(queue);
}

VF_EXPORT uint32_t vf_queue_handle(struct vf_queue *queue)
{
	return queue->info.handle;
}

VF_EXPORT const struct drm_vfence_queue_create *vf_queue_info(struct vf_queue *queue)
{
	return &queue->info;
}

VF_EXPORT struct vf_fence *vf_queue_progress(struct vf_queue *queue)
{
	return &queue->progress;
}

VF_EXPORT uint64_t vf_queue_last_queued(struct vf_queue *queue)
{
	return queue->last_queued;
}

/* The status page of a user-mode queue. */
static uint64_t doorbell_status(const struct vf_queue *queue)
{
	return __atomic_load_n((const uint64_t *)queue->status.map, __ATOMIC_ACQUIRE);
}

VF_EXPORT uint64_t vf_queue_status(struct vf_queue *queue)
{
	/* There is no doorbell to connect. If the queue is lost, a wait reports it. */
	return queue->kernel ? DRM_VFENCE_DOORBELL_CONNECTED : doorbell_status(queue);
}

uint64_t vf_queue_position(struct vf_queue *queue)
{
	uint64_t build = __atomic_load_n(&queue->build, __ATOMIC_RELAXED);

	/* A kernel-mode queue has a value for each submission instead. */
	return queue->kernel ? queue->last_queued + (build ? 1 : 0) : build;
}

bool vf_queue_is_lost(struct vf_queue *queue)
{
	struct drm_vfence_queue_info query;

	return vf_queue_query(queue, &query) || query.state >= DRM_VFENCE_QUEUE_FAULTED;
}

bool vf_queue_has_passed(struct vf_queue *queue, uint64_t position)
{
	uint64_t build = __atomic_load_n(&queue->build, __ATOMIC_RELAXED), done, all;

	/* While a queue is being created it has no packets. */
	if (queue->kernel ? !queue->progress.current : !queue->control)
		return true;

	/* Acquire: the engine is done with the packets before. Partner: its release store. */
	done = queue->kernel ? vf_fence_current(&queue->progress) :
			       __atomic_load_n(&queue->control->read_ptr, __ATOMIC_ACQUIRE);
	all = queue->kernel ? queue->last_queued : build;

	/* Commands that were dropped never come: then all that there is has been done. */
	return done >= position || (done >= all && (!queue->kernel || !build));
}

VF_EXPORT int vf_queue_query(struct vf_queue *queue, struct drm_vfence_queue_info *info)
{
	return vf_query_object(queue->adapter, DRM_VFENCE_QUERY_QUEUE, queue->info.handle, info,
			       sizeof(*info));
}

VF_EXPORT int vf_queue_query_context(struct vf_queue *queue,
				     struct drm_vfence_context_info *info)
{
	return vf_query_object(queue->adapter, DRM_VFENCE_QUERY_CONTEXT, queue->context, info,
			       sizeof(*info));
}

VF_EXPORT int vf_queue_abort(struct vf_queue *queue)
{
	struct drm_vfence_queue_abort args = { .queue = queue->info.handle };

	return vf_ioctl(queue->adapter, DRM_IOCTL_VFENCE_QUEUE_ABORT, &args);
}

VF_EXPORT int vf_queue_suspend(struct vf_queue *queue, uint64_t *fence)
{
	struct drm_vfence_context_suspend args = { .context = queue->context };
	int ret = vf_ioctl(queue->adapter, DRM_IOCTL_VFENCE_CONTEXT_SUSPEND, &args);

	if (!ret && fence)
		*fence = args.fence;
	return ret;
}

VF_EXPORT int vf_queue_resume(struct vf_queue *queue)
{
	struct drm_vfence_context_resume args = { .context = queue->context };

	return vf_ioctl(queue->adapter, DRM_IOCTL_VFENCE_CONTEXT_RESUME, &args);
}

VF_EXPORT int vf_queue_wait_idle(struct vf_queue *queue, int64_t timeout_ns)
{
	return vf_fence_wait(&queue->progress, queue->last_queued, timeout_ns);
}

VF_EXPORT int vf_queue_read_log(struct vf_queue *queue, enum drm_vfence_log_type type,
				struct drm_vfence_log_entry *entries, unsigned int *count,
				uint64_t *lost)
{
	struct drm_vfence_log_read args = {
		.queue = queue->info.handle, .log = type,
		.entries = DRM_VFENCE_OBJ_ARRAY(*count, entries),
	};
	int ret = vf_ioctl(queue->adapter, DRM_IOCTL_VFENCE_LOG_READ, &args);

	if (ret)
		return ret;
	*count = args.returned;
	if (lost)
		*lost = args.lost + args.dropped;
	return 0;
}

/* ---------------------------------------------------------------- commands */

static bool room_for(struct vf_queue *q, size_t size)
{
	if (q->build + size <= q->limit)
		return true;
	if (q->kernel)
		return q->build + size <= q->ring_size;
	/* Acquire: the GPU has read the commands before read_ptr. Partner: its release store. */
	q->limit = __atomic_load_n(&q->control->read_ptr, __ATOMIC_ACQUIRE) + q->ring_size;
	return q->build + size <= q->limit;
}

static void put_anywhere(struct vf_queue *q, const void *packet, size_t size)
{
	size_t at = q->build & (q->ring_size - 1);
	size_t first = size < q->ring_size - at ? size : q->ring_size - at;

	if (q->error)
		return;
	if (size > q->ring_size || !room_for(q, size)) {
		q->error = -ENOSPC;
		return;
	}
	memcpy(q->ring + at, packet, first);
	memcpy(q->ring, (const char *)packet + first, size - first);
	q->build += size;
}

/*
 * A packet is copied by a few stores if it is where its size is known, which is why this is
 * inline, and if there is room that is not at the end of the ring.
 */
static inline __attribute__((always_inline)) void put(struct vf_queue *q, const void *packet,
						      size_t size)
{
	size_t at = q->build & (q->ring_size - 1);

	if (q->error || q->build + size > q->limit || at + size > q->ring_size) {
		put_anywhere(q, packet, size);
		return;
	}
	memcpy(q->ring + at, packet, size);
	q->build += size;
}

VF_EXPORT void vf_cmd_raw(struct vf_queue *q, const void *packet, size_t size)
{
	put_anywhere(q, packet, size);
}

#define HEADER(op, type) \
	{ .opcode = DRM_VFENCE_OP_##op, .length = sizeof(struct drm_vfence_packet_##type) }

VF_EXPORT void vf_cmd_nop(struct vf_queue *q, unsigned int length)
{
	uint64_t words[DRM_VFENCE_PACKET_MAX / 8] = { 0 };
	struct drm_vfence_packet_header header = {
		.opcode = DRM_VFENCE_OP_NOP, .length = (uint16_t)length,
	};

	if (length < 8 || length > sizeof(words) || length % 8) {
		if (!q->error)
			q->error = -EINVAL;
		return;
	}
	memcpy(words, &header, sizeof(header));
	put_anywhere(q, words, length);
}

/* Make the packet that logs an operation. Return false if the queue has no log for it. */
static inline bool log_operation(struct vf_queue *q, enum drm_vfence_log_operation op,
				 uint32_t fence, uint64_t value,
				 struct drm_vfence_packet_log *packet)
{
	bool is_signal = op != DRM_VFENCE_LOG_WAIT_UNBLOCKED;
	uint32_t entries = is_signal ? q->info.signal_log_entries : q->info.wait_log_entries;
	uint32_t index = q->log_index[is_signal];

	if (!entries)
		return false;
	*packet = (struct drm_vfence_packet_log) {
		.header = HEADER(LOG, log),
		.log_va = is_signal ? q->info.signal_log_va : q->info.wait_log_va,
		.index = index, .fence = fence, .value = value, .operation = op,
	};
	q->log_index[is_signal] = index + 1 < entries ? index + 1 : 0;
	return true;
}

/* The address of a fence of another open file may be that of some other fence of the queue's. */
static bool is_own(struct vf_queue *q, const struct vf_fence *fence)
{
	if (fence->adapter == q->adapter)
		return true;
	if (!q->error)
		q->error = -EXDEV;
	return false;
}

VF_EXPORT void vf_cmd_wait(struct vf_queue *q, struct vf_fence *fence, uint64_t value)
{
	struct {
		struct drm_vfence_packet_wait wait;
		struct drm_vfence_packet_log log;
	} packets;

	if (!is_own(q, fence))
		return;
	vf_lifetime_use(fence, q->slot);
	vf_events_add(q->adapter, VF_QUEUED_WAIT, q->info.handle, fence->handle, value);
	packets.wait = (struct drm_vfence_packet_wait) {
		.header = HEADER(FENCE_WAIT, wait),
		.current_va = fence->mapping.current_va, .value = value,
	};
	if (log_operation(q, DRM_VFENCE_LOG_WAIT_UNBLOCKED, fence->handle, value, &packets.log))
		put(q, &packets, sizeof(packets));
	else
		put(q, &packets.wait, sizeof(packets.wait));
}

/* A monitored fence is plain memory for the engine; user-mode queues refuse it (WDDM-113). */
static void signal_monitored(struct vf_queue *q, struct vf_fence *fence, uint64_t value)
{
	struct drm_vfence_packet_monitored packet = {
		.header = HEADER(MONITORED_SIGNAL, monitored),
		.current_va = fence->mapping.current_va, .value = value,
	};

	vf_events_add(q->adapter, VF_QUEUED_SIGNAL, q->info.handle, fence->handle, value);
	put(q, &packet, sizeof(packet));
}

VF_EXPORT void vf_cmd_signal(struct vf_queue *q, struct vf_fence *fence, uint64_t value)
{
	struct {
		struct drm_vfence_packet_signal signal;
		struct drm_vfence_packet_log log;
	} packets;

	if (!is_own(q, fence))
		return;
	vf_lifetime_use(fence, q->slot);
	if (q->kernel && !fence->mapping.monitored_va) {
		signal_monitored(q, fence, value);
		return;
	}
	vf_events_add(q->adapter, VF_QUEUED_SIGNAL, q->info.handle, fence->handle, value);
	packets.signal = (struct drm_vfence_packet_signal) {
		.header = HEADER(FENCE_SIGNAL, signal),
		.current_va = fence->mapping.current_va,
		.monitored_va = fence->mapping.monitored_va, .value = value,
	};
	/* LOG must follow the signal at once: the GPU logs before it decides on the interrupt. */
	if (log_operation(q, DRM_VFENCE_LOG_SIGNAL_EXECUTED, fence->handle, value, &packets.log))
		put(q, &packets, sizeof(packets));
	else
		put(q, &packets.signal, sizeof(packets.signal));
}

VF_EXPORT void vf_cmd_marker(struct vf_queue *q, uint64_t value)
{
	struct drm_vfence_packet_log packet;

	if (q->logging_level == DRM_VFENCE_LOGGING_ALL &&
	    log_operation(q, DRM_VFENCE_LOG_MARKER, 0, value, &packet))
		put(q, &packet, sizeof(packet));
}

VF_EXPORT void vf_cmd_draw(struct vf_queue *q, unsigned int count, uint64_t duration_ns)
{
	struct drm_vfence_packet_draw packet = {
		.header = HEADER(DRAW, draw), .count = count, .duration_ns = duration_ns,
	};

	put(q, &packet, sizeof(packet));
}

VF_EXPORT void vf_cmd_copy(struct vf_queue *q, uint64_t dst_va, uint64_t src_va, uint64_t size)
{
	struct drm_vfence_packet_copy packet = {
		.header = HEADER(COPY, copy), .src_va = src_va, .dst_va = dst_va, .size = size,
	};

	put(q, &packet, sizeof(packet));
}

VF_EXPORT void vf_cmd_fill(struct vf_queue *q, uint64_t dst_va, uint64_t size, uint32_t value)
{
	struct drm_vfence_packet_fill packet = {
		.header = HEADER(FILL, fill), .dst_va = dst_va, .size = size, .value = value,
	};

	put(q, &packet, sizeof(packet));
}

VF_EXPORT void vf_cmd_timestamp(struct vf_queue *q, uint64_t dst_va)
{
	struct drm_vfence_packet_timestamp packet = {
		.header = HEADER(TIMESTAMP, timestamp), .dst_va = dst_va,
	};

	put(q, &packet, sizeof(packet));
}

VF_EXPORT void vf_cmd_set_register(struct vf_queue *q, unsigned int index, uint64_t value)
{
	struct drm_vfence_packet_register packet = {
		.header = HEADER(SET_REGISTER, register), .index = index, .value = value,
	};

	put(q, &packet, sizeof(packet));
}

VF_EXPORT void vf_cmd_read_register(struct vf_queue *q, unsigned int index, uint64_t dst_va)
{
	struct drm_vfence_packet_register packet = {
		.header = HEADER(READ_REGISTER, register), .index = index, .value = dst_va,
	};

	put(q, &packet, sizeof(packet));
}

/* -------------------------------------------------------------- submission */

static int connect(struct vf_queue *q)
{
	struct drm_vfence_doorbell_connect args = {
		.queue = q->info.handle, .flags = DRM_VFENCE_CONNECT_LOGS,
	};
	int ret = vf_ioctl(q->adapter, DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &args);

	if (ret)
		return ret;
	q->info.wait_log_entries = args.wait_log_entries;
	q->info.signal_log_entries = args.signal_log_entries;
	q->logging_level = args.logging_level;
	/* All commands are published, so the entries of later commands count from 0. */
	if (args.log_restart) {
		memset(q->log_index, 0, sizeof(q->log_index));
		memset(q->published_log_index, 0, sizeof(q->published_log_index));
	}
	return 0;
}

static int notify(struct vf_queue *q)
{
	struct drm_vfence_notify_work_submission args = { .queue = q->info.handle };

	return vf_ioctl(q->adapter, DRM_IOCTL_VFENCE_NOTIFY_WORK_SUBMISSION, &args);
}

/* Ring the doorbell. Connect again each time the driver disconnects it meanwhile. */
static int ring(struct vf_queue *q)
{
	int ret;

	for (;;) {
		switch (doorbell_status(q)) {
		case DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT:
			return -EIO;
		case DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY:
			ret = connect(q);
			if (ret)
				return ret;
			break;
		default:
			break;
		}
		/*
		 * Handshake (c): store the write pointer, then touch the doorbell.
		 * Partner: doorbell_arm_work() in the driver, which zaps the page, then
		 * loads the write pointer.
		 */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		*(volatile uint64_t *)q->doorbell.map = q->published;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		switch (doorbell_status(q)) {
		case DRM_VFENCE_DOORBELL_CONNECTED:
			return 0;
		case DRM_VFENCE_DOORBELL_CONNECTED_NOTIFY:
			return notify(q);
		default:
			break;
		}
	}
}

static int drop(struct vf_queue *q)
{
	int ret = q->error;

	q->error = 0;
	q->build = q->published;
	/* What was dropped still waits there. Waits behind it would wait for it, too. */
	q->keeper_spoiled |= q->kept;
	q->kept = false;
	memcpy(q->log_index, q->published_log_index, sizeof(q->log_index));
	return ret;
}

/* Drop the commands of a submission that is refused. */
static int fail(struct vf_queue *q, int error)
{
	q->error = error;
	return drop(q);
}

VF_EXPORT int vf_queue_publish(struct vf_queue *q)
{
	if (q->kernel)
		return -EOPNOTSUPP;
	if (q->error)
		return drop(q);
	q->published = q->build;
	q->kept = false;
	memcpy(q->published_log_index, q->log_index, sizeof(q->log_index));
	/* Release: the commands are visible first. Partner: the GPU's acquire of write_ptr. */
	__atomic_store_n(&q->control->write_ptr, q->published, __ATOMIC_RELEASE);
	return ring(q);
}

static int submit_to_kernel(struct vf_queue **queues, unsigned int count,
			    struct drm_vfence_submit *args)
{
	struct drm_vfence_submit_queue *entry = calloc(count, sizeof(*entry));
	struct vf_queue *q = queues[0];
	unsigned int i;
	int ret;

	if (!entry)
		return fail(q, -ENOMEM);
	for (i = 0; i < count; i++)
		entry[i].queue = queues[i]->info.handle;
	args->queues = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(count, entry);
	args->commands = q->build ? (uint64_t)(uintptr_t)q->ring : 0;
	args->commands_size = (uint32_t)q->build;
	ret = vf_ioctl(q->adapter, DRM_IOCTL_VFENCE_SUBMIT, args);
	for (i = 0; !ret && i < count; i++)
		queues[i]->last_queued = entry[i].progress;
	q->build = 0;
	free(entry);
	return ret;
}

/* The operations of a submission, and how many there are so far. */
struct submit_ops {
	struct drm_vfence_submit_op few[VF_LIST_SMALL], *op;
	uint32_t count;
};

static int ops_add_points(struct submit_ops *ops, struct vf_adapter *adapter,
			  enum drm_vfence_submit_op_type type, const struct vf_point *points,
			  unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (points[i].fence->adapter != adapter)
			return -EXDEV;
		ops->op[ops->count++] = (struct drm_vfence_submit_op){
			.type = (uint32_t)type, .handle = points[i].fence->handle,
			.value = points[i].value,
		};
	}
	return 0;
}

static void ops_add_syncobjs(struct submit_ops *ops, enum drm_vfence_submit_op_type type,
			     const struct vf_syncobj *syncobjs, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		ops->op[ops->count++] = (struct drm_vfence_submit_op){
			.type = (uint32_t)type, .handle = syncobjs[i].handle,
			.value = syncobjs[i].point,
		};
}

static int ops_fill(struct submit_ops *ops, struct vf_adapter *adapter,
		    const struct vf_submit *what)
{
	int ret = ops_add_points(ops, adapter, DRM_VFENCE_SUBMIT_WAIT_FENCE, what->waits,
				 what->wait_count);

	ret = ret ? ret : ops_add_points(ops, adapter, DRM_VFENCE_SUBMIT_SIGNAL_FENCE,
					 what->signals, what->signal_count);
	ops_add_syncobjs(ops, DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ, what->wait_syncobjs,
			 what->wait_syncobj_count);
	ops_add_syncobjs(ops, DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ, what->signal_syncobjs,
			 what->signal_syncobj_count);
	return ret;
}

VF_EXPORT int vf_submit(struct vf_queue **queues, unsigned int count, const struct vf_submit *what)
{
	size_t all = (size_t)what->wait_count + what->signal_count + what->wait_syncobj_count +
		     what->signal_syncobj_count;
	struct drm_vfence_submit args = { .flags = what->flags, .eventfd = what->eventfd };
	struct submit_ops ops = { .count = 0 };
	unsigned int i;
	int ret;

	if (queues[0]->error)
		return drop(queues[0]);
	for (i = 1; i < count; i++)
		if (queues[i]->adapter != queues[0]->adapter)
			return fail(queues[0], -EXDEV);

	ops.op = all <= VF_LIST_SMALL ? ops.few : calloc(all, sizeof(*ops.op));
	if (!ops.op)
		return fail(queues[0], -ENOMEM);
	ret = ops_fill(&ops, queues[0]->adapter, what);
	args.ops = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(ops.count, ops.op);
	ret = ret ? fail(queues[0], ret) : submit_to_kernel(queues, count, &args);
	if (ops.op != ops.few)
		free(ops.op);
	return ret;
}

static int create_keeper(struct vf_queue *q)
{
	struct keeper *keeper;
	int ret;

	if (q->keepers && !q->keeper_spoiled)
		return 0;
	keeper = calloc(1, sizeof(*keeper));
	if (!keeper)
		return -ENOMEM;
	ret = vf_fence_create(q->device, 0, 0, &keeper->ticket);
	if (!ret) {
		ret = vf_kernel_queue_create(q->device, q->node, &keeper->queue);
		if (ret)
			vf_fence_destroy_now(keeper->ticket);
	}
	if (ret) {
		free(keeper);
		return ret;
	}
	keeper->next = q->keepers;
	q->keepers = keeper;
	q->keeper_spoiled = false;
	return 0;
}

VF_EXPORT void vf_cmd_wait_kept(struct vf_queue *q, const struct vf_point *points,
				unsigned int count)
{
	struct vf_point ticket;
	struct vf_submit what = {
		.waits = points, .wait_count = count, .signals = &ticket, .signal_count = 1,
	};

	if (!q->error && !count)
		q->error = -EINVAL;
	if (!q->error)
		q->error = q->kernel ? -EOPNOTSUPP : create_keeper(q);
	if (q->error)
		return;
	ticket = (struct vf_point){ q->keepers->ticket, q->keepers->tickets + 1 };
	q->error = vf_submit(&q->keepers->queue, 1, &what);
	if (q->error)
		return;
	q->keepers->tickets++;
	q->kept = true;
	vf_cmd_wait(q, ticket.fence, ticket.value);
}

VF_EXPORT int vf_queue_submit(struct vf_queue *q)
{
	static const struct vf_submit commands_alone;

	if (q->kernel)
		return vf_submit(&q, 1, &commands_alone);
	/* Steps 1 and 2: choose the progress value, end the commands with its signal. */
	vf_cmd_signal(q, &q->progress, q->last_queued + 1);
	if (q->error)
		return drop(q);
	q->last_queued++;
	/* Step 3: publish the value before the work is visible (WDDM-198). */
	__atomic_store_n((uint64_t *)q->last_queued_slot.map, q->last_queued, __ATOMIC_RELEASE);
	/* Steps 4 and 5: publish the write pointer, ring the doorbell. */
	return vf_queue_publish(q);
}
