// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host resets a function, or the whole GPU. It notifies the driver of each function before the
 * reset, waits a short time for an answer, and notifies the driver after the reset. The driver then
 * sets up the function again, see reset/vfence_mailbox.c.
 */

#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

#include "hw/vgpu.h"
#include "vf/vfence_flr.h"

/* Time to answer a notice: if one function is reset, and if the whole GPU is. */
#define FLR_ANSWER_MS		10
#define FLR_CHIP_ANSWER_MS	500

/** vfence_flr_init - begin; cannot fail */
void vfence_flr_init(struct vfence_flr *flr)
{
	init_waitqueue_head(&flr->wait);
}

/** vfence_flr_answered - the driver of a function is ready for its reset; any context */
void vfence_flr_answered(struct vfence_flr *flr, unsigned int function)
{
	atomic_or(BIT(function), &flr->ready);
	wake_up_all(&flr->wait);
}

static bool flr_are_ready(const struct vfence_flr *flr, u32 functions)
{
	return (atomic_read(&flr->ready) & functions) == functions;
}

/**
 * vfence_flr_function - reset a function
 * @flr: the resets of the chip
 * @gpu: the function
 *
 * On return nothing of the function runs on an engine. Its own driver finishes the reset, so that
 * the host waits for none of its clients. Process context.
 *
 * Return: false if it cannot be reset alone: then the whole GPU has to be reset.
 */
bool vfence_flr_function(struct vfence_flr *flr, struct vgpu *gpu)
{
	u32 function = BIT(vgpu_vf_switch_index(gpu));

	atomic_andnot(function, &flr->ready);
	vgpu_mailbox_notify(gpu, VGPU_MAIL_FLR_NOTICE);
	/* Reset also without an answer: the driver may hang. */
	wait_event_timeout(flr->wait, flr_are_ready(flr, function),
			   msecs_to_jiffies(FLR_ANSWER_MS));
	if (vgpu_reset_flr(gpu))
		return false;
	vgpu_mailbox_notify(gpu, VGPU_MAIL_FLR_DONE);
	return true;
}

/**
 * vfence_flr_chip - reset the whole GPU
 * @flr: the resets of the chip
 * @gpu: all functions; entries may be NULL
 * @count: number of entries
 * @suspect: the function that has caused it
 */
void vfence_flr_chip(struct vfence_flr *flr, struct vgpu *const *gpu, unsigned int count,
		     const struct vgpu *suspect)
{
	u32 functions = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (gpu[i])
			functions |= BIT(vgpu_vf_switch_index(gpu[i]));
	atomic_andnot(functions, &flr->ready);
	for (i = 0; i < count; i++)
		if (gpu[i])
			vgpu_mailbox_notify(gpu[i], VGPU_MAIL_FLR_NOTICE);
	wait_event_timeout(flr->wait, flr_are_ready(flr, functions),
			   msecs_to_jiffies(FLR_CHIP_ANSWER_MS));
	for (i = 0; i < count; i++) {
		if (!gpu[i])
			continue;
		vgpu_reset_with_chip(gpu[i]);
		vgpu_mailbox_notify(gpu[i], gpu[i] == suspect ? VGPU_MAIL_FLR_DONE :
							    VGPU_MAIL_GPU_RESET_DONE);
	}
}
