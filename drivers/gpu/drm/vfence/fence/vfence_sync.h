/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SYNC_H_
#define _VFENCE_SYNC_H_

#include "core/vfence_file_types.h"

/*
 * A submission waits for in-syncs, is represented by one dma_fence (done), and
 * publishes it in its out-syncs.
 */
struct dma_fence;
struct drm_vfence_submit_op;
struct vfence_in_syncs;
struct vfence_out_syncs;

struct dma_fence *vfence_sync_done_create(u64 context);
void vfence_sync_done_place(struct dma_fence *done, u64 seqno);
void vfence_sync_done_signal(struct dma_fence *done, int error);

struct vfence_in_syncs *
vfence_sync_in_create(struct drm_file *file, const struct drm_vfence_submit_op *ops, u32 count);
void vfence_sync_in_arm(struct vfence_in_syncs *in_syncs, void (*all_signaled)(void *owner),
			void *owner);
bool vfence_sync_in_signaled(const struct vfence_in_syncs *in_syncs);
void vfence_sync_in_destroy(struct vfence_in_syncs *in_syncs);

struct vfence_out_syncs *
vfence_sync_out_create(struct drm_file *file, const struct drm_vfence_submit_op *ops, u32 count);
void vfence_sync_out_publish(struct vfence_out_syncs *out_syncs, struct dma_fence *done);
void vfence_sync_out_destroy(struct vfence_out_syncs *out_syncs);

void vfence_sync_init(struct vfence_file *file);
int vfence_sync_import_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void vfence_sync_cancel_all(struct vfence_file *file);

#endif
