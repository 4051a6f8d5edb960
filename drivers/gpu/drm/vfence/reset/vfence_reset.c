// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of reset/ that the folders below it call.
 */

#include "core/vfence_adapter.h"
#include "reset/vfence_loss.h"
#include "reset/vfence_reset.h"
#include "reset/vfence_tdr.h"
#include "reset/vfence_watch.h"

static const struct vfence_loss_ops reset_loss_ops = {
	.device_hung = vfence_loss_device_hung,
	.device_failed = vfence_loss_device_failed,
	.queue_stuck = vfence_loss_queue_stuck,
	.stop_device = vfence_loss_stop_device_work,
	.timed_out = vfence_tdr_timed_out,
	.asked = vfence_watch_rearm,
	.adapter_lost = vfence_loss_adapter_lost,
};

/** vfence_reset_init - let the lower folders report losses of an adapter; cannot fail */
void vfence_reset_init(struct vfence_adapter *adapter)
{
	vfence_loss_init(adapter);
	adapter->loss = &reset_loss_ops;
}
