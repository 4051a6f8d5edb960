// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which fence has its value at a GPU address of a file: the driver knows by it what the packets
 * of a submission signal, and does not have to find the values in memory.
 */

#include <linux/slab.h>

#include "fence/vfence_address.h"
#include "fence/vfence_fence.h"

/**
 * struct vfence_address - GPU address of the current value of a fence
 */
struct vfence_address {
	/** @fence: the fence, which exists while it has a handle */
	struct vfence_fence *fence;
	/** @handles: number of handles of the file for it, which share the address */
	unsigned int handles;
};

/* Values are aligned to 8 bytes. */
static unsigned long address_index(u64 va)
{
	return va / sizeof(u64);
}

/**
 * vfence_address_add - note the address of a fence for one more handle
 * @file: the file, locked
 * @va: GPU address of the fence's current value
 * @fence: the fence
 *
 * Return: 0 or -ENOMEM.
 */
int vfence_address_add(struct vfence_file *file, u64 va, struct vfence_fence *fence)
{
	struct vfence_address *address;
	int ret;

	lockdep_assert_held(&file->lock);

	address = xa_load(&file->addresses, address_index(va));
	if (address) {
		address->handles++;
		return 0;
	}

	address = vfence_object_alloc(ADDRESS, sizeof(*address));
	if (!address)
		return -ENOMEM;
	address->fence = fence;
	address->handles = 1;

	ret = xa_err(xa_store(&file->addresses, address_index(va), address, GFP_KERNEL_ACCOUNT));
	if (ret)
		vfence_object_free(ADDRESS, address);
	return ret;
}

/** vfence_address_remove - undo vfence_address_add() for one handle; the file is locked */
void vfence_address_remove(struct vfence_file *file, u64 va)
{
	struct vfence_address *address = xa_load(&file->addresses, address_index(va));

	lockdep_assert_held(&file->lock);

	if (--address->handles)
		return;
	xa_erase(&file->addresses, address_index(va));
	vfence_object_free(ADDRESS, address);
}

/** vfence_address_lookup - the fence at an address, with a reference, or NULL */
struct vfence_fence *vfence_address_lookup(struct vfence_file *file, u64 va)
{
	struct vfence_fence *fence = NULL;
	struct vfence_address *address;

	if (va % sizeof(u64))
		return NULL;

	mutex_lock(&file->lock);
	address = xa_load(&file->addresses, address_index(va));
	if (address)
		fence = vfence_fence_get(address->fence);
	mutex_unlock(&file->lock);

	return fence;
}
