/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RESET_TYPES_H_
#define _VFENCE_RESET_TYPES_H_

#include <linux/mutex.h>
#include <linux/workqueue.h>

/**
 * struct vfence_reset - an adapter's recovery: what reset/ keeps for it
 */
struct vfence_reset {
	/** @lock: serialises resets of engines */
	struct mutex lock;
	/** @engine_work: reacts to the state that engines report */
	struct work_struct engine_work;
	/** @lost_work: ends all work of a lost adapter */
	struct work_struct lost_work;
};

#endif
