// SPDX-License-Identifier: MIT
/* Adapters, devices, contexts and memory. */

#include <errno.h>
#include <string.h>

#include "private.h"

#define MAX_ADAPTERS	64

/* An adapter that is not there is STATUS_INVALID_PARAMETER. */
static NTSTATUS adapter_open(UINT index, D3DKMT_HANDLE *handle)
{
	struct kmt_object object = { .kind = KMT_ADAPTER };
	NTSTATUS status;
	int ret = vf_adapter_open(index, &object.adapter);

	if (ret)
		return ret == -ENODEV ? STATUS_INVALID_PARAMETER : kmt_status(ret);
	status = kmt_add(&object, handle);
	if (!NT_SUCCESS(status))
		vf_adapter_close(object.adapter);
	return status;
}

/* Without room it counts the adapters, as on Windows. */
KMT_EXPORT NTSTATUS D3DKMTEnumAdapters2(D3DKMT_ENUMADAPTERS2 *args)
{
	ULONG n = 0, room = args->pAdapters ? args->NumAdapters : MAX_ADAPTERS;
	NTSTATUS status = STATUS_SUCCESS;
	UINT index;

	for (index = 0; index < MAX_ADAPTERS && NT_SUCCESS(status); index++) {
		D3DKMT_CLOSEADAPTER close = { 0 };

		status = adapter_open(index, &close.hAdapter);
		if (status == STATUS_INVALID_PARAMETER)
			status = STATUS_SUCCESS;
		if (!close.hAdapter)
			continue;
		if (!args->pAdapters || n == room) {
			D3DKMTCloseAdapter(&close);
			status = n++ == room ? STATUS_BUFFER_TOO_SMALL : STATUS_SUCCESS;
			continue;
		}
		args->pAdapters[n++] = (D3DKMT_ADAPTERINFO){
			.hAdapter = close.hAdapter, .AdapterLuid = { .LowPart = index },
		};
	}
	/* Nothing stays open if the call fails. */
	for (index = 0; !NT_SUCCESS(status) && args->pAdapters && index < n && index < room; index++) {
		const D3DKMT_CLOSEADAPTER close = { args->pAdapters[index].hAdapter };

		D3DKMTCloseAdapter(&close);
		args->pAdapters[index].hAdapter = 0;
	}
	args->NumAdapters = n;
	return status;
}

KMT_EXPORT NTSTATUS D3DKMTOpenAdapterFromLuid(D3DKMT_OPENADAPTERFROMLUID *args)
{
	if (args->AdapterLuid.HighPart || args->AdapterLuid.LowPart >= MAX_ADAPTERS)
		return STATUS_INVALID_PARAMETER;
	return adapter_open(args->AdapterLuid.LowPart, &args->hAdapter);
}

KMT_EXPORT NTSTATUS D3DKMTCloseAdapter(const D3DKMT_CLOSEADAPTER *args)
{
	struct kmt_object object;
	D3DKMT_HANDLE child;

	if (!kmt_take(args->hAdapter, KMT_ADAPTER, &object))
		return STATUS_INVALID_PARAMETER;
	for (child = kmt_next(0, args->hAdapter); child; child = kmt_next(child, args->hAdapter)) {
		const D3DKMT_DESTROYDEVICE destroy = { child };

		D3DKMTDestroyDevice(&destroy);
	}
	vf_adapter_close(object.adapter);
	return STATUS_SUCCESS;
}

/* ----------------------------------------------------- devices and contexts */

KMT_EXPORT NTSTATUS D3DKMTCreateDevice(D3DKMT_CREATEDEVICE *args)
{
	struct kmt_object adapter, object = { .kind = KMT_DEVICE, .parent = args->hAdapter };
	NTSTATUS status;
	int ret;

	if (!kmt_get(args->hAdapter, KMT_ADAPTER, &adapter) || args->Flags.LegacyMode ||
	    args->Flags.RequestVSync || args->Flags.Reserved)
		return STATUS_INVALID_PARAMETER;
	object.adapter = adapter.adapter;
	ret = vf_device_create(adapter.adapter, &object.as_device);
	if (ret)
		return kmt_status(ret);
	object.handle = vf_device_handle(object.as_device);
	status = kmt_add(&object, &args->hDevice);
	if (!NT_SUCCESS(status))
		vf_device_destroy(object.as_device);
	return status;
}

/* Free what a device owns in this process; the kernel destroys its objects with it. */
static void device_end_children(D3DKMT_HANDLE device)
{
	struct kmt_object object;
	D3DKMT_HANDLE child;

	for (child = kmt_next(0, device); child; child = kmt_next(child, device)) {
		if (kmt_take(child, KMT_QUEUE, &object))
			kmt_queue_end(&object);
		else if (kmt_take(child, KMT_SYNC, &object))
			kmt_sync_end(&object, !object.sync.of_queue);
		else if (kmt_take(child, KMT_ALLOCATION, &object))
			vf_buffer_destroy(object.as_allocation);
		else
			kmt_take(child, KMT_CONTEXT, &object);
	}
}

KMT_EXPORT NTSTATUS D3DKMTDestroyDevice(const D3DKMT_DESTROYDEVICE *args)
{
	struct kmt_object object;

	if (!kmt_take(args->hDevice, KMT_DEVICE, &object))
		return STATUS_INVALID_PARAMETER;
	device_end_children(args->hDevice);
	vf_device_destroy(object.as_device);
	return STATUS_SUCCESS;
}

/* The states of vfence have the values of WDDM. */
KMT_EXPORT NTSTATUS D3DKMTGetDeviceState(D3DKMT_GETDEVICESTATE *args)
{
	struct kmt_object object;
	int state;

	if (!kmt_get(args->hDevice, KMT_DEVICE, &object) ||
	    args->StateType != D3DKMT_DEVICESTATE_EXECUTION)
		return STATUS_INVALID_PARAMETER;
	state = vf_device_state(object.as_device);
	if (state == -ENODEV)
		state = D3DKMT_DEVICEEXECUTION_STOPPED;
	if (state < 0)
		return kmt_status(state);
	args->ExecutionState = (D3DKMT_DEVICEEXECUTION_STATE)state;
	return STATUS_SUCCESS;
}

/* Each queue gets a context of the kernel, which suspends and resumes alone. */
KMT_EXPORT NTSTATUS D3DKMTCreateContextVirtual(D3DKMT_CREATECONTEXTVIRTUAL *args)
{
	struct kmt_object device, object = { .kind = KMT_CONTEXT, .parent = args->hDevice };
	struct drm_vfence_adapter_info info;
	int ret;

	if (!kmt_get(args->hDevice, KMT_DEVICE, &device) || args->EngineAffinity > 1)
		return STATUS_INVALID_PARAMETER;
	ret = vf_adapter_info(device.adapter, &info);
	if (ret)
		return kmt_status(ret);
	if (args->NodeOrdinal >= info.nodes)
		return STATUS_INVALID_PARAMETER;
	object.adapter = device.adapter;
	object.device = args->hDevice;
	object.node = args->NodeOrdinal;
	return kmt_add(&object, &args->hContext);
}

KMT_EXPORT NTSTATUS D3DKMTDestroyContext(const D3DKMT_DESTROYCONTEXT *args)
{
	struct kmt_object object;

	return kmt_take(args->hContext, KMT_CONTEXT, &object) ? STATUS_SUCCESS :
								STATUS_INVALID_PARAMETER;
}

/* ------------------------------------------------------------------ memory */

KMT_EXPORT NTSTATUS D3DKMTCreateAllocation2(D3DKMT_CREATEALLOCATION *args)
{
	struct kmt_object device, object = { .kind = KMT_ALLOCATION, .parent = args->hDevice };
	const D3DKMT_CREATESTANDARDALLOCATION *standard = args->pStandardAllocation;
	NTSTATUS status;
	int ret;

	if (!kmt_get(args->hDevice, KMT_DEVICE, &device) || args->NumAllocations != 1 ||
	    !args->Flags.StandardAllocation || !standard || !args->pAllocationInfo2 ||
	    standard->Type != D3DKMT_STANDARDALLOCATIONTYPE_EXISTINGHEAP)
		return STATUS_INVALID_PARAMETER;
	object.adapter = device.adapter;
	object.device = args->hDevice;
	ret = vf_buffer_create(device.adapter, standard->ExistingHeapData.Size,
			       &object.as_allocation);
	if (ret)
		return kmt_status(ret);
	object.handle = vf_buffer_handle(object.as_allocation);
	status = kmt_add(&object, &args->pAllocationInfo2->hAllocation);
	if (!NT_SUCCESS(status))
		vf_buffer_destroy(object.as_allocation);
	else
		args->pAllocationInfo2->GpuVirtualAddress = vf_buffer_va(object.as_allocation);
	return status;
}

/* All handles are checked before the first allocation goes. */
KMT_EXPORT NTSTATUS D3DKMTDestroyAllocation2(const D3DKMT_DESTROYALLOCATION2 *args)
{
	struct kmt_object object;
	UINT i;

	if (args->hResource || !args->AllocationCount || !args->phAllocationList)
		return STATUS_INVALID_PARAMETER;
	for (i = 0; i < args->AllocationCount; i++)
		if (!kmt_get(args->phAllocationList[i], KMT_ALLOCATION, &object) ||
		    object.device != args->hDevice)
			return STATUS_INVALID_PARAMETER;
	for (i = 0; i < args->AllocationCount; i++)
		if (kmt_take(args->phAllocationList[i], KMT_ALLOCATION, &object))
			vf_buffer_destroy(object.as_allocation);
	return STATUS_SUCCESS;
}

KMT_EXPORT NTSTATUS D3DKMTLock2(D3DKMT_LOCK2 *args)
{
	struct kmt_object object;

	if (!kmt_get(args->hAllocation, KMT_ALLOCATION, &object) || object.device != args->hDevice)
		return STATUS_INVALID_PARAMETER;
	args->pData = vf_buffer_map(object.as_allocation);
	return STATUS_SUCCESS;
}

/* Memory stays mapped until it is destroyed. */
KMT_EXPORT NTSTATUS D3DKMTUnlock2(const D3DKMT_UNLOCK2 *args)
{
	struct kmt_object object;

	return kmt_get(args->hAllocation, KMT_ALLOCATION, &object) &&
	       object.device == args->hDevice ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

/* Memory has its GPU address from its creation on, so that no other one can be chosen. */
KMT_EXPORT NTSTATUS D3DKMTMapGpuVirtualAddress(D3DDDI_MAPGPUVIRTUALADDRESS *args)
{
	struct kmt_object object;
	uint64_t va, pages;

	if (!kmt_get(args->hAllocation, KMT_ALLOCATION, &object))
		return STATUS_INVALID_PARAMETER;
	pages = (vf_buffer_size(object.as_allocation) + 4095) / 4096;
	va = vf_buffer_va(object.as_allocation) + 4096 * args->OffsetInPages;
	if (args->OffsetInPages >= pages || args->SizeInPages > pages - args->OffsetInPages)
		return STATUS_INVALID_PARAMETER;
	if ((args->BaseAddress && args->BaseAddress != va) || va < args->MinimumAddress ||
	    (args->MaximumAddress && va >= args->MaximumAddress))
		return STATUS_NOT_SUPPORTED;
	args->VirtualAddress = va;
	args->PagingFenceValue = 0;
	return STATUS_SUCCESS;
}
