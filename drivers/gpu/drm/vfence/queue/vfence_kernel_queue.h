/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_KERNEL_QUEUE_H_
#define _VFENCE_KERNEL_QUEUE_H_

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

#include "core/vfence_chore.h"
#include "drm/vfence_drm.h"
#include "queue/vfence_queue.h"
#include "vfence_compat.h"

struct vfence_submission;
struct vfence_wait;

/**
 * struct vfence_kernel_queue - a kernel-mode queue
 *
 * The driver holds submissions back; then a drm_sched of the queue's own queues and
 * times them, as the GPU schedules its hardware queues itself.
 */
struct vfence_kernel_queue {
	/** @base: the queue; its memory stays for threads that decide waits in an RCU section */
	struct vfence_queue base;

	/** @sched: scheduler of this queue alone */
	struct drm_gpu_scheduler sched;
	/** @entity: the scheduler's only source of jobs */
	struct drm_sched_entity entity;
	/** @scheduling: @sched and @entity are initialised */
	bool scheduling;

	/** @untimed: the queue has DISABLE_GPU_TIMEOUT: its submissions have no published fence */
	bool untimed;

	/** @ring: ring buffer in kernel memory, never mapped by clients */
	void *ring;
	/** @control: read and write pointer of @ring */
	struct drm_vfence_ring_control *control;

	/** @timeline: dma_fence context of the submissions */
	u64 timeline;
	/**
	 * @progress: Value that the progress fence was signaled with last: of the last submission
	 * whose signals are delivered. Used by @stage_chore alone.
	 */
	u64 progress;
	/** @aim: What @progress is to be next; used by @stage_chore, as those below */
	struct {
		/** @aim.progress: the value; not larger than @progress if there is no aim */
		u64 progress;
		/** @aim.stages: how many of all stages have to be performed before */
		unsigned int stages;
		/** @aim.events: how many events of the file have to be delivered */
		unsigned int events;
		/** @aim.performed: the stages are performed, and @aim.events is known */
		bool performed;
	} aim;
	/** @stages_performed: number of stages that were ever performed; wraps; @stage_chore */
	unsigned int stages_performed;

	/** @lock: protects @held and the order of submissions */
	struct mutex lock;
	/** @held: submissions held back, in order; @lock */
	struct list_head held;
	/** @held_count: number of submissions in @held; written under @lock, read without */
	unsigned int held_count;
	/**
	 * @unbounded: Number of submissions in @held whose fence points are not reached.
	 * Written under @lock, read without.
	 */
	unsigned int unbounded;
	/** @submitted: last progress value assigned; written under @lock, read without */
	u64 submitted;

	/**
	 * @live: Number of submissions that have entered and not been freed. The last one
	 * leaves under the lock of @wait.
	 */
	atomic_t live;
	/** @wait: the thread that waits until @live is 0 sleeps here */
	wait_queue_head_t wait;
	/** @reached: threads that wait for fence points sleep here, exclusively */
	wait_queue_head_t reached;
	/** @bounded: threads that wait until @unbounded is 0 sleep here, exclusively */
	wait_queue_head_t bounded;
	/** @stopped: The queue was stopped; set once */
	bool stopped;
	/** @ended: The last signals are performed, the progress fence is ended. @stage_chore. */
	bool ended;
	/** @room: threads that wait for a place sleep here, exclusively */
	wait_queue_head_t room;
	/** @advance: work that passes submissions from @held to @sched */
	struct work_struct advance;

	/** @run_lock: protects @ring, @running, @due_stages and writes of @error; never sleep */
	spinlock_t run_lock;
	/**
	 * @error: Nonzero once nothing more gets on the ring, and the reason. Written under
	 * @run_lock, read without.
	 */
	int error;
	/**
	 * @running: Submissions on the ring, in order, and those that arrived once the queue
	 * was stopped. Protected by @run_lock; entries leave it under @retire_lock only.
	 */
	struct list_head running;
	/** @due_stages: stage signals to perform, in order; @run_lock */
	struct list_head due_stages;
	/** @stages_queued: number of stages that were ever in @due_stages; wraps; @run_lock */
	unsigned int stages_queued;
	/** @due_count: number of @due_stages, which end later than their submissions; atomic */
	atomic_t due_count;

	/** @retired: progress value of the last completed submission; @retire_lock, read without */
	u64 retired;
	/** @timer_busy_ns: engine time of the queue when the timer expired last, in ns; its work */
	u64 timer_busy_ns;
	/**
	 * @kept_off: number of times that the timer of the first submission expired while another
	 * queue of the client had a turn. @run_lock.
	 */
	unsigned int kept_off;
	/**
	 * @head_suspended_ns: vfence_context_suspended_ns() when the first submission of
	 * @running became the first. @run_lock.
	 */
	u64 head_suspended_ns;
	/**
	 * @drain_due: Interrupts of signal packets may not be handled yet. Written before
	 * @retired, cleared by @stage_chore.
	 */
	bool drain_due;
	/** @error_assigned: The submission that was executing has got @error. @retire_lock. */
	bool error_assigned;
	/** @retire_lock: serialises the threads that retire submissions */
	struct mutex retire_lock;
	/** @retire: work that retires what the GPU has completed */
	struct work_struct retire;
	/** @stage_chore: performs @due_stages, signals @progress and ends it once @stopped */
	struct vfence_chore stage_chore;
};

extern const struct vfence_queue_ops vfence_kernel_queue_ops;

/** vfence_kernel_queue_of - the kernel-mode queue that a queue is, or NULL */
static inline struct vfence_kernel_queue *vfence_kernel_queue_of(struct vfence_queue *queue)
{
	return queue->ops->user_mode ? NULL : container_of(queue, struct vfence_kernel_queue, base);
}

/** vfence_kernel_queue_advance_later - advance the queue in a work; any context */
static inline void vfence_kernel_queue_advance_later(struct vfence_kernel_queue *kernel)
{
	vfence_queue_work(&kernel->base, kernel->base.adapter->queues.submit_wq, &kernel->advance);
}

int vfence_kernel_queue_sleep_reached(struct vfence_kernel_queue *kernel, struct vfence_wait *wait);
int vfence_kernel_queue_sleep_bounded(struct vfence_kernel_queue *kernel);
void vfence_kernel_queue_begin_wait(struct vfence_kernel_queue *kernel,
				    struct vfence_submission *submission);
u64 vfence_kernel_queue_add_locked(struct vfence_kernel_queue *kernel,
				   struct vfence_submission *submission);

#endif
