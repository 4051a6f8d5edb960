// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration of the adapters: the module parameters and their validation.
 */

#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "core/vfence_config.h"

#define VFENCE_MAX_LOCAL_PAGES		65536
#define VFENCE_MAX_USER_MEMORY_MIB	65536

static unsigned int adapters = 1;
module_param(adapters, uint, 0444);
MODULE_PARM_DESC(adapters, "number of adapters, 1 to 16 (default 1)");

/* A parameter has a value for each adapter, also for one that is made at run time. */
#define PARAM_TYPE_uint	unsigned int
#define PARAM_TYPE_ulong	unsigned long
#define PARAM_TYPE_bool	bool
#define VFENCE_PARAM(name, type, initial, member, text)					\
	static PARAM_TYPE_##type name[] = { [0 ... VFENCE_MAX_ADAPTERS - 1] = (initial) };	\
	module_param_array(name, type, NULL, 0444);					\
	MODULE_PARM_DESC(name, "per adapter: " text);
#include "core/vfence_config_params.h"

static const struct config_values {
	void *values;
	/* Of a value in bytes: 1 for a bool. */
	size_t size;
} config_values[] = {
#define VFENCE_PARAM(name, type, initial, member, text)	{ name, sizeof((name)[0]) },
#include "core/vfence_config_params.h"
};

unsigned int vfence_config_adapters(void)
{
	return adapters;
}

static DEFINE_MUTEX(config_lock);
/* The numbers of adapters that are made at run time; under config_lock. */
static DECLARE_BITMAP(config_claimed, VFENCE_MAX_ADAPTERS);

/** vfence_config_value - a parameter of an adapter */
unsigned long vfence_config_value(unsigned int index, enum vfence_config_param param)
{
	const struct config_values *v = &config_values[param];

	if (v->size == sizeof(bool))
		return ((bool *)v->values)[index];
	return v->size == sizeof(int) ? ((unsigned int *)v->values)[index] :
					((unsigned long *)v->values)[index];
}

static void config_store(unsigned int index, enum vfence_config_param param, unsigned long value)
{
	const struct config_values *v = &config_values[param];

	if (v->size == sizeof(bool))
		((bool *)v->values)[index] = value;
	else if (v->size == sizeof(int))
		((unsigned int *)v->values)[index] = value;
	else
		((unsigned long *)v->values)[index] = value;
}

/**
 * vfence_config_set - set a parameter of an adapter whose number is claimed
 * @index: number of the adapter, which does not exist yet
 * @param: the parameter
 * @text: a number, or a bool as module parameters have it
 *
 * Return: 0, -EINVAL or -ERANGE. vfence_config_get() checks whether the values are possible.
 */
int vfence_config_set(unsigned int index, enum vfence_config_param param, const char *text)
{
	const struct config_values *v = &config_values[param];
	unsigned long value;
	bool on;
	int ret;

	if (v->size == sizeof(bool)) {
		ret = kstrtobool(text, &on);
		value = on;
	} else {
		ret = kstrtoul(text, 0, &value);
		if (!ret && v->size == sizeof(int) && value > UINT_MAX)
			ret = -ERANGE;
	}
	if (!ret)
		config_store(index, param, value);
	return ret;
}

/**
 * vfence_config_claim - take the lowest number that no adapter has
 * @claim: output
 *
 * Return: 0, or -ENOSPC if there are as many adapters as may be.
 */
int vfence_config_claim(struct vfence_config_claim *claim)
{
	enum vfence_config_param param;
	unsigned int index;

	mutex_lock(&config_lock);
	index = find_next_zero_bit(config_claimed, VFENCE_MAX_ADAPTERS, adapters);
	if (index < VFENCE_MAX_ADAPTERS)
		set_bit(index, config_claimed);
	mutex_unlock(&config_lock);
	if (index >= VFENCE_MAX_ADAPTERS)
		return -ENOSPC;

	claim->index = index;
	for (param = 0; param < VFENCE_CONFIG_COUNT; param++)
		claim->saved[param] = vfence_config_value(index, param);
	return 0;
}

/** vfence_config_release - give a number back, whose adapter is gone */
void vfence_config_release(const struct vfence_config_claim *claim)
{
	enum vfence_config_param param;

	for (param = 0; param < VFENCE_CONFIG_COUNT; param++)
		config_store(claim->index, param, claim->saved[param]);
	mutex_lock(&config_lock);
	clear_bit(claim->index, config_claimed);
	mutex_unlock(&config_lock);
}

/* Return: the name of the first parameter that is out of range, or NULL. */
static const char *config_fault(const struct vfence_config *config)
{
	const struct vgpu_config *gpu = &config->gpu;
	const struct vgpu_fence_caps *caps = &gpu->fence_caps;
	const struct vfence_versions *native =
		vfence_feature_offered(DRM_VFENCE_FEATURE_NATIVE_FENCE);
	const u64 end = caps->maximum_address ?: DRM_VFENCE_VA_LIMIT;
	const struct {
		const char *name;
		bool in_range;
	} rules[] = {
		{ "vfs", config->vfs <= VFENCE_MAX_VFS },
		/* The last node is for paging. */
		{ "user_nodes", config->user_nodes < BIT(gpu->nodes - 1) },
		{ "dependent_nodes", gpu->dependent_nodes < BIT(gpu->nodes) },
		{ "cpu_percent", gpu->cpu_percent && gpu->cpu_percent <= VGPU_MAX_CPU_PERCENT },
		{ "user_memory_mib", config->user_memory_mib &&
				     config->user_memory_mib <= VFENCE_MAX_USER_MEMORY_MIB },
		{ "doorbells", gpu->doorbells && gpu->doorbells <= VGPU_MAX_DOORBELLS },
		{ "irq_records", gpu->irq_records <= VGPU_IRQ_RECORDS },
		{ "irq_form", gpu->irq_form < VGPU_IRQ_FORMS },
		{ "local_pages", gpu->local_pages <= VFENCE_MAX_LOCAL_PAGES },
		{ "visible_pages", gpu->visible_pages <= gpu->local_pages },
		{ "monitored_signal", gpu->monitored_signal < VGPU_MONITORED_SIGNALS },
		{ "gpu_native_fence", gpu->native_fence < VGPU_NATIVE_FENCE_SUPPORTS },
		{ "fence_stride", is_power_of_2(caps->stride) && caps->stride >= VGPU_STRIDE_MIN &&
				  caps->stride <= PAGE_SIZE },
		{ "fence_max_va", !(end % PAGE_SIZE) && end <= DRM_VFENCE_VA_LIMIT },
		{ "fence_min_va", !(caps->minimum_address % PAGE_SIZE) &&
				  caps->minimum_address < end },
		{ "native_fence_min",
		  vfence_feature_override(native, &config->native_fence_versions) },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (!rules[i].in_range)
			return rules[i].name;
	return NULL;
}

/**
 * vfence_config_get - validate the module parameters of an adapter
 * @number: number of the adapter, or of a virtual function, which has the parameters of its
 *          physical function
 * @config: output
 *
 * Return: 0, or -EINVAL if a parameter is out of range, which the kernel's log names.
 */
int vfence_config_get(unsigned int number, struct vfence_config *config)
{
	static const u8 classes[] = { DRM_VFENCE_NODE_GFX, DRM_VFENCE_NODE_COMPUTE,
				      DRM_VFENCE_NODE_COPY, DRM_VFENCE_NODE_MM,
				      DRM_VFENCE_NODE_PAGING };
	unsigned int index = number;
	const char *fault;

	if (adapters < 1 || adapters > VFENCE_MAX_ADAPTERS) {
		pr_err("vfence: adapters is out of range\n");
		return -EINVAL;
	}
	if (number >= VFENCE_MAX_ADAPTERS)
		index = number / VFENCE_MAX_VFS - 1;
	if (index >= VFENCE_MAX_ADAPTERS)
		return -EINVAL;
	if (index >= adapters && !test_bit(index, config_claimed))
		return -EINVAL;

	*config = (struct vfence_config) {
		.gpu.adapter = index,
		.gpu.nodes = ARRAY_SIZE(classes),
#define VFENCE_PARAM(name, type, initial, member, text)	.member = (name)[index],
#include "core/vfence_config_params.h"
	};
	memcpy(config->gpu.node_class, classes, sizeof(classes));
	fault = config_fault(config);
	if (fault) {
		pr_err("vfence: adapter %u: %s is out of range\n", index, fault);
		return -EINVAL;
	}
	if (number != index) {
		config->vfs = 0;
		config->vf = number % VFENCE_MAX_VFS + 1;
		config->gpu.function = config->vf;
	}
	return 0;
}
