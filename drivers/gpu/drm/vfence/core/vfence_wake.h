/* SPDX-License-Identifier: GPL-2.0-only */
/* Wake-ups of many threads; see vfence_wake.c. */
#ifndef _VFENCE_WAKE_H_
#define _VFENCE_WAKE_H_

#include <linux/wait.h>

void vfence_wake_all(wait_queue_head_t *wait);

#endif
