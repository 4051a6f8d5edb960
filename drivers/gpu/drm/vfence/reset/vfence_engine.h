/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ENGINE_H_
#define _VFENCE_ENGINE_H_

#include <linux/types.h>

struct vfence_adapter;

void vfence_engine_init(struct vfence_adapter *adapter);
void vfence_engine_add_source(struct vfence_adapter *adapter);
void vfence_engine_fini(struct vfence_adapter *adapter);
void vfence_engine_reset(struct vfence_adapter *adapter, unsigned int node, bool force);
void vfence_engine_invalidated(void *host, u32 global, bool collateral);

#endif
