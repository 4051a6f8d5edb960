/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef VFENCE_SCENARIO_CHANGES_H
#define VFENCE_SCENARIO_CHANGES_H

#include "stage.h"
#include "vfence.h"

/* What a scenario changes in the machine while it runs: adapters that are made, and faults. */

struct fault {
	struct vf_adapter *adapter;
	const char *name;
	/* What it was before the scenario, once @kept. */
	uint32_t before;
	bool kept;
};

struct changes {
	struct stage *stage;
	/* The first adapters of the scenario are there. */
	unsigned int adapters;
	struct fault *faults;
	unsigned int fault_count;
};

int changes_make(struct changes *changes, struct stage *stage, char error[SCENARIO_ERROR]);
void changes_undo(struct changes *changes);

#endif
