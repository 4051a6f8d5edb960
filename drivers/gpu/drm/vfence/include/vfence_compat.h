/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_COMPAT_H_
#define _VFENCE_COMPAT_H_

/*
 * All differences between the kernels that this driver builds for. The driver is written
 * for the newest kernel; this file supplies the functions that older kernels lack.
 * include/probe.sh defines the HAVE_ macros from the kernel's own headers. It does not use
 * version numbers, because distributions backport.
 */

#include <linux/dma-fence.h>
#include <linux/eventfd.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

#ifdef VFENCE_HAVE_DRIVER_DATE
#define VFENCE_DRIVER_DATE	.date = "20261120",
#else
#define VFENCE_DRIVER_DATE
#endif

#ifdef VFENCE_HAVE_FOP_FLAGS
#define VFENCE_FOP_FLAGS	.fop_flags = FOP_UNSIGNED_OFFSET,
#else
#define VFENCE_FOP_FLAGS
#endif

#ifdef VFENCE_HAVE_EVENTFD_SIGNAL_COUNT
#define vfence_eventfd_signal(ctx)	eventfd_signal(ctx, 1)
/* The function that does it. */
#define VFENCE_EVENTFD_SIGNAL		eventfd_signal
#else
#define vfence_eventfd_signal(ctx)	eventfd_signal(ctx)
#define VFENCE_EVENTFD_SIGNAL		eventfd_signal_mask
#endif

#ifndef VFENCE_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#ifndef VFENCE_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/*
 * A dma_fence may outlive the module. New kernels do not use the operations of a signaled
 * dma_fence that has a lock of its own and no release(). Older kernels use the operations
 * until it is freed, so that there each dma_fence holds a reference to the module.
 */
#ifdef VFENCE_HAVE_DMA_FENCE_INLINE_LOCK
struct vfence_dma_fence {
	struct dma_fence base;
};

#define VFENCE_DEFINE_DMA_FENCE_OPS(name, driver, timeline)	\
	static const struct dma_fence_ops name = {		\
		.get_driver_name = driver,			\
		.get_timeline_name = timeline,			\
	}

static inline void vfence_dma_fence_init(struct vfence_dma_fence *fence,
					 const struct dma_fence_ops *ops, u64 context)
{
	dma_fence_init64(&fence->base, ops, NULL, context, 0);
}
#else
struct vfence_dma_fence {
	struct dma_fence base;
	/* lock of @base */
	spinlock_t lock;
};

#define VFENCE_DEFINE_DMA_FENCE_OPS(name, driver, timeline)	\
	static void name##_release(struct dma_fence *fence)	\
	{							\
		dma_fence_free(fence);				\
		module_put(THIS_MODULE);			\
	}							\
								\
	static const struct dma_fence_ops name = {		\
		.use_64bit_seqno = true,			\
		.get_driver_name = driver,			\
		.get_timeline_name = timeline,			\
		.release = name##_release,			\
	}

static inline void vfence_dma_fence_init(struct vfence_dma_fence *fence,
					 const struct dma_fence_ops *ops, u64 context)
{
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, ops, &fence->lock, context, 0);
}
#endif

/* Schedulers with a run queue for each priority need the number of run queues. */
#if defined(VFENCE_HAVE_SCHED_INIT_RQS) || !defined(VFENCE_HAVE_SCHED_INIT_ARGS)
#define VFENCE_SCHED_RQS		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#else
#define VFENCE_SCHED_RQS
#endif

/* Schedulers without a workqueue have a thread each. */
#if defined(VFENCE_HAVE_SCHED_SUBMIT_WQ) || !defined(VFENCE_HAVE_SCHED_INIT_ARGS)
#define VFENCE_SCHED_WQ(wq)		.submit_wq = (wq),
#else
#define VFENCE_SCHED_WQ(wq)
#endif

/*
 * Older schedulers take their arguments one by one. Before jobs had credits, schedulers took
 * a number of jobs, and had a thread each instead of a workqueue. The structure has the members
 * that the driver sets.
 */
#ifdef VFENCE_HAVE_SCHED_INIT_ARGS
#define vfence_sched_init(sched, args)	drm_sched_init(sched, args)
#else
struct drm_sched_init_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	long timeout;
	const char *name;
	struct device *dev;
};

static inline int vfence_sched_init(struct drm_gpu_scheduler *sched,
				    const struct drm_sched_init_args *args)
{
#ifdef VFENCE_HAVE_SCHED_CREDITS
	return drm_sched_init(sched, args->ops, args->submit_wq, args->num_rqs,
			      args->credit_limit, 0, args->timeout, args->timeout_wq, NULL,
			      args->name, args->dev);
#else
	return drm_sched_init(sched, args->ops, args->credit_limit, 0, args->timeout,
			      args->timeout_wq, NULL, args->name, args->dev);
#endif
}
#endif

#if defined(VFENCE_HAVE_SCHED_CLIENT_ID)
#define vfence_sched_job_init(job, entity, file)	\
	drm_sched_job_init(job, entity, 1, NULL, (file)->client_id)
#elif defined(VFENCE_HAVE_SCHED_CREDITS)
#define vfence_sched_job_init(job, entity, file)	drm_sched_job_init(job, entity, 1, NULL)
#else
#define vfence_sched_job_init(job, entity, file)	drm_sched_job_init(job, entity, NULL)
#endif

#ifdef VFENCE_HAVE_SCHED_START_ERRNO
#define vfence_sched_start(sched)	drm_sched_start(sched, 0)
#elif defined(VFENCE_HAVE_SCHED_START_BOOL)
#define vfence_sched_start(sched)	drm_sched_start(sched, true)
#else
#define vfence_sched_start(sched)	drm_sched_start(sched)
#endif

#ifdef VFENCE_HAVE_SCHED_STAT_RESET
#define VFENCE_SCHED_STAT_RESET		DRM_GPU_SCHED_STAT_RESET
#else
#define VFENCE_SCHED_STAT_RESET		DRM_GPU_SCHED_STAT_NOMINAL
#endif

/*
 * With dma_buf_vmap_unlocked() the caller of a dma-buf's vmap() must hold the reservation.
 * On older kernels it must not: there the exporter takes the locks that it needs.
 */
#ifdef VFENCE_HAVE_DMA_BUF_VMAP_UNLOCKED
#define vfence_vmap_under_resv(obj)	((void)(obj), true)
#else
#define vfence_vmap_under_resv(obj)	(!(obj)->import_attach)
#endif

/* Newer kernels change the affinity of an interrupt at once by default. */
#ifdef VFENCE_HAVE_IRQ_MOVE_PCNTXT
#define vfence_irq_set_move_pcntxt(irq)	irq_set_status_flags(irq, IRQ_MOVE_PCNTXT)
#else
#define vfence_irq_set_move_pcntxt(irq)	do { } while (0)
#endif

#ifdef VFENCE_HAVE_PLATFORM_REMOVE_INT
#define VFENCE_PLATFORM_REMOVE(name)				\
	static int name##_compat(struct platform_device *pdev)	\
	{							\
		name(pdev);					\
		return 0;					\
	}
#define VFENCE_PLATFORM_REMOVE_OP(name)	.remove = name##_compat
#elif defined(VFENCE_HAVE_PLATFORM_REMOVE_NEW)
#define VFENCE_PLATFORM_REMOVE(name)
#define VFENCE_PLATFORM_REMOVE_OP(name)	.remove_new = name
#else
#define VFENCE_PLATFORM_REMOVE(name)
#define VFENCE_PLATFORM_REMOVE_OP(name)	.remove = name
#endif

/* Without drm_show_fdinfo() the driver numbers the clients and prints the common keys. */
#ifdef VFENCE_HAVE_SHOW_FDINFO
#define vfence_client_id(drm_file)	((drm_file)->client_id)
#define VFENCE_DEFINE_FDINFO(show, id, driver)
#define VFENCE_DRIVER_FDINFO(show)	.show_fdinfo = show,
#define VFENCE_FOP_FDINFO		.show_fdinfo = drm_show_fdinfo,
#else
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#define vfence_client_id(drm_file)						\
({										\
	static atomic64_t last_id = ATOMIC64_INIT(0);				\
										\
	atomic64_inc_return(&last_id);						\
})
#define VFENCE_DEFINE_FDINFO(show, id, driver)					\
	static void show_fdinfo_compat(struct seq_file *m, struct file *filp)	\
	{									\
		struct drm_printer p = drm_seq_file_printer(m);			\
		struct drm_file *file = filp->private_data;			\
		int idx;							\
										\
		if (drm_dev_enter(file->minor->dev, &idx)) {			\
			drm_printf(&p, "drm-driver:\t%s\n", driver);		\
			drm_printf(&p, "drm-client-id:\t%llu\n", id(file));	\
			show(&p, file);						\
			drm_dev_exit(idx);					\
		}								\
	}
#define VFENCE_DRIVER_FDINFO(show)
#define VFENCE_FOP_FDINFO		.show_fdinfo = show_fdinfo_compat,
#endif

/* Without drm_show_memory_stats() fdinfo has no keys of memory. */
#ifdef VFENCE_HAVE_SHOW_MEMORY_STATS
#include <drm/drm_file.h>
#define vfence_show_memory_stats(p, file)	drm_show_memory_stats(p, file)
#else
#define vfence_show_memory_stats(p, file)	do { } while (0)
#endif

#endif
