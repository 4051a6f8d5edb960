// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loss of an adapter, reported by whichever room finds its hardware broken.
 */

#include "core/vfence_adapter.h"

/**
 * vfence_adapter_lose - the hardware failed in a way that cannot be repaired
 * @adapter: the adapter
 * @subcode: subcode of WDDM's bug check 0x119 (WDDM-68)
 *
 * Windows answers such a failure with a bug check. Here it costs the adapter, not the
 * machine: its queues are aborted, its waits fail, its devices are stopped; unbinding
 * and binding it again makes a new one. Any context.
 */
void vfence_adapter_lose(struct vfence_adapter *adapter, unsigned int subcode)
{
	/* Full barrier. Partner: queue_create_locked(), which publishes, then reads it. */
	if (xchg(&adapter->lost, true))
		return;
	drm_err(&adapter->drm, "adapter lost (0x119, 0x%x): bind it again\n", subcode);
	adapter->loss->adapter_lost(adapter);
}
