// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property tests of the policies that share the engines: the header from which the module is built,
 * compiled for user space. They run on the host, under ASan and UBSan.
 */

#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "vfence_bucket.h"
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

TEST(VF_37_a_cap_holds_at_once)
{
	uint64_t ms = 1000000, now = 1000 * VFENCE_POLICY_WINDOW_NS;
	struct vfence_policy_decision decision;
	struct vfence_policy policy;

	vfence_policy_init(&policy, VFENCE_POLICY_ON_DEMAND, 0);
	vfence_policy_add(&policy, 0, 200 * ms);
	policy.function[0].busy = true;
	vfence_policy_own(&policy, 0, now);
	decision = vfence_policy_decide(&policy, now);
	EXPECT_EQ(now + 200 * ms, decision.until);
	now += 10 * ms;
	vfence_policy_charge(&policy, 10 * ms, 0, now);
	policy.function[0].cap_percent = 25;
	vfence_policy_cap_changed(&policy, 0, now);
	decision = vfence_policy_decide(&policy, now);
	EXPECT_EQ(VFENCE_POLICY_KEEP, decision.action);
	EXPECT_EQ(now + 15 * ms, decision.until);
	/* A cap that it has used up already. */
	policy.function[0].cap_percent = 5;
	vfence_policy_cap_changed(&policy, 0, now);
	EXPECT_EQ(VFENCE_POLICY_SWITCH, vfence_policy_decide(&policy, now).action);
}

/* Times in which function 0 has had the engines. */
static struct {
	uint64_t begun, ended;
} turn[20000];
static unsigned int turns;

/* The host: the owner goes on until the next decision, and in the response time. */
static void capped_run(struct vfence_policy *policy, uint64_t *now, uint64_t until)
{
	if (policy->owner == 0) {
		turn[turns].begun = *now;
		turn[turns++].ended = until;
	}
	vfence_policy_charge(policy, until - *now, 0, until);
	*now = until;
}

/* Function 0 has a cap and a lot of work, and so has its neighbour, if there is one. */
static void capped_host(struct vfence_policy *policy, uint64_t begun, uint64_t end)
{
	uint64_t now = begun;

	for (turns = 0; now < end && turns < sizeof(turn) / sizeof(turn[0]) - 2;) {
		struct vfence_policy_decision d = vfence_policy_decide(policy, now);

		if (d.action == VFENCE_POLICY_KEEP) {
			capped_run(policy, &now, d.until < end ? d.until : end);
			continue;
		}
		capped_run(policy, &now, now + policy->response_ns - d.lead_ns);
		d = vfence_policy_decide(policy, now);
		if (d.action == VFENCE_POLICY_SWITCH)
			vfence_policy_own(policy, d.next, now);
	}
}

/* Return: the most that function 0 has had in any 100 ms: such a time begins where a turn begins. */
static uint64_t most_of_a_window(void)
{
	uint64_t most = 0, had, end;
	unsigned int i, k;

	for (i = 0; i < turns; i++) {
		end = turn[i].begun + VFENCE_POLICY_WINDOW_NS;
		for (k = i, had = 0; k < turns && turn[k].begun < end; k++)
			had += (turn[k].ended < end ? turn[k].ended : end) - turn[k].begun;
		most = had > most ? had : most;
	}
	return most;
}

/*
 * A function with a cap has no more than that of any 100 ms, wherever they begin, and nearly all of it,
 * under each policy, alone and beside others, with slices that are shorter and longer than the cap.
 */
TEST(VF_37_a_cap_holds)
{
	static const uint64_t slices[] = { 100000, 1000000, 6000000, 500000000 };
	static const unsigned int caps[] = { 1, 10, 25, 50, 99 };
	const uint64_t second = 1000000000;
	unsigned int kind, slice, cap, i, beside;

	for (i = 0; i < 2 * VFENCE_POLICIES * 4 * 5; i++) {
		uint64_t begun = second + next() % VFENCE_POLICY_WINDOW_NS, most, had = 0, whole;
		struct vfence_policy policy;
		unsigned int k;

		kind = i % VFENCE_POLICIES;
		slice = i / VFENCE_POLICIES % 4;
		cap = i / VFENCE_POLICIES / 4 % 5;
		beside = i / VFENCE_POLICIES / 4 / 5;
		vfence_policy_init(&policy, kind, i % 3 * 50000);
		vfence_policy_add(&policy, 0, slices[slice]);
		policy.function[0].cap_percent = caps[cap];
		vfence_policy_set_busy(&policy, 0, true, begun);
		if (beside) {
			vfence_policy_add(&policy, 1, 300000);
			vfence_policy_set_busy(&policy, 1, true, begun);
		}
		capped_host(&policy, begun, begun + second);
		most = most_of_a_window();
		whole = VFENCE_POLICY_WINDOW_NS / 100 * caps[cap];
		ASSERT_GE(whole, most) {
			TH_LOG("policy %u, slice %u, cap %u, beside %u", kind, slice, cap, beside);
		}
		for (k = 0; k < turns; k++)
			had += turn[k].ended - turn[k].begun;
		/* It has what the cap leaves, unless others want more than that. */
		if (!beside)
			ASSERT_LE(whole * 10 * 85 / 100, had) {
				TH_LOG("policy %u, slice %u, cap %u", kind, slice, cap);
			}
	}
}

/*
 * A function that slept begins with the credit of one slice of real time, whatever its weight is: from
 * then on both have time by their weights, but for one slice of each and the credit.
 */
TEST(VF_35_a_sleeper_saves_up_one_slice)
{
	static const unsigned int kinds[] = { VFENCE_POLICY_FAIR, VFENCE_POLICY_AHEAD };
	static const unsigned int weights[] = { 1, 50, 100, 200, 10000 };
	const double slice[2] = { 6e6, 1e5 };
	unsigned int k, w, i;

	for (k = 0; k < 2; k++)
		for (w = 0; w < 5; w++) {
			uint64_t now = 1000000000, ns;
			struct vfence_policy policy;
			double had[2] = { 0, 0 };

			vfence_policy_init(&policy, kinds[k], 0);
			for (i = 0; i < 2; i++)
				vfence_policy_add(&policy, (int)i, (uint64_t)slice[i]);
			policy.function[0].weight = weights[w];
			vfence_policy_set_busy(&policy, 1, true, now);
			for (i = 0; i < 100000; i++, now += ns) {
				struct vfence_policy_decision d;

				/* It sleeps for a second. */
				if (i == 50000)
					vfence_policy_set_busy(&policy, 0, true, now);
				d = vfence_policy_decide(&policy, now);
				if (d.action == VFENCE_POLICY_SWITCH)
					vfence_policy_own(&policy, d.next, now);
				ns = 10000 + next() % 20000;
				vfence_policy_charge(&policy, ns, 0, now + ns);
				if (i >= 50000)
					had[policy.owner] += (double)ns;
				/* Of real time, plus a step of the clock for each turn's end. */
				ASSERT_GE(2 * slice[0] + weights[w] / 100. * (slice[1] + 6e4) + 6e4,
					  had[0] - had[1] * weights[w] / 100) {
					TH_LOG("policy %u, weight %u", kinds[k], weights[w]);
				}
			}
		}
}

/* Whatever turns cost, and whenever they end, a client gets its part and its bank, and one overrun. */
TEST(a_bucket_gives_its_part_and_no_more)
{
	unsigned int round, i;

	for (round = 0; round < 1000; round++) {
		struct vfence_bucket bucket = { .rate = 1 + next() % 8 };
		uint64_t begin = next() % 1000000000, now = begin, spent = 0, most;
		const uint64_t longest = 1 + next() % (4 * VFENCE_BUCKET_RESERVE_NS);

		for (i = 0; i < 1000; i++) {
			uint64_t ns = next() % longest;

			/* A turn begins when the client may spend more, or some time later. */
			now = vfence_bucket_ready_at(&bucket) > now ?
			      vfence_bucket_ready_at(&bucket) : now + next() % 2 * (next() % 9999);
			vfence_bucket_spend(&bucket, now, VFENCE_BUCKET_RESERVE_NS);
			now += ns;
			vfence_bucket_correct(&bucket, now, VFENCE_BUCKET_RESERVE_NS, ns);
			spent += ns;
			most = (now - begin + VFENCE_BUCKET_BANK_NS) / bucket.rate + longest +
			       VFENCE_BUCKET_RESERVE_NS;
			ASSERT_LE(spent, most);
		}
	}
}

/* Who always has something to do has all of it. */
TEST(a_bucket_keeps_nothing_back)
{
	struct vfence_bucket bucket = { .rate = VFENCE_BUCKET_PROCESS_RATE };
	uint64_t begin = 1000000000, now = begin, spent = 0;
	unsigned int i;

	for (i = 0; i < 10000; i++) {
		uint64_t ns = next() % VFENCE_BUCKET_RESERVE_NS;

		if (vfence_bucket_ready_at(&bucket) > now)
			now = vfence_bucket_ready_at(&bucket);
		vfence_bucket_spend(&bucket, now, VFENCE_BUCKET_RESERVE_NS);
		now += ns;
		vfence_bucket_correct(&bucket, now, VFENCE_BUCKET_RESERVE_NS, ns);
		spent += ns;
	}
	EXPECT_LE((now - begin) / VFENCE_BUCKET_PROCESS_RATE * 99 / 100, spent);
}

TEST_HARNESS_MAIN
