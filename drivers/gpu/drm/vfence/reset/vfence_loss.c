// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Loss
 *
 * What is lost, and who decides. The rooms below report causes through
 * &struct vfence_loss_ops; the states of devices are written here alone::
 *
 *    bad packet of a queue      --> device_failed(DMAFAULT, DMAPAGEFAULT)
 *    submission took too long   --> device_failed(HUNG)
 *    suspension took too long   --> engine_stuck(), device_failed(HUNG)
 *    reset of an engine         --> HUNG for the cause, RESET for collateral
 *    adapter lost, or unplugged --> STOPPED
 *
 * A device keeps its first error.
 */

#include "core/vfence_adapter.h"
#include "core/vfence_device.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_local.h"
#include "queue/vfence_queue.h"
#include "reset/vfence_engine.h"
#include "reset/vfence_loss.h"

/* A queue with a bad packet fails the submission it was executing; others are cancelled. */
static int loss_error_of(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return status.state == DRM_VFENCE_QUEUE_FAULTED ? -EIO : -ECANCELED;
}

static void loss_stop_if_of(struct vfence_queue *queue, void *device)
{
	if (queue->device == device)
		vfence_queue_stop(queue, loss_error_of(queue));
}

/**
 * vfence_loss_fail_device - a device is in error, and all its queues end with it
 * @adapter: the adapter
 * @device: the device, with a reference; the first error stays
 * @state: &enum drm_vfence_device_state
 *
 * WDDM-205. Other devices do not notice. Process context.
 */
void vfence_loss_fail_device(struct vfence_adapter *adapter, struct vfence_device *device,
			     enum drm_vfence_device_state state)
{
	atomic_cmpxchg(&device->state, DRM_VFENCE_DEVICE_ACTIVE, state);
	vfence_queue_for_each(adapter, loss_stop_if_of, device);
	if (vfence_device_was_reset(device))
		vfence_local_signal_max(device);
}

static void loss_stop_queue(struct vfence_queue *queue, void *unused)
{
	atomic_cmpxchg(&queue->device->state, DRM_VFENCE_DEVICE_ACTIVE,
		       DRM_VFENCE_DEVICE_STOPPED);
	vfence_queue_stop(queue, -ENODEV);
}

/** vfence_loss_stop_queues - the adapter is lost, or unplugged: stop all its queues */
void vfence_loss_stop_queues(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, loss_stop_queue, NULL);
}

static void loss_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.lost_work);

	/*
	 * New queues check ->lost after becoming visible; existing ones are walked
	 * here. Full barrier: the xchg() of vfence_adapter_lose(). Partner:
	 * create_locked() of queues.
	 */
	vfence_loss_stop_queues(adapter);
	vfence_fence_fail_all(adapter, -EIO);
	wake_up_all(&adapter->queues.suspend_wait);
}

static void loss_of_adapter(struct vfence_adapter *adapter)
{
	queue_work(adapter->work_wq, &adapter->reset.lost_work);
}

static void loss_engine_stuck(struct vfence_adapter *adapter, unsigned int node)
{
	vfence_engine_reset(adapter, node, true);
}

static const struct vfence_loss_ops loss_ops = {
	.device_failed = vfence_loss_fail_device,
	.engine_stuck = loss_engine_stuck,
	.adapter_lost = loss_of_adapter,
};

/** vfence_loss_init - have causes of loss handled; nothing can fail */
void vfence_loss_init(struct vfence_adapter *adapter)
{
	INIT_WORK(&adapter->reset.lost_work, loss_work);
	adapter->loss = &loss_ops;
}
