// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: counters, the state of the adapter, and the logging level for tracing tools. What tests
 * inject is in vfence_inject.c. The configuration of a device is given by module parameters, and
 * clients use ioctls.
 */

#include <linux/debugfs.h>

#include <drm/drm_file.h>

#include "core/vfence_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_wait.h"
#include "mem/vfence_slots.h"
#include "queue/vfence_log_buffer.h"
#include "queue/vfence_queue.h"
#include "reset/vfence_mailbox.h"
#include "vfence_counters.h"
#include "vfence_debugfs.h"
#include "vfence_inject.h"

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

	/* Some kernels call this for every minor. */
	if (minor->type != DRM_MINOR_PRIMARY)
		return;

	debugfs_create_file("logging_level", 0600, minor->debugfs_root, adapter,
			    &debugfs_logging_level);
	debugfs_create_file("counters", 0400, minor->debugfs_root, adapter,
			    &debugfs_counters_fops);
	debugfs_create_file("counter_help", 0400, minor->debugfs_root, adapter,
			    &debugfs_counter_help_fops);
	debugfs_create_file("nodes", 0400, minor->debugfs_root, adapter, &debugfs_nodes_fops);
	debugfs_create_file("state", 0400, minor->debugfs_root, adapter, &debugfs_state_fops);

	debugfs_create_file("mail_received", 0400, minor->debugfs_root, adapter,
			    &debugfs_mail_received_fops);
	vfence_inject_init(minor);
}
