// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group of engines: its thread decides which function is next, and gives the commands.
 */

#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "core/vfence_adapter.h"
#include "core/vfence_report.h"
#include "core/vfence_trace.h"
#include "vf/vfence_engine_group.h"
#include "vfence_race_point.h"

/* Do not count wake-up delays above this: the host preempted the thread. */
#define ENGINE_GROUP_LATE_NS		(50 * NSEC_PER_USEC)

/** vfence_engine_group_ask - have the thread of a group decide anew; any context */
void vfence_engine_group_ask(struct engine_group *g)
{
	/* What has changed comes before the news. Partner: engine_group_read_news_locked(). */
	smp_mb__before_atomic();
	atomic_or(VFENCE_ENGINE_GROUP_ASKED, &g->news);
	wake_up_all(&g->wait);
}

/** vfence_engine_group_read_word_locked - read whether a function has work */
void vfence_engine_group_read_word_locked(struct engine_group *g, unsigned int i, u64 now)
{
	struct vfence_adapter *adapter = g->function[i];

	lockdep_assert_held(&g->lock);
	if (adapter)
		vfence_policy_set_busy(&g->policy, i,
				       vgpu_vf_switch_is_busy(adapter->gpu, g->index), now);
}

static void engine_group_read_news_locked(struct engine_group *g, u64 now)
{
	/* Full barrier: news, then words. Partners: vf_sched_edge(), vfence_engine_group_ask(). */
	u32 news = atomic_xchg(&g->news, 0);
	unsigned int i;

	lockdep_assert_held(&g->lock);
	vfence_race_point(NEWS_TAKEN);
	for (i = 0; news && i < VFENCE_POLICY_FUNCTIONS; i++)
		if (news & BIT(i))
			vfence_engine_group_read_word_locked(g, i, now);
	if (!vfence_policy_must_refresh(&g->policy))
		return;
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		bool busy = g->policy.function[i].busy;

		vfence_engine_group_read_word_locked(g, i, now);
		if (busy || !g->policy.function[i].busy)
			continue;
		/* It may have got work this moment: then its message is there, or about to be. */
		vgpu_vf_switch_flush(g->function[i]->gpu);
		if (!(atomic_read(&g->news) & BIT(i)))
			g->usage[i].recovered++;
	}
}

/** vfence_engine_group_charge_locked - charge the owner for the time since the last charge */
void vfence_engine_group_charge_locked(struct engine_group *g, u64 now)
{
	u64 over = 0;

	lockdep_assert_held(&g->lock);
	if (g->policy.owner < 0 || now <= g->charged_at)
		return;
	if (now > g->policy.slice_end)
		over = now - max(g->policy.slice_end, g->charged_at);
	vfence_policy_charge(&g->policy, now - g->charged_at, over, now);
	g->charged_at = now;
}

static struct vfence_policy_decision engine_group_decide_locked(struct engine_group *g, u64 now)
{
	lockdep_assert_held(&g->lock);
	engine_group_read_news_locked(g, now);
	if (g->broken)
		return (struct vfence_policy_decision){
			.action = VFENCE_POLICY_KEEP, .until = VFENCE_POLICY_NEVER,
		};
	if (READ_ONCE(g->ends))
		return (struct vfence_policy_decision){
			.action = g->policy.owner ? VFENCE_POLICY_SWITCH : VFENCE_POLICY_KEEP,
			.until = VFENCE_POLICY_NEVER,
		};
	vfence_engine_group_charge_locked(g, now);
	return vfence_policy_decide(&g->policy, now);
}

static struct vfence_policy_decision engine_group_decide(struct engine_group *g)
{
	struct vfence_policy_decision decision;

	mutex_lock(&g->lock);
	decision = engine_group_decide_locked(g, ktime_get_ns());
	mutex_unlock(&g->lock);
	return decision;
}

/** vfence_engine_group_mark_locked - add the time since the last mark to @ns, and return it */
u64 vfence_engine_group_mark_locked(struct engine_group *g, u64 *ns)
{
	u64 now = ktime_get_ns(), passed = now - g->marked_at;

	lockdep_assert_held(&g->lock);
	*ns += passed;
	g->total.elapsed_ns += passed;
	g->marked_at = now;
	return passed;
}

/** vfence_engine_group_bucket_locked - where the time goes that passes now */
u64 *vfence_engine_group_bucket_locked(struct engine_group *g)
{
	lockdep_assert_held(&g->lock);
	return g->policy.owner < 0 ? &g->total.unowned_ns : &g->usage[g->policy.owner].run_ns;
}

/* The function cannot be reset alone (TDR-22). */
static void engine_group_reset_chip_locked(struct engine_group *g, const struct vgpu *suspect)
{
	struct vgpu *gpu[VFENCE_POLICY_FUNCTIONS] = {};
	unsigned int i;

	lockdep_assert_held(&g->lock);
	g->total.gpu_resets++;
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		if (!g->function[i])
			continue;
		g->usage[i].resets++;
		gpu[i] = g->function[i]->gpu;
	}
	vfence_flr_chip(&g->sched->flr, gpu, ARRAY_SIZE(gpu), suspect);
}

/**
 * vfence_engine_group_end_reset_locked - end the reset of a function
 * @g: the group, locked
 * @gpu: the function
 * @done: the function was reset; if not, it cannot be reset alone, and the whole GPU is
 */
void vfence_engine_group_end_reset_locked(struct engine_group *g, struct vgpu *gpu, bool done)
{
	lockdep_assert_held(&g->lock);
	if (done)
		g->usage[vgpu_vf_switch_index(gpu)].resets++;
	else
		engine_group_reset_chip_locked(g, gpu);
}

/**
 * vfence_engine_group_report_reset - report the reset of a function in the kernel's log
 * @g: the group, not locked: a console may be slow
 * @gpu: the function
 * @done: the function was reset alone
 * @reason: why
 */
void vfence_engine_group_report_reset(struct engine_group *g, struct vgpu *gpu, bool done,
				      const char *reason)
{
	if (done)
		vfence_report(g->sched->physical, "function %u was reset: %s",
			      vgpu_vf_switch_index(gpu), reason);
	else
		vfence_report(g->sched->physical,
			      "the whole GPU was reset: a reset of function %u failed or was not enough",
			      vgpu_vf_switch_index(gpu));
}

/* Give a command again, after a reset that has taken the queues of a function off the engines. */
static int engine_group_command_once(struct engine_group *g, unsigned int command,
				     struct vfence_adapter *target, struct vfence_adapter *suspect,
				     unsigned int timeout_us)
{
	int ret = vgpu_vf_switch_command(g->sched->physical->gpu, g->index, command,
				     target ? target->gpu : NULL, timeout_us);

	trace_vfence_vf_switch(g->sched->physical, vgpu_vf_switch_index(suspect->gpu), g->index,
			       command, ret);
	return ret;
}

/*
 * Give a command. If it fails, reset @suspect and repeat the command; if that does not help, reset
 * the whole GPU and repeat it once more. Return 0, -EINVAL for a LOAD of what was never saved, or
 * another error: then the controller of the group obeys no more.
 */
static int engine_group_command(struct engine_group *g, unsigned int command,
				struct vfence_adapter *target, struct vfence_adapter *suspect)
{
	const u32 *limit = &g->sched->share[vgpu_vf_switch_index(suspect->gpu)].preempt_timeout_us;
	unsigned int timeout_us;
	bool done;
	int ret;

	/* Without a limit the command is repeated, until a function has to leave or has a limit. */
	do {
		timeout_us = READ_ONCE(*limit);
		ret = engine_group_command_once(g, command, target, suspect,
						timeout_us ?: VFENCE_ENGINE_GROUP_PREEMPT_US);
	} while (ret == -ETIME && !timeout_us && !READ_ONCE(g->ends) && !atomic_read(&g->leaving));
	if (!ret || ret == -EINVAL)
		return ret;
	done = vfence_flr_function(&g->sched->flr, suspect->gpu);
	vfence_engine_group_end_reset_locked(g, suspect->gpu, done);
	ret = engine_group_command_once(g, command, target, suspect,
					VFENCE_ENGINE_GROUP_PREEMPT_US);
	vfence_engine_group_report_reset(g, suspect->gpu, done,
					 "it failed a switch of its engines");
	if (!done || !ret || ret == -EINVAL)
		return ret;
	engine_group_reset_chip_locked(g, suspect->gpu);
	ret = engine_group_command_once(g, command, target, suspect,
					VFENCE_ENGINE_GROUP_PREEMPT_US);
	vfence_engine_group_report_reset(g, suspect->gpu, false, NULL);
	return ret;
}

/*
 * The controller of the group does not obey, not even after a reset of the whole GPU. Nobody knows
 * whose work is on the engines, so that no function may go on.
 */
static void engine_group_give_up_locked(struct engine_group *g)
{
	unsigned int i;

	lockdep_assert_held(&g->lock);
	g->broken = true;
	vfence_report(g->sched->physical, "all functions are lost: engine group %u does not switch",
		      g->index);
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		if (g->function[i])
			vfence_adapter_lose(g->function[i], VFENCE_STOP_TDR_FAILURE,
					    VFENCE_TIMEOUT_PROMOTED);
	/* Those that wait until a function has left get on. */
	vfence_policy_own(&g->policy, 0, ktime_get_ns());
}

/* Take the engines from their owner. Return 0, or the error of engine_group_command(). */
static int engine_group_take_locked(struct engine_group *g)
{
	struct vfence_adapter *owner = g->function[g->policy.owner];
	struct vfence_vf_sched_usage *usage = &g->usage[g->policy.owner];
	u64 stop;
	int ret;

	lockdep_assert_held(&g->lock);
	if (g->policy.function[g->policy.owner].busy)
		usage->preemptions++;
	else
		usage->yields++;
	vfence_engine_group_mark_locked(g, &usage->run_ns);
	ret = engine_group_command(g, VGPU_VF_SWITCH_CMD_IDLE, NULL, owner);
	if (ret)
		return ret;
	stop = vfence_engine_group_mark_locked(g, &usage->stop_ns);
	usage->longest_stop_ns = max(usage->longest_stop_ns, stop);
	if (g->marked_at > g->policy.slice_end)
		usage->overrun_ns += g->marked_at - g->policy.slice_end;
	vfence_race_point(ENGINES_IDLE);
	ret = engine_group_command(g, VGPU_VF_SWITCH_CMD_SAVE, NULL, owner);
	if (ret)
		return ret;
	/* Charge the owner for the time to stop its engines, too. */
	vfence_engine_group_charge_locked(g,
					  vgpu_vf_switch_stopped_at(g->sched->physical->gpu,
								    g->index));
	return 0;
}

/* A reset of the function forgets what was saved: one that LOAD costs, or any other. */
static int engine_group_load_registers_locked(struct engine_group *g, struct vfence_adapter
					      *adapter)
{
	int ret = -EINVAL;

	lockdep_assert_held(&g->lock);
	if (vgpu_vf_switch_was_saved(adapter->gpu, g->index))
		ret = engine_group_command(g, VGPU_VF_SWITCH_CMD_LOAD, adapter, adapter);
	if (ret == -EINVAL)
		ret = engine_group_command(g, VGPU_VF_SWITCH_CMD_INIT, adapter, adapter);
	return ret;
}

/* Give the engines to a function, or to none. Return 0, or the error of engine_group_command(). */
static int engine_group_give_locked(struct engine_group *g, int next)
{
	struct vfence_adapter *adapter = next < 0 ? NULL : g->function[next];
	int ret;

	lockdep_assert_held(&g->lock);
	if (!adapter) {
		vfence_policy_own(&g->policy, -1, ktime_get_ns());
		return 0;
	}
	ret = engine_group_load_registers_locked(g, adapter);
	if (ret)
		return ret;
	vfence_race_point(ENGINES_LOADED);
	ret = engine_group_command(g, VGPU_VF_SWITCH_CMD_RUN, NULL, adapter);
	if (ret)
		return ret;
	vfence_engine_group_mark_locked(g, &g->total.switch_ns);
	g->usage[next].turns++;
	/* Its slice begins at the nominal end of the switch. */
	g->charged_at = vgpu_vf_switch_run_at(g->sched->physical->gpu, g->index);
	vfence_policy_own(&g->policy, next, g->charged_at);
	return 0;
}

static void engine_group_note_latency_locked(struct engine_group *g, u64 cause)
{
	u64 us = (ktime_get_ns() - cause) / NSEC_PER_USEC;

	lockdep_assert_held(&g->lock);
	if (!g->policy.function[g->policy.owner].busy)
		g->total.latency[min_t(unsigned int, fls64(us), VFENCE_VF_SCHED_LATENCIES - 1)]++;
}

static void engine_group_switch_locked(struct engine_group *g, int next, u64 cause, u64 due)
{
	int ret = 0;

	lockdep_assert_held(&g->lock);
	vgpu_vf_switch_due(g->sched->physical->gpu, g->index, due);
	if (g->policy.owner >= 0) {
		engine_group_note_latency_locked(g, cause);
		ret = engine_group_take_locked(g);
	} else {
		vfence_engine_group_mark_locked(g, &g->total.unowned_ns);
	}
	g->total.switches++;
	if (!ret)
		ret = engine_group_give_locked(g, next);
	if (ret)
		engine_group_give_up_locked(g);
	wake_up_all(&g->wait);
}

static bool engine_group_has_news(struct engine_group *g)
{
	return kthread_should_stop() || atomic_read(&g->news);
}

/* Sleep until a time in ns, or until there is news. */
static void engine_group_sleep(struct engine_group *g, u64 until)
{
	u64 now = ktime_get_ns();

	if (until == VFENCE_POLICY_NEVER)
		wait_event_interruptible(g->wait, engine_group_has_news(g));
	else if (until > now)
		/* The result does not matter: the caller decides again. */
		(void)wait_event_interruptible_hrtimeout(g->wait, engine_group_has_news(g),
							 ns_to_ktime(until - now));
}

/* Let the response time pass. */
static void engine_group_respond(u64 due)
{
	ktime_t until = ns_to_ktime(due);

	while (ktime_before(ktime_get(), until) && !kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		schedule_hrtimeout(&until, HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
}

/*
 * The time from which the response counts: that of the message, or of the end of the slice. If the
 * thread wakes up much later, it is now.
 */
static u64 engine_group_cause(struct engine_group *g, u64 asked_for, u64 now)
{
	u64 news_at = READ_ONCE(g->news_at);

	if (asked_for <= now && now - asked_for < ENGINE_GROUP_LATE_NS)
		return asked_for;
	return news_at <= now && now - news_at < ENGINE_GROUP_LATE_NS ? news_at : now;
}

static void engine_group_commit(struct engine_group *g, u64 cause, u64 due)
{
	struct vfence_policy_decision decision;

	vfence_race_point(SWITCH_DUE);
	mutex_lock(&g->lock);
	/* As of the time when the response has passed: the thread wakes up a little later. */
	decision = engine_group_decide_locked(g, min(ktime_get_ns(), due));
	if (decision.action == VFENCE_POLICY_SWITCH)
		engine_group_switch_locked(g, decision.next, cause, due);
	else
		g->total.cancelled++;
	mutex_unlock(&g->lock);
}

/** vfence_engine_group_thread - the thread of a group */
int vfence_engine_group_thread(void *data)
{
	struct engine_group *g = data;
	u64 until = 0;

	/* The default slack would make slices up to 50 us longer. */
	current->timer_slack_ns = 1;
	sched_set_fifo_low(current);

	while (!kthread_should_stop()) {
		struct vfence_policy_decision decision = engine_group_decide(g);
		u64 cause, due;

		if (decision.action == VFENCE_POLICY_KEEP) {
			until = decision.until;
			engine_group_sleep(g, until);
			continue;
		}
		cause = engine_group_cause(g, until, ktime_get_ns());
		due = cause + READ_ONCE(g->policy.response_ns) - decision.lead_ns;
		engine_group_respond(due);
		engine_group_commit(g, cause, due);
		until = VFENCE_POLICY_NEVER;
	}
	return 0;
}
