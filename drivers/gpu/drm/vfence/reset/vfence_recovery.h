/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_RECOVERY_H_
#define _VFENCE_RECOVERY_H_

#include <linux/types.h>

#include "vfence_timeout.h"

struct vfence_adapter;
struct vfence_deadline;

/**
 * enum vfence_recovery_step - steps of a recovery, as trace events number them
 * @VFENCE_RECOVERY_PREEMPT: What runs on the engine is asked to leave it.
 * @VFENCE_RECOVERY_DETECTED: It has not left in time.
 * @VFENCE_RECOVERY_SNAPSHOT: The engine is held, and its ids are read.
 * @VFENCE_RECOVERY_EMPTY: The work has ended by itself, and nothing is reset.
 * @VFENCE_RECOVERY_FLUSHED: What the engine has reported before is handled.
 * @VFENCE_RECOVERY_PREPARED: What runs on dependent engines has left them.
 * @VFENCE_RECOVERY_RESET: The engine is reset, and dependent ones that are not empty.
 * @VFENCE_RECOVERY_CHECKED: The id that the reset returned is one that the engine had.
 * @VFENCE_RECOVERY_RECOVERED: The engines go on.
 */
enum vfence_recovery_step {
	VFENCE_RECOVERY_PREEMPT = 1,
	VFENCE_RECOVERY_DETECTED,
	VFENCE_RECOVERY_SNAPSHOT,
	VFENCE_RECOVERY_EMPTY,
	VFENCE_RECOVERY_FLUSHED,
	VFENCE_RECOVERY_PREPARED,
	VFENCE_RECOVERY_RESET,
	VFENCE_RECOVERY_CHECKED,
	VFENCE_RECOVERY_RECOVERED,
};

/**
 * struct vfence_recovery_cause - why an engine is to be reset; if it is so no longer, it is not
 *
 * At most one member is set. With none the engine is reset in any case.
 */
struct vfence_recovery_cause {
	/** @hung: the engine says that it makes no progress */
	bool hung;
	/** @page_fault: a page fault has made the engine unusable */
	bool page_fault;
	/** @deadline: the engine has not done in time what it was asked for */
	struct vfence_deadline *deadline;
};

void vfence_recovery_init(struct vfence_adapter *adapter);
void vfence_recovery_stop(struct vfence_adapter *adapter);
void vfence_recovery_fini(struct vfence_adapter *adapter);
int vfence_recovery_engine(struct vfence_adapter *adapter, unsigned int node,
			   const struct vfence_recovery_cause *cause);
int vfence_recovery_adapter(struct vfence_adapter *adapter, enum vfence_timeout_type type);
int vfence_recovery_pause(struct vfence_adapter *adapter);
void vfence_recovery_resume(struct vfence_adapter *adapter);
int vfence_recovery_revive(struct vfence_adapter *adapter);
void vfence_recovery_page_fault(struct vfence_adapter *adapter, unsigned int node);
void vfence_recovery_invalidated(void *host, u32 context_id, bool collateral);

#endif
