// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property tests of the pure headers: the lines of code from which the module is built,
 * compiled for user space. They run on the host, under ASan and UBSan.
 */

#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "vfence_feature.h"
#include "vfence_guard.h"
#include "vfence_loss_state.h"
#include "vfence_rules.h"
#include "vfence_timeout.h"
#include "vfence_victim.h"
#include "vgpu_packet.h"
#include "vgpu_stop.h"
#include "vgpu_vf_switch.h"

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Return: a random value, often at an edge or next to one. */
static uint64_t edgy(void)
{
	static const uint64_t edge[] = { 0, 1, UINT32_MAX, (uint64_t)UINT32_MAX + 1,
					 INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX };
	uint64_t r = next();

	return r % 4 ? edge[r / 4 % 7] + r / 28 % 5 - 2 : next();
}

TEST(WDDM_5_9_10_interrupt_iff_the_least_waiter_is_satisfied)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++) {
		uint64_t value = edgy(), least = edgy();

		if (!least)
			continue;
		ASSERT_EQ(vfence_reached(value, least),
			  vfence_must_interrupt(value, vfence_monitored(least)));
	}
}

TEST(WDDM_6_nothing_exceeds_the_value_of_no_waiter)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		ASSERT_FALSE(vfence_must_interrupt(edgy(), VFENCE_NOT_MONITORED));
}

TEST(WDDM_48_49_50_negotiation)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++) {
		uint64_t r = next();
		struct vfence_feature_os os = {
			.enabled = r & 1, .allow_experimental = r & 2,
			.versions = { 1 + (r >> 8) % 4, (r >> 16) % 6 },
		};
		struct vfence_feature_support hw = {
			.supported = r & 4, .on_current_config = r & 8, .experimental = r & 16,
			.versions = { 1 + (r >> 24) % 4, (r >> 32) % 6 },
		};
		bool needs = r & 32, common = false;
		struct vfence_feature_result got = vfence_feature_negotiate(&os, &hw, needs);
		uint32_t v, best = 0;

		/* The definition is the highest version that both support. */
		for (v = 1; v < 10; v++) {
			if (v < os.versions.min || v > os.versions.max ||
			    v < hw.versions.min || v > hw.versions.max)
				continue;
			common = true;
			best = v;
		}
		ASSERT_EQ(hw.supported && (!hw.experimental || os.allow_experimental),
			  got.supported);
		ASSERT_EQ(got.supported && hw.on_current_config, got.on_current_config);
		ASSERT_EQ(os.enabled && needs && common && got.on_current_config, got.enabled);
		ASSERT_EQ(got.enabled ? best : 0, got.version);
	}
}

TEST(WDDM_128_a_half_value_means_the_nearest_one)
{
	uint64_t i;

	for (i = 0; i < 1000000; i++) {
		uint64_t near = next() >> (next() % 60);
		int64_t delta = (int64_t)(next() % 0xffffffff) - 0x7fffffff;

		if (delta < 0 && near < (uint64_t)-delta)
			continue;
		ASSERT_EQ(near + delta, vfence_widen(near, (uint32_t)(near + delta)));
	}
	/* A value cannot be widened to less than 0. */
	EXPECT_EQ(0xffffffff, vfence_widen(5, 0xffffffff));
	EXPECT_EQ(0x80000005, vfence_widen(4, 0x80000005));
	EXPECT_EQ(UINT64_C(0x100000000), vfence_widen(0xffffffff, 0));
}

TEST(WDDM_52_overrides_only_narrow)
{
	struct vfence_versions offered = { 1, 3 };
	struct vfence_versions none = { 0, 0 }, narrow = { 2, 2 }, same = { 1, 3 };
	struct vfence_versions wide = { 1, 4 }, low = { 0, 3 }, only_max = { 0, 2 };
	struct vfence_versions only_min = { 2, 0 }, crossed = { 3, 2 };

	EXPECT_TRUE(vfence_feature_override(&offered, &none));
	EXPECT_TRUE(vfence_feature_override(&offered, &narrow));
	EXPECT_TRUE(vfence_feature_override(&offered, &same));
	EXPECT_FALSE(vfence_feature_override(&offered, &wide));
	EXPECT_FALSE(vfence_feature_override(&offered, &low));
	/* Both ends must be given together. */
	EXPECT_FALSE(vfence_feature_override(&offered, &only_max));
	EXPECT_FALSE(vfence_feature_override(&offered, &only_min));
	EXPECT_FALSE(vfence_feature_override(&offered, &crossed));
}

TEST(WDDM_94_log_positions_count_every_entry_once)
{
	uint32_t entries;
	uint64_t i;

	for (entries = 1; entries < 200; entries++) {
		uint64_t word = 0;

		for (i = 0; i < 1000; i++) {
			ASSERT_EQ(i, vfence_log_position(word, entries));
			ASSERT_EQ(i % entries, vfence_log_index(word));
			word = vfence_log_advance(word, entries);
		}
	}
}

TEST(packets_that_pass_the_checks_are_within_bounds)
{
	unsigned int i, passed = 0;

	for (i = 0; i < 2000000; i++) {
		union vgpu_packet p;
		__u64 available = next() % 80, va;
		bool user_mode = next() % 2;
		unsigned int k;

		for (k = 0; k < sizeof(p) / 8; k++)
			p.words[k] = edgy();
		p.header.opcode = next() % 14;
		p.header.length = next() % 4 ? vgpu_packet_length(p.header.opcode) : next() % 80;
		p.header.flags = next() % 4 == 0;
		if (vgpu_packet_check_header(&p.header, available, user_mode))
			continue;
		ASSERT_TRUE(vgpu_packet_of_queue(p.header.opcode, user_mode));
		ASSERT_LE(8, p.header.length);
		ASSERT_GE(64, p.header.length);
		ASSERT_LE(p.header.length, available);
		ASSERT_EQ(0, p.header.length % 8);
		ASSERT_EQ(0, p.header.flags);
		if (vgpu_packet_check_body(&p, &va))
			continue;
		passed++;
		if (p.header.opcode == DRM_VFENCE_OP_COPY) {
			ASSERT_GE(DRM_VFENCE_MAX_BO_SIZE, p.copy.size);
			ASSERT_EQ(0, (p.copy.size | p.copy.src_va | p.copy.dst_va) % 4);
			ASSERT_GT(DRM_VFENCE_VA_LIMIT, p.copy.src_va);
			ASSERT_GT(DRM_VFENCE_VA_LIMIT, p.copy.dst_va);
		}
		if (p.header.opcode == DRM_VFENCE_OP_MONITORED_SIGNAL) {
			ASSERT_FALSE(user_mode);
			ASSERT_EQ(0, p.monitored.current_va % 8);
		}
		if (p.header.opcode == DRM_VFENCE_OP_SET_REGISTER ||
		    p.header.opcode == DRM_VFENCE_OP_READ_REGISTER)
			ASSERT_GT(DRM_VFENCE_REGISTERS, p.reg.index);
		if (p.header.opcode == DRM_VFENCE_OP_DRAW) {
			ASSERT_LT(0, p.draw.count);
			ASSERT_GE(VGPU_DRAW_MAX_NS, p.draw.duration_ns);
		}
	}
	EXPECT_LT(10000, passed);
}

/* An engine may stop wherever it could for a lesser reason, and for an abort anywhere. */
TEST(engines_stop_between_draws_at_once_or_between_jobs)
{
	static const bool turn[4][4] = {
		[DRM_VFENCE_NODE_GFX] = { true, true, false, false },
		[DRM_VFENCE_NODE_COMPUTE] = { true, true, false, false },
		[DRM_VFENCE_NODE_COPY] = { true, true, true, false },
		[DRM_VFENCE_NODE_MM] = { true, false, false, false },
	};
	unsigned int class_id, work;

	for (class_id = 0; class_id < 4; class_id++) {
		for (work = VGPU_WORK_NONE; work <= VGPU_WORK_STUCK; work++)
			EXPECT_EQ(turn[class_id][work], vgpu_stop_allowed(class_id, work));
	}
}

TEST(WDDM_165_levels_and_debug_modes)
{
	static const enum vfence_timeout_action normal[4] = {
		VFENCE_TIMEOUT_IGNORE, VFENCE_TIMEOUT_FATAL, 0, VFENCE_TIMEOUT_RECOVER,
	};
	struct vfence_timeout_config config = VFENCE_TIMEOUT_DEFAULTS;
	unsigned int level, mode;

	EXPECT_EQ(VFENCE_TIMEOUT_RECOVER, vfence_timeout_decide(&config));
	for (level = 0; level < 6; level++) {
		EXPECT_EQ(level < 4 && level != 2, vfence_timeout_level_valid(level));
		for (mode = 0; mode < 6; mode++) {
			EXPECT_EQ(mode > 0 && mode < 4, vfence_timeout_debug_mode_valid(mode));
			if (!vfence_timeout_level_valid(level) ||
			    !vfence_timeout_debug_mode_valid(mode))
				continue;
			config.level = level;
			config.debug_mode = mode;
			EXPECT_EQ(mode == VFENCE_TIMEOUT_DEBUG_IGNORE ? VFENCE_TIMEOUT_IGNORE :
				  normal[level], vfence_timeout_decide(&config));
		}
	}
}

TEST(WDDM_142_a_delay_is_a_time_that_a_timer_can_have)
{
	unsigned int i;

	EXPECT_FALSE(vfence_timeout_delay_ms_valid(0));
	EXPECT_TRUE(vfence_timeout_delay_ms_valid(1));
	EXPECT_TRUE(vfence_timeout_delay_ms_valid(VFENCE_TIMEOUT_MAX_DELAY_MS));
	for (i = 0; i < 100000; i++) {
		uint32_t delay = edgy();

		ASSERT_EQ(delay && delay <= VFENCE_TIMEOUT_MAX_DELAY_MS,
			  vfence_timeout_delay_ms_valid(delay));
	}
}

TEST(WDDM_142_an_engine_is_late_after_the_delay_and_not_before)
{
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		uint32_t delay = 1 + next() % VFENCE_TIMEOUT_MAX_DELAY_MS;
		uint64_t asked = next(), ns = delay * 1000000ull, before = next() % ns;

		ASSERT_EQ(ns - before, vfence_timeout_left(delay, asked, asked + before));
		ASSERT_EQ(1, vfence_timeout_left(delay, asked, asked + ns - 1));
		ASSERT_EQ(0, vfence_timeout_left(delay, asked, asked + ns));
		ASSERT_EQ(0, vfence_timeout_left(delay, asked, asked + ns + before));
	}
}

TEST(WDDM_150_TDR_05_the_aborted_id_is_the_last_completed_one_or_the_one_on_the_engine)
{
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		/* The ids in between were preempted. */
		uint64_t completed = next() % 10, between = next() % 3;
		uint64_t turn = next() % 2 ? completed + between + 1 : 0;
		uint64_t aborted = next() % 15;
		bool valid = vfence_timeout_aborted_valid(completed, turn, aborted);

		ASSERT_EQ(!(aborted < completed || (aborted > completed && aborted != turn)),
			  valid);
	}
}

/* The reference keeps all times and counts those that are within the limit. */
TEST(WDDM_163_164_hangs_count_that_are_within_the_time)
{
	struct vfence_timeout_config config = VFENCE_TIMEOUT_DEFAULTS;
	unsigned int round, i, k;

	for (round = 0; round < 2000; round++) {
		struct vfence_timeout_window window = { 0 };
		uint64_t now = next() % 1000, at[100];

		config.limit_count = 1 + next() % VFENCE_TIMEOUT_MAX_HANGS;
		config.limit_time_s = 1 + next() % 10;
		for (i = 0; i < 100; i++) {
			unsigned int within = 0, taken_ms;
			uint64_t expected;

			at[i] = now;
			vfence_timeout_note(&window, now);
			for (k = 0; k <= i; k++)
				within += now - at[k] <= config.limit_time_s * 1000ull;
			ASSERT_EQ(within >= config.limit_count,
				  vfence_timeout_blocks(&config, &window));
			ASSERT_EQ(within > config.limit_count,
				  vfence_timeout_ends_adapter(&config, &window));
			taken_ms = 1 + next() % 3000;
			expected = (uint64_t)taken_ms << (within > 5 ? 4 : within - 1);
			ASSERT_EQ(expected < 10000 ? expected : 10000,
				  vfence_timeout_throttle_ms(&config, &window, taken_ms));
			config.debug_mode = VFENCE_TIMEOUT_DEBUG_ALWAYS;
			ASSERT_EQ(0, vfence_timeout_throttle_ms(&config, &window, taken_ms));
			ASSERT_FALSE(vfence_timeout_blocks(&config, &window));
			ASSERT_FALSE(vfence_timeout_ends_adapter(&config, &window));
			config.debug_mode = VFENCE_TIMEOUT_DEBUG_NORMAL;
			now += next() % 4 ? next() % 500 : next() % 5000;
		}
	}
	EXPECT_FALSE(vfence_timeout_limit_count_valid(0));
	EXPECT_TRUE(vfence_timeout_limit_count_valid(VFENCE_TIMEOUT_MAX_HANGS));
	EXPECT_FALSE(vfence_timeout_limit_count_valid(VFENCE_TIMEOUT_MAX_HANGS + 1));
	EXPECT_FALSE(vfence_timeout_limit_time_s_valid(0));
	EXPECT_TRUE(vfence_timeout_limit_time_s_valid(VFENCE_TIMEOUT_MAX_TIME_S));
	EXPECT_FALSE(vfence_timeout_limit_time_s_valid(VFENCE_TIMEOUT_MAX_TIME_S + 1));
}

/* The table of the contract: all other commands are refused in all other states. */
TEST(WDDM_173_205_the_first_cause_of_a_loss_stays)
{
	const enum drm_vfence_device_state active = DRM_VFENCE_DEVICE_ACTIVE;
	struct vfence_loss_causes causes;
	unsigned int others, own;

	for (others = 0; others < 8; others++) {
		enum drm_vfence_device_state none = others & 1 ? DRM_VFENCE_DEVICE_RESET :
						    others ? DRM_VFENCE_DEVICE_STOPPED : active;

		causes.reset = others & 1;
		causes.lost = others & 2;
		causes.blocked = others & 4;
		for (own = active; own <= DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT; own++) {
			enum drm_vfence_device_state is = own == active ? none : own;

			causes.own = own;
			EXPECT_EQ(is, vfence_loss_state(&causes));
			/* Fences of a lost adapter keep their values. */
			EXPECT_EQ(is != active &&
				  (is != DRM_VFENCE_DEVICE_STOPPED || causes.blocked),
				  vfence_loss_removes(&causes));
		}
	}
}

TEST(one_submission_of_a_lost_device_gets_the_reason)
{
	static const struct {
		struct vfence_loss_causes causes;
		struct vfence_loss_queue queue;
		int error;
	} cases[] = {
		{ { .own = DRM_VFENCE_DEVICE_HUNG }, { .guilty = true }, -ETIME },
		{ { .own = DRM_VFENCE_DEVICE_HUNG }, { .faulted = true, .preemption = true },
		  -ETIME },
		{ { .own = DRM_VFENCE_DEVICE_HUNG }, {}, -ECANCELED },
		{ { .own = DRM_VFENCE_DEVICE_ERROR_DMAFAULT }, { .faulted = true }, -EIO },
		{ { .own = DRM_VFENCE_DEVICE_ERROR_DMAFAULT }, { .preemption = true },
		  -ECANCELED },
		{ { .own = DRM_VFENCE_DEVICE_ACTIVE, .reset = true }, {}, -ECANCELED },
		{ { .own = DRM_VFENCE_DEVICE_ACTIVE, .blocked = true }, {}, -ECANCELED },
		{ { .own = DRM_VFENCE_DEVICE_ACTIVE, .blocked = true }, { .guilty = true },
		  -ETIME },
		{ { .own = DRM_VFENCE_DEVICE_ACTIVE, .lost = true }, { .guilty = true },
		  -ENODEV },
		{ { .own = DRM_VFENCE_DEVICE_ACTIVE, .lost = true, .blocked = true }, {},
		  -ENODEV },
		/* The unplug of an adapter is no cause: it writes the state. */
		{ { .own = DRM_VFENCE_DEVICE_STOPPED }, {}, -ENODEV },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		EXPECT_EQ(cases[i].error, vfence_loss_error(&cases[i].causes, &cases[i].queue)) {
			TH_LOG("case %u", i);
		}
}

TEST(VF_05_only_legal_commands_change_the_state)
{
	static const struct {
		enum vgpu_vf_switch_state from;
		unsigned int command;
		enum vgpu_vf_switch_state to;
	} legal[] = {
		{ VGPU_VF_SWITCH_RUN, 0x1, VGPU_VF_SWITCH_IDLE },
		{ VGPU_VF_SWITCH_IDLE, 0x2, VGPU_VF_SWITCH_SAVED },
		{ VGPU_VF_SWITCH_SAVED, 0x3, VGPU_VF_SWITCH_LOADED },
		{ VGPU_VF_SWITCH_SAVED, 0x7, VGPU_VF_SWITCH_LOADED },
		{ VGPU_VF_SWITCH_SAVED, 0xd, VGPU_VF_SWITCH_SAVED },
		{ VGPU_VF_SWITCH_LOADED, 0x4, VGPU_VF_SWITCH_RUN },
	};
	unsigned int from, command, i;

	for (from = VGPU_VF_SWITCH_RUN; from <= VGPU_VF_SWITCH_LOADED; from++)
		for (command = 0; command < 256; command++) {
			int to = -1;

			for (i = 0; i < sizeof(legal) / sizeof(legal[0]); i++)
				if (legal[i].from == from && legal[i].command == command)
					to = (int)legal[i].to;
			ASSERT_EQ(to, vgpu_vf_switch_after(from, command));
		}
}

/* No window of a guard, wherever it begins, has more events than its limit; and no event is lost. */
TEST(VF_38_no_window_has_more_events_than_the_limit)
{
	static struct vfence_guard guard;
	static uint64_t at[4096];
	unsigned int round, i;

	for (round = 0; round < 200; round++) {
		uint64_t now = next() % 1000000000, window = (1 + next() % 50) * 1000000;
		unsigned int count = 0, first = 0, sent = 500;

		guard = (struct vfence_guard){ .limit = {
			.events = 1 + next() % VFENCE_GUARD_EVENTS, .window_ms = window / 1000000,
		} };
		for (i = 0; i < sent; i++) {
			bool full = vfence_guard_is_full(&guard, now);

			while (first < count && now - at[first] >= window)
				first++;
			/* It drops an event if and only if the window has the limit already. */
			ASSERT_EQ(count - first >= guard.limit.events, full);
			ASSERT_EQ(!full, vfence_guard_admit(&guard, now));
			if (!full)
				at[count++] = now;
			now += next() % 4000000;
		}
		ASSERT_EQ(sent, guard.admitted + guard.dropped);
		ASSERT_EQ(count, guard.admitted);
		/* Without a limit all pass. */
		guard.limit.events = 0;
		ASSERT_TRUE(vfence_guard_admit(&guard, now));
	}
}

#define DOORBELLS	6
#define PROCESSES	9

/* Physical doorbells that move between processes, as the driver moves them. */
struct bells {
	struct vfence_victim_owner process[PROCESSES];
	struct vfence_victim bell[DOORBELLS];
	uint64_t grants, now;
};

/* Return: the doorbell that process @p gets, or -1 if it has to wait. */
static int bell_take(struct bells *b, int p)
{
	struct vfence_victim_owner *asks = &b->process[p];
	bool given = true;
	int i, best = -1;

	for (i = 0; i < DOORBELLS; i++)
		if (!b->bell[i].owner) {
			given = false;
			best = i;
		}
	for (i = 0; i < DOORBELLS && given; i++)
		if (vfence_victim_may_give(b->bell[i].owner, asks) &&
		    !vfence_victim_is_kept(&b->bell[i], asks, b->now) &&
		    (best < 0 || vfence_victim_is_before(&b->bell[i], &b->bell[best])))
			best = i;
	if (best < 0)
		return -1;
	if (given)
		vfence_victim_give((struct vfence_victim_owner *)b->bell[best].owner, asks);
	vfence_victim_grant(asks, given, b->now);
	b->bell[best] = (struct vfence_victim){
		.owner = asks, .idle = next() % 2, .granted_at = ++b->grants,
	};
	return best;
}

static void bell_drop(struct bells *b, int i)
{
	if (!b->bell[i].owner)
		return;
	vfence_victim_lose((struct vfence_victim_owner *)b->bell[i].owner, false);
	b->bell[i].owner = NULL;
}

TEST(no_process_takes_a_doorbell_from_one_with_less_than_its_share)
{
	unsigned int round, step, k;

	for (round = 0; round < 2000; round++) {
		struct bells b = { .now = 1 };
		unsigned int processes = 1 + next() % PROCESSES;

		for (step = 0; step < 200; step++) {
			unsigned int before[PROCESSES], alive = 0;
			int p = next() % processes;

			b.now += next() % 3000000;
			if (next() % 16 == 0)
				bell_drop(&b, next() % DOORBELLS);
			for (k = 0; k < processes; k++) {
				before[k] = b.process[k].held;
				alive += before[k] || k == p;
			}
			bell_take(&b, p);
			for (k = 0; k < processes; k++) {
				if (b.process[k].held >= before[k])
					continue;
				/* The share rounds down: what is left is of those that ask first. */
				ASSERT_LT(DOORBELLS / alive, before[k] + !before[p]);
				ASSERT_LE(before[p] + 1, b.process[p].held);
			}
		}
	}
}

TEST(a_process_has_a_doorbell_for_a_minimum_time_and_others_get_it_then)
{
	struct bells b = { .now = 1000 };
	int p;

	for (p = 0; p < DOORBELLS; p++)
		ASSERT_LE(0, bell_take(&b, p));
	b.now += VFENCE_VICTIM_KEEP_NS - 1;
	EXPECT_EQ(-1, bell_take(&b, DOORBELLS));
	/* To give one to itself does not begin the time anew. */
	EXPECT_LE(0, bell_take(&b, 0));
	EXPECT_EQ(-1, bell_take(&b, DOORBELLS));
	b.now++;
	EXPECT_LE(0, bell_take(&b, DOORBELLS));
	/* The new one is kept as long, and the next process gets that of another one. */
	EXPECT_LE(0, bell_take(&b, DOORBELLS + 1));
	EXPECT_EQ(1, b.process[DOORBELLS].held);
	EXPECT_EQ(1, b.process[DOORBELLS + 1].held);
}

TEST(the_process_with_most_doorbells_gives_and_idle_and_old_ones_first)
{
	struct vfence_victim_owner rich = { .held = 4, .since = 1 }, poor = { .held = 2, .since = 1 };
	struct vfence_victim_owner equal = { .held = 3, .since = 1 }, none = { 0 };
	struct vfence_victim a = { &rich, false, 9 }, b = { &poor, true, 1 };

	EXPECT_TRUE(vfence_victim_may_give(&rich, &poor));
	EXPECT_FALSE(vfence_victim_may_give(&rich, &equal));
	EXPECT_FALSE(vfence_victim_may_give(&poor, &rich));
	EXPECT_TRUE(vfence_victim_may_give(&rich, &rich));
	EXPECT_TRUE(vfence_victim_may_give(&poor, &none));
	EXPECT_TRUE(vfence_victim_is_before(&a, &b));
	EXPECT_FALSE(vfence_victim_is_before(&b, &a));
	/* What is coming counts: many requests at once get no more than one after the other. */
	none.coming = 3;
	EXPECT_FALSE(vfence_victim_may_give(&rich, &none));
	b.owner = &rich;
	EXPECT_TRUE(vfence_victim_is_before(&b, &a));
	b.idle = false;
	EXPECT_TRUE(vfence_victim_is_before(&b, &a));
	a.granted_at = 0;
	EXPECT_TRUE(vfence_victim_is_before(&a, &b));
	/* Only the last one of another process is kept. */
	EXPECT_FALSE(vfence_victim_is_kept(&a, &none, 2));
	rich.held = 1;
	EXPECT_TRUE(vfence_victim_is_kept(&a, &none, 2));
	EXPECT_FALSE(vfence_victim_is_kept(&a, &rich, 2));
}

TEST_HARNESS_MAIN
