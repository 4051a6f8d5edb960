// SPDX-License-Identifier: GPL-2.0
/*
 * DRM_IOCTL_VFENCE_SUBMIT: from a client's lists and packets to submissions of its queues.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "fence/vfence_fence.h"
#include "vfence_power.h"
#include "vfence_submit.h"
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
	/** @broadcast: what they have in common */
	struct vfence_broadcast *broadcast;
	/** @publication: who is told, or NULL */
	struct vfence_publication *publication;
	/** @reached: the fence points are, by the call itself */
	bool reached;
};

/**
 * vfence_submission_free - it is over, or was never queued
 * @submission: armed and done, or neither
 */
void vfence_submission_free(struct vfence_submission *submission)
{
	struct vfence_kqueue *kqueue = submission->kqueue;
	struct vfence_queue *queue = kqueue->queue;

	if (submission->job.s_fence)
		drm_sched_job_cleanup(&submission->job);
	if (submission->wait)
		vfence_wait_destroy(submission->wait);
	if (submission->deps)
		vfence_dependencies_destroy(submission->deps);
	if (submission->broadcast)
		vfence_broadcast_put(submission->broadcast);
	dma_fence_put(submission->done);
	kvfree(submission->commands);
	kfree(submission);
	vfence_power_put(queue->adapter);
	vfence_kqueue_leave(kqueue);
}

/* One more of a queue: there is room, and power. */
static struct vfence_submission *alloc_submission(struct vfence_kqueue *kqueue)
{
	struct vfence_submission *submission;
	int ret = -ENOMEM;

	if (!vfence_kqueue_enter(kqueue))
		return ERR_PTR(-ENOSPC);
	submission = kzalloc(sizeof(*submission), GFP_KERNEL_ACCOUNT);
	if (!submission)
		goto leave;
	ret = vfence_power_get(kqueue->queue->adapter);
	if (ret)
		goto free;
	submission->kqueue = kqueue;
	INIT_LIST_HEAD(&submission->link);
	return submission;
free:
	kfree(submission);
leave:
	vfence_kqueue_leave(kqueue);
	return ERR_PTR(ret);
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
	return check_commands(submission->kqueue->queue->adapter, submission->commands,
			      submission->size);
}

static int find_waits(struct vfence_submit *submit, struct vfence_submission *submission)
{
	const struct drm_vfence_submit *args = submit->args;
	struct vfence_file *file = submit->drm_file->driver_priv;
	struct vfence_dependencies *deps;
	struct vfence_wait *wait;

	if (args->waits.count && !submit->reached) {
		wait = vfence_wait_create(file, &args->waits, DRM_VFENCE_RIGHT_WAIT, false);
		if (IS_ERR(wait))
			return PTR_ERR(wait);
		submission->wait = wait;
	}
	deps = vfence_dependencies_create(submit->drm_file, &args->wait_syncobjs);
	if (IS_ERR(deps))
		return PTR_ERR(deps);
	submission->deps = deps;
	return 0;
}

/* Everything of one submission that can fail, but its place in the queue. */
static int prepare(struct vfence_submit *submit, struct vfence_submission *submission)
{
	int ret = copy_commands(submission, submit->args);

	if (!ret)
		ret = find_waits(submit, submission);
	if (ret)
		return ret;
	submission->broadcast = submit->broadcast;
	kref_get(&submit->broadcast->ref);
	submission->done = vfence_done_create(submission->kqueue->timeline);
	if (!submission->done)
		return -ENOMEM;
	return vfence_sched_job_init(&submission->job, &submission->kqueue->entity,
				     submit->drm_file);
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

/* A submission of one queue. */
static int add_queue(struct vfence_submit *submit, unsigned int i)
{
	struct vfence_submission *submission;
	struct vfence_queue *queue = find_queue(submit, i);
	int ret = 0;

	if (IS_ERR(queue))
		return PTR_ERR(queue);
	if (vfence_reject(&queue->adapter->drm, !queue->kernel))
		ret = -EOPNOTSUPP;
	else if (!vfence_device_active(queue->device) || READ_ONCE(queue->kernel->error))
		ret = -EIO;
	submission = ret ? ERR_PTR(ret) : alloc_submission(queue->kernel);
	if (IS_ERR(submission)) {
		vfence_queue_put(queue);
		return PTR_ERR(submission);
	}
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

	submit->entry = vfence_uobj_get(&args->queues, sizeof(*submit->entry),
					DRM_VFENCE_MAX_BROADCAST);
	if (IS_ERR(submit->entry))
		return PTR_ERR(submit->entry);
	submit->submission = kcalloc(args->queues.count, sizeof(*submit->submission),
				     GFP_KERNEL_ACCOUNT);
	submit->queue = kcalloc(args->queues.count, sizeof(*submit->queue), GFP_KERNEL_ACCOUNT);
	if (!submit->submission || !submit->queue)
		return -ENOMEM;
	submit->broadcast = vfence_broadcast_create(submit->drm_file->driver_priv, args);
	if (IS_ERR(submit->broadcast))
		return PTR_ERR(submit->broadcast);
	submit->publication = vfence_publication_create(submit->drm_file,
							&args->signal_syncobjs);
	if (IS_ERR(submit->publication))
		return PTR_ERR(submit->publication);
	for (i = 0; !ret && i < args->queues.count; i++)
		ret = add_queue(submit, i);
	/* What is wrong with the place for the answers is wrong before anything is done. */
	for (i = 0; !ret && i < args->queues.count; i++)
		ret = vfence_uobj_put(&args->queues, i, &submit->entry[i],
				      sizeof(submit->entry[i]));
	return ret;
}

/* What did not get to a queue. */
static void release(struct vfence_submit *submit)
{
	unsigned int i;

	for (i = 0; i < submit->count; i++) {
		struct vfence_queue *queue = submit->queue[i];

		if (submit->submission[i])
			vfence_submission_free(submit->submission[i]);
		vfence_queue_put(queue);
	}
	if (!IS_ERR_OR_NULL(submit->publication))
		vfence_publication_destroy(submit->publication);
	if (!IS_ERR_OR_NULL(submit->broadcast))
		vfence_broadcast_put(submit->broadcast);
	kfree(submit->submission);
	kfree(submit->queue);
	if (!IS_ERR_OR_NULL(submit->entry))
		kvfree(submit->entry);
}

/*
 * Point of no failure: from here on the queues have them. One that is stopped meanwhile
 * cancels its own, as if it had been stopped a moment later.
 */
static void queue_all(struct vfence_submit *submit)
{
	unsigned int i;

	for (i = 0; i < submit->count; i++) {
		struct vfence_submission *submission = submit->submission[i];

		submit->submission[i] = NULL;
		mutex_lock(&submit->queue[i]->kernel->lock);
		submit->entry[i].progress =
			vfence_kqueue_hold_locked(submit->queue[i]->kernel, submission);
		mutex_unlock(&submit->queue[i]->kernel->lock);
	}
}

/* False if something in front waits for fences: it is not bounded. */
static bool queue_published(struct vfence_submit *submit)
{
	struct vfence_submission *submission = submit->submission[0];
	struct vfence_kqueue *kqueue = submission->kqueue;
	struct dma_fence *done;

	mutex_lock(&kqueue->lock);
	if (kqueue->unbounded) {
		mutex_unlock(&kqueue->lock);
		return false;
	}
	submit->submission[0] = NULL;
	done = dma_fence_get(submission->done);
	submit->entry[0].progress = vfence_kqueue_hold_locked(kqueue, submission);
	vfence_publication_publish(submit->publication, done);
	mutex_unlock(&kqueue->lock);
	dma_fence_put(done);
	return true;
}

static void answer(struct vfence_submit *submit)
{
	const struct drm_vfence_obj_array *queues = &submit->args->queues;
	unsigned int i;

	/* It could be written a moment ago; who takes it away does not want it. */
	for (i = 0; i < submit->count; i++)
		(void)vfence_uobj_put(queues, i, &submit->entry[i], sizeof(submit->entry[i]));
}

/* Return: 0, -EAGAIN if it would not be bounded, or an error. */
static int try(struct drm_file *drm_file, const struct drm_vfence_submit *args, bool reached)
{
	struct vfence_submit submit = {
		.drm_file = drm_file,
		.args = args,
		.reached = reached,
	};
	int ret, idx;

	if (!drm_dev_enter(drm_file->minor->dev, &idx))
		return -ENODEV;
	ret = build(&submit);
	if (!ret && submit.publication)
		ret = queue_published(&submit) ? 0 : -EAGAIN;
	else if (!ret)
		queue_all(&submit);
	if (!ret)
		answer(&submit);
	release(&submit);
	drm_dev_exit(idx);
	return ret;
}

/* Sleep until the fence points are reached; those nobody can signal count as such. */
static int wait_reached(struct vfence_file *file, const struct drm_vfence_submit *args)
{
	struct vfence_wait *wait;
	int ret;

	if (!args->waits.count)
		return 0;
	wait = vfence_wait_create(file, &args->waits, DRM_VFENCE_RIGHT_WAIT, false);
	if (IS_ERR(wait))
		return PTR_ERR(wait);
	wait->gpu = true;
	ret = vfence_wait_sleep(wait);
	vfence_wait_destroy(wait);
	return ret == -ECANCELED || ret == -EIO ? 0 : ret;
}

/* Sleep until nothing of the queue waits for fences. */
static int wait_bounded(struct vfence_file *file, const struct drm_vfence_submit *args)
{
	struct drm_vfence_submit_queue *entry;
	struct vfence_kqueue *kqueue;
	struct vfence_queue *queue;
	int ret;

	entry = vfence_uobj_get(&args->queues, sizeof(*entry), 1);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	queue = vfence_queue_lookup(file, entry->queue);
	kvfree(entry);
	if (!queue)
		return -ENOENT;
	kqueue = queue->kernel;
	ret = !kqueue ? -EOPNOTSUPP :
	      wait_event_interruptible(kqueue->wait, !READ_ONCE(kqueue->unbounded) ||
				       READ_ONCE(kqueue->error));
	vfence_queue_put(queue);
	return ret;
}

/* Others will rely on it: it waits for nothing that a client decides. */
static int submit_published(struct drm_file *drm_file, const struct drm_vfence_submit *args)
{
	int ret = wait_reached(drm_file->driver_priv, args);

	while (!ret) {
		ret = try(drm_file, args, true);
		if (ret != -EAGAIN)
			break;
		ret = wait_bounded(drm_file->driver_priv, args);
	}
	return ret;
}

int vfence_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_vfence_submit *args = data;
	int ret = check(drm, args);

	if (ret)
		return ret;
	return args->signal_syncobjs.count ? submit_published(drm_file, args) :
					     try(drm_file, args, false);
}
