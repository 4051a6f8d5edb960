/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_H_
#define _VGPU_H_

/**
 * DOC: The virtual GPU's programming model
 *
 * This header is the only door between the driver and the virtual GPU. Calls
 * down are named by WDDM's verbs; calls up are what a bus gives a device
 * (&struct vgpu_host_ops); memory both see are value slots, rings, control
 * pages, logs and the interrupt ring.
 *
 * Calls that say "any context" may come from hard interrupts with interrupts
 * off; all others may sleep.
 */

#include <linux/atomic.h>
#include <linux/types.h>
#include "drm/vfence_drm.h"
#include "vfence_feature.h"

struct vgpu;
struct vgpu_chip;
struct vgpu_fence;
struct vgpu_queue;
struct vgpu_vm;
struct vgpu_context;
struct page;

/** VGPU_MAX_NODES: nodes of one GPU */
#define VGPU_MAX_NODES		8
/** VGPU_MAX_FUNCTIONS: functions of one chip */
#define VGPU_MAX_FUNCTIONS	16
/** VGPU_MAX_DOORBELLS: physical doorbells of one GPU */
#define VGPU_MAX_DOORBELLS	64
/** VGPU_IRQ_RECORDS: records of the interrupt ring, a power of two */
#define VGPU_IRQ_RECORDS	64
/** VGPU_DOORBELL_SIZE: bytes of a doorbell, primary or secondary */
#define VGPU_DOORBELL_SIZE	8
/** VGPU_IRQ_FENCES: fences one record can name */
#define VGPU_IRQ_FENCES		4
/** VGPU_CLOCK_HZ: GPU ticks per second */
#define VGPU_CLOCK_HZ		125000000ull

/** VGPU_OS_OPTIMIZED_FENCES: monitored values of DEFAULT fences may be local */
#define VGPU_OS_OPTIMIZED_FENCES	BIT(0)
/** VGPU_OS_INTRA_GPU_FENCES: fences of type INTRA_GPU may exist */
#define VGPU_OS_INTRA_GPU_FENCES	BIT(1)

/**
 * enum vgpu_native_fence_support - how well the hardware does native fences
 */
enum vgpu_native_fence_support {
	/** @VGPU_NATIVE_FENCE_NONE: not at all */
	VGPU_NATIVE_FENCE_NONE,
	/** @VGPU_NATIVE_FENCE_FULL: yes */
	VGPU_NATIVE_FENCE_FULL,
	/** @VGPU_NATIVE_FENCE_EXPERIMENTAL: as an experiment */
	VGPU_NATIVE_FENCE_EXPERIMENTAL,
	/** @VGPU_NATIVE_FENCE_NOT_NOW: yes, but not as it is set up */
	VGPU_NATIVE_FENCE_NOT_NOW,
	/** @VGPU_NATIVE_FENCE_UNASKED: broken: advertises without asking */
	VGPU_NATIVE_FENCE_UNASKED,
	/** @VGPU_NATIVE_FENCE_SUPPORTS: how many there are */
	VGPU_NATIVE_FENCE_SUPPORTS,
};

/** VGPU_NATIVE_FENCE_VERSION_MIN: lowest version the hardware talks */
#define VGPU_NATIVE_FENCE_VERSION_MIN	2
/** VGPU_NATIVE_FENCE_VERSION_MAX: highest version the hardware talks */
#define VGPU_NATIVE_FENCE_VERSION_MAX	5
/** VGPU_STRIDE_MIN: smallest stride of fence slots */
#define VGPU_STRIDE_MIN			16

/**
 * struct vgpu_fence_caps - DXGK_NATIVE_FENCE_CAPS
 */
struct vgpu_fence_caps {
	/** @stride: bytes between slots in one page, a power of two */
	u32 stride;
	/** @map_to_system: wants the values in the system process's space, too */
	bool map_to_system;
	/** @minimum_address: lowest address of a fence page; 0: no bound */
	u64 minimum_address;
	/** @maximum_address: first address above them; 0: no bound */
	u64 maximum_address;
};

/**
 * struct vgpu_host_ops - what the bus gives the device
 */
struct vgpu_host_ops {
	/**
	 * @raise_vector: deliver an interrupt; any number of raises before the
	 * handler runs may become one. Any context.
	 */
	void (*raise_vector)(void *host);
	/**
	 * @arm_doorbell: the queue of @doorbell went idle while connected; make
	 * its next ring visible, then call vgpu_doorbell_recheck(). Called
	 * from an engine: must not sleep.
	 */
	void (*arm_doorbell)(void *host, void *doorbell);
	/**
	 * @is_feature_enabled: DXGK_FEATURE_INTERFACE: asked while the GPU is
	 * created, before it may advertise anything (WDDM-46)
	 */
	bool (*is_feature_enabled)(void *host, enum drm_vfence_feature_id id);
	/**
	 * @invalidate_hw_context: DxgkCbInvalidateHwContext: a reset of its engine
	 * cost the context of this OS-side handle what it was doing; @collateral:
	 * another was the cause. Called from vgpu_reset_engine().
	 */
	void (*invalidate_hw_context)(void *host, u32 context, bool collateral);
	/** @native_fence_os_caps: GetOSCaps: VGPU_OS_*; asked if it is enabled */
	unsigned int (*native_fence_os_caps)(void *host);
};

/**
 * enum vgpu_monitored_signal - what an engine can do with monitored fences
 */
enum vgpu_monitored_signal {
	/** @VGPU_MONITORED_SIGNAL_NONE: nothing: they are signaled in software */
	VGPU_MONITORED_SIGNAL_NONE,
	/** @VGPU_MONITORED_SIGNAL_BASIC: write the value, and tell nobody (WDDM-129) */
	VGPU_MONITORED_SIGNAL_BASIC,
	/** @VGPU_MONITORED_SIGNAL_ADVANCED: write it and interrupt (WDDM-130) */
	VGPU_MONITORED_SIGNAL_ADVANCED,
	/** @VGPU_MONITORED_SIGNALS: how many there are */
	VGPU_MONITORED_SIGNALS,
};

/**
 * struct vgpu_config - shape of a GPU
 */
struct vgpu_config {
	/** @nodes: number of nodes */
	unsigned int nodes;
	/** @node_class: &enum drm_vfence_node_class of each */
	u8 node_class[VGPU_MAX_NODES];
	/** @doorbells: physical doorbells */
	unsigned int doorbells;
	/** @secondary_doorbells: SecondaryDoorbellSupported */
	bool secondary_doorbells;
	/** @irq_records: usable records of the interrupt ring; 0: NULL events only */
	unsigned int irq_records;
	/** @f1_idle_us: an engine asks for F1 after so long without work; 0: never */
	unsigned int f1_idle_us;
	/** @hung_us: an engine that gets nowhere for so long is HUNG; 0: never */
	unsigned int hung_us;
	/** @irq_form: &enum vgpu_irq_form */
	unsigned int irq_form;
	/** @local_pages: pages of video memory */
	unsigned int local_pages;
	/** @visible_pages: of these, from the first on, those the CPU can see */
	unsigned int visible_pages;
	/** @native_fence: &enum vgpu_native_fence_support */
	unsigned int native_fence;
	/** @no_64bit_atomics: No64BitAtomics: values of fences have 32 bits */
	bool no_64bit_atomics;
	/** @monitored_signal: &enum vgpu_monitored_signal */
	unsigned int monitored_signal;
	/** @fence_caps: what its native fences are like */
	struct vgpu_fence_caps fence_caps;
};

/**
 * enum vgpu_irq_form - what the native-fence-signaled interrupt tells
 */
enum vgpu_irq_form {
	/** @VGPU_IRQ_FORM_ARRAY: the fences; no array if there is no room */
	VGPU_IRQ_FORM_ARRAY,
	/**
	 * @VGPU_IRQ_FORM_QUEUE: the queue, OptimizedNativeFenceSignaledInterrupt;
	 * no queue if there is no room
	 */
	VGPU_IRQ_FORM_QUEUE,
	/**
	 * @VGPU_IRQ_FORM_INDISTINCT: nothing, not even whether a native or a
	 * monitored fence was signaled
	 */
	VGPU_IRQ_FORM_INDISTINCT,
	/** @VGPU_IRQ_FORMS: how many there are */
	VGPU_IRQ_FORMS,
};

/** VGPU_IRQ_EVALUATE_LEGACY: look at waiters of monitored fences, too (WDDM-74) */
#define VGPU_IRQ_EVALUATE_LEGACY	BIT(0)
/** VGPU_IRQ_UNLOGGED: some signal has no log entry: look at live values */
#define VGPU_IRQ_UNLOGGED		BIT(1)
/** VGPU_OVERFLOW_UNLOGGED: in the ring's overflow word: the same of what it missed */
#define VGPU_OVERFLOW_UNLOGGED		BIT(VGPU_MAX_NODES)
/** VGPU_OVERFLOW_MONITORED: likewise: monitored fences were among it (WDDM-73) */
#define VGPU_OVERFLOW_MONITORED		BIT(VGPU_MAX_NODES + 1)

/**
 * enum vgpu_irq_type - what a record reports; WDDM's numbers (WDDM-70)
 */
enum vgpu_irq_type {
	/** @VGPU_IRQ_DMA_COMPLETED: work of a kernel ring is done, or fetched */
	VGPU_IRQ_DMA_COMPLETED = 1,
	/**
	 * @VGPU_IRQ_MONITORED_FENCE_SIGNALED: a monitored fence was written, by node
	 * and engine; which one is not told. In the form INDISTINCT it is a
	 * NATIVE_FENCE_SIGNALED without an array
	 */
	VGPU_IRQ_MONITORED_FENCE_SIGNALED = 11,
	/** @VGPU_IRQ_CONTEXT_SUSPENDED: a context has left the GPU */
	VGPU_IRQ_CONTEXT_SUSPENDED = 17,
	/** @VGPU_IRQ_HWQUEUE_FAULTED: a queue stopped by its own packet */
	VGPU_IRQ_HWQUEUE_FAULTED = 12,
	/** @VGPU_IRQ_NATIVE_FENCE_SIGNALED: fences were signaled */
	VGPU_IRQ_NATIVE_FENCE_SIGNALED = 19,
	/** @VGPU_IRQ_GPU_ENGINE_STATE_CHANGE: see vgpu_engine_query_state() */
	VGPU_IRQ_GPU_ENGINE_STATE_CHANGE = 20,
};

/**
 * enum vgpu_engine_state - DXGK_ENGINE_STATE
 */
enum vgpu_engine_state {
	/** @VGPU_ENGINE_ACTIVE: as it should be */
	VGPU_ENGINE_ACTIVE,
	/** @VGPU_ENGINE_TRANSITION_TO_F1: idle for long, asks for F1 */
	VGPU_ENGINE_TRANSITION_TO_F1,
	/** @VGPU_ENGINE_HUNG: gets nowhere, asks for a reset (WDDM-204) */
	VGPU_ENGINE_HUNG,
};

/**
 * struct vgpu_irq_fence - one signaled fence of a record
 */
struct vgpu_irq_fence {
	/** @handle: the OS-side global handle given at create (WDDM-75) */
	u32 handle;
	/** @pad: zero */
	u32 pad;
	/** @value: the value that was stored, so that a rewind cannot hide it */
	u64 value;
	/** @time: GPU ticks when it had been stored */
	u64 time;
};

/**
 * struct vgpu_irq_record - one record of the interrupt ring
 */
struct vgpu_irq_record {
	/** @type: &enum vgpu_irq_type */
	u32 type;
	/** @node: node ordinal */
	u16 node;
	/** @engine: engine ordinal; 0, adapters are not linked */
	u16 engine;
	/**
	 * @queue: OS-side queue handle, for HWQUEUE_FAULTED, DMA_COMPLETED and in
	 * the form QUEUE; means nothing in the others (WDDM-77). OS-side context
	 * handle, for CONTEXT_SUSPENDED
	 */
	u32 queue;
	/** @flags: VGPU_IRQ_* */
	u32 flags;
	/** @posts: signals it stands for */
	u32 posts;
	/** @suspend_fence: for CONTEXT_SUSPENDED: which suspension is complete */
	u64 suspend_fence;
	/** @count: fences named below; means nothing in the form QUEUE (WDDM-76) */
	u32 count;
	/** @fence: the exact fence array */
	struct vgpu_irq_fence fence[VGPU_IRQ_FENCES];
};

/**
 * struct vgpu_irq_ring - interrupt ring, memory both rooms see
 *
 * Indices run freely. Handshake (d): the CMP stores @overflow before it raises;
 * the handler clears the vector's pending latch before it looks at @overflow.
 */
struct vgpu_irq_ring {
	/** @write: next record to write; CMP only, release */
	u32 write;
	/** @read: next record to read; driver only, release */
	u32 read;
	/**
	 * @overflow: mask of nodes of which a NULL event is due, and
	 * VGPU_OVERFLOW_*; set by the CMP, taken by the driver
	 */
	atomic_t overflow;
	/** @record: the records */
	struct vgpu_irq_record record[VGPU_IRQ_RECORDS];
};

/**
 * struct vgpu_counters - exact counters, see &enum drm_vfence_counter_id
 */
struct vgpu_counters {
	/** @posts: posts of engines */
	u64 posts;
	/** @rechecked_out: dropped by the second look */
	u64 rechecked_out;
	/** @recorded: named in a record */
	u64 recorded;
	/** @overflowed: turned into a NULL event */
	u64 overflowed;
	/** @monitored_updates: updates of monitored values */
	u64 monitored_updates;
	/** @monitored_updates_irq: of these, in hard interrupts */
	u64 monitored_updates_irq;
	/** @log_buffers_set: log buffers handed over */
	u64 log_buffers_set;
	/** @log_flushes: batches committed */
	u64 log_flushes;
	/** @log_queues_flushed: queues in these */
	u64 log_queues_flushed;
	/** @log_markers: markers logged */
	u64 log_markers;
	/** @shadow_posts: posts of the CMP itself, after an update of a shadow */
	u64 shadow_posts;
};

/**
 * struct vgpu_knobs - what a test can do to the hardware; never set by itself
 */
struct vgpu_knobs {
	/** @fail_monitored_update: the next update of monitored values fails */
	bool fail_monitored_update;
	/** @fail_current_update: the next update of current values fails */
	bool fail_current_update;
	/** @lose_suspend: the next suspension is not acknowledged */
	bool lose_suspend;
	/** @wrong_suspend: the next one is acknowledged with a number nobody gave */
	bool wrong_suspend;
	/** @ignore_suspend: what runs goes on, though its context be suspended */
	bool ignore_suspend;
	/** @wrong_fence: the next record names a fence that does not exist */
	bool wrong_fence;
	/** @notify_work: doorbells connect as CONNECTED_NOTIFY */
	bool notify_work;
	/** @hold_posts: the CMP leaves posts where they are until somebody waits for it */
	bool hold_posts;
};

/* ------------------------------------------------------------- the device */

/**
 * vgpu_chip_create - build a chip
 * @config: shape of its functions, valid: of them it takes what a chip has once
 * @name: prefix of the names of its threads
 *
 * Return: the chip with a reference, or an ERR_PTR.
 */
struct vgpu_chip *vgpu_chip_create(const struct vgpu_config *config, const char *name);
/** vgpu_chip_get - take a reference of a chip */
void vgpu_chip_get(struct vgpu_chip *chip);
/** vgpu_chip_put - drop a reference of a chip; its functions have their own */
void vgpu_chip_put(struct vgpu_chip *chip);
/**
 * vgpu_device_create - build a function of a chip, its threads asleep
 * @chip: the chip
 * @config: its shape, valid; what a chip has once is as for vgpu_chip_create()
 * @ops: calls up
 * @host: first argument of the calls up
 * @name: for thread names
 *
 * Return: the function, or an ERR_PTR: -ENOSPC if the chip has no more.
 */
struct vgpu *vgpu_device_create(struct vgpu_chip *chip, const struct vgpu_config *config,
				const struct vgpu_host_ops *ops, void *host, const char *name);
/**
 * vgpu_feature_query_support - DxgkDdiQueryFeatureSupport
 * @config: shape of the GPU
 * @id: the feature
 * @support: filled
 *
 * Return: 0, or -EINVAL for a feature it has never heard of.
 */
int vgpu_feature_query_support(const struct vgpu_config *config, enum drm_vfence_feature_id id,
			       struct vfence_feature_support *support);
/** vgpu_feature_optimized_interrupt - DXGK_VIDSCHCAPS: is the form of interrupts QUEUE */
bool vgpu_feature_optimized_interrupt(struct vgpu *gpu);
/** vgpu_feature_native_fence - DXGK_VIDSCHCAPS::NativeGpuFence: does it advertise them */
bool vgpu_feature_native_fence(struct vgpu *gpu);
/** vgpu_device_start - start engines and CMP */
int vgpu_device_start(struct vgpu *gpu);
/**
 * vgpu_device_stop - stop engines and CMP for good; no call up happens afterwards
 * @gpu: the GPU
 *
 * All objects stay valid and can be destroyed later. A queue that was running
 * is aborted.
 */
void vgpu_device_stop(struct vgpu *gpu);
/** vgpu_device_destroy - free a stopped GPU without objects */
void vgpu_device_destroy(struct vgpu *gpu);
/** vgpu_device_system_vm - address space of the system process, the CMP's own */
struct vgpu_vm *vgpu_device_system_vm(struct vgpu *gpu);
/**
 * vgpu_power_enter_f1 - take an idle engine to F1
 * @gpu: the GPU
 * @node: its node
 *
 * The driver has disconnected the doorbells of the node. A queue that gets work, or
 * is connected, takes it back to F0.
 *
 * Return: false if it has work, or has not asked.
 */
bool vgpu_power_enter_f1(struct vgpu *gpu, unsigned int node);
/** vgpu_power_in_f1 - is it there. Any context. */
bool vgpu_power_in_f1(struct vgpu *gpu, unsigned int node);
/**
 * vgpu_engine_query_state - what an engine asks for, if anything
 * @gpu: the GPU
 * @node: its node
 *
 * HUNG is DxgkDdiQueryEngineStatus's "not responsive". Any context.
 */
enum vgpu_engine_state vgpu_engine_query_state(struct vgpu *gpu, unsigned int node);
/**
 * vgpu_reset_engine - DxgkDdiResetHwEngine
 * @gpu: the GPU
 * @node: its node
 * @force: though it be not HUNG
 *
 * The queue that runs on it, if any, is aborted at once and its context reported by
 * invalidate_hw_context(). No context runs until vgpu_reset_resume_engine().
 *
 * Return: false if it is not HUNG any more and was left alone.
 */
bool vgpu_reset_engine(struct vgpu *gpu, unsigned int node, bool force);
/** vgpu_reset_resume_engine - DxgkDdiResumeHwEngine: queues with work go on */
void vgpu_reset_resume_engine(struct vgpu *gpu, unsigned int node);
/** vgpu_power_is_idle - has no queue any work, or a wait it is blocked on. Any context. */
bool vgpu_power_is_idle(struct vgpu *gpu);
/**
 * vgpu_power_enter_d3 - power off: what is in video memory is gone
 * @gpu: the GPU, its doorbells disconnected, its storage in system memory
 *
 * All contexts are off it until it is back; work that turns up waits. Return: false
 * if there is some already.
 */
bool vgpu_power_enter_d3(struct vgpu *gpu);
/** vgpu_power_enter_d0 - power on; queues with work go on */
void vgpu_power_enter_d0(struct vgpu *gpu);
/** vgpu_device_irq_ring - the interrupt ring */
struct vgpu_irq_ring *vgpu_device_irq_ring(struct vgpu *gpu);
/** vgpu_device_knobs - its test switches; written by the driver's debugfs */
struct vgpu_knobs *vgpu_device_knobs(struct vgpu *gpu);
/**
 * vgpu_doorbell_page - page of a physical doorbell
 * @gpu: the GPU
 * @index: which
 * @secondary: its second address; only with vgpu_config.secondary_doorbells
 */
struct page *vgpu_doorbell_page(struct vgpu *gpu, unsigned int index, bool secondary);
/** vgpu_clock_now - the GPU clock, in ticks; one clock for all GPUs. Any context. */
u64 vgpu_clock_now(struct vgpu *gpu);
/** vgpu_clock_query - the GPU clock and CLOCK_MONOTONIC at one moment */
void vgpu_clock_query(struct vgpu *gpu, u64 *gpu_ticks, u64 *cpu_ns);
/** vgpu_engine_query_node - counters of a node */
void vgpu_engine_query_node(struct vgpu *gpu, unsigned int node, struct drm_vfence_node_info *info);
/** vgpu_cmp_query_counters - counters of the CMP */
void vgpu_cmp_query_counters(struct vgpu *gpu, struct vgpu_counters *c);

/* ---------------------------------------------------------------- storage */

/** VGPU_SEGMENT_SYSTEM: system memory */
#define VGPU_SEGMENT_SYSTEM		BIT(0)
/** VGPU_SEGMENT_LOCAL_VISIBLE: video memory the CPU can see */
#define VGPU_SEGMENT_LOCAL_VISIBLE	BIT(1)
/** VGPU_SEGMENT_LOCAL: video memory it cannot see */
#define VGPU_SEGMENT_LOCAL		BIT(2)

/**
 * enum vgpu_fence_value - which of a fence's two values
 */
enum vgpu_fence_value {
	/** @VGPU_CURRENT_VALUE: current */
	VGPU_CURRENT_VALUE,
	/** @VGPU_MONITORED_VALUE: monitored */
	VGPU_MONITORED_VALUE,
};

/**
 * struct vgpu_placement - D3DKMDT_FENCESTORAGESURFACEDATA's answer (WDDM-27)
 */
struct vgpu_placement {
	/** @supported: VGPU_SEGMENT_* it may be in */
	unsigned int supported;
	/** @preferred: the best of them */
	unsigned int preferred;
	/** @eviction: where it may go when that is needed elsewhere */
	unsigned int eviction;
};

/**
 * vgpu_storage_query_placement - DxgkDdiGetStandardAllocation, fence storage
 * @gpu: the GPU
 * @type: type of the fences
 * @value: which of their values
 * @answer: filled
 */
void vgpu_storage_query_placement(struct vgpu *gpu, enum drm_vfence_fence_type type,
				  enum vgpu_fence_value value, struct vgpu_placement *answer);
/** vgpu_storage_aperture - CPU address of a page of visible video memory */
void *vgpu_storage_aperture(struct vgpu *gpu, u64 page);

/*
 * struct vgpu_storage: a page of fence values, wherever it is. Fences and address
 * spaces name the storage, so that its memory can be moved under them
 * (&struct vgpu_packet_storage).
 */
struct vgpu_storage;

/** vgpu_storage_create_system - storage in system memory at @kva */
struct vgpu_storage *vgpu_storage_create_system(struct vgpu *gpu, void *kva);
/** vgpu_storage_create_local - storage in a page of video memory, not cleared */
struct vgpu_storage *vgpu_storage_create_local(struct vgpu *gpu, u64 page);
/** vgpu_storage_destroy - forget it; no fence and no mapping names it */
void vgpu_storage_destroy(struct vgpu_storage *storage);

/* ------------------------------------------------------------ kernel rings */

/**
 * enum vgpu_kernel_opcode - packets of kernel rings, beside those of clients
 */
enum vgpu_kernel_opcode {
	/** @VGPU_OP_CLEAR_STORAGE: &struct vgpu_packet_storage: fill with zeroes */
	VGPU_OP_CLEAR_STORAGE = 0x8000,
	/** @VGPU_OP_EVICT_STORAGE: &struct vgpu_packet_storage: move to @kva */
	VGPU_OP_EVICT_STORAGE = 0x8001,
	/** @VGPU_OP_COMPLETE: &struct vgpu_packet_complete: done up to here */
	VGPU_OP_COMPLETE = 0x8002,
	/**
	 * @VGPU_OP_FETCHED: &struct vgpu_packet_complete: all before is in the
	 * pipeline. The front end sees it as soon as it has fetched the packet
	 * before, though that may take long
	 */
	VGPU_OP_FETCHED = 0x8003,
};

/** VGPU_OP_KERNEL: first opcode that only kernel rings have */
#define VGPU_OP_KERNEL		VGPU_OP_CLEAR_STORAGE

/**
 * struct vgpu_packet_storage - paging: move or clear a page of values
 *
 * Engines find the values either at the old place or, all of them, at the new one.
 */
struct vgpu_packet_storage {
	/** @header: length 24 */
	struct drm_vfence_packet_header header;
	/** @storage: the &struct vgpu_storage */
	u64 storage;
	/** @kva: system memory to move it to */
	u64 kva;
};

/**
 * struct vgpu_packet_complete - note a submission as done, or fetched, and interrupt
 */
struct vgpu_packet_complete {
	/** @header: length 16 */
	struct drm_vfence_packet_header header;
	/** @fence_id: the ring's last completed, or fetched, fence id from now on */
	u64 fence_id;
};

/** vgpu_kernel_last_completed - a kernel ring's last completed fence id. Any context. */
u64 vgpu_kernel_last_completed(struct vgpu_queue *queue);
/** vgpu_kernel_last_fetched - a kernel ring's last fetched fence id. Any context. */
u64 vgpu_kernel_last_fetched(struct vgpu_queue *queue);

/* --------------------------------------------------------- address spaces */

/** VGPU_VM_DATA: COPY, FILL and TIMESTAMP may reach the page, by its rights */
#define VGPU_VM_DATA	BIT(4)
/** VGPU_VM_READ: the GPU may read */
#define VGPU_VM_READ	BIT(2)
/** VGPU_VM_WRITE: the GPU may write */
#define VGPU_VM_WRITE	BIT(3)

struct vgpu_vm *vgpu_vm_create(struct vgpu *gpu);
void vgpu_vm_destroy(struct vgpu_vm *vm);
/**
 * vgpu_vm_map - map whole pages
 * @vm: the address space
 * @va: first address, free
 * @kva: where the memory is for the virtual GPU
 * @size: bytes
 * @flags: VGPU_VM_*
 */
int vgpu_vm_map(struct vgpu_vm *vm, u64 va, void *kva, u64 size, unsigned int flags);
/** vgpu_vm_map_storage - map a page of values, wherever it is or goes */
int vgpu_vm_map_storage(struct vgpu_vm *vm, u64 va, struct vgpu_storage *storage,
			unsigned int flags);
/** vgpu_vm_unmap - unmap whole pages; no engine uses them on return */
void vgpu_vm_unmap(struct vgpu_vm *vm, u64 va, u64 size);

/* ------------------------------------------------------------------ fences */

/**
 * struct vgpu_fence_args - DxgkDdiCreateNativeFence
 */
struct vgpu_fence_args {
	/** @os_handle: the driver's handle, returned in interrupt records */
	u32 os_handle;
	/** @type: of the fence; nobody ever waits for INTRA_GPU on the CPU */
	enum drm_vfence_fence_type type;
	/** @current_value: storage of the current value; stays until destroyed */
	struct vgpu_storage *current_value;
	/**
	 * @monitored_value: storage of the monitored value, likewise; if it is
	 * local now the CMP keeps a shadow copy for the engines to compare with
	 */
	struct vgpu_storage *monitored_value;
	/** @offset: the fence's slot in both, in bytes */
	u32 offset;
	/** @current_system_va: in the system process's space, 0 if not mapped */
	u64 current_system_va;
	/** @monitored_system_va: likewise; what the CMP goes by (WDDM-60) */
	u64 monitored_system_va;
	/** @private_data: the creator's bytes; kept with the fence (WDDM-39) */
	const u8 *private_data;
};

/** vgpu_fence_create - DxgkDdiCreateNativeFence: the global object */
struct vgpu_fence *vgpu_fence_create(struct vgpu *gpu, const struct vgpu_fence_args *args);
/** vgpu_fence_private_data - DRM_VFENCE_PRIVATE_DATA bytes kept with it */
const u8 *vgpu_fence_private_data(struct vgpu_fence *fence);
/**
 * vgpu_vm_open_fence - DxgkDdiOpenNativeFence: make it usable at addresses of a vm
 * @vm: the address space
 * @fence: the fence; NULL for the value of a monitored one, which kernel rings write
 * @current_va: address of its current value
 * @monitored_va: address of its monitored value
 * @rights: DRM_VFENCE_RIGHT_* of this holder
 *
 * Once for every holder; holders of one vm use the same addresses, so packets
 * may do what any of them may. The caller serialises opens and closes of one vm.
 */
int vgpu_vm_open_fence(struct vgpu_vm *vm, struct vgpu_fence *fence, u64 current_va,
		       u64 monitored_va, u32 rights);
/**
 * vgpu_vm_close_fence - DxgkDdiCloseNativeFence
 * @vm: the address space
 * @current_va: as at open
 * @rights: as at open
 *
 * No engine of @vm uses it by this holder's rights on return.
 */
void vgpu_vm_close_fence(struct vgpu_vm *vm, u64 current_va, u32 rights);
/**
 * vgpu_fence_destroy - DxgkDdiDestroyNativeFence: after the last close
 * @fence: the fence
 *
 * On return neither slot is touched again, no queue is blocked on it and every
 * record that names the fence is in the interrupt ring.
 */
void vgpu_fence_destroy(struct vgpu_fence *fence);
/**
 * struct vgpu_missed - signals that no record had room for, as one
 */
struct vgpu_missed {
	/** @value: the highest value */
	u64 value;
	/** @time: GPU ticks when the last of them had been stored */
	u64 time;
};

/**
 * vgpu_fence_take_missed - what was signaled and no record told
 * @fence: the fence
 * @missed: filled: since the last call; zeroes if nothing
 *
 * Part of scanning after a NULL event, so that a value that was rewound meanwhile
 * still completes its waiters. Where records name no fences it is every signal.
 * Any context.
 */
void vgpu_fence_take_missed(struct vgpu_fence *fence, struct vgpu_missed *missed);
/**
 * vgpu_fence_rewinds - times a value was stored that is below the one before
 * @fence: the fence
 *
 * By engines and by vgpu_fence_update_current_values(). Counted before the
 * value is stored: who sees the value sees the count. Any context.
 */
u64 vgpu_fence_rewinds(struct vgpu_fence *fence);
/** vgpu_cmp_flush - every signal executed before is in the interrupt ring */
void vgpu_cmp_flush(struct vgpu *gpu);
/** vgpu_fence_signals - GPU signals executed on it */
u64 vgpu_fence_signals(struct vgpu_fence *fence);

/**
 * struct vgpu_value_update - one element of a batch of value updates
 */
struct vgpu_value_update {
	/** @fence: which */
	struct vgpu_fence *fence;
	/** @kernel_va: its slot; valid only during the call (WDDM-64) */
	u64 *kernel_va;
	/** @value: what to store */
	u64 value;
	/**
	 * @time: for NOTIFICATION_ONLY: GPU ticks when the value was stored; it is
	 * no news to a queue that began to wait later and has seen what came then
	 */
	u64 time;
};

/**
 * vgpu_fence_update_monitored_values - DxgkDdiUpdateMonitoredValues
 * @gpu: the GPU
 * @update: the batch
 * @count: its length
 *
 * Once it has returned, any current value the CPU reads was stored by an engine
 * that afterwards sees the new monitored value, or is visible (WDDM-16). Any
 * context; the caller serialises the updates of one fence with its handler.
 *
 * Return: 0, or -EIO, which is fatal for the adapter (WDDM-68, subcode 0x12).
 */
int vgpu_fence_update_monitored_values(struct vgpu *gpu, const struct vgpu_value_update *update,
				       unsigned int count);

/**
 * VGPU_UPDATE_ALWAYS_SIGNALED: from now on every GPU wait on the fence passes and
 * every GPU signal of it does nothing (WDDM-66, -67); no value is stored
 */
#define VGPU_UPDATE_ALWAYS_SIGNALED	BIT(0)
/**
 * VGPU_UPDATE_NOTIFICATION_ONLY: the value has been stored by somebody else:
 * release the queues it satisfies, store nothing (WDDM-65)
 */
#define VGPU_UPDATE_NOTIFICATION_ONLY	BIT(1)

/**
 * vgpu_fence_update_current_values - DxgkDdiUpdateCurrentValuesFromCpu
 * @gpu: the GPU
 * @update: the batch
 * @count: its length
 * @flags: VGPU_UPDATE_*, for all of the batch
 *
 * Stores the values and releases queues that waited for them (WDDM-62, -63).
 * Any context; the caller serialises the updates of one fence that store.
 *
 * Return: 0, or -EIO, which is fatal for the adapter (WDDM-68, subcode 0x13).
 */
int vgpu_fence_update_current_values(struct vgpu *gpu,
				     const struct vgpu_value_update *update,
					unsigned int count, unsigned int flags);

/* ------------------------------------------------------ queues, doorbells */

/** vgpu_context_create - DxgkDdiCreateHwContext: a set of queues on one node */
struct vgpu_context *vgpu_context_create(struct vgpu *gpu, unsigned int node, u32 os_handle);
/** vgpu_context_destroy - forget it; it has no queues */
void vgpu_context_destroy(struct vgpu_context *context);
/**
 * vgpu_context_suspend - DxgkDdiSuspendContext
 * @context: the context
 * @fence: number of this suspension, larger than any before
 *
 * No queue of it begins to run any more; those that run are preempted at once,
 * wherever they are. Doorbells stay connected.
 *
 * Return: true if none runs; false if CONTEXT_SUSPENDED will tell.
 */
bool vgpu_context_suspend(struct vgpu_context *context, u64 fence);
/** vgpu_context_acknowledged - last suspension that CONTEXT_SUSPENDED told. Any context. */
u64 vgpu_context_acknowledged(struct vgpu_context *context);
/** vgpu_context_resume - DxgkDdiResumeContext: queues with work enter the run list */
void vgpu_context_resume(struct vgpu_context *context);

/**
 * struct vgpu_queue_args - DxgkDdiCreateHwQueue
 */
struct vgpu_queue_args {
	/** @context: parent; NULL for the paging ring */
	struct vgpu_context *context;
	/** @vm: address space of its packets */
	struct vgpu_vm *vm;
	/** @node: node ordinal */
	unsigned int node;
	/** @os_handle: the driver's handle, returned in interrupt records */
	u32 os_handle;
	/** @kernel: a kernel ring: kernel opcodes, too; no doorbell page to arm */
	bool kernel;
};

/**
 * struct vgpu_doorbell_args - DxgkDdiCreateDoorbell
 */
struct vgpu_doorbell_args {
	/** @cookie: argument of arm_doorbell(); NULL: rung by call, never armed */
	void *cookie;
	/** @ring: the ring */
	void *ring;
	/** @ring_size: bytes, a power of two */
	u32 ring_size;
	/** @control: read and write pointers */
	struct drm_vfence_ring_control *control;
};

/**
 * struct vgpu_queue_status - state of a queue, a consistent copy
 */
struct vgpu_queue_status {
	/** @state: &enum drm_vfence_queue_state */
	u32 state;
	/** @fault: &enum drm_vfence_fault */
	u32 fault;
	/** @opcode: of the packet that faulted */
	u32 opcode;
	/** @ring_ptr: where that packet starts */
	u64 ring_ptr;
	/** @va: the address to blame */
	u64 va;
	/** @packets: completed */
	u64 packets;
	/** @log_packets: LOG packets executed */
	u64 log_packets;
	/** @busy_ns: GPU time charged to its packets */
	u64 busy_ns;
	/** @notifications: vgpu_doorbell_notify_work_submission() calls */
	u64 notifications;
};

struct vgpu_queue *vgpu_queue_create(struct vgpu *gpu, const struct vgpu_queue_args *args);
/** vgpu_queue_destroy - free a queue; aborts it first */
void vgpu_queue_destroy(struct vgpu_queue *queue);
/**
 * vgpu_queue_abort - stop a queue for good, whatever it is doing
 * @queue: the queue
 *
 * Bounded: a packet in flight is dropped at its next step; draws, copies and
 * hangs are cut short. On return no engine uses the queue.
 */
void vgpu_queue_abort(struct vgpu_queue *queue);
void vgpu_queue_query(struct vgpu_queue *queue, struct vgpu_queue_status *status);
/** vgpu_queue_is_idle - is it idle: a good victim? Any context. */
bool vgpu_queue_is_idle(struct vgpu_queue *queue);

/**
 * vgpu_log_set_buffer - DxgkDdiSetNativeFenceLogBuffer
 * @queue: the queue
 * @type: which log (the call is made for each, WDDM-98)
 * @log: the buffer, header filled, index and wrap count 0
 * @log_va: its GPU address, the same for the life of the queue
 *
 * On return the buffer before is complete and not written to any more (WDDM-97).
 * Any context.
 */
void vgpu_log_set_buffer(struct vgpu_queue *queue, enum drm_vfence_log_type type,
			 struct drm_vfence_log_header *log, u64 log_va);
/**
 * vgpu_log_commit - DxgkDdiUpdateNativeFenceLogs: commit entries
 * @gpu: the GPU
 * @queue: the batch: both logs of each queue
 * @count: its length
 *
 * Entries are posted writes: the index tells of them before they are in the
 * buffer. After this call those below a first-free index that was read before it
 * are. Any context. WDDM-91..93.
 */
void vgpu_log_commit(struct vgpu *gpu, struct vgpu_queue **queue, unsigned int count);
/** vgpu_log_set_level - DxgkDdiUpdateLoggingLevel: for all queues */
void vgpu_log_set_level(struct vgpu *gpu, enum drm_vfence_logging_level level);

/**
 * struct vgpu_log_geometry - how a client counts entries
 */
struct vgpu_log_geometry {
	/** @entries: of the wait log and of the signal log */
	u32 entries[2];
	/** @restart: it starts at 0 again */
	bool restart;
};

/** vgpu_doorbell_create - wire the ring; takes no physical doorbell */
void vgpu_doorbell_create(struct vgpu_queue *queue, const struct vgpu_doorbell_args *args);
/**
 * vgpu_doorbell_connect - DxgkDdiConnectDoorbell
 * @queue: the queue
 *
 * The hardware looks at the write pointer from now on. Return: CONNECTED, or
 * CONNECTED_NOTIFY if it wants to be told of every submission by a call, too.
 */
enum drm_vfence_doorbell_status vgpu_doorbell_connect(struct vgpu_queue *queue);
/** vgpu_doorbell_notify_work_submission - DxgkDdiNotifyWorkSubmission */
void vgpu_doorbell_notify_work_submission(struct vgpu_queue *queue);
/**
 * vgpu_log_get_geometry - how the client shall count from now on
 * @queue: the queue, its doorbell created
 * @take: the client takes a new geometry over with what it publishes next
 * @geometry: filled
 */
void vgpu_log_get_geometry(struct vgpu_queue *queue, bool take, struct vgpu_log_geometry *geometry);
/** vgpu_doorbell_disconnect - latch the write pointer and look no more */
void vgpu_doorbell_disconnect(struct vgpu_queue *queue);
/** vgpu_doorbell_destroy - unwire the ring; the queue must be idle or aborted */
void vgpu_doorbell_destroy(struct vgpu_queue *queue);
/** vgpu_doorbell_ring - a store hit the doorbell page. Any context. */
void vgpu_doorbell_ring(struct vgpu_queue *queue);
/**
 * vgpu_doorbell_recheck - second half of arming: look at the write pointer again
 * @queue: the queue
 *
 * Handshake (c): the caller has made the page fault and issued a full barrier.
 */
void vgpu_doorbell_recheck(struct vgpu_queue *queue);

#endif
