/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_FOREIGN_H_
#define _VFENCE_FOREIGN_H_

#include <linux/list.h>

struct dma_fence;
struct vfence_file;
struct vfence_foreign;

/**
 * struct vfence_follower - what follows a foreign dma_fence
 */
struct vfence_follower {
	/** @link: entry of &vfence_foreign.followers while it follows, or empty */
	struct list_head link;
	/**
	 * @signaled: called once when the dma_fence has signaled, in a work, under a spinlock: it
	 * may do nothing but count and queue work
	 */
	void (*signaled)(struct vfence_follower *follower);
};

void vfence_foreign_init(struct vfence_file *file);
void vfence_foreign_fini(struct vfence_file *file);
struct vfence_foreign *vfence_foreign_get(struct vfence_file *file, struct dma_fence *fence);
void vfence_foreign_put(struct vfence_foreign *foreign);
struct dma_fence *vfence_foreign_fence(const struct vfence_foreign *foreign);
bool vfence_foreign_follow(struct vfence_foreign *foreign, struct vfence_follower *follower);
bool vfence_foreign_unfollow(struct vfence_foreign *foreign, struct vfence_follower *follower);

#endif
