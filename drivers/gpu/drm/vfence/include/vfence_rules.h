/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RULES_H_
#define _VFENCE_RULES_H_

/*
 * The arithmetic of native fences and logs, free of locks and of DRM, so that
 * the module and user-space property tests compile the same lines.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#include <linux/types.h>
typedef uint64_t u64;
typedef uint32_t u32;
#endif

/** VFENCE_NOT_MONITORED: monitored value of a fence without waiters (WDDM-6) */
#define VFENCE_NOT_MONITORED	(~(u64)0)

/**
 * vfence_reached - is a wait for @awaited satisfied by @current_value (WDDM-1)
 * @current_value: the fence's current value
 * @awaited: the value waited for
 */
static inline bool vfence_reached(u64 current_value, u64 awaited)
{
	return current_value >= awaited;
}

/**
 * vfence_widen - what a value of 32 bits means (WDDM-128)
 * @near: a value of 64 bits it is not far from
 * @low: its low half
 *
 * The nearest value with that low half, across the wrap; below 0 there is none.
 */
static inline u64 vfence_widen(u64 near, u32 low)
{
	u32 ahead = low - (u32)near, back = (u32)near - low;

	return ahead <= back || near < back ? near + ahead : near - back;
}

/**
 * vfence_monitored - the monitored value for a least awaited value (WDDM-5)
 * @least_awaited: smallest value of any waiter; never 0, as 0 is always reached
 */
static inline u64 vfence_monitored(u64 least_awaited)
{
	return least_awaited - 1;
}

/**
 * vfence_must_interrupt - does storing @value need an interrupt (WDDM-9, -10)
 * @value: the new current value
 * @monitored: the monitored value
 */
static inline bool vfence_must_interrupt(u64 value, u64 monitored)
{
	return value > monitored;
}

/*
 * A log's place is one 64-bit word: the first free index in the low half, the
 * wrap count in the high half. Counted as a position, entries never repeat.
 */
static inline u32 vfence_log_index(u64 word)
{
	return (u32)word;
}

static inline u64 vfence_log_position(u64 word, u32 entries)
{
	return (word >> 32) * entries + (u32)word;
}

static inline u64 vfence_log_advance(u64 word, u32 entries)
{
	if ((u32)word + 1 < entries)
		return word + 1;
	return ((word >> 32) + 1) << 32;
}

#endif
