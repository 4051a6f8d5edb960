// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries: the properties and the counters of an adapter, the limits of a client.
 */

#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "core/vfence_account.h"
#include "core/vfence_clock.h"
#include "core/vfence_file_types.h"
#include "core/vfence_obj_array.h"
#include "vfence_counters.h"
#include "vfence_query.h"

#define QUERY_MAX	65536

static void query_adapter_info(struct vfence_adapter *adapter, struct drm_vfence_adapter_info *info)
{
	info->nodes = adapter->config.gpu.nodes;
	info->fence_stride = vfence_fence_caps(adapter)->stride;
	info->physical_doorbells = adapter->config.gpu.doorbells;
	info->log_entries = (DRM_VFENCE_LOG_SIZE - sizeof(struct drm_vfence_log_header)) /
			    sizeof(struct drm_vfence_log_entry);
	info->va_start = PAGE_SIZE;
	info->va_end = DRM_VFENCE_VA_LIMIT;
	info->doorbell_size = VGPU_DOORBELL_SIZE;
	info->secondary_doorbell_size =
		adapter->config.gpu.secondary_doorbells ? VGPU_DOORBELL_SIZE : 0;
	info->flags = adapter->config.gpu.no_64bit_atomics ?
		      DRM_VFENCE_ADAPTER_NO_64BIT_ATOMICS : 0;
	if (adapter->config.gpu.monitored_signal != VGPU_MONITORED_SIGNAL_NONE)
		info->flags |= DRM_VFENCE_ADAPTER_MONITORED_SIGNAL;
	if (adapter->config.gpu.monitored_signal == VGPU_MONITORED_SIGNAL_ADVANCED)
		info->flags |= DRM_VFENCE_ADAPTER_MONITORED_INTERRUPT;
}

/* The totals of an engine show what all clients do. */
static void query_node_infos(struct vfence_adapter *adapter, struct drm_vfence_node_info *info)
{
	bool totals = perfmon_capable();
	unsigned int i;

	for (i = 0; i < adapter->config.gpu.nodes; i++) {
		vgpu_engine_query_node(adapter->gpu, i, &info[i]);
		if (!totals)
			info[i] = (struct drm_vfence_node_info){ .class_id = info[i].class_id };

		info[i].flags = totals ? DRM_VFENCE_NODE_TOTALS : 0;
		if (adapter->user_mode_submission && adapter->config.user_nodes & BIT(i))
			info[i].flags |= DRM_VFENCE_NODE_USER_MODE_SUBMISSION;
	}
}

static void query_fence_caps(struct vfence_adapter *adapter, struct drm_vfence_fence_caps *info)
{
	const struct vgpu_fence_caps *caps = vfence_fence_caps(adapter);

	if (!adapter->native_fence)
		return;
	info->flags = DRM_VFENCE_CAP_NATIVE_FENCE;
	if (caps->map_to_system)
		info->flags |= DRM_VFENCE_CAP_MAP_TO_SYSTEM;
	if (adapter->optimized)
		info->flags |= DRM_VFENCE_CAP_OPTIMIZED_INTERRUPT;
	if (adapter->config.optimized_fences)
		info->flags |= DRM_VFENCE_CAP_OPTIMIZED;
	if (adapter->config.intra_gpu_fences)
		info->flags |= DRM_VFENCE_CAP_INTRA_GPU;
	info->stride = caps->stride;
	info->minimum_address = caps->minimum_address;
	info->maximum_address = caps->maximum_address;
}

/* Return the size of the answer. @to may be NULL. */
static size_t query_limits(struct vfence_file *file, struct drm_vfence_limit *to)
{
	const struct {
		u32 id;
		u64 limit;
		u64 used;
	} limits[] = {
		{ DRM_VFENCE_LIMIT_DEVICES, file->devices.limit,
		  atomic_read(&file->devices.count) },
		{ DRM_VFENCE_LIMIT_CONTEXTS, file->contexts.limit,
		  atomic_read(&file->contexts.count) },
		{ DRM_VFENCE_LIMIT_QUEUES, file->queues.limit, atomic_read(&file->queues.count) },
		{ DRM_VFENCE_LIMIT_FENCES, file->fences.limit, atomic_read(&file->fences.count) },
		{ DRM_VFENCE_LIMIT_EVENTS, file->events.limit, atomic_read(&file->events.count) },
		{ DRM_VFENCE_LIMIT_EVENT_POINTS, VFENCE_MAX_EVENT_POINTS,
		  atomic_read(&file->event_points) },
		{ DRM_VFENCE_LIMIT_RESTARTS, file->restarts.limit,
		  atomic_read(&file->restarts.count) },
		{ DRM_VFENCE_LIMIT_RESTART_POINTS, VFENCE_MAX_RESTART_POINTS,
		  atomic_read(&file->restart_points) },
		{ DRM_VFENCE_LIMIT_IMPORTS, file->imports.limit,
		  atomic_read(&file->imports.count) },
		{ DRM_VFENCE_LIMIT_MAPPINGS, VFENCE_MAX_MAPPINGS, READ_ONCE(file->mapping_count) },
		{ DRM_VFENCE_LIMIT_SUBMIT_POINTS, VFENCE_MAX_SUBMIT_POINTS,
		  atomic_read(&file->submit_points) },
		{ DRM_VFENCE_LIMIT_WAIT_SETS, VFENCE_MAX_WAIT_SETS,
		  atomic_read(&file->wait_sets.count) },
		{ DRM_VFENCE_LIMIT_WAIT_SET_ENTRIES, VFENCE_MAX_WAIT_SET_ENTRIES,
		  atomic_read(&file->wait_set_entries) },
		{ DRM_VFENCE_LIMIT_USER_MEMORY, vfence_account_memory_limit(file->account),
		  vfence_account_memory(file->account) },
	};
	unsigned int i;

	for (i = 0; to && i < ARRAY_SIZE(limits); i++)
		to[i] = (struct drm_vfence_limit){
			.id = limits[i].id, .limit = limits[i].limit, .used = limits[i].used,
		};
	return ARRAY_SIZE(limits) * sizeof(*to);
}

static size_t query_answer(struct vfence_file *file, u32 type, void *to)
{
	struct vfence_adapter *adapter = file->adapter;
	struct drm_vfence_clock_info *clock = to;

	switch (type) {
	case DRM_VFENCE_QUERY_ADAPTER:
		if (to)
			query_adapter_info(adapter, to);
		return sizeof(struct drm_vfence_adapter_info);
	case DRM_VFENCE_QUERY_NODES:
		if (to)
			query_node_infos(adapter, to);
		return adapter->config.gpu.nodes * sizeof(struct drm_vfence_node_info);
	case DRM_VFENCE_QUERY_CLOCK:
		if (to) {
			clock->frequency_hz = VGPU_CLOCK_HZ;
			vgpu_clock_query(adapter->gpu, &clock->gpu_ticks, &clock->cpu_ns);
			clock->cpu_ns += vfence_clock_offset();
		}
		return sizeof(*clock);
	case DRM_VFENCE_QUERY_FEATURES:
		return vfence_feature_query(&adapter->config, to);
	case DRM_VFENCE_QUERY_FENCE_CAPS:
		if (to)
			query_fence_caps(adapter, to);
		return sizeof(struct drm_vfence_fence_caps);
	case DRM_VFENCE_QUERY_COUNTER_VALUES:
		return vfence_counters_values(adapter, to);
	case DRM_VFENCE_QUERY_COUNTER_INFOS:
		return vfence_counters_infos(to);
	case DRM_VFENCE_QUERY_CLIENT_COUNTERS:
		return vfence_counters_client(file, to);
	case DRM_VFENCE_QUERY_LIMITS:
		return query_limits(file, to);
	default:
		return 0;
	}
}

/* Size of one element of the answer, which is an array or one structure. */
static size_t query_element(u32 type, size_t size)
{
	switch (type) {
	case DRM_VFENCE_QUERY_NODES:
		return sizeof(struct drm_vfence_node_info);
	case DRM_VFENCE_QUERY_FEATURES:
		return sizeof(struct drm_vfence_feature_info);
	case DRM_VFENCE_QUERY_COUNTER_VALUES:
	case DRM_VFENCE_QUERY_CLIENT_COUNTERS:
		return sizeof(struct drm_vfence_counter);
	case DRM_VFENCE_QUERY_COUNTER_INFOS:
		return sizeof(struct drm_vfence_counter_info);
	case DRM_VFENCE_QUERY_LIMITS:
		return sizeof(struct drm_vfence_limit);
	default:
		return size;
	}
}

/* Move the elements from the driver's distance to the client's: cut each, or add zeroes. */
static void *query_restride(const void *from, size_t size, size_t element, size_t stride)
{
	size_t i, count = size / element;
	void *to = kvzalloc(count * stride, GFP_KERNEL_ACCOUNT);

	for (i = 0; to && i < count; i++)
		memcpy(to + i * stride, from + i * element, min(element, stride));
	return to;
}

static int query_copy_out(const struct drm_vfence_query *args, const void *from, size_t size)
{
	void __user *to = u64_to_user_ptr(args->data);
	size_t n = min_t(size_t, args->size, size);

	if (copy_to_user(to, from, n) || clear_user(to + n, args->size - n))
		return -EFAULT;
	return 0;
}

int vfence_query_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_query *args = data;
	size_t element, stride, size = query_answer(file, args->type, NULL);
	void *buffer, *answer;
	int ret;

	if (vfence_reject(drm, !size) || vfence_reject(drm, args->data && args->size > QUERY_MAX))
		return -EINVAL;
	if (vfence_reject(drm, args->pad) ||
	    vfence_reject(drm, args->stride && !vfence_obj_array_stride_valid(args->stride)))
		return -EINVAL;

	/* The adapter's counters show what the other clients do. */
	if (vfence_reject(drm, args->type == DRM_VFENCE_QUERY_COUNTER_VALUES &&
			  !perfmon_capable()))
		return -EACCES;

	element = query_element(args->type, size);
	stride = args->stride ? args->stride : element;
	if (!args->data) {
		args->size = size / element * stride;
		return 0;
	}

	buffer = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return -ENOMEM;
	query_answer(file, args->type, buffer);

	answer = query_restride(buffer, size, element, stride);
	size = size / element * stride;
	ret = answer ? query_copy_out(args, answer, size) : -ENOMEM;
	kvfree(answer);
	kfree(buffer);
	if (!ret)
		args->size = size;
	return ret;
}
