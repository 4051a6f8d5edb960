// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native fences as the hardware sees them: two slots and the queues blocked on
 * the first.
 */

#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "vgpu_types.h"

struct vgpu_fence *vgpu_fence_create(struct vgpu *gpu, const struct vgpu_fence_args *args)
{
	struct vgpu_fence *fence = vfence_object_alloc(HW_FENCE, sizeof(*fence));

	if (!fence)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&fence->missed_lock);
	fence->gpu = gpu;
	fence->os_handle = args->os_handle;
	fence->current_value = args->current_value;
	fence->monitored_value = args->monitored_value;
	fence->monitored_system_va = args->monitored_system_va;
	fence->offset = args->offset;
	fence->shadowed = args->monitored_value->local ||
			  args->type == DRM_VFENCE_FENCE_INTRA_GPU;
	fence->shadow = VFENCE_NOT_MONITORED;
	fence->blocked = RB_ROOT_CACHED;
	memcpy(fence->private_data, args->private_data, sizeof(fence->private_data));
	return fence;
}

const u8 *vgpu_fence_private_data(struct vgpu_fence *fence)
{
	return fence->private_data;
}

u64 vgpu_fence_signals(struct vgpu_fence *fence)
{
	return atomic64_read(&fence->signals);
}

u64 vgpu_fence_rewinds(struct vgpu_fence *fence)
{
	return atomic64_read(&fence->rewinds);
}

static bool awaits_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vgpu_queue, block_node)->block_value <
	       rb_entry(b, struct vgpu_queue, block_node)->block_value;
}

static void unlink_locked(struct vgpu_queue *queue)
{
	struct vgpu_fence *fence = queue->block_fence;

	lockdep_assert_held(&fence->gpu->chip->sched);
	rb_erase_cached(&queue->block_node, &fence->blocked);
	atomic_dec(&fence->blocked_count);
	queue->block_fence = NULL;
}

void vgpu_fence_unblock_locked(struct vgpu_queue *queue)
{
	unlink_locked(queue);
}

/*
 * Block @queue, which runs, until @fence reaches @value. False if it has.
 *
 * Handshake (b), waiter's side: the queue is counted, then the current value is
 * loaded. Partner: the barrier between storing the value and vgpu_fence_notify()
 * in signal_fence() of vgpu_exec.c and in vgpu_fence_update_current_values().
 */
bool vgpu_fence_block(struct vgpu_fence *fence, struct vgpu_queue *queue, u64 value)
{
	unsigned long flags;
	bool blocked = true;

	vfence_step(QUEUE_BLOCK);
	spin_lock_irqsave(&fence->gpu->chip->sched, flags);
	queue->block_fence = fence;
	queue->block_value = value;
	rb_add_cached(&queue->block_node, &fence->blocked, awaits_less);
	atomic_inc(&fence->blocked_count);
	/* Full barrier of handshake (b), see above. */
	smp_mb__after_atomic();
	if (vgpu_value_reached(fence, value)) {
		unlink_locked(queue);
		blocked = false;
	} else if (queue->abort) {
		/* The abort found us running and waits for us to leave. */
		unlink_locked(queue);
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_ABORTED);
		vgpu_sched_left_locked(queue);
		wake_up_all(&fence->gpu->chip->stopped);
	} else {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_BLOCKED);
		vgpu_sched_left_locked(queue);
	}
	spin_unlock_irqrestore(&fence->gpu->chip->sched, flags);
	return blocked;
}

static void release_up_to(struct vgpu_fence *fence, u64 value, u64 time)
{
	struct vgpu *gpu = fence->gpu;
	struct rb_node *node, *next;
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	for (node = rb_first_cached(&fence->blocked); node; node = next) {
		struct vgpu_queue *queue = rb_entry(node, struct vgpu_queue, block_node);

		next = rb_next(node);
		if (!vfence_reached(value, queue->block_value))
			break;
		/* It has looked since, and what it saw then was not enough. */
		if (queue->wait_observed > time)
			continue;
		unlink_locked(queue);
		queue->exec.released = true;
		queue->wait_end = vgpu_clock_now(gpu);
		vgpu_sched_ready_locked(queue);
	}
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

/*
 * @value has been stored and a full barrier passed: release the queues that
 * waited for it. The value, not the slot, decides: a rewind cannot hide it. Who
 * began to wait after @time is not concerned.
 */
void vgpu_fence_notify(struct vgpu_fence *fence, u64 value, u64 time)
{
	vfence_step(QUEUE_RELEASE);
	if (atomic_read(&fence->blocked_count))
		release_up_to(fence, value, time);
}

void vgpu_fence_take_missed(struct vgpu_fence *fence, struct vgpu_missed *missed)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->missed_lock, flags);
	*missed = fence->missed;
	fence->missed = (struct vgpu_missed){};
	spin_unlock_irqrestore(&fence->missed_lock, flags);
}

void vgpu_fence_destroy(struct vgpu_fence *fence)
{
	/* No new ones: it is open nowhere. Who is still blocked waits for nothing. */
	release_up_to(fence, ~(u64)0, VGPU_ANY_TIME);
	vgpu_cmp_flush(fence->gpu);
	vfence_object_free(HW_FENCE, fence);
}

/* One call fails for each time a test asks for it. */
static bool must_fail(bool *knob)
{
	return READ_ONCE(*knob) && xchg(knob, false);
}

int vgpu_fence_update_monitored_values(struct vgpu *gpu, const struct vgpu_value_update *update,
				       unsigned int count)
{
	unsigned int i;

	if (must_fail(&gpu->knobs.fail_monitored_update))
		return -EIO;
	atomic64_add(count, &gpu->monitored_updates);
	if (in_hardirq())
		atomic64_add(count, &gpu->monitored_updates_irq);
	for (i = 0; i < count; i++) {
		WRITE_ONCE(*update[i].kernel_va, update[i].value);
		if (update[i].fence->shadowed)
			vgpu_cmp_update_shadow(update[i].fence, update[i].value);
	}
	vfence_step(MONITORED_UPDATE);
	/*
	 * Handshake (a), CPU's side: monitored is stored, then the caller loads
	 * current. Partner: the barrier in signal_fence() of vgpu_exec.c.
	 */
	smp_mb();
	return 0;
}

static void store_from_cpu(const struct vgpu_value_update *update)
{
	vgpu_value_count_rewind(update->fence, READ_ONCE(*update->kernel_va), update->value);
	/* Release: what the caller did. Partner: vgpu_value_reached(). */
	smp_store_release(update->kernel_va, update->value);
}

static void store_update(const struct vgpu_value_update *update, unsigned int flags)
{
	if (flags & VGPU_UPDATE_ALWAYS_SIGNALED)
		WRITE_ONCE(update->fence->always_signaled, true);
	else if (!(flags & VGPU_UPDATE_NOTIFICATION_ONLY))
		store_from_cpu(update);
}

int vgpu_fence_update_current_values(struct vgpu *gpu,
				     const struct vgpu_value_update *update,
					unsigned int count, unsigned int flags)
{
	unsigned int i;

	if (must_fail(&gpu->knobs.fail_current_update))
		return -EIO;
	for (i = 0; i < count; i++)
		store_update(&update[i], flags);
	/* Handshake (b), signaller's side; partner: vgpu_fence_block(). */
	smp_mb();
	for (i = 0; i < count; i++)
		vgpu_fence_notify(update[i].fence, flags & VGPU_UPDATE_ALWAYS_SIGNALED ?
				  ~(u64)0 : update[i].value,
				  flags & VGPU_UPDATE_NOTIFICATION_ONLY ? update[i].time :
									  VGPU_ANY_TIME);
	return 0;
}
