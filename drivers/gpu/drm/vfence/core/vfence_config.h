/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CONFIG_H_
#define _VFENCE_CONFIG_H_

#include "hw/vgpu.h"

/** VFENCE_MAX_ADAPTERS: maximum number of adapters of the module */
#define VFENCE_MAX_ADAPTERS	16
/** VFENCE_OWN_CHIP: number of the chip of an adapter that shares it with no other */
#define VFENCE_OWN_CHIP		VFENCE_MAX_ADAPTERS

/**
 * struct vfence_config - configuration of one adapter
 */
struct vfence_config {
	/** @gpu: configuration of the virtual GPU */
	struct vgpu_config gpu;
	/** @chip: which chip the adapter is a function of; or VFENCE_OWN_CHIP */
	unsigned int chip;
	/** @user_nodes: mask of nodes with user-mode submission */
	unsigned int user_nodes;

	/** @native_fence: the operating system enables native fences */
	bool native_fence;
	/** @user_mode_submission: the operating system enables user-mode submission */
	bool user_mode_submission;
	/** @optimized_fences: monitored values may be in video memory (WDDM-36) */
	bool optimized_fences;
	/** @intra_gpu_fences: fences of type INTRA_GPU may exist (WDDM-36) */
	bool intra_gpu_fences;

	/** @allow_experimental: experimental support counts as support */
	bool allow_experimental;
	/** @native_fence_versions: narrowed range of versions; max is 0 if it is not narrowed */
	struct vfence_versions native_fence_versions;
};

unsigned int vfence_config_adapters(void);
int vfence_config_get(unsigned int index, struct vfence_config *config);

/* vfence_feature.c */
const struct vfence_versions *vfence_feature_offered(enum drm_vfence_feature_id id);
bool vfence_feature_enabled(const struct vfence_config *config, enum drm_vfence_feature_id id);
size_t vfence_feature_query(const struct vfence_config *config,
			    struct drm_vfence_feature_info *info);

#endif
