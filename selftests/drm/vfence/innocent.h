/* SPDX-License-Identifier: GPL-2.0-only */
/* Clients that have done nothing wrong, for tests in which others hang engines at random. */
#ifndef _INNOCENT_H_
#define _INNOCENT_H_

#include <stdatomic.h>

#include "vfence_test.h"

static uint64_t state;

static inline unsigned int dice(unsigned int sides)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(state >> 33) % sides;
}

static inline void roll_dice(void)
{
	const char *seed = getenv("VFENCE_TEST_SEED");

	state = seed ? strtoull(seed, NULL, 0) : (uint64_t)vf_deadline(0);
	printf("# VFENCE_TEST_SEED=%" PRIu64 "\n", state);
}

/* A client that uses one engine, and has a new device whenever the adapter was reset. */
struct innocent {
	pthread_t thread;
	unsigned int index, node;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	struct vf_fence *fence;
	uint64_t value;
	/* What has happened. A round that ended with an error though the device is well is lost. */
	_Atomic uint64_t rounds, renewed;
	uint64_t lost, wrong;
	int64_t longest;
	_Atomic bool *stop;
};

static inline int innocent_open(struct innocent *me)
{
	int ret = vf_adapter_open(me->index, &me->adapter);

	ret = ret ? ret : vf_device_create(me->adapter, &me->device);
	ret = ret ? ret : vf_queue_create(me->device, me->node, 4096, &me->queue);
	return ret ? ret : vf_fence_create(me->device, 0, 0, &me->fence);
}

static inline void innocent_close(struct innocent *me)
{
	vf_fence_destroy(me->fence);
	vf_queue_destroy(me->queue);
	vf_device_destroy(me->device);
	vf_adapter_close(me->adapter);
	me->fence = NULL;
	me->queue = NULL;
	me->device = NULL;
	me->adapter = NULL;
	me->value = 0;
}

/* Return: true if the work was done, once and at its place. */
static inline bool innocent_works(struct innocent *me)
{
	int64_t begin = vf_deadline(0);
	int ret;

	vf_cmd_draw(me->queue, 1, 20000);
	vf_cmd_signal(me->queue, me->fence, ++me->value);
	ret = vf_queue_submit(me->queue);
	ret = ret ? ret : vf_fence_wait(me->fence, me->value, DEADLINE);
	if (ret == -ETIME)
		me->lost++;
	if (ret || vf_fence_current(me->fence) != me->value)
		return false;
	if (vf_deadline(0) - begin > me->longest)
		me->longest = vf_deadline(0) - begin;
	return true;
}

/*
 * Each round has five packets: a draw, a signal, the signal of the queue's own fence, and
 * what writes these to the log. If one was executed twice, there is one too many.
 */
static inline bool innocent_right(struct innocent *me)
{
	struct drm_vfence_queue_info query = { 0 };

	return EVENTUALLY(!vf_queue_query(me->queue, &query) && query.packets >= 5 * me->value) &&
	       query.packets == 5 * me->value;
}

static inline void *innocent_thread(void *arg)
{
	struct innocent *me = arg;

	while (!atomic_load(me->stop)) {
		if (me->queue && innocent_works(me)) {
			me->rounds++;
			continue;
		}
		/* The device is in error, or the adapter is not bound. */
		innocent_close(me);
		me->renewed++;
		if (!EVENTUALLY(!innocent_open(me) || (innocent_close(me), atomic_load(me->stop))))
			me->lost++;
	}
	if (me->value && drained(me->queue))
		me->wrong += !innocent_right(me);
	innocent_close(me);
	return NULL;
}

#endif
