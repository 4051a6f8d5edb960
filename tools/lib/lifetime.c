// SPDX-License-Identifier: MIT
/*
 * Lifetime of fences that packets name. A fence that is destroyed keeps its handle until each
 * queue has passed the packets that it had then. Packets carry addresses, so the kernel cannot
 * keep the fence for them. The library looks when it destroys or creates objects, that is when
 * it enters the kernel anyway.
 */

#include <stdlib.h>

#include "vf_private.h"

/* Queues of which the kernel is asked in one look whether they are lost. */
#define ASKED_AT_ONCE	4

int vf_lifetime_add_queue(struct vf_adapter *adapter, struct vf_queue *queue)
{
	struct vf_lifetime *life = &adapter->lifetime;
	int slot;

	pthread_mutex_lock(&life->lock);
	for (slot = 0; slot < VF_LIFETIME_QUEUES && life->slot[slot].queue; slot++)
		;
	if (slot < VF_LIFETIME_QUEUES) {
		life->slot[slot].queue = queue;
		life->slot[slot].since = ++life->clock;
	}
	pthread_mutex_unlock(&life->lock);
	return slot < VF_LIFETIME_QUEUES ? slot : -ENOSPC;
}

/* Does a fence wait for the queue at a slot, and not for one that had the slot before? */
static bool must_pass_locked(struct vf_lifetime *life, const struct vf_fence *fence, unsigned int at)
{
	const struct vf_lifetime_slot *slot = &life->slot[at];

	return slot->queue && slot->since < fence->destroyed &&
	       !vf_queue_has_passed(slot->queue, fence->until[at]);
}

/* Let a fence wait for the next queue that has to pass it. Return false if there is none. */
static bool wait_locked(struct vf_lifetime *life, struct vf_fence *fence)
{
	while (fence->queues) {
		unsigned int at = __builtin_ctzll(fence->queues);
		struct vf_lifetime_slot *slot = &life->slot[at];

		if (!must_pass_locked(life, fence, at)) {
			fence->queues &= ~(UINT64_C(1) << at);
			continue;
		}
		fence->next = NULL;
		if (slot->first)
			slot->last->next = fence;
		else
			slot->first = fence;
		slot->last = fence;
		life->waiting |= UINT64_C(1) << at;
		return true;
	}
	return false;
}

static struct vf_fence *take_first_locked(struct vf_lifetime *life, unsigned int at)
{
	struct vf_lifetime_slot *slot = &life->slot[at];
	struct vf_fence *fence = slot->first;

	slot->first = fence->next;
	if (!slot->first)
		life->waiting &= ~(UINT64_C(1) << at);
	return fence;
}

/*
 * Move the fences that the queue at a slot has passed, or all of them, on to other queues, and to
 * @unused if there is none. A fence that came from another slot may have to wait for those in front.
 */
static void move_on_locked(struct vf_lifetime *life, unsigned int at, bool all,
			   struct vf_fence **unused)
{
	struct vf_lifetime_slot *slot = &life->slot[at];

	while (slot->first && (all || !must_pass_locked(life, slot->first, at))) {
		struct vf_fence *fence = take_first_locked(life, at);

		fence->queues &= ~(UINT64_C(1) << at);
		if (wait_locked(life, fence))
			continue;
		fence->next = *unused;
		*unused = fence;
	}
}

static void destroy_unused(struct vf_fence *fence)
{
	while (fence) {
		struct vf_fence *next = fence->next;

		vf_fence_destroy_now(fence);
		fence = next;
	}
}

void vf_lifetime_remove_queue(struct vf_adapter *adapter, int slot)
{
	struct vf_lifetime *life = &adapter->lifetime;
	struct vf_fence *unused = NULL;

	pthread_mutex_lock(&life->lock);
	life->slot[slot].queue = NULL;
	move_on_locked(life, slot, true, &unused);
	pthread_mutex_unlock(&life->lock);
	destroy_unused(unused);
	vf_lifetime_reap(adapter);
}

/*
 * A queue that is lost passes nothing, and only the kernel knows: ask for some in turn. The cost of a
 * look follows the queues, and not the fences that are kept.
 */
static void ask_locked(struct vf_lifetime *life, struct vf_fence **unused)
{
	unsigned int asked, looked;

	for (asked = 0, looked = 0; asked < ASKED_AT_ONCE && looked < VF_LIFETIME_QUEUES; looked++) {
		life->asked = (life->asked + 1) % VF_LIFETIME_QUEUES;
		if (!(life->waiting & UINT64_C(1) << life->asked))
			continue;
		asked++;
		if (vf_queue_is_lost(life->slot[life->asked].queue))
			move_on_locked(life, life->asked, true, unused);
	}
}

/* Take the fences that no packet names any more. */
static struct vf_fence *take_unused(struct vf_lifetime *life)
{
	struct vf_fence *unused = NULL;
	unsigned int at;

	pthread_mutex_lock(&life->lock);
	for (at = 0; at < VF_LIFETIME_QUEUES; at++)
		if (life->waiting & UINT64_C(1) << at)
			move_on_locked(life, at, false, &unused);
	if (life->waiting)
		ask_locked(life, &unused);
	pthread_mutex_unlock(&life->lock);
	return unused;
}

void vf_lifetime_reap(struct vf_adapter *adapter)
{
	destroy_unused(take_unused(&adapter->lifetime));
}

VF_EXPORT void vf_fence_destroy(struct vf_fence *fence)
{
	struct vf_lifetime *life;
	struct vf_adapter *adapter;
	unsigned int at;
	bool waits;

	if (!fence)
		return;
	adapter = fence->adapter;
	life = &adapter->lifetime;
	pthread_mutex_lock(&life->lock);
	fence->destroyed = ++life->clock;
	for (at = 0; at < VF_LIFETIME_QUEUES; at++)
		if (life->slot[at].queue && fence->queues & UINT64_C(1) << at)
			fence->until[at] = vf_queue_position(life->slot[at].queue);
	waits = wait_locked(life, fence);
	pthread_mutex_unlock(&life->lock);
	if (!waits)
		vf_fence_destroy_now(fence);
	vf_lifetime_reap(adapter);
}

void vf_lifetime_fini(struct vf_adapter *adapter)
{
	struct vf_lifetime *life = &adapter->lifetime;
	unsigned int at;

	/* The kernel has destroyed the handles with the file. */
	for (at = 0; at < VF_LIFETIME_QUEUES; at++) {
		while (life->slot[at].first) {
			struct vf_fence *fence = take_first_locked(life, at);

			vf_fence_fini(fence);
			free(fence);
		}
	}
	pthread_mutex_destroy(&life->lock);
}
