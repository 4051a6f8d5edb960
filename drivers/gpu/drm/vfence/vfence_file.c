// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files: handle tables, GPU address space, and the abnormal exit.
 */

#include <linux/slab.h>

#include <drm/drm_file.h>

#include "fence/vfence_fence.h"
#include "queue/vfence_queue.h"
#include "vfence_file.h"

/* Address 0 is never given out: it is what forgotten initialisation gives. */
#define VA_START	PAGE_SIZE

static void table_init(struct vfence_table *table, unsigned int limit)
{
	xa_init_flags(&table->objects, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	table->limit = limit;
}

/**
 * vfence_table_add - give an object a handle
 * @table: the table
 * @object: the object, ready for use by another thread
 * @handle: out, on success
 *
 * Return: 0, -ENOSPC at the limit, -ENOMEM.
 */
int vfence_table_add(struct vfence_table *table, void *object, u32 *handle)
{
	u32 id;
	int ret;

	if (!atomic_add_unless(&table->count, 1, table->limit))
		return -ENOSPC;
	if (table->late)
		ret = xa_alloc_cyclic(&table->objects, &id, object, xa_limit_31b, &table->next,
				      GFP_KERNEL_ACCOUNT);
	else
		ret = xa_alloc(&table->objects, &id, object, xa_limit_31b, GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		atomic_dec(&table->count);
		return ret == -EBUSY ? -ENOSPC : ret;
	}
	*handle = id;
	return 0;
}

/**
 * vfence_table_remove - take a handle away
 * @table: the table
 * @handle: the handle
 *
 * Return: the object, or NULL if somebody was faster.
 */
void *vfence_table_remove(struct vfence_table *table, u32 handle)
{
	void *object = xa_erase(&table->objects, handle);

	if (object)
		atomic_dec(&table->count);
	return object;
}

/**
 * vfence_file_reserve_va - take GPU addresses of the kernel's choice
 * @file: the file, locked
 * @node: zeroed node; drm_mm_remove_node() gives them back
 * @size: bytes
 * @start: lowest address, 0 for any
 * @end: first address above, 0 for any
 */
int vfence_file_reserve_va(struct vfence_file *file, struct drm_mm_node *node, u64 size,
			   u64 start, u64 end)
{
	lockdep_assert_held(&file->lock);
	/* From the top, so that clients who choose addresses find room below. */
	return drm_mm_insert_node_in_range(&file->space, node, size, PAGE_SIZE, 0,
					   max_t(u64, start, VA_START),
					   end ? end : DRM_VFENCE_VA_LIMIT, DRM_MM_INSERT_HIGH);
}

u64 vfence_file_id(struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;

	return file->id;
}

static const char *engine_name(unsigned int class_id)
{
	static const char *const names[] = { "gfx", "compute", "copy", "mm", "paging" };

	return names[class_id];
}

/**
 * vfence_file_show - the client's part of fdinfo, after drm-usage-stats.rst
 * @file: the client
 * @p: where to print
 */
void vfence_file_show(struct vfence_file *file, struct drm_printer *p)
{
	const struct vgpu_config *gpu = &file->adapter->config.gpu;
	u64 busy_ns[VGPU_MAX_NODES];
	struct vfence_queue *queue;
	unsigned long handle;
	unsigned int i;

	mutex_lock(&file->lock);
	memcpy(busy_ns, file->busy_ns, sizeof(busy_ns));
	xa_for_each(&file->queues.objects, handle, queue)
		busy_ns[queue->context->node] += vfence_queue_busy_ns(queue);
	mutex_unlock(&file->lock);
	for (i = 0; i < gpu->nodes; i++)
		drm_printf(p, "drm-engine-%s:\t%llu ns\n", engine_name(gpu->node_class[i]),
			   busy_ns[i]);
}

int vfence_file_open(struct drm_device *drm, struct drm_file *drm_file)
{
	static atomic64_t last_id = ATOMIC64_INIT(0);
	struct vfence_adapter *adapter = to_vfence_adapter(drm);
	struct vfence_file *file = vfence_object_alloc(FILE, sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->vm = vgpu_vm_create(adapter->gpu);
	if (IS_ERR(file->vm)) {
		int ret = PTR_ERR(file->vm);

		vfence_object_free(FILE, file);
		return ret;
	}
	file->adapter = adapter;
	file->drm = drm_file;
	file->id = atomic64_inc_return(&last_id);
	init_waitqueue_head(&file->events_gone);
	mutex_init(&file->lock);
	table_init(&file->devices, VFENCE_MAX_DEVICES);
	table_init(&file->contexts, VFENCE_MAX_CONTEXTS);
	table_init(&file->queues, VFENCE_MAX_QUEUES);
	table_init(&file->fences, VFENCE_MAX_FENCES);
	table_init(&file->events, VFENCE_MAX_EVENTS);
	file->events.late = true;
	table_init(&file->imports, VFENCE_MAX_IMPORTS);
	xa_init_flags(&file->mappings, XA_FLAGS_ACCOUNT);
	drm_mm_init(&file->space, VA_START, DRM_VFENCE_VA_LIMIT - VA_START);
	INIT_LIST_HEAD(&file->maps);
	INIT_LIST_HEAD(&file->slots);
	drm_file->driver_priv = file;
	return 0;
}

/*
 * WDDM's abnormal exit (WDDM-202): devices in error, queues aborted, doorbells
 * and everything else freed, and no waiting for work. No ioctl of this file
 * runs any more.
 */
void vfence_file_close(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;

	vfence_event_cancel_all(file);
	vfence_sync_forget_all(file);
	mutex_lock(&file->lock);
	vfence_device_destroy_all(file);
	vfence_bo_unbind_all(file);
	mutex_unlock(&file->lock);
	vfence_slots_destroy_all(file);
	vgpu_vm_destroy(file->vm);
	drm_mm_takedown(&file->space);
	xa_destroy(&file->devices.objects);
	xa_destroy(&file->contexts.objects);
	xa_destroy(&file->queues.objects);
	xa_destroy(&file->fences.objects);
	xa_destroy(&file->events.objects);
	xa_destroy(&file->imports.objects);
	xa_destroy(&file->mappings);
	mutex_destroy(&file->lock);
	vfence_object_free(FILE, file);
}
