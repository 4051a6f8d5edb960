// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of objects by class, so that a leak is found on any kernel.
 */

#include <linux/kernel.h>
#include <linux/printk.h>

#include "vfence_leak_check.h"

atomic_long_t vfence_leak_check[VFENCE_LEAK_CHECK];

/**
 * vfence_leak_check_report - report leaked objects when the module is unloaded
 *
 * It uses pr_err(), as no device is left. No client can cause a leak: a leak is a defect
 * of the driver.
 */
void vfence_leak_check_report(void)
{
	static const char * const names[VFENCE_LEAK_CHECK] = {
		[VFENCE_LEAK_CHECK_PROCESS] = "processes",
		[VFENCE_LEAK_CHECK_ACCOUNT] = "accounts",
		[VFENCE_LEAK_CHECK_FILE] = "files",
		[VFENCE_LEAK_CHECK_DEVICE] = "devices",
		[VFENCE_LEAK_CHECK_CONTEXT] = "contexts",
		[VFENCE_LEAK_CHECK_QUEUE] = "queues",
		[VFENCE_LEAK_CHECK_KERNEL_QUEUE] = "kernel-mode queues",
		[VFENCE_LEAK_CHECK_DOORBELL] = "doorbells",
		[VFENCE_LEAK_CHECK_PAGE] = "pages",
		[VFENCE_LEAK_CHECK_MAPPING] = "mappings",
		[VFENCE_LEAK_CHECK_FENCE] = "fences",
		[VFENCE_LEAK_CHECK_HANDLE] = "fence handles",
		[VFENCE_LEAK_CHECK_ADDRESS] = "addresses of fences",
		[VFENCE_LEAK_CHECK_SLOTS] = "pages of slots",
		[VFENCE_LEAK_CHECK_MAP] = "mapped slots",
		[VFENCE_LEAK_CHECK_CROSS] = "cross-adapter fences",
		[VFENCE_LEAK_CHECK_SHARE] = "shared descriptors",
		[VFENCE_LEAK_CHECK_WAIT] = "waits",
		[VFENCE_LEAK_CHECK_WAIT_SET] = "wait sets",
		[VFENCE_LEAK_CHECK_EVENT] = "events",
		[VFENCE_LEAK_CHECK_EVENTFD] = "eventfds",
		[VFENCE_LEAK_CHECK_IMPORT] = "imports",
		[VFENCE_LEAK_CHECK_SUBMISSION] = "submissions",
		[VFENCE_LEAK_CHECK_STAGES] = "stage signals",
		[VFENCE_LEAK_CHECK_HW_ACCOUNT] = "GPU accounts",
		[VFENCE_LEAK_CHECK_HW_VM] = "GPU address spaces",
		[VFENCE_LEAK_CHECK_HW_SLOT] = "GPU slots",
		[VFENCE_LEAK_CHECK_HW_STORAGE] = "GPU storage",
		[VFENCE_LEAK_CHECK_HW_FENCE] = "GPU fences",
		[VFENCE_LEAK_CHECK_HW_CONTEXT] = "GPU contexts",
		[VFENCE_LEAK_CHECK_HW_QUEUE] = "GPU queues",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		long left = atomic_long_read(&vfence_leak_check[i]);

		if (left)
			pr_err("vfence: %ld %s left at unload\n", left, names[i]);
	}
}
