// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes: what an adapter remembers of each process that has an open file, or that has hung
 * engines.
 *
 * A process can fork: what its children do counts for the process that opened the file, or that
 * uses the adapter itself. It ends where a process executes a program and opens a file of its own:
 * a desktop starts the programs of its user, and goes on when one of them hangs.
 *
 * A process that closes its files and opens others is still the same process. What it has hung is
 * therefore kept without a file, for a bounded number of processes.
 */

#include <linux/cred.h>
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
#include <linux/uidgid.h>

#include "core/vfence_adapter.h"
#include "core/vfence_process.h"

/* Number of processes without files whose hangs an adapter remembers. */
#define PROCESS_MAX_KEPT	64
/* Number of ancestors that are looked at, because a client decides how many it has. */
#define PROCESS_MAX_DEPTH	64

static void process_free(struct vfence_process *process)
{
	if (!process)
		return;
	put_pid(process->pid);
	vfence_leak_check_free(PROCESS, process);
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

/* The last user is gone. Return the process that the caller is to free, or NULL. */
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

/* Return the parent if it runs for the same user, or NULL. A tracer is no parent. */
static struct task_struct *process_parent(struct task_struct *task)
{
	struct task_struct *parent = rcu_dereference(task->real_parent)->group_leader;

	return parent != task && uid_eq(task_uid(parent), current_uid()) ? parent : NULL;
}

/*
 * Does the process execute what its parent executed when it forked? Otherwise that is a new
 * program, or the parent has ended and another one took its place.
 */
static bool process_is_fork(const struct task_struct *task, const struct task_struct *parent)
{
	/* A change meanwhile decides for or against; other flags do not matter. */
	return data_race(task->flags & PF_FORKNOEXEC) &&
	       READ_ONCE(task->self_exec_id) == READ_ONCE(parent->self_exec_id);
}

/* Find the current process, or else the closest one that forked it, itself or through others. */
static struct vfence_process *process_find_locked(struct vfence_processes *processes)
{
	struct task_struct *task = current->group_leader, *parent;
	struct rb_node *node = NULL;
	unsigned int depth;

	lockdep_assert_held(&processes->lock);
	rcu_read_lock();
	for (depth = 0; depth < PROCESS_MAX_DEPTH; depth++) {
		node = rb_find(task_tgid(task), &processes->tree, process_compare);
		parent = process_parent(task);
		if (node || !parent || !process_is_fork(task, parent))
			break;
		task = parent;
	}
	rcu_read_unlock();
	return node ? rb_entry(node, struct vfence_process, node) : NULL;
}

static void process_use_locked(struct vfence_processes *processes, struct vfence_process *process)
{
	lockdep_assert_held(&processes->lock);
	if (process->users++)
		return;
	list_del_init(&process->kept);
	processes->kept_count--;
}

/* Return the process that counts for the current one, which may be @new. */
static struct vfence_process *process_find_or_add_locked(struct vfence_processes *processes,
							 struct vfence_process *new)
{
	struct vfence_process *process = process_find_locked(processes);

	lockdep_assert_held(&processes->lock);
	if (process) {
		process_use_locked(processes, process);
		return process;
	}
	new->users = 1;
	rb_find_add(&new->node, &processes->tree, process_compare_nodes);
	return new;
}

/**
 * vfence_process_get_current - the current process is about to open a file
 * @adapter: the adapter
 *
 * Return: the process that counts for it, which the caller drops with vfence_process_put(), or
 * ERR_PTR(-ENOMEM).
 */
struct vfence_process *vfence_process_get_current(struct vfence_adapter *adapter)
{
	struct vfence_process *process, *new = vfence_leak_check_alloc(PROCESS, sizeof(*new));

	if (!new)
		return ERR_PTR(-ENOMEM);
	new->adapter = adapter;
	new->pid = get_pid(task_tgid(current));
	INIT_LIST_HEAD(&new->kept);
	spin_lock_init(&new->lock);

	spin_lock(&adapter->processes.lock);
	process = process_find_or_add_locked(&adapter->processes, new);
	spin_unlock(&adapter->processes.lock);
	if (process != new)
		process_free(new);
	return process;
}

/* Has @process started the current one, itself or through others? */
static bool process_is_ancestor(const struct vfence_process *process)
{
	struct task_struct *task = current->group_leader;
	bool found = false;
	unsigned int depth;

	rcu_read_lock();
	for (depth = 0; task && !found && depth < PROCESS_MAX_DEPTH; depth++) {
		found = task_tgid(task) == process->pid;
		task = process_parent(task);
	}
	rcu_read_unlock();
	return found;
}

/**
 * vfence_process_get_of - the current process is about to create a device
 * @opener: the process that opened the file
 *
 * A process that got the file as a message from one that has not started it stands for itself.
 *
 * Return: as vfence_process_get_current().
 */
struct vfence_process *vfence_process_get_of(struct vfence_process *opener)
{
	struct vfence_processes *processes = &opener->adapter->processes;

	if (!process_is_ancestor(opener))
		return vfence_process_get_current(opener->adapter);
	spin_lock(&processes->lock);
	process_use_locked(processes, opener);
	spin_unlock(&processes->lock);
	return opener;
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
 * vfence_process_name - the name of a process, or "" if it has ended
 * @pid: the process
 * @name: out: its name
 *
 * A process chooses its name. Reports are lines of text: what is not printable ASCII becomes '?'.
 */
void vfence_process_name(struct pid *pid, char name[TASK_COMM_LEN])
{
	struct task_struct *task;
	char *at;

	name[0] = 0;
	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (task)
		strscpy(name, task->comm, TASK_COMM_LEN);
	rcu_read_unlock();

	for (at = name; *at; at++)
		if (!isascii(*at) || !isprint(*at))
			*at = '?';
}

/**
 * vfence_process_hung - a device that counts for the process has hung its engine (WDDM-164)
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
	/* Full barrier. Partner: queue_publish_locked() publishes a queue, then reads it. */
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

/** vfence_process_fini - undo vfence_process_init(); no file is left */
void vfence_process_fini(struct vfence_adapter *adapter)
{
	struct vfence_process *process, *next;

	list_for_each_entry_safe(process, next, &adapter->processes.kept, kept)
		process_free(process);
}
