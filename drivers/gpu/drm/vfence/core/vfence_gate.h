/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_GATE_H_
#define _VFENCE_GATE_H_

#include <linux/types.h>

struct vfence_adapter;

int vfence_gate_init(struct vfence_adapter *adapter);
void vfence_gate_fini(struct vfence_adapter *adapter);
int vfence_gate_enter(struct vfence_adapter *adapter, int *idx);
void vfence_gate_leave(struct vfence_adapter *adapter, int idx);
bool vfence_gate_close(struct vfence_adapter *adapter, unsigned int ms);
void vfence_gate_open(struct vfence_adapter *adapter);

#endif
