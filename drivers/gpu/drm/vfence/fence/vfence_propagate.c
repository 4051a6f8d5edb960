// SPDX-License-Identifier: GPL-2.0-only
/*
 * Propagation of signals between the members of a cross-adapter fence.
 *
 * A GPU cannot signal another GPU. The CPU propagates a signal: it notifies the queues of the
 * other adapters and completes their CPU waiters (WDDM-105, WDDM-106). Within one adapter a signal
 * releases queues without the CPU (WDDM-108).
 */

#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_trace.h"
#include "fence/vfence_members.h"
#include "fence/vfence_propagate.h"
#include "fence/vfence_waiter.h"

/**
 * struct propagate_signal - a signal to propagate
 */
struct propagate_signal {
	/** @from: member that was signaled */
	struct vfence_fence *from;
	/** @value: value of the signal, which may have been rewound meanwhile */
	u64 value;
	/** @time: time in GPU ticks, read after the value was stored */
	u64 time;
};

static void propagate_to_one(struct vfence_fence *member, const void *arg)
{
	const struct propagate_signal *signal = arg;
	struct vgpu_value_update update = {
		.fence = member->hw,
		.kernel_va = member->current_value,
		.value = signal->value,
		.time = signal->time,
	};

	if (member == signal->from)
		return;
	trace_vfence_cross_adapter(signal->from, member, signal->value, signal->time);
	/* A monitored fence has no update: no queue of the hardware waits for it. */
	if (update.fence && vgpu_fence_update_current_values(member->adapter->gpu, &update, 1,
							     VGPU_UPDATE_NOTIFICATION_ONLY))
		vfence_adapter_lose(member->adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x13);

	vfence_waiter_complete(member, signal->value);
}

/**
 * vfence_propagate_signal - propagate a signal to the other adapters
 * @fence: the member that was signaled
 * @value: the value of the signal, which may have been rewound meanwhile
 * @time: time in GPU ticks, read after the value was stored
 *
 * Process context.
 */
void vfence_propagate_signal(struct vfence_fence *fence, u64 value, u64 time)
{
	const struct propagate_signal signal = { .from = fence, .value = value, .time = time };

	vfence_members_for_each(fence->cross, propagate_to_one, &signal);
}

/**
 * vfence_propagate_note_locked - remember a signal for vfence_propagate_noted()
 * @fence: the member that was signaled, locked
 * @value: the value of the signal
 * @time: time in GPU ticks, read after the value was stored
 *
 * Any context. Each signal is propagated by itself, so that a value that was rewound
 * meanwhile releases the waits it satisfies and no others. If more than
 * VFENCE_CROSS_ADAPTER_PENDING signals are pending the last entry holds the maximum of the rest.
 */
void vfence_propagate_note_locked(struct vfence_fence *fence, u64 value, u64 time)
{
	struct vfence_signaled *last;

	lockdep_assert_held(&fence->lock);

	if (fence->signaled_count < VFENCE_CROSS_ADAPTER_PENDING) {
		fence->signaled[fence->signaled_count++] = (struct vfence_signaled){ value, time };
		return;
	}

	last = &fence->signaled[VFENCE_CROSS_ADAPTER_PENDING - 1];
	last->value = max(last->value, value);
	last->time = max(last->time, time);
}

/** vfence_propagate_noted - propagate the remembered signals; process context */
void vfence_propagate_noted(struct vfence_fence *fence)
{
	struct vfence_signaled signaled[VFENCE_CROSS_ADAPTER_PENDING];
	unsigned int i, count;
	unsigned long flags;

	spin_lock_irqsave(&fence->lock, flags);
	count = fence->signaled_count;
	memcpy(signaled, fence->signaled, count * sizeof(*signaled));
	fence->signaled_count = 0;
	spin_unlock_irqrestore(&fence->lock, flags);

	for (i = 0; i < count; i++)
		vfence_propagate_signal(fence, signaled[i].value, signaled[i].time);
}
