// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hang leaves for others to read: uevents and device core dumps. Each test leaves new adapters behind.
 */

#include <sys/prctl.h>
#include <sys/wait.h>

#include "engine_fixture.h"

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
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	ASSERT_EQ(0, inject(HANGS, "fail_engine_resume", "1"));
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

/* Devices of one process hang at the same time. It is blocked, and what it has left is silent. */
TEST_F(engine, WDDM_164_TDR_14_a_blocked_process_makes_no_noise)
{
	struct vf_device *device[8];
	struct vf_queue *queue[8];
	struct vf_submit what = {};
	unsigned int i, count = 0;
	int events = uevents();
	char pid[32];

	ASSERT_LE(0, events);
	snprintf(pid, sizeof(pid), "PID=%d", getpid());
	ASSERT_EQ(0, tdr_configure(HANGS, "limit_count", "1"));
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "100"));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, vf_device_create(self->adapter, &device[i]));
		ASSERT_EQ(0, vf_kernel_queue_create(device[i], DRM_VFENCE_NODE_COPY, &queue[i]));
		ASSERT_EQ(0, vf_queue_suspend(queue[i], NULL));
	}
	for (i = 0; i < 8; i++) {
		vf_cmd_draw(queue[i], 1, 1000);
		ASSERT_EQ(0, vf_submit(&queue[i], 1, &what));
	}
	for (i = 0; i < 8; i++)
		EXPECT_TRUE(EVENTUALLY(vf_device_state(device[i]) != DRM_VFENCE_DEVICE_ACTIVE));
	for (i = 0; i < 8; i++) {
		vf_queue_destroy(queue[i]);
		vf_device_destroy(device[i]);
	}
	count = told(events, "WEDGED=none", pid, pid);
	/* On two processors, more than one may be found before the process is blocked. */
	EXPECT_LE(1, count);
	EXPECT_GE(deterministic() ? 1 : 7, count);
	close(events);
}

/* A process hangs two engines, of which a reset takes both. Return: 0 or the step that failed. */
static int hang_two(void)
{
	struct vf_queue *compute, *mm, *idle;
	struct vf_device *first, *second;
	struct vf_adapter *adapter;
	unsigned int i;

	if (vf_adapter_open(HANGS, &adapter) || vf_device_create(adapter, &first) ||
	    vf_device_create(adapter, &second))
		return 1;
	/* It has so much to stop that the second hang is found meanwhile. */
	for (i = 0; i < 60; i++)
		if (vf_kernel_queue_create(first, DRM_VFENCE_NODE_COPY, &idle))
			return 2;
	if (vf_queue_create(first, DRM_VFENCE_NODE_COMPUTE, 4096, &compute) ||
	    vf_queue_create(second, DRM_VFENCE_NODE_MM, 4096, &mm))
		return 3;
	if (hang_on(compute) || hang_on(mm))
		return 4;
	if (!EVENTUALLY(vf_device_state(first) != DRM_VFENCE_DEVICE_ACTIVE &&
			vf_device_state(second) != DRM_VFENCE_DEVICE_ACTIVE))
		return 5;
	return 0;
}

/* The first hang blocks the process, and the second one, of the same reset, is not told. */
TEST_F(engine, WDDM_164_TDR_14_two_hangs_of_one_reset_make_one_noise)
{
	unsigned int i, count;
	int events = uevents();
	char pid[32];
	int status;
	pid_t child;

	ASSERT_LE(0, events);
	ASSERT_EQ(0, tdr_configure(HANGS, "limit_count", "1"));
	/* Whether the process is blocked completely before the second is a matter of time. */
	for (i = 0; i < 8; i++) {
		child = fork_stranger();
		ASSERT_LE(0, child);
		if (!child)
			_exit(hang_two());
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
		snprintf(pid, sizeof(pid), "PID=%d", child);
		count = told(events, "WEDGED=none", pid, pid);
		EXPECT_LE(1, count);
		/* On a slow machine the second hang may be found before the process is blocked. */
		if (deterministic())
			EXPECT_EQ(1, count);
	}
	close(events);
}

TEST_F(engine, WDDM_167_TDR_13_the_first_hang_leaves_a_dump)
{
	static char first[16384], text[16384];
	unsigned long long used, busy, end;
	struct vf_device *device;
	struct vf_queue *queue;
	char line[64];

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_TRUE(release_dump(HANGS));
	vf_cmd_draw(self->gfx, 1, SECOND / 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(drained(self->gfx));
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	ASSERT_TRUE(EVENTUALLY(read_dump(HANGS, first, sizeof(first)) > 0));
	/* What the packet has used, hung_us at least, and what the whole queue has. */
	ASSERT_NE(NULL, strstr(first, "\nused_ns: "));
	ASSERT_EQ(2, sscanf(strstr(first, "\nused_ns: "), "\nused_ns: %llu\nbusy_ns: %llu\n",
			    &used, &busy));
	EXPECT_LE(20000000, used);
	EXPECT_LE(used + SECOND / 10, busy);
	EXPECT_NE(NULL, strstr(first, "\nadapter: vfence11\nreason: 0x141\ntype: 6\nnode: 0\n"));
	EXPECT_NE(NULL, strstr(first, "\nresponsive: 0\n"));
	snprintf(line, sizeof(line), "\nprocess: %d\n", getpid());
	EXPECT_NE(NULL, strstr(first, line));
	snprintf(line, sizeof(line), "\nopcode: %u\n", DRM_VFENCE_OP_HANG);
	EXPECT_NE(NULL, strstr(first, line));
	/* The submission before it, as the queue has logged it, and no wait. */
	snprintf(line, sizeof(line), "\nsignal log:\nfence %u, operation %u, value 1, time ",
		 vf_fence_handle(vf_queue_progress(self->gfx)), DRM_VFENCE_LOG_SIGNAL_EXECUTED);
	EXPECT_NE(NULL, strstr(first, line));
	EXPECT_EQ(NULL, strstr(first, "wait log"));
	/* The mark is at the packet that hangs. */
	snprintf(line, sizeof(line), ": 0x%016llx\n",
		 (unsigned long long)DRM_VFENCE_OP_HANG | 8ull << 16);
	ASSERT_NE(NULL, strstr(first, "\n> "));
	EXPECT_EQ(0, strncmp(strstr(strstr(first, "\n> "), ": "), line, strlen(line)));
	/*
	 * Another mark is at the write pointer. The packet is near the begin of the ring, so the
	 * dump shows the ring from its begin. All bytes of the dump are text.
	 */
	ASSERT_NE(NULL, strstr(first, "\nwrite_ptr: "));
	ASSERT_EQ(1, sscanf(strstr(first, "\nwrite_ptr: "), "\nwrite_ptr: 0x%llx", &end));
	snprintf(line, sizeof(line), "\n< 0x%llx: ", end);
	EXPECT_NE(NULL, strstr(first, line));
	EXPECT_NE(NULL, strstr(first, "\nring:\n  0x0: "));
	EXPECT_EQ(strlen(first), read_dump(HANGS, text, sizeof(text)));

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

/* A client may call itself as it likes: nothing of it looks like a line of a report. */
#define HOSTILE_NAME	"x\nring:\n\033[2J\xff"

TEST_F(engine, TDR_14_a_name_is_no_line_of_the_uevent)
{
	int events = uevents();
	char pid[32];

	ASSERT_LE(0, events);
	snprintf(pid, sizeof(pid), "PID=%d", getpid());
	ASSERT_EQ(0, prctl(PR_SET_NAME, HOSTILE_NAME));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(told(events, "WEDGED=none", pid, "TASK=x?ring:??[2J?")));
	close(events);
}

/* Return: the number between @before and @after in a new line of the kernel's log, or 0. */
static unsigned long number_in_log(int log, const char *before, const char *after)
{
	char line[8192], *at, *end;
	unsigned long number;
	ssize_t n;

	while ((n = read(log, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n < 0 ? 0 : n] = 0;
		at = strstr(line, before);
		number = at ? strtoul(at + strlen(before), &end, 10) : 0;
		if (number && !strncmp(end, after, strlen(after)))
			return number;
	}
	return 0;
}

TEST_F(engine, a_line_of_the_log_names_who_was_on_an_engine_that_is_reset)
{
	char after[128], queue[32];
	unsigned long number;

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_TRUE(release_dump(HANGS));
	ASSERT_EQ(0, prctl(PR_SET_NAME, HOSTILE_NAME));
	snprintf(after, sizeof(after), " of x?ring:??[2J? [%d]: it did not end its work in time",
		 getpid());
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY((number = number_in_log(self->log,
				"engine 0 was reset with queue ", after)) > 0));
	snprintf(queue, sizeof(queue), "\nqueue: %lu\n", number);
	EXPECT_TRUE(dump_says(HANGS, queue));
}

TEST_F(engine, a_line_of_the_log_says_why_the_adapter_was_reset)
{
	ASSERT_EQ(0, inject(HANGS, "reset_adapter", "1"));
	EXPECT_TRUE(kernel_said(self->log, "adapter was reset, and all devices of before are lost: "
				"root has asked for it"));
	/* COMPUTE and MM are reset together; on MM is nothing. */
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "3"));
	EXPECT_TRUE(kernel_said(self->log, "engine 3 was reset: root has asked for it"));
}

TEST_F(engine, a_line_of_the_log_names_the_engine_that_hung_and_why_the_adapter_was_reset)
{
	struct vf_queue *queue;
	char after[64];

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &queue));
	ASSERT_EQ(0, hang_on(queue));
	snprintf(after, sizeof(after), " of hang_report [%d]: it did not end its work in time", getpid());
	EXPECT_TRUE(EVENTUALLY(number_in_log(self->log, "engine 1 was reset with queue ", after)));
	ASSERT_EQ(0, inject(HANGS, "fail_engine_resume", "1"));
	ASSERT_EQ(0, hang_on(self->other_gfx));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "adapter was reset, and all devices of before are "
					   "lost: the reset of an engine was not enough")));
	vf_queue_abort(queue);
	vf_queue_destroy(queue);
}

/* An adapter writes ten lines in ten seconds. */
TEST_F(engine, hangs_of_a_client_do_not_fill_the_log)
{
	const int64_t begun = vf_deadline(0), interval = 10 * SECOND;
	struct vf_counters after;
	struct vf_device *device;
	struct vf_queue *queue;
	unsigned int i, lines;

	ASSERT_EQ(0, tdr_configure(HANGS, "limit_count", "32"));
	for (i = 0; i < 30; i++) {
		ASSERT_EQ(0, vf_device_create(self->adapter, &device));
		ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
		ASSERT_EQ(0, hang_on(queue));
		ASSERT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG));
		vf_queue_abort(queue);
		vf_queue_destroy(queue);
		vf_device_destroy(device);
	}
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 30)));
	lines = kernel_lines(self->log, "vfence");
	EXPECT_LE(1, lines);
	EXPECT_GE(10 * (2 + (vf_deadline(0) - begun) / interval), lines);
}

TEST_F(engine, TDR_13_a_name_is_no_part_of_the_dump)
{
	static char text[16384];

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_TRUE(release_dump(HANGS));
	ASSERT_EQ(0, prctl(PR_SET_NAME, HOSTILE_NAME));
	ASSERT_EQ(0, hang_on(self->gfx));
	ASSERT_TRUE(EVENTUALLY(read_dump(HANGS, text, sizeof(text)) > 0));
	EXPECT_NE(NULL, strstr(text, "\ncommand: x?ring:??[2J?\n"));
	EXPECT_NE(NULL, strstr(text, "\nring:\n"));
	EXPECT_EQ(strstr(text, "\nring:\n"), strstr(strstr(text, "\nread_ptr:"), "\nring:\n"));
	EXPECT_TRUE(release_dump(HANGS));
}

TEST_F(engine, WDDM_169_a_dump_tells_why_its_engine_is_reset)
{
	struct vf_queue *copy;

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_TRUE(release_dump(HANGS));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "0"));
	EXPECT_TRUE(dump_says(HANGS, "\nreason: 0x141\ntype: 1\n"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(dump_says(HANGS, "\nreason: 0x141\ntype: 6\n"));
	ASSERT_EQ(0, inject(HANGS, "page_fault_flags", "0x8"));
	fault_on(self->other_gfx);
	EXPECT_TRUE(dump_says(HANGS, "\nreason: 0x141\ntype: 12\n"));
	vf_queue_destroy(copy);
}

/* Return: number of uevents that tell of a hang of this process. */
static unsigned int told_of_me(int events)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "PID=%d", getpid());
	return told(events, "WEDGED=none", pid, "SUBSYSTEM=drm");
}

/* The reset of its engine hits a client that has done nothing wrong. */
TEST_F(engine, TDR_14_an_innocent_client_makes_no_noise)
{
	unsigned int count = 0;
	int events = uevents();

	ASSERT_LE(0, events);
	vf_cmd_draw(self->gfx, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "0"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(self->device));
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->copy) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	/* The hang that follows is reported. */
	ASSERT_EQ(0, hang_on(self->other_gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY((count += told_of_me(events)) > 0));
	EXPECT_TRUE(working(self->adapter));
	EXPECT_EQ(1, count + told_of_me(events));
	close(events);
}

TEST_F(engine, TDR_13_an_adapter_that_does_nothing_leaves_no_dump)
{
	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_TRUE(release_dump(HANGS));
	ASSERT_EQ(0, inject(HANGS, "reset_adapter", "1"));
	EXPECT_TRUE(working(self->adapter));
	/* The first dump is kept: it is that of this command. */
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "0"));
	EXPECT_TRUE(dump_says(HANGS, "\nreason: 0x141\ntype: 1\n"));
}

TEST_F(engine, TDR_13_a_submission_that_takes_too_long_leaves_a_dump)
{
	struct vf_queue *kernel;

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_TRUE(release_dump(HANGS));
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "100"));
	ASSERT_EQ(0, vf_kernel_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, &kernel));
	vf_cmd_draw(kernel, 60, SECOND / 20);
	ASSERT_EQ(0, vf_queue_submit(kernel));
	EXPECT_TRUE(dump_says(HANGS, "\nopcode: 4\n"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_HUNG));
	vf_queue_destroy(kernel);
}

/* The GPU itself takes the queue off its engine, because another client wants that. */
TEST_F(engine, TDR_13_14_a_queue_that_kept_others_off_leaves_a_dump_and_is_told)
{
	unsigned int count = 0;
	char after[128];
	int events = uevents();

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_LE(0, events);
	ASSERT_TRUE(release_dump(HANGS));
	vf_cmd_draw(self->gfx, 1, 2 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	EXPECT_TRUE(drained(self->other_gfx));
	EXPECT_EQ(DRM_VFENCE_FAULT_PREEMPTION, queue_fault(self->gfx));
	EXPECT_TRUE(EVENTUALLY((count += told_of_me(events)) == 1));
	EXPECT_TRUE(dump_says(HANGS, "\nopcode: 4\n"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	EXPECT_EQ(DRM_VFENCE_QUEUE_GUILTY, queue_verdict(self->gfx));
	EXPECT_EQ(DRM_VFENCE_QUEUE_INNOCENT, queue_verdict(self->copy));
	EXPECT_EQ(1, count + told_of_me(events));
	snprintf(after, sizeof(after), " of hang_report [%d] was stopped: its work on engine 0 took too long",
		 getpid());
	EXPECT_LT(0, number_in_log(self->log, "queue ", after));
	close(events);
}

TEST_HARNESS_MAIN
