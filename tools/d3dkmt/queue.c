// SPDX-License-Identifier: MIT
/* Hardware queues: those that the kernel fills, and those with a doorbell. */

#include <errno.h>
#include <string.h>

#include "private.h"

#define ARRAY(count, list)	((struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(count, list))

static void queue_end_doorbell(struct kmt_object *queue)
{
	kmt_unmap(&queue->queue.doorbell);
	kmt_unmap(&queue->queue.secondary);
	kmt_unmap(&queue->queue.status);
	kmt_unmap(&queue->queue.last_queued);
	if (queue->queue.has_doorbell)
		kmt_destroy(queue->adapter, DRM_VFENCE_OBJECT_DOORBELL, queue->handle);
	queue->queue.has_doorbell = false;
}

/* The work of a queue that is destroyed is dropped: a driver waits for its progress fence first. */
void kmt_queue_end(struct kmt_object *queue)
{
	struct kmt_object progress;

	queue_end_doorbell(queue);
	if (kmt_take(queue->queue.progress, KMT_SYNC, &progress))
		kmt_sync_end(&progress, false);
	kmt_destroy(queue->adapter, DRM_VFENCE_OBJECT_QUEUE, queue->handle);
	/* That of a user-mode queue goes with the queue. */
	if (!queue->queue.user_mode)
		kmt_destroy(queue->adapter, DRM_VFENCE_OBJECT_FENCE, queue->queue.progress_fence);
	kmt_destroy(queue->adapter, DRM_VFENCE_OBJECT_CONTEXT, queue->queue.context);
}

/*
 * The driver of a queue chooses the values of its progress fence. The kernel of vfence counts
 * submissions of a kernel-mode queue itself, waits and signals, too, so such a queue has a fence
 * beside that one.
 */
static int vfence_progress_create(struct kmt_object *queue, uint32_t device,
				 struct drm_vfence_fence_mapping *mapping)
{
	struct drm_vfence_fence_create create = { .device = device };
	int ret = kmt_ioctl(queue->adapter, DRM_IOCTL_VFENCE_FENCE_CREATE, &create);

	if (ret == -EOPNOTSUPP) {
		create.type = DRM_VFENCE_FENCE_MONITORED;
		ret = kmt_ioctl(queue->adapter, DRM_IOCTL_VFENCE_FENCE_CREATE, &create);
	}
	*mapping = create.mapping;
	queue->queue.progress_fence = create.handle;
	return ret;
}

/* Make the kernel's context and queue, and the object of the progress fence. */
static NTSTATUS queue_create(struct kmt_object *queue, uint32_t device, UINT node, uint32_t flags)
{
	struct drm_vfence_context_create context = { .device = device, .node = node };
	struct drm_vfence_queue_create create = { .flags = flags };
	struct drm_vfence_fence_mapping mapping;
	int ret = kmt_ioctl(queue->adapter, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context);

	if (ret)
		return kmt_status(ret);
	queue->queue.context = context.handle;
	create.context = context.handle;
	ret = kmt_ioctl(queue->adapter, DRM_IOCTL_VFENCE_QUEUE_CREATE, &create);
	if (ret)
		return kmt_status(ret);
	queue->handle = create.handle;
	mapping = create.progress;
	queue->queue.progress_fence = create.progress_fence;
	if (!queue->queue.user_mode) {
		queue->queue.progress_fence = 0;
		ret = vfence_progress_create(queue, device, &mapping);
	}
	return ret ? kmt_status(ret) :
		     kmt_sync_add(queue, queue->device, queue->queue.progress_fence, &mapping, true,
				  &queue->queue.progress);
}

KMT_EXPORT NTSTATUS D3DKMTCreateHwQueue(D3DKMT_CREATEHWQUEUE *args)
{
	struct kmt_object context, device, progress, queue = { .kind = KMT_QUEUE };
	D3DDDI_CREATEHWQUEUEFLAGS left = args->Flags;
	uint32_t flags = args->Flags.UserModeSubmission ? DRM_VFENCE_QUEUE_USER_MODE : 0;
	NTSTATUS status;

	/* Every queue has a native progress fence, if its adapter has native fences. */
	left.UserModeSubmission = left.DisableGpuTimeout = left.NativeProgressFence = 0;
	left.NoBroadcastSignal = left.NoBroadcastWait = 0;
	if (!kmt_get(args->hHwContext, KMT_CONTEXT, &context) || left.Value ||
	    !kmt_get(context.device, KMT_DEVICE, &device))
		return STATUS_INVALID_PARAMETER;
	flags |= args->Flags.DisableGpuTimeout ? DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT : 0;
	queue.adapter = context.adapter;
	queue.parent = queue.device = context.device;
	queue.queue.user_mode = args->Flags.UserModeSubmission;
	status = queue_create(&queue, device.handle, context.node, flags);
	if (NT_SUCCESS(status))
		status = kmt_add(&queue, &args->hHwQueue);
	if (!NT_SUCCESS(status)) {
		kmt_queue_end(&queue);
		return status;
	}
	args->hHwQueueProgressFence = queue.queue.progress;
	if (kmt_get(queue.queue.progress, KMT_SYNC, &progress)) {
		args->HwQueueProgressFenceCPUVirtualAddress = progress.sync.current;
		args->HwQueueProgressFenceGPUVirtualAddress = progress.sync.current_va;
	}
	return STATUS_SUCCESS;
}

KMT_EXPORT NTSTATUS D3DKMTDestroyHwQueue(const D3DKMT_DESTROYHWQUEUE *args)
{
	struct kmt_object queue;

	if (!kmt_take(args->hHwQueue, KMT_QUEUE, &queue))
		return STATUS_INVALID_PARAMETER;
	kmt_queue_end(&queue);
	return STATUS_SUCCESS;
}

/* ------------------------------------------------- submission by the kernel */

static int queue_submit(struct kmt_object *queue, const struct drm_vfence_submit_queue *queues,
			UINT count, struct drm_vfence_submit *submit)
{
	submit->queues = ARRAY(count, queues);
	return kmt_ioctl(queue->adapter, DRM_IOCTL_VFENCE_SUBMIT, submit);
}

static void queue_set_ops(struct drm_vfence_submit *submit, enum drm_vfence_submit_op_type type,
			  struct drm_vfence_submit_op *ops, const struct kmt_points *points,
			  UINT count)
{
	UINT i;

	for (i = 0; i < count; i++)
		ops[i] = (struct drm_vfence_submit_op){
			.type = (uint32_t)type, .handle = points->point[i].fence,
			.value = points->point[i].value,
		};
	submit->ops = ARRAY(count, ops);
}

/*
 * Packets are in memory of the device, by their GPU address; the kernel copies them. The progress
 * fence gets its value, which must grow, when they are done.
 */
KMT_EXPORT NTSTATUS D3DKMTSubmitCommandToHwQueue(const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args)
{
	struct drm_vfence_submit_queue one = { 0 };
	struct drm_vfence_submit submit = { .commands_size = args->CommandLength };
	struct drm_vfence_submit_op progress;
	const void *commands = NULL;
	struct kmt_object queue;
	int ret;

	if (!kmt_get(args->hHwQueue, KMT_QUEUE, &queue) || args->NumPrimaries ||
	    args->HwQueueProgressFenceId <= queue.queue.submitted)
		return STATUS_INVALID_PARAMETER;
	if (queue.queue.user_mode)
		return STATUS_NOT_SUPPORTED;
	if (args->CommandLength && !kmt_find(queue.device, args->CommandBuffer,
					     args->CommandLength, &commands))
		return STATUS_INVALID_PARAMETER;
	submit.commands = (uintptr_t)commands;
	progress = (struct drm_vfence_submit_op){
		.type = DRM_VFENCE_SUBMIT_SIGNAL_FENCE, .handle = queue.queue.progress_fence,
		.value = args->HwQueueProgressFenceId,
	};
	submit.ops = ARRAY(1, &progress);
	one.queue = queue.handle;
	ret = queue_submit(&queue, &one, 1, &submit);
	if (ret)
		return kmt_status(ret);
	queue.queue.submitted = args->HwQueueProgressFenceId;
	kmt_set(args->hHwQueue, &queue);
	return STATUS_SUCCESS;
}

/* Work behind the call waits; the call returns at once. */
KMT_EXPORT NTSTATUS
D3DKMTSubmitWaitForSyncObjectsToHwQueue(const D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE *args)
{
	struct drm_vfence_submit_op ops[D3DDDI_MAX_OBJECT_WAITED_ON];
	struct drm_vfence_submit_queue one = { 0 };
	struct drm_vfence_submit submit = { 0 };
	struct kmt_points points;
	struct kmt_object queue;
	NTSTATUS status;

	if (!kmt_get(args->hHwQueue, KMT_QUEUE, &queue) || !args->ObjectCount)
		return STATUS_INVALID_PARAMETER;
	status = kmt_points(args->ObjectCount, args->ObjectHandleArray, args->FenceValueArray,
			    queue.adapter, &points);
	if (!NT_SUCCESS(status))
		return status;
	queue_set_ops(&submit, DRM_VFENCE_SUBMIT_WAIT_FENCE, ops, &points, args->ObjectCount);
	one.queue = queue.handle;
	return kmt_status(queue_submit(&queue, &one, 1, &submit));
}

/* Find the queues of a broadcast, all of one adapter. */
static NTSTATUS queue_find_all(UINT count, const D3DKMT_HANDLE *handles,
			       struct drm_vfence_submit_queue *queues, struct kmt_object *first)
{
	struct kmt_object queue;
	UINT i;

	if (!count || count > D3DDDI_MAX_BROADCAST_CONTEXT || !handles)
		return STATUS_INVALID_PARAMETER;
	for (i = 0; i < count; i++) {
		if (!kmt_get(handles[i], KMT_QUEUE, &queue) ||
		    (i && queue.adapter != first->adapter))
			return STATUS_INVALID_PARAMETER;
		if (!i)
			*first = queue;
		queues[i] = (struct drm_vfence_submit_queue){ .queue = queue.handle };
	}
	return STATUS_SUCCESS;
}

static uint32_t queue_signal_flags(D3DDDICB_SIGNALFLAGS flags)
{
	return (flags.SignalAtSubmission ? DRM_VFENCE_SUBMIT_SIGNAL_AT_SUBMISSION : 0) |
	       (flags.AllowFenceRewind ? DRM_VFENCE_SUBMIT_ALLOW_REWIND : 0);
}

/* With several queues the objects are signaled when all of them have come to this point. */
KMT_EXPORT NTSTATUS
D3DKMTSubmitSignalSyncObjectsToHwQueue(const D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE *args)
{
	struct drm_vfence_submit_queue queues[D3DDDI_MAX_BROADCAST_CONTEXT];
	struct drm_vfence_submit submit = { .flags = queue_signal_flags(args->Flags) };
	struct drm_vfence_submit_op ops[D3DDDI_MAX_OBJECT_WAITED_ON];
	struct kmt_points points;
	struct kmt_object first;
	NTSTATUS status;

	/* The structure has no member for an event. */
	if (args->Flags.EnqueueCpuEvent || args->Flags.Reserved || !args->ObjectCount)
		return STATUS_INVALID_PARAMETER;
	status = queue_find_all(args->BroadcastHwQueueCount, args->BroadcastHwQueueArray, queues,
				&first);
	if (NT_SUCCESS(status))
		status = kmt_points(args->ObjectCount, args->ObjectHandleArray,
				    args->FenceValueArray, first.adapter, &points);
	if (!NT_SUCCESS(status))
		return status;
	queue_set_ops(&submit, DRM_VFENCE_SUBMIT_SIGNAL_FENCE, ops, &points, args->ObjectCount);
	return kmt_status(queue_submit(&first, queues, args->BroadcastHwQueueCount, &submit));
}

/* --------------------------------------------------------------- doorbells */

static NTSTATUS queue_map_doorbell(struct kmt_object *queue,
				   const struct drm_vfence_doorbell_create *create)
{
	int ret = kmt_map(queue->adapter, create->doorbell_offset, true, &queue->queue.doorbell);

	ret = ret ? ret : kmt_map(queue->adapter, create->secondary_offset, true,
				  &queue->queue.secondary);
	ret = ret ? ret : kmt_map(queue->adapter, create->status_offset, false,
				  &queue->queue.status);
	ret = ret ? ret : kmt_map(queue->adapter, create->last_queued_offset, true,
				  &queue->queue.last_queued);
	return kmt_status(ret);
}

/* The ring has the size of its allocation. The driver of the queue writes ring and control itself. */
KMT_EXPORT NTSTATUS D3DKMTCreateDoorbell(D3DKMT_CREATE_DOORBELL *args)
{
	struct drm_vfence_doorbell_create create = {
		.flags = args->Flags.RequireSecondaryCpuVA ? DRM_VFENCE_DOORBELL_SECONDARY : 0,
	};
	D3DKMT_CREATE_DOORBELL_FLAGS left = args->Flags;
	struct kmt_object queue, ring, control;
	NTSTATUS status;
	int ret;

	/* A ring has its size for life. */
	left.RequireSecondaryCpuVA = 0;
	if (!kmt_get(args->hHwQueue, KMT_QUEUE, &queue) || left.Value ||
	    !kmt_get(args->hRingBuffer, KMT_ALLOCATION, &ring) ||
	    !kmt_get(args->hRingBufferControl, KMT_ALLOCATION, &control) ||
	    ring.device != queue.device || control.device != queue.device)
		return STATUS_INVALID_PARAMETER;
	if (vf_buffer_size(ring.as_allocation) > DRM_VFENCE_RING_MAX)
		return STATUS_INVALID_PARAMETER;
	create.queue = queue.handle;
	create.ring = ring.handle;
	create.control = control.handle;
	create.ring_size = (uint32_t)vf_buffer_size(ring.as_allocation);
	ret = kmt_ioctl(queue.adapter, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &create);
	if (ret)
		return kmt_status(ret);
	queue.queue.has_doorbell = true;
	status = queue_map_doorbell(&queue, &create);
	if (!NT_SUCCESS(status)) {
		queue_end_doorbell(&queue);
		return status;
	}
	kmt_set(args->hHwQueue, &queue);
	args->DoorbellCPUVirtualAddress = queue.queue.doorbell.at;
	args->DoorbellSecondaryCPUVirtualAddress = queue.queue.secondary.at;
	args->DoorbellStatusCPUVirtualAddress = queue.queue.status.at;
	args->HwQueueProgressFenceLastQueuedValueCPUVirtualAddress = queue.queue.last_queued.at;
	/* A queue has one doorbell, and all calls name the queue. */
	args->hDoorbell = args->hHwQueue;
	return STATUS_SUCCESS;
}

KMT_EXPORT NTSTATUS D3DKMTConnectDoorbell(const D3DKMT_CONNECT_DOORBELL *args)
{
	struct drm_vfence_doorbell_connect connect = { 0 };
	struct kmt_object queue;

	if (!kmt_get(args->hHwQueue, KMT_QUEUE, &queue) || args->Flags)
		return STATUS_INVALID_PARAMETER;
	connect.queue = queue.handle;
	return kmt_status(kmt_ioctl(queue.adapter, DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &connect));
}

KMT_EXPORT NTSTATUS D3DKMTDestroyDoorbell(const D3DKMT_DESTROY_DOORBELL *args)
{
	struct kmt_object queue;

	if (!kmt_take_doorbell(args->hHwQueue, &queue))
		return STATUS_INVALID_PARAMETER;
	queue_end_doorbell(&queue);
	return STATUS_SUCCESS;
}

KMT_EXPORT NTSTATUS D3DKMTNotifyWorkSubmission(const D3DKMT_NOTIFY_WORK_SUBMISSION *args)
{
	struct drm_vfence_notify_work_submission notify = { 0 };
	struct kmt_object queue;

	if (!kmt_get(args->hHwQueue, KMT_QUEUE, &queue) || args->Flags)
		return STATUS_INVALID_PARAMETER;
	notify.queue = queue.handle;
	return kmt_status(kmt_ioctl(queue.adapter, DRM_IOCTL_VFENCE_NOTIFY_WORK_SUBMISSION,
				    &notify));
}
