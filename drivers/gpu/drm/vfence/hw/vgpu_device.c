// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual GPU as a whole: creation, start, stop, clock.
 */

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "vgpu_types.h"

struct vgpu_vm *vgpu_device_system_vm(struct vgpu *gpu)
{
	return gpu->system_vm;
}

struct vgpu_irq_ring *vgpu_device_irq_ring(struct vgpu *gpu)
{
	return gpu->irq;
}

struct vgpu_knobs *vgpu_device_knobs(struct vgpu *gpu)
{
	return &gpu->knobs;
}

static void init_engine(struct vgpu *gpu, unsigned int node)
{
	struct vgpu_engine *engine = &gpu->engine[node];

	engine->gpu = gpu;
	engine->node = node;
	engine->class_id = gpu->config.node_class[node];
	init_waitqueue_head(&engine->wait);
	INIT_LIST_HEAD(&engine->run);
}

static int alloc_pages_of(struct vgpu *gpu)
{
	unsigned int i, k;

	gpu->irq = kzalloc(sizeof(*gpu->irq), GFP_KERNEL);
	if (!gpu->irq)
		return -ENOMEM;
	gpu->system_vm = vgpu_vm_create(gpu);
	if (IS_ERR(gpu->system_vm))
		return PTR_ERR(gpu->system_vm);
	gpu->local = vzalloc(array_size(gpu->config.local_pages ?: 1, PAGE_SIZE));
	if (!gpu->local)
		return -ENOMEM;
	for (i = 0; i < gpu->config.doorbells; i++)
		for (k = 0; k <= gpu->config.secondary_doorbells; k++) {
			gpu->doorbell[i].page[k] = alloc_page(GFP_KERNEL | __GFP_ZERO);
			if (!gpu->doorbell[i].page[k])
				return -ENOMEM;
		}
	return 0;
}

struct vgpu *vgpu_device_create(const struct vgpu_config *config, const struct vgpu_host_ops *ops,
				void *host, const char *name)
{
	struct vgpu *gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	unsigned int node;
	int ret;

	if (!gpu)
		return ERR_PTR(-ENOMEM);
	gpu->config = *config;
	gpu->ops = ops;
	gpu->host = host;
	gpu->name = name;
	rwlock_init(&gpu->residency);
	spin_lock_init(&gpu->sched);
	init_waitqueue_head(&gpu->stopped);
	spin_lock_init(&gpu->cmp.lock);
	init_waitqueue_head(&gpu->cmp.wait);
	for (node = 0; node < config->nodes; node++)
		init_engine(gpu, node);
	ret = alloc_pages_of(gpu);
	if (ret) {
		vgpu_device_destroy(gpu);
		return ERR_PTR(ret);
	}
	vgpu_feature_negotiate(gpu);
	return gpu;
}

int vgpu_device_start(struct vgpu *gpu)
{
	unsigned int node;
	int ret;

	ret = vgpu_cmp_start(gpu);
	for (node = 0; !ret && node < gpu->config.nodes; node++)
		ret = vgpu_engine_start(&gpu->engine[node]);
	if (ret)
		vgpu_device_stop(gpu);
	return ret;
}

void vgpu_device_stop(struct vgpu *gpu)
{
	unsigned int node;

	/* Engines feed the CMP, so they go first. */
	for (node = 0; node < gpu->config.nodes; node++)
		vgpu_engine_stop(&gpu->engine[node]);
	vgpu_cmp_stop(gpu);
}

void vgpu_device_destroy(struct vgpu *gpu)
{
	unsigned int i, k;

	for (i = 0; i < gpu->config.doorbells; i++)
		for (k = 0; k < 2; k++)
			if (gpu->doorbell[i].page[k])
				put_page(gpu->doorbell[i].page[k]);
	if (!IS_ERR_OR_NULL(gpu->system_vm))
		vgpu_vm_destroy(gpu->system_vm);
	vfree(gpu->local);
	kfree(gpu->irq);
	kfree(gpu);
}
