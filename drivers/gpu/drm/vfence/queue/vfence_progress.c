// SPDX-License-Identifier: GPL-2.0-only
/*
 * The progress fence of a queue: a native fence, or a monitored one on adapters without them, that
 * counts what the queue has completed.
 */

#include "core/vfence_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_holder.h"
#include "queue/vfence_progress.h"
#include "queue/vfence_queue.h"

/**
 * vfence_progress_create - create the progress fence of a new queue, with a handle of its device
 * @queue: the queue, its file locked
 * @mapping: output: where the values of the fence are
 *
 * Return: 0 or a negative error.
 */
int vfence_progress_create(struct vfence_queue *queue, struct drm_vfence_fence_mapping *mapping)
{
	const struct vfence_fence_args args = {
		.type = queue->adapter->native_fence ? DRM_VFENCE_FENCE_DEFAULT :
						       DRM_VFENCE_FENCE_MONITORED,
		/* Waits for the progress of a lost queue end with an error instead. */
		.flags = DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR,
	};
	struct vfence_fence *fence = vfence_fence_create(queue->file, &args);
	int ret;

	if (IS_ERR(fence))
		return PTR_ERR(fence);

	ret = vfence_fence_handle_add(queue->file, queue->device, fence, DRM_VFENCE_RIGHTS_ALL,
				      true, &queue->progress, mapping);
	if (!ret) {
		queue->progress_fence = vfence_fence_get(fence);
		vfence_fence_handle_own(queue->file, queue->progress);
	} else {
		queue->progress = 0;
	}

	vfence_holder_put(fence, DRM_VFENCE_RIGHTS_ALL);
	return ret;
}

/** vfence_progress_end - end the waits for the progress of a stopped queue; process context */
void vfence_progress_end(struct vfence_queue *queue)
{
	vfence_holder_end(queue->progress_fence, -EIO);
}

/** vfence_progress_destroy - destroy the handle of the progress fence, if there is one */
void vfence_progress_destroy(struct vfence_queue *queue)
{
	if (queue->progress)
		vfence_fence_handle_destroy(queue->file, queue->progress);
	queue->progress = 0;
}
