// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Wait sets
 *
 * A thread that waits again and again for one of many fences would arm a waiter on each of them
 * for each call. The waiters of a wait set stay on their fences from one call to the next. An
 * entry of a set has one waiter::
 *
 *    IDLE ----> ARMED ----> READY ----> IDLE
 *      ^          |           |
 *      +----------+-----------+
 *
 * A call of the client arms an entry. The thread or the interrupt that finishes its waiter makes it
 * READY, under the ready lock. All other changes are made under the lock of the set: a call reports
 * the entry to the client, or an update replaces it, or the set is destroyed.
 *
 * A thread that has taken a waiter off its fence finishes it at once, without a sleep in between. A
 * thread that removes an ARMED entry whose waiter was taken waits until the taker is done, and the
 * entry is READY.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_file_types.h"
#include "core/vfence_user_array.h"
#include "core/vfence_wake.h"
#include "fence/vfence_drain.h"
#include "fence/vfence_event.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_points.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_wait_args.h"
#include "fence/vfence_wait_set.h"
#include "fence/vfence_waiter.h"

/* So few updates of a call are kept on the stack. */
#define WAIT_SET_FEW	4

enum wait_set_state {
	WAIT_SET_IDLE,
	WAIT_SET_ARMED,
	WAIT_SET_READY,
};

/**
 * struct wait_set_entry - entry of a wait set, beside its waiter
 */
struct wait_set_entry {
	/** @state: becomes READY under the ready lock, and all else under the lock of the set */
	enum wait_set_state state;
	/** @error: error of a READY entry, or 0 */
	int error;
};

/**
 * struct vfence_wait_set - waiters that stay on their fences between calls
 */
struct vfence_wait_set {
	/** @ref: references: the handle and each call */
	struct kref ref;
	/** @file: the file of the set; it runs the calls, and exists longer */
	struct vfence_file *file;

	/** @lock: serialises updates and reports; taken outside all locks of fences */
	struct mutex lock;
	/** @closed: the handle is gone; under @lock, read without it */
	bool closed;
	/** @used: number of entries that are not IDLE; under @lock, read without it */
	unsigned int used;
	/** @busy: 1 while a thread waits; atomic */
	atomic_t busy;

	/** @ready_lock: irqsave, taken inside @lock, holding no lock of a fence */
	spinlock_t ready_lock;
	/** @ready: waiters of READY entries, in the order in which they became so; @ready_lock */
	struct list_head ready;

	/** @wait: the waiters, one for each entry; is never decided */
	struct vfence_wait *wait;
	/** @entries: entries, as many as @wait has waiters */
	struct wait_set_entry entries[];
};

/**
 * struct wait_set_change - wait_args update of an entry
 */
struct wait_set_change {
	/** @fence: fence to wait for, with a reference, or NULL */
	struct vfence_fence *fence;
	/** @value: value to wait for */
	u64 value;
	/** @index: index of the entry */
	u32 index;
};

/**
 * struct wait_set_call - wait_args arguments of a call
 */
struct wait_set_call {
	/** @signals: points to signal first; may be empty */
	struct vfence_points signals;
	/** @changes: the updates; in @few if they are few */
	struct wait_set_change *changes;
	/** @count: number of updates */
	unsigned int count;
	/** @few: room for few updates */
	struct wait_set_change few[WAIT_SET_FEW];
};

static unsigned int wait_set_index(const struct vfence_waiter *waiter)
{
	return waiter - waiter->wait->waiters;
}

/*
 * Called for each waiter that is reached or has failed. Any context. Wakes at most the thread that
 * waits and one that wants an entry back. Once the entry is READY and the lock free, the set may
 * be freed.
 */
static void wait_set_finish(struct vfence_waiter *waiter, int error)
{
	struct vfence_wait_set *set = waiter->wait->owner;
	struct wait_set_entry *entry = &set->entries[wait_set_index(waiter)];
	unsigned long flags;

	spin_lock_irqsave(&set->ready_lock, flags);
	entry->error = error;
	list_add_tail(&waiter->link, &set->ready);
	WRITE_ONCE(entry->state, WAIT_SET_READY);
	/* Partner: the thread lists itself in vfence_sleep() or wait_event(), then checks. */
	wake_up_all(&set->wait->sleepers);
	spin_unlock_irqrestore(&set->ready_lock, flags);
}

/*
 * Take an entry back, wherever it is. Afterwards no other thread accesses its waiter. May put the
 * last reference to a fence, which takes none of the locks above this one.
 */
static void wait_set_clear_locked(struct vfence_wait_set *set, unsigned int index)
{
	struct vfence_waiter *waiter = &set->wait->waiters[index];
	struct wait_set_entry *entry = &set->entries[index];
	unsigned long flags;

	lockdep_assert_held(&set->lock);
	if (READ_ONCE(entry->state) == WAIT_SET_IDLE)
		return;

	if (READ_ONCE(entry->state) == WAIT_SET_READY || !vfence_waiter_disarm(waiter)) {
		wait_event(set->wait->sleepers, READ_ONCE(entry->state) == WAIT_SET_READY);
		spin_lock_irqsave(&set->ready_lock, flags);
		list_del(&waiter->link);
		spin_unlock_irqrestore(&set->ready_lock, flags);
	}
	WRITE_ONCE(entry->state, WAIT_SET_IDLE);
	WRITE_ONCE(set->used, set->used - 1);
	vfence_fence_put(waiter->fence);
	waiter->fence = NULL;
}

/* Perform an update. Takes over the reference to the fence. */
static void wait_set_update_locked(struct vfence_wait_set *set, struct wait_set_change *change)
{
	struct vfence_waiter *waiter = &set->wait->waiters[change->index];
	int ret;

	lockdep_assert_held(&set->lock);
	wait_set_clear_locked(set, change->index);
	if (!change->fence)
		return;

	waiter->fence = change->fence;
	waiter->value = change->value;
	change->fence = NULL;
	/* Before the waiter is on its fence, where others finish it. */
	WRITE_ONCE(set->entries[change->index].state, WAIT_SET_ARMED);
	WRITE_ONCE(set->used, set->used + 1);
	ret = vfence_drain_and_arm(waiter);
	if (ret)
		wait_set_finish(waiter, ret);
}

/* ------------------------------------------------------- life of a set */

static void wait_set_free(struct kref *ref)
{
	struct vfence_wait_set *set = container_of(ref, struct vfence_wait_set, ref);

	atomic_sub(set->wait->count, &set->file->wait_set_entries);
	vfence_wait_put(set->wait);
	mutex_destroy(&set->lock);
	vfence_leak_check_gone(WAIT_SET);
	kvfree(set);
}

static void wait_set_put(struct vfence_wait_set *set)
{
	kref_put(&set->ref, wait_set_free);
}

static struct vfence_wait *wait_set_create_points(struct vfence_wait_set *set,
						  struct vfence_file *file, unsigned int entries)
{
	struct vfence_wait *wait = vfence_wait_alloc(file->adapter, entries);
	unsigned int i;

	if (!wait)
		return NULL;
	wait->client = file;
	wait->finish = wait_set_finish;
	wait->owner = set;
	wait->count = entries;
	for (i = 0; i < entries; i++)
		wait->waiters[i].wait = wait;
	return wait;
}

static struct vfence_wait_set *wait_set_create(struct vfence_file *file, unsigned int entries)
{
	struct vfence_wait_set *set;

	set = kvzalloc(struct_size(set, entries, entries), GFP_KERNEL_ACCOUNT);
	if (!set)
		return NULL;
	set->wait = wait_set_create_points(set, file, entries);
	if (!set->wait) {
		kvfree(set);
		return NULL;
	}

	kref_init(&set->ref);
	set->file = file;
	mutex_init(&set->lock);
	spin_lock_init(&set->ready_lock);
	INIT_LIST_HEAD(&set->ready);
	return vfence_leak_check_made(WAIT_SET, set);
}

int vfence_wait_set_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_wait_set_create *args = data;
	struct vfence_wait_set *set;
	int ret;

	if (vfence_reject(drm, args->flags || args->pad || !args->entries ||
			  args->entries > DRM_VFENCE_MAX_WAIT_SET_ENTRIES))
		return -EINVAL;

	/* Count the entries before their memory is allocated. wait_set_free() uncounts them. */
	if (atomic_add_return(args->entries, &file->wait_set_entries) >
	    VFENCE_MAX_WAIT_SET_ENTRIES) {
		atomic_sub(args->entries, &file->wait_set_entries);
		return -ENOSPC;
	}
	set = wait_set_create(file, args->entries);
	if (!set) {
		atomic_sub(args->entries, &file->wait_set_entries);
		return -ENOMEM;
	}

	ret = vfence_handle_table_add(&file->wait_sets, set, &args->handle);
	if (ret)
		wait_set_put(set);
	return ret;
}

/* Take all entries back. Threads that wait return. */
static void wait_set_close_locked(struct vfence_wait_set *set)
{
	unsigned int i;

	lockdep_assert_held(&set->lock);
	WRITE_ONCE(set->closed, true);
	for (i = 0; i < set->wait->count; i++) {
		wait_set_clear_locked(set, i);
		cond_resched();
	}
	/* Partner: vfence_sleep() lists the thread, then checks. */
	wake_up_all(&set->wait->sleepers);
}

/** vfence_wait_set_destroy_all - destroy the wait sets of a closing file, which runs no ioctl */
void vfence_wait_set_destroy_all(struct vfence_file *file)
{
	struct vfence_wait_set *set;
	unsigned long handle;

	xa_for_each(&file->wait_sets.objects, handle, set) {
		vfence_handle_table_remove(&file->wait_sets, handle);
		mutex_lock(&set->lock);
		wait_set_close_locked(set);
		mutex_unlock(&set->lock);
		wait_set_put(set);
	}
}

static struct vfence_wait_set *wait_set_look_up(struct vfence_file *file, u32 handle)
{
	struct vfence_wait_set *set;

	/* A set that is found under the xa_lock has the reference of its handle. */
	xa_lock(&file->wait_sets.objects);
	set = xa_load(&file->wait_sets.objects, handle);
	if (set)
		kref_get(&set->ref);
	xa_unlock(&file->wait_sets.objects);
	return set;
}

/** vfence_wait_set_destroy - destroy a wait set by its handle, and end the call that waits */
int vfence_wait_set_destroy(struct vfence_file *file, u32 handle)
{
	struct vfence_wait_set *set = wait_set_look_up(file, handle);
	int ret = -ENOENT;

	if (!set)
		return -ENOENT;

	/* Another thread holds the lock for as long as the client lets it copy. */
	if (mutex_lock_killable(&set->lock)) {
		wait_set_put(set);
		return -ERESTARTSYS;
	}
	if (vfence_handle_table_remove(&file->wait_sets, handle)) {
		wait_set_close_locked(set);
		wait_set_put(set);
		ret = 0;
	}
	mutex_unlock(&set->lock);
	wait_set_put(set);
	return ret;
}

/* ------------------------------------------------- the call that waits */

static int wait_set_look_up_change(struct vfence_wait_set *set, struct wait_set_change *change,
				   const struct drm_vfence_wait_set_update *update)
{
	struct vfence_fence *fence = NULL;

	if (vfence_reject(&set->file->adapter->drm, update->index >= set->wait->count))
		return -EINVAL;
	change->index = update->index;
	change->value = update->value;
	if (update->fence)
		fence = vfence_points_look_up(set->file, update->fence, DRM_VFENCE_RIGHT_WAIT,
					      &change->value);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	change->fence = fence;
	return 0;
}

/* Look up all fences of the updates. On error call->count changes have a reference. */
static int wait_set_look_up_changes(struct vfence_wait_set *set, struct wait_set_call *call,
				    const struct drm_vfence_obj_array *updates)
{
	struct drm_vfence_wait_set_update list[WAIT_SET_FEW], *in;
	int ret = 0;

	if (!updates->count)
		return 0;
	in = vfence_user_array_get(updates, sizeof(*in), DRM_VFENCE_MAX_POINTS, list, sizeof(list));
	if (IS_ERR(in))
		return PTR_ERR(in);

	if (updates->count > WAIT_SET_FEW)
		call->changes = kvmalloc_array(updates->count, sizeof(*call->changes),
					       GFP_KERNEL_ACCOUNT);
	if (!call->changes)
		ret = -ENOMEM;
	while (!ret && call->count < updates->count) {
		ret = wait_set_look_up_change(set, &call->changes[call->count], &in[call->count]);
		call->count += !ret;
	}
	vfence_user_array_free(in, list);
	return ret;
}

static void wait_set_end_call(struct wait_set_call *call)
{
	unsigned int i;

	for (i = 0; i < call->count; i++)
		if (call->changes[i].fence)
			vfence_fence_put(call->changes[i].fence);
	if (call->changes != call->few)
		kvfree(call->changes);
	vfence_points_free(&call->signals);
}

/* Check the arguments. On error, too, the caller ends the call with wait_set_end_call(). */
static int wait_set_begin_call(struct vfence_wait_set *set, struct wait_set_call *call,
			       const struct drm_vfence_wait_set_wait *args)
{
	int ret;

	call->signals = (struct vfence_points) {};
	call->changes = call->few;
	call->count = 0;
	ret = wait_set_look_up_changes(set, call, &args->updates);
	if (ret || !args->signals.count)
		return ret;

	return vfence_points_resolve(set->file, &args->signals, DRM_VFENCE_RIGHT_SIGNAL,
				      &call->signals);
}

/* Perform signals, then updates. Only the signals can fail, and then no entry has changed. */
static int wait_set_perform_locked(struct vfence_wait_set *set, struct wait_set_call *call,
				   u32 flags)
{
	unsigned int i;
	int ret;

	lockdep_assert_held(&set->lock);
	if (set->closed)
		return -ENOENT;

	ret = vfence_wait_args_signal(set->file, &call->signals, flags);
	for (i = 0; !ret && i < call->count; i++) {
		wait_set_update_locked(set, &call->changes[i]);
		cond_resched();
	}
	return ret;
}

static int wait_set_perform(struct vfence_wait_set *set,
			    const struct drm_vfence_wait_set_wait *args)
{
	u32 flags = args->flags & DRM_VFENCE_WAIT_ALLOW_REWIND ? DRM_VFENCE_SIGNAL_ALLOW_REWIND : 0;
	struct wait_set_call call;
	int ret = wait_set_begin_call(set, &call, args);

	if (!ret && mutex_lock_interruptible(&set->lock))
		ret = -ERESTARTSYS;
	if (!ret) {
		ret = wait_set_perform_locked(set, &call, flags);
		/* An entry that is not used any more may have been the last one. */
		if (!set->used)
			wake_up_all(&set->wait->sleepers);
		mutex_unlock(&set->lock);
	}
	wait_set_end_call(&call);
	return ret;
}

/* A hint: wait_set_end_wait_locked() decides. */
static bool wait_set_must_return(const void *arg)
{
	const struct vfence_wait_set *set = arg;

	return !list_empty_careful(&set->ready) || !READ_ONCE(set->used) || READ_ONCE(set->closed);
}

/*
 * Look at the entry that has been ready for longest; false if there is none. While the set is
 * locked other threads only add entries behind it.
 */
static bool wait_set_first_locked(struct vfence_wait_set *set,
				  struct drm_vfence_wait_set_ready *ready)
{
	struct vfence_waiter *waiter;
	unsigned long flags;

	lockdep_assert_held(&set->lock);
	spin_lock_irqsave(&set->ready_lock, flags);
	waiter = list_first_entry_or_null(&set->ready, struct vfence_waiter, link);
	if (waiter) {
		ready->index = wait_set_index(waiter);
		ready->error = set->entries[ready->index].error;
	}
	spin_unlock_irqrestore(&set->ready_lock, flags);
	return waiter;
}

/* Report ready entries to the client. An entry that cannot be reported stays ready. */
static int wait_set_report_locked(struct vfence_wait_set *set,
				  struct drm_vfence_wait_set_wait *args)
{
	struct drm_vfence_wait_set_ready ready;
	u32 count = 0;
	int ret = 0;

	while (!ret && count < args->ready.count && wait_set_first_locked(set, &ready)) {
		ret = vfence_user_array_put(&args->ready, count, &ready, sizeof(ready));
		if (!ret) {
			wait_set_clear_locked(set, ready.index);
			count++;
		}
		cond_resched();
	}
	args->returned = count;
	return count ? 0 : ret;
}

/* Return the result of a wait, or -EAGAIN if entries are armed and none is ready: then sleep. */
static int wait_set_end_wait_locked(struct vfence_wait_set *set,
				    struct drm_vfence_wait_set_wait *args)
{
	int ret;

	if (set->closed)
		return -ECANCELED;
	ret = wait_set_report_locked(set, args);
	if (ret || args->returned)
		return ret;
	if (!args->timeout_ns)
		return -ETIME;
	return set->used ? -EAGAIN : -ENODATA;
}

static int wait_set_try(struct vfence_wait_set *set, struct drm_vfence_wait_set_wait *args)
{
	int ret;

	if (mutex_lock_interruptible(&set->lock))
		return -ERESTARTSYS;
	ret = wait_set_end_wait_locked(set, args);
	mutex_unlock(&set->lock);
	return ret;
}

/* Sleep until there may be something to report, and report it. */
static int wait_set_sleep(struct vfence_wait_set *set, struct drm_vfence_wait_set_wait *args)
{
	int ret, slept;

	do {
		trace_vfence_wait(set->wait, 'B', 0);
		slept = vfence_sleep(&set->wait->sleepers, wait_set_must_return, set,
				     args->timeout_ns);
		trace_vfence_wait(set->wait, 'E', slept);
		ret = slept == -EINTR ? -ERESTARTSYS : wait_set_try(set, args);
	} while (ret == -EAGAIN && !slept);
	return ret == -EAGAIN ? slept : ret;
}

/* A wait that is interrupted counts as cancelled, and the call that goes on as another one. */
static int wait_set_wait(struct vfence_wait_set *set, struct drm_vfence_wait_set_wait *args)
{
	int ret = wait_set_try(set, args);

	if (ret != -EAGAIN)
		return ret;
	vfence_wait_count(set->wait, VFENCE_COUNT_WAITS_BEGUN);
	ret = wait_set_sleep(set, args);
	vfence_wait_count(set->wait, !ret ? VFENCE_COUNT_WAITS_SATISFIED :
				     ret == -ETIME ? VFENCE_COUNT_WAITS_TIMED_OUT :
				     VFENCE_COUNT_WAITS_CANCELLED);
	return ret;
}

/* Perform a call for a set that no other thread waits for, or one that does not wait. */
static int wait_set_run(struct vfence_wait_set *set, struct drm_vfence_wait_set_wait *args)
{
	int ret = args->performed ? 0 : wait_set_perform(set, args);

	if (ret)
		return ret;
	args->performed = 1;
	if (args->ready.count)
		return wait_set_wait(set, args);
	args->returned = 0;
	return 0;
}

int vfence_wait_set_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vfence_wait_set_wait *args = data;
	struct vfence_wait_set *set;
	int ret = -EBUSY;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_WAIT_ALLOW_REWIND ||
			  args->timeout_ns < 0 || args->performed > 1) ||
	    vfence_reject(drm, args->ready.count > DRM_VFENCE_MAX_POINTS) ||
	    vfence_reject(drm, args->ready.count &&
			  !vfence_user_array_stride_valid(args->ready.stride)))
		return -EINVAL;

	set = wait_set_look_up(drm_file->driver_priv, args->set);
	if (!set) {
		ret = args->performed ? -ECANCELED : -ENOENT;
	} else if (!args->ready.count) {
		ret = wait_set_run(set, args);
	} else if (!atomic_cmpxchg(&set->busy, 0, 1)) {
		ret = wait_set_run(set, args);
		atomic_set_release(&set->busy, 0);
	}
	if (ret != -ERESTARTSYS)
		args->performed = 0;
	if (set)
		wait_set_put(set);
	if (!ret && args->ready.count)
		vfence_event_fire_reached(drm_file->driver_priv);
	return ret;
}
