/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PAGE_H_
#define _VFENCE_PAGE_H_

#include <linux/mm_types.h>

#include <drm/drm_gem.h>

struct vfence_adapter;

/**
 * enum vfence_page_kind - what a kernel-owned page is for
 */
enum vfence_page_kind {
	/** @VFENCE_PAGE_FENCE: current values; clients read */
	VFENCE_PAGE_FENCE,
	/** @VFENCE_PAGE_STATUS: a doorbell's status word; clients read */
	VFENCE_PAGE_STATUS,
	/** @VFENCE_PAGE_LAST_QUEUED: last queued value; clients write */
	VFENCE_PAGE_LAST_QUEUED,
	/** @VFENCE_PAGE_DOORBELL: the doorbell; any access rings */
	VFENCE_PAGE_DOORBELL,
};

/**
 * struct vfence_page - a page the kernel owns and clients map
 *
 * A GEM object for the sake of its mmap offset, access check and references; it
 * never gets a handle, so no GEM or PRIME call reaches it.
 */
struct vfence_page {
	/** @base: GEM object without a handle */
	struct drm_gem_object base;
	/** @kind: what it is for */
	enum vfence_page_kind kind;
	/** @page: the memory; of a doorbell page what it reads while disconnected */
	struct page *page;
	/**
	 * @fault: what an access that faults does, or NULL to insert @page; set
	 * before any client may map the page
	 */
	vm_fault_t (*fault)(struct vm_fault *vmf, struct vfence_page *page);
	/** @owner: for @fault, under the owner's own lock; NULL once the owner is gone */
	void *owner;
};

struct vfence_page *vfence_page_create(struct vfence_adapter *adapter,
				       enum vfence_page_kind kind, struct page *memory);
void vfence_page_put(struct vfence_page *page);
void *vfence_page_kva(struct vfence_page *page);
u64 vfence_page_offset(struct vfence_page *page);
vm_fault_t vfence_page_insert(struct vm_fault *vmf, struct page *memory);
void vfence_page_zap(struct vfence_page *page);

#endif
