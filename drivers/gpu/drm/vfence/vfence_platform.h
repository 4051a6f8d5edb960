/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PLATFORM_H_
#define _VFENCE_PLATFORM_H_

#include <linux/types.h>

int vfence_platform_add(unsigned int index);
bool vfence_platform_is_bound(unsigned int index);
void vfence_platform_remove(unsigned int index);
void vfence_platform_remove_all(void);

#endif
