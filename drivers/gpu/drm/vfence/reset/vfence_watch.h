/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_WATCH_H_
#define _VFENCE_WATCH_H_

struct vfence_adapter;

void vfence_watch_init(struct vfence_adapter *adapter);
void vfence_watch_rearm(struct vfence_adapter *adapter);
void vfence_watch_begin(struct vfence_adapter *adapter);
void vfence_watch_retime(struct vfence_adapter *adapter);
void vfence_watch_stop(struct vfence_adapter *adapter);

#endif
