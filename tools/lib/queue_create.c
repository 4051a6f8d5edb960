// SPDX-License-Identifier: MIT
/* Queues of both kinds: how they are created, with ring and doorbell, and destroyed. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vf_queue.h"

#define PAGE	4096
/* Time that a queue which is destroyed may wait for a fence. */
#define BLOCKED_NS	INT64_C(1000000000)

static int create_context(struct vf_device *device, unsigned int node, uint32_t *handle)
{
	struct drm_vfence_context_create args = { .device = device->handle, .node = node };
	int ret = vf_ioctl(device->adapter, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &args);

	*handle = args.handle;
	return ret;
}

static int create_doorbell(struct vf_queue *q)
{
	struct drm_vfence_doorbell_create args = {
		.queue = q->info.handle,
		.ring = vf_buffer_handle(q->ring_buffer),
		.control = vf_buffer_handle(q->control_buffer),
		.ring_size = q->ring_size,
	};
	int ret = vf_ioctl(q->adapter, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &args);

	if (ret)
		return ret;
	q->has_doorbell = true;
	ret = vf_mapping_init(q->adapter, &q->doorbell, args.doorbell_offset,
			      PROT_READ | PROT_WRITE, 0);
	if (!ret)
		ret = vf_mapping_init(q->adapter, &q->status, args.status_offset, PROT_READ,
				      DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT);
	if (!ret)
		ret = vf_mapping_init(q->adapter, &q->last_queued_slot, args.last_queued_offset,
				      PROT_READ | PROT_WRITE, 0);
	return ret;
}

static int create_parts(struct vf_device *device, unsigned int node, struct vf_queue *q)
{
	int ret = create_context(device, node, &q->context);

	if (ret)
		return ret;
	q->info.context = q->context;
	ret = vf_ioctl(q->adapter, DRM_IOCTL_VFENCE_QUEUE_CREATE, &q->info);
	if (!ret)
		ret = vf_fence_init(q->adapter, q->info.progress_fence, &q->info.progress,
				    &q->progress);
	if (!ret && q->kernel) {
		q->ring = calloc(1, q->ring_size);
		return q->ring ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = vf_buffer_create(q->adapter, q->ring_size, &q->ring_buffer);
	if (!ret)
		ret = vf_buffer_create(q->adapter, PAGE, &q->control_buffer);
	if (ret)
		return ret;
	q->ring = vf_buffer_map(q->ring_buffer);
	/* Write the ring now, so that submissions cause no page faults later. */
	memset(q->ring, 0, q->ring_size);
	q->control = vf_buffer_map(q->control_buffer);
	return create_doorbell(q);
}

static void destroy_keepers(struct vf_queue *q)
{
	while (q->keepers) {
		struct keeper *keeper = q->keepers;

		q->keepers = keeper->next;
		vf_queue_destroy(keeper->queue);
		vf_fence_destroy_now(keeper->ticket);
		free(keeper);
	}
}

static void release(struct vf_queue *q)
{
	if (q->has_doorbell)
		vf_destroy(q->adapter, DRM_VFENCE_OBJECT_DOORBELL, q->info.handle);
	if (q->info.handle)
		vf_destroy(q->adapter, DRM_VFENCE_OBJECT_QUEUE, q->info.handle);
	if (q->context)
		vf_destroy(q->adapter, DRM_VFENCE_OBJECT_CONTEXT, q->context);
	vf_mapping_fini(&q->doorbell);
	vf_mapping_fini(&q->status);
	vf_mapping_fini(&q->last_queued_slot);
	if (q->slot >= 0)
		vf_lifetime_remove_queue(q->adapter, q->slot);
	destroy_keepers(q);
	vf_fence_fini(&q->progress);
	vf_buffer_destroy(q->control_buffer);
	vf_buffer_destroy(q->ring_buffer);
	if (q->kernel)
		free(q->ring);
	free(q);
}

static int create(struct vf_device *device, unsigned int node, uint32_t ring_size, uint32_t flags,
		  struct vf_queue **queue)
{
	struct vf_queue *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return -ENOMEM;
	q->adapter = device->adapter;
	q->device = device;
	q->node = node;
	q->ring_size = ring_size;
	q->info.flags = flags;
	q->kernel = !(flags & DRM_VFENCE_QUEUE_USER_MODE);
	q->slot = vf_lifetime_add_queue(q->adapter, q);
	ret = q->slot < 0 ? q->slot : create_parts(device, node, q);
	if (ret) {
		release(q);
		return ret;
	}
	*queue = q;
	return 0;
}

VF_EXPORT int vf_queue_create(struct vf_device *device, unsigned int node, uint32_t ring_size,
			      struct vf_queue **queue)
{
	return create(device, node, ring_size, DRM_VFENCE_QUEUE_USER_MODE, queue);
}

VF_EXPORT int vf_kernel_queue_create(struct vf_device *device, unsigned int node,
				     struct vf_queue **queue)
{
	return vf_kernel_queue_create_flags(device, node, 0, queue);
}

VF_EXPORT int vf_kernel_queue_create_flags(struct vf_device *device, unsigned int node,
					   uint32_t flags, struct vf_queue **queue)
{
	if (flags & DRM_VFENCE_QUEUE_USER_MODE)
		return -EINVAL;
	return create(device, node, DRM_VFENCE_MAX_COMMANDS, flags, queue);
}

/*
 * True if nothing of the queue executes, because it waits for a fence, and if nothing has since
 * the last call, which @packets is for.
 */
static bool is_blocked(struct vf_queue *queue, uint64_t *packets)
{
	struct drm_vfence_queue_info query;
	uint64_t before = *packets;

	if (vf_queue_query(queue, &query))
		return true;
	*packets = query.packets;
	return query.packets == before &&
	       (queue->kernel ? query.held && !query.queued :
				query.state == DRM_VFENCE_QUEUE_BLOCKED);
}

VF_EXPORT void vf_queue_destroy(struct vf_queue *queue)
{
	uint64_t packets = 0;

	if (!queue)
		return;
	is_blocked(queue, &packets);
	/*
	 * Normal exit (WDDM-201): free the ring after the last value is signaled. The fence
	 * that a blocked queue waits for may never be signaled.
	 */
	while (vf_queue_status(queue) != DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT &&
	       vf_queue_wait_idle(queue, vf_deadline(BLOCKED_NS)) == -ETIME &&
	       !is_blocked(queue, &packets))
		;
	release(queue);
}
