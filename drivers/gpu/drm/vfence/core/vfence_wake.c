// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that sleep for clients, and wake-ups of threads whose number clients decide.
 */

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>

#include "core/vfence_clock.h"
#include "core/vfence_wake.h"

/**
 * vfence_sleep - sleep until something is done
 * @wait: queue that is woken after a change of what @done reads
 * @done: returns true when the thread need not sleep any more
 * @arg: argument of @done
 * @timeout_ns: deadline in ns of the client's CLOCK_MONOTONIC, or S64_MAX
 *
 * Done precedes interrupted, and interrupted precedes timed out.
 *
 * Return: 0, -EINTR if a signal to the thread came first, or -ETIME.
 */
int vfence_sleep(wait_queue_head_t *wait, bool (*done)(const void *arg), const void *arg,
		 s64 timeout_ns)
{
	ktime_t deadline = vfence_clock_deadline(timeout_ns);
	int left = -EINTR, ret;
	DEFINE_WAIT(entry);

	lockdep_assert_none_held_once();

	for (;;) {
		/* Full barrier: list the thread, then check. Partner: who wakes the queue. */
		prepare_to_wait(wait, &entry, TASK_INTERRUPTIBLE);
		ret = 0;
		if (done(arg))
			break;
		ret = -EINTR;
		if (signal_pending(current))
			break;
		ret = -ETIME;
		if (!left)
			break;

		if (timeout_ns == S64_MAX)
			schedule();
		else
			left = schedule_hrtimeout_range(&deadline, current->timer_slack_ns,
							HRTIMER_MODE_ABS);
	}
	finish_wait(wait, &entry);
	return ret;
}

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
