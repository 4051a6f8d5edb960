// SPDX-License-Identifier: GPL-2.0-only
/*
 * The seeded schedule of test builds: a seed decides at which steps threads are delayed.
 */

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>

#include "vfence_step.h"

unsigned long vfence_step_seed;
module_param_named(step_seed, vfence_step_seed, ulong, 0600);
MODULE_PARM_DESC(step_seed, "schedule of the steps; 0: none");

static unsigned long step_hits[VFENCE_STEPS_COUNT];
module_param_array(step_hits, ulong, NULL, 0400);
MODULE_PARM_DESC(step_hits, "how often each step was passed");

/* A loop that waits for another thread gives up after this many turns. */
#define STEP_MAX_TURNS	256

static atomic64_t step_passes = ATOMIC64_INIT(0);

/* The finalizer of splitmix64: results for neighbouring numbers are unrelated. */
static u64 step_mix(u64 x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static void step_relax(unsigned int turns)
{
	while (turns--)
		cpu_relax();
}

/* Wait until any other thread has passed a step, or STEP_MAX_TURNS turns are over. */
static void step_wait_for_another(s64 since)
{
	unsigned int turns = STEP_MAX_TURNS;

	while (turns-- && atomic64_read(&step_passes) == since)
		cpu_relax();
}

/**
 * vfence_step_hit - pass a step under a seed
 * @step: the step
 *
 * In the deterministic guest a pause instruction gives the other processor its turn. Any
 * context.
 */
void vfence_step_hit(enum vfence_step step)
{
	s64 n = atomic64_inc_return(&step_passes);
	u64 random = step_mix(READ_ONCE(vfence_step_seed) ^ step_mix(((u64)n << 8) | step));

	/* This data race is intended: make check-kcsan must report it. */
	step_hits[step]++;

	switch (random % 8) {
	case 0:
		step_relax(1 + random / 8 % 4);
		break;
	case 1:
		step_relax(1 + random / 8 % 64);
		break;
	case 2:
		step_wait_for_another(n);
		break;
	case 3:
		/* No step is inside an RCU read-side section, where preemptible() may lie. */
		if (preemptible())
			usleep_range(1, 2 + random / 8 % 32);
		break;
	default:
		break;
	}
}

/**
 * vfence_step_window - widen the window that a mutant opens
 * @us: delay in microseconds, used if no seed is set
 *
 * Only selftests/drm/vfence/mutants call it. Under a seed it is one more step.
 */
void vfence_step_window(unsigned int us)
{
	if (READ_ONCE(vfence_step_seed))
		vfence_step_hit(VFENCE_STEP_WINDOW);
	else if (preemptible())
		/* Others may need this processor to meet the window. */
		usleep_range(us, us + 1);
	else
		udelay(us);
}
