// SPDX-License-Identifier: MIT
/* Wait sets: points that stay on their fences from one wait to the next. */

#include <stdlib.h>

#include "vf_private.h"

/* So many updates are passed to the driver without an allocation. */
#define SMALL	4

struct vf_wait_set {
	struct vf_adapter *adapter;
	uint32_t handle;
};

VF_EXPORT int vf_wait_set_create(struct vf_adapter *adapter, unsigned int entries,
				 struct vf_wait_set **set)
{
	struct drm_vfence_wait_set_create args = { .entries = entries };
	struct vf_wait_set *s = malloc(sizeof(*s));
	int ret = s ? vf_ioctl(adapter, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &args) : -ENOMEM;

	if (ret) {
		free(s);
		return ret;
	}
	*s = (struct vf_wait_set){ .adapter = adapter, .handle = args.handle };
	*set = s;
	return 0;
}

VF_EXPORT void vf_wait_set_destroy(struct vf_wait_set *set)
{
	if (!set)
		return;
	vf_destroy(set->adapter, DRM_VFENCE_OBJECT_WAIT_SET, set->handle);
	free(set);
}

VF_EXPORT uint32_t vf_wait_set_handle(const struct vf_wait_set *set)
{
	return set->handle;
}

static int fill(struct vf_wait_set *set, struct drm_vfence_wait_set_update *to,
		const struct vf_wait_set_entry *from, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (from[i].fence && from[i].fence->adapter != set->adapter)
			return -EXDEV;
		to[i] = (struct drm_vfence_wait_set_update){
			.index = from[i].index, .value = from[i].value,
			.fence = from[i].fence ? from[i].fence->handle : 0,
		};
	}
	return 0;
}

/* Perform a call whose updates are in @to already. */
static int run(struct vf_wait_set *set, struct drm_vfence_wait_set_wait *args,
	       const struct vf_point *signals, unsigned int count)
{
	struct vf_list list;
	int ret = vf_list_fill(&list, set->adapter, signals, count);

	if (ret)
		return ret;
	args->set = set->handle;
	args->signals = list.array;
	ret = vf_ioctl(set->adapter, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, args);
	vf_list_empty(&list);
	return ret;
}

VF_EXPORT int vf_wait_set_wait(struct vf_wait_set *set, const struct vf_wait_set_entry *updates,
			       unsigned int update_count, const struct vf_point *signals,
			       unsigned int signal_count, int64_t timeout_ns,
			       struct drm_vfence_wait_set_ready *ready, unsigned int *ready_count)
{
	struct drm_vfence_wait_set_update small[SMALL], *to = small;
	struct drm_vfence_wait_set_wait args = {
		.timeout_ns = timeout_ns, .ready = DRM_VFENCE_OBJ_ARRAY(*ready_count, ready),
	};
	int ret;

	if (update_count > SMALL)
		to = calloc(update_count, sizeof(*to));
	if (!to)
		return -ENOMEM;
	ret = fill(set, to, updates, update_count);
	args.updates = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(update_count, to);
	ret = ret ? ret : run(set, &args, signals, signal_count);
	if (to != small)
		free(to);
	*ready_count = ret ? 0 : args.returned;
	return ret;
}

VF_EXPORT int vf_wait_set_update(struct vf_wait_set *set, const struct vf_wait_set_entry *updates,
				 unsigned int count)
{
	unsigned int none = 0;

	return vf_wait_set_wait(set, updates, count, NULL, 0, 0, NULL, &none);
}
