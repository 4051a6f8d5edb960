// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native and monitored fences: the global part, its creation and its destruction.
 */

#include <linux/slab.h>

#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_shared.h"
#include "irq/vfence_irq.h"

/* CPU address of the fence's value in @storage, or NULL if the CPU cannot reach it. */
static u64 *fence_slot(struct vfence_fence *fence, struct vfence_storage *storage)
{
	if (!storage->kva)
		return NULL;
	return storage->kva + vfence_slots_offset(fence->slots, fence->index);
}

/*
 * The kernel writes the first values of a DEFAULT fence. It cannot reach those of an
 * INTRA_GPU fence: the client has the GPU write them (WDDM-33). The monitored value of
 * an INTRA_GPU fence never represents a waiter.
 */
static void fence_place_values(struct vfence_fence *fence, const struct vfence_fence_args *args)
{
	struct vfence_segment *segment = &fence->adapter->mem.segment;

	/* Each signal of a member interrupts once there are two of them (WDDM-104). */
	fence->monitored = args->cross ? 0 : VFENCE_NOT_MONITORED;

	/* From here on a move of the storage finds the fence. */
	spin_lock(&segment->lock);
	fence->current_value = fence_slot(fence, &fence->slots->current_value);
	fence->monitored_value = fence_slot(fence, &fence->slots->monitored_value);
	list_add(&fence->slot_link, &fence->slots->fences);

	atomic64_set(&fence->value64, (u32)args->initial_value);
	if (fence->current_value && !args->cross)
		WRITE_ONCE(*fence->current_value, fence->is_32bit ? (u32)args->initial_value :
								  args->initial_value);
	if (fence->monitored_value)
		WRITE_ONCE(*fence->monitored_value, fence->monitored);
	spin_unlock(&segment->lock);
}

/* On return a move of the storage does not find the fence. */
static void fence_unlink_slot(struct vfence_fence *fence)
{
	spin_lock(&fence->adapter->mem.segment.lock);
	list_del(&fence->slot_link);
	spin_unlock(&fence->adapter->mem.segment.lock);
}

static void fence_free_slot(struct vfence_fence *fence)
{
	clear_bit(fence->index, fence->slots->used);
	vfence_slots_put(fence->slots);
}

/* Store the monitored value again: an update during the move went to the old address. */
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
		vfence_adapter_lose(fence->adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x12);
	spin_unlock_irqrestore(&fence->lock, flags);
}

/* Called by the segment after it has moved a page of values. */
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

/** vfence_fence_init - prepare an adapter for fences; cannot fail */
void vfence_fence_init(struct vfence_adapter *adapter)
{
	xa_init_flags(&adapter->fences.table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	spin_lock_init(&adapter->fences.scan_lock);
	INIT_LIST_HEAD(&adapter->fences.scan);
	init_llist_head(&adapter->fences.deferred);
	adapter->mem.segment.moved = fence_storage_moved;
}

/** vfence_fence_fini - undo vfence_fence_init(); the adapter has no fences any more */
void vfence_fence_fini(struct vfence_adapter *adapter)
{
	xa_destroy(&adapter->fences.table);
}

/**
 * vfence_fence_widen - read the current value of a 32-bit fence as 64 bits
 * @fence: the fence
 *
 * The memory holds the lower 32 bits. The result is the value with these bits that is
 * nearest to fence->value64. The function reads both again if fence->value64 has changed
 * meanwhile. Any context.
 *
 * Return: the widened value.
 */
u64 vfence_fence_widen(const struct vfence_fence *fence)
{
	u64 anchor, value;

	do {
		/* Acquire: load the lower half after the wide value, so that it is not older. */
		anchor = atomic64_read_acquire(&fence->value64);
		/* Acquire: all before the signal. Partners: signal_store_monitored(), engine. */
		value = vfence_widen(anchor, smp_load_acquire((u32 *)fence->current_value));
	} while (atomic64_read(&fence->value64) != anchor);

	return value;
}

static int fence_create_hw(struct vfence_fence *fence, const struct vfence_fence_args *args)
{
	struct vfence_adapter *adapter = fence->adapter;
	struct vgpu_fence_args hw = {
		.os_handle = fence->id,
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

	/* From here on fence_monitored_moved() may read it. */
	WRITE_ONCE(fence->hw, created);
	vfence_count(adapter, VFENCE_COUNT_FENCE_CREATED);

	return 0;
}

/**
 * vfence_fence_list_for_scan_locked - put a fence on its list of scans
 * @fence: the fence, locked; vfence_fence_needs_scan() has become true
 *
 * A scan visits the native fences of a list, so that its cost does not depend on fences that never
 * had a waiter. It takes those off that need no scan any more, so that it finds each of them once.
 * A fence that gets a waiter again and again stays, and its waiters take no lock that other fences
 * need. Any context.
 */
void vfence_fence_list_for_scan_locked(struct vfence_fence *fence)
{
	struct vfence_fences *fences = &fence->adapter->fences;
	unsigned long flags;

	lockdep_assert_held(&fence->lock);

	/* The GPU says which monitored fences it has written. */
	if (fence->scanned || vfence_fence_is_monitored(fence))
		return;
	fence->scanned = true;

	spin_lock_irqsave(&fences->scan_lock, flags);
	list_add_tail(&fence->scan_link, &fences->scan);
	spin_unlock_irqrestore(&fences->scan_lock, flags);
}

/* A new fence has no waiters, but needs scans if it joins a cross-adapter fence. */
static void fence_list_for_scan(struct vfence_fence *fence)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	if (vfence_fence_needs_scan(fence))
		vfence_fence_list_for_scan_locked(fence);
	spin_unlock_irqrestore(&fence->lock, flags);
}

static int fence_create_word(struct vfence_fence *fence)
{
	struct vgpu_word *word = vgpu_word_create(fence->is_32bit);

	if (IS_ERR(word))
		return PTR_ERR(word);
	fence->word = word;
	return 0;
}

/* Make the fence known to the hardware, unless it is a monitored fence, and to interrupts. */
static int fence_publish(struct vfence_fence *fence, const struct vfence_fence_args *args)
{
	struct vfence_adapter *adapter = fence->adapter;
	int ret;

	/* Reserve the handle now; store the fence when interrupts may find it. */
	ret = xa_alloc_cyclic(&adapter->fences.table, &fence->id, NULL, xa_limit_31b,
			      &adapter->fences.next, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;

	ret = vfence_fence_is_monitored(fence) ? 0 : fence_create_hw(fence, args);
	if (ret) {
		xa_erase(&adapter->fences.table, fence->id);
		return ret;
	}

	xa_store(&adapter->fences.table, fence->id, fence, GFP_KERNEL_ACCOUNT);
	fence_list_for_scan(fence);
	return 0;
}

/**
 * vfence_fence_create - create a fence
 * @file: the creator, locked
 * @args: properties of the fence
 *
 * Return: the fence; the caller is a holder with all rights, see vfence_holder_put(), unless
 * the fence joins a cross-adapter fence: then it has a reference. Or an ERR_PTR.
 */
struct vfence_fence *vfence_fence_create(struct vfence_file *file,
					 const struct vfence_fence_args *args)
{
	const struct vfence_slots_args slots = {
		.type = args->type,
		.no_gpu_access = args->flags & DRM_VFENCE_FENCE_NO_GPU_ACCESS,
		.shareable = args->shareable,
		.shared_page = args->cross ? args->cross->page : NULL,
	};
	struct vfence_fence *fence = vfence_leak_check_alloc(FENCE, sizeof(*fence));
	int ret = 0;

	if (!fence)
		return ERR_PTR(-ENOMEM);

	kref_init(&fence->ref);
	/* Of a member the signalers of its adapter are counted, too. */
	vfence_shared_init(&fence->own, !args->cross);
	fence->shared = &fence->own;
	spin_lock_init(&fence->rescan_lock);
	mutex_init(&fence->propagate_lock);
	spin_lock_init(&fence->lock);
	INIT_LIST_HEAD(&fence->scan_link);
	INIT_LIST_HEAD(&fence->cross_link);
	fence->waiters = RB_ROOT_CACHED;
	fence->gpu_waiters = RB_ROOT_CACHED;

	fence->adapter = file->adapter;
	fence->shareable = args->shareable;
	fence->type = args->type;
	fence->flags = args->flags;
	fence->is_32bit = args->type == DRM_VFENCE_FENCE_MONITORED &&
			!(args->flags & DRM_VFENCE_FENCE_NO_GPU_ACCESS) &&
			file->adapter->config.gpu.no_64bit_atomics;

	fence->slots = vfence_slots_get(file, &slots, &fence->index);
	if (IS_ERR(fence->slots)) {
		ret = PTR_ERR(fence->slots);
		goto free;
	}
	fence_place_values(fence, args);

	if (args->cross)
		vfence_cross_adapter_use(args->cross, fence);
	else if (args->cross_adapter)
		ret = vfence_cross_adapter_create(fence);
	else if (vfence_fence_is_monitored(fence))
		ret = fence_create_word(fence);
	if (ret)
		goto free_place;

	ret = fence_publish(fence, args);
	if (ret)
		goto leave;

	if (fence->hw)
		vfence_client_count(file, VFENCE_COUNT_FENCE_CREATED, 1);

	/* A descriptor or a wait may keep the fence longer than its file exists. */
	drm_dev_get(&fence->adapter->drm);
	return fence;

leave:
	if (fence->cross)
		vfence_cross_adapter_leave(fence);
	else
		vgpu_word_destroy(fence->word);
free_place:
	fence_unlink_slot(fence);
	fence_free_slot(fence);
free:
	vfence_leak_check_free(FENCE, fence);
	return ERR_PTR(ret);
}

/* A native fence that had a waiter may be on the list, and a linked one is. */
static void fence_forget_scan(struct vfence_fence *fence)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->adapter->fences.scan_lock, flags);
	list_del_init(&fence->scan_link);
	spin_unlock_irqrestore(&fence->adapter->fences.scan_lock, flags);
}

/*
 * Take the object of the virtual GPU away from the interrupt handler. A record may still name
 * the fence: the handler then finds no waiter, but it may find a monitored value of one, if the
 * budget ended with the last waiter, and would store another.
 */
static struct vgpu_fence *fence_take_hw(struct vfence_fence *fence)
{
	struct vgpu_fence *hw = fence->hw;
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	WRITE_ONCE(fence->hw, NULL);
	spin_unlock_irqrestore(&fence->lock, flags);

	return hw;
}

static void fence_destroy(struct kref *ref)
{
	struct vfence_fence *fence = container_of(ref, struct vfence_fence, ref);
	struct vfence_adapter *adapter = fence->adapter;
	struct vgpu_fence *hw;

	might_sleep();

	/*
	 * Keep this order (WDDM-58, WDDM-59): remove the fence from moves and from the engines,
	 * drain the records that name it, remove it from the table, free its storage.
	 */
	fence_unlink_slot(fence);
	hw = fence_take_hw(fence);
	if (hw) {
		vgpu_fence_destroy(hw);
		vfence_irq_flush(adapter);
		vfence_count(adapter, VFENCE_COUNT_FENCE_DESTROYED);
	}
	xa_erase(&adapter->fences.table, fence->id);
	fence_forget_scan(fence);

	if (fence->cross)
		vfence_cross_adapter_put(fence->cross);
	else
		vgpu_word_destroy(fence->word);
	fence_free_slot(fence);

	mutex_destroy(&fence->propagate_lock);
	vfence_shared_fini(&fence->own);
	vfence_leak_check_free_rcu(FENCE, fence);
	drm_dev_put(&adapter->drm);
}

/** vfence_fence_put - drop a reference; process context */
void vfence_fence_put(struct vfence_fence *fence)
{
	kref_put(&fence->ref, fence_destroy);
}

/**
 * vfence_fence_set_always_signaled - satisfy every GPU wait for a fence from now on (WDDM-66)
 * @fence: the fence; of a monitored one nothing changes: no queue of the hardware waits for it
 *
 * GPU signals have no effect from now on. Process context.
 */
void vfence_fence_set_always_signaled(struct vfence_fence *fence)
{
	struct vgpu_value_update update = {
		.fence = fence->hw,
		.kernel_va = fence->current_value,
	};

	if (!fence->hw)
		return;
	WRITE_ONCE(fence->always_signaled, true);
	if (vgpu_fence_update_current_values(fence->adapter->gpu, &update, 1,
					     VGPU_UPDATE_ALWAYS_SIGNALED))
		vfence_adapter_lose(fence->adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x13);
}

/** vfence_fence_private_data - copy the creator's private data of a native fence */
void vfence_fence_private_data(struct vfence_fence *fence, u8 *data)
{
	if (fence->hw)
		memcpy(data, vgpu_fence_private_data(fence->hw), DRM_VFENCE_PRIVATE_DATA);
}

/** vfence_fence_find - return the fence of a global handle with a reference, or NULL */
struct vfence_fence *vfence_fence_find(struct vfence_adapter *adapter, u32 fence_id)
{
	struct vfence_fence *fence;

	rcu_read_lock();
	fence = xa_load(&adapter->fences.table, fence_id);
	if (fence && !kref_get_unless_zero(&fence->ref))
		fence = NULL;
	rcu_read_unlock();
	return fence;
}

/**
 * vfence_fence_for_each - visit all fences of an adapter
 * @adapter: the adapter
 * @fn: function to call for each fence, with a reference on the fence and without a lock
 * @arg: argument of @fn
 */
void vfence_fence_for_each(struct vfence_adapter *adapter,
			   void (*fn)(struct vfence_fence *fence, void *arg), void *arg)
{
	struct vfence_fence *fence;
	unsigned long index;

	rcu_read_lock();
	xa_for_each(&adapter->fences.table, index, fence) {
		if (!kref_get_unless_zero(&fence->ref))
			continue;

		rcu_read_unlock();
		fn(fence, arg);
		vfence_fence_put(fence);
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
}
