// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes: what an adapter remembers of each process that has a device, or that has hung
 * engines.
 *
 * A process that destroys its devices and creates others is still the same process. What it has
 * hung is therefore kept without a device, for a bounded number of processes.
 */

#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/vfence_adapter.h"
#include "core/vfence_process.h"

/* Number of processes without devices whose hangs an adapter remembers. */
#define PROCESS_MAX_KEPT	64

static void process_free(struct vfence_process *process)
{
	if (!process)
		return;
	put_pid(process->pid);
	vfence_object_free(PROCESS, process);
}

static int process_compare(const void *pid, const struct rb_node *node)
{
	unsigned long a = (unsigned long)pid;
	unsigned long b = (unsigned long)rb_entry(node, struct vfence_process, node)->pid;

	return a < b ? -1 : a > b;
}

static int process_compare_nodes(struct rb_node *node, const struct rb_node *other)
{
	return process_compare(rb_entry(node, struct vfence_process, node)->pid, other);
}

static bool process_has_ended(struct vfence_process *process)
{
	bool ended;

	rcu_read_lock();
	ended = !pid_task(process->pid, PIDTYPE_TGID);
	rcu_read_unlock();
	return ended;
}

/* Choose the process to forget: one that has ended, or else the oldest one. */
static struct vfence_process *process_choose_locked(struct vfence_processes *processes)
{
	struct vfence_process *process;

	lockdep_assert_held(&processes->lock);
	list_for_each_entry(process, &processes->kept, kept)
		if (process_has_ended(process))
			return process;
	return list_first_entry(&processes->kept, struct vfence_process, kept);
}

/* Return the process that the caller is to free. */
static struct vfence_process *process_forget_locked(struct vfence_processes *processes,
						    struct vfence_process *process)
{
	lockdep_assert_held(&processes->lock);
	list_del(&process->kept);
	processes->kept_count--;
	rb_erase(&process->node, &processes->tree);
	return process;
}

/* The last device is gone. Return the process that the caller is to free, or NULL. */
static struct vfence_process *process_keep_locked(struct vfence_processes *processes,
						  struct vfence_process *process)
{
	lockdep_assert_held(&processes->lock);
	if (!vfence_timeout_hung_ever(&process->hangs)) {
		rb_erase(&process->node, &processes->tree);
		return process;
	}
	list_add_tail(&process->kept, &processes->kept);
	if (++processes->kept_count <= PROCESS_MAX_KEPT)
		return NULL;
	return process_forget_locked(processes, process_choose_locked(processes));
}

/* Find the process, or else add @new. */
static struct vfence_process *process_find_locked(struct vfence_processes *processes,
						  struct vfence_process *new)
{
	struct rb_node *node = rb_find_add(&new->node, &processes->tree, process_compare_nodes);
	struct vfence_process *process = node ? rb_entry(node, struct vfence_process, node) : new;

	lockdep_assert_held(&processes->lock);
	if (!process->users++ && process != new) {
		list_del(&process->kept);
		processes->kept_count--;
	}
	return process;
}

/**
 * vfence_process_get_current - the current process is about to create a device
 * @adapter: the adapter
 *
 * Return: the process, which the caller drops with vfence_process_put(), or ERR_PTR(-ENOMEM).
 */
struct vfence_process *vfence_process_get_current(struct vfence_adapter *adapter)
{
	struct vfence_process *process, *new = vfence_object_alloc(PROCESS, sizeof(*new));

	if (!new)
		return ERR_PTR(-ENOMEM);
	new->adapter = adapter;
	new->pid = get_pid(task_tgid(current));
	spin_lock_init(&new->lock);

	spin_lock(&adapter->processes.lock);
	process = process_find_locked(&adapter->processes, new);
	spin_unlock(&adapter->processes.lock);
	if (process != new)
		process_free(new);
	return process;
}

/** vfence_process_put - drop a reference; process context */
void vfence_process_put(struct vfence_process *process)
{
	struct vfence_processes *processes = &process->adapter->processes;
	struct vfence_process *unused = NULL;

	spin_lock(&processes->lock);
	if (!--process->users)
		unused = process_keep_locked(processes, process);
	spin_unlock(&processes->lock);
	process_free(unused);
}

/**
 * vfence_process_name - the name of the process, or "" if it has ended
 * @process: the process
 * @name: out: its name
 *
 * A process chooses its name. Reports are lines of text: what is not printable ASCII becomes '?'.
 */
void vfence_process_name(struct vfence_process *process, char name[TASK_COMM_LEN])
{
	struct task_struct *task;
	char *at;

	name[0] = 0;
	rcu_read_lock();
	task = pid_task(process->pid, PIDTYPE_TGID);
	if (task)
		strscpy(name, task->comm, TASK_COMM_LEN);
	rcu_read_unlock();

	for (at = name; *at; at++)
		if (!isascii(*at) || !isprint(*at))
			*at = '?';
}

/**
 * vfence_process_hung - a device of the process has hung its engine (WDDM-164)
 * @process: the process
 *
 * Return: true if the process is blocked from now on.
 */
bool vfence_process_hung(struct vfence_process *process)
{
	struct vfence_adapter *adapter = process->adapter;
	const struct vfence_timeout_config config = {
		.debug_mode = READ_ONCE(adapter->tdr.debug_mode),
		.limit_count = READ_ONCE(adapter->tdr.limit_count),
		.limit_time_s = READ_ONCE(adapter->tdr.limit_time_s),
	};
	bool blocks;

	spin_lock(&process->lock);
	vfence_timeout_note(&process->hangs, ktime_to_ms(ktime_get()));
	blocks = vfence_timeout_blocks(&config, &process->hangs);
	spin_unlock(&process->lock);
	/* Full barrier. Partner: queue_create_locked() publishes a queue, then reads it. */
	return blocks && !xchg(&process->blocked, true);
}

/** vfence_process_init - prepare an adapter for processes; cannot fail */
void vfence_process_init(struct vfence_adapter *adapter)
{
	struct vfence_processes *processes = &adapter->processes;

	spin_lock_init(&processes->lock);
	processes->tree = RB_ROOT;
	INIT_LIST_HEAD(&processes->kept);
}

/** vfence_process_fini - undo vfence_process_init(); no device is left */
void vfence_process_fini(struct vfence_adapter *adapter)
{
	struct vfence_process *process, *next;

	list_for_each_entry_safe(process, next, &adapter->processes.kept, kept)
		process_free(process);
}
