/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ROOM_H_
#define _VFENCE_ROOM_H_

struct vfence_kernel_queue;

int vfence_room_enter(struct vfence_kernel_queue *kernel);
void vfence_room_leave(struct vfence_kernel_queue *kernel);
int vfence_room_sleep(struct vfence_kernel_queue *kernel);
void vfence_room_wake(struct vfence_kernel_queue *kernel);

#endif
