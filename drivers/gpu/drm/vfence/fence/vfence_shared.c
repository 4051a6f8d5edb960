// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of a fence that its members on several adapters share. A fence of one adapter has it,
 * too: it is its own only member.
 */

#include "fence/vfence_shared.h"

/* Fences of one call are locked in the order of the call: the call that came later gives way. */
DEFINE_WW_CLASS(vfence_shared_class);

/**
 * vfence_shared_init - initialise the shared part of a new fence
 * @shared: the shared part
 * @signalers: number of holders that may signal
 */
void vfence_shared_init(struct vfence_shared *shared, int signalers)
{
	ww_mutex_init(&shared->signal_lock, &vfence_shared_class);
	atomic_set(&shared->signalers, signalers);
	shared->drained = 0;
}

/** vfence_shared_fini - undo vfence_shared_init() */
void vfence_shared_fini(struct vfence_shared *shared)
{
	ww_mutex_destroy(&shared->signal_lock);
}

/**
 * vfence_shared_drain_signals - wait for the CPU signals that are in progress
 * @shared: the shared part of the fence
 *
 * A CPU signal stores its value and completes the waits under one lock. Process context.
 */
void vfence_shared_drain_signals(struct vfence_shared *shared)
{
	ww_mutex_lock(&shared->signal_lock, NULL);
	ww_mutex_unlock(&shared->signal_lock);
}
