// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines: the thread that picks queues, executes their steps and lets GPU time pass.
 */

#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "vgpu_types.h"

/* An injection: the reset of the engine finds no end, until the GPU is reset. */
static bool engine_resists(const struct vgpu_queue *queue)
{
	return vgpu_injected(&queue->gpu->injections, VGPU_INJECT_SLOW_RESET) &&
	       READ_ONCE(queue->node->holds) && !READ_ONCE(queue->gpu->resetting);
}

static bool engine_is_aborting(struct vgpu_queue *queue)
{
	return (READ_ONCE(queue->abort) && !engine_resists(queue)) || kthread_should_stop();
}

/* Return true if the driver has asked for a sign of life, and may have one. */
static bool engine_must_answer(const struct vgpu_engine *engine)
{
	return engine->answered != READ_ONCE(engine->requested) && !engine->overstayed;
}

static void engine_answer(struct vgpu_engine *engine)
{
	if (engine_must_answer(engine))
		WRITE_ONCE(engine->answered, READ_ONCE(engine->requested));
}

/*
 * An injection stops the engine until its reset, or until the engine is switched off. During the
 * reset of the GPU, which waits for the engine, the injection does nothing.
 */
static bool engine_is_stopped(const struct vgpu_engine *engine, const struct vgpu_queue *queue)
{
	u32 nodes = vgpu_injected(&queue->gpu->injections, VGPU_INJECT_STOP_ENGINES);

	return nodes & BIT(engine->node) && !READ_ONCE(queue->gpu->resetting) &&
	       !kthread_should_stop();
}

static void engine_stay_stopped(struct vgpu_engine *engine, const struct vgpu_queue *queue)
{
	if (!engine_is_stopped(engine, queue))
		return;

	WRITE_ONCE(engine->stopped, true);
	/* A test may switch the injection off, which does not wake the engine. */
	while (engine_is_stopped(engine, queue))
		wait_event_interruptible_timeout(engine->wait,
						 !engine_is_stopped(engine, queue), HZ / 100);
	WRITE_ONCE(engine->stopped, false);
}

/* Return true if the engine must preempt the queue, even inside a packet. */
static bool engine_must_preempt(struct vgpu_queue *queue)
{
	bool preempt = READ_ONCE(queue->node->preempt) && !queue->exec.stalled;

	return (vgpu_queue_is_suspended(queue) || preempt) &&
	       !vgpu_injected(&queue->gpu->injections, VGPU_INJECT_IGNORE_SUSPEND);
}

static bool engine_must_stop(struct vgpu_queue *queue)
{
	return engine_is_aborting(queue) || engine_must_preempt(queue);
}

/* Return what the engine does for the queue. @passing: charged time has yet to pass. */
static enum vgpu_work engine_work(const struct vgpu_queue *queue, bool passing)
{
	enum vgpu_work work = vgpu_exec_work(queue);

	return passing && work == VGPU_WORK_BETWEEN ? VGPU_WORK_INSIDE : work;
}

/* Return that between two steps. */
static enum vgpu_work engine_work_between(const struct vgpu_queue *queue)
{
	return engine_work(queue, queue->exec.remaining_ns && !queue->exec.postponed);
}

/*
 * Return true if another queue may get the engine at this point. Do not preempt a hung queue or
 * one that ignores a suspension: the reset must find it on its engine.
 */
static bool engine_may_yield(struct vgpu_engine *engine, struct vgpu_queue *queue,
			     enum vgpu_work work)
{
	if (READ_ONCE(engine->hung) || vgpu_queue_is_suspended(queue))
		return false;
	return vgpu_stop_allowed(engine->class_id, work);
}

/* A turn begins when the time that is charged already has passed. */
static void engine_begin_quantum(struct vgpu_engine *engine, u64 ns)
{
	engine->quantum_end = ktime_add_ns(ktime_get(), vgpu_time_ahead(engine) + ns);
	engine->asked = false;
}

/* Return true if another queue, or another function, waits for the engine. */
static bool engine_is_wanted(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	return vgpu_vf_switch_must_leave(engine) || vgpu_sched_is_wanted(engine, queue);
}

/* Save the rest of the queue's quantum: the queue goes on with it after the world switch. */
static void engine_save_quantum(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	s64 left = ktime_to_ns(ktime_sub(engine->quantum_end, ktime_get()));

	queue->quantum_ns = max_t(s64, left, 0);
}

static bool engine_quantum_is_over(const struct vgpu_engine *engine, ktime_t now)
{
	return ktime_after(now, engine->quantum_end);
}

/* Note from when on the queue keeps another client off the engine. */
static void engine_note_request(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	bool wanted = engine_is_wanted(engine, queue);

	if (wanted && !engine->asked)
		engine->asked_at = vgpu_time_spent(engine);
	engine->asked = wanted;
}

/* Return the time for which the queue may still keep others off the engine, in ns. */
static u64 engine_grace(struct vgpu_engine *engine)
{
	u64 limit = (u64)engine->chip->preempt_us * NSEC_PER_USEC;
	u64 spent;

	if (!limit || !engine->asked)
		return KTIME_MAX;
	spent = vgpu_time_spent(engine) - engine->asked_at;
	return limit - min(spent, limit);
}

/*
 * The queue was asked to leave and has not come to a point where it may stop. The limit is GPU
 * time, not time of the host: a queue must not fault because the host is busy.
 */
static bool engine_overstayed(struct vgpu_engine *engine, struct vgpu_queue *queue,
			      enum vgpu_work work)
{
	/* The ring of the kernel is not taken off: the driver watches it. */
	if (!queue->context || engine_grace(engine) || engine_may_yield(engine, queue, work))
		return false;
	engine_note_request(engine, queue);
	return engine->asked;
}

/*
 * The GPU itself stops a queue that has overstayed. If that does not work, which an injection
 * brings about, the engine does not answer the driver until the queue has left.
 */
static bool engine_must_evict(struct vgpu_engine *engine, struct vgpu_queue *queue,
			      enum vgpu_work work)
{
	if (!engine_overstayed(engine, queue, work))
		return false;
	if (!vgpu_injected(&queue->gpu->injections, VGPU_INJECT_IGNORE_LIMIT))
		return true;
	/* It stays so while the engine is held, which nobody wants then. */
	WRITE_ONCE(engine->overstayed, true);
	return false;
}

/*
 * Return true if a world switch was due before the step in flight began, as far as GPU time goes:
 * the thread, or the host, has woken up late. Then it counts as not begun.
 */
static bool engine_began_too_late(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	if (!engine->group || !vgpu_vf_switch_must_leave(engine) ||
	    !engine_may_yield(engine, queue, vgpu_exec_work(queue)))
		return false;
	return ktime_to_ns(engine->begun_at) >= READ_ONCE(engine->group->leave_at);
}

/* The queue leaves in the middle of a step, whose rest passes when it is back. */
static void engine_interrupt_step(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	bool postponed = engine_began_too_late(engine, queue);
	ktime_t at = postponed ? engine->begun_at : ktime_get();

	queue->exec.postponed = postponed;
	queue->exec.remaining_ns = vgpu_time_refund(engine, queue, at);
	/* What had passed of a postponed step has not been spent. */
	engine->asked_at = min(engine->asked_at, vgpu_time_spent(engine));
}

/* Return true if the queue must leave although its charged time has not passed. */
static bool engine_must_leave_early(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	enum vgpu_work work = engine_work(queue, true);

	if (engine_must_stop(queue) || engine_must_evict(engine, queue, work) ||
	    (engine->asked && engine_began_too_late(engine, queue)))
		return true;
	/* A copy engine stops at once, also while its thread rests between two packets. */
	return engine->asked && engine->class_id == DRM_VFENCE_NODE_COPY &&
	       engine_may_yield(engine, queue, work);
}

/* Return true if a world switch has begun that the engine has not noted. */
static bool engine_must_note(const struct vgpu_engine *engine)
{
	return !engine->asked && vgpu_vf_switch_must_leave(engine);
}

/* Sleep until the charged time has passed, or until there is a reason to look again. */
static void engine_sleep(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	bool wanted = vgpu_sched_is_wanted(engine, queue);
	u64 grace = engine_grace(engine);
	u64 seen = queue->seen_ptr, ns;
	ktime_t begun;

	vgpu_sched_look(queue);
	ns = vgpu_time_ahead(engine);
	/* If the time has passed, what the look has found may have come after its end. */
	if (!ns) {
		queue->seen_ptr = seen;
		return;
	}

	/* Without grace the queue is at a point where it may stop. */
	if (grace)
		ns = min(ns, grace);
	if (wanted && !engine->asked) {
		s64 quantum = ktime_to_ns(ktime_sub(engine->quantum_end, ktime_get()));

		ns = min_t(u64, ns, max_t(s64, quantum, 0) + 1);
	}

	begun = ktime_get();
	/* The result does not matter: the caller tests the reasons. */
	(void)wait_event_interruptible_hrtimeout(engine->wait, engine_must_stop(queue) ||
						 engine_must_answer(engine) ||
						 engine_must_note(engine) ||
						 (!wanted && vgpu_sched_is_wanted(engine, queue)),
						 ns_to_ktime(ns));
	vgpu_time_slept(engine, begun);
	engine_stay_stopped(engine, queue);
	engine_answer(engine);
}

/*
 * Let the charged time pass. If the queue leaves early, the rest passes when it is back. @stepped:
 * it is the time of a step of this turn.
 */
static void engine_pass_time(struct vgpu_engine *engine, struct vgpu_queue *queue, bool stepped)
{
	while (vgpu_time_ahead(engine)) {
		if (stepped)
			vgpu_vf_switch_served(engine);
		if (engine_quantum_is_over(engine, ktime_get()) ||
		    vgpu_vf_switch_must_leave(engine))
			engine_note_request(engine, queue);
		if (engine_must_leave_early(engine, queue))
			break;
		engine_sleep(engine, queue);
	}

	if (vgpu_time_ahead(engine))
		engine_interrupt_step(engine, queue);
}

/*
 * Charge a step, and let its time pass. Small costs add up before the engine sleeps, because a
 * timer costs more than they do.
 */
static void engine_charge(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 cost)
{
	vgpu_time_charge(engine, queue, cost);
	if (vgpu_time_charged(engine) > VGPU_SLACK_NS)
		engine_pass_time(engine, queue, true);
}

/* Let the time pass that remained when the queue left the engine. */
static void engine_charge_remaining(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	u64 remaining = queue->exec.remaining_ns;

	queue->exec.remaining_ns = 0;
	engine->works = remaining;
	engine_charge(engine, queue, remaining);
}

/* Return true between two steps if another queue must get the engine. */
static bool engine_turn_is_over(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	bool leaves = vgpu_vf_switch_must_leave(engine);

	/* The clock was read when the step was charged. */
	if (!leaves && !engine->asked && !engine_quantum_is_over(engine, engine->stepped_at))
		return false;

	engine_note_request(engine, queue);
	if (!engine_may_yield(engine, queue, engine_work_between(queue)))
		return false;
	if (leaves)
		engine_save_quantum(engine, queue);
	if (leaves || vgpu_sched_must_yield(engine, queue))
		return true;

	engine_begin_quantum(engine, VGPU_QUANTUM_NS);
	return false;
}

/* Execute one step, and let its time pass. */
static enum vgpu_step engine_step(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	u64 cost = 0;
	enum vgpu_step step = vgpu_exec_step(engine, queue, &cost);

	/* Do not access a blocked queue: it may run elsewhere or be freed already. */
	if (step == VGPU_STEP_BLOCKED) {
		vgpu_vf_switch_served(engine);
		return step;
	}

	if (step == VGPU_STEP_EARLY) {
		engine_pass_time(engine, queue, engine->worked);
		vgpu_time_bill_sleep(engine);
		/* If the queue must leave, the time has not passed. */
		return queue->exec.remaining_ns || vgpu_time_works(engine) ? VGPU_STEP_MORE : step;
	}

	if (step == VGPU_STEP_MORE)
		step = vgpu_exec_short(engine, queue, &cost);
	WRITE_ONCE(queue->exec.stalled, step == VGPU_STEP_STALLED);
	engine_charge(engine, queue, cost);
	/* Only now: the first step of a turn is not taken back. */
	vgpu_vf_switch_served(engine);
	if (step != VGPU_STEP_STALLED)
		return step;
	if (!engine_must_stop(queue) &&
	    !vgpu_injected(&queue->gpu->injections, VGPU_INJECT_END_HANGS))
		vgpu_reset_hung(engine, queue);
	return VGPU_STEP_MORE;
}

static enum vgpu_step engine_run(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	enum vgpu_step step;

	vgpu_time_begin_turn(engine, queue);
	engine_begin_quantum(engine, queue->quantum_ns ?: VGPU_QUANTUM_NS);
	queue->quantum_ns = 0;
	WRITE_ONCE(engine->overstayed, false);
	engine_charge_remaining(engine, queue);

	for (;;) {
		engine_stay_stopped(engine, queue);
		engine_answer(engine);
		if (engine_must_stop(queue))
			return engine_is_aborting(queue) ? VGPU_STEP_ABORTED : VGPU_STEP_PREEMPTED;
		if (engine_must_evict(engine, queue, engine_work_between(queue)))
			return vgpu_exec_overstayed(queue);

		if (queue->exec.remaining_ns) {
			engine_charge_remaining(engine, queue);
		} else {
			step = engine_step(engine, queue);
			if (step == VGPU_STEP_EARLY)
				continue;
			if (step != VGPU_STEP_MORE)
				return step;
		}

		if (engine_turn_is_over(engine, queue))
			return VGPU_STEP_PREEMPTED;
		/* Also for tasks RCU: a tracer must be able to wait for the engines. */
		cond_resched_tasks_rcu_qs();
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
	bool signalling;
	ktime_t begun;

	/* The default slack would make GPU time up to 50 us longer. */
	current->timer_slack_ns = 1;
	/* Hardware does not wait for programs. vgpu_time.c limits what it takes from them. */
	sched_set_fifo_low(current);

	engine->stepped_at = ktime_get();
	while (!kthread_should_stop()) {
		/* Submissions whose dma_fences are published end by what the engine does. */
		signalling = dma_fence_begin_signalling();
		queue = vgpu_sched_pick(engine);
		if (queue)
			vgpu_sched_put(engine, queue, engine_run(engine, queue));
		dma_fence_end_signalling(signalling);
		if (queue)
			continue;

		begun = ktime_get();
		if (vgpu_power_may_ask_f1(engine))
			engine_sleep_until_f1(engine);
		else
			wait_event_interruptible(engine->wait, engine_must_wake(engine) ||
						 vgpu_power_may_ask_f1(engine));
		vgpu_time_slept(engine, begun);
	}

	return 0;
}

int vgpu_engine_start(struct vgpu_engine *engine)
{
	char name[32];

	snprintf(name, sizeof(name), "%s-engine%u", engine->chip->name, engine->node);
	return vgpu_thread_start(&engine->thread, engine_thread, engine, name);
}

void vgpu_engine_stop(struct vgpu_engine *engine)
{
	vgpu_thread_stop(&engine->thread);
}

u64 vgpu_engine_ask(struct vgpu *gpu, unsigned int node)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];
	unsigned long flags;
	u64 request = 0;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	if (engine->running && engine->running->gpu == gpu) {
		request = engine->requested + 1;
		WRITE_ONCE(engine->requested, request);
		wake_up_all(&engine->wait);
	}
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return request;
}

bool vgpu_engine_has_answered(struct vgpu *gpu, unsigned int node, u64 request)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];
	unsigned long flags;
	bool answered;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	answered = !engine->running || engine->running->gpu != gpu ||
		   READ_ONCE(engine->answered) >= request;
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return answered;
}

u64 vgpu_engine_waited_ns(struct vgpu *gpu, unsigned int node)
{
	return vgpu_thread_waited(&gpu->chip->engine[node].thread);
}

void vgpu_engine_query_node(struct vgpu *gpu, unsigned int node, struct vgpu_node_counters *info)
{
	const struct vgpu_node_counters *counters = &gpu->node[node].counters;

	*info = (struct vgpu_node_counters){
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
	else if (gpu->node[node].fault_flags)
		state = VGPU_ENGINE_FAULTED;
	else if (gpu->node[node].wants_f1)
		state = VGPU_ENGINE_TRANSITION_TO_F1;
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return state;
}
