// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries: the properties and the counters of an adapter.
 */

#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "core/vfence_adapter.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_queue.h"
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
		vgpu_engine_query_node(adapter->gpu, i, &info[i]);
		info[i].flags = adapter->user_mode_submission &&
				adapter->config.user_nodes & BIT(i) ?
				DRM_VFENCE_NODE_USER_MODE_SUBMISSION : 0;
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

static void query_add_unread(struct vfence_queue *queue, void *arg)
{
	*(u64 *)arg += vfence_log_unread(queue);
}

static u64 query_count(struct vfence_adapter *adapter, enum vfence_count what)
{
	return atomic64_read(&adapter->counts[what]);
}

static void query_hw_counters(struct vfence_adapter *adapter, struct drm_vfence_counters *c)
{
	struct drm_vfence_node_info info;
	struct vgpu_counters cmp;
	unsigned int i;

	for (i = 0; i < adapter->config.gpu.nodes; i++) {
		vgpu_engine_query_node(adapter->gpu, i, &info);
		c->signals += info.signals;
		c->suppressed += info.suppressed;
		c->log_packets += info.log_packets;
	}
	vgpu_cmp_query_counters(adapter->gpu, &cmp);
	c->posts = cmp.posts;
	c->cmp_rechecked_out = cmp.rechecked_out;
	c->cmp_recorded = cmp.recorded;
	c->cmp_overflowed = cmp.overflowed;
	c->monitored_updates = cmp.monitored_updates;
	c->monitored_updates_irq = cmp.monitored_updates_irq;
	c->shadow_posts = cmp.shadow_posts;
	c->log_buffers_set = cmp.log_buffers_set;
	c->log_flushes = cmp.log_flushes;
	c->log_queues_flushed = cmp.log_queues_flushed;
	c->log_markers = cmp.log_markers;
	c->records_array = query_count(adapter, VFENCE_COUNT_RECORDS_ARRAY);
	c->records_null = query_count(adapter, VFENCE_COUNT_RECORDS_NULL);
	c->records_queue = query_count(adapter, VFENCE_COUNT_RECORDS_QUEUE);
	c->records_queue_null = query_count(adapter, VFENCE_COUNT_RECORDS_QUEUE_NULL);
	c->log_scans = query_count(adapter, VFENCE_COUNT_LOG_SCANS);
	c->live_reads = query_count(adapter, VFENCE_COUNT_LIVE_READS);
	c->legacy_scans = query_count(adapter, VFENCE_COUNT_LEGACY_SCANS);
	c->f1_transitions = query_count(adapter, VFENCE_COUNT_F1);
	for (i = 0; i < adapter->config.gpu.nodes; i++)
		c->engines_in_f1 += vgpu_power_in_f1(adapter->gpu, i);
	c->d3_transitions = query_count(adapter, VFENCE_COUNT_D3);
	c->engine_resets = query_count(adapter, VFENCE_COUNT_ENGINE_RESETS);
	c->records_monitored = query_count(adapter, VFENCE_COUNT_RECORDS_MONITORED);
	c->submissions = query_count(adapter, VFENCE_COUNT_SUBMISSIONS);
	c->submissions_held = query_count(adapter, VFENCE_COUNT_SUBMISSIONS_HELD);
	c->submissions_done = query_count(adapter, VFENCE_COUNT_SUBMISSIONS_DONE);
	c->submissions_lost = query_count(adapter, VFENCE_COUNT_SUBMISSIONS_LOST);
	c->handler_ns = query_count(adapter, VFENCE_COUNT_HANDLER_NS);
	c->handler_max_ns = READ_ONCE(adapter->irq.handler_max_ns);
	c->submissions_timed_out = query_count(adapter, VFENCE_COUNT_SUBMISSIONS_TIMED_OUT);
}

static void query_counters(struct vfence_adapter *adapter, struct drm_vfence_counters *c)
{
	query_hw_counters(adapter, c);
	c->interrupts_raised = atomic64_read(&adapter->irq.vector.raised);
	c->interrupts_coalesced = atomic64_read(&adapter->irq.vector.coalesced);
	c->handler_runs = query_count(adapter, VFENCE_COUNT_HANDLER_RUNS);
	c->records_useful = query_count(adapter, VFENCE_COUNT_USEFUL);
	c->records_spurious = query_count(adapter, VFENCE_COUNT_SPURIOUS);
	c->scans = query_count(adapter, VFENCE_COUNT_SCANS);
	c->cpu_signals = query_count(adapter, VFENCE_COUNT_CPU_SIGNALS);
	c->waits_begun = query_count(adapter, VFENCE_COUNT_WAITS_BEGUN);
	c->waits_satisfied = query_count(adapter, VFENCE_COUNT_WAITS_SATISFIED);
	c->waits_timed_out = query_count(adapter, VFENCE_COUNT_WAITS_TIMED_OUT);
	c->waits_cancelled = query_count(adapter, VFENCE_COUNT_WAITS_CANCELLED);
	c->second_sample = query_count(adapter, VFENCE_COUNT_SECOND_SAMPLE);
	c->log_entries_read = query_count(adapter, VFENCE_COUNT_LOG_READ);
	c->log_entries_lost = query_count(adapter, VFENCE_COUNT_LOG_LOST);
	vfence_queue_for_each(adapter, query_add_unread, &c->log_entries_unread);
	c->ioctls = query_count(adapter, VFENCE_COUNT_IOCTLS);
	c->doorbell_faults = query_count(adapter, VFENCE_COUNT_DOORBELL_FAULTS);
	c->page_faults = query_count(adapter, VFENCE_COUNT_PAGE_FAULTS);
	c->fences_created = query_count(adapter, VFENCE_COUNT_FENCE_CREATED);
	c->fences_opened = query_count(adapter, VFENCE_COUNT_FENCE_OPENED);
	c->fences_closed = query_count(adapter, VFENCE_COUNT_FENCE_CLOSED);
	c->fences_destroyed = query_count(adapter, VFENCE_COUNT_FENCE_DESTROYED);
	c->queues = atomic_read(&adapter->queues.count);
	c->doorbells_connected = vfence_doorbell_connected(adapter);
	c->victimisations = query_count(adapter, VFENCE_COUNT_VICTIMISATIONS);
	mutex_lock(&adapter->mem.segment.lock);
	c->local_pages = adapter->mem.segment.pages;
	c->evictions = adapter->mem.segment.evictions;
	mutex_unlock(&adapter->mem.segment.lock);
}

static size_t query_answer(struct vfence_adapter *adapter, u32 type, void *to)
{
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
		}
		return sizeof(*clock);
	case DRM_VFENCE_QUERY_COUNTERS:
		if (to)
			query_counters(adapter, to);
		return sizeof(struct drm_vfence_counters);
	case DRM_VFENCE_QUERY_FEATURES:
		return vfence_feature_query(&adapter->config, to);
	case DRM_VFENCE_QUERY_FENCE_CAPS:
		if (to)
			query_fence_caps(adapter, to);
		return sizeof(struct drm_vfence_fence_caps);
	default:
		return 0;
	}
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
	struct vfence_adapter *adapter = to_vfence_adapter(drm);
	struct drm_vfence_query *args = data;
	size_t size = query_answer(adapter, args->type, NULL);
	void *buffer;
	int ret;

	if (vfence_reject(drm, !size) || vfence_reject(drm, args->data && args->size > QUERY_MAX))
		return -EINVAL;
	if (!args->data) {
		args->size = size;
		return 0;
	}
	buffer = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return -ENOMEM;
	query_answer(adapter, args->type, buffer);
	ret = query_copy_out(args, buffer, size);
	kfree(buffer);
	if (!ret)
		args->size = size;
	return ret;
}
