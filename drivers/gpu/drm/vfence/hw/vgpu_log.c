// SPDX-License-Identifier: GPL-2.0
/*
 * Native fence logs, the producer's side.
 */

#include <linux/mm.h>

#include "vgpu_types.h"

/*
 * Write one entry, then the index (WDDM-89). The word is read by the driver in
 * the middle of anything: index and wrap count change in one store.
 */
enum drm_vfence_fault vgpu_log_write(struct vgpu_queue *queue,
				     const struct drm_vfence_packet_log *packet)
{
	bool is_signal = packet->operation == DRM_VFENCE_LOG_SIGNAL_EXECUTED;
	struct vgpu_log *log = &queue->log[is_signal];
	struct drm_vfence_log_entry *entry;
	u32 entries;

	if (!log->header || packet->log_va != log->va ||
	    packet->index != vfence_log_index(log->word))
		return DRM_VFENCE_FAULT_LOG;
	entries = log->header->number_of_entries;
	entry = (struct drm_vfence_log_entry *)(log->header + 1) + packet->index;
	if (vfence_mutant_is(LOG_INDEX_FIRST)) {
		/* What must not be: the index before the entry. */
		smp_store_mb(*(u64 *)log->header, vfence_log_advance(log->word, entries));
		vfence_mutant_pause(LOG_INDEX_FIRST, 50);
	}
	WRITE_ONCE(entry->fence_value, packet->value);
	WRITE_ONCE(entry->fence, packet->fence);
	WRITE_ONCE(entry->operation, packet->operation);
	WRITE_ONCE(entry->observed_gpu_timestamp, is_signal ? 0 : queue->wait_observed);
	WRITE_ONCE(entry->end_gpu_timestamp, is_signal ? queue->signal_end : queue->wait_end);
	log->word = vfence_log_advance(log->word, entries);
	if (vfence_mutant_is(LOG_NO_WRAP))
		log->word = (u32)log->word;
	/* Release: entry before index. Partner: the reader's acquire load. */
	smp_store_release((u64 *)log->header, log->word);
	WRITE_ONCE(queue->log_packets, queue->log_packets + 1);
	return DRM_VFENCE_FAULT_NONE;
}

void vgpu_update_logs(struct vgpu_queue **queue, unsigned int count)
{
	/*
	 * Entries are committed by the release store above, so one barrier of
	 * the reader orders the logs of all queues of the batch at once. A GPU
	 * with posted writes would flush them here, queue by queue.
	 */
	smp_rmb();
}
