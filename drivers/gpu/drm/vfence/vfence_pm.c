// SPDX-License-Identifier: GPL-2.0-only
/*
 * D3: power an idle adapter down, and up again.
 */

#include <linux/pm_runtime.h>

#include "core/vfence_adapter.h"
#include "core/vfence_power.h"
#include "mem/vfence_mover.h"
#include "mem/vfence_segment.h"
#include "queue/vfence_doorbell.h"
#include "vfence_pm.h"
#include "vfence_race_point.h"

static int pm_busy(struct vfence_adapter *adapter)
{
	vfence_power_retry(adapter);
	vfence_hold(BUSY);
	return -EBUSY;
}

/*
 * No queue has work, so all contexts can leave their engines. Disconnect the doorbells
 * first: a client that submits must connect, and the connect wakes the adapter. Then move
 * the pages out of video memory, and then switch the power off.
 */
static int pm_suspend_adapter(struct device *dev)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);
	int ret;

	if (!vgpu_power_is_idle(adapter->gpu))
		return pm_busy(adapter);

	vfence_doorbell_force_reconnect_all(adapter);
	ret = vfence_mover_power_off(adapter);
	if (!ret && vgpu_power_enter_d3(adapter->gpu)) {
		vfence_count(adapter, VFENCE_COUNT_D3);
		return 0;
	}

	vfence_segment_power_on(adapter);
	return pm_busy(adapter);
}

static int pm_resume_adapter(struct device *dev)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);

	vgpu_power_enter_d0(adapter->gpu);
	vfence_segment_power_on(adapter);
	return 0;
}

const struct dev_pm_ops vfence_pm_ops = {
	RUNTIME_PM_OPS(pm_suspend_adapter, pm_resume_adapter, NULL)
};

