// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues as objects: what both kinds have in common, and how they are found and kept.
 */

#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "core/vfence_account.h"
#include "core/vfence_device.h"
#include "fence/vfence_fence.h"
#include "queue/vfence_context.h"
#include "queue/vfence_published.h"
#include "queue/vfence_queue.h"
#include "vfence_race_point.h"

/* Least time for which others have to have lacked the engine, in ms. */
#define QUEUE_MIN_PAID_MS	10

/*
 * Its owner has destroyed it long before. The file waits for this in
 * vfence_queue_destroy_drain_all().
 */
static void queue_free(struct vfence_queue *queue)
{
	struct vfence_file *file = queue->file;

	might_sleep();
	if (!IS_ERR_OR_NULL(queue->hw))
		vgpu_queue_destroy(queue->hw);

	if (queue->progress_fence)
		vfence_fence_put(queue->progress_fence);

	spin_lock(&queue->device->lock);
	list_del(&queue->device_link);
	spin_unlock(&queue->device->lock);
	vfence_context_put(queue->context);
	vfence_device_put(queue->device);
	queue->ops->free(queue);
	/* The address alone is used from here on: the file may be gone. */
	if (atomic_dec_and_test(&file->living_queues))
		wake_up_var(&file->living_queues);
}

static void queue_release(struct kref *ref)
{
	queue_free(container_of(ref, struct vfence_queue, ref));
}

static void queue_free_work(struct work_struct *work)
{
	vfence_hold(QUEUE_FREE);
	queue_free(container_of(work, struct vfence_queue, free_work));
}

/**
 * vfence_queue_setup - initialise a new queue
 * @queue: the queue, all zero
 * @file: the client
 * @context: its context; the queue gets a reference
 * @ops: the kind of the queue
 */
void vfence_queue_setup(struct vfence_queue *queue, struct vfence_file *file,
			struct vfence_context *context, const struct vfence_queue_ops *ops)
{
	kref_init(&queue->ref);
	queue->ops = ops;
	queue->adapter = file->adapter;
	queue->file = file;
	atomic_inc(&file->living_queues);
	queue->client = file->id;
	queue->context = context;
	queue->node = context->node;
	vfence_context_get(context);
	queue->device = context->device;
	vfence_device_get(queue->device);
	INIT_LIST_HEAD(&queue->device_link);
	INIT_WORK(&queue->free_work, queue_free_work);
}

/** vfence_queue_put - drop a reference; process context */
void vfence_queue_put(struct vfence_queue *queue)
{
	kref_put(&queue->ref, queue_release);
}

/**
 * vfence_queue_for_each - visit all queues of an adapter; process context
 * @adapter: the adapter
 * @fn: function to call for each queue, with a reference on the queue and without a lock
 * @arg: argument of @fn
 */
void vfence_queue_for_each(struct vfence_adapter *adapter,
			   void (*fn)(struct vfence_queue *queue, void *arg), void *arg)
{
	struct vfence_queue *queue;
	unsigned long index;

	rcu_read_lock();
	xa_for_each(&adapter->queues.table, index, queue) {
		if (!kref_get_unless_zero(&queue->ref))
			continue;
		rcu_read_unlock();
		fn(queue, arg);
		vfence_queue_put_later(queue);
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
}

/* Return the first queue from @link on that is not about to be freed, with a reference, or NULL. */
static struct vfence_queue *queue_get_locked(struct vfence_device *device, struct list_head *link)
{
	lockdep_assert_held(&device->lock);
	while (link != &device->queues) {
		struct vfence_queue *queue = list_entry(link, struct vfence_queue, device_link);

		if (kref_get_unless_zero(&queue->ref))
			return queue;
		link = link->next;
	}
	return NULL;
}

/**
 * vfence_queue_visit_of - visit all queues of a device; process context
 * @device: the device, with a reference
 * @fn: function to call for each queue, with a reference on the queue and without a lock
 * @arg: argument of @fn
 *
 * Queues that are created meanwhile come last.
 */
void vfence_queue_visit_of(struct vfence_device *device,
			   void (*fn)(struct vfence_queue *queue, void *arg), void *arg)
{
	struct vfence_queue *queue, *next;

	spin_lock(&device->lock);
	queue = queue_get_locked(device, device->queues.next);
	spin_unlock(&device->lock);
	while (queue) {
		fn(queue, arg);
		/* The reference keeps the queue on the list. */
		spin_lock(&device->lock);
		next = queue_get_locked(device, queue->device_link.next);
		spin_unlock(&device->lock);
		vfence_queue_put_later(queue);
		queue = next;
		cond_resched();
	}
}

/** vfence_queue_state_of_fault - &enum drm_vfence_device_state that a fault means for the device */
int vfence_queue_state_of_fault(const struct vgpu_queue_status *status)
{
	switch (status->fault) {
	case DRM_VFENCE_FAULT_PREEMPTION:
		return DRM_VFENCE_DEVICE_HUNG;
	case DRM_VFENCE_FAULT_UNMAPPED:
	case DRM_VFENCE_FAULT_ACCESS:
		return DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT;
	default:
		return DRM_VFENCE_DEVICE_ERROR_DMAFAULT;
	}
}

/*
 * A queue that is stopped before the GPU finds that it hangs has kept others off the engine all the
 * same. If its device has failed, that has been paid for.
 */
static void queue_pay(struct vfence_queue *queue)
{
	u64 ms = div_u64(vgpu_queue_take_kept_ns(queue->hw), NSEC_PER_MSEC);

	if (ms >= QUEUE_MIN_PAID_MS && vfence_device_active(queue->device))
		vfence_account_hung(queue->device->account, ms);
}

/** vfence_queue_abort_hw - abort what the GPU executes of a queue; process context */
void vfence_queue_abort_hw(struct vfence_queue *queue)
{
	vgpu_queue_abort(queue->hw);
	queue_pay(queue);
}

/**
 * vfence_queue_stop - abort a queue permanently
 * @queue: the queue, with a reference
 * @error: error of the submission that the queue was executing
 *
 * The progress fence ends: CPU waits for it fail, and the queues of all clients that wait for it
 * proceed. That of a kernel-mode queue ends in a work, after the signals of completed submissions.
 * Does not wait for a client. Process context.
 */
void vfence_queue_stop(struct vfence_queue *queue, int error)
{
	vfence_hold(QUEUE_STOP);
	queue->ops->stop(queue, error);
}

/**
 * vfence_queue_fault_state - the error state that a fault of a queue means for its device
 * @queue: the queue
 *
 * Return: &enum drm_vfence_device_state; ACTIVE if the queue has not faulted.
 */
int vfence_queue_fault_state(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return status.state == DRM_VFENCE_QUEUE_FAULTED ?
		vfence_queue_state_of_fault(&status) : DRM_VFENCE_DEVICE_ACTIVE;
}

/** vfence_queue_busy_ns - GPU time charged to a queue, in nanoseconds */
u64 vfence_queue_busy_ns(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return status.busy_ns;
}

/** vfence_queue_status_is_guilty - true if the queue executed a packet that was illegal or hung */
bool vfence_queue_status_is_guilty(const struct vfence_queue *queue,
				   const struct vgpu_queue_status *status)
{
	int error = READ_ONCE(queue->aborted);

	/* Other reasons than its own are -ECANCELED and -ENODEV. */
	return status->guilty || status->fault || error == -ETIME || error == -EIO;
}

/** vfence_queue_is_guilty - vfence_queue_status_is_guilty() of today's status */
bool vfence_queue_is_guilty(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return vfence_queue_status_is_guilty(queue, &status);
}

/** vfence_queue_lookup - the queue of a handle, with a reference, or NULL */
struct vfence_queue *vfence_queue_lookup(struct vfence_file *file, u32 handle)
{
	struct vfence_queue *queue;

	mutex_lock(&file->lock);
	queue = xa_load(&file->queues.objects, handle);
	if (queue)
		kref_get(&queue->ref);
	mutex_unlock(&file->lock);
	return queue;
}

/** vfence_queue_init - prepare an adapter for queues; cannot fail */
void vfence_queue_init(struct vfence_adapter *adapter)
{
	xa_init_flags(&adapter->queues.table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	vfence_published_init(adapter);
}

/** vfence_queue_fini - undo vfence_queue_init(); no queue is left */
void vfence_queue_fini(struct vfence_adapter *adapter)
{
	xa_destroy(&adapter->queues.table);
}
