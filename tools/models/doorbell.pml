/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handshake (c): a queue that goes idle and the client that rings.
 *
 * The client submits three times, the last time without work, as a processor that repeats
 * a store does. A store to a mapped doorbell page notifies no thread; a store to an unmapped
 * page faults. In the end all work is done, and the page of the idle queue is not mapped:
 * otherwise the next ring would be lost.
 *
 * Mutants: C_NO_RECHECK C_RING_NEEDS_WORK NO_FENCE_CLIENT NO_BARRIER_ARM
 */
#define WRITE_PTR	0
#define WORDS		1
#define PROCS		2
#include "tso.h"

mtype = { IDLE, READY, ARMING };

bool mapped;			/* in the client's page table; under the doorbell lock */
bool doorbell_lock;
mtype state = IDLE;		/* of the queue; under vgpu.sched, so each change is atomic */
byte done;			/* read pointer, the engine's own */
bool arm_due;
bool client_ended;

proctype client(byte me)
{
	byte i;

	for (i : 1 .. 3) {
		if
		:: i < 3 -> STORE(WRITE_PTR, i)
		:: else
		fi;
#ifndef NO_FENCE_CLIENT
		FULL_BARRIER;
#endif
		/* Store to the page, or fault: an exception does not drain the store buffer. */
		if
		:: mapped -> skip
		:: !mapped ->
			atomic { !doorbell_lock -> doorbell_lock = true };
			mapped = true;
			/* vgpu_doorbell_ring(): the queue is busy, whether there is work or not. */
			atomic {
				if
#ifdef C_RING_NEEDS_WORK
				:: state == IDLE && mem[WRITE_PTR] != done -> state = READY
#else
				:: state == IDLE -> state = READY
#endif
				:: else
				fi
			};
			doorbell_lock = false
		fi
	}
	FULL_BARRIER;
	client_ended = true
}

/* The engine runs a ready queue until its ring is empty, then asks the thread to arm. */
proctype engine()
{
	byte seen;

end:	do
	:: state == READY ->
		seen = mem[WRITE_PTR];
		if
		:: seen != done -> done = seen
		:: else -> atomic { state = IDLE; arm_due = true }
		fi
	od
}

/* doorbell_arm_work(): zap the page, full barrier (the zap has one, too), load again. */
proctype doorbell_thread(byte me)
{
	byte seen;

end:	do
	:: atomic { arm_due -> arm_due = false };
		/* step ARM */
		atomic { !doorbell_lock -> doorbell_lock = true };
#ifdef NO_BARRIER_ARM
		/* The load is hoisted above the zap. */
		seen = mem[WRITE_PTR];
		mapped = false;
#else
		mapped = false;
		/* step REREAD; barrier doorbell_arm_work */
		seen = mem[WRITE_PTR];
#endif
		doorbell_lock = false;
#ifndef C_NO_RECHECK
		atomic {
			if
			:: state == IDLE && seen != done -> state = READY
			:: else
			fi
		}
#endif
	od
}

init
{
	START_MACHINE;
	atomic {
		run client(0);
		run engine();
		run doorbell_thread(1)
	}
	timeout ->
	assert(client_ended);
	assert(done == 2);
	assert(!mapped)
}
