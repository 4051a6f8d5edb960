// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data buffers: GEM shmem objects, and their place in the GPU address space.
 */

#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>

#include "vfence_file.h"

/**
 * struct vfence_mapping - a buffer in a file's GPU address space
 */
struct vfence_mapping {
	/** @node: addresses taken */
	struct drm_mm_node node;
	/** @memory: the buffer, resident */
	struct vfence_vmapped memory;
};

/*
 * The shmem helper of some kernels wants the reservation held, that of others has a
 * lock of its own inside it: holding it suits all, but for buffers of other drivers.
 */
static void unmap_object(struct drm_gem_object *obj, struct iosys_map *map)
{
	bool lock = vfence_vmap_under_resv(obj);

	if (lock)
		dma_resv_lock(obj->resv, NULL);
	obj->funcs->vunmap(obj, map);
	if (lock)
		dma_resv_unlock(obj->resv);
}

static int vmap_object(struct drm_gem_object *obj, struct vfence_vmapped *mapped)
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
	/* The virtual GPU reaches memory, and no other device. */
	if (map.is_iomem) {
		unmap_object(obj, &map);
		return -EOPNOTSUPP;
	}
	mapped->obj = obj;
	mapped->kva = map.vaddr;
	return 0;
}

/**
 * vfence_bo_vmap - make a buffer resident
 * @file: the client
 * @handle: its GEM handle
 * @mapped: filled; holds a reference until vfence_bo_vunmap()
 */
int vfence_bo_vmap(struct vfence_file *file, u32 handle, struct vfence_vmapped *mapped)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file->drm, handle);
	int ret;

	if (!obj)
		return -ENOENT;
	ret = vmap_object(obj, mapped);
	if (ret)
		drm_gem_object_put(obj);
	return ret;
}

/**
 * vfence_bo_vunmap - undo vfence_bo_vmap()
 * @mapped: cleared; may be empty
 */
void vfence_bo_vunmap(struct vfence_vmapped *mapped)
{
	struct iosys_map map;

	if (!mapped->obj)
		return;
	iosys_map_set_vaddr(&map, mapped->kva);
	unmap_object(mapped->obj, &map);
	drm_gem_object_put(mapped->obj);
	mapped->obj = NULL;
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
	/* What says that it has no room for an inode had no memory for one. */
	if (IS_ERR(shmem))
		return PTR_ERR(shmem) == -ENOSPC ? -ENOMEM : PTR_ERR(shmem);
	ret = drm_gem_create_mmap_offset(&shmem->base);
	if (!ret)
		ret = drm_gem_handle_create(drm_file, &shmem->base, &handle);
	if (!ret) {
		args->handle = handle;
		args->mmap_offset = drm_vma_node_offset_addr(&shmem->base.vma_node);
	}
	drm_gem_object_put(&shmem->base);
	return ret;
}

static int reserve(struct vfence_file *file, struct drm_mm_node *node, u64 va, u64 size)
{
	if (!va)
		return vfence_file_reserve_va(file, node, size, 0, 0);
	node->start = va;
	node->size = size;
	/* -ENOSPC here means the range is taken. */
	return drm_mm_reserve_node(&file->space, node) ? -EEXIST : 0;
}

static void destroy_mapping(struct vfence_file *file, struct vfence_mapping *mapping)
{
	vgpu_vm_unmap(file->vm, mapping->node.start, mapping->node.size);
	drm_mm_remove_node(&mapping->node);
	vfence_bo_vunmap(&mapping->memory);
	vfence_object_free(MAPPING, mapping);
	file->mapping_count--;
}

static int bind_locked(struct vfence_file *file, struct drm_vfence_vm_bind *args,
		       struct vfence_mapping *mapping)
{
	unsigned int flags = VGPU_VM_DATA;
	int ret;

	lockdep_assert_held(&file->lock);
	if (file->mapping_count == VFENCE_MAX_MAPPINGS)
		return -ENOSPC;
	ret = reserve(file, &mapping->node, args->va, args->size);
	if (ret)
		return ret;
	if (args->flags & DRM_VFENCE_VM_READ)
		flags |= VGPU_VM_READ;
	if (args->flags & DRM_VFENCE_VM_WRITE)
		flags |= VGPU_VM_WRITE;
	ret = vgpu_vm_map(file->vm, mapping->node.start, mapping->memory.kva + args->offset,
			  args->size, flags);
	if (ret)
		goto remove;
	ret = xa_err(xa_store(&file->mappings, mapping->node.start >> PAGE_SHIFT, mapping,
			      GFP_KERNEL_ACCOUNT));
	if (ret)
		goto unmap;
	file->mapping_count++;
	args->va = mapping->node.start;
	return 0;
unmap:
	vgpu_vm_unmap(file->vm, mapping->node.start, args->size);
remove:
	drm_mm_remove_node(&mapping->node);
	return ret;
}

int vfence_vm_bind_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_vm_bind *args = data;
	struct vfence_mapping *mapping;
	u64 end;
	int ret;

	if (vfence_reject(drm, !args->flags ||
			  args->flags & ~(DRM_VFENCE_VM_READ | DRM_VFENCE_VM_WRITE)) ||
	    vfence_reject(drm, !args->size || (args->size | args->offset | args->va) % PAGE_SIZE) ||
	    vfence_reject(drm, check_add_overflow(args->va, args->size, &end) ||
			  end > DRM_VFENCE_VA_LIMIT))
		return -EINVAL;
	mapping = vfence_object_alloc(MAPPING, sizeof(*mapping));
	if (!mapping)
		return -ENOMEM;
	ret = vfence_bo_vmap(file, args->handle, &mapping->memory);
	if (ret)
		goto free;
	ret = -EINVAL;
	if (vfence_reject(drm, check_add_overflow(args->offset, args->size, &end) ||
			  end > mapping->memory.obj->size))
		goto vunmap;
	mutex_lock(&file->lock);
	ret = bind_locked(file, args, mapping);
	mutex_unlock(&file->lock);
	if (!ret)
		return 0;
vunmap:
	vfence_bo_vunmap(&mapping->memory);
free:
	vfence_object_free(MAPPING, mapping);
	return ret;
}

int vfence_vm_unbind_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_vm_unbind *args = data;
	struct vfence_mapping *mapping;

	if (vfence_reject(drm, args->va % PAGE_SIZE || args->va >= DRM_VFENCE_VA_LIMIT))
		return -EINVAL;
	mutex_lock(&file->lock);
	mapping = xa_erase(&file->mappings, args->va >> PAGE_SHIFT);
	if (mapping)
		destroy_mapping(file, mapping);
	mutex_unlock(&file->lock);
	return mapping ? 0 : -ENOENT;
}

/**
 * vfence_bo_unbind_all - free a file's mappings; its queues are gone
 * @file: the file, locked
 */
void vfence_bo_unbind_all(struct vfence_file *file)
{
	struct vfence_mapping *mapping;
	unsigned long index;

	xa_for_each(&file->mappings, index, mapping) {
		xa_erase(&file->mappings, index);
		destroy_mapping(file, mapping);
	}
}
