// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interfaces that every DRM driver with buffers and syncobjs has. Programs that know
 * nothing of this driver rely on them.
 */

#include "vfence_test.h"

FIXTURE(generic) {
	VFENCE_MEMBERS;
	int vgem;
};

FIXTURE_SETUP(generic)
{
	VFENCE_SETUP(0);
	self->vgem = open_vgem();
}

FIXTURE_TEARDOWN(generic)
{
	if (self->vgem >= 0)
		close(self->vgem);
	VFENCE_TEARDOWN();
}

TEST_F(generic, it_says_who_it_is)
{
	drmVersionPtr version = drmGetVersion(self->fd);
	uint64_t cap = POISON;

	ASSERT_NE(NULL, version);
	EXPECT_STREQ("vfence", version->name);
	EXPECT_LT(0, strlen(version->desc));
	EXPECT_EQ(2, version->version_major);
	drmFreeVersion(version);
	EXPECT_EQ(0, drmGetCap(self->fd, DRM_CAP_PRIME, &cap));
	EXPECT_EQ(DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT, cap);
	EXPECT_EQ(0, drmGetCap(self->fd, DRM_CAP_SYNCOBJ, &cap));
	EXPECT_EQ(1, cap);
	EXPECT_EQ(0, drmGetCap(self->fd, DRM_CAP_SYNCOBJ_TIMELINE, &cap));
	EXPECT_EQ(1, cap);
}

static int wait_syncobj(int fd, uint32_t handle)
{
	return drmSyncobjWait(fd, &handle, 1, 0, 0, NULL);
}

TEST_F(generic, binary_syncobjs)
{
	uint32_t a, b;
	int fd;

	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &a));
	/* A syncobj without a fence cannot be waited for; one with a fence can. */
	EXPECT_EQ(-EINVAL, wait_syncobj(self->fd, a));
	EXPECT_EQ(-ETIME, drmSyncobjWait(self->fd, &a, 1, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
					 NULL));
	ASSERT_EQ(0, drmSyncobjSignal(self->fd, &a, 1));
	EXPECT_EQ(0, wait_syncobj(self->fd, a));
	/* Pass the syncobj by descriptor, and by sync_file. */
	ASSERT_EQ(0, drmSyncobjHandleToFD(self->fd, a, &fd));
	ASSERT_EQ(0, drmSyncobjFDToHandle(self->fd, fd, &b));
	close(fd);
	EXPECT_EQ(0, wait_syncobj(self->fd, b));
	ASSERT_EQ(0, drmSyncobjReset(self->fd, &b, 1));
	EXPECT_EQ(-EINVAL, wait_syncobj(self->fd, a));
	ASSERT_EQ(0, drmSyncobjSignal(self->fd, &a, 1));
	ASSERT_EQ(0, drmSyncobjExportSyncFile(self->fd, a, &fd));
	drmSyncobjDestroy(self->fd, b);
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &b));
	ASSERT_EQ(0, drmSyncobjImportSyncFile(self->fd, b, fd));
	close(fd);
	EXPECT_EQ(0, wait_syncobj(self->fd, b));
	EXPECT_EQ(0, drmSyncobjDestroy(self->fd, a));
	EXPECT_EQ(0, drmSyncobjDestroy(self->fd, b));
	EXPECT_NE(0, drmSyncobjDestroy(self->fd, b));
}

TEST_F(generic, timeline_syncobjs)
{
	uint64_t point = 5, got = POISON;
	uint32_t a, b;

	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &a));
	ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &b));
	ASSERT_EQ(0, drmSyncobjQuery(self->fd, &a, &got, 1));
	EXPECT_EQ(0, got);
	ASSERT_EQ(0, drmSyncobjTimelineSignal(self->fd, &a, &point, 1));
	ASSERT_EQ(0, drmSyncobjQuery(self->fd, &a, &got, 1));
	EXPECT_EQ(5, got);
	for (point = 1; point <= 5; point++)
		EXPECT_EQ(0, drmSyncobjTimelineWait(self->fd, &a, &point, 1, 0, 0, NULL));
	EXPECT_EQ(-EINVAL, drmSyncobjTimelineWait(self->fd, &a, &point, 1, 0, 0, NULL));
	EXPECT_EQ(-ETIME, drmSyncobjTimelineWait(self->fd, &a, &point, 1, 0,
						 DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE, NULL));
	ASSERT_EQ(0, drmSyncobjTransfer(self->fd, b, 0, a, 5, 0));
	EXPECT_EQ(0, wait_syncobj(self->fd, b));
	drmSyncobjDestroy(self->fd, a);
	drmSyncobjDestroy(self->fd, b);
}

TEST_F(generic, buffers_go_to_another_driver_and_back)
{
	struct drm_vfence_bo_create bo = { .size = 8192 };
	struct drm_mode_map_dumb map = { 0 };
	uint32_t there, again;
	uint32_t *mine, *theirs;
	int fd;

	if (self->vgem < 0)
		SKIP(return, "needs vgem");
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_BO_CREATE, &bo));
	mine = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
		    (off_t)bo.mmap_offset);
	ASSERT_NE(MAP_FAILED, mine);
	mine[1024] = 0x12345678;
	ASSERT_EQ(0, drmPrimeHandleToFD(self->fd, bo.handle, DRM_CLOEXEC | DRM_RDWR, &fd));
	EXPECT_EQ(8192, lseek(fd, 0, SEEK_END));
	/* An import of an own buffer returns the same handle. */
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, fd, &again));
	EXPECT_EQ(bo.handle, again);
	ASSERT_EQ(0, drmPrimeFDToHandle(self->vgem, fd, &there));
	theirs = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, theirs);
	EXPECT_EQ(0x12345678, theirs[1024]);
	theirs[0] = 7;
	EXPECT_EQ(7, mine[0]);
	/* The memory stays as long as a file has the buffer. */
	close(fd);
	drmCloseBufferHandle(self->fd, bo.handle);
	munmap(mine, 8192);
	EXPECT_EQ(7, theirs[0]);
	munmap(theirs, 8192);
	map.handle = there;
	drmCloseBufferHandle(self->vgem, there);
	EXPECT_NE(0, raw(self->vgem, DRM_IOCTL_MODE_MAP_DUMB, &map));
}

TEST_F(generic, buffers_of_another_driver_come_here)
{
	struct drm_mode_create_dumb create = { .width = 32, .height = 32, .bpp = 32 };
	struct drm_vfence_vm_bind bind = {
		.flags = DRM_VFENCE_VM_READ | DRM_VFENCE_VM_WRITE, .size = 4096,
	};
	struct drm_vfence_vm_bind unbind;
	struct drm_mode_map_dumb map = { 0 };
	uint32_t *theirs, handle, again;
	int fd;

	if (self->vgem < 0)
		SKIP(return, "needs vgem");
	ASSERT_EQ(0, raw(self->vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create));
	ASSERT_EQ(0, drmPrimeHandleToFD(self->vgem, create.handle, DRM_CLOEXEC, &fd));
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, fd, &handle));
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, fd, &again));
	EXPECT_EQ(handle, again);
	close(fd);
	/* The imported buffer can be exported again. */
	ASSERT_EQ(0, drmPrimeHandleToFD(self->fd, handle, DRM_CLOEXEC, &fd));
	ASSERT_EQ(0, drmPrimeFDToHandle(self->vgem, fd, &again));
	EXPECT_EQ(create.handle, again);
	close(fd);
	/* The GPU writes to the buffer, and its owner sees the data. */
	map.handle = create.handle;
	ASSERT_EQ(0, raw(self->vgem, DRM_IOCTL_MODE_MAP_DUMB, &map));
	theirs = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->vgem,
		      (off_t)map.offset);
	ASSERT_NE(MAP_FAILED, theirs);
	theirs[0] = 41;
	bind.handle = handle;
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &bind));
	vf_cmd_copy(self->gfx, bind.va + 4, bind.va, 4);
	vf_cmd_fill(self->gfx, bind.va + 8, 4, 43);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	EXPECT_EQ(41, theirs[1]);
	EXPECT_EQ(43, theirs[2]);
	/* The mapping keeps the buffer after its handle is closed. */
	EXPECT_EQ(0, drmCloseBufferHandle(self->fd, handle));
	unbind = (struct drm_vfence_vm_bind){ .op = DRM_VFENCE_VM_UNMAP, .va = bind.va };
	EXPECT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &unbind));
	/* The buffer has only one page, so two pages cannot be bound. */
	ASSERT_EQ(0, drmPrimeHandleToFD(self->vgem, create.handle, DRM_CLOEXEC, &fd));
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, fd, &bind.handle));
	close(fd);
	bind.size = 8192;
	bind.va = 0;
	EXPECT_EQ(-EINVAL, raw(self->fd, DRM_IOCTL_VFENCE_VM_BIND, &bind));
	EXPECT_EQ(0, drmCloseBufferHandle(self->fd, bind.handle));
	munmap(theirs, 4096);
	drmCloseBufferHandle(self->vgem, create.handle);
}

/* Dumb buffers need the primary node, as with every driver. */
TEST_F(generic, dumb_buffers)
{
	struct drm_mode_create_dumb create = { .width = 100, .height = 10, .bpp = 32 };
	struct drm_mode_map_dumb map = { 0 };
	struct drm_mode_destroy_dumb destroy = { 0 };
	char *name = drmGetPrimaryDeviceNameFromFd(self->fd);
	uint32_t *words;
	int card;

	ASSERT_NE(NULL, name);
	card = open(name, O_RDWR | O_CLOEXEC);
	free(name);
	ASSERT_LE(0, card);
	ASSERT_EQ(0, raw(card, DRM_IOCTL_MODE_CREATE_DUMB, &create));
	EXPECT_LE(400, create.pitch);
	EXPECT_LE(create.pitch * 10, create.size);
	map.handle = create.handle;
	ASSERT_EQ(0, raw(card, DRM_IOCTL_MODE_MAP_DUMB, &map));
	words = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, card,
		     (off_t)map.offset);
	ASSERT_NE(MAP_FAILED, words);
	EXPECT_EQ(0, words[0]);
	words[create.size / 4 - 1] = 7;
	destroy.handle = create.handle;
	EXPECT_EQ(0, raw(card, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy));
	EXPECT_EQ(-EINVAL, raw(card, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy));
	/* The mapping keeps the buffer. */
	EXPECT_EQ(7, words[create.size / 4 - 1]);
	munmap(words, create.size);
	create.width = 0;
	EXPECT_EQ(-EINVAL, raw(card, DRM_IOCTL_MODE_CREATE_DUMB, &create));
	close(card);
}

/* DRM prints a unit without a prefix, KiB or MiB, whichever has no remainder. */
static uint64_t fdinfo_kib(int fd, const char *key)
{
	char value[128];
	uint64_t number;

	if (!fdinfo(fd, key, value, sizeof(value)))
		return POISON;
	number = strtoull(value, NULL, 10);
	return strstr(value, "MiB") ? number << 10 : strstr(value, "KiB") ? number : number >> 10;
}

TEST_F(generic, fdinfo_has_cycles_and_memory)
{
	char value[128];
	uint64_t ns, memory;
	struct vf_buffer *buffer;
	struct utsname kernel;
	int major, minor;

	vf_cmd_draw(self->gfx, 1, 3000000);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_TRUE(fdinfo(self->fd, "drm-engine-gfx", value, sizeof(value)));
	ns = strtoull(value, NULL, 10);
	ASSERT_TRUE(fdinfo(self->fd, "drm-cycles-gfx", value, sizeof(value)));
	/* The clock has 125 MHz: a cycle takes 8 ns. */
	EXPECT_EQ(ns / 8, strtoull(value, NULL, 10));
	ASSERT_TRUE(fdinfo(self->fd, "drm-maxfreq-gfx", value, sizeof(value)));
	EXPECT_STREQ("125000000 Hz", value);

	ASSERT_EQ(0, uname(&kernel));
	ASSERT_EQ(2, sscanf(kernel.release, "%d.%d", &major, &minor));
	if (major == 6 && minor < 5)
		SKIP(return, "keys of memory are those of kernels from 6.5 on");
	memory = fdinfo_kib(self->fd, "drm-total-memory");
	ASSERT_EQ(0, vf_buffer_create(self->adapter, 300 << 10, &buffer));
	EXPECT_EQ(memory + 300, fdinfo_kib(self->fd, "drm-total-memory"));
	vf_buffer_destroy(buffer);
	EXPECT_EQ(memory, fdinfo_kib(self->fd, "drm-total-memory"));
}

TEST_F(generic, state_has_queues_and_what_they_wait_for)
{
	uint64_t awaited = 0, has = 1, queue = 0, client = 0, turns = 0;
	struct vf_fence *fence;
	struct vf_point point = { .value = 4242 };
	char value[128], mine[160];
	int efd = eventfd(0, EFD_CLOEXEC);

	if (getuid())
		SKIP(return, "debugfs needs root");
	ASSERT_TRUE(fdinfo(self->fd, "drm-client-id", value, sizeof(value)));
	snprintf(mine, sizeof(mine), "client=%s ", value);
	ASSERT_TRUE(find_state(0, "state=idle", mine, "queue=", &queue));

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	point.fence = fence;
	vf_cmd_wait(self->gfx, fence, 4241);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(find_state(0, "state=blocked", mine, " fence=", &awaited)));
	EXPECT_TRUE(find_state(0, "engine=0 turn=0 context=0 queue=0", "", "submitted=", &turns));
	ASSERT_TRUE(find_state(0, "state=blocked", mine, " value=", &has));
	EXPECT_EQ(4241, has);
	EXPECT_TRUE(find_state(0, "kind=user", mine, "client=", &client));
	EXPECT_EQ(strtoull(value, NULL, 10), client);

	/* The fence is named by the same number, once a thread waits for it. */
	EXPECT_FALSE(find_state(0, "waiters=1", " value=4242", "fence=", &queue));
	ASSERT_EQ(0, vf_event_arm(self->adapter, &point, 1, 0, efd, NULL));
	ASSERT_TRUE(find_state(0, "waiters=1", " value=4242", "fence=", &has));
	EXPECT_EQ(awaited, has);
	ASSERT_TRUE(find_state(0, "waiters=1", " value=4242", "monitored=", &has));
	EXPECT_EQ(4241, has);

	ASSERT_EQ(0, vf_fence_signal(fence, 4242));
	ASSERT_TRUE(drained(self->gfx));
	EXPECT_FALSE(find_state(0, "state=blocked", mine, " fence=", &awaited));
	EXPECT_FALSE(find_state(0, "waiters=1", " value=4242", "fence=", &has));
	/* The engine gives the queue up after the last signal. */
	EXPECT_TRUE(EVENTUALLY(find_state(0, "engine=0 turn=0 ", "", "submitted=", &has)));
	EXPECT_LT(turns, has);
	vf_fence_destroy(fence);
	close(efd);
}

TEST_F(generic, fdinfo_tells_driver_client_and_engines)
{
	static const char *const engines[] = {
		"drm-engine-gfx", "drm-engine-compute", "drm-engine-copy", "drm-engine-mm",
	};
	char value[128], other[128];
	struct vf_adapter *second;
	unsigned int i;

	ASSERT_TRUE(fdinfo(self->fd, "drm-driver", value, sizeof(value)));
	EXPECT_STREQ("vfence", value);
	ASSERT_TRUE(fdinfo(self->fd, "drm-client-id", value, sizeof(value)));
	ASSERT_EQ(0, vf_adapter_open(0, &second));
	ASSERT_TRUE(fdinfo(vf_adapter_fd(second), "drm-client-id", other, sizeof(other)));
	EXPECT_STRNE(value, other);
	vf_cmd_draw(self->gfx, 1, 3000000);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(fdinfo(self->fd, engines[i], value, sizeof(value)));
		EXPECT_NE(NULL, strstr(value, " ns"));
		EXPECT_EQ(!i, strtoull(value, NULL, 10) >= 3000000) {
			TH_LOG("%s: %s", engines[i], value);
		}
		/* Each client has its own times. */
		ASSERT_TRUE(fdinfo(vf_adapter_fd(second), engines[i], value, sizeof(value)));
		EXPECT_EQ(0, strtoull(value, NULL, 10));
	}
	vf_adapter_close(second);
}

/* Read every file below @path. Return: the number of files. */
static unsigned int read_all(const char *path, unsigned int depth)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned int n = 0;

	while (dir && (entry = readdir(dir))) {
		char name[512], buf[4096];
		struct stat st;
		int fd;

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (entry->d_name[0] == '.' || lstat(name, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth)
			n += read_all(name, depth - 1);
		if (!S_ISREG(st.st_mode) || !(st.st_mode & 0444))
			continue;
		fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

TEST_F(generic, every_file_of_sysfs_and_debugfs_can_be_read)
{
	if (geteuid())
		SKIP(return, "needs root");
	/* The files are in the folder of one of the nodes. */
	EXPECT_LT(8, read_all("/sys/kernel/debug/dri", 3));
	EXPECT_LT(3, read_all("/sys/bus/platform/devices/vfence.0", 3));
}

TEST_F(generic, core_calls_with_nonsense_are_refused)
{
	struct drm_gem_close close = { .handle = 0x7fffffff };
	struct drm_gem_flink flink = { .handle = 0x7fffffff };
	struct drm_mode_create_dumb dumb = { 0 };
	unsigned int i;

	EXPECT_EQ(-EINVAL, raw(self->fd, DRM_IOCTL_GEM_CLOSE, &close));
	EXPECT_GT(0, raw(self->fd, DRM_IOCTL_GEM_FLINK, &flink));
	EXPECT_GT(0, raw(self->fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb));
	/* These ioctl numbers are not in use. */
	for (i = 0x40; i < 0x60; i++)
		EXPECT_GT(0, raw(self->fd, DRM_IO(DRM_COMMAND_BASE + i), NULL));
}

TEST_HARNESS_MAIN
