// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets of an engine and of all that a function has on the chip (WDDM-143 to WDDM-161,
 * WDDM-174 to WDDM-177).
 *
 * ::
 *
 *            no progress for hung_us            hold, reset              resume
 *    ACTIVE --------------------------> HUNG ----------------> held ----------> ACTIVE
 *       ^                                 |
 *       +-- abort, or a suspension -------+
 *
 *    ACTIVE -- page fault with a request --> FAULTED (held) -- reset, resume --> ACTIVE
 *
 * A held engine finishes what it executes and picks nothing else. An engine can be held in any
 * state.
 */

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "vgpu_types.h"

/* Contents of video memory after a reset of the function. */
#define RESET_LOST_BYTE		0xd7
/* Added by an injection to the id that a reset returns. */
#define RESET_WRONG_ID		1000
/* Time for a packet to end that an injection lets go. */
#define RESET_FINISH_MS		1000

/*
 * The running queue makes no progress: report it once. The engine stays HUNG until the queue
 * has left it.
 */
void vgpu_reset_hung(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	struct vgpu_cmp_post post = {
		.type = VGPU_IRQ_GPU_ENGINE_STATE_CHANGE,
		.node = engine->node,
	};
	unsigned long flags;

	if (!engine->chip->hung_us || READ_ONCE(engine->hung))
		return;

	spin_lock_irqsave(&engine->chip->sched, flags);
	WRITE_ONCE(engine->hung, true);
	vgpu_cmp_post(queue->gpu, &post);
	spin_unlock_irqrestore(&engine->chip->sched, flags);
}

/*
 * A queue has left its engine because of a fault. A page fault may make the engine unusable: it
 * picks nothing until the request is met (WDDM-177).
 */
void vgpu_reset_faulted_locked(struct vgpu_engine *engine, struct vgpu_queue *queue)
{
	struct vgpu_cmp_post post = {
		.type = VGPU_IRQ_GPU_ENGINE_STATE_CHANGE,
		.node = engine->node,
	};
	u32 flags = vgpu_injected(&queue->gpu->injections, VGPU_INJECT_PAGE_FAULT_FLAGS);
	struct vgpu_node *node = queue->node;

	lockdep_assert_held(&engine->chip->sched);
	/* A GPU that is being reset, or that was given up, needs no other reset. */
	if (!flags || queue->gpu->resetting)
		return;
	if (queue->fault != DRM_VFENCE_FAULT_UNMAPPED && queue->fault != DRM_VFENCE_FAULT_ACCESS)
		return;
	if (!node->fault_flags) {
		engine->held++;
		node->holds++;
	}
	node->fault_flags |= flags;
	queue->requested = true;
	vgpu_cmp_post(queue->gpu, &post);
}

u32 vgpu_reset_fault_flags(struct vgpu *gpu, unsigned int node)
{
	unsigned long flags;
	u32 requested;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	requested = gpu->node[node].fault_flags;
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return requested;
}

/*
 * Return true if the queue caused the reset: it made no progress, also if it was found so only
 * because it was asked to leave, or its engine has stopped under it, or the GPU should have stopped
 * it, or it did not leave for a world switch, or it ignored a suspension on the engine that is
 * reset for that. Otherwise the reset hits it as collateral.
 */
static bool reset_is_cause(const struct vgpu_queue *queue)
{
	const struct vgpu_node *node = queue->node;

	if (queue->context && queue->context->os_handle == node->overdue)
		return true;
	if (queue->engine->hung || READ_ONCE(queue->engine->stopped) ||
	    READ_ONCE(queue->engine->overstayed) ||
	    (node->preempt && READ_ONCE(queue->exec.stalled)))
		return true;
	return node->holds && !node->preempt && vgpu_queue_is_suspended(queue);
}

static bool reset_runs_locked(const struct vgpu_engine *engine, const struct vgpu *gpu)
{
	lockdep_assert_held(&engine->chip->sched);
	return engine->running && engine->running->gpu == gpu;
}

/* Return true if a queue of the function runs on the engine. */
static bool reset_engine_runs(struct vgpu_engine *engine, struct vgpu *gpu)
{
	unsigned long flags;
	bool runs;

	spin_lock_irqsave(&engine->chip->sched, flags);
	runs = reset_runs_locked(engine, gpu);
	spin_unlock_irqrestore(&engine->chip->sched, flags);
	return runs;
}

static void reset_describe_locked(struct vgpu_queue *queue, struct vgpu_engine_status *status)
{
	lockdep_assert_held(&queue->gpu->chip->sched);
	status->turn = queue->turn;
	status->queue = queue->os_handle;
	status->context = queue->context ? queue->context->os_handle : 0;
	status->progress = READ_ONCE(queue->packets);
	/*
	 * A data race: the engine may execute it, and what is read is a hint. Time that is taken
	 * back may have been that of the packet before.
	 */
	status->used_ns = data_race(queue->exec.in_flight ?
				    max_t(s64, queue->busy_ns - queue->exec.begun_ns, 0) : 0);
}

static void reset_query_locked(struct vgpu *gpu, unsigned int ordinal,
			       struct vgpu_engine_status *status)
{
	struct vgpu_engine *engine = &gpu->chip->engine[ordinal];
	struct vgpu_node *node = &gpu->node[ordinal];
	struct vgpu_queue *queue = engine->running;

	lockdep_assert_held(&gpu->chip->sched);
	*status = (struct vgpu_engine_status){
		.responsive = !(engine->hung && reset_runs_locked(engine, gpu)),
		.submitted = node->submitted,
		.completed = node->completed,
	};
	if (!reset_runs_locked(engine, gpu))
		return;
	status->stalled = READ_ONCE(queue->exec.stalled);
	reset_describe_locked(queue, status);
}

/* Copy the ring around the packet in flight: one half before it, the other one behind it. */
static void reset_collect_ring_locked(struct vgpu_queue *queue, struct vgpu_debug_info *info)
{
	u64 before = min_t(u64, info->read_ptr, VGPU_DEBUG_WORDS / 2 * sizeof(u64));
	unsigned int i;

	lockdep_assert_held(&queue->gpu->chip->sched);
	info->from = info->read_ptr - before;
	info->count = min_t(u64, VGPU_DEBUG_WORDS, queue->ring_size / sizeof(u64));
	for (i = 0; i < info->count; i++) {
		u64 at = (info->from + i * sizeof(u64)) & (queue->ring_size - 1);

		info->ring[i] = READ_ONCE(*(u64 *)(queue->ring + at));
	}
}

static void reset_collect_logs(struct vgpu_queue *queue, struct vgpu_debug_info *info)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(info->log); i++)
		info->logged[i] = vgpu_log_collect(&queue->log[i], info->log[i],
						   VGPU_DEBUG_ENTRIES);
}

static void reset_collect_locked(struct vgpu_queue *queue, struct vgpu_debug_info *info)
{
	lockdep_assert_held(&queue->gpu->chip->sched);
	/* A data race: the engine may execute it, and what is read is a hint. */
	info->opcode = data_race(queue->exec.in_flight ? queue->exec.packet.header.opcode : 0);
	info->busy_ns = READ_ONCE(queue->busy_ns);
	info->read_ptr = READ_ONCE(queue->read_ptr);
	/* The client may have destroyed its doorbell, and the ring with it. */
	if (!queue->ring)
		return;
	info->write_ptr = READ_ONCE(queue->control->write_ptr);
	reset_collect_ring_locked(queue, info);
	reset_collect_logs(queue, info);
}

void vgpu_reset_collect_debug(struct vgpu *gpu, unsigned int node, struct vgpu_debug_info *info)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];
	unsigned long flags;

	memset(info, 0, sizeof(*info));
	spin_lock_irqsave(&gpu->chip->sched, flags);
	reset_query_locked(gpu, node, &info->status);
	if (reset_runs_locked(engine, gpu))
		reset_collect_locked(engine->running, info);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

void vgpu_reset_collect_queue(struct vgpu_queue *queue, struct vgpu_debug_info *info)
{
	struct vgpu *gpu = queue->gpu;
	unsigned long flags;

	memset(info, 0, sizeof(*info));
	spin_lock_irqsave(&gpu->chip->sched, flags);
	reset_query_locked(gpu, queue->engine->node, &info->status);
	reset_describe_locked(queue, &info->status);
	reset_collect_locked(queue, info);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

/*
 * Wait until the function runs nothing on the engine. Time in which the engine's thread waits for a
 * processor is not part of @timeout. Return false if a queue has not left in time.
 */
static bool reset_wait_left(struct vgpu *gpu, unsigned int node, unsigned long timeout)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];
	bool left;
	u64 waited;

	do {
		waited = vgpu_thread_waited(&engine->thread);
		left = wait_event_timeout(gpu->chip->queue_left, !reset_engine_runs(engine, gpu),
					  timeout);
		timeout = vgpu_thread_waited_more(vgpu_thread_waited(&engine->thread), waited);
	} while (!left && timeout);
	return left;
}

/* An injection lets the packet end that makes no progress. On return its queue has left. */
static void reset_finish(struct vgpu *gpu, unsigned int node, enum vgpu_injection when)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];

	if (!vgpu_injection_take(&gpu->injections, when))
		return;
	vgpu_injection_set(&gpu->injections, VGPU_INJECT_END_HANGS, 1);
	wake_up_all(&engine->wait);
	reset_wait_left(gpu, node, msecs_to_jiffies(RESET_FINISH_MS));
	vgpu_injection_set(&gpu->injections, VGPU_INJECT_END_HANGS, 0);
}

/* An injection lets an engine report something between its reset and its resume. */
static void reset_post_late(struct vgpu *gpu, unsigned int node)
{
	struct vgpu_cmp_post post = { .type = VGPU_IRQ_GPU_ENGINE_STATE_CHANGE, .node = node };
	unsigned long flags;

	if (!vgpu_injected(&gpu->injections, VGPU_INJECT_INTERRUPT_AFTER_RESET))
		return;
	spin_lock_irqsave(&gpu->chip->sched, flags);
	if (gpu->node[node].was_reset &&
	    vgpu_injection_take(&gpu->injections, VGPU_INJECT_INTERRUPT_AFTER_RESET))
		vgpu_cmp_post(gpu, &post);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

void vgpu_reset_query_engine(struct vgpu *gpu, unsigned int node,
			     struct vgpu_engine_status *status)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	reset_query_locked(gpu, node, status);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	reset_finish(gpu, node, VGPU_INJECT_FINISH_BEFORE_SNAPSHOT);
	reset_post_late(gpu, node);
}

u32 vgpu_reset_dependent_nodes(struct vgpu *gpu, unsigned int node)
{
	u32 mask = gpu->chip->dependent_nodes;

	if (vgpu_injected(&gpu->injections, VGPU_INJECT_WRONG_DEPENDENTS))
		return 0;
	return mask & BIT(node) ? mask : BIT(node);
}

void vgpu_reset_hold(struct vgpu *gpu, unsigned int ordinal, bool preempt,
		     struct vgpu_engine_status *status)
{
	struct vgpu_engine *engine = &gpu->chip->engine[ordinal];
	struct vgpu_node *node = &gpu->node[ordinal];
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	reset_query_locked(gpu, ordinal, status);
	engine->held++;
	node->holds++;
	WRITE_ONCE(node->preempt, preempt);
	node->held_cause = reset_runs_locked(engine, gpu) && reset_is_cause(engine->running) ?
			   status->context : 0;
	wake_up_all(&engine->wait);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

bool vgpu_reset_wait_left(struct vgpu *gpu, unsigned int node, unsigned int ms)
{
	return reset_wait_left(gpu, node, msecs_to_jiffies(ms));
}

/**
 * struct reset_hit - what a reset has taken off an engine
 */
struct reset_hit {
	/** @turn: Id of the turn, or 0. */
	u64 turn;
	/** @context: OS-side handle of the context, or 0. */
	u32 context;
	/** @collateral: The context did not cause the reset. */
	bool collateral;
};

static void reset_abort_locked(struct vgpu_engine *engine, struct reset_hit *hit)
{
	struct vgpu_queue *queue = engine->running;

	lockdep_assert_held(&engine->chip->sched);
	WRITE_ONCE(queue->abort, true);
	wake_up_all(&engine->wait);
	hit->turn = queue->turn;
	if (!queue->context)
		return;
	hit->context = queue->context->os_handle;
	/* Who was the cause when the engine was held still is: a client may resume it meanwhile. */
	hit->collateral = hit->context != queue->node->held_cause && !reset_is_cause(queue);
	queue->guilty = !hit->collateral;
}

/*
 * Abort what the function runs on the engine, and wait until it has left. Return false if it has
 * not left when the time is over.
 */
static bool reset_abort(struct vgpu *gpu, unsigned int node, long timeout, struct reset_hit *hit)
{
	struct vgpu_engine *engine = &gpu->chip->engine[node];
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	/* The reset ends the stop that an injection has begun. */
	vgpu_injection_set(&gpu->injections, VGPU_INJECT_STOP_ENGINES,
			   vgpu_injected(&gpu->injections, VGPU_INJECT_STOP_ENGINES) & ~BIT(node));
	/* A queue of another function stays: that function resets its own queues. */
	if (reset_runs_locked(engine, gpu))
		reset_abort_locked(engine, hit);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return reset_wait_left(gpu, node, timeout);
}

static void reset_report(struct vgpu *gpu, const struct reset_hit *hit)
{
	if (hit->context)
		gpu->ops->invalidate_hw_context(gpu->host, hit->context, hit->collateral);
}

/* What page faults have requested is done, or part of it. The engine goes on after all of it. */
static void reset_meet_request_locked(struct vgpu *gpu, unsigned int ordinal, u32 flags)
{
	struct vgpu_node *node = &gpu->node[ordinal];

	lockdep_assert_held(&gpu->chip->sched);
	if (!node->fault_flags)
		return;
	node->fault_flags &= ~flags;
	if (node->fault_flags)
		return;
	node->holds--;
	gpu->chip->engine[ordinal].held--;
	vgpu_time_open_locked(&gpu->chip->engine[ordinal]);
}

/*
 * Return the id that the reset has aborted. If the queue that hung has left since the engine was
 * held, by itself or because its client has aborted it, that is the last one that completed, and
 * its context counts as the cause (WDDM-151).
 */
static u64 reset_last_aborted(struct vgpu *gpu, unsigned int ordinal, struct reset_hit *hit)
{
	struct vgpu_node *node = &gpu->node[ordinal];
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	if (!hit->turn) {
		hit->context = node->held_cause;
		hit->turn = node->completed;
	}
	node->completed = hit->turn;
	node->was_reset = true;
	/* The engine is still held by the caller. */
	reset_meet_request_locked(gpu, ordinal, VGPU_FAULT_ENGINE_RESET_REQUIRED);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return hit->turn;
}

/* An injection: the engine says that it was reset, and nothing has happened. */
static u64 reset_nothing(struct vgpu *gpu, unsigned int ordinal)
{
	unsigned long flags;
	u64 completed;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	completed = gpu->node[ordinal].completed;
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return completed;
}

int vgpu_reset_engine(struct vgpu *gpu, unsigned int node, unsigned int ms, u64 *last_aborted)
{
	struct reset_hit hit = {};

	if (vgpu_injected(&gpu->injections, VGPU_INJECT_FAIL_ENGINE_RESET))
		return -EIO;
	reset_finish(gpu, node, VGPU_INJECT_FINISH_BEFORE_RESET);

	if (vgpu_injected(&gpu->injections, VGPU_INJECT_SURVIVE_RESET)) {
		*last_aborted = reset_nothing(gpu, node);
		return 0;
	}
	if (!reset_abort(gpu, node, msecs_to_jiffies(ms), &hit))
		return -ETIME;
	vfence_race_point(TURN_ABORTED);
	*last_aborted = reset_last_aborted(gpu, node, &hit);
	if (vgpu_injection_take(&gpu->injections, VGPU_INJECT_WRONG_LAST_ABORTED))
		*last_aborted += RESET_WRONG_ID;
	reset_report(gpu, &hit);
	return 0;
}

static void reset_release_locked(struct vgpu *gpu, unsigned int ordinal)
{
	struct vgpu_engine *engine = &gpu->chip->engine[ordinal];
	struct vgpu_node *node = &gpu->node[ordinal];

	lockdep_assert_held(&gpu->chip->sched);
	/* The engine stays held if a page fault has made it unusable. */
	engine->held -= node->holds - !!node->fault_flags;
	node->holds = !!node->fault_flags;
	node->was_reset = false;
	WRITE_ONCE(node->preempt, false);
	vgpu_time_open_locked(engine);
}

int vgpu_reset_resume_engine(struct vgpu *gpu, unsigned int node)
{
	unsigned long flags;

	if (vgpu_injected(&gpu->injections, VGPU_INJECT_FAIL_ENGINE_RESUME))
		return -EIO;
	spin_lock_irqsave(&gpu->chip->sched, flags);
	reset_release_locked(gpu, node);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return 0;
}

/* Clear the injections that stop hardware, so that queues can leave the engines. */
static void reset_revive(struct vgpu *gpu)
{
	vgpu_injection_set(&gpu->injections, VGPU_INJECT_STOP_ENGINES, 0);
	vgpu_injection_set(&gpu->injections, VGPU_INJECT_STOP_CMP, 0);
	vgpu_injection_set(&gpu->injections, VGPU_INJECT_SLOW_RESET, 0);
	vgpu_injection_set(&gpu->injections, VGPU_INJECT_FAIL_WORLD,
			   vgpu_injected(&gpu->injections, VGPU_INJECT_FAIL_WORLD) >> 16);
	wake_up_all(&gpu->cmp.wait);
}

/* If the queue that kept a world switch has left since, its context counts as the cause. */
static void reset_end_overdue(struct vgpu *gpu, unsigned int ordinal, struct reset_hit *hit)
{
	struct vgpu_node *node = &gpu->node[ordinal];
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	if (!hit->context)
		hit->context = node->overdue;
	node->overdue = 0;
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

/*
 * @by_host: the driver of the function does not know of the reset yet. It fails all devices when it
 * does; those that the GPU names here keep their own verdict then.
 */
static void reset_function_locked(struct vgpu *gpu, bool by_host)
{
	unsigned long flags;
	unsigned int i;

	lockdep_assert_held(&gpu->reset_lock);
	spin_lock_irqsave(&gpu->chip->sched, flags);
	WRITE_ONCE(gpu->resetting, true);
	gpu->reset_by_host = by_host;
	/* Queues of before are dead: an engine that picks one drops it. */
	gpu->generation++;
	for (i = 0; i < VGPU_VF_SWITCH_GROUPS; i++)
		gpu->save[i].saved = false;
	/* A function that is being reset has no work: the others need not wait for its slices. */
	vgpu_vf_switch_kick_locked(gpu);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);

	reset_revive(gpu);
	for (i = 0; i < gpu->config.nodes; i++) {
		struct reset_hit hit = {};

		reset_abort(gpu, i, MAX_SCHEDULE_TIMEOUT, &hit);
		reset_end_overdue(gpu, i, &hit);
		reset_report(gpu, &hit);
	}
	for (i = 0; i < gpu->config.nodes; i++) {
		spin_lock_irqsave(&gpu->chip->sched, flags);
		gpu->node[i].completed = gpu->node[i].submitted;
		reset_meet_request_locked(gpu, i, U32_MAX);
		/* Engines pick nothing of this function anyway: let them serve others. */
		reset_release_locked(gpu, i);
		spin_unlock_irqrestore(&gpu->chip->sched, flags);
	}

	/* The CMP compares with values in video memory: it handles all posts before they go. */
	vgpu_cmp_flush(gpu);
	memset(gpu->local, RESET_LOST_BYTE, (size_t)gpu->config.local_pages * PAGE_SIZE);
}

static void reset_function(struct vgpu *gpu, bool by_host)
{
	mutex_lock(&gpu->reset_lock);
	reset_function_locked(gpu, by_host);
	mutex_unlock(&gpu->reset_lock);
}

int vgpu_reset_adapter(struct vgpu *gpu)
{
	if (vgpu_injected(&gpu->injections, VGPU_INJECT_FAIL_ADAPTER_RESET))
		return -EIO;
	reset_function(gpu, false);
	return 0;
}

int vgpu_reset_flr(struct vgpu *gpu)
{
	if (vgpu_injected(&gpu->injections, VGPU_INJECT_FAIL_ADAPTER_RESET))
		return -EIO;
	reset_function(gpu, true);
	return 0;
}

void vgpu_reset_with_chip(struct vgpu *gpu)
{
	vgpu_injection_set(&gpu->injections, VGPU_INJECT_FAIL_ADAPTER_RESET, 0);
	reset_function(gpu, true);
}

/*
 * Release all engines. If the GPU is given up, or if the host has reset the function since its
 * driver did, they pick queues of other functions alone.
 */
static void reset_release_all_locked(struct vgpu *gpu, bool given_up)
{
	unsigned int i;

	lockdep_assert_held(&gpu->chip->sched);
	WRITE_ONCE(gpu->resetting, given_up || gpu->reset_by_host);
	for (i = 0; i < gpu->config.nodes; i++)
		reset_release_locked(gpu, i);
	vgpu_vf_switch_kick_locked(gpu);
}

int vgpu_reset_restart(struct vgpu *gpu)
{
	unsigned long flags;
	bool may;

	if (vgpu_injected(&gpu->injections, VGPU_INJECT_FAIL_RESTART))
		return -EIO;
	spin_lock_irqsave(&gpu->chip->sched, flags);
	may = vgpu_vf_switch_owns_all_locked(gpu);
	if (may)
		reset_release_all_locked(gpu, false);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return may ? 0 : -EACCES;
}

void vgpu_reset_give_up(struct vgpu *gpu)
{
	unsigned long flags;

	reset_revive(gpu);
	spin_lock_irqsave(&gpu->chip->sched, flags);
	reset_release_all_locked(gpu, true);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	vgpu_reset_forget(gpu);
}

/* Other functions may need the engines that page faults of this one have made unusable. */
void vgpu_reset_forget(struct vgpu *gpu)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	for (i = 0; i < gpu->config.nodes; i++)
		reset_meet_request_locked(gpu, i, U32_MAX);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}
