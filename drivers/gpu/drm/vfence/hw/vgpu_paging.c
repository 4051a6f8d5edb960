// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of kernel rings: moving pages of values, and telling that work is done.
 */

#include <linux/mm.h>
#include <linux/string.h>

#include "vgpu_types.h"

/* The kernel is trusted to send what it means, but not what it does not know. */
enum drm_vfence_fault vgpu_paging_check(const struct drm_vfence_packet_header *header,
					u64 available)
{
	size_t length;

	switch (header->opcode) {
	case VGPU_OP_CLEAR_STORAGE:
	case VGPU_OP_EVICT_STORAGE:
		length = sizeof(struct vgpu_packet_storage);
		break;
	case VGPU_OP_COMPLETE:
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

	write_lock_irqsave(&gpu->residency, flags);
	if (!vfence_mutant_is(EVICT_NO_COPY))
		memcpy(to, storage->kva, PAGE_SIZE);
	WRITE_ONCE(storage->kva, to);
	WRITE_ONCE(storage->local, false);
	write_unlock_irqrestore(&gpu->residency, flags);
}

static void complete_submission(struct vgpu_engine *engine, u64 fence_id)
{
	struct vgpu_post post = { .type = VGPU_IRQ_DMA_COMPLETED, .node = engine->node };

	/* Release: what the submission did. Partner: vgpu_last_completed(). */
	smp_store_release(&engine->last_completed, fence_id);
	vgpu_cmp_post(engine->gpu, &post);
}

void vgpu_paging_execute(struct vgpu_engine *engine, const union vgpu_packet *packet)
{
	const struct vgpu_packet_storage *paging = (const void *)packet;
	const struct vgpu_packet_complete *complete = (const void *)packet;
	struct vgpu_storage *storage;

	if (packet->header.opcode == VGPU_OP_COMPLETE) {
		complete_submission(engine, complete->fence_id);
		return;
	}
	storage = (void *)(unsigned long)paging->storage;
	if (packet->header.opcode == VGPU_OP_EVICT_STORAGE)
		evict(engine->gpu, storage, (void *)(unsigned long)paging->kva);
	else
		memset(storage->kva, 0, PAGE_SIZE);
}

u64 vgpu_last_completed(struct vgpu *gpu, unsigned int node)
{
	/* Acquire: what the submission did. Partner: complete_submission(). */
	return smp_load_acquire(&gpu->engine[node].last_completed);
}
