/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_STAGE_H_
#define _VFENCE_STAGE_H_

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>

struct drm_vfence_submit;
struct eventfd_ctx;
struct vfence_file;
struct vfence_submission;
struct vfence_stages;
struct vfence_wait;
struct work_struct;

/**
 * enum vfence_stage - how far a submission is when something of it is signaled
 */
enum vfence_stage {
	/** @VFENCE_STAGE_SUBMITTED: given to the GPU */
	VFENCE_STAGE_SUBMITTED,
	/** @VFENCE_STAGE_FETCHED: all of it is in the GPU's pipeline */
	VFENCE_STAGE_FETCHED,
	/** @VFENCE_STAGE_COMPLETED: done */
	VFENCE_STAGE_COMPLETED,
	/** @VFENCE_STAGES: how many there are */
	VFENCE_STAGES,
};

/**
 * struct vfence_stage_signals - what is signaled once all queues have come to a stage
 */
struct vfence_stage_signals {
	/** @link: in vfence_kernel_queue.due of the queue that came last */
	struct list_head link;
	/** @stages: parent */
	struct vfence_stages *stages;
	/** @signals: the fences, or NULL */
	struct vfence_wait *signals;
	/** @event: an eventfd, or NULL */
	struct eventfd_ctx *event;
	/** @pending: queues that have not come so far */
	atomic_t pending;
	/** @lost: one of them never will: no fence is signaled */
	bool lost;
};

/**
 * struct vfence_stages - what all queues of a SUBMIT have in common
 */
struct vfence_stages {
	/** @ref: each submission, an stage_signals that is due, the call that makes it */
	struct kref ref;
	/** @flags: DRM_VFENCE_SIGNAL_*, VFENCE_SIGNAL_KEEP */
	u32 flags;
	/** @stage: what is announced at each */
	struct vfence_stage_signals stage[VFENCE_STAGES];
};

struct vfence_stages *vfence_stage_create(struct vfence_file *file,
					  const struct drm_vfence_submit *args);
void vfence_stage_put(struct vfence_stages *stages);
void vfence_stage_arrive(struct vfence_submission *submission, enum vfence_stage stage);
void vfence_stage_lose(struct vfence_submission *submission, enum vfence_stage from);
void vfence_stage_work(struct work_struct *work);

#endif
