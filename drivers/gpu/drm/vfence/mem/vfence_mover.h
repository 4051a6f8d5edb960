/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_MOVER_H_
#define _VFENCE_MOVER_H_

struct vfence_adapter;

void vfence_mover_init(struct vfence_adapter *adapter);
void vfence_mover_purge(struct vfence_adapter *adapter);
int vfence_mover_power_off(struct vfence_adapter *adapter);

#endif
