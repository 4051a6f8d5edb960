/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_LEAK_CHECK_H_
#define _VFENCE_LEAK_CHECK_H_

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

enum vfence_leak_check {
	VFENCE_LEAK_CHECK_PROCESS,
	VFENCE_LEAK_CHECK_ACCOUNT,
	VFENCE_LEAK_CHECK_FILE,
	VFENCE_LEAK_CHECK_DEVICE,
	VFENCE_LEAK_CHECK_CONTEXT,
	VFENCE_LEAK_CHECK_QUEUE,
	VFENCE_LEAK_CHECK_KERNEL_QUEUE,
	VFENCE_LEAK_CHECK_DOORBELL,
	VFENCE_LEAK_CHECK_PAGE,
	VFENCE_LEAK_CHECK_MAPPING,
	VFENCE_LEAK_CHECK_FENCE,
	VFENCE_LEAK_CHECK_HANDLE,
	VFENCE_LEAK_CHECK_ADDRESS,
	VFENCE_LEAK_CHECK_SLOTS,
	VFENCE_LEAK_CHECK_MAP,
	VFENCE_LEAK_CHECK_CROSS,
	VFENCE_LEAK_CHECK_SHARE,
	VFENCE_LEAK_CHECK_WAIT,
	VFENCE_LEAK_CHECK_WAIT_SET,
	VFENCE_LEAK_CHECK_EVENT,
	VFENCE_LEAK_CHECK_EVENTFD,
	VFENCE_LEAK_CHECK_IMPORT,
	VFENCE_LEAK_CHECK_FOREIGN,
	VFENCE_LEAK_CHECK_SUBMISSION,
	VFENCE_LEAK_CHECK_STAGES,
	VFENCE_LEAK_CHECK_HW_ACCOUNT,
	VFENCE_LEAK_CHECK_HW_VM,
	VFENCE_LEAK_CHECK_HW_SLOT,
	VFENCE_LEAK_CHECK_HW_STORAGE,
	VFENCE_LEAK_CHECK_HW_FENCE,
	VFENCE_LEAK_CHECK_HW_WORD,
	VFENCE_LEAK_CHECK_HW_CONTEXT,
	VFENCE_LEAK_CHECK_HW_QUEUE,
	VFENCE_LEAK_CHECK,
};

extern atomic_long_t vfence_leak_check[VFENCE_LEAK_CHECK];

void vfence_leak_check_report(void);

/* Count an object of @class from another allocator; NULL and errors are not counted. */
static inline void *__vfence_leak_check_made(enum vfence_leak_check class, void *object)
{
	if (!IS_ERR_OR_NULL(object))
		atomic_long_inc(&vfence_leak_check[class]);
	return object;
}

#define vfence_leak_check_made(class, object)	\
	__vfence_leak_check_made(VFENCE_LEAK_CHECK_##class, object)

/* Allocate a zeroed object of @class; NULL if there is no memory. */
#define vfence_leak_check_alloc(class, size)	\
	vfence_leak_check_made(class, kzalloc(size, GFP_KERNEL_ACCOUNT))

/* Stop counting an object of @class; the caller frees it. */
#define vfence_leak_check_gone(class)		\
	atomic_long_dec(&vfence_leak_check[VFENCE_LEAK_CHECK_##class])

static inline void __vfence_leak_check_free(enum vfence_leak_check class, const void *object)
{
	if (object)
		atomic_long_dec(&vfence_leak_check[class]);
	kfree(object);
}

#define vfence_leak_check_free(class, object)	\
	__vfence_leak_check_free(VFENCE_LEAK_CHECK_##class, object)

/* Free an object of @class after a grace period; @object has a member rcu. */
#define vfence_leak_check_free_rcu(class, object) do {	\
	vfence_leak_check_gone(class);			\
	kfree_rcu(object, rcu);				\
} while (0)

static inline struct eventfd_ctx *vfence_eventfd_get(int fd)
{
	return vfence_leak_check_made(EVENTFD, eventfd_ctx_fdget(fd));
}

static inline void vfence_eventfd_put(struct eventfd_ctx *ctx)
{
	vfence_leak_check_gone(EVENTFD);
	eventfd_ctx_put(ctx);
}

#endif
