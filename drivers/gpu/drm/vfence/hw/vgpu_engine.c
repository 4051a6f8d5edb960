// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines: the thread that picks queues, steps them and lets GPU time pass.
 */

#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "vgpu_types.h"

static bool aborted(struct vgpu_queue *queue)
{
	return READ_ONCE(queue->abort) || kthread_should_stop();
}

/* Must it leave, though it has work? */
static bool leaving(struct vgpu_queue *queue)
{
	return vgpu_queue_is_suspended(queue) && !READ_ONCE(queue->gpu->knobs.ignore_suspend);
}

static bool interrupted(struct vgpu_queue *queue)
{
	return aborted(queue) || leaving(queue);
}

/*
 * Let time pass. Small costs add up first, as a timer costs more than they do; an
 * abort or a suspension cuts any sleep short, and what has not passed of a
 * suspended queue's time passes when it comes back.
 */
static void charge(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 cost)
{
	ktime_t now = ktime_get();

	if (ktime_before(engine->free_at, now))
		engine->free_at = now;
	engine->free_at = ktime_add_ns(engine->free_at, cost);
	WRITE_ONCE(queue->node->counters.busy_ns, queue->node->counters.busy_ns + cost);
	WRITE_ONCE(queue->busy_ns, queue->busy_ns + cost);
	if (ktime_sub(engine->free_at, now) <= VGPU_SLACK_NS)
		return;
	/* Either result is fine: the next step looks at what has happened. */
	(void)wait_event_interruptible_hrtimeout(engine->wait, interrupted(queue),
						 ktime_sub(engine->free_at, now));
	if (!interrupted(queue))
		return;
	now = ktime_get();
	if (ktime_after(engine->free_at, now)) {
		u64 owed = ktime_to_ns(ktime_sub(engine->free_at, now));

		/* Not passed, so not charged. */
		WRITE_ONCE(queue->node->counters.busy_ns, queue->node->counters.busy_ns - owed);
		WRITE_ONCE(queue->busy_ns, queue->busy_ns - min(owed, queue->busy_ns));
		queue->exec.owed_ns = owed;
	}
	engine->free_at = now;
}

/* The time that a suspension cut off. */
static void pay(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	u64 owed = queue->exec.owed_ns;

	queue->exec.owed_ns = 0;
	if (owed)
		charge(engine, queue, owed);
}

/* May the queue be taken off the engine between two steps? */
static bool may_preempt(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	/* What gets nowhere stays where it is seen, what does not leave likewise. */
	if (READ_ONCE(engine->hung) || vgpu_queue_is_suspended(queue))
		return false;
	return engine->class_id != DRM_VFENCE_NODE_MM || !queue->exec.in_flight;
}

static enum vgpu_step run(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	enum vgpu_step step;
	u64 cost;

	engine->quantum_end = ktime_add_ns(ktime_get(), VGPU_QUANTUM_NS);
	pay(engine, queue);
	for (;;) {
		if (aborted(queue))
			return VGPU_STEP_ABORTED;
		if (interrupted(queue))
			return VGPU_STEP_PREEMPTED;
		cost = 0;
		step = vgpu_exec_step(engine, queue, &cost);
		/* A blocked queue is not ours any more: do not look at it. */
		if (step == VGPU_STEP_BLOCKED)
			return step;
		if (cost)
			charge(engine, queue, cost);
		if (step == VGPU_STEP_STALLED && !interrupted(queue))
			vgpu_reset_hung(engine, queue);
		else if (step != VGPU_STEP_MORE && step != VGPU_STEP_STALLED)
			return step;
		if (ktime_after(ktime_get(), engine->quantum_end) &&
		    vgpu_sched_contended(engine) && may_preempt(engine, queue))
			return VGPU_STEP_PREEMPTED;
		cond_resched();
	}
}

static bool has_news(struct vgpu_engine *engine)
{
	return kthread_should_stop() || vgpu_sched_contended(engine);
}

/* Idle, and after a while willing to be powered down. */
static void doze(struct vgpu_engine *engine)
{
	u64 ns = (u64)engine->chip->f1_idle_us * NSEC_PER_USEC;

	if (wait_event_interruptible_hrtimeout(engine->wait, has_news(engine),
					       ns_to_ktime(ns)) == -ETIME)
		vgpu_power_ask_f1(engine);
}

static int engine_thread(void *data)
{
	struct vgpu_engine *engine = data;
	struct vgpu_queue *queue;

	/* GPU time is what the packet says, not up to 50 us more. */
	current->timer_slack_ns = 1;
	while (!kthread_should_stop()) {
		queue = vgpu_sched_pick(engine);
		if (queue)
			vgpu_sched_put(engine, queue, run(engine, queue));
		else if (vgpu_power_may_ask_f1(engine))
			doze(engine);
		else
			wait_event_interruptible(engine->wait, has_news(engine) ||
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
