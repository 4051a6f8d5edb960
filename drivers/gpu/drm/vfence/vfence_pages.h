/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PAGES_H_
#define _VFENCE_PAGES_H_

#include <drm/drm_gem.h>

struct vfence_adapter;
struct vfence_doorbell;

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
	/** @page: the memory; for a doorbell what it reads while disconnected */
	struct page *page;
	/** @doorbell: for a doorbell page; adapter->doorbell_lock; NULL once gone */
	struct vfence_doorbell *doorbell;
};

struct vfence_page *vfence_page_create(struct vfence_adapter *adapter,
				       enum vfence_page_kind kind, struct page *memory);
void vfence_page_put(struct vfence_page *page);
void *vfence_page_kva(struct vfence_page *page);
u64 vfence_page_offset(struct vfence_page *page);
void vfence_page_zap(struct vfence_page *page);

#endif
