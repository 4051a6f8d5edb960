// SPDX-License-Identifier: GPL-2.0-only
/*
 * Imports: the dma_fence of a sync_file or a syncobj becomes a signal. The foreign fences
 * are vgem's.
 */

#include <linux/dma-buf.h>

#include "vfence_test.h"

/* This is from include/uapi/drm/vgem_drm.h, which libdrm does not carry. */
struct vgem_fence_attach {
	uint32_t handle, flags, out_fence, pad;
};

struct vgem_fence_signal {
	uint32_t fence, flags;
};

#define VGEM_WRITE	1
#define VGEM_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_fence_attach)
#define VGEM_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_fence_signal)

FIXTURE(imports) {
	VFENCE_MEMBERS;
	struct vf_fence *native, *memory, *shared;
	int vgem, efd;
};

FIXTURE_SETUP(imports)
{
	self->vgem = open_vgem();
	if (self->vgem < 0)
		SKIP(return, "needs vgem");
	VFENCE_SETUP(0);
	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &self->native));
	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_SHAREABLE, 0, &self->shared));
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &self->memory));
	self->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

FIXTURE_TEARDOWN(imports)
{
	close(self->efd);
	close(self->vgem);
	vf_fence_destroy(self->native);
	vf_fence_destroy(self->shared);
	vf_fence_destroy(self->memory);
	VFENCE_TEARDOWN();
}

/*
 * Return: a sync_file of a vgem fence that the test signals. @fence: vgem's handle of the
 * fence.
 */
static int foreign(int vgem, uint32_t *fence)
{
	struct drm_mode_create_dumb create = { .width = 64, .height = 64, .bpp = 32 };
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW, .fd = -1 };
	struct vgem_fence_attach attach = { .flags = VGEM_WRITE };
	int buf = -1;

	if (raw(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create))
		return -1;
	attach.handle = create.handle;
	if (!raw(vgem, VGEM_ATTACH, &attach) &&
	    !drmPrimeHandleToFD(vgem, create.handle, DRM_CLOEXEC, &buf) &&
	    ioctl(buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export))
		export.fd = -1;
	close(buf);
	drmCloseBufferHandle(vgem, create.handle);
	*fence = attach.out_fence;
	return export.fd;
}

static int signal_foreign(int vgem, uint32_t fence)
{
	struct vgem_fence_signal signal = { .fence = fence };

	return raw(vgem, VGEM_SIGNAL, &signal);
}

TEST_F(imports, a_sync_file_signals_a_fence_of_either_kind)
{
	struct vf_point point[2] = { { self->native, 7 }, { self->memory, 9 } };
	uint32_t fence;
	int file = foreign(self->vgem, &fence);

	ASSERT_LE(0, file);
	ASSERT_EQ(0, vf_fence_import_sync_file(self->native, file, 7));
	ASSERT_EQ(0, vf_fence_import_sync_file(self->memory, file, 9));
	/* The driver needs the descriptor only during the call. */
	close(file);
	/*
	 * A queue waits for the native fence without the CPU, and the CPU waits for both
	 * fences.
	 */
	vf_cmd_wait(self->gfx, self->native, 7);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_event_arm(self->adapter, point, 2, 0, self->efd, NULL));
	EXPECT_EQ(0, vf_fence_current(self->native));
	ASSERT_EQ(0, signal_foreign(self->vgem, fence));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(7, vf_fence_current(self->native));
	EXPECT_EQ(9, vf_fence_current(self->memory));
}

TEST_F(imports, WDDM_59_what_may_still_be_stored_keeps_its_slot)
{
	/* So many fences that slots are used again, which are given out in a cycle. */
	struct vf_fence *fence, *fresh[256];
	uint32_t foreigner;
	int file = foreign(self->vgem, &foreigner);
	unsigned int i;

	ASSERT_LE(0, file);
	ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &fence));
	ASSERT_EQ(0, vf_fence_import_sync_file(fence, file, 7));
	/* Imports signal in order: when this one has signaled, the one before has, too. */
	ASSERT_EQ(0, vf_fence_import_sync_file(self->native, file, 9));
	close(file);
	vf_fence_destroy(fence);
	for (i = 0; i < 256; i++)
		ASSERT_EQ(0, vf_monitored_fence_create(self->device, 0, 0, &fresh[i]));
	ASSERT_EQ(0, signal_foreign(self->vgem, foreigner));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->native) == 9));
	for (i = 0; i < 256; i++) {
		EXPECT_EQ(0, vf_fence_current(fresh[i]));
		vf_fence_destroy(fresh[i]);
	}
}

/* Open a fence by a handle that may only wait. */
static int open_reader(struct vf_device *device, struct vf_fence *fence, struct vf_fence **reader)
{
	int fd = vf_fence_export_rights(fence, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	int ret = fd < 0 ? fd : vf_fence_open(device, fd, reader);

	close(fd);
	return ret;
}

TEST_F(imports, an_import_keeps_the_waits_for_its_signal)
{
	struct vf_fence *reader;
	uint32_t foreigner;
	int file = foreign(self->vgem, &foreigner);

	ASSERT_LE(0, file);
	ASSERT_EQ(0, vf_fence_import_sync_file(self->shared, file, 7));
	close(file);
	ASSERT_EQ(0, open_reader(self->device, self->shared, &reader));
	ASSERT_EQ(0, arm(self->adapter, reader, 7, self->efd));
	destroy_object(self->fd, DRM_VFENCE_OBJECT_FENCE, vf_fence_handle(self->shared));
	EXPECT_EQ(1, waiters(reader));
	EXPECT_EQ(0, fired_on(self->adapter, self->efd));
	ASSERT_EQ(0, signal_foreign(self->vgem, foreigner));
	EXPECT_TRUE(EVENTUALLY(fired_on(self->adapter, self->efd) == 1));
	EXPECT_EQ(7, vf_fence_current(reader));
	/* It was the last one that could signal. */
	EXPECT_EQ(-ECANCELED, vf_fence_wait(reader, 8, DEADLINE));
	vf_fence_destroy(reader);
}

TEST_F(imports, a_file_that_closes_ends_the_waits_for_its_imports)
{
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence, *reader;
	uint32_t foreigner;
	int file = foreign(self->vgem, &foreigner);

	ASSERT_LE(0, file);
	ASSERT_EQ(0, vf_adapter_open(0, &adapter));
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_fence_create(device, DRM_VFENCE_FENCE_SHAREABLE, 0, &fence));
	ASSERT_EQ(0, open_reader(self->device, fence, &reader));
	ASSERT_EQ(0, arm(self->adapter, reader, 7, self->efd));
	ASSERT_EQ(0, vf_fence_import_sync_file(fence, file, 7));
	close(file);
	vf_fence_destroy(fence);
	EXPECT_EQ(1, waiters(reader));
	vf_device_destroy(device);
	vf_adapter_close(adapter);
	EXPECT_TRUE(EVENTUALLY(fired_on(self->adapter, self->efd) == 1));
	EXPECT_EQ(-ECANCELED, vf_fence_wait(reader, 7, DEADLINE));
	EXPECT_EQ(0, vf_fence_current(reader));
	ASSERT_EQ(0, signal_foreign(self->vgem, foreigner));
	vf_fence_destroy(reader);
}

TEST_F(imports, a_syncobj_does_as_well)
{
	uint32_t binary, timeline, fence;
	int file = foreign(self->vgem, &fence);
	uint64_t point = 5;

	ASSERT_LE(0, file);
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &binary));
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &timeline));
	ASSERT_EQ(0, drmSyncobjImportSyncFile(self->fd, binary, file));
	close(file);
	ASSERT_EQ(0, drmSyncobjTransfer(self->fd, timeline, point, binary, 0, 0));
	ASSERT_EQ(0, vf_fence_import_syncobj(self->native, binary, 0, 1));
	ASSERT_EQ(0, vf_fence_import_syncobj(self->memory, timeline, point, 2));
	/*
	 * The call takes the dma_fence that the syncobj has at that time: a later reset
	 * changes nothing.
	 */
	ASSERT_EQ(0, drmSyncobjReset(self->fd, &binary, 1));
	ASSERT_EQ(0, arm(self->adapter, self->memory, 2, self->efd));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, signal_foreign(self->vgem, fence));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(0, vf_fence_wait(self->native, 1, DEADLINE));
	EXPECT_EQ(2, vf_fence_current(self->memory));
	drmSyncobjDestroy(self->fd, binary);
	drmSyncobjDestroy(self->fd, timeline);
}

/* The value is of the round in which the fence is when the import signals. */
TEST_F(imports, WDDM_128_an_import_signals_across_the_wrap)
{
	uint32_t foreigner;
	int file = foreign(self->vgem, &foreigner);
	struct vf_adapter *adapter;
	struct vf_device *device;
	struct vf_fence *fence;

	if (vf_adapter_open(12, &adapter))
		SKIP(return, "needs the adapters of the guests");
	ASSERT_LE(0, file);
	ASSERT_EQ(0, vf_device_create(adapter, &device));
	ASSERT_EQ(0, vf_monitored_fence_create(device, 0, UINT32_MAX - 1, &fence));
	ASSERT_EQ(0, arm(adapter, fence, 3, self->efd));
	ASSERT_EQ(0, vf_fence_import_sync_file(fence, file, 3));
	close(file);
	ASSERT_EQ(0, vf_fence_signal(fence, UINT32_MAX));
	EXPECT_FALSE(fired(self->efd));
	ASSERT_EQ(0, signal_foreign(self->vgem, foreigner));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_EQ(3, vf_fence_current(fence));
	EXPECT_EQ(0, vf_fence_wait(fence, UINT32_MAX, 0));
	vf_fence_destroy(fence);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
}

TEST_F(imports, what_has_signaled_signals_at_once)
{
	uint32_t syncobj;
	uint64_t point = 3;

	ASSERT_EQ(0, drmSyncobjCreate(self->fd, DRM_SYNCOBJ_CREATE_SIGNALED, &syncobj));
	ASSERT_EQ(0, vf_fence_import_syncobj(self->native, syncobj, 0, 4));
	EXPECT_EQ(0, vf_fence_wait(self->native, 4, DEADLINE));
	drmSyncobjDestroy(self->fd, syncobj);
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &syncobj));
	ASSERT_EQ(0, drmSyncobjTimelineSignal(self->fd, &syncobj, &point, 1));
	ASSERT_EQ(0, vf_fence_import_syncobj(self->memory, syncobj, 3, 6));
	EXPECT_EQ(0, vf_fence_wait(self->memory, 6, DEADLINE));
	/* An import that allows a rewind signals a smaller value, as a CPU signal does. */
	ASSERT_EQ(0, vf_fence_import_syncobj(self->memory, syncobj, 3, 5));
	EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->memory) == 5));
	drmSyncobjDestroy(self->fd, syncobj);
}

TEST_F(imports, signals_come_in_the_order_of_what_they_stand_for)
{
	struct vf_counters before = counters(self->adapter);
	uint64_t value = 0, back = 0;
	uint32_t foreigner;
	int file = foreign(self->vgem, &foreigner);
	unsigned int i;

	ASSERT_LE(0, file);
	for (i = 1; i <= 500; i++)
		ASSERT_EQ(0, vf_fence_import_sync_file(self->native, file, i));
	close(file);
	/* All are due at once: whoever performs them finds many, and they must not be turned. */
	ASSERT_EQ(0, signal_foreign(self->vgem, foreigner));
	/* The value would decrease if imports signaled out of order. */
	ASSERT_TRUE(EVENTUALLY((back += vf_fence_current(self->native) < value,
				value = vf_fence_current(self->native),
				counters(self->adapter).cpu_signals == before.cpu_signals + 500)));
	EXPECT_EQ(0, back);
	EXPECT_EQ(500, vf_fence_current(self->native));
}

TEST_F(imports, one_wrong_thing_at_a_time)
{
	struct vf_fence_desc desc = { .type = DRM_VFENCE_FENCE_INTRA_GPU };
	struct drm_vfence_fence_import args;
	struct vf_fence *intra, *waiter;
	uint32_t syncobj, fence;
	int file, fd;

	file = foreign(self->vgem, &fence);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &syncobj));
#define REJECT(want, change) do {							\
	args = (struct drm_vfence_fence_import){					\
		.fence = vf_fence_handle(self->native), .source = (uint32_t)file,	\
		.value = 1,								\
	};										\
	change;										\
	EXPECT_EQ(-(want), raw(self->fd, DRM_IOCTL_VFENCE_FENCE_IMPORT, &args)) {	\
		TH_LOG("%s", #change);							\
	}										\
} while (0)
#define SYNCOBJ(handle) args.flags = DRM_VFENCE_IMPORT_SYNCOBJ, args.source = (handle)
	REJECT(ENOENT, args.fence = 0x7fffffff);
	REJECT(EINVAL, args.flags = 2);
	REJECT(EINVAL, args.pad = 1);
	REJECT(EINVAL, args.point = 1);
	REJECT(EINVAL, args.source = UINT32_MAX);
	REJECT(EINVAL, args.source = (uint32_t)self->efd);
	REJECT(ENOENT, SYNCOBJ(0x7fffffff));
	/*
	 * A syncobj without a fence and a point without a submission are refused: the
	 * call does not wait.
	 */
	REJECT(EINVAL, SYNCOBJ(syncobj));
	REJECT(EINVAL, SYNCOBJ(syncobj); args.point = 9);
	ASSERT_EQ(0, vf_fence_create_desc(self->device, &desc, &intra));
	REJECT(EOPNOTSUPP, args.fence = vf_fence_handle(intra));
	vf_fence_destroy(intra);
	fd = vf_fence_export_rights(self->shared, DRM_VFENCE_RIGHT_READ | DRM_VFENCE_RIGHT_WAIT);
	ASSERT_EQ(0, vf_fence_open(self->device, fd, &waiter));
	REJECT(EACCES, args.fence = vf_fence_handle(waiter));
	vf_fence_destroy(waiter);
	close(fd);
	ASSERT_EQ(0, signal_foreign(self->vgem, fence));
	EXPECT_EQ(0, vf_fence_current(self->native));
	close(file);
	drmSyncobjDestroy(self->fd, syncobj);
}

/* One of two syncobjs has no fence yet, so that the call waits for neither. */
TEST_F(imports, a_refused_submission_follows_no_syncobj)
{
	struct vf_syncobj in[2] = { 0 };
	struct vf_submit what = { .wait_syncobjs = in, .wait_syncobj_count = 2 };
	struct vf_queue *queue;
	uint32_t fence;
	int file = foreign(self->vgem, &fence);

	ASSERT_LE(0, file);
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &in[0].handle));
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &in[1].handle));
	ASSERT_EQ(0, drmSyncobjImportSyncFile(self->fd, in[0].handle, file));
	EXPECT_EQ(-EINVAL, vf_submit(&queue, 1, &what));
	ASSERT_EQ(0, signal_foreign(self->vgem, fence));
	EXPECT_EQ(0, vf_queue_last_queued(queue));
	/* With a fence for both it is taken. */
	ASSERT_EQ(0, drmSyncobjImportSyncFile(self->fd, in[1].handle, file));
	EXPECT_EQ(0, vf_submit(&queue, 1, &what));
	EXPECT_EQ(0, vf_queue_wait_idle(queue, DEADLINE));
	vf_queue_destroy(queue);
	close(file);
	drmSyncobjDestroy(self->fd, in[0].handle);
	drmSyncobjDestroy(self->fd, in[1].handle);
}

TEST_F(imports, as_many_as_there_is_room_for)
{
	unsigned int n = 0, i;
	uint32_t fence;
	int file = foreign(self->vgem, &fence), ret;

	ASSERT_LE(0, file);
	do {
		ret = vf_fence_import_sync_file(self->memory, file, ++n);
	} while (!ret);
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(1024 + 1, n);
	ASSERT_EQ(0, signal_foreign(self->vgem, fence));
	/* The driver has room for imports again. */
	for (i = 0; i < 2; i++)
		EXPECT_TRUE(EVENTUALLY(!vf_fence_import_sync_file(self->native, file, 1)));
	EXPECT_EQ(0, vf_fence_wait(self->native, 1, DEADLINE));
	close(file);
}

TEST_F(imports, a_file_that_closes_forgets_its_imports)
{
	struct vf_fence *opened;
	struct vf_adapter *other;
	struct vf_device *device;
	unsigned int i;
	uint32_t fence;
	int fd, file;

	fd = vf_fence_export(self->shared);
	/* Close the file before the signal, then at the same time. */
	for (i = 0; i < 40; i++) {
		pid_t pid;

		file = foreign(self->vgem, &fence);
		ASSERT_LE(0, file);
		ASSERT_EQ(0, vf_adapter_open(0, &other));
		ASSERT_EQ(0, vf_device_create(other, &device));
		ASSERT_EQ(0, vf_fence_open(device, fd, &opened));
		ASSERT_EQ(0, vf_fence_import_sync_file(opened, file, i + 1));
		close(file);
		if (i < 20) {
			vf_fence_destroy(opened);
			vf_device_destroy(device);
			vf_adapter_close(other);
			ASSERT_EQ(0, signal_foreign(self->vgem, fence));
			EXPECT_EQ(0, vf_fence_current(self->shared));
			continue;
		}
		pid = fork();
		if (!pid)
			_exit(signal_foreign(self->vgem, fence) ? 1 : 0);
		vf_fence_destroy(opened);
		vf_device_destroy(device);
		vf_adapter_close(other);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	}
	close(fd);
}

TEST_F(imports, a_device_that_goes_leaves_them_without_effect)
{
	uint32_t fence;
	int file;

	if (geteuid())
		SKIP(return, "needs root");
	file = foreign(self->vgem, &fence);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, vf_fence_import_sync_file(self->native, file, 7));
	close(file);
	ASSERT_EQ(0, driver("unbind", 0));
	EXPECT_EQ(0, signal_foreign(self->vgem, fence));
	/* After the unbind the mapping shows the dummy page. */
	EXPECT_EQ(UINT64_MAX, vf_fence_current(self->native));
	ASSERT_EQ(0, driver("bind", 0));
}

TEST_HARNESS_MAIN
