/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ENGINE_GROUP_H_
#define _VFENCE_ENGINE_GROUP_H_

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include "vf/vfence_flr.h"
#include "vf/vfence_vf_sched.h"
#include "vfence_policy.h"

struct task_struct;
struct vfence_adapter;
struct vgpu;

/** VFENCE_ENGINE_GROUP_PREEMPT_US: time for a command of a function without a limit, in us */
#define VFENCE_ENGINE_GROUP_PREEMPT_US	640000
/** VFENCE_ENGINE_GROUP_ASKED: news: the configuration has changed, or functions come or go */
#define VFENCE_ENGINE_GROUP_ASKED	BIT(31)

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
	/** @news: mask of functions that sent a message, %VFENCE_ENGINE_GROUP_ASKED; atomic */
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

void vfence_engine_group_ask(struct engine_group *g);
u64 *vfence_engine_group_bucket_locked(struct engine_group *g);
void vfence_engine_group_charge_locked(struct engine_group *g, u64 now);
u64 vfence_engine_group_mark_locked(struct engine_group *g, u64 *ns);
void vfence_engine_group_read_word_locked(struct engine_group *g, unsigned int i, u64 now);
int vfence_engine_group_thread(void *data);
void vfence_engine_group_end_reset_locked(struct engine_group *g, struct vgpu *gpu, bool done);
void vfence_engine_group_report_reset(struct engine_group *g, struct vgpu *gpu, bool done,
				      const char *reason);

#endif
