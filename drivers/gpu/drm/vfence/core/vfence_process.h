/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PROCESS_H_
#define _VFENCE_PROCESS_H_

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "vfence_timeout.h"
#include "vfence_victim.h"

struct pid;
struct vfence_adapter;

/**
 * struct vfence_process - a process that has opened files, and the children that count for it
 */
struct vfence_process {
	/** @adapter: the adapter */
	struct vfence_adapter *adapter;
	/** @pid: the process, with a reference; sorts the tree */
	struct pid *pid;
	/** @node: node in &vfence_processes.tree */
	struct rb_node node;
	/** @users: its files and devices; under &vfence_processes.lock */
	unsigned int users;
	/** @kept: link in &vfence_processes.kept while it has no file */
	struct list_head kept;

	/** @lock: protects @hangs while the process has a file */
	spinlock_t lock;
	/** @hangs: when devices of the process have hung */
	struct vfence_timeout_window hangs;
	/** @doorbells: its physical doorbells; vfence_queues.doorbell_lock */
	struct vfence_victim_owner doorbells;
	/** @blocked: the processes may not use the adapter any more; set once */
	bool blocked;
};

struct vfence_process *vfence_process_get_current(struct vfence_adapter *adapter);
struct vfence_process *vfence_process_get_of(struct vfence_process *opener);
void vfence_process_put(struct vfence_process *process);
void vfence_process_name(struct pid *pid, char name[TASK_COMM_LEN]);
bool vfence_process_hung(struct vfence_process *process);
void vfence_process_init(struct vfence_adapter *adapter);
void vfence_process_fini(struct vfence_adapter *adapter);

#endif
