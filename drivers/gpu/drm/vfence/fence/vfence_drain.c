// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drains: complete what pending signals satisfy before a wait is put on a fence.
 *
 * Interrupts and logs carry values, so that a value that was rewound completes the waits that were
 * on the fence. It must not complete a wait that begins after the rewind. A drain is rare: a fence
 * that was not rewound since the last one needs none.
 */

#include <linux/sched.h>

#include "fence/vfence_drain.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_members.h"
#include "fence/vfence_rescan.h"
#include "fence/vfence_shared.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_waiter.h"
#include "irq/vfence_irq.h"

/* Handle the records that name the fence. */
static void drain_records(struct vfence_fence *fence)
{
	vgpu_cmp_flush(fence->adapter->gpu);
	vfence_irq_flush(fence->adapter);
}

/*
 * Handle all signals of a fence that are pending. On return each signal before the call, by the CPU
 * or on this adapter, has completed the waits it satisfies, even if its value was rewound since.
 */
static void drain_fence(struct vfence_fence *fence)
{
	struct vfence_adapter *adapter = fence->adapter;

	vfence_shared_drain_signals(fence->shared);
	if (adapter->optimized)
		vfence_irq_catch_up(adapter);
	else
		drain_records(fence);

	/* What records have left, and up to the highest value that none named. */
	vfence_rescan_fence(fence);
}

static void drain_member(struct vfence_fence *member, const void *unused)
{
	drain_fence(member);
}

/*
 * A signal that is pending on one adapter may have been rewound on another. The rewinds of all
 * members are therefore added up.
 */
static u64 drain_rewinds_of(struct vfence_fence *fence)
{
	return fence->cross ? vfence_members_rewinds(fence->cross) : vfence_fence_rewinds(fence);
}

static void drain_all_members(struct vfence_fence *fence)
{
	if (fence->cross)
		vfence_members_for_each(fence->cross, drain_member, NULL);
	else
		drain_fence(fence);
}

/**
 * vfence_drain_rewinds - handle the signals before a rewind
 * @fence: the fence, which is about to get a waiter
 *
 * If the fence was not rewound since the last call the cost is one comparison. Process context, no
 * lock held.
 */
void vfence_drain_rewinds(struct vfence_fence *fence)
{
	u64 rewinds = drain_rewinds_of(fence);

	if (READ_ONCE(fence->shared->drained) == rewinds)
		return;
	drain_all_members(fence);

	/* Store the count only now: another thread with this count skips its drain. */
	WRITE_ONCE(fence->shared->drained, rewinds);
}

/* Return true if the fence of one adapter was not rewound since its last drain: most are not. */
static inline bool drain_is_needless(struct vfence_fence *fence)
{
	return !fence->cross && READ_ONCE(fence->own.drained) == vfence_fence_rewinds(fence);
}

/**
 * vfence_drain_and_arm - put a waiter on its fence, after a drain if the fence was rewound
 * @waiter: the waiter, which is on no fence
 *
 * There is one drain, although others may rewind the fence again before the waiter is there: a
 * client that rewinds without end must not hold up a client that waits. Process context.
 *
 * Return: as vfence_waiter_arm().
 */
int vfence_drain_and_arm(struct vfence_waiter *waiter)
{
	if (!drain_is_needless(waiter->fence))
		vfence_drain_rewinds(waiter->fence);
	return vfence_waiter_arm(waiter);
}

/**
 * vfence_drain_and_arm_all - put all waiters of a wait on their fences
 * @wait: the wait, which is ARMING; it may be decided on return
 *
 * If the wait is not decided the caller moves it to ARMED and waits for its end. The
 * caller then disarms the wait and accounts for it.
 */
void vfence_drain_and_arm_all(struct vfence_wait *wait)
{
	unsigned int i;
	int ret = 0;

	vfence_wait_count(wait, VFENCE_COUNT_WAITS_BEGUN);

	/* Stop once the wait is decided: one reached waiter decides a wait for any. */
	for (i = 0; i < wait->count && atomic_read(&wait->state) == VFENCE_WAIT_ARMING; i++) {
		ret = vfence_drain_and_arm(&wait->waiters[i]);
		if (ret) {
			WRITE_ONCE(wait->error, ret);
			vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_FAILED);
		}
		cond_resched();
	}
}
