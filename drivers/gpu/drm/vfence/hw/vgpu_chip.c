// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip: engines and video memory, and the functions that share them.
 *
 * Every adapter has one function of a chip. A group of engines serves one of them at a time, see
 * vgpu_vf_switch.c; the engine of the kernel's rings serves all in turn. Usually a chip has one
 * function only.
 */

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "vgpu_types.h"

static void chip_init_engine(struct vgpu_chip *chip, const struct vgpu_config *config,
			     unsigned int node)
{
	struct vgpu_engine *engine = &chip->engine[node];

	engine->chip = chip;
	engine->node = node;
	engine->class_id = config->node_class[node];
	init_waitqueue_head(&engine->wait);
	INIT_WORK(&engine->release, vgpu_fence_release_work);
}

struct vgpu_chip *vgpu_chip_create(const struct vgpu_config *config, const char *name)
{
	struct vgpu_chip *chip = kzalloc(sizeof(*chip), GFP_KERNEL);
	unsigned int node;

	if (!chip)
		return ERR_PTR(-ENOMEM);
	chip->release_wq = alloc_workqueue("%s-release", WQ_UNBOUND | WQ_HIGHPRI |
					   WQ_MEM_RECLAIM, 0, name);
	if (!chip->release_wq) {
		kfree(chip);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&chip->ref);
	strscpy(chip->name, name, sizeof(chip->name));
	chip->nodes = config->nodes;
	chip->f1_idle_us = config->f1_idle_us;
	chip->hung_us = config->hung_us;
	chip->preempt_us = config->preempt_us;
	chip->cpu_percent = config->cpu_percent;
	chip->dependent_nodes = config->dependent_nodes;
	mutex_init(&chip->lock);
	rwlock_init(&chip->residency);
	spin_lock_init(&chip->sched);
	init_waitqueue_head(&chip->queue_left);

	for (node = 0; node < chip->nodes; node++)
		chip_init_engine(chip, config, node);
	get_random_bytes(&chip->image_key, sizeof(chip->image_key));
	vgpu_vf_switch_init(chip);
	return chip;
}

static void chip_free(struct kref *ref)
{
	struct vgpu_chip *chip = container_of(ref, struct vgpu_chip, ref);
	unsigned int node;

	for (node = 0; node < chip->nodes; node++)
		vgpu_thread_fini(&chip->engine[node].thread);
	destroy_workqueue(chip->release_wq);
	vgpu_vf_switch_fini(chip);
	mutex_destroy(&chip->lock);
	kfree(chip);
}

void vgpu_chip_put(struct vgpu_chip *chip)
{
	kref_put(&chip->ref, chip_free);
}

/* Allocate a part of the video memory for a new function. */
int vgpu_chip_join(struct vgpu_chip *chip, struct vgpu *gpu, unsigned int local_pages)
{
	gpu->local = vzalloc(array_size(local_pages ?: 1, PAGE_SIZE));
	if (!gpu->local)
		return -ENOMEM;
	kref_get(&chip->ref);
	gpu->chip = chip;
	return 0;
}

/* Undo vgpu_chip_join(). The function has stopped and has no queues. */
void vgpu_chip_leave(struct vgpu_chip *chip, struct vgpu *gpu)
{
	vfree(gpu->local);
	vgpu_chip_put(chip);
}

static void chip_stop_engines(struct vgpu_chip *chip)
{
	unsigned int node;

	for (node = 0; node < chip->nodes; node++)
		vgpu_engine_stop(&chip->engine[node]);
}

static int chip_start_engines(struct vgpu_chip *chip)
{
	unsigned int node;
	int ret = 0;

	for (node = 0; !ret && node < chip->nodes; node++)
		ret = vgpu_engine_start(&chip->engine[node]);
	if (ret)
		chip_stop_engines(chip);
	return ret;
}

/*
 * Give the function its index. It has the index only until it stops: files of an adapter that was
 * unplugged may keep its function for long.
 */
static int chip_take_index(struct vgpu_chip *chip, struct vgpu *gpu)
{
	lockdep_assert_held(&chip->lock);
	if (chip->function[gpu->config.function])
		return -EBUSY;
	gpu->index = gpu->config.function;
	return 0;
}

/* From now on the engines pick queues of @gpu. */
int vgpu_chip_start(struct vgpu_chip *chip, struct vgpu *gpu)
{
	unsigned long flags;
	unsigned int node;
	int ret;

	mutex_lock(&chip->lock);
	ret = chip_take_index(chip, gpu);
	if (!ret && !chip->started)
		ret = chip_start_engines(chip);
	if (!ret) {
		spin_lock_irqsave(&chip->sched, flags);
		chip->function[gpu->index] = gpu;
		/* The first function, the physical one, owns the engines until it shares them. */
		if (!chip->started++)
			vgpu_vf_switch_power_on(chip, gpu);
		chip->functions = max(chip->functions, gpu->index + 1);
		for (node = 0; node < chip->nodes; node++)
			wake_up_all(&chip->engine[node].wait);
		spin_unlock_irqrestore(&chip->sched, flags);
	}

	mutex_unlock(&chip->lock);

	return ret;
}

static bool chip_runs_function(struct vgpu_chip *chip, struct vgpu *gpu)
{
	bool runs = false;
	unsigned long flags;
	unsigned int node;

	spin_lock_irqsave(&chip->sched, flags);
	for (node = 0; node < chip->nodes; node++)
		runs |= chip->engine[node].running && chip->engine[node].running->gpu == gpu;
	spin_unlock_irqrestore(&chip->sched, flags);
	return runs;
}

/* Abort running queues of @gpu. After the return no engine runs a queue of @gpu. */
void vgpu_chip_stop(struct vgpu_chip *chip, struct vgpu *gpu)
{
	unsigned long flags;
	unsigned int node;

	mutex_lock(&chip->lock);
	if (chip->function[gpu->index] != gpu) {
		mutex_unlock(&chip->lock);
		return;
	}

	spin_lock_irqsave(&chip->sched, flags);
	chip->function[gpu->index] = NULL;
	while (chip->functions && !chip->function[chip->functions - 1])
		chip->functions--;

	for (node = 0; node < chip->nodes; node++) {
		struct vgpu_engine *engine = &chip->engine[node];

		if (engine->running && engine->running->gpu == gpu)
			WRITE_ONCE(engine->running->abort, true);
		vgpu_injection_set(&gpu->injections, VGPU_INJECT_STOP_ENGINES, 0);
		wake_up_all(&engine->wait);
	}

	spin_unlock_irqrestore(&chip->sched, flags);

	wait_event(chip->queue_left, !chip_runs_function(chip, gpu));
	vgpu_vf_switch_forget(chip, gpu);

	if (!--chip->started)
		chip_stop_engines(chip);
	mutex_unlock(&chip->lock);
}
