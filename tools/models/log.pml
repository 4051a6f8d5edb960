/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Publication of a log: entries are posted writes, the index tells of them before
 * they are in the buffer, and the producer laps a slow reader.
 *
 * A log of two entries takes five. Whatever the reader calls good is the entry it
 * asked for; what it does not read it counts as lost, and in the end read and lost
 * are all.
 *
 * Mutants: LOG_NO_FLUSH LOG_NO_SECOND_LOOK INDEX_BEFORE_ENTRY LOOKED_TOO_EARLY
 */
#define INDEX		0	/* with the wrap count: one word of 64 bits */
#define ENTRY		1	/* two of them */
#define WORDS		3
#define PROCS		2
#include "tso.h"

#define ENTRIES	2
#define TOTAL	5

byte posted, posted_at;		/* one entry on its way to the buffer; the log's lock */
bool ended;
byte good, lost;

/* log_commit_locked(): what is posted is in the buffer, for all to see. */
#define COMMIT									\
	atomic {								\
		empty(buffer[me]);						\
		if								\
		:: posted -> mem[ENTRY + posted_at] = posted; posted = 0	\
		:: else								\
		fi								\
	}

proctype engine(byte me)
{
	byte n;

	for (n : 1 .. TOTAL) {
		/* There is room for one: the one before goes to the buffer first. */
		COMMIT;
#ifdef INDEX_BEFORE_ENTRY
		STORE(INDEX, n);
#endif
		atomic { posted = n; posted_at = (n - 1) % ENTRIES };
#ifndef INDEX_BEFORE_ENTRY
		STORE(INDEX, n)
#endif
		/* step VALUE_LOGGED */
	}
	FULL_BARRIER;
	ended = true
}

proctype reader(byte me)
{
	byte read, end, now, entry, last;

	do
	:: true ->
		last = ended;
		LOAD(INDEX, end);
		if
		:: end > read + ENTRIES ->
			lost = lost + end - read - ENTRIES;
			read = end - ENTRIES
		:: else
		fi;
		/* step LOG_READ */
#ifndef LOG_NO_FLUSH
		COMMIT;
#endif
		do
		:: read < end ->
#ifdef LOOKED_TOO_EARLY
			LOAD(INDEX, now);
#endif
			LOAD(ENTRY + read % ENTRIES, entry);
#ifndef LOOKED_TOO_EARLY
			LOAD(INDEX, now);
#endif
			if
#ifndef LOG_NO_SECOND_LOOK
			/* The entry at the index is written before the index moves. */
			:: now >= read + ENTRIES -> lost++
			:: now < read + ENTRIES ->
#else
			:: true ->
#endif
				assert(entry == read + 1);
				good++
			fi;
			read++
		:: else -> break
		od;
		if
		:: last -> break
		:: else
		fi
	od;
	assert(good + lost == TOTAL)
}

init
{
	START_MACHINE;
	atomic {
		run engine(0);
		run reader(1)
	}
}
