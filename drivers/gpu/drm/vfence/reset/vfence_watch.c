// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Watchdog
 *
 * Hardware that has stopped reports nothing. While clients have files open, or posts or fences are
 * left, the driver checks the GPU every TdrDelay, against what it saw at the check before::
 *
 *    an engine that executes a queue has not answered a request --> reset of the engine
 *    the CMP has posts and has handled none                     --> reset of the adapter
 *    there are records for the threaded half, which has not run --> the handler runs again
 *
 * An engine whose packet makes no progress still answers: preempt_us, hung_us and TdrDelay limit
 * such packets. An engine whose queue should have been stopped after preempt_us does not.
 */

#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "core/vfence_adapter.h"
#include "irq/vfence_irq.h"
#include "irq/vfence_vector.h"
#include "reset/vfence_recovery.h"
#include "reset/vfence_tdr.h"
#include "reset/vfence_watch.h"

/*
 * Least time between two checks. An engine answers at once, but its thread needs a processor:
 * a short TdrDelay must not turn a busy machine into a hang.
 */
#define WATCH_LEAST_MS		500

static unsigned long watch_delay(struct vfence_adapter *adapter)
{
	return msecs_to_jiffies(max(READ_ONCE(adapter->tdr.delay_ms), WATCH_LEAST_MS));
}

/* Return true if the hardware is to be reset, or to be given up with its adapter. */
static bool watch_timed_out(struct vfence_adapter *adapter)
{
	return vfence_tdr_timed_out(adapter) || READ_ONCE(adapter->lost);
}

static void watch_engine(struct vfence_adapter *adapter, unsigned int node)
{
	const struct vfence_recovery_cause cause = {
		.unanswered = adapter->reset.watch.request[node],
	};

	if (cause.unanswered &&
	    !vgpu_engine_has_answered(adapter->gpu, node, cause.unanswered) &&
	    watch_timed_out(adapter))
		vfence_recovery_engine(adapter, node, &cause);
	adapter->reset.watch.request[node] = vgpu_engine_ask(adapter->gpu, node);
}

static void watch_cmp(struct vfence_adapter *adapter)
{
	struct vfence_watch *watch = &adapter->reset.watch;
	bool had = watch->posts;
	u64 done;

	watch->posts = vgpu_cmp_backlog(adapter->gpu, &done);
	/* It may hold posts back on purpose, but not from a flush. */
	if (had && watch->posts && done == watch->done &&
	    !vgpu_cmp_try_flush(adapter->gpu, WATCH_LEAST_MS) && watch_timed_out(adapter))
		vfence_recovery_adapter(adapter, VFENCE_TIMEOUT_ENGINE);
	watch->done = done;
}

static void watch_interrupt(struct vfence_adapter *adapter)
{
	struct vfence_watch *watch = &adapter->reset.watch;
	bool had = watch->records;
	u32 settled;

	watch->records = vfence_irq_backlog(adapter, &settled);
	if (had && watch->records && settled == watch->settled)
		vfence_vector_raise(&adapter->irq.vector);
	watch->settled = settled;
}

static void watch_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.watch.work.work);
	unsigned int node;

	/* The CMP first: the reset of an engine waits for it. */
	watch_cmp(adapter);
	watch_interrupt(adapter);
	for (node = 0; node < adapter->config.gpu.nodes; node++)
		watch_engine(adapter, node);
	/* A fence may outlive the last file, and whoever frees it waits for the CMP. */
	if (atomic_read(&adapter->drm.open_count) || adapter->reset.watch.posts ||
	    !xa_empty(&adapter->fences.table))
		vfence_watch_begin(adapter);
}

/** vfence_watch_begin - there is a client: check the GPU from now on; any context */
void vfence_watch_begin(struct vfence_adapter *adapter)
{
	queue_delayed_work(adapter->reset.watch.wq, &adapter->reset.watch.work,
			   watch_delay(adapter));
}

/** vfence_watch_retime - TdrDelay has changed */
void vfence_watch_retime(struct vfence_adapter *adapter)
{
	if (delayed_work_pending(&adapter->reset.watch.work))
		mod_delayed_work(adapter->reset.watch.wq, &adapter->reset.watch.work,
				 watch_delay(adapter));
}

/** vfence_watch_stop - the adapter is unplugged, and no client begins the checks any more */
void vfence_watch_stop(struct vfence_adapter *adapter)
{
	cancel_delayed_work_sync(&adapter->reset.watch.work);
}

/** vfence_watch_init - prepare an adapter for the checks; cannot fail */
void vfence_watch_init(struct vfence_adapter *adapter)
{
	INIT_DELAYED_WORK(&adapter->reset.watch.work, watch_work);
}
