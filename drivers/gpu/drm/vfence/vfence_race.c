// SPDX-License-Identifier: GPL-2.0
/*
 * The seeded schedule of test builds: who is held up where. See vfence_race.h.
 */

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>

#include "vfence_race.h"

unsigned long vfence_race_seed;
module_param_named(race_seed, vfence_race_seed, ulong, 0600);
MODULE_PARM_DESC(race_seed, "schedule of race points; 0: none");

static unsigned long race_hits[VFENCE_RACE_POINTS];
module_param_array(race_hits, ulong, NULL, 0400);
MODULE_PARM_DESC(race_hits, "times somebody came by each race point");

/* Most turns of a loop that waits for somebody else. */
#define PATIENCE	256

static atomic64_t hits = ATOMIC64_INIT(0);

/* splitmix64, finished: a number that has nothing to do with its neighbours. */
static u64 mix(u64 x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static void relax(unsigned int turns)
{
	while (turns--)
		cpu_relax();
}

/* Until somebody has come by some point, in this processor's or another's time. */
static void wait_for_another(s64 since)
{
	unsigned int turns = PATIENCE;

	while (turns-- && atomic64_read(&hits) == since)
		cpu_relax();
}

/**
 * vfence_race_hit - somebody is at a race point; any context
 * @point: which
 *
 * A pause instruction makes the deterministic guest's other processor run.
 */
void vfence_race_hit(enum vfence_race_point point)
{
	s64 n = atomic64_inc_return(&hits);
	u64 dice = mix(READ_ONCE(vfence_race_seed) ^ mix(((u64)n << 8) | point));

	/* A data race, which make check-kcsan must see; who counts may be lost here. */
	race_hits[point]++;
	switch (dice % 8) {
	case 0:
		relax(1 + dice / 8 % 4);
		break;
	case 1:
		relax(1 + dice / 8 % 64);
		break;
	case 2:
		wait_for_another(n);
		break;
	case 3:
		/* No point is between two RCU marks, where that would not be enough. */
		if (preemptible())
			usleep_range(1, 2 + dice / 8 % 32);
		break;
	default:
		break;
	}
}
