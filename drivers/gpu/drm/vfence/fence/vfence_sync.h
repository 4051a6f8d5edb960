/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SYNC_H_
#define _VFENCE_SYNC_H_

#include "vfence_file.h"

/*
 * What submissions have to do with dma_fences: those they wait for, the one each of
 * them is, and the syncobjs that get it.
 */
struct dma_fence;
struct vfence_dependencies;
struct vfence_publication;

struct dma_fence *vfence_done_create(u64 context);
void vfence_done_place(struct dma_fence *done, u64 seqno);
void vfence_done_signal(struct dma_fence *done, int error);

struct vfence_dependencies *
vfence_dependencies_create(struct drm_file *file, const struct drm_vfence_obj_array *syncobjs);
void vfence_dependencies_arm(struct vfence_dependencies *deps, void (*met)(void *owner),
			     void *owner);
bool vfence_dependencies_met(const struct vfence_dependencies *deps);
void vfence_dependencies_destroy(struct vfence_dependencies *deps);

struct vfence_publication *
vfence_publication_create(struct drm_file *file, const struct drm_vfence_obj_array *syncobjs);
void vfence_publication_publish(struct vfence_publication *publication, struct dma_fence *done);
void vfence_publication_destroy(struct vfence_publication *publication);

#endif
