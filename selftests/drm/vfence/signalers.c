// SPDX-License-Identifier: GPL-2.0-only
/*
 * A wait ends when nobody can signal any more: the last holder of a fence that may signal it has
 * gone, and others remain that may not. Each thing that could still signal keeps the waits.
 */

#include <sys/resource.h>

#include "vfence_test.h"

#define READER	(DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT)
#define CROSS	(DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER)

FIXTURE(signalers) {
	struct client owner, other;
	/* The owner's handle, and one of the other client, which may only wait. */
	struct vf_fence *fence, *reader;
	int efd;
};

/* Adapters 0 and 8 have native fences. Interrupts of the latter name queues. */
FIXTURE_VARIANT(signalers) {
	unsigned int index;
	bool monitored;
};

FIXTURE_VARIANT_ADD(signalers, native) {
	.index = 0,
};

FIXTURE_VARIANT_ADD(signalers, logged) {
	.index = 8,
};

FIXTURE_VARIANT_ADD(signalers, monitored) {
	.index = 0, .monitored = true,
};

static int client_of(struct client *c, unsigned int index)
{
	int ret = vf_adapter_open(index, &c->adapter);

	return ret ? ret : vf_device_create(c->adapter, &c->device);
}

/* Open @fence for @c by a descriptor that has only @rights. */
static int open_with(struct vf_fence *fence, struct client *c, uint32_t rights,
		     struct vf_fence **opened)
{
	int fd = vf_fence_export_rights(fence, rights);
	int ret = fd < 0 ? fd : vf_fence_open(c->device, fd, opened);

	close(fd);
	return ret;
}

/* Destroying one of several handles of a monitored fence would end its waits without the flag. */
static int shared_create(struct client *c, bool monitored, uint32_t flags, struct vf_fence **fence)
{
	if (monitored)
		return vf_monitored_fence_create(c->device, DRM_VFENCE_FENCE_SHAREABLE | flags |
				DRM_VFENCE_FENCE_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY, 7, fence);
	return vf_fence_create(c->device, DRM_VFENCE_FENCE_SHAREABLE | flags, 7, fence);
}

FIXTURE_SETUP(signalers)
{
	if (variant->index && access("/sys/bus/platform/devices/vfence.8/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, client_of(&self->owner, variant->index));
	ASSERT_EQ(0, client_of(&self->other, variant->index));
	ASSERT_EQ(0, shared_create(&self->owner, variant->monitored, 0, &self->fence));
	ASSERT_EQ(0, open_with(self->fence, &self->other, READER, &self->reader));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(signalers)
{
	close(self->efd);
	vf_fence_destroy(self->reader);
	vf_fence_destroy(self->fence);
	client_close(&self->other);
	client_close(&self->owner);
}

struct sleeper {
	struct vf_fence *fence;
	uint64_t value;
	int ret;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;

	s->ret = vf_fence_wait(s->fence, s->value, DEADLINE);
	return NULL;
}

/* Close a handle. The library's object stays, so that the fixture may destroy it. */
static void close_handle(struct client *c, struct vf_fence *fence)
{
	destroy_object(vf_adapter_fd(c->adapter), DRM_VFENCE_OBJECT_FENCE,
		       vf_fence_handle(fence));
}

/* Return: true if the event waits, and will: the calls before have ended what they end. */
static bool still_waits(struct client *c, struct vf_fence *fence, int efd)
{
	return waiters(fence) == 1 && !fired_on(c->adapter, efd);
}

TEST_F(signalers, every_wait_ends_with_the_last_handle_that_may_signal)
{
	struct vf_wait_set_entry entry = { 0, self->reader, 8 };
	struct sleeper s = { .fence = self->reader, .value = 8, .ret = 1 };
	struct drm_vfence_wait_set_ready ready;
	struct vf_fence *second, *third;
	struct vf_wait_set *set;
	unsigned int count = 1;
	pthread_t thread;

	ASSERT_EQ(0, open_with(self->fence, &self->other, DRM_VFENCE_RIGHTS_ALL, &second));
	ASSERT_EQ(0, open_with(self->fence, &self->owner, READER, &third));
	ASSERT_EQ(0, vf_wait_set_create(self->other.adapter, 1, &set));
	ASSERT_EQ(0, vf_wait_set_update(set, &entry, 1));
	ASSERT_EQ(0, arm(self->other.adapter, self->reader, 8, self->efd));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waiters(self->reader) == 3));
	/* Another handle may signal, and the one that goes next may not. */
	close_handle(&self->owner, self->fence);
	vf_fence_destroy(third);
	EXPECT_EQ(3, waiters(self->reader));
	EXPECT_EQ(0, fired_on(self->other.adapter, self->efd));
	vf_fence_destroy(second);
	EXPECT_EQ(0, waiters(self->reader));
	EXPECT_EQ(1, fired_on(self->other.adapter, self->efd));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, s.ret);
	ASSERT_EQ(0, vf_wait_set_wait(set, NULL, 0, NULL, 0, DEADLINE, &ready, &count));
	EXPECT_EQ(-ECANCELED, ready.error);
	vf_wait_set_destroy(set);
}

TEST_F(signalers, later_waits_end_at_once_and_reached_ones_succeed)
{
	struct vf_wait_set_entry entry = { 0, self->reader, 8 };
	struct drm_vfence_wait_set_ready ready;
	struct vf_fence *late, *writer;
	struct vf_wait_set *set;
	unsigned int count = 1;

	close_handle(&self->owner, self->fence);
	EXPECT_EQ(-ECANCELED, vf_fence_wait(self->reader, 8, DEADLINE));
	EXPECT_EQ(0, vf_fence_wait(self->reader, 7, DEADLINE));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->reader, 8, 0));
	EXPECT_EQ(-ECANCELED, arm(self->other.adapter, self->reader, 8, self->efd));
	EXPECT_EQ(1, arm(self->other.adapter, self->reader, 7, self->efd));
	EXPECT_TRUE(fired(self->efd));
	ASSERT_EQ(0, vf_wait_set_create(self->other.adapter, 1, &set));
	ASSERT_EQ(0, vf_wait_set_wait(set, &entry, 1, NULL, 0, DEADLINE, &ready, &count));
	EXPECT_EQ(-ECANCELED, ready.error);
	entry.value = 7;
	ASSERT_EQ(0, vf_wait_set_wait(set, &entry, 1, NULL, 0, DEADLINE, &ready, &count));
	EXPECT_EQ(0, ready.error);
	vf_wait_set_destroy(set);
	/* A holder that remains can share the fence, and what it has stays what it is. */
	ASSERT_EQ(0, open_with(self->reader, &self->owner, READER, &late));
	EXPECT_EQ(7, vf_fence_current(late));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(late, 8, DEADLINE));
	EXPECT_EQ(-EACCES, open_with(self->reader, &self->owner, DRM_VFENCE_RIGHTS_ALL, &writer));
	vf_fence_destroy(late);
}

TEST_F(signalers, a_queue_goes_on)
{
	struct vf_point point = { self->reader, 8 };
	struct vf_submit what = { .waits = &point, .wait_count = 1 };
	struct vf_queue *user, *kernel;

	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_GFX, 4096, &user));
	ASSERT_EQ(0, vf_kernel_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, &kernel));
	ASSERT_EQ(0, vf_submit(&kernel, 1, &what));
	if (!variant->monitored) {
		vf_cmd_wait(user, self->reader, 8);
		ASSERT_EQ(0, vf_queue_submit(user));
		ASSERT_TRUE(EVENTUALLY(queue_state(user) == DRM_VFENCE_QUEUE_BLOCKED));
	}
	EXPECT_EQ(0, vf_fence_current(vf_queue_progress(kernel)));
	close_handle(&self->owner, self->fence);
	EXPECT_TRUE(drained(user));
	EXPECT_TRUE(drained(kernel));
	/* Those that come later, too. */
	ASSERT_EQ(0, vf_submit(&kernel, 1, &what));
	EXPECT_TRUE(drained(kernel));
	if (!variant->monitored) {
		vf_cmd_wait(user, self->reader, 9);
		ASSERT_EQ(0, vf_queue_submit(user));
	}
	EXPECT_TRUE(drained(user));
	EXPECT_EQ(7, vf_fence_current(self->reader));
	vf_queue_destroy(kernel);
	vf_queue_destroy(user);
}

TEST_F(signalers, a_fence_that_nobody_may_signal_from_the_beginning)
{
	struct vf_fence *fence;

	ASSERT_EQ(0, shared_create(&self->owner, variant->monitored, DRM_VFENCE_FENCE_NO_SIGNAL,
				   &fence));
	EXPECT_EQ(0, vf_fence_wait(fence, 7, DEADLINE));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(fence, 8, DEADLINE));
	vf_fence_destroy(fence);
}

TEST_F(signalers, a_descriptor_that_may_signal_keeps_the_waits)
{
	int fd = vf_fence_export(self->fence);
	int weak = vf_fence_export_rights(self->fence, READER), moved, sock[2];
	struct vf_fence *opened;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, weak);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ASSERT_EQ(0, arm(self->other.adapter, self->reader, 8, self->efd));
	close_handle(&self->owner, self->fence);
	EXPECT_TRUE(still_waits(&self->other, self->reader, self->efd));
	/* It is in a socket, and no process has it. */
	ASSERT_EQ(0, vf_send_fd(sock[0], fd));
	close(fd);
	EXPECT_TRUE(still_waits(&self->other, self->reader, self->efd));
	moved = vf_recv_fd(sock[1]);
	ASSERT_LE(0, moved);
	ASSERT_EQ(0, vf_fence_open(self->owner.device, moved, &opened));
	ASSERT_EQ(0, vf_send_fd(sock[0], moved));
	close(moved);
	vf_fence_destroy(opened);
	EXPECT_TRUE(still_waits(&self->other, self->reader, self->efd));
	/* Nobody takes it out any more. The other one has no right to signal. */
	close(sock[1]);
	close(sock[0]);
	EXPECT_TRUE(EVENTUALLY(fired_on(self->other.adapter, self->efd) == 1));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(self->reader, 8, DEADLINE));
	close(weak);
}

TEST_F(signalers, an_opened_descriptor_may_be_closed)
{
	struct vf_fence *opened;

	ASSERT_EQ(0, open_with(self->fence, &self->owner, DRM_VFENCE_RIGHTS_ALL, &opened));
	ASSERT_EQ(0, arm(self->other.adapter, self->reader, 8, self->efd));
	close_handle(&self->owner, self->fence);
	EXPECT_TRUE(still_waits(&self->other, self->reader, self->efd));
	EXPECT_EQ(0, vf_fence_signal(opened, 8));
	EXPECT_EQ(1, fired_on(self->other.adapter, self->efd));
	vf_fence_destroy(opened);
}

/* Handles that were refused keep nothing: of a device that is not there, or with impossible flags. */
TEST_F(signalers, an_open_that_fails_is_no_holder)
{
	struct drm_vfence_fence_open open = { .fd = vf_fence_export(self->fence) };
	struct rlimit files, none;
	struct vf_fence *opened;

	EXPECT_EQ(-ENOENT, raw(vf_adapter_fd(self->owner.adapter), DRM_IOCTL_VFENCE_FENCE_OPEN, &open));
	EXPECT_EQ(variant->monitored ? 0 : -EINVAL,
		  vf_fence_open_flags(self->owner.device, open.fd, DRM_VFENCE_FENCE_NO_SIGNAL,
				      &opened));
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &files));
	none = files;
	none.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-EMFILE, vf_fence_export(self->fence));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	close(open.fd);
	close_handle(&self->owner, self->fence);
	EXPECT_EQ(-ECANCELED, vf_fence_wait(self->reader, 8, DEADLINE));
	if (variant->monitored)
		vf_fence_destroy(opened);
}

TEST_F(signalers, a_process_that_is_killed)
{
	struct sleeper s = { .value = 8, .ret = 1 };
	int sock[2], status, fd;
	pthread_t thread;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct vf_fence *fence;
		struct client c;

		if (!client_of(&c, variant->index) &&
		    !shared_create(&c, variant->monitored, 0, &fence))
			vf_send_fd(sock[1], vf_fence_export_rights(fence, READER));
		pause();
		_exit(0);
	}
	fd = vf_recv_fd(sock[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, vf_fence_open(self->other.device, fd, &s.fence));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waiters(s.fence) == 1));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, s.ret);
	vf_fence_destroy(s.fence);
	close(fd);
	close(sock[0]);
	close(sock[1]);
}

/* Hold a submission back that signals 8. @start: what it waits for. */
static int hold_back(struct client *c, struct vf_queue *queue, struct vf_fence *fence,
		     struct vf_fence **start)
{
	struct vf_point signal = { fence, 8 }, wait = { NULL, 1 };
	const struct vf_submit what = {
		.waits = &wait, .wait_count = 1, .signals = &signal, .signal_count = 1,
	};
	int ret = vf_monitored_fence_create(c->device, 0, 0, start);

	wait.fence = *start;
	return ret ? ret : vf_submit(&queue, 1, &what);
}

/* A reader waits for what a submission will signal, which is held back; no handle can signal. */
static void sleep_beside_pledge(struct __test_metadata *_metadata, FIXTURE_DATA(signalers) *self,
				struct sleeper *s, pthread_t *thread, struct vf_queue **queue,
				struct vf_fence **start)
{
	ASSERT_EQ(0, vf_kernel_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, queue));
	ASSERT_EQ(0, hold_back(&self->owner, *queue, self->fence, start));
	ASSERT_EQ(0, pthread_create(thread, NULL, sleep_on, s));
	ASSERT_TRUE(EVENTUALLY(waiters(self->reader) == 1));
	close_handle(&self->owner, self->fence);
	EXPECT_EQ(1, waiters(self->reader));
}

TEST_F(signalers, a_submission_that_will_signal_keeps_the_waits)
{
	struct sleeper s = { .fence = self->reader, .value = 8, .ret = 1 };
	struct vf_queue *queue;
	struct vf_fence *start;
	pthread_t thread;

	sleep_beside_pledge(_metadata, self, &s, &thread, &queue, &start);
	ASSERT_EQ(0, vf_fence_signal(start, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	EXPECT_EQ(8, vf_fence_current(self->reader));
	/* It was the last one. */
	EXPECT_EQ(-ECANCELED, vf_fence_wait(self->reader, 9, DEADLINE));
	vf_fence_destroy(start);
	vf_queue_destroy(queue);
}

TEST_F(signalers, a_signal_at_the_top_of_the_pipeline_keeps_the_waits)
{
	struct vf_fence *fence, *reader, *start;
	struct vf_queue *queue;

	if (!variant->monitored)
		SKIP(return, "native fences have no such flag");
	ASSERT_EQ(0, shared_create(&self->owner, true, DRM_VFENCE_FENCE_TOP_OF_PIPELINE, &fence));
	ASSERT_EQ(0, open_with(fence, &self->other, READER, &reader));
	ASSERT_EQ(0, vf_kernel_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, hold_back(&self->owner, queue, fence, &start));
	ASSERT_EQ(0, arm(self->other.adapter, reader, 9, self->efd));
	vf_fence_destroy(fence);
	EXPECT_TRUE(still_waits(&self->other, reader, self->efd));
	ASSERT_EQ(0, vf_fence_signal(start, 1));
	EXPECT_TRUE(EVENTUALLY(fired_on(self->other.adapter, self->efd) == 1));
	EXPECT_EQ(8, vf_fence_current(reader));
	vf_fence_destroy(start);
	vf_fence_destroy(reader);
	vf_queue_destroy(queue);
}

TEST_F(signalers, a_submission_that_ends_without_its_signal_ends_the_waits)
{
	struct sleeper s = { .fence = self->reader, .value = 8, .ret = 1 };
	struct vf_queue *queue;
	struct vf_fence *start;
	pthread_t thread;

	sleep_beside_pledge(_metadata, self, &s, &thread, &queue, &start);
	vf_queue_destroy(queue);
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, s.ret);
	EXPECT_EQ(7, vf_fence_current(self->reader));
	vf_fence_destroy(start);
}

/* A submission that is refused will signal nothing. */
TEST_F(signalers, a_refused_submission_keeps_no_waits)
{
	struct vf_point signal = { self->fence, 8 };
	const struct vf_submit what = {
		.signals = &signal, .signal_count = 1,
		.wait_syncobjs = &(struct vf_syncobj){ .handle = 0x7fffffff },
		.wait_syncobj_count = 1,
	};
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_kernel_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, &queue));
	EXPECT_EQ(-ENOENT, vf_submit(&queue, 1, &what));
	close_handle(&self->owner, self->fence);
	EXPECT_EQ(-ECANCELED, vf_fence_wait(self->reader, 8, DEADLINE));
	vf_queue_destroy(queue);
}

/* The value was there, and rewound, before the handle went. Its interrupt is still to come. */
TEST_F(signalers, a_value_that_was_rewound_counts)
{
	struct sleeper s = { .fence = self->reader, .value = 10, .ret = 1 };
	struct vf_queue *queue;
	pthread_t thread;

	if (geteuid())
		SKIP(return, "needs root");
	if (variant->monitored)
		SKIP(return, "a user-mode queue signals native fences");
	ASSERT_EQ(0, vf_queue_create(self->owner.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waiters(self->reader) == 1));
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "1"));
	vf_cmd_signal(queue, self->fence, 10);
	vf_cmd_signal(queue, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	ASSERT_EQ(0, inject(variant->index, "hold_posts", "0"));
	close_handle(&self->owner, self->fence);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	EXPECT_EQ(5, vf_fence_current(self->reader));
	vf_queue_destroy(queue);
}

/* A thread begins to wait while the last holder that may signal goes. */
TEST_F(signalers, a_wait_that_begins_meanwhile_ends_as_well)
{
	unsigned int i, rounds = wanted(200);

	for (i = 0; i < rounds; i++) {
		struct sleeper s = { .value = 8, .ret = 1 };
		struct vf_fence *fence;
		pthread_t thread;

		ASSERT_EQ(0, shared_create(&self->owner, variant->monitored, 0, &fence));
		ASSERT_EQ(0, open_with(fence, &self->other, READER, &s.fence));
		ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
		if (i & 1)
			sched_yield();
		vf_fence_destroy(fence);
		pthread_join(thread, NULL);
		ASSERT_EQ(-ECANCELED, s.ret);
		vf_fence_destroy(s.fence);
	}
}

FIXTURE(signalers_across) {
	/* The first one has the right to signal, and the others have not. */
	struct client c[3];
	struct vf_fence *fence[3];
	int efd[3], fd;
};

/* Adapters that support the fence as a native one or, the last one, as a monitored one. */
static const unsigned int across[3] = { 0, 8, 3 };

FIXTURE_SETUP(signalers_across)
{
	unsigned int i;

	if (access("/sys/bus/platform/devices/vfence.8/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, client_of(&self->c[i], across[i]));
		self->efd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	}
	ASSERT_EQ(0, vf_fence_create(self->c[0].device, CROSS, 7, &self->fence[0]));
	self->fd = vf_fence_export_rights(self->fence[0], READER);
	ASSERT_LE(0, self->fd);
	for (i = 1; i < 3; i++)
		ASSERT_EQ(0, vf_fence_open(self->c[i].device, self->fd, &self->fence[i]));
}

FIXTURE_TEARDOWN(signalers_across)
{
	unsigned int i;

	close(self->fd);
	for (i = 0; i < 3; i++) {
		vf_fence_destroy(self->fence[i]);
		client_close(&self->c[i]);
		close(self->efd[i]);
	}
}

TEST_F(signalers_across, waits_on_all_adapters_end)
{
	struct vf_fence *second, *again;
	struct vf_queue *queue;
	unsigned int i;

	ASSERT_EQ(0, vf_queue_create(self->c[1].device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, open_with(self->fence[0], &self->c[1], DRM_VFENCE_RIGHTS_ALL, &second));
	for (i = 1; i < 3; i++)
		ASSERT_EQ(0, arm(self->c[i].adapter, self->fence[i], 8, self->efd[i]));
	vf_cmd_wait(queue, self->fence[1], 8);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_BLOCKED));
	/* There is a holder on another adapter that may signal. */
	close_handle(&self->c[0], self->fence[0]);
	for (i = 1; i < 3; i++)
		EXPECT_TRUE(still_waits(&self->c[i], self->fence[i], self->efd[i]));
	vf_fence_destroy(second);
	for (i = 1; i < 3; i++) {
		EXPECT_EQ(1, fired_on(self->c[i].adapter, self->efd[i]));
		EXPECT_EQ(-ECANCELED, vf_fence_wait(self->fence[i], 8, DEADLINE));
		EXPECT_EQ(0, vf_fence_wait(self->fence[i], 7, DEADLINE));
	}
	EXPECT_TRUE(drained(queue));
	/* The member that is there is opened once more. */
	ASSERT_EQ(0, vf_fence_open(self->c[1].device, self->fd, &again));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(again, 8, DEADLINE));
	EXPECT_EQ(vf_fence_mapping(self->fence[1])->current_va, vf_fence_mapping(again)->current_va);
	vf_fence_destroy(again);
	vf_queue_destroy(queue);
}

TEST_F(signalers_across, an_adapter_that_comes_later_finds_that_nobody_can_signal)
{
	struct vf_fence *late;
	struct vf_queue *queue;
	struct client c;

	ASSERT_EQ(0, client_of(&c, 2));
	ASSERT_EQ(0, vf_queue_create(c.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	close_handle(&self->c[0], self->fence[0]);
	ASSERT_EQ(0, vf_fence_open(c.device, self->fd, &late));
	EXPECT_EQ(0, vf_fence_wait(late, 7, DEADLINE));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(late, 8, DEADLINE));
	vf_cmd_wait(queue, late, 8);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	vf_fence_destroy(late);
	vf_queue_destroy(queue);
	client_close(&c);
}

TEST_F(signalers_across, a_pulse_reaches_other_adapters_before_the_waits_end)
{
	struct sleeper s = { .fence = self->fence[1], .value = 10, .ret = 1 };
	struct vf_queue *queue;
	pthread_t thread;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_queue_create(self->c[0].device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &s));
	ASSERT_TRUE(EVENTUALLY(waiters(self->fence[1]) == 1));
	ASSERT_EQ(0, inject(across[0], "hold_posts", "1"));
	vf_cmd_signal(queue, self->fence[0], 10);
	vf_cmd_signal(queue, self->fence[0], 5);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	ASSERT_EQ(0, inject(across[0], "hold_posts", "0"));
	close_handle(&self->c[0], self->fence[0]);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, s.ret);
	vf_queue_destroy(queue);
}

TEST_HARNESS_MAIN
