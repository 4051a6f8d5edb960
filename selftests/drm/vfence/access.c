// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages between the host and the drivers of functions: notices of resets, exclusive access to the
 * engines, and the guards that limit messages. A file in debugfs lets a test send a message as the
 * driver of a function.
 */

#include "recovery_test.h"
#include "world_fixture.h"

#define REQUEST_INIT	"1"
#define RELEASE_INIT	"2"
#define REQUEST_FINI	"3"
#define RELEASE_FINI	"4"
#define REQUEST_RESET	"5"

static int say(int function, const char *message)
{
	return inject(VF(function), "mailbox", message);
}

static int guard(int function, const char *file, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "vf%d/guard/%s", function, file);
	return configure(path, value);
}

/* Return: true once a function has the engines for itself. */
static bool has_access(int function, int times)
{
	return EVENTUALLY(received(function, "ready_to_access") == times);
}

/* Return: time in ns until a draw of a guest is done; negative if it is not. */
static int64_t draw_ns(struct guest *g, unsigned int draws)
{
	int64_t begun = vf_deadline(0);

	vf_cmd_draw(g->gfx, draws, MS / 10);
	if (vf_queue_submit(g->gfx) || !drained(g->gfx))
		return -1;
	return vf_deadline(0) - begun;
}

TEST_F(world, VF_38_values_of_guards_out_of_range_are_refused)
{
	static const struct {
		const char *file, *value;
		int error;
	} bad[] = {
		{ "access_limit_ms", "0", -EINVAL }, { "access_limit_ms", "60001", -EINVAL },
		{ "vf1/guard/flr_limit", "65", -EINVAL },
		{ "vf1/guard/flr_limit", "-1", -EINVAL }, { "vf1/guard/flr_limit", "x", -EINVAL },
		{ "vf1/guard/flr_window_ms", "0", -EINVAL },
		{ "vf1/guard/flr_window_ms", "3600001", -EINVAL },
		{ "vf1/guard/mailbox_limit", "4294967296", -ERANGE },
	};
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 1));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(bad[i].error, configure(bad[i].file, bad[i].value)) {
			TH_LOG("number %u", i);
		}
	EXPECT_EQ(0, guard(1, "flr_limit", "64"));
	EXPECT_EQ(0, guard(1, "timeout_window_ms", "3600000"));
	/* An adapter without virtual functions has no host. */
	EXPECT_EQ(-ENXIO, inject(11, "mailbox", REQUEST_INIT));
	EXPECT_EQ(-EINVAL, inject(VF(1), "mailbox", "4294967296"));
}

/* One function has the engines, with work or without, until it gives them back. */
TEST_F(world, VF_39_full_access_is_of_one_function_alone)
{
	static const char *const request[] = { REQUEST_INIT, REQUEST_FINI };
	static const char *const release[] = { RELEASE_INIT, RELEASE_FINI };
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, say(1, request[i]));
		ASSERT_TRUE(has_access(1, i + 1));
		vf_cmd_draw(self->guest[1].gfx, 1, 1000);
		ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
		/* Its own work is done, and that of others is not. */
		EXPECT_LT(0, draw_ns(&self->guest[0], 100));
		EXPECT_FALSE(is_done(&self->guest[1]));
		/* The next one has to wait. */
		ASSERT_EQ(0, say(3, request[i]));
		EXPECT_LT(0, draw_ns(&self->guest[0], 100));
		EXPECT_EQ((int)i, received(3, "ready_to_access"));
		EXPECT_FALSE(is_done(&self->guest[1]));
		ASSERT_EQ(0, say(1, release[i]));
		EXPECT_TRUE(has_access(3, i + 1));
		ASSERT_EQ(0, say(3, release[i]));
		EXPECT_TRUE(drained(self->guest[1].gfx));
	}
	for (i = 1; i <= 3; i++)
		EXPECT_EQ(0, stat_of((int)i, "gfx", "resets"));
	/* A cancelled request is not granted, and unknown messages have no effect. */
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(has_access(1, 3));
	ASSERT_EQ(0, say(2, REQUEST_INIT));
	ASSERT_EQ(0, say(2, RELEASE_INIT));
	ASSERT_EQ(0, say(2, "0"));
	ASSERT_EQ(0, say(2, "31"));
	ASSERT_EQ(0, say(2, "4294967295"));
	ASSERT_EQ(0, say(1, RELEASE_INIT));
	EXPECT_LT(0, draw_ns(&self->guest[1], 1));
	EXPECT_EQ(0, received(2, "ready_to_access"));
}

TEST_F(world, VF_39_full_access_that_takes_too_long_costs_its_function_a_reset)
{
	int64_t begun, took;

	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure("access_limit_ms", "100"));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(has_access(1, 1));
	begun = vf_deadline(0);
	ASSERT_LT(0, draw_ns(&self->guest[1], 1));
	took = vf_deadline(0) - begun;
	TH_LOG("the next function waited for %.3f ms", (double)took / 1e6);
	/* The limit, the clock of the host, and one slice. */
	if (deterministic()) {
		EXPECT_LT(90 * MS, took);
		EXPECT_GT(116 * MS, took);
	}
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[0].device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(1, stat_of(1, "gfx", "resets"));
	EXPECT_EQ(1, guard_stat(1, "timeout", false));
	EXPECT_EQ(0, stat_of(2, "gfx", "resets"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[1].device));
	/* It works again, after a full access of its own. */
	EXPECT_TRUE(working(self->guest[0].adapter));
	EXPECT_EQ(2, received(1, "ready_to_access"));
	EXPECT_EQ(1, received(1, "flr_done"));
}

/* A function that holds the engines for too long, too often, gets them no more. */
TEST_F(world, VF_38_full_access_that_takes_too_long_too_often_is_refused)
{
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("access_limit_ms", "20"));
	ASSERT_EQ(0, guard(1, "timeout_limit", "2"));
	for (i = 1; i <= 2; i++) {
		ASSERT_EQ(0, say(1, REQUEST_INIT));
		EXPECT_TRUE(EVENTUALLY(stat_of(1, "gfx", "resets") == i));
		if (i < 2)
			EXPECT_TRUE(EVENTUALLY(received(1, "ready_to_access") == 2));
	}
	/* The driver gets no access to set up the function after that reset: it is lost (TDR-23). */
	EXPECT_TRUE(EVENTUALLY(received(1, "fail") == 1));
	EXPECT_EQ(0, say(1, REQUEST_INIT));
	EXPECT_TRUE(EVENTUALLY(received(1, "fail") == 2));
	EXPECT_LT(0, draw_ns(&self->guest[1], 10));
}

/* Each function that waits for full access gets it before one gets it again. */
TEST_F(world, VF_39_full_access_goes_round)
{
	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(has_access(1, 1));
	ASSERT_EQ(0, say(2, REQUEST_INIT));
	ASSERT_EQ(0, say(3, REQUEST_INIT));
	ASSERT_EQ(0, say(1, RELEASE_INIT));
	ASSERT_TRUE(has_access(2, 1));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(EVENTUALLY(guard_stat(1, "access", false) == 2));
	/* Longer than the first one had them. */
	EXPECT_LT(0, draw_ns(&self->guest[1], 10000));
	ASSERT_EQ(0, say(2, RELEASE_INIT));
	EXPECT_TRUE(has_access(3, 1));
	EXPECT_EQ(1, received(1, "ready_to_access"));
	ASSERT_EQ(0, say(3, RELEASE_INIT));
	EXPECT_TRUE(has_access(1, 2));
}

/* Repeated requests for exclusive access must not extend the slice of a function. */
TEST_F(world, VF_39_full_access_again_and_again_is_no_way_to_keep_the_engines)
{
	unsigned int frames, times = 0, most = 0;

	ASSERT_EQ(0, world_make(self, 2));
	/* Longer than it takes to get access again. */
	ASSERT_EQ(0, configure_all("exec_quantum_us", "100000"));
	vf_cmd_draw(self->guest[0].gfx, 100000, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	for (frames = 0; frames < 10; frames++) {
		unsigned int before = times;

		vf_cmd_draw(self->guest[1].gfx, 20, MS / 10);
		ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
		while (!is_done(&self->guest[1]) && times < before + 500) {
			ASSERT_EQ(0, say(1, REQUEST_INIT));
			ASSERT_TRUE(has_access(1, (int)++times));
			ASSERT_EQ(0, say(1, RELEASE_INIT));
		}
		EXPECT_TRUE(is_done(&self->guest[1]));
		most = times - before > most ? times - before : most;
	}
	TH_LOG("a frame of 2 ms is done after %u accesses at most", most);
	EXPECT_EQ(0, stat_of(1, "gfx", "resets"));
}

/* Nor may requests one behind the other: others have the engines for as long as one had them. */
TEST_F(world, VF_39_others_follow_a_full_access_for_as_long)
{
	uint64_t had;
	int64_t begun;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	vf_cmd_draw(self->guest[1].gfx, 3000, MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(has_access(1, 1));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->guest[0].fence, 1, vf_deadline(SECOND / 2)));
	had = stat_of(2, "gfx", "run_ns");
	begun = vf_deadline(0);
	ASSERT_EQ(0, say(1, RELEASE_INIT));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(has_access(1, 2));
	EXPECT_LT(SECOND / 2, vf_deadline(0) - begun);
	had = stat_of(2, "gfx", "run_ns") - had;
	TH_LOG("the other one had %.1f ms between", (double)had / 1e6);
	EXPECT_LT(deterministic() ? 495 * MS : 1, had);
	ASSERT_EQ(0, say(1, RELEASE_INIT));
	vf_queue_abort(self->guest[1].gfx);
}

/* Each of several functions holds the engines for @ns when it gets them, and asks again. */
static void hold_in_turn(struct __test_metadata *_metadata, FIXTURE_DATA(world) *self, int holders,
			 int64_t ns, unsigned int times)
{
	int had[4] = { 0 }, i;

	for (i = 1; i <= holders; i++)
		had[i] = received(i, "ready_to_access");
	for (i = 1; i <= holders; i++)
		ASSERT_EQ(0, say(i, REQUEST_INIT));
	while (times--) {
		int holder = 0;

		ASSERT_TRUE(EVENTUALLY(({
			for (i = 1; i <= holders; i++)
				if (received(i, "ready_to_access") > had[i])
					holder = i;
			holder;
		})));
		had[holder]++;
		EXPECT_EQ(-ETIME, vf_fence_wait(self->guest[0].fence, 1, vf_deadline(ns)));
		ASSERT_EQ(0, say(holder, RELEASE_INIT));
		if (times)
			ASSERT_EQ(0, say(holder, REQUEST_INIT));
	}
	for (i = 1; i <= holders; i++)
		ASSERT_EQ(0, say(i, RELEASE_INIT));
}

/* Of @times accesses of @ns all but the last one have a pause behind them; one needs none. */
static void expect_half(struct __test_metadata *_metadata, FIXTURE_DATA(world) *self, int holders,
			int64_t ns, unsigned int times)
{
	uint64_t had = stat_of(4, "gfx", "run_ns"), all = stat_of(-1, "gfx", "elapsed_ns");

	hold_in_turn(_metadata, self, holders, ns, times);
	had = stat_of(4, "gfx", "run_ns") - had;
	all = stat_of(-1, "gfx", "elapsed_ns") - all;
	TH_LOG("beside %d, each %.1f ms: %.1f of %.1f ms", holders, (double)ns / 1e6,
	       (double)had / 1e6, (double)all / 1e6);
	EXPECT_LT(all * (times - 1) / (2 * times - 1) - all / 50, had);
}

/* The pause is of the chip: functions that take turns leave others half of the time. */
TEST_F_TIMEOUT(world, VF_39_functions_that_take_turns_leave_others_half_of_the_time, 120)
{
	int holders;

	ASSERT_EQ(0, world_make(self, 4));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	vf_cmd_draw(self->guest[3].gfx, 1000000, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[3].gfx));
	for (holders = 1; holders <= 3; holders++)
		expect_half(_metadata, self, holders, 40 * MS, 9);
	/* Several accesses that are as short have one pause together. */
	expect_half(_metadata, self, 3, 2 * MS, 100);
	vf_queue_abort(self->guest[3].gfx);
}

/* Others may wait for submissions of a function that is reset: they end before the wait for engines. */
TEST_F(world, VF_39_a_reset_that_waits_for_the_engines_ends_submissions_first)
{
	struct vf_syncobj out = {};
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };
	struct vf_queue *kernel;
	int fd;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	fd = vf_adapter_fd(self->guest[0].adapter);
	ASSERT_EQ(0, vf_kernel_queue_create(self->guest[0].device, DRM_VFENCE_NODE_GFX, &kernel));
	ASSERT_EQ(0, drmSyncobjCreate(fd, 0, &out.handle));
	ASSERT_EQ(0, say(2, REQUEST_INIT));
	ASSERT_TRUE(has_access(2, 1));
	vf_cmd_draw(kernel, 100, MS);
	ASSERT_EQ(0, vf_submit(&kernel, 1, &what));
	ASSERT_EQ(0, say(1, REQUEST_RESET));
	EXPECT_TRUE(EVENTUALLY(syncobj_status(fd, out.handle)));
	EXPECT_EQ(-ECANCELED, syncobj_status(fd, out.handle));
	EXPECT_EQ(0, received(1, "ready_to_access"));
	ASSERT_EQ(0, say(2, RELEASE_INIT));
	EXPECT_TRUE(has_access(1, 1));
	EXPECT_TRUE(working(self->guest[0].adapter));
	drmSyncobjDestroy(fd, out.handle);
	vf_queue_destroy(kernel);
}

/* Full access is no turn: it must not take those their turns that were next. */
TEST_F(world, VF_39_full_access_takes_nobody_his_turn)
{
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 4));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "5000"));
	for (i = 1; i < 4; i++) {
		vf_cmd_draw(self->guest[i].gfx, 3000, MS);
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	}
	for (i = 0; i < 60; i++) {
		ASSERT_EQ(0, say(1, REQUEST_INIT));
		ASSERT_TRUE(has_access(1, (int)i + 1));
		ASSERT_EQ(0, say(1, RELEASE_INIT));
	}
	for (i = 2; i < 5; i++) {
		TH_LOG("function %u had %llu turns", i,
		       (unsigned long long)stat_of((int)i, "gfx", "turns"));
		EXPECT_LT(3, stat_of((int)i, "gfx", "turns"));
	}
	for (i = 1; i < 4; i++)
		vf_queue_abort(self->guest[i].gfx);
}

/* Full access keeps others from the engines: a function that does nothing in it pays, too. */
TEST_F(world, VF_39_full_access_without_work_is_paid_for)
{
	int64_t took;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("policy", "fair"));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	/* It owns the engines already, and has no work. */
	ASSERT_EQ(0, draw_frame(&self->guest[0]));
	ASSERT_TRUE(drained(self->guest[0].gfx));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(has_access(1, 1));
	vf_cmd_draw(self->guest[1].gfx, 3000, MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->guest[0].fence, 1, vf_deadline(SECOND / 2)));
	ASSERT_EQ(0, say(1, RELEASE_INIT));
	took = longest_frame(&self->guest[0], 1);
	TH_LOG("its next frame took %lld us", (long long)took / 1000);
	/* The other one has the engines for as long first, but for a slice. */
	EXPECT_LT(deterministic() ? 480 * MS : SECOND / 4, took);
	if (deterministic())
		EXPECT_GT(530 * MS, took);
	vf_queue_abort(self->guest[1].gfx);
}

/* A guard that drops messages must not keep the engines from other functions. */
TEST_F(world, VF_38_a_guard_that_is_full_holds_no_engines)
{
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	ASSERT_EQ(0, guard(1, "mailbox_limit", "1"));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(has_access(1, 1));
	/* This is one message too many, and the next request is, too. */
	ASSERT_EQ(0, say(1, RELEASE_INIT));
	EXPECT_LT(0, draw_ns(&self->guest[1], 10));
	EXPECT_EQ(1, guard_stat(1, "mailbox", true));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	EXPECT_TRUE(EVENTUALLY(received(1, "fail") == 1));
	EXPECT_EQ(1, received(1, "ready_to_access"));
	EXPECT_LT(0, draw_ns(&self->guest[1], 10));
}

/* A long draw of another function delays exclusive access, but the request does not fail. */
TEST_F(world, VF_39_who_waits_for_full_access_is_patient)
{
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("access_limit_ms", "20"));
	ASSERT_EQ(0, configure("response_us", "100000"));
	vf_cmd_draw(self->guest[1].gfx, 2, 80 * MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->guest[1].gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, say(1, REQUEST_RESET));
	EXPECT_TRUE(has_access(1, 1));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[0].device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(working(self->guest[0].adapter));
	EXPECT_TRUE(drained(self->guest[1].gfx));
}

/* Events beyond the limit are dropped; the window slides; other functions do not notice. */
TEST_F_TIMEOUT(world, VF_38_what_a_function_sends_too_often_is_dropped, 120)
{
	int64_t alone = 0, beside = 0, took;
	unsigned int i, resets;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, guard(1, "flr_limit", "2"));
	ASSERT_EQ(0, guard(1, "access_limit", "10"));
	ASSERT_EQ(0, guard(1, "mailbox_limit", "20"));
	ASSERT_EQ(0, guard(1, "mailbox_window_ms", "3600000"));
	for (i = 0; i < 10; i++) {
		took = draw_ns(&self->guest[1], 20);
		ASSERT_LT(0, took);
		alone = took > alone ? took : alone;
	}
	/* Each is handled before the next one comes, so that they do not collapse. */
	for (i = 1; i <= 2; i++) {
		ASSERT_EQ(0, say(1, REQUEST_RESET));
		ASSERT_TRUE(EVENTUALLY(received(1, "flr_done") == (int)i));
		/* Its driver sets it up again. */
		ASSERT_TRUE(has_access(1, (int)i));
		ASSERT_TRUE(working(self->guest[0].adapter));
	}
	/* The messages with which its driver has set it up again count, too. */
	EXPECT_EQ(2, guard_stat(1, "access", false));
	EXPECT_EQ(6, guard_stat(1, "mailbox", false));
	/* A new limit holds for what was before, too. */
	ASSERT_EQ(0, guard(1, "mailbox_limit", "30"));
	EXPECT_EQ(6, guard_stat(1, "mailbox", false));
	ASSERT_EQ(0, guard(1, "mailbox_limit", "20"));
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, say(1, i % 2 ? REQUEST_RESET : "99"));
		if (i % 20)
			continue;
		took = draw_ns(&self->guest[1], 20);
		ASSERT_LT(0, took);
		beside = took > beside ? took : beside;
	}
	EXPECT_EQ(20, guard_stat(1, "mailbox", false));
	EXPECT_EQ(186, guard_stat(1, "mailbox", true));
	EXPECT_EQ(2, guard_stat(1, "flr", false));
	EXPECT_LE(1, guard_stat(1, "flr", true));
	EXPECT_EQ(2, stat_of(1, "gfx", "resets"));
	TH_LOG("a frame beside it takes %lld us, and %lld us beside the flood",
	       (long long)alone / 1000, (long long)beside / 1000);
	if (deterministic())
		EXPECT_GT(alone + MS / 5, beside);

	/* The window slides: after it the function may do so again. */
	resets = stat_of(1, "gfx", "resets");
	ASSERT_EQ(0, guard(1, "mailbox_window_ms", "50"));
	ASSERT_EQ(0, guard(1, "flr_window_ms", "50"));
	ASSERT_LT(0, draw_ns(&self->guest[1], 600));
	ASSERT_EQ(0, say(1, REQUEST_RESET));
	EXPECT_TRUE(EVENTUALLY(stat_of(1, "gfx", "resets") == resets + 1));
	EXPECT_TRUE(has_access(1, 3));
	EXPECT_TRUE(working(self->guest[0].adapter));
	/* Another function has guards of its own. */
	EXPECT_EQ(0, guard_stat(2, "mailbox", true));
}

/* What a function has sent counts for a limit that an administrator writes later, too. */
TEST_F(world, VF_38_a_limit_that_is_written_again_forgets_no_event)
{
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 1));
	ASSERT_EQ(0, guard(1, "mailbox_window_ms", "3600000"));
	ASSERT_EQ(0, guard(1, "mailbox_limit", "3"));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, say(1, "99"));
	EXPECT_EQ(3, guard_stat(1, "mailbox", false));
	EXPECT_EQ(2, guard_stat(1, "mailbox", true));
	ASSERT_EQ(0, guard(1, "mailbox_limit", "3"));
	ASSERT_EQ(0, say(1, "99"));
	EXPECT_EQ(3, guard_stat(1, "mailbox", false));
	EXPECT_EQ(3, guard_stat(1, "mailbox", true));
	ASSERT_EQ(0, guard(1, "mailbox_limit", "4"));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, say(1, "99"));
	EXPECT_EQ(4, guard_stat(1, "mailbox", false));
	EXPECT_EQ(4, guard_stat(1, "mailbox", true));
}

/* The driver of a function is notified before and after a reset, and sets the function up. */
TEST_F(world, TDR_21_a_function_has_notice_of_its_reset)
{
	static char text[16384];
	struct vf_device *device;
	struct vf_queue *queue;
	char opcode[16];

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("preempt_timeout_us", "10000"));
	release_dump(VF(1));
	ASSERT_EQ(0, hang_on(self->guest[0].gfx));
	EXPECT_LT(0, draw_ns(&self->guest[1], 10));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[0].device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(1, received(1, "flr_notice"));
	EXPECT_TRUE(EVENTUALLY(received(1, "flr_done") == 1));
	EXPECT_EQ(0, received(1, "gpu_reset_done"));
	EXPECT_TRUE(working(self->guest[0].adapter));
	EXPECT_EQ(1, received(1, "ready_to_access"));
	EXPECT_EQ(0, received(2, "flr_notice"));
	/* A driver that is fast enough dumps the engine while it executes the packet that hangs. */
	if (!deterministic())
		return;
	EXPECT_TRUE(EVENTUALLY(read_dump(VF(1), text, sizeof(text)) > 0));
	snprintf(opcode, sizeof(opcode), "\nopcode: %d\n", DRM_VFENCE_OP_HANG);
	EXPECT_NE(NULL, strstr(text, opcode));

	/* The next reset waits for an answer of its own. */
	ASSERT_TRUE(release_dump(VF(1)));
	ASSERT_EQ(0, vf_device_create(self->guest[0].adapter, &device));
	ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &queue));
	ASSERT_EQ(0, hang_on(queue));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue) == DRM_VFENCE_QUEUE_RUNNING));
	EXPECT_LT(0, draw_ns(&self->guest[1], 10));
	EXPECT_TRUE(EVENTUALLY(read_dump(VF(1), text, sizeof(text)) > 0));
	EXPECT_NE(NULL, strstr(text, opcode));
	vf_queue_destroy(queue);
	vf_device_destroy(device);
}

/* The reset does not wait for an answer of a driver that gets no interrupts. */
TEST_F(world, TDR_21_a_reset_goes_on_without_an_answer)
{
	int64_t took;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("preempt_timeout_us", "10000"));
	ASSERT_EQ(0, hang_on(self->guest[0].gfx));
	ASSERT_EQ(0, inject(VF(1), "stop_cmp", "1"));
	took = draw_ns(&self->guest[1], 10);
	TH_LOG("the next function waited for %.3f ms", (double)took / 1e6);
	ASSERT_LT(0, took);
	/* 10 ms to stop and 10 ms to answer, in ticks of 4 ms; a slice and its own work. */
	if (deterministic()) {
		EXPECT_LT(20 * MS, took);
		EXPECT_GT(50 * MS, took);
	}
	EXPECT_EQ(1, stat_of(1, "gfx", "resets"));
	EXPECT_TRUE(EVENTUALLY(received(1, "flr_done") == 1));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[0].device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_TRUE(working(self->guest[0].adapter));
}

/* The driver finds an answer of the host whose interrupt is lost. */
TEST_F(world, TDR_21_an_answer_without_an_interrupt_is_found)
{
	ASSERT_EQ(0, world_make(self, 2));
	/* The other function has the engines for itself until the driver waits for them. */
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	ASSERT_EQ(0, say(2, REQUEST_INIT));
	ASSERT_TRUE(has_access(2, 1));
	ASSERT_EQ(0, say(1, REQUEST_RESET));
	ASSERT_TRUE(EVENTUALLY(guard_stat(1, "access", false) == 1));
	ASSERT_EQ(0, inject(VF(1), "lose_interrupt", "1"));
	ASSERT_EQ(0, say(2, RELEASE_INIT));
	EXPECT_TRUE(has_access(1, 1));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[0].device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(working(self->guest[0].adapter));
}

/*
 * A driver that waits for full access repeats its request, in case the host does not know it any
 * more. The repetitions of a request which the host does know are no events of a guard.
 */
TEST_F(world, VF_39_a_request_that_is_lost_is_repeated)
{
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, guard(1, "mailbox_limit", "6"));
	/* The other function has the engines for itself until the driver waits for them. */
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	ASSERT_EQ(0, say(2, REQUEST_INIT));
	ASSERT_TRUE(has_access(2, 1));
	ASSERT_EQ(0, say(1, REQUEST_RESET));
	ASSERT_TRUE(EVENTUALLY(guard_stat(1, "access", false) == 1));
	/* A release that its driver does not know of takes the request back. */
	ASSERT_EQ(0, say(1, RELEASE_INIT));
	ASSERT_TRUE(EVENTUALLY(guard_stat(1, "access", false) == 2));
	/* It waits for some seconds. */
	EXPECT_LT(0, draw_ns(&self->guest[1], 30000));
	EXPECT_EQ(2, guard_stat(1, "access", false));
	EXPECT_EQ(0, guard_stat(1, "mailbox", true));
	ASSERT_EQ(0, say(2, RELEASE_INIT));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[0].device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(working(self->guest[0].adapter));
	EXPECT_EQ(1, received(1, "ready_to_access"));
	EXPECT_EQ(0, received(1, "fail"));
}

/* If the whole GPU is reset, the driver of each function is notified of it and of the cause. */
TEST_F(world, TDR_22_each_function_is_told_of_a_reset_of_the_gpu)
{
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, inject(VF(1), "fail_adapter_reset", "1"));
	ASSERT_EQ(0, say(1, REQUEST_RESET));
	EXPECT_TRUE(EVENTUALLY(received(1, "flr_done") == 1));
	for (i = 1; i <= 3; i++) {
		EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[i - 1].device) ==
				       DRM_VFENCE_DEVICE_RESET));
		EXPECT_TRUE(working(self->guest[i - 1].adapter));
		EXPECT_EQ(i > 1, received((int)i, "gpu_reset_done"));
		EXPECT_EQ(i == 1, received((int)i, "flr_done"));
		EXPECT_LE(1, received((int)i, "flr_notice"));
		EXPECT_EQ(1, received((int)i, "ready_to_access"));
	}
	EXPECT_EQ(1, stat_of(-1, "gfx", "gpu_resets"));
}

/* A driver that gets no interrupts does not answer. The answers of others do not count for it. */
TEST_F(world, TDR_22_a_reset_of_the_gpu_waits_for_each_function)
{
	int64_t begun;

	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, inject(VF(1), "fail_adapter_reset", "1"));
	ASSERT_EQ(0, inject(VF(2), "stop_cmp", "1"));
	begun = vf_deadline(0);
	ASSERT_EQ(0, say(1, REQUEST_RESET));
	EXPECT_TRUE(EVENTUALLY(received(1, "flr_done") == 1));
	/* It has 500 ms to answer. */
	EXPECT_LE(490 * MS, vf_deadline(0) - begun);
	EXPECT_TRUE(EVENTUALLY(received(2, "gpu_reset_done") == 1));
	EXPECT_TRUE(working(self->guest[1].adapter));
}

/* The reset of the GPU is not the fault of this function. The next ones are. */
TEST_F(world, TDR_22_23_another_function_excuses_one_reset)
{
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, tdr_configure(VF(2), "limit_count", "1"));
	ASSERT_EQ(0, inject(VF(1), "fail_adapter_reset", "1"));
	ASSERT_EQ(0, say(1, REQUEST_RESET));
	EXPECT_TRUE(EVENTUALLY(received(2, "gpu_reset_done") == 1));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[1].device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(working(self->guest[1].adapter));
	ASSERT_EQ(0, inject(VF(2), "reset_adapter", "1"));
	EXPECT_TRUE(working(self->guest[1].adapter));
	ASSERT_EQ(0, inject(VF(2), "reset_adapter", "1"));
	EXPECT_FALSE(working(self->guest[1].adapter));
	EXPECT_TRUE(working(self->guest[0].adapter));
}

/* A function that holds the engines, or waits for them, leaves. */
TEST_F(world, VF_42_a_function_with_full_access_leaves)
{
	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure("access_limit_ms", "60000"));
	ASSERT_EQ(0, say(1, REQUEST_INIT));
	ASSERT_TRUE(has_access(1, 1));
	ASSERT_EQ(0, say(2, REQUEST_INIT));
	ASSERT_EQ(0, say(3, REQUEST_INIT));
	EXPECT_EQ(0, driver("unbind", VF(2)));
	EXPECT_EQ(0, driver("unbind", VF(1)));
	EXPECT_TRUE(has_access(3, 1));
	EXPECT_LT(0, draw_ns(&self->guest[2], 10));
	/* All leave, and the next ones find nothing of it. */
	ASSERT_EQ(0, world_end(self));
	self->count = 0;
	ASSERT_EQ(0, world_make(self, 2));
	EXPECT_LT(0, draw_ns(&self->guest[0], 10));
	EXPECT_LT(0, draw_ns(&self->guest[1], 10));
}

TEST_HARNESS_MAIN
