/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ENGINE_H_
#define _VFENCE_ENGINE_H_

struct vfence_adapter;

void vfence_engine_init(struct vfence_adapter *adapter);
void vfence_engine_add_source(struct vfence_adapter *adapter);

#endif
