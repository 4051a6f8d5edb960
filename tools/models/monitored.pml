/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handshake (a): current value and monitored value.
 *
 * An engine signals 1, then 2, then rewinds to 0 and signals 1. The first waiter is on the
 * fence from the beginning and waits for 2, which is the current value for a moment only.
 * The second waiter comes at any time, waits for 1 and does not time out. The third one
 * waits for 1 and may time out. pan finds the end states in which one of the first two
 * still sleeps, or in which the monitored value does not fit the waiters.
 *
 * Mutants: A_LOAD_HOISTED A_NO_RESAMPLE A_NO_BARRIER_GPU A_NO_BARRIER_CPU NO_RECOMPUTE
 * Mutants: VALUE_NOT_CARRIED
 */
#define CURRENT		0
#define MONITORED	1
#define FENCE_LOCK	2
#define WORDS		3
#define PROCS		4
#include "tso.h"

#define NOBODY		9	/* monitored value without waiters */
#define AWAITED(id)	(id == 0 -> 2 : 1)

bool queued[3];			/* under FENCE_LOCK */
bool done[3];
byte monitored;			/* the value that the driver stored last; under FENCE_LOCK */
chan post = [4] of { byte };

#define LEAST	(queued[1] || queued[2] -> 0 : (queued[0] -> 1 : NOBODY))

/* waiter_update_monitored_locked() */
inline update()
{
	want = LEAST;
	fell = want < monitored;
	if
#ifdef NO_RECOMPUTE
	:: want != monitored && want == NOBODY
	:: want != monitored && want != NOBODY ->
#else
	:: want != monitored ->
#endif
		monitored = want;
		STORE(MONITORED, want);
		/* step MONITORED_UPDATE */
#ifndef A_NO_BARRIER_CPU
		FULL_BARRIER	/* barrier vgpu_fence_update_monitored_values */
#endif
	:: want == monitored
	fi
}

/* waiter_take_locked(): complete the waiters that v satisfies, and update monitored. */
inline take()
{
	d_step {
		for (k : 0 .. 2) {
			if
			:: queued[k] && AWAITED(k) <= v -> queued[k] = false; done[k] = true
			:: else
			fi
		}
		k = 0
	}
	update()
}

proctype engine(byte me)
{
	byte i, n, m;

	for (i : 0 .. 3) {
		n = (i == 0 -> 1 : (i == 1 -> 2 : (i == 2 -> 0 : 1)));
#ifdef A_LOAD_HOISTED
		LOAD(MONITORED, m);
#endif
		STORE(CURRENT, n);
		/* step VALUE_STORED */
#ifndef A_NO_BARRIER_GPU
		FULL_BARRIER;	/* barrier exec_signal_fence */
#endif
#ifndef A_LOAD_HOISTED
		LOAD(MONITORED, m);
#endif
		/* step MONITORED_READ */
		if
		:: n > m -> post!n	/* step POSTED */
		:: else
		fi
	}
}

/* The CMP and the interrupt handler; handshake (d) is between them. */
proctype handler(byte me)
{
	byte k, v, want, sample;
	bool fell;

end:	do
	:: post?v ->
		LOCK(FENCE_LOCK);
		/* vfence_waiter_take(): take the value of the record, or a later and greater one. */
		LOAD(CURRENT, sample);
#ifdef VALUE_NOT_CARRIED
		v = sample;
#else
		v = (sample > v -> sample : v);
#endif
		take();
		UNLOCK(FENCE_LOCK)
	od
}

proctype waiter(byte me; byte id; bool patient)
{
	byte k, v, want, sample;
	bool fell;

	LOCK(FENCE_LOCK);
	LOAD(CURRENT, sample);
	if
	:: sample >= AWAITED(id) -> done[id] = true; UNLOCK(FENCE_LOCK)
	:: else ->
		/* step WAITER_INSERT */
		queued[id] = true;
		update();
#ifndef A_NO_RESAMPLE
		if
		:: fell ->
			/* step SECOND_SAMPLE */
			LOAD(CURRENT, v);
			take()
		:: else
		fi;
#endif
		UNLOCK(FENCE_LOCK);
		if
		:: done[id]
		:: !patient ->
			/* step WAITER_REMOVE */
			LOCK(FENCE_LOCK);
			queued[id] = false;
			update();
			UNLOCK(FENCE_LOCK)
		fi
	fi
}

init
{
	atomic {
		queued[0] = true;
		monitored = 1;
		mem[MONITORED] = 1;
	}
	START_MACHINE;
	atomic {
		run engine(0);
		run handler(1);
		run waiter(2, 1, true);
		run waiter(3, 2, false)
	}
	/* No process can run any more. */
	timeout ->
	assert(done[0] && done[1]);
	assert(mem[MONITORED] == LEAST)
}
