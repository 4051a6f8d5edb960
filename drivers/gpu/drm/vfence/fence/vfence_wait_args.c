// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of the calls that wait, checked: the points to wait for, and those to signal before.
 */

#include "core/vfence_adapter.h"
#include "core/vfence_file_types.h"
#include "fence/vfence_points.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_wait_args.h"

/**
 * vfence_wait_args_init - check a wait and the signals to perform before it
 * @wait_args: output: the arguments, to be ended with vfence_wait_args_end() if this succeeds
 * @file: the file of the client
 * @flags: DRM_VFENCE_WAIT_*
 * @array: points to wait for
 * @signals: points to signal first; may be empty
 *
 * On success all arguments of the client are valid.
 *
 * Return: 0 or a negative error.
 */
int vfence_wait_args_init(struct vfence_wait_args *wait_args, struct vfence_file *file, u32 flags,
			  const struct drm_vfence_obj_array *array,
			  const struct drm_vfence_obj_array *signals)
{
	int ret;

	*wait_args = (struct vfence_wait_args) {
		.file = file,
		.any = flags & DRM_VFENCE_WAIT_ANY,
		.signal_flags = flags & DRM_VFENCE_WAIT_ALLOW_REWIND ?
				DRM_VFENCE_SIGNAL_ALLOW_REWIND : 0,
	};
	ret = vfence_points_resolve(file, array, DRM_VFENCE_RIGHT_WAIT, &wait_args->waits);
	if (ret || !signals->count)
		return ret;

	ret = vfence_points_resolve(file, signals, DRM_VFENCE_RIGHT_SIGNAL, &wait_args->signals);
	if (ret)
		vfence_points_free(&wait_args->waits);
	return ret;
}

/**
 * vfence_wait_args_reserve - allocate the wait of checked arguments, unless they have one
 * @wait_args: the arguments
 *
 * Call it before the signals: it can fail, and signals cannot be undone.
 *
 * Return: 0 or -ENOMEM.
 */
int vfence_wait_args_reserve(struct vfence_wait_args *wait_args)
{
	if (wait_args->wait)
		return 0;
	wait_args->wait = vfence_wait_alloc(wait_args->file->adapter, wait_args->waits.count);
	if (!wait_args->wait)
		return -ENOMEM;
	wait_args->wait->client = wait_args->file;
	return 0;
}

/** vfence_wait_args_take_wait - fill in the wait of checked arguments; the caller owns it now */
struct vfence_wait *vfence_wait_args_take_wait(struct vfence_wait_args *wait_args)
{
	struct vfence_wait *wait = wait_args->wait;

	vfence_points_move(&wait_args->waits, wait, wait_args->any);
	wait_args->wait = NULL;
	return wait;
}
