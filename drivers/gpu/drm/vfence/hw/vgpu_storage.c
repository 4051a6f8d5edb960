// SPDX-License-Identifier: GPL-2.0-only
/*
 * The storage of fence values: video memory, and pages of values that can move.
 */

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "vgpu_types.h"

static unsigned int storage_invisible_pages(const struct vgpu *gpu)
{
	return gpu->config.local_pages - gpu->config.visible_pages;
}

/*
 * Keep the current value of a DEFAULT fence in system memory, because clients and the kernel
 * access it. Its monitored value may be in visible video memory. Only the GPU accesses an
 * INTRA_GPU fence, so its values may be in invisible video memory (WDDM-32, WDDM-33).
 */
void vgpu_storage_query_placement(struct vgpu *gpu, enum drm_vfence_fence_type type,
				  enum vgpu_fence_value value, struct vgpu_placement *answer)
{
	*answer = (struct vgpu_placement) {
		.supported = VGPU_SEGMENT_SYSTEM,
		.preferred = VGPU_SEGMENT_SYSTEM,
		.eviction = VGPU_SEGMENT_SYSTEM,
	};

	if (type == DRM_VFENCE_FENCE_INTRA_GPU && storage_invisible_pages(gpu))
		answer->preferred = VGPU_SEGMENT_LOCAL;
	if (type == DRM_VFENCE_FENCE_DEFAULT && value == VGPU_MONITORED_VALUE &&
	    gpu->os_caps & VGPU_OS_OPTIMIZED_FENCES && gpu->config.visible_pages)
		answer->preferred = VGPU_SEGMENT_LOCAL_VISIBLE;

	answer->supported |= answer->preferred;
}

void *vgpu_storage_aperture(struct vgpu *gpu, u64 page)
{
	if (page >= gpu->config.visible_pages)
		return NULL;
	return gpu->local + page * PAGE_SIZE;
}

static struct vgpu_storage *storage_create(void *kva, bool local)
{
	struct vgpu_storage *storage = vfence_leak_check_alloc(HW_STORAGE, sizeof(*storage));

	if (!storage)
		return ERR_PTR(-ENOMEM);
	storage->kva = kva;
	storage->local = local;
	return storage;
}

struct vgpu_storage *vgpu_storage_create_system(struct vgpu *gpu, void *kva)
{
	return storage_create(kva, false);
}

struct vgpu_storage *vgpu_storage_create_local(struct vgpu *gpu)
{
	return storage_create(NULL, true);
}

void vgpu_storage_place(struct vgpu *gpu, struct vgpu_storage *storage, u64 page)
{
	storage->kva = gpu->local + page * PAGE_SIZE;
}

void vgpu_storage_evicted(struct vgpu *gpu, struct vgpu_storage *storage, void *kva)
{
	unsigned long flags;

	write_lock_irqsave(&gpu->chip->residency, flags);
	WRITE_ONCE(storage->kva, kva);
	WRITE_ONCE(storage->local, false);
	write_unlock_irqrestore(&gpu->chip->residency, flags);
}

void vgpu_storage_destroy(struct vgpu_storage *storage)
{
	vfence_leak_check_free(HW_STORAGE, storage);
}
