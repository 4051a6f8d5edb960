// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of fences and values, as calls and submissions name them.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "fence/vfence_fence.h"
#include "fence/vfence_points.h"
#include "fence/vfence_wait.h"

/**
 * vfence_points_alloc - make room in an empty list
 * @points: the list, which is all zero
 * @room: maximal number of points, at least 1; the caller fills them in and counts them
 *
 * Return: 0 or -ENOMEM.
 */
int vfence_points_alloc(struct vfence_points *points, unsigned int room)
{
	if (room == 1)
		return 0;
	points->many = kvmalloc_array(room, sizeof(*points->many), GFP_KERNEL_ACCOUNT);
	return points->many ? 0 : -ENOMEM;
}

/**
 * vfence_points_pledge - keep the waits that the signals of a list will end
 * @points: fences that the client may signal, and that will be signaled later
 *
 * The waits for these fences do not end before the list is freed, even if all handles are closed.
 *
 * Return: 0, or -ENOENT if another thread has closed the handles meanwhile.
 */
int vfence_points_pledge(struct vfence_points *points)
{
	struct vfence_point *list = vfence_points_list(points);
	unsigned int i;

	for (i = 0; i < points->count; i++) {
		if (!vfence_fence_get_holder(list[i].fence, DRM_VFENCE_RIGHT_SIGNAL))
			return -ENOENT;
		/* It has a reference of its own. */
		vfence_fence_put(list[i].fence);
		list[i].pledged = true;
	}
	return 0;
}

void __vfence_points_free(struct vfence_points *points)
{
	struct vfence_point *list = vfence_points_list(points);
	unsigned int i;

	for (i = 0; i < points->count; i++) {
		if (list[i].pledged)
			vfence_fence_put_holder(list[i].fence, DRM_VFENCE_RIGHT_SIGNAL);
		else
			vfence_fence_put(list[i].fence);
	}
	points->count = 0;
	if (points->many)
		kvfree(points->many);
	points->many = NULL;
}

/**
 * vfence_points_split - move the points of fences with certain flags to a list of their own
 * @points: the list
 * @fence_flags: DRM_VFENCE_FENCE_*; fences with at least one of them are moved
 * @split: an empty list; output: the moved points in their order
 *
 * Return: 0, or -ENOMEM, and nothing has changed.
 */
int vfence_points_split(struct vfence_points *points, u32 fence_flags,
			struct vfence_points *split)
{
	struct vfence_point *list = vfence_points_list(points);
	unsigned int i, moved = 0, remaining = 0;

	for (i = 0; i < points->count; i++)
		moved += !!(list[i].fence->flags & fence_flags);
	if (!moved)
		return 0;
	if (vfence_points_alloc(split, moved))
		return -ENOMEM;

	for (i = 0; i < points->count; i++) {
		if (list[i].fence->flags & fence_flags)
			vfence_points_list(split)[split->count++] = list[i];
		else
			list[remaining++] = list[i];
	}
	points->count = remaining;
	return 0;
}

/**
 * vfence_points_find_reached - check whether the values of a list are reached
 * @points: the list
 * @any: true if one is enough
 *
 * Return: the index of a point that is reached if @any; 0 if all are reached, and @any is false;
 * else -1.
 */
int vfence_points_find_reached(struct vfence_points *points, bool any)
{
	struct vfence_point *list = vfence_points_list(points);
	unsigned int i;

	for (i = 0; i < points->count; i++)
		if (vfence_reached(vfence_fence_current(list[i].fence), list[i].value) == any)
			return any ? (int)i : -1;

	return any ? -1 : 0;
}

/**
 * vfence_points_move - make points the points of a wait
 * @points: the points; an empty list on return
 * @wait: the wait, from vfence_wait_alloc() with room for all points; it has the references
 * @any: true if one reached point satisfies the wait
 */
void vfence_points_move(struct vfence_points *points, struct vfence_wait *wait, bool any)
{
	struct vfence_point *list = vfence_points_list(points);
	unsigned int i;

	for (i = 0; i < points->count; i++) {
		wait->waiters[i].fence = list[i].fence;
		wait->waiters[i].wait = wait;
		wait->waiters[i].value = list[i].value;
	}
	wait->count = points->count;
	wait->any = any;
	atomic_set(&wait->pending, any ? 1 : wait->count);
	atomic_set(&wait->first, -1);

	points->count = 0;
	vfence_points_free(points);
}
