/* SPDX-License-Identifier: MIT */
#ifndef D3DKMT_PRIVATE_H
#define D3DKMT_PRIVATE_H

#include <stdbool.h>

#include <vfence.h>

#include "d3dkmthk.h"

#define KMT_EXPORT __attribute__((visibility("default")))

/* What a D3DKMT_HANDLE of this process names. */
enum kmt_kind { KMT_NONE, KMT_ADAPTER, KMT_DEVICE, KMT_CONTEXT, KMT_ALLOCATION, KMT_SYNC, KMT_QUEUE };

/* A page of the kernel that is mapped. */
struct kmt_page {
	void *at;
};

struct kmt_object {
	enum kmt_kind kind;
	/* The adapter, of which each has an open file; and the device, 0 for an adapter. */
	struct vf_adapter *adapter;
	D3DKMT_HANDLE parent, device;
	/* The handle of the kernel; and which of the objects that this place of the table has had. */
	uint32_t handle, generation;
	union {
		struct vf_device *as_device;
		struct vf_buffer *as_allocation;
		UINT node;
		struct {
			struct kmt_page value;
			/* It is the progress fence of a queue, and goes with it. */
			bool of_queue;
			D3DGPU_VIRTUAL_ADDRESS current_va, monitored_va;
			void *current;
		} sync;
		struct {
			bool user_mode, has_doorbell;
			D3DKMT_HANDLE progress;
			/* The kernel's handles of the progress fence and of the context. */
			uint32_t progress_fence, context;
			uint64_t submitted;
			struct kmt_page doorbell, secondary, status, last_queued;
		} queue;
	};
};

NTSTATUS kmt_status(int error);
NTSTATUS kmt_add(const struct kmt_object *object, D3DKMT_HANDLE *handle);
bool kmt_get(D3DKMT_HANDLE handle, enum kmt_kind kind, struct kmt_object *object);
void kmt_set(D3DKMT_HANDLE handle, const struct kmt_object *object);
bool kmt_take_doorbell(D3DKMT_HANDLE handle, struct kmt_object *queue);
bool kmt_take(D3DKMT_HANDLE handle, enum kmt_kind kind, struct kmt_object *object);
D3DKMT_HANDLE kmt_next(D3DKMT_HANDLE handle, D3DKMT_HANDLE parent);
bool kmt_find(D3DKMT_HANDLE device, D3DGPU_VIRTUAL_ADDRESS va, uint64_t size,
	      const void **memory);
int kmt_ioctl(struct vf_adapter *adapter, unsigned long request, void *args);
/* Does nothing for handle 0. */
void kmt_destroy(struct vf_adapter *adapter, enum drm_vfence_object type, uint32_t handle);
int kmt_map(struct vf_adapter *adapter, uint64_t offset, bool write, struct kmt_page *page);
void kmt_unmap(struct kmt_page *page);

NTSTATUS kmt_sync_add(const struct kmt_object *parent, D3DKMT_HANDLE device, uint32_t handle,
		      const struct drm_vfence_fence_mapping *mapping, bool of_queue,
		      D3DKMT_HANDLE *sync);
void kmt_sync_end(struct kmt_object *sync, bool destroy);
void kmt_queue_end(struct kmt_object *queue);

/* Fences and values, as the kernel takes them. */
struct kmt_points {
	struct drm_vfence_fence_point point[D3DDDI_MAX_OBJECT_WAITED_ON];
};

NTSTATUS kmt_points(UINT count, const D3DKMT_HANDLE *objects, const UINT64 *values,
		    struct vf_adapter *adapter, struct kmt_points *points);

#endif
