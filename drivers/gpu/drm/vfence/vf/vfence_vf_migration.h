/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VF_MIGRATION_H_
#define _VFENCE_VF_MIGRATION_H_

#include <linux/types.h>

struct dentry;
struct vfence_vf_exclusive;
struct vfence_adapter;
struct vfence_vf_migration;
struct vfence_vf_sched;

struct vfence_vf_migration *vfence_vf_migration_create(struct vfence_vf_sched *sched,
						       struct vfence_vf_exclusive *exclusive,
						       struct dentry *folder);
void vfence_vf_migration_destroy(struct vfence_vf_migration *state);
void vfence_vf_migration_join(struct vfence_vf_migration *state, struct vfence_adapter *adapter);
void vfence_vf_migration_leave(struct vfence_vf_migration *state, struct vfence_adapter *adapter);
int vfence_vf_migration_pause(struct vfence_vf_migration *state, unsigned int function, bool pause);

#endif
