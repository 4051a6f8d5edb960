// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines that hang, and their reset under hardware scheduling (WDDM-174..176).
 *
 * ::
 *
 *            got nowhere for hung_us          reset            resume
 *    ACTIVE --------------------------> HUNG --------> held ----------> ACTIVE
 *       ^                                 |
 *       +-- abort, or a suspension -------+
 *
 * An engine can be reset in any state by force; what runs on it is lost.
 */

#include "vgpu_types.h"

/* The queue that runs gets nowhere: say so, once. It stays until it is taken off. */
void vgpu_reset_hung(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	struct vgpu_post post = {
		.type = VGPU_IRQ_GPU_ENGINE_STATE_CHANGE,
		.node = engine->node,
	};
	unsigned long flags;

	if (!engine->chip->hung_us || READ_ONCE(engine->hung))
		return;
	spin_lock_irqsave(&engine->chip->sched, flags);
	WRITE_ONCE(engine->hung, true);
	vgpu_cmp_post(queue->gpu, &post);
	spin_unlock_irqrestore(&engine->chip->sched, flags);
}

/* Was it asked to leave, or did it get nowhere? Else it was there by accident. */
static bool is_cause(const struct vgpu_queue *queue)
{
	return queue->engine->hung || queue->context->suspended;
}

/* Is a queue of the function on the engine? */
static bool reset_runs(struct vgpu_engine *engine, struct vgpu *gpu)
{
	unsigned long flags;
	bool runs;

	spin_lock_irqsave(&engine->chip->sched, flags);
	runs = engine->running && engine->running->gpu == gpu;
	spin_unlock_irqrestore(&engine->chip->sched, flags);
	return runs;
}

bool vgpu_reset_engine(struct vgpu *gpu, unsigned int node, bool force)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];
	bool collateral = false;
	struct vgpu_queue *queue;
	unsigned long flags;
	u32 context = 0;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	if (!engine->hung && !force) {
		spin_unlock_irqrestore(&gpu->chip->sched, flags);
		return false;
	}
	engine->held++;
	queue = engine->running;
	/*
	 * The paging ring does not hang: it ends by itself. The queue of another
	 * function is that function's to reset.
	 */
	if (queue && queue->gpu == gpu && queue->context) {
		WRITE_ONCE(queue->abort, true);
		context = queue->context->os_handle;
		collateral = !is_cause(queue);
	}
	wake_up_all(&engine->wait);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	wait_event(gpu->chip->stopped, !reset_runs(engine, gpu));
	if (context)
		gpu->ops->invalidate_hw_context(gpu->host, context, collateral);
	return true;
}

void vgpu_reset_resume_engine(struct vgpu *gpu, unsigned int node)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	engine->held--;
	wake_up_all(&engine->wait);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}
