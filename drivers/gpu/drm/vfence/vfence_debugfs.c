// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: switches for tests. Settings of a device are module parameters, what
 * clients may do are ioctls; here is what no product needs.
 */

#include <linux/debugfs.h>

#include <drm/drm_file.h>

#include "vfence_adapter.h"

/** vfence_debugfs_init - make the files of an adapter; they go with its minor */
void vfence_debugfs_init(struct drm_minor *minor)
{
	struct vgpu_knobs *knobs = vgpu_knobs(to_vfence_adapter(minor->dev)->gpu);

	/* Some kernels ask for every minor. */
	if (minor->type != DRM_MINOR_PRIMARY)
		return;
	debugfs_create_bool("fail_monitored_update", 0600, minor->debugfs_root,
			    &knobs->fail_monitored_update);
	debugfs_create_bool("fail_current_update", 0600, minor->debugfs_root,
			    &knobs->fail_current_update);
}
