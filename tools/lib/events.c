// SPDX-License-Identifier: MIT
/* The ring of queued events. */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vf_private.h"

void vf_events_record(struct vf_adapter *adapter, enum vf_queued_op op, uint32_t queue,
		      uint32_t fence, uint64_t value)
{
	struct vf_events *events = &adapter->events;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&events->lock);
	events->ring[events->put++ % events->capacity] = (struct vf_queued){
		.cpu_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
		.value = value, .fence = fence, .queue = queue, .op = op,
	};
	pthread_mutex_unlock(&events->lock);
}

VF_EXPORT int vf_events_enable(struct vf_adapter *adapter, unsigned int capacity)
{
	struct vf_events *events = &adapter->events;
	int ret = 0;

	pthread_mutex_lock(&events->lock);
	if (events->ring || !capacity) {
		ret = -EBUSY;
	} else {
		events->ring = malloc(capacity * sizeof(*events->ring));
		/*
		 * Write the memory now, so that no event causes a page fault later.
		 * Do not write zeroes: the compiler would turn that into a calloc().
		 */
		if (events->ring)
			memset(events->ring, 0xff, capacity * sizeof(*events->ring));
		if (events->ring)
			__atomic_store_n(&events->capacity, capacity, __ATOMIC_RELEASE);
		else
			ret = -ENOMEM;
	}
	pthread_mutex_unlock(&events->lock);
	return ret;
}

VF_EXPORT unsigned int vf_events_take(struct vf_adapter *adapter, struct vf_queued *out,
				      unsigned int max)
{
	struct vf_events *events = &adapter->events;
	unsigned int n = 0;

	pthread_mutex_lock(&events->lock);
	if (events->put - events->taken > events->capacity)
		events->taken = events->put - events->capacity;
	while (n < max && events->taken < events->put)
		out[n++] = events->ring[events->taken++ % events->capacity];
	pthread_mutex_unlock(&events->lock);
	return n;
}
