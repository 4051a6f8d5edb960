/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ASK_H_
#define _VFENCE_ASK_H_

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct vfence_adapter;
struct vfence_ask;

/**
 * enum vfence_ask_state - state of &struct vfence_ask; drawn in core/vfence_ask.c
 */
enum vfence_ask_state {
	/** @VFENCE_ASK_NONE: nothing is asked, or it was met */
	VFENCE_ASK_NONE,
	/** @VFENCE_ASK_ASKED: the engine has time until TdrDelay after &vfence_ask.asked_at */
	VFENCE_ASK_ASKED,
	/** @VFENCE_ASK_LATE: the engine has not done it in time; the watchdog resets it */
	VFENCE_ASK_LATE,
	/** @VFENCE_ASK_LOST: the engine was reset because of it */
	VFENCE_ASK_LOST,
};

/**
 * struct vfence_ask_ops - who asks an engine for something
 */
struct vfence_ask_ops {
	/** @suspends: the engine was asked to preempt what it executes, and to acknowledge that */
	bool suspends;
	/** @get: take a reference, or return false; under &vfence_asks.lock; NULL: none needed */
	bool (*get)(struct vfence_ask *ask);
	/** @met: has the engine done what it was asked for? Any context */
	bool (*met)(struct vfence_ask *ask);
	/** @done: wake threads that wait for it, and drop the reference of @get; or NULL */
	void (*done)(struct vfence_ask *ask);
};

/**
 * struct vfence_ask - an engine was asked for something that it must do within TdrDelay
 *
 * This is all that time-outs of engines are found by; see reset/vfence_watch.c.
 */
struct vfence_ask {
	/** @ops: who asks; constant */
	const struct vfence_ask_ops *ops;
	/** @node: node of the engine; constant */
	unsigned int node;
	/** @link: entry of &vfence_asks.list, or empty; &vfence_asks.lock */
	struct list_head link;
	/** @asked_at: when, in ns of ktime_get_ns(); &vfence_asks.lock */
	u64 asked_at;
	/** @waited_ns: vgpu_engine_waited_ns() at that time; &vfence_asks.lock */
	u64 waited_ns;
	/** @state: &enum vfence_ask_state; written under &vfence_asks.lock, read without it */
	unsigned int state;
};

/**
 * struct vfence_asks - all that the engines of an adapter were asked for
 */
struct vfence_asks {
	/** @lock: protects all members, and those of &struct vfence_ask */
	spinlock_t lock;
	/** @list: &struct vfence_ask, the oldest one first */
	struct list_head list;
};

void vfence_ask_init(struct vfence_adapter *adapter);
void vfence_ask_setup(struct vfence_ask *ask, const struct vfence_ask_ops *ops, unsigned int node);
void vfence_ask_stamp(struct vfence_adapter *adapter, struct vfence_ask *ask);
void vfence_ask_begin(struct vfence_adapter *adapter, struct vfence_ask *ask);
void vfence_ask_end(struct vfence_adapter *adapter, struct vfence_ask *ask);
u64 vfence_ask_left_locked(struct vfence_adapter *adapter, u64 now);
struct vfence_ask *vfence_ask_take_late(struct vfence_adapter *adapter);
bool vfence_ask_begin_late(struct vfence_adapter *adapter, struct vfence_ask *ask);
bool vfence_ask_is_late(struct vfence_adapter *adapter, struct vfence_ask *ask);
void vfence_ask_settle(struct vfence_adapter *adapter, struct vfence_ask *ask, bool was_reset);

#endif
