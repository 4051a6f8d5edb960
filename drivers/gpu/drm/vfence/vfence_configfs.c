// SPDX-License-Identifier: GPL-2.0-only
/*
 * configfs: adapters that are made and removed at run time. A folder in /sys/kernel/config/vfence
 * is an adapter, which exists while its file "enable" is 1. The other files are the module
 * parameters, by their names.
 *
 * States of an instance, with what leads from one to the other::
 *
 *            mkdir             enable=1
 *   (none) -------> claimed -------------> enabled
 *          <-------    ^  | enable=1       |   |
 *            rmdir     |  | fails          |   | rmdir
 *                      +--+                |   +--------> (none)
 *                      ^                   |
 *                      +-------------------+ enable=0
 */

#include <linux/configfs.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "core/vfence_config.h"
#include "vfence_configfs.h"
#include "vfence_platform.h"

/**
 * struct configfs_instance - an adapter that is made at run time
 */
struct configfs_instance {
	/** @item: the folder */
	struct config_item item;
	/** @claim: number of the adapter; constant */
	struct vfence_config_claim claim;
	/** @lock: serialises changes of the parameters, and the adapter's beginning and end */
	struct mutex lock;
	/** @enabled: the adapter exists; under @lock */
	bool enabled;
};

static struct configfs_instance *to_instance(struct config_item *item)
{
	return container_of(item, struct configfs_instance, item);
}

static ssize_t instance_show(struct config_item *item, enum vfence_config_param param, char *page)
{
	struct configfs_instance *instance = to_instance(item);

	return sysfs_emit(page, "%lu\n", vfence_config_value(instance->claim.index, param));
}

/* The parameters of an adapter that exists do not change: its functions have them, too. */
static ssize_t instance_store(struct config_item *item, enum vfence_config_param param,
			      const char *page, size_t count)
{
	struct configfs_instance *instance = to_instance(item);
	int ret = -EBUSY;

	mutex_lock(&instance->lock);
	if (!instance->enabled)
		ret = vfence_config_set(instance->claim.index, param, page);
	mutex_unlock(&instance->lock);
	return ret ? ret : count;
}

#define VFENCE_PARAM(_name, type, initial, member, text)					\
static ssize_t instance_##_name##_show(struct config_item *item, char *page)		\
{											\
	return instance_show(item, VFENCE_CONFIG_##_name, page);			\
}											\
static ssize_t instance_##_name##_store(struct config_item *item, const char *page,	\
					size_t count)					\
{											\
	return instance_store(item, VFENCE_CONFIG_##_name, page, count);		\
}											\
CONFIGFS_ATTR(instance_, _name);
#include "core/vfence_config_params.h"

static ssize_t instance_adapter_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", to_instance(item)->claim.index);
}
CONFIGFS_ATTR_RO(instance_, adapter);

static ssize_t instance_enable_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(to_instance(item)->enabled));
}

/* Make the adapter. Return: 0, -EINVAL for parameters that are not possible, or -ENODEV. */
static int instance_begin_locked(struct configfs_instance *instance)
{
	int ret;

	lockdep_assert_held(&instance->lock);
	ret = vfence_platform_add(instance->claim.index);
	if (ret)
		return ret;
	if (vfence_platform_is_bound(instance->claim.index))
		return 0;

	vfence_platform_remove(instance->claim.index);
	return -ENODEV;
}

static int instance_set_enabled_locked(struct configfs_instance *instance, bool on)
{
	int ret = 0;

	lockdep_assert_held(&instance->lock);
	if (instance->enabled == on)
		return 0;

	if (on)
		ret = instance_begin_locked(instance);
	else
		vfence_platform_remove(instance->claim.index);

	if (!ret)
		WRITE_ONCE(instance->enabled, on);
	return ret;
}

static ssize_t instance_enable_store(struct config_item *item, const char *page, size_t count)
{
	struct configfs_instance *instance = to_instance(item);
	bool on;
	int ret = kstrtobool(page, &on);

	if (ret)
		return ret;

	mutex_lock(&instance->lock);
	ret = instance_set_enabled_locked(instance, on);
	mutex_unlock(&instance->lock);
	return ret ? ret : count;
}
CONFIGFS_ATTR(instance_, enable);

#define INSTANCE_ATTR(name)	(&instance_attr_##name)

static struct configfs_attribute *instance_attrs[] = {
#define VFENCE_PARAM(name, type, initial, member, text)	INSTANCE_ATTR(name),
#include "core/vfence_config_params.h"
	&instance_attr_adapter,
	&instance_attr_enable,
	NULL,
};

static void instance_release(struct config_item *item)
{
	kfree(to_instance(item));
}

static struct configfs_item_operations instance_ops = {
	.release = instance_release,
};

static const struct config_item_type instance_type = {
	.ct_item_ops = &instance_ops,
	.ct_attrs = instance_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *configfs_make_item(struct config_group *group, const char *name)
{
	struct configfs_instance *instance = kzalloc(sizeof(*instance), GFP_KERNEL);
	int ret;

	if (!instance)
		return ERR_PTR(-ENOMEM);

	ret = vfence_config_claim(&instance->claim);
	if (ret) {
		kfree(instance);
		return ERR_PTR(ret);
	}

	mutex_init(&instance->lock);
	config_item_init_type_name(&instance->item, name, &instance_type);
	return &instance->item;
}

/* No thread is in a file of the folder any more. The adapter goes under load, as at an unbind. */
static void configfs_drop_item(struct config_group *group, struct config_item *item)
{
	struct configfs_instance *instance = to_instance(item);

	mutex_lock(&instance->lock);
	instance_set_enabled_locked(instance, false);
	mutex_unlock(&instance->lock);

	vfence_config_release(&instance->claim);
	config_item_put(item);
}

static struct configfs_group_operations configfs_ops = {
	.make_item = configfs_make_item,
	.drop_item = configfs_drop_item,
};

static const struct config_item_type configfs_type = {
	.ct_group_ops = &configfs_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem configfs_subsystem = {
	.su_group.cg_item = { .ci_namebuf = "vfence", .ci_type = &configfs_type },
	.su_mutex = __MUTEX_INITIALIZER(configfs_subsystem.su_mutex),
};

/** vfence_configfs_init - let adapters be made at run time */
int vfence_configfs_init(void)
{
	config_group_init(&configfs_subsystem.su_group);
	return configfs_register_subsystem(&configfs_subsystem);
}

/** vfence_configfs_fini - the counterpart; each folder holds the module, so that none is left */
void vfence_configfs_fini(void)
{
	configfs_unregister_subsystem(&configfs_subsystem);
}
