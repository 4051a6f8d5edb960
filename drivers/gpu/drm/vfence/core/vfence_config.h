/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CONFIG_H_
#define _VFENCE_CONFIG_H_

#include "hw/vgpu.h"

/** VFENCE_MAX_ADAPTERS: maximum number of adapters of the module */
#define VFENCE_MAX_ADAPTERS	16
/** VFENCE_MAX_VFS: maximum number of virtual functions of an adapter */
#define VFENCE_MAX_VFS		16

/**
 * struct vfence_config - configuration of one adapter
 */
struct vfence_config {
	/** @gpu: configuration of the virtual GPU; traces name the adapter by its number */
	struct vgpu_config gpu;
	/** @vfs: number of virtual functions that the adapter has from the start */
	unsigned int vfs;
	/** @vf: number of this virtual function, from 1; 0 for a physical one */
	unsigned int vf;
	/** @user_nodes: mask of nodes with user-mode submission */
	unsigned int user_nodes;
	/** @user_memory_mib: kernel memory that the objects of a user may take, in MiB */
	unsigned int user_memory_mib;

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

/* The parameters that each adapter has: VFENCE_CONFIG_ and the name. */
enum vfence_config_param {
#define VFENCE_PARAM(name, type, initial, member, text)	VFENCE_CONFIG_##name,
#include "core/vfence_config_params.h"
	VFENCE_CONFIG_COUNT
};

/**
 * struct vfence_config_claim - a number of an adapter that is made at run time
 */
struct vfence_config_claim {
	/** @index: number of the adapter */
	unsigned int index;
	/** @saved: what its parameters were before */
	unsigned long saved[VFENCE_CONFIG_COUNT];
};

unsigned int vfence_config_adapters(void);
int vfence_config_claim(struct vfence_config_claim *claim);
void vfence_config_release(const struct vfence_config_claim *claim);
unsigned long vfence_config_value(unsigned int index, enum vfence_config_param param);
int vfence_config_set(unsigned int index, enum vfence_config_param param, const char *text);
int vfence_config_get(unsigned int number, struct vfence_config *config);

/* vfence_feature.c */
const struct vfence_versions *vfence_feature_offered(enum drm_vfence_feature_id id);
bool vfence_feature_enabled(const struct vfence_config *config, enum drm_vfence_feature_id id);
unsigned int vfence_feature_query(const struct vfence_config *config,
				  struct drm_vfence_feature_info *info);

#endif
