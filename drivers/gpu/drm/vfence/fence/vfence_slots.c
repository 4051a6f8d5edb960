// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots: the places of fences in pages of values, and where files see the pages.
 */

#include <linux/slab.h>

#include <drm/drm_vma_manager.h>

#include "vfence_fence.h"

static void free_slots(struct kref *ref)
{
	struct vfence_slots *slots = container_of(ref, struct vfence_slots, ref);

	vfence_storage_fini(&slots->current_value);
	vfence_storage_fini(&slots->monitored_value);
	vfence_object_free(SLOTS, slots);
}

void vfence_slots_put(struct vfence_slots *slots)
{
	kref_put(&slots->ref, free_slots);
}

static struct vfence_slots *create_slots(struct vfence_adapter *adapter,
					 const struct vfence_fence_args *args)
{
	struct vfence_slots *slots = vfence_object_alloc(SLOTS, sizeof(*slots));
	int ret;

	if (!slots)
		return ERR_PTR(-ENOMEM);
	kref_init(&slots->ref);
	INIT_LIST_HEAD(&slots->link);
	INIT_LIST_HEAD(&slots->fences);
	slots->adapter = adapter;
	slots->type = args->type;
	slots->no_gpu_access = args->flags & DRM_VFENCE_MONITORED_NO_GPU_ACCESS;
	slots->shareable = args->shareable;
	slots->shared_page = args->cross ? args->cross->page : NULL;
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
 * @node: addresses of its page; where it has none, 0 is returned
 * @slots: the pages
 * @index: the slot
 */
u64 vfence_slots_va(const struct drm_mm_node *node, const struct vfence_slots *slots,
		    unsigned int index)
{
	if (!drm_mm_node_allocated(node))
		return 0;
	return node->start + vfence_slots_offset(slots, index);
}

/** vfence_slots_offset - place of a slot in its page, in bytes */
u32 vfence_slots_offset(const struct vfence_slots *slots, unsigned int index)
{
	return index * vfence_fence_caps(slots->adapter)->stride;
}

/**
 * vfence_slots_moved - one of the pages is somewhere else now
 * @slots: the pages, the adapter's segment locked
 * @storage: which
 */
void vfence_slots_moved(struct vfence_slots *slots, struct vfence_storage *storage)
{
	struct vfence_fence *fence;

	lockdep_assert_held(&slots->adapter->segment.lock);
	if (storage != &slots->monitored_value || !storage->kva)
		return;
	list_for_each_entry(fence, &slots->fences, slot_link)
		vfence_fence_monitored_moved(fence, storage->kva +
					     vfence_slots_offset(slots, fence->index));
}

static bool fits(const struct vfence_slots *slots, const struct vfence_fence_args *args)
{
	return slots->type == args->type &&
	       slots->no_gpu_access == !!(args->flags & DRM_VFENCE_MONITORED_NO_GPU_ACCESS);
}

static bool take_index(struct vfence_slots *slots, unsigned int *index)
{
	unsigned int count = PAGE_SIZE / vfence_fence_caps(slots->adapter)->stride;

	*index = find_first_zero_bit(slots->used, count);
	if (*index == count)
		return false;
	set_bit(*index, slots->used);
	return true;
}

/**
 * vfence_slots_get - take a slot for a new fence
 * @file: its creator, locked
 * @args: what the fence shall be
 * @index: out: which slot; freed by clearing its bit in slots->used
 *
 * Return: the slots with a reference for the fence, or an ERR_PTR.
 */
struct vfence_slots *vfence_slots_get(struct vfence_file *file,
				      const struct vfence_fence_args *args, unsigned int *index)
{
	bool shareable = args->shareable;
	struct vfence_slots *slots;

	lockdep_assert_held(&file->lock);
	if (!shareable) {
		list_for_each_entry(slots, &file->slots, link) {
			if (fits(slots, args) && take_index(slots, index)) {
				kref_get(&slots->ref);
				return slots;
			}
		}
	}
	slots = create_slots(file->adapter, args);
	if (IS_ERR(slots))
		return slots;
	take_index(slots, index);
	if (!shareable) {
		kref_get(&slots->ref);
		list_add(&slots->link, &file->slots);
	}
	return slots;
}

/** vfence_slots_destroy_all - the file closes; its fences are gone */
void vfence_slots_destroy_all(struct vfence_file *file)
{
	struct vfence_slots *slots, *next;

	list_for_each_entry_safe(slots, next, &file->slots, link) {
		list_del_init(&slots->link);
		vfence_slots_put(slots);
	}
}

static int map_page(struct vfence_file *file, struct drm_mm_node *node,
		    struct vfence_storage *storage)
{
	const struct vgpu_fence_caps *caps = vfence_fence_caps(file->adapter);
	int ret;

	if (!storage->hw || storage->slots->no_gpu_access)
		return 0;
	ret = vfence_file_reserve_va(file, node, PAGE_SIZE, caps->minimum_address,
				     caps->maximum_address);
	if (ret)
		return ret;
	/* No rights: packets reach fences by their slots alone. */
	ret = vgpu_vm_map_storage(file->vm, node->start, storage->hw, 0);
	if (ret)
		drm_mm_remove_node(node);
	return ret;
}

static void unmap_page(struct vfence_file *file, struct drm_mm_node *node)
{
	if (!drm_mm_node_allocated(node))
		return;
	vgpu_vm_unmap(file->vm, node->start, PAGE_SIZE);
	drm_mm_remove_node(node);
}

static int map_pages(struct vfence_file *file, struct vfence_map *map)
{
	struct vfence_slots *slots = map->slots;
	int ret;

	ret = map_page(file, &map->current_node, &slots->current_value);
	if (ret)
		return ret;
	ret = map_page(file, &map->monitored_node, &slots->monitored_value);
	if (ret)
		goto unmap_current;
	if (!slots->current_value.user)
		return 0;
	ret = drm_vma_node_allow(&slots->current_value.user->base.vma_node, file->drm);
	if (ret)
		goto unmap_monitored;
	return 0;
unmap_monitored:
	unmap_page(file, &map->monitored_node);
unmap_current:
	unmap_page(file, &map->current_node);
	return ret;
}

/**
 * vfence_map_get - make pages addressable by a file, the same for all holders
 * @file: the file, locked
 * @slots: the pages
 */
struct vfence_map *vfence_map_get(struct vfence_file *file, struct vfence_slots *slots)
{
	struct vfence_map *map;
	int ret;

	lockdep_assert_held(&file->lock);
	list_for_each_entry(map, &file->maps, link) {
		if (map->slots == slots) {
			map->users++;
			return map;
		}
	}
	map = vfence_object_alloc(MAP, sizeof(*map));
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->slots = slots;
	map->users = 1;
	ret = map_pages(file, map);
	if (ret) {
		vfence_object_free(MAP, map);
		return ERR_PTR(ret);
	}
	kref_get(&slots->ref);
	list_add(&map->link, &file->maps);
	return map;
}

void vfence_map_put(struct vfence_file *file, struct vfence_map *map)
{
	lockdep_assert_held(&file->lock);
	if (--map->users)
		return;
	list_del(&map->link);
	if (map->slots->current_value.user)
		drm_vma_node_revoke(&map->slots->current_value.user->base.vma_node, file->drm);
	unmap_page(file, &map->monitored_node);
	unmap_page(file, &map->current_node);
	vfence_slots_put(map->slots);
	vfence_object_free(MAP, map);
}
