// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Full access
 *
 * A function whose driver sets it up, or tears it down, may have the engines for itself::
 *
 *              REQUEST_INIT, _FINI         the groups are its own
 *    NONE ----------------------> WANTED ----------------------> HELD
 *     ^                                                            |
 *     +---- RELEASE_INIT, _FINI; or too long: reset of the function+
 *
 * Only one function at a time has the engines; functions get them in the order of their indices.
 * Guards limit the messages of a function (vfence_guard.h). A work handles the messages of a
 * function: releases first, then resets, then requests.
 */

#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "hw/vgpu.h"
#include "vf/vfence_vf_exclusive.h"
#include "vf/vfence_vf_sched.h"

/* Window of a guard, which has no limit at first. */
#define ACCESS_WINDOW_MS	60000

#define EXCLUSIVE_REQUESTS	(BIT(VGPU_MAIL_REQUEST_INIT) | BIT(VGPU_MAIL_REQUEST_FINI))
#define EXCLUSIVE_RELEASES	(BIT(VGPU_MAIL_RELEASE_INIT) | BIT(VGPU_MAIL_RELEASE_FINI))
#define EXCLUSIVE_MESSAGES	(EXCLUSIVE_REQUESTS | EXCLUSIVE_RELEASES | \
				 BIT(VGPU_MAIL_REQUEST_RESET))
/* Not a message: a guard has dropped a request, and the driver needs an answer. */
#define EXCLUSIVE_REFUSED	BIT(0)

/*
 * What functions may owe the others when one more gets full access: after a reset of the whole GPU
 * all of them need it at once, each for a fraction of this.
 */
#define EXCLUSIVE_CREDIT_MS	4

/* An access costs the others at least this: their work is stopped, and goes on later. */
#define EXCLUSIVE_LEAST_MS		1

/* If a function has not got the engines by then, let the others have their turns and try again. */
#define EXCLUSIVE_ACQUIRE_MS	1000

/**
 * struct exclusive_function - a function as the host sees it
 */
struct exclusive_function {
	/** @gpu: the function; NULL if it does not take part; under vfence_vf_exclusive.lock */
	struct vgpu *gpu;
	/** @mail: messages to handle, by number; under vfence_vf_exclusive.mail_lock */
	u32 mail;
	/** @guard: its guards; under vfence_vf_exclusive.mail_lock */
	struct vfence_guard guard[VFENCE_GUARDS];
};

/**
 * struct vfence_vf_exclusive - full access to the engines of a chip
 */
struct vfence_vf_exclusive {
	/** @sched: switches the engines */
	struct vfence_vf_sched *sched;
	/** @wq: runs @work and @limit_work, one after the other */
	struct workqueue_struct *wq;
	/** @work: handles messages */
	struct work_struct work;
	/** @limit_work: ends a full access that takes too long, and gives one that had to wait */
	struct delayed_work limit_work;

	/** @lock: protects the members below, and vfence_vf_exclusive_leave() against the works */
	struct mutex lock;
	/** @wanted: mask of the functions that wait for access; changes under @mail_lock, too */
	u32 wanted;
	/** @holder: the function that has it, or -1 */
	int holder;
	/** @last: the function that had it last */
	unsigned int last;
	/** @since: when @holder got it */
	ktime_t since;
	/** @until: when @holder has had it for too long */
	ktime_t until;
	/** @paid_at: when all have shared the engines for as long as functions had full access */
	ktime_t paid_at;

	/** @mail_lock: innermost; irqsave */
	spinlock_t mail_lock;
	/** @function: the functions */
	struct exclusive_function function[VFENCE_POLICY_FUNCTIONS];
};

static bool exclusive_admits(struct vfence_vf_exclusive *a, unsigned int i, enum vfence_guard_kind
			     kind)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&a->mail_lock, flags);
	may = vfence_guard_admit(&a->function[i].guard[kind], ktime_get_ns());
	spin_unlock_irqrestore(&a->mail_lock, flags);
	return may;
}

static void exclusive_set_wanted_locked(struct vfence_vf_exclusive *a, unsigned int i, bool wanted)
{
	unsigned long flags;

	lockdep_assert_held(&a->lock);
	spin_lock_irqsave(&a->mail_lock, flags);
	a->wanted = wanted ? a->wanted | BIT(i) : a->wanted & ~BIT(i);
	spin_unlock_irqrestore(&a->mail_lock, flags);
}

/*
 * Does the function wait for full access already? A driver that waits repeats its request, which is
 * no event of a guard.
 */
static bool exclusive_is_waiting(struct vfence_vf_exclusive *a, unsigned int i)
{
	unsigned long flags;
	bool waits;
	u32 mail;

	spin_lock_irqsave(&a->mail_lock, flags);
	mail = a->function[i].mail;
	/* A release that is not handled yet ends the wait for an earlier request. */
	waits = mail & EXCLUSIVE_REQUESTS || (a->wanted & BIT(i) && !(mail & EXCLUSIVE_RELEASES));
	spin_unlock_irqrestore(&a->mail_lock, flags);
	return waits;
}

/* The driver of a function has sent a message. Called under a spinlock with interrupts off. */
static void exclusive_mail(void *data, unsigned int function, u32 message)
{
	struct vfence_vf_exclusive *a = data;
	struct exclusive_function *f = &a->function[function];
	bool known = message <= VGPU_MAIL_REQUEST_RESET && BIT(message) & EXCLUSIVE_MESSAGES;
	bool may;

	if (known && BIT(message) & EXCLUSIVE_REQUESTS && exclusive_is_waiting(a, function))
		return;
	may = exclusive_admits(a, function, VFENCE_GUARD_MAILBOX);
	if (!known)
		return;
	/* Never drop a release: the other functions wait for it. */
	if (!may && message == VGPU_MAIL_REQUEST_RESET)
		return;
	spin_lock(&a->mail_lock);
	/* A release takes back a request that is not handled yet. */
	if (EXCLUSIVE_RELEASES & BIT(message))
		f->mail &= ~EXCLUSIVE_REQUESTS;
	f->mail |= may || !(EXCLUSIVE_REQUESTS & BIT(message)) ? BIT(message) : EXCLUSIVE_REFUSED;
	spin_unlock(&a->mail_lock);
	queue_work(a->wq, &a->work);
}

/* A release ends the wait together with the message: a request may follow at once. */
static u32 exclusive_take_mail_locked(struct vfence_vf_exclusive *a, unsigned int i)
{
	unsigned long flags;
	u32 mail;

	lockdep_assert_held(&a->lock);
	spin_lock_irqsave(&a->mail_lock, flags);
	mail = a->function[i].mail;
	a->function[i].mail = 0;
	if (mail & EXCLUSIVE_RELEASES)
		a->wanted &= ~BIT(i);
	spin_unlock_irqrestore(&a->mail_lock, flags);
	return mail;
}

/*
 * The holder releases the engines. All functions are to share them for as much time, so that those
 * that request them in turn have half of the time at most (VF-39).
 */
static void exclusive_end_locked(struct vfence_vf_exclusive *a)
{
	ktime_t now = ktime_get();
	ktime_t had = max(ktime_sub(now, a->since), ms_to_ktime(EXCLUSIVE_LEAST_MS));

	lockdep_assert_held(&a->lock);
	/* What was owed when the access began is still owed. */
	if (ktime_after(a->paid_at, a->since))
		had = ktime_add(had, ktime_sub(a->paid_at, a->since));
	a->paid_at = ktime_add(now, had);
	a->holder = -1;
	vfence_vf_sched_release_exclusive(a->sched);
}

/* Has the function had too many full accesses that took too long? */
static bool exclusive_is_barred(struct vfence_vf_exclusive *a, unsigned int i)
{
	unsigned long flags;
	bool barred;

	spin_lock_irqsave(&a->mail_lock, flags);
	barred = vfence_guard_is_full(&a->function[i].guard[VFENCE_GUARD_TIMEOUT], ktime_get_ns());
	spin_unlock_irqrestore(&a->mail_lock, flags);
	return barred;
}

static void exclusive_ask_locked(struct vfence_vf_exclusive *a, unsigned int i)
{
	lockdep_assert_held(&a->lock);
	/* The interrupt of the first answer may be lost. */
	if (a->holder == i)
		vgpu_mailbox_notify(a->function[i].gpu, VGPU_MAIL_READY_TO_ACCESS);
	else if (exclusive_is_barred(a, i) || !exclusive_admits(a, i, VFENCE_GUARD_ACCESS))
		vgpu_mailbox_notify(a->function[i].gpu, VGPU_MAIL_FAIL);
	else
		exclusive_set_wanted_locked(a, i, true);
}

static void exclusive_handle_locked(struct vfence_vf_exclusive *a, unsigned int i)
{
	u32 mail = exclusive_take_mail_locked(a, i);

	lockdep_assert_held(&a->lock);
	if (!a->function[i].gpu)
		return;
	if (mail & EXCLUSIVE_RELEASES && a->holder == i)
		exclusive_end_locked(a);
	if (mail & EXCLUSIVE_REFUSED)
		vgpu_mailbox_notify(a->function[i].gpu, VGPU_MAIL_FAIL);
	if (mail & BIT(VGPU_MAIL_REQUEST_RESET) && exclusive_admits(a, i, VFENCE_GUARD_FLR))
		vfence_vf_sched_reset(a->sched, a->function[i].gpu, "its driver has asked for it");
	if (mail & EXCLUSIVE_REQUESTS)
		exclusive_ask_locked(a, i);
}

/*
 * Give the engines to the next one of the functions @due, which are not none. Returns false if it
 * has not got them.
 */
static bool exclusive_grant_locked(struct vfence_vf_exclusive *a, u32 due)
{
	unsigned int ms = vfence_vf_sched_access_ms(a->sched), i = a->last;

	lockdep_assert_held(&a->lock);
	do
		i = (i + 1) % VFENCE_POLICY_FUNCTIONS;
	while (!(due & BIT(i)));
	a->last = i;
	if (!vfence_vf_sched_acquire_exclusive(a->sched, i, EXCLUSIVE_ACQUIRE_MS)) {
		/* An engine does not stop, or the function is paused now. */
		vfence_vf_sched_release_exclusive(a->sched);
		return false;
	}
	a->holder = i;
	a->since = ktime_get();
	a->until = ktime_add_ms(a->since, ms);
	mod_delayed_work(a->wq, &a->limit_work, msecs_to_jiffies(ms));
	vgpu_mailbox_notify(a->function[i].gpu, VGPU_MAIL_READY_TO_ACCESS);
	/* Not before the answer is there: a repeated request would ask for another one. */
	exclusive_set_wanted_locked(a, i, false);
	return true;
}

/*
 * A paused function waits until it is resumed. If the grant fails, handle releases and resets
 * before the next try.
 */
static void exclusive_grant_next_locked(struct vfence_vf_exclusive *a)
{
	u32 due = a->wanted & ~vfence_vf_sched_paused(a->sched);
	ktime_t now = ktime_get();

	lockdep_assert_held(&a->lock);
	if (a->holder >= 0 || !due)
		return;
	/* Once: a function may be paused meanwhile, and a loop would wait for its resume. */
	if (ktime_after(a->paid_at, ktime_add_ms(now, EXCLUSIVE_CREDIT_MS)))
		mod_delayed_work(a->wq, &a->limit_work,
				 msecs_to_jiffies(ktime_ms_delta(a->paid_at, now)) + 1);
	else if (!exclusive_grant_locked(a, due))
		queue_work(a->wq, &a->work);
}

static void exclusive_work(struct work_struct *work)
{
	struct vfence_vf_exclusive *a = container_of(work, struct vfence_vf_exclusive, work);
	unsigned int i;

	mutex_lock(&a->lock);
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		exclusive_handle_locked(a, i);
	exclusive_grant_next_locked(a);
	mutex_unlock(&a->lock);
}

/* Reset a function that keeps the engines for too long (VF-39). */
static void exclusive_limit_work(struct work_struct *work)
{
	struct vfence_vf_exclusive *a = container_of(to_delayed_work(work),
						     struct vfence_vf_exclusive, limit_work);
	int i;

	mutex_lock(&a->lock);
	i = a->holder;
	if (i >= 0 && ktime_after(a->until, ktime_get())) {
		/* The timer was started for an earlier holder. */
		mod_delayed_work(a->wq, &a->limit_work,
				 msecs_to_jiffies(ktime_ms_delta(a->until, ktime_get())) + 1);
	} else if (i >= 0) {
		/* Only records the time: a function over this limit gets no access. */
		exclusive_admits(a, i, VFENCE_GUARD_TIMEOUT);
		exclusive_end_locked(a);
		vfence_vf_sched_reset(a->sched, a->function[i].gpu,
				      "it kept the engines for itself for too long");
	}
	exclusive_grant_next_locked(a);
	mutex_unlock(&a->lock);
}

/** vfence_vf_exclusive_resumed - a function is not paused any more */
void vfence_vf_exclusive_resumed(struct vfence_vf_exclusive *exclusive)
{
	queue_work(exclusive->wq, &exclusive->work);
}

/** vfence_vf_exclusive_join - a function takes part from now on */
void vfence_vf_exclusive_join(struct vfence_vf_exclusive *exclusive, struct vgpu *gpu)
{
	mutex_lock(&exclusive->lock);
	exclusive->function[vgpu_vf_switch_index(gpu)].gpu = gpu;
	mutex_unlock(&exclusive->lock);
}

/** vfence_vf_exclusive_leave - forget a function, after vfence_vf_sched_leave() */
void vfence_vf_exclusive_leave(struct vfence_vf_exclusive *exclusive, struct vgpu *gpu)
{
	unsigned int i = vgpu_vf_switch_index(gpu);

	mutex_lock(&exclusive->lock);
	exclusive->function[i].gpu = NULL;
	exclusive_set_wanted_locked(exclusive, i, false);
	if (exclusive->holder == i)
		exclusive_end_locked(exclusive);
	exclusive_grant_next_locked(exclusive);
	mutex_unlock(&exclusive->lock);
}

/**
 * vfence_vf_exclusive_get_guard - read a guard of a function
 * @exclusive: the access
 * @function: index of the function
 * @kind: which guard
 * @guard: output
 */
void vfence_vf_exclusive_get_guard(struct vfence_vf_exclusive *exclusive, unsigned int function,
				   enum vfence_guard_kind kind, struct vfence_guard *guard)
{
	unsigned long flags;

	spin_lock_irqsave(&exclusive->mail_lock, flags);
	*guard = exclusive->function[function].guard[kind];
	spin_unlock_irqrestore(&exclusive->mail_lock, flags);
}

/**
 * vfence_vf_exclusive_set_limit - change the limit of a guard; events of before count
 * @exclusive: the access
 * @function: index of the function
 * @kind: which guard
 * @limit: a valid limit
 */
void vfence_vf_exclusive_set_limit(struct vfence_vf_exclusive *exclusive, unsigned int function,
				   enum vfence_guard_kind kind, const struct vfence_guard_limit
				   *limit)
{
	unsigned long flags;

	spin_lock_irqsave(&exclusive->mail_lock, flags);
	exclusive->function[function].guard[kind].limit = *limit;
	spin_unlock_irqrestore(&exclusive->mail_lock, flags);
}

/**
 * vfence_vf_exclusive_create - begin to give full access, and start the scheduler
 * @sched: switches the engines
 * @physical: the physical function
 * @name: prefix of the name of the thread
 *
 * Return: what vfence_vf_exclusive_destroy() frees, or an ERR_PTR.
 */
struct vfence_vf_exclusive *vfence_vf_exclusive_create(struct vfence_vf_sched *sched,
						       struct vgpu *physical, const char *name)
{
	struct vfence_vf_exclusive *a = kvzalloc(sizeof(*a), GFP_KERNEL);
	unsigned int i, k;

	if (!a)
		return ERR_PTR(-ENOMEM);
	/* Drivers wait for it in works on which dma_fences depend. */
	a->wq = alloc_ordered_workqueue("%s-access", WQ_HIGHPRI | WQ_MEM_RECLAIM, name);
	if (!a->wq) {
		kvfree(a);
		return ERR_PTR(-ENOMEM);
	}
	a->sched = sched;
	a->holder = -1;
	INIT_WORK(&a->work, exclusive_work);
	INIT_DELAYED_WORK(&a->limit_work, exclusive_limit_work);
	mutex_init(&a->lock);
	spin_lock_init(&a->mail_lock);
	for (i = 0; i < VFENCE_POLICY_FUNCTIONS; i++)
		for (k = 0; k < VFENCE_GUARDS; k++)
			a->function[i].guard[k].limit.window_ms = ACCESS_WINDOW_MS;
	vfence_vf_exclusive_join(a, physical);
	vfence_vf_sched_start(sched, exclusive_mail, a);
	return a;
}

/** vfence_vf_exclusive_destroy - end it, after vfence_vf_sched_stop(): no message comes any more */
void vfence_vf_exclusive_destroy(struct vfence_vf_exclusive *exclusive)
{
	cancel_work_sync(&exclusive->work);
	cancel_delayed_work_sync(&exclusive->limit_work);
	destroy_workqueue(exclusive->wq);
	mutex_destroy(&exclusive->lock);
	kvfree(exclusive);
}
