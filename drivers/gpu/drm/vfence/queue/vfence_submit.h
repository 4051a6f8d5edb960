/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SUBMIT_H_
#define _VFENCE_SUBMIT_H_

#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

#include "vfence_compat.h"

struct drm_device;
struct drm_file;
struct dma_fence;
struct vfence_in_syncs;
struct vfence_kernel_queue;
struct vfence_stages;
struct vfence_wait;

/**
 * struct vfence_submission - what one queue has to do with one SUBMIT
 *
 * ::
 *
 *            head of its queue,        run_job()             retired
 *    HELD --------------------> QUEUED ----------> RUNNING ----------> done
 *            waits met, or         |                  |
 *            the queue is stopped  | it is stopped    | it is stopped
 *                                  +------------------+--------------> failed
 *
 * HELD it belongs to its queue, later to its drm_sched job. All end in the order in which
 * they came, be the queue stopped or not: vfence_job_retire() is where.
 */
struct vfence_submission {
	/** @job: from QUEUED on the scheduler's */
	struct drm_sched_job job;
	/** @kernel: parent */
	struct vfence_kernel_queue *kernel;
	/** @link: in kernel->held or kernel->running */
	struct list_head link;
	/** @progress: value of the progress fence when it is done; names it on the ring */
	u64 progress;
	/** @wait: fence points, or NULL once they are reached */
	struct vfence_wait *wait;
	/** @begun: @wait was begun; kernel->lock */
	bool begun;
	/** @in_syncs: dma_fences, or NULL */
	struct vfence_in_syncs *in_syncs;
	/** @stages: what it announces */
	struct vfence_stages *stages;
	/** @on_ring: the GPU has it; before it is in kernel->running */
	bool on_ring;
	/** @fetched: it has announced that it was; kernel->retire_lock */
	bool fetched;
	/** @done: it, to others */
	struct dma_fence *done;
	/** @commands: packets, checked */
	void *commands;
	/** @size: bytes of them */
	u32 size;
	/** @entered: it counts in kernel->live, and keeps the adapter awake */
	bool entered;
	/** @free: frees it, where nothing waits for that */
	struct work_struct free;
};

void vfence_submit_free(struct vfence_submission *submission);
int vfence_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
