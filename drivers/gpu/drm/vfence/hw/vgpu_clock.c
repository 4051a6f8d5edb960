// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU clock: ticks of its own frequency, with an offset of its own.
 */

#include <linux/math64.h>

#include "vgpu_types.h"

/* With the offset a program that mixes up the two clocks fails at once. */
#define CLOCK_OFFSET	1000000000000ull

static u64 clock_ticks_of(u64 ns)
{
	BUILD_BUG_ON(NSEC_PER_SEC % VGPU_CLOCK_HZ);
	return CLOCK_OFFSET + div_u64(ns, NSEC_PER_SEC / VGPU_CLOCK_HZ);
}

u64 vgpu_clock_now(struct vgpu *gpu)
{
	return clock_ticks_of(ktime_get_ns());
}

void vgpu_clock_query(struct vgpu *gpu, u64 *gpu_ticks, u64 *cpu_ns)
{
	*cpu_ns = ktime_get_ns();
	*gpu_ticks = clock_ticks_of(*cpu_ns);
}
