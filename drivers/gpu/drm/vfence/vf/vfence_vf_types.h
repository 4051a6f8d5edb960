/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _VFENCE_VF_TYPES_H_
#define _VFENCE_VF_TYPES_H_

#include <linux/mutex.h>

#include "core/vfence_config.h"

struct platform_device;
struct vfence_vf_exclusive;
struct vfence_admin;
struct vfence_vf_migration;
struct vfence_vf_sched;

/**
 * struct vfence_vf - virtual functions; the part of the adapter that vf/ owns
 */
struct vfence_vf {
	/** @lock: serialises changes of @count */
	struct mutex lock;
	/** @count: number of virtual functions; written under @lock */
	unsigned int count;
	/** @device: the devices of the virtual functions; under @lock */
	struct platform_device *device[VFENCE_MAX_VFS];
	/** @sched: who owns the engines; NULL without virtual functions; changes under @lock */
	struct vfence_vf_sched *sched;
	/** @exclusive: exclusive use of them; NULL without functions; changes under @lock */
	struct vfence_vf_exclusive *exclusive;
	/** @state: pauses and images; NULL without virtual functions; changes under @lock */
	struct vfence_vf_migration *state;
	/** @admin: folder sriov_admin; NULL without virtual functions; under @lock */
	struct vfence_admin *admin;
};

#endif
