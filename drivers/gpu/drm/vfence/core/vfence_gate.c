// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: The gate
 *
 * Calls of clients pass the gate on their way to the hardware. A reset of the adapter closes it and
 * waits until all have left (WDDM-159, WDDM-162); an unplug ends it::
 *
 *    OPEN ---- reset begins ----> CLOSED ---- reset ends ----> OPEN
 *      |                             |
 *      +---------- unplug -----------+----> ENDED
 *
 * A thread in the gate waits for no client, and not for the end of a reset. The gate of an adapter
 * takes the place of drm_dev_enter(), whose sections hold up the unplug of all DRM devices of the
 * machine: a client may be stopped at any instruction, and then only its own adapter waits.
 */

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "core/vfence_adapter.h"
#include "core/vfence_gate.h"
#include "core/vfence_wake.h"

/*
 * How many times TdrDdiDelay a reset waits for a thread that is runnable. Such a thread is late
 * because it has no processor. A client can cause that, by its scheduling policy or the limit of
 * its cgroup, and must not take the adapter from others by it.
 */
#define GATE_STARVED_TRIES	12

static void gate_empty(struct percpu_ref *ref)
{
	struct vfence_gate *gate = container_of(ref, struct vfence_gate, threads);

	wake_up_all(&gate->wait);
}

/* From now on the number of threads is exact. */
static void gate_counted(struct percpu_ref *ref)
{
	complete(&container_of(ref, struct vfence_gate, threads)->counted);
}

/** vfence_gate_init - set up the gate, open; returns 0 or -ENOMEM */
int vfence_gate_init(struct vfence_adapter *adapter)
{
	unsigned int i;

	for (i = 0; i < VFENCE_GATE_LISTS; i++) {
		spin_lock_init(&adapter->gate.lists[i].lock);
		INIT_LIST_HEAD(&adapter->gate.lists[i].threads);
	}
	init_waitqueue_head(&adapter->gate.wait);
	init_waitqueue_head(&adapter->gate.open);
	init_completion(&adapter->gate.counted);
	mutex_init(&adapter->gate.lock);
	return percpu_ref_init(&adapter->gate.threads, gate_empty, PERCPU_REF_ALLOW_REINIT,
			       GFP_KERNEL);
}

/** vfence_gate_fini - undo vfence_gate_init(), which may have failed */
void vfence_gate_fini(struct vfence_adapter *adapter)
{
	percpu_ref_exit(&adapter->gate.threads);
	mutex_destroy(&adapter->gate.lock);
}

/* Return true if the thread has entered, or if no thread enters any more. */
static bool gate_is_passed(struct vfence_gate *gate, bool *entered)
{
	*entered = percpu_ref_tryget_live(&gate->threads);
	return *entered || READ_ONCE(gate->ended);
}

static void gate_add(struct vfence_gate *gate, struct vfence_gate_pass *pass)
{
	pass->task = current;
	pass->list = &gate->lists[raw_smp_processor_id() % VFENCE_GATE_LISTS];
	spin_lock(&pass->list->lock);
	list_add(&pass->link, &pass->list->threads);
	spin_unlock(&pass->list->lock);
}

static void gate_remove(struct vfence_gate_pass *pass)
{
	spin_lock(&pass->list->lock);
	list_del(&pass->link);
	spin_unlock(&pass->list->lock);
}

/**
 * vfence_hw_enter - begin to use the hardware for a client
 * @adapter: the adapter
 * @pass: for vfence_hw_exit(); output
 *
 * Waits while the adapter is reset. Do not enter twice.
 *
 * Return: 0, -ENODEV after unplug, or -ERESTARTSYS if the thread is killed.
 */
int vfence_hw_enter(struct vfence_adapter *adapter, struct vfence_gate_pass *pass)
{
	struct vfence_gate *gate = &adapter->gate;
	bool entered = percpu_ref_tryget_live(&gate->threads);

	if (unlikely(!entered) &&
	    wait_event_killable_exclusive(gate->open, gate_is_passed(gate, &entered)))
		return -ERESTARTSYS;
	if (!entered)
		return -ENODEV;
	gate_add(gate, pass);
	return 0;
}

/** vfence_hw_exit - end what vfence_hw_enter() has begun */
void vfence_hw_exit(struct vfence_adapter *adapter, struct vfence_gate_pass *pass)
{
	gate_remove(pass);
	percpu_ref_put(&adapter->gate.threads);
}

/** vfence_gate_is_closed - does a reset or the unplug keep threads out? */
bool vfence_gate_is_closed(struct vfence_adapter *adapter)
{
	return percpu_ref_is_dying(&adapter->gate.threads);
}

static void gate_close_locked(struct vfence_gate *gate)
{
	lockdep_assert_held(&gate->lock);
	/* A reset that is going on may have closed it, or the unplug. */
	if (percpu_ref_is_dying(&gate->threads))
		return;
	reinit_completion(&gate->counted);
	percpu_ref_kill_and_confirm(&gate->threads, gate_counted);
	/* The kernel's own time, which does not count. */
	wait_for_completion(&gate->counted);
}

static bool gate_list_runs(struct vfence_gate_list *list)
{
	struct vfence_gate_pass *pass;
	bool runs = false;

	spin_lock(&list->lock);
	list_for_each_entry(pass, &list->threads, link)
		runs |= task_is_running(pass->task);
	spin_unlock(&list->lock);
	return runs;
}

/* Is a thread in the gate that only needs a processor? Others may wait for what it has. */
static bool gate_runs(struct vfence_gate *gate)
{
	bool runs = false;
	unsigned int i;

	for (i = 0; i < VFENCE_GATE_LISTS; i++)
		runs |= gate_list_runs(&gate->lists[i]);
	return runs;
}

static bool gate_wait_empty(struct vfence_gate *gate, unsigned int ms)
{
	unsigned int tries = GATE_STARVED_TRIES;

	while (!wait_event_timeout(gate->wait, percpu_ref_is_zero(&gate->threads),
				   msecs_to_jiffies(ms)))
		if (!--tries || !gate_runs(gate))
			return percpu_ref_is_zero(&gate->threads);
	return true;
}

/**
 * vfence_gate_close - keep threads out, and wait for those inside
 * @adapter: the adapter
 * @ms: how long a thread may stay inside, which has a processor or waits for something else
 *
 * Return: false if one is still inside.
 */
bool vfence_gate_close(struct vfence_adapter *adapter, unsigned int ms)
{
	struct vfence_gate *gate = &adapter->gate;

	mutex_lock(&gate->lock);
	gate_close_locked(gate);
	mutex_unlock(&gate->lock);
	return gate_wait_empty(gate, ms);
}

/** vfence_gate_open - let clients enter again, unless the adapter was unplugged meanwhile */
void vfence_gate_open(struct vfence_adapter *adapter)
{
	struct vfence_gate *gate = &adapter->gate;

	mutex_lock(&gate->lock);
	if (!gate->ended)
		percpu_ref_resurrect(&gate->threads);
	mutex_unlock(&gate->lock);
	vfence_wake_all(&gate->open);
}

/**
 * vfence_gate_end - keep threads out for good, and wait until none is inside
 * @adapter: the adapter, which is unplugged; it is still reset if that is what a thread waits for
 */
void vfence_gate_end(struct vfence_adapter *adapter)
{
	struct vfence_gate *gate = &adapter->gate;

	mutex_lock(&gate->lock);
	WRITE_ONCE(gate->ended, true);
	gate_close_locked(gate);
	mutex_unlock(&gate->lock);
	vfence_wake_all(&gate->open);
	wait_event(gate->wait, percpu_ref_is_zero(&gate->threads));
}
