// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs of native fences, the side of the producer.
 *
 * An entry is a posted write: the index includes it before it is in the buffer. It reaches
 * the buffer later, at the latest when the driver commits it (WDDM-92). For that reason the
 * engine needs one barrier for a signal instead of two (WDDM-91).
 */

#include <linux/minmax.h>
#include <linux/mm.h>

#include "vgpu_trace.h"
#include "vgpu_types.h"

void vgpu_log_init(struct vgpu_log *log)
{
	spin_lock_init(&log->lock);
}

static void log_restart_count_locked(struct vgpu_log *log)
{
	lockdep_assert_held(&log->lock);
	log->client_entries = log->switch_entries;
	log->client_next = 0;
	log->switching = false;
}

/* If the client changed its count at or before ring pointer @at, change it here, too. */
static void log_pass_switch_locked(struct vgpu_log *log, u64 at)
{
	lockdep_assert_held(&log->lock);
	if (log->switching && (s64)(at - log->switch_at) >= 0)
		log_restart_count_locked(log);
}

/* The queue gets a new ring: all packets in the old ring are executed or dropped. */
void vgpu_log_new_ring(struct vgpu_log *log)
{
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	if (log->switching)
		log_restart_count_locked(log);
	spin_unlock_irqrestore(&log->lock, flags);
}

static void log_commit_locked(struct vgpu_log *log)
{
	struct drm_vfence_log_entry *entries = (void *)(log->header + 1);
	unsigned int i;

	lockdep_assert_held(&log->lock);
	for (i = 0; i < log->posted_count; i++)
		entries[log->posted_at[i]] = log->posted[i];
	log->posted_count = 0;
}

/*
 * Post one entry, then store the index (WDDM-89). The driver may read the word at any time, so
 * one store changes index and wrap count.
 */
static void log_post_locked(struct vgpu_log *log, const struct drm_vfence_log_entry *entry)
{
	u64 next = vfence_log_advance(log->word, log->header->number_of_entries);

	lockdep_assert_held(&log->lock);
	if (log->posted_count == VGPU_LOG_POSTED)
		log_commit_locked(log);
	log->posted[log->posted_count] = *entry;
	log->posted_at[log->posted_count++] = vfence_log_index(log->word);
	log->word = next;
	/* Release: the entry. Partner: log_position()'s acquire. */
	smp_store_release((u64 *)log->header, next);
}

static struct drm_vfence_log_entry log_entry_locked(const struct vgpu_log *log, u32 index)
{
	const struct drm_vfence_log_entry *entries = (void *)(log->header + 1);
	unsigned int i;

	lockdep_assert_held(&log->lock);
	for (i = log->posted_count; i > 0; i--)
		if (log->posted_at[i - 1] == index)
			return log->posted[i - 1];
	return entries[index];
}

/*
 * Copy the last entries, the oldest one first, also those that are not in the buffer yet. Returns
 * how many.
 */
unsigned int vgpu_log_collect(struct vgpu_log *log, struct drm_vfence_log_entry *entry,
			      unsigned int max)
{
	unsigned int i, count = 0;
	unsigned long flags;
	u32 size, next;

	spin_lock_irqsave(&log->lock, flags);
	if (log->header) {
		size = log->header->number_of_entries;
		next = vfence_log_index(log->word);
		count = min3((u64)max, (u64)size, vfence_log_position(log->word, size));
		for (i = 0; i < count; i++)
			entry[i] = log_entry_locked(log, (next + size - count + i) % size);
	}
	spin_unlock_irqrestore(&log->lock, flags);
	return count;
}

/* Return true if the LOG packet at ring pointer @at names the next entry. */
static bool log_count_matches_locked(struct vgpu_log *log,
				     const struct drm_vfence_packet_log *packet, u64 at)
{
	lockdep_assert_held(&log->lock);
	log_pass_switch_locked(log, at);
	if (packet->index != log->client_next)
		return false;
	if (++log->client_next == log->client_entries)
		log->client_next = 0;
	return true;
}

/* The queue gets on or off its list. */
static void log_count_wanted_locked(struct vgpu_queue *queue, int change)
{
	struct vgpu *gpu = queue->gpu;

	lockdep_assert_held(&gpu->logged_lock);
	if (queue->log_wanted)
		WRITE_ONCE(gpu->logged_wanted, gpu->logged_wanted + change);
}

/*
 * Report that the queue has entries that the driver has not read. The index was stored before:
 * a driver that takes the queue off the list afterwards finds the entry, and a driver that has
 * taken it off before finds the queue on the list again.
 */
static void log_note(struct vgpu_queue *queue)
{
	struct vgpu *gpu = queue->gpu;
	unsigned long flags;

	spin_lock_irqsave(&gpu->logged_lock, flags);
	if (list_empty(&queue->logged_link)) {
		list_add_tail(&queue->logged_link, &queue->node->logged);
		log_count_wanted_locked(queue, 1);
	}
	spin_unlock_irqrestore(&gpu->logged_lock, flags);
}

void vgpu_log_want(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->logged_lock, flags);
	if (!queue->log_wanted) {
		queue->log_wanted = true;
		if (!list_empty(&queue->logged_link))
			log_count_wanted_locked(queue, 1);
	}
	spin_unlock_irqrestore(&queue->gpu->logged_lock, flags);
}

bool vgpu_log_has_wanted(struct vgpu *gpu)
{
	return READ_ONCE(gpu->logged_wanted);
}

static void log_take_locked(struct vgpu_queue *queue)
{
	lockdep_assert_held(&queue->gpu->logged_lock);
	if (list_empty(&queue->logged_link))
		return;
	list_del_init(&queue->logged_link);
	log_count_wanted_locked(queue, -1);
}

/* The queue is stopped and will be freed. */
void vgpu_log_forget(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->logged_lock, flags);
	log_take_locked(queue);
	spin_unlock_irqrestore(&queue->gpu->logged_lock, flags);
}

static u32 log_take_one(struct vgpu *gpu, struct vgpu_node *node)
{
	struct vgpu_queue *queue;
	unsigned long flags;
	u32 handle = 0;

	spin_lock_irqsave(&gpu->logged_lock, flags);
	queue = list_first_entry_or_null(&node->logged, struct vgpu_queue, logged_link);
	if (queue) {
		log_take_locked(queue);
		handle = queue->os_handle;
	}
	spin_unlock_irqrestore(&gpu->logged_lock, flags);

	return handle;
}

unsigned int vgpu_log_take_logged(struct vgpu *gpu, u32 nodes, u32 *handle, unsigned int max)
{
	unsigned int i, n = 0;

	for (i = 0; i < gpu->config.nodes; i++)
		while (nodes & BIT(i) && n < max && (handle[n] = log_take_one(gpu, &gpu->node[i])))
			n++;
	return n;
}

static void log_fill_entry(struct vgpu_queue *queue, const struct drm_vfence_packet_log *packet,
			   struct drm_vfence_log_entry *entry)
{
	*entry = (struct drm_vfence_log_entry) {
		.fence_value = packet->value,
		.fence = packet->fence,
		.operation = packet->operation,
	};

	switch (packet->operation) {
	case DRM_VFENCE_LOG_WAIT_UNBLOCKED:
		entry->observed_gpu_timestamp = queue->wait_observed;
		entry->end_gpu_timestamp = queue->wait_end;
		break;
	case DRM_VFENCE_LOG_SIGNAL_EXECUTED:
		entry->end_gpu_timestamp = queue->signal_end;
		break;
	default:
		entry->end_gpu_timestamp = vgpu_clock_now(queue->gpu);
	}
}

/* Execute the LOG packet at queue->read_ptr. */
enum drm_vfence_fault vgpu_log_write(struct vgpu_queue *queue,
				     const struct drm_vfence_packet_log *packet)
{
	struct vgpu_log *log = &queue->log[packet->operation != DRM_VFENCE_LOG_WAIT_UNBLOCKED];
	bool marker = packet->operation == DRM_VFENCE_LOG_MARKER;
	enum drm_vfence_fault fault = DRM_VFENCE_FAULT_LOG;
	struct drm_vfence_log_entry entry;
	unsigned long flags;

	/* Otherwise the compiler computes the address of the log for each access. */
	OPTIMIZER_HIDE_VAR(log);
	log_fill_entry(queue, packet, &entry);

	spin_lock_irqsave(&log->lock, flags);
	if (log->header && packet->log_va == log->va &&
	    log_count_matches_locked(log, packet, queue->read_ptr)) {
		fault = DRM_VFENCE_FAULT_NONE;
		if (!marker || READ_ONCE(queue->gpu->logging_level)) {
			trace_vgpu_log(queue, &entry);
			log_post_locked(log, &entry);
			log_note(queue);
			WRITE_ONCE(queue->log_packets, queue->log_packets + 1);
			if (marker)
				queue->marker_end = entry.end_gpu_timestamp;
		}
	}

	spin_unlock_irqrestore(&log->lock, flags);

	if (marker && !fault && READ_ONCE(queue->gpu->logging_level))
		atomic64_inc(&queue->gpu->log_markers);
	return fault;
}

void vgpu_log_set_buffer(struct vgpu_queue *queue, enum drm_vfence_log_type type,
			 struct drm_vfence_log_header *header, u64 log_va)
{
	struct vgpu_log *log = &queue->log[type == DRM_VFENCE_LOG_SIGNALS];
	unsigned long flags;

	spin_lock_irqsave(&log->lock, flags);
	if (!log->header)
		log->client_entries = header->number_of_entries;
	else
		log_commit_locked(log);
	log->header = header;
	log->va = log_va;
	log->word = 0;
	spin_unlock_irqrestore(&log->lock, flags);

	atomic64_inc(&queue->gpu->log_buffers_set);
}

void vgpu_log_commit(struct vgpu *gpu, struct vgpu_queue **queue, unsigned int count)
{
	unsigned int i, k;
	unsigned long flags;

	atomic64_inc(&gpu->log_flushes);
	atomic64_add(count, &gpu->log_queues_flushed);

	for (i = 0; i < count; i++) {
		for (k = 0; k < ARRAY_SIZE(queue[i]->log); k++) {
			struct vgpu_log *log = &queue[i]->log[k];

			spin_lock_irqsave(&log->lock, flags);
			log_commit_locked(log);
			spin_unlock_irqrestore(&log->lock, flags);
		}
	}
}

void vgpu_log_set_level(struct vgpu *gpu, enum drm_vfence_logging_level level)
{
	WRITE_ONCE(gpu->logging_level, level);
}

static bool log_size_differs_locked(struct vgpu_log *log)
{
	lockdep_assert_held(&log->lock);
	return !log->switching && log->client_entries != log->header->number_of_entries;
}

/*
 * Packets that are published already use the old count, and later packets use the new one. If
 * the engine has not reached an earlier switch yet, do not switch again: the client gets the
 * newest geometry at its next connect.
 */
static void log_get_geometry_locked(struct vgpu_log *log, bool take, u64 at, u32 *entries,
				    bool *restart)
{
	lockdep_assert_held(&log->lock);
	if (take && log_size_differs_locked(log)) {
		log->switching = true;
		log->switch_at = at;
		log->switch_entries = log->header->number_of_entries;
		*restart = true;
	}
	*entries = log->switching ? log->switch_entries : log->client_entries;
}

void vgpu_log_get_geometry(struct vgpu_queue *queue, bool take, struct vgpu_log_geometry *geometry)
{
	/* Switch both logs at one place in the ring, or none. */
	struct vgpu_log *waits = &queue->log[0], *signals = &queue->log[1];
	u64 at = READ_ONCE(queue->control->write_ptr);
	unsigned long flags;

	geometry->restart = false;

	spin_lock_irqsave(&waits->lock, flags);
	spin_lock_nested(&signals->lock, SINGLE_DEPTH_NESTING);
	/* The engine may have passed an earlier switch without a LOG packet. */
	log_pass_switch_locked(waits, READ_ONCE(queue->read_ptr));
	log_pass_switch_locked(signals, READ_ONCE(queue->read_ptr));
	take = take && log_size_differs_locked(waits) && log_size_differs_locked(signals);
	log_get_geometry_locked(waits, take, at, &geometry->entries[0], &geometry->restart);
	log_get_geometry_locked(signals, take, at, &geometry->entries[1], &geometry->restart);
	spin_unlock(&signals->lock);
	spin_unlock_irqrestore(&waits->lock, flags);
}
