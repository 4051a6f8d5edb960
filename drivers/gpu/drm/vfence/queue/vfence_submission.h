/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SUBMISSION_H_
#define _VFENCE_SUBMISSION_H_

#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

#include "vfence_compat.h"

struct dma_fence;
struct vfence_in_syncs;
struct vfence_kernel_queue;
struct vfence_stages;
struct vfence_wait;

/**
 * enum vfence_submission_step - what trace events say of a submission
 */
enum vfence_submission_step {
	/** @VFENCE_SUBMISSION_QUEUED: It is in its queue, and may have to wait there. */
	VFENCE_SUBMISSION_QUEUED,
	/** @VFENCE_SUBMISSION_READY: It has nothing to wait for, and drm_sched gets it. */
	VFENCE_SUBMISSION_READY,
	/** @VFENCE_SUBMISSION_ON_RING: The GPU has got it. */
	VFENCE_SUBMISSION_ON_RING,
	/** @VFENCE_SUBMISSION_FETCHED: All its packets are in the GPU's pipeline. */
	VFENCE_SUBMISSION_FETCHED,
	/** @VFENCE_SUBMISSION_DONE: It has ended, with or without an error. */
	VFENCE_SUBMISSION_DONE,
};

/**
 * struct vfence_submission - the part of one SUBMIT that one queue executes
 *
 * ::
 *
 *            head of its queue,        job_run()             retired
 *    HELD --------------------> QUEUED ----------> RUNNING ----------> done
 *            waits reached, or     |                  |
 *            the queue is stopped  | it is stopped    | it is stopped
 *                                  +------------------+--------------> failed
 *
 * While HELD a submission belongs to its queue, later to its drm_sched job. All submissions
 * of a queue end in vfence_job_retire(), in the order in which they were queued, even when
 * the queue is stopped.
 */
struct vfence_submission {
	/** @job: the scheduler's job, which owns the submission from QUEUED on */
	struct drm_sched_job job;
	/** @kernel: parent */
	struct vfence_kernel_queue *kernel;
	/** @link: in vfence_kernel_queue.held or vfence_kernel_queue.running */
	struct list_head link;
	/** @progress: the progress value that completes it; names it in packets of the ring */
	u64 progress;

	/** @wait: fence points to wait for, or NULL */
	struct vfence_wait *wait;
	/** @waiting: @wait was armed, and has not ended. Once queued: vfence_kernel_queue.lock. */
	bool waiting;
	/** @in_syncs: dma_fences to wait for, or NULL */
	struct vfence_in_syncs *in_syncs;

	/** @stages: the stage signals of its SUBMIT, with a reference */
	struct vfence_stages *stages;
	/** @on_ring: The GPU has got it. Set before it is in vfence_kernel_queue.running. */
	bool on_ring;
	/** @fetched: VFENCE_STAGE_FETCHED was reported; vfence_kernel_queue.retire_lock */
	bool fetched;
	/** @done: dma_fence that signals when the submission ends */
	struct dma_fence *done;

	/** @commands: copy of the packets, checked */
	void *commands;
	/** @size: size of @commands in bytes */
	u32 size;
	/** @signals: number of packets in @commands that signal a fence */
	unsigned int signals;

	/** @points: what it counts in vfence_file.submit_points; 0 once it has ended */
	unsigned int points;
	/** @bytes: what it counts in vfence_account.memory; 0 once it has ended */
	unsigned long bytes;
	/** @published: It counts in vfence_published.count until it ends. */
	bool published;
	/** @entered: It counts in vfence_kernel_queue.live and keeps the adapter awake. */
	bool entered;
	/** @free: work that frees it where no other thread waits for that */
	struct work_struct free;
};

void vfence_submission_uncount(struct vfence_submission *submission);
void vfence_submission_free(struct vfence_submission *submission);

#endif
