// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property tests of the policies that share the engines: the header from which the module is built,
 * compiled for user space. They run on the host, under ASan and UBSan.
 */

#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "vfence_policy.h"

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
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
	uint64_t window = VFENCE_POLICY_WINDOW_NS, now = 1000 * window;
	struct vfence_policy policy;

	vfence_policy_init(&policy, VFENCE_POLICY_ON_DEMAND, 0);
	vfence_policy_add(&policy, 0, 6000000);
	policy.function[0].cap_percent = 25;
	vfence_policy_own(&policy, 0, now - window / 4);
	vfence_policy_charge(&policy, window / 4, 0, now);
	EXPECT_EQ(0, policy_cap_left(&policy, &policy.function[0], now));
	EXPECT_EQ(0, policy_cap_left(&policy, &policy.function[0], now - 100));
	EXPECT_EQ(0, policy_cap_left(&policy, &policy.function[0], now));
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
