/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_POINTS_H_
#define _VFENCE_POINTS_H_

#include <linux/types.h>

struct drm_vfence_obj_array;
struct drm_vfence_submit_op;
struct vfence_fence;
struct vfence_file;
struct vfence_wait;

/**
 * struct vfence_point - value of a fence, to be signaled or waited for
 */
struct vfence_point {
	/** @fence: The fence; the owner of the list has the reference. */
	struct vfence_fence *fence;
	/** @value: The value. */
	u64 value;
	/** @locked: A call that signals the list holds the signal lock of @fence by this point. */
	bool locked;
	/** @pledged: The point is a holder of @fence: it will signal. */
	bool pledged;
};

/**
 * struct vfence_points - list of points, with a reference on each fence
 *
 * All zero is an empty list. Most calls name one fence, which needs no memory but this structure.
 */
struct vfence_points {
	/** @count: Number of points. */
	unsigned int count;
	/** @many: The points, or NULL if there is room for one: then it is @one. */
	struct vfence_point *many;
	/** @one: The only point. */
	struct vfence_point one;
	/** @caller: Client whose call signals them, or NULL. */
	const struct vfence_file *caller;
};

/** vfence_points_list - the first point of a list */
static inline struct vfence_point *vfence_points_list(struct vfence_points *points)
{
	return points->many ? points->many : &points->one;
}

int vfence_points_alloc(struct vfence_points *points, unsigned int room);
struct vfence_fence *vfence_points_look_up(struct vfence_file *file, u32 handle, u32 need,
					   u64 *value);
int vfence_points_resolve(struct vfence_file *file, const struct drm_vfence_obj_array *array,
			  u32 need, struct vfence_points *points);
int vfence_points_resolve_ops(struct vfence_file *file, const struct drm_vfence_submit_op *ops,
			      u32 count, u32 need, struct vfence_points *points);
int vfence_points_pledge(struct vfence_points *points);
void __vfence_points_free(struct vfence_points *points);
int vfence_points_split(struct vfence_points *points, u32 fence_flags,
			struct vfence_points *split);
int vfence_points_find_reached(struct vfence_points *points, bool any);
void vfence_points_move(struct vfence_points *points, struct vfence_wait *wait, bool any);

/** vfence_points_free - put the references of a list and free its room; it is empty then */
static inline void vfence_points_free(struct vfence_points *points)
{
	if (points->count || points->many)
		__vfence_points_free(points);
}

#endif
