// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fences of both kinds: the global part, its creation and its end.
 */

#include <linux/slab.h>

#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_point.h"
#include "irq/vfence_irq.h"

static u64 *slot_in(struct vfence_fence *fence, struct vfence_storage *storage)
{
	if (!storage->kva)
		return NULL;
	return storage->kva + vfence_slots_offset(fence->slots, fence->index);
}

/*
 * The first values of a DEFAULT fence are the kernel's to write. Those of an
 * INTRA_GPU fence it cannot reach: its client has the GPU write them (WDDM-33),
 * and its monitored value never means a waiter.
 */
static void place(struct vfence_fence *fence, const struct vfence_fence_args *args)
{
	struct vfence_segment *segment = &fence->adapter->mem.segment;

	/* Every signal of a cross-adapter fence interrupts (WDDM-104). */
	fence->monitored = args->cross_adapter || args->cross ? 0 : VFENCE_NOT_MONITORED;
	/* Moves find it from here on. */
	mutex_lock(&segment->lock);
	fence->current_value = slot_in(fence, &fence->slots->current_value);
	fence->monitored_value = slot_in(fence, &fence->slots->monitored_value);
	list_add(&fence->slot_link, &fence->slots->fences);
	atomic64_set(&fence->wide, (u32)args->initial_value);
	if (fence->current_value && !args->cross)
		WRITE_ONCE(*fence->current_value, fence->narrow ? (u32)args->initial_value :
								  args->initial_value);
	if (fence->monitored_value)
		WRITE_ONCE(*fence->monitored_value, fence->monitored);
	mutex_unlock(&segment->lock);
}

/* Moves do not find it any more. */
static void forget_place(struct vfence_fence *fence)
{
	mutex_lock(&fence->adapter->mem.segment.lock);
	list_del(&fence->slot_link);
	mutex_unlock(&fence->adapter->mem.segment.lock);
}

static void free_place(struct vfence_fence *fence)
{
	clear_bit(fence->index, fence->slots->used);
	vfence_slots_put(fence->slots);
}

/* What was stored at the old place while it moved is stored again. */
static void fence_monitored_moved(struct vfence_fence *fence, u64 *monitored_value)
{
	struct vgpu_value_update update = {
		.fence = READ_ONCE(fence->hw),
		.kernel_va = monitored_value,
	};
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	fence->monitored_value = monitored_value;
	update.value = fence->monitored;
	if (update.fence && vgpu_fence_update_monitored_values(fence->adapter->gpu, &update, 1))
		vfence_adapter_lose(fence->adapter, 0x12);
	spin_unlock_irqrestore(&fence->lock, flags);
}

/* A page of values is somewhere else now. */
static void fence_storage_moved(struct vfence_slots *slots, struct vfence_storage *storage)
{
	struct vfence_fence *fence;

	lockdep_assert_held(&slots->adapter->mem.segment.lock);
	if (storage != &slots->monitored_value || !storage->kva)
		return;
	list_for_each_entry(fence, &slots->fences, slot_link)
		fence_monitored_moved(fence, storage->kva +
				      vfence_slots_offset(slots, fence->index));
}

/** vfence_fence_init - prepare an adapter for fences; nothing can fail */
void vfence_fence_init(struct vfence_adapter *adapter)
{
	xa_init_flags(&adapter->fences.table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	mutex_init(&adapter->fences.signal_lock);
	init_llist_head(&adapter->fences.deferred);
	adapter->mem.segment.moved = fence_storage_moved;
}

/** vfence_fence_fini - undo vfence_fence_init(); no fence is left */
void vfence_fence_fini(struct vfence_adapter *adapter)
{
	xa_destroy(&adapter->fences.table);
	mutex_destroy(&adapter->fences.signal_lock);
}

/**
 * vfence_fence_widen - current value of a narrow fence, with its upper half
 * @fence: the fence
 *
 * Of the memory 32 bits are known, and a value of not long ago: the one nearest to
 * that is meant. The two are of one moment, or it is tried again. Any context.
 */
u64 vfence_fence_widen(const struct vfence_fence *fence)
{
	u64 anchor, value;

	do {
		/* Acquire: the low half of that moment, or a later one. */
		anchor = atomic64_read_acquire(&fence->wide);
		/* Acquire: what the signaller did before. Partner: who stores it. */
		value = vfence_widen(anchor, smp_load_acquire((u32 *)fence->current_value));
	} while (atomic64_read(&fence->wide) != anchor);
	return value;
}

static int create_hw(struct vfence_fence *fence, const struct vfence_fence_args *args)
{
	struct vfence_adapter *adapter = fence->adapter;
	struct vgpu_fence_args hw = {
		.os_handle = fence->global,
		.type = args->type,
		.current_value = fence->slots->current_value.hw,
		.monitored_value = fence->slots->monitored_value.hw,
		.offset = vfence_slots_offset(fence->slots, fence->index),
		.current_system_va = vfence_slots_va(&fence->slots->current_value.system_va,
						     fence->slots, fence->index),
		.monitored_system_va = vfence_slots_va(&fence->slots->monitored_value.system_va,
						       fence->slots, fence->index),
		.private_data = args->private_data,
	};
	struct vgpu_fence *created = vgpu_fence_create(adapter->gpu, &hw);

	if (IS_ERR(created))
		return PTR_ERR(created);
	/* A move may look at it from here on. */
	WRITE_ONCE(fence->hw, created);
	vfence_count(adapter, VFENCE_COUNT_FENCE_CREATED);
	return 0;
}

/* Of a monitored fence the hardware knows nothing. */
static int publish(struct vfence_fence *fence, const struct vfence_fence_args *args)
{
	struct vfence_adapter *adapter = fence->adapter;
	int ret;

	/* Reserve the handle, fill it when the fence may be found. */
	ret = xa_alloc_cyclic(&adapter->fences.table, &fence->global, NULL, xa_limit_31b,
			      &adapter->fences.next, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;
	ret = vfence_fence_is_monitored(fence) ? 0 : create_hw(fence, args);
	if (ret)
		xa_erase(&adapter->fences.table, fence->global);
	else
		xa_store(&adapter->fences.table, fence->global, fence, GFP_KERNEL_ACCOUNT);
	return ret;
}

/**
 * vfence_fence_create - create a fence
 * @file: the creator, locked
 * @args: what it shall be
 *
 * Return: the fence, held once for the caller, or an ERR_PTR.
 */
struct vfence_fence *vfence_fence_create(struct vfence_file *file,
					 const struct vfence_fence_args *args)
{
	const struct vfence_slots_args slots = {
		.type = args->type,
		.no_gpu_access = args->flags & DRM_VFENCE_MONITORED_NO_GPU_ACCESS,
		.shareable = args->shareable,
		.shared_page = args->cross ? args->cross->page : NULL,
	};
	struct vfence_fence *fence = vfence_object_alloc(FENCE, sizeof(*fence));
	int ret = 0;

	if (!fence)
		return ERR_PTR(-ENOMEM);
	kref_init(&fence->ref);
	atomic_set(&fence->holders, 1);
	mutex_init(&fence->look_lock);
	spin_lock_init(&fence->lock);
	fence->waiters = RB_ROOT_CACHED;
	fence->gpu_waiters = RB_ROOT_CACHED;
	fence->adapter = file->adapter;
	fence->shareable = args->shareable;
	fence->type = args->type;
	fence->flags = args->flags;
	fence->narrow = args->type == DRM_VFENCE_FENCE_MONITORED &&
			!(args->flags & DRM_VFENCE_MONITORED_NO_GPU_ACCESS) &&
			file->adapter->config.gpu.no_64bit_atomics;
	fence->slots = vfence_slots_get(file, &slots, &fence->index);
	if (IS_ERR(fence->slots)) {
		ret = PTR_ERR(fence->slots);
		goto free;
	}
	place(fence, args);
	if (args->cross)
		vfence_cross_join(args->cross, fence);
	else if (args->cross_adapter)
		ret = vfence_cross_create(fence);
	if (ret)
		goto free_place;
	ret = publish(fence, args);
	if (ret)
		goto leave;
	/* The fence may outlive its file, in a descriptor or in a wait. */
	drm_dev_get(&fence->adapter->drm);
	if (fence->cross)
		kref_get(&fence->ref);
	return fence;
leave:
	if (fence->cross && !args->cross)
		vfence_cross_leave(fence);
	else if (fence->cross)
		vfence_cross_leave_locked(fence);
free_place:
	forget_place(fence);
	free_place(fence);
free:
	vfence_object_free(FENCE, fence);
	return ERR_PTR(ret);
}

static void destroy(struct kref *ref)
{
	struct vfence_fence *fence = container_of(ref, struct vfence_fence, ref);
	struct vfence_adapter *adapter = fence->adapter;

	might_sleep();
	/*
	 * Moves do not know it, no engine does, then no record names it, then nobody can find it,
	 * then its storage goes (WDDM-58, WDDM-59).
	 */
	forget_place(fence);
	if (fence->hw) {
		vgpu_fence_destroy(fence->hw);
		vfence_irq_flush(adapter);
		vfence_count(adapter, VFENCE_COUNT_FENCE_DESTROYED);
	}
	xa_erase(&adapter->fences.table, fence->global);
	if (fence->cross)
		vfence_cross_put(fence->cross);
	free_place(fence);
	mutex_destroy(&fence->look_lock);
	vfence_object_free_rcu(FENCE, fence);
	drm_dev_put(&adapter->drm);
}

/** vfence_fence_put - drop a reference; process context */
void vfence_fence_put(struct vfence_fence *fence)
{
	kref_put(&fence->ref, destroy);
}

/* All holders of a cross-adapter fence count together. */
static atomic_t *holders_of(struct vfence_fence *fence)
{
	return fence->cross ? &fence->cross->holders : &fence->holders;
}

/** vfence_fence_end - nobody can signal it any more: let go who waits */
void vfence_fence_end(struct vfence_fence *fence)
{
	vfence_point_fail_all(fence, -ECANCELED);
	vfence_fence_set_always_signaled(fence);
}

/**
 * vfence_fence_get_handle - one more handle or descriptor; takes a reference
 * @fence: the fence, of which the caller has a reference
 *
 * Return: false if the last holder has gone: what it ended stays ended.
 */
bool vfence_fence_get_handle(struct vfence_fence *fence)
{
	if (!atomic_inc_not_zero(holders_of(fence)))
		return false;
	kref_get(&fence->ref);
	return true;
}

/**
 * vfence_fence_put_handle - one handle or descriptor less
 * @fence: the fence
 *
 * When the last is gone nobody can signal the fence any more: CPU waits end with
 * ECANCELED, queues blocked on it go on.
 */
void vfence_fence_put_handle(struct vfence_fence *fence)
{
	if (atomic_dec_and_test(holders_of(fence))) {
		if (fence->cross)
			vfence_cross_end(fence->cross);
		else
			vfence_fence_end(fence);
	}
	vfence_fence_put(fence);
}

/**
 * vfence_fence_set_always_signaled - nobody will signal it: let all queues pass
 * @fence: the fence
 *
 * Whatever waits on the GPU goes on, now and later (WDDM-66). Nothing waits there
 * for a monitored fence.
 */
void vfence_fence_set_always_signaled(struct vfence_fence *fence)
{
	struct vgpu_value_update update = {
		.fence = fence->hw,
		.kernel_va = fence->current_value,
	};

	if (fence->hw &&
	    vgpu_fence_update_current_values(fence->adapter->gpu, &update, 1,
					     VGPU_UPDATE_ALWAYS_SIGNALED))
		vfence_adapter_lose(fence->adapter, 0x13);
}

/** vfence_fence_private_data - the creator's bytes, if it is a native fence */
void vfence_fence_private_data(struct vfence_fence *fence, u8 *data)
{
	if (fence->hw)
		memcpy(data, vgpu_fence_private_data(fence->hw), DRM_VFENCE_PRIVATE_DATA);
}

/** vfence_fence_fail_all - the device goes: end every wait with @error */
void vfence_fence_fail_all(struct vfence_adapter *adapter, int error)
{
	struct vfence_fence *fence;
	unsigned long index;

	rcu_read_lock();
	xa_for_each(&adapter->fences.table, index, fence) {
		if (!kref_get_unless_zero(&fence->ref))
			continue;
		rcu_read_unlock();
		vfence_point_fail_all(fence, error);
		vfence_fence_put(fence);
		rcu_read_lock();
	}
	rcu_read_unlock();
}
