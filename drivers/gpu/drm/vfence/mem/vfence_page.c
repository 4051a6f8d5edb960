// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel-owned pages in user space: the rights of their mappings, and page faults.
 */

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/srcu.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>
#include <drm/drm_vma_manager.h>

#include "core/vfence_file_types.h"
#include "mem/vfence_page.h"

#define to_vfence_page(obj) container_of(obj, struct vfence_page, base)

static bool page_read_only(const struct vfence_page *page)
{
	return page->kind == VFENCE_PAGE_FENCE || page->kind == VFENCE_PAGE_STATUS;
}

/** vfence_page_client - the open file through which the page was mapped; it exists */
struct vfence_file *vfence_page_client(const struct vm_fault *vmf)
{
	const struct drm_file *drm_file = vmf->vma->vm_file->private_data;

	return drm_file->driver_priv;
}

/**
 * vfence_page_prepare - allocate what vfence_page_insert() needs for a fault; 0 or -ENOMEM
 * @vmf: the fault
 *
 * The allocation is charged to the client, and takes as long as the client's memory limit says.
 */
int vfence_page_prepare(struct vm_fault *vmf)
{
	/* Each submission to an idle queue faults: its page table is there. */
	if (likely(!pmd_none(*vmf->pmd)))
		return 0;
	return apply_to_page_range(vmf->vma->vm_mm, vmf->address, PAGE_SIZE, NULL, NULL);
}

/**
 * vfence_page_insert - handle a fault by mapping @memory
 * @vmf: the fault
 * @memory: one page
 */
vm_fault_t vfence_page_insert(struct vm_fault *vmf, struct page *memory)
{
	return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(memory));
}

/* After unplug every fence reads as signaled. Hold &vfence_mem.faults while the memory is used. */
static struct page *page_memory(const struct vfence_page *page)
{
	const struct vfence_adapter *adapter = to_vfence_adapter(page->base.dev);

	if (page->kind == VFENCE_PAGE_FENCE && drm_dev_is_unplugged(page->base.dev))
		return adapter->mem.dummy_fence;
	return page->page;
}

static vm_fault_t page_fault(struct vm_fault *vmf)
{
	struct vfence_page *page = to_vfence_page(vmf->vma->vm_private_data);
	struct vfence_adapter *adapter = to_vfence_adapter(page->base.dev);
	vm_fault_t ret;
	int idx;

	if (page->fault)
		return page->fault(vmf, page);

	vfence_count(adapter, VFENCE_COUNT_PAGE_FAULTS);
	vfence_client_count(vfence_page_client(vmf), VFENCE_COUNT_PAGE_FAULTS, 1);
	/*
	 * Unplug waits for this section, then zaps all mappings. It is one of this adapter, and not
	 * drm_dev_enter(): page tables are allocated for a client, which may take long.
	 */
	idx = srcu_read_lock(&adapter->mem.faults);
	ret = vfence_page_insert(vmf, page_memory(page));
	srcu_read_unlock(&adapter->mem.faults, idx);
	return ret;
}

/* mremap() adds a mapping with open, then ends the old one. */
static void page_open(struct vm_area_struct *vma)
{
	atomic_dec(&to_vfence_page(vma->vm_private_data)->room);
	drm_gem_vm_open(vma);
}

static void page_close(struct vm_area_struct *vma)
{
	atomic_inc(&to_vfence_page(vma->vm_private_data)->room);
	drm_gem_vm_close(vma);
}

/*
 * A debugger reads what the client would read, and cannot write, whatever the client may. To read
 * a doorbell neither rings nor connects it: it reads as the page that is mapped while it is
 * disconnected. The mapping, which is locked, has a reference of the page.
 */
static int page_access(struct vm_area_struct *vma, unsigned long address, void *to, int length,
		       int write)
{
	struct vfence_page *page = to_vfence_page(vma->vm_private_data);
	struct vfence_adapter *adapter = to_vfence_adapter(page->base.dev);
	unsigned long offset = offset_in_page(address);
	int idx;

	if (write)
		return -EACCES;
	length = min_t(unsigned long, length, PAGE_SIZE - offset);

	idx = srcu_read_lock(&adapter->mem.faults);
	memcpy(to, page_address(page_memory(page)) + offset, length);
	srcu_read_unlock(&adapter->mem.faults, idx);
	return length;
}

static const struct vm_operations_struct page_vm_ops = {
	.open = page_open,
	.close = page_close,
	.fault = page_fault,
	.access = page_access,
};

static int page_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct vfence_page *page = to_vfence_page(obj);

	/* A file that is open for reading only has VM_MAYSHARE alone. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;

	if (page_read_only(page)) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		vm_flags_clear(vma, VM_MAYWRITE);
	}

	if (vma->vm_flags & VM_EXEC)
		return -EACCES;

	/* Count last: mmap() calls page_close() only after this function has succeeded. */
	if (atomic_dec_if_positive(&page->room) < 0)
		return -ENOSPC;

	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	return 0;
}

static void page_free(struct drm_gem_object *obj)
{
	struct vfence_page *page = to_vfence_page(obj);

	drm_gem_object_release(obj);
	if (page->release)
		page->release(page->owner);
	put_page(page->page);
	vfence_leak_check_free(PAGE, page);
}

static const struct drm_gem_object_funcs page_funcs = {
	.free = page_free,
	.mmap = page_mmap,
	.vm_ops = &page_vm_ops,
};

/**
 * vfence_page_create - create a page that clients can map
 * @adapter: adapter of the page
 * @kind: use of the page
 * @memory: memory shared with another adapter, or NULL to allocate zeroed memory
 *
 * A client can map the page only after drm_vma_node_allow() of its node.
 *
 * Return: the page or an ERR_PTR.
 */
struct vfence_page *vfence_page_create(struct vfence_adapter *adapter,
				       enum vfence_page_kind kind, struct page *memory)
{
	struct vfence_page *page = vfence_leak_check_alloc(PAGE, sizeof(*page));
	int ret;

	if (!page)
		return ERR_PTR(-ENOMEM);
	page->kind = kind;
	/*
	 * A zap takes time for each mapping of a page, and other clients wait for zaps of
	 * doorbells. Only unplug zaps the other pages.
	 */
	atomic_set(&page->room, kind == VFENCE_PAGE_DOORBELL ? DRM_VFENCE_DOORBELL_MAPPINGS :
							       INT_MAX);

	if (memory)
		get_page(memory);
	else
		memory = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	page->page = memory;
	if (!page->page) {
		vfence_leak_check_free(PAGE, page);
		return ERR_PTR(-ENOMEM);
	}

	page->base.funcs = &page_funcs;
	drm_gem_private_object_init(&adapter->drm, &page->base, PAGE_SIZE);
	ret = drm_gem_create_mmap_offset(&page->base);
	if (ret) {
		drm_gem_object_put(&page->base);
		return ERR_PTR(ret);
	}
	return page;
}

/** vfence_page_put - drop the owner's reference; mappings have references of their own */
void vfence_page_put(struct vfence_page *page)
{
	if (!IS_ERR_OR_NULL(page))
		drm_gem_object_put(&page->base);
}

void *vfence_page_kva(struct vfence_page *page)
{
	return page_address(page->page);
}

u64 vfence_page_offset(struct vfence_page *page)
{
	return drm_vma_node_offset_addr(&page->base.vma_node);
}

static void page_fini(struct drm_device *drm, void *unused)
{
	cleanup_srcu_struct(&to_vfence_adapter(drm)->mem.faults);
}

/** vfence_page_init - prepare an adapter for page faults; 0 or -ENOMEM */
int vfence_page_init(struct vfence_adapter *adapter)
{
	int ret = init_srcu_struct(&adapter->mem.faults);

	return ret ? ret : drmm_add_action_or_reset(&adapter->drm, page_fini, NULL);
}

/** vfence_page_zap_all - after unplug: from here on page faults map the dummy pages */
void vfence_page_zap_all(struct vfence_adapter *adapter)
{
	synchronize_srcu(&adapter->mem.faults);
	unmap_mapping_range(adapter->drm.anon_inode->i_mapping, 0, 0, 1);
}

/** vfence_page_zap - make the next access of every mapping fault */
void vfence_page_zap(struct vfence_page *page)
{
	drm_vma_node_unmap(&page->base.vma_node, page->base.dev->anon_inode->i_mapping);
}
