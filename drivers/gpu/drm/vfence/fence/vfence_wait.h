/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_WAIT_H_
#define _VFENCE_WAIT_H_

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/wait.h>

struct vfence_adapter;
struct vfence_fence;
struct vfence_wait;

/**
 * struct vfence_point - a value of a fence that a wait needs
 */
struct vfence_point {
	union {
		/** @node: in one of the fence's trees, while queued */
		struct rb_node node;
		/** @link: on the way out, once completed */
		struct list_head link;
	};
	/** @fence: the fence; the wait's owner holds the reference */
	struct vfence_fence *fence;
	/** @wait: the wait */
	struct vfence_wait *wait;
	/** @value: awaited */
	u64 value;
	/** @queued: in the tree; vfence_fence.lock */
	bool queued;
};

/**
 * enum vfence_wait_state - how far a wait is
 *
 * ::
 *
 *    ARMING ----> ARMED ----> TIMED_OUT, CANCELLED   (by its owner)
 *       |           |
 *       +-----------+-------> REACHED, FAILED        (by whoever completes it)
 *
 * Each arrow is one compare-and-swap, so that there is one winner.
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
 * struct vfence_wait - one CPU wait or event, on any number of points
 */
struct vfence_wait {
	/** @ref: the owner and each queued point */
	struct kref ref;
	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @state: &enum vfence_wait_state */
	atomic_t state;
	/** @pending: points still needed */
	atomic_t pending;
	/** @first: index of the first point reached, or -1 */
	atomic_t first;
	/** @error: why it FAILED */
	int error;
	/** @sleepers: the owner, if it is a thread */
	wait_queue_head_t sleepers;
	/** @fire: the owner, if it is no thread: ARMED became REACHED or FAILED; under RCU */
	void (*fire)(struct vfence_wait *wait);
	/** @owner: the event, or the queue that holds a submission back for it */
	void *owner;
	/**
	 * @gpu: such a queue: handles that go do not end it (WDDM-127), and a point that
	 * nobody can signal any more counts as reached (WDDM-66)
	 */
	bool gpu;
	/** @rcu: frees it from any context */
	struct rcu_head rcu;
	/** @count: number of points */
	unsigned int count;
	/** @points: the points */
	struct vfence_point points[];
};

struct vfence_wait *vfence_wait_alloc(struct vfence_adapter *adapter, unsigned int points);
void vfence_wait_put(struct vfence_wait *wait);
void vfence_wait_destroy(struct vfence_wait *wait);
bool vfence_wait_poll(struct vfence_wait *wait, bool any);
bool vfence_wait_move(struct vfence_wait *wait, enum vfence_wait_state from,
		      enum vfence_wait_state to);
void vfence_wait_finish(struct vfence_wait *wait, enum vfence_wait_state to);
int vfence_wait_account(struct vfence_wait *wait);

#endif
