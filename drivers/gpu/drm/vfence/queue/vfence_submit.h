/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SUBMIT_H_
#define _VFENCE_SUBMIT_H_

#include "fence/vfence_sync.h"
#include "vfence_queue.h"

struct eventfd_ctx;
struct vfence_wait;

/**
 * enum vfence_stage - how far a submission is when something of it is signaled
 */
enum vfence_stage {
	/** @VFENCE_STAGE_SUBMITTED: given to the GPU */
	VFENCE_STAGE_SUBMITTED,
	/** @VFENCE_STAGE_FETCHED: all of it is in the GPU's pipeline */
	VFENCE_STAGE_FETCHED,
	/** @VFENCE_STAGE_COMPLETED: done */
	VFENCE_STAGE_COMPLETED,
	/** @VFENCE_STAGES: how many there are */
	VFENCE_STAGES,
};

struct vfence_broadcast;

/**
 * struct vfence_announcement - what is signaled once all queues have come to a stage
 */
struct vfence_announcement {
	/** @link: in vfence_kqueue.due of the queue that came last */
	struct list_head link;
	/** @broadcast: parent */
	struct vfence_broadcast *broadcast;
	/** @signals: the fences, or NULL */
	struct vfence_wait *signals;
	/** @event: an eventfd, or NULL */
	struct eventfd_ctx *event;
	/** @pending: queues that have not come so far */
	atomic_t pending;
	/** @lost: one of them never will: no fence is signaled */
	bool lost;
};

/**
 * struct vfence_broadcast - what all queues of a SUBMIT have in common
 */
struct vfence_broadcast {
	/** @ref: each submission, an announcement that is due, the call that makes it */
	struct kref ref;
	/** @flags: DRM_VFENCE_SIGNAL_*, VFENCE_SIGNAL_KEEP */
	u32 flags;
	/** @stage: what is announced at each */
	struct vfence_announcement stage[VFENCE_STAGES];
};

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
	/** @kqueue: parent */
	struct vfence_kqueue *kqueue;
	/** @link: in kqueue->held or kqueue->running */
	struct list_head link;
	/** @progress: value of the progress fence when it is done; names it on the ring */
	u64 progress;
	/** @wait: fence points, or NULL once they are reached */
	struct vfence_wait *wait;
	/** @begun: @wait was begun; kqueue->lock */
	bool begun;
	/** @deps: dma_fences, or NULL */
	struct vfence_dependencies *deps;
	/** @broadcast: what it announces */
	struct vfence_broadcast *broadcast;
	/** @on_ring: the GPU has it; before it is in kqueue->running */
	bool on_ring;
	/** @fetched: it has announced that it was; kqueue->retire_lock */
	bool fetched;
	/** @done: it, to others */
	struct dma_fence *done;
	/** @commands: packets, checked */
	void *commands;
	/** @size: bytes of them */
	u32 size;
	/** @entered: it counts in kqueue->live, and keeps the adapter awake */
	bool entered;
	/** @free: frees it, where nothing waits for that */
	struct work_struct free;
};

/**
 * struct vfence_kqueue - the kernel-mode part of a queue
 *
 * Submissions are held back by us, then queued and timed by a drm_sched of the
 * queue's own, as its GPU schedules the hardware queues.
 */
struct vfence_kqueue {
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

/* vfence_kqueue.c */
int vfence_kqueue_create(struct vfence_queue *queue,
			 const struct drm_vfence_fence_mapping *progress);
void vfence_kqueue_halt(struct vfence_kqueue *kqueue, int error);
void vfence_kqueue_stop(struct vfence_kqueue *kqueue, int error);
int vfence_kqueue_sleep_reached(struct vfence_kqueue *kqueue, struct vfence_wait *wait);
int vfence_kqueue_sleep_bounded(struct vfence_kqueue *kqueue);
void vfence_kqueue_destroy(struct vfence_kqueue *kqueue);
void vfence_kqueue_free(struct vfence_kqueue *kqueue);
int vfence_kqueue_enter(struct vfence_kqueue *kqueue);
void vfence_kqueue_leave(struct vfence_kqueue *kqueue);
u64 vfence_kqueue_hold_locked(struct vfence_kqueue *kqueue,
			      struct vfence_submission *submission);
void vfence_kqueue_query(struct vfence_kqueue *kqueue, struct drm_vfence_queue_query *args);

/* vfence_job.c */
int vfence_job_init(struct vfence_kqueue *kqueue);
void vfence_job_retire(struct vfence_kqueue *kqueue);
void vfence_job_retire_work(struct work_struct *work);

/* vfence_broadcast.c */
struct vfence_broadcast *vfence_broadcast_create(struct vfence_file *file,
						 const struct drm_vfence_submit *args);
void vfence_broadcast_put(struct vfence_broadcast *broadcast);
void vfence_broadcast_arrive(struct vfence_submission *submission, enum vfence_stage stage);
void vfence_broadcast_lose(struct vfence_submission *submission, enum vfence_stage from);
void vfence_broadcast_announce_work(struct work_struct *work);

/* vfence_submit.c */
void vfence_submission_free(struct vfence_submission *submission);
int vfence_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
