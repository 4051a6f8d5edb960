// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: they own queues and fences, and all of these fail together.
 */

#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_device.h"
#include "core/vfence_file_types.h"
#include "core/vfence_process.h"

static void device_free(struct kref *ref)
{
	struct vfence_device *device = container_of(ref, struct vfence_device, ref);

	vfence_process_put(device->process);
	vfence_object_free(DEVICE, device);
}

void vfence_device_get(struct vfence_device *device)
{
	kref_get(&device->ref);
}

void vfence_device_put(struct vfence_device *device)
{
	kref_put(&device->ref, device_free);
}

/*
 * Every device of a lost adapter or of a blocked process is stopped, unless it has an earlier
 * error state.
 */
static int device_state(struct vfence_device *device)
{
	int state = atomic_read(&device->state);

	if (state == DRM_VFENCE_DEVICE_ACTIVE &&
	    (READ_ONCE(device->adapter->lost) || READ_ONCE(device->process->blocked)))
		return DRM_VFENCE_DEVICE_STOPPED;
	return state;
}

bool vfence_device_active(struct vfence_device *device)
{
	return device_state(device) == DRM_VFENCE_DEVICE_ACTIVE;
}

/** vfence_device_was_reset - is the device HUNG or RESET, or was its process blocked */
bool vfence_device_was_reset(struct vfence_device *device)
{
	int state = atomic_read(&device->state);

	return state == DRM_VFENCE_DEVICE_HUNG || state == DRM_VFENCE_DEVICE_RESET ||
	       (state == DRM_VFENCE_DEVICE_STOPPED && READ_ONCE(device->process->blocked));
}

int vfence_device_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_device_create *args = data;
	struct vfence_process *process;
	struct vfence_device *device;
	int ret;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;

	process = vfence_process_get_current(file->adapter);
	if (IS_ERR(process))
		return PTR_ERR(process);

	device = vfence_object_alloc(DEVICE, sizeof(*device));
	if (!device) {
		vfence_process_put(process);
		return -ENOMEM;
	}

	kref_init(&device->ref);
	device->adapter = file->adapter;
	device->process = process;
	atomic_set(&device->state, DRM_VFENCE_DEVICE_ACTIVE);
	INIT_WORK(&device->stop_work, device->adapter->loss->stop_device);
	spin_lock_init(&device->lock);
	INIT_LIST_HEAD(&device->max_signals);

	mutex_lock(&file->lock);
	if (vfence_reject(drm, READ_ONCE(process->blocked)))
		ret = -EACCES;
	else if (!vfence_device_active(device))
		ret = -EIO;
	else
		ret = vfence_table_add(&file->devices, device, &args->handle);
	mutex_unlock(&file->lock);
	if (ret)
		vfence_device_put(device);
	return ret;
}

int vfence_device_query_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_device_query *args = data;
	struct vfence_device *device;

	mutex_lock(&file->lock);
	device = xa_load(&file->devices.objects, args->handle);
	if (device)
		args->state = device_state(device);
	mutex_unlock(&file->lock);
	return device ? 0 : -ENOENT;
}
