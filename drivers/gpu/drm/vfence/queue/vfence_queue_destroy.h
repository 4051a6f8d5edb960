/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_QUEUE_DESTROY_H_
#define _VFENCE_QUEUE_DESTROY_H_

#include <linux/types.h>

struct list_head;
struct vfence_device;
struct vfence_file;

void vfence_queue_destroy_begin_all(struct vfence_file *file, struct vfence_device *device,
				    struct list_head *dead);
void vfence_queue_destroy_drain(struct list_head *dead);
void vfence_queue_destroy_drain_all(struct vfence_file *file);
void vfence_queue_destroy_end_all(struct vfence_file *file, struct list_head *dead);
int vfence_queue_destroy(struct vfence_file *file, u32 handle);

#endif
