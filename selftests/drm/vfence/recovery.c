// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets of engines, step by step. Each test leaves new adapters behind.
 */

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "engine_fixture.h"

TEST_F(engine, WDDM_144_145_TDR_03_an_engine_that_has_ended_its_work_is_not_reset)
{
	struct vf_counters after;

	ASSERT_EQ(0, inject(HANGS, "finish_before_snapshot", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.false_alarms == self->before.false_alarms + 1)));
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	/* The engine goes on, and finds the next one that hangs. */
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	EXPECT_TRUE(logged(self->gfx));
	/* A queue that was found by a false alarm is not the cause of a later reset. */
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "0"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	ASSERT_EQ(0, hang_on(self->other_gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_HUNG));
}

TEST_F(engine, WDDM_151_TDR_04_work_that_ends_after_the_snapshot_counts_as_aborted)
{
	const unsigned int steps = 9;
	struct vf_counters after;
	struct step step[32];
	struct vf_fence *fence;
	bool traces = may_patch_kernel() && !trace_recovery("1");

	ASSERT_EQ(0, vf_fence_create(self->device, DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR,
				     0, &fence));
	ASSERT_EQ(0, inject(HANGS, "finish_before_reset", "1"));
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
	/* It is the last one that was completed, and the reset says so. */
	if (traces) {
		ASSERT_TRUE(EVENTUALLY(traced(step, 32) >= steps));
		EXPECT_EQ(0, write_text(TRACING "events/vfence/vfence_recovery/enable", "0"));
		EXPECT_EQ(7, step[6].step);
		EXPECT_LT(step[6].completed, step[6].submitted);
		EXPECT_EQ(step[6].submitted, step[6].aborted);
	}
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	EXPECT_TRUE(drained(self->other_gfx));
	vf_fence_destroy(fence);
}

/*
 * The client aborts its queue between the snapshot and the reset, which waits for a queue on a
 * dependent engine.
 */
TEST_F(engine, WDDM_151_164_who_leaves_after_the_snapshot_is_blamed)
{
	static char text[16384];
	struct vf_queue *compute, *mm;

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	vf_cmd_draw(mm, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(mm));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	ASSERT_TRUE(release_dump(HANGS));
	ASSERT_EQ(0, hang_on(compute));
	/* The dump is taken after the snapshot, and before queues are waited for. */
	ASSERT_TRUE(EVENTUALLY(read_dump(HANGS, text, sizeof(text)) > 0));
	vf_queue_abort(compute);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
}

TEST_F(engine, WDDM_143_157_TDR_02_05_07_the_steps_come_in_their_order)
{
	static const unsigned int order[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
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
		const struct step *reset = &step[i * steps + 6];

		EXPECT_EQ(reset->submitted, reset->aborted);
		/* What was aborted is what was completed last, for the next reset. */
		for (k = 0; !i && k < steps; k++)
			EXPECT_EQ(reset->aborted, step[steps + k].completed);
	}
	EXPECT_EQ(step[0].submitted + 1, step[steps].submitted);
}

/* Return: number of the first line of the trace with @text, or 0. */
static unsigned int line_of(const char *text)
{
	FILE *f = fopen(TRACING "trace", "re");
	unsigned int line = 0, found = 0;
	char buffer[500];

	while (f && !found && fgets(buffer, sizeof(buffer), f)) {
		line++;
		if (strstr(buffer, text))
			found = line;
	}
	if (f)
		fclose(f);
	return found;
}

/* The interrupt of a signal is held back until the reset flushes it. */
TEST_F(engine, WDDM_146_what_was_reported_before_is_handled_before_the_reset)
{
	static const char enable[] = TRACING "events/vfence/vfence_interrupt/enable";
	int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	unsigned int interrupt, reset;
	struct vf_fence *fence;
	struct vf_queue *copy;

	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (trace_recovery("1") || write_text(enable, "1"))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	ASSERT_EQ(0, arm(self->other.adapter, fence, 1, efd));
	ASSERT_EQ(0, inject(HANGS, "hold_posts", "1"));
	vf_cmd_signal(copy, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(copy));
	EXPECT_TRUE(drained(copy));
	EXPECT_FALSE(fired(efd));
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "0"));
	EXPECT_TRUE(EVENTUALLY(fired(efd)));
	EXPECT_EQ(0, write_text(enable, "0"));
	EXPECT_EQ(0, write_text(TRACING "events/vfence/vfence_recovery/enable", "0"));
	interrupt = line_of("vfence_interrupt: ");
	reset = line_of("step=7 ");
	EXPECT_LT(0, interrupt);
	EXPECT_LT(interrupt, reset);
	vf_queue_destroy(copy);
	vf_fence_destroy(fence);
	close(efd);
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
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "1"));
	EXPECT_EQ(0, write_text(TRACING "events/vfence/vfence_recovery/enable", "0"));
	ASSERT_LE(8, traced(step, 32));
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
	ASSERT_EQ(0, inject(HANGS, "wrong_last_aborted", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) ==
			       DRM_VFENCE_DEVICE_STOPPED));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0xa)")));
}

TEST_F(engine, WDDM_147_a_group_without_the_engine_loses_the_adapter)
{
	ASSERT_EQ(0, inject(HANGS, "wrong_dependents", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0x8)")));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) ==
			       DRM_VFENCE_DEVICE_STOPPED));
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

static void on_alarm(int sig)
{
}

/* Suspend a context, and leave the call when a signal comes. Return: 0 if that has happened. */
static int suspend_and_leave(int fd, struct vf_queue *queue)
{
	struct drm_vfence_context_suspend args = { .context = vf_queue_info(queue)->context };
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = {};
	struct sigaction action = { .sa_handler = on_alarm };
	int ret;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	ret = ioctl(fd, DRM_IOCTL_VFENCE_CONTEXT_SUSPEND, &args);
	ret = ret && errno == EINTR ? 0 : -EINVAL;
	setitimer(ITIMER_REAL, &never, NULL);
	return ret;
}

/*
 * A context does not leave its engine, and is resumed while the reset waits for a dependent engine.
 * It is the cause all the same.
 */
TEST_F(engine, WDDM_123_151_a_resume_during_the_reset_excuses_nobody)
{
	struct vf_queue *compute, *mm;
	struct vf_fence *timer;

	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &timer));
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "300"));
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	vf_cmd_draw(compute, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(compute));
	ASSERT_TRUE(EVENTUALLY(queue_state(compute) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, suspend_and_leave(self->fd, compute));
	/* It leaves 200 ms after the suspension is late. */
	vf_cmd_draw(mm, 1, SECOND / 2);
	ASSERT_EQ(0, vf_queue_submit(mm));
	EXPECT_EQ(-ETIME, vf_fence_wait(timer, 1, vf_deadline(SECOND * 2 / 5)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	EXPECT_EQ(0, vf_queue_resume(compute));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) != DRM_VFENCE_DEVICE_ACTIVE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	EXPECT_EQ(self->before.engine_resets + 1, counters(self->adapter).engine_resets);
	EXPECT_EQ(0, inject(HANGS, "ignore_suspend", "0"));
	vf_fence_destroy(timer);
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
}

/* A context has left its engine in time, and its client does not wait for that any more. */
TEST_F(engine, WDDM_142_195_a_suspension_in_time_is_not_late)
{
	struct vf_counters after;

	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "500"));
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	vf_cmd_draw(self->gfx, 1, 3 * SECOND / 10);
	ASSERT_EQ(0, vf_queue_submit(self->gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, suspend_and_leave(self->fd, self->gfx));
	EXPECT_TRUE(pass(self->copy, 2 * SECOND));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.false_alarms, after.false_alarms);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	EXPECT_EQ(0, vf_queue_resume(self->gfx));
}

/* Two contexts do not leave their engines: each of them has TdrDelay, and no more. */
TEST_F(engine, WDDM_142_195_a_later_suspension_does_not_delay_an_earlier_one)
{
	struct vf_queue *idle;

	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &idle));
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "500"));
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	vf_cmd_draw(self->copy, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->copy));
	vf_cmd_draw(self->other_gfx, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->copy) == DRM_VFENCE_QUEUE_RUNNING &&
			       queue_state(self->other_gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, suspend_and_leave(self->fd, self->copy));
	EXPECT_TRUE(pass(idle, 3 * SECOND / 10));
	ASSERT_EQ(0, suspend_and_leave(vf_adapter_fd(self->other.adapter), self->other_gfx));
	EXPECT_TRUE(pass(idle, 3 * SECOND / 10));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_HUNG));
	vf_queue_destroy(idle);
}

/* The engine has reported a hang, which was ignored, and does not report it again. */
TEST_F(engine, WDDM_165_what_hung_at_level_0_is_found_at_level_3)
{
	ASSERT_EQ(0, tdr_configure(HANGS, "level", "0"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(pass(self->copy, SECOND));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->device));
	ASSERT_EQ(0, tdr_configure(HANGS, "level", "3"));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
}

/* A dependent engine hangs as well: it does not leave, is not waited for, and is no innocent. */
TEST_F(engine, WDDM_143_148_TDR_24_a_dependent_engine_that_hangs_is_reset_with_it)
{
	struct vf_queue *compute, *mm;
	struct step step[32];

	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (trace_recovery("1"))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, hang_on(compute));
	/* It makes no progress, and its engine has not said so when the other one is found. */
	vf_cmd_draw(mm, 1, 10000000);
	ASSERT_EQ(0, hang_on(mm));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) != DRM_VFENCE_DEVICE_ACTIVE &&
			       vf_device_state(self->other.device) != DRM_VFENCE_DEVICE_ACTIVE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->other.device));
	EXPECT_TRUE(EVENTUALLY(traced(step, 32) >= 9));
	EXPECT_EQ(0, write_text(TRACING "events/vfence/vfence_recovery/enable", "0"));
	/* One reset, of both. On a slow machine the second hang may begin after it. */
	if (deterministic())
		EXPECT_EQ(9, traced(step, 32));
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
}

/*
 * What waits behind the victim begins after the reset, and what leaves a dependent engine goes on
 * there: each packet is executed once, and draws nothing twice.
 */
TEST_F(engine, TDR_08_what_is_behind_the_victim_is_executed_once)
{
	struct vf_node_totals before[8], after[8];
	struct drm_vfence_queue_info query;
	struct vf_queue *compute, *behind, *mm;
	unsigned int nodes = 8;
	uint64_t busy;
	uint32_t *at;
	struct vf_buffer *buffer;
	unsigned int i;

	ASSERT_EQ(0, vf_buffer_create(self->other.adapter, 4096, &buffer));
	at = vf_buffer_map(buffer);
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COMPUTE, 4096, &behind));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, before, &nodes));
	vf_cmd_draw(mm, 1, 3 * SECOND / 10);
	ASSERT_EQ(0, vf_queue_publish(mm));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, hang_on(compute));
	for (i = 0; i < 8; i++) {
		/* In their order: each copies what the one before has written. */
		if (i)
			vf_cmd_copy(behind, vf_buffer_va(buffer) + 64 * i,
				    vf_buffer_va(buffer) + 64 * (i - 1), 64);
		else
			vf_cmd_fill(behind, vf_buffer_va(buffer), 64, 0x5a5a5a5a);
		vf_cmd_draw(behind, 1, 1000000);
	}
	ASSERT_EQ(0, vf_queue_publish(behind));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(queue_state(behind) == DRM_VFENCE_QUEUE_IDLE &&
			       queue_state(mm) == DRM_VFENCE_QUEUE_IDLE));
	EXPECT_EQ(0x5a5a5a5a, at[64 * 7 / 4]);
	ASSERT_EQ(0, vf_queue_query(behind, &query));
	EXPECT_EQ(16, query.packets);
	ASSERT_EQ(0, vf_queue_query(mm, &query));
	EXPECT_EQ(1, query.packets);
	ASSERT_EQ(0, vf_adapter_node_totals(self->adapter, after, &nodes));
	busy = after[DRM_VFENCE_NODE_MM].busy_ns - before[DRM_VFENCE_NODE_MM].busy_ns;
	EXPECT_LE(3 * SECOND / 10, busy);
	if (deterministic())
		EXPECT_GE(301000000, busy);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	vf_queue_destroy(mm);
	vf_queue_destroy(behind);
	vf_queue_destroy(compute);
	vf_buffer_destroy(buffer);
}

TEST_F(engine, WDDM_147_148_156_174_TDR_24_a_dependent_engine_that_stays_is_reset)
{
	struct vf_queue *compute, *mm, *third_gfx;
	struct vf_device *third;
	struct vf_counters after;
	int64_t begun;

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
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	begun = vf_deadline(0);
	ASSERT_EQ(0, hang_on(compute));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	/* It has 500 ms, and is not waited for any longer. */
	EXPECT_LE(495 * 1000000, vf_deadline(0) - begun);
	if (deterministic())
		EXPECT_GT(600 * 1000000, vf_deadline(0) - begun);
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
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
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
	EXPECT_EQ(DRM_VFENCE_QUEUE_GUILTY, queue_verdict(compute));
	EXPECT_EQ(DRM_VFENCE_QUEUE_INNOCENT, queue_verdict(kernel));
	EXPECT_EQ(DRM_VFENCE_QUEUE_INNOCENT, queue_verdict(mm));
	EXPECT_EQ(DRM_VFENCE_QUEUE_GUILTY, context_verdict(compute));
	EXPECT_EQ(DRM_VFENCE_QUEUE_INNOCENT, context_verdict(kernel));
	EXPECT_EQ(DRM_VFENCE_QUEUE_INNOCENT, context_verdict(mm));
	EXPECT_EQ(1, fdinfo_number(self->fd, "vfence-devices-hung"));
	EXPECT_EQ(0, fdinfo_number(self->fd, "vfence-devices-reset"));
	EXPECT_EQ(0, fdinfo_number(vf_adapter_fd(self->other.adapter), "vfence-devices-hung"));
	EXPECT_EQ(1, fdinfo_number(vf_adapter_fd(self->other.adapter), "vfence-devices-reset"));
	/* A context does not become innocent with the end of its queue. */
	destroy_object(self->fd, DRM_VFENCE_OBJECT_DOORBELL, vf_queue_handle(compute));
	destroy_object(self->fd, DRM_VFENCE_OBJECT_QUEUE, vf_queue_handle(compute));
	EXPECT_EQ(DRM_VFENCE_QUEUE_GUILTY, context_verdict(compute));
	vf_queue_destroy(compute);
	/* The same process and file, on the engine that hung. */
	ASSERT_EQ(0, vf_queue_create(third, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_submit(compute));
	EXPECT_TRUE(drained(compute));
	EXPECT_EQ(DRM_VFENCE_QUEUE_OK, queue_verdict(compute));
	EXPECT_EQ(DRM_VFENCE_QUEUE_OK, context_verdict(compute));
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

/* Let a queue fault, which the call may know already when it returns. */
TEST_F(engine, WDDM_177_a_page_fault_may_request_the_reset_of_its_engine)
{
	struct vf_queue *copy;
	struct vf_counters after;

	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	vf_cmd_draw(copy, 20, SECOND / 100);
	ASSERT_EQ(0, vf_queue_submit(copy));
	ASSERT_EQ(0, inject(HANGS, "page_fault_flags", "0x8"));
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
	ASSERT_EQ(0, inject(HANGS, "fail_engine_reset", "1"));
	fault_on(copy);
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT, vf_device_state(self->other.device));
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
	vf_queue_destroy(copy);
}

/* A thread asks for the reset of COMPUTE. */
static void *reset_thread(void *unused)
{
	inject(HANGS, "reset_engine", "1");
	return unused;
}

/*
 * While an engine is reset for another reason, what it executes faults, and requests more. The
 * reset waits for a queue on a dependent engine meanwhile.
 */
TEST_F(engine, WDDM_177_a_request_beside_a_reset_is_not_forgotten)
{
	struct vf_queue *compute, *mm;
	struct vf_counters after;
	pthread_t thread;

	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	/* On a slow machine it may fault before the reset begins, and requests the same. */
	ASSERT_EQ(0, inject(HANGS, "page_fault_flags", "0x4"));
	vf_cmd_draw(mm, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(mm));
	vf_cmd_draw(compute, 1, SECOND / 10);
	vf_cmd_fill(compute, NOWHERE, 64, 0);
	ASSERT_EQ(0, vf_queue_submit(compute));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, reset_thread, NULL));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.adapter_resets == self->before.adapter_resets + 1)));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
}

/*
 * COMPUTE hangs. The reset waits for MM, where a page fault requests more. The thread that resets
 * the engine handles that afterwards.
 */
static int fault_beside_a_hang(struct vf_queue *compute, struct vf_queue *mm, const char *flags)
{
	vf_cmd_draw(mm, 1, SECOND / 10);
	vf_cmd_fill(mm, NOWHERE, 64, 0);
	if (inject(HANGS, "page_fault_flags", flags) || vf_queue_submit(mm) ||
	    !EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING))
		return -EIO;
	return inject(HANGS, "ignore_suspend", "1") ?: hang_on(compute);
}

TEST_F(engine, WDDM_149_177_a_request_on_a_dependent_engine_is_met_later)
{
	struct vf_queue *compute, *mm, *behind;
	struct vf_counters after;
	struct vf_device *third;

	ASSERT_EQ(0, vf_device_create(self->adapter, &third));
	ASSERT_EQ(0, vf_queue_create(third, DRM_VFENCE_NODE_MM, 4096, &behind));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, fault_beside_a_hang(compute, mm, "0x8"));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 2)));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) ==
			       DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT));
	ASSERT_EQ(0, vf_queue_submit(behind));
	EXPECT_TRUE(drained(behind));
	EXPECT_EQ(self->before.adapter_resets, counters(self->adapter).adapter_resets);
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
	vf_queue_destroy(behind);
	vf_device_destroy(third);
}

TEST_F(engine, WDDM_149_177_a_fatal_fault_beside_a_reset_loses_the_adapter)
{
	struct vf_queue *compute, *mm;
	struct vf_device *third;

	ASSERT_EQ(0, vf_device_create(self->adapter, &third));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, fault_beside_a_hang(compute, mm, "0x10"));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0xc)")));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(third) == DRM_VFENCE_DEVICE_STOPPED));
	EXPECT_EQ(self->before.adapter_resets, counters(self->adapter).adapter_resets);
	vf_queue_destroy(mm);
	vf_queue_destroy(compute);
	vf_device_destroy(third);
}

/* A queue waits for an unusable engine. The end of another reset must not let it run there. */
TEST_F(engine, WDDM_149_177_the_end_of_a_reset_does_not_end_a_request_beside_it)
{
	struct vf_counters after;
	struct vf_queue *mm, *behind;
	struct vf_device *third;

	ASSERT_EQ(0, vf_device_create(self->adapter, &third));
	ASSERT_EQ(0, vf_queue_create(third, DRM_VFENCE_NODE_MM, 4096, &behind));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, inject(HANGS, "page_fault_flags", "0x8"));
	vf_cmd_draw(mm, 1, SECOND / 20);
	vf_cmd_fill(mm, NOWHERE, 64, 0);
	ASSERT_EQ(0, vf_queue_submit(mm));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	vf_cmd_draw(behind, 1, SECOND / 100);
	ASSERT_EQ(0, vf_queue_submit(behind));
	/* The reset of COMPUTE waits for MM. */
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "1"));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 2)));
	EXPECT_TRUE(drained(behind));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(third));
	EXPECT_EQ(self->before.adapter_resets, counters(self->adapter).adapter_resets);
	vf_queue_destroy(mm);
	vf_queue_destroy(behind);
	vf_device_destroy(third);
}

/* Two queues of a device fault before the driver handles the first fault. */
TEST_F(engine, WDDM_164_177_a_device_counts_as_one_hang)
{
	struct vf_counters after;

	ASSERT_EQ(0, tdr_configure(HANGS, "limit_count", "2"));
	ASSERT_EQ(0, inject(HANGS, "page_fault_flags", "0x8"));
	ASSERT_EQ(0, inject(HANGS, "hold_posts", "1"));
	fault_on(self->gfx);
	fault_on(self->copy);
	ASSERT_TRUE(EVENTUALLY(queue_state(self->gfx) >= DRM_VFENCE_QUEUE_FAULTED &&
			       queue_state(self->copy) >= DRM_VFENCE_QUEUE_FAULTED));
	if (!queue_fault(self->gfx) || !queue_fault(self->copy))
		SKIP(return, "the driver has handled the first fault before the second");
	ASSERT_EQ(0, inject(HANGS, "hold_posts", "0"));
	/* The reset of an idle engine flushes what is held. */
	ASSERT_EQ(0, inject(HANGS, "reset_engine", "1"));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 3)));
	EXPECT_TRUE(EVENTUALLY(vf_queue_status(self->copy) ==
			       DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT));
	EXPECT_TRUE(working(self->adapter));
	EXPECT_EQ(self->before.processes_blocked, counters(self->adapter).processes_blocked);
	/* The next one is the second. */
	fault_on(self->other_gfx);
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.processes_blocked == self->before.processes_blocked + 1)));
}

/* Each of these resets takes an engine from others. */
TEST_F(engine, WDDM_164_177_a_process_whose_faults_request_resets_is_blocked)
{
	struct vf_device *device[5], *sixth;
	struct vf_queue *queue[5];
	struct vf_counters after;
	unsigned int i;

	ASSERT_EQ(0, inject(HANGS, "page_fault_flags", "0x8"));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, vf_device_create(self->adapter, &device[i]));
		ASSERT_EQ(0, vf_queue_create(device[i], DRM_VFENCE_NODE_GFX, 4096, &queue[i]));
		EXPECT_EQ(self->before.processes_blocked,
			  counters(self->adapter).processes_blocked);
		fault_on(queue[i]);
		EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
					after.engine_resets == self->before.engine_resets + i + 1)));
		EXPECT_TRUE(EVENTUALLY(vf_device_state(device[i]) ==
				       DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT));
	}
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.processes_blocked == self->before.processes_blocked + 1)));
	EXPECT_EQ(-EACCES, vf_device_create(self->adapter, &sixth));
	for (i = 0; i < 5; i++) {
		vf_queue_destroy(queue[i]);
		vf_device_destroy(device[i]);
	}
}

#define HANGS_MEASURED	50
#define DUMPS_MEASURED	10
/* hung_us of this adapter. */
#define HANGS_FOUND_US	20000
/* preempt_us of this adapter. */
#define PREEMPTED_US	100000

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

/* The work that dumps a hang runs beside the reset, and the dump itself is a copy. */
TEST_F_TIMEOUT(engine, TDR_28_a_dump_delays_its_engine_little, 120)
{
	int64_t us[2][DUMPS_MEASURED], p50[2];
	static char text[65536];
	ssize_t bytes = 0;
	unsigned int i, n;

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_EQ(0, tdr_configure(HANGS, "debug_mode", "3"));
	for (i = 0; i < DUMPS_MEASURED; i++) {
		/* The first hang of each round is dumped, and keeps the second from it. */
		ASSERT_TRUE(release_dump(HANGS));
		for (n = 0; n < 2; n++) {
			us[n][i] = hang_before(self->adapter, self->other_gfx, DRM_VFENCE_NODE_GFX);
			ASSERT_LE(0, us[n][i]);
			us[n][i] -= HANGS_FOUND_US;
			ASSERT_TRUE(EVENTUALLY((bytes = read_dump(HANGS, text,
								  sizeof(text))) > 0));
		}
	}
	for (n = 0; n < 2; n++)
		p50[n] = percentile(us[n], DUMPS_MEASURED, 50);
	TH_LOG("engine with a dump of %zd bytes: p50 %lld us, without: %lld us", bytes,
	       (long long)p50[0], (long long)p50[1]);
	if (deterministic())
		EXPECT_GE(p50[1] + 1000, p50[0]);
}

/* From the end of the time in which a queue had to leave to the next job on its engine. */
TEST_F_TIMEOUT(engine, TDR_28_a_queue_that_is_aborted_frees_its_engine_at_once, 120)
{
	int64_t us[HANGS_MEASURED], begun;
	struct vf_counters after;
	unsigned int i;

	for (i = 0; i < HANGS_MEASURED; i++) {
		struct vf_device *device;
		struct vf_queue *queue;

		ASSERT_EQ(0, vf_device_create(self->adapter, &device));
		ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
		vf_cmd_draw(queue, 1, 10 * SECOND);
		ASSERT_EQ(0, vf_queue_submit(queue));
		ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_RUNNING));
		begun = vf_deadline(0);
		ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
		ASSERT_EQ(0, vf_queue_wait_idle(self->other_gfx, DEADLINE));
		us[i] = (vf_deadline(0) - begun) / 1000 - PREEMPTED_US;
		vf_queue_destroy(queue);
		vf_device_destroy(device);
	}
	TH_LOG("queue: p50 %lld us, p99 %lld us", (long long)percentile(us, HANGS_MEASURED, 50),
	       (long long)percentile(us, HANGS_MEASURED, 99));
	/* It may finish its quantum first. */
	if (deterministic())
		EXPECT_GE(4000, percentile(us, HANGS_MEASURED, 99));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
}

/* The same if the adapter has to be reset: the next job is one of a new device. */
TEST_F_TIMEOUT(engine, TDR_28_an_adapter_that_was_reset_works_again_at_once, 120)
{
	int64_t us[HANGS_MEASURED], begun;
	unsigned int i;

	ASSERT_EQ(0, tdr_configure(HANGS, "debug_mode", "3"));
	ASSERT_EQ(0, inject(HANGS, "fail_engine_reset", "1"));
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
	struct vf_syncobj out = {};
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };
	struct vf_queue *compute, *mm;
	struct vf_counters after;

	/* No timer is to find the completion. */
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "900000"));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_kernel_queue_create(self->other.device, DRM_VFENCE_NODE_MM, &mm));
	ASSERT_EQ(0, drmSyncobjCreate(vf_adapter_fd(self->other.adapter), 0, &out.handle));
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
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

/* Return: true if the kernel reports the end of a submission that begins now. */
static bool reports(struct client *client, unsigned int node)
{
	int fd = vf_adapter_fd(client->adapter);
	struct vf_syncobj out = {};
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };
	struct vf_queue *queue = NULL;
	bool reported;

	if (drmSyncobjCreate(fd, 0, &out.handle))
		return false;
	reported = !vf_kernel_queue_create(client->device, node, &queue) &&
		   !vf_submit(&queue, 1, &what) &&
		   EVENTUALLY(syncobj_status(fd, out.handle) == 1);
	drmSyncobjDestroy(fd, out.handle);
	vf_queue_abort(queue);
	vf_queue_destroy(queue);
	return reported;
}

TEST_F(engine, WDDM_145_147_records_of_all_engines_of_a_reset_are_read_again)
{
	struct vf_queue *compute, *behind;

	/* No timer is to find the completion. */
	ASSERT_EQ(0, tdr_configure(HANGS, "delay_ms", "900000"));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &compute));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COMPUTE, 4096, &behind));
	ASSERT_EQ(0, hang_on(compute));
	ASSERT_TRUE(EVENTUALLY(queue_state(compute) == DRM_VFENCE_QUEUE_RUNNING));
	/* When this is done, the engines go on. */
	ASSERT_EQ(0, vf_queue_submit(behind));
	EXPECT_TRUE(drained(behind));
	EXPECT_TRUE(reports(&self->other, DRM_VFENCE_NODE_COMPUTE));
	EXPECT_TRUE(reports(&self->other, DRM_VFENCE_NODE_MM));
	vf_queue_destroy(behind);
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
	/* Reads for debugging are answered meanwhile. */
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG)));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 2)));
	EXPECT_TRUE(working(self->adapter));
	vf_queue_destroy(other_copy);
}

TEST_F(engine, WDDM_172_TDR_11_errors_tell_the_guilty_from_the_cancelled)
{
	struct vf_syncobj out[3] = {};
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

	ASSERT_EQ(0, inject(HANGS, "fail_engine_reset", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
}

TEST_F(engine, TDR_10_a_reset_that_takes_too_long_takes_the_adapter_along)
{
	struct vf_counters after;

	ASSERT_EQ(0, tdr_configure(HANGS, "ddi_delay_ms", "500"));
	ASSERT_EQ(0, inject(HANGS, "slow_reset", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_EQ(self->before.engine_resets, after.engine_resets);
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
}

/* The engine stops in the middle of a copy. Nobody else's work is on it. */
TEST_F(engine, TDR_01_a_copy_that_never_ends_is_found_and_its_engine_goes_on)
{
	struct vf_buffer *buffer[2];
	struct vf_device *device;
	struct vf_queue *copy;
	struct vf_counters after;
	uint64_t va[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_buffer_create(self->adapter, 65536, &buffer[i]));
		va[i] = vf_buffer_va(buffer[i]);
	}
	memset(vf_buffer_map(buffer[0]), 0x5a, 65536);
	ASSERT_EQ(0, inject(HANGS, "hang_copies", "1"));
	vf_cmd_copy(self->copy, va[1], va[0], 65536);
	vf_queue_publish(self->copy);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	ASSERT_EQ(0, inject(HANGS, "hang_copies", "0"));
	EXPECT_EQ(0, ((uint8_t *)vf_buffer_map(buffer[1]))[65535]);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));

	ASSERT_EQ(0, vf_device_create(self->adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_COPY, 4096, &copy));
	vf_cmd_copy(copy, va[1], va[0], 65536);
	ASSERT_EQ(0, vf_queue_submit(copy));
	EXPECT_TRUE(drained(copy));
	EXPECT_EQ(0x5a, ((uint8_t *)vf_buffer_map(buffer[1]))[65535]);
	after = counters(self->adapter);
	EXPECT_EQ(self->before.engine_resets + 1, after.engine_resets);
	EXPECT_EQ(self->before.adapter_resets, after.adapter_resets);
	vf_queue_destroy(copy);
	vf_device_destroy(device);
	for (i = 0; i < 2; i++)
		vf_buffer_destroy(buffer[i]);
}

TEST_F(engine, WDDM_169_a_reset_that_was_promoted_says_so)
{
	static const char enable[] = TRACING "events/vfence/vfence_adapter_reset/enable";

	if (!may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	if (write_text(TRACING "trace", "") || write_text(enable, "1"))
		SKIP(return, "no tracing");
	ASSERT_EQ(0, inject(HANGS, "fail_engine_reset", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(EVENTUALLY(line_of("type=B adapter=11 function=0 type=9")));
	EXPECT_EQ(0, write_text(enable, "0"));
}

TEST_F(engine, WDDM_176_TDR_10_an_engine_that_does_not_go_on_takes_the_adapter_along)
{
	struct vf_counters after;

	ASSERT_EQ(0, inject(HANGS, "fail_engine_resume", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(DRM_VFENCE_DEVICE_HUNG, vf_device_state(self->device));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_EQ(self->before.engine_resets + 1, after.engine_resets);
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
}

/* What ran survives the reset, which says that all is well. */
TEST_F(engine, WDDM_149_an_engine_that_is_not_empty_takes_the_adapter_along)
{
	struct vf_counters after;

	ASSERT_EQ(0, inject(HANGS, "survive_reset", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) == DRM_VFENCE_DEVICE_RESET));
	after = counters(self->adapter);
	EXPECT_EQ(self->before.adapter_resets + 1, after.adapter_resets);
	EXPECT_EQ(self->before.engine_resets + 1, after.engine_resets);
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
}

/* What waits for the engine is not picked before the engine goes on. */
TEST_F(engine, WDDM_149_175_nothing_runs_before_the_engine_goes_on)
{
	struct vf_counters after;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &fence));
	ASSERT_EQ(0, hang_on(self->gfx));
	vf_cmd_draw(self->other_gfx, 1, 1000000);
	vf_cmd_signal(self->other_gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	EXPECT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 1)));
	EXPECT_EQ(self->before.adapter_resets, after.adapter_resets);
	vf_fence_destroy(fence);
}

/* A suspension is the client's, and a hold of the engine is the reset's: none ends the other. */
TEST_F(engine, WDDM_149_193_a_reset_does_not_end_a_suspension)
{
	struct vf_counters after;
	struct vf_fence *fence;

	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_queue_suspend(self->other_gfx, NULL));
	vf_cmd_signal(self->other_gfx, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->other_gfx));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(EVENTUALLY((after = counters(self->adapter),
				after.engine_resets == self->before.engine_resets + 1)));
	/* Work of this queue that comes to its end shows that the engine goes on. */
	EXPECT_TRUE(EVENTUALLY(working(self->adapter)));
	EXPECT_EQ(0, vf_fence_current(fence));
	ASSERT_EQ(0, vf_queue_resume(self->other_gfx));
	EXPECT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	vf_fence_destroy(fence);
}

/* The reset waits for a queue on a dependent engine, and the client resumes its queue. */
TEST_F(engine, WDDM_149_193_a_resume_does_not_end_a_reset)
{
	struct vf_queue *compute, *hanging, *mm;
	static char text[16384];
	struct vf_fence *fence;

	if (access(DUMPS, F_OK))
		SKIP(return, "needs a kernel with device core dumps");
	ASSERT_EQ(0, vf_fence_create(self->other.device, 0, 0, &fence));
	ASSERT_EQ(0, vf_queue_create(self->other.device, DRM_VFENCE_NODE_COMPUTE, 4096,
				     &compute));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_COMPUTE, 4096, &hanging));
	ASSERT_EQ(0, vf_queue_create(self->device, DRM_VFENCE_NODE_MM, 4096, &mm));
	ASSERT_EQ(0, vf_queue_suspend(compute, NULL));
	vf_cmd_signal(compute, fence, 1);
	ASSERT_EQ(0, vf_queue_submit(compute));

	vf_cmd_draw(mm, 1, 5 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(mm));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(HANGS, "ignore_suspend", "1"));
	ASSERT_TRUE(release_dump(HANGS));
	ASSERT_EQ(0, hang_on(hanging));
	/* The dump is taken after the snapshot, and before queues are waited for. */
	ASSERT_TRUE(EVENTUALLY(read_dump(HANGS, text, sizeof(text)) > 0));
	ASSERT_EQ(0, vf_queue_resume(compute));

	EXPECT_EQ(0, vf_fence_wait(fence, 1, DEADLINE));
	EXPECT_LE(self->before.engine_resets + 1, counters(self->adapter).engine_resets);
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->other.device));
	vf_queue_abort(mm);
	vf_queue_destroy(mm);
	vf_queue_destroy(hanging);
	vf_queue_destroy(compute);
	vf_fence_destroy(fence);
}

TEST_F(engine, WDDM_175_an_engine_that_reports_before_it_goes_on_loses_the_adapter)
{
	ASSERT_EQ(0, inject(HANGS, "interrupt_after_reset", "1"));
	ASSERT_EQ(0, hang_on(self->gfx));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->other.device) ==
			       DRM_VFENCE_DEVICE_STOPPED));
	EXPECT_TRUE(EVENTUALLY(kernel_said(self->log, "(0x119, 0x10)")));
}

TEST_HARNESS_MAIN
