// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Kernel-mode queues
 *
 * A submission that waits for fences is held back here, with all submissions behind it,
 * until it is the first of the queue and its points are reached. Then the drm_sched of the
 * queue gets it. The submissions of a drm_sched are bounded: they wait for nothing, and the
 * queue is aborted if one takes too long.
 *
 * All waits of a submission begin when it is queued, whatever is in front of it: a point that
 * is reached once stays reached, even if the value is rewound before the submission is the
 * first.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/vfence_device.h"
#include "core/vfence_wake.h"
#include "fence/vfence_drain.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_sync.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_waiter.h"
#include "queue/vfence_job.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_log.h"
#include "queue/vfence_log_buffer.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_trace.h"
#include "queue/vfence_stage.h"
#include "queue/vfence_submission.h"
#include "vfence_race_point.h"

/*
 * The wait of a submission is decided: its points are reached, or never will be. Any context, in
 * the RCU section in which it was decided: the submission may end meanwhile, and the queue go, but
 * its memory stays.
 */
static void kernel_queue_wait_decided(struct vfence_wait *wait)
{
	vfence_kernel_queue_advance_later(wait->owner);
}

/* All in-syncs of a submission have signaled. Any context. */
static void kernel_queue_in_syncs_signaled(void *owner)
{
	vfence_kernel_queue_advance_later(owner);
}

/*
 * The submission waits for its points no longer. vfence_submission_free() frees the wait: to drop
 * the last reference of a fence takes locks under which other threads allocate.
 */
static void kernel_queue_end_wait_locked(struct vfence_kernel_queue *kernel,
					 struct vfence_submission *submission)
{
	lockdep_assert_held(&kernel->lock);
	submission->waiting = false;
	WRITE_ONCE(kernel->unbounded, kernel->unbounded - 1);
	/* Each thread wakes the next one. */
	if (!kernel->unbounded)
		wake_up(&kernel->bounded);
}

/**
 * vfence_kernel_queue_begin_wait - begin to wait for the points of a new submission
 * @kernel: the queue, which the submission has entered
 * @submission: the submission, which no other thread knows yet
 *
 * Call it before the queue is locked: it waits for signals that are in progress, and the lock is
 * needed to end submissions whose dma_fences are published.
 */
void vfence_kernel_queue_begin_wait(struct vfence_kernel_queue *kernel,
				    struct vfence_submission *submission)
{
	struct vfence_wait *wait = submission->wait;

	if (!wait || vfence_wait_is_reached(wait))
		return;

	submission->waiting = true;
	wait->gpu = true;
	wait->fire = kernel_queue_wait_decided;
	wait->owner = kernel;

	vfence_drain_and_arm_all(wait);
	vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED);
	vfence_count(wait->adapter, VFENCE_COUNT_SUBMISSIONS_HELD);
}

/*
 * Are the points of a submission reached? A submission also proceeds when a fence can no
 * longer be signaled, as a hardware queue does (WDDM-66).
 */
static bool kernel_queue_reached_locked(struct vfence_kernel_queue *kernel,
					struct vfence_submission *submission)
{
	struct vfence_wait *wait = submission->wait;

	lockdep_assert_held(&kernel->lock);

	if (atomic_read(&wait->state) == VFENCE_WAIT_ARMED)
		return false;

	vfence_wait_account(wait);
	vfence_waiter_disarm_all(wait);
	return true;
}

static bool kernel_queue_ready_locked(struct vfence_kernel_queue *kernel,
				      struct vfence_submission *submission)
{
	lockdep_assert_held(&kernel->lock);
	if (submission->waiting) {
		if (!kernel_queue_reached_locked(kernel, submission))
			return false;
		kernel_queue_end_wait_locked(kernel, submission);
	}
	return !submission->in_syncs || vfence_sync_in_signaled(submission->in_syncs);
}

static void kernel_queue_unlink_locked(struct vfence_kernel_queue *kernel,
				       struct vfence_submission *submission)
{
	lockdep_assert_held(&kernel->lock);
	list_del_init(&submission->link);
	WRITE_ONCE(kernel->held_count, kernel->held_count - 1);
}

/*
 * Pass a submission to drm_sched; cannot fail. Do not use the submission afterwards: it may
 * be completed and freed at any time.
 */
static void kernel_queue_push_job_locked(struct vfence_kernel_queue *kernel,
					 struct vfence_submission *submission)
{
	lockdep_assert_held(&kernel->lock);
	kernel_queue_unlink_locked(kernel, submission);
	trace_vfence_submission(&kernel->base, submission->progress, VFENCE_SUBMISSION_READY, 0);
	drm_sched_job_arm(&submission->job);
	drm_sched_entity_push_job(&submission->job);
}

static struct vfence_submission *kernel_queue_first_held_locked(struct vfence_kernel_queue *kernel)
{
	lockdep_assert_held(&kernel->lock);
	return list_first_entry_or_null(&kernel->held, struct vfence_submission, link);
}

/* Pass submissions to drm_sched, in order, up to the first that has to wait. */
static void kernel_queue_advance_locked(struct vfence_kernel_queue *kernel)
{
	struct vfence_submission *submission;

	lockdep_assert_held(&kernel->lock);
	while (!READ_ONCE(kernel->error) && (submission = kernel_queue_first_held_locked(kernel)) &&
	       kernel_queue_ready_locked(kernel, submission))
		kernel_queue_push_job_locked(kernel, submission);
}

static void kernel_queue_cancel_wait_locked(struct vfence_kernel_queue *kernel,
					    struct vfence_submission *submission)
{
	struct vfence_wait *wait = submission->wait;

	lockdep_assert_held(&kernel->lock);
	/* Another thread may have decided it. */
	vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED);
	vfence_wait_account(wait);
	vfence_waiter_disarm_all(wait);
	kernel_queue_end_wait_locked(kernel, submission);
}

/*
 * Pass all held submissions of a stopped queue to drm_sched. None of them gets on the ring,
 * and each ends after the submissions before it.
 */
static void kernel_queue_push_all_locked(struct vfence_kernel_queue *kernel)
{
	struct vfence_submission *submission;

	lockdep_assert_held(&kernel->lock);
	while ((submission = kernel_queue_first_held_locked(kernel))) {
		if (submission->waiting)
			kernel_queue_cancel_wait_locked(kernel, submission);
		kernel_queue_push_job_locked(kernel, submission);
	}
}

static void kernel_queue_advance_work(struct work_struct *work)
{
	struct vfence_kernel_queue *kernel =
		container_of(work, struct vfence_kernel_queue, advance);
	bool signalling;

	vfence_hold(ADVANCE);
	/* The dma_fences of submissions that wait for in-syncs are published. */
	signalling = dma_fence_begin_signalling();
	mutex_lock(&kernel->lock);
	if (READ_ONCE(kernel->error))
		kernel_queue_push_all_locked(kernel);
	else
		kernel_queue_advance_locked(kernel);
	mutex_unlock(&kernel->lock);
	dma_fence_end_signalling(signalling);
	vfence_queue_put_later(&kernel->base);
}

/**
 * vfence_kernel_queue_add_locked - add a submission, which runs at once if it need not wait
 * @kernel: the queue, locked
 * @submission: owned by the queue from now on; may be freed on return
 *
 * Its wait has begun, see vfence_kernel_queue_begin_wait(). Nothing here allocates, because the
 * dma_fences of other submissions of the queue may be published.
 *
 * On a stopped queue the submission fails. Return: its progress value.
 */
u64 vfence_kernel_queue_add_locked(struct vfence_kernel_queue *kernel,
				   struct vfence_submission *submission)
{
	u64 progress = kernel->submitted + 1;

	lockdep_assert_held(&kernel->lock);
	WRITE_ONCE(kernel->submitted, progress);
	submission->progress = progress;
	trace_vfence_submission(&kernel->base, progress, VFENCE_SUBMISSION_QUEUED, 0);
	vfence_sync_done_place(submission->done, progress);
	list_add_tail(&submission->link, &kernel->held);
	WRITE_ONCE(kernel->held_count, kernel->held_count + 1);

	if (submission->waiting)
		WRITE_ONCE(kernel->unbounded, kernel->unbounded + 1);
	if (submission->in_syncs)
		vfence_sync_in_arm(submission->in_syncs, kernel_queue_in_syncs_signaled, kernel);

	vfence_count(kernel->base.adapter, VFENCE_COUNT_SUBMISSIONS);
	vfence_client_count(kernel->base.file, VFENCE_COUNT_SUBMISSIONS, 1);

	/*
	 * kernel_queue_stop() takes the lock after it has set the error, so it finds
	 * a submission that was added before.
	 */
	if (READ_ONCE(kernel->error))
		kernel_queue_push_all_locked(kernel);
	else
		kernel_queue_advance_locked(kernel);

	return progress;
}

/*
 * The signals of completed submissions are performed in a chore, which then ends the progress
 * fence. Submissions that were held back end shortly after the return. Does not wait for a client.
 */
static void kernel_queue_stop(struct vfence_queue *queue, int error)
{
	struct vfence_kernel_queue *kernel = vfence_kernel_queue_of(queue);

	vfence_queue_abort_hw(queue);
	vfence_job_halt(kernel, error);
	mutex_lock(&kernel->lock);
	kernel_queue_push_all_locked(kernel);
	mutex_unlock(&kernel->lock);
	vfence_wake_all(&kernel->reached);
	vfence_wake_all(&kernel->bounded);
	vfence_wake_all(&kernel->room);

	spin_lock(&kernel->run_lock);
	if (!kernel->stopped) {
		vfence_device_begin_stop(kernel->base.device);
		/* Release: who finds it set finds the queue counted. Partner: stage_run(). */
		smp_store_release(&kernel->stopped, true);
	}
	spin_unlock(&kernel->run_lock);
	/* Packets of uncompleted submissions may have written monitored fences: rescan them. */
	vfence_stage_schedule(kernel);
}

/* The client decides how long this takes: eventfds are signaled, too. */
static void kernel_queue_flush(struct vfence_queue *queue)
{
	vfence_chore_flush(&vfence_kernel_queue_of(queue)->stage_chore);
}

/* The wait of a call that sleeps is decided. Any context, in an RCU section. */
static void kernel_queue_wake(struct vfence_wait *wait)
{
	/* The thread alone: others may sleep on the same queue, as many as the client likes. */
	wake_up_process(wait->owner);
}

static bool kernel_queue_wait_over(struct vfence_kernel_queue *kernel, struct vfence_wait *wait)
{
	return atomic_read(&wait->state) != VFENCE_WAIT_ARMED || READ_ONCE(kernel->error);
}

/**
 * vfence_kernel_queue_sleep_reached - sleep until fence points are reached
 * @kernel: the queue, on which the caller has a reference
 * @wait: the points, in state ARMING; no point is armed on return
 *
 * Return: 0, also if the queue was stopped, -ENODEV, or -ERESTARTSYS.
 */
int vfence_kernel_queue_sleep_reached(struct vfence_kernel_queue *kernel, struct vfence_wait *wait)
{
	int ret;

	wait->gpu = true;
	if (vfence_wait_is_reached(wait))
		return 0;

	wait->fire = kernel_queue_wake;
	wait->owner = current;
	vfence_drain_and_arm_all(wait);

	lockdep_assert_none_held_once();
	vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED);
	ret = wait_event_interruptible_exclusive(kernel->reached,
						 kernel_queue_wait_over(kernel, wait));
	/* Ignore a signal when the points are reached. */
	if (!vfence_wait_move(wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED))
		ret = atomic_read(&wait->state) == VFENCE_WAIT_FAILED ? READ_ONCE(wait->error) :
									0;

	vfence_wait_account(wait);
	vfence_waiter_disarm_all(wait);
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
	int ret;

	lockdep_assert_none_held_once();
	ret = wait_event_interruptible_exclusive(kernel->bounded, !READ_ONCE(kernel->unbounded) ||
						 READ_ONCE(kernel->error));
	/* Also after a signal, as this thread may have been the one to be woken. */
	wake_up(&kernel->bounded);
	return ret;
}

static struct vfence_queue *kernel_queue_alloc(void)
{
	struct vfence_kernel_queue *kernel = vfence_leak_check_alloc(KERNEL_QUEUE, sizeof(*kernel));

	return kernel ? &kernel->base : NULL;
}

static int kernel_queue_create(struct vfence_queue *queue,
			       const struct drm_vfence_queue_create *args)
{
	struct vfence_kernel_queue *kernel = vfence_kernel_queue_of(queue);

	vfence_log_buffer_create_none(queue);
	kernel->untimed = args->flags & DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT;
	kernel->timeline = dma_fence_context_alloc(1);

	mutex_init(&kernel->lock);
	mutex_init(&kernel->retire_lock);

	spin_lock_init(&kernel->run_lock);
	INIT_LIST_HEAD(&kernel->held);
	INIT_LIST_HEAD(&kernel->running);
	INIT_LIST_HEAD(&kernel->due_stages);

	init_waitqueue_head(&kernel->wait);
	init_waitqueue_head(&kernel->reached);
	init_waitqueue_head(&kernel->bounded);
	init_waitqueue_head(&kernel->room);
	INIT_WORK(&kernel->advance, kernel_queue_advance_work);
	INIT_WORK(&kernel->retire, vfence_job_retire_work);
	vfence_stage_init(kernel);

	return vfence_job_init(kernel);
}

/*
 * On return no submission of the queue is left, and the signals of those that were completed are
 * performed. Works that are queued later find nothing to do. This is bounded: the submissions of a
 * stopped queue end without the help of a client.
 */
static void kernel_queue_drain(struct vfence_queue *queue)
{
	struct vfence_kernel_queue *kernel = vfence_kernel_queue_of(queue);

	if (!kernel->scheduling)
		return;

	/* Order the error before the count. Partner: vfence_room_enter(). */
	smp_mb();
	wait_event(kernel->wait, !atomic_read(&kernel->live));

	/* Wait until the last vfence_room_leave() has dropped the lock. */
	spin_lock_irq(&kernel->wait.lock);
	spin_unlock_irq(&kernel->wait.lock);

	/* Cancel the timeout work first: older schedulers stop their thread while it runs. */
	cancel_delayed_work_sync(&kernel->sched.work_tdr);
	drm_sched_entity_destroy(&kernel->entity);
	drm_sched_fini(&kernel->sched);
	kernel->scheduling = false;
	vfence_chore_flush(&kernel->stage_chore);
	/* Who stops it once more has nothing to perform, and the file waits for that. */
	vfence_chore_hurry(&kernel->stage_chore);
}

static void kernel_queue_free(struct vfence_queue *queue)
{
	struct vfence_kernel_queue *kernel = vfence_kernel_queue_of(queue);

	free_page((unsigned long)kernel->control);
	vfree(kernel->ring);
	vfence_log_free(queue);
	vfence_leak_check_gone(KERNEL_QUEUE);
	kfree_rcu(kernel, base.rcu);
}

static void kernel_queue_retime(struct vfence_queue *queue)
{
	vfence_job_retime(vfence_kernel_queue_of(queue));
}

static void kernel_queue_query(struct vfence_queue *queue, struct drm_vfence_queue_info *info)
{
	struct vfence_kernel_queue *kernel = vfence_kernel_queue_of(queue);

	mutex_lock(&kernel->lock);
	info->last_queued = kernel->submitted;
	info->held = kernel->held_count;
	info->queued = atomic_read(&kernel->live) - kernel->held_count;
	mutex_unlock(&kernel->lock);
}

const struct vfence_queue_ops vfence_kernel_queue_ops = {
	.alloc = kernel_queue_alloc,
	.create = kernel_queue_create,
	.stop = kernel_queue_stop,
	.flush = kernel_queue_flush,
	.retime = kernel_queue_retime,
	.query = kernel_queue_query,
	.drain = kernel_queue_drain,
	.free = kernel_queue_free,
};
