/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_ADAPTER_H_
#define _VFENCE_ADAPTER_H_

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_mm.h>
#include <drm/drm_print.h>

#include "fence/vfence_storage.h"
#include "queue/vfence_paging.h"
#include "vfence_compat.h"
#include "vfence_config.h"
#include "vfence_objects.h"
#include "vfence_rules.h"
#include "vfence_uobj.h"
#include "vfence_vector.h"

struct drm_file;
struct vfence_doorbell;

/**
 * enum vfence_count - counters the driver keeps, see &struct drm_vfence_counters
 */
enum vfence_count {
	VFENCE_COUNT_HANDLER_RUNS,
	VFENCE_COUNT_USEFUL,
	VFENCE_COUNT_SPURIOUS,
	VFENCE_COUNT_SCANS,
	VFENCE_COUNT_CPU_SIGNALS,
	VFENCE_COUNT_WAITS_BEGUN,
	VFENCE_COUNT_WAITS_SATISFIED,
	VFENCE_COUNT_WAITS_TIMED_OUT,
	VFENCE_COUNT_WAITS_CANCELLED,
	VFENCE_COUNT_SECOND_SAMPLE,
	VFENCE_COUNT_LOG_READ,
	VFENCE_COUNT_LOG_LOST,
	VFENCE_COUNT_IOCTLS,
	VFENCE_COUNT_DOORBELL_FAULTS,
	VFENCE_COUNT_PAGE_FAULTS,
	VFENCE_COUNT_FENCE_CREATED,
	VFENCE_COUNT_FENCE_OPENED,
	VFENCE_COUNT_FENCE_CLOSED,
	VFENCE_COUNT_FENCE_DESTROYED,
	VFENCE_COUNT_VICTIMISATIONS,
	VFENCE_COUNT_RECORDS_ARRAY,
	VFENCE_COUNT_RECORDS_NULL,
	VFENCE_COUNT_RECORDS_QUEUE,
	VFENCE_COUNT_RECORDS_QUEUE_NULL,
	VFENCE_COUNT_LOG_SCANS,
	VFENCE_COUNT_LIVE_READS,
	VFENCE_COUNT_LEGACY_SCANS,
	VFENCE_COUNT_F1,
	VFENCE_COUNT_D3,
	VFENCE_COUNT_ENGINE_RESETS,
	VFENCE_COUNT_RECORDS_MONITORED,
	VFENCE_COUNT_SUBMISSIONS,
	VFENCE_COUNT_SUBMISSIONS_HELD,
	VFENCE_COUNT_SUBMISSIONS_DONE,
	VFENCE_COUNT_SUBMISSIONS_LOST,
	VFENCE_COUNT_SUBMISSIONS_TIMED_OUT,
	VFENCE_COUNT_HANDLER_NS,
	VFENCE_COUNTS,
};

/**
 * struct vfence_adapter - a DRM device with its virtual GPU
 *
 * Its locks and their order: Documentation/gpu/vfence/locking.rst.
 */
struct vfence_adapter {
	/** @drm: the DRM device */
	struct drm_device drm;
	/** @config: shape */
	struct vfence_config config;
	/** @name: of threads and interrupts */
	char name[16];
	/** @native_fence: the feature is enabled */
	bool native_fence;
	/** @user_mode_submission: likewise */
	bool user_mode_submission;
	/** @gpu: the virtual GPU */
	struct vgpu *gpu;
	/** @segment: video memory */
	struct vfence_segment segment;
	/** @paging: the kernel ring that moves it */
	struct vfence_paging paging;
	/** @system_lock: protects @system_space */
	struct mutex system_lock;
	/** @system_space: addresses of the GPU's system process */
	struct drm_mm system_space;
	/** @vector: its interrupt */
	struct vfence_vector vector;
	/** @irq_lock: serialises drains of the interrupt ring */
	spinlock_t irq_lock;
	/** @deferred: fences whose completion goes on in the threaded half */
	struct llist_head deferred;
	/** @handler_max_ns: longest run of the hard half, which is one at a time */
	u64 handler_max_ns;
	/** @scan_due: nodes with a NULL event that waits for the threaded half */
	atomic_t scan_due;
	/** @legacy_scan_due: waiters of monitored fences are to be looked at */
	atomic_t legacy_scan_due;
	/** @signaled: queues whose logs the threaded half shall read */
	struct llist_head signaled;
	/** @settle_lock: one threaded half at a time; outside the log locks */
	struct mutex settle_lock;
	/** @optimized: interrupts name queues, and their logs the fences */
	bool optimized;
	/** @fences: global handle to &struct vfence_fence */
	struct xarray fences;
	/** @next_fence: allocation hint; handles come back late */
	u32 next_fence;
	/** @signal_lock: see above */
	struct mutex signal_lock;
	/** @queues: global handle to &struct vfence_queue */
	struct xarray queues;
	/** @next_queue: allocation hint */
	u32 next_queue;
	/** @contexts: global handle to &struct vfence_context */
	struct xarray contexts;
	/** @next_context: allocation hint */
	u32 next_context;
	/** @suspend_wait: who suspends a context sleeps here */
	wait_queue_head_t suspend_wait;
	/** @queue_count: queues that exist */
	atomic_t queue_count;
	/** @doorbell_lock: see above */
	struct mutex doorbell_lock;
	/** @physical: who is connected to each physical doorbell */
	struct vfence_doorbell *physical[VGPU_MAX_DOORBELLS];
	/** @doorbell_clock: connections so far, for the choice of victims */
	u64 doorbell_clock;
	/** @level_lock: who changes the logging level; outside the log locks */
	struct mutex level_lock;
	/** @logging_level: &enum drm_vfence_logging_level */
	u32 logging_level;
	/** @doorbell_wq: the doorbell thread */
	struct workqueue_struct *doorbell_wq;
	/** @import_wq: what dma_fences signal, in their order */
	struct workqueue_struct *import_wq;
	/** @submit_wq: submissions that go on, or are done: what dma_fences wait for */
	struct workqueue_struct *submit_wq;
	/** @signal_wq: software signals; who stops a queue waits for them */
	struct workqueue_struct *signal_wq;
	/** @work_wq: reaping of events, faults of queues, ends of submissions */
	struct workqueue_struct *work_wq;
	/** @lost: the hardware failed for good: nothing new until it is bound again */
	bool lost;
	/** @engine_work: does what engines ask for */
	struct work_struct engine_work;
	/** @reset_lock: one reset of an engine at a time */
	struct mutex reset_lock;
	/** @lost_work: ends what was there when it was lost */
	struct work_struct lost_work;
	/** @dummy_fence: what fence mappings read after unplug: U64_MAX */
	struct page *dummy_fence;
	/** @counts: exact counters */
	atomic64_t counts[VFENCE_COUNTS];
};

static inline const struct vgpu_fence_caps *
vfence_fence_caps(const struct vfence_adapter *adapter)
{
	return &adapter->config.gpu.fence_caps;
}

#define to_vfence_adapter(d) container_of(d, struct vfence_adapter, drm)

static inline void vfence_count(struct vfence_adapter *adapter, enum vfence_count what)
{
	atomic64_inc(&adapter->counts[what]);
}

static inline void vfence_count_add(struct vfence_adapter *adapter, enum vfence_count what, u64 n)
{
	atomic64_add(n, &adapter->counts[what]);
}

int vfence_adapter_init(struct vfence_adapter *adapter, unsigned int index);
void vfence_adapter_unplug(struct vfence_adapter *adapter);
void vfence_adapter_lose(struct vfence_adapter *adapter, unsigned int why);

/* vfence_debugfs.c */
void vfence_debugfs_init(struct drm_minor *minor);

/* vfence_query.c */
int vfence_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
