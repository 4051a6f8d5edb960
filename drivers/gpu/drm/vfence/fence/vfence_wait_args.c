// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of the calls that wait, checked: the points to wait for, and those to signal before.
 */

#include "core/vfence_adapter.h"
#include "core/vfence_file_types.h"
#include "fence/vfence_points.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_wait.h"
#include "fence/vfence_wait_args.h"

/**
 * vfence_wait_args_signal - signal the points that a call of a client names
 * @file: the file of the client
 * @signals: the points, from vfence_points_resolve(), or an empty list
 * @flags: DRM_VFENCE_SIGNAL_*
 *
 * Return: as vfence_signal_perform().
 */
int vfence_wait_args_signal(struct vfence_file *file, struct vfence_points *signals, u32 flags)
{
	int ret;

	signals->caller = file;
	ret = vfence_signal_perform(signals, flags);
	if (!ret)
		vfence_client_count(file, VFENCE_COUNT_CPU_SIGNALS, signals->count);
	return ret;
}

/**
 * vfence_wait_args_init - check a wait and the signals to perform before it
 * @checked: output: the arguments, to be ended with vfence_wait_args_end() if this succeeds
 * @file: the file of the client
 * @flags: DRM_VFENCE_WAIT_*
 * @array: points to wait for
 * @signals: points to signal first; may be empty
 *
 * On success all arguments of the client are valid.
 *
 * Return: 0 or a negative error.
 */
int vfence_wait_args_init(struct vfence_wait_args *checked, struct vfence_file *file, u32 flags,
			  const struct drm_vfence_obj_array *array,
			const struct drm_vfence_obj_array *signals)
{
	int ret;

	*checked = (struct vfence_wait_args) {
		.file = file,
		.any = flags & DRM_VFENCE_WAIT_ANY,
		.signal_flags = flags & DRM_VFENCE_WAIT_ALLOW_REWIND ?
				DRM_VFENCE_SIGNAL_ALLOW_REWIND : 0,
	};
	ret = vfence_points_resolve(file, array, DRM_VFENCE_RIGHT_WAIT, &checked->waits);
	if (ret || !signals->count)
		return ret;

	ret = vfence_points_resolve(file, signals, DRM_VFENCE_RIGHT_SIGNAL, &checked->signals);
	if (ret)
		vfence_points_free(&checked->waits);
	return ret;
}

/** vfence_wait_args_end - free what checked arguments still have */
void vfence_wait_args_end(struct vfence_wait_args *checked)
{
	vfence_points_free(&checked->signals);
	vfence_points_free(&checked->waits);
	if (checked->wait)
		vfence_wait_destroy(checked->wait);
}

/**
 * vfence_wait_args_reserve - allocate the wait of checked arguments, unless they have one
 * @checked: the arguments
 *
 * Call it before the signals: it can fail, and signals cannot be undone.
 *
 * Return: 0 or -ENOMEM.
 */
int vfence_wait_args_reserve(struct vfence_wait_args *checked)
{
	if (checked->wait)
		return 0;
	checked->wait = vfence_wait_alloc(checked->file->adapter, checked->waits.count);
	if (!checked->wait)
		return -ENOMEM;
	checked->wait->client = checked->file;
	return 0;
}

/** vfence_wait_args_take_wait - fill in the wait of checked arguments; the caller owns it now */
struct vfence_wait *vfence_wait_args_take_wait(struct vfence_wait_args *checked)
{
	struct vfence_wait *wait = checked->wait;

	vfence_points_move(&checked->waits, wait, checked->any);
	checked->wait = NULL;
	return wait;
}
