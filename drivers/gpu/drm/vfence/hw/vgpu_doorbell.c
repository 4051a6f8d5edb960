// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doorbells in the hardware: which ring belongs to a queue, which write pointer is valid, and
 * what a ring of the doorbell does.
 */

#include "vgpu_trace.h"
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
	queue->seen_ptr = 0;
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

static void doorbell_check_ring(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	if (queue->connected)
		vgpu_sched_check_ring_locked(queue);
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

/*
 * The client touched the page, and the driver is about to map it. If the queue has no work the
 * engine does not run it, so nothing arms the page again. Arm it here, or it would stay mapped
 * on an idle queue, and the hardware would not notice the next ring.
 */
static void doorbell_ring_locked(struct vgpu_queue *queue)
{
	struct vgpu *gpu = queue->gpu;

	lockdep_assert_held(&gpu->chip->sched);
	vgpu_sched_check_ring_locked(queue);
	if (queue->state == DRM_VFENCE_QUEUE_IDLE && queue->cookie)
		gpu->ops->arm_doorbell(gpu->host, queue->cookie);
}

void vgpu_doorbell_ring(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	trace_vgpu_doorbell(queue);
	if (queue->connected)
		doorbell_ring_locked(queue);
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

void vgpu_doorbell_recheck(struct vgpu_queue *queue)
{
	doorbell_check_ring(queue);
}

enum drm_vfence_doorbell_status vgpu_doorbell_connect(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	WRITE_ONCE(queue->connected, true);
	vgpu_sched_stay_in_f0_locked(queue->node);
	vgpu_sched_check_ring_locked(queue);
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
	return vgpu_injected(&queue->gpu->injections, VGPU_INJECT_NOTIFY_WORK) ?
	       DRM_VFENCE_DOORBELL_CONNECTED_NOTIFY : DRM_VFENCE_DOORBELL_CONNECTED;
}

void vgpu_doorbell_notify_work_submission(struct vgpu_queue *queue)
{
	atomic64_inc(&queue->notifications);
	trace_vgpu_doorbell(queue);
	/* The call has the effect of a ring of the doorbell. */
	doorbell_check_ring(queue);
}

void vgpu_doorbell_disconnect(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	if (queue->connected) {
		/* Acquire: the packets below it. Partner: the client's release of write_ptr. */
		u64 latch = smp_load_acquire(&queue->control->write_ptr);

		WRITE_ONCE(queue->latched, latch);
		/* Release: the latch. Partner: vgpu_sched_sane_write_ptr(). */
		smp_store_release(&queue->connected, false);
		vgpu_sched_check_ring_locked(queue);
	}

	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}
