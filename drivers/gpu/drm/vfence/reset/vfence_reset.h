/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RESET_H_
#define _VFENCE_RESET_H_

struct vfence_adapter;

void vfence_reset_init(struct vfence_adapter *adapter);

#endif
