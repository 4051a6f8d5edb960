// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Recovery
 *
 * An engine that hangs is reset in nine steps, and everything else goes on::
 *
 *    1 preempt    let what runs on the engine leave it
 *    2 detected   it has not left
 *    3 snapshot   at once: hold the engine, read its ids, and ignore its progress records
 *    4 empty      the work has ended by itself? then nothing is reset
 *    5 flush      handle what the engine has reported before
 *    6 prepare    let what runs on dependent engines leave them
 *    7 reset      reset the engine, and those that are not empty
 *    8 check      the id that the reset returns must be one that the engine had, and the engine
 *                 runs nothing and reports nothing
 *    9 recover    read progress again, and let the engines go on
 *
 * If a step fails, or if the reset hits the paging ring, the whole adapter is reset: no client is
 * in the driver, the contents of video memory are lost, every device is in error, and new
 * devices work. If that fails, too, or happens too often, the adapter is lost.
 */

#include <linux/dma-fence.h>
#include <linux/ktime.h>

#include "core/vfence_adapter.h"
#include "core/vfence_device.h"
#include "core/vfence_gate.h"
#include "core/vfence_report.h"
#include "core/vfence_trace.h"
#include "irq/vfence_irq.h"
#include "mem/vfence_mover.h"
#include "mem/vfence_paging.h"
#include "mem/vfence_segment.h"
#include "queue/vfence_context.h"
#include "reset/vfence_dump.h"
#include "reset/vfence_loss.h"
#include "reset/vfence_mailbox.h"
#include "reset/vfence_recovery.h"
#include "reset/vfence_wedge.h"
#include "vfence_race_point.h"

/**
 * struct recovery - the reset of one engine
 */
struct recovery {
	/** @adapter: the adapter, its &vfence_reset.lock held */
	struct vfence_adapter *adapter;
	/** @node: node of the engine that hangs */
	unsigned int node;
	/** @nodes: mask of the nodes that are reset, with @node */
	u32 nodes;
	/** @cause: why */
	const struct vfence_recovery_cause *cause;
	/** @over: the cause is gone, and nothing is reset */
	bool over;
	/** @paging: the reset hits a packet of the paging ring */
	bool paging;
	/** @snapshot: status of the engine when it was held */
	struct vgpu_engine_status snapshot;
	/** @name: the process whose queue was on the engine then; after the reset it may be gone */
	char name[VFENCE_REPORT_NAME];
};

static void recovery_trace(const struct recovery *recovery, enum vfence_recovery_step step,
			   u64 aborted)
{
	trace_vfence_recovery(recovery->adapter, recovery->node, step,
			      recovery->snapshot.submitted, recovery->snapshot.completed, aborted);
}

/*
 * Let what runs on the engine leave it (WDDM-143): an engine that can be preempted is not reset.
 * Who was suspended has been asked before, and a page fault has left nothing on the engine.
 */
static void recovery_preempt(struct recovery *recovery)
{
	struct vgpu *gpu = recovery->adapter->gpu;
	const struct vfence_recovery_cause *cause = recovery->cause;
	struct vgpu_engine_status *status = &recovery->snapshot;

	if (!cause->hung && (!cause->deadline || cause->deadline->ops->suspends))
		return;
	vgpu_reset_hold(gpu, recovery->node, true, status);
	recovery_trace(recovery, VFENCE_RECOVERY_PREEMPT, 0);
	vfence_race_point(PREEMPT_ASKED);
	if (status->turn && !status->stalled)
		vgpu_reset_wait_left(gpu, recovery->node, VFENCE_TIMEOUT_PREEMPT_MS);
}

/*
 * Hold an engine and ignore its progress records, in one section of the lock under which records
 * are handled: what the snapshot says is what the driver knows (WDDM-145).
 */
static void recovery_hold(struct vfence_adapter *adapter, unsigned int node, bool preempt,
			  struct vgpu_engine_status *snapshot)
{
	unsigned long flags;

	spin_lock_irqsave(&adapter->irq.lock, flags);
	vfence_irq_mask_locked(adapter, node);
	vgpu_reset_hold(adapter->gpu, node, preempt, snapshot);
	spin_unlock_irqrestore(&adapter->irq.lock, flags);
}

/* Let the engines go on, and handle what was ignored. Returns 0 or the error of an engine. */
static int recovery_resume(struct recovery *recovery)
{
	struct vfence_adapter *adapter = recovery->adapter;
	unsigned int node;
	int ret = 0;

	vfence_irq_unmask(adapter, recovery->nodes);
	vfence_irq_expect_silence(adapter, 0);
	for (node = 0; !ret && node < adapter->config.gpu.nodes; node++)
		if (recovery->nodes & BIT(node))
			ret = vgpu_reset_resume_engine(adapter->gpu, node);
	return ret;
}

/*
 * Handle everything that is posted now; before a reset that is WDDM-146. Returns 0, or -ETIME if
 * the CMP has stopped: then the whole adapter has to be reset.
 */
static int recovery_flush(struct vfence_adapter *adapter)
{
	if (!vgpu_cmp_try_flush(adapter->gpu, VFENCE_TIMEOUT_FLUSH_MS))
		return -ETIME;
	vfence_irq_flush(adapter);
	return 0;
}

/* Queues on dependent engines may leave them, and only those that do not are reset (WDDM-148). */
static void recovery_prepare(struct recovery *recovery)
{
	struct vfence_adapter *adapter = recovery->adapter;
	struct vgpu_engine_status status;
	u32 leaving = 0;
	unsigned int node;

	recovery->nodes = vgpu_reset_dependent_nodes(adapter->gpu, recovery->node);
	/* A group without the engine itself is none (WDDM-147). */
	if (!(recovery->nodes & BIT(recovery->node))) {
		vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x8);
		return;
	}
	for (node = 0; node < adapter->config.gpu.nodes; node++) {
		if (!(recovery->nodes & ~BIT(recovery->node) & BIT(node)))
			continue;
		recovery_hold(adapter, node, true, &status);
		if (status.turn && !status.stalled)
			leaving |= BIT(node);
	}
	for (node = 0; node < adapter->config.gpu.nodes; node++)
		if (leaving & BIT(node))
			vgpu_reset_wait_left(adapter->gpu, node, VFENCE_TIMEOUT_PREEMPT_MS);
}

/* Does the engine execute packets of the paging ring? Only that ring has no context. */
static bool recovery_is_paging(const struct vgpu_engine_status *status)
{
	return status->turn && !status->context;
}

static int recovery_reset_node(struct recovery *recovery, unsigned int node)
{
	struct vfence_adapter *adapter = recovery->adapter;
	struct vgpu_engine_status status;
	u64 aborted;
	int ret;

	vgpu_reset_query_engine(adapter->gpu, node, &status);
	if (node != recovery->node && !status.turn)
		return 0;

	recovery->paging |= recovery_is_paging(&status);
	ret = vgpu_reset_engine(adapter->gpu, node, READ_ONCE(adapter->tdr.ddi_delay_ms),
				&aborted);
	if (ret)
		return ret;
	vfence_count(adapter, VFENCE_COUNT_ENGINE_RESETS);
	if (node != recovery->node)
		return 0;

	recovery_trace(recovery, VFENCE_RECOVERY_RESET, aborted);
	if (vfence_timeout_aborted_valid(recovery->snapshot.completed, recovery->snapshot.turn,
					 aborted))
		return 0;
	drm_err(&adapter->drm, "reset of node %u aborted %llu, neither %llu nor %llu\n", node,
		aborted, recovery->snapshot.completed, recovery->snapshot.turn);
	vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0xa);
	return 0;
}

/* Reset the engines in the order of their nodes (WDDM-148). */
static int recovery_reset(struct recovery *recovery)
{
	unsigned int node;
	int ret = 0;

	for (node = 0; !ret && node < recovery->adapter->config.gpu.nodes; node++)
		if (recovery->nodes & BIT(node))
			ret = recovery_reset_node(recovery, node);
	return ret;
}

/*
 * Nothing runs on an engine that was reset, and it can be used (WDDM-149): no page fault requests
 * more than the reset of its engine.
 */
static bool recovery_is_usable(struct recovery *recovery, unsigned int node)
{
	struct vfence_adapter *adapter = recovery->adapter;
	struct vgpu_engine_status status;
	u32 requested;

	vgpu_reset_query_engine(adapter->gpu, node, &status);
	requested = vgpu_reset_fault_flags(adapter->gpu, node);
	if (requested & VGPU_FAULT_FATAL_HARDWARE_ERROR)
		vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0xc);
	/* The engine of a dependent node may have to be reset itself, later. */
	requested &= ~VGPU_FAULT_ENGINE_RESET_REQUIRED;
	return status.responsive && !status.turn && !requested;
}

/*
 * Until the engines go on nothing runs on them, and they report nothing (WDDM-175). Returns 0, or
 * an error if the whole adapter has to be reset.
 */
static int recovery_check(struct recovery *recovery)
{
	struct vfence_adapter *adapter = recovery->adapter;
	unsigned int node;
	/* Handle the engines' earlier records before they can report new ones. */
	int ret = recovery_flush(adapter);

	if (ret)
		return ret;
	vfence_irq_expect_silence(adapter, recovery->nodes);
	for (node = 0; node < adapter->config.gpu.nodes; node++)
		if (recovery->nodes & BIT(node) && !recovery_is_usable(recovery, node))
			ret = -EBUSY;
	return ret ? ret : recovery_flush(adapter);
}

static bool recovery_cause_is_gone(const struct recovery *recovery)
{
	const struct vfence_recovery_cause *cause = recovery->cause;

	if (cause->hung)
		return recovery->snapshot.responsive;
	if (cause->page_fault)
		return !vgpu_reset_fault_flags(recovery->adapter->gpu, recovery->node);
	if (!cause->deadline)
		return false;
	/* An acknowledgment may be missing although nothing runs. */
	return !vfence_deadline_is_late(recovery->adapter, cause->deadline) ||
	       (!cause->deadline->ops->suspends && !recovery->snapshot.turn);
}

/* Returns true if there is nothing to reset any more (WDDM-144). */
static bool recovery_is_over(struct recovery *recovery)
{
	recovery->over = recovery_cause_is_gone(recovery);
	recovery_trace(recovery, VFENCE_RECOVERY_EMPTY, 0);
	if (!recovery->over)
		return false;
	vfence_count(recovery->adapter, VFENCE_COUNT_FALSE_ALARMS);
	return true;
}

static enum vfence_timeout_type recovery_type(const struct vfence_recovery_cause *cause)
{
	if (cause->page_fault)
		return VFENCE_TIMEOUT_ENGINE_PAGE_FAULT;
	return cause->hung || cause->deadline ? VFENCE_TIMEOUT_ENGINE : VFENCE_TIMEOUT_FORCED;
}

static const char *recovery_reason(enum vfence_timeout_type type)
{
	switch (type) {
	case VFENCE_TIMEOUT_FORCED:
		return "root has asked for it";
	case VFENCE_TIMEOUT_PROMOTED:
		return "the reset of an engine was not enough";
	case VFENCE_TIMEOUT_PAGE_FAULT:
	case VFENCE_TIMEOUT_ENGINE_PAGE_FAULT:
		return "a page fault needs it";
	default:
		return "it did not end its work in time";
	}
}

static void recovery_find_process(struct recovery *recovery)
{
	struct vfence_context *context = vfence_context_find(recovery->adapter,
							     recovery->snapshot.context);

	vfence_report_name(context ? context->device->pid : NULL, recovery->name);
	if (context)
		vfence_context_put_later(context);
}

/* A page fault has taken its queue off the engine before. */
static void recovery_report_engine(const struct recovery *recovery)
{
	const char *reason = recovery_reason(recovery_type(recovery->cause));

	if (recovery->snapshot.turn)
		vfence_report(recovery->adapter, "engine %u was reset with queue %u of %s: %s",
			      recovery->node, recovery->snapshot.queue, recovery->name, reason);
	else
		vfence_report(recovery->adapter, "engine %u was reset: %s", recovery->node, reason);
}

/* Returns 0, or an error if the whole adapter has to be reset. */
static int recovery_run(struct recovery *recovery)
{
	struct vfence_adapter *adapter = recovery->adapter;
	int ret;

	recovery_preempt(recovery);
	vgpu_reset_query_engine(adapter->gpu, recovery->node, &recovery->snapshot);
	recovery_trace(recovery, VFENCE_RECOVERY_DETECTED, 0);
	vfence_race_point(HANG_FOUND);

	recovery_hold(adapter, recovery->node, false, &recovery->snapshot);
	vfence_race_point(ENGINE_HELD);
	recovery->nodes = BIT(recovery->node);
	recovery->paging = recovery_is_paging(&recovery->snapshot);
	recovery_trace(recovery, VFENCE_RECOVERY_SNAPSHOT, 0);
	if (recovery_is_over(recovery))
		return recovery_resume(recovery);
	recovery_find_process(recovery);

	ret = recovery_flush(adapter);
	if (ret)
		return ret;
	recovery_trace(recovery, VFENCE_RECOVERY_FLUSHED, 0);
	vfence_race_point(RECORDS_FLUSHED);
	vfence_dump_engine(adapter, recovery->node, VFENCE_STOP_ENGINE_TIMEOUT,
			   recovery_type(recovery->cause));
	recovery_prepare(recovery);
	if (READ_ONCE(adapter->lost))
		return -EIO;
	recovery_trace(recovery, VFENCE_RECOVERY_PREPARED, 0);
	vfence_race_point(DEPENDENTS_HELD);

	ret = recovery_reset(recovery);
	if (!ret)
		ret = recovery_check(recovery);
	if (ret)
		return ret;
	if (READ_ONCE(adapter->lost))
		return recovery_resume(recovery);
	recovery_trace(recovery, VFENCE_RECOVERY_CHECKED, 0);
	vfence_race_point(ENGINES_CHECKED);
	/* Packets of that ring that were not reached are executed later, as they are. */
	if (recovery->paging)
		return -EIO;

	ret = recovery_resume(recovery);
	if (!ret) {
		recovery_trace(recovery, VFENCE_RECOVERY_RECOVERED, 0);
		recovery_report_engine(recovery);
	}
	return ret;
}

/* Submissions behind the one that hangs go on after the reset: their dma_fences depend on it. */
static int recovery_run_annotated(struct recovery *recovery)
{
	bool signalling = dma_fence_begin_signalling();
	int ret = recovery_run(recovery);

	dma_fence_end_signalling(signalling);
	return ret;
}

/* Note one more reset of the adapter. Returns false if it was one too many (WDDM-163). */
static bool recovery_may_reset_locked(struct vfence_adapter *adapter)
{
	const struct vfence_timeout_config config = {
		.debug_mode = READ_ONCE(adapter->tdr.debug_mode),
		.limit_count = READ_ONCE(adapter->tdr.limit_count),
		.limit_time_s = READ_ONCE(adapter->tdr.limit_time_s),
	};

	lockdep_assert_held(&adapter->reset.lock);
	if (xchg(&adapter->reset.collateral, false))
		return true;
	vfence_timeout_note(&adapter->reset.hangs, ktime_to_ms(ktime_get()));
	return !vfence_timeout_ends_adapter(&config, &adapter->reset.hangs);
}

/* The adapter is about to be reset: collect what the first engine does that does something. */
static void recovery_dump(struct vfence_adapter *adapter, enum vfence_timeout_type type)
{
	struct vgpu_engine_status status;
	unsigned int node;

	for (node = 0; node < adapter->config.gpu.nodes; node++) {
		vgpu_reset_query_engine(adapter->gpu, node, &status);
		if (!status.turn)
			continue;
		vfence_dump_engine(adapter, node, VFENCE_STOP_TIMEOUT_DETECTED, type);
		return;
	}
}

/*
 * Restart the GPU while this function has the engines exclusively. Request them again if the host
 * has taken them back meanwhile because this thread was slow.
 */
static int recovery_restart_alone(struct vfence_adapter *adapter)
{
	int ret;

	/* The host may answer late, and others wait for dma_fences of what was submitted before. */
	vfence_loss_sweep_later(adapter);
	do {
		ret = vfence_mailbox_get_access(adapter);
		if (ret)
			return ret;
		ret = vgpu_reset_restart(adapter->gpu);
		vfence_mailbox_put_access(adapter);
	} while (ret == -EACCES);
	return ret;
}

/*
 * The GPU has stopped, and no client is in the driver. Forget what was in video memory, make the
 * paging ring anew, and let the GPU go on.
 */
static int recovery_restart(struct vfence_adapter *adapter)
{
	int ret;

	vfence_mover_purge(adapter);
	ret = vfence_paging_restart(adapter);
	return ret ? ret : recovery_restart_alone(adapter);
}

/* @revive: the adapter was lost before, and is so no longer if this succeeds. */
static int recovery_reset_adapter_locked(struct vfence_adapter *adapter, bool revive)
{
	int ret = vgpu_reset_adapter(adapter->gpu);

	lockdep_assert_held(&adapter->reset.lock);
	if (ret)
		return ret;
	/* All devices of before are in error from now on. */
	WRITE_ONCE(adapter->resets, adapter->resets + 1);
	/* A thread may wait in the driver for the paging ring. */
	vfence_paging_fail(adapter);
	ret = -ETIME;
	if (vfence_gate_close(adapter, READ_ONCE(adapter->tdr.ddi_delay_ms)))
		ret = recovery_restart(adapter);
	/* Before clients enter: old devices are in error because of ->resets from now on. */
	if (!ret && revive)
		WRITE_ONCE(adapter->lost, false);
	vfence_gate_open(adapter);
	return ret;
}

/* After a reset of the adapter: handle progress records again, and stop the queues of before. */
static void recovery_end_reset(struct vfence_adapter *adapter, const char *reason)
{
	vfence_irq_unmask(adapter, BIT(adapter->config.gpu.nodes) - 1);
	wake_up_all(&adapter->queues.suspend_wait);
	vfence_loss_sweep_later(adapter);
	vfence_report(adapter, "adapter was reset, and all devices of before are lost: %s", reason);
}

static int recovery_adapter_locked(struct vfence_adapter *adapter, enum vfence_timeout_type type)
{
	const char *reason = READ_ONCE(adapter->reset.collateral) ? "another function needed it" :
								    recovery_reason(type);
	int ret;

	lockdep_assert_held(&adapter->reset.lock);
	if (adapter->reset.stopped)
		return 0;
	if (READ_ONCE(adapter->lost)) {
		/* An engine may be held, which other functions need. */
		vgpu_reset_give_up(adapter->gpu);
		return 0;
	}
	if (adapter->reset.paused)
		return -EBUSY;

	trace_vfence_adapter_reset(adapter, type, 'B', 0);
	/* The reset of an engine may have ended early. */
	vfence_irq_expect_silence(adapter, 0);
	/* The reset of an engine, if there was one, has been the first to collect. */
	recovery_dump(adapter, type);
	vfence_count(adapter, VFENCE_COUNT_ADAPTER_RESETS);
	ret = recovery_may_reset_locked(adapter) ? recovery_reset_adapter_locked(adapter, false) :
						   -EIO;
	if (ret) {
		/* An unplugged adapter needs no recovery and no message. */
		if (ret != -ENODEV)
			vfence_adapter_lose(adapter, VFENCE_STOP_TDR_FAILURE, type);
		vgpu_reset_give_up(adapter->gpu);
	} else {
		recovery_end_reset(adapter, reason);
	}
	trace_vfence_adapter_reset(adapter, type, 'E', ret);
	return 0;
}

/**
 * vfence_recovery_adapter - reset the whole adapter
 * @adapter: the adapter
 * @type: why
 *
 * Process context, outside the gate.
 *
 * Return: 0, also if the adapter is lost afterwards; -EBUSY if the function is paused.
 */
int vfence_recovery_adapter(struct vfence_adapter *adapter, enum vfence_timeout_type type)
{
	int ret;

	mutex_lock(&adapter->reset.lock);
	ret = recovery_adapter_locked(adapter, type);
	mutex_unlock(&adapter->reset.lock);
	return ret;
}

static int recovery_revive_locked(struct vfence_adapter *adapter)
{
	int ret;

	lockdep_assert_held(&adapter->reset.lock);
	if (adapter->reset.stopped)
		return -ENODEV;
	if (!READ_ONCE(adapter->lost))
		return -EALREADY;
	if (adapter->reset.paused)
		return -EBUSY;

	trace_vfence_adapter_reset(adapter, VFENCE_TIMEOUT_FORCED, 'B', 0);
	vfence_irq_expect_silence(adapter, 0);
	vfence_count(adapter, VFENCE_COUNT_ADAPTER_RESETS);
	ret = recovery_reset_adapter_locked(adapter, true);
	if (ret) {
		vgpu_reset_give_up(adapter->gpu);
	} else {
		/* Earlier resets do not count against the limit any more. */
		memset(&adapter->reset.hangs, 0, sizeof(adapter->reset.hangs));
		recovery_end_reset(adapter, recovery_reason(VFENCE_TIMEOUT_FORCED));
	}
	trace_vfence_adapter_reset(adapter, VFENCE_TIMEOUT_FORCED, 'E', ret);
	return ret;
}

/**
 * vfence_recovery_revive - try to recover an adapter that is lost
 * @adapter: the adapter
 *
 * New devices work afterwards; all that was there before is dead. Process context, outside the
 * gate.
 *
 * Return: 0, -EALREADY if the adapter is not lost, -EBUSY if the function is paused, -ENODEV after
 * unplug, or -EIO, -ENOMEM or -ETIME: the adapter is still lost.
 */
int vfence_recovery_revive(struct vfence_adapter *adapter)
{
	int ret;

	/* Let the loss end all old objects first: it must not end new ones. */
	flush_work(&adapter->reset.sweep_work);
	mutex_lock(&adapter->reset.lock);
	ret = recovery_revive_locked(adapter);
	mutex_unlock(&adapter->reset.lock);
	if (!ret)
		vfence_wedge_revived(adapter);
	return ret;
}

/**
 * vfence_recovery_engine - reset an engine
 * @adapter: the adapter
 * @node: node of the engine
 * @cause: why; the engine is held when it is looked at once more
 *
 * The contexts that were on the engine are lost, and the GPU calls
 * vfence_recovery_invalidated() for each of them. All other contexts go on. Process context,
 * outside the gate.
 *
 * Return: 0, -EALREADY if the cause is gone and nothing was reset, or -EBUSY if the function is
 * paused: then the cause is looked for again after the resume.
 */
int vfence_recovery_engine(struct vfence_adapter *adapter, unsigned int node,
			   const struct vfence_recovery_cause *cause)
{
	struct recovery recovery = { .adapter = adapter, .node = node, .cause = cause };
	int ret = 0;

	mutex_lock(&adapter->reset.lock);
	/* A lost adapter gives up its engines, which a fault may have made unusable. */
	if (READ_ONCE(adapter->lost))
		ret = recovery_adapter_locked(adapter, VFENCE_TIMEOUT_PROMOTED);
	else if (adapter->reset.paused)
		ret = -EBUSY;
	else if (!adapter->reset.stopped && recovery_run_annotated(&recovery))
		ret = recovery_adapter_locked(adapter, VFENCE_TIMEOUT_PROMOTED);
	mutex_unlock(&adapter->reset.lock);
	return recovery.over ? -EALREADY : ret;
}

/**
 * vfence_recovery_pause - begin no reset until vfence_recovery_resume()
 * @adapter: a function that is about to be paused
 *
 * A reset needs the engines, which a paused function does not get. What asks for one is refused,
 * or asks again after the resume. Waits for a reset that is going on. Process context.
 *
 * Return: 0, -ENODEV after unplug, or -ERESTARTSYS.
 */
int vfence_recovery_pause(struct vfence_adapter *adapter)
{
	struct vfence_reset *reset = &adapter->reset;
	int ret;

	if (mutex_lock_interruptible(&reset->lock))
		return -ERESTARTSYS;
	ret = READ_ONCE(reset->mailbox.stopped) ? -ENODEV : 0;
	reset->paused = !ret;
	mutex_unlock(&reset->lock);
	return ret;
}

/**
 * vfence_recovery_resume - do what was put off
 * @adapter: a function that may have the engines again, or that is unplugged: a client that is in
 *	the driver may wait for a reset, and the unplug for the client
 */
void vfence_recovery_resume(struct vfence_adapter *adapter)
{
	struct vfence_reset *reset = &adapter->reset;

	mutex_lock(&reset->lock);
	if (reset->flr_due)
		queue_work(reset->wq, &reset->flr_work);
	if (reset->paused)
		queue_work(reset->wq, &reset->engine_work);
	reset->flr_due = false;
	reset->paused = false;
	mutex_unlock(&reset->lock);
}

/* The host has reset this function, which has kept the engines from the others. */
static void recovery_flr_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.flr_work);

	mutex_lock(&adapter->reset.lock);
	adapter->reset.flr_due = recovery_adapter_locked(adapter, VFENCE_TIMEOUT_ENGINE) == -EBUSY;
	mutex_unlock(&adapter->reset.lock);
}

/* The host is about to reset this function. Dump its engines before the reset stops them. */
static void recovery_notice_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.notice_work);

	mutex_lock(&adapter->reset.lock);
	if (!adapter->reset.stopped && !READ_ONCE(adapter->lost))
		recovery_dump(adapter, VFENCE_TIMEOUT_ENGINE);
	mutex_unlock(&adapter->reset.lock);
	vgpu_mailbox_send(adapter->gpu, VGPU_MAIL_READY_TO_RESET);
}

/**
 * vfence_recovery_page_fault - do what page faults on an engine request (WDDM-177)
 * @adapter: the adapter
 * @node: node of the engine, which picks nothing meanwhile
 *
 * Process context, outside the gate.
 */
void vfence_recovery_page_fault(struct vfence_adapter *adapter, unsigned int node)
{
	static const struct vfence_recovery_cause fault = { .page_fault = true };
	u32 flags = vgpu_reset_fault_flags(adapter->gpu, node);

	vfence_loss_note_faults(adapter);
	if (flags & VGPU_FAULT_FATAL_HARDWARE_ERROR)
		vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0xc);
	if (flags & (VGPU_FAULT_FATAL_HARDWARE_ERROR | VGPU_FAULT_ADAPTER_RESET_REQUIRED))
		vfence_recovery_adapter(adapter, VFENCE_TIMEOUT_PAGE_FAULT);
	else
		vfence_recovery_engine(adapter, node, &fault);
}

/**
 * vfence_recovery_invalidated - DxgkCbInvalidateHwContext: a reset has lost a context
 * @host: the adapter
 * @context_id: global handle of the context
 * @collateral: the context did not cause the reset
 */
void vfence_recovery_invalidated(void *host, u32 context_id, bool collateral)
{
	struct vfence_adapter *adapter = host;
	struct vfence_context *context = vfence_context_find(adapter, context_id);

	/* The owner may have destroyed the context meanwhile. */
	if (!context)
		return;
	/* The engine is held until this function returns. */
	vfence_loss_reset_device_later(context->device, !collateral);
	vfence_context_put_later(context);
}

/** vfence_recovery_init - prepare an adapter for resets; cannot fail */
void vfence_recovery_init(struct vfence_adapter *adapter)
{
	mutex_init(&adapter->reset.lock);
	INIT_WORK(&adapter->reset.notice_work, recovery_notice_work);
	INIT_WORK(&adapter->reset.flr_work, recovery_flr_work);
}

/** vfence_recovery_stop - the adapter is unplugged: on return nothing is reset any more */
void vfence_recovery_stop(struct vfence_adapter *adapter)
{
	mutex_lock(&adapter->reset.lock);
	adapter->reset.stopped = true;
	/* An engine that has stopped must let go of its queue. */
	vgpu_reset_give_up(adapter->gpu);
	mutex_unlock(&adapter->reset.lock);
}

/** vfence_recovery_fini - undo vfence_recovery_init() */
void vfence_recovery_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->reset.lock);
}
