/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_LOG_BUFFER_H_
#define _VFENCE_LOG_BUFFER_H_

#include <linux/types.h>

struct vfence_adapter;
struct vfence_queue;

int vfence_log_buffer_create(struct vfence_queue *queue);
void vfence_log_buffer_create_none(struct vfence_queue *queue);
int vfence_log_buffer_set_level(struct vfence_adapter *adapter, u32 level);

#endif
