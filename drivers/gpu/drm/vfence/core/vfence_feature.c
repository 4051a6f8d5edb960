// SPDX-License-Identifier: GPL-2.0-only
/*
 * Features: the operating system's side of the negotiation.
 *
 * Windows keeps a table of what it can talk and of what depends on what; a
 * development machine narrows it by registry, we by module parameters.
 */

#include "hw/vgpu.h"
#include "core/vfence_adapter.h"

#define NONE	(~0u)

static const struct {
	enum drm_vfence_feature_id id;
	struct vfence_versions versions;
	/* Features, by place in this table, that must be enabled, too. */
	unsigned int needs[2];
} features[] = {
	{ DRM_VFENCE_FEATURE_HWSCH, { 1, 1 }, { NONE, NONE } },
	{ DRM_VFENCE_FEATURE_NATIVE_FENCE, { 1, 3 }, { 0, NONE } },
	/* The progress fence of a user-mode queue is native. */
	{ DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION, { 1, 1 }, { 0, 1 } },
};

/**
 * vfence_feature_offered - versions of a feature the operating system can talk
 * @id: the feature
 *
 * Return: them, or NULL for an unknown feature.
 */
const struct vfence_versions *vfence_feature_offered(enum drm_vfence_feature_id id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].id == id)
			return &features[i].versions;
	return NULL;
}

static struct vfence_feature_os os_side(const struct vfence_config *config, unsigned int i)
{
	struct vfence_feature_os os = {
		.enabled = true,
		.allow_experimental = config->allow_experimental,
		.versions = features[i].versions,
	};

	if (features[i].id == DRM_VFENCE_FEATURE_NATIVE_FENCE) {
		os.enabled = config->native_fence;
		if (config->native_fence_versions.max)
			os.versions = config->native_fence_versions;
	} else if (features[i].id == DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION) {
		os.enabled = config->user_mode_submission;
	}
	return os;
}

/* Negotiate all: what is needed comes before what needs it. */
static void negotiate(const struct vfence_config *config, struct vfence_feature_result *result)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(features); i++) {
		struct vfence_feature_os os = os_side(config, i);
		struct vfence_feature_support hw = {};
		bool needs = true;

		for (j = 0; j < ARRAY_SIZE(features[i].needs); j++)
			if (features[i].needs[j] != NONE)
				needs &= result[features[i].needs[j]].enabled;
		vgpu_feature_query_support(&config->gpu, features[i].id, &hw);
		result[i] = vfence_feature_negotiate(&os, &hw, needs);
	}
}

/**
 * vfence_feature_enabled - have both sides agreed on a feature
 * @config: shape of the adapter
 * @id: the feature
 */
bool vfence_feature_enabled(const struct vfence_config *config, enum drm_vfence_feature_id id)
{
	struct vfence_feature_result result[ARRAY_SIZE(features)];
	unsigned int i;

	negotiate(config, result);
	for (i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].id == id)
			return result[i].enabled;
	return false;
}

/**
 * vfence_feature_query - state of all features (WDDM-51)
 * @config: shape of the adapter
 * @info: room for the answer, or NULL
 *
 * Return: size of the answer.
 */
size_t vfence_feature_query(const struct vfence_config *config,
			    struct drm_vfence_feature_info *info)
{
	struct vfence_feature_result result[ARRAY_SIZE(features)];
	unsigned int i;

	if (info)
		negotiate(config, result);
	for (i = 0; info && i < ARRAY_SIZE(features); i++) {
		info[i].id = features[i].id;
		info[i].version = result[i].version;
		if (result[i].enabled)
			info[i].flags |= DRM_VFENCE_FEATURE_ENABLED;
		if (result[i].supported)
			info[i].flags |= DRM_VFENCE_FEATURE_SUPPORTED;
		if (result[i].on_current_config)
			info[i].flags |= DRM_VFENCE_FEATURE_ON_CURRENT_CONFIG;
	}
	return sizeof(*info) * ARRAY_SIZE(features);
}
