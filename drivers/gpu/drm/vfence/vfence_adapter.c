// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters: what is set up at probe, in which order, and how it ends.
 */

#include <linux/dma-mapping.h>

#include <drm/drm_managed.h>

#include "fence/vfence_fence.h"
#include "queue/vfence_queue.h"
#include "vfence_adapter.h"
#include "vfence_power.h"

static void raise_vector(void *host)
{
	struct vfence_adapter *adapter = host;

	vfence_vector_raise(&adapter->vector);
}

static bool is_feature_enabled(void *host, enum drm_vfence_feature_id id)
{
	struct vfence_adapter *adapter = host;

	return vfence_feature_enabled(&adapter->config, id);
}

static unsigned int native_fence_os_caps(void *host)
{
	struct vfence_adapter *adapter = host;

	return (adapter->config.optimized_fences ? VGPU_OS_OPTIMIZED_FENCES : 0) |
	       (adapter->config.intra_gpu_fences ? VGPU_OS_INTRA_GPU_FENCES : 0);
}

static const struct vgpu_host_ops host_ops = {
	.raise_vector = raise_vector,
	.arm_doorbell = vfence_doorbell_arm,
	.is_feature_enabled = is_feature_enabled,
	.invalidate_hw_context = vfence_engine_invalidated,
	.native_fence_os_caps = native_fence_os_caps,
};

/* Runs when the last file has gone, long after unplug. */
static void release(struct drm_device *drm, void *unused)
{
	struct vfence_adapter *adapter = to_vfence_adapter(drm);

	if (adapter->work_wq)
		destroy_workqueue(adapter->work_wq);
	if (adapter->signal_wq)
		destroy_workqueue(adapter->signal_wq);
	if (adapter->submit_wq)
		destroy_workqueue(adapter->submit_wq);
	if (adapter->import_wq)
		destroy_workqueue(adapter->import_wq);
	if (adapter->doorbell_wq)
		destroy_workqueue(adapter->doorbell_wq);
	if (!IS_ERR_OR_NULL(adapter->gpu)) {
		vfence_paging_fini(adapter);
		vgpu_device_destroy(adapter->gpu);
	}
	vfence_segment_fini(adapter);
	if (adapter->dummy_fence)
		put_page(adapter->dummy_fence);
	xa_destroy(&adapter->fences);
	xa_destroy(&adapter->queues);
	xa_destroy(&adapter->contexts);
	mutex_destroy(&adapter->signal_lock);
	mutex_destroy(&adapter->doorbell_lock);
	drm_mm_takedown(&adapter->system_space);
	mutex_destroy(&adapter->system_lock);
	mutex_destroy(&adapter->level_lock);
	mutex_destroy(&adapter->settle_lock);
	mutex_destroy(&adapter->reset_lock);
}

static int alloc_dummy(struct vfence_adapter *adapter)
{
	adapter->dummy_fence = alloc_page(GFP_KERNEL);
	if (!adapter->dummy_fence)
		return -ENOMEM;
	memset(page_address(adapter->dummy_fence), 0xff, PAGE_SIZE);
	return 0;
}

static int alloc_parts(struct vfence_adapter *adapter)
{
	adapter->doorbell_wq = alloc_ordered_workqueue("%s-doorbell", 0, adapter->name);
	adapter->import_wq = alloc_ordered_workqueue("%s-import", 0, adapter->name);
	adapter->submit_wq = alloc_workqueue("%s-submit", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
					     adapter->name);
	adapter->signal_wq = alloc_workqueue("%s-signal", WQ_UNBOUND, 0, adapter->name);
	adapter->work_wq = alloc_workqueue("%s-work", WQ_UNBOUND, 0, adapter->name);
	if (!adapter->doorbell_wq || !adapter->import_wq || !adapter->submit_wq ||
	    !adapter->signal_wq || !adapter->work_wq)
		return -ENOMEM;
	adapter->gpu = vgpu_device_create(&adapter->config.gpu, &host_ops, adapter, adapter->name);
	if (IS_ERR(adapter->gpu))
		return PTR_ERR(adapter->gpu);
	return vfence_paging_init(adapter);
}

/* What was negotiated holds; hardware that advertises more is not used (WDDM-47). */
static int check_features(struct vfence_adapter *adapter)
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

static void lost_work(struct work_struct *work)
{
	struct vfence_adapter *adapter = container_of(work, struct vfence_adapter, lost_work);

	/*
	 * Who comes later finds it lost; who came before is found here. Full
	 * barrier: the xchg() of vfence_adapter_lose(). Partner: create_locked()
	 * of queues, which makes the queue visible, then looks.
	 */
	vfence_queue_abort_all(adapter);
	vfence_fence_fail_all(adapter, -EIO);
	wake_up_all(&adapter->suspend_wait);
}

/**
 * vfence_adapter_lose - the hardware failed in a way that cannot be repaired
 * @adapter: the adapter
 * @why: subcode of WDDM's bug check 0x119 (WDDM-68)
 *
 * What Windows answers with a bug check costs the adapter here, not the machine:
 * its queues are aborted, its waits fail, its devices are stopped; unbinding and
 * binding it again makes a new one. Any context.
 */
void vfence_adapter_lose(struct vfence_adapter *adapter, unsigned int why)
{
	if (xchg(&adapter->lost, true))
		return;
	drm_err(&adapter->drm, "adapter lost (0x119, 0x%x): bind it again\n", why);
	queue_work(adapter->work_wq, &adapter->lost_work);
}

/**
 * vfence_adapter_init - set an adapter up, all but its registration
 * @adapter: from devm_drm_dev_alloc()
 * @index: which set of module parameters shapes it
 */
int vfence_adapter_init(struct vfence_adapter *adapter, unsigned int index)
{
	int ret;

	ret = vfence_config_get(index, &adapter->config);
	if (ret) {
		drm_err(&adapter->drm, "module parameters out of range\n");
		return ret;
	}
	spin_lock_init(&adapter->irq_lock);
	mutex_init(&adapter->signal_lock);
	mutex_init(&adapter->doorbell_lock);
	mutex_init(&adapter->system_lock);
	mutex_init(&adapter->level_lock);
	drm_mm_init(&adapter->system_space, PAGE_SIZE, DRM_VFENCE_VA_LIMIT - PAGE_SIZE);
	xa_init_flags(&adapter->fences, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&adapter->queues, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&adapter->contexts, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	init_waitqueue_head(&adapter->suspend_wait);
	init_llist_head(&adapter->deferred);
	init_llist_head(&adapter->signaled);
	mutex_init(&adapter->settle_lock);
	INIT_WORK(&adapter->lost_work, lost_work);
	vfence_engine_init(adapter);
	snprintf(adapter->name, sizeof(adapter->name), "vfence%u", index);
	vfence_segment_init(adapter);
	ret = drmm_add_action_or_reset(&adapter->drm, release, NULL);
	if (ret)
		return ret;
	ret = dma_coerce_mask_and_coherent(adapter->drm.dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	ret = alloc_dummy(adapter);
	if (ret)
		return ret;
	ret = alloc_parts(adapter);
	if (!ret)
		ret = check_features(adapter);
	if (ret)
		return ret;
	ret = vfence_vector_init(&adapter->vector, adapter->name, vfence_irq_handler,
				 vfence_irq_thread, adapter);
	if (ret)
		return ret;
	ret = vgpu_device_start(adapter->gpu);
	if (ret)
		vfence_vector_fini(&adapter->vector, adapter);
	else
		vfence_power_start(adapter);
	return ret;
}

/**
 * vfence_adapter_unplug - end the device under whoever still uses it
 * @adapter: the adapter, not reachable by new calls any more
 *
 * Waiters return ENODEV, doorbells say ABORT, queues are aborted, threads and
 * interrupt stop. Objects live on until their files close.
 */
void vfence_adapter_unplug(struct vfence_adapter *adapter)
{
	vfence_power_stop(adapter);
	wake_up_all(&adapter->suspend_wait);
	vfence_queue_abort_all(adapter);
	/* Engines, then CMP, then interrupt: each feeds the next. */
	vgpu_device_stop(adapter->gpu);
	vfence_vector_fini(&adapter->vector, adapter);
	/* What was published last: nobody is interrupted for it any more. */
	vfence_irq_settle(adapter);
	vfence_fence_fail_all(adapter, -ENODEV);
	flush_workqueue(adapter->doorbell_wq);
	flush_workqueue(adapter->import_wq);
	flush_workqueue(adapter->submit_wq);
	flush_workqueue(adapter->signal_wq);
	flush_workqueue(adapter->work_wq);
	/* From here on faults find the dummy pages. */
	unmap_mapping_range(adapter->drm.anon_inode->i_mapping, 0, 0, 1);
}
