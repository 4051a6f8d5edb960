/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_MEMBERS_H_
#define _VFENCE_MEMBERS_H_

#include <linux/types.h>

struct vfence_adapter;
struct vfence_cross_adapter;
struct vfence_fence;

struct vfence_fence *vfence_members_find(struct vfence_cross_adapter *cross,
					 struct vfence_adapter *adapter);
struct vfence_fence *vfence_members_join(struct vfence_cross_adapter *cross,
					 struct vfence_fence *created);
struct vfence_fence *vfence_members_take(struct vfence_cross_adapter *cross);
u64 vfence_members_rewinds(struct vfence_cross_adapter *cross);
void vfence_members_for_each(struct vfence_cross_adapter *cross,
			     void (*fn)(struct vfence_fence *member, const void *arg),
			     const void *arg);

#endif
