// SPDX-License-Identifier: GPL-2.0-only
/*
 * World switches: virtual functions share the engines of a physical one.
 */

#include <sys/stat.h>

#include "recovery_test.h"
#include "world_fixture.h"

TEST_F(world, functions_come_and_go_as_of_pci_devices)
{
	struct vf_adapter *adapter;
	char text[64] = "";

	EXPECT_EQ(-ERANGE, write_text(DEVICE "sriov_numvfs", "17"));
	EXPECT_EQ(-EINVAL, write_text(DEVICE "sriov_numvfs", "x"));
	ASSERT_EQ(0, world_make(self, 2));
	EXPECT_EQ(-EBUSY, write_text(DEVICE "sriov_numvfs", "3"));
	EXPECT_EQ(0, write_text(DEVICE "sriov_numvfs", "2"));
	EXPECT_LT(0, readlink(DEVICE "virtfn1", text, sizeof(text) - 1));
	EXPECT_NE(NULL, strstr(text, "vfence.241"));
	/* A virtual function has no virtual functions. */
	EXPECT_NE(0, access(DEVICE "virtfn0/sriov_numvfs", F_OK));
	EXPECT_EQ(0, access(DEVICE "virtfn0/physfn", F_OK));
	/* Clients that are still there see an unplugged adapter. */
	ASSERT_EQ(0, write_text(DEVICE "sriov_numvfs", "0"));
	EXPECT_EQ(-ENODEV, vf_device_create(self->guest[0].adapter, &self->guest[0].device));
	EXPECT_EQ(-ENODEV, vf_adapter_open(VF(1), &adapter));
	EXPECT_NE(0, access(ADMIN, F_OK));
	EXPECT_GT(0, readlink(DEVICE "virtfn1", text, sizeof(text) - 1));
	self->guest[0].device = NULL;
}

TEST_F(world, VF_16_values_out_of_range_are_refused)
{
	static const struct {
		const char *file, *value;
		int error;
	} bad[] = {
		{ "policy", "fastest", -EINVAL }, { "policy", "", -EINVAL },
		{ "response_us", "100001", -EINVAL }, { "response_us", "-1", -EINVAL },
		{ "switch_us", "100001", -EINVAL },
		{ "vf1/profile/exec_quantum_us", "99", -EINVAL },
		{ "vf1/profile/exec_quantum_us", "2000001", -EINVAL },
		{ "vf1/profile/exec_quantum_us", "4294967297", -ERANGE },
		{ "vf1/profile/weight", "0", -EINVAL }, { "vf1/profile/weight", "10001", -EINVAL },
		{ "vf1/profile/cap_percent", "101", -EINVAL },
		{ "vf1/profile/preempt_timeout_us", "100000001", -EINVAL },
		{ "vf1/profile/sched_priority", "high", -EINVAL },
	};
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 1));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		/* An empty write does not reach the driver. */
		if (*bad[i].value)
			EXPECT_EQ(bad[i].error, configure(bad[i].file, bad[i].value)) {
				TH_LOG("%s = %s", bad[i].file, bad[i].value);
			}
	}
	EXPECT_EQ(0, configure("policy", "fair"));
	EXPECT_EQ(0, configure("vf1/profile/exec_quantum_us", "2000000"));
	EXPECT_EQ(0, configure("vf1/profile/sched_priority", "low"));
}

/* A reader holds a lock that switches need, so a user without rights may not be one. */
TEST_F(world, VF_22_numbers_of_functions_are_for_root)
{
	static const char *const files[] = { ADMIN "stat", ADMIN "pf/stat", ADMIN "vf1/stat" };
	struct stat st;
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 1));
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		ASSERT_EQ(0, stat(files[i], &st));
		EXPECT_EQ(0400, st.st_mode & 0777);
	}
}

/* Every function's client sees its own registers, however often the engine is switched. */
TEST_F_TIMEOUT(world, VF_07_registers_survive_ten_thousand_switches, 300)
{
	unsigned int turns = deterministic() ? 10000 : 2000, i, k, rounds;
	struct vf_buffer *buffer[MOST];
	uint64_t before;

	ASSERT_EQ(0, world_make(self, MOST));
	ASSERT_EQ(0, configure("policy", "round-robin"));
	ASSERT_EQ(0, configure("response_us", "0"));
	ASSERT_EQ(0, configure("switch_us", "0"));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "100"));
	for (i = 0; i < MOST; i++) {
		ASSERT_EQ(0, vf_buffer_create(self->guest[i].adapter, 4096, &buffer[i]));
		for (k = 0; k < DRM_VFENCE_REGISTERS; k++)
			vf_cmd_set_register(self->guest[i].gfx, k, (i + 1) * 1000 + k);
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	}
	ASSERT_TRUE(all_drained(self));
	before = stat_of(-1, "gfx", "switches");
	for (rounds = 0; stat_of(-1, "gfx", "switches") - before < turns; rounds++) {
		for (i = 0; i < MOST; i++) {
			struct vf_queue *queue = self->guest[i].gfx;

			for (k = 0; k < DRM_VFENCE_REGISTERS; k++) {
				vf_cmd_draw(queue, 1, 20000);
				vf_cmd_read_register(queue, k, vf_buffer_va(buffer[i]) + 8 * k);
			}
			ASSERT_EQ(0, vf_queue_submit(queue));
		}
		ASSERT_TRUE(all_drained(self));
		for (i = 0; i < MOST; i++) {
			uint64_t *words = vf_buffer_map(buffer[i]);

			for (k = 0; k < DRM_VFENCE_REGISTERS; k++) {
				ASSERT_EQ((i + 1) * 1000 + k, words[k]);
				words[k] = 0;
			}
		}
	}
	TH_LOG("%u rounds", rounds);
	for (i = 0; i < MOST; i++)
		vf_buffer_destroy(buffer[i]);
}

/* Nothing of a function is in the registers of another one that begins. */
TEST_F(world, VF_07_10_registers_of_a_new_queue_are_zero)
{
	struct vf_buffer *buffer;
	unsigned int k;

	ASSERT_EQ(0, world_make(self, 2));
	for (k = 0; k < DRM_VFENCE_REGISTERS; k++)
		vf_cmd_set_register(self->guest[0].gfx, k, UINT64_MAX);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(drained(self->guest[0].gfx));
	ASSERT_EQ(0, vf_buffer_create(self->guest[1].adapter, 4096, &buffer));
	memset(vf_buffer_map(buffer), POISON, 4096);
	for (k = 0; k < DRM_VFENCE_REGISTERS; k++)
		vf_cmd_read_register(self->guest[1].gfx, k, vf_buffer_va(buffer) + 8 * k);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_TRUE(drained(self->guest[1].gfx));
	for (k = 0; k < DRM_VFENCE_REGISTERS; k++)
		EXPECT_EQ(0, ((uint64_t *)vf_buffer_map(buffer))[k]);
	vf_buffer_destroy(buffer);
}

/*
 * A queue is destroyed while its function is switched out. Another one that may have its memory
 * has none of its registers when the function is back.
 */
TEST_F(world, VF_07_10_a_queue_that_goes_meanwhile_leaves_no_registers)
{
	struct guest *guest = self->guest;
	struct vf_buffer *buffer;
	uint64_t *value;
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, vf_buffer_create(guest[0].adapter, 4096, &buffer));
	value = vf_buffer_map(buffer);
	for (i = 0; i < 10; i++) {
		vf_cmd_set_register(guest[0].gfx, 0, UINT64_MAX);
		ASSERT_EQ(0, vf_queue_submit(guest[0].gfx));
		ASSERT_TRUE(drained(guest[0].gfx));
		ASSERT_EQ(0, draw_frame(&guest[1]));
		ASSERT_TRUE(drained(guest[1].gfx));
		vf_queue_destroy(guest[0].gfx);
		ASSERT_EQ(0, vf_queue_create(guest[0].device, DRM_VFENCE_NODE_GFX, 65536,
					     &guest[0].gfx));
		*value = POISON;
		vf_cmd_read_register(guest[0].gfx, 0, vf_buffer_va(buffer));
		ASSERT_EQ(0, vf_queue_submit(guest[0].gfx));
		ASSERT_TRUE(drained(guest[0].gfx));
		EXPECT_EQ(0, *value);
	}
	vf_buffer_destroy(buffer);
}

/* A graphics engine is taken between two draws, and the time of a draw is not cut. */
TEST_F(world, VF_01_a_draw_in_flight_ends_before_the_engine_changes_its_owner)
{
	uint64_t stop;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "1000"));
	vf_cmd_draw(self->guest[0].gfx, 4, 20 * MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->guest[0].gfx) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(self->guest[1].gfx, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	EXPECT_TRUE(all_drained(self));
	stop = stat_of(1, "gfx", "longest_stop_ns");
	TH_LOG("the engine had to wait for %.3f ms", (double)stop / 1e6);
	if (deterministic()) {
		EXPECT_LT(10 * MS, (int64_t)stop);
		EXPECT_GT(20 * MS, (int64_t)stop);
		EXPECT_EQ(1, stat_of(1, "gfx", "preemptions"));
	}
	EXPECT_LE(1, stat_of(1, "gfx", "preemptions"));
	/* A stop that is shorter does not count as the longest one (VF-40). */
	vf_cmd_draw(self->guest[1].gfx, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	EXPECT_TRUE(all_drained(self));
	EXPECT_LE(stop, stat_of(1, "gfx", "longest_stop_ns"));
}

/* Return: the time that the client of a function has used its engine, in ns. */
static int64_t gfx_time(struct guest *g)
{
	return fdinfo_number(vf_adapter_fd(g->adapter), "drm-engine-gfx");
}

/* A copy engine stops at once, and goes on with the next byte. */
TEST_F(world, VF_02_a_copy_is_interrupted_and_complete)
{
	static uint8_t expected[1 << 20];
	struct vf_queue *copy[2];
	struct vf_buffer *src, *dst;
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "100"));
	ASSERT_EQ(0, configure("response_us", "0"));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_queue_create(self->guest[i].device, DRM_VFENCE_NODE_COPY, 4096,
					     &copy[i]));
	ASSERT_EQ(0, vf_buffer_create(self->guest[0].adapter, sizeof(expected), &src));
	ASSERT_EQ(0, vf_buffer_create(self->guest[0].adapter, sizeof(expected), &dst));
	for (i = 0; i < sizeof(expected); i++)
		expected[i] = i * 7 + i / 255;
	memcpy(vf_buffer_map(src), expected, sizeof(expected));
	for (i = 0; i < 8; i++)
		vf_cmd_copy(copy[0], vf_buffer_va(dst), vf_buffer_va(src), sizeof(expected));
	ASSERT_EQ(0, vf_queue_submit(copy[0]));
	ASSERT_TRUE(EVENTUALLY(queue_state(copy[0]) == DRM_VFENCE_QUEUE_RUNNING));
	for (i = 0; i < 20; i++) {
		vf_cmd_draw(self->guest[1].gfx, 1, 50000);
		ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
		EXPECT_TRUE(drained(self->guest[1].gfx));
	}
	EXPECT_TRUE(drained(copy[0]));
	/* How many of the draws come before its end depends on how soon they are submitted. */
	EXPECT_LT(counts_instructions() ? 5 : 1, stat_of(1, "gfx", "preemptions"));
	EXPECT_EQ(0, memcmp(expected, vf_buffer_map(dst), sizeof(expected)));
	if (deterministic())
		EXPECT_GT(60000, stat_of(1, "gfx", "longest_stop_ns"));
	vf_buffer_destroy(src);
	vf_buffer_destroy(dst);
	for (i = 0; i < 2; i++)
		vf_queue_destroy(copy[i]);
}

/* Signals between draws come in their order, each once, though each draw ends a turn. */
TEST_F(world, VF_03_what_is_interrupted_executes_exactly_once)
{
	struct vf_counters c;
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "100"));
	ASSERT_EQ(0, configure("response_us", "0"));
	ASSERT_EQ(0, configure("switch_us", "10"));
	for (i = 1; i <= 300; i++) {
		vf_cmd_draw(self->guest[0].gfx, 1, 60000);
		vf_cmd_signal(self->guest[0].gfx, self->guest[0].fence, i);
		vf_cmd_draw(self->guest[1].gfx, 1, 60000);
		vf_cmd_signal(self->guest[1].gfx, self->guest[1].fence, i);
	}
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	EXPECT_TRUE(all_drained(self));
	for (i = 0; i < 2; i++) {
		struct drm_vfence_fence_info query;

		ASSERT_EQ(0, vf_fence_query(self->guest[i].fence, &query));
		EXPECT_EQ(300, query.current_value);
		ASSERT_TRUE(settled(self->guest[i].adapter, &c));
		/* And one signal of the progress. */
		EXPECT_EQ(301, c.signals);
		EXPECT_LT(100, stat_of(i + 1, "gfx", "preemptions"));
	}
}

#define TRACING	"/sys/kernel/tracing/"

/* Store the commands of the trace. Return: their number. */
static unsigned int traced_commands(unsigned int group, unsigned int *command,
				    unsigned int *function, unsigned int max)
{
	FILE *f = fopen(TRACING "trace", "re");
	unsigned int adapter, g, n = 0;
	char line[500], *at;
	int result;

	while (f && n < max && fgets(line, sizeof(line), f)) {
		at = strstr(line, "vfence_vf_switch: ");
		if (at && sscanf(at, "vfence_vf_switch: adapter=%u function=%u group=%u command=0x%x result=%d",
				 &adapter, &function[n], &g, &command[n], &result) == 5 &&
		    g == group && !result)
			n++;
	}
	if (f)
		fclose(f);
	return n;
}

TEST_F(world, VF_04_06_a_switch_has_its_steps_in_order)
{
	static const unsigned int turns[][2] = {
		/* The physical function gives the engines away, the first one begins. */
		{ 0x1, 0 }, { 0x2, 0 }, { 0x7, 1 }, { 0x4, 1 },
		/* The second one begins. */
		{ 0x1, 1 }, { 0x2, 1 }, { 0x7, 2 }, { 0x4, 2 },
		/* The first one is back. */
		{ 0x1, 2 }, { 0x2, 2 }, { 0x3, 1 }, { 0x4, 1 },
	};
	unsigned int command[64], function[64], i;

	if (access(TRACING "events/vfence/vfence_vf_switch", F_OK) || !may_patch_kernel())
		SKIP(return, MAY_NOT_PATCH_KERNEL);
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, write_text(TRACING "trace", ""));
	ASSERT_EQ(0, write_text(TRACING "events/vfence/vfence_vf_switch/enable", "1"));
	for (i = 0; i < 3; i++) {
		vf_cmd_draw(self->guest[i % 2].gfx, 1, 1000);
		ASSERT_EQ(0, vf_queue_submit(self->guest[i % 2].gfx));
		ASSERT_TRUE(drained(self->guest[i % 2].gfx));
	}
	ASSERT_EQ(0, write_text(TRACING "events/vfence/vfence_vf_switch/enable", "0"));
	ASSERT_LE(ARRAY_SIZE(turns), traced_commands(0, command, function, 64));
	for (i = 0; i < ARRAY_SIZE(turns); i++) {
		EXPECT_EQ(turns[i][0], command[i]);
		EXPECT_EQ(turns[i][1], function[i]);
	}
}

/* An engine that catches up does nothing for the next owner before the switch has ended. */
TEST_F(world, VF_04_work_of_the_next_function_begins_after_the_switch)
{
	struct drm_vfence_clock_info clock;
	struct vf_buffer *buffer[2];
	unsigned int i, first;
	uint64_t *stamp[2], ns;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("switch_us", "1500"));
	/* No slice ends before the work. */
	ASSERT_EQ(0, configure_all("exec_quantum_us", "1000000"));
	ASSERT_EQ(0, vf_adapter_clock(self->guest[0].adapter, &clock));
	for (i = 0; i < 2; i++) {
		struct guest *guest = &self->guest[i];

		ASSERT_EQ(0, vf_buffer_create(guest->adapter, 4096, &buffer[i]));
		stamp[i] = vf_buffer_map(buffer[i]);
		vf_cmd_timestamp(guest->gfx, vf_buffer_va(buffer[i]));
		vf_cmd_draw(guest->gfx, 1, 3 * MS);
		vf_cmd_timestamp(guest->gfx, vf_buffer_va(buffer[i]) + 8);
		ASSERT_EQ(0, vf_queue_submit(guest->gfx));
	}
	ASSERT_TRUE(all_drained(self));
	/* On a slow machine the second client may be the first to have its work seen. */
	first = stamp[1][0] < stamp[0][0];
	ns = (stamp[!first][0] - stamp[first][1]) * (1000000000 / clock.frequency_hz);
	TH_LOG("%.3f ms between the functions", (double)ns / 1e6);
	EXPECT_LE(MS * 3 / 2, (int64_t)ns);
	for (i = 0; i < 2; i++)
		EXPECT_LE(3 * MS, (int64_t)((stamp[i][1] - stamp[i][0]) * 1000000000 /
					    clock.frequency_hz));
	for (i = 0; i < 2; i++)
		vf_buffer_destroy(buffer[i]);
}

/* The media engine has a rotation of its own. */
TEST_F(world, VF_08_media_and_graphics_do_not_wait_for_each_other)
{
	struct vf_queue *mm;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, vf_queue_create(self->guest[0].device, DRM_VFENCE_NODE_MM, 4096, &mm));
	vf_cmd_draw(mm, 1, 90 * MS);
	ASSERT_EQ(0, vf_queue_submit(mm));
	ASSERT_TRUE(EVENTUALLY(queue_state(mm) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(self->guest[1].gfx, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	EXPECT_TRUE(drained(self->guest[1].gfx));
	EXPECT_NOT_YET(vf_fence_current(vf_queue_progress(mm)));
	EXPECT_TRUE(drained(mm));
	EXPECT_EQ(0, stat_of(1, "mm", "preemptions"));
	vf_queue_destroy(mm);
}

TEST_F(world, VF_15_one_function_alone_is_never_switched)
{
	uint64_t switches;

	ASSERT_EQ(0, world_make(self, 4));
	ASSERT_EQ(0, vf_queue_submit(self->guest[2].gfx));
	ASSERT_TRUE(drained(self->guest[2].gfx));
	switches = stat_of(-1, "gfx", "switches");
	vf_cmd_draw(self->guest[2].gfx, 40, MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[2].gfx));
	EXPECT_TRUE(drained(self->guest[2].gfx));
	EXPECT_EQ(switches, stat_of(-1, "gfx", "switches"));
	EXPECT_EQ(0, stat_of(3, "gfx", "preemptions"));
}

/* The time for which another function has the engines is none of the job's (TDR-16). */
TEST_F_TIMEOUT(world, TDR_17_a_long_job_among_sixteen_functions_survives, 300)
{
	struct vf_syncobj out = {};
	struct vf_submit what = { .signal_syncobjs = &out, .signal_syncobj_count = 1 };
	int64_t begun = vf_deadline(0);
	struct vf_queue *kernel;
	unsigned int i;
	int fd;

	ASSERT_EQ(0, world_make(self, 16));
	ASSERT_EQ(0, configure("policy", "fair"));
	fd = vf_adapter_fd(self->guest[0].adapter);
	ASSERT_EQ(0, drmSyncobjCreate(fd, 0, &out.handle));
	ASSERT_EQ(0, vf_kernel_queue_create(self->guest[0].device, DRM_VFENCE_NODE_GFX, &kernel));
	for (i = 1; i < 16; i++) {
		vf_cmd_draw(self->guest[i].gfx, 3000, MS);
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	}
	/* Of its own it takes 1.5 s, where 2 are the limit. */
	vf_cmd_draw(kernel, 1500, MS);
	ASSERT_EQ(0, vf_submit(&kernel, 1, &what));
	ASSERT_EQ(0, drmSyncobjWait(fd, &out.handle, 1, vf_deadline(100 * SECOND),
				    DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, NULL));
	EXPECT_EQ(1, syncobj_status(fd, out.handle));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[0].device));
	/* It has waited for the others. */
	EXPECT_LT(15 * SECOND, vf_deadline(0) - begun);
	drmSyncobjDestroy(fd, out.handle);
	vf_queue_destroy(kernel);
}

/* The histogram counts the yields whose switch has begun in less than 1, 2, 4, ... us. */
static unsigned int yields_in_time(unsigned int us, unsigned int *count)
{
	char line[1024], *at, *end;
	FILE *f = fopen(ADMIN "stat", "re");
	unsigned int in_time = 0, limit = 1;

	*count = 0;
	while (f && fgets(line, sizeof(line), f)) {
		at = strncmp(line, "gfx", 3) ? NULL : strstr(line, " yield_us ");
		for (at = at ? at + strlen(" yield_us ") : NULL; at; limit *= 2) {
			unsigned int n = (unsigned int)strtoul(at, &end, 10);

			*count += n;
			in_time += limit <= us ? n : 0;
			at = *end == ',' ? end + 1 : NULL;
		}
	}
	if (f)
		fclose(f);
	return in_time;
}

#define YIELDS	500

/* Four functions hand the engines on, and never have work for long. */
TEST_F_TIMEOUT(world, VF_22_a_switch_begins_soon_after_a_yield, 120)
{
	unsigned int i, k, count, in_time;

	ASSERT_EQ(0, world_make(self, 4));
	ASSERT_EQ(0, configure("response_us", "0"));
	for (i = 0; i < YIELDS / 4; i++) {
		for (k = 0; k < 4; k++) {
			vf_cmd_draw(self->guest[k].gfx, 1, MS / 10);
			ASSERT_EQ(0, vf_queue_submit(self->guest[k].gfx));
		}
		ASSERT_TRUE(all_drained(self));
	}
	in_time = yields_in_time(32, &count);
	TH_LOG("%u of %u yields within 32 us, %u within 64 us", in_time, count,
	       yields_in_time(64, &count));
	EXPECT_LE(YIELDS * 9 / 10, count);
	/* Parallel emulation has no clock that could say this. */
	if (deterministic())
		EXPECT_LE(count * 99 / 100, in_time);
}

/* A function with work on several engines sends one message when it begins and one at its end. */
TEST_F(world, VF_17_20_21_there_is_one_message_for_each_edge)
{
	struct vf_queue *compute;
	unsigned int i;
	uint64_t busy, idle, calls;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, vf_queue_create(self->guest[0].device, DRM_VFENCE_NODE_COMPUTE, 4096,
				     &compute));
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(drained(self->guest[0].gfx));
	ASSERT_EQ(0, vf_queue_submit(compute));
	ASSERT_TRUE(logged(compute));
	busy = stat_of(1, "gfx", "turned_busy");
	idle = stat_of(1, "gfx", "turned_idle");
	EXPECT_EQ(busy, idle);
	calls = counters(self->guest[0].adapter).ioctls;
	vf_cmd_draw(self->guest[0].gfx, 1, 20 * MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	for (i = 0; i < 10; i++) {
		vf_cmd_draw(compute, 1, 100000);
		ASSERT_EQ(0, vf_queue_submit(compute));
		EXPECT_TRUE(drained(compute));
	}
	EXPECT_EQ(calls, counters(self->guest[0].adapter).ioctls);
	EXPECT_TRUE(logged(self->guest[0].gfx));
	/* If the host is slow, there may be nothing to do between two submissions. */
	EXPECT_TRUE(EVENTUALLY(stat_of(1, "gfx", "turned_idle") >= idle + 1));
	EXPECT_EQ(stat_of(1, "gfx", "turned_busy"), stat_of(1, "gfx", "turned_idle"));
	if (deterministic())
		EXPECT_EQ(busy + 1, stat_of(1, "gfx", "turned_busy"));
	vf_queue_destroy(compute);
}

/* A queue that waits for a fence is no work: its function gives the engines away. */
TEST_F(world, VF_21_a_queue_that_waits_gives_the_engines_away)
{
	ASSERT_EQ(0, world_make(self, 2));
	vf_cmd_wait(self->guest[0].gfx, self->guest[0].fence, 1);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->guest[0].gfx) == DRM_VFENCE_QUEUE_BLOCKED));
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	EXPECT_TRUE(drained(self->guest[1].gfx));
	EXPECT_LE(1, stat_of(1, "gfx", "yields"));
	EXPECT_EQ(0, stat_of(1, "gfx", "preemptions"));
	ASSERT_EQ(0, vf_fence_signal(self->guest[0].fence, 1));
	EXPECT_TRUE(drained(self->guest[0].gfx));
}

/* Let @ns pass on a queue. */
static void let_pass(struct guest *g, uint64_t ns)
{
	vf_cmd_draw(g->gfx, 1 + ns / (MS / 10), MS / 10);
	vf_queue_submit(g->gfx);
	drained(g->gfx);
}

TEST_F(world, VF_23_30_functions_without_work_cost_nothing)
{
	uint64_t switches, turns;

	ASSERT_EQ(0, world_make(self, 4));
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_TRUE(drained(self->guest[1].gfx));
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(drained(self->guest[0].gfx));
	switches = stat_of(-1, "gfx", "switches");
	turns = stat_of(2, "gfx", "turns");
	let_pass(&self->guest[0], 200 * MS);
	EXPECT_EQ(switches, stat_of(-1, "gfx", "switches"));
	EXPECT_EQ(turns, stat_of(2, "gfx", "turns"));
	/* The first one that has work again is served. */
	ASSERT_EQ(0, vf_queue_submit(self->guest[3].gfx));
	EXPECT_TRUE(drained(self->guest[3].gfx));
}

/* A function whose only work is that of a user who hung the engine has no work for a time. */
TEST_F(world, WDDM_164_VF_23_a_throttled_user_gives_the_engines_away)
{
	uid_t uid = 100000 + getpid();
	struct vf_adapter *user;
	int64_t begin, had;
	struct vf_device *device[2];
	struct vf_queue *queue[2];
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, adapter_open_apart(VF(1), uid, &user));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, device_create_as(uid, user, &device[i]));
		ASSERT_EQ(0, vf_queue_create(device[i], DRM_VFENCE_NODE_GFX, 4096, &queue[i]));
	}
	ASSERT_EQ(0, hang_on(queue[0]));
	ASSERT_TRUE(EVENTUALLY(queue_state(queue[0]) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_draw(queue[1], 1, 1000000);
	ASSERT_EQ(0, vf_queue_submit(queue[1]));
	vf_cmd_draw(self->guest[0].gfx, 1, 1000000);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(EVENTUALLY(vf_device_state(device[0]) == DRM_VFENCE_DEVICE_HUNG));

	begin = vf_deadline(0);
	had = fdinfo_number(vf_adapter_fd(self->guest[1].adapter), "drm-engine-gfx");
	vf_cmd_draw(self->guest[1].gfx, 1000, 1000000);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	/* In the end the function asks for the engines again. */
	EXPECT_TRUE(drained(queue[1]));
	begin = vf_deadline(0) - begin;
	had = fdinfo_number(vf_adapter_fd(self->guest[1].adapter), "drm-engine-gfx") - had;
	TH_LOG("the other one had %.1f of %.1f ms", had / 1e6, begin / 1e6);
	if (deterministic()) {
		EXPECT_LT(70000000, begin);
		EXPECT_LT(begin * 9 / 10, had);
	}
	EXPECT_TRUE(drained(self->guest[1].gfx));
	for (i = 0; i < 2; i++) {
		vf_queue_destroy(queue[i]);
		vf_device_destroy(device[i]);
	}
	vf_adapter_close(user);
}

/* The owner has no work, another function gets some, and then the owner in the response time. */
TEST_F(world, VF_31_work_in_the_response_time_cancels_a_yield)
{
	uint64_t switches, cancelled;

	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("response_us", "2000"));
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_TRUE(drained(self->guest[1].gfx));
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(drained(self->guest[0].gfx));
	switches = stat_of(-1, "gfx", "switches");
	cancelled = stat_of(-1, "gfx", "cancelled");
	vf_cmd_draw(self->guest[1].gfx, 1, 1000);
	vf_cmd_draw(self->guest[0].gfx, 1, 3 * MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	EXPECT_TRUE(drained(self->guest[0].gfx));
	EXPECT_EQ(cancelled + 1, stat_of(-1, "gfx", "cancelled"));
	EXPECT_EQ(0, stat_of(1, "gfx", "preemptions"));
	EXPECT_TRUE(drained(self->guest[1].gfx));
	EXPECT_EQ(switches + 1, stat_of(-1, "gfx", "switches"));
}

/* Under "ahead" the response time counts from when the next owner is known. */
TEST_F(world, ahead_serves_the_chosen_function_at_once)
{
	struct drm_vfence_clock_info clock;
	struct vf_buffer *buffer[2];
	int64_t gap, at[2];
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("policy", "ahead"));
	ASSERT_EQ(0, configure("response_us", "20000"));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "100000"));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, vf_buffer_create(self->guest[i].adapter, 4096, &buffer[i]));
	vf_cmd_draw(self->guest[0].gfx, 30, MS);
	vf_cmd_timestamp(self->guest[0].gfx, vf_buffer_va(buffer[0]));
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->guest[0].gfx) == DRM_VFENCE_QUEUE_RUNNING));
	vf_cmd_timestamp(self->guest[1].gfx, vf_buffer_va(buffer[1]));
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_TRUE(all_drained(self));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, vf_adapter_clock(self->guest[i].adapter, &clock));
		at[i] = vf_clock_to_cpu(&clock, *(uint64_t *)vf_buffer_map(buffer[i]));
		vf_buffer_destroy(buffer[i]);
	}
	gap = at[1] - at[0];
	TH_LOG("served %.3f ms after the yield", (double)gap / 1e6);
	EXPECT_LT(0, gap);
	if (deterministic())
		EXPECT_GT(MS, gap);
}

/* The host finds it after eight rounds at most, in which each of the others has one turn. */
TEST_F(world, VF_32_a_message_that_is_lost_does_not_starve_a_function)
{
	uint64_t turns;

	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "500"));
	ASSERT_EQ(0, inject(VF(3), "lose_busy", "1"));
	vf_cmd_draw(self->guest[0].gfx, 300, MS / 10);
	vf_cmd_draw(self->guest[1].gfx, 300, MS / 10);
	vf_cmd_draw(self->guest[2].gfx, 1, 1000);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	turns = stat_of(1, "gfx", "turns");
	ASSERT_EQ(0, vf_queue_submit(self->guest[2].gfx));
	ASSERT_TRUE(EVENTUALLY(stat_of(3, "gfx", "turns")));
	turns = stat_of(1, "gfx", "turns") - turns;
	TH_LOG("another one had %llu turns meanwhile", (unsigned long long)turns);
	/* Between the reads one more may begin. */
	if (deterministic())
		EXPECT_GE(8 + 1, turns);
	EXPECT_TRUE(drained(self->guest[2].gfx));
	EXPECT_EQ(1, stat_of(3, "gfx", "recovered"));
	EXPECT_NOT_YET(vf_fence_current(vf_queue_progress(self->guest[0].gfx)));
	EXPECT_TRUE(all_drained(self));
}

/* Two functions that always have work. Return: the time that the first one had, in parts of 1,000. */
static unsigned int shared(FIXTURE_DATA(world) *self, const char *group, unsigned int ms)
{
	uint64_t begun[2], had[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		vf_cmd_draw(self->guest[i].gfx, 10000, MS / 10);
	for (i = 0; i < 2; i++)
		vf_queue_submit(self->guest[i].gfx);
	/* The first turns may not be whole ones. */
	if (!EVENTUALLY(stat_of(1, group, "turns") > 2 && stat_of(2, group, "turns") > 2))
		return 0;
	for (i = 0; i < 2; i++)
		begun[i] = stat_of(i + 1, group, "run_ns");
	if (!EVENTUALLY(stat_of(1, group, "run_ns") + stat_of(2, group, "run_ns") >
			begun[0] + begun[1] + ms * MS))
		return 0;
	for (i = 0; i < 2; i++)
		had[i] = stat_of(i + 1, group, "run_ns") - begun[i];
	for (i = 0; i < 2; i++)
		vf_queue_abort(self->guest[i].gfx);
	return had[0] + had[1] ? had[0] * 1000 / (had[0] + had[1]) : 0;
}

TEST_F_TIMEOUT(world, VF_35_weights_divide_the_time, 120)
{
	unsigned int part;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("policy", "fair"));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "5000"));
	ASSERT_EQ(0, configure("vf1/profile/weight", "200"));
	part = shared(self, "gfx", 1000);
	TH_LOG("%u of 1000", part);
	EXPECT_LE(deterministic() ? 653 : 550, part);
	EXPECT_GE(deterministic() ? 680 : 800, part);
}

/* A function that slept has a slice of credit, and a large weight makes no more of it. */
TEST_F_TIMEOUT(world, VF_35_a_sleeper_saves_up_one_slice, 120)
{
	uint64_t begun, had;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("policy", "fair"));
	ASSERT_EQ(0, configure("vf1/profile/weight", "10000"));
	ASSERT_EQ(0, configure("vf2/profile/exec_quantum_us", "200"));
	vf_cmd_draw(self->guest[1].gfx, 1000000, MS / 100);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_TRUE(EVENTUALLY(stat_of(2, "gfx", "run_ns") > 300 * MS));
	vf_cmd_draw(self->guest[0].gfx, 1000000, MS / 100);
	begun = stat_of(1, "gfx", "run_ns");
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	had = stat_of(2, "gfx", "run_ns");
	ASSERT_TRUE(EVENTUALLY(stat_of(1, "gfx", "run_ns") > begun + 300 * MS));
	had = stat_of(2, "gfx", "run_ns") - had;
	TH_LOG("the other one had %.3f ms meanwhile", (double)had / 1e6);
	/* A hundredth, but for two slices of the first one and one of its own. */
	EXPECT_LT(2 * MS, had);
	vf_queue_abort(self->guest[0].gfx);
	vf_queue_abort(self->guest[1].gfx);
}

/* An owner that kept nobody from the engines for a second does not wait for a second afterwards. */
TEST_F_TIMEOUT(world, VF_33_an_owner_without_work_pays_nothing, 120)
{
	int64_t longest;
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure("policy", "fair"));
	ASSERT_EQ(0, draw_frame(&self->guest[0]));
	ASSERT_TRUE(drained(self->guest[0].gfx));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->guest[0].fence, 1, vf_deadline(SECOND)));
	for (i = 1; i < 3; i++) {
		vf_cmd_draw(self->guest[i].gfx, 3000, MS);
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	}
	longest = longest_frame(&self->guest[0], 4);
	TH_LOG("%lld us", (long long)longest / 1000);
	EXPECT_LT(0, longest);
	/* It may be one slice ahead: two slices of 6 ms for each other one, and draws of 1 ms. */
	if (deterministic())
		EXPECT_GT(40 * MS, longest);
	for (i = 1; i < 3; i++)
		vf_queue_abort(self->guest[i].gfx);
}

/* Slices of 3 and 1 ms on the engines of @group. */
static void slices_divide(struct __test_metadata *_metadata, FIXTURE_DATA(world) *self,
			  const char *group)
{
	unsigned int part;

	ASSERT_EQ(0, configure("policy", "round-robin"));
	ASSERT_EQ(0, configure("vf1/profile/exec_quantum_us", "3000"));
	ASSERT_EQ(0, configure("vf2/profile/exec_quantum_us", "1000"));
	ASSERT_EQ(0, configure("response_us", "0"));
	part = shared(self, group, 500);
	TH_LOG("%u of 1000", part);
	EXPECT_LE(deterministic() ? 730 : 550, part);
	EXPECT_GE(deterministic() ? 770 : 900, part);
}

TEST_F_TIMEOUT(world, VF_16_slices_divide_the_time, 120)
{
	ASSERT_EQ(0, world_make(self, 2));
	slices_divide(_metadata, self, "gfx");
}

/* A policy holds for all groups of engines. */
TEST_F_TIMEOUT(world, VF_08_16_slices_divide_the_time_of_media, 120)
{
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 2));
	for (i = 0; i < 2; i++) {
		vf_queue_destroy(self->guest[i].gfx);
		ASSERT_EQ(0, vf_queue_create(self->guest[i].device, DRM_VFENCE_NODE_MM, 65536,
					     &self->guest[i].gfx));
	}
	slices_divide(_metadata, self, "mm");
}

#define SAMPLES		2000

/* A number of a file, with the times before and after it was read, in ns. */
struct sample {
	int64_t before, after;
	uint64_t run_ns;
};

/*
 * Read how long a function owned the engines, again and again for @ns. Return: the most of any 100 ms,
 * wherever they begin: the reads of such a pair are 100 ms apart at most.
 */
static uint64_t most_of_100_ms(FIXTURE_DATA(world) *self, int64_t ns)
{
	static struct sample s[SAMPLES];
	int64_t begun = vf_deadline(0);
	unsigned int count = 0, i, k;
	uint64_t most = 0;

	while (count < SAMPLES && vf_deadline(0) - begun < ns) {
		s[count].before = vf_deadline(0);
		s[count].run_ns = stat_of(1, "gfx", "run_ns");
		s[count++].after = vf_deadline(0);
		vf_fence_wait(self->guest[0].fence, 1, vf_deadline(MS * 7 / 10));
	}
	for (i = 0; i < count; i++)
		for (k = i; k < count && s[k].after - s[i].before <= 100 * MS; k++)
			most = s[k].run_ns - s[i].run_ns > most ? s[k].run_ns - s[i].run_ns : most;
	return most;
}

/* A hard cap holds for any 100 ms, alone and beside a function that gets what is left. */
TEST_F_TIMEOUT(world, VF_37_a_cap_holds_for_any_100_ms, 300)
{
	static const unsigned int caps[] = { 1, 10, 25, 50, 90 };
	unsigned int i;
	char text[8];

	ASSERT_EQ(0, world_make(self, 2));
	/* Longer than all that the caps allow. */
	ASSERT_EQ(0, configure("vf1/profile/exec_quantum_us", "200000"));
	/* Draws of 20 us: the engines stop soon. */
	vf_cmd_draw(self->guest[0].gfx, 1000000, MS / 50);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	/* The first cap comes in a slice that began without one: a cap holds at once. */
	ASSERT_TRUE(EVENTUALLY(queue_state(self->guest[0].gfx) == DRM_VFENCE_QUEUE_RUNNING));
	for (i = 0; i < 2 * ARRAY_SIZE(caps); i++) {
		bool beside = i >= ARRAY_SIZE(caps);
		unsigned int cap = caps[i % ARRAY_SIZE(caps)];
		uint64_t most, had, other, all;

		snprintf(text, sizeof(text), "%u", cap);
		ASSERT_EQ(0, configure("vf1/profile/cap_percent", text));
		if (i == ARRAY_SIZE(caps)) {
			vf_cmd_draw(self->guest[1].gfx, 1000000, MS / 50);
			ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
		}
		/* What was used before leaves the window. */
		vf_fence_wait(self->guest[0].fence, 1, vf_deadline(120 * MS));
		had = stat_of(1, "gfx", "run_ns");
		other = stat_of(2, "gfx", "run_ns");
		all = stat_of(-1, "gfx", "elapsed_ns");
		most = most_of_100_ms(self, 500 * MS);
		had = stat_of(1, "gfx", "run_ns") - had;
		other = stat_of(2, "gfx", "run_ns") - other;
		all = stat_of(-1, "gfx", "elapsed_ns") - all;
		TH_LOG("cap of %u %%: %.3f ms of any 100 ms, %.1f %% and the other one %.1f %%", cap,
		       (double)most / 1e6, 100. * (double)had / (double)all,
		       100. * (double)other / (double)all);
		if (!deterministic())
			continue;
		EXPECT_GE(cap * MS + MS / 50, (int64_t)most);
		EXPECT_LT(all * cap / 100 * 7 / 10, had);
		if (beside)
			EXPECT_LT(all * (100 - cap) / 100 * 9 / 10, other);
	}
}

FIXTURE(sharing) {
	FIXTURE_DATA(world) world;
};

FIXTURE_VARIANT(sharing) {
	/* Draws of one client of the function, and of the other one: times in ns. */
	uint64_t draw[2];
};

FIXTURE_SETUP(sharing)
{
	if (geteuid() || access(DEVICE "drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(sharing)
{
	EXPECT_EQ(0, world_end(&self->world));
}

FIXTURE_VARIANT_ADD(sharing, with_short_draws) {
	.draw = { MS / 10, MS / 10 },
};

/* Each draw lasts longer than a slice and a turn: a switch ends each turn. */
FIXTURE_VARIANT_ADD(sharing, with_long_draws) {
	.draw = { 10 * MS, MS / 10 },
};

/* A queue that a switch stops goes on with its turn, and begins no other one. */
TEST_F(sharing, clients_of_a_function_share_its_slices)
{
	struct guest second, *guest = self->world.guest;
	int64_t first = 0, other = 0;

	ASSERT_EQ(0, world_make(&self->world, 2));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "500"));
	/* As another process: those of one process have turns, however long. */
	ASSERT_EQ(0, adapter_open_apart(VF(1), 0, &second.adapter));
	ASSERT_EQ(0, guest_begin(&second));
	vf_cmd_draw(second.gfx, UINT32_MAX, variant->draw[1]);
	ASSERT_EQ(0, vf_queue_submit(second.gfx));
	vf_cmd_draw(guest[0].gfx, UINT32_MAX, variant->draw[0]);
	ASSERT_EQ(0, vf_queue_submit(guest[0].gfx));
	vf_cmd_draw(guest[1].gfx, UINT32_MAX, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(guest[1].gfx));
	EXPECT_TRUE(EVENTUALLY((first = gfx_time(&guest[0]), other = gfx_time(&second),
				first + other > 200 * MS)));
	TH_LOG("%lld and %lld us", (long long)first / 1000, (long long)other / 1000);
	/* Time passes between the reads: compare with what is read later. */
	EXPECT_LT(first, 3 * other);
	EXPECT_LT(other, 3 * gfx_time(&guest[0]));
	guest_close(&second);
}

/* Return: the sum of the numbers behind a name in a line of "stat"; UINT64_MAX without them. */
static uint64_t listed(const char *line, const char *name, unsigned int count)
{
	const char *at = strstr(line, name);
	uint64_t sum = 0;
	unsigned int i;

	at = at ? at + strlen(name) : NULL;
	for (i = 0; at && i < count; i++, at++) {
		char *end;

		sum += strtoull(at, &end, 10);
		if (end == at || (i + 1 < count && *end != ','))
			return UINT64_MAX;
		at = end;
	}
	return at ? sum : UINT64_MAX;
}

/*
 * All times add up to the time that has passed, to the nanosecond, whenever they are read: while
 * functions have turns, while no function may own the engines, and when functions have gone.
 */
static void times_add_up(struct __test_metadata *_metadata, uint64_t *switched, uint64_t *unowned)
{
	char line[4096];
	unsigned int groups = 0;
	FILE *f = fopen(ADMIN "stat", "re");

	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f)) {
		uint64_t s = listed(line, " switch_ns ", 1), u = listed(line, " unowned_ns ", 1);

		EXPECT_EQ(listed(line, " elapsed_ns ", 1),
			  s + u + listed(line, " run_ns ", MOST + 1) +
			  listed(line, " stop_ns ", MOST + 1)) {
			TH_LOG("%s", line);
		}
		*switched += s;
		*unowned += u;
		groups++;
	}
	fclose(f);
	EXPECT_EQ(2, groups);
}

TEST_F(world, VF_40_the_times_add_up)
{
	uint64_t switched = 0, unowned = 0, before;
	unsigned int i, reads = 0;

	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "500"));
	ASSERT_EQ(0, configure("vf1/profile/cap_percent", "5"));
	for (i = 0; i < 3; i++)
		vf_cmd_draw(self->guest[i].gfx, i ? 100 : 200, MS / 10);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	before = stat_of(-1, "gfx", "elapsed_ns");
	while (!is_done(&self->guest[0]) && reads < 100000) {
		times_add_up(_metadata, &switched, &unowned);
		reads++;
		/* Some time passes on a clock that stands still for programs. */
		vf_fence_wait(self->guest[0].fence, 1, vf_deadline(MS / 3));
	}
	EXPECT_TRUE(all_drained(self));
	EXPECT_LT(10, reads);
	EXPECT_LT(before, stat_of(-1, "gfx", "elapsed_ns"));
	EXPECT_LT(0, switched);
	EXPECT_LT(0, unowned);
	EXPECT_EQ(0, driver("unbind", VF(2)));
	times_add_up(_metadata, &switched, &unowned);
	EXPECT_EQ(0, driver("bind", VF(2)));
	times_add_up(_metadata, &switched, &unowned);
}

/* A function that overruns its slice gives away its next slices, also to one without work. */
TEST_F(world, VF_36_a_debt_is_paid_once)
{
	int64_t begun, took;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("policy", "fixed"));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "1000"));
	/* Its engine stops after each draw: it pays before the second one, and before its signal. */
	vf_cmd_draw(self->guest[1].gfx, 2, 20 * MS);
	begun = vf_deadline(0);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	ASSERT_TRUE(drained(self->guest[1].gfx));
	took = vf_deadline(0) - begun;
	TH_LOG("two draws of 20 ms with slices of 1 ms take %.2f ms", (double)took / 1e6);
	if (deterministic()) {
		EXPECT_LT(78 * MS, took);
		/* An engine may stop up to a tick of the host later. */
		EXPECT_GT(92 * MS, took);
	}
	EXPECT_EQ(0, stat_of(2, "gfx", "resets"));
}

TEST_F(world, VF_41_policies_change_under_load)
{
	static const char *const policy[] = {
		"round-robin", "elevator", "on-demand", "fair", "fixed", "ahead",
	};
	unsigned int i, k;

	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure_all("exec_quantum_us", "500"));
	for (i = 0; i < 3; i++)
		for (k = 1; k <= 200; k++) {
			vf_cmd_draw(self->guest[i].gfx, 1, MS / 10);
			vf_cmd_signal(self->guest[i].gfx, self->guest[i].fence, k);
		}
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	for (i = 0; i < 60; i++) {
		uint64_t value = vf_fence_current(self->guest[0].fence);

		EXPECT_EQ(0, configure("policy", policy[i % ARRAY_SIZE(policy)]));
		if (value < 200)
			EXPECT_TRUE(EVENTUALLY(vf_fence_current(self->guest[0].fence) > value));
	}
	EXPECT_TRUE(all_drained(self));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(200, vf_fence_current(self->guest[i].fence));
}

/* A function is unbound while it has work, and others go on. */
TEST_F(world, VF_42_a_function_goes_and_comes_under_load)
{
	unsigned int i;

	ASSERT_EQ(0, world_make(self, 3));
	for (i = 0; i < 3; i++)
		vf_cmd_draw(self->guest[i].gfx, 500, MS / 10);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, vf_queue_submit(self->guest[i].gfx));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, driver("unbind", VF(2)));
		ASSERT_EQ(0, driver("bind", VF(2)));
	}
	EXPECT_TRUE(drained(self->guest[0].gfx));
	EXPECT_TRUE(drained(self->guest[2].gfx));
	guest_close(&self->guest[1]);
	memset(&self->guest[1], 0, sizeof(self->guest[1]));
	ASSERT_EQ(0, guest_open(&self->guest[1], VF(2)));
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	EXPECT_TRUE(drained(self->guest[1].gfx));
}

/* An engine that never stops keeps no function from leaving, although nothing limits its time. */
TEST_F(world, VF_42_a_function_leaves_beside_one_that_never_stops)
{
	pid_t pid;

	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure("vf1/profile/preempt_timeout_us", "0"));
	ASSERT_EQ(0, tdr_configure(VF(1), "level", "0"));
	vf_cmd_draw(self->guest[0].gfx, 200, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->guest[0].gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(VF(1), "stop_engines", "1"));
	vf_cmd_draw(self->guest[1].gfx, 1, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	/* The engine is asked to stop, and does not. */
	let_pass(&self->guest[1], 20 * MS);

	pid = fork();
	if (!pid)
		_exit(!!driver("unbind", VF(2)));
	EXPECT_TRUE(EVENTUALLY(waitpid(pid, NULL, WNOHANG) == pid));
	/* If not, let it go. */
	inject(VF(1), "stop_engines", "0");
	guest_close(&self->guest[1]);
	memset(&self->guest[1], 0, sizeof(self->guest[1]));
	EXPECT_EQ(0, driver("bind", VF(2)));
	ASSERT_EQ(0, guest_open(&self->guest[1], VF(2)));
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	EXPECT_TRUE(drained(self->guest[1].gfx));
}

/* Commands that fail cost one function a reset: bit 1 is IDLE, 2 SAVE, 3 LOAD, 4 RUN, 7 INIT. */
FIXTURE(blame) { FIXTURE_DATA(world) world; };
FIXTURE_VARIANT(blame) { const char *commands; bool outgoing, saved; };
FIXTURE_VARIANT_ADD(blame, idle) { .commands = "0x2", .outgoing = true, };
FIXTURE_VARIANT_ADD(blame, save) { .commands = "0x4", .outgoing = true, };
FIXTURE_VARIANT_ADD(blame, load) { .commands = "0x8", .outgoing = false, .saved = true, };
FIXTURE_VARIANT_ADD(blame, run) { .commands = "0x10", .outgoing = false, };
FIXTURE_VARIANT_ADD(blame, init) { .commands = "0x80", .outgoing = false, };

FIXTURE_SETUP(blame)
{
	if (geteuid() || access(DEVICE "drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(blame)
{
	EXPECT_EQ(0, world_end(&self->world));
}

/* Let the first function own the engines. @saved: the other one has registers to load. */
static bool first_one_begins(struct guest *guest, bool saved)
{
	/* What the other function loads later is saved when this one begins. */
	if (saved && (vf_queue_submit(guest[1].gfx) || !drained(guest[1].gfx)))
		return false;
	vf_cmd_draw(guest[0].gfx, 200, MS / 10);
	if (vf_queue_submit(guest[0].gfx) ||
	    !EVENTUALLY(queue_state(guest[0].gfx) == DRM_VFENCE_QUEUE_RUNNING))
		return false;
	/* Then the guilty function has work alone, and no switch to another one helps it. */
	return !saved || drained(guest[0].gfx);
}

/* On a slow machine a function may be reset before the call returns. The call then reports it. */
static bool submitted_before_a_reset(struct vf_queue *queue)
{
	int ret = vf_queue_submit(queue);

	return ret == 0 || (ret == -EIO && !deterministic());
}

TEST_F(blame, TDR_20_one_function_is_reset_and_no_other)
{
	struct guest *guest = self->world.guest;
	struct guest *guilty = &guest[!variant->outgoing], *innocent = &guest[variant->outgoing];
	int number = variant->outgoing ? 1 : 2;

	ASSERT_EQ(0, world_make(&self->world, 3));
	ASSERT_TRUE(first_one_begins(guest, variant->saved));
	ASSERT_EQ(0, inject(VF(number), "fail_world", variant->commands));
	vf_cmd_draw(guest[1].gfx, 100, MS / 10);
	ASSERT_TRUE(submitted_before_a_reset(guest[1].gfx));
	EXPECT_TRUE(drained(innocent->gfx));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(innocent->device));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(guilty->device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(1, stat_of(number, "gfx", "resets"));
	EXPECT_EQ(0, stat_of(3 - number, "gfx", "resets"));
	/* It works again, with a new device. */
	EXPECT_TRUE(working(guilty->adapter));
	ASSERT_EQ(0, vf_queue_submit(guest[2].gfx));
	EXPECT_TRUE(drained(guest[2].gfx));
}

/*
 * Slices of 6 ms, 50 us for an answer, 10 ms until a function that hangs is reset, and 10 ms at most
 * for that.
 */
TEST_F(world, TDR_19_the_worst_frame_beside_a_function_that_hangs)
{
	int64_t alone, beside;

	if (!deterministic())
		SKIP(return, "needs exact times");
	ASSERT_EQ(0, world_make(self, 3));
	ASSERT_EQ(0, configure_all("preempt_timeout_us", "10000"));
	vf_cmd_draw(self->guest[1].gfx, 4000, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	alone = longest_frame(&self->guest[2], 20);
	ASSERT_LT(0, alone);
	/* It does not leave the engine for another function. */
	ASSERT_EQ(0, hang_on(self->guest[0].gfx));
	beside = longest_frame(&self->guest[2], 20);
	ASSERT_LT(0, beside);
	TH_LOG("the longest frame took %lld us, and %lld us beside the hang",
	       (long long)alone / 1000, (long long)beside / 1000);
	/* The host looks in ticks, of 4 ms in a stock kernel. */
	if (counts_instructions())
		EXPECT_GE(alone + 26 * MS + MS / 20, beside);
	/* The hang was there. */
	EXPECT_LE(alone + 10 * MS, beside);
	EXPECT_TRUE(EVENTUALLY(vf_device_state(self->guest[0].device) == DRM_VFENCE_DEVICE_HUNG));
	EXPECT_EQ(1, stat_of(1, "gfx", "resets"));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[1].device));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[2].device));
}

/*
 * A queue that keeps another function off the engines is guilty, whoever resets its function. The
 * other clients of the function are told that they are innocent. It hangs again, with a new device:
 * the hangs of its process count.
 */
TEST_F(world, TDR_11_TDR_12_TDR_14_a_function_level_reset_blames_the_cause_alone)
{
	struct vf_device *device, *bystander;
	struct vf_queue *cause, *beside;
	unsigned int round, count = 0;
	int events = uevents();
	uint64_t blocked;
	char pid[32];

	ASSERT_LE(0, events);
	snprintf(pid, sizeof(pid), "PID=%d", getpid());
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("preempt_timeout_us", "10000"));
	/* Its own driver finds nothing: the host does. */
	ASSERT_EQ(0, tdr_configure(VF(1), "delay_ms", "60000"));
	ASSERT_EQ(0, tdr_configure(VF(1), "limit_count", "2"));
	blocked = counters(self->guest[0].adapter).processes_blocked;
	for (round = 1; round <= 2; round++) {
		ASSERT_EQ(0, vf_device_create(self->guest[0].adapter, &device));
		ASSERT_EQ(0, vf_queue_create(device, DRM_VFENCE_NODE_GFX, 4096, &cause));
		ASSERT_EQ(0, vf_device_create(self->guest[0].adapter, &bystander));
		ASSERT_EQ(0, vf_queue_create(bystander, DRM_VFENCE_NODE_COPY, 4096, &beside));
		vf_cmd_draw(beside, 10000, MS);
		ASSERT_EQ(0, vf_queue_submit(beside));
		ASSERT_EQ(0, hang_on(cause));
		ASSERT_TRUE(EVENTUALLY(queue_state(cause) == DRM_VFENCE_QUEUE_RUNNING));
		/* In another group of engines: the reset meets it at work. */
		ASSERT_TRUE(EVENTUALLY(queue_state(beside) == DRM_VFENCE_QUEUE_RUNNING));

		vf_cmd_draw(self->guest[1].gfx, 1, MS);
		ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
		EXPECT_TRUE(drained(self->guest[1].gfx));
		EXPECT_EQ(round, stat_of(1, "gfx", "resets"));
		EXPECT_TRUE(EVENTUALLY(vf_device_state(device) == DRM_VFENCE_DEVICE_HUNG));
		EXPECT_TRUE(EVENTUALLY(vf_device_state(bystander) != DRM_VFENCE_DEVICE_ACTIVE));
		/* The second hang blocks the process: that stops its devices that still work. */
		if (round == 1 || vf_device_state(bystander) != DRM_VFENCE_DEVICE_STOPPED)
			EXPECT_EQ(DRM_VFENCE_DEVICE_RESET, vf_device_state(bystander));
		EXPECT_EQ(DRM_VFENCE_QUEUE_GUILTY, queue_verdict(cause));
		EXPECT_EQ(DRM_VFENCE_QUEUE_GUILTY, context_verdict(cause));
		EXPECT_EQ(DRM_VFENCE_QUEUE_INNOCENT, queue_verdict(beside));
		EXPECT_EQ(DRM_VFENCE_QUEUE_INNOCENT, context_verdict(beside));
		EXPECT_TRUE(EVENTUALLY((count += told(events, "WEDGED=none", pid,
						      "SUBSYSTEM=drm")) == round));
		EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(self->guest[1].device));
		EXPECT_EQ(blocked + (round == 2),
			  counters(self->guest[0].adapter).processes_blocked);
		if (round == 1)
			EXPECT_TRUE(EVENTUALLY(working(self->guest[0].adapter)));
		vf_queue_destroy(cause);
		vf_queue_destroy(beside);
		vf_device_destroy(device);
		vf_device_destroy(bystander);
	}
	EXPECT_EQ(-EACCES, vf_device_create(self->guest[0].adapter, &device));
	close(events);
}

/* A time-out that is set while a switch waits without one ends the wait, too. */
TEST_F(world, VF_16_TDR_19_a_timeout_counts_for_a_switch_that_waits)
{
	ASSERT_EQ(0, world_make(self, 2));
	ASSERT_EQ(0, configure_all("preempt_timeout_us", "0"));
	/* Nothing else finds that the engine has stopped. */
	ASSERT_EQ(0, tdr_configure(VF(1), "delay_ms", "60000"));
	vf_cmd_draw(self->guest[0].gfx, 1, 3 * SECOND);
	ASSERT_EQ(0, vf_queue_submit(self->guest[0].gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(self->guest[0].gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(VF(1), "stop_engines", "1"));
	vf_cmd_draw(self->guest[1].gfx, 1, MS);
	ASSERT_EQ(0, vf_queue_submit(self->guest[1].gfx));
	EXPECT_EQ(-ETIME, vf_fence_wait(self->guest[0].fence, 1, vf_deadline(2 * SECOND)));
	EXPECT_FALSE(is_done(&self->guest[1]));
	EXPECT_EQ(0, configure("vf1/profile/preempt_timeout_us", "20000"));
	EXPECT_TRUE(drained(self->guest[1].gfx));
	EXPECT_EQ(1, stat_of(1, "gfx", "resets"));
	EXPECT_EQ(0, stat_of(2, "gfx", "resets"));
}

/* Give the host a fresh account of lines: it writes ten in ten seconds. */
static int host_begins_anew(void)
{
	int ret = driver("unbind", PHYSICAL);

	return ret ? ret : driver("bind", PHYSICAL);
}

TEST_F(blame, a_line_of_the_log_names_the_function_that_was_reset)
{
	struct guest *guest = self->world.guest;
	int number = variant->outgoing ? 1 : 2, log = kernel_log();
	char line[80];

	ASSERT_LE(0, log);
	ASSERT_EQ(0, host_begins_anew());
	ASSERT_EQ(0, world_make(&self->world, 2));
	ASSERT_TRUE(first_one_begins(guest, variant->saved));
	ASSERT_EQ(0, inject(VF(number), "fail_world", variant->commands));
	vf_cmd_draw(guest[1].gfx, 100, MS / 10);
	ASSERT_TRUE(submitted_before_a_reset(guest[1].gfx));
	snprintf(line, sizeof(line), "function %d was reset: it failed a switch of its engines", number);
	EXPECT_TRUE(EVENTUALLY(kernel_said(log, line)));
	close(log);
}

/*
 * A command of the switch fails for good: nobody knows whose work is on the engines. All functions
 * of the GPU are lost, other GPUs do not notice, and the functions can be removed.
 */
FIXTURE(broken) {
	FIXTURE_DATA(world) world;
};

FIXTURE_VARIANT(broken) {
	/* The function that fails, and its commands that fail, also after the reset of the GPU. */
	int number;
	const char *commands;
};

FIXTURE_VARIANT_ADD(broken, idle) { .number = 1, .commands = "0x20002" };
FIXTURE_VARIANT_ADD(broken, save) { .number = 1, .commands = "0x40004" };
FIXTURE_VARIANT_ADD(broken, init) { .number = 2, .commands = "0x800080" };
FIXTURE_VARIANT_ADD(broken, run) { .number = 2, .commands = "0x100010" };

FIXTURE_SETUP(broken)
{
	if (geteuid() || access(DEVICE "drm", F_OK))
		SKIP(return, "needs root and the adapters of the guests");
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, host_begins_anew());
}

FIXTURE_TEARDOWN(broken)
{
	EXPECT_EQ(0, world_end(&self->world));
	EXPECT_EQ(0, host_begins_anew());
}

TEST_F(broken, TDR_22_a_switch_that_fails_for_good_loses_all_functions)
{
	struct guest *guest = self->world.guest, physical = {}, elsewhere = {};
	int log[2] = { kernel_log(), kernel_log() };
	char line[80];
	unsigned int i;

	ASSERT_LE(0, log[1]);
	ASSERT_EQ(0, world_make(&self->world, 2));
	ASSERT_EQ(0, guest_open(&physical, PHYSICAL));
	ASSERT_EQ(0, guest_open(&elsewhere, 0));
	vf_cmd_draw(guest[0].gfx, 10000, MS / 10);
	ASSERT_EQ(0, vf_queue_submit(guest[0].gfx));
	ASSERT_TRUE(EVENTUALLY(queue_state(guest[0].gfx) == DRM_VFENCE_QUEUE_RUNNING));
	ASSERT_EQ(0, inject(VF(variant->number), "fail_adapter_reset", "1"));
	ASSERT_EQ(0, inject(VF(variant->number), "fail_world", variant->commands));
	vf_cmd_draw(guest[1].gfx, 1, MS);
	ASSERT_EQ(0, vf_queue_submit(guest[1].gfx));

	for (i = 0; i < 2; i++)
		EXPECT_TRUE(EVENTUALLY(vf_device_state(guest[i].device) !=
				       DRM_VFENCE_DEVICE_ACTIVE));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(physical.device) != DRM_VFENCE_DEVICE_ACTIVE));
	EXPECT_FALSE(working(guest[0].adapter));
	EXPECT_FALSE(working(guest[1].adapter));
	EXPECT_FALSE(working(physical.adapter));
	EXPECT_TRUE(working(elsewhere.adapter));
	snprintf(line, sizeof(line), "the whole GPU was reset: a reset of function %d failed or was not enough",
		 variant->number);
	EXPECT_TRUE(EVENTUALLY(kernel_said(log[0], line)));
	EXPECT_TRUE(EVENTUALLY(kernel_said(log[1], "all functions are lost: engine group 0 does not "
					   "switch")));
	guest_close(&physical);
	guest_close(&elsewhere);
	close(log[0]);
	close(log[1]);
}

/*
 * The function that failed cannot be reset alone, or its reset does not help: the whole GPU is reset, and
 * each function is told. Other adapters do not notice.
 */
static void whole_gpu_is_reset(struct __test_metadata *_metadata, FIXTURE_DATA(blame) *self,
			       const FIXTURE_VARIANT(blame) *variant, bool helps)
{
	struct guest *guest = self->world.guest, physical = {}, elsewhere = {};
	int number = variant->outgoing ? 1 : 2;
	char commands[16];
	unsigned int i;

	/* Those that fail after the reset of the function, too, are in the upper half. */
	snprintf(commands, sizeof(commands), "0x%lx",
		 strtoul(variant->commands, NULL, 0) * (helps ? 1 : 0x10001));
	ASSERT_EQ(0, world_make(&self->world, 3));
	ASSERT_EQ(0, guest_open(&physical, PHYSICAL));
	ASSERT_EQ(0, guest_open(&elsewhere, 0));
	ASSERT_TRUE(first_one_begins(guest, variant->saved));
	ASSERT_EQ(0, inject(VF(number), "fail_adapter_reset", helps ? "1" : "0"));
	ASSERT_EQ(0, inject(VF(number), "fail_world", commands));
	vf_cmd_draw(guest[1].gfx, 100, MS / 10);
	ASSERT_TRUE(submitted_before_a_reset(guest[1].gfx));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(EVENTUALLY(vf_device_state(guest[i].device) ==
				       DRM_VFENCE_DEVICE_RESET));
	EXPECT_TRUE(EVENTUALLY(vf_device_state(physical.device) == DRM_VFENCE_DEVICE_RESET));
	EXPECT_EQ(DRM_VFENCE_DEVICE_ACTIVE, vf_device_state(elsewhere.device));
	EXPECT_EQ(1, stat_of(-1, "gfx", "gpu_resets"));
	for (i = 1; i <= 3; i++)
		EXPECT_EQ(!helps && (int)i == number ? 2 : 1, stat_of((int)i, "gfx", "resets"));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(working(guest[i].adapter));
	EXPECT_TRUE(working(physical.adapter));
	guest_close(&elsewhere);
	guest_close(&physical);
}

TEST_F(blame, TDR_22_if_the_reset_of_a_function_fails_the_gpu_is_reset)
{
	whole_gpu_is_reset(_metadata, self, variant, true);
}

TEST_F(blame, TDR_22_if_the_reset_of_a_function_does_not_help_the_gpu_is_reset)
{
	if (variant->saved)
		SKIP(return, "a reset leaves nothing to load");
	whole_gpu_is_reset(_metadata, self, variant, false);
}

TEST_HARNESS_MAIN
