// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of a call fails once, one after the other. The call then returns
 * -ENOMEM and leaves nothing behind. This needs a kernel with fault injection (make
 * quick DEBUG=1).
 */

#include <sys/syscall.h>

#include "vfence_test.h"

#define CROSS (DRM_VFENCE_FENCE_SHAREABLE | DRM_VFENCE_FENCE_CROSS_ADAPTER)

FIXTURE(oom) {
	VFENCE_MEMBERS;
	struct vf_fence *fence;
	struct vf_fence *shared;
	struct vf_adapter *other;
	struct vf_device *other_device;
	/* Objects that the call under test creates and that undo destroys. */
	char path[400];
	struct vf_device *device_made;
	struct vf_queue *queue_made;
	struct vf_fence *fence_made;
	uint32_t handle, event;
	uint64_t va;
	int fd_shared, fd_made, efd;
	uint32_t syncobj, timeline;
	uint64_t point;
	struct vf_queue *second;
	struct vf_fence *top;
	/* The task's file in /proc: the N-th allocation from now on fails. */
	int nth;
};

/* Make allocations that may sleep fail, too, and log no failure. */
static int set_up_injection(void)
{
	return write_text("/sys/kernel/debug/failslab/ignore-gfp-wait", "N") ||
	       write_text("/sys/kernel/debug/failslab/verbose", "0") ||
	       write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N") ||
	       write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N") ||
	       write_text("/sys/kernel/debug/fail_page_alloc/min-order", "0") ||
	       write_text("/sys/kernel/debug/fail_page_alloc/verbose", "0");
}

FIXTURE_SETUP(oom)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/fail-nth", syscall(SYS_gettid));
	self->nth = open(path, O_RDWR);
	if (self->nth < 0 || set_up_injection())
		SKIP(return, "needs a kernel with fault injection, and root");
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_adapter_open(2, &self->other));
	ASSERT_EQ(0, vf_device_create(self->other, &self->other_device));
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->fence));
	ASSERT_EQ(0, vf_fence_create(self->device, CROSS, 0, &self->shared));
	self->fd_shared = vf_fence_export(self->shared);
	ASSERT_LE(0, self->fd_shared);
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(oom)
{
	close(self->efd);
	close(self->fd_shared);
	vf_fence_destroy(self->shared);
	vf_fence_destroy(self->fence);
	vf_device_destroy(self->other_device);
	vf_adapter_close(self->other);
	VFENCE_TEARDOWN();
	close(self->nth);
}

static void fail_nth(int nth, unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (pwrite(nth, text, strlen(text), 0) < 0)
		abort();
}

/* Return: true if the N-th allocation came and failed. This also disables the injection. */
static bool has_failed(int nth)
{
	char text[16] = "";

	if (pread(nth, text, sizeof(text) - 1, 0) < 0)
		abort();
	fail_nth(nth, 0);
	return !atoi(text);
}

/* Return: the number of objects, which must not depend on the number of failures. */
static uint64_t balance(FIXTURE_DATA(oom) *self)
{
	struct vf_counters a = counters(self->adapter), b = counters(self->other);

	return a.fences_created - a.fences_destroyed + b.fences_created - b.fences_destroyed +
	       a.fences_opened - a.fences_closed + b.fences_opened - b.fences_closed +
	       a.queues + b.queues + a.doorbells_connected + b.doorbells_connected +
	       a.waits_begun - a.waits_satisfied - a.waits_timed_out - a.waits_cancelled;
}

/* Make one allocation after another of @act fail, until all of them succeed. */
static void fail_each(struct __test_metadata *_metadata, FIXTURE_DATA(oom) *self,
		      int (*act)(FIXTURE_DATA(oom) *self), void (*undo)(FIXTURE_DATA(oom) *self))
{
	uint64_t before = balance(self);
	unsigned int n, failed = 0;

	for (n = 1; n < 500; n++) {
		bool hit;
		int ret;

		fail_nth(self->nth, n);
		ret = act(self);
		hit = has_failed(self->nth);
		/* A call may succeed without some allocations: a cache, a hint. */
		if (!ret)
			undo(self);
		else
			ASSERT_EQ(-ENOMEM, ret) {
				TH_LOG("when the %uth allocation failed", n);
			}
		ASSERT_EQ(before, balance(self));
		if (!hit) {
			ASSERT_EQ(0, ret);
			break;
		}
		failed++;
	}
	EXPECT_GT(500, n);
	TH_LOG("%u allocations failed", failed);
}

static int open_adapter(FIXTURE_DATA(oom) *self)
{
	self->fd_made = open(self->path, O_RDWR | O_CLOEXEC);
	return self->fd_made < 0 ? -errno : 0;
}

static void close_fd(FIXTURE_DATA(oom) *self)
{
	close(self->fd_made);
}

TEST_F(oom, adapter_open)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", self->fd);
	n = readlink(link, self->path, sizeof(self->path) - 1);
	ASSERT_LT(0, n);
	self->path[n] = 0;
	fail_each(_metadata, self, open_adapter, close_fd);
}

static int create_device(FIXTURE_DATA(oom) *self)
{
	return vf_device_create(self->adapter, &self->device_made);
}

static void destroy_device(FIXTURE_DATA(oom) *self)
{
	vf_device_destroy(self->device_made);
}

TEST_F(oom, device_create)
{
	fail_each(_metadata, self, create_device, destroy_device);
}

/*
 * This creates a context, a queue with logs and progress fence, buffers, mappings and a
 * doorbell.
 */
static int create_queue(FIXTURE_DATA(oom) *self)
{
	return vf_queue_create(self->device, DRM_VFENCE_NODE_GFX, 16384, &self->queue_made);
}

static void destroy_queue(FIXTURE_DATA(oom) *self)
{
	vf_queue_destroy(self->queue_made);
}

TEST_F(oom, queue_create)
{
	fail_each(_metadata, self, create_queue, destroy_queue);
}

static int create_kernel_queue(FIXTURE_DATA(oom) *self)
{
	return vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &self->queue_made);
}

TEST_F(oom, kernel_queue_create)
{
	fail_each(_metadata, self, create_kernel_queue, destroy_queue);
}

static int create_of(FIXTURE_DATA(oom) *self, struct vf_device *device, uint32_t flags,
		     uint32_t type)
{
	struct vf_fence_desc desc = { .flags = flags, .type = type };

	return vf_fence_create_desc(device, &desc, &self->fence_made);
}

static int create_private(FIXTURE_DATA(oom) *self)
{
	return create_of(self, self->device, 0, DRM_VFENCE_FENCE_DEFAULT);
}

static int create_shareable(FIXTURE_DATA(oom) *self)
{
	return create_of(self, self->other_device, DRM_VFENCE_FENCE_SHAREABLE,
			 DRM_VFENCE_FENCE_DEFAULT);
}

static int create_cross(FIXTURE_DATA(oom) *self)
{
	return create_of(self, self->device, CROSS, DRM_VFENCE_FENCE_DEFAULT);
}

static int create_intra(FIXTURE_DATA(oom) *self)
{
	return create_of(self, self->other_device, 0, DRM_VFENCE_FENCE_INTRA_GPU);
}

static void destroy_fence(FIXTURE_DATA(oom) *self)
{
	vf_fence_destroy(self->fence_made);
}

static int create_monitored(FIXTURE_DATA(oom) *self)
{
	return vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 1, &self->fence_made);
}

static int create_monitored_cross(FIXTURE_DATA(oom) *self)
{
	return vf_monitored_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE |
					 DRM_VFENCE_FENCE_CROSS_ADAPTER, 1, &self->fence_made);
}

TEST_F(oom, fence_create)
{
	fail_each(_metadata, self, create_monitored, destroy_fence);
	fail_each(_metadata, self, create_monitored_cross, destroy_fence);
	fail_each(_metadata, self, create_private, destroy_fence);
	fail_each(_metadata, self, create_shareable, destroy_fence);
	fail_each(_metadata, self, create_cross, destroy_fence);
	fail_each(_metadata, self, create_intra, destroy_fence);
}

static int export(FIXTURE_DATA(oom) *self)
{
	self->fd_made = vf_fence_export(self->shared);
	return self->fd_made < 0 ? self->fd_made : 0;
}

TEST_F(oom, fence_export)
{
	fail_each(_metadata, self, export, close_fd);
}

static int open_here(FIXTURE_DATA(oom) *self)
{
	return vf_fence_open(self->device, self->fd_shared, &self->fence_made);
}

/* The first handle on another adapter creates a member there. */
static int open_there(FIXTURE_DATA(oom) *self)
{
	return vf_fence_open(self->other_device, self->fd_shared, &self->fence_made);
}

TEST_F(oom, fence_open)
{
	fail_each(_metadata, self, open_here, destroy_fence);
}

/* The member stays as long as the fence, so each call creates a new fence. */
static int share_there(FIXTURE_DATA(oom) *self)
{
	int ret = open_there(self);

	if (!ret)
		vf_fence_destroy(self->fence_made);
	return ret;
}

static int cross_there(FIXTURE_DATA(oom) *self)
{
	int ret = create_cross(self), fd;

	if (ret)
		return ret;
	fd = vf_fence_export(self->fence_made);
	if (fd < 0) {
		vf_fence_destroy(self->fence_made);
		return fd;
	}
	vf_fence_destroy(self->fence_made);
	ret = vf_fence_open(self->other_device, fd, &self->fence_made);
	close(fd);
	return ret;
}

TEST_F(oom, fence_open_on_another_adapter)
{
	fail_each(_metadata, self, cross_there, destroy_fence);
	ASSERT_EQ(0, share_there(self));
}

static int arm_event(FIXTURE_DATA(oom) *self)
{
	struct vf_point point[600];
	unsigned int i;

	for (i = 0; i < 600; i++)
		point[i] = (struct vf_point){ i % 2 ? self->fence : self->shared, 7 };
	return vf_event_arm(self->adapter, point, 600, 0, self->efd, &self->event);
}

static void cancel_event(FIXTURE_DATA(oom) *self)
{
	vf_event_cancel(self->adapter, self->event);
}

TEST_F(oom, event_arm)
{
	fail_each(_metadata, self, arm_event, cancel_event);
}

static int wait_shortly(FIXTURE_DATA(oom) *self)
{
	struct vf_point point[2] = { { self->fence, 9 }, { self->shared, 9 } };
	int ret = vf_wait(self->adapter, point, 2, 0, vf_deadline(1000000), NULL);

	return ret == -ETIME ? 0 : ret;
}

static void nothing(FIXTURE_DATA(oom) *self)
{
}

TEST_F(oom, wait)
{
	fail_each(_metadata, self, wait_shortly, nothing);
}

static int signal_both(FIXTURE_DATA(oom) *self)
{
	struct vf_point point[2] = { { self->fence, 3 }, { self->shared, 3 } };

	return vf_signal(self->adapter, point, 2);
}

TEST_F(oom, signal)
{
	fail_each(_metadata, self, signal_both, nothing);
}

static int read_log(FIXTURE_DATA(oom) *self)
{
	struct drm_vfence_log_entry entry[8];
	unsigned int n = 8;

	return vf_queue_read_log(self->gfx, DRM_VFENCE_LOG_SIGNALS, entry, &n, NULL);
}

TEST_F(oom, log_read)
{
	fail_each(_metadata, self, read_log, nothing);
}

static int replace_logs(FIXTURE_DATA(oom) *self)
{
	return write_text(self->path, "1");
}

static void replace_back(FIXTURE_DATA(oom) *self)
{
	write_text(self->path, "0");
}

TEST_F(oom, log_replace)
{
	ASSERT_EQ(0, debugfs_path(0, "logging_level", self->path, sizeof(self->path)));
	fail_each(_metadata, self, replace_logs, replace_back);
	replace_back(self);
}

static int create_buffer(FIXTURE_DATA(oom) *self)
{
	struct drm_vfence_bo_create create = { .size = 65536 };
	struct drm_vfence_vm_bind bind = { .size = 65536, .flags = DRM_VFENCE_VM_READ };
	int ret = raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &create);

	if (ret)
		return ret;
	self->handle = create.handle;
	bind.handle = create.handle;
	ret = raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &bind);
	self->va = bind.va;
	if (ret)
		drmCloseBufferHandle(self->fd, create.handle);
	return ret;
}

static void free_buffer(FIXTURE_DATA(oom) *self)
{
	struct drm_vfence_vm_bind unbind = { .op = DRM_VFENCE_VM_UNMAP, .va = self->va };

	raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &unbind);
	drmCloseBufferHandle(self->fd, self->handle);
}

TEST_F(oom, buffers)
{
	fail_each(_metadata, self, create_buffer, free_buffer);
}

static int query(FIXTURE_DATA(oom) *self)
{
	struct drm_vfence_node_info nodes[8];
	struct drm_vfence_feature_info features[8];
	unsigned int n = 8, m = 8;
	int ret = vf_adapter_nodes(self->adapter, nodes, &n);

	return ret ? ret : vf_adapter_features(self->adapter, features, &m);
}

TEST_F(oom, query)
{
	fail_each(_metadata, self, query, nothing);
}

static int import(FIXTURE_DATA(oom) *self)
{
	return vf_fence_import_syncobj(self->fence, self->syncobj, 0, 1);
}

TEST_F(oom, fence_import)
{
	ASSERT_EQ(0, drmSyncobjCreate(vf_adapter_fd(self->adapter), DRM_SYNCOBJ_CREATE_SIGNALED,
				      &self->syncobj));
	fail_each(_metadata, self, import, nothing);
	EXPECT_EQ(0, vf_fence_wait(self->fence, 1, DEADLINE));
	drmSyncobjDestroy(vf_adapter_fd(self->adapter), self->syncobj);
}

/* Submit with all lists that a submission can have. */
static int submit(FIXTURE_DATA(oom) *self)
{
	struct vf_point point[2] = { { self->fence, 0 }, { self->top, 0 } };
	struct vf_syncobj syncobj = { .handle = self->syncobj };
	/* So many that the driver allocates room for them. */
	struct vf_point many[16];
	struct vf_submit what = {
		.waits = many, .wait_count = 16, .signals = point, .signal_count = 2,
		.wait_syncobjs = &syncobj, .wait_syncobj_count = 1,
	};
	unsigned int i;

	for (i = 0; i < 16; i++)
		many[i] = point[0];

	vf_cmd_nop(self->queue_made, 8);
	return vf_submit(&self->queue_made, 1, &what);
}

/* Submit with all that a submission with out-syncs can have. */
static int submit_told(FIXTURE_DATA(oom) *self)
{
	struct vf_point point = { self->fence, 0 };
	struct vf_syncobj syncobj[2] = {
		{ .handle = self->syncobj }, { .handle = self->timeline, .point = ++self->point },
	};
	struct vf_submit what = {
		.waits = &point, .wait_count = 1,
		.signal_syncobjs = syncobj, .signal_syncobj_count = 2,
	};

	return vf_submit(&self->queue_made, 1, &what);
}

static int broadcast(FIXTURE_DATA(oom) *self)
{
	struct vf_queue *both[2] = { self->queue_made, self->second };
	struct vf_submit what = {
		.flags = DRM_VFENCE_SUBMIT_ENQUEUE_CPU_EVENT, .eventfd = self->efd,
	};

	return vf_submit(both, 2, &what);
}

TEST_F(oom, submit)
{
	struct vf_counters before = counters(self->adapter), after;
	int fd = vf_adapter_fd(self->adapter);

	ASSERT_EQ(0, create_kernel_queue(self));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COPY, &self->second));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device,
			DRM_VFENCE_FENCE_TOP_OF_PIPELINE, 0, &self->top));
	ASSERT_EQ(0, drmSyncobjCreate(fd, DRM_SYNCOBJ_CREATE_SIGNALED, &self->syncobj));
	ASSERT_EQ(0, drmSyncobjCreate(fd, 0, &self->timeline));
	fail_each(_metadata, self, submit, nothing);
	fail_each(_metadata, self, submit_told, nothing);
	fail_each(_metadata, self, broadcast, nothing);
	/* A call that failed has queued nothing, and a call that succeeded is done. */
	ASSERT_EQ(0, vf_queue_wait_idle(self->queue_made, DEADLINE));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter), after.submissions ==
				after.submissions_done + after.submissions_lost)));
	EXPECT_EQ(before.submissions_lost, after.submissions_lost);
	drmSyncobjDestroy(fd, self->syncobj);
	drmSyncobjDestroy(fd, self->timeline);
	vf_fence_destroy(self->top);
	vf_queue_destroy(self->second);
	vf_queue_destroy(self->queue_made);
}

TEST_HARNESS_MAIN
