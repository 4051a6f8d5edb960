/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_POLICY_H_
#define _VFENCE_POLICY_H_

/*
 * Which function of a chip owns a group of engines, and for how long. These are pure functions
 * without a clock: the module, the property tests and the simulator ("vfence simulate") compile the
 * same source, and call them as follows:
 *
 *  1. A function gets work or has none left: vfence_policy_set_busy().
 *  2. vfence_policy_decide() says whether the group changes its owner, or when to ask again.
 *  3. After VFENCE_POLICY_SWITCH the caller lets the response time pass, in which the owner keeps
 *     working, and asks again: the owner may have got work meanwhile. If the answer is the same, it
 *     switches, calls vfence_policy_charge() for the owner of before and vfence_policy_own() for
 *     the next one.
 *
 * A new policy is a line of vfence_policies[] and, if it chooses in another way than those that are
 * there, a function like policy_pick_fair().
 */

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

/** VFENCE_POLICY_FUNCTIONS: most functions of a chip: the physical one and 16 virtual ones */
#define VFENCE_POLICY_FUNCTIONS	17
/** VFENCE_POLICY_NEVER: no time */
#define VFENCE_POLICY_NEVER	(~(__u64)0)
/** VFENCE_POLICY_WEIGHT: weight of a function whose share was not configured */
#define VFENCE_POLICY_WEIGHT	100
/** VFENCE_POLICY_SKIPS: decisions after which the caller reads the busy words of all functions */
#define VFENCE_POLICY_SKIPS	8
/** VFENCE_POLICY_BUCKETS: number of parts of the window of a hard cap */
#define VFENCE_POLICY_BUCKETS	20
/** VFENCE_POLICY_BUCKET_NS: length of one part in ns; the window has 100 ms */
#define VFENCE_POLICY_BUCKET_NS	5000000ull

/**
 * enum vfence_policy_kind - the policies
 */
enum vfence_policy_kind {
	/** @VFENCE_POLICY_ROUND_ROBIN: Each function has its slice, used or not. */
	VFENCE_POLICY_ROUND_ROBIN,
	/** @VFENCE_POLICY_ELEVATOR: As before, but functions without work are passed over. */
	VFENCE_POLICY_ELEVATOR,
	/** @VFENCE_POLICY_ON_DEMAND: As before, and an owner without work yields. */
	VFENCE_POLICY_ON_DEMAND,
	/** @VFENCE_POLICY_FAIR: Least use by weight comes next; overrun counts. */
	VFENCE_POLICY_FAIR,
	/** @VFENCE_POLICY_FIXED: As round-robin, and overrun is taken from the next slices. */
	VFENCE_POLICY_FIXED,
	/** @VFENCE_POLICY_AHEAD: As fair, and a switch is prepared before the slice ends. */
	VFENCE_POLICY_AHEAD,
	/** @VFENCE_POLICIES: Number of the policies. */
	VFENCE_POLICIES,
};

/**
 * struct vfence_policy_rules - what a policy does
 */
struct vfence_policy_rules {
	/** @name: its name in sysfs */
	const char *name;
	/** @solid: a function keeps its slice without work, and gets it without work */
	bool solid;
	/** @yields: an owner without work gives the engines away */
	bool yields;
	/** @fair: virtual time decides, not the order */
	bool fair;
	/** @owes: overrun is taken from the next slices */
	bool owes;
	/** @ahead: the response time is part of the slice */
	bool ahead;
};

static const struct vfence_policy_rules vfence_policies[VFENCE_POLICIES] = {
	[VFENCE_POLICY_ROUND_ROBIN] = { "round-robin", .solid = true },
	[VFENCE_POLICY_ELEVATOR] = { "elevator" },
	[VFENCE_POLICY_ON_DEMAND] = { "on-demand", .yields = true },
	[VFENCE_POLICY_FAIR] = { "fair", .yields = true, .fair = true },
	[VFENCE_POLICY_FIXED] = { "fixed", .solid = true, .owes = true },
	[VFENCE_POLICY_AHEAD] = { "ahead", .yields = true, .fair = true, .ahead = true },
};

/**
 * struct vfence_policy_function - one function as a policy sees it
 */
struct vfence_policy_function {
	/** @present: it exists and is not paused */
	bool present;
	/** @busy: it has work, as far as the host knows */
	bool busy;
	/** @on_demand: it has no slice of its own under a solid policy unless it has work */
	bool on_demand;

	/** @slice_ns: length of its slice in ns */
	__u64 slice_ns;
	/** @weight: its share, against the weights of the others */
	__u32 weight;
	/** @cap_percent: hard limit of its time within 100 ms, in percent; 0: none */
	__u32 cap_percent;

	/** @vtime: its virtual time in ns */
	__u64 vtime;
	/** @owed_ns: overrun that it owes, in ns */
	__u64 owed_ns;
	/** @used: time in ns that it used in the parts of the window */
	__u64 used[VFENCE_POLICY_BUCKETS];
	/** @used_in: number of the last part in which it used time */
	__u64 used_in;
};

/**
 * struct vfence_policy - the state of a policy for one group of engines
 */
struct vfence_policy {
	/** @kind: &enum vfence_policy_kind */
	unsigned int kind;
	/** @response_ns: time from a decision to the switch, in ns */
	__u64 response_ns;

	/** @owner: index of the owner, or -1 */
	int owner;
	/** @slice_end: when its slice ends, in ns */
	__u64 slice_end;
	/** @lead_ns: how much earlier the end is decided, in ns; less than the slice */
	__u64 lead_ns;
	/** @parked: the owner has no work, and no other function had any */
	bool parked;
	/** @vtime: virtual time of the last owner, in ns */
	__u64 vtime;
	/** @decisions: number of decisions since the busy words were read */
	unsigned int decisions;

	/** @function: the functions */
	struct vfence_policy_function function[VFENCE_POLICY_FUNCTIONS];
};

/**
 * enum vfence_policy_action - what to do
 */
enum vfence_policy_action {
	/** @VFENCE_POLICY_KEEP: Keep the owner, if there is one. */
	VFENCE_POLICY_KEEP,
	/** @VFENCE_POLICY_SWITCH: Give the engines to another function. */
	VFENCE_POLICY_SWITCH,
};

/**
 * struct vfence_policy_decision - a decision
 */
struct vfence_policy_decision {
	/** @action: what to do */
	enum vfence_policy_action action;
	/** @next: for SWITCH: index of the next owner, or -1: no function may have the engines */
	int next;
	/** @until: for KEEP: ask again at this time in ns, or when a function turns busy or idle */
	__u64 until;
};

static inline __u64 policy_div(__u64 a, __u64 b)
{
#ifdef __KERNEL__
	return div64_u64(a, b);
#else
	return a / b;
#endif
}

static inline const struct vfence_policy_rules *policy_rules(const struct vfence_policy *policy)
{
	return &vfence_policies[policy->kind];
}

/* Forget what a function used before the window that ends in part @now_in. */
static inline void policy_roll_window(struct vfence_policy_function *f, __u64 now_in)
{
	__u64 i;

	if (now_in - f->used_in >= VFENCE_POLICY_BUCKETS)
		for (i = 0; i < VFENCE_POLICY_BUCKETS; i++)
			f->used[i] = 0;
	else
		for (i = f->used_in + 1; i <= now_in; i++)
			f->used[i % VFENCE_POLICY_BUCKETS] = 0;
	f->used_in = now_in;
}

/* The time that the cap of a function allows in the window, in ns. */
static inline __u64 policy_cap(const struct vfence_policy_function *f)
{
	return VFENCE_POLICY_BUCKETS * VFENCE_POLICY_BUCKET_NS / 100 * f->cap_percent;
}

/* How long may a function run until it reaches its cap, in ns? */
static inline __u64 policy_cap_left(struct vfence_policy_function *f, __u64 now)
{
	__u64 limit = policy_cap(f), used = 0;
	unsigned int i;

	if (!f->cap_percent)
		return VFENCE_POLICY_NEVER;
	policy_roll_window(f, policy_div(now, VFENCE_POLICY_BUCKET_NS));
	for (i = 0; i < VFENCE_POLICY_BUCKETS; i++)
		used += f->used[i];
	return used < limit ? limit - used : 0;
}

/*
 * May the function own the engines? It must have work or a slice of its own, and its cap must leave
 * more than a tenth of its slice, or of the cap if that is less.
 */
static inline bool policy_is_eligible(struct vfence_policy *policy, int i, __u64 now)
{
	struct vfence_policy_function *f = &policy->function[i];
	bool wants = f->busy || (policy_rules(policy)->solid && !f->on_demand);
	__u64 whole = f->slice_ns;

	if (f->cap_percent && policy_cap(f) < whole)
		whole = policy_cap(f);
	return f->present && wants && policy_cap_left(f, now) > policy_div(whole, 10);
}

/*
 * Each round takes one slice from every function that owes one. Take the slices of the rounds in
 * which all functions owe one, so that the next round has an owner.
 */
static inline void policy_skip_rounds(struct vfence_policy *policy, __u64 now)
{
	__u64 rounds = VFENCE_POLICY_NEVER;
	int i;

	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		const struct vfence_policy_function *f = &policy->function[i];

		if (!policy_is_eligible(policy, i, now))
			continue;
		if (policy_div(f->owed_ns, f->slice_ns) < rounds)
			rounds = policy_div(f->owed_ns, f->slice_ns);
	}
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		if (policy_is_eligible(policy, i, now))
			policy->function[i].owed_ns -= rounds * policy->function[i].slice_ns;
}

/* The next function in a circle, which may be the owner. Returns -1 without one. */
static inline int policy_pick_next(struct vfence_policy *policy, __u64 now)
{
	int from = policy->owner < 0 ? 0 : policy->owner + 1, i;

	if (policy_rules(policy)->owes)
		policy_skip_rounds(policy, now);
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		int k = (from + i) % VFENCE_POLICY_FUNCTIONS;
		struct vfence_policy_function *f = &policy->function[k];

		if (!policy_is_eligible(policy, k, now))
			continue;
		if (!policy_rules(policy)->owes || f->owed_ns < f->slice_ns)
			return k;
		f->owed_ns -= f->slice_ns;
	}
	return -1;
}

/* The function with the least virtual time; the owner only if no other one has less. */
static inline int policy_pick_fair(struct vfence_policy *policy, __u64 now)
{
	int best = -1, i;

	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		int k = (policy->owner + 1 + i) % VFENCE_POLICY_FUNCTIONS;

		if (policy_is_eligible(policy, k, now) &&
		    (best < 0 ||
		     (__s64)(policy->function[k].vtime - policy->function[best].vtime) < 0))
			best = k;
	}
	return best;
}

/* When does a busy function get below its cap again? */
static inline __u64 policy_cap_timer(struct vfence_policy *policy, __u64 now)
{
	int i;

	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		if (policy->function[i].present && policy->function[i].busy &&
		    policy->function[i].cap_percent && i != policy->owner)
			return (policy_div(now, VFENCE_POLICY_BUCKET_NS) + 1) *
			       VFENCE_POLICY_BUCKET_NS;
	return VFENCE_POLICY_NEVER;
}

/** vfence_policy_init - begin with no function */
static inline void vfence_policy_init(struct vfence_policy *policy, unsigned int kind,
				      __u64 response_ns)
{
	*policy = (struct vfence_policy){
		.kind = kind, .response_ns = response_ns, .owner = -1,
	};
}

/**
 * vfence_policy_add - add a function
 * @policy: the policy
 * @i: its index
 * @slice_ns: its slice in ns
 *
 * It has no work, the usual weight, and no cap.
 */
static inline void vfence_policy_add(struct vfence_policy *policy, int i, __u64 slice_ns)
{
	policy->function[i] = (struct vfence_policy_function){
		.present = true, .slice_ns = slice_ns, .weight = VFENCE_POLICY_WEIGHT,
		.vtime = policy->vtime,
	};
}

static inline __u64 policy_slice(struct vfence_policy *policy, int i, __u64 now)
{
	struct vfence_policy_function *f = &policy->function[i];
	__u64 slice = f->slice_ns, left = policy_cap_left(f, now);

	if (policy_rules(policy)->owes) {
		if (f->owed_ns <= slice / 2) {
			slice -= f->owed_ns;
			f->owed_ns = 0;
		} else {
			f->owed_ns -= slice / 2;
			slice /= 2;
		}
	}
	return left < slice ? left : slice;
}

/** vfence_policy_own - a function owns the engines from now on, or none with -1 */
static inline void vfence_policy_own(struct vfence_policy *policy, int i, __u64 now)
{
	__u64 slice;

	policy->owner = i;
	policy->parked = false;
	if (i < 0)
		return;
	slice = policy_slice(policy, i, now);
	policy->slice_end = now + slice;
	policy->lead_ns = 0;
	if (policy_rules(policy)->ahead)
		policy->lead_ns = policy->response_ns < slice / 2 ? policy->response_ns : slice / 2;
	if ((__s64)(policy->function[i].vtime - policy->vtime) > 0)
		policy->vtime = policy->function[i].vtime;
}

/**
 * vfence_policy_set_busy - a function has work, or has none left
 * @policy: the policy
 * @i: the function
 * @busy: it has work
 * @now: the time in ns
 */
static inline void vfence_policy_set_busy(struct vfence_policy *policy, int i, bool busy,
					  __u64 now)
{
	struct vfence_policy_function *f = &policy->function[i];
	__u64 floor = policy->vtime - f->slice_ns;

	/* A function that slept may be one slice behind: it cannot save up time. */
	if (busy && !f->busy && (__s64)(f->vtime - floor) < 0)
		f->vtime = floor;
	f->busy = busy;
	/* A parked owner goes on at once, with a slice of its own. */
	if (busy && i == policy->owner && policy->parked)
		vfence_policy_own(policy, i, now);
}

/**
 * vfence_policy_must_refresh - count a decision; must the caller read all busy words before it
 * @policy: the policy
 *
 * The decisions that do so find the functions whose messages were lost.
 */
static inline bool vfence_policy_must_refresh(struct vfence_policy *policy)
{
	if (++policy->decisions < VFENCE_POLICY_SKIPS)
		return false;
	policy->decisions = 0;
	return true;
}

/**
 * vfence_policy_charge - charge the owner
 * @policy: the policy
 * @ns: time since the last charge, in ns, with the time to stop the engines
 * @over_ns: the part of it that was after the owner's slice, in ns
 * @now: the time in ns
 */
static inline void vfence_policy_charge(struct vfence_policy *policy, __u64 ns, __u64 over_ns,
					__u64 now)
{
	__u64 now_in = policy_div(now, VFENCE_POLICY_BUCKET_NS);
	struct vfence_policy_function *f;

	if (policy->owner < 0)
		return;
	f = &policy->function[policy->owner];
	f->vtime += policy_div(ns * VFENCE_POLICY_WEIGHT, f->weight);
	if (policy_rules(policy)->owes)
		f->owed_ns += over_ns;
	policy_roll_window(f, now_in);
	f->used[now_in % VFENCE_POLICY_BUCKETS] += ns;
}

/**
 * vfence_policy_decide - who owns the engines
 * @policy: the policy; the owner has been charged up to @now
 * @now: the time in ns
 */
static inline struct vfence_policy_decision vfence_policy_decide(struct vfence_policy *policy,
								 __u64 now)
{
	const struct vfence_policy_rules *rules = policy_rules(policy);
	struct vfence_policy_decision keep = { .action = VFENCE_POLICY_KEEP, .next = -1 };
	struct vfence_policy_function *owner;
	__u64 end = policy->slice_end - policy->lead_ns;
	int next;

	owner = policy->owner < 0 ? NULL : &policy->function[policy->owner];
	if (owner && owner->present && now < end && (owner->busy || !rules->yields)) {
		keep.until = end;
		return keep;
	}

	next = rules->fair ? policy_pick_fair(policy, now) : policy_pick_next(policy, now);
	/* An owner that has reached its cap stops, even if no other function wants the engines. */
	if ((next >= 0 || (owner && (owner->busy || !owner->present))) && next != policy->owner)
		return (struct vfence_policy_decision){
			.action = VFENCE_POLICY_SWITCH, .next = next,
		};

	/* Renew the slice of a busy owner. Park an idle one: its next work begins a slice. */
	keep.until = policy_cap_timer(policy, now);
	if (next >= 0 && owner->busy) {
		vfence_policy_own(policy, policy->owner, now);
		if (policy->slice_end - policy->lead_ns < keep.until)
			keep.until = policy->slice_end - policy->lead_ns;
	} else {
		policy->slice_end = now;
		policy->lead_ns = 0;
		policy->parked = true;
	}
	return keep;
}

#endif
