// SPDX-License-Identifier: MIT
/*
 * Handles of this process, adapters, devices, contexts and memory. A call works on a copy of its
 * object: as with memory, a thread may not destroy what another one uses.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "private.h"

#define MAX_ADAPTERS	64
/* Windows keeps the lowest bits of its handles free, and 0 is none. */
#define FIRST_HANDLE	1
#define HANDLE_SHIFT	2

static struct {
	pthread_mutex_t lock;
	struct kmt_object *list;
	UINT room;
	/* The place where the search for a free one begins: a handle is used again late. */
	UINT next;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

NTSTATUS kmt_status(int error)
{
	switch (error < 0 ? -error : error) {
	case 0:
		return STATUS_SUCCESS;
	case ENOMEM:
		return STATUS_NO_MEMORY;
	case ENOSPC:
	case EMFILE:
		return STATUS_INSUFFICIENT_RESOURCES;
	case EACCES:
	case EPERM:
		return STATUS_ACCESS_DENIED;
	case EOPNOTSUPP:
		return STATUS_NOT_SUPPORTED;
	case ENODEV:
	case EIO:
	case ECANCELED:
		return STATUS_DEVICE_REMOVED;
	default:
		return STATUS_INVALID_PARAMETER;
	}
}

static bool table_grow(void)
{
	UINT room = table.room ? 2 * table.room : 64;
	struct kmt_object *more = realloc(table.list, room * sizeof(*more));

	if (!more)
		return false;
	memset(more + table.room, 0, (room - table.room) * sizeof(*more));
	table.list = more;
	table.room = room;
	return true;
}

/* Return: a free place, or the end of the table. */
static UINT table_free_place(void)
{
	UINT i, at;

	for (i = 0; i < table.room; i++) {
		at = (table.next + i) % table.room;
		if (table.list[at].kind == KMT_NONE)
			return at;
	}
	return table.room;
}

NTSTATUS kmt_add(const struct kmt_object *object, D3DKMT_HANDLE *handle)
{
	NTSTATUS status = STATUS_SUCCESS;
	UINT at;

	pthread_mutex_lock(&table.lock);
	at = table_free_place();
	if (at == table.room && !table_grow()) {
		status = STATUS_NO_MEMORY;
	} else {
		uint32_t turn = table.list[at].turn + 1;

		table.list[at] = *object;
		table.list[at].turn = turn;
		table.next = at + 1;
		*handle = (at + FIRST_HANDLE) << HANDLE_SHIFT;
	}
	pthread_mutex_unlock(&table.lock);
	return status;
}

/* Return: the object of a handle, or NULL; with the lock held. */
static struct kmt_object *table_at(D3DKMT_HANDLE handle, enum kmt_kind kind)
{
	UINT at = (handle >> HANDLE_SHIFT) - FIRST_HANDLE;

	return handle && !(handle & ((1 << HANDLE_SHIFT) - 1)) && at < table.room &&
	       table.list[at].kind == kind ? &table.list[at] : NULL;
}

/* Copy the object of a handle. Return: false if there is none of this kind. */
bool kmt_get(D3DKMT_HANDLE handle, enum kmt_kind kind, struct kmt_object *object)
{
	struct kmt_object *found;

	pthread_mutex_lock(&table.lock);
	found = table_at(handle, kind);
	if (found)
		*object = *found;
	pthread_mutex_unlock(&table.lock);
	return found;
}

/* Store a copy that was changed, unless the object is gone. */
void kmt_set(D3DKMT_HANDLE handle, const struct kmt_object *object)
{
	struct kmt_object *found;

	pthread_mutex_lock(&table.lock);
	found = table_at(handle, object->kind);
	if (found && found->turn == object->turn)
		*found = *object;
	pthread_mutex_unlock(&table.lock);
}

/* Take the doorbell of a queue, so that one thread destroys it. */
bool kmt_take_doorbell(D3DKMT_HANDLE handle, struct kmt_object *queue)
{
	static const struct kmt_page none;
	struct kmt_object *found;
	bool has = false;

	pthread_mutex_lock(&table.lock);
	found = table_at(handle, KMT_QUEUE);
	if (found && found->queue.has_doorbell) {
		has = true;
		*queue = *found;
		found->queue.has_doorbell = false;
		found->queue.doorbell = found->queue.secondary = none;
		found->queue.status = found->queue.last_queued = none;
	}
	pthread_mutex_unlock(&table.lock);
	return has;
}

/* Copy the object of a handle and free the handle, so that one thread destroys it. */
bool kmt_take(D3DKMT_HANDLE handle, enum kmt_kind kind, struct kmt_object *object)
{
	struct kmt_object *found;

	pthread_mutex_lock(&table.lock);
	found = table_at(handle, kind);
	if (found) {
		*object = *found;
		found->kind = KMT_NONE;
	}
	pthread_mutex_unlock(&table.lock);
	return found;
}

/* Return: the first handle after @handle whose parent is @parent, or 0. */
D3DKMT_HANDLE kmt_next(D3DKMT_HANDLE handle, D3DKMT_HANDLE parent)
{
	D3DKMT_HANDLE next = 0;
	UINT at;

	pthread_mutex_lock(&table.lock);
	for (at = handle >> HANDLE_SHIFT; !next && at < table.room; at++)
		if (table.list[at].kind != KMT_NONE && table.list[at].parent == parent)
			next = (at + FIRST_HANDLE) << HANDLE_SHIFT;
	pthread_mutex_unlock(&table.lock);
	return next;
}

/* Find the memory of a device at a range of GPU addresses. Return: false if there is none. */
bool kmt_find(D3DKMT_HANDLE device, D3DGPU_VIRTUAL_ADDRESS va, uint64_t size, const void **memory)
{
	D3DKMT_HANDLE handle = 0;
	struct kmt_object object;
	uint64_t begin, end;

	while ((handle = kmt_next(handle, device))) {
		if (!kmt_get(handle, KMT_ALLOCATION, &object))
			continue;
		begin = vf_buffer_va(object.as_allocation);
		end = begin + vf_buffer_size(object.as_allocation);
		if (va < begin || va > end || size > end - va)
			continue;
		*memory = (const char *)vf_buffer_map(object.as_allocation) + (va - begin);
		return true;
	}
	return false;
}

int kmt_ioctl(struct vf_adapter *adapter, unsigned long request, void *args)
{
	int ret;

	do
		ret = ioctl(vf_adapter_fd(adapter), request, args);
	while (ret && errno == EINTR);
	return ret ? -errno : 0;
}

void kmt_destroy(struct vf_adapter *adapter, enum drm_vfence_object type, uint32_t handle)
{
	struct drm_vfence_destroy args = { .type = (uint32_t)type, .handle = handle };

	if (handle)
		kmt_ioctl(adapter, DRM_IOCTL_VFENCE_DESTROY, &args);
}

int kmt_map(struct vf_adapter *adapter, uint64_t offset, bool write, struct kmt_page *page)
{
	void *at;

	page->at = NULL;
	if (!offset)
		return 0;
	at = mmap(NULL, 4096, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
		  vf_adapter_fd(adapter), (off_t)offset);
	if (at == MAP_FAILED)
		return -errno;
	page->at = at;
	return 0;
}

void kmt_unmap(struct kmt_page *page)
{
	if (page->at)
		munmap(page->at, 4096);
	page->at = NULL;
}

/* ---------------------------------------------------------------- adapters */

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
