// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets of engines and of the adapter, step by step. Each test leaves new adapters behind.
 */

#include <libgen.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "vfence_test.h"

#define TRACING	"/sys/kernel/tracing/"

/* Return: a socket that gets all uevents from now on. */
static int uevents(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Return: number of uevents that are there and have all three variables. */
static unsigned int told(int events, const char *a, const char *b, const char *c)
{
	unsigned int count = 0;
	char text[4096];
	ssize_t n;

	while ((n = recv(events, text, sizeof(text) - 1, 0)) > 0) {
		unsigned int found = 0;
		char *at;

		text[n] = 0;
		for (at = text; at < text + n; at += strlen(at) + 1)
			found |= (!strcmp(at, a)) | (!strcmp(at, b) << 1) | (!strcmp(at, c) << 2);
		count += found == 7;
	}
	return count;
}

#define DUMPS	"/sys/class/devcoredump"

/* Open the dump of an adapter. Return: a descriptor, or -1. */
static int open_dump(unsigned int index, int flags)
{
	char path[PATH_MAX], target[PATH_MAX], name[20];
	struct dirent *entry;
	DIR *dir = opendir(DUMPS);
	int fd = -1;

	snprintf(name, sizeof(name), "vfence.%u", index);
	while (dir && fd < 0 && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), DUMPS "/%s/failing_device", entry->d_name);
		if (!realpath(path, target) || strcmp(basename(target), name))
			continue;
		snprintf(path, sizeof(path), DUMPS "/%s/data", entry->d_name);
		fd = open(path, flags | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return fd;
}

/* Return: the length of the dump, which is in @text. */
static ssize_t read_dump(unsigned int index, char *text, size_t size)
{
	int fd = open_dump(index, O_RDONLY);
	ssize_t n = 0, got;

	while (fd >= 0 && n < (ssize_t)size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += got;
	if (fd >= 0)
		close(fd);
	text[n] = 0;
	return n;
}

/* Return: true if there is no dump; releases one if there is. */
static bool no_dump(unsigned int index)
{
	int fd = open_dump(index, O_WRONLY);

	if (fd < 0)
		return true;
	if (write(fd, "0", 1) != 1)
		perror("# cannot release a dump");
	close(fd);
	return false;
}

/* Return: true if there is no dump any more, also of the module as it was loaded before. */
static bool release_dump(unsigned int index)
{
	return EVENTUALLY(no_dump(index));
}

/* --------------------------------------------------------- resets of an engine */

/* Adapter 11 says itself that an engine hangs. Its COMPUTE and MM are reset together. */
#define HANGS	11

FIXTURE(engine) {
	VFENCE_MEMBERS;
	struct vf_counters before;
	struct client other;
	struct vf_queue *other_gfx;
	int log;
};

FIXTURE_SETUP(engine)
{
	if (geteuid() || access("/sys/bus/platform/devices/vfence.11/drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	VFENCE_SETUP(HANGS);
	ASSERT_EQ(0, vf_adapter_open(HANGS, &self->other.adapter));
	ASSERT_EQ(0, vf_device_create(self->other.adapter, &self->other.device));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_GFX, 4096,
				     &self->other_gfx));
	self->before = counters(self->adapter);
	self->log = kernel_log();
	ASSERT_LE(0, self->log);
}

FIXTURE_TEARDOWN(engine)
{
	close(self->log);
	vf_queue_abort(self->other_gfx);
	vf_queue_destroy(self->other_gfx);
	vf_device_destroy(self->other.device);
	vf_adapter_close(self->other.adapter);
	VFENCE_TEARDOWN();
	/* Also switches that were set are off then. */
	EXPECT_EQ(0, driver("unbind", HANGS));
	EXPECT_EQ(0, driver("bind", HANGS));
}

TEST_F(engine, WDDM_144_145_TDR_03_an_engine_that_has_ended_its_work_is_not_reset)
{
	struct vf_counters after;

	ASSERT_EQ(0, knob(HANGS, "finish_before_snapshot", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.false_alarms == self->before.false_alarms + 1)));
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	/* The engine goes on, and finds the next one that hangs. */
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, hang_on(self->other_gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_HUNG));
}

TEST_F(engine, WDDM_151_TDR_04_work_that_ends_after_the_snapshot_counts_as_aborted)
{
	struct vf_counters after;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR,
				     0, &fence));
	ASSERT_EQ(0, knob(HANGS, "finish_before_reset", "1"));
	cmd_hang(self->gfx);
	vf_cmd_signal(self->gfx, fence, 7);
	ASSERT_EQ(0, vf_queue_publish(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	/* The work has ended before the reset, nevertheless. */
	EXPECT_EQ(7, vf_fence_current(fence));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 1)));
	EXPECT_EQ(self->before.false_alarms, after.false_alarms);
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	EXPECT_TRUE(drained(self->other_gfx));
	vf_fence_destroy(fence);
}

/* One line of the trace. */
struct step {
	unsigned int node, step;
	unsigned long long submitted, completed, aborted;
};

/* Return: number of steps in the trace, at most @max. */
static unsigned int traced(struct step *step, unsigned int max)
{
	FILE *f = fopen(TRACING "trace", "re");
	unsigned int adapter, count = 0;
	char line[500], *at;

	while (f && count < max && fgets(line, sizeof(line), f)) {
		at = strstr(line, "vfence_recovery: ");
		if (at && sscanf(at, "vfence_recovery: adapter=%u node=%u step=%u submitted=%llu completed=%llu aborted=%llu",
				 &adapter, &step->node, &step->step, &step->submitted,
				 &step->completed, &step->aborted) == 6) {
			step++;
			count++;
		}
	}
	if (f)
		fclose(f);
	return count;
}

static int trace_recovery(const char *on)
{
	return write_text(TRACING "trace", "") ?:
	       write_text(TRACING "events/vfence/vfence_recovery/enable", on);
}

TEST_F(engine, WDDM_157_TDR_05_07_the_steps_come_in_their_order)
{
	static const unsigned int order[] = { 2, 3, 5, 6, 7, 8, 9 };
	const unsigned int steps = ARRAY_SIZE(order);
	struct step step[32];
	unsigned int i, k;

	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (trace_recovery("1"))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_TRUE(EVENTUALLY(traced(step, 32) >= steps));
	ASSERT_EQ(0, hang_on(self->other_gfx));
	EXPECT_TRUE(EVENTUALLY(traced(step, 32) >= 2 * steps));
	EXPECT_EQ(0, write_text(TRACING "events/vfence/vfence_recovery/enable", "0"));
	ASSERT_EQ(2 * steps, traced(step, 32));
	for (i = 0; i < 2 * steps; i++) {
		EXPECT_EQ(order[i % steps], step[i].step);
		EXPECT_EQ(DRM_VFENCE_NODE_GFX, step[i].node);
		EXPECT_LT(step[i].completed, step[i].submitted);
	}
	for (i = 0; i < 2; i++) {
		const struct step *reset = &step[i * steps + 4];

		EXPECT_EQ(reset->submitted, reset->aborted);
		/* What was aborted is what was completed last, for the next reset. */
		for (k = 0; !i && k < steps; k++)
			EXPECT_EQ(reset->aborted, step[steps + k].completed);
	}
	EXPECT_EQ(step[0].submitted + 1, step[steps].submitted);
}

TEST_F(engine, WDDM_153_TDR_06_a_preemption_completes_nothing)
{
	struct vf_queue *queue[2];
	struct step step[32];
	unsigned int i;

	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (trace_recovery("1"))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &queue[0]));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COMPUTE, 4096,
				     &queue[1]));
	/* Two clients take turns: each of them is preempted again and again. */
	for (i = 0; i < 2; i++) {
		vf_cmd_draw(queue[i], 100000, 1000000);
		ASSERT_EQ(0, vf_queue_submit(queue[i]));
	}
	vf_cmd_draw(self->gfx, 1, 20000000);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, knob(HANGS, "reset_engine", "1"));
	EXPECT_EQ(0, write_text(TRACING "events/vfence/vfence_recovery/enable", "0"));
	ASSERT_LE(7, traced(step, 32));
	/* A queue that comes back has a new id, and no id was completed before. */
	EXPECT_EQ(3, step[1].step);
	EXPECT_LT(2, step[1].submitted);
	EXPECT_EQ(0, step[1].completed);
	/* One of the two was hit, as collateral, and the other one goes on. */
	EXPECT_TRUE(EVENTUALLY((vf_device_state(self->device) == DRM_VFENCE_DEVICE_RESET) !=
			       (vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET)));
	for (i = 0; i < 2; i++) {
		vf_queue_abort(queue[i]);
		vf_queue_destroy(queue[i]);
	}
}

TEST_F(engine, WDDM_150_TDR_05_an_impossible_id_loses_the_adapter)
{
	ASSERT_EQ(0, knob(HANGS, "wrong_last_aborted", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) ==
			       DRM_VFENCE_DEVICE_STOPPED));
	EXPECT_TRUE(kernel_said(self->log, "(0x119, 0xa)"));
}

TEST_F(engine, WDDM_147_148_TDR_24_dependent_engines_may_leave_and_others_do_not_notice)
{
	struct vf_queue *compute, *mm;
	struct vf_counters after;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &fence));
	vf_cmd_draw(mm, 1, 200000000);
	vf_cmd_signal(mm, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(mm));
	vf_cmd_draw(self->other_gfx, 1, 200000000);
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, hang_on(compute));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	EXPECT_TRUE(drained(self->other_gfx));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets + 1, after.engine_resets);
	vf_fence_destroy(fence);
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
}

TEST_F(engine, WDDM_147_148_156_174_TDR_24_a_dependent_engine_that_stays_is_reset)
{
	struct vf_queue *compute, *mm, *third_gfx;
	struct vf_device *third;
	struct vf_counters after;

	ASSERT_EQ(0, vf_device_create(self->other.adapter, &third));
	ASSERT_EQ(0, vf_queue_create(third, DRM_VFENCE_NODE_GFX, 4096, &third_gfx));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	vf_cmd_draw(mm, 10, SECOND);
	ASSERT_EQ(0, vf_queue_submit(mm));
	/* Longer than dependent engines have time. */
	vf_cmd_draw(third_gfx, 15, 100000000);
	ASSERT_EQ(0, vf_queue_submit(third_gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, knob(HANGS, "ignore_suspend", "1"));
	ASSERT_EQ(0, hang_on(compute));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(drained(third_gfx));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(third));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 2)));
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
	vf_queue_destroy(third_gfx);
	vf_device_destroy(third);
}

/* A client is told what it has done, and goes on with a new queue. */
TEST_F(engine, TDR_12_the_guilty_one_is_refused_and_a_new_queue_of_its_process_works)
{
	struct drm_vfence_context_create context = {
		.device = vf_device_handle(self->device), .node = DRM_VFENCE_NODE_COMPUTE,
	};
	struct drm_vfence_queue_create create = { .flags = DRM_VFENCE_QUEUE_USER_MODE };
	struct vf_queue *compute, *kernel, *mm;
	struct vf_device *third;

	ASSERT_EQ(0, vf_device_create(self->adapter, &third));
	ASSERT_EQ(0, raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context));
	create.context = context.handle;
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COPY, &kernel));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	vf_cmd_draw(mm, 10, SECOND);
	ASSERT_EQ(0, vf_queue_submit(mm));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, knob(HANGS, "ignore_suspend", "1"));
	ASSERT_EQ(0, hang_on(compute));

	/* Guilty, innocent, and not concerned. */
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(third));
	/* The calls of a lost device say so. */
	EXPECT_TRUE(EVENTUALLY(vf_queue_submit(kernel) == -EIO));
	EXPECT_TRUE(EVENTUALLY(vf_queue_submit(compute) == -EIO));
	EXPECT_TRUE(EVENTUALLY(vf_queue_submit(mm) == -EIO));
	EXPECT_EQ(-EIO, raw(self->fd, DRM_IOCTL_VFENCE_QUEUE_CREATE, &create));
	EXPECT_EQ(-EIO, raw(self->fd, DRM_IOCTL_VFENCE_CONTEXT_CREATE, &context));
	vf_queue_destroy(compute);
	/* The same process and file, on the engine that hung. */
	ASSERT_EQ(0, vf_queue_create(third, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_submit(compute));
	EXPECT_TRUE(drained(compute));
	vf_queue_destroy(compute);
	vf_queue_destroy(kernel);
	vf_queue_destroy(mm);
	vf_device_destroy(third);
}

/* Work that is long is not stuck: the same queue, and then one packet that does not go on. */
TEST_F(engine, TDR_16_slow_work_is_left_alone_and_stuck_work_is_not)
{
	struct vf_fence *fence;
	struct vf_counters after;

	ASSERT_EQ(0, vf_fence_create(self->device, 0, 0, &fence));
	/* Twenty times as long as a hang takes to be noticed, in one piece and in pieces. */
	vf_cmd_draw(self->gfx, 1, 4 * SECOND / 10);
	vf_cmd_draw(self->gfx, 100, SECOND / 250);
	vf_cmd_signal(self->gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	EXPECT_EQ(1, vf_fence_current(fence));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_EQ(self->before.false_alarms, after.false_alarms);

	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 1)));
	vf_fence_destroy(fence);
}

/* No buffer is there. */
#define NOWHERE	UINT64_C(0x7000)

/* Let a queue fault, which the call may know already when it returns. */
static void fault_on(struct vf_queue *queue)
{
	vf_cmd_fill(queue, NOWHERE, 64, 0);
	vf_queue_publish(queue);
}

TEST_F(engine, WDDM_177_a_page_fault_may_request_the_reset_of_its_engine)
{
	struct vf_queue *copy;
	struct vf_counters after;

	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	vf_cmd_draw(copy, 20, SECOND / 100);
	ASSERT_EQ(0, vf_queue_submit(copy));
	ASSERT_EQ(0, knob(HANGS, "page_fault_flags", "0x8"));
	fault_on(self->gfx);
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 1)));
	/* The engine is unusable until it is reset. */
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	EXPECT_TRUE(drained(self->other_gfx));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(self->device));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	EXPECT_TRUE(drained(copy));

	/* If the engine cannot be reset, the adapter is. */
	ASSERT_EQ(0, knob(HANGS, "fail_engine_reset", "1"));
	fault_on(copy);
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(self->other.device));
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
	vf_queue_destroy(copy);
}

#define HANGS_MEASURED	50
/* hung_us of this adapter. */
#define HANGS_FOUND_US	20000

static int compare_us(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Sort @us. Return: the value below which @percent of them are. */
static int64_t percentile(int64_t *us, unsigned int count, unsigned int percent)
{
	qsort(us, count, sizeof(*us), compare_us);
	return us[(count - 1) * percent / 100];
}

/* Hang the engine of @node. Return: us until a job that waited behind is done, or -1. */
static int64_t hang_before(struct vf_adapter *adapter, struct vf_queue *behind, unsigned int node)
{
	int64_t begun = vf_deadline(0), us = -1;
	struct vf_device *device;
	struct vf_queue *queue = NULL;

	if (vf_device_create(adapter, &device))
		return -1;
	if (!vf_queue_create(device, node, 4096, &queue) && !hang_on(queue) &&
	    EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_RUNNING ||
		       queue_state(queue) == DRM_VFENCE_QUEUE_ABORTED)) {
		begun = vf_deadline(0);
		if (!vf_queue_submit(behind) && !vf_queue_wait_idle(behind, DEADLINE))
			us = (vf_deadline(0) - begun) / 1000;
	}
	vf_queue_destroy(queue);
	vf_device_destroy(device);
	return us;
}

/* From a hang that is found to the next job on the same engine, and to one on another engine. */
TEST_F_TIMEOUT(engine, TDR_28_an_engine_that_was_reset_works_again_at_once, 120)
{
	int64_t us[HANGS_MEASURED], begun, alone, copied = 0;
	struct vf_queue *copy;
	unsigned int i;

	/* Nobody is blocked because it hangs often. */
	ASSERT_EQ(0, tdr_configure(HANGS, "debug_mode", "3"));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	for (i = 0; i < 2; i++) {
		alone = vf_deadline(0);
		vf_cmd_draw(copy, 200, SECOND / 1000);
		ASSERT_EQ(0, vf_queue_submit(copy));
		ASSERT_EQ(0, vf_queue_wait_idle(copy, DEADLINE));
		alone = (vf_deadline(0) - alone) / 1000;
	}
	begun = vf_deadline(0);
	vf_cmd_draw(copy, 200, SECOND / 1000);
	ASSERT_EQ(0, vf_queue_submit(copy));
	for (i = 0; i < HANGS_MEASURED; i++) {
		us[i] = hang_before(self->adapter, self->other_gfx, DRM_VFENCE_NODE_GFX);
		ASSERT_LE(0, us[i]);
		us[i] -= HANGS_FOUND_US;
		if (i == 4) {
			/* Five hangs took 100 ms and more. */
			ASSERT_EQ(0, vf_queue_wait_idle(copy, DEADLINE));
			copied = (vf_deadline(0) - begun) / 1000;
		}
	}
	TH_LOG("engine: p50 %lld us, p99 %lld us; 200 ms of copying took %lld us, alone %lld us",
	       (long long)percentile(us, HANGS_MEASURED, 50),
	       (long long)percentile(us, HANGS_MEASURED, 99), (long long)copied,
	       (long long)alone);
	if (deterministic()) {
		EXPECT_GE(1000, percentile(us, HANGS_MEASURED, 99));
		EXPECT_GE(alone + 500, copied);
	}
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	vf_queue_destroy(copy);
}

/* The same if the adapter has to be reset: the next job is one of a new device. */
TEST_F_TIMEOUT(engine, TDR_28_an_adapter_that_was_reset_works_again_at_once, 120)
{
	int64_t us[HANGS_MEASURED], begun;
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(HANGS, "debug_mode", "3"));
	ASSERT_EQ(0, knob(HANGS, "fail_engine_reset", "1"));
	for (i = 0; i < HANGS_MEASURED; i++) {
		struct vf_device *device;
		struct vf_queue *queue;

		ASSERT_EQ(0, vf_device_create(self->adapter, &device));
		ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
		begun = vf_deadline(0);
		ASSERT_EQ(0, hang_on(queue));
		ASSERT_TRUE(AT_ONCE(vf_device_state(device) != DRM_VFENCE_DEVICE_ACTIVE));
		/* A device may be made between the reset of the engine and that of the adapter. */
		ASSERT_TRUE(EVENTUALLY(working(self->adapter)));
		us[i] = (vf_deadline(0) - begun) / 1000 - HANGS_FOUND_US;
		vf_queue_destroy(queue);
		vf_device_destroy(device);
	}
	TH_LOG("adapter: p50 %lld us, p99 %lld us",
	       (long long)percentile(us, HANGS_MEASURED, 50),
	       (long long)percentile(us, HANGS_MEASURED, 99));
	if (deterministic())
		EXPECT_GE(20000, percentile(us, HANGS_MEASURED, 99));
}

/* A completion comes while its engine is held, so its record is ignored at first. */
TEST_F(engine, WDDM_145_what_was_ignored_is_read_when_the_engines_go_on)
{
	struct drm_vfence_syncobj out = {};
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };
	struct vf_queue *compute, *mm;
	struct vf_counters after;

	/* No timer is to find the completion. */
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "900000"));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_kernel_queue_create(self->other.device, DRM_VFENCE_NODE_MM, &mm));
	ASSERT_EQ(0, drmSyncobjCreate(vf_adapter_fd(self->other.adapter), 0, &out.handle));
	ASSERT_EQ(0, knob(HANGS, "ignore_suspend", "1"));
	vf_cmd_draw(mm, 1, 300000000);
	ASSERT_EQ(0, vf_submit(&mm, 1, &what));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, hang_on(compute));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(syncobj_status(vf_adapter_fd(self->other.adapter), out.handle)));
	EXPECT_EQ(1, syncobj_status(vf_adapter_fd(self->other.adapter), out.handle));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets + 1, after.engine_resets);
	drmSyncobjDestroy(vf_adapter_fd(self->other.adapter), out.handle);
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
}

TEST_F(engine, TDR_26_two_engines_that_hang_at_once_recover)
{
	struct vf_queue *other_copy;
	struct vf_counters after;

	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, 4096, &other_copy));
	ASSERT_EQ(0, vf_queue_submit(other_copy));
	ASSERT_TRUE(drained(other_copy));
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_EQ(0, hang_on(other_copy));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 2)));
	EXPECT_TRUE(working(self->adapter));
	vf_queue_destroy(other_copy);
}

TEST_F(engine, WDDM_172_TDR_11_errors_tell_the_guilty_from_the_cancelled)
{
	struct drm_vfence_syncobj out[3] = {};
	struct vf_queue *queue[2];
	struct vf_submit what = { .signal_syncobj_count = 1 };
	struct vf_buffer *buffer;
	unsigned int i;

	ASSERT_EQ(0, vf_buffer_create(self->adapter, 4096, &buffer));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_GFX, &queue[0]));
	ASSERT_EQ(0, vf_kernel_queue_create(self->device, DRM_VFENCE_NODE_COPY, &queue[1]));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, drmSyncobjCreate(self->fd, 0, &out[i].handle));
	/* The copy engine is busy, behind the hang there is another one, and each tells. */
	vf_cmd_draw(queue[1], 1, 2 * SECOND);
	what.signal_syncobjs = &out[2];
	ASSERT_EQ(0, vf_submit(&queue[1], 1, &what));
	cmd_hang(queue[0]);
	what.signal_syncobjs = &out[0];
	ASSERT_EQ(0, vf_submit(&queue[0], 1, &what));
	vf_cmd_fill(queue[0], vf_buffer_va(buffer), 4096, 0x55);
	what.signal_syncobjs = &out[1];
	/* On a slow machine the device is lost already. */
	ASSERT_TRUE(vf_submit(&queue[0], 1, &what) == 0 || !deterministic());
	EXPECT_TRUE(EVENTUALLY(syncobj_status(self->fd, out[0].handle)));
	EXPECT_EQ(-ETIME, syncobj_status(self->fd, out[0].handle));
	EXPECT_TRUE(EVENTUALLY(syncobj_status(self->fd, out[2].handle)));
	EXPECT_EQ(-ECANCELED, syncobj_status(self->fd, out[2].handle));
	if (deterministic()) {
		EXPECT_TRUE(EVENTUALLY(syncobj_status(self->fd, out[1].handle)));
		EXPECT_EQ(-ECANCELED, syncobj_status(self->fd, out[1].handle));
	}
	EXPECT_EQ(0, *(uint32_t *)vf_buffer_map(buffer));
	for (i = 0; i < 3; i++)
		drmSyncobjDestroy(self->fd, out[i].handle);
	for (i = 0; i < 2; i++)
		vf_queue_destroy(queue[i]);
	vf_buffer_destroy(buffer);
}

TEST_F(engine, WDDM_155_TDR_10_an_engine_that_cannot_be_reset_takes_the_adapter_along)
{
	struct vf_counters after;

	ASSERT_EQ(0, knob(HANGS, "fail_engine_reset", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
}

TEST_F(engine, WDDM_176_TDR_10_an_engine_that_does_not_go_on_takes_the_adapter_along)
{
	struct vf_counters after;

	ASSERT_EQ(0, knob(HANGS, "fail_engine_resume", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_EQ(self->before.engine_resets + 1, after.engine_resets);
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
}

TEST_F(engine, TDR_14_one_uevent_names_the_process_that_hung)
{
	char pid[32], task[64] = "TASK=";
	struct vf_queue *kernel, *queue;
	struct vf_device *third;
	unsigned int count = 0;
	int events = uevents();
	int fd;

	ASSERT_LE(0, events);
	snprintf(pid, sizeof(pid), "PID=%d", getpid());
	fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ASSERT_LT(0, read(fd, task + 5, sizeof(task) - 6));
	close(fd);
	strtok(task, "\n");
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY((count += told(events, "WEDGED=none", pid, task)) > 0));
	/* What the driver finds itself is told in the same way. */
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "100"));
	ASSERT_EQ(0, vf_kernel_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, &kernel));
	vf_cmd_draw(kernel, 60, SECOND / 20);
	ASSERT_EQ(0, vf_queue_submit(kernel));
	EXPECT_TRUE(EVENTUALLY((count += told(events, "WEDGED=none", pid, task)) > 1));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->other.device));
	EXPECT_TRUE(working(self->adapter));
	count += told(events, "WEDGED=none", pid, task);
	EXPECT_EQ(2, count);
	vf_queue_destroy(kernel);

	/*
	 * The reset of an engine and the end of the call both find this one. The reset of the
	 * adapter in between leaves time for the first to be told.
	 */
	ASSERT_EQ(0, vf_device_create(self->adapter, &third));
	ASSERT_EQ(0, vf_queue_create(third, DRM_VFENCE_NODE_COPY, 4096, &queue));
	ASSERT_EQ(0, knob(HANGS, "ignore_suspend", "1"));
	ASSERT_EQ(0, knob(HANGS, "fail_engine_resume", "1"));
	vf_cmd_draw(queue, 1, 2 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(queue));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_RUNNING));
	EXPECT_EQ(-ETIME, vf_queue_suspend(queue, NULL));
	EXPECT_TRUE(EVENTUALLY((count += told(events, "WEDGED=none", pid, task)) > 2));
	EXPECT_TRUE(working(self->adapter));
	vf_queue_destroy(queue);
	vf_device_destroy(third);
	count += told(events, "WEDGED=none", pid, task);
	EXPECT_EQ(3, count);
	close(events);
}

TEST_F(engine, WDDM_167_TDR_13_the_first_hang_leaves_a_dump)
{
	static char first[16384], text[16384];
	struct vf_device *device;
	struct vf_queue *queue;
	char line[64];

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_TRUE(release_dump(HANGS));
	vf_cmd_draw(self->gfx, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	ASSERT_TRUE(EVENTUALLY(read_dump(HANGS, first, sizeof(first)) > 0));
	EXPECT_NE(NULL, strstr(first, "\nadapter: vfence11\nreason: 0x141\nnode: 0\n"));
	EXPECT_NE(NULL, strstr(first, "\nresponsive: 0\n"));
	snprintf(line, sizeof(line), "\nprocess: %d\n", getpid());
	EXPECT_NE(NULL, strstr(first, line));
	snprintf(line, sizeof(line), "\nopcode: %u\n", DRM_VFENCE_OP_HANG);
	EXPECT_NE(NULL, strstr(first, line));
	/* The mark is at the packet that hangs. */
	snprintf(line, sizeof(line), ": 0x%016llx\n",
		 (unsigned long long)DRM_VFENCE_OP_HANG | 8ull << 16);
	ASSERT_NE(NULL, strstr(first, "\n> "));
	EXPECT_EQ(0, strncmp(strstr(strstr(first, "\n> "), ": "), line, strlen(line)));

	/* A later hang does not replace it. */
	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_COPY, 4096, &queue));
	ASSERT_EQ(0, hang_on(queue));
	ASSERT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG));
	ASSERT_LT(0, read_dump(HANGS, text, sizeof(text)));
	EXPECT_EQ(0, strcmp(first, text));
	/* Once it is released, the next one is kept. */
	ASSERT_TRUE(release_dump(HANGS));
	ASSERT_EQ(0, hang_on(self->other_gfx));
	ASSERT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(read_dump(HANGS, text, sizeof(text)) > 0));
	EXPECT_NE(0, strcmp(first, text));
	EXPECT_TRUE(release_dump(HANGS));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
}

/* ------------------------------------------------------- resets of the adapter */

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
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));

	/* WDDM-167: what hung was collected before. */
	if (!access(DUMPS, F_OK)) {
		EXPECT_TRUE(EVENTUALLY(read_dump(LOCAL, text, sizeof(text)) > 0));
		EXPECT_NE(NULL, strstr(text, "\nadapter: vfence2\nreason: 0x117\nnode: 0\n"));
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
	ASSERT_EQ(0, knob(LOCAL, "ignore_suspend", "1"));
	ASSERT_EQ(0, knob(LOCAL, "finish_before_snapshot", "1"));
	EXPECT_EQ(0, vf_queue_suspend(self->gfx, NULL));
	ASSERT_EQ(0, knob(LOCAL, "ignore_suspend", "0"));
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
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
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
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
	/* Resets of idle engines tell the ids. */
	if (trace_recovery("1"))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, knob(LOCAL, "reset_engine", "0"));
	ASSERT_EQ(0, knob(LOCAL, "reset_engine", "2"));
	EXPECT_EQ(0, write_text(TRACING "events/vfence/vfence_recovery/enable", "0"));
	ASSERT_EQ(14, traced(step, 32));
	for (i = 0; i < 14; i++) {
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
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
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
	struct vf_fence *fence;
	struct client later;

	ASSERT_EQ(0, tdr_configure(LOCAL, "delay_ms", "100"));
	ASSERT_EQ(0, knob(LOCAL, "hang_paging", "1"));
	/* The call clears a page of video memory, or would. */
	if (!vf_fence_create_desc(self->device, &desc, &fence))
		vf_fence_destroy(fence);
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_RESET));
	ASSERT_EQ(0, knob(LOCAL, "hang_paging", "0"));

	/* The kernel's own ring works again, for a client without pages in system memory. */
	ASSERT_EQ(0, vf_adapter_open(LOCAL, &later.adapter));
	ASSERT_EQ(0, vf_device_create(later.adapter, &later.device));
	ASSERT_EQ(0, vf_fence_create_desc(later.device, &desc, &fence));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_LT(0, after.local_pages);
	vf_fence_destroy(fence);
	vf_device_destroy(later.device);
	vf_adapter_close(later.adapter);
	EXPECT_TRUE(working(self->adapter));
}

/* Threads of the test write a switch, and may be looked at meanwhile. */
struct call {
	struct vf_adapter *adapter;
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
	call->ret = knob(LOCAL, call->name, call->value);
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

TEST_F(whole, WDDM_177_a_page_fault_may_request_the_reset_of_the_adapter)
{
	struct vf_device *device, *innocent;
	struct vf_counters after;
	struct vf_queue *queue;

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

	ASSERT_EQ(0, knob(LOCAL, "page_fault_flags", "0x4"));
	fault_on(self->gfx);
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(innocent) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(self->device));
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
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
	ASSERT_EQ(0, knob(SCANNED, "page_fault_flags", "0x4"));
	fault_on(queue);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(late.device) != DRM_VFENCE_DEVICE_ACTIVE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(late.device));
	EXPECT_TRUE(EVENTUALLY(counters(late.adapter).adapter_resets ==
			       before.adapter_resets + 1));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(late.device));
	ASSERT_EQ(0, knob(SCANNED, "page_fault_flags", "0x0"));
	EXPECT_TRUE(EVENTUALLY(working(late.adapter)));
	vf_queue_destroy(queue);
	client_close(&late);
}

TEST_F(whole, WDDM_177_a_page_fault_may_be_fatal)
{
	struct vf_device *device, *innocent;

	ASSERT_EQ(0, vf_device_create(self->adapter, &innocent));
	ASSERT_EQ(0, knob(LOCAL, "page_fault_flags", "0x10"));
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
	ASSERT_EQ(0, knob(LOCAL, "ignore_suspend", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, suspend_thread, &suspend));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&suspend.tid, SYS_ioctl)));
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
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

TEST_F(whole, WDDM_162_a_thread_that_stays_in_the_driver_loses_the_adapter)
{
	struct call stay = { .name = "stay_ms", .value = "3000" };
	pthread_t thread;

	ASSERT_EQ(0, tdr_configure(LOCAL, "ddi_delay_ms", "100"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_thread, &stay));
	ASSERT_TRUE(EVENTUALLY(sleeps_in(&stay.tid, SYS_write)));
	EXPECT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
	EXPECT_TRUE(kernel_said(self->log, "adapter lost (0x116, 0x1)"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(self->device));
	EXPECT_FALSE(working(self->adapter));
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

TEST_F(whole, WDDM_161_TDR_14_15_a_reset_that_fails_loses_the_adapter)
{
	int events = uevents();

	ASSERT_LE(0, events);
	ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->efd));
	ASSERT_EQ(0, knob(LOCAL, "fail_adapter_reset", "1"));
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
	EXPECT_TRUE(kernel_said(self->log, "adapter lost (0x116, 0x1)"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_STOPPED, vf_device_state(self->device));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_TRUE(EVENTUALLY(told(events, "WEDGED=rebind", "SUBSYSTEM=drm", "ACTION=change")));
	close(events);
	EXPECT_FALSE(working(self->adapter));
}

TEST_F(whole, WDDM_161_a_restart_that_fails_loses_the_adapter)
{
	ASSERT_EQ(0, arm(self->adapter, self->fence, 5, self->efd));
	ASSERT_EQ(0, knob(LOCAL, "fail_restart", "1"));
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
	EXPECT_TRUE(kernel_said(self->log, "adapter lost (0x116, 0x1)"));
	EXPECT_TRUE(EVENTUALLY(fired(self->efd)));
	EXPECT_FALSE(working(self->adapter));
}

TEST_F(whole, WDDM_163_TDR_23_one_reset_too_many_loses_the_adapter)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
		ASSERT_TRUE(working(self->adapter));
	}
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
	EXPECT_TRUE(kernel_said(self->log, "adapter lost (0x116, 0x1)"));
	EXPECT_FALSE(working(self->adapter));
}

TEST_F(whole, WDDM_163_165_debug_mode_3_recovers_whatever_the_limit)
{
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(LOCAL, "debug_mode", "3"));
	ASSERT_EQ(0, tdr_configure(LOCAL, "limit_count", "1"));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
		ASSERT_TRUE(working(self->adapter));
	}
	ASSERT_EQ(0, tdr_configure(LOCAL, "debug_mode", "2"));
	ASSERT_EQ(0, knob(LOCAL, "reset_adapter", "1"));
	EXPECT_FALSE(working(self->adapter));
}

TEST_HARNESS_MAIN
