// SPDX-License-Identifier: GPL-2.0-only
/*
 * DRM_IOCTL_VFENCE_SUBMIT: turns a client's lists and packets into submissions of its queues.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "core/vfence_account.h"
#include "core/vfence_device.h"
#include "core/vfence_gate.h"
#include "core/vfence_power.h"
#include "core/vfence_user_array.h"
#include "fence/vfence_points.h"
#include "fence/vfence_sync.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_wait_args.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_published.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_room.h"
#include "queue/vfence_stage.h"
#include "queue/vfence_submission.h"
#include "queue/vfence_submit.h"
#include "queue/vfence_submit_ops.h"
#include "vgpu_packet.h"

#define SUBMIT_FLAGS	(DRM_VFENCE_SUBMIT_ALLOW_REWIND | DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION | \
			 DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT | DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM)

/* What a submission takes beside its packets, with what drm_sched has for it, and a point. */
#define SUBMIT_BYTES		2048
#define SUBMIT_POINT_BYTES	128

/**
 * struct vfence_submit - state of one SUBMIT ioctl
 */
struct vfence_submit {
	/** @drm_file: the client */
	struct drm_file *drm_file;
	/** @args: arguments of the ioctl */
	const struct drm_vfence_submit *args;
	/** @ops: its operations */
	struct vfence_submit_ops ops;

	/** @entry: copy of the client's array of queues; receives the progress values */
	struct drm_vfence_submit_queue *entry;
	/** @queue: the queue of each entry, with a reference */
	struct vfence_queue **queue;
	/** @submission: the submission of each entry; NULL once the queue owns it */
	struct vfence_submission **submission;
	/** @count: number of queues and submissions that are set */
	unsigned int count;
	/** @full: the queue that had no room at the last try, or NULL */
	struct vfence_kernel_queue *full;
	/** @paused: the function was paused at the last try */
	bool paused;

	/** @stages: the stage signals that all submissions share */
	struct vfence_stages *stages;
	/** @out_syncs: syncobjs that get the dma_fence, or NULL */
	struct vfence_out_syncs *out_syncs;
};

static int submit_count(struct vfence_submission *submission, const struct vfence_submit *submit)
{
	struct vfence_file *file = submission->kernel->base.file;
	unsigned int points = submit->ops.count[DRM_VFENCE_SUBMIT_WAIT_FENCE] +
			      submit->ops.count[DRM_VFENCE_SUBMIT_SIGNAL_FENCE];
	unsigned long bytes = SUBMIT_BYTES + submission->size + points * SUBMIT_POINT_BYTES;
	int ret;

	if (atomic_add_return(points, &file->submit_points) > VFENCE_MAX_SUBMIT_POINTS) {
		atomic_sub(points, &file->submit_points);
		return -ENOSPC;
	}
	/* vfence_submission_free() gives back what is counted, also if the rest is refused. */
	submission->points = points;
	ret = vfence_account_charge(file->account, bytes);
	if (!ret)
		submission->bytes = bytes;
	return ret;
}

static int submit_check_packet(const union vgpu_packet *packet)
{
	u64 va;

	return vgpu_packet_check_body(packet, &va) ? -EINVAL : 0;
}

/* Check the packets in the kernel's copy, so that the GPU finds none of them invalid later. */
static int submit_check_commands(struct vfence_submission *submission)
{
	struct vfence_adapter *adapter = submission->kernel->base.adapter;
	u32 at, size = submission->size;

	for (at = 0; at < size;) {
		union vgpu_packet packet = {};
		const struct drm_vfence_packet_header *header = submission->commands + at;

		if (vfence_reject(&adapter->drm, header->opcode >= VGPU_OP_KERNEL) ||
		    vfence_reject(&adapter->drm,
				  vgpu_packet_check_header(header, size - at, false)))
			return -EINVAL;

		memcpy(&packet, header, header->length);
		if (vfence_reject(&adapter->drm, submit_check_packet(&packet)))
			return -EINVAL;
		if (vfence_reject(&adapter->drm,
				  header->opcode == DRM_VFENCE_OP_MONITORED_SIGNAL &&
				  !adapter->config.gpu.monitored_signal))
			return -EOPNOTSUPP;
		submission->signals += vfence_stage_is_signal(header);
		at += header->length;
	}

	return 0;
}

static int submit_copy_commands(struct vfence_submission *submission,
				const struct drm_vfence_submit *args)
{
	if (!args->commands_size)
		return 0;
	submission->commands = kvmalloc(args->commands_size, GFP_KERNEL_ACCOUNT);
	if (!submission->commands)
		return -ENOMEM;
	submission->size = args->commands_size;
	if (copy_from_user(submission->commands, u64_to_user_ptr(args->commands),
			   submission->size))
		return -EFAULT;
	return submit_check_commands(submission);
}

static int submit_resolve_points(struct vfence_submit *submit, struct vfence_submission *submission)
{
	struct vfence_file *file = submit->drm_file->driver_priv;
	struct vfence_points waits = {};
	int ret;

	ret = vfence_points_resolve_ops(file, submit->ops.list[DRM_VFENCE_SUBMIT_WAIT_FENCE],
					submit->ops.count[DRM_VFENCE_SUBMIT_WAIT_FENCE],
					 DRM_VFENCE_RIGHT_WAIT, &waits);
	if (ret)
		return ret;
	submission->wait = vfence_wait_alloc(file->adapter, waits.count);
	if (submission->wait)
		vfence_points_move(&waits, submission->wait, false);
	vfence_points_free(&waits);
	return submission->wait ? 0 : -ENOMEM;
}

static int submit_resolve_waits(struct vfence_submit *submit, struct vfence_submission *submission)
{
	const struct vfence_submit_ops *ops = &submit->ops;
	struct vfence_in_syncs *in_syncs;
	int ret;

	if (ops->count[DRM_VFENCE_SUBMIT_WAIT_FENCE]) {
		ret = submit_resolve_points(submit, submission);
		if (ret)
			return ret;
	}

	in_syncs = vfence_sync_in_create(submit->drm_file,
					 ops->list[DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ],
					 ops->count[DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ]);
	if (IS_ERR(in_syncs))
		return PTR_ERR(in_syncs);

	submission->in_syncs = in_syncs;
	return 0;
}

/*
 * Do all that a client can delay, or that takes the file's lock, before submit_enter(): the
 * thread that destroys a queue waits for the submissions that have entered it.
 */
static int submit_prepare(struct vfence_submit *submit, struct vfence_submission *submission)
{
	int ret = submit_copy_commands(submission, submit->args);

	if (!ret)
		ret = submit_resolve_waits(submit, submission);
	if (!ret)
		ret = submit_count(submission, submit);
	if (ret)
		return ret;
	submission->stages = submit->stages;
	kref_get(&submit->stages->ref);
	ret = vfence_stage_add_written(submit->drm_file->driver_priv, submission);
	if (ret)
		return ret;
	submission->done = vfence_sync_done_create(submission->kernel->timeline);
	return submission->done ? 0 : -ENOMEM;
}

static struct vfence_queue *submit_find_queue(struct vfence_submit *submit, unsigned int i)
{
	struct vfence_file *file = submit->drm_file->driver_priv;
	struct vfence_queue *queue;
	unsigned int k;

	if (vfence_reject(&file->adapter->drm, submit->entry[i].pad))
		return ERR_PTR(-EINVAL);
	for (k = 0; k < i; k++)
		if (vfence_reject(&file->adapter->drm,
				  submit->entry[k].queue == submit->entry[i].queue))
			return ERR_PTR(-EINVAL);
	queue = vfence_queue_lookup(file, submit->entry[i].queue);
	return queue ? queue : ERR_PTR(-ENOENT);
}

/* Create the submission of one queue. It does not enter the queue yet. */
static int submit_add_queue(struct vfence_submit *submit, unsigned int i)
{
	struct vfence_queue *queue = submit_find_queue(submit, i);
	struct vfence_submission *submission;
	struct vfence_kernel_queue *kernel;

	if (IS_ERR(queue))
		return PTR_ERR(queue);
	kernel = vfence_kernel_queue_of(queue);

	/* A dma_fence must have an end, which nothing promises without a time-out (WDDM-166). */
	if (vfence_reject(&queue->adapter->drm, !kernel) ||
	    vfence_reject(&queue->adapter->drm, kernel->untimed &&
			  submit->ops.count[DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ])) {
		vfence_queue_put(queue);
		return -EOPNOTSUPP;
	}

	submission = vfence_leak_check_alloc(SUBMISSION, sizeof(*submission));
	if (!submission) {
		vfence_queue_put(queue);
		return -ENOMEM;
	}

	submission->kernel = kernel;
	INIT_LIST_HEAD(&submission->link);
	submit->queue[submit->count] = queue;
	submit->submission[submit->count++] = submission;
	return submit_prepare(submit, submission);
}

static int submit_check_args(struct drm_device *drm, const struct drm_vfence_submit *args,
			     const struct vfence_submit_ops *ops)
{
	u32 signals = ops->count[DRM_VFENCE_SUBMIT_SIGNAL_FENCE];
	bool event = args->flags & DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT;
	bool at_submission = args->flags & DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION;

	if (vfence_reject(drm, args->flags & ~SUBMIT_FLAGS || args->pad) ||
	    vfence_reject(drm, !event && args->eventfd) ||
	    vfence_reject(drm, event && (signals || args->commands_size)) ||
	    vfence_reject(drm, at_submission && (!signals || args->commands_size)) ||
	    vfence_reject(drm, args->flags & DRM_VFENCE_SUBMIT_ALLOW_REWIND &&
			  !signals) ||
	    vfence_reject(drm, args->commands_size > DRM_VFENCE_MAX_COMMANDS ||
			  args->commands_size % 8) ||
	    vfence_reject(drm, !args->commands_size && args->commands) ||
	    vfence_reject(drm, !args->queues.count) ||
	    vfence_reject(drm, args->queues.count > 1 &&
			  (args->commands_size || ops->count[DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ])))
		return -EINVAL;

	return 0;
}

static int submit_build(struct vfence_submit *submit)
{
	const struct drm_vfence_submit *args = submit->args;
	unsigned int i;
	int ret = 0;

	submit->entry = vfence_user_array_get(&args->queues, sizeof(*submit->entry),
					      DRM_VFENCE_MAX_BROADCAST, NULL, 0);
	if (IS_ERR(submit->entry))
		return PTR_ERR(submit->entry);

	submit->submission = kcalloc(args->queues.count, sizeof(*submit->submission),
				     GFP_KERNEL_ACCOUNT);
	submit->queue = kcalloc(args->queues.count, sizeof(*submit->queue), GFP_KERNEL_ACCOUNT);
	if (!submit->submission || !submit->queue)
		return -ENOMEM;

	submit->stages = vfence_stage_create(submit->drm_file->driver_priv, args, &submit->ops);
	if (IS_ERR(submit->stages))
		return PTR_ERR(submit->stages);

	submit->out_syncs =
		vfence_sync_out_create(submit->drm_file,
				       submit->ops.list[DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ],
				       submit->ops.count[DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ]);
	if (IS_ERR(submit->out_syncs))
		return PTR_ERR(submit->out_syncs);

	for (i = 0; !ret && i < args->queues.count; i++)
		ret = submit_add_queue(submit, i);

	/* Write the outputs once now, so that -EFAULT is reported before anything is queued. */
	for (i = 0; !ret && i < args->queues.count; i++)
		ret = vfence_user_array_put(&args->queues, i, &submit->entry[i],
					    sizeof(submit->entry[i]));

	return ret;
}

static void submit_release(struct vfence_submit *submit)
{
	unsigned int i;

	for (i = 0; i < submit->count; i++) {
		/* Free the submission if its queue did not take it over. */
		if (submit->submission[i])
			vfence_submission_free(submit->submission[i]);
		vfence_queue_put(submit->queue[i]);
	}

	if (!IS_ERR_OR_NULL(submit->out_syncs))
		vfence_sync_out_destroy(submit->out_syncs);

	if (!IS_ERR_OR_NULL(submit->stages))
		vfence_stage_put(submit->stages);

	vfence_submit_ops_free(&submit->ops);
	kfree(submit->submission);
	kfree(submit->queue);
	if (!IS_ERR_OR_NULL(submit->entry))
		kvfree(submit->entry);
}

/* Take a place in the queue and a power reference, once everything else is prepared. */
static int submit_enter(struct vfence_submit *submit, struct vfence_submission *submission)
{
	struct vfence_kernel_queue *kernel = submission->kernel;
	int ret;

	if (submission->entered)
		return 0;

	if (!vfence_device_active(kernel->base.device))
		return -EIO;

	ret = vfence_room_enter(kernel);
	if (ret)
		return ret;

	ret = vfence_power_get(kernel->base.adapter);
	if (ret) {
		vfence_room_leave(kernel);
		return ret;
	}

	submission->entered = true;
	return vfence_sched_job_init(&submission->job, &kernel->entity, submit->drm_file);
}

/*
 * Give up the place in the queue before the ioctl sleeps: the queue may be destroyed
 * meanwhile, and other calls may need the place.
 */
static void submit_leave(struct vfence_submission *submission)
{
	if (!submission->entered)
		return;

	drm_sched_job_cleanup(&submission->job);
	memset(&submission->job, 0, sizeof(submission->job));
	submission->entered = false;
	vfence_power_put(submission->kernel->base.adapter);
	vfence_room_leave(submission->kernel);
}

/*
 * Pass all submissions to their queues; cannot fail. A queue that is stopped meanwhile fails
 * its submission, as if the queue had been stopped a moment later.
 */
static void submit_queue_all(struct vfence_submit *submit)
{
	unsigned int i;

	for (i = 0; i < submit->count; i++) {
		struct vfence_submission *submission = submit->submission[i];
		struct vfence_kernel_queue *kernel = submission->kernel;

		submit->submission[i] = NULL;
		vfence_kernel_queue_begin_wait(kernel, submission);
		mutex_lock(&kernel->lock);
		submit->entry[i].progress = vfence_kernel_queue_add_locked(kernel, submission);
		mutex_unlock(&kernel->lock);
	}
}

/*
 * Queue a submission and publish its dma_fence. Returns false if the end of the submission would
 * not be bounded: a submission in front of it waits for fences, or the function is paused.
 */
static bool submit_queue_published(struct vfence_submit *submit)
{
	struct vfence_submission *submission = submit->submission[0];
	struct vfence_kernel_queue *kernel = submission->kernel;
	struct dma_fence *done;

	submit->paused = !vfence_published_enter(kernel->base.adapter);
	if (submit->paused)
		return false;
	mutex_lock(&kernel->lock);
	if (kernel->unbounded) {
		mutex_unlock(&kernel->lock);
		vfence_published_leave(kernel->base.adapter);
		return false;
	}

	submission->published = true;
	submit->submission[0] = NULL;
	done = dma_fence_get(submission->done);
	submit->entry[0].progress = vfence_kernel_queue_add_locked(kernel, submission);
	vfence_sync_out_publish(submit->out_syncs, done);
	mutex_unlock(&kernel->lock);

	dma_fence_put(done);
	return true;
}

static void submit_write_outputs(struct vfence_submit *submit)
{
	const struct drm_vfence_obj_array *queues = &submit->args->queues;
	unsigned int i;

	/* Ignore errors: submit_build() has written here; the client has unmapped it since. */
	for (i = 0; i < submit->count; i++)
		(void)vfence_user_array_put(queues, i, &submit->entry[i], sizeof(submit->entry[i]));
}

static int submit_enter_all(struct vfence_submit *submit)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < submit->count; i++)
		ret = submit_enter(submit, submit->submission[i]);
	if (ret != -ENOSPC)
		return ret;

	submit->full = submit->submission[i - 1]->kernel;
	for (i = 0; i < submit->count; i++)
		submit_leave(submit->submission[i]);
	return ret;
}

/*
 * Enter and queue all submissions. Returns 0, -EAGAIN if a submission would not be bounded,
 * -ENOSPC if a queue is full, or another error. With these two no place is taken.
 *
 * Leave the gate before the submissions are queued: their waits begin then, and wait for signals
 * that other threads perform. A queue that has lost its device meanwhile fails its submission.
 */
static int submit_try(struct vfence_submit *submit)
{
	struct vfence_adapter *adapter = to_vfence_adapter(submit->drm_file->minor->dev);
	struct vfence_gate_pass pass;
	int ret;

	ret = vfence_hw_enter(adapter, &pass);
	if (ret)
		return ret;
	ret = submit_enter_all(submit);
	vfence_hw_exit(adapter, &pass);
	if (ret)
		return ret;

	if (!submit->out_syncs) {
		submit_queue_all(submit);
	} else if (!submit_queue_published(submit)) {
		submit_leave(submit->submission[0]);
		ret = -EAGAIN;
	}
	return ret;
}

/*
 * Try once more after a sleep for room. The place that has ended the sleep woke this thread alone:
 * if the thread does not take it, because another queue is full or for any other reason, wake the
 * next one.
 */
static int submit_try_with_room(struct vfence_submit *submit)
{
	struct vfence_kernel_queue *slept_on = submit->full;
	int ret;

	submit->full = NULL;
	ret = submit_try(submit);
	if (ret && slept_on)
		vfence_room_wake(slept_on);
	return ret;
}

/* Sleep until the end of a published submission is bounded. */
static int submit_sleep_bounded(struct vfence_submit *submit)
{
	struct vfence_kernel_queue *kernel = submit->submission[0]->kernel;

	if (submit->paused)
		return vfence_published_sleep(kernel->base.adapter);
	return vfence_kernel_queue_sleep_bounded(kernel);
}

/* Queue all submissions, after a sleep if that is what they need. */
static int submit_try_again(struct vfence_submit *submit)
{
	int ret;

	do {
		ret = submit_try_with_room(submit);
		if (ret == -EAGAIN)
			ret = submit_sleep_bounded(submit);
		else if (ret == -ENOSPC && submit->args->flags & DRM_VFENCE_SUBMIT_WAIT_FOR_ROOM)
			ret = vfence_room_sleep(submit->full);
		else
			return ret;
	} while (!ret);

	return ret;
}

/*
 * Queue a submission whose dma_fence is published. Other drivers depend on its end, so queue
 * it only once it waits for nothing that a client decides.
 */
static int submit_try_published(struct vfence_submit *submit)
{
	struct vfence_submission *submission = submit->submission[0];
	int ret = 0;

	if (submission->wait) {
		ret = vfence_kernel_queue_sleep_reached(submission->kernel, submission->wait);
		vfence_wait_destroy(submission->wait);
		submission->wait = NULL;
	}

	return ret ? ret : submit_try_again(submit);
}

int vfence_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_submit submit = { .drm_file = drm_file, .args = data };
	int ret = vfence_submit_ops_get(drm, &submit.args->ops, &submit.ops);

	if (ret)
		return ret;
	ret = submit_check_args(drm, submit.args, &submit.ops);
	if (!ret)
		ret = submit_build(&submit);
	if (!ret)
		ret = submit.out_syncs ? submit_try_published(&submit) : submit_try_again(&submit);
	if (!ret)
		submit_write_outputs(&submit);
	submit_release(&submit);
	return ret;
}
