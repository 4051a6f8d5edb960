/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PAGE_H_
#define _VFENCE_PAGE_H_

#include <linux/atomic.h>
#include <linux/mm_types.h>

#include <drm/drm_gem.h>

struct vfence_adapter;
struct vfence_file;

/**
 * enum vfence_page_kind - use of a kernel-owned page
 */
enum vfence_page_kind {
	/** @VFENCE_PAGE_FENCE: current values; clients read them */
	VFENCE_PAGE_FENCE,
	/** @VFENCE_PAGE_STATUS: status word of a doorbell; clients read it */
	VFENCE_PAGE_STATUS,
	/** @VFENCE_PAGE_LAST_QUEUED: last queued value; clients write it */
	VFENCE_PAGE_LAST_QUEUED,
	/** @VFENCE_PAGE_DOORBELL: doorbell; every access rings it */
	VFENCE_PAGE_DOORBELL,
};

/**
 * struct vfence_page - a page that the kernel owns and clients map
 *
 * It is a GEM object because it needs an mmap offset, an access check and references. It
 * never gets a handle, so no GEM or PRIME call can access it.
 */
struct vfence_page {
	/** @base: GEM object without a handle */
	struct drm_gem_object base;
	/** @kind: use of the page; constant */
	enum vfence_page_kind kind;
	/** @page: memory of the page; for a doorbell, what clients map while it is disconnected */
	struct page *page;

	/**
	 * @room: number of mappings that may be added, in all processes together; atomic. For a
	 * moment it can be less than 0: mremap() adds a mapping, then ends the old one.
	 */
	atomic_t room;

	/**
	 * @fault: page fault handler, or NULL to insert @page; set before any client can map
	 * the page
	 */
	vm_fault_t (*fault)(struct vm_fault *vmf, struct vfence_page *page);
	/** @owner: argument for @fault and @release; set with @fault, then constant */
	void *owner;
	/** @release: called with @owner when the page is freed, or NULL; process context */
	void (*release)(void *owner);
};

int vfence_page_init(struct vfence_adapter *adapter);
void vfence_page_zap_all(struct vfence_adapter *adapter);
struct vfence_page *vfence_page_create(struct vfence_adapter *adapter,
				       enum vfence_page_kind kind, struct page *memory);
void vfence_page_put(struct vfence_page *page);
void *vfence_page_kva(struct vfence_page *page);
u64 vfence_page_offset(struct vfence_page *page);
struct vfence_file *vfence_page_client(const struct vm_fault *vmf);
int vfence_page_prepare(struct vm_fault *vmf);
vm_fault_t vfence_page_insert(struct vm_fault *vmf, struct page *memory);
void vfence_page_zap(struct vfence_page *page);

#endif
