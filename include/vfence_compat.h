/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _VFENCE_COMPAT_H_
#define _VFENCE_COMPAT_H_

/*
 * Every difference between the kernels this driver builds for. The driver is
 * written against the newest; what an older one lacks is supplied here. The
 * HAVE_ macros come from include/probe.sh, which looks at the kernel's own
 * headers: distributions backport, so a version number says nothing.
 */

#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/platform_device.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>

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
#else
#define vfence_eventfd_signal(ctx)	eventfd_signal(ctx)
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

/* Newer kernels move an interrupt at once by default. */
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

/* Without drm_show_fdinfo() we print the common keys ourselves. */
#ifdef VFENCE_HAVE_SHOW_FDINFO
#define VFENCE_DEFINE_FDINFO(show, id, driver)
#define VFENCE_DRIVER_FDINFO(show)	.show_fdinfo = show,
#define VFENCE_FOP_FDINFO		.show_fdinfo = drm_show_fdinfo,
#else
#include <drm/drm_print.h>

#define VFENCE_DEFINE_FDINFO(show, id, driver)					\
	static void show_fdinfo_compat(struct seq_file *m, struct file *filp)	\
	{									\
		struct drm_printer p = drm_seq_file_printer(m);			\
		struct drm_file *file = filp->private_data;			\
										\
		drm_printf(&p, "drm-driver:\t%s\n", driver);			\
		drm_printf(&p, "drm-client-id:\t%llu\n", id(file));		\
		show(&p, file);							\
	}
#define VFENCE_DRIVER_FDINFO(show)
#define VFENCE_FOP_FDINFO		.show_fdinfo = show_fdinfo_compat,
#endif

#endif
