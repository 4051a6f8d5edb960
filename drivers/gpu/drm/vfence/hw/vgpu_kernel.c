// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of kernel rings: moving pages of values, and telling how far work is.
 */

#include <linux/mm.h>
#include <linux/string.h>

#include "vgpu_types.h"

/* The kernel is trusted to send what it means, but not what it does not know. */
enum drm_vfence_fault vgpu_kernel_check(const struct drm_vfence_packet_header *header,
					u64 available)
{
	size_t length;

	switch (header->opcode) {
	case VGPU_OP_CLEAR_STORAGE:
	case VGPU_OP_EVICT_STORAGE:
		length = sizeof(struct vgpu_packet_storage);
		break;
	case VGPU_OP_COMPLETE:
	case VGPU_OP_FETCHED:
		length = sizeof(struct vgpu_packet_complete);
		break;
	default:
		return DRM_VFENCE_FAULT_OPCODE;
	}
	if (header->length != length || length > available)
		return DRM_VFENCE_FAULT_LENGTH;
	return DRM_VFENCE_FAULT_NONE;
}

/*
 * No engine is in the middle of a step while the page moves, so that none stores
 * to the old place what the copy has missed.
 */
static void evict(struct vgpu *gpu, struct vgpu_storage *storage, void *to)
{
	unsigned long flags;

	write_lock_irqsave(&gpu->chip->residency, flags);
	memcpy(to, storage->kva, PAGE_SIZE);
	WRITE_ONCE(storage->kva, to);
	WRITE_ONCE(storage->local, false);
	write_unlock_irqrestore(&gpu->chip->residency, flags);
}

static void interrupt(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	struct vgpu_post post = {
		.type = VGPU_IRQ_DMA_COMPLETED,
		.node = engine->node,
		.queue = queue->os_handle,
	};

	vgpu_cmp_post(queue->gpu, &post);
}

static void complete_submission(struct vgpu_engine *engine, struct vgpu_queue *queue,
				u64 fence_id)
{
	/* Release: what the submission did. Partner: vgpu_kernel_last_completed(). */
	smp_store_release(&queue->last_completed, fence_id);
	interrupt(engine, queue);
}

/* The front end has taken everything before. */
void vgpu_kernel_fetched(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 fence_id)
{
	/* Release, for symmetry: nothing is done yet. Partner: vgpu_kernel_last_fetched(). */
	smp_store_release(&queue->last_fetched, fence_id);
	interrupt(engine, queue);
}

void vgpu_kernel_execute(struct vgpu_engine *engine, struct vgpu_queue *queue,
			 const union vgpu_packet *packet)
{
	const struct vgpu_packet_storage *paging = (const void *)packet;
	const struct vgpu_packet_complete *complete = (const void *)packet;
	struct vgpu_storage *storage;

	switch (packet->header.opcode) {
	case VGPU_OP_COMPLETE:
		complete_submission(engine, queue, complete->fence_id);
		return;
	case VGPU_OP_FETCHED:
		/* Unless the front end was here before. */
		if (queue->ahead <= queue->read_ptr)
			vgpu_kernel_fetched(engine, queue, complete->fence_id);
		return;
	}
	storage = (void *)(unsigned long)paging->storage;
	if (packet->header.opcode == VGPU_OP_EVICT_STORAGE)
		evict(queue->gpu, storage, (void *)(unsigned long)paging->kva);
	else
		memset(storage->kva, 0, PAGE_SIZE);
}

u64 vgpu_kernel_last_completed(struct vgpu_queue *queue)
{
	/* Acquire: what the submission did. Partner: complete_submission(). */
	return smp_load_acquire(&queue->last_completed);
}

u64 vgpu_kernel_last_fetched(struct vgpu_queue *queue)
{
	/* Acquire: see vgpu_kernel_fetched(). */
	return smp_load_acquire(&queue->last_fetched);
}
