/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_JOB_H_
#define _VFENCE_JOB_H_

struct vfence_adapter;
struct vfence_kernel_queue;
struct work_struct;

int vfence_job_init(struct vfence_kernel_queue *kernel);
void vfence_job_retime(struct vfence_kernel_queue *kernel);
void vfence_job_halt(struct vfence_kernel_queue *kernel, int error);
void vfence_job_retime_all(struct vfence_adapter *adapter);
void vfence_job_retire(struct vfence_kernel_queue *kernel);
void vfence_job_retire_work(struct work_struct *work);

#endif
