// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps: the pages of fence values in the GPU address spaces of the fences' files.
 */

#include <drm/drm_vma_manager.h>

#include "core/vfence_file_types.h"
#include "mem/vfence_map.h"
#include "mem/vfence_page.h"
#include "mem/vfence_slots.h"
#include "mem/vfence_vm.h"

static int map_page_add(struct vfence_file *file, struct drm_mm_node *node,
			struct vfence_storage *storage)
{
	const struct vgpu_fence_caps *caps = vfence_fence_caps(file->adapter);
	int ret;

	if (!storage->hw || storage->slots->no_gpu_access)
		return 0;
	ret = vfence_vm_reserve(file, node, PAGE_SIZE, caps->minimum_address,
				caps->maximum_address);
	if (ret)
		return ret;

	/* Map without rights: packets access fences by their slots alone. */
	ret = vgpu_vm_map_storage(file->vm, node->start, storage->hw, 0);
	if (ret)
		drm_mm_remove_node(node);
	return ret;
}

static void map_page_remove(struct vfence_file *file, struct drm_mm_node *node)
{
	if (!drm_mm_node_allocated(node))
		return;
	vgpu_vm_unmap(file->vm, node->start, PAGE_SIZE);
	drm_mm_remove_node(node);
}

static int map_pages_add(struct vfence_file *file, struct vfence_map *map)
{
	struct vfence_slots *slots = map->slots;
	int ret;

	ret = map_page_add(file, &map->current_node, &slots->current_value);
	if (ret)
		return ret;
	ret = map_page_add(file, &map->monitored_node, &slots->monitored_value);
	if (ret)
		goto unmap_current;

	if (!slots->current_value.user)
		return 0;
	ret = drm_vma_node_allow(&slots->current_value.user->base.vma_node, file->drm);
	if (ret)
		goto unmap_monitored;
	return 0;

unmap_monitored:
	map_page_remove(file, &map->monitored_node);
unmap_current:
	map_page_remove(file, &map->current_node);
	return ret;
}

static int map_compare(const void *slots, const struct rb_node *node)
{
	const struct vfence_map *map = rb_entry(node, struct vfence_map, node);

	return slots < (const void *)map->slots ? -1 : slots > (const void *)map->slots;
}

static bool map_less(struct rb_node *a, const struct rb_node *b)
{
	return map_compare(rb_entry(a, struct vfence_map, node)->slots, b) < 0;
}

/**
 * vfence_map_get - map pages of values in a file's GPU address space
 * @file: the file, locked
 * @slots: the pages
 *
 * All fences of the file with values in these pages share one map.
 *
 * Return: the map, to be dropped with vfence_map_put(), or an ERR_PTR.
 */
struct vfence_map *vfence_map_get(struct vfence_file *file, struct vfence_slots *slots)
{
	struct rb_node *node = rb_find(slots, &file->maps, map_compare);
	struct vfence_map *map;
	int ret;

	lockdep_assert_held(&file->lock);
	if (node) {
		map = rb_entry(node, struct vfence_map, node);
		map->users++;
		return map;
	}

	map = vfence_leak_check_alloc(MAP, sizeof(*map));
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->slots = slots;
	map->users = 1;
	ret = map_pages_add(file, map);
	if (ret) {
		vfence_leak_check_free(MAP, map);
		return ERR_PTR(ret);
	}

	kref_get(&slots->ref);
	rb_add(&map->node, &file->maps, map_less);
	return map;
}

void vfence_map_put(struct vfence_file *file, struct vfence_map *map)
{
	lockdep_assert_held(&file->lock);
	if (--map->users)
		return;

	rb_erase(&map->node, &file->maps);
	if (map->slots->current_value.user)
		drm_vma_node_revoke(&map->slots->current_value.user->base.vma_node, file->drm);
	map_page_remove(file, &map->monitored_node);
	map_page_remove(file, &map->current_node);
	vfence_slots_put(map->slots);
	vfence_leak_check_free(MAP, map);
}
