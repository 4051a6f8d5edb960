#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# probe.sh SRCTREE: prints a -D flag for each interface that the kernel's headers have.
# Kbuild calls it; only vfence_compat.h uses the flags.
inc=$1/include

has() { # NAME FILE EXTENDED-REGEX
	if tr '\n\t' '  ' <"$inc/$2" | grep -qE "$3"; then printf -- '-DVFENCE_HAVE_%s ' "$1"; fi
}

# in_struct NAME FILE STRUCT EXTENDED-REGEX: a member of one structure
in_struct() {
	if sed -n "/^struct $3 {/,/^}/p" "$inc/$2" | grep -qE "$4"; then
		printf -- '-DVFENCE_HAVE_%s ' "$1"
	fi
}

in_struct DRIVER_DATE drm/drm_drv.h drm_driver 'char \*date;'
in_struct SHOW_FDINFO drm/drm_drv.h drm_driver '\(\*show_fdinfo\)'
has SHOW_MEMORY_STATS drm/drm_file.h 'void drm_show_memory_stats\('
in_struct FOP_FLAGS linux/fs.h file_operations 'fop_flags'
has EVENTFD_SIGNAL_COUNT linux/eventfd.h 'eventfd_signal\(struct eventfd_ctx \*ctx, __u64 n\)'
has VM_FLAGS_SET linux/mm.h 'void vm_flags_set\('
has HRTIMER_SETUP linux/hrtimer.h 'void hrtimer_setup\('
has IRQ_MOVE_PCNTXT linux/irq.h 'IRQ_MOVE_PCNTXT *='
in_struct PLATFORM_REMOVE_INT linux/platform_device.h platform_driver 'int \(\*remove\)'
in_struct PLATFORM_REMOVE_NEW linux/platform_device.h platform_driver 'void \(\*remove_new\)'
in_struct DMA_FENCE_INLINE_LOCK linux/dma-fence.h dma_fence 'inline_lock;'
has SCHED_INIT_ARGS drm/gpu_scheduler.h 'struct drm_sched_init_args {'
in_struct SCHED_INIT_RQS drm/gpu_scheduler.h drm_sched_init_args 'num_rqs;'
in_struct SCHED_SUBMIT_WQ drm/gpu_scheduler.h drm_sched_init_args 'submit_wq;'
in_struct SCHED_CREDITS drm/gpu_scheduler.h drm_sched_job 'credits;'
has SCHED_CLIENT_ID drm/gpu_scheduler.h 'int drm_sched_job_init\([^)]*client_id\)'
has SCHED_START_ERRNO drm/gpu_scheduler.h 'void drm_sched_start\([^)]*, *int errno\)'
has SCHED_START_BOOL drm/gpu_scheduler.h 'void drm_sched_start\([^)]*, *bool '
has SCHED_STAT_RESET drm/gpu_scheduler.h 'DRM_GPU_SCHED_STAT_RESET,'
has DMA_BUF_VMAP_UNLOCKED linux/dma-buf.h 'int dma_buf_vmap_unlocked\('
