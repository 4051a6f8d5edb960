/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handshake (d): an interrupt ring that may be full, a vector that collapses raises,
 * and the handler that drains.
 *
 * The CMP reports four fences, and the ring has room for one. For each fence, either the
 * handler reads its record, or a rescan after its signal covers it.
 *
 * Mutants: D_NO_OVERFLOW D_NO_SCAN RAISE_FIRST LATCH_CLEARED_LATE FLAG_CLEARED_LATE
 */
#define WRITE		0
#define READ		1
#define OVERFLOW	2
#define RECORD		3
#define WORDS		4
#define PROCS		2
#include "tso.h"

#define FENCES	4

bool latch;			/* of the vector; an atomic bit */
bool signaled[FENCES + 1], told[FENCES + 1];
chan irq = [2] of { bit };	/* interrupts that are raised and not delivered yet */

#define XCHG(word, value, to)	\
	atomic { empty(buffer[me]); to = mem[word]; mem[word] = value }

/* vfence_vector_raise(): set the latch; deliver if it was clear. */
inline raise()
{
	atomic {
		empty(buffer[me]);
		if
		:: latch -> skip
		:: else -> latch = true; irq!1
		fi
	}
}

proctype cmp(byte me)
{
	byte f, write, read, unused;

	for (f : 1 .. FENCES) {
		/* step CMP_RECHECK */
		signaled[f] = true;
#ifdef RAISE_FIRST
		raise();
#endif
		LOAD(READ, read);
		if
		:: write == read ->
			STORE(RECORD, f);
			write++;
			STORE(WRITE, write)
		:: else ->
#ifndef D_NO_OVERFLOW
			XCHG(OVERFLOW, 1, unused)
#else
			skip
#endif
		fi;
		/* step RAISE; barrier vfence_vector_raise */
#ifndef RAISE_FIRST
		raise()
#endif
	}
}

/* vector_deliver() and irq_drain() */
proctype handler(byte me)
{
	byte f, k, write, read, overflow;

end:	do
	:: irq?1 ->
#ifndef LATCH_CLEARED_LATE
		atomic { empty(buffer[me]); latch = false };	/* barrier vector_deliver */
#endif
		/* step HANDLER_ENTRY */
#ifdef FLAG_CLEARED_LATE
		LOAD(OVERFLOW, overflow);
#else
		XCHG(OVERFLOW, 0, overflow);
#endif
		do
		:: true ->
			LOAD(WRITE, write);
			if
			:: read == write -> break
			:: else ->
				LOAD(RECORD, f);
				read++;
				STORE(READ, read);
				FULL_BARRIER;
				told[f] = true
			fi
		od;
		/* step DRAINED */
#ifndef D_NO_SCAN
		if
		:: overflow ->
			for (k : 1 .. FENCES) {
				told[k] = told[k] || signaled[k]
			}
		:: else
		fi;
#endif
#ifdef FLAG_CLEARED_LATE
		XCHG(OVERFLOW, 0, overflow);
#endif
#ifdef LATCH_CLEARED_LATE
		atomic { empty(buffer[me]); latch = false };
#endif
	od
}

init
{
	byte k;

	START_MACHINE;
	atomic {
		run cmp(0);
		run handler(1)
	}
	timeout ->
	for (k : 1 .. FENCES) {
		assert(told[k])
	}
}
