// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power states: engines that have been idle for long request F1, and the driver can power off
 * the whole GPU.
 *
 * ::
 *
 *    F0 --idle for long--> requested --doorbells disconnected, enter--> F1
 *     ^                        |                                        |
 *     +--- work or a connect --+----------------------------------------+
 */

#include <linux/mm.h>
#include <linux/string.h>

#include "vgpu_types.h"

/* Contents of video memory after the power was off. */
#define POWER_LOST_BYTE	0xd3

/*
 * Find a function from which the engine may request F1. No function may have work for it or
 * hold it.
 */
static struct vgpu_node *power_next_to_ask_locked(struct vgpu_engine *engine)
{
	struct vgpu_chip *chip = engine->chip;
	struct vgpu_node *ask = NULL;
	unsigned int i;

	lockdep_assert_held(&chip->sched);
	/* A reset expects silence. */
	if (engine->held)
		return NULL;

	for (i = 0; i < chip->functions; i++) {
		struct vgpu *gpu = chip->function[i];
		struct vgpu_node *node = gpu ? &gpu->node[engine->node] : NULL;

		if (node && node->active)
			return NULL;
		if (node && !node->f1 && !node->wants_f1)
			ask = node;
	}

	return ask;
}

bool vgpu_power_may_ask_f1(struct vgpu_engine *engine)
{
	unsigned long flags;
	bool may;

	if (!engine->chip->f1_idle_us)
		return false;
	spin_lock_irqsave(&engine->chip->sched, flags);
	may = power_next_to_ask_locked(engine);
	spin_unlock_irqrestore(&engine->chip->sched, flags);
	return may;
}

void vgpu_power_ask_f1(struct vgpu_engine *engine)
{
	struct vgpu_cmp_post post = {
		.type = VGPU_IRQ_GPU_ENGINE_STATE_CHANGE,
		.node = engine->node,
	};
	struct vgpu_node *node;
	unsigned long flags;

	spin_lock_irqsave(&engine->chip->sched, flags);
	while ((node = power_next_to_ask_locked(engine))) {
		WRITE_ONCE(node->wants_f1, true);
		node->f1_requests++;
		vgpu_cmp_post(node->gpu, &post);
	}

	spin_unlock_irqrestore(&engine->chip->sched, flags);
}

u64 vgpu_power_f1_request(struct vgpu *gpu, unsigned int node)
{
	unsigned long flags;
	u64 request;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	request = gpu->node[node].f1_requests;
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return request;
}

bool vgpu_power_enter_f1(struct vgpu *gpu, unsigned int ordinal, u64 request)
{
	struct vgpu_node *node = &gpu->node[ordinal];
	bool entered = false;
	unsigned long flags;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	/* A later request has a record of its own. */
	if (node->f1_requests == request) {
		entered = node->wants_f1 && !node->active;
		WRITE_ONCE(node->f1, entered);
		WRITE_ONCE(node->wants_f1, false);
	}
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return entered;
}

bool vgpu_power_in_f1(struct vgpu *gpu, unsigned int node)
{
	return READ_ONCE(gpu->node[node].f1);
}

static bool power_is_idle_locked(struct vgpu *gpu)
{
	unsigned int i;

	lockdep_assert_held(&gpu->chip->sched);
	for (i = 0; i < gpu->config.nodes; i++)
		if (gpu->node[i].active)
			return false;
	return true;
}

bool vgpu_power_is_idle(struct vgpu *gpu)
{
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	idle = power_is_idle_locked(gpu);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	return idle;
}

bool vgpu_power_enter_d3(struct vgpu *gpu)
{
	unsigned long flags;
	bool entered;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	entered = power_is_idle_locked(gpu);
	WRITE_ONCE(gpu->d3, entered);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	if (entered)
		memset(gpu->local, POWER_LOST_BYTE, (size_t)gpu->config.local_pages * PAGE_SIZE);
	return entered;
}

void vgpu_power_enter_d0(struct vgpu *gpu)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	WRITE_ONCE(gpu->d3, false);
	for (i = 0; i < gpu->config.nodes; i++)
		vgpu_time_open_locked(&gpu->chip->engine[i]);
	vgpu_vf_switch_kick_locked(gpu);
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}
