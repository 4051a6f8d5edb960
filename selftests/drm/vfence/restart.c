// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that something interrupts: signal handlers, stops, debuggers, the freezer. What was
 * reached while the call was in progress stays reached.
 */

#include <sys/ptrace.h>
#include <sys/time.h>

#include "vfence_test.h"

/* Limits of an open file, see struct drm_vfence_wait. */
#define MOST_WAITS	4096
#define MOST_POINTS	65536

static volatile sig_atomic_t handled;
static volatile pid_t forked;

static void on_signal(int signo)
{
	handled++;
}

static void on_signal_fork(int signo)
{
	forked = fork();
	handled++;
}

static void install(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	handled = 0;
	sigaction(SIGUSR1, &action, NULL);
}

#define PAIR_MEMBERS								\
	struct vf_adapter *adapter;						\
	struct vf_device *device;						\
	struct vf_fence *a, *b

#define PAIR_SETUP() do {							\
	ASSERT_EQ(0, vf_adapter_open(0, &self->adapter));			\
	ASSERT_EQ(0, vf_device_create(self->adapter, &self->device));		\
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->a));		\
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->b));		\
} while (0)

#define PAIR_TEARDOWN() do {							\
	vf_fence_destroy(self->b);						\
	vf_fence_destroy(self->a);						\
	vf_device_destroy(self->device);					\
	vf_adapter_close(self->adapter);					\
} while (0)

FIXTURE(restart) {
	PAIR_MEMBERS;
	struct vf_fence *gate;
	struct drm_vfence_fence_point points[2], signal;
	int fd;
};

FIXTURE_SETUP(restart)
{
	PAIR_SETUP();
	self->fd = vf_adapter_fd(self->adapter);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->gate));
	self->points[0] = (struct drm_vfence_fence_point){
		.fence = vf_fence_handle(self->a), .value = 5,
	};
	self->points[1] = (struct drm_vfence_fence_point){
		.fence = vf_fence_handle(self->b), .value = 1,
	};
	self->signal = (struct drm_vfence_fence_point){
		.fence = vf_fence_handle(self->gate), .value = 5,
	};
}

FIXTURE_TEARDOWN(restart)
{
	vf_fence_destroy(self->gate);
	PAIR_TEARDOWN();
}

/* The value comes and goes. */
static void pulse(struct vf_fence *fence, uint64_t value)
{
	vf_fence_signal(fence, value);
	vf_fence_signal(fence, 0);
}

struct sleeper {
	struct vf_adapter *adapter;
	struct vf_point points[2];
	int ret;
};

/* Wait for {A >= 5, B >= 1}. The library calls again after EINTR. */
static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;

	s->ret = vf_wait(s->adapter, s->points, 2, 0, DEADLINE, NULL);
	return NULL;
}

#define SLEEPER(self) \
	{ .adapter = (self)->adapter, .points = { { (self)->a, 5 }, { (self)->b, 1 } }, .ret = 1 }

static bool both_wait(struct vf_fence *a, struct vf_fence *b)
{
	return EVENTUALLY(waiters(a) && waiters(b));
}

FIXTURE(handler) { PAIR_MEMBERS; };
FIXTURE_VARIANT(handler) { int flags; };
FIXTURE_VARIANT_ADD(handler, of_the_kernel) { .flags = SA_RESTART, };
FIXTURE_VARIANT_ADD(handler, of_the_library) { .flags = 0, };

FIXTURE_SETUP(handler) { PAIR_SETUP(); }
FIXTURE_TEARDOWN(handler) { PAIR_TEARDOWN(); }

TEST_F(handler, a_restart_keeps_what_was_reached)
{
	struct sleeper s = SLEEPER(self);
	pthread_t thread;

	install(on_signal, variant->flags);
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(both_wait(self->a, self->b));
	pulse(self->a, 5);
	ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	ASSERT_TRUE(EVENTUALLY(handled));
	EXPECT_EQ(0, vf_fence_signal(self->b, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
}

static int stop_child(pid_t child)
{
	int status;

	return kill(child, SIGSTOP) || waitpid(child, &status, WUNTRACED) != child;
}

static int continue_child(pid_t child)
{
	return kill(child, SIGCONT);
}

static int trace_child(pid_t child)
{
	int status;

	return ptrace(PTRACE_ATTACH, child, NULL, NULL) || waitpid(child, &status, 0) != child;
}

static int untrace_child(pid_t child)
{
	return ptrace(PTRACE_DETACH, child, NULL, NULL) != 0;
}

#define GROUP	CGROUPS "/restart"

static bool is_frozen(void)
{
	char text[256] = "";
	int fd = open(GROUP "/cgroup.events", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && strstr(text, "frozen 1");
}

static int freeze_child(pid_t child)
{
	if (cgroup_take(GROUP, NULL, child) || write_text(GROUP "/cgroup.freeze", "1"))
		return -1;
	return !EVENTUALLY(is_frozen());
}

static int thaw_child(pid_t child)
{
	return write_text(GROUP "/cgroup.freeze", "0");
}

FIXTURE(paused) { PAIR_MEMBERS; };
FIXTURE_VARIANT(paused) {
	int (*pause)(pid_t child);
	int (*go_on)(pid_t child);
};
FIXTURE_VARIANT_ADD(paused, by_a_stop) { .pause = stop_child, .go_on = continue_child, };
FIXTURE_VARIANT_ADD(paused, by_a_debugger) { .pause = trace_child, .go_on = untrace_child, };
FIXTURE_VARIANT_ADD(paused, by_the_freezer) { .pause = freeze_child, .go_on = thaw_child, };

FIXTURE_SETUP(paused) { PAIR_SETUP(); }
FIXTURE_TEARDOWN(paused) { PAIR_TEARDOWN(); }

TEST_F(paused, a_process_misses_nothing)
{
	struct sleeper s = SLEEPER(self);
	int status = -1, paused;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		sleep_on(&s);
		_exit(s.ret ? 1 : 0);
	}
	ASSERT_TRUE(both_wait(self->a, self->b));
	paused = variant->pause(child);
	if (paused < 0) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		SKIP(return, "needs cgroup v2");
	}
	EXPECT_EQ(0, paused);
	/* Both values come and go while the process is paused. */
	pulse(self->a, 5);
	pulse(self->b, 1);
	EXPECT_EQ(0, variant->go_on(child));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	rmdir(GROUP);
}

TEST_F(restart, a_child_that_restarts_too_does_no_harm)
{
	struct sleeper s = SLEEPER(self);
	int status = -1;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		install(on_signal_fork, SA_RESTART);
		sleep_on(&s);
		if (forked)
			waitpid(forked, &status, 0);
		_exit(s.ret || (forked && status) ? 1 : 0);
	}
	ASSERT_TRUE(both_wait(self->a, self->b));
	ASSERT_EQ(0, kill(child, SIGUSR1));
	/* One of the two continues the wait, the other one begins a new wait. */
	ASSERT_TRUE(EVENTUALLY(waiters(self->a) == 2));
	EXPECT_EQ(0, vf_fence_signal(self->a, 5));
	EXPECT_EQ(0, vf_fence_signal(self->b, 1));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

/* The file stays open: what the thread leaves would stay with it. */
TEST_F(restart, a_process_that_is_killed_leaves_no_wait)
{
	struct sleeper s = SLEEPER(self);
	struct vf_counters before = counters(self->adapter), after;
	int status = -1;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		sleep_on(&s);
		_exit(0);
	}
	ASSERT_TRUE(both_wait(self->a, self->b));
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, waiters(self->a));
	EXPECT_EQ(0, waiters(self->b));
	after = counters(self->adapter);
	EXPECT_EQ(before.waits_cancelled + 1, after.waits_cancelled);
}

/* A raw call, which returns EINTR. The timer's signal interrupts it. */
static int wait_interrupted(int fd, struct drm_vfence_wait *args)
{
	return ioctl(fd, DRM_IOCTL_VFENCE_WAIT, args) ? -errno : 0;
}

static void ticks(bool on)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval timer = { { 0, on ? 500 : 0 }, { 0, on ? 500 : 0 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

#define WAIT_BOTH(self) {							\
	.timeout_ns = INT64_MAX, .points = DRM_VFENCE_OBJ_ARRAY(2, (self)->points),	\
	.signals = DRM_VFENCE_OBJ_ARRAY(1, &(self)->signal),			\
}

TEST_F(restart, the_call_can_be_made_again_by_hand)
{
	struct drm_vfence_wait args = WAIT_BOTH(self), before = args;
	struct vf_counters c0 = counters(self->adapter), c;

	ticks(true);
	EXPECT_EQ(-EINTR, wait_interrupted(self->fd, &args));
	ticks(false);
	/* The kernel writes the number of the wait, and nothing else. */
	EXPECT_NE(0, args.restart);
	before.restart = args.restart;
	EXPECT_EQ(0, memcmp(&before, &args, sizeof(args)));
	/* The wait is armed while no thread is in the call, and counts for the client. */
	EXPECT_EQ(1, waiters(self->a));
	EXPECT_EQ(1, limit_of(self->adapter, DRM_VFENCE_LIMIT_RESTARTS).used);
	EXPECT_EQ(2, limit_of(self->adapter, DRM_VFENCE_LIMIT_RESTART_POINTS).used);
	pulse(self->a, 5);
	pulse(self->b, 1);
	EXPECT_EQ(0, vf_fence_signal(self->gate, 0));
	EXPECT_EQ(0, wait_interrupted(self->fd, &args));
	/* The structure can be passed again: it begins a new wait. */
	EXPECT_EQ(0, args.restart);
	EXPECT_EQ(0, limit_of(self->adapter, DRM_VFENCE_LIMIT_RESTARTS).used);
	EXPECT_EQ(0, limit_of(self->adapter, DRM_VFENCE_LIMIT_RESTART_POINTS).used);
	/* The signals were performed once. */
	EXPECT_EQ(0, vf_fence_current(self->gate));
	c = counters(self->adapter);
	EXPECT_EQ(c0.waits_begun + 1, c.waits_begun);
	EXPECT_EQ(c0.waits_satisfied + 1, c.waits_satisfied);
	EXPECT_EQ(NOT_MONITORED, monitored(self->a));
}

TEST_F(restart, a_kept_wait_ends_by_its_deadline_or_its_fence)
{
	struct drm_vfence_wait args = WAIT_BOTH(self);

	ticks(true);
	EXPECT_EQ(-EINTR, wait_interrupted(self->fd, &args));
	ticks(false);
	args.timeout_ns = 1;
	EXPECT_EQ(-ETIME, wait_interrupted(self->fd, &args));
	EXPECT_EQ(0, args.restart);
	EXPECT_EQ(0, waiters(self->a));

	args.timeout_ns = INT64_MAX;
	ticks(true);
	EXPECT_EQ(-EINTR, wait_interrupted(self->fd, &args));
	ticks(false);
	vf_fence_destroy(self->b);
	EXPECT_EQ(-ECANCELED, wait_interrupted(self->fd, &args));
	EXPECT_EQ(0, args.restart);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->b));
}

TEST_F(restart, a_number_is_good_for_its_own_call_and_file)
{
	struct drm_vfence_wait args = WAIT_BOTH(self), other;
	struct drm_vfence_fence_point points[2];
	struct client client;
	uint32_t number;

	ticks(true);
	EXPECT_EQ(-EINTR, wait_interrupted(self->fd, &args));
	ticks(false);
	number = args.restart;
	/* Another list of points, or another length. */
	memcpy(points, self->points, sizeof(points));
	other = args;
	other.points.array = (uintptr_t)points;
	EXPECT_EQ(-EINVAL, wait_interrupted(self->fd, &other));
	EXPECT_EQ(number, other.restart);
	other = args;
	other.points.count = 1;
	EXPECT_EQ(-EINVAL, wait_interrupted(self->fd, &other));
	/* A number without a wait begins a wait, and performs no signals. */
	other = args;
	other.restart = number + 1;
	other.timeout_ns = 0;
	EXPECT_EQ(0, vf_fence_signal(self->gate, 0));
	EXPECT_EQ(-ETIME, wait_interrupted(self->fd, &other));
	EXPECT_EQ(0, vf_fence_current(self->gate));
	EXPECT_EQ(0, other.restart);
	/* The number is gone also if the new wait fails at once. */
	other.restart = number + 1;
	other.flags = DRM_VFENCE_WAIT_ANY;
	points[0].fence = UINT32_MAX;
	other.points.array = (uintptr_t)points;
	EXPECT_EQ(-ENOENT, wait_interrupted(self->fd, &other));
	EXPECT_EQ(0, other.restart);
	/* The numbers of another file are its own. */
	ASSERT_EQ(0, client_open(&client));
	other = args;
	EXPECT_EQ(-ENOENT, wait_interrupted(vf_adapter_fd(client.adapter), &other));
	client_close(&client);
	/* The wait itself is unharmed. */
	pulse(self->a, 5);
	pulse(self->b, 1);
	EXPECT_EQ(0, wait_interrupted(self->fd, &args));
}

TEST_F_TIMEOUT(restart, waits_that_nobody_continues_are_limited, 120)
{
	uint64_t cancelled = counters(self->adapter).waits_cancelled;
	struct drm_vfence_wait args = WAIT_BOTH(self);
	uint32_t oldest = 0;
	unsigned int i;

	args.signals.count = 0;
	ticks(true);
	for (i = 0; i < MOST_WAITS + 3; i++) {
		args.restart = 0;
		ASSERT_EQ(-EINTR, wait_interrupted(self->fd, &args));
		oldest = oldest ? oldest : args.restart;
	}
	ticks(false);
	EXPECT_EQ(MOST_WAITS, waiters(self->a));
	EXPECT_EQ(cancelled + 3, counters(self->adapter).waits_cancelled);
	/* The newest is still there, the oldest is not. */
	pulse(self->a, 5);
	pulse(self->b, 1);
	EXPECT_EQ(0, wait_interrupted(self->fd, &args));
	args.restart = oldest;
	args.timeout_ns = 1;
	EXPECT_EQ(-ETIME, wait_interrupted(self->fd, &args));
}

/* Interrupt a wait for the value 5 of @fence with all points it may have. Return: 0 or an error. */
static int interrupt_many_points(int fd, struct vf_fence *fence, struct drm_vfence_wait *args)
{
	static struct drm_vfence_fence_point points[DRM_VFENCE_MAX_POINTS];
	unsigned int i;
	int ret;

	for (i = 0; i < DRM_VFENCE_MAX_POINTS; i++)
		points[i] = (struct drm_vfence_fence_point){
			.fence = vf_fence_handle(fence), .value = 5,
		};
	*args = (struct drm_vfence_wait){
		.timeout_ns = INT64_MAX,
		.points = DRM_VFENCE_OBJ_ARRAY(DRM_VFENCE_MAX_POINTS, points),
	};
	ticks(true);
	ret = wait_interrupted(fd, args);
	ticks(false);
	return ret == -EINTR ? 0 : ret ? ret : -EIO;
}

TEST_F_TIMEOUT(restart, points_that_nobody_waits_for_are_limited, 120)
{
	struct drm_vfence_wait args;
	unsigned int i;

	for (i = 0; i < MOST_POINTS / DRM_VFENCE_MAX_POINTS + 3; i++)
		ASSERT_EQ(0, interrupt_many_points(self->fd, self->a, &args));
	EXPECT_EQ(MOST_POINTS, waiters(self->a));
}

/* Another wait would lose its place to them. */
TEST_F_TIMEOUT(restart, points_of_a_wait_that_goes_on_do_not_count, 120)
{
	struct drm_vfence_wait kept = WAIT_BOTH(self), args;
	unsigned int i;

	ticks(true);
	ASSERT_EQ(-EINTR, wait_interrupted(self->fd, &kept));
	ticks(false);
	for (i = 0; i < MOST_POINTS / DRM_VFENCE_MAX_POINTS + 3; i++) {
		ASSERT_EQ(0, interrupt_many_points(self->fd, self->a, &args));
		args.timeout_ns = 1;
		ASSERT_EQ(-ETIME, wait_interrupted(self->fd, &args));
	}
	EXPECT_EQ(1, waiters(self->a));
	EXPECT_EQ(1, waiters(self->b));
	pulse(self->a, 5);
	pulse(self->b, 1);
	EXPECT_EQ(0, wait_interrupted(self->fd, &kept));
}

TEST_HARNESS_MAIN
