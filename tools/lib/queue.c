// SPDX-License-Identifier: MIT
/* Queues of both kinds: commands, submission, state. */

#include <stdlib.h>
#include <string.h>

#include "vf_queue.h"

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
