// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which fence has its value at a GPU address of a file: the driver knows by it what the packets
 * of a submission signal, and does not have to find the values in memory.
 */

#include <linux/align.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "fence/vfence_fence.h"
#include "fence/vfence_fence_va.h"

/**
 * struct vfence_fence_va - GPU address of the current value of a fence
 */
struct vfence_fence_va {
	/** @fence: the fence, which exists while it has a handle */
	struct vfence_fence *fence;
	/** @handles: number of handles of the file for it, which share the address */
	unsigned int handles;
};

/* Values are a stride apart, which is a power of two: without gaps the array takes less memory. */
static unsigned long fence_va_index(const struct vfence_file *file, u64 va)
{
	return va >> ilog2(vfence_fence_caps(file->adapter)->stride);
}

/**
 * vfence_fence_va_add - note the address of a fence for one more handle
 * @file: the file, locked
 * @va: GPU address of the fence's current value
 * @fence: the fence
 *
 * Return: 0 or -ENOMEM.
 */
int vfence_fence_va_add(struct vfence_file *file, u64 va, struct vfence_fence *fence)
{
	unsigned long index = fence_va_index(file, va);
	struct vfence_fence_va *address;
	int ret;

	lockdep_assert_held(&file->lock);

	address = xa_load(&file->addresses, index);
	if (address) {
		address->handles++;
		return 0;
	}

	address = vfence_leak_check_alloc(ADDRESS, sizeof(*address));
	if (!address)
		return -ENOMEM;
	address->fence = fence;
	address->handles = 1;

	ret = xa_err(xa_store(&file->addresses, index, address, GFP_KERNEL_ACCOUNT));
	if (ret)
		vfence_leak_check_free(ADDRESS, address);
	return ret;
}

/** vfence_fence_va_remove - undo vfence_fence_va_add() for one handle; the file is locked */
void vfence_fence_va_remove(struct vfence_file *file, u64 va)
{
	struct vfence_fence_va *address = xa_load(&file->addresses, fence_va_index(file, va));

	lockdep_assert_held(&file->lock);

	if (--address->handles)
		return;
	xa_erase(&file->addresses, fence_va_index(file, va));
	vfence_leak_check_free(ADDRESS, address);
}

/** vfence_fence_va_lookup - the fence at an address, with a reference, or NULL */
struct vfence_fence *vfence_fence_va_lookup(struct vfence_file *file, u64 va)
{
	struct vfence_fence *fence = NULL;
	struct vfence_fence_va *address;

	if (!IS_ALIGNED(va, vfence_fence_caps(file->adapter)->stride))
		return NULL;

	mutex_lock(&file->lock);
	address = xa_load(&file->addresses, fence_va_index(file, va));
	if (address)
		fence = vfence_fence_get(address->fence);
	mutex_unlock(&file->lock);

	return fence;
}
