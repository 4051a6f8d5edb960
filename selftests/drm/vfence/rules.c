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
#include "vfence_policy.h"
#include "vfence_rules.h"
#include "vfence_timeout.h"
#include "vgpu_packet.h"
#include "vgpu_stop.h"
#include "vgpu_world.h"

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
			unsigned int within = 0;

			at[i] = now;
			vfence_timeout_note(&window, now);
			for (k = 0; k <= i; k++)
				within += now - at[k] <= config.limit_time_s * 1000ull;
			ASSERT_EQ(within >= config.limit_count,
				  vfence_timeout_blocks(&config, &window));
			ASSERT_EQ(within > config.limit_count,
				  vfence_timeout_ends_adapter(&config, &window));
			config.debug_mode = VFENCE_TIMEOUT_DEBUG_ALWAYS;
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
TEST(VF_05_only_legal_commands_change_the_state)
{
	static const struct {
		enum vgpu_world_state from;
		unsigned int command;
		enum vgpu_world_state to;
	} legal[] = {
		{ VGPU_WORLD_RUN, 0x1, VGPU_WORLD_IDLE },
		{ VGPU_WORLD_IDLE, 0x2, VGPU_WORLD_SAVED },
		{ VGPU_WORLD_SAVED, 0x3, VGPU_WORLD_LOADED },
		{ VGPU_WORLD_SAVED, 0x7, VGPU_WORLD_LOADED },
		{ VGPU_WORLD_SAVED, 0xd, VGPU_WORLD_SAVED },
		{ VGPU_WORLD_LOADED, 0x4, VGPU_WORLD_RUN },
	};
	unsigned int from, command, i;

	for (from = VGPU_WORLD_RUN; from <= VGPU_WORLD_LOADED; from++)
		for (command = 0; command < 256; command++) {
			int to = -1;

			for (i = 0; i < sizeof(legal) / sizeof(legal[0]); i++)
				if (legal[i].from == from && legal[i].command == command)
					to = (int)legal[i].to;
			ASSERT_EQ(to, vgpu_world_after(from, command));
		}
}

#define LONGEST_SLICE_NS	6100000

/* A policy beside functions whose work comes and goes at random. */
struct crowd {
	struct vfence_policy policy;
	unsigned int count;
	uint64_t now, waits_since[VFENCE_POLICY_FUNCTIONS];
	uint64_t had[VFENCE_POLICY_FUNCTIONS], longest_wait;
};

static void crowd_begin(struct crowd *c, unsigned int kind)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	c->count = 2 + next() % 16;
	c->now = 1000000000;
	vfence_policy_init(&c->policy, kind, next() % 2 ? 0 : 50000);
	for (i = 0; i < c->count; i++)
		vfence_policy_add(&c->policy, (int)i, 100000 + next() % (LONGEST_SLICE_NS - 100000));
}

/* Some time passes, in which the owner may run out of work. Return: what the policy decides. */
static struct vfence_policy_decision crowd_step(struct crowd *c, bool always_busy)
{
	unsigned int i = next() % c->count;
	uint64_t ns = next() % 500000;

	if (c->policy.owner >= 0) {
		vfence_policy_charge(&c->policy, ns, 0, c->now + ns);
		c->had[c->policy.owner] += ns;
	}
	c->now += ns;
	vfence_policy_set_busy(&c->policy, (int)i, always_busy || next() % 3, c->now);
	return vfence_policy_decide(&c->policy, c->now);
}

TEST(VF_23_29_no_policy_gives_engines_to_functions_without_work_unless_it_is_solid)
{
	unsigned int kind, round, i;
	struct crowd c;

	for (kind = 0; kind < VFENCE_POLICIES; kind++)
		for (round = 0; round < 200; round++) {
			crowd_begin(&c, kind);
			for (i = 0; i < 500; i++) {
				struct vfence_policy_decision d = crowd_step(&c, false);

				if (d.action == VFENCE_POLICY_KEEP) {
					/* A policy that yields keeps no idle owner beside work. */
					bool idle = c.policy.owner < 0 ||
						    !c.policy.function[c.policy.owner].busy;
					unsigned int k, others = 0;

					for (k = 0; k < c.count; k++)
						others += c.policy.function[k].busy;
					ASSERT_FALSE(idle && others &&
						     vfence_policies[kind].yields);
					continue;
				}
				ASSERT_NE(c.policy.owner, d.next);
				ASSERT_GT((int)c.count, d.next);
				if (d.next >= 0 && !vfence_policies[kind].solid)
					ASSERT_TRUE(c.policy.function[d.next].busy);
				vfence_policy_own(&c.policy, d.next, c.now);
			}
		}
}

static uint64_t crowd_debt(const struct crowd *c)
{
	uint64_t debt = 0;
	unsigned int i;

	for (i = 0; i < c->count; i++)
		debt += c->policy.function[i].owed_ns;
	return debt;
}

/*
 * Overrun of many slices, which a policy may take from the next ones, leaves no work alone.
 * Functions pay when another one gets the engines, and not for each decision.
 */
TEST(VF_36_a_debt_lets_no_function_wait_for_ever)
{
	unsigned int kind, round, i, k;
	struct crowd c;
	uint64_t debt;

	for (kind = 0; kind < VFENCE_POLICIES; kind++)
		for (round = 0; round < 200; round++) {
			crowd_begin(&c, kind);
			for (i = 0; i < 200; i++) {
				struct vfence_policy_decision d = crowd_step(&c, false);

				/* A function that waits has the next decision after one slice. */
				for (k = 0; d.action == VFENCE_POLICY_KEEP && k < c.count; k++)
					if ((int)k != c.policy.owner && c.policy.function[k].busy)
						ASSERT_GE(c.now + LONGEST_SLICE_NS, d.until);
				vfence_policy_charge(&c.policy, 0, next() % 100000000, c.now);
				if (d.action != VFENCE_POLICY_SWITCH)
					continue;
				for (k = 0; d.next < 0 && k < c.count; k++)
					ASSERT_FALSE(c.policy.function[k].busy);
				debt = crowd_debt(&c);
				d = vfence_policy_decide(&c.policy, c.now);
				ASSERT_EQ(VFENCE_POLICY_SWITCH, d.action);
				ASSERT_EQ(debt, crowd_debt(&c));
				vfence_policy_own(&c.policy, d.next, c.now);
				ASSERT_GE(debt, crowd_debt(&c));
			}
		}
}

/* A turn of exclusive access is nobody's turn in the circle: those before it keep their debts. */
TEST(VF_36_exclusive_access_takes_no_slices)
{
	struct vfence_policy_decision d;
	unsigned int round, i;
	struct crowd c;
	uint64_t debt;

	for (round = 0; round < 200; round++) {
		crowd_begin(&c, VFENCE_POLICY_FIXED);
		vfence_policy_own(&c.policy, 0, c.now);
		for (i = 0; i < c.count; i++) {
			vfence_policy_set_busy(&c.policy, (int)i, true, c.now);
			c.policy.function[i].owed_ns = 3 * c.policy.function[i].slice_ns;
		}
		debt = crowd_debt(&c);
		vfence_policy_set_alone(&c.policy, (int)c.count - 1, c.now);
		d = vfence_policy_decide(&c.policy, c.now);
		ASSERT_EQ(VFENCE_POLICY_SWITCH, d.action);
		vfence_policy_own(&c.policy, d.next, c.now);
		ASSERT_EQ(debt, crowd_debt(&c));
	}
}

/* The owner of the time before pays for it, as the host lets it pay. */
static void crowd_pay(struct crowd *c, uint64_t since)
{
	uint64_t end = c->policy.slice_end > since ? c->policy.slice_end : since;

	vfence_policy_charge(&c->policy, c->now - since, c->now > end ? c->now - end : 0, c->now);
}

/* One function alone, which works for a while and then has the engines for long without work. */
static void crowd_park(struct crowd *c, unsigned int kind, int x)
{
	struct vfence_policy_decision d;
	unsigned int i;

	crowd_begin(c, kind);
	for (i = 0; i < c->count; i++)
		c->policy.function[i].present = (int)i == x;
	c->policy.function[x].cap_percent = next() % 2 ? 0 : 50;
	vfence_policy_own(&c->policy, x, c->now);
	vfence_policy_set_busy(&c->policy, x, true, c->now);
	vfence_policy_set_busy(&c->policy, x, false, c->now);
	d = vfence_policy_decide(&c->policy, c->now);
	if (d.action != VFENCE_POLICY_KEEP || !c->policy.parked) {
		/* A solid policy lets it have its slice first. */
		c->now = c->policy.slice_end;
		vfence_policy_decide(&c->policy, c->now);
	}
}

/*
 * An owner that nobody else has kept from the engines pays nothing for the time without work: when all
 * others get work, it waits for each of them once, and no cap stops it.
 */
TEST(VF_33_an_owner_without_work_pays_nothing)
{
	unsigned int kind, round, i;
	uint64_t since, had, begun;
	struct crowd c;

	for (kind = 0; kind < VFENCE_POLICIES; kind++)
		for (round = 0; round < 200; round++) {
			int x = 1;

			crowd_park(&c, kind, x);
			since = c.now;
			c.now += 1 + next() % 10000000000;
			for (i = 0; i < c.count; i++) {
				c.policy.function[i].present = true;
				vfence_policy_set_busy(&c.policy, (int)i, true, c.now);
			}
			crowd_pay(&c, since);
			since = begun = had = c.now;
			while (c.now < begun + 4 * c.count * LONGEST_SLICE_NS) {
				struct vfence_policy_decision d = vfence_policy_decide(&c.policy, c.now);

				if (d.action == VFENCE_POLICY_SWITCH)
					vfence_policy_own(&c.policy, d.next, c.now);
				if (c.policy.owner == x)
					had = c.now;
				ASSERT_GE(had + 2 * c.count * LONGEST_SLICE_NS, c.now);
				c.now += 100000;
				crowd_pay(&c, since);
				since = c.now;
			}
		}
}

/* Exclusive access is no turn: however often one function has it, all others have turns between. */
TEST(VF_39_exclusive_access_again_and_again_takes_nobody_his_turn)
{
	unsigned int kind, round, i, had[VFENCE_POLICY_FUNCTIONS];
	struct vfence_policy_decision d;
	struct crowd c;
	uint64_t since;

	for (kind = 0; kind < VFENCE_POLICIES; kind++)
		for (round = 0; round < 200; round++) {
			int x;

			crowd_begin(&c, kind);
			x = (int)(round % c.count);
			memset(had, 0, sizeof(had));
			for (i = 0; i < c.count; i++) {
				c.policy.function[i].cap_percent = 0;
				vfence_policy_set_busy(&c.policy, (int)i, true, c.now);
			}
			vfence_policy_own(&c.policy, 0, c.now);
			for (i = 0; i < 2 * c.count; i++) {
				vfence_policy_set_alone(&c.policy, x, c.now);
				d = vfence_policy_decide(&c.policy, c.now);
				if (d.action == VFENCE_POLICY_SWITCH)
					vfence_policy_own(&c.policy, d.next, c.now);
				ASSERT_EQ(x, c.policy.owner);
				since = c.now;
				c.now += 1 + next() % 2000000;
				crowd_pay(&c, since);
				vfence_policy_set_alone(&c.policy, -1, c.now);
				d = vfence_policy_decide(&c.policy, c.now);
				if (d.action == VFENCE_POLICY_SWITCH)
					vfence_policy_own(&c.policy, d.next, c.now);
				had[c.policy.owner]++;
				/* Less than any slice. */
				since = c.now;
				c.now += 1 + next() % 50000;
				crowd_pay(&c, since);
			}
			for (i = 0; i < c.count; i++)
				ASSERT_TRUE(had[i] || (int)i == x);
		}
}

/* With exclusive access it keeps others from the engines, and pays, also for the time without work. */
TEST(VF_39_exclusive_access_is_paid_for_without_work)
{
	unsigned int kind, round;
	struct crowd c;
	uint64_t since;

	for (kind = 0; kind < VFENCE_POLICIES; kind++)
		for (round = 0; round < 200; round++) {
			struct vfence_policy_function *f = &c.policy.function[1];

			crowd_park(&c, kind, 1);
			since = c.now;
			c.now += 1 + next() % 10000000000;
			vfence_policy_set_alone(&c.policy, 1, c.now);
			/* Not for the time before. */
			crowd_pay(&c, since);
			ASSERT_EQ(0, f->vtime);
			since = c.now;
			c.now += 1 + next() % 1000000000;
			ASSERT_EQ(VFENCE_POLICY_KEEP, vfence_policy_decide(&c.policy, c.now).action);
			crowd_pay(&c, since);
			ASSERT_EQ(c.now - since, f->vtime);
			if (vfence_policies[kind].owes)
				ASSERT_EQ(c.now - since, f->owed_ns);
		}
}

/* A thread that asks a policy when to decide again gets some sleep, whatever the times are. */
TEST(no_policy_asks_for_a_decision_at_once)
{
	unsigned int kind, round, i;
	struct crowd c;

	for (kind = 0; kind < VFENCE_POLICIES; kind++)
		for (round = 0; round < 200; round++) {
			crowd_begin(&c, kind);
			c.policy.response_ns = next() % 100000000;
			for (i = 0; i < c.count; i++)
				c.policy.function[i].cap_percent = next() % 2 ? 0 : 1 + next() % 100;
			for (i = 0; i < 200; i++) {
				struct vfence_policy_decision d = crowd_step(&c, next() % 2);

				if (d.action == VFENCE_POLICY_SWITCH)
					vfence_policy_own(&c.policy, d.next, c.now);
				else
					ASSERT_LT(c.now, d.until);
			}
		}
}

/* Functions that always have work have equal parts, whatever their slices. */
TEST(VF_33_fair_policies_are_fair)
{
	static const unsigned int kinds[] = { VFENCE_POLICY_FAIR, VFENCE_POLICY_AHEAD };
	unsigned int k, i, n;
	struct crowd c;

	for (k = 0; k < 2; k++) {
		double sum = 0, squares = 0;

		crowd_begin(&c, kinds[k]);
		for (i = 0; i < c.count; i++)
			vfence_policy_set_busy(&c.policy, (int)i, true, c.now);
		for (n = 0; n < 400000; n++) {
			struct vfence_policy_decision d = crowd_step(&c, true);

			if (d.action == VFENCE_POLICY_SWITCH)
				vfence_policy_own(&c.policy, d.next, c.now);
		}
		for (i = 0; i < c.count; i++) {
			sum += (double)c.had[i];
			squares += (double)c.had[i] * (double)c.had[i];
		}
		EXPECT_LE(0.999, sum * sum / (c.count * squares));
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

/* The response time counts from the choice of the next owner. */
TEST(ahead_lets_the_chosen_function_follow_at_once)
{
	const uint64_t response = 50000, slice = 6000000;
	uint64_t now = 1000000000, waited;
	struct vfence_policy_decision d;
	struct vfence_policy policy;

	for (waited = 0; waited <= 3 * response; waited += response / 2) {
		vfence_policy_init(&policy, VFENCE_POLICY_AHEAD, response);
		vfence_policy_add(&policy, 1, slice);
		vfence_policy_add(&policy, 2, slice);
		vfence_policy_set_busy(&policy, 1, true, now);
		vfence_policy_own(&policy, 1, now);
		vfence_policy_set_busy(&policy, 2, true, now + slice - waited);
		vfence_policy_charge(&policy, slice, 0, now + slice);
		/* At the end of the slice, and if the owner yields. */
		d = vfence_policy_decide(&policy, now + slice);
		ASSERT_EQ(VFENCE_POLICY_SWITCH, d.action);
		EXPECT_EQ(2, d.next);
		EXPECT_EQ(waited < response ? waited : response, d.lead_ns);
		vfence_policy_set_busy(&policy, 1, false, now + slice);
		d = vfence_policy_decide(&policy, now + slice);
		EXPECT_EQ(2, d.next);
		EXPECT_EQ(waited < response ? waited : response, d.lead_ns);
		/* As of a time before the choice there is no choice. */
		EXPECT_EQ(0, policy_lead(&policy, 2, now + slice - waited - 1));
	}
	vfence_policy_set_kind(&policy, VFENCE_POLICY_FAIR);
	EXPECT_EQ(0, vfence_policy_decide(&policy, now + slice).lead_ns);
}

/* The host decides as of the time when a thread should have woken up: that may go back a little. */
TEST(VF_37_a_cap_holds_when_the_time_goes_back)
{
	uint64_t window = VFENCE_POLICY_BUCKETS * VFENCE_POLICY_BUCKET_NS, now = 1000 * window;
	struct vfence_policy policy;

	vfence_policy_init(&policy, VFENCE_POLICY_ON_DEMAND, 0);
	vfence_policy_add(&policy, 0, 6000000);
	policy.function[0].cap_percent = 25;
	vfence_policy_own(&policy, 0, now - window / 4);
	vfence_policy_charge(&policy, window / 4, 0, now);
	EXPECT_EQ(0, policy_cap_left(&policy.function[0], now));
	EXPECT_EQ(0, policy_cap_left(&policy.function[0], now - 100));
	EXPECT_EQ(0, policy_cap_left(&policy.function[0], now));
}

/*
 * A function with a cap never has more than that of any 100 ms, by more than a slice's tenth. A slice
 * may be longer than all that the cap allows.
 */
TEST(VF_37_a_cap_holds)
{
	static const uint64_t slices[] = { 1000000, 500000000 };
	uint64_t used[1000] = { 0 };
	unsigned int k, i;

	for (k = 0; k < 2 * VFENCE_POLICIES; k++) {
		unsigned int kind = k / 2;
		struct vfence_policy policy;
		uint64_t now = 1000000000, window;

		memset(used, 0, sizeof(used));
		vfence_policy_init(&policy, kind, 0);
		vfence_policy_add(&policy, 0, slices[k % 2]);
		policy.function[0].cap_percent = 25;
		vfence_policy_set_busy(&policy, 0, true, now);
		/* Steps of 1 ms. */
		for (i = 0; i < 1000; i++, now += 1000000) {
			struct vfence_policy_decision d = vfence_policy_decide(&policy, now);

			if (d.action == VFENCE_POLICY_SWITCH)
				vfence_policy_own(&policy, d.next, now);
			if (!policy.owner) {
				vfence_policy_charge(&policy, 1000000, 0, now + 999999);
				used[i] = 1;
			}
		}
		for (i = 0, window = 0; i < 1000; i++) {
			window += used[i];
			if (i >= 100)
				window -= used[i - 100];
			/* The parts of the window have 5 ms. */
			ASSERT_GE(25 + 5, window);
		}
		EXPECT_LT(100, window * 5);
	}
}

TEST_HARNESS_MAIN
