// SPDX-License-Identifier: GPL-2.0-only
/* The D3DKMT calls of tools/d3dkmt, used as a user-mode driver of Windows uses them. */

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <drm/vfence_drm.h>

#include "d3dkmthk.h"
#include "kselftest_harness.h"

/* The sizes of the public documentation, on machines of 64 bits. */
_Static_assert(sizeof(D3DKMT_CREATENATIVEFENCE) == 216, "");
_Static_assert(sizeof(D3DKMT_OPENNATIVEFENCEFROMNTHANDLE) == 176, "");
_Static_assert(sizeof(D3DDDI_NATIVEFENCEINFO) == 112, "");
_Static_assert(sizeof(D3DDDI_NATIVEFENCEMAPPING) == 56, "");
_Static_assert(sizeof(D3DKMT_CREATE_DOORBELL) == 72, "");

#define GFX	0
#define COPY	2

FIXTURE(d3dkmt) {
	D3DKMT_HANDLE adapter, device;
};

FIXTURE_SETUP(d3dkmt)
{
	D3DKMT_OPENADAPTERFROMLUID open = { 0 };
	D3DKMT_CREATEDEVICE create = { 0 };

	if (access("/sys/module/vfence", F_OK))
		SKIP(return, "the module is not loaded");
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTOpenAdapterFromLuid(&open));
	self->adapter = open.hAdapter;
	create.hAdapter = self->adapter;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateDevice(&create));
	self->device = create.hDevice;
}

FIXTURE_TEARDOWN(d3dkmt)
{
	const D3DKMT_CLOSEADAPTER close = { self->adapter };

	/* What the device owns goes with it. */
	EXPECT_EQ(STATUS_SUCCESS, D3DKMTCloseAdapter(&close));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCloseAdapter(&close));
}

static D3DKMT_HANDLE make_context(D3DKMT_HANDLE device, UINT node)
{
	D3DKMT_CREATECONTEXTVIRTUAL args = { .hDevice = device, .NodeOrdinal = node };

	return D3DKMTCreateContextVirtual(&args) ? 0 : args.hContext;
}

static D3DKMT_CREATEHWQUEUE make_queue(D3DKMT_HANDLE device, UINT node, UINT flags)
{
	D3DKMT_CREATEHWQUEUE args = {
		.hHwContext = make_context(device, node), .Flags.Value = flags,
	};

	if (D3DKMTCreateHwQueue(&args))
		args.hHwQueue = 0;
	return args;
}

static D3DKMT_CREATENATIVEFENCE make_native(D3DKMT_HANDLE device, UINT64 value, UINT flags)
{
	D3DKMT_CREATENATIVEFENCE args = {
		.hDevice = device, .Info.InitialFenceValue = value, .Info.Flags.Value = flags,
	};

	memcpy(args.PrivateDriverData, "private", 8);
	if (D3DKMTCreateNativeFence(&args))
		args.hSyncObject = 0;
	return args;
}

struct memory {
	D3DKMT_HANDLE handle;
	D3DGPU_VIRTUAL_ADDRESS va;
	void *data;
};

static struct memory make_memory(D3DKMT_HANDLE device, UINT64 size)
{
	D3DKMT_CREATESTANDARDALLOCATION standard = {
		.Type = D3DKMT_STANDARDALLOCATIONTYPE_EXISTINGHEAP, .ExistingHeapData.Size = size,
	};
	D3DDDI_ALLOCATIONINFO2 info = { 0 };
	D3DKMT_CREATEALLOCATION create = {
		.hDevice = device, .pStandardAllocation = &standard, .NumAllocations = 1,
		.pAllocationInfo2 = &info, .Flags.StandardAllocation = 1,
	};
	D3DDDI_MAPGPUVIRTUALADDRESS map = { .SizeInPages = size / 4096 };
	D3DKMT_LOCK2 lock = { .hDevice = device };

	if (D3DKMTCreateAllocation2(&create))
		return (struct memory){ 0 };
	map.hAllocation = lock.hAllocation = info.hAllocation;
	if (D3DKMTMapGpuVirtualAddress(&map) || D3DKMTLock2(&lock))
		return (struct memory){ 0 };
	return (struct memory){ info.hAllocation, map.VirtualAddress, lock.pData };
}

static NTSTATUS cpu_wait(D3DKMT_HANDLE device, D3DKMT_HANDLE sync, UINT64 value, HANDLE event)
{
	const D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU args = {
		.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &sync,
		.FenceValueArray = &value, .hAsyncEvent = event,
	};

	return D3DKMTWaitForSynchronizationObjectFromCpu(&args);
}

static NTSTATUS cpu_signal(D3DKMT_HANDLE device, D3DKMT_HANDLE sync, UINT64 value, UINT flags)
{
	const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU args = {
		.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &sync,
		.FenceValueArray = &value, .Flags.Value = flags,
	};

	return D3DKMTSignalSynchronizationObjectFromCpu(&args);
}

static UINT64 value_at(const void *va)
{
	return __atomic_load_n((const UINT64 *)va, __ATOMIC_ACQUIRE);
}

/* Append packets to a buffer; return the new length. */
static UINT put_draw(void *at, UINT length, UINT64 ns)
{
	const struct drm_vfence_packet_draw packet = {
		.header = { .opcode = DRM_VFENCE_OP_DRAW, .length = sizeof(packet) },
		.count = 1, .duration_ns = ns,
	};

	memcpy((char *)at + length, &packet, sizeof(packet));
	return length + sizeof(packet);
}

static UINT put_fill(void *at, UINT length, UINT64 va, UINT value)
{
	const struct drm_vfence_packet_fill packet = {
		.header = { .opcode = DRM_VFENCE_OP_FILL, .length = sizeof(packet) },
		.dst_va = va, .size = 4, .value = value,
	};

	memcpy((char *)at + length, &packet, sizeof(packet));
	return length + sizeof(packet);
}

static UINT put_signal(void *at, UINT length, UINT64 current_va, UINT64 monitored_va, UINT64 value)
{
	const struct drm_vfence_packet_signal packet = {
		.header = { .opcode = DRM_VFENCE_OP_FENCE_SIGNAL, .length = sizeof(packet) },
		.current_va = current_va, .monitored_va = monitored_va, .value = value,
	};

	memcpy((char *)at + length, &packet, sizeof(packet));
	return length + sizeof(packet);
}

TEST_F(d3dkmt, adapters_are_counted_and_opened)
{
	D3DKMT_ADAPTERINFO info[64];
	D3DKMT_ENUMADAPTERS2 count = { 0 }, few = { 0, info }, all = { 64, info };
	D3DKMT_OPENADAPTERFROMLUID none = { .AdapterLuid = { 63, 0 } };
	ULONG i;

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTEnumAdapters2(&count));
	ASSERT_LE(1, count.NumAdapters);
	EXPECT_EQ(STATUS_BUFFER_TOO_SMALL, D3DKMTEnumAdapters2(&few));
	/* Other errors than that of an adapter that is not there are told. */
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 3, 4096 }));
	EXPECT_EQ(STATUS_INSUFFICIENT_RESOURCES, D3DKMTEnumAdapters2(&all));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 1024, 4096 }));
	all.NumAdapters = 64;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTEnumAdapters2(&all));
	EXPECT_EQ(count.NumAdapters, all.NumAdapters);
	for (i = 0; i < all.NumAdapters; i++) {
		const D3DKMT_CLOSEADAPTER close = { info[i].hAdapter };

		EXPECT_EQ(0, info[i].AdapterLuid.HighPart);
		EXPECT_EQ(STATUS_SUCCESS, D3DKMTCloseAdapter(&close));
	}
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTOpenAdapterFromLuid(&none));
}

TEST_F(d3dkmt, monitored_fences_are_signaled_and_awaited_by_the_cpu)
{
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create = {
		.hDevice = self->device, .Info.Type = D3DDDI_MONITORED_FENCE,
		.Info.MonitoredFence.InitialFenceValue = 5,
	};
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	const void *value;
	UINT64 count;

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateSynchronizationObject2(&create));
	value = create.Info.MonitoredFence.FenceValueCPUVirtualAddress;
	ASSERT_NE(NULL, value);
	EXPECT_EQ(5, value_at(value));
	EXPECT_NE(0, create.Info.MonitoredFence.FenceValueGPUVirtualAddress);

	ASSERT_EQ(STATUS_SUCCESS, cpu_wait(self->device, create.hSyncObject, 7,
					   (HANDLE)(intptr_t)event));
	ASSERT_EQ(STATUS_SUCCESS, cpu_signal(self->device, create.hSyncObject, 6, 0));
	EXPECT_GT(0, read(event, &count, sizeof(count)));
	ASSERT_EQ(STATUS_SUCCESS, cpu_signal(self->device, create.hSyncObject, 7, 0));
	EXPECT_EQ(1, poll(&(struct pollfd){ event, POLLIN, 0 }, 1, 10000));
	EXPECT_EQ(7, value_at(value));
	EXPECT_EQ(STATUS_SUCCESS, cpu_wait(self->device, create.hSyncObject, 7, NULL));

	/* A smaller value needs the flag. */
	EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_signal(self->device, create.hSyncObject, 2, 0));
	EXPECT_EQ(7, value_at(value));
	EXPECT_EQ(STATUS_SUCCESS, cpu_signal(self->device, create.hSyncObject, 2, 1 << 2));
	EXPECT_EQ(2, value_at(value));
	create.Info.Type = D3DDDI_SEMAPHORE;
	EXPECT_EQ(STATUS_NOT_SUPPORTED, D3DKMTCreateSynchronizationObject2(&create));
	close(event);
}

TEST_F(d3dkmt, kernel_mode_queues_wait_and_signal_and_progress)
{
	D3DKMT_CREATEHWQUEUE gfx = make_queue(self->device, GFX, 0);
	D3DKMT_CREATEHWQUEUE copy = make_queue(self->device, COPY, 0);
	D3DKMT_CREATENATIVEFENCE fence = make_native(self->device, 10, 0);
	struct memory commands = make_memory(self->device, 8192);
	struct memory data = make_memory(self->device, 4096);
	D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE wait = { copy.hHwQueue, 1, &fence.hSyncObject };
	D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE signal = {
		.BroadcastHwQueueCount = 1, .BroadcastHwQueueArray = &gfx.hHwQueue,
		.ObjectCount = 1, .ObjectHandleArray = &fence.hSyncObject,
	};
	D3DKMT_SUBMITCOMMANDTOHWQUEUE submit = { .HwQueueProgressFenceId = 1 };
	const UINT64 eleven = 11;

	ASSERT_NE(0, gfx.hHwQueue);
	ASSERT_NE(0, copy.hHwQueue);
	ASSERT_NE(0, fence.hSyncObject);
	EXPECT_EQ(10, value_at(fence.Info.NativeFenceMapping.CurrentValueCpuVa));
	EXPECT_NE(0, fence.Info.NativeFenceMapping.MonitoredValueGpuVa);
	ASSERT_NE(NULL, data.data);

	/* The copy queue fills what it may fill only when the graphics queue has drawn. */
	wait.FenceValueArray = signal.FenceValueArray = &eleven;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTSubmitWaitForSyncObjectsToHwQueue(&wait));
	submit.hHwQueue = copy.hHwQueue;
	submit.CommandBuffer = commands.va + 4096;
	submit.CommandLength = put_fill((char *)commands.data + 4096, 0, data.va, 42);
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTSubmitCommandToHwQueue(&submit));
	EXPECT_EQ(0, value_at(copy.HwQueueProgressFenceCPUVirtualAddress));
	EXPECT_EQ(0, *(UINT *)data.data);

	submit.hHwQueue = gfx.hHwQueue;
	submit.HwQueueProgressFenceId = 1000;
	submit.CommandBuffer = commands.va;
	submit.CommandLength = put_draw(commands.data, 0, 100000);
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTSubmitCommandToHwQueue(&submit));
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTSubmitSignalSyncObjectsToHwQueue(&signal));
	ASSERT_EQ(STATUS_SUCCESS, cpu_wait(self->device, copy.hHwQueueProgressFence, 1, NULL));
	EXPECT_EQ(42, *(UINT *)data.data);
	EXPECT_EQ(11, value_at(fence.Info.NativeFenceMapping.CurrentValueCpuVa));
	/* The driver chooses the values of its progress fence, and they grow. */
	ASSERT_EQ(STATUS_SUCCESS, cpu_wait(self->device, gfx.hHwQueueProgressFence, 1000, NULL));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitCommandToHwQueue(&submit));
	submit.HwQueueProgressFenceId = 1001;
	submit.CommandBuffer = data.va + 4096 * 16;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitCommandToHwQueue(&submit));
	/* It goes with its queue. */
	const D3DKMT_DESTROYSYNCHRONIZATIONOBJECT progress = { gfx.hHwQueueProgressFence };

	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTDestroySynchronizationObject(&progress));
}

TEST_F(d3dkmt, a_broadcast_signals_when_all_queues_are_there)
{
	D3DKMT_HANDLE queues[2] = {
		make_queue(self->device, GFX, 0).hHwQueue, make_queue(self->device, COPY, 0).hHwQueue,
	};
	D3DKMT_CREATENATIVEFENCE gate = make_native(self->device, 0, 0);
	D3DKMT_CREATENATIVEFENCE fence = make_native(self->device, 0, 0);
	const UINT64 one = 1;
	const D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE wait = {
		queues[1], 1, &gate.hSyncObject, &one,
	};
	const D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE signal = {
		.BroadcastHwQueueCount = 2, .BroadcastHwQueueArray = queues, .ObjectCount = 1,
		.ObjectHandleArray = &fence.hSyncObject, .FenceValueArray = &one,
	};
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTSubmitWaitForSyncObjectsToHwQueue(&wait));
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTSubmitSignalSyncObjectsToHwQueue(&signal));
	ASSERT_EQ(STATUS_SUCCESS, cpu_wait(self->device, fence.hSyncObject, 1,
					   (HANDLE)(intptr_t)event));
	/* The first queue is there, and the second one waits. */
	EXPECT_EQ(0, poll(&(struct pollfd){ event, POLLIN, 0 }, 1, 20));
	ASSERT_EQ(STATUS_SUCCESS, cpu_signal(self->device, gate.hSyncObject, 1, 0));
	EXPECT_EQ(1, poll(&(struct pollfd){ event, POLLIN, 0 }, 1, 10000));
	close(event);
}

TEST_F(d3dkmt, WDDM_198_199_user_mode_submission)
{
	D3DKMT_CREATEHWQUEUE queue = make_queue(self->device, GFX, 1 << 4 | 1 << 5);
	D3DKMT_CREATENATIVEFENCE fence = make_native(self->device, 0, 0);
	struct memory ring = make_memory(self->device, 4096), control = make_memory(self->device, 4096);
	struct drm_vfence_ring_control *pointers = control.data;
	D3DKMT_CREATE_DOORBELL create = {
		.hHwQueue = queue.hHwQueue, .hRingBuffer = ring.handle,
		.hRingBufferControl = control.handle,
	};
	const D3DKMT_CONNECT_DOORBELL connect = { queue.hHwQueue, 0 };
	const D3DKMT_DESTROY_DOORBELL destroy = { queue.hHwQueue };
	const D3DKMT_SUBMITCOMMANDTOHWQUEUE submit = { queue.hHwQueue, 1 };
	UINT64 value, length = 0;

	ASSERT_NE(0, queue.hHwQueue);
	EXPECT_EQ(STATUS_NOT_SUPPORTED, D3DKMTSubmitCommandToHwQueue(&submit));
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateDoorbell(&create));
	EXPECT_EQ(D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY,
		  value_at(create.DoorbellStatusCPUVirtualAddress));
	for (value = 1; value <= 3; value++) {
		/* Steps 1 to 5 of the contract, then the loop of a submission. */
		length = put_draw(ring.data, length, 1000);
		length = put_signal(ring.data, length, fence.Info.NativeFenceMapping.CurrentValueGpuVa,
				    fence.Info.NativeFenceMapping.MonitoredValueGpuVa, 10 * value);
		__atomic_store_n(create.HwQueueProgressFenceLastQueuedValueCPUVirtualAddress, value,
				 __ATOMIC_RELEASE);
		__atomic_store_n(&pointers->write_ptr, length, __ATOMIC_RELEASE);
		for (;;) {
			if (value_at(create.DoorbellStatusCPUVirtualAddress) ==
			    D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY)
				ASSERT_EQ(STATUS_SUCCESS, D3DKMTConnectDoorbell(&connect));
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			*(volatile UINT64 *)create.DoorbellCPUVirtualAddress = length;
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			if (value_at(create.DoorbellStatusCPUVirtualAddress) <=
			    D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY)
				break;
		}
		if (value_at(create.DoorbellStatusCPUVirtualAddress) ==
		    D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY) {
			const D3DKMT_NOTIFY_WORK_SUBMISSION notify = { queue.hHwQueue, 0 };

			ASSERT_EQ(STATUS_SUCCESS, D3DKMTNotifyWorkSubmission(&notify));
		}
		ASSERT_EQ(STATUS_SUCCESS, cpu_wait(self->device, fence.hSyncObject, 10 * value,
						   NULL));
	}
	EXPECT_EQ(STATUS_SUCCESS, D3DKMTDestroyDoorbell(&destroy));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTDestroyDoorbell(&destroy));
}

static NTSTATUS make_monitored(D3DKMT_HANDLE device, UINT flags)
{
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create = {
		.hDevice = device, .Info.Type = D3DDDI_MONITORED_FENCE, .Info.Flags.Value = flags,
	};

	return D3DKMTCreateSynchronizationObject2(&create);
}

/* Shared and NtSecuritySharing go together. CrossAdapter needs them. */
TEST_F(d3dkmt, WDDM_119_120_flags_of_monitored_fences)
{
	static const UINT legal[] = {
		0, 1 << 0 | 1 << 1, 1 << 0 | 1 << 1 | 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6,
		1 << 7, 1 << 10,
	};
	UINT i;

	for (i = 0; i < sizeof(legal) / sizeof(*legal); i++)
		EXPECT_EQ(STATUS_SUCCESS, make_monitored(self->device, legal[i]));
	for (i = 0; i < 32; i++)
		if (i < 3 || i == 8 || i == 9 || i > 10)
			EXPECT_EQ(STATUS_INVALID_PARAMETER, make_monitored(self->device, 1U << i));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, make_monitored(self->device, 1 << 4 | 1 << 5));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, make_monitored(self->device, 1 << 0 | 1 << 2));
}

TEST_F(d3dkmt, WDDM_120_fences_are_shared_by_descriptor_with_rights)
{
	/* Another open file, as another process has it. */
	D3DKMT_OPENADAPTERFROMLUID other = { 0 };
	D3DKMT_CREATEDEVICE device = { 0 };
	D3DKMT_CREATENATIVEFENCE fence = make_native(self->device, 3, 1 << 0 | 1 << 1);
	D3DKMT_CREATENATIVEFENCE private_one = make_native(self->device, 3, 0);
	D3DKMT_OPENNATIVEFENCEFROMNTHANDLE open = { 0 };
	HANDLE shared = NULL;

	ASSERT_NE(0, fence.hSyncObject);
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTOpenAdapterFromLuid(&other));
	device.hAdapter = other.hAdapter;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateDevice(&device));
	EXPECT_EQ(STATUS_ACCESS_DENIED,
		  D3DKMTShareObjects(1, &private_one.hSyncObject, NULL, STANDARD_RIGHTS_READ, &shared));
	EXPECT_EQ(STATUS_INVALID_PARAMETER,
		  D3DKMTShareObjects(1, &fence.hSyncObject, NULL, D3DDDI_SYNC_OBJECT_WAIT, &shared));
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTShareObjects(1, &fence.hSyncObject, NULL, STANDARD_RIGHTS_READ |
						     D3DDDI_SYNC_OBJECT_WAIT, &shared));
	open.hNtHandle = shared;
	open.hDevice = device.hDevice;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTOpenNativeFenceFromNtHandle(&open));
	EXPECT_EQ(0, memcmp(open.PrivateDriverData, "private", 8));
	EXPECT_EQ(3, value_at(open.NativeFenceMapping.CurrentValueCpuVa));
	EXPECT_EQ(STATUS_ACCESS_DENIED, cpu_signal(device.hDevice, open.hSyncObject, 4, 0));
	ASSERT_EQ(STATUS_SUCCESS, cpu_signal(self->device, fence.hSyncObject, 4, 0));
	EXPECT_EQ(STATUS_SUCCESS, cpu_wait(device.hDevice, open.hSyncObject, 4, NULL));
	EXPECT_EQ(4, value_at(open.NativeFenceMapping.CurrentValueCpuVa));
	/* Handles of one adapter's open file mean nothing for another one. */
	EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_wait(self->device, open.hSyncObject, 4, NULL));

	/* A flag of an open monitored fence takes a right from the handle; a native fence has none. */
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 monitored = {
		.hDevice = self->device, .Info.Type = D3DDDI_MONITORED_FENCE, .Info.Flags.Value = 3,
	};
	D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 second = {
		.hNtHandle = shared, .hDevice = device.hDevice, .Flags.NoWait = 1,
	};

	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTOpenSyncObjectFromNtHandle2(&second));
	close((int)(intptr_t)shared);
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateSynchronizationObject2(&monitored));
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTShareObjects(1, &monitored.hSyncObject, NULL,
						     STANDARD_RIGHTS_READ | D3DDDI_SYNC_OBJECT_WAIT |
						     D3DDDI_SYNC_OBJECT_SIGNAL, &shared));
	second.hNtHandle = shared;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTOpenSyncObjectFromNtHandle2(&second));
	EXPECT_EQ(STATUS_ACCESS_DENIED, cpu_wait(device.hDevice, second.hSyncObject, 1, NULL));
	ASSERT_EQ(STATUS_SUCCESS, cpu_signal(device.hDevice, second.hSyncObject, 8, 0));
	EXPECT_EQ(8, value_at(monitored.Info.MonitoredFence.FenceValueCPUVirtualAddress));
	EXPECT_EQ(8, value_at(second.MonitoredFence.FenceValueCPUVirtualAddress));
	close((int)(intptr_t)shared);
	EXPECT_EQ(STATUS_SUCCESS, D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){ other.hAdapter }));
}

TEST_F(d3dkmt, one_of_several_fences_is_enough)
{
	D3DKMT_HANDLE fences[2] = {
		make_native(self->device, 0, 0).hSyncObject, make_native(self->device, 9, 0).hSyncObject,
	};
	const UINT64 values[2] = { 1, 9 };
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait = {
		.hDevice = self->device, .ObjectCount = 2, .ObjectHandleArray = fences,
		.FenceValueArray = values, .Flags.WaitAny = 1,
	};
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
	wait.Flags.WaitAny = 0;
	wait.hAsyncEvent = (HANDLE)(intptr_t)event;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
	EXPECT_EQ(0, poll(&(struct pollfd){ event, POLLIN, 0 }, 1, 0));
	ASSERT_EQ(STATUS_SUCCESS, cpu_signal(self->device, fences[0], 1, 0));
	EXPECT_EQ(1, poll(&(struct pollfd){ event, POLLIN, 0 }, 1, 10000));
	wait.ObjectCount = D3DDDI_MAX_OBJECT_WAITED_ON + 1;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
	wait.ObjectCount = 0;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
	close(event);
}

/* The first of two fences that is reached signals the event. */
TEST_F(d3dkmt, one_of_several_fences_signals_an_event)
{
	D3DKMT_HANDLE fences[2] = {
		make_native(self->device, 0, 0).hSyncObject, make_native(self->device, 0, 0).hSyncObject,
	};
	const UINT64 values[2] = { 1, 1 };
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	const D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait = {
		.hDevice = self->device, .ObjectCount = 2, .ObjectHandleArray = fences,
		.FenceValueArray = values, .Flags.WaitAny = 1, .hAsyncEvent = (HANDLE)(intptr_t)event,
	};

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
	EXPECT_EQ(0, poll(&(struct pollfd){ event, POLLIN, 0 }, 1, 0));
	ASSERT_EQ(STATUS_SUCCESS, cpu_signal(self->device, fences[1], 1, 0));
	EXPECT_EQ(1, poll(&(struct pollfd){ event, POLLIN, 0 }, 1, 10000));
	close(event);
}

TEST_F(d3dkmt, flags_that_nobody_knows_are_refused)
{
	D3DKMT_CREATEHWQUEUE user = make_queue(self->device, GFX, 1 << 4);
	D3DKMT_CREATEHWQUEUE queue = make_queue(self->device, GFX, 0);
	D3DKMT_CREATENATIVEFENCE fence = make_native(self->device, 0, 0);
	D3DKMT_CREATENATIVEFENCE create = { .hDevice = self->device, .Flags = 1 };
	struct memory ring = make_memory(self->device, 4096), control = make_memory(self->device, 4096);
	D3DKMT_CREATE_DOORBELL doorbell = {
		.hHwQueue = user.hHwQueue, .hRingBuffer = ring.handle,
		.hRingBufferControl = control.handle,
	};
	const UINT64 one = 1;
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait = {
		.hDevice = self->device, .ObjectCount = 1, .ObjectHandleArray = &fence.hSyncObject,
		.FenceValueArray = &one, .Flags.Reserved = 1,
	};
	D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE signal = {
		.BroadcastHwQueueCount = 1, .BroadcastHwQueueArray = &queue.hHwQueue,
		.ObjectCount = 1, .ObjectHandleArray = &fence.hSyncObject, .FenceValueArray = &one,
	};
	const D3DKMT_SUBMITCOMMANDTOHWQUEUE submit = {
		.hHwQueue = queue.hHwQueue, .HwQueueProgressFenceId = 1, .NumPrimaries = 1,
	};
	UINT flag;

	ASSERT_NE(0, queue.hHwQueue);
	ASSERT_NE(0, fence.hSyncObject);
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateNativeFence(&create));
	/* Shared alone, NtSecuritySharing alone, CrossAdapter alone; and those that vfence has not. */
	for (flag = 0; flag < 32; flag++)
		if (flag < 4 || flag > 6)
			EXPECT_EQ(0, make_native(self->device, 0, 1U << flag).hSyncObject);
	create.Flags = 0;
	create.Info.Type = (D3DDDI_NATIVEFENCE_TYPE)2;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateNativeFence(&create));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_signal(self->device, fence.hSyncObject, 1, 1 << 0));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_signal(self->device, fence.hSyncObject, 1, 1 << 1));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_signal(self->device, fence.hSyncObject, 1, 1 << 3));
	EXPECT_EQ(0, value_at(fence.Info.NativeFenceMapping.CurrentValueCpuVa));
	ASSERT_EQ(STATUS_SUCCESS, cpu_signal(self->device, fence.hSyncObject, 1, 0));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
	EXPECT_EQ(0, make_queue(self->device, GFX, 1 << 3).hHwQueue);
	EXPECT_EQ(0, make_queue(self->device, GFX, 1 << 6).hHwQueue);
	EXPECT_EQ(0, make_queue(self->device, GFX, 1U << 31).hHwQueue);
	signal.Flags.EnqueueCpuEvent = 1;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitSignalSyncObjectsToHwQueue(&signal));
	signal.Flags.Value = 1U << 3;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitSignalSyncObjectsToHwQueue(&signal));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitCommandToHwQueue(&submit));
	doorbell.Flags.ResizeRingBufferOperation = 1;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateDoorbell(&doorbell));
	doorbell.Flags.Value = 1U << 31;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateDoorbell(&doorbell));
	doorbell.Flags.Value = 1;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateDoorbell(&doorbell));
	EXPECT_EQ(STATUS_INVALID_PARAMETER,
		  D3DKMTConnectDoorbell(&(D3DKMT_CONNECT_DOORBELL){ user.hHwQueue, 1 }));
	EXPECT_EQ(STATUS_INVALID_PARAMETER,
		  D3DKMTNotifyWorkSubmission(&(D3DKMT_NOTIFY_WORK_SUBMISSION){ user.hHwQueue, 1 }));
}

/* 0 is no handle, and descriptors begin with it. */
TEST_F(d3dkmt, a_shared_handle_is_not_0)
{
	D3DKMT_CREATENATIVEFENCE fence = make_native(self->device, 3, 1 << 0 | 1 << 1);
	D3DKMT_OPENNATIVEFENCEFROMNTHANDLE open = { .hDevice = self->device };
	HANDLE shared = NULL;

	ASSERT_EQ(0, close(0));
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTShareObjects(1, &fence.hSyncObject, NULL, STANDARD_RIGHTS_READ,
						     &shared));
	EXPECT_NE(NULL, shared);
	/* And it is not left open. */
	EXPECT_GT(0, close(0));
	open.hNtHandle = shared;
	EXPECT_EQ(STATUS_SUCCESS, D3DKMTOpenNativeFenceFromNtHandle(&open));
	close((int)(intptr_t)shared);
}

TEST_F(d3dkmt, only_what_linux_has_is_shared)
{
	D3DKMT_HANDLE fences[2] = {
		make_native(self->device, 0, 3).hSyncObject, make_native(self->device, 0, 3).hSyncObject,
	};
	HANDLE shared;

	EXPECT_EQ(STATUS_INVALID_PARAMETER,
		  D3DKMTShareObjects(2, fences, NULL, STANDARD_RIGHTS_READ, &shared));
	EXPECT_EQ(STATUS_INVALID_PARAMETER,
		  D3DKMTShareObjects(1, fences, (POBJECT_ATTRIBUTES)fences, STANDARD_RIGHTS_READ,
				     &shared));
	EXPECT_EQ(STATUS_INVALID_PARAMETER,
		  D3DKMTShareObjects(1, fences, NULL, STANDARD_RIGHTS_READ | 1 << 2, &shared));
	ASSERT_EQ(STATUS_SUCCESS,
		  D3DKMTShareObjects(1, fences, NULL, STANDARD_RIGHTS_READ, &shared));
	close((int)(intptr_t)shared);
}

static NTSTATUS submit_at(D3DKMT_HANDLE queue, D3DGPU_VIRTUAL_ADDRESS va, UINT length, UINT64 value)
{
	const D3DKMT_SUBMITCOMMANDTOHWQUEUE submit = {
		.hHwQueue = queue, .HwQueueProgressFenceId = value, .CommandBuffer = va,
		.CommandLength = length,
	};

	return D3DKMTSubmitCommandToHwQueue(&submit);
}

/* Memory between two pages that are not the device's: the lower one, or NULL if it is elsewhere. */
static char *memory_between(D3DKMT_HANDLE device, struct memory *memory)
{
	char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	munmap(pages + 4096, 4096);
	*memory = make_memory(device, 4096);
	return memory->data == pages + 4096 ? pages : NULL;
}

TEST_F(d3dkmt, commands_are_in_memory_of_their_device)
{
	D3DKMT_CREATEDEVICE other = { .hAdapter = self->adapter };
	D3DKMT_HANDLE queue = make_queue(self->device, GFX, 0).hHwQueue;
	struct memory own = make_memory(self->device, 4096);
	UINT length = put_draw(own.data, 0, 1000), tries;
	struct memory foreign;
	char *pages = NULL;

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateDevice(&other));
	/* Far away, so that the same address means nothing for the first device. */
	make_memory(other.hDevice, 1 << 20);
	foreign = make_memory(other.hDevice, 4096);
	ASSERT_NE(0, foreign.va);
	put_draw(foreign.data, 0, 1000);
	EXPECT_EQ(STATUS_INVALID_PARAMETER, submit_at(queue, foreign.va, length, 1));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, submit_at(queue, own.va + 4096, length, 1));
	EXPECT_EQ(STATUS_SUCCESS, submit_at(queue, own.va, length, 1));

	/* Commands that begin before memory of the device, or end behind it: the CPU could read them. */
	for (tries = 0; !pages && tries < 64; tries++) {
		ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateDevice(&other));
		pages = memory_between(other.hDevice, &own);
	}
	ASSERT_NE(NULL, pages);
	queue = make_queue(other.hDevice, GFX, 0).hHwQueue;
	put_draw(pages, 4096 - length, 1000);
	put_draw(pages, 4096, 1000);
	put_draw(pages, 8192 - length, 1000);
	put_draw(pages, 8192, 1000);
	EXPECT_EQ(STATUS_INVALID_PARAMETER, submit_at(queue, own.va - length, length, 1));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, submit_at(queue, own.va - length, 2 * length, 1));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, submit_at(queue, own.va + 4096 - length, 2 * length, 1));
	EXPECT_EQ(STATUS_SUCCESS, submit_at(queue, own.va + 4096 - length, length, 1));
}

TEST_F(d3dkmt, objects_of_another_open_file_mean_nothing)
{
	D3DKMT_OPENADAPTERFROMLUID open = { 0 };
	D3DKMT_CREATEDEVICE there = { 0 }, second = { .hAdapter = self->adapter };
	D3DKMT_HANDLE fence, queues[2];
	struct memory ring, control, other;
	D3DKMT_CREATE_DOORBELL doorbell;
	const UINT64 one = 1;

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTOpenAdapterFromLuid(&open));
	there.hAdapter = open.hAdapter;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateDevice(&there));
	/* Each file counts its objects from the same number, so the kernel has such handles here, too. */
	fence = make_native(there.hDevice, 5, 0).hSyncObject;
	ASSERT_NE(0, make_native(self->device, 5, 0).hSyncObject);
	queues[0] = make_queue(self->device, GFX, 0).hHwQueue;
	ASSERT_NE(0, make_queue(self->device, COPY, 0).hHwQueue);
	ASSERT_NE(0, make_queue(there.hDevice, GFX, 0).hHwQueue);
	queues[1] = make_queue(there.hDevice, COPY, 0).hHwQueue;
	ASSERT_NE(0, queues[0]);
	ASSERT_NE(0, queues[1]);
	EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_wait(self->device, fence, 5, NULL));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_signal(self->device, fence, 6, 0));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitWaitForSyncObjectsToHwQueue(
			&(D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE){ queues[0], 1, &fence, &one }));
	fence = make_native(self->device, 0, 0).hSyncObject;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitSignalSyncObjectsToHwQueue(
			&(D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE){
				.BroadcastHwQueueCount = 2, .BroadcastHwQueueArray = queues,
				.ObjectCount = 1, .ObjectHandleArray = &fence,
				.FenceValueArray = &one }));

	/* Nor does memory of another device of the same file. */
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateDevice(&second));
	ring = make_memory(self->device, 4096);
	control = make_memory(self->device, 4096);
	other = make_memory(second.hDevice, 4096);
	doorbell = (D3DKMT_CREATE_DOORBELL){
		.hHwQueue = make_queue(self->device, GFX, 1 << 4).hHwQueue,
		.hRingBuffer = other.handle, .hRingBufferControl = control.handle,
	};
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateDoorbell(&doorbell));
	doorbell.hRingBuffer = ring.handle;
	doorbell.hRingBufferControl = other.handle;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateDoorbell(&doorbell));
	doorbell.hRingBufferControl = control.handle;
	EXPECT_EQ(STATUS_SUCCESS, D3DKMTCreateDoorbell(&doorbell));
	EXPECT_EQ(STATUS_SUCCESS, D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){ open.hAdapter }));
}

TEST_F(d3dkmt, a_handle_is_used_again_late)
{
	D3DKMT_HANDLE first = make_native(self->device, 0, 0).hSyncObject, next;

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTDestroySynchronizationObject(
			&(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){ first }));
	next = make_native(self->device, 0, 0).hSyncObject;
	ASSERT_NE(0, next);
	EXPECT_NE(first, next);
	EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_signal(self->device, first, 1, 0));
}

TEST_F(d3dkmt, a_fence_is_made_as_it_is_asked_for)
{
	D3DKMT_CREATENATIVEFENCE native = { .hDevice = self->device };
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 monitored = {
		.hDevice = self->device, .Info.Type = D3DDDI_MONITORED_FENCE,
	};

	/* There is no such engine, and no such type. */
	native.Info.EngineAffinity = 1U << 31;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateNativeFence(&native));
	native.Info.EngineAffinity = 0;
	native.Info.Type = (D3DDDI_NATIVEFENCE_TYPE)99;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateNativeFence(&native));
	/* The first value of this type is the first one that a packet stores. */
	native.Info.Type = D3DDDI_NATIVEFENCE_TYPE_INTRA_GPU;
	native.Info.InitialFenceValue = 5;
	EXPECT_NE(STATUS_SUCCESS, D3DKMTCreateNativeFence(&native));
	native.Info.Type = D3DDDI_NATIVEFENCE_TYPE_DEFAULT;
	EXPECT_EQ(STATUS_SUCCESS, D3DKMTCreateNativeFence(&native));
	monitored.Info.MonitoredFence.EngineAffinity = 1U << 31;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateSynchronizationObject2(&monitored));
	monitored.Info.MonitoredFence.EngineAffinity = 0;
	EXPECT_EQ(STATUS_SUCCESS, D3DKMTCreateSynchronizationObject2(&monitored));
}

TEST_F(d3dkmt, a_queue_signals_as_it_is_asked_to)
{
	D3DKMT_CREATEHWQUEUE queue = make_queue(self->device, GFX, 0);
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence = {
		.hDevice = self->device, .Info.Type = D3DDDI_MONITORED_FENCE,
		.Info.MonitoredFence.InitialFenceValue = 9,
	};
	struct memory commands = make_memory(self->device, 4096);
	const UINT length = put_draw(commands.data, 0, 1000000000);
	const UINT64 one = 1, ten = 10;
	D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE signal = {
		.BroadcastHwQueueCount = 1, .BroadcastHwQueueArray = &queue.hHwQueue,
		.ObjectCount = 1, .ObjectHandleArray = &fence.hSyncObject,
		.FenceValueArray = &ten, .Flags.SignalAtSubmission = 1,
	};
	const void *value;

	ASSERT_EQ(STATUS_SUCCESS, D3DKMTCreateSynchronizationObject2(&fence));
	value = fence.Info.MonitoredFence.FenceValueCPUVirtualAddress;
	/* The queue draws for a second, and the signal does not wait for that. */
	ASSERT_EQ(STATUS_SUCCESS, submit_at(queue.hHwQueue, commands.va, length, 1));
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTSubmitSignalSyncObjectsToHwQueue(&signal));
	EXPECT_EQ(STATUS_SUCCESS, cpu_wait(self->device, fence.hSyncObject, 10, NULL));
	EXPECT_EQ(0, value_at(queue.HwQueueProgressFenceCPUVirtualAddress));
	/* This one does, and takes a smaller value. */
	signal.Flags.Value = 0;
	signal.Flags.AllowFenceRewind = 1;
	signal.FenceValueArray = &one;
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTSubmitSignalSyncObjectsToHwQueue(&signal));
	EXPECT_EQ(10, value_at(value));
	ASSERT_EQ(STATUS_SUCCESS, submit_at(queue.hHwQueue, 0, 0, 2));
	ASSERT_EQ(STATUS_SUCCESS, cpu_wait(self->device, queue.hHwQueueProgressFence, 2, NULL));
	EXPECT_EQ(1, value_at(value));
}

TEST_F(d3dkmt, what_is_not_a_handle_is_refused)
{
	D3DKMT_HANDLE bad[] = { 0, 1, 2, 3, 0x7fffffff, 0xfffffffc, self->adapter, self->device };
	D3DKMT_GETDEVICESTATE state = { .hDevice = self->device,
					.StateType = D3DKMT_DEVICESTATE_EXECUTION };
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		D3DKMT_HANDLE h = bad[i];
		D3DKMT_CREATECONTEXTVIRTUAL context = { .hDevice = h };
		D3DKMT_CREATEHWQUEUE queue = { .hHwContext = h };
		D3DKMT_CREATENATIVEFENCE native = { .hDevice = h };
		D3DKMT_CREATE_DOORBELL doorbell = { .hHwQueue = h };
		D3DKMT_SUBMITCOMMANDTOHWQUEUE submit = { .hHwQueue = h, .HwQueueProgressFenceId = 1 };
		D3DKMT_LOCK2 lock = { .hDevice = self->device, .hAllocation = h };
		HANDLE shared;

		EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateHwQueue(&queue));
		EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateDoorbell(&doorbell));
		EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitCommandToHwQueue(&submit));
		EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTLock2(&lock));
		EXPECT_EQ(STATUS_INVALID_PARAMETER,
			  D3DKMTShareObjects(1, &h, NULL, STANDARD_RIGHTS_READ, &shared));
		EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_wait(self->device, h, 0, NULL));
		EXPECT_EQ(STATUS_INVALID_PARAMETER, cpu_signal(self->device, h, 1, 0));
		EXPECT_EQ(STATUS_INVALID_PARAMETER,
			  D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){ h }));
		EXPECT_EQ(STATUS_INVALID_PARAMETER,
			  D3DKMTConnectDoorbell(&(D3DKMT_CONNECT_DOORBELL){ h, 0 }));
		EXPECT_EQ(STATUS_INVALID_PARAMETER,
			  D3DKMTNotifyWorkSubmission(&(D3DKMT_NOTIFY_WORK_SUBMISSION){ h, 0 }));
		if (h == self->device)
			continue;
		EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateContextVirtual(&context));
		EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTCreateNativeFence(&native));
	}
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTShareObjects(1, NULL, NULL, STANDARD_RIGHTS_READ, NULL));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTDestroyAllocation2(&(D3DKMT_DESTROYALLOCATION2){
			.hDevice = self->device, .AllocationCount = 1 }));
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTSubmitSignalSyncObjectsToHwQueue(
			&(D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE){
				.BroadcastHwQueueCount = 1, .ObjectCount = 1 }));
	EXPECT_EQ(0, make_context(self->device, 64));
	EXPECT_EQ(0, make_native(self->device, 0, 1 << 0).hSyncObject);
	EXPECT_EQ(0, make_native(self->device, 0, 1 << 9).hSyncObject);
	ASSERT_EQ(STATUS_SUCCESS, D3DKMTGetDeviceState(&state));
	EXPECT_EQ(D3DKMT_DEVICEEXECUTION_ACTIVE, state.ExecutionState);
	state.StateType = (D3DKMT_DEVICESTATE_TYPE)2;
	EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTGetDeviceState(&state));
}

/* A handle is used again late, and objects that are destroyed leave nothing. */
TEST_F(d3dkmt, objects_come_and_go)
{
	unsigned int i;

	for (i = 0; i < 300; i++) {
		D3DKMT_CREATEHWQUEUE queue = make_queue(self->device, GFX, i % 2 ? 1 << 4 : 0);
		D3DKMT_CREATENATIVEFENCE fence = make_native(self->device, 0, 0);
		struct memory memory = make_memory(self->device, 4096);
		const D3DKMT_DESTROYALLOCATION2 free_memory = {
			.hDevice = self->device, .phAllocationList = &memory.handle,
			.AllocationCount = 1,
		};

		ASSERT_NE(0, queue.hHwQueue);
		ASSERT_NE(0, fence.hSyncObject);
		ASSERT_NE(0, memory.handle);
		EXPECT_EQ(STATUS_SUCCESS,
			  D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){ queue.hHwQueue }));
		EXPECT_EQ(STATUS_SUCCESS, D3DKMTDestroyContext(
				&(D3DKMT_DESTROYCONTEXT){ queue.hHwContext }));
		EXPECT_EQ(STATUS_SUCCESS, D3DKMTDestroySynchronizationObject(
				&(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){ fence.hSyncObject }));
		EXPECT_EQ(STATUS_SUCCESS, D3DKMTDestroyAllocation2(&free_memory));
		EXPECT_EQ(STATUS_INVALID_PARAMETER, D3DKMTDestroyAllocation2(&free_memory));
	}
}

TEST_HARNESS_MAIN
