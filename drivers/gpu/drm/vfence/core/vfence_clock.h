/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CLOCK_H_
#define _VFENCE_CLOCK_H_

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/time_namespace.h>

/**
 * vfence_clock_offset - by how many ns the caller's CLOCK_MONOTONIC is ahead of the kernel's
 *
 * It is not 0 for a client in a time namespace.
 */
static inline s64 vfence_clock_offset(void)
{
	struct timespec64 offset = {};

	timens_add_monotonic(&offset);
	return timespec64_to_ns(&offset);
}

/**
 * vfence_clock_deadline - the kernel's time of a deadline of the calling client
 * @ns: time of the caller's CLOCK_MONOTONIC, not negative
 */
static inline ktime_t vfence_clock_deadline(s64 ns)
{
	s64 time;

	if (check_sub_overflow(ns, vfence_clock_offset(), &time))
		time = KTIME_MAX;
	return ns_to_ktime(max_t(s64, time, 0));
}

#endif
