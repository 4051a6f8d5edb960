// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues as objects: create, stop, report faults, destroy.
 */

#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include <drm/drm_file.h>

#include "core/vfence_account.h"
#include "core/vfence_device.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_holder.h"
#include "irq/vfence_irq.h"
#include "mem/vfence_paging.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_job.h"
#include "queue/vfence_kernel_queue.h"
#include "queue/vfence_published.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_trace.h"
#include "vfence_race_point.h"

/* Least time for which others have to have lacked the engine, in ms. */
#define QUEUE_MIN_PAID_MS	10

/* Its owner has destroyed it long before. The file waits for this in vfence_queue_settle_all(). */
static void queue_free(struct vfence_queue *queue)
{
	struct vfence_file *file = queue->file;

	might_sleep();
	if (!IS_ERR_OR_NULL(queue->hw))
		vgpu_queue_destroy(queue->hw);

	vfence_log_free(queue);
	if (queue->kernel)
		vfence_kernel_queue_free(queue->kernel);

	if (queue->progress_fence)
		vfence_fence_put(queue->progress_fence);

	spin_lock(&queue->device->lock);
	list_del(&queue->device_link);
	spin_unlock(&queue->device->lock);
	vfence_context_put(queue->context);
	vfence_device_put(queue->device);
	vfence_leak_check_free_rcu(QUEUE, queue);
	/* The address alone is used from here on: the file may be gone. */
	if (atomic_dec_and_test(&file->living_queues))
		wake_up_var(&file->living_queues);
}

static void queue_release(struct kref *ref)
{
	queue_free(container_of(ref, struct vfence_queue, ref));
}

static void queue_free_work(struct work_struct *work)
{
	vfence_hold(QUEUE_FREE);
	queue_free(container_of(work, struct vfence_queue, free_work));
}

/** vfence_queue_put - drop a reference; process context */
void vfence_queue_put(struct vfence_queue *queue)
{
	kref_put(&queue->ref, queue_release);
}

/**
 * vfence_queue_for_each - visit all queues of an adapter; process context
 * @adapter: the adapter
 * @fn: function to call for each queue, with a reference on the queue and without a lock
 * @arg: argument of @fn
 */
void vfence_queue_for_each(struct vfence_adapter *adapter,
			   void (*fn)(struct vfence_queue *queue, void *arg), void *arg)
{
	struct vfence_queue *queue;
	unsigned long index;

	rcu_read_lock();
	xa_for_each(&adapter->queues.table, index, queue) {
		if (!kref_get_unless_zero(&queue->ref))
			continue;
		rcu_read_unlock();
		fn(queue, arg);
		vfence_queue_put_later(queue);
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
}

/* Return the first queue from @link on that is not about to be freed, with a reference, or NULL. */
static struct vfence_queue *queue_get_locked(struct vfence_device *device, struct list_head *link)
{
	lockdep_assert_held(&device->lock);
	while (link != &device->queues) {
		struct vfence_queue *queue = list_entry(link, struct vfence_queue, device_link);

		if (kref_get_unless_zero(&queue->ref))
			return queue;
		link = link->next;
	}
	return NULL;
}

/**
 * vfence_queue_visit_of - visit all queues of a device; process context
 * @device: the device, with a reference
 * @fn: function to call for each queue, with a reference on the queue and without a lock
 * @arg: argument of @fn
 *
 * Queues that are created meanwhile come last.
 */
void vfence_queue_visit_of(struct vfence_device *device,
			   void (*fn)(struct vfence_queue *queue, void *arg), void *arg)
{
	struct vfence_queue *queue, *next;

	spin_lock(&device->lock);
	queue = queue_get_locked(device, device->queues.next);
	spin_unlock(&device->lock);
	while (queue) {
		fn(queue, arg);
		/* The reference keeps the queue on the list. */
		spin_lock(&device->lock);
		next = queue_get_locked(device, queue->device_link.next);
		spin_unlock(&device->lock);
		vfence_queue_put_later(queue);
		queue = next;
		cond_resched();
	}
}

static int queue_fault_to_device_state(u32 fault)
{
	switch (fault) {
	case DRM_VFENCE_FAULT_PREEMPTION:
		return DRM_VFENCE_DEVICE_HUNG;
	case DRM_VFENCE_FAULT_UNMAPPED:
	case DRM_VFENCE_FAULT_ACCESS:
		return DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT;
	default:
		return DRM_VFENCE_DEVICE_ERROR_DMAFAULT;
	}
}

/*
 * A queue that is stopped before the GPU finds that it hangs has kept others off the engine all the
 * same. If its device has failed, that has been paid for.
 */
static void queue_pay(struct vfence_queue *queue)
{
	u64 ms = div_u64(vgpu_queue_take_kept_ns(queue->hw), NSEC_PER_MSEC);

	if (ms >= QUEUE_MIN_PAID_MS && vfence_device_active(queue->device))
		vfence_account_hung(queue->device->account, ms);
}

/**
 * vfence_queue_stop - abort a queue permanently
 * @queue: the queue, with a reference
 * @error: error of the submission that the queue was executing
 *
 * The progress fence ends: CPU waits for it fail, and the queues of all clients that wait for it
 * proceed. That of a kernel-mode queue ends in a work, after the signals of completed submissions.
 * Does not wait for a client. Process context.
 */
void vfence_queue_stop(struct vfence_queue *queue, int error)
{
	vfence_hold(QUEUE_STOP);
	vfence_doorbell_abort(queue);
	vgpu_queue_abort(queue->hw);
	queue_pay(queue);
	if (queue->kernel)
		vfence_kernel_queue_stop(queue->kernel, error);
	else
		vfence_holder_end(queue->progress_fence, -EIO);
}

/**
 * vfence_queue_fault_state - the error state that a fault of a queue means for its device
 * @queue: the queue
 *
 * Return: &enum drm_vfence_device_state; ACTIVE if the queue has not faulted.
 */
int vfence_queue_fault_state(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return status.state == DRM_VFENCE_QUEUE_FAULTED ?
		queue_fault_to_device_state(status.fault) : DRM_VFENCE_DEVICE_ACTIVE;
}

/* A queue has faulted. Take no lock of the owner: references keep all objects used here. */
static void queue_fault_work(struct work_struct *work)
{
	struct vfence_queue *queue = container_of(work, struct vfence_queue, fault_work);
	struct vgpu_queue_status status;

	vfence_hold(QUEUE_FAULT);
	vgpu_queue_query(queue->hw, &status);
	if (status.fault == DRM_VFENCE_FAULT_PREEMPTION)
		queue->adapter->loss->queue_stuck(queue->adapter, queue);
	queue->adapter->loss->device_failed(queue->adapter, queue->device,
					    queue_fault_to_device_state(status.fault),
					    status.requested);
	vfence_queue_put(queue);
}

static void queue_report_fault(struct vfence_queue *queue)
{
	if (!atomic_xchg(&queue->fault_reported, 1))
		vfence_queue_work(queue, queue->adapter->work_wq, &queue->fault_work);
}

/* An interrupt record names a queue that a packet of its own has faulted. */
static void queue_faulted_hard(struct vfence_adapter *adapter,
			       const struct vgpu_irq_record *record,
			       struct vfence_irq_batch *batch)
{
	struct vfence_queue *queue;

	rcu_read_lock();
	queue = xa_load(&adapter->queues.table, record->queue);
	if (queue)
		queue_report_fault(queue);
	rcu_read_unlock();
}

/* A kernel-mode queue has fetched or completed work, or the paging queue has completed some. */
static void queue_progressed_hard(struct vfence_adapter *adapter,
				  const struct vgpu_irq_record *record,
				  struct vfence_irq_batch *batch)
{
	struct vfence_queue *queue;

	lockdep_assert_held(&adapter->irq.lock);
	if (!record->queue) {
		vfence_paging_wake(adapter);
		return;
	}
	rcu_read_lock();
	queue = xa_load(&adapter->queues.table, record->queue);
	if (queue && queue->kernel)
		vfence_queue_work(queue, adapter->queues.run_wq, &queue->kernel->retire);
	rcu_read_unlock();
}

static void queue_scan_one(struct vfence_queue *queue, void *unused)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	if (status.state == DRM_VFENCE_QUEUE_FAULTED)
		queue_report_fault(queue);
}

/*
 * Scan all queues if records of faults may be missing. A missing record of a signal costs no
 * visit of each queue.
 */
static void queue_scan(struct vfence_adapter *adapter, u32 nodes)
{
	if (nodes & VGPU_OVERFLOW_QUEUES)
		vfence_queue_for_each(adapter, queue_scan_one, NULL);
}

static const struct vfence_irq_source queue_faulted_source = {
	.type = VGPU_IRQ_HWQUEUE_FAULTED,
	.hard = queue_faulted_hard,
	.scan = queue_scan,
};

static void queue_retime(struct vfence_queue *queue, void *unused)
{
	if (queue->kernel)
		vfence_job_retime(queue->kernel);
}

/** vfence_queue_retime_all - the time that submissions may take has changed */
void vfence_queue_retime_all(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, queue_retime, NULL);
}

static void queue_retire_one(struct vfence_queue *queue, void *unused)
{
	if (queue->kernel)
		vfence_job_retire(queue->kernel);
}

static void queue_retire_all_work(struct work_struct *work)
{
	struct vfence_adapter *adapter =
		container_of(work, struct vfence_adapter, queues.retire_all);
	bool signalling = dma_fence_begin_signalling();

	vfence_queue_for_each(adapter, queue_retire_one, NULL);
	dma_fence_end_signalling(signalling);
}

/*
 * Records of progress may be missing. Do not leave this to the threaded half: a thread that
 * waits for paging may hold a lock that the half needs, and dma_fences must not depend on
 * a lock under which others allocate.
 */
static void queue_progressed_overflow(struct vfence_adapter *adapter, u32 overflow)
{
	vfence_paging_wake(adapter);
	if (overflow & VGPU_OVERFLOW_QUEUES)
		queue_work(adapter->queues.run_wq, &adapter->queues.retire_all);
}

static const struct vfence_irq_source queue_progressed_source = {
	.type = VGPU_IRQ_DMA_COMPLETED,
	.hard = queue_progressed_hard,
	.overflow = queue_progressed_overflow,
};

/** vfence_queue_init - prepare an adapter for queues; cannot fail */
void vfence_queue_init(struct vfence_adapter *adapter)
{
	xa_init_flags(&adapter->queues.table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	INIT_WORK(&adapter->queues.retire_all, queue_retire_all_work);
	vfence_published_init(adapter);
}

/** vfence_queue_add_sources - register the handlers of faults and of progress */
void vfence_queue_add_sources(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, &queue_faulted_source);
	vfence_irq_add(adapter, &queue_progressed_source);
}

/** vfence_queue_fini - undo vfence_queue_init(); no queue is left */
void vfence_queue_fini(struct vfence_adapter *adapter)
{
	xa_destroy(&adapter->queues.table);
}

/** vfence_queue_busy_ns - GPU time charged to a queue, in nanoseconds */
u64 vfence_queue_busy_ns(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return status.busy_ns;
}

/* Return true if the queue executed a packet that was illegal or did not end. */
static bool queue_status_is_guilty(const struct vfence_queue *queue,
				   const struct vgpu_queue_status *status)
{
	int error = queue->kernel ? READ_ONCE(queue->kernel->aborted) : 0;

	/* Other reasons than its own are -ECANCELED and -ENODEV. */
	return status->guilty || status->fault || error == -ETIME || error == -EIO;
}

static bool queue_is_guilty(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return queue_status_is_guilty(queue, &status);
}

/* Charge the file for what the queue has used since it was charged last. */
static void queue_charge_locked(struct vfence_file *file, struct vfence_queue *queue)
{
	u64 busy_ns = vfence_queue_busy_ns(queue);

	lockdep_assert_held(&file->usage_lock);
	file->busy_ns[queue->node] += busy_ns - queue->charged_ns;
	queue->charged_ns = busy_ns;
}

static void queue_charge(struct vfence_file *file, struct vfence_queue *queue)
{
	spin_lock(&file->usage_lock);
	queue_charge_locked(file, queue);
	spin_unlock(&file->usage_lock);
}

/* Take the handle of a queue. What fdinfo shows does not go back meanwhile. */
static void queue_take_locked(struct vfence_file *file, struct vfence_queue *queue)
{
	lockdep_assert_held(&file->lock);
	spin_lock(&file->usage_lock);
	vfence_handle_table_remove(&file->queues, queue->handle);
	queue_charge_locked(file, queue);
	spin_unlock(&file->usage_lock);
}

/*
 * Destroy a queue for its owner, in three steps: take its handle and stop it; wait for what the
 * client may delay, in vfence_queue_settle_dead(); free what belongs to the file. The file's lock
 * is not held in the second step, so that other calls of the client, which may be in the gate, do
 * not wait.
 */
static void queue_begin_destroy_locked(struct vfence_file *file, struct vfence_queue *queue,
				       struct list_head *dead)
{
	lockdep_assert_held(&file->lock);
	queue_take_locked(file, queue);
	trace_vfence_queue(queue, queue->handle, false);
	vfence_queue_stop(queue, -ECANCELED);
	/* It may have been reset while it was stopped. */
	queue->context->guilty |= queue_is_guilty(queue);
	queue_charge(file, queue);
	vfence_doorbell_destroy(queue);

	/*
	 * Handle the interrupts that name the queue now: they need its log or its fences,
	 * and find neither later.
	 */
	if (queue->adapter->optimized) {
		vgpu_cmp_flush(queue->adapter->gpu);
		vfence_irq_settle(queue->adapter);
	}

	vfence_log_read(queue);
	vfence_log_unmap(queue);
	xa_erase(&queue->adapter->queues.table, queue->global);
	list_add_tail(&queue->dead_link, dead);
}

/**
 * struct vfence_queue_list - queues that are destroyed
 */
struct vfence_queue_list {
	/** @file: their file, locked */
	struct vfence_file *file;
	/** @dead: those whose handle is taken */
	struct list_head *dead;
};

/* Others may have a reference to a queue whose handle was taken before. */
static void queue_begin_destroy_one(struct vfence_queue *queue, void *arg)
{
	struct vfence_queue_list *list = arg;

	if (xa_load(&list->file->queues.objects, queue->handle) == queue)
		queue_begin_destroy_locked(list->file, queue, list->dead);
}

/**
 * vfence_queue_begin_destroy_all - take all queues from a device
 * @file: the client, with its lock held
 * @device: the device
 * @dead: output, for vfence_queue_settle_dead() and vfence_queue_end_destroy_all()
 */
void vfence_queue_begin_destroy_all(struct vfence_file *file, struct vfence_device *device,
				    struct list_head *dead)
{
	struct vfence_queue_list list = { .file = file, .dead = dead };

	lockdep_assert_held(&file->lock);
	vfence_queue_visit_of(device, queue_begin_destroy_one, &list);
}

/**
 * vfence_queue_settle_dead - wait until no work of some queues is left
 * @dead: the queues
 *
 * The client decides how long that takes. The file lives until this returns.
 */
void vfence_queue_settle_dead(struct list_head *dead)
{
	struct vfence_queue *queue;

	list_for_each_entry(queue, dead, dead_link)
		if (queue->kernel)
			vfence_kernel_queue_destroy(queue->kernel);
}

/**
 * vfence_queue_settle_all - wait until no queue of a closing file is left
 * @file: the file, which has destroyed all its queues
 *
 * Interrupts, scans and works that have found a queue before may still have a reference to it, and
 * use the file. None of them waits for the file.
 */
void vfence_queue_settle_all(struct vfence_file *file)
{
	wait_var_event(&file->living_queues, !atomic_read(&file->living_queues));
}

/**
 * vfence_queue_end_destroy_all - free what queues have of their file
 * @file: the client, with its lock held
 * @dead: the queues
 *
 * On return they use nothing of the file. queue_free() frees the rest with the last reference.
 */
void vfence_queue_end_destroy_all(struct vfence_file *file, struct list_head *dead)
{
	struct vfence_queue *queue, *next;

	lockdep_assert_held(&file->lock);
	list_for_each_entry_safe(queue, next, dead, dead_link) {
		atomic_dec(&queue->adapter->queues.count);
		vfence_fence_handle_destroy(file, queue->progress);
		queue->context->guilty |= queue_is_guilty(queue);
		queue->context->queues--;
		vfence_queue_put(queue);
	}
}

static int queue_create_progress(struct vfence_queue *queue,
				 struct drm_vfence_fence_mapping *mapping)
{
	const struct vfence_fence_args args = {
		.type = queue->adapter->native_fence ? DRM_VFENCE_FENCE_DEFAULT :
						       DRM_VFENCE_FENCE_MONITORED,
		/* Waits for the progress of a lost queue end with an error instead. */
		.flags = DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR,
	};
	struct vfence_fence *fence = vfence_fence_create(queue->file, &args);
	int ret;

	if (IS_ERR(fence))
		return PTR_ERR(fence);

	ret = vfence_fence_handle_add(queue->file, queue->device, fence, DRM_VFENCE_RIGHTS_ALL,
				      true, &queue->progress, mapping);
	if (!ret) {
		queue->progress_fence = vfence_fence_get(fence);
		vfence_fence_handle_keep(queue->file, queue->progress);
	}

	vfence_holder_put(fence, DRM_VFENCE_RIGHTS_ALL);
	return ret;
}

static int queue_create_hw(struct vfence_queue *queue, unsigned int node)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vgpu_queue_args args = {
		.context = queue->context->hw,
		.vm = queue->file->vm,
		.node = node,
		.kernel = queue->kernel,
	};
	int ret;

	ret = xa_alloc_cyclic(&adapter->queues.table, &queue->global, NULL, xa_limit_31b,
			      &adapter->queues.next, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;

	args.os_handle = queue->global;
	queue->hw = vgpu_queue_create(adapter->gpu, &args);
	if (IS_ERR(queue->hw))
		xa_erase(&adapter->queues.table, queue->global);

	return PTR_ERR_OR_ZERO(queue->hw);
}

static struct vfence_queue *queue_alloc(struct vfence_file *file, struct vfence_context *context,
					bool user_mode)
{
	struct vfence_queue *queue = vfence_leak_check_alloc(QUEUE, sizeof(*queue));

	if (!queue)
		return NULL;

	if (!user_mode) {
		queue->kernel = vfence_leak_check_alloc(KERNEL_QUEUE, sizeof(*queue->kernel));
		if (!queue->kernel) {
			vfence_leak_check_free(QUEUE, queue);
			return NULL;
		}
	}

	kref_init(&queue->ref);
	queue->adapter = file->adapter;
	queue->file = file;
	atomic_inc(&file->living_queues);
	queue->client = file->id;
	queue->context = context;
	queue->node = context->node;
	vfence_context_get(context);
	queue->device = context->device;
	vfence_device_get(queue->device);
	INIT_LIST_HEAD(&queue->device_link);

	vfence_log_setup(queue);
	INIT_WORK(&queue->fault_work, queue_fault_work);
	INIT_WORK(&queue->free_work, queue_free_work);
	return queue;
}

static void queue_describe(struct vfence_queue *queue, struct drm_vfence_queue_create *args)
{
	struct vfence_log *waits = vfence_queue_log(queue, DRM_VFENCE_LOG_WAITS);
	struct vfence_log *signals = vfence_queue_log(queue, DRM_VFENCE_LOG_SIGNALS);

	args->progress_fence = queue->progress;
	args->wait_log_va = 0;
	args->signal_log_va = 0;
	args->wait_log_entries = 0;
	args->signal_log_entries = 0;
	if (queue->kernel)
		return;

	args->wait_log_va = waits->node.start;
	args->signal_log_va = signals->node.start;
	args->wait_log_entries = waits->header->number_of_entries;
	args->signal_log_entries = signals->header->number_of_entries;
}

/* May a node have queues of this kind? The paging node has queues of neither kind. */
static bool queue_node_allowed(struct vfence_adapter *adapter, unsigned int node, bool user_mode)
{
	if (user_mode)
		return adapter->config.user_nodes & BIT(node);
	return adapter->config.gpu.node_class[node] != DRM_VFENCE_NODE_PAGING;
}

static int queue_create_locked(struct vfence_file *file, struct drm_vfence_queue_create *args)
{
	struct vfence_context *context = xa_load(&file->contexts.objects, args->context);
	bool user_mode = args->flags & DRM_VFENCE_QUEUE_USER_MODE;
	struct drm_vfence_fence_mapping progress;
	struct vfence_queue *queue;
	int ret;

	lockdep_assert_held(&file->lock);
	if (!context)
		return -ENOENT;
	if (!vfence_device_active(context->device))
		return -EIO;
	/* The destruction of the device has taken its queues, and waits for them. */
	if (context->device->closing)
		return -ENOENT;

	if (vfence_reject(&file->adapter->drm,
			  !queue_node_allowed(file->adapter, context->node, user_mode)))
		return -EOPNOTSUPP;

	queue = queue_alloc(file, context, user_mode);
	if (!queue)
		return -ENOMEM;

	ret = queue_create_hw(queue, context->node);
	if (ret)
		goto put;

	if (user_mode)
		ret = vfence_log_create(queue);
	else
		vfence_log_create_none(queue);
	if (ret)
		goto erase;

	ret = queue_create_progress(queue, &progress);
	if (ret)
		goto unmap_logs;

	if (!user_mode)
		ret = vfence_kernel_queue_create(queue, args->flags &
						 DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT);
	if (!ret)
		ret = vfence_handle_table_add(&file->queues, queue, &args->handle);
	if (ret)
		goto destroy_progress;

	/* Describe the queue before it can be found: from then on its logs may be replaced. */
	queue_describe(queue, args);
	args->progress = progress;

	trace_vfence_queue(queue, args->handle, true);
	/* Nothing may fail from here on: interrupts and scans find the queue. */
	xa_store(&file->adapter->queues.table, queue->global, queue, GFP_KERNEL_ACCOUNT);
	queue->handle = args->handle;
	spin_lock(&queue->device->lock);
	list_add_tail(&queue->device_link, &queue->device->queues);
	spin_unlock(&queue->device->lock);
	atomic_inc(&file->adapter->queues.count);

	/*
	 * Order the queue's entries before the read of the device's state: either
	 * the thread that stops queues finds this one, or this thread finds the device
	 * failed. Partners: the atomics of vfence_device_fail(), vfence_adapter_lose()
	 * and vfence_process_hung().
	 */
	smp_mb();
	if (!vfence_device_active(queue->device))
		vfence_queue_stop(queue, -ECANCELED);
	/* The time that submissions may take may have changed before the queue was visible. */
	queue_retime(queue, NULL);

	context->queues++;
	return 0;

destroy_progress:
	if (!user_mode)
		vfence_kernel_queue_destroy(queue->kernel);
	vfence_fence_handle_destroy(file, queue->progress);
unmap_logs:
	vfence_log_unmap(queue);
erase:
	xa_erase(&file->adapter->queues.table, queue->global);
put:
	vfence_queue_put(queue);
	return ret;
}

int vfence_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_queue_create *args = data;
	int ret;

	if (vfence_reject(drm, args->flags & ~(DRM_VFENCE_QUEUE_USER_MODE |
					       DRM_VFENCE_QUEUE_DISABLE_GPU_TIMEOUT)))
		return -EINVAL;

	if (vfence_reject(drm, args->flags & DRM_VFENCE_QUEUE_USER_MODE &&
			  !file->adapter->user_mode_submission))
		return -EOPNOTSUPP;

	mutex_lock(&file->lock);
	ret = queue_create_locked(file, args);
	mutex_unlock(&file->lock);
	return ret;
}

static int queue_begin_destroy(struct vfence_file *file, u32 handle, struct list_head *dead)
{
	struct vfence_queue *queue;
	int ret = 0;

	mutex_lock(&file->lock);
	queue = xa_load(&file->queues.objects, handle);
	if (!queue)
		ret = -ENOENT;
	else if (queue->doorbell)
		ret = -EBUSY;
	else
		queue_begin_destroy_locked(file, queue, dead);
	mutex_unlock(&file->lock);
	return ret;
}

/* Enters no gate, as a file that is closed does not: the client decides how long this takes. */
int vfence_queue_destroy(struct vfence_file *file, u32 handle)
{
	LIST_HEAD(dead);
	int ret;

	if (mutex_lock_killable(&file->destroy_lock))
		return -ERESTARTSYS;
	ret = queue_begin_destroy(file, handle, &dead);
	vfence_queue_settle_dead(&dead);
	mutex_lock(&file->lock);
	vfence_queue_end_destroy_all(file, &dead);
	mutex_unlock(&file->lock);
	mutex_unlock(&file->destroy_lock);
	return ret;
}

/*
 * A queue that has work is aborted, and its progress fence ends, as no packet will signal it. That
 * ends waits of other clients, who decide how long it takes: no lock or gate is held over it.
 */
int vfence_queue_destroy_doorbell(struct vfence_file *file, u32 handle)
{
	struct vfence_queue *queue = vfence_queue_lookup(file, handle);
	bool stops = false;
	int ret = -ENOENT;

	if (!queue)
		return -ENOENT;
	mutex_lock(&file->lock);
	if (queue->doorbell) {
		stops = vfence_doorbell_destroy(queue);
		ret = 0;
	}
	mutex_unlock(&file->lock);
	if (stops)
		vfence_queue_stop(queue, -ECANCELED);
	vfence_queue_put(queue);

	return ret;
}

/* Enters no gate: the client decides how long the last signals take. */
int vfence_queue_abort_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_queue_abort *args = data;
	struct vfence_queue *queue;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;
	queue = vfence_queue_lookup(file, args->queue);
	if (!queue)
		return -ENOENT;
	vfence_queue_stop(queue, -ECANCELED);
	if (queue->kernel)
		vfence_kernel_queue_settle(queue->kernel);
	vfence_queue_put(queue);
	return 0;
}

/** vfence_queue_lookup - the queue of a handle, with a reference, or NULL */
struct vfence_queue *vfence_queue_lookup(struct vfence_file *file, u32 handle)
{
	struct vfence_queue *queue;

	mutex_lock(&file->lock);
	queue = xa_load(&file->queues.objects, handle);
	if (queue)
		kref_get(&queue->ref);
	mutex_unlock(&file->lock);
	return queue;
}

/*
 * Return true if the device is lost. Call this before queue_is_guilty(): the GPU marks the guilty
 * queue before the driver marks its device as lost, so no guilty queue appears innocent.
 */
static bool queue_device_is_lost(struct vfence_device *device)
{
	bool lost = !vfence_device_active(device);

	/* Load the state before the guilt. Partner: the atomic of vfence_device_fail(). */
	smp_rmb();
	return lost;
}

static u32 queue_verdict(bool lost, bool guilty)
{
	if (!lost)
		return DRM_VFENCE_QUEUE_OK;
	return guilty ? DRM_VFENCE_QUEUE_GUILTY : DRM_VFENCE_QUEUE_INNOCENT;
}

static void queue_write_info(struct vfence_queue *queue, struct drm_vfence_queue_info *info)
{
	bool lost = queue_device_is_lost(queue->device);
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	info->state = status.state;
	info->fault = status.fault;
	info->fault_opcode = status.opcode;
	info->fault_ring_ptr = status.ring_ptr;
	info->fault_va = status.va;
	info->packets = status.packets;
	info->log_packets = status.log_packets;
	info->notifications = status.notifications;

	info->progress = vfence_fence_current(queue->progress_fence);
	if (queue->kernel)
		vfence_kernel_queue_query(queue->kernel, info);
	else
		info->last_queued = vfence_doorbell_last_queued(queue);

	info->verdict = queue_verdict(lost, queue_status_is_guilty(queue, &status));
	vfence_log_query(queue, &info->log_read, &info->log_lost);
}

/** vfence_queue_query - answer %DRM_VFENCE_QUERY_QUEUE */
int vfence_queue_query(struct vfence_file *file, u32 handle, struct drm_vfence_queue_info *info)
{
	struct vfence_queue *queue = vfence_queue_lookup(file, handle);

	if (!queue)
		return -ENOENT;
	queue_write_info(queue, info);
	vfence_queue_put(queue);
	return 0;
}

static bool queue_context_is_guilty_locked(struct vfence_file *file,
					   const struct vfence_context *context)
{
	bool guilty = context->guilty;
	struct vfence_queue *queue;
	unsigned long handle;

	lockdep_assert_held(&file->lock);
	xa_for_each(&file->queues.objects, handle, queue)
		guilty |= queue->context == context && queue_is_guilty(queue);
	return guilty;
}

/** vfence_queue_query_context - answer %DRM_VFENCE_QUERY_CONTEXT */
int vfence_queue_query_context(struct vfence_file *file, u32 handle,
			       struct drm_vfence_context_info *info)
{
	struct vfence_context *context;
	bool lost;

	mutex_lock(&file->lock);
	context = xa_load(&file->contexts.objects, handle);
	if (context) {
		vfence_context_query(context, info);
		lost = queue_device_is_lost(context->device);
		info->verdict = queue_verdict(lost, queue_context_is_guilty_locked(file, context));
	}
	mutex_unlock(&file->lock);
	return context ? 0 : -ENOENT;
}
