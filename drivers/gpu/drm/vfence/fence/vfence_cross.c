// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cross-adapter fences: one current value, a fence on each adapter, and what one
 * adapter's signal means to the others.
 *
 * There is no signal from GPU to GPU. The monitored value of every member is 0 for
 * life, so that each signal interrupts the CPU (WDDM-104), and the CPU tells the
 * others: their queues by a notification, their CPU waiters by looking (WDDM-105,
 * WDDM-106). Within one adapter signals release queues as ever (WDDM-108).
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>

#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_notify.h"
#include "fence/vfence_point.h"

static void free_cross(struct kref *ref)
{
	struct vfence_cross *cross = container_of(ref, struct vfence_cross, ref);

	put_page(cross->page);
	mutex_destroy(&cross->lock);
	vfence_object_free(CROSS, cross);
}

/** vfence_cross_create - make a new fence the first member of its kind */
int vfence_cross_create(struct vfence_fence *fence)
{
	struct vfence_cross *cross = vfence_object_alloc(CROSS, sizeof(*cross));

	if (!cross)
		return -ENOMEM;
	kref_init(&cross->ref);
	mutex_init(&cross->lock);
	INIT_LIST_HEAD(&cross->members);
	/* A native fence's waits end with the last holder alone. */
	cross->flags = vfence_fence_is_monitored(fence) ? fence->flags :
		       DRM_VFENCE_MONITORED_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY;
	cross->page = virt_to_page(fence->current_value);
	get_page(cross->page);
	/* As many as the fence had by itself: its creator. */
	atomic_set(&cross->holders, 1);
	mutex_lock(&cross->lock);
	vfence_cross_join(cross, fence);
	mutex_unlock(&cross->lock);
	kref_put(&cross->ref, free_cross);
	return 0;
}

/**
 * vfence_cross_join - one more member
 * @cross: locked
 * @fence: being created: what it becomes a member of has no reference of it yet
 */
void vfence_cross_join(struct vfence_cross *cross, struct vfence_fence *fence)
{
	lockdep_assert_held(&cross->lock);
	kref_get(&cross->ref);
	fence->cross = cross;
	list_add(&fence->cross_link, &cross->members);
}

/** vfence_cross_leave_locked - a fence that could not be created is no member */
void vfence_cross_leave_locked(struct vfence_fence *fence)
{
	lockdep_assert_held(&fence->cross->lock);
	list_del(&fence->cross_link);
	/* Not the last: another member's holder has the lock. */
	kref_put(&fence->cross->ref, free_cross);
}

/** vfence_cross_leave - likewise, of the first member */
void vfence_cross_leave(struct vfence_fence *fence)
{
	list_del(&fence->cross_link);
	vfence_cross_put(fence->cross);
}

/** vfence_cross_put - a former member is destroyed */
void vfence_cross_put(struct vfence_cross *cross)
{
	kref_put(&cross->ref, free_cross);
}

/* The member on @adapter, with a reference, or NULL. */
static struct vfence_fence *find_locked(struct vfence_cross *cross, struct vfence_adapter *adapter)
{
	struct vfence_fence *fence;

	lockdep_assert_held(&cross->lock);
	list_for_each_entry(fence, &cross->members, cross_link)
		if (fence->adapter == adapter)
			return vfence_fence_get(fence);
	return NULL;
}

/**
 * vfence_cross_member - the same fence on another adapter
 * @fence: a member, held by the caller
 * @file: who opens it, locked; on whichever adapter
 *
 * Return: the member of the file's adapter, with a reference, made if there is
 * none yet; or an ERR_PTR.
 */
struct vfence_fence *vfence_cross_member(struct vfence_fence *fence, struct vfence_file *file)
{
	struct vfence_cross *cross = fence->cross;
	struct vfence_fence_args args = { .shareable = true, .cross = cross };
	struct vfence_fence *member;

	lockdep_assert_held(&file->lock);
	/* Of the kind that its adapter supports (WDDM-109, WDDM-110). */
	if (!file->adapter->native_fence) {
		args.type = DRM_VFENCE_FENCE_MONITORED;
		args.flags = cross->flags;
	}
	vfence_fence_private_data(fence, args.private_data);
	mutex_lock(&cross->lock);
	member = find_locked(cross, file->adapter);
	if (!member)
		member = vfence_fence_create(file, &args);
	mutex_unlock(&cross->lock);
	return member;
}

/*
 * All members but @but, with references. Those of adapters that have gone need
 * not be told: their waits have failed, their engines stopped. Adds up @rewinds of
 * all.
 */
static unsigned int members(struct vfence_cross *cross, struct vfence_fence *but,
			    struct vfence_fence **member, u64 *rewinds)
{
	struct vfence_fence *fence;
	unsigned int n = 0;

	mutex_lock(&cross->lock);
	list_for_each_entry(fence, &cross->members, cross_link) {
		*rewinds += vfence_fence_rewinds(fence);
		if (fence != but && n < VFENCE_MAX_ADAPTERS &&
		    !drm_dev_is_unplugged(&fence->adapter->drm))
			member[n++] = vfence_fence_get(fence);
	}
	mutex_unlock(&cross->lock);
	return n;
}

/**
 * vfence_cross_propagate - tell the other adapters of a signal
 * @fence: the member that was signaled
 * @value: the value, which may have been rewound meanwhile
 * @time: GPU ticks when it had been stored
 *
 * Process context.
 */
void vfence_cross_propagate(struct vfence_fence *fence, u64 value, u64 time)
{
	struct vfence_fence *member[VFENCE_MAX_ADAPTERS];
	u64 unused = 0;
	unsigned int n;

	n = members(fence->cross, fence, member, &unused);
	while (n--) {
		struct vgpu_value_update update = {
			.fence = member[n]->hw,
			.kernel_va = member[n]->current_value,
			.value = value,
			.time = time,
		};
		struct vfence_adapter *adapter = member[n]->adapter;

		/* For a monitored fence no queue of the hardware waits. */
		if (update.fence &&
		    vgpu_fence_update_current_values(adapter->gpu, &update, 1,
						     VGPU_UPDATE_NOTIFICATION_ONLY))
			vfence_adapter_lose(adapter, 0x13);
		vfence_point_complete(member[n], value);
		vfence_fence_put(member[n]);
	}
}

/** vfence_cross_fail - a fence fails, on all adapters; process context */
void vfence_cross_fail(struct vfence_cross *cross, int error)
{
	struct vfence_fence *member[VFENCE_MAX_ADAPTERS];
	u64 unused = 0;
	unsigned int n;

	n = members(cross, NULL, member, &unused);
	while (n--) {
		vfence_point_fail_all(member[n], error);
		vfence_fence_set_always_signaled(member[n]);
		vfence_fence_put(member[n]);
	}
}

/**
 * vfence_cross_note_locked - remember a signal for vfence_cross_propagate_noted()
 * @fence: the member, locked
 * @value: the value
 * @time: GPU ticks when it had been stored
 *
 * Any context. Each signal is told by itself, so that a value that was rewound
 * reaches those it concerns and no other; only if very many come before they can
 * be told the last ones become one.
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

/** vfence_cross_propagate_noted - tell what was noted; process context */
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
 * vfence_cross_settle_rewinds - vfence_notify_settle_rewinds() of all members
 * @cross: of a fence about to get a waiter
 *
 * What is on its way on one adapter may have been rewound on another, so that the
 * rewinds of all of them count together.
 */
void vfence_cross_settle_rewinds(struct vfence_cross *cross)
{
	struct vfence_fence *member[VFENCE_MAX_ADAPTERS];
	u64 rewinds = 0;
	unsigned int n;

	n = members(cross, NULL, member, &rewinds);
	while (n--) {
		if (READ_ONCE(cross->settled) != rewinds)
			vfence_notify_settle(member[n]);
		vfence_fence_put(member[n]);
	}
	/* Others may rely on it only now; a rewind since then is another one. */
	WRITE_ONCE(cross->settled, rewinds);
}

static struct vfence_fence *take_member(struct vfence_cross *cross)
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
 * vfence_cross_end - the last holder on any adapter has gone, and so do the members
 * @cross: kept by the caller's reference of a member
 *
 * Until then they stay, though nobody on their own adapter has them any more: a
 * queue may be blocked on them that somebody elsewhere will release.
 */
void vfence_cross_end(struct vfence_cross *cross)
{
	struct vfence_fence *fence;

	while ((fence = take_member(cross))) {
		vfence_fence_end(fence);
		vfence_fence_put(fence);
	}
}
