/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_GUARD_H_
#define _VFENCE_GUARD_H_

/*
 * A guard limits the number of events of one kind that the host accepts from a function within a
 * sliding window. The host drops the events beyond the limit. These are pure functions: the module
 * and the property tests in user space compile the same source.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

/** VFENCE_GUARD_EVENTS: largest limit */
#define VFENCE_GUARD_EVENTS	64

/**
 * enum vfence_guard_kind - the kinds of events
 */
enum vfence_guard_kind {
	/** @VFENCE_GUARD_FLR: resets that the function asks for */
	VFENCE_GUARD_FLR,
	/** @VFENCE_GUARD_ACCESS: requests for full access */
	VFENCE_GUARD_ACCESS,
	/** @VFENCE_GUARD_TIMEOUT: full accesses that took too long; then no request is admitted */
	VFENCE_GUARD_TIMEOUT,
	/** @VFENCE_GUARD_MAILBOX: messages, but not the repetition of a request that waits */
	VFENCE_GUARD_MAILBOX,
	/** @VFENCE_GUARDS: number of the kinds */
	VFENCE_GUARDS,
};

/**
 * struct vfence_guard_limit - a limit
 */
struct vfence_guard_limit {
	/** @events: most events within @window_ms, to VFENCE_GUARD_EVENTS; 0: no limit */
	__u32 events;
	/** @window_ms: length of the window, in ms */
	__u32 window_ms;
};

/**
 * struct vfence_guard - the events of one kind of one function
 */
struct vfence_guard {
	/** @limit: the limit */
	struct vfence_guard_limit limit;
	/** @at: when the last events were admitted, in ns */
	__u64 at[VFENCE_GUARD_EVENTS];
	/** @admitted: number of events so far that were admitted */
	__u64 admitted;
	/** @dropped: number of events so far that were not */
	__u64 dropped;
};

/** vfence_guard_is_full - would an event at @now, in ns, be dropped */
static inline bool vfence_guard_is_full(const struct vfence_guard *guard, __u64 now)
{
	__u64 window = (__u64)guard->limit.window_ms * 1000000;
	__u32 events = guard->limit.events;

	if (!events || guard->admitted < events)
		return false;
	return now - guard->at[(guard->admitted - events) % VFENCE_GUARD_EVENTS] < window;
}

/** vfence_guard_admit - an event at @now, in ns: may it pass */
static inline bool vfence_guard_admit(struct vfence_guard *guard, __u64 now)
{
	if (vfence_guard_is_full(guard, now)) {
		guard->dropped++;
		return false;
	}
	guard->at[guard->admitted++ % VFENCE_GUARD_EVENTS] = now;
	return true;
}

#endif
