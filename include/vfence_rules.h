/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RULES_H_
#define _VFENCE_RULES_H_

/*
 * The arithmetic of native fences and logs. It uses no locks and nothing of DRM, so that
 * the module and the property tests in user space compile the same source.
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

/** VFENCE_NOT_MONITORED: the monitored value of a fence without waiters (WDDM-6) */
#define VFENCE_NOT_MONITORED	(~(u64)0)

/**
 * vfence_reached - does @current_value satisfy a wait for @awaited (WDDM-1)
 * @current_value: current value of the fence
 * @awaited: value that the waiter waits for
 */
static inline bool vfence_reached(u64 current_value, u64 awaited)
{
	return current_value >= awaited;
}

/**
 * vfence_widen - extend a 32-bit value to 64 bits (WDDM-128)
 * @near: a 64-bit value close to the result
 * @low: low half of the result
 *
 * Return: the value nearest to @near that has the low half @low. The result may be on the
 * other side of a 32-bit wrap, but not below 0.
 */
static inline u64 vfence_widen(u64 near, u32 low)
{
	u32 ahead = low - (u32)near, back = (u32)near - low;

	return ahead <= back || near < back ? near + ahead : near - back;
}

/**
 * vfence_monitored - the monitored value for a least awaited value (WDDM-5)
 * @least_awaited: least value of any waiter; never 0, as a wait for 0 is always satisfied
 */
static inline u64 vfence_monitored(u64 least_awaited)
{
	return least_awaited - 1;
}

/**
 * vfence_must_interrupt - must a signal of @value interrupt the CPU (WDDM-9, -10)
 * @value: the new current value
 * @monitored: the monitored value
 */
static inline bool vfence_must_interrupt(u64 value, u64 monitored)
{
	return value > monitored;
}

/*
 * The write position of a log is one 64-bit word: the first free index in the low half, the
 * wrap count in the high half. vfence_log_position() converts it to the number of entries
 * written so far, which is unique for each entry.
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
