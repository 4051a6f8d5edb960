/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_COUNTERS_H_
#define _VFENCE_COUNTERS_H_

struct drm_printer;
struct seq_file;
struct vfence_adapter;
struct vfence_file;

void vfence_counters_show(struct vfence_adapter *adapter, struct seq_file *m);
void vfence_counters_show_help(struct seq_file *m);
void vfence_counters_show_nodes(struct vfence_adapter *adapter, struct seq_file *m);
void vfence_counters_show_client(struct vfence_file *file, struct drm_printer *p);

#endif
