// SPDX-License-Identifier: GPL-2.0
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
	vfence_wait_account(wait);
	vfence_wait_disarm(wait);
	return true;
}

static bool ready_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	if (submission->wait && !vfence_mutant_is(HOLD_IGNORED)) {
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

/* Let go what is first and need not wait. Nothing of it can fail. */
static void advance_locked(struct vfence_kqueue *kqueue)
{
	struct vfence_submission *submission;

	lockdep_assert_held(&kqueue->lock);
	while (!READ_ONCE(kqueue->error)) {
		submission = list_first_entry_or_null(&kqueue->held, struct vfence_submission,
						      link);
		if (!submission || !ready_locked(kqueue, submission))
			return;
		take_locked(kqueue, submission);
		drm_sched_job_arm(&submission->job);
		drm_sched_entity_push_job(&submission->job);
	}
}

static void advance_work(struct work_struct *work)
{
	struct vfence_kqueue *kqueue = container_of(work, struct vfence_kqueue, advance);

	mutex_lock(&kqueue->lock);
	advance_locked(kqueue);
	mutex_unlock(&kqueue->lock);
}

/* It never gets to the GPU. */
static void cancel_locked(struct vfence_kqueue *kqueue, struct vfence_submission *submission)
{
	int error = kqueue->error == -ENODEV ? -ENODEV : -ECANCELED;

	take_locked(kqueue, submission);
	if (submission->wait) {
		if (submission->begun) {
			/* Who fires it may still be at it: see vfence_kqueue_destroy(). */
			vfence_wait_move(submission->wait, VFENCE_WAIT_ARMING,
					 VFENCE_WAIT_CANCELLED);
			kqueue->late |= !vfence_wait_move(submission->wait, VFENCE_WAIT_ARMED,
							  VFENCE_WAIT_CANCELLED);
			vfence_wait_account(submission->wait);
			vfence_wait_disarm(submission->wait);
		}
		wait_over_locked(kqueue, submission);
	}
	vfence_broadcast_lose(submission, VFENCE_STAGE_SUBMITTED);
	vfence_count(kqueue->queue->adapter, VFENCE_COUNT_SUBMISSIONS_LOST);
	vfence_done_signal(submission->done, error);
	vfence_submission_free(submission);
}

/**
 * vfence_kqueue_hold_locked - take a submission, and let it go if it need not wait
 * @kqueue: the queue, locked
 * @submission: what its queue has from now on; may be gone on return
 *
 * A queue that is stopped cancels it at once. Return: its progress value.
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
	/* It is stopped under the lock after the error is set, or finds what is here. */
	if (READ_ONCE(kqueue->error))
		cancel_locked(kqueue, submission);
	else
		advance_locked(kqueue);
	return progress;
}

/** vfence_kqueue_enter - room for one more submission */
bool vfence_kqueue_enter(struct vfence_kqueue *kqueue)
{
	return atomic_add_unless(&kqueue->live, 1, DRM_VFENCE_MAX_SUBMISSIONS);
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

static void cancel_held(struct vfence_kqueue *kqueue)
{
	struct vfence_submission *submission;

	mutex_lock(&kqueue->lock);
	while ((submission = list_first_entry_or_null(&kqueue->held, struct vfence_submission,
						      link)))
		cancel_locked(kqueue, submission);
	mutex_unlock(&kqueue->lock);
}

/**
 * vfence_kqueue_stop - end all submissions that are not done, for good
 * @kqueue: the queue
 * @error: why the first of them is not
 *
 * What is done has been told of on return. Process context.
 */
void vfence_kqueue_stop(struct vfence_kqueue *kqueue, int error)
{
	spin_lock(&kqueue->run_lock);
	if (!kqueue->error)
		WRITE_ONCE(kqueue->error, error);
	spin_unlock(&kqueue->run_lock);
	vgpu_queue_abort(kqueue->queue->hw);
	WRITE_ONCE(kqueue->aborted, kqueue->error);
	vfence_job_retire(kqueue);
	cancel_held(kqueue);
	wake_up_all(&kqueue->wait);
	flush_work(&kqueue->announce);
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
	wait_event(kqueue->wait, !atomic_read(&kqueue->live));
	/* The last may still be at it: vfence_kqueue_leave(). */
	spin_lock_irq(&kqueue->wait.lock);
	spin_unlock_irq(&kqueue->wait.lock);
	/* Who has decided a wait that was cancelled queues its work in a section. */
	if (kqueue->late)
		synchronize_rcu();
	cancel_work_sync(&kqueue->advance);
	/* Older schedulers would stop their thread under it. */
	cancel_delayed_work_sync(&kqueue->sched.work_tdr);
	drm_sched_entity_destroy(&kqueue->entity);
	drm_sched_fini(&kqueue->sched);
	kqueue->scheduling = false;
	cancel_work_sync(&kqueue->retire);
	flush_work(&kqueue->announce);
}

/** vfence_kqueue_free - free its memory; nobody looks any more */
void vfence_kqueue_free(struct vfence_kqueue *kqueue)
{
	if (kqueue->soft_progress)
		vfence_wait_destroy(kqueue->soft_progress);
	free_page((unsigned long)kqueue->control);
	vfree(kqueue->ring);
	kfree(kqueue);
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
