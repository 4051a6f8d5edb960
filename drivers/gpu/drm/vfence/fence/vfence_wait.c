// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits: any number of points with one owner, and how they end.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "fence/vfence_fence.h"
#include "fence/vfence_wait.h"

/**
 * vfence_wait_alloc - a wait with room for points
 * @adapter: parent
 * @points: number of points; none is filled in yet
 *
 * Return: the wait, ARMING, or NULL.
 */
struct vfence_wait *vfence_wait_alloc(struct vfence_adapter *adapter, unsigned int points)
{
	struct vfence_wait *wait = kvzalloc(struct_size(wait, points, points), GFP_KERNEL_ACCOUNT);

	if (!vfence_object_made(WAIT, wait))
		return NULL;
	kref_init(&wait->ref);
	wait->adapter = adapter;
	init_waitqueue_head(&wait->sleepers);
	return wait;
}

static void wait_free(struct kref *ref)
{
	struct vfence_wait *wait = container_of(ref, struct vfence_wait, ref);

	vfence_object_gone(WAIT);
	/* Large ones come from vmalloc, and the last put may be an interrupt's. */
	kvfree_rcu(wait, rcu);
}

/** vfence_wait_put - drop a reference; any context */
void vfence_wait_put(struct vfence_wait *wait)
{
	kref_put(&wait->ref, wait_free);
}

/** vfence_wait_destroy - the owner is done; nothing is armed */
void vfence_wait_destroy(struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++)
		vfence_fence_put(wait->points[i].fence);
	vfence_wait_put(wait);
}

/**
 * vfence_wait_poll - are the points reached, without arming anything
 * @wait: nothing armed; first is set with @any
 * @any: one is enough
 */
bool vfence_wait_poll(struct vfence_wait *wait, bool any)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++) {
		struct vfence_point *point = &wait->points[i];
		bool reached = vfence_reached(vfence_fence_current(point->fence), point->value);

		if (reached && any)
			atomic_set(&wait->first, i);
		if (reached == any)
			return any;
	}
	return !any;
}

bool vfence_wait_move(struct vfence_wait *wait, enum vfence_wait_state from,
		      enum vfence_wait_state to)
{
	return atomic_cmpxchg(&wait->state, from, to) == from;
}

/* The wait is over, in one way or another; only the winner tells its owner. */
void vfence_wait_finish(struct vfence_wait *wait, enum vfence_wait_state to)
{
	/* Still arming: its owner looks at the state before it relies on us. */
	if (vfence_wait_move(wait, VFENCE_WAIT_ARMING, to))
		return;
	/* An owner that finds it decided and must go waits for the end of this section. */
	rcu_read_lock();
	if (!vfence_wait_move(wait, VFENCE_WAIT_ARMED, to)) {
		rcu_read_unlock();
		return;
	}
	if (wait->fire)
		wait->fire(wait);
	else
		wake_up_all(&wait->sleepers);
	rcu_read_unlock();
}

/**
 * vfence_wait_account - count how an armed wait ended
 * @wait: decided
 *
 * Return: 0 or the error the owner returns.
 */
int vfence_wait_account(struct vfence_wait *wait)
{
	switch (atomic_read(&wait->state)) {
	case VFENCE_WAIT_REACHED:
		vfence_count(wait->adapter, VFENCE_COUNT_WAITS_SATISFIED);
		return 0;
	case VFENCE_WAIT_TIMED_OUT:
		vfence_count(wait->adapter, VFENCE_COUNT_WAITS_TIMED_OUT);
		return -ETIME;
	case VFENCE_WAIT_FAILED:
		vfence_count(wait->adapter, VFENCE_COUNT_WAITS_CANCELLED);
		return READ_ONCE(wait->error);
	default:
		vfence_count(wait->adapter, VFENCE_COUNT_WAITS_CANCELLED);
		return -ERESTARTSYS;
	}
}
