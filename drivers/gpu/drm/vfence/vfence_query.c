// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries: the properties of an adapter, the limits and the objects of a client.
 */

#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "core/vfence_account.h"
#include "core/vfence_clock.h"
#include "core/vfence_device.h"
#include "core/vfence_file_types.h"
#include "core/vfence_gate.h"
#include "core/vfence_user_array.h"
#include "fence/vfence_fence_handle.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_ioctl.h"
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

static void query_node_infos(struct vfence_adapter *adapter, struct drm_vfence_node_info *info)
{
	unsigned int i;

	for (i = 0; i < adapter->config.gpu.nodes; i++) {
		info[i].class_id = adapter->config.gpu.node_class[i];
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

/* Fill in the limits of a file, and how much of each it uses, if @to is not NULL. */
static unsigned int query_limits(struct vfence_file *file, struct drm_vfence_limit *to)
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
	return ARRAY_SIZE(limits);
}

static int query_adapter(struct vfence_file *file, u32 handle, void *to)
{
	query_adapter_info(file->adapter, to);
	return 0;
}

static unsigned int query_node_count(struct vfence_file *file)
{
	return file->adapter->config.gpu.nodes;
}

static int query_nodes(struct vfence_file *file, u32 handle, void *to)
{
	query_node_infos(file->adapter, to);
	return 0;
}

static int query_clock(struct vfence_file *file, u32 handle, void *to)
{
	struct drm_vfence_clock_info *clock = to;

	clock->frequency_hz = VGPU_CLOCK_HZ;
	vgpu_clock_query(file->adapter->gpu, &clock->gpu_ticks, &clock->cpu_ns);
	clock->cpu_ns += vfence_clock_offset();
	return 0;
}

static unsigned int query_feature_count(struct vfence_file *file)
{
	return vfence_feature_query(&file->adapter->config, NULL);
}

static int query_features(struct vfence_file *file, u32 handle, void *to)
{
	vfence_feature_query(&file->adapter->config, to);
	return 0;
}

static int query_caps(struct vfence_file *file, u32 handle, void *to)
{
	query_fence_caps(file->adapter, to);
	return 0;
}

static unsigned int query_limit_count(struct vfence_file *file)
{
	return query_limits(file, NULL);
}

static int query_limit_array(struct vfence_file *file, u32 handle, void *to)
{
	query_limits(file, to);
	return 0;
}

static int query_device(struct vfence_file *file, u32 handle, void *to)
{
	return vfence_device_query(file, handle, to);
}

static int query_context(struct vfence_file *file, u32 handle, void *to)
{
	return vfence_queue_query_context(file, handle, to);
}

static int query_queue(struct vfence_file *file, u32 handle, void *to)
{
	return vfence_queue_query(file, handle, to);
}

static int query_fence(struct vfence_file *file, u32 handle, void *to)
{
	return vfence_fence_handle_query(file, handle, to);
}

/**
 * struct query_kind - how a query is answered
 */
struct query_kind {
	/** @answer: write the answer to zeroed room */
	int (*answer)(struct vfence_file *file, u32 handle, void *to);
	/** @count: number of elements of an answer that is an array; else NULL */
	unsigned int (*count)(struct vfence_file *file);
	/** @size: size of the answer, or of one element, in bytes */
	size_t size;
	/** @of_object: true if the query is for an object, which has a handle */
	bool of_object;
};

#define QUERY_ONE(_answer, type)						\
	{ .answer = (_answer), .size = sizeof(struct drm_vfence_##type) }
#define QUERY_ARRAY(_answer, _count, type)					\
	{ .answer = (_answer), .count = (_count), .size = sizeof(struct drm_vfence_##type) }
#define QUERY_OBJECT(_answer, type)						\
	{ .answer = (_answer), .size = sizeof(struct drm_vfence_##type), .of_object = true }

static const struct query_kind query_kinds[] = {
	[DRM_VFENCE_QUERY_ADAPTER] = QUERY_ONE(query_adapter, adapter_info),
	[DRM_VFENCE_QUERY_NODES] = QUERY_ARRAY(query_nodes, query_node_count, node_info),
	[DRM_VFENCE_QUERY_CLOCK] = QUERY_ONE(query_clock, clock_info),
	[DRM_VFENCE_QUERY_FEATURES] =
		QUERY_ARRAY(query_features, query_feature_count, feature_info),
	[DRM_VFENCE_QUERY_FENCE_CAPS] = QUERY_ONE(query_caps, fence_caps),
	[DRM_VFENCE_QUERY_LIMITS] = QUERY_ARRAY(query_limit_array, query_limit_count, limit),
	[DRM_VFENCE_QUERY_DEVICE] = QUERY_OBJECT(query_device, device_info),
	[DRM_VFENCE_QUERY_CONTEXT] = QUERY_OBJECT(query_context, context_info),
	[DRM_VFENCE_QUERY_QUEUE] = QUERY_OBJECT(query_queue, queue_info),
	[DRM_VFENCE_QUERY_FENCE] = QUERY_OBJECT(query_fence, fence_info),
};

/* An object may be destroyed, and its hardware reset, unless the gate is passed. */
static int query_answer(struct vfence_file *file, const struct query_kind *kind, u32 handle,
			void *to)
{
	struct vfence_adapter *adapter = file->adapter;
	struct vfence_gate_pass pass;
	int ret;

	if (!kind->of_object)
		return kind->answer(file, handle, to);

	ret = vfence_hw_enter(adapter, &pass);
	if (ret)
		return ret;
	ret = kind->answer(file, handle, to);
	vfence_hw_exit(adapter, &pass);
	return ret;
}

/* Move the elements from the driver's distance to the client's: cut each, or add zeroes. */
static void *query_restride(const void *from, size_t count, size_t element, size_t stride)
{
	void *to = kvzalloc(count * stride, GFP_KERNEL_ACCOUNT);
	size_t i;

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

static const struct query_kind *query_find_kind(struct drm_device *drm,
						const struct drm_vfence_query *args)
{
	const struct query_kind *kind;

	if (vfence_reject(drm, args->type >= ARRAY_SIZE(query_kinds)))
		return NULL;
	kind = &query_kinds[array_index_nospec(args->type, ARRAY_SIZE(query_kinds))];

	if (vfence_reject(drm, args->handle && !kind->of_object) ||
	    vfence_reject(drm, args->data && args->size > QUERY_MAX) ||
	    vfence_reject(drm, args->stride && !vfence_user_array_stride_valid(args->stride)))
		return NULL;
	return kind;
}

int vfence_query_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_query *args = data;
	const struct query_kind *kind = query_find_kind(drm, args);
	void *buffer, *answer = NULL;
	size_t count, stride;
	int ret;

	if (!kind)
		return -EINVAL;
	count = kind->count ? kind->count(file) : 1;
	stride = args->stride ? args->stride : kind->size;

	buffer = kcalloc(count, kind->size, GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return -ENOMEM;
	ret = query_answer(file, kind, args->handle, buffer);

	if (!ret && args->data) {
		answer = query_restride(buffer, count, kind->size, stride);
		ret = answer ? query_copy_out(args, answer, count * stride) : -ENOMEM;
	}
	kvfree(answer);
	kfree(buffer);
	if (!ret)
		args->size = count * stride;
	return ret;
}
