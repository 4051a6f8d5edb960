/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CONFIGFS_H_
#define _VFENCE_CONFIGFS_H_

/* Of kernels with configfs alone: see Kbuild. */
int vfence_configfs_init(void);
void vfence_configfs_fini(void);

#endif
