// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware queues as objects: creation, errors, end.
 */

#include <linux/slab.h>

#include <drm/drm_file.h>

#include "fence/vfence_fence.h"
#include "vfence_queue.h"
#include "vfence_submit.h"

/* The last user is gone: the owner has let go long before. */
static void free_queue(struct kref *ref)
{
	struct vfence_queue *queue = container_of(ref, struct vfence_queue, ref);

	might_sleep();
	if (!IS_ERR_OR_NULL(queue->hw))
		vgpu_queue_destroy(queue->hw);
	vfence_log_free(queue);
	if (queue->kernel)
		vfence_kqueue_free(queue->kernel);
	if (queue->progress_fence)
		vfence_fence_put(queue->progress_fence);
	vfence_context_put(queue->context);
	vfence_device_put(queue->device);
	vfence_object_free_rcu(QUEUE, queue);
}

/** vfence_queue_put - drop a reference; process context */
void vfence_queue_put(struct vfence_queue *queue)
{
	kref_put(&queue->ref, free_queue);
}

/**
 * vfence_queue_for_each - visit all queues of an adapter; process context
 * @adapter: the adapter
 * @fn: called with a reference held and no lock
 * @arg: its argument
 */
void vfence_queue_for_each(struct vfence_adapter *adapter,
			   void (*fn)(struct vfence_queue *queue, void *arg), void *arg)
{
	struct vfence_queue *queue;
	unsigned long index;

	rcu_read_lock();
	xa_for_each(&adapter->queues, index, queue) {
		if (!kref_get_unless_zero(&queue->ref))
			continue;
		rcu_read_unlock();
		fn(queue, arg);
		vfence_queue_put(queue);
		rcu_read_lock();
	}
	rcu_read_unlock();
}

static int to_device_state(u32 fault)
{
	return fault == DRM_VFENCE_FAULT_UNMAPPED || fault == DRM_VFENCE_FAULT_ACCESS ?
	       DRM_VFENCE_DEVICE_ERROR_DMAPAGEFAULT : DRM_VFENCE_DEVICE_ERROR_DMAFAULT;
}

/*
 * The queue is lost: nobody will signal its progress fence any more. CPU waits
 * for it fail, queues that wait for it, whoever's they are, go on. @error is what
 * became of the submission it was at.
 */
static void stop(struct vfence_queue *queue, int error)
{
	vfence_doorbell_abort(queue);
	vgpu_queue_abort(queue->hw);
	if (queue->kernel)
		vfence_kqueue_stop(queue->kernel, error);
	vfence_fence_fail(queue->progress_fence, -EIO);
	vfence_fence_set_always_signaled(queue->progress_fence);
}

/* A bad packet, or what came from elsewhere. */
static int to_error(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return status.state == DRM_VFENCE_QUEUE_FAULTED ? -EIO : -ECANCELED;
}

static void stop_if_of(struct vfence_queue *queue, void *device)
{
	if (queue->device == device)
		stop(queue, to_error(queue));
}

/**
 * vfence_queue_fail_device - a device is in error, and all its queues end with it
 * @adapter: the adapter
 * @device: the device, with a reference; the first error stays
 * @state: &enum drm_vfence_device_state
 *
 * WDDM-205. Other devices do not notice. Process context.
 */
void vfence_queue_fail_device(struct vfence_adapter *adapter, struct vfence_device *device,
			      enum drm_vfence_device_state state)
{
	atomic_cmpxchg(&device->state, DRM_VFENCE_DEVICE_ACTIVE, state);
	vfence_queue_for_each(adapter, stop_if_of, device);
	if (vfence_device_was_reset(device))
		vfence_local_signal_max(device);
}

/* A queue stopped by itself. No lock of the owner is needed: references keep all. */
static void fault_work(struct work_struct *work)
{
	struct vfence_queue *queue = container_of(work, struct vfence_queue, fault_work);
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	vfence_queue_fail_device(queue->adapter, queue->device, to_device_state(status.fault));
	vfence_queue_put(queue);
}

static void report_fault(struct vfence_queue *queue)
{
	/* Once: the reference goes with the work. */
	if (!atomic_xchg(&queue->fault_reported, 1) && kref_get_unless_zero(&queue->ref))
		queue_work(queue->adapter->work_wq, &queue->fault_work);
}

/** vfence_queue_faulted - an interrupt record names a faulted queue; any context */
void vfence_queue_faulted(struct vfence_adapter *adapter, u32 global)
{
	struct vfence_queue *queue;

	rcu_read_lock();
	queue = xa_load(&adapter->queues, global);
	if (queue)
		report_fault(queue);
	rcu_read_unlock();
}

/** vfence_queue_progressed - an interrupt record says a kernel-mode queue has come further */
void vfence_queue_progressed(struct vfence_adapter *adapter, u32 global)
{
	struct vfence_queue *queue;

	lockdep_assert_held(&adapter->irq_lock);
	/* Its destroyer takes the lock before it cancels the work. */
	queue = xa_load(&adapter->queues, global);
	if (queue && queue->kernel)
		queue_work(adapter->submit_wq, &queue->kernel->retire);
}

/**
 * vfence_queue_signaled - an interrupt record says that a queue signaled
 * @adapter: the adapter
 * @global: the queue
 * @posts: signals the record stands for
 * @unlogged: its log does not tell of all of them
 *
 * Any context; the threaded half reads its log.
 */
void vfence_queue_signaled(struct vfence_adapter *adapter, u32 global, unsigned int posts,
			   bool unlogged)
{
	struct vfence_queue *queue;

	rcu_read_lock();
	queue = xa_load(&adapter->queues, global);
	if (queue && unlogged)
		atomic_set(&queue->unlogged, 1);
	if (!queue) {
		/* Destroyed: its logs have been read for the last time. */
		vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, posts);
	} else if (atomic_add_return(posts, &queue->signaled) == posts) {
		if (kref_get_unless_zero(&queue->ref))
			llist_add(&queue->signaled_link, &adapter->signaled);
		else
			vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, posts);
	}
	rcu_read_unlock();
}

/** vfence_queue_run_signaled - read the logs of queues that signaled; process context */
void vfence_queue_run_signaled(struct vfence_adapter *adapter)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&adapter->signaled));
	struct vfence_queue *queue, *next;

	llist_for_each_entry_safe(queue, next, list, signaled_link) {
		/* From here on it may be put on the list again. */
		unsigned int posts = atomic_xchg(&queue->signaled, 0);
		unsigned int completed = vfence_log_read(queue);

		if (atomic_xchg(&queue->unlogged, 0))
			completed += vfence_log_look_live(queue);
		vfence_count_add(adapter, VFENCE_COUNT_USEFUL, completed ? 1 : 0);
		vfence_count_add(adapter, VFENCE_COUNT_SPURIOUS, posts - (completed ? 1 : 0));
		vfence_queue_put(queue);
	}
}

static void scan_one(struct vfence_queue *queue, void *unused)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	if (status.state == DRM_VFENCE_QUEUE_FAULTED)
		report_fault(queue);
	if (queue->kernel)
		vfence_job_retire(queue->kernel);
}

/** vfence_queue_scan - records of faults, or of progress, may have been lost */
void vfence_queue_scan(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, scan_one, NULL);
}

static void stop_lost(struct vfence_queue *queue, void *unused)
{
	atomic_cmpxchg(&queue->device->state, DRM_VFENCE_DEVICE_ACTIVE,
		       DRM_VFENCE_DEVICE_STOPPED);
	stop(queue, -ENODEV);
}

/** vfence_queue_abort_all - the adapter goes */
void vfence_queue_abort_all(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, stop_lost, NULL);
}

bool vfence_queue_owns_fence(struct vfence_file *file, u32 handle)
{
	struct vfence_queue *queue;
	unsigned long index;

	lockdep_assert_held(&file->lock);
	xa_for_each(&file->queues.objects, index, queue)
		if (queue->progress == handle)
			return true;
	return false;
}

/** vfence_queue_busy_ns - GPU time charged to a queue */
u64 vfence_queue_busy_ns(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	return status.busy_ns;
}

/*
 * The owner lets go: nothing runs, nothing of the file is used any more. What
 * others may still hold is freed with the last reference.
 */
static void destroy_locked(struct vfence_file *file, u32 handle)
{
	struct vfence_queue *queue = vfence_table_remove(&file->queues, handle);

	lockdep_assert_held(&file->lock);
	stop(queue, -ECANCELED);
	file->busy_ns[queue->node] += vfence_queue_busy_ns(queue);
	vfence_doorbell_destroy(queue);
	/* Interrupts that name it need its log, or its fences, and find neither later. */
	if (queue->adapter->optimized) {
		vgpu_cmp_flush(queue->adapter->gpu);
		vfence_irq_settle(queue->adapter);
	}
	vfence_log_read(queue);
	vfence_log_unmap(queue);
	xa_erase(&queue->adapter->queues, queue->global);
	if (queue->kernel) {
		/* An interrupt that has found it: vfence_queue_progressed(). */
		spin_lock_irq(&queue->adapter->irq_lock);
		spin_unlock_irq(&queue->adapter->irq_lock);
		vfence_kqueue_destroy(queue->kernel);
	}
	atomic_dec(&queue->adapter->queue_count);
	vfence_local_destroy(file, queue->progress);
	queue->context->queues--;
	vfence_queue_put(queue);
}

/** vfence_queue_destroy_all - destroy every queue of @device */
void vfence_queue_destroy_all(struct vfence_file *file, struct vfence_device *device)
{
	struct vfence_queue *queue;
	unsigned long handle;

	xa_for_each(&file->queues.objects, handle, queue)
		if (queue->device == device)
			destroy_locked(file, handle);
}

static int create_progress(struct vfence_queue *queue,
			   struct drm_vfence_fence_mapping *mapping)
{
	const struct vfence_fence_args args = {
		.type = queue->adapter->native_fence ? DRM_VFENCE_FENCE_DEFAULT :
						       DRM_VFENCE_FENCE_MONITORED,
	};
	struct vfence_fence *fence = vfence_fence_create(queue->file, &args);
	int ret;

	if (IS_ERR(fence))
		return PTR_ERR(fence);
	ret = vfence_local_add(queue->file, queue->device, fence, DRM_VFENCE_RIGHTS_ALL,
			       &queue->progress, mapping);
	if (!ret)
		queue->progress_fence = vfence_fence_get(fence);
	vfence_fence_unhold(fence);
	return ret;
}

static int create_hw(struct vfence_queue *queue, unsigned int node)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vgpu_queue_args args = {
		.context = queue->context->hw,
		.vm = queue->file->vm,
		.node = node,
		.kernel = queue->kernel,
	};
	int ret;

	ret = xa_alloc_cyclic(&adapter->queues, &queue->global, NULL, xa_limit_31b,
			      &adapter->next_queue, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;
	args.os_handle = queue->global;
	queue->hw = vgpu_queue_create(adapter->gpu, &args);
	if (IS_ERR(queue->hw))
		xa_erase(&adapter->queues, queue->global);
	return PTR_ERR_OR_ZERO(queue->hw);
}

static struct vfence_queue *alloc_queue(struct vfence_file *file, struct vfence_context *context,
					bool user_mode)
{
	struct vfence_queue *queue = vfence_object_alloc(QUEUE, sizeof(*queue));

	if (!queue)
		return NULL;
	if (!user_mode) {
		queue->kernel = vfence_object_alloc(KERNEL_QUEUE, sizeof(*queue->kernel));
		if (!queue->kernel) {
			vfence_object_free(QUEUE, queue);
			return NULL;
		}
	}
	kref_init(&queue->ref);
	queue->adapter = file->adapter;
	queue->file = file;
	queue->context = context;
	queue->node = context->node;
	vfence_context_get(context);
	queue->device = context->device;
	vfence_device_get(queue->device);
	vfence_log_setup(queue);
	INIT_WORK(&queue->fault_work, fault_work);
	return queue;
}

static void describe(struct vfence_queue *queue, struct drm_vfence_queue_create *args)
{
	struct vfence_log *waits = vfence_queue_log(queue, DRM_VFENCE_LOG_WAITS);
	struct vfence_log *signals = vfence_queue_log(queue, DRM_VFENCE_LOG_SIGNALS);

	args->progress_fence = queue->progress;
	if (!vfence_fence_is_monitored(queue->progress_fence))
		args->flags |= DRM_VFENCE_QUEUE_NATIVE_PROGRESS;
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

/* May a node have such queues? That of the kernel's own work has neither. */
static bool takes(struct vfence_adapter *adapter, unsigned int node, bool user_mode)
{
	if (user_mode)
		return adapter->config.user_nodes & BIT(node);
	return adapter->config.gpu.node_class[node] != DRM_VFENCE_NODE_PAGING;
}

static int create_locked(struct vfence_file *file, struct drm_vfence_queue_create *args)
{
	struct vfence_context *context = xa_load(&file->contexts.objects, args->context);
	bool user_mode = args->flags & DRM_VFENCE_QUEUE_USER_MODE;
	struct drm_vfence_fence_mapping progress;
	struct vfence_queue *queue;
	int ret;

	if (!context)
		return -ENOENT;
	if (!vfence_device_active(context->device))
		return -EIO;
	if (vfence_reject(&file->adapter->drm, !takes(file->adapter, context->node, user_mode)))
		return -EOPNOTSUPP;
	queue = alloc_queue(file, context, user_mode);
	if (!queue)
		return -ENOMEM;
	ret = create_hw(queue, context->node);
	if (ret)
		goto put;
	if (user_mode)
		ret = vfence_log_create(queue);
	else
		vfence_log_create_none(queue);
	if (ret)
		goto erase;
	ret = create_progress(queue, &progress);
	if (ret)
		goto unmap_logs;
	if (!user_mode)
		ret = vfence_kqueue_create(queue, &progress);
	if (!ret)
		ret = vfence_table_add(&file->queues, queue, &args->handle);
	if (ret)
		goto destroy_progress;
	/* Once it is found, its logs may be replaced. */
	describe(queue, args);
	args->progress = progress;
	/* Point of no failure: from here on interrupts and scans find the queue. */
	xa_store(&file->adapter->queues, queue->global, queue, GFP_KERNEL_ACCOUNT);
	atomic_inc(&file->adapter->queue_count);
	/*
	 * Found by who stops queues, or finds that it came too late. Partners: the
	 * atomics of vfence_queue_fail_device() and vfence_adapter_lose().
	 */
	smp_mb();
	if (!vfence_device_active(queue->device))
		stop(queue, -ECANCELED);
	context->queues++;
	return 0;
destroy_progress:
	if (!user_mode)
		vfence_kqueue_destroy(queue->kernel);
	vfence_local_destroy(file, queue->progress);
unmap_logs:
	vfence_log_unmap(queue);
erase:
	xa_erase(&file->adapter->queues, queue->global);
put:
	vfence_queue_put(queue);
	return ret;
}

int vfence_queue_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_queue_create *args = data;
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_QUEUE_USER_MODE))
		return -EINVAL;
	if (vfence_reject(drm, args->flags & DRM_VFENCE_QUEUE_USER_MODE &&
			  !file->adapter->user_mode_submission))
		return -EOPNOTSUPP;
	mutex_lock(&file->lock);
	ret = create_locked(file, args);
	mutex_unlock(&file->lock);
	return ret;
}

int vfence_queue_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_destroy *args = data;
	struct vfence_queue *queue;
	int ret = 0;

	if (vfence_reject(drm, args->pad))
		return -EINVAL;
	mutex_lock(&file->lock);
	queue = xa_load(&file->queues.objects, args->handle);
	if (!queue)
		ret = -ENOENT;
	else if (queue->doorbell)
		ret = -EBUSY;
	else
		destroy_locked(file, args->handle);
	mutex_unlock(&file->lock);
	return ret;
}

int vfence_queue_abort_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_destroy *args = data;
	struct vfence_queue *queue;

	if (vfence_reject(drm, args->pad))
		return -EINVAL;
	queue = vfence_queue_lookup(file, args->handle);
	if (!queue)
		return -ENOENT;
	stop(queue, -ECANCELED);
	vfence_queue_put(queue);
	return 0;
}

/** vfence_queue_lookup - queue of a handle, with a reference, or NULL */
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

static void query(struct vfence_queue *queue, struct drm_vfence_queue_query *args)
{
	struct vgpu_queue_status status;

	vgpu_queue_query(queue->hw, &status);
	args->state = status.state;
	args->fault = status.fault;
	args->fault_opcode = status.opcode;
	args->fault_ring_ptr = status.ring_ptr;
	args->fault_va = status.va;
	args->packets = status.packets;
	args->log_packets = status.log_packets;
	args->notifications = status.notifications;
	args->progress = vfence_fence_current(queue->progress_fence);
	vfence_doorbell_query(queue, args);
	args->held = 0;
	args->queued = 0;
	if (queue->kernel)
		vfence_kqueue_query(queue->kernel, args);
	args->pending = args->last_queued > args->progress;
	vfence_log_query(queue, &args->log_read, &args->log_lost);
}

int vfence_queue_query_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_queue_query *args = data;
	struct vfence_queue *queue;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;
	queue = vfence_queue_lookup(file, args->queue);
	if (!queue)
		return -ENOENT;
	query(queue, args);
	vfence_queue_put(queue);
	return 0;
}
