/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_STATE_H_
#define _VFENCE_STATE_H_

#include <linux/types.h>

struct dentry;
struct vfence_access;
struct vfence_adapter;
struct vfence_state;
struct vfence_world;

struct vfence_state *vfence_state_create(struct vfence_world *world, struct vfence_access *access,
					 struct dentry *folder);
void vfence_state_destroy(struct vfence_state *state);
void vfence_state_join(struct vfence_state *state, struct vfence_adapter *adapter);
void vfence_state_leave(struct vfence_state *state, struct vfence_adapter *adapter);
int vfence_state_pause(struct vfence_state *state, unsigned int function, bool pause);

#endif
