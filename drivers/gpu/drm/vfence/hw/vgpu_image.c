// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images of paused functions: registers, queue states and packets in flight. A function whose image
 * is loaded continues in the middle of its packet. An image does not contain video memory, which
 * the host copies, nor rings, fences in system memory and logs, which belong to the clients.
 *
 * The engine does not check a packet in flight again, so a changed image must not be loaded. Each
 * image has an authentication code, whose key only the chip has.
 */

#include <linux/siphash.h>
#include <linux/string.h>

#include "vgpu_types.h"

#define IMAGE_MAGIC	0x3145544154534656ull	/* "VFSTATE1" */
#define IMAGE_LOST_BYTE	0xa5

/**
 * struct image_header - the begin of an image
 */
struct image_header {
	/** @magic: IMAGE_MAGIC. */
	u64 magic;
	/** @code: Authenticates all that follows. */
	u64 code;
	/** @tag: When it was saved; see vgpu_image_save(). */
	u64 tag;
	/** @local_bytes: Size of the function's video memory. */
	u64 local_bytes;
	/** @generation: Number of resets of the function so far. */
	u32 generation;
	/** @nodes: Number of the function's nodes. */
	u32 nodes;
	/** @queues: Number of &struct image_queue at the end of the image. */
	u32 queues;
	/** @registers: Context save areas. */
	u64 registers[VGPU_VF_SWITCH_GROUPS][VGPU_MAX_NODES][DRM_VFENCE_REGISTERS];
};

/* A queue: members of struct vgpu_queue, and its node. */
struct image_queue {
	u32 os_handle;
	u32 node;
	u64 read_ptr;
	u64 fetch_ptr;
	u64 last_completed;
	u64 completed_busy_ns;
	u64 last_fetched;
	u64 quantum_ns;
	u64 wait_observed;
	u64 wait_end;
	u64 signal_end;
	struct vgpu_exec exec;
	u64 registers[DRM_VFENCE_REGISTERS];
};

static size_t image_local_bytes(const struct vgpu *gpu)
{
	return (size_t)gpu->config.local_pages * PAGE_SIZE;
}

void vgpu_image_add_queue(struct vgpu_queue *queue)
{
	struct vgpu *gpu = queue->gpu;

	mutex_lock(&gpu->queues_lock);
	list_add_tail(&queue->gpu_link, &gpu->queues);
	gpu->queue_count++;
	mutex_unlock(&gpu->queues_lock);
}

void vgpu_image_remove_queue(struct vgpu_queue *queue)
{
	struct vgpu *gpu = queue->gpu;

	mutex_lock(&gpu->queues_lock);
	list_del(&queue->gpu_link);
	gpu->queue_count--;
	mutex_unlock(&gpu->queues_lock);
}

static size_t image_size_locked(struct vgpu *gpu)
{
	lockdep_assert_held(&gpu->queues_lock);
	return sizeof(struct image_header) + gpu->queue_count * sizeof(struct image_queue);
}

size_t vgpu_image_size(struct vgpu *gpu)
{
	size_t size;

	mutex_lock(&gpu->queues_lock);
	size = image_size_locked(gpu);
	mutex_unlock(&gpu->queues_lock);
	return size;
}

void *vgpu_image_memory(struct vgpu *gpu, size_t *bytes)
{
	*bytes = image_local_bytes(gpu);
	return gpu->local;
}

unsigned int vgpu_image_generation(struct vgpu *gpu)
{
	return READ_ONCE(gpu->generation);
}

static u64 image_code(const struct vgpu *gpu, const void *image, size_t size)
{
	size_t from = offsetofend(struct image_header, code);

	return siphash(image + from, size - from, &gpu->chip->image_key);
}

static void image_save_header(struct vgpu *gpu, struct image_header *header)
{
	unsigned long flags;
	unsigned int g, n;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	for (g = 0; g < VGPU_VF_SWITCH_GROUPS; g++)
		for (n = 0; n < VGPU_MAX_NODES; n++)
			memcpy(header->registers[g][n], gpu->save[g].registers[n].value,
			       sizeof(header->registers[g][n]));
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

static void image_save_queue(struct vgpu_queue *queue, struct image_queue *to)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	to->os_handle = queue->os_handle;
	to->node = queue->engine->node;
	to->read_ptr = queue->read_ptr;
	to->fetch_ptr = queue->fetch_ptr;
	to->last_completed = queue->last_completed;
	to->completed_busy_ns = queue->completed_busy_ns;
	to->last_fetched = queue->last_fetched;
	to->quantum_ns = queue->quantum_ns;
	to->wait_observed = queue->wait_observed;
	to->wait_end = queue->wait_end;
	to->signal_end = queue->signal_end;
	to->exec = queue->exec;
	memcpy(to->registers, queue->registers, sizeof(to->registers));
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

u64 vgpu_image_new_tag(struct vgpu *gpu)
{
	return atomic64_inc_return(&gpu->chip->image_tag);
}

int vgpu_image_save(struct vgpu *gpu, u64 tag, void *image, size_t size)
{
	struct image_header *header = image;
	struct image_queue *to = (struct image_queue *)(header + 1);
	struct vgpu_queue *queue;
	int ret = -EAGAIN;

	mutex_lock(&gpu->queues_lock);
	if (size == image_size_locked(gpu)) {
		header->magic = IMAGE_MAGIC;
		header->tag = tag;
		header->local_bytes = image_local_bytes(gpu);
		header->generation = vgpu_image_generation(gpu);
		header->nodes = gpu->config.nodes;
		header->queues = gpu->queue_count;
		image_save_header(gpu, header);
		list_for_each_entry(queue, &gpu->queues, gpu_link)
			image_save_queue(queue, to++);
		header->code = image_code(gpu, image, size);
		ret = 0;
	}
	mutex_unlock(&gpu->queues_lock);
	return ret;
}

/* Is it an image of this pause, and has the function the same queues? */
static bool image_fits_locked(struct vgpu *gpu, const struct image_header *header, u64 tag)
{
	const struct image_queue *from = (const struct image_queue *)(header + 1);
	struct vgpu_queue *queue;

	lockdep_assert_held(&gpu->queues_lock);
	if (header->tag != tag || header->local_bytes != image_local_bytes(gpu) ||
	    header->generation != vgpu_image_generation(gpu) ||
	    header->nodes != gpu->config.nodes || header->queues != gpu->queue_count)
		return false;
	list_for_each_entry(queue, &gpu->queues, gpu_link) {
		if (from->os_handle != queue->os_handle || from->node != queue->engine->node)
			return false;
		from++;
	}
	return true;
}

static int image_check_locked(struct vgpu *gpu, u64 tag, const void *image, size_t size)
{
	const struct image_header *header = image;

	lockdep_assert_held(&gpu->queues_lock);
	if (size < sizeof(*header) || header->magic != IMAGE_MAGIC ||
	    header->code != image_code(gpu, image, size))
		return -EBADMSG;
	if (size != image_size_locked(gpu) || !image_fits_locked(gpu, header, tag))
		return -ESTALE;
	return 0;
}

int vgpu_image_check(struct vgpu *gpu, u64 tag, const void *image, size_t size)
{
	int ret;

	mutex_lock(&gpu->queues_lock);
	ret = image_check_locked(gpu, tag, image, size);
	mutex_unlock(&gpu->queues_lock);
	return ret;
}

static void image_load_queue(struct vgpu_queue *queue, const struct image_queue *from)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	queue->read_ptr = from->read_ptr;
	queue->fetch_ptr = from->fetch_ptr;
	queue->last_completed = from->last_completed;
	queue->completed_busy_ns = from->completed_busy_ns;
	queue->last_fetched = from->last_fetched;
	queue->quantum_ns = from->quantum_ns;
	queue->wait_observed = from->wait_observed;
	queue->wait_end = from->wait_end;
	queue->signal_end = from->signal_end;
	queue->marker_end = 0;
	queue->seen_ptr = from->read_ptr;
	queue->exec = from->exec;
	memcpy(queue->registers, from->registers, sizeof(queue->registers));
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

static void image_load_header(struct vgpu *gpu, const struct image_header *header)
{
	unsigned long flags;
	unsigned int g, n;

	spin_lock_irqsave(&gpu->chip->sched, flags);
	for (g = 0; g < VGPU_VF_SWITCH_GROUPS; g++)
		for (n = 0; n < VGPU_MAX_NODES; n++)
			memcpy(gpu->save[g].registers[n].value, header->registers[g][n],
			       sizeof(header->registers[g][n]));
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
}

int vgpu_image_load(struct vgpu *gpu, u64 tag, const void *image, size_t size)
{
	const struct image_header *header = image;
	const struct image_queue *from = (const struct image_queue *)(header + 1);
	struct vgpu_queue *queue;
	int ret;

	mutex_lock(&gpu->queues_lock);
	ret = image_check_locked(gpu, tag, image, size);
	if (!ret) {
		image_load_header(gpu, header);
		list_for_each_entry(queue, &gpu->queues, gpu_link)
			image_load_queue(queue, from++);
	}
	mutex_unlock(&gpu->queues_lock);
	return ret;
}

/* Rings and handles are the driver's, and stay. */
static void image_lose_queue(struct vgpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gpu->chip->sched, flags);
	memset(&queue->exec, IMAGE_LOST_BYTE, sizeof(queue->exec));
	memset(queue->registers, IMAGE_LOST_BYTE, sizeof(queue->registers));
	queue->read_ptr = 0;
	queue->fetch_ptr = 0;
	queue->quantum_ns = 0;
	spin_unlock_irqrestore(&queue->gpu->chip->sched, flags);
}

void vgpu_image_lose(struct vgpu *gpu)
{
	struct vgpu_queue *queue;
	unsigned long flags;
	unsigned int g, n;

	mutex_lock(&gpu->queues_lock);
	list_for_each_entry(queue, &gpu->queues, gpu_link)
		image_lose_queue(queue);
	spin_lock_irqsave(&gpu->chip->sched, flags);
	for (g = 0; g < VGPU_VF_SWITCH_GROUPS; g++)
		for (n = 0; n < VGPU_MAX_NODES; n++)
			memset(gpu->save[g].registers[n].value, IMAGE_LOST_BYTE,
			       sizeof(gpu->save[g].registers[n].value));
	spin_unlock_irqrestore(&gpu->chip->sched, flags);
	memset(gpu->local, IMAGE_LOST_BYTE, image_local_bytes(gpu));
	mutex_unlock(&gpu->queues_lock);
}
