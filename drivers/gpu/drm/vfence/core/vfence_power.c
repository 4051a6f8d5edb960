// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runtime power management: calls that keep the adapter awake or let it sleep.
 *
 * It is off by default, as for other devices: `echo auto >power/control` in sysfs lets an
 * idle adapter enter D3 after power/autosuspend_delay_ms.
 */

#include <linux/pm_runtime.h>
#include <linux/workqueue.h>

#include "core/vfence_adapter.h"
#include "core/vfence_power.h"

/* An adapter that was busy is asked again so much later. */
#define POWER_RETRY_MS	50

/* Wait until the kernel has seen that the adapter was busy: before, it takes no request. */
static void power_retry_work(struct work_struct *work)
{
	struct vfence_adapter *adapter = container_of(to_delayed_work(work), struct vfence_adapter,
						      power_retry);

	pm_runtime_autosuspend(adapter->drm.dev);
}

/** vfence_power_start - start runtime power management of an adapter that is set up */
void vfence_power_start(struct vfence_adapter *adapter)
{
	struct device *dev = adapter->drm.dev;

	INIT_DELAYED_WORK(&adapter->power_retry, power_retry_work);
	pm_runtime_set_active(dev);
	pm_runtime_set_autosuspend_delay(dev, 1000);
	pm_runtime_use_autosuspend(dev);
	/* The adapter stays in D0 until the administrator writes "auto". */
	pm_runtime_forbid(dev);
	pm_runtime_enable(dev);
}

/** vfence_power_stop - power the adapter up and end its runtime power management */
void vfence_power_stop(struct vfence_adapter *adapter)
{
	struct device *dev = adapter->drm.dev;

	pm_runtime_get_sync(dev);
	pm_runtime_disable(dev);
	/* The kernel calls the driver no longer, so nothing queues the work again. */
	cancel_delayed_work_sync(&adapter->power_retry);
	pm_runtime_dont_use_autosuspend(dev);
	pm_runtime_put_noidle(dev);
}

/** vfence_power_get - wake the adapter and keep it awake until vfence_power_put() */
int vfence_power_get(struct vfence_adapter *adapter)
{
	return pm_runtime_resume_and_get(adapter->drm.dev);
}

/** vfence_power_put - let the adapter sleep after the autosuspend delay */
void vfence_power_put(struct vfence_adapter *adapter)
{
	pm_runtime_mark_last_busy(adapter->drm.dev);
	pm_runtime_put_autosuspend(adapter->drm.dev);
}

/** vfence_power_idle - report that a queue, maybe the last busy one, has become idle */
void vfence_power_idle(struct vfence_adapter *adapter)
{
	pm_runtime_mark_last_busy(adapter->drm.dev);
	pm_request_autosuspend(adapter->drm.dev);
}

/**
 * vfence_power_retry - ask the adapter later to sleep, which is busy while the kernel asks
 * @adapter: the adapter
 *
 * A queue that keeps the adapter awake may become idle during the kernel's call, when
 * vfence_power_idle() has no effect. The kernel itself asks again only if the call takes less
 * than the autosuspend delay.
 */
void vfence_power_retry(struct vfence_adapter *adapter)
{
	schedule_delayed_work(&adapter->power_retry, msecs_to_jiffies(POWER_RETRY_MS));
}
