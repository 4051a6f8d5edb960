/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_QUEUES_TYPES_H_
#define _VFENCE_QUEUES_TYPES_H_

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "hw/vgpu.h"

struct vfence_doorbell;
struct workqueue_struct;

/**
 * struct vfence_published - submissions whose dma_fence is published; queue/vfence_published.c
 */
struct vfence_published {
	/** @lock: protects the members below; innermost */
	spinlock_t lock;
	/** @count: number of those that have not ended; read without the lock */
	unsigned int count;
	/** @closed: no submission may publish its dma_fence; read without the lock */
	bool closed;
	/** @drained: the thread that pauses the function waits here until @count is 0 */
	wait_queue_head_t drained;
	/** @opened: threads that submit wait here until it is open, exclusively */
	wait_queue_head_t opened;
};

/**
 * struct vfence_queues - an adapter's contexts and queues, and their workqueues
 */
struct vfence_queues {
	/**
	 * @table: Maps a global handle to &struct vfence_queue. Readers hold the RCU read
	 * lock or vfence_irq.lock.
	 */
	struct xarray table;
	/** @next: allocation hint of @table, so that a handle is reused as late as possible */
	u32 next;
	/** @count: number of queues that exist */
	atomic_t count;

	/** @contexts: maps a global handle to &struct vfence_context */
	struct xarray contexts;
	/** @next_context: allocation hint of @contexts */
	u32 next_context;
	/** @suspend_wait: threads that suspend a context sleep here */
	wait_queue_head_t suspend_wait;

	/**
	 * @doorbell_lock: protects @physical, @line, @doorbell_clock and vfence_queue.doorbell;
	 * taken inside vfence_doorbell.lock, and held for a few instructions
	 */
	struct mutex doorbell_lock;
	/** @line: doorbells that wait for a physical one, in the order in which they get it */
	struct list_head line;
	/** @physical: the doorbell object that has each physical doorbell, or NULL */
	struct vfence_doorbell *physical[VGPU_MAX_DOORBELLS];
	/** @doorbell_clock: number of grants so far, by which the oldest is found */
	u64 doorbell_clock;
	/**
	 * @doorbell_wq: the doorbell threads, which connect, disconnect and arm doorbells, each
	 * apart from others. Resets wait for them: they wait for no client, and have a rescuer.
	 */
	struct workqueue_struct *doorbell_wq;

	/** @level_lock: serialises changes of @logging_level; taken outside vfence_log.lock */
	struct mutex level_lock;
	/** @logging_level: &enum drm_vfence_logging_level; read without a lock */
	u32 logging_level;
	/** @signaled: queues whose logs the threaded half must read */
	struct llist_head signaled;
	/** @logs_due: 1 if the threaded half must read the logs that have news */
	atomic_t logs_due;
	/**
	 * @logs_ignored_at: time of the GPU when an interrupt last left the logs unread, as nobody
	 * wanted to know; written by the hard half
	 */
	u64 logs_ignored_at;

	/** @submit_wq: passes submissions whose waits are over to drm_sched */
	struct workqueue_struct *submit_wq;
	/**
	 * @run_wq: Runs the schedulers of all kernel-mode queues, retires submissions and gives
	 * throttled users the engines again. dma_fences depend on it: nothing in it waits for a
	 * client or for memory.
	 */
	struct workqueue_struct *run_wq;
	/** @retire_all: work that retires submissions of all queues, as records are missing */
	struct work_struct retire_all;
	/** @signal_wq: performs stage signals; clients decide how long each takes */
	struct workqueue_struct *signal_wq;
	/** @published: submissions whose dma_fence is published */
	struct vfence_published published;
};

#endif
