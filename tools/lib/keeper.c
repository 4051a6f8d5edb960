// SPDX-License-Identifier: MIT
/*
 * Kept waits of a user-mode queue: a kernel-mode queue waits for the points, and signals the fence
 * that the user-mode queue waits for.
 */

#include <stdlib.h>

#include "vf_queue.h"

static int create_keeper(struct vf_queue *q)
{
	struct keeper *keeper;
	int ret;

	if (q->keepers && !q->keeper_spoiled)
		return 0;
	keeper = calloc(1, sizeof(*keeper));
	if (!keeper)
		return -ENOMEM;
	ret = vf_fence_create(q->device, 0, 0, &keeper->ticket);
	if (!ret) {
		ret = vf_kernel_queue_create(q->device, q->node, &keeper->queue);
		if (ret)
			vf_fence_destroy_now(keeper->ticket);
	}
	if (ret) {
		free(keeper);
		return ret;
	}
	keeper->next = q->keepers;
	q->keepers = keeper;
	q->keeper_spoiled = false;
	return 0;
}

VF_EXPORT void vf_cmd_wait_kept(struct vf_queue *q, const struct vf_point *points,
				unsigned int count)
{
	struct vf_point ticket;
	struct vf_submit what = {
		.waits = points, .wait_count = count, .signals = &ticket, .signal_count = 1,
	};

	if (!q->error && !count)
		q->error = -EINVAL;
	if (!q->error)
		q->error = q->kernel ? -EOPNOTSUPP : create_keeper(q);
	if (q->error)
		return;
	ticket = (struct vf_point){ q->keepers->ticket, q->keepers->tickets + 1 };
	q->error = vf_submit(&q->keepers->queue, 1, &what);
	if (q->error)
		return;
	q->keepers->tickets++;
	q->kept = true;
	vf_cmd_wait(q, ticket.fence, ticket.value);
}
