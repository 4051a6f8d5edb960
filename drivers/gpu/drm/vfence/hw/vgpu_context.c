// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: sets of queues that are suspended and resumed together.
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
	struct vgpu_context *context = vfence_leak_check_alloc(HW_CONTEXT, sizeof(*context));

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
	/* After the flush every record that names the context is in the ring. */
	vgpu_cmp_flush(context->gpu);
	vfence_leak_check_free(HW_CONTEXT, context);
}

u64 vgpu_context_acknowledged(struct vgpu_context *context)
{
	/* Acquire: the queues have left. Partner: sched_acknowledge_locked(). */
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
			vgpu_fair_remove_locked(queue);
	vgpu_vf_switch_update_locked(&gpu->node[context->node]);
	context->ack_due = context->running;
	done = !context->running;
	/* Wake the engine if it sleeps for the time of a queue of this context. */
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
	/* A queue that still runs may run on; its departure is not acknowledged. */
	context->ack_due = false;

	list_for_each_entry(queue, &context->queues, context_link)
		if (queue->state == DRM_VFENCE_QUEUE_READY && list_empty(&queue->run_link))
			vgpu_sched_ready_locked(queue);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}
