// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mailbox of a function: its driver sends messages to the host, and the host to its driver. To
 * the driver they come with an interrupt. Messages of one kind collapse.
 */

#include "vgpu_types.h"

bool vgpu_mailbox_send(struct vgpu *gpu, u32 message)
{
	struct vgpu_chip *chip = gpu->chip;
	unsigned long flags;
	bool listens;

	spin_lock_irqsave(&chip->sched, flags);
	listens = chip->vf_switch_ops;
	if (listens)
		chip->vf_switch_ops->mail(chip->vf_switch_host, gpu->index, message);
	spin_unlock_irqrestore(&chip->sched, flags);
	return listens;
}

void vgpu_mailbox_notify(struct vgpu *gpu, u32 message)
{
	const struct vgpu_cmp_post post = { .type = VGPU_IRQ_MAILBOX };

	/* Full barrier: the message is there before its interrupt. Partner: vgpu_mailbox_take(). */
	atomic_fetch_or(BIT(message), &gpu->mail);
	vgpu_cmp_post(gpu, &post);
}

u32 vgpu_mailbox_take(struct vgpu *gpu)
{
	return atomic_xchg(&gpu->mail, 0);
}
