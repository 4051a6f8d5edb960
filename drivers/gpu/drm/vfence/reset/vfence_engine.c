// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines: the driver's reaction to their state changes.
 */

#include "core/vfence_adapter.h"
#include "irq/vfence_irq.h"
#include "queue/vfence_doorbell.h"
#include "reset/vfence_engine.h"
#include "reset/vfence_recovery.h"
#include "reset/vfence_tdr.h"

/*
 * An idle engine asks for F1: disconnect all its doorbells first, then let it leave F0 for
 * F1 (WDDM-196). A client may connect a doorbell meanwhile. That cancels the request, and the
 * engine asks again: do not take the new request for the old one.
 */
static void engine_enter_f1(struct vfence_adapter *adapter, unsigned int node)
{
	u64 request = vgpu_power_f1_request(adapter->gpu, node);

	vfence_doorbell_disconnect_node(adapter, node);
	if (vgpu_power_enter_f1(adapter->gpu, node, request))
		vfence_count(adapter, VFENCE_COUNT_F1);
}

/*
 * Query the state of each engine. Do not rely on the record that queued this work: it may
 * be outdated, and it may stand for more than one change. An engine that makes progress
 * again is not reset.
 */
static void engine_state_work(struct work_struct *work)
{
	static const struct vfence_recovery_cause hung = { .hung = true };
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, reset.engine_work);
	unsigned int node;

	for (node = 0; node < adapter->config.gpu.nodes; node++) {
		switch (vgpu_engine_query_state(adapter->gpu, node)) {
		case VGPU_ENGINE_HUNG:
			if (vfence_tdr_timed_out(adapter))
				vfence_recovery_engine(adapter, node, &hung);
			break;
		case VGPU_ENGINE_FAULTED:
			vfence_recovery_page_fault(adapter, node);
			break;
		case VGPU_ENGINE_TRANSITION_TO_F1:
			engine_enter_f1(adapter, node);
			break;
		case VGPU_ENGINE_ACTIVE:
			break;
		}
	}
}

/* The state of an engine has changed. */
static void engine_state_hard(struct vfence_adapter *adapter,
			      const struct vgpu_irq_record *record,
			      struct vfence_irq_batch *batch)
{
	queue_work(adapter->reset.wq, &adapter->reset.engine_work);
}

/*
 * The state of an engine may have changed. Do not leave this to the threaded half: a thread
 * may hold a lock that the half takes while it waits for the engine.
 */
static void engine_state_overflow(struct vfence_adapter *adapter, u32 overflow)
{
	queue_work(adapter->reset.wq, &adapter->reset.engine_work);
}

static const struct vfence_irq_source engine_source = {
	.type = VGPU_IRQ_GPU_ENGINE_STATE_CHANGE,
	.hard = engine_state_hard,
	.overflow = engine_state_overflow,
};

/** vfence_engine_init - prepare an adapter for changes of its engines; cannot fail */
void vfence_engine_init(struct vfence_adapter *adapter)
{
	INIT_WORK(&adapter->reset.engine_work, engine_state_work);
}

/** vfence_engine_add_source - add the interrupt source for state changes of engines */
void vfence_engine_add_source(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, &engine_source);
}
