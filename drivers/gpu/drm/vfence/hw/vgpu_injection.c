// SPDX-License-Identifier: GPL-2.0-only
/* Injection: the table of names and texts. */

#include "vgpu_types.h"

static const struct {
	const char *name;
	const char *text;
} injection_table[VGPU_INJECTIONS] = {
	[VGPU_INJECT_FAIL_MONITORED_UPDATE] = {
		"fail_monitored_update",
		"so many updates of monitored values fail",
	},
	[VGPU_INJECT_FAIL_CURRENT_UPDATE] = {
		"fail_current_update",
		"so many updates of current values by the CPU fail",
	},
	[VGPU_INJECT_WRONG_FENCE] = {
		"wrong_fence",
		"so many records name a fence that does not exist",
	},
	[VGPU_INJECT_LOSE_INTERRUPT] = {
		"lose_interrupt",
		"so many interrupts are not delivered",
	},
	[VGPU_INJECT_HOLD_POSTS] = {
		"hold_posts",
		"the CMP handles no posts, except when the driver waits for that",
	},
	[VGPU_INJECT_STOP_CMP] = {
		"stop_cmp",
		"the CMP stops until the GPU is reset",
	},
	[VGPU_INJECT_NOTIFY_WORK] = {
		"notify_work",
		"doorbells connect as CONNECTED_NOTIFY",
	},
	[VGPU_INJECT_LOSE_SUSPEND] = {
		"lose_suspend",
		"so many suspensions are not acknowledged",
	},
	[VGPU_INJECT_WRONG_SUSPEND] = {
		"wrong_suspend",
		"so many suspensions are acknowledged with a wrong number",
	},
	[VGPU_INJECT_IGNORE_SUSPEND] = {
		"ignore_suspend",
		"a running queue stays on its engine when it is to be preempted or suspended",
	},
	[VGPU_INJECT_IGNORE_LIMIT] = {
		"ignore_limit",
		"a queue that keeps others off its engine for too long is not stopped",
	},
	[VGPU_INJECT_HANG_COPIES] = {
		"hang_copies",
		"copies of clients make no progress",
	},
	[VGPU_INJECT_HANG_PAGING] = {
		"hang_paging",
		"packets that move or clear values make no progress",
	},
	[VGPU_INJECT_END_HANGS] = {
		"end_hangs",
		"packets that make no progress end",
	},
	[VGPU_INJECT_STOP_ENGINES] = {
		"stop_engines",
		"mask of nodes: an engine that executes a queue stops until its reset",
	},
	[VGPU_INJECT_PAGE_FAULT_FLAGS] = {
		"page_fault_flags",
		"mask of what a page fault requests: 0x4 a reset of the GPU, 0x8 of the engine, 0x10 that it is given up",
	},
	[VGPU_INJECT_FINISH_BEFORE_SNAPSHOT] = {
		"finish_before_snapshot",
		"so many hangs end between their detection and the snapshot",
	},
	[VGPU_INJECT_FINISH_BEFORE_RESET] = {
		"finish_before_reset",
		"so many hangs end between the snapshot and the reset of the engine",
	},
	[VGPU_INJECT_INTERRUPT_AFTER_RESET] = {
		"interrupt_after_reset",
		"so many engines report something between their reset and their resume",
	},
	[VGPU_INJECT_WRONG_LAST_ABORTED] = {
		"wrong_last_aborted",
		"so many resets of engines return an id that is not in use",
	},
	[VGPU_INJECT_WRONG_DEPENDENTS] = {
		"wrong_dependents",
		"an engine is not in the group of nodes that are reset with it",
	},
	[VGPU_INJECT_FAIL_ENGINE_RESET] = {
		"fail_engine_reset",
		"no engine can be reset alone",
	},
	[VGPU_INJECT_FAIL_ENGINE_RESUME] = {
		"fail_engine_resume",
		"no engine goes on after its reset",
	},
	[VGPU_INJECT_SURVIVE_RESET] = {
		"survive_reset",
		"what runs on an engine survives its reset",
	},
	[VGPU_INJECT_SLOW_RESET] = {
		"slow_reset",
		"the reset of an engine lasts until the GPU is reset",
	},
	[VGPU_INJECT_FAIL_ADAPTER_RESET] = {
		"fail_adapter_reset",
		"the GPU cannot be reset, but with the whole chip",
	},
	[VGPU_INJECT_FAIL_RESTART] = {
		"fail_restart",
		"the GPU does not start after its reset",
	},
	[VGPU_INJECT_FAIL_WORLD] = {
		"fail_world",
		"mask of commands of a world switch that fail; 16 bits higher: after the next reset",
	},
	[VGPU_INJECT_LOSE_BUSY] = {
		"lose_busy",
		"so many edges of the function to busy are not reported",
	},
	[VGPU_INJECT_HOLD_EDGE] = {
		"hold_edge",
		"so many times the next edge overtakes the report of an edge",
	},
};

/** vgpu_injections_of - return the injections of a function */
struct vgpu_injections *vgpu_injections_of(struct vgpu *gpu)
{
	return &gpu->injections;
}

/** vgpu_injection_name - return the name of an injection, for users */
const char *vgpu_injection_name(enum vgpu_injection id)
{
	return injection_table[id].name;
}

/** vgpu_injection_text - return what happens, for users */
const char *vgpu_injection_text(enum vgpu_injection id)
{
	return injection_table[id].text;
}
