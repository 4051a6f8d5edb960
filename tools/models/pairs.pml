/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two parties each store their own word and then load the word of the other party. At least
 * one of them must see the store of the other. The handshakes of the other models are of
 * this kind. The smaller handshakes below are of this kind, too, and need no model of their
 * own. `make lint` checks that each function that a model names has its barrier, and that
 * a model names each barrier of the driver.
 *
 *   one party                                the other
 *   barrier vfence_fence_handle_add                 an atomic of vfence_device_fail()
 *   barrier queue_publish_locked             an atomic of vfence_device_fail()
 *   barrier kernel_queue_drain      an atomic of vfence_room_enter()
 *   barrier vector_deliver_call              an atomic of vector_call_cpu()
 *   barrier vector_unmask                    an atomic of vector_deliver()
 *   barrier vgpu_cmp_update_shadow           barrier exec_signal_fence
 *   barrier rescan_propagate signal_batch  a lock of vgpu_fence_block()
 *
 * Mutants: NO_BARRIER_LEFT NO_BARRIER_RIGHT
 */
#define LEFT	0
#define RIGHT	1
#define WORDS	2
#define PROCS	2
#include "tso.h"

bool seen[2], ended[2];

proctype left(byte me)
{
	byte other;

	STORE(LEFT, 1);
#ifndef NO_BARRIER_LEFT
	FULL_BARRIER;
#endif
	LOAD(RIGHT, other);
	seen[0] = other;
	ended[0] = true
}

proctype right(byte me)
{
	byte other;

	STORE(RIGHT, 1);
#ifndef NO_BARRIER_RIGHT
	FULL_BARRIER;
#endif
	LOAD(LEFT, other);
	seen[1] = other;
	ended[1] = true
}

init
{
	START_MACHINE;
	atomic {
		run left(0);
		run right(1)
	}
	timeout ->
	assert(ended[0] && ended[1]);
	assert(seen[0] || seen[1])
}
