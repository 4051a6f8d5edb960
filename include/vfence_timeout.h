/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_TIMEOUT_H_
#define _VFENCE_TIMEOUT_H_

/*
 * Decisions about time-outs and resets (WDDM-142, WDDM-150, WDDM-163 to WDDM-165). These are
 * pure functions, so that the module and the property tests in user space compile the same
 * source.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

/**
 * enum vfence_timeout_level - what a time-out leads to; the values are those of TdrLevel
 *
 * Level 2 of Windows, which falls back to a simple display driver, does not exist here.
 */
enum vfence_timeout_level {
	/** @VFENCE_TIMEOUT_LEVEL_OFF: Nothing. */
	VFENCE_TIMEOUT_LEVEL_OFF = 0,
	/** @VFENCE_TIMEOUT_LEVEL_BUGCHECK: The adapter is lost. */
	VFENCE_TIMEOUT_LEVEL_BUGCHECK = 1,
	/** @VFENCE_TIMEOUT_LEVEL_RECOVER: What hangs is reset, the rest goes on. */
	VFENCE_TIMEOUT_LEVEL_RECOVER = 3,
};

/**
 * enum vfence_timeout_debug_mode - exceptions for debugging; the values are those of TdrDebugMode
 *
 * Mode 0 of Windows, which breaks into the kernel debugger, does not exist here.
 */
enum vfence_timeout_debug_mode {
	/** @VFENCE_TIMEOUT_DEBUG_IGNORE: Ignore time-outs. */
	VFENCE_TIMEOUT_DEBUG_IGNORE = 1,
	/** @VFENCE_TIMEOUT_DEBUG_NORMAL: No exception. */
	VFENCE_TIMEOUT_DEBUG_NORMAL = 2,
	/** @VFENCE_TIMEOUT_DEBUG_ALWAYS: Recover, even if limits are exceeded. */
	VFENCE_TIMEOUT_DEBUG_ALWAYS = 3,
};

/**
 * struct vfence_timeout_config - how an adapter handles time-outs
 *
 * An administrator changes the members at any time; read each of them once.
 */
struct vfence_timeout_config {
	/** @level: &enum vfence_timeout_level */
	__u32 level;
	/** @delay_ms: TdrDelay in ms: how long a queue may take to leave its engine */
	__u32 delay_ms;
	/** @debug_mode: &enum vfence_timeout_debug_mode */
	__u32 debug_mode;
	/**
	 * @ddi_delay_ms: TdrDdiDelay in ms: how long the reset of an engine may take, and threads
	 * to leave the driver
	 */
	__u32 ddi_delay_ms;
	/**
	 * @limit_count: TdrLimitCount: as many resets of the adapter may be within
	 * @limit_time_s, and as many hangs block a process
	 */
	__u32 limit_count;
	/** @limit_time_s: TdrLimitTime in s */
	__u32 limit_time_s;
};

/* Defaults, those of Windows. */
#define VFENCE_TIMEOUT_DEFAULTS {						\
	.level = VFENCE_TIMEOUT_LEVEL_RECOVER,				\
	.delay_ms = 2000,						\
	.debug_mode = VFENCE_TIMEOUT_DEBUG_NORMAL,			\
	.ddi_delay_ms = 5000,						\
	.limit_count = 5,						\
	.limit_time_s = 60,						\
}

/* Upper limit of @delay_ms and @ddi_delay_ms. */
#define VFENCE_TIMEOUT_MAX_DELAY_MS		900000
/* Upper limit of @limit_count. */
#define VFENCE_TIMEOUT_MAX_HANGS		32
/* Number of hangs that a window remembers: one more than may be, and a power of two. */
#define VFENCE_TIMEOUT_WINDOW			64
/* Upper limit of @limit_time_s. */
#define VFENCE_TIMEOUT_MAX_TIME_S		3600

/**
 * struct vfence_timeout_window - when the last hangs were
 */
struct vfence_timeout_window {
	/** @at_ms: times in ms, in a ring */
	__u64 at_ms[VFENCE_TIMEOUT_WINDOW];
	/** @hangs: number of all hangs; the next one goes to this place, modulo the size */
	__u64 hangs;
};

/**
 * enum vfence_timeout_type - why there is a recovery: DXGK_TDR_TYPE (WDDM-169)
 *
 * The other numbers have no cause here: an engine that can only be reset with the adapter (2),
 * displays and their interrupts (3, 4, 5), debugging of the operating system (7, 8), fences of old
 * drivers (11), and hosts of virtual machines (13).
 */
enum vfence_timeout_type {
	/** @VFENCE_TIMEOUT_UNKNOWN: Never reported. */
	VFENCE_TIMEOUT_UNKNOWN = 0,
	/** @VFENCE_TIMEOUT_FORCED: An administrator has asked for it. */
	VFENCE_TIMEOUT_FORCED = 1,
	/** @VFENCE_TIMEOUT_ENGINE: An engine neither ended its work nor gave it back in time. */
	VFENCE_TIMEOUT_ENGINE = 6,
	/** @VFENCE_TIMEOUT_PROMOTED: The reset of an engine did not help. */
	VFENCE_TIMEOUT_PROMOTED = 9,
	/** @VFENCE_TIMEOUT_PAGE_FAULT: A page fault has requested a reset of the adapter. */
	VFENCE_TIMEOUT_PAGE_FAULT = 10,
	/** @VFENCE_TIMEOUT_ENGINE_PAGE_FAULT: A page fault has requested a reset of its engine. */
	VFENCE_TIMEOUT_ENGINE_PAGE_FAULT = 12,
};

/**
 * enum vfence_timeout_action - what to do about a time-out
 */
enum vfence_timeout_action {
	/** @VFENCE_TIMEOUT_IGNORE: Do nothing; the same time-out may be reported again. */
	VFENCE_TIMEOUT_IGNORE,
	/** @VFENCE_TIMEOUT_RECOVER: Reset what hangs. */
	VFENCE_TIMEOUT_RECOVER,
	/** @VFENCE_TIMEOUT_FATAL: The adapter is lost. */
	VFENCE_TIMEOUT_FATAL,
};

static inline bool vfence_timeout_level_valid(__u32 level)
{
	return level == VFENCE_TIMEOUT_LEVEL_OFF || level == VFENCE_TIMEOUT_LEVEL_BUGCHECK ||
	       level == VFENCE_TIMEOUT_LEVEL_RECOVER;
}

static inline bool vfence_timeout_delay_ms_valid(__u32 delay_ms)
{
	return delay_ms && delay_ms <= VFENCE_TIMEOUT_MAX_DELAY_MS;
}

static inline bool vfence_timeout_debug_mode_valid(__u32 mode)
{
	return mode >= VFENCE_TIMEOUT_DEBUG_IGNORE && mode <= VFENCE_TIMEOUT_DEBUG_ALWAYS;
}

static inline bool vfence_timeout_limit_count_valid(__u32 count)
{
	return count && count <= VFENCE_TIMEOUT_MAX_HANGS;
}

static inline bool vfence_timeout_limit_time_s_valid(__u32 time_s)
{
	return time_s && time_s <= VFENCE_TIMEOUT_MAX_TIME_S;
}

/** vfence_timeout_note - there was a hang at this time, which is not before the last one */
static inline void vfence_timeout_note(struct vfence_timeout_window *window, __u64 now_ms)
{
	window->at_ms[window->hangs++ % VFENCE_TIMEOUT_WINDOW] = now_ms;
}

static inline bool vfence_timeout_hung_ever(const struct vfence_timeout_window *window)
{
	return window->hangs;
}

/* Were the last hang and the one @back before it within the time? */
static inline bool vfence_timeout_within(const struct vfence_timeout_config *config,
					 const struct vfence_timeout_window *window, __u32 back)
{
	__u64 last = window->hangs - 1, first = last - back;

	if (window->hangs <= back)
		return false;
	return window->at_ms[last % VFENCE_TIMEOUT_WINDOW] -
	       window->at_ms[first % VFENCE_TIMEOUT_WINDOW] <=
	       (__u64)config->limit_time_s * 1000;
}

/**
 * vfence_timeout_blocks - does the last hang exceed what a process may hang (WDDM-164)
 * @config: the configuration
 * @window: hangs of the process, at least one
 *
 * A process may hang engines once less often than Windows lets an adapter hang: the hang that
 * reaches the limit blocks it.
 */
static inline bool vfence_timeout_blocks(const struct vfence_timeout_config *config,
					 const struct vfence_timeout_window *window)
{
	return config->debug_mode != VFENCE_TIMEOUT_DEBUG_ALWAYS &&
	       vfence_timeout_within(config, window, config->limit_count - 1);
}

/* Number of times that the time doubles for which a user leaves engines to others. */
#define VFENCE_TIMEOUT_THROTTLE_SHIFT		4
/* Upper limit of that time: what other processes of the user do waits, too. */
#define VFENCE_TIMEOUT_MAX_THROTTLE_MS		10000

/**
 * vfence_timeout_throttle_ms - how long a user who hung an engine leaves it to others
 * @config: the configuration
 * @window: hangs of the user, at least one
 * @taken_ms: for how long others can have lacked the engine
 *
 * A process that is blocked has a successor, so the user pays: as long as he took, and twice as
 * long after each further hang within the time.
 */
static inline __u64 vfence_timeout_throttle_ms(const struct vfence_timeout_config *config,
					       const struct vfence_timeout_window *window,
					       __u32 taken_ms)
{
	__u64 ms = taken_ms;
	__u32 i;

	if (config->debug_mode == VFENCE_TIMEOUT_DEBUG_ALWAYS)
		return 0;
	for (i = 1; i <= VFENCE_TIMEOUT_THROTTLE_SHIFT; i++)
		if (vfence_timeout_within(config, window, i))
			ms *= 2;
	return ms < VFENCE_TIMEOUT_MAX_THROTTLE_MS ? ms : VFENCE_TIMEOUT_MAX_THROTTLE_MS;
}

/**
 * vfence_timeout_ends_adapter - does the last hang exceed what an adapter may hang (WDDM-163)
 * @config: the configuration
 * @window: hangs that made the whole adapter be reset, at least one
 *
 * As many as @limit_count may be within the time; the next one is fatal.
 */
static inline bool vfence_timeout_ends_adapter(const struct vfence_timeout_config *config,
					       const struct vfence_timeout_window *window)
{
	return config->debug_mode != VFENCE_TIMEOUT_DEBUG_ALWAYS &&
	       vfence_timeout_within(config, window, config->limit_count);
}

/**
 * vfence_timeout_aborted_valid - can the reset of an engine have aborted this id (WDDM-150)
 * @completed: last id that was completed when the engine was held
 * @turn: id that was on the engine then, or 0
 * @aborted: LastAbortedFenceId
 *
 * It is an id that the engine had. Ids in between were preempted: the engine has them no more.
 */
static inline bool vfence_timeout_aborted_valid(__u64 completed, __u64 turn, __u64 aborted)
{
	return aborted == completed || (turn && aborted == turn);
}

/* Least time in which an engine answers: its thread may have to wait for a processor. */
#define VFENCE_TIMEOUT_ANSWER_MS		500
/* Time for queues to leave an engine that is about to be reset (WDDM-148). */
#define VFENCE_TIMEOUT_PREEMPT_MS		500
/* Time for the CMP to handle all posts, of which it can have 1024. */
#define VFENCE_TIMEOUT_FLUSH_MS			500

/**
 * vfence_timeout_left - how long an engine still has for what it was asked for (WDDM-142)
 * @delay_ms: TdrDelay
 * @asked_at: when it was asked, in ns
 * @now: in ns, not before @asked_at
 *
 * Return: time in ns; 0: it is over.
 */
static inline __u64 vfence_timeout_left(__u32 delay_ms, __u64 asked_at, __u64 now)
{
	__u64 delay = (__u64)delay_ms * 1000000, passed = now - asked_at;

	return passed < delay ? delay - passed : 0;
}

/** vfence_timeout_decide - what to do about a time-out under a configuration (WDDM-165) */
static inline enum vfence_timeout_action
vfence_timeout_decide(const struct vfence_timeout_config *config)
{
	if (config->level == VFENCE_TIMEOUT_LEVEL_OFF ||
	    config->debug_mode == VFENCE_TIMEOUT_DEBUG_IGNORE)
		return VFENCE_TIMEOUT_IGNORE;
	return config->level == VFENCE_TIMEOUT_LEVEL_BUGCHECK ? VFENCE_TIMEOUT_FATAL :
								 VFENCE_TIMEOUT_RECOVER;
}

#endif
