/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_STAGE_H_
#define _VFENCE_STAGE_H_

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>

#include "drm/vfence_drm.h"
#include "fence/vfence_points.h"

struct eventfd_ctx;
struct vfence_adapter;
struct vfence_file;
struct vfence_kernel_queue;
struct vfence_submission;
struct vfence_stages;
struct vfence_submit_ops;

/**
 * enum vfence_stage - stages of a submission at which signals can be performed
 */
enum vfence_stage {
	/** @VFENCE_STAGE_SUBMITTED: the submission is on the ring */
	VFENCE_STAGE_SUBMITTED,
	/** @VFENCE_STAGE_FETCHED: all its packets are in the GPU's pipeline */
	VFENCE_STAGE_FETCHED,
	/** @VFENCE_STAGE_COMPLETED: the GPU has completed it */
	VFENCE_STAGE_COMPLETED,
	/** @VFENCE_STAGES: number of stages */
	VFENCE_STAGES,
};

/**
 * struct vfence_stage_signals - signals to perform once all queues have reached a stage
 */
struct vfence_stage_signals {
	/**
	 * @link: In vfence_kernel_queue.due_stages of the queue that reached the stage last; then
	 * in the list of stage_perform_due().
	 */
	struct list_head link;
	/** @stages: parent */
	struct vfence_stages *stages;

	/** @signals: fences and their values; may be empty */
	struct vfence_points signals;
	/** @written: fences that packets signal, without values; may be empty */
	struct vfence_points written;
	/** @event: an eventfd, or NULL */
	struct eventfd_ctx *event;

	/** @pending: number of queues that have neither reached the stage nor lost it */
	atomic_t pending;
	/** @lost: A queue will never reach the stage, so no fence is signaled. */
	bool lost;
};

/**
 * struct vfence_stages - the stage signals that all queues of a SUBMIT share
 */
struct vfence_stages {
	/** @ref: held by each submission, by each due stage, and by the SUBMIT that creates it */
	struct kref ref;
	/** @flags: DRM_VFENCE_SIGNAL_*, VFENCE_SIGNAL_KEEP */
	u32 flags;
	/** @writes: adapter on which it counts in &vfence_fences.writing, or NULL */
	struct vfence_adapter *writes;
	/** @stage: what to signal at each stage */
	struct vfence_stage_signals stage[VFENCE_STAGES];
};

/** vfence_stage_is_signal - return true if a packet signals a fence */
static inline bool vfence_stage_is_signal(const struct drm_vfence_packet_header *packet)
{
	return packet->opcode == DRM_VFENCE_OP_FENCE_SIGNAL ||
	       packet->opcode == DRM_VFENCE_OP_MONITORED_SIGNAL;
}

struct vfence_stages *vfence_stage_create(struct vfence_file *file,
					  const struct drm_vfence_submit *args,
					  const struct vfence_submit_ops *ops);
int vfence_stage_add_written(struct vfence_file *file, struct vfence_submission *submission);
void vfence_stage_begin_write(struct vfence_submission *submission);
void vfence_stage_put(struct vfence_stages *stages);
void vfence_stage_arrive(struct vfence_submission *submission, enum vfence_stage stage);
void vfence_stage_lose(struct vfence_submission *submission, enum vfence_stage from);
void vfence_stage_schedule(struct vfence_kernel_queue *kernel);
void vfence_stage_init(struct vfence_kernel_queue *kernel);

#endif
