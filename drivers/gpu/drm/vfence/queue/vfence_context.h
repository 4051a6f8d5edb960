/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_CONTEXT_H_
#define _VFENCE_CONTEXT_H_

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/vfence_deadline.h"

struct drm_device;
struct drm_file;
struct drm_vfence_context_info;
struct vfence_adapter;
struct vfence_device;
struct vfence_file;
struct vgpu_context;

/**
 * struct vfence_context - a device's context on a node
 */
struct vfence_context {
	/** @ref: held by the file's table, by its queues, and by a suspend or resume call */
	struct kref ref;
	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @hw: the virtual GPU's object */
	struct vgpu_context *hw;
	/** @id: handle in interrupt records */
	u32 id;

	/** @suspend_lock: serialises suspensions and resumptions of this context */
	struct mutex suspend_lock;
	/** @suspended: A client has requested the suspension. Protected by @suspend_lock. */
	bool suspended;
	/**
	 * @pending: The GPU has not acknowledged it yet. Written under @suspend_lock, read by
	 * queries without.
	 */
	bool pending;
	/** @deadline: until the GPU acknowledges it; see core/vfence_deadline.c */
	struct vfence_deadline deadline;
	/**
	 * @suspend_fence: Number of the last suspension. Written under @suspend_lock; the
	 * interrupt handler reads it without.
	 */
	u64 suspend_fence;

	/** @time_lock: protects @suspended_at, @resumed_at and @suspended_ns */
	spinlock_t time_lock;
	/** @suspended_at: when the suspension began, in ns of ktime_get_ns(), or 0 */
	u64 suspended_at;
	/** @resumed_at: when the last suspension ended, in ns of ktime_get_ns(), or 0 */
	u64 resumed_at;
	/** @suspended_ns: duration of all earlier suspensions in ns */
	u64 suspended_ns;

	/** @device: parent, with a reference */
	struct vfence_device *device;
	/** @handle: its handle; under the file's lock */
	u32 handle;
	/** @device_link: entry of &vfence_device.contexts while it has a handle; file's lock */
	struct list_head device_link;
	/** @node: node ordinal */
	unsigned int node;
	/** @queues: number of queues that use it; protected by vfence_file.lock */
	unsigned int queues;
	/** @guilty: one of its queues that are destroyed was; protected by vfence_file.lock */
	bool guilty;
	/** @release_work: frees it, for a thread that must not wait for the GPU */
	struct work_struct release_work;
};

void vfence_context_init(struct vfence_adapter *adapter);
void vfence_context_add_source(struct vfence_adapter *adapter);
void vfence_context_fini(struct vfence_adapter *adapter);
void vfence_context_get(struct vfence_context *context);
void vfence_context_put(struct vfence_context *context);
void vfence_context_put_later(struct vfence_context *context);
u64 vfence_context_suspended_ns(struct vfence_context *context);
void vfence_context_query(struct vfence_context *context, struct drm_vfence_context_info *info);
struct vfence_context *vfence_context_find(struct vfence_adapter *adapter, u32 context_id);
void vfence_context_destroy_all(struct vfence_file *file, struct vfence_device *device);
int vfence_context_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_context_suspend_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_context_resume_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_context_destroy(struct vfence_file *file, u32 handle);

#endif
