// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doorbells: connecting queues to the few physical ones, taking them away
 * again, and noticing a ring.
 */

#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_vma_manager.h>

#include "core/vfence_device.h"
#include "core/vfence_power.h"
#include "mem/vfence_page.h"
#include "queue/vfence_doorbell.h"
#include "queue/vfence_queue.h"
#include "vfence_step.h"

static struct vfence_adapter *adapter_of(struct vfence_doorbell *doorbell)
{
	return doorbell->queue->adapter;
}

static void set_status(struct vfence_doorbell *doorbell, u64 status)
{
	/* Release: what led to it. Partner: the client's acquire load. */
	smp_store_release((u64 *)vfence_page_kva(doorbell->status_page), status);
}

/* Behind the status word; only the kernel writes it, too. */
static void set_level(struct vfence_doorbell *doorbell, u32 level)
{
	u64 *words = vfence_page_kva(doorbell->status_page);

	WRITE_ONCE(*(u32 *)&words[1], level);
}

static u64 get_status(struct vfence_doorbell *doorbell)
{
	return READ_ONCE(*(u64 *)vfence_page_kva(doorbell->status_page));
}

static void zap_locked(struct vfence_doorbell *doorbell)
{
	lockdep_assert_held(&adapter_of(doorbell)->queues.doorbell_lock);
	vfence_page_zap(doorbell->doorbell_page);
	if (doorbell->secondary_page)
		vfence_page_zap(doorbell->secondary_page);
	doorbell->mapped = false;
}

/*
 * Take the physical doorbell away (WDDM-186): accesses find the dummy page
 * first, then the client can read why, then the hardware stops looking, having
 * latched the write pointer. What is published later finds the status.
 */
static void disconnect_locked(struct vfence_doorbell *doorbell, u64 status)
{
	struct vfence_adapter *adapter = adapter_of(doorbell);

	lockdep_assert_held(&adapter->queues.doorbell_lock);
	if (doorbell->physical >= 0) {
		adapter->queues.physical[doorbell->physical] = NULL;
		doorbell->physical = -1;
		zap_locked(doorbell);
	}
	set_status(doorbell, status);
	vgpu_doorbell_disconnect(doorbell->queue->hw);
}

/* The idle queue that was connected longest ago; failing that, any. */
static struct vfence_doorbell *victim_locked(struct vfence_adapter *adapter)
{
	struct vfence_doorbell *best = NULL;
	bool best_idle = false;
	unsigned int i;

	for (i = 0; i < adapter->config.gpu.doorbells; i++) {
		struct vfence_doorbell *doorbell = adapter->queues.physical[i];
		bool idle = vgpu_queue_is_idle(doorbell->queue->hw);

		if (best && (best_idle > idle || (best_idle == idle &&
						  best->connected_at < doorbell->connected_at)))
			continue;
		best = doorbell;
		best_idle = idle;
	}
	return best;
}

static unsigned int take_physical_locked(struct vfence_adapter *adapter)
{
	struct vfence_doorbell *victim;
	unsigned int i;

	for (i = 0; i < adapter->config.gpu.doorbells; i++)
		if (!adapter->queues.physical[i])
			return i;
	victim = victim_locked(adapter);
	i = victim->physical;
	disconnect_locked(victim, DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY);
	vfence_count(adapter, VFENCE_COUNT_VICTIMISATIONS);
	return i;
}

static void connect_locked(struct vfence_doorbell *doorbell)
{
	struct vfence_adapter *adapter = adapter_of(doorbell);
	unsigned int physical = take_physical_locked(adapter);

	/* What the last owner stored is not for the next one to read. */
	clear_page(page_address(vgpu_doorbell_page(adapter->gpu, physical, false)));
	if (adapter->config.gpu.secondary_doorbells)
		clear_page(page_address(vgpu_doorbell_page(adapter->gpu, physical, true)));
	adapter->queues.physical[physical] = doorbell;
	doorbell->physical = physical;
	doorbell->connected_at = ++adapter->queues.doorbell_clock;
	zap_locked(doorbell);
	set_status(doorbell, vgpu_doorbell_connect(doorbell->queue->hw));
}

/*
 * A fault inserts the page and the client tries its store again. If the queue
 * has gone idle and its page was zapped before the client got that far, the
 * store faults once more: remember it, for arm_work() to leave the client time.
 */
static void note_ring_locked(struct vfence_doorbell *doorbell)
{
	const struct drm_vfence_ring_control *control = doorbell->control.kva;
	u64 write_ptr = READ_ONCE(control->write_ptr);

	WRITE_ONCE(doorbell->again, doorbell->rung_at == write_ptr);
	doorbell->rung_at = write_ptr;
}

/*
 * A doorbell page was touched. Returns the page to map, or NULL for the dummy page:
 * the doorbell is not connected, or has been destroyed.
 */
static struct page *doorbell_ring_locked(struct vfence_page *page)
{
	struct vfence_doorbell *doorbell = page->owner;
	struct vfence_adapter *adapter;

	if (!doorbell)
		return NULL;
	adapter = adapter_of(doorbell);
	lockdep_assert_held(&adapter->queues.doorbell_lock);
	if (doorbell->physical < 0)
		return NULL;
	doorbell->mapped = true;
	note_ring_locked(doorbell);
	vgpu_doorbell_ring(doorbell->queue->hw);
	return vgpu_doorbell_page(adapter->gpu, doorbell->physical,
				  page == doorbell->secondary_page);
}

/*
 * Handshake (c), client's side: it has stored the write pointer, then touches
 * the page. Under the doorbell lock, so that arming either sees the queue busy
 * or finds the entry we insert and zaps it.
 */
static vm_fault_t doorbell_fault(struct vm_fault *vmf, struct vfence_page *page)
{
	struct vfence_adapter *adapter = to_vfence_adapter(page->base.dev);
	struct page *physical;
	vm_fault_t ret;

	vfence_count(adapter, VFENCE_COUNT_DOORBELL_FAULTS);
	mutex_lock(&adapter->queues.doorbell_lock);
	physical = doorbell_ring_locked(page);
	ret = vfence_page_insert(vmf, physical ? physical : page->page);
	mutex_unlock(&adapter->queues.doorbell_lock);
	return ret;
}

/*
 * Handshake (c), hardware's side: the page is made to fault, then the write
 * pointer is looked at again. Partner: the client stores the write pointer,
 * then touches the page. In a thread, as zapping may sleep.
 */
static void arm_work(struct work_struct *work)
{
	struct vfence_doorbell *doorbell = container_of(work, struct vfence_doorbell, arm);
	struct vfence_adapter *adapter = adapter_of(doorbell);

	if (READ_ONCE(doorbell->again))
		usleep_range(50, 100);
	vfence_step(ARM);
	mutex_lock(&adapter->queues.doorbell_lock);
	if (doorbell->physical >= 0) {
		if (doorbell->mapped)
			zap_locked(doorbell);
		vfence_step(REREAD);
		/* Zap before look; the flush has synchronised all CPUs. */
		smp_mb();
		vgpu_doorbell_recheck(doorbell->queue->hw);
	}
	mutex_unlock(&adapter->queues.doorbell_lock);
	vfence_power_idle(adapter);
}

/** vfence_doorbell_init - prepare an adapter for doorbells; nothing can fail */
void vfence_doorbell_init(struct vfence_adapter *adapter)
{
	mutex_init(&adapter->queues.doorbell_lock);
}

/** vfence_doorbell_fini - undo vfence_doorbell_init(); no doorbell is left */
void vfence_doorbell_fini(struct vfence_adapter *adapter)
{
	mutex_destroy(&adapter->queues.doorbell_lock);
}

/** vfence_doorbell_arm - call up: the queue went idle while connected */
void vfence_doorbell_arm(void *host, void *cookie)
{
	struct vfence_adapter *adapter = host;
	struct vfence_doorbell *doorbell = cookie;

	queue_work(adapter->queues.doorbell_wq, &doorbell->arm);
}

/** vfence_doorbell_abort - the queue is lost: disconnect for good */
void vfence_doorbell_abort(struct vfence_queue *queue)
{
	struct vfence_adapter *adapter = queue->adapter;

	mutex_lock(&adapter->queues.doorbell_lock);
	if (queue->doorbell) {
		queue->doorbell->aborted = true;
		disconnect_locked(queue->doorbell, DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT);
	}
	mutex_unlock(&adapter->queues.doorbell_lock);
}

/** vfence_doorbell_force_reconnect - have the client connect again, as something changed */
void vfence_doorbell_force_reconnect(struct vfence_queue *queue)
{
	struct vfence_adapter *adapter = queue->adapter;

	mutex_lock(&adapter->queues.doorbell_lock);
	if (queue->doorbell) {
		set_level(queue->doorbell, adapter->queues.logging_level);
		if (!queue->doorbell->aborted)
			disconnect_locked(queue->doorbell, DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY);
	}
	mutex_unlock(&adapter->queues.doorbell_lock);
}

static void relearn_one(struct vfence_queue *queue, void *unused)
{
	vfence_doorbell_force_reconnect(queue);
}

/** vfence_doorbell_force_reconnect_all - have all clients of an adapter connect again */
void vfence_doorbell_force_reconnect_all(struct vfence_adapter *adapter)
{
	vfence_queue_for_each(adapter, relearn_one, NULL);
}

unsigned int vfence_doorbell_connected(struct vfence_adapter *adapter)
{
	unsigned int i, connected = 0;

	mutex_lock(&adapter->queues.doorbell_lock);
	for (i = 0; i < adapter->config.gpu.doorbells; i++)
		connected += !!adapter->queues.physical[i];
	mutex_unlock(&adapter->queues.doorbell_lock);
	return connected;
}

/** vfence_doorbell_query - the doorbell's part of a queue's state */
void vfence_doorbell_query(struct vfence_queue *queue, struct drm_vfence_queue_query *args)
{
	args->doorbell_status = DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY;
	args->last_queued = 0;
	mutex_lock(&queue->adapter->queues.doorbell_lock);
	if (queue->doorbell) {
		args->doorbell_status = get_status(queue->doorbell);
		args->last_queued =
			READ_ONCE(*(u64 *)vfence_page_kva(queue->doorbell->last_queued_page));
	}
	mutex_unlock(&queue->adapter->queues.doorbell_lock);
}

static int create_page(struct vfence_file *file, enum vfence_page_kind kind,
		       struct vfence_page **page)
{
	int ret;

	*page = vfence_page_create(file->adapter, kind, NULL);
	if (IS_ERR(*page)) {
		ret = PTR_ERR(*page);
		*page = NULL;
		return ret;
	}
	if (kind == VFENCE_PAGE_DOORBELL)
		(*page)->fault = doorbell_fault;
	return drm_vma_node_allow(&(*page)->base.vma_node, file->drm);
}

static void put_page_of(struct vfence_file *file, struct vfence_page *page)
{
	if (!page)
		return;
	drm_vma_node_revoke(&page->base.vma_node, file->drm);
	vfence_page_put(page);
}

static void free_doorbell(struct vfence_file *file, struct vfence_doorbell *doorbell)
{
	put_page_of(file, doorbell->doorbell_page);
	put_page_of(file, doorbell->secondary_page);
	put_page_of(file, doorbell->status_page);
	put_page_of(file, doorbell->last_queued_page);
	vfence_bo_vunmap(&doorbell->control);
	vfence_bo_vunmap(&doorbell->ring);
	vfence_object_free(DOORBELL, doorbell);
}

static int fill_doorbell(struct vfence_file *file, struct vfence_doorbell *doorbell,
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
	ret = create_page(file, VFENCE_PAGE_DOORBELL, &doorbell->doorbell_page);
	if (!ret)
		ret = create_page(file, VFENCE_PAGE_STATUS, &doorbell->status_page);
	if (!ret)
		ret = create_page(file, VFENCE_PAGE_LAST_QUEUED, &doorbell->last_queued_page);
	if (!ret && args->flags & DRM_VFENCE_DOORBELL_SECONDARY)
		ret = create_page(file, VFENCE_PAGE_DOORBELL, &doorbell->secondary_page);
	return ret;
}

static struct vfence_doorbell *alloc_doorbell(struct vfence_file *file,
					      const struct drm_vfence_doorbell_create *args)
{
	struct vfence_doorbell *doorbell = vfence_object_alloc(DOORBELL, sizeof(*doorbell));
	int ret;

	if (!doorbell)
		return ERR_PTR(-ENOMEM);
	doorbell->physical = -1;
	INIT_WORK(&doorbell->arm, arm_work);
	ret = fill_doorbell(file, doorbell, args);
	if (ret) {
		free_doorbell(file, doorbell);
		return ERR_PTR(ret);
	}
	set_status(doorbell, DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY);
	return doorbell;
}

static int attach_locked(struct vfence_file *file, struct vfence_doorbell *doorbell,
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
	if (vfence_reject(&file->adapter->drm, queue->kernel))
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
	doorbell->doorbell_page->owner = doorbell;
	if (doorbell->secondary_page)
		doorbell->secondary_page->owner = doorbell;
	set_level(doorbell, file->adapter->queues.logging_level);
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
	doorbell = alloc_doorbell(file, args);
	if (IS_ERR(doorbell))
		return PTR_ERR(doorbell);
	mutex_lock(&file->lock);
	ret = attach_locked(file, doorbell, args);
	if (!ret) {
		args->doorbell_offset = vfence_page_offset(doorbell->doorbell_page);
		args->status_offset = vfence_page_offset(doorbell->status_page);
		args->last_queued_offset = vfence_page_offset(doorbell->last_queued_page);
		args->secondary_offset = doorbell->secondary_page ?
					 vfence_page_offset(doorbell->secondary_page) : 0;
	}
	mutex_unlock(&file->lock);
	if (ret)
		free_doorbell(file, doorbell);
	return ret;
}

static int connect(struct vfence_queue *queue, bool take, struct vgpu_log_geometry *geometry)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vfence_doorbell *doorbell;
	struct vgpu_queue_status status;
	int ret = 0;

	mutex_lock(&adapter->queues.doorbell_lock);
	doorbell = queue->doorbell;
	vgpu_queue_query(queue->hw, &status);
	if (!doorbell)
		ret = -ENOENT;
	else if (doorbell->aborted || !vfence_device_active(queue->device) ||
		 status.state == DRM_VFENCE_QUEUE_FAULTED ||
		 status.state == DRM_VFENCE_QUEUE_ABORTED)
		ret = -EIO;
	else if (doorbell->physical < 0)
		connect_locked(doorbell);
	if (!ret)
		vgpu_log_get_geometry(queue->hw, take, geometry);
	mutex_unlock(&adapter->queues.doorbell_lock);
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
	/* It is also what wakes the adapter (WDDM-197). */
	ret = vfence_power_get(file->adapter);
	if (!ret) {
		ret = connect(queue, args->flags & DRM_VFENCE_CONNECT_LOGS, &geometry);
		vfence_power_put(file->adapter);
	}
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
	/* Under the lock the ring stays. */
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
 * A queue that still has work is aborted: a client that wants it done waits for
 * its progress fence first (WDDM-201).
 */
void vfence_doorbell_destroy(struct vfence_queue *queue)
{
	struct vfence_adapter *adapter = queue->adapter;
	struct vfence_doorbell *doorbell = queue->doorbell;

	lockdep_assert_held(&queue->file->lock);
	if (!doorbell)
		return;
	mutex_lock(&adapter->queues.doorbell_lock);
	disconnect_locked(doorbell, doorbell->aborted ? DRM_VFENCE_DOORBELL_DISCONNECTED_ABORT :
			  DRM_VFENCE_DOORBELL_DISCONNECTED_RETRY);
	queue->doorbell = NULL;
	doorbell->doorbell_page->owner = NULL;
	if (doorbell->secondary_page)
		doorbell->secondary_page->owner = NULL;
	mutex_unlock(&adapter->queues.doorbell_lock);
	if (!vgpu_queue_is_idle(queue->hw))
		vgpu_queue_abort(queue->hw);
	/* No call up names it any more, then no work does, then it goes. */
	vgpu_doorbell_destroy(queue->hw);
	cancel_work_sync(&doorbell->arm);
	free_doorbell(queue->file, doorbell);
}

int vfence_doorbell_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_destroy *args = data;
	struct vfence_queue *queue;
	int ret = -ENOENT;

	if (vfence_reject(drm, args->pad))
		return -EINVAL;
	mutex_lock(&file->lock);
	queue = xa_load(&file->queues.objects, args->handle);
	if (queue && queue->doorbell) {
		vfence_doorbell_destroy(queue);
		ret = 0;
	}
	mutex_unlock(&file->lock);
	return ret;
}
