// SPDX-License-Identifier: MIT
/* Buffers: GEM objects with a CPU mapping and a place in the GPU address space. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "vf_private.h"

struct vf_buffer {
	struct vf_adapter *adapter;
	uint32_t handle;
	uint64_t size;
	uint64_t va;
	void *map;
	/* In the adapter's list, while it has a handle. */
	struct vf_buffer *next;
};

static void buffer_add_locked(struct vf_buffer *buffer, uint32_t handle)
{
	struct vf_buffers *buffers = &buffer->adapter->buffers;

	buffer->handle = handle;
	buffer->next = buffers->first;
	buffers->first = buffer;
}

/* Return true if no other buffer has the handle. */
static bool buffer_remove_locked(struct vf_buffer *buffer)
{
	struct vf_buffer **at = &buffer->adapter->buffers.first;
	bool last = true;

	while (*at) {
		if (*at == buffer) {
			*at = buffer->next;
			continue;
		}
		last &= (*at)->handle != buffer->handle;
		at = &(*at)->next;
	}
	return last;
}

/* Close the handle under the lock: an import may be about to get the same one. */
static void handle_close(struct vf_buffer *buffer)
{
	struct vf_buffers *buffers = &buffer->adapter->buffers;

	pthread_mutex_lock(&buffers->lock);
	if (buffer_remove_locked(buffer))
		drmCloseBufferHandle(buffer->adapter->fd, buffer->handle);
	pthread_mutex_unlock(&buffers->lock);
}

static int handle_import(struct vf_buffer *buffer, int fd)
{
	struct vf_buffers *buffers = &buffer->adapter->buffers;
	uint32_t handle;
	int ret;

	pthread_mutex_lock(&buffers->lock);
	ret = drmPrimeFDToHandle(buffer->adapter->fd, fd, &handle) ? -errno : 0;
	if (!ret)
		buffer_add_locked(buffer, handle);
	pthread_mutex_unlock(&buffers->lock);
	return ret;
}

static int bind(struct vf_buffer *buffer)
{
	struct drm_vfence_vm_bind args = {
		.handle = buffer->handle,
		.flags = DRM_VFENCE_VM_READ | DRM_VFENCE_VM_WRITE,
		.size = buffer->size,
	};
	int ret = vf_ioctl(buffer->adapter, DRM_IOCTL_VFENCE_VM_BIND, &args);

	buffer->va = args.va;
	return ret;
}

static void release(struct vf_buffer *buffer)
{
	if (buffer->map)
		munmap(buffer->map, buffer->size);
	if (buffer->handle)
		handle_close(buffer);
	free(buffer);
}

VF_EXPORT int vf_buffer_create(struct vf_adapter *adapter, uint64_t size,
			       struct vf_buffer **buffer)
{
	struct drm_vfence_bo_create args = { .size = size };
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct vf_buffer *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return -ENOMEM;
	b->adapter = adapter;
	b->size = (size + page - 1) & ~(page - 1);
	ret = vf_ioctl(adapter, DRM_IOCTL_VFENCE_BO_CREATE, &args);
	if (!ret) {
		pthread_mutex_lock(&adapter->buffers.lock);
		buffer_add_locked(b, args.handle);
		pthread_mutex_unlock(&adapter->buffers.lock);
		b->map = vf_mmap(adapter, args.mmap_offset, b->size, PROT_READ | PROT_WRITE);
		ret = b->map ? bind(b) : -errno;
	}
	if (ret) {
		release(b);
		return ret;
	}
	*buffer = b;
	return 0;
}

VF_EXPORT int vf_buffer_import(struct vf_adapter *adapter, int fd, struct vf_buffer **buffer)
{
	struct vf_buffer *b = calloc(1, sizeof(*b));
	off_t size = lseek(fd, 0, SEEK_END);
	int ret;

	if (!b)
		return -ENOMEM;
	b->adapter = adapter;
	b->size = size < 0 ? 0 : (uint64_t)size;
	ret = handle_import(b, fd);
	ret = ret ? ret : bind(b);
	if (ret) {
		release(b);
		return ret;
	}
	*buffer = b;
	return 0;
}

VF_EXPORT int vf_buffer_export(struct vf_buffer *buffer)
{
	int fd;

	if (drmPrimeHandleToFD(buffer->adapter->fd, buffer->handle, O_CLOEXEC | O_RDWR, &fd))
		return -errno;
	return fd;
}

VF_EXPORT void vf_buffer_destroy(struct vf_buffer *buffer)
{
	struct drm_vfence_vm_bind args = { .op = DRM_VFENCE_VM_UNMAP };

	if (!buffer)
		return;
	args.va = buffer->va;
	vf_ioctl(buffer->adapter, DRM_IOCTL_VFENCE_VM_BIND, &args);
	release(buffer);
}

VF_EXPORT void *vf_buffer_map(struct vf_buffer *buffer)
{
	return buffer->map;
}

VF_EXPORT uint64_t vf_buffer_va(struct vf_buffer *buffer)
{
	return buffer->va;
}

VF_EXPORT uint32_t vf_buffer_handle(struct vf_buffer *buffer)
{
	return buffer->handle;
}

VF_EXPORT uint64_t vf_buffer_size(struct vf_buffer *buffer)
{
	return buffer->size;
}
