// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room in a kernel-mode queue: the number of its submissions, and the threads that wait for room.
 */

#include <linux/wait.h>

#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_room.h"

/*
 * A client decides how long stage signals take, and they end later than their submissions. Without
 * a limit of their own it could have any number of them.
 */
static bool room_has_stages_left(struct vfence_kernel_queue *kernel)
{
	return atomic_read(&kernel->due_count) < DRM_VFENCE_MAX_SUBMISSIONS;
}

static bool room_is_there(struct vfence_kernel_queue *kernel)
{
	return atomic_read(&kernel->live) < DRM_VFENCE_MAX_SUBMISSIONS &&
	       room_has_stages_left(kernel);
}

/**
 * vfence_room_enter - count one more submission of a queue
 * @kernel: the queue, on which the caller has a reference
 *
 * kernel_queue_drain() waits for the submission. Between this call and
 * vfence_room_leave() do not wait for a client, and do not take a lock that is held
 * while queues are destroyed. Return: 0, -ENOSPC, or -EIO if the queue is stopped.
 */
int vfence_room_enter(struct vfence_kernel_queue *kernel)
{
	/* Full barrier: count, then read the error. Partner: kernel_queue_drain(). */
	if (!room_has_stages_left(kernel) ||
	    !atomic_add_unless(&kernel->live, 1, DRM_VFENCE_MAX_SUBMISSIONS))
		return READ_ONCE(kernel->error) ? -EIO : -ENOSPC;
	if (!READ_ONCE(kernel->error))
		return 0;
	vfence_room_leave(kernel);
	return -EIO;
}

/** vfence_room_leave - count one submission less; the queue may be gone on return */
void vfence_room_leave(struct vfence_kernel_queue *kernel)
{
	unsigned long flags;

	/* kernel_queue_drain() takes this lock after it has read 0. */
	spin_lock_irqsave(&kernel->wait.lock, flags);
	if (atomic_dec_and_test(&kernel->live))
		wake_up_all_locked(&kernel->wait);
	/* Each place wakes one thread, which takes it or wakes the next one. */
	wake_up(&kernel->room);
	spin_unlock_irqrestore(&kernel->wait.lock, flags);
}

/**
 * vfence_room_sleep - sleep until the queue takes another submission
 * @kernel: the queue
 *
 * A thread that returns 0 enters the queue next, or calls vfence_room_wake().
 *
 * Return: 0, also if the queue was stopped, or -ERESTARTSYS.
 */
int vfence_room_sleep(struct vfence_kernel_queue *kernel)
{
	lockdep_assert_none_held_once();
	return wait_event_interruptible_exclusive(kernel->room, room_is_there(kernel) ||
						  READ_ONCE(kernel->error));
}

/** vfence_room_wake - wake the next thread that sleeps until there is room */
void vfence_room_wake(struct vfence_kernel_queue *kernel)
{
	wake_up(&kernel->room);
}
