// SPDX-License-Identifier: GPL-2.0-only
/*
 * DRM_IOCTL_VFENCE_SUBMIT: from a client's lists and packets to submissions of its queues.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "core/vfence_device.h"
#include "core/vfence_obj_array.h"
#include "core/vfence_power.h"
#include "fence/vfence_request.h"
#include "fence/vfence_sync.h"
#include "fence/vfence_wait.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_stage.h"
#include "queue/vfence_submit.h"
#include "vgpu_packet.h"

#define FLAGS	(DRM_VFENCE_SUBMIT_ALLOW_REWIND | DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION | \
		 DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT)

/**
 * struct vfence_submit - a SUBMIT on its way
 */
struct vfence_submit {
	/** @drm_file: the client */
	struct drm_file *drm_file;
	/** @args: its call */
	const struct drm_vfence_submit *args;
	/** @entry: its queues */
	struct drm_vfence_submit_queue *entry;
	/** @queue: for each of them the queue, with a reference */
	struct vfence_queue **queue;
	/** @submission: and its submission; NULL once the queue has it */
	struct vfence_submission **submission;
	/** @count: of these */
	unsigned int count;
	/** @stages: what they have in common */
	struct vfence_stages *stages;
	/** @out_syncs: who is told, or NULL */
	struct vfence_out_syncs *out_syncs;
};

/**
 * vfence_submit_free - it is over, or was never queued
 * @submission: armed and done, or neither
 */
void vfence_submit_free(struct vfence_submission *submission)
{
	struct vfence_kernel_queue *kernel = submission->kernel;
	struct vfence_adapter *adapter = kernel->queue->adapter;
	bool entered = submission->entered;

	if (submission->job.s_fence)
		drm_sched_job_cleanup(&submission->job);
	if (submission->wait)
		vfence_wait_destroy(submission->wait);
	if (submission->in_syncs)
		vfence_sync_in_destroy(submission->in_syncs);
	if (submission->stages)
		vfence_stage_put(submission->stages);
	dma_fence_put(submission->done);
	kvfree(submission->commands);
	vfence_object_free(SUBMISSION, submission);
	if (entered) {
		vfence_power_put(adapter);
		vfence_kernel_queue_leave(kernel);
	}
}

static int check_packet(const union vgpu_packet *packet)
{
	u64 va;

	return vgpu_packet_check_body(packet, &va) ? -EINVAL : 0;
}

/* Packet by packet, on the copy: what the GPU will not find wrong later. */
static int check_commands(struct vfence_adapter *adapter, const void *commands, u32 size)
{
	u32 at;

	for (at = 0; at < size;) {
		union vgpu_packet packet = {};
		const struct drm_vfence_packet_header *header = commands + at;

		if (vfence_reject(&adapter->drm, header->opcode >= VGPU_OP_KERNEL) ||
		    vfence_reject(&adapter->drm,
				  vgpu_packet_check_header(header, size - at, false)))
			return -EINVAL;
		memcpy(&packet, header, header->length);
		if (vfence_reject(&adapter->drm, check_packet(&packet)))
			return -EINVAL;
		if (vfence_reject(&adapter->drm,
				  header->opcode == DRM_VFENCE_OP_MONITORED_SIGNAL &&
				  !adapter->config.gpu.monitored_signal))
			return -EOPNOTSUPP;
		at += header->length;
	}
	return 0;
}

static int copy_commands(struct vfence_submission *submission,
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
	return check_commands(submission->kernel->queue->adapter, submission->commands,
			      submission->size);
}

static int find_waits(struct vfence_submit *submit, struct vfence_submission *submission)
{
	const struct drm_vfence_submit *args = submit->args;
	struct vfence_file *file = submit->drm_file->driver_priv;
	struct vfence_in_syncs *in_syncs;
	struct vfence_wait *wait;

	if (args->waits.count) {
		wait = vfence_request_resolve(file, &args->waits, DRM_VFENCE_RIGHT_WAIT, false);
		if (IS_ERR(wait))
			return PTR_ERR(wait);
		submission->wait = wait;
	}
	in_syncs = vfence_sync_in_create(submit->drm_file, &args->wait_syncobjs);
	if (IS_ERR(in_syncs))
		return PTR_ERR(in_syncs);
	submission->in_syncs = in_syncs;
	return 0;
}

/* All that a client can make us wait for, or that takes its file's lock. */
static int prepare(struct vfence_submit *submit, struct vfence_submission *submission)
{
	int ret = copy_commands(submission, submit->args);

	if (!ret)
		ret = find_waits(submit, submission);
	if (ret)
		return ret;
	submission->stages = submit->stages;
	kref_get(&submit->stages->ref);
	submission->done = vfence_sync_done_create(submission->kernel->timeline);
	return submission->done ? 0 : -ENOMEM;
}

static struct vfence_queue *find_queue(struct vfence_submit *submit, unsigned int i)
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

/* A submission of one queue, which has nothing to do with it yet. */
static int add_queue(struct vfence_submit *submit, unsigned int i)
{
	struct vfence_submission *submission;
	struct vfence_queue *queue = find_queue(submit, i);

	if (IS_ERR(queue))
		return PTR_ERR(queue);
	if (vfence_reject(&queue->adapter->drm, !queue->kernel)) {
		vfence_queue_put(queue);
		return -EOPNOTSUPP;
	}
	submission = vfence_object_alloc(SUBMISSION, sizeof(*submission));
	if (!submission) {
		vfence_queue_put(queue);
		return -ENOMEM;
	}
	submission->kernel = queue->kernel;
	INIT_LIST_HEAD(&submission->link);
	submit->queue[submit->count] = queue;
	submit->submission[submit->count++] = submission;
	return prepare(submit, submission);
}

static int check(struct drm_device *drm, const struct drm_vfence_submit *args)
{
	bool event = args->flags & DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT;
	bool early = args->flags & DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION;

	if (vfence_reject(drm, args->flags & ~FLAGS || args->pad) ||
	    vfence_reject(drm, !event && args->eventfd) ||
	    vfence_reject(drm, event && (args->signals.count || args->commands_size)) ||
	    vfence_reject(drm, early && (!args->signals.count || args->commands_size)) ||
	    vfence_reject(drm, args->flags & DRM_VFENCE_SUBMIT_ALLOW_REWIND &&
			  !args->signals.count) ||
	    vfence_reject(drm, args->commands_size > DRM_VFENCE_MAX_COMMANDS ||
			  args->commands_size % 8) ||
	    vfence_reject(drm, !args->commands_size && args->commands) ||
	    vfence_reject(drm, !args->queues.count) ||
	    vfence_reject(drm, args->queues.count > 1 &&
			  (args->commands_size || args->signal_syncobjs.count)))
		return -EINVAL;
	return 0;
}

static int build(struct vfence_submit *submit)
{
	const struct drm_vfence_submit *args = submit->args;
	unsigned int i;
	int ret = 0;

	submit->entry = vfence_obj_array_get(&args->queues, sizeof(*submit->entry),
					     DRM_VFENCE_MAX_BROADCAST);
	if (IS_ERR(submit->entry))
		return PTR_ERR(submit->entry);
	submit->submission = kcalloc(args->queues.count, sizeof(*submit->submission),
				     GFP_KERNEL_ACCOUNT);
	submit->queue = kcalloc(args->queues.count, sizeof(*submit->queue), GFP_KERNEL_ACCOUNT);
	if (!submit->submission || !submit->queue)
		return -ENOMEM;
	submit->stages = vfence_stage_create(submit->drm_file->driver_priv, args);
	if (IS_ERR(submit->stages))
		return PTR_ERR(submit->stages);
	submit->out_syncs = vfence_sync_out_create(submit->drm_file,
						   &args->signal_syncobjs);
	if (IS_ERR(submit->out_syncs))
		return PTR_ERR(submit->out_syncs);
	for (i = 0; !ret && i < args->queues.count; i++)
		ret = add_queue(submit, i);
	/* What is wrong with the place for the answers is wrong before anything is done. */
	for (i = 0; !ret && i < args->queues.count; i++)
		ret = vfence_obj_array_put(&args->queues, i, &submit->entry[i],
					   sizeof(submit->entry[i]));
	return ret;
}

static void release(struct vfence_submit *submit)
{
	unsigned int i;

	for (i = 0; i < submit->count; i++) {
		/* What did not get to its queue. */
		if (submit->submission[i])
			vfence_submit_free(submit->submission[i]);
		vfence_queue_put(submit->queue[i]);
	}
	if (!IS_ERR_OR_NULL(submit->out_syncs))
		vfence_sync_out_destroy(submit->out_syncs);
	if (!IS_ERR_OR_NULL(submit->stages))
		vfence_stage_put(submit->stages);
	kfree(submit->submission);
	kfree(submit->queue);
	if (!IS_ERR_OR_NULL(submit->entry))
		kvfree(submit->entry);
}

/* A place in the queue, and power: once all else is there. */
static int enter(struct vfence_submit *submit, struct vfence_submission *submission)
{
	struct vfence_kernel_queue *kernel = submission->kernel;
	int ret;

	if (submission->entered)
		return 0;
	if (!vfence_device_active(kernel->queue->device))
		return -EIO;
	ret = vfence_kernel_queue_enter(kernel);
	if (ret)
		return ret;
	ret = vfence_power_get(kernel->queue->adapter);
	if (ret) {
		vfence_kernel_queue_leave(kernel);
		return ret;
	}
	submission->entered = true;
	return vfence_sched_job_init(&submission->job, &kernel->entity, submit->drm_file);
}

/* Give it back: its queue may be destroyed while the call sleeps. */
static void leave(struct vfence_submission *submission)
{
	drm_sched_job_cleanup(&submission->job);
	memset(&submission->job, 0, sizeof(submission->job));
	submission->entered = false;
	vfence_power_put(submission->kernel->queue->adapter);
	vfence_kernel_queue_leave(submission->kernel);
}

/*
 * Point of no failure: from here on the queues have them. One that is stopped meanwhile
 * fails its own, as if it had been stopped a moment later.
 */
static void queue_all(struct vfence_submit *submit)
{
	unsigned int i;

	for (i = 0; i < submit->count; i++) {
		struct vfence_submission *submission = submit->submission[i];

		submit->submission[i] = NULL;
		mutex_lock(&submit->queue[i]->kernel->lock);
		submit->entry[i].progress =
			vfence_kernel_queue_hold_locked(submit->queue[i]->kernel, submission);
		mutex_unlock(&submit->queue[i]->kernel->lock);
	}
}

/* False if something in front waits for fences: it is not bounded. */
static bool queue_published(struct vfence_submit *submit)
{
	struct vfence_submission *submission = submit->submission[0];
	struct vfence_kernel_queue *kernel = submission->kernel;
	struct dma_fence *done;

	mutex_lock(&kernel->lock);
	if (kernel->unbounded) {
		mutex_unlock(&kernel->lock);
		return false;
	}
	submit->submission[0] = NULL;
	done = dma_fence_get(submission->done);
	submit->entry[0].progress = vfence_kernel_queue_hold_locked(kernel, submission);
	vfence_sync_out_publish(submit->out_syncs, done);
	mutex_unlock(&kernel->lock);
	dma_fence_put(done);
	return true;
}

static void answer(struct vfence_submit *submit)
{
	const struct drm_vfence_obj_array *queues = &submit->args->queues;
	unsigned int i;

	/* It could be written a moment ago; who takes it away does not want it. */
	for (i = 0; i < submit->count; i++)
		(void)vfence_obj_array_put(queues, i, &submit->entry[i], sizeof(submit->entry[i]));
}

/* Return: 0, -EAGAIN if it would not be bounded, or an error. */
static int try(struct vfence_submit *submit)
{
	unsigned int i;
	int ret = 0, idx;

	if (!drm_dev_enter(submit->drm_file->minor->dev, &idx))
		return -ENODEV;
	for (i = 0; !ret && i < submit->count; i++)
		ret = enter(submit, submit->submission[i]);
	if (!ret && !submit->out_syncs) {
		queue_all(submit);
	} else if (!ret && !queue_published(submit)) {
		leave(submit->submission[0]);
		ret = -EAGAIN;
	}
	drm_dev_exit(idx);
	return ret;
}

/* Others will rely on it: it waits for nothing that a client decides. */
static int try_published(struct vfence_submit *submit)
{
	struct vfence_submission *submission = submit->submission[0];
	struct vfence_kernel_queue *kernel = submission->kernel;
	int ret = 0;

	if (submission->wait) {
		ret = vfence_kernel_queue_sleep_reached(kernel, submission->wait);
		vfence_wait_destroy(submission->wait);
		submission->wait = NULL;
	}
	while (!ret) {
		ret = try(submit);
		if (ret != -EAGAIN)
			break;
		ret = vfence_kernel_queue_sleep_bounded(kernel);
	}
	return ret;
}

int vfence_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_submit submit = { .drm_file = drm_file, .args = data };
	int ret = check(drm, submit.args);

	if (ret)
		return ret;
	ret = build(&submit);
	if (!ret)
		ret = submit.out_syncs ? try_published(&submit) : try(&submit);
	if (!ret)
		answer(&submit);
	release(&submit);
	return ret;
}
