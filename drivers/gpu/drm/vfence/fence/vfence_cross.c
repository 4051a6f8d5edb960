// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cross-adapter fences: one current value, one member fence on each adapter, and the
 * propagation of signals between the members.
 *
 * A GPU cannot signal another GPU. The monitored value of every member is 0, so that each
 * signal interrupts the CPU (WDDM-104). A member that is alone has a monitored value like any
 * other fence, until another adapter joins. The CPU then propagates the signal: it
 * notifies the queues of the other adapters and completes their CPU waiters (WDDM-105,
 * WDDM-106). Within one adapter a signal releases queues without the CPU (WDDM-108).
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>

#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_notify.h"
#include "fence/vfence_point.h"
#include "fence/vfence_signal.h"

static void cross_free(struct kref *ref)
{
	struct vfence_cross *cross = container_of(ref, struct vfence_cross, ref);

	put_page(cross->page);
	vgpu_word_destroy(cross->word);
	ww_mutex_destroy(&cross->signal_lock);
	mutex_destroy(&cross->lock);
	vfence_object_free(CROSS, cross);
}

/** vfence_cross_create - make a new fence the first member of a cross-adapter fence */
int vfence_cross_create(struct vfence_fence *fence)
{
	struct vfence_cross *cross = vfence_object_alloc(CROSS, sizeof(*cross));

	if (!cross)
		return -ENOMEM;
	cross->word = vgpu_word_create(false);
	if (IS_ERR(cross->word)) {
		int ret = PTR_ERR(cross->word);

		vfence_object_free(CROSS, cross);
		return ret;
	}

	kref_init(&cross->ref);
	mutex_init(&cross->lock);
	vfence_signal_init_lock(&cross->signal_lock);
	INIT_LIST_HEAD(&cross->members);
	/* The waits of a native fence end when its last holder goes, and not before. */
	cross->flags = vfence_fence_is_monitored(fence) ? fence->flags :
		       fence->flags | DRM_VFENCE_MONITORED_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY;
	cross->page = virt_to_page(fence->current_value);
	get_page(cross->page);

	/* The creator is the only holder so far. */
	atomic_set(&cross->holders, 1);

	mutex_lock(&cross->lock);
	vfence_cross_join(cross, fence);
	mutex_unlock(&cross->lock);
	kref_put(&cross->ref, cross_free);
	return 0;
}

/**
 * vfence_cross_join - add a member to a cross-adapter fence
 * @cross: the cross-adapter fence, locked
 * @fence: the fence that is being created; vfence_fence_create() takes the list's
 *	reference to it later, when the creation cannot fail any more
 */
void vfence_cross_join(struct vfence_cross *cross, struct vfence_fence *fence)
{
	lockdep_assert_held(&cross->lock);
	kref_get(&cross->ref);
	fence->cross = cross;
	/* No other thread knows the new fence yet. cross_link_others_locked() follows. */
	fence->linked = !list_empty(&cross->members);
	if (vfence_fence_is_monitored(fence))
		fence->word = cross->word;
	list_add(&fence->cross_link, &cross->members);
}

/** vfence_cross_leave_locked - remove a later member whose creation failed */
void vfence_cross_leave_locked(struct vfence_fence *fence)
{
	lockdep_assert_held(&fence->cross->lock);
	list_del(&fence->cross_link);
	/* This is not the last reference: the holder of another member has the lock. */
	kref_put(&fence->cross->ref, cross_free);
}

/** vfence_cross_leave - remove the first member, whose creation failed */
void vfence_cross_leave(struct vfence_fence *fence)
{
	list_del(&fence->cross_link);
	vfence_cross_put(fence->cross);
}

/** vfence_cross_put - drop the reference of a member that is being destroyed */
void vfence_cross_put(struct vfence_cross *cross)
{
	kref_put(&cross->ref, cross_free);
}

/* Return the member on @adapter with a reference, or NULL. */
static struct vfence_fence *cross_find_locked(struct vfence_cross *cross,
					      struct vfence_adapter *adapter)
{
	struct vfence_fence *fence;

	lockdep_assert_held(&cross->lock);
	list_for_each_entry(fence, &cross->members, cross_link)
		if (fence->adapter == adapter)
			return vfence_fence_get(fence);
	return NULL;
}

/* A new member has joined: from now on each signal of the others must reach it. */
static void cross_link_others_locked(struct vfence_cross *cross, struct vfence_fence *joined)
{
	struct vfence_fence *fence;

	lockdep_assert_held(&cross->lock);
	list_for_each_entry(fence, &cross->members, cross_link)
		if (fence != joined && !READ_ONCE(fence->linked))
			vfence_point_link(fence);
}

/**
 * vfence_cross_member - get the member of a cross-adapter fence on the file's adapter
 * @fence: any member; the caller has a handle of it
 * @file: the file that opens the fence, locked
 *
 * Creates the member if the file's adapter has none yet.
 *
 * Return: the member with a reference, or an ERR_PTR.
 */
struct vfence_fence *vfence_cross_member(struct vfence_fence *fence, struct vfence_file *file)
{
	struct vfence_cross *cross = fence->cross;
	struct vfence_fence_args args = { .shareable = true, .cross = cross };
	struct vfence_fence *member;

	lockdep_assert_held(&file->lock);

	/* Create the kind of fence that the adapter supports (WDDM-109, WDDM-110). */
	if (!file->adapter->native_fence) {
		args.type = DRM_VFENCE_FENCE_MONITORED;
		args.flags = cross->flags;
	} else {
		args.flags = cross->flags & DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR;
	}
	vfence_fence_private_data(fence, args.private_data);

	mutex_lock(&cross->lock);
	member = cross_find_locked(cross, file->adapter);
	if (!member) {
		member = vfence_fence_create(file, &args);
		if (!IS_ERR(member))
			cross_link_others_locked(cross, member);
	}
	mutex_unlock(&cross->lock);

	return member;
}

/*
 * Store in @member all members except @except, each with a reference, and add the rewinds
 * of all members to @rewinds. Skip unplugged adapters: their waits have failed and their
 * engines have stopped. Return the number of members stored.
 */
static unsigned int cross_get_members(struct vfence_cross *cross, struct vfence_fence *except,
				      struct vfence_fence **member, u64 *rewinds)
{
	struct vfence_fence *fence;
	unsigned int n = 0;

	mutex_lock(&cross->lock);
	list_for_each_entry(fence, &cross->members, cross_link) {
		*rewinds += vfence_fence_rewinds(fence);
		if (fence != except && n < VFENCE_MAX_ADAPTERS &&
		    !drm_dev_is_unplugged(&fence->adapter->drm))
			member[n++] = vfence_fence_get(fence);
	}
	mutex_unlock(&cross->lock);

	return n;
}

/**
 * vfence_cross_propagate - propagate a signal to the other adapters
 * @fence: the member that was signaled
 * @value: the value of the signal, which may have been rewound meanwhile
 * @time: time in GPU ticks, read after the value was stored
 *
 * Process context.
 */
void vfence_cross_propagate(struct vfence_fence *fence, u64 value, u64 time)
{
	struct vfence_fence *member[VFENCE_MAX_ADAPTERS];
	u64 unused = 0;
	unsigned int n;

	n = cross_get_members(fence->cross, fence, member, &unused);
	while (n--) {
		struct vgpu_value_update update = {
			.fence = member[n]->hw,
			.kernel_va = member[n]->current_value,
			.value = value,
			.time = time,
		};
		struct vfence_adapter *adapter = member[n]->adapter;

		trace_vfence_cross(fence, member[n], value, time);
		/* A monitored fence has no update: no queue of the hardware waits for it. */
		if (update.fence &&
		    vgpu_fence_update_current_values(adapter->gpu, &update, 1,
						     VGPU_UPDATE_NOTIFICATION_ONLY))
			vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x13);

		vfence_point_complete(member[n], value);
		vfence_fence_put(member[n]);
	}
}

/** vfence_cross_fail - fail all members with @error; process context */
void vfence_cross_fail(struct vfence_cross *cross, int error)
{
	struct vfence_fence *member[VFENCE_MAX_ADAPTERS];
	u64 unused = 0;
	unsigned int n;

	n = cross_get_members(cross, NULL, member, &unused);
	while (n--) {
		vfence_fence_end(member[n], error);
		vfence_fence_put(member[n]);
	}
}

/**
 * vfence_cross_note_locked - remember a signal for vfence_cross_propagate_noted()
 * @fence: the member that was signaled, locked
 * @value: the value of the signal
 * @time: time in GPU ticks, read after the value was stored
 *
 * Any context. Each signal is propagated by itself, so that a value that was rewound
 * meanwhile releases the waits it satisfies and no others. If more than
 * VFENCE_CROSS_PENDING signals are pending the last entry holds the maximum of the rest.
 */
void vfence_cross_note_locked(struct vfence_fence *fence, u64 value, u64 time)
{
	struct vfence_signaled *last;

	lockdep_assert_held(&fence->lock);

	if (fence->signaled_count < VFENCE_CROSS_PENDING) {
		fence->signaled[fence->signaled_count++] = (struct vfence_signaled){ value, time };
		return;
	}

	last = &fence->signaled[VFENCE_CROSS_PENDING - 1];
	last->value = max(last->value, value);
	last->time = max(last->time, time);
}

/** vfence_cross_propagate_noted - propagate the remembered signals; process context */
void vfence_cross_propagate_noted(struct vfence_fence *fence)
{
	struct vfence_signaled signaled[VFENCE_CROSS_PENDING];
	unsigned int i, count;
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	count = fence->signaled_count;
	memcpy(signaled, fence->signaled, count * sizeof(*signaled));
	fence->signaled_count = 0;
	spin_unlock_irqrestore(&fence->lock, flags);

	for (i = 0; i < count; i++)
		vfence_cross_propagate(fence, signaled[i].value, signaled[i].time);
}

/**
 * vfence_cross_settle_rewinds - vfence_notify_settle_rewinds() for all members
 * @cross: the cross-adapter fence, a member of which is about to get a waiter
 *
 * A signal that is pending on one adapter may have been rewound on another. The rewinds
 * of all members are therefore added up.
 */
void vfence_cross_settle_rewinds(struct vfence_cross *cross)
{
	struct vfence_fence *member[VFENCE_MAX_ADAPTERS];
	u64 rewinds = 0;
	unsigned int n;

	n = cross_get_members(cross, NULL, member, &rewinds);
	while (n--) {
		if (READ_ONCE(cross->settled) != rewinds)
			vfence_notify_settle(member[n]);
		vfence_fence_put(member[n]);
	}

	/* Store the count only now, as others skip the settlement by it. Later rewinds differ. */
	WRITE_ONCE(cross->settled, rewinds);
}

/* Remove one member from the list. Return it with the list's reference, or NULL. */
static struct vfence_fence *cross_take_member(struct vfence_cross *cross)
{
	struct vfence_fence *fence;

	mutex_lock(&cross->lock);
	fence = list_first_entry_or_null(&cross->members, struct vfence_fence, cross_link);
	if (fence)
		list_del_init(&fence->cross_link);
	mutex_unlock(&cross->lock);

	return fence;
}

/**
 * vfence_cross_end - end all members after the last holder on any adapter has gone
 * @cross: the cross-adapter fence; the caller has a reference to a member
 *
 * A member stays until then even if its own adapter has no holder any more: a queue may
 * be blocked on it until another adapter signals.
 */
void vfence_cross_end(struct vfence_cross *cross)
{
	struct vfence_fence *fence;

	while ((fence = cross_take_member(cross))) {
		vfence_fence_end(fence, -ECANCELED);
		vfence_fence_put(fence);
	}
}
