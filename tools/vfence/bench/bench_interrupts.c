// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfence bench: the CPU cost of GPU signals with no waiter, one waiter and many waiters.
 * The form of an adapter's interrupt decides what a record names, and so what it costs.
 */

#include <sys/eventfd.h>
#include <unistd.h>

#include "bench.h"

#define SIGNALS		1000
/* GPU time between two signals: long enough for one interrupt each. */
#define APART_NS	20000

/* Arm @waiters events, spread evenly over the values of the coming signals. */
static int arm_waiters(struct vf_adapter *adapter, struct vf_fence *fence, uint64_t base,
		       unsigned int waiters, int efd)
{
	unsigned int i;
	int ret = 0;

	for (i = 1; !ret && i <= waiters; i++) {
		struct vf_point point = { fence, base + (uint64_t)SIGNALS * i / waiters };

		ret = vf_event_arm(adapter, &point, 1, 0, efd, NULL);
	}
	return ret < 0 ? ret : 0;
}

static int wait_settled(struct vf_adapter *adapter, struct vf_counters *c)
{
	int ret;

	do {
		ret = vf_adapter_counters(adapter, c);
	} while (!ret && !vf_counters_settled(c));
	return ret;
}

int bench_interrupts(struct vf_adapter *adapter, struct vf_queue *queue, struct vf_fence *fence,
		     unsigned int waiters, struct interrupt_cost *cost)
{
	uint64_t base = vf_fence_current(fence);
	struct vf_counters before, after;
	int efd = eventfd(0, EFD_CLOEXEC);
	unsigned int i;
	int ret;

	ret = arm_waiters(adapter, fence, base, waiters, efd);
	ret = ret ? ret : wait_settled(adapter, &before);
	for (i = 1; !ret && i <= SIGNALS; i++) {
		vf_cmd_signal(queue, fence, base + i);
		vf_cmd_draw(queue, 1, APART_NS);
		/* Publish in batches that fit the ring. */
		if (i % 100 == 0)
			ret = vf_queue_publish(queue);
	}
	/* Poll: a wait would be one waiter more. */
	while (!ret && vf_fence_current(fence) < base + SIGNALS)
		;
	ret = ret ? ret : wait_settled(adapter, &after);
	close(efd);
	if (ret)
		return ret;
	*cost = (struct interrupt_cost) {
		.waiters = waiters,
		.interrupts = after.handler_runs - before.handler_runs,
		.records = after.records_array - before.records_array +
			   after.records_null - before.records_null +
			   after.records_queue - before.records_queue +
			   after.records_queue_null - before.records_queue_null,
		.scans = after.scans - before.scans + after.log_scans - before.log_scans,
		.entries = after.log_entries_read - before.log_entries_read,
		.woken = after.waits_satisfied - before.waits_satisfied,
	};
	return ret;
}
