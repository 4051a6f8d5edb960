// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: they own queues and fences, and all of these fail together.
 */

#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include <drm/drm_file.h>

#include "core/vfence_account.h"
#include "core/vfence_device.h"
#include "core/vfence_file_types.h"
#include "core/vfence_process.h"
#include "core/vfence_trace.h"

static void device_free(struct kref *ref)
{
	struct vfence_device *device = container_of(ref, struct vfence_device, ref);
	struct vfence_devices *devices = &device->adapter->devices;

	spin_lock(&devices->lock);
	list_del(&device->link);
	spin_unlock(&devices->lock);
	vfence_process_put(device->process);
	vfence_account_put(device->account);
	put_pid(device->pid);
	vfence_leak_check_free(DEVICE, device);
}

void vfence_device_get(struct vfence_device *device)
{
	kref_get(&device->ref);
}

void vfence_device_put(struct vfence_device *device)
{
	kref_put(&device->ref, device_free);
}

/* Return the first device from @link on that lives, with a reference, or NULL. */
static struct vfence_device *device_get_locked(struct vfence_devices *devices,
					       struct list_head *link)
{
	lockdep_assert_held(&devices->lock);
	for (; link != &devices->list; link = link->next) {
		struct vfence_device *device = list_entry(link, struct vfence_device, link);

		if (kref_get_unless_zero(&device->ref))
			return device;
	}
	return NULL;
}

/**
 * vfence_device_for_each - visit all devices of an adapter; process context
 * @adapter: the adapter
 * @fn: function to call for each device, with a reference and without a lock
 *
 * Devices that are created meanwhile may be left out.
 */
void vfence_device_for_each(struct vfence_adapter *adapter, void (*fn)(struct vfence_device *))
{
	struct vfence_devices *devices = &adapter->devices;
	struct vfence_device *device, *next;

	spin_lock(&devices->lock);
	device = device_get_locked(devices, devices->list.next);
	spin_unlock(&devices->lock);
	while (device) {
		fn(device);
		/* The reference keeps the device on the list. */
		spin_lock(&devices->lock);
		next = device_get_locked(devices, device->link.next);
		spin_unlock(&devices->lock);
		vfence_device_put(device);
		device = next;
		cond_resched();
	}
}

/** vfence_device_get_causes - collect the causes for which a device is lost; any context */
void vfence_device_get_causes(struct vfence_device *device, struct vfence_loss_causes *causes)
{
	causes->own = atomic_read(&device->state);
	causes->reset = READ_ONCE(device->adapter->resets) != device->resets;
	causes->lost = READ_ONCE(device->adapter->lost);
	causes->blocked = READ_ONCE(device->process->blocked);
}

/**
 * vfence_device_state - the state of a device
 * @device: the device
 *
 * Every device from before a reset of the adapter is reset. Every device of a lost adapter or of
 * a blocked process is stopped. An earlier error state stays. Any context.
 *
 * Return: &enum drm_vfence_device_state.
 */
int vfence_device_state(struct vfence_device *device)
{
	struct vfence_loss_causes causes;

	vfence_device_get_causes(device, &causes);
	return vfence_loss_state(&causes);
}

bool vfence_device_active(struct vfence_device *device)
{
	return vfence_device_state(device) == DRM_VFENCE_DEVICE_ACTIVE;
}

/**
 * vfence_device_fail - put a device in an error state, unless it is in one
 * @device: the device
 * @state: &enum drm_vfence_device_state
 *
 * For reset/ alone. Full barrier. Partner: queue_publish_locked(). Any context.
 *
 * Return: the state before.
 */
int vfence_device_fail(struct vfence_device *device, int state)
{
	bool reset = READ_ONCE(device->adapter->resets) != device->resets;
	int before;

	/* The reset of the adapter came first. */
	if (reset)
		state = DRM_VFENCE_DEVICE_RESET;
	before = atomic_cmpxchg(&device->state, DRM_VFENCE_DEVICE_ACTIVE, state);
	if (before == DRM_VFENCE_DEVICE_ACTIVE)
		trace_vfence_device(device->adapter, device, state);
	return before == DRM_VFENCE_DEVICE_ACTIVE && reset ? state : before;
}

/** vfence_device_was_removed - vfence_loss_removes() of today's causes; any context */
bool vfence_device_was_removed(struct vfence_device *device)
{
	struct vfence_loss_causes causes;

	vfence_device_get_causes(device, &causes);
	return vfence_loss_removes(&causes);
}

/** vfence_device_begin_stop - a queue of the device is stopped, and has signals to perform */
void vfence_device_begin_stop(struct vfence_device *device)
{
	atomic_inc(&device->stopping);
}

/** vfence_device_stop_later - stop the queues of a device that has failed; any context */
void vfence_device_stop_later(struct vfence_device *device)
{
	vfence_device_get(device);
	if (!queue_work(device->adapter->work_wq, &device->stop_work))
		vfence_device_put(device);
}

/** vfence_device_end_stop - a stopped queue of the device has performed its signals */
void vfence_device_end_stop(struct vfence_device *device)
{
	/* Full barrier: count, then read the state. Partner: vfence_device_is_stopping(). */
	if (atomic_dec_and_test(&device->stopping) && vfence_device_was_removed(device))
		vfence_device_stop_later(device);
}

/** vfence_device_is_stopping - has a stopped queue of the failed device signals to perform? */
bool vfence_device_is_stopping(struct vfence_device *device)
{
	/* The device has failed, then count. Partner: vfence_device_end_stop(). */
	smp_mb();
	return atomic_read(&device->stopping);
}

/**
 * vfence_device_find_active - find a device in which an object is to be created
 * @file: the client, locked
 * @handle: handle of the device
 *
 * Return: the device, without a reference; -ENOENT without such a handle, -EIO if the device is in
 * error.
 */
struct vfence_device *vfence_device_find_active(struct vfence_file *file, u32 handle)
{
	struct vfence_device *device = xa_load(&file->devices.objects, handle);

	lockdep_assert_held(&file->lock);
	if (!device)
		return ERR_PTR(-ENOENT);
	return vfence_device_active(device) ? device : ERR_PTR(-EIO);
}

/** vfence_device_init - prepare an adapter for devices; cannot fail */
void vfence_device_init(struct vfence_adapter *adapter)
{
	spin_lock_init(&adapter->devices.lock);
	INIT_LIST_HEAD(&adapter->devices.list);
}

int vfence_device_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_device_create *args = data;
	struct vfence_account *account;
	struct vfence_process *process;
	struct vfence_device *device;
	int ret;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;

	account = vfence_account_get_of(file->account);
	if (IS_ERR(account))
		return PTR_ERR(account);
	process = vfence_process_get_of(file->process);
	if (IS_ERR(process)) {
		vfence_account_put(account);
		return PTR_ERR(process);
	}
	device = vfence_leak_check_alloc(DEVICE, sizeof(*device));
	if (!device) {
		vfence_process_put(process);
		vfence_account_put(account);
		return -ENOMEM;
	}

	kref_init(&device->ref);
	device->adapter = file->adapter;
	device->process = process;
	device->account = account;
	device->pid = get_pid(task_tgid(current));
	device->resets = READ_ONCE(device->adapter->resets);
	atomic_set(&device->state, DRM_VFENCE_DEVICE_ACTIVE);
	INIT_WORK(&device->stop_work, device->adapter->loss->stop_device);
	spin_lock_init(&device->lock);
	INIT_LIST_HEAD(&device->contexts);
	INIT_LIST_HEAD(&device->fence_handles);
	INIT_LIST_HEAD(&device->queues);
	INIT_LIST_HEAD(&device->losses);
	spin_lock(&device->adapter->devices.lock);
	list_add_tail(&device->link, &device->adapter->devices.list);
	spin_unlock(&device->adapter->devices.lock);

	mutex_lock(&file->lock);
	if (vfence_reject(drm, READ_ONCE(process->blocked)))
		ret = -EACCES;
	else if (!vfence_device_active(device))
		ret = -EIO;
	else
		ret = vfence_handle_table_add(&file->devices, device, &args->handle);
	mutex_unlock(&file->lock);
	if (ret)
		vfence_device_put(device);
	return ret;
}

/** vfence_device_query - answer %DRM_VFENCE_QUERY_DEVICE */
int vfence_device_query(struct vfence_file *file, u32 handle, struct drm_vfence_device_info *info)
{
	struct vfence_device *device;

	mutex_lock(&file->lock);
	device = xa_load(&file->devices.objects, handle);
	if (device)
		info->state = vfence_device_state(device);
	mutex_unlock(&file->lock);
	return device ? 0 : -ENOENT;
}
