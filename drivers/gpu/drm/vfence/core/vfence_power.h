/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_POWER_H_
#define _VFENCE_POWER_H_

struct vfence_adapter;

void vfence_power_start(struct vfence_adapter *adapter);
void vfence_power_stop(struct vfence_adapter *adapter);
int vfence_power_get(struct vfence_adapter *adapter);
void vfence_power_put(struct vfence_adapter *adapter);
void vfence_power_idle(struct vfence_adapter *adapter);
void vfence_power_retry(struct vfence_adapter *adapter);

#endif
