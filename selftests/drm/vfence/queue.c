// SPDX-License-Identifier: GPL-2.0-only
/* User-mode queues: doorbells, progress fences, ends. */

#include "vfence_test.h"

FIXTURE(queue) {
	VFENCE_MEMBERS;
	struct vf_fence *gate;
};

FIXTURE_SETUP(queue)
{
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->gate));
}

FIXTURE_TEARDOWN(queue)
{
	vf_fence_destroy(self->gate);
	VFENCE_TEARDOWN();
}

/* A queue without the library. The test makes each step itself. */
struct bare {
	int fd;
	uint32_t context;
	struct drm_vfence_queue_create queue;
	struct drm_vfence_bo_create ring_bo, control_bo;
	struct drm_vfence_doorbell_create doorbell_args;
	char *ring;
	struct drm_vfence_ring_control *control;
	volatile uint64_t *doorbell;
	volatile uint64_t *status;
	volatile uint64_t *last_queued;
};

static void *map(int fd, uint64_t offset, size_t size, int prot)
{
	return mmap(NULL, size, prot, MAP_SHARED, fd, (off_t)offset);
}

static int bare_queue(struct bare *b, struct vf_device *device, int fd, uint32_t node)
{
	struct drm_vfence_context_create context = {
		.device = vf_device_handle(device), .node = node,
	};
	int ret;

	memset(b, 0, sizeof(*b));
	b->fd = fd;
	ret = raw(fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context);
	if (ret)
		return ret;
	b->context = context.handle;
	b->queue.context = context.handle;
	b->queue.flags = DRM_VFENCE_QUEUE_USER_MODE;
	return raw(fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &b->queue);
}

static int bare_doorbell(struct bare *b)
{
	int ret;

	b->ring_bo.size = 4096;
	b->control_bo.size = 4096;
	ret = raw(b->fd, DRM_IOCTL_VFENCE_BO_CREATE, &b->ring_bo);
	if (!ret)
		ret = raw(b->fd, DRM_IOCTL_VFENCE_BO_CREATE, &b->control_bo);
	if (ret)
		return ret;
	b->ring = map(b->fd, b->ring_bo.mmap_offset, 4096, PROT_READ | PROT_WRITE);
	b->control = map(b->fd, b->control_bo.mmap_offset, 4096, PROT_READ | PROT_WRITE);
	b->doorbell_args = (struct drm_vfence_doorbell_create){
		.queue = b->queue.handle, .ring = b->ring_bo.handle,
		.control = b->control_bo.handle, .ring_size = 4096,
	};
	ret = raw(b->fd, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &b->doorbell_args);
	if (ret)
		return ret;
	b->doorbell = map(b->fd, b->doorbell_args.doorbell_offset, 4096, PROT_READ | PROT_WRITE);
	b->status = map(b->fd, b->doorbell_args.status_offset, 4096, PROT_READ);
	b->last_queued = map(b->fd, b->doorbell_args.last_queued_offset, 4096,
			     PROT_READ | PROT_WRITE);
	return 0;
}

static int bare_connect(struct bare *b)
{
	struct drm_vfence_doorbell_connect args = { .queue = b->queue.handle };

	return raw(b->fd, DRM_IOCTL_VFENCE_DOORBELL_CONNECT, &args);
}

static void bare_nop(struct bare *b)
{
	uint64_t at = b->control->write_ptr;

	memcpy(b->ring + at % 4096, &(struct drm_vfence_packet_header){
		.opcode = DRM_VFENCE_OP_NOP, .length = 8 }, 8);
	__atomic_store_n(&b->control->write_ptr, at + 8, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static struct drm_vfence_queue_info bare_query(struct bare *b)
{
	struct drm_vfence_queue_info info = { 0 };

	query_object(b->fd, DRM_VFENCE_QUERY_QUEUE, b->queue.handle, &info, sizeof(info));
	return info;
}

static int bare_destroy(struct bare *b)
{
	int ret = 0;

	if (b->doorbell)
		ret = destroy_object(b->fd, DRM_VFENCE_OBJECT_DOORBELL, b->queue.handle);
	if (!ret)
		ret = destroy_object(b->fd, DRM_VFENCE_OBJECT_QUEUE, b->queue.handle);
	return ret;
}

TEST_F(queue, WDDM_180_181_created_disconnected_without_physical_doorbell)
{
	struct vf_counters before = counters(self->adapter), after;
	struct bare b;

	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	after = counters(self->adapter);
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, *b.status);
	EXPECT_EQ(before.doorbells_connected, after.doorbells_connected);
	EXPECT_EQ(0, bare_destroy(&b));
}

TEST_F(queue, WDDM_185_ringing_a_disconnected_doorbell_has_no_effect)
{
	struct bare b;

	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	bare_nop(&b);
	*b.doorbell = 8;
	/* The engine has executed work of another queue meanwhile. */
	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_EQ(DRM_VFENCE_QUEUE_IDLE, bare_query(&b).state);
	EXPECT_EQ(0, bare_query(&b).packets);
	EXPECT_EQ(0, b.control->read_ptr);
	EXPECT_EQ(0, bare_destroy(&b));
}

TEST_F(queue, WDDM_185_186_what_a_victim_stores_goes_nowhere)
{
	struct drm_vfence_queue_abort abort = { 0 };
	struct bare victim, next;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, bare_queue(&victim, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&victim));
	ASSERT_EQ(0, bare_queue(&next, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&next));
	ASSERT_EQ(0, bare_connect(&victim));
	/* A hang keeps the queue busy, and so its page stays mapped. */
	memcpy(victim.ring, &(struct drm_vfence_packet_header){
		.opcode = DRM_VFENCE_OP_HANG, .length = 8 }, 8);
	__atomic_store_n(&victim.control->write_ptr, 8, __ATOMIC_SEQ_CST);
	*victim.doorbell = 0x1111;
	ASSERT_TRUE(EVENTUALLY(bare_query(&victim).state == DRM_VFENCE_QUEUE_RUNNING));
	EXPECT_EQ(0x1111, *victim.doorbell);
	/*
	 * Disconnect all doorbells. The next owner gets the first physical doorbell that
	 * is free.
	 */
	ASSERT_EQ(0, inject(0, "notify_work", "0"));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, *victim.status);
	ASSERT_EQ(0, bare_connect(&next));
	EXPECT_EQ(0, *next.doorbell);
	*victim.doorbell = 0x2222;
	EXPECT_EQ(0, *next.doorbell);
	abort.queue = victim.queue.handle;
	EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_ABORT, &abort));
	EXPECT_EQ(0, bare_destroy(&victim));
	EXPECT_EQ(0, bare_destroy(&next));
}

TEST_F(queue, WDDM_184_connect_then_ring_starts_work)
{
	struct vf_counters before = counters(self->adapter), after;
	struct bare b;

	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	ASSERT_EQ(0, bare_connect(&b));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, *b.status);
	after = counters(self->adapter);
	EXPECT_EQ(before.doorbells_connected + 1, after.doorbells_connected);
	bare_nop(&b);
	*b.doorbell = 8;
	EXPECT_TRUE(EVENTUALLY(bare_query(&b).packets == 1));
	/* A second connect changes nothing. */
	EXPECT_EQ(0, bare_connect(&b));
	EXPECT_EQ(0, bare_destroy(&b));
	after = counters(self->adapter);
	EXPECT_EQ(before.doorbells_connected, after.doorbells_connected);
}

TEST_F(queue, any_access_of_the_doorbell_page_rings)
{
	struct bare b;
	unsigned int i;

	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	ASSERT_EQ(0, bare_connect(&b));
	for (i = 1; i <= 200; i++) {
		bare_nop(&b);
		/* A read rings, too, anywhere in the page. */
		(void)b.doorbell[i];
		ASSERT_TRUE(EVENTUALLY(bare_query(&b).packets == i));
		/* A ring that brings no work must not spoil the next one. */
		(void)b.doorbell[0];
	}
	EXPECT_EQ(0, bare_destroy(&b));
}

TEST_F(queue, a_ring_is_not_faulted_over_and_over)
{
	struct vf_counters before, after;
	unsigned int i;

	/* Client, engine and doorbell thread share one processor. */
	pin(0, 0);
	pin_kthread("vfence0-engine0", 0);
	before = counters(self->adapter);
	for (i = 0; i < 200; i++) {
		vf_cmd_nop(self->gfx, 8);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(drained(self->gfx));
	}
	after = counters(self->adapter);
	EXPECT_GE(3 * 200, after.doorbell_faults - before.doorbell_faults);
}

TEST_F(queue, WDDM_183_only_the_kernel_writes_the_status)
{
	struct bare b;

	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	EXPECT_EQ(MAP_FAILED, map(self->fd, b.doorbell_args.status_offset, 4096,
				  PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)b.status, 4096, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, bare_destroy(&b));
}

/* A client reads the level of its doorbell, connected or not, where it reads the status. */
TEST_F(queue, a_doorbell_shows_the_logging_level_of_now)
{
	volatile uint32_t *level;
	struct bare b;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	level = (volatile uint32_t *)&b.status[1];
	EXPECT_EQ(DRM_VFENCE_LOGGING_DEFAULT, *level);
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "1"));
	EXPECT_EQ(DRM_VFENCE_LOGGING_ALL, *level);
	ASSERT_EQ(0, bare_connect(&b));
	EXPECT_EQ(DRM_VFENCE_LOGGING_ALL, *level);
	ASSERT_EQ(0, debugfs_write(0, "logging_level", "0"));
	EXPECT_EQ(DRM_VFENCE_LOGGING_DEFAULT, *level);
	EXPECT_EQ(0, bare_destroy(&b));
}

#define CROWD 24

TEST_F(queue, WDDM_182_186_187_victims_reconnect_and_lose_nothing)
{
	struct vf_counters before = counters(self->adapter), after;
	struct drm_vfence_adapter_info info;
	struct vf_queue *queue[CROWD];
	unsigned int i, round, connected = 0;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	ASSERT_GT(CROWD, info.physical_doorbells);
	for (i = 0; i < CROWD; i++)
		ASSERT_EQ(0, vf_queue_create(self->device, i % 4, 4096, &queue[i]));
	/* Each queue gets its addresses once. Every round moves the doorbells. */
	for (round = 1; round <= 20; round++) {
		for (i = 0; i < CROWD; i++) {
			vf_cmd_nop(queue[i], 8);
			ASSERT_EQ(0, vf_queue_submit(queue[i]));
		}
	}
	for (i = 0; i < CROWD; i++) {
		ASSERT_TRUE(drained(queue[i]));
		EXPECT_EQ(20, vf_fence_current(vf_queue_progress(queue[i])));
		connected += vf_queue_status(queue[i]) == DRM_VFENCE_DOORBELL_CONNECTED;
	}
	after = counters(self->adapter);
	EXPECT_EQ(info.physical_doorbells, after.doorbells_connected);
	EXPECT_LT(before.victimisations, after.victimisations);
	EXPECT_LE(connected, info.physical_doorbells);
	for (i = 0; i < CROWD; i++)
		vf_queue_destroy(queue[i]);
}

/* Connect more queues than there are doorbells, again and again. Return: an exit code. */
static int reconnect_crowd(void)
{
	struct vf_queue *queue[CROWD];
	unsigned int i, round;
	struct client c;

	if (client_open(&c))
		return 1;
	for (i = 0; i < CROWD; i++)
		if (vf_queue_create(c.device, i % 4, 4096, &queue[i]))
			return 2;
	for (round = 0; round < 20; round++)
		for (i = 0; i < CROWD; i++) {
			vf_cmd_nop(queue[i], 8);
			if (vf_queue_submit(queue[i]))
				return 3;
		}
	for (i = 0; i < CROWD; i++)
		if (!drained(queue[i]))
			return 4;
	return 0;
}

TEST_F(queue, a_client_that_reconnects_many_queues_takes_no_doorbell_of_another)
{
	struct vf_counters before;
	uint64_t moved;
	int status;
	pid_t pid;

	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	/* The queue is idle, and was connected first. */
	ASSERT_TRUE(logged(self->gfx));
	before = counters(self->adapter);
	pid = fork_stranger();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(reconnect_crowd());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	moved = counters(self->adapter).victimisations - before.victimisations;
	EXPECT_LT(CROWD, moved);
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(self->gfx));
}

#define CLIENTS	6

/* A client of the adapter that has two doorbells. */
static int submit_often(void)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	unsigned int i;

	if (vf_adapter_open(1, &adapter) || vf_device_create(adapter, &device) ||
	    vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue))
		return 1;
	for (i = 0; i < 20; i++) {
		vf_cmd_nop(queue, 8);
		if (vf_queue_submit(queue) || !drained(queue))
			return 2;
	}
	return 0;
}

/* There are more processes than doorbells: each gets one, and loses it again. */
TEST_F(queue, every_client_gets_a_doorbell)
{
	pid_t pid[CLIENTS];
	unsigned int i;
	int status;

	if (access("/sys/bus/platform/devices/vfence.1/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	for (i = 0; i < CLIENTS; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i])
			_exit(submit_often());
	}
	for (i = 0; i < CLIENTS; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
	}
}

/* Have a client of the adapter with two doorbells that connects one and stays. */
static pid_t stay_connected(void)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	int ready[2];
	char done = 0;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork_stranger();
	if (!pid) {
		done = !vf_adapter_open(1, &adapter) && !vf_device_create(adapter, &device) &&
		       !vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue) &&
		       !vf_queue_submit(queue);
		if (write(ready[1], &done, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(ready[0], &done, 1) != 1)
		done = 0;
	close(ready[0]);
	close(ready[1]);
	return done ? pid : -1;
}

TEST_F(queue, clients_keep_their_last_doorbell_for_a_time_and_no_longer)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	int64_t begin;
	pid_t pid[2];

	if (access("/sys/bus/platform/devices/vfence.1/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_adapter_open(1, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	begin = vf_deadline(0);
	pid[0] = stay_connected();
	ASSERT_LT(0, pid[0]);
	pid[1] = stay_connected();
	ASSERT_LT(0, pid[1]);
	/* One of them gives its doorbell, which it did not have before. */
	EXPECT_EQ(0, vf_queue_submit(queue));
	EXPECT_LE(begin + 4000000, vf_deadline(0));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(queue));
	EXPECT_TRUE(drained(queue));
	kill(pid[0], SIGKILL);
	kill(pid[1], SIGKILL);
	EXPECT_EQ(pid[0], waitpid(pid[0], NULL, 0));
	EXPECT_EQ(pid[1], waitpid(pid[1], NULL, 0));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(queue, WDDM_186_a_victim_can_read_why)
{
	struct drm_vfence_adapter_info info;
	struct vf_queue *queue[CROWD];
	unsigned int i;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	/* Wait until the queue is idle: victims are taken from the idle queues first. */
	ASSERT_TRUE(logged(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(self->gfx));
	for (i = 0; i < info.physical_doorbells; i++) {
		ASSERT_EQ(0, vf_queue_create(self->device, 1, 4096, &queue[i]));
		vf_cmd_nop(queue[i], 8);
		ASSERT_EQ(0, vf_queue_submit(queue[i]));
		ASSERT_TRUE(drained(queue[i]));
	}
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(self->gfx));
	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(self->gfx));
	for (i = 0; i < info.physical_doorbells; i++)
		vf_queue_destroy(queue[i]);
}

TEST_F(queue, WDDM_187_192_work_published_before_a_disconnect_is_done)
{
	struct drm_vfence_adapter_info info;
	struct vf_queue *queue[CROWD];
	unsigned int i;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	/* All physical doorbells belong to queues that are busy, because they are blocked. */
	for (i = 0; i < CROWD; i++) {
		ASSERT_EQ(0, vf_queue_create(self->device, i % 4, 4096, &queue[i]));
		vf_cmd_wait(queue[i], self->gate, 1);
		vf_cmd_nop(queue[i], 16);
		ASSERT_EQ(0, vf_queue_submit(queue[i]));
	}
	/*
	 * The driver has disconnected the first queues and latched their work. Their
	 * rings stay.
	 */
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(queue[0]));
	vf_cmd_nop(queue[0], 8);
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	for (i = 0; i < CROWD; i++)
		EXPECT_TRUE(drained(queue[i]));
	for (i = 0; i < CROWD; i++)
		vf_queue_destroy(queue[i]);
}

TEST_F(queue, WDDM_188_abort_is_permanent)
{
	uint64_t done;

	vf_cmd_wait(self->gfx, self->gate, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	done = vf_fence_current(vf_queue_progress(self->gfx));
	ASSERT_EQ(0, vf_queue_abort(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT, vf_queue_status(self->gfx));
	EXPECT_EQ(DRM_VFENCE_QUEUE_ABORTED, queue_state(self->gfx));
	EXPECT_EQ(-EIO, vf_queue_submit(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT, vf_queue_status(self->gfx));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	EXPECT_EQ(done, vf_fence_current(vf_queue_progress(self->gfx)));
	/* A new queue of this device works. */
	vf_cmd_nop(self->copy, 8);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_TRUE(drained(self->copy));
}

TEST_F(queue, abort_cuts_any_packet_short)
{
	struct vf_queue *queue;
	int64_t begin;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, vf_queue_create(self->device, 0, 4096, &queue));
		if (i == 0)
			vf_cmd_draw(queue, 1, 10 * SECOND);
		else if (i == 1)
			vf_cmd_draw(queue, UINT32_MAX, 0);
		else
			cmd_hang(queue);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_RUNNING));
		begin = vf_deadline(0);
		ASSERT_EQ(0, vf_queue_abort(queue));
		ASSERT_LT(vf_deadline(0) - begin, 5 * SECOND);
		vf_queue_destroy(queue);
		/* The engine is free again. */
		vf_cmd_nop(self->gfx, 8);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_TRUE(drained(self->gfx));
	}
}

TEST_F(queue, WDDM_191_rings_outlive_handles_and_doorbells)
{
	struct drm_vfence_bo_create other;
	struct bare b;

	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	/* Close the handles. Ring and control must stay mapped for GPU and CPU. */
	ASSERT_EQ(0, drmCloseBufferHandle(self->fd, b.ring_bo.handle));
	ASSERT_EQ(0, drmCloseBufferHandle(self->fd, b.control_bo.handle));
	other = (struct drm_vfence_bo_create){ .size = 4096 };
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &other));
	ASSERT_EQ(0, bare_connect(&b));
	bare_nop(&b);
	*b.doorbell = 8;
	EXPECT_TRUE(EVENTUALLY(b.control->read_ptr == 8));
	EXPECT_EQ(0, bare_destroy(&b));
	/* Ring and control also outlive the doorbell. */
	EXPECT_EQ(8, b.control->write_ptr);
	b.ring[0] = 1;
	EXPECT_EQ(1, b.ring[0]);
}

TEST_F(queue, WDDM_182_190_a_secondary_address_rings_as_well)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct drm_vfence_adapter_info info;
	volatile uint64_t *second;
	struct bare b;

	ASSERT_EQ(0, vf_adapter_info(self->adapter, &info));
	EXPECT_LT(0, info.doorbell_size);
	EXPECT_LT(0, info.secondary_doorbell_size);
	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	/* A secondary address that was not requested is not returned. */
	EXPECT_EQ(0, b.doorbell_args.secondary_offset);
	ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_DOORBELL, b.queue.handle));
	b.doorbell_args.flags = DRM_VFENCE_DOORBELL_SECONDARY;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &b.doorbell_args));
	EXPECT_NE(0, b.doorbell_args.secondary_offset);
	EXPECT_NE(b.doorbell_args.doorbell_offset, b.doorbell_args.secondary_offset);
	second = map(self->fd, b.doorbell_args.secondary_offset, 4096, PROT_READ | PROT_WRITE);
	ASSERT_NE(MAP_FAILED, second);
	/*
	 * The address stays mapped: to a dummy page while disconnected, to the doorbell
	 * while connected.
	 */
	*second = 8;
	EXPECT_EQ(0, bare_query(&b).packets);
	ASSERT_EQ(0, bare_connect(&b));
	bare_nop(&b);
	*second = 8;
	EXPECT_TRUE(EVENTUALLY(bare_query(&b).packets == 1));
	ASSERT_TRUE(EVENTUALLY(bare_query(&b).state == DRM_VFENCE_QUEUE_IDLE));
	bare_nop(&b);
	*second = 16;
	EXPECT_TRUE(EVENTUALLY(bare_query(&b).packets == 2));
	EXPECT_EQ(0, bare_destroy(&b));
	munmap((void *)second, 4096);
	/* An adapter without secondary doorbells refuses the flag. */
	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_adapter_info(adapter, &info));
	EXPECT_EQ(0, info.secondary_doorbell_size);
	ASSERT_EQ(0, bare_queue(&b, device, vf_adapter_fd(adapter), 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	ASSERT_EQ(0, destroy_object(b.fd, DRM_VFENCE_OBJECT_DOORBELL, b.queue.handle));
	b.doorbell_args.flags = DRM_VFENCE_DOORBELL_SECONDARY;
	EXPECT_EQ(-EOPNOTSUPP, raw(b.fd, DRM_IOCTL_VFENCE_DOORBELL_CREATE, &b.doorbell_args));
	b.doorbell = NULL;
	EXPECT_EQ(0, bare_destroy(&b));
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

/* The pages that a client has mapped stay after the doorbell. */
TEST_F(queue, a_doorbell_that_goes_says_so)
{
	unsigned int connected;
	struct bare b;

	for (connected = 0; connected < 2; connected++) {
		ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
		ASSERT_EQ(0, bare_doorbell(&b));
		if (connected)
			ASSERT_EQ(0, bare_connect(&b));
		EXPECT_EQ(connected ? DRM_VFENCE_DOORBELL_CONNECTED :
				      DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, *b.status);
		ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_DOORBELL, b.queue.handle));
		EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT, *b.status);
		EXPECT_EQ(-ENOENT, bare_connect(&b));
		ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_QUEUE, b.queue.handle));
	}
}

/* The queue has work, so it is aborted: nobody signals its progress any more. */
TEST_F(queue, a_doorbell_that_goes_takes_the_progress_with_it)
{
	struct vf_fence *never;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &never));
	vf_cmd_wait(self->gfx, never, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	vf_cmd_wait(self->copy, vf_queue_progress(self->gfx), 1);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	ASSERT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_DOORBELL,
			     vf_queue_handle(self->gfx)));
	EXPECT_EQ(-EIO, vf_fence_wait(vf_queue_progress(self->gfx), 1, DEADLINE));
	EXPECT_TRUE(drained(self->copy));
	vf_fence_destroy(never);
}

TEST_F(queue, WDDM_189_connected_notify_gets_one_ping_per_submission)
{
	struct drm_vfence_notify_work_submission ping = { .queue = vf_queue_handle(self->gfx) };
	struct drm_vfence_queue_info query;
	unsigned int i;

	if (geteuid())
		SKIP(return, "needs root");
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, vf_queue_query(self->gfx, &query));
	EXPECT_EQ(0, query.notifications);
	/*
	 * The hardware begins to need the call: the status becomes RETRY, and the next
	 * connect returns another answer.
	 */
	ASSERT_EQ(0, inject(0, "notify_work", "1"));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY, vf_queue_status(self->gfx));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED_NOTIFY, vf_queue_status(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, vf_queue_query(self->gfx, &query));
	EXPECT_EQ(5, query.notifications);
	ASSERT_EQ(0, inject(0, "notify_work", "0"));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(DRM_VFENCE_DOORBELL_CONNECTED, vf_queue_status(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, vf_queue_query(self->gfx, &query));
	EXPECT_EQ(5, query.notifications);
	/* A call that the hardware does not need is harmless. */
	EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_NOTIFY_WORK_SUBMISSION, &ping));
}

TEST_F(queue, WDDM_203_destroy_succeeds_in_every_state)
{
	unsigned int state;

	for (state = 0; state < 7; state++) {
		struct drm_vfence_notify_work_submission ping = { 0 };
		struct vf_device *device;
		struct vf_queue *queue;

		ASSERT_EQ(0, vf_device_create(self->adapter, &device));
		ASSERT_EQ(0, vf_queue_create(device, state % 4, 4096, &queue));
		ping.queue = vf_queue_handle(queue);
		switch (state) {
		case 1: /* connected, idle */
			vf_cmd_nop(queue, 8);
			break;
		case 2: /* blocked */
			vf_cmd_wait(queue, self->gate, 100);
			break;
		case 3: /* running */
		case 6: /* suspended */
			vf_cmd_draw(queue, 1, 5 * SECOND);
			break;
		case 5: /* faulted */
			vf_cmd_raw(queue, &(struct drm_vfence_packet_header){
				.opcode = 0xffff, .length = 8 }, 8);
			vf_queue_publish(queue);
			ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_FAULTED));
			break;
		default: /* never connected; aborted */
			break;
		}
		if ((state && state < 4) || state == 6)
			ASSERT_EQ(0, vf_queue_submit(queue));
		if (state == 4)
			ASSERT_EQ(0, vf_queue_abort(queue));
		if (state == 6)
			ASSERT_EQ(0, vf_queue_suspend(queue, NULL));
		EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_NOTIFY_WORK_SUBMISSION, &ping));
		EXPECT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_DOORBELL,
				     vf_queue_handle(queue)));
		EXPECT_EQ(0, destroy_object(self->fd, DRM_VFENCE_OBJECT_QUEUE,
				     vf_queue_handle(queue)));
		vf_device_destroy(device);
	}
}

TEST_F(queue, WDDM_198_199_last_queued_and_progress)
{
	struct drm_vfence_queue_info query;
	uint64_t i;

	vf_cmd_wait(self->gfx, self->gate, 1);
	for (i = 1; i <= 5; i++) {
		vf_cmd_nop(self->gfx, 8);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
		ASSERT_EQ(0, vf_queue_query(self->gfx, &query));
		EXPECT_EQ(i, query.last_queued);
		EXPECT_EQ(0, query.progress);
	}
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	/* The values are reached one by one, upwards. */
	for (i = 1; i <= 5; i++) {
		EXPECT_EQ(0, vf_fence_wait(vf_queue_progress(self->gfx), i, DEADLINE));
		EXPECT_LE(i, vf_fence_current(vf_queue_progress(self->gfx)));
	}
	ASSERT_EQ(0, vf_queue_query(self->gfx, &query));
	EXPECT_EQ(5, query.last_queued);
	EXPECT_EQ(5, query.progress);
}

TEST_F(queue, WDDM_198_last_queued_precedes_the_work)
{
	struct bare b;

	/* The driver knows of pending work before the write pointer moves. */
	ASSERT_EQ(0, bare_queue(&b, self->device, self->fd, 0));
	ASSERT_EQ(0, bare_doorbell(&b));
	EXPECT_EQ(0, bare_query(&b).last_queued);
	*b.last_queued = 1;
	EXPECT_EQ(1, bare_query(&b).last_queued);
	EXPECT_EQ(0, bare_query(&b).progress);
	EXPECT_EQ(0, b.control->write_ptr);
	EXPECT_EQ(0, bare_destroy(&b));
}

TEST_F(queue, WDDM_200_the_progress_fence_is_native)
{
	struct drm_vfence_fence_info query;

	ASSERT_EQ(0, vf_fence_query(vf_queue_progress(self->gfx), &query));
	EXPECT_EQ(0, query.current_value);
	EXPECT_EQ(NOT_MONITORED, query.monitored_value);
	/* The fence belongs to the queue. */
	EXPECT_EQ(-EBUSY, destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE,
					 vf_queue_info(self->gfx)->progress_fence));
}

TEST_F(queue, WDDM_201_normal_exit_waits_for_the_last_value)
{
	struct vf_buffer *buffer;
	struct vf_queue *queue;
	volatile uint32_t *word;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	word = vf_buffer_map(buffer);
	ASSERT_EQ(0, vf_queue_create(self->device, 0, 4096, &queue));
	vf_cmd_draw(queue, 10, 1000000);
	vf_cmd_fill(queue, vf_buffer_va(buffer), 4, 0x600d);
	ASSERT_EQ(0, vf_queue_submit(queue));
	vf_queue_destroy(queue);
	EXPECT_EQ(0x600d, *word);
	vf_buffer_destroy(buffer);
}

TEST_F(queue, a_blocked_queue_leaves_its_engine_to_others)
{
	struct vf_queue *other;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &other));
	vf_cmd_wait(self->gfx, self->gate, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	/* A queue on the same engine releases it. */
	vf_cmd_signal(other, self->gate, 1);
	ASSERT_EQ(0, vf_queue_submit(other));
	EXPECT_TRUE(drained(other));
	EXPECT_TRUE(drained(self->gfx));
	vf_queue_destroy(other);
}

TEST_F(queue, no_queue_starves_another)
{
	struct vf_queue *hog;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 4096, &hog));
	vf_cmd_draw(hog, UINT32_MAX, 100000);
	ASSERT_EQ(0, vf_queue_submit(hog));
	ASSERT_TRUE(EVENTUALLY(queue_state(hog) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(self->gfx, 3, 100000);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(0, vf_queue_abort(hog));
	vf_queue_destroy(hog);
}

TEST_F(queue, fdinfo_tells_the_time_on_each_engine)
{
	unsigned long long gfx = 0, copy = 1;
	char path[64], line[256];
	bool driver = false;
	FILE *f;

	vf_cmd_draw(self->gfx, 3, 1000000);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	f = fopen(path, "re");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "drm-engine-gfx: %llu ns", &gfx);
		sscanf(line, "drm-engine-copy: %llu ns", &copy);
		driver |= !strcmp(line, "drm-driver:\tvfence\n");
	}
	fclose(f);
	EXPECT_TRUE(driver);
	EXPECT_LE(3000000, gfx);
	EXPECT_EQ(0, copy);
}

TEST_F(queue, WDDM_66_67_a_lost_queues_progress_is_always_signaled)
{
	struct vf_fence *progress;
	struct vf_device *device;
	struct vf_queue *lost;

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_COMPUTE, 4096, &lost));
	progress = vf_queue_progress(lost);
	/*
	 * The queue is blocked on a value that is not reached before the other queue is
	 * lost.
	 */
	vf_cmd_wait(self->gfx, progress, 5);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_queue_abort(lost));
	EXPECT_TRUE(drained(self->gfx));
	/* Later waits are satisfied at once. */
	vf_cmd_wait(self->copy, progress, UINT64_MAX);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	EXPECT_TRUE(drained(self->copy));
	/* Later signals do not change the value. */
	vf_cmd_signal(self->gfx, progress, 7);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(0, vf_fence_current(progress));
	vf_queue_destroy(lost);
	vf_device_destroy(device);
}

TEST_F(queue, WDDM_205_an_error_aborts_every_doorbell_of_its_device)
{
	struct drm_vfence_packet_header bad = { .opcode = 0xffff, .length = 8 };
	struct vf_device *other;
	struct vf_queue *bystander;
	int ret;

	ASSERT_EQ(0, vf_device_create(self->adapter, &other));
	ASSERT_EQ(0, vf_queue_create(other, DRM_VFENCE_NODE_GFX, 4096, &bystander));
	ASSERT_EQ(0, vf_queue_submit(bystander));
	vf_cmd_raw(self->gfx, &bad, sizeof(bad));
	/* The fault may come before the call returns. The call then reports it. */
	ret = vf_queue_publish(self->gfx);
	EXPECT_TRUE(ret == 0 || ret == -EIO);
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->gfx) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->copy) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) ==
			       DRM_VFENCE_DEVICE_ERROR_DMAFAULT));
	EXPECT_NE(DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT, vf_queue_status(bystander));
	EXPECT_EQ(0, vf_queue_submit(bystander));
	EXPECT_TRUE(drained(bystander));
	vf_queue_destroy(bystander);
	vf_device_destroy(other);
}

TEST_F(queue, a_full_ring_refuses_and_recovers)
{
	struct vf_queue *small;
	unsigned int i;

	ASSERT_EQ(0, vf_queue_create(self->device, 0, 4096, &small));
	vf_cmd_wait(small, self->gate, 1);
	ASSERT_EQ(0, vf_queue_submit(small));
	for (i = 0; i < 4096 / 64; i++)
		vf_cmd_nop(small, 64);
	EXPECT_EQ(-ENOSPC, vf_queue_submit(small));
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	ASSERT_TRUE(drained(small));
	for (i = 0; i < 200; i++) {
		vf_cmd_nop(small, 8 + 8 * (i % 8));
		ASSERT_EQ(0, vf_queue_submit(small));
		ASSERT_TRUE(drained(small));
	}
	vf_queue_destroy(small);
}

TEST_F(queue, WDDM_189_connected_needs_no_ping_nor_any_other_kernel_entry)
{
	struct vf_counters before, after;
	unsigned int i;

	vf_cmd_wait(self->gfx, self->gate, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	/* The first ring faults once. The page stays mapped while the queue is busy. */
	vf_cmd_nop(self->gfx, 8);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	before = counters(self->adapter);
	for (i = 0; i < 100; i++) {
		vf_cmd_nop(self->gfx, 8);
		ASSERT_EQ(0, vf_queue_submit(self->gfx));
	}
	after = counters(self->adapter);
	EXPECT_EQ(before.ioctls, after.ioctls);
	EXPECT_EQ(before.doorbell_faults, after.doorbell_faults);
	EXPECT_EQ(before.page_faults, after.page_faults);
	ASSERT_EQ(0, vf_fence_signal(self->gate, 1));
	EXPECT_TRUE(drained(self->gfx));
}

TEST(WDDM_178_queues_only_on_nodes_with_user_mode_submission)
{
	struct drm_vfence_node_info nodes[8];
	unsigned int n = 8;
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct bare b;

	if (vf_adapter_open(1, &adapter))
		SKIP(return, "needs a second adapter (adapters=2 user_nodes=0xf,0x7)");
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_adapter_nodes(adapter, nodes, &n));
	ASSERT_EQ(5, n);
	EXPECT_TRUE(nodes[2].flags & DRM_VFENCE_NODE_USER_MODE_SUBMISSION);
	EXPECT_FALSE(nodes[3].flags & DRM_VFENCE_NODE_USER_MODE_SUBMISSION);
	EXPECT_EQ(0, bare_queue(&b, device, vf_adapter_fd(adapter), 2));
	EXPECT_EQ(-EOPNOTSUPP, bare_queue(&b, device, vf_adapter_fd(adapter), 3));
	/* The paging node is for the kernel only. */
	EXPECT_EQ(DRM_VFENCE_NODE_PAGING, nodes[4].class_id);
	EXPECT_EQ(-EOPNOTSUPP, bare_queue(&b, device, vf_adapter_fd(adapter), 4));
	EXPECT_EQ(-ENOENT, vf_adapter_find_node(adapter, DRM_VFENCE_NODE_MM));
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_HARNESS_MAIN
