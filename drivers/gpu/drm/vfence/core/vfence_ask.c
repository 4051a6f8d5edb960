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
#include "core/vfence_ask.h"

/** vfence_ask_init - prepare an adapter for asks; cannot fail */
void vfence_ask_init(struct vfence_adapter *adapter)
{
	spin_lock_init(&adapter->asks.lock);
	INIT_LIST_HEAD(&adapter->asks.list);
}

/** vfence_ask_setup - initialise an ask; nothing is asked yet */
void vfence_ask_setup(struct vfence_ask *ask, const struct vfence_ask_ops *ops, unsigned int node)
{
	ask->ops = ops;
	ask->node = node;
	INIT_LIST_HEAD(&ask->link);
	ask->state = VFENCE_ASK_NONE;
}

static void ask_stamp_locked(struct vfence_adapter *adapter, struct vfence_ask *ask)
{
	lockdep_assert_held(&adapter->asks.lock);
	ask->asked_at = ktime_get_ns();
	ask->waited_ns = vgpu_engine_waited_ns(adapter->gpu, ask->node);
}

/** vfence_ask_stamp - an engine was asked now, and vfence_ask_begin_late() may follow */
void vfence_ask_stamp(struct vfence_adapter *adapter, struct vfence_ask *ask)
{
	spin_lock(&adapter->asks.lock);
	ask_stamp_locked(adapter, ask);
	spin_unlock(&adapter->asks.lock);
}

static void ask_begin_locked(struct vfence_adapter *adapter, struct vfence_ask *ask)
{
	lockdep_assert_held(&adapter->asks.lock);
	ask_stamp_locked(adapter, ask);
	WRITE_ONCE(ask->state, VFENCE_ASK_ASKED);
	list_move_tail(&ask->link, &adapter->asks.list);
}

static void ask_leave_locked(struct vfence_adapter *adapter, struct vfence_ask *ask,
			     enum vfence_ask_state state)
{
	lockdep_assert_held(&adapter->asks.lock);
	WRITE_ONCE(ask->state, state);
	list_del_init(&ask->link);
}

/** vfence_ask_begin - an engine was asked for something: its time runs; not in interrupts */
void vfence_ask_begin(struct vfence_adapter *adapter, struct vfence_ask *ask)
{
	spin_lock(&adapter->asks.lock);
	ask_begin_locked(adapter, ask);
	spin_unlock(&adapter->asks.lock);
	adapter->loss->asked(adapter);
}

/** vfence_ask_end - nothing is asked any more; not in interrupts */
void vfence_ask_end(struct vfence_adapter *adapter, struct vfence_ask *ask)
{
	spin_lock(&adapter->asks.lock);
	ask_leave_locked(adapter, ask, VFENCE_ASK_NONE);
	spin_unlock(&adapter->asks.lock);
}

/** vfence_ask_left_locked - how long nothing is late yet, in ns; U64_MAX if nothing is asked */
u64 vfence_ask_left_locked(struct vfence_adapter *adapter, u64 now)
{
	struct vfence_ask *ask = list_first_entry_or_null(&adapter->asks.list, struct vfence_ask,
							  link);

	lockdep_assert_held(&adapter->asks.lock);
	return ask ? vfence_timeout_left(READ_ONCE(adapter->tdr.delay_ms), ask->asked_at, now) :
		     U64_MAX;
}

/* Return the oldest ask if it is late, or NULL. */
static struct vfence_ask *ask_late_locked(struct vfence_adapter *adapter)
{
	lockdep_assert_held(&adapter->asks.lock);
	return vfence_ask_left_locked(adapter, ktime_get_ns()) ? NULL :
	       list_first_entry(&adapter->asks.list, struct vfence_ask, link);
}

/*
 * Has the engine stood still for most of the time, because threads of a higher priority had the
 * processors? Then it could not do what it was asked for.
 */
static bool ask_is_starved_locked(struct vfence_adapter *adapter, const struct vfence_ask *ask)
{
	/* It may have become less by the difference of the processors' clocks. */
	s64 waited = vgpu_engine_waited_ns(adapter->gpu, ask->node) - ask->waited_ns;

	lockdep_assert_held(&adapter->asks.lock);
	return waited > (s64)(ktime_get_ns() - ask->asked_at) / 2;
}

/**
 * vfence_ask_take_late - take one that the engine has not met in time
 * @adapter: the adapter
 *
 * Only the watch calls this. It holds a reference, if there are any, until vfence_ask_settle().
 *
 * Return: the oldest of them, LATE, or NULL.
 */
struct vfence_ask *vfence_ask_take_late(struct vfence_adapter *adapter)
{
	struct vfence_ask *ask;

	spin_lock(&adapter->asks.lock);
	while ((ask = ask_late_locked(adapter))) {
		if (!ask->ops->met(ask) && ask_is_starved_locked(adapter, ask)) {
			ask_begin_locked(adapter, ask);
			continue;
		}
		/* Whoever waits for it may have gone: then it was met long ago. */
		if (!ask->ops->met(ask) && (!ask->ops->get || ask->ops->get(ask))) {
			ask_leave_locked(adapter, ask, VFENCE_ASK_LATE);
			break;
		}
		ask_leave_locked(adapter, ask, VFENCE_ASK_NONE);
	}
	spin_unlock(&adapter->asks.lock);
	return ask;
}

/**
 * vfence_ask_begin_late - begin an ask that is late already
 * @adapter: the adapter
 * @ask: the ask, after vfence_ask_stamp()
 *
 * Return: false if it is met meanwhile, or if the engine had no processor.
 */
bool vfence_ask_begin_late(struct vfence_adapter *adapter, struct vfence_ask *ask)
{
	bool late;

	spin_lock(&adapter->asks.lock);
	late = !ask->ops->met(ask) && !ask_is_starved_locked(adapter, ask);
	if (late)
		ask_leave_locked(adapter, ask, VFENCE_ASK_LATE);
	spin_unlock(&adapter->asks.lock);
	return late;
}

/** vfence_ask_is_late - is an ask that was found late still so: neither over, nor met */
bool vfence_ask_is_late(struct vfence_adapter *adapter, struct vfence_ask *ask)
{
	bool late;

	spin_lock(&adapter->asks.lock);
	late = ask->state == VFENCE_ASK_LATE && !ask->ops->met(ask);
	spin_unlock(&adapter->asks.lock);
	return late;
}

/** vfence_ask_settle - the watch has done what it does about an ask from vfence_ask_take_late() */
void vfence_ask_settle(struct vfence_adapter *adapter, struct vfence_ask *ask, bool was_reset)
{
	spin_lock(&adapter->asks.lock);
	/* A client may have suspended the context anew: the reset has ended that, too. */
	if (was_reset && ask->ops->suspends && ask->state != VFENCE_ASK_NONE) {
		ask_leave_locked(adapter, ask, VFENCE_ASK_LOST);
	} else if (ask->state == VFENCE_ASK_LATE) {
		if (ask->ops->met(ask))
			ask_leave_locked(adapter, ask, VFENCE_ASK_NONE);
		else
			ask_begin_locked(adapter, ask);
	}
	spin_unlock(&adapter->asks.lock);
	if (ask->ops->done)
		ask->ops->done(ask);
}
