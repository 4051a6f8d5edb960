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
#include "core/vfence_power.h"
#include "queue/vfence_job.h"
#include "reset/vfence_recovery.h"
#include "reset/vfence_tdr_config.h"
#include "reset/vfence_watch.h"

/* Times that run already end by the new configuration. */
static void tdr_apply(struct vfence_adapter *adapter)
{
	vfence_job_retime_all(adapter);
	vfence_watch_retime(adapter);
	queue_work(adapter->reset.wq, &adapter->reset.engine_work);
}

/**
 * struct tdr_attribute - an attribute that is a member of the configuration
 */
struct tdr_attribute {
	/** @attr: the attribute */
	struct device_attribute attr;
	/** @valid: is the value in range */
	bool (*valid)(u32 value);
	/** @offset: offset of the member in &struct vfence_timeout_config */
	size_t offset;
};

static u32 *tdr_member(struct vfence_adapter *adapter, struct device_attribute *attr)
{
	return (void *)&adapter->tdr + container_of(attr, struct tdr_attribute, attr)->offset;
}

static ssize_t tdr_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(*tdr_member(dev_get_drvdata(dev), attr)));
}

static ssize_t tdr_store(struct device *dev, struct device_attribute *attr, const char *buf,
			 size_t count)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);
	u32 value;
	int ret = kstrtou32(buf, 0, &value);

	if (ret)
		return ret;
	if (!container_of(attr, struct tdr_attribute, attr)->valid(value))
		return -EINVAL;

	mutex_lock(&adapter->reset.tdr_lock);
	WRITE_ONCE(*tdr_member(adapter, attr), value);
	tdr_apply(adapter);
	mutex_unlock(&adapter->reset.tdr_lock);
	return count;
}

#define TDR_ATTR(name)		.attr = __ATTR(name, 0644, tdr_show, tdr_store)
#define TDR_MEMBER(name)	.offset = offsetof(struct vfence_timeout_config, name)

static struct tdr_attribute tdr_attributes[] = {
	{ TDR_ATTR(level), TDR_MEMBER(level), .valid = vfence_timeout_level_valid },
	{ TDR_ATTR(delay_ms), TDR_MEMBER(delay_ms), .valid = vfence_timeout_delay_ms_valid },
	{ TDR_ATTR(ddi_delay_ms), TDR_MEMBER(ddi_delay_ms),
	  .valid = vfence_timeout_delay_ms_valid },
	{ TDR_ATTR(debug_mode), TDR_MEMBER(debug_mode), .valid = vfence_timeout_debug_mode_valid },
	{ TDR_ATTR(limit_count), TDR_MEMBER(limit_count),
	  .valid = vfence_timeout_limit_count_valid },
	{ TDR_ATTR(limit_time_s), TDR_MEMBER(limit_time_s),
	  .valid = vfence_timeout_limit_time_s_valid },
};

/* WDDM-160: an adapter that is lost is reset once more, and goes on if that works. */
static ssize_t recover_store(struct device *dev, struct device_attribute *attr, const char *buf,
			     size_t count)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);
	bool on;
	int ret = kstrtobool(buf, &on);

	if (!ret && !on)
		ret = -EINVAL;
	if (!ret)
		ret = vfence_power_get(adapter);
	if (ret)
		return ret;
	ret = vfence_recovery_revive(adapter);
	vfence_power_put(adapter);
	return ret ? ret : count;
}

static DEVICE_ATTR_WO(recover);

static struct attribute *tdr_attrs[] = {
	&tdr_attributes[0].attr.attr,
	&tdr_attributes[1].attr.attr,
	&tdr_attributes[2].attr.attr,
	&tdr_attributes[3].attr.attr,
	&tdr_attributes[4].attr.attr,
	&tdr_attributes[5].attr.attr,
	&dev_attr_recover.attr,
	NULL,
};

/** vfence_tdr_config_group - the folder "tdr" of an adapter's device */
const struct attribute_group vfence_tdr_config_group = {
	.name = "tdr",
	.attrs = tdr_attrs,
};
