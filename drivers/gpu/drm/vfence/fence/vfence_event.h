/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_EVENT_H_
#define _VFENCE_EVENT_H_

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct eventfd_ctx;
struct vfence_file;

/**
 * enum vfence_event_step - what trace events say of an event
 */
enum vfence_event_step {
	/** @VFENCE_EVENT_ARMED: Its points are on their fences. */
	VFENCE_EVENT_ARMED,
	/** @VFENCE_EVENT_FIRED: Its wait is over. */
	VFENCE_EVENT_FIRED,
	/** @VFENCE_EVENT_SIGNALED: Its eventfd is signaled. */
	VFENCE_EVENT_SIGNALED,
	/** @VFENCE_EVENT_CANCELLED: The client, or the end of its file, has cancelled it. */
	VFENCE_EVENT_CANCELLED,
};

int vfence_event_arm_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vfence_event_cancel(struct vfence_file *file, u32 handle);
void vfence_event_init(struct vfence_file *file);
unsigned int vfence_event_fired(struct vfence_file *file);
bool vfence_event_deliver(struct vfence_file *file, unsigned int until, u64 *spent_ns);
void vfence_event_signal(struct eventfd_ctx *ctx, u64 *spent_ns);
void vfence_event_begin_signals(struct vfence_file *file);
void vfence_event_fire_reached(struct vfence_file *file);
void vfence_event_end_call(struct vfence_file *file);
void vfence_event_cancel_all(struct vfence_file *file);

#endif
