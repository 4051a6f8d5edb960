// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two values of a native fence, as engines, CMP and calls of the driver load them.
 */

#include "vgpu_types.h"

/* Call it before the store of @to, which is a release. */
void vgpu_value_count_rewind(struct vgpu_fence *fence, u64 from, u64 to)
{
	if (to < from)
		atomic64_inc(&fence->rewinds);
}

/* Load the value with which an engine compares a signaled value. */
u64 vgpu_value_monitored(struct vgpu_fence *fence)
{
	return fence->shadowed ? READ_ONCE(fence->shadow) :
				 READ_ONCE(*vgpu_value_slot(fence, fence->monitored_value));
}

/* Return true if a wait for @value passes. */
bool vgpu_value_reached(struct vgpu_fence *fence, u64 value)
{
	/*
	 * Acquire: the effects of the signaller. Partners: exec_store_current() and
	 * fence_store_from_cpu().
	 */
	return vfence_reached(smp_load_acquire(vgpu_value_slot(fence, fence->current_value)),
			      value) ||
	       READ_ONCE(fence->always_signaled);
}

void vgpu_value_note_missed(struct vgpu_fence *fence, u64 value, u64 time)
{
	unsigned long flags;

	spin_lock_irqsave(&fence->missed_lock, flags);
	fence->missed.value = max(fence->missed.value, value);
	fence->missed.time = max(fence->missed.time, time);
	spin_unlock_irqrestore(&fence->missed_lock, flags);
}
