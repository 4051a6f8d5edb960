/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_PHYSICAL_H_
#define _VFENCE_PHYSICAL_H_

#include <linux/types.h>

struct vfence_adapter;
struct vfence_doorbell;

/**
 * enum vfence_physical_state - whether a doorbell has a physical doorbell
 *
 * ::
 *
 *           CONNECT            a physical one is free            change_work
 *    NONE ---------> IN_LINE ---------------------------> GRANTED ---------> CONNECTED
 *     ^                 |                                    |                   |
 *     |  change_work    | no thread wants it any more        |  victim, RETRY,   |
 *     +-- LEAVING <-----|------------------------------------+------ ABORT ------+
 *     +-----------------+
 *
 * GRANTED and LEAVING are in transit: no other doorbell gets the physical one meanwhile.
 */
enum vfence_physical_state {
	/** @VFENCE_PHYSICAL_NONE: It has none. */
	VFENCE_PHYSICAL_NONE,
	/** @VFENCE_PHYSICAL_IN_LINE: It waits for one. */
	VFENCE_PHYSICAL_IN_LINE,
	/** @VFENCE_PHYSICAL_GRANTED: It has one, which a doorbell thread will connect. */
	VFENCE_PHYSICAL_GRANTED,
	/** @VFENCE_PHYSICAL_CONNECTED: It has one, and it is connected. */
	VFENCE_PHYSICAL_CONNECTED,
	/** @VFENCE_PHYSICAL_LEAVING: It has one, which a doorbell thread will disconnect. */
	VFENCE_PHYSICAL_LEAVING,
};

void vfence_physical_ask_locked(struct vfence_doorbell *doorbell);
bool vfence_physical_leave_locked(struct vfence_doorbell *doorbell);
bool vfence_physical_leave_node(struct vfence_adapter *adapter, unsigned int node);
int vfence_physical_begin_change(struct vfence_doorbell *doorbell);
void vfence_physical_end_change(struct vfence_doorbell *doorbell, bool connected);
unsigned int vfence_physical_count(struct vfence_adapter *adapter);

#endif
