// SPDX-License-Identifier: MIT
/* Fences: how they are created and opened. */

#include <stdlib.h>
#include <string.h>

#include "vf_private.h"

static int wrap(struct vf_adapter *adapter, uint32_t handle,
		const struct drm_vfence_fence_mapping *mapping, const void *private_data,
		struct vf_fence **fence)
{
	struct vf_fence *f = calloc(1, sizeof(*f));
	int ret = f ? vf_fence_init(adapter, handle, mapping, f) : -ENOMEM;

	if (ret) {
		free(f);
		vf_destroy(adapter, DRM_VFENCE_OBJECT_FENCE, handle);
		return ret;
	}
	memcpy(f->private_data, private_data, sizeof(f->private_data));
	*fence = f;
	vf_lifetime_reap(adapter);
	return 0;
}

VF_EXPORT int vf_fence_create_desc(struct vf_device *device, const struct vf_fence_desc *desc,
				   struct vf_fence **fence)
{
	struct drm_vfence_fence_create args = {
		.device = device->handle, .type = desc->type, .flags = desc->flags,
		.initial_value = desc->initial_value,
	};
	int ret;

	if (desc->private_data)
		memcpy(args.private_data, desc->private_data, sizeof(args.private_data));
	ret = vf_ioctl(device->adapter, DRM_IOCTL_VFENCE_FENCE_CREATE, &args);
	if (ret)
		return ret;
	return wrap(device->adapter, args.handle, &args.mapping, args.private_data, fence);
}

VF_EXPORT int vf_fence_create(struct vf_device *device, uint32_t flags, uint64_t initial_value,
			      struct vf_fence **fence)
{
	struct vf_fence_desc desc = { .flags = flags, .initial_value = initial_value };

	return vf_fence_create_desc(device, &desc, fence);
}

VF_EXPORT int vf_monitored_fence_create(struct vf_device *device, uint32_t flags,
					uint64_t initial_value, struct vf_fence **fence)
{
	struct vf_fence_desc desc = {
		.type = DRM_VFENCE_FENCE_MONITORED, .flags = flags, .initial_value = initial_value,
	};

	return vf_fence_create_desc(device, &desc, fence);
}

VF_EXPORT int vf_fence_open(struct vf_device *device, int fd, struct vf_fence **fence)
{
	return vf_fence_open_flags(device, fd, 0, fence);
}

VF_EXPORT int vf_fence_open_flags(struct vf_device *device, int fd, uint32_t flags,
				  struct vf_fence **fence)
{
	struct drm_vfence_fence_open args = {
		.device = device->handle, .fd = fd, .flags = flags,
	};
	int ret = vf_ioctl(device->adapter, DRM_IOCTL_VFENCE_FENCE_OPEN, &args);

	if (ret)
		return ret;
	return wrap(device->adapter, args.handle, &args.mapping, args.private_data, fence);
}
