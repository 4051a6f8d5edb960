/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_WAIT_H_
#define _VFENCE_WAIT_H_

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/wait.h>

#include "core/vfence_adapter.h"

struct vfence_fence;
struct vfence_file;
struct vfence_wait;

/**
 * struct vfence_waiter - value of a fence that a wait needs
 */
struct vfence_waiter {
	union {
		/** @node: Node in one of the fence's trees while @queued. */
		struct rb_node node;
		/** @link: Entry in a list of taken waiters, until vfence_waiter_finish_all(). */
		struct list_head link;
	};

	/** @fence: Fence of the waiter; the owner of @wait has the reference. */
	struct vfence_fence *fence;
	/** @wait: Wait that the waiter belongs to. */
	struct vfence_wait *wait;
	/** @value: Value that satisfies the waiter. */
	u64 value;
	/** @queued: True while the waiter is in a tree; protected by vfence_fence.lock. */
	bool queued;
};

/**
 * enum vfence_wait_state - state of a wait
 *
 * ::
 *
 *    ARMING ----> ARMED ----> TIMED_OUT, CANCELLED   (by the owner)
 *       |           |
 *       +-----------+-------> REACHED, FAILED        (by the thread that finishes a waiter)
 *
 * Each arrow is one compare-and-swap, so that exactly one thread decides the wait.
 *
 * @VFENCE_WAIT_ARMING: Its owner still arms its waiters.
 * @VFENCE_WAIT_ARMED: All of its waiters are armed, and it is not decided.
 * @VFENCE_WAIT_REACHED: As many points are reached as it waits for.
 * @VFENCE_WAIT_FAILED: One of its fences ended first; &vfence_wait.error says how.
 * @VFENCE_WAIT_TIMED_OUT: The owner's deadline came first.
 * @VFENCE_WAIT_CANCELLED: The owner no longer waits.
 */
enum vfence_wait_state {
	VFENCE_WAIT_ARMING,
	VFENCE_WAIT_ARMED,
	VFENCE_WAIT_REACHED,
	VFENCE_WAIT_FAILED,
	VFENCE_WAIT_TIMED_OUT,
	VFENCE_WAIT_CANCELLED,
};

/**
 * enum vfence_waiter_event - what trace events say of a waiter
 */
enum vfence_waiter_event {
	/** @VFENCE_WAITER_ARMED: It is on its fence. */
	VFENCE_WAITER_ARMED,
	/** @VFENCE_WAITER_REACHED: A value has reached it. */
	VFENCE_WAITER_REACHED,
	/** @VFENCE_WAITER_ENDED: Its fence ends the waits. */
	VFENCE_WAITER_ENDED,
	/** @VFENCE_WAITER_DISARMED: Its owner has taken it back. */
	VFENCE_WAITER_DISARMED,
};

/**
 * struct vfence_wait - wait for any number of points, with one owner
 *
 * The owner is a thread, an event, a queue or a wait set.
 */
struct vfence_wait {
	/** @ref: Reference count: the owner and each queued waiter. */
	struct kref ref;
	/** @adapter: Adapter of the owner. */
	struct vfence_adapter *adapter;

	/** @state: &enum vfence_wait_state of the wait. */
	atomic_t state;
	/** @pending: Number of waiters that must still be reached. */
	atomic_t pending;
	/** @first: Index of the first point reached, or -1. */
	atomic_t first;
	/** @error: Error that the owner returns if the state is FAILED. */
	int error;

	/** @sleepers: Wait queue of the owner if it is a thread or a set. */
	wait_queue_head_t sleepers;
	/**
	 * @fire: Function of an owner that is no thread, or NULL. Called once in an RCU
	 * section, in any context, when ARMED becomes REACHED or FAILED.
	 */
	void (*fire)(struct vfence_wait *wait);
	/**
	 * @finish: Function of an owner that needs each waiter by itself, or NULL. Called for each
	 * finished waiter instead of counting it, with 0 or an error, in any context. Such a wait
	 * is never decided.
	 */
	void (*finish)(struct vfence_waiter *waiter, int error);
	/**
	 * @owner: Event, queue that holds a submission back, thread that sleeps, or set; for @fire
	 * and @finish.
	 */
	void *owner;

	/**
	 * @gpu: True if a queue is the owner. A handle that is closed does not end the wait
	 * (WDDM-127). A waiter whose fence has lost its last holder counts as reached
	 * (WDDM-66).
	 */
	bool gpu;

	/** @client: File of a thread, an event or a set, which outlives the wait; else NULL. */
	struct vfence_file *client;
	/** @any: True if one reached point satisfies the wait. */
	bool any;
	/** @array: User address of the list of points, by which a restarted call is checked. */
	u64 array;

	/** @rcu: Frees a large wait from any context. */
	struct rcu_head rcu;

	/** @count: Number of waiters. */
	unsigned int count;
	/** @waiters: One waiter for each point. */
	struct vfence_waiter waiters[];
};

struct vfence_wait *vfence_wait_alloc(struct vfence_adapter *adapter, unsigned int waiters);
void vfence_wait_put(struct vfence_wait *wait);
void vfence_wait_destroy(struct vfence_wait *wait);
bool vfence_wait_is_reached(struct vfence_wait *wait);
bool vfence_wait_move(struct vfence_wait *wait, enum vfence_wait_state from,
		      enum vfence_wait_state to);
void vfence_wait_finish(struct vfence_wait *wait, enum vfence_wait_state to);
void vfence_wait_count(struct vfence_wait *wait, enum vfence_count counter);
int vfence_wait_account(struct vfence_wait *wait);

#endif
