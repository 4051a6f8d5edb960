/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of a signal: only a signal that is not older than a wait releases a queue that
 * waits on another adapter.
 *
 * An engine signals 5, rewinds to 0, signals 4. The other adapter's queue waits for 4
 * at any time. In the end the queue runs. If it began to wait after the rewind, the value
 * 5 must not release it.
 *
 * Mutants: SIGNAL_TIME_EARLY NO_BARRIER_TIME NOTIFY_ANY_TIME OBSERVED_LATE
 */
#define CURRENT		0
#define SCHED_LOCK	1
#define WORDS		2
#define PROCS		3
#include "tso.h"

byte clock = 1;
bool blocked, running, began_late;
byte observed;
bool rewound;
byte told;			/* the value that released it */
chan news = [3] of { byte, byte };

#define READ_CLOCK(to)	atomic { clock++; to = clock }

inline signal(n)
{
#ifdef SIGNAL_TIME_EARLY
	READ_CLOCK(time);
#endif
	STORE(CURRENT, n);
#ifndef NO_BARRIER_TIME
	FULL_BARRIER;	/* barrier exec_store_and_time */
#endif
#ifndef SIGNAL_TIME_EARLY
	READ_CLOCK(time);
#endif
	/* The interrupt comes later, and not before the value is visible. */
	FULL_BARRIER;
	news!n, time
}

proctype engine(byte me)
{
	byte time;

	signal(5);
	STORE(CURRENT, 0);
	FULL_BARRIER;
	rewound = true;
	signal(4)
}

/* vfence_propagate_signal() and fence_release_up_to() */
proctype driver(byte me)
{
	byte n, time;

end:	do
	:: news?n, time ->
		LOCK(SCHED_LOCK);
		if
#ifdef NOTIFY_ANY_TIME
		:: blocked && n >= 4 ->
#else
		:: blocked && n >= 4 && observed <= time ->
#endif
			blocked = false;
			told = n;
			running = true
		:: else
		fi;
		UNLOCK(SCHED_LOCK)
	od
}

/* exec_wait_fence() and vgpu_fence_block() */
proctype queue(byte me)
{
	byte now;

	began_late = rewound;
#ifndef OBSERVED_LATE
	READ_CLOCK(observed);
#endif
	LOAD(CURRENT, now);
	if
	:: now >= 4 -> told = now; running = true
	:: else ->
		LOCK(SCHED_LOCK);
		LOAD(CURRENT, now);
		if
		:: now >= 4 -> told = now; running = true
		:: else ->
#ifdef OBSERVED_LATE
			READ_CLOCK(observed);
#endif
			blocked = true
		fi;
		UNLOCK(SCHED_LOCK)
	fi;
	running
}

init
{
	START_MACHINE;
	atomic {
		run engine(0);
		run driver(1);
		run queue(2)
	}
	timeout ->
	assert(running);
	assert(!(began_late && told == 5))
}
