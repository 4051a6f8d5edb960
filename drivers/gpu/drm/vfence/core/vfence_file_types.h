/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FILE_TYPES_H_
#define _VFENCE_FILE_TYPES_H_

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/drm_mm.h>

#include "core/vfence_adapter.h"
#include "core/vfence_chore.h"
#include "core/vfence_handle_table.h"

struct drm_file;
struct vfence_account;
struct vfence_process;

/* Limits per file: the number of objects of each class that a client may own. */
#define VFENCE_MAX_DEVICES	64
#define VFENCE_MAX_CONTEXTS	64
#define VFENCE_MAX_QUEUES	64
#define VFENCE_MAX_FENCES	65536
#define VFENCE_MAX_EVENTS	4096
#define VFENCE_MAX_EVENT_POINTS	65536
#define VFENCE_MAX_RESTARTS	4096
#define VFENCE_MAX_RESTART_POINTS	65536
#define VFENCE_MAX_SUBMIT_POINTS	65536
#define VFENCE_MAX_WAIT_SETS	64
#define VFENCE_MAX_WAIT_SET_ENTRIES	8192
#define VFENCE_MAX_IMPORTS	1024
#define VFENCE_MAX_MAPPINGS	1024

/**
 * struct vfence_foreigns - the dma_fences that a file follows; fence/vfence_foreign.c
 */
struct vfence_foreigns {
	/** @lock: protects @tree and what is in it; not in interrupts; outside dma_fence locks */
	spinlock_t lock;
	/** @tree: &struct vfence_foreign, by their dma_fences */
	struct rb_root tree;
	/** @signaled: those that have signaled, last one first */
	struct llist_head signaled;
	/** @wq: where @work runs; constant */
	struct workqueue_struct *wq;
	/** @work: tells all that follow those of @signaled */
	struct work_struct work;
};

/**
 * struct vfence_file - one open file, which WDDM calls a process on an adapter
 */
struct vfence_file {
	/** @adapter: adapter of the file; constant */
	struct vfence_adapter *adapter;
	/** @account: the process that opened the file, with a reference; constant */
	struct vfence_account *account;
	/** @process: whom its hangs count for, with a reference; constant */
	struct vfence_process *process;
	/** @drm: the DRM file; constant */
	struct drm_file *drm;

	/**
	 * @lock: protects all other members except @events, @restarts, @wait_sets, look-ups in
	 * @fences, @vm, and what has a lock of its own
	 */
	struct mutex lock;
	/**
	 * @destroy_lock: Held by a thread that destroys queues or a device, outside @lock. How
	 * long it is held is decided by the client, so no thread in the gate takes it.
	 */
	struct mutex destroy_lock;
	/** @devices: handles of &struct vfence_device */
	struct vfence_handle_table devices;
	/** @contexts: handles of &struct vfence_context */
	struct vfence_handle_table contexts;
	/** @queues: handles of &struct vfence_queue */
	struct vfence_handle_table queues;
	/** @living_queues: number of queues that are not freed, with a handle or without; atomic */
	atomic_t living_queues;
	/** @fences: handles of &struct vfence_fence_handle; looked up under its xa_lock alone */
	struct vfence_handle_table fences;
	/**
	 * @recent: %VFENCE_RECENT entries: fences that were looked up last, by the end of their
	 * handles, or NULL; under the xa_lock of @fences
	 */
	struct vfence_fence_handle **recent;
	/** @events: handles of &struct vfence_event */
	struct vfence_handle_table events;
	/** @restarts: numbers of &struct vfence_wait of interrupted calls */
	struct vfence_handle_table restarts;
	/** @restart_points: number of points of these waits; atomic */
	atomic_t restart_points;
	/** @wait_sets: handles of &struct vfence_wait_set */
	struct vfence_handle_table wait_sets;
	/** @wait_set_entries: number of entries of all wait sets; atomic */
	atomic_t wait_set_entries;
	/** @imports: handles of &struct vfence_import */
	struct vfence_handle_table imports;

	/** @mappings: page number to &struct vfence_mapping */
	struct xarray mappings;
	/** @mapping_count: number of entries of @mappings; read without the lock */
	unsigned int mapping_count;
	/** @space: GPU addresses in use */
	struct drm_mm space;
	/** @vm: the GPU's page tables, with locks of their own */
	struct vgpu_vm *vm;

	/** @addresses: GPU address / stride to &struct vfence_fence_va */
	struct xarray addresses;
	/** @maps: &struct vfence_map of the fence pages that this file can address, by page */
	struct rb_root maps;
	/** @slots: &struct vfence_slots for the private fences of this file */
	struct list_head slots;

	/** @id: unique number of the client, which fdinfo has as drm-client-id; constant */
	u64 id;

	/** @events_gone: the closing file waits here until its events and imports are freed */
	wait_queue_head_t events_gone;
	/**
	 * @fired_lock: protects @fired, @delivered and @fired_count; irqsave. The thread that
	 * fires an event queues @fire_chore under it, so that an event is freed only after that,
	 * unless it is @signaler
	 */
	spinlock_t fired_lock;
	/** @fired: events that have fired and whose eventfd is not signaled, in their order */
	struct list_head fired;
	/** @delivered: events whose eventfd is signaled, for a call or @fire_chore to free */
	struct list_head delivered;
	/** @fired_count: number of events that have ever fired; wraps */
	unsigned int fired_count;
	/** @firing: number of events that have fired and whose eventfd is not signaled; atomic */
	atomic_t firing;
	/** @settling: number of calls that fire events which are reached; atomic */
	atomic_t settling;
	/** @deliver_lock: serialises deliveries, so that events keep their order */
	struct mutex deliver_lock;
	/**
	 * @signaler: the thread that began its signals last and has not ended its call, or NULL;
	 * only a thread that finds itself here relies on it. Written by threads of the client
	 */
	struct task_struct *signaler;
	/** @fire_chore: signals the eventfds of @fired and frees the events */
	struct vfence_chore fire_chore;

	/** @foreigns: dma_fences that imports and submissions of the file follow */
	struct vfence_foreigns foreigns;
	/** @signaled_imports: &struct vfence_import whose dma_fence has signaled, last one first */
	struct llist_head signaled_imports;
	/** @importing: those of @signaled_imports that have their turn; @import_chore */
	struct llist_node *importing;
	/** @import_chore: signals the fences of @signaled_imports and frees the imports */
	struct vfence_chore import_chore;

	/** @event_points: number of points of armed events; atomic */
	atomic_t event_points;
	/** @cross_events: number of armed events with points of cross-adapter fences; atomic */
	atomic_t cross_events;
	/** @submit_points: number of points of submissions that have not ended; atomic */
	atomic_t submit_points;
	/**
	 * @usage_lock: protects what fdinfo shows, @lost_devices and @busy_ns; devices and queues
	 * leave their tables under it. Not in interrupts; outside the locks of the virtual GPU
	 */
	spinlock_t usage_lock;
	/** @lost_devices: number of destroyed devices that were HUNG, and that were RESET */
	u32 lost_devices[2];
	/** @busy_ns: GPU time in ns of destroyed queues, by node */
	u64 busy_ns[VGPU_MAX_NODES];
	/**
	 * @counts: what the client itself did, indexed by &enum vfence_count; atomic. Only the
	 * counters that &struct counter marks are counted
	 */
	atomic64_t counts[VFENCE_COUNTS];
};

/* Count for the client what vfence_count() counts for the adapter. */
static inline void vfence_client_count(struct vfence_file *file, enum vfence_count counter, u64 n)
{
	atomic64_add(n, &file->counts[counter]);
}

#endif
