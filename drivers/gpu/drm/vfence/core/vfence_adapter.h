/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ADAPTER_H_
#define _VFENCE_ADAPTER_H_

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/ratelimit_types.h>
#include <linux/percpu-refcount.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include "core/vfence_deadline.h"
#include "core/vfence_config.h"
#include "fence/vfence_fences_types.h"
#include "irq/vfence_irq_types.h"
#include "mem/vfence_mem_types.h"
#include "queue/vfence_queues_types.h"
#include "reset/vfence_reset_types.h"
#include "vf/vfence_vf_types.h"
#include "vfence_compat.h"
#include "vfence_leak_check.h"
#include "vfence_rules.h"
#include "vfence_timeout.h"

struct vfence_adapter;
struct vfence_context;
struct vfence_device;
struct vfence_queue;

/* Counters of the driver. counter_table in vfence_counters.c names and describes each. */
enum vfence_count {
	VFENCE_COUNT_HANDLER_RUNS,
	VFENCE_COUNT_USEFUL,
	VFENCE_COUNT_SPURIOUS,
	VFENCE_COUNT_SCANS,
	VFENCE_COUNT_CPU_SIGNALS,
	VFENCE_COUNT_WAITS_BEGUN,
	VFENCE_COUNT_WAITS_SATISFIED,
	VFENCE_COUNT_WAITS_TIMED_OUT,
	VFENCE_COUNT_WAITS_CANCELLED,
	VFENCE_COUNT_SECOND_SAMPLE,
	VFENCE_COUNT_LOG_READ,
	VFENCE_COUNT_LOG_LOST,
	VFENCE_COUNT_IOCTLS,
	VFENCE_COUNT_DOORBELL_FAULTS,
	VFENCE_COUNT_PAGE_FAULTS,
	VFENCE_COUNT_FENCE_CREATED,
	VFENCE_COUNT_FENCE_OPENED,
	VFENCE_COUNT_FENCE_CLOSED,
	VFENCE_COUNT_FENCE_DESTROYED,
	VFENCE_COUNT_VICTIMISATIONS,
	VFENCE_COUNT_RECORDS_ARRAY,
	VFENCE_COUNT_RECORDS_NULL,
	VFENCE_COUNT_RECORDS_QUEUE,
	VFENCE_COUNT_RECORDS_QUEUE_NULL,
	VFENCE_COUNT_LOG_SCANS,
	VFENCE_COUNT_LIVE_READS,
	VFENCE_COUNT_LEGACY_SCANS,
	VFENCE_COUNT_F1,
	VFENCE_COUNT_D3,
	VFENCE_COUNT_ENGINE_RESETS,
	VFENCE_COUNT_RECORDS_MONITORED,
	VFENCE_COUNT_SUBMISSIONS,
	VFENCE_COUNT_SUBMISSIONS_HELD,
	VFENCE_COUNT_SUBMISSIONS_DONE,
	VFENCE_COUNT_SUBMISSIONS_LOST,
	VFENCE_COUNT_SUBMISSIONS_TIMED_OUT,
	VFENCE_COUNT_HANDLER_NS,
	VFENCE_COUNT_PROCESSES_BLOCKED,
	VFENCE_COUNT_ADAPTER_RESETS,
	VFENCE_COUNT_FALSE_ALARMS,
	VFENCE_COUNTS,
};

/**
 * struct vfence_loss_ops - causes of loss that the folders below reset/ report
 *
 * reset/ decides which devices are lost; all other folders report causes here. The functions
 * run in process context unless their description says otherwise.
 */
struct vfence_loss_ops {
	/**
	 * @device_hung: @device is HUNG, because of a time-out that the driver has found.
	 * @counts: it counts against the process that created the device
	 */
	void (*device_hung)(struct vfence_adapter *adapter, struct vfence_device *device,
			    bool counts);
	/**
	 * @device_failed: @device is in error; set its state to @state, unless it has an
	 * error state already, and stop all its queues. @counts: as above
	 */
	void (*device_failed)(struct vfence_adapter *adapter, struct vfence_device *device,
			      enum drm_vfence_device_state state, bool counts);
	/**
	 * @queue_stuck: @queue took too long and is about to be stopped, or has been: collect what
	 * it did. dma_fences may depend on the caller
	 */
	void (*queue_stuck)(struct vfence_adapter *adapter, struct vfence_queue *queue);
	/** @stop_device: work function of &vfence_device.stop_work */
	work_func_t stop_device;
	/**
	 * @timed_out: something has taken longer than &vfence_timeout_config.delay_ms; returns
	 * true if the caller is to recover, and false if it is to do nothing; any context
	 */
	bool (*timed_out)(struct vfence_adapter *adapter);
	/** @asked: an engine was asked for something, and has TdrDelay for it; not in interrupts */
	void (*asked)(struct vfence_adapter *adapter);
	/** @adapter_lost: the hardware of the adapter has failed for good; any context */
	void (*adapter_lost)(struct vfence_adapter *adapter);
};

/* Number of lists of the threads in a gate, so that processors rarely meet at one. */
#define VFENCE_GATE_LISTS	8

/**
 * struct vfence_gate_list - some of the threads in a gate
 */
struct vfence_gate_list {
	/** @lock: protects @threads; not in interrupts */
	spinlock_t lock;
	/** @threads: &struct vfence_gate_pass */
	struct list_head threads;
};

/**
 * struct vfence_gate - what clients pass on their way to the hardware; core/vfence_gate.c
 */
struct vfence_gate {
	/** @lock: serialises the threads that close, open and end the gate */
	struct mutex lock;
	/** @threads: threads in the gate; killed while it is closed, under @lock */
	struct percpu_ref threads;
	/** @lists: those of @threads, by the processor on which they have entered */
	struct vfence_gate_list lists[VFENCE_GATE_LISTS];
	/** @ended: It is never opened again. Set once under @lock, read without. */
	bool ended;
	/** @counted: @threads counts exactly, which it does only while it is killed */
	struct completion counted;
	/** @wait: the thread that closes the gate sleeps here */
	wait_queue_head_t wait;
	/** @open: threads that wait until it is open sleep here, exclusively */
	wait_queue_head_t open;
};

/**
 * struct vfence_devices - the devices of an adapter
 */
struct vfence_devices {
	/** @lock: protects @list */
	spinlock_t lock;
	/** @list: &struct vfence_device */
	struct list_head list;
};

/**
 * struct vfence_accounts - whom an adapter charges; core/vfence_account.c
 */
struct vfence_accounts {
	/** @lock: protects @tree, and references to accounts; not in interrupts */
	spinlock_t lock;
	/** @tree: &struct vfence_account of users, and of their processes */
	struct rb_root tree;
	/** @stopped: hangs have no consequences any more; under @lock */
	bool stopped;
};

/**
 * struct vfence_processes - the processes of an adapter
 */
struct vfence_processes {
	/** @lock: protects all members, and &vfence_process.users */
	spinlock_t lock;
	/** @tree: &struct vfence_process */
	struct rb_root tree;
	/** @kept: &struct vfence_process without devices, the oldest one first */
	struct list_head kept;
	/** @kept_count: number of entries of @kept */
	unsigned int kept_count;
};

/**
 * struct vfence_adapter - a DRM device with its virtual GPU
 *
 * Its locks and their order: Documentation/gpu/vfence/locking.rst.
 */
struct vfence_adapter {
	/** @drm: the DRM device */
	struct drm_device drm;
	/** @config: validated module parameters of the adapter; constant after probe */
	struct vfence_config config;
	/** @name: prefix of the names of threads and interrupts; constant after probe */
	char name[32];

	/** @native_fence: the native fence feature is enabled; constant after probe */
	bool native_fence;
	/** @user_mode_submission: user-mode submission is enabled; constant after probe */
	bool user_mode_submission;
	/**
	 * @optimized: interrupt records name queues, and the queues' logs name the fences;
	 * constant after probe
	 */
	bool optimized;

	/**
	 * @tdr: how time-outs are handled; reset/vfence_tdr.c writes the members under
	 * &vfence_reset.tdr_lock, and everybody reads them without it
	 */
	struct vfence_timeout_config tdr;
	/** @deadlines: what engines have to do within TdrDelay; owned by core/vfence_deadline.c */
	struct vfence_deadlines deadlines;

	/** @processes: processes that have devices; owned by core/vfence_process.c */
	struct vfence_processes processes;

	/** @gate: closed while the adapter is reset */
	struct vfence_gate gate;
	/** @accounts: users and processes with open files; owned by core/vfence_account.c */
	struct vfence_accounts accounts;
	/** @devices: all devices; owned by core/vfence_device.c */
	struct vfence_devices devices;
	/**
	 * @resets: number of resets of the whole adapter; written under &vfence_reset.lock, read
	 * without it
	 */
	unsigned int resets;

	/** @power_retry: asks a busy adapter to sleep again; owned by core/vfence_power.c */
	struct delayed_work power_retry;
	/** @reports: limits the lines of the kernel's log; owned by core/vfence_report.c */
	struct ratelimit_state reports;
	/** @lost: the hardware has failed for good; vfence_adapter_lose() sets it once */
	bool lost;

	/** @gpu: the virtual GPU */
	struct vgpu *gpu;
	/** @loss: operations of reset/, set before the first object exists */
	const struct vfence_loss_ops *loss;
	/**
	 * @work_wq: work that no dma_fence depends on, and whose time clients decide: frees,
	 * reports, ends of submissions
	 */
	struct workqueue_struct *work_wq;
	/** @counts: exact counters, indexed by &enum vfence_count; atomic */
	atomic64_t counts[VFENCE_COUNTS];

	/** @mem: memory; owned by mem/ */
	struct vfence_mem mem;
	/** @irq: interrupt; owned by irq/ */
	struct vfence_irq irq;
	/** @fences: fences; owned by fence/ */
	struct vfence_fences fences;
	/** @queues: contexts and queues; owned by queue/ */
	struct vfence_queues queues;
	/** @reset: recovery; owned by reset/ */
	struct vfence_reset reset;
	/** @vf: virtual functions; owned by vf/ */
	struct vfence_vf vf;
};

static inline const struct vgpu_fence_caps *
vfence_fence_caps(const struct vfence_adapter *adapter)
{
	return &adapter->config.gpu.fence_caps;
}

#define to_vfence_adapter(d) container_of(d, struct vfence_adapter, drm)

static inline void vfence_count(struct vfence_adapter *adapter, enum vfence_count counter)
{
	atomic64_inc(&adapter->counts[counter]);
}

static inline void vfence_count_add(struct vfence_adapter *adapter, enum vfence_count counter,
				    u64 n)
{
	atomic64_add(n, &adapter->counts[counter]);
}

/**
 * vfence_reject - evaluate to @cond, and log @cond at debug level if it is true
 * @drm: the DRM device
 * @cond: condition under which the client's call is rejected
 */
#define vfence_reject(drm, cond) \
	((cond) ? (drm_dbg_driver((drm), "rejected: %s\n", #cond), true) : false)

/* Windows' stop codes: see vfence_adapter_lose(). */
#define VFENCE_STOP_TDR_FAILURE		0x116
#define VFENCE_STOP_SCHEDULER_ERROR	0x119
/* These do not stop anything: they are reasons of a dump. */
#define VFENCE_STOP_TIMEOUT_DETECTED	0x117
#define VFENCE_STOP_ENGINE_TIMEOUT	0x141

void vfence_adapter_lose(struct vfence_adapter *adapter, unsigned int code, unsigned int subcode);

#endif
