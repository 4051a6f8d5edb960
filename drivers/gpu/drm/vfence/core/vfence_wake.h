/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that sleep and are woken; see vfence_wake.c. */
#ifndef _VFENCE_WAKE_H_
#define _VFENCE_WAKE_H_

#include <linux/kconfig.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/wait.h>

/**
 * vfence_wake_begin - waits of others will be taken off their fences, and their threads woken
 *
 * Only the caller wakes them then. The caller may be a thread of a client that gets a processor
 * rarely, so this disables preemption until vfence_wake_end(). A kernel with PREEMPT_RT does not
 * allow that, as its locks sleep.
 */
static inline void vfence_wake_begin(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
}

/** vfence_wake_end - the threads are woken */
static inline void vfence_wake_end(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
}

/** vfence_wake_assert - the caller is between vfence_wake_begin() and vfence_wake_end() */
static inline void vfence_wake_assert(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		lockdep_assert_preemption_disabled();
}

int vfence_sleep(wait_queue_head_t *wait, bool (*done)(const void *arg), const void *arg,
		 s64 timeout_ns);
void vfence_wake_all(wait_queue_head_t *wait);

#endif
