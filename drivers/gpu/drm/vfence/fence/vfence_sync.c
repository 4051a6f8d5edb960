// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bridge to dma_fence. What a sync_file or a syncobj stands for becomes a signal of a
 * fence, or lets a submission go on. The other way there is nothing from fences: one that
 * a client can leave unsignaled for ever must never be, or hide behind, a dma_fence.
 * Submissions are dma_fences, as they are bounded: they wait for nothing but other
 * dma_fences once one is told of them, and are aborted if they take too long.
 */

#include <linux/dma-fence.h>
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>
#include <linux/sync_file.h>

#include <drm/drm_file.h>
#include <drm/drm_syncobj.h>

#include "core/vfence_obj_array.h"
#include "fence/vfence_cross.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_local.h"
#include "fence/vfence_point.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_sync.h"
#include "fence/vfence_wait.h"

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
	vfence_object_free(IMPORT, import);
}

/* A link of a timeline does not tell, but what it contains does. */
static bool failed(struct dma_fence *foreign)
{
	return dma_fence_get_status(dma_fence_chain_contained(foreign)) < 0;
}

/*
 * A failure is no value: who waits must not take it for one. Nor for a failure of the
 * waiting, which other drivers' errors could be: they all become one.
 */
static void perform(struct vfence_import *import)
{
	struct vfence_fence *fence = import->signal->points[0].fence;

	if (!failed(import->foreign)) {
		vfence_signal_perform(import->signal, DRM_VFENCE_SIGNAL_ALLOW_REWIND);
		return;
	}
	if (fence->cross) {
		vfence_cross_fail(fence->cross, -EIO);
		return;
	}
	vfence_point_fail_all(fence, -EIO);
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

/* In the order in which they come here. */
static void queue_import(struct vfence_import *import)
{
	struct vfence_adapter *adapter = import->file->adapter;

	queue_work(adapter->fences.import_wq, &import->work);
}

/* Any context, under the foreign fence's lock. */
static void signaled(struct dma_fence *foreign, struct dma_fence_cb *cb)
{
	queue_import(container_of(cb, struct vfence_import, cb));
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
		queue_import(import);
	return 0;
}

static int create_import(struct vfence_file *file, struct vfence_fence *fence, u64 value,
			 struct dma_fence *foreign)
{
	struct vfence_import *import = vfence_object_alloc(IMPORT, sizeof(*import));
	int ret;

	if (!import)
		return -ENOMEM;
	import->signal = vfence_signal_create(fence, value);
	if (!import->signal) {
		vfence_object_free(IMPORT, import);
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

int vfence_sync_import_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
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
	flush_workqueue(file->adapter->fences.import_wq);
}

/* ---------------------------------------------------- what a submission is */

/* Names nothing of ours but constants, as it may outlive its adapter. */
static const char *driver_name(struct dma_fence *fence)
{
	return "vfence";
}

static const char *timeline_name(struct dma_fence *fence)
{
	return "kernel-mode queue";
}

VFENCE_DEFINE_DMA_FENCE_OPS(done_ops, driver_name, timeline_name);

/**
 * vfence_sync_done_create - the dma_fence of a submission
 * @context: timeline of its queue
 *
 * Nobody sees it until it has a place and is published. Return: the fence, or NULL.
 */
struct dma_fence *vfence_sync_done_create(u64 context)
{
	struct vfence_dma_fence *done = kzalloc(sizeof(*done), GFP_KERNEL_ACCOUNT);

	if (!done)
		return NULL;
	vfence_dma_fence_init(done, &done_ops, context);
	return &done->base;
}

/** vfence_sync_done_place - its place on the timeline, known when it is queued */
void vfence_sync_done_place(struct dma_fence *done, u64 seqno)
{
	done->seqno = seqno;
}

/** vfence_sync_done_signal - it is over, with 0 or an error; any context, no lock held */
void vfence_sync_done_signal(struct dma_fence *done, int error)
{
	if (error)
		dma_fence_set_error(done, error);
	dma_fence_signal(done);
}

/* ------------------------------------------------ what a submission waits for */

/**
 * struct vfence_in_sync - a dma_fence that a submission waits for
 */
struct vfence_in_sync {
	/** @cb: on @foreign */
	struct dma_fence_cb cb;
	/** @foreign: the dma_fence, with a reference */
	struct dma_fence *foreign;
	/** @in_syncs: parent */
	struct vfence_in_syncs *in_syncs;
};

/**
 * struct vfence_in_syncs - all of them
 */
struct vfence_in_syncs {
	/** @pending: dma_fences that have not signaled, and one while they are armed */
	atomic_t pending;
	/** @met: called once, when there are none */
	void (*met)(void *owner);
	/** @owner: its argument */
	void *owner;
	/** @count: number of dependencies */
	unsigned int count;
	/** @each: the dependencies */
	struct vfence_in_sync each[];
};

static struct drm_vfence_syncobj *get_syncobjs(const struct drm_vfence_obj_array *syncobjs)
{
	struct drm_vfence_syncobj *in;
	u32 i;

	in = vfence_obj_array_get(syncobjs, sizeof(*in), DRM_VFENCE_MAX_SYNCOBJS);
	for (i = 0; !IS_ERR(in) && i < syncobjs->count; i++) {
		if (in[i].pad) {
			kvfree(in);
			in = ERR_PTR(-EINVAL);
		}
	}
	return in;
}

/**
 * vfence_sync_in_create - find what syncobjs stand for now
 * @file: whose they are
 * @syncobjs: &struct drm_vfence_syncobj in user memory
 *
 * Return: the dependencies, NULL for an empty list, or an ERR_PTR. Never waits for a
 * submission.
 */
struct vfence_in_syncs *
vfence_sync_in_create(struct drm_file *file, const struct drm_vfence_obj_array *syncobjs)
{
	struct vfence_in_syncs *in_syncs;
	struct drm_vfence_syncobj *in;
	int ret = 0;

	if (!syncobjs->count)
		return NULL;
	in = get_syncobjs(syncobjs);
	if (IS_ERR(in))
		return ERR_CAST(in);
	in_syncs = kzalloc(struct_size(in_syncs, each, syncobjs->count), GFP_KERNEL_ACCOUNT);
	if (!in_syncs)
		ret = -ENOMEM;
	for (; !ret && in_syncs->count < syncobjs->count; in_syncs->count += !ret) {
		struct vfence_in_sync *dep = &in_syncs->each[in_syncs->count];

		dep->in_syncs = in_syncs;
		INIT_LIST_HEAD(&dep->cb.node);
		ret = drm_syncobj_find_fence(file, in[in_syncs->count].handle,
					     in[in_syncs->count].point, 0, &dep->foreign);
	}
	kvfree(in);
	if (ret && in_syncs)
		vfence_sync_in_destroy(in_syncs);
	return ret ? ERR_PTR(ret) : in_syncs;
}

static void one_met(struct vfence_in_syncs *in_syncs)
{
	if (atomic_dec_and_test(&in_syncs->pending))
		in_syncs->met(in_syncs->owner);
}

/* Any context, under the foreign fence's lock. That it failed is its owner's business. */
static void dependency_signaled(struct dma_fence *foreign, struct dma_fence_cb *cb)
{
	one_met(container_of(cb, struct vfence_in_sync, cb)->in_syncs);
}

/**
 * vfence_sync_in_arm - have it told when all have signaled
 * @in_syncs: the dependencies
 * @met: called once, in any context; queues work and nothing else
 * @owner: its argument
 */
void vfence_sync_in_arm(struct vfence_in_syncs *in_syncs, void (*met)(void *owner),
			void *owner)
{
	unsigned int i;

	in_syncs->met = met;
	in_syncs->owner = owner;
	atomic_set(&in_syncs->pending, in_syncs->count + 1);
	for (i = 0; i < in_syncs->count; i++)
		if (dma_fence_add_callback(in_syncs->each[i].foreign, &in_syncs->each[i].cb,
					   dependency_signaled))
			one_met(in_syncs);
	one_met(in_syncs);
}

bool vfence_sync_in_signaled(const struct vfence_in_syncs *in_syncs)
{
	return !atomic_read(&in_syncs->pending);
}

/** vfence_sync_in_destroy - forget them: no callback runs on return */
void vfence_sync_in_destroy(struct vfence_in_syncs *in_syncs)
{
	unsigned int i;

	for (i = 0; i < in_syncs->count; i++) {
		dma_fence_remove_callback(in_syncs->each[i].foreign, &in_syncs->each[i].cb);
		dma_fence_put(in_syncs->each[i].foreign);
	}
	kfree(in_syncs);
}

/* ------------------------------------------------- who is told of a submission */

/**
 * struct vfence_out_syncs - syncobjs that will stand for a submission
 */
struct vfence_out_syncs {
	/** @count: number of syncobjs */
	unsigned int count;
	/** @each: the syncobjs */
	struct {
		/** @each.syncobj: the syncobj, with a reference */
		struct drm_syncobj *syncobj;
		/** @each.chain: link of a timeline, or NULL */
		struct dma_fence_chain *chain;
		/** @each.point: of the timeline */
		u64 point;
	} each[];
};

/**
 * vfence_sync_out_create - everything that can fail of publishing a submission
 * @file: whose syncobjs they are
 * @syncobjs: &struct drm_vfence_syncobj in user memory
 *
 * Return: the out_syncs, NULL for an empty list, or an ERR_PTR.
 */
struct vfence_out_syncs *
vfence_sync_out_create(struct drm_file *file, const struct drm_vfence_obj_array *syncobjs)
{
	struct vfence_out_syncs *out_syncs;
	struct drm_vfence_syncobj *in;
	int ret = 0;
	u32 i;

	if (!syncobjs->count)
		return NULL;
	in = get_syncobjs(syncobjs);
	if (IS_ERR(in))
		return ERR_CAST(in);
	out_syncs = kzalloc(struct_size(out_syncs, each, syncobjs->count),
			    GFP_KERNEL_ACCOUNT);
	if (!out_syncs)
		ret = -ENOMEM;
	for (i = 0; !ret && i < syncobjs->count; i++) {
		out_syncs->each[i].syncobj = drm_syncobj_find(file, in[i].handle);
		if (!out_syncs->each[i].syncobj) {
			ret = -ENOENT;
			break;
		}
		out_syncs->count++;
		out_syncs->each[i].point = in[i].point;
		if (in[i].point)
			out_syncs->each[i].chain = dma_fence_chain_alloc();
		if (in[i].point && !out_syncs->each[i].chain)
			ret = -ENOMEM;
	}
	kvfree(in);
	if (ret && out_syncs)
		vfence_sync_out_destroy(out_syncs);
	return ret ? ERR_PTR(ret) : out_syncs;
}

/** vfence_sync_out_publish - from here on others rely on @done */
void vfence_sync_out_publish(struct vfence_out_syncs *out_syncs, struct dma_fence *done)
{
	unsigned int i;

	for (i = 0; i < out_syncs->count; i++) {
		struct drm_syncobj *syncobj = out_syncs->each[i].syncobj;

		if (out_syncs->each[i].chain)
			drm_syncobj_add_point(syncobj, out_syncs->each[i].chain, done,
					      out_syncs->each[i].point);
		else
			drm_syncobj_replace_fence(syncobj, done);
		out_syncs->each[i].chain = NULL;
	}
}

void vfence_sync_out_destroy(struct vfence_out_syncs *out_syncs)
{
	unsigned int i;

	for (i = 0; i < out_syncs->count; i++) {
		dma_fence_chain_free(out_syncs->each[i].chain);
		drm_syncobj_put(out_syncs->each[i].syncobj);
	}
	kfree(out_syncs);
}
