// SPDX-License-Identifier: GPL-2.0-only
/*
 * The paging queue: a kernel ring with fence ids.
 */

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "core/vfence_adapter.h"
#include "mem/vfence_paging.h"

#define RING_SIZE	DRM_VFENCE_RING_MIN
/* Only hardware that is broken takes that long. */
#define PATIENCE	(10 * HZ)

/* The paging node is the last one. */
static unsigned int node_of(struct vfence_adapter *adapter)
{
	return adapter->config.gpu.nodes - 1;
}

/** vfence_paging_init - make the paging queue of an adapter */
int vfence_paging_init(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;
	struct vgpu_queue_args args = {
		.vm = vgpu_device_system_vm(adapter->gpu),
		.node = node_of(adapter),
		.kernel = true,
	};
	struct vgpu_doorbell_args doorbell = { .ring_size = RING_SIZE };

	init_waitqueue_head(&paging->done);
	paging->ring = (void *)get_zeroed_page(GFP_KERNEL);
	paging->control = (void *)get_zeroed_page(GFP_KERNEL);
	if (!paging->ring || !paging->control)
		return -ENOMEM;
	paging->queue = vgpu_queue_create(adapter->gpu, &args);
	if (IS_ERR(paging->queue))
		return PTR_ERR(paging->queue);
	doorbell.ring = paging->ring;
	doorbell.control = paging->control;
	vgpu_doorbell_create(paging->queue, &doorbell);
	vgpu_doorbell_connect(paging->queue);
	return 0;
}

/** vfence_paging_fini - free it; the GPU has stopped */
void vfence_paging_fini(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;

	if (!IS_ERR_OR_NULL(paging->queue))
		vgpu_queue_destroy(paging->queue);
	free_page((unsigned long)paging->control);
	free_page((unsigned long)paging->ring);
}

static u64 append(struct vfence_paging *paging, u64 at, const void *packet, size_t size)
{
	size_t first = min_t(size_t, size, RING_SIZE - at % RING_SIZE);

	memcpy(paging->ring + at % RING_SIZE, packet, first);
	memcpy(paging->ring, packet + first, size - first);
	return at + size;
}

static void submit(struct vfence_paging *paging, const struct vgpu_packet_storage *packet)
{
	struct vgpu_packet_complete complete = {
		.header = { .opcode = VGPU_OP_COMPLETE, .length = sizeof(complete) },
		.fence_id = ++paging->submitted,
	};
	u64 at = paging->control->write_ptr;

	/* One submission at a time: the ring is empty and has room. */
	at = append(paging, at, packet, sizeof(*packet));
	at = append(paging, at, &complete, sizeof(complete));
	/* Release: the packets. Partner: vgpu_sched_sane_write_ptr(). */
	smp_store_release(&paging->control->write_ptr, at);
	vgpu_doorbell_ring(paging->queue);
}

static bool completed(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;

	return vgpu_kernel_last_completed(paging->queue) == paging->submitted;
}

/**
 * vfence_paging_run - have the GPU move or clear a page of values, and wait
 * @adapter: the adapter, its segment locked
 * @opcode: what to do
 * @storage: with which page
 * @kva: where to move it, if it moves
 *
 * Return: 0, or -EIO when the adapter is lost, be it by this.
 */
int vfence_paging_run(struct vfence_adapter *adapter, enum vgpu_kernel_opcode opcode,
		      struct vgpu_storage *storage, void *kva)
{
	struct vfence_paging *paging = &adapter->mem.paging;
	struct vgpu_packet_storage packet = {
		.header = { .opcode = opcode, .length = sizeof(packet) },
		.storage = (unsigned long)storage,
		.kva = (unsigned long)kva,
	};

	lockdep_assert_held(&adapter->mem.segment.lock);
	if (READ_ONCE(adapter->lost))
		return -EIO;
	submit(paging, &packet);
	if (wait_event_timeout(paging->done, completed(adapter), PATIENCE))
		return 0;
	vfence_adapter_lose(adapter, 0x2);
	/* The caller frees what the packet names: it is done by now, or never. */
	vgpu_queue_abort(paging->queue);
	return completed(adapter) ? 0 : -EIO;
}

/** vfence_paging_wake - the GPU may have completed paging work; any context */
void vfence_paging_wake(struct vfence_adapter *adapter)
{
	wake_up_all(&adapter->mem.paging.done);
}
