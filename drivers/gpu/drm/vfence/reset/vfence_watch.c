// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Watchdog
 *
 * The driver notes what it asks engines for, in core/vfence_deadline.c. An engine is reset if
 * TdrDelay passes and::
 *
 *    a suspended context has not left its engine, or was not acknowledged
 *    a packet of the paging ring is not completed
 *    an engine that executes a queue has given no sign of life
 *
 * Hardware that has stopped reports nothing. While clients have files open, or posts or fences are
 * left, the driver checks the GPU every TdrDelay, against what it saw at the check before::
 *
 *    an engine executes a queue                                 --> ask it for a sign of life
 *    the CMP has posts and has handled none                     --> reset of the adapter
 *    there are records for the threaded half, which has not run --> the handler runs again
 *
 * An engine whose packet makes no progress still answers: preempt_us, hung_us and TdrDelay limit
 * such packets. An engine whose queue should have been stopped after preempt_us does not.
 */

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "core/vfence_adapter.h"
#include "irq/vfence_irq.h"
#include "irq/vfence_vector.h"
#include "reset/vfence_recovery.h"
#include "reset/vfence_tdr.h"
#include "reset/vfence_watch.h"

/*
 * The next check. An engine answers at once, but its thread needs a processor: a short TdrDelay
 * must not turn a busy machine into a hang, where the kernel does not count that time.
 */
static void watch_begin_check_locked(struct vfence_adapter *adapter)
{
	u32 ms = max(READ_ONCE(adapter->tdr.delay_ms), VFENCE_TIMEOUT_ANSWER_MS);

	lockdep_assert_held(&adapter->deadlines.lock);
	adapter->reset.watch.check_at = ktime_get_ns() + (u64)ms * NSEC_PER_MSEC;
}

/* Return how long nothing can be late, in ns, or U64_MAX. */
static u64 watch_left_locked(struct vfence_adapter *adapter)
{
	u64 check_at = adapter->reset.watch.check_at;
	u64 now = ktime_get_ns();
	u64 left = vfence_deadline_left_locked(adapter, now);

	lockdep_assert_held(&adapter->deadlines.lock);
	return check_at ? min(left, check_at - min(check_at, now)) : left;
}

/* Let the work run when something can be late. */
static void watch_arm_locked(struct vfence_adapter *adapter)
{
	u64 left = watch_left_locked(adapter);

	lockdep_assert_held(&adapter->deadlines.lock);
	if (left != U64_MAX && !adapter->reset.watch.stopped)
		mod_delayed_work(adapter->reset.watch.wq, &adapter->reset.watch.work,
				 left ? nsecs_to_jiffies(left) + 1 : 0);
}

/* Return true if the hardware is to be reset, or to be given up with its adapter. */
static bool watch_timed_out(struct vfence_adapter *adapter)
{
	return vfence_tdr_timed_out(adapter) || READ_ONCE(adapter->lost);
}

static bool watch_sign_given(struct vfence_deadline *deadline)
{
	struct vfence_sign *sign = container_of(deadline, struct vfence_sign, deadline);

	return vgpu_engine_has_answered(sign->adapter->gpu, deadline->node, sign->request);
}

static const struct vfence_deadline_ops watch_sign_ops = {
	.met = watch_sign_given,
};

static void watch_late(struct vfence_adapter *adapter, struct vfence_deadline *deadline)
{
	const struct vfence_recovery_cause cause = { .deadline = deadline };
	bool was_reset = watch_timed_out(adapter) &&
			 !vfence_recovery_engine(adapter, deadline->node, &cause);

	vfence_deadline_complete(adapter, deadline, was_reset);
}

static void watch_asks(struct vfence_adapter *adapter)
{
	struct vfence_deadline *deadline;

	while ((deadline = vfence_deadline_take_late(adapter)))
		watch_late(adapter, deadline);
}

static void watch_engine(struct vfence_adapter *adapter, struct vfence_sign *sign)
{
	const struct vfence_recovery_cause cause = { .deadline = &sign->deadline };

	/* It has had the time between two checks. */
	if (sign->request && vfence_deadline_begin_late(adapter, &sign->deadline)) {
		if (watch_timed_out(adapter))
			vfence_recovery_engine(adapter, sign->deadline.node, &cause);
		vfence_deadline_end(adapter, &sign->deadline);
	}
	sign->request = vgpu_engine_ask(adapter->gpu, sign->deadline.node);
	vfence_deadline_stamp(adapter, &sign->deadline);
}

static void watch_cmp(struct vfence_adapter *adapter)
{
	struct vfence_watch *watch = &adapter->reset.watch;
	bool had = watch->posts;
	u64 done;

	watch->posts = vgpu_cmp_backlog(adapter->gpu, &done);
	/* It may hold posts back on purpose, but not from a flush. */
	if (had && watch->posts && done == watch->done &&
	    !vgpu_cmp_try_flush(adapter->gpu, VFENCE_TIMEOUT_FLUSH_MS) && watch_timed_out(adapter))
		vfence_recovery_adapter(adapter, VFENCE_TIMEOUT_ENGINE);
	watch->done = done;
}

static void watch_interrupt(struct vfence_adapter *adapter)
{
	struct vfence_watch *watch = &adapter->reset.watch;
	bool had = watch->records;
	u32 runs;

	watch->records = vfence_irq_backlog(adapter, &runs);
	if (had && watch->records && runs == watch->runs)
		vfence_vector_raise(&adapter->irq.vector);
	watch->runs = runs;
}

/* Returns true if a check is due. The caller begins the next ones, if there are to be any. */
static bool watch_check_is_due(struct vfence_adapter *adapter)
{
	struct vfence_watch *watch = &adapter->reset.watch;
	bool due;

	spin_lock(&adapter->deadlines.lock);
	due = watch->check_at && watch->check_at <= ktime_get_ns();
	if (due)
		watch->check_at = 0;
	spin_unlock(&adapter->deadlines.lock);
	return due;
}

static void watch_check(struct vfence_adapter *adapter)
{
	unsigned int node;

	/* The CMP first: the reset of an engine waits for it. */
	watch_cmp(adapter);
	watch_interrupt(adapter);
	for (node = 0; node < adapter->config.gpu.nodes; node++)
		watch_engine(adapter, &adapter->reset.watch.sign[node]);
	/*
	 * A fence may outlive the last file, and whoever frees it waits for the CMP. Full barrier:
	 * the lock after ->check_at became 0. Partner: the same lock after a file was opened.
	 */
	if (atomic_read(&adapter->drm.open_count) || adapter->reset.watch.posts ||
	    !xa_empty(&adapter->fences.table))
		vfence_watch_begin(adapter);
}

static void watch_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.watch.work.work);

	if (watch_check_is_due(adapter))
		watch_check(adapter);
	watch_asks(adapter);
	vfence_watch_rearm(adapter);
}

/** vfence_watch_rearm - an engine was asked for something; not in interrupts */
void vfence_watch_rearm(struct vfence_adapter *adapter)
{
	spin_lock(&adapter->deadlines.lock);
	watch_arm_locked(adapter);
	spin_unlock(&adapter->deadlines.lock);
}

/** vfence_watch_begin - there is a client: check the GPU from now on; not in interrupts */
void vfence_watch_begin(struct vfence_adapter *adapter)
{
	spin_lock(&adapter->deadlines.lock);
	if (!adapter->reset.watch.check_at)
		watch_begin_check_locked(adapter);
	watch_arm_locked(adapter);
	spin_unlock(&adapter->deadlines.lock);
}

/** vfence_watch_retime - TdrDelay has changed */
void vfence_watch_retime(struct vfence_adapter *adapter)
{
	spin_lock(&adapter->deadlines.lock);
	if (adapter->reset.watch.check_at)
		watch_begin_check_locked(adapter);
	watch_arm_locked(adapter);
	spin_unlock(&adapter->deadlines.lock);
}

/** vfence_watch_stop - the adapter is unplugged: on return nothing is found late any more */
void vfence_watch_stop(struct vfence_adapter *adapter)
{
	spin_lock(&adapter->deadlines.lock);
	adapter->reset.watch.stopped = true;
	spin_unlock(&adapter->deadlines.lock);
	cancel_delayed_work_sync(&adapter->reset.watch.work);
}

/** vfence_watch_init - prepare an adapter for the checks; cannot fail */
void vfence_watch_init(struct vfence_adapter *adapter)
{
	struct vfence_sign *sign = adapter->reset.watch.sign;
	unsigned int node;

	INIT_DELAYED_WORK(&adapter->reset.watch.work, watch_work);
	for (node = 0; node < VGPU_MAX_NODES; node++) {
		sign[node].adapter = adapter;
		vfence_deadline_setup(&sign[node].deadline, &watch_sign_ops, node);
	}
}
