/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VF_H_
#define _VFENCE_VF_H_

struct attribute_group;
struct vfence_adapter;

extern const struct attribute_group vfence_vf_group;

void vfence_vf_init(struct vfence_adapter *adapter);
void vfence_vf_fini(struct vfence_adapter *adapter);
struct vfence_adapter *vfence_vf_physical(struct vfence_adapter *adapter);
void vfence_vf_join(struct vfence_adapter *adapter);
void vfence_vf_leave(struct vfence_adapter *adapter);
int vfence_vf_set_count(struct vfence_adapter *adapter, unsigned int count);
void vfence_vf_remove(struct vfence_adapter *adapter);

#endif
