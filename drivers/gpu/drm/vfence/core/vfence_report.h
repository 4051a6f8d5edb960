/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_REPORT_H_
#define _VFENCE_REPORT_H_

#include <linux/compiler_attributes.h>
#include <linux/sched.h>

struct pid;
struct vfence_adapter;

/** VFENCE_REPORT_NAME: size of what vfence_report_name() writes */
#define VFENCE_REPORT_NAME	(TASK_COMM_LEN + 16)

void vfence_report_init(struct vfence_adapter *adapter);
void vfence_report_name(struct pid *pid, char name[VFENCE_REPORT_NAME]);
__printf(2, 3) void vfence_report(struct vfence_adapter *adapter, const char *format, ...);

#endif
