/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_TYPES_H_
#define _VGPU_TYPES_H_

/*
 * Inside of the virtual GPU. Nothing outside hw/ includes this.
 *
 * Locks, outer to inner:
 *   vgpu_chip.residency      rwlock; an engine holds it for reading over one step;
 *                            moving a page of values takes it for writing
 *   vgpu_vm.tlb              rwlock; an engine holds it for reading over one step;
 *                            unmapping takes it for writing, so that no step uses an
 *                            old entry afterwards: a TLB flush
 *   vgpu_chip.sched          queue states, run lists, trees of blocked queues; irqsave
 *   vgpu_cmp.lock            the CMP's post FIFO and shadow copies; irqsave
 *   vgpu_log.lock            one log; irqsave
 *   vgpu_fence.missed_lock   signals that no record named; irqsave
 */

#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
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
 * struct vgpu_node - a node of one function: its part of an engine
 */
struct vgpu_node {
	/** @gpu: the function */
	struct vgpu *gpu;
	/** @engine: the engine that serves it */
	struct vgpu_engine *engine;

	/** @run: run list of READY queues; vgpu_chip.sched */
	struct list_head run;
	/** @active: queues not IDLE, FAULTED or ABORTED; vgpu_chip.sched, read without */
	unsigned int active;

	/** @f1: the function let the engine go to F1; vgpu_chip.sched */
	bool f1;
	/** @wants_f1: the engine has asked the function for it; vgpu_chip.sched */
	bool wants_f1;

	/** @counters: written by the engine's thread, read without a lock */
	struct drm_vfence_node_info counters;
};

/**
 * struct vgpu_engine - a physical engine: thread and what it is charged
 */
struct vgpu_engine {
	/** @chip: parent */
	struct vgpu_chip *chip;
	/** @node: node ordinal */
	unsigned int node;
	/** @class_id: &enum drm_vfence_node_class */
	unsigned int class_id;
	/** @task: its thread */
	struct task_struct *task;
	/** @wait: the thread sleeps here, for work and for time */
	wait_queue_head_t wait;

	/** @turn: index of the function whose turn is next; vgpu_chip.sched */
	unsigned int turn;
	/** @running: the queue it works on; changes under vgpu_chip.sched */
	struct vgpu_queue *running;
	/** @hung: @running makes no progress, and that was reported; vgpu_chip.sched */
	bool hung;
	/** @held: resets without a resume: it picks nothing; vgpu_chip.sched */
	unsigned int held;

	/** @free_at: when the work charged so far ends; thread only */
	ktime_t free_at;
	/** @quantum_end: when the running queue's turn ends; thread only */
	ktime_t quantum_end;
};

/**
 * struct vgpu_chip - the silicon, shared by its functions
 */
struct vgpu_chip {
	/** @ref: its creator, and each function */
	struct kref ref;
	/** @name: prefix of the names of threads */
	char name[16];
	/** @nodes: engines it has */
	unsigned int nodes;
	/** @f1_idle_us: see &vgpu_config.f1_idle_us */
	unsigned int f1_idle_us;
	/** @hung_us: see &vgpu_config.hung_us */
	unsigned int hung_us;

	/** @sched: scheduling state of all engines and functions; irqsave */
	spinlock_t sched;
	/** @stopped: woken when a queue leaves its engine */
	wait_queue_head_t stopped;
	/** @engine: one per node */
	struct vgpu_engine engine[VGPU_MAX_NODES];
	/** @function: functions that have started, or NULL; changes under both locks */
	struct vgpu *function[VGPU_MAX_FUNCTIONS];
	/** @functions: one more than the index of the last in @function; like it */
	unsigned int functions;

	/** @lock: serialises functions that come, start, stop and go; outside @sched */
	struct mutex lock;
	/** @joined: mask of functions that exist; @lock */
	unsigned long joined;
	/** @started: number of functions that have started; @lock */
	unsigned int started;

	/** @residency: an engine holds it for reading over one step, moving storage for writing */
	rwlock_t residency;
};

/**
 * struct vgpu_doorbell - a physical doorbell
 */
struct vgpu_doorbell {
	/** @page: what a connected client stores to, at either address */
	struct page *page[2];
};

/**
 * struct vgpu - a function of a chip: what one adapter has
 */
struct vgpu {
	/** @chip: the silicon */
	struct vgpu_chip *chip;
	/** @index: place in vgpu_chip.function; constant */
	unsigned int index;
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
	/** @local: its part of the video memory */
	void *local;
	/** @d3: powered off: no engine picks its queues; vgpu_chip.sched */
	bool d3;
	/** @os_caps: VGPU_OS_* */
	unsigned int os_caps;
	/** @node: its nodes */
	struct vgpu_node node[VGPU_MAX_NODES];
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
	/** @kva: where it is now; changes under vgpu_chip.residency held for writing */
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
	/** @queues: &struct vgpu_queue; vgpu_chip.sched */
	struct list_head queues;
	/** @running: of them, those on the engine; vgpu_chip.sched */
	unsigned int running;
	/** @suspended: none may run; set under vgpu_chip.sched, read without */
	bool suspended;
	/** @ack_due: CONTEXT_SUSPENDED is due when none runs any more; vgpu_chip.sched */
	bool ack_due;
	/** @suspend_fence: number of the last suspension; vgpu_chip.sched */
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
	/** @blocked: queues in a wait on it, by awaited value; vgpu_chip.sched */
	struct rb_root_cached blocked;
	/** @blocked_count: of them; changed under vgpu_chip.sched, read without */
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
	/** @node: its node */
	struct vgpu_node *node;
	/** @context: parent; NULL for the paging ring */
	struct vgpu_context *context;
	/** @context_link: in context->queues; vgpu_chip.sched */
	struct list_head context_link;
	/** @os_handle: for interrupt records */
	u32 os_handle;
	/** @kernel: a kernel ring */
	bool kernel;
	/** @state: &enum drm_vfence_queue_state; vgpu_chip.sched */
	u32 state;
	/** @abort: asked to stop; set under vgpu_chip.sched, read without */
	bool abort;
	/** @connected: look at control->write_ptr; vgpu_chip.sched */
	bool connected;
	/** @latched: write pointer while not connected; vgpu_chip.sched */
	u64 latched;
	/** @run_link: place in the run list; vgpu_chip.sched */
	struct list_head run_link;
	/** @block_node: place in the fence's tree; vgpu_chip.sched */
	struct rb_node block_node;
	/** @block_fence: fence it waits for, while BLOCKED; vgpu_chip.sched */
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
	/** @fault: why it stopped; vgpu_chip.sched */
	u32 fault;
	/** @fault_opcode: vgpu_chip.sched */
	u32 fault_opcode;
	/** @fault_va: vgpu_chip.sched */
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
void vgpu_sched_stay_in_f0_locked(struct vgpu_node *node);
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
bool vgpu_power_may_ask_f1(struct vgpu_engine *engine);

/* vgpu_reset.c */
void vgpu_reset_hung(struct vgpu_engine *engine, struct vgpu_queue *queue);

/* vgpu_chip.c */
int vgpu_chip_join(struct vgpu_chip *chip, struct vgpu *gpu, unsigned int local_pages);
void vgpu_chip_leave(struct vgpu_chip *chip, struct vgpu *gpu);
int vgpu_chip_start(struct vgpu_chip *chip, struct vgpu *gpu);
void vgpu_chip_stop(struct vgpu_chip *chip, struct vgpu *gpu);

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
