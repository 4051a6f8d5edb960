// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doorbells: connect queues to the few physical doorbells, disconnect them again, and
 * handle rings.
 */

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_vma_manager.h>

#include "core/vfence_device.h"
#include "core/vfence_gate.h"
#include "core/vfence_power.h"
#include "mem/vfence_page.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_physical.h"
#include "queue/vfence_queue.h"
#include "queue/vfence_queue_trace.h"
#include "vfence_compat.h"
#include "vfence_race_point.h"
#include "vfence_victim.h"

/*
 * Time before a doorbell is armed again after a ring without work, in nanoseconds. It doubles
 * with each such ring, up to the limit, so that touching idle doorbells costs other clients
 * next to nothing. Until then the ring of new work is delayed: of this doorbell alone.
 */
#define DOORBELL_RETRY_NS	(50 * NSEC_PER_USEC)
#define DOORBELL_RETRY_SHIFT	7

static struct vfence_adapter *doorbell_adapter(struct vfence_doorbell *doorbell)
{
	return doorbell->queue->adapter;
}

static void doorbell_set_status(struct vfence_doorbell *doorbell, u64 status)
{
	/* Release: orders the cause before the status. Partner: the client's acquire load. */
	smp_store_release((u64 *)vfence_page_kva(doorbell->status_page), status);
}

/* The logging level stands behind the status word. Only the kernel writes either. */
static void doorbell_set_level(struct vfence_doorbell *doorbell, u32 level)
{
	u64 *words = vfence_page_kva(doorbell->status_page);

	WRITE_ONCE(*(u32 *)&words[1], level);
}

static void doorbell_zap_locked(struct vfence_doorbell *doorbell)
{
	lockdep_assert_held(&doorbell->lock);
	vfence_page_zap(doorbell->doorbell_page);
	if (doorbell->secondary_page)
		vfence_page_zap(doorbell->secondary_page);
	doorbell->mapped = false;
}

/*
 * Take the physical doorbell away (WDDM-186), in this order: zap the pages, so that accesses
 * find the dummy page; write the status, so that the client can read the reason; disconnect
 * the hardware, which latches the write pointer and stops reading it. A client that publishes
 * work later finds the status.
 */
static void doorbell_disconnect_locked(struct vfence_doorbell *doorbell)
{
	u64 status = READ_ONCE(doorbell->aborted) ? DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT :
						    DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY;

	lockdep_assert_held(&doorbell->lock);
	doorbell->physical = -1;
	doorbell_zap_locked(doorbell);
	doorbell_set_status(doorbell, status);
	trace_vfence_connect(doorbell->queue, -1, status);
	vgpu_doorbell_disconnect(doorbell->queue->hw);
}

static void doorbell_connect_locked(struct vfence_doorbell *doorbell, unsigned int physical)
{
	struct vfence_adapter *adapter = doorbell_adapter(doorbell);
	enum drm_vfence_doorbell_status status;

	lockdep_assert_held(&doorbell->lock);
	/* Clear the page: the next owner must not read what the last owner stored. */
	clear_page(page_address(vgpu_doorbell_page(adapter->gpu, physical, false)));
	if (adapter->config.gpu.secondary_doorbells)
		clear_page(page_address(vgpu_doorbell_page(adapter->gpu, physical, true)));

	doorbell->physical = physical;
	doorbell_zap_locked(doorbell);
	status = vgpu_doorbell_connect(doorbell->queue->hw);
	doorbell_set_status(doorbell, status);
	trace_vfence_connect(doorbell->queue, physical, status);
	vfence_hold(CONNECTED);
}

/*
 * Connect or disconnect a doorbell: the client, which may be stopped at any instruction, holds no
 * lock over a zap.
 */
static void doorbell_change_work(struct work_struct *work)
{
	struct vfence_doorbell *doorbell = container_of(work, struct vfence_doorbell, change_work);
	int physical;

	vfence_hold(CHANGE);
	mutex_lock(&doorbell->lock);
	physical = vfence_physical_begin_change(doorbell);
	if (physical >= 0)
		doorbell_connect_locked(doorbell, physical);
	else
		doorbell_disconnect_locked(doorbell);
	vfence_physical_end_change(doorbell, physical >= 0);
	mutex_unlock(&doorbell->lock);
}

/*
 * A fault inserts the page, and the client retries its store. When the queue has gone idle
 * and its page was zapped before that, the store faults once more. Count such rings, so
 * that vfence_doorbell_arm() leaves the client time.
 */
static void doorbell_note_ring_locked(struct vfence_doorbell *doorbell)
{
	const struct drm_vfence_ring_control *control = doorbell->control.kva;
	u64 write_ptr = READ_ONCE(control->write_ptr);

	lockdep_assert_held(&doorbell->lock);
	if (doorbell->ring_write_ptr != write_ptr)
		WRITE_ONCE(doorbell->ring_retries, 0);
	else if (doorbell->ring_retries <= DOORBELL_RETRY_SHIFT)
		WRITE_ONCE(doorbell->ring_retries, doorbell->ring_retries + 1);
	doorbell->ring_write_ptr = write_ptr;
}

/*
 * A client has touched a doorbell page. Returns the page to map, or NULL for the dummy page
 * if the doorbell is not connected or has been destroyed.
 */
static struct page *doorbell_touched_locked(struct vfence_doorbell *doorbell,
					    struct vfence_page *page)
{
	lockdep_assert_held(&doorbell->lock);
	if (doorbell->physical < 0)
		return NULL;

	doorbell->mapped = true;
	doorbell_note_ring_locked(doorbell);
	vgpu_doorbell_ring(doorbell->queue->hw);
	return vgpu_doorbell_page(doorbell_adapter(doorbell)->gpu, doorbell->physical,
				  page == doorbell->secondary_page);
}

/*
 * Handshake (c), client's side: the client has stored the write pointer, then touches the
 * page. Hold the doorbell's lock: doorbell_arm_work() then either finds the queue busy, or
 * finds and zaps the entry that this fault inserts.
 */
static vm_fault_t doorbell_fault(struct vm_fault *vmf, struct vfence_page *page)
{
	struct vfence_doorbell *doorbell = page->owner;
	struct page *physical;
	vm_fault_t ret;

	vfence_count(to_vfence_adapter(page->base.dev), VFENCE_COUNT_DOORBELL_FAULTS);
	vfence_client_count(vfence_page_client(vmf), VFENCE_COUNT_DOORBELL_FAULTS, 1);
	/* Do not allocate under the lock: zaps wait for it, and for them others do. */
	if (vfence_page_prepare(vmf))
		return VM_FAULT_OOM;

	mutex_lock(&doorbell->lock);
	physical = doorbell_touched_locked(doorbell, page);
	ret = vfence_page_insert(vmf, physical ? physical : page->page);
	mutex_unlock(&doorbell->lock);
	return ret;
}

/*
 * Handshake (c), hardware's side: zap the page, so that it faults, then read the write
 * pointer again. Partner: the client stores the write pointer, then touches the page. This
 * runs in a thread because zapping may sleep.
 */
static void doorbell_arm_work(struct work_struct *work)
{
	struct vfence_doorbell *doorbell = container_of(work, struct vfence_doorbell, arm);

	vfence_hold(ARM);
	vfence_race_point(ARM);

	mutex_lock(&doorbell->lock);
	if (doorbell->physical >= 0) {
		if (doorbell->mapped)
			doorbell_zap_locked(doorbell);
		vfence_race_point(REREAD);
		/* Zap, then read; the TLB flush of the zap has synchronised all CPUs. */
		smp_mb();
		vgpu_doorbell_recheck(doorbell->queue->hw);
	}
	mutex_unlock(&doorbell->lock);

	vfence_power_idle(doorbell_adapter(doorbell));
}

static void doorbell_queue_arm(struct vfence_doorbell *doorbell)
{
	queue_work(doorbell_adapter(doorbell)->queues.doorbell_wq, &doorbell->arm);
}

static enum hrtimer_restart doorbell_arm_timer(struct hrtimer *timer)
{
	doorbell_queue_arm(container_of(timer, struct vfence_doorbell, arm_timer));
	return HRTIMER_NORESTART;
}

/** vfence_doorbell_init - prepare an adapter for doorbells; cannot fail */
void vfence_doorbell_init(struct vfence_adapter *adapter)
{
	mutex_init(&adapter->queues.doorbell_lock);
	INIT_LIST_HEAD(&adapter->queues.line);
}

/** vfence_doorbell_fini - undo vfence_doorbell_init(); no doorbell is left */
void vfence_doorbell_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->queues.doorbell_lock);
}

/**
 * vfence_doorbell_arm - callback of the virtual GPU: a connected queue is idle
 * @host: the adapter
 * @cookie: the doorbell, which has just been rung or used
 *
 * After rings without work a timer delays the arming, so that no thread sleeps for it.
 */
void vfence_doorbell_arm(void *host, void *cookie)
{
	struct vfence_doorbell *doorbell = cookie;
	unsigned int retries = READ_ONCE(doorbell->ring_retries);

	if (retries)
		hrtimer_start(&doorbell->arm_timer,
			      ns_to_ktime(DOORBELL_RETRY_NS << (retries - 1)),
			      HRTIMER_MODE_REL);
	else
		doorbell_queue_arm(doorbell);
}

static void doorbell_release(struct kref *ref)
{
	struct vfence_doorbell *doorbell = container_of(ref, struct vfence_doorbell, ref);

	mutex_destroy(&doorbell->lock);
	vfence_leak_check_free(DOORBELL, doorbell);
}

static void doorbell_put(void *doorbell)
{
	kref_put(&((struct vfence_doorbell *)doorbell)->ref, doorbell_release);
}

/* Make a doorbell leave. Return: the doorbell with a reference, if a thread disconnects it. */
static struct vfence_doorbell *doorbell_leave_locked(struct vfence_doorbell *doorbell)
{
	if (!vfence_physical_leave_locked(doorbell))
		return NULL;
	kref_get(&doorbell->ref);
	return doorbell;
}

/* Wait, without a lock, until a doorbell has left. */
static void doorbell_drain(struct vfence_doorbell *doorbell)
{
	if (!doorbell)
		return;
	flush_work(&doorbell->change_work);
	doorbell_put(doorbell);
}

/* Disconnect a doorbell for good. Return: as doorbell_leave_locked(). */
static struct vfence_doorbell *doorbell_abort_locked(struct vfence_doorbell *doorbell)
{
	struct vfence_doorbell *leaving;

	WRITE_ONCE(doorbell->aborted, true);
	leaving = doorbell_leave_locked(doorbell);
	if (!leaving)
		doorbell_set_status(doorbell, DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT);
	return leaving;
}

/** vfence_doorbell_abort - disconnect the doorbell of a lost queue permanently */
void vfence_doorbell_abort(struct vfence_queue *queue)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vfence_doorbell *leaving = NULL;

	mutex_lock(&adapter->queues.doorbell_lock);
	if (queue->doorbell)
		leaving = doorbell_abort_locked(queue->doorbell);
	mutex_unlock(&adapter->queues.doorbell_lock);
	doorbell_drain(leaving);
}

/**
 * vfence_doorbell_force_reconnect - make a queue's client connect its doorbell again
 * @queue: the queue, with a reference
 *
 * CONNECT returns the log geometry and the logging level, which may have changed.
 */
void vfence_doorbell_force_reconnect(struct vfence_queue *queue)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vfence_doorbell *leaving = NULL;

	mutex_lock(&adapter->queues.doorbell_lock);
	if (queue->doorbell) {
		doorbell_set_level(queue->doorbell,
				   READ_ONCE(adapter->queues.logging_level));
		/* A doorbell in the line connects later than now. */
		if (queue->doorbell->state != VFENCE_PHYSICAL_IN_LINE)
			leaving = doorbell_leave_locked(queue->doorbell);
	}
	mutex_unlock(&adapter->queues.doorbell_lock);
	doorbell_drain(leaving);
}

static void doorbell_force_reconnect_one(struct vfence_queue *queue, void *unused)
{
	vfence_doorbell_force_reconnect(queue);
}

/** vfence_doorbell_force_reconnect_all - make all clients of an adapter connect again */
void vfence_doorbell_force_reconnect_all(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, doorbell_force_reconnect_one, NULL);
}

/**
 * vfence_doorbell_disconnect_node - make the clients of an engine connect again
 * @adapter: the adapter
 * @node: node of the engine
 *
 * Queues that are not connected cost nothing, so the clients that have them do not decide how
 * long this takes. Waits for doorbell threads, which wait for no client.
 */
void vfence_doorbell_disconnect_node(struct vfence_adapter *adapter, unsigned int node)
{
	if (vfence_physical_leave_node(adapter, node))
		flush_workqueue(adapter->queues.doorbell_wq);
}

/** vfence_doorbell_last_queued - the client's last queued value; 0 without a doorbell */
u64 vfence_doorbell_last_queued(struct vfence_queue *queue)
{
	u64 value = 0;

	mutex_lock(&queue->adapter->queues.doorbell_lock);
	if (queue->doorbell)
		value = READ_ONCE(*(u64 *)vfence_page_kva(queue->doorbell->last_queued_page));
	mutex_unlock(&queue->adapter->queues.doorbell_lock);
	return value;
}

static int doorbell_create_page(struct vfence_file *file, struct vfence_doorbell *doorbell,
				enum vfence_page_kind kind, struct vfence_page **page)
{
	int ret;

	*page = vfence_page_create(file->adapter, kind, NULL);
	if (IS_ERR(*page)) {
		ret = PTR_ERR(*page);
		*page = NULL;
		return ret;
	}

	/* A client may touch the page after the doorbell is destroyed. */
	if (kind == VFENCE_PAGE_DOORBELL) {
		kref_get(&doorbell->ref);
		(*page)->owner = doorbell;
		(*page)->release = doorbell_put;
		(*page)->fault = doorbell_fault;
	}
	return drm_vma_node_allow(&(*page)->base.vma_node, file->drm);
}

static void doorbell_put_page(struct vfence_file *file, struct vfence_page *page)
{
	if (!page)
		return;
	drm_vma_node_revoke(&page->base.vma_node, file->drm);
	vfence_page_put(page);
}

static void doorbell_free(struct vfence_file *file, struct vfence_doorbell *doorbell)
{
	doorbell_put_page(file, doorbell->doorbell_page);
	doorbell_put_page(file, doorbell->secondary_page);
	doorbell_put_page(file, doorbell->status_page);
	doorbell_put_page(file, doorbell->last_queued_page);
	vfence_bo_vunmap(&doorbell->control);
	vfence_bo_vunmap(&doorbell->ring);
	doorbell_put(doorbell);
}

static int doorbell_map_memory(struct vfence_file *file, struct vfence_doorbell *doorbell,
			       const struct drm_vfence_doorbell_create *args)
{
	int ret;

	ret = vfence_bo_vmap(file, args->ring, &doorbell->ring);
	if (!ret)
		ret = vfence_bo_vmap(file, args->control, &doorbell->control);
	if (ret)
		return ret;

	if (vfence_reject(&file->adapter->drm, doorbell->ring.obj->size < args->ring_size ||
			  doorbell->ring.obj == doorbell->control.obj))
		return -EINVAL;

	ret = doorbell_create_page(file, doorbell, VFENCE_PAGE_DOORBELL, &doorbell->doorbell_page);
	if (!ret)
		ret = doorbell_create_page(file, doorbell, VFENCE_PAGE_STATUS,
					   &doorbell->status_page);
	if (!ret)
		ret = doorbell_create_page(file, doorbell, VFENCE_PAGE_LAST_QUEUED,
					   &doorbell->last_queued_page);
	if (!ret && args->flags & DRM_VFENCE_DOORBELL_SECONDARY)
		ret = doorbell_create_page(file, doorbell, VFENCE_PAGE_DOORBELL,
					   &doorbell->secondary_page);

	return ret;
}

static struct vfence_doorbell *doorbell_alloc(struct vfence_file *file,
					      const struct drm_vfence_doorbell_create *args)
{
	struct vfence_doorbell *doorbell = vfence_leak_check_alloc(DOORBELL, sizeof(*doorbell));
	int ret;

	if (!doorbell)
		return ERR_PTR(-ENOMEM);

	kref_init(&doorbell->ref);
	mutex_init(&doorbell->lock);
	doorbell->physical = -1;
	INIT_LIST_HEAD(&doorbell->line);
	init_waitqueue_head(&doorbell->wait);
	INIT_WORK(&doorbell->change_work, doorbell_change_work);
	INIT_WORK(&doorbell->arm, doorbell_arm_work);
	hrtimer_setup(&doorbell->arm_timer, doorbell_arm_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	ret = doorbell_map_memory(file, doorbell, args);
	if (ret) {
		doorbell_free(file, doorbell);
		return ERR_PTR(ret);
	}

	doorbell_set_status(doorbell, DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY);
	return doorbell;
}

static int doorbell_attach_locked(struct vfence_file *file, struct vfence_doorbell *doorbell,
				  const struct drm_vfence_doorbell_create *args)
{
	struct vfence_queue *queue = xa_load(&file->queues.objects, args->queue);
	struct vgpu_doorbell_args hw = {
		.cookie = doorbell,
		.ring = doorbell->ring.kva,
		.ring_size = args->ring_size,
		.control = doorbell->control.kva,
	};
	struct vgpu_queue_status status;

	lockdep_assert_held(&file->lock);
	if (!queue)
		return -ENOENT;

	if (vfence_reject(&file->adapter->drm, !queue->ops->user_mode))
		return -EOPNOTSUPP;

	if (vfence_reject(&file->adapter->drm, queue->doorbell))
		return -EEXIST;

	vgpu_queue_query(queue->hw, &status);
	if (!vfence_device_active(queue->device) || status.state != DRM_VFENCE_QUEUE_IDLE)
		return -EIO;

	doorbell->queue = queue;
	vgpu_doorbell_create(queue->hw, &hw);

	mutex_lock(&file->adapter->queues.doorbell_lock);
	queue->doorbell = doorbell;
	doorbell_set_level(doorbell, READ_ONCE(file->adapter->queues.logging_level));
	mutex_unlock(&file->adapter->queues.doorbell_lock);
	return 0;
}

int vfence_doorbell_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_doorbell_create *args = data;
	struct vfence_doorbell *doorbell;
	int ret;

	if (vfence_reject(drm, args->pad || args->flags & ~DRM_VFENCE_DOORBELL_SECONDARY) ||
	    vfence_reject(drm, !is_power_of_2(args->ring_size) ||
			  args->ring_size < DRM_VFENCE_RING_MIN ||
			  args->ring_size > DRM_VFENCE_RING_MAX))
		return -EINVAL;

	if (vfence_reject(drm, args->flags & DRM_VFENCE_DOORBELL_SECONDARY &&
			  !file->adapter->config.gpu.secondary_doorbells))
		return -EOPNOTSUPP;

	doorbell = doorbell_alloc(file, args);
	if (IS_ERR(doorbell))
		return PTR_ERR(doorbell);

	mutex_lock(&file->lock);
	ret = doorbell_attach_locked(file, doorbell, args);
	if (!ret) {
		args->doorbell_offset = vfence_page_offset(doorbell->doorbell_page);
		args->status_offset = vfence_page_offset(doorbell->status_page);
		args->last_queued_offset = vfence_page_offset(doorbell->last_queued_page);
		args->secondary_offset = doorbell->secondary_page ?
					 vfence_page_offset(doorbell->secondary_page) : 0;
	}
	mutex_unlock(&file->lock);

	if (ret)
		doorbell_free(file, doorbell);

	return ret;
}

/* Return: 0 if the queue may have a doorbell connected, or an error. */
static int doorbell_check_locked(struct vfence_queue *queue)
{
	struct vgpu_queue_status status;

	lockdep_assert_held(&queue->adapter->queues.doorbell_lock);
	if (!queue->doorbell)
		return -ENOENT;

	vgpu_queue_query(queue->hw, &status);
	if (queue->doorbell->aborted || !vfence_device_active(queue->device) ||
	    status.state == DRM_VFENCE_QUEUE_FAULTED || status.state == DRM_VFENCE_QUEUE_ABORTED)
		return -EIO;
	return 0;
}

/*
 * Ask for a physical doorbell. @connections is how often the doorbell was connected before. Return:
 * the doorbell with a reference, or an ERR_PTR.
 */
static struct vfence_doorbell *doorbell_ask(struct vfence_queue *queue, u64 *connections)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vfence_doorbell *doorbell = NULL;
	struct vfence_gate_pass pass;
	int ret = vfence_hw_enter(adapter, &pass);

	if (ret)
		return ERR_PTR(ret);

	mutex_lock(&adapter->queues.doorbell_lock);
	ret = doorbell_check_locked(queue);
	if (!ret) {
		doorbell = queue->doorbell;
		kref_get(&doorbell->ref);
		*connections = doorbell->connections;
		vfence_physical_ask_locked(doorbell);
	}
	mutex_unlock(&adapter->queues.doorbell_lock);

	vfence_hw_exit(adapter, &pass);
	return ret ? ERR_PTR(ret) : doorbell;
}

/* Is there an answer: connected, by now or meanwhile, or no place in the line any more? */
static bool doorbell_is_answered(const struct vfence_doorbell *doorbell, u64 connections)
{
	enum vfence_physical_state state = READ_ONCE(doorbell->state);

	return state == VFENCE_PHYSICAL_CONNECTED || state == VFENCE_PHYSICAL_NONE ||
	       READ_ONCE(doorbell->connections) != connections;
}

/*
 * Wait for the answer, outside of the gate and without a lock. Return: 0 if the doorbell was
 * connected, -EAGAIN if it has to ask again, or -ERESTARTSYS if the thread is killed.
 */
static int doorbell_await(struct vfence_queue *queue, struct vfence_doorbell *doorbell,
			  u64 connections)
{
	struct mutex *lock = &queue->adapter->queues.doorbell_lock;
	int ret = 0;
	long left;

	/* Ask again from time to time: a doorbell may have been kept for long enough by then. */
	left = wait_event_killable_timeout(doorbell->wait,
					   doorbell_is_answered(doorbell, connections),
					   nsecs_to_jiffies(VFENCE_VICTIM_KEEP_NS) + 1);
	mutex_lock(lock);
	if (left < 0)
		ret = -ERESTARTSYS;
	else if (doorbell->state != VFENCE_PHYSICAL_CONNECTED &&
		 doorbell->connections == connections)
		ret = -EAGAIN;
	/* Another thread that waits for the same doorbell asks again. */
	if (left < 0 && doorbell->state == VFENCE_PHYSICAL_IN_LINE)
		vfence_physical_leave_locked(doorbell);
	mutex_unlock(lock);

	doorbell_put(doorbell);
	return ret;
}

static int doorbell_connect(struct vfence_queue *queue)
{
	struct vfence_doorbell *doorbell;
	u64 connections;
	int ret;

	do {
		doorbell = doorbell_ask(queue, &connections);
		if (IS_ERR(doorbell))
			return PTR_ERR(doorbell);
		ret = doorbell_await(queue, doorbell, connections);
	} while (ret == -EAGAIN);
	return ret;
}

/* The doorbell, which the lock keeps, has the write pointer at which logs are switched. */
static int doorbell_get_geometry(struct vfence_queue *queue, bool take_logs,
				 struct vgpu_log_geometry *geometry)
{
	int ret = -ENOENT;

	mutex_lock(&queue->adapter->queues.doorbell_lock);
	if (queue->doorbell) {
		vgpu_log_get_geometry(queue->hw, take_logs, geometry);
		ret = 0;
	}
	mutex_unlock(&queue->adapter->queues.doorbell_lock);
	return ret;
}

/* Connecting also wakes the adapter (WDDM-197), and it stays awake until that is done. */
static int doorbell_connect_awake(struct vfence_queue *queue)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vfence_gate_pass pass;
	int ret = vfence_hw_enter(adapter, &pass);

	if (ret)
		return ret;
	ret = vfence_power_get(adapter);
	vfence_hw_exit(adapter, &pass);
	if (ret)
		return ret;

	ret = doorbell_connect(queue);
	vfence_power_put(adapter);
	return ret;
}

int vfence_doorbell_connect_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_doorbell_connect *args = data;
	struct vgpu_log_geometry geometry;
	struct vfence_queue *queue;
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_CONNECT_LOGS))
		return -EINVAL;

	queue = vfence_queue_lookup(file, args->queue);
	if (!queue)
		return -ENOENT;

	ret = doorbell_connect_awake(queue);
	if (!ret)
		ret = doorbell_get_geometry(queue, args->flags & DRM_VFENCE_CONNECT_LOGS,
					    &geometry);
	if (!ret) {
		args->wait_log_entries = geometry.entries[0];
		args->signal_log_entries = geometry.entries[1];
		args->log_restart = geometry.restart;
		args->logging_level = READ_ONCE(queue->adapter->queues.logging_level);
	}

	vfence_queue_put(queue);
	return ret;
}

int vfence_doorbell_notify_ioctl(struct drm_device *drm, void *data,
				 struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_notify_work_submission *args = data;
	struct vfence_queue *queue;
	int ret = -ENOENT;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;

	queue = vfence_queue_lookup(file, args->queue);
	if (!queue)
		return ret;

	/* The lock keeps the ring: vfence_doorbell_destroy() takes it before it frees the ring. */
	mutex_lock(&file->adapter->queues.doorbell_lock);
	if (queue->doorbell) {
		vgpu_doorbell_notify_work_submission(queue->hw);
		ret = 0;
	}
	mutex_unlock(&file->adapter->queues.doorbell_lock);

	vfence_queue_put(queue);
	return ret;
}

/**
 * vfence_doorbell_destroy - free a queue's doorbell object, if it has one
 * @queue: the queue, its file locked
 *
 * A queue that still has work is aborted. A client that wants the work completed waits for
 * the progress fence first (WDDM-201).
 *
 * Return: true if the queue was not idle; the caller stops it.
 */
bool vfence_doorbell_destroy(struct vfence_queue *queue)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vfence_doorbell *doorbell = queue->doorbell, *leaving;
	bool abort;

	lockdep_assert_held(&queue->file->lock);
	if (!doorbell)
		return false;

	mutex_lock(&adapter->queues.doorbell_lock);
	/* The client may have the status page mapped for longer. */
	leaving = doorbell_abort_locked(doorbell);
	queue->doorbell = NULL;
	mutex_unlock(&adapter->queues.doorbell_lock);
	doorbell_drain(leaving);
	flush_work(&doorbell->change_work);

	abort = !vgpu_queue_is_idle(queue->hw);
	if (abort)
		vgpu_queue_abort(queue->hw);

	/*
	 * In this order: end the callbacks that start the timer, the timer that queues the
	 * work, the work, then free what it uses.
	 */
	vgpu_doorbell_destroy(queue->hw);
	hrtimer_cancel(&doorbell->arm_timer);
	cancel_work_sync(&doorbell->arm);
	doorbell_free(queue->file, doorbell);
	return abort;
}
