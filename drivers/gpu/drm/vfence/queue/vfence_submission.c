// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submissions as objects: what they count, and how they are freed.
 */

#include <linux/mm.h>
#include <linux/slab.h>

#include "core/vfence_account.h"
#include "core/vfence_power.h"
#include "fence/vfence_sync.h"
#include "fence/vfence_wait.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_published.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_room.h"
#include "queue/vfence_stage.h"
#include "queue/vfence_submission.h"

/**
 * vfence_submission_uncount - a submission and its points do not count any more
 * @submission: a submission that ends, or that was never queued
 *
 * Once a client sees the end of a submission, it may submit as many points again.
 */
void vfence_submission_uncount(struct vfence_submission *submission)
{
	struct vfence_file *file = submission->kernel->base.file;

	if (submission->published)
		vfence_published_leave(submission->kernel->base.adapter);
	submission->published = false;
	atomic_sub(submission->points, &file->submit_points);
	submission->points = 0;
	vfence_account_uncharge(file->account, submission->bytes);
	submission->bytes = 0;
}

/**
 * vfence_submission_free - free a submission that has ended, or that was never queued
 * @submission: a submission whose job was armed and has ended, or was never armed
 */
void vfence_submission_free(struct vfence_submission *submission)
{
	struct vfence_kernel_queue *kernel = submission->kernel;
	struct vfence_adapter *adapter = kernel->base.adapter;
	bool entered = submission->entered;

	vfence_submission_uncount(submission);
	if (submission->job.s_fence)
		drm_sched_job_cleanup(&submission->job);

	if (submission->wait)
		vfence_wait_destroy(submission->wait);

	if (submission->in_syncs)
		vfence_sync_in_destroy(submission->in_syncs);

	if (submission->stages)
		vfence_stage_put(submission->stages);

	dma_fence_put(submission->done);
	kvfree(submission->commands);
	vfence_leak_check_free(SUBMISSION, submission);
	if (entered) {
		vfence_power_put(adapter);
		vfence_room_leave(kernel);
	}
}
