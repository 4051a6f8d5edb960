/* SPDX-License-Identifier: MIT */
/*
 * The calls of a Windows user-mode driver to its kernel, as far as they are about fences, hardware
 * queues and user-mode submission: names, members and values are those of Microsoft's public
 * documentation, so that code that is written for Windows or for WSL compiles, and runs on vfence.
 *
 * What differs is what Linux has instead: an event and an NT handle are file descriptors from 1 on,
 * cast to HANDLE; a thread may not destroy an object that another one uses; packets are those of vfence_gpu.h. An adapter's LUID is its number. Memory is resident
 * from its creation, so that paging fences are 0.
 */
#ifndef VFENCE_D3DKMTHK_H
#define VFENCE_D3DKMTHK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t NTSTATUS, BOOL, LONG;
typedef uint32_t UINT, ULONG, DWORD;
typedef uint64_t UINT64;
typedef uintptr_t ULONG_PTR;
typedef uint8_t BYTE;
typedef void *HANDLE, *PVOID;
typedef struct _OBJECT_ATTRIBUTES *POBJECT_ATTRIBUTES;

#ifndef VOID
#define VOID void
#endif

typedef struct _LUID {
	DWORD LowPart;
	LONG HighPart;
} LUID;

#define STATUS_SUCCESS			((NTSTATUS)0x00000000)
#define STATUS_INVALID_PARAMETER	((NTSTATUS)0xC000000D)
#define STATUS_NO_MEMORY		((NTSTATUS)0xC0000017)
#define STATUS_ACCESS_DENIED		((NTSTATUS)0xC0000022)
#define STATUS_BUFFER_TOO_SMALL		((NTSTATUS)0xC0000023)
#define STATUS_INSUFFICIENT_RESOURCES	((NTSTATUS)0xC000009A)
#define STATUS_NOT_SUPPORTED		((NTSTATUS)0xC00000BB)
#define STATUS_DEVICE_REMOVED		((NTSTATUS)0xC00002B6)
#define NT_SUCCESS(status)		((NTSTATUS)(status) >= 0)

typedef UINT D3DKMT_HANDLE;
typedef UINT64 D3DGPU_VIRTUAL_ADDRESS, D3DGPU_SIZE_T;

#define D3DDDI_MAX_OBJECT_WAITED_ON	32
#define D3DDDI_MAX_OBJECT_SIGNALED	32
#define D3DDDI_MAX_BROADCAST_CONTEXT	64

/* ---------------------------------------------------------------- adapters */

typedef struct _D3DKMT_ADAPTERINFO {
	D3DKMT_HANDLE hAdapter;
	LUID AdapterLuid;
	ULONG NumOfSources;
	BOOL bPrecisePresentRegionsPreferred;
} D3DKMT_ADAPTERINFO;

typedef struct _D3DKMT_ENUMADAPTERS2 {
	ULONG NumAdapters;
	D3DKMT_ADAPTERINFO *pAdapters;
} D3DKMT_ENUMADAPTERS2;

typedef struct _D3DKMT_OPENADAPTERFROMLUID {
	LUID AdapterLuid;
	D3DKMT_HANDLE hAdapter;
} D3DKMT_OPENADAPTERFROMLUID;

typedef struct _D3DKMT_CLOSEADAPTER {
	D3DKMT_HANDLE hAdapter;
} D3DKMT_CLOSEADAPTER;

NTSTATUS D3DKMTEnumAdapters2(D3DKMT_ENUMADAPTERS2 *args);
NTSTATUS D3DKMTOpenAdapterFromLuid(D3DKMT_OPENADAPTERFROMLUID *args);
NTSTATUS D3DKMTCloseAdapter(const D3DKMT_CLOSEADAPTER *args);

/* ----------------------------------------------------- devices and contexts */

typedef struct _D3DKMT_CREATEDEVICEFLAGS {
	UINT LegacyMode : 1;
	UINT RequestVSync : 1;
	UINT DisableGpuTimeout : 1;
	UINT Reserved : 29;
} D3DKMT_CREATEDEVICEFLAGS;

typedef struct _D3DKMT_CREATEDEVICE {
	union {
		D3DKMT_HANDLE hAdapter;
		VOID *pAdapter;
	};
	D3DKMT_CREATEDEVICEFLAGS Flags;
	D3DKMT_HANDLE hDevice;
	VOID *pCommandBuffer;
	UINT CommandBufferSize;
	VOID *pAllocationList;
	UINT AllocationListSize;
	VOID *pPatchLocationList;
	UINT PatchLocationListSize;
} D3DKMT_CREATEDEVICE;

typedef struct _D3DKMT_DESTROYDEVICE {
	D3DKMT_HANDLE hDevice;
} D3DKMT_DESTROYDEVICE;

typedef enum _D3DKMT_DEVICEEXECUTION_STATE {
	D3DKMT_DEVICEEXECUTION_ACTIVE = 1,
	D3DKMT_DEVICEEXECUTION_RESET = 2,
	D3DKMT_DEVICEEXECUTION_HUNG = 3,
	D3DKMT_DEVICEEXECUTION_STOPPED = 4,
	D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY = 5,
	D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT = 6,
	D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT = 7,
} D3DKMT_DEVICEEXECUTION_STATE;

typedef enum _D3DKMT_DEVICESTATE_TYPE {
	D3DKMT_DEVICESTATE_EXECUTION = 1,
} D3DKMT_DEVICESTATE_TYPE;

typedef struct _D3DKMT_GETDEVICESTATE {
	D3DKMT_HANDLE hDevice;
	D3DKMT_DEVICESTATE_TYPE StateType;
	union {
		D3DKMT_DEVICEEXECUTION_STATE ExecutionState;
		UINT64 Reserved[4];
	};
} D3DKMT_GETDEVICESTATE;

typedef struct _D3DDDI_CREATECONTEXTFLAGS {
	UINT Value;
} D3DDDI_CREATECONTEXTFLAGS;

typedef struct _D3DKMT_CREATECONTEXTVIRTUAL {
	D3DKMT_HANDLE hDevice;
	UINT NodeOrdinal;
	UINT EngineAffinity;
	D3DDDI_CREATECONTEXTFLAGS Flags;
	VOID *pPrivateDriverData;
	UINT PrivateDriverDataSize;
	UINT ClientHint;
	D3DKMT_HANDLE hContext;
} D3DKMT_CREATECONTEXTVIRTUAL;

typedef struct _D3DKMT_DESTROYCONTEXT {
	D3DKMT_HANDLE hContext;
} D3DKMT_DESTROYCONTEXT;

NTSTATUS D3DKMTCreateDevice(D3DKMT_CREATEDEVICE *args);
NTSTATUS D3DKMTDestroyDevice(const D3DKMT_DESTROYDEVICE *args);
NTSTATUS D3DKMTGetDeviceState(D3DKMT_GETDEVICESTATE *args);
NTSTATUS D3DKMTCreateContextVirtual(D3DKMT_CREATECONTEXTVIRTUAL *args);
NTSTATUS D3DKMTDestroyContext(const D3DKMT_DESTROYCONTEXT *args);

/* ------------------------------------------------------------------ memory */

typedef enum _D3DKMT_STANDARDALLOCATIONTYPE {
	D3DKMT_STANDARDALLOCATIONTYPE_EXISTINGHEAP = 1,
} D3DKMT_STANDARDALLOCATIONTYPE;

typedef struct _D3DKMT_STANDARDALLOCATION_EXISTINGHEAP {
	UINT64 Size;
} D3DKMT_STANDARDALLOCATION_EXISTINGHEAP;

typedef struct _D3DKMT_CREATESTANDARDALLOCATION {
	D3DKMT_STANDARDALLOCATIONTYPE Type;
	union {
		D3DKMT_STANDARDALLOCATION_EXISTINGHEAP ExistingHeapData;
	};
	UINT Flags;
} D3DKMT_CREATESTANDARDALLOCATION;

typedef struct _D3DDDI_ALLOCATIONINFO2 {
	D3DKMT_HANDLE hAllocation;
	union {
		HANDLE hSection;
		const VOID *pSystemMem;
	};
	VOID *pPrivateDriverData;
	UINT PrivateDriverDataSize;
	UINT VidPnSourceId;
	union {
		UINT Value;
	} Flags;
	D3DGPU_VIRTUAL_ADDRESS GpuVirtualAddress;
	union {
		UINT Priority;
		ULONG_PTR Unused;
	};
	ULONG_PTR Reserved[5];
} D3DDDI_ALLOCATIONINFO2;

typedef struct _D3DKMT_CREATEALLOCATIONFLAGS {
	union {
		struct {
			UINT CreateResource : 1;
			UINT CreateShared : 1;
			UINT NonSecure : 1;
			UINT CreateProtected : 1;
			UINT RestrictSharedAccess : 1;
			UINT ExistingSysMem : 1;
			UINT NtSecuritySharing : 1;
			UINT ReadOnly : 1;
			UINT CreateWriteCombined : 1;
			UINT CreateCached : 1;
			UINT SwapChainBackBuffer : 1;
			UINT CrossAdapter : 1;
			UINT OpenCrossAdapter : 1;
			UINT PartialSharedCreation : 1;
			UINT Zeroed : 1;
			UINT WriteWatch : 1;
			UINT StandardAllocation : 1;
			UINT Reserved : 15;
		};
		UINT Value;
	};
} D3DKMT_CREATEALLOCATIONFLAGS;

/* The memory of a fence's values is allocated with it; this is memory for rings and data. */
typedef struct _D3DKMT_CREATEALLOCATION {
	D3DKMT_HANDLE hDevice;
	D3DKMT_HANDLE hResource;
	D3DKMT_HANDLE hGlobalShare;
	const VOID *pPrivateRuntimeData;
	UINT PrivateRuntimeDataSize;
	union {
		D3DKMT_CREATESTANDARDALLOCATION *pStandardAllocation;
		const VOID *pPrivateDriverData;
	};
	UINT PrivateDriverDataSize;
	UINT NumAllocations;
	union {
		VOID *pAllocationInfo;
		D3DDDI_ALLOCATIONINFO2 *pAllocationInfo2;
	};
	D3DKMT_CREATEALLOCATIONFLAGS Flags;
	HANDLE hPrivateRuntimeResourceHandle;
} D3DKMT_CREATEALLOCATION;

typedef struct _D3DKMT_DESTROYALLOCATION2 {
	D3DKMT_HANDLE hDevice;
	D3DKMT_HANDLE hResource;
	const D3DKMT_HANDLE *phAllocationList;
	UINT AllocationCount;
	UINT Flags;
} D3DKMT_DESTROYALLOCATION2;

typedef struct _D3DKMT_LOCK2 {
	D3DKMT_HANDLE hDevice;
	D3DKMT_HANDLE hAllocation;
	UINT Flags;
	PVOID pData;
} D3DKMT_LOCK2;

typedef struct _D3DKMT_UNLOCK2 {
	D3DKMT_HANDLE hDevice;
	D3DKMT_HANDLE hAllocation;
} D3DKMT_UNLOCK2;

typedef struct D3DDDI_MAPGPUVIRTUALADDRESS {
	D3DKMT_HANDLE hPagingQueue;
	D3DGPU_VIRTUAL_ADDRESS BaseAddress;
	D3DGPU_VIRTUAL_ADDRESS MinimumAddress;
	D3DGPU_VIRTUAL_ADDRESS MaximumAddress;
	D3DKMT_HANDLE hAllocation;
	D3DGPU_SIZE_T OffsetInPages;
	D3DGPU_SIZE_T SizeInPages;
	UINT64 Protection;
	UINT64 DriverProtection;
	UINT Reserved0;
	UINT64 Reserved1;
	D3DGPU_VIRTUAL_ADDRESS VirtualAddress;
	UINT64 PagingFenceValue;
} D3DDDI_MAPGPUVIRTUALADDRESS;

NTSTATUS D3DKMTCreateAllocation2(D3DKMT_CREATEALLOCATION *args);
NTSTATUS D3DKMTDestroyAllocation2(const D3DKMT_DESTROYALLOCATION2 *args);
NTSTATUS D3DKMTLock2(D3DKMT_LOCK2 *args);
NTSTATUS D3DKMTUnlock2(const D3DKMT_UNLOCK2 *args);
NTSTATUS D3DKMTMapGpuVirtualAddress(D3DDDI_MAPGPUVIRTUALADDRESS *args);

/* ------------------------------------------------------------------ fences */

typedef enum _D3DDDI_SYNCHRONIZATIONOBJECT_TYPE {
	D3DDDI_SYNCHRONIZATION_MUTEX = 1,
	D3DDDI_SEMAPHORE = 2,
	D3DDDI_FENCE = 3,
	D3DDDI_CPU_NOTIFICATION = 4,
	D3DDDI_MONITORED_FENCE = 5,
	D3DDDI_PERIODIC_MONITORED_FENCE = 6,
	D3DDDI_NATIVE_FENCE = 7,
} D3DDDI_SYNCHRONIZATIONOBJECT_TYPE;

typedef struct _D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS {
	union {
		struct {
			UINT Shared : 1;
			UINT NtSecuritySharing : 1;
			UINT CrossAdapter : 1;
			UINT TopOfPipeline : 1;
			UINT NoSignal : 1;
			UINT NoWait : 1;
			UINT NoSignalMaxValueOnTdr : 1;
			UINT NoGPUAccess : 1;
			UINT SignalByKmd : 1;
			UINT Unused : 1;
			UINT UnwaitCpuWaitersOnlyOnDestroy : 1;
			UINT Reserved : 21;
		};
		UINT Value;
	};
} D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS;

typedef struct _D3DDDI_SYNCHRONIZATIONOBJECTINFO2 {
	D3DDDI_SYNCHRONIZATIONOBJECT_TYPE Type;
	D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS Flags;
	union {
		struct {
			UINT64 InitialFenceValue;
			VOID *FenceValueCPUVirtualAddress;
			D3DGPU_VIRTUAL_ADDRESS FenceValueGPUVirtualAddress;
			UINT EngineAffinity;
			UINT Padding;
		} MonitoredFence;
		struct {
			UINT64 Reserved[8];
		} Reserved;
	};
	D3DKMT_HANDLE SharedHandle;
} D3DDDI_SYNCHRONIZATIONOBJECTINFO2;

typedef struct _D3DKMT_CREATESYNCHRONIZATIONOBJECT2 {
	D3DKMT_HANDLE hDevice;
	D3DDDI_SYNCHRONIZATIONOBJECTINFO2 Info;
	D3DKMT_HANDLE hSyncObject;
} D3DKMT_CREATESYNCHRONIZATIONOBJECT2;

typedef struct _D3DKMT_DESTROYSYNCHRONIZATIONOBJECT {
	D3DKMT_HANDLE hSyncObject;
} D3DKMT_DESTROYSYNCHRONIZATIONOBJECT;

typedef enum _D3DDDI_NATIVEFENCE_TYPE {
	D3DDDI_NATIVEFENCE_TYPE_DEFAULT = 0,
	D3DDDI_NATIVEFENCE_TYPE_INTRA_GPU = 1,
} D3DDDI_NATIVEFENCE_TYPE;

typedef struct _D3DDDI_NATIVEFENCEMAPPING {
	VOID *CurrentValueCpuVa;
	D3DGPU_VIRTUAL_ADDRESS CurrentValueGpuVa;
	D3DGPU_VIRTUAL_ADDRESS MonitoredValueGpuVa;
	BYTE Reserved[32];
} D3DDDI_NATIVEFENCEMAPPING;

typedef struct _D3DDDI_NATIVEFENCEINFO {
	UINT64 InitialFenceValue;
	UINT EngineAffinity;
	D3DDDI_NATIVEFENCE_TYPE Type;
	D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS Flags;
	D3DDDI_NATIVEFENCEMAPPING NativeFenceMapping;
	BYTE Reserved[28];
} D3DDDI_NATIVEFENCEINFO;

typedef struct _D3DKMT_CREATENATIVEFENCE {
	D3DKMT_HANDLE hDevice;
	D3DKMT_HANDLE hSyncObject;
	BYTE PrivateDriverData[64];
	D3DDDI_NATIVEFENCEINFO Info;
	UINT Flags;
	BYTE Reserved[28];
} D3DKMT_CREATENATIVEFENCE;

typedef struct _D3DKMT_OPENNATIVEFENCEFROMNTHANDLE {
	HANDLE hNtHandle;
	D3DKMT_HANDLE hDevice;
	UINT EngineAffinity;
	D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS Flags;
	D3DKMT_HANDLE hSyncObject;
	D3DDDI_NATIVEFENCEMAPPING NativeFenceMapping;
	BYTE PrivateDriverData[64];
	BYTE Reserved[32];
} D3DKMT_OPENNATIVEFENCEFROMNTHANDLE;

typedef struct _D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 {
	HANDLE hNtHandle;
	D3DKMT_HANDLE hDevice;
	D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS Flags;
	D3DKMT_HANDLE hSyncObject;
	union {
		struct {
			VOID *FenceValueCPUVirtualAddress;
			D3DGPU_VIRTUAL_ADDRESS FenceValueGPUVirtualAddress;
			UINT EngineAffinity;
		} MonitoredFence;
		UINT64 Reserved[8];
	};
} D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2;

/* Rights of D3DKMTShareObjects(). */
#define STANDARD_RIGHTS_READ		0x00020000
#define D3DDDI_SYNC_OBJECT_WAIT		0x1
#define D3DDDI_SYNC_OBJECT_SIGNAL	0x2

typedef struct _D3DDDI_WAITFORSYNCHRONIZATIONOBJECTFROMCPU_FLAGS {
	union {
		struct {
			UINT WaitAny : 1;
			UINT Reserved : 31;
		};
		UINT Value;
	};
} D3DDDI_WAITFORSYNCHRONIZATIONOBJECTFROMCPU_FLAGS;

typedef struct _D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU {
	D3DKMT_HANDLE hDevice;
	UINT ObjectCount;
	const D3DKMT_HANDLE *ObjectHandleArray;
	const UINT64 *FenceValueArray;
	HANDLE hAsyncEvent;
	D3DDDI_WAITFORSYNCHRONIZATIONOBJECTFROMCPU_FLAGS Flags;
} D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU;

typedef struct _D3DDDICB_SIGNALFLAGS {
	union {
		struct {
			UINT SignalAtSubmission : 1;
			UINT EnqueueCpuEvent : 1;
			UINT AllowFenceRewind : 1;
			UINT Reserved : 29;
		};
		UINT Value;
	};
} D3DDDICB_SIGNALFLAGS;

typedef struct _D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU {
	D3DKMT_HANDLE hDevice;
	UINT ObjectCount;
	const D3DKMT_HANDLE *ObjectHandleArray;
	const UINT64 *FenceValueArray;
	D3DDDICB_SIGNALFLAGS Flags;
} D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU;

NTSTATUS D3DKMTCreateSynchronizationObject2(D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *args);
NTSTATUS D3DKMTCreateNativeFence(D3DKMT_CREATENATIVEFENCE *args);
NTSTATUS D3DKMTDestroySynchronizationObject(const D3DKMT_DESTROYSYNCHRONIZATIONOBJECT *args);
NTSTATUS D3DKMTShareObjects(UINT cObjects, const D3DKMT_HANDLE *hObjects,
			    POBJECT_ATTRIBUTES pObjectAttributes, DWORD dwDesiredAccess,
			    HANDLE *phSharedNtHandle);
NTSTATUS D3DKMTOpenSyncObjectFromNtHandle2(D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 *args);
NTSTATUS D3DKMTOpenNativeFenceFromNtHandle(D3DKMT_OPENNATIVEFENCEFROMNTHANDLE *args);
NTSTATUS D3DKMTWaitForSynchronizationObjectFromCpu(
	const D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU *args);
NTSTATUS D3DKMTSignalSynchronizationObjectFromCpu(
	const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU *args);

/* ------------------------------------------------------------------ queues */

typedef struct _D3DDDI_CREATEHWQUEUEFLAGS {
	union {
		struct {
			UINT DisableGpuTimeout : 1;
			UINT NoBroadcastSignal : 1;
			UINT NoBroadcastWait : 1;
			UINT NoKmdAccess : 1;
			UINT UserModeSubmission : 1;
			UINT NativeProgressFence : 1;
			UINT TestQueue : 1;
			UINT Reserved : 25;
		};
		UINT Value;
	};
} D3DDDI_CREATEHWQUEUEFLAGS;

typedef struct _D3DKMT_CREATEHWQUEUE {
	D3DKMT_HANDLE hHwContext;
	D3DDDI_CREATEHWQUEUEFLAGS Flags;
	UINT PrivateDriverDataSize;
	VOID *pPrivateDriverData;
	D3DKMT_HANDLE hHwQueue;
	D3DKMT_HANDLE hHwQueueProgressFence;
	VOID *HwQueueProgressFenceCPUVirtualAddress;
	D3DGPU_VIRTUAL_ADDRESS HwQueueProgressFenceGPUVirtualAddress;
} D3DKMT_CREATEHWQUEUE;

typedef struct _D3DKMT_DESTROYHWQUEUE {
	D3DKMT_HANDLE hHwQueue;
} D3DKMT_DESTROYHWQUEUE;

typedef struct _D3DKMT_SUBMITCOMMANDTOHWQUEUE {
	D3DKMT_HANDLE hHwQueue;
	UINT64 HwQueueProgressFenceId;
	D3DGPU_VIRTUAL_ADDRESS CommandBuffer;
	UINT CommandLength;
	UINT PrivateDriverDataSize;
	VOID *pPrivateDriverData;
	UINT NumPrimaries;
	D3DKMT_HANDLE const *WrittenPrimaries;
} D3DKMT_SUBMITCOMMANDTOHWQUEUE;

typedef struct _D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE {
	D3DKMT_HANDLE hHwQueue;
	UINT ObjectCount;
	const D3DKMT_HANDLE *ObjectHandleArray;
	const UINT64 *FenceValueArray;
} D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE;

typedef struct _D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE {
	D3DDDICB_SIGNALFLAGS Flags;
	ULONG BroadcastHwQueueCount;
	const D3DKMT_HANDLE *BroadcastHwQueueArray;
	UINT ObjectCount;
	const D3DKMT_HANDLE *ObjectHandleArray;
	const UINT64 *FenceValueArray;
} D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE;

typedef struct _D3DKMT_CREATE_DOORBELL_FLAGS {
	union {
		struct {
			UINT RequireSecondaryCpuVA : 1;
			UINT ResizeRingBufferOperation : 1;
			UINT Reserved : 30;
		};
		UINT Value;
	};
} D3DKMT_CREATE_DOORBELL_FLAGS;

typedef struct _D3DKMT_CREATE_DOORBELL {
	D3DKMT_HANDLE hHwQueue;
	D3DKMT_HANDLE hRingBuffer;
	D3DKMT_HANDLE hRingBufferControl;
	D3DKMT_CREATE_DOORBELL_FLAGS Flags;
	UINT PrivateDriverDataSize;
	VOID *PrivateDriverData;
	VOID *DoorbellCPUVirtualAddress;
	VOID *DoorbellSecondaryCPUVirtualAddress;
	VOID *DoorbellStatusCPUVirtualAddress;
	UINT64 *HwQueueProgressFenceLastQueuedValueCPUVirtualAddress;
	D3DKMT_HANDLE hDoorbell;
} D3DKMT_CREATE_DOORBELL;

typedef enum _D3DDDI_DOORBELLSTATUS {
	D3DDDI_DOORBELLSTATUS_CONNECTED = 0,
	D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY = 1,
	D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY = 2,
	D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT = 3,
} D3DDDI_DOORBELLSTATUS;

typedef struct _D3DKMT_CONNECT_DOORBELL {
	D3DKMT_HANDLE hHwQueue;
	UINT Flags;
} D3DKMT_CONNECT_DOORBELL;

typedef struct _D3DKMT_DESTROY_DOORBELL {
	D3DKMT_HANDLE hHwQueue;
} D3DKMT_DESTROY_DOORBELL;

typedef struct _D3DKMT_NOTIFY_WORK_SUBMISSION {
	D3DKMT_HANDLE hHwQueue;
	UINT Flags;
} D3DKMT_NOTIFY_WORK_SUBMISSION;

NTSTATUS D3DKMTCreateHwQueue(D3DKMT_CREATEHWQUEUE *args);
NTSTATUS D3DKMTDestroyHwQueue(const D3DKMT_DESTROYHWQUEUE *args);
NTSTATUS D3DKMTSubmitCommandToHwQueue(const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args);
NTSTATUS D3DKMTSubmitWaitForSyncObjectsToHwQueue(
	const D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE *args);
NTSTATUS D3DKMTSubmitSignalSyncObjectsToHwQueue(
	const D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE *args);
NTSTATUS D3DKMTCreateDoorbell(D3DKMT_CREATE_DOORBELL *args);
NTSTATUS D3DKMTConnectDoorbell(const D3DKMT_CONNECT_DOORBELL *args);
NTSTATUS D3DKMTDestroyDoorbell(const D3DKMT_DESTROY_DOORBELL *args);
NTSTATUS D3DKMTNotifyWorkSubmission(const D3DKMT_NOTIFY_WORK_SUBMISSION *args);

#ifdef __cplusplus
}
#endif

#endif
