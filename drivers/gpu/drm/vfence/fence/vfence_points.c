// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of fences and values, as calls and submissions name them.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "core/vfence_adapter.h"
#include "core/vfence_user_array.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_holder.h"
#include "fence/vfence_points.h"
#include "fence/vfence_wait.h"

/* Lists of at most so many points are copied to the stack. */
#define POINTS_SHORT	4

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
 * vfence_points_look_up - get the fence that a point of a client names
 * @file: the file of the client
 * @handle: handle of the fence
 * @need: DRM_VFENCE_RIGHT_* that the handle must have
 * @value: value of the point; for a 32-bit fence widened to 64 bits
 *
 * Return: the fence with a reference, or an ERR_PTR.
 */
struct vfence_fence *vfence_points_look_up(struct vfence_file *file, u32 handle, u32 need,
					   u64 *value)
{
	struct vfence_fence *fence = vfence_fence_handle_lookup(file, handle, need, NULL);

	if (vfence_reject(&file->adapter->drm, IS_ERR(fence)))
		return fence;

	/* The CPU cannot reach the values of an INTRA_GPU fence (WDDM-31). */
	if (vfence_reject(&file->adapter->drm, !fence->current_value)) {
		vfence_fence_put(fence);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (fence->is_32bit)
		*value = vfence_widen(vfence_fence_current(fence), *value);
	return fence;
}

static int points_resolve_one(struct vfence_file *file, struct vfence_point *point, u32 need,
			      const struct drm_vfence_fence_point *in)
{
	if (vfence_reject(&file->adapter->drm, in->flags))
		return -EINVAL;
	point->value = in->value;
	point->locked = false;
	point->pledged = false;
	point->fence = vfence_points_look_up(file, in->fence, need, &point->value);
	return PTR_ERR_OR_ZERO(point->fence);
}

/* Append the client's points to @points. On error those that are counted have a reference. */
static int points_resolve_list(struct vfence_file *file, struct vfence_points *points,
			       u32 need, const struct drm_vfence_fence_point *in,
			       unsigned int count)
{
	struct vfence_point *list = vfence_points_list(points);
	int ret = 0;

	for (; points->count < count; points->count++, list++, in++) {
		ret = points_resolve_one(file, list, need, in);
		if (ret)
			break;
	}
	return ret;
}

/* Not inline: calls with one point need no room for more on the stack, which is cleared. */
static noinline int points_resolve_many(struct vfence_file *file,
					const struct drm_vfence_obj_array *array, u32 need,
					struct vfence_points *points)
{
	struct drm_vfence_fence_point list[POINTS_SHORT], *in;
	int ret;

	in = vfence_user_array_get(array, sizeof(*in), DRM_VFENCE_MAX_POINTS, list, sizeof(list));
	if (IS_ERR(in))
		return PTR_ERR(in);

	ret = vfence_points_alloc(points, array->count);
	if (!ret)
		ret = points_resolve_list(file, points, need, in, array->count);
	vfence_user_array_free(in, list);
	if (ret)
		vfence_points_free(points);
	return ret;
}

/**
 * vfence_points_resolve - find the fences of a client's list of points
 * @file: the file of the client
 * @array: list of points in user memory; must not be empty
 * @need: DRM_VFENCE_RIGHT_* that each handle must have
 * @points: an empty list; output: the points; on error empty
 *
 * Return: 0 or a negative error.
 */
int vfence_points_resolve(struct vfence_file *file, const struct drm_vfence_obj_array *array,
			  u32 need, struct vfence_points *points)
{
	struct drm_vfence_fence_point in;
	int ret;

	BUILD_BUG_ON(sizeof(in) % sizeof(u64));
	if (vfence_reject(&file->adapter->drm, !array->count))
		return -EINVAL;
	/* Most lists have one point, in the form of this driver. */
	if (array->count != 1 || array->stride != sizeof(in))
		return points_resolve_many(file, array, need, points);

	ret = vfence_user_array_copy_words(&in, u64_to_user_ptr(array->array), sizeof(in));
	if (!ret)
		ret = points_resolve_one(file, &points->one, need, &in);
	points->count = !ret;
	return ret;
}

/**
 * vfence_points_resolve_ops - find the fences of operations of a submission
 * @file: the file of the client
 * @ops: operations on fences
 * @count: their number, not zero
 * @need: DRM_VFENCE_RIGHT_* that each handle must have
 * @points: an empty list; output: the points; on error empty
 *
 * Return: 0 or a negative error.
 */
int vfence_points_resolve_ops(struct vfence_file *file, const struct drm_vfence_submit_op *ops,
			      u32 count, u32 need, struct vfence_points *points)
{
	int ret = vfence_points_alloc(points, count);

	while (!ret && points->count < count) {
		struct vfence_point *point = &vfence_points_list(points)[points->count];
		struct drm_vfence_fence_point in = { .fence = ops->handle, .value = ops->value };

		ret = points_resolve_one(file, point, need, &in);
		points->count += !ret;
		ops++;
	}
	if (ret)
		vfence_points_free(points);
	return ret;
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
		if (!vfence_holder_get(list[i].fence, DRM_VFENCE_RIGHT_SIGNAL))
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
			vfence_holder_put(list[i].fence, DRM_VFENCE_RIGHT_SIGNAL);
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
