// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts: users share an engine in equal parts, and so do the processes of one user, whatever they
 * open. All of it is GPU time, so the tests need no exact clock: each asks who had how much of it.
 */

#include "vfence_test.h"

#define MAX_FILES	24
#define MS		INT64_C(1000000)
#define STRANGER	((uid_t)4711)

/* A process with open files, each with a device and a queue that has work for minutes. */
struct party {
	struct vf_adapter *adapter[MAX_FILES];
	unsigned int files;
};

FIXTURE(accounts)
{
	struct party party[3];
};

FIXTURE_SETUP(accounts)
{
	if (geteuid())
		SKIP(return, "needs root, to be several users");
}

FIXTURE_TEARDOWN(accounts)
{
	unsigned int i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k < self->party[i].files; k++)
			vf_adapter_close(self->party[i].adapter[k]);
}

/* Keep a queue of a file busy for minutes. */
static int hog(struct vf_adapter *adapter)
{
	struct vf_device *device;
	struct vf_queue *queue;
	int ret = vf_device_create(adapter, &device);

	ret = ret ? ret : vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue);
	if (ret)
		return ret;
	vf_cmd_draw(queue, UINT32_MAX, MS);
	return vf_queue_submit(queue);
}

/* Open @files files and keep them busy, all as one process, or else each as a process of its own. */
static int party_open(struct party *party, uid_t uid, unsigned int files, bool one)
{
	for (; party->files < files; party->files++) {
		struct vf_adapter **adapter = &party->adapter[party->files];
		int ret = one ? vf_adapter_open(0, adapter) : adapter_open_apart(0, uid, adapter);

		if (ret)
			return ret;
	}
	return 0;
}

static int party_work(struct party *party)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < party->files && !ret; i++)
		ret = hog(party->adapter[i]);
	return ret;
}

/* GPU time of all files of a party, in ns. */
static int64_t party_time(struct party *party)
{
	int64_t ns = 0;
	unsigned int i;

	for (i = 0; i < party->files; i++)
		ns += fdinfo_number(vf_adapter_fd(party->adapter[i]), "drm-engine-gfx");
	return ns;
}

/* Let the engine work for two seconds of its time. Return: the part of the first party, in percent. */
static double part_of_first(FIXTURE_DATA(accounts) *self, unsigned int parties)
{
	int64_t begun[3], had[3], all = 0;
	unsigned int i;

	for (i = 0; i < parties; i++)
		begun[i] = party_time(&self->party[i]);
	EVENTUALLY(({
		for (i = 0, all = 0; i < parties; i++)
			all += had[i] = party_time(&self->party[i]) - begun[i];
		all > 2 * SECOND;
	}));
	return 100.0 * had[0] / all;
}

TEST_F(accounts, many_files_of_a_process_have_one_part)
{
	double part;

	ASSERT_EQ(0, party_open(&self->party[0], -1, 1, false));
	ASSERT_EQ(0, party_open(&self->party[1], -1, MAX_FILES, true));
	ASSERT_EQ(0, party_work(&self->party[0]));
	ASSERT_EQ(0, party_work(&self->party[1]));
	part = part_of_first(self, 2);
	TH_LOG("one file beside %d of another process: %.1f %%", MAX_FILES, part);
	EXPECT_LT(48, part);
	EXPECT_GT(52, part);
}

TEST_F(accounts, many_processes_of_a_user_have_one_part)
{
	double part;

	ASSERT_EQ(0, party_open(&self->party[0], STRANGER, 1, false));
	ASSERT_EQ(0, party_open(&self->party[1], -1, 8, false));
	ASSERT_EQ(0, party_work(&self->party[0]));
	ASSERT_EQ(0, party_work(&self->party[1]));
	part = part_of_first(self, 2);
	TH_LOG("a process beside eight of another user: %.1f %%", part);
	EXPECT_LT(48, part);
	EXPECT_GT(52, part);
}

TEST_F(accounts, processes_of_a_user_share_its_part)
{
	double part;

	ASSERT_EQ(0, party_open(&self->party[0], -1, 1, false));
	ASSERT_EQ(0, party_open(&self->party[1], -1, 3, true));
	ASSERT_EQ(0, party_open(&self->party[2], STRANGER, 1, false));
	ASSERT_EQ(0, party_work(&self->party[0]));
	ASSERT_EQ(0, party_work(&self->party[1]));
	ASSERT_EQ(0, party_work(&self->party[2]));
	part = part_of_first(self, 3);
	TH_LOG("a process beside another one of its user, and another user: %.1f %%", part);
	EXPECT_LT(23, part);
	EXPECT_GT(27, part);
}

/* A dma_fence whose work is a tenth of a second long: how long others have the engine meanwhile. */
TEST_F(accounts, a_dma_fence_waits_for_one_part_of_a_process)
{
	struct vf_device *device;
	struct vf_queue *queue;
	int64_t begun, others;

	ASSERT_EQ(0, party_open(&self->party[0], -1, 1, false));
	ASSERT_EQ(0, party_open(&self->party[1], -1, MAX_FILES, true));
	ASSERT_EQ(0, vf_device_create(self->party[0].adapter[0], &device));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, party_work(&self->party[1]));
	ASSERT_TRUE(EVENTUALLY(party_time(&self->party[1])));
	vf_cmd_draw(queue, 100, MS);
	begun = party_time(&self->party[1]);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	others = party_time(&self->party[1]) - begun;
	TH_LOG("100 ms of work beside %lld ms of %d files", (long long)(others / MS), MAX_FILES);
	/* As much as its own, a quantum at each end, and what runs until the test looks. */
	if (deterministic())
		EXPECT_GT(150 * MS, others);
}

/* ------------------------------------------------------------------ memory */

/* An adapter on which a user has a mebibyte of kernel memory. */
#define LITTLE		14
#define MEBIBYTE	(1u << 20)

FIXTURE(memory)
{
	/* The user has two files, one of another process, and a stranger has the third. */
	struct vf_adapter *adapter[3];
	struct vf_device *device[3];
	struct vf_queue *queue[3];
	struct vf_fence *fence[3];
	uint32_t last[3];
};

FIXTURE_VARIANT(memory)
{
	int (*make)(FIXTURE_DATA(memory) *self, unsigned int i);
	int (*destroy)(FIXTURE_DATA(memory) *self, unsigned int i);
	/* About as much as the kernel allocates for one. */
	unsigned int least, most;
};

static int make_fence(FIXTURE_DATA(memory) *self, unsigned int i)
{
	struct drm_vfence_fence_create args = { .device = vf_device_handle(self->device[i]) };
	int ret = raw(vf_adapter_fd(self->adapter[i]), DRM_IOCTL_VFENCE_FENCE_CREATE, &args);

	self->last[i] = ret ? self->last[i] : args.handle;
	return ret;
}

static int destroy_fence(FIXTURE_DATA(memory) *self, unsigned int i)
{
	destroy_handle(vf_adapter_fd(self->adapter[i]), DRM_IOCTL_VFENCE_FENCE_DESTROY, self->last[i]);
	return 0;
}

static int make_buffer(FIXTURE_DATA(memory) *self, unsigned int i)
{
	struct drm_vfence_bo_create args = { .size = 4096 };
	int ret = raw(vf_adapter_fd(self->adapter[i]), DRM_IOCTL_VFENCE_BO_CREATE, &args);

	self->last[i] = ret ? self->last[i] : args.handle;
	return ret;
}

static int destroy_buffer(FIXTURE_DATA(memory) *self, unsigned int i)
{
	return drmCloseBufferHandle(vf_adapter_fd(self->adapter[i]), self->last[i]) ? -errno : 0;
}

/* A submission that waits for the next value of a fence. */
static int make_submission(FIXTURE_DATA(memory) *self, unsigned int i)
{
	struct vf_point point = { self->fence[i], self->last[i] + 1 };
	struct vf_submit what = { .waits = &point, .wait_count = 1 };
	int ret = vf_submit(&self->queue[i], 1, &what);

	self->last[i] += !ret;
	return ret;
}

/* The first submission ends. */
static int destroy_submission(FIXTURE_DATA(memory) *self, unsigned int i)
{
	uint64_t value = vf_fence_current(self->fence[i]) + 1;
	int ret = vf_fence_signal(self->fence[i], value);

	return ret ? ret : vf_fence_wait(vf_queue_progress(self->queue[i]), value, DEADLINE);
}

FIXTURE_VARIANT_ADD(memory, of_fences) {
	.make = make_fence, .destroy = destroy_fence, .least = 800, .most = 2000,
};
FIXTURE_VARIANT_ADD(memory, of_buffers) {
	.make = make_buffer, .destroy = destroy_buffer, .least = 1000, .most = 3000,
};
FIXTURE_VARIANT_ADD(memory, of_submissions) {
	.make = make_submission, .destroy = destroy_submission, .least = 1500, .most = 4000,
};

FIXTURE_SETUP(memory)
{
	unsigned int i;

	if (geteuid() || access("/sys/bus/platform/devices/vfence.14/drm", F_OK))
		SKIP(return, "needs root, and an adapter with little memory for a user (user_memory_mib)");
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, adapter_open_apart(LITTLE, i < 2 ? (uid_t)-1 : STRANGER, &self->adapter[i]));
		ASSERT_EQ(0, vf_device_create(self->adapter[i], &self->device[i]));
		ASSERT_EQ(0, vf_kernel_queue_create(self->device[i], DRM_VFENCE_NODE_GFX, &self->queue[i]));
		ASSERT_EQ(0, vf_fence_create(self->device[i], 0, 0, &self->fence[i]));
		self->last[i] = 0;
	}
}

/* Close a file, with the mappings that the library has of it. */
static void close_file(FIXTURE_DATA(memory) *self, unsigned int i)
{
	vf_queue_abort(self->queue[i]);
	vf_queue_destroy(self->queue[i]);
	vf_fence_destroy(self->fence[i]);
	vf_device_destroy(self->device[i]);
	vf_adapter_close(self->adapter[i]);
	self->adapter[i] = NULL;
}

FIXTURE_TEARDOWN(memory)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (self->adapter[i])
			close_file(self, i);
}

static uint64_t memory_of(FIXTURE_DATA(memory) *self, unsigned int i)
{
	return limit_of(self->adapter[i], DRM_VFENCE_LIMIT_USER_MEMORY).used;
}

/* What a client has is bounded for its user, who may open as many files and processes as he likes. */
TEST_F(memory, a_user_has_so_much_and_leaves_others_theirs)
{
	struct drm_vfence_limit limits[16] = { 0 }, refused[16] = { 0 };
	uint64_t before = memory_of(self, 0), full;
	unsigned int count = 0, known = 16, i;
	int ret;

	EXPECT_EQ(MEBIBYTE, limit_of(self->adapter[0], DRM_VFENCE_LIMIT_USER_MEMORY).limit);
	EXPECT_EQ(before, memory_of(self, 1));
	for (; !(ret = variant->make(self, count % 2)); count++)
		ASSERT_GT(MEBIBYTE, count);
	EXPECT_EQ(-ENOSPC, ret);
	TH_LOG("%u of %.0f bytes", count, (double)(MEBIBYTE - before) / count);
	EXPECT_LE(variant->least, (MEBIBYTE - before) / count);
	EXPECT_GE(variant->most, (MEBIBYTE - before) / count);

	/* A call that is refused takes nothing, whichever file it is of. */
	full = memory_of(self, 0);
	EXPECT_GE(MEBIBYTE, full);
	ASSERT_EQ(0, vf_adapter_limits(self->adapter[0], limits, &known));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(-ENOSPC, variant->make(self, i % 2));
	ASSERT_EQ(0, vf_adapter_limits(self->adapter[0], refused, &known));
	for (i = 0; i < known; i++)
		EXPECT_EQ(limits[i].used, refused[i].used);
	EXPECT_EQ(full, memory_of(self, 1));
	EXPECT_GT(full / 4, memory_of(self, 2));
	EXPECT_EQ(0, variant->make(self, 2));

	/* What goes makes room for as much. */
	ASSERT_EQ(0, variant->destroy(self, 0));
	EXPECT_TRUE(EVENTUALLY(memory_of(self, 1) < full));
	EXPECT_EQ(0, variant->make(self, 1));
	EXPECT_EQ(full, memory_of(self, 0));
	EXPECT_EQ(-ENOSPC, variant->make(self, 1));
}

/* A file that closes gives back all that it was charged for. */
TEST_F(memory, a_file_that_closes_takes_its_share_along)
{
	uint64_t before = memory_of(self, 0) / 2;
	unsigned int i;

	for (i = 0; i < 50; i++)
		ASSERT_EQ(0, variant->make(self, 1));
	EXPECT_LT(before + 50 * variant->least, memory_of(self, 0));
	close_file(self, 1);
	EXPECT_EQ(before, memory_of(self, 0));
}

/* The files of a process may be those of two libraries, which do not know of each other. */
TEST_F(accounts, WDDM_142_a_hang_keeps_no_other_file_of_its_process_off)
{
	struct vf_device *device[2];
	struct vf_queue *queue[2];
	unsigned int i;

	ASSERT_EQ(0, party_open(&self->party[0], -1, 2, true));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_device_create(self->party[0].adapter[i], &device[i]));
		ASSERT_EQ(0, vf_queue_create(device[i], DRM_VFENCE_NODE_GFX, 4096, &queue[i]));
	}
	ASSERT_EQ(0, hang_on(queue[0]));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue[0]) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(queue[1], 1, MS);
	ASSERT_EQ(0, vf_queue_submit(queue[1]));
	EXPECT_TRUE(drained(queue[1]));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(device[0]) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(device[1]));
}

TEST_HARNESS_MAIN
