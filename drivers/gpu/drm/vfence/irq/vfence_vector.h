/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VECTOR_H_
#define _VFENCE_VECTOR_H_

#include <linux/interrupt.h>

#include "irq/vfence_vector_types.h"

int vfence_vector_init(struct vfence_vector *vector, const char *name,
		       irq_handler_t handler, irq_handler_t thread, void *arg);
void vfence_vector_fini(struct vfence_vector *vector, void *arg);
void vfence_vector_raise(struct vfence_vector *vector);
void vfence_vector_wake_thread(struct vfence_vector *vector, void *arg);

#endif
