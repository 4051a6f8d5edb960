/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_TYPES_H_
#define _VGPU_TYPES_H_

/*
 * Inside of the virtual GPU. Nothing outside hw/ includes this.
 *
 * Locks, outer to inner:
 *   vgpu_vm.tlb      rwlock; engines read-hold it over one step, unmapping
 *                    takes it for writing to know that no step uses an old
 *                    entry: a TLB flush
 *   vgpu.residency   rwlock; engines read-hold it over one step, outside tlb;
 *                    moving a page of values takes it for writing
 *   vgpu.sched       queue states, run lists, blocked trees; irqsave
 *   vgpu_cmp.lock    the CMP's post FIFO; irqsave
 *   vgpu_log.lock    one log; irqsave
 *   vgpu_fence.missed_lock
 */

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "vfence_objects.h"
#include "vfence_rules.h"
#include "vfence_step.h"
#include "vgpu.h"
#include "vgpu_packet.h"

struct task_struct;

/* GPU time every packet costs at least: no client may loop for free. */
#define VGPU_PACKET_NS		100
/* How far an engine may run ahead of the clock before it sleeps. */
#define VGPU_SLACK_NS		(20 * NSEC_PER_USEC)
/* After this much GPU time another ready queue gets its turn. */
#define VGPU_QUANTUM_NS		NSEC_PER_MSEC
/* COPY and FILL: bytes of one step, and bytes per nanosecond (16 GB/s). */
#define VGPU_CHUNK		PAGE_SIZE
#define VGPU_BYTES_PER_NS	16
/* A release that concerns whoever is blocked, since when ever. */
#define VGPU_ANY_TIME		(~(u64)0)
/* Posts the CMP can hold before it falls back to a NULL event. */
#define VGPU_POSTS		256

/**
 * struct vgpu_post - what an engine tells the CMP
 */
struct vgpu_post {
	/** @type: &enum vgpu_irq_type */
	u32 type;
	/** @queue: OS-side handle of the queue; 0 for a post of the CMP itself */
	u32 queue;
	/** @unlogged: no LOG packet followed the signal */
	bool unlogged;
	/** @fence: signaled fence, for NATIVE_FENCE_SIGNALED */
	struct vgpu_fence *fence;
	/** @value: the value stored */
	u64 value;
	/** @time: GPU ticks when it had been stored */
	u64 time;
	/** @suspend_fence: for CONTEXT_SUSPENDED */
	u64 suspend_fence;
	/** @node: where it happened */
	u16 node;
};

/**
 * struct vgpu_cmp - the context management processor
 */
struct vgpu_cmp {
	/** @lock: protects all members but @task and @wait; counts are peeked at without */
	spinlock_t lock;
	/** @task: its thread */
	struct task_struct *task;
	/** @wait: the thread, and those who flush it, sleep here */
	wait_queue_head_t wait;
	/** @posted: posts put in, ever */
	u64 posted;
	/** @taken: posts taken out, ever */
	u64 taken;
	/** @done: posts fully handled, ever */
	u64 done;
	/** @null_nodes: posts found the FIFO full: for &struct vgpu_irq_ring.overflow */
	u32 null_nodes;
	/** @flushers: who waits for it, whatever is held back */
	atomic_t flushers;
	/** @stopped: no more posts */
	bool stopped;
	/** @fifo: the posts; place is the count modulo the size */
	struct vgpu_post fifo[VGPU_POSTS];
	/** @counters: exact */
	struct vgpu_counters counters;
};

/**
 * struct vgpu_engine - a physical engine: thread and what it is charged
 */
struct vgpu_engine {
	/** @gpu: parent */
	struct vgpu *gpu;
	/** @node: node ordinal */
	unsigned int node;
	/** @class_id: &enum drm_vfence_node_class */
	unsigned int class_id;
	/** @task: its thread */
	struct task_struct *task;
	/** @wait: the thread sleeps here, for work and for time */
	wait_queue_head_t wait;
	/** @run: run list of ready queues; vgpu.sched */
	struct list_head run;
	/** @active: queues not IDLE, FAULTED or ABORTED; vgpu.sched, peeked at without */
	unsigned int active;
	/** @f1: in F1; vgpu.sched */
	bool f1;
	/** @wants_f1: has asked for it; vgpu.sched */
	bool wants_f1;
	/** @running: the queue it works on; changes under vgpu.sched */
	struct vgpu_queue *running;
	/** @hung: @running gets nowhere, and that was told; vgpu.sched */
	bool hung;
	/** @held: was reset and not resumed: picks nothing; vgpu.sched */
	bool held;
	/** @free_at: when the work charged so far ends; thread only */
	ktime_t free_at;
	/** @quantum_end: when the running queue's turn ends; thread only */
	ktime_t quantum_end;
	/** @counters: thread only, read without a lock */
	struct drm_vfence_node_info counters;
};

/**
 * struct vgpu_doorbell - a physical doorbell
 */
struct vgpu_doorbell {
	/** @page: what a connected client stores to, at either address */
	struct page *page[2];
};

/**
 * struct vgpu - the GPU
 */
struct vgpu {
	/** @config: shape */
	struct vgpu_config config;
	/** @knobs: test switches */
	struct vgpu_knobs knobs;
	/** @ops: calls up */
	const struct vgpu_host_ops *ops;
	/** @host: their first argument */
	void *host;
	/** @name: for thread names */
	const char *name;
	/** @residency: engines read-hold it over one step, moving storage writes */
	rwlock_t residency;
	/** @local: video memory */
	void *local;
	/** @d3: powered off: engines pick nothing; vgpu.sched */
	bool d3;
	/** @os_caps: VGPU_OS_* */
	unsigned int os_caps;
	/** @sched: scheduling state of all engines */
	spinlock_t sched;
	/** @stopped: woken when a queue leaves its engine */
	wait_queue_head_t stopped;
	/** @engine: one per node */
	struct vgpu_engine engine[VGPU_MAX_NODES];
	/** @doorbell: physical doorbells */
	struct vgpu_doorbell doorbell[VGPU_MAX_DOORBELLS];
	/** @cmp: context management processor */
	struct vgpu_cmp cmp;
	/** @irq: interrupt ring */
	struct vgpu_irq_ring *irq;
	/** @system_vm: address space of the system process */
	struct vgpu_vm *system_vm;
	/** @native_fence_cap: it advertises native fences */
	bool native_fence_cap;
	/** @logging_level: &enum drm_vfence_logging_level */
	u32 logging_level;
	/** @log_buffers_set: see &struct vgpu_counters */
	atomic64_t log_buffers_set;
	/** @log_flushes: likewise */
	atomic64_t log_flushes;
	/** @log_queues_flushed: likewise */
	atomic64_t log_queues_flushed;
	/** @log_markers: likewise */
	atomic64_t log_markers;
	/** @monitored_updates: updates of monitored values */
	atomic64_t monitored_updates;
	/** @monitored_updates_irq: of these, in hard interrupts */
	atomic64_t monitored_updates_irq;
};

/**
 * struct vgpu_storage - a page of fence values
 */
struct vgpu_storage {
	/** @kva: where it is now; changes under vgpu.residency held for writing */
	void *kva;
	/** @local: in video memory */
	bool local;
} __aligned(64);

/**
 * struct vgpu_vm - GPU address space of one process
 */
struct vgpu_vm {
	/** @gpu: parent */
	struct vgpu *gpu;
	/** @tlb: see the lock table above */
	rwlock_t tlb;
	/** @pages: page table: page number to kernel address plus VGPU_VM_* */
	struct xarray pages;
	/** @slots: address of a current value / 8 to &struct vgpu_slot */
	struct xarray slots;
};

/**
 * struct vgpu_context - queues that are suspended and resumed together
 */
struct vgpu_context {
	/** @gpu: parent */
	struct vgpu *gpu;
	/** @node: node ordinal */
	unsigned int node;
	/** @os_handle: for interrupt records */
	u32 os_handle;
	/** @queues: &struct vgpu_queue; vgpu.sched */
	struct list_head queues;
	/** @running: of them, those on the engine; vgpu.sched */
	unsigned int running;
	/** @suspended: none may run; set under vgpu.sched, read without */
	bool suspended;
	/** @ack_due: CONTEXT_SUSPENDED is due when none runs any more; vgpu.sched */
	bool ack_due;
	/** @suspend_fence: number of the last suspension; vgpu.sched */
	u64 suspend_fence;
	/** @acknowledged: number of the last one that was acknowledged */
	u64 acknowledged;
};

/**
 * struct vgpu_slot - a fence as one address space sees it
 */
struct vgpu_slot {
	/** @fence: the fence; NULL for a monitored one */
	struct vgpu_fence *fence;
	/** @monitored_va: address of its monitored value */
	u64 monitored_va;
	/** @opens: holders in this address space */
	unsigned int opens;
	/** @waits: of these, those that may wait; read by engines */
	unsigned int waits;
	/** @signals: of these, those that may signal; read by engines */
	unsigned int signals;
};

/**
 * struct vgpu_fence - global object of a native fence
 */
struct vgpu_fence {
	/** @gpu: parent */
	struct vgpu *gpu;
	/** @os_handle: for interrupt records */
	u32 os_handle;
	/** @current_value: engines and, for CPU signals, the DDI store */
	struct vgpu_storage *current_value;
	/** @monitored_value: only vgpu_fence_update_monitored_values() stores */
	struct vgpu_storage *monitored_value;
	/** @offset: the slot in both, in bytes */
	u32 offset;
	/** @shadowed: engines compare with @shadow, not with the slot */
	bool shadowed;
	/** @shadow: the CMP's copy of the monitored value */
	u64 shadow;
	/** @monitored_system_va: where the CMP finds monitored_value, or 0 */
	u64 monitored_system_va;
	/** @blocked: queues in a wait on it, by awaited value; vgpu.sched */
	struct rb_root_cached blocked;
	/** @blocked_count: of them; changed under vgpu.sched, read without */
	atomic_t blocked_count;
	/** @always_signaled: waits pass, signals do nothing; set once */
	bool always_signaled;
	/** @signals: GPU signals executed */
	atomic64_t signals;
	/** @rewinds: values stored that were below the one before */
	atomic64_t rewinds;
	/** @missed_lock: protects @missed; innermost; irqsave */
	spinlock_t missed_lock;
	/** @missed: what no record told, since last asked */
	struct vgpu_missed missed;
	/** @private_data: the creator's bytes */
	u8 private_data[DRM_VFENCE_PRIVATE_DATA];
};

/* Entries of a log that may be on their way to the buffer. */
#define VGPU_LOG_POSTED		8

/**
 * struct vgpu_log - one log buffer as its producer sees it
 *
 * The client counts its LOG packets modulo the entries it was told, the buffer has
 * a place of its own: it may be replaced while old packets are in the ring.
 */
struct vgpu_log {
	/** @lock: protects all below; irqsave */
	spinlock_t lock;
	/** @header: the buffer */
	struct drm_vfence_log_header *header;
	/** @va: its GPU address */
	u64 va;
	/** @word: index and wrap count, our own copy */
	u64 word;
	/** @posted: entries told of by the index and not in the buffer yet */
	struct drm_vfence_log_entry posted[VGPU_LOG_POSTED];
	/** @posted_at: their indices */
	u32 posted_at[VGPU_LOG_POSTED];
	/** @posted_count: of them */
	unsigned int posted_count;
	/** @client_entries: what the client counts modulo */
	u32 client_entries;
	/** @client_next: index its next LOG packet must name */
	u32 client_next;
	/** @switching: from @switch_at in the ring on it counts anew */
	bool switching;
	/** @switch_at: ring pointer */
	u64 switch_at;
	/** @switch_entries: what it counts modulo then */
	u32 switch_entries;
};

/**
 * struct vgpu_exec - a packet in flight: all an engine knows between two steps
 */
struct vgpu_exec {
	/** @packet: private copy */
	union vgpu_packet packet;
	/** @in_flight: fetched and not complete */
	bool in_flight;
	/** @released: a blocked wait was met; its end time is in wait_end */
	bool released;
	/** @draws_left: DRAW */
	u32 draws_left;
	/** @cursor: COPY and FILL: bytes done */
	u64 cursor;
	/** @owed_ns: GPU time of it that had not passed when it was suspended */
	u64 owed_ns;
};

/**
 * struct vgpu_queue - a hardware queue
 *
 * ::
 *
 *            ring, connect            pick                 wait not met
 *    IDLE ------------------> READY -------> RUNNING ----------------> BLOCKED
 *     ^                       ^   ^             | | |                     |
 *     |       ring empty      |   +-------------+ | |       released      |
 *     +-----------------------|----------quantum--+ |  <- to READY -------+
 *                             |                     | bad packet
 *    any live state --abort--> ABORTED              +------> FAULTED
 *
 * A queue of a suspended context that is READY is not on the run list.
 */
struct vgpu_queue {
	/** @gpu: parent */
	struct vgpu *gpu;
	/** @vm: address space */
	struct vgpu_vm *vm;
	/** @engine: its node's engine */
	struct vgpu_engine *engine;
	/** @context: parent; NULL for the paging ring */
	struct vgpu_context *context;
	/** @context_link: in context->queues; vgpu.sched */
	struct list_head context_link;
	/** @os_handle: for interrupt records */
	u32 os_handle;
	/** @kernel: a kernel ring */
	bool kernel;
	/** @state: &enum drm_vfence_queue_state; vgpu.sched */
	u32 state;
	/** @abort: asked to stop; set under vgpu.sched, read without */
	bool abort;
	/** @connected: look at control->write_ptr; vgpu.sched */
	bool connected;
	/** @latched: write pointer while not connected; vgpu.sched */
	u64 latched;
	/** @run_link: place in the run list; vgpu.sched */
	struct list_head run_link;
	/** @block_node: place in the fence's tree; vgpu.sched */
	struct rb_node block_node;
	/** @block_fence: fence it waits for, while BLOCKED; vgpu.sched */
	struct vgpu_fence *block_fence;
	/** @block_value: value it waits for */
	u64 block_value;
	/** @cookie: doorbell, for calls up */
	void *cookie;
	/** @ring: the ring */
	void *ring;
	/** @ring_size: bytes */
	u32 ring_size;
	/** @control: pointers, shared with the client */
	struct drm_vfence_ring_control *control;
	/** @read_ptr: our own copy, the client cannot move it */
	u64 read_ptr;
	/** @ahead: how far the front end has looked for FETCHED; engine only */
	u64 ahead;
	/** @last_completed: of a kernel ring: last completed fence id */
	u64 last_completed;
	/** @last_fetched: of a kernel ring: last fetched fence id */
	u64 last_fetched;
	/** @exec: packet in flight */
	struct vgpu_exec exec;
	/** @wait_observed: GPU time the last wait was met */
	u64 wait_observed;
	/** @wait_end: GPU time it was satisfied */
	u64 wait_end;
	/** @signal_end: GPU time of the last signal */
	u64 signal_end;
	/** @log: wait log, signal log */
	struct vgpu_log log[2];
	/** @fault: why it stopped; vgpu.sched */
	u32 fault;
	/** @fault_opcode: vgpu.sched */
	u32 fault_opcode;
	/** @fault_va: vgpu.sched */
	u64 fault_va;
	/** @packets: completed; engine only */
	u64 packets;
	/** @log_packets: executed; engine only */
	u64 log_packets;
	/** @busy_ns: GPU time charged; engine only */
	u64 busy_ns;
	/** @notifications: calls that told of a submission */
	atomic64_t notifications;
};

/**
 * enum vgpu_step - how one step ended
 */
enum vgpu_step {
	/** @VGPU_STEP_MORE: go on */
	VGPU_STEP_MORE,
	/** @VGPU_STEP_STALLED: it took its time and got nowhere */
	VGPU_STEP_STALLED,
	/** @VGPU_STEP_IDLE: ring is empty */
	VGPU_STEP_IDLE,
	/** @VGPU_STEP_BLOCKED: left to a fence; no longer ours */
	VGPU_STEP_BLOCKED,
	/** @VGPU_STEP_PREEMPTED: quantum over, others are ready */
	VGPU_STEP_PREEMPTED,
	/** @VGPU_STEP_FAULT: bad packet */
	VGPU_STEP_FAULT,
	/** @VGPU_STEP_ABORTED: asked to stop */
	VGPU_STEP_ABORTED,
};

/* vgpu_feature.c */
void vgpu_feature_negotiate(struct vgpu *gpu);

/* vgpu_vm.c */
enum drm_vfence_fault vgpu_vm_translate(struct vgpu_vm *vm, u64 va, unsigned int need,
					void **kva);
struct vgpu_slot *vgpu_vm_slot(struct vgpu_vm *vm, u64 current_va);

/* vgpu_value.c */
static inline u64 *vgpu_value_slot(const struct vgpu_fence *fence,
				   const struct vgpu_storage *storage)
{
	return READ_ONCE(storage->kva) + fence->offset;
}

void vgpu_value_count_rewind(struct vgpu_fence *fence, u64 from, u64 to);
u64 vgpu_value_monitored(struct vgpu_fence *fence);
void vgpu_value_note_missed(struct vgpu_fence *fence, u64 value, u64 time);
bool vgpu_value_reached(struct vgpu_fence *fence, u64 value);

/* vgpu_fence.c */
void vgpu_fence_notify(struct vgpu_fence *fence, u64 value, u64 time);
bool vgpu_fence_block(struct vgpu_fence *fence, struct vgpu_queue *queue, u64 value);
void vgpu_fence_unblock_locked(struct vgpu_queue *queue);

/* vgpu_sched.c */
static inline bool vgpu_queue_is_suspended(const struct vgpu_queue *queue)
{
	return queue->context && READ_ONCE(queue->context->suspended);
}

struct vgpu_queue *vgpu_sched_pick(struct vgpu_engine *engine);
void vgpu_sched_put(struct vgpu_engine *engine, struct vgpu_queue *queue, enum vgpu_step why);
void vgpu_sched_set_state_locked(struct vgpu_queue *queue, u32 state);
void vgpu_sched_ready_locked(struct vgpu_queue *queue);
void vgpu_sched_look_locked(struct vgpu_queue *queue);
void vgpu_sched_stay_in_f0_locked(struct vgpu_engine *engine);
void vgpu_sched_left_locked(struct vgpu_queue *queue);
bool vgpu_sched_contended(struct vgpu_engine *engine);
bool vgpu_sched_sane_write_ptr(struct vgpu_queue *queue, u64 *write_ptr);

/* vgpu_exec.c */
enum vgpu_step vgpu_exec_step(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost);

/* vgpu_kernel.c */
enum drm_vfence_fault vgpu_kernel_check(const struct drm_vfence_packet_header *header,
					u64 available);
void vgpu_kernel_execute(struct vgpu_engine *engine, struct vgpu_queue *queue,
			 const union vgpu_packet *packet);
void vgpu_kernel_fetched(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 fence_id);

/* vgpu_power.c */
void vgpu_power_ask_f1(struct vgpu_engine *engine);
bool vgpu_power_may_ask_f1(const struct vgpu_engine *engine);

/* vgpu_reset.c */
void vgpu_reset_hung(struct vgpu_engine *engine);

/* vgpu_engine.c */
int vgpu_engine_start(struct vgpu_engine *engine);
void vgpu_engine_stop(struct vgpu_engine *engine);

/* vgpu_log.c */
void vgpu_log_init(struct vgpu_log *log);
void vgpu_log_new_ring(struct vgpu_log *log);
enum drm_vfence_fault vgpu_log_write(struct vgpu_queue *queue,
				     const struct drm_vfence_packet_log *packet);

/* vgpu_cmp.c */
int vgpu_cmp_start(struct vgpu *gpu);
void vgpu_cmp_stop(struct vgpu *gpu);
void vgpu_cmp_post(struct vgpu *gpu, const struct vgpu_post *post);
void vgpu_cmp_update_shadow(struct vgpu_fence *fence, u64 value);

#endif
