// SPDX-License-Identifier: GPL-2.0
/*
 * The shape of the adapters: module parameters and their validation.
 */

#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>

#include "vfence_config.h"

static unsigned int adapters = 1;
module_param(adapters, uint, 0444);
MODULE_PARM_DESC(adapters, "number of adapters, 1 to 8 (default 1)");

static unsigned int user_nodes[VFENCE_MAX_ADAPTERS] = {
	[0 ... VFENCE_MAX_ADAPTERS - 1] = 0xf
};
module_param_array(user_nodes, uint, NULL, 0444);
MODULE_PARM_DESC(user_nodes, "per adapter: mask of nodes with user-mode submission (default 0xf)");

static unsigned int doorbells[VFENCE_MAX_ADAPTERS] = {
	[0 ... VFENCE_MAX_ADAPTERS - 1] = 16
};
module_param_array(doorbells, uint, NULL, 0444);
MODULE_PARM_DESC(doorbells, "per adapter: physical doorbells, 1 to 64 (default 16)");

static unsigned int irq_records[VFENCE_MAX_ADAPTERS] = {
	[0 ... VFENCE_MAX_ADAPTERS - 1] = VGPU_IRQ_RECORDS
};
module_param_array(irq_records, uint, NULL, 0444);
MODULE_PARM_DESC(irq_records,
		 "per adapter: usable interrupt records, 0 to 64; 0: every interrupt scans");

unsigned int vfence_config_adapters(void)
{
	return adapters;
}

/**
 * vfence_config_get - validated shape of an adapter
 * @index: which
 * @config: filled
 *
 * Return: 0, or -EINVAL for parameters out of range.
 */
int vfence_config_get(unsigned int index, struct vfence_config *config)
{
	static const u8 classes[] = { DRM_VFENCE_NODE_GFX, DRM_VFENCE_NODE_COMPUTE,
				      DRM_VFENCE_NODE_COPY, DRM_VFENCE_NODE_MM };

	if (index >= VFENCE_MAX_ADAPTERS || adapters < 1 || adapters > VFENCE_MAX_ADAPTERS)
		return -EINVAL;
	if (user_nodes[index] >= BIT(ARRAY_SIZE(classes)) || !doorbells[index] ||
	    doorbells[index] > VGPU_MAX_DOORBELLS || irq_records[index] > VGPU_IRQ_RECORDS)
		return -EINVAL;
	*config = (struct vfence_config) {
		.gpu.nodes = ARRAY_SIZE(classes),
		.gpu.doorbells = doorbells[index],
		.gpu.irq_records = irq_records[index],
		.user_nodes = user_nodes[index],
	};
	memcpy(config->gpu.node_class, classes, sizeof(classes));
	return 0;
}
