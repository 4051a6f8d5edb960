/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_SHARED_H_
#define _VFENCE_SHARED_H_

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/ww_mutex.h>

extern struct ww_class vfence_shared_class;

/**
 * struct vfence_shared - part of a fence that its members on several adapters share
 *
 * A fence of one adapter embeds it and is its only member. A cross-adapter fence has one.
 */
struct vfence_shared {
	/** @signal_lock: Serialises CPU signals of all members, with the waits they complete. */
	struct ww_mutex signal_lock;
	/**
	 * @signalers: Number of holders that may signal: handles and descriptors with the right,
	 * imports, and signals of submissions. The last one to go ends the waits for the fence, and
	 * none comes later.
	 */
	atomic_t signalers;
	/** @drained: Number of rewinds of all members before the last drain; no lock. */
	u64 drained;
};

void vfence_shared_init(struct vfence_shared *shared, int signalers);
void vfence_shared_fini(struct vfence_shared *shared);
void vfence_shared_drain_signals(struct vfence_shared *shared);

#endif
