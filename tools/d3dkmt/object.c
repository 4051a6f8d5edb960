// SPDX-License-Identifier: MIT
/*
 * Handles of this process. A call works on a copy of its object: as with memory, a thread may not
 * destroy what another one uses.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "private.h"

/* Windows keeps the lowest bits of its handles free, and 0 is none. */
#define FIRST_HANDLE	1
#define HANDLE_SHIFT	2

static struct {
	pthread_mutex_t lock;
	struct kmt_object *list;
	UINT room;
	/* The place where the search for a free one begins: a handle is used again late. */
	UINT next;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

NTSTATUS kmt_status(int error)
{
	switch (error < 0 ? -error : error) {
	case 0:
		return STATUS_SUCCESS;
	case ENOMEM:
		return STATUS_NO_MEMORY;
	case ENOSPC:
	case EMFILE:
		return STATUS_INSUFFICIENT_RESOURCES;
	case EACCES:
	case EPERM:
		return STATUS_ACCESS_DENIED;
	case EOPNOTSUPP:
		return STATUS_NOT_SUPPORTED;
	case ENODEV:
	case EIO:
	case ECANCELED:
		return STATUS_DEVICE_REMOVED;
	default:
		return STATUS_INVALID_PARAMETER;
	}
}

static bool table_grow(void)
{
	UINT room = table.room ? 2 * table.room : 64;
	struct kmt_object *more = realloc(table.list, room * sizeof(*more));

	if (!more)
		return false;
	memset(more + table.room, 0, (room - table.room) * sizeof(*more));
	table.list = more;
	table.room = room;
	return true;
}

/* Return: a free place, or the end of the table. */
static UINT table_free_place(void)
{
	UINT i, at;

	for (i = 0; i < table.room; i++) {
		at = (table.next + i) % table.room;
		if (table.list[at].kind == KMT_NONE)
			return at;
	}
	return table.room;
}

NTSTATUS kmt_add(const struct kmt_object *object, D3DKMT_HANDLE *handle)
{
	NTSTATUS status = STATUS_SUCCESS;
	UINT at;

	pthread_mutex_lock(&table.lock);
	at = table_free_place();
	if (at == table.room && !table_grow()) {
		status = STATUS_NO_MEMORY;
	} else {
		uint32_t generation = table.list[at].generation + 1;

		table.list[at] = *object;
		table.list[at].generation = generation;
		table.next = at + 1;
		*handle = (at + FIRST_HANDLE) << HANDLE_SHIFT;
	}
	pthread_mutex_unlock(&table.lock);
	return status;
}

/* Return: the object of a handle, or NULL; with the lock held. */
static struct kmt_object *table_at(D3DKMT_HANDLE handle, enum kmt_kind kind)
{
	UINT at = (handle >> HANDLE_SHIFT) - FIRST_HANDLE;

	return handle && !(handle & ((1 << HANDLE_SHIFT) - 1)) && at < table.room &&
	       table.list[at].kind == kind ? &table.list[at] : NULL;
}

/* Copy the object of a handle. Return: false if there is none of this kind. */
bool kmt_get(D3DKMT_HANDLE handle, enum kmt_kind kind, struct kmt_object *object)
{
	struct kmt_object *found;

	pthread_mutex_lock(&table.lock);
	found = table_at(handle, kind);
	if (found)
		*object = *found;
	pthread_mutex_unlock(&table.lock);
	return found;
}

/* Store a copy that was changed, unless the object is gone. */
void kmt_set(D3DKMT_HANDLE handle, const struct kmt_object *object)
{
	struct kmt_object *found;

	pthread_mutex_lock(&table.lock);
	found = table_at(handle, object->kind);
	if (found && found->generation == object->generation)
		*found = *object;
	pthread_mutex_unlock(&table.lock);
}

/* Take the doorbell of a queue, so that one thread destroys it. */
bool kmt_take_doorbell(D3DKMT_HANDLE handle, struct kmt_object *queue)
{
	static const struct kmt_page none;
	struct kmt_object *found;
	bool has = false;

	pthread_mutex_lock(&table.lock);
	found = table_at(handle, KMT_QUEUE);
	if (found && found->queue.has_doorbell) {
		has = true;
		*queue = *found;
		found->queue.has_doorbell = false;
		found->queue.doorbell = found->queue.secondary = none;
		found->queue.status = found->queue.last_queued = none;
	}
	pthread_mutex_unlock(&table.lock);
	return has;
}

/* Copy the object of a handle and free the handle, so that one thread destroys it. */
bool kmt_take(D3DKMT_HANDLE handle, enum kmt_kind kind, struct kmt_object *object)
{
	struct kmt_object *found;

	pthread_mutex_lock(&table.lock);
	found = table_at(handle, kind);
	if (found) {
		*object = *found;
		found->kind = KMT_NONE;
	}
	pthread_mutex_unlock(&table.lock);
	return found;
}

/* Return: the first handle after @handle whose parent is @parent, or 0. */
D3DKMT_HANDLE kmt_next(D3DKMT_HANDLE handle, D3DKMT_HANDLE parent)
{
	D3DKMT_HANDLE next = 0;
	UINT at;

	pthread_mutex_lock(&table.lock);
	for (at = handle >> HANDLE_SHIFT; !next && at < table.room; at++)
		if (table.list[at].kind != KMT_NONE && table.list[at].parent == parent)
			next = (at + FIRST_HANDLE) << HANDLE_SHIFT;
	pthread_mutex_unlock(&table.lock);
	return next;
}

/* Find the memory of a device at a range of GPU addresses. Return: false if there is none. */
bool kmt_find(D3DKMT_HANDLE device, D3DGPU_VIRTUAL_ADDRESS va, uint64_t size, const void **memory)
{
	D3DKMT_HANDLE handle = 0;
	struct kmt_object object;
	uint64_t begin, end;

	while ((handle = kmt_next(handle, device))) {
		if (!kmt_get(handle, KMT_ALLOCATION, &object))
			continue;
		begin = vf_buffer_va(object.as_allocation);
		end = begin + vf_buffer_size(object.as_allocation);
		if (va < begin || va > end || size > end - va)
			continue;
		*memory = (const char *)vf_buffer_map(object.as_allocation) + (va - begin);
		return true;
	}
	return false;
}

int kmt_ioctl(struct vf_adapter *adapter, unsigned long request, void *args)
{
	int ret;

	do
		ret = ioctl(vf_adapter_fd(adapter), request, args);
	while (ret && errno == EINTR);
	return ret ? -errno : 0;
}

void kmt_destroy(struct vf_adapter *adapter, enum drm_vfence_object type, uint32_t handle)
{
	struct drm_vfence_destroy args = { .type = (uint32_t)type, .handle = handle };

	if (handle)
		kmt_ioctl(adapter, DRM_IOCTL_VFENCE_DESTROY, &args);
}

int kmt_map(struct vf_adapter *adapter, uint64_t offset, bool write, struct kmt_page *page)
{
	void *at;

	page->at = NULL;
	if (!offset)
		return 0;
	at = mmap(NULL, 4096, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
		  vf_adapter_fd(adapter), (off_t)offset);
	if (at == MAP_FAILED)
		return -errno;
	page->at = at;
	return 0;
}

void kmt_unmap(struct kmt_page *page)
{
	if (page->at)
		munmap(page->at, 4096);
	page->at = NULL;
}

/* ---------------------------------------------------------------- adapters */
