/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FEATURE_H_
#define _VFENCE_FEATURE_H_

/*
 * Feature negotiation: the operating system's offer, the hardware's support, and the
 * result. Pure functions, as in vfence_rules.h.
 */

#include "vfence_rules.h"

/** struct vfence_versions - a range of versions, both ends included */
struct vfence_versions {
	/** @min: lowest version */
	u32 min;
	/** @max: highest version; 0 if the range is empty */
	u32 max;
};

/** struct vfence_feature_os - the operating system's side of a feature */
struct vfence_feature_os {
	/** @enabled: the operating system enables the feature */
	bool enabled;
	/** @allow_experimental: experimental support of the hardware counts as support */
	bool allow_experimental;
	/** @versions: versions that the operating system supports */
	struct vfence_versions versions;
};

/** struct vfence_feature_support - DxgkDdiQueryFeatureSupport: the hardware's side */
struct vfence_feature_support {
	/** @supported: the hardware has the feature */
	bool supported;
	/** @on_current_config: the feature works in the hardware's current configuration */
	bool on_current_config;
	/** @experimental: the support counts only if experimental features are allowed */
	bool experimental;
	/** @versions: versions that the hardware supports */
	struct vfence_versions versions;
};

/** struct vfence_feature_result - result of the negotiation of a feature */
struct vfence_feature_result {
	/** @version: highest common version; 0 unless the feature is enabled */
	u32 version;
	/** @enabled: both sides agree to use the feature */
	bool enabled;
	/** @supported: the hardware supports the feature */
	bool supported;
	/** @on_current_config: the hardware supports it in its current configuration */
	bool on_current_config;
};

/**
 * vfence_feature_override - may @wanted replace @offered (WDDM-52)
 * @offered: versions that the operating system supports
 * @wanted: versions given by module parameters; both ends are 0 if there is no override
 *
 * An override must lie within @offered, and it must give both ends.
 */
static inline bool vfence_feature_override(const struct vfence_versions *offered,
					   const struct vfence_versions *wanted)
{
	if (!wanted->min && !wanted->max)
		return true;
	return wanted->min >= offered->min && wanted->max <= offered->max &&
	       wanted->min <= wanted->max;
}

/**
 * vfence_feature_negotiate - negotiate a feature (WDDM-48, WDDM-49, WDDM-50)
 * @os: the operating system's side
 * @hw: the hardware's side
 * @dependencies: all features that the feature depends on are enabled
 */
static inline struct vfence_feature_result
vfence_feature_negotiate(const struct vfence_feature_os *os,
			 const struct vfence_feature_support *hw, bool dependencies)
{
	struct vfence_feature_result result = {
		.supported = hw->supported && (!hw->experimental || os->allow_experimental),
	};
	u32 highest = os->versions.max < hw->versions.max ? os->versions.max : hw->versions.max;
	u32 lowest = os->versions.min > hw->versions.min ? os->versions.min : hw->versions.min;

	result.on_current_config = result.supported && hw->on_current_config;
	if (os->enabled && result.on_current_config && dependencies && highest &&
	    lowest <= highest) {
		result.enabled = true;
		result.version = highest;
	}
	return result;
}

#endif
