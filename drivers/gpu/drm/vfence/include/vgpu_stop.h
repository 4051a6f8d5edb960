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
 * enum vgpu_urgency - why a queue is asked to leave its engine
 */
enum vgpu_urgency {
	/** @VGPU_URGENCY_TURN: It is another queue's turn. */
	VGPU_URGENCY_TURN,
	/** @VGPU_URGENCY_LEAVE: The context is suspended. */
	VGPU_URGENCY_LEAVE,
	/** @VGPU_URGENCY_ABORT: The queue never runs again. */
	VGPU_URGENCY_ABORT,
};

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
 * vgpu_stop_allowed - may the engine take the queue off at this point
 * @class_id: &enum drm_vfence_node_class of the engine
 * @urgency: why
 * @work: what it does
 *
 * For another queue's turn, GFX and COMPUTE engines stop between draws, COPY engines at once
 * and MM engines between packets. A queue that must leave, or that is aborted, stops at once:
 * the engine saves the time that remains.
 */
static inline bool vgpu_stop_allowed(unsigned int class_id, enum vgpu_urgency urgency,
				     enum vgpu_work work)
{
	if (urgency != VGPU_URGENCY_TURN)
		return true;

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
