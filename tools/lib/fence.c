// SPDX-License-Identifier: MIT
/* Fences: values, sharing, the end. */

#include <stdlib.h>

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
