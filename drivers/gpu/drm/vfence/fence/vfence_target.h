/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_TARGET_H_
#define _VFENCE_TARGET_H_

#include <linux/types.h>

struct vfence_fence;
struct vfence_wait;

/**
 * struct vfence_target - value of a fence, to be signaled or waited for
 */
struct vfence_target {
	/** @fence: The fence; the owner of the list has the reference. */
	struct vfence_fence *fence;
	/** @value: The value. */
	u64 value;
	/** @locked: A call that signals the list holds the signal lock of @fence by this target. */
	bool locked;
	/** @pledged: The target is a holder of @fence: it will signal. */
	bool pledged;
};

/**
 * struct vfence_targets - list of targets, with a reference on each fence
 *
 * All zero is an empty list. Most calls name one fence, which needs no memory but this structure.
 */
struct vfence_targets {
	/** @count: Number of targets. */
	unsigned int count;
	/** @many: The targets, or NULL if there is room for one: then it is @one. */
	struct vfence_target *many;
	/** @one: The only target. */
	struct vfence_target one;
	/** @caller: Client whose call signals them, or NULL. */
	const struct vfence_file *caller;
};

/** vfence_targets_list - the first target of a list */
static inline struct vfence_target *vfence_targets_list(struct vfence_targets *targets)
{
	return targets->many ? targets->many : &targets->one;
}

int vfence_targets_alloc(struct vfence_targets *targets, unsigned int room);
int vfence_targets_pledge(struct vfence_targets *targets);
void __vfence_targets_free(struct vfence_targets *targets);
int vfence_targets_split(struct vfence_targets *targets, u32 fence_flags,
			 struct vfence_targets *split);
int vfence_targets_find_reached(struct vfence_targets *targets, bool any);
void vfence_targets_move(struct vfence_targets *targets, struct vfence_wait *wait, bool any);

/** vfence_targets_free - put the references of a list and free its room; it is empty then */
static inline void vfence_targets_free(struct vfence_targets *targets)
{
	if (targets->count || targets->many)
		__vfence_targets_free(targets);
}

#endif
