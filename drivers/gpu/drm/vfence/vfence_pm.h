/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PM_H_
#define _VFENCE_PM_H_

#include <linux/pm.h>

extern const struct dev_pm_ops vfence_pm_ops;

#endif
