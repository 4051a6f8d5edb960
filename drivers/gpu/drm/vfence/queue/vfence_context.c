// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: queues on one node, suspended and resumed together.
 */

#include <linux/nospec.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_device.h"
#include "core/vfence_file_types.h"
#include "core/vfence_gate.h"
#include "irq/vfence_irq.h"
#include "queue/vfence_context.h"
#include "queue/vfence_queue_trace.h"

/* Time after a suspension in which a queue surely gets to the engine, beside many clients. */
#define CONTEXT_PAUSE_NS	NSEC_PER_SEC

static void context_free(struct vfence_context *context)
{
	struct vfence_adapter *adapter = context->adapter;

	if (context->suspended)
		trace_vfence_suspension(context, 'E', 0);
	vfence_deadline_end(adapter, &context->deadline);
	if (!IS_ERR_OR_NULL(context->hw)) {
		/*
		 * Flush the records that name the context before it leaves the table, so
		 * that the interrupt handler finds it for as long as a record names it.
		 */
		vgpu_context_destroy(context->hw);
		vfence_irq_flush(adapter);
		xa_erase(&adapter->queues.contexts, context->id);
	}

	vfence_device_put(context->device);
	mutex_destroy(&context->suspend_lock);
	vfence_leak_check_free(CONTEXT, context);
}

static void context_release(struct kref *ref)
{
	context_free(container_of(ref, struct vfence_context, ref));
}

static void context_release_work(struct work_struct *work)
{
	context_free(container_of(work, struct vfence_context, release_work));
}

static void context_release_later(struct kref *ref)
{
	struct vfence_context *context = container_of(ref, struct vfence_context, ref);

	INIT_WORK(&context->release_work, context_release_work);
	queue_work(context->adapter->work_wq, &context->release_work);
}

void vfence_context_get(struct vfence_context *context)
{
	kref_get(&context->ref);
}

/** vfence_context_find - the context of a global handle, with a reference, or NULL */
struct vfence_context *vfence_context_find(struct vfence_adapter *adapter, u32 context_id)
{
	struct vfence_context *context;

	/* context_free() takes a context out of the table before it frees it. */
	xa_lock(&adapter->queues.contexts);
	context = xa_load(&adapter->queues.contexts, context_id);
	if (context && !kref_get_unless_zero(&context->ref))
		context = NULL;
	xa_unlock(&adapter->queues.contexts);
	return context;
}

/** vfence_context_put - drop a reference; process context */
void vfence_context_put(struct vfence_context *context)
{
	kref_put(&context->ref, context_release);
}

/** vfence_context_put_later - the same, for a thread that resets hardware that has stopped */
void vfence_context_put_later(struct vfence_context *context)
{
	kref_put(&context->ref, context_release_later);
}

/* Take the handle of a context. */
static void context_destroy_locked(struct vfence_file *file, struct vfence_context *context)
{
	lockdep_assert_held(&file->lock);
	list_del(&context->device_link);
	vfence_handle_table_remove(&file->contexts, context->handle);
	vfence_context_put(context);
}

/** vfence_context_destroy_all - destroy every context of @device */
void vfence_context_destroy_all(struct vfence_file *file, struct vfence_device *device)
{
	struct vfence_context *context, *next;

	lockdep_assert_held(&file->lock);

	list_for_each_entry_safe(context, next, &device->contexts, device_link) {
		context_destroy_locked(file, context);
		cond_resched();
	}
}

static bool context_deadline_get(struct vfence_deadline *deadline)
{
	struct vfence_context *context = container_of(deadline, struct vfence_context, deadline);

	/* context_free() ends the deadline before it frees the context. */
	return kref_get_unless_zero(&context->ref);
}

/* Has the GPU acknowledged the last suspension of the context? */
static bool context_has_left(struct vfence_deadline *deadline)
{
	struct vfence_context *context = container_of(deadline, struct vfence_context, deadline);

	return vgpu_context_acknowledged(context->hw) == READ_ONCE(context->suspend_fence);
}

static void context_deadline_done(struct vfence_deadline *deadline)
{
	struct vfence_context *context = container_of(deadline, struct vfence_context, deadline);

	wake_up_all(&context->adapter->queues.suspend_wait);
	vfence_context_put_later(context);
}

static const struct vfence_deadline_ops context_deadline_ops = {
	.suspends = true,
	.get = context_deadline_get,
	.met = context_has_left,
	.done = context_deadline_done,
};

static int context_create_hw(struct vfence_context *context)
{
	struct vfence_adapter *adapter = context->adapter;
	int ret;

	ret = xa_alloc_cyclic(&adapter->queues.contexts, &context->id, NULL, xa_limit_31b,
			      &adapter->queues.next_context, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;

	context->hw = vgpu_context_create(adapter->gpu, context->node, context->id);
	if (IS_ERR(context->hw)) {
		xa_erase(&adapter->queues.contexts, context->id);
		return PTR_ERR(context->hw);
	}

	xa_store(&adapter->queues.contexts, context->id, context, GFP_KERNEL_ACCOUNT);
	return 0;
}

static int context_create_locked(struct vfence_file *file, struct drm_vfence_context_create *args)
{
	struct vfence_device *device = vfence_device_find_active(file, args->device);
	struct vfence_context *context;
	int ret;

	lockdep_assert_held(&file->lock);
	if (IS_ERR(device))
		return PTR_ERR(device);

	context = vfence_leak_check_alloc(CONTEXT, sizeof(*context));
	if (!context)
		return -ENOMEM;

	kref_init(&context->ref);
	mutex_init(&context->suspend_lock);
	spin_lock_init(&context->time_lock);
	context->adapter = file->adapter;
	context->device = device;
	context->node = array_index_nospec(args->node, file->adapter->config.gpu.nodes);
	vfence_deadline_setup(&context->deadline, &context_deadline_ops, context->node);
	vfence_device_get(device);
	ret = context_create_hw(context);
	if (!ret)
		ret = vfence_handle_table_add(&file->contexts, context, &args->handle);
	if (ret) {
		vfence_context_put(context);
		return ret;
	}

	context->handle = args->handle;
	list_add_tail(&context->device_link, &device->contexts);
	return 0;
}

int vfence_context_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_context_create *args = data;
	int ret;

	if (vfence_reject(drm, args->flags) ||
	    vfence_reject(drm, args->node >= file->adapter->config.gpu.nodes))
		return -EINVAL;
	mutex_lock(&file->lock);
	ret = context_create_locked(file, args);
	mutex_unlock(&file->lock);
	return ret;
}

/** vfence_context_destroy - destroy a context without queues by its handle */
int vfence_context_destroy(struct vfence_file *file, u32 handle)
{
	struct vfence_context *context;
	int ret = 0;

	mutex_lock(&file->lock);
	context = xa_load(&file->contexts.objects, handle);
	if (!context)
		ret = -ENOENT;
	else if (context->queues)
		ret = -EBUSY;
	else
		context_destroy_locked(file, context);
	mutex_unlock(&file->lock);

	return ret;
}

static struct vfence_context *context_lookup(struct vfence_file *file, u32 handle)
{
	struct vfence_context *context;

	mutex_lock(&file->lock);
	context = xa_load(&file->contexts.objects, handle);
	if (context)
		kref_get(&context->ref);
	mutex_unlock(&file->lock);
	return context;
}

/*
 * An interrupt record says that a context has left the GPU.
 *
 * Ignore the acknowledgment of an earlier suspension: it does not acknowledge the current
 * one. Give up the adapter if the GPU acknowledges a suspension that the driver has not
 * requested: such hardware cannot be trusted (WDDM-194, WDDM-195).
 */
static void context_acknowledged_hard(struct vfence_adapter *adapter,
				      const struct vgpu_irq_record *record,
				      struct vfence_irq_batch *batch)
{
	struct vfence_context *context;

	lockdep_assert_held(&adapter->irq.lock);
	context = xa_load(&adapter->queues.contexts, record->queue);
	if (context && record->suspend_fence > READ_ONCE(context->suspend_fence))
		vfence_adapter_lose(adapter, VFENCE_STOP_SCHEDULER_ERROR, 0x11);
	wake_up_all(&adapter->queues.suspend_wait);
}

/*
 * Wake the waiters from the hard interrupt handler: a thread that waits for a suspension may
 * hold a lock that the threaded half needs.
 */
static void context_acknowledged_overflow(struct vfence_adapter *adapter, u32 overflow)
{
	wake_up_all(&adapter->queues.suspend_wait);
}

static const struct vfence_irq_source context_source = {
	.type = VGPU_IRQ_CONTEXT_SUSPENDED,
	.hard = context_acknowledged_hard,
	.overflow = context_acknowledged_overflow,
};

/** vfence_context_init - prepare an adapter for contexts; cannot fail */
void vfence_context_init(struct vfence_adapter *adapter)
{
	xa_init_flags(&adapter->queues.contexts, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	init_waitqueue_head(&adapter->queues.suspend_wait);
}

/** vfence_context_add_source - register the handler of suspension acknowledgments */
void vfence_context_add_source(struct vfence_adapter *adapter)
{
	vfence_irq_add(adapter, &context_source);
}

/** vfence_context_fini - undo vfence_context_init(); no context is left */
void vfence_context_fini(struct vfence_adapter *adapter)
{
	xa_destroy(&adapter->queues.contexts);
}

/* Return true if the context has left its engine, or if the engine was reset because it did not. */
static bool context_suspend_decided(struct vfence_context *context)
{
	/*
	 * This first: a reset, too, takes the context off the engine. Acquire in
	 * vgpu_context_acknowledged(). Partner: sched_acknowledge_locked(), after LATE is stored.
	 */
	bool left = context_has_left(&context->deadline);
	unsigned int state = READ_ONCE(context->deadline.state);

	return state == VFENCE_DEADLINE_LOST || (left && state != VFENCE_DEADLINE_LATE);
}

static bool context_wait_is_over(struct vfence_adapter *adapter, struct vfence_context *context)
{
	return READ_ONCE(adapter->lost) || drm_dev_is_unplugged(&adapter->drm) ||
	       context_suspend_decided(context);
}

/*
 * Wait until the GPU has acknowledged the suspension. If it does not, the watch resets the engine;
 * then fail the context's device and return -ETIME (WDDM-195). What the context did last has
 * happened before other clients see that its device has failed.
 */
static int context_wait_suspended_locked(struct vfence_adapter *adapter,
					 struct vfence_context *context)
{
	lockdep_assert_held(&context->suspend_lock);
	do {
		if (wait_event_interruptible(adapter->queues.suspend_wait,
					     context_wait_is_over(adapter, context)))
			return -EINTR;
		if (READ_ONCE(adapter->lost))
			return -EIO;
		if (drm_dev_is_unplugged(&adapter->drm))
			return -ENODEV;
		/* An adapter that was lost may have been recovered since. */
	} while (!context_suspend_decided(context));
	if (READ_ONCE(context->deadline.state) != VFENCE_DEADLINE_LOST)
		return 0;
	adapter->loss->device_hung(adapter, context->device, true);
	return -ETIME;
}

/*
 * A suspension begins or ends. Two suspensions with little time between them count as one: a
 * queue may not have got to the engine in that time.
 */
static void context_note_time(struct vfence_context *context, bool begins)
{
	u64 now;

	spin_lock(&context->time_lock);
	now = ktime_get_ns();
	if (context->suspended_at) {
		context->suspended_ns += now - context->suspended_at;
		context->resumed_at = now;
	} else if (begins && context->resumed_at &&
		   now - context->resumed_at < CONTEXT_PAUSE_NS) {
		context->suspended_ns += now - context->resumed_at;
	}
	context->suspended_at = begins ? now : 0;
	spin_unlock(&context->time_lock);
}

/** vfence_context_suspended_ns - how long clients have suspended a context so far, in ns */
u64 vfence_context_suspended_ns(struct vfence_context *context)
{
	u64 ns;

	spin_lock(&context->time_lock);
	ns = context->suspended_ns;
	if (context->suspended_at)
		ns += ktime_get_ns() - context->suspended_at;
	spin_unlock(&context->time_lock);
	return ns;
}

/** vfence_context_query - describe the suspensions of a context */
void vfence_context_query(struct vfence_context *context, struct drm_vfence_context_info *info)
{
	bool suspended, pending;

	/*
	 * A suspension stores its number and @pending before its time, a resume stores them
	 * after it: in one section the two agree.
	 */
	spin_lock(&context->time_lock);
	suspended = context->suspended_at;
	pending = READ_ONCE(context->pending);
	spin_unlock(&context->time_lock);

	info->state = DRM_VFENCE_CONTEXT_RESUMED;
	if (suspended)
		info->state = pending && !context_has_left(&context->deadline) ?
			      DRM_VFENCE_CONTEXT_SUSPENDING : DRM_VFENCE_CONTEXT_SUSPENDED;
	info->fence = READ_ONCE(context->suspend_fence);
	info->suspended_ns = vfence_context_suspended_ns(context);
}

static int context_begin_suspend_locked(struct vfence_adapter *adapter,
					struct vfence_context *context)
{
	struct vfence_gate_pass pass;
	int ret;

	lockdep_assert_held(&context->suspend_lock);
	ret = vfence_hw_enter(adapter, &pass);
	if (ret)
		return ret;

	context->suspended = true;
	/* Publish the number before the hardware can acknowledge it, both before the time. */
	WRITE_ONCE(context->pending, true);
	WRITE_ONCE(context->suspend_fence, context->suspend_fence + 1);
	context_note_time(context, true);
	trace_vfence_suspension(context, 'B', 0);
	WRITE_ONCE(context->pending,
		   !vgpu_context_suspend(context->hw, context->suspend_fence));
	if (context->pending)
		vfence_deadline_begin(adapter, &context->deadline);
	vfence_hw_exit(adapter, &pass);
	return 0;
}

static int context_suspend_locked(struct vfence_adapter *adapter, struct vfence_context *context)
{
	bool begins = !context->suspended;
	int ret = begins ? context_begin_suspend_locked(adapter, context) : 0;
	bool waits = !ret && context->pending;

	lockdep_assert_held(&context->suspend_lock);
	/* An interrupted call leaves the wait for the acknowledgment to the next call. */
	if (waits)
		ret = context_wait_suspended_locked(adapter, context);
	if (waits || (begins && !ret))
		trace_vfence_suspension(context, 'I', ret);
	if (!ret) {
		WRITE_ONCE(context->pending, false);
		vfence_deadline_end(adapter, &context->deadline);
	}
	return ret;
}

static int context_resume_locked(struct vfence_adapter *adapter, struct vfence_context *context)
{
	struct vfence_gate_pass pass;
	int ret;

	lockdep_assert_held(&context->suspend_lock);
	ret = vfence_hw_enter(adapter, &pass);
	if (ret)
		return ret;

	if (context->suspended) {
		trace_vfence_suspension(context, 'E', 0);
		vgpu_context_resume(context->hw);
	}
	context->suspended = false;
	context_note_time(context, false);
	WRITE_ONCE(context->pending, false);
	vfence_deadline_end(adapter, &context->deadline);
	vfence_hw_exit(adapter, &pass);
	return 0;
}

/*
 * Call @operation under the suspend lock of the context that @handle names. Stores the number
 * of its last suspension in @fence.
 */
static int context_change(struct vfence_file *file, u32 handle, u64 *fence,
			  int (*operation)(struct vfence_adapter *adapter,
					   struct vfence_context *context))
{
	struct vfence_context *context = context_lookup(file, handle);
	int ret;

	if (!context)
		return -ENOENT;

	ret = mutex_lock_interruptible(&context->suspend_lock);
	if (!ret) {
		ret = operation(file->adapter, context);
		*fence = context->suspend_fence;
		mutex_unlock(&context->suspend_lock);
	}

	vfence_context_put(context);
	return ret;
}

int vfence_context_suspend_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vfence_context_suspend *args = data;
	u64 fence;
	int ret;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;
	ret = context_change(drm_file->driver_priv, args->context, &fence, context_suspend_locked);
	if (!ret)
		args->fence = fence;
	return ret;
}

int vfence_context_resume_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_vfence_context_resume *args = data;
	u64 fence;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;
	return context_change(drm_file->driver_priv, args->context, &fence, context_resume_locked);
}
