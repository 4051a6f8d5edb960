// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Loss
 *
 * reset/ decides which devices are lost. The folders below it report causes through
 * &struct vfence_loss_ops. Only this file writes the states of devices::
 *
 *    bad packet of a queue      --> device_failed(DMAFAULT, DMAPAGEFAULT)
 *    queue kept others off      --> device_failed(HUNG)
 *    submission took too long   --> device_hung()
 *    suspension took too long   --> device_hung(), after the reset of the engine
 *    reset of an engine         --> HUNG for the cause, RESET for collateral
 *    reset of the adapter       --> the same, and RESET for all other devices
 *    adapter lost, or unplugged --> STOPPED
 *    process blocked            --> STOPPED
 *
 * A device keeps its first error state: vfence_loss_state() has the rules. A cause that concerns
 * one device is handled for that device, one that concerns several by a sweep over all devices.
 */

#include <linux/pid.h>

#include "core/vfence_account.h"
#include "core/vfence_adapter.h"
#include "core/vfence_device.h"
#include "core/vfence_process.h"
#include "core/vfence_report.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_holder.h"
#include "mem/vfence_paging.h"
#include "queue/vfence_queue.h"
#include "reset/vfence_dump.h"
#include "reset/vfence_loss.h"
#include "reset/vfence_wedge.h"
#include "vfence_race_point.h"

static int loss_queue_error(struct vfence_queue *queue)
{
	struct vfence_loss_queue of_queue;
	struct vfence_loss_causes causes;
	struct vgpu_queue_status status;

	vfence_device_get_causes(queue->device, &causes);
	vgpu_queue_query(queue->hw, &status);
	of_queue.guilty = status.guilty;
	of_queue.faulted = status.state == DRM_VFENCE_QUEUE_FAULTED;
	of_queue.preemption = status.fault == DRM_VFENCE_FAULT_PREEMPTION;
	return vfence_loss_error(&causes, &of_queue);
}

/*
 * A cause that concerns several devices is written to those that have queues: they stay in error
 * when the cause goes. A device without queues of an adapter that was lost counts as reset after a
 * recovery, and its fences get their maximum.
 */
static void loss_stop_queue(struct vfence_queue *queue, void *unused)
{
	vfence_device_fail(queue->device, vfence_device_state(queue->device));
	vfence_queue_stop(queue, loss_queue_error(queue));
}

/*
 * Stop all queues of a device that has failed. Does not wait for a client. A queue that is created
 * meanwhile finds the failure and stops itself, so that one visit is enough.
 */
static void loss_stop_queues_of(struct vfence_device *device)
{
	if (READ_ONCE(device->swept))
		return;
	vfence_queue_visit_of(device, loss_stop_queue, NULL);
	WRITE_ONCE(device->swept, true);
}

/* A hang counts for the process of the device, which may be blocked for that. */
static void loss_blame(struct vfence_device *device)
{
	struct vfence_adapter *adapter = device->adapter;

	if (xchg(&device->blamed, true) || !vfence_process_hung(device->process))
		return;
	vfence_count(adapter, VFENCE_COUNT_PROCESSES_BLOCKED);
	drm_dbg_driver(&adapter->drm, "process %d is blocked (0x142)\n",
		       pid_nr(device->process->pid));
	vfence_loss_sweep_later(adapter);
}

/*
 * The user of the device pays for @taken_ms, the time for which others can have lacked the engine.
 * Not all of that @counts: others decide whether they want an engine from a queue.
 */
static void loss_mark_hung(struct vfence_device *device, bool counts, unsigned int taken_ms)
{
	/* What a blocked process has left makes no noise. */
	bool tell = !READ_ONCE(device->process->blocked);

	if (vfence_device_fail(device, DRM_VFENCE_DEVICE_HUNG) != DRM_VFENCE_DEVICE_ACTIVE)
		return;
	WRITE_ONCE(device->tell, tell);
	if (taken_ms)
		vfence_account_hung(device->account, taken_ms);
	if (counts)
		loss_blame(device);
}

/*
 * The queues of a device are stopped, or soon. Take its fences to the maximum when no queue signals
 * a smaller value any more. The client decides how long that takes, so this does not wait:
 * vfence_device_end_stop() queues &vfence_device.stop_work, which comes here again.
 */
static void loss_end_device(struct vfence_device *device)
{
	/* While the adapter is lost signals fail. The sweep after a recovery comes here again. */
	if (READ_ONCE(device->adapter->lost))
		return;
	if (!vfence_device_is_stopping(device) && vfence_device_was_removed(device))
		vfence_fence_handle_device_lost(device);
}

/**
 * vfence_loss_device_failed - put a device in an error state and stop all its queues (WDDM-205)
 * @adapter: the adapter
 * @device: the device
 * @state: the error state; an earlier one stays
 * @counts: the cause counts against the process of the device
 *
 * Other devices are not affected. The client decides how long that takes.
 */
void vfence_loss_device_failed(struct vfence_adapter *adapter, struct vfence_device *device,
			       enum drm_vfence_device_state state, bool counts)
{
	if (state == DRM_VFENCE_DEVICE_HUNG)
		loss_mark_hung(device, counts,
			       DIV_ROUND_UP(adapter->config.gpu.preempt_us, USEC_PER_MSEC));
	else
		vfence_device_fail(device, state);
	loss_stop_queues_of(device);
	if (xchg(&device->tell, false))
		vfence_wedge_recovered(adapter, device->pid);
	if (counts)
		loss_blame(device);
	loss_end_device(device);
}

/** vfence_loss_stop_device_work - stop the queues of a device that has failed, and what follows */
void vfence_loss_stop_device_work(struct work_struct *work)
{
	struct vfence_device *device = container_of(work, struct vfence_device, stop_work);

	vfence_hold(STOP_DEVICE);
	loss_stop_queues_of(device);
	if (xchg(&device->tell, false))
		vfence_wedge_recovered(device->adapter, device->pid);
	loss_end_device(device);
	vfence_device_put(device);
}

/** vfence_loss_device_hung - &vfence_loss_ops.device_hung */
void vfence_loss_device_hung(struct vfence_adapter *adapter, struct vfence_device *device,
			     bool counts)
{
	/* Whoever was kept off the engine took nothing. */
	loss_mark_hung(device, counts, counts ? READ_ONCE(adapter->tdr.delay_ms) : 0);
	loss_stop_queues_of(device);
	/* The work tells user space and waits for it: a dma_fence may depend on this thread. */
	vfence_device_stop_later(device);
}

/**
 * vfence_loss_reset_device_later - the reset of an engine has hit a device
 * @device: the device
 * @cause: the device hung the engine
 *
 * The device becomes HUNG or RESET, and its queues are stopped in a work.
 *
 * For a caller whom others wait for. The client decides how long it takes to stop its queues:
 * the eventfds of completed submissions are signaled first.
 */
void vfence_loss_reset_device_later(struct vfence_device *device, bool cause)
{
	if (cause)
		loss_mark_hung(device, true, READ_ONCE(device->adapter->tdr.delay_ms));
	else
		vfence_device_fail(device, DRM_VFENCE_DEVICE_RESET);
	vfence_device_stop_later(device);
}

static void loss_note_fault(struct vfence_queue *queue, void *unused)
{
	int state = vfence_queue_fault_state(queue);

	if (state != DRM_VFENCE_DEVICE_ACTIVE)
		vfence_device_fail(queue->device, state);
}

/**
 * vfence_loss_note_faults - put devices whose queues have faulted in error
 * @adapter: the adapter
 *
 * Before a reset puts all devices in error: what has faulted keeps its own error. The queues are
 * stopped when the records of the faults are handled. Process context.
 */
void vfence_loss_note_faults(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, loss_note_fault, NULL);
}

/*
 * A sweep stops the queues of each device that has failed. Its client decides how long the rest
 * takes, by its eventfds and by how many fences it has: each device has a work of its own for that,
 * so that no client waits for another.
 */
static void loss_sweep_device(struct vfence_device *device)
{
	if (vfence_device_active(device))
		return;
	loss_stop_queues_of(device);
	if (vfence_device_was_removed(device))
		vfence_device_stop_later(device);
}

/*
 * Causes of a loss of several devices are level-triggered: they are states of the adapter and of
 * processes, and the thread that sets one queues this work. New queues read the state of their
 * device after they have become visible; existing ones are visited here. Full barriers: the xchg()
 * of vfence_adapter_lose() and of vfence_process_hung(). Partner: queue_publish_locked().
 */
static void loss_sweep_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.sweep_work);
	/* A loss that comes later than this has queued the work again. */
	bool lost = xchg(&adapter->reset.lost_due, false);

	vfence_hold(LOSS_SWEEP);
	vfence_device_for_each(adapter, loss_sweep_device);
	if (lost) {
		vfence_holder_fail_all(adapter, -EIO);
		vfence_wedge_lost(adapter);
	}
}

/**
 * vfence_loss_sweep_later - stop the queues of all devices that have failed in a work
 * @adapter: the adapter, of which it was reset, or lost, or a process was blocked
 *
 * Any context.
 */
void vfence_loss_sweep_later(struct vfence_adapter *adapter)
{
	queue_work(adapter->reset.loss_wq, &adapter->reset.sweep_work);
}

static void loss_unplug_queue(struct vfence_queue *queue, void *unused)
{
	vfence_device_fail(queue->device, DRM_VFENCE_DEVICE_STOPPED);
	vfence_queue_stop(queue, -ENODEV);
}

/** vfence_loss_unplug - stop all queues of an adapter that is unplugged; process context */
void vfence_loss_unplug(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, loss_unplug_queue, NULL);
}

/** vfence_loss_adapter_lost - &vfence_loss_ops.adapter_lost */
void vfence_loss_adapter_lost(struct vfence_adapter *adapter)
{
	/* Before the work: it may need a lock that the thread holds that waits for a packet. */
	vfence_paging_wake(adapter);
	wake_up_all(&adapter->queues.suspend_wait);
	WRITE_ONCE(adapter->reset.lost_due, true);
	vfence_loss_sweep_later(adapter);
}

/** vfence_loss_queue_stuck - &vfence_loss_ops.queue_stuck */
void vfence_loss_queue_stuck(struct vfence_adapter *adapter, struct vfence_queue *queue)
{
	char name[VFENCE_REPORT_NAME];

	vfence_dump_queue(adapter, queue);
	vfence_report_name(queue->device->pid, name);
	vfence_report(adapter, "queue %u of %s was stopped: its work on engine %u took too long",
		      queue->id, name, queue->node);
}

/** vfence_loss_init - prepare an adapter for the handling of losses; cannot fail */
void vfence_loss_init(struct vfence_adapter *adapter)
{
	INIT_WORK(&adapter->reset.sweep_work, loss_sweep_work);
}
