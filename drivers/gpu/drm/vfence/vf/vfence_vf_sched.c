// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Sharing of the engines
 *
 * While an adapter has virtual functions, a thread for each group of engines decides which function
 * owns them (include/vfence_policy.h), and gives the commands of a world switch::
 *
 *    a function turns busy or idle, or the slice ends
 *       --> decide --> response time, in which the owner goes on --> decide again
 *       --> IDLE, SAVE, LOAD or INIT, RUN
 *
 * A message of the hardware does not say whether its function is busy. The thread reads the busy
 * word of the function, so that the order of messages does not matter. Every eighth decision reads
 * all words, in case a message was lost.
 *
 * A command that fails costs one function a reset: IDLE and SAVE the owner, LOAD, INIT and RUN the
 * next one. If that function cannot be reset, the whole GPU is: all functions, also the physical
 * one. If the command fails even then all functions are lost, and no other command is given.
 */

#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "core/vfence_adapter.h"
#include "core/vfence_report.h"
#include "core/vfence_trace.h"
#include "vf/vfence_flr.h"
#include "vf/vfence_vf_sched.h"
#include "vfence_race_point.h"

#define VF_SCHED_SLICE_US		6000
#define VF_SCHED_RESPONSE_US	50
#define VF_SCHED_SWITCH_US		136
#define VF_SCHED_PREEMPT_US	640000
#define VF_SCHED_ACCESS_MS		1500
/* A thread that wakes up later than this has not been late: it had something else to do. */
#define VF_SCHED_LATE_NS		(50 * NSEC_PER_USEC)

/* News of another kind: the configuration has changed, or functions have come or gone. */
#define VF_SCHED_ASKED		BIT(31)

/**
 * struct engine_group - a group of engines
 */
struct engine_group {
	/** @sched: parent */
	struct vfence_vf_sched *sched;
	/** @index: number of the group */
	unsigned int index;

	/** @task: the thread that decides */
	struct task_struct *task;
	/** @wait: the thread sleeps here, and those that wait until a function owns nothing */
	wait_queue_head_t wait;
	/** @news: mask of the functions that sent a message, and VF_SCHED_ASKED; atomic */
	atomic_t news;
	/** @news_at: time of the last message, in ns; a hint */
	u64 news_at;
	/** @ends: give the engines to the physical function, and keep them there */
	bool ends;
	/** @broken: A command has failed for good, and no other one is given; under @lock. */
	bool broken;
	/** @leaving: functions that leave or are paused: no command is repeated without a limit */
	atomic_t leaving;

	/** @lock: protects all members below */
	struct mutex lock;
	/** @policy: who is next */
	struct vfence_policy policy;
	/** @function: adapters of the functions, by their index; NULL if it does not take part */
	struct vfence_adapter *function[VFENCE_POLICY_FUNCTIONS];
	/** @left: mask of the functions that are leaving: none becomes an owner again */
	u32 left;
	/** @marked_at: time up to which @usage and @total are complete, in ns */
	u64 marked_at;
	/** @charged_at: time up to which the owner has paid, in ns */
	u64 charged_at;
	/** @usage: by function */
	struct vfence_vf_sched_usage usage[VFENCE_POLICY_FUNCTIONS];
	/** @total: of the group */
	struct vfence_vf_sched_total total;
};

/**
 * struct vfence_vf_sched - how the functions of a chip share its engines
 */
struct vfence_vf_sched {
	/** @physical: the physical function */
	struct vfence_adapter *physical;
	/** @lock: protects @config and @share; taken outside engine_group.lock */
	struct mutex lock;
	/** @config: the configuration */
	struct vfence_vf_sched_config config;
	/** @share: what each function gets */
	struct vfence_vf_profile share[VFENCE_POLICY_FUNCTIONS];
	/** @paused: mask of the functions that are paused */
	atomic_t paused;
	/** @flr: resets of functions */
	struct vfence_flr flr;
	/** @mail: gets all messages but answers to notices; constant after the start */
	vfence_vf_sched_mail_fn mail;
	/** @mail_data: its first argument */
	void *mail_data;
	/** @group: the groups */
	struct engine_group group[VGPU_VF_SWITCH_GROUPS];
};

/* A function has turned busy or idle. Called under a spinlock with interrupts off. */
static void vf_sched_edge(void *host, unsigned int group, unsigned int function, u64 at)
{
	struct vfence_vf_sched *sched = host;
	struct engine_group *g = &sched->group[group];

	WRITE_ONCE(g->news_at, at);
	atomic_or(BIT(function), &g->news);
	wake_up_all(&g->wait);
}

/* The driver of a function has sent a message. Called under a spinlock with interrupts off. */
static void vf_sched_mail(void *host, unsigned int function, u32 message)
{
	struct vfence_vf_sched *sched = host;

	if (message == VGPU_MAIL_READY_TO_RESET)
		vfence_flr_answered(&sched->flr, function);
	else
		sched->mail(sched->mail_data, function, message);
}

static const struct vgpu_vf_switch_ops vf_sched_ops = {
	.edge = vf_sched_edge,
	.mail = vf_sched_mail,
};

static void vf_sched_ask(struct engine_group *g)
{
	/* What has changed comes before the news. Partner: vf_sched_read_news_locked(). */
	smp_mb__before_atomic();
	atomic_or(VF_SCHED_ASKED, &g->news);
	wake_up_all(&g->wait);
}

static void vf_sched_read_word_locked(struct engine_group *g, unsigned int i, u64 now)
{
	struct vfence_adapter *adapter = g->function[i];

	lockdep_assert_held(&g->lock);
	if (adapter)
		vfence_policy_set_busy(&g->policy, i,
				       vgpu_vf_switch_is_busy(adapter->gpu, g->index), now);
}

static void vf_sched_read_news_locked(struct engine_group *g, u64 now)
{
	/* Full barrier: news, then words. Partners: vf_sched_edge(), vf_sched_ask(). */
	u32 news = atomic_xchg(&g->news, 0);
	unsigned int i;

	lockdep_assert_held(&g->lock);
	vfence_race_point(NEWS_TAKEN);
	for (i = 0; news && i < VFENCE_POLICY_FUNCTIONS; i++)
		if (news & BIT(i))
			vf_sched_read_word_locked(g, i, now);
	if (!vfence_policy_must_refresh(&g->policy))
		return;
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		bool busy = g->policy.function[i].busy;

		vf_sched_read_word_locked(g, i, now);
		if (busy || !g->policy.function[i].busy)
			continue;
		/* It may have got work this moment: then its message is there, or about to be. */
		vgpu_vf_switch_flush(g->function[i]->gpu);
		if (!(atomic_read(&g->news) & BIT(i)))
			g->usage[i].recovered++;
	}
}

/* Charge the owner for the time since the last charge. */
static void vf_sched_charge_locked(struct engine_group *g, u64 now)
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

static struct vfence_policy_decision vf_sched_decide_locked(struct engine_group *g, u64 now)
{
	lockdep_assert_held(&g->lock);
	vf_sched_read_news_locked(g, now);
	if (g->broken)
		return (struct vfence_policy_decision){
			.action = VFENCE_POLICY_KEEP, .until = VFENCE_POLICY_NEVER,
		};
	if (READ_ONCE(g->ends))
		return (struct vfence_policy_decision){
			.action = g->policy.owner ? VFENCE_POLICY_SWITCH : VFENCE_POLICY_KEEP,
			.until = VFENCE_POLICY_NEVER,
		};
	vf_sched_charge_locked(g, now);
	return vfence_policy_decide(&g->policy, now);
}

static struct vfence_policy_decision vf_sched_decide(struct engine_group *g)
{
	struct vfence_policy_decision decision;

	mutex_lock(&g->lock);
	decision = vf_sched_decide_locked(g, ktime_get_ns());
	mutex_unlock(&g->lock);
	return decision;
}

/* Add the time since the last mark to @ns. */
static u64 vf_sched_mark_locked(struct engine_group *g, u64 *ns)
{
	u64 now = ktime_get_ns(), passed = now - g->marked_at;

	lockdep_assert_held(&g->lock);
	*ns += passed;
	g->total.elapsed_ns += passed;
	g->marked_at = now;
	return passed;
}

static u64 *vf_sched_bucket_locked(struct engine_group *g)
{
	lockdep_assert_held(&g->lock);
	return g->policy.owner < 0 ? &g->total.unowned_ns : &g->usage[g->policy.owner].run_ns;
}

/* The function cannot be reset alone (TDR-22). */
static void vf_sched_reset_chip_locked(struct engine_group *g, const struct vgpu *suspect)
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

/* The function was reset, if @done; if not, it cannot be reset alone. */
static void vf_sched_end_reset_locked(struct engine_group *g, struct vgpu *gpu, bool done)
{
	lockdep_assert_held(&g->lock);
	if (done)
		g->usage[vgpu_vf_switch_index(gpu)].resets++;
	else
		vf_sched_reset_chip_locked(g, gpu);
}

/* @done: the function was reset alone, for @reason. Call it late: a console may be slow. */
static void vf_sched_report_reset(struct engine_group *g, struct vgpu *gpu, bool done,
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

/**
 * vfence_vf_sched_reset - reset a function that the world may have given the engines to, or not
 * @sched: the world
 * @gpu: the function, which has not stopped
 * @reason: why, for the kernel's log
 */
void vfence_vf_sched_reset(struct vfence_vf_sched *sched, struct vgpu *gpu, const char *reason)
{
	struct engine_group *g = &sched->group[0];
	/* The thread of a group may hold its lock until this has taken the function's queue off. */
	bool done = vfence_flr_function(&sched->flr, gpu);

	mutex_lock(&g->lock);
	vf_sched_end_reset_locked(g, gpu, done);
	mutex_unlock(&g->lock);
	vf_sched_report_reset(g, gpu, done, reason);
}

/* Give a command again, after a reset that has taken the queues of a function off the engines. */
static int vf_sched_command_once(struct engine_group *g, unsigned int command,
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
static int vf_sched_command(struct engine_group *g, unsigned int command,
			    struct vfence_adapter *target, struct vfence_adapter *suspect)
{
	const u32 *limit = &g->sched->share[vgpu_vf_switch_index(suspect->gpu)].preempt_timeout_us;
	unsigned int timeout_us;
	bool done;
	int ret;

	/* Without a limit the command is repeated, until a function has to leave or has a limit. */
	do {
		timeout_us = READ_ONCE(*limit);
		ret = vf_sched_command_once(g, command, target, suspect,
					    timeout_us ?: VF_SCHED_PREEMPT_US);
	} while (ret == -ETIME && !timeout_us && !READ_ONCE(g->ends) && !atomic_read(&g->leaving));
	if (!ret || ret == -EINVAL)
		return ret;
	done = vfence_flr_function(&g->sched->flr, suspect->gpu);
	vf_sched_end_reset_locked(g, suspect->gpu, done);
	ret = vf_sched_command_once(g, command, target, suspect, VF_SCHED_PREEMPT_US);
	vf_sched_report_reset(g, suspect->gpu, done, "it failed a switch of its engines");
	if (!done || !ret || ret == -EINVAL)
		return ret;
	vf_sched_reset_chip_locked(g, suspect->gpu);
	ret = vf_sched_command_once(g, command, target, suspect, VF_SCHED_PREEMPT_US);
	vf_sched_report_reset(g, suspect->gpu, false, NULL);
	return ret;
}

/*
 * The controller of the group does not obey, not even after a reset of the whole GPU. Nobody knows
 * whose work is on the engines, so that no function may go on.
 */
static void vf_sched_give_up_locked(struct engine_group *g)
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

/* Take the engines from their owner. Return 0, or the error of vf_sched_command(). */
static int vf_sched_take_locked(struct engine_group *g)
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
	vf_sched_mark_locked(g, &usage->run_ns);
	ret = vf_sched_command(g, VGPU_VF_SWITCH_CMD_IDLE, NULL, owner);
	if (ret)
		return ret;
	stop = vf_sched_mark_locked(g, &usage->stop_ns);
	usage->longest_stop_ns = max(usage->longest_stop_ns, stop);
	if (g->marked_at > g->policy.slice_end)
		usage->overrun_ns += g->marked_at - g->policy.slice_end;
	vfence_race_point(ENGINES_IDLE);
	ret = vf_sched_command(g, VGPU_VF_SWITCH_CMD_SAVE, NULL, owner);
	if (ret)
		return ret;
	/* Charge the owner for the time to stop its engines, too. */
	vf_sched_charge_locked(g, vgpu_vf_switch_stopped_at(g->sched->physical->gpu, g->index));
	return 0;
}

/* A reset of the function forgets what was saved: one that LOAD costs, or any other. */
static int vf_sched_load_registers_locked(struct engine_group *g, struct vfence_adapter *adapter)
{
	int ret = -EINVAL;

	lockdep_assert_held(&g->lock);
	if (vgpu_vf_switch_was_saved(adapter->gpu, g->index))
		ret = vf_sched_command(g, VGPU_VF_SWITCH_CMD_LOAD, adapter, adapter);
	if (ret == -EINVAL)
		ret = vf_sched_command(g, VGPU_VF_SWITCH_CMD_INIT, adapter, adapter);
	return ret;
}

/* Give the engines to a function, or to none. Return 0, or the error of vf_sched_command(). */
static int vf_sched_give_locked(struct engine_group *g, int next)
{
	struct vfence_adapter *adapter = next < 0 ? NULL : g->function[next];
	int ret;

	lockdep_assert_held(&g->lock);
	if (!adapter) {
		vfence_policy_own(&g->policy, -1, ktime_get_ns());
		return 0;
	}
	ret = vf_sched_load_registers_locked(g, adapter);
	if (ret)
		return ret;
	vfence_race_point(ENGINES_LOADED);
	ret = vf_sched_command(g, VGPU_VF_SWITCH_CMD_RUN, NULL, adapter);
	if (ret)
		return ret;
	vf_sched_mark_locked(g, &g->total.switch_ns);
	g->usage[next].turns++;
	/* Its slice begins at the nominal end of the switch. */
	g->charged_at = vgpu_vf_switch_run_at(g->sched->physical->gpu, g->index);
	vfence_policy_own(&g->policy, next, g->charged_at);
	return 0;
}

static void vf_sched_note_latency_locked(struct engine_group *g, u64 cause)
{
	u64 us = (ktime_get_ns() - cause) / NSEC_PER_USEC;

	lockdep_assert_held(&g->lock);
	if (!g->policy.function[g->policy.owner].busy)
		g->total.latency[min_t(unsigned int, fls64(us), VFENCE_VF_SCHED_LATENCIES - 1)]++;
}

static void vf_sched_switch_locked(struct engine_group *g, int next, u64 cause, u64 due)
{
	int ret = 0;

	lockdep_assert_held(&g->lock);
	vgpu_vf_switch_due(g->sched->physical->gpu, g->index, due);
	if (g->policy.owner >= 0) {
		vf_sched_note_latency_locked(g, cause);
		ret = vf_sched_take_locked(g);
	} else {
		vf_sched_mark_locked(g, &g->total.unowned_ns);
	}
	g->total.switches++;
	if (!ret)
		ret = vf_sched_give_locked(g, next);
	if (ret)
		vf_sched_give_up_locked(g);
	wake_up_all(&g->wait);
}

static bool vf_sched_has_news(struct engine_group *g)
{
	return kthread_should_stop() || atomic_read(&g->news);
}

/* Sleep until a time in ns, or until there is news. */
static void vf_sched_sleep(struct engine_group *g, u64 until)
{
	u64 now = ktime_get_ns();

	if (until == VFENCE_POLICY_NEVER)
		wait_event_interruptible(g->wait, vf_sched_has_news(g));
	else if (until > now)
		/* The result does not matter: the caller decides again. */
		(void)wait_event_interruptible_hrtimeout(g->wait, vf_sched_has_news(g),
							 ns_to_ktime(until - now));
}

/* Let the response time pass. */
static void vf_sched_respond(u64 due)
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
static u64 vf_sched_cause(struct engine_group *g, u64 asked_for, u64 now)
{
	u64 news_at = READ_ONCE(g->news_at);

	if (asked_for <= now && now - asked_for < VF_SCHED_LATE_NS)
		return asked_for;
	return news_at <= now && now - news_at < VF_SCHED_LATE_NS ? news_at : now;
}

static void vf_sched_commit(struct engine_group *g, u64 cause, u64 due)
{
	struct vfence_policy_decision decision;

	vfence_race_point(SWITCH_DUE);
	mutex_lock(&g->lock);
	/* As of the time when the response has passed: the thread wakes up a little later. */
	decision = vf_sched_decide_locked(g, min(ktime_get_ns(), due));
	if (decision.action == VFENCE_POLICY_SWITCH)
		vf_sched_switch_locked(g, decision.next, cause, due);
	else
		g->total.cancelled++;
	mutex_unlock(&g->lock);
}

static int vf_sched_thread(void *data)
{
	struct engine_group *g = data;
	u64 until = 0;

	/* The default slack would make slices up to 50 us longer. */
	current->timer_slack_ns = 1;
	sched_set_fifo_low(current);

	while (!kthread_should_stop()) {
		struct vfence_policy_decision decision = vf_sched_decide(g);
		u64 cause, due;

		if (decision.action == VFENCE_POLICY_KEEP) {
			until = decision.until;
			vf_sched_sleep(g, until);
			continue;
		}
		cause = vf_sched_cause(g, until, ktime_get_ns());
		due = cause + READ_ONCE(g->policy.response_ns) - decision.lead_ns;
		vf_sched_respond(due);
		vf_sched_commit(g, cause, due);
		until = VFENCE_POLICY_NEVER;
	}
	return 0;
}

static void vf_sched_apply_profile_locked(struct engine_group *g, unsigned int i)
{
	const struct vfence_vf_profile *share = &g->sched->share[i];
	struct vfence_policy_function *f = &g->policy.function[i];

	lockdep_assert_held(&g->lock);
	f->slice_ns = (u64)share->slice_us * NSEC_PER_USEC;
	f->weight = share->weight;
	f->cap_percent = share->cap_percent;
	f->on_demand = share->on_demand;
}

static void vf_sched_add_locked(struct engine_group *g, unsigned int i,
				struct vfence_adapter *adapter)
{
	lockdep_assert_held(&g->lock);
	g->function[i] = adapter;
	g->left &= ~BIT(i);
	atomic_andnot(BIT(i), &g->sched->paused);
	vfence_policy_add(&g->policy, i, 0);
	vf_sched_apply_profile_locked(g, i);
	vf_sched_read_word_locked(g, i, ktime_get_ns());
}

/** vfence_vf_sched_join - a virtual function, which has started, takes part from now on */
void vfence_vf_sched_join(struct vfence_vf_sched *sched, struct vfence_adapter *adapter)
{
	unsigned int i = vgpu_vf_switch_index(adapter->gpu), k;

	mutex_lock(&sched->lock);
	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++) {
		struct engine_group *g = &sched->group[k];

		mutex_lock(&g->lock);
		vf_sched_add_locked(g, i, adapter);
		mutex_unlock(&g->lock);
		vf_sched_ask(g);
	}
	mutex_unlock(&sched->lock);
}

/* The owner changes under a lock, which a condition of a sleep cannot take. */
static bool vf_sched_owns(struct engine_group *g, int i)
{
	return READ_ONCE(g->policy.owner) == i;
}

/** vfence_vf_sched_leave - a virtual function leaves; on return it owns nothing, and never will */
void vfence_vf_sched_leave(struct vfence_vf_sched *sched, struct vfence_adapter *adapter)
{
	unsigned int i = vgpu_vf_switch_index(adapter->gpu), k;

	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++) {
		struct engine_group *g = &sched->group[k];

		/* The thread may hold the lock while it repeats a command. */
		atomic_inc(&g->leaving);
		mutex_lock(&g->lock);
		/* A probe that failed may not have joined. */
		g->left |= BIT(i);
		g->policy.function[i].present = false;
		g->policy.function[i].busy = false;
		if (g->policy.alone == i)
			vfence_policy_set_alone(&g->policy, -1, ktime_get_ns());
		mutex_unlock(&g->lock);
		vf_sched_ask(g);
		/* Nothing makes it the owner any more, so it leaves once. */
		wait_event(g->wait, !vf_sched_owns(g, i));
		mutex_lock(&g->lock);
		g->function[i] = NULL;
		mutex_unlock(&g->lock);
		atomic_dec(&g->leaving);
	}
}

/* Return true if the function owns the group, or does not get it any more. */
static bool vf_sched_gave_to(struct engine_group *g, int i)
{
	return vf_sched_owns(g, i) || READ_ONCE(g->policy.alone) != i;
}

static void vf_sched_set_alone(struct engine_group *g, int i)
{
	mutex_lock(&g->lock);
	if (i < 0 || g->policy.function[i].present)
		vfence_policy_set_alone(&g->policy, i, ktime_get_ns());
	mutex_unlock(&g->lock);
	vf_sched_ask(g);
}

/**
 * vfence_vf_sched_acquire_exclusive - give all engines to one function
 * @sched: the world
 * @function: index of the function
 * @ms: how long this may take, in ms
 *
 * Call vfence_vf_sched_release_exclusive() in any case. Process context.
 *
 * Return: true; false if it takes longer, or if the function leaves.
 */
bool vfence_vf_sched_acquire_exclusive(struct vfence_vf_sched *sched, unsigned int function,
				       unsigned int ms)
{
	bool owns = true;
	unsigned int k;

	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++)
		vf_sched_set_alone(&sched->group[k], function);
	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++) {
		struct engine_group *g = &sched->group[k];

		wait_event_timeout(g->wait, vf_sched_gave_to(g, function), msecs_to_jiffies(ms));
		/* A pause may have come first. */
		owns &= vf_sched_owns(g, function) && READ_ONCE(g->policy.alone) == function;
	}
	return owns;
}

/** vfence_vf_sched_release_exclusive - let all functions share the engines again */
void vfence_vf_sched_release_exclusive(struct vfence_vf_sched *sched)
{
	unsigned int k;

	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++)
		vf_sched_set_alone(&sched->group[k], -1);
}

/**
 * vfence_vf_sched_resume - a function takes part again
 * @sched: the world
 * @function: index of the function, which vfence_vf_sched_pause() has paused
 */
void vfence_vf_sched_resume(struct vfence_vf_sched *sched, unsigned int function)
{
	unsigned int k;

	atomic_andnot(BIT(function), &sched->paused);
	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++) {
		struct engine_group *g = &sched->group[k];

		mutex_lock(&g->lock);
		g->policy.function[function].present =
			g->function[function] && !(g->left & BIT(function));
		/* Like a function that turns busy: it must not gain the time of the pause. */
		vfence_policy_set_busy(&g->policy, function, false, ktime_get_ns());
		vf_sched_read_word_locked(g, function, ktime_get_ns());
		mutex_unlock(&g->lock);
		vf_sched_ask(g);
	}
}

static int vf_sched_pause_group(struct engine_group *g, unsigned int i)
{
	int ret = 0;

	/* The thread may hold the lock while it repeats a command. */
	atomic_inc(&g->leaving);
	mutex_lock(&g->lock);
	if (g->policy.alone == i)
		ret = -EBUSY;
	else
		g->policy.function[i].present = false;
	mutex_unlock(&g->lock);
	vf_sched_ask(g);
	if (!ret)
		ret = wait_event_interruptible(g->wait, !vf_sched_owns(g, i));
	atomic_dec(&g->leaving);
	return ret;
}

/**
 * vfence_vf_sched_pause - take the engines from a function, and do not give them back
 * @sched: the world
 * @function: index of a virtual function
 *
 * Time goes on for it as for a function that waits for its turn. Call vfence_vf_sched_resume() also
 * after an error. Process context.
 *
 * Return: 0; -EBUSY if it has the engines for itself, or -ERESTARTSYS.
 */
int vfence_vf_sched_pause(struct vfence_vf_sched *sched, unsigned int function)
{
	unsigned int k;
	int ret = 0;

	atomic_or(BIT(function), &sched->paused);
	for (k = 0; !ret && k < VGPU_VF_SWITCH_GROUPS; k++)
		ret = vf_sched_pause_group(&sched->group[k], function);
	return ret;
}

/** vfence_vf_sched_paused - mask of the functions that are paused, or about to be */
u32 vfence_vf_sched_paused(struct vfence_vf_sched *sched)
{
	return atomic_read(&sched->paused);
}

/** vfence_vf_sched_access_ms - how long a function may have the engines for itself, in ms */
unsigned int vfence_vf_sched_access_ms(struct vfence_vf_sched *sched)
{
	return READ_ONCE(sched->config.access_limit_ms);
}

/**
 * vfence_vf_sched_get_config - read the configuration
 * @sched: the world
 * @config: output
 */
void vfence_vf_sched_get_config(struct vfence_vf_sched *sched,
				struct vfence_vf_sched_config *config)
{
	mutex_lock(&sched->lock);
	*config = sched->config;
	mutex_unlock(&sched->lock);
}

/**
 * vfence_vf_sched_set_config - change the configuration; what runs has it from now on
 * @sched: the world
 * @config: the valid configuration
 */
void vfence_vf_sched_set_config(struct vfence_vf_sched *sched,
				const struct vfence_vf_sched_config *config)
{
	unsigned int k;

	mutex_lock(&sched->lock);
	sched->config = *config;
	vgpu_vf_switch_set_switch_ns(sched->physical->gpu, (u64)config->switch_us * NSEC_PER_USEC);
	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++) {
		struct engine_group *g = &sched->group[k];

		mutex_lock(&g->lock);
		vfence_policy_set_kind(&g->policy, config->policy);
		g->policy.response_ns = (u64)config->response_us * NSEC_PER_USEC;
		mutex_unlock(&g->lock);
		vf_sched_ask(g);
	}
	mutex_unlock(&sched->lock);
}

/**
 * vfence_vf_sched_get_profile - read what a function gets
 * @sched: the world
 * @function: index of the function
 * @share: output
 */
void vfence_vf_sched_get_profile(struct vfence_vf_sched *sched, unsigned int function,
				 struct vfence_vf_profile *share)
{
	mutex_lock(&sched->lock);
	*share = sched->share[function];
	mutex_unlock(&sched->lock);
}

/**
 * vfence_vf_sched_set_profile - change what a function gets; from its next turn on
 * @sched: the world
 * @function: index of the function
 * @share: valid values
 */
void vfence_vf_sched_set_profile(struct vfence_vf_sched *sched, unsigned int function,
				 const struct vfence_vf_profile *share)
{
	unsigned int k;

	mutex_lock(&sched->lock);
	sched->share[function] = *share;
	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++) {
		struct engine_group *g = &sched->group[k];
		u64 now;

		mutex_lock(&g->lock);
		now = ktime_get_ns();
		vf_sched_charge_locked(g, now);
		vf_sched_apply_profile_locked(g, function);
		vfence_policy_cap_changed(&g->policy, function, now);
		mutex_unlock(&g->lock);
		vf_sched_ask(g);
	}
	mutex_unlock(&sched->lock);
}

/**
 * vfence_vf_sched_query - read what a function has had of a group
 * @sched: the world
 * @group: number of the group
 * @function: index of the function
 * @usage: output
 */
void vfence_vf_sched_query(struct vfence_vf_sched *sched, unsigned int group, unsigned int function,
			   struct vfence_vf_sched_usage *usage)
{
	struct engine_group *g = &sched->group[group];
	struct vgpu_vf_switch_counters counters;

	mutex_lock(&g->lock);
	vf_sched_mark_locked(g, vf_sched_bucket_locked(g));
	if (g->function[function]) {
		vgpu_vf_switch_query(g->function[function]->gpu, group, &counters);
		g->usage[function].turned_busy = counters.turned_busy;
		g->usage[function].turned_idle = counters.turned_idle;
		g->usage[function].busy = vgpu_vf_switch_is_busy(g->function[function]->gpu, group);
	}
	g->usage[function].known_busy = g->policy.function[function].busy;
	*usage = g->usage[function];
	mutex_unlock(&g->lock);
}

/**
 * vfence_vf_sched_query_times - read where the time of a group went
 * @sched: the world
 * @group: number of the group
 * @times: output; all of it is of one instant
 */
void vfence_vf_sched_query_times(struct vfence_vf_sched *sched, unsigned int group,
				 struct vfence_vf_sched_times *times)
{
	struct engine_group *g = &sched->group[group];
	unsigned int i;

	mutex_lock(&g->lock);
	vf_sched_mark_locked(g, vf_sched_bucket_locked(g));
	times->total = g->total;
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		times->run_ns[i] = g->usage[i].run_ns;
		times->stop_ns[i] = g->usage[i].stop_ns;
	}
	mutex_unlock(&g->lock);
}

static void vf_sched_init_profile(struct vfence_vf_profile *share, bool physical)
{
	*share = (struct vfence_vf_profile){
		.slice_us = VF_SCHED_SLICE_US,
		.weight = VFENCE_POLICY_WEIGHT,
		.preempt_timeout_us = VF_SCHED_PREEMPT_US,
		.on_demand = physical,
	};
}

/* The physical function owns the engines before there are virtual ones. */
static int vf_sched_start_group(struct vfence_vf_sched *sched, unsigned int index)
{
	struct engine_group *g = &sched->group[index];
	u64 now = ktime_get_ns();

	g->sched = sched;
	g->index = index;
	init_waitqueue_head(&g->wait);
	mutex_init(&g->lock);
	vfence_policy_init(&g->policy, sched->config.policy,
			   (u64)sched->config.response_us * NSEC_PER_USEC);

	mutex_lock(&g->lock);
	g->marked_at = now;
	g->charged_at = now;
	vf_sched_add_locked(g, 0, sched->physical);
	vfence_policy_own(&g->policy, 0, now);
	mutex_unlock(&g->lock);

	g->task = kthread_run(vf_sched_thread, g, "%s-world%u", sched->physical->name, index);
	return PTR_ERR_OR_ZERO(g->task);
}

/* Give the engines back to the physical function. */
static void vf_sched_stop_group(struct engine_group *g)
{
	bool owns;

	if (IS_ERR_OR_NULL(g->task))
		return;
	/* The thread may hold the lock while it repeats a command. */
	WRITE_ONCE(g->ends, true);
	vf_sched_ask(g);
	do {
		wait_event(g->wait, vf_sched_owns(g, 0));
		/* A switch that was decided before may still hold the lock, and take them back. */
		mutex_lock(&g->lock);
		owns = vf_sched_owns(g, 0);
		mutex_unlock(&g->lock);
	} while (!owns);
	kthread_stop(g->task);
}

/**
 * vfence_vf_sched_create - begin to share the engines of an adapter; then call
 * vfence_vf_sched_start()
 * @adapter: the physical function, which owns them
 *
 * Return: the world, or an ERR_PTR.
 */
struct vfence_vf_sched *vfence_vf_sched_create(struct vfence_adapter *adapter)
{
	struct vfence_vf_sched *sched = kvzalloc(sizeof(*sched), GFP_KERNEL);
	unsigned int i;
	int ret = 0;

	if (!sched)
		return ERR_PTR(-ENOMEM);
	mutex_init(&sched->lock);
	vfence_flr_init(&sched->flr);
	sched->physical = adapter;
	sched->config = (struct vfence_vf_sched_config){
		.policy = VFENCE_POLICY_ON_DEMAND,
		.response_us = VF_SCHED_RESPONSE_US,
		.switch_us = VF_SCHED_SWITCH_US,
		.access_limit_ms = VF_SCHED_ACCESS_MS,
	};
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		vf_sched_init_profile(&sched->share[i], !i);
	vgpu_vf_switch_set_switch_ns(adapter->gpu, VF_SCHED_SWITCH_US * NSEC_PER_USEC);
	for (i = 0; !ret && i < VGPU_VF_SWITCH_GROUPS; i++)
		ret = vf_sched_start_group(sched, i);
	if (ret) {
		vfence_vf_sched_stop(sched);
		vfence_vf_sched_destroy(sched);
		return ERR_PTR(ret);
	}
	return sched;
}

/**
 * vfence_vf_sched_start - get edges and messages of the functions from now on
 * @sched: the world
 * @mail: gets their messages
 * @data: its first argument
 */
void vfence_vf_sched_start(struct vfence_vf_sched *sched, vfence_vf_sched_mail_fn mail, void *data)
{
	unsigned int k;

	sched->mail = mail;
	sched->mail_data = data;
	vgpu_vf_switch_attach(sched->physical->gpu, &vf_sched_ops, sched);
	/* The physical function may have got work before. */
	for (k = 0; k < VGPU_VF_SWITCH_GROUPS; k++)
		vf_sched_edge(sched, k, 0, ktime_get_ns());
}

/** vfence_vf_sched_stop - end the sharing; the physical function owns all engines again */
void vfence_vf_sched_stop(struct vfence_vf_sched *sched)
{
	unsigned int i;

	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++)
		vf_sched_stop_group(&sched->group[i]);
	vgpu_vf_switch_attach(sched->physical->gpu, NULL, NULL);
	/* Its driver may wait for full access, which it has now. */
	vgpu_mailbox_notify(sched->physical->gpu, VGPU_MAIL_READY_TO_ACCESS);
}

/** vfence_vf_sched_destroy - free the world, which has stopped or never started */
void vfence_vf_sched_destroy(struct vfence_vf_sched *sched)
{
	unsigned int i;

	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++)
		if (sched->group[i].sched)
			mutex_destroy(&sched->group[i].lock);
	mutex_destroy(&sched->lock);
	kvfree(sched);
}
