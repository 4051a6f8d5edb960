// SPDX-License-Identifier: MIT
/* Synchronisation objects: monitored and native fences. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "private.h"

#define ARRAY(count, list)	((struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(count, list))

/* Make an object of a fence of the kernel. If that fails the fence is destroyed. */
NTSTATUS kmt_sync_add(const struct kmt_object *parent, D3DKMT_HANDLE device, uint32_t handle,
		      const struct drm_vfence_fence_mapping *mapping, bool of_queue,
		      D3DKMT_HANDLE *sync)
{
	struct kmt_object object = {
		.kind = KMT_SYNC, .adapter = parent->adapter, .parent = device, .device = device,
		.handle = handle, .sync.of_queue = of_queue, .sync.current_va = mapping->current_va,
		.sync.monitored_va = mapping->monitored_va,
	};
	int ret = kmt_map(parent->adapter, mapping->current_offset, false, &object.sync.value);
	NTSTATUS status = kmt_status(ret);

	if (!ret && object.sync.value.at)
		object.sync.current = (char *)object.sync.value.at + mapping->current_page_offset;
	if (!ret)
		status = kmt_add(&object, sync);
	if (!NT_SUCCESS(status))
		kmt_sync_end(&object, !of_queue);
	return status;
}

void kmt_sync_end(struct kmt_object *sync, bool destroy)
{
	kmt_unmap(&sync->sync.value);
	if (destroy)
		kmt_destroy(sync->adapter, DRM_VFENCE_OBJECT_FENCE, sync->handle);
}

/* Make an object of the fence that a call has got from the kernel, and copy the object. */
static NTSTATUS sync_finish(const struct kmt_object *device, D3DKMT_HANDLE device_handle, int error,
			    uint32_t fence, const struct drm_vfence_fence_mapping *mapping,
			    D3DKMT_HANDLE *handle, struct kmt_object *sync)
{
	NTSTATUS status = kmt_status(error);

	if (!error)
		status = kmt_sync_add(device, device_handle, fence, mapping, false, handle);
	if (NT_SUCCESS(status) && !kmt_get(*handle, KMT_SYNC, sync))
		status = STATUS_INVALID_PARAMETER;
	return status;
}

/* Of the flags of an open fence those count that are about the handle. */
static uint32_t sync_open_flags(D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS from)
{
	return (from.NoSignal ? DRM_VFENCE_FENCE_NO_SIGNAL : 0) |
	       (from.NoWait ? DRM_VFENCE_FENCE_NO_WAIT : 0);
}

/*
 * Translate the flags of a fence. A fence is shared by NT handles alone, which are descriptors.
 * Return: false if vfence has no such fence.
 */
static bool sync_flags(D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS from, uint32_t *flags)
{
	D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS known = {
		.Shared = 1, .NtSecuritySharing = 1, .CrossAdapter = 1, .TopOfPipeline = 1,
		.NoSignal = 1, .NoWait = 1, .NoSignalMaxValueOnTdr = 1, .NoGPUAccess = 1,
		.UnwaitCpuWaitersOnlyOnDestroy = 1,
	};

	*flags = sync_open_flags(from) |
		 (from.Shared ? DRM_VFENCE_FENCE_SHAREABLE : 0) |
		 (from.CrossAdapter ? DRM_VFENCE_FENCE_CROSS_ADAPTER : 0) |
		 (from.TopOfPipeline ? DRM_VFENCE_FENCE_TOP_OF_PIPELINE : 0) |
		 (from.NoSignalMaxValueOnTdr ? DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR : 0) |
		 (from.NoGPUAccess ? DRM_VFENCE_FENCE_NO_GPU_ACCESS : 0) |
		 (from.UnwaitCpuWaitersOnlyOnDestroy ?
		  DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY : 0);
	return !(from.Value & ~known.Value) && from.Shared == from.NtSecuritySharing;
}

KMT_EXPORT NTSTATUS D3DKMTCreateSynchronizationObject2(D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *args)
{
	struct drm_vfence_fence_create create = {
		.type = DRM_VFENCE_FENCE_MONITORED,
		.engine_affinity = args->Info.MonitoredFence.EngineAffinity,
		.initial_value = args->Info.MonitoredFence.InitialFenceValue,
	};
	struct kmt_object device, sync;
	NTSTATUS status;
	int ret;

	if (!kmt_get(args->hDevice, KMT_DEVICE, &device))
		return STATUS_INVALID_PARAMETER;
	if (args->Info.Type != D3DDDI_MONITORED_FENCE)
		return STATUS_NOT_SUPPORTED;
	if (!sync_flags(args->Info.Flags, &create.flags))
		return STATUS_INVALID_PARAMETER;
	create.device = device.handle;
	ret = kmt_ioctl(device.adapter, DRM_IOCTL_VFENCE_FENCE_CREATE, &create);
	status = sync_finish(&device, args->hDevice, ret, create.handle, &create.mapping,
			     &args->hSyncObject, &sync);
	if (!NT_SUCCESS(status))
		return status;
	args->Info.MonitoredFence.FenceValueCPUVirtualAddress = sync.sync.current;
	args->Info.MonitoredFence.FenceValueGPUVirtualAddress = sync.sync.current_va;
	return STATUS_SUCCESS;
}

static D3DDDI_NATIVEFENCEMAPPING sync_mapping(const struct kmt_object *sync)
{
	return (D3DDDI_NATIVEFENCEMAPPING){
		.CurrentValueCpuVa = sync->sync.current,
		.CurrentValueGpuVa = sync->sync.current_va,
		.MonitoredValueGpuVa = sync->sync.monitored_va,
	};
}

KMT_EXPORT NTSTATUS D3DKMTCreateNativeFence(D3DKMT_CREATENATIVEFENCE *args)
{
	struct drm_vfence_fence_create create = {
		.type = args->Info.Type, .initial_value = args->Info.InitialFenceValue,
		.engine_affinity = args->Info.EngineAffinity,
	};
	struct kmt_object device, sync;
	NTSTATUS status;
	int ret;

	if (!kmt_get(args->hDevice, KMT_DEVICE, &device) || args->Flags ||
	    args->Info.Type > D3DDDI_NATIVEFENCE_TYPE_INTRA_GPU ||
	    !sync_flags(args->Info.Flags, &create.flags))
		return STATUS_INVALID_PARAMETER;
	create.device = device.handle;
	memcpy(create.private_data, args->PrivateDriverData, sizeof(create.private_data));
	ret = kmt_ioctl(device.adapter, DRM_IOCTL_VFENCE_FENCE_CREATE, &create);
	status = sync_finish(&device, args->hDevice, ret, create.handle, &create.mapping,
			     &args->hSyncObject, &sync);
	if (!NT_SUCCESS(status))
		return status;
	memcpy(args->PrivateDriverData, create.private_data, sizeof(create.private_data));
	args->Info.NativeFenceMapping = sync_mapping(&sync);
	return STATUS_SUCCESS;
}

KMT_EXPORT NTSTATUS
D3DKMTDestroySynchronizationObject(const D3DKMT_DESTROYSYNCHRONIZATIONOBJECT *args)
{
	struct kmt_object sync;

	if (!kmt_get(args->hSyncObject, KMT_SYNC, &sync) || sync.sync.of_queue ||
	    !kmt_take(args->hSyncObject, KMT_SYNC, &sync))
		return STATUS_INVALID_PARAMETER;
	kmt_sync_end(&sync, true);
	return STATUS_SUCCESS;
}

/* An NT handle is a descriptor. Without the right to read nothing can be opened. */
KMT_EXPORT NTSTATUS D3DKMTShareObjects(UINT cObjects, const D3DKMT_HANDLE *hObjects,
				       POBJECT_ATTRIBUTES pObjectAttributes, DWORD dwDesiredAccess,
				       HANDLE *phSharedNtHandle)
{
	struct drm_vfence_fence_export args = { .flags = DRM_VFENCE_RIGHT_READ };
	struct kmt_object sync;
	int ret, fd;

	/* An object without a name and without a security descriptor is what Linux has. */
	if (cObjects != 1 || !hObjects || pObjectAttributes || !kmt_get(hObjects[0], KMT_SYNC, &sync) ||
	    !(dwDesiredAccess & STANDARD_RIGHTS_READ) ||
	    dwDesiredAccess & ~(DWORD)(STANDARD_RIGHTS_READ | D3DDDI_SYNC_OBJECT_WAIT |
				       D3DDDI_SYNC_OBJECT_SIGNAL))
		return STATUS_INVALID_PARAMETER;
	args.handle = sync.handle;
	args.flags |= dwDesiredAccess & D3DDDI_SYNC_OBJECT_WAIT ? DRM_VFENCE_RIGHT_WAIT : 0;
	args.flags |= dwDesiredAccess & D3DDDI_SYNC_OBJECT_SIGNAL ? DRM_VFENCE_RIGHT_SIGNAL : 0;
	ret = kmt_ioctl(sync.adapter, DRM_IOCTL_VFENCE_FENCE_EXPORT, &args);
	if (ret)
		return kmt_status(ret);
	/* A handle is not 0. */
	fd = args.fd ? args.fd : fcntl(args.fd, F_DUPFD_CLOEXEC, 1);
	if (fd != args.fd)
		close(args.fd);
	if (fd < 0)
		return STATUS_INSUFFICIENT_RESOURCES;
	*phSharedNtHandle = (HANDLE)(intptr_t)fd;
	return STATUS_SUCCESS;
}

static NTSTATUS sync_open(D3DKMT_HANDLE device_handle, HANDLE shared, uint32_t flags,
			  uint32_t affinity, BYTE *private_data, D3DKMT_HANDLE *handle,
			  struct kmt_object *sync)
{
	struct drm_vfence_fence_open open = {
		.fd = (int)(intptr_t)shared, .flags = flags, .engine_affinity = affinity,
	};
	struct kmt_object device;
	NTSTATUS status;
	int ret;

	if (!kmt_get(device_handle, KMT_DEVICE, &device))
		return STATUS_INVALID_PARAMETER;
	open.device = device.handle;
	ret = kmt_ioctl(device.adapter, DRM_IOCTL_VFENCE_FENCE_OPEN, &open);
	status = sync_finish(&device, device_handle, ret, open.handle, &open.mapping, handle, sync);
	if (!NT_SUCCESS(status))
		return status;
	if (private_data)
		memcpy(private_data, open.private_data, sizeof(open.private_data));
	return STATUS_SUCCESS;
}

KMT_EXPORT NTSTATUS D3DKMTOpenSyncObjectFromNtHandle2(D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 *args)
{
	struct kmt_object sync;
	NTSTATUS status = sync_open(args->hDevice, args->hNtHandle, sync_open_flags(args->Flags),
				    args->MonitoredFence.EngineAffinity, NULL, &args->hSyncObject,
				    &sync);

	if (!NT_SUCCESS(status))
		return status;
	args->MonitoredFence.FenceValueCPUVirtualAddress = sync.sync.current;
	args->MonitoredFence.FenceValueGPUVirtualAddress = sync.sync.current_va;
	return STATUS_SUCCESS;
}

KMT_EXPORT NTSTATUS D3DKMTOpenNativeFenceFromNtHandle(D3DKMT_OPENNATIVEFENCEFROMNTHANDLE *args)
{
	struct kmt_object sync;
	NTSTATUS status = sync_open(args->hDevice, args->hNtHandle, sync_open_flags(args->Flags),
				    args->EngineAffinity, args->PrivateDriverData,
				    &args->hSyncObject, &sync);

	if (!NT_SUCCESS(status))
		return status;
	args->NativeFenceMapping = sync_mapping(&sync);
	return STATUS_SUCCESS;
}

/* Translate handles to those of one adapter's open file. */
NTSTATUS kmt_points(UINT count, const D3DKMT_HANDLE *objects, const UINT64 *values,
		    struct vf_adapter *adapter, struct kmt_points *points)
{
	struct kmt_object sync;
	UINT i;

	if (count > D3DDDI_MAX_OBJECT_WAITED_ON || (count && (!objects || !values)))
		return STATUS_INVALID_PARAMETER;
	for (i = 0; i < count; i++) {
		if (!kmt_get(objects[i], KMT_SYNC, &sync) || sync.adapter != adapter)
			return STATUS_INVALID_PARAMETER;
		points->point[i] = (struct drm_vfence_fence_point){
			.fence = sync.handle, .value = values[i],
		};
	}
	return STATUS_SUCCESS;
}

/* With an event the call returns, and the eventfd is signaled once the wait is satisfied. */
static int sync_wait(struct vf_adapter *adapter, const struct kmt_points *points, UINT count,
		     uint32_t flags, HANDLE event)
{
	struct drm_vfence_wait wait = {
		.flags = flags, .timeout_ns = VF_FOREVER, .points = ARRAY(count, points->point),
	};
	struct drm_vfence_event_arm arm = {
		.flags = flags, .eventfd = (int)(intptr_t)event,
		.points = ARRAY(count, points->point),
	};

	return event ? kmt_ioctl(adapter, DRM_IOCTL_VFENCE_EVENT_ARM, &arm) :
		       kmt_ioctl(adapter, DRM_IOCTL_VFENCE_WAIT, &wait);
}

KMT_EXPORT NTSTATUS
D3DKMTWaitForSynchronizationObjectFromCpu(const D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU *args)
{
	uint32_t flags = args->Flags.WaitAny ? DRM_VFENCE_WAIT_ANY : 0;
	struct kmt_points points;
	struct kmt_object device;
	NTSTATUS status;

	if (!kmt_get(args->hDevice, KMT_DEVICE, &device) || args->Flags.Reserved ||
	    !args->ObjectCount)
		return STATUS_INVALID_PARAMETER;
	status = kmt_points(args->ObjectCount, args->ObjectHandleArray, args->FenceValueArray,
			    device.adapter, &points);
	if (!NT_SUCCESS(status))
		return status;
	return kmt_status(sync_wait(device.adapter, &points, args->ObjectCount, flags,
				    args->hAsyncEvent));
}

KMT_EXPORT NTSTATUS
D3DKMTSignalSynchronizationObjectFromCpu(const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU *args)
{
	struct drm_vfence_fence_signal signal = {
		.flags = args->Flags.AllowFenceRewind ? DRM_VFENCE_SIGNAL_ALLOW_REWIND : 0,
	};
	struct kmt_points points;
	struct kmt_object device;
	NTSTATUS status;

	/* The other flags are those of queues. */
	if (!kmt_get(args->hDevice, KMT_DEVICE, &device) || args->Flags.SignalAtSubmission ||
	    args->Flags.EnqueueCpuEvent || args->Flags.Reserved || !args->ObjectCount)
		return STATUS_INVALID_PARAMETER;
	status = kmt_points(args->ObjectCount, args->ObjectHandleArray, args->FenceValueArray,
			    device.adapter, &points);
	if (!NT_SUCCESS(status))
		return status;
	signal.points = ARRAY(args->ObjectCount, points.point);
	return kmt_status(kmt_ioctl(device.adapter, DRM_IOCTL_VFENCE_FENCE_SIGNAL, &signal));
}
