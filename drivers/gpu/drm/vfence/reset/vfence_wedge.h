/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_WEDGE_H_
#define _VFENCE_WEDGE_H_

struct pid;
struct vfence_adapter;

void vfence_wedge_recovered(struct vfence_adapter *adapter, struct pid *id);
void vfence_wedge_revived(struct vfence_adapter *adapter);
void vfence_wedge_lost(struct vfence_adapter *adapter);

#endif
