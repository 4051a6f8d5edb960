/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FEATURE_H_
#define _VFENCE_FEATURE_H_

/*
 * Feature negotiation: what the operating system offers, what the hardware's
 * driver supports, and what comes out. Pure, as in vfence_rules.h.
 */

#include "vfence_rules.h"

/** struct vfence_versions - a range of versions, both ends included */
struct vfence_versions {
	/** @min: lowest */
	u32 min;
	/** @max: highest; 0: none at all */
	u32 max;
};

/** struct vfence_feature_os - the operating system's side of a feature */
struct vfence_feature_os {
	/** @enabled: switched on */
	bool enabled;
	/** @allow_experimental: also if the hardware's support is experimental */
	bool allow_experimental;
	/** @versions: what it can talk */
	struct vfence_versions versions;
};

/** struct vfence_feature_support - DxgkDdiQueryFeatureSupport: the hardware's side */
struct vfence_feature_support {
	/** @supported: the hardware has it */
	bool supported;
	/** @on_current_config: and it works as the hardware is set up now */
	bool on_current_config;
	/** @experimental: unsupported unless experimental features are allowed */
	bool experimental;
	/** @versions: what it can talk */
	struct vfence_versions versions;
};

/** struct vfence_feature_result - what both agree on */
struct vfence_feature_result {
	/** @version: highest common version; 0 unless enabled */
	u32 version;
	/** @enabled: to be used */
	bool enabled;
	/** @supported: the hardware says so */
	bool supported;
	/** @on_current_config: the hardware says so */
	bool on_current_config;
};

/**
 * vfence_feature_override - may @wanted replace @offered (WDDM-52)
 * @offered: what the operating system can talk
 * @wanted: asked for by a parameter; both 0 for no wish
 *
 * An override narrows, names both ends, and never widens.
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
 * vfence_feature_negotiate - shake hands (WDDM-48, WDDM-49, WDDM-50)
 * @os: one side
 * @hw: the other
 * @dependencies: all features it depends on are enabled
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
