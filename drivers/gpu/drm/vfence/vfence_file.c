// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files: their tables of objects, and the destruction of a device or a file.
 */

#include <linux/math64.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "core/vfence_account.h"
#include "core/vfence_device.h"
#include "core/vfence_file_types.h"
#include "core/vfence_process.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_foreign.h"
#include "fence/vfence_sync.h"
#include "fence/vfence_wait_restart.h"
#include "fence/vfence_wait_set.h"
#include "mem/vfence_slots.h"
#include "mem/vfence_vm.h"
#include "queue/vfence_context.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_destroy.h"
#include "reset/vfence_watch.h"
#include "vfence_counters.h"
#include "vfence_file.h"

u64 vfence_file_id(struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;

	return file->id;
}

static const char *file_engine_name(unsigned int class_id)
{
	static const char *const names[] = { "gfx", "compute", "copy", "mm", "paging" };

	return names[class_id];
}

/* Count a device that is lost because an engine or the adapter was reset. */
static void file_count_lost(struct vfence_device *device, u32 *lost)
{
	int state = vfence_device_state(device);

	lost[0] += state == DRM_VFENCE_DEVICE_HUNG;
	lost[1] += state == DRM_VFENCE_DEVICE_RESET;
}

/**
 * vfence_file_show - print the client's part of fdinfo, see drm-usage-stats.rst
 * @file: the client
 * @p: printer of the fdinfo file
 */
void vfence_file_show(struct vfence_file *file, struct drm_printer *p)
{
	const struct vgpu_config *gpu = &file->adapter->config.gpu;
	u64 busy_ns[VGPU_MAX_NODES];
	struct vfence_device *device;
	struct vfence_queue *queue;
	unsigned long handle;
	unsigned int i;
	u32 lost[2];

	/* The client may sleep, or wait for a processor, with its other lock held. */
	spin_lock(&file->usage_lock);
	memcpy(lost, file->lost_devices, sizeof(lost));
	xa_for_each(&file->devices.objects, handle, device)
		file_count_lost(device, lost);
	memcpy(busy_ns, file->busy_ns, sizeof(busy_ns));
	xa_for_each(&file->queues.objects, handle, queue)
		busy_ns[queue->node] += vfence_queue_busy_ns(queue);
	spin_unlock(&file->usage_lock);

	for (i = 0; i < gpu->nodes; i++) {
		const char *name = file_engine_name(gpu->node_class[i]);

		drm_printf(p, "drm-engine-%s:\t%llu ns\n", name, busy_ns[i]);
		drm_printf(p, "drm-cycles-%s:\t%llu\n", name,
			   mul_u64_u64_div_u64(busy_ns[i], VGPU_CLOCK_HZ, NSEC_PER_SEC));
		drm_printf(p, "drm-maxfreq-%s:\t%llu Hz\n", name, VGPU_CLOCK_HZ);
	}
	vfence_show_memory_stats(p, file->drm);
	vfence_counters_show_client(file, p);
	drm_printf(p, "vfence-devices-hung:\t%u\nvfence-devices-reset:\t%u\n", lost[0], lost[1]);
}

static void file_begin_watch(struct vfence_adapter *adapter)
{
	int idx;

	/* The checks of an adapter that is unplugged have stopped for good. */
	if (!drm_dev_enter(&adapter->drm, &idx))
		return;
	vfence_watch_begin(adapter);
	drm_dev_exit(idx);
}

int vfence_file_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vfence_adapter *adapter = to_vfence_adapter(drm);
	struct vfence_file *file = vfence_leak_check_alloc(FILE, sizeof(*file));
	int ret;

	if (!file)
		return -ENOMEM;

	ret = vfence_fence_handle_init(file);
	if (ret)
		goto free;

	file->account = vfence_account_get_current(adapter);
	if (IS_ERR(file->account)) {
		ret = PTR_ERR(file->account);
		goto fini;
	}
	file->process = vfence_process_get_current(adapter);
	if (IS_ERR(file->process)) {
		ret = PTR_ERR(file->process);
		goto put_account;
	}
	file->vm = vgpu_vm_create(adapter->gpu, file->account->hw);
	if (IS_ERR(file->vm)) {
		ret = PTR_ERR(file->vm);
		goto put_process;
	}

	file->adapter = adapter;
	file->drm = drm_file;
	file->id = vfence_client_id(drm_file);
	init_waitqueue_head(&file->events_gone);
	vfence_event_init(file);
	vfence_foreign_init(file);
	vfence_sync_init(file);
	mutex_init(&file->lock);
	spin_lock_init(&file->usage_lock);
	mutex_init(&file->destroy_lock);

	vfence_handle_table_init(&file->devices, VFENCE_MAX_DEVICES);
	vfence_handle_table_init(&file->contexts, VFENCE_MAX_CONTEXTS);
	vfence_handle_table_init(&file->queues, VFENCE_MAX_QUEUES);
	vfence_handle_table_init(&file->events, VFENCE_MAX_EVENTS);
	vfence_handle_table_init(&file->restarts, VFENCE_MAX_RESTARTS);
	vfence_handle_table_init(&file->wait_sets, VFENCE_MAX_WAIT_SETS);
	vfence_handle_table_init(&file->imports, VFENCE_MAX_IMPORTS);

	xa_init_flags(&file->mappings, XA_FLAGS_ACCOUNT);
	xa_init_flags(&file->addresses, XA_FLAGS_ACCOUNT);
	drm_mm_init(&file->space, VFENCE_VA_START, DRM_VFENCE_VA_LIMIT - VFENCE_VA_START);
	file->maps = RB_ROOT;
	INIT_LIST_HEAD(&file->slots);

	drm_file->driver_priv = file;
	file_begin_watch(adapter);
	return 0;

put_process:
	vfence_process_put(file->process);
put_account:
	vfence_account_put(file->account);
fini:
	vfence_fence_handle_fini(file);
free:
	vfence_leak_check_free(FILE, file);
	return ret;
}

static struct vfence_device *file_take_device_locked(struct vfence_file *file, u32 handle)
{
	struct vfence_device *device;

	lockdep_assert_held(&file->lock);
	spin_lock(&file->usage_lock);
	device = vfence_handle_table_remove(&file->devices, handle);
	if (device)
		file_count_lost(device, file->lost_devices);
	spin_unlock(&file->usage_lock);
	return device;
}

/* Take a handle and the queues of a device: no call finds them any more. */
static struct vfence_device *file_begin_destroy(struct vfence_file *file, u32 handle,
						struct list_head *dead)
{
	struct vfence_device *device;

	mutex_lock(&file->lock);
	device = file_take_device_locked(file, handle);
	if (device) {
		device->closing = true;
		vfence_queue_destroy_begin_all(file, device, dead);
	}
	mutex_unlock(&file->lock);
	return device;
}

/* Free the objects of a device whose queues have ended. */
static void file_end_destroy(struct vfence_file *file, struct vfence_device *device,
			     struct list_head *dead)
{
	mutex_lock(&file->lock);
	vfence_queue_destroy_end_all(file, dead);
	/* A reset of the adapter has no work for each device, and its work may not have begun. */
	if (vfence_device_was_removed(device))
		vfence_fence_handle_device_lost(device);
	vfence_fence_handle_destroy_all(file, device);
	vfence_context_destroy_all(file, device);
	mutex_unlock(&file->lock);
	vfence_device_put(device);
}

/*
 * Destroy a device and all objects that it owns; other devices are not affected. The client decides
 * how long the second step takes.
 */
static int file_destroy_device(struct vfence_file *file, u32 handle)
{
	struct vfence_device *device;
	LIST_HEAD(dead);

	lockdep_assert_held(&file->destroy_lock);
	device = file_begin_destroy(file, handle, &dead);
	if (!device)
		return -ENOENT;
	vfence_queue_destroy_drain(&dead);
	/* A reset may still have to take fences of others to the maximum. */
	flush_work(&device->stop_work);
	file_end_destroy(file, device, &dead);
	return 0;
}

/* Enters no gate, as a file that is closed does not: the client decides how long this takes. */
int vfence_file_destroy_device(struct vfence_file *file, u32 handle)
{
	int ret;

	if (mutex_lock_killable(&file->destroy_lock))
		return -ERESTARTSYS;
	ret = file_destroy_device(file, handle);
	mutex_unlock(&file->destroy_lock);
	return ret;
}

static void file_destroy_devices(struct vfence_file *file)
{
	struct vfence_device *device;
	unsigned long handle;

	mutex_lock(&file->destroy_lock);
	xa_for_each(&file->devices.objects, handle, device)
		file_destroy_device(file, handle);
	mutex_unlock(&file->destroy_lock);
}

/*
 * WDDM's abnormal exit (WDDM-202): abort the queues and free all objects of the file, without
 * waiting for their work. No ioctl of this file runs any more.
 */
void vfence_file_close(struct drm_device *drm, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;

	vfence_event_cancel_all(file);
	vfence_wait_restart_drop_all(file);
	vfence_wait_set_destroy_all(file);
	vfence_sync_cancel_all(file);

	file_destroy_devices(file);
	vfence_queue_destroy_drain_all(file);
	vfence_foreign_fini(file);
	mutex_lock(&file->lock);
	vfence_vm_unbind_all(file);
	mutex_unlock(&file->lock);

	vfence_slots_destroy_all(file);
	/* Posts in the FIFO of the GPU name the address space. */
	vgpu_cmp_flush(file->adapter->gpu);
	vfence_fence_handle_fini(file);
	vgpu_vm_destroy(file->vm);
	vfence_process_put(file->process);
	vfence_account_put(file->account);
	drm_mm_takedown(&file->space);

	xa_destroy(&file->devices.objects);
	xa_destroy(&file->contexts.objects);
	xa_destroy(&file->queues.objects);
	xa_destroy(&file->events.objects);
	xa_destroy(&file->restarts.objects);
	xa_destroy(&file->wait_sets.objects);
	xa_destroy(&file->imports.objects);
	xa_destroy(&file->mappings);
	xa_destroy(&file->addresses);
	mutex_destroy(&file->deliver_lock);
	mutex_destroy(&file->destroy_lock);
	mutex_destroy(&file->lock);
	vfence_leak_check_free(FILE, file);
}
