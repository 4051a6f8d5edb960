// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hung engines and their reset under hardware scheduling (WDDM-174, WDDM-175, WDDM-176).
 *
 * ::
 *
 *            no progress for hung_us          reset            resume
 *    ACTIVE --------------------------> HUNG --------> held ----------> ACTIVE
 *       ^                                 |
 *       +-- abort, or a suspension -------+
 *
 * A forced reset is possible in any state; the queue that runs is aborted.
 */

#include "vgpu_types.h"

/*
 * The running queue makes no progress: report it once. The engine stays HUNG until the queue
 * has left it.
 */
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

/*
 * Return true if the queue caused the reset: it made no progress or ignored a suspension.
 * Otherwise the reset hits it as collateral.
 */
static bool reset_is_cause(const struct vgpu_queue *queue)
{
	return queue->engine->hung || queue->context->suspended;
}

/* Return true if a queue of the function runs on the engine. */
static bool reset_engine_runs(struct vgpu_engine *engine, struct vgpu *gpu)
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
	/* A queue of another function may have hung since the caller asked. */
	if (!force && !(engine->hung && engine->running->gpu == gpu)) {
		spin_unlock_irqrestore(&gpu->chip->sched, flags);
		return false;
	}

	engine->held++;
	queue = engine->running;
	/*
	 * Do not abort the paging ring, whose packets end in bounded time, nor a queue of
	 * another function, which resets its own queues.
	 */
	if (queue && queue->gpu == gpu && queue->context) {
		WRITE_ONCE(queue->abort, true);
		context = queue->context->os_handle;
		collateral = !reset_is_cause(queue);
	}

	wake_up_all(&engine->wait);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);

	wait_event(gpu->chip->queue_left, !reset_engine_runs(engine, gpu));
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
