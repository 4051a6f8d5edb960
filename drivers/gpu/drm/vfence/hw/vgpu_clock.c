// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU clock: it has its own frequency and its own offset.
 */

#include <linux/math64.h>

#include "vgpu_types.h"

/* The offset makes a program fail at once that confuses this clock with CLOCK_MONOTONIC. */
#define CLOCK_OFFSET	1000000000000ull

/* The time of CLOCK_MONOTONIC on the clock of the GPUs, in ticks. */
u64 vgpu_clock_at(u64 ns)
{
	BUILD_BUG_ON(NSEC_PER_SEC % VGPU_CLOCK_HZ);
	return CLOCK_OFFSET + div_u64(ns, NSEC_PER_SEC / VGPU_CLOCK_HZ);
}

/* The reverse: no later than what vgpu_clock_at() was called with. */
u64 vgpu_clock_ns(u64 ticks)
{
	return (ticks - CLOCK_OFFSET) * (NSEC_PER_SEC / VGPU_CLOCK_HZ);
}

u64 vgpu_clock_now(struct vgpu *gpu)
{
	return vgpu_clock_at(ktime_get_ns());
}

void vgpu_clock_query(struct vgpu *gpu, u64 *gpu_ticks, u64 *cpu_ns)
{
	*cpu_ns = ktime_get_ns();
	*gpu_ticks = vgpu_clock_at(*cpu_ns);
}
