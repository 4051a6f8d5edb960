/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_BUCKET_H_
#define _VFENCE_BUCKET_H_

/*
 * How much processor time threads of the kernel may spend for a client. These are pure functions,
 * so that the module and the property tests in user space compile the same source.
 *
 * A bucket is the time at which all that was spent is paid back, if nothing else is spent: n ns are
 * paid back in n times the rate. A client who has spent little may be ahead by a bank.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

/** VFENCE_BUCKET_BANK_NS: how far ahead a client may be, in ns */
#define VFENCE_BUCKET_BANK_NS	20000000ull
/** VFENCE_BUCKET_PROCESS_RATE: a process may have a quarter of a processor */
#define VFENCE_BUCKET_PROCESS_RATE	4
/** VFENCE_BUCKET_USER_RATE: and all processes of a user half of one */
#define VFENCE_BUCKET_USER_RATE	2
/** VFENCE_BUCKET_RESERVE_NS: what is spent as long as it is not known, in ns */
#define VFENCE_BUCKET_RESERVE_NS	1000000ull

/** VFENCE_BUCKET_MOST_NS: what takes longer to pay back is forgotten: others may wait for it */
#define VFENCE_BUCKET_MOST_NS	1000000000ull

/**
 * struct vfence_bucket - what was spent for a client
 */
struct vfence_bucket {
	/** @due: when it is paid back, in ns */
	__u64 due;
	/** @rate: ns that pay back one; constant */
	unsigned int rate;
};

/** vfence_bucket_spend - @ns are spent at @now */
static inline void vfence_bucket_spend(struct vfence_bucket *bucket, __u64 now, __u64 ns)
{
	if (bucket->due < now)
		bucket->due = now;
	bucket->due += ns * bucket->rate;
	if (bucket->due > now + VFENCE_BUCKET_MOST_NS)
		bucket->due = now + VFENCE_BUCKET_MOST_NS;
}

/**
 * vfence_bucket_correct - what was reserved is known
 * @bucket: bucket that the client spends from
 * @now: time, ns
 * @reserved: ns that were spent before the work
 * @ns: ns that the work has taken
 *
 * A client gets back at most what it has reserved.
 */
static inline void vfence_bucket_correct(struct vfence_bucket *bucket, __u64 now, __u64 reserved,
					 __u64 ns)
{
	if (ns > reserved)
		vfence_bucket_spend(bucket, now, ns - reserved);
	else
		bucket->due -= (reserved - ns) * bucket->rate;
}

/** vfence_bucket_ready_at - when may more be spent, in ns? */
static inline __u64 vfence_bucket_ready_at(const struct vfence_bucket *bucket)
{
	return bucket->due < VFENCE_BUCKET_BANK_NS ? 0 : bucket->due - VFENCE_BUCKET_BANK_NS;
}

#endif
