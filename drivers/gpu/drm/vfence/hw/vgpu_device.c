// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function of a chip as a whole: creation, start, stop.
 */

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "vgpu_types.h"

struct vgpu_chip *vgpu_device_get_chip(struct vgpu *gpu)
{
	kref_get(&gpu->chip->ref);
	return gpu->chip;
}

struct vgpu_vm *vgpu_device_system_vm(struct vgpu *gpu)
{
	return gpu->system_vm;
}

struct vgpu_irq_ring *vgpu_device_irq_ring(struct vgpu *gpu)
{
	return gpu->irq;
}

static void device_init_node(struct vgpu *gpu, unsigned int ordinal)
{
	struct vgpu_node *node = &gpu->node[ordinal];

	node->gpu = gpu;
	node->engine = &gpu->chip->engine[ordinal];
	node->shares.tree = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&node->logged);
}

static int device_alloc_pages(struct vgpu *gpu)
{
	unsigned int i, k;

	gpu->irq = kzalloc(sizeof(*gpu->irq), GFP_KERNEL);
	if (!gpu->irq)
		return -ENOMEM;
	gpu->system_account = vgpu_account_create(gpu, NULL, 0);
	if (IS_ERR(gpu->system_account))
		return PTR_ERR(gpu->system_account);
	gpu->system_vm = vgpu_vm_create(gpu, gpu->system_account);
	if (IS_ERR(gpu->system_vm))
		return PTR_ERR(gpu->system_vm);

	for (i = 0; i < gpu->config.doorbells; i++)
		for (k = 0; k <= gpu->config.secondary_doorbells; k++) {
			gpu->doorbell[i].page[k] = alloc_page(GFP_KERNEL | __GFP_ZERO);
			if (!gpu->doorbell[i].page[k])
				return -ENOMEM;
		}
	return 0;
}

struct vgpu *vgpu_device_create(struct vgpu_chip *chip, const struct vgpu_config *config,
				const struct vgpu_host_ops *ops, void *host, const char *name)
{
	struct vgpu *gpu = kvzalloc(sizeof(*gpu), GFP_KERNEL);
	unsigned int node;
	int ret;

	if (!gpu)
		return ERR_PTR(-ENOMEM);
	ret = vgpu_chip_join(chip, gpu, config->local_pages);
	if (ret) {
		kvfree(gpu);
		return ERR_PTR(ret);
	}

	gpu->config = *config;
	gpu->ops = ops;
	gpu->host = host;
	gpu->name = name;
	mutex_init(&gpu->reset_lock);
	mutex_init(&gpu->queues_lock);
	INIT_LIST_HEAD(&gpu->queues);
	spin_lock_init(&gpu->cmp.lock);
	spin_lock_init(&gpu->logged_lock);
	init_waitqueue_head(&gpu->cmp.wait);
	INIT_LIST_HEAD(&gpu->cmp.flushes);
	spin_lock_init(&gpu->written_lock);
	INIT_LIST_HEAD(&gpu->written);

	for (node = 0; node < config->nodes; node++)
		device_init_node(gpu, node);
	ret = device_alloc_pages(gpu);
	if (ret) {
		vgpu_device_destroy(gpu);
		return ERR_PTR(ret);
	}

	vgpu_feature_negotiate(gpu);

	return gpu;
}

int vgpu_device_start(struct vgpu *gpu)
{
	int ret = vgpu_cmp_start(gpu);

	if (!ret)
		ret = vgpu_chip_start(gpu->chip, gpu);
	if (ret)
		vgpu_device_stop(gpu);
	return ret;
}

void vgpu_device_stop(struct vgpu *gpu)
{
	/* Stop the engines first, because they post to the CMP. */
	vgpu_chip_stop(gpu->chip, gpu);
	vgpu_reset_forget(gpu);
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
	if (!IS_ERR(gpu->system_account))
		vgpu_account_destroy(gpu->system_account);
	vgpu_thread_fini(&gpu->cmp.thread);
	vgpu_chip_leave(gpu->chip, gpu);
	mutex_destroy(&gpu->queues_lock);
	mutex_destroy(&gpu->reset_lock);
	kfree(gpu->irq);
	kvfree(gpu);
}
