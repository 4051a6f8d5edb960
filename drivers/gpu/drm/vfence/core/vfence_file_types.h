/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FILE_TYPES_H_
#define _VFENCE_FILE_TYPES_H_

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include <drm/drm_mm.h>

#include "core/vfence_adapter.h"
#include "core/vfence_table.h"

struct drm_file;

/* Limits per file: everything a client can pile up is bounded. */
#define VFENCE_MAX_DEVICES	64
#define VFENCE_MAX_CONTEXTS	64
#define VFENCE_MAX_QUEUES	64
#define VFENCE_MAX_FENCES	4096
#define VFENCE_MAX_EVENTS	4096
#define VFENCE_MAX_EVENT_POINTS	65536
#define VFENCE_MAX_IMPORTS	1024
#define VFENCE_MAX_MAPPINGS	1024

/**
 * struct vfence_file - one open file: what WDDM calls a process on an adapter
 */
struct vfence_file {
	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @drm: the DRM file */
	struct drm_file *drm;
	/** @lock: protects all but @events, @fences' look-up and @vm's inside */
	struct mutex lock;
	/** @devices: &struct vfence_device */
	struct vfence_table devices;
	/** @contexts: &struct vfence_context */
	struct vfence_table contexts;
	/** @queues: &struct vfence_queue */
	struct vfence_table queues;
	/** @fences: &struct vfence_local; looked up under its xa_lock alone */
	struct vfence_table fences;
	/** @events: &struct vfence_event */
	struct vfence_table events;
	/** @imports: &struct vfence_import */
	struct vfence_table imports;
	/** @mappings: page number to &struct vfence_mapping */
	struct xarray mappings;
	/** @mapping_count: of them */
	unsigned int mapping_count;
	/** @space: which GPU addresses are taken */
	struct drm_mm space;
	/** @vm: the GPU's view */
	struct vgpu_vm *vm;
	/** @maps: &struct vfence_map: fence pages this file can address */
	struct list_head maps;
	/** @slots: &struct vfence_slots: pages for its private fences */
	struct list_head slots;
	/** @id: unique number of the client */
	u64 id;
	/** @events_gone: the closer waits here for events and imports being freed */
	wait_queue_head_t events_gone;
	/** @event_points: points of armed events */
	atomic_t event_points;
	/** @busy_ns: GPU time of queues that are gone, by node */
	u64 busy_ns[VGPU_MAX_NODES];
};

#endif
