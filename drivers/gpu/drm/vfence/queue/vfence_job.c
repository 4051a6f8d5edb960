// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submissions on the GPU: the drm_sched side of a kernel-mode queue. From here to
 * vfence_sync_done_signal() everything is waited for by others: nothing allocates, and no
 * lock is taken over which others do.
 */

#include <linux/gfp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "fence/vfence_fence.h"
#include "fence/vfence_sync.h"
#include "queue/vfence_job.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_stage.h"
#include "queue/vfence_submit.h"

/* As long as Windows waits before it takes a GPU for hung. */
#define TIMEOUT_MS	2000
/* Jobs on the ring at once: the GPU need not wait for the next. */
#define CREDITS		4
/* The end of a submission: fetched, progress, completed. */
#define EPILOGUE	256
#define RING_SIZE	(128 * 1024)

static struct vfence_submission *to_submission(struct drm_sched_job *job)
{
	return container_of(job, struct vfence_submission, job);
}

static u64 append(struct vfence_kernel_queue *kernel, u64 at, const void *packets, size_t size)
{
	size_t first = min_t(size_t, size, RING_SIZE - at % RING_SIZE);

	memcpy(kernel->ring + at % RING_SIZE, packets, first);
	memcpy(kernel->ring, packets + first, size - first);
	return at + size;
}

static u64 append_mark(struct vfence_kernel_queue *kernel, u64 at, enum vgpu_kernel_opcode opcode,
		       u64 progress)
{
	struct vgpu_packet_complete mark = {
		.header = { .opcode = opcode, .length = sizeof(mark) },
		.fence_id = progress,
	};

	return append(kernel, at, &mark, sizeof(mark));
}

/* The last instruction but the interrupt writes the progress value (WDDM-199). */
static u64 append_progress(struct vfence_kernel_queue *kernel, u64 at, u64 value)
{
	const struct drm_vfence_fence_mapping *progress = &kernel->progress;
	struct drm_vfence_packet_signal native = {
		.header = { .opcode = DRM_VFENCE_OP_FENCE_SIGNAL, .length = sizeof(native) },
		.current_va = progress->current_va,
		.monitored_va = progress->monitored_va,
		.value = value,
	};
	struct drm_vfence_packet_monitored monitored = {
		.header = { .opcode = DRM_VFENCE_OP_MONITORED_SIGNAL,
			    .length = sizeof(monitored) },
		.current_va = progress->current_va,
		.value = value,
	};

	if (kernel->soft_progress)
		return at;
	if (vfence_fence_is_monitored(kernel->queue->progress_fence))
		return append(kernel, at, &monitored, sizeof(monitored));
	return append(kernel, at, &native, sizeof(native));
}

static void write_ring_locked(struct vfence_kernel_queue *kernel,
			      struct vfence_submission *submission)
{
	u64 at = kernel->control->write_ptr;

	BUILD_BUG_ON(CREDITS * (DRM_VFENCE_MAX_COMMANDS + EPILOGUE) > RING_SIZE);
	lockdep_assert_held(&kernel->run_lock);
	at = append(kernel, at, submission->commands, submission->size);
	if (submission->stages->stage[VFENCE_STAGE_FETCHED].signals)
		at = append_mark(kernel, at, VGPU_OP_FETCHED, submission->progress);
	at = append_progress(kernel, at, submission->progress);
	at = append_mark(kernel, at, VGPU_OP_COMPLETE, submission->progress);
	/* Release: the packets. Partner: vgpu_sched_sane_write_ptr(). */
	smp_store_release(&kernel->control->write_ptr, at);
	vgpu_doorbell_ring(kernel->queue->hw);
}

static struct dma_fence *run_job(struct drm_sched_job *job)
{
	struct vfence_submission *submission = to_submission(job);
	struct vfence_kernel_queue *kernel = submission->kernel;
	bool signalling = dma_fence_begin_signalling();
	bool on_ring;

	/* Not later: once it is on the list it may be done. Its job lives until we return. */
	dma_fence_get(submission->done);
	spin_lock(&kernel->run_lock);
	on_ring = !kernel->error;
	submission->on_ring = on_ring;
	list_add_tail(&submission->link, &kernel->running);
	if (on_ring)
		write_ring_locked(kernel, submission);
	spin_unlock(&kernel->run_lock);
	if (on_ring)
		vfence_stage_arrive(submission, VFENCE_STAGE_SUBMITTED);
	else
		/* What is in front may still be told of: it ends behind that. */
		queue_work(kernel->queue->adapter->queues.submit_wq, &kernel->retire);
	dma_fence_end_signalling(signalling);
	return submission->done;
}

static void free_work(struct work_struct *work)
{
	struct vfence_submission *submission = container_of(work, struct vfence_submission, free);

	vfence_submit_free(submission);
}

/* Its references may take long to drop, and other jobs wait for us here. */
static void free_job(struct drm_sched_job *job)
{
	struct vfence_submission *submission = to_submission(job);

	INIT_WORK(&submission->free, free_work);
	queue_work(submission->kernel->queue->adapter->work_wq, &submission->free);
}

/*
 * drm_sched_stop() has let go of what jobs wait for, so that a driver can run them anew.
 * Ours are where they were, and drm_sched_start() listens to them again.
 */
static void keep_jobs(struct drm_gpu_scheduler *sched)
{
	struct drm_sched_job *job;

	list_for_each_entry(job, &sched->pending_list, list)
		if (!job->s_fence->parent)
			job->s_fence->parent = dma_fence_get(to_submission(job)->done);
}

/*
 * It took too long: the queue is aborted and the device lost, whoever is to blame, as
 * others rely on an end.
 */
static enum drm_gpu_sched_stat timedout_job(struct drm_sched_job *job)
{
	struct vfence_submission *submission = to_submission(job);
	struct vfence_kernel_queue *kernel = submission->kernel;
	struct vfence_queue *queue = kernel->queue;
	bool late;

	drm_sched_stop(&kernel->sched, job);
	/* It may be done, and nobody have said so yet. */
	vfence_job_retire(kernel);
	late = !dma_fence_is_signaled(submission->done);
	if (late)
		vfence_kernel_queue_halt(kernel, -ETIME);
	keep_jobs(&kernel->sched);
	/* From here on the job may be gone, and what is queued behind it can end. */
	vfence_sched_start(&kernel->sched);
	if (late) {
		vfence_count(queue->adapter, VFENCE_COUNT_SUBMISSIONS_TIMED_OUT);
		queue->adapter->loss->device_failed(queue->adapter, queue->device,
						    DRM_VFENCE_DEVICE_HUNG);
	}
	return VFENCE_SCHED_STAT_RESET;
}

static const struct drm_sched_backend_ops job_ops = {
	.run_job = run_job,
	.timedout_job = timedout_job,
	.free_job = free_job,
};

/** vfence_job_init - set up ring and scheduler of a queue */
int vfence_job_init(struct vfence_kernel_queue *kernel)
{
	struct vfence_adapter *adapter = kernel->queue->adapter;
	struct drm_gpu_scheduler *sched = &kernel->sched;
	const struct drm_sched_init_args args = {
		.ops = &job_ops,
		VFENCE_SCHED_RQS
		.credit_limit = CREDITS,
		.timeout = msecs_to_jiffies(TIMEOUT_MS),
		.name = adapter->name,
		.dev = adapter->drm.dev,
	};
	struct vgpu_doorbell_args doorbell = { .ring_size = RING_SIZE };
	int ret;

	kernel->ring = __vmalloc(RING_SIZE, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
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
	vgpu_doorbell_create(kernel->queue->hw, &doorbell);
	vgpu_doorbell_connect(kernel->queue->hw);
	return 0;
}

static struct vfence_submission *first_running(struct vfence_kernel_queue *kernel)
{
	struct vfence_submission *first;

	spin_lock(&kernel->run_lock);
	first = list_first_entry_or_null(&kernel->running, struct vfence_submission, link);
	spin_unlock(&kernel->run_lock);
	return first;
}

/* Off the ring, and told; its job may free it at once. */
static void retire_one(struct vfence_kernel_queue *kernel, struct vfence_submission *submission,
		       int error)
{
	enum vfence_stage lost = VFENCE_STAGE_SUBMITTED;
	struct dma_fence *done = submission->done;

	lockdep_assert_held(&kernel->retire_lock);
	spin_lock(&kernel->run_lock);
	list_del_init(&submission->link);
	spin_unlock(&kernel->run_lock);
	if (!error) {
		WRITE_ONCE(kernel->retired, submission->progress);
		vfence_stage_arrive(submission, VFENCE_STAGE_COMPLETED);
	} else {
		if (submission->on_ring)
			lost = submission->fetched ? VFENCE_STAGE_COMPLETED : VFENCE_STAGE_FETCHED;
		vfence_stage_lose(submission, lost);
	}
	vfence_count(kernel->queue->adapter, error ? VFENCE_COUNT_SUBMISSIONS_LOST :
						     VFENCE_COUNT_SUBMISSIONS_DONE);
	dma_fence_get(done);
	vfence_sync_done_signal(done, error);
	dma_fence_put(done);
}

/* Nobody but the retirer takes submissions off the list, so they stay. True if any came so far. */
static bool retire_fetched(struct vfence_kernel_queue *kernel, u64 fetched)
{
	struct vfence_submission *submission;
	bool more, any = false;

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
		if (more)
			vfence_stage_arrive(submission, VFENCE_STAGE_FETCHED);
		any |= more;
	} while (more);
	return any;
}

/*
 * The first that the GPU had when the queue was stopped is what it was at, and gets the
 * reason; the others are cancelled.
 */
static int error_of(struct vfence_kernel_queue *kernel, struct vfence_submission *submission)
{
	int reason = kernel->aborted;

	lockdep_assert_held(&kernel->retire_lock);
	if (reason == -ENODEV || (submission->on_ring && !kernel->blamed)) {
		kernel->blamed = true;
		return reason;
	}
	return -ECANCELED;
}

/**
 * vfence_job_retire - look how far the GPU has come
 * @kernel: the queue
 *
 * Once the queue is stopped, what is not done never will be. Process context.
 */
void vfence_job_retire(struct vfence_kernel_queue *kernel)
{
	struct vfence_submission *submission;
	u64 completed, fetched;
	bool signalling, news;
	int aborted;

	mutex_lock(&kernel->retire_lock);
	signalling = dma_fence_begin_signalling();
	/* Acquire: what the GPU had done by then. Partner: vfence_kernel_queue_halt(). */
	aborted = smp_load_acquire(&kernel->aborted);
	completed = vgpu_kernel_last_completed(kernel->queue->hw);
	fetched = max(vgpu_kernel_last_fetched(kernel->queue->hw), completed);
	news = retire_fetched(kernel, fetched);
	while ((submission = first_running(kernel)) && submission->progress <= completed) {
		retire_one(kernel, submission, 0);
		news = true;
	}
	while (aborted && (submission = first_running(kernel)))
		retire_one(kernel, submission, error_of(kernel, submission));
	dma_fence_end_signalling(signalling);
	/* Under the lock: who destroys the queue retires once more, then flushes this. */
	if (news)
		queue_work(kernel->queue->adapter->queues.signal_wq, &kernel->announce);
	mutex_unlock(&kernel->retire_lock);
}

/** vfence_job_retire_work - the GPU said that it has come further */
void vfence_job_retire_work(struct work_struct *work)
{
	vfence_job_retire(container_of(work, struct vfence_kernel_queue, retire));
}
