// SPDX-License-Identifier: GPL-2.0-only
/* The platform devices to which the driver binds: one for each adapter. */

#include <linux/platform_device.h>

#include "core/vfence_config.h"
#include "vfence_platform.h"

/* A device changes under the lock of its instance, or when the module is loaded or unloaded. */
static struct platform_device *platform_devices[VFENCE_MAX_ADAPTERS];

/**
 * vfence_platform_add - make the device of an adapter, to which the driver may bind
 * @index: number of the adapter
 *
 * Return: 0, or -EINVAL for parameters that are not possible: a bad one must fail the load, not
 * only one probe.
 */
int vfence_platform_add(unsigned int index)
{
	struct vfence_config config;
	struct platform_device *pdev;

	if (vfence_config_get(index, &config))
		return -EINVAL;

	pdev = platform_device_register_simple("vfence", index, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);

	platform_devices[index] = pdev;
	return 0;
}

/** vfence_platform_is_bound - return true if the probe has worked */
bool vfence_platform_is_bound(unsigned int index)
{
	struct device *dev = &platform_devices[index]->dev;
	bool bound;

	device_lock(dev);
	bound = dev->driver;
	device_unlock(dev);
	return bound;
}

/** vfence_platform_remove - remove a device, and its adapter under load */
void vfence_platform_remove(unsigned int index)
{
	platform_device_unregister(platform_devices[index]);
	platform_devices[index] = NULL;
}

/** vfence_platform_remove_all - remove all devices */
void vfence_platform_remove_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(platform_devices); i++)
		if (platform_devices[i])
			vfence_platform_remove(i);
}
