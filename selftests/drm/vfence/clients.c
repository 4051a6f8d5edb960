// SPDX-License-Identifier: GPL-2.0-only
/* Clients of one adapter: what one of them may do to the others and learn about them. */

#include <sys/prctl.h>

#include "vfence_test.h"

FIXTURE(clients) {
	struct client owner, guest;
	int efd;
};

FIXTURE_SETUP(clients)
{
	ASSERT_EQ(0, client_open(&self->owner));
	ASSERT_EQ(0, client_open(&self->guest));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(clients)
{
	close(self->efd);
	client_close(&self->guest);
	client_close(&self->owner);
}

/* Open the fence as @c with @rights, and close the handle. */
static int open_and_close(struct client *c, struct vf_fence *fence, uint32_t rights)
{
	int fd = vf_fence_export_rights(fence, rights), ret;
	struct vf_fence *opened;

	if (fd < 0)
		return fd;
	ret = vf_fence_open(c->device, fd, &opened);
	close(fd);
	if (!ret)
		vf_fence_destroy(opened);
	return ret;
}

struct sleeper {
	struct vf_fence *fence;
	int ret;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;

	s->ret = vf_fence_wait(s->fence, 10, DEADLINE);
	return NULL;
}

TEST_F(clients, WDDM_135_signals_that_ride_along_may_rewind_when_asked_to)
{
	struct vf_point down = { .value = 3 }, zero = { .value = 0 };
	struct drm_vfence_fence_point signal = { .value = 2 }, point = { .value = 0 };
	struct drm_vfence_event_arm event = {
		.flags = DRM_VFENCE_WAIT_ALLOW_REWIND, .eventfd = self->efd,
		.points = DRM_VFENCE_OBJ_ARRAY(1, &point),
		.signals = DRM_VFENCE_OBJ_ARRAY(1, &signal),
	};

	ASSERT_EQ(0, vf_monitored_fence_create(self->owner.device, 0, 5, &down.fence));
	zero.fence = down.fence;
	signal.fence = vf_fence_handle(down.fence);
	point.fence = signal.fence;
	EXPECT_EQ(-EINVAL, vf_signal_and_wait(self->owner.adapter, &down, 1, &zero, 1, 0, 0, NULL));
	EXPECT_EQ(5, vf_fence_current(down.fence));
	EXPECT_EQ(0, vf_signal_and_wait(self->owner.adapter, &down, 1, &zero, 1,
					DRM_VFENCE_WAIT_ALLOW_REWIND, 0, NULL));
	EXPECT_EQ(3, vf_fence_current(down.fence));
	EXPECT_EQ(0, raw(vf_adapter_fd(self->owner.adapter), DRM_IOCTL_VFENCE_EVENT_ARM, &event));
	EXPECT_EQ(2, vf_fence_current(down.fence));
	EXPECT_TRUE(fired(self->efd));
	vf_fence_destroy(down.fence);
}

#define LIMIT(c, what) limit_of(self->c.adapter, DRM_VFENCE_LIMIT_##what)
#define USED(c, what) LIMIT(c, what).used

TEST_F(clients, a_client_sees_its_limits_and_what_it_has)
{
	struct drm_vfence_limit limits[16] = { 0 };
	struct vf_point point = { .value = 1 };
	struct vf_fence *fence[3];
	unsigned int i, count = 16;
	struct vf_wait_set *set;
	struct vf_queue *queue;
	uint64_t fences;
	uint32_t event;
	int ret;

	ASSERT_EQ(0, vf_adapter_limits(self->owner.adapter, limits, &count));
	ASSERT_EQ(14, count);
	for (i = 0; i < count; i++) {
		EXPECT_EQ(i + 1, limits[i].id);
		EXPECT_LT(0, limits[i].limit);
		EXPECT_EQ(limits[i].id == DRM_VFENCE_LIMIT_DEVICES, limits[i].used);
	}

	ASSERT_EQ(0, vf_queue_create(self->owner.device, DRM_VFENCE_NODE_COPY, 4096, &queue));
	EXPECT_EQ(1, USED(owner, CONTEXTS));
	EXPECT_EQ(1, USED(owner, QUEUES));
	fences = USED(owner, FENCES);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &fence[i]));
	EXPECT_EQ(fences + 3, USED(owner, FENCES));
	point.fence = fence[0];
	ASSERT_EQ(0, vf_event_arm(self->owner.adapter, &point, 1, 0, self->efd, &event));
	EXPECT_EQ(1, USED(owner, EVENTS));
	EXPECT_EQ(1, USED(owner, EVENT_POINTS));
	ASSERT_EQ(0, vf_wait_set_create(self->owner.adapter, 7, &set));
	EXPECT_EQ(1, USED(owner, WAIT_SETS));
	EXPECT_EQ(7, USED(owner, WAIT_SET_ENTRIES));
	vf_wait_set_destroy(set);
	EXPECT_EQ(0, USED(owner, WAIT_SETS));
	EXPECT_EQ(0, USED(owner, WAIT_SET_ENTRIES));
	EXPECT_EQ(0, USED(guest, FENCES));
	EXPECT_EQ(0, USED(guest, EVENTS));

	/* At the limit the call fails, and what was destroyed makes room. */
	do {
		ret = vf_event_arm(self->owner.adapter, &point, 1, 0, self->efd, &event);
	} while (!ret);
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(LIMIT(owner, EVENTS).limit, USED(owner, EVENTS));
	ASSERT_EQ(0, vf_event_cancel(self->owner.adapter, event));
	EXPECT_EQ(LIMIT(owner, EVENTS).limit - 1, USED(owner, EVENTS));
	vf_queue_destroy(queue);
	for (i = 0; i < 3; i++)
		vf_fence_destroy_now(fence[i]);
	EXPECT_EQ(0, USED(owner, QUEUES));
	EXPECT_EQ(0, USED(owner, FENCES));
}

/* Add what an eventfd has counted since. Return: the sum. */
static uint64_t add_events(int efd, uint64_t *sum)
{
	uint64_t more;

	if (read(efd, &more, sizeof(more)) == sizeof(more))
		*sum += more;
	return *sum;
}

/* A client that has seen its events fire may arm as many again, at once. */
TEST_F_TIMEOUT(clients, events_that_have_fired_count_no_longer, 120)
{
	uint64_t limit = LIMIT(owner, EVENTS).limit, events, i, round;
	struct vf_queue *queue;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	for (round = 1; round <= 3; round++) {
		events = 0;
		for (i = 0; i < limit; i++)
			ASSERT_EQ(0, arm(self->owner.adapter, fence, round, self->efd));
		vf_cmd_signal(queue, fence, round);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_TRUE(AT_ONCE(add_events(self->efd, &events) == limit));
	}
	vf_queue_destroy(queue);
	vf_fence_destroy(fence);
}

enum { TAKING = 1, END };

/* Keep all workers of the kernel off the second processor, if there is one. */
static void *take_processor(void *arg)
{
	int *state = arg;

	pin(0, 1);
	if (sched_getcpu() == 1)
		hurry(0, 2);
	__atomic_store_n(state, TAKING, __ATOMIC_RELEASE);
	while (sched_getcpu() == 1 && __atomic_load_n(state, __ATOMIC_RELAXED) != END)
		;
	return NULL;
}

TEST_F(clients, a_signal_frees_the_events_that_it_fires)
{
	struct vf_fence *fence;
	pthread_t thread;
	unsigned int i;
	int state = 0;

	ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &fence));
	ASSERT_EQ(0, pthread_create(&thread, NULL, take_processor, &state));
	ASSERT_TRUE(EVENTUALLY(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == TAKING));
	pin(0, 0);
	hurry(0, 2);
	for (i = 1; i <= 10; i++) {
		EXPECT_EQ(0, arm(self->owner.adapter, fence, i, self->efd));
		EXPECT_EQ(0, arm(self->owner.adapter, fence, i, self->efd));
		EXPECT_EQ(2, USED(owner, EVENTS));
		EXPECT_EQ(0, vf_fence_signal(fence, i));
		EXPECT_EQ(0, USED(owner, EVENTS));
	}
	hurry(0, 0);
	__atomic_store_n(&state, END, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	vf_fence_destroy(fence);
}

struct submitter {
	struct vf_queue *queue;
	int end, ret;
};

static void *submit_again_and_again(void *arg)
{
	struct submitter *s = arg;

	while (!s->ret && !__atomic_load_n(&s->end, __ATOMIC_RELAXED)) {
		s->ret = vf_submit(&s->queue, 1, &(struct vf_submit){ 0 });
		if (!s->ret)
			s->ret = vf_queue_wait_idle(s->queue, DEADLINE);
	}
	return NULL;
}

/* Who signals the progress of a submission delivers events, too. */
TEST_F(clients, events_are_freed_beside_submissions)
{
	struct submitter s = { .end = 0 };
	uint64_t limit = LIMIT(owner, EVENTS).limit;
	struct vf_fence *fence;
	unsigned int i, k;
	pthread_t thread;

	ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_kernel_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, &s.queue));
	ASSERT_EQ(0, pthread_create(&thread, NULL, submit_again_and_again, &s));
	for (i = 1; i <= 10; i++) {
		/* Many, so that the call that signals takes long. */
		for (k = 0; k < limit / 4; k++)
			ASSERT_EQ(0, arm(self->owner.adapter, fence, i, self->efd));
		ASSERT_EQ(0, vf_fence_signal(fence, i));
	}
	__atomic_store_n(&s.end, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, s.ret);
	EXPECT_EQ(0, USED(owner, EVENTS));
	vf_queue_destroy(s.queue);
	vf_fence_destroy(fence);
}

struct signaler {
	struct vf_adapter *adapter;
	struct vf_point before, with, never;
	int ret;
};

/* Signal in a call of its own, and then in a call that sleeps. */
static void *signal_and_sleep(void *arg)
{
	struct signaler *s = arg;

	s->ret = vf_signal(s->adapter, &s->before, 1);
	if (!s->ret)
		s->ret = vf_signal_and_wait(s->adapter, &s->with, 1, &s->never, 1, 0, DEADLINE,
					    NULL);
	return NULL;
}

TEST_F(clients, a_call_that_sleeps_keeps_back_no_event)
{
	struct signaler s = { .adapter = self->owner.adapter };
	struct vf_fence *fence, *never;
	pthread_t thread;

	ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &never));
	s.before = (struct vf_point){ fence, 1 };
	s.with = (struct vf_point){ fence, 2 };
	s.never = (struct vf_point){ never, 1 };
	ASSERT_EQ(0, arm(self->owner.adapter, fence, 2, self->efd));
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_and_sleep, &s));
	/* No call of this thread helps. */
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_EQ(0, vf_fence_signal(never, 1));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, s.ret);
	vf_fence_destroy(never);
	vf_fence_destroy(fence);
}

static bool sleeps_unless_killed(pid_t task)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", task);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'D';
}

static void *signal_once(void *arg)
{
	struct vf_point *point = arg;

	vf_fence_signal(point->fence, point->value);
	return NULL;
}

#define SLOW_SETS	400

/* A thread is killed while another one signals eventfds for a long time, for which it waits. */
TEST_F_TIMEOUT(clients, a_killed_signal_leaves_its_event_to_others, 120)
{
	struct drm_vfence_fence_point point = { .value = 1 };
	struct drm_vfence_fence_signal signal = { .points = DRM_VFENCE_OBJ_ARRAY(1, &point) };
	int slow = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), set[SLOW_SETS];
	struct vf_point long_one = { .value = 1 };
	struct vf_fence *fence;
	pthread_t thread;
	unsigned int i;
	pid_t child;

	ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &long_one.fence));
	ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &fence));
	ASSERT_TRUE(slow_down(slow, set, SLOW_SETS));
	for (i = 0; i < 1500; i++)
		ASSERT_EQ(0, arm(self->owner.adapter, long_one.fence, 1, slow));
	ASSERT_EQ(0, arm(self->owner.adapter, fence, 1, self->efd));
	point.fence = vf_fence_handle(fence);
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_once, &long_one));
	ASSERT_TRUE(EVENTUALLY(fired(slow)));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(raw(vf_adapter_fd(self->owner.adapter), DRM_IOCTL_VFENCE_FENCE_SIGNAL,
			  &signal));
	/* On a slow machine the other thread may have ended: then the child ends, too. */
	EXPECT_TRUE(EVENTUALLY((vf_fence_current(fence) == 1 && sleeps_unless_killed(child)) ||
			       fired(self->efd)));
	if (fired(self->efd))
		TH_LOG("the child had ended");
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	for (i = 0; i < SLOW_SETS; i++)
		close(set[i]);
	close(slow);
	vf_fence_destroy(fence);
	vf_fence_destroy(long_one.fence);
}

/* Submissions that wait count by their points until they end, and then count no longer, at once. */
TEST_F_TIMEOUT(clients, points_of_submissions_are_limited_until_they_end, 120)
{
	struct vf_point points[DRM_VFENCE_MAX_POINTS], signal;
	struct vf_submit what = { .waits = points, .wait_count = DRM_VFENCE_MAX_POINTS },
			 one = { .signals = &signal, .signal_count = 1 };
	uint64_t limit = LIMIT(owner, SUBMIT_POINTS).limit, i, round;
	struct vf_fence *fence;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_monitored_fence_create(self->owner.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_kernel_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, &queue));
	for (round = 1; round <= 3; round++) {
		for (i = 0; i < DRM_VFENCE_MAX_POINTS; i++)
			points[i] = (struct vf_point){ fence, round };
		for (i = 0; i < limit / DRM_VFENCE_MAX_POINTS; i++)
			ASSERT_EQ(0, vf_submit(&queue, 1, &what));
		EXPECT_EQ(limit, USED(owner, SUBMIT_POINTS));
		EXPECT_EQ(-ENOSPC, vf_submit(&queue, 1, &what));
		signal = (struct vf_point){ fence, round };
		EXPECT_EQ(-ENOSPC, vf_submit(&queue, 1, &one));
		EXPECT_EQ(limit, USED(owner, SUBMIT_POINTS));
		/* Without points there is no limit but that of the queue. */
		ASSERT_EQ(0, vf_submit(&queue, 1, &(struct vf_submit){ 0 }));
		ASSERT_EQ(0, vf_fence_signal(fence, round));
		ASSERT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
		EXPECT_EQ(0, USED(owner, SUBMIT_POINTS));
	}
	/* Those that are cancelled have ended, too. */
	points[0].value = signal.value = round;
	ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	ASSERT_EQ(0, vf_submit(&queue, 1, &one));
	EXPECT_EQ(DRM_VFENCE_MAX_POINTS + 1, USED(owner, SUBMIT_POINTS));
	vf_queue_destroy(queue);
	EXPECT_EQ(0, USED(owner, SUBMIT_POINTS));
	vf_fence_destroy(fence);
}

/* WDDM-125 is for handles that may signal: see "Where the driver differs from WDDM". */
TEST_F(clients, a_close_without_the_right_to_signal_ends_no_waits)
{
	const uint32_t read = DRM_VFENCE_RIGHT_READ;
	struct sleeper s = { .ret = 1 };
	pthread_t thread;

	ASSERT_EQ(0, vf_monitored_fence_create(self->owner.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &s.fence));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_EQ(0, arm(self->owner.adapter, s.fence, 10, self->efd));
	ASSERT_TRUE(EVENTUALLY(waiters(s.fence) == 2));
	EXPECT_EQ(0, open_and_close(&self->guest, s.fence, read));
	EXPECT_EQ(0, open_and_close(&self->guest, s.fence, read | DRM_VFENCE_RIGHT_WAIT));
	EXPECT_EQ(2, waiters(s.fence));
	EXPECT_FALSE(fired(self->efd));
	/* The waits end by their value. */
	EXPECT_EQ(0, vf_fence_signal(s.fence, 10));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	EXPECT_TRUE(fired(self->efd));
	vf_fence_destroy(s.fence);
}

TEST_F(clients, WDDM_125_a_close_with_the_right_to_signal_ends_all_waits)
{
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_monitored_fence_create(self->owner.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	ASSERT_EQ(0, arm(self->owner.adapter, fence, 10, self->efd));
	EXPECT_EQ(0, open_and_close(&self->guest, fence,
				    DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_SIGNAL));
	EXPECT_EQ(1, fired_on(self->owner.adapter, self->efd));
	vf_fence_destroy(fence);
}

/* Run @check in a child without capabilities. It returns the number of the failed step, or 0. */
static int unprivileged(int (*check)(struct client *c), struct client *c)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		/* The capabilities go with the last user id that is root's. */
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(100);
		/* A process that was root's may not read its own fdinfo. */
		prctl(PR_SET_DUMPABLE, 1);
		_exit(check(c));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int check_totals(struct client *c)
{
	struct drm_vfence_node_info node[8];
	struct vf_node_totals totals[8];
	struct vf_counters counters;
	unsigned int count = 8;
	uint64_t value;

	if (vf_adapter_counters(c->adapter, &counters) != -EACCES)
		return 1;
	if (vf_adapter_counter(c->adapter, "signals", &value) != -EACCES)
		return 2;
	if (vf_adapter_node_totals(c->adapter, totals, &count) != -EACCES)
		return 3;
	/* What is no secret stays readable. */
	count = 8;
	if (vf_adapter_nodes(c->adapter, node, &count) || count < 2)
		return 4;
	if (node[0].class_id != DRM_VFENCE_NODE_GFX ||
	    !(node[0].flags & DRM_VFENCE_NODE_USER_MODE_SUBMISSION))
		return 5;
	return vf_client_counters(c->adapter, &counters) || !counters.ioctls ? 6 : 0;
}

TEST_F(clients, the_totals_of_the_adapter_need_a_privilege)
{
	struct vf_node_totals totals[8];
	struct vf_counters counters;
	unsigned int count = 8, i;
	char path[300];
	struct stat st;

	if (geteuid())
		SKIP(return, "needs root");
	EXPECT_EQ(0, unprivileged(check_totals, &self->guest));
	ASSERT_EQ(0, vf_adapter_counters(self->guest.adapter, &counters));
	EXPECT_LT(0, counters.ioctls);
	EXPECT_EQ(0, vf_adapter_node_totals(self->guest.adapter, totals, &count));
	/* Also where debugfs is mounted for others. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, debugfs_path(0, i ? "nodes" : "counters", path, sizeof(path)));
		ASSERT_EQ(0, stat(path, &st));
		EXPECT_EQ(0400, st.st_mode & 0777);
	}
}

TEST_F(clients, a_client_counts_what_it_does_itself)
{
	struct vf_counters own, others0, others, total0, total;
	struct vf_queue *queue;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_client_counters(self->owner.adapter, &own));
	/* DEVICE_CREATE. */
	EXPECT_EQ(1, own.ioctls);
	ASSERT_EQ(0, vf_client_counters(self->guest.adapter, &others0));
	total0 = counters(self->owner.adapter);

	ASSERT_EQ(0, vf_kernel_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, vf_fence_create(self->owner.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_fence_signal(fence, 1));
	ASSERT_EQ(0, vf_signal_and_wait(self->owner.adapter, &(struct vf_point){ fence, 2 }, 1,
					&(struct vf_point){ fence, 2 }, 1, 0, 0, NULL));
	EXPECT_EQ(-ETIME, vf_fence_wait(fence, 3, 1));
	ASSERT_EQ(0, arm(self->owner.adapter, fence, 3, self->efd));
	ASSERT_EQ(0, vf_fence_signal(fence, 3));
	EXPECT_TRUE(fired(self->efd));
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	EXPECT_EQ(3, vf_fence_current(fence));
	vf_fence_destroy(fence);

	ASSERT_EQ(0, vf_client_counters(self->owner.adapter, &own));
	EXPECT_EQ(3, own.cpu_signals);
	EXPECT_EQ(2, own.waits_begun);
	EXPECT_EQ(1, own.waits_satisfied);
	EXPECT_EQ(1, own.waits_timed_out);
	EXPECT_EQ(0, own.waits_cancelled);
	/* The fence, and the progress fence of the queue, which is still open. */
	EXPECT_EQ(2, own.fences_created);
	EXPECT_EQ(2, own.fences_opened);
	EXPECT_EQ(1, own.fences_closed);
	EXPECT_EQ(1, own.submissions);
	/* The first load of the fence's value, and of the queue's progress. */
	EXPECT_LE(1, own.page_faults);
	total = counters(self->owner.adapter);
	/* The driver signals the progress fence of the queue. */
	EXPECT_EQ(total0.cpu_signals + 3 + 1, total.cpu_signals);
	/* The other client did nothing. */
	ASSERT_EQ(0, vf_client_counters(self->guest.adapter, &others));
	EXPECT_EQ(0, memcmp(&others0, &others, sizeof(others)));
	/* What only the adapter counts is not in the answer. */
	EXPECT_EQ(0, own.signals);
	EXPECT_EQ(0, own.handler_runs);
	vf_queue_destroy(queue);
}

TEST_F(clients, a_ring_counts_for_the_client_that_rings)
{
	struct vf_counters own, others;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	ASSERT_EQ(0, vf_client_counters(self->owner.adapter, &own));
	ASSERT_EQ(0, vf_client_counters(self->guest.adapter, &others));
	EXPECT_LE(1, own.doorbell_faults);
	EXPECT_EQ(0, others.doorbell_faults);
	vf_queue_destroy(queue);
}

/* ------------------------------------------------------------------ full tables */

FIXTURE(full) {
	struct client client;
	struct vf_fence *fence;
	uint32_t bo, context;
	/* The handle of what was made last; of a mapping its address. */
	uint64_t last;
	int fd, efd;
};

FIXTURE_VARIANT(full) {
	uint32_t limit;
	/* What one call takes. */
	uint32_t each;
	/* Make one more, and store it as the last one. */
	int (*make)(FIXTURE_DATA(full) *self);
	/* Zero for a mapping, which is no object. */
	enum drm_vfence_object type;
};

static int make_context(FIXTURE_DATA(full) *self)
{
	struct drm_vfence_context_create args = {
		.device = vf_device_handle(self->client.device), .handle = (uint32_t)self->last,
	};
	int ret = raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &args);

	self->last = args.handle;
	return ret;
}

static int make_queue(FIXTURE_DATA(full) *self)
{
	struct drm_vfence_queue_create args = {
		.context = self->context, .handle = (uint32_t)self->last,
	};
	int ret = raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &args);

	self->last = args.handle;
	return ret;
}

static int make_fence(FIXTURE_DATA(full) *self)
{
	struct drm_vfence_fence_create args = {
		.device = vf_device_handle(self->client.device), .handle = (uint32_t)self->last,
	};
	int ret = raw(self->fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &args);

	self->last = args.handle;
	return ret;
}

static int make_event_of(FIXTURE_DATA(full) *self, unsigned int points)
{
	struct vf_point point[DRM_VFENCE_MAX_POINTS];
	uint32_t event = (uint32_t)self->last;
	unsigned int i;
	int ret;

	for (i = 0; i < points; i++)
		point[i] = (struct vf_point){ self->fence, 1 };
	ret = vf_event_arm(self->client.adapter, point, points, 0, self->efd, &event);
	self->last = event;
	return ret;
}

static int make_event(FIXTURE_DATA(full) *self)
{
	return make_event_of(self, 1);
}

static int make_large_event(FIXTURE_DATA(full) *self)
{
	return make_event_of(self, DRM_VFENCE_MAX_POINTS);
}

static int make_mapping(FIXTURE_DATA(full) *self)
{
	struct drm_vfence_vm_bind args = {
		.handle = self->bo, .size = 4096, .flags = DRM_VFENCE_VM_READ,
	};
	int ret = raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &args);

	if (!ret)
		self->last = args.va;
	return ret;
}

static int make_set(FIXTURE_DATA(full) *self, uint32_t entries)
{
	struct drm_vfence_wait_set_create args = {
		.entries = entries, .handle = (uint32_t)self->last,
	};
	int ret = raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_CREATE, &args);

	self->last = args.handle;
	return ret;
}

static int make_small_set(FIXTURE_DATA(full) *self)
{
	return make_set(self, 1);
}

static int make_large_set(FIXTURE_DATA(full) *self)
{
	return make_set(self, DRM_VFENCE_MAX_WAIT_SET_ENTRIES);
}

#define MADE_BY(function, object)	.make = (function), .type = DRM_VFENCE_OBJECT_##object

FIXTURE_VARIANT_ADD(full, of_contexts) {
	.limit = DRM_VFENCE_LIMIT_CONTEXTS, .each = 1,
	MADE_BY(make_context, CONTEXT),
};
FIXTURE_VARIANT_ADD(full, of_queues) {
	.limit = DRM_VFENCE_LIMIT_QUEUES, .each = 1,
	MADE_BY(make_queue, QUEUE),
};
FIXTURE_VARIANT_ADD(full, of_fences) {
	.limit = DRM_VFENCE_LIMIT_FENCES, .each = 1,
	MADE_BY(make_fence, FENCE),
};
FIXTURE_VARIANT_ADD(full, of_events) {
	.limit = DRM_VFENCE_LIMIT_EVENTS, .each = 1,
	MADE_BY(make_event, EVENT),
};
FIXTURE_VARIANT_ADD(full, of_event_points) {
	.limit = DRM_VFENCE_LIMIT_EVENT_POINTS, .each = DRM_VFENCE_MAX_POINTS,
	MADE_BY(make_large_event, EVENT),
};
FIXTURE_VARIANT_ADD(full, of_mappings) {
	.limit = DRM_VFENCE_LIMIT_MAPPINGS, .each = 1,
	.make = make_mapping,
};
FIXTURE_VARIANT_ADD(full, of_wait_sets) {
	.limit = DRM_VFENCE_LIMIT_WAIT_SETS, .each = 1,
	MADE_BY(make_small_set, WAIT_SET),
};
FIXTURE_VARIANT_ADD(full, of_entries) {
	.limit = DRM_VFENCE_LIMIT_WAIT_SET_ENTRIES, .each = DRM_VFENCE_MAX_WAIT_SET_ENTRIES,
	MADE_BY(make_large_set, WAIT_SET),
};

FIXTURE_SETUP(full)
{
	struct drm_vfence_bo_create bo = { .size = 4096 };

	ASSERT_EQ(0, client_open(&self->client));
	self->fd = vf_adapter_fd(self->client.adapter);
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_EQ(0, vf_fence_create(self->client.device, 0, 0, &self->fence));
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &bo));
	self->bo = bo.handle;
	ASSERT_EQ(0, make_context(self));
	self->context = (uint32_t)self->last;
}

FIXTURE_TEARDOWN(full)
{
	client_close(&self->client);
	close(self->efd);
}

static void destroy_last(FIXTURE_DATA(full) *self, const FIXTURE_VARIANT(full) *variant)
{
	struct drm_vfence_vm_bind unbind = { .op = DRM_VFENCE_VM_UNMAP, .va = self->last };

	if (variant->type)
		destroy_object(self->fd, variant->type, (uint32_t)self->last);
	else
		raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &unbind);
}

/* Up to its limit a client gets everything, and beyond it nothing that counts. */
TEST_F_TIMEOUT(full, a_table_takes_no_more_and_a_refused_call_takes_nothing, 120)
{
	struct drm_vfence_limit before[16] = { 0 }, after[16] = { 0 };
	struct vf_adapter *adapter = self->client.adapter;
	struct drm_vfence_limit limit = limit_of(adapter, variant->limit);
	unsigned int count = 16, i;

	ASSERT_LE(variant->each, limit.limit);
	for (i = limit.used; i + variant->each <= limit.limit; i += variant->each)
		ASSERT_EQ(0, variant->make(self)) TH_LOG("%u of %u are in use", i, limit.limit);
	EXPECT_EQ(limit.limit, limit_of(adapter, variant->limit).used);
	ASSERT_EQ(0, vf_adapter_limits(adapter, before, &count));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-ENOSPC, variant->make(self));
	ASSERT_EQ(0, vf_adapter_limits(adapter, after, &count));
	for (i = 0; i < count; i++)
		EXPECT_EQ(before[i].used, after[i].used) TH_LOG("limit %u", after[i].id);

	/* What is destroyed makes room for as much, and for no more. */
	destroy_last(self, variant);
	EXPECT_EQ(limit.limit - variant->each, limit_of(adapter, variant->limit).used);
	EXPECT_EQ(0, variant->make(self));
	EXPECT_EQ(-ENOSPC, variant->make(self));
}

/* ------------------------------------------------------------------ evictions */

#define GROUP	CGROUPS "/attacker"
#define OWNERS	90

/* Return: bytes of kernel memory that the group is charged for; -1 on an error. */
static long long group_bytes(void)
{
	FILE *f = fopen(GROUP "/memory.stat", "re");
	long long bytes = -1;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "kernel %lld", &bytes) == 1)
			break;
	if (f)
		fclose(f);
	return bytes;
}

/* A client that has values in video memory. */
static int open_local(struct client *c)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_fence *fence;
	int ret = client_open(c);

	return ret ? ret : vf_fence_create_desc(c->device, &desc, &fence);
}

/* Evict pages of others from video memory. */
static int evict(struct vf_adapter *adapter, uint64_t pages)
{
	uint64_t before = counters(adapter).evictions;
	struct client c;

	while (counters(adapter).evictions < before + pages)
		if (open_local(&c))
			return -EIO;
	return 0;
}

/* Memory for an eviction belongs to the client whose values move, not to the one that comes. */
TEST_F_TIMEOUT(clients, evictions_are_charged_to_the_owner_of_the_values, 120)
{
	struct client owner[OWNERS];
	unsigned int i;
	int status;
	pid_t pid;

	if (geteuid())
		SKIP(return, "needs root");
	for (i = 0; i < OWNERS; i++)
		ASSERT_EQ(0, open_local(&owner[i]));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int ret = cgroup_take(GROUP, "+memory", getpid());

		_exit(ret ? 2 : evict(self->owner.adapter, OWNERS) ? 1 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	if (WEXITSTATUS(status) == 2)
		SKIP(return, "needs the memory controller");
	ASSERT_EQ(0, status);
	/* The statistics of the kernel are late, and it frees some memory later. */
	EXPECT_LE(0, group_bytes());
	EXPECT_TRUE(EVENTUALLY(group_bytes() < OWNERS * 4096 / 2));
	TH_LOG("%lld bytes of %d pages", group_bytes(), OWNERS);
	for (i = 0; i < OWNERS; i++)
		client_close(&owner[i]);
	rmdir(GROUP);
}

#define BUFFERS	2000

static int make_buffers(struct vf_adapter *adapter)
{
	struct drm_vfence_bo_create bo;
	int i, ret = 0;

	for (i = 0; i < BUFFERS && !ret; i++) {
		bo = (struct drm_vfence_bo_create){ .size = 4096 };
		ret = raw(vf_adapter_fd(adapter), DRM_IOCTL_VFENCE_BO_CREATE, &bo);
	}
	return ret;
}

/* The kernel's helpers would allocate a part of each buffer outside the memory cgroup of the client. */
TEST_F_TIMEOUT(clients, buffers_are_charged_to_the_group_of_their_client, 120)
{
	int status;
	pid_t pid;

	if (geteuid())
		SKIP(return, "needs root");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int ret = cgroup_take(GROUP, "+memory", getpid());

		_exit(ret ? 2 : make_buffers(self->owner.adapter) ? 1 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	if (WEXITSTATUS(status) == 2)
		SKIP(return, "needs the memory controller");
	ASSERT_EQ(0, status);
	EXPECT_TRUE(EVENTUALLY(group_bytes() > BUFFERS * 1400));
	TH_LOG("%lld bytes of %d buffers", group_bytes(), BUFFERS);
	rmdir(GROUP);
}

TEST_HARNESS_MAIN
