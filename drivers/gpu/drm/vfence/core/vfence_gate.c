// SPDX-License-Identifier: GPL-2.0-only
/*
 * The gate: calls of clients pass it on their way to the hardware. A reset of the adapter closes
 * it and waits until all have left (WDDM-159, WDDM-162).
 *
 * A thread in the gate waits for no client, and not for the end of a reset.
 */

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/percpu-refcount.h>
#include <linux/wait.h>

#include "core/vfence_adapter.h"
#include "core/vfence_gate.h"
#include "core/vfence_wake.h"

static void gate_empty(struct percpu_ref *ref)
{
	struct vfence_gate *gate = container_of(ref, struct vfence_gate, threads);

	wake_up_all(&gate->wait);
}

/* From now on the number of threads is exact. */
static void gate_counted(struct percpu_ref *ref)
{
	complete(&container_of(ref, struct vfence_gate, threads)->counted);
}

/** vfence_gate_init - set up the gate, open; returns 0 or -ENOMEM */
int vfence_gate_init(struct vfence_adapter *adapter)
{
	init_waitqueue_head(&adapter->gate.wait);
	init_waitqueue_head(&adapter->gate.open);
	init_completion(&adapter->gate.counted);
	return percpu_ref_init(&adapter->gate.threads, gate_empty, PERCPU_REF_ALLOW_REINIT,
			       GFP_KERNEL);
}

/** vfence_gate_fini - undo vfence_gate_init(), which may have failed */
void vfence_gate_fini(struct vfence_adapter *adapter)
{
	percpu_ref_exit(&adapter->gate.threads);
}

/**
 * vfence_gate_enter - begin to use the hardware for a client
 * @adapter: the adapter
 * @idx: output, for vfence_gate_leave()
 *
 * Waits while the adapter is reset. Do not enter twice.
 *
 * Return: 0, -ENODEV after unplug, or -ERESTARTSYS if the thread is killed.
 */
int vfence_gate_enter(struct vfence_adapter *adapter, int *idx)
{
	struct vfence_gate *gate = &adapter->gate;

	if (unlikely(!percpu_ref_tryget_live(&gate->threads)) &&
	    wait_event_killable_exclusive(gate->open, percpu_ref_tryget_live(&gate->threads)))
		return -ERESTARTSYS;
	if (drm_dev_enter(&adapter->drm, idx))
		return 0;
	percpu_ref_put(&gate->threads);
	return -ENODEV;
}

/** vfence_gate_leave - end what vfence_gate_enter() has begun */
void vfence_gate_leave(struct vfence_adapter *adapter, int idx)
{
	drm_dev_exit(idx);
	percpu_ref_put(&adapter->gate.threads);
}

/** vfence_gate_close - let nobody enter; returns false if not all have left after @ms */
bool vfence_gate_close(struct vfence_adapter *adapter, unsigned int ms)
{
	struct vfence_gate *gate = &adapter->gate;

	reinit_completion(&gate->counted);
	percpu_ref_kill_and_confirm(&gate->threads, gate_counted);
	/* The kernel's own time, which does not count. */
	wait_for_completion(&gate->counted);
	return wait_event_timeout(gate->wait, percpu_ref_is_zero(&gate->threads),
				  msecs_to_jiffies(ms));
}

/** vfence_gate_open - let clients enter again */
void vfence_gate_open(struct vfence_adapter *adapter)
{
	struct vfence_gate *gate = &adapter->gate;

	percpu_ref_resurrect(&gate->threads);
	vfence_wake_all(&gate->open);
}
