/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_LOSS_STATE_H_
#define _VFENCE_LOSS_STATE_H_

/*
 * What the causes of a loss mean for a device and for its queues. These are pure functions, so that
 * the module and the property tests in user space compile the same source.
 */

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#endif

#include "drm/vfence_drm.h"

/**
 * struct vfence_loss_causes - causes for which a device is lost
 */
struct vfence_loss_causes {
	/** @own: Its own error state, which is the first that it got, or ACTIVE. */
	enum drm_vfence_device_state own;
	/** @reset: The adapter was reset after the device was created. */
	bool reset;
	/** @lost: The adapter is lost. */
	bool lost;
	/** @blocked: The process of the device is blocked. */
	bool blocked;
};

/** vfence_loss_state - the state of a device; an earlier cause stays */
static inline enum drm_vfence_device_state
vfence_loss_state(const struct vfence_loss_causes *causes)
{
	if (causes->own != DRM_VFENCE_DEVICE_ACTIVE)
		return causes->own;
	if (causes->reset)
		return DRM_VFENCE_DEVICE_RESET;
	if (causes->lost || causes->blocked)
		return DRM_VFENCE_DEVICE_STOPPED;
	return DRM_VFENCE_DEVICE_ACTIVE;
}

/**
 * vfence_loss_removes - true if the device is lost, and the adapter is not
 * @causes: causes for which the device is lost
 *
 * Then its fences jump to their maximum (WDDM-173). Waits for fences of a lost adapter end in
 * another way.
 */
static inline bool vfence_loss_removes(const struct vfence_loss_causes *causes)
{
	enum drm_vfence_device_state state = vfence_loss_state(causes);

	return state != DRM_VFENCE_DEVICE_ACTIVE &&
	       (state != DRM_VFENCE_DEVICE_STOPPED || causes->blocked);
}

/**
 * struct vfence_loss_queue - what the GPU says of a queue that is stopped
 */
struct vfence_loss_queue {
	/** @guilty: The GPU has aborted the queue because it hung. */
	bool guilty;
	/** @faulted: A packet of the queue has faulted. */
	bool faulted;
	/** @preemption: The fault is that the queue kept others off the engine. */
	bool preemption;
};

/**
 * vfence_loss_error - error of the submission that a queue was executing when it is stopped
 * @causes: causes for which the device of the queue is lost
 * @queue: what the GPU says of the queue
 *
 * Other queues of the device cancel theirs, unless the adapter is lost.
 */
static inline int vfence_loss_error(const struct vfence_loss_causes *causes,
				    const struct vfence_loss_queue *queue)
{
	if (vfence_loss_state(causes) == DRM_VFENCE_DEVICE_STOPPED &&
	    (causes->lost || !causes->blocked))
		return -ENODEV;
	if (queue->guilty || (queue->faulted && queue->preemption))
		return -ETIME;
	return queue->faulted ? -EIO : -ECANCELED;
}

#endif
