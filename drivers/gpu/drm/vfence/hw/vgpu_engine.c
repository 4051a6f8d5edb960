// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines: the thread that picks queues, executes their steps and lets GPU time pass.
 */

#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "vgpu_types.h"

static bool engine_is_aborting(struct vgpu_queue *queue)
{
	return READ_ONCE(queue->abort) || kthread_should_stop();
}

/* Return true if the engine must preempt the queue, even inside a packet. */
static bool engine_must_preempt(struct vgpu_queue *queue)
{
	return vgpu_queue_is_suspended(queue) && !READ_ONCE(queue->gpu->knobs.ignore_suspend);
}

static bool engine_must_stop(struct vgpu_queue *queue)
{
	return engine_is_aborting(queue) || engine_must_preempt(queue);
}

/*
 * Charge GPU time to a queue and let it pass. Small costs add up before the engine sleeps,
 * because a timer costs more than they do. An abort or a suspension ends the sleep early; the
 * remaining time of a suspended queue passes after the resume.
 */
static void engine_charge(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 cost)
{
	ktime_t now = ktime_get();

	if (ktime_before(engine->free_at, now))
		engine->free_at = now;
	engine->free_at = ktime_add_ns(engine->free_at, cost);

	WRITE_ONCE(queue->node->counters.busy_ns, queue->node->counters.busy_ns + cost);
	WRITE_ONCE(queue->busy_ns, queue->busy_ns + cost);
	engine->used_ns += cost;
	if (ktime_sub(engine->free_at, now) <= VGPU_SLACK_NS)
		return;

	/* The result does not matter: the engine tests the reasons below and at each step. */
	(void)wait_event_interruptible_hrtimeout(engine->wait, engine_must_stop(queue),
						 ktime_sub(engine->free_at, now));
	if (!engine_must_stop(queue))
		return;

	now = ktime_get();
	if (ktime_after(engine->free_at, now)) {
		u64 remaining = ktime_to_ns(ktime_sub(engine->free_at, now));

		/* Do not charge time that has not passed. */
		WRITE_ONCE(queue->node->counters.busy_ns,
			   queue->node->counters.busy_ns - remaining);
		WRITE_ONCE(queue->busy_ns, queue->busy_ns - min(remaining, queue->busy_ns));
		engine->used_ns -= min(remaining, engine->used_ns);
		queue->exec.remaining_ns = remaining;
	}

	engine->free_at = now;
}

/* Let the time pass that remained when the queue was suspended. */
static void engine_charge_remaining(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	u64 remaining = queue->exec.remaining_ns;

	queue->exec.remaining_ns = 0;
	if (remaining)
		engine_charge(engine, queue, remaining);
}

static void engine_begin_quantum(struct vgpu_engine *engine)
{
	engine->quantum_end = ktime_add_ns(ktime_get(), VGPU_QUANTUM_NS);
}

/* Return true if another queue may get the engine between two steps. */
static bool engine_may_preempt(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	/*
	 * Do not preempt a hung queue or one that ignores a suspend: the reset must find it on
	 * its engine.
	 */
	if (READ_ONCE(engine->hung) || vgpu_queue_is_suspended(queue))
		return false;
	return engine->class_id != DRM_VFENCE_NODE_MM || !queue->exec.in_flight;
}

/* Return true between two steps if another queue must get the engine. */
static bool engine_turn_is_over(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	if (!ktime_after(ktime_get(), engine->quantum_end) || !engine_may_preempt(engine, queue))
		return false;
	if (vgpu_sched_must_yield(engine, queue))
		return true;
	engine_begin_quantum(engine);
	return false;
}

static enum vgpu_step engine_run(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	enum vgpu_step step;
	u64 cost;

	engine_begin_quantum(engine);
	engine_charge_remaining(engine, queue);

	for (;;) {
		if (engine_is_aborting(queue))
			return VGPU_STEP_ABORTED;
		if (engine_must_stop(queue))
			return VGPU_STEP_PREEMPTED;

		cost = 0;
		step = vgpu_exec_step(engine, queue, &cost);
		/* Do not access a blocked queue: it may run elsewhere or be freed already. */
		if (step == VGPU_STEP_BLOCKED)
			return step;

		if (cost)
			engine_charge(engine, queue, cost);
		if (step == VGPU_STEP_STALLED && !engine_must_stop(queue))
			vgpu_reset_hung(engine, queue);
		else if (step != VGPU_STEP_MORE && step != VGPU_STEP_STALLED)
			return step;

		if (engine_turn_is_over(engine, queue))
			return VGPU_STEP_PREEMPTED;
		cond_resched();
	}
}

static bool engine_must_wake(struct vgpu_engine *engine)
{
	return kthread_should_stop() || vgpu_sched_has_ready(engine);
}

/* Sleep until there is work. If f1_idle_us passes first, request F1. */
static void engine_sleep_until_f1(struct vgpu_engine *engine)
{
	u64 ns = (u64)engine->chip->f1_idle_us * NSEC_PER_USEC;

	if (wait_event_interruptible_hrtimeout(engine->wait, engine_must_wake(engine),
					       ns_to_ktime(ns)) == -ETIME)
		vgpu_power_ask_f1(engine);
}

static int engine_thread(void *data)
{
	struct vgpu_engine *engine = data;
	struct vgpu_queue *queue;

	/* The default slack would make GPU time up to 50 us longer. */
	current->timer_slack_ns = 1;

	while (!kthread_should_stop()) {
		queue = vgpu_sched_pick(engine);
		if (queue)
			vgpu_sched_put(engine, queue, engine_run(engine, queue));
		else if (vgpu_power_may_ask_f1(engine))
			engine_sleep_until_f1(engine);
		else
			wait_event_interruptible(engine->wait, engine_must_wake(engine) ||
						 vgpu_power_may_ask_f1(engine));
	}

	return 0;
}

int vgpu_engine_start(struct vgpu_engine *engine)
{
	struct task_struct *task;

	task = kthread_run(engine_thread, engine, "%s-engine%u", engine->chip->name, engine->node);
	if (IS_ERR(task))
		return PTR_ERR(task);
	engine->task = task;
	return 0;
}

void vgpu_engine_stop(struct vgpu_engine *engine)
{
	if (engine->task)
		kthread_stop(engine->task);
	engine->task = NULL;
}

void vgpu_engine_query_node(struct vgpu *gpu, unsigned int node, struct drm_vfence_node_info *info)
{
	const struct drm_vfence_node_info *counters = &gpu->node[node].counters;

	*info = (struct drm_vfence_node_info){
		.class_id = gpu->config.node_class[node],
		.packets = READ_ONCE(counters->packets),
		.signals = READ_ONCE(counters->signals),
		.suppressed = READ_ONCE(counters->suppressed),
		.log_packets = READ_ONCE(counters->log_packets),
		.waits_stalled = READ_ONCE(counters->waits_stalled),
		.busy_ns = READ_ONCE(counters->busy_ns),
	};
}

enum vgpu_engine_state vgpu_engine_query_state(struct vgpu *gpu, unsigned int node)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];
	enum vgpu_engine_state state = VGPU_ENGINE_ACTIVE;
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	if (engine->hung && engine->running->gpu == gpu)
		state = VGPU_ENGINE_HUNG;
	else if (gpu->node[node].wants_f1)
		state = VGPU_ENGINE_TRANSITION_TO_F1;
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return state;
}
