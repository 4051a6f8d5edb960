// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timeout detection and recovery (TDR): what an adapter does when something takes too long.
 */

#include <linux/mutex.h>

#include "core/vfence_adapter.h"
#include "reset/vfence_tdr.h"

/** vfence_tdr_init - configure an adapter as Windows is by default; cannot fail */
void vfence_tdr_init(struct vfence_adapter *adapter)
{
	adapter->tdr = (struct vfence_timeout_config)VFENCE_TIMEOUT_DEFAULTS;
	mutex_init(&adapter->reset.tdr_lock);
}

/** vfence_tdr_fini - undo vfence_tdr_init() */
void vfence_tdr_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->reset.tdr_lock);
}

/**
 * vfence_tdr_timed_out - something has taken longer than it may
 * @adapter: the adapter
 *
 * If the configuration says so, the adapter is lost on return (WDDM-165). Any context.
 *
 * Return: true if the caller is to recover, false if it is to do nothing.
 */
bool vfence_tdr_timed_out(struct vfence_adapter *adapter)
{
	const struct vfence_timeout_config config = {
		.level = READ_ONCE(adapter->tdr.level),
		.debug_mode = READ_ONCE(adapter->tdr.debug_mode),
	};
	enum vfence_timeout_action action = vfence_timeout_decide(&config);

	if (action == VFENCE_TIMEOUT_FATAL)
		vfence_adapter_lose(adapter, VFENCE_STOP_TDR_FAILURE, 0);
	return action == VFENCE_TIMEOUT_RECOVER;
}
