// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration of timeout detection and recovery (TDR): the attributes in the folder "tdr" of
 * an adapter's device. Documentation/gpu/vfence/tdr.rst describes them.
 */

#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/sysfs.h>

#include "core/vfence_adapter.h"
#include "queue/vfence_queue.h"
#include "reset/vfence_tdr.h"

/* Times that run already end by the new configuration. */
static void tdr_apply(struct vfence_adapter *adapter)
{
	vfence_queue_retime_all(adapter);
	wake_up_all(&adapter->queues.suspend_wait);
	queue_work(adapter->work_wq, &adapter->reset.engine_work);
}

static ssize_t tdr_store(struct device *dev, const char *buf, size_t count,
			 bool (*valid)(u32 value), u32 *member)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);
	u32 value;
	int ret = kstrtou32(buf, 0, &value);

	if (ret)
		return ret;
	if (!valid(value))
		return -EINVAL;

	mutex_lock(&adapter->reset.tdr_lock);
	WRITE_ONCE(*member, value);
	tdr_apply(adapter);
	mutex_unlock(&adapter->reset.tdr_lock);
	return count;
}

static struct vfence_timeout_config *tdr_of(struct device *dev)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);

	return &adapter->tdr;
}

#define TDR_DEFINE_ATTRIBUTE(name)							\
static ssize_t tdr_##name##_show(struct device *dev, struct device_attribute *attr,	\
				 char *buf)						\
{											\
	return sysfs_emit(buf, "%u\n", READ_ONCE(tdr_of(dev)->name));			\
}											\
											\
static ssize_t tdr_##name##_store(struct device *dev, struct device_attribute *attr,	\
				  const char *buf, size_t count)			\
{											\
	return tdr_store(dev, buf, count, vfence_timeout_##name##_valid,		\
			 &tdr_of(dev)->name);						\
}											\
static DEVICE_ATTR(name, 0644, tdr_##name##_show, tdr_##name##_store)

TDR_DEFINE_ATTRIBUTE(level);
TDR_DEFINE_ATTRIBUTE(delay_ms);
TDR_DEFINE_ATTRIBUTE(debug_mode);

static struct attribute *tdr_attrs[] = {
	&dev_attr_level.attr,
	&dev_attr_delay_ms.attr,
	&dev_attr_debug_mode.attr,
	NULL,
};

static const struct attribute_group tdr_group = {
	.name = "tdr",
	.attrs = tdr_attrs,
};

/** vfence_tdr_groups - groups of attributes of an adapter's device */
const struct attribute_group *vfence_tdr_groups[] = { &tdr_group, NULL };

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
