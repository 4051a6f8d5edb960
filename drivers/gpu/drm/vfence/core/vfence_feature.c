// SPDX-License-Identifier: GPL-2.0-only
/*
 * Features: the operating system's side of the negotiation.
 *
 * Windows keeps a table of the versions that it supports and of the features that each
 * feature depends on. On a development machine the registry narrows the versions; here
 * module parameters do.
 */

#include "hw/vgpu.h"
#include "core/vfence_adapter.h"

#define FEATURE_NONE	(~0u)

static const struct {
	enum drm_vfence_feature_id id;
	struct vfence_versions versions;
	/* Indices, in this table, of the features that must be enabled, too. */
	unsigned int dependencies[2];
} feature_table[] = {
	{ DRM_VFENCE_FEATURE_HWSCH, { 1, 1 }, { FEATURE_NONE, FEATURE_NONE } },
	{ DRM_VFENCE_FEATURE_NATIVE_FENCE, { 1, 3 }, { 0, FEATURE_NONE } },
	/* The progress fence of a user-mode queue is a native fence. */
	{ DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION, { 1, 1 }, { 0, 1 } },
};

/**
 * vfence_feature_offered - versions of a feature that the operating system supports
 * @id: the feature
 *
 * Return: the range of versions, or NULL for an unknown feature.
 */
const struct vfence_versions *vfence_feature_offered(enum drm_vfence_feature_id id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(feature_table); i++)
		if (feature_table[i].id == id)
			return &feature_table[i].versions;
	return NULL;
}

static struct vfence_feature_os feature_os_side(const struct vfence_config *config, unsigned int i)
{
	struct vfence_feature_os os = {
		.enabled = true,
		.allow_experimental = config->allow_experimental,
		.versions = feature_table[i].versions,
	};

	if (feature_table[i].id == DRM_VFENCE_FEATURE_NATIVE_FENCE) {
		os.enabled = config->native_fence;
		if (config->native_fence_versions.max)
			os.versions = config->native_fence_versions;
	} else if (feature_table[i].id == DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION) {
		os.enabled = config->user_mode_submission;
	}
	return os;
}

/* Negotiate all features in the table's order: a feature comes after its dependencies. */
static void feature_negotiate_all(const struct vfence_config *config,
				  struct vfence_feature_result *result)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(feature_table); i++) {
		struct vfence_feature_os os = feature_os_side(config, i);
		struct vfence_feature_support hw = {};
		bool satisfied = true;

		for (j = 0; j < ARRAY_SIZE(feature_table[i].dependencies); j++)
			if (feature_table[i].dependencies[j] != FEATURE_NONE)
				satisfied &= result[feature_table[i].dependencies[j]].enabled;

		vgpu_feature_query_support(&config->gpu, feature_table[i].id, &hw);
		result[i] = vfence_feature_negotiate(&os, &hw, satisfied);
	}
}

/**
 * vfence_feature_enabled - have both sides agreed on a feature
 * @config: configuration of the adapter
 * @id: the feature
 */
bool vfence_feature_enabled(const struct vfence_config *config, enum drm_vfence_feature_id id)
{
	struct vfence_feature_result result[ARRAY_SIZE(feature_table)];
	unsigned int i;

	feature_negotiate_all(config, result);
	for (i = 0; i < ARRAY_SIZE(feature_table); i++)
		if (feature_table[i].id == id)
			return result[i].enabled;
	return false;
}

/**
 * vfence_feature_query - state of all features (WDDM-51)
 * @config: configuration of the adapter
 * @info: buffer for the result, or NULL
 *
 * Return: number of features.
 */
unsigned int vfence_feature_query(const struct vfence_config *config,
				  struct drm_vfence_feature_info *info)
{
	struct vfence_feature_result result[ARRAY_SIZE(feature_table)];
	unsigned int i;

	if (info)
		feature_negotiate_all(config, result);
	for (i = 0; info && i < ARRAY_SIZE(feature_table); i++) {
		info[i].id = feature_table[i].id;
		info[i].version = result[i].version;
		if (result[i].enabled)
			info[i].flags |= DRM_VFENCE_FEATURE_ENABLED;
		if (result[i].supported)
			info[i].flags |= DRM_VFENCE_FEATURE_SUPPORTED;
		if (result[i].on_current_config)
			info[i].flags |= DRM_VFENCE_FEATURE_ON_CURRENT_CONFIG;
	}
	return ARRAY_SIZE(feature_table);
}
