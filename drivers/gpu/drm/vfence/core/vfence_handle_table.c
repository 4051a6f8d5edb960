// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handle tables with a limit.
 */

#include "core/vfence_handle_table.h"

/**
 * vfence_handle_table_init - initialise an empty table
 * @table: zeroed table
 * @limit: maximum number of objects
 */
void vfence_handle_table_init(struct vfence_handle_table *table, unsigned int limit)
{
	xa_init_flags(&table->objects, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	table->limit = limit;
}

/**
 * vfence_handle_table_add - give an object a handle
 * @table: the table
 * @object: the object; other threads can use it as soon as it is in the table
 * @handle: output, written on success
 *
 * A handle is reused when all others have been used, so that a thread that comes late with a
 * handle, or packets and log entries that name it, do not mean a later object.
 *
 * Return: 0, -ENOSPC at the limit, -ENOMEM.
 */
int vfence_handle_table_add(struct vfence_handle_table *table, void *object, u32 *handle)
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
 * The first handle that is removed from a node of the array stays reserved there, as if a NULL
 * pointer were stored, until one is removed from another node. The next handles are its neighbours
 * most of the time, and find the node still there. A client that has one object at a time would
 * otherwise have a node made and freed for each.
 */
static void *handle_table_remove_locked(struct vfence_handle_table *table, u32 handle)
{
	XA_STATE(xas, &table->objects, handle);
	void *object = xas_load(&xas);

	if (!object || xa_is_zero(object))
		return NULL;
	if (table->reserved >> XA_CHUNK_SHIFT == handle >> XA_CHUNK_SHIFT && table->reserved) {
		xas_store(&xas, NULL);
		return object;
	}
	/* This needs no memory, as the handle has a place. */
	xas_store(&xas, XA_ZERO_ENTRY);
	if (table->reserved)
		__xa_erase(&table->objects, table->reserved);
	table->reserved = handle;
	return object;
}

/**
 * vfence_handle_table_remove - remove a handle
 * @table: the table
 * @handle: the handle
 *
 * Return: the object, or NULL if the handle is free, as after a concurrent removal.
 */
void *vfence_handle_table_remove(struct vfence_handle_table *table, u32 handle)
{
	void *object;

	xa_lock(&table->objects);
	object = handle_table_remove_locked(table, handle);
	xa_unlock(&table->objects);
	if (object)
		atomic_dec(&table->count);
	return object;
}
