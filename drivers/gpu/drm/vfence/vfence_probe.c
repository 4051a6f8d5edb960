// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe and unplug: the order in which the subsystems of an adapter are set up and end.
 */

#include <linux/dma-mapping.h>

#include <drm/drm_managed.h>

#include "core/vfence_account.h"
#include "core/vfence_adapter.h"
#include "core/vfence_device.h"
#include "core/vfence_gate.h"
#include "core/vfence_power.h"
#include "core/vfence_process.h"
#include "core/vfence_report.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_irq.h"
#include "fence/vfence_holder.h"
#include "irq/vfence_irq.h"
#include "irq/vfence_vector.h"
#include "mem/vfence_mover.h"
#include "mem/vfence_page.h"
#include "mem/vfence_paging.h"
#include "mem/vfence_segment.h"
#include "queue/vfence_context.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_log.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_irq.h"
#include "reset/vfence_dump.h"
#include "reset/vfence_engine.h"
#include "reset/vfence_loss.h"
#include "reset/vfence_mailbox.h"
#include "reset/vfence_recovery.h"
#include "reset/vfence_reset.h"
#include "reset/vfence_tdr.h"
#include "reset/vfence_watch.h"
#include "vf/vfence_vf.h"
#include "vfence_probe.h"

static void probe_raise_vector(void *host)
{
	struct vfence_adapter *adapter = host;

	vfence_vector_raise(&adapter->irq.vector);
}

static bool probe_is_feature_enabled(void *host, enum drm_vfence_feature_id id)
{
	struct vfence_adapter *adapter = host;

	return vfence_feature_enabled(&adapter->config, id);
}

static unsigned int probe_native_fence_os_caps(void *host)
{
	struct vfence_adapter *adapter = host;

	return (adapter->config.optimized_fences ? VGPU_OS_OPTIMIZED_FENCES : 0) |
	       (adapter->config.intra_gpu_fences ? VGPU_OS_INTRA_GPU_FENCES : 0);
}

static const struct vgpu_host_ops probe_host_ops = {
	.raise_vector = probe_raise_vector,
	.arm_doorbell = vfence_doorbell_arm,
	.is_feature_enabled = probe_is_feature_enabled,
	.invalidate_hw_context = vfence_recovery_invalidated,
	.native_fence_os_caps = probe_native_fence_os_caps,
};

/* The chip of an adapter, with a reference: a virtual function uses that of its physical one. */
static struct vgpu_chip *probe_get_chip(struct vfence_adapter *adapter)
{
	if (!adapter->config.vf)
		return vgpu_chip_create(&adapter->config.gpu, adapter->name);
	return vgpu_device_get_chip(vfence_vf_physical(adapter)->gpu);
}

static void probe_destroy_wq(struct workqueue_struct *wq)
{
	if (wq)
		destroy_workqueue(wq);
}

/* DRM calls this when the last file is closed, which may be long after unplug. */
static void probe_release(struct drm_device *drm, void *unused)
{
	struct vfence_adapter *adapter = to_vfence_adapter(drm);

	probe_destroy_wq(adapter->reset.watch.wq);
	probe_destroy_wq(adapter->reset.wq);
	probe_destroy_wq(adapter->reset.loss_wq);
	probe_destroy_wq(adapter->work_wq);
	probe_destroy_wq(adapter->queues.signal_wq);
	probe_destroy_wq(adapter->queues.run_wq);
	probe_destroy_wq(adapter->queues.submit_wq);
	probe_destroy_wq(adapter->fences.import_wq);
	probe_destroy_wq(adapter->fences.foreign_wq);
	probe_destroy_wq(adapter->queues.doorbell_wq);
	probe_destroy_wq(adapter->mem.segment.move_wq);

	if (!IS_ERR_OR_NULL(adapter->gpu)) {
		vfence_paging_fini(adapter);
		vgpu_device_destroy(adapter->gpu);
	}

	vfence_vf_fini(adapter);
	vfence_gate_fini(adapter);
	vfence_process_fini(adapter);
	vfence_tdr_fini(adapter);
	vfence_recovery_fini(adapter);
	vfence_log_fini(adapter);
	vfence_doorbell_fini(adapter);
	vfence_queue_fini(adapter);
	vfence_context_fini(adapter);
	vfence_fence_fini(adapter);
	vfence_irq_fini(adapter);
	vfence_segment_fini(adapter);
}

static int probe_alloc_workqueues(struct vfence_adapter *adapter)
{
	struct vfence_queues *queues = &adapter->queues;

	queues->doorbell_wq = alloc_workqueue("%s-doorbell", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
					      adapter->name);
	adapter->fences.import_wq = alloc_workqueue("%s-import", WQ_UNBOUND, 0, adapter->name);
	adapter->fences.foreign_wq = alloc_workqueue("%s-foreign", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
						     adapter->name);
	queues->submit_wq = alloc_workqueue("%s-submit", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
					    adapter->name);
	queues->run_wq = alloc_workqueue("%s-run", WQ_UNBOUND | WQ_MEM_RECLAIM, 0, adapter->name);
	queues->signal_wq = alloc_workqueue("%s-signal", WQ_UNBOUND, 0, adapter->name);
	adapter->work_wq = alloc_workqueue("%s-work", WQ_UNBOUND, 0, adapter->name);

	adapter->mem.segment.move_wq = alloc_workqueue("%s-paging", WQ_UNBOUND, 0, adapter->name);

	adapter->reset.wq = alloc_ordered_workqueue("%s-reset", WQ_HIGHPRI | WQ_MEM_RECLAIM,
						    adapter->name);
	adapter->reset.loss_wq = alloc_workqueue("%s-loss", WQ_UNBOUND, 0, adapter->name);
	adapter->reset.watch.wq = alloc_workqueue("%s-watch", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
						  adapter->name);

	if (!queues->doorbell_wq || !adapter->mem.segment.move_wq ||
	    !adapter->fences.import_wq || !adapter->fences.foreign_wq ||
	    !queues->submit_wq || !queues->run_wq || !queues->signal_wq || !adapter->work_wq ||
	    !adapter->reset.wq || !adapter->reset.loss_wq || !adapter->reset.watch.wq)
		return -ENOMEM;
	return 0;
}

/* Reject hardware that advertises more features than were negotiated (WDDM-47). */
static int probe_check_features(struct vfence_adapter *adapter)
{
	adapter->native_fence = vfence_feature_enabled(&adapter->config,
						       DRM_VFENCE_FEATURE_NATIVE_FENCE);
	adapter->optimized = vgpu_feature_optimized_interrupt(adapter->gpu);
	adapter->user_mode_submission =
		vfence_feature_enabled(&adapter->config, DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION);

	if (!adapter->native_fence && vgpu_feature_native_fence(adapter->gpu)) {
		drm_err(&adapter->drm,
			"GPU advertises native fences while the feature is not enabled\n");
		return -EINVAL;
	}
	return 0;
}

static int probe_create_gpu(struct vfence_adapter *adapter)
{
	struct vgpu_chip *chip = probe_get_chip(adapter);
	int ret;

	if (IS_ERR(chip))
		return PTR_ERR(chip);
	adapter->gpu = vgpu_device_create(chip, &adapter->config.gpu, &probe_host_ops, adapter,
					  adapter->name);
	vgpu_chip_put(chip);
	if (IS_ERR(adapter->gpu))
		return PTR_ERR(adapter->gpu);
	ret = vfence_paging_init(adapter);
	return ret ? ret : probe_check_features(adapter);
}

/* The threaded halves of the interrupt run in the order of these calls. */
static void probe_add_sources(struct vfence_adapter *adapter)
{
	vfence_fence_irq_add_sources(adapter);
	vfence_log_add_source(adapter);
	vfence_queue_irq_add_sources(adapter);
	vfence_context_add_source(adapter);
	vfence_engine_add_source(adapter);
	vfence_mailbox_add_source(adapter);
}

static void probe_init_subsystems(struct vfence_adapter *adapter)
{
	vfence_report_init(adapter);
	vfence_deadline_init(adapter);
	vfence_account_init(adapter);
	vfence_process_init(adapter);
	vfence_device_init(adapter);
	vfence_segment_init(adapter);
	vfence_mover_init(adapter);
	vfence_irq_init(adapter);
	vfence_fence_init(adapter);
	vfence_context_init(adapter);
	vfence_queue_init(adapter);
	vfence_queue_irq_init(adapter);
	vfence_doorbell_init(adapter);
	vfence_log_init(adapter);
	vfence_recovery_init(adapter);
	vfence_mailbox_init(adapter);
	vfence_dump_init(adapter);
	vfence_engine_init(adapter);
	vfence_reset_init(adapter);
	vfence_tdr_init(adapter);
	vfence_watch_init(adapter);
	vfence_vf_init(adapter);
}

/* Start the interrupt first: the engines and the CMP raise it. */
static int probe_start(struct vfence_adapter *adapter)
{
	int ret = vfence_irq_start(adapter);

	if (ret)
		return ret;

	ret = vgpu_device_start(adapter->gpu);
	if (ret) {
		vfence_irq_stop(adapter);
		return ret;
	}

	vfence_power_start(adapter);
	vfence_vf_join(adapter);
	return 0;
}

/**
 * vfence_probe_adapter - set up an adapter; the caller registers it
 * @adapter: the adapter, from devm_drm_dev_alloc()
 * @index: number of the adapter, see vfence_config_get()
 */
int vfence_probe_adapter(struct vfence_adapter *adapter, unsigned int index)
{
	int ret;

	ret = vfence_config_get(index, &adapter->config);
	if (ret) {
		drm_err(&adapter->drm, "a module parameter is out of range; see modinfo vfence\n");
		return ret;
	}

	if (adapter->config.vf)
		snprintf(adapter->name, sizeof(adapter->name), "vfence%uvf%u",
			 index / VFENCE_MAX_VFS - 1, adapter->config.vf);
	else
		snprintf(adapter->name, sizeof(adapter->name), "vfence%u", index);
	probe_init_subsystems(adapter);
	ret = drmm_add_action_or_reset(&adapter->drm, probe_release, NULL);
	if (ret)
		return ret;

	ret = dma_coerce_mask_and_coherent(adapter->drm.dev, DMA_BIT_MASK(64));
	if (!ret)
		ret = vfence_segment_alloc_dummy(adapter);
	if (!ret)
		ret = vfence_page_init(adapter);
	if (!ret)
		ret = vfence_gate_init(adapter);
	if (!ret)
		ret = probe_alloc_workqueues(adapter);
	if (!ret)
		ret = probe_create_gpu(adapter);
	if (ret)
		return ret;

	probe_add_sources(adapter);
	return probe_start(adapter);
}

/**
 * vfence_probe_unplug - end an adapter that clients may still use
 * @adapter: the adapter; new ioctls return -ENODEV already, and vfence_mailbox_stop() was called
 *
 * Waits fail with ENODEV, the status of doorbells becomes ABORT, queues are aborted, and
 * the threads and the interrupt stop. Objects exist until their files are closed.
 */
void vfence_probe_unplug(struct vfence_adapter *adapter)
{
	/* On return no client is in the driver, and none starts anything on the hardware. */
	vfence_gate_end(adapter);
	/* On return the function owns no engines. */
	vfence_vf_leave(adapter);
	vfence_power_stop(adapter);
	vfence_recovery_stop(adapter);
	vfence_watch_stop(adapter);
	vfence_account_stop(adapter);
	wake_up_all(&adapter->queues.suspend_wait);
	vfence_loss_unplug(adapter);

	/* Stop the engines, then the CMP, then the interrupt: each reports to the next. */
	vgpu_device_stop(adapter->gpu);
	vfence_irq_stop(adapter);
	vfence_holder_fail_all(adapter, -ENODEV);

	flush_workqueue(adapter->queues.doorbell_wq);
	flush_workqueue(adapter->fences.foreign_wq);
	flush_workqueue(adapter->queues.submit_wq);
	flush_workqueue(adapter->queues.run_wq);
	/* Chores queue themselves again, which a flush of their workqueues does not wait for. */
	vfence_account_flush(adapter);
	flush_workqueue(adapter->reset.wq);
	flush_workqueue(adapter->reset.loss_wq);
	flush_workqueue(adapter->work_wq);
	vfence_holder_unplug(adapter);

	vfence_page_zap_all(adapter);
}
