/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FILE_H_
#define _VFENCE_FILE_H_

#include "vfence_adapter.h"

struct drm_gem_object;

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
 * struct vfence_table - a handle table with a limit
 */
struct vfence_table {
	/** @objects: handle to object */
	struct xarray objects;
	/** @limit: most objects */
	unsigned int limit;
	/** @count: objects now; the file's lock or atomic use */
	atomic_t count;
	/**
	 * @late: handles come back late: those of events go when they fire, and a
	 * thread that cancels one then must not hit another thread's
	 */
	bool late;
	/** @next: allocation hint of such; changes under the lock of @objects */
	u32 next;
};

int vfence_table_add(struct vfence_table *table, void *object, u32 *handle);
void *vfence_table_remove(struct vfence_table *table, u32 handle);

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

int vfence_file_open(struct drm_device *drm, struct drm_file *file);
void vfence_file_close(struct drm_device *drm, struct drm_file *file);
u64 vfence_file_id(struct drm_file *file);
void vfence_file_show(struct vfence_file *file, struct drm_printer *p);
int vfence_file_reserve_va(struct vfence_file *file, struct drm_mm_node *node, u64 size,
			   u64 start, u64 end);

/**
 * struct vfence_vmapped - a buffer kept resident and mapped for the kernel
 */
struct vfence_vmapped {
	/** @obj: the buffer */
	struct drm_gem_object *obj;
	/** @kva: its memory */
	void *kva;
};

/* vfence_bo.c */
int vfence_bo_vmap(struct vfence_file *file, u32 handle, struct vfence_vmapped *mapped);
void vfence_bo_vunmap(struct vfence_vmapped *mapped);
void vfence_bo_unbind_all(struct vfence_file *file);
int vfence_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_vm_bind_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_vm_unbind_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
