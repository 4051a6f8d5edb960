// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loss of an adapter: every folder reports broken hardware here.
 */

#include "core/vfence_adapter.h"

/**
 * vfence_adapter_lose - report that the hardware of an adapter has failed for good
 * @adapter: the adapter
 * @code: WDDM's bug check, one of VFENCE_STOP_*
 * @subcode: its first parameter; for VFENCE_STOP_SCHEDULER_ERROR see WDDM-68
 *
 * Windows stops the machine with a bug check. Here only the adapter is lost: its queues
 * are aborted, its waits fail and its devices are stopped. To get a working adapter,
 * unbind the device and bind it again. Any context.
 */
void vfence_adapter_lose(struct vfence_adapter *adapter, unsigned int code, unsigned int subcode)
{
	/* Full barrier. Partner: queue_publish_locked() publishes the queue, then reads ->lost. */
	if (xchg(&adapter->lost, true))
		return;
	drm_err(&adapter->drm, "adapter lost (0x%x, 0x%x): bind it again\n", code, subcode);
	adapter->loss->adapter_lost(adapter);
}
