// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Foreign dma_fences
 *
 * Imports and submissions follow dma_fences, which may be of other drivers. The driver that
 * signals a dma_fence calls all its callbacks with interrupts off. A client decides how many
 * imports and in-syncs it has, so that they cannot have a callback each: a file has one callback on
 * each dma_fence, and a work that tells all who follow it::
 *
 *    first follower            dma_fence signals             work
 *    ---------------> PENDING -------------------> QUEUED ---------> SIGNALED
 *                        |                                               |
 *                        +----> freed with its last user <---------------+
 *
 * dma_fences of submissions depend on the work: it takes no lock under which others allocate.
 */

#include <linux/dma-fence.h>
#include <linux/err.h>
#include <linux/llist.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/vfence_file_types.h"
#include "fence/vfence_foreign.h"
#include "vfence_race_point.h"

/* Followers that are called before the lock is dropped for a moment. */
#define FOREIGN_BATCH	32

/**
 * struct vfence_foreign - a dma_fence that a file follows
 */
struct vfence_foreign {
	/** @cb: The callback of the file. */
	struct dma_fence_cb cb;
	/** @fence: The dma_fence, with a reference; constant. */
	struct dma_fence *fence;
	/** @foreigns: Those of the file; constant. */
	struct vfence_foreigns *foreigns;

	/** @node: Node in &vfence_foreigns.tree. */
	struct rb_node node;
	/** @users: References: imports, in-syncs, and the callback until the work is done. */
	unsigned int users;
	/** @signaled: The work has begun to tell: who comes now is not told any more. */
	bool signaled;
	/** @followers: &struct vfence_follower to be told, in their order. */
	struct list_head followers;

	/** @signaled_link: Entry in &vfence_foreigns.signaled. */
	struct llist_node signaled_link;
};

/* The callback. Any context, under the lock of the dma_fence. */
static void foreign_signaled(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct vfence_foreign *foreign = container_of(cb, struct vfence_foreign, cb);
	struct vfence_foreigns *foreigns = foreign->foreigns;

	/* Once it is in the list another thread's work may free it. */
	if (llist_add(&foreign->signaled_link, &foreigns->signaled))
		queue_work(foreigns->wq, &foreigns->work);
}

/* Tell a batch of the followers. Return true if there are more. */
static bool foreign_tell_some(struct vfence_foreign *foreign)
{
	struct vfence_follower *follower;
	unsigned int n = FOREIGN_BATCH;
	bool more;

	spin_lock(&foreign->foreigns->lock);
	foreign->signaled = true;
	while (n-- && !list_empty(&foreign->followers)) {
		follower = list_first_entry(&foreign->followers, struct vfence_follower, link);
		list_del_init(&follower->link);
		follower->signaled(follower);
	}
	more = !list_empty(&foreign->followers);
	spin_unlock(&foreign->foreigns->lock);
	return more;
}

static void foreign_work(struct work_struct *work)
{
	struct vfence_foreigns *foreigns = container_of(work, struct vfence_foreigns, work);
	struct vfence_foreign *foreign, *next;
	struct llist_node *signaled;
	bool signalling;

	vfence_hold(FOREIGN);
	signalling = dma_fence_begin_signalling();
	/* In the order in which they have signaled. */
	signaled = llist_reverse_order(llist_del_all(&foreigns->signaled));
	llist_for_each_entry_safe(foreign, next, signaled, signaled_link) {
		while (foreign_tell_some(foreign))
			cond_resched();
		vfence_foreign_put(foreign);
	}
	dma_fence_end_signalling(signalling);
}

/** vfence_foreign_init - prepare a new file to follow dma_fences */
void vfence_foreign_init(struct vfence_file *file)
{
	struct vfence_foreigns *foreigns = &file->foreigns;

	spin_lock_init(&foreigns->lock);
	foreigns->tree = RB_ROOT;
	init_llist_head(&foreigns->signaled);
	foreigns->wq = file->adapter->fences.foreign_wq;
	INIT_WORK(&foreigns->work, foreign_work);
}

/** vfence_foreign_fini - a closing file follows nothing any more: wait for its work */
void vfence_foreign_fini(struct vfence_file *file)
{
	flush_work(&file->foreigns.work);
}

static int foreign_compare(const void *fence, const struct rb_node *node)
{
	const void *other = rb_entry(node, struct vfence_foreign, node)->fence;

	return fence < other ? -1 : fence > other;
}

static bool foreign_less(struct rb_node *a, const struct rb_node *b)
{
	return foreign_compare(rb_entry(a, struct vfence_foreign, node)->fence, b) < 0;
}

static struct vfence_foreign *foreign_get_locked(struct vfence_foreigns *foreigns,
						 struct dma_fence *fence)
{
	struct rb_node *node = rb_find(fence, &foreigns->tree, foreign_compare);
	struct vfence_foreign *foreign = node ? rb_entry(node, struct vfence_foreign, node) : NULL;

	lockdep_assert_held(&foreigns->lock);
	if (foreign)
		foreign->users++;
	return foreign;
}

static struct vfence_foreign *foreign_alloc(struct vfence_foreigns *foreigns,
					    struct dma_fence *fence)
{
	struct vfence_foreign *foreign = vfence_leak_check_alloc(FOREIGN, sizeof(*foreign));

	if (!foreign)
		return NULL;
	foreign->foreigns = foreigns;
	foreign->fence = dma_fence_get(fence);
	INIT_LIST_HEAD(&foreign->followers);
	/* The caller, and the callback. */
	foreign->users = 2;
	return foreign;
}

static void foreign_free(struct vfence_foreign *foreign)
{
	dma_fence_put(foreign->fence);
	vfence_leak_check_free(FOREIGN, foreign);
}

/**
 * vfence_foreign_get - follow a dma_fence with the callback of the file
 * @file: the file
 * @fence: the dma_fence, with a reference of the caller
 *
 * Return: a reference, to be dropped with vfence_foreign_put(), or ERR_PTR(-ENOMEM).
 */
struct vfence_foreign *vfence_foreign_get(struct vfence_file *file, struct dma_fence *fence)
{
	struct vfence_foreigns *foreigns = &file->foreigns;
	struct vfence_foreign *foreign, *fresh;

	spin_lock(&foreigns->lock);
	foreign = foreign_get_locked(foreigns, fence);
	spin_unlock(&foreigns->lock);
	if (foreign)
		return foreign;

	fresh = foreign_alloc(foreigns, fence);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	spin_lock(&foreigns->lock);
	foreign = foreign_get_locked(foreigns, fence);
	if (!foreign)
		rb_add(&fresh->node, &foreigns->tree, foreign_less);
	spin_unlock(&foreigns->lock);
	if (foreign) {
		foreign_free(fresh);
		return foreign;
	}

	/* One that has signaled already takes the same way, so that the order stays. */
	if (dma_fence_add_callback(fence, &fresh->cb, foreign_signaled))
		foreign_signaled(fence, &fresh->cb);
	return fresh;
}

/* Take the callback back if nothing else needs it. Return true if it never will be called. */
static bool foreign_cancel_locked(struct vfence_foreign *foreign)
{
	lockdep_assert_held(&foreign->foreigns->lock);
	return foreign->users == 1 && !foreign->signaled &&
	       dma_fence_remove_callback(foreign->fence, &foreign->cb);
}

/** vfence_foreign_put - drop a reference */
void vfence_foreign_put(struct vfence_foreign *foreign)
{
	struct vfence_foreigns *foreigns = foreign->foreigns;
	bool last;

	spin_lock(&foreigns->lock);
	last = !--foreign->users || foreign_cancel_locked(foreign);
	if (last)
		rb_erase(&foreign->node, &foreigns->tree);
	spin_unlock(&foreigns->lock);
	if (last)
		foreign_free(foreign);
}

/** vfence_foreign_fence - the dma_fence */
struct dma_fence *vfence_foreign_fence(const struct vfence_foreign *foreign)
{
	return foreign->fence;
}

/**
 * vfence_foreign_follow - be told when a dma_fence signals
 * @foreign: the dma_fence, with a reference of the follower
 * @follower: what follows
 *
 * Return: false if it has signaled: the follower is not called then.
 */
bool vfence_foreign_follow(struct vfence_foreign *foreign, struct vfence_follower *follower)
{
	bool follows;

	spin_lock(&foreign->foreigns->lock);
	follows = !foreign->signaled;
	if (follows)
		list_add_tail(&follower->link, &foreign->followers);
	spin_unlock(&foreign->foreigns->lock);
	return follows;
}

/**
 * vfence_foreign_unfollow - do not follow any more
 * @foreign: the dma_fence, with a reference of the follower
 * @follower: what follows, or has followed
 *
 * On return &vfence_follower.signaled does not run. Return: true if it will not be called.
 */
bool vfence_foreign_unfollow(struct vfence_foreign *foreign, struct vfence_follower *follower)
{
	bool followed;

	spin_lock(&foreign->foreigns->lock);
	followed = !list_empty(&follower->link);
	list_del_init(&follower->link);
	spin_unlock(&foreign->foreigns->lock);
	return followed;
}
