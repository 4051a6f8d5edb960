/* SPDX-License-Identifier: GPL-2.0-only */
/* The fixture of tests that hang an engine. */
#ifndef _ENGINE_FIXTURE_H_
#define _ENGINE_FIXTURE_H_

#include "recovery_test.h"

/* Adapter 11 says itself that an engine hangs. Its COMPUTE and MM are reset together. */
#define HANGS	11

/* Let time pass. No work is queued that takes the progress of @idle further. */
static inline bool pass(struct vf_queue *idle, int64_t ns)
{
	return vf_fence_wait(vf_queue_progress(idle), vf_queue_last_queued(idle) + 1,
			     vf_deadline(ns)) == -ETIME;
}

FIXTURE(engine) {
	VFENCE_MEMBERS;
	struct vf_counters before;
	struct client other;
	struct vf_queue *other_gfx;
	int log;
};

FIXTURE_SETUP(engine)
{
	if (geteuid() || access("/sys/bus/platform/devices/vfence.11/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	VFENCE_SETUP(HANGS);
	ASSERT_EQ(0, adapter_open_apart(HANGS, -1, &self->other.adapter));
	ASSERT_EQ(0, vf_device_create(self->other.adapter, &self->other.device));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_GFX, 4096,
				     &self->other_gfx));
	self->before = counters(self->adapter);
	self->log = kernel_log();
	ASSERT_LE(0, self->log);
}

FIXTURE_TEARDOWN(engine)
{
	close(self->log);
	vf_queue_abort(self->other_gfx);
	vf_queue_destroy(self->other_gfx);
	vf_device_destroy(self->other.device);
	vf_adapter_close(self->other.adapter);
	VFENCE_TEARDOWN();
	/* Also switches that were set are off then. */
	EXPECT_EQ(0, driver("unbind", HANGS));
	EXPECT_EQ(0, driver("bind", HANGS));
}

#endif
