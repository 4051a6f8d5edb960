// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native fences in the hardware: two values and the queues that are blocked on the current
 * value.
 */

#include <linux/dma-fence.h>
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "vgpu_trace.h"
#include "vgpu_types.h"

/* Most blocked queues that a signal visits in one section with interrupts off. */
#define FENCE_RELEASE_VISITS	16
/* Number of such sections for which an engine releases queues itself. */
#define FENCE_RELEASE_PORTIONS	4

struct vgpu_fence *vgpu_fence_create(struct vgpu *gpu, const struct vgpu_fence_args *args)
{
	struct vgpu_fence *fence = vfence_leak_check_alloc(HW_FENCE, sizeof(*fence));

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
	trace_vgpu_wait(queue, 'E', 0);
	fence_unlink_locked(queue);
}

/*
 * Block the running @queue until @fence reaches @value. Return false if the fence has reached
 * it already; the queue runs on then.
 *
 * Handshake (b), side of the waiter: increment blocked_count before loading the current value.
 * Partners: the barriers between the store of the value and the release of queues in
 * exec_signal_fence() and in vgpu_fence_update_current_values().
 */
bool vgpu_fence_block(struct vgpu_fence *fence, struct vgpu_queue *queue, u64 value)
{
	unsigned long flags;
	bool blocked = true;

	vfence_race_point(QUEUE_BLOCK);

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
		vgpu_sched_left_locked(queue, false);
		wake_up_all(&fence->gpu->chip->queue_left);
	} else {
		trace_vgpu_wait(queue, 'B', 0);
		vgpu_sched_set_state_locked(queue, DRM_VFENCE_QUEUE_BLOCKED);
		vgpu_sched_left_locked(queue, true);
		/* A reset or a world switch waits until the engine is empty. */
		if (queue->engine->held || vgpu_vf_switch_must_leave(queue->engine))
			wake_up_all(&fence->gpu->chip->queue_left);
	}
	/* A queue that waits is nothing to execute. */
	vgpu_vf_switch_update_locked(queue->node);
	spin_unlock_irqrestore(&fence->gpu->chip->sched, flags);

	return blocked;
}

/* The first wait at or after the place where the last portion ended, or NULL. */
static struct rb_node *fence_release_first_locked(struct vgpu_fence *fence,
						  const struct vgpu_release *release)
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
static bool fence_release_some_locked(struct vgpu_fence *fence, struct vgpu_release *release)
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

		trace_vgpu_wait(queue, 'E', release->value);
		fence_unlink_locked(queue);
		queue->exec.released = true;
		queue->wait_end = vgpu_clock_now(fence->gpu);
		vgpu_sched_ready_locked(queue);
	}
	return false;
}

/* The caller has stored a value before a full barrier. Partner: vgpu_fence_block(). */
static bool fence_blocks_queues(const struct vgpu_fence *fence)
{
	vfence_race_point(QUEUE_RELEASE);
	return atomic_read(&fence->blocked_count);
}

/* Release up to @portions portions, between which others get the lock. True if there are more. */
static bool fence_release_portions(struct vgpu_fence *fence, struct vgpu_release *release,
				   unsigned int portions)
{
	spinlock_t *sched = &fence->gpu->chip->sched;
	unsigned long flags;
	bool more = true;

	while (more && portions--) {
		spin_lock_irqsave(sched, flags);
		if (!release->end)
			release->end = fence->block_serial;
		more = fence_release_some_locked(fence, release);
		spin_unlock_irqrestore(sched, flags);
	}
	return more;
}

/* Release all queues that a CPU signal satisfies, on the time of the caller, who can sleep. */
static void fence_release_all(struct vgpu_fence *fence, u64 value, u64 time)
{
	struct vgpu_release release = { .value = value, .time = time };

	might_sleep();
	if (!fence_blocks_queues(fence))
		return;
	while (fence_release_portions(fence, &release, 1))
		cond_resched();
}

/* A later signal of the same fence may extend what an earlier one has left. */
static bool fence_extends_pending(const struct vgpu_engine *engine, const struct vgpu_fence *fence,
				  u64 value)
{
	return READ_ONCE(engine->pending_fence) == fence && value >= engine->pending_release.value;
}

/* Return true if a signal of @value releases no more queues than one portion has. */
static bool fence_releases_few(struct vgpu_fence *fence, u64 value)
{
	spinlock_t *sched = &fence->gpu->chip->sched;
	unsigned int visits = 0;
	struct rb_node *node;
	unsigned long flags;

	spin_lock_irqsave(sched, flags);
	for (node = rb_first_cached(&fence->blocked); node; node = rb_next(node)) {
		const struct vgpu_queue *queue = rb_entry(node, struct vgpu_queue, block_node);

		if (!vfence_reached(value, queue->block_value) || ++visits > FENCE_RELEASE_VISITS)
			break;
	}
	spin_unlock_irqrestore(sched, flags);
	return visits <= FENCE_RELEASE_VISITS;
}

/**
 * vgpu_fence_has_room - may an engine signal a fence?
 * @engine: the engine, whose thread calls
 * @fence: the fence
 * @value: the value of the signal
 *
 * An engine leaves the queues beyond the first portions of a signal to its work, and can do so
 * for one signal at a time. Return: false if the signal must wait for that work.
 */
bool vgpu_fence_has_room(const struct vgpu_engine *engine, struct vgpu_fence *fence, u64 value)
{
	return !READ_ONCE(engine->pending_fence) || fence_extends_pending(engine, fence, value) ||
	       fence_releases_few(fence, value);
}

/* Leave the rest of a release to the work. Return false if it has another one to finish. */
static bool fence_leave_pending(struct vgpu_engine *engine, struct vgpu_fence *fence,
				const struct vgpu_release *release)
{
	unsigned long flags;
	bool left = true;

	spin_lock_irqsave(&engine->chip->sched, flags);
	if (!engine->pending_fence || fence_extends_pending(engine, fence, release->value)) {
		engine->pending_release = *release;
		WRITE_ONCE(engine->pending_fence, fence);
	} else {
		left = false;
	}
	spin_unlock_irqrestore(&engine->chip->sched, flags);

	if (left)
		queue_work(engine->chip->release_wq, &engine->release);
	return left;
}

/**
 * vgpu_fence_release_work - release the queues that a signal of an engine has left
 * @work: vgpu_engine.release
 *
 * The fence exists while it is in pending_fence: vgpu_fence_destroy() takes it out.
 */
void vgpu_fence_release_work(struct work_struct *work)
{
	struct vgpu_engine *engine = container_of(work, struct vgpu_engine, release);
	/* A packet of a published submission may wait in vgpu_fence_has_room(). */
	bool signalling = dma_fence_begin_signalling();
	unsigned long flags;
	bool more;

	do {
		spin_lock_irqsave(&engine->chip->sched, flags);
		more = engine->pending_fence &&
		       fence_release_some_locked(engine->pending_fence, &engine->pending_release);
		if (!more)
			WRITE_ONCE(engine->pending_fence, NULL);
		spin_unlock_irqrestore(&engine->chip->sched, flags);
		cond_resched();
	} while (more);
	dma_fence_end_signalling(signalling);
}

/**
 * vgpu_fence_notify - release the queues that a signal of an engine satisfies
 * @engine: the engine, whose thread calls
 * @fence: the fence
 * @value: the value, which the caller has stored before a full barrier
 *
 * Compare with @value instead of the slot, so that a rewind cannot hide it.
 *
 * Other clients decide how many queues wait. So the engine releases only the first portions
 * itself and leaves the rest to its work.
 *
 * Return: true if queues wait for the fence, for this value or another.
 */
bool vgpu_fence_notify(struct vgpu_engine *engine, struct vgpu_fence *fence, u64 value)
{
	struct vgpu_release release = { .value = value, .time = VGPU_ANY_TIME };

	if (!fence_blocks_queues(fence))
		return false;

	/*
	 * If the work is busy, vgpu_fence_has_room() has found few queues before the signal. Those
	 * that other engines have blocked since are released here.
	 */
	while (fence_release_portions(fence, &release, FENCE_RELEASE_PORTIONS) &&
	       !fence_leave_pending(engine, fence, &release))
		;
	return true;
}

void vgpu_fence_take_missed(struct vgpu_fence *fence, struct vgpu_missed *missed)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->missed_lock, flags);
	*missed = fence->missed;
	fence->missed = (struct vgpu_missed){};
	spin_unlock_irqrestore(&fence->missed_lock, flags);
}

static void fence_forget_pending(struct vgpu_fence *fence)
{
	struct vgpu_chip *chip = fence->gpu->chip;
	unsigned long flags;
	unsigned int node;

	spin_lock_irqsave(&chip->sched, flags);
	for (node = 0; node < chip->nodes; node++)
		if (chip->engine[node].pending_fence == fence)
			WRITE_ONCE(chip->engine[node].pending_fence, NULL);
	spin_unlock_irqrestore(&chip->sched, flags);
}

void vgpu_fence_destroy(struct vgpu_fence *fence)
{
	fence_forget_pending(fence);
	/* Release the blocked queues. No queue can block now: the fence is open nowhere. */
	fence_release_all(fence, ~(u64)0, VGPU_ANY_TIME);
	vgpu_cmp_flush(fence->gpu);
	vfence_leak_check_free(HW_FENCE, fence);
}

int vgpu_fence_update_monitored_values(struct vgpu *gpu, const struct vgpu_value_update *update,
				       unsigned int count)
{
	unsigned int i;

	if (vgpu_injection_take(&gpu->injections, VGPU_INJECT_FAIL_MONITORED_UPDATE))
		return -EIO;

	atomic64_add(count, &gpu->monitored_updates);
	if (in_hardirq())
		atomic64_add(count, &gpu->monitored_updates_irq);

	for (i = 0; i < count; i++) {
		WRITE_ONCE(*update[i].kernel_va, update[i].value);
		if (update[i].fence->shadowed)
			vgpu_cmp_update_shadow(update[i].fence, update[i].value);
	}

	vfence_race_point(MONITORED_UPDATE);
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
	/* Waits of the CPU read the value: it stays as high as it was when it became so. */
	else if (!(flags & VGPU_UPDATE_NOTIFICATION_ONLY) &&
		 !READ_ONCE(update->fence->always_signaled))
		fence_store_from_cpu(update);
}

int vgpu_fence_update_current_values(struct vgpu *gpu,
				     const struct vgpu_value_update *update,
				     unsigned int count, unsigned int flags)
{
	unsigned int i;

	if (vgpu_injection_take(&gpu->injections, VGPU_INJECT_FAIL_CURRENT_UPDATE))
		return -EIO;

	for (i = 0; i < count; i++)
		fence_store_update(&update[i], flags);
	/* Handshake (b), side of the signaller. Partner: vgpu_fence_block(). */
	smp_mb();

	for (i = 0; i < count; i++)
		fence_release_all(update[i].fence, flags & VGPU_UPDATE_ALWAYS_SIGNALED ?
				  ~(u64)0 : update[i].value,
				  flags & VGPU_UPDATE_NOTIFICATION_ONLY ? update[i].time :
									  VGPU_ANY_TIME);
	return 0;
}
