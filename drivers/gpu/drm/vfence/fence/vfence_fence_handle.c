// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fence handles: the part of a fence that each handle has of its own.
 */

#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_account.h"
#include "core/vfence_device.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_fence_va.h"
#include "fence/vfence_holder.h"
#include "fence/vfence_rescan.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_waiter.h"
#include "irq/vfence_irq.h"
#include "mem/vfence_map.h"
#include "mem/vfence_page.h"

/* What a handle takes, with its fence as if no other handle had it, beside pages, about. */
#define HANDLE_BYTES		1024
#define HANDLE_FLAGS \
	(DRM_VFENCE_FENCE_SHAREABLE | VFENCE_FENCE_NOTHING | \
	 DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR)
#define HANDLE_CROSS \
	(DRM_VFENCE_FENCE_CROSS_ADAPTER | DRM_VFENCE_FENCE_SHAREABLE | \
	 DRM_VFENCE_FENCE_NO_GPU_ACCESS)

/* The flags that a fence may have, by its type. */
static const u32 handle_flags[] = {
	[DRM_VFENCE_FENCE_DEFAULT] = HANDLE_FLAGS | DRM_VFENCE_FENCE_CROSS_ADAPTER,
	[DRM_VFENCE_FENCE_INTRA_GPU] = HANDLE_FLAGS,
	[DRM_VFENCE_FENCE_MONITORED] =
		HANDLE_FLAGS | DRM_VFENCE_FENCE_CROSS_ADAPTER | DRM_VFENCE_FENCE_NO_GPU_ACCESS |
		DRM_VFENCE_FENCE_TOP_OF_PIPELINE |
		DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY,
};

static u64 handle_va(const struct drm_mm_node *node, const struct vfence_fence *fence)
{
	return vfence_slots_va(node, fence->slots, fence->index);
}

/*
 * Complete the waiters that need this handle, before it may name another fence. On
 * adapters whose interrupts name queues the log entries name fences by their handles:
 * read the entries now. A rescan then completes the waiters of all files that later
 * entries cannot reach.
 */
static void handle_drain(struct vfence_adapter *adapter, struct vfence_fence *fence)
{
	/* Submissions have references to the monitored fences that their packets signal. */
	if (vfence_fence_is_monitored(fence) || !adapter->optimized)
		return;

	vfence_irq_catch_up(adapter);
	vfence_rescan_fence(fence);
}

/* Number of fences that a file finds without a look-up in its table: a page of pointers. */
#define VFENCE_RECENT	512

/** vfence_fence_handle_init - prepare a new file for handles of fences; 0 or -ENOMEM */
int vfence_fence_handle_init(struct vfence_file *file)
{
	vfence_handle_table_init(&file->fences, VFENCE_MAX_FENCES);
	file->recent = kcalloc(VFENCE_RECENT, sizeof(*file->recent), GFP_KERNEL_ACCOUNT);
	return file->recent ? 0 : -ENOMEM;
}

/** vfence_fence_handle_fini - undo vfence_fence_handle_init(); the file has no handles any more */
void vfence_fence_handle_fini(struct vfence_file *file)
{
	kfree(file->recent);
	xa_destroy(&file->fences.objects);
}

/* Packets may signal a monitored fence only if it has a GPU address in this file. */
static bool handle_is_addressable(const struct vfence_fence_handle *entry)
{
	return entry->fence->hw || drm_mm_node_allocated(&entry->map->current_node);
}

/* Open the fence for this handle in the GPU address space of the file. */
static int handle_open_hw(struct vfence_file *file, struct vfence_fence_handle *entry)
{
	struct vfence_fence *fence = entry->fence;
	struct vgpu_open_args args = {
		.fence = fence->hw,
		.word = fence->word,
		.os_handle = fence->id,
		.rights = entry->rights,
	};
	int ret;

	if (!handle_is_addressable(entry))
		return 0;

	args.current_va = handle_va(&entry->map->current_node, fence);
	args.monitored_va = handle_va(&entry->map->monitored_node, fence);
	ret = vfence_fence_va_add(file, args.current_va, fence);
	if (ret)
		return ret;

	ret = vgpu_vm_open_fence(file->vm, &args);
	if (ret)
		vfence_fence_va_remove(file, args.current_va);
	if (!ret && fence->hw) {
		vfence_count(file->adapter, VFENCE_COUNT_FENCE_OPENED);
		vfence_client_count(file, VFENCE_COUNT_FENCE_OPENED, 1);
	}
	return ret;
}

static void handle_close_hw(struct vfence_file *file, struct vfence_fence_handle *entry)
{
	struct vfence_fence *fence = entry->fence;

	if (handle_is_addressable(entry)) {
		vgpu_vm_close_fence(file->vm, handle_va(&entry->map->current_node, fence),
				    entry->rights);
		vfence_fence_va_remove(file, handle_va(&entry->map->current_node, fence));
	}
	if (fence->hw) {
		vfence_count(file->adapter, VFENCE_COUNT_FENCE_CLOSED);
		vfence_client_count(file, VFENCE_COUNT_FENCE_CLOSED, 1);
	}
}

/**
 * struct handle_loss - what happens to a fence when the device of a handle is lost
 */
struct handle_loss {
	/** @fence: the fence, with a reference */
	struct vfence_fence *fence;
	/** @own: the device has created the fence, and no other adapter shares it */
	bool own;
};

/*
 * A device that is lost signals the fences that it may signal (WDDM-123), native ones as well,
 * because it may have been the only one to signal them. Those that it has created are always
 * signaled from then on (WDDM-66), which is all that can be done for INTRA_GPU fences. A
 * cross-adapter fence is of all its adapters.
 */
static void handle_add_loss(struct vfence_fence_handle *entry)
{
	struct vfence_device *device = entry->device;

	INIT_LIST_HEAD(&entry->loss_link);
	if (!(entry->rights & DRM_VFENCE_RIGHT_SIGNAL) ||
	    entry->fence->flags & DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR)
		return;

	spin_lock(&device->lock);
	list_add(&entry->loss_link, &device->losses);
	spin_unlock(&device->lock);
}

/* Take the loss off the handle and the list of its device; false if that has happened before. */
static bool handle_take_loss_locked(struct vfence_fence_handle *entry, struct handle_loss *loss)
{
	lockdep_assert_held(&entry->device->lock);
	if (list_empty(&entry->loss_link))
		return false;

	list_del_init(&entry->loss_link);
	loss->fence = vfence_fence_get(entry->fence);
	loss->own = entry->parent && !entry->fence->cross;
	return true;
}

/* Signal the fence if the device is @lost, and put the reference. */
static void handle_end_loss(const struct handle_loss *loss, bool lost)
{
	/* The CPU cannot reach the values of an INTRA_GPU fence. */
	if (lost && loss->fence->current_value)
		vfence_signal_one(loss->fence, U64_MAX, VFENCE_SIGNAL_MAX);
	if (lost && loss->own)
		vfence_fence_set_always_signaled(loss->fence);
	vfence_fence_put(loss->fence);
}

/* A device that is lost has no other chance to take the fence to its maximum. */
static void handle_drop_loss(struct vfence_fence_handle *entry)
{
	struct handle_loss loss;
	bool taken;

	spin_lock(&entry->device->lock);
	taken = handle_take_loss_locked(entry, &loss);
	spin_unlock(&entry->device->lock);
	if (taken)
		handle_end_loss(&loss, vfence_device_was_removed(entry->device));
}

/**
 * vfence_fence_handle_device_lost - end the waits for a lost device's fences (WDDM-123)
 * @device: the device, with a reference
 *
 * Signals the maximum to each fence that a handle of the device may signal, once for each handle.
 * Native fences that the device has created are always signaled from then on. Process context.
 */
void vfence_fence_handle_device_lost(struct vfence_device *device)
{
	struct vfence_fence_handle *entry;
	struct handle_loss loss;
	bool taken;

	do {
		spin_lock(&device->lock);
		entry = list_first_entry_or_null(&device->losses, struct vfence_fence_handle,
						 loss_link);
		taken = entry && handle_take_loss_locked(entry, &loss);
		spin_unlock(&device->lock);

		if (taken)
			handle_end_loss(&loss, true);
	} while (taken);
}

static void handle_free(struct vfence_file *file, struct vfence_fence_handle *entry)
{
	struct vfence_fence *fence = entry->fence;

	lockdep_assert_held(&file->lock);

	handle_drop_loss(entry);
	handle_close_hw(file, entry);
	handle_drain(file->adapter, fence);
	vfence_account_uncharge(file->account, HANDLE_BYTES);
	vfence_map_put(file, entry->map);
	vfence_device_put(entry->device);
	vfence_holder_put(fence, entry->rights);
	vfence_leak_check_free(HANDLE, entry);
}

/* Fill in where the client and its packets find the values of the fence. */
static void handle_describe(const struct vfence_fence_handle *entry,
			    struct drm_vfence_fence_mapping *mapping)
{
	const struct vfence_fence *fence = entry->fence;
	struct vfence_page *user = fence->slots->current_value.user;

	*mapping = (struct drm_vfence_fence_mapping) {
		.current_offset = user ? vfence_page_offset(user) : 0,
		.current_page_offset = user ? offset_in_page(fence->current_value) : 0,
		.current_va = handle_va(&entry->map->current_node, fence),
		.monitored_va = handle_va(&entry->map->monitored_node, fence),
	};
}

/**
 * vfence_fence_handle_add - open a fence for a device (WDDM-55, WDDM-56)
 * @file: the file of the device, locked
 * @device: the device that gets the handle
 * @fence: the fence, of which the caller is a holder with @rights or more
 * @rights: DRM_VFENCE_RIGHT_* of the handle
 * @parent: the device has created the fence
 * @handle: output: the handle
 * @mapping: output: offsets and addresses of the values
 *
 * Return: 0 or a negative error.
 */
int vfence_fence_handle_add(struct vfence_file *file, struct vfence_device *device,
			    struct vfence_fence *fence, u32 rights, bool parent, u32 *handle,
		     struct drm_vfence_fence_mapping *mapping)
{
	struct vfence_fence_handle *entry = vfence_leak_check_alloc(HANDLE, sizeof(*entry));
	int ret;

	lockdep_assert_held(&file->lock);

	if (!entry)
		return -ENOMEM;

	ret = vfence_account_charge(file->account, HANDLE_BYTES);
	if (ret)
		goto free;

	entry->fence = fence;
	entry->device = device;
	entry->rights = rights;
	entry->parent = parent;
	/* As the caller is a holder, this fails only if its adapter was unplugged. */
	if (!vfence_holder_get(fence, rights)) {
		ret = -ENODEV;
		goto uncharge;
	}
	entry->map = vfence_map_get(file, fence->slots);
	if (IS_ERR(entry->map)) {
		ret = PTR_ERR(entry->map);
		goto put_holder;
	}

	ret = handle_open_hw(file, entry);
	if (ret)
		goto put_map;

	handle_add_loss(entry);
	vfence_device_get(device);
	ret = vfence_handle_table_add(&file->fences, entry, handle);
	if (ret) {
		handle_free(file, entry);
		return ret;
	}
	WRITE_ONCE(entry->handle, *handle);
	list_add_tail(&entry->device_link, &device->fence_handles);
	trace_vfence_handle(fence, *handle, rights, parent, true);
	handle_describe(entry, mapping);

	/*
	 * Full barrier: either the reset that loses the device finds this handle, or this
	 * thread finds the device lost and signals. Partner: the atomic of
	 * vfence_device_fail().
	 */
	smp_mb();
	if (vfence_device_was_removed(device))
		vfence_fence_handle_device_lost(device);
	return 0;

put_map:
	vfence_map_put(file, entry->map);
put_holder:
	vfence_holder_put(fence, rights);
uncharge:
	vfence_account_uncharge(file->account, HANDLE_BYTES);
free:
	vfence_leak_check_free(HANDLE, entry);
	return ret;
}

/*
 * Cancel the CPU waits of a monitored fence when a handle is closed (WDDM-125, WDDM-126). The
 * waits end because their signal may have been due through this handle. A handle without
 * the right to signal therefore ends no wait: its holder must not harm the other clients.
 */
static void handle_cancel_waits(const struct vfence_fence_handle *entry)
{
	struct vfence_fence *fence = entry->fence;

	if (vfence_fence_is_monitored(fence) && entry->rights & DRM_VFENCE_RIGHT_SIGNAL &&
	    !(fence->flags & DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY))
		vfence_waiter_cancel_all(fence);
}

/**
 * vfence_fence_handle_own - let only the kernel destroy a handle
 * @file: the file, locked
 * @handle: an existing handle
 */
void vfence_fence_handle_own(struct vfence_file *file, u32 handle)
{
	struct vfence_fence_handle *entry = xa_load(&file->fences.objects, handle);

	lockdep_assert_held(&file->lock);
	entry->kernel_owned = true;
}

/* The handle is not in the table any more, so that no look-up brings it back here. */
static void handle_forget(struct vfence_file *file, const struct vfence_fence_handle *entry,
			  u32 handle)
{
	struct vfence_fence_handle **recent = &file->recent[handle % VFENCE_RECENT];

	xa_lock(&file->fences.objects);
	if (*recent == entry)
		*recent = NULL;
	xa_unlock(&file->fences.objects);
}

int vfence_fence_handle_destroy(struct vfence_file *file, u32 handle)
{
	struct vfence_fence_handle *entry = vfence_handle_table_remove(&file->fences, handle);

	if (!entry)
		return -ENOENT;
	trace_vfence_handle(entry->fence, handle, entry->rights, false, false);
	handle_forget(file, entry, handle);
	list_del(&entry->device_link);
	handle_cancel_waits(entry);
	handle_free(file, entry);
	return 0;
}

/** vfence_fence_handle_destroy_all - close all fence handles of @device */
void vfence_fence_handle_destroy_all(struct vfence_file *file, struct vfence_device *device)
{
	struct vfence_fence_handle *entry, *next;

	lockdep_assert_held(&file->lock);
	list_for_each_entry_safe(entry, next, &device->fence_handles, device_link) {
		vfence_fence_handle_destroy(file, entry->handle);
		cond_resched();
	}
}

/* Most look-ups of a client are of fences that it named a moment ago. */
static struct vfence_fence_handle *handle_find_locked(struct vfence_file *file, u32 handle)
{
	struct vfence_fence_handle **recent = &file->recent[handle % VFENCE_RECENT];
	struct vfence_fence_handle *entry;

	if (*recent && (*recent)->handle == handle)
		return *recent;

	entry = xa_load(&file->fences.objects, handle);
	/* The creator may not have noted the handle yet. */
	if (entry && READ_ONCE(entry->handle) == handle)
		*recent = entry;
	return entry;
}

/**
 * vfence_fence_handle_lookup - get the fence of a handle
 * @file: the file; the caller need not lock it
 * @handle: the handle
 * @need: DRM_VFENCE_RIGHT_* that the handle must have
 * @rights: output: all rights of the handle; may be NULL
 *
 * Return: the fence with a reference, -ENOENT without such a handle, -EACCES without the
 * rights.
 */
struct vfence_fence *vfence_fence_handle_lookup(struct vfence_file *file, u32 handle, u32 need,
						u32 *rights)
{
	struct vfence_fence *fence = ERR_PTR(-ENOENT);
	struct vfence_fence_handle *entry;

	/* Handles are removed under the xa_lock, so the fence of a handle found there is alive. */
	xa_lock(&file->fences.objects);
	entry = handle_find_locked(file, handle);
	if (entry && need & ~entry->rights)
		fence = ERR_PTR(-EACCES);
	else if (entry)
		fence = vfence_fence_get(entry->fence);
	if (entry && rights)
		*rights = entry->rights;
	xa_unlock(&file->fences.objects);

	return fence;
}

/* Create a fence and a handle with @rights. Updates args->private_data as it was stored. */
static int handle_create_locked(struct vfence_file *file, u32 parent,
				struct vfence_fence_args *args, u32 rights, u32 *handle,
				struct drm_vfence_fence_mapping *mapping)
{
	struct vfence_device *device = vfence_device_find_active(file, parent);
	struct vfence_fence *fence;
	int ret;

	lockdep_assert_held(&file->lock);
	if (IS_ERR(device))
		return PTR_ERR(device);

	fence = vfence_fence_create(file, args);
	if (IS_ERR(fence))
		return PTR_ERR(fence);

	ret = vfence_fence_handle_add(file, device, fence, rights, true, handle, mapping);
	if (!ret)
		vfence_fence_private_data(fence, args->private_data);
	vfence_holder_put(fence, DRM_VFENCE_RIGHTS_ALL);

	return ret;
}

/**
 * vfence_fence_handle_rights_without - take away the rights that the flags of a fence exclude
 * @rights: DRM_VFENCE_RIGHT_*
 * @flags: DRM_VFENCE_FENCE_*
 *
 * Return: the rest of @rights.
 */
u32 vfence_fence_handle_rights_without(u32 rights, u32 flags)
{
	if (flags & DRM_VFENCE_FENCE_NO_SIGNAL)
		rights &= ~DRM_VFENCE_RIGHT_SIGNAL;
	if (flags & DRM_VFENCE_FENCE_NO_WAIT)
		rights &= ~DRM_VFENCE_RIGHT_WAIT;
	return rights;
}

/* Can there be such a fence? */
static int handle_check_create(struct drm_device *drm, const struct drm_vfence_fence_create *args)
{
	u32 type = array_index_nospec(args->type, ARRAY_SIZE(handle_flags));

	if (vfence_reject(drm, args->type >= ARRAY_SIZE(handle_flags) || args->pad) ||
	    vfence_reject(drm, args->flags & ~handle_flags[type]) ||
	    vfence_reject(drm, args->flags & DRM_VFENCE_FENCE_CROSS_ADAPTER &&
			  (args->flags & HANDLE_CROSS) != (DRM_VFENCE_FENCE_CROSS_ADAPTER |
							  DRM_VFENCE_FENCE_SHAREABLE)) ||
	    vfence_reject(drm, (args->flags & VFENCE_FENCE_NOTHING) == VFENCE_FENCE_NOTHING) ||
	    vfence_reject(drm, args->engine_affinity & ~VFENCE_PHYSICAL_ADAPTERS) ||
	    vfence_reject(drm, args->type == DRM_VFENCE_FENCE_INTRA_GPU && args->initial_value) ||
	    vfence_reject(drm, args->type == DRM_VFENCE_FENCE_MONITORED &&
			  memchr_inv(args->private_data, 0, sizeof(args->private_data))))
		return -EINVAL;
	return 0;
}

/* Has the adapter such fences? */
static bool handle_supports(const struct vfence_adapter *adapter,
			    const struct drm_vfence_fence_create *args)
{
	switch (args->type) {
	case DRM_VFENCE_FENCE_DEFAULT:
		return adapter->native_fence;
	case DRM_VFENCE_FENCE_INTRA_GPU:
		return adapter->native_fence && adapter->config.intra_gpu_fences;
	default:
		return !(args->flags & DRM_VFENCE_FENCE_CROSS_ADAPTER) ||
		       !adapter->config.gpu.no_64bit_atomics;
	}
}

int vfence_fence_handle_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_create *args = data;
	struct vfence_fence_args create = {
		.type = args->type,
		.flags = args->flags,
		.shareable = args->flags & DRM_VFENCE_FENCE_SHAREABLE,
		.cross_adapter = args->flags & DRM_VFENCE_FENCE_CROSS_ADAPTER,
		.initial_value = args->initial_value,
	};
	u32 rights;
	int ret;

	ret = handle_check_create(drm, args);
	if (ret)
		return ret;
	if (vfence_reject(drm, !handle_supports(file->adapter, args)))
		return -EOPNOTSUPP;

	memcpy(create.private_data, args->private_data, sizeof(create.private_data));
	rights = vfence_fence_handle_rights_without(DRM_VFENCE_RIGHTS_ALL, args->flags);

	mutex_lock(&file->lock);
	ret = handle_create_locked(file, args->device, &create, rights, &args->handle,
				   &args->mapping);
	mutex_unlock(&file->lock);

	if (!ret)
		memcpy(args->private_data, create.private_data, sizeof(args->private_data));
	return ret;
}

/** vfence_fence_handle_destroy_by_client - destroy a handle; -EBUSY for that of a progress fence */
int vfence_fence_handle_destroy_by_client(struct vfence_file *file, u32 handle)
{
	struct vfence_fence_handle *entry;
	int ret;

	mutex_lock(&file->lock);
	entry = xa_load(&file->fences.objects, handle);
	ret = entry && entry->kernel_owned ? -EBUSY : vfence_fence_handle_destroy(file, handle);
	mutex_unlock(&file->lock);

	return ret;
}

/** vfence_fence_handle_query - answer %DRM_VFENCE_QUERY_FENCE */
int vfence_fence_handle_query(struct vfence_file *file, u32 handle,
			      struct drm_vfence_fence_info *info)
{
	struct vfence_fence *fence;
	unsigned long flags;
	u32 rights;

	fence = vfence_fence_handle_lookup(file, handle, DRM_VFENCE_RIGHT_READ, &rights);
	if (IS_ERR(fence))
		return PTR_ERR(fence);

	spin_lock_irqsave(&fence->lock, flags);
	info->current_value = fence->current_value ? vfence_fence_current(fence) : 0;
	if (fence->is_32bit)
		info->current_value = (u32)info->current_value;
	info->monitored_value = fence->monitored_value ? READ_ONCE(*fence->monitored_value) :
							 VFENCE_NOT_MONITORED;

	info->waiters = fence->waiter_count;
	info->interrupts = fence->interrupts;
	info->spurious = fence->spurious;
	info->woken = fence->woken;
	spin_unlock_irqrestore(&fence->lock, flags);

	info->signals = fence->hw ? vgpu_fence_signals(fence->hw) : 0;
	info->rights = rights;
	info->type = fence->type;
	vfence_fence_put(fence);

	return 0;
}
