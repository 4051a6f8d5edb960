// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a call costs follows what it names, and not the square of it, nor what else the client has.
 * On the deterministic clock a nanosecond is an instruction.
 */

#include "vfence_test.h"

#define FEW	256
#define MANY	1024
#define ALL	3000

FIXTURE(linear) {
	struct client client;
	struct vf_device *device;
	struct vf_fence **fence;
};

FIXTURE_SETUP(linear)
{
	if (!counts_instructions())
		SKIP(return, "needs an exact clock");
	ASSERT_EQ(0, client_open(&self->client));
	ASSERT_EQ(0, vf_device_create(self->client.adapter, &self->device));
	self->fence = calloc(ALL, sizeof(*self->fence));
	ASSERT_NE(NULL, self->fence);
}

FIXTURE_TEARDOWN(linear)
{
	unsigned int i;

	for (i = 0; i < ALL; i++)
		if (self->fence[i])
			vf_fence_destroy(self->fence[i]);
	free(self->fence);
	vf_device_destroy(self->device);
	client_close(&self->client);
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Return: the median of @count costs, which it sorts. Other threads run meanwhile in some of them,
 * and the kernel's allocators take new pages in some.
 */
static int64_t usual(int64_t *cost, unsigned int count)
{
	qsort(cost, count, sizeof(*cost), by_size);
	return cost[0] < 0 ? cost[0] : cost[count / 2];
}

static int64_t lowest(int64_t *cost, unsigned int count)
{
	qsort(cost, count, sizeof(*cost), by_size);
	return cost[0];
}

/* Return: what a signal of the first @count fences costs, in ns; negative on an error. */
static int64_t cost_of_signals(FIXTURE_DATA(linear) *self, unsigned int count, uint64_t value)
{
	struct vf_point *point = calloc(count, sizeof(*point));
	int64_t begun, cost = -1;
	unsigned int i;

	for (i = 0; point && i < count; i++)
		point[i] = (struct vf_point){ self->fence[i], value };
	begun = vf_deadline(0);
	if (point && !vf_signal(self->client.adapter, point, count))
		cost = vf_deadline(0) - begun;
	free(point);
	return cost;
}

TEST_F(linear, a_signal_of_many_monitored_fences)
{
	int64_t few, many;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &self->fence[i]));
	ASSERT_LT(0, cost_of_signals(self, MANY, 1));
	few = cost_of_signals(self, FEW, 2);
	many = cost_of_signals(self, MANY, 3);
	TH_LOG("%u fences %lld ns, %u fences %lld ns", FEW, (long long)few, MANY, (long long)many);
	ASSERT_LT(0, few);
	EXPECT_GT(few * (MANY / FEW) * 5 / 4, many);
}

/* Shareable fences have pages of their own, which each creation has to map. */
TEST_F(linear, a_fence_beside_many)
{
	int64_t cost[ALL], few, many;
	unsigned int i;

	for (i = 0; i < ALL; i++) {
		cost[i] = vf_deadline(0);
		ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0,
					     &self->fence[i]));
		cost[i] = vf_deadline(0) - cost[i];
	}
	few = usual(cost + 64, 64);
	many = usual(cost + ALL - 64, 64);
	TH_LOG("%lld ns beside some 100, %lld ns beside some %u", (long long)few, (long long)many,
	       ALL);
	EXPECT_GT(few * 3 / 2, many);
}

static int64_t cost_of_a_device(struct vf_adapter *adapter)
{
	struct vf_device *device;
	struct vf_queue *queue;
	int64_t begun;

	if (vf_device_create(adapter, &device) ||
	    vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue))
		return -1;
	begun = vf_deadline(0);
	destroy_object(vf_adapter_fd(adapter), DRM_VFENCE_OBJECT_DEVICE,
		       vf_device_handle(device));
	begun = vf_deadline(0) - begun;
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	return begun;
}

static int64_t usual_cost_of_a_device(struct vf_adapter *adapter)
{
	int64_t cost[15];
	unsigned int i;

	for (i = 0; i < 15; i++)
		cost[i] = cost_of_a_device(adapter);
	return usual(cost, 15);
}

/* Other devices of the file have all these fences. */
TEST_F(linear, the_end_of_a_device_beside_many_fences)
{
	int64_t few, many;
	unsigned int i;

	few = usual_cost_of_a_device(self->client.adapter);
	for (i = 0; i < ALL; i++)
		ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence[i]));
	many = usual_cost_of_a_device(self->client.adapter);
	TH_LOG("%lld ns beside none, %lld ns beside %u fences", (long long)few, (long long)many,
	       ALL);
	ASSERT_LT(0, few);
	EXPECT_GT(few * 5 / 4, many);
}

/* Return: what a submission that signals @fence costs until its end is known, in ns. */
static int64_t cost_of_a_submission(struct vf_queue *queue, struct vf_fence *fence, uint64_t value)
{
	int64_t begun = vf_deadline(0);
	struct vf_submit what = {};

	vf_cmd_signal(queue, fence, value);
	if (vf_submit(&queue, 1, &what) || vf_queue_wait_idle(queue, DEADLINE))
		return -1;
	return vf_deadline(0) - begun;
}

/* A client whose submissions are measured. */
struct submitter {
	struct vf_queue *queue;
	struct vf_fence *fence;
	uint64_t value;
};

/*
 * Store what a submission of each of two clients costs. They take turns, and the lowest cost counts:
 * whether the scheduler lets a thread of the driver run at once, or when the client sleeps, makes an
 * eighth of the cost, and stays as it is for many rounds. Return: false on an error.
 */
static bool costs_of_submissions(struct submitter *both, int64_t *lowest_cost)
{
	int64_t cost[2][24];
	unsigned int i;

	/* The first eight find cold memory. */
	for (i = 0; i < 2 * 32; i++) {
		struct submitter *s = &both[i % 2];
		int64_t spent = cost_of_a_submission(s->queue, s->fence, ++s->value);

		if (spent < 0)
			return false;
		if (i >= 2 * 8)
			cost[i % 2][i / 2 - 8] = spent;
	}
	for (i = 0; i < 2; i++)
		lowest_cost[i] = lowest(cost[i], 24);
	return true;
}

/* Fences of a client that another one waits for. */
struct watched {
	struct client watcher;
	struct vf_fence *opened[MANY];
	int efd;
};

static int watch(struct watched *w, struct vf_fence *fence, unsigned int i)
{
	int fd = vf_fence_export(fence), ret;

	ret = fd < 0 ? fd : vf_fence_open(w->watcher.device, fd, &w->opened[i]);
	close(fd);
	return ret ? ret : arm(w->watcher.adapter, w->opened[i], 1, w->efd);
}

/*
 * Submissions signal one fence. Then one of two clients has many, that are waited for. Its own events
 * would cost a call that returns while a thread still signals, and when that is, the scheduler decides.
 */
TEST_F(linear, the_end_of_a_submission_beside_many_fences)
{
	static struct watched w;
	struct submitter both[2] = { 0 };
	int64_t none[2], many[2], few;
	struct client other;
	unsigned int i;

	ASSERT_EQ(0, client_open(&other));
	ASSERT_EQ(0, client_open(&w.watcher));
	w.efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (i = 0; i < 2; i++) {
		struct vf_device *device = i ? self->device : other.device;

		ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &both[i].queue));
		ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &both[i].fence));
	}
	ASSERT_TRUE(costs_of_submissions(both, none));
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0,
						       &self->fence[i]));
		ASSERT_EQ(0, watch(&w, self->fence[i], i));
	}
	ASSERT_TRUE(costs_of_submissions(both, many));
	few = none[0] < none[1] ? none[0] : none[1];
	TH_LOG("%lld ns beside none; beside %u fences %lld ns, and %lld ns for who has them",
	       (long long)few, MANY, (long long)many[0], (long long)many[1]);
	for (i = 0; i < MANY; i++)
		vf_fence_destroy(w.opened[i]);
	for (i = 0; i < 2; i++) {
		EXPECT_GT(few * 3 / 2, many[i]);
		vf_queue_destroy(both[i].queue);
		vf_fence_destroy(both[i].fence);
	}
	client_close(&other);
	client_close(&w.watcher);
	close(w.efd);
}

/* Return: what a wait for a value that is reached costs, in ns; negative on an error. */
static int64_t cost_of_a_wait(struct vf_fence *fence)
{
	int64_t cost[24];
	unsigned int i;

	for (i = 0; i < 24; i++) {
		cost[i] = vf_deadline(0);
		if (vf_fence_wait(fence, 0, DEADLINE))
			return -1;
		cost[i] = vf_deadline(0) - cost[i];
	}
	return usual(cost, 24);
}

/* No signal is on its way, so no event of the client can be late. */
TEST_F(linear, a_wait_beside_many_events)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct submitter s = { 0 };
	struct vf_counters c;
	int64_t few, many;
	unsigned int i;

	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &s.queue));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &s.fence));
	ASSERT_LT(0, cost_of_a_submission(s.queue, s.fence, 1));
	ASSERT_TRUE(settled(self->client.adapter, &c));
	few = cost_of_a_wait(s.fence);
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &self->fence[i]));
		ASSERT_EQ(0, arm(self->client.adapter, self->fence[i], 1, efd));
	}
	many = cost_of_a_wait(s.fence);
	TH_LOG("%lld ns beside none, %lld ns beside %u events", (long long)few, (long long)many,
	       MANY);
	ASSERT_LT(0, few);
	EXPECT_GT(few * 5 / 4, many);
	vf_queue_destroy(s.queue);
	vf_fence_destroy(s.fence);
	close(efd);
}

TEST_HARNESS_MAIN
