// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots: the places of fences in their pages of values.
 */

#include "core/vfence_file_types.h"
#include "mem/vfence_slots.h"

static void slots_free(struct kref *ref)
{
	struct vfence_slots *slots = container_of(ref, struct vfence_slots, ref);

	vfence_storage_fini(&slots->current_value);
	vfence_storage_fini(&slots->monitored_value);
	vfence_leak_check_free(SLOTS, slots);
}

void vfence_slots_put(struct vfence_slots *slots)
{
	kref_put(&slots->ref, slots_free);
}

static struct vfence_slots *slots_create(struct vfence_adapter *adapter,
					 const struct vfence_slots_args *args)
{
	struct vfence_slots *slots = vfence_leak_check_alloc(SLOTS, sizeof(*slots));
	int ret;

	if (!slots)
		return ERR_PTR(-ENOMEM);

	kref_init(&slots->ref);
	INIT_LIST_HEAD(&slots->link);
	INIT_LIST_HEAD(&slots->fences);
	slots->adapter = adapter;
	slots->type = args->type;
	slots->no_gpu_access = args->no_gpu_access;
	slots->shareable = args->shareable;
	slots->shared_page = args->shared_page;
	vfence_storage_init(&slots->current_value, slots);
	vfence_storage_init(&slots->monitored_value, slots);

	ret = vfence_storage_alloc(&slots->current_value, VGPU_CURRENT_VALUE);
	if (!ret && args->type != DRM_VFENCE_FENCE_MONITORED)
		ret = vfence_storage_alloc(&slots->monitored_value, VGPU_MONITORED_VALUE);
	if (ret) {
		vfence_slots_put(slots);
		return ERR_PTR(ret);
	}
	return slots;
}

/**
 * vfence_slots_va - GPU address of a slot
 * @node: GPU addresses of the slot's page
 * @slots: the pages
 * @index: index of the slot
 *
 * Return: the address, or 0 if the page has no GPU addresses.
 */
u64 vfence_slots_va(const struct drm_mm_node *node, const struct vfence_slots *slots,
		    unsigned int index)
{
	if (!drm_mm_node_allocated(node))
		return 0;
	return node->start + vfence_slots_offset(slots, index);
}

/** vfence_slots_offset - offset of a slot in its page, in bytes */
u32 vfence_slots_offset(const struct vfence_slots *slots, unsigned int index)
{
	return index * vfence_fence_caps(slots->adapter)->stride;
}

static bool slots_fit(const struct vfence_slots *slots, const struct vfence_slots_args *args)
{
	return slots->type == args->type &&
	       slots->no_gpu_access == args->no_gpu_access;
}

static bool slots_take_index(struct vfence_slots *slots, unsigned int *index)
{
	unsigned int count = PAGE_SIZE / vfence_fence_caps(slots->adapter)->stride;

	/* A slot is reused last: work that is late must not signal a new fence. */
	*index = find_next_zero_bit(slots->used, count, slots->next);
	if (*index == count)
		*index = find_first_zero_bit(slots->used, count);
	if (*index == count)
		return false;

	set_bit(*index, slots->used);
	slots->next = *index + 1;
	return true;
}

/**
 * vfence_slots_get - allocate a slot for a new fence
 * @file: file that creates the fence, locked
 * @args: requirements of the fence
 * @index: output: index of the slot; clear its bit in slots->used to free it
 *
 * Private fences of one type share pages. A shareable fence gets pages of its own.
 *
 * Return: the slots, with a reference for the fence, or an ERR_PTR.
 */
struct vfence_slots *vfence_slots_get(struct vfence_file *file,
				      const struct vfence_slots_args *args, unsigned int *index)
{
	bool shareable = args->shareable;
	struct vfence_slots *slots;

	lockdep_assert_held(&file->lock);
	if (!shareable) {
		list_for_each_entry(slots, &file->slots, link) {
			if (slots_fit(slots, args) && slots_take_index(slots, index)) {
				kref_get(&slots->ref);
				return slots;
			}
		}
	}

	slots = slots_create(file->adapter, args);
	if (IS_ERR(slots))
		return slots;

	slots_take_index(slots, index);
	if (!shareable) {
		kref_get(&slots->ref);
		list_add(&slots->link, &file->slots);
	}
	return slots;
}

/** vfence_slots_destroy_all - drop the slots of a closing file whose fences are destroyed */
void vfence_slots_destroy_all(struct vfence_file *file)
{
	struct vfence_slots *slots, *next;

	list_for_each_entry_safe(slots, next, &file->slots, link) {
		list_del_init(&slots->link);
		vfence_slots_put(slots);
	}
}
