// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware queues as objects: create, query, abort and destroy them.
 */

#include <linux/err.h>
#include <linux/slab.h>

#include "vgpu_types.h"

struct vgpu_queue *vgpu_queue_create(struct vgpu *gpu, const struct vgpu_queue_args *args)
{
	struct vgpu_queue *queue = vfence_leak_check_alloc(HW_QUEUE, sizeof(*queue));
	unsigned long flags;

	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->gpu = gpu;
	queue->vm = args->vm;
	queue->node = &gpu->node[args->node];
	queue->engine = queue->node->engine;
	queue->os_handle = args->os_handle;
	queue->kernel = args->kernel;
	queue->context = args->context;
	INIT_LIST_HEAD(&queue->context_link);

	spin_lock_irqsave(&gpu->chip->sched, flags);
	queue->generation = gpu->generation;
	if (queue->context)
		list_add_tail(&queue->context_link, &queue->context->queues);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);

	queue->state = DRM_VFENCE_QUEUE_IDLE;
	INIT_LIST_HEAD(&queue->run_link);
	INIT_LIST_HEAD(&queue->logged_link);
	vgpu_log_init(&queue->log[0]);
	vgpu_log_init(&queue->log[1]);
	if (queue->context)
		vgpu_image_add_queue(queue);

	return queue;
}

void vgpu_queue_destroy(struct vgpu_queue *queue)
{
	unsigned long flags;

	vgpu_queue_abort(queue);
	if (queue->context)
		vgpu_image_remove_queue(queue);
	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	list_del(&queue->context_link);
	vgpu_vf_switch_drop_registers_locked(queue);
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
	vgpu_log_forget(queue);
	/* After the flush every record that names the queue is in the ring. */
	vgpu_cmp_flush(queue->gpu);
	vfence_leak_check_free(HW_QUEUE, queue);
}

void vgpu_queue_query(struct vgpu_queue *queue, struct vgpu_queue_status *status)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	status->state = queue->state;
	status->guilty = queue->guilty;
	status->requested = queue->requested;
	status->fault = queue->fault;
	status->opcode = queue->fault_opcode;
	status->ring_ptr = queue->fault ? queue->read_ptr : 0;
	status->va = queue->fault_va;
	status->packets = READ_ONCE(queue->packets);
	status->log_packets = READ_ONCE(queue->log_packets);
	status->busy_ns = READ_ONCE(queue->busy_ns);
	status->notifications = atomic64_read(&queue->notifications);
	status->blocked_fence = queue->block_fence ? queue->block_fence->os_handle : 0;
	status->blocked_value = queue->block_fence ? queue->block_value : 0;
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

static bool queue_left_engine(struct vgpu_queue *queue)
{
	return READ_ONCE(queue->state) != DRM_VFENCE_QUEUE_RUNNING;
}

void vgpu_queue_abort(struct vgpu_queue *queue)
{
	struct vgpu *gpu = queue->gpu;
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	switch (queue->state) {
	case DRM_VFENCE_QUEUE_FAULTED:
	case DRM_VFENCE_QUEUE_ABORTED:
		spin_unlock_irqrestore(&gpu->chip->sched, flags);
		return;
	case DRM_VFENCE_QUEUE_READY:
		vgpu_fair_remove_locked(queue);
		vgpu_vf_switch_update_locked(queue->node);
		break;
	case DRM_VFENCE_QUEUE_BLOCKED:
		vgpu_fence_unblock_locked(queue);
		break;
	default:
		break;
	}

	WRITE_ONCE(queue->abort, true);
	if (queue->state != DRM_VFENCE_QUEUE_RUNNING)
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_ABORTED);
	wake_up_all(&queue->engine->wait);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);

	wait_event(gpu->chip->queue_left, queue_left_engine(queue));
	/* Take the lock: vgpu_sched_put() may still hold it while it wakes this thread. */
	spin_lock_irqsave(&gpu->chip->sched, flags);
	if (queue->state == DRM_VFENCE_QUEUE_IDLE)
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_ABORTED);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

u64 vgpu_queue_take_kept_ns(struct vgpu_queue *queue)
{
	unsigned long flags;
	u64 ns;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	ns = queue->kept_ns;
	queue->kept_ns = 0;
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
	return ns;
}

/*
 * Take the lock: vgpu_sched_put() sets a queue IDLE for a moment although it has work.
 */
bool vgpu_queue_is_idle(struct vgpu_queue *queue)
{
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	idle = queue->state == DRM_VFENCE_QUEUE_IDLE;
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
	return idle;
}

u64 vgpu_queue_kept_off_ns(struct vgpu_queue *queue)
{
	struct vgpu_engine *engine = queue->engine;
	struct vgpu_chip *chip = queue->gpu->chip;
	struct vgpu_queue *running;
	unsigned long flags;
	u64 now, from, ns = 0;

	spin_lock_irqsave(&chip->sched, flags);
	running = engine->running;
	now = ktime_get_ns();
	/* A throttled user gets the engine without the help of a client. */
	from = max_t(u64, READ_ONCE(engine->turn_from), vgpu_fair_wants_from_locked(queue));
	if (running && running != queue && from < now &&
	    (running->vm == queue->vm || !chip->preempt_us))
		ns = now - from;
	spin_unlock_irqrestore(&chip->sched, flags);
	return ns;
}
