/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RESET_TYPES_H_
#define _VFENCE_RESET_TYPES_H_

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/vfence_deadline.h"
#include "hw/vgpu.h"
#include "vfence_timeout.h"

/**
 * struct vfence_dump - what an engine did when it was found to hang
 */
struct vfence_dump {
	/** @pending: 1 until @work has read the other members, which one thread writes before */
	atomic_t pending;
	/** @node: node of the engine */
	unsigned int node;
	/** @reason: 0x141 or 0x117 */
	unsigned int reason;
	/** @type: why there is a recovery */
	enum vfence_timeout_type type;
	/** @pid: process whose context was on the engine, or 0 */
	int pid;
	/** @name: name of that process */
	char name[TASK_COMM_LEN];
	/** @info: what the GPU says */
	struct vgpu_debug_info info;
	/** @work: makes a device core dump of it */
	struct work_struct work;
};

/**
 * struct vfence_sign - a sign of life that an engine was asked for
 */
struct vfence_sign {
	/** @adapter: the adapter */
	struct vfence_adapter *adapter;
	/** @deadline: whether it is late */
	struct vfence_deadline deadline;
	/** @request: the request, from vgpu_engine_ask(), or 0 */
	u64 request;
};

/**
 * struct vfence_watch - what the last check of the GPU has seen; used by its work only
 */
struct vfence_watch {
	/**
	 * @wq: runs @work; not &vfence_reset.wq, in which a time-out may wait for an engine that
	 * has stopped, until a check finds that
	 */
	struct workqueue_struct *wq;
	/** @work: checks again; see reset/vfence_watch.c */
	struct delayed_work work;
	/** @check_at: when the next check is due, in ns, or 0; under &vfence_deadlines.lock */
	u64 check_at;
	/** @stopped: after the unplug @work runs no more; under &vfence_deadlines.lock */
	bool stopped;
	/** @sign: one for the engine of each node */
	struct vfence_sign sign[VGPU_MAX_NODES];
	/** @posts: the CMP had posts to handle */
	bool posts;
	/** @done: number of posts that it had handled */
	u64 done;
	/** @records: there was work for the interrupt */
	bool records;
	/** @runs: number of runs of its halves by then */
	u32 runs;
};

/**
 * struct vfence_mailbox - messages of the host; see reset/vfence_mailbox.c
 */
struct vfence_mailbox {
	/** @wait: the thread that waits for an answer sleeps here */
	wait_queue_head_t wait;
	/** @answers: mask of the answers that have come, by &enum vgpu_mail_to_guest */
	atomic_t answers;
	/** @stopped: the adapter is unplugged, and waits end at once */
	bool stopped;
	/** @received: number of messages, by &enum vgpu_mail_to_guest */
	atomic_t received[VGPU_MAIL_GPU_RESET_DONE + 1];
};

/**
 * struct vfence_reset - an adapter's recovery; the part of the adapter that reset/ owns
 */
struct vfence_reset {
	/** @lock: serialises resets of engines and of the adapter */
	struct mutex lock;
	/** @stopped: the adapter is unplugged, and nothing is reset any more; @lock */
	bool stopped;
	/** @paused: no reset begins, as it would wait for the resume of the function; @lock */
	bool paused;
	/** @flr_due: @flr_work has to run when the function is resumed; @lock */
	bool flr_due;
	/** @collateral: the next reset counts as no hang: another function has caused it */
	bool collateral;
	/** @hangs: when the adapter was reset; @lock */
	struct vfence_timeout_window hangs;
	/** @dump: the last hang */
	struct vfence_dump dump;

	/** @tdr_lock: protects &vfence_adapter.tdr against other writers */
	struct mutex tdr_lock;

	/**
	 * @wq: resets and the time-outs of drm_sched, on which dma_fences depend, one after the
	 * other. A work here waits for no client, nor for a work that does
	 */
	struct workqueue_struct *wq;
	/** @loss_wq: stops queues after a reset or a loss; waits for no client */
	struct workqueue_struct *loss_wq;
	/** @watch: checks the GPU while it has clients */
	struct vfence_watch watch;
	/** @engine_work: work that queries the states of the engines and reacts to them */
	struct work_struct engine_work;
	/** @mailbox: messages of the host */
	struct vfence_mailbox mailbox;
	/** @notice_work: work that prepares for a reset by the host */
	struct work_struct notice_work;
	/** @flr_work: work that finishes a reset that the host has begun */
	struct work_struct flr_work;
	/** @sweep_work: work that stops the queues of all devices that have failed */
	struct work_struct sweep_work;
	/** @lost_due: @sweep_work has to end all waits, as the adapter is lost; atomic */
	bool lost_due;
};

#endif
