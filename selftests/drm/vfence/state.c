// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pause, save, restore and resume of a function: it goes on in the middle of a packet, and no client
 * notices but by the time.
 */

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "world_fixture.h"

#define IMAGE	"/tmp/state.image"
#define BYTES	(256 * 1024)
#define STEPS	40

static int pause_function(int function, const char *on)
{
	char path[32];

	snprintf(path, sizeof(path), "vf%d/pause", function);
	return configure(path, on);
}

static int state_path(int function, const char *suffix, char *path, size_t size)
{
	char name[32];

	snprintf(name, sizeof(name), "vf_state/vf%d%s", function, suffix);
	return debugfs_path(PHYSICAL, name, path, size);
}

static int lose(int function)
{
	char path[400];
	int ret = state_path(function, "_lose", path, sizeof(path));

	return ret ?: write_text(path, "1");
}

/* Copy a file from @at on. Return: number of bytes, or a negative error. */
static ssize_t copy_file(const char *from, const char *to, size_t piece, off_t at, size_t most)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static char buf[65536];
	ssize_t n = 0, total = 0, done, w;

	if (in < 0 || out < 0)
		total = -errno;
	if (at && total >= 0 && (lseek(in, at, SEEK_SET) < 0 || lseek(out, at, SEEK_SET) < 0))
		total = -errno;
	while (total >= 0 && (size_t)total < most && (n = read(in, buf, piece)) > 0) {
		for (done = 0, w = 1; done < n && w > 0; done += w)
			w = write(out, buf + done, (size_t)(n - done));
		total = w > 0 ? total + n : -errno;
	}
	if (n < 0)
		total = -errno;
	close(in);
	close(out);
	return total;
}

static ssize_t save(int function)
{
	char path[400];
	int ret = state_path(function, "", path, sizeof(path));

	unlink(IMAGE);
	return ret ? ret : copy_file(path, IMAGE, 65536, 0, SIZE_MAX);
}

static ssize_t restore_part(int function, size_t piece, off_t at, size_t most)
{
	char path[400];
	int ret = state_path(function, "", path, sizeof(path));

	return ret ? ret : copy_file(IMAGE, path, piece, at, most);
}

static ssize_t restore(int function, size_t piece)
{
	return restore_part(function, piece, 0, SIZE_MAX);
}

/* A frame: draws, registers, copies and signals, of which each step builds on the one before. */
struct frame {
	struct guest *guest;
	struct vf_buffer *buffer[2];
	struct vf_queue *copy;
	struct vf_fence *fence;
};

static int frame_open(struct frame *f, struct guest *guest)
{
	int ret;

	f->guest = guest;
	ret = vf_buffer_create(guest->adapter, BYTES, &f->buffer[0]);
	ret = ret ?: vf_buffer_create(guest->adapter, BYTES, &f->buffer[1]);
	ret = ret ?: vf_queue_create(guest->device, DRM_VFENCE_NODE_COPY, 65536, &f->copy);
	return ret ?: vf_fence_create(guest->device, 0, 0, &f->fence);
}

static void frame_close(struct frame *f)
{
	vf_queue_abort(f->copy);
	vf_queue_destroy(f->copy);
	vf_fence_destroy(f->fence);
	vf_buffer_destroy(f->buffer[0]);
	vf_buffer_destroy(f->buffer[1]);
}

static void frame_fill(struct frame *f)
{
	uint32_t *words = vf_buffer_map(f->buffer[0]), i;

	for (i = 0; i < BYTES / 4; i++)
		words[i] = i * 2654435761u;
	memset(vf_buffer_map(f->buffer[1]), 0, BYTES);
}

static int frame_submit(struct frame *f, uint64_t base)
{
	struct vf_queue *gfx = f->guest->gfx;
	unsigned int i;
	int ret;

	for (i = 0; i < STEPS; i++) {
		vf_cmd_set_register(gfx, i % DRM_VFENCE_REGISTERS, base + i * 1000003);
		vf_cmd_draw(gfx, 4, MS / 10);
		vf_cmd_read_register(gfx, i * 7 % DRM_VFENCE_REGISTERS,
				     vf_buffer_va(f->buffer[0]) + i * 4096);
		vf_cmd_signal(gfx, f->fence, 2 * (base + i) + 1);
		vf_cmd_wait(f->copy, f->fence, 2 * (base + i) + 1);
		/* One word further each time, so that a piece that is copied twice shows. */
		vf_cmd_copy(f->copy, vf_buffer_va(f->buffer[1]) + 8 * i, vf_buffer_va(f->buffer[0]),
			    BYTES - 8 * STEPS);
		vf_cmd_copy(f->copy, vf_buffer_va(f->buffer[0]), vf_buffer_va(f->buffer[1]),
			    BYTES - 8 * STEPS);
		vf_cmd_signal(f->copy, f->fence, 2 * (base + i) + 2);
		vf_cmd_wait(gfx, f->fence, 2 * (base + i) + 2);
	}
	ret = vf_queue_submit(f->copy);
	return ret ?: vf_queue_submit(gfx);
}

static bool frame_is_done(struct frame *f)
{
	return drained(f->guest->gfx) && drained(f->copy);
}

/* Let a guest draw for so many tenths of a millisecond. */
static bool draw(struct guest *g, unsigned int tenths)
{
	vf_cmd_draw(g->gfx, tenths, MS / 10);
	return !vf_queue_submit(g->gfx) && drained(g->gfx);
}

/* Let a guest draw for so many tenths of a second, in few draws: debug kernels need long for each. */
static bool draw_long(struct guest *g, unsigned int tenths)
{
	vf_cmd_draw(g->gfx, 10 * tenths, 10 * MS);
	return !vf_queue_submit(g->gfx) && drained(g->gfx);
}

TEST_F_TIMEOUT(world, VF_43_a_function_goes_on_in_the_middle_of_its_frame, 300)
{
	static uint8_t expected[2][BYTES];
	struct frame frame, reference;
	unsigned int pauses = 0, k;
	uint64_t had, resets;

	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "1000"));
	ASSERT_EQ(0, frame_open(&frame, &self->guest[0]));
	ASSERT_EQ(0, frame_open(&reference, &self->guest[1]));
	/* The same without a pause. */
	frame_fill(&reference);
	ASSERT_EQ(0, frame_submit(&reference, 0));
	ASSERT_TRUE(frame_is_done(&reference));
	for (k = 0; k < 2; k++)
		memcpy(expected[k], vf_buffer_map(reference.buffer[k]), BYTES);

	frame_fill(&frame);
	ASSERT_EQ(0, frame_submit(&frame, 0));
	while (vf_fence_current(frame.fence) < 2 * STEPS && pauses < 200) {
		uint64_t value;

		ASSERT_EQ(0, pause_function(1, "1"));
		had = stat_of(1, "gfx", "run_ns");
		value = vf_fence_current(frame.fence);
		ASSERT_LT(0, save(1));
		/* Others have the engines meanwhile, and the function is not charged. */
		ASSERT_TRUE(draw(&self->guest[2], 10));
		EXPECT_EQ(value, vf_fence_current(frame.fence));
		EXPECT_EQ(had, stat_of(1, "gfx", "run_ns"));
		ASSERT_EQ(0, lose(1));
		ASSERT_EQ(-ENODATA, pause_function(1, "0"));
		ASSERT_LT(0, restore(1, pauses % 2 ? 4096 : 1000));
		EXPECT_EQ(value, vf_fence_current(frame.fence));
		ASSERT_EQ(0, pause_function(1, "0"));
		pauses++;
		/* It has two milliseconds or so until the next pause. */
		ASSERT_TRUE(draw(&self->guest[2], 10));
	}
	EXPECT_TRUE(frame_is_done(&frame));
	resets = stat_of(1, "gfx", "resets");
	TH_LOG("%u pauses", pauses);
	EXPECT_LT(deterministic() ? 5 : 0, pauses);
	for (k = 0; k < 2; k++)
		EXPECT_EQ(0, memcmp(expected[k], vf_buffer_map(frame.buffer[k]), BYTES));
	/* No part of a packet was executed twice, and none was left out: some us of each switch are extra. */
	for (k = 0; k < 2; k++) {
		uint32_t node = k ? DRM_VFENCE_NODE_COPY : DRM_VFENCE_NODE_GFX;
		int64_t paused = (int64_t)node_busy_ns(self->guest[0].adapter, node);
		int64_t whole = (int64_t)node_busy_ns(self->guest[1].adapter, node);

		TH_LOG("node %u: %.3f ms, and %.3f ms without a pause", node, (double)paused / 1e6,
		       (double)whole / 1e6);
		if (deterministic())
			EXPECT_GT(whole / 5, llabs(paused - whole));
	}
	EXPECT_EQ(0, resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[0].device));
	/* The next packet finds the registers. */
	vf_cmd_read_register(self->guest[0].gfx, 3, vf_buffer_va(frame.buffer[0]));
	ASSERT_TRUE(draw(&self->guest[0], 1));
	EXPECT_EQ(35 * 1000003, *(uint64_t *)vf_buffer_map(frame.buffer[0]));
	frame_close(&frame);
	frame_close(&reference);
}

/* Under fair policies a function must not gain the time of its pause. */
TEST_F(world, VF_43_a_paused_function_saves_up_no_time)
{
	uint64_t begun[2], had[2];
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("policy", "fair"));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "5000"));
	for (i = 0; i < 2; i++) {
		vf_cmd_draw(self->guest[i].gfx, 20000, MS / 10);
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	}
	ASSERT_TRUE(EVENTUALLY(stat_of(1, "gfx", "turns") > 2 && stat_of(2, "gfx", "turns") > 2));
	ASSERT_EQ(0, pause_function(1, "1"));
	begun[1] = stat_of(2, "gfx", "run_ns");
	ASSERT_TRUE(EVENTUALLY(stat_of(2, "gfx", "run_ns") > begun[1] + 300 * MS));
	for (i = 0; i < 2; i++)
		begun[i] = stat_of((int)i + 1, "gfx", "run_ns");
	ASSERT_EQ(0, pause_function(1, "0"));
	ASSERT_TRUE(EVENTUALLY(stat_of(1, "gfx", "run_ns") + stat_of(2, "gfx", "run_ns") >
			       begun[0] + begun[1] + 200 * MS));
	for (i = 0; i < 2; i++)
		had[i] = stat_of((int)i + 1, "gfx", "run_ns") - begun[i];
	TH_LOG("%.1f ms, and the other one %.1f ms", (double)had[0] / 1e6, (double)had[1] / 1e6);
	EXPECT_LT(had[0] / 2, had[1]);
	/* The other one also has the time until the pause ends, which is long on a slow kernel. */
	if (deterministic())
		EXPECT_LT(had[1] / 2, had[0]);
}

/* A pause that takes longer than every time-out triggers none. */
TEST_F(world, VF_43_a_pause_triggers_no_timeout)
{
	struct vf_queue *kernel;
	struct vf_submit submit = { 0 };

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, tdr_configure(VF(1), "delay_ms", deterministic() ? "200" : "1000"));
	/* Shorter than the pause, and long enough for the work of a slow guest. */
	ASSERT_EQ(0, configure_all("preempt_timeout_us", deterministic() ? "20000" : "500000"));
	ASSERT_EQ(0, vf_kernel_queue_create(self->guest[0].device, DRM_VFENCE_NODE_COMPUTE,
					    &kernel));
	vf_cmd_draw(kernel, 1000, MS / 10);
	ASSERT_EQ(0, vf_submit(&kernel, 1, &submit));
	vf_cmd_draw(self->guest[0].gfx, 1000, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->guest[0].gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, pause_function(1, "1"));
	ASSERT_TRUE(draw_long(&self->guest[1], 15));
	ASSERT_EQ(0, pause_function(1, "0"));
	EXPECT_TRUE(drained(self->guest[0].gfx));
	EXPECT_TRUE(drained(kernel));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[0].device));
	EXPECT_EQ(0, stat_of(1, "gfx", "resets"));
	EXPECT_EQ(0, counters(self->guest[0].adapter).engine_resets);
	vf_queue_destroy(kernel);
}

TEST_F(world, VF_43_what_cannot_be_restored_changes_nothing)
{
	struct vf_queue *more;
	char byte = 'x';
	ssize_t size;
	int fd;

	ASSERT_EQ(0, world_make(self, 2));
	/* It runs. */
	EXPECT_EQ(-EBUSY, save(1));
	EXPECT_EQ(-EBUSY, lose(1));
	EXPECT_EQ(-EINVAL, pause_function(1, "x"));
	EXPECT_NE(0, access(ADMIN "pf/pause", F_OK));
	EXPECT_EQ(-ENODEV, pause_function(3, "1"));
	vf_cmd_draw(self->guest[0].gfx, 100, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_EQ(0, pause_function(1, "1"));
	EXPECT_EQ(0, pause_function(1, "1"));
	size = save(1);
	ASSERT_LT(0, size);

	/* Change one byte of the image. */
	fd = open(IMAGE, O_WRONLY | O_CLOEXEC);
	ASSERT_EQ(1, pwrite(fd, &byte, 1, 200));
	close(fd);
	EXPECT_EQ(-EBADMSG, restore(1, 65536));
	EXPECT_EQ(-EBADMSG, restore(1, 1000));
	EXPECT_EQ(size, save(1));
	/* From the middle. */
	EXPECT_EQ(-ESPIPE, restore_part(1, 4096, 4096, SIZE_MAX));
	EXPECT_EQ(0, pause_function(1, "0"));
	EXPECT_TRUE(drained(self->guest[0].gfx));

	/* An image of an earlier pause. */
	EXPECT_EQ(-EBUSY, restore(1, 65536));
	ASSERT_EQ(0, pause_function(1, "1"));
	EXPECT_EQ(-ESTALE, restore(1, 65536));
	/* That of another function. */
	ASSERT_EQ(0, pause_function(2, "1"));
	ASSERT_LT(0, save(2));
	EXPECT_GT(0, restore(1, 65536));
	/* Another queue than then. */
	ASSERT_EQ(size, save(1));
	ASSERT_EQ(0, vf_queue_create(self->guest[0].device, DRM_VFENCE_NODE_GFX, 4096, &more));
	EXPECT_EQ(-ESTALE, restore(1, 65536));
	vf_queue_destroy(more);
	/* The driver may need a moment to destroy it. */
	EXPECT_TRUE(EVENTUALLY(restore(1, 65536) == size));

	/* A part of an image is none, and the whole of it is. */
	EXPECT_EQ(size / 2 / 1000 * 1000, restore_part(1, 1000, 0, size / 2 - 999));
	EXPECT_EQ(-ENODATA, pause_function(1, "0"));
	EXPECT_EQ(size, restore(1, 65536));
	EXPECT_EQ(0, pause_function(1, "0"));
	EXPECT_EQ(0, pause_function(2, "0"));
	EXPECT_TRUE(draw(&self->guest[0], 1));
	EXPECT_TRUE(draw(&self->guest[1], 1));
	/* A function that has the engines exclusively cannot be paused. */
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	ASSERT_EQ(0, inject(VF(1), "mailbox", "1"));
	EXPECT_TRUE(EVENTUALLY(pause_function(1, "1") == -EBUSY || pause_function(1, "0")));
	ASSERT_EQ(0, inject(VF(1), "mailbox", "2"));
	EXPECT_TRUE(draw(&self->guest[1], 1));
}

/*
 * Functions that look alike, each paused for the first time: the image of one is none of the other
 * one, and none of the function that has its number later.
 */
TEST_F(world, VF_10_43_the_image_of_another_function_is_stale)
{
	ssize_t size;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, pause_function(1, "1"));
	ASSERT_EQ(0, pause_function(2, "1"));
	size = save(1);
	ASSERT_LT(0, size);
	EXPECT_EQ(-ESTALE, restore(2, 65536));
	EXPECT_EQ(size, restore(1, 65536));
	EXPECT_EQ(0, pause_function(1, "0"));
	EXPECT_EQ(0, pause_function(2, "0"));

	ASSERT_EQ(0, world_end(self));
	self->count = 0;
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, pause_function(1, "1"));
	EXPECT_EQ(-ESTALE, restore(1, 65536));
	EXPECT_EQ(0, pause_function(1, "0"));
	EXPECT_TRUE(draw(&self->guest[0], 1));
}

/* Submissions of one function whose dma_fences are published. */
struct published {
	struct vf_queue *kernel;
	int fd;
	struct vf_syncobj out[12];
};

static int published_open(struct published *p, struct guest *guest)
{
	unsigned int i;
	int ret = vf_kernel_queue_create(guest->device, DRM_VFENCE_NODE_GFX, &p->kernel);

	memset(p->out, 0, sizeof(p->out));
	p->fd = vf_adapter_fd(guest->adapter);
	for (i = 0; !ret && i < ARRAY_SIZE(p->out); i++)
		ret = drmSyncobjCreate(p->fd, 0, &p->out[i].handle);
	return ret;
}

static void published_close(struct published *p)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(p->out); i++)
		drmSyncobjDestroy(p->fd, p->out[i].handle);
	vf_queue_destroy(p->kernel);
}

/* Submit draws of a millisecond. */
static int published_submit(struct published *p, unsigned int i, unsigned int draws)
{
	struct vf_submit what = { .signal_syncobjs = &p->out[i], .signal_syncobj_count = 1 };

	vf_cmd_draw(p->kernel, draws, MS);
	return vf_submit(&p->kernel, 1, &what);
}

/*
 * A dma_fence that is published signals within a bounded time. A pause lets such submissions end, and
 * only then takes the engines from the function.
 */
TEST_F(world, VF_43_a_pause_lets_published_submissions_end)
{
	struct published p;
	unsigned int i;
	int64_t begun;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, published_open(&p, &self->guest[0]));
	ASSERT_EQ(0, tdr_configure(VF(1), "delay_ms", "10000"));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, published_submit(&p, i, 100));
	/* Other work does not count. */
	vf_cmd_draw(self->guest[0].gfx, 1000000, MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	begun = vf_deadline(0);
	ASSERT_EQ(0, pause_function(1, "1"));
	/* It waits for them, and no longer. */
	if (deterministic())
		EXPECT_GT(2 * SECOND, vf_deadline(0) - begun);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(1, syncobj_status(p.fd, p.out[i].handle));
	ASSERT_EQ(0, pause_function(1, "0"));
	ASSERT_EQ(0, published_submit(&p, 3, 1));
	EXPECT_TRUE(drained(p.kernel));
	EXPECT_EQ(1, syncobj_status(p.fd, p.out[3].handle));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[0].device));
	vf_queue_abort(self->guest[0].gfx);
	published_close(&p);
}

/* If they do not end within TdrDelay of the function, it is not paused, and nothing has changed. */
TEST_F(world, VF_43_a_pause_fails_if_published_submissions_do_not_end)
{
	struct published p;
	int64_t begun, took;
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, published_open(&p, &self->guest[0]));
	ASSERT_EQ(0, tdr_configure(VF(1), "delay_ms", "500"));
	/* Each of them may take that long, and all take eight times as long. */
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, published_submit(&p, i, 400));
	begun = vf_deadline(0);
	EXPECT_EQ(-EBUSY, pause_function(1, "1"));
	took = vf_deadline(0) - begun;
	TH_LOG("%.1f ms", (double)took / 1e6);
	EXPECT_LE(490 * MS, took);
	if (deterministic())
		EXPECT_GT(550 * MS, took);
	EXPECT_EQ(-EBUSY, save(1));
	ASSERT_EQ(0, published_submit(&p, 10, 1));
	EXPECT_TRUE(drained(p.kernel));
	for (i = 0; i < 11; i++)
		EXPECT_EQ(1, syncobj_status(p.fd, p.out[i].handle));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[0].device));
	EXPECT_EQ(0, pause_function(1, "1"));
	EXPECT_EQ(0, pause_function(1, "0"));
	published_close(&p);
}

/* A client that submits again and again; *count is how often it did. */
static void keep_submitting(struct published *p, volatile unsigned int *count)
{
	for (;; (*count)++) {
		unsigned int i = *count % 4;

		/* At most three are on their way, so that some are at any time. */
		if (*count >= 4 && drmSyncobjWait(p->fd, &p->out[i].handle, 1, INT64_MAX, 0, NULL))
			_exit(1);
		if (published_submit(p, i, 5))
			_exit(2);
	}
}

/* New submissions wait for the end of the pause, before they publish anything. */
TEST_F(world, VF_43_new_submissions_do_not_delay_a_pause)
{
	volatile unsigned int *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int paused_at, round, i;
	struct published p;
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, (void *)count);
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, published_open(&p, &self->guest[0]));
	pid = fork();
	if (!pid)
		keep_submitting(&p, count);
	ASSERT_LT(0, pid);
	for (round = 0; round < 3; round++) {
		paused_at = *count;
		ASSERT_TRUE(EVENTUALLY(*count > paused_at + 10));
		ASSERT_EQ(0, pause_function(1, "1"));
		/* A call that was under way returns. */
		do {
			paused_at = *count;
			ASSERT_TRUE(draw_long(&self->guest[1], 1));
		} while (paused_at != *count);
		for (i = 0; i < 4; i++)
			EXPECT_EQ(1, syncobj_status(p.fd, p.out[i].handle));
		ASSERT_EQ(0, pause_function(1, "0"));
	}
	/* A client that waits for the resume can be killed, and others go on. */
	ASSERT_EQ(0, pause_function(1, "1"));
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	ASSERT_EQ(0, pause_function(1, "0"));
	EXPECT_TRUE(drained(p.kernel));
	ASSERT_EQ(0, published_submit(&p, 5, 1));
	EXPECT_TRUE(drained(p.kernel));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[0].device));
	published_close(&p);
}

/* A function that leaves while a client waits for its resume ends the wait. */
TEST_F(world, VF_43_a_function_leaves_while_a_submission_waits_for_its_resume)
{
	int status, ready = eventfd(0, EFD_CLOEXEC);
	uint64_t one = 1;
	struct published p;
	pid_t pid;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, published_open(&p, &self->guest[0]));
	ASSERT_EQ(0, pause_function(1, "1"));
	pid = fork();
	if (!pid) {
		/* DRM sleeps in the first call of another process. */
		(void)syncobj_status(p.fd, p.out[0].handle);
		(void)!write(ready, &one, sizeof(one));
		_exit(published_submit(&p, 0, 1) == -ENODEV ? 0 : 1);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(sizeof(one), read(ready, &one, sizeof(one)));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&pid, SYS_ioctl)));
	EXPECT_EQ(0, driver("unbind", VF(1)));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, driver("bind", VF(1)));
	published_close(&p);
	close(ready);
}

/* A pause that waits holds back no pause of another function. */
TEST_F(world, VF_43_pauses_of_functions_do_not_wait_for_each_other)
{
	int64_t longest = 0, begun, whole = vf_deadline(0), took;
	unsigned int i, pauses = 0;
	struct published p;
	int status = -1;
	pid_t pid;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, published_open(&p, &self->guest[0]));
	ASSERT_EQ(0, tdr_configure(VF(1), "delay_ms", "60000"));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, published_submit(&p, i, 100));
	pid = fork();
	if (!pid)
		_exit(pause_function(1, "1") ? 1 : 0);
	ASSERT_LT(0, pid);
	while (!waitpid(pid, &status, WNOHANG)) {
		begun = vf_deadline(0);
		ASSERT_EQ(0, pause_function(2, "1"));
		ASSERT_EQ(0, pause_function(2, "0"));
		took = vf_deadline(0) - begun;
		longest = took > longest ? took : longest;
		pauses++;
		/* Time passes on a clock that stands still for programs. */
		vf_fence_wait(self->guest[1].fence, 1, vf_deadline(10 * MS));
	}
	whole = vf_deadline(0) - whole;
	EXPECT_EQ(0, status);
	TH_LOG("%u pauses, the longest one %.1f of %.1f ms", pauses, (double)longest / 1e6,
	       (double)whole / 1e6);
	EXPECT_LT(2, pauses);
	EXPECT_GT(whole / 2, longest);
	ASSERT_EQ(0, pause_function(1, "0"));
	published_close(&p);
}

/*
 * Write to a file in a process of its own: it might wait for the resume. Return: 0 or a negative error;
 * -ETIMEDOUT if the write does not return.
 */
static int write_at_once(int number, const char *file, const char *text)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(-(strcmp(file, "recover") ? inject(number, file, text) :
						  tdr_configure(number, file, text)));
	if (pid < 0 || !EVENTUALLY(waitpid(pid, &status, WNOHANG) == pid))
		return -ETIMEDOUT;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

/*
 * A reset needs the engines, which a paused function does not get. An administrator's write fails at
 * once, and a reset by the host or by the driver of the function ends after the resume.
 */
TEST_F(world, VF_43_a_reset_waits_for_no_resume)
{
	struct vf_device *device;
	int round;

	ASSERT_EQ(0, world_make(self, 2));
	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, vf_device_create(self->guest[0].adapter, &device));
		ASSERT_EQ(0, pause_function(1, "1"));
		EXPECT_EQ(-EBUSY, write_at_once(VF(1), "reset_adapter", "1"));
		EXPECT_EQ(-EBUSY, write_at_once(VF(1), "reset_engine", "0"));
		EXPECT_EQ(-EALREADY, write_at_once(VF(1), "recover", "1"));
		if (round) {
			ASSERT_EQ(0, inject(VF(1), "mailbox", "5"));
			EXPECT_TRUE(EVENTUALLY(received(1, "flr_done") == 1));
			EXPECT_EQ(-EBUSY, write_at_once(VF(1), "reset_adapter", "1"));
			EXPECT_EQ(-EBUSY, write_at_once(VF(1), "reset_engine", "0"));
			/* Nothing stands still: others are reset and work. */
			EXPECT_EQ(0, write_at_once(VF(2), "reset_adapter", "1"));
			EXPECT_TRUE(working(self->guest[1].adapter));
			EXPECT_EQ(0, received(1, "ready_to_access"));
		}
		ASSERT_EQ(0, pause_function(1, "0"));
		/* No client is the cause. */
		EXPECT_TRUE(EVENTUALLY(vf_device_state(device) == (round ? DRM_VFENCE_DEVICE_RESET :
								   DRM_VFENCE_DEVICE_ACTIVE)));
		EXPECT_TRUE(working(self->guest[0].adapter));
		EXPECT_EQ(0, write_at_once(VF(1), "reset_engine", "0"));
		vf_device_destroy(device);
	}

	/* Nor is a lost function recovered before its resume. */
	ASSERT_EQ(0, tdr_configure(VF(1), "limit_count", "1"));
	ASSERT_EQ(0, inject(VF(1), "reset_adapter", "1"));
	EXPECT_FALSE(working(self->guest[0].adapter));
	ASSERT_EQ(0, pause_function(1, "1"));
	EXPECT_EQ(-EBUSY, write_at_once(VF(1), "recover", "1"));
	ASSERT_EQ(0, pause_function(1, "0"));
	EXPECT_EQ(0, write_at_once(VF(1), "recover", "1"));
	EXPECT_TRUE(working(self->guest[0].adapter));
}

/* A client whose call waits for a reset that the pause has put off does not keep the function. */
TEST_F(world, VF_43_a_function_leaves_with_a_reset_that_was_put_off)
{
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, pause_function(1, "1"));
	ASSERT_EQ(0, inject(VF(1), "mailbox", "5"));
	EXPECT_TRUE(EVENTUALLY(received(1, "flr_done") == 1));
	EXPECT_EQ(0, driver("unbind", VF(1)));
	EXPECT_EQ(0, driver("bind", VF(1)));
	EXPECT_TRUE(draw(&self->guest[1], 1));
}

/* A paused function is reset, or leaves. */
TEST_F(world, VF_43_a_paused_function_is_reset_and_leaves)
{
	ASSERT_EQ(0, world_make(self, 3));
	vf_cmd_draw(self->guest[0].gfx, 100, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_EQ(0, pause_function(1, "1"));
	ASSERT_LT(0, save(1));
	ASSERT_EQ(0, lose(1));
	EXPECT_EQ(-ENODATA, pause_function(1, "0"));
	ASSERT_EQ(0, inject(VF(1), "mailbox", "5"));
	EXPECT_TRUE(EVENTUALLY(stat_of(1, "gfx", "resets") == 1));
	/* The state from before the reset does not come back. */
	EXPECT_EQ(-ESTALE, restore(1, 65536));
	EXPECT_TRUE(EVENTUALLY(received(1, "flr_done") == 1));
	/* Its driver asks for the engines, to set it up, after the resume. */
	/* For as long as it takes. */
	ASSERT_TRUE(draw_long(&self->guest[1], 65));
	EXPECT_EQ(0, received(1, "ready_to_access"));
	EXPECT_EQ(0, received(1, "fail"));
	/* Nothing of before is used, so that nothing is missing. */
	EXPECT_EQ(0, pause_function(1, "0"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[0].device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(working(self->guest[0].adapter));

	ASSERT_EQ(0, pause_function(2, "1"));
	ASSERT_EQ(0, pause_function(3, "1"));
	ASSERT_LT(0, save(3));
	EXPECT_EQ(0, driver("unbind", VF(2)));
	EXPECT_EQ(0, driver("bind", VF(2)));
	/* It comes back as one that runs. */
	EXPECT_EQ(-EBUSY, save(2));
	/* The others go while they are paused. */
}

TEST_HARNESS_MAIN
