/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handshake (b): a queue that blocks and the signals that release it.
 *
 * An engine signals one fence, the CPU another. Two queues wait for the first fence, one
 * queue for the second. In the end all queues run, and no queue is counted as blocked.
 *
 * Mutants: B_NO_RECHECK B_NO_RELEASE CPU_NO_RELEASE NO_BARRIER_SIGNAL COUNTED_LATE
 */
#define CURRENT(f)	(f)
#define COUNT(f)	(2 + f)
#define SCHED_LOCK	4
#define WORDS		5
#define PROCS		5
#include "tso.h"

#define FENCE_OF(queue)	(queue / 2)

bool blocked[3];		/* by queue; under SCHED_LOCK */
bool running[3];

/* An atomic_inc() with a full barrier, or an atomic_dec(). */
#define ADD(word, n)	atomic { empty(buffer[me]); mem[word] = mem[word] + n }

/* fence_release_up_to() */
inline release(f)
{
	LOCK(SCHED_LOCK);
	for (k : 0 .. 2) {
		if
		:: blocked[k] && FENCE_OF(k) == f ->
			blocked[k] = false;
			ADD(COUNT(f), -1);
			running[k] = true
		:: else
		fi
	}
	UNLOCK(SCHED_LOCK)
}

/* exec_signal_fence() of the engine, vgpu_fence_update_current_values() */
proctype signaller(byte me; byte f)
{
	byte k, count;

	STORE(CURRENT(f), 1);
#ifndef NO_BARRIER_SIGNAL
	FULL_BARRIER;	/* barrier exec_signal_fence vgpu_fence_update_current_values */
#endif
	/* step QUEUE_RELEASE */
	LOAD(COUNT(f), count);
	if
#ifdef B_NO_RELEASE
	:: f == 0 -> skip
#endif
#ifdef CPU_NO_RELEASE
	:: f == 1 -> skip
#endif
	:: count -> release(f)
	:: else
	fi
}

/* exec_wait_fence() and vgpu_fence_block() */
proctype queue(byte me; byte q)
{
	byte now;

	LOAD(CURRENT(FENCE_OF(q)), now);
	if
	:: now -> running[q] = true
	:: else ->
		/* step QUEUE_BLOCK */
		LOCK(SCHED_LOCK);
		blocked[q] = true;
#ifdef COUNTED_LATE
		LOAD(CURRENT(FENCE_OF(q)), now);
		ADD(COUNT(FENCE_OF(q)), 1);
#else
		ADD(COUNT(FENCE_OF(q)), 1);	/* barrier vgpu_fence_block */
		LOAD(CURRENT(FENCE_OF(q)), now);
#endif
		if
#ifndef B_NO_RECHECK
		:: now ->
			blocked[q] = false;
			ADD(COUNT(FENCE_OF(q)), -1);
			running[q] = true
#endif
		:: else
		fi;
		UNLOCK(SCHED_LOCK)
	fi;
	running[q]
}

init
{
	START_MACHINE;
	atomic {
		run signaller(0, 0);
		run signaller(1, 1);
		run queue(2, 0);
		run queue(3, 1);
		run queue(4, 2)
	}
	timeout ->
	assert(running[0] && running[1] && running[2]);
	assert(!mem[COUNT(0)] && !mem[COUNT(1)])
}
