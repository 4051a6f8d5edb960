// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: waits whose owner is an eventfd instead of a thread.
 */

#include <linux/eventfd.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_account.h"
#include "core/vfence_adapter.h"
#include "core/vfence_file_types.h"
#include "fence/vfence_drain.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_points.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_wait_args.h"
#include "fence/vfence_waiter.h"
#include "irq/vfence_irq.h"
#include "vfence_race_point.h"

/* Points that are looked at with the table of events locked, but each event as a whole. */
#define EVENT_PORTION	64
/* So many times a call looks whether another thread has fired an event that is decided. */
#define EVENT_SPIN	256
/* Most events that a thread of the kernel delivers before others have their turn. */
#define EVENT_BATCH	16

/**
 * struct vfence_event - armed eventfd
 *
 * An event fires, and the call that has fired it or the chore of its file frees it; or the client
 * or the closing file cancels it, and frees it. The state of @wait decides which.
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
	/** @points: Number of points that count against the limit of the file. */
	u32 points;
	/** @cross: A point is one of a cross-adapter fence. */
	bool cross;
	/** @to_fire: The thread that decides @wait has yet to fire the event. */
	bool to_fire;

	/** @fired_link: Entry in file->fired or file->delivered; who takes it there frees it. */
	struct list_head fired_link;
};

static void event_free(struct vfence_event *event)
{
	atomic_sub(event->points, &event->file->event_points);
	atomic_sub(event->cross, &event->file->cross_events);
	vfence_waiter_disarm_all(event->wait);
	vfence_wait_destroy(event->wait);
	vfence_eventfd_put(event->ctx);
	vfence_leak_check_free(EVENT, event);
}

/* Take the first event off a list of its file, or return NULL. */
static struct vfence_event *event_take(struct vfence_file *file, struct list_head *list)
{
	struct vfence_event *event;
	unsigned long flags;

	spin_lock_irqsave(&file->fired_lock, flags);
	event = list_first_entry_or_null(list, struct vfence_event, fired_link);
	if (event)
		list_del_init(&event->fired_link);
	spin_unlock_irqrestore(&file->fired_lock, flags);

	return event;
}

/**
 * vfence_event_signal - signal an eventfd for a client, in a thread of the kernel
 * @ctx: the eventfd
 * @spent_ns: incremented by the time that this takes, without that of the threads which it wakes
 *
 * A client decides how many that are. Process context.
 */
void vfence_event_signal(struct eventfd_ctx *ctx, u64 *spent_ns)
{
	/* There eventfd_signal() may sleep, and the time of others counts, too. */
	const bool can_sleep = IS_ENABLED(CONFIG_PREEMPT_RT);
	u64 begun;

	if (!can_sleep)
		preempt_disable();
	begun = ktime_get_ns();
	vfence_eventfd_signal(ctx);
	*spent_ns += ktime_get_ns() - begun;
	if (!can_sleep)
		preempt_enable();
}

/*
 * Signal the eventfds of up to @count events that have fired, in their order. For a chore @spent_ns
 * is incremented, and when it gets long it leaves the rest.
 */
static void event_deliver_locked(struct vfence_file *file, unsigned int count, u64 *spent_ns)
{
	struct vfence_event *event;
	unsigned long flags;

	lockdep_assert_held(&file->deliver_lock);
	while (count-- && !(spent_ns && vfence_chore_is_long(*spent_ns)) &&
	       (event = event_take(file, &file->fired))) {
		trace_vfence_event(event->wait, event->id, VFENCE_EVENT_SIGNALED);
		if (spent_ns)
			vfence_event_signal(event->ctx, spent_ns);
		else
			vfence_eventfd_signal(event->ctx);
		atomic_dec(&file->firing);

		spin_lock_irqsave(&file->fired_lock, flags);
		list_add_tail(&event->fired_link, &file->delivered);
		spin_unlock_irqrestore(&file->fired_lock, flags);
		cond_resched();
	}
}

/*
 * Free up to @count events whose eventfd is signaled. The closing file waits until the handles are
 * gone, and then for the chores that call this, so the file still exists here.
 */
static void event_free_delivered(struct vfence_file *file, unsigned int count)
{
	struct vfence_event *event;

	while (count-- && (event = event_take(file, &file->delivered))) {
		/* Remove the handle first: no ioctl cancels an event that is being freed. */
		vfence_handle_table_remove(&file->events, event->id);
		event_free(event);
		cond_resched();
	}
	wake_up_all(&file->events_gone);
}

/* Are there events to deliver or to free? */
static bool event_is_due(struct vfence_file *file)
{
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&file->fired_lock, flags);
	due = !list_empty(&file->fired) || !list_empty(&file->delivered);
	spin_unlock_irqrestore(&file->fired_lock, flags);
	return due;
}

/* Return true if the eventfds of the first @until events of the file are signaled. */
static bool event_is_delivered(struct vfence_file *file, unsigned int until)
{
	return (int)(vfence_event_fired(file) - atomic_read(&file->firing) - until) >= 0;
}

/** vfence_event_fired - return how many events of a file have fired, modulo 2^32 */
unsigned int vfence_event_fired(struct vfence_file *file)
{
	unsigned long flags;
	unsigned int count;

	spin_lock_irqsave(&file->fired_lock, flags);
	count = file->fired_count;
	spin_unlock_irqrestore(&file->fired_lock, flags);
	return count;
}

/**
 * vfence_event_deliver - signal some eventfds of a file in a thread of the kernel
 * @file: the file
 * @until: what vfence_event_fired() has returned
 * @spent_ns: incremented by the time that this takes
 *
 * Process context, no lock held.
 *
 * Return: true if the eventfds of all events are signaled that had fired by then.
 */
bool vfence_event_deliver(struct vfence_file *file, unsigned int until, u64 *spent_ns)
{
	if (event_is_delivered(file, until))
		return true;
	mutex_lock(&file->deliver_lock);
	event_deliver_locked(file, EVENT_BATCH, spent_ns);
	event_free_delivered(file, EVENT_BATCH);
	mutex_unlock(&file->deliver_lock);
	return event_is_delivered(file, until);
}

static void event_fire_run(struct vfence_chore *chore)
{
	struct vfence_file *file = container_of(chore, struct vfence_file, fire_chore);

	vfence_hold(EVENT_FIRE);
	mutex_lock(&file->deliver_lock);
	event_deliver_locked(file, EVENT_BATCH, &chore->spent_ns);
	event_free_delivered(file, EVENT_BATCH);
	mutex_unlock(&file->deliver_lock);
	if (event_is_due(file))
		vfence_chore_queue(chore);
}

/** vfence_event_init - prepare a new file for events */
void vfence_event_init(struct vfence_file *file)
{
	spin_lock_init(&file->fired_lock);
	INIT_LIST_HEAD(&file->fired);
	INIT_LIST_HEAD(&file->delivered);
	mutex_init(&file->deliver_lock);
	vfence_chore_init(&file->fire_chore, &file->account->chores, file->adapter->work_wq,
			  event_fire_run, NULL);
}

/* In batches: a thread that does not get the processor keeps others for one of them. */
static noinline void event_flush_batches(struct vfence_file *file, unsigned int count)
{
	unsigned int batch;

	for (; count; count -= batch) {
		batch = min_t(unsigned int, count, EVENT_BATCH);
		if (mutex_lock_killable(&file->deliver_lock)) {
			vfence_chore_queue(&file->fire_chore);
			return;
		}
		event_deliver_locked(file, batch, NULL);
		event_free_delivered(file, batch);
		mutex_unlock(&file->deliver_lock);
	}
}

/*
 * Signal the eventfds of the file's events that have fired, in a call of the client. It frees what
 * it delivers, as there may be no chore for it: a call that signals relies on that. If the thread
 * is killed, the chore of the file goes on.
 */
static void event_flush(struct vfence_file *file)
{
	/* The counter is incremented before any wake-up that follows the event. */
	unsigned int count = atomic_read(&file->firing);

	if (count)
		event_flush_batches(file, count);
}

/**
 * vfence_event_begin_signals - let the call that runs free the events that it fires
 * @file: the file of the call, which ends with vfence_event_end_call()
 *
 * The chore of the file is not needed for them. Between its signals and its end the call waits for
 * no other client.
 */
void vfence_event_begin_signals(struct vfence_file *file)
{
	WRITE_ONCE(file->signaler, current);
}

/**
 * vfence_event_end_call - signal the eventfds of the file's events that have fired
 * @file: the file
 *
 * Each call of a client ends with this: what it has signaled, or has found signaled, its
 * eventfds show when it returns, unless the thread is killed. Process context, no lock held.
 */
void vfence_event_end_call(struct vfence_file *file)
{
	if (READ_ONCE(file->signaler) == current)
		WRITE_ONCE(file->signaler, NULL);
	event_flush(file);
}

/*
 * Called when the wait is reached or has failed. Any context. Do not signal the eventfd here:
 * clients decide how long its wake-ups take, and the caller may hold locks of other clients.
 */
static void event_fire(struct vfence_wait *wait)
{
	struct vfence_event *event = wait->owner;
	struct vfence_file *file = event->file;
	unsigned long flags;

	vfence_hold_busy(DECIDED);
	vfence_wait_account(wait);
	trace_vfence_event(wait, event->id, VFENCE_EVENT_FIRED);

	spin_lock_irqsave(&file->fired_lock, flags);
	atomic_inc(&file->firing);
	/* Release: the counter. Partner: event_is_being_fired(). */
	smp_store_release(&event->to_fire, false);
	file->fired_count++;
	list_add_tail(&event->fired_link, &file->fired);
	/* An interrupt may come while the signaler waits for a lock of another client. */
	if (!in_task() || READ_ONCE(file->signaler) != current)
		vfence_chore_queue(&file->fire_chore);
	spin_unlock_irqrestore(&file->fired_lock, flags);
}

/* Return true if a waiter of an armed event was taken, or if the current value reaches it. */
static bool event_waiter_is_reached(const struct vfence_waiter *waiter)
{
	/* No lock of the fence: a thread that takes the waiter meanwhile ends the wait, too. */
	return !data_race(READ_ONCE(waiter->queued)) ||
	       vfence_reached(vfence_fence_current(waiter->fence), waiter->value);
}

static bool event_is_reached(const struct vfence_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->count; i++) {
		bool reached = event_waiter_is_reached(&wait->waiters[i]);

		if (reached == wait->any)
			return reached;
	}
	return !wait->any;
}

/* Has another thread decided the wait of an event without firing it, as it is still about to do? */
static bool event_is_being_fired(const struct vfence_event *event, int state)
{
	unsigned int tries = EVENT_SPIN;

	if (state != VFENCE_WAIT_REACHED && state != VFENCE_WAIT_FAILED)
		return false;
	/* Acquire: that the event counts as firing. Partner: event_fire(). */
	while (smp_load_acquire(&event->to_fire)) {
		if (!tries--)
			return true;
		cpu_relax();
	}
	return false;
}

/*
 * Fire reached events from @id on, up to a portion of points. Return false after the last event.
 * @firing is set if another thread has not fired one that it has decided.
 */
static bool event_fire_portion(struct vfence_file *file, unsigned long *id, bool *firing)
{
	XA_STATE(xas, &file->events.objects, *id);
	unsigned int points = 0;
	struct vfence_event *event;
	int state;

	/* An event that is found under the lock cannot be freed before the unlock. */
	xas_lock(&xas);
	xas_for_each(&xas, event, ULONG_MAX) {
		if (points >= EVENT_PORTION)
			break;
		if (xa_is_zero(event))
			continue;
		points++;
		/* Acquire: the points. Partner: event_arm_points() moves the wait to ARMED. */
		state = atomic_read_acquire(&event->wait->state);
		if (state == VFENCE_WAIT_ARMED) {
			points += event->wait->count;
			if (!event_is_reached(event->wait))
				continue;
			vfence_wait_finish(event->wait, VFENCE_WAIT_REACHED);
			/* Another thread may have decided it meanwhile. */
			state = atomic_read_acquire(&event->wait->state);
		}
		*firing = *firing || event_is_being_fired(event, state);
	}
	*id = xas.xa_index;
	xas_unlock(&xas);
	return event;
}

/*
 * May an event be reached whose eventfd is not due yet? The caller has found a value by an acquire.
 * Signals move on from the GPU to the interrupt, to points that are taken and to waits: look in
 * this order.
 */
static bool event_may_be_late(struct vfence_file *file)
{
	struct vfence_adapter *adapter = file->adapter;

	if (!atomic_read(&file->events.count))
		return false;
	if (atomic_read(&file->cross_events) || !vfence_irq_is_quiet(adapter))
		return true;
	/*
	 * Acquire: what has ended. Partners: stage_signal(), signal_batch(),
	 * vfence_waiter_finish_all() and vfence_event_fire_reached().
	 */
	return atomic_read_acquire(&adapter->fences.writing) ||
	       atomic_read_acquire(&adapter->fences.signaling) ||
	       atomic_read_acquire(&adapter->fences.taken) ||
	       atomic_read_acquire(&file->settling);
}

/**
 * vfence_event_fire_reached - fire the events of a file that are reached, without an interrupt
 * @file: the file of a call that has found a value in memory, or was told of it
 *
 * A queue stores its signals in their order, and what tells the driver of them may come later: an
 * interrupt, the end of a submission, or the portion of a fence with many waiters. Who was told of
 * one signal finds the events of those before it set, if their values still stand. The cost follows
 * the events of the file itself. Process context, no lock held; vfence_event_end_call() delivers.
 */
void vfence_event_fire_reached(struct vfence_file *file)
{
	unsigned long id = 0;
	bool firing = false;

	if (!event_may_be_late(file))
		return;
	vfence_event_begin_signals(file);
	atomic_inc(&file->settling);
	while (event_fire_portion(file, &id, &firing))
		cond_resched();
	/* Release: what has fired. Partner: event_may_be_late(). */
	(void)atomic_sub_return_release(1, &file->settling);
	/*
	 * A thread that has decided a wait and has lost its processor is in an RCU section: see
	 * vfence_wait_finish(). It may be one of this client's, so do not wait for it in a loop.
	 */
	if (firing)
		synchronize_rcu();
}

static struct vfence_event *event_create(struct vfence_file *file, int fd)
{
	struct vfence_event *event = vfence_leak_check_alloc(EVENT, sizeof(*event));

	if (!event)
		return ERR_PTR(-ENOMEM);

	event->ctx = vfence_eventfd_get(fd);
	if (IS_ERR(event->ctx)) {
		int ret = PTR_ERR(event->ctx);

		vfence_leak_check_free(EVENT, event);
		return ERR_PTR(ret);
	}

	event->file = file;
	INIT_LIST_HEAD(&event->fired_link);
	return event;
}

static int event_try_reserve(struct vfence_file *file, struct vfence_event *event)
{
	int ret = -ENOSPC;

	if (atomic_add_return(event->points, &file->event_points) <= VFENCE_MAX_EVENT_POINTS)
		ret = vfence_handle_table_add(&file->events, event, &event->id);
	if (ret)
		atomic_sub(event->points, &file->event_points);
	return ret;
}

/* Reserve a handle for @event, and count its points against the limit of the file. */
static int event_reserve(struct vfence_file *file, struct vfence_event *event)
{
	int ret = event_try_reserve(file, event);

	if (ret != -ENOSPC)
		return ret;
	/*
	 * The client may have seen all its events fire before another call, which holds the lock,
	 * or the chore has freed them.
	 */
	if (mutex_lock_killable(&file->deliver_lock))
		return -ERESTARTSYS;
	event_deliver_locked(file, atomic_read(&file->firing), NULL);
	event_free_delivered(file, VFENCE_MAX_EVENTS);
	mutex_unlock(&file->deliver_lock);
	return event_try_reserve(file, event);
}

/*
 * Perform the signals of the call, then arm an event that has its handle. Return 1 if
 * the points are reached: then nothing is armed and the caller still owns the event.
 * Return 0 if the event is armed: then it may be freed at any time.
 */
static int event_arm_points(struct vfence_event *event, struct vfence_wait_args *wait_args)
{
	struct vfence_wait *wait = event->wait;
	int ret = vfence_wait_args_signal(wait_args->file, &wait_args->signals,
					  wait_args->signal_flags);

	if (ret)
		return ret;

	if (vfence_points_find_reached(&wait_args->waits, wait_args->any) >= 0)
		return 1;
	vfence_points_move(&wait_args->waits, wait, wait_args->any);
	vfence_drain_and_arm_all(wait);
	trace_vfence_event(wait, event->id, VFENCE_EVENT_ARMED);
	WRITE_ONCE(event->to_fire, true);
	if (vfence_wait_move(wait, VFENCE_WAIT_ARMING, VFENCE_WAIT_ARMED))
		return 0;
	WRITE_ONCE(event->to_fire, false);
	ret = vfence_wait_account(wait);
	return ret ? ret : 1;
}

/* Signals of a cross-adapter fence pass through other adapters. */
static bool event_is_cross(struct vfence_points *waits)
{
	const struct vfence_point *list = vfence_points_list(waits);
	unsigned int i;

	for (i = 0; i < waits->count; i++)
		if (list[i].fence->cross)
			return true;
	return false;
}

static int event_arm(struct vfence_file *file, struct vfence_event *event,
		     struct drm_vfence_event_arm *args)
{
	struct vfence_wait_args wait_args;
	u32 id;
	int ret;

	ret = vfence_wait_args_init(&wait_args, file, args->flags, &args->points, &args->signals);
	if (ret)
		goto free;

	/* Reserve memory and handle before the signals, which cannot be undone. */
	ret = vfence_wait_args_reserve(&wait_args);
	if (ret)
		goto end;
	event->wait = wait_args.wait;
	event->wait->fire = event_fire;
	event->wait->owner = event;
	event->points = wait_args.waits.count;
	event->cross = event_is_cross(&wait_args.waits);
	ret = event_reserve(file, event);
	if (ret)
		goto end;

	atomic_add(event->cross, &file->cross_events);
	wait_args.wait = NULL;
	id = event->id;
	ret = event_arm_points(event, &wait_args);
	vfence_wait_args_end(&wait_args);
	if (ret) {
		if (ret > 0) {
			trace_vfence_event(event->wait, id, VFENCE_EVENT_SIGNALED);
			vfence_eventfd_signal(event->ctx);
		}
		vfence_handle_table_remove(&file->events, id);
		event_free(event);
	}

	if (ret >= 0)
		args->event = ret ? 0 : id;
	return min(ret, 0);

end:
	vfence_wait_args_end(&wait_args);
free:
	vfence_eventfd_put(event->ctx);
	vfence_leak_check_free(EVENT, event);
	return ret;
}

int vfence_event_arm_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vfence_event_arm *args = data;
	struct vfence_event *event;

	if (vfence_reject(drm, args->flags & ~VFENCE_WAIT_ARGS_FLAGS || args->pad))
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

	vfence_handle_table_remove(&file->events, id);
	trace_vfence_event(event->wait, id, VFENCE_EVENT_CANCELLED);
	vfence_wait_account(event->wait);
	event_free(event);
	return true;
}

/** vfence_event_cancel - cancel an event by its handle; -ENOENT if it has fired */
int vfence_event_cancel(struct vfence_file *file, u32 handle)
{
	return event_cancel(file, handle) ? 0 : -ENOENT;
}

/** vfence_event_cancel_all - cancel all events of a closing file, which runs no ioctl */
void vfence_event_cancel_all(struct vfence_file *file)
{
	struct vfence_event *event;
	unsigned long id;

	xa_for_each(&file->events.objects, id, event)
		event_cancel(file, id);

	/* A thread of the kernel that closes the file leaves them to the charged chore. */
	if (!(current->flags & PF_KTHREAD))
		event_flush(file);
	vfence_chore_hurry(&file->fire_chore);
	/* Wait for the events that fire meanwhile, then for the end of the chore that frees. */
	wait_event(file->events_gone, !atomic_read(&file->events.count));
	vfence_chore_flush(&file->fire_chore);
}
