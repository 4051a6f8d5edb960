// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions turn busy and idle. No message about such an edge may be lost, in any order of clients,
 * engines and host.
 */

#include <pthread.h>

#include "world_fixture.h"

#define RINGS	8

/* A thread with a ring of its own. */
struct ring {
	pthread_t thread;
	struct vf_queue *queue;
	unsigned int submissions, seed;
	/* The longest time until the ring was empty, in ns, and what went wrong. */
	int64_t longest;
	int error;
};

static unsigned int dice(struct ring *r)
{
	r->seed = r->seed * 1103515245 + 12345;
	return r->seed >> 16;
}

/* Submit one to four times, then wait until the ring is empty, so that there are edges. */
static void *ring_run(void *data)
{
	struct ring *r = data;
	unsigned int i = 0;

	while (i < r->submissions && !r->error) {
		unsigned int burst = 1 + dice(r) % 4;
		int64_t begun;

		for (; burst-- && i < r->submissions && !r->error; i++) {
			vf_cmd_draw(r->queue, 1, 100 + dice(r) % 2000);
			r->error = vf_queue_submit(r->queue);
		}
		begun = vf_deadline(0);
		if (!r->error && !drained(r->queue))
			r->error = -ETIME;
		begun = vf_deadline(0) - begun;
		r->longest = begun > r->longest ? begun : r->longest;
	}
	return NULL;
}

/* Return: 0 once all threads have done their submissions, or the error of one. */
static int rings_run(struct ring *ring, unsigned int submissions)
{
	unsigned int i, started = 0;
	int ret = 0;

	for (i = 0; i < RINGS && !ret; i++, started += !ret) {
		ring[i].submissions = submissions;
		ring[i].seed = i + 1;
		ret = -pthread_create(&ring[i].thread, NULL, ring_run, &ring[i]);
	}
	for (i = 0; i < started; i++) {
		pthread_join(ring[i].thread, NULL);
		ret = ret ?: ring[i].error;
	}
	return ret;
}

/* Return: true if both the hardware and the host have the function as @busy. */
static bool host_knows(int function, bool busy)
{
	return stat_of(function, "gfx", "busy") == busy &&
	       stat_of(function, "gfx", "known_busy") == busy;
}

/* On eight rings of one function, beside one that always has work. */
TEST_F_TIMEOUT(world, VF_18_no_edge_of_eight_threads_is_lost, 600)
{
	static const uint32_t nodes[] = { DRM_VFENCE_NODE_GFX, DRM_VFENCE_NODE_COMPUTE,
					  DRM_VFENCE_NODE_COPY };
	unsigned int total = deterministic() ? 20000 : wanted(1000000), i;
	struct ring ring[RINGS] = { { 0 } };
	int64_t longest = 0;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "1000"));
	for (i = 0; i < RINGS; i++)
		ASSERT_EQ(0, vf_queue_create(self->guest[0].device, nodes[i % 3], 16384,
					     &ring[i].queue));
	/* Its draws of 50 us are 10 s, more than the others take on the deterministic clock. */
	vf_cmd_draw(self->guest[1].gfx, 200000, 50000);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));

	EXPECT_EQ(0, rings_run(ring, total / RINGS));
	for (i = 0; i < RINGS; i++)
		longest = ring[i].longest > longest ? ring[i].longest : longest;
	TH_LOG("%u submissions, %llu edges, at most %.3f ms until a ring was empty", total,
	       (unsigned long long)stat_of(1, "gfx", "turned_busy"), (double)longest / 1e6);
	EXPECT_TRUE(EVENTUALLY(host_knows(1, false)));
	EXPECT_EQ(stat_of(1, "gfx", "turned_busy"), stat_of(1, "gfx", "turned_idle"));
	/* The host looks for lost messages at every eighth decision, and has found none. */
	EXPECT_EQ(0, stat_of(1, "gfx", "recovered"));
	/* On a slow machine there is nearly always work. */
	EXPECT_LT(deterministic() ? total / 100 : 0, stat_of(1, "gfx", "turned_busy"));
	/* A turn of each function, the switches, the draw in flight, and the work of all rings. */
	if (deterministic())
		EXPECT_GT(10 * MS, longest);
	vf_cmd_draw(ring[0].queue, 100000, 50000);
	EXPECT_EQ(0, vf_queue_submit(ring[0].queue));
	EXPECT_TRUE(EVENTUALLY(host_knows(1, true)));
	for (i = 0; i < RINGS; i++) {
		vf_queue_abort(ring[i].queue);
		vf_queue_destroy(ring[i].queue);
	}
}

/* The message that a function is idle comes after the one that it is busy again. */
TEST_F(world, VF_19_messages_in_another_order_do_not_starve_a_function)
{
	unsigned int i, held = 0;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "1000"));
	vf_cmd_draw(self->guest[1].gfx, 20000, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	for (i = 0; i < 20; i++) {
		uint64_t busy = stat_of(1, "gfx", "turned_busy");
		uint64_t idle = stat_of(1, "gfx", "turned_idle");

		vf_cmd_draw(self->guest[0].gfx, 1, 10 * MS);
		ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
		ASSERT_TRUE(EVENTUALLY(stat_of(1, "gfx", "turned_busy") == busy + 1));
		ASSERT_EQ(0, inject(VF(1), "hold_edge", "1"));
		EXPECT_TRUE(drained(self->guest[0].gfx));
		EXPECT_TRUE(EVENTUALLY(stat_of(1, "gfx", "turned_idle") == idle + 1));
		/* If this thread was slow, the message has gone before. */
		held += !injected(VF(1), "hold_edge");
		ASSERT_EQ(0, inject(VF(1), "hold_edge", "0"));
	}
	vf_cmd_draw(self->guest[0].gfx, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	EXPECT_TRUE(drained(self->guest[0].gfx));
	TH_LOG("%u messages came late", held);
	EXPECT_LT(0, held);
	if (deterministic())
		EXPECT_EQ(20, held);
	EXPECT_EQ(0, stat_of(1, "gfx", "recovered"));
	EXPECT_NOT_YET(vf_fence_current(vf_queue_progress(self->guest[1].gfx)));
}

TEST_HARNESS_MAIN
