// SPDX-License-Identifier: GPL-2.0-only
/*
 * Software signals: what is signaled from the CPU when all queues of a submission
 * have come so far.
 */

#include <linux/eventfd.h>
#include <linux/slab.h>

#include "fence/vfence_fence.h"
#include "vfence_submit.h"

static void free_broadcast(struct kref *ref)
{
	struct vfence_broadcast *broadcast = container_of(ref, struct vfence_broadcast, ref);
	unsigned int i;

	for (i = 0; i < VFENCE_STAGES; i++) {
		if (broadcast->stage[i].signals)
			vfence_wait_destroy(broadcast->stage[i].signals);
		if (broadcast->stage[i].event)
			vfence_eventfd_put(broadcast->stage[i].event);
	}
	vfence_object_free(BROADCAST, broadcast);
}

/** vfence_broadcast_put - drop a reference; process context */
void vfence_broadcast_put(struct vfence_broadcast *broadcast)
{
	kref_put(&broadcast->ref, free_broadcast);
}

static u32 to_signal_flags(u32 flags)
{
	return flags & DRM_VFENCE_SUBMIT_ALLOW_REWIND ? DRM_VFENCE_SIGNAL_ALLOW_REWIND :
							VFENCE_SIGNAL_KEEP;
}

/* The lists of points, each where it belongs. */
static int add_signals(struct vfence_file *file, struct vfence_broadcast *broadcast,
		       const struct drm_vfence_submit *args)
{
	bool early = args->flags & DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION;
	struct vfence_wait *signals, *top;

	if (!args->signals.count)
		return 0;
	signals = vfence_wait_create(file, &args->signals, DRM_VFENCE_RIGHT_SIGNAL, false);
	if (IS_ERR(signals))
		return PTR_ERR(signals);
	broadcast->stage[early ? VFENCE_STAGE_SUBMITTED : VFENCE_STAGE_COMPLETED].signals = signals;
	if (early)
		return 0;
	top = vfence_signal_split(signals, DRM_VFENCE_MONITORED_TOP_OF_PIPELINE);
	if (IS_ERR(top))
		return PTR_ERR(top);
	broadcast->stage[VFENCE_STAGE_FETCHED].signals = top;
	return 0;
}

static int add_event(struct vfence_broadcast *broadcast, const struct drm_vfence_submit *args)
{
	struct eventfd_ctx *event;

	if (!(args->flags & DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT))
		return 0;
	event = vfence_eventfd_get(args->eventfd);
	if (IS_ERR(event))
		return PTR_ERR(event);
	broadcast->stage[VFENCE_STAGE_COMPLETED].event = event;
	return 0;
}

/**
 * vfence_broadcast_create - what a SUBMIT shall signal
 * @file: the client
 * @args: the call
 *
 * Return: with a reference, or an ERR_PTR.
 */
struct vfence_broadcast *vfence_broadcast_create(struct vfence_file *file,
						 const struct drm_vfence_submit *args)
{
	struct vfence_broadcast *broadcast = vfence_object_alloc(BROADCAST, sizeof(*broadcast));
	unsigned int i;
	int ret;

	if (!broadcast)
		return ERR_PTR(-ENOMEM);
	kref_init(&broadcast->ref);
	broadcast->flags = to_signal_flags(args->flags);
	for (i = 0; i < VFENCE_STAGES; i++) {
		broadcast->stage[i].broadcast = broadcast;
		atomic_set(&broadcast->stage[i].pending, args->queues.count);
	}
	ret = add_signals(file, broadcast, args);
	if (!ret)
		ret = add_event(broadcast, args);
	if (ret) {
		vfence_broadcast_put(broadcast);
		return ERR_PTR(ret);
	}
	return broadcast;
}

static void arrive(struct vfence_kqueue *kqueue, struct vfence_announcement *announcement)
{
	if (!atomic_dec_and_test(&announcement->pending))
		return;
	if (!announcement->signals && !announcement->event)
		return;
	kref_get(&announcement->broadcast->ref);
	spin_lock(&kqueue->run_lock);
	list_add_tail(&announcement->link, &kqueue->due);
	spin_unlock(&kqueue->run_lock);
	queue_work(kqueue->queue->adapter->signal_wq, &kqueue->announce);
}

/** vfence_broadcast_arrive - a queue has come to a stage of a submission */
void vfence_broadcast_arrive(struct vfence_submission *submission, enum vfence_stage stage)
{
	arrive(submission->kqueue, &submission->broadcast->stage[stage]);
}

/** vfence_broadcast_lose - it never will come to @from, nor further; events tell */
void vfence_broadcast_lose(struct vfence_submission *submission, enum vfence_stage from)
{
	for (; from < VFENCE_STAGES; from++) {
		/* Before it is due, be it by another queue. Partner: the atomic in arrive(). */
		WRITE_ONCE(submission->broadcast->stage[from].lost, true);
		arrive(submission->kqueue, &submission->broadcast->stage[from]);
	}
}

static void announce(struct vfence_announcement *announcement)
{
	struct vfence_broadcast *broadcast = announcement->broadcast;

	if (announcement->signals && !READ_ONCE(announcement->lost))
		vfence_signal(announcement->signals, broadcast->flags);
	if (announcement->event)
		vfence_eventfd_signal(announcement->event);
	vfence_broadcast_put(broadcast);
}

static struct vfence_announcement *take_due(struct vfence_kqueue *kqueue)
{
	struct vfence_announcement *announcement;

	spin_lock(&kqueue->run_lock);
	announcement = list_first_entry_or_null(&kqueue->due, struct vfence_announcement, link);
	if (announcement)
		list_del_init(&announcement->link);
	spin_unlock(&kqueue->run_lock);
	return announcement;
}

/*
 * Basic engines write monitored fences and tell nobody: what clients wait for is looked
 * at when something is done (WDDM-129).
 */
static void look_at_monitored(struct vfence_file *file)
{
	struct vfence_local *local;
	unsigned long handle = 0;

	vfence_count(file->adapter, VFENCE_COUNT_LEGACY_SCANS);
	/* The packets' values are stored before waiters are counted: update_monitored_locked(). */
	smp_mb();
	for (;;) {
		struct vfence_fence *fence = NULL;

		xa_lock(&file->fences.objects);
		local = xa_find_after(&file->fences.objects, &handle, ULONG_MAX, XA_PRESENT);
		if (local && vfence_fence_is_monitored(local->fence) &&
		    vfence_fence_needs_scan(local->fence))
			fence = vfence_fence_get(local->fence);
		xa_unlock(&file->fences.objects);
		if (!local)
			return;
		if (fence) {
			vfence_fence_look(fence);
			vfence_fence_put(fence);
		}
	}
}

static void progress(struct vfence_kqueue *kqueue)
{
	u64 retired = READ_ONCE(kqueue->retired);

	if (!kqueue->soft_progress || kqueue->soft_progress->points[0].value == retired)
		return;
	kqueue->soft_progress->points[0].value = retired;
	vfence_signal(kqueue->soft_progress, VFENCE_SIGNAL_KEEP);
}

/** vfence_broadcast_announce_work - a queue has come further */
void vfence_broadcast_announce_work(struct work_struct *work)
{
	struct vfence_kqueue *kqueue = container_of(work, struct vfence_kqueue, announce);
	struct vfence_adapter *adapter = kqueue->queue->adapter;
	struct vfence_announcement *announcement;

	/* What is due was retired before, and so is told of behind its progress value. */
	do {
		announcement = take_due(kqueue);
		progress(kqueue);
		if (announcement)
			announce(announcement);
	} while (announcement);
	mutex_lock(&kqueue->lock);
	if (kqueue->file && adapter->config.gpu.monitored_signal == VGPU_MONITORED_SIGNAL_BASIC)
		look_at_monitored(kqueue->file);
	mutex_unlock(&kqueue->lock);
}
