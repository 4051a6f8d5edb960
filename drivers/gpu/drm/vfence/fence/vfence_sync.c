// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bridge to dma_fence. The dma_fence of a sync_file or a syncobj may signal a fence,
 * or be an in-sync of a submission.
 *
 * A fence never becomes a dma_fence, and no dma_fence depends on one: a client may leave a
 * fence unsignaled for ever.
 *
 * A submission has a dma_fence, as its time is bounded: once the dma_fence is published
 * the submission waits for other dma_fences only, and it is aborted on a timeout.
 */

#include <linux/dma-fence.h>
#include <linux/dma-fence-chain.h>
#include <linux/llist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sync_file.h>

#include <drm/drm_file.h>
#include <drm/drm_syncobj.h>

#include "core/vfence_account.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_foreign.h"
#include "fence/vfence_holder.h"
#include "fence/vfence_signal.h"
#include "fence/vfence_sync.h"
#include "vfence_race_point.h"

/* Most imports that a thread of the kernel signals before others have their turn. */
#define SYNC_TURN	16

/**
 * struct vfence_import - dma_fence that will signal a fence
 *
 * The dma_fence signals, and the work of the file frees the import; or the file closes first,
 * and frees it. vfence_foreign_unfollow() decides which.
 */
struct vfence_import {
	/** @follower: Follows @foreign. */
	struct vfence_follower follower;
	/** @foreign: The dma_fence, with a reference. */
	struct vfence_foreign *foreign;

	/** @fence: Fence to signal when @foreign has signaled; the import is a holder of it. */
	struct vfence_fence *fence;
	/** @value: Value to signal. */
	u64 value;
	/** @file: File that owns the import; it exists longer than the import. */
	struct vfence_file *file;
	/** @id: Index of the import in file->imports. */
	u32 id;

	/** @signaled_link: Entry in file->signaled_imports. */
	struct llist_node signaled_link;
};

static void sync_free_import(struct vfence_import *import)
{
	vfence_holder_put(import->fence, DRM_VFENCE_RIGHT_SIGNAL);
	vfence_foreign_put(import->foreign);
	vfence_leak_check_free(IMPORT, import);
}

/* A dma_fence_chain has no status of its own: ask the dma_fence it contains. */
static bool sync_foreign_failed(struct dma_fence *foreign)
{
	return dma_fence_get_status(dma_fence_chain_contained(foreign)) < 0;
}

/*
 * A failed dma_fence never signals the value: do what a lost device does that may signal the fence
 * (WDDM-123). The importer has the right to signal and no other, so that the owner can lower the
 * value again.
 */
static void sync_perform_import(struct vfence_import *import)
{
	struct vfence_fence *fence = import->fence;

	if (!sync_foreign_failed(vfence_foreign_fence(import->foreign)))
		vfence_signal_one(fence, import->value,
				  DRM_VFENCE_SIGNAL_ALLOW_REWIND | VFENCE_SIGNAL_LATE);
	else if (!(fence->flags & DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR))
		vfence_signal_one(fence, U64_MAX, VFENCE_SIGNAL_MAX);
}

static void sync_finish_import(struct vfence_import *import)
{
	struct vfence_file *file = import->file;

	/*
	 * After an unplug nobody waits: it has failed all waits. Do not keep it from its end, as
	 * the signal may wait for others.
	 */
	if (!drm_dev_is_unplugged(&file->adapter->drm))
		sync_perform_import(import);

	/* Remove the import before it is freed. The closing file waits for both and this chore. */
	vfence_handle_table_remove(&file->imports, import->id);
	sync_free_import(import);
	wake_up_all(&file->events_gone);
}

/* Take the first import off those that have their turn, which are in order, or return NULL. */
static struct vfence_import *sync_take_import(struct vfence_file *file)
{
	struct llist_node *node = file->importing;

	if (!node)
		return NULL;
	file->importing = node->next;
	return llist_entry(node, struct vfence_import, signaled_link);
}

/*
 * The imports of a file signal in the order of their dma_fences. Each file has a chore of its
 * own: a signal may have to wait for a fence that another client keeps busy.
 */
static void sync_import_run(struct vfence_chore *chore)
{
	struct vfence_file *file = container_of(chore, struct vfence_file, import_chore);
	struct vfence_import *import;
	unsigned int count = 0;

	vfence_hold(IMPORT);
	/*
	 * Take the list once. An import that comes later queues this chore again and must exist
	 * until then, as the closing file waits for the import.
	 */
	if (!file->importing)
		file->importing = llist_reverse_order(llist_del_all(&file->signaled_imports));
	while (count++ < SYNC_TURN && (import = sync_take_import(file))) {
		sync_finish_import(import);
		cond_resched();
	}
	if (file->importing || !llist_empty(&file->signaled_imports))
		vfence_chore_queue(chore);
}

/** vfence_sync_init - prepare a new file for imports */
void vfence_sync_init(struct vfence_file *file)
{
	init_llist_head(&file->signaled_imports);
	vfence_chore_init(&file->import_chore, &file->account->chores,
			  file->adapter->fences.import_wq, sync_import_run, NULL);
}

static void sync_queue_import(struct vfence_import *import)
{
	struct vfence_file *file = import->file;

	/* Once the import is in the list of a chore that runs it may be freed. */
	if (llist_add(&import->signaled_link, &file->signaled_imports))
		vfence_chore_queue(&file->import_chore);
}

static void sync_import_signaled(struct vfence_follower *follower)
{
	sync_queue_import(container_of(follower, struct vfence_import, follower));
}

static struct dma_fence *sync_find_foreign(struct drm_file *drm_file,
					   const struct drm_vfence_fence_import *args)
{
	struct dma_fence *foreign;
	int ret;

	if (args->flags & DRM_VFENCE_IMPORT_SYNCOBJ) {
		/* Without flags the call does not wait for a point to be submitted. */
		ret = drm_syncobj_find_fence(drm_file, args->source, args->point, 0, &foreign);
		return ret ? ERR_PTR(ret) : foreign;
	}

	foreign = sync_file_get_fence(args->source);
	return foreign ? foreign : ERR_PTR(-EINVAL);
}

static int sync_add_import(struct vfence_file *file, struct vfence_import *import)
{
	int ret = vfence_handle_table_add(&file->imports, import, &import->id);

	if (ret)
		return ret;

	/* Nothing may fail from here on, as the chore owns the import. */
	if (!vfence_foreign_follow(import->foreign, &import->follower))
		sync_queue_import(import);
	return 0;
}

static int sync_create_import(struct vfence_file *file, struct vfence_fence *fence, u64 value,
			      struct dma_fence *foreign)
{
	struct vfence_import *import = vfence_leak_check_alloc(IMPORT, sizeof(*import));
	int ret;

	if (!import)
		return -ENOMEM;

	import->foreign = vfence_foreign_get(file, foreign);
	if (IS_ERR(import->foreign)) {
		ret = PTR_ERR(import->foreign);
		vfence_leak_check_free(IMPORT, import);
		return ret;
	}
	/* Another thread may have closed the handle meanwhile. */
	if (!vfence_holder_get(fence, DRM_VFENCE_RIGHT_SIGNAL)) {
		vfence_foreign_put(import->foreign);
		vfence_leak_check_free(IMPORT, import);
		return -ENOENT;
	}
	import->fence = fence;
	import->value = value;
	import->file = file;
	INIT_LIST_HEAD(&import->follower.link);
	import->follower.signaled = sync_import_signaled;

	ret = sync_add_import(file, import);
	if (ret)
		sync_free_import(import);
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

	fence = vfence_fence_handle_lookup(file, args->fence, DRM_VFENCE_RIGHT_SIGNAL, NULL);
	if (IS_ERR(fence))
		return PTR_ERR(fence);

	ret = -EOPNOTSUPP;
	if (vfence_reject(drm, !fence->current_value))
		goto put_fence;

	foreign = sync_find_foreign(drm_file, args);
	ret = PTR_ERR_OR_ZERO(foreign);
	if (ret)
		goto put_fence;

	ret = sync_create_import(file, fence, args->value, foreign);
	dma_fence_put(foreign);

put_fence:
	vfence_fence_put(fence);
	return ret;
}

/* Return false if the dma_fence has signaled, so that the chore frees the import. */
static bool sync_cancel_import(struct vfence_file *file, unsigned long id)
{
	struct vfence_import *import;

	/* An import that is found under the xa_lock cannot be freed before the unlock. */
	xa_lock(&file->imports.objects);
	import = xa_load(&file->imports.objects, id);
	if (import && !vfence_foreign_unfollow(import->foreign, &import->follower))
		import = NULL;
	xa_unlock(&file->imports.objects);
	if (!import)
		return false;

	vfence_handle_table_remove(&file->imports, id);
	sync_free_import(import);
	return true;
}

/** vfence_sync_cancel_all - cancel all imports of a closing file, which runs no ioctl */
void vfence_sync_cancel_all(struct vfence_file *file)
{
	struct vfence_import *import;
	unsigned long id;

	vfence_chore_hurry(&file->import_chore);
	xa_for_each(&file->imports.objects, id, import)
		sync_cancel_import(file, id);

	/* The chore is queued for each remaining import, as it does not follow any more. */
	wait_event(file->events_gone, !atomic_read(&file->imports.count));
	vfence_chore_flush(&file->import_chore);
}

/* ------------------------------------------- the dma_fence of a submission */

/* Return constants only: the dma_fence may exist longer than its adapter. */
static const char *sync_driver_name(struct dma_fence *fence)
{
	return "vfence";
}

static const char *sync_timeline_name(struct dma_fence *fence)
{
	return "kernel-mode queue";
}

VFENCE_DEFINE_DMA_FENCE_OPS(sync_done_ops, sync_driver_name, sync_timeline_name);

/**
 * vfence_sync_done_create - create the dma_fence of a submission
 * @context: dma_fence context of the queue
 *
 * Call vfence_sync_done_place() before the dma_fence is published.
 *
 * Return: the dma_fence or NULL.
 */
struct dma_fence *vfence_sync_done_create(u64 context)
{
	struct vfence_dma_fence *done = kzalloc(sizeof(*done), GFP_KERNEL_ACCOUNT);

	if (!done)
		return NULL;
	vfence_dma_fence_init(done, &sync_done_ops, context);

	return &done->base;
}

/** vfence_sync_done_place - set the seqno of a dma_fence when its submission is queued */
void vfence_sync_done_place(struct dma_fence *done, u64 seqno)
{
	done->seqno = seqno;
}

/**
 * vfence_sync_done_signal - signal the end of a submission
 * @done: the dma_fence of the submission
 * @error: 0 or the error of the submission
 *
 * Any context, no lock held.
 */
void vfence_sync_done_signal(struct dma_fence *done, int error)
{
	if (error)
		dma_fence_set_error(done, error);
	dma_fence_signal(done);
}

/* --------------------------------------------- the in-syncs of a submission */

/**
 * struct vfence_in_sync - dma_fence that a submission waits for
 */
struct vfence_in_sync {
	/** @follower: Follows @foreign once the in-syncs are armed. */
	struct vfence_follower follower;
	/** @foreign: The dma_fence, with a reference. */
	struct vfence_foreign *foreign;
	/** @in_syncs: Array that contains this entry. */
	struct vfence_in_syncs *in_syncs;
};

/**
 * struct vfence_in_syncs - all dma_fences that a submission waits for
 */
struct vfence_in_syncs {
	/** @pending: Number of dma_fences that have not signaled, plus one while arming. */
	atomic_t pending;
	/** @all_signaled: Called once, when @pending becomes 0. */
	void (*all_signaled)(void *owner);
	/** @owner: Argument of @all_signaled. */
	void *owner;

	/** @count: Number of in-syncs. */
	unsigned int count;
	/** @each: The in-syncs. */
	struct vfence_in_sync each[];
};

static void sync_in_signal_one(struct vfence_in_syncs *in_syncs)
{
	if (atomic_dec_and_test(&in_syncs->pending))
		in_syncs->all_signaled(in_syncs->owner);
}

/* An error of the dma_fence is ignored. */
static void sync_in_signaled(struct vfence_follower *follower)
{
	sync_in_signal_one(container_of(follower, struct vfence_in_sync, follower)->in_syncs);
}

/* Add the dma_fence of a syncobj, unless it has signaled. */
static int sync_in_add(struct vfence_in_syncs *in_syncs, struct drm_file *file,
		       const struct drm_vfence_submit_op *in)
{
	struct vfence_in_sync *in_sync = &in_syncs->each[in_syncs->count];
	struct dma_fence *fence;
	int ret = drm_syncobj_find_fence(file, in->handle, in->value, 0, &fence);

	if (ret)
		return ret;
	in_sync->in_syncs = in_syncs;
	INIT_LIST_HEAD(&in_sync->follower.link);
	in_sync->follower.signaled = sync_in_signaled;
	if (!dma_fence_is_signaled(fence)) {
		in_sync->foreign = vfence_foreign_get(file->driver_priv, fence);
		ret = PTR_ERR_OR_ZERO(in_sync->foreign);
		in_syncs->count += !ret;
	}
	dma_fence_put(fence);
	return ret;
}

/**
 * vfence_sync_in_create - get the present dma_fences of syncobjs
 * @file: the file that owns the syncobjs
 * @ops: operations on syncobjs
 * @count: their number
 *
 * The function does not wait for a point to be submitted.
 *
 * Return: the in-syncs, NULL for an empty list, or an ERR_PTR.
 */
struct vfence_in_syncs *
vfence_sync_in_create(struct drm_file *file, const struct drm_vfence_submit_op *ops, u32 count)
{
	struct vfence_in_syncs *in_syncs;
	int ret = 0;
	u32 i;

	if (!count)
		return NULL;

	in_syncs = kzalloc(struct_size(in_syncs, each, count), GFP_KERNEL_ACCOUNT);
	if (!in_syncs)
		return ERR_PTR(-ENOMEM);

	for (i = 0; !ret && i < count; i++)
		ret = sync_in_add(in_syncs, file, &ops[i]);
	if (ret)
		vfence_sync_in_destroy(in_syncs);
	return ret ? ERR_PTR(ret) : in_syncs;
}

/**
 * vfence_sync_in_arm - call a function when all in-syncs have signaled
 * @in_syncs: the in-syncs
 * @all_signaled: called once, in any context; it may do nothing but queue work
 * @owner: argument of @all_signaled
 */
void vfence_sync_in_arm(struct vfence_in_syncs *in_syncs, void (*all_signaled)(void *owner),
			void *owner)
{
	unsigned int i;

	in_syncs->all_signaled = all_signaled;
	in_syncs->owner = owner;
	atomic_set(&in_syncs->pending, in_syncs->count + 1);

	for (i = 0; i < in_syncs->count; i++)
		if (!vfence_foreign_follow(in_syncs->each[i].foreign,
					   &in_syncs->each[i].follower))
			sync_in_signal_one(in_syncs);
	sync_in_signal_one(in_syncs);
}

/** vfence_sync_in_signaled - true if all in-syncs have signaled; only after arming */
bool vfence_sync_in_signaled(const struct vfence_in_syncs *in_syncs)
{
	return !atomic_read(&in_syncs->pending);
}

/** vfence_sync_in_destroy - disarm and free in-syncs; on return none is told */
void vfence_sync_in_destroy(struct vfence_in_syncs *in_syncs)
{
	unsigned int i;

	for (i = 0; i < in_syncs->count; i++) {
		vfence_foreign_unfollow(in_syncs->each[i].foreign, &in_syncs->each[i].follower);
		vfence_foreign_put(in_syncs->each[i].foreign);
	}
	kfree(in_syncs);
}

/* -------------------------------------------- the out-syncs of a submission */

/**
 * struct vfence_out_syncs - syncobjs that get the dma_fence of a submission
 */
struct vfence_out_syncs {
	/** @count: Number of syncobjs. */
	unsigned int count;
	/** @each: The syncobjs. */
	struct {
		/** @each.syncobj: The syncobj, with a reference. */
		struct drm_syncobj *syncobj;
		/** @each.chain: Chain node for a timeline syncobj, or NULL. */
		struct dma_fence_chain *chain;
		/** @each.point: Point on the timeline, or 0 for a binary syncobj. */
		u64 point;
	} each[];
};

/**
 * vfence_sync_out_create - get and allocate all that a publication needs
 * @file: the file that owns the syncobjs
 * @ops: operations on syncobjs
 * @count: their number
 *
 * The publication itself cannot fail.
 *
 * Return: the out-syncs, NULL for an empty list, or an ERR_PTR.
 */
struct vfence_out_syncs *
vfence_sync_out_create(struct drm_file *file, const struct drm_vfence_submit_op *ops, u32 count)
{
	struct vfence_out_syncs *out_syncs;
	int ret = 0;
	u32 i;

	if (!count)
		return NULL;

	out_syncs = kzalloc(struct_size(out_syncs, each, count), GFP_KERNEL_ACCOUNT);
	if (!out_syncs)
		return ERR_PTR(-ENOMEM);

	for (i = 0; !ret && i < count; i++) {
		out_syncs->each[i].syncobj = drm_syncobj_find(file, ops[i].handle);
		if (!out_syncs->each[i].syncobj) {
			ret = -ENOENT;
			break;
		}

		out_syncs->count++;
		out_syncs->each[i].point = ops[i].value;

		if (ops[i].value)
			out_syncs->each[i].chain = dma_fence_chain_alloc();
		if (ops[i].value && !out_syncs->each[i].chain)
			ret = -ENOMEM;
	}
	if (ret)
		vfence_sync_out_destroy(out_syncs);
	return ret ? ERR_PTR(ret) : out_syncs;
}

/** vfence_sync_out_publish - put @done into the out-syncs; it must signal from now on */
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

/** vfence_sync_out_destroy - free out-syncs, published or not */
void vfence_sync_out_destroy(struct vfence_out_syncs *out_syncs)
{
	unsigned int i;

	for (i = 0; i < out_syncs->count; i++) {
		dma_fence_chain_free(out_syncs->each[i].chain);
		drm_syncobj_put(out_syncs->each[i].syncobj);
	}
	kfree(out_syncs);
}
