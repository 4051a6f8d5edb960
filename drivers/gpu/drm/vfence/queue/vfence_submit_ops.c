// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of a SUBMIT: one copy of the client's array, sorted by type.
 */

#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "core/vfence_adapter.h"
#include "core/vfence_user_array.h"
#include "queue/vfence_submit_ops.h"

static int submit_ops_count(struct drm_device *drm, struct vfence_submit_ops *ops,
			    struct drm_vfence_submit_op *in, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (vfence_reject(drm, in[i].type >= VFENCE_SUBMIT_OP_TYPES))
			return -EINVAL;
		in[i].type = array_index_nospec(in[i].type, VFENCE_SUBMIT_OP_TYPES);
		ops->count[in[i].type]++;
	}
	for (i = DRM_VFENCE_SUBMIT_WAIT_SYNCOBJ; i <= DRM_VFENCE_SUBMIT_SIGNAL_SYNCOBJ; i++)
		if (vfence_reject(drm, ops->count[i] > DRM_VFENCE_MAX_SYNCOBJS))
			return -EINVAL;
	return 0;
}

static int submit_ops_sort(struct vfence_submit_ops *ops, const struct drm_vfence_submit_op *in,
			   u32 count)
{
	u32 i, next[VFENCE_SUBMIT_OP_TYPES], at = 0;

	ops->all = ops->few;
	if (count > VFENCE_SUBMIT_OPS_SHORT)
		ops->all = kvmalloc_array(count, sizeof(*in), GFP_KERNEL_ACCOUNT);
	if (!ops->all)
		return -ENOMEM;

	for (i = 0; i < VFENCE_SUBMIT_OP_TYPES; i++) {
		ops->list[i] = &ops->all[at];
		next[i] = at;
		at += ops->count[i];
	}
	for (i = 0; i < count; i++)
		ops->all[next[in[i].type]++] = in[i];
	return 0;
}

/**
 * vfence_submit_ops_get - copy and sort the operations of a SUBMIT
 * @drm: the adapter
 * @array: array of &struct drm_vfence_submit_op in user memory; may be empty
 * @ops: zeroed; output: the operations, to be freed with vfence_submit_ops_free()
 *
 * Return: 0 or a negative error.
 */
int vfence_submit_ops_get(struct drm_device *drm, const struct drm_vfence_obj_array *array,
			  struct vfence_submit_ops *ops)
{
	struct drm_vfence_submit_op few[VFENCE_SUBMIT_OPS_SHORT], *in;
	int ret;

	if (!array->count)
		return 0;
	in = vfence_user_array_get(array, sizeof(*in), DRM_VFENCE_MAX_OPS, few, sizeof(few));
	if (IS_ERR(in))
		return PTR_ERR(in);

	ret = submit_ops_count(drm, ops, in, array->count);
	if (!ret)
		ret = submit_ops_sort(ops, in, array->count);
	vfence_user_array_free(in, few);
	return ret;
}

/** vfence_submit_ops_free - free what vfence_submit_ops_get() has allocated */
void vfence_submit_ops_free(struct vfence_submit_ops *ops)
{
	if (ops->all != ops->few)
		kvfree(ops->all);
}
