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
#include "vfence_submit.h"

static void advance_soon(struct vfence_kqueue *kqueue)
{
	queue_work(kqueue->queue->adapter->submit_wq, &kqueue->advance);
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

static void wait_over_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	lockdep_assert_held(&kqueue->lock);
	vfence_wait_destroy(submission->wait);
	submission->wait = NULL;
	WRITE_ONCE(kqueue->unbounded, kqueue->unbounded - 1);
	wake_up_all(&kqueue->wait);
}

/*
 * Are its points reached? If nobody can signal one any more it goes on, as queues of
 * the hardware do (WDDM-66).
 */
static bool reached_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	struct vfence_wait *wait = submission->wait;

	lockdep_assert_held(&kqueue->lock);
	if (!submission->begun) {
		if (vfence_wait_poll(wait, false))
			return true;
		/* The device goes, and with it the queue. */
		if (vfence_wait_begin(wait))
			return false;
		submission->begun = true;
		vfence_count(wait->adapter, VFENCE_COUNT_SUBMISSIONS_HELD);
	}
	if (vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED) ||
	    atomic_read(&wait->state) == VFENCE_WAIT_ARMED)
		return false;
	/* Who decided it may have its fire() still before it: vfence_kqueue_destroy(). */
	WRITE_ONCE(kqueue->late, true);
	vfence_wait_account(wait);
	vfence_wait_disarm(wait);
	return true;
}

static bool ready_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	if (submission->wait) {
		if (!reached_locked(kqueue, submission))
			return false;
		wait_over_locked(kqueue, submission);
	}
	return !submission->deps || vfence_dependencies_met(submission->deps);
}

static void take_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	lockdep_assert_held(&kqueue->lock);
	list_del_init(&submission->link);
	WRITE_ONCE(kqueue->held_count, kqueue->held_count - 1);
}

/* Nothing of it can fail. Not ours any more: it may be done and gone. */
static void let_go_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	take_locked(kqueue, submission);
	drm_sched_job_arm(&submission->job);
	drm_sched_entity_push_job(&submission->job);
}

static struct vfence_submission *first_held_locked(struct vfence_kqueue *kqueue)
{
	lockdep_assert_held(&kqueue->lock);
	return list_first_entry_or_null(&kqueue->held, struct vfence_submission, link);
}

/* Let go what is first and need not wait. */
static void advance_locked(struct vfence_kqueue *kqueue)
{
	struct vfence_submission *submission;

	while (!READ_ONCE(kqueue->error) && (submission = first_held_locked(kqueue)) &&
	       ready_locked(kqueue, submission))
		let_go_locked(kqueue, submission);
}

static void advance_work(struct work_struct *work)
{
	struct vfence_kqueue *kqueue = container_of(work, struct vfence_kqueue, advance);

	mutex_lock(&kqueue->lock);
	advance_locked(kqueue);
	mutex_unlock(&kqueue->lock);
}

static void end_wait_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	struct vfence_wait *wait = submission->wait;

	if (submission->begun) {
		vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_CANCELLED);
		/* As above: somebody else decided it. */
		if (!vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED))
			WRITE_ONCE(kqueue->late, true);
		vfence_wait_account(wait);
		vfence_wait_disarm(wait);
	}
	wait_over_locked(kqueue, submission);
}

/* The queue is stopped: none gets on the ring, and each ends behind those before. */
static void let_all_go_locked(struct vfence_kqueue *kqueue)
{
	struct vfence_submission *submission;

	while ((submission = first_held_locked(kqueue))) {
		if (submission->wait)
			end_wait_locked(kqueue, submission);
		let_go_locked(kqueue, submission);
	}
}

/**
 * vfence_kqueue_hold_locked - take a submission, and let it go if it need not wait
 * @kqueue: the queue, locked
 * @submission: what its queue has from now on; may be gone on return
 *
 * On a queue that is stopped it fails. Return: its progress value.
 */
u64 vfence_kqueue_hold_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	u64 progress = kqueue->submitted + 1;

	lockdep_assert_held(&kqueue->lock);
	WRITE_ONCE(kqueue->submitted, progress);
	submission->progress = progress;
	vfence_done_place(submission->done, progress);
	list_add_tail(&submission->link, &kqueue->held);
	WRITE_ONCE(kqueue->held_count, kqueue->held_count + 1);
	if (submission->wait) {
		submission->wait->gpu = true;
		submission->wait->fire = fire;
		submission->wait->owner = kqueue;
		WRITE_ONCE(kqueue->unbounded, kqueue->unbounded + 1);
	}
	if (submission->deps)
		vfence_dependencies_arm(submission->deps, met, kqueue);
	vfence_count(kqueue->queue->adapter, VFENCE_COUNT_SUBMISSIONS);
	/* Who stops it takes the lock after the error is set, and finds what is here. */
	if (READ_ONCE(kqueue->error))
		let_all_go_locked(kqueue);
	else
		advance_locked(kqueue);
	return progress;
}

/**
 * vfence_kqueue_enter - one more submission, to be queued or to leave soon
 * @kqueue: the queue, which somebody keeps from being freed
 *
 * Its destroyer waits for it: nothing behind this may wait for a client, or for a lock
 * that is held while one destroys queues. Return: 0, -ENOSPC, or -EIO if it is stopped.
 */
int vfence_kqueue_enter(struct vfence_kqueue *kqueue)
{
	/* The count, then the error: a full barrier. Partner: vfence_kqueue_destroy(). */
	if (!atomic_add_unless(&kqueue->live, 1, DRM_VFENCE_MAX_SUBMISSIONS))
		return -ENOSPC;
	if (!READ_ONCE(kqueue->error))
		return 0;
	vfence_kqueue_leave(kqueue);
	return -EIO;
}

/** vfence_kqueue_leave - one less; the queue may be gone on return */
void vfence_kqueue_leave(struct vfence_kqueue *kqueue)
{
	unsigned long flags;

	/* Who sees that it was the last takes the lock before the queue goes. */
	spin_lock_irqsave(&kqueue->wait.lock, flags);
	if (atomic_dec_and_test(&kqueue->live))
		wake_up_all_locked(&kqueue->wait);
	spin_unlock_irqrestore(&kqueue->wait.lock, flags);
}

/**
 * vfence_kqueue_halt - nothing more gets on the ring, and nothing happens there
 * @kqueue: the queue
 * @error: what became of the submission it was at
 *
 * Those that the GPU had have ended on return, and been told of. Process context; waits
 * for nothing that needs memory.
 */
void vfence_kqueue_halt(struct vfence_kqueue *kqueue, int error)
{
	spin_lock(&kqueue->run_lock);
	if (!kqueue->error)
		WRITE_ONCE(kqueue->error, error);
	spin_unlock(&kqueue->run_lock);
	vgpu_queue_abort(kqueue->queue->hw);
	/* Release: the GPU does nothing any more. Partner: vfence_job_retire(). */
	smp_store_release(&kqueue->aborted, kqueue->error);
	vfence_job_retire(kqueue);
}

/**
 * vfence_kqueue_stop - end all submissions that are not done, for good
 * @kqueue: the queue
 * @error: what became of the one it was at
 *
 * What was held back ends a moment after the return; what was done is signaled by then.
 */
void vfence_kqueue_stop(struct vfence_kqueue *kqueue, int error)
{
	vfence_kqueue_halt(kqueue, error);
	mutex_lock(&kqueue->lock);
	let_all_go_locked(kqueue);
	mutex_unlock(&kqueue->lock);
	wake_up_all(&kqueue->wait);
	/* Packets of what is not done may have written monitored fences. */
	queue_work(kqueue->queue->adapter->signal_wq, &kqueue->announce);
	flush_work(&kqueue->announce);
}

/* A call sleeps for the points itself. Any context, under RCU. */
static void wake(struct vfence_wait *wait)
{
	struct vfence_kqueue *kqueue = wait->owner;

	wake_up_all(&kqueue->wait);
}

static bool is_over(struct vfence_kqueue *kqueue, struct vfence_wait *wait)
{
	return atomic_read(&wait->state) != VFENCE_WAIT_ARMED || READ_ONCE(kqueue->error);
}

/**
 * vfence_kqueue_sleep_reached - sleep until points are reached
 * @kqueue: the queue, which somebody keeps from being freed
 * @wait: the points, ARMING; nothing is armed on return
 *
 * Return: 0, also if the queue was stopped, -ENODEV, or -ERESTARTSYS.
 */
int vfence_kqueue_sleep_reached(struct vfence_kqueue *kqueue, struct vfence_wait *wait)
{
	int ret;

	wait->gpu = true;
	if (vfence_wait_poll(wait, false))
		return 0;
	wait->fire = wake;
	wait->owner = kqueue;
	ret = vfence_wait_begin(wait);
	if (ret)
		return ret;
	lockdep_assert_none_held_once();
	vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED);
	ret = wait_event_interruptible(kqueue->wait, is_over(kqueue, wait));
	if (!vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED)) {
		WRITE_ONCE(kqueue->late, true);
		/* Reached beats interrupted. */
		ret = atomic_read(&wait->state) == VFENCE_WAIT_FAILED ? READ_ONCE(wait->error) :
									0;
	}
	vfence_wait_account(wait);
	vfence_wait_disarm(wait);
	return ret;
}

/** vfence_kqueue_sleep_bounded - sleep until nothing of it waits for fences, or it is stopped */
int vfence_kqueue_sleep_bounded(struct vfence_kqueue *kqueue)
{
	lockdep_assert_none_held_once();
	return wait_event_interruptible(kqueue->wait, !READ_ONCE(kqueue->unbounded) ||
					READ_ONCE(kqueue->error));
}

static int create_soft_progress(struct vfence_kqueue *kqueue)
{
	struct vfence_fence *fence = kqueue->queue->progress_fence;

	if (fence->hw || fence->adapter->config.gpu.monitored_signal)
		return 0;
	kqueue->soft_progress = vfence_signal_create(fence, 0);
	return kqueue->soft_progress ? 0 : -ENOMEM;
}

/**
 * vfence_kqueue_create - make a queue one that the kernel fills
 * @queue: the queue, with its progress fence
 * @progress: where that is
 *
 * Return: 0, or an error, after which vfence_kqueue_free() is still due.
 */
int vfence_kqueue_create(struct vfence_queue *queue,
			 const struct drm_vfence_fence_mapping *progress)
{
	struct vfence_kqueue *kqueue = queue->kernel;
	int ret;

	kqueue->queue = queue;
	kqueue->file = queue->file;
	kqueue->progress = *progress;
	kqueue->timeline = dma_fence_context_alloc(1);
	mutex_init(&kqueue->lock);
	mutex_init(&kqueue->retire_lock);
	spin_lock_init(&kqueue->run_lock);
	INIT_LIST_HEAD(&kqueue->held);
	INIT_LIST_HEAD(&kqueue->running);
	INIT_LIST_HEAD(&kqueue->due);
	init_waitqueue_head(&kqueue->wait);
	INIT_WORK(&kqueue->advance, advance_work);
	INIT_WORK(&kqueue->retire, vfence_job_retire_work);
	INIT_WORK(&kqueue->announce, vfence_broadcast_announce_work);
	ret = create_soft_progress(kqueue);
	return ret ? ret : vfence_job_init(kqueue);
}

/**
 * vfence_kqueue_destroy - the owner lets go of a stopped queue
 * @kqueue: the queue
 *
 * Nothing of it is queued, runs or is told of on return. Bounded: what is stopped ends
 * without anybody's help.
 */
void vfence_kqueue_destroy(struct vfence_kqueue *kqueue)
{
	if (!kqueue->scheduling)
		return;
	/* The error, then the count. Partner: vfence_kqueue_enter(). */
	smp_mb();
	wait_event(kqueue->wait, !atomic_read(&kqueue->live));
	/* The last may still be at it: vfence_kqueue_leave(). */
	spin_lock_irq(&kqueue->wait.lock);
	spin_unlock_irq(&kqueue->wait.lock);
	/* Who has decided a wait calls fire() in the same section. */
	if (READ_ONCE(kqueue->late))
		synchronize_rcu();
	cancel_work_sync(&kqueue->advance);
	/* Older schedulers would stop their thread under it. */
	cancel_delayed_work_sync(&kqueue->sched.work_tdr);
	drm_sched_entity_destroy(&kqueue->entity);
	drm_sched_fini(&kqueue->sched);
	kqueue->scheduling = false;
	cancel_work_sync(&kqueue->retire);
	flush_work(&kqueue->announce);
	/* Somebody may have found the queue before, and stop it now. */
	mutex_lock(&kqueue->lock);
	kqueue->file = NULL;
	mutex_unlock(&kqueue->lock);
}

/** vfence_kqueue_free - free its memory; nobody looks any more */
void vfence_kqueue_free(struct vfence_kqueue *kqueue)
{
	/* A call that slept for its points may have found them reached after the end. */
	if (READ_ONCE(kqueue->late))
		synchronize_rcu();
	if (kqueue->soft_progress)
		vfence_wait_destroy(kqueue->soft_progress);
	free_page((unsigned long)kqueue->control);
	vfree(kqueue->ring);
	vfence_object_free(KERNEL_QUEUE, kqueue);
}

/** vfence_kqueue_query - its part of a queue's state */
void vfence_kqueue_query(struct vfence_kqueue *kqueue, struct drm_vfence_queue_query *args)
{
	mutex_lock(&kqueue->lock);
	args->last_queued = kqueue->submitted;
	args->held = kqueue->held_count;
	args->queued = atomic_read(&kqueue->live) - kqueue->held_count;
	mutex_unlock(&kqueue->lock);
}
