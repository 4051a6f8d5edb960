/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PAGING_H_
#define _VFENCE_PAGING_H_

#include "hw/vgpu.h"

struct vfence_adapter;

int vfence_paging_init(struct vfence_adapter *adapter);
void vfence_paging_fini(struct vfence_adapter *adapter);
int vfence_paging_run(struct vfence_adapter *adapter, enum vgpu_kernel_opcode opcode,
		      struct vgpu_storage *storage, void *kva);
void vfence_paging_fail(struct vfence_adapter *adapter);
int vfence_paging_restart(struct vfence_adapter *adapter);
void vfence_paging_wake(struct vfence_adapter *adapter);

#endif
