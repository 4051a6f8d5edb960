// SPDX-License-Identifier: GPL-2.0-only
/* What libvfence promises beside the calls of the driver: vfence.h has the contract. */

#include <grp.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "vfence_test.h"

FIXTURE(library) {
	VFENCE_MEMBERS;
	struct vf_fence *gate, *fence;
	/* Another open file is another adapter for the library. */
	struct client other;
	struct vf_fence *foreign;
	int efd;
};

FIXTURE_SETUP(library)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->gate));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, client_open(&self->other));
	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &self->foreign));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, self->efd);
}

FIXTURE_TEARDOWN(library)
{
	close(self->efd);
	vf_fence_destroy(self->foreign);
	client_close(&self->other);
	vf_fence_destroy(self->fence);
	vf_fence_destroy(self->gate);
	VFENCE_TEARDOWN();
}

/* ---------------------------------------------------------------- fork */

/* Return: the exit code of a child, or -1 if a signal has ended it. */
static int code_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Return: 0, or the number of what the child could not do with the objects of its parent. */
static int use_in_child(FIXTURE_DATA(library) *self)
{
	/* The parent signals after the fork. */
	if (vf_fence_wait(self->gate, 7, DEADLINE) || vf_fence_current(self->gate) != 7)
		return 1;
	if (vf_queue_status(self->gfx) > DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY)
		return 2;
	vf_cmd_signal(self->gfx, self->fence, 9);
	if (vf_queue_submit(self->gfx) || vf_queue_wait_idle(self->gfx, DEADLINE))
		return 3;
	return vf_fence_current(self->fence) == 9 ? 0 : 4;
}

TEST_F(library, a_child_of_fork_uses_the_objects_of_its_parent)
{
	pid_t child;

	/* The doorbell is connected, and rings without a call. */
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_queue_wait_idle(self->gfx, DEADLINE));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		_exit(use_in_child(self));
	}
	ASSERT_EQ(0, vf_fence_signal(self->gate, 7));
	EXPECT_EQ(0, code_of(child));
	EXPECT_EQ(9, vf_fence_current(self->fence));
}

/* Return: 0, or the number of what a child finds that is not lost. */
static int lost_in_child(FIXTURE_DATA(library) *self)
{
	if (vf_fence_current(self->fence) != UINT64_MAX)
		return 1;
	if (vf_queue_status(self->gfx) != DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT)
		return 2;
	vf_cmd_nop(self->gfx, 8);
	return vf_queue_submit(self->gfx) < 0 ? 0 : 3;
}

TEST_F(library, a_child_without_the_adapter_finds_all_lost)
{
	pid_t child;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, driver("unbind", 0));
	child = fork();
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		_exit(lost_in_child(self));
	}
	EXPECT_EQ(0, driver("bind", 0));
	ASSERT_LE(0, child);
	EXPECT_EQ(0, code_of(child));
}

/* ---------------------------------------------------------------- adapters */

TEST_F(library, descriptors_close_on_exec)
{
	struct vf_buffer *buffer;
	int sock[2], fd;

	EXPECT_EQ(FD_CLOEXEC, fcntl(self->fd, F_GETFD));
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	fd = vf_buffer_export(buffer);
	ASSERT_LE(0, fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ASSERT_EQ(0, vf_send_fd(sock[0], fd));
	close(fd);
	fd = vf_recv_fd(sock[1]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	close(fd);
	close(sock[0]);
	close(sock[1]);
	vf_buffer_destroy(buffer);
}

TEST_F(library, a_socket_that_is_closed_is_an_error)
{
	int sock[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	close(sock[1]);
	errno = 0;
	EXPECT_EQ(-EPIPE, vf_recv_fd(sock[0]));
	/* SIGPIPE would end this process. */
	EXPECT_EQ(-EPIPE, vf_send_fd(sock[0], self->efd));
	close(sock[0]);
}

static volatile int alarms;
static int alarm_sock;

/* The third signal sends a descriptor. */
static void on_alarm(int number)
{
	if (++alarms == 3)
		vf_send_fd(alarm_sock, alarm_sock);
}

TEST_F(library, a_signal_handler_does_not_end_the_wait_for_a_descriptor)
{
	struct sigaction action = { .sa_handler = on_alarm }, old;
	struct itimerval often = { .it_interval.tv_usec = 1000, .it_value.tv_usec = 1000 };
	struct itimerval never = {};
	int sock[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	alarm_sock = sock[0];
	ASSERT_EQ(0, sigaction(SIGALRM, &action, &old));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	fd = vf_recv_fd(sock[1]);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	ASSERT_EQ(0, sigaction(SIGALRM, &old, NULL));
	EXPECT_LE(0, fd);
	EXPECT_LE(3, alarms);
	close(fd);
	close(sock[0]);
	close(sock[1]);
}

TEST_F(library, an_adapter_that_may_not_be_opened_is_not_missing)
{
	struct vf_adapter *adapter;
	int status;
	pid_t pid;

	if (geteuid())
		SKIP(return, "needs root");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(255);
		_exit(-vf_adapter_open(0, &adapter));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	if (!WEXITSTATUS(status))
		SKIP(return, "every user may open the adapters");
	EXPECT_EQ(EACCES, WEXITSTATUS(status));
}

TEST_F(library, a_list_without_room_has_its_number_of_elements)
{
	struct drm_vfence_node_info nodes[8];
	unsigned int all = 8, count = 1;

	ASSERT_EQ(0, vf_adapter_nodes(self->adapter, nodes, &all));
	ASSERT_LT(1, all);
	memset(nodes, POISON, sizeof(nodes));
	ASSERT_EQ(0, vf_adapter_nodes(self->adapter, nodes, &count));
	EXPECT_EQ(all, count);
	EXPECT_EQ(POISON, *(unsigned char *)&nodes[1]);
	count = 0;
	ASSERT_EQ(0, vf_adapter_limits(self->adapter, NULL, &count));
	EXPECT_LT(0, count);
}

TEST_F(library, the_state_of_a_device_that_has_gone_is_an_error)
{
	struct vf_device *device;

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	destroy_object(self->fd, DRM_VFENCE_OBJECT_DEVICE, vf_device_handle(device));
	EXPECT_EQ(-ENOENT, vf_device_state(device));
	vf_device_destroy(device);
}

TEST_F(library, a_deadline_that_has_passed_is_not_negative)
{
	EXPECT_EQ(0, vf_deadline(INT64_MIN));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->gate, 1, vf_deadline(INT64_MIN)));
	EXPECT_EQ(VF_FOREVER, vf_deadline(INT64_MAX));
}

TEST_F(library, a_stamp_far_from_the_calibration_has_its_time)
{
	const uint64_t hour = 3600 * UINT64_C(1000000000);
	struct drm_vfence_clock_info clock = {
		.frequency_hz = 1000000000, .gpu_ticks = 2 * hour, .cpu_ns = 9 * hour,
	};

	EXPECT_EQ(9 * hour, vf_clock_to_cpu(&clock, 2 * hour));
	EXPECT_EQ(10 * hour, vf_clock_to_cpu(&clock, 3 * hour));
	EXPECT_EQ(8 * hour, vf_clock_to_cpu(&clock, hour));
	clock.frequency_hz = 500000000;
	EXPECT_EQ(11 * hour, vf_clock_to_cpu(&clock, 3 * hour));
}

TEST_F(library, a_value_that_the_cpu_cannot_see_is_0)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create_desc(self->device, &desc, &fence));
	EXPECT_EQ(0, vf_fence_current(fence));
	vf_fence_destroy(fence);
}

/* --------------------------------------------------------- several adapters */

TEST_F(library, one_point_of_an_adapter_is_enough_for_an_event_for_any)
{
	struct vf_point point[3] = { { self->gate, 1 }, { self->foreign, 1 }, { self->fence, 1 } };
	struct vf_event events[2];
	unsigned int count = 2;
	eventfd_t n = 0;

	ASSERT_EQ(0, vf_event_arm_across(point, 3, DRM_VFENCE_WAIT_ANY, self->efd, events, &count));
	EXPECT_EQ(2, count);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	ASSERT_EQ(0, eventfd_read(self->efd, &n));
	EXPECT_EQ(1, n);
	vf_event_cancel_across(events, count);
	EXPECT_EQ(NOT_MONITORED, monitored(self->foreign));
}

TEST_F(library, a_cancel_passes_over_an_adapter_whose_points_were_reached)
{
	struct vf_point point[2] = { { self->gate, 0 }, { self->foreign, 1 } };
	struct vf_event events[2];
	unsigned int count = 2;

	memset(events, POISON, sizeof(events));
	ASSERT_EQ(0, vf_event_arm_across(point, 2, 0, self->efd, events, &count));
	EXPECT_EQ(2, count);
	EXPECT_EQ(0, events[0].event);
	EXPECT_EQ(0, monitored(self->foreign));
	vf_event_cancel_across(events, count);
	EXPECT_EQ(NOT_MONITORED, monitored(self->foreign));
}

TEST_F(library, a_wait_across_adapters_has_the_error_of_any_part)
{
	struct vf_point point[2] = { { NULL, 1 }, { self->foreign, 1 } };

	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_NO_WAIT, 0, &point[0].fence));
	EXPECT_EQ(-EACCES, vf_wait_across(point, 2, 0, 0, NULL));
	EXPECT_EQ(-EACCES, vf_wait_across(point, 2, DRM_VFENCE_WAIT_ANY, 0, NULL));
	EXPECT_EQ(NOT_MONITORED, monitored(self->foreign));
	vf_fence_destroy(point[0].fence);
}

TEST_F(library, a_wait_across_adapters_returns_the_index_of_the_first_point)
{
	struct vf_point point[2] = { { self->gate, 0 }, { self->foreign, 1 } };
	unsigned int first = POISON;

	EXPECT_EQ(0, vf_wait_across(point, 2, DRM_VFENCE_WAIT_ANY, DEADLINE, &first));
	EXPECT_EQ(0, first);
}

TEST_F(library, a_wait_across_adapters_takes_as_many_points_as_a_wait)
{
	static struct vf_point points[DRM_VFENCE_MAX_POINTS + 1];
	unsigned int i;

	for (i = 0; i <= DRM_VFENCE_MAX_POINTS; i++)
		points[i] = (struct vf_point){ i % 2 ? self->foreign : self->gate, 0 };
	EXPECT_EQ(0, vf_wait_across(points, DRM_VFENCE_MAX_POINTS, 0, 0, NULL));
	EXPECT_EQ(-EINVAL, vf_wait_across(points, DRM_VFENCE_MAX_POINTS + 1, 0, 0, NULL));
	EXPECT_EQ(-EINVAL, vf_wait_across(points, 2, 8, 0, NULL));
}

struct sleeper {
	struct vf_point point[2];
	pid_t tid;
	int ret;
};

static void *wait_for_both(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	s->ret = vf_wait_across(s->point, 2, 0, DEADLINE, NULL);
	return NULL;
}

TEST_F(library, a_fence_that_is_destroyed_ends_a_wait_across_adapters)
{
	struct sleeper s = { .point = { { NULL, 1 }, { self->foreign, 1 } } };
	pthread_t thread;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &s.point[0].fence));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_both, &s));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&s.tid, SYS_ppoll)));
	/* The thread still uses the object of the library. */
	destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE, vf_fence_handle(s.point[0].fence));
	EXPECT_EQ(0, vf_fence_signal(self->foreign, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, s.ret);
	vf_fence_destroy(s.point[0].fence);
}

static volatile sig_atomic_t handled;

static void on_signal(int signo)
{
	handled++;
}

TEST_F(library, a_unix_signal_does_not_end_a_wait_across_adapters)
{
	struct sleeper s = { .point = { { self->gate, 1 }, { self->foreign, 1 } } };
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_both, &s));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&s.tid, SYS_ppoll)));
	ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	ASSERT_TRUE(EVENTUALLY(handled));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_EQ(0, vf_fence_signal(self->foreign, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
}

#define TOO_MANY	1000

/* A wait that never ends gets no signals any more after a while, and its time is up then. */
static void on_timer(int signo)
{
	struct itimerval none = { { 0, 0 }, { 0, 0 } };

	if (++handled == TOO_MANY)
		setitimer(ITIMER_REAL, &none, NULL);
}

TEST_F(library, unix_signals_do_not_put_off_the_end_of_a_wait_across_adapters)
{
	struct vf_point point[2] = { { self->gate, 1 }, { self->foreign, 1 } };
	struct itimerval often = { { 0, 5000 }, { 0, 5000 } };
	struct sigaction action = { .sa_handler = on_timer };

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	EXPECT_EQ(-ETIME, vf_wait_across(point, 2, 0, vf_deadline(SECOND / 10), NULL));
	EXPECT_GT(TOO_MANY, handled);
	memset(&often, 0, sizeof(often));
	setitimer(ITIMER_REAL, &often, NULL);
}

/* ------------------------------------------------------------------ points */

TEST_F(library, lists_of_all_lengths_are_passed_whole)
{
	struct vf_point signals[40], waits[40];
	unsigned int i, n, first;

	for (i = 0; i < 40; i++) {
		signals[i] = (struct vf_point){ self->fence, i + 1 };
		waits[i] = (struct vf_point){ self->gate, 1 };
	}
	for (n = 1; n <= 40; n++) {
		ASSERT_EQ(0, vf_signal(self->adapter, signals, n));
		ASSERT_EQ(n, vf_fence_current(self->fence));
		waits[n - 1] = signals[n - 1];
		first = POISON;
		ASSERT_EQ(0, vf_wait(self->adapter, waits, n, DRM_VFENCE_WAIT_ANY, 0, &first));
		EXPECT_EQ(n - 1, first);
		waits[n - 1] = (struct vf_point){ self->gate, 1 };
	}
}

TEST_F(library, a_point_of_a_timeline_is_imported_when_it_is_reached)
{
	uint64_t point = 1;
	uint32_t syncobj;

	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &syncobj));
	ASSERT_EQ(0, drmSyncobjTimelineSignal(self->fd, &syncobj, &point, 1));
	EXPECT_NE(0, vf_fence_import_syncobj(self->fence, syncobj, 2, 5));
	ASSERT_EQ(0, vf_fence_import_syncobj(self->fence, syncobj, 1, 7));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 7, DEADLINE));
	EXPECT_EQ(7, vf_fence_current(self->fence));
	drmSyncobjDestroy(self->fd, syncobj);
}

/* ------------------------------------------------------------------ events */

TEST_F(library, events_that_have_no_room_are_the_oldest)
{
	struct vf_queued events[8];
	unsigned int i;

	ASSERT_EQ(0, vf_events_enable(self->adapter, 4));
	for (i = 1; i <= 6; i++)
		vf_cmd_signal(self->gfx, self->fence, i);
	memset(events, POISON, sizeof(events));
	ASSERT_EQ(3, vf_events_take(self->adapter, events, 3));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(i + 3, events[i].value);
	EXPECT_EQ(POISON, *(unsigned char *)&events[3]);
	ASSERT_EQ(1, vf_events_take(self->adapter, events, 8));
	EXPECT_EQ(6, events[0].value);
	EXPECT_EQ(0, vf_events_take(self->adapter, events, 8));
}

TEST_F(library, a_wait_that_times_out_has_its_two_events)
{
	struct vf_queued events[4];

	ASSERT_EQ(0, vf_events_enable(self->adapter, 4));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->gate, 9, 0));
	ASSERT_EQ(2, vf_events_take(self->adapter, events, 4));
	EXPECT_EQ(VF_CPU_WAIT_BEGIN, events[0].op);
	EXPECT_EQ(VF_CPU_WAIT_END, events[1].op);
	EXPECT_EQ(9, events[1].value);
	EXPECT_EQ(vf_fence_handle(self->gate), events[1].fence);
	EXPECT_EQ(0, events[1].queue);
}

/* ----------------------------------------------------------------- buffers */

TEST_F(library, an_exported_buffer_can_be_written)
{
	struct vf_buffer *buffer;
	uint32_t *map;
	int fd;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	fd = vf_buffer_export(buffer);
	ASSERT_LE(0, fd);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	ASSERT_NE(MAP_FAILED, map);
	*map = 0x600d;
	EXPECT_EQ(0x600d, *(uint32_t *)vf_buffer_map(buffer));
	munmap(map, 4096);
	vf_buffer_destroy(buffer);
}

/* Return: true if a handle is that of a buffer. */
static bool is_buffer(int file, uint32_t handle)
{
	int fd;

	if (drmPrimeHandleToFD(file, handle, O_CLOEXEC, &fd))
		return false;
	close(fd);
	return true;
}

static int import_of(struct vf_buffer *buffer, struct vf_adapter *adapter,
		     struct vf_buffer **import)
{
	int fd = vf_buffer_export(buffer);
	int ret = fd < 0 ? fd : vf_buffer_import(adapter, fd, import);

	close(fd);
	return ret;
}

TEST_F(library, an_import_that_is_destroyed_leaves_no_handle)
{
	struct vf_buffer *theirs, *mine;
	uint32_t handle;

	ASSERT_EQ(0, vf_buffer_create(self->other.adapter, 4096, &theirs));
	ASSERT_EQ(0, import_of(theirs, self->adapter, &mine));
	EXPECT_EQ(NULL, vf_buffer_map(mine));
	EXPECT_EQ(4096, vf_buffer_size(mine));
	handle = vf_buffer_handle(mine);
	EXPECT_TRUE(is_buffer(self->fd, handle));
	vf_buffer_destroy(mine);
	EXPECT_FALSE(is_buffer(self->fd, handle));
	vf_buffer_destroy(theirs);
}

/* The kernel has one handle for a buffer in a file, however often it is imported. */
TEST_F(library, a_buffer_and_its_import_in_one_file_end_apart)
{
	struct vf_buffer *buffer, *import[2];
	volatile uint32_t *word;
	uint32_t handle;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	ASSERT_EQ(0, import_of(buffer, self->adapter, &import[0]));
	ASSERT_EQ(0, import_of(buffer, self->adapter, &import[1]));
	word = vf_buffer_map(buffer);
	handle = vf_buffer_handle(buffer);
	EXPECT_EQ(handle, vf_buffer_handle(import[0]));
	vf_buffer_destroy(import[0]);
	EXPECT_TRUE(is_buffer(self->fd, handle));
	vf_cmd_fill(self->gfx, vf_buffer_va(buffer), 4, 1);
	vf_cmd_fill(self->gfx, vf_buffer_va(import[1]) + 4, 4, 2);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_EQ(1, word[0]);
	EXPECT_EQ(2, word[1]);
	/* The import outlives the buffer. */
	vf_buffer_destroy(buffer);
	EXPECT_TRUE(is_buffer(self->fd, handle));
	vf_cmd_fill(self->gfx, vf_buffer_va(import[1]), 4, 3);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	vf_buffer_destroy(import[1]);
	EXPECT_FALSE(is_buffer(self->fd, handle));
}

/* --------------------------------------------------- what objects leave behind */

#define LIMITS	32

/* Store what an open file has of everything that is limited, by id. */
static bool belongings(struct vf_adapter *adapter, uint64_t *used)
{
	struct drm_vfence_limit limits[LIMITS];
	unsigned int i, count = LIMITS;

	if (vf_adapter_limits(adapter, limits, &count) || count > LIMITS)
		return false;
	for (i = 0; i < count; i++)
		if (limits[i].id < LIMITS)
			used[limits[i].id] = limits[i].used;
	return true;
}

TEST_F(library, objects_that_are_destroyed_leave_nothing)
{
	uint64_t before[LIMITS] = { 0 }, after[LIMITS] = { 0 };
	struct vf_point point = { self->gate, 0 };
	struct vf_buffer *buffer, *import;
	struct vf_queue *user, *kernel;
	struct vf_wait_set *set;
	unsigned int i;

	ASSERT_TRUE(belongings(self->adapter, before));
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	ASSERT_EQ(0, vf_buffer_create(self->other.adapter, 4096, &import));
	vf_buffer_destroy(import);
	ASSERT_EQ(0, import_of(buffer, self->adapter, &import));
	ASSERT_EQ(0, vf_wait_set_create(self->adapter, 4, &set));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &kernel));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &user));
	vf_cmd_wait_kept(user, &point, 1);
	ASSERT_EQ(0, vf_queue_submit(user));
	ASSERT_EQ(0, vf_queue_submit(kernel));

	vf_queue_destroy(user);
	vf_queue_destroy(kernel);
	vf_wait_set_destroy(set);
	vf_buffer_destroy(import);
	vf_buffer_destroy(buffer);
	ASSERT_TRUE(belongings(self->adapter, after));
	for (i = 0; i < LIMITS; i++)
		EXPECT_EQ(before[i], after[i]) TH_LOG("limit %u", i);
}

TEST_F(library, a_fence_that_cannot_be_mapped_leaves_no_handle)
{
	uint64_t before[LIMITS] = { 0 }, after[LIMITS] = { 0 };
	struct rlimit limit, none;
	struct vf_fence *fence;
	struct client client;
	int ret;

	/* No value of this client is mapped yet. */
	ASSERT_EQ(0, client_open(&client));
	ASSERT_TRUE(belongings(client.adapter, before));
	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &limit));
	none = limit;
	none.rlim_cur = 4096;
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
	ret = vf_fence_create(client.device, 0, 0, &fence);
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	EXPECT_EQ(-ENOMEM, ret);
	ASSERT_TRUE(belongings(client.adapter, after));
	EXPECT_EQ(before[DRM_VFENCE_LIMIT_FENCES], after[DRM_VFENCE_LIMIT_FENCES]);
	/* With room it works. */
	ASSERT_EQ(0, vf_fence_create(client.device, 0, 7, &fence));
	EXPECT_EQ(7, vf_fence_current(fence));
	vf_fence_destroy(fence);
	client_close(&client);
}

/* Return: the number of this process's mappings of adapters. */
static unsigned int mappings(void)
{
	unsigned int n = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		n += !!strstr(line, "/dev/dri/");
	if (f)
		fclose(f);
	return n;
}

TEST_F(library, a_page_of_values_is_mapped_as_long_as_it_has_fences)
{
	unsigned int before = mappings();
	struct vf_fence *fence[2];
	struct client client;
	pid_t child;

	ASSERT_EQ(0, client_open(&client));
	ASSERT_EQ(0, vf_fence_create(client.device, 0, 5, &fence[0]));
	ASSERT_EQ(0, vf_fence_create(client.device, 0, 6, &fence[1]));
	EXPECT_LT(before, mappings());
	vf_fence_destroy(fence[0]);
	EXPECT_EQ(6, vf_fence_current(fence[1]));
	vf_fence_destroy(fence[1]);
	EXPECT_EQ(before, mappings());
	/* A child has the same pages. */
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(mappings() == before ? 0 : 1);
	EXPECT_EQ(0, code_of(child));
	client_close(&client);
}

/* ------------------------------------------------------------------ queues */

TEST_F(library, a_packet_goes_over_the_end_of_the_ring)
{
	struct drm_vfence_queue_info query;
	const unsigned int fill = sizeof(struct drm_vfence_packet_fill);
	unsigned int at = 4096 - fill / 2 / 8 * 8, left, packets = 0;
	volatile uint32_t *word;
	struct vf_buffer *buffer;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	word = vf_buffer_map(buffer);
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	for (left = at; left; left -= left < 64 ? left : 64, packets++)
		vf_cmd_nop(queue, left < 64 ? left : 64);
	ASSERT_EQ(0, vf_queue_publish(queue));
	ASSERT_TRUE(EVENTUALLY(!vf_queue_query(queue, &query) && query.packets == packets));
	vf_cmd_fill(queue, vf_buffer_va(buffer) + 8, 4, 0x600d);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	EXPECT_EQ(0x600d, word[2]);
	vf_queue_destroy(queue);
	vf_buffer_destroy(buffer);
}

TEST_F(library, commands_that_fill_a_submission_are_taken_and_no_more)
{
	const struct vf_submit nothing = {};
	struct vf_queue *queue;
	unsigned int i;

	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
	for (i = 0; i < DRM_VFENCE_MAX_COMMANDS / 64; i++)
		vf_cmd_nop(queue, 64);
	EXPECT_EQ(0, vf_submit(&queue, 1, &nothing));
	EXPECT_TRUE(drained(queue));
	for (i = 0; i < DRM_VFENCE_MAX_COMMANDS / 64; i++)
		vf_cmd_nop(queue, 64);
	vf_cmd_nop(queue, 8);
	EXPECT_EQ(-ENOSPC, vf_submit(&queue, 1, &nothing));
	EXPECT_EQ(1, vf_queue_last_queued(queue));
	vf_queue_destroy(queue);
}

TEST_F(library, a_broadcast_is_the_last_submission_of_each_queue)
{
	const struct vf_submit nothing = {};
	struct vf_queue *queue[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_kernel_queue_create(self->device, i, &queue[i]));
	ASSERT_EQ(0, vf_submit(&queue[1], 1, &nothing));
	ASSERT_EQ(0, vf_submit(queue, 2, &nothing));
	EXPECT_EQ(1, vf_queue_last_queued(queue[0]));
	EXPECT_EQ(2, vf_queue_last_queued(queue[1]));
	for (i = 0; i < 2; i++) {
		EXPECT_TRUE(drained(queue[i]));
		vf_queue_destroy(queue[i]);
	}
}

TEST_F(library, a_submission_that_is_refused_takes_its_commands_along)
{
	struct vf_point foreign = { self->foreign, 1 }, denied = { NULL, 1 };
	struct vf_submit submit = { .signals = &foreign, .signal_count = 1 };
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
	/* The library refuses the first one, and the driver the second one. */
	vf_cmd_signal(queue, self->fence, 7);
	EXPECT_EQ(-EXDEV, vf_submit(&queue, 1, &submit));
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	EXPECT_EQ(0, vf_fence_current(self->fence));

	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_NO_WAIT, 0, &denied.fence));
	submit = (struct vf_submit){ .waits = &denied, .wait_count = 1 };
	vf_cmd_signal(queue, self->fence, 8);
	EXPECT_EQ(-EACCES, vf_submit(&queue, 1, &submit));
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	EXPECT_EQ(2, vf_queue_last_queued(queue));
	vf_fence_destroy(denied.fence);
	vf_queue_destroy(queue);
}

TEST_F(library, a_kernel_mode_queue_is_not_made_for_user_mode)
{
	struct vf_queue *queue;

	EXPECT_EQ(-EINVAL, vf_kernel_queue_create_flags(self->device, DRM_VFENCE_NODE_GFX,
							DRM_VFENCE_QUEUE_USER_MODE, &queue));
}

TEST_F(library, a_kept_wait_is_not_behind_one_that_was_dropped)
{
	struct vf_point never = { self->gate, 1 }, soon = { self->fence, 1 };
	unsigned int i;

	vf_cmd_wait_kept(self->gfx, &never, 1);
	/* The first submission drops the wait, the second one drops nothing that is kept. */
	for (i = 0; i < 2; i++) {
		vf_cmd_nop(self->gfx, 7);
		EXPECT_EQ(-EINVAL, vf_queue_submit(self->gfx));
	}
	vf_cmd_wait_kept(self->gfx, &soon, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	EXPECT_TRUE(drained(self->gfx));
}

/* vf_queue_destroy() looks each second whether the queue has executed anything. */
#define STEP	(3 * SECOND / 10)
#define STEPS	5

TEST_F(library, a_queue_that_goes_from_wait_to_wait_is_destroyed_at_its_end)
{
	volatile uint32_t *word;
	struct vf_buffer *buffer;
	struct vf_queue *queue;
	unsigned int i;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	word = vf_buffer_map(buffer);
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	for (i = 1; i <= STEPS; i++) {
		vf_cmd_draw(self->copy, 1, STEP);
		vf_cmd_signal(self->copy, self->gate, i);
		vf_cmd_wait(queue, self->gate, i);
	}
	vf_cmd_fill(queue, vf_buffer_va(buffer), 4, 0x600d);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	vf_queue_destroy(queue);
	EXPECT_EQ(0x600d, *word);
	ASSERT_TRUE(drained(self->copy));
	vf_buffer_destroy(buffer);
}

TEST_F(library, a_queue_that_executes_is_destroyed_at_its_end)
{
	struct vf_point drawn = { self->gate, 1 };
	struct vf_submit second = { .waits = &drawn, .wait_count = 1 };
	volatile uint32_t *word;
	struct vf_buffer *buffer;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	word = vf_buffer_map(buffer);
	ASSERT_EQ(0, vf_kernel_queue_create_flags(self->device, DRM_VFENCE_NODE_GFX,
						  DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT, &queue));
	vf_cmd_draw(queue, STEPS, STEP);
	vf_cmd_signal(queue, self->gate, 1);
	ASSERT_EQ(0, vf_queue_submit(queue));
	/* While the first submission executes, the second one waits. */
	vf_cmd_fill(queue, vf_buffer_va(buffer), 4, 0x600d);
	ASSERT_EQ(0, vf_submit(&queue, 1, &second));
	vf_queue_destroy(queue);
	EXPECT_EQ(1, vf_fence_current(self->gate));
	EXPECT_EQ(0x600d, *word);
	vf_buffer_destroy(buffer);
}

TEST_HARNESS_MAIN
