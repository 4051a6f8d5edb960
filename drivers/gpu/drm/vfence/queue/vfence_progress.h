/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PROGRESS_H_
#define _VFENCE_PROGRESS_H_

struct drm_vfence_fence_mapping;
struct vfence_queue;

int vfence_progress_create(struct vfence_queue *queue, struct drm_vfence_fence_mapping *mapping);
void vfence_progress_end(struct vfence_queue *queue);
void vfence_progress_destroy(struct vfence_queue *queue);

#endif
