/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_MAILBOX_H_
#define _VFENCE_MAILBOX_H_

struct seq_file;
struct vfence_adapter;

void vfence_mailbox_init(struct vfence_adapter *adapter);
void vfence_mailbox_add_source(struct vfence_adapter *adapter);
void vfence_mailbox_stop(struct vfence_adapter *adapter);
int vfence_mailbox_get_access(struct vfence_adapter *adapter);
void vfence_mailbox_put_access(struct vfence_adapter *adapter);
void vfence_mailbox_show(struct vfence_adapter *adapter, struct seq_file *m);

#endif
