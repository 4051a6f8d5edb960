// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of the GPU: each engine and the CMP is a thread, which needs a processor. A time-out must
 * not count the time in which the thread waits for one: the GPU does not hang then.
 */

#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>

#include "vgpu_types.h"

/* Start the thread. It may have stopped before. */
int vgpu_thread_start(struct vgpu_thread *thread, int (*run)(void *data), void *data,
		      const char *name)
{
	struct task_struct *task = kthread_create(run, data, "%s", name), *old = thread->task;

	if (IS_ERR(task))
		return PTR_ERR(task);
	WRITE_ONCE(thread->task, get_task_struct(task));
	thread->runs = true;
	wake_up_process(task);
	if (old) {
		synchronize_rcu();
		put_task_struct(old);
	}
	return 0;
}

/* Stop the thread, if it runs. Others may still ask how long it has waited. */
void vgpu_thread_stop(struct vgpu_thread *thread)
{
	if (thread->runs)
		kthread_stop(thread->task);
	thread->runs = false;
}

/* The thread has stopped, or never ran, and nobody asks for it any more. */
void vgpu_thread_fini(struct vgpu_thread *thread)
{
	if (thread->task)
		put_task_struct(thread->task);
}

/*
 * Return how long the thread has waited for a processor since it was made, in ns. This may go back
 * by the difference of the processors' clocks. Any context.
 */
u64 vgpu_thread_waited(const struct vgpu_thread *thread)
{
	const struct task_struct *task;
	u64 waited = 0;

	rcu_read_lock();
	task = READ_ONCE(thread->task);
	if (task)
		waited = vgpu_task_waited(task);
	rcu_read_unlock();
	return waited;
}

/* Return how much more @now is than @before, both of vgpu_thread_waited(), in jiffies. */
unsigned long vgpu_thread_waited_more(u64 now, u64 before)
{
	return nsecs_to_jiffies(max_t(s64, now - before, 0));
}
