/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VGPU_WORLD_H_
#define _VGPU_WORLD_H_

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
 * enum vgpu_world_state - what a group of engines does
 */
enum vgpu_world_state {
	/** @VGPU_WORLD_RUN: The engines execute queues of the owner. */
	VGPU_WORLD_RUN,
	/** @VGPU_WORLD_IDLE: They have stopped; the owner's registers are still in them. */
	VGPU_WORLD_IDLE,
	/** @VGPU_WORLD_SAVED: The registers are saved, and the group has no owner. */
	VGPU_WORLD_SAVED,
	/** @VGPU_WORLD_LOADED: The registers of the next owner are in the engines. */
	VGPU_WORLD_LOADED,
};

/**
 * enum vgpu_world_command - commands to the controller of a group
 */
enum vgpu_world_command {
	/** @VGPU_WORLD_CMD_IDLE: Stop the engines, each where its class can stop. */
	VGPU_WORLD_CMD_IDLE = 0x1,
	/** @VGPU_WORLD_CMD_SAVE: Save the registers of the owner. */
	VGPU_WORLD_CMD_SAVE = 0x2,
	/** @VGPU_WORLD_CMD_LOAD: Load the registers of a function that were saved. */
	VGPU_WORLD_CMD_LOAD = 0x3,
	/** @VGPU_WORLD_CMD_RUN: Let the engines execute queues of the new owner. */
	VGPU_WORLD_CMD_RUN = 0x4,
	/** @VGPU_WORLD_CMD_INIT: Reset the registers for a function that was never saved. */
	VGPU_WORLD_CMD_INIT = 0x7,
	/** @VGPU_WORLD_CMD_SHUTDOWN: Forget the saved registers of a function. */
	VGPU_WORLD_CMD_SHUTDOWN = 0xd,
};

/**
 * vgpu_world_after - the state after a command
 * @state: &enum vgpu_world_state before
 * @command: &enum vgpu_world_command
 *
 * Return: the state, or -1 if the command is not legal in @state.
 */
static inline int vgpu_world_after(enum vgpu_world_state state, unsigned int command)
{
	switch (command) {
	case VGPU_WORLD_CMD_IDLE:
		return state == VGPU_WORLD_RUN ? VGPU_WORLD_IDLE : -1;
	case VGPU_WORLD_CMD_SAVE:
		return state == VGPU_WORLD_IDLE ? VGPU_WORLD_SAVED : -1;
	case VGPU_WORLD_CMD_LOAD:
	case VGPU_WORLD_CMD_INIT:
		return state == VGPU_WORLD_SAVED ? VGPU_WORLD_LOADED : -1;
	case VGPU_WORLD_CMD_SHUTDOWN:
		return state == VGPU_WORLD_SAVED ? VGPU_WORLD_SAVED : -1;
	case VGPU_WORLD_CMD_RUN:
		return state == VGPU_WORLD_LOADED ? VGPU_WORLD_RUN : -1;
	default:
		return -1;
	}
}

#endif
