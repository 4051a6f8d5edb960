// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual functions: DRM devices of their own on the engines of a physical one. The attributes are
 * those of PCI devices: sriov_totalvfs, sriov_numvfs, and the links virtfnN and physfn.
 */

#include <linux/device.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/platform_device.h>
#include <linux/sysfs.h>

#include "core/vfence_adapter.h"
#include "vf/vfence_vf_exclusive.h"
#include "vf/vfence_admin.h"
#include "vf/vfence_vf_migration.h"
#include "vf/vfence_vf.h"
#include "vf/vfence_vf_sched.h"

/** vfence_vf_physical - the physical function of a virtual one, which is its parent device */
struct vfence_adapter *vfence_vf_physical(struct vfence_adapter *adapter)
{
	return dev_get_drvdata(adapter->drm.dev->parent);
}

/** vfence_vf_join - a virtual function has started: it takes part in the sharing of the engines */
void vfence_vf_join(struct vfence_adapter *adapter)
{
	struct vfence_vf *vf;

	if (!adapter->config.vf)
		return;
	vf = &vfence_vf_physical(adapter)->vf;
	vfence_vf_sched_join(vf->sched, adapter);
	vfence_vf_exclusive_join(vf->exclusive, adapter->gpu);
	vfence_vf_migration_join(vf->state, adapter);
}

/** vfence_vf_leave - a virtual function is about to stop: on return it owns no engines */
void vfence_vf_leave(struct vfence_adapter *adapter)
{
	struct vfence_vf *vf;

	if (!adapter->config.vf)
		return;
	vf = &vfence_vf_physical(adapter)->vf;
	vfence_vf_sched_leave(vf->sched, adapter);
	vfence_vf_exclusive_leave(vf->exclusive, adapter->gpu);
	vfence_vf_migration_leave(vf->state, adapter);
}

/* The number of the platform device; see vfence_config_get(). */
static int vf_number(struct vfence_adapter *adapter, unsigned int i)
{
	return VFENCE_MAX_VFS * (to_platform_device(adapter->drm.dev)->id + 1) + i;
}

static void vf_link(struct vfence_adapter *adapter, unsigned int i, bool add)
{
	struct device *dev = adapter->drm.dev, *child = &adapter->vf.device[i]->dev;
	char name[20];

	snprintf(name, sizeof(name), "virtfn%u", i);
	if (!add) {
		sysfs_remove_link(&child->kobj, "physfn");
		sysfs_remove_link(&dev->kobj, name);
		return;
	}
	/* A link that cannot be made is missed by people only. */
	if (sysfs_create_link(&dev->kobj, &child->kobj, name) ||
	    sysfs_create_link(&child->kobj, &dev->kobj, "physfn"))
		dev_dbg(dev, "no links for virtual function %u\n", i + 1);
}

/* Return: 0, -ENODEV if the probe of the function has failed, or another error. */
static int vf_create(struct vfence_adapter *adapter, unsigned int i)
{
	struct platform_device *pdev;
	int ret;

	pdev = platform_device_alloc("vfence", vf_number(adapter, i));
	if (!pdev)
		return -ENOMEM;
	pdev->dev.parent = adapter->drm.dev;
	ret = platform_device_add(pdev);
	if (ret) {
		platform_device_put(pdev);
		return ret;
	}
	adapter->vf.device[i] = pdev;
	vf_link(adapter, i, true);

	/* The probe is over. It fails on Linux 6.1 if there are 64 DRM devices already. */
	if (!READ_ONCE(pdev->dev.driver)) {
		dev_err(adapter->drm.dev, "virtual function %u has no DRM device\n", i + 1);
		return -ENODEV;
	}
	return 0;
}

/* Undo vf_begin_locked(), also if only a part of it has succeeded. */
static void vf_end_locked(struct vfence_vf *vf)
{
	lockdep_assert_held(&vf->lock);
	vfence_admin_destroy(vf->admin);
	vf->admin = NULL;
	vfence_vf_migration_destroy(vf->state);
	vf->state = NULL;
	if (vf->sched)
		vfence_vf_sched_stop(vf->sched);
	if (vf->exclusive)
		vfence_vf_exclusive_destroy(vf->exclusive);
	vf->exclusive = NULL;
	if (vf->sched)
		vfence_vf_sched_destroy(vf->sched);
	vf->sched = NULL;
}

/* Remove the functions from number @from on, the last one first. */
static void vf_destroy_locked(struct vfence_adapter *adapter, unsigned int from)
{
	struct vfence_vf *vf = &adapter->vf;
	unsigned int i = VFENCE_MAX_VFS;

	lockdep_assert_held(&vf->lock);
	while (i-- > from) {
		if (!vf->device[i])
			continue;
		vf_link(adapter, i, false);
		platform_device_unregister(vf->device[i]);
		vf->device[i] = NULL;
	}
	if (!from)
		vf_end_locked(vf);
}

static int vf_begin_locked(struct vfence_adapter *adapter)
{
	struct vfence_vf *vf = &adapter->vf;

	lockdep_assert_held(&vf->lock);
	vf->sched = vfence_vf_sched_create(adapter);
	if (IS_ERR(vf->sched)) {
		int ret = PTR_ERR(vf->sched);

		vf->sched = NULL;
		return ret;
	}
	vf->exclusive = vfence_vf_exclusive_create(vf->sched, adapter->gpu, adapter->name);
	if (IS_ERR(vf->exclusive)) {
		int ret = PTR_ERR(vf->exclusive);

		vf->exclusive = NULL;
		return ret;
	}
	vf->state = vfence_vf_migration_create(vf->sched, vf->exclusive,
					       adapter->drm.primary->debugfs_root);
	if (!vf->state)
		return -ENOMEM;
	vf->admin = vfence_admin_create(adapter);
	return vf->admin ? 0 : -ENOMEM;
}

static int vf_set_count_locked(struct vfence_adapter *adapter, unsigned int count)
{
	struct vfence_vf *vf = &adapter->vf;
	unsigned int i;
	int ret = 0;

	lockdep_assert_held(&vf->lock);
	if (count == vf->count)
		return 0;
	/* As of PCI devices: another number only by way of none. */
	if (count && vf->count)
		return -EBUSY;
	if (count)
		ret = vf_begin_locked(adapter);
	for (i = 0; !ret && i < count; i++)
		ret = vf_create(adapter, i);
	if (ret || !count)
		vf_destroy_locked(adapter, 0);
	WRITE_ONCE(vf->count, ret ? 0 : count);
	return ret;
}

/**
 * vfence_vf_set_count - create virtual functions, or remove all
 * @adapter: the physical function
 * @count: number of functions
 *
 * Return: 0, -ERANGE, -EBUSY if there are some already, -ENODEV if one of them gets no DRM device,
 * or another error, and there are none then.
 */
int vfence_vf_set_count(struct vfence_adapter *adapter, unsigned int count)
{
	int ret;

	if (count > VFENCE_MAX_VFS)
		return -ERANGE;
	mutex_lock(&adapter->vf.lock);
	ret = vf_set_count_locked(adapter, count);
	mutex_unlock(&adapter->vf.lock);
	return ret;
}

/** vfence_vf_remove - remove the virtual functions of an adapter, if it has any */
void vfence_vf_remove(struct vfence_adapter *adapter)
{
	/* A virtual one has none, and goes while the lock of its physical one is held. */
	if (!adapter->config.vf)
		vfence_vf_set_count(adapter, 0);
}

static ssize_t sriov_totalvfs_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", VFENCE_MAX_VFS);
}

static DEVICE_ATTR_RO(sriov_totalvfs);

static ssize_t sriov_numvfs_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct vfence_adapter *adapter = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", READ_ONCE(adapter->vf.count));
}

static ssize_t sriov_numvfs_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	unsigned int number;
	int ret = kstrtouint(buf, 0, &number);

	if (!ret)
		ret = vfence_vf_set_count(dev_get_drvdata(dev), number);
	return ret ? ret : count;
}

static DEVICE_ATTR_RW(sriov_numvfs);

static struct attribute *vf_attrs[] = {
	&dev_attr_sriov_totalvfs.attr,
	&dev_attr_sriov_numvfs.attr,
	NULL,
};

/* Virtual functions have no virtual functions. */
static umode_t vf_is_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	return to_platform_device(kobj_to_dev(kobj))->id < VFENCE_MAX_ADAPTERS ? attr->mode : 0;
}

/** vfence_vf_group - attributes of an adapter's device */
const struct attribute_group vfence_vf_group = {
	.attrs = vf_attrs,
	.is_visible = vf_is_visible,
};

/** vfence_vf_init - prepare an adapter for virtual functions; cannot fail */
void vfence_vf_init(struct vfence_adapter *adapter)
{
	mutex_init(&adapter->vf.lock);
}

/** vfence_vf_fini - undo vfence_vf_init() */
void vfence_vf_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->vf.lock);
}
