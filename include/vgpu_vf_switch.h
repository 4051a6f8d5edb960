/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_VF_SWITCH_H_
#define _VGPU_VF_SWITCH_H_

/*
 * The states of a group of engines in a world switch, and the commands that change them. These
 * are pure functions, so that the module and the property tests in user space compile the same
 * source.
 *
 * ::
 *
 *           IDLE            SAVE              LOAD, INIT            RUN
 *    RUN ---------> IDLE ---------> SAVED -------------> LOADED ---------> RUN
 *                                     |  ^
 *                                     +--+ SHUTDOWN
 */

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
#endif

/**
 * enum vgpu_vf_switch_state - what a group of engines does
 */
enum vgpu_vf_switch_state {
	/** @VGPU_VF_SWITCH_RUN: The engines execute queues of the owner. */
	VGPU_VF_SWITCH_RUN,
	/** @VGPU_VF_SWITCH_IDLE: They have stopped; the owner's registers are still in them. */
	VGPU_VF_SWITCH_IDLE,
	/** @VGPU_VF_SWITCH_SAVED: The registers are saved, and the group has no owner. */
	VGPU_VF_SWITCH_SAVED,
	/** @VGPU_VF_SWITCH_LOADED: The registers of the next owner are in the engines. */
	VGPU_VF_SWITCH_LOADED,
};

/**
 * enum vgpu_vf_switch_command - commands to the controller of a group
 */
enum vgpu_vf_switch_command {
	/** @VGPU_VF_SWITCH_CMD_IDLE: Stop the engines, each where its class can stop. */
	VGPU_VF_SWITCH_CMD_IDLE = 0x1,
	/** @VGPU_VF_SWITCH_CMD_SAVE: Save the registers of the owner. */
	VGPU_VF_SWITCH_CMD_SAVE = 0x2,
	/** @VGPU_VF_SWITCH_CMD_LOAD: Load the registers of a function that were saved. */
	VGPU_VF_SWITCH_CMD_LOAD = 0x3,
	/** @VGPU_VF_SWITCH_CMD_RUN: Let the engines execute queues of the new owner. */
	VGPU_VF_SWITCH_CMD_RUN = 0x4,
	/** @VGPU_VF_SWITCH_CMD_INIT: Reset the registers for a function that was never saved. */
	VGPU_VF_SWITCH_CMD_INIT = 0x7,
	/** @VGPU_VF_SWITCH_CMD_SHUTDOWN: Forget the saved registers of a function. */
	VGPU_VF_SWITCH_CMD_SHUTDOWN = 0xd,
};

/**
 * vgpu_vf_switch_after - the state after a command
 * @state: &enum vgpu_vf_switch_state before
 * @command: &enum vgpu_vf_switch_command
 *
 * Return: the state, or -1 if the command is not legal in @state.
 */
static inline int vgpu_vf_switch_after(enum vgpu_vf_switch_state state, unsigned int command)
{
	switch (command) {
	case VGPU_VF_SWITCH_CMD_IDLE:
		return state == VGPU_VF_SWITCH_RUN ? VGPU_VF_SWITCH_IDLE : -1;
	case VGPU_VF_SWITCH_CMD_SAVE:
		return state == VGPU_VF_SWITCH_IDLE ? VGPU_VF_SWITCH_SAVED : -1;
	case VGPU_VF_SWITCH_CMD_LOAD:
	case VGPU_VF_SWITCH_CMD_INIT:
		return state == VGPU_VF_SWITCH_SAVED ? VGPU_VF_SWITCH_LOADED : -1;
	case VGPU_VF_SWITCH_CMD_SHUTDOWN:
		return state == VGPU_VF_SWITCH_SAVED ? VGPU_VF_SWITCH_SAVED : -1;
	case VGPU_VF_SWITCH_CMD_RUN:
		return state == VGPU_VF_SWITCH_LOADED ? VGPU_VF_SWITCH_RUN : -1;
	default:
		return -1;
	}
}

#endif
