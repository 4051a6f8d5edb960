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
#include "vf/vfence_engine_group.h"
#include "vf/vfence_flr.h"
#include "vf/vfence_vf_sched.h"
#include "vfence_race_point.h"

#define VF_SCHED_SLICE_US		6000
#define VF_SCHED_RESPONSE_US	50
#define VF_SCHED_SWITCH_US		136
#define VF_SCHED_ACCESS_MS		1500

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

/**
 * vfence_vf_sched_reset - reset a function, whether it has the engines or not
 * @sched: the scheduler
 * @gpu: the function, which has not stopped
 * @reason: why, for the kernel's log
 */
void vfence_vf_sched_reset(struct vfence_vf_sched *sched, struct vgpu *gpu, const char *reason)
{
	struct engine_group *g = &sched->group[0];
	/* The thread of a group may hold its lock until this has taken the function's queue off. */
	bool done = vfence_flr_function(&sched->flr, gpu);

	mutex_lock(&g->lock);
	vfence_engine_group_end_reset_locked(g, gpu, done);
	mutex_unlock(&g->lock);
	vfence_engine_group_report_reset(g, gpu, done, reason);
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
	vfence_engine_group_read_word_locked(g, i, ktime_get_ns());
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
		vfence_engine_group_ask(g);
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
		vfence_engine_group_ask(g);
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
	vfence_engine_group_ask(g);
}

/**
 * vfence_vf_sched_acquire_exclusive - give all engines to one function
 * @sched: the scheduler
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
 * @sched: the scheduler
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
		vfence_engine_group_read_word_locked(g, function, ktime_get_ns());
		mutex_unlock(&g->lock);
		vfence_engine_group_ask(g);
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
	vfence_engine_group_ask(g);
	if (!ret)
		ret = wait_event_interruptible(g->wait, !vf_sched_owns(g, i));
	atomic_dec(&g->leaving);
	return ret;
}

/**
 * vfence_vf_sched_pause - take the engines from a function, and do not give them back
 * @sched: the scheduler
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
 * @sched: the scheduler
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
 * @sched: the scheduler
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
		vfence_engine_group_ask(g);
	}
	mutex_unlock(&sched->lock);
}

/**
 * vfence_vf_sched_get_profile - read what a function gets
 * @sched: the scheduler
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
 * @sched: the scheduler
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
		vfence_engine_group_charge_locked(g, now);
		vf_sched_apply_profile_locked(g, function);
		vfence_policy_cap_changed(&g->policy, function, now);
		mutex_unlock(&g->lock);
		vfence_engine_group_ask(g);
	}
	mutex_unlock(&sched->lock);
}

/**
 * vfence_vf_sched_query - read what a function has had of a group
 * @sched: the scheduler
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
	vfence_engine_group_mark_locked(g, vfence_engine_group_bucket_locked(g));
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
 * @sched: the scheduler
 * @group: number of the group
 * @times: output; all of it is of one instant
 */
void vfence_vf_sched_query_times(struct vfence_vf_sched *sched, unsigned int group,
				 struct vfence_vf_sched_times *times)
{
	struct engine_group *g = &sched->group[group];
	unsigned int i;

	mutex_lock(&g->lock);
	vfence_engine_group_mark_locked(g, vfence_engine_group_bucket_locked(g));
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
		.preempt_timeout_us = VFENCE_ENGINE_GROUP_PREEMPT_US,
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

	g->task = kthread_run(vfence_engine_group_thread, g, "%s-group%u", sched->physical->name,
			      index);
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
	vfence_engine_group_ask(g);
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
 * Return: the scheduler, or an ERR_PTR.
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
 * @sched: the scheduler
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

/** vfence_vf_sched_destroy - free the scheduler, which has stopped or never started */
void vfence_vf_sched_destroy(struct vfence_vf_sched *sched)
{
	unsigned int i;

	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++)
		if (sched->group[i].sched)
			mutex_destroy(&sched->group[i].lock);
	mutex_destroy(&sched->lock);
	kvfree(sched);
}
