/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SUBMIT_OPS_H_
#define _VFENCE_SUBMIT_OPS_H_

#include <linux/types.h>

#include <drm/vfence_drm.h>

struct drm_device;

/* So many operations need no allocation. */
#define VFENCE_SUBMIT_OPS_SHORT	8
#define VFENCE_SUBMIT_OP_TYPES	4

/**
 * struct vfence_submit_ops - the operations of a SUBMIT, sorted by type
 */
struct vfence_submit_ops {
	/** @list: operations of each type, in the client's order */
	struct drm_vfence_submit_op *list[VFENCE_SUBMIT_OP_TYPES];
	/** @count: number of operations of each type */
	u32 count[VFENCE_SUBMIT_OP_TYPES];
	/** @all: all operations: @few or an allocation */
	struct drm_vfence_submit_op *all;
	/** @few: room for a few operations */
	struct drm_vfence_submit_op few[VFENCE_SUBMIT_OPS_SHORT];
};

int vfence_submit_ops_get(struct drm_device *drm, const struct drm_vfence_obj_array *array,
			  struct vfence_submit_ops *ops);
void vfence_submit_ops_free(struct vfence_submit_ops *ops);

#endif
