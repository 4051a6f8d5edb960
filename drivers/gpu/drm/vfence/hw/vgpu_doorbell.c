// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doorbells as the hardware sees them: the ring they announce, whether its write
 * pointer counts, and the rings themselves.
 */

#include "vgpu_types.h"

struct page *vgpu_doorbell_page(struct vgpu *gpu, unsigned int index, bool secondary)
{
	return gpu->doorbell[index].page[secondary];
}

void vgpu_doorbell_create(struct vgpu_queue *queue, const struct vgpu_doorbell_args *args)
{
	unsigned long flags;

	args->control->read_ptr = 0;
	args->control->write_ptr = 0;
	vgpu_log_new_ring(&queue->log[0]);
	vgpu_log_new_ring(&queue->log[1]);
	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	queue->cookie = args->cookie;
	queue->ring = args->ring;
	queue->ring_size = args->ring_size;
	queue->control = args->control;
	queue->read_ptr = 0;
	queue->latched = 0;
	queue->connected = false;
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

void vgpu_doorbell_destroy(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	WRITE_ONCE(queue->connected, false);
	queue->cookie = NULL;
	queue->ring = NULL;
	queue->control = NULL;
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

static void doorbell_look(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	if (queue->connected)
		vgpu_sched_look_locked(queue);
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

/*
 * The page was touched and is about to be mapped: the queue is busy from now on,
 * even if there is no work. Otherwise the page would stay mapped on an idle
 * queue, and the next ring would be a store that nobody sees. The engine finds
 * the ring empty, the queue goes idle, and going idle arms the page again.
 */
void vgpu_doorbell_ring(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	if (queue->connected && queue->state == DRM_VFENCE_QUEUE_IDLE)
		vgpu_sched_ready_locked(queue);
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

void vgpu_doorbell_recheck(struct vgpu_queue *queue)
{
	doorbell_look(queue);
}

enum drm_vfence_doorbell_status vgpu_doorbell_connect(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	WRITE_ONCE(queue->connected, true);
	vgpu_sched_stay_in_f0_locked(queue->node);
	vgpu_sched_look_locked(queue);
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
	return READ_ONCE(queue->gpu->knobs.notify_work) ? DRM_VFENCE_DOORBELL_CONNECTED_NOTIFY :
							  DRM_VFENCE_DOORBELL_CONNECTED;
}

void vgpu_doorbell_notify_work_submission(struct vgpu_queue *queue)
{
	atomic64_inc(&queue->notifications);
	/* Told by a call, it looks as it does when the doorbell is rung. */
	doorbell_look(queue);
}

void vgpu_doorbell_disconnect(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	if (queue->connected) {
		/* Acquire: the packets below it. Partner: the client's release. */
		u64 latch = smp_load_acquire(&queue->control->write_ptr);

		WRITE_ONCE(queue->latched, latch);
		/* Release: the latch. Partner: vgpu_sched_sane_write_ptr(). */
		smp_store_release(&queue->connected, false);
		vgpu_sched_look_locked(queue);
	}
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}
