// SPDX-License-Identifier: GPL-2.0-only
/*
 * D3: what happens before an idle adapter is powered down and after it is powered up.
 */

#include <linux/pm_runtime.h>

#include "core/vfence_adapter.h"
#include "mem/vfence_segment.h"
#include "queue/vfence_doorbell.h"
#include "vfence_pm.h"

/*
 * Ask again after another delay: the queue that keeps us awake may go idle while we
 * are here, when vfence_power_idle() is not heard, or while it is disconnected.
 */
static int pm_busy(struct device *dev)
{
	pm_runtime_mark_last_busy(dev);
	return -EBUSY;
}

/*
 * Nothing has work, so all contexts can leave. Doorbells go first, so that whoever
 * submits connects, and so wakes us; then what is in video memory; then the power.
 */
static int pm_suspend_adapter(struct device *dev)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);
	int ret;

	if (!vgpu_power_is_idle(adapter->gpu))
		return pm_busy(dev);
	vfence_doorbell_force_reconnect_all(adapter);
	ret = vfence_segment_power_off(adapter);
	if (!ret && vgpu_power_enter_d3(adapter->gpu)) {
		vfence_count(adapter, VFENCE_COUNT_D3);
		return 0;
	}
	vfence_segment_power_on(adapter);
	return pm_busy(dev);
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

