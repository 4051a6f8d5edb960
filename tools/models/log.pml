/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Publication of a log: entries are posted writes, the index includes an entry before
 * the entry is in the buffer, and the producer laps a slow reader.
 *
 * The engine writes five entries to a log of two. Each entry that the reader counts as
 * good is the entry that it wanted. The reader counts the entries that it does not read
 * as lost. In the end good and lost entries add up to all entries.
 *
 * Mutants: LOG_NO_FLUSH LOG_NO_SECOND_LOOK INDEX_BEFORE_ENTRY LOOKED_TOO_EARLY
 */
#define INDEX		0	/* index and wrap count: one word of 64 bits */
#define ENTRY		1	/* the first of two entries */
#define WORDS		3
#define PROCS		2
#include "tso.h"

#define ENTRIES	2
#define TOTAL	5

byte posted, posted_at;		/* one entry on its way to the buffer; under the log's lock */
bool ended;
byte good, lost;

/* log_commit_locked(): write the posted entry to the buffer, visible to all processors. */
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
		/* One entry can be posted: commit the previous one first. */
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
			/* The engine writes the entry at the index before it moves the index. */
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
