// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: waits whose owner is an eventfd instead of a thread.
 */

#include <linux/eventfd.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_file_types.h"
#include "fence/vfence_event.h"
#include "fence/vfence_point.h"
#include "fence/vfence_request.h"
#include "fence/vfence_wait.h"

/**
 * struct vfence_event - an armed eventfd
 *
 * It ends in one of two ways: it fires, and @work frees it; or it is cancelled,
 * and the canceller frees it. The state of @wait decides.
 */
struct vfence_event {
	/** @wait: the points */
	struct vfence_wait *wait;
	/** @file: owner; outlives the event */
	struct vfence_file *file;
	/** @ctx: whom to tell */
	struct eventfd_ctx *ctx;
	/** @id: handle */
	u32 id;
	/** @work: frees a fired event in process context */
	struct work_struct work;
};

static void free_event(struct vfence_event *event)
{
	atomic_sub(event->wait->count, &event->file->event_points);
	vfence_point_disarm_all(event->wait);
	vfence_wait_destroy(event->wait);
	vfence_eventfd_put(event->ctx);
	vfence_object_free(EVENT, event);
}

static void reap(struct work_struct *work)
{
	struct vfence_event *event = container_of(work, struct vfence_event, work);
	struct vfence_file *file = event->file;

	/*
	 * The handle first, so that nobody cancels what is being freed. The closer
	 * waits for it to go and then for this work to end, so the file stays.
	 */
	vfence_table_remove(&file->events, event->id);
	free_event(event);
	wake_up_all(&file->events_gone);
}

/* The wait is reached or failed. Any context. */
static void fire(struct vfence_wait *wait)
{
	struct vfence_event *event = wait->owner;

	vfence_wait_account(wait);
	vfence_eventfd_signal(event->ctx);
	queue_work(wait->adapter->work_wq, &event->work);
}

static struct vfence_event *create_event(struct vfence_file *file, int fd)
{
	struct vfence_event *event = vfence_object_alloc(EVENT, sizeof(*event));

	if (!event)
		return ERR_PTR(-ENOMEM);
	event->ctx = vfence_eventfd_get(fd);
	if (IS_ERR(event->ctx)) {
		int ret = PTR_ERR(event->ctx);

		vfence_object_free(EVENT, event);
		return ERR_PTR(ret);
	}
	event->file = file;
	INIT_WORK(&event->work, reap);
	return event;
}

/* Room for one more event of @points points. */
static int reserve(struct vfence_file *file, struct vfence_event *event)
{
	unsigned int points = event->wait->count;
	int ret = -ENOSPC;

	if (atomic_add_return(points, &file->event_points) <= VFENCE_MAX_EVENT_POINTS)
		ret = vfence_table_add(&file->events, event, &event->id);
	if (ret)
		atomic_sub(points, &file->event_points);
	return ret;
}

/*
 * Signal and arm an event that has its handle. 1: the points are reached, nothing
 * is armed and the event is still ours; 0: armed, it may be gone any time.
 */
static int arm_event(struct vfence_event *event, struct vfence_request *request, bool any)
{
	struct vfence_wait *wait = event->wait;
	int ret = vfence_request_signal(request);

	if (ret)
		return ret;
	if (vfence_wait_poll(wait, any))
		return 1;
	ret = vfence_point_arm_all(wait);
	if (ret)
		return ret;
	if (vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED))
		return 0;
	ret = vfence_wait_account(wait);
	return ret ? ret : 1;
}

static int arm(struct vfence_file *file, struct vfence_event *event,
	       struct drm_vfence_event_arm *args)
{
	struct vfence_request request;
	u32 id;
	int ret;

	ret = vfence_request_init(&request, file, args->flags, &args->points, &args->signals);
	if (ret)
		goto free;
	event->wait = request.wait;
	event->wait->fire = fire;
	event->wait->owner = event;
	/* The handle first: it can fail, and signals cannot be taken back. */
	ret = reserve(file, event);
	if (ret) {
		if (request.signals)
			vfence_wait_destroy(request.signals);
		vfence_wait_destroy(event->wait);
		goto free;
	}
	id = event->id;
	ret = arm_event(event, &request, args->flags & DRM_VFENCE_WAIT_ANY);
	if (ret) {
		vfence_table_remove(&file->events, id);
		free_event(event);
	}
	if (ret >= 0) {
		args->event = ret ? 0 : id;
		args->reached = ret;
	}
	return min(ret, 0);
free:
	vfence_eventfd_put(event->ctx);
	vfence_object_free(EVENT, event);
	return ret;
}

int vfence_event_arm_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vfence_event_arm *args = data;
	struct vfence_event *event;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_WAIT_ANY))
		return -EINVAL;
	event = create_event(drm_file->driver_priv, args->eventfd);
	if (IS_ERR(event))
		return PTR_ERR(event);
	return arm(drm_file->driver_priv, event, args);
}

/* False if it fired, is about to be freed, or is not armed yet. */
static bool cancel(struct vfence_file *file, u32 id)
{
	struct vfence_event *event;

	/* Under the xa_lock an event that is found cannot be freed. */
	xa_lock(&file->events.objects);
	event = xa_load(&file->events.objects, id);
	if (event && !vfence_wait_move(event->wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED))
		event = NULL;
	xa_unlock(&file->events.objects);
	if (!event)
		return false;
	vfence_table_remove(&file->events, id);
	vfence_wait_account(event->wait);
	free_event(event);
	return true;
}

int vfence_event_cancel_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_destroy *args = data;

	if (vfence_reject(drm, args->pad))
		return -EINVAL;
	return cancel(file, args->handle) ? 0 : -ENOENT;
}

/** vfence_event_cancel_all - the file closes; no ioctl of it runs any more */
void vfence_event_cancel_all(struct vfence_file *file)
{
	struct vfence_event *event;
	unsigned long id;

	xa_for_each(&file->events.objects, id, event)
		cancel(file, id);
	/*
	 * Those that fired are on their way out: whoever decided one may not have
	 * queued its work yet.
	 */
	wait_event(file->events_gone, !atomic_read(&file->events.count));
	flush_workqueue(file->adapter->work_wq);
}
