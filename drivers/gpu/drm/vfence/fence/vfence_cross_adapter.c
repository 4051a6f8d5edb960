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

#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_irq.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_waiter.h"
#include "vfence_race_point.h"

static void cross_free(struct kref *ref)
{
	struct vfence_cross_adapter *cross = container_of(ref, struct vfence_cross_adapter, ref);

	put_page(cross->page);
	vgpu_word_destroy(cross->word);
	ww_mutex_destroy(&cross->signal_lock);
	mutex_destroy(&cross->lock);
	vfence_leak_check_free(CROSS, cross);
}

/* From now on signals of the other members are passed on to the fence. The list has a reference. */
static void cross_add_locked(struct vfence_cross_adapter *cross, struct vfence_fence *fence)
{
	lockdep_assert_held(&cross->lock);
	list_add_tail(&fence->cross_link, &cross->members);
	vfence_fence_get(fence);
}

/** vfence_cross_adapter_create - make a new fence the first member of a cross-adapter fence */
int vfence_cross_adapter_create(struct vfence_fence *fence)
{
	struct vfence_cross_adapter *cross = vfence_leak_check_alloc(CROSS, sizeof(*cross));

	if (!cross)
		return -ENOMEM;
	cross->word = vgpu_word_create(false);
	if (IS_ERR(cross->word)) {
		int ret = PTR_ERR(cross->word);

		vfence_leak_check_free(CROSS, cross);
		return ret;
	}

	kref_init(&cross->ref);
	mutex_init(&cross->lock);
	vfence_signal_init_lock(&cross->signal_lock);
	INIT_LIST_HEAD(&cross->members);
	/* The waits of a native fence end when nobody can signal it any more, and not before. */
	cross->flags = vfence_fence_is_monitored(fence) ? fence->flags :
		       fence->flags | DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY;
	cross->page = virt_to_page(fence->current_value);
	get_page(cross->page);

	/* The creator is the only holder so far. */
	atomic_set(&cross->holders, 1);
	atomic_set(&cross->signalers, 1);

	vfence_cross_adapter_use(cross, fence);
	kref_put(&cross->ref, cross_free);

	/* A member that is alone interrupts for its own waiters only. */
	fence->linked = false;
	mutex_lock(&cross->lock);
	cross_add_locked(cross, fence);
	mutex_unlock(&cross->lock);
	return 0;
}

/**
 * vfence_cross_adapter_use - give a fence what it has in common with others
 * @cross: the cross-adapter fence
 * @fence: the fence that is being created, and that no other thread knows yet
 *
 * It interrupts for each signal from its beginning, and becomes a member later. Undo this with
 * vfence_cross_adapter_leave() if the creation fails.
 */
void vfence_cross_adapter_use(struct vfence_cross_adapter *cross, struct vfence_fence *fence)
{
	kref_get(&cross->ref);
	fence->cross = cross;
	if (vfence_fence_is_monitored(fence))
		fence->word = cross->word;
	fence->linked = true;
}

/**
 * vfence_cross_adapter_leave - undo vfence_cross_adapter_use() or vfence_cross_adapter_create()
 * @fence: the fence, whose creation has failed; the caller frees it, whatever its references
 */
void vfence_cross_adapter_leave(struct vfence_fence *fence)
{
	/* Only a first member is on the list, which nobody else knows. */
	list_del_init(&fence->cross_link);
	kref_put(&fence->cross->ref, cross_free);
}

/** vfence_cross_adapter_put - drop the reference of a member that is being destroyed */
void vfence_cross_adapter_put(struct vfence_cross_adapter *cross)
{
	kref_put(&cross->ref, cross_free);
}

/* Return the member on @adapter with a reference, or NULL. */
static struct vfence_fence *cross_find_locked(struct vfence_cross_adapter *cross,
					      struct vfence_adapter *adapter)
{
	struct vfence_fence *fence;

	lockdep_assert_held(&cross->lock);
	list_for_each_entry(fence, &cross->members, cross_link)
		if (fence->adapter == adapter)
			return vfence_fence_get(fence);
	return NULL;
}

/* The member on @adapter with a reference, or NULL. */
static struct vfence_fence *cross_find(struct vfence_cross_adapter *cross, struct vfence_adapter *adapter)
{
	struct vfence_fence *member;

	mutex_lock(&cross->lock);
	member = cross_find_locked(cross, adapter);
	mutex_unlock(&cross->lock);
	return member;
}

static struct vfence_fence *cross_create_member(struct vfence_fence *fence,
						struct vfence_file *file)
{
	struct vfence_cross_adapter *cross = fence->cross;
	struct vfence_fence_args args = { .shareable = true, .cross = cross };

	/* Create the kind of fence that the adapter supports (WDDM-109, WDDM-110). */
	if (!file->adapter->native_fence) {
		args.type = DRM_VFENCE_FENCE_MONITORED;
		args.flags = cross->flags;
	} else {
		args.flags = cross->flags & DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR;
	}
	vfence_fence_private_data(fence, args.private_data);
	return vfence_fence_create(file, &args);
}

/*
 * Another thread may have been first: then its fence is the member, and this one is not needed.
 * Consumes the reference of @created. Returns the member with a reference.
 */
static struct vfence_fence *cross_join(struct vfence_cross_adapter *cross, struct vfence_fence *created)
{
	struct vfence_fence *member;

	mutex_lock(&cross->lock);
	member = cross_find_locked(cross, created->adapter);
	if (!member)
		cross_add_locked(cross, created);
	mutex_unlock(&cross->lock);

	if (!member)
		return created;
	vfence_fence_put(created);
	return member;
}

static u64 cross_rewinds(struct vfence_cross_adapter *cross)
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
static struct vfence_fence *cross_first_from_locked(struct vfence_cross_adapter *cross,
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

/*
 * Call @fn for each member, without the lock. There may be one for each adapter and for each of
 * their functions. A member that joins meanwhile comes last, and one that leaves meanwhile has
 * ended with all others: the list is empty then.
 */
static void cross_for_each(struct vfence_cross_adapter *cross,
			   void (*fn)(struct vfence_fence *member, const void *arg),
			   const void *arg)
{
	struct vfence_fence *member, *next;

	mutex_lock(&cross->lock);
	member = cross_first_from_locked(cross, cross->members.next);
	mutex_unlock(&cross->lock);

	while (member) {
		fn(member, arg);

		mutex_lock(&cross->lock);
		next = list_empty(&member->cross_link) ? NULL :
		       cross_first_from_locked(cross, member->cross_link.next);
		mutex_unlock(&cross->lock);
		vfence_fence_put(member);
		member = next;
		cond_resched();
	}
}

static void cross_link_one(struct vfence_fence *member, const void *unused)
{
	if (!READ_ONCE(member->linked))
		vfence_waiter_link(member);
}

/**
 * vfence_cross_adapter_member - get the member of a cross-adapter fence on the file's adapter
 * @fence: any member; the caller is a holder of it
 * @file: the file that opens the fence, locked
 *
 * Creates the member if the file's adapter has none yet. That may take as long as the client takes
 * to get a processor and memory: others use the fence meanwhile.
 *
 * Return: the member with a reference, or an ERR_PTR.
 */
struct vfence_fence *vfence_cross_adapter_member(struct vfence_fence *fence, struct vfence_file *file)
{
	struct vfence_cross_adapter *cross = fence->cross;
	struct vfence_fence *member = cross_find(cross, file->adapter);

	lockdep_assert_held(&file->lock);
	if (!member) {
		member = cross_create_member(fence, file);
		if (IS_ERR(member))
			return member;
		vfence_hold(MEMBER);
		member = cross_join(cross, member);
	}

	/*
	 * From now on each signal of the others must reach the member, also if another thread has
	 * added it and does not get to this.
	 */
	cross_for_each(cross, cross_link_one, NULL);

	/*
	 * The lock decides: either vfence_cross_adapter_end() finds a new member, or this thread finds that
	 * nobody can signal.
	 */
	if (!atomic_read(&cross->signalers))
		vfence_fence_end(member, -ECANCELED);

	return member;
}

/**
 * struct cross_signal - a signal to propagate
 */
struct cross_signal {
	/** @from: member that was signaled */
	struct vfence_fence *from;
	/** @value: value of the signal, which may have been rewound meanwhile */
	u64 value;
	/** @time: time in GPU ticks, read after the value was stored */
	u64 time;
};

static void cross_propagate_one(struct vfence_fence *member, const void *arg)
{
	const struct cross_signal *signal = arg;
	struct vgpu_value_update update = {
		.fence = member->hw,
		.kernel_va = member->current_value,
		.value = signal->value,
		.time = signal->time,
	};

	if (member == signal->from)
		return;
	trace_vfence_cross_adapter(signal->from, member, signal->value, signal->time);
	/* A monitored fence has no update: no queue of the hardware waits for it. */
	if (update.fence && vgpu_fence_update_current_values(member->adapter->gpu, &update, 1,
							     VGPU_UPDATE_NOTIFICATION_ONLY))
		vfence_adapter_lose(member->adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x13);

	vfence_waiter_complete(member, signal->value);
}

/**
 * vfence_cross_adapter_propagate - propagate a signal to the other adapters
 * @fence: the member that was signaled
 * @value: the value of the signal, which may have been rewound meanwhile
 * @time: time in GPU ticks, read after the value was stored
 *
 * Process context.
 */
void vfence_cross_adapter_propagate(struct vfence_fence *fence, u64 value, u64 time)
{
	const struct cross_signal signal = { .from = fence, .value = value, .time = time };

	cross_for_each(fence->cross, cross_propagate_one, &signal);
}

/**
 * vfence_cross_adapter_note_locked - remember a signal for vfence_cross_adapter_propagate_noted()
 * @fence: the member that was signaled, locked
 * @value: the value of the signal
 * @time: time in GPU ticks, read after the value was stored
 *
 * Any context. Each signal is propagated by itself, so that a value that was rewound
 * meanwhile releases the waits it satisfies and no others. If more than
 * VFENCE_CROSS_ADAPTER_PENDING signals are pending the last entry holds the maximum of the rest.
 */
void vfence_cross_adapter_note_locked(struct vfence_fence *fence, u64 value, u64 time)
{
	struct vfence_signaled *last;

	lockdep_assert_held(&fence->lock);

	if (fence->signaled_count < VFENCE_CROSS_ADAPTER_PENDING) {
		fence->signaled[fence->signaled_count++] = (struct vfence_signaled){ value, time };
		return;
	}

	last = &fence->signaled[VFENCE_CROSS_ADAPTER_PENDING - 1];
	last->value = max(last->value, value);
	last->time = max(last->time, time);
}

/** vfence_cross_adapter_propagate_noted - propagate the remembered signals; process context */
void vfence_cross_adapter_propagate_noted(struct vfence_fence *fence)
{
	struct vfence_signaled signaled[VFENCE_CROSS_ADAPTER_PENDING];
	unsigned int i, count;
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	count = fence->signaled_count;
	memcpy(signaled, fence->signaled, count * sizeof(*signaled));
	fence->signaled_count = 0;
	spin_unlock_irqrestore(&fence->lock, flags);

	for (i = 0; i < count; i++)
		vfence_cross_adapter_propagate(fence, signaled[i].value, signaled[i].time);
}

static void cross_settle_one(struct vfence_fence *member, const void *unused)
{
	vfence_fence_irq_settle(member);
}

/**
 * vfence_cross_adapter_settle_rewinds - vfence_fence_irq_settle_rewinds() for all members
 * @cross: the cross-adapter fence, a member of which is about to get a waiter
 *
 * A signal that is pending on one adapter may have been rewound on another. The rewinds
 * of all members are therefore added up.
 */
void vfence_cross_adapter_settle_rewinds(struct vfence_cross_adapter *cross)
{
	u64 rewinds = cross_rewinds(cross);

	if (READ_ONCE(cross->settled) == rewinds)
		return;
	cross_for_each(cross, cross_settle_one, NULL);

	/* Store the count only now, as others skip the settlement by it. Later rewinds differ. */
	WRITE_ONCE(cross->settled, rewinds);
}

/* Remove one member from the list. Return it with the list's reference, or NULL. */
static struct vfence_fence *cross_take_member(struct vfence_cross_adapter *cross)
{
	struct vfence_fence *fence;

	mutex_lock(&cross->lock);
	fence = list_first_entry_or_null(&cross->members, struct vfence_fence, cross_link);
	if (fence)
		list_del_init(&fence->cross_link);
	mutex_unlock(&cross->lock);

	return fence;
}

static void cross_end_one(struct vfence_fence *member, const void *unused)
{
	vfence_fence_end(member, -ECANCELED);
}

/**
 * vfence_cross_adapter_end - end all members after the last holder that may signal has gone
 * @cross: the cross-adapter fence; the caller has a reference to a member
 */
void vfence_cross_adapter_end(struct vfence_cross_adapter *cross)
{
	cross_for_each(cross, cross_end_one, NULL);
}

/** vfence_cross_adapter_get_holder - count a holder of a member; false if the last one has gone */
bool vfence_cross_adapter_get_holder(struct vfence_cross_adapter *cross)
{
	return atomic_inc_not_zero(&cross->holders);
}

/**
 * vfence_cross_adapter_put_holder - drop a holder of a member
 * @cross: the cross-adapter fence; the caller has a reference to a member
 *
 * A member stays until the last holder on any adapter has gone, even if its own adapter has no
 * holder any more: a queue may be blocked on it until another adapter signals.
 */
void vfence_cross_adapter_put_holder(struct vfence_cross_adapter *cross)
{
	struct vfence_fence *fence;

	if (!atomic_dec_and_test(&cross->holders))
		return;
	while ((fence = cross_take_member(cross)))
		vfence_fence_put(fence);
}
