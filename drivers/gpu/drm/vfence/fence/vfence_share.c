// SPDX-License-Identifier: GPL-2.0
/*
 * Sharing fences between processes: by file descriptor, and no other way.
 */

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>

#include <drm/drm_file.h>

#include "queue/vfence_queue.h"
#include "vfence_fence.h"

static int share_release(struct inode *inode, struct file *filp)
{
	vfence_fence_unhold(filp->private_data);
	return 0;
}

static const struct file_operations share_fops = {
	.owner = THIS_MODULE,
	.release = share_release,
	.llseek = noop_llseek,
};

int vfence_fence_export_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_export *args = data;
	struct vfence_fence *fence;
	struct file *filp;
	int fd, ret = -EPERM;

	if (vfence_reject(drm, args->flags || args->pad))
		return -EINVAL;
	fence = vfence_local_lookup(file, args->handle);
	if (!fence)
		return -ENOENT;
	if (vfence_reject(drm, !fence->shareable))
		goto put;
	ret = -ENOENT;
	if (!vfence_fence_hold(fence))
		goto put;
	fd = get_unused_fd_flags(O_CLOEXEC);
	ret = fd;
	if (fd < 0)
		goto unhold;
	filp = anon_inode_getfile("[vfence]", &share_fops, fence, O_RDWR);
	if (IS_ERR(filp)) {
		put_unused_fd(fd);
		ret = PTR_ERR(filp);
		goto unhold;
	}
	/* Point of no failure: the descriptor is visible from here on. */
	fd_install(fd, filp);
	args->fd = fd;
	ret = 0;
	goto put;
unhold:
	vfence_fence_unhold(fence);
put:
	vfence_fence_put(fence);
	return ret;
}

static struct vfence_fence *fence_of_fd(struct vfence_adapter *adapter, int fd)
{
	struct vfence_fence *fence = ERR_PTR(-EINVAL);
	struct file *filp = fget(fd);

	if (!filp)
		return ERR_PTR(-EBADF);
	if (filp->f_op == &share_fops) {
		struct vfence_fence *shared = filp->private_data;

		/* The descriptor holds it, and we hold the descriptor. */
		if (shared->adapter == adapter && vfence_fence_hold(shared))
			fence = shared;
	}
	fput(filp);
	return fence;
}

int vfence_fence_open_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct vfence_file *file = drm_file->driver_priv;
	struct drm_vfence_fence_open *args = data;
	struct vfence_device *device;
	struct vfence_fence *fence;
	int ret;

	if (vfence_reject(drm, args->flags))
		return -EINVAL;
	fence = fence_of_fd(file->adapter, args->fd);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	mutex_lock(&file->lock);
	device = xa_load(&file->devices.objects, args->device);
	if (!device)
		ret = -ENOENT;
	else if (!vfence_device_active(device))
		ret = -EIO;
	else
		ret = vfence_local_add(file, device, fence, &args->handle, &args->mapping);
	mutex_unlock(&file->lock);
	vfence_fence_unhold(fence);
	return ret;
}
