// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders of a fence: handles, descriptors, imports and submissions. After the last one that may
 * signal has gone, the waits for the fence end.
 */

#include <linux/limits.h>

#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_drain.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_holder.h"
#include "fence/vfence_members.h"
#include "fence/vfence_waiter.h"

/* Signalers of a member whose adapter is gone: holders that come or go leave it negative. */
#define HOLDER_UNPLUGGED	(INT_MIN / 2)

/**
 * vfence_holder_end - end a fence that no holder can signal any more
 * @fence: the fence
 * @error: error that present and new CPU waits return
 *
 * Queues that wait for the fence proceed. If the adapter is lost, the error is -EIO: the work that
 * says so to all its fences may not have come to this one. Process context.
 */
void vfence_holder_end(struct vfence_fence *fence, int error)
{
	vfence_waiter_fail_all(fence, READ_ONCE(fence->adapter->lost) ? -EIO : error);
	vfence_fence_set_always_signaled(fence);
}

static void holder_end_member(struct vfence_fence *member, const void *unused)
{
	vfence_holder_end(member, -ECANCELED);
}

/*
 * The last holder that may signal has gone. Its packets fault from now on, and its signals are
 * stored. First complete what values satisfy that were rewound since; vfence_holder_end() samples
 * the current value.
 */
static void holder_end_all(struct vfence_fence *fence)
{
	vfence_drain_rewinds(fence);
	if (fence->cross)
		vfence_members_for_each(fence->cross, holder_end_member, NULL);
	else
		vfence_holder_end(fence, -ECANCELED);
}

/* Count a holder of a member; false if the last one has gone. */
static bool holder_get_members(struct vfence_cross_adapter *cross)
{
	return !cross || atomic_inc_not_zero(&cross->holders);
}

/*
 * A member stays until the last holder on any adapter has gone, even if its own adapter has no
 * holder any more: a queue may be blocked on it until another adapter signals. The caller has a
 * reference to a member.
 */
static void holder_put_members(struct vfence_cross_adapter *cross)
{
	struct vfence_fence *fence;

	if (!cross || !atomic_dec_and_test(&cross->holders))
		return;
	while ((fence = vfence_members_take(cross)))
		vfence_fence_put(fence);
}

/**
 * vfence_holder_get_fd - count a holder that is of no adapter, such as a descriptor
 * @fence: the fence, of which the caller has a reference
 * @rights: DRM_VFENCE_RIGHT_* of the holder
 *
 * Takes a reference. The members of a cross-adapter fence are the same to such a holder.
 *
 * Return: false if @rights has the right to signal and the last holder with that right has gone: a
 * fence that has ended stays ended.
 */
bool vfence_holder_get_fd(struct vfence_fence *fence, u32 rights)
{
	if (!holder_get_members(fence->cross))
		return false;

	if (rights & DRM_VFENCE_RIGHT_SIGNAL && !atomic_inc_not_zero(&fence->shared->signalers)) {
		holder_put_members(fence->cross);
		return false;
	}

	vfence_fence_get(fence);
	return true;
}

/**
 * vfence_holder_put_fd - undo vfence_holder_get_fd()
 * @fence: the fence
 * @rights: DRM_VFENCE_RIGHT_* of the holder, as it was counted
 *
 * After the last holder that may signal the fence, CPU waits end with ECANCELED, those of the
 * remaining holders, too, and queues blocked on the fence continue. Process context.
 */
void vfence_holder_put_fd(struct vfence_fence *fence, u32 rights)
{
	if (rights & DRM_VFENCE_RIGHT_SIGNAL && atomic_dec_and_test(&fence->shared->signalers))
		holder_end_all(fence);
	holder_put_members(fence->cross);
	vfence_fence_put(fence);
}

/**
 * vfence_holder_get - count a holder that is a client of the fence's adapter
 * @fence: the fence, of which the caller has a reference
 * @rights: DRM_VFENCE_RIGHT_* of the holder
 *
 * That is a handle, or an import or a submission that will signal. Takes a reference.
 *
 * Return: as vfence_holder_get_fd(); or false if the adapter of a member was unplugged.
 */
bool vfence_holder_get(struct vfence_fence *fence, u32 rights)
{
	if (!vfence_holder_get_fd(fence, rights))
		return false;

	if (!fence->cross || !(rights & DRM_VFENCE_RIGHT_SIGNAL) ||
	    atomic_inc_unless_negative(&fence->own.signalers))
		return true;

	vfence_holder_put_fd(fence, rights);
	return false;
}

/** vfence_holder_put - undo vfence_holder_get(); as vfence_holder_put_fd() */
void vfence_holder_put(struct vfence_fence *fence, u32 rights)
{
	/* An unplug has taken all of the member off the count of the cross-adapter fence. */
	if (fence->cross && rights & DRM_VFENCE_RIGHT_SIGNAL &&
	    atomic_dec_return(&fence->own.signalers) < 0)
		rights &= ~DRM_VFENCE_RIGHT_SIGNAL;

	vfence_holder_put_fd(fence, rights);
}

static void holder_fail(struct vfence_fence *fence, void *error)
{
	vfence_waiter_fail_all(fence, *(int *)error);
}

/** vfence_holder_fail_all - end every wait on a departing adapter with @error */
void vfence_holder_fail_all(struct vfence_adapter *adapter, int error)
{
	vfence_fence_for_each(adapter, holder_fail, &error);
}

static void holder_unplug_fence(struct vfence_fence *fence, void *unused)
{
	int gone;

	if (!fence->cross)
		return;
	gone = atomic_xchg(&fence->own.signalers, HOLDER_UNPLUGGED);
	if (gone && atomic_sub_and_test(gone, &fence->shared->signalers))
		holder_end_all(fence);
}

/**
 * vfence_holder_unplug - clients of an adapter that was unplugged signal no fence any more
 * @adapter: the adapter: its calls return ENODEV, and all works that signal have run
 *
 * Other adapters may wait for its cross-adapter fences, while its files stay open. Called once.
 */
void vfence_holder_unplug(struct vfence_adapter *adapter)
{
	vfence_fence_for_each(adapter, holder_unplug_fence, NULL);
}
