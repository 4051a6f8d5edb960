// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver has asked engines for, and since when. An engine must do it within TdrDelay. The
 * watchdog, reset/vfence_watch.c, finds what an engine has not done by then, also if the thread
 * that asked for it does not wait any more.
 *
 * ::
 *
 *          begin              late, unmet           the engine was reset
 *    NONE ------> ASKED -----------------> LATE ---------------------------> LOST
 *     ^            | ^                      | |                               |
 *     |            | +-- not reset, unmet --+ |                               |
 *     +- end, met -+                          |                               |
 *     +---- end, or not reset and met --------+                               |
 *     +-------------------------------- end ----------------------------------+
 *
 * An engine whose thread had no processor for most of the time is not late: its time begins again.
 * Only a suspension becomes LOST, also one that has begun during the reset. Everything else ends,
 * or the engine gets TdrDelay once more; it also does if the configuration says that nothing is
 * reset.
 */

#include <linux/ktime.h>

#include "core/vfence_adapter.h"
#include "core/vfence_deadline.h"

/** vfence_deadline_init - prepare an adapter for deadlines; cannot fail */
void vfence_deadline_init(struct vfence_adapter *adapter)
{
	spin_lock_init(&adapter->deadlines.lock);
	INIT_LIST_HEAD(&adapter->deadlines.list);
}

/** vfence_deadline_setup - initialise a deadline, which does not run yet */
void vfence_deadline_setup(struct vfence_deadline *deadline, const struct vfence_deadline_ops *ops,
			   unsigned int node)
{
	deadline->ops = ops;
	deadline->node = node;
	INIT_LIST_HEAD(&deadline->link);
	deadline->state = VFENCE_DEADLINE_NONE;
}

static void deadline_stamp_locked(struct vfence_adapter *adapter, struct vfence_deadline *deadline)
{
	lockdep_assert_held(&adapter->deadlines.lock);
	deadline->asked_at = ktime_get_ns();
	deadline->waited_ns = vgpu_engine_waited_ns(adapter->gpu, deadline->node);
}

/** vfence_deadline_stamp - an engine was asked now, and vfence_deadline_begin_late() may follow */
void vfence_deadline_stamp(struct vfence_adapter *adapter, struct vfence_deadline *deadline)
{
	spin_lock(&adapter->deadlines.lock);
	deadline_stamp_locked(adapter, deadline);
	spin_unlock(&adapter->deadlines.lock);
}

static void deadline_begin_locked(struct vfence_adapter *adapter, struct vfence_deadline *deadline)
{
	lockdep_assert_held(&adapter->deadlines.lock);
	deadline_stamp_locked(adapter, deadline);
	WRITE_ONCE(deadline->state, VFENCE_DEADLINE_ASKED);
	list_move_tail(&deadline->link, &adapter->deadlines.list);
}

static void deadline_leave_locked(struct vfence_adapter *adapter, struct vfence_deadline *deadline,
				  enum vfence_deadline_state state)
{
	lockdep_assert_held(&adapter->deadlines.lock);
	WRITE_ONCE(deadline->state, state);
	list_del_init(&deadline->link);
}

/** vfence_deadline_begin - an engine was asked for something: its time runs; not in interrupts */
void vfence_deadline_begin(struct vfence_adapter *adapter, struct vfence_deadline *deadline)
{
	spin_lock(&adapter->deadlines.lock);
	deadline_begin_locked(adapter, deadline);
	spin_unlock(&adapter->deadlines.lock);
	adapter->loss->asked(adapter);
}

/** vfence_deadline_end - nothing is asked any more; not in interrupts */
void vfence_deadline_end(struct vfence_adapter *adapter, struct vfence_deadline *deadline)
{
	spin_lock(&adapter->deadlines.lock);
	deadline_leave_locked(adapter, deadline, VFENCE_DEADLINE_NONE);
	spin_unlock(&adapter->deadlines.lock);
}

/** vfence_deadline_left_locked - time until the next deadline, in ns; U64_MAX if there is none */
u64 vfence_deadline_left_locked(struct vfence_adapter *adapter, u64 now)
{
	const struct vfence_deadline *first;

	lockdep_assert_held(&adapter->deadlines.lock);
	first = list_first_entry_or_null(&adapter->deadlines.list, struct vfence_deadline, link);
	if (!first)
		return U64_MAX;
	return vfence_timeout_left(READ_ONCE(adapter->tdr.delay_ms), first->asked_at, now);
}

/* Return the oldest deadline if it has passed, or NULL. */
static struct vfence_deadline *deadline_late_locked(struct vfence_adapter *adapter)
{
	lockdep_assert_held(&adapter->deadlines.lock);
	return vfence_deadline_left_locked(adapter, ktime_get_ns()) ? NULL :
	       list_first_entry(&adapter->deadlines.list, struct vfence_deadline, link);
}

/*
 * Has the engine stood still for most of the time, because threads of a higher priority had the
 * processors? Then it could not do what it was asked for.
 */
static bool deadline_is_starved_locked(struct vfence_adapter *adapter,
				       const struct vfence_deadline *deadline)
{
	/* It may have become less by the difference of the processors' clocks. */
	s64 waited = vgpu_engine_waited_ns(adapter->gpu, deadline->node) - deadline->waited_ns;

	lockdep_assert_held(&adapter->deadlines.lock);
	return waited > (s64)(ktime_get_ns() - deadline->asked_at) / 2;
}

/**
 * vfence_deadline_take_late - take one that the engine has not met in time
 * @adapter: the adapter
 *
 * Only the watch calls this. It holds a reference, if there are any, until
 * vfence_deadline_complete().
 *
 * Return: the oldest of them, LATE, or NULL.
 */
struct vfence_deadline *vfence_deadline_take_late(struct vfence_adapter *adapter)
{
	struct vfence_deadline *deadline;

	spin_lock(&adapter->deadlines.lock);
	while ((deadline = deadline_late_locked(adapter))) {
		bool met = deadline->ops->met(deadline);

		if (!met && deadline_is_starved_locked(adapter, deadline)) {
			deadline_begin_locked(adapter, deadline);
			continue;
		}
		/* The waiter may have returned; the request is then complete. */
		if (!met && (!deadline->ops->get || deadline->ops->get(deadline))) {
			deadline_leave_locked(adapter, deadline, VFENCE_DEADLINE_LATE);
			break;
		}
		deadline_leave_locked(adapter, deadline, VFENCE_DEADLINE_NONE);
	}
	spin_unlock(&adapter->deadlines.lock);
	return deadline;
}

/**
 * vfence_deadline_begin_late - begin a deadline that has passed already
 * @adapter: the adapter
 * @deadline: the deadline, after vfence_deadline_stamp()
 *
 * Return: false if it is met meanwhile, or if the engine had no processor.
 */
bool vfence_deadline_begin_late(struct vfence_adapter *adapter, struct vfence_deadline *deadline)
{
	bool late;

	spin_lock(&adapter->deadlines.lock);
	late = !deadline->ops->met(deadline) && !deadline_is_starved_locked(adapter, deadline);
	if (late)
		deadline_leave_locked(adapter, deadline, VFENCE_DEADLINE_LATE);
	spin_unlock(&adapter->deadlines.lock);
	return late;
}

/** vfence_deadline_is_late - is a request that was found late still neither over nor met? */
bool vfence_deadline_is_late(struct vfence_adapter *adapter, struct vfence_deadline *deadline)
{
	bool late;

	spin_lock(&adapter->deadlines.lock);
	late = deadline->state == VFENCE_DEADLINE_LATE && !deadline->ops->met(deadline);
	spin_unlock(&adapter->deadlines.lock);
	return late;
}

/** vfence_deadline_complete - the watch has handled a deadline of vfence_deadline_take_late() */
void vfence_deadline_complete(struct vfence_adapter *adapter, struct vfence_deadline *deadline,
			      bool was_reset)
{
	spin_lock(&adapter->deadlines.lock);
	/* A client may have suspended the context anew: the reset has ended that, too. */
	if (was_reset && deadline->ops->suspends && deadline->state != VFENCE_DEADLINE_NONE) {
		deadline_leave_locked(adapter, deadline, VFENCE_DEADLINE_LOST);
	} else if (deadline->state == VFENCE_DEADLINE_LATE) {
		if (deadline->ops->met(deadline))
			deadline_leave_locked(adapter, deadline, VFENCE_DEADLINE_NONE);
		else
			deadline_begin_locked(adapter, deadline);
	}
	spin_unlock(&adapter->deadlines.lock);
	if (deadline->ops->done)
		deadline->ops->done(deadline);
}
