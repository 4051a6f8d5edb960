// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cross-adapter fences: one current value, and one member fence on each adapter.
 *
 * The monitored value of every member is 0, so that each signal interrupts the CPU (WDDM-104),
 * which propagates it: see vfence_propagate.c. A member that is alone has a monitored value like
 * any other fence, until another adapter joins.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_shared.h"

static void cross_free(struct kref *ref)
{
	struct vfence_cross_adapter *cross = container_of(ref, struct vfence_cross_adapter, ref);

	put_page(cross->page);
	vgpu_word_destroy(cross->word);
	vfence_shared_fini(&cross->shared);
	mutex_destroy(&cross->lock);
	vfence_leak_check_free(CROSS, cross);
}

/**
 * vfence_cross_adapter_add_locked - make a fence a member
 * @cross: the cross-adapter fence, locked
 * @fence: the fence
 *
 * From now on signals of the other members are propagated to the fence. The list of members has a
 * reference to it.
 */
void vfence_cross_adapter_add_locked(struct vfence_cross_adapter *cross,
				     struct vfence_fence *fence)
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
	/* The creator is the only holder so far. */
	vfence_shared_init(&cross->shared, 1);
	INIT_LIST_HEAD(&cross->members);
	/* The waits of a native fence end when no holder can signal it any more, not before. */
	cross->flags = vfence_fence_is_monitored(fence) ? fence->flags :
		       fence->flags | DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY;
	cross->page = virt_to_page(fence->current_value);
	get_page(cross->page);

	atomic_set(&cross->holders, 1);

	vfence_cross_adapter_use(cross, fence);
	kref_put(&cross->ref, cross_free);

	/* A member that is alone interrupts for its own waiters only. */
	fence->linked = false;
	mutex_lock(&cross->lock);
	vfence_cross_adapter_add_locked(cross, fence);
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
	fence->shared = &cross->shared;
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
	/* Only a first member is on the list, and no other thread knows that list. */
	list_del_init(&fence->cross_link);
	kref_put(&fence->cross->ref, cross_free);
}

/** vfence_cross_adapter_put - drop the reference of a member that is being destroyed */
void vfence_cross_adapter_put(struct vfence_cross_adapter *cross)
{
	kref_put(&cross->ref, cross_free);
}
