// SPDX-License-Identifier: GPL-2.0-only
/*
 * Physical doorbells: which doorbells have one, and which wait for one in a line.
 *
 * Decisions are made under vfence_queues.doorbell_lock, and take a few instructions. To zap pages
 * takes longer, so a doorbell thread does it for each doorbell, under the lock of that doorbell
 * alone: it disconnects a doorbell that leaves, passes the physical one on to the first in the
 * line, and another doorbell thread connects that one. Clients only wait.
 */

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/wait.h>

#include "core/vfence_device.h"
#include "core/vfence_process.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_physical.h"
#include "queue/vfence_queue.h"
#include "vfence_victim.h"

static struct vfence_queues *physical_queues(struct vfence_doorbell *doorbell)
{
	return &doorbell->queue->adapter->queues;
}

/* A doorbell thread does what the new state says. */
static void physical_change_locked(struct vfence_doorbell *doorbell,
				   enum vfence_physical_state state)
{
	lockdep_assert_held(&physical_queues(doorbell)->doorbell_lock);
	WRITE_ONCE(doorbell->state, state);
	queue_work(physical_queues(doorbell)->doorbell_wq, &doorbell->change_work);
}

static struct vfence_victim_owner *physical_owner(struct vfence_doorbell *doorbell)
{
	return &doorbell->queue->device->process->doorbells;
}

static void physical_grant_locked(struct vfence_doorbell *doorbell, unsigned int index)
{
	struct vfence_queues *queues = physical_queues(doorbell);

	lockdep_assert_held(&queues->doorbell_lock);
	list_del_init(&doorbell->line);
	queues->physical[index] = doorbell;
	doorbell->granted = index;
	doorbell->granted_at = ++queues->doorbell_clock;
	vfence_victim_grant(physical_owner(doorbell), doorbell->coming, ktime_get_ns());
	doorbell->coming = false;
	physical_change_locked(doorbell, VFENCE_PHYSICAL_GRANTED);
}

/* Return: the doorbell that gives its physical one to @asks, or NULL if none may do so yet. */
static struct vfence_doorbell *physical_choose_locked(struct vfence_adapter *adapter,
						      struct vfence_doorbell *asks)
{
	const struct vfence_victim_owner *owner = physical_owner(asks);
	struct vfence_doorbell *best = NULL;
	struct vfence_victim best_victim;
	unsigned int i;

	lockdep_assert_held(&adapter->queues.doorbell_lock);
	for (i = 0; i < adapter->config.gpu.doorbells; i++) {
		struct vfence_doorbell *doorbell = adapter->queues.physical[i];
		struct vfence_victim victim;

		if (!doorbell || doorbell->state != VFENCE_PHYSICAL_CONNECTED)
			continue;
		victim.owner = physical_owner(doorbell);
		victim.idle = vgpu_queue_is_idle(doorbell->queue->hw);
		victim.granted_at = doorbell->granted_at;
		if (!vfence_victim_may_give(victim.owner, owner) ||
		    vfence_victim_is_kept(&victim, owner, ktime_get_ns()))
			continue;
		if (best && !vfence_victim_is_before(&victim, &best_victim))
			continue;
		best = doorbell;
		best_victim = victim;
	}

	return best;
}

static void physical_give_locked(struct vfence_doorbell *victim, struct vfence_doorbell *asks)
{
	lockdep_assert_held(&physical_queues(victim)->doorbell_lock);
	vfence_victim_give(physical_owner(victim), physical_owner(asks));
	asks->coming = true;
	physical_change_locked(victim, VFENCE_PHYSICAL_LEAVING);
	vfence_count(victim->queue->adapter, VFENCE_COUNT_VICTIMISATIONS);
}

/* Return: the number of physical doorbells that will be free. */
static unsigned int physical_count_leaving_locked(struct vfence_adapter *adapter)
{
	unsigned int i, leaving = 0;

	lockdep_assert_held(&adapter->queues.doorbell_lock);
	for (i = 0; i < adapter->config.gpu.doorbells; i++) {
		const struct vfence_doorbell *doorbell = adapter->queues.physical[i];

		leaving += doorbell && doorbell->state == VFENCE_PHYSICAL_LEAVING;
	}
	return leaving;
}

static void physical_grant_free_locked(struct vfence_adapter *adapter)
{
	struct vfence_queues *queues = &adapter->queues;
	unsigned int i;

	lockdep_assert_held(&queues->doorbell_lock);
	for (i = 0; i < adapter->config.gpu.doorbells && !list_empty(&queues->line); i++)
		if (!queues->physical[i])
			physical_grant_locked(list_first_entry(&queues->line,
							       struct vfence_doorbell, line), i);
}

/*
 * Grant the physical doorbells that are free, in the order of the line. Then take one away for each
 * doorbell in the line: the first ones in it get those that leave already. The loop ends when all
 * are in transit, however long the line is, or at one that has to wait: the order stays.
 */
static void physical_serve_locked(struct vfence_adapter *adapter)
{
	struct vfence_doorbell *doorbell, *victim;
	unsigned int leaving;

	lockdep_assert_held(&adapter->queues.doorbell_lock);
	physical_grant_free_locked(adapter);
	leaving = physical_count_leaving_locked(adapter);
	list_for_each_entry(doorbell, &adapter->queues.line, line) {
		if (leaving) {
			leaving--;
			continue;
		}
		victim = physical_choose_locked(adapter, doorbell);
		if (!victim)
			return;
		physical_give_locked(victim, doorbell);
	}
}

/* Is there a doorbell of the same process that gives its physical one? */
static struct vfence_doorbell *physical_find_own_locked(struct vfence_doorbell *doorbell)
{
	struct vfence_adapter *adapter = doorbell->queue->adapter;
	struct vfence_doorbell *victim;
	unsigned int i;

	lockdep_assert_held(&adapter->queues.doorbell_lock);
	for (i = 0; i < adapter->config.gpu.doorbells; i++)
		if (!adapter->queues.physical[i])
			return NULL;
	victim = physical_choose_locked(adapter, doorbell);
	return victim && physical_owner(victim) == physical_owner(doorbell) ? victim : NULL;
}

/*
 * A doorbell whose process gives one for it goes to the head of the line: it takes nothing from
 * those that wait.
 */
static void physical_join_locked(struct vfence_doorbell *doorbell)
{
	struct vfence_doorbell *own = physical_find_own_locked(doorbell);
	struct list_head *line = &physical_queues(doorbell)->line;

	lockdep_assert_held(&physical_queues(doorbell)->doorbell_lock);
	WRITE_ONCE(doorbell->state, VFENCE_PHYSICAL_IN_LINE);
	if (own) {
		list_add(&doorbell->line, line);
		physical_give_locked(own, doorbell);
	} else {
		list_add_tail(&doorbell->line, line);
	}
}

/**
 * vfence_physical_ask_locked - a client wants a doorbell to be connected
 * @doorbell: the doorbell, not aborted, under vfence_queues.doorbell_lock
 *
 * Nothing happens if it is in transit already. vfence_doorbell.wait is woken at each end of a
 * transit. A doorbell that is in the line asks again after VFENCE_VICTIM_KEEP_NS: others may have
 * to give by then.
 */
void vfence_physical_ask_locked(struct vfence_doorbell *doorbell)
{
	struct vfence_queues *queues = physical_queues(doorbell);

	lockdep_assert_held(&queues->doorbell_lock);
	if (doorbell->state == VFENCE_PHYSICAL_NONE)
		physical_join_locked(doorbell);
	if (doorbell->state == VFENCE_PHYSICAL_IN_LINE)
		physical_serve_locked(doorbell->queue->adapter);
}

/**
 * vfence_physical_leave_locked - take a doorbell's physical one away, and its place in the line
 * @doorbell: the doorbell, under vfence_queues.doorbell_lock
 *
 * Return: true if its @change_work is queued or runs for that. On its end it is disconnected.
 */
bool vfence_physical_leave_locked(struct vfence_doorbell *doorbell)
{
	lockdep_assert_held(&physical_queues(doorbell)->doorbell_lock);
	switch (doorbell->state) {
	case VFENCE_PHYSICAL_IN_LINE:
		list_del_init(&doorbell->line);
		if (doorbell->coming)
			vfence_victim_lose(physical_owner(doorbell), true);
		doorbell->coming = false;
		WRITE_ONCE(doorbell->state, VFENCE_PHYSICAL_NONE);
		wake_up_all(&doorbell->wait);
		return false;
	case VFENCE_PHYSICAL_NONE:
		return false;
	case VFENCE_PHYSICAL_GRANTED:
	case VFENCE_PHYSICAL_CONNECTED:
		vfence_victim_lose(physical_owner(doorbell), false);
		fallthrough;
	default:
		/* Queue it again for one that leaves, too: it may have read the status already. */
		physical_change_locked(doorbell, VFENCE_PHYSICAL_LEAVING);
		return true;
	}
}

/**
 * vfence_physical_leave_node - take the physical doorbells of an engine's queues away
 * @adapter: the adapter
 * @node: node of the engine
 *
 * One that is granted leaves, too: a thread may have connected it before the engine asked. If none
 * has, its client asks once more: an engine that is in F1 does not ask again. Return: true if a
 * doorbell leaves.
 */
bool vfence_physical_leave_node(struct vfence_adapter *adapter, unsigned int node)
{
	bool any = false;
	unsigned int i;

	mutex_lock(&adapter->queues.doorbell_lock);
	for (i = 0; i < adapter->config.gpu.doorbells; i++) {
		struct vfence_doorbell *doorbell = adapter->queues.physical[i];

		if (doorbell && doorbell->queue->node == node)
			any |= vfence_physical_leave_locked(doorbell);
	}
	mutex_unlock(&adapter->queues.doorbell_lock);
	return any;
}

/**
 * vfence_physical_begin_change - a doorbell thread begins to change a doorbell
 * @doorbell: the doorbell, locked
 *
 * Return: the index of the physical doorbell to connect, or -1: disconnect.
 */
int vfence_physical_begin_change(struct vfence_doorbell *doorbell)
{
	struct vfence_queues *queues = physical_queues(doorbell);
	int index;

	lockdep_assert_held(&doorbell->lock);
	mutex_lock(&queues->doorbell_lock);
	index = doorbell->state == VFENCE_PHYSICAL_GRANTED ? doorbell->granted : -1;
	mutex_unlock(&queues->doorbell_lock);
	return index;
}

/**
 * vfence_physical_end_change - a doorbell thread has connected or disconnected a doorbell
 * @doorbell: the doorbell, locked
 * @connected: it is connected
 *
 * A doorbell that was told to leave while it was connected stays in transit: its thread runs again.
 */
void vfence_physical_end_change(struct vfence_doorbell *doorbell, bool connected)
{
	struct vfence_queues *queues = physical_queues(doorbell);

	lockdep_assert_held(&doorbell->lock);
	mutex_lock(&queues->doorbell_lock);
	if (connected) {
		WRITE_ONCE(doorbell->connections, doorbell->connections + 1);
		if (doorbell->state == VFENCE_PHYSICAL_GRANTED)
			WRITE_ONCE(doorbell->state, VFENCE_PHYSICAL_CONNECTED);
	} else if (doorbell->state == VFENCE_PHYSICAL_LEAVING) {
		queues->physical[doorbell->granted] = NULL;
		WRITE_ONCE(doorbell->state, VFENCE_PHYSICAL_NONE);
	}
	physical_serve_locked(doorbell->queue->adapter);
	mutex_unlock(&queues->doorbell_lock);
	wake_up_all(&doorbell->wait);
}

/** vfence_physical_count - number of physical doorbells in use */
unsigned int vfence_physical_count(struct vfence_adapter *adapter)
{
	unsigned int i, count = 0;

	mutex_lock(&adapter->queues.doorbell_lock);
	for (i = 0; i < adapter->config.gpu.doorbells; i++)
		count += !!adapter->queues.physical[i];
	mutex_unlock(&adapter->queues.doorbell_lock);
	return count;
}
