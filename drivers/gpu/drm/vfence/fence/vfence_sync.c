// SPDX-License-Identifier: GPL-2.0
/*
 * The bridge to dma_fence, one way: what a sync_file or a syncobj stands for becomes a
 * signal of a fence. The other way there is none: a fence that a client can leave
 * unsignaled for ever must never be, or hide behind, a dma_fence.
 */

#include <linux/dma-fence.h>
#include <linux/slab.h>
#include <linux/sync_file.h>

#include <drm/drm_file.h>
#include <drm/drm_syncobj.h>

#include "vfence_fence.h"

/**
 * struct vfence_import - a dma_fence that will signal a fence
 *
 * It ends in one of two ways: the dma_fence signals, and @work frees it; or the file
 * closes first. dma_fence_remove_callback() decides.
 */
struct vfence_import {
	/** @cb: on @foreign */
	struct dma_fence_cb cb;
	/** @foreign: the dma_fence, with a reference */
	struct dma_fence *foreign;
	/** @signal: what to signal then */
	struct vfence_wait *signal;
	/** @file: owner; outlives the import */
	struct vfence_file *file;
	/** @id: place in file->imports */
	u32 id;
	/** @work: signals, in process context and in the order of the dma_fences */
	struct work_struct work;
};

static void free_import(struct vfence_import *import)
{
	vfence_wait_destroy(import->signal);
	dma_fence_put(import->foreign);
	kfree(import);
}

/* An error is no value: who waits must not take it for one. */
static void perform(struct vfence_import *import)
{
	struct vfence_fence *fence = import->signal->points[0].fence;
	int status = dma_fence_get_status(import->foreign);

	if (status >= 0) {
		vfence_signal(import->signal, DRM_VFENCE_SIGNAL_ALLOW_REWIND);
		return;
	}
	vfence_fence_fail(fence, status);
	vfence_fence_set_always_signaled(fence);
}

static void import_work(struct work_struct *work)
{
	struct vfence_import *import = container_of(work, struct vfence_import, work);
	struct vfence_file *file = import->file;
	int idx;

	/* Once the device is gone all waits have failed. */
	if (drm_dev_enter(&file->adapter->drm, &idx)) {
		perform(import);
		drm_dev_exit(idx);
	}
	/* Nobody finds it from here on; the closer waits for that and for this work. */
	vfence_table_remove(&file->imports, import->id);
	free_import(import);
	wake_up_all(&file->events_gone);
}

/* Any context, under the foreign fence's lock. */
static void signaled(struct dma_fence *foreign, struct dma_fence_cb *cb)
{
	struct vfence_import *import = container_of(cb, struct vfence_import, cb);

	queue_work(import->file->adapter->import_wq, &import->work);
}

static struct dma_fence *find_foreign(struct drm_file *drm_file,
				      const struct drm_vfence_fence_import *args)
{
	struct dma_fence *foreign;
	int ret;

	if (args->flags & DRM_VFENCE_IMPORT_SYNCOBJ) {
		/* Never waits for a submission. */
		ret = drm_syncobj_find_fence(drm_file, args->source, args->point, 0, &foreign);
		return ret ? ERR_PTR(ret) : foreign;
	}
	foreign = sync_file_get_fence(args->source);
	return foreign ? foreign : ERR_PTR(-EINVAL);
}

static int add_import(struct vfence_file *file, struct vfence_import *import)
{
	int ret = vfence_table_add(&file->imports, import, &import->id);

	if (ret)
		return ret;
	/* Point of no failure: from here on it belongs to the callback. */
	if (dma_fence_add_callback(import->foreign, &import->cb, signaled))
		queue_work(file->adapter->import_wq, &import->work);
	return 0;
}

static int create_import(struct vfence_file *file, struct vfence_fence *fence, u64 value,
			 struct dma_fence *foreign)
{
	struct vfence_import *import = kzalloc(sizeof(*import), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!import)
		return -ENOMEM;
	import->signal = vfence_signal_create(fence, value);
	if (!import->signal) {
		kfree(import);
		return -ENOMEM;
	}
	import->file = file;
	import->foreign = dma_fence_get(foreign);
	INIT_WORK(&import->work, import_work);
	ret = add_import(file, import);
	if (ret)
		free_import(import);
	return ret;
}

int vfence_fence_import_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_import *args = data;
	struct dma_fence *foreign;
	struct vfence_fence *fence;
	int ret;

	if (vfence_reject(drm, args->flags & ~DRM_VFENCE_IMPORT_SYNCOBJ || args->pad) ||
	    vfence_reject(drm, args->point && !(args->flags & DRM_VFENCE_IMPORT_SYNCOBJ)))
		return -EINVAL;
	fence = vfence_local_lookup(file, args->fence, DRM_VFENCE_RIGHT_SIGNAL, NULL);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	ret = -EOPNOTSUPP;
	if (vfence_reject(drm, !fence->current_value))
		goto put_fence;
	foreign = find_foreign(drm_file, args);
	ret = PTR_ERR_OR_ZERO(foreign);
	if (ret)
		goto put_fence;
	ret = create_import(file, fence, args->value, foreign);
	dma_fence_put(foreign);
put_fence:
	vfence_fence_put(fence);
	return ret;
}

/* False if it has signaled and is on its way out. */
static bool forget(struct vfence_file *file, unsigned long id)
{
	struct vfence_import *import;

	/* Under the xa_lock an import that is found cannot be freed. */
	xa_lock(&file->imports.objects);
	import = xa_load(&file->imports.objects, id);
	if (import && !dma_fence_remove_callback(import->foreign, &import->cb))
		import = NULL;
	xa_unlock(&file->imports.objects);
	if (!import)
		return false;
	vfence_table_remove(&file->imports, id);
	free_import(import);
	return true;
}

/** vfence_sync_forget_all - the file closes; no ioctl of it runs any more */
void vfence_sync_forget_all(struct vfence_file *file)
{
	struct vfence_import *import;
	unsigned long id;

	xa_for_each(&file->imports.objects, id, import)
		forget(file, id);
	/*
	 * A callback that could not be removed has run to its end, under the lock by
	 * which removing looks: the work of what is left is queued.
	 */
	wait_event(file->events_gone, !atomic_read(&file->imports.count));
	flush_workqueue(file->adapter->import_wq);
}
