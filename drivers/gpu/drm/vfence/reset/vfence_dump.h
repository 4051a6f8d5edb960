/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_DUMP_H_
#define _VFENCE_DUMP_H_

#include "vfence_timeout.h"

struct vfence_adapter;

void vfence_dump_init(struct vfence_adapter *adapter);
void vfence_dump_engine(struct vfence_adapter *adapter, unsigned int node, unsigned int reason,
			enum vfence_timeout_type type);

#endif
