/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_STOP_H_
#define _VGPU_STOP_H_

/*
 * Where an engine may stop a queue. This is a pure function, so that the module and the
 * property tests in user space compile the same source.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

#include "drm/vfence_drm.h"

/**
 * enum vgpu_work - what the engine does for the queue at that moment
 */
enum vgpu_work {
	/** @VGPU_WORK_NONE: No packet is in flight. */
	VGPU_WORK_NONE,
	/** @VGPU_WORK_BETWEEN: It is between two draws of a packet, or two parts of a copy. */
	VGPU_WORK_BETWEEN,
	/** @VGPU_WORK_INSIDE: It lets the GPU time of a draw pass. */
	VGPU_WORK_INSIDE,
	/** @VGPU_WORK_STUCK: It executes a packet that makes no progress. */
	VGPU_WORK_STUCK,
};

/**
 * vgpu_stop_allowed - may the engine take the queue off for another queue's turn
 * @class_id: &enum drm_vfence_node_class of the engine
 * @work: what it does
 *
 * GFX and COMPUTE engines stop between draws, COPY engines at once and MM engines between
 * packets. A queue that is suspended or aborted stops at once on all of them.
 */
static inline bool vgpu_stop_allowed(unsigned int class_id, enum vgpu_work work)
{
	switch (work) {
	case VGPU_WORK_NONE:
		return true;
	case VGPU_WORK_BETWEEN:
		return class_id != DRM_VFENCE_NODE_MM;
	case VGPU_WORK_INSIDE:
		return class_id == DRM_VFENCE_NODE_COPY;
	default:
		return false;
	}
}

#endif
