/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _VFENCE_RACE_H_
#define _VFENCE_RACE_H_

/**
 * DOC: Race points
 *
 * Named places between two steps of a handshake. In a test build (VFENCE_MUTANTS)
 * whoever comes by may be held up there, let others go first, or wait until somebody
 * else has come by some point: a seed decides, so that on the deterministic clock a
 * seed is one interleaving (`make races`). In every other build they are nothing.
 */
enum vfence_race_point {
	/* engine: the current value is stored */
	VFENCE_RACE_VALUE_STORED,
	/* engine: the log entry of a signal is posted, its index stored */
	VFENCE_RACE_VALUE_LOGGED,
	/* engine: the monitored value has been read */
	VFENCE_RACE_MONITORED_READ,
	/* engine: the post is with the CMP */
	VFENCE_RACE_POSTED,
	/* CMP: about to look at the monitored value once more */
	VFENCE_RACE_CMP_RECHECK,
	/* CMP: the record, or the flag, is stored, the vector not raised */
	VFENCE_RACE_RAISE,
	/* handler: the latch is clear, the ring not looked at */
	VFENCE_RACE_HANDLER_ENTRY,
	/* handler: the ring was empty */
	VFENCE_RACE_DRAINED,
	/* CPU: the monitored value is stored */
	VFENCE_RACE_MONITORED_UPDATE,
	/* CPU: about to sample the current value after that */
	VFENCE_RACE_SECOND_SAMPLE,
	/* CPU: a waiter has seen that it must wait, and is not queued */
	VFENCE_RACE_WAITER_INSERT,
	/* CPU: a waiter is about to give up */
	VFENCE_RACE_WAITER_REMOVE,
	/* engine: a wait is not met, its queue not blocked */
	VFENCE_RACE_QUEUE_BLOCK,
	/* signaller: the value is stored, nobody released */
	VFENCE_RACE_QUEUE_RELEASE,
	/* doorbell thread: about to arm */
	VFENCE_RACE_ARM,
	/* doorbell thread: armed, the write pointer not looked at */
	VFENCE_RACE_REREAD,
	/* driver: the index of a log is read, its entries are not */
	VFENCE_RACE_LOG_READ,
	/* the window that the mutant of the day opens */
	VFENCE_RACE_MUTANT,
	VFENCE_RACE_POINTS,
};

#ifdef VFENCE_MUTANTS
extern unsigned long vfence_race_seed;
void vfence_race_hit(enum vfence_race_point point);

#define vfence_race_point(name) do {			\
	if (READ_ONCE(vfence_race_seed))		\
		vfence_race_hit(VFENCE_RACE_##name);	\
} while (0)
#else
#define vfence_race_point(name) do { } while (0)
#endif

#endif
