// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of kernel rings: clear and move pages of values, and publish fence ids.
 */

#include <linux/mm.h>
#include <linux/string.h>

#include "vgpu_types.h"

/* Check opcode and length. The contents of a kernel packet are trusted. */
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
 * Move the page while no engine executes a step. Otherwise an engine could store to the old
 * place after the copy.
 */
static void kernel_evict_storage(struct vgpu *gpu, struct vgpu_storage *storage, void *to)
{
	unsigned long flags;

	write_lock_irqsave(&gpu->chip->residency, flags);
	memcpy(to, storage->kva, PAGE_SIZE);
	WRITE_ONCE(storage->kva, to);
	WRITE_ONCE(storage->local, false);
	write_unlock_irqrestore(&gpu->chip->residency, flags);
}

static void kernel_interrupt(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	struct vgpu_cmp_post post = {
		.type = VGPU_IRQ_DMA_COMPLETED,
		.node = engine->node,
		.queue = queue->os_handle,
	};

	vgpu_cmp_post_in_step(queue->gpu, engine, &post);
}

static void kernel_complete_submission(struct vgpu_engine *engine, struct vgpu_queue *queue,
				       u64 fence_id)
{
	/* What the queue uses from now on it uses for the next submission. */
	WRITE_ONCE(queue->completed_busy_ns, queue->busy_ns);
	/* Release: effects of the submission. Partner: vgpu_kernel_last_completed(). */
	smp_store_release(&queue->last_completed, fence_id);
	vfence_race_point(SUBMISSION_DONE);
	kernel_interrupt(engine, queue);
}

/* The front end has fetched all packets before: publish @fence_id and interrupt. */
void vgpu_kernel_fetched(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 fence_id)
{
	/* Release, for symmetry only. Partner: vgpu_kernel_last_fetched(). */
	smp_store_release(&queue->last_fetched, fence_id);
	kernel_interrupt(engine, queue);
}

/* An injection lets packets that move values make no progress. */
bool vgpu_kernel_hangs(const struct vgpu_queue *queue, const union vgpu_packet *packet)
{
	return vgpu_injected(&queue->gpu->injections, VGPU_INJECT_HANG_PAGING) &&
	       (packet->header.opcode == VGPU_OP_EVICT_STORAGE ||
		packet->header.opcode == VGPU_OP_CLEAR_STORAGE);
}

void vgpu_kernel_execute(struct vgpu_engine *engine, struct vgpu_queue *queue,
			 const union vgpu_packet *packet)
{
	const struct vgpu_packet_storage *paging = (const void *)packet;
	const struct vgpu_packet_complete *complete = (const void *)packet;
	struct vgpu_storage *storage;

	switch (packet->header.opcode) {
	case VGPU_OP_COMPLETE:
		kernel_complete_submission(engine, queue, complete->fence_id);
		return;
	case VGPU_OP_FETCHED:
		/* Skip the packet if exec_fetch_ahead() has executed it. */
		if (queue->fetch_ptr <= queue->read_ptr)
			vgpu_kernel_fetched(engine, queue, complete->fence_id);
		return;
	}

	storage = (void *)(unsigned long)paging->storage;
	if (packet->header.opcode == VGPU_OP_EVICT_STORAGE)
		kernel_evict_storage(queue->gpu, storage, (void *)(unsigned long)paging->kva);
	else
		memset(storage->kva, 0, PAGE_SIZE);
}

u64 vgpu_kernel_last_completed(struct vgpu_queue *queue)
{
	/* Acquire: effects of the submission. Partner: kernel_complete_submission(). */
	return smp_load_acquire(&queue->last_completed);
}

u64 vgpu_kernel_last_fetched(struct vgpu_queue *queue)
{
	/* Acquire, for symmetry only. Partner: vgpu_kernel_fetched(). */
	return smp_load_acquire(&queue->last_fetched);
}

u64 vgpu_kernel_completed_busy_ns(struct vgpu_queue *queue)
{
	return READ_ONCE(queue->completed_busy_ns);
}
