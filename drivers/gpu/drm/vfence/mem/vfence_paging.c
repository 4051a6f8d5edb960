// SPDX-License-Identifier: GPL-2.0-only
/*
 * The paging queue: a kernel-mode ring whose submissions have fence ids.
 */

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "core/vfence_adapter.h"
#include "mem/vfence_paging.h"

#define PAGING_RING_SIZE	DRM_VFENCE_RING_MIN

/* The paging node is the last one. */
static unsigned int paging_node(struct vfence_adapter *adapter)
{
	return adapter->config.gpu.nodes - 1;
}

static bool paging_completed(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;

	return vgpu_kernel_last_completed(paging->queue) == paging->submitted;
}

/* The packet is completed, or never will be. */
static bool paging_decided(struct vfence_adapter *adapter)
{
	return paging_completed(adapter) || READ_ONCE(adapter->mem.paging.failed) ||
	       READ_ONCE(adapter->lost);
}

static bool paging_deadline_met(struct vfence_deadline *deadline)
{
	return paging_decided(container_of(deadline, struct vfence_adapter, mem.paging.deadline));
}

static const struct vfence_deadline_ops paging_deadline_ops = {
	.met = paging_deadline_met,
};

static int paging_create_queue(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;
	struct vgpu_queue_args args = {
		.vm = vgpu_device_system_vm(adapter->gpu),
		.node = paging_node(adapter),
		.kernel = true,
	};
	struct vgpu_doorbell_args doorbell = {
		.ring_size = PAGING_RING_SIZE,
		.ring = paging->ring,
		.control = paging->control,
	};

	paging->queue = vgpu_queue_create(adapter->gpu, &args);
	if (IS_ERR(paging->queue))
		return PTR_ERR(paging->queue);
	vgpu_doorbell_create(paging->queue, &doorbell);
	vgpu_doorbell_connect(paging->queue);
	return 0;
}

/** vfence_paging_init - create the paging queue of an adapter */
int vfence_paging_init(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;

	init_waitqueue_head(&paging->done);
	vfence_deadline_setup(&paging->deadline, &paging_deadline_ops, paging_node(adapter));
	paging->ring = (void *)get_zeroed_page(GFP_KERNEL);
	paging->control = (void *)get_zeroed_page(GFP_KERNEL);
	if (!paging->ring || !paging->control)
		return -ENOMEM;
	return paging_create_queue(adapter);
}

/** vfence_paging_fini - destroy the paging queue; the GPU has stopped */
void vfence_paging_fini(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;

	if (!IS_ERR_OR_NULL(paging->queue))
		vgpu_queue_destroy(paging->queue);
	free_page((unsigned long)paging->control);
	free_page((unsigned long)paging->ring);
}

static u64 paging_append(struct vfence_paging *paging, u64 at, const void *packet, size_t size)
{
	size_t first = min_t(size_t, size, PAGING_RING_SIZE - at % PAGING_RING_SIZE);

	memcpy(paging->ring + at % PAGING_RING_SIZE, packet, first);
	memcpy(paging->ring, packet + first, size - first);
	return at + size;
}

static void paging_submit(struct vfence_paging *paging, const struct vgpu_packet_storage *packet)
{
	struct vgpu_packet_complete complete = {
		.header = { .opcode = VGPU_OP_COMPLETE, .length = sizeof(complete) },
		.fence_id = ++paging->submitted,
	};
	u64 at = paging->control->write_ptr;

	/* There is one submission at a time, so the ring is empty and has room. */
	at = paging_append(paging, at, packet, sizeof(*packet));
	at = paging_append(paging, at, &complete, sizeof(complete));

	/* Release: the packets. Partner: vgpu_sched_sane_write_ptr(). */
	smp_store_release(&paging->control->write_ptr, at);
	vgpu_doorbell_ring(paging->queue);
}

/* If the packet takes too long, the watch resets the engine. */
static void paging_wait(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;

	vfence_deadline_begin(adapter, &paging->deadline);
	wait_event(paging->done, paging_decided(adapter));
	vfence_deadline_end(adapter, &paging->deadline);
}

/**
 * vfence_paging_run - let the GPU move or clear a page of values, and wait for it
 * @adapter: the adapter, &vfence_segment.mover held
 * @opcode: VGPU_OP_EVICT_STORAGE or VGPU_OP_CLEAR_STORAGE
 * @storage: the page
 * @kva: destination of an eviction, else NULL
 *
 * If the GPU does not complete the packet in time, the adapter is reset (WDDM-154), which ends
 * the wait.
 *
 * Return: 0, or -EIO when the adapter is reset or lost.
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

	lockdep_assert_held(&adapter->mem.segment.mover);
	if (READ_ONCE(adapter->lost) || READ_ONCE(paging->failed))
		return -EIO;

	paging_submit(paging, &packet);
	paging_wait(adapter);
	if (paging_completed(adapter))
		return 0;
	/*
	 * Abort the queue: the caller frees the memory that the packet names. After this the
	 * packet is complete, or the GPU will never execute it.
	 */
	vgpu_queue_abort(paging->queue);
	return paging_completed(adapter) ? 0 : -EIO;
}

/** vfence_paging_fail - the GPU is being reset: end the wait of vfence_paging_run() */
void vfence_paging_fail(struct vfence_adapter *adapter)
{
	WRITE_ONCE(adapter->mem.paging.failed, true);
	vfence_paging_wake(adapter);
}

/**
 * vfence_paging_restart - make the paging queue anew, in a GPU that has been reset
 * @adapter: the adapter, after vfence_paging_fail()
 *
 * Return: 0, or -ENOMEM, and there is no paging any more.
 */
int vfence_paging_restart(struct vfence_adapter *adapter)
{
	struct vfence_paging *paging = &adapter->mem.paging;
	int ret;

	mutex_lock(&adapter->mem.segment.mover);
	vgpu_queue_destroy(paging->queue);
	memset(paging->control, 0, PAGE_SIZE);
	ret = paging_create_queue(adapter);
	if (!ret)
		WRITE_ONCE(paging->failed, false);
	mutex_unlock(&adapter->mem.segment.mover);
	return ret;
}

/** vfence_paging_wake - wake the submitting thread to check for completion; any context */
void vfence_paging_wake(struct vfence_adapter *adapter)
{
	wake_up_all(&adapter->mem.paging.done);
}
