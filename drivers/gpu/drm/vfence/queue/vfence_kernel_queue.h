/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_KERNEL_QUEUE_H_
#define _VFENCE_KERNEL_QUEUE_H_

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

#include "drm/vfence_drm.h"
#include "vfence_compat.h"

struct vfence_file;
struct vfence_queue;
struct vfence_submission;
struct vfence_wait;

/**
 * struct vfence_kernel_queue - the kernel-mode part of a queue
 *
 * Submissions are held back by us, then queued and timed by a drm_sched of the
 * queue's own, as its GPU schedules the hardware queues.
 */
struct vfence_kernel_queue {
	/** @queue: parent */
	struct vfence_queue *queue;
	/** @file: whose fences are looked at; NULL once the owner has let go; @lock */
	struct vfence_file *file;
	/** @sched: scheduler of this queue alone */
	struct drm_gpu_scheduler sched;
	/** @entity: what feeds it */
	struct drm_sched_entity entity;
	/** @scheduling: both are there */
	bool scheduling;
	/** @ring: its ring, never mapped by clients */
	void *ring;
	/** @control: its pointers */
	struct drm_vfence_ring_control *control;
	/** @timeline: dma_fence context */
	u64 timeline;
	/** @progress: addresses of the progress fence's values */
	struct drm_vfence_fence_mapping progress;
	/** @soft_progress: the GPU cannot signal the progress fence: what does */
	struct vfence_wait *soft_progress;
	/** @lock: what is held back, and the order of submissions */
	struct mutex lock;
	/** @held: submissions held back; @lock */
	struct list_head held;
	/** @held_count: of these; @lock, read without */
	unsigned int held_count;
	/** @unbounded: of these, with fence points not reached; @lock, read without */
	unsigned int unbounded;
	/** @submitted: last progress value given out; @lock, read without */
	u64 submitted;
	/** @late: somebody else decided a wait, and may be about to say so */
	bool late;
	/** @live: submissions, from creation to end; the last goes under @wait's lock */
	atomic_t live;
	/** @wait: for @live, @unbounded and @error to change */
	wait_queue_head_t wait;
	/** @advance: lets submissions go */
	struct work_struct advance;
	/** @run_lock: the ring, @error, @running, @due; nobody sleeps with it */
	spinlock_t run_lock;
	/** @error: nothing gets on the ring any more, and why */
	int error;
	/** @aborted: nor does anything happen there; the same reason; read without */
	int aborted;
	/** @running: submissions on the ring, in order, and those that never got there */
	struct list_head running;
	/** @due: announcements, in order */
	struct list_head due;
	/** @retired: progress value of the last that is done; read without */
	u64 retired;
	/** @blamed: the submission that the queue was at has got the reason; @retire_lock */
	bool blamed;
	/** @retire_lock: who retires submissions does it alone */
	struct mutex retire_lock;
	/** @retire: looks how far the GPU has come */
	struct work_struct retire;
	/** @announce: signals what is due */
	struct work_struct announce;
};

int vfence_kernel_queue_create(struct vfence_queue *queue,
			       const struct drm_vfence_fence_mapping *progress);
void vfence_kernel_queue_halt(struct vfence_kernel_queue *kernel, int error);
void vfence_kernel_queue_stop(struct vfence_kernel_queue *kernel, int error);
int vfence_kernel_queue_sleep_reached(struct vfence_kernel_queue *kernel, struct vfence_wait *wait);
int vfence_kernel_queue_sleep_bounded(struct vfence_kernel_queue *kernel);
void vfence_kernel_queue_destroy(struct vfence_kernel_queue *kernel);
void vfence_kernel_queue_free(struct vfence_kernel_queue *kernel);
int vfence_kernel_queue_enter(struct vfence_kernel_queue *kernel);
void vfence_kernel_queue_leave(struct vfence_kernel_queue *kernel);
u64 vfence_kernel_queue_hold_locked(struct vfence_kernel_queue *kernel,
				    struct vfence_submission *submission);
void vfence_kernel_queue_query(struct vfence_kernel_queue *kernel,
			       struct drm_vfence_queue_query *args);

#endif
