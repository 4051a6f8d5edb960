/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_LOSS_H_
#define _VFENCE_LOSS_H_

#include "drm/vfence_drm.h"

struct vfence_adapter;
struct vfence_device;

void vfence_loss_init(struct vfence_adapter *adapter);
void vfence_loss_reset_device_later(struct vfence_device *device, bool cause);
void vfence_loss_note_faults(struct vfence_adapter *adapter);
void vfence_loss_reset_all_later(struct vfence_adapter *adapter);
void vfence_loss_stop_queues(struct vfence_adapter *adapter);

#endif
