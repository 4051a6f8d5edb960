/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ADMIN_H_
#define _VFENCE_ADMIN_H_

struct vfence_admin;
struct vfence_adapter;

struct vfence_admin *vfence_admin_create(struct vfence_adapter *adapter);
void vfence_admin_destroy(struct vfence_admin *admin);

#endif
