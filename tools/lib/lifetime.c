// SPDX-License-Identifier: MIT
/*
 * Lifetime of fences that packets name. A fence that is destroyed keeps its handle until each
 * queue has passed the packets that it had then. Packets carry addresses, so the kernel cannot
 * keep the fence for them. The library looks when it destroys or creates objects, that is when
 * it enters the kernel anyway.
 */

#include <stdlib.h>

#include "vf_private.h"

int vf_lifetime_add_queue(struct vf_adapter *adapter, struct vf_queue *queue)
{
	struct vf_lifetime *life = &adapter->lifetime;
	int slot;

	pthread_mutex_lock(&life->lock);
	for (slot = 0; slot < VF_LIFETIME_QUEUES && life->queue[slot]; slot++)
		;
	if (slot < VF_LIFETIME_QUEUES)
		life->queue[slot] = queue;
	pthread_mutex_unlock(&life->lock);
	return slot < VF_LIFETIME_QUEUES ? slot : -ENOSPC;
}

void vf_lifetime_remove_queue(struct vf_adapter *adapter, int slot)
{
	struct vf_lifetime *life = &adapter->lifetime;
	struct vf_fence *fence;

	pthread_mutex_lock(&life->lock);
	life->queue[slot] = NULL;
	for (fence = life->graves; fence; fence = fence->next)
		fence->queues &= ~(UINT64_C(1) << slot);
	pthread_mutex_unlock(&life->lock);
	vf_lifetime_reap(adapter);
}

static bool is_used_locked(struct vf_lifetime *life, struct vf_fence *fence)
{
	unsigned int slot;

	for (slot = 0; slot < VF_LIFETIME_QUEUES; slot++) {
		uint64_t bit = UINT64_C(1) << slot;

		if (fence->queues & bit &&
		    (!life->queue[slot] ||
		     vf_queue_has_passed(life->queue[slot], fence->until[slot])))
			fence->queues &= ~bit;
	}
	return fence->queues;
}

/* Take the fences that no packet names any more off the list. */
static struct vf_fence *take_unused(struct vf_lifetime *life)
{
	struct vf_fence **at = &life->graves, *unused = NULL;

	pthread_mutex_lock(&life->lock);
	while (*at) {
		struct vf_fence *fence = *at;

		if (is_used_locked(life, fence)) {
			at = &fence->next;
			continue;
		}
		*at = fence->next;
		fence->next = unused;
		unused = fence;
	}
	pthread_mutex_unlock(&life->lock);
	return unused;
}

void vf_lifetime_reap(struct vf_adapter *adapter)
{
	struct vf_fence *fence = take_unused(&adapter->lifetime);

	while (fence) {
		struct vf_fence *next = fence->next;

		vf_fence_destroy_now(fence);
		fence = next;
	}
}

VF_EXPORT void vf_fence_destroy(struct vf_fence *fence)
{
	struct vf_lifetime *life;
	unsigned int slot;

	if (!fence)
		return;
	life = &fence->adapter->lifetime;
	pthread_mutex_lock(&life->lock);
	for (slot = 0; slot < VF_LIFETIME_QUEUES; slot++)
		if (life->queue[slot] && fence->queues & UINT64_C(1) << slot)
			fence->until[slot] = vf_queue_position(life->queue[slot]);
	fence->next = life->graves;
	life->graves = fence;
	pthread_mutex_unlock(&life->lock);
	vf_lifetime_reap(fence->adapter);
}

void vf_lifetime_fini(struct vf_adapter *adapter)
{
	struct vf_lifetime *life = &adapter->lifetime;

	/* The kernel has destroyed the handles with the file. */
	while (life->graves) {
		struct vf_fence *fence = life->graves;

		life->graves = fence->next;
		vf_fence_fini(fence);
		free(fence);
	}
	pthread_mutex_destroy(&life->lock);
}
