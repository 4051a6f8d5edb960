// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members of a cross-adapter fence: each adapter that has opened the fence has one.
 */

#include <linux/sched.h>

#include <drm/drm_drv.h>

#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_members.h"

/* Return the member on @adapter with a reference, or NULL. */
static struct vfence_fence *members_find_locked(struct vfence_cross_adapter *cross,
						struct vfence_adapter *adapter)
{
	struct vfence_fence *fence;

	lockdep_assert_held(&cross->lock);
	list_for_each_entry(fence, &cross->members, cross_link)
		if (fence->adapter == adapter)
			return vfence_fence_get(fence);
	return NULL;
}

/** vfence_members_find - return the member on @adapter with a reference, or NULL */
struct vfence_fence *vfence_members_find(struct vfence_cross_adapter *cross,
					 struct vfence_adapter *adapter)
{
	struct vfence_fence *member;

	mutex_lock(&cross->lock);
	member = members_find_locked(cross, adapter);
	mutex_unlock(&cross->lock);
	return member;
}

/**
 * vfence_members_join - make a fence a member
 * @cross: the cross-adapter fence
 * @created: the fence, made for it on an adapter that had no member yet; its reference is consumed
 *
 * Another thread may have been first: then its fence is the member, and @created is freed.
 *
 * Return: the member with a reference.
 */
struct vfence_fence *vfence_members_join(struct vfence_cross_adapter *cross,
					 struct vfence_fence *created)
{
	struct vfence_fence *member;

	mutex_lock(&cross->lock);
	member = members_find_locked(cross, created->adapter);
	if (!member)
		vfence_cross_adapter_add_locked(cross, created);
	mutex_unlock(&cross->lock);

	if (!member)
		return created;
	vfence_fence_put(created);
	return member;
}

/** vfence_members_rewinds - how often signals lowered the value, on all adapters together */
u64 vfence_members_rewinds(struct vfence_cross_adapter *cross)
{
	struct vfence_fence *fence;
	u64 rewinds = 0;

	mutex_lock(&cross->lock);
	list_for_each_entry(fence, &cross->members, cross_link)
		rewinds += vfence_fence_rewinds(fence);
	mutex_unlock(&cross->lock);

	return rewinds;
}

/* Skip unplugged adapters: their waits have failed and their engines have stopped. */
static struct vfence_fence *members_first_from_locked(struct vfence_cross_adapter *cross,
						      struct list_head *link)
{
	lockdep_assert_held(&cross->lock);
	for (; link != &cross->members; link = link->next) {
		struct vfence_fence *fence = list_entry(link, struct vfence_fence, cross_link);

		if (!drm_dev_is_unplugged(&fence->adapter->drm))
			return vfence_fence_get(fence);
	}
	return NULL;
}

/**
 * vfence_members_for_each - call a function for each member of a cross-adapter fence
 * @cross: the cross-adapter fence
 * @fn: the function, which is called without a lock
 * @arg: argument of @fn
 *
 * There may be one member for each adapter and for each of their functions. A member that joins
 * meanwhile comes last, and one that leaves meanwhile has ended with all others: the list is empty
 * then. Process context.
 */
void vfence_members_for_each(struct vfence_cross_adapter *cross,
			     void (*fn)(struct vfence_fence *member, const void *arg),
			     const void *arg)
{
	struct vfence_fence *member, *next;

	mutex_lock(&cross->lock);
	member = members_first_from_locked(cross, cross->members.next);
	mutex_unlock(&cross->lock);

	while (member) {
		fn(member, arg);

		mutex_lock(&cross->lock);
		next = list_empty(&member->cross_link) ? NULL :
		       members_first_from_locked(cross, member->cross_link.next);
		mutex_unlock(&cross->lock);
		vfence_fence_put(member);
		member = next;
		cond_resched();
	}
}

/** vfence_members_take - remove a member from the list; with the list's reference, or NULL */
struct vfence_fence *vfence_members_take(struct vfence_cross_adapter *cross)
{
	struct vfence_fence *fence;

	mutex_lock(&cross->lock);
	fence = list_first_entry_or_null(&cross->members, struct vfence_fence, cross_link);
	if (fence)
		list_del_init(&fence->cross_link);
	mutex_unlock(&cross->lock);

	return fence;
}
