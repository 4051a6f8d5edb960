/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VF_SCHED_H_
#define _VFENCE_VF_SCHED_H_

#include <linux/types.h>

#include "hw/vgpu.h"
#include "vfence_policy.h"

struct vfence_adapter;
struct vfence_vf_sched;

/** VFENCE_VF_SCHED_LATENCIES: number of ranges of a latency, each twice the one before */
#define VFENCE_VF_SCHED_LATENCIES	12

/**
 * struct vfence_vf_sched_config - how functions share the engines
 */
struct vfence_vf_sched_config {
	/** @policy: &enum vfence_policy_kind */
	u32 policy;
	/** @response_us: time from a decision to the switch, in us */
	u32 response_us;
	/** @switch_us: time that a switch takes, in us */
	u32 switch_us;
	/** @access_limit_ms: how long a function may have the engines for itself, in ms */
	u32 access_limit_ms;
};

/**
 * struct vfence_vf_profile - what a function gets
 */
struct vfence_vf_profile {
	/** @slice_us: its slice, in us */
	u32 slice_us;
	/** @weight: its weight under the fair policies */
	u32 weight;
	/** @cap_percent: hard limit within 100 ms, in percent; 0: none */
	u32 cap_percent;
	/** @preempt_timeout_us: how long its engines may take to stop, in us; 0: for ever */
	u32 preempt_timeout_us;
	/** @on_demand: it has no turn without work under the solid policies */
	u32 on_demand;
};

/**
 * struct vfence_vf_sched_usage - what a function has had of a group of engines; times in ns
 */
struct vfence_vf_sched_usage {
	/** @run_ns: it owned the engines */
	u64 run_ns;
	/** @stop_ns: the engines were being taken from it */
	u64 stop_ns;
	/** @longest_stop_ns: the longest of these times */
	u64 longest_stop_ns;
	/** @overrun_ns: it had the engines for longer than its slice */
	u64 overrun_ns;
	/** @turns: number of times that it got the engines */
	u64 turns;
	/** @yields: number of times that it gave them away without work */
	u64 yields;
	/** @preemptions: number of times that it had work when it lost them */
	u64 preemptions;
	/** @resets: number of times that it was reset because it did not give them away */
	u64 resets;
	/** @recovered: number of times that a lost message was found */
	u64 recovered;
	/** @turned_busy: number of messages that it has work */
	u64 turned_busy;
	/** @turned_idle: number of messages that it has none left */
	u64 turned_idle;
	/** @busy: it has work */
	bool busy;
	/** @known_busy: as far as the host knows */
	bool known_busy;
};

/**
 * struct vfence_vf_sched_total - what happened to a group of engines; times in ns
 */
struct vfence_vf_sched_total {
	/** @elapsed_ns: time since there are virtual functions: the sum of all times */
	u64 elapsed_ns;
	/** @switch_ns: registers were saved and loaded */
	u64 switch_ns;
	/** @unowned_ns: no function had the engines */
	u64 unowned_ns;
	/** @switches: number of switches */
	u64 switches;
	/** @cancelled: number of switches that the owner's new work has cancelled */
	u64 cancelled;
	/** @gpu_resets: number of resets of the GPU, because a function could not be reset */
	u64 gpu_resets;
	/** @latency: yields by the time until the switch began: below 1 us, 2 us, 4 us, ... */
	u64 latency[VFENCE_VF_SCHED_LATENCIES];
};

/**
 * struct vfence_vf_sched_times - where the time of a group of engines went, read at one instant
 */
struct vfence_vf_sched_times {
	/** @total: of the group; the times below and those in it add up to its elapsed time */
	struct vfence_vf_sched_total total;
	/** @run_ns: time that each function owned the engines, in ns */
	u64 run_ns[VFENCE_POLICY_FUNCTIONS];
	/** @stop_ns: time in which the engines were being taken from each function, in ns */
	u64 stop_ns[VFENCE_POLICY_FUNCTIONS];
};

/* Called under a spinlock with interrupts off. */
typedef void (*vfence_vf_sched_mail_fn)(void *data, unsigned int function, u32 message);

struct vfence_vf_sched *vfence_vf_sched_create(struct vfence_adapter *adapter);
void vfence_vf_sched_start(struct vfence_vf_sched *sched, vfence_vf_sched_mail_fn mail, void *data);
void vfence_vf_sched_stop(struct vfence_vf_sched *sched);
void vfence_vf_sched_destroy(struct vfence_vf_sched *sched);
void vfence_vf_sched_join(struct vfence_vf_sched *sched, struct vfence_adapter *adapter);
void vfence_vf_sched_leave(struct vfence_vf_sched *sched, struct vfence_adapter *adapter);

void vfence_vf_sched_get_config(struct vfence_vf_sched *sched,
				struct vfence_vf_sched_config *config);
void vfence_vf_sched_set_config(struct vfence_vf_sched *sched,
				const struct vfence_vf_sched_config *config);
void vfence_vf_sched_get_profile(struct vfence_vf_sched *sched, unsigned int function,
				 struct vfence_vf_profile *share);
void vfence_vf_sched_set_profile(struct vfence_vf_sched *sched, unsigned int function,
				 const struct vfence_vf_profile *share);
unsigned int vfence_vf_sched_access_ms(struct vfence_vf_sched *sched);
bool vfence_vf_sched_acquire_exclusive(struct vfence_vf_sched *sched, unsigned int function,
				       unsigned int ms);
void vfence_vf_sched_release_exclusive(struct vfence_vf_sched *sched);
u32 vfence_vf_sched_paused(struct vfence_vf_sched *sched);
int vfence_vf_sched_pause(struct vfence_vf_sched *sched, unsigned int function);
void vfence_vf_sched_resume(struct vfence_vf_sched *sched, unsigned int function);
void vfence_vf_sched_reset(struct vfence_vf_sched *sched, struct vgpu *gpu, const char *reason);
void vfence_vf_sched_query(struct vfence_vf_sched *sched, unsigned int group, unsigned int function,
			   struct vfence_vf_sched_usage *usage);
void vfence_vf_sched_query_times(struct vfence_vf_sched *sched, unsigned int group,
				 struct vfence_vf_sched_times *times);

#endif
