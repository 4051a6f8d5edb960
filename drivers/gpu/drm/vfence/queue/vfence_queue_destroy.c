// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of queues: their owner destroys them in three steps.
 */

#include <linux/wait_bit.h>

#include "core/vfence_device.h"
#include "irq/vfence_irq.h"
#include "queue/vfence_log.h"
#include "queue/vfence_progress.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_destroy.h"
#include "queue/vfence_queue_trace.h"

/* Charge the file for what the queue has used since it was charged last. */
static void queue_charge_locked(struct vfence_file *file, struct vfence_queue *queue)
{
	u64 busy_ns = vfence_queue_busy_ns(queue);

	lockdep_assert_held(&file->usage_lock);
	file->busy_ns[queue->node] += busy_ns - queue->charged_ns;
	queue->charged_ns = busy_ns;
}

static void queue_charge(struct vfence_file *file, struct vfence_queue *queue)
{
	spin_lock(&file->usage_lock);
	queue_charge_locked(file, queue);
	spin_unlock(&file->usage_lock);
}

/* Take the handle of a queue. What fdinfo shows does not go back meanwhile. */
static void queue_take_locked(struct vfence_file *file, struct vfence_queue *queue)
{
	lockdep_assert_held(&file->lock);
	spin_lock(&file->usage_lock);
	vfence_handle_table_remove(&file->queues, queue->handle);
	queue_charge_locked(file, queue);
	spin_unlock(&file->usage_lock);
}

/*
 * Destroy a queue for its owner, in three steps: take its handle and stop it; wait for what the
 * client may delay, in vfence_queue_destroy_drain(); free what belongs to the file. The file's lock
 * is not held in the second step, so that other calls of the client, which may be in the gate, do
 * not wait.
 */
static void queue_begin_destroy_locked(struct vfence_file *file, struct vfence_queue *queue,
				       struct list_head *dead)
{
	lockdep_assert_held(&file->lock);
	queue_take_locked(file, queue);
	trace_vfence_queue(queue, queue->handle, false);
	vfence_queue_stop(queue, -ECANCELED);
	/* It may have been reset while it was stopped. */
	queue->context->guilty |= vfence_queue_is_guilty(queue);
	queue_charge(file, queue);
	if (queue->ops->destroy)
		queue->ops->destroy(queue);

	/*
	 * Handle the interrupts that name the queue now: they need its log or its fences,
	 * and find neither later.
	 */
	if (queue->adapter->optimized) {
		vgpu_cmp_flush(queue->adapter->gpu);
		vfence_irq_drain(queue->adapter);
	}

	vfence_log_read(queue);
	vfence_log_unmap(queue);
	xa_erase(&queue->adapter->queues.table, queue->id);
	list_add_tail(&queue->dead_link, dead);
}

/**
 * struct vfence_queue_list - queues that are destroyed
 */
struct vfence_queue_list {
	/** @file: their file, locked */
	struct vfence_file *file;
	/** @dead: those whose handle is taken */
	struct list_head *dead;
};

/* Others may have a reference to a queue whose handle was taken before. */
static void queue_begin_destroy_one(struct vfence_queue *queue, void *arg)
{
	struct vfence_queue_list *list = arg;

	if (xa_load(&list->file->queues.objects, queue->handle) == queue)
		queue_begin_destroy_locked(list->file, queue, list->dead);
}

/**
 * vfence_queue_destroy_begin_all - take all queues from a device
 * @file: the client, with its lock held
 * @device: the device
 * @dead: output, for vfence_queue_destroy_drain() and vfence_queue_destroy_end_all()
 */
void vfence_queue_destroy_begin_all(struct vfence_file *file, struct vfence_device *device,
				    struct list_head *dead)
{
	struct vfence_queue_list list = { .file = file, .dead = dead };

	lockdep_assert_held(&file->lock);
	vfence_queue_visit_of(device, queue_begin_destroy_one, &list);
}

/**
 * vfence_queue_destroy_drain - wait until no work of some queues is left
 * @dead: the queues
 *
 * The client decides how long that takes. The file lives until this returns.
 */
void vfence_queue_destroy_drain(struct list_head *dead)
{
	struct vfence_queue *queue;

	list_for_each_entry(queue, dead, dead_link)
		if (queue->ops->drain)
			queue->ops->drain(queue);
}

/**
 * vfence_queue_destroy_drain_all - wait until no queue of a closing file is left
 * @file: the file, which has destroyed all its queues
 *
 * Interrupts, scans and works that have found a queue before may still have a reference to it, and
 * use the file. None of them waits for the file.
 */
void vfence_queue_destroy_drain_all(struct vfence_file *file)
{
	wait_var_event(&file->living_queues, !atomic_read(&file->living_queues));
}

/**
 * vfence_queue_destroy_end_all - free what queues have of their file
 * @file: the client, with its lock held
 * @dead: the queues
 *
 * On return they use nothing of the file. queue_free() frees the rest with the last reference.
 */
void vfence_queue_destroy_end_all(struct vfence_file *file, struct list_head *dead)
{
	struct vfence_queue *queue, *next;

	lockdep_assert_held(&file->lock);
	list_for_each_entry_safe(queue, next, dead, dead_link) {
		atomic_dec(&queue->adapter->queues.count);
		vfence_progress_destroy(queue);
		queue->context->guilty |= vfence_queue_is_guilty(queue);
		queue->context->queues--;
		vfence_queue_put(queue);
	}
}

static int queue_begin_destroy(struct vfence_file *file, u32 handle, struct list_head *dead)
{
	struct vfence_queue *queue;
	int ret = 0;

	mutex_lock(&file->lock);
	queue = xa_load(&file->queues.objects, handle);
	if (!queue)
		ret = -ENOENT;
	else if (queue->doorbell)
		ret = -EBUSY;
	else
		queue_begin_destroy_locked(file, queue, dead);
	mutex_unlock(&file->lock);
	return ret;
}

/* Enters no gate, as a file that is closed does not: the client decides how long this takes. */
int vfence_queue_destroy(struct vfence_file *file, u32 handle)
{
	LIST_HEAD(dead);
	int ret;

	if (mutex_lock_killable(&file->destroy_lock))
		return -ERESTARTSYS;
	ret = queue_begin_destroy(file, handle, &dead);
	vfence_queue_destroy_drain(&dead);
	mutex_lock(&file->lock);
	vfence_queue_destroy_end_all(file, &dead);
	mutex_unlock(&file->lock);
	mutex_unlock(&file->destroy_lock);
	return ret;
}
