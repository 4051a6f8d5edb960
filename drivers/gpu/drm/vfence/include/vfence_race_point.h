/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RACE_POINT_H_
#define _VFENCE_RACE_POINT_H_

/**
 * DOC: Race points
 *
 * A race point is a named place between two operations of a handshake. The names are those of
 * Documentation/gpu/vfence/ordering.rst and of the models in tools/models.
 *
 * In a test build (VFENCE_RACE_POINTS=y) a thread that passes a race point may be delayed, or may
 * wait until another thread has passed one. A seed decides this. On the deterministic clock one
 * seed gives one interleaving (`make races`). In all other builds a race point produces no code.
 */
enum vfence_race_point {
	/* engine: the current value is stored */
	VFENCE_RACE_POINT_VALUE_STORED,
	/* engine: the log entry of a signal is posted, its index stored */
	VFENCE_RACE_POINT_VALUE_LOGGED,
	/* engine: the monitored value has been read */
	VFENCE_RACE_POINT_MONITORED_READ,
	/* engine: the post is in the CMP's FIFO */
	VFENCE_RACE_POINT_POSTED,
	/* CMP: the monitored value is about to be compared once more */
	VFENCE_RACE_POINT_CMP_RECHECK,
	/* CMP: the record, or the overflow flag, is stored; the vector is not raised */
	VFENCE_RACE_POINT_RAISE,
	/* handler: the vector's latch is clear; the ring is not read yet */
	VFENCE_RACE_POINT_HANDLER_ENTRY,
	/* handler: the ring was empty */
	VFENCE_RACE_POINT_DRAINED,
	/* CPU: the monitored value is stored */
	VFENCE_RACE_POINT_MONITORED_UPDATE,
	/* CPU signal: the values are stored; the monitored values are not read yet */
	VFENCE_RACE_POINT_SIGNAL_STORED,
	/* CPU: the current value is about to be sampled again */
	VFENCE_RACE_POINT_SECOND_SAMPLE,
	/* CPU: a waiter has found its value not reached and is not in the tree yet */
	VFENCE_RACE_POINT_WAITER_INSERT,
	/* CPU: a waiter that timed out or was cancelled is about to leave the tree */
	VFENCE_RACE_POINT_WAITER_REMOVE,
	/* CPU: a signal has interrupted a wait, which is not kept for the restarted call yet */
	VFENCE_RACE_POINT_WAIT_INTERRUPTED,
	/* engine: a wait is not satisfied and its queue is not blocked yet */
	VFENCE_RACE_POINT_QUEUE_BLOCK,
	/* signaller: the value is stored and no queue is released yet */
	VFENCE_RACE_POINT_QUEUE_RELEASE,
	/* doorbell thread: the doorbell is about to be armed */
	VFENCE_RACE_POINT_ARM,
	/* doorbell thread: the doorbell is armed; the write pointer is not read again yet */
	VFENCE_RACE_POINT_REREAD,
	/* driver: the index of a log is read; its entries are not read yet */
	VFENCE_RACE_POINT_LOG_READ,
	/* engine: a submission is done; its record is not posted yet */
	VFENCE_RACE_POINT_SUBMISSION_DONE,
	/* reset: what runs was asked to leave; it has not left yet */
	VFENCE_RACE_POINT_PREEMPT_ASKED,
	/* reset: an engine has not answered; it is not held yet */
	VFENCE_RACE_POINT_HANG_FOUND,
	/* reset: the engine is held, and its records are ignored */
	VFENCE_RACE_POINT_ENGINE_HELD,
	/* reset: all is handled that was reported before; dependent engines are not held yet */
	VFENCE_RACE_POINT_RECORDS_FLUSHED,
	/* reset: dependent engines are held; nothing is aborted yet */
	VFENCE_RACE_POINT_DEPENDENTS_HELD,
	/* GPU: what ran is off the engine; the ids do not say so yet */
	VFENCE_RACE_POINT_TURN_ABORTED,
	/* reset: the engines run nothing; their records are still ignored */
	VFENCE_RACE_POINT_ENGINES_CHECKED,
	/* reset: records are handled again; what was ignored is not read yet */
	VFENCE_RACE_POINT_UNMASKED,
	/* GPU: the busy word of a function has changed; the host has no message yet */
	VFENCE_RACE_POINT_EDGE,
	/* host: the messages are taken; the words of their functions are not read yet */
	VFENCE_RACE_POINT_NEWS_TAKEN,
	/* host: the response time has passed; it has not decided again yet */
	VFENCE_RACE_POINT_SWITCH_DUE,
	/* host: the engines have stopped; the registers of their owner are not saved yet */
	VFENCE_RACE_POINT_ENGINES_IDLE,
	/* host: the registers of the next owner are in the engines, which do not run yet */
	VFENCE_RACE_POINT_ENGINES_LOADED,
	/* the window that a mutant opens, see vfence_race_point_window() */
	VFENCE_RACE_POINT_WINDOW,
	VFENCE_RACE_POINTS_COUNT,
};

/**
 * DOC: Holds
 *
 * A hold is a place at the beginning of a work, or of a call that may come late. In a test build a
 * test writes the name of a hold to the parameter hold: the first thread that passes it stays there
 * until the test writes another name, or for some seconds. Meanwhile the test takes away what the
 * thread uses. locking.rst says what keeps it.
 */
enum vfence_hold {
	VFENCE_HOLD_QUEUE_STOP,
	VFENCE_HOLD_ADVANCE,
	VFENCE_HOLD_RETIRE,
	VFENCE_HOLD_STAGE,
	VFENCE_HOLD_QUEUE_FAULT,
	VFENCE_HOLD_QUEUE_FREE,
	VFENCE_HOLD_SUBMISSION_FREE,
	VFENCE_HOLD_ARM,
	VFENCE_HOLD_CHANGE,
	VFENCE_HOLD_CONNECTED,
	VFENCE_HOLD_EVENT_FIRE,
	VFENCE_HOLD_SIGNALED,
	VFENCE_HOLD_DEFERRED,
	VFENCE_HOLD_TAKEN,
	VFENCE_HOLD_DECIDED,
	VFENCE_HOLD_ENDING,
	VFENCE_HOLD_IMPORT,
	VFENCE_HOLD_MOVE,
	VFENCE_HOLD_EVICT,
	VFENCE_HOLD_MEMBER,
	VFENCE_HOLD_FOREIGN,
	VFENCE_HOLD_STOP_DEVICE,
	VFENCE_HOLD_LOSS_SWEEP,
	VFENCE_HOLD_THROTTLE,
	VFENCE_HOLD_BUSY,
	VFENCE_HOLDS_COUNT,
};

#ifdef VFENCE_RACE_POINTS
extern unsigned long vfence_race_point_seed;
void vfence_hold_pass(enum vfence_hold hold);
void vfence_hold_pass_busy(enum vfence_hold hold);

#define vfence_hold(name)	vfence_hold_pass(VFENCE_HOLD_##name)
/* The same in vfence_wake_begin(): a hold sleeps. */
#define vfence_hold_in_wake(name) do {	\
	vfence_wake_end();		\
	vfence_hold(name);		\
	vfence_wake_begin();		\
} while (0)
/* The same where a thread may not sleep. */
#define vfence_hold_busy(name)	vfence_hold_pass_busy(VFENCE_HOLD_##name)
void vfence_race_point_hit(enum vfence_race_point point);
void vfence_race_point_window(unsigned int us);

#define vfence_race_point(name) do {					\
	if (READ_ONCE(vfence_race_point_seed))				\
		vfence_race_point_hit(VFENCE_RACE_POINT_##name);	\
} while (0)
#else
#define vfence_race_point(name) do { } while (0)
#define vfence_hold(name) do { } while (0)
#define vfence_hold_in_wake(name) do { } while (0)
#define vfence_hold_busy(name) do { } while (0)
#endif

#endif
