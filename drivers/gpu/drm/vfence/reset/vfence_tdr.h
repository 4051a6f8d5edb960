/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_TDR_H_
#define _VFENCE_TDR_H_

#include <linux/types.h>

struct vfence_adapter;

void vfence_tdr_init(struct vfence_adapter *adapter);
void vfence_tdr_fini(struct vfence_adapter *adapter);
bool vfence_tdr_timed_out(struct vfence_adapter *adapter);

#endif
