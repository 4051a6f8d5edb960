// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handle tables with a limit.
 */

#include "core/vfence_table.h"

/**
 * vfence_table_init - initialise an empty table
 * @table: zeroed table
 * @limit: maximum number of objects
 */
void vfence_table_init(struct vfence_table *table, unsigned int limit)
{
	xa_init_flags(&table->objects, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	table->limit = limit;
}

/**
 * vfence_table_add - give an object a handle
 * @table: the table
 * @object: the object; other threads can use it as soon as it is in the table
 * @handle: output, written on success
 *
 * A handle is reused when all others have been used, so that a thread that comes late with a
 * handle, or packets and log entries that name it, do not mean a later object.
 *
 * Return: 0, -ENOSPC at the limit, -ENOMEM.
 */
int vfence_table_add(struct vfence_table *table, void *object, u32 *handle)
{
	u32 id;
	int ret;

	if (!atomic_add_unless(&table->count, 1, table->limit))
		return -ENOSPC;

	ret = xa_alloc_cyclic(&table->objects, &id, object, xa_limit_31b, &table->next,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		atomic_dec(&table->count);
		return ret == -EBUSY ? -ENOSPC : ret;
	}
	*handle = id;
	return 0;
}

/*
 * The place of the handle that was removed last stays reserved, as if a NULL pointer were stored
 * there: the next handle is its neighbour most of the time, and finds the node of the array still
 * there. A client that has one object at a time would otherwise have nodes made and freed for each.
 */
static void *table_remove_locked(struct vfence_table *table, u32 handle)
{
	void *object = xa_load(&table->objects, handle);

	if (!object)
		return NULL;
	/* This needs no memory, as the handle has a place. */
	__xa_store(&table->objects, handle, NULL, 0);
	if (table->reserved)
		__xa_erase(&table->objects, table->reserved);
	table->reserved = handle;
	return object;
}

/**
 * vfence_table_remove - remove a handle
 * @table: the table
 * @handle: the handle
 *
 * Return: the object, or NULL if the handle is free, as after a concurrent removal.
 */
void *vfence_table_remove(struct vfence_table *table, u32 handle)
{
	void *object;

	xa_lock(&table->objects);
	object = table_remove_locked(table, handle);
	xa_unlock(&table->objects);
	if (object)
		atomic_dec(&table->count);
	return object;
}
