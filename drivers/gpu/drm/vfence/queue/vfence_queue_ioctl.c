// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls about queues: create, abort, query, and the destruction of a doorbell.
 */

#include <drm/drm_file.h>

#include "core/vfence_device.h"
#include "fence/vfence_fence.h"
#include "queue/vfence_context.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_log.h"
#include "queue/vfence_progress.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_ioctl.h"
#include "queue/vfence_queue_irq.h"
#include "queue/vfence_queue_trace.h"
#include "queue/vfence_user_queue.h"

static int queue_create_hw(struct vfence_queue *queue, unsigned int node)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vgpu_queue_args args = {
		.context = queue->context->hw,
		.vm = queue->file->vm,
		.node = node,
		.kernel = !queue->ops->user_mode,
	};
	int ret;

	ret = xa_alloc_cyclic(&adapter->queues.table, &args.os_handle, NULL, xa_limit_31b,
			      &adapter->queues.next, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;

	queue->hw = vgpu_queue_create(adapter->gpu, &args);
	if (IS_ERR(queue->hw)) {
		xa_erase(&adapter->queues.table, args.os_handle);
		return PTR_ERR(queue->hw);
	}

	/* An id that the queue does not own must not be erased by queue_strip_locked(). */
	queue->id = args.os_handle;
	return 0;
}

/* May a node have queues of this kind? The paging node has queues of neither kind. */
static bool queue_node_allowed(struct vfence_adapter *adapter, unsigned int node, bool user_mode)
{
	if (user_mode)
		return adapter->config.user_nodes & BIT(node);
	return adapter->config.gpu.node_class[node] != DRM_VFENCE_NODE_PAGING;
}

/* Return a queue of a kind that no other thread knows yet, or NULL. */
static struct vfence_queue *queue_alloc(struct vfence_file *file, struct vfence_context *context,
					const struct vfence_queue_ops *ops)
{
	struct vfence_queue *queue = ops->alloc();

	if (!queue)
		return NULL;

	vfence_queue_setup(queue, file, context, ops);
	vfence_log_setup(queue);
	vfence_queue_irq_setup(queue);
	return queue;
}

/* Give the queue what it needs to run. On error the caller undoes it, as far as it came. */
static int queue_equip_locked(struct vfence_queue *queue, struct drm_vfence_queue_create *args)
{
	struct drm_vfence_fence_mapping progress;
	struct vfence_file *file = queue->file;
	int ret;

	lockdep_assert_held(&file->lock);
	ret = queue_create_hw(queue, queue->node);
	if (!ret)
		ret = vfence_progress_create(queue, &progress);
	if (!ret)
		ret = queue->ops->create(queue, args);
	if (!ret)
		ret = vfence_handle_table_add(&file->queues, queue, &args->handle);
	if (ret)
		return ret;

	args->progress = progress;
	args->progress_fence = queue->progress;
	args->wait_log_va = 0;
	args->signal_log_va = 0;
	args->wait_log_entries = 0;
	args->signal_log_entries = 0;
	/* Describe the queue before it is published: from then on its logs may be replaced. */
	if (queue->ops->describe)
		queue->ops->describe(queue, args);
	return 0;
}

/* Undo queue_equip_locked(), as far as it came. The caller still has the reference. */
static void queue_strip_locked(struct vfence_queue *queue)
{
	lockdep_assert_held(&queue->file->lock);
	if (queue->ops->drain)
		queue->ops->drain(queue);
	vfence_log_unmap(queue);
	vfence_progress_destroy(queue);
	if (queue->id)
		xa_erase(&queue->adapter->queues.table, queue->id);
}

/* Nothing may fail from here on: interrupts, scans and the device's loss find the queue. */
static void queue_publish_locked(struct vfence_queue *queue, u32 handle)
{
	struct vfence_adapter *adapter = queue->adapter;

	lockdep_assert_held(&queue->file->lock);
	trace_vfence_queue(queue, handle, true);
	xa_store(&adapter->queues.table, queue->id, queue, GFP_KERNEL_ACCOUNT);
	queue->handle = handle;
	queue->context->queues++;
	spin_lock(&queue->device->lock);
	list_add_tail(&queue->device_link, &queue->device->queues);
	spin_unlock(&queue->device->lock);
	atomic_inc(&adapter->queues.count);

	/*
	 * Order the queue's entries before the read of the device's state: either
	 * the thread that stops queues finds this one, or this thread finds the device
	 * failed. Partners: the atomics of vfence_device_fail(), vfence_adapter_lose()
	 * and vfence_process_hung().
	 */
	smp_mb();
	if (!vfence_device_active(queue->device))
		vfence_queue_stop(queue, -ECANCELED);
	/* The time that submissions may take may have changed before the queue was visible. */
	if (queue->ops->retime)
		queue->ops->retime(queue);
}

/* Return: 0 if the context may have another queue of a kind, or an error. */
static int queue_check_context(struct vfence_file *file, const struct vfence_context *context,
			       bool user_mode)
{
	if (!context)
		return -ENOENT;
	if (!vfence_device_active(context->device))
		return -EIO;
	/* The destruction of the device has taken its queues, and waits for them. */
	if (context->device->closing)
		return -ENOENT;
	if (vfence_reject(&file->adapter->drm,
			  !queue_node_allowed(file->adapter, context->node, user_mode)))
		return -EOPNOTSUPP;
	return 0;
}

static int queue_create_locked(struct vfence_file *file, struct drm_vfence_queue_create *args)
{
	struct vfence_context *context = xa_load(&file->contexts.objects, args->context);
	bool user_mode = args->flags & DRM_VFENCE_QUEUE_USER_MODE;
	struct vfence_queue *queue;
	int ret;

	lockdep_assert_held(&file->lock);
	ret = queue_check_context(file, context, user_mode);
	if (ret)
		return ret;

	queue = queue_alloc(file, context, user_mode ? &vfence_user_queue_ops :
						       &vfence_kernel_queue_ops);
	if (!queue)
		return -ENOMEM;

	ret = queue_equip_locked(queue, args);
	if (ret) {
		queue_strip_locked(queue);
		vfence_queue_put(queue);
		return ret;
	}

	queue_publish_locked(queue, args->handle);
	return 0;
}

int vfence_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_queue_create *args = data;
	int ret;

	if (vfence_reject(drm, args->flags & ~(DRM_VFENCE_QUEUE_USER_MODE |
					       DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT)))
		return -EINVAL;

	if (vfence_reject(drm, args->flags & DRM_VFENCE_QUEUE_USER_MODE &&
			  !file->adapter->user_mode_submission))
		return -EOPNOTSUPP;

	mutex_lock(&file->lock);
	ret = queue_create_locked(file, args);
	mutex_unlock(&file->lock);
	return ret;
}

/*
 * A queue that has work is aborted, and its progress fence ends, as no packet will signal it. That
 * ends waits of other clients, who decide how long it takes: no lock or gate is held over it.
 */
int vfence_queue_destroy_doorbell(struct vfence_file *file, u32 handle)
{
	struct vfence_queue *queue = vfence_queue_lookup(file, handle);
	bool stops = false;
	int ret = -ENOENT;

	if (!queue)
		return -ENOENT;
	mutex_lock(&file->lock);
	if (queue->doorbell) {
		stops = vfence_doorbell_destroy(queue);
		ret = 0;
	}
	mutex_unlock(&file->lock);
	if (stops)
		vfence_queue_stop(queue, -ECANCELED);
	vfence_queue_put(queue);

	return ret;
}

/* Enters no gate: the client decides how long the last signals take. */
int vfence_queue_abort_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_queue_abort *args = data;
	struct vfence_queue *queue;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;
	queue = vfence_queue_lookup(file, args->queue);
	if (!queue)
		return -ENOENT;
	vfence_queue_stop(queue, -ECANCELED);
	if (queue->ops->flush)
		queue->ops->flush(queue);
	vfence_queue_put(queue);
	return 0;
}

/*
 * Return true if the device is lost. Call this before vfence_queue_is_guilty(): the GPU marks the
 * guilty queue before the driver marks its device as lost, so no guilty queue appears innocent.
 */
static bool queue_device_is_lost(struct vfence_device *device)
{
	bool lost = !vfence_device_active(device);

	/* Load the state before the guilt. Partner: the atomic of vfence_device_fail(). */
	smp_rmb();
	return lost;
}

static u32 queue_verdict(bool lost, bool guilty)
{
	if (!lost)
		return DRM_VFENCE_QUEUE_OK;
	return guilty ? DRM_VFENCE_QUEUE_GUILTY : DRM_VFENCE_QUEUE_INNOCENT;
}

static void queue_write_info(struct vfence_queue *queue, struct drm_vfence_queue_info *info)
{
	bool lost = queue_device_is_lost(queue->device);
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	info->state = status.state;
	info->fault = status.fault;
	info->fault_opcode = status.opcode;
	info->fault_ring_ptr = status.ring_ptr;
	info->fault_va = status.va;
	info->packets = status.packets;
	info->log_packets = status.log_packets;
	info->notifications = status.notifications;

	info->progress = vfence_fence_current(queue->progress_fence);
	queue->ops->query(queue, info);
	info->verdict = queue_verdict(lost, vfence_queue_status_is_guilty(queue, &status));
	vfence_log_query(queue, &info->log_read, &info->log_lost);
}

/** vfence_queue_query - answer %DRM_VFENCE_QUERY_QUEUE */
int vfence_queue_query(struct vfence_file *file, u32 handle, struct drm_vfence_queue_info *info)
{
	struct vfence_queue *queue = vfence_queue_lookup(file, handle);

	if (!queue)
		return -ENOENT;
	queue_write_info(queue, info);
	vfence_queue_put(queue);
	return 0;
}

static bool queue_context_is_guilty_locked(struct vfence_file *file,
					   const struct vfence_context *context)
{
	bool guilty = context->guilty;
	struct vfence_queue *queue;
	unsigned long handle;

	lockdep_assert_held(&file->lock);
	xa_for_each(&file->queues.objects, handle, queue)
		guilty |= queue->context == context && vfence_queue_is_guilty(queue);
	return guilty;
}

/** vfence_queue_query_context - answer %DRM_VFENCE_QUERY_CONTEXT */
int vfence_queue_query_context(struct vfence_file *file, u32 handle,
			       struct drm_vfence_context_info *info)
{
	struct vfence_context *context;
	bool lost;

	mutex_lock(&file->lock);
	context = xa_load(&file->contexts.objects, handle);
	if (context) {
		vfence_context_query(context, info);
		lost = queue_device_is_lost(context->device);
		info->verdict = queue_verdict(lost, queue_context_is_guilty_locked(file, context));
	}
	mutex_unlock(&file->lock);
	return context ? 0 : -ENOENT;
}
