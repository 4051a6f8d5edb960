// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake-ups of threads whose number clients decide.
 */

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "core/vfence_wake.h"

/* Most threads that are woken in one section with interrupts off. */
#define WAKE_BATCH	16

/* Return true if threads are left. */
static bool wake_batch(wait_queue_head_t *wait)
{
	unsigned int count = WAKE_BATCH;
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&wait->lock, flags);
	while (count-- && !list_empty(&wait->head)) {
		struct wait_queue_entry *entry =
			list_first_entry(&wait->head, struct wait_queue_entry, entry);

		/* The function removes the entry of a thread that it wakes; then it may be gone. */
		if (!entry->func(entry, TASK_NORMAL, 0, NULL))
			list_del_init_careful(&entry->entry);
	}
	more = !list_empty(&wait->head);
	spin_unlock_irqrestore(&wait->lock, flags);
	return more;
}

/**
 * vfence_wake_all - wake all threads that sleep in wait_event()
 * @wait: their queue; their condition is true from now on
 *
 * A thread that is awake already, but has not run yet, leaves the queue as well: the caller does
 * not wait until it runs. Process context.
 */
void vfence_wake_all(wait_queue_head_t *wait)
{
	/*
	 * Order the change of the condition before the check. Partner: a thread sets its state,
	 * then checks the condition.
	 */
	if (!wq_has_sleeper(wait))
		return;
	while (wake_batch(wait))
		cond_resched();
}
