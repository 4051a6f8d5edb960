// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets of the whole adapter. Each test leaves new adapters behind.
 */

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "recovery_test.h"

/* Adapter 2 has values in video memory. */
#define LOCAL	2

FIXTURE(whole) {
	VFENCE_MEMBERS;
	struct vf_counters before;
	struct vf_fence *fence;
	int efd;
	int log;
};

FIXTURE_SETUP(whole)
{
	if (geteuid() || access("/sys/bus/platform/devices/vfence.2/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	VFENCE_SETUP(LOCAL);
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR, 0,
				     &self->fence));
	self->before = counters(self->adapter);
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	self->log = kernel_log();
	ASSERT_LE(0, self->log);
}

FIXTURE_TEARDOWN(whole)
{
	close(self->log);
	close(self->efd);
	vf_fence_destroy(self->fence);
	VFENCE_TEARDOWN();
	EXPECT_EQ(0, driver("unbind", LOCAL));
	EXPECT_EQ(0, driver("bind", LOCAL));
	/* TDR-15: whatever has happened, the adapter works after it was bound again. */
	VFENCE_SETUP(LOCAL);
	EXPECT_TRUE(working(self->adapter));
	VFENCE_TEARDOWN();
}

TEST_F(whole, WDDM_158_170_171_173_all_devices_are_reset_and_new_ones_work)
{
	static char text[16384];
	struct vf_device *device, *empty;
	struct vf_fence *fence, *lone;
	struct vf_counters after;
	struct vf_queue *queue;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	/* This device has no queue. */
	ASSERT_EQ(0, vf_device_create(self->adapter, &empty));
	ASSERT_EQ(0, vf_fence_create(empty, 0, 0, &lone));
	ASSERT_EQ(0, arm(self->adapter, lone, 5, self->efd));
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_TRUE(release_dump(LOCAL));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));

	/* WDDM-167: what hung was collected before. */
	if (!access(DUMPS, F_OK)) {
		EXPECT_TRUE(EVENTUALLY(read_dump(LOCAL, text, sizeof(text)) > 0));
		EXPECT_NE(NULL, strstr(text, "\nadapter: vfence2\nreason: 0x117\ntype: 1\nnode: 0\n"));
		EXPECT_TRUE(release_dump(LOCAL));
	}
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(self->device));
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(empty));
	EXPECT_EQ(-EIO, vf_queue_create(self->device, 0, 4096, &queue));
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->copy) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_ABORTED));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(fence) == UINT64_MAX));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(lone) == UINT64_MAX));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(-EIO, vf_fence_wait(vf_queue_progress(self->gfx), 1, DEADLINE));

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	vf_cmd_signal(queue, self->fence, 3);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_EQ(0, vf_fence_wait(self->fence, 3, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_fence_destroy(lone);
	vf_device_destroy(empty);
	vf_fence_destroy(fence);
}

/* The context leaves its engine when the driver has lost its patience, and is not reset. */
TEST_F(whole, WDDM_144_a_context_that_has_left_is_not_reset)
{
	struct vf_counters after;

	ASSERT_EQ(0, tdr_configure(LOCAL, "delay_ms", "100"));
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(LOCAL, "ignore_suspend", "1"));
	ASSERT_EQ(0, inject(LOCAL, "finish_before_snapshot", "1"));
	EXPECT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	ASSERT_EQ(0, inject(LOCAL, "ignore_suspend", "0"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.false_alarms + 1, after.false_alarms);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_EQ(0, vf_queue_resume(self->gfx));
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
}

/* Work that waits in a ring when the adapter is reset is never executed. */
TEST_F(whole, WDDM_172_queued_work_of_before_is_cancelled)
{
	struct vf_device *device, *innocent;
	struct vf_queue *behind, *later;
	struct vf_buffer *buffer;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	ASSERT_EQ(0, vf_device_create(self->adapter, &innocent));
	ASSERT_EQ(0, vf_queue_create(innocent, DRM_VFENCE_NODE_GFX, 4096, &behind));
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_fill(behind, vf_buffer_va(buffer), 4096, 0x55);
	ASSERT_EQ(0, vf_queue_submit(behind));
	ASSERT_TRUE(EVENTUALLY(queue_state(behind) == DRM_VFENCE_QUEUE_READY));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	/* The engine has had its chance when it executes new work. */
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &later));
	ASSERT_EQ(0, vf_queue_submit(later));
	EXPECT_TRUE(drained(later));
	EXPECT_TRUE(EVENTUALLY(queue_state(behind) == DRM_VFENCE_QUEUE_ABORTED));
	EXPECT_EQ(0, *(uint32_t *)vf_buffer_map(buffer));
	vf_queue_destroy(later);
	vf_device_destroy(device);
	vf_queue_destroy(behind);
	vf_device_destroy(innocent);
	vf_buffer_destroy(buffer);
}

TEST_F(whole, WDDM_158_TDR_07_a_reset_completes_all_ids_of_all_nodes)
{
	struct step step[32];
	unsigned int i;

	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_EQ(0, hang_on(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING &&
			       queue_state(self->copy) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	/* Resets of idle engines tell the ids. */
	if (trace_recovery("1"))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, inject(LOCAL, "reset_engine", "0"));
	ASSERT_EQ(0, inject(LOCAL, "reset_engine", "2"));
	EXPECT_EQ(0, write_text(TRACING "events/vfence/vfence_recovery/enable", "0"));
	ASSERT_EQ(16, traced(step, 32));
	for (i = 0; i < 16; i++) {
		EXPECT_LT(0, step[i].submitted);
		EXPECT_EQ(step[i].submitted, step[i].completed);
	}
	EXPECT_TRUE(working(self->adapter));
}

/* The monitored value was in video memory. */
TEST_F(whole, WDDM_160_a_wait_outlives_the_loss_of_video_memory)
{
	int later_efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct vf_queue *queue, *later_queue;
	uint64_t events = 0, more;
	struct vf_counters after;
	struct vf_device *device;
	struct vf_fence *fence[6];
	struct client later;
	unsigned int i;

	ASSERT_LT(0, self->before.local_pages);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->efd));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	after = counters(self->adapter);
	EXPECT_EQ(0, after.local_pages);
	EXPECT_EQ(self->before.evictions + self->before.local_pages, after.evictions);
	EXPECT_FALSE(fired(self->efd));
	EXPECT_EQ(0, vf_fence_current(self->fence));

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	vf_cmd_signal(queue, self->fence, 4);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	EXPECT_FALSE(fired(self->efd));
	vf_cmd_signal(queue, self->fence, 5);
	ASSERT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));

	/* The page belongs to another client now, whose values no wait of this one changes. */
	ASSERT_EQ(0, vf_adapter_open(LOCAL, &later.adapter));
	ASSERT_EQ(0, vf_device_create(later.adapter, &later.device));
	ASSERT_EQ(0, vf_queue_create(later.device, DRM_VFENCE_NODE_GFX, 4096, &later_queue));
	for (i = 0; i < ARRAY_SIZE(fence); i++) {
		ASSERT_EQ(0, vf_fence_create(later.device, 0, 0, &fence[i]));
		ASSERT_EQ(0, arm(later.adapter, fence[i], 5, later_efd));
	}
	after = counters(self->adapter);
	EXPECT_LT(0, after.local_pages);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 1000, self->efd));
	EXPECT_EQ(999, monitored(self->fence));
	for (i = 0; i < ARRAY_SIZE(fence); i++) {
		EXPECT_EQ(4, monitored(fence[i]));
		vf_cmd_signal(later_queue, fence[i], 5);
	}
	ASSERT_EQ(0, vf_queue_submit(later_queue));
	EXPECT_TRUE(EVENTUALLY((events += read(later_efd, &more, 8) == 8 ? more : 0) ==
			       ARRAY_SIZE(fence)));
	close(later_efd);
	for (i = 0; i < ARRAY_SIZE(fence); i++)
		vf_fence_destroy(fence[i]);
	vf_queue_destroy(later_queue);
	vf_device_destroy(later.device);
	vf_adapter_close(later.adapter);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
}

TEST_F(whole, WDDM_154_TDR_09_a_paging_packet_that_hangs_takes_the_adapter_along)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct vf_counters after;
	struct vf_submit nothing = { 0 };
	struct vf_queue *queue;
	struct vf_fence *fence;
	struct client later;

	ASSERT_EQ(0, tdr_configure(LOCAL, "delay_ms", "100"));
	ASSERT_EQ(0, inject(LOCAL, "hang_paging", "1"));
	/* The call clears a page of video memory, or would. */
	if (!vf_fence_create_desc(self->device, &desc, &fence))
		vf_fence_destroy(fence);
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_RESET));
	ASSERT_EQ(0, inject(LOCAL, "hang_paging", "0"));

	/* The kernel's own ring works again, for a client without pages in system memory. */
	ASSERT_EQ(0, vf_adapter_open(LOCAL, &later.adapter));
	ASSERT_EQ(0, vf_device_create(later.adapter, &later.device));
	ASSERT_EQ(0, vf_fence_create_desc(later.device, &desc, &fence));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_LT(0, after.local_pages);
	/* So do the engines of this chip, which were to report nothing while theirs was reset. */
	ASSERT_EQ(0, vf_kernel_queue_create(later.device, DRM_VFENCE_NODE_COPY, &queue));
	vf_cmd_draw(queue, 1, 1000);
	ASSERT_EQ(0, vf_submit(&queue, 1, &nothing));
	EXPECT_TRUE(drained(queue));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(later.device));
	vf_queue_destroy(queue);
	vf_fence_destroy(fence);
	vf_device_destroy(later.device);
	vf_adapter_close(later.adapter);
	EXPECT_TRUE(working(self->adapter));
}

/* Threads of the test write a switch, and may be looked at meanwhile. */
struct call {
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_queue *queue;
	const char *name, *value;
	pid_t tid;
	int ret;
	uint32_t state;
};

static void *write_thread(void *arg)
{
	struct call *call = arg;

	__atomic_store_n(&call->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	call->ret = inject(LOCAL, call->name, call->value);
	return NULL;
}

static void *suspend_thread(void *arg)
{
	struct call *call = arg;

	__atomic_store_n(&call->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	call->ret = vf_queue_suspend(call->queue, NULL);
	return NULL;
}

static void *device_thread(void *arg)
{
	struct call *call = arg;
	struct vf_device *device;

	__atomic_store_n(&call->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	call->ret = vf_device_create(call->adapter, &device);
	call->state = call->ret ? 0 : vf_device_state(device);
	if (!call->ret)
		vf_device_destroy(device);
	return NULL;
}

/* The call clears a page of video memory, which is work for the kernel's own ring. */
static void *paging_thread(void *arg)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct call *call = arg;
	struct vf_fence *fence;

	__atomic_store_n(&call->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	call->ret = vf_fence_create_desc(call->device, &desc, &fence);
	if (!call->ret)
		vf_fence_destroy(fence);
	__atomic_store_n(&call->tid, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* Is a packet of the kernel's ring on its engine? The thread that needs it does not submit it. */
static bool paging_runs(void)
{
	uint64_t turn = 0;

	return find_state(LOCAL, "engine=4 ", "", "turn=", &turn) && turn;
}

/* The kernel's own ring has no process, and its packets have addresses of the kernel. */
TEST_F(whole, TDR_13_a_dump_of_the_kernels_own_ring_has_no_packets)
{
	static char text[16384];
	struct call paging = {};
	struct client other;
	pthread_t thread;
	char line[32];

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_EQ(0, vf_adapter_open(LOCAL, &other.adapter));
	ASSERT_EQ(0, vf_device_create(other.adapter, &other.device));
	/* The dump before it names a process. */
	ASSERT_TRUE(release_dump(LOCAL));
	ASSERT_EQ(0, hang_on(self->copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(LOCAL, "reset_engine", "2"));
	snprintf(line, sizeof(line), "\nprocess: %d\n", getpid());
	EXPECT_TRUE(dump_says(LOCAL, line));

	paging.device = other.device;
	ASSERT_EQ(0, inject(LOCAL, "hang_paging", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, paging_thread, &paging));
	ASSERT_TRUE(EVENTUALLY(paging_runs()));
	ASSERT_EQ(0, inject(LOCAL, "reset_engine", "4"));
	ASSERT_EQ(0, inject(LOCAL, "hang_paging", "0"));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_TRUE(EVENTUALLY(read_dump(LOCAL, text, sizeof(text)) > 0));
	EXPECT_NE(NULL, strstr(text, "\nnode: 4\n"));
	EXPECT_NE(NULL, strstr(text, "\ncontext: 0\n"));
	EXPECT_NE(NULL, strstr(text, "\nprocess: 0\ncommand: \n"));
	EXPECT_EQ(NULL, strstr(text, "\nread_ptr: "));
	EXPECT_EQ(NULL, strstr(text, "\nring:\n"));
	EXPECT_TRUE(release_dump(LOCAL));
	client_close(&other);
}

/*
 * The engines of COMPUTE, MM and the kernel's ring are reset together. While the reset of COMPUTE
 * waits for a packet on MM, the kernel has a packet.
 */
TEST_F(whole, WDDM_152_a_paging_packet_that_the_reset_does_not_reach_is_executed)
{
	struct call reset = { .name = "reset_engine", .value = "1" };
	struct vf_queue *compute, *mm;
	struct vf_counters after;
	struct call paging = {};
	pthread_t thread[2];
	struct client other;
	int64_t begun;

	ASSERT_EQ(0, vf_adapter_open(LOCAL, &other.adapter));
	ASSERT_EQ(0, vf_device_create(other.adapter, &other.device));
	paging.device = other.device;
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, inject(LOCAL, "ignore_suspend", "1"));
	ASSERT_EQ(0, hang_on(compute));
	vf_cmd_draw(mm, 1, 3 * SECOND / 10);
	ASSERT_EQ(0, vf_queue_publish(mm));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING &&
			       queue_state(compute) == DRM_VFENCE_QUEUE_RUNNING));

	begun = vf_deadline(0);
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, write_thread, &reset));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&reset.tid, SYS_write)));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, paging_thread, &paging));
	ASSERT_EQ(0, pthread_join(thread[1], NULL));
	/* The reset, and with it the packet, had to wait for MM. */
	if (deterministic())
		EXPECT_LE(SECOND / 4, vf_deadline(0) - begun);
	EXPECT_EQ(0, paging.ret);
	ASSERT_EQ(0, pthread_join(thread[0], NULL));
	EXPECT_EQ(0, reset.ret);
	EXPECT_TRUE(drained(mm));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets + 1, after.engine_resets);
	EXPECT_EQ(self->before.adapter_resets, after.adapter_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(other.device));
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
	client_close(&other);
}

/* Here the kernel's packet is what the reset of the other engine takes along. */
TEST_F(whole, WDDM_148_154_a_paging_packet_on_a_dependent_engine_takes_the_adapter_along)
{
	struct call paging = { .device = self->device };
	struct vf_counters after;
	pthread_t thread;

	ASSERT_EQ(0, inject(LOCAL, "hang_paging", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, paging_thread, &paging));
	ASSERT_TRUE(EVENTUALLY(paging_runs()));
	/* On return the adapter has been reset, and only then the kernel stops waiting. */
	ASSERT_EQ(0, inject(LOCAL, "reset_engine", "1"));
	EXPECT_TRUE(EVENTUALLY(!__atomic_load_n(&paging.tid, __ATOMIC_ACQUIRE)));
	ASSERT_EQ(0, inject(LOCAL, "hang_paging", "0"));
	/* If not, let it go. */
	if (__atomic_load_n(&paging.tid, __ATOMIC_ACQUIRE))
		inject(LOCAL, "reset_adapter", "1");
	ASSERT_EQ(0, pthread_join(thread, NULL));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(working(self->adapter));
}

TEST_F(whole, WDDM_177_a_page_fault_may_request_the_reset_of_the_adapter)
{
	struct vf_device *device, *innocent;
	struct vf_counters after;
	struct vf_queue *queue, *copy;

	ASSERT_EQ(0, vf_device_create(self->adapter, &innocent));
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	/* Without a request it costs the device alone. */
	fault_on(queue);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets, after.adapter_resets);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_TRUE(working(self->adapter));

	/* WDDM-169: the dump tells why, if there is something else on an engine to tell of. */
	ASSERT_TRUE(release_dump(LOCAL));
	ASSERT_EQ(0, vf_queue_create(innocent, DRM_VFENCE_NODE_COPY, 4096, &copy));
	vf_cmd_draw(copy, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(copy));
	ASSERT_TRUE(EVENTUALLY(queue_state(copy) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(LOCAL, "page_fault_flags", "0x4"));
	fault_on(self->gfx);
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	if (!access(DUMPS, F_OK))
		EXPECT_TRUE(dump_says(LOCAL, "\nreason: 0x117\ntype: 10\n"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(innocent) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(self->device));
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
	vf_queue_destroy(copy);
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_device_destroy(innocent);
}

/* The interrupt ring of this adapter has no room: faults of queues are found by a scan. */
#define SCANNED	9

TEST_F(whole, WDDM_177_a_device_with_a_page_fault_keeps_its_own_error)
{
	struct vf_counters before;
	struct vf_queue *queue;
	struct client late;

	ASSERT_EQ(0, vf_adapter_open(SCANNED, &late.adapter));
	ASSERT_EQ(0, vf_device_create(late.adapter, &late.device));
	ASSERT_EQ(0, vf_queue_create(late.device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	before = counters(late.adapter);
	ASSERT_EQ(0, inject(SCANNED, "page_fault_flags", "0x4"));
	fault_on(queue);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(late.device) != DRM_VFENCE_DEVICE_ACTIVE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(late.device));
	EXPECT_TRUE(EVENTUALLY(counters(late.adapter).adapter_resets ==
			       before.adapter_resets + 1));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(late.device));
	ASSERT_EQ(0, inject(SCANNED, "page_fault_flags", "0x0"));
	EXPECT_TRUE(EVENTUALLY(working(late.adapter)));
	vf_queue_destroy(queue);
	client_close(&late);
}

TEST_F(whole, WDDM_177_a_page_fault_may_be_fatal)
{
	struct vf_device *device, *innocent;

	ASSERT_EQ(0, vf_device_create(self->adapter, &innocent));
	ASSERT_EQ(0, inject(LOCAL, "page_fault_flags", "0x10"));
	fault_on(self->gfx);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(innocent) == DRM_VFENCE_DEVICE_STOPPED));
	EXPECT_NE(0, vf_device_create(self->adapter, &device));
	EXPECT_EQ(self->before.adapter_resets, counters(self->adapter).adapter_resets);
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "0x119")));
	vf_device_destroy(innocent);
}

/* Who is being suspended when something else makes the adapter be reset did nothing wrong. */
TEST_F(whole, WDDM_174_TDR_11_a_suspension_is_no_guilt)
{
	struct call suspend = { .queue = self->gfx };
	pthread_t thread;

	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(LOCAL, "ignore_suspend", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, suspend_thread, &suspend));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&suspend.tid, SYS_ioctl)));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(self->device));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, suspend.ret);
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(self->device));
}

TEST_F(whole, WDDM_159_a_reset_waits_for_calls_and_calls_wait_for_a_reset)
{
	struct call stay = { .name = "stay_ms", .value = "900" };
	struct call reset = { .name = "reset_adapter", .value = "1" };
	struct call create = { .adapter = self->adapter };
	pthread_t thread[3];
	int64_t begun;

	/* TdrDdiDelay limits that, and TdrDelay does not. */
	ASSERT_EQ(0, tdr_configure(LOCAL, "delay_ms", "100"));
	begun = vf_deadline(0);
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, write_thread, &stay));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&stay.tid, SYS_write)));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, write_thread, &reset));
	/* The reset has begun, and does not end before the thread has left the driver. */
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&reset.tid, SYS_write)));
	ASSERT_EQ(0, pthread_create(&thread[2], NULL, device_thread, &create));
	ASSERT_EQ(0, pthread_join(thread[1], NULL));
	EXPECT_LE(900 * 1000000ll, vf_deadline(0) - begun);
	ASSERT_EQ(0, pthread_join(thread[2], NULL));
	ASSERT_EQ(0, pthread_join(thread[0], NULL));
	EXPECT_EQ(0, stay.ret);
	EXPECT_EQ(0, reset.ret);
	/* The device was created after the reset: it did not see half of it. */
	EXPECT_EQ(0, create.ret);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, create.state);
	EXPECT_TRUE(working(self->adapter));
}

/* A call on an object of the client, and when it returned. */
struct object_call {
	int fd;
	/* A query, or 0 for the destruction of an object of @type. */
	bool is_query;
	uint32_t type, handle;
	int64_t ended;
	int ret;
	pthread_t thread;
};

static void *object_thread(void *arg)
{
	struct object_call *call = arg;
	uint64_t info[16];

	call->ret = call->is_query ?
		query_object(call->fd, call->type, call->handle, info, sizeof(info)) :
		destroy_object(call->fd, (enum drm_vfence_object)call->type, call->handle);
	call->ended = vf_deadline(0);
	return NULL;
}

TEST_F(whole, WDDM_159_objects_are_left_alone_during_a_reset)
{
	struct call stay = { .name = "stay_ms", .value = "900" };
	struct call reset = { .name = "reset_adapter", .value = "1" };
	int fd = vf_adapter_fd(self->adapter), efd = eventfd(0, EFD_CLOEXEC);
	struct drm_vfence_context_create context = { .device = vf_device_handle(self->device) };
	struct vf_fence *fence, *awaited;
	pthread_t thread[2];
	struct vf_point point;
	uint32_t event;
	unsigned int i;
	int64_t begun;

	ASSERT_EQ(0, raw(fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &awaited));
	point = (struct vf_point){ awaited, 1 };
	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, &event));
	struct object_call call[] = {
		{ .is_query = true, .type = DRM_VFENCE_QUERY_DEVICE,
		  .handle = vf_device_handle(self->device) },
		{ .is_query = true, .type = DRM_VFENCE_QUERY_CONTEXT,
		  .handle = vf_queue_info(self->gfx)->context },
		{ .is_query = true, .type = DRM_VFENCE_QUERY_QUEUE,
		  .handle = vf_queue_handle(self->gfx) },
		{ .is_query = true, .type = DRM_VFENCE_QUERY_FENCE,
		  .handle = vf_fence_handle(awaited) },
		{ .type = DRM_VFENCE_OBJECT_CONTEXT, .handle = context.handle },
		{ .type = DRM_VFENCE_OBJECT_FENCE, .handle = vf_fence_handle(fence) },
		{ .type = DRM_VFENCE_OBJECT_EVENT, .handle = event },
	};

	ASSERT_EQ(0, tdr_configure(LOCAL, "delay_ms", "100"));
	begun = vf_deadline(0);
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, write_thread, &stay));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&stay.tid, SYS_write)));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, write_thread, &reset));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&reset.tid, SYS_write)));
	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		call[i].fd = fd;
		ASSERT_EQ(0, pthread_create(&call[i].thread, NULL, object_thread, &call[i]));
	}
	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		ASSERT_EQ(0, pthread_join(call[i].thread, NULL));
		EXPECT_LE(900 * 1000000ll, call[i].ended - begun) TH_LOG("call %u", i);
		/* The reset may have ended the event. */
		if (i != 6)
			EXPECT_EQ(0, call[i].ret) TH_LOG("call %u", i);
	}
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	vf_fence_destroy(fence);
	vf_fence_destroy(awaited);
	close(efd);
}

/*
 * A thread in the driver keeps the reset from its end. Meanwhile a submission is found late, which
 * the reset has not met on the engine.
 */
TEST_F(whole, WDDM_164_TDR_14_what_is_late_after_a_reset_is_no_hang)
{
	struct call stay = { .name = "stay_ms", .value = "1000" };
	struct call reset = { .name = "reset_adapter", .value = "1" };
	struct vf_device *device[2];
	struct vf_queue *queue[2];
	struct vf_counters after;
	int events = uevents();
	pthread_t thread[2];
	unsigned int i;

	ASSERT_LE(0, events);
	ASSERT_EQ(0, tdr_configure(LOCAL, "limit_count", "1"));
	/* They take turns on the engine. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_device_create(self->adapter, &device[i]));
		ASSERT_EQ(0, vf_kernel_queue_create(device[i], DRM_VFENCE_NODE_COPY, &queue[i]));
		vf_cmd_draw(queue[i], 100, SECOND / 100);
	}
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_queue_submit(queue[i]));
	ASSERT_TRUE(EVENTUALLY(node_busy_ns(self->adapter, DRM_VFENCE_NODE_COPY) > SECOND / 2));
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, write_thread, &stay));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&stay.tid, SYS_write)));
	ASSERT_EQ(0, pthread_create(&thread[1], NULL, write_thread, &reset));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&reset.tid, SYS_write)));
	ASSERT_EQ(0, tdr_configure(LOCAL, "delay_ms", "100"));
	ASSERT_EQ(0, pthread_join(thread[1], NULL));
	ASSERT_EQ(0, pthread_join(thread[0], NULL));

	for (i = 0; i < 2; i++)
		EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(device[i]));
	EXPECT_TRUE(working(self->adapter));
	after = counters(self->adapter);
	/* On a slow machine the reset may be over before. */
	if (deterministic())
		EXPECT_EQ(self->before.submissions_timed_out + 1, after.submissions_timed_out);
	EXPECT_EQ(self->before.processes_blocked, after.processes_blocked);
	EXPECT_EQ(0, told(events, "WEDGED=none", "SUBSYSTEM=drm", "ACTION=change"));
	for (i = 0; i < 2; i++) {
		vf_queue_destroy(queue[i]);
		vf_device_destroy(device[i]);
	}
	close(events);
}

TEST_F(whole, WDDM_162_a_thread_that_stays_in_the_driver_loses_the_adapter)
{
	struct call stay = { .name = "stay_ms", .value = "5000" };
	pthread_t thread;

	ASSERT_EQ(0, tdr_configure(LOCAL, "ddi_delay_ms", "1000"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_thread, &stay));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&stay.tid, SYS_write)));
	EXPECT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "adapter lost (0x116, 0x1)")));
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(self->device));
	EXPECT_FALSE(working(self->adapter));
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

/* A thread is in the driver when the adapter is reset, and runnable for so long from then on. */
static bool keeps_adapter(struct __test_metadata *_metadata, FIXTURE_DATA(whole) *self,
			  const char *ms)
{
	struct call stay = { .name = "run_ms", .value = ms };
	pthread_t thread;

	EXPECT_EQ(0, tdr_configure(LOCAL, "ddi_delay_ms", "50"));
	EXPECT_EQ(0, pthread_create(&thread, NULL, write_thread, &stay));
	EXPECT_TRUE(EVENTUALLY(sleeps_in(&stay.tid, SYS_write)));
	EXPECT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	return working(self->adapter);
}

/*
 * Who waits for a processor is not stuck. Clients decide how long their threads do, and take the
 * adapter from nobody by it. Nor does the reset wait for them for ever.
 */
TEST_F(whole, WDDM_162_a_thread_that_waits_for_a_processor_keeps_the_adapter)
{
	EXPECT_TRUE(keeps_adapter(_metadata, self, "250"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(self->device));
}

TEST_F(whole, WDDM_162_a_thread_that_never_ends_loses_the_adapter)
{
	/* It is enough to see it where a loop of seconds takes an emulator no minute. */
	if (counts_instructions())
		SKIP(return, "calculates for seconds");
	EXPECT_FALSE(keeps_adapter(_metadata, self, "3000"));
}

static void *abort_thread(void *arg)
{
	struct call *call = arg;

	__atomic_store_n(&call->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	__atomic_store_n(&call->ret, vf_queue_abort(call->queue), __ATOMIC_RELEASE);
	return NULL;
}

static void *destroy_thread(void *arg)
{
	struct drm_vfence_destroy args = { .type = DRM_VFENCE_OBJECT_QUEUE };
	struct call *call = arg;
	int ret;

	__atomic_store_n(&call->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	/* The library waits until the queue is idle first. */
	args.handle = vf_queue_handle(call->queue);
	ret = ioctl(vf_adapter_fd(call->adapter), DRM_IOCTL_VFENCE_DESTROY, &args);
	__atomic_store_n(&call->ret, ret, __ATOMIC_RELEASE);
	return NULL;
}

static void *destroy_device_thread(void *arg)
{
	struct call *call = arg;

	__atomic_store_n(&call->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	vf_device_destroy(call->device);
	__atomic_store_n(&call->ret, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* A thread that waits for its client's eventfds is not in the driver, and keeps no other there. */
TEST_F(whole, WDDM_162_eventfds_of_a_client_do_not_keep_the_reset)
{
	void *(*const ends[])(void *arg) = { abort_thread, destroy_thread, destroy_device_thread };
	const struct rlimit files = { 2000, 2000 };
	/* Where time is not exact, a few are enough. */
	const unsigned int armed = deterministic() ? 4000 : 40;
	struct call create = { .adapter = self->adapter }, end;
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), set[900];
	uint64_t events, more;
	unsigned int i, n;
	bool sleeps;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_TRUE(slow_down(efd, set, 900));
	ASSERT_EQ(0, tdr_configure(LOCAL, "ddi_delay_ms", "200"));
	for (n = 0; n < 3; n++) {
		struct vf_point done = { .value = 1 };
		struct gate gate;
		struct vf_submit what = {
			.waits = &gate.opened, .wait_count = 1,
			.signals = &done, .signal_count = 1,
		};
		pthread_t thread, beside;
		struct vf_device *device;

		ASSERT_EQ(0, vf_device_create(self->adapter, &device));
		end = (struct call){ .adapter = self->adapter, .ret = 1 };
		ASSERT_EQ(0, vf_device_create(self->adapter, &end.device));
		ASSERT_EQ(0, vf_kernel_queue_create(end.device, DRM_VFENCE_NODE_COPY, &end.queue));
		ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &done.fence));
		for (i = 0; i < armed; i++)
			ASSERT_EQ(0, arm(self->adapter, done.fence, 1, efd));
		ASSERT_EQ(0, gate_create(&gate, end.device, LOCAL));
		ASSERT_EQ(0, vf_submit(&end.queue, 1, &what));
		ASSERT_EQ(0, gate_open(&gate));
		ASSERT_TRUE(EVENTUALLY(vf_fence_current(done.fence) == 1));
		ASSERT_EQ(0, pthread_create(&thread, NULL, ends[n], &end));
		/* Some schedulers let it end before this thread runs again. */
		ASSERT_TRUE(EVENTUALLY((sleeps = sleeps_in(&end.tid, SYS_ioctl)) ||
				       __atomic_load_n(&end.ret, __ATOMIC_ACQUIRE) <= 0));
		/* Needs what the first thread may hold. */
		create.tid = 0;
		create.ret = 1;
		ASSERT_EQ(0, pthread_create(&beside, NULL, device_thread, &create));
		ASSERT_TRUE(EVENTUALLY(__atomic_load_n(&create.ret, __ATOMIC_ACQUIRE) <= 0 ||
				       sleeps_in(&create.tid, SYS_ioctl)));
		ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
		/* It has waited for none of those that are still to be set. */
		events = read(efd, &more, sizeof(more)) == sizeof(more) ? more : 0;
		if (sleeps && counts_instructions())
			EXPECT_GT(armed, events);
		EXPECT_TRUE(working(self->adapter));
		while (events < armed)
			events += read(efd, &more, sizeof(more)) == sizeof(more) ? more : 0;
		ASSERT_EQ(0, pthread_join(beside, NULL));
		ASSERT_EQ(0, pthread_join(thread, NULL));
		EXPECT_EQ(0, end.ret);
		vf_queue_destroy(end.queue);
		gate_destroy(&gate);
		if (n != 2)
			vf_device_destroy(end.device);
		vf_fence_destroy(done.fence);
		vf_device_destroy(device);
	}
	for (i = 0; i < 900; i++)
		close(set[i]);
	close(efd);
}

/* Nor do they wait until each of many fences of a client is at its maximum. */
TEST_F_TIMEOUT(whole, WDDM_173_fences_of_a_client_do_not_delay_the_maximum_of_others, 120)
{
	const unsigned int fences = deterministic() ? 30000 : 3000;
	struct client many, other;
	struct drm_vfence_fence_create create = { .flags = 0 };
	struct vf_fence *theirs;
	int64_t reset, took;
	unsigned int i;

	ASSERT_EQ(0, vf_adapter_open(LOCAL, &many.adapter));
	ASSERT_EQ(0, vf_device_create(many.adapter, &many.device));
	create.device = vf_device_handle(many.device);
	for (i = 0; i < fences; i++)
		ASSERT_EQ(0, raw(vf_adapter_fd(many.adapter), DRM_IOCTL_VFENCE_FENCE_CREATE, &create));
	/* Devices are ended in their order. */
	ASSERT_EQ(0, vf_adapter_open(LOCAL, &other.adapter));
	ASSERT_EQ(0, vf_device_create(other.adapter, &other.device));
	ASSERT_EQ(0, vf_fence_create(other.device, 0, 0, &theirs));

	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	reset = vf_deadline(0);
	EXPECT_EQ(0, vf_fence_wait(theirs, UINT64_MAX, DEADLINE));
	took = vf_deadline(0) - reset;
	TH_LOG("%.2f ms after the reset", (double)took / 1e6);
	if (counts_instructions())
		EXPECT_GT(2000000, took);
	vf_fence_destroy(theirs);
	client_close(&other);
	client_close(&many);
}

/* The devices of other clients do not wait for a client, and a handle that goes forgets nothing. */
TEST_F(whole, WDDM_173_eventfds_of_a_client_do_not_delay_the_maximum_of_others)
{
	const struct rlimit files = { 2000, 2000 };
	const unsigned int armed = deterministic() ? 4000 : 40;
	int slow = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), set[900], fd;
	struct vf_fence *shared, *opened, *theirs;
	struct vf_point done = { .value = 1 };
	struct gate gate;
	struct vf_submit what = {
		.waits = &gate.opened, .wait_count = 1,
		.signals = &done, .signal_count = 1,
	};
	struct vf_device *device;
	struct client other;
	struct vf_queue *queue;
	int64_t begun, took;
	uint64_t events, more;
	unsigned int i;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_TRUE(slow_down(slow, set, 900));
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, 0, &done.fence));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COPY, &queue));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &shared));
	ASSERT_EQ(0, vf_adapter_open(LOCAL, &other.adapter));
	ASSERT_EQ(0, vf_device_create(other.adapter, &other.device));
	ASSERT_EQ(0, vf_fence_create(other.device, 0, 0, &theirs));
	fd = vf_fence_export(shared);
	ASSERT_EQ(0, vf_fence_open_flags(other.device, fd, DRM_VFENCE_FENCE_NO_SIGNAL,
					 &opened));
	close(fd);
	for (i = 0; i < armed; i++)
		ASSERT_EQ(0, arm(self->adapter, done.fence, 1, slow));

	ASSERT_EQ(0, gate_create(&gate, self->device, LOCAL));
	ASSERT_EQ(0, vf_submit(&queue, 1, &what));
	begun = vf_deadline(0);
	ASSERT_EQ(0, gate_open(&gate));
	ASSERT_TRUE(EVENTUALLY(vf_fence_current(done.fence) == 1));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	EXPECT_EQ(0, vf_fence_wait(theirs, UINT64_MAX, DEADLINE));
	took = vf_deadline(0) - begun;
	vf_fence_destroy(shared);
	EXPECT_EQ(0, vf_fence_wait(opened, UINT64_MAX, DEADLINE));
	for (events = 0; events < armed;)
		events += read(slow, &more, sizeof(more)) == sizeof(more) ? more : 0;
	TH_LOG("the maximum came after %lld us, all events were set after %lld us",
	       (long long)took / 1000, (long long)(vf_deadline(0) - begun) / 1000);
	if (counts_instructions())
		EXPECT_LE(2 * took, vf_deadline(0) - begun);

	vf_fence_destroy(opened);
	vf_fence_destroy(theirs);
	vf_queue_destroy(queue);
	gate_destroy(&gate);
	vf_fence_destroy(done.fence);
	vf_device_destroy(device);
	client_close(&other);
	for (i = 0; i < 900; i++)
		close(set[i]);
	close(slow);
}

TEST_F(whole, WDDM_161_TDR_14_15_a_reset_that_fails_loses_the_adapter)
{
	int events = uevents();

	ASSERT_LE(0, events);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->efd));
	ASSERT_EQ(0, inject(LOCAL, "fail_adapter_reset", "1"));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "adapter lost (0x116, 0x1)")));
	EXPECT_EQ(DRM_VFENCE_DEVICE_STOPPED, vf_device_state(self->device));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(EVENTUALLY(told(events, "WEDGED=rebind", "SUBSYSTEM=drm", "ACTION=change")));
	close(events);
	EXPECT_FALSE(working(self->adapter));
}

TEST_F(whole, WDDM_161_a_restart_that_fails_loses_the_adapter)
{
	ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->efd));
	ASSERT_EQ(0, inject(LOCAL, "fail_restart", "1"));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "adapter lost (0x116, 0x1)")));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_FALSE(working(self->adapter));
}

TEST_F(whole, WDDM_163_TDR_23_one_reset_too_many_loses_the_adapter)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
		ASSERT_TRUE(working(self->adapter));
	}
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "adapter lost (0x116, 0x1)")));
	EXPECT_FALSE(working(self->adapter));
	/* Resets of before count no more once it is recovered. */
	ASSERT_EQ(0, tdr_configure(LOCAL, "recover", "1"));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
		ASSERT_TRUE(working(self->adapter));
	}
}

TEST_F(whole, WDDM_163_165_debug_mode_3_recovers_whatever_the_limit)
{
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(LOCAL, "debug_mode", "3"));
	ASSERT_EQ(0, tdr_configure(LOCAL, "limit_count", "1"));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
		ASSERT_TRUE(working(self->adapter));
	}
	ASSERT_EQ(0, tdr_configure(LOCAL, "debug_mode", "2"));
	ASSERT_EQ(0, inject(LOCAL, "reset_adapter", "1"));
	EXPECT_FALSE(working(self->adapter));
}

TEST_HARNESS_MAIN
