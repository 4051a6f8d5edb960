// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharing fences between processes. Processes share fences by file descriptor only.
 */

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include <drm/drm_file.h>

#include "core/vfence_device.h"
#include "fence/vfence_cross_adapter.h"
#include "fence/vfence_fence.h"
#include "fence/vfence_fence_fd.h"
#include "fence/vfence_fence_handle.h"
#include "fence/vfence_holder.h"
#include "fence/vfence_members.h"
#include "fence/vfence_waiter.h"
#include "vfence_race_point.h"

/**
 * struct vfence_fence_fd - exported fence of a file descriptor
 */
struct vfence_fence_fd {
	/** @fence: Fence; the descriptor is a holder of it, with @rights. */
	struct vfence_fence *fence;
	/** @rights: DRM_VFENCE_RIGHT_* of handles that are opened from the descriptor. */
	u32 rights;
};

static int fence_fd_release(struct inode *inode, struct file *filp)
{
	struct vfence_fence_fd *share = filp->private_data;

	vfence_holder_put_fd(share->fence, share->rights);
	vfence_leak_check_free(SHARE, share);
	return 0;
}

/* Without this function poll() would say at once that the fence is readable. */
static __poll_t fence_fd_poll(struct file *filp, struct poll_table_struct *table)
{
	return EPOLLERR;
}

static const struct file_operations fence_fd_fops = {
	.owner = THIS_MODULE,
	.release = fence_fd_release,
	.poll = fence_fd_poll,
	.llseek = noop_llseek,
};

/* Create a descriptor of @fence. On success it is the holder with @rights that the caller was. */
static int fence_fd_install(struct vfence_fence *fence, u32 rights)
{
	struct vfence_fence_fd *share = vfence_leak_check_alloc(SHARE, sizeof(*share));
	struct file *filp;
	int fd;

	if (!share)
		return -ENOMEM;

	share->fence = fence;
	share->rights = rights;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		goto free;

	filp = anon_inode_getfile("[vfence]", &fence_fd_fops, share, O_RDWR);
	if (IS_ERR(filp)) {
		put_unused_fd(fd);
		fd = PTR_ERR(filp);
		goto free;
	}

	/* Nothing may fail from here on, as the client sees the descriptor. */
	fd_install(fd, filp);
	return fd;

free:
	vfence_leak_check_free(SHARE, share);
	return fd;
}

int vfence_fence_fd_export_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_export *args = data;
	bool same = args->flags == DRM_VFENCE_EXPORT_SAME_RIGHTS;
	struct vfence_fence *fence;
	int ret = -EPERM;
	u32 rights;

	if (vfence_reject(drm, args->pad) ||
	    vfence_reject(drm, !same && (!args->flags || args->flags & ~DRM_VFENCE_RIGHTS_ALL)))
		return -EINVAL;

	/* A descriptor gets only rights that the handle has. */
	fence = vfence_fence_handle_lookup(file, args->handle, same ? 0 : args->flags, &rights);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	if (!same)
		rights = args->flags;
	if (vfence_reject(drm, !fence->shareable))
		goto put;

	ret = -ENOENT;
	if (!vfence_holder_get_fd(fence, rights))
		goto put;

	ret = fence_fd_install(fence, rights);
	if (ret < 0) {
		vfence_holder_put_fd(fence, rights);
		goto put;
	}
	args->fd = ret;
	ret = 0;

put:
	vfence_fence_put(fence);
	return ret;
}

/* Return the fence of a descriptor. The caller is a holder of it with the same rights. */
static struct vfence_fence *fence_fd_get_fence(struct vfence_adapter *adapter, int fd, u32 *rights)
{
	struct vfence_fence *fence = ERR_PTR(-EINVAL);
	struct file *filp = fget(fd);

	if (!filp)
		return ERR_PTR(-EBADF);

	if (filp->f_op == &fence_fd_fops) {
		struct vfence_fence_fd *share = filp->private_data;

		*rights = share->rights;
		/* The descriptor keeps the fence, and filp keeps the descriptor. */
		if (vfence_reject(&adapter->drm, !(share->rights & DRM_VFENCE_RIGHT_READ)))
			fence = ERR_PTR(-EACCES);
		else if ((share->fence->adapter == adapter || share->fence->cross) &&
			 vfence_holder_get_fd(share->fence, share->rights))
			fence = share->fence;
	}
	fput(filp);
	return fence;
}

static struct vfence_fence *fence_fd_create_member(struct vfence_fence *fence,
						   struct vfence_file *file)
{
	struct vfence_cross_adapter *cross = fence->cross;
	struct vfence_fence_args args = { .shareable = true, .cross = cross };

	/* Create the kind of fence that the adapter supports (WDDM-109, WDDM-110). */
	if (!file->adapter->native_fence) {
		args.type = DRM_VFENCE_FENCE_MONITORED;
		args.flags = cross->flags;
	} else {
		args.flags = cross->flags & DRM_VFENCE_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR;
	}
	vfence_fence_private_data(fence, args.private_data);
	return vfence_fence_create(file, &args);
}

static void fence_fd_link_member(struct vfence_fence *member, const void *unused)
{
	if (!READ_ONCE(member->linked))
		vfence_waiter_link(member);
}

/*
 * Get the member of a cross-adapter fence on the file's adapter. Creates the member if the adapter
 * has none yet. That may take as long as the client takes to get a processor and memory: others use
 * the fence meanwhile.
 */
static struct vfence_fence *fence_fd_get_other(struct vfence_fence *fence,
					       struct vfence_file *file)
{
	struct vfence_cross_adapter *cross = fence->cross;
	struct vfence_fence *member = vfence_members_find(cross, file->adapter);

	lockdep_assert_held(&file->lock);
	if (!member) {
		member = fence_fd_create_member(fence, file);
		if (IS_ERR(member))
			return member;
		vfence_hold(MEMBER);
		member = vfence_members_join(cross, member);
	}

	/*
	 * From now on each signal of the others must reach the member, also if another thread has
	 * added it and does not get to this.
	 */
	vfence_members_for_each(cross, fence_fd_link_member, NULL);

	/*
	 * The lock of the members decides: either the thread that ends all members finds the new
	 * one, or this thread finds that no holder can signal.
	 */
	if (!atomic_read(&cross->shared.signalers))
		vfence_holder_end(member, -ECANCELED);

	return member;
}

/* Return the member of @fence on the file's adapter, with a reference. */
static struct vfence_fence *fence_fd_get_member(struct vfence_fence *fence,
						struct vfence_file *file)
{
	if (fence->adapter == file->adapter)
		return vfence_fence_get(fence);

	/* The values of a cross-adapter fence have 64 bits. */
	if (vfence_reject(&file->adapter->drm, file->adapter->config.gpu.no_64bit_atomics))
		return ERR_PTR(-EOPNOTSUPP);

	return fence_fd_get_other(fence, file);
}

static int fence_fd_open_locked(struct vfence_file *file, struct vfence_fence *fence, u32 rights,
				struct drm_vfence_fence_open *args)
{
	struct vfence_device *device = vfence_device_find_active(file, args->device);
	struct vfence_fence *member;
	int ret;

	lockdep_assert_held(&file->lock);
	if (IS_ERR(device))
		return PTR_ERR(device);

	member = fence_fd_get_member(fence, file);
	if (IS_ERR(member))
		return PTR_ERR(member);
	if (vfence_reject(&file->adapter->drm,
			  args->flags && !vfence_fence_is_monitored(member))) {
		vfence_fence_put(member);
		return -EINVAL;
	}

	rights = vfence_fence_handle_rights_without(rights, args->flags);
	ret = vfence_fence_handle_add(file, device, member, rights, false, &args->handle,
				      &args->mapping);
	vfence_fence_put(member);
	return ret;
}

int vfence_fence_fd_open_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_open *args = data;
	struct vfence_fence *fence;
	u32 rights;
	int ret;

	if (vfence_reject(drm, args->flags & ~VFENCE_FENCE_NOTHING || args->pad) ||
	    vfence_reject(drm, args->flags == VFENCE_FENCE_NOTHING) ||
	    vfence_reject(drm, args->engine_affinity & ~VFENCE_PHYSICAL_ADAPTERS))
		return -EINVAL;

	fence = fence_fd_get_fence(file->adapter, args->fd, &rights);
	if (IS_ERR(fence))
		return PTR_ERR(fence);

	mutex_lock(&file->lock);
	ret = fence_fd_open_locked(file, fence, rights, args);
	mutex_unlock(&file->lock);

	if (!ret) {
		memset(args->private_data, 0, sizeof(args->private_data));
		vfence_fence_private_data(fence, args->private_data);
	}
	vfence_holder_put_fd(fence, rights);
	return ret;
}
