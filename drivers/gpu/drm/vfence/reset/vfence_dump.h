/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_DUMP_H_
#define _VFENCE_DUMP_H_

#include "vfence_timeout.h"

struct vfence_adapter;
struct vfence_queue;

void vfence_dump_init(struct vfence_adapter *adapter);
void vfence_dump_engine(struct vfence_adapter *adapter, unsigned int node, unsigned int reason,
			enum vfence_timeout_type type);
void vfence_dump_queue(struct vfence_adapter *adapter, struct vfence_queue *queue);

#endif
