/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _VFENCE_MUTANTS_H_
#define _VFENCE_MUTANTS_H_

/**
 * DOC: Mutants
 *
 * A mutant is the driver with one protocol step left out or one load hoisted
 * above the store it must follow. The test suite must catch each of them
 * (`make mutants`). They exist only in a module built with VFENCE_MUTANTS; in
 * every other build the condition is a constant zero. A mutant that opens a
 * window between two instructions widens it by a short delay.
 */
enum vfence_mutant {
	VFENCE_MUTANT_NONE,
	/* FENCE_WAIT passes at once */
	VFENCE_MUTANT_WAIT_IGNORED,
	/* handshake (a), engine: monitored is loaded before current is stored */
	VFENCE_MUTANT_A_LOAD_HOISTED,
	/* handshake (a), CPU: current is not sampled again after arming */
	VFENCE_MUTANT_A_NO_RESAMPLE,
	/* handshake (b): a queue blocks without looking at current again */
	VFENCE_MUTANT_B_NO_RECHECK,
	/* handshake (b): a signal does not look for blocked queues */
	VFENCE_MUTANT_B_NO_RELEASE,
	/* handshake (c): the doorbell is armed without another look at write_ptr */
	VFENCE_MUTANT_C_NO_RECHECK,
	/* handshake (c): a ring without work leaves the queue idle, the page mapped */
	VFENCE_MUTANT_C_RING_NEEDS_WORK,
	/* handshake (d): a full interrupt ring drops the record silently */
	VFENCE_MUTANT_D_NO_OVERFLOW,
	/* handshake (d): the handler does not look at the overflow flag */
	VFENCE_MUTANT_D_NO_SCAN,
	/* every signal interrupts */
	VFENCE_MUTANT_ALWAYS_INTERRUPT,
	/* the comparison is >= instead of > */
	VFENCE_MUTANT_INTERRUPT_EQUAL,
	/* monitored keeps its old value when a waiter retires */
	VFENCE_MUTANT_NO_RECOMPUTE,
	/* the LOG packet runs after the interrupt decision */
	VFENCE_MUTANT_LOG_LATE,
	/* the index is advanced although the log is full, without wrap count */
	VFENCE_MUTANT_LOG_NO_WRAP,
	/* COPY and FILL reach fence slots and logs */
	VFENCE_MUTANT_NO_RIGHTS,
	/* a victimised doorbell keeps its status */
	VFENCE_MUTANT_NO_RETRY_STATUS,
	/* disconnecting forgets to latch the write pointer */
	VFENCE_MUTANT_NO_LATCH,
	/* a CPU signal does not release GPU queues */
	VFENCE_MUTANT_CPU_NO_RELEASE,
	/* the queue of a killed client is not aborted in flight but waited for */
	VFENCE_MUTANT_NO_ABORT_KICK,
	/* a GPU signal stores its value in two halves */
	VFENCE_MUTANT_VALUE_TORN,
	/* interrupt records carry the low half of the value */
	VFENCE_MUTANT_VALUE_TRUNCATED,
	/* the log's index moves before its entry is written */
	VFENCE_MUTANT_LOG_INDEX_FIRST,
	/* fence and status pages may be mapped writable */
	VFENCE_MUTANT_PAGE_WRITABLE,
	/* shareable fences share pages with others */
	VFENCE_MUTANT_SLOTS_SHARED,
	/* handshake (d): the vector is raised before there is anything in the ring */
	VFENCE_MUTANT_D_RAISE_FIRST,
	/* completions beyond the handler's budget are forgotten */
	VFENCE_MUTANT_NO_DEFER,
	/* an aborted queue's doorbell says RETRY */
	VFENCE_MUTANT_ABORT_AS_RETRY,
	/* touching the doorbell page maps it and rings nothing */
	VFENCE_MUTANT_RING_IGNORED,
	/* a fence that is always signaled still blocks the queues that wait */
	VFENCE_MUTANT_ALWAYS_SIGNALED_WAITS,
	/* a fence that is always signaled still takes values from the GPU */
	VFENCE_MUTANT_ALWAYS_SIGNALED_STORES,
	/* an update does not reach the CMP's shadow copy */
	VFENCE_MUTANT_SHADOW_STALE,
	/* a page of values moves without what is in it */
	VFENCE_MUTANT_EVICT_NO_COPY,
	/* an update that only notifies stores its value */
	VFENCE_MUTANT_NOTIFICATION_STORES,
	/* a notification releases queues that have seen later values */
	VFENCE_MUTANT_NOTIFY_ANY_TIME,
	/* a signal is not told to the other adapters */
	VFENCE_MUTANT_NO_PROPAGATION,
	/* committing logs leaves the posted entries where they are */
	VFENCE_MUTANT_LOG_NO_FLUSH,
	/* entries on their way to a buffer go to the one that replaces it */
	VFENCE_MUTANT_LOG_NO_HANDOVER,
	/* fences are not read live after a log overran */
	VFENCE_MUTANT_NO_LIVE_READ,
	/* a waiter is put on a rewound fence while older news are on their way */
	VFENCE_MUTANT_REWIND_UNSETTLED,
	/* queues of a suspended context run */
	VFENCE_MUTANT_SUSPEND_IGNORED,
	/* a suspension is acknowledged with the number of the one before */
	VFENCE_MUTANT_SUSPEND_STALE_ACK,
	/* a context that does not leave costs no reset */
	VFENCE_MUTANT_RESET_SKIPPED,
	/* the contexts that a reset cost are not told of */
	VFENCE_MUTANT_RESET_NO_INVALIDATE,
	/* an engine is not resumed after its reset */
	VFENCE_MUTANT_RESET_NO_RESUME,
	/* an engine is reset though it has gone on */
	VFENCE_MUTANT_RESET_UNASKED,
	/* an engine that is hung stays so */
	VFENCE_MUTANT_HUNG_IGNORED,
	/* a signal's time is read before its value can be seen */
	VFENCE_MUTANT_SIGNAL_TIME_EARLY,
	/* a handle of a monitored fence goes and leaves its waiters */
	VFENCE_MUTANT_NO_UNWAIT,
	/* a monitored fence is given a smaller value by anybody */
	VFENCE_MUTANT_REWIND_ALLOWED,
	/* a value of 32 bits that is waited for is taken as it is */
	VFENCE_MUTANT_WRAP_IGNORED,
	/* GPU waits end like those of the CPU when a handle goes */
	VFENCE_MUTANT_UNWAIT_GPU,
	/* submissions are not held back */
	VFENCE_MUTANT_HOLD_IGNORED,
	/* software signals do not wait for all queues */
	VFENCE_MUTANT_BROADCAST_FIRST,
	/* the GPU tells that a submission was fetched when it is done */
	VFENCE_MUTANT_FETCHED_LATE,
	/* nobody looks at monitored fences when a submission is done */
	VFENCE_MUTANT_NO_COMPLETION_LOOK,
	/* nobody looks at monitored fences when one was written */
	VFENCE_MUTANT_NO_MONITORED_SCAN,
	/* a NULL array never means monitored fences */
	VFENCE_MUTANT_NO_EVALUATE_LEGACY,
	/* a submission that takes too long is left alone */
	VFENCE_MUTANT_TIMEOUT_IGNORED,
	/* what dma_fences signal comes in any order */
	VFENCE_MUTANT_IMPORT_UNORDERED,
	/* syncobjs stand for submissions that wait for fences */
	VFENCE_MUTANT_UNBOUNDED_TOLD,
	/* monitored fences of a lost device stay as they are */
	VFENCE_MUTANT_NO_MAX_ON_TDR,
	VFENCE_MUTANT_COUNT,
};

#ifdef VFENCE_MUTANTS
#include <linux/delay.h>

#include "vfence_race.h"

extern unsigned int vfence_mutant;
#define vfence_mutant_is(name) (vfence_mutant == VFENCE_MUTANT_##name)

/* Widen the window that mutant @name opens; for the race lab it is a point more. */
#define vfence_mutant_pause(name, us) do {		\
	if (!vfence_mutant_is(name))			\
		break;					\
	if (READ_ONCE(vfence_race_seed))		\
		vfence_race_hit(VFENCE_RACE_MUTANT);	\
	else						\
		udelay(us);				\
} while (0)
#else
#define vfence_mutant_is(name) 0
#define vfence_mutant_pause(name, us) do { } while (0)
#endif

#endif
