// SPDX-License-Identifier: GPL-2.0-only
/*
 * Close, kill, unbind and rmmod while everything is in use. The tests unbind and bind the
 * driver by sysfs, so these run last and alone.
 */

#include <sys/syscall.h>

#include "vfence_test.h"

FIXTURE(life) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	bool unbound;
};

FIXTURE_SETUP(life)
{
	if (geteuid())
		SKIP(return, "needs root");
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	self->unbound = false;
}

FIXTURE_TEARDOWN(life)
{
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
	if (self->unbound)
		EXPECT_EQ(0, driver("bind", 0));
}

struct sleeper {
	struct vf_fence *fence;
	int ret;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;

	s->ret = vf_fence_wait(s->fence, 1, VF_FOREVER);
	return NULL;
}

struct set_sleeper {
	struct vf_wait_set *set;
	struct drm_vfence_wait_set_ready ready[4];
	unsigned int count;
	int ret;
};

static void *sleep_on_set(void *arg)
{
	struct set_sleeper *s = arg;

	s->ret = vf_wait_set_wait(s->set, NULL, 0, NULL, 0, VF_FOREVER, s->ready, &s->count);
	return NULL;
}

TEST_F(life, unbind_ends_the_entries_of_wait_sets)
{
	struct set_sleeper sleeper = { .count = 4, .ret = 1 };
	struct vf_wait_set_entry update = { 1, self->fence, 5 };
	pthread_t thread;

	ASSERT_EQ(0, vf_wait_set_create(self->adapter, 4, &sleeper.set));
	ASSERT_EQ(0, vf_wait_set_update(sleeper.set, &update, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on_set, &sleeper));
	ASSERT_TRUE(EVENTUALLY(waits_now(self->adapter) == 1));
	ASSERT_EQ(0, driver("unbind", 0));
	self->unbound = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
	ASSERT_EQ(1, sleeper.count);
	EXPECT_EQ(1, sleeper.ready[0].index);
	EXPECT_EQ(-ENODEV, sleeper.ready[0].error);
	EXPECT_EQ(-ENODEV, vf_wait_set_update(sleeper.set, &update, 1));
	vf_wait_set_destroy(sleeper.set);
}

TEST_F(life, unbind_ends_waiters_events_queues_and_mappings)
{
	struct sleeper sleeper = { self->fence, 1 };
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_point point = { self->fence, 2 };
	struct drm_vfence_device_create create = { 0 };
	int efd_monitored = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_fence *monitored_fence;
	struct vf_counters counted;
	pthread_t thread;

	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 7, &monitored_fence));
	ASSERT_EQ(0, arm(self->adapter, monitored_fence, 8, efd_monitored));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &sleeper));
	ASSERT_TRUE(EVENTUALLY(waiters(self->fence) == 1));
	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, NULL));
	vf_cmd_draw(self->gfx, 1, 10 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	vf_cmd_wait(self->copy, self->fence, 9);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	EXPECT_EQ(0, vf_fence_current(self->fence));
	EXPECT_EQ(7, vf_fence_current(monitored_fence));

	ASSERT_EQ(0, driver("unbind", 0));
	self->unbound = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(-ENODEV, sleeper.ret);
	EXPECT_TRUE(fired(efd));
	EXPECT_TRUE(fired(efd_monitored));
	/*
	 * Mappings stay readable: the values are at the maximum, and the doorbells are
	 * aborted.
	 */
	EXPECT_EQ(UINT64_MAX, vf_fence_current(self->fence));
	EXPECT_EQ(UINT64_MAX, vf_fence_current(monitored_fence));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT, vf_queue_status(self->gfx));
	EXPECT_EQ(-EIO, vf_queue_submit(self->gfx));
	EXPECT_EQ(-ENODEV, raw(self->fd, DRM_IOCTL_VFENCE_DEVICE_CREATE, &create));
	EXPECT_EQ(-ENODEV, vf_fence_wait(self->fence, 1, 0));
	/* There is nothing to read where the counters were: that is not all zeroes. */
	EXPECT_EQ(-ENODEV, vf_client_counters(self->adapter, &counted));
	EXPECT_EQ(-ENODEV, vf_adapter_counters(self->adapter, &counted));
	vf_fence_destroy(monitored_fence);
	close(efd_monitored);
	close(efd);
}

/* Create a fence of adapter 0 that a client of adapter 2 may wait for. */
static int cross_create(struct vf_device *device, struct vf_device *elsewhere,
			struct vf_fence **fence, struct vf_fence **reader)
{
	int ret = vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE |
				  DRM_VFENCE_FENCE_CROSS_ADAPTER, 0, fence);
	int fd = ret ? ret : vf_fence_export_rights(*fence, DRM_VFENCE_RIGHT_READ |
						    DRM_VFENCE_RIGHT_WAIT);

	ret = fd < 0 ? fd : vf_fence_open(elsewhere, fd, reader);
	close(fd);
	return ret;
}

TEST_F(life, unbind_ends_the_waits_of_other_adapters)
{
	struct sleeper sleeper = { .ret = 1 };
	struct vf_fence *fence, *second, *reader;
	struct vf_adapter *other;
	struct vf_device *device;
	struct client gone;
	pthread_t thread;
	int fd;

	if (vf_adapter_open(2, &other))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_device_create(other, &device));
	ASSERT_EQ(0, cross_create(self->device, device, &fence, &sleeper.fence));
	ASSERT_EQ(0, client_open(&gone));
	ASSERT_EQ(0, cross_create(gone.device, device, &second, &reader));
	fd = vf_fence_export(second);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &sleeper));
	ASSERT_TRUE(EVENTUALLY(waiters(sleeper.fence) == 1));

	ASSERT_EQ(0, driver("unbind", 0));
	self->unbound = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, sleeper.ret);
	EXPECT_EQ(-ECANCELED, vf_fence_wait(sleeper.fence, 1, DEADLINE));
	/* Closing what was counted before changes nothing. */
	vf_fence_destroy(fence);
	/* No call reaches the adapter any more: the handle goes with its file. */
	vf_fence_destroy(second);
	client_close(&gone);
	/* The descriptor can be opened elsewhere, and that handle may signal. */
	ASSERT_EQ(0, vf_fence_open(device, fd, &second));
	close(fd);
	sleeper.fence = reader;
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &sleeper));
	ASSERT_TRUE(EVENTUALLY(waiters(reader) == 1));
	EXPECT_EQ(0, vf_fence_signal(second, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
	vf_fence_destroy(second);
	EXPECT_EQ(-ECANCELED, vf_fence_wait(reader, 2, DEADLINE));
	vf_fence_destroy(reader);
	vf_device_destroy(device);
	vf_adapter_close(other);
}

/* A sync_file and a dma-buf that were passed on outlive the adapter. */
TEST_F(life, what_was_handed_on_outlives_the_adapter)
{
	struct vf_syncobj syncobj = { 0 };
	struct vf_submit told = { .signal_syncobjs = &syncobj, .signal_syncobj_count = 1 };
	struct sync_file_info info = { 0 };
	struct pollfd file = { .events = POLLIN };
	struct vf_buffer *buffer;
	struct vf_queue *kernel;
	uint32_t *words;
	int memory;

	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &kernel));
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	memory = vf_buffer_export(buffer);
	ASSERT_LE(0, memory);
	*(uint32_t *)vf_buffer_map(buffer) = 77;
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &syncobj.handle));
	vf_cmd_draw(kernel, 1, 10 * SECOND);
	ASSERT_EQ(0, vf_submit(&kernel, 1, &told));
	ASSERT_EQ(0, drmSyncobjExportSyncFile(self->fd, syncobj.handle, &file.fd));
	EXPECT_EQ(0, poll(&file, 1, 0));
	ASSERT_EQ(0, driver("unbind", 0));
	self->unbound = true;
	EXPECT_EQ(1, poll(&file, 1, (int)(patience() / 1000000)));
	EXPECT_EQ(0, ioctl(file.fd, SYNC_IOC_FILE_INFO, &info));
	EXPECT_EQ(-ENODEV, info.status);
	EXPECT_EQ(-ENODEV, vf_queue_submit(kernel));
	vf_queue_destroy(kernel);
	vf_buffer_destroy(buffer);
	/* The dma-buf is the only reference to the buffer now. */
	words = mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, 0);
	if (words != MAP_FAILED) {
		EXPECT_EQ(77, words[0]);
		munmap(words, 4096);
	}
	close(memory);
	info = (struct sync_file_info){ 0 };
	EXPECT_EQ(0, ioctl(file.fd, SYNC_IOC_FILE_INFO, &info));
	close(file.fd);
}

TEST_F(life, a_second_device_comes_up_while_the_old_files_are_open)
{
	struct vf_adapter *fresh;
	struct vf_device *device;
	struct vf_queue *queue;

	ASSERT_EQ(0, driver("unbind", 0));
	self->unbound = true;
	ASSERT_EQ(0, driver("bind", 0));
	self->unbound = false;
	ASSERT_TRUE(EVENTUALLY(!vf_adapter_open(0, &fresh)));
	ASSERT_EQ(0, vf_device_create(fresh, &device));
	ASSERT_EQ(0, vf_queue_create(device, 0, 4096, &queue));
	vf_cmd_nop(queue, 8);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(fresh);
}

TEST_F(life, rmmod_with_open_files_is_refused_and_changes_nothing)
{
	EXPECT_EQ(-1, syscall(SYS_delete_module, "vfence", O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	vf_cmd_signal(self->gfx, self->fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, DEADLINE));
}

TEST_F(life, rmmod_with_nothing_but_a_fence_descriptor_is_refused)
{
	struct vf_fence *fence;
	int fd, status;
	pid_t pid;

	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	fd = vf_fence_export(fence);
	ASSERT_LE(0, fd);
	vf_fence_destroy(fence);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(self->fd);
		_exit(syscall(SYS_delete_module, "vfence", O_NONBLOCK) == -1 &&
		      errno == EWOULDBLOCK ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	close(fd);
}

/* Run a client whose queues run and block, whose threads wait and whose events are armed. */
static void busy_client(int ready)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue[4];
	struct vf_wait_set_entry update;
	struct vf_wait_set *set;
	struct vf_fence *fence;
	struct vf_point point;
	unsigned int i;
	int ret;

	ret = vf_adapter_open(0, &adapter);
	ret = ret ? ret : vf_device_create(adapter, &device);
	ret = ret ? ret : vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence);
	for (i = 0; !ret && i < 4; i++) {
		ret = vf_queue_create(device, i % 3, 4096, &queue[i]);
		if (ret)
			break;
		if (i == 0)
			vf_cmd_draw(queue[i], 1, 10 * SECOND);
		else if (i == 1)
			vf_cmd_wait(queue[i], fence, 1);
		else
			vf_cmd_draw(queue[i], UINT32_MAX, 100);
		ret = vf_queue_submit(queue[i]);
	}
	point = (struct vf_point){ fence, 1 };
	update = (struct vf_wait_set_entry){ 0, fence, 1 };
	if (!ret)
		ret = vf_event_arm(adapter, &point, 1, 0, eventfd(0, 0), NULL);
	ret = ret ? ret : vf_wait_set_create(adapter, 2, &set);
	ret = ret ? ret : vf_wait_set_update(set, &update, 1);
	if (write(ready, ret ? "n" : "y", 1) == 1 && !ret)
		ret = vf_fence_wait(fence, 1, VF_FOREVER);
	_exit(ret == -ENODEV ? 0 : 1);
}

static pid_t start_client(int *ready)
{
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		return -1;
	pid = fork();
	if (!pid)
		busy_client(pipes[1]);
	close(pipes[1]);
	*ready = pipes[0];
	return pid;
}

TEST_F(life, WDDM_202_kill_while_everything_runs)
{
	struct vf_counters before, after;
	struct vf_node_totals node[2][8];
	unsigned int round, count = 8, i;

	ASSERT_TRUE(settled(self->adapter, &before));
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, node[0], &count));
	for (round = 0; round < 10; round++) {
		char ok = 'n';
		int ready = -1, status;
		pid_t pid = start_client(&ready);

		ASSERT_LE(0, pid);
		ASSERT_EQ(1, read(ready, &ok, 1));
		ASSERT_EQ('y', ok);
		close(ready);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(SIGKILL, WTERMSIG(status));
	}
	/* The kernel did not wait for ten seconds of drawing: no packet was completed. */
	count = 8;
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, node[1], &count));
	for (i = 0; i < count; i++)
		EXPECT_EQ(node[0][i].packets, node[1][i].packets);
	/* The driver has freed all that the clients had, and nothing that others have. */
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.queues == before.queues &&
				after.doorbells_connected == before.doorbells_connected &&
				after.fences_created - after.fences_destroyed ==
				before.fences_created - before.fences_destroyed)));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter), vf_counters_settled(&after) &&
				after.waits_begun == after.waits_satisfied +
				after.waits_timed_out + after.waits_cancelled)));
	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
}

TEST_F(life, WDDM_202_unbind_while_clients_run)
{
	unsigned int round;

	for (round = 0; round < 5; round++) {
		char ok = 'n';
		int ready = -1, status;
		pid_t pid = start_client(&ready);

		ASSERT_EQ(1, read(ready, &ok, 1));
		ASSERT_EQ('y', ok);
		close(ready);
		ASSERT_EQ(0, driver("unbind", 0));
		self->unbound = true;
		/* The wait of the process ends with ENODEV, and the process exits. */
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFEXITED(status));
		EXPECT_EQ(0, WEXITSTATUS(status));
		ASSERT_EQ(0, driver("bind", 0));
		self->unbound = false;
	}
}

TEST_F(life, close_while_another_thread_waits)
{
	struct sleeper sleeper = { self->fence, 1 };
	int copy = dup(self->fd);
	pthread_t thread;

	/* The descriptor is closed, and the wait keeps the file open. */
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_on, &sleeper));
	ASSERT_TRUE(EVENTUALLY(waiters(self->fence) == 1));
	ASSERT_LE(0, copy);
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(self->fd, dup2(copy, self->fd));
	close(copy);
	ASSERT_EQ(0, vf_fence_signal(self->fence, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, sleeper.ret);
}

/* Create everything that a client can have on adapters 0 and 2, busy and suspended. */
static int live(int ready)
{
	struct vf_fence_desc intra = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	uint32_t flags = DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER;
	int efd = eventfd(0, EFD_CLOEXEC), fd, ret;
	struct vf_adapter *here, *there;
	struct vf_device *dh, *dt;
	struct vf_queue *gfx, *copy, *far, *kernel[2];
	struct vf_syncobj syncobj = { 0 };
	struct vf_point gated;
	struct vf_submit held = { .waits = &gated, .wait_count = 1 };
	struct vf_submit told = { .signal_syncobjs = &syncobj, .signal_syncobj_count = 1 };
	unsigned int i;
	struct vf_fence *cross, *opened, *local, *gate, *memory;

	ret = vf_adapter_open(2, &here);
	ret = ret ? ret : vf_adapter_open(0, &there);
	ret = ret ? ret : vf_device_create(here, &dh);
	ret = ret ? ret : vf_device_create(there, &dt);
	ret = ret ? ret : vf_queue_create(dh, DRM_VFENCE_NODE_GFX, 65536, &gfx);
	ret = ret ? ret : vf_queue_create(dh, DRM_VFENCE_NODE_COPY, 65536, &copy);
	ret = ret ? ret : vf_queue_create(dt, DRM_VFENCE_NODE_GFX, 65536, &far);
	ret = ret ? ret : vf_kernel_queue_create(dh, DRM_VFENCE_NODE_GFX, &kernel[0]);
	ret = ret ? ret : vf_kernel_queue_create(dh, DRM_VFENCE_NODE_COPY, &kernel[1]);
	ret = ret ? ret : drmSyncobjCreate(vf_adapter_fd(here), 0, &syncobj.handle);
	ret = ret ? ret : vf_fence_create(dh, flags, 0, &cross);
	ret = ret ? ret : vf_fence_create_desc(dh, &intra, &local);
	ret = ret ? ret : vf_fence_create(dh, 0, 0, &gate);
	ret = ret ? ret : vf_monitored_fence_create(dh, 0, 0, &memory);
	ret = ret ? ret : arm(here, memory, UINT64_MAX, efd);
	fd = ret ? -1 : vf_fence_export(cross);
	ret = ret ? ret : vf_fence_open(dt, fd, &opened);
	ret = ret ? ret : arm(there, opened, 100, efd);
	ret = ret ? ret : arm(here, gate, 100, efd);
	if (ret)
		return ret;
	/* These submissions run, are queued, have out-syncs, or are held back. */
	gated = (struct vf_point){ memory, 1000 };
	for (i = 0; !ret && i < 16; i++) {
		vf_cmd_draw(kernel[i % 2], 1, 1000000000);
		ret = vf_submit(&kernel[i % 2], 1, i < 8 ? &told : &held);
	}
	if (ret)
		return ret;
	/* One queue blocks across adapters, one blocks here, and one is suspended in a draw. */
	vf_cmd_wait(far, opened, 1000);
	vf_cmd_signal(copy, local, 1);
	vf_cmd_wait(copy, local, 1000);
	vf_cmd_draw(gfx, 100, 1000000000);
	ret = vf_queue_submit(far) | vf_queue_submit(copy) | vf_queue_submit(gfx);
	ret = ret ? ret : vf_queue_suspend(gfx, NULL);
	if (write(ready, "r", 1) != 1)
		return -EPIPE;
	while (!ret) {
		/* Signals are in flight on both adapters when one of them is unbound. */
		vf_fence_signal(opened, 1);
		vf_fence_signal(cross, 2);
		vf_fence_signal(memory, 3);
	}
	return ret;
}

TEST(killed_clients_leave_nothing_of_any_kind)
{
	struct vf_counters before, c;
	struct vf_adapter *adapter[2];
	unsigned int i, k;

	if (vf_adapter_open(2, &adapter[1]))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_adapter_open(0, &adapter[0]));
	before = counters(adapter[1]);
	for (i = 0; i < 20; i++) {
		int ready[2], status;
		char byte;
		pid_t pid;

		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(live(ready[1]) ? 1 : 0);
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		close(ready[0]);
	}
	for (k = 0; k < 2; k++) {
		EXPECT_TRUE(EVENTUALLY((c = counters(adapter[k]), !c.queues)));
		EXPECT_TRUE(EVENTUALLY((c = counters(adapter[k]),
					c.fences_created == c.fences_destroyed &&
					c.fences_opened == c.fences_closed)));
		EXPECT_TRUE(settled(adapter[k], &c));
		EXPECT_EQ(c.waits_begun, c.waits_satisfied + c.waits_timed_out +
			  c.waits_cancelled);
		EXPECT_EQ(c.submissions, c.submissions_done + c.submissions_lost);
	}
	/* The driver counts a fence as destroyed before it frees the page of its values. */
	EXPECT_TRUE(EVENTUALLY(counters(adapter[1]).local_pages == before.local_pages));
	vf_adapter_close(adapter[0]);
	vf_adapter_close(adapter[1]);
}

/* Send a sync_file of a submission to @sock, then sleep until the process is killed. */
static int tell(int sock)
{
	struct vf_syncobj syncobj = { 0 };
	struct vf_submit told = { .signal_syncobjs = &syncobj, .signal_syncobj_count = 1 };
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	int fd, ret;

	ret = vf_adapter_open(0, &adapter);
	ret = ret ? ret : vf_device_create(adapter, &device);
	ret = ret ? ret : vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue);
	ret = ret ? ret : drmSyncobjCreate(vf_adapter_fd(adapter), 0, &syncobj.handle);
	if (ret)
		return ret;
	vf_cmd_draw(queue, 1, 10 * SECOND);
	ret = vf_submit(&queue, 1, &told);
	ret = ret ? ret : drmSyncobjExportSyncFile(vf_adapter_fd(adapter), syncobj.handle, &fd);
	ret = ret ? ret : vf_send_fd(sock, fd);
	while (!ret)
		pause();
	return ret;
}

TEST(a_sync_file_of_a_killed_client_ends)
{
	struct sync_file_info info = { 0 };
	struct pollfd file = { .events = POLLIN };
	int socks[2], status;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(tell(socks[1]) ? 1 : 0);
	file.fd = vf_recv_fd(socks[0]);
	ASSERT_LE(0, file.fd);
	EXPECT_EQ(0, poll(&file, 1, 0));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(1, poll(&file, 1, (int)(patience() / 1000000)));
	EXPECT_EQ(0, ioctl(file.fd, SYNC_IOC_FILE_INFO, &info));
	EXPECT_EQ(-ECANCELED, info.status);
	close(file.fd);
	close(socks[0]);
	close(socks[1]);
}

TEST(unbind_under_clients_with_everything)
{
	unsigned int i;

	if (geteuid() || access("/sys/bus/platform/devices/vfence.2/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	for (i = 0; i < 6; i++) {
		unsigned int victim = i % 2 ? 0 : 2;
		int ready[2], status;
		char byte;
		pid_t pid;

		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(live(ready[1]) ? 1 : 0);
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		ASSERT_EQ(0, driver("unbind", victim));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, driver("bind", victim));
		close(ready[0]);
	}
}

TEST_HARNESS_MAIN
