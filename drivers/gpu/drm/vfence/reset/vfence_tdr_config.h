/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_TDR_CONFIG_H_
#define _VFENCE_TDR_CONFIG_H_

struct attribute_group;

extern const struct attribute_group vfence_tdr_config_group;

#endif
