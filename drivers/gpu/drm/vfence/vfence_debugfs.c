// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: counters, the logging level for tracing tools, and switches for tests. The
 * configuration of a device is given by module parameters, and clients use ioctls.
 */

#include <linux/debugfs.h>
#include <linux/delay.h>

#include <drm/drm_file.h>

#include "core/vfence_adapter.h"
#include "core/vfence_gate.h"
#include "core/vfence_power.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_wait.h"
#include "mem/vfence_slots.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_log_buffer.h"
#include "queue/vfence_queue.h"
#include "reset/vfence_mailbox.h"
#include "reset/vfence_recovery.h"
#include "vfence_counters.h"
#include "vfence_debugfs.h"

static int debugfs_logging_level_get(void *data, u64 *level)
{
	struct vfence_adapter *adapter = data;

	*level = READ_ONCE(adapter->queues.logging_level);
	return 0;
}

static int debugfs_logging_level_set(void *data, u64 level)
{
	if (level > U32_MAX)
		return -EINVAL;
	return vfence_log_buffer_set_level(data, level);
}

DEFINE_DEBUGFS_ATTRIBUTE(debugfs_logging_level, debugfs_logging_level_get,
			 debugfs_logging_level_set, "%llu\n");

static int debugfs_notify_work_get(void *data, u64 *on)
{
	struct vfence_adapter *adapter = data;

	*on = READ_ONCE(vgpu_device_injection(adapter->gpu)->notify_work);
	return 0;
}

/*
 * The hardware may require notifications at any time. Disconnect all doorbells: clients
 * read the new setting when they connect again.
 */
static int debugfs_notify_work_set(void *data, u64 on)
{
	struct vfence_adapter *adapter = data;

	WRITE_ONCE(vgpu_device_injection(adapter->gpu)->notify_work, on);
	vfence_doorbell_force_reconnect_all(adapter);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(debugfs_notify_work, debugfs_notify_work_get, debugfs_notify_work_set,
			 "%llu\n");

/* WDDM-170: reset an engine, whatever it does. */
static int debugfs_reset_engine_set(void *data, u64 node)
{
	static const struct vfence_recovery_cause anyway;
	struct vfence_adapter *adapter = data;

	if (node >= adapter->config.gpu.nodes)
		return -EINVAL;
	return vfence_recovery_engine(adapter, node, &anyway);
}

DEFINE_DEBUGFS_ATTRIBUTE(debugfs_reset_engine, NULL, debugfs_reset_engine_set, "%llu\n");

/* WDDM-170: reset the adapter. */
static int debugfs_reset_adapter_set(void *data, u64 on)
{
	struct vfence_adapter *adapter = data;
	int ret;

	if (on != 1)
		return -EINVAL;
	ret = vfence_power_get(adapter);
	if (ret)
		return ret;
	ret = vfence_recovery_adapter(adapter, VFENCE_TIMEOUT_FORCED);
	vfence_power_put(adapter);
	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(debugfs_reset_adapter, NULL, debugfs_reset_adapter_set, "%llu\n");

/* A thread stays in the driver for so many ms, as a test of TdrDdiDelay needs it. */
static int debugfs_stay(struct vfence_adapter *adapter, u64 ms,
			void (*how)(struct vfence_adapter *adapter, unsigned int ms))
{
	struct vfence_gate_pass pass;
	int ret;

	if (ms > VFENCE_TIMEOUT_MAX_DELAY_MS)
		return -EINVAL;
	ret = vfence_hw_enter(adapter, &pass);
	if (ret)
		return ret;
	how(adapter, ms);
	vfence_hw_exit(adapter, &pass);
	return 0;
}

static void debugfs_sleep(struct vfence_adapter *adapter, unsigned int ms)
{
	msleep_interruptible(ms);
}

static int debugfs_stay_ms_set(void *data, u64 ms)
{
	return debugfs_stay(data, ms, debugfs_sleep);
}

DEFINE_DEBUGFS_ATTRIBUTE(debugfs_stay_ms, NULL, debugfs_stay_ms_set, "%llu\n");

/*
 * From the time when a reset waits for it the thread is runnable, as one is that waits for a
 * processor.
 */
static void debugfs_run(struct vfence_adapter *adapter, unsigned int ms)
{
	unsigned long end;

	while (!vfence_gate_is_closed(adapter) && !signal_pending(current))
		msleep_interruptible(1);
	end = jiffies + msecs_to_jiffies(ms);
	while (time_before(jiffies, end) && !signal_pending(current)) {
		udelay(5);
		/* Let others run, whatever the kernel's model of preemption is. */
		schedule();
	}
}

static int debugfs_run_ms_set(void *data, u64 ms)
{
	return debugfs_stay(data, ms, debugfs_run);
}

DEFINE_DEBUGFS_ATTRIBUTE(debugfs_run_ms, NULL, debugfs_run_ms_set, "%llu\n");

/* A function's driver sends any message to the host. */
static int debugfs_mailbox_set(void *data, u64 message)
{
	struct vfence_adapter *adapter = data;

	if (message > U32_MAX)
		return -EINVAL;
	return vgpu_mailbox_send(adapter->gpu, message) ? 0 : -ENXIO;
}

DEFINE_DEBUGFS_ATTRIBUTE(debugfs_mailbox, NULL, debugfs_mailbox_set, "%llu\n");

static int debugfs_mail_received_show(struct seq_file *m, void *unused)
{
	vfence_mailbox_show(m->private, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_mail_received);

static void debugfs_show_queue(struct vfence_queue *queue, void *arg)
{
	static const char *const states[] = {
		"idle", "ready", "running", "blocked", "faulted", "aborted",
	};
	struct vgpu_queue_status status;
	struct seq_file *m = arg;

	vgpu_queue_query(queue->hw, &status);
	seq_printf(m, "queue=%u client=%llu node=%u context=%u kind=%s state=%s", queue->id,
		   queue->client, queue->node, queue->context->id,
		   queue->ops->user_mode ? "user" : "kernel",
		   status.state < ARRAY_SIZE(states) ? states[status.state] : "?");
	seq_printf(m, " suspended=%u packets=%llu busy_ns=%llu",
		   READ_ONCE(queue->context->suspended), status.packets, status.busy_ns);
	if (status.blocked_fence)
		seq_printf(m, " fence=%u value=%llu", status.blocked_fence, status.blocked_value);
	seq_putc(m, '\n');
}

/* Return the least value that a point of a tree waits for, or @least if that is less. */
static u64 debugfs_least_locked(const struct rb_root_cached *points, u64 least)
{
	struct rb_node *first = rb_first_cached(points);

	return first ? min(least, rb_entry(first, struct vfence_waiter, node)->value) : least;
}

/* List only fences that threads or submissions wait for: the others do not keep anything back. */
static void debugfs_show_fence(struct vfence_fence *fence, void *arg)
{
	const struct vfence_slots *slots = fence->slots;
	u64 value, monitored, waiters, least;
	struct seq_file *m = arg;
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	value = fence->current_value ? vfence_fence_current(fence) : 0;
	monitored = fence->monitored;
	waiters = fence->waiter_count;
	least = debugfs_least_locked(&fence->waiters, U64_MAX);
	least = debugfs_least_locked(&fence->gpu_waiters, least);
	spin_unlock_irqrestore(&fence->lock, flags);

	if (!waiters)
		return;
	seq_printf(m, "fence=%u kind=%s current=%llu monitored=%llu waiters=%llu value=%llu",
		   fence->id, fence->hw ? "native" : "monitored", value, monitored,
		   waiters, least);
	/* Where the values are in the system process of the GPU, if they are mapped there. */
	seq_printf(m, " system_current=%#llx system_monitored=%#llx\n",
		   vfence_slots_va(&slots->current_value.system_va, slots, fence->index),
		   vfence_slots_va(&slots->monitored_value.system_va, slots, fence->index));
}

/* Print what an engine executes: turn 0 is nothing, context 0 is the kernel's paging ring. */
static void debugfs_show_engine(struct seq_file *m, struct vfence_adapter *adapter,
				unsigned int node)
{
	struct vgpu_engine_status status;

	vgpu_reset_query_engine(adapter->gpu, node, &status);
	seq_printf(m, "engine=%u turn=%llu context=%u queue=%u submitted=%llu completed=%llu\n",
		   node, status.turn, status.context, status.queue, status.submitted,
		   status.completed);
}

/*
 * Show the engines, the queues, and what they and threads wait for: a user reads it when work
 * stands still.
 */
static int debugfs_state_show(struct seq_file *m, void *unused)
{
	struct vfence_adapter *adapter = m->private;
	unsigned int node;

	for (node = 0; node < adapter->config.gpu.nodes; node++)
		debugfs_show_engine(m, adapter, node);
	vfence_queue_for_each(adapter, debugfs_show_queue, m);
	vfence_fence_for_each(adapter, debugfs_show_fence, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_state);

static int debugfs_counters_show(struct seq_file *m, void *unused)
{
	vfence_counters_show(m->private, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_counters);

static int debugfs_counter_help_show(struct seq_file *m, void *unused)
{
	vfence_counters_show_help(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_counter_help);

static int debugfs_nodes_show(struct seq_file *m, void *unused)
{
	vfence_counters_show_nodes(m->private, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_nodes);

/** vfence_debugfs_init - create the files of an adapter; DRM removes them with its minor */
void vfence_debugfs_init(struct drm_minor *minor)
{
	struct vfence_adapter *adapter = to_vfence_adapter(minor->dev);
	struct vgpu_injection *injection = vgpu_device_injection(adapter->gpu);

	/* Some kernels call this for every minor. */
	if (minor->type != DRM_MINOR_PRIMARY)
		return;

	debugfs_create_file("logging_level", 0600, minor->debugfs_root, adapter,
			    &debugfs_logging_level);
	debugfs_create_file("notify_work", 0600, minor->debugfs_root, adapter,
			    &debugfs_notify_work);

	debugfs_create_file("counters", 0400, minor->debugfs_root, adapter,
			    &debugfs_counters_fops);
	debugfs_create_file("counter_help", 0400, minor->debugfs_root, adapter,
			    &debugfs_counter_help_fops);
	debugfs_create_file("nodes", 0400, minor->debugfs_root, adapter, &debugfs_nodes_fops);
	debugfs_create_file("state", 0400, minor->debugfs_root, adapter, &debugfs_state_fops);

	debugfs_create_file("reset_engine", 0200, minor->debugfs_root, adapter,
			    &debugfs_reset_engine);
	debugfs_create_file("reset_adapter", 0200, minor->debugfs_root, adapter,
			    &debugfs_reset_adapter);
	debugfs_create_file("stay_ms", 0200, minor->debugfs_root, adapter, &debugfs_stay_ms);
	debugfs_create_file("run_ms", 0200, minor->debugfs_root, adapter, &debugfs_run_ms);

	debugfs_create_file("mailbox", 0200, minor->debugfs_root, adapter, &debugfs_mailbox);
	debugfs_create_file("mail_received", 0400, minor->debugfs_root, adapter,
			    &debugfs_mail_received_fops);

	debugfs_create_bool("hang_copies", 0600, minor->debugfs_root, &injection->hang_copies);
	debugfs_create_bool("hang_paging", 0600, minor->debugfs_root, &injection->hang_paging);
	debugfs_create_bool("finish_before_snapshot", 0600, minor->debugfs_root,
			    &injection->finish_before_snapshot);
	debugfs_create_bool("finish_before_reset", 0600, minor->debugfs_root,
			    &injection->finish_before_reset);
	debugfs_create_bool("wrong_last_aborted", 0600, minor->debugfs_root,
			    &injection->wrong_last_aborted);
	debugfs_create_bool("fail_engine_reset", 0600, minor->debugfs_root,
			    &injection->fail_engine_reset);
	debugfs_create_bool("survive_reset", 0600, minor->debugfs_root, &injection->survive_reset);
	debugfs_create_bool("slow_reset", 0600, minor->debugfs_root, &injection->slow_reset);
	debugfs_create_bool("interrupt_after_reset", 0600, minor->debugfs_root,
			    &injection->interrupt_after_reset);
	debugfs_create_bool("fail_engine_resume", 0600, minor->debugfs_root,
			    &injection->fail_engine_resume);
	debugfs_create_bool("fail_adapter_reset", 0600, minor->debugfs_root,
			    &injection->fail_adapter_reset);
	debugfs_create_bool("fail_restart", 0600, minor->debugfs_root, &injection->fail_restart);
	debugfs_create_bool("fail_monitored_update", 0600, minor->debugfs_root,
			    &injection->fail_monitored_update);
	debugfs_create_bool("fail_current_update", 0600, minor->debugfs_root,
			    &injection->fail_current_update);
	debugfs_create_bool("wrong_fence", 0600, minor->debugfs_root, &injection->wrong_fence);
	debugfs_create_bool("lose_suspend", 0600, minor->debugfs_root, &injection->lose_suspend);
	debugfs_create_bool("wrong_suspend", 0600, minor->debugfs_root, &injection->wrong_suspend);
	debugfs_create_bool("ignore_suspend", 0600, minor->debugfs_root,
			    &injection->ignore_suspend);
	debugfs_create_bool("ignore_limit", 0600, minor->debugfs_root, &injection->ignore_limit);
	debugfs_create_x32("page_fault_flags", 0600, minor->debugfs_root,
			   &injection->page_fault_flags);
	debugfs_create_x32("stop_engines", 0600, minor->debugfs_root, &injection->stop_engines);
	debugfs_create_x32("fail_world", 0600, minor->debugfs_root, &injection->fail_world);
	debugfs_create_bool("lose_busy", 0600, minor->debugfs_root, &injection->lose_busy);
	debugfs_create_bool("hold_edge", 0600, minor->debugfs_root, &injection->hold_edge);
	debugfs_create_bool("stop_cmp", 0600, minor->debugfs_root, &injection->stop_cmp);
	debugfs_create_u32("lose_interrupt", 0600, minor->debugfs_root, &injection->lose_interrupt);
	debugfs_create_bool("wrong_dependents", 0600, minor->debugfs_root,
			    &injection->wrong_dependents);
	debugfs_create_bool("hold_posts", 0600, minor->debugfs_root, &injection->hold_posts);
}
