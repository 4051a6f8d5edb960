// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of objects by class, so that a leak is found on any kernel.
 */

#include <linux/kernel.h>
#include <linux/printk.h>

#include "vfence_objects.h"

atomic_long_t vfence_objects[VFENCE_OBJECTS];

/**
 * vfence_objects_report - report leaked objects when the module is unloaded
 *
 * It uses pr_err(), as no device is left. No client can cause a leak: a leak is a defect
 * of the driver.
 */
void vfence_objects_report(void)
{
	static const char * const names[VFENCE_OBJECTS] = {
		[VFENCE_OBJECT_PROCESS] = "processes",
		[VFENCE_OBJECT_ACCOUNT] = "accounts",
		[VFENCE_OBJECT_FILE] = "files",
		[VFENCE_OBJECT_DEVICE] = "devices",
		[VFENCE_OBJECT_CONTEXT] = "contexts",
		[VFENCE_OBJECT_QUEUE] = "queues",
		[VFENCE_OBJECT_KERNEL_QUEUE] = "kernel-mode queues",
		[VFENCE_OBJECT_DOORBELL] = "doorbells",
		[VFENCE_OBJECT_PAGE] = "pages",
		[VFENCE_OBJECT_MAPPING] = "mappings",
		[VFENCE_OBJECT_FENCE] = "fences",
		[VFENCE_OBJECT_HANDLE] = "fence handles",
		[VFENCE_OBJECT_ADDRESS] = "addresses of fences",
		[VFENCE_OBJECT_SLOTS] = "pages of slots",
		[VFENCE_OBJECT_MAP] = "mapped slots",
		[VFENCE_OBJECT_CROSS] = "cross-adapter fences",
		[VFENCE_OBJECT_SHARE] = "shared descriptors",
		[VFENCE_OBJECT_WAIT] = "waits",
		[VFENCE_OBJECT_WAIT_SET] = "wait sets",
		[VFENCE_OBJECT_EVENT] = "events",
		[VFENCE_OBJECT_EVENTFD] = "eventfds",
		[VFENCE_OBJECT_IMPORT] = "imports",
		[VFENCE_OBJECT_SUBMISSION] = "submissions",
		[VFENCE_OBJECT_STAGES] = "stage signals",
		[VFENCE_OBJECT_HW_ACCOUNT] = "GPU accounts",
		[VFENCE_OBJECT_HW_VM] = "GPU address spaces",
		[VFENCE_OBJECT_HW_SLOT] = "GPU slots",
		[VFENCE_OBJECT_HW_STORAGE] = "GPU storage",
		[VFENCE_OBJECT_HW_FENCE] = "GPU fences",
		[VFENCE_OBJECT_HW_CONTEXT] = "GPU contexts",
		[VFENCE_OBJECT_HW_QUEUE] = "GPU queues",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		long left = atomic_long_read(&vfence_objects[i]);

		if (left)
			pr_err("vfence: %ld %s left at unload\n", left, names[i]);
	}
}
