// SPDX-License-Identifier: GPL-2.0-only
/*
 * User-mode queues: the client fills a ring and rings a doorbell, and the GPU logs what it does.
 */

#include "drm/vfence_drm.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_log.h"
#include "queue/vfence_log_buffer.h"
#include "queue/vfence_progress.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_user_queue.h"

static struct vfence_queue *user_queue_alloc(void)
{
	return vfence_leak_check_alloc(QUEUE, sizeof(struct vfence_queue));
}

static int user_queue_create(struct vfence_queue *queue,
			     const struct drm_vfence_queue_create *args)
{
	return vfence_log_buffer_create(queue);
}

static void user_queue_describe(struct vfence_queue *queue, struct drm_vfence_queue_create *args)
{
	struct vfence_log *waits = vfence_queue_log(queue, DRM_VFENCE_LOG_WAITS);
	struct vfence_log *signals = vfence_queue_log(queue, DRM_VFENCE_LOG_SIGNALS);

	args->wait_log_va = waits->node.start;
	args->signal_log_va = signals->node.start;
	args->wait_log_entries = waits->header->number_of_entries;
	args->signal_log_entries = signals->header->number_of_entries;
}

static void user_queue_stop(struct vfence_queue *queue, int error)
{
	vfence_doorbell_abort(queue);
	vfence_queue_abort_hw(queue);
	vfence_progress_end(queue);
}

static void user_queue_query(struct vfence_queue *queue, struct drm_vfence_queue_info *info)
{
	info->last_queued = vfence_doorbell_last_queued(queue);
}

static void user_queue_destroy(struct vfence_queue *queue)
{
	vfence_doorbell_destroy(queue);
}

static void user_queue_free(struct vfence_queue *queue)
{
	vfence_log_free(queue);
	vfence_leak_check_free_rcu(QUEUE, queue);
}

const struct vfence_queue_ops vfence_user_queue_ops = {
	.user_mode = true,
	.alloc = user_queue_alloc,
	.create = user_queue_create,
	.describe = user_queue_describe,
	.stop = user_queue_stop,
	.query = user_queue_query,
	.destroy = user_queue_destroy,
	.free = user_queue_free,
};
