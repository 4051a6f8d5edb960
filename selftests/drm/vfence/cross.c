// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cross-adapter fences between native adapters: each kind of wait on one adapter with
 * each kind of signal on the other (WDDM-105..107). Each variant is a pair of adapters of
 * different shapes.
 */

#include "vfence_test.h"

struct side {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *gfx;
	struct vf_queue *copy;
	struct vf_fence *fence;
};

FIXTURE(cross) {
	struct side d, i;
	int fd;
	int efd;
};

/* The contract's names: the dGPU signals and the iGPU waits. */
FIXTURE_VARIANT(cross) {
	unsigned int d, i;
};

FIXTURE_VARIANT_ADD(cross, plain_to_shaped) {
	.d = 0, .i = 2,
};

FIXTURE_VARIANT_ADD(cross, shaped_to_plain) {
	.d = 2, .i = 0,
};

/* The ring has no room for records: every interrupt is a NULL event. */
FIXTURE_VARIANT_ADD(cross, null_to_plain) {
	.d = 1, .i = 0,
};

/* Interrupts name queues: the driver reads their logs or rescans the fences. */
FIXTURE_VARIANT_ADD(cross, queue_to_plain) {
	.d = 8, .i = 0,
};

FIXTURE_VARIANT_ADD(cross, plain_to_indistinct) {
	.d = 0, .i = 10,
};

static int side_open(struct side *s, unsigned int index)
{
	int ret = vf_adapter_open(index, &s->adapter);

	ret = ret ? ret : vf_device_create(s->adapter, &s->device);
	ret = ret ? ret : vf_queue_create(s->device, DRM_VFENCE_NODE_GFX, 65536, &s->gfx);
	return ret ? ret : vf_queue_create(s->device, DRM_VFENCE_NODE_COPY, 65536, &s->copy);
}

static void side_close(struct side *s)
{
	vf_queue_abort(s->gfx);
	vf_queue_abort(s->copy);
	vf_queue_destroy(s->gfx);
	vf_queue_destroy(s->copy);
	vf_fence_destroy(s->fence);
	vf_device_destroy(s->device);
	vf_adapter_close(s->adapter);
}

#define CROSS (DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER)

FIXTURE_SETUP(cross)
{
	if (access("/sys/bus/platform/devices/vfence.2/drm", F_OK))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_EQ(0, side_open(&self->d, variant->d));
	ASSERT_EQ(0, side_open(&self->i, variant->i));
	ASSERT_EQ(0, vf_fence_create(self->d.device, CROSS, 7, &self->d.fence));
	self->fd = vf_fence_export(self->d.fence);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, vf_fence_open(self->i.device, self->fd, &self->i.fence));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(cross)
{
	close(self->efd);
	close(self->fd);
	side_close(&self->d);
	side_close(&self->i);
}

static bool block(struct side *s, uint64_t value)
{
	vf_cmd_wait(s->copy, s->fence, value);
	return !vf_queue_submit(s->copy) &&
	       EVENTUALLY(queue_state(s->copy) == DRM_VFENCE_QUEUE_BLOCKED);
}

static int gpu_signal(struct side *s, uint64_t value)
{
	vf_cmd_signal(s->gfx, s->fence, value);
	return vf_queue_submit(s->gfx);
}

TEST_F(cross, WDDM_24_102_one_current_value_in_system_memory)
{
	struct vf_counters d = counters(self->d.adapter), i = counters(self->i.adapter);
	struct vf_fence *one, *other, *again, *back;
	int fd;

	EXPECT_EQ(7, vf_fence_current(self->i.fence));
	ASSERT_EQ(0, vf_fence_signal(self->d.fence, 8));
	EXPECT_EQ(8, vf_fence_current(self->i.fence));
	ASSERT_EQ(0, vf_fence_signal(self->i.fence, 9));
	EXPECT_EQ(9, vf_fence_current(self->d.fence));
	ASSERT_EQ(0, gpu_signal(&self->i, 10));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->d.fence) == 10));
	/* A cross-adapter fence is not in video memory, wherever other fences are. */
	ASSERT_EQ(0, vf_fence_create(self->d.device, CROSS, 0, &one));
	fd = vf_fence_export(one);
	ASSERT_EQ(0, vf_fence_open(self->i.device, fd, &other));
	EXPECT_EQ(d.local_pages, counters(self->d.adapter).local_pages);
	EXPECT_EQ(i.local_pages, counters(self->i.adapter).local_pages);
	/* Each adapter creates the fence once, however often it is opened. */
	ASSERT_EQ(0, vf_fence_open(self->i.device, fd, &again));
	ASSERT_EQ(0, vf_fence_open(self->d.device, fd, &back));
	EXPECT_EQ(d.fences_created + 1, counters(self->d.adapter).fences_created);
	EXPECT_EQ(i.fences_created + 1, counters(self->i.adapter).fences_created);
	vf_fence_destroy(again);
	vf_fence_destroy(back);
	vf_fence_destroy(other);
	vf_fence_destroy(one);
	close(fd);
}

TEST_F(cross, WDDM_39_private_data_reaches_other_adapters)
{
	uint8_t bytes[DRM_VFENCE_PRIVATE_DATA];
	struct vf_fence_desc desc = { .flags = CROSS, .private_data = bytes };
	struct vf_fence *mine, *theirs, *again;
	int fd, there;

	memset(bytes, POISON, sizeof(bytes));
	ASSERT_EQ(0, vf_fence_create_desc(self->d.device, &desc, &mine));
	fd = vf_fence_export(mine);
	ASSERT_EQ(0, vf_fence_open(self->i.device, fd, &theirs));
	EXPECT_EQ(0, memcmp(bytes, vf_fence_private_data(theirs), sizeof(bytes)));
	/* A descriptor exported from the other adapter carries that adapter's private data. */
	there = vf_fence_export(theirs);
	ASSERT_EQ(0, vf_fence_open(self->i.device, there, &again));
	EXPECT_EQ(0, memcmp(bytes, vf_fence_private_data(again), sizeof(bytes)));
	vf_fence_destroy(again);
	vf_fence_destroy(theirs);
	vf_fence_destroy(mine);
	close(there);
	close(fd);
}

TEST_F(cross, WDDM_103_104_every_adapter_monitors_at_zero)
{
	struct vf_counters before, after, d;
	unsigned int n;

	EXPECT_EQ(0, monitored(self->d.fence));
	EXPECT_EQ(0, monitored(self->i.fence));
	ASSERT_EQ(0, arm(self->i.adapter, self->i.fence, 1000, self->efd));
	EXPECT_EQ(0, monitored(self->d.fence));
	EXPECT_EQ(0, monitored(self->i.fence));
	/*
	 * No thread waits for these values, and still each signal interrupts. A signal of
	 * 0 does not.
	 */
	before = counters(self->d.adapter);
	for (n = 1; n <= 20; n++)
		ASSERT_EQ(0, gpu_signal(&self->d, n));
	vf_cmd_signal(self->d.gfx, self->d.fence, 0);
	ASSERT_EQ(0, vf_queue_submit(self->d.gfx));
	ASSERT_TRUE(drained(self->d.gfx));
	ASSERT_TRUE(settled(self->d.adapter, &after));
	EXPECT_EQ(before.posts + 20, after.posts);
	EXPECT_EQ(0, monitored(self->d.fence));
	EXPECT_EQ(0, fired_on(self->i.adapter, self->efd));
	/*
	 * Each adapter monitors its own signals only: signals of the other one do not
	 * interrupt.
	 */
	d = counters(self->d.adapter);
	before = counters(self->i.adapter);
	for (n = 1; n <= 20; n++)
		ASSERT_EQ(0, gpu_signal(&self->i, n));
	ASSERT_TRUE(drained(self->i.gfx));
	ASSERT_TRUE(settled(self->i.adapter, &after));
	EXPECT_EQ(before.posts + 20, after.posts);
	EXPECT_EQ(d.posts, counters(self->d.adapter).posts);
	ASSERT_EQ(0, vf_fence_signal(self->d.fence, 1000));
	EXPECT_EQ(1, fired_on(self->i.adapter, self->efd));
	EXPECT_EQ(0, monitored(self->i.fence));
}

TEST_F(cross, WDDM_105_gpu_signal_there_releases_gpu_wait_here)
{
	ASSERT_TRUE(block(&self->i, 10));
	ASSERT_EQ(0, gpu_signal(&self->d, 9));
	ASSERT_TRUE(drained(self->d.gfx));
	EXPECT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(self->i.copy));
	ASSERT_EQ(0, gpu_signal(&self->d, 10));
	EXPECT_TRUE(drained(self->i.copy));
}

TEST_F(cross, WDDM_106_gpu_signal_there_completes_cpu_wait_here)
{
	ASSERT_EQ(0, arm(self->i.adapter, self->i.fence, 10, self->efd));
	ASSERT_EQ(0, gpu_signal(&self->d, 10));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_EQ(0, gpu_signal(&self->d, 11));
	EXPECT_EQ(0, vf_fence_wait(self->i.fence, 11, DEADLINE));
}

TEST_F(cross, WDDM_107_cpu_signal_there_releases_both_here)
{
	ASSERT_TRUE(block(&self->i, 10));
	ASSERT_EQ(0, arm(self->i.adapter, self->i.fence, 10, self->efd));
	ASSERT_EQ(0, vf_fence_signal(self->d.fence, 10));
	/* When the call returns, it has completed the waiters of all adapters. */
	EXPECT_EQ(1, fired_on(self->i.adapter, self->efd));
	EXPECT_TRUE(drained(self->i.copy));
}

/* Make a queue and a CPU waiter of @s wait for @value. */
static bool await(struct side *s, uint64_t value, int efd)
{
	return block(s, value) && !arm(s->adapter, s->fence, value, efd);
}

static bool released(struct side *s, int efd)
{
	return drained(s->copy) && EVENTUALLY(fired(efd)) &&
	       read(efd, &(uint64_t){ 0 }, 8) == 8;
}

TEST_F(cross, WDDM_105_106_107_a_signal_reaches_every_other_adapter)
{
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct side third;

	ASSERT_EQ(0, side_open(&third, 11));
	ASSERT_EQ(0, vf_fence_open(third.device, self->fd, &third.fence));
	/* Signal by a GPU, by the CPU, and by the adapter that opened the fence last. */
	ASSERT_TRUE(await(&self->i, 10, self->efd) && await(&third, 10, efd));
	ASSERT_EQ(0, gpu_signal(&self->d, 10));
	EXPECT_TRUE(released(&self->i, self->efd));
	EXPECT_TRUE(released(&third, efd));
	ASSERT_TRUE(await(&self->i, 20, self->efd) && await(&third, 20, efd));
	ASSERT_EQ(0, vf_fence_signal(self->d.fence, 20));
	EXPECT_EQ(1, fired_on(self->i.adapter, self->efd));
	EXPECT_EQ(1, fired_on(third.adapter, efd));
	EXPECT_TRUE(released(&self->i, self->efd));
	EXPECT_TRUE(released(&third, efd));
	ASSERT_TRUE(await(&self->i, 30, self->efd) && await(&self->d, 30, efd));
	ASSERT_EQ(0, gpu_signal(&third, 30));
	EXPECT_TRUE(released(&self->i, self->efd));
	EXPECT_TRUE(released(&self->d, efd));
	side_close(&third);
	close(efd);
}

TEST_F(cross, WDDM_105_106_no_signal_is_lost_when_many_come_at_once)
{
	char cmp[32];
	unsigned int n;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_TRUE(await(&self->i, 100, self->efd));
	/* The CMP must write all records before the thread of the interrupt handles one. */
	snprintf(cmp, sizeof(cmp), "vfence%u-cmp", variant->d);
	each_kthread(cmp, hurry, 60);
	/*
	 * The highest value is not the last one, and the fence ends with another value
	 * than these.
	 */
	ASSERT_EQ(0, inject(variant->d, "hold_posts", "1"));
	for (n = 11; n < 40; n++)
		vf_cmd_signal(self->d.gfx, self->d.fence, n == 36 ? 100 : n);
	vf_cmd_signal(self->d.gfx, self->d.fence, 0);
	ASSERT_EQ(0, vf_queue_submit(self->d.gfx));
	ASSERT_TRUE(drained(self->d.gfx));
	ASSERT_EQ(0, inject(variant->d, "hold_posts", "0"));
	/* An interrupt reports the signals: at the latest the one of this signal. */
	ASSERT_EQ(0, gpu_signal(&self->d, 1));
	EXPECT_TRUE(released(&self->i, self->efd));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->i.fence) == 1));
	/* As it was: real-time, with the lowest priority. */
	each_kthread(cmp, hurry, 1);
}

TEST_F(cross, WDDM_108_within_one_adapter_it_is_as_ever)
{
	struct vf_fence *back;
	uint64_t n;

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, vf_fence_create(self->d.device, CROSS, 0, &back));
	/* Interrupts are held back, so the CPU learns of no signal. */
	ASSERT_EQ(0, inject(variant->d, "hold_posts", "1"));
	for (n = 8; n < 108; n++) {
		vf_cmd_signal(self->d.gfx, self->d.fence, n);
		vf_cmd_wait(self->d.gfx, back, n);
		vf_cmd_wait(self->d.copy, self->d.fence, n);
		vf_cmd_signal(self->d.copy, back, n);
	}
	ASSERT_EQ(0, vf_queue_submit(self->d.gfx));
	ASSERT_EQ(0, vf_queue_submit(self->d.copy));
	EXPECT_TRUE(drained(self->d.gfx));
	EXPECT_TRUE(drained(self->d.copy));
	EXPECT_EQ(0, inject(variant->d, "hold_posts", "0"));
	ASSERT_EQ(0, vf_fence_signal(back, 0));
	vf_fence_destroy(back);
}

TEST_F(cross, WDDM_65_a_notification_stores_nothing)
{
	ASSERT_TRUE(block(&self->i, 10));
	ASSERT_EQ(0, arm(self->i.adapter, self->i.fence, 10, self->efd));
	/* A pulse releases the blocked queue, and the fence keeps its value. */
	vf_cmd_signal(self->d.gfx, self->d.fence, 10);
	vf_cmd_signal(self->d.gfx, self->d.fence, 3);
	ASSERT_EQ(0, vf_queue_submit(self->d.gfx));
	EXPECT_TRUE(drained(self->d.gfx));
	EXPECT_TRUE(drained(self->i.copy));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(3, vf_fence_current(self->i.fence));
	EXPECT_EQ(3, vf_fence_current(self->d.fence));
}

TEST_F(cross, what_was_rewound_elsewhere_is_no_news_to_later_waits)
{
	struct vf_counters c;

	if (geteuid())
		SKIP(return, "needs root");
	/*
	 * This adapter signals, the other one rewinds, and the interrupt of the signal
	 * comes last.
	 */
	ASSERT_EQ(0, inject(variant->i, "hold_posts", "1"));
	ASSERT_EQ(0, gpu_signal(&self->i, 10));
	ASSERT_TRUE(drained(self->i.gfx));
	ASSERT_EQ(0, vf_fence_signal(self->d.fence, 0));
	ASSERT_EQ(0, arm(self->d.adapter, self->d.fence, 5, self->efd));
	ASSERT_EQ(0, inject(variant->i, "hold_posts", "0"));
	ASSERT_EQ(0, gpu_signal(&self->i, 1));
	ASSERT_TRUE(drained(self->i.gfx));
	ASSERT_TRUE(settled(self->i.adapter, &c));
	EXPECT_EQ(0, fired_on(self->d.adapter, self->efd));
	ASSERT_EQ(0, gpu_signal(&self->i, 5));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
}

TEST_F(cross, who_looks_later_tells_no_old_news)
{
	struct vf_counters c;
	struct vf_fence *again;

	vf_cmd_signal(self->d.gfx, self->d.fence, 10);
	vf_cmd_signal(self->d.gfx, self->d.fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->d.gfx));
	ASSERT_TRUE(drained(self->d.gfx));
	ASSERT_TRUE(settled(self->d.adapter, &c));
	ASSERT_TRUE(block(&self->i, 5));
	/* A new waiter and a closed handle both make the driver sample the fence. */
	ASSERT_EQ(0, vf_fence_open(self->d.device, self->fd, &again));
	ASSERT_EQ(0, arm(self->d.adapter, again, 100, self->efd));
	vf_fence_destroy(again);
	EXPECT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(self->i.copy));
	ASSERT_EQ(0, gpu_signal(&self->d, 5));
	EXPECT_TRUE(drained(self->i.copy));
}

TEST_F(cross, a_log_that_names_a_handle_without_rights_tells_to_look)
{
	struct drm_vfence_packet_signal signal = {
		.header = { .opcode = DRM_VFENCE_OP_FENCE_SIGNAL, .length = sizeof(signal) },
		.current_va = vf_fence_mapping(self->d.fence)->current_va,
		.monitored_va = vf_fence_mapping(self->d.fence)->monitored_va,
		.value = 10,
	};
	struct drm_vfence_packet_log log = {
		.header = { .opcode = DRM_VFENCE_OP_LOG, .length = sizeof(log) },
		.value = 10,
		.operation = DRM_VFENCE_LOG_SIGNAL_EXECUTED,
	};
	struct vf_fence *weak;
	struct vf_queue *queue;
	int fd;

	fd = vf_fence_export_rights(self->d.fence, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, vf_fence_open(self->d.device, fd, &weak));
	close(fd);
	ASSERT_EQ(0, vf_queue_create(self->d.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_TRUE(block(&self->i, 10));
	ASSERT_EQ(0, arm(self->i.adapter, self->i.fence, 10, self->efd));
	/*
	 * The addresses are those of the handle with the right. The log names the other
	 * handle.
	 */
	log.log_va = vf_queue_info(queue)->signal_log_va;
	log.fence = vf_fence_handle(weak);
	vf_cmd_raw(queue, &signal, sizeof(signal));
	vf_cmd_raw(queue, &log, sizeof(log));
	ASSERT_EQ(0, vf_queue_publish(queue));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(drained(self->i.copy));
	vf_queue_destroy(queue);
	vf_fence_destroy(weak);
}

TEST_F(cross, WDDM_34_45_only_default_fences_and_only_shareable_ones)
{
	struct vf_fence_desc desc = { .flags = CROSS, .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_fence *fence;
	int fd;

	EXPECT_EQ(-EINVAL, vf_fence_create_desc(self->d.device, &desc, &fence));
	EXPECT_EQ(-EINVAL, vf_fence_create(self->d.device, DRM_VFENCE_FENCE_CROSS_ADAPTER, 0,
					   &fence));
	/*
	 * A fence that is not created as a cross-adapter fence cannot be opened on
	 * another adapter.
	 */
	ASSERT_EQ(0, vf_fence_create(self->d.device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	fd = vf_fence_export(fence);
	vf_fence_destroy(fence);
	EXPECT_EQ(-EINVAL, vf_fence_open(self->i.device, fd, &fence));
	close(fd);
}

TEST_F(cross, rights_hold_on_the_other_adapter_too)
{
	int fd = vf_fence_export_rights(self->i.fence,
					DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	struct vf_fence *again;
	struct side other;

	ASSERT_LE(0, fd);
	/* Open the fence on the first adapter again, in another file. */
	ASSERT_EQ(0, vf_adapter_open(variant->d, &other.adapter));
	ASSERT_EQ(0, vf_device_create(other.adapter, &other.device));
	ASSERT_EQ(0, vf_fence_open(other.device, fd, &again));
	EXPECT_EQ(7, vf_fence_current(again));
	EXPECT_EQ(-EACCES, vf_fence_signal(again, 8));
	EXPECT_EQ(0, vf_fence_wait(again, 7, 0));
	vf_fence_destroy(again);
	vf_device_destroy(other.device);
	vf_adapter_close(other.adapter);
	close(fd);
}

TEST_F(cross, a_queue_goes_on_waiting_after_its_handle_is_closed)
{
	uint64_t destroyed = counters(self->i.adapter).fences_destroyed;

	ASSERT_TRUE(block(&self->i, 10));
	close(self->fd);
	self->fd = -1;
	/*
	 * This adapter has no handle of the fence any more, but the other adapter may
	 * still signal it.
	 */
	vf_fence_destroy(self->i.fence);
	self->i.fence = NULL;
	EXPECT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(self->i.copy));
	ASSERT_EQ(0, vf_fence_signal(self->d.fence, 9));
	EXPECT_EQ(DRM_VFENCE_QUEUE_BLOCKED, queue_state(self->i.copy));
	ASSERT_EQ(0, gpu_signal(&self->d, 10));
	EXPECT_TRUE(drained(self->i.copy));
	/* The last handle ends the fence on all adapters. */
	EXPECT_EQ(destroyed, counters(self->i.adapter).fences_destroyed);
	vf_fence_destroy(self->d.fence);
	self->d.fence = NULL;
	EXPECT_TRUE(EVENTUALLY(counters(self->i.adapter).fences_destroyed == destroyed + 1));
}

TEST_F(cross, a_queue_whose_handle_is_closed_can_be_aborted)
{
	ASSERT_TRUE(block(&self->i, 10));
	vf_fence_destroy(self->i.fence);
	self->i.fence = NULL;
	ASSERT_EQ(0, vf_queue_abort(self->i.copy));
	EXPECT_EQ(DRM_VFENCE_QUEUE_ABORTED, queue_state(self->i.copy));
	ASSERT_EQ(0, gpu_signal(&self->d, 10));
	EXPECT_TRUE(drained(self->d.gfx));
}

TEST_F(cross, the_creator_goes_and_the_others_stay)
{
	ASSERT_EQ(0, arm(self->i.adapter, self->i.fence, 10, self->efd));
	close(self->fd);
	self->fd = -1;
	vf_fence_destroy(self->d.fence);
	self->d.fence = NULL;
	EXPECT_EQ(0, fired_on(self->i.adapter, self->efd));
	EXPECT_EQ(7, vf_fence_current(self->i.fence));
	ASSERT_EQ(0, gpu_signal(&self->i, 10));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(10, vf_fence_current(self->i.fence));
}

TEST_F(cross, a_signal_reaches_the_others_though_the_signaler_goes_at_once)
{
	unsigned int n;

	for (n = 0; n < 50; n++) {
		struct vf_fence *mine, *theirs;
		struct vf_point point;
		int fd, efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

		ASSERT_EQ(0, vf_fence_create(self->d.device, CROSS, 0, &mine));
		fd = vf_fence_export(mine);
		ASSERT_EQ(0, vf_fence_open(self->i.device, fd, &theirs));
		close(fd);
		point = (struct vf_point){ theirs, 5 };
		ASSERT_EQ(0, vf_event_arm(self->i.adapter, &point, 1, 0, efd, NULL));
		vf_cmd_signal(self->d.gfx, mine, 5);
		ASSERT_EQ(0, vf_queue_submit(self->d.gfx));
		ASSERT_TRUE(AT_ONCE(vf_fence_current(mine) == 5));
		vf_fence_destroy(mine);
		EXPECT_TRUE(EVENTUALLY(fired(efd)));
		vf_fence_destroy(theirs);
		close(efd);
	}
}

TEST_F(cross, the_last_holder_anywhere_ends_the_waits)
{
	ASSERT_EQ(0, arm(self->i.adapter, self->i.fence, 10, self->efd));
	close(self->fd);
	self->fd = -1;
	vf_fence_destroy(self->d.fence);
	self->d.fence = NULL;
	EXPECT_EQ(0, fired_on(self->i.adapter, self->efd));
	vf_fence_destroy(self->i.fence);
	self->i.fence = NULL;
	EXPECT_TRUE(fired(self->efd));
}

TEST_F(cross, an_adapter_that_goes_leaves_the_fence_to_the_others)
{
	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, arm(self->i.adapter, self->i.fence, 10, self->efd));
	ASSERT_EQ(0, driver("unbind", variant->d));
	EXPECT_EQ(0, fired_on(self->i.adapter, self->efd));
	EXPECT_EQ(-ENODEV, vf_fence_signal(self->d.fence, 10));
	ASSERT_TRUE(block(&self->i, 12));
	ASSERT_EQ(0, gpu_signal(&self->i, 10));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	ASSERT_EQ(0, vf_fence_signal(self->i.fence, 12));
	EXPECT_TRUE(drained(self->i.copy));
	/* The unbound adapter has set its mapping of the value to the maximum. */
	EXPECT_EQ(UINT64_MAX, vf_fence_current(self->d.fence));
	EXPECT_EQ(12, vf_fence_current(self->i.fence));
	EXPECT_EQ(0, driver("bind", variant->d));
}

TEST_HARNESS_MAIN
