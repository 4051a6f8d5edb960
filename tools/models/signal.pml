/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handshake (a) with a CPU signal in the place of the engine.
 *
 * A thread signals 2, then rewinds to 0, then signals 1. After each store it loads the monitored
 * value that the driver has stored last. Only if the signaled value exceeds it, the thread takes the
 * waiters, under the lock. The first waiter waits for 2, which is the current value for a moment
 * only, and is on the fence from the beginning. The second one comes at any time, waits for 1 and
 * does not time out. The third one waits for 1 and may time out. Waiters are taken one by one; the
 * monitored value rises when no waiter is left that can be taken. pan finds the end states in which
 * one of the first two still sleeps.
 *
 * Mutants: SIGNAL_LOAD_HOISTED SIGNAL_NO_BARRIER SIGNAL_NO_RESAMPLE SIGNAL_BUDGET_RAISES
 */
#define CURRENT		0
#define MONITORED	1	/* the driver's copy */
#define FENCE_LOCK	2
#define WORDS		3
#define PROCS		3
#include "tso.h"

/* Monitored value of a fence that nobody waits for. */
#define NOBODY		9
/* The value that a waiter waits for. */
#define AWAITED(id)	(id == 0 -> 2 : 1)

bool queued[3];			/* under FENCE_LOCK */
bool done[3];
byte monitored;			/* what MONITORED will be once it is performed; under FENCE_LOCK */

/* waiter_monitored(): one less than the least value that a waiter in the tree waits for. */
#define LEAST	(queued[1] || queued[2] -> 0 : (queued[0] -> 1 : NOBODY))

/* waiter_update_monitored_locked() */
inline update()
{
	want = LEAST;
	fell = want < monitored;
	if
	:: want != monitored ->
		monitored = want;
		STORE(MONITORED, want);
		/* step MONITORED_UPDATE */
		FULL_BARRIER	/* barrier vgpu_fence_update_monitored_values */
	:: want == monitored
	fi
}

/* Take one waiter that v satisfies; if there is none, the monitored value may rise. */
inline take_one()
{
	d_step {
		took = false;
		for (k : 0 .. 2) {
			if
			:: !took && queued[k] && AWAITED(k) <= v ->
				queued[k] = false;
				done[k] = true;
				took = true
			:: else
			fi
		}
		k = 0
	}
#ifdef SIGNAL_BUDGET_RAISES
	/* The value rises for all that are satisfied, taken or not. */
	d_step { monitored = NOBODY };
	STORE(MONITORED, NOBODY);
	FULL_BARRIER
#else
	if
	:: !took -> update()
	:: took
	fi
#endif
}

/* vfence_waiter_complete(), and waiter_finish_sampled(): in portions, each under the lock. */
inline complete(value)
{
	do
	:: LOCK(FENCE_LOCK);
		LOAD(CURRENT, v);
		v = (v > value -> v : value);
		take_one();
		UNLOCK(FENCE_LOCK);
		if
		:: took
		:: !took -> break
		fi
	od
}

/* signal_batch(); the signal lock keeps other CPU signals out. */
proctype signaller(byte me)
{
	byte i, n, m, k, v, want;
	bool fell, took;

	for (i : 0 .. 2) {
		n = (i == 0 -> 2 : (i == 1 -> 0 : 1));
#ifdef SIGNAL_LOAD_HOISTED
		LOAD(MONITORED, m);
#endif
		STORE(CURRENT, n);
		/* step SIGNAL_STORED */
#ifndef SIGNAL_NO_BARRIER
		FULL_BARRIER;	/* barrier signal_batch */
#endif
#ifndef SIGNAL_LOAD_HOISTED
		LOAD(MONITORED, m);
#endif
		if
		:: n > m -> complete(n)
		:: else
		fi
	}
}

proctype waiter(byte me; byte id; bool patient)
{
	byte k, v, want;
	bool fell, took;

	LOCK(FENCE_LOCK);
	LOAD(CURRENT, v);
	if
	:: v >= AWAITED(id) -> done[id] = true; UNLOCK(FENCE_LOCK)
	:: else ->
		/* step WAITER_INSERT */
		queued[id] = true;
		update();
		took = false;
#ifndef SIGNAL_NO_RESAMPLE
		if
		:: fell ->
			/* step SECOND_SAMPLE */
			LOAD(CURRENT, v);
			take_one()
		:: else
		fi;
#endif
		UNLOCK(FENCE_LOCK);
		if
		:: took -> complete(0)
		:: else
		fi;
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
		run signaller(0);
		run waiter(1, 1, true);
		run waiter(2, 2, false)
	}
	/* No process can run any more. */
	timeout ->
	assert(done[0] && done[1]);
	assert(mem[MONITORED] == LEAST)
}
