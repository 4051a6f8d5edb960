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

/* A parameter has a value for each adapter. */
#define PER_ADAPTER(initial)	{ [0 ... VFENCE_MAX_ADAPTERS - 1] = (initial) }

static unsigned int vfs[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0);
module_param_array(vfs, uint, NULL, 0444);
MODULE_PARM_DESC(vfs,
		 "per adapter: virtual functions, 0 to 16, as sriov_numvfs sets them at run time (default 0)");

static unsigned int user_nodes[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0xf);
module_param_array(user_nodes, uint, NULL, 0444);
MODULE_PARM_DESC(user_nodes, "per adapter: mask of nodes with user-mode submission (default 0xf)");

static unsigned int doorbells[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(16);
module_param_array(doorbells, uint, NULL, 0444);
MODULE_PARM_DESC(doorbells, "per adapter: physical doorbells, 1 to 64 (default 16)");

static bool secondary_doorbells[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(true);
module_param_array(secondary_doorbells, bool, NULL, 0444);
MODULE_PARM_DESC(secondary_doorbells,
		 "per adapter: doorbells have a second address (default on)");

static unsigned int irq_records[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(VGPU_IRQ_RECORDS);
module_param_array(irq_records, uint, NULL, 0444);
MODULE_PARM_DESC(irq_records,
		 "per adapter: usable interrupt records, 0 to 64; 0: every interrupt scans (default 64)");

static unsigned int irq_form[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(VGPU_IRQ_FORM_ARRAY);
module_param_array(irq_form, uint, NULL, 0444);
MODULE_PARM_DESC(irq_form,
		 "per adapter: interrupt records name 0 the fences, 1 the queue, 2 nothing (default 0)");

static unsigned int f1_idle_us[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0);
module_param_array(f1_idle_us, uint, NULL, 0444);
MODULE_PARM_DESC(f1_idle_us,
		 "per adapter: microseconds after which an idle engine asks for F1 (default 0: never)");

static unsigned int hung_us[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0);
module_param_array(hung_us, uint, NULL, 0444);
MODULE_PARM_DESC(hung_us,
		 "per adapter: microseconds without progress after which an engine is reset (default 0: never)");

static unsigned int preempt_us[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(100000);
module_param_array(preempt_us, uint, NULL, 0444);
MODULE_PARM_DESC(preempt_us,
		 "per adapter: microseconds for which a queue that cannot stop may keep other clients off its engine (default 100000; 0: for ever)");

static unsigned int cpu_percent[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(25);
module_param_array(cpu_percent, uint, NULL, 0444);
MODULE_PARM_DESC(cpu_percent,
		 "per adapter: percent of a processor that its engines may use together, 1 to 90 (default 25)");

static unsigned int user_memory_mib[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(128);
module_param_array(user_memory_mib, uint, NULL, 0444);
MODULE_PARM_DESC(user_memory_mib,
		 "per adapter: MiB of kernel memory for the fences, submissions and buffers of one user, 1 to 65536 (default 128)");

static unsigned int dependent_nodes[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0);
module_param_array(dependent_nodes, uint, NULL, 0444);
MODULE_PARM_DESC(dependent_nodes,
		 "per adapter: mask of nodes of which one cannot be reset without the others (default 0: each alone)");

static bool native_fence[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(true);
module_param_array(native_fence, bool, NULL, 0444);
MODULE_PARM_DESC(native_fence,
		 "per adapter: the operating system's switch of the native fence feature (default on)");

static unsigned int native_fence_min[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0);
module_param_array(native_fence_min, uint, NULL, 0444);
MODULE_PARM_DESC(native_fence_min,
		 "per adapter: with native_fence_max: narrow the versions offered, 1 to 3 (default 0: all)");

static unsigned int native_fence_max[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0);
module_param_array(native_fence_max, uint, NULL, 0444);
MODULE_PARM_DESC(native_fence_max, "per adapter: see native_fence_min");

static bool user_mode_submission[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(true);
module_param_array(user_mode_submission, bool, NULL, 0444);
MODULE_PARM_DESC(user_mode_submission,
		 "per adapter: the operating system's switch of user-mode submission (default on)");

static bool allow_experimental[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(false);
module_param_array(allow_experimental, bool, NULL, 0444);
MODULE_PARM_DESC(allow_experimental,
		 "per adapter: experimental support of the GPU counts as support (default off)");

static unsigned int gpu_native_fence[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(VGPU_NATIVE_FENCE_FULL);
module_param_array(gpu_native_fence, uint, NULL, 0444);
MODULE_PARM_DESC(gpu_native_fence,
		 "per adapter: the GPU's native fences: 0 none, 1 full, 2 experimental, 3 not on this configuration, 4 advertised without asking (default 1)");

static unsigned int monitored_signal[VFENCE_MAX_ADAPTERS] =
	PER_ADAPTER(VGPU_MONITORED_SIGNAL_BASIC);
module_param_array(monitored_signal, uint, NULL, 0444);
MODULE_PARM_DESC(monitored_signal,
		 "per adapter: engines can 0 not write monitored fences, 1 write them, 2 and interrupt for it (default 1)");

static bool no_64bit_atomics[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(false);
module_param_array(no_64bit_atomics, bool, NULL, 0444);
MODULE_PARM_DESC(no_64bit_atomics,
		 "per adapter: the GPU writes 32 bits at once: no native fences, 32-bit monitored ones (default off)");

static bool optimized_fences[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(false);
module_param_array(optimized_fences, bool, NULL, 0444);
MODULE_PARM_DESC(optimized_fences,
		 "per adapter: monitored values may be in video memory (default off)");

static bool intra_gpu_fences[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(true);
module_param_array(intra_gpu_fences, bool, NULL, 0444);
MODULE_PARM_DESC(intra_gpu_fences, "per adapter: fences of type INTRA_GPU (default on)");

static unsigned int local_pages[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(256);
module_param_array(local_pages, uint, NULL, 0444);
MODULE_PARM_DESC(local_pages, "per adapter: pages of video memory, 0 to 65536 (default 256)");

static unsigned int visible_pages[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(64);
module_param_array(visible_pages, uint, NULL, 0444);
MODULE_PARM_DESC(visible_pages,
		 "per adapter: pages of video memory that the CPU can see, at most local_pages (default 64)");

static unsigned int fence_stride[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(64);
module_param_array(fence_stride, uint, NULL, 0444);
MODULE_PARM_DESC(fence_stride,
		 "per adapter: bytes between fences in one page, a power of two from 16 to 4096 (default 64)");

static bool map_to_system[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(false);
module_param_array(map_to_system, bool, NULL, 0444);
MODULE_PARM_DESC(map_to_system,
		 "per adapter: the GPU wants fence values mapped for its system process (default off)");

static unsigned long fence_min_va[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0);
module_param_array(fence_min_va, ulong, NULL, 0444);
MODULE_PARM_DESC(fence_min_va,
		 "per adapter: lowest GPU address of fence pages (default 0: no bound)");

static unsigned long fence_max_va[VFENCE_MAX_ADAPTERS] = PER_ADAPTER(0);
module_param_array(fence_max_va, ulong, NULL, 0444);
MODULE_PARM_DESC(fence_max_va,
		 "per adapter: first GPU address above fence pages (default 0: no bound)");

unsigned int vfence_config_adapters(void)
{
	return adapters;
}

/* The parameters of an adapter that is made at run time are those of its number. */
static const struct config_values {
	void *values;
	/* Of a value in bytes: 1 for a bool. */
	size_t size;
} config_values[VFENCE_CONFIG_COUNT] = {
#define CONFIG_VALUES(name)	{ name, sizeof((name)[0]) }
	[VFENCE_CONFIG_VFS] = CONFIG_VALUES(vfs),
	[VFENCE_CONFIG_USER_NODES] = CONFIG_VALUES(user_nodes),
	[VFENCE_CONFIG_DOORBELLS] = CONFIG_VALUES(doorbells),
	[VFENCE_CONFIG_SECONDARY_DOORBELLS] = CONFIG_VALUES(secondary_doorbells),
	[VFENCE_CONFIG_IRQ_RECORDS] = CONFIG_VALUES(irq_records),
	[VFENCE_CONFIG_IRQ_FORM] = CONFIG_VALUES(irq_form),
	[VFENCE_CONFIG_F1_IDLE_US] = CONFIG_VALUES(f1_idle_us),
	[VFENCE_CONFIG_HUNG_US] = CONFIG_VALUES(hung_us),
	[VFENCE_CONFIG_PREEMPT_US] = CONFIG_VALUES(preempt_us),
	[VFENCE_CONFIG_CPU_PERCENT] = CONFIG_VALUES(cpu_percent),
	[VFENCE_CONFIG_USER_MEMORY_MIB] = CONFIG_VALUES(user_memory_mib),
	[VFENCE_CONFIG_DEPENDENT_NODES] = CONFIG_VALUES(dependent_nodes),
	[VFENCE_CONFIG_NATIVE_FENCE] = CONFIG_VALUES(native_fence),
	[VFENCE_CONFIG_NATIVE_FENCE_MIN] = CONFIG_VALUES(native_fence_min),
	[VFENCE_CONFIG_NATIVE_FENCE_MAX] = CONFIG_VALUES(native_fence_max),
	[VFENCE_CONFIG_USER_MODE_SUBMISSION] = CONFIG_VALUES(user_mode_submission),
	[VFENCE_CONFIG_ALLOW_EXPERIMENTAL] = CONFIG_VALUES(allow_experimental),
	[VFENCE_CONFIG_GPU_NATIVE_FENCE] = CONFIG_VALUES(gpu_native_fence),
	[VFENCE_CONFIG_MONITORED_SIGNAL] = CONFIG_VALUES(monitored_signal),
	[VFENCE_CONFIG_NO_64BIT_ATOMICS] = CONFIG_VALUES(no_64bit_atomics),
	[VFENCE_CONFIG_OPTIMIZED_FENCES] = CONFIG_VALUES(optimized_fences),
	[VFENCE_CONFIG_INTRA_GPU_FENCES] = CONFIG_VALUES(intra_gpu_fences),
	[VFENCE_CONFIG_LOCAL_PAGES] = CONFIG_VALUES(local_pages),
	[VFENCE_CONFIG_VISIBLE_PAGES] = CONFIG_VALUES(visible_pages),
	[VFENCE_CONFIG_FENCE_STRIDE] = CONFIG_VALUES(fence_stride),
	[VFENCE_CONFIG_MAP_TO_SYSTEM] = CONFIG_VALUES(map_to_system),
	[VFENCE_CONFIG_FENCE_MIN_VA] = CONFIG_VALUES(fence_min_va),
	[VFENCE_CONFIG_FENCE_MAX_VA] = CONFIG_VALUES(fence_max_va),
#undef CONFIG_VALUES
};

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
		.gpu.doorbells = doorbells[index],
		.gpu.secondary_doorbells = secondary_doorbells[index],
		.gpu.irq_records = irq_records[index],
		.gpu.irq_form = irq_form[index],
		.gpu.f1_idle_us = f1_idle_us[index],
		.gpu.hung_us = hung_us[index],
		.gpu.preempt_us = preempt_us[index],
		.gpu.cpu_percent = cpu_percent[index],
		.gpu.dependent_nodes = dependent_nodes[index],
		.gpu.local_pages = local_pages[index],
		.gpu.visible_pages = visible_pages[index],
		.gpu.native_fence = gpu_native_fence[index],
		.gpu.no_64bit_atomics = no_64bit_atomics[index],
		.gpu.monitored_signal = monitored_signal[index],
		.gpu.fence_caps.stride = fence_stride[index],
		.gpu.fence_caps.map_to_system = map_to_system[index],
		.gpu.fence_caps.minimum_address = fence_min_va[index],
		.gpu.fence_caps.maximum_address = fence_max_va[index],
		.vfs = vfs[index],
		.user_nodes = user_nodes[index],
		.user_memory_mib = user_memory_mib[index],
		.native_fence = native_fence[index],
		.user_mode_submission = user_mode_submission[index],
		.optimized_fences = optimized_fences[index],
		.intra_gpu_fences = intra_gpu_fences[index],
		.allow_experimental = allow_experimental[index],
		.native_fence_versions = { native_fence_min[index], native_fence_max[index] },
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
