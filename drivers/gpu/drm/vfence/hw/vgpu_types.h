/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_TYPES_H_
#define _VGPU_TYPES_H_

/*
 * Types and functions of the virtual GPU. Files outside hw/ do not include this header.
 *
 * Locks, from outer to inner:
 *   vgpu_chip.lock           mutex; functions that start and stop
 *   vgpu_group.lock          mutex; commands to the controller of a group
 *   vgpu.queues_lock         mutex; the list of all queues of a function
 *   vgpu_chip.residency      rwlock; an engine holds it for reading over one step; a move of
 *                            a page of values takes it for writing
 *   vgpu_vm.tlb              rwlock; an engine holds it for reading over one step; an unmap
 *                            takes it for writing, so that no step uses an old entry
 *                            afterwards: a TLB flush
 *   vgpu_chip.sched          queue states, run lists, trees of blocked queues; irqsave
 *   vgpu_cmp.lock            the CMP's post FIFO and shadow copies; irqsave. The CMP takes
 *                            the tlb of the system process inside it, in which no engine
 *                            runs packets of a client
 *   vgpu_log.lock            one log; irqsave
 *   vgpu.logged_lock         queues whose logs got entries; irqsave
 *   vgpu_fence.missed_lock   signals that no record named; irqsave
 */

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "vfence_leak_check.h"
#include "vfence_race_point.h"
#include "vfence_rules.h"
#include "vgpu.h"
#include "vgpu_injection.h"
#include "vgpu_packet.h"
#include "vgpu_stop.h"
#include "vgpu_vf_switch.h"

/* Least GPU time of a packet, so that no client can loop at no cost. */
#define VGPU_PACKET_NS		100
/*
 * Most short packets that an engine executes behind another one in the same step. A signal counts
 * as two, and its LOG packet does not count.
 */
#define VGPU_SHORT_PACKETS	15
/* No step takes more processor time. */
#define VGPU_STEP_NS		(100 * NSEC_PER_USEC)
/* An engine that has to sleep this long to use no more does so. */
#define VGPU_REST_NS		(500 * NSEC_PER_USEC)
/* An engine sleeps when its charged time is further ahead of the clock than this. */
#define VGPU_SLACK_NS		(20 * NSEC_PER_USEC)
/* Processor time for which a client pays whose short work makes an engine sleep. */
#define VGPU_SLEEP_NS		(5 * NSEC_PER_USEC)
/* An engine whose thread is late by more does not catch up. */
#define VGPU_CATCH_UP_NS	(2 * NSEC_PER_MSEC)
/* What an engine's thread finds counts as having been there for this long before, at most. */
#define VGPU_FOUND_NS		(50 * NSEC_PER_USEC)
/* GPU time after which another queue may get its turn. */
#define VGPU_QUANTUM_NS		NSEC_PER_MSEC
/* COPY and FILL: maximum bytes of one step, and bytes per nanosecond (16 GB/s). */
#define VGPU_CHUNK		PAGE_SIZE
#define VGPU_BYTES_PER_NS	16
/* Release the queues that are blocked since any time. */
#define VGPU_ANY_TIME		(~(u64)0)
/* Maximum posts in the FIFO of the CMP; a further post becomes a NULL event. */
#define VGPU_POSTS		1024
/* Number of posts of one client in the FIFO from which on its queues stall before a signal. */
#define VGPU_POSTS_SHARE	224
/* The last entries of the FIFO are for clients with fewer posts in it than VGPU_POSTS_FEW. */
#define VGPU_POSTS_RESERVE	128
#define VGPU_POSTS_FEW		8
/* GPU time of a queue that stalls until it looks for room in the FIFO again. */
#define VGPU_STALL_NS		(5 * NSEC_PER_USEC)
/* The CMP works 1 ns in this many ns, and may be this far ahead before it sleeps. */
#define VGPU_CMP_SHARE		4
#define VGPU_CMP_SLACK_NS	(100 * NSEC_PER_USEC)
/* Longest time of one record that counts as work: a preempted CMP does not work. */
#define VGPU_CMP_WORK_NS	(50 * NSEC_PER_USEC)

/**
 * struct vgpu_cmp_post - what an engine reports to the CMP
 */
struct vgpu_cmp_post {
	/** @type: &enum vgpu_irq_type. */
	u32 type;

	/** @queue: OS-side handle of the queue; 0 for a post of the CMP itself. */
	u32 queue;
	/** @vm: Client whose share of the FIFO the post takes, or NULL. */
	struct vgpu_vm *vm;
	/** @unlogged: No LOG packet followed the signal. */
	bool unlogged;

	/** @fence: For NATIVE_FENCE_SIGNALED: the signaled fence. */
	struct vgpu_fence *fence;
	/** @value: Value that was stored. */
	u64 value;
	/** @time: GPU clock after the value was stored, in ticks. */
	u64 time;

	/** @suspend_fence: For CONTEXT_SUSPENDED: number of the suspension. */
	u64 suspend_fence;

	/** @node: Ordinal of the node. */
	u16 node;
};

/**
 * struct vgpu_cmp_flush - a caller that waits until the CMP has handled the posts of before
 */
struct vgpu_cmp_flush {
	/** @node: Link in &vgpu_cmp.flushes; empty once @done is complete. */
	struct list_head node;
	/** @posted: The count of posts that the caller waits for. */
	u64 posted;
	/** @done: The caller sleeps here. */
	struct completion done;
};

/**
 * struct vgpu_thread - a thread of the GPU; written by who starts and stops it
 */
struct vgpu_thread {
	/** @task: The thread, with a reference, also after it has stopped; NULL before. */
	struct task_struct *task;
	/** @runs: It was started and not stopped since. */
	bool runs;
};

/* How long a thread has waited for a processor, in ns. A kernel may not count that. */
#ifdef CONFIG_SCHED_INFO
static inline u64 vgpu_task_waited(const struct task_struct *task)
{
	u64 before, since, now;

	/* It waits now if @since is not 0. If it gets a processor meanwhile, look again. */
	do {
		before = READ_ONCE(task->sched_info.run_delay);
		since = READ_ONCE(task->sched_info.last_queued);
		now = local_clock();
	} while (READ_ONCE(task->sched_info.run_delay) != before);
	return before + (since ? now - min(since, now) : 0);
}
#else
static inline u64 vgpu_task_waited(const struct task_struct *task)
{
	return 0;
}
#endif

/**
 * struct vgpu_cmp - the context management processor
 */
struct vgpu_cmp {
	/**
	 * @lock: Protects all members but @thread, @wait and @flushers. The thread reads the counts
	 * without it.
	 */
	spinlock_t lock;

	/** @thread: Thread of the CMP. */
	struct vgpu_thread thread;
	/** @wait: The thread sleeps here. */
	wait_queue_head_t wait;
	/** @flushes: &struct vgpu_cmp_flush of callers that sleep, in the order of their posts. */
	struct list_head flushes;
	/** @working: The thread or an engine handles posts; nobody else does meanwhile. */
	bool working;

	/** @posted: Number of posts that entered the FIFO since the creation. */
	u64 posted;
	/** @taken: Number of posts that the CMP took out since the creation. */
	u64 taken;
	/** @done: Number of posts that the CMP has handled since the creation. */
	u64 done;

	/**
	 * @null_nodes: Nodes whose posts found the FIFO full, and VGPU_OVERFLOW_* flags, for
	 * &struct vgpu_irq_ring.overflow.
	 */
	u32 null_nodes;
	/** @nulls_taken: Those that the CMP has taken and not reported yet. */
	u32 nulls_taken;

	/**
	 * @flushers: Number of callers in vgpu_cmp_flush(); with one the CMP ignores
	 * VGPU_INJECT_HOLD_POSTS.
	 */
	atomic_t flushers;

	/**
	 * @free_at: End of the time that pays for the work so far, in ns; written by who has set
	 * @working.
	 */
	u64 free_at;

	/** @stopped: The thread has stopped; the CMP takes no more posts. */
	bool stopped;

	/** @fifo: The posts. The index of a post is its count modulo the size. */
	struct vgpu_cmp_post fifo[VGPU_POSTS];

	/** @counters: Exact counters. */
	struct vgpu_counters counters;
};

/**
 * struct vgpu_fair_tree - users, or processes of one user, that share an engine; see vgpu_fair.c
 *
 * vgpu_chip.sched protects both members.
 */
struct vgpu_fair_tree {
	/** @tree: &struct vgpu_fair of those with READY queues, sorted by virtual time. */
	struct rb_root_cached tree;
	/** @time: Virtual time of the one that got the engine last, in ns. */
	u64 time;
	/** @last: &vgpu_fair.id of the one that got the engine last. */
	u64 last;
	/** @last_at: When @last got the engine the last time, in ns. */
	u64 last_at;
	/** @other_at: When one that is not @last got the engine the last time, in ns. */
	u64 other_at;
};

/**
 * struct vgpu_node - a node of one function: its part of an engine
 */
struct vgpu_node {
	/** @gpu: The function. */
	struct vgpu *gpu;
	/** @engine: The engine that serves the node. */
	struct vgpu_engine *engine;

	/** @shares: The users with READY queues; under vgpu_chip.sched. */
	struct vgpu_fair_tree shares;

	/**
	 * @logged: Queues whose logs got entries since vgpu_log_take_logged() returned them,
	 * oldest first; under vgpu.logged_lock.
	 */
	struct list_head logged;
	/** @active: Number of queues that are READY, RUNNING or BLOCKED; under vgpu_chip.sched. */
	unsigned int active;
	/** @resume: Queue that the last world switch stopped, or NULL; under vgpu_chip.sched. */
	struct vgpu_queue *resume;

	/**
	 * @f1: The function let the engine enter F1; written under vgpu_chip.sched, read
	 * without it.
	 */
	bool f1;
	/** @wants_f1: The engine has requested F1 from the function; under vgpu_chip.sched. */
	bool wants_f1;
	/** @f1_requests: Number of these requests; under vgpu_chip.sched. */
	u64 f1_requests;

	/**
	 * @submitted: Number of turns: times that the engine picked a queue of the node; under
	 * vgpu_chip.sched. The number is the id of the turn. A queue that was preempted gets a
	 * new one.
	 */
	u64 submitted;
	/**
	 * @completed: Id of the last turn that ended without preemption, or of the last one that
	 * a reset has aborted; under vgpu_chip.sched.
	 */
	u64 completed;

	/** @holds: Number of vgpu_engine.held that are of this function; under vgpu_chip.sched. */
	unsigned int holds;
	/**
	 * @fault_flags: What page faults have requested since the last reset: &enum
	 * vgpu_fault_flags. While there is anything, the engine is held once more; under
	 * vgpu_chip.sched.
	 */
	u32 fault_flags;
	/** @was_reset: The engine was reset and has not gone on; under vgpu_chip.sched. */
	bool was_reset;
	/**
	 * @held_cause: OS-side handle of the context that ran at the last vgpu_reset_hold() and was
	 * the cause of the reset, or 0; under vgpu_chip.sched.
	 */
	u32 held_cause;
	/**
	 * @overdue: OS-side handle of the context that a world switch has asked in vain to leave
	 * the engine, or 0; under vgpu_chip.sched.
	 */
	u32 overdue;
	/**
	 * @preempt: The running queue must leave; written under vgpu_chip.sched, read without
	 * it.
	 */
	bool preempt;

	/** @counters: Written by the engine's thread; read without a lock. */
	struct vgpu_node_counters counters;
};

/**
 * struct vgpu_release - a release of blocked queues, in portions
 */
struct vgpu_release {
	/** @value: Release the queues that wait for at most this value. */
	u64 value;
	/** @time: Do not release queues that began to wait later. */
	u64 time;
	/** @end: Waits with this serial number and later ones began after the release; 0: unset. */
	u64 end;
	/** @from_value: Go on with the wait for this value that has the number @from_serial. */
	u64 from_value;
	/** @from_serial: See @from_value. */
	u64 from_serial;
};

/**
 * struct vgpu_registers - the registers of an engine
 */
struct vgpu_registers {
	/** @value: The registers, which packets set and read. */
	u64 value[DRM_VFENCE_REGISTERS];
	/**
	 * @queue: Queue whose registers these are, or NULL; under vgpu_chip.sched. They go to the
	 * queue when the engine picks another one.
	 */
	struct vgpu_queue *queue;
};

/**
 * struct vgpu_group - engines that a world switch moves together
 */
struct vgpu_group {
	/** @lock: Serialises commands. */
	struct mutex lock;
	/** @nodes: Mask of the nodes of the engines; constant. */
	u32 nodes;
	/** @state: &enum vgpu_vf_switch_state; changes under @lock and vgpu_chip.sched. */
	enum vgpu_vf_switch_state state;
	/** @owner: Function that the engines serve, or NULL; changes with @state. */
	struct vgpu *owner;
	/**
	 * @leaving: Mask of the nodes whose engines must stop; written under vgpu_chip.sched, read
	 * without it.
	 */
	u32 leaving;
	/**
	 * @owed: Mask of the nodes whose engines have work of @owner and have done nothing for it
	 * yet: they leave after one step only. Otherwise no queue makes progress if a slice is
	 * shorter than the latency of the host. Written under vgpu_chip.sched, read
	 * without it.
	 */
	u32 owed;
	/**
	 * @leave_at: Time from which the engines must stop, in ns; written under vgpu_chip.sched
	 * before @leaving, read without it.
	 */
	u64 leave_at;
	/** @stopped_at: When the last of the engines has stopped, in ns; under vgpu_chip.sched. */
	u64 stopped_at;
	/** @free_at: End of the last command, in ns; under @lock. */
	u64 free_at;
	/** @run_at: Time from which the engines serve @owner, in ns; under vgpu_chip.sched. */
	u64 run_at;
	/** @refused: Number of illegal commands; under @lock. */
	u64 refused;
};

/**
 * struct vgpu_context_save - what a function has in a group while another one owns the group
 */
struct vgpu_context_save {
	/** @saved: The function was saved since its last reset; under vgpu_group.lock. */
	bool saved;
	/** @registers: Registers of the engines, by node; under vgpu_chip.sched. */
	struct vgpu_registers registers[VGPU_MAX_NODES];
	/** @busy: Mask of the nodes that have queues to execute; changes under vgpu_chip.sched. */
	atomic_t busy;
	/** @turned_busy: Number of times that @busy became other than 0; under vgpu_chip.sched. */
	u64 turned_busy;
	/** @turned_idle: Number of times that @busy became 0; under vgpu_chip.sched. */
	u64 turned_idle;
	/** @held_at: Time of an edge that is held back, in ns, or 0; under vgpu_chip.sched. */
	u64 held_at;
};

/**
 * struct vgpu_engine - a physical engine: its thread and the time charged to it
 */
struct vgpu_engine {
	/** @chip: The chip. */
	struct vgpu_chip *chip;
	/** @node: Node ordinal. */
	unsigned int node;
	/** @class_id: &enum drm_vfence_node_class. */
	unsigned int class_id;

	/** @thread: Thread of the engine. */
	struct vgpu_thread thread;
	/**
	 * @wait: The thread sleeps here until there is work, or until the charged time has
	 * passed.
	 */
	wait_queue_head_t wait;

	/** @release: Work that goes on with @pending_release. */
	struct work_struct release;
	/**
	 * @pending_fence: Fence whose signal has queues to release yet, or NULL; written under
	 * vgpu_chip.sched.
	 */
	struct vgpu_fence *pending_fence;
	/** @pending_release: What it has not released yet; written under vgpu_chip.sched. */
	struct vgpu_release pending_release;

	/** @group: Group of the engine, or NULL: it serves all functions in turn. */
	struct vgpu_group *group;
	/** @registers: Its registers; of the thread while it executes a queue. */
	struct vgpu_registers registers;

	/** @next_function: Index of the function that is served next; under vgpu_chip.sched. */
	unsigned int next_function;
	/** @running: Queue that the engine executes; changes under vgpu_chip.sched. */
	struct vgpu_queue *running;
	/** @hung: @running makes no progress, which is reported; written under vgpu_chip.sched. */
	bool hung;
	/**
	 * @held: Number of vgpu_reset_hold() without a resume. The engine picks no queue while
	 * it is not 0; under vgpu_chip.sched.
	 */
	unsigned int held;
	/** @open_at: When it was allowed to pick queues again, in ns; under vgpu_chip.sched. */
	u64 open_at;

	/**
	 * @free_at: End of the time that packets asked for and that the thread rests; used by the
	 * thread only.
	 */
	ktime_t free_at;
	/**
	 * @cost_at: End of the time that packets asked for, and earliest begin of the next one;
	 * used by the thread only.
	 */
	ktime_t cost_at;
	/**
	 * @work_at: End of the time that draws, copies and fills asked for, at most @free_at; used
	 * by the thread only.
	 */
	ktime_t work_at;
	/** @works: The step that is not charged yet is work; used by the thread only. */
	bool works;
	/** @posts: Number of posts of this step, until vgpu_cmp_run(); used by the thread only. */
	unsigned int posts;
	/** @posted: &vgpu_cmp.posted after the last one of them; used by the thread only. */
	u64 posted;
	/** @worked: The running queue has done work in this turn; used by the thread only. */
	bool worked;
	/**
	 * @turn_from: @cost_at when the turn began; KTIME_MAX: the turn of @running has not begun.
	 * Written by the thread only.
	 */
	ktime_t turn_from;
	/** @begun_at: When the last step began, nominally; used by the thread only. */
	ktime_t begun_at;
	/** @quantum_end: End of the running queue's turn; used by the thread only. */
	ktime_t quantum_end;
	/**
	 * @used_ns: GPU time that the running queue has used and that is not in its client's
	 * virtual time yet; used by the thread only.
	 */
	u64 used_ns;

	/** @charged_ns: GPU time that queues spent themselves; used by the thread only. */
	u64 charged_ns;
	/**
	 * @stepped_at: When the thread read the clock to charge a step, and its sleeps and its work
	 * for the CMP since: processor time before is charged. Used by the thread only.
	 */
	ktime_t stepped_at;
	/**
	 * @rest_ns: Time that the thread has to sleep for what it has burned; used by the thread
	 * only.
	 */
	u64 rest_ns;

	/**
	 * @asked: The quantum is over and another client wants the engine; used by the thread
	 * only.
	 */
	bool asked;
	/** @asked_at: vgpu_time_spent() when @asked was set; used by the thread only. */
	u64 asked_at;
	/**
	 * @overstayed: The queue on the engine should have been stopped, and was not; written by
	 * the thread only.
	 */
	bool overstayed;

	/** @requested: Number of the last request for a sign of life; under vgpu_chip.sched. */
	u64 requested;
	/** @answered: The last request that the thread has seen; written by the thread only. */
	u64 answered;
	/** @stopped: The engine has stopped and waits for its reset; written by the thread only. */
	bool stopped;
};

/**
 * struct vgpu_chip - the silicon, shared by its functions
 */
struct vgpu_chip {
	/** @ref: The creator and each function hold a reference. */
	struct kref ref;
	/** @name: Prefix of the names of the threads. */
	char name[16];

	/** @nodes: Number of engines. */
	unsigned int nodes;
	/** @f1_idle_us: See &vgpu_config.f1_idle_us. */
	unsigned int f1_idle_us;
	/** @hung_us: See &vgpu_config.hung_us. */
	unsigned int hung_us;
	/** @preempt_us: See &vgpu_config.preempt_us. */
	unsigned int preempt_us;
	/** @cpu_percent: See &vgpu_config.cpu_percent. */
	unsigned int cpu_percent;
	/** @dependent_nodes: See &vgpu_config.dependent_nodes. */
	u32 dependent_nodes;

	/** @sched: Protects the scheduling state of all engines and functions; irqsave. */
	spinlock_t sched;
	/** @busy: Number of engines with a running queue; written under @sched, read without it. */
	unsigned int busy;
	/** @queue_left: The engine wakes it when a queue leaves the engine. */
	wait_queue_head_t queue_left;
	/** @engine: One engine for each node. */
	struct vgpu_engine engine[VGPU_MAX_NODES];

	/** @group: Groups of engines: graphics, compute and copy; and media. */
	struct vgpu_group group[VGPU_VF_SWITCH_GROUPS];
	/** @switch_ns: Time that a world switch takes, in ns; read without a lock. */
	u64 switch_ns;
	/** @vf_switch_ops: Calls to the host; NULL without switches; under @sched. */
	const struct vgpu_vf_switch_ops *vf_switch_ops;
	/** @vf_switch_host: First argument of these calls; under @sched. */
	void *vf_switch_host;

	/** @image_key: Authenticates images of functions; constant. */
	siphash_key_t image_key;
	/** @image_tag: Number of pauses of all functions so far. */
	atomic64_t image_tag;
	/** @release_wq: Runs vgpu_engine.release, for which signals of published work may wait. */
	struct workqueue_struct *release_wq;

	/** @function: Functions that have started, or NULL; changes under both locks. */
	struct vgpu *function[VGPU_MAX_FUNCTIONS];
	/** @functions: One more than the index of the last entry in @function; changes with it. */
	unsigned int functions;

	/** @lock: Serialises join, leave, start and stop of functions; outside @sched. */
	struct mutex lock;
	/** @started: Number of functions that have started; under @lock. */
	unsigned int started;

	/**
	 * @residency: An engine holds it for reading over one step. A move of a storage takes
	 * it for writing.
	 */
	rwlock_t residency;
};

/**
 * struct vgpu_doorbell - a physical doorbell
 */
struct vgpu_doorbell {
	/** @page: Pages that a connected client stores to: first and second address. */
	struct page *page[2];
};

/**
 * struct vgpu - a function of a chip: the GPU of one adapter
 */
struct vgpu {
	/** @chip: The chip. */
	struct vgpu_chip *chip;
	/** @index: Index in vgpu_chip.function from start to stop; under vgpu_chip.lock. */
	unsigned int index;

	/** @config: Configuration; constant. */
	struct vgpu_config config;
	/** @injections: What tests inject. */
	struct vgpu_injections injections;

	/** @ops: Calls up. */
	const struct vgpu_host_ops *ops;
	/** @host: First argument of the calls up. */
	void *host;
	/** @name: Prefix of the names of the threads. */
	const char *name;

	/** @queues_lock: Protects @queues and @queue_count; nothing is allocated under it. */
	struct mutex queues_lock;
	/** @queues: All queues but that of the paging ring, oldest first. */
	struct list_head queues;
	/** @queue_count: Number of them. */
	unsigned int queue_count;
	/** @written_lock: Protects @written; irqsave. */
	spinlock_t written_lock;
	/** @written: &struct vgpu_slot whose words packets have stored, and interrupted for it. */
	struct list_head written;
	/** @mail: Mask of the messages of the host that the driver has not taken. */
	atomic_t mail;
	/** @save: Context save areas, by group. */
	struct vgpu_context_save save[VGPU_VF_SWITCH_GROUPS];

	/** @local: The function's part of the video memory. */
	void *local;
	/** @d3: Powered off: no engine picks queues of this function; under vgpu_chip.sched. */
	bool d3;
	/**
	 * @resetting: From vgpu_reset_adapter() to vgpu_reset_restart(): no engine picks queues of
	 * this function; under vgpu_chip.sched.
	 */
	bool resetting;
	/** @reset_lock: Serialises resets by the host with those by the driver of the function. */
	struct mutex reset_lock;
	/**
	 * @reset_by_host: The host has reset the function, and vgpu_reset_adapter() has not
	 * followed: vgpu_reset_restart() leaves @resetting as it is; under vgpu_chip.sched.
	 */
	bool reset_by_host;
	/** @generation: Number of resets of the function so far; under vgpu_chip.sched. */
	unsigned int generation;
	/** @os_caps: VGPU_OS_* flags; constant. */
	unsigned int os_caps;

	/** @node: The nodes. */
	struct vgpu_node node[VGPU_MAX_NODES];
	/** @doorbell: Physical doorbells. */
	struct vgpu_doorbell doorbell[VGPU_MAX_DOORBELLS];
	/** @cmp: The context management processor. */
	struct vgpu_cmp cmp;
	/** @irq: Interrupt ring. */
	struct vgpu_irq_ring *irq;
	/** @system_account: Whom the GPU charges for the paging queue. */
	struct vgpu_account *system_account;
	/** @system_vm: Address space of the system process. */
	struct vgpu_vm *system_vm;

	/** @native_fence_cap: The GPU advertises native fences; constant. */
	bool native_fence_cap;
	/** @logging_level: &enum drm_vfence_logging_level; read and written without a lock. */
	u32 logging_level;
	/** @logged_lock: Protects vgpu_node.logged of all nodes; taken inside vgpu_log.lock. */
	spinlock_t logged_lock;
	/**
	 * @logged_wanted: Number of queues on these lists that have &vgpu_queue.log_wanted; written
	 * under @logged_lock.
	 */
	unsigned int logged_wanted;

	/** @log_buffers_set: See &struct vgpu_counters. */
	atomic64_t log_buffers_set;
	/** @log_flushes: See &struct vgpu_counters. */
	atomic64_t log_flushes;
	/** @log_queues_flushed: See &struct vgpu_counters. */
	atomic64_t log_queues_flushed;
	/** @log_markers: See &struct vgpu_counters. */
	atomic64_t log_markers;
	/** @monitored_updates: See &struct vgpu_counters. */
	atomic64_t monitored_updates;
	/** @monitored_updates_irq: See &struct vgpu_counters. */
	atomic64_t monitored_updates_irq;
};

/**
 * struct vgpu_storage - a page of fence values
 */
struct vgpu_storage {
	/** @kva: Address of the memory; changes under vgpu_chip.residency held for writing. */
	void *kva;
	/** @local: The memory is video memory. */
	bool local;
} __aligned(64);

/**
 * struct vgpu_fair - part of one engine that a user has, or a process of it; see vgpu_fair.c
 *
 * vgpu_chip.sched protects all members that are not constant.
 */
struct vgpu_fair {
	/** @id: Number of the user, which stays when its account goes and comes. Constant. */
	u64 id;
	/** @above: The share of the process's user; NULL for a user. Constant. */
	struct vgpu_fair *above;
	/** @in: Those with whom it shares the part of @above, or the engine. Constant. */
	struct vgpu_fair_tree *in;
	/** @link: Node in @in while @run or @of is not empty, unless @throttled is set. */
	struct rb_node link;
	/** @run: Run lists of the process's READY queues: with user rings, with kernel rings. */
	struct list_head run[2];
	/** @kernel_was_last: The queue that was taken last has a kernel ring. */
	bool kernel_was_last;
	/** @ready: Number of queues in @run. */
	unsigned int ready;
	/** @of: The processes of the user. */
	struct vgpu_fair_tree of;
	/** @throttled: The user has to leave the engine to others, and is not in @in. */
	bool throttled;
	/** @unthrottled_at: When a user got the engine back the last time, in ns; or 0. */
	u64 unthrottled_at;
	/** @time: Virtual time on this node, in ns. */
	u64 time;
};

/**
 * struct vgpu_account - whom the GPU charges: a user, or a process of it
 */
struct vgpu_account {
	/** @share: The part of each engine. */
	struct vgpu_fair share[VGPU_MAX_NODES];
};

/**
 * struct vgpu_vm - GPU address space of one open file, which is one client
 */
struct vgpu_vm {
	/** @gpu: The GPU. */
	struct vgpu *gpu;
	/** @account: Whom the GPU charges for its queues. Constant. */
	struct vgpu_account *account;
	/** @ready: Number of its READY queues by node; under vgpu_chip.sched. */
	unsigned int ready[VGPU_MAX_NODES];
	/** @tlb: See the list of locks at the top of this file. */
	rwlock_t tlb;

	/** @pages: Page table: page number to kernel address and VGPU_VM_* flags. */
	struct xarray pages;
	/** @slots: Fences: address of the current value / 8 to &struct vgpu_slot. */
	struct xarray slots;

	/** @flushes: How often @tlb was flushed; written with @tlb held for writing. */
	u64 flushes;

	/** @posts: Number of posts of the process in the FIFO; under vgpu_cmp.lock. */
	unsigned int posts;
};

/**
 * struct vgpu_context - queues that are suspended and resumed together
 */
struct vgpu_context {
	/** @gpu: The GPU. */
	struct vgpu *gpu;
	/** @node: Node ordinal. */
	unsigned int node;
	/** @os_handle: Handle that interrupt records name. */
	u32 os_handle;

	/** @queues: List of &struct vgpu_queue; under vgpu_chip.sched. */
	struct list_head queues;
	/** @running: Number of these queues that are on the engine; under vgpu_chip.sched. */
	unsigned int running;

	/** @suspended: No queue may run; written under vgpu_chip.sched, read without it. */
	bool suspended;
	/**
	 * @ack_due: CONTEXT_SUSPENDED is due when no queue runs any more; under
	 * vgpu_chip.sched.
	 */
	bool ack_due;
	/** @suspend_fence: Number of the last suspension; under vgpu_chip.sched. */
	u64 suspend_fence;
	/** @acknowledged: Number of the last acknowledged suspension; stored with release. */
	u64 acknowledged;
};

/**
 * struct vgpu_word - the value of a monitored fence, or of all members of a cross-adapter fence
 */
struct vgpu_word {
	/** @lock: Makes one step of a store and what is noted about it; irqsave. */
	spinlock_t lock;
	/** @is_32bit: The value has 32 bits, which wrap; constant. */
	bool is_32bit;
	/** @signaled: Packets have stored values since the last vgpu_word_take(); under @lock. */
	bool signaled;
	/** @noted: The highest of these values, and the time of the last one; under @lock. */
	struct vgpu_missed noted;
	/** @rewinds: Number of stored values that were smaller than the value before. */
	atomic64_t rewinds;
};

/**
 * struct vgpu_slot - a fence as one address space sees it
 */
struct vgpu_slot {
	/** @fence: The fence; NULL for a monitored fence. */
	struct vgpu_fence *fence;
	/** @word: The value of a monitored fence; NULL for a native one. */
	struct vgpu_word *word;
	/** @os_handle: Handle by which the driver knows @word. */
	u32 os_handle;
	/** @written: Entry in &vgpu.written, or empty; under &vgpu.written_lock. */
	struct list_head written;
	/** @monitored_va: GPU address of its monitored value. */
	u64 monitored_va;

	/** @opens: Number of holders in this address space. */
	unsigned int opens;
	/** @waits: Number of holders that may wait; read by engines. */
	unsigned int waits;
	/** @signals: Number of holders that may signal; read by engines. */
	unsigned int signals;
};

/**
 * struct vgpu_fence - global object of a native fence
 */
struct vgpu_fence {
	/** @gpu: The GPU. */
	struct vgpu *gpu;
	/** @os_handle: Handle that interrupt records name. */
	u32 os_handle;

	/**
	 * @current_value: Storage of the current value. Engines store it, and
	 * vgpu_fence_update_current_values() for CPU signals.
	 */
	struct vgpu_storage *current_value;
	/**
	 * @monitored_value: Storage of the monitored value. Only
	 * vgpu_fence_update_monitored_values() stores it.
	 */
	struct vgpu_storage *monitored_value;
	/** @offset: Offset of the slot in both storages, in bytes. */
	u32 offset;

	/** @shadowed: Engines compare with @shadow instead of the slot; constant. */
	bool shadowed;
	/** @shadow: The CMP's copy of the monitored value; written under vgpu_cmp.lock. */
	u64 shadow;
	/** @current_system_va: Address where the CMP reads the current value, or 0; constant. */
	u64 current_system_va;
	/**
	 * @monitored_system_va: Address where the CMP reads the monitored value, or 0;
	 * constant.
	 */
	u64 monitored_system_va;

	/**
	 * @blocked: Queues blocked on the fence, sorted by awaited value, then by serial
	 * number; under vgpu_chip.sched.
	 */
	struct rb_root_cached blocked;
	/** @block_serial: Number of waits that blocked so far; under vgpu_chip.sched. */
	u64 block_serial;
	/**
	 * @blocked_count: Number of these queues; changes under vgpu_chip.sched, read without
	 * it.
	 */
	atomic_t blocked_count;

	/**
	 * @always_signaled: Waits pass and signals have no effect. It is set once and stays
	 * set.
	 */
	bool always_signaled;
	/** @signals: Number of GPU signals. */
	atomic64_t signals;
	/** @rewinds: Number of stored values that were smaller than the value before. */
	atomic64_t rewinds;

	/** @missed_lock: Protects @missed; innermost; irqsave. */
	spinlock_t missed_lock;
	/** @missed: Signals that no record reported, since the last take. */
	struct vgpu_missed missed;

	/** @private_data: The creator's bytes; constant. */
	u8 private_data[DRM_VFENCE_PRIVATE_DATA];
};

/* Maximum entries of a log that are posted and not in the buffer yet. */
#define VGPU_LOG_POSTED		8

/**
 * struct vgpu_log - one log buffer as its producer sees it
 *
 * The client counts its LOG packets modulo the number of entries that it got at its connect.
 * The buffer has its own index, because the driver may replace it while old packets are in
 * the ring.
 */
struct vgpu_log {
	/** @lock: Protects all members below; irqsave. */
	spinlock_t lock;

	/** @header: The buffer; NULL until the driver sets one. */
	struct drm_vfence_log_header *header;
	/** @va: GPU address of the buffer. */
	u64 va;
	/** @word: Private copy of index and wrap count. */
	u64 word;

	/** @posted: Entries that the index includes and that are not in the buffer yet. */
	struct drm_vfence_log_entry posted[VGPU_LOG_POSTED];
	/** @posted_at: Indices of these entries. */
	u32 posted_at[VGPU_LOG_POSTED];
	/** @posted_count: Number of these entries. */
	unsigned int posted_count;

	/** @client_entries: Number of entries modulo which the client counts. */
	u32 client_entries;
	/** @client_next: Index that the client's next LOG packet must name. */
	u32 client_next;

	/** @switching: The client changes its count at @switch_at. */
	bool switching;
	/** @switch_at: Ring pointer at which the client changes its count. */
	u64 switch_at;
	/** @switch_entries: Number of entries modulo which the client counts from there on. */
	u32 switch_entries;
};

/** VGPU_CACHED_SLOTS: number of fences that a queue finds without a look-up; a power of two */
#define VGPU_CACHED_SLOTS	4

/**
 * struct vgpu_slot_cache - fences that the last packets of a queue named
 *
 * It is used with vgpu_vm.tlb held, and valid until that is flushed.
 */
struct vgpu_slot_cache {
	/** @flushes: vgpu_vm.flushes when the slots were looked up. */
	u64 flushes;
	/** @va: Address of the current value of each slot. */
	u64 va[VGPU_CACHED_SLOTS];
	/** @slot: The slots, or NULL. */
	struct vgpu_slot *slot[VGPU_CACHED_SLOTS];
};

/**
 * struct vgpu_exec - a packet in flight: the state that an engine keeps between two steps
 */
struct vgpu_exec {
	/** @packet: Private copy of the packet. */
	union vgpu_packet packet;
	/** @in_flight: The packet is fetched and not complete. */
	bool in_flight;

	/**
	 * @released: The wait was blocked and a signal released it; its end is in
	 * vgpu_queue.wait_end.
	 */
	bool released;
	/** @notified: The packet was a signal that interrupts or that queues wait for. */
	bool notified;

	/** @begun_ns: vgpu_queue.busy_ns when the packet was fetched. */
	u64 begun_ns;
	/** @draws_left: DRAW: number of draws to do. */
	u32 draws_left;
	/** @cursor: COPY and FILL: number of bytes done. */
	u64 cursor;

	/**
	 * @remaining_ns: GPU time of the packet that had not passed when the queue left the
	 * engine, in ns.
	 */
	u64 remaining_ns;
	/** @postponed: That is all of a step, which counts as not begun; of the engine only. */
	bool postponed;
	/**
	 * @stalled: The packet makes no progress, so that a reset that asks the queue to leave
	 * asks in vain; written by the engine's thread, read without a lock.
	 */
	bool stalled;
};

/**
 * struct vgpu_queue - a hardware queue
 *
 * ::
 *
 *            ring, connect            pick                 not reached
 *    IDLE ------------------> READY -------> RUNNING ----------------> BLOCKED
 *     ^                       ^   ^             | | |                     |
 *     |       ring empty      |   +-------------+ | |       released      |
 *     +-----------------------|----------quantum--+ |  <- to READY -------+
 *                             |                     | bad packet
 *    any live state --abort--> ABORTED              +------> FAULTED
 *
 * A READY queue of a suspended context is not on the run list.
 */
struct vgpu_queue {
	/** @gpu: The GPU. */
	struct vgpu *gpu;
	/** @vm: Address space. */
	struct vgpu_vm *vm;
	/** @engine: Engine of the node. */
	struct vgpu_engine *engine;
	/** @node: The node. */
	struct vgpu_node *node;

	/** @context: The context; NULL for the paging ring. */
	struct vgpu_context *context;
	/** @gpu_link: Link in vgpu.queues; under vgpu.queues_lock. */
	struct list_head gpu_link;
	/** @context_link: Link in context->queues; under vgpu_chip.sched. */
	struct list_head context_link;

	/** @os_handle: Handle that interrupt records name. */
	u32 os_handle;
	/** @kernel: The queue has a kernel ring. */
	bool kernel;

	/** @state: &enum drm_vfence_queue_state; under vgpu_chip.sched. */
	u32 state;
	/** @abort: The queue must stop for good; written under vgpu_chip.sched, read without it. */
	bool abort;
	/** @guilty: It caused the reset that aborted it; under vgpu_chip.sched. */
	bool guilty;
	/** @slots: Fences that the last packets named; of the engine's thread. */
	struct vgpu_slot_cache slots;
	/** @requested: Its fault has requested a reset; under vgpu_chip.sched. */
	bool requested;
	/** @generation: vgpu.generation at its creation; constant. */
	unsigned int generation;
	/** @turn: Id of its last turn; under vgpu_chip.sched. */
	u64 turn;

	/** @connected: The write pointer is control->write_ptr; written under vgpu_chip.sched. */
	bool connected;
	/**
	 * @latched: The write pointer while the queue is not connected; written under
	 * vgpu_chip.sched.
	 */
	u64 latched;

	/** @run_link: Link in vgpu_fair.run; under vgpu_chip.sched. */
	struct list_head run_link;
	/** @block_node: Node in the fence's tree; under vgpu_chip.sched. */
	struct rb_node block_node;
	/** @block_fence: Fence that it waits for while it is BLOCKED; under vgpu_chip.sched. */
	struct vgpu_fence *block_fence;
	/** @block_value: Value that it waits for. */
	u64 block_value;
	/** @block_serial: Number of the wait, from vgpu_fence.block_serial. */
	u64 block_serial;

	/** @cookie: The driver's doorbell, argument of arm_doorbell(). */
	void *cookie;

	/** @ring: The ring. */
	void *ring;
	/** @ring_size: Size of the ring, in bytes. */
	u32 ring_size;
	/** @control: Read and write pointers, which the client can access. */
	struct drm_vfence_ring_control *control;

	/** @read_ptr: The engine's read pointer, which the client cannot change. */
	u64 read_ptr;
	/**
	 * @fetch_ptr: Ring pointer up to which the front end has executed FETCHED; used by the
	 * engine only.
	 */
	u64 fetch_ptr;
	/**
	 * @seen_ptr: A write pointer that the engine saw, or that was there when the queue became
	 * READY: a packet that ends behind it is new. Of the engine while it executes the queue.
	 */
	u64 seen_ptr;

	/** @last_completed: Kernel ring: last completed fence id; stored with release. */
	u64 last_completed;
	/** @completed_busy_ns: Kernel ring: @busy_ns at the last completed fence id. */
	u64 completed_busy_ns;
	/** @last_fetched: Kernel ring: last fetched fence id; stored with release. */
	u64 last_fetched;

	/** @exec: Packet in flight; used by the engine only. */
	struct vgpu_exec exec;
	/** @registers: Registers while the engine has those of another queue. */
	u64 registers[DRM_VFENCE_REGISTERS];
	/**
	 * @kept_ns: GPU time for which it kept others off the engine until it was aborted, in ns;
	 * under vgpu_chip.sched.
	 */
	u64 kept_ns;
	/**
	 * @ready_at: From when on it could be executed, in ns: when it got work, was released or
	 * was resumed; under vgpu_chip.sched.
	 */
	u64 ready_at;
	/** @quantum_ns: What was left of its turn at a world switch, in ns, or 0. */
	u64 quantum_ns;

	/** @wait_observed: GPU clock when the engine began the last wait, in ticks. */
	u64 wait_observed;
	/** @wait_end: GPU clock when that wait was satisfied, in ticks. */
	u64 wait_end;
	/** @signal_end: GPU clock after the last signal was stored, in ticks. */
	u64 signal_end;
	/** @marker_end: GPU clock when the last marker was logged, in ticks. */
	u64 marker_end;
	/** @log: Wait log and signal log. */
	struct vgpu_log log[2];
	/** @logged_link: Link in vgpu_node.logged, or empty; under vgpu.logged_lock. */
	struct list_head logged_link;
	/** @log_wanted: vgpu_log_want() was called; under vgpu.logged_lock. */
	bool log_wanted;

	/** @fault: Reason of the stop; under vgpu_chip.sched. */
	u32 fault;
	/** @fault_opcode: Opcode of the packet that faulted; under vgpu_chip.sched. */
	u32 fault_opcode;
	/** @fault_va: GPU address that faulted; under vgpu_chip.sched. */
	u64 fault_va;

	/** @packets: Number of completed packets; written by the engine only. */
	u64 packets;
	/** @log_packets: Number of executed LOG packets; written by the engine only. */
	u64 log_packets;
	/** @busy_ns: Charged GPU time, in ns; written by the engine only. */
	u64 busy_ns;
	/** @notifications: Number of calls of vgpu_doorbell_notify_work_submission(). */
	atomic64_t notifications;
};

/**
 * enum vgpu_step - how one step ended
 */
enum vgpu_step {
	/** @VGPU_STEP_MORE: The engine continues with the next step. */
	VGPU_STEP_MORE,
	/** @VGPU_STEP_EARLY: The work before the step has not ended; nothing was done. */
	VGPU_STEP_EARLY,
	/** @VGPU_STEP_STALLED: The step took its time and made no progress. */
	VGPU_STEP_STALLED,
	/** @VGPU_STEP_IDLE: The ring is empty. */
	VGPU_STEP_IDLE,
	/**
	 * @VGPU_STEP_BLOCKED: The queue is in a fence's tree; the engine must not access it any
	 * more.
	 */
	VGPU_STEP_BLOCKED,
	/**
	 * @VGPU_STEP_PREEMPTED: The quantum is over and other queues are READY, or the context
	 * is suspended.
	 */
	VGPU_STEP_PREEMPTED,
	/** @VGPU_STEP_FAULT: The packet faulted. */
	VGPU_STEP_FAULT,
	/** @VGPU_STEP_ABORTED: The queue must stop for good. */
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
void vgpu_word_signal(struct vgpu *gpu, struct vgpu_word *word, void *slot, u64 value);
void vgpu_word_list_written(struct vgpu *gpu, struct vgpu_slot *slot);
void vgpu_word_unlist_written(struct vgpu *gpu, struct vgpu_slot *slot);
void vgpu_value_note_missed(struct vgpu_fence *fence, u64 value, u64 time);
bool vgpu_value_reached(struct vgpu_fence *fence, u64 value);

/* vgpu_fence.c */
bool vgpu_fence_notify(struct vgpu_engine *engine, struct vgpu_fence *fence, u64 value);
bool vgpu_fence_has_room(const struct vgpu_engine *engine, struct vgpu_fence *fence, u64 value);
void vgpu_fence_release_work(struct work_struct *work);
bool vgpu_fence_block(struct vgpu_fence *fence, struct vgpu_queue *queue, u64 value);
void vgpu_fence_unblock_locked(struct vgpu_queue *queue);

/* vgpu_clock.c */
u64 vgpu_clock_at(u64 ns);
u64 vgpu_clock_ns(u64 ticks);

/* vgpu_thread.c */
int vgpu_thread_start(struct vgpu_thread *thread, int (*run)(void *data), void *data,
		      const char *name);
void vgpu_thread_stop(struct vgpu_thread *thread);
void vgpu_thread_fini(struct vgpu_thread *thread);
u64 vgpu_thread_waited(const struct vgpu_thread *thread);
unsigned long vgpu_thread_waited_more(u64 now, u64 before);

/* vgpu_time.c */
void vgpu_time_slept(struct vgpu_engine *engine, ktime_t begun);
void vgpu_time_add_uncharged(struct vgpu_engine *engine, u64 ns);
void vgpu_time_not_before(struct vgpu_engine *engine, u64 at);
void vgpu_time_open_locked(struct vgpu_engine *engine);
void vgpu_time_found(struct vgpu_engine *engine, u64 ns);
u64 vgpu_time_end(struct vgpu_engine *engine);
void vgpu_time_charge(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 cost);
u64 vgpu_time_charged(const struct vgpu_engine *engine);
void vgpu_time_begin_turn(struct vgpu_engine *engine, struct vgpu_queue *queue);
void vgpu_time_bill_sleep(struct vgpu_engine *engine);
bool vgpu_time_works(const struct vgpu_engine *engine);
u64 vgpu_time_ahead(const struct vgpu_engine *engine);
u64 vgpu_time_refund(struct vgpu_engine *engine, struct vgpu_queue *queue, ktime_t at);
u64 vgpu_time_spent(const struct vgpu_engine *engine);

/* vgpu_fair.c */
void vgpu_fair_add_locked(struct vgpu_queue *queue);
void vgpu_fair_add_first_locked(struct vgpu_queue *queue);
void vgpu_fair_remove_locked(struct vgpu_queue *queue);
struct vgpu_queue *vgpu_fair_take_locked(struct vgpu_node *node);
void vgpu_fair_charge_locked(struct vgpu_queue *queue, u64 ns);
bool vgpu_fair_must_yield_locked(struct vgpu_queue *queue);
bool vgpu_fair_is_wanted_locked(struct vgpu_queue *queue);
u64 vgpu_fair_wants_from_locked(struct vgpu_queue *queue);

/* vgpu_sched.c */
static inline bool vgpu_queue_is_suspended(const struct vgpu_queue *queue)
{
	return queue->context && READ_ONCE(queue->context->suspended);
}

struct vgpu_queue *vgpu_sched_pick(struct vgpu_engine *engine);
void vgpu_sched_put(struct vgpu_engine *engine, struct vgpu_queue *queue, enum vgpu_step why);
void vgpu_sched_set_state_locked(struct vgpu_queue *queue, u32 state);
void vgpu_sched_ready_locked(struct vgpu_queue *queue);
void vgpu_sched_check_ring_locked(struct vgpu_queue *queue);
void vgpu_sched_stay_in_f0_locked(struct vgpu_node *node);
void vgpu_sched_left_locked(struct vgpu_queue *queue, bool completed);
bool vgpu_sched_has_ready(struct vgpu_engine *engine);
bool vgpu_sched_is_wanted(struct vgpu_engine *engine, struct vgpu_queue *queue);
bool vgpu_sched_must_yield(struct vgpu_engine *engine, struct vgpu_queue *queue);
bool vgpu_sched_sane_write_ptr(struct vgpu_queue *queue, u64 *write_ptr);
void vgpu_sched_look(struct vgpu_queue *queue);

/* vgpu_exec.c */
enum vgpu_step vgpu_exec_step(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost);
enum vgpu_step vgpu_exec_short(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 *cost);
enum vgpu_work vgpu_exec_work(const struct vgpu_queue *queue);
enum vgpu_step vgpu_exec_overstayed(struct vgpu_queue *queue);

/* vgpu_kernel.c */
enum drm_vfence_fault vgpu_kernel_check(const struct drm_vfence_packet_header *header,
					u64 available);
void vgpu_kernel_execute(struct vgpu_engine *engine, struct vgpu_queue *queue,
			 const union vgpu_packet *packet);
void vgpu_kernel_fetched(struct vgpu_engine *engine, struct vgpu_queue *queue, u64 fence_id);
bool vgpu_kernel_hangs(const struct vgpu_queue *queue, const union vgpu_packet *packet);

/* vgpu_vf_switch.c */
static inline bool vgpu_vf_switch_must_leave(const struct vgpu_engine *engine)
{
	/* Acquire: leave_at, which the caller may read. Partner: vf_switch_stop(). */
	return engine->group && smp_load_acquire(&engine->group->leaving) &
				~READ_ONCE(engine->group->owed) & BIT(engine->node);
}

void vgpu_vf_switch_init(struct vgpu_chip *chip);
void vgpu_vf_switch_served_locked(struct vgpu_engine *engine);
void vgpu_vf_switch_served(struct vgpu_engine *engine);
void vgpu_vf_switch_left_locked(struct vgpu_engine *engine);
void vgpu_vf_switch_fini(struct vgpu_chip *chip);
void vgpu_vf_switch_power_on(struct vgpu_chip *chip, struct vgpu *gpu);
void vgpu_vf_switch_forget(struct vgpu_chip *chip, struct vgpu *gpu);
void vgpu_vf_switch_update_locked(struct vgpu_node *node);
void vgpu_vf_switch_kick_locked(struct vgpu *gpu);
bool vgpu_vf_switch_owns_all_locked(struct vgpu *gpu);
void vgpu_vf_switch_take_registers_locked(struct vgpu_engine *engine, struct vgpu_queue *queue);
void vgpu_vf_switch_drop_registers_locked(struct vgpu_queue *queue);

/* vgpu_image.c */
void vgpu_image_add_queue(struct vgpu_queue *queue);
void vgpu_image_remove_queue(struct vgpu_queue *queue);

/* vgpu_power.c */
void vgpu_power_ask_f1(struct vgpu_engine *engine);
bool vgpu_power_may_ask_f1(struct vgpu_engine *engine);

/* vgpu_reset.c */
void vgpu_reset_hung(struct vgpu_engine *engine, struct vgpu_queue *queue);
void vgpu_reset_faulted_locked(struct vgpu_engine *engine, struct vgpu_queue *queue);
void vgpu_reset_forget(struct vgpu *gpu);

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
void vgpu_log_forget(struct vgpu_queue *queue);
unsigned int vgpu_log_collect(struct vgpu_log *log, struct drm_vfence_log_entry *entry,
			      unsigned int max);
enum drm_vfence_fault vgpu_log_write(struct vgpu_queue *queue,
				     const struct drm_vfence_packet_log *packet);

/* vgpu_cmp.c */
int vgpu_cmp_start(struct vgpu *gpu);
void vgpu_cmp_stop(struct vgpu *gpu);
void vgpu_cmp_post(struct vgpu *gpu, const struct vgpu_cmp_post *post);
void vgpu_cmp_post_in_step(struct vgpu *gpu, struct vgpu_engine *engine,
			   const struct vgpu_cmp_post *post);
void vgpu_cmp_run(struct vgpu *gpu, struct vgpu_engine *engine);
bool vgpu_cmp_has_room(struct vgpu *gpu, const struct vgpu_vm *vm);
void vgpu_cmp_update_shadow(struct vgpu_fence *fence, u64 value);

#endif
