/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_OBJECTS_H_
#define _VFENCE_OBJECTS_H_

/**
 * DOC: Objects
 *
 * Every object that a client can create is counted by class. Objects that are left when
 * the module is unloaded are leaks and are reported. Stock kernels have no kmemleak.
 */

#include <linux/atomic.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

enum vfence_object {
	VFENCE_OBJECT_PROCESS,
	VFENCE_OBJECT_ACCOUNT,
	VFENCE_OBJECT_FILE,
	VFENCE_OBJECT_DEVICE,
	VFENCE_OBJECT_CONTEXT,
	VFENCE_OBJECT_QUEUE,
	VFENCE_OBJECT_KERNEL_QUEUE,
	VFENCE_OBJECT_DOORBELL,
	VFENCE_OBJECT_PAGE,
	VFENCE_OBJECT_MAPPING,
	VFENCE_OBJECT_FENCE,
	VFENCE_OBJECT_HANDLE,
	VFENCE_OBJECT_ADDRESS,
	VFENCE_OBJECT_SLOTS,
	VFENCE_OBJECT_MAP,
	VFENCE_OBJECT_CROSS,
	VFENCE_OBJECT_SHARE,
	VFENCE_OBJECT_WAIT,
	VFENCE_OBJECT_WAIT_SET,
	VFENCE_OBJECT_EVENT,
	VFENCE_OBJECT_EVENTFD,
	VFENCE_OBJECT_IMPORT,
	VFENCE_OBJECT_FOREIGN,
	VFENCE_OBJECT_SUBMISSION,
	VFENCE_OBJECT_STAGES,
	VFENCE_OBJECT_HW_ACCOUNT,
	VFENCE_OBJECT_HW_VM,
	VFENCE_OBJECT_HW_SLOT,
	VFENCE_OBJECT_HW_STORAGE,
	VFENCE_OBJECT_HW_FENCE,
	VFENCE_OBJECT_HW_WORD,
	VFENCE_OBJECT_HW_CONTEXT,
	VFENCE_OBJECT_HW_QUEUE,
	VFENCE_OBJECTS,
};

extern atomic_long_t vfence_objects[VFENCE_OBJECTS];

void vfence_objects_report(void);

/* Count an object of @class from another allocator; NULL and errors are not counted. */
static inline void *__vfence_object_made(enum vfence_object class, void *object)
{
	if (!IS_ERR_OR_NULL(object))
		atomic_long_inc(&vfence_objects[class]);
	return object;
}

#define vfence_object_made(class, object)	\
	__vfence_object_made(VFENCE_OBJECT_##class, object)

/* Allocate a zeroed object of @class; NULL if there is no memory. */
#define vfence_object_alloc(class, size)	\
	vfence_object_made(class, kzalloc(size, GFP_KERNEL_ACCOUNT))

/* Stop counting an object of @class; the caller frees it. */
#define vfence_object_gone(class)		\
	atomic_long_dec(&vfence_objects[VFENCE_OBJECT_##class])

static inline void __vfence_object_free(enum vfence_object class, const void *object)
{
	if (object)
		atomic_long_dec(&vfence_objects[class]);
	kfree(object);
}

#define vfence_object_free(class, object)	\
	__vfence_object_free(VFENCE_OBJECT_##class, object)

/* Free an object of @class after a grace period; @object has a member rcu. */
#define vfence_object_free_rcu(class, object) do {	\
	vfence_object_gone(class);			\
	kfree_rcu(object, rcu);				\
} while (0)

static inline struct eventfd_ctx *vfence_eventfd_get(int fd)
{
	return vfence_object_made(EVENTFD, eventfd_ctx_fdget(fd));
}

static inline void vfence_eventfd_put(struct eventfd_ctx *ctx)
{
	vfence_object_gone(EVENTFD);
	eventfd_ctx_put(ctx);
}

#endif
