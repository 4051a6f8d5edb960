// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run lists: which queue an engine executes next, and how queues enter and leave the lists.
 * The state of a queue changes under vgpu_chip.sched.
 */

#include <linux/kthread.h>

#include "vgpu_trace.h"
#include "vgpu_types.h"

/*
 * Load the valid write pointer: the client's while the queue is connected, the latched one
 * otherwise. Return false if the pointer is invalid.
 */
bool vgpu_sched_sane_write_ptr(struct vgpu_queue *queue, u64 *write_ptr)
{
	/* Acquire: the latch. Partner: vgpu_doorbell_disconnect(). */
	if (smp_load_acquire(&queue->connected)) {
		/* Acquire: the packets below it. Partner: the client's release of write_ptr. */
		*write_ptr = smp_load_acquire(&queue->control->write_ptr);
	} else {
		*write_ptr = READ_ONCE(queue->latched);
		/*
		 * The engine may have loaded the client's pointer during the disconnect and
		 * be past the latch. The ring is empty then.
		 */
		if ((s64)(*write_ptr - queue->read_ptr) < 0)
			*write_ptr = queue->read_ptr;
	}

	return *write_ptr % 8 == 0 && *write_ptr - queue->read_ptr <= queue->ring_size;
}

/*
 * Note up to where the client has written its ring. An engine whose thread wakes up late may begin
 * these packets at their nominal time, as they were there.
 */
void vgpu_sched_look(struct vgpu_queue *queue)
{
	u64 write_ptr;

	if (vgpu_sched_sane_write_ptr(queue, &write_ptr))
		queue->seen_ptr = write_ptr;
}

static bool sched_has_work_locked(struct vgpu_queue *queue)
{
	u64 write_ptr;

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (!queue->ring)
		return false;
	/* An invalid pointer counts as work, so that the engine reports the fault. */
	return !vgpu_sched_sane_write_ptr(queue, &write_ptr) || write_ptr != queue->read_ptr;
}

static bool sched_is_active(u32 state)
{
	return state == DRM_VFENCE_QUEUE_READY || state == DRM_VFENCE_QUEUE_RUNNING ||
	       state == DRM_VFENCE_QUEUE_BLOCKED;
}

/* Return to F0, or cancel the request for F1. */
void vgpu_sched_stay_in_f0_locked(struct vgpu_node *node)
{
	lockdep_assert_held(&node->engine->chip->sched);
	WRITE_ONCE(node->f1, false);
	WRITE_ONCE(node->wants_f1, false);
	wake_up_all(&node->engine->wait);
}

/* Every change of a queue's state comes here, because the node counts its active queues. */
void vgpu_sched_set_state_locked(struct vgpu_queue *queue, u32 state)
{
	struct vgpu_node *node = queue->node;

	lockdep_assert_held(&queue->gpu->chip->sched);
	if (sched_is_active(state) && !sched_is_active(queue->state)) {
		WRITE_ONCE(node->active, node->active + 1);
		vgpu_sched_stay_in_f0_locked(node);
	} else if (!sched_is_active(state) && sched_is_active(queue->state)) {
		WRITE_ONCE(node->active, node->active - 1);
		/* Wake the engine, so that it counts the idle time until it requests F1. */
		if (!node->active)
			wake_up_all(&node->engine->wait);
	}

	/* RUNNING begins the turn that is counted already; each change from there ends it. */
	if (state == DRM_VFENCE_QUEUE_RUNNING || queue->state == DRM_VFENCE_QUEUE_RUNNING)
		trace_vgpu_turn(queue, state);
	WRITE_ONCE(queue->state, state);
}

static void sched_list_locked(struct vgpu_queue *queue)
{
	lockdep_assert_held(&queue->gpu->chip->sched);
	vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_READY);
	/* A suspended queue enters the run list in vgpu_context_resume(). */
	if (vgpu_queue_is_suspended(queue))
		return;
	vgpu_fair_add_locked(queue);
	vgpu_vf_switch_update_locked(queue->node);
	wake_up_all(&queue->engine->wait);
}

/* From now on the queue can be executed, which it could not be before. */
void vgpu_sched_ready_locked(struct vgpu_queue *queue)
{
	lockdep_assert_held(&queue->gpu->chip->sched);
	queue->ready_at = ktime_get_ns();
	vgpu_sched_look(queue);
	sched_list_locked(queue);
}

/* Load the write pointer; an IDLE queue that has work becomes READY. */
void vgpu_sched_check_ring_locked(struct vgpu_queue *queue)
{
	lockdep_assert_held(&queue->gpu->chip->sched);
	if (queue->state == DRM_VFENCE_QUEUE_IDLE && sched_has_work_locked(queue))
		vgpu_sched_ready_locked(queue);
}

static bool sched_can_pick_locked(const struct vgpu_engine *engine, const struct vgpu *gpu)
{
	lockdep_assert_held(&engine->chip->sched);
	return gpu && !gpu->d3 && !gpu->resetting &&
	       !RB_EMPTY_ROOT(&gpu->node[engine->node].shares.tree.rb_root);
}

/*
 * Find the function of which the engine picks a queue next: the owner of its group, or any one in
 * turn.
 */
static struct vgpu *sched_next_function_locked(struct vgpu_engine *engine)
{
	struct vgpu_chip *chip = engine->chip;
	struct vgpu_group *group = engine->group;
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	if (engine->held)
		return NULL;
	if (group)
		return group->state == VGPU_VF_SWITCH_RUN && !vgpu_vf_switch_must_leave(engine) &&
		       sched_can_pick_locked(engine, group->owner) ? group->owner : NULL;

	for (i = 0; i < chip->functions; i++) {
		struct vgpu *gpu = chip->function[(engine->next_function + i) % chip->functions];

		if (sched_can_pick_locked(engine, gpu))
			return gpu;
	}
	return NULL;
}

/* Return true if there is a queue that the engine can pick. */
bool vgpu_sched_has_ready(struct vgpu_engine *engine)
{
	unsigned long flags;
	bool ready;

	spin_lock_irqsave(&engine->chip->sched, flags);
	ready = sched_next_function_locked(engine);
	if (!ready)
		vgpu_vf_switch_served_locked(engine);
	spin_unlock_irqrestore(&engine->chip->sched, flags);
	return ready;
}

/* Settle what the running queue has used with its client's virtual time. */
static void sched_charge_locked(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	lockdep_assert_held(&engine->chip->sched);
	vgpu_fair_charge_locked(queue, engine->used_ns);
	engine->used_ns = 0;
}

/* Return true if a queue of another client waits for the engine. */
bool vgpu_sched_is_wanted(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	unsigned long flags;
	struct vgpu *next;
	bool wanted;

	spin_lock_irqsave(&engine->chip->sched, flags);
	next = sched_next_function_locked(engine);
	wanted = next && (next != queue->gpu || vgpu_fair_is_wanted_locked(queue));
	spin_unlock_irqrestore(&engine->chip->sched, flags);
	return wanted;
}

/* The quantum of the running queue is over. Return true if it is another queue's turn. */
bool vgpu_sched_must_yield(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	struct vgpu *next;
	unsigned long flags;
	bool must;

	spin_lock_irqsave(&engine->chip->sched, flags);
	sched_charge_locked(engine, queue);
	must = vgpu_fair_must_yield_locked(queue);
	/* Functions take turns, and the clients of one function share its part. */
	next = sched_next_function_locked(engine);
	must = next && (next != queue->gpu || must);
	spin_unlock_irqrestore(&engine->chip->sched, flags);
	return must;
}

static void sched_acknowledge_locked(struct vgpu_context *context)
{
	struct vgpu_injections *injections = &context->gpu->injections;
	struct vgpu_cmp_post post = {
		.type = VGPU_IRQ_CONTEXT_SUSPENDED,
		.node = context->node,
		.queue = context->os_handle,
		.suspend_fence = context->suspend_fence,
	};

	lockdep_assert_held(&context->gpu->chip->sched);

	context->ack_due = false;
	if (vgpu_injection_take(injections, VGPU_INJECT_LOSE_SUSPEND))
		return;
	if (vgpu_injection_take(injections, VGPU_INJECT_WRONG_SUSPEND))
		post.suspend_fence += 1000;
	/* Release: the queues have left. Partner: vgpu_context_acknowledged(). */
	smp_store_release(&context->acknowledged, post.suspend_fence);
	vgpu_cmp_post(context->gpu, &post);
}

/* A queue of the context has left the engine. Acknowledge a suspension after the last one. */
static void sched_context_left_locked(struct vgpu_context *context)
{
	lockdep_assert_held(&context->gpu->chip->sched);
	if (!--context->running && context->ack_due)
		sched_acknowledge_locked(context);
}

/*
 * A queue has left its engine, in any state. @completed: it was not preempted, and not aborted
 * (WDDM-157).
 */
void vgpu_sched_left_locked(struct vgpu_queue *queue, bool completed)
{
	struct vgpu_engine *engine = queue->engine;
	struct vgpu_node *node = queue->node;

	lockdep_assert_held(&queue->gpu->chip->sched);
	/* What the step that blocked the queue has burned is not charged yet. */
	vgpu_time_charge(engine, queue, 0);
	sched_charge_locked(engine, queue);
	vgpu_vf_switch_left_locked(engine);
	WRITE_ONCE(engine->chip->busy, engine->chip->busy - 1);
	WRITE_ONCE(engine->running, NULL);
	WRITE_ONCE(engine->hung, false);
	if (completed)
		node->completed = queue->turn;
	if (queue->context)
		sched_context_left_locked(queue->context);
}

static void sched_run_locked(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	lockdep_assert_held(&engine->chip->sched);
	queue->turn = ++queue->node->submitted;
	vgpu_vf_switch_take_registers_locked(engine, queue);
	vgpu_time_not_before(engine, max(queue->ready_at, engine->open_at));
	if (engine->group)
		vgpu_time_not_before(engine, engine->group->run_at);
	vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_RUNNING);
	WRITE_ONCE(engine->running, queue);
	WRITE_ONCE(engine->turn_from, KTIME_MAX);
	WRITE_ONCE(engine->chip->busy, engine->chip->busy + 1);
	if (queue->context)
		queue->context->running++;
}

/*
 * Take the next queue off the run list. It is RUNNING, and only the engine executes it. A queue
 * from before a reset of its function is dropped: the engine asks for another one.
 */
struct vgpu_queue *vgpu_sched_pick(struct vgpu_engine *engine)
{
	struct vgpu_queue *queue = NULL;
	unsigned long flags;
	struct vgpu *gpu;

	spin_lock_irqsave(&engine->chip->sched, flags);
	gpu = sched_next_function_locked(engine);
	if (gpu) {
		engine->next_function = gpu->index + 1;
		queue = vgpu_fair_take_locked(&gpu->node[engine->node]);
		if (queue->generation == gpu->generation) {
			sched_run_locked(engine, queue);
		} else {
			vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_ABORTED);
			vgpu_vf_switch_update_locked(queue->node);
			queue = NULL;
		}
	}
	spin_unlock_irqrestore(&engine->chip->sched, flags);

	return queue;
}

/*
 * A queue that a world switch has stopped is the first one when its function is back, if its turn
 * is not over: with draws that are longer than a turn it would have the engine for ever.
 */
static void sched_preempted_locked(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	lockdep_assert_held(&engine->chip->sched);
	if (queue->quantum_ns && vgpu_vf_switch_must_leave(engine) &&
	    !vgpu_queue_is_suspended(queue)) {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_READY);
		vgpu_fair_add_first_locked(queue);
		vgpu_vf_switch_update_locked(queue->node);
	} else {
		sched_list_locked(queue);
	}
}

/* The engine gives up a RUNNING queue. Set its next state; arm the doorbell of an idle one. */
void vgpu_sched_put(struct vgpu_engine *engine, struct vgpu_queue *queue, enum vgpu_step why)
{
	struct vgpu_cmp_post fault = { .type = VGPU_IRQ_HWQUEUE_FAULTED, .node = engine->node };
	void *arm = NULL;
	struct vgpu *gpu;
	unsigned long flags;

	/* vgpu_fence_block() has set the state of a blocked queue; do not access it. */
	if (why == VGPU_STEP_BLOCKED)
		return;

	gpu = queue->gpu;
	spin_lock_irqsave(&gpu->chip->sched, flags);
	if (why == VGPU_STEP_ABORTED && engine->asked)
		queue->kept_ns = vgpu_time_spent(engine) - engine->asked_at;
	vgpu_sched_left_locked(queue, why == VGPU_STEP_IDLE || why == VGPU_STEP_FAULT);
	if (why == VGPU_STEP_FAULT) {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_FAULTED);
		fault.queue = queue->os_handle;
		vgpu_cmp_post(gpu, &fault);
		vgpu_reset_faulted_locked(engine, queue);
	} else if (queue->abort || why == VGPU_STEP_ABORTED) {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_ABORTED);
	} else if (why == VGPU_STEP_PREEMPTED) {
		sched_preempted_locked(engine, queue);
	} else {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_IDLE);
		/*
		 * A connect or a disconnect while the queue ran may have brought work. A kernel
		 * ring is not armed, so a ring by call while the queue ran is lost unless the
		 * write pointer is checked here. For all other queues vgpu_doorbell_recheck()
		 * checks it once the page is armed.
		 */
		if (!queue->connected || queue->kernel)
			vgpu_sched_check_ring_locked(queue);
		else
			arm = queue->cookie;
	}

	/* Make the call under the lock: without it vgpu_queue_abort() may free the doorbell. */
	if (arm)
		gpu->ops->arm_doorbell(gpu->host, arm);
	/* Only now: a queue that goes on is no edge. */
	vgpu_vf_switch_update_locked(queue->node);
	wake_up_all(&gpu->chip->queue_left);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}
