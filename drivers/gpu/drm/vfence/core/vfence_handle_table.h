/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_HANDLE_TABLE_H_
#define _VFENCE_HANDLE_TABLE_H_

#include <linux/atomic.h>
#include <linux/xarray.h>

/**
 * struct vfence_handle_table - a handle table with a limit
 */
struct vfence_handle_table {
	/** @objects: objects by handle */
	struct xarray objects;
	/** @limit: maximum number of objects; constant */
	unsigned int limit;
	/** @count: number of objects; atomic */
	atomic_t count;
	/** @next: handle to try next; under the xa_lock of @objects */
	u32 next;
	/** @reserved: free handle that keeps a node, or 0; under the xa_lock of @objects */
	u32 reserved;
};

void vfence_handle_table_init(struct vfence_handle_table *table, unsigned int limit);
int vfence_handle_table_add(struct vfence_handle_table *table, void *object, u32 *handle);
void *vfence_handle_table_remove(struct vfence_handle_table *table, u32 handle);

#endif
