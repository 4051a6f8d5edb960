/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_MAP_H_
#define _VFENCE_MAP_H_

#include <linux/list.h>

#include <drm/drm_mm.h>

struct vfence_file;
struct vfence_slots;

/**
 * struct vfence_map - a &struct vfence_slots in one file's GPU address space
 */
struct vfence_map {
	/** @node: node of &vfence_file.maps */
	struct rb_node node;
	/** @slots: the pages that are mapped, with a reference; the key of @node */
	struct vfence_slots *slots;

	/** @current_node: GPU addresses of the current values */
	struct drm_mm_node current_node;
	/** @monitored_node: GPU addresses of the monitored values */
	struct drm_mm_node monitored_node;

	/** @users: number of fence handles that use the map; under &vfence_file.lock */
	unsigned int users;
};

struct vfence_map *vfence_map_get(struct vfence_file *file, struct vfence_slots *slots);
void vfence_map_put(struct vfence_file *file, struct vfence_map *map);

#endif
