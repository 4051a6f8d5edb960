/* SPDX-License-Identifier: MIT */
#ifndef VF_PRIVATE_H
#define VF_PRIVATE_H

#include <errno.h>
#include <pthread.h>
#include <sys/types.h>

#include "vfence.h"

#define VF_EXPORT __attribute__((visibility("default")))

struct vf_events {
	pthread_mutex_t lock;
	struct vf_queued *ring;
	unsigned int capacity;
	uint64_t put;
	uint64_t taken;
};

/* Most queues of an open file. */
#define VF_LIFETIME_QUEUES	64

/* A queue, and fences that were destroyed and that it has to pass, in the order in which they came. */
struct vf_lifetime_slot {
	struct vf_queue *queue;
	/* Value of &vf_lifetime.clock when the queue came. */
	uint64_t since;
	struct vf_fence *first, *last;
};

/* Fences that were destroyed while packets named them. */
struct vf_lifetime {
	pthread_mutex_t lock;
	struct vf_lifetime_slot slot[VF_LIFETIME_QUEUES];
	/* Bits of the slots that have fences. */
	uint64_t waiting;
	/* Counts queues that come, and fences that are destroyed. */
	uint64_t clock;
	/* The slot of which the kernel was asked last whether its queue is lost. */
	unsigned int asked;
};

/* Pages of values that are mapped: a tree of struct vf_page, by offset. */
struct vf_pages {
	pthread_mutex_t lock;
	void *tree;
};

/* A page of the driver that is mapped, also in children of the process. */
struct vf_mapping {
	struct vf_mapping *next, **link;
	void *map;
	int fd;
	int prot;
	uint64_t offset;
	/* What each word of the page is for a child if the adapter has gone by then. */
	uint64_t lost;
};

struct vf_buffer;

/*
 * All buffers of an open file. The kernel has one handle for a buffer in a file, however often it
 * is imported there: the last one with a handle closes it.
 */
struct vf_buffers {
	pthread_mutex_t lock;
	struct vf_buffer *first;
};

struct vf_page;

struct vf_adapter {
	int fd;
	struct vf_buffers buffers;
	struct vf_pages pages;
	struct vf_events events;
	struct vf_lifetime lifetime;
};

struct vf_device {
	struct vf_adapter *adapter;
	uint32_t handle;
};

struct vf_fence {
	struct vf_adapter *adapter;
	uint32_t handle;
	struct drm_vfence_fence_mapping mapping;
	unsigned char private_data[DRM_VFENCE_PRIVATE_DATA];
	/* The mapped page of the current value, and the value in it. NULL: not mapped. */
	struct vf_page *page;
	const uint64_t *current;
	/* Bits of the queues whose packets named the fence. */
	uint64_t queues;
	/* Of a fence that was destroyed: positions that those queues must pass, and when that was. */
	uint64_t until[VF_LIFETIME_QUEUES];
	uint64_t destroyed;
	struct vf_fence *next;
};

/* Lists up to this length need no allocation. */
#define VF_LIST_SMALL	16

struct vf_list {
	struct drm_vfence_fence_point small[VF_LIST_SMALL];
	struct drm_vfence_fence_point *points;
	struct drm_vfence_obj_array array;
};

/* -EXDEV for a fence of another open file, whose handle may name another fence here. */
int vf_list_fill(struct vf_list *list, struct vf_adapter *adapter, const struct vf_point *points,
		 unsigned int count);
void vf_list_empty(struct vf_list *list);
int vf_ioctl(struct vf_adapter *adapter, unsigned long request, void *arg);
/*
 * @size: in: room at @data in bytes; out: bytes of the whole answer. @stride: size of an element
 * in this library's header.
 */
int vf_query(struct vf_adapter *adapter, uint32_t type, void *data, uint32_t *size,
	     uint32_t stride);
int vf_destroy(struct vf_adapter *adapter, enum drm_vfence_object type, uint32_t handle);
/* Query the object of a handle. @size: size of @info, the answer of @type. */
int vf_query_object(struct vf_adapter *adapter, uint32_t type, uint32_t handle, void *info,
		    uint32_t size);
void *vf_mmap(struct vf_adapter *adapter, uint64_t offset, size_t size, int prot);
/* Map the page at @offset for a fence, or find it mapped already. */
int vf_mapping_init(struct vf_adapter *adapter, struct vf_mapping *mapping, uint64_t offset, int prot,
		    uint64_t lost);
void vf_mapping_fini(struct vf_mapping *mapping);
int vf_page_get(struct vf_adapter *adapter, uint64_t offset, struct vf_page **page,
		const void **map);
void vf_page_put(struct vf_adapter *adapter, struct vf_page *page);
int vf_fence_init(struct vf_adapter *adapter, uint32_t handle,
		  const struct drm_vfence_fence_mapping *mapping, struct vf_fence *fence);
void vf_fence_fini(struct vf_fence *fence);
/* Return the slot of the queue, or a negative errno. */
int vf_lifetime_add_queue(struct vf_adapter *adapter, struct vf_queue *queue);
void vf_lifetime_remove_queue(struct vf_adapter *adapter, int slot);
/*
 * A packet of the queue at @slot names the fence. Several queues may name it at once. Only the first
 * packet of each stores.
 */
static inline void vf_lifetime_use(struct vf_fence *fence, int slot)
{
	uint64_t bit = UINT64_C(1) << slot;

	if (!(__atomic_load_n(&fence->queues, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(&fence->queues, bit, __ATOMIC_RELAXED);
}

/* Destroy the fences that no packet names any more. */
void vf_lifetime_reap(struct vf_adapter *adapter);
void vf_lifetime_fini(struct vf_adapter *adapter);
/* The end of all that was queued up to now, and whether the queue has got there. */
uint64_t vf_queue_position(struct vf_queue *queue);
bool vf_queue_has_passed(struct vf_queue *queue, uint64_t position);
/* A queue that is lost, or of which the kernel does not tell, passes nothing any more. */
bool vf_queue_is_lost(struct vf_queue *queue);
void vf_events_record(struct vf_adapter *adapter, enum vf_queued_op op, uint32_t queue,
		      uint32_t fence, uint64_t value);

/* Queued events go into a ring in memory. This is off until vf_events_enable(). */
static inline void vf_events_add(struct vf_adapter *adapter, enum vf_queued_op op, uint32_t queue,
				 uint32_t fence, uint64_t value)
{
	if (__atomic_load_n(&adapter->events.capacity, __ATOMIC_ACQUIRE))
		vf_events_record(adapter, op, queue, fence, value);
}

#endif
