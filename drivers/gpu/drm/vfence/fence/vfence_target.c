// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of fences and values, as calls and submissions name them.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "fence/vfence_fence.h"
#include "fence/vfence_target.h"
#include "fence/vfence_wait.h"

/**
 * vfence_targets_alloc - make room in an empty list
 * @targets: the list, which is all zero
 * @room: maximal number of targets, at least 1; the caller fills them in and counts them
 *
 * Return: 0 or -ENOMEM.
 */
int vfence_targets_alloc(struct vfence_targets *targets, unsigned int room)
{
	if (room == 1)
		return 0;
	targets->many = kvmalloc_array(room, sizeof(*targets->many), GFP_KERNEL_ACCOUNT);
	return targets->many ? 0 : -ENOMEM;
}

/**
 * vfence_targets_pledge - keep the waits that the signals of a list will end
 * @targets: fences that the client may signal, and that will be signaled later
 *
 * The waits for these fences do not end before the list is freed, even if all handles are closed.
 *
 * Return: 0, or -ENOENT if another thread has closed the handles meanwhile.
 */
int vfence_targets_pledge(struct vfence_targets *targets)
{
	struct vfence_target *list = vfence_targets_list(targets);
	unsigned int i;

	for (i = 0; i < targets->count; i++) {
		if (!vfence_fence_get_holder(list[i].fence, DRM_VFENCE_RIGHT_SIGNAL))
			return -ENOENT;
		/* It has a reference of its own. */
		vfence_fence_put(list[i].fence);
		list[i].pledged = true;
	}
	return 0;
}

void __vfence_targets_free(struct vfence_targets *targets)
{
	struct vfence_target *list = vfence_targets_list(targets);
	unsigned int i;

	for (i = 0; i < targets->count; i++) {
		if (list[i].pledged)
			vfence_fence_put_holder(list[i].fence, DRM_VFENCE_RIGHT_SIGNAL);
		else
			vfence_fence_put(list[i].fence);
	}
	targets->count = 0;
	if (targets->many)
		kvfree(targets->many);
	targets->many = NULL;
}

/**
 * vfence_targets_split - move the targets of fences with certain flags to a list of their own
 * @targets: the list
 * @fence_flags: DRM_VFENCE_FENCE_*; fences with at least one of them are moved
 * @split: an empty list; output: the moved targets in their order
 *
 * Return: 0, or -ENOMEM, and nothing has changed.
 */
int vfence_targets_split(struct vfence_targets *targets, u32 fence_flags,
			 struct vfence_targets *split)
{
	struct vfence_target *list = vfence_targets_list(targets);
	unsigned int i, moved = 0, remaining = 0;

	for (i = 0; i < targets->count; i++)
		moved += !!(list[i].fence->flags & fence_flags);
	if (!moved)
		return 0;
	if (vfence_targets_alloc(split, moved))
		return -ENOMEM;

	for (i = 0; i < targets->count; i++) {
		if (list[i].fence->flags & fence_flags)
			vfence_targets_list(split)[split->count++] = list[i];
		else
			list[remaining++] = list[i];
	}
	targets->count = remaining;
	return 0;
}

/**
 * vfence_targets_find_reached - check whether the values of a list are reached
 * @targets: the list
 * @any: true if one is enough
 *
 * Return: the index of a target that is reached if @any; 0 if all are reached, and @any is false;
 * else -1.
 */
int vfence_targets_find_reached(struct vfence_targets *targets, bool any)
{
	struct vfence_target *list = vfence_targets_list(targets);
	unsigned int i;

	for (i = 0; i < targets->count; i++)
		if (vfence_reached(vfence_fence_current(list[i].fence), list[i].value) == any)
			return any ? (int)i : -1;

	return any ? -1 : 0;
}

/**
 * vfence_targets_move - make targets the points of a wait
 * @targets: the targets; an empty list on return
 * @wait: the wait, from vfence_wait_alloc() with room for all targets; it has the references
 * @any: true if one reached point satisfies the wait
 */
void vfence_targets_move(struct vfence_targets *targets, struct vfence_wait *wait, bool any)
{
	struct vfence_target *list = vfence_targets_list(targets);
	unsigned int i;

	for (i = 0; i < targets->count; i++) {
		wait->points[i].fence = list[i].fence;
		wait->points[i].wait = wait;
		wait->points[i].value = list[i].value;
	}
	wait->count = targets->count;
	wait->any = any;
	atomic_set(&wait->pending, any ? 1 : wait->count);
	atomic_set(&wait->first, -1);

	targets->count = 0;
	vfence_targets_free(targets);
}
