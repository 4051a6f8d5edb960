/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_DEVICE_H_
#define _VFENCE_DEVICE_H_

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "vfence_loss_state.h"

struct drm_device;
struct drm_file;
struct drm_vfence_device_info;
struct pid;
struct vfence_account;
struct vfence_adapter;
struct vfence_file;
struct vfence_process;

/**
 * struct vfence_device - owner of contexts, queues and fences, which fail together
 */
struct vfence_device {
	/** @ref: references of the file's table, of contexts, of fence handles and of @stop_work */
	struct kref ref;
	/** @adapter: parent */
	struct vfence_adapter *adapter;
	/** @process: the process that it counts for, with a reference */
	struct vfence_process *process;
	/** @account: whom its hangs cost time, with a reference */
	struct vfence_account *account;
	/** @pid: the process that created it, with a reference; for reports alone */
	struct pid *pid;

	/** @closing: it is being destroyed and gets no more queues; under the file's lock */
	bool closing;
	/** @link: link in &vfence_devices.list */
	struct list_head link;
	/** @resets: &vfence_adapter.resets at its creation; constant */
	unsigned int resets;

	/** @state: &enum drm_vfence_device_state; atomic, the first error state stays */
	atomic_t state;
	/** @tell: @stop_work is to tell user space that the device is HUNG; atomic */
	bool tell;
	/** @blamed: what it did counts against its process; atomic */
	bool blamed;
	/** @stop_work: stops the queues of a device that has failed; holds a reference */
	struct work_struct stop_work;
	/** @stopping: queues that are stopped and have signals to perform; atomic */
	atomic_t stopping;

	/** @contexts: &struct vfence_context with a handle; under the file's lock */
	struct list_head contexts;
	/** @fence_handles: &struct vfence_fence_handle with a handle; under the file's lock */
	struct list_head fence_handles;

	/** @lock: protects @queues and @losses */
	spinlock_t lock;
	/** @queues: &struct vfence_queue that are not freed; under @lock */
	struct list_head queues;
	/** @swept: Its queues are stopped; a sweep need not visit them again. No lock. */
	bool swept;
	/** @losses: &struct vfence_fence_handle whose fences learn of a loss; under @lock */
	struct list_head losses;
};

void vfence_device_get(struct vfence_device *device);
void vfence_device_put(struct vfence_device *device);
void vfence_device_get_causes(struct vfence_device *device, struct vfence_loss_causes *causes);
int vfence_device_state(struct vfence_device *device);
bool vfence_device_active(struct vfence_device *device);
struct vfence_device *vfence_device_find_active(struct vfence_file *file, u32 handle);
void vfence_device_begin_stop(struct vfence_device *device);
void vfence_device_end_stop(struct vfence_device *device);
bool vfence_device_is_stopping(struct vfence_device *device);
void vfence_device_stop_later(struct vfence_device *device);
int vfence_device_fail(struct vfence_device *device, int state);
bool vfence_device_was_removed(struct vfence_device *device);
void vfence_device_for_each(struct vfence_adapter *adapter, void (*fn)(struct vfence_device *));
void vfence_device_init(struct vfence_adapter *adapter);
int vfence_device_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_device_query(struct vfence_file *file, u32 handle, struct drm_vfence_device_info *info);

#endif
