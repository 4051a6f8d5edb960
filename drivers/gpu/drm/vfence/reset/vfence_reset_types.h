/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RESET_TYPES_H_
#define _VFENCE_RESET_TYPES_H_

#include <linux/mutex.h>
#include <linux/workqueue.h>

/**
 * struct vfence_reset - an adapter's recovery; the part of the adapter that reset/ owns
 */
struct vfence_reset {
	/** @lock: serialises resets of engines */
	struct mutex lock;

	/** @tdr_lock: protects &vfence_adapter.tdr against other writers */
	struct mutex tdr_lock;

	/** @engine_work: work that queries the states of the engines and reacts to them */
	struct work_struct engine_work;
	/** @block_work: work that ends all queues of blocked processes */
	struct work_struct block_work;
	/** @lost_work: work that ends all queues and waits of a lost adapter */
	struct work_struct lost_work;
};

#endif
