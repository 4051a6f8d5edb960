// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines as the driver sees them: what they ask for, and their recovery.
 */

#include "fence/vfence_fence.h"
#include "vfence_power.h"
#include "vfence_queue.h"

/**
 * vfence_engine_reset - get an engine that does not respond to work again
 * @adapter: the adapter
 * @node: node of the engine
 * @force: though it does not say that it is HUNG
 *
 * The contexts that were on it are lost, vfence_engine_invalidated() is told; all
 * others go on afterwards. Process context.
 */
void vfence_engine_reset(struct vfence_adapter *adapter, unsigned int node, bool force)
{
	mutex_lock(&adapter->reset_lock);
	if (vgpu_reset_engine(adapter->gpu, node, force)) {
		vfence_count(adapter, VFENCE_COUNT_ENGINE_RESETS);
		/* What it said before is handled before it can say anything new. */
		vgpu_cmp_flush(adapter->gpu);
		vfence_irq_flush(adapter);
		vgpu_reset_resume_engine(adapter->gpu, node);
	}
	mutex_unlock(&adapter->reset_lock);
}

/**
 * vfence_engine_invalidated - DxgkCbInvalidateHwContext: a reset cost this context
 * @host: the adapter
 * @global: the context
 * @collateral: it was not the cause
 */
void vfence_engine_invalidated(void *host, u32 global, bool collateral)
{
	struct vfence_adapter *adapter = host;
	struct vfence_context *context = vfence_context_find(adapter, global);

	/* Without one its owner has destroyed it meanwhile. */
	if (!context)
		return;
	vfence_queue_fail_device(adapter, context->device,
				 collateral ? DRM_VFENCE_DEVICE_RESET : DRM_VFENCE_DEVICE_HUNG);
	vfence_context_put(context);
}

/*
 * The state is asked for, not told: the record that called us may stand for more
 * than one change, and be outdated. An engine that has gone on is not reset.
 */
static void changed_work(struct work_struct *work)
{
	struct vfence_adapter *adapter = container_of(work, struct vfence_adapter, engine_work);
	unsigned int node;

	for (node = 0; node < adapter->config.gpu.nodes; node++) {
		switch (vgpu_engine_query_state(adapter->gpu, node)) {
		case VGPU_ENGINE_HUNG:
			vfence_engine_reset(adapter, node, false);
			break;
		case VGPU_ENGINE_TRANSITION_TO_F1:
			vfence_power_enter_f1(adapter, node);
			break;
		case VGPU_ENGINE_ACTIVE:
			break;
		}
	}
}

/** vfence_engine_changed - the state of an engine changed, or may have; any context */
void vfence_engine_changed(struct vfence_adapter *adapter)
{
	queue_work(adapter->work_wq, &adapter->engine_work);
}

void vfence_engine_init(struct vfence_adapter *adapter)
{
	mutex_init(&adapter->reset_lock);
	INIT_WORK(&adapter->engine_work, changed_work);
}
