// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feature negotiation, the side of the hardware.
 */

#include <linux/errno.h>

#include "vgpu_types.h"

static void feature_native_fence_support(const struct vgpu_config *config,
					 struct vfence_feature_support *support)
{
	/* A store of a value must not be torn (WDDM-2). */
	support->supported = config->native_fence != VGPU_NATIVE_FENCE_NONE &&
			     !config->no_64bit_atomics;
	support->on_current_config = config->native_fence != VGPU_NATIVE_FENCE_NOT_NOW;
	support->experimental = config->native_fence == VGPU_NATIVE_FENCE_EXPERIMENTAL;
	support->versions.min = VGPU_NATIVE_FENCE_VERSION_MIN;
	support->versions.max = VGPU_NATIVE_FENCE_VERSION_MAX;
}

int vgpu_feature_query_support(const struct vgpu_config *config, enum drm_vfence_feature_id id,
			       struct vfence_feature_support *support)
{
	*support = (struct vfence_feature_support) {
		.supported = true,
		.on_current_config = true,
		.versions = { 1, 1 },
	};

	switch (id) {
	case DRM_VFENCE_FEATURE_HWSCH:
	case DRM_VFENCE_FEATURE_USER_MODE_SUBMISSION:
		return 0;
	case DRM_VFENCE_FEATURE_NATIVE_FENCE:
		feature_native_fence_support(config, support);
		return 0;
	default:
		return -EINVAL;
	}
}

/* Advertise only features that the driver has enabled (WDDM-46). */
void vgpu_feature_negotiate(struct vgpu *gpu)
{
	gpu->native_fence_cap =
		gpu->ops->is_feature_enabled(gpu->host, DRM_VFENCE_FEATURE_NATIVE_FENCE) ||
		gpu->config.native_fence == VGPU_NATIVE_FENCE_UNASKED;
	if (gpu->native_fence_cap)
		gpu->os_caps = gpu->ops->native_fence_os_caps(gpu->host);
}

bool vgpu_feature_optimized_interrupt(struct vgpu *gpu)
{
	return gpu->config.irq_form == VGPU_IRQ_FORM_QUEUE;
}

bool vgpu_feature_native_fence(struct vgpu *gpu)
{
	return gpu->native_fence_cap;
}
