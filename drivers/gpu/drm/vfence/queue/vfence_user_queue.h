/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_USER_QUEUE_H_
#define _VFENCE_USER_QUEUE_H_

struct vfence_queue_ops;

extern const struct vfence_queue_ops vfence_user_queue_ops;

#endif
