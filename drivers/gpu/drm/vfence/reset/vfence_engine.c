// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines as the driver sees them: what they ask for, and their recovery.
 */

#include "core/vfence_adapter.h"
#include "irq/vfence_irq.h"
#include "queue/vfence_context.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_queue.h"
#include "reset/vfence_engine.h"
#include "reset/vfence_loss.h"

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
	mutex_lock(&adapter->reset.lock);
	if (vgpu_reset_engine(adapter->gpu, node, force)) {
		vfence_count(adapter, VFENCE_COUNT_ENGINE_RESETS);
		/* What it said before is handled before it can say anything new. */
		vgpu_cmp_flush(adapter->gpu);
		vfence_irq_flush(adapter);
		vgpu_reset_resume_engine(adapter->gpu, node);
	}
	mutex_unlock(&adapter->reset.lock);
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
	vfence_loss_fail_device(adapter, context->device,
				collateral ? DRM_VFENCE_DEVICE_RESET : DRM_VFENCE_DEVICE_HUNG);
	vfence_context_put(context);
}

static void engine_disconnect_of_node(struct vfence_queue *queue, void *node)
{
	if (queue->node == *(unsigned int *)node)
		vfence_doorbell_force_reconnect(queue);
}

/* An idle engine asks for F1: all its doorbells first, then F0 to F1 (WDDM-196). */
static void engine_enter_f1(struct vfence_adapter *adapter, unsigned int node)
{
	vfence_queue_for_each(adapter, engine_disconnect_of_node, &node);
	if (vgpu_power_enter_f1(adapter->gpu, node))
		vfence_count(adapter, VFENCE_COUNT_F1);
}

/*
 * The state is asked for, not told: the record that called us may stand for more
 * than one change, and be outdated. An engine that has gone on is not reset.
 */
static void engine_changed_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.engine_work);
	unsigned int node;

	for (node = 0; node < adapter->config.gpu.nodes; node++) {
		switch (vgpu_engine_query_state(adapter->gpu, node)) {
		case VGPU_ENGINE_HUNG:
			vfence_engine_reset(adapter, node, false);
			break;
		case VGPU_ENGINE_TRANSITION_TO_F1:
			engine_enter_f1(adapter, node);
			break;
		case VGPU_ENGINE_ACTIVE:
			break;
		}
	}
}

/* The state of an engine changed. */
static void engine_changed_hard(struct vfence_adapter *adapter,
				const struct vgpu_irq_record *record,
				struct vfence_irq_batch *batch)
{
	queue_work(adapter->work_wq, &adapter->reset.engine_work);
}

/* It may have changed, and a thread may wait for the engine with a lock held. */
static void engine_changed_overflow(struct vfence_adapter *adapter, u32 overflow)
{
	queue_work(adapter->work_wq, &adapter->reset.engine_work);
}

static const struct vfence_irq_source engine_source = {
	.type = VGPU_IRQ_GPU_ENGINE_STATE_CHANGE,
	.hard = engine_changed_hard,
	.overflow = engine_changed_overflow,
};

/** vfence_engine_init - prepare an adapter for resets; nothing can fail */
void vfence_engine_init(struct vfence_adapter *adapter)
{
	mutex_init(&adapter->reset.lock);
	INIT_WORK(&adapter->reset.engine_work, engine_changed_work);
}

/** vfence_engine_add_source - have the states of engines handled */
void vfence_engine_add_source(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, &engine_source);
}

/** vfence_engine_fini - undo vfence_engine_init() */
void vfence_engine_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->reset.lock);
}
