/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_TABLE_H_
#define _VFENCE_TABLE_H_

#include <linux/atomic.h>
#include <linux/xarray.h>

/**
 * struct vfence_table - a handle table with a limit
 */
struct vfence_table {
	/** @objects: handle to object */
	struct xarray objects;
	/** @limit: most objects */
	unsigned int limit;
	/** @count: objects now; the file's lock or atomic use */
	atomic_t count;
	/**
	 * @late: handles come back late: those of events go when they fire, and a
	 * thread that cancels one then must not hit another thread's
	 */
	bool late;
	/** @next: allocation hint of such; changes under the lock of @objects */
	u32 next;
};

void vfence_table_init(struct vfence_table *table, unsigned int limit);
int vfence_table_add(struct vfence_table *table, void *object, u32 *handle);
void *vfence_table_remove(struct vfence_table *table, u32 handle);

#endif
