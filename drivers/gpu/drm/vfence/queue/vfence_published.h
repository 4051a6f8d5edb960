/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PUBLISHED_H_
#define _VFENCE_PUBLISHED_H_

#include <linux/types.h>

struct vfence_adapter;

void vfence_published_init(struct vfence_adapter *adapter);
bool vfence_published_enter(struct vfence_adapter *adapter);
void vfence_published_leave(struct vfence_adapter *adapter);
int vfence_published_sleep(struct vfence_adapter *adapter);
int vfence_published_drain(struct vfence_adapter *adapter, unsigned int ms);
void vfence_published_open(struct vfence_adapter *adapter);

#endif
