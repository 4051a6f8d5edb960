/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_GATE_H_
#define _VFENCE_GATE_H_

#include <linux/list.h>
#include <linux/types.h>

struct task_struct;
struct vfence_adapter;
struct vfence_gate_list;

/**
 * struct vfence_gate_pass - a thread in the gate; on its stack
 */
struct vfence_gate_pass {
	/** @link: entry of &vfence_gate_list.threads */
	struct list_head link;
	/** @list: the list; constant */
	struct vfence_gate_list *list;
	/** @task: the thread; constant */
	struct task_struct *task;
};

int vfence_gate_init(struct vfence_adapter *adapter);
void vfence_gate_fini(struct vfence_adapter *adapter);
int vfence_hw_enter(struct vfence_adapter *adapter, struct vfence_gate_pass *pass);
void vfence_hw_exit(struct vfence_adapter *adapter, struct vfence_gate_pass *pass);
bool vfence_gate_is_closed(struct vfence_adapter *adapter);
bool vfence_gate_close(struct vfence_adapter *adapter, unsigned int ms);
void vfence_gate_open(struct vfence_adapter *adapter);
void vfence_gate_end(struct vfence_adapter *adapter);

#endif
