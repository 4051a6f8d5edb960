// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits: any number of waiters with one owner, and the decision how a wait ends.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "fence/vfence_fence.h"
#include "fence/vfence_wait.h"

/**
 * vfence_wait_alloc - allocate a wait
 * @adapter: the adapter of the owner
 * @waiters: maximal number of waiters; the caller fills them in and counts them
 *
 * Return: the wait, which is ARMING and has no waiters yet, or NULL.
 */
struct vfence_wait *vfence_wait_alloc(struct vfence_adapter *adapter, unsigned int waiters)
{
	struct vfence_wait *wait = kvzalloc(struct_size(wait, waiters, waiters),
					    GFP_KERNEL_ACCOUNT);

	if (!vfence_leak_check_made(WAIT, wait))
		return NULL;

	kref_init(&wait->ref);
	wait->adapter = adapter;
	init_waitqueue_head(&wait->sleepers);
	return wait;
}

static void wait_free(struct kref *ref)
{
	struct vfence_wait *wait = container_of(ref, struct vfence_wait, ref);

	vfence_leak_check_gone(WAIT);
	/* A large wait is in vmalloc memory, and this may be an interrupt. */
	if (is_vmalloc_addr(wait))
		kvfree_rcu(wait, rcu);
	else
		kfree(wait);
}

/** vfence_wait_put - drop a reference; any context */
void vfence_wait_put(struct vfence_wait *wait)
{
	kref_put(&wait->ref, wait_free);
}

/** vfence_wait_destroy - put the owner's references to a wait and its fences; none is armed */
void vfence_wait_destroy(struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++)
		vfence_fence_put(wait->waiters[i].fence);
	vfence_wait_put(wait);
}

/** vfence_wait_is_reached - true if all waiters are reached of a wait, of which none is armed */
bool vfence_wait_is_reached(struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++)
		if (!vfence_reached(vfence_fence_current(wait->waiters[i].fence),
				    wait->waiters[i].value))
			return false;

	return true;
}

/** vfence_wait_move - change the state of a wait; false if it was not @from */
bool vfence_wait_move(struct vfence_wait *wait, enum vfence_wait_state from,
		      enum vfence_wait_state to)
{
	return atomic_cmpxchg(&wait->state, from, to) == from;
}

/** vfence_wait_finish - decide a wait; only the call that decides it notifies the owner */
void vfence_wait_finish(struct vfence_wait *wait, enum vfence_wait_state to)
{
	/* The owner is still arming the wait and reads the state afterwards. */
	if (vfence_wait_move(wait, VFENCE_WAIT_ARMING, to))
		return;

	/* An owner that finds the wait decided waits for this section before it is freed. */
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

/** vfence_wait_count - count a wait for its adapter and its client */
void vfence_wait_count(struct vfence_wait *wait, enum vfence_count counter)
{
	vfence_count(wait->adapter, counter);
	if (wait->client)
		vfence_client_count(wait->client, counter, 1);
}

/**
 * vfence_wait_account - count how an armed wait has ended
 * @wait: the decided wait
 *
 * Return: 0 or the error that the owner returns.
 */
int vfence_wait_account(struct vfence_wait *wait)
{
	switch (atomic_read(&wait->state)) {
	case VFENCE_WAIT_REACHED:
		vfence_wait_count(wait, VFENCE_COUNT_WAITS_SATISFIED);
		return 0;

	case VFENCE_WAIT_TIMED_OUT:
		vfence_wait_count(wait, VFENCE_COUNT_WAITS_TIMED_OUT);
		return -ETIME;

	case VFENCE_WAIT_FAILED:
		vfence_wait_count(wait, VFENCE_COUNT_WAITS_CANCELLED);
		return READ_ONCE(wait->error);

	default:
		vfence_wait_count(wait, VFENCE_COUNT_WAITS_CANCELLED);
		return -ERESTARTSYS;
	}
}
