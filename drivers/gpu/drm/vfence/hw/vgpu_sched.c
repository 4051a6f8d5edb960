// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run lists: which queue an engine works on next, and how queues enter and
 * leave them. All states change under vgpu.sched.
 */

#include <linux/kthread.h>

#include "vgpu_types.h"

/*
 * The write pointer the hardware goes by: the client's while connected, the
 * latched one otherwise. False if it cannot be right.
 */
bool vgpu_sched_sane_write_ptr(struct vgpu_queue *queue, u64 *write_ptr)
{
	/* Acquire: the latch. Partner: vgpu_doorbell_disconnect(). */
	if (smp_load_acquire(&queue->connected)) {
		/* Acquire: the packets below it. Partner: the client's release. */
		*write_ptr = smp_load_acquire(&queue->control->write_ptr);
	} else {
		*write_ptr = READ_ONCE(queue->latched);
		/*
		 * The engine may have sampled the client's pointer while it was
		 * being disconnected, and be past the latch: nothing is left then.
		 */
		if ((s64)(*write_ptr - queue->read_ptr) < 0)
			*write_ptr = queue->read_ptr;
	}
	return *write_ptr % 8 == 0 && *write_ptr - queue->read_ptr <= queue->ring_size;
}

static bool has_work_locked(struct vgpu_queue *queue)
{
	u64 write_ptr;

	if (!queue->ring)
		return false;
	/* A senseless pointer is work, too: the engine finds the fault. */
	return !vgpu_sched_sane_write_ptr(queue, &write_ptr) || write_ptr != queue->read_ptr;
}

static bool is_active(u32 state)
{
	return state == DRM_VFENCE_QUEUE_READY || state == DRM_VFENCE_QUEUE_RUNNING ||
	       state == DRM_VFENCE_QUEUE_BLOCKED;
}

/* Back to F0, or never mind that it was asked to leave. */
void vgpu_sched_stay_in_f0_locked(struct vgpu_node *node)
{
	lockdep_assert_held(&node->engine->chip->sched);
	WRITE_ONCE(node->f1, false);
	WRITE_ONCE(node->wants_f1, false);
	wake_up_all(&node->engine->wait);
}

/* All changes of a queue's state: its engine counts who has work. */
void vgpu_sched_set_state_locked(struct vgpu_queue *queue, u32 state)
{
	struct vgpu_node *node = queue->node;

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (is_active(state) && !is_active(queue->state)) {
		WRITE_ONCE(node->active, node->active + 1);
		vgpu_sched_stay_in_f0_locked(node);
	} else if (!is_active(state) && is_active(queue->state)) {
		WRITE_ONCE(node->active, node->active - 1);
		/* It may want to doze. */
		if (!node->active)
			wake_up_all(&node->engine->wait);
	}
	WRITE_ONCE(queue->state, state);
}

void vgpu_sched_ready_locked(struct vgpu_queue *queue)
{
	lockdep_assert_held(&queue->gpu->chip->sched);
	vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_READY);
	/* A suspended one waits for vgpu_context_resume(). */
	if (vgpu_queue_is_suspended(queue))
		return;
	list_add_tail(&queue->run_link, &queue->node->run);
	wake_up_all(&queue->engine->wait);
}

void vgpu_sched_look_locked(struct vgpu_queue *queue)
{
	if (queue->state == DRM_VFENCE_QUEUE_IDLE && has_work_locked(queue))
		vgpu_sched_ready_locked(queue);
}

/* The function whose turn it is, of those that have a READY queue for the engine. */
static struct vgpu *sched_next_function_locked(struct vgpu_engine *engine)
{
	struct vgpu_chip *chip = engine->chip;
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	for (i = 0; i < chip->functions && !engine->held; i++) {
		struct vgpu *gpu = chip->function[(engine->turn + i) % chip->functions];

		if (gpu && !gpu->d3 && !list_empty(&gpu->node[engine->node].run))
			return gpu;
	}
	return NULL;
}

/* Is there a queue that the engine could pick? */
bool vgpu_sched_contended(struct vgpu_engine *engine)
{
	unsigned long flags;
	bool contended;

	spin_lock_irqsave(&engine->chip->sched, flags);
	contended = sched_next_function_locked(engine);
	spin_unlock_irqrestore(&engine->chip->sched, flags);
	return contended;
}

static void context_acknowledge_locked(struct vgpu_context *context)
{
	struct vgpu_knobs *knobs = &context->gpu->knobs;
	struct vgpu_post post = {
		.type = VGPU_IRQ_CONTEXT_SUSPENDED,
		.node = context->node,
		.queue = context->os_handle,
		.suspend_fence = context->suspend_fence,
	};

	lockdep_assert_held(&context->gpu->chip->sched);
	context->ack_due = false;
	if (READ_ONCE(knobs->lose_suspend) && xchg(&knobs->lose_suspend, false))
		return;
	if (READ_ONCE(knobs->wrong_suspend) && xchg(&knobs->wrong_suspend, false))
		post.suspend_fence += 1000;
	/* Release: the queues have left. Partner: vgpu_context_acknowledged(). */
	smp_store_release(&context->acknowledged, post.suspend_fence);
	vgpu_cmp_post(context->gpu, &post);
}

/* One of its queues has left the engine, in whatever state. */
static void context_left_locked(struct vgpu_context *context)
{
	lockdep_assert_held(&context->gpu->chip->sched);
	if (!--context->running && context->ack_due)
		context_acknowledge_locked(context);
}

/* A queue has left its engine, in whatever state. */
void vgpu_sched_left_locked(struct vgpu_queue *queue)
{
	struct vgpu_engine *engine = queue->engine;

	lockdep_assert_held(&queue->gpu->chip->sched);
	WRITE_ONCE(engine->running, NULL);
	WRITE_ONCE(engine->hung, false);
	if (queue->context)
		context_left_locked(queue->context);
}

/* Take the next queue off the run list; it is RUNNING and the engine's own. */
struct vgpu_queue *vgpu_sched_pick(struct vgpu_engine *engine)
{
	struct vgpu_queue *queue = NULL;
	unsigned long flags;
	struct vgpu *gpu;

	spin_lock_irqsave(&engine->chip->sched, flags);
	gpu = sched_next_function_locked(engine);
	if (gpu) {
		engine->turn = gpu->index + 1;
		queue = list_first_entry(&gpu->node[engine->node].run, struct vgpu_queue,
					 run_link);
		list_del_init(&queue->run_link);
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_RUNNING);
		WRITE_ONCE(engine->running, queue);
		if (queue->context)
			queue->context->running++;
	}
	spin_unlock_irqrestore(&engine->chip->sched, flags);
	return queue;
}

/* The engine lets go of a RUNNING queue. */
void vgpu_sched_put(struct vgpu_engine *engine, struct vgpu_queue *queue, enum vgpu_step why)
{
	struct vgpu_post fault = { .type = VGPU_IRQ_HWQUEUE_FAULTED, .node = engine->node };
	struct vgpu *gpu = queue->gpu;
	void *arm = NULL;
	unsigned long flags;

	/* Blocked queues were handed over in vgpu_fence_block(). */
	if (why == VGPU_STEP_BLOCKED)
		return;
	spin_lock_irqsave(&gpu->chip->sched, flags);
	vgpu_sched_left_locked(queue);
	if (why == VGPU_STEP_FAULT) {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_FAULTED);
		fault.queue = queue->os_handle;
		vgpu_cmp_post(gpu, &fault);
	} else if (queue->abort || why == VGPU_STEP_ABORTED) {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_ABORTED);
	} else if (why == VGPU_STEP_PREEMPTED) {
		vgpu_sched_ready_locked(queue);
	} else {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_IDLE);
		/*
		 * A connect or a disconnect while we ran may have brought work.
		 * What a mere store of the write pointer brought is found by
		 * vgpu_doorbell_recheck() once the page is armed. A kernel ring
		 * is not armed: a ring by call that came while we ran is lost
		 * unless we look.
		 */
		if (!queue->connected || queue->kernel)
			vgpu_sched_look_locked(queue);
		else
			arm = queue->cookie;
	}
	/*
	 * Under the lock: once it is dropped an abort may return and the
	 * doorbell go.
	 */
	if (arm)
		gpu->ops->arm_doorbell(gpu->host, arm);
	wake_up_all(&gpu->chip->stopped);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

