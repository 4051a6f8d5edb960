// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test builds: a seed decides at which race points threads are delayed, and a name where one is
 * held.
 */

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

#include "vfence_race_point.h"

unsigned long vfence_race_point_seed;
module_param_named(race_seed, vfence_race_point_seed, ulong, 0600);
MODULE_PARM_DESC(race_seed, "schedule of the race points; 0: none");

static unsigned long race_hits[VFENCE_RACE_POINTS_COUNT];
module_param_array(race_hits, ulong, NULL, 0400);
MODULE_PARM_DESC(race_hits, "how often each race point was passed");

/* A loop that waits for another thread gives up after so many tries. */
#define RACE_POINT_MAX_TRIES	256

static atomic64_t race_point_passes = ATOMIC64_INIT(0);

/* The finalizer of splitmix64: results for neighbouring numbers are unrelated. */
static u64 race_point_mix(u64 x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static void race_point_relax(unsigned int loops)
{
	while (loops--)
		cpu_relax();
}

/* Wait until any other thread has passed a race point, or RACE_POINT_MAX_TRIES tries are over. */
static void race_point_wait_for_another(s64 since)
{
	unsigned int loops = RACE_POINT_MAX_TRIES;

	while (loops-- && atomic64_read(&race_point_passes) == since)
		cpu_relax();
}

/**
 * vfence_race_point_hit - pass a race point under a seed
 * @point: the race point
 *
 * In the deterministic guest a pause instruction gives the other processor its turn. Any
 * context.
 */
void vfence_race_point_hit(enum vfence_race_point point)
{
	s64 n = atomic64_inc_return(&race_point_passes);
	u64 passed = race_point_mix(((u64)n << 8) | point);
	u64 random = race_point_mix(READ_ONCE(vfence_race_point_seed) ^ passed);

	/* This data race is intended: make check-kcsan must report it. */
	race_hits[point]++;

	switch (random % 8) {
	case 0:
		race_point_relax(1 + random / 8 % 4);
		break;
	case 1:
		race_point_relax(1 + random / 8 % 64);
		break;
	case 2:
		race_point_wait_for_another(n);
		break;
	case 3:
		/* No race point is inside an RCU read-side section, where preemptible() may lie. */
		if (preemptible())
			usleep_range(1, 2 + random / 8 % 32);
		break;
	default:
		break;
	}
}

/**
 * vfence_race_point_window - widen the window that a mutant opens
 * @us: delay in microseconds, used if no seed is set
 *
 * Only selftests/drm/vfence/mutants call it. Under a seed it is one more race point.
 */
void vfence_race_point_window(unsigned int us)
{
	if (READ_ONCE(vfence_race_point_seed))
		vfence_race_point_hit(VFENCE_RACE_POINT_WINDOW);
	else if (preemptible())
		/* Others may need this processor to meet the window. */
		usleep_range(us, us + 1);
	else
		udelay(us);
}

static const char *const hold_names[VFENCE_HOLDS_COUNT] = {
	[VFENCE_HOLD_QUEUE_STOP] = "QUEUE_STOP",
	[VFENCE_HOLD_ADVANCE] = "ADVANCE",
	[VFENCE_HOLD_RETIRE] = "RETIRE",
	[VFENCE_HOLD_STAGE] = "STAGE",
	[VFENCE_HOLD_QUEUE_FAULT] = "QUEUE_FAULT",
	[VFENCE_HOLD_QUEUE_FREE] = "QUEUE_FREE",
	[VFENCE_HOLD_SUBMISSION_FREE] = "SUBMISSION_FREE",
	[VFENCE_HOLD_ARM] = "ARM",
	[VFENCE_HOLD_CHANGE] = "CHANGE",
	[VFENCE_HOLD_CONNECTED] = "CONNECTED",
	[VFENCE_HOLD_EVENT_FIRE] = "EVENT_FIRE",
	[VFENCE_HOLD_IMPORT] = "IMPORT",
	[VFENCE_HOLD_FOREIGN] = "FOREIGN",
	[VFENCE_HOLD_MOVE] = "MOVE",
	[VFENCE_HOLD_EVICT] = "EVICT",
	[VFENCE_HOLD_SIGNALED] = "SIGNALED",
	[VFENCE_HOLD_DEFERRED] = "DEFERRED",
	[VFENCE_HOLD_TAKEN] = "TAKEN",
	[VFENCE_HOLD_DECIDED] = "DECIDED",
	[VFENCE_HOLD_ENDING] = "ENDING",
	[VFENCE_HOLD_MEMBER] = "MEMBER",
	[VFENCE_HOLD_STOP_DEVICE] = "STOP_DEVICE",
	[VFENCE_HOLD_LOSS_SWEEP] = "LOSS_SWEEP",
	[VFENCE_HOLD_THROTTLE] = "THROTTLE",
	[VFENCE_HOLD_BUSY] = "BUSY",
};

/* The longest hold: a test that is killed does not release its thread. */
#define HOLD_MAX_MS	30000
/* The same for a loop: the kernel warns of one that takes 20 s. */
#define HOLD_MAX_BUSY_MS	10000

/* The hold that is set, or -1, and a number that changes with it. */
static int hold_set = -1;
static unsigned int hold_round = 1;
/* The first thread of a round is held, all others pass. */
static atomic_t hold_taken;
/* The round for which a thread is held, or 0. */
static unsigned int hold_held;
static DECLARE_WAIT_QUEUE_HEAD(hold_wait);

static int hold_param_set(const char *value, const struct kernel_param *kp)
{
	int hold = sysfs_match_string(hold_names, value);

	if (hold < 0 && !sysfs_streq(value, "none"))
		return -EINVAL;
	/* Set the new one before the thread goes on that is held: it may cause the next. */
	WRITE_ONCE(hold_set, -1);
	WRITE_ONCE(hold_round, hold_round + 1);
	atomic_set(&hold_taken, 0);
	WRITE_ONCE(hold_set, hold < 0 ? -1 : hold);
	wake_up_all(&hold_wait);
	return 0;
}

static int hold_param_get(char *buffer, const struct kernel_param *kp)
{
	int hold = READ_ONCE(hold_set);

	return sysfs_emit(buffer, "%s %d\n", hold < 0 ? "none" : hold_names[hold],
			  READ_ONCE(hold_held) == READ_ONCE(hold_round));
}

static const struct kernel_param_ops hold_param_ops = {
	.set = hold_param_set, .get = hold_param_get,
};
module_param_cb(hold, &hold_param_ops, NULL, 0600);
MODULE_PARM_DESC(hold, "name of a hold, or none; says whether a thread is held");

static int holds_param_get(char *buffer, const struct kernel_param *kp)
{
	int i, at = 0;

	for (i = 0; i < VFENCE_HOLDS_COUNT; i++)
		at += sysfs_emit_at(buffer, at, "%s\n", hold_names[i]);
	return at;
}

static const struct kernel_param_ops holds_param_ops = { .get = holds_param_get };
module_param_cb(holds, &holds_param_ops, NULL, 0400);
MODULE_PARM_DESC(holds, "the names of all holds");

/* Return true if the thread is the first of its round at the hold that is set. */
static bool hold_takes(enum vfence_hold hold, unsigned int round)
{
	if (READ_ONCE(hold_set) != (int)hold || atomic_xchg(&hold_taken, 1))
		return false;
	WRITE_ONCE(hold_held, round);
	return true;
}

/** vfence_hold_pass - pass a hold; process context, without a lock that others need */
void vfence_hold_pass(enum vfence_hold hold)
{
	unsigned int round = READ_ONCE(hold_round);

	if (!hold_takes(hold, round))
		return;
	wait_event_timeout(hold_wait, READ_ONCE(hold_round) != round,
			   msecs_to_jiffies(HOLD_MAX_MS));
	cmpxchg(&hold_held, round, 0);
}

/** vfence_hold_pass_busy - pass a hold in a loop; any context, another processor ends it */
void vfence_hold_pass_busy(enum vfence_hold hold)
{
	unsigned int round = READ_ONCE(hold_round), ms;

	if (!hold_takes(hold, round))
		return;
	for (ms = 0; ms < HOLD_MAX_BUSY_MS && READ_ONCE(hold_round) == round; ms++)
		mdelay(1);
	cmpxchg(&hold_held, round, 0);
}
