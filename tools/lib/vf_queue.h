/* SPDX-License-Identifier: MIT */
/* What the files of queues share. */
#ifndef _VF_QUEUE_H_
#define _VF_QUEUE_H_

#include "vf_private.h"

/* vf_cmd_wait_kept(): a kernel-mode queue that waits, and the fence that it signals then. */
struct keeper {
	struct vf_queue *queue;
	struct vf_fence *ticket;
	uint64_t tickets;
	struct keeper *next;
};

struct vf_queue {
	struct vf_adapter *adapter;
	uint32_t context;
	struct drm_vfence_queue_create info;
	/* Kernel-mode queue: @ring is plain memory, and each submission empties it. */
	bool kernel;
	struct vf_fence progress;
	struct vf_buffer *ring_buffer;
	struct vf_buffer *control_buffer;
	char *ring;
	uint32_t ring_size;
	struct drm_vfence_ring_control *control;
	bool has_doorbell;
	/* A u64 in each. */
	struct vf_mapping doorbell, status, last_queued_slot;
	/* Positions in bytes: end of the published commands, of all commands, of the room. */
	uint64_t published;
	uint64_t build;
	uint64_t limit;
	uint64_t last_queued;
	int error;
	/* Next entry of the wait log and of the signal log. */
	uint32_t log_index[2];
	uint32_t published_log_index[2];
	/* As of the last connect. */
	uint32_t logging_level;
	/* In the adapter's list of queues; -1: not there yet. */
	int slot;
	struct vf_device *device;
	unsigned int node;
	/* The newest one keeps the waits, unless waits that were dropped are in front of them. */
	struct keeper *keepers;
	bool keeper_spoiled;
	/* Commands that are not published have kept waits. */
	bool kept;
};

#endif
