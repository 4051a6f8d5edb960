// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native fence logs: the driver reads them on interrupts and on demand.
 */

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <drm/drm_file.h>

#include "core/vfence_user_array.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_propagate.h"
#include "fence/vfence_rescan.h"
#include "fence/vfence_waiter.h"
#include "irq/vfence_irq.h"
#include "mem/vfence_vm.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_trace.h"
#include "vfence_race_point.h"

/* Number of queues whose logs are committed at once. */
#define LOG_BATCH_SIZE	8

/** vfence_log_setup - initialise the logs of a new queue, without buffers */
void vfence_log_setup(struct vfence_queue *queue)
{
	mutex_init(&queue->log[0].lock);
	mutex_init(&queue->log[1].lock);
}

/** vfence_log_unmap - release the GPU addresses of both logs; the queue is stopped */
void vfence_log_unmap(struct vfence_queue *queue)
{
	unsigned int i;

	lockdep_assert_held(&queue->file->lock);
	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		struct vfence_log *log = &queue->log[i];

		/* Clear the owner under the lock: readers and log_buffer_replace() check it. */
		mutex_lock(&log->lock);
		log->owner = NULL;
		mutex_unlock(&log->lock);
		if (!drm_mm_node_allocated(&log->node))
			continue;

		vgpu_vm_unmap(queue->file->vm, log->node.start, PAGE_SIZE);
		drm_mm_remove_node(&log->node);
	}
}

/** vfence_log_free - free both logs with the queue's last reference */
void vfence_log_free(struct vfence_queue *queue)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		vfree(queue->log[i].header);
		vfree(queue->log[i].kept);
		mutex_destroy(&queue->log[i].lock);
	}
}

/** vfence_log_first_free - position of the first entry that the GPU has not written; any context */
u64 vfence_log_first_free(struct vfence_log *log)
{
	/* A kernel-mode queue has no log (WDDM-82). */
	if (!log->header)
		return 0;
	/* Acquire: orders the index before the entries below it. Partner: vgpu_log_write(). */
	return vfence_log_position(smp_load_acquire((u64 *)log->header), log->entries);
}

static void log_keep_locked(struct vfence_log *log, const struct drm_vfence_log_entry *entry)
{
	u64 room = log->kept ? VFENCE_LOG_KEPT : 0;

	lockdep_assert_held(&log->lock);
	log->put++;
	/* A full array loses its oldest entry, and without one all are dropped. */
	if (log->put - log->fetched > room) {
		log->fetched++;
		log->dropped++;
	}
	if (log->kept)
		log->kept[(log->put - 1) % VFENCE_LOG_KEPT] = *entry;
}

/*
 * The fence that the handle of an entry names for the traces, or 0. The client has chosen the
 * handle, and may have put it since.
 */
static u32 log_trace_fence(struct vfence_file *owner, u32 handle)
{
	struct vfence_fence *fence = NULL;
	u32 id;

	if (owner)
		fence = vfence_fence_handle_lookup(owner, handle, 0, NULL);

	if (IS_ERR_OR_NULL(fence))
		return 0;
	id = fence->id;
	vfence_fence_put(fence);
	return id;
}

/* Not inline: entries are read far more often than they are traced. */
static noinline void log_trace_entry(struct vfence_queue *queue, struct vfence_file *owner,
				     const struct drm_vfence_log_entry *entry)
{
	u32 fence = log_trace_fence(owner, entry->fence);

	switch (entry->operation) {
	case DRM_VFENCE_LOG_SIGNAL_EXECUTED:
		trace_vfence_signal_executed(queue, fence, entry->fence_value,
					     entry->end_gpu_timestamp);
		break;
	case DRM_VFENCE_LOG_WAIT_UNBLOCKED:
		trace_vfence_wait_unblocked(queue, fence, entry->fence_value,
					    entry->observed_gpu_timestamp,
					    entry->end_gpu_timestamp);
		break;
	default:
		trace_vfence_marker(queue, entry->fence_value, entry->end_gpu_timestamp);
	}
}

/* The times of entries are of the GPU's clock, and those of events are not. */
static void log_trace_clock(struct vfence_adapter *adapter)
{
	u64 gpu, ns;

	vgpu_clock_query(adapter->gpu, &gpu, &ns);
	trace_vfence_clock(adapter, gpu, ns);
}

static bool log_is_traced(void)
{
	return trace_vfence_signal_executed_enabled() || trace_vfence_wait_unblocked_enabled() ||
	       trace_vfence_marker_enabled();
}

/* Entries that an interrupt left unread are older than the tracing. One may have no time. */
static bool log_is_new(struct vfence_adapter *adapter, const struct drm_vfence_log_entry *entry)
{
	return !entry->end_gpu_timestamp ||
	       entry->end_gpu_timestamp > READ_ONCE(adapter->queues.logs_ignored_at);
}

/*
 * Copy the entry at position @at. Returns false if the GPU may have overwritten the entry
 * meanwhile. The GPU writes the entry at its position before it increments the position, so
 * the copy is valid only if the position is still less than a full round ahead.
 */
static bool log_copy_locked(struct vfence_log *log, u64 at, struct drm_vfence_log_entry *entry)
{
	struct drm_vfence_log_entry *entries = (void *)(log->header + 1);
	u32 index;

	lockdep_assert_held(&log->lock);
	div_u64_rem(at, log->entries, &index);
	index = array_index_nospec(index, log->entries);
	memcpy(entry, (void *)&entries[index], sizeof(*entry));
	/* Copy, then read the index again. Partner: the release in vgpu_log_write(). */
	smp_rmb();
	return vfence_log_first_free(log) < at + log->entries;
}

/**
 * vfence_log_begin_to_keep_locked - keep entries for the owner from now on
 * @log: the log, locked
 * @kept: where to keep them, from vfence_log_alloc_kept()
 *
 * The driver has counted the entries that it read before as dropped. Copy those that the log
 * still has, and count them as kept. The GPU writes the log meanwhile. If it overwrites an entry
 * before the driver has copied it, all older entries stay dropped, so that the kept ones have no
 * gap.
 */
void vfence_log_begin_to_keep_locked(struct vfence_log *log, struct drm_vfence_log_entry *kept)
{
	u64 at = log->read - min3(log->read, (u64)log->entries, (u64)VFENCE_LOG_KEPT);
	struct drm_vfence_log_entry entry;
	u64 first = at;

	lockdep_assert_held(&log->lock);
	WRITE_ONCE(log->kept, kept);
	for (; at < log->read; at++) {
		if (log_copy_locked(log, at, &entry))
			kept[(log->put - (log->read - at)) % VFENCE_LOG_KEPT] = entry;
		else
			first = at + 1;
	}
	log->fetched -= log->read - first;
	log->dropped -= log->read - first;
}

/** vfence_log_alloc_kept - allocate an array for the entries that are kept, or return NULL */
struct drm_vfence_log_entry *vfence_log_alloc_kept(void)
{
	/* Zeroed: a wrong count must not show the client what the memory had before. */
	return __vmalloc(VFENCE_LOG_KEPT * sizeof(struct drm_vfence_log_entry),
			 GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

/* The client reads this log: from now on keep entries for it, and read the log at interrupts. */
static int log_keep(struct vfence_queue *queue, struct vfence_log *log)
{
	struct drm_vfence_log_entry *kept;

	vgpu_log_want(queue->hw);
	/* What it points to is used under the lock alone. */
	if (READ_ONCE(log->kept))
		return 0;
	kept = vfence_log_alloc_kept();
	if (!kept)
		return -ENOMEM;

	mutex_lock(&log->lock);
	if (!log->kept) {
		vfence_log_begin_to_keep_locked(log, kept);
		kept = NULL;
	}
	mutex_unlock(&log->lock);
	/* Another thread was first. */
	vfree(kept);
	return 0;
}

/*
 * Complete the waiters that a signal's entry names, where interrupts name queues (WDDM-78).
 * The client chose the value of the entry. Use the value only if the client may signal the
 * fence; otherwise rescan the fence. Returns the number of waiters completed.
 */
static unsigned int log_complete_entry(struct vfence_file *owner,
				       const struct drm_vfence_log_entry *entry)
{
	struct vfence_fence *fence;
	unsigned int completed = 0;
	u32 rights;

	fence = vfence_fence_handle_lookup(owner, entry->fence, DRM_VFENCE_RIGHT_READ, &rights);

	/* The handle was closed meanwhile: handle_free() has rescanned the fence. */
	if (IS_ERR(fence))
		return 0;

	if (!(rights & DRM_VFENCE_RIGHT_SIGNAL) || vfence_fence_is_monitored(fence)) {
		completed = vfence_rescan_fence(fence);
	} else if (fence->current_value) {
		completed = vfence_waiter_complete(fence, entry->fence_value);
		if (fence->cross)
			vfence_propagate_signal(fence, entry->fence_value,
						entry->end_gpu_timestamp);
	}

	vfence_fence_put(fence);
	return completed;
}

/* Rescan every fence of the log's owner: the log does not name the fences (WDDM-80). */
static unsigned int log_read_live_locked(struct vfence_queue *queue, struct vfence_log *log)
{
	struct vfence_file *owner = log->owner;
	struct vfence_fence_handle *owned;
	unsigned int completed = 0;
	unsigned long handle;

	lockdep_assert_held(&log->lock);
	if (!owner)
		return 0;

	xa_for_each(&owner->fences.objects, handle, owned) {
		struct vfence_fence *fence;

		fence = vfence_fence_handle_lookup(owner, handle, DRM_VFENCE_RIGHT_READ, NULL);
		if (IS_ERR(fence))
			continue;
		vfence_count(queue->adapter, VFENCE_COUNT_LIVE_READS);
		completed += vfence_rescan_fence(fence);
		vfence_fence_put(fence);
		cond_resched();
	}

	return completed;
}

/* Rescan all fences that a queue can signal. Returns the number of waiters completed. */
static unsigned int log_read_live(struct vfence_queue *queue)
{
	struct vfence_log *log = vfence_queue_log(queue, DRM_VFENCE_LOG_SIGNALS);
	unsigned int completed;

	mutex_lock(&log->lock);
	completed = log_read_live_locked(queue, log);
	mutex_unlock(&log->lock);
	return completed;
}

/**
 * vfence_log_read_locked - read a log, which is locked, up to a position
 * @queue: the queue
 * @log: its log
 * @end: the position; the entries before it have been committed
 *
 * Return: number of waiters completed.
 */
unsigned int vfence_log_read_locked(struct vfence_queue *queue, struct vfence_log *log, u64 end)
{
	bool names_fences = queue->adapter->optimized && log->owner &&
			    log == vfence_queue_log(queue, DRM_VFENCE_LOG_SIGNALS);
	unsigned int completed = 0;
	u64 lost = 0, taken = 0;
	bool older = false;

	lockdep_assert_held(&log->lock);
	if (end > log->read + log->entries) {
		lost = end - log->read - log->entries;
		log->read = end - log->entries;
	}

	for (; log->read < end; log->read++) {
		struct drm_vfence_log_entry entry;

		if (!log_copy_locked(log, log->read, &entry)) {
			lost++;
			continue;
		}
		taken++;
		log_keep_locked(log, &entry);
		if (!log_is_new(queue->adapter, &entry))
			older = true;
		else if (log_is_traced())
			log_trace_entry(queue, log->owner, &entry);
		if (names_fences && entry.operation == DRM_VFENCE_LOG_SIGNAL_EXECUTED)
			completed += log_complete_entry(log->owner, &entry);
	}

	/* Rescan after an overrun: the lost entries may have named any fence (WDDM-95). */
	if (names_fences && lost)
		completed += log_read_live_locked(queue, log);

	/* If an entry that is left is older than the tracing, so are those that are lost. */
	if (lost && !older)
		trace_vfence_log_lost(queue, DRM_VFENCE_LOG_WAITS + (log - queue->log), lost);
	log->taken += taken;
	log->lost += lost;

	vfence_count_add(queue->adapter, VFENCE_COUNT_LOG_READ, taken);
	vfence_count_add(queue->adapter, VFENCE_COUNT_LOG_LOST, lost);
	return completed;
}

/**
 * struct vfence_log_batch - queues whose logs have unread entries
 */
struct vfence_log_batch {
	/** @queue: the queues, each with a reference */
	struct vfence_queue *queue[LOG_BATCH_SIZE];
	/** @hw: the virtual GPU's object of each queue */
	struct vgpu_queue *hw[LOG_BATCH_SIZE];

	/** @end: position up to which each of the two logs is read */
	u64 end[LOG_BATCH_SIZE][2];
	/** @replaced: vfence_log.replaced when @end was read, to detect a later replacement */
	u32 replaced[LOG_BATCH_SIZE][2];

	/** @count: number of queues in the batch */
	unsigned int count;
};

/*
 * Add a queue to a batch. Returns true if the queue has unread entries; then the batch takes
 * over the caller's reference.
 */
static bool log_batch_add(struct vfence_log_batch *batch, struct vfence_queue *queue)
{
	bool unread = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		struct vfence_log *log = &queue->log[i];

		mutex_lock(&log->lock);
		batch->replaced[batch->count][i] = log->replaced;
		batch->end[batch->count][i] = vfence_log_first_free(log);
		unread |= log->read != batch->end[batch->count][i];
		mutex_unlock(&log->lock);
	}

	if (!unread)
		return false;

	batch->queue[batch->count] = queue;
	batch->hw[batch->count++] = queue->hw;
	return true;
}

/*
 * Read the logs of a batch. The indices have been read: let the hardware commit the entries
 * below them first, for all queues at once (WDDM-92, WDDM-93). Returns the number of waiters
 * completed.
 */
static unsigned int log_batch_read(struct vfence_adapter *adapter, struct vfence_log_batch *batch)
{
	unsigned int completed = 0, i, k;

	if (batch->count && log_is_traced())
		log_trace_clock(adapter);
	vfence_race_point(LOG_READ);
	if (batch->count)
		vgpu_log_commit(adapter->gpu, batch->hw, batch->count);

	for (i = 0; i < batch->count; i++) {
		for (k = 0; k < ARRAY_SIZE(batch->queue[i]->log); k++) {
			struct vfence_log *log = &batch->queue[i]->log[k];

			mutex_lock(&log->lock);
			if (log->replaced == batch->replaced[i][k])
				completed += vfence_log_read_locked(batch->queue[i], log,
							     batch->end[i][k]);
			mutex_unlock(&log->lock);
		}
		vfence_queue_put(batch->queue[i]);
	}

	batch->count = 0;
	return completed;
}

/** vfence_log_read - read both logs of a queue; returns the number of waiters completed */
unsigned int vfence_log_read(struct vfence_queue *queue)
{
	struct vfence_log_batch batch = {};

	kref_get(&queue->ref);
	if (!log_batch_add(&batch, queue))
		vfence_queue_put(queue);
	return log_batch_read(queue->adapter, &batch);
}

/* Return the queue of a handle with a reference, or NULL if it is being destroyed. */
static struct vfence_queue *log_get_queue(struct vfence_adapter *adapter, u32 queue_id)
{
	struct vfence_queue *queue;

	rcu_read_lock();
	queue = xa_load(&adapter->queues.table, queue_id);
	if (queue && !kref_get_unless_zero(&queue->ref))
		queue = NULL;
	rcu_read_unlock();
	return queue;
}

/*
 * Read the logs of the queues of some nodes that have news, and visit no other queue. The
 * number of queues limits the call: a queue that logs again meanwhile has an interrupt of its
 * own.
 */
static void log_read_nodes(struct vfence_adapter *adapter, u32 nodes)
{
	int left = atomic_read(&adapter->queues.count) + LOG_BATCH_SIZE;
	struct vfence_log_batch batch = {};
	u32 handle[LOG_BATCH_SIZE];
	unsigned int i, n;

	lockdep_assert_held(&adapter->irq.drain_lock);

	do {
		n = vgpu_log_take_logged(adapter->gpu, nodes, handle, LOG_BATCH_SIZE);
		for (i = 0; i < n; i++) {
			/* A queue that is being destroyed reads its logs itself. */
			struct vfence_queue *queue = log_get_queue(adapter, handle[i]);

			if (queue && !log_batch_add(&batch, queue))
				vfence_queue_put(queue);
		}

		log_batch_read(adapter, &batch);
		left -= n;
		cond_resched();
	} while (n == LOG_BATCH_SIZE && left > 0);
}

/* A queue has signaled: pass it to the threaded half, which reads its log. */
static void log_queue_signaled(struct vfence_adapter *adapter, u32 queue_id, unsigned int posts,
			       bool unlogged)
{
	struct vfence_queue *queue;

	rcu_read_lock();
	queue = xa_load(&adapter->queues.table, queue_id);
	if (queue && unlogged)
		atomic_set(&queue->unlogged, 1);

	if (!queue) {
		/* The queue is destroyed, and its logs were read when it was. */
		vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, posts);
	} else if (atomic_add_return(posts, &queue->signaled) == posts) {
		if (kref_get_unless_zero(&queue->ref))
			llist_add(&queue->signaled_link, &adapter->queues.signaled);
		else
			vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, posts);
	}
	rcu_read_unlock();
}

/* An interrupt record names a queue, whose log names the fences (WDDM-76, WDDM-79). */
static void log_signaled_hard(struct vfence_adapter *adapter,
			      const struct vgpu_irq_record *record,
			      struct vfence_irq_batch *batch)
{
	if (record->queue) {
		vfence_count(adapter, VFENCE_COUNT_RECORDS_QUEUE);
		log_queue_signaled(adapter, record->queue, record->posts,
				   record->flags & VGPU_IRQ_UNLOGGED);
		return;
	}
	vfence_count(adapter, VFENCE_COUNT_RECORDS_QUEUE_NULL);
	vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, record->posts);
	vfence_irq_scan_later(adapter, BIT(record->node));
}

static bool log_signaled_due(struct vfence_adapter *adapter)
{
	return !llist_empty(&adapter->queues.signaled);
}

/* Read the logs of the queues that have signaled. */
static void log_read_signaled(struct vfence_adapter *adapter)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&adapter->queues.signaled));
	struct vfence_queue *queue, *next;

	llist_for_each_entry_safe(queue, next, list, signaled_link) {
		/* From here on the interrupt handler may put the queue on the list again. */
		unsigned int posts = atomic_xchg(&queue->signaled, 0);
		unsigned int completed = vfence_log_read(queue);

		if (atomic_xchg(&queue->unlogged, 0))
			completed += log_read_live(queue);
		vfence_count_add(adapter, VFENCE_COUNT_USEFUL, completed ? 1 : 0);
		vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, posts - (completed ? 1 : 0));
		vfence_queue_put(queue);
	}
}

static void log_scan(struct vfence_adapter *adapter, u32 nodes)
{
	vfence_count(adapter, VFENCE_COUNT_LOG_SCANS);
	log_read_nodes(adapter, nodes);
}

/* Read the logs of all queues that have news. */
static void log_read_all(struct vfence_adapter *adapter)
{
	log_read_nodes(adapter, ~0u);
}

static const struct vfence_irq_source log_optimized_source = {
	.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
	.hard = log_signaled_hard,
	.due = log_signaled_due,
	.thread = log_read_signaled,
	.scan = log_scan,
	.catch_up = log_read_all,
};

/*
 * Where records name fences, the logs serve only tracers and the owners who fetch entries. If none
 * of them wants those that are there, they stay in the logs until a LOG_READ or the end of the
 * queue.
 */
static bool log_is_wanted(struct vfence_adapter *adapter)
{
	/* Before the question, so that the events of a trace that begins now are not older. */
	u64 now = vgpu_clock_now(adapter->gpu);

	if (vgpu_log_has_wanted(adapter->gpu) || log_is_traced())
		return true;
	WRITE_ONCE(adapter->queues.logs_ignored_at, now);
	return false;
}

static void log_hard(struct vfence_adapter *adapter, const struct vgpu_irq_record *record,
		     struct vfence_irq_batch *batch)
{
	if (log_is_wanted(adapter))
		atomic_set(&adapter->queues.logs_due, 1);
}

static bool log_due(struct vfence_adapter *adapter)
{
	return atomic_read(&adapter->queues.logs_due);
}

static void log_thread(struct vfence_adapter *adapter)
{
	if (atomic_xchg(&adapter->queues.logs_due, 0))
		log_read_all(adapter);
}

static void log_scan_wanted(struct vfence_adapter *adapter, u32 nodes)
{
	if (log_is_wanted(adapter))
		log_read_nodes(adapter, nodes);
}

static const struct vfence_irq_source log_source = {
	.type = VGPU_IRQ_NATIVE_FENCE_SIGNALED,
	.hard = log_hard,
	.due = log_due,
	.thread = log_thread,
	.scan = log_scan_wanted,
};

/** vfence_log_init - prepare an adapter for logs; cannot fail */
void vfence_log_init(struct vfence_adapter *adapter)
{
	mutex_init(&adapter->queues.level_lock);
	init_llist_head(&adapter->queues.signaled);
}

/** vfence_log_add_source - register the handler of signals; features are negotiated by now */
void vfence_log_add_source(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, adapter->optimized ? &log_optimized_source : &log_source);
}

/** vfence_log_fini - undo vfence_log_init() */
void vfence_log_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->queues.level_lock);
}

/** vfence_log_unread - number of entries in a queue's logs that have not been read */
u64 vfence_log_unread(struct vfence_queue *queue)
{
	u64 unread = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queue->log); i++) {
		struct vfence_log *log = &queue->log[i];

		mutex_lock(&log->lock);
		unread += vfence_log_first_free(log) - log->read;
		mutex_unlock(&log->lock);
	}
	return unread;
}

/* Copy the entries that the owner has not fetched to @out, up to @max entries. */
static u32 log_fetch_locked(struct vfence_log *log, struct drm_vfence_log_entry *out, u32 max)
{
	u32 n = min_t(u64, max, log->put - log->fetched);
	u32 i;

	lockdep_assert_held(&log->lock);
	for (i = 0; i < n; i++)
		out[i] = log->kept[log->fetched++ % VFENCE_LOG_KEPT];
	return n;
}

/** vfence_log_query - number of entries read and lost, of both logs together */
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

static int log_put_entries(const struct drm_vfence_obj_array *out,
			   const struct drm_vfence_log_entry *entries, u32 count)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < count; i++)
		ret = vfence_user_array_put(out, i, &entries[i], sizeof(entries[i]));
	return ret;
}

/*
 * Take entries, copy them to the client, and put them back if that fails. Do not hold the
 * lock over the copy: the threaded half of the interrupt takes it, too.
 */
static int log_return_entries(struct vfence_log *log, struct drm_vfence_log_read *args,
			      struct drm_vfence_log_entry *entries)
{
	u64 before, after, lost, dropped;
	u32 count;
	int ret;

	mutex_lock(&log->lock);
	before = log->fetched;
	count = log_fetch_locked(log, entries, args->entries.count);
	after = log->fetched;
	lost = log->lost;
	dropped = log->dropped;
	mutex_unlock(&log->lock);

	ret = log_put_entries(&args->entries, entries, count);
	if (!ret) {
		args->returned = count;
		args->lost = lost;
		args->dropped = dropped;
		return 0;
	}

	mutex_lock(&log->lock);

	/* Count the entries as dropped if newer entries have taken their places meanwhile. */
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
	struct vfence_log *log;
	int ret;

	if (vfence_reject(drm, args->pad) ||
	    vfence_reject(drm, args->log != DRM_VFENCE_LOG_WAITS &&
			  args->log != DRM_VFENCE_LOG_SIGNALS) ||
	    vfence_reject(drm, args->entries.count > VFENCE_LOG_KEPT ||
			  !vfence_user_array_stride_valid(args->entries.stride)))
		return -EINVAL;

	queue = vfence_queue_lookup(file, args->queue);
	if (!queue)
		return -ENOENT;

	if (vfence_reject(drm, !queue->ops->user_mode)) {
		vfence_queue_put(queue);
		return -EOPNOTSUPP;
	}

	log = vfence_queue_log(queue, args->log);
	entries = kvmalloc_array(args->entries.count ?: 1, sizeof(*entries), GFP_KERNEL_ACCOUNT);
	ret = entries ? log_keep(queue, log) : -ENOMEM;
	if (!ret) {
		vfence_log_read(queue);
		ret = log_return_entries(log, args, entries);
	}

	kvfree(entries);
	vfence_queue_put(queue);
	return ret;
}
