// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submissions whose dma_fence is published, from then on until they end. A function must have none
 * while it is paused: a compositor or the reclaim of memory may wait for such a dma_fence, and
 * would wait for an administrator. Those of before the pause end first, and new ones wait for its
 * end, before they publish anything.
 */

#include <linux/jiffies.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "core/vfence_adapter.h"
#include "core/vfence_wake.h"
#include "queue/vfence_published.h"

/** vfence_published_init - begin with none, open; cannot fail */
void vfence_published_init(struct vfence_adapter *adapter)
{
	init_waitqueue_head(&adapter->queues.published.drained);
	init_waitqueue_head(&adapter->queues.published.opened);
	spin_lock_init(&adapter->queues.published.lock);
}

/**
 * vfence_published_enter - a submission is about to publish its dma_fence
 * @adapter: the adapter
 *
 * Return: true, and the submission calls vfence_published_leave() when it ends; false if the
 * function is paused, or about to be.
 */
bool vfence_published_enter(struct vfence_adapter *adapter)
{
	struct vfence_published *published = &adapter->queues.published;
	bool open;

	spin_lock(&published->lock);
	open = !published->closed;
	if (open)
		published->count++;
	spin_unlock(&published->lock);
	return open;
}

/** vfence_published_leave - the submission ends, or has not published its dma_fence */
void vfence_published_leave(struct vfence_adapter *adapter)
{
	struct vfence_published *published = &adapter->queues.published;
	bool last;

	spin_lock(&published->lock);
	last = !--published->count;
	spin_unlock(&published->lock);
	if (last)
		wake_up_all(&published->drained);
}

/** vfence_published_sleep - sleep until the function is resumed; returns 0 or -ERESTARTSYS */
int vfence_published_sleep(struct vfence_adapter *adapter)
{
	struct vfence_published *published = &adapter->queues.published;

	lockdep_assert_none_held_once();
	return wait_event_interruptible_exclusive(published->opened,
						  !READ_ONCE(published->closed));
}

static void published_set_closed(struct vfence_published *published, bool closed)
{
	spin_lock(&published->lock);
	WRITE_ONCE(published->closed, closed);
	spin_unlock(&published->lock);
}

/**
 * vfence_published_drain - let published submissions end, and keep new ones back
 * @adapter: the adapter
 * @ms: how long they may take, in ms
 *
 * Process context.
 *
 * Return: 0; then call vfence_published_open(). Otherwise -EBUSY if one has not ended in time, or
 * -ERESTARTSYS, and none is kept back.
 */
int vfence_published_drain(struct vfence_adapter *adapter, unsigned int ms)
{
	struct vfence_published *published = &adapter->queues.published;
	long left;

	published_set_closed(published, true);
	left = wait_event_interruptible_timeout(published->drained, !READ_ONCE(published->count),
						msecs_to_jiffies(ms));
	if (left > 0)
		return 0;
	vfence_published_open(adapter);
	return left ? -ERESTARTSYS : -EBUSY;
}

/** vfence_published_open - submissions may publish their dma_fences */
void vfence_published_open(struct vfence_adapter *adapter)
{
	struct vfence_published *published = &adapter->queues.published;

	published_set_closed(published, false);
	vfence_wake_all(&published->opened);
}
