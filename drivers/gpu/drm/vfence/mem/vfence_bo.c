// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data buffers: GEM shmem objects that clients and the GPU can access.
 */

#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>

#include "core/vfence_account.h"
#include "core/vfence_file_types.h"
#include "mem/vfence_bo.h"

/* What a buffer and a handle of it take beside the pages, about. */
#define BO_BYTES	2048

/*
 * Hold the reservation, except for buffers of other drivers. The shmem helper of some
 * kernels requires it. The helper of other kernels has a lock of its own, which nests
 * inside the reservation.
 */
static void bo_vunmap_object(struct drm_gem_object *obj, struct iosys_map *map)
{
	bool lock = vfence_vmap_under_resv(obj);

	if (lock)
		dma_resv_lock(obj->resv, NULL);
	obj->funcs->vunmap(obj, map);
	if (lock)
		dma_resv_unlock(obj->resv);
}

static int bo_vmap_object(struct drm_gem_object *obj, struct vfence_vmapped *mapped)
{
	bool lock = vfence_vmap_under_resv(obj);
	struct iosys_map map;
	int ret;

	if (lock)
		dma_resv_lock(obj->resv, NULL);
	ret = obj->funcs->vmap(obj, &map);
	if (lock)
		dma_resv_unlock(obj->resv);
	if (ret)
		return ret;

	/* The virtual GPU can access memory only, not the registers of another device. */
	if (map.is_iomem) {
		bo_vunmap_object(obj, &map);
		return -EOPNOTSUPP;
	}

	mapped->obj = obj;
	mapped->kva = map.vaddr;
	return 0;
}

/**
 * vfence_bo_vmap - make a buffer resident and map it for the kernel
 * @file: the client
 * @handle: GEM handle of the buffer
 * @mapped: output; it holds a reference until vfence_bo_vunmap()
 *
 * Return: 0, -ENOENT, or the error of the buffer's vmap().
 */
int vfence_bo_vmap(struct vfence_file *file, u32 handle, struct vfence_vmapped *mapped)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file->drm, handle);
	int ret;

	if (!obj)
		return -ENOENT;
	ret = bo_vmap_object(obj, mapped);
	if (ret)
		drm_gem_object_put(obj);
	return ret;
}

/**
 * vfence_bo_vunmap - undo vfence_bo_vmap()
 * @mapped: the mapping, which may be empty; it is empty afterwards
 */
void vfence_bo_vunmap(struct vfence_vmapped *mapped)
{
	struct iosys_map map;

	if (!mapped->obj)
		return;
	iosys_map_set_vaddr(&map, mapped->kva);
	bo_vunmap_object(mapped->obj, &map);
	drm_gem_object_put(mapped->obj);
	mapped->obj = NULL;
}

/* A handle is made: of a new buffer, or of one that is imported. */
static int bo_open(struct drm_gem_object *obj, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;

	return vfence_account_charge(file->account, BO_BYTES);
}

static void bo_close(struct drm_gem_object *obj, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;

	vfence_account_uncharge(file->account, BO_BYTES);
}

/* What the shmem helper has for objects that it allocates. */
static const struct drm_gem_object_funcs bo_funcs = {
	.open = bo_open,
	.close = bo_close,
	.free = drm_gem_shmem_object_free,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = drm_gem_shmem_object_mmap,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

/**
 * vfence_bo_alloc - allocate a buffer for the shmem helper, which frees it
 * @drm: the adapter
 * @size: size of the buffer in bytes
 *
 * The helper itself would not charge the memory cgroup of the client.
 *
 * Return: the buffer or ERR_PTR(-ENOMEM).
 */
struct drm_gem_object *vfence_bo_alloc(struct drm_device *drm, size_t size)
{
	struct drm_gem_shmem_object *shmem = kzalloc(sizeof(*shmem), GFP_KERNEL_ACCOUNT);

	if (!shmem)
		return ERR_PTR(-ENOMEM);
	shmem->base.funcs = &bo_funcs;
	return &shmem->base;
}

int vfence_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vfence_bo_create *args = data;
	struct drm_gem_shmem_object *shmem;
	u32 handle;
	int ret;

	if (vfence_reject(drm, args->flags || !args->size ||
			  args->size > DRM_VFENCE_MAX_BO_SIZE))
		return -EINVAL;

	shmem = drm_gem_shmem_create(drm, args->size);
	/* shmem returns -ENOSPC when it has no memory for an inode: report -ENOMEM. */
	if (IS_ERR(shmem))
		return PTR_ERR(shmem) == -ENOSPC ? -ENOMEM : PTR_ERR(shmem);

	ret = drm_gem_create_mmap_offset(&shmem->base);
	if (!ret)
		ret = drm_gem_handle_create(drm_file, &shmem->base, &handle);
	if (!ret) {
		args->handle = handle;
		args->mmap_offset = drm_vma_node_offset_addr(&shmem->base.vma_node);
	}

	/* The handle has a reference of its own. */
	drm_gem_object_put(&shmem->base);
	return ret;
}
