// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two values of a native fence, as engines, the CMP and the DDI read them.
 */

#include "vgpu_types.h"

/* Before @to is stored; the store that follows is a release. */
void vgpu_value_count_rewind(struct vgpu_fence *fence, u64 from, u64 to)
{
	if (to < from)
		atomic64_inc(&fence->rewinds);
}

/* What an engine compares a signaled value with. */
u64 vgpu_value_monitored(struct vgpu_fence *fence)
{
	return fence->shadowed ? READ_ONCE(fence->shadow) :
				 READ_ONCE(*vgpu_value_slot(fence, fence->monitored_value));
}

/* May a wait for @value pass? */
bool vgpu_value_reached(struct vgpu_fence *fence, u64 value)
{
	/* Acquire: what the signaller did. Partners: store_current(), store_update(). */
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
