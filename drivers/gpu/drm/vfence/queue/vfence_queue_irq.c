// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts about queues: faults, and the progress of kernel-mode queues and of paging.
 */

#include <linux/dma-fence.h>

#include "core/vfence_adapter.h"
#include "irq/vfence_irq.h"
#include "mem/vfence_paging.h"
#include "queue/vfence_job.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_irq.h"
#include "vfence_race_point.h"

/* A queue has faulted. Take no lock of the owner: references keep all objects used here. */
static void queue_fault_work(struct work_struct *work)
{
	struct vfence_queue *queue = container_of(work, struct vfence_queue, fault_work);
	struct vfence_adapter *adapter = queue->adapter;
	struct vgpu_queue_status status;

	vfence_hold(QUEUE_FAULT);
	vgpu_queue_query(queue->hw, &status);
	if (status.fault == DRM_VFENCE_FAULT_PREEMPTION)
		adapter->loss->queue_stuck(adapter, queue);
	adapter->loss->device_failed(adapter, queue->device, vfence_queue_state_of_fault(&status),
				     status.requested);
	vfence_queue_put(queue);
}

/** vfence_queue_irq_setup - prepare a new queue for reports of faults */
void vfence_queue_irq_setup(struct vfence_queue *queue)
{
	INIT_WORK(&queue->fault_work, queue_fault_work);
}

static void queue_report_fault(struct vfence_queue *queue)
{
	if (!atomic_xchg(&queue->fault_reported, 1))
		vfence_queue_work(queue, queue->adapter->work_wq, &queue->fault_work);
}

/* An interrupt record names a queue that a packet of its own has faulted. */
static void queue_faulted_hard(struct vfence_adapter *adapter,
			       const struct vgpu_irq_record *record,
			       struct vfence_irq_batch *batch)
{
	struct vfence_queue *queue;

	rcu_read_lock();
	queue = xa_load(&adapter->queues.table, record->queue);
	if (queue)
		queue_report_fault(queue);
	rcu_read_unlock();
}

static void queue_scan_one(struct vfence_queue *queue, void *unused)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	if (status.state == DRM_VFENCE_QUEUE_FAULTED)
		queue_report_fault(queue);
}

/*
 * Scan all queues if records of faults may be missing. A missing record of a signal costs no
 * visit of each queue.
 */
static void queue_scan(struct vfence_adapter *adapter, u32 nodes)
{
	if (nodes & VGPU_OVERFLOW_QUEUES)
		vfence_queue_for_each(adapter, queue_scan_one, NULL);
}

static const struct vfence_irq_source queue_faulted_source = {
	.type = VGPU_IRQ_HWQUEUE_FAULTED,
	.hard = queue_faulted_hard,
	.scan = queue_scan,
};

/* A kernel-mode queue has fetched or completed work, or the paging queue has completed some. */
static void queue_progressed_hard(struct vfence_adapter *adapter,
				  const struct vgpu_irq_record *record,
				  struct vfence_irq_batch *batch)
{
	struct vfence_kernel_queue *kernel;
	struct vfence_queue *queue;

	lockdep_assert_held(&adapter->irq.lock);
	if (!record->queue) {
		vfence_paging_wake(adapter);
		return;
	}
	rcu_read_lock();
	queue = xa_load(&adapter->queues.table, record->queue);
	kernel = queue ? vfence_kernel_queue_of(queue) : NULL;
	if (kernel)
		vfence_queue_work(queue, adapter->queues.run_wq, &kernel->retire);
	rcu_read_unlock();
}

static void queue_retire_one(struct vfence_queue *queue, void *unused)
{
	struct vfence_kernel_queue *kernel = vfence_kernel_queue_of(queue);

	if (kernel)
		vfence_job_retire(kernel);
}

static void queue_retire_all_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, queues.retire_all);
	bool signalling = dma_fence_begin_signalling();

	vfence_queue_for_each(adapter, queue_retire_one, NULL);
	dma_fence_end_signalling(signalling);
}

/*
 * Records of progress may be missing. Do not leave this to the threaded half: a thread that
 * waits for paging may hold a lock that the half needs, and dma_fences must not depend on
 * a lock under which others allocate.
 */
static void queue_progressed_overflow(struct vfence_adapter *adapter, u32 overflow)
{
	vfence_paging_wake(adapter);
	if (overflow & VGPU_OVERFLOW_QUEUES)
		queue_work(adapter->queues.run_wq, &adapter->queues.retire_all);
}

static const struct vfence_irq_source queue_progressed_source = {
	.type = VGPU_IRQ_DMA_COMPLETED,
	.hard = queue_progressed_hard,
	.overflow = queue_progressed_overflow,
};

/** vfence_queue_irq_init - prepare an adapter for interrupts about queues; cannot fail */
void vfence_queue_irq_init(struct vfence_adapter *adapter)
{
	INIT_WORK(&adapter->queues.retire_all, queue_retire_all_work);
}

/** vfence_queue_irq_add_sources - register the handlers of faults and of progress */
void vfence_queue_irq_add_sources(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, &queue_faulted_source);
	vfence_irq_add(adapter, &queue_progressed_source);
}
