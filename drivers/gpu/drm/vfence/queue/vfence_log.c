// SPDX-License-Identifier: GPL-2.0
/*
 * Native fence logs, the reader's side: by interrupt and on demand.
 */

#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "fence/vfence_fence.h"
#include "vfence_queue.h"
#include "vfence_trace.h"

#define ENTRIES \
	((DRM_VFENCE_LOG_SIZE - sizeof(struct drm_vfence_log_header)) / \
	 sizeof(struct drm_vfence_log_entry))

/** vfence_log_setup - make the logs of a new queue safe to look at */
void vfence_log_setup(struct vfence_queue *queue)
{
	mutex_init(&queue->log[0].lock);
	mutex_init(&queue->log[1].lock);
}

static int alloc_log(struct vfence_log *log, enum drm_vfence_log_type type)
{
	log->kept = kvcalloc(VFENCE_LOG_KEPT, sizeof(*log->kept), GFP_KERNEL_ACCOUNT);
	log->header = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!log->kept || !log->header)
		return -ENOMEM;
	log->header->type = type;
	log->header->number_of_entries = ENTRIES;
	return 0;
}

/*
 * One page, mapped for the GPU without rights: only LOG packets write it, and
 * user space never sees it (WDDM-81, -98, -99).
 */
static int create_log(struct vfence_queue *queue, enum drm_vfence_log_type type)
{
	struct vfence_log *log = vfence_queue_log(queue, type);
	int ret;

	BUILD_BUG_ON(DRM_VFENCE_LOG_SIZE > PAGE_SIZE);
	ret = alloc_log(log, type);
	if (ret)
		return ret;
	ret = vfence_file_reserve_va(queue->file, &log->node, PAGE_SIZE, 0, 0);
	if (ret)
		return ret;
	ret = vgpu_vm_map(queue->file->vm, log->node.start, log->header, PAGE_SIZE, 0);
	if (ret) {
		drm_mm_remove_node(&log->node);
		return ret;
	}
	vgpu_set_log_buffer(queue->hw, type, log->header, log->node.start);
	return 0;
}

/**
 * vfence_log_create - allocate both logs and hand them to the hardware
 * @queue: the queue, its file locked
 *
 * Return: 0 or an error, after which vfence_log_free() is still due.
 */
int vfence_log_create(struct vfence_queue *queue)
{
	int ret = create_log(queue, DRM_VFENCE_LOG_WAITS);

	if (!ret)
		ret = create_log(queue, DRM_VFENCE_LOG_SIGNALS);
	if (ret)
		vfence_log_unmap(queue);
	return ret;
}

/** vfence_log_unmap - give the GPU addresses back; nothing runs any more */
void vfence_log_unmap(struct vfence_queue *queue)
{
	unsigned int i;

	lockdep_assert_held(&queue->file->lock);
	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		if (!drm_mm_node_allocated(&queue->log[i].node))
			continue;
		vgpu_vm_unmap(queue->file->vm, queue->log[i].node.start, PAGE_SIZE);
		drm_mm_remove_node(&queue->log[i].node);
	}
}

/** vfence_log_free - free the memory of both logs; nobody looks any more */
void vfence_log_free(struct vfence_queue *queue)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		free_page((unsigned long)queue->log[i].header);
		kvfree(queue->log[i].kept);
		mutex_destroy(&queue->log[i].lock);
	}
}

static u64 position(struct vfence_log *log)
{
	/* Acquire: entries below. Partner: vgpu_log_write(). */
	return vfence_log_position(smp_load_acquire((u64 *)log->header), ENTRIES);
}

static void keep_locked(struct vfence_log *log, const struct drm_vfence_log_entry *entry)
{
	if (log->put - log->fetched == VFENCE_LOG_KEPT) {
		log->fetched++;
		log->dropped++;
	}
	log->kept[log->put++ % VFENCE_LOG_KEPT] = *entry;
}

static void trace_entry(struct vfence_queue *queue, const struct drm_vfence_log_entry *entry)
{
	if (entry->operation == DRM_VFENCE_LOG_SIGNAL_EXECUTED)
		trace_vfence_signal_executed(queue->global, entry->fence, entry->fence_value,
					     entry->end_gpu_timestamp);
	else
		trace_vfence_wait_unblocked(queue->global, entry->fence, entry->fence_value,
					    entry->observed_gpu_timestamp,
					    entry->end_gpu_timestamp);
}

/*
 * Copy the entry at position @at. False if the GPU may have written over it
 * meanwhile: it writes the entry at its position before it moves on, so the
 * copy is good only if the position is still less than a full turn ahead.
 */
static bool copy_locked(struct vfence_log *log, u64 at, struct drm_vfence_log_entry *entry)
{
	struct drm_vfence_log_entry *entries = (void *)(log->header + 1);
	u32 index;

	div_u64_rem(at, ENTRIES, &index);
	index = array_index_nospec(index, ENTRIES);
	memcpy(entry, (void *)&entries[index], sizeof(*entry));
	/* The copy before the second look. Partner: the release of the index. */
	smp_rmb();
	return position(log) < at + ENTRIES;
}

static void read_locked(struct vfence_queue *queue, struct vfence_log *log)
{
	u64 end = position(log);
	u64 lost = 0, taken = 0;

	lockdep_assert_held(&log->lock);
	if (log->read == end)
		return;
	/* Commit the entries below the index just read (WDDM-92). */
	vgpu_update_logs(&queue->hw, 1);
	if (end - log->read > ENTRIES) {
		lost = end - log->read - ENTRIES;
		log->read = end - ENTRIES;
	}
	for (; log->read < end; log->read++) {
		struct drm_vfence_log_entry entry;

		if (!copy_locked(log, log->read, &entry)) {
			lost++;
			continue;
		}
		taken++;
		keep_locked(log, &entry);
		trace_entry(queue, &entry);
	}
	log->taken += taken;
	log->lost += lost;
	vfence_count_add(queue->adapter, VFENCE_COUNT_LOG_READ, taken);
	vfence_count_add(queue->adapter, VFENCE_COUNT_LOG_LOST, lost);
}

/** vfence_log_read - read both logs of a queue up to now */
void vfence_log_read(struct vfence_queue *queue)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		struct vfence_log *log = &queue->log[i];

		mutex_lock(&log->lock);
		read_locked(queue, log);
		mutex_unlock(&log->lock);
	}
}

static void read_one(struct vfence_queue *queue, void *unused)
{
	vfence_log_read(queue);
}

/** vfence_log_read_all - read the logs of all queues: after an interrupt */
void vfence_log_read_all(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, read_one, NULL);
}

/** vfence_log_unread - entries of a queue not read yet, nor lost */
u64 vfence_log_unread(struct vfence_queue *queue)
{
	u64 unread = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		struct vfence_log *log = &queue->log[i];

		mutex_lock(&log->lock);
		unread += position(log) - log->read;
		mutex_unlock(&log->lock);
	}
	return unread;
}

/* Copy to @out what the owner has not fetched, up to @max entries. */
static u32 fetch_locked(struct vfence_log *log, struct drm_vfence_log_entry *out, u32 max)
{
	u32 n = min_t(u64, max, log->put - log->fetched);
	u32 i;

	lockdep_assert_held(&log->lock);
	for (i = 0; i < n; i++)
		out[i] = log->kept[log->fetched++ % VFENCE_LOG_KEPT];
	return n;
}

/** vfence_log_query - entries read and lost of both logs together */
void vfence_log_query(struct vfence_queue *queue, u64 *taken, u64 *lost)
{
	unsigned int i;

	*taken = 0;
	*lost = 0;
	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		mutex_lock(&queue->log[i].lock);
		*taken += queue->log[i].taken;
		*lost += queue->log[i].lost;
		mutex_unlock(&queue->log[i].lock);
	}
}

static int put_entries(const struct drm_vfence_obj_array *out,
		       const struct drm_vfence_log_entry *entries, u32 count)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < count; i++)
		ret = vfence_uobj_put(out, i, &entries[i], sizeof(entries[i]));
	return ret;
}

/*
 * Take entries, hand them out, and put them back if that fails: without the lock
 * over the copy, as the interrupt's thread takes it, too.
 */
static int hand_out(struct vfence_log *log, struct drm_vfence_log_read *args,
		    struct drm_vfence_log_entry *entries)
{
	u64 before, after, lost, dropped;
	u32 count;
	int ret;

	mutex_lock(&log->lock);
	before = log->fetched;
	count = fetch_locked(log, entries, args->entries.count);
	after = log->fetched;
	lost = log->lost;
	dropped = log->dropped;
	mutex_unlock(&log->lock);
	ret = put_entries(&args->entries, entries, count);
	if (!ret) {
		args->returned = count;
		args->lost = lost;
		args->dropped = dropped;
		return 0;
	}
	mutex_lock(&log->lock);
	/* Their places may have been taken meanwhile: then they are dropped. */
	if (log->fetched == after && log->put - before <= VFENCE_LOG_KEPT)
		log->fetched = before;
	else
		log->dropped += count;
	mutex_unlock(&log->lock);
	return ret;
}

int vfence_log_read_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_log_read *args = data;
	struct drm_vfence_log_entry *entries;
	struct vfence_queue *queue;
	int ret = -ENOMEM;

	if (vfence_reject(drm, args->pad) ||
	    vfence_reject(drm, args->log != DRM_VFENCE_LOG_WAITS &&
			  args->log != DRM_VFENCE_LOG_SIGNALS) ||
	    vfence_reject(drm, args->entries.count > VFENCE_LOG_KEPT ||
			  args->entries.stride < sizeof(*entries) ||
			  args->entries.stride > PAGE_SIZE || args->entries.stride % 8))
		return -EINVAL;
	queue = vfence_queue_lookup(file, args->queue);
	if (!queue)
		return -ENOENT;
	entries = kvmalloc_array(args->entries.count ?: 1, sizeof(*entries), GFP_KERNEL_ACCOUNT);
	if (entries) {
		vfence_log_read(queue);
		ret = hand_out(vfence_queue_log(queue, args->log), args, entries);
		kvfree(entries);
	}
	vfence_queue_put(queue);
	return ret;
}
