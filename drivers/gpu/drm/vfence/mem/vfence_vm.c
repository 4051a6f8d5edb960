// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client's GPU address space: allocation of addresses, and mappings of buffers.
 */

#include <linux/overflow.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "core/vfence_file_types.h"
#include "mem/vfence_bo.h"
#include "mem/vfence_vm.h"

/**
 * struct vfence_mapping - a buffer in a file's GPU address space
 */
struct vfence_mapping {
	/** @node: GPU addresses of the mapping */
	struct drm_mm_node node;
	/** @memory: the buffer, resident while the mapping exists */
	struct vfence_vmapped memory;
};

/**
 * vfence_vm_reserve - allocate GPU addresses of the kernel's choice
 * @file: the file, locked
 * @node: zeroed node; drm_mm_remove_node() frees the addresses
 * @size: size in bytes
 * @start: lowest address, or 0 for no bound
 * @end: first address above the range, or 0 for no bound
 */
int vfence_vm_reserve(struct vfence_file *file, struct drm_mm_node *node, u64 size,
		      u64 start, u64 end)
{
	lockdep_assert_held(&file->lock);
	/* Allocate from the top: clients that choose addresses find free ones below. */
	return drm_mm_insert_node_in_range(&file->space, node, size, PAGE_SIZE, 0,
					   max_t(u64, start, VFENCE_VA_START),
					   end ? end : DRM_VFENCE_VA_LIMIT, DRM_MM_INSERT_HIGH);
}

static int vm_reserve(struct vfence_file *file, struct drm_mm_node *node, u64 va, u64 size)
{
	if (!va)
		return vfence_vm_reserve(file, node, size, 0, 0);

	node->start = va;
	node->size = size;
	/* -ENOSPC means that a part of the range is in use: report -EEXIST. */
	return drm_mm_reserve_node(&file->space, node) ? -EEXIST : 0;
}

static void vm_destroy_mapping(struct vfence_file *file, struct vfence_mapping *mapping)
{
	vgpu_vm_unmap(file->vm, mapping->node.start, mapping->node.size);
	drm_mm_remove_node(&mapping->node);
	vfence_bo_vunmap(&mapping->memory);
	vfence_leak_check_free(MAPPING, mapping);
	WRITE_ONCE(file->mapping_count, file->mapping_count - 1);
}

static int vm_bind_locked(struct vfence_file *file, struct drm_vfence_vm_bind *args,
			  struct vfence_mapping *mapping)
{
	unsigned int flags = VGPU_VM_DATA;
	int ret;

	lockdep_assert_held(&file->lock);
	if (file->mapping_count == VFENCE_MAX_MAPPINGS)
		return -ENOSPC;
	ret = vm_reserve(file, &mapping->node, args->va, args->size);
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
	WRITE_ONCE(file->mapping_count, file->mapping_count + 1);
	args->va = mapping->node.start;
	return 0;

unmap:
	vgpu_vm_unmap(file->vm, mapping->node.start, args->size);
remove:
	drm_mm_remove_node(&mapping->node);
	return ret;
}

static int vm_map(struct drm_device *drm, struct vfence_file *file, struct drm_vfence_vm_bind *args)
{
	struct vfence_mapping *mapping;
	u64 end;
	int ret;

	if (vfence_reject(drm, !args->flags ||
			  args->flags & ~(DRM_VFENCE_VM_READ | DRM_VFENCE_VM_WRITE)) ||
	    vfence_reject(drm, !args->size || (args->size | args->offset | args->va) % PAGE_SIZE) ||
	    vfence_reject(drm, check_add_overflow(args->va, args->size, &end) ||
			  end > DRM_VFENCE_VA_LIMIT))
		return -EINVAL;

	mapping = vfence_leak_check_alloc(MAPPING, sizeof(*mapping));
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
	ret = vm_bind_locked(file, args, mapping);
	mutex_unlock(&file->lock);
	if (!ret)
		return 0;

vunmap:
	vfence_bo_vunmap(&mapping->memory);
free:
	vfence_leak_check_free(MAPPING, mapping);
	return ret;
}

static int vm_unmap(struct drm_device *drm, struct vfence_file *file,
		    const struct drm_vfence_vm_bind *args)
{
	struct vfence_mapping *mapping;

	if (vfence_reject(drm, args->handle || args->flags || args->offset || args->size) ||
	    vfence_reject(drm, args->va % PAGE_SIZE || args->va >= DRM_VFENCE_VA_LIMIT))
		return -EINVAL;

	mutex_lock(&file->lock);
	mapping = xa_erase(&file->mappings, args->va >> PAGE_SHIFT);
	if (mapping)
		vm_destroy_mapping(file, mapping);
	mutex_unlock(&file->lock);
	return mapping ? 0 : -ENOENT;
}

int vfence_vm_bind_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_vm_bind *args = data;

	if (vfence_reject(drm, args->op > DRM_VFENCE_VM_UNMAP || args->pad))
		return -EINVAL;
	return args->op == DRM_VFENCE_VM_MAP ? vm_map(drm, file, args) : vm_unmap(drm, file, args);
}

/**
 * vfence_vm_unbind_all - free all mappings of a file whose queues are destroyed
 * @file: the file, locked
 */
void vfence_vm_unbind_all(struct vfence_file *file)
{
	struct vfence_mapping *mapping;
	unsigned long index;

	lockdep_assert_held(&file->lock);
	xa_for_each(&file->mappings, index, mapping) {
		xa_erase(&file->mappings, index);
		vm_destroy_mapping(file, mapping);
	}
}
