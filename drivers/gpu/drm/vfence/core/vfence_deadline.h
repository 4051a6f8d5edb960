/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_DEADLINE_H_
#define _VFENCE_DEADLINE_H_

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct vfence_adapter;
struct vfence_deadline;

/**
 * enum vfence_deadline_state - state of &struct vfence_deadline; drawn in core/vfence_deadline.c
 */
enum vfence_deadline_state {
	/** @VFENCE_DEADLINE_NONE: nothing was asked for, or the request was met */
	VFENCE_DEADLINE_NONE,
	/** @VFENCE_DEADLINE_ASKED: the engine has until TdrDelay after @asked_at */
	VFENCE_DEADLINE_ASKED,
	/** @VFENCE_DEADLINE_LATE: the engine has not done it in time; the watchdog resets it */
	VFENCE_DEADLINE_LATE,
	/** @VFENCE_DEADLINE_LOST: the engine was reset because of it */
	VFENCE_DEADLINE_LOST,
};

/**
 * struct vfence_deadline_ops - kind of a request to an engine
 */
struct vfence_deadline_ops {
	/** @suspends: the engine was asked to preempt what it executes, and to acknowledge that */
	bool suspends;
	/** @get: take a reference, or return false; under the lock; NULL: none needed */
	bool (*get)(struct vfence_deadline *deadline);
	/** @met: has the engine done what it was asked for? Any context */
	bool (*met)(struct vfence_deadline *deadline);
	/** @done: wake threads that wait for it, and drop the reference of @get; or NULL */
	void (*done)(struct vfence_deadline *deadline);
};

/**
 * struct vfence_deadline - request to an engine, which must meet it within TdrDelay
 *
 * This is all that time-outs of engines are found by; see reset/vfence_watch.c.
 */
struct vfence_deadline {
	/** @ops: kind of the request; constant */
	const struct vfence_deadline_ops *ops;
	/** @node: node of the engine; constant */
	unsigned int node;
	/** @link: entry of &vfence_deadlines.list, or empty; &vfence_deadlines.lock */
	struct list_head link;
	/** @asked_at: when, in ns of ktime_get_ns(); &vfence_deadlines.lock */
	u64 asked_at;
	/** @waited_ns: vgpu_engine_waited_ns() at that time; &vfence_deadlines.lock */
	u64 waited_ns;
	/** @state: &enum vfence_deadline_state; written under the lock, read without it */
	unsigned int state;
};

/**
 * struct vfence_deadlines - all requests to the engines of an adapter
 */
struct vfence_deadlines {
	/** @lock: protects all members, and those of &struct vfence_deadline */
	spinlock_t lock;
	/** @list: &struct vfence_deadline, the oldest one first */
	struct list_head list;
};

void vfence_deadline_init(struct vfence_adapter *adapter);
void vfence_deadline_setup(struct vfence_deadline *deadline, const struct vfence_deadline_ops *ops,
			   unsigned int node);
void vfence_deadline_stamp(struct vfence_adapter *adapter, struct vfence_deadline *deadline);
void vfence_deadline_begin(struct vfence_adapter *adapter, struct vfence_deadline *deadline);
void vfence_deadline_end(struct vfence_adapter *adapter, struct vfence_deadline *deadline);
u64 vfence_deadline_left_locked(struct vfence_adapter *adapter, u64 now);
struct vfence_deadline *vfence_deadline_take_late(struct vfence_adapter *adapter);
bool vfence_deadline_begin_late(struct vfence_adapter *adapter, struct vfence_deadline *deadline);
bool vfence_deadline_is_late(struct vfence_adapter *adapter, struct vfence_deadline *deadline);
void vfence_deadline_complete(struct vfence_adapter *adapter, struct vfence_deadline *deadline,
			      bool was_reset);

#endif
