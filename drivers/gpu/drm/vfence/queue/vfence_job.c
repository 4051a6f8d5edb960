// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submissions on the GPU: the drm_sched side of a kernel-mode queue.
 *
 * From job_run() to vfence_sync_done_signal() do not allocate, and take no lock under which
 * another thread allocates: waiters for the submission's dma_fence depend on all of it.
 */

#include <linux/gfp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "core/vfence_device.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_sync.h"
#include "queue/vfence_context.h"
#include "queue/vfence_job.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_trace.h"
#include "queue/vfence_stage.h"
#include "queue/vfence_submission.h"
#include "vfence_race_point.h"

/* Number of jobs on the ring at once: the GPU does not have to wait for the next job. */
#define JOB_CREDITS		4
/* Upper limit, in bytes, of the packets behind a submission: fetched, completed. */
#define JOB_EPILOGUE_SIZE	256
#define JOB_RING_SIZE		(128 * 1024)
/* So many times TdrDelay turns of its client keep a submission off the engine at most, about. */
#define JOB_KEPT_OFF		5

static struct vfence_submission *job_to_submission(struct drm_sched_job *job)
{
	return container_of(job, struct vfence_submission, job);
}

static u64 job_append(struct vfence_kernel_queue *kernel, u64 at, const void *packets, size_t size)
{
	size_t first = min_t(size_t, size, JOB_RING_SIZE - at % JOB_RING_SIZE);

	memcpy(kernel->ring + at % JOB_RING_SIZE, packets, first);
	memcpy(kernel->ring, packets + first, size - first);
	return at + size;
}

static u64 job_append_mark(struct vfence_kernel_queue *kernel, u64 at,
			   enum vgpu_kernel_opcode opcode, u64 progress)
{
	struct vgpu_packet_complete mark = {
		.header = { .opcode = opcode, .length = sizeof(mark) },
		.fence_id = progress,
	};

	return job_append(kernel, at, &mark, sizeof(mark));
}

static void job_write_ring_locked(struct vfence_kernel_queue *kernel,
				  struct vfence_submission *submission)
{
	u64 at = kernel->control->write_ptr;

	BUILD_BUG_ON(JOB_CREDITS * (DRM_VFENCE_MAX_COMMANDS + JOB_EPILOGUE_SIZE) > JOB_RING_SIZE);
	lockdep_assert_held(&kernel->run_lock);

	at = job_append(kernel, at, submission->commands, submission->size);
	if (submission->stages->stage[VFENCE_STAGE_FETCHED].signals.count)
		at = job_append_mark(kernel, at, VGPU_OP_FETCHED, submission->progress);
	at = job_append_mark(kernel, at, VGPU_OP_COMPLETE, submission->progress);

	/* Release: orders the packets before it. Partner: vgpu_sched_sane_write_ptr(). */
	smp_store_release(&kernel->control->write_ptr, at);
	vgpu_doorbell_ring(kernel->base.hw);
}

/* Another submission becomes the first: what it takes counts from now on. */
static void job_begin_head_locked(struct vfence_kernel_queue *kernel)
{
	lockdep_assert_held(&kernel->run_lock);
	kernel->head_suspended_ns = vfence_context_suspended_ns(kernel->base.context);
	kernel->kept_off = 0;
}

static struct dma_fence *job_run(struct drm_sched_job *job)
{
	struct vfence_submission *submission = job_to_submission(job);
	struct vfence_kernel_queue *kernel = submission->kernel;
	bool signalling = dma_fence_begin_signalling();
	bool on_ring;

	/*
	 * Take the reference before the submission is on the list: from then on it may be
	 * completed at any time. The job itself lives until this function returns.
	 */
	dma_fence_get(submission->done);

	spin_lock(&kernel->run_lock);
	on_ring = !kernel->error;
	submission->on_ring = on_ring;
	if (list_empty(&kernel->running))
		job_begin_head_locked(kernel);
	list_add_tail(&submission->link, &kernel->running);

	if (on_ring) {
		trace_vfence_submission(&kernel->base, submission->progress,
					VFENCE_SUBMISSION_ON_RING, 0);
		vfence_stage_begin_write(submission);
		job_write_ring_locked(kernel, submission);
	}
	spin_unlock(&kernel->run_lock);
	if (on_ring)
		vfence_stage_arrive(submission, VFENCE_STAGE_SUBMITTED);
	else
		/* Let the retire work end it: submissions in front of it may still have to end. */
		vfence_queue_work(&kernel->base, kernel->base.adapter->queues.run_wq,
				  &kernel->retire);

	dma_fence_end_signalling(signalling);
	return submission->done;
}

static void job_free_work(struct work_struct *work)
{
	struct vfence_submission *submission = container_of(work, struct vfence_submission, free);

	vfence_hold(SUBMISSION_FREE);
	vfence_submission_free(submission);
}

/* Free in a work item: references may take long to drop, and other jobs wait here. */
static void job_free(struct drm_sched_job *job)
{
	struct vfence_submission *submission = job_to_submission(job);

	INIT_WORK(&submission->free, job_free_work);
	queue_work(submission->kernel->base.adapter->work_wq, &submission->free);
}

/*
 * drm_sched_stop() has dropped the parent fences of the jobs, so that a driver can run the
 * jobs again. Our jobs are still on the ring: restore their parents, so that drm_sched_start()
 * adds its callbacks to them again.
 */
static void job_restore_parents(struct drm_gpu_scheduler *sched)
{
	struct drm_sched_job *job;

	list_for_each_entry(job, &sched->pending_list, list)
		if (!job->s_fence->parent)
			job->s_fence->parent = dma_fence_get(job_to_submission(job)->done);
}

static u64 job_busy_ns(struct vfence_kernel_queue *kernel)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(kernel->base.hw, &status);
	return status.busy_ns;
}

/* Return true if the queue was aborted because it hung. */
static bool job_was_guilty(struct vfence_kernel_queue *kernel)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(kernel->base.hw, &status);
	return status.guilty;
}

/*
 * Return true if the queue has not used the engine since the last call because other queues of the
 * client have it: in one turn of @delay_ns, or in shorter ones for the last time that is allowed.
 * Waiters for the dma_fence of the submission depend on an end.
 */
static bool job_starved(struct vfence_kernel_queue *kernel, u64 busy_ns, u64 delay_ns)
{
	u64 kept_off_ns = vgpu_queue_kept_off_ns(kernel->base.hw);
	bool idle = kernel->timer_busy_ns == busy_ns, often;

	kernel->timer_busy_ns = busy_ns;
	if (!idle || !kept_off_ns)
		return false;

	spin_lock(&kernel->run_lock);
	often = ++kernel->kept_off >= JOB_KEPT_OFF;
	spin_unlock(&kernel->run_lock);
	return often || kept_off_ns >= delay_ns;
}

static u64 job_suspended_ns(struct vfence_kernel_queue *kernel)
{
	u64 ns;

	spin_lock(&kernel->run_lock);
	ns = vfence_context_suspended_ns(kernel->base.context) - kernel->head_suspended_ns;
	spin_unlock(&kernel->run_lock);
	return ns;
}

/*
 * Return true if the first submission has taken too long. Waiters for its dma_fence depend on an
 * end, so the time counts for which it has used the engine or its owner has suspended it, and no
 * other queue of the owner may keep it off the engine. Time in which other clients had the engine
 * does not count. It is bounded, because clients share engines in equal parts.
 *
 * @starved: output: the submission was kept off the engine, so it is not what hangs
 */
static bool job_used_up(struct vfence_kernel_queue *kernel, bool *starved)
{
	s64 delay_ns = READ_ONCE(kernel->base.adapter->tdr.delay_ms) * (s64)NSEC_PER_MSEC;
	u64 busy_ns = job_busy_ns(kernel);
	s64 used = busy_ns - vgpu_kernel_completed_busy_ns(kernel->base.hw) +
		   job_suspended_ns(kernel);

	*starved = job_starved(kernel, busy_ns, delay_ns);
	return *starved || used >= delay_ns;
}

/*
 * The timer of the first submission has expired. If the submission took too long, abort the
 * queue and fail its device. Otherwise the scheduler starts the timer again.
 */
static enum drm_gpu_sched_stat job_timed_out(struct drm_sched_job *job)
{
	struct vfence_submission *submission = job_to_submission(job);
	struct vfence_kernel_queue *kernel = submission->kernel;
	struct vfence_queue *queue = &kernel->base;
	bool timed_out, signalling, starved;

	drm_sched_stop(&kernel->sched, job);

	signalling = dma_fence_begin_signalling();
	/* The GPU may have completed it before the retire work has run. */
	vfence_job_retire(kernel);
	timed_out = !dma_fence_is_signaled(submission->done) && job_used_up(kernel, &starved) &&
		    queue->adapter->loss->timed_out(queue->adapter);
	if (timed_out) {
		queue->adapter->loss->queue_stuck(queue->adapter, queue);
		vfence_job_halt(kernel, -ETIME);
	} else if (READ_ONCE(queue->adapter->lost)) {
		/* Do not leave it to a work: waiters for the dma_fence depend on it. */
		vfence_job_halt(kernel, -ENODEV);
	} else if (!vfence_device_active(queue->device)) {
		vfence_job_halt(kernel, job_was_guilty(kernel) ? -ETIME : -ECANCELED);
	}

	job_restore_parents(&kernel->sched);
	dma_fence_end_signalling(signalling);

	/* Do not use the job from here on: it may be freed, and the jobs behind it can end. */
	vfence_sched_start(&kernel->sched);
	if (timed_out) {
		vfence_count(queue->adapter, VFENCE_COUNT_SUBMISSIONS_TIMED_OUT);
		queue->adapter->loss->device_hung(queue->adapter, queue->device, !starved);
	}

	return VFENCE_SCHED_STAT_RESET;
}

static const struct drm_sched_backend_ops job_ops = {
	.run_job = job_run,
	.timedout_job = job_timed_out,
	.free_job = job_free,
};

/**
 * vfence_job_init - set up the ring and the scheduler of a kernel-mode queue
 * @kernel: the queue
 *
 * All schedulers of an adapter share its workqueue, so that queues cost no threads. Before
 * schedulers took a workqueue (Linux 6.8) each has a thread; VFENCE_MAX_QUEUES bounds them.
 *
 * Return: 0 or a negative error.
 */
int vfence_job_init(struct vfence_kernel_queue *kernel)
{
	struct vfence_adapter *adapter = kernel->base.adapter;
	struct drm_gpu_scheduler *sched = &kernel->sched;
	const struct drm_sched_init_args args = {
		.ops = &job_ops,
		VFENCE_SCHED_WQ(adapter->queues.run_wq)
		VFENCE_SCHED_RQS
		/* One after the other, also with the resets of engines. */
		.timeout_wq = adapter->reset.wq,
		.credit_limit = JOB_CREDITS,
		/* vfence_job_retime() sets it, unless the queue has no time-out. */
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = adapter->name,
		.dev = adapter->drm.dev,
	};
	struct vgpu_doorbell_args doorbell = { .ring_size = JOB_RING_SIZE };
	int ret;

	kernel->ring = __vmalloc(JOB_RING_SIZE, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	kernel->control = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!kernel->ring || !kernel->control)
		return -ENOMEM;

	ret = vfence_sched_init(sched, &args);
	if (ret)
		return ret;

	ret = drm_sched_entity_init(&kernel->entity, DRM_SCHED_PRIORITY_NORMAL, &sched, 1, NULL);
	if (ret) {
		drm_sched_fini(sched);
		return ret;
	}

	kernel->scheduling = true;

	doorbell.ring = kernel->ring;
	doorbell.control = kernel->control;
	vgpu_doorbell_create(kernel->base.hw, &doorbell);
	vgpu_doorbell_connect(kernel->base.hw);
	return 0;
}

/**
 * vfence_job_retime - start the timer of the first submission again, with today's delay
 * @kernel: the queue; nothing happens if it has no time-out
 */
void vfence_job_retime(struct vfence_kernel_queue *kernel)
{
	struct drm_gpu_scheduler *sched = &kernel->sched;
	long timeout;

	if (kernel->untimed)
		return;

	/*
	 * Read the delay under the lock: of two threads the second one reads it after both
	 * have changed it.
	 */
	spin_lock(&sched->job_list_lock);
	timeout = msecs_to_jiffies(READ_ONCE(kernel->base.adapter->tdr.delay_ms));
	sched->timeout = timeout;
	spin_unlock(&sched->job_list_lock);
	/* If the queue has no submission any more, this stops the timer. */
	drm_sched_resume_timeout(sched, timeout);
}

static void job_retime_one(struct vfence_queue *queue, void *unused)
{
	struct vfence_kernel_queue *kernel = vfence_kernel_queue_of(queue);

	if (kernel)
		vfence_job_retime(kernel);
}

/** vfence_job_retime_all - the time that submissions may take has changed */
void vfence_job_retime_all(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, job_retime_one, NULL);
}

static struct vfence_submission *job_first_running(struct vfence_kernel_queue *kernel)
{
	struct vfence_submission *first;

	spin_lock(&kernel->run_lock);
	first = list_first_entry_or_null(&kernel->running, struct vfence_submission, link);
	spin_unlock(&kernel->run_lock);
	return first;
}

/*
 * Take a submission off the ring and signal its end. Do not use it afterwards: its job may
 * free it at once.
 */
static void job_retire_one_locked(struct vfence_kernel_queue *kernel,
				  struct vfence_submission *submission, int error)
{
	enum vfence_stage first_lost = VFENCE_STAGE_SUBMITTED;
	struct dma_fence *done = submission->done;

	lockdep_assert_held(&kernel->retire_lock);

	spin_lock(&kernel->run_lock);
	list_del_init(&submission->link);
	job_begin_head_locked(kernel);
	spin_unlock(&kernel->run_lock);

	trace_vfence_submission(&kernel->base, submission->progress, VFENCE_SUBMISSION_DONE, error);
	vfence_submission_uncount(submission);
	if (!error) {
		if (submission->signals)
			WRITE_ONCE(kernel->drain_due, true);
		vfence_stage_arrive(submission, VFENCE_STAGE_COMPLETED);
		/* Release: the due stage before it. Partner: stage_perform_due(). */
		smp_store_release(&kernel->retired, submission->progress);
	} else {
		if (submission->on_ring)
			first_lost = submission->fetched ? VFENCE_STAGE_COMPLETED :
							   VFENCE_STAGE_FETCHED;
		vfence_stage_lose(submission, first_lost);
	}

	vfence_count(kernel->base.adapter, error ? VFENCE_COUNT_SUBMISSIONS_LOST :
						     VFENCE_COUNT_SUBMISSIONS_DONE);

	dma_fence_get(done);
	vfence_sync_done_signal(done, error);
	dma_fence_put(done);
}

/*
 * Report VFENCE_STAGE_FETCHED for the submissions that the GPU has fetched. They stay on the
 * list meanwhile: submissions leave it under the retire lock only. Returns true if there were
 * any.
 */
static bool job_mark_fetched_locked(struct vfence_kernel_queue *kernel, u64 fetched)
{
	struct vfence_submission *submission;
	bool more, found = false;

	lockdep_assert_held(&kernel->retire_lock);

	do {
		more = false;
		spin_lock(&kernel->run_lock);
		list_for_each_entry(submission, &kernel->running, link) {
			if (submission->progress > fetched)
				break;
			more = !submission->fetched;
			submission->fetched = true;
			if (more)
				break;
		}
		spin_unlock(&kernel->run_lock);
		if (more) {
			trace_vfence_submission(&kernel->base, submission->progress,
						VFENCE_SUBMISSION_FETCHED, 0);
			vfence_stage_arrive(submission, VFENCE_STAGE_FETCHED);
		}
		found |= more;
	} while (more);

	return found;
}

/*
 * The error of a submission that ends because its queue was stopped. The first submission
 * that was on the ring is the one that the GPU was executing: it gets the reason. All others
 * are cancelled.
 */
static int job_error_locked(struct vfence_kernel_queue *kernel,
			    struct vfence_submission *submission)
{
	int reason = READ_ONCE(kernel->base.aborted);

	lockdep_assert_held(&kernel->retire_lock);
	if (reason == -ENODEV || (submission->on_ring && !kernel->error_assigned)) {
		kernel->error_assigned = true;
		return reason;
	}
	return -ECANCELED;
}

/**
 * vfence_job_retire - retire the submissions that the GPU has completed
 * @kernel: the queue
 *
 * Once the queue is stopped, the submissions that the GPU has not completed fail, as it never
 * will complete them. Process context.
 */
void vfence_job_retire(struct vfence_kernel_queue *kernel)
{
	struct vfence_submission *submission;
	u64 completed, fetched;
	bool signalling, advanced;
	int aborted;

	signalling = dma_fence_begin_signalling();
	mutex_lock(&kernel->retire_lock);

	/* Acquire: what the GPU completed before it. Partner: vfence_job_halt(). */
	aborted = smp_load_acquire(&kernel->base.aborted);

	completed = vgpu_kernel_last_completed(kernel->base.hw);
	fetched = max(vgpu_kernel_last_fetched(kernel->base.hw), completed);

	advanced = job_mark_fetched_locked(kernel, fetched);
	while ((submission = job_first_running(kernel)) && submission->progress <= completed) {
		job_retire_one_locked(kernel, submission, 0);
		advanced = true;
	}

	while (aborted && (submission = job_first_running(kernel)))
		job_retire_one_locked(kernel, submission, job_error_locked(kernel, submission));

	/*
	 * Queue the work under the lock: kernel_queue_stop() retires once more, then
	 * flushes the work.
	 */
	if (advanced)
		vfence_stage_schedule(kernel);
	mutex_unlock(&kernel->retire_lock);
	dma_fence_end_signalling(signalling);
}

/**
 * vfence_job_halt - abort the ring and keep new submissions off it
 * @kernel: the queue
 * @error: error of the submission that the GPU was executing
 *
 * On return the submissions that were on the ring have ended, and their dma_fences are
 * signaled. Process context. Do not wait here for anything that allocates.
 */
void vfence_job_halt(struct vfence_kernel_queue *kernel, int error)
{
	spin_lock(&kernel->run_lock);
	if (!kernel->error)
		WRITE_ONCE(kernel->error, error);
	spin_unlock(&kernel->run_lock);
	vgpu_queue_abort(kernel->base.hw);
	/* Release: orders the end of the GPU's work before it. Partner: vfence_job_retire(). */
	smp_store_release(&kernel->base.aborted, kernel->error);
	vfence_job_retire(kernel);
	/* Those that are held back end in a work: their dma_fences may be published, too. */
	vfence_kernel_queue_advance_later(kernel);
}

/** vfence_job_retire_work - retire submissions after a progress interrupt of the GPU */
void vfence_job_retire_work(struct work_struct *work)
{
	struct vfence_kernel_queue *kernel =
		container_of(work, struct vfence_kernel_queue, retire);

	vfence_hold(RETIRE);
	vfence_job_retire(kernel);
	vfence_queue_put_later(&kernel->base);
}
