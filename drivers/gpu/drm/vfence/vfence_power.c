// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power: engines that go to F1, and runtime power management of the adapter.
 *
 * Off by default, as for other devices: `echo auto >power/control` in sysfs lets an
 * idle adapter go to D3 after power/autosuspend_delay_ms.
 */

#include <linux/pm_runtime.h>

#include "queue/vfence_queue.h"
#include "vfence_adapter.h"
#include "vfence_power.h"

static void disconnect_of_node(struct vfence_queue *queue, void *node)
{
	if (queue->node == *(unsigned int *)node)
		vfence_doorbell_relearn(queue);
}

/**
 * vfence_power_enter_f1 - an engine asks for F1
 * @adapter: the adapter
 * @node: its node
 *
 * All doorbells of the engine first, then F0 to F1 (WDDM-196).
 */
void vfence_power_enter_f1(struct vfence_adapter *adapter, unsigned int node)
{
	vfence_queue_for_each(adapter, disconnect_of_node, &node);
	if (vgpu_power_enter_f1(adapter->gpu, node))
		vfence_count(adapter, VFENCE_COUNT_F1);
}

/*
 * Ask again after another delay: the queue that keeps us awake may go idle while we
 * are here, when vfence_power_idle() is not heard, or while it is disconnected.
 */
static int busy(struct device *dev)
{
	pm_runtime_mark_last_busy(dev);
	return -EBUSY;
}

/*
 * Nothing has work, so all contexts can leave. Doorbells go first, so that whoever
 * submits connects, and so wakes us; then what is in video memory; then the power.
 */
static int runtime_suspend(struct device *dev)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);
	int ret;

	if (!vgpu_power_is_idle(adapter->gpu))
		return busy(dev);
	vfence_doorbell_relearn_all(adapter);
	ret = vfence_segment_leave(adapter);
	if (!ret && vgpu_power_enter_d3(adapter->gpu)) {
		vfence_count(adapter, VFENCE_COUNT_D3);
		return 0;
	}
	vfence_segment_enter(adapter);
	return busy(dev);
}

static int runtime_resume(struct device *dev)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);

	vgpu_power_enter_d0(adapter->gpu);
	vfence_segment_enter(adapter);
	return 0;
}

const struct dev_pm_ops vfence_pm_ops = {
	RUNTIME_PM_OPS(runtime_suspend, runtime_resume, NULL)
};

/** vfence_power_start - the adapter is set up and powered */
void vfence_power_start(struct vfence_adapter *adapter)
{
	struct device *dev = adapter->drm.dev;

	pm_runtime_set_active(dev);
	pm_runtime_set_autosuspend_delay(dev, 1000);
	pm_runtime_use_autosuspend(dev);
	/* Until somebody writes "auto". */
	pm_runtime_forbid(dev);
	pm_runtime_enable(dev);
}

/** vfence_power_stop - power it, and leave it so */
void vfence_power_stop(struct vfence_adapter *adapter)
{
	struct device *dev = adapter->drm.dev;

	pm_runtime_get_sync(dev);
	pm_runtime_disable(dev);
	pm_runtime_dont_use_autosuspend(dev);
	pm_runtime_put_noidle(dev);
}

/** vfence_power_get - wake the adapter and keep it awake */
int vfence_power_get(struct vfence_adapter *adapter)
{
	return pm_runtime_resume_and_get(adapter->drm.dev);
}

/** vfence_power_put - it may sleep after a while */
void vfence_power_put(struct vfence_adapter *adapter)
{
	pm_runtime_mark_last_busy(adapter->drm.dev);
	pm_runtime_put_autosuspend(adapter->drm.dev);
}

/** vfence_power_idle - a queue went idle, maybe the last that had work */
void vfence_power_idle(struct vfence_adapter *adapter)
{
	pm_runtime_mark_last_busy(adapter->drm.dev);
	pm_request_autosuspend(adapter->drm.dev);
}
