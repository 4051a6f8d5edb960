/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that sleep and are woken; see vfence_wake.c. */
#ifndef _VFENCE_WAKE_H_
#define _VFENCE_WAKE_H_

#include <linux/wait.h>

int vfence_sleep(wait_queue_head_t *wait, bool (*done)(const void *arg), const void *arg,
		 s64 timeout_ns);
void vfence_wake_all(wait_queue_head_t *wait);

#endif
