// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Kernel-mode queues
 *
 * A submission that waits for fences is held back here, with all behind it, until it
 * is the first and its waits are met; then a drm_sched of the queue's own gets it. What
 * drm_sched has is bounded: it waits for nothing, and is aborted if it takes too long.
 *
 * Waits begin when their submission is the first: a value that comes and goes before is
 * not seen. dma_fences are listened to from the beginning.
 */

#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "fence/vfence_fence.h"
#include "fence/vfence_point.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_sync.h"
#include "fence/vfence_wait.h"
#include "queue/vfence_job.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_stage.h"
#include "queue/vfence_submit.h"

static void advance_soon(struct vfence_kernel_queue *kernel)
{
	queue_work(kernel->queue->adapter->queues.submit_wq, &kernel->advance);
}

/* The points of the first are reached, or never will be. Any context, under RCU. */
static void fire(struct vfence_wait *wait)
{
	advance_soon(wait->owner);
}

/* Its dma_fences have signaled. Any context. */
static void met(void *owner)
{
	advance_soon(owner);
}

static void wait_over_locked(struct vfence_kernel_queue *kernel,
			     struct vfence_submission *submission)
{
	lockdep_assert_held(&kernel->lock);
	vfence_wait_destroy(submission->wait);
	submission->wait = NULL;
	WRITE_ONCE(kernel->unbounded, kernel->unbounded - 1);
	wake_up_all(&kernel->wait);
}

/*
 * Are its points reached? If nobody can signal one any more it goes on, as queues of
 * the hardware do (WDDM-66).
 */
static bool reached_locked(struct vfence_kernel_queue *kernel, struct vfence_submission *submission)
{
	struct vfence_wait *wait = submission->wait;

	lockdep_assert_held(&kernel->lock);
	if (!submission->begun) {
		if (vfence_wait_poll(wait, false))
			return true;
		/* The device goes, and with it the queue. */
		if (vfence_point_arm_all(wait))
			return false;
		submission->begun = true;
		vfence_count(wait->adapter, VFENCE_COUNT_SUBMISSIONS_HELD);
	}
	if (vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED) ||
	    atomic_read(&wait->state) == VFENCE_WAIT_ARMED)
		return false;
	/* Who decided it may have its fire() still before it: vfence_kernel_queue_destroy(). */
	WRITE_ONCE(kernel->late, true);
	vfence_wait_account(wait);
	vfence_point_disarm_all(wait);
	return true;
}

static bool ready_locked(struct vfence_kernel_queue *kernel, struct vfence_submission *submission)
{
	if (submission->wait) {
		if (!reached_locked(kernel, submission))
			return false;
		wait_over_locked(kernel, submission);
	}
	return !submission->in_syncs || vfence_sync_in_signaled(submission->in_syncs);
}

static void take_locked(struct vfence_kernel_queue *kernel, struct vfence_submission *submission)
{
	lockdep_assert_held(&kernel->lock);
	list_del_init(&submission->link);
	WRITE_ONCE(kernel->held_count, kernel->held_count - 1);
}

/* Nothing of it can fail. Not ours any more: it may be done and gone. */
static void let_go_locked(struct vfence_kernel_queue *kernel, struct vfence_submission *submission)
{
	take_locked(kernel, submission);
	drm_sched_job_arm(&submission->job);
	drm_sched_entity_push_job(&submission->job);
}

static struct vfence_submission *first_held_locked(struct vfence_kernel_queue *kernel)
{
	lockdep_assert_held(&kernel->lock);
	return list_first_entry_or_null(&kernel->held, struct vfence_submission, link);
}

/* Let go what is first and need not wait. */
static void advance_locked(struct vfence_kernel_queue *kernel)
{
	struct vfence_submission *submission;

	while (!READ_ONCE(kernel->error) && (submission = first_held_locked(kernel)) &&
	       ready_locked(kernel, submission))
		let_go_locked(kernel, submission);
}

static void advance_work(struct work_struct *work)
{
	struct vfence_kernel_queue *kernel =
		container_of(work, struct vfence_kernel_queue, advance);

	mutex_lock(&kernel->lock);
	advance_locked(kernel);
	mutex_unlock(&kernel->lock);
}

static void end_wait_locked(struct vfence_kernel_queue *kernel,
			    struct vfence_submission *submission)
{
	struct vfence_wait *wait = submission->wait;

	if (submission->begun) {
		vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_CANCELLED);
		/* As above: somebody else decided it. */
		if (!vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED))
			WRITE_ONCE(kernel->late, true);
		vfence_wait_account(wait);
		vfence_point_disarm_all(wait);
	}
	wait_over_locked(kernel, submission);
}

/* The queue is stopped: none gets on the ring, and each ends behind those before. */
static void let_all_go_locked(struct vfence_kernel_queue *kernel)
{
	struct vfence_submission *submission;

	while ((submission = first_held_locked(kernel))) {
		if (submission->wait)
			end_wait_locked(kernel, submission);
		let_go_locked(kernel, submission);
	}
}

/**
 * vfence_kernel_queue_hold_locked - take a submission, and let it go if it need not wait
 * @kernel: the queue, locked
 * @submission: what its queue has from now on; may be gone on return
 *
 * On a queue that is stopped it fails. Return: its progress value.
 */
u64 vfence_kernel_queue_hold_locked(struct vfence_kernel_queue *kernel,
				    struct vfence_submission *submission)
{
	u64 progress = kernel->submitted + 1;

	lockdep_assert_held(&kernel->lock);
	WRITE_ONCE(kernel->submitted, progress);
	submission->progress = progress;
	vfence_sync_done_place(submission->done, progress);
	list_add_tail(&submission->link, &kernel->held);
	WRITE_ONCE(kernel->held_count, kernel->held_count + 1);
	if (submission->wait) {
		submission->wait->gpu = true;
		submission->wait->fire = fire;
		submission->wait->owner = kernel;
		WRITE_ONCE(kernel->unbounded, kernel->unbounded + 1);
	}
	if (submission->in_syncs)
		vfence_sync_in_arm(submission->in_syncs, met, kernel);
	vfence_count(kernel->queue->adapter, VFENCE_COUNT_SUBMISSIONS);
	/* Who stops it takes the lock after the error is set, and finds what is here. */
	if (READ_ONCE(kernel->error))
		let_all_go_locked(kernel);
	else
		advance_locked(kernel);
	return progress;
}

/**
 * vfence_kernel_queue_enter - one more submission, to be queued or to leave soon
 * @kernel: the queue, which somebody keeps from being freed
 *
 * Its destroyer waits for it: nothing behind this may wait for a client, or for a lock
 * that is held while one destroys queues. Return: 0, -ENOSPC, or -EIO if it is stopped.
 */
int vfence_kernel_queue_enter(struct vfence_kernel_queue *kernel)
{
	/* The count, then the error: a full barrier. Partner: vfence_kernel_queue_destroy(). */
	if (!atomic_add_unless(&kernel->live, 1, DRM_VFENCE_MAX_SUBMISSIONS))
		return -ENOSPC;
	if (!READ_ONCE(kernel->error))
		return 0;
	vfence_kernel_queue_leave(kernel);
	return -EIO;
}

/** vfence_kernel_queue_leave - one less; the queue may be gone on return */
void vfence_kernel_queue_leave(struct vfence_kernel_queue *kernel)
{
	unsigned long flags;

	/* Who sees that it was the last takes the lock before the queue goes. */
	spin_lock_irqsave(&kernel->wait.lock, flags);
	if (atomic_dec_and_test(&kernel->live))
		wake_up_all_locked(&kernel->wait);
	spin_unlock_irqrestore(&kernel->wait.lock, flags);
}

/**
 * vfence_kernel_queue_halt - nothing more gets on the ring, and nothing happens there
 * @kernel: the queue
 * @error: what became of the submission it was at
 *
 * Those that the GPU had have ended on return, and been told of. Process context; waits
 * for nothing that needs memory.
 */
void vfence_kernel_queue_halt(struct vfence_kernel_queue *kernel, int error)
{
	spin_lock(&kernel->run_lock);
	if (!kernel->error)
		WRITE_ONCE(kernel->error, error);
	spin_unlock(&kernel->run_lock);
	vgpu_queue_abort(kernel->queue->hw);
	/* Release: the GPU does nothing any more. Partner: vfence_job_retire(). */
	smp_store_release(&kernel->aborted, kernel->error);
	vfence_job_retire(kernel);
}

/**
 * vfence_kernel_queue_stop - end all submissions that are not done, for good
 * @kernel: the queue
 * @error: what became of the one it was at
 *
 * What was held back ends a moment after the return; what was done is signaled by then.
 */
void vfence_kernel_queue_stop(struct vfence_kernel_queue *kernel, int error)
{
	vfence_kernel_queue_halt(kernel, error);
	mutex_lock(&kernel->lock);
	let_all_go_locked(kernel);
	mutex_unlock(&kernel->lock);
	wake_up_all(&kernel->wait);
	/* Packets of what is not done may have written monitored fences. */
	queue_work(kernel->queue->adapter->queues.signal_wq, &kernel->announce);
	flush_work(&kernel->announce);
}

/* A call sleeps for the points itself. Any context, under RCU. */
static void wake(struct vfence_wait *wait)
{
	struct vfence_kernel_queue *kernel = wait->owner;

	wake_up_all(&kernel->wait);
}

static bool is_over(struct vfence_kernel_queue *kernel, struct vfence_wait *wait)
{
	return atomic_read(&wait->state) != VFENCE_WAIT_ARMED || READ_ONCE(kernel->error);
}

/**
 * vfence_kernel_queue_sleep_reached - sleep until points are reached
 * @kernel: the queue, which somebody keeps from being freed
 * @wait: the points, ARMING; nothing is armed on return
 *
 * Return: 0, also if the queue was stopped, -ENODEV, or -ERESTARTSYS.
 */
int vfence_kernel_queue_sleep_reached(struct vfence_kernel_queue *kernel, struct vfence_wait *wait)
{
	int ret;

	wait->gpu = true;
	if (vfence_wait_poll(wait, false))
		return 0;
	wait->fire = wake;
	wait->owner = kernel;
	ret = vfence_point_arm_all(wait);
	if (ret)
		return ret;
	lockdep_assert_none_held_once();
	vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED);
	ret = wait_event_interruptible(kernel->wait, is_over(kernel, wait));
	if (!vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED)) {
		WRITE_ONCE(kernel->late, true);
		/* Reached beats interrupted. */
		ret = atomic_read(&wait->state) == VFENCE_WAIT_FAILED ? READ_ONCE(wait->error) :
									0;
	}
	vfence_wait_account(wait);
	vfence_point_disarm_all(wait);
	return ret;
}

/**
 * vfence_kernel_queue_sleep_bounded - sleep until no submission waits for fences
 * @kernel: the queue
 *
 * Return: 0, also if the queue was stopped, or -ERESTARTSYS.
 */
int vfence_kernel_queue_sleep_bounded(struct vfence_kernel_queue *kernel)
{
	lockdep_assert_none_held_once();
	return wait_event_interruptible(kernel->wait, !READ_ONCE(kernel->unbounded) ||
					READ_ONCE(kernel->error));
}

static int create_soft_progress(struct vfence_kernel_queue *kernel)
{
	struct vfence_fence *fence = kernel->queue->progress_fence;

	if (fence->hw || fence->adapter->config.gpu.monitored_signal)
		return 0;
	kernel->soft_progress = vfence_signal_create(fence, 0);
	return kernel->soft_progress ? 0 : -ENOMEM;
}

/**
 * vfence_kernel_queue_create - make a queue one that the kernel fills
 * @queue: the queue, with its progress fence
 * @progress: where that is
 *
 * Return: 0, or an error, after which vfence_kernel_queue_free() is still due.
 */
int vfence_kernel_queue_create(struct vfence_queue *queue,
			       const struct drm_vfence_fence_mapping *progress)
{
	struct vfence_kernel_queue *kernel = queue->kernel;
	int ret;

	kernel->queue = queue;
	kernel->file = queue->file;
	kernel->progress = *progress;
	kernel->timeline = dma_fence_context_alloc(1);
	mutex_init(&kernel->lock);
	mutex_init(&kernel->retire_lock);
	spin_lock_init(&kernel->run_lock);
	INIT_LIST_HEAD(&kernel->held);
	INIT_LIST_HEAD(&kernel->running);
	INIT_LIST_HEAD(&kernel->due);
	init_waitqueue_head(&kernel->wait);
	INIT_WORK(&kernel->advance, advance_work);
	INIT_WORK(&kernel->retire, vfence_job_retire_work);
	INIT_WORK(&kernel->announce, vfence_stage_work);
	ret = create_soft_progress(kernel);
	return ret ? ret : vfence_job_init(kernel);
}

/**
 * vfence_kernel_queue_destroy - the owner lets go of a stopped queue
 * @kernel: the queue
 *
 * Nothing of it is queued, runs or is told of on return. Bounded: what is stopped ends
 * without anybody's help.
 */
void vfence_kernel_queue_destroy(struct vfence_kernel_queue *kernel)
{
	if (!kernel->scheduling)
		return;
	/* The error, then the count. Partner: vfence_kernel_queue_enter(). */
	smp_mb();
	wait_event(kernel->wait, !atomic_read(&kernel->live));
	/* The last may still be at it: vfence_kernel_queue_leave(). */
	spin_lock_irq(&kernel->wait.lock);
	spin_unlock_irq(&kernel->wait.lock);
	/* Who has decided a wait calls fire() in the same section. */
	if (READ_ONCE(kernel->late))
		synchronize_rcu();
	cancel_work_sync(&kernel->advance);
	/* Older schedulers would stop their thread under it. */
	cancel_delayed_work_sync(&kernel->sched.work_tdr);
	drm_sched_entity_destroy(&kernel->entity);
	drm_sched_fini(&kernel->sched);
	kernel->scheduling = false;
	cancel_work_sync(&kernel->retire);
	flush_work(&kernel->announce);
	/* Somebody may have found the queue before, and stop it now. */
	mutex_lock(&kernel->lock);
	kernel->file = NULL;
	mutex_unlock(&kernel->lock);
}

/** vfence_kernel_queue_free - free its memory; nobody looks any more */
void vfence_kernel_queue_free(struct vfence_kernel_queue *kernel)
{
	/* A call that slept for its points may have found them reached after the end. */
	if (READ_ONCE(kernel->late))
		synchronize_rcu();
	if (kernel->soft_progress)
		vfence_wait_destroy(kernel->soft_progress);
	free_page((unsigned long)kernel->control);
	vfree(kernel->ring);
	vfence_object_free(KERNEL_QUEUE, kernel);
}

/** vfence_kernel_queue_query - its part of a queue's state */
void vfence_kernel_queue_query(struct vfence_kernel_queue *kernel,
			       struct drm_vfence_queue_query *args)
{
	mutex_lock(&kernel->lock);
	args->last_queued = kernel->submitted;
	args->held = kernel->held_count;
	args->queued = atomic_read(&kernel->live) - kernel->held_count;
	mutex_unlock(&kernel->lock);
}
