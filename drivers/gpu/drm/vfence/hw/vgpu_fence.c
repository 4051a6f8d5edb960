// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native fences in the hardware: two values and the queues that are blocked on the current
 * value.
 */

#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "vgpu_types.h"

/* Most blocked queues that a signal visits in one section with interrupts off. */
#define FENCE_RELEASE_VISITS	16

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
	fence->current_system_va = args->current_system_va;
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

static bool fence_awaits_less(struct rb_node *a, const struct rb_node *b)
{
	const struct vgpu_queue *x = rb_entry(a, struct vgpu_queue, block_node);
	const struct vgpu_queue *y = rb_entry(b, struct vgpu_queue, block_node);

	return x->block_value != y->block_value ? x->block_value < y->block_value :
						  x->block_serial < y->block_serial;
}

static void fence_unlink_locked(struct vgpu_queue *queue)
{
	struct vgpu_fence *fence = queue->block_fence;

	lockdep_assert_held(&fence->gpu->chip->sched);
	rb_erase_cached(&queue->block_node, &fence->blocked);
	atomic_dec(&fence->blocked_count);
	queue->block_fence = NULL;
}

void vgpu_fence_unblock_locked(struct vgpu_queue *queue)
{
	lockdep_assert_held(&queue->gpu->chip->sched);
	fence_unlink_locked(queue);
}

/*
 * Block the running @queue until @fence reaches @value. Return false if the fence has reached
 * it already; the queue runs on then.
 *
 * Handshake (b), side of the waiter: increment blocked_count before loading the current value.
 * Partners: the barriers between the store of the value and vgpu_fence_notify() in
 * exec_signal_fence() and in vgpu_fence_update_current_values().
 */
bool vgpu_fence_block(struct vgpu_fence *fence, struct vgpu_queue *queue, u64 value)
{
	unsigned long flags;
	bool blocked = true;

	vfence_step(QUEUE_BLOCK);

	spin_lock_irqsave(&fence->gpu->chip->sched, flags);
	queue->block_fence = fence;
	queue->block_value = value;
	queue->block_serial = fence->block_serial++;
	rb_add_cached(&queue->block_node, &fence->blocked, fence_awaits_less);
	atomic_inc(&fence->blocked_count);
	/* Full barrier of handshake (b); see above. */
	smp_mb__after_atomic();

	if (vgpu_value_reached(fence, value)) {
		fence_unlink_locked(queue);
		blocked = false;
	} else if (queue->abort) {
		/* vgpu_queue_abort() found the queue RUNNING and waits until it has left. */
		fence_unlink_locked(queue);
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_ABORTED);
		vgpu_sched_left_locked(queue);
		wake_up_all(&fence->gpu->chip->queue_left);
	} else {
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_BLOCKED);
		vgpu_sched_left_locked(queue);
	}
	spin_unlock_irqrestore(&fence->gpu->chip->sched, flags);

	return blocked;
}

/**
 * struct fence_release - a release of blocked queues, in portions
 */
struct fence_release {
	/** @value: Release the queues that wait for at most this value. */
	u64 value;
	/** @time: Do not release queues that began to wait later. */
	u64 time;
	/** @end: Waits with this serial number and later ones began after the release. */
	u64 end;
	/** @from_value: Go on after the wait for this value with the number @from_serial. */
	u64 from_value;
	/** @from_serial: See @from_value. */
	u64 from_serial;
};

/* The first wait at or after the place where the last portion ended, or NULL. */
static struct rb_node *fence_release_first_locked(struct vgpu_fence *fence,
						  const struct fence_release *release)
{
	struct rb_node *node = fence->blocked.rb_root.rb_node, *first = NULL;

	lockdep_assert_held(&fence->gpu->chip->sched);

	while (node) {
		struct vgpu_queue *queue = rb_entry(node, struct vgpu_queue, block_node);

		if (queue->block_value < release->from_value ||
		    (queue->block_value == release->from_value &&
		     queue->block_serial < release->from_serial)) {
			node = node->rb_right;
		} else {
			first = node;
			node = node->rb_left;
		}
	}
	return first;
}

/* Release a portion of the queues. Return true if there are more. */
static bool fence_release_some_locked(struct vgpu_fence *fence, struct fence_release *release)
{
	struct rb_node *node = fence_release_first_locked(fence, release), *next;
	unsigned int visits = 0;

	lockdep_assert_held(&fence->gpu->chip->sched);

	for (; node; node = next) {
		struct vgpu_queue *queue = rb_entry(node, struct vgpu_queue, block_node);

		if (!vfence_reached(release->value, queue->block_value))
			return false;
		release->from_value = queue->block_value;
		release->from_serial = queue->block_serial;
		if (visits++ == FENCE_RELEASE_VISITS)
			return true;

		next = rb_next(node);
		/* The queue has loaded a newer value since, which did not satisfy its wait. */
		if (queue->block_serial >= release->end || queue->wait_observed > release->time)
			continue;

		fence_unlink_locked(queue);
		queue->exec.released = true;
		queue->wait_end = vgpu_clock_now(fence->gpu);
		vgpu_sched_ready_locked(queue);
	}
	return false;
}

/*
 * A client decides how many queues wait: release them in portions, between which interrupts
 * are on and other engines get the lock.
 */
static void fence_release_up_to(struct vgpu_fence *fence, u64 value, u64 time)
{
	struct fence_release release = { .value = value, .time = time };
	spinlock_t *sched = &fence->gpu->chip->sched;
	unsigned long flags;

	spin_lock_irqsave(sched, flags);
	release.end = fence->block_serial;
	while (fence_release_some_locked(fence, &release)) {
		spin_unlock_irqrestore(sched, flags);
		spin_lock_irqsave(sched, flags);
	}
	spin_unlock_irqrestore(sched, flags);
}

/*
 * Release the queues whose waits @value satisfies. The caller has stored @value and has
 * passed a full barrier. Compare with @value instead of the slot, so that a rewind cannot hide
 * it. Do not release queues that began to wait after @time.
 */
void vgpu_fence_notify(struct vgpu_fence *fence, u64 value, u64 time)
{
	vfence_step(QUEUE_RELEASE);
	if (atomic_read(&fence->blocked_count))
		fence_release_up_to(fence, value, time);
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
	/* Release the blocked queues. No queue can block now: the fence is open nowhere. */
	fence_release_up_to(fence, ~(u64)0, VGPU_ANY_TIME);
	vgpu_cmp_flush(fence->gpu);
	vfence_object_free(HW_FENCE, fence);
}

/* Fail one call for each time that a test sets @knob. */
static bool fence_must_fail(bool *knob)
{
	return READ_ONCE(*knob) && xchg(knob, false);
}

int vgpu_fence_update_monitored_values(struct vgpu *gpu, const struct vgpu_value_update *update,
				       unsigned int count)
{
	unsigned int i;

	if (fence_must_fail(&gpu->knobs.fail_monitored_update))
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
	 * Handshake (a), side of the CPU: store the monitored value before the caller loads
	 * the current value. Partner: the barrier in exec_signal_fence().
	 */
	smp_mb();

	return 0;
}

static void fence_store_from_cpu(const struct vgpu_value_update *update)
{
	vgpu_value_count_rewind(update->fence, READ_ONCE(*update->kernel_va), update->value);
	/* Release: the effects of the caller. Partner: vgpu_value_reached(). */
	smp_store_release(update->kernel_va, update->value);
}

static void fence_store_update(const struct vgpu_value_update *update, unsigned int flags)
{
	if (flags & VGPU_UPDATE_ALWAYS_SIGNALED)
		WRITE_ONCE(update->fence->always_signaled, true);
	else if (!(flags & VGPU_UPDATE_NOTIFICATION_ONLY))
		fence_store_from_cpu(update);
}

int vgpu_fence_update_current_values(struct vgpu *gpu,
				     const struct vgpu_value_update *update,
				     unsigned int count, unsigned int flags)
{
	unsigned int i;

	if (fence_must_fail(&gpu->knobs.fail_current_update))
		return -EIO;

	for (i = 0; i < count; i++)
		fence_store_update(&update[i], flags);
	/* Handshake (b), side of the signaller. Partner: vgpu_fence_block(). */
	smp_mb();

	for (i = 0; i < count; i++)
		vgpu_fence_notify(update[i].fence, flags & VGPU_UPDATE_ALWAYS_SIGNALED ?
				  ~(u64)0 : update[i].value,
				  flags & VGPU_UPDATE_NOTIFICATION_ONLY ? update[i].time :
									  VGPU_ANY_TIME);
	return 0;
}
