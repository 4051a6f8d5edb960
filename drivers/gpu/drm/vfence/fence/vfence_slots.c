// SPDX-License-Identifier: GPL-2.0
/*
 * Storage of fence values: slots in pages, and where files see the pages.
 */

#include <linux/slab.h>

#include <drm/drm_vma_manager.h>

#include "vfence_fence.h"

static int map_system(struct vfence_adapter *adapter, struct drm_mm_node *node, void *kva)
{
	const struct vgpu_fence_caps *caps = vfence_fence_caps(adapter);
	int ret;

	mutex_lock(&adapter->system_lock);
	/* The bounds hold for this space, too (WDDM A6). */
	ret = drm_mm_insert_node_in_range(&adapter->system_space, node, PAGE_SIZE, PAGE_SIZE, 0,
					  caps->minimum_address,
					  caps->maximum_address ?: DRM_VFENCE_VA_LIMIT,
					  DRM_MM_INSERT_LOW);
	if (!ret) {
		ret = vgpu_vm_map(vgpu_system_vm(adapter->gpu), node->start, kva, PAGE_SIZE,
				  VGPU_VM_READ | VGPU_VM_WRITE);
		if (ret)
			drm_mm_remove_node(node);
	}
	mutex_unlock(&adapter->system_lock);
	return ret;
}

static void unmap_system(struct vfence_adapter *adapter, struct drm_mm_node *node)
{
	if (!drm_mm_node_allocated(node))
		return;
	mutex_lock(&adapter->system_lock);
	vgpu_vm_unmap(vgpu_system_vm(adapter->gpu), node->start, PAGE_SIZE);
	drm_mm_remove_node(node);
	mutex_unlock(&adapter->system_lock);
}

static void free_slots(struct kref *ref)
{
	struct vfence_slots *slots = container_of(ref, struct vfence_slots, ref);

	unmap_system(slots->adapter, &slots->current_system);
	unmap_system(slots->adapter, &slots->monitored_system);
	vfence_page_put(slots->current_page);
	if (slots->monitored_page)
		put_page(slots->monitored_page);
	kfree(slots);
}

void vfence_slots_put(struct vfence_slots *slots)
{
	kref_put(&slots->ref, free_slots);
}

static struct vfence_slots *create_slots(struct vfence_adapter *adapter)
{
	struct vfence_slots *slots = kzalloc(sizeof(*slots), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!slots)
		return ERR_PTR(-ENOMEM);
	kref_init(&slots->ref);
	INIT_LIST_HEAD(&slots->link);
	slots->adapter = adapter;
	slots->current_page = vfence_page_create(adapter, VFENCE_PAGE_FENCE);
	slots->monitored_page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (IS_ERR(slots->current_page) || !slots->monitored_page)
		goto put;
	if (!vfence_fence_caps(adapter)->map_to_system)
		return slots;
	ret = map_system(adapter, &slots->current_system,
			 vfence_page_kva(slots->current_page));
	if (!ret)
		ret = map_system(adapter, &slots->monitored_system,
				 page_address(slots->monitored_page));
	if (!ret)
		return slots;
put:
	vfence_slots_put(slots);
	return ERR_PTR(ret);
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
	return node->start + (u64)index * vfence_fence_caps(slots->adapter)->stride;
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
 * @shareable: wants pages of its own
 * @index: out: which slot; freed by clearing its bit in slots->used
 *
 * Return: the slots with a reference for the fence, or an ERR_PTR.
 */
struct vfence_slots *vfence_slots_get(struct vfence_file *file, bool shareable,
				      unsigned int *index)
{
	struct vfence_slots *slots;

	lockdep_assert_held(&file->lock);
	if (!shareable) {
		list_for_each_entry(slots, &file->slots, link) {
			if (take_index(slots, index)) {
				kref_get(&slots->ref);
				return slots;
			}
		}
	}
	slots = create_slots(file->adapter);
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

static int map_page(struct vfence_file *file, struct drm_mm_node *node, void *kva)
{
	const struct vgpu_fence_caps *caps = vfence_fence_caps(file->adapter);
	int ret;

	ret = vfence_file_reserve_va(file, node, PAGE_SIZE, caps->minimum_address,
				     caps->maximum_address);
	if (ret)
		return ret;
	/* No rights: packets reach fences by their slots alone. */
	ret = vgpu_vm_map(file->vm, node->start, kva, PAGE_SIZE, 0);
	if (ret)
		drm_mm_remove_node(node);
	return ret;
}

static void unmap_page(struct vfence_file *file, struct drm_mm_node *node)
{
	vgpu_vm_unmap(file->vm, node->start, PAGE_SIZE);
	drm_mm_remove_node(node);
}

static int map_pages(struct vfence_file *file, struct vfence_map *map)
{
	struct vfence_slots *slots = map->slots;
	int ret;

	ret = map_page(file, &map->current_node, vfence_page_kva(slots->current_page));
	if (ret)
		return ret;
	ret = map_page(file, &map->monitored_node, page_address(slots->monitored_page));
	if (ret)
		goto unmap_current;
	ret = drm_vma_node_allow(&slots->current_page->base.vma_node, file->drm);
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
	map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->slots = slots;
	map->users = 1;
	ret = map_pages(file, map);
	if (ret) {
		kfree(map);
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
	drm_vma_node_revoke(&map->slots->current_page->base.vma_node, file->drm);
	unmap_page(file, &map->monitored_node);
	unmap_page(file, &map->current_node);
	vfence_slots_put(map->slots);
	kfree(map);
}
