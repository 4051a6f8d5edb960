// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts: users share an engine in equal parts, and so do the processes of one user, whatever they
 * open. All of it is GPU time, so the tests need no exact clock: each asks who had how much of it.
 */

#include "vfence_test.h"

#define MAX_FILES	24
#define MS		INT64_C(1000000)
#define STRANGER	((uid_t)4711)
#define FRAME		(SECOND / 60)

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

/* Beside its own user-mode queues it waits for one of them at a time. */
TEST_F(accounts, a_dma_fence_waits_for_one_user_mode_queue_of_its_process)
{
	struct vf_device *device;
	struct vf_queue *queue;
	int64_t begun, others;

	ASSERT_EQ(0, party_open(&self->party[0], -1, MAX_FILES, true));
	ASSERT_EQ(0, vf_device_create(self->party[0].adapter[0], &device));
	ASSERT_EQ(0, vf_kernel_queue_create(device, DRM_VFENCE_NODE_GFX, &queue));
	ASSERT_EQ(0, party_work(&self->party[0]));
	ASSERT_TRUE(EVENTUALLY(party_time(&self->party[0])));
	vf_cmd_draw(queue, 100, MS);
	begun = party_time(&self->party[0]);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	others = party_time(&self->party[0]) - begun - 100 * MS;
	TH_LOG("100 ms of work beside %lld ms of %d files of its own process",
	       (long long)(others / MS), MAX_FILES);
	if (deterministic()) {
		EXPECT_GT(150 * MS, others);
		/* And they have their part, too. */
		EXPECT_LT(60 * MS, others);
	}
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
	destroy_object(vf_adapter_fd(self->adapter[i]), DRM_VFENCE_OBJECT_FENCE, self->last[i]);
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

/* Nobody signals the fence: the wait takes so long. */
static void pass_time(struct vf_adapter *adapter, int64_t ns)
{
	struct vf_device *device;
	struct vf_fence *fence;

	if (vf_device_create(adapter, &device))
		return;
	if (!vf_fence_create(device, 0, 0, &fence)) {
		vf_fence_wait(fence, 1, vf_deadline(ns));
		vf_fence_destroy(fence);
	}
	vf_device_destroy(device);
}

/* A user whom no other test knows: his hangs are remembered for a minute. */
static uid_t nobody_yet(void)
{
	return 100000 + getpid();
}

/* One frame at 60 Hz, of 2 ms. Return: 0 or a negative error. */
static int draw_frame(struct vf_queue *queue, int64_t next)
{
	struct vf_fence *progress = vf_queue_progress(queue);
	int ret;

	vf_cmd_draw(queue, 1, 2 * MS);
	ret = vf_queue_submit(queue);
	ret = ret ? ret : vf_fence_wait(progress, vf_queue_last_queued(queue), DEADLINE);
	if (ret)
		return ret;
	/* Nobody signals that: the next frame begins then. */
	ret = vf_fence_wait(progress, vf_queue_last_queued(queue) + 1, next);
	return ret == -ETIME ? 0 : ret;
}

/* Draw frames one after the other. Return: the time that they took, or a negative error. */
static int64_t draw_frames(struct vf_queue *queue, unsigned int frames)
{
	int64_t begin = vf_deadline(0);
	unsigned int i;
	int ret = 0;

	for (i = 0; i < frames && !ret; i++)
		ret = draw_frame(queue, vf_deadline(FRAME));
	return ret ? ret : vf_deadline(0) - begin;
}

/* Hang the engine with a new device, for as long as @until says. Return: 0 or a negative error. */
static int hang_until(bool (*until)(struct vf_device *device, struct vf_queue *queue))
{
	struct vf_device *device = NULL;
	struct vf_queue *queue = NULL;
	struct vf_adapter *adapter;
	int ret = vf_adapter_open(0, &adapter);

	ret = ret ? ret : vf_device_create(adapter, &device);
	ret = ret ? ret : vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue);
	ret = ret ? ret : hang_on(queue);
	if (!ret && !until(device, queue))
		ret = -ETIME;
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	vf_adapter_close(adapter);
	return ret;
}

static bool is_lost(struct vf_device *device, struct vf_queue *queue)
{
	return EVENTUALLY(vf_device_state(device) != DRM_VFENCE_DEVICE_ACTIVE);
}

/* If others want the engine, the GPU gives the queue up only after this. */
static bool has_hung_for_80_ms(struct vf_device *device, struct vf_queue *queue)
{
	return EVENTUALLY(queue_state(queue) != DRM_VFENCE_QUEUE_READY) &&
	       vf_fence_wait(vf_queue_progress(queue), 1, vf_deadline(80 * MS)) != 0;
}

static int hang_once(void)
{
	return hang_until(is_lost);
}

static int hang_shortly(void)
{
	return hang_until(has_hung_for_80_ms);
}

/* A process that hangs the engine again and again, and has nothing open in between. */
static pid_t hang_for_ever(uid_t uid, int (*hang)(void))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (syscall(SYS_setresuid, uid, -1, -1))
		_exit(1);
	while (!hang())
		;
	_exit(2);
}

/* Hang the engine as another process of a user, and end. Return: 0 or a negative error. */
static int hang_as(uid_t uid)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(syscall(SYS_setresuid, uid, -1, -1) ? 1 : -hang_once());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? -WEXITSTATUS(status) : -1;
}

static int party_queue(struct party *party, struct vf_queue **queue)
{
	struct vf_device *device;
	int ret = vf_device_create(party->adapter[0], &device);

	return ret ? ret : vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, queue);
}

/* On real processors the numbers say little, and a slow machine takes its time. */
static unsigned int frames(void)
{
	return deterministic() ? 300 : 30;
}

/* Draw beside a process of another user. Return: the time of all frames(), or a negative error. */
static int64_t frames_beside(FIXTURE_DATA(accounts) *self, int (*hang)(void))
{
	struct vf_queue *queue;
	int64_t ns;
	int status;
	pid_t pid;

	if (party_open(&self->party[0], STRANGER, 1, false) || party_queue(&self->party[0], &queue))
		return -1;
	pid = hang_for_ever(nobody_yet(), hang);
	if (pid < 0)
		return -1;
	/* The first hangs cost little. */
	ns = draw_frames(queue, frames());
	ns = ns < 0 ? ns : draw_frames(queue, frames());
	/* It has hung the engine up to the end. */
	if (kill(pid, SIGKILL) || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		return -1;
	return ns;
}

/* Whoever needs an engine for a part of the time only has no use for a longer turn afterwards. */
TEST_F_TIMEOUT(accounts, WDDM_164_a_user_who_hangs_an_engine_leaves_it_to_others, 120)
{
	int64_t ns = frames_beside(self, hang_once);

	TH_LOG("%.1f frames per second of 60", (double)frames() * SECOND / ns);
	EXPECT_LT(0, ns);
	/* Of a time of 16 hangs one is a hang, or two that followed each other too closely. */
	if (deterministic())
		EXPECT_GT(frames() * FRAME * 5 / 4, ns);
}

TEST_F_TIMEOUT(accounts, WDDM_164_it_costs_the_same_to_stop_a_hang_early, 120)
{
	int64_t ns = frames_beside(self, hang_shortly);

	TH_LOG("%.1f frames per second of 60", (double)frames() * SECOND / ns);
	EXPECT_LT(0, ns);
	if (deterministic())
		EXPECT_GT(frames() * FRAME * 5 / 4, ns);
}

/* Two devices of one user, of which the first one hangs: a throttled user has the second one. */
struct throttled {
	struct vf_device *device[2];
	struct vf_queue *queue[3];
	int64_t lost_at;
};

static int throttled_open(struct party *party, struct throttled *t)
{
	int ret = party_open(party, nobody_yet(), 2, false);
	unsigned int i;

	for (i = 0; i < 3 && !ret; i++) {
		if (i < 2)
			ret = device_create_as(nobody_yet(), party->adapter[i],
					       &t->device[i]);
		ret = ret ? ret : vf_queue_create(t->device[!!i], DRM_VFENCE_NODE_GFX, 4096,
						  &t->queue[i]);
	}
	return ret;
}

/* Close the files, which no mapping keeps open. */
static void throttled_close(struct party *party, struct throttled *t)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		vf_queue_destroy(t->queue[i]);
	for (i = 0; i < 2; i++) {
		vf_device_destroy(t->device[i]);
		vf_adapter_close(party->adapter[i]);
	}
	party->files = 0;
}

static int throttled_begin(struct throttled *t)
{
	unsigned int i;
	int ret = hang_on(t->queue[0]);

	if (!ret && !EVENTUALLY(queue_state(t->queue[0]) == DRM_VFENCE_QUEUE_RUNNING))
		ret = -ETIME;
	for (i = 1; i < 3 && !ret; i++) {
		vf_cmd_draw(t->queue[i], 1, MS);
		ret = vf_queue_submit(t->queue[i]);
	}
	if (!ret && !EVENTUALLY(vf_device_state(t->device[0]) == DRM_VFENCE_DEVICE_HUNG))
		ret = -ETIME;
	t->lost_at = vf_deadline(0);
	return ret;
}

/* The others of his programs wait, and lose nothing. */
TEST_F(accounts, WDDM_164_a_throttled_user_goes_on_afterwards)
{
	struct vf_queue *other;
	struct throttled t;
	int64_t ns;

	ASSERT_EQ(0, party_open(&self->party[0], STRANGER, 1, false));
	ASSERT_EQ(0, party_queue(&self->party[0], &other));
	vf_cmd_draw(other, UINT32_MAX, MS);
	ASSERT_EQ(0, vf_queue_submit(other));
	/* A second hang costs twice as much, and the first is not forgotten without an open file. */
	ASSERT_EQ(0, hang_as(nobody_yet()));
	pass_time(self->party[0].adapter[0], 300 * MS);
	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	ASSERT_EQ(0, throttled_begin(&t));
	/* What waits can be stopped, go on, and be destroyed. */
	EXPECT_EQ(0, vf_queue_suspend(t.queue[1], NULL));
	EXPECT_EQ(0, vf_queue_resume(t.queue[1]));
	vf_queue_destroy(t.queue[2]);
	/* The engine has nothing to do from here on. */
	EXPECT_EQ(0, vf_queue_abort(other));
	EXPECT_TRUE(drained(t.queue[1]));
	ns = vf_deadline(0) - t.lost_at;
	TH_LOG("throttled for %.1f ms", (double)ns / MS);
	if (deterministic()) {
		EXPECT_LT(195 * MS, ns);
		EXPECT_GT(250 * MS, ns);
	}
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(t.device[1]));
}

/* A desktop of one user goes on at once: nobody else wants the engine. */
TEST_F(accounts, WDDM_164_a_user_who_is_alone_is_not_throttled)
{
	struct throttled t;
	int64_t ns;

	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	/* What others have done here was before. */
	pass_time(self->party[1].adapter[0], 2 * SECOND);
	/* The same user, after he had nothing open. */
	vf_cmd_draw(t.queue[1], 1, MS);
	ASSERT_EQ(0, vf_queue_submit(t.queue[1]));
	ASSERT_TRUE(drained(t.queue[1]));
	throttled_close(&self->party[1], &t);
	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	ASSERT_EQ(0, throttled_begin(&t));
	EXPECT_TRUE(drained(t.queue[1]));
	vf_cmd_draw(t.queue[1], 1, MS);
	ASSERT_EQ(0, vf_queue_submit(t.queue[1]));
	EXPECT_TRUE(drained(t.queue[1]));
	ns = vf_deadline(0) - t.lost_at;
	TH_LOG("throttled for %.1f ms", (double)ns / MS);
	if (deterministic())
		EXPECT_GT(20 * MS, ns);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(t.device[1]));
}

/* Who is to debug hangs takes that on himself. */
TEST_F(accounts, WDDM_165_debug_mode_3_throttles_nobody)
{
	struct throttled t;
	int64_t ns;

	ASSERT_EQ(0, party_open(&self->party[0], STRANGER, 1, false));
	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	ASSERT_EQ(0, tdr_configure(0, "debug_mode", "3"));
	ASSERT_EQ(0, party_work(&self->party[0]));
	EXPECT_EQ(0, hang_as(nobody_yet()));
	EXPECT_EQ(0, hang_as(nobody_yet()));
	EXPECT_EQ(0, throttled_begin(&t));
	EXPECT_TRUE(drained(t.queue[1]));
	ns = vf_deadline(0) - t.lost_at;
	EXPECT_EQ(0, tdr_configure(0, "debug_mode", "2"));
	/* The other one has as much of the engine first as the hang took. */
	if (deterministic())
		EXPECT_GT(150 * MS, ns);
}

/* Whoever draws now and then does not wait for the engine at the moment of the hang. */
TEST_F(accounts, WDDM_164_who_had_an_engine_shortly_before_gets_it)
{
	struct vf_queue *kernel, *queue;
	struct throttled t;
	int64_t ns;

	ASSERT_EQ(0, party_open(&self->party[0], STRANGER, 1, false));
	ASSERT_EQ(0, party_queue(&self->party[0], &queue));
	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	ASSERT_EQ(0, vf_kernel_queue_create(t.device[0], DRM_VFENCE_NODE_COMPUTE, &kernel));
	vf_cmd_draw(queue, 1, MS);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(drained(queue));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "300"));
	cmd_hang(kernel);
	EXPECT_EQ(0, vf_queue_submit(kernel));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(t.device[0]) == DRM_VFENCE_DEVICE_HUNG));
	ns = vf_deadline(0);
	EXPECT_EQ(0, tdr_configure(0, "delay_ms", "2000"));
	vf_cmd_draw(t.queue[1], 1, MS);
	ASSERT_EQ(0, vf_queue_submit(t.queue[1]));
	EXPECT_TRUE(drained(t.queue[1]));
	ns = vf_deadline(0) - ns;
	TH_LOG("throttled for %.1f ms", (double)ns / MS);
	if (deterministic()) {
		EXPECT_LT(290 * MS, ns);
		EXPECT_GT(350 * MS, ns);
	}
}

/* Hang the compute engine with a submission, which is found after a time. */
static int hang_begin(struct vf_adapter *adapter, struct vf_device **device, struct vf_queue **queue)
{
	int ret = device_create_as(nobody_yet(), adapter, device);

	ret = ret ? ret : vf_kernel_queue_create(*device, DRM_VFENCE_NODE_COMPUTE, queue);
	if (ret)
		return ret;
	cmd_hang(*queue);
	return vf_queue_submit(*queue);
}

static int hang_end(struct vf_device *device, struct vf_queue *queue)
{
	int ret = 0;

	if (!EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG))
		ret = -ETIME;
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	return ret;
}

static int hang_compute(struct vf_adapter *adapter)
{
	struct vf_device *device = NULL;
	struct vf_queue *queue = NULL;
	int ret = hang_begin(adapter, &device, &queue);

	return ret ? ret : hang_end(device, queue);
}

/* A submission that waits for longer than it may take has not hung, nor is it starved. */
TEST_F(accounts, WDDM_142_a_throttled_submission_is_not_timed_out)
{
	struct vf_queue *kernel, *queue;
	struct throttled t;

	ASSERT_EQ(0, party_open(&self->party[0], STRANGER, 1, false));
	ASSERT_EQ(0, party_queue(&self->party[0], &queue));
	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	ASSERT_EQ(0, vf_kernel_queue_create(t.device[1], DRM_VFENCE_NODE_GFX, &kernel));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "300"));
	EXPECT_EQ(0, hang_compute(self->party[1].adapter[0]));
	vf_cmd_draw(queue, 1, MS);
	EXPECT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	/* Another queue of the same client has the engine then, and keeps it. */
	vf_cmd_draw(t.queue[1], 3000, MS);
	EXPECT_EQ(0, vf_queue_submit(t.queue[1]));
	EXPECT_EQ(0, hang_compute(self->party[1].adapter[0]));
	vf_cmd_draw(kernel, 1, MS);
	EXPECT_EQ(0, vf_queue_submit(kernel));
	EXPECT_TRUE(drained(kernel));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(t.device[1]));
	EXPECT_EQ(0, tdr_configure(0, "delay_ms", "2000"));
}

#define WAITING		10

/* Submit to queues of the second device, one each @ns. A busy queue of that device delays them. */
static int throttled_submit(struct party *party, struct throttled *t, int64_t ns,
			    struct vf_queue *queue[WAITING])
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < WAITING && !ret; i++) {
		ret = vf_kernel_queue_create(t->device[1], DRM_VFENCE_NODE_GFX, &queue[i]);
		if (ret)
			break;
		vf_cmd_draw(queue[i], 1, MS);
		ret = vf_queue_submit(queue[i]);
		pass_time(party->adapter[0], ns);
	}
	return ret;
}

/*
 * The user is throttled for two delays, and a draw of 300 ms is on the engine when it ends. Each
 * 100 ms the delay of one submission is over: those within the draw have waited for the user.
 */
TEST_F(accounts, WDDM_142_no_submission_is_timed_out_when_the_throttling_ends)
{
	struct vf_queue *queue, *hung = NULL, *waiting[WAITING] = {};
	struct vf_device *device = NULL;
	struct throttled t;
	unsigned int i;

	ASSERT_EQ(0, party_open(&self->party[0], STRANGER, 1, false));
	ASSERT_EQ(0, party_queue(&self->party[0], &queue));
	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "1000"));
	EXPECT_EQ(0, hang_compute(self->party[1].adapter[0]));
	ASSERT_EQ(0, hang_begin(self->party[1].adapter[0], &device, &hung));
	pass_time(self->party[1].adapter[0], 600 * MS);
	/* Another user has had the engine shortly before the hang is found. */
	vf_cmd_draw(queue, 1, MS);
	EXPECT_EQ(0, vf_queue_submit(queue));
	EXPECT_TRUE(drained(queue));
	vf_cmd_draw(t.queue[1], 20, 300 * MS);
	EXPECT_EQ(0, vf_queue_submit(t.queue[1]));
	EXPECT_EQ(0, hang_end(device, hung));
	ASSERT_EQ(0, throttled_submit(&self->party[1], &t, 100 * MS, waiting));
	/* After a delay it still waits: its user is throttled. */
	if (deterministic())
		EXPECT_EQ(DRM_VFENCE_QUEUE_READY, queue_state(waiting[0]));
	for (i = 0; i < WAITING; i++)
		EXPECT_TRUE(drained(waiting[i]));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(t.device[1]));
	EXPECT_EQ(0, tdr_configure(0, "delay_ms", "2000"));
}

/* Who sent a file to another user goes on. */
TEST_F(accounts, WDDM_164_a_user_does_not_pay_for_others)
{
	struct vf_device *device;
	struct throttled t;
	struct vf_queue *queue;
	int64_t ns;

	ASSERT_EQ(0, party_open(&self->party[0], STRANGER, 1, false));
	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	ASSERT_EQ(0, party_work(&self->party[0]));
	/* A device of another user hangs on the same file, several times. */
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(0, device_create_as(nobody_yet() + 1, self->party[1].adapter[0], &device));
		ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
		ASSERT_EQ(0, hang_on(queue));
		ASSERT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG));
		vf_queue_destroy(queue);
		vf_device_destroy(device);
	}
	ns = vf_deadline(0);
	vf_cmd_draw(t.queue[1], 1, MS);
	ASSERT_EQ(0, vf_queue_submit(t.queue[1]));
	EXPECT_TRUE(drained(t.queue[1]));
	ns = vf_deadline(0) - ns;
	TH_LOG("after %.1f ms", (double)ns / MS);
	/* The other one has as much of the engine first as the hang took. */
	if (deterministic())
		EXPECT_GT(150 * MS, ns);
}

TEST_F(accounts, WDDM_164_a_small_hang_shortens_nothing)
{
	struct vf_queue *kernel, *copy[2];
	struct vf_device *device;
	struct throttled t;
	int64_t ns;

	ASSERT_EQ(0, party_open(&self->party[0], STRANGER, 1, false));
	ASSERT_EQ(0, throttled_open(&self->party[1], &t));
	ASSERT_EQ(0, device_create_as(nobody_yet(), self->party[1].adapter[0], &device));
	ASSERT_EQ(0, vf_kernel_queue_create(t.device[0], DRM_VFENCE_NODE_COMPUTE, &kernel));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_COPY, 4096, &copy[0]));
	ASSERT_EQ(0, vf_queue_create(t.device[1], DRM_VFENCE_NODE_COPY, 4096, &copy[1]));
	ASSERT_EQ(0, party_work(&self->party[0]));
	ASSERT_EQ(0, tdr_configure(0, "delay_ms", "600"));
	cmd_hang(kernel);
	EXPECT_EQ(0, vf_queue_submit(kernel));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(t.device[0]) == DRM_VFENCE_DEVICE_HUNG));
	ns = vf_deadline(0);
	EXPECT_EQ(0, tdr_configure(0, "delay_ms", "2000"));
	vf_cmd_draw(t.queue[1], 1, MS);
	ASSERT_EQ(0, vf_queue_submit(t.queue[1]));
	/* A hang on an engine that only the user himself wants, for 100 ms. */
	ASSERT_EQ(0, hang_on(copy[0]));
	ASSERT_TRUE(EVENTUALLY(queue_state(copy[0]) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(copy[1], 1, MS);
	ASSERT_EQ(0, vf_queue_submit(copy[1]));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(drained(t.queue[1]));
	ns = vf_deadline(0) - ns;
	TH_LOG("throttled for %.1f ms", (double)ns / MS);
	if (deterministic()) {
		EXPECT_LT(590 * MS, ns);
		EXPECT_GT(650 * MS, ns);
	}
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
