/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CHORE_H_
#define _VFENCE_CHORE_H_

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>
#include <linux/workqueue.h>

#include "vfence_bucket.h"

/**
 * struct vfence_chore_user - the chores of all processes of a user
 */
struct vfence_chore_user {
	/** @lock: protects the chores of the user; irqsave, inside of all locks but workqueues' */
	spinlock_t lock;
	/** @line: &vfence_chore_process.turn of those that have chores in line, first one first */
	struct timerqueue_head line;
	/** @bucket: what was spent for the user */
	struct vfence_bucket bucket;
	/** @timer: runs until the user may spend more */
	struct hrtimer timer;
	/** @hurried: nothing waits any more; set once */
	bool hurried;
	/** @busy: number of chores that are not IDLE */
	unsigned int busy;
};

/**
 * struct vfence_chore_process - the chores of a process
 */
struct vfence_chore_process {
	/** @user: its user; constant */
	struct vfence_chore_user *user;
	/** @waiting: &vfence_chore.link in the order in which they are to run */
	struct list_head waiting;
	/** @turn: node in &vfence_chore_user.line while @waiting is not empty */
	struct timerqueue_node turn;
	/** @bucket: what was spent for the process */
	struct vfence_bucket bucket;
};

/**
 * enum vfence_chore_state - states of a chore, see core/vfence_chore.c
 */
enum vfence_chore_state {
	/** @VFENCE_CHORE_IDLE: has nothing to do */
	VFENCE_CHORE_IDLE,
	/** @VFENCE_CHORE_WAITING: in line */
	VFENCE_CHORE_WAITING,
	/** @VFENCE_CHORE_QUEUED: its work is queued */
	VFENCE_CHORE_QUEUED,
	/** @VFENCE_CHORE_RUNNING: runs */
	VFENCE_CHORE_RUNNING,
	/** @VFENCE_CHORE_AGAIN: runs, and is to run again */
	VFENCE_CHORE_AGAIN,
};

/**
 * struct vfence_chore - work that a thread of the kernel does for a client
 */
struct vfence_chore {
	/** @work: runs the chore */
	struct work_struct work;
	/** @wq: where @work runs; constant */
	struct workqueue_struct *wq;
	/** @process: whom it is for; constant */
	struct vfence_chore_process *process;
	/** @run: does a portion of it, in process context; constant */
	void (*run)(struct vfence_chore *chore);
	/** @release: drops the reference that one run has, or NULL; constant */
	void (*release)(struct vfence_chore *chore);
	/** @state: under &vfence_chore_user.lock */
	enum vfence_chore_state state;
	/** @hurried: the client is gone, and nobody waits until it has rested; set once */
	bool hurried;
	/** @link: link in &vfence_chore_process.waiting */
	struct list_head link;
	/** @spent_ns: what @run has spent; written by it alone */
	u64 spent_ns;
};

/** vfence_chore_is_long - a run has spent what was reserved for it, and is to end soon */
static inline bool vfence_chore_is_long(u64 spent_ns)
{
	return spent_ns >= VFENCE_BUCKET_RESERVE_NS;
}

void vfence_chore_user_init(struct vfence_chore_user *user);
void vfence_chore_user_fini(struct vfence_chore_user *user);
void vfence_chore_process_init(struct vfence_chore_process *process,
			       struct vfence_chore_user *user);
void vfence_chore_init(struct vfence_chore *chore, struct vfence_chore_process *process,
		       struct workqueue_struct *wq, void (*run)(struct vfence_chore *chore),
		       void (*release)(struct vfence_chore *chore));
bool vfence_chore_queue(struct vfence_chore *chore);
void vfence_chore_flush(struct vfence_chore *chore);
void vfence_chore_hurry(struct vfence_chore *chore);
void vfence_chore_hurry_all(struct vfence_chore_user *user);
void vfence_chore_wait_all(struct vfence_chore_user *user);
u64 vfence_chore_rest_ns(const struct vfence_bucket *bucket);

#endif
