// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stage signals: the CPU signals fences and eventfds when all queues of a SUBMIT have
 * reached a stage.
 */

#include <linux/eventfd.h>
#include <linux/slab.h>

#include "core/vfence_account.h"
#include "core/vfence_adapter.h"
#include "core/vfence_device.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_fence_va.h"
#include "fence/vfence_holder.h"
#include "fence/vfence_points.h"
#include "fence/vfence_rescan.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_wait_args.h"
#include "irq/vfence_irq.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_progress.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_stage.h"
#include "queue/vfence_submission.h"
#include "queue/vfence_submit_ops.h"
#include "vfence_race_point.h"
#include "vgpu_packet.h"

/* Most stages that are performed before others have their turn. */
#define STAGE_PORTION	16

static void stage_release(struct kref *ref)
{
	struct vfence_stages *stages = container_of(ref, struct vfence_stages, ref);
	unsigned int i;

	for (i = 0; i < VFENCE_STAGES; i++) {
		vfence_points_free(&stages->stage[i].signals);
		vfence_points_free(&stages->stage[i].written);
		if (stages->stage[i].event)
			vfence_eventfd_put(stages->stage[i].event);
	}
	vfence_leak_check_free(STAGES, stages);
}

/** vfence_stage_put - drop a reference; process context */
void vfence_stage_put(struct vfence_stages *stages)
{
	kref_put(&stages->ref, stage_release);
}

static u32 stage_signal_flags(u32 flags)
{
	return flags & DRM_VFENCE_SUBMIT_ALLOW_REWIND ? DRM_VFENCE_SIGNAL_ALLOW_REWIND :
							VFENCE_SIGNAL_KEEP;
}

/* Resolve the points to signal and put each at its stage. */
static int stage_add_signals(struct vfence_file *file, struct vfence_stages *stages,
			     const struct drm_vfence_submit *args,
			     const struct vfence_submit_ops *ops)
{
	u32 count = ops->count[DRM_VFENCE_SUBMIT_SIGNAL_FENCE];
	bool at_submission = args->flags & DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION;
	struct vfence_points *signals = &stages->stage[at_submission ? VFENCE_STAGE_SUBMITTED :
							VFENCE_STAGE_COMPLETED].signals;
	int ret;

	if (!count)
		return 0;

	ret = vfence_points_resolve_ops(file, ops->list[DRM_VFENCE_SUBMIT_SIGNAL_FENCE], count,
					DRM_VFENCE_RIGHT_SIGNAL, signals);
	if (!ret)
		ret = vfence_points_pledge(signals);
	if (ret || at_submission)
		return ret;
	return vfence_points_split(signals, DRM_VFENCE_FENCE_TOP_OF_PIPELINE,
				   &stages->stage[VFENCE_STAGE_FETCHED].signals);
}

static int stage_add_event(struct vfence_stages *stages, const struct drm_vfence_submit *args)
{
	struct eventfd_ctx *event;

	if (!(args->flags & DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT))
		return 0;
	event = vfence_eventfd_get(args->eventfd);
	if (IS_ERR(event))
		return PTR_ERR(event);
	stages->stage[VFENCE_STAGE_COMPLETED].event = event;
	return 0;
}

/**
 * vfence_stage_create - create the stage signals of a SUBMIT
 * @file: the client
 * @args: arguments of the ioctl
 * @ops: its operations
 *
 * Return: the stage signals, with a reference, or an ERR_PTR.
 */
struct vfence_stages *vfence_stage_create(struct vfence_file *file,
					  const struct drm_vfence_submit *args,
					  const struct vfence_submit_ops *ops)
{
	struct vfence_stages *stages = vfence_leak_check_alloc(STAGES, sizeof(*stages));
	unsigned int i;
	int ret;

	if (!stages)
		return ERR_PTR(-ENOMEM);

	kref_init(&stages->ref);
	stages->flags = stage_signal_flags(args->flags) | VFENCE_SIGNAL_LATE;
	for (i = 0; i < VFENCE_STAGES; i++) {
		stages->stage[i].stages = stages;
		atomic_set(&stages->stage[i].pending, args->queues.count);
	}

	ret = stage_add_signals(file, stages, args, ops);
	if (!ret)
		ret = stage_add_event(stages, args);
	if (ret) {
		vfence_stage_put(stages);
		return ERR_PTR(ret);
	}

	return stages;
}

/* Add the fence that a packet signals. */
static void stage_add_written_one(struct vfence_file *file, struct vfence_points *written,
				  const union vgpu_packet *packet)
{
	bool monitored = packet->header.opcode == DRM_VFENCE_OP_MONITORED_SIGNAL;
	struct vfence_point *next = vfence_points_list(written) + written->count;
	struct vfence_point *last = written->count ? next - 1 : NULL;
	u64 va = monitored ? packet->monitored.current_va : packet->signal.current_va;
	struct vfence_fence *fence = vfence_fence_va_lookup(file, va);

	/* The GPU faults on the packet, and the submission fails. */
	if (!fence)
		return;
	/* Nobody waits on the CPU for a value that it cannot access. */
	if (!fence->current_value || (last && last->fence == fence)) {
		vfence_fence_put(fence);
		return;
	}

	*next = (struct vfence_point) { .fence = fence };
	written->count++;
}

/**
 * vfence_stage_add_written - note which fences the packets of a submission signal
 * @file: the client
 * @submission: the only submission of its stages, with its commands checked
 *
 * Return: 0 or -ENOMEM.
 */
int vfence_stage_add_written(struct vfence_file *file, struct vfence_submission *submission)
{
	struct vfence_points *written = &submission->stages->stage[VFENCE_STAGE_COMPLETED].written;
	u32 at = 0;

	if (!submission->signals)
		return 0;
	if (vfence_points_alloc(written, submission->signals))
		return -ENOMEM;

	while (at < submission->size) {
		const struct drm_vfence_packet_header *header = submission->commands + at;

		if (vfence_stage_is_signal(header))
			stage_add_written_one(file, written, (const void *)header);
		at += header->length;
		cond_resched();
	}

	return 0;
}

/*
 * Complete what the values satisfy that packets have stored to monitored fences (WDDM-129): engines
 * store them without a record that names the fence. Do so for a submission that was aborted, too:
 * some of its packets may have been executed.
 */
static void stage_rescan_written(struct vfence_points *written)
{
	struct vfence_point *list = vfence_points_list(written);
	unsigned int i, count = 0;

	for (i = 0; i < written->count; i++) {
		if (!vfence_fence_is_monitored(list[i].fence))
			continue;
		vfence_rescan_fence(list[i].fence);
		count++;
	}
	if (count)
		vfence_count(list->fence->adapter, VFENCE_COUNT_LEGACY_SCANS);
}

/* The interrupts of the signals of native fences are handled: complete what they have left. */
static void stage_complete_native(struct vfence_points *written)
{
	struct vfence_point *list = vfence_points_list(written);
	unsigned int i;

	for (i = 0; i < written->count; i++)
		if (!vfence_fence_is_monitored(list[i].fence))
			vfence_rescan_deferred(list[i].fence);
}

/**
 * vfence_stage_begin_write - packets of a submission are about to be executed
 * @submission: the submission
 *
 * What they store in monitored fences completes waits at the end of the submission: until then it
 * counts. The caller makes the packets visible by a release. Any context.
 */
void vfence_stage_begin_write(struct vfence_submission *submission)
{
	struct vfence_stages *stages = submission->stages;

	if (!stages->stage[VFENCE_STAGE_COMPLETED].written.count)
		return;
	stages->writes = submission->kernel->base.adapter;
	atomic_inc(&stages->writes->fences.writing);
}

/** vfence_stage_schedule - queue &vfence_kernel_queue.stage_chore; any context */
void vfence_stage_schedule(struct vfence_kernel_queue *kernel)
{
	struct vfence_queue *queue = &kernel->base;

	if (!kref_get_unless_zero(&queue->ref))
		return;
	/* A run that is to come already has a reference of its own. */
	if (!vfence_chore_queue(&kernel->stage_chore))
		vfence_queue_put_later(queue);
}

static void stage_arrive(struct vfence_kernel_queue *kernel,
			 struct vfence_stage_signals *stage_signals)
{
	if (!atomic_dec_and_test(&stage_signals->pending))
		return;
	if (!stage_signals->signals.count && !stage_signals->written.count && !stage_signals->event)
		return;
	kref_get(&stage_signals->stages->ref);
	atomic_inc(&kernel->due_count);
	spin_lock(&kernel->run_lock);
	list_add_tail(&stage_signals->link, &kernel->due_stages);
	kernel->stages_queued++;
	spin_unlock(&kernel->run_lock);
	vfence_stage_schedule(kernel);
}

/** vfence_stage_arrive - report that a queue has reached a stage of a submission */
void vfence_stage_arrive(struct vfence_submission *submission, enum vfence_stage stage)
{
	stage_arrive(submission->kernel, &submission->stages->stage[stage]);
}

/**
 * vfence_stage_lose - report that a queue will never reach some stages of a submission
 * @submission: the submission
 * @from: the first stage that the queue will not reach
 *
 * No fence is signaled at these stages. Eventfds are signaled.
 */
void vfence_stage_lose(struct vfence_submission *submission, enum vfence_stage from)
{
	for (; from < VFENCE_STAGES; from++) {
		/*
		 * Set ->lost before the stage becomes due, even when another queue arrives
		 * last. Partner: the atomic in stage_arrive().
		 */
		WRITE_ONCE(submission->stages->stage[from].lost, true);
		stage_arrive(submission->kernel, &submission->stages->stage[from]);
	}
}

static void stage_signal(struct vfence_stage_signals *stage_signals, u64 *spent_ns)
{
	struct vfence_stages *stages = stage_signals->stages;

	stage_rescan_written(&stage_signals->written);
	/* Release: the waits are completed. Partner: event_may_be_late(). */
	if (stage_signals->written.count && stages->writes)
		(void)atomic_dec_return_release(&stages->writes->fences.writing);
	if (!READ_ONCE(stage_signals->lost))
		vfence_signal_perform(&stage_signals->signals, stages->flags);
	if (stage_signals->event)
		vfence_event_signal(stage_signals->event, spent_ns);
}

/* A stage is performed: there may be room for another submission. */
static void stage_end(struct vfence_kernel_queue *kernel)
{
	/* Full barrier: count, then wake. Partner: vfence_room_sleep(). */
	if (atomic_dec_return(&kernel->due_count) < DRM_VFENCE_MAX_SUBMISSIONS)
		wake_up(&kernel->room);
	kernel->stages_performed++;
}

static struct vfence_stage_signals *stage_take_due(struct vfence_kernel_queue *kernel)
{
	struct vfence_stage_signals *stage_signals;

	spin_lock(&kernel->run_lock);
	stage_signals = list_first_entry_or_null(&kernel->due_stages,
						 struct vfence_stage_signals, link);
	if (stage_signals)
		list_del_init(&stage_signals->link);
	spin_unlock(&kernel->run_lock);
	return stage_signals;
}

/* Handle the interrupts of signals by packets, then end the stages that are performed. */
static void stage_end_performed(struct vfence_kernel_queue *kernel, struct list_head *performed)
{
	struct vfence_stage_signals *stage_signals, *next;

	/* Signals of packets may be in the FIFO of the CMP, or be due in the threaded half. */
	if (xchg(&kernel->drain_due, false))
		vfence_irq_catch_up(kernel->base.adapter);

	list_for_each_entry_safe(stage_signals, next, performed, link) {
		if (!READ_ONCE(stage_signals->lost))
			stage_complete_native(&stage_signals->written);
		vfence_stage_put(stage_signals->stages);
	}
	INIT_LIST_HEAD(performed);
}

/* Perform a portion of the due stage signals. Return false if there may be more. */
static bool stage_perform_due(struct vfence_kernel_queue *kernel)
{
	struct vfence_stage_signals *stage_signals;
	unsigned int count = 0;
	LIST_HEAD(performed);

	do {
		stage_signals = stage_take_due(kernel);
		if (!stage_signals)
			break;
		stage_signal(stage_signals, &kernel->stage_chore.spent_ns);
		list_add_tail(&stage_signals->link, &performed);
		stage_end(kernel);
	} while (++count < STAGE_PORTION && !vfence_chore_is_long(kernel->stage_chore.spent_ns));

	stage_end_performed(kernel, &performed);
	return !stage_signals;
}

/*
 * Choose what the progress fence is signaled with next, unless that is chosen: the last completed
 * submission. All stages that were due by then have to be performed before, and no later ones: a
 * client may make stages due as fast as they are performed.
 */
static void stage_aim(struct vfence_kernel_queue *kernel)
{
	if (kernel->aim.progress > kernel->progress)
		return;
	/* Acquire: count the stages after it. Partner: job_retire_one_locked(). */
	kernel->aim.progress = smp_load_acquire(&kernel->retired);
	spin_lock(&kernel->run_lock);
	kernel->aim.stages = kernel->stages_queued;
	spin_unlock(&kernel->run_lock);
	kernel->aim.performed = false;
}

/* Are the stages performed, and the events delivered that their signals have fired? */
static bool stage_is_delivered(struct vfence_kernel_queue *kernel)
{
	struct vfence_file *file = kernel->base.file;

	if ((int)(kernel->stages_performed - kernel->aim.stages) < 0)
		return false;
	if (!kernel->aim.performed) {
		kernel->aim.events = vfence_event_fired(file);
		kernel->aim.performed = true;
	}
	return vfence_event_deliver(file, kernel->aim.events, &kernel->stage_chore.spent_ns);
}

static void stage_signal_progress(struct vfence_kernel_queue *kernel)
{
	if (kernel->progress == kernel->aim.progress)
		return;
	kernel->progress = kernel->aim.progress;
	vfence_signal_one(kernel->base.progress_fence, kernel->progress,
			  VFENCE_SIGNAL_KEEP | VFENCE_SIGNAL_LATE);
}

/* Waits for the progress of a stopped queue fail, and queues of all clients proceed. */
static void stage_end_progress(struct vfence_kernel_queue *kernel)
{
	if (kernel->ended)
		return;
	kernel->ended = true;
	vfence_progress_end(&kernel->base);
	vfence_device_end_stop(kernel->base.device);
}

/*
 * Perform a portion of the due stage signals of a queue. After the last one signal its progress
 * (WDDM-199): a client that finds the queue idle has received all signals of its submissions, and
 * may destroy it.
 */
static void stage_run(struct vfence_chore *chore)
{
	struct vfence_kernel_queue *kernel =
		container_of(chore, struct vfence_kernel_queue, stage_chore);
	bool stopped, all;

	vfence_hold(STAGE);
	/* What was due before is performed here. Partner: kernel_queue_stop(). */
	stopped = smp_load_acquire(&kernel->stopped);
	stage_aim(kernel);
	all = stage_perform_due(kernel);
	/* The events of the signals have fired; the client expects their eventfds set. */
	if (stage_is_delivered(kernel))
		stage_signal_progress(kernel);
	else
		all = false;

	if (!all || kernel->progress != READ_ONCE(kernel->retired))
		vfence_stage_schedule(kernel);
	else if (stopped)
		stage_end_progress(kernel);
}

static void stage_release_queue(struct vfence_chore *chore)
{
	struct vfence_kernel_queue *kernel =
		container_of(chore, struct vfence_kernel_queue, stage_chore);

	vfence_queue_put_later(&kernel->base);
}

/** vfence_stage_init - prepare a kernel-mode queue for stage signals */
void vfence_stage_init(struct vfence_kernel_queue *kernel)
{
	vfence_chore_init(&kernel->stage_chore, &kernel->base.file->account->chores,
			  kernel->base.adapter->queues.signal_wq, stage_run, stage_release_queue);
}
