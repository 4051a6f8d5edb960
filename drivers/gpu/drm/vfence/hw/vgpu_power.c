// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power states: engines that have been idle for long ask for F1, and the GPU as a
 * whole can be switched off.
 *
 * ::
 *
 *    F0 --idle for long--> asked --doorbells gone, enter--> F1
 *     ^                      |                               |
 *     +-- work, or a connect +-------------------------------+
 */

#include <linux/mm.h>
#include <linux/string.h>

#include "vgpu_types.h"

/* What memory without power has in it. */
#define NO_POWER	0xd3

bool vgpu_power_may_ask_f1(const struct vgpu_engine *engine)
{
	return engine->gpu->config.f1_idle_us && !READ_ONCE(engine->active) &&
	       !READ_ONCE(engine->f1) && !READ_ONCE(engine->wants_f1);
}

void vgpu_power_ask_f1(struct vgpu_engine *engine)
{
	struct vgpu_post post = {
		.type = VGPU_IRQ_GPU_ENGINE_STATE_CHANGE,
		.node = engine->node,
	};
	unsigned long flags;

	spin_lock_irqsave(&engine->gpu->sched, flags);
	if (vgpu_power_may_ask_f1(engine)) {
		WRITE_ONCE(engine->wants_f1, true);
		vgpu_cmp_post(engine->gpu, &post);
	}
	spin_unlock_irqrestore(&engine->gpu->sched, flags);
}

bool vgpu_power_enter_f1(struct vgpu *gpu, unsigned int node)
{
	struct vgpu_engine *engine = &gpu->engine[node];
	unsigned long flags;
	bool entered;

	spin_lock_irqsave(&gpu->sched, flags);
	entered = engine->wants_f1 && !engine->active;
	WRITE_ONCE(engine->f1, entered);
	WRITE_ONCE(engine->wants_f1, false);
	spin_unlock_irqrestore(&gpu->sched, flags);
	return entered;
}

bool vgpu_power_in_f1(struct vgpu *gpu, unsigned int node)
{
	return READ_ONCE(gpu->engine[node].f1);
}

static bool idle_locked(struct vgpu *gpu)
{
	unsigned int i;

	lockdep_assert_held(&gpu->sched);
	for (i = 0; i < gpu->config.nodes; i++)
		if (gpu->engine[i].active)
			return false;
	return true;
}

bool vgpu_power_is_idle(struct vgpu *gpu)
{
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&gpu->sched, flags);
	idle = idle_locked(gpu);
	spin_unlock_irqrestore(&gpu->sched, flags);
	return idle;
}

bool vgpu_power_enter_d3(struct vgpu *gpu)
{
	unsigned long flags;
	bool entered;

	spin_lock_irqsave(&gpu->sched, flags);
	entered = idle_locked(gpu);
	WRITE_ONCE(gpu->d3, entered);
	spin_unlock_irqrestore(&gpu->sched, flags);
	if (entered)
		memset(gpu->local, NO_POWER, (size_t)gpu->config.local_pages * PAGE_SIZE);
	return entered;
}

void vgpu_power_enter_d0(struct vgpu *gpu)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&gpu->sched, flags);
	WRITE_ONCE(gpu->d3, false);
	for (i = 0; i < gpu->config.nodes; i++)
		wake_up_all(&gpu->engine[i].wait);
	spin_unlock_irqrestore(&gpu->sched, flags);
}
