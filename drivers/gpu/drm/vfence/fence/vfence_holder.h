/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_HOLDER_H_
#define _VFENCE_HOLDER_H_

#include <linux/types.h>

struct vfence_adapter;
struct vfence_fence;

bool vfence_holder_get_fd(struct vfence_fence *fence, u32 rights);
void vfence_holder_put_fd(struct vfence_fence *fence, u32 rights);
bool vfence_holder_get(struct vfence_fence *fence, u32 rights);
void vfence_holder_put(struct vfence_fence *fence, u32 rights);
void vfence_holder_end(struct vfence_fence *fence, int error);
void vfence_holder_fail_all(struct vfence_adapter *adapter, int error);
void vfence_holder_unplug(struct vfence_adapter *adapter);

#endif
