// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware queues as objects: creation, wiring of rings and logs, queries.
 */

#include <linux/err.h>
#include <linux/slab.h>

#include "vgpu_types.h"

struct vgpu_queue *vgpu_queue_create(struct vgpu *gpu, const struct vgpu_queue_args *args)
{
	struct vgpu_queue *queue = vfence_object_alloc(HW_QUEUE, sizeof(*queue));
	unsigned long flags;

	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->gpu = gpu;
	queue->vm = args->vm;
	queue->engine = &gpu->engine[args->node];
	queue->os_handle = args->os_handle;
	queue->kernel = args->kernel;
	queue->context = args->context;
	INIT_LIST_HEAD(&queue->context_link);
	spin_lock_irqsave(&gpu->sched, flags);
	if (queue->context)
		list_add_tail(&queue->context_link, &queue->context->queues);
	spin_unlock_irqrestore(&gpu->sched, flags);
	queue->state = DRM_VFENCE_QUEUE_IDLE;
	INIT_LIST_HEAD(&queue->run_link);
	vgpu_log_init(&queue->log[0]);
	vgpu_log_init(&queue->log[1]);
	return queue;
}

void vgpu_queue_destroy(struct vgpu_queue *queue)
{
	unsigned long flags;

	vgpu_queue_abort(queue);
	spin_lock_irqsave(&queue->gpu->sched, flags);
	list_del(&queue->context_link);
	spin_unlock_irqrestore(&queue->gpu->sched, flags);
	/* A fault record that names the queue is in the ring afterwards. */
	vgpu_flush_posts(queue->gpu);
	vfence_object_free(HW_QUEUE, queue);
}

void vgpu_queue_query(struct vgpu_queue *queue, struct vgpu_queue_status *status)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->sched, flags);
	status->state = queue->state;
	status->fault = queue->fault;
	status->opcode = queue->fault_opcode;
	status->ring_ptr = queue->fault ? queue->read_ptr : 0;
	status->va = queue->fault_va;
	status->packets = READ_ONCE(queue->packets);
	status->log_packets = READ_ONCE(queue->log_packets);
	status->busy_ns = READ_ONCE(queue->busy_ns);
	status->notifications = atomic64_read(&queue->notifications);
	spin_unlock_irqrestore(&queue->gpu->sched, flags);
}

void vgpu_doorbell_create(struct vgpu_queue *queue, const struct vgpu_doorbell_args *args)
{
	unsigned long flags;

	args->control->read_ptr = 0;
	args->control->write_ptr = 0;
	vgpu_log_new_ring(&queue->log[0]);
	vgpu_log_new_ring(&queue->log[1]);
	spin_lock_irqsave(&queue->gpu->sched, flags);
	queue->cookie = args->cookie;
	queue->ring = args->ring;
	queue->ring_size = args->ring_size;
	queue->control = args->control;
	queue->read_ptr = 0;
	queue->latched = 0;
	queue->connected = false;
	spin_unlock_irqrestore(&queue->gpu->sched, flags);
}

void vgpu_doorbell_destroy(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->sched, flags);
	WRITE_ONCE(queue->connected, false);
	queue->cookie = NULL;
	queue->ring = NULL;
	queue->control = NULL;
	spin_unlock_irqrestore(&queue->gpu->sched, flags);
}
