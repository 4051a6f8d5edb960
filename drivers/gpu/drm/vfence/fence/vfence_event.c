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
 * struct vfence_event - armed eventfd
 *
 * An event fires, and @work frees it; or the client or the closing file cancels it, and
 * frees it. The state of @wait decides which.
 */
struct vfence_event {
	/** @wait: Points that the event waits for. */
	struct vfence_wait *wait;
	/** @file: File that owns the event; it exists longer than the event. */
	struct vfence_file *file;
	/** @ctx: Eventfd that is signaled when the event fires. */
	struct eventfd_ctx *ctx;
	/** @id: Handle of the event in file->events. */
	u32 id;

	/** @work: Frees a fired event in process context. */
	struct work_struct work;
};

static void event_free(struct vfence_event *event)
{
	atomic_sub(event->wait->count, &event->file->event_points);
	vfence_point_disarm_all(event->wait);
	vfence_wait_destroy(event->wait);
	vfence_eventfd_put(event->ctx);
	vfence_object_free(EVENT, event);
}

static void event_reap_work(struct work_struct *work)
{
	struct vfence_event *event = container_of(work, struct vfence_event, work);
	struct vfence_file *file = event->file;

	/*
	 * Remove the handle first, so that no ioctl cancels an event that is being freed.
	 * The closing file waits until the handle is gone and then until this work ends, so
	 * the file still exists here.
	 */
	vfence_table_remove(&file->events, event->id);
	event_free(event);
	wake_up_all(&file->events_gone);
}

/* Called when the wait is reached or has failed. Any context. */
static void event_fire(struct vfence_wait *wait)
{
	struct vfence_event *event = wait->owner;

	vfence_wait_account(wait);
	vfence_eventfd_signal(event->ctx);
	queue_work(wait->adapter->work_wq, &event->work);
}

static struct vfence_event *event_create(struct vfence_file *file, int fd)
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
	INIT_WORK(&event->work, event_reap_work);
	return event;
}

/* Reserve a handle for @event, and count its points against the limit of the file. */
static int event_reserve(struct vfence_file *file, struct vfence_event *event)
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
 * Perform the signals of the request, then arm an event that has its handle. Return 1 if
 * the points are reached: then nothing is armed and the caller still owns the event.
 * Return 0 if the event is armed: then it may be freed at any time.
 */
static int event_arm_points(struct vfence_event *event, struct vfence_request *request, bool any)
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

static int event_arm(struct vfence_file *file, struct vfence_event *event,
		     struct drm_vfence_event_arm *args)
{
	struct vfence_request request;
	u32 id;
	int ret;

	ret = vfence_request_init(&request, file, args->flags, &args->points, &args->signals);
	if (ret)
		goto free;

	event->wait = request.wait;
	event->wait->fire = event_fire;
	event->wait->owner = event;

	/* Reserve the handle before the signals: it can fail, and signals cannot be undone. */
	ret = event_reserve(file, event);
	if (ret) {
		if (request.signals)
			vfence_wait_destroy(request.signals);
		vfence_wait_destroy(event->wait);
		goto free;
	}

	id = event->id;
	ret = event_arm_points(event, &request, args->flags & DRM_VFENCE_WAIT_ANY);
	if (ret) {
		if (ret > 0)
			vfence_eventfd_signal(event->ctx);
		vfence_table_remove(&file->events, id);
		event_free(event);
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

	if (vfence_reject(drm, args->flags & ~VFENCE_REQUEST_FLAGS))
		return -EINVAL;

	event = event_create(drm_file->driver_priv, args->eventfd);
	if (IS_ERR(event))
		return PTR_ERR(event);
	return event_arm(drm_file->driver_priv, event, args);
}

/* Return false if the event has fired, is about to be freed, or is not armed yet. */
static bool event_cancel(struct vfence_file *file, u32 id)
{
	struct vfence_event *event;

	/* An event that is found under the xa_lock cannot be freed before the unlock. */
	xa_lock(&file->events.objects);
	event = xa_load(&file->events.objects, id);
	if (event && !vfence_wait_move(event->wait, VFENCE_WAIT_ARMED, VFENCE_WAIT_CANCELLED))
		event = NULL;
	xa_unlock(&file->events.objects);
	if (!event)
		return false;

	vfence_table_remove(&file->events, id);
	vfence_wait_account(event->wait);
	event_free(event);
	return true;
}

int vfence_event_cancel_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_destroy *args = data;

	if (vfence_reject(drm, args->pad))
		return -EINVAL;
	return event_cancel(file, args->handle) ? 0 : -ENOENT;
}

/** vfence_event_cancel_all - cancel all events of a closing file, which runs no ioctl */
void vfence_event_cancel_all(struct vfence_file *file)
{
	struct vfence_event *event;
	unsigned long id;

	xa_for_each(&file->events.objects, id, event)
		event_cancel(file, id);

	/*
	 * Wait for the events that have fired before the flush: the thread that decided one
	 * may not have queued its work yet.
	 */
	wait_event(file->events_gone, !atomic_read(&file->events.count));
	flush_workqueue(file->adapter->work_wq);
}
