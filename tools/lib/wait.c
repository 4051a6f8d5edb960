// SPDX-License-Identifier: MIT
/* Waiting for fences and signaling them from the CPU. */

#include <stdlib.h>
#include <string.h>

#include "vf_private.h"

int vf_list_fill(struct vf_list *list, struct vf_adapter *adapter, const struct vf_point *points,
		 unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (points[i].fence->adapter != adapter)
			return -EXDEV;

	list->points = count <= VF_LIST_SMALL ? list->small : calloc(count, sizeof(*list->points));
	if (!list->points)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		list->points[i] = (struct drm_vfence_fence_point){
			.fence = points[i].fence->handle, .value = points[i].value,
		};
	list->array = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(count, list->points);
	return 0;
}

void vf_list_empty(struct vf_list *list)
{
	if (list->points != list->small)
		free(list->points);
}

VF_EXPORT int vf_signal(struct vf_adapter *adapter, const struct vf_point *points,
			unsigned int count)
{
	return vf_signal_flags(adapter, points, count, 0);
}

VF_EXPORT int vf_signal_flags(struct vf_adapter *adapter, const struct vf_point *points,
			      unsigned int count, uint32_t flags)
{
	struct drm_vfence_fence_signal args = { .flags = flags };
	struct vf_list list;
	int ret = vf_list_fill(&list, adapter, points, count);

	if (ret)
		return ret;
	args.points = list.array;
	ret = vf_ioctl(adapter, DRM_IOCTL_VFENCE_FENCE_SIGNAL, &args);
	vf_list_empty(&list);
	return ret;
}

VF_EXPORT int vf_fence_signal(struct vf_fence *fence, uint64_t value)
{
	struct vf_point point = { fence, value };

	return vf_signal(fence->adapter, &point, 1);
}

static int import(struct vf_fence *fence, uint32_t flags, uint32_t source, uint64_t point,
		  uint64_t value)
{
	struct drm_vfence_fence_import args = {
		.fence = fence->handle, .flags = flags, .source = source, .point = point,
		.value = value,
	};

	return vf_ioctl(fence->adapter, DRM_IOCTL_VFENCE_FENCE_IMPORT, &args);
}

VF_EXPORT int vf_fence_import_sync_file(struct vf_fence *fence, int fd, uint64_t value)
{
	return import(fence, 0, (uint32_t)fd, 0, value);
}

VF_EXPORT int vf_fence_import_syncobj(struct vf_fence *fence, uint32_t syncobj, uint64_t point,
				      uint64_t value)
{
	return import(fence, DRM_VFENCE_IMPORT_SYNCOBJ, syncobj, point, value);
}

static void note(struct vf_adapter *adapter, enum vf_queued_op op, const struct vf_point *points,
		 unsigned int count)
{
	if (count)
		vf_events_add(adapter, op, 0, points[0].fence->handle, points[0].value);
}

VF_EXPORT int vf_signal_and_wait(struct vf_adapter *adapter, const struct vf_point *signals,
				 unsigned int signal_count, const struct vf_point *points,
				 unsigned int count, uint32_t flags, int64_t timeout_ns,
				 unsigned int *first)
{
	struct drm_vfence_wait args = { .flags = flags, .timeout_ns = timeout_ns };
	struct vf_list wait_list, signal_list;
	int ret;

	ret = vf_list_fill(&wait_list, adapter, points, count);
	if (ret)
		return ret;
	ret = vf_list_fill(&signal_list, adapter, signals, signal_count);
	if (!ret) {
		args.points = wait_list.array;
		args.signals = signal_list.array;
		note(adapter, VF_CPU_WAIT_BEGIN, points, count);
		ret = vf_ioctl(adapter, DRM_IOCTL_VFENCE_WAIT, &args);
		note(adapter, VF_CPU_WAIT_END, points, count);
		vf_list_empty(&signal_list);
	}
	vf_list_empty(&wait_list);
	if (!ret && first)
		*first = args.first;
	return ret;
}

VF_EXPORT int vf_wait(struct vf_adapter *adapter, const struct vf_point *points,
		      unsigned int count, uint32_t flags, int64_t timeout_ns,
		      unsigned int *first)
{
	return vf_signal_and_wait(adapter, NULL, 0, points, count, flags, timeout_ns, first);
}

VF_EXPORT int vf_fence_wait(struct vf_fence *fence, uint64_t value, int64_t timeout_ns)
{
	struct vf_point point = { fence, value };

	return vf_wait(fence->adapter, &point, 1, 0, timeout_ns, NULL);
}

VF_EXPORT int vf_event_arm(struct vf_adapter *adapter, const struct vf_point *points,
			   unsigned int count, uint32_t flags, int eventfd, uint32_t *event)
{
	struct drm_vfence_event_arm args = { .flags = flags, .eventfd = eventfd };
	struct vf_list list;
	int ret = vf_list_fill(&list, adapter, points, count);

	if (ret)
		return ret;
	args.points = list.array;
	ret = vf_ioctl(adapter, DRM_IOCTL_VFENCE_EVENT_ARM, &args);
	vf_list_empty(&list);
	if (ret)
		return ret;
	if (event)
		*event = args.event;
	return args.event ? 0 : 1;
}

VF_EXPORT int vf_event_cancel(struct vf_adapter *adapter, uint32_t event)
{
	return vf_destroy(adapter, DRM_VFENCE_OBJECT_EVENT, event);
}
