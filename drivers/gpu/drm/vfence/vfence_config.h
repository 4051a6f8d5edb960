/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _VFENCE_CONFIG_H_
#define _VFENCE_CONFIG_H_

#include "hw/vgpu.h"

/** VFENCE_MAX_ADAPTERS: adapters one module can have */
#define VFENCE_MAX_ADAPTERS	8

/**
 * struct vfence_config - shape of one adapter
 */
struct vfence_config {
	/** @gpu: shape of its GPU */
	struct vgpu_config gpu;
	/** @user_nodes: mask of nodes with user-mode submission */
	unsigned int user_nodes;
};

unsigned int vfence_config_adapters(void);
int vfence_config_get(unsigned int index, struct vfence_config *config);

#endif
