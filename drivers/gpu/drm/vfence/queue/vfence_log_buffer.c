// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of native fence logs: how they are made, and replaced when the logging level changes.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "mem/vfence_vm.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_log.h"
#include "queue/vfence_log_buffer.h"
#include "queue/vfence_queue.h"

static size_t log_buffer_size_of_level(u32 level)
{
	return level == DRM_VFENCE_LOGGING_ALL ? DRM_VFENCE_LOG_SIZE_VERBOSE : DRM_VFENCE_LOG_SIZE;
}

static struct drm_vfence_log_header *log_buffer_alloc(enum drm_vfence_log_type type, size_t size)
{
	struct drm_vfence_log_header *header;

	header = __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!header)
		return NULL;
	header->type = type;
	header->number_of_entries = (size - sizeof(*header)) /
				    sizeof(struct drm_vfence_log_entry);
	return header;
}

/* Give a buffer to the hardware. The GPU address of the log stays. */
static int log_buffer_set(struct vfence_queue *queue, struct vfence_log *log,
			  struct drm_vfence_log_header *header)
{
	int ret;

	/*
	 * Map only the first page of the buffer in the GPU address space, and without
	 * rights: only LOG packets write the buffer, and user space never sees it (WDDM-99).
	 */
	ret = vgpu_vm_map(log->owner->vm, log->node.start, header, PAGE_SIZE, 0);
	if (ret)
		return ret;
	vgpu_log_set_buffer(queue->hw, header->type, header, log->node.start);
	return 0;
}

static int log_buffer_create(struct vfence_queue *queue, enum drm_vfence_log_type type)
{
	size_t size = log_buffer_size_of_level(READ_ONCE(queue->adapter->queues.logging_level));
	struct vfence_log *log = vfence_queue_log(queue, type);
	int ret;

	BUILD_BUG_ON(DRM_VFENCE_LOG_SIZE > PAGE_SIZE);
	log->header = log_buffer_alloc(type, size);
	if (!log->header)
		return -ENOMEM;

	log->entries = log->header->number_of_entries;
	ret = vfence_vm_reserve(queue->file, &log->node, DRM_VFENCE_LOG_SIZE_VERBOSE, 0, 0);
	if (ret)
		return ret;

	log->owner = queue->file;
	ret = log_buffer_set(queue, log, log->header);
	if (ret)
		drm_mm_remove_node(&log->node);

	return ret;
}

/**
 * vfence_log_buffer_create - allocate both logs and give them to the hardware
 * @queue: the queue, its file locked
 *
 * Return: 0 or an error, after which the caller still calls vfence_log_free().
 */
int vfence_log_buffer_create(struct vfence_queue *queue)
{
	int ret = log_buffer_create(queue, DRM_VFENCE_LOG_WAITS);

	if (!ret)
		ret = log_buffer_create(queue, DRM_VFENCE_LOG_SIGNALS);
	if (ret)
		vfence_log_unmap(queue);
	return ret;
}

/** vfence_log_buffer_create_none - set up a queue without logs: its values are read live */
void vfence_log_buffer_create_none(struct vfence_queue *queue)
{
	vfence_queue_log(queue, DRM_VFENCE_LOG_SIGNALS)->owner = queue->file;
}

/*
 * Give the log @header instead of its buffer, and exchange the two. The owner may fetch the entries
 * of the old buffer later: they are kept in @kept, if no array was made before. Return: 0, also if
 * the log needs no other buffer, or an error; -EAGAIN if @kept must be made first.
 */
static int log_buffer_replace_locked(struct vfence_queue *queue, struct vfence_log *log,
				     struct drm_vfence_log_header **header,
			      struct drm_vfence_log_entry **kept)
{
	int ret;

	lockdep_assert_held(&log->lock);
	/* The queue has no logs, or is being destroyed, or the size stays. */
	if (!log->owner || !log->header || log->entries == (*header)->number_of_entries)
		return 0;
	if (!log->kept && !*kept)
		return -EAGAIN;
	ret = log_buffer_set(queue, log, *header);
	if (ret)
		return ret;

	vfence_log_read_locked(queue, log, vfence_log_first_free(log));
	if (!log->kept && log->put) {
		vfence_log_begin_to_keep_locked(log, *kept);
		*kept = NULL;
	}
	log->read = 0;
	log->entries = (*header)->number_of_entries;
	swap(log->header, *header);
	log->replaced++;
	return 0;
}

/*
 * Replace the buffer of a log. The hardware completes the old buffer and continues in the new
 * one; the driver reads the old one to its end (WDDM-97).
 */
static int log_buffer_replace(struct vfence_queue *queue, enum drm_vfence_log_type type,
			      size_t size)
{
	struct vfence_log *log = vfence_queue_log(queue, type);
	struct drm_vfence_log_header *header = log_buffer_alloc(type, size);
	struct drm_vfence_log_entry *kept = NULL;
	int ret = header ? -EAGAIN : -ENOMEM;

	while (ret == -EAGAIN) {
		mutex_lock(&log->lock);
		ret = log_buffer_replace_locked(queue, log, &header, &kept);
		mutex_unlock(&log->lock);
		if (ret == -EAGAIN) {
			kept = vfence_log_alloc_kept();
			ret = kept ? -EAGAIN : -ENOMEM;
		}
	}

	vfree(kept);
	vfree(header);
	return ret;
}

static void log_buffer_apply_level(struct vfence_queue *queue, void *arg)
{
	size_t size = log_buffer_size_of_level(queue->adapter->queues.logging_level);
	int *ret = arg;

	if (!*ret)
		*ret = log_buffer_replace(queue, DRM_VFENCE_LOG_WAITS, size);
	if (!*ret)
		*ret = log_buffer_replace(queue, DRM_VFENCE_LOG_SIGNALS, size);
	/* Disconnect even after a failure: the client reads the sizes that the logs have now. */
	vfence_doorbell_force_reconnect(queue);
}

/**
 * vfence_log_buffer_set_level - change how much is logged
 * @adapter: the adapter
 * @level: &enum drm_vfence_logging_level
 *
 * Replaces all logs by larger or smaller ones and disconnects all doorbells, so that clients
 * connect again and read the new sizes. Return: 0, -EINVAL or -ENOMEM.
 */
int vfence_log_buffer_set_level(struct vfence_adapter *adapter, u32 level)
{
	int ret = 0;

	if (level > DRM_VFENCE_LOGGING_ALL)
		return -EINVAL;
	mutex_lock(&adapter->queues.level_lock);
	WRITE_ONCE(adapter->queues.logging_level, level);
	vgpu_log_set_level(adapter->gpu, level);
	vfence_queue_for_each(adapter, log_buffer_apply_level, &ret);
	mutex_unlock(&adapter->queues.level_lock);
	return ret;
}
