// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: queues that leave the GPU together and come back together.
 *
 * ::
 *
 *    RESUMED --suspend--> SUSPENDING --the last queue has left--> SUSPENDED
 *       ^                 (skipped if none runs)                      |
 *       +------------------------------resume--------------------------+
 */

#include <linux/err.h>
#include <linux/slab.h>

#include "vgpu_types.h"

struct vgpu_context *vgpu_context_create(struct vgpu *gpu, unsigned int node, u32 os_handle)
{
	struct vgpu_context *context = vfence_object_alloc(HW_CONTEXT, sizeof(*context));

	if (!context)
		return ERR_PTR(-ENOMEM);
	context->gpu = gpu;
	context->node = node;
	context->os_handle = os_handle;
	INIT_LIST_HEAD(&context->queues);
	return context;
}

void vgpu_context_destroy(struct vgpu_context *context)
{
	/* A record that names it is in the ring afterwards. */
	vgpu_cmp_flush(context->gpu);
	vfence_object_free(HW_CONTEXT, context);
}

u64 vgpu_context_acknowledged(struct vgpu_context *context)
{
	/* Acquire: the queues have left. Partner: context_acknowledge_locked(). */
	return smp_load_acquire(&context->acknowledged);
}

bool vgpu_context_suspend(struct vgpu_context *context, u64 fence)
{
	struct vgpu *gpu = context->gpu;
	struct vgpu_queue *queue;
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	WRITE_ONCE(context->suspended, true);
	context->suspend_fence = fence;
	list_for_each_entry(queue, &context->queues, context_link)
		if (queue->state == DRM_VFENCE_QUEUE_READY)
			list_del_init(&queue->run_link);
	context->ack_due = context->running;
	done = !context->running;
	/* Whoever lets time pass for one of its queues stops. */
	wake_up_all(&gpu->chip->engine[context->node].wait);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return done;
}

void vgpu_context_resume(struct vgpu_context *context)
{
	struct vgpu *gpu = context->gpu;
	struct vgpu_queue *queue;
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	WRITE_ONCE(context->suspended, false);
	/* One that is still running goes on; nobody waits for it to leave. */
	context->ack_due = false;
	list_for_each_entry(queue, &context->queues, context_link)
		if (queue->state == DRM_VFENCE_QUEUE_READY && list_empty(&queue->run_link))
			vgpu_sched_ready_locked(queue);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}
