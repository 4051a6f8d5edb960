// SPDX-License-Identifier: GPL-2.0-only
/* Fences shared between files and processes, and their handles and ends. */

#include <sys/resource.h>

#include "vfence_test.h"

FIXTURE(share) {
	struct client a, b;
	struct vf_fence *fence;
	int fd;
};

FIXTURE_SETUP(share)
{
	ASSERT_EQ(0, client_open(&self->a));
	ASSERT_EQ(0, client_open(&self->b));
	ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_SHAREABLE, 7,
				     &self->fence));
	self->fd = vf_fence_export(self->fence);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(share)
{
	close(self->fd);
	vf_fence_destroy(self->fence);
	client_close(&self->a);
	client_close(&self->b);
}

TEST_F(share, WDDM_41_only_shareable_fences_and_only_by_descriptor)
{
	struct drm_vfence_fence_info info;
	struct vf_fence *private;

	ASSERT_EQ(0, vf_fence_create(self->a.device, 0, 0, &private));
	EXPECT_EQ(-EPERM, vf_fence_export(private));
	/* A handle is not valid in another file. */
	EXPECT_EQ(-ENOENT, query_object(vf_adapter_fd(self->b.adapter), DRM_VFENCE_QUERY_FENCE,
					vf_fence_handle(self->fence), &info, sizeof(info)));
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->fd, F_GETFD));
	vf_fence_destroy(private);
}

TEST_F(share, WDDM_58_an_export_without_a_descriptor_is_no_handle)
{
	uint64_t destroyed = counters(self->a.adapter).fences_destroyed;
	struct rlimit files, none;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &files));
	none = files;
	none.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-EMFILE, vf_fence_export(fence));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	vf_fence_destroy(fence);
	EXPECT_TRUE(EVENTUALLY(counters(self->a.adapter).fences_destroyed == destroyed + 1));
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

/*
 * Return: the fault of a queue of @c that executes a signal of 20, or a wait for 1. @foreign: The
 * fence is of another file, and the packet names the addresses that it has there.
 */
static uint32_t run_packet(struct client *c, struct vf_fence *fence, bool signal, bool foreign)
{
	const struct drm_vfence_fence_mapping *m = vf_fence_mapping(fence);
	struct drm_vfence_packet_signal packet = {
		.header = { .length = sizeof(packet), .opcode = DRM_VFENCE_OP_FENCE_SIGNAL },
		.current_va = m->current_va, .monitored_va = m->monitored_va, .value = 20,
	};
	struct vf_device *device;
	struct vf_queue *queue;
	uint32_t fault;

	if (vf_device_create(c->adapter, &device) ||
	    vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue))
		return UINT32_MAX;
	if (foreign)
		vf_cmd_raw(queue, &packet, sizeof(packet));
	else if (signal)
		vf_cmd_signal(queue, fence, 20);
	else
		vf_cmd_wait(queue, fence, 1);
	vf_queue_submit(queue);
	EVENTUALLY(queue_fault(queue) || vf_fence_current(vf_queue_progress(queue)) == 1);
	fault = queue_fault(queue);
	vf_queue_abort(queue);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	return fault;
}

/* Return: the fault of a queue of @c that executes one wait or signal of its fence. */
static uint32_t fault_of(struct client *c, struct vf_fence *fence, bool signal)
{
	return run_packet(c, fence, signal, false);
}

TEST_F(share, WDDM_39_private_data_travels_with_the_fence)
{
	struct vf_fence_desc desc = { .flags = DRM_VFENCE_FENCE_SHAREABLE };
	uint8_t bytes[DRM_VFENCE_PRIVATE_DATA], zero[DRM_VFENCE_PRIVATE_DATA] = { 0 };
	struct vf_fence *mine, *theirs;
	unsigned int i;
	int fd;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	desc.private_data = bytes;
	ASSERT_EQ(0, vf_fence_create_desc(self->a.device, &desc, &mine));
	EXPECT_EQ(0, memcmp(bytes, vf_fence_private_data(mine), sizeof(bytes)));
	fd = vf_fence_export(mine);
	ASSERT_EQ(0, vf_fence_open(self->b.device, fd, &theirs));
	EXPECT_EQ(0, memcmp(bytes, vf_fence_private_data(theirs), sizeof(bytes)));
	/* The private data belongs to the fence, not to the creator's handle. */
	vf_fence_destroy(mine);
	vf_fence_destroy(theirs);
	ASSERT_EQ(0, vf_fence_open(self->b.device, fd, &theirs));
	EXPECT_EQ(0, memcmp(bytes, vf_fence_private_data(theirs), sizeof(bytes)));
	EXPECT_EQ(0, memcmp(zero, vf_fence_private_data(self->fence), sizeof(zero)));
	vf_fence_destroy(theirs);
	close(fd);
}

TEST_F(share, WDDM_40_engine_affinity_names_the_one_physical_adapter)
{
	struct drm_vfence_fence_create all = { .device = vf_device_handle(self->a.device) };
	struct drm_vfence_fence_create first = all, second = all;
	int fd = vf_adapter_fd(self->a.adapter);

	first.engine_affinity = 1;
	second.engine_affinity = 2;
	ASSERT_EQ(0, raw(fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &all));
	ASSERT_EQ(0, raw(fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &first));
	/*
	 * The driver maps both fences. It refuses one for a physical adapter that does
	 * not exist.
	 */
	EXPECT_NE(0, all.mapping.current_va);
	EXPECT_NE(0, first.mapping.current_va);
	EXPECT_EQ(-EINVAL, raw(fd, DRM_IOCTL_VFENCE_FENCE_CREATE, &second));
}

TEST_F(share, rights_of_a_descriptor_hold_for_the_cpu)
{
	struct drm_vfence_fence_info query;
	struct vf_fence *waiter, *signaler;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_point point;

	ASSERT_EQ(0, open_with(self->fence, &self->b,
			       DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT, &waiter));
	ASSERT_EQ(0, open_with(self->fence, &self->b,
			       DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_SIGNAL, &signaler));
	EXPECT_EQ(-EACCES, vf_fence_signal(waiter, 8));
	EXPECT_EQ(7, vf_fence_current(self->fence));
	EXPECT_EQ(0, vf_fence_wait(waiter, 7, 0));
	EXPECT_EQ(-EACCES, vf_fence_wait(signaler, 7, 0));
	point = (struct vf_point){ signaler, 99 };
	EXPECT_EQ(-EACCES, vf_event_arm(self->b.adapter, &point, 1, 0, efd, NULL));
	close(efd);
	EXPECT_EQ(0, vf_fence_signal(signaler, 8));
	EXPECT_EQ(8, vf_fence_current(waiter));
	ASSERT_EQ(0, vf_fence_query(waiter, &query));
	EXPECT_EQ(DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT, query.rights);
	ASSERT_EQ(0, vf_fence_query(self->fence, &query));
	EXPECT_EQ(DRM_VFENCE_RIGHTS_ALL, query.rights);
	/* If one handle in the list lacks the right, the call signals nothing. */
	EXPECT_EQ(-EACCES, vf_signal(self->b.adapter, (struct vf_point[]){ { signaler, 9 },
				     { waiter, 9 } }, 2));
	EXPECT_EQ(8, vf_fence_current(self->fence));
	vf_fence_destroy(waiter);
	vf_fence_destroy(signaler);
}

TEST_F(share, rights_of_a_descriptor_hold_for_signals_that_ride_along)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct drm_vfence_fence_point signal = { .value = 8 }, point = { .value = 99 };
	struct drm_vfence_event_arm event = {
		.eventfd = efd,
		.points = DRM_VFENCE_OBJ_ARRAY(1, &point),
		.signals = DRM_VFENCE_OBJ_ARRAY(1, &signal),
	};
	struct vf_fence *waiter, *signaler;

	ASSERT_EQ(0, open_with(self->fence, &self->b,
			       DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT, &waiter));
	ASSERT_EQ(0, open_with(self->fence, &self->b,
			       DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_SIGNAL, &signaler));
	point.fence = vf_fence_handle(waiter);
	/* A wait and an event signal nothing by a handle that may only wait. */
	signal.fence = vf_fence_handle(waiter);
	EXPECT_EQ(-EACCES, vf_signal_and_wait(self->b.adapter, &(struct vf_point){ waiter, 8 }, 1,
					      &(struct vf_point){ waiter, 7 }, 1, 0, 0, NULL));
	EXPECT_EQ(-EACCES, raw(vf_adapter_fd(self->b.adapter), DRM_IOCTL_VFENCE_EVENT_ARM, &event));
	EXPECT_EQ(7, vf_fence_current(self->fence));
	/* They signal by a handle that may only signal. */
	signal.fence = vf_fence_handle(signaler);
	EXPECT_EQ(0, vf_signal_and_wait(self->b.adapter, &(struct vf_point){ signaler, 8 }, 1,
					&(struct vf_point){ waiter, 8 }, 1, 0, 0, NULL));
	EXPECT_EQ(8, vf_fence_current(self->fence));
	signal.value = 9;
	EXPECT_EQ(0, raw(vf_adapter_fd(self->b.adapter), DRM_IOCTL_VFENCE_EVENT_ARM, &event));
	EXPECT_EQ(9, vf_fence_current(self->fence));
	vf_fence_destroy(waiter);
	vf_fence_destroy(signaler);
	close(efd);
}

TEST_F(share, rights_of_a_descriptor_hold_for_the_gpu)
{
	struct vf_fence *waiter, *signaler;

	ASSERT_EQ(0, open_with(self->fence, &self->b,
			       DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT, &waiter));
	EXPECT_EQ(0, fault_of(&self->b, waiter, false));
	EXPECT_EQ(DRM_VFENCE_FAULT_ACCESS, fault_of(&self->b, waiter, true));
	EXPECT_EQ(7, vf_fence_current(self->fence));
	vf_fence_destroy(waiter);
	ASSERT_EQ(0, open_with(self->fence, &self->b,
			       DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_SIGNAL, &signaler));
	EXPECT_EQ(DRM_VFENCE_FAULT_ACCESS, fault_of(&self->b, signaler, false));
	EXPECT_EQ(0, fault_of(&self->b, signaler, true));
	EXPECT_EQ(20, vf_fence_current(self->fence));
	/*
	 * The handles of one file share addresses: packets have the rights of all handles
	 * together.
	 */
	ASSERT_EQ(0, open_with(self->fence, &self->b,
			       DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT, &waiter));
	EXPECT_EQ(0, fault_of(&self->b, signaler, false));
	vf_fence_destroy(waiter);
	EXPECT_EQ(DRM_VFENCE_FAULT_ACCESS, fault_of(&self->b, signaler, false));
	vf_fence_destroy(signaler);
}

TEST_F(share, WDDM_117_118_a_native_fence_can_be_created_with_fewer_rights)
{
	struct drm_vfence_fence_info query;
	struct vf_fence *no_signal, *no_wait, *none;

	ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_NO_SIGNAL |
				     DRM_VFENCE_FENCE_SHAREABLE, 3, &no_signal));
	ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_NO_WAIT, 3, &no_wait));
	EXPECT_EQ(-EINVAL, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_NO_SIGNAL |
					   DRM_VFENCE_FENCE_NO_WAIT, 3, &none));
	EXPECT_EQ(-EACCES, vf_fence_signal(no_signal, 4));
	EXPECT_EQ(0, vf_fence_wait(no_signal, 3, 0));
	EXPECT_EQ(DRM_VFENCE_FAULT_ACCESS, fault_of(&self->a, no_signal, true));
	EXPECT_EQ(3, vf_fence_current(no_signal));
	EXPECT_EQ(-EACCES, vf_fence_export_rights(no_signal, DRM_VFENCE_RIGHTS_ALL));
	ASSERT_EQ(0, vf_fence_query(no_signal, &query));
	EXPECT_EQ(DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT, query.rights);
	EXPECT_EQ(-EACCES, vf_fence_wait(no_wait, 3, 0));
	EXPECT_EQ(0, vf_fence_signal(no_wait, 4));
	EXPECT_EQ(4, vf_fence_current(no_wait));
	vf_fence_destroy(no_wait);
	vf_fence_destroy(no_signal);
}

TEST_F(share, rights_only_shrink_on_the_way)
{
	struct vf_fence *waiter, *again;
	int fd;

	/* A descriptor without the right to read cannot be opened. */
	EXPECT_EQ(-EACCES, open_with(self->fence, &self->b, DRM_VFENCE_RIGHT_SIGNAL, &waiter));
	ASSERT_EQ(0, open_with(self->fence, &self->b,
			       DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT, &waiter));
	EXPECT_EQ(-EACCES, vf_fence_export_rights(waiter, DRM_VFENCE_RIGHTS_ALL));
	fd = vf_fence_export(waiter);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, vf_fence_open(self->a.device, fd, &again));
	EXPECT_EQ(-EACCES, vf_fence_signal(again, 8));
	/* The creator's own handle keeps its rights. */
	EXPECT_EQ(0, vf_fence_signal(self->fence, 8));
	close(fd);
	vf_fence_destroy(again);
	vf_fence_destroy(waiter);
}

TEST_F(share, WDDM_43_another_file_gets_new_addresses_of_the_same_storage)
{
	struct vf_buffer *buffer;
	struct vf_fence *opened;

	/* In file B a buffer is at the first address, where the fence would be mapped. */
	ASSERT_EQ(0, vf_buffer_create(self->b.adapter, 65536, &buffer));
	ASSERT_EQ(0, vf_fence_open(self->b.device, self->fd, &opened));
	EXPECT_NE(vf_fence_mapping(self->fence)->current_va, vf_fence_mapping(opened)->current_va);
	EXPECT_NE(vf_fence_mapping(self->fence)->monitored_va,
		  vf_fence_mapping(opened)->monitored_va);
	EXPECT_EQ(7, vf_fence_current(opened));
	ASSERT_EQ(0, vf_fence_signal(opened, 8));
	EXPECT_EQ(8, vf_fence_current(self->fence));
	ASSERT_EQ(0, vf_fence_signal(self->fence, 9));
	EXPECT_EQ(9, vf_fence_current(opened));
	/* The new addresses lead to the fence, too. The addresses of A are not valid in B. */
	EXPECT_EQ(0, fault_of(&self->b, opened, true));
	EXPECT_EQ(20, vf_fence_current(self->fence));
	EXPECT_NE(0, run_packet(&self->b, self->fence, true, true));
	vf_fence_destroy(opened);
	vf_buffer_destroy(buffer);
}

TEST_F(share, WDDM_42_another_device_of_one_file_gets_the_same_addresses)
{
	const struct drm_vfence_fence_mapping *m = vf_fence_mapping(self->fence);
	struct vf_device *device;
	struct vf_fence *opened;

	ASSERT_EQ(0, vf_device_create(self->a.adapter, &device));
	ASSERT_EQ(0, vf_fence_open(device, self->fd, &opened));
	EXPECT_NE(vf_fence_handle(self->fence), vf_fence_handle(opened));
	EXPECT_EQ(0, memcmp(m, vf_fence_mapping(opened), sizeof(*m)));
	vf_fence_destroy(opened);
	EXPECT_EQ(0, vf_fence_signal(self->fence, 10));
	vf_device_destroy(device);
}

TEST_F(share, WDDM_55_56_57_58_create_open_close_destroy)
{
	struct vf_counters c0 = counters(self->a.adapter), c;
	struct vf_fence *fence, *other, *again;
	int fd;

	ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	c = counters(self->a.adapter);
	EXPECT_EQ(c0.fences_created + 1, c.fences_created);
	EXPECT_EQ(c0.fences_opened + 1, c.fences_opened);
	fd = vf_fence_export(fence);
	ASSERT_EQ(0, vf_fence_open(self->b.device, fd, &other));
	/* The driver opens the fence for each handle, even in one file. */
	ASSERT_EQ(0, vf_fence_open(self->a.device, fd, &again));
	EXPECT_NE(vf_fence_handle(fence), vf_fence_handle(again));
	close(fd);
	c = counters(self->a.adapter);
	EXPECT_EQ(c0.fences_created + 1, c.fences_created);
	EXPECT_EQ(c0.fences_opened + 3, c.fences_opened);
	/* The creator closes its handle first, and the fence stays. */
	vf_fence_destroy(fence);
	c = counters(self->a.adapter);
	EXPECT_EQ(c0.fences_closed + 1, c.fences_closed);
	EXPECT_EQ(c0.fences_destroyed, c.fences_destroyed);
	EXPECT_EQ(0, vf_fence_signal(other, 5));
	EXPECT_EQ(5, vf_fence_current(other));
	/* The other handles stay usable. */
	EXPECT_EQ(-ETIME, vf_fence_wait(other, 6, 1));
	EXPECT_EQ(0, fault_of(&self->a, again, true));
	EXPECT_EQ(20, vf_fence_current(other));
	vf_fence_destroy(again);
	c = counters(self->a.adapter);
	EXPECT_EQ(c0.fences_destroyed + 1, c.fences_destroyed);
	EXPECT_EQ(-ETIME, vf_fence_wait(other, 21, 1));
	/* The last close destroys the fence. The counters include the queue of fault_of(). */
	vf_fence_destroy(other);
	c = counters(self->a.adapter);
	EXPECT_EQ(c0.fences_closed + 4, c.fences_closed);
	EXPECT_EQ(c0.fences_destroyed + 2, c.fences_destroyed);
}

TEST_F(share, WDDM_58_a_descriptor_keeps_the_fence)
{
	struct vf_counters c0, c;
	struct vf_fence *fence, *again;
	int fd;

	ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_SHAREABLE, 77, &fence));
	c0 = counters(self->a.adapter);
	fd = vf_fence_export(fence);
	vf_fence_destroy(fence);
	c = counters(self->a.adapter);
	EXPECT_EQ(c0.fences_destroyed, c.fences_destroyed);
	ASSERT_EQ(0, vf_fence_open(self->b.device, fd, &again));
	EXPECT_EQ(77, vf_fence_current(again));
	vf_fence_destroy(again);
	close(fd);
	/* close() of the last descriptor completes the destruction before it returns. */
	EXPECT_TRUE(EVENTUALLY((c = counters(self->a.adapter),
				c.fences_destroyed == c0.fences_destroyed + 1)));
}

TEST_F_TIMEOUT(share, WDDM_59_freed_storage_is_not_written_any_more, 120)
{
	struct vf_fence *shared[64], *fresh[64];
	/* Each round waits for several grace periods, which last long on debug kernels. */
	unsigned int round, i, rounds = deterministic() ? 20 : 8;
	struct vf_queue *queue;

	/*
	 * B's queue signals fences as fast as it can while A and B destroy their handles.
	 * New fences then take the freed pages, and their values must not change.
	 */
	for (round = 0; round < rounds; round++) {
		ASSERT_EQ(0, vf_queue_create(self->b.device, 0, 65536, &queue));
		for (i = 0; i < 64; i++) {
			struct vf_fence *mine;
			int fd;

			ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_SHAREABLE,
						     0, &mine));
			fd = vf_fence_export(mine);
			ASSERT_EQ(0, vf_fence_open(self->b.device, fd, &shared[i]));
			close(fd);
			vf_fence_destroy(mine);
			vf_cmd_signal(queue, shared[i], 0xdead);
		}
		vf_queue_publish(queue);
		for (i = 0; i < 64; i++)
			vf_fence_destroy(shared[i]);
		for (i = 0; i < 64; i++)
			ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_SHAREABLE,
						     0x600d, &fresh[i]));
		/*
		 * The queue has finished, or has faulted at an address that is not mapped
		 * any more.
		 */
		vf_queue_abort(queue);
		for (i = 0; i < 64; i++)
			EXPECT_EQ(0x600d, vf_fence_current(fresh[i]));
		for (i = 0; i < 64; i++)
			vf_fence_destroy(fresh[i]);
		vf_queue_destroy(queue);
		vf_device_destroy(self->b.device);
		ASSERT_EQ(0, vf_device_create(self->b.adapter, &self->b.device));
	}
}

TEST_F(share, a_descriptor_of_a_fence_cannot_be_polled)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN | POLLOUT };

	ASSERT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLERR, p.revents);
}

TEST_F(share, two_processes_work_gpu_to_gpu)
{
	int sock[2], status;
	struct vf_fence *back;
	struct vf_queue *queue;
	uint64_t i;
	pid_t pid;
	int fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ASSERT_EQ(0, vf_fence_create(self->a.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &back));
	fd = vf_fence_export(back);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct vf_fence *there, *here;
		struct client c;
		int ret = client_open(&c);

		if (!ret)
			ret = vf_fence_open(c.device, vf_recv_fd(sock[1]), &there);
		if (!ret)
			ret = vf_fence_open(c.device, vf_recv_fd(sock[1]), &here);
		if (!ret)
			ret = vf_queue_create(c.device, DRM_VFENCE_NODE_COPY, 65536, &queue);
		for (i = 1; !ret && i <= 100; i++) {
			vf_cmd_wait(queue, there, 100 + i);
			vf_cmd_signal(queue, here, i);
			ret = vf_queue_submit(queue);
		}
		if (!ret)
			ret = vf_queue_wait_idle(queue, DEADLINE);
		_exit(ret ? 1 : 0);
	}
	ASSERT_EQ(0, vf_send_fd(sock[0], self->fd));
	ASSERT_EQ(0, vf_send_fd(sock[0], fd));
	ASSERT_EQ(0, vf_queue_create(self->a.device, DRM_VFENCE_NODE_GFX, 65536, &queue));
	for (i = 1; i <= 100; i++) {
		vf_cmd_signal(queue, self->fence, 100 + i);
		vf_cmd_wait(queue, back, i);
		ASSERT_EQ(0, vf_queue_submit(queue));
	}
	EXPECT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	vf_queue_destroy(queue);
	vf_fence_destroy(back);
	close(fd);
	close(sock[0]);
	close(sock[1]);
}

TEST_F(share, a_creator_that_dies_leaves_the_fence_to_the_others)
{
	int sock[2], status, fd;
	struct vf_fence *fence;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct client c;
		int ret = client_open(&c);

		if (!ret)
			ret = vf_fence_create(c.device, DRM_VFENCE_FENCE_SHAREABLE, 3, &fence);
		if (!ret)
			vf_send_fd(sock[1], vf_fence_export(fence));
		pause();
		_exit(0);
	}
	fd = vf_recv_fd(sock[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, vf_fence_open(self->b.device, fd, &fence));
	close(fd);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(3, vf_fence_current(fence));
	EXPECT_EQ(0, vf_fence_signal(fence, 4));
	EXPECT_EQ(0, vf_fence_wait(fence, 4, 0));
	vf_fence_destroy(fence);
	close(sock[0]);
	close(sock[1]);
}

TEST_F(share, the_last_holder_releases_waiters_and_queues)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_queue *queue;
	struct vf_fence *fence;
	struct vf_point point;

	ASSERT_EQ(0, vf_queue_create(self->a.device, 0, 4096, &queue));
	ASSERT_EQ(0, vf_fence_create(self->a.device, 0, 0, &fence));
	point = (struct vf_point){ fence, 5 };
	ASSERT_EQ(0, vf_event_arm(self->a.adapter, &point, 1, 0, efd, NULL));
	vf_cmd_wait(queue, fence, 5);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_BLOCKED));
	vf_fence_destroy(fence);
	EXPECT_TRUE(fired(efd));
	EXPECT_TRUE(drained(queue));
	vf_queue_destroy(queue);
	close(efd);
}

TEST_HARNESS_MAIN
