// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chores: what threads of the kernel do for a client, and how long a client may keep them busy.
 *
 * A client decides how many threads an eventfd wakes, and how many files it has. No control group
 * limits what the kernel does for it later. A chore is therefore charged to the process that opened
 * the file, and to its user, and does a portion of its work at a time. Then others have their turn:
 * those of the process that has spent least come first. A process that has spent too much rests:
 * its chores wait until enough time has passed.
 *
 *            vfence_chore_queue()        its turn              the work begins
 *      IDLE ---------------------> WAITING ------> QUEUED -----------------------> RUNNING
 *       ^                            ^                                             |     |
 *       |                            |      vfence_chore_queue()                   |     |
 *       |                            +------- AGAIN <------------------------------+     |
 *       +--------------------------------------------------------------------------------+
 *
 * A thread of the client that needs it done now, because it closes the file, runs it itself:
 * WAITING -> RUNNING.
 */

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/wait_bit.h>

#include "core/vfence_chore.h"
#include "vfence_compat.h"

/* What each run costs at least, in ns. */
#define CHORE_LEAST_NS	2000
/* Most turns that begin with interrupts off. The end of each begins others. */
#define CHORE_TURNS	16

static struct vfence_chore_process *chore_process(struct timerqueue_node *turn)
{
	return container_of(turn, struct vfence_chore_process, turn);
}

/*
 * Sort by the time at which all is paid back. A process with nothing to pay back is sorted by now,
 * which puts it behind those that line up already.
 */
static void chore_line_up_locked(struct vfence_chore_process *process, u64 now)
{
	lockdep_assert_held(&process->user->lock);
	process->turn.expires = ns_to_ktime(max(process->bucket.due, now));
	timerqueue_add(&process->user->line, &process->turn);
}

/* Does it cost the client nothing else? */
static bool chore_is_charged(void)
{
	return current->flags & PF_KTHREAD;
}

static void chore_reserve_locked(struct vfence_chore_process *process, u64 now)
{
	struct vfence_chore_user *user = process->user;

	lockdep_assert_held(&user->lock);
	vfence_bucket_spend(&process->bucket, now, VFENCE_BUCKET_RESERVE_NS);
	vfence_bucket_spend(&user->bucket, now, VFENCE_BUCKET_RESERVE_NS);
}

/* Its turn comes; @charged says whether that is charged. */
static void chore_leave_line_locked(struct vfence_chore *chore, u64 now, bool charged)
{
	struct vfence_chore_process *process = chore->process;

	lockdep_assert_held(&process->user->lock);
	timerqueue_del(&process->user->line, &process->turn);
	list_del_init(&chore->link);
	if (charged)
		chore_reserve_locked(process, now);
	if (!list_empty(&process->waiting))
		chore_line_up_locked(process, now);
}

static void chore_begin_turn_locked(struct vfence_chore *chore, u64 now)
{
	lockdep_assert_held(&chore->process->user->lock);
	chore_leave_line_locked(chore, now, true);
	chore->state = VFENCE_CHORE_QUEUED;
	queue_work(chore->wq, &chore->work);
}

static void chore_wait_locked(struct vfence_chore *chore, u64 now)
{
	struct vfence_chore_process *process = chore->process;

	lockdep_assert_held(&process->user->lock);
	chore->state = VFENCE_CHORE_WAITING;
	if (list_empty(&process->waiting))
		chore_line_up_locked(process, now);
	list_add_tail(&chore->link, &process->waiting);
	if (chore->hurried)
		chore_begin_turn_locked(chore, now);
}

/* Begin the turns of those that may spend more. The reserves bound how many that are. */
static void chore_dispatch_locked(struct vfence_chore_user *user, u64 now)
{
	struct timerqueue_node *turn;
	unsigned int turns = 0;

	lockdep_assert_held(&user->lock);
	while (turns++ < CHORE_TURNS && (turn = timerqueue_getnext(&user->line))) {
		struct vfence_chore_process *process = chore_process(turn);
		u64 ready_at = max(vfence_bucket_ready_at(&process->bucket),
				   vfence_bucket_ready_at(&user->bucket));

		if (ready_at > now && !user->hurried) {
			hrtimer_start(&user->timer, ns_to_ktime(ready_at), HRTIMER_MODE_ABS);
			return;
		}
		chore_begin_turn_locked(list_first_entry(&process->waiting, struct vfence_chore,
							 link), now);
	}
}

static enum hrtimer_restart chore_timer(struct hrtimer *timer)
{
	struct vfence_chore_user *user = container_of(timer, struct vfence_chore_user, timer);
	unsigned long flags;

	spin_lock_irqsave(&user->lock, flags);
	chore_dispatch_locked(user, ktime_get_ns());
	spin_unlock_irqrestore(&user->lock, flags);
	return HRTIMER_NORESTART;
}

/**
 * vfence_chore_queue - there is something to do
 * @chore: the chore
 *
 * What the caller has stored before is seen by the run. Any context.
 *
 * Return: true if the chore runs once more for it, false if a run is to come already.
 */
bool vfence_chore_queue(struct vfence_chore *chore)
{
	struct vfence_chore_user *user = chore->process->user;
	u64 now = ktime_get_ns();
	unsigned long flags;
	bool once_more = true;

	spin_lock_irqsave(&user->lock, flags);
	if (chore->state == VFENCE_CHORE_IDLE) {
		user->busy++;
		chore_wait_locked(chore, now);
		chore_dispatch_locked(user, now);
	} else if (chore->state == VFENCE_CHORE_RUNNING) {
		chore->state = VFENCE_CHORE_AGAIN;
	} else {
		once_more = false;
	}
	spin_unlock_irqrestore(&user->lock, flags);
	return once_more;
}

static void chore_begin(struct vfence_chore *chore)
{
	struct vfence_chore_user *user = chore->process->user;

	spin_lock_irq(&user->lock);
	chore->state = VFENCE_CHORE_RUNNING;
	spin_unlock_irq(&user->lock);
}

/* Charge the time that a run took, and release the time that was reserved for it. */
static void chore_charge_locked(struct vfence_chore_process *process, u64 spent_ns, u64 now)
{
	struct vfence_chore_user *user = process->user;

	lockdep_assert_held(&user->lock);
	vfence_bucket_correct(&process->bucket, now, VFENCE_BUCKET_RESERVE_NS, spent_ns);
	vfence_bucket_correct(&user->bucket, now, VFENCE_BUCKET_RESERVE_NS, spent_ns);
	if (list_empty(&process->waiting))
		return;
	timerqueue_del(&user->line, &process->turn);
	chore_line_up_locked(process, now);
}

/*
 * A chore without a release function may be freed as soon as its state is IDLE: after the unlock
 * only its address is used.
 */
static void chore_end(struct vfence_chore *chore)
{
	u64 spent_ns = max_t(u64, chore->spent_ns, CHORE_LEAST_NS), now = ktime_get_ns();
	void (*release)(struct vfence_chore *chore) = chore->release;
	struct vfence_chore_user *user = chore->process->user;

	chore->spent_ns = 0;
	spin_lock_irq(&user->lock);
	if (chore_is_charged())
		chore_charge_locked(chore->process, spent_ns, now);
	if (chore->state == VFENCE_CHORE_AGAIN) {
		chore_wait_locked(chore, now);
	} else {
		chore->state = VFENCE_CHORE_IDLE;
		if (!--user->busy)
			wake_up_var(&user->busy);
	}
	chore_dispatch_locked(user, now);
	spin_unlock_irq(&user->lock);
	wake_up_var(&chore->state);
	if (release)
		release(chore);
}

static void chore_work(struct work_struct *work)
{
	struct vfence_chore *chore = container_of(work, struct vfence_chore, work);

	chore_begin(chore);
	chore->run(chore);
	chore_end(chore);
}

static enum vfence_chore_state chore_state(struct vfence_chore *chore)
{
	struct vfence_chore_user *user = chore->process->user;
	enum vfence_chore_state state;

	spin_lock_irq(&user->lock);
	state = chore->state;
	spin_unlock_irq(&user->lock);
	return state;
}

/* The work of the chore is queued, or it runs. */
static bool chore_is_busy(struct vfence_chore *chore)
{
	enum vfence_chore_state state = chore_state(chore);

	return state != VFENCE_CHORE_IDLE && state != VFENCE_CHORE_WAITING;
}

/* Take a chore out of the line. Return false if it is not there. */
static bool chore_begin_here(struct vfence_chore *chore)
{
	struct vfence_chore_user *user = chore->process->user;
	bool waits;

	spin_lock_irq(&user->lock);
	waits = chore->state == VFENCE_CHORE_WAITING;
	if (waits) {
		chore->state = VFENCE_CHORE_RUNNING;
		chore_leave_line_locked(chore, ktime_get_ns(), chore_is_charged());
	}
	spin_unlock_irq(&user->lock);
	return waits;
}

/**
 * vfence_chore_flush - run a chore until it has nothing left to do
 * @chore: a chore that only its own run queues again
 *
 * The caller runs it, instead of waiting until the process may spend more. A thread of the client
 * pays by its own processor time; what a thread of the kernel spends is charged. The client decides
 * how long the call takes. Process context.
 */
void vfence_chore_flush(struct vfence_chore *chore)
{
	do {
		wait_var_event(&chore->state, !chore_is_busy(chore));
		if (chore_begin_here(chore)) {
			chore->run(chore);
			chore_end(chore);
			cond_resched();
		}
	} while (chore_state(chore) != VFENCE_CHORE_IDLE);
}

/**
 * vfence_chore_hurry - the client is gone: let the chore not rest any more
 * @chore: the chore
 *
 * Who closes a file waits for what its chores end. They are charged as before. Process context.
 */
void vfence_chore_hurry(struct vfence_chore *chore)
{
	struct vfence_chore_user *user = chore->process->user;

	spin_lock_irq(&user->lock);
	chore->hurried = true;
	if (chore->state == VFENCE_CHORE_WAITING)
		chore_begin_turn_locked(chore, ktime_get_ns());
	spin_unlock_irq(&user->lock);
}

/**
 * vfence_chore_hurry_all - the adapter is unplugged: let nobody rest any more
 * @user: the user
 *
 * Process context. On return the works of all chores that were in line are queued.
 */
void vfence_chore_hurry_all(struct vfence_chore_user *user)
{
	bool waits;

	do {
		spin_lock_irq(&user->lock);
		user->hurried = true;
		chore_dispatch_locked(user, ktime_get_ns());
		waits = timerqueue_getnext(&user->line);
		spin_unlock_irq(&user->lock);
		cond_resched();
	} while (waits);
}

static bool chore_none_is_busy(struct vfence_chore_user *user)
{
	bool none;

	spin_lock_irq(&user->lock);
	none = !user->busy;
	spin_unlock_irq(&user->lock);
	return none;
}

/**
 * vfence_chore_wait_all - wait until no chore has anything to do
 * @user: a user whose chores do not rest any more, and get nothing else to do from the GPU
 */
void vfence_chore_wait_all(struct vfence_chore_user *user)
{
	wait_var_event(&user->busy, chore_none_is_busy(user));
}

/** vfence_chore_rest_ns - how long it takes until all is paid back, in ns */
u64 vfence_chore_rest_ns(const struct vfence_bucket *bucket)
{
	u64 due = READ_ONCE(bucket->due), now = ktime_get_ns();

	return due > now ? due - now : 0;
}

/** vfence_chore_init - prepare a chore of a process; see &struct vfence_chore */
void vfence_chore_init(struct vfence_chore *chore, struct vfence_chore_process *process,
		       struct workqueue_struct *wq, void (*run)(struct vfence_chore *chore),
		       void (*release)(struct vfence_chore *chore))
{
	INIT_WORK(&chore->work, chore_work);
	INIT_LIST_HEAD(&chore->link);
	chore->wq = wq;
	chore->process = process;
	chore->run = run;
	chore->release = release;
}

/** vfence_chore_process_init - prepare a process of a user for chores */
void vfence_chore_process_init(struct vfence_chore_process *process,
			       struct vfence_chore_user *user)
{
	process->user = user;
	process->bucket.rate = VFENCE_BUCKET_PROCESS_RATE;
	INIT_LIST_HEAD(&process->waiting);
	timerqueue_init(&process->turn);
}

/** vfence_chore_user_init - prepare a user for chores */
void vfence_chore_user_init(struct vfence_chore_user *user)
{
	spin_lock_init(&user->lock);
	timerqueue_init_head(&user->line);
	user->bucket.rate = VFENCE_BUCKET_USER_RATE;
	hrtimer_setup(&user->timer, chore_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}

/** vfence_chore_user_fini - the user has no process left; process context */
void vfence_chore_user_fini(struct vfence_chore_user *user)
{
	hrtimer_cancel(&user->timer);
}
