/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VICTIM_H_
#define _VFENCE_VICTIM_H_

/*
 * Which doorbell gives its physical one, if another one needs it and none is free. These are pure
 * functions, so that the module and the property tests in user space compile the same source.
 *
 *  1. The process with the most physical doorbells gives one. A process that would have more than
 *     that one afterwards gives one of its own: no process with less than a fair share loses any.
 *  2. A process without one gets one from the process with the most, also from its last one. A
 *     process has its last one for a minimum time.
 *  3. Of these, idle queues give first, then those that were connected longest ago.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

/** VFENCE_VICTIM_KEEP_NS: how long a process has at least one physical doorbell, in ns */
#define VFENCE_VICTIM_KEEP_NS	4000000ull

/**
 * struct vfence_victim_owner - the physical doorbells of a process
 */
struct vfence_victim_owner {
	/** @held: number of those that it has and that stay */
	unsigned int held;
	/** @coming: number of those that others, or itself, give to it */
	unsigned int coming;
	/** @since: since when it has had one, in ns; 0: it has none */
	__u64 since;
};

/**
 * struct vfence_victim - a doorbell that may have to give
 */
struct vfence_victim {
	/** @owner: its process */
	const struct vfence_victim_owner *owner;
	/** @idle: its queue has no work */
	bool idle;
	/** @granted_at: number of its grant, in the order of all grants */
	__u64 granted_at;
};

static inline unsigned int vfence_victim_share(const struct vfence_victim_owner *owner)
{
	return owner->held + owner->coming;
}

/** vfence_victim_may_give - may a doorbell of @owner give its physical one to one of @asks */
static inline bool vfence_victim_may_give(const struct vfence_victim_owner *owner,
					  const struct vfence_victim_owner *asks)
{
	unsigned int share = vfence_victim_share(asks);

	return owner == asks || !share || vfence_victim_share(owner) > share + 1;
}

/** vfence_victim_is_before - does @a give rather than @b */
static inline bool vfence_victim_is_before(const struct vfence_victim *a,
					   const struct vfence_victim *b)
{
	unsigned int share_a = vfence_victim_share(a->owner);
	unsigned int share_b = vfence_victim_share(b->owner);

	if (share_a != share_b)
		return share_a > share_b;
	if (a->idle != b->idle)
		return a->idle;
	return a->granted_at < b->granted_at;
}

/** vfence_victim_is_kept - has a victim's process had its last one for too short, at @now */
static inline bool vfence_victim_is_kept(const struct vfence_victim *victim,
					 const struct vfence_victim_owner *asks, __u64 now)
{
	const struct vfence_victim_owner *owner = victim->owner;

	return owner != asks && vfence_victim_share(owner) == 1 &&
	       now - owner->since < VFENCE_VICTIM_KEEP_NS;
}

/** vfence_victim_grant - a process gets a physical doorbell, at @now; @came: it was coming */
static inline void vfence_victim_grant(struct vfence_victim_owner *owner, bool came, __u64 now)
{
	owner->held++;
	owner->coming -= came;
	if (!owner->since)
		owner->since = now;
}

/** vfence_victim_give - a doorbell of @owner gives its physical one to one of @asks */
static inline void vfence_victim_give(struct vfence_victim_owner *owner,
				      struct vfence_victim_owner *asks)
{
	/* In this order: who gives to itself has had one all the time. */
	asks->coming++;
	owner->held--;
	if (!vfence_victim_share(owner))
		owner->since = 0;
}

/** vfence_victim_lose - a process gives up a physical doorbell, or one that was coming */
static inline void vfence_victim_lose(struct vfence_victim_owner *owner, bool was_coming)
{
	if (was_coming)
		owner->coming--;
	else
		owner->held--;
	if (!vfence_victim_share(owner))
		owner->since = 0;
}

#endif
