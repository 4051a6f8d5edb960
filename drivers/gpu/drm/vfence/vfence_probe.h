/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PROBE_H_
#define _VFENCE_PROBE_H_

struct vfence_adapter;

int vfence_probe_adapter(struct vfence_adapter *adapter, unsigned int index);
void vfence_probe_unplug(struct vfence_adapter *adapter);

#endif
