/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_H_
#define _VGPU_H_

/**
 * DOC: The virtual GPU's programming model
 *
 * The driver and the virtual GPU meet in this header only, but for what tests inject, in
 * vgpu_injection.h. Calls down have the names of WDDM's calls. Calls up are what a bus offers to
 * a device (&struct vgpu_host_ops). Both sides access the value slots, the rings, the control
 * pages, the logs and the interrupt ring in memory.
 *
 * A call whose description says "Any context." may be made from hard interrupt context and
 * with interrupts disabled. All other calls may sleep.
 */

#include <linux/atomic.h>
#include <linux/types.h>
#include "drm/vfence_drm.h"
#include "vfence_feature.h"
#include "vgpu_vf_switch.h"

struct vgpu;
struct vgpu_chip;
struct vgpu_fence;
struct vgpu_queue;
struct vgpu_vm;
struct vgpu_word;
struct vgpu_context;
struct page;

/** VGPU_MAX_NODES: maximum number of nodes of one GPU */
#define VGPU_MAX_NODES		8
/** VGPU_MAX_FUNCTIONS: maximum number of functions of one chip: a physical and 16 virtual ones */
#define VGPU_MAX_FUNCTIONS	17
/** VGPU_VF_SWITCH_GROUPS: number of groups of engines: graphics, compute and copy; and media */
#define VGPU_VF_SWITCH_GROUPS	2
/** VGPU_MAX_DOORBELLS: maximum number of physical doorbells of one GPU */
#define VGPU_MAX_DOORBELLS	64
/**
 * VGPU_MAX_CPU_PERCENT: maximum share of a processor that engines may use. The engines are
 * real-time threads of one priority: one that never sleeps starves the others.
 */
#define VGPU_MAX_CPU_PERCENT	90
/** VGPU_IRQ_RECORDS: number of records of the interrupt ring, a power of two */
#define VGPU_IRQ_RECORDS	64
/** VGPU_DOORBELL_SIZE: size of a doorbell, primary or secondary, in bytes */
#define VGPU_DOORBELL_SIZE	8
/** VGPU_IRQ_FENCES: maximum number of fences that one record names */
#define VGPU_IRQ_FENCES		4
/** VGPU_CLOCK_HZ: frequency of the GPU clock, in ticks per second */
#define VGPU_CLOCK_HZ		125000000ull

/** VGPU_OS_OPTIMIZED_FENCES: monitored values of DEFAULT fences may be in video memory */
#define VGPU_OS_OPTIMIZED_FENCES	BIT(0)
/** VGPU_OS_INTRA_GPU_FENCES: the driver may create fences of type INTRA_GPU */
#define VGPU_OS_INTRA_GPU_FENCES	BIT(1)

/**
 * enum vgpu_native_fence_support - how well the hardware supports native fences
 */
enum vgpu_native_fence_support {
	/** @VGPU_NATIVE_FENCE_NONE: The hardware has no native fences. */
	VGPU_NATIVE_FENCE_NONE,
	/** @VGPU_NATIVE_FENCE_FULL: The hardware supports native fences. */
	VGPU_NATIVE_FENCE_FULL,
	/** @VGPU_NATIVE_FENCE_EXPERIMENTAL: The support is an experiment. */
	VGPU_NATIVE_FENCE_EXPERIMENTAL,
	/** @VGPU_NATIVE_FENCE_NOT_NOW: The current configuration excludes native fences. */
	VGPU_NATIVE_FENCE_NOT_NOW,
	/**
	 * @VGPU_NATIVE_FENCE_UNASKED: Broken hardware: it advertises native fences, whatever
	 * &vgpu_host_ops.is_feature_enabled returns.
	 */
	VGPU_NATIVE_FENCE_UNASKED,
	/** @VGPU_NATIVE_FENCE_SUPPORTS: Number of the values above. */
	VGPU_NATIVE_FENCE_SUPPORTS,
};

/** VGPU_NATIVE_FENCE_VERSION_MIN: lowest version of the feature that the hardware supports */
#define VGPU_NATIVE_FENCE_VERSION_MIN	2
/** VGPU_NATIVE_FENCE_VERSION_MAX: highest version of the feature that the hardware supports */
#define VGPU_NATIVE_FENCE_VERSION_MAX	5
/** VGPU_STRIDE_MIN: least distance of two fence slots, in bytes */
#define VGPU_STRIDE_MIN			16

/**
 * struct vgpu_fence_caps - DXGK_NATIVE_FENCE_CAPS
 *
 * The creator of the GPU fills it in; it is constant afterwards.
 */
struct vgpu_fence_caps {
	/** @stride: Distance of the slots in one page, in bytes; a power of two. */
	u32 stride;

	/** @map_to_system: The values must be mapped for the system process, too (WDDM-60). */
	bool map_to_system;

	/** @minimum_address: Lowest GPU address of a page of values; 0 means no bound. */
	u64 minimum_address;
	/** @maximum_address: First GPU address above the pages of values; 0 means no bound. */
	u64 maximum_address;
};

/**
 * struct vgpu_host_ops - calls up, from the device to its bus
 */
struct vgpu_host_ops {
	/**
	 * @raise_vector: Deliver an interrupt. Several calls before the handler runs may
	 * become one interrupt. Any context.
	 */
	void (*raise_vector)(void *host);

	/**
	 * @arm_doorbell: A connected queue went idle, or was rung without work; @doorbell is
	 * its &vgpu_doorbell_args.cookie. Make the next ring of the doorbell visible, then
	 * call vgpu_doorbell_recheck(). The call is made under a spinlock, so it must not
	 * sleep.
	 */
	void (*arm_doorbell)(void *host, void *doorbell);

	/**
	 * @is_feature_enabled: DXGK_FEATURE_INTERFACE. vgpu_device_create() makes the call
	 * before the GPU advertises any feature (WDDM-46).
	 */
	bool (*is_feature_enabled)(void *host, enum drm_vfence_feature_id id);

	/**
	 * @invalidate_hw_context: DxgkCbInvalidateHwContext. The reset of an engine aborted
	 * a queue of the context with the OS-side handle @context. @collateral is true if
	 * the context did not cause the reset. vgpu_reset_engine(), vgpu_reset_adapter() and
	 * the resets by the host make the call.
	 */
	void (*invalidate_hw_context)(void *host, u32 context, bool collateral);

	/**
	 * @native_fence_os_caps: GetOSCaps. Returns VGPU_OS_* flags. vgpu_device_create()
	 * makes the call if native fences are enabled.
	 */
	unsigned int (*native_fence_os_caps)(void *host);
};

/**
 * enum vgpu_monitored_signal - how an engine signals monitored fences
 */
enum vgpu_monitored_signal {
	/** @VGPU_MONITORED_SIGNAL_NONE: It cannot signal them; the CPU signals them. */
	VGPU_MONITORED_SIGNAL_NONE,
	/** @VGPU_MONITORED_SIGNAL_BASIC: It writes the value and does not interrupt (WDDM-129). */
	VGPU_MONITORED_SIGNAL_BASIC,
	/** @VGPU_MONITORED_SIGNAL_ADVANCED: It writes the value and interrupts (WDDM-130). */
	VGPU_MONITORED_SIGNAL_ADVANCED,
	/** @VGPU_MONITORED_SIGNALS: Number of the values above. */
	VGPU_MONITORED_SIGNALS,
};

/**
 * struct vgpu_config - configuration of a GPU
 *
 * The creator of the GPU fills it in; it is constant afterwards.
 */
struct vgpu_config {
	/** @adapter: Number by which traces name the chip. */
	u32 adapter;
	/** @function: Index of the function, below VGPU_MAX_FUNCTIONS; 0: the physical one. */
	unsigned int function;
	/** @nodes: Number of nodes, 1 to VGPU_MAX_NODES. */
	unsigned int nodes;
	/** @node_class: &enum drm_vfence_node_class of each node. */
	u8 node_class[VGPU_MAX_NODES];

	/** @doorbells: Number of physical doorbells. */
	unsigned int doorbells;
	/** @secondary_doorbells: SecondaryDoorbellSupported: a doorbell has two addresses. */
	bool secondary_doorbells;

	/**
	 * @irq_records: Number of usable records of the interrupt ring. With 0 every
	 * interrupt is a NULL event, which names no fence and no queue.
	 */
	unsigned int irq_records;

	/** @f1_idle_us: Idle time after which an engine requests F1, in us; 0: never. */
	unsigned int f1_idle_us;
	/** @hung_us: Time without progress after which an engine is HUNG, in us; 0: never. */
	unsigned int hung_us;
	/**
	 * @preempt_us: GPU time for which a queue may keep other clients off its engine, in us,
	 * once they asked for it; 0: any time.
	 */
	unsigned int preempt_us;
	/**
	 * @cpu_percent: Share of a processor that the engines may use together, 1 to
	 * VGPU_MAX_CPU_PERCENT.
	 */
	unsigned int cpu_percent;

	/** @dependent_nodes: Mask of nodes that are reset together, or 0. */
	u32 dependent_nodes;

	/** @irq_form: &enum vgpu_irq_form. */
	unsigned int irq_form;

	/** @local_pages: Size of the video memory, in pages. */
	unsigned int local_pages;
	/** @visible_pages: Number of its first pages that the CPU can access. */
	unsigned int visible_pages;

	/** @native_fence: &enum vgpu_native_fence_support. */
	unsigned int native_fence;
	/** @no_64bit_atomics: No64BitAtomics: the values of monitored fences have 32 bits. */
	bool no_64bit_atomics;
	/** @monitored_signal: &enum vgpu_monitored_signal. */
	unsigned int monitored_signal;
	/** @fence_caps: Properties of native fences. */
	struct vgpu_fence_caps fence_caps;
};

/**
 * enum vgpu_irq_form - what the native-fence-signaled interrupt names
 */
enum vgpu_irq_form {
	/** @VGPU_IRQ_FORM_ARRAY: The fences. Without room in the ring it names none. */
	VGPU_IRQ_FORM_ARRAY,
	/**
	 * @VGPU_IRQ_FORM_QUEUE: The queue: OptimizedNativeFenceSignaledInterrupt. Without
	 * room in the ring it names none.
	 */
	VGPU_IRQ_FORM_QUEUE,
	/**
	 * @VGPU_IRQ_FORM_INDISTINCT: Nothing. It does not say either whether the fence is a
	 * native or a monitored one.
	 */
	VGPU_IRQ_FORM_INDISTINCT,
	/** @VGPU_IRQ_FORMS: Number of the values above. */
	VGPU_IRQ_FORMS,
};

/** VGPU_IRQ_EVALUATE_LEGACY: rescan monitored fences, too (WDDM-74) */
#define VGPU_IRQ_EVALUATE_LEGACY	BIT(0)
/** VGPU_IRQ_UNLOGGED: a signal of the record has no log entry: rescan live values */
#define VGPU_IRQ_UNLOGGED		BIT(1)
/** VGPU_OVERFLOW_UNLOGGED: in the overflow word: a signal without record has no log entry */
#define VGPU_OVERFLOW_UNLOGGED		BIT(VGPU_MAX_NODES)
/** VGPU_OVERFLOW_MONITORED: in the overflow word: a monitored fence was signaled (WDDM-73) */
#define VGPU_OVERFLOW_MONITORED		BIT(VGPU_MAX_NODES + 1)
/** VGPU_OVERFLOW_QUEUES: in the overflow word: a record without room was not about a fence */
#define VGPU_OVERFLOW_QUEUES		BIT(VGPU_MAX_NODES + 2)

/**
 * enum vgpu_irq_type - what a record reports; the numbers are WDDM's (WDDM-70)
 */
enum vgpu_irq_type {
	/** @VGPU_IRQ_DMA_COMPLETED: A submission of a kernel ring is completed or fetched. */
	VGPU_IRQ_DMA_COMPLETED = 1,
	/**
	 * @VGPU_IRQ_MONITORED_FENCE_SIGNALED: An engine wrote a monitored fence. The record
	 * names node and engine and not the fence. In the form INDISTINCT the record is a
	 * NATIVE_FENCE_SIGNALED without fences.
	 */
	VGPU_IRQ_MONITORED_FENCE_SIGNALED = 11,
	/** @VGPU_IRQ_CONTEXT_SUSPENDED: The last queue of a suspended context left the GPU. */
	VGPU_IRQ_CONTEXT_SUSPENDED = 17,
	/** @VGPU_IRQ_HWQUEUE_FAULTED: A packet of a queue faulted, and the queue stopped. */
	VGPU_IRQ_HWQUEUE_FAULTED = 12,
	/** @VGPU_IRQ_NATIVE_FENCE_SIGNALED: An engine signaled native fences. */
	VGPU_IRQ_NATIVE_FENCE_SIGNALED = 19,
	/** @VGPU_IRQ_GPU_ENGINE_STATE_CHANGE: Call vgpu_engine_query_state(). */
	VGPU_IRQ_GPU_ENGINE_STATE_CHANGE = 20,
	/** @VGPU_IRQ_MAILBOX: Call vgpu_mailbox_take(); WDDM has no such record. */
	VGPU_IRQ_MAILBOX = 100,
};

/**
 * enum vgpu_engine_state - DXGK_ENGINE_STATE
 */
enum vgpu_engine_state {
	/** @VGPU_ENGINE_ACTIVE: The engine works and requests nothing. */
	VGPU_ENGINE_ACTIVE,
	/** @VGPU_ENGINE_TRANSITION_TO_F1: The engine has been idle for long and requests F1. */
	VGPU_ENGINE_TRANSITION_TO_F1,
	/** @VGPU_ENGINE_HUNG: The engine makes no progress and requests a reset (WDDM-204). */
	VGPU_ENGINE_HUNG,
	/** @VGPU_ENGINE_FAULTED: A page fault requests something; see vgpu_reset_fault_flags(). */
	VGPU_ENGINE_FAULTED,
};

/**
 * enum vgpu_fault_flags - DXGK_PAGE_FAULT_FLAGS: what a page fault requests (WDDM-177)
 *
 * With none of them the fault costs the queue alone.
 */
enum vgpu_fault_flags {
	/** @VGPU_FAULT_ADAPTER_RESET_REQUIRED: The engine is unusable until the GPU is reset. */
	VGPU_FAULT_ADAPTER_RESET_REQUIRED = 0x4,
	/** @VGPU_FAULT_ENGINE_RESET_REQUIRED: The engine is unusable until it is reset. */
	VGPU_FAULT_ENGINE_RESET_REQUIRED = 0x8,
	/** @VGPU_FAULT_FATAL_HARDWARE_ERROR: The GPU is unusable. */
	VGPU_FAULT_FATAL_HARDWARE_ERROR = 0x10,
};

/**
 * struct vgpu_irq_fence - one signaled fence of a record, written by the CMP
 */
struct vgpu_irq_fence {
	/** @handle: OS-side global handle of the fence, given at its creation (WDDM-75). */
	u32 handle;
	/** @pad: Zero. */
	u32 pad;
	/** @value: Value that the engine stored; a later rewind does not change it. */
	u64 value;
	/** @time: GPU clock after the engine stored the value, in ticks. */
	u64 time;
};

/**
 * struct vgpu_irq_record - one record of the interrupt ring, written by the CMP
 */
struct vgpu_irq_record {
	/** @type: &enum vgpu_irq_type. */
	u32 type;

	/** @node: Node ordinal. */
	u16 node;
	/** @engine: Engine ordinal; always 0, because adapters are not linked. */
	u16 engine;

	/**
	 * @queue: OS-side handle. For HWQUEUE_FAULTED, for DMA_COMPLETED and in the form
	 * QUEUE it names the queue, and for CONTEXT_SUSPENDED the context. In all other
	 * records it has no meaning (WDDM-77).
	 */
	u32 queue;

	/** @flags: VGPU_IRQ_* flags. */
	u32 flags;

	/** @posts: Number of signals that the record reports. */
	u32 posts;

	/** @suspend_fence: For CONTEXT_SUSPENDED: the number of the completed suspension. */
	u64 suspend_fence;

	/** @count: Number of entries of @fence; it has no meaning in the form QUEUE (WDDM-76). */
	u32 count;
	/** @fence: Array of the signaled fences, in the form ARRAY. */
	struct vgpu_irq_fence fence[VGPU_IRQ_FENCES];
};

/**
 * struct vgpu_irq_ring - interrupt ring, in memory that driver and hardware access
 *
 * The indices run freely. Handshake (d): the CMP stores @overflow before it raises the
 * vector; the handler clears the pending latch of the vector before it loads @overflow.
 */
struct vgpu_irq_ring {
	/** @write: Index of the next record to write; only the CMP stores it, with release. */
	u32 write;
	/** @read: Index of the next record to read; only the driver stores it, with release. */
	u32 read;

	/**
	 * @overflow: Mask of the nodes that have a NULL event due, and VGPU_OVERFLOW_* flags.
	 * The CMP sets bits; the driver takes them all with an exchange.
	 */
	atomic_t overflow;

	/** @record: The records; only the CMP writes them. */
	struct vgpu_irq_record record[VGPU_IRQ_RECORDS];
};

/**
 * struct vgpu_counters - exact counters, which counter_table in vfence_counters.c describes
 */
struct vgpu_counters {
	/** @posts: Signals that engines and the CMP posted. */
	u64 posts;
	/** @rechecked_out: Posts that the CMP dropped after it compared once more. */
	u64 rechecked_out;
	/** @recorded: Posts that a record reports. */
	u64 recorded;
	/** @overflowed: Posts that became part of a NULL event. */
	u64 overflowed;

	/** @monitored_updates: Updates of monitored values. */
	u64 monitored_updates;
	/** @monitored_updates_irq: Updates of monitored values in hard interrupt context. */
	u64 monitored_updates_irq;

	/** @log_buffers_set: Log buffers that the driver set. */
	u64 log_buffers_set;
	/** @log_flushes: Calls that committed log entries. */
	u64 log_flushes;
	/** @log_queues_flushed: Queues in these calls. */
	u64 log_queues_flushed;
	/** @log_markers: Markers that were logged. */
	u64 log_markers;

	/** @shadow_posts: Posts of the CMP itself, after the update of a shadow copy. */
	u64 shadow_posts;
};

/* ------------------------------------------------------------- the device */

/**
 * vgpu_chip_create - create a chip
 * @config: valid configuration of its functions; the chip uses the number and the classes
 *          of the nodes and both times
 * @name: prefix of the names of its threads
 *
 * Return: the chip with one reference, or an ERR_PTR.
 */
struct vgpu_chip *vgpu_chip_create(const struct vgpu_config *config, const char *name);
/** vgpu_device_get_chip - return the chip of a function, with one more reference */
struct vgpu_chip *vgpu_device_get_chip(struct vgpu *gpu);
/** vgpu_chip_put - drop a reference of a chip; each of its functions has a reference, too */
void vgpu_chip_put(struct vgpu_chip *chip);
/**
 * vgpu_device_create - create a function of a chip; nothing runs before vgpu_device_start()
 * @chip: the chip
 * @config: valid configuration; nodes and times are those given to vgpu_chip_create()
 * @ops: calls up
 * @host: first argument of the calls up
 * @name: prefix of the names of its threads
 *
 * Return: the function, or an ERR_PTR: -ENOMEM.
 */
struct vgpu *vgpu_device_create(struct vgpu_chip *chip, const struct vgpu_config *config,
				const struct vgpu_host_ops *ops, void *host, const char *name);
/**
 * vgpu_feature_query_support - DxgkDdiQueryFeatureSupport
 * @config: configuration of the GPU
 * @id: the feature
 * @support: output: how well the hardware supports the feature
 *
 * Return: 0, or -EINVAL for a feature that the hardware does not know.
 */
int vgpu_feature_query_support(const struct vgpu_config *config, enum drm_vfence_feature_id id,
			       struct vfence_feature_support *support);
/** vgpu_feature_optimized_interrupt - DXGK_VIDSCHCAPS: true if interrupts have the form QUEUE */
bool vgpu_feature_optimized_interrupt(struct vgpu *gpu);
/** vgpu_feature_native_fence - DXGK_VIDSCHCAPS::NativeGpuFence: true if it is advertised */
bool vgpu_feature_native_fence(struct vgpu *gpu);
/** vgpu_device_start - start the CMP and the engines; returns 0 or a negative error code */
int vgpu_device_start(struct vgpu *gpu);
/**
 * vgpu_device_stop - stop engines and CMP for good
 * @gpu: the GPU
 *
 * After the return the GPU makes no call up. All objects stay valid until they are
 * destroyed. A queue that was running is aborted.
 */
void vgpu_device_stop(struct vgpu *gpu);
/** vgpu_device_destroy - free a GPU that has stopped and has no objects */
void vgpu_device_destroy(struct vgpu *gpu);
/** vgpu_device_system_vm - return the address space of the system process, which the CMP uses */
struct vgpu_vm *vgpu_device_system_vm(struct vgpu *gpu);
/** vgpu_power_f1_request - return the number of an engine's last request for F1 */
u64 vgpu_power_f1_request(struct vgpu *gpu, unsigned int node);
/**
 * vgpu_power_enter_f1 - move an idle engine to F1
 * @gpu: the GPU
 * @node: node of the engine
 * @request: number of the request
 *
 * The driver has disconnected the doorbells of the node since the request. The engine returns
 * to F0 when one of its queues gets work or is connected.
 *
 * Return: false if the engine has work, or if it has cancelled that request.
 */
bool vgpu_power_enter_f1(struct vgpu *gpu, unsigned int node, u64 request);
/** vgpu_power_in_f1 - return true if the engine of a node is in F1. Any context. */
bool vgpu_power_in_f1(struct vgpu *gpu, unsigned int node);
/**
 * vgpu_engine_query_state - return what an engine requests
 * @gpu: the GPU
 * @node: node of the engine
 *
 * HUNG is "not responsive" of DxgkDdiQueryEngineStatus. Any context.
 *
 * Return: the request; VGPU_ENGINE_ACTIVE if there is none.
 */
enum vgpu_engine_state vgpu_engine_query_state(struct vgpu *gpu, unsigned int node);
/**
 * struct vgpu_engine_status - what DxgkDdiQueryEngineStatus returns, and what a snapshot holds
 *
 * A turn is what an engine executes of a queue from its pick until it leaves: one packet of the
 * engine's hardware queue, in WDDM's words. The turns of a node have ids, which count up.
 */
struct vgpu_engine_status {
	/** @responsive: The engine makes progress. */
	bool responsive;
	/** @stalled: The packet on it makes none, and vgpu_reset_hold() cannot preempt it. */
	bool stalled;
	/** @turn: Id of the turn on the engine; 0 if the engine runs nothing of this function. */
	u64 turn;
	/** @context: OS-side handle of its context; 0 for the paging ring, and without a turn. */
	u32 context;
	/** @queue: OS-side handle of its queue; 0 for the paging ring, and without a turn. */
	u32 queue;
	/** @submitted: Id of the last turn that began. */
	u64 submitted;
	/**
	 * @completed: Id of the last turn that ended without preemption, or that a reset has
	 * aborted.
	 */
	u64 completed;
	/** @used_ns: GPU time charged to the packet in flight, in ns; 0 without one. */
	u64 used_ns;
	/** @progress: Number of packets that the queue on it has completed. */
	u64 progress;
};

/** VGPU_DEBUG_WORDS: number of words of a ring in &struct vgpu_debug_info */
#define VGPU_DEBUG_WORDS	64
/** VGPU_DEBUG_ENTRIES: number of entries of a log in &struct vgpu_debug_info */
#define VGPU_DEBUG_ENTRIES	4

/**
 * struct vgpu_debug_info - what DxgkDdiCollectDbgInfo returns of an engine
 */
struct vgpu_debug_info {
	/** @status: The status of the engine. */
	struct vgpu_engine_status status;
	/** @opcode: &enum drm_vfence_opcode of the packet in flight, or 0. */
	u32 opcode;
	/** @busy_ns: GPU time charged to the queue so far, in ns. */
	u64 busy_ns;
	/** @read_ptr: Ring pointer of the packet in flight. */
	u64 read_ptr;
	/** @write_ptr: Ring pointer of the end of the last packet. */
	u64 write_ptr;
	/** @count: Number of entries of @ring; 0 if the engine runs nothing of this function. */
	unsigned int count;
	/** @from: Ring pointer of the first entry of @ring. */
	u64 from;
	/** @ring: The ring around @read_ptr. */
	u64 ring[VGPU_DEBUG_WORDS];
	/** @logged: Number of entries in @log. */
	unsigned int logged[2];
	/** @log: The last entries of the wait log and of the signal log, the oldest one first. */
	struct drm_vfence_log_entry log[2][VGPU_DEBUG_ENTRIES];
};

/**
 * vgpu_engine_ask - ask an engine that executes a queue of this GPU for a sign of life
 * @gpu: the GPU
 * @node: node of the engine
 *
 * Any context.
 *
 * Return: number of the request, not 0; or 0 if the engine executes nothing of this GPU.
 */
u64 vgpu_engine_ask(struct vgpu *gpu, unsigned int node);
/**
 * vgpu_engine_has_answered - has an engine answered a request
 * @gpu: the GPU
 * @node: node of the engine
 * @request: from vgpu_engine_ask()
 *
 * Any context.
 *
 * Return: true also if the engine executes nothing of this GPU any more.
 */
bool vgpu_engine_has_answered(struct vgpu *gpu, unsigned int node, u64 request);
/**
 * vgpu_engine_waited_ns - how long an engine has stood still for want of a processor
 * @gpu: the GPU
 * @node: node of the engine
 *
 * An engine is a thread. It does not hang while others keep it from the processors. Any context.
 *
 * Return: ns since it started, give or take a difference of clocks; 0 if the kernel does not count.
 */
u64 vgpu_engine_waited_ns(struct vgpu *gpu, unsigned int node);
/** vgpu_reset_collect_debug - DxgkDdiCollectDbgInfo; changes nothing. Any context. */
void vgpu_reset_collect_debug(struct vgpu *gpu, unsigned int node, struct vgpu_debug_info *info);
/**
 * vgpu_reset_collect_queue - collect the same of a queue that hangs, or did until it was taken off
 * @queue: the queue
 * @info: output; the turn is the queue's last one
 *
 * Any context.
 */
void vgpu_reset_collect_queue(struct vgpu_queue *queue, struct vgpu_debug_info *info);
/** vgpu_reset_query_engine - DxgkDdiQueryEngineStatus; may sleep */
void vgpu_reset_query_engine(struct vgpu *gpu, unsigned int node,
			     struct vgpu_engine_status *status);
/** vgpu_reset_fault_flags - what page faults on an engine request until a reset. Any context. */
u32 vgpu_reset_fault_flags(struct vgpu *gpu, unsigned int node);
/**
 * vgpu_reset_dependent_nodes - DxgkDdiQueryDependentEngineGroup
 * @gpu: the GPU
 * @node: node of an engine
 *
 * Return: mask of the nodes that a reset of this node also resets, with the node itself.
 */
u32 vgpu_reset_dependent_nodes(struct vgpu *gpu, unsigned int node);
/**
 * vgpu_reset_hold - let an engine pick no other queue
 * @gpu: the GPU
 * @node: node of the engine
 * @preempt: take the queue off that runs, even inside a packet, unless the packet makes no
 *           progress
 * @status: output: the status at that moment
 *
 * Until vgpu_reset_resume_engine() or vgpu_reset_restart(). Any context.
 */
void vgpu_reset_hold(struct vgpu *gpu, unsigned int node, bool preempt,
		     struct vgpu_engine_status *status);
/** vgpu_reset_wait_left - wait until an engine runs nothing; returns false after @ms */
bool vgpu_reset_wait_left(struct vgpu *gpu, unsigned int node, unsigned int ms);
/**
 * vgpu_reset_engine - DxgkDdiResetEngine, DxgkDdiResetHwEngine
 * @gpu: the GPU
 * @node: node of the engine, which is held
 * @ms: how long it may take
 * @last_aborted: output: LastAbortedFenceId, the id of the turn that was aborted, or of the
 *                last one that completed
 *
 * If a queue of this GPU runs on the engine, it is aborted at once, and invalidate_hw_context()
 * reports its context. If the queue has left by itself since the engine was held, its context is
 * reported as well (WDDM-151).
 *
 * Return: 0; -EIO if the engine cannot be reset: nothing has changed then; or -ETIME if the reset
 * has not ended: only vgpu_reset_adapter() helps.
 */
int vgpu_reset_engine(struct vgpu *gpu, unsigned int node, unsigned int ms, u64 *last_aborted);
/**
 * vgpu_reset_resume_engine - DxgkDdiResumeHwEngine: the engine picks queues again
 * @gpu: the GPU
 * @node: node of the engine, which is held
 *
 * Return: 0, or -EIO: the engine stays held, and vgpu_reset_adapter() is the way out.
 */
int vgpu_reset_resume_engine(struct vgpu *gpu, unsigned int node);
/**
 * vgpu_reset_adapter - DxgkDdiResetFromTimeout: reset all that this function has
 * @gpu: the GPU
 *
 * All queues that exist are dead. On return the GPU accesses no memory, the contents of video
 * memory are lost, and the last completed id of each node is the last submitted one
 * (WDDM-158).
 *
 * Return: 0, or -EIO if the GPU cannot be reset.
 */
int vgpu_reset_adapter(struct vgpu *gpu);
/**
 * vgpu_reset_flr - the host resets a function
 * @gpu: the function
 *
 * As vgpu_reset_adapter(), which the driver of the function has to call afterwards, with
 * vgpu_reset_restart(): before that no engine picks queues of the function, also if its driver is
 * resetting it at the same time. Several threads may reset a function.
 *
 * Return: 0, or -EIO if the function cannot be reset alone.
 */
int vgpu_reset_flr(struct vgpu *gpu);
/**
 * vgpu_reset_with_chip - the host resets the whole GPU; call it for each function
 * @gpu: the function
 *
 * As vgpu_reset_flr(), but this does not fail.
 */
void vgpu_reset_with_chip(struct vgpu *gpu);
/**
 * vgpu_reset_restart - DxgkDdiRestartFromTimeout: engines pick new queues
 * @gpu: the GPU, after vgpu_reset_adapter(); nothing is in video memory
 *
 * While a host gives the engines to functions, a function must own all of them to start again.
 *
 * Return: 0, -EIO if the GPU does not start, or -EACCES if it does not own the engines.
 */
int vgpu_reset_restart(struct vgpu *gpu);
/** vgpu_reset_give_up - no engine picks queues of this GPU any more, and other GPUs go on */
void vgpu_reset_give_up(struct vgpu *gpu);
/** vgpu_power_is_idle - return true if no queue has work or is blocked. Any context. */
bool vgpu_power_is_idle(struct vgpu *gpu);
/**
 * vgpu_power_enter_d3 - power off; video memory loses its contents
 * @gpu: the GPU, its doorbells disconnected, its values in system memory
 *
 * No queue runs until vgpu_power_enter_d0(). Work that arrives meanwhile waits.
 *
 * Return: false if a queue has work; the GPU stays in D0 then.
 */
bool vgpu_power_enter_d3(struct vgpu *gpu);
/** vgpu_power_enter_d0 - power on; engines pick queues that have work */
void vgpu_power_enter_d0(struct vgpu *gpu);
/** vgpu_device_irq_ring - return the interrupt ring. Any context. */
struct vgpu_irq_ring *vgpu_device_irq_ring(struct vgpu *gpu);
/**
 * vgpu_doorbell_page - return the page of a physical doorbell
 * @gpu: the GPU
 * @index: number of the doorbell
 * @secondary: return the page of its second address; needs vgpu_config.secondary_doorbells
 */
struct page *vgpu_doorbell_page(struct vgpu *gpu, unsigned int index, bool secondary);
/** vgpu_clock_now - return the clock that all GPUs share, in ticks. Any context. */
u64 vgpu_clock_now(struct vgpu *gpu);
/** vgpu_clock_query - sample the GPU clock, in ticks, and CLOCK_MONOTONIC, in ns, at once */
void vgpu_clock_query(struct vgpu *gpu, u64 *gpu_ticks, u64 *cpu_ns);
/**
 * struct vgpu_node_counters - totals of a node since the function was probed
 */
struct vgpu_node_counters {
	/** @packets: packets that completed */
	u64 packets;
	/** @signals: fence signals executed */
	u64 signals;
	/** @suppressed: signals that needed no interrupt */
	u64 suppressed;
	/** @log_packets: LOG packets executed */
	u64 log_packets;
	/** @waits_stalled: fence waits that stalled their queue */
	u64 waits_stalled;
	/** @busy_ns: GPU time that packets cost, in ns */
	u64 busy_ns;
};

/** vgpu_engine_query_node - read the counters of a node. Any context. */
void vgpu_engine_query_node(struct vgpu *gpu, unsigned int node, struct vgpu_node_counters *info);
/** vgpu_cmp_query_counters - read all counters of &struct vgpu_counters. Any context. */
void vgpu_cmp_query_counters(struct vgpu *gpu, struct vgpu_counters *c);

/* ----------------------------------------------------------- world switch */

/**
 * vgpu_vf_switch_command - give a command to the controller of a group of engines
 * @gpu: any function of the chip
 * @group: number of the group
 * @command: &enum vgpu_vf_switch_command
 * @function: LOAD, INIT, SHUTDOWN: the function; NULL otherwise
 * @timeout_us: IDLE: how long the engines may take to stop, in us
 *
 * Returns when the command is done. SAVE, and LOAD or INIT, take half of the time of a switch
 * each.
 *
 * IDLE stops graphics and compute engines between two draws, then the copy engine at once; media
 * engines between two packets. An engine picks nothing while it is to stop. The queue that it had
 * is the first one that it executes when its function owns the group again.
 *
 * Return: 0; -EINVAL if the command is not legal in the state of the group; -ETIME if an engine has
 * not stopped: the command can be repeated; -EIO if the hardware fails (an injection of the
 * function).
 */
int vgpu_vf_switch_command(struct vgpu *gpu, unsigned int group, unsigned int command,
			   struct vgpu *function, unsigned int timeout_us);

/**
 * struct vgpu_vf_switch_ops - calls from the GPU to the host, which switches the engines
 *
 * They are called under a spinlock with interrupts off.
 */
struct vgpu_vf_switch_ops {
	/** @edge: a function has turned busy or idle in a group, at a time in ns */
	void (*edge)(void *host, unsigned int group, unsigned int function, u64 at);
	/** @mail: the driver of a function has sent a message, see vgpu_mailbox_send() */
	void (*mail)(void *host, unsigned int function, u32 message);
};

/**
 * vgpu_vf_switch_attach - report edges and messages of functions from now on
 * @gpu: any function of the chip
 * @ops: the calls; NULL: report nothing, and no call is running on return
 * @host: their first argument
 */
void vgpu_vf_switch_attach(struct vgpu *gpu, const struct vgpu_vf_switch_ops *ops, void *host);
/**
 * vgpu_vf_switch_due - the next command is due at this time
 * @gpu: any function of the chip
 * @group: number of the group
 * @at: in ns. The thread that gives the command wakes up a little later, which costs no GPU time:
 *      what the engines have begun since counts as not begun
 */
void vgpu_vf_switch_due(struct vgpu *gpu, unsigned int group, u64 at);
/** vgpu_vf_switch_stopped_at - when the last IDLE stopped the engines, nominally, in ns */
u64 vgpu_vf_switch_stopped_at(struct vgpu *gpu, unsigned int group);
/** vgpu_vf_switch_run_at - nominal time from which the engines serve their owner, in ns */
u64 vgpu_vf_switch_run_at(struct vgpu *gpu, unsigned int group);
/** vgpu_vf_switch_is_busy - has the function queues to execute in a group. Any context. */
bool vgpu_vf_switch_is_busy(struct vgpu *gpu, unsigned int group);
/** vgpu_vf_switch_flush - report the messages of all earlier edges of a chip */
void vgpu_vf_switch_flush(struct vgpu *gpu);
/** vgpu_vf_switch_was_saved - does LOAD find something of the function in a group */
bool vgpu_vf_switch_was_saved(struct vgpu *gpu, unsigned int group);
/** vgpu_vf_switch_index - index of a function that has started */
unsigned int vgpu_vf_switch_index(const struct vgpu *gpu);
/** vgpu_vf_switch_set_switch_ns - configure the time that a world switch takes, in ns */
void vgpu_vf_switch_set_switch_ns(struct vgpu *gpu, u64 ns);

/**
 * struct vgpu_vf_switch_counters - exact counters of a function in a group
 */
struct vgpu_vf_switch_counters {
	/** @turned_busy: Number of times that it got work when it had none. */
	u64 turned_busy;
	/** @turned_idle: Number of times that it had none left. */
	u64 turned_idle;
	/** @refused: Number of illegal commands to the group. */
	u64 refused;
};

/** vgpu_vf_switch_query - read the counters of a function in a group */
void vgpu_vf_switch_query(struct vgpu *gpu, unsigned int group,
			  struct vgpu_vf_switch_counters *counters);

/* ------------------------------------------------------- state of a function */

/** vgpu_image_size - size in bytes of an image of a function, beside its video memory */
size_t vgpu_image_size(struct vgpu *gpu);
/** vgpu_image_new_tag - return the number of a pause, which no other pause on the chip has */
u64 vgpu_image_new_tag(struct vgpu *gpu);
/**
 * vgpu_image_save - save registers and queue states of a function, without its video memory
 * @gpu: the function, which owns no engines
 * @tag: vgpu_image_new_tag() of the pause; vgpu_image_load() needs the same one
 * @image: output
 * @size: size of @image
 *
 * Return: 0, or -EAGAIN if @size is not vgpu_image_size() any more.
 */
int vgpu_image_save(struct vgpu *gpu, u64 tag, void *image, size_t size);
/**
 * vgpu_image_check - can an image be loaded
 * @gpu: the function, which owns no engines
 * @tag: vgpu_image_new_tag() of the pause that the image must be from
 * @image: the image
 * @size: its size
 *
 * Return: 0; -EBADMSG if the bytes are no image or have been changed; -ESTALE if the image is from
 * another pause, another function or before a reset, or if queues were created or destroyed since.
 */
int vgpu_image_check(struct vgpu *gpu, u64 tag, const void *image, size_t size);
/** vgpu_image_load - load an image; as vgpu_image_check(), and nothing changes on an error */
int vgpu_image_load(struct vgpu *gpu, u64 tag, const void *image, size_t size);
/** vgpu_image_memory - the video memory of a function, and its size */
void *vgpu_image_memory(struct vgpu *gpu, size_t *bytes);
/** vgpu_image_generation - number of resets of a function so far; a reset makes images stale */
unsigned int vgpu_image_generation(struct vgpu *gpu);
/** vgpu_image_lose - for tests: overwrite the state of a function that owns no engines */
void vgpu_image_lose(struct vgpu *gpu);

/* ---------------------------------------------------------------- mailbox */

/**
 * enum vgpu_mail_to_host - messages from the driver of a function
 *
 * The host counts other messages and ignores them.
 */
enum vgpu_mail_to_host {
	/** @VGPU_MAIL_REQUEST_INIT: Request all engines exclusively, to set up the function. */
	VGPU_MAIL_REQUEST_INIT = 1,
	/** @VGPU_MAIL_RELEASE_INIT: Release the engines, or cancel the request. */
	VGPU_MAIL_RELEASE_INIT = 2,
	/** @VGPU_MAIL_REQUEST_FINI: Request all engines exclusively, to tear the function down. */
	VGPU_MAIL_REQUEST_FINI = 3,
	/** @VGPU_MAIL_RELEASE_FINI: Release the engines, or cancel the request. */
	VGPU_MAIL_RELEASE_FINI = 4,
	/** @VGPU_MAIL_REQUEST_RESET: Request a reset of the function. */
	VGPU_MAIL_REQUEST_RESET = 5,
	/** @VGPU_MAIL_READY_TO_RESET: Answer to FLR_NOTICE: the driver is ready. */
	VGPU_MAIL_READY_TO_RESET = 201,
};

/**
 * enum vgpu_mail_to_guest - messages of the host
 */
enum vgpu_mail_to_guest {
	/** @VGPU_MAIL_READY_TO_ACCESS: The function has all engines exclusively. */
	VGPU_MAIL_READY_TO_ACCESS = 1,
	/** @VGPU_MAIL_FLR_NOTICE: The host is about to reset the function. */
	VGPU_MAIL_FLR_NOTICE = 2,
	/** @VGPU_MAIL_FLR_DONE: The function was reset for a fault of its own. Set it up again. */
	VGPU_MAIL_FLR_DONE = 3,
	/** @VGPU_MAIL_FAIL: The request for the engines is refused. */
	VGPU_MAIL_FAIL = 5,
	/** @VGPU_MAIL_GPU_RESET_DONE: The GPU was reset for a fault of another function. */
	VGPU_MAIL_GPU_RESET_DONE = 8,
};

/**
 * vgpu_mailbox_send - send a message to the host
 * @gpu: the function
 * @message: &enum vgpu_mail_to_host
 *
 * Any context. Return: false if there is no host: the chip has no virtual functions.
 */
bool vgpu_mailbox_send(struct vgpu *gpu, u32 message);
/**
 * vgpu_mailbox_notify - the host sends a message to the driver of a function, with an interrupt
 * @gpu: the function
 * @message: &enum vgpu_mail_to_guest
 */
void vgpu_mailbox_notify(struct vgpu *gpu, u32 message);
/** vgpu_mailbox_take - take the messages of the host: a mask by their numbers. Any context. */
u32 vgpu_mailbox_take(struct vgpu *gpu);

/* ---------------------------------------------------------------- storage */

/** VGPU_SEGMENT_SYSTEM: system memory */
#define VGPU_SEGMENT_SYSTEM		BIT(0)
/** VGPU_SEGMENT_LOCAL_VISIBLE: video memory that the CPU can access */
#define VGPU_SEGMENT_LOCAL_VISIBLE	BIT(1)
/** VGPU_SEGMENT_LOCAL: video memory that the CPU cannot access */
#define VGPU_SEGMENT_LOCAL		BIT(2)

/**
 * enum vgpu_fence_value - names one of the two values of a fence
 */
enum vgpu_fence_value {
	/** @VGPU_CURRENT_VALUE: The current value. */
	VGPU_CURRENT_VALUE,
	/** @VGPU_MONITORED_VALUE: The monitored value. */
	VGPU_MONITORED_VALUE,
};

/**
 * struct vgpu_placement - the answer of D3DKMDT_FENCESTORAGESURFACEDATA (WDDM-27)
 */
struct vgpu_placement {
	/** @supported: VGPU_SEGMENT_* flags of the segments where the values may be. */
	unsigned int supported;
	/** @preferred: VGPU_SEGMENT_* flag of the best of these segments. */
	unsigned int preferred;
	/** @eviction: VGPU_SEGMENT_* flags of the segments to which the values may be evicted. */
	unsigned int eviction;
};

/**
 * vgpu_storage_query_placement - DxgkDdiGetStandardAllocation for the storage of fences
 * @gpu: the GPU
 * @type: type of the fences
 * @value: current or monitored values
 * @answer: output
 */
void vgpu_storage_query_placement(struct vgpu *gpu, enum drm_vfence_fence_type type,
				  enum vgpu_fence_value value, struct vgpu_placement *answer);
/** vgpu_storage_aperture - return the CPU address of a visible page of video memory, or NULL */
void *vgpu_storage_aperture(struct vgpu *gpu, u64 page);

/*
 * struct vgpu_storage: a page of fence values in system or video memory. Fences and address
 * spaces refer to the storage and not to its memory, so that the memory can move while they
 * are in use (&struct vgpu_packet_storage).
 */
struct vgpu_storage;

/** vgpu_storage_create_system - create a storage in system memory at @kva; or an ERR_PTR */
struct vgpu_storage *vgpu_storage_create_system(struct vgpu *gpu, void *kva);
/** vgpu_storage_create_local - create a storage that gets a page of video memory; or an ERR_PTR */
struct vgpu_storage *vgpu_storage_create_local(struct vgpu *gpu);
/** vgpu_storage_place - give a page of video memory to a new storage, without clearing the page */
void vgpu_storage_place(struct vgpu *gpu, struct vgpu_storage *storage, u64 page);
/**
 * vgpu_storage_evicted - BuildPagingBuffer(TRANSFER) with size 0: a storage has lost its contents
 * @gpu: the GPU
 * @storage: the storage, in video memory before vgpu_reset_adapter()
 * @kva: where it is from now on, in system memory
 */
void vgpu_storage_evicted(struct vgpu *gpu, struct vgpu_storage *storage, void *kva);
/** vgpu_storage_destroy - free a storage that no fence and no mapping uses */
void vgpu_storage_destroy(struct vgpu_storage *storage);

/* ------------------------------------------------------------ kernel rings */

/**
 * enum vgpu_kernel_opcode - packets that only kernel rings may hold
 */
enum vgpu_kernel_opcode {
	/** @VGPU_OP_CLEAR_STORAGE: &struct vgpu_packet_storage: fill the page with zeroes. */
	VGPU_OP_CLEAR_STORAGE = 0x8000,
	/** @VGPU_OP_EVICT_STORAGE: &struct vgpu_packet_storage: move the page to @kva. */
	VGPU_OP_EVICT_STORAGE = 0x8001,
	/** @VGPU_OP_COMPLETE: &struct vgpu_packet_complete: all packets before are completed. */
	VGPU_OP_COMPLETE = 0x8002,
	/**
	 * @VGPU_OP_FETCHED: &struct vgpu_packet_complete: all packets before are fetched. The
	 * front end executes it as soon as it has fetched the packet before, while that
	 * packet may run for long.
	 */
	VGPU_OP_FETCHED = 0x8003,
};

/** VGPU_OP_KERNEL: lowest opcode that only kernel rings may hold */
#define VGPU_OP_KERNEL		VGPU_OP_CLEAR_STORAGE

/**
 * struct vgpu_packet_storage - paging packet: move or clear a page of values
 *
 * An engine accesses all values of the page at the old place, or all at the new one.
 */
struct vgpu_packet_storage {
	/** @header: Its length is 24 bytes. */
	struct drm_vfence_packet_header header;
	/** @storage: Pointer to the &struct vgpu_storage. */
	u64 storage;
	/** @kva: Kernel address of the system memory to which the page moves. */
	u64 kva;
};

/**
 * struct vgpu_packet_complete - publish a fence id as completed or fetched, then interrupt
 */
struct vgpu_packet_complete {
	/** @header: Its length is 16 bytes. */
	struct drm_vfence_packet_header header;
	/** @fence_id: The last completed, or last fetched, fence id of the ring from now on. */
	u64 fence_id;
};

/** vgpu_kernel_last_completed - return the last completed fence id of a ring. Any context. */
u64 vgpu_kernel_last_completed(struct vgpu_queue *queue);
/** vgpu_kernel_last_fetched - return the last fetched fence id of a kernel ring. Any context. */
u64 vgpu_kernel_last_fetched(struct vgpu_queue *queue);
/**
 * vgpu_kernel_completed_busy_ns - GPU time of a kernel ring at its last completed fence id
 * @queue: the kernel ring
 *
 * Any context.
 *
 * Return: the GPU time that the ring had used when the id was published, in ns.
 */
u64 vgpu_kernel_completed_busy_ns(struct vgpu_queue *queue);

/* --------------------------------------------------------- address spaces */

/** VGPU_VM_DATA: COPY, FILL and TIMESTAMP may access the page, subject to its other rights */
#define VGPU_VM_DATA	BIT(4)
/** VGPU_VM_READ: the GPU may read the page */
#define VGPU_VM_READ	BIT(2)
/** VGPU_VM_WRITE: the GPU may write the page */
#define VGPU_VM_WRITE	BIT(3)

/**
 * vgpu_account_create - create an account of engine time
 * @gpu: the GPU
 * @user: account of the user to whom a process belongs, or NULL for the account of a user
 * @id: number of the user, the same for all his accounts, also later ones; 0 is the system
 *
 * Return: the account or an ERR_PTR.
 */
struct vgpu_account *vgpu_account_create(struct vgpu *gpu, struct vgpu_account *user, u64 id);
/** vgpu_account_destroy - free an account that no address space and no other account uses */
void vgpu_account_destroy(struct vgpu_account *account);
/**
 * vgpu_account_throttle - let a user leave engines to others until he is unthrottled
 * @gpu: the GPU
 * @user: account of the user
 * @recent_ns: only engines that others wait for, or have had within this time
 *
 * A queue of the user that has an engine keeps it until another user wants it. Any context.
 */
void vgpu_account_throttle(struct vgpu *gpu, struct vgpu_account *user, u64 recent_ns);
/** vgpu_account_unthrottle - undo vgpu_account_throttle(), if that was called; any context */
void vgpu_account_unthrottle(struct vgpu *gpu, struct vgpu_account *user);

/**
 * vgpu_vm_create - create an empty GPU address space
 * @gpu: the GPU
 * @account: whom the GPU charges for what queues with this address space use
 *
 * Return: the address space or an ERR_PTR.
 */
struct vgpu_vm *vgpu_vm_create(struct vgpu *gpu, struct vgpu_account *account);
/** vgpu_vm_destroy - free an address space that no queue uses */
void vgpu_vm_destroy(struct vgpu_vm *vm);
/**
 * vgpu_vm_map - map whole pages
 * @vm: the address space
 * @va: first GPU address; the range is not mapped
 * @kva: kernel address of the memory
 * @size: size of the range, in bytes
 * @flags: VGPU_VM_* flags
 *
 * Return: 0 or -ENOMEM; nothing is mapped after an error.
 */
int vgpu_vm_map(struct vgpu_vm *vm, u64 va, void *kva, u64 size, unsigned int flags);
/** vgpu_vm_map_storage - map a page of values; the mapping follows the page when it moves */
int vgpu_vm_map_storage(struct vgpu_vm *vm, u64 va, struct vgpu_storage *storage,
			unsigned int flags);
/** vgpu_vm_unmap - unmap whole pages; after the return no engine accesses them */
void vgpu_vm_unmap(struct vgpu_vm *vm, u64 va, u64 size);

/* ------------------------------------------------------------------ fences */

/**
 * struct vgpu_fence_args - arguments of DxgkDdiCreateNativeFence
 */
struct vgpu_fence_args {
	/** @os_handle: The driver's handle, which interrupt records name. */
	u32 os_handle;

	/** @type: Type of the fence. The CPU does not wait for INTRA_GPU fences. */
	enum drm_vfence_fence_type type;

	/** @current_value: Storage of the current value; it outlives the fence. */
	struct vgpu_storage *current_value;
	/**
	 * @monitored_value: Storage of the monitored value; it outlives the fence. If it is
	 * in video memory at the creation, the CMP keeps a shadow copy, and the engines
	 * compare with the copy.
	 */
	struct vgpu_storage *monitored_value;
	/** @offset: Offset of the fence's slot in both storages, in bytes. */
	u32 offset;

	/**
	 * @current_system_va: Address in the system process, where the CMP reads the value;
	 * 0 if it is not mapped there (WDDM-60).
	 */
	u64 current_system_va;
	/**
	 * @monitored_system_va: Address in the system process, where the CMP reads the value;
	 * 0 if it is not mapped there (WDDM-60).
	 */
	u64 monitored_system_va;

	/** @private_data: The creator's bytes; the fence keeps a copy (WDDM-39). */
	const u8 *private_data;
};

/** vgpu_fence_create - DxgkDdiCreateNativeFence: create the global object; or an ERR_PTR */
struct vgpu_fence *vgpu_fence_create(struct vgpu *gpu, const struct vgpu_fence_args *args);
/** vgpu_fence_private_data - return the DRM_VFENCE_PRIVATE_DATA bytes of the creator */
const u8 *vgpu_fence_private_data(struct vgpu_fence *fence);
/**
 * struct vgpu_open_args - arguments of vgpu_vm_open_fence()
 */
struct vgpu_open_args {
	/** @fence: The fence; NULL for the value of a monitored fence. */
	struct vgpu_fence *fence;
	/** @word: The value of a monitored fence, which kernel rings write; or NULL. */
	struct vgpu_word *word;
	/** @os_handle: Handle by which vgpu_word_next_written() names @word; constant. */
	u32 os_handle;
	/** @current_va: GPU address of the current value. */
	u64 current_va;
	/** @monitored_va: GPU address of the monitored value. */
	u64 monitored_va;
	/** @rights: DRM_VFENCE_RIGHT_* flags of this holder. */
	u32 rights;
};

/**
 * vgpu_vm_open_fence - DxgkDdiOpenNativeFence: let the queues of an address space use a fence
 * @vm: the address space
 * @args: the fence, and how the address space sees it
 *
 * Call it once for each holder. All holders in one address space use one pair of addresses,
 * so a packet may do what any of the holders may do. The caller serialises opens and closes
 * of one address space.
 *
 * Return: 0 or -ENOMEM.
 */
int vgpu_vm_open_fence(struct vgpu_vm *vm, const struct vgpu_open_args *args);
/**
 * vgpu_vm_close_fence - DxgkDdiCloseNativeFence
 * @vm: the address space
 * @current_va: address given at the open
 * @rights: rights given at the open
 *
 * After the return no engine uses the fence in @vm by the rights of this holder.
 */
void vgpu_vm_close_fence(struct vgpu_vm *vm, u64 current_va, u32 rights);
/**
 * vgpu_fence_destroy - DxgkDdiDestroyNativeFence: call it after the last close
 * @fence: the fence
 *
 * After the return the GPU accesses neither slot, no queue is blocked on the fence, and
 * every record that names it is in the interrupt ring.
 */
void vgpu_fence_destroy(struct vgpu_fence *fence);
/**
 * struct vgpu_missed - all signals of a fence that no record reported, taken together
 */
struct vgpu_missed {
	/** @value: The highest value of these signals. */
	u64 value;
	/** @time: GPU clock after the last of these values was stored, in ticks. */
	u64 time;
};

/**
 * vgpu_fence_take_missed - take the signals that no record reported
 * @fence: the fence
 * @missed: output: the signals since the last call; zeroes if there are none
 *
 * The driver calls it when it rescans fences after a NULL event, so that a value that was
 * rewound meanwhile still completes its waiters. In forms other than ARRAY it returns every
 * signal. Any context.
 */
void vgpu_fence_take_missed(struct vgpu_fence *fence, struct vgpu_missed *missed);
/**
 * vgpu_fence_rewinds - return how often a smaller value than before was stored
 * @fence: the fence
 *
 * The counter includes stores by engines and by vgpu_fence_update_current_values(). It is
 * incremented before the value is stored: a reader that sees the value sees the increment.
 * Any context.
 */
u64 vgpu_fence_rewinds(struct vgpu_fence *fence);
/**
 * vgpu_word_create - create the value of a monitored fence
 * @is_32bit: the GPU stores 32 bits at once
 *
 * Members of a cross-adapter fence share one. Return: the word, or an ERR_PTR.
 */
struct vgpu_word *vgpu_word_create(bool is_32bit);
/** vgpu_word_destroy - free a word that is open in no address space */
void vgpu_word_destroy(struct vgpu_word *word);
/**
 * vgpu_word_store - a CPU signal: store a value
 * @word: the word
 * @slot: kernel address of the value
 * @value: the value
 *
 * The caller completes the waits that it satisfies. Any context.
 */
void vgpu_word_store(struct vgpu_word *word, void *slot, u64 value);
/**
 * vgpu_word_take - take the signals by packets
 * @word: the word
 * @missed: output: the highest value that packets have stored since the last call; its upper half
 *	is zero if the word has 32 bits
 *
 * A thread that has read a value that a packet stored, or any later one, finds it here, unless
 * another thread has taken it. Any context.
 *
 * Return: false if there are none: @missed is unchanged then.
 */
bool vgpu_word_take(struct vgpu_word *word, struct vgpu_missed *missed);
/**
 * vgpu_word_next_written - take one of the words that packets of a GPU have stored
 * @gpu: the GPU
 * @handle: output: handle of the word, as the address space of the queue was given it
 *
 * The record of a monitored fence does not name the fence (WDDM-130). The driver takes the words
 * that were written since the last call, so that its cost depends only on what was signaled.
 * Any context.
 *
 * Return: false if there are none.
 */
bool vgpu_word_next_written(struct vgpu *gpu, u32 *handle);
/** vgpu_word_rewinds - as vgpu_fence_rewinds(), for stores by packets and by vgpu_word_store() */
u64 vgpu_word_rewinds(struct vgpu_word *word);
/** vgpu_cmp_flush - wait until every signal executed before the call is in the interrupt ring */
void vgpu_cmp_flush(struct vgpu *gpu);
/**
 * vgpu_cmp_try_flush - as vgpu_cmp_flush(), but not for long
 * @gpu: the GPU
 * @ms: time that the CMP has; that in which it waits for a processor does not count
 *
 * Return: false if the CMP has not handled the posts by then.
 */
bool vgpu_cmp_try_flush(struct vgpu *gpu, unsigned int ms);
/**
 * vgpu_cmp_backlog - posts that the CMP has not handled
 * @gpu: the GPU
 * @done: output: number of posts that it has handled so far
 *
 * Any context.
 *
 * Return: true if there are any.
 */
bool vgpu_cmp_backlog(struct vgpu *gpu, u64 *done);
/** vgpu_cmp_is_quiet - true if what was stored before is in the interrupt ring; any context */
bool vgpu_cmp_is_quiet(struct vgpu *gpu);
/** vgpu_fence_signals - return the number of GPU signals of a fence. Any context. */
u64 vgpu_fence_signals(struct vgpu_fence *fence);

/**
 * struct vgpu_value_update - one element of a batch of value updates
 */
struct vgpu_value_update {
	/** @fence: The fence. */
	struct vgpu_fence *fence;
	/** @kernel_va: Kernel address of its slot; valid only during the call (WDDM-64). */
	u64 *kernel_va;
	/** @value: The value to store. */
	u64 value;
	/**
	 * @time: For NOTIFICATION_ONLY: GPU clock after the value was stored, in ticks. The
	 * update does not release a queue that began to wait later, because that queue has
	 * compared with a newer value.
	 */
	u64 time;
};

/**
 * vgpu_fence_update_monitored_values - DxgkDdiUpdateMonitoredValues
 * @gpu: the GPU
 * @update: the batch
 * @count: number of its elements
 *
 * When the caller loads a current value after the return, one of two cases holds (WDDM-16):
 * the load returns the engine's last value, or the engine that stores a newer value compares
 * it with the new monitored value. Any context. The caller serialises the updates of one
 * fence with its interrupt handler.
 *
 * Return: 0, or -EIO, which is fatal for the adapter (WDDM-68, subcode 0x12).
 */
int vgpu_fence_update_monitored_values(struct vgpu *gpu, const struct vgpu_value_update *update,
				       unsigned int count);

/**
 * VGPU_UPDATE_ALWAYS_SIGNALED: from now on every GPU wait for the fence passes and every
 * signal of it has no effect (WDDM-66, WDDM-67); the update stores no value
 */
#define VGPU_UPDATE_ALWAYS_SIGNALED	BIT(0)
/**
 * VGPU_UPDATE_NOTIFICATION_ONLY: the value is stored already: release the queues that it
 * satisfies and do not store it (WDDM-65)
 */
#define VGPU_UPDATE_NOTIFICATION_ONLY	BIT(1)

/**
 * vgpu_fence_update_current_values - DxgkDdiUpdateCurrentValuesFromCpu
 * @gpu: the GPU
 * @update: the batch
 * @count: number of its elements
 * @flags: VGPU_UPDATE_* flags, for all elements
 *
 * Store the values and release the queues whose waits they satisfy (WDDM-62, WDDM-63). Any
 * context. The caller serialises the storing updates of one fence.
 *
 * Return: 0, or -EIO, which is fatal for the adapter (WDDM-68, subcode 0x13).
 */
int vgpu_fence_update_current_values(struct vgpu *gpu,
				     const struct vgpu_value_update *update,
				     unsigned int count, unsigned int flags);

/* ------------------------------------------------------ queues, doorbells */

/** vgpu_context_create - DxgkDdiCreateHwContext: create a set of queues on one node */
struct vgpu_context *vgpu_context_create(struct vgpu *gpu, unsigned int node, u32 os_handle);
/** vgpu_context_destroy - free a context that has no queues */
void vgpu_context_destroy(struct vgpu_context *context);
/**
 * vgpu_context_suspend - DxgkDdiSuspendContext
 * @context: the context
 * @fence: number of this suspension, larger than all before
 *
 * The engine picks no queue of the context any more and preempts a running one at once, even
 * inside a packet. Doorbells stay connected.
 *
 * Return: true if no queue runs; false if a CONTEXT_SUSPENDED record will report it.
 */
bool vgpu_context_suspend(struct vgpu_context *context, u64 fence);
/** vgpu_context_acknowledged - return the last suspension that was acknowledged. Any context. */
u64 vgpu_context_acknowledged(struct vgpu_context *context);
/** vgpu_context_resume - DxgkDdiResumeContext: queues that have work enter the run list */
void vgpu_context_resume(struct vgpu_context *context);

/**
 * struct vgpu_queue_args - arguments of DxgkDdiCreateHwQueue
 */
struct vgpu_queue_args {
	/** @context: Context of the queue; NULL for the paging ring. */
	struct vgpu_context *context;
	/** @vm: Address space of its packets. */
	struct vgpu_vm *vm;
	/** @node: Node ordinal. */
	unsigned int node;
	/** @os_handle: The driver's handle, which interrupt records name. */
	u32 os_handle;
	/** @kernel: The queue has a kernel ring: it takes kernel opcodes and is not armed. */
	bool kernel;
};

/**
 * struct vgpu_doorbell_args - arguments of DxgkDdiCreateDoorbell
 */
struct vgpu_doorbell_args {
	/** @cookie: Argument of arm_doorbell(). With NULL calls ring the doorbell; no arming. */
	void *cookie;

	/** @ring: Kernel address of the ring. */
	void *ring;
	/** @ring_size: Size of the ring in bytes, a power of two. */
	u32 ring_size;
	/** @control: Read pointer, which the engine stores, and the client's write pointer. */
	struct drm_vfence_ring_control *control;
};

/**
 * struct vgpu_queue_status - state of a queue, copied under the scheduler's lock
 */
struct vgpu_queue_status {
	/** @state: &enum drm_vfence_queue_state. */
	u32 state;

	/** @guilty: It caused the reset that aborted it. */
	bool guilty;
	/** @requested: Its fault has requested a reset. */
	bool requested;
	/** @fault: &enum drm_vfence_fault. */
	u32 fault;
	/** @opcode: Opcode of the packet that faulted. */
	u32 opcode;
	/** @ring_ptr: Ring pointer of the packet that faulted. */
	u64 ring_ptr;
	/** @va: GPU address that faulted. */
	u64 va;

	/** @packets: Number of completed packets. */
	u64 packets;
	/** @log_packets: Number of LOG packets that were executed. */
	u64 log_packets;
	/** @busy_ns: GPU time charged to its packets, in ns. */
	u64 busy_ns;
	/** @notifications: Number of calls of vgpu_doorbell_notify_work_submission(). */
	u64 notifications;

	/** @blocked_fence: OS-side handle of the fence that blocks it, or 0. */
	u32 blocked_fence;
	/** @blocked_value: Value that the fence must reach. */
	u64 blocked_value;
};

/** vgpu_queue_create - DxgkDdiCreateHwQueue: create an idle queue; or an ERR_PTR */
struct vgpu_queue *vgpu_queue_create(struct vgpu *gpu, const struct vgpu_queue_args *args);
/** vgpu_queue_destroy - abort a queue and free it */
void vgpu_queue_destroy(struct vgpu_queue *queue);
/**
 * vgpu_queue_abort - stop a queue for good, in any state
 * @queue: the queue
 *
 * The time is bounded: the engine drops a packet in flight at its next step, and draws,
 * copies and hangs are cut short. After the return no engine uses the queue.
 */
void vgpu_queue_abort(struct vgpu_queue *queue);
/** vgpu_queue_query - copy the state and the counters of a queue. Any context. */
void vgpu_queue_query(struct vgpu_queue *queue, struct vgpu_queue_status *status);
/**
 * vgpu_queue_kept_off_ns - for how long has a queue had the engine that nothing takes off it
 * @queue: the queue that waits for the engine
 *
 * That is a queue of the same client, or any queue if preempt_us is 0. Any context.
 *
 * Return: the time in ns for which that queue has had its turn and @queue could have had one; or 0.
 */
u64 vgpu_queue_kept_off_ns(struct vgpu_queue *queue);
/**
 * vgpu_queue_take_kept_ns - how long did an aborted queue not leave the engine to others
 * @queue: the queue
 *
 * The first call after the abort gets the time, and later calls get 0. Any context.
 *
 * Return: GPU time in ns from when others asked for the engine until the queue was aborted, or 0 if
 * nobody had asked.
 */
u64 vgpu_queue_take_kept_ns(struct vgpu_queue *queue);
/** vgpu_queue_is_idle - return true if a queue is IDLE, so that it is a victim. Any context. */
bool vgpu_queue_is_idle(struct vgpu_queue *queue);

/**
 * vgpu_log_set_buffer - DxgkDdiSetNativeFenceLogBuffer
 * @queue: the queue
 * @type: the log; each log takes its own call (WDDM-98)
 * @log: the buffer; its header is filled in, index and wrap count are 0
 * @log_va: its GPU address, constant for the life of the queue
 *
 * After the return the buffer before is complete, and the engine does not write to it any
 * more (WDDM-97). Any context.
 */
void vgpu_log_set_buffer(struct vgpu_queue *queue, enum drm_vfence_log_type type,
			 struct drm_vfence_log_header *log, u64 log_va);
/**
 * vgpu_log_want - somebody wants to know of the new entries of a queue's logs
 * @queue: the queue, until its end
 *
 * Any context.
 */
void vgpu_log_want(struct vgpu_queue *queue);
/**
 * vgpu_log_has_wanted - does vgpu_log_take_logged() return a queue that vgpu_log_want() names
 * @gpu: the function
 *
 * The GPU may change the answer at once. It has changed before the interrupt of a signal that has
 * an entry. Any context.
 */
bool vgpu_log_has_wanted(struct vgpu *gpu);
/**
 * vgpu_log_take_logged - take queues whose logs got entries since they were last taken
 * @gpu: the function
 * @nodes: mask of the nodes of the queues
 * @handle: output: OS-side handles of the queues, the oldest entries of a node first
 * @max: maximum number of handles
 *
 * The driver reads both logs of each queue after the call, so that it visits no queue without
 * news. Any context.
 *
 * Return: number of handles; if it is less than @max no such queue is left.
 */
unsigned int vgpu_log_take_logged(struct vgpu *gpu, u32 nodes, u32 *handle, unsigned int max);

/**
 * vgpu_log_commit - DxgkDdiUpdateNativeFenceLogs: commit entries
 * @gpu: the GPU
 * @queue: array of queues; both logs of each are committed
 * @count: number of queues
 *
 * An entry is a posted write: the index includes it before it is in the buffer. After the
 * return all entries below a first-free index that was read before the call are in the
 * buffer. Any context. WDDM-91, WDDM-92, WDDM-93.
 */
void vgpu_log_commit(struct vgpu *gpu, struct vgpu_queue **queue, unsigned int count);
/** vgpu_log_set_level - DxgkDdiUpdateLoggingLevel: set the level of all queues. Any context. */
void vgpu_log_set_level(struct vgpu *gpu, enum drm_vfence_logging_level level);

/**
 * struct vgpu_log_geometry - how a client counts its log entries
 */
struct vgpu_log_geometry {
	/** @entries: Number of entries of the wait log and of the signal log. */
	u32 entries[2];
	/** @restart: The client starts to count at 0 again. */
	bool restart;
};

/** vgpu_doorbell_create - connect a queue to its ring; takes no physical doorbell */
void vgpu_doorbell_create(struct vgpu_queue *queue, const struct vgpu_doorbell_args *args);
/**
 * vgpu_doorbell_connect - DxgkDdiConnectDoorbell
 * @queue: the queue
 *
 * From now on the hardware loads the write pointer of the client.
 *
 * Return: CONNECTED; or CONNECTED_NOTIFY if the driver must also call
 * vgpu_doorbell_notify_work_submission() for each submission.
 */
enum drm_vfence_doorbell_status vgpu_doorbell_connect(struct vgpu_queue *queue);
/** vgpu_doorbell_notify_work_submission - DxgkDdiNotifyWorkSubmission. Any context. */
void vgpu_doorbell_notify_work_submission(struct vgpu_queue *queue);
/**
 * vgpu_log_get_geometry - return how the client must count log entries from now on
 * @queue: the queue, its doorbell created
 * @take: the client uses a new geometry for the packets that it publishes next
 * @geometry: output
 */
void vgpu_log_get_geometry(struct vgpu_queue *queue, bool take, struct vgpu_log_geometry *geometry);
/** vgpu_doorbell_disconnect - latch the write pointer and do not load the client's any more */
void vgpu_doorbell_disconnect(struct vgpu_queue *queue);
/** vgpu_doorbell_destroy - take the ring from a queue that is idle or aborted */
void vgpu_doorbell_destroy(struct vgpu_queue *queue);
/** vgpu_doorbell_ring - the client stored to the doorbell page. Any context. */
void vgpu_doorbell_ring(struct vgpu_queue *queue);
/**
 * vgpu_doorbell_recheck - second half of arming: load the write pointer again
 * @queue: the queue
 *
 * Handshake (c): the caller has made the page fault and has passed a full barrier. Any
 * context.
 */
void vgpu_doorbell_recheck(struct vgpu_queue *queue);

#endif
