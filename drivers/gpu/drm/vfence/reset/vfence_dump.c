// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps: what an engine did when it was found to hang, as a device core dump
 * (/sys/class/devcoredump). The kernel keeps the first one until it is read and released, or for
 * five minutes, and drops those that come meanwhile.
 */

#include <linux/devcoredump.h>
#include <linux/pid.h>
#include <linux/vmalloc.h>

#include <drm/drm_print.h>

#include "core/vfence_adapter.h"
#include "core/vfence_device.h"
#include "core/vfence_process.h"
#include "queue/vfence_context.h"
#include "queue/vfence_queue.h"
#include "reset/vfence_dump.h"

/* Size of a dump in bytes; 64 words of a ring and the ends of two logs have about 3,500. */
#define DUMP_SIZE	SZ_8K

static void dump_ring(struct drm_printer *p, const struct vgpu_debug_info *info)
{
	unsigned int i;

	drm_printf(p, "ring:\n");
	for (i = 0; i < info->count; i++) {
		u64 at = info->from + i * sizeof(u64);

		drm_printf(p, "%c 0x%llx: 0x%016llx\n", at == info->read_ptr ? '>' :
			   at == info->write_ptr ? '<' : ' ', at, info->ring[i]);
	}
}

static void dump_log(struct drm_printer *p, const struct drm_vfence_log_entry *entry,
		     unsigned int count, const char *name)
{
	unsigned int i;

	if (count)
		drm_printf(p, "%s log:\n", name);
	for (i = 0; i < count; i++)
		drm_printf(p, "fence %u, operation %u, value %llu, time %llu\n", entry[i].fence,
			   entry[i].operation, entry[i].fence_value,
			   entry[i].end_gpu_timestamp);
}

static void dump_print(struct drm_printer *p, struct vfence_adapter *adapter,
		       const struct vfence_dump *dump)
{
	const struct vgpu_debug_info *info = &dump->info;

	drm_printf(p, "**** vfence device core dump ****\n");
	drm_printf(p, "adapter: %s\nreason: 0x%x\ntype: %u\n", adapter->name, dump->reason,
		   dump->type);
	drm_printf(p, "node: %u\nclass: %u\nresponsive: %d\n", dump->node,
		   adapter->config.gpu.node_class[dump->node], info->status.responsive);
	drm_printf(p, "submitted: %llu\ncompleted: %llu\nturn: %llu\n", info->status.submitted,
		   info->status.completed, info->status.turn);
	if (!info->status.turn)
		return;
	drm_printf(p, "context: %u\nqueue: %u\n", info->status.context, info->status.queue);
	/* The client chooses its name, and a line of it must not look like one of the dump. */
	drm_printf(p, "process: %d\ncommand: %s\n", dump->pid, dump->name);
	drm_printf(p, "opcode: %u\nused_ns: %llu\nbusy_ns: %llu\npackets: %llu\n", info->opcode,
		   info->status.used_ns, info->busy_ns, info->status.progress);
	/* Packets of the kernel's own ring have its addresses. */
	if (!info->status.context)
		return;
	drm_printf(p, "read_ptr: 0x%llx\nwrite_ptr: 0x%llx\n", info->read_ptr, info->write_ptr);
	dump_ring(p, info);
	dump_log(p, info->log[0], info->logged[0], "wait");
	dump_log(p, info->log[1], info->logged[1], "signal");
}

static void dump_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.dump.work);
	char *text = vzalloc(DUMP_SIZE);
	struct drm_print_iterator iterator = { .data = text, .remain = DUMP_SIZE };
	struct drm_printer p = drm_coredump_printer(&iterator);

	if (text) {
		dump_print(&p, adapter, &adapter->reset.dump);
		/* The kernel frees the text. */
		dev_coredumpv(adapter->drm.dev, text, DUMP_SIZE - iterator.remain, GFP_KERNEL);
	}
	/* Release: it is read. Partner: dump_begin(). */
	atomic_set_release(&adapter->reset.dump.pending, 0);
}

/*
 * Begin a dump. Returns NULL if the work has not made the dump of an earlier hang yet.
 *
 * Only one thread begins one at a time: acquire, so that the work does not use it any more.
 * Partner: dump_work().
 */
static struct vfence_dump *dump_begin(struct vfence_adapter *adapter, unsigned int node,
				      unsigned int reason, enum vfence_timeout_type type)
{
	struct vfence_dump *dump = &adapter->reset.dump;

	if (atomic_cmpxchg_acquire(&dump->pending, 0, 1))
		return NULL;
	dump->node = node;
	dump->reason = reason;
	dump->type = type;
	return dump;
}

static void dump_find_process(struct vfence_adapter *adapter, struct vfence_dump *dump)
{
	struct vfence_context *context = vfence_context_find(adapter, dump->info.status.context);

	dump->pid = 0;
	dump->name[0] = 0;
	if (!context)
		return;
	dump->pid = pid_nr(context->device->pid);
	vfence_process_name(context->device->pid, dump->name);
	vfence_context_put_later(context);
}

static void dump_end(struct vfence_adapter *adapter, struct vfence_dump *dump)
{
	dump_find_process(adapter, dump);
	queue_work(adapter->work_wq, &dump->work);
}

/**
 * vfence_dump_engine - collect what an engine does, before it is reset (WDDM-167)
 * @adapter: the adapter
 * @node: node of the engine
 * @reason: 0x141 for the reset of an engine, 0x117 for that of the adapter
 * @type: why there is a reset
 *
 * dma_fences may depend on the reset, so nothing is allocated here: a work makes the dump. If it
 * has not done so yet for an earlier hang, this one has no dump.
 */
void vfence_dump_engine(struct vfence_adapter *adapter, unsigned int node, unsigned int reason,
			enum vfence_timeout_type type)
{
	struct vfence_dump *dump = dump_begin(adapter, node, reason, type);

	if (!dump)
		return;
	vgpu_reset_collect_debug(adapter->gpu, node, &dump->info);
	dump_end(adapter, dump);
}

/**
 * vfence_dump_queue - collect what a queue did that is to be stopped, or was
 * @adapter: the adapter
 * @queue: the queue, with a reference
 *
 * As vfence_dump_engine(), for a time-out that costs a queue alone.
 */
void vfence_dump_queue(struct vfence_adapter *adapter, struct vfence_queue *queue)
{
	struct vfence_dump *dump = dump_begin(adapter, queue->node, VFENCE_STOP_ENGINE_TIMEOUT,
					      VFENCE_TIMEOUT_ENGINE);

	if (!dump)
		return;
	vgpu_reset_collect_queue(queue->hw, &dump->info);
	dump_end(adapter, dump);
}

/** vfence_dump_init - prepare an adapter for dumps; cannot fail */
void vfence_dump_init(struct vfence_adapter *adapter)
{
	INIT_WORK(&adapter->reset.dump.work, dump_work);
}
