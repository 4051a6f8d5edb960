// SPDX-License-Identifier: GPL-2.0-only
/*
 * DESTROY: finds the way in which an object of each type is destroyed.
 */

#include <linux/nospec.h>

#include <drm/drm_file.h>

#include "core/vfence_adapter.h"
#include "core/vfence_file_types.h"
#include "core/vfence_gate.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_wait_set.h"
#include "queue/vfence_context.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_destroy.h"
#include "queue/vfence_queue_ioctl.h"
#include "vfence_destroy.h"
#include "vfence_file.h"

/**
 * struct destroy_type - how an object of a type is destroyed
 */
struct destroy_type {
	/** @destroy: destroy the object of a handle */
	int (*destroy)(struct vfence_file *file, u32 handle);
	/** @enters: true if unplug and a reset of the adapter wait for @destroy */
	bool enters;
};

static const struct destroy_type destroy_types[] = {
	[DRM_VFENCE_OBJECT_DEVICE] = { .destroy = vfence_file_destroy_device },
	[DRM_VFENCE_OBJECT_CONTEXT] = { .destroy = vfence_context_destroy, .enters = true },
	[DRM_VFENCE_OBJECT_QUEUE] = { .destroy = vfence_queue_destroy },
	[DRM_VFENCE_OBJECT_DOORBELL] = { .destroy = vfence_queue_destroy_doorbell },
	[DRM_VFENCE_OBJECT_FENCE] = {
		.destroy = vfence_fence_handle_destroy_by_client, .enters = true,
	},
	[DRM_VFENCE_OBJECT_EVENT] = { .destroy = vfence_event_cancel, .enters = true },
	[DRM_VFENCE_OBJECT_WAIT_SET] = { .destroy = vfence_wait_set_destroy },
};

int vfence_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_adapter *adapter = to_vfence_adapter(drm);
	struct drm_vfence_destroy *args = data;
	const struct destroy_type *type;
	struct vfence_gate_pass pass;
	int ret;

	if (vfence_reject(drm, args->type >= ARRAY_SIZE(destroy_types)))
		return -EINVAL;
	type = &destroy_types[array_index_nospec(args->type, ARRAY_SIZE(destroy_types))];
	if (vfence_reject(drm, !type->destroy))
		return -EINVAL;
	if (!type->enters)
		return type->destroy(drm_file->driver_priv, args->handle);

	ret = vfence_hw_enter(adapter, &pass);
	if (ret)
		return ret;
	ret = type->destroy(drm_file->driver_priv, args->handle);
	vfence_hw_exit(adapter, &pass);
	return ret;
}
