// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wait sets: entries that stay on their fences between calls. Each becomes ready once, in order,
 * and is lost in no interruption.
 */

#include "vfence_test.h"

#define ENTRIES		64
/* Limit of an open file. */
#define MOST_ENTRIES	8192

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x00000080
#endif

FIXTURE(wait_set) {
	VFENCE_MEMBERS;
	struct vf_fence *a, *b;
	struct vf_wait_set *set;
	struct drm_vfence_wait_set_ready ready[ENTRIES];
	unsigned int count;
};

FIXTURE_SETUP(wait_set)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->a));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->b));
	ASSERT_EQ(0, vf_wait_set_create(self->adapter, ENTRIES, &self->set));
}

FIXTURE_TEARDOWN(wait_set)
{
	vf_wait_set_destroy(self->set);
	vf_fence_destroy(self->b);
	vf_fence_destroy(self->a);
	VFENCE_TEARDOWN();
	EXPECT_TRUE(balanced(0));
}

#define UPDATE(i, fence, value) ({						\
	struct vf_wait_set_entry _u = { i, fence, value };			\
	vf_wait_set_update(self->set, &_u, 1);					\
})

/* Wait for ready entries: self->count of them, in self->ready. */
#define READY(most, timeout) (self->count = (most),				\
	vf_wait_set_wait(self->set, NULL, 0, NULL, 0, timeout, self->ready, &self->count))

TEST_F(wait_set, an_entry_is_ready_once_and_the_others_stay_armed)
{
	ASSERT_EQ(0, UPDATE(3, self->a, 5));
	ASSERT_EQ(0, UPDATE(7, self->b, 1));
	EXPECT_EQ(-ETIME, READY(ENTRIES, 0));
	EXPECT_EQ(4, monitored(self->a));
	ASSERT_EQ(0, vf_fence_signal(self->a, 4));
	EXPECT_EQ(-ETIME, READY(ENTRIES, 0));
	ASSERT_EQ(0, vf_fence_signal(self->a, 5));
	ASSERT_EQ(0, READY(ENTRIES, DEADLINE));
	ASSERT_EQ(1, self->count);
	EXPECT_EQ(3, self->ready[0].index);
	EXPECT_EQ(0, self->ready[0].error);
	ASSERT_EQ(0, vf_fence_signal(self->a, 6));
	EXPECT_EQ(-ETIME, READY(ENTRIES, 0));
	EXPECT_EQ(0, waiters(self->a));
	EXPECT_EQ(1, waiters(self->b));
	/* What is reached already is ready at once. */
	ASSERT_EQ(0, UPDATE(3, self->a, 6));
	ASSERT_EQ(0, READY(ENTRIES, 0));
	EXPECT_EQ(3, self->ready[0].index);
}

TEST_F(wait_set, entries_are_returned_in_the_order_in_which_they_became_ready)
{
	static const unsigned int order[] = { 9, 2, 63, 0, 31 };
	unsigned int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, UPDATE(order[i], self->a, i + 1));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, vf_fence_signal(self->a, i + 1));
	/* What has no room stays ready. */
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, READY(1 + i % 2, 0));
		EXPECT_EQ(order[i], self->ready[0].index);
		if (self->count == 2)
			EXPECT_EQ(order[++i], self->ready[1].index);
	}
	EXPECT_EQ(-ETIME, READY(1, 0));
}

/* Let the entries 0 to @count - 1 become ready, in this order. */
static int make_ready(FIXTURE_DATA(wait_set) *self, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++) {
		ret = UPDATE(i, self->a, i + 1);
		ret = ret ? ret : vf_fence_signal(self->a, i + 1);
	}
	return ret;
}

TEST_F(wait_set, no_more_entries_are_returned_than_there_is_room_for)
{
	ASSERT_EQ(0, make_ready(self, 3));
	memset(self->ready, POISON, sizeof(self->ready));
	ASSERT_EQ(0, READY(2, 0));
	ASSERT_EQ(2, self->count);
	EXPECT_EQ(0, self->ready[0].index);
	EXPECT_EQ(1, self->ready[1].index);
	EXPECT_EQ((char)POISON, *(char *)&self->ready[2]);
	ASSERT_EQ(0, READY(2, 0));
	ASSERT_EQ(1, self->count);
	EXPECT_EQ(2, self->ready[0].index);
}

/* What the kernel could not write stays ready, and what it wrote is not returned again. */
TEST_F(wait_set, memory_that_ends_within_the_array_loses_no_entry)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_vfence_wait_set_ready *end = (void *)(map + page);
	struct drm_vfence_wait_set_wait args = { .set = vf_wait_set_handle(self->set) };

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, mprotect(end, page, PROT_NONE));
	ASSERT_EQ(0, make_ready(self, 3));
	args.ready = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(3, end - 2);
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &args));
	ASSERT_EQ(2, args.returned);
	EXPECT_EQ(0, end[-2].index);
	EXPECT_EQ(1, end[-1].index);
	args.ready = (struct drm_vfence_obj_array)DRM_VFENCE_OBJ_ARRAY(1, end);
	EXPECT_EQ(-EFAULT, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &args));
	ASSERT_EQ(0, READY(ENTRIES, 0));
	ASSERT_EQ(1, self->count);
	EXPECT_EQ(2, self->ready[0].index);
	munmap(map, 2 * page);
}

TEST_F(wait_set, an_update_replaces_what_an_entry_waited_for)
{
	ASSERT_EQ(0, UPDATE(0, self->a, 1));
	ASSERT_EQ(0, UPDATE(1, self->a, 1));
	ASSERT_EQ(0, UPDATE(0, self->b, 1));
	EXPECT_EQ(1, waiters(self->a));
	ASSERT_EQ(0, vf_fence_signal(self->a, 1));
	/* An entry that is ready already is replaced as well, or not used any more. */
	ASSERT_EQ(0, UPDATE(1, self->b, 2));
	EXPECT_EQ(-ETIME, READY(ENTRIES, 0));
	ASSERT_EQ(0, vf_fence_signal(self->b, 2));
	ASSERT_EQ(0, UPDATE(0, NULL, 0));
	ASSERT_EQ(0, READY(ENTRIES, 0));
	ASSERT_EQ(1, self->count);
	EXPECT_EQ(1, self->ready[0].index);
	EXPECT_EQ(0, waiters(self->a) + waiters(self->b));
}

TEST_F(wait_set, the_last_of_several_updates_of_an_entry_counts)
{
	struct vf_wait_set_entry updates[] = { { 5, self->a, 0 }, { 5, self->b, 3 } };

	ASSERT_EQ(0, vf_wait_set_update(self->set, updates, 2));
	EXPECT_EQ(-ETIME, READY(ENTRIES, 0));
	EXPECT_EQ(1, waiters(self->b));
}

TEST_F(wait_set, one_call_updates_any_number_of_entries)
{
	struct vf_wait_set_entry updates[ENTRIES];
	unsigned int i, n;

	for (i = 0; i < ENTRIES; i++)
		updates[i] = (struct vf_wait_set_entry){ i, self->a, 1 };
	for (n = 1; n <= ENTRIES; n++) {
		ASSERT_EQ(0, vf_fence_signal(self->a, 0));
		ASSERT_EQ(0, vf_wait_set_update(self->set, updates, n));
		ASSERT_EQ(n, waiters(self->a));
		ASSERT_EQ(0, vf_fence_signal(self->a, 1));
		ASSERT_EQ(0, READY(ENTRIES, 0));
		ASSERT_EQ(n, self->count);
	}
}

TEST_F(wait_set, a_call_that_fails_returns_no_entry)
{
	ASSERT_EQ(0, UPDATE(0, self->a, 1));
	EXPECT_EQ(-ETIME, READY(ENTRIES, 0));
	EXPECT_EQ(0, self->count);
}

TEST_F(wait_set, a_fence_of_another_file_is_no_entry)
{
	struct vf_wait_set_entry updates[2] = { { 0, self->a, 1 }, { 1, NULL, 1 } };
	struct client other;

	ASSERT_EQ(0, client_open(&other));
	ASSERT_EQ(0, vf_fence_create(other.device, 0, 0, &updates[1].fence));
	EXPECT_EQ(-EXDEV, vf_wait_set_update(self->set, updates, 2));
	EXPECT_EQ(0, waiters(self->a));
	vf_fence_destroy(updates[1].fence);
	client_close(&other);
}

TEST_F(wait_set, a_value_that_comes_and_goes_between_calls_counts)
{
	ASSERT_EQ(0, UPDATE(0, self->a, 5));
	ASSERT_EQ(0, vf_fence_signal(self->a, 5));
	ASSERT_EQ(0, vf_fence_signal(self->a, 0));
	ASSERT_EQ(0, READY(1, 0));
	EXPECT_EQ(0, self->ready[0].error);
}

/* Each round names one entry of many, and the GPU wakes the thread. */
TEST_F(wait_set, the_gpu_makes_entries_of_many_fences_ready)
{
	struct vf_wait_set_entry updates[ENTRIES];
	struct vf_fence *fence[ENTRIES];
	unsigned int i, round;

	for (i = 0; i < ENTRIES; i++) {
		ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence[i]));
		updates[i] = (struct vf_wait_set_entry){ i, fence[i], 1 };
	}
	ASSERT_EQ(0, vf_wait_set_update(self->set, updates, ENTRIES));
	for (round = 1; round <= 3; round++)
		for (i = 0; i < ENTRIES; i += 7) {
			struct vf_wait_set_entry again = { i, fence[i], round + 1 };

			vf_cmd_draw(self->gfx, 1, 20000);
			vf_cmd_signal(self->gfx, fence[i], round);
			ASSERT_EQ(0, vf_queue_submit(self->gfx));
			ASSERT_EQ(0, READY(ENTRIES, DEADLINE));
			ASSERT_EQ(1, self->count);
			EXPECT_EQ(i, self->ready[0].index);
			ASSERT_EQ(0, vf_wait_set_update(self->set, &again, 1));
		}
	for (i = 0; i < ENTRIES; i++) {
		EXPECT_EQ(1, waiters(fence[i]));
		vf_fence_destroy(fence[i]);
	}
}

TEST_F(wait_set, one_call_signals_updates_and_waits)
{
	struct vf_wait_set_entry update = { 0, self->b, 1 };
	struct vf_point signals[] = { { self->a, 3 }, { self->b, 1 } };

	self->count = 1;
	ASSERT_EQ(0, vf_wait_set_wait(self->set, &update, 1, signals, 2, 0, self->ready,
				      &self->count));
	EXPECT_EQ(1, self->count);
	EXPECT_EQ(3, vf_fence_current(self->a));
}

TEST_F(wait_set, a_signal_that_is_refused_leaves_the_entries_as_they_are)
{
	struct vf_wait_set_entry update = { 0, self->b, 1 };
	struct drm_vfence_fence_point point = { .value = 4 };
	struct drm_vfence_wait_set_wait wait = { .signals = DRM_VFENCE_OBJ_ARRAY(1, &point) };
	struct vf_point signal = { .value = 4 };
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 5, &fence));
	signal.fence = fence;
	self->count = 1;
	EXPECT_EQ(-EINVAL, vf_wait_set_wait(self->set, &update, 1, &signal, 1, 0, self->ready,
					    &self->count));
	EXPECT_EQ(0, waiters(self->b));
	EXPECT_EQ(5, vf_fence_current(fence));
	/* A call may say that it wants to lower a monitored fence. */
	point.fence = vf_fence_handle(fence);
	wait.set = vf_wait_set_handle(self->set);
	wait.flags = DRM_VFENCE_WAIT_ALLOW_REWIND;
	EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &wait));
	EXPECT_EQ(4, vf_fence_current(fence));
	vf_fence_destroy(fence);
}

TEST_F(wait_set, an_entry_whose_fence_ends_is_ready_with_the_error)
{
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &fence));
	ASSERT_EQ(0, UPDATE(1, fence, 1));
	vf_fence_destroy_now(fence);
	ASSERT_EQ(0, READY(1, DEADLINE));
	EXPECT_EQ(1, self->ready[0].index);
	EXPECT_EQ(-ECANCELED, self->ready[0].error);
	/* A reached entry stays reached. */
	ASSERT_EQ(0, UPDATE(0, self->a, 1));
	ASSERT_EQ(0, vf_fence_signal(self->a, 1));
	ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE, vf_fence_handle(self->a)));
	ASSERT_EQ(0, READY(1, DEADLINE));
	EXPECT_EQ(0, self->ready[0].error);
}

struct sleeper {
	struct vf_wait_set *set;
	struct drm_vfence_wait_set_ready ready;
	struct vf_wait_set_entry update;
	struct vf_point signal;
	int64_t timeout;
	_Atomic bool ended;
	int ret;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;
	unsigned int count = 1;

	s->ret = vf_wait_set_wait(s->set, &s->update, !!s->update.fence, &s->signal,
				  !!s->signal.fence, s->timeout ? s->timeout : DEADLINE, &s->ready,
				  &count);
	s->ended = true;
	return NULL;
}

TEST_F(wait_set, one_thread_waits_and_the_others_update)
{
	struct sleeper s = { .set = self->set, .update = { 0, self->a, 1 } };
	struct vf_wait_set_entry update = { 1, self->b, 1 };
	struct vf_point signal = { self->b, 9 };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waits_now(self->adapter) == 1));
	EXPECT_EQ(-EBUSY, READY(1, 0));
	/* Such a call changes nothing. */
	self->count = 1;
	EXPECT_EQ(-EBUSY, vf_wait_set_wait(self->set, &update, 1, &signal, 1, 0, self->ready,
					   &self->count));
	EXPECT_EQ(0, waiters(self->b));
	EXPECT_EQ(0, vf_fence_current(self->b));
	ASSERT_EQ(0, UPDATE(1, self->b, 1));
	ASSERT_EQ(0, vf_fence_signal(self->b, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	EXPECT_EQ(1, s.ready.index);
}

/* What was ready is taken back before the thread that it has woken can return it. */
TEST_F(wait_set, a_thread_sleeps_on_if_what_was_ready_is_replaced)
{
	struct sleeper s = { .set = self->set, .update = { 0, self->a, 1 } };
	struct vf_wait_set_entry replacement = { 0, self->b, 1 };
	struct vf_point signal = { self->a, 1 };
	unsigned int none = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waits_now(self->adapter) == 1));
	ASSERT_EQ(0, vf_wait_set_wait(self->set, &replacement, 1, &signal, 1, 0, NULL, &none));
	/* The thread has had time to look. */
	EXPECT_EQ(-ETIME, vf_fence_wait(self->b, 1, vf_deadline(10000000)));
	EXPECT_EQ(-EBUSY, READY(1, 0));
	EXPECT_EQ(1, waiters(self->b));
	ASSERT_EQ(0, vf_fence_signal(self->b, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	EXPECT_EQ(0, s.ready.error);
}

TEST_F(wait_set, no_thread_sleeps_if_nothing_is_armed)
{
	struct sleeper s = { .set = self->set, .update = { 0, self->a, 1 },
			     .timeout = VF_FOREVER };
	pthread_t thread;

	EXPECT_EQ(-ENODATA, READY(1, DEADLINE));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waits_now(self->adapter) == 1));
	ASSERT_EQ(0, UPDATE(0, NULL, 0));
	ASSERT_TRUE(EVENTUALLY(s.ended));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ENODATA, s.ret);
}

TEST_F(wait_set, destroying_the_set_ends_the_wait)
{
	struct sleeper s = { .set = self->set, .update = { 0, self->a, 1 },
			     .timeout = VF_FOREVER };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waits_now(self->adapter) == 1));
	destroy_object(self->fd, DRM_VFENCE_OBJECT_WAIT_SET, vf_wait_set_handle(self->set));
	ASSERT_TRUE(EVENTUALLY(s.ended));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, s.ret);
	EXPECT_EQ(0, waiters(self->a));
	EXPECT_EQ(-ENOENT, READY(1, 0));
}

/* A call that goes on has performed its signals and updates, whatever it returns now. */
TEST_F(wait_set, a_call_that_goes_on_tells_when_it_has_ended)
{
	struct drm_vfence_wait_set_ready ready;
	struct drm_vfence_wait_set_wait args = {
		.set = vf_wait_set_handle(self->set), .performed = 1,
		.ready = DRM_VFENCE_OBJ_ARRAY(1, &ready),
	};
	struct sleeper s = { .set = self->set, .update = { 0, self->a, 1 } };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waits_now(self->adapter) == 1));
	EXPECT_EQ(-EBUSY, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &args));
	EXPECT_EQ(0, args.performed);
	ASSERT_EQ(0, vf_fence_signal(self->a, 1));
	pthread_join(thread, NULL);
	destroy_object(self->fd, DRM_VFENCE_OBJECT_WAIT_SET, vf_wait_set_handle(self->set));
	args.performed = 1;
	EXPECT_EQ(-ECANCELED, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &args));
	EXPECT_EQ(0, args.performed);
	EXPECT_EQ(-ENOENT, raw(self->fd, DRM_IOCTL_VFENCE_WAIT_SET_WAIT, &args));
}

TEST_F(wait_set, a_set_that_is_refused_takes_no_room)
{
	struct vf_wait_set *set[2], *refused;
	unsigned int i;

	ASSERT_EQ(0, vf_wait_set_create(self->adapter, MOST_ENTRIES / 2, &set[0]));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-ENOSPC, vf_wait_set_create(self->adapter, MOST_ENTRIES / 2, &refused));
	/* The set of the fixture, these two and no entry more. */
	ASSERT_EQ(0, vf_wait_set_create(self->adapter, MOST_ENTRIES / 2 - ENTRIES, &set[1]));
	EXPECT_EQ(-ENOSPC, vf_wait_set_create(self->adapter, 1, &refused));
	vf_wait_set_destroy(set[1]);
	vf_wait_set_destroy(set[0]);
}

static volatile sig_atomic_t handled;

static void on_signal(int signo)
{
	(void)signo;
	handled = 1;
}

/*
 * The thread is interrupted after it has signaled @b. Its entry stays ready or armed meanwhile,
 * and the call that goes on does not signal again.
 */
static void interrupt(struct __test_metadata *_metadata, FIXTURE_DATA(wait_set) *self, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	struct sleeper s = { .set = self->set, .update = { 0, self->a, 1 },
			     .signal = { self->b, 1 } };
	struct vf_counters before = counters(self->adapter), after;
	pthread_t thread;

	handled = 0;
	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waits_now(self->adapter) == 1));
	ASSERT_EQ(0, vf_fence_signal(self->b, 0));
	/* If the call updated the entry again, it would miss this value. */
	ASSERT_EQ(0, UPDATE(0, self->a, 7));
	ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	ASSERT_TRUE(EVENTUALLY(handled));
	/* Not by a call that waits: the thread may come back while that call is in progress. */
	ASSERT_TRUE(EVENTUALLY(counters(self->adapter).waits_begun == before.waits_begun + 2 &&
			       waits_now(self->adapter) == 1));
	EXPECT_EQ(0, vf_fence_current(self->b));
	EXPECT_EQ(6, monitored(self->a));
	ASSERT_EQ(0, vf_fence_signal(self->a, 7));
	ASSERT_EQ(0, vf_fence_signal(self->a, 0));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	EXPECT_EQ(0, s.ready.index);
	EXPECT_EQ(0, vf_fence_current(self->b));
	after = counters(self->adapter);
	EXPECT_EQ(before.waits_cancelled + 1, after.waits_cancelled);
	EXPECT_EQ(before.waits_satisfied + 1, after.waits_satisfied);
	EXPECT_EQ(before.waits_timed_out, after.waits_timed_out);
}

TEST_F(wait_set, the_library_goes_on_after_a_signal_handler)
{
	interrupt(_metadata, self, 0);
}

TEST_F(wait_set, the_kernel_goes_on_after_a_signal_handler)
{
	interrupt(_metadata, self, SA_RESTART);
}

TEST_F(wait_set, a_timeout_loses_no_entry)
{
	ASSERT_EQ(0, UPDATE(0, self->a, 1));
	EXPECT_EQ(-ETIME, READY(1, vf_deadline(1000000)));
	EXPECT_EQ(1, waiters(self->a));
	ASSERT_EQ(0, vf_fence_signal(self->a, 1));
	EXPECT_EQ(0, READY(1, 0));
}

/* Arm entries for a fence of another process, and let some be ready. Returns 0 or an error. */
static int use_set(int fd)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;
	struct vf_wait_set *set;
	int ret = vf_adapter_open(0, &adapter);

	ret = ret ? ret : vf_device_create(adapter, &device);
	ret = ret ? ret : vf_fence_open(device, fd, &fence);
	ret = ret ? ret : vf_wait_set_create(adapter, 2, &set);
	if (ret)
		return ret;
	ret = vf_wait_set_update(set, (struct vf_wait_set_entry[]){ { 0, fence, 1 },
								     { 1, fence, 2 } }, 2);
	ret = ret ? ret : vf_fence_signal(fence, 1);
	return ret ? ret : waiters(fence) != 1;
}

TEST_F(wait_set, a_process_that_ends_leaves_nothing_on_a_shared_fence)
{
	struct vf_fence *fence;
	int fd, status;
	pid_t child;

	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	fd = vf_fence_export(fence);
	ASSERT_LE(0, fd);
	child = fork();
	if (!child)
		_exit(!!use_set(fd));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, vf_fence_current(fence));
	EXPECT_EQ(0, waiters(fence));
	close(fd);
	vf_fence_destroy(fence);
}

#define AHEAD		1000
#define NOT_ENTERED	1

/* Return: the exit code of a child, which is what a function returns. */
static int exit_code_of(int (*function)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(function());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In a child whose CLOCK_MONOTONIC is AHEAD seconds ahead. Return: 0 or the step that failed. */
static int in_other_time(void)
{
	struct drm_vfence_wait_set_ready ready;
	struct drm_vfence_clock_info clock;
	struct vf_wait_set_entry update;
	struct vf_adapter *adapter;
	int64_t before, deadline;
	struct vf_device *device;
	struct vf_wait_set *set;
	struct vf_fence *fence;
	unsigned int count = 1;

	before = vf_deadline(0);
	if (vf_adapter_open(0, &adapter) || vf_device_create(adapter, &device) ||
	    vf_fence_create(device, 0, 0, &fence) || vf_wait_set_create(adapter, 1, &set))
		return 2;
	update = (struct vf_wait_set_entry){ 0, fence, 1 };

	if (vf_adapter_clock(adapter, &clock) || (int64_t)clock.cpu_ns < before ||
	    (int64_t)clock.cpu_ns > vf_deadline(0))
		return 3;

	/* Neither early nor, much, late: the clock of the kernel reaches that AHEAD seconds later. */
	deadline = vf_deadline(SECOND / 20);
	if (vf_fence_wait(fence, 1, deadline) != -ETIME || vf_deadline(0) < deadline ||
	    vf_deadline(0) > deadline + AHEAD / 2 * SECOND)
		return 4;
	deadline = vf_deadline(SECOND / 20);
	if (vf_wait_set_wait(set, &update, 1, NULL, 0, deadline, &ready, &count) != -ETIME ||
	    vf_deadline(0) < deadline || vf_deadline(0) > deadline + AHEAD / 2 * SECOND)
		return 5;
	/* Deadlines before the namespace began, and none. */
	if (vf_fence_wait(fence, 1, 1) != -ETIME || vf_fence_signal(fence, 1) ||
	    vf_fence_wait(fence, 1, VF_FOREVER))
		return 6;
	vf_wait_set_destroy(set);
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
	return 0;
}

/* Return: the exit code of a child in a time namespace of its own. */
static int run_in_other_time(void)
{
	FILE *f;
	int ok;

	if (unshare(CLONE_NEWTIME))
		return NOT_ENTERED;
	f = fopen("/proc/self/timens_offsets", "we");
	ok = f && fprintf(f, "monotonic %d 0", AHEAD) > 0;
	if (!f || fclose(f) || !ok)
		return NOT_ENTERED;
	return exit_code_of(in_other_time);
}

TEST(a_deadline_is_one_of_the_clients_clock)
{
	int code;

	if (geteuid() || access("/proc/self/ns/time", F_OK))
		SKIP(return, "needs root and time namespaces");
	code = exit_code_of(run_in_other_time);
	ASSERT_NE(NOT_ENTERED, code);
	EXPECT_EQ(0, code);
}

TEST_HARNESS_MAIN
