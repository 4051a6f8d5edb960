// SPDX-License-Identifier: MIT
/* Fences: creation, sharing, polling. */

#include <stdlib.h>
#include <string.h>

#include "vf_private.h"

int vf_fence_init(struct vf_adapter *adapter, uint32_t handle,
		  const struct drm_vfence_fence_mapping *mapping, struct vf_fence *fence)
{
	const void *map;
	int ret;

	fence->adapter = adapter;
	fence->handle = handle;
	fence->mapping = *mapping;
	/* The CPU cannot see the value of an INTRA_GPU fence. */
	if (!mapping->current_offset)
		return 0;
	ret = vf_page_get(adapter, mapping->current_offset, &fence->page, &map);
	if (!ret)
		fence->current = (const uint64_t *)((const char *)map +
						    mapping->current_page_offset);
	return ret;
}

void vf_fence_fini(struct vf_fence *fence)
{
	if (fence->page)
		vf_page_put(fence->adapter, fence->page);
}

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

VF_EXPORT const void *vf_fence_private_data(struct vf_fence *fence)
{
	return fence->private_data;
}

VF_EXPORT int vf_fence_export(struct vf_fence *fence)
{
	return vf_fence_export_rights(fence, DRM_VFENCE_EXPORT_SAME_RIGHTS);
}

VF_EXPORT int vf_fence_export_rights(struct vf_fence *fence, uint32_t rights)
{
	struct drm_vfence_fence_export args = { .handle = fence->handle, .flags = rights };
	int ret = vf_ioctl(fence->adapter, DRM_IOCTL_VFENCE_FENCE_EXPORT, &args);

	return ret ? ret : args.fd;
}

VF_EXPORT void vf_fence_destroy_now(struct vf_fence *fence)
{
	if (!fence)
		return;
	vf_fence_fini(fence);
	vf_destroy(fence->adapter, DRM_VFENCE_OBJECT_FENCE, fence->handle);
	free(fence);
}

VF_EXPORT uint32_t vf_fence_handle(struct vf_fence *fence)
{
	return fence->handle;
}

VF_EXPORT const struct drm_vfence_fence_mapping *vf_fence_mapping(struct vf_fence *fence)
{
	return &fence->mapping;
}

VF_EXPORT uint64_t vf_fence_current(struct vf_fence *fence)
{
	if (!fence->current)
		return 0;
	/* Acquire: the signaller's earlier stores. Partner: the order of the engine's stores. */
	return __atomic_load_n(fence->current, __ATOMIC_ACQUIRE);
}

VF_EXPORT int vf_fence_query(struct vf_fence *fence, struct drm_vfence_fence_info *info)
{
	return vf_query_object(fence->adapter, DRM_VFENCE_QUERY_FENCE, fence->handle, info,
			       sizeof(*info));
}
