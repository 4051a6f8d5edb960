/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_LOSS_H_
#define _VFENCE_LOSS_H_

#include "drm/vfence_drm.h"

struct vfence_adapter;
struct vfence_device;
struct vfence_queue;
struct work_struct;

void vfence_loss_init(struct vfence_adapter *adapter);
void vfence_loss_device_hung(struct vfence_adapter *adapter, struct vfence_device *device,
			     bool counts);
void vfence_loss_device_failed(struct vfence_adapter *adapter, struct vfence_device *device,
			       enum drm_vfence_device_state state, bool counts);
void vfence_loss_queue_stuck(struct vfence_adapter *adapter, struct vfence_queue *queue);
void vfence_loss_stop_device_work(struct work_struct *work);
void vfence_loss_adapter_lost(struct vfence_adapter *adapter);
void vfence_loss_reset_device_later(struct vfence_device *device, bool cause);
void vfence_loss_note_faults(struct vfence_adapter *adapter);
void vfence_loss_sweep_later(struct vfence_adapter *adapter);
void vfence_loss_unplug(struct vfence_adapter *adapter);

#endif
