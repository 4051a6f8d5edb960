// SPDX-License-Identifier: MIT
/* Adapters and devices: open and query them. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <xf86drm.h>

#include "vf_private.h"

int vf_ioctl(struct vf_adapter *adapter, unsigned long request, void *arg)
{
	return drmIoctl(adapter->fd, request, arg) ? -errno : 0;
}

void *vf_mmap(struct vf_adapter *adapter, uint64_t offset, size_t size, int prot)
{
	void *map = mmap(NULL, size, prot, MAP_SHARED, adapter->fd, (off_t)offset);

	return map == MAP_FAILED ? NULL : map;
}

VF_EXPORT int vf_adapter_fd(struct vf_adapter *adapter)
{
	return adapter->fd;
}

int vf_query(struct vf_adapter *adapter, uint32_t type, void *data, uint32_t *size,
	     uint32_t stride)
{
	struct drm_vfence_query args = {
		.type = type, .size = *size, .data = (uintptr_t)data, .stride = stride,
	};
	int ret = vf_ioctl(adapter, DRM_IOCTL_VFENCE_QUERY, &args);

	*size = args.size;
	return ret;
}

int vf_destroy(struct vf_adapter *adapter, enum drm_vfence_object type, uint32_t handle)
{
	struct drm_vfence_destroy args = { .type = (uint32_t)type, .handle = handle };

	return vf_ioctl(adapter, DRM_IOCTL_VFENCE_DESTROY, &args);
}

int vf_query_object(struct vf_adapter *adapter, uint32_t type, uint32_t handle, void *info,
		    uint32_t size)
{
	struct drm_vfence_query args = {
		.type = type, .size = size, .data = (uintptr_t)info, .stride = size,
		.handle = handle,
	};

	return vf_ioctl(adapter, DRM_IOCTL_VFENCE_QUERY, &args);
}

VF_EXPORT int vf_adapter_info(struct vf_adapter *adapter, struct drm_vfence_adapter_info *info)
{
	uint32_t size = sizeof(*info);

	return vf_query(adapter, DRM_VFENCE_QUERY_ADAPTER, info, &size, sizeof(*info));
}

/* Return the elements of an answer that is an array. @count: in: room, out: their number. */
static int query_array(struct vf_adapter *adapter, uint32_t type, void *elements,
		       uint32_t element, unsigned int *count)
{
	uint32_t size = *count * element;
	int ret = vf_query(adapter, type, elements, &size, element);

	if (!ret)
		*count = size / element;
	return ret;
}

VF_EXPORT int vf_adapter_nodes(struct vf_adapter *adapter, struct drm_vfence_node_info *nodes,
			       unsigned int *count)
{
	return query_array(adapter, DRM_VFENCE_QUERY_NODES, nodes, sizeof(*nodes), count);
}

VF_EXPORT int vf_adapter_limits(struct vf_adapter *adapter, struct drm_vfence_limit *limits,
				unsigned int *count)
{
	return query_array(adapter, DRM_VFENCE_QUERY_LIMITS, limits, sizeof(*limits), count);
}

VF_EXPORT int vf_adapter_features(struct vf_adapter *adapter,
				  struct drm_vfence_feature_info *features, unsigned int *count)
{
	return query_array(adapter, DRM_VFENCE_QUERY_FEATURES, features, sizeof(*features), count);
}

VF_EXPORT int vf_adapter_fence_caps(struct vf_adapter *adapter,
				    struct drm_vfence_fence_caps *caps)
{
	uint32_t size = sizeof(*caps);

	return vf_query(adapter, DRM_VFENCE_QUERY_FENCE_CAPS, caps, &size, sizeof(*caps));
}

VF_EXPORT int vf_adapter_find_node(struct vf_adapter *adapter,
				   enum drm_vfence_node_class class_id)
{
	struct drm_vfence_node_info nodes[32];
	unsigned int i, count = 32;
	int ret = vf_adapter_nodes(adapter, nodes, &count);

	if (ret)
		return ret;
	for (i = 0; i < count && i < 32; i++)
		if (nodes[i].class_id == class_id &&
		    nodes[i].flags & DRM_VFENCE_NODE_USER_MODE_SUBMISSION)
			return (int)i;
	return -ENOENT;
}

VF_EXPORT int vf_adapter_clock(struct vf_adapter *adapter, struct drm_vfence_clock_info *clock)
{
	uint32_t size = sizeof(*clock);

	return vf_query(adapter, DRM_VFENCE_QUERY_CLOCK, clock, &size, sizeof(*clock));
}

VF_EXPORT int64_t vf_clock_to_cpu(const struct drm_vfence_clock_info *clock, uint64_t gpu_ticks)
{
	/* Compute signed: the stamp may be older than the calibration pair. */
	__int128 ticks = (__int128)gpu_ticks - clock->gpu_ticks;

	return (int64_t)clock->cpu_ns + (int64_t)(ticks * 1000000000 / (__int128)clock->frequency_hz);
}

VF_EXPORT int64_t vf_deadline(int64_t ns)
{
	struct timespec now;
	int64_t deadline;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (__builtin_add_overflow((int64_t)now.tv_sec * 1000000000 + now.tv_nsec, ns, &deadline))
		return VF_FOREVER;
	/* The driver takes no negative deadline, and 0 has passed already. */
	return deadline < 0 ? 0 : deadline;
}

VF_EXPORT int vf_device_create(struct vf_adapter *adapter, struct vf_device **device)
{
	struct drm_vfence_device_create args = { 0 };
	struct vf_device *d = calloc(1, sizeof(*d));
	int ret;

	if (!d)
		return -ENOMEM;
	ret = vf_ioctl(adapter, DRM_IOCTL_VFENCE_DEVICE_CREATE, &args);
	if (ret) {
		free(d);
		return ret;
	}
	d->adapter = adapter;
	d->handle = args.handle;
	*device = d;
	return 0;
}

VF_EXPORT void vf_device_destroy(struct vf_device *device)
{
	if (!device)
		return;
	vf_destroy(device->adapter, DRM_VFENCE_OBJECT_DEVICE, device->handle);
	free(device);
}

VF_EXPORT uint32_t vf_device_handle(struct vf_device *device)
{
	return device->handle;
}

VF_EXPORT int vf_device_state(struct vf_device *device)
{
	struct drm_vfence_device_info info;
	int ret = vf_query_object(device->adapter, DRM_VFENCE_QUERY_DEVICE, device->handle, &info,
				  sizeof(info));

	return ret ? ret : (int)info.state;
}
