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
 *  3. After VFENCE_POLICY_SWITCH the caller lets the rest of the response time pass, in which the
 *     owner keeps working, and asks again: the owner may have got work meanwhile. If the answer is
 *     the same, it switches, calls vfence_policy_charge() for the owner of before and
 *     vfence_policy_own() for the next one.
 *
 * A new policy is a line of vfence_policies[] and, if it chooses in another way than those that are
 * there, a function like policy_least().
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
/** VFENCE_POLICY_WINDOW_NS: length of the window of a hard cap, in ns */
#define VFENCE_POLICY_WINDOW_NS	100000000ull
/** VFENCE_POLICY_BUCKET_NS: length of one part of the window in ns */
#define VFENCE_POLICY_BUCKET_NS	5000000ull
/**
 * VFENCE_POLICY_BUCKETS: number of parts that count: those of a window that ends now, and the one
 * that the window is leaving
 */
#define VFENCE_POLICY_BUCKETS	(VFENCE_POLICY_WINDOW_NS / VFENCE_POLICY_BUCKET_NS + 1)

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
	/** @VFENCE_POLICY_AHEAD: As fair, and the next owner is chosen before its turn. */
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
	/** @ahead: the response time counts from when the next owner could be known */
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
	/** @place: the last function that had a turn, from which the circle goes on, or -1 */
	int place;
	/** @owned_at: when its slice began, in ns, or when it got work after a time without work */
	__u64 owned_at;
	/** @slice_end: when its slice ends, in ns */
	__u64 slice_end;
	/** @ready: with an @ahead policy the function that is chosen to follow the owner, or -1 */
	int ready;
	/** @ready_at: time when it was chosen, in ns */
	__u64 ready_at;
	/** @parked: the owner has neither work nor exclusive access, and no other one had work */
	bool parked;
	/** @alone: the function that has the engines exclusively, or -1 */
	int alone;
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
	/** @lead_ns: for SWITCH: how much of the response time has passed already, in ns */
	__u64 lead_ns;
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

	/* The host decides as of a time that may be a little before that of the last charge. */
	if (now_in <= f->used_in)
		return;
	if (now_in - f->used_in >= VFENCE_POLICY_BUCKETS)
		for (i = 0; i < VFENCE_POLICY_BUCKETS; i++)
			f->used[i] = 0;
	else
		for (i = f->used_in + 1; i <= now_in; i++)
			f->used[i % VFENCE_POLICY_BUCKETS] = 0;
	f->used_in = now_in;
}

/* The function has used the last @ns before @now: each part of the window gets what was in it. */
static inline void policy_use(struct vfence_policy_function *f, __u64 ns, __u64 now)
{
	__u64 in = policy_div(now, VFENCE_POLICY_BUCKET_NS), part;
	unsigned int i;

	policy_roll_window(f, in);
	for (i = 0; i < VFENCE_POLICY_BUCKETS && ns; i++, in--) {
		part = now - in * VFENCE_POLICY_BUCKET_NS;
		if (part > ns)
			part = ns;
		if (in + VFENCE_POLICY_BUCKETS > f->used_in)
			f->used[in % VFENCE_POLICY_BUCKETS] += part;
		ns -= part;
		now -= part;
	}
}

/*
 * The time after which a function with a cap has to stop within the window, in ns. It goes on in
 * the response time, which belongs to its cap; but a cap always leaves half of its time.
 */
static inline __u64 policy_cap(const struct vfence_policy *policy,
			       const struct vfence_policy_function *f)
{
	__u64 whole = VFENCE_POLICY_WINDOW_NS / 100 * f->cap_percent;

	return whole - (policy->response_ns < whole / 2 ? policy->response_ns : whole / 2);
}

/* How long may a function run until it has to stop for its cap, in ns? */
static inline __u64 policy_cap_left(const struct vfence_policy *policy,
				    struct vfence_policy_function *f, __u64 now)
{
	__u64 limit = policy_cap(policy, f), used = 0;
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

	if (f->cap_percent && policy_cap(policy, f) < whole)
		whole = policy_cap(policy, f);
	return f->present && wants && policy_cap_left(policy, f, now) > policy_div(whole, 10);
}

/* In how many rounds does each function owe a slice, so that none of them runs? */
static inline __u64 policy_empty_rounds(struct vfence_policy *policy, __u64 now)
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
	return rounds;
}

/*
 * The next function in the circle, which may be the owner. Pass over those that owe a slice.
 * Returns -1 without one.
 */
static inline int policy_pick_next(struct vfence_policy *policy, __u64 now)
{
	bool owes = policy_rules(policy)->owes;
	__u64 rounds = owes ? policy_empty_rounds(policy, now) : 0;
	int i;

	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		int k = (policy->place + 1 + i) % VFENCE_POLICY_FUNCTIONS;
		const struct vfence_policy_function *f = &policy->function[k];

		if (policy_is_eligible(policy, k, now) &&
		    (!owes || f->owed_ns - rounds * f->slice_ns < f->slice_ns))
			return k;
	}
	return -1;
}

/* A function is next: each function that was passed over for it has given a slice that it owed. */
static inline void policy_take_slices(struct vfence_policy *policy, int next, __u64 now)
{
	__u64 rounds = policy_empty_rounds(policy, now);
	int i, k;

	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		if (policy_is_eligible(policy, i, now))
			policy->function[i].owed_ns -= rounds * policy->function[i].slice_ns;
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		k = (policy->place + 1 + i) % VFENCE_POLICY_FUNCTIONS;
		if (k == next)
			return;
		if (policy_is_eligible(policy, k, now) &&
		    policy->function[k].owed_ns >= policy->function[k].slice_ns)
			policy->function[k].owed_ns -= policy->function[k].slice_ns;
	}
}

/* May another function than the owner have the engines? */
static inline bool policy_others_may(struct vfence_policy *policy, __u64 now)
{
	int i;

	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		if (i != policy->owner && policy_is_eligible(policy, i, now))
			return true;
	return false;
}

/*
 * The function with the least virtual time, the first one of these in the circle; the owner
 * only if it may be and no other one has less.
 */
static inline int policy_least(struct vfence_policy *policy, bool owner_may, __u64 now)
{
	int best = -1, i;

	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++) {
		int k = (policy->place + 1 + i) % VFENCE_POLICY_FUNCTIONS;

		if ((k == policy->owner && !owner_may) || !policy_is_eligible(policy, k, now))
			continue;
		if (best < 0 ||
		    (__s64)(policy->function[k].vtime - policy->function[best].vtime) < 0)
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
		.kind = kind, .response_ns = response_ns, .owner = -1, .place = -1,
		.ready = -1, .alone = -1,
	};
}

/** vfence_policy_set_kind - change the policy; keep the use that is charged to functions */
static inline void vfence_policy_set_kind(struct vfence_policy *policy, unsigned int kind)
{
	policy->kind = kind;
	policy->ready = -1;
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
	__u64 slice = f->slice_ns, left = policy_cap_left(policy, f, now);

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

/**
 * vfence_policy_cap_changed - a function has another cap: end its slice as early as that wants it
 * @policy: the policy; the owner has been charged up to @now
 * @i: index of the function
 * @now: the time in ns
 */
static inline void vfence_policy_cap_changed(struct vfence_policy *policy, int i, __u64 now)
{
	__u64 left = policy_cap_left(policy, &policy->function[i], now);

	if (policy->owner == i && now < policy->slice_end && left < policy->slice_end - now)
		policy->slice_end = now + left;
}

/* Choose the function that follows the owner, and note the time when the choice changes. */
static inline void policy_prepare(struct vfence_policy *policy, __u64 now)
{
	int next;

	if (!policy_rules(policy)->ahead)
		return;
	next = policy_least(policy, false, now);
	if (next == policy->ready)
		return;
	policy->ready = next;
	policy->ready_at = now;
}

/* How much of the response time has passed at @now, if a function is next? */
static inline __u64 policy_lead(const struct vfence_policy *policy, int next, __u64 now)
{
	__u64 lead = now - policy->ready_at;

	if (!policy_rules(policy)->ahead || next != policy->ready || now < policy->ready_at)
		return 0;
	return lead < policy->response_ns ? lead : policy->response_ns;
}

/** vfence_policy_own - a function owns the engines from now on, or none with -1 */
static inline void vfence_policy_own(struct vfence_policy *policy, int i, __u64 now)
{
	if (i >= 0 && i != policy->alone && policy_rules(policy)->owes)
		policy_take_slices(policy, i, now);
	policy->owner = i;
	policy->parked = false;
	if (i < 0)
		return;
	policy->owned_at = now;
	/* Exclusive access is no turn: the circle goes on where it was. */
	if (i != policy->alone)
		policy->place = i;
	/* Nor is it a slice. If overrun is owed, all of it is taken back later. */
	policy->slice_end = now + (i == policy->alone ? 0 : policy_slice(policy, i, now));
	if ((__s64)(policy->function[i].vtime - policy->vtime) > 0)
		policy->vtime = policy->function[i].vtime;
	policy_prepare(policy, now);
}

/**
 * vfence_policy_set_alone - give the engines to one function, with work or without
 * @policy: the policy
 * @i: the function; -1: to all in turn again
 * @now: the time in ns
 */
static inline void vfence_policy_set_alone(struct vfence_policy *policy, int i, __u64 now)
{
	/* End the slice of the owner: repeated requests must not extend it. */
	if (i < 0 && policy->alone >= 0)
		policy->slice_end = now;
	policy->alone = i;
	/* From now on it keeps the others from the engines, and pays for it. */
	if (i >= 0 && i == policy->owner && policy->parked)
		vfence_policy_own(policy, i, now);
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
	__u64 floor = policy->vtime - policy_div(f->slice_ns * VFENCE_POLICY_WEIGHT, f->weight);

	/* A function that slept may be one slice of real time behind: it cannot save up time. */
	if (busy && !f->busy && (__s64)(f->vtime - floor) < 0)
		f->vtime = floor;
	f->busy = busy;
	/* A parked owner goes on at once, with a slice of its own. */
	if (busy && i == policy->owner && policy->parked)
		vfence_policy_own(policy, i, now);
	policy_prepare(policy, now);
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
 *
 * An owner pays nothing for the time in which it was parked, because no other function had work.
 */
static inline void vfence_policy_charge(struct vfence_policy *policy, __u64 ns, __u64 over_ns,
					__u64 now)
{
	struct vfence_policy_function *f;

	if (policy->owner < 0 || policy->parked || (__s64)(now - policy->owned_at) <= 0)
		return;
	if (ns > now - policy->owned_at)
		ns = now - policy->owned_at;
	f = &policy->function[policy->owner];
	f->vtime += policy_div(ns * VFENCE_POLICY_WEIGHT, f->weight);
	if (policy_rules(policy)->owes)
		f->owed_ns += over_ns;
	policy_use(f, ns, now);
}

static inline struct vfence_policy_decision policy_decide_alone(const struct vfence_policy *policy)
{
	return (struct vfence_policy_decision){
		.action = policy->owner == policy->alone ? VFENCE_POLICY_KEEP :
							   VFENCE_POLICY_SWITCH,
		.next = policy->alone, .until = VFENCE_POLICY_NEVER,
	};
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
	int next;

	if (policy->alone >= 0)
		return policy_decide_alone(policy);
	owner = policy->owner < 0 ? NULL : &policy->function[policy->owner];
	if (owner && owner->present && now < policy->slice_end &&
	    (owner->busy || !rules->yields)) {
		keep.until = policy->slice_end;
		return keep;
	}

	next = rules->fair ? policy_least(policy, true, now) : policy_pick_next(policy, now);
	/* An owner that has reached its cap stops, even if no other function wants the engines. */
	if ((next >= 0 || (owner && (owner->busy || !owner->present))) && next != policy->owner)
		return (struct vfence_policy_decision){
			.action = VFENCE_POLICY_SWITCH, .next = next,
			.lead_ns = policy_lead(policy, next, now),
		};

	/*
	 * Renew the slice of a busy owner, and of one that has the slices of others in debt.
	 * Park another idle one: its next work begins a slice.
	 */
	keep.until = policy_cap_timer(policy, now);
	if (next >= 0 && (owner->busy || policy_others_may(policy, now))) {
		vfence_policy_own(policy, policy->owner, now);
		if (policy->slice_end < keep.until)
			keep.until = policy->slice_end;
	} else {
		policy->slice_end = now;
		policy->parked = true;
	}
	return keep;
}

#endif
